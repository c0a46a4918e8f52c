//! Hand-on before commit, by hand: who gets a row of one who rests, with those queued before.

use super::*;
use LockKind::Successor;
use LockMode::X;

#[test]
fn those_who_queued_before_get_the_row_one_after_another() {
    let settings = Settings::default();
    settings.hot_row.on.store(true, Ordering::Relaxed);
    let table = LockTable::new(Arc::new(settings));
    let txns: Vec<_> = (0..40).map(|number| TxnLocks::new(number, number)).collect();
    assert_eq!(table.try_acquire(&txns[0], row(b"k"), X, Successor), Grant::New);
    // All of them wait before the first one rests.
    let mut waits: Vec<_> = txns[1..]
        .iter()
        .map(|txn| Hand::begin(table.enqueue(txn, row(b"k"), X, Successor, FOR_LONG)))
        .collect();
    for (txn, wait) in txns.iter().zip(&mut waits) {
        assert_eq!(wait.poll(), None, "its predecessor does not rest yet");
        txn.note_change(row(b"k"), Some(true));
        table.rest(txn);
        assert_eq!(wait.poll(), Some(Outcome::Granted), "{} rests", txn.session());
    }
    drop(waits);
    txns.iter().for_each(|txn| table.release_all(txn));
    assert_eq!(table.statistics().names, 0);
}
