//! The matrix, written out as InnoDB's manual would print it, and coverage of a request by a lock already
//! held.

use super::*;
use crate::api::TableLock;
use crate::ids::TableId;
use LockKind::{Gap, InsertIntention, NextKey, Record};
use LockMode::{S, X};

/// Row requests in the order of the table's columns and rows.
const ROWS: [(&str, LockMode, LockKind); 7] = [
    ("S rec", S, Record),
    ("X rec", X, Record),
    ("S gap", S, Gap),
    ("X gap", X, Gap),
    ("S nxt", S, NextKey),
    ("X nxt", X, NextKey),
    ("X ins", X, InsertIntention),
];

/// `+` granted beside the other transaction's lock (row of the table), `-` waits.
const ROW_MATRIX: &str = "
    held      S rec  X rec  S gap  X gap  S nxt  X nxt  X ins
    S rec       +      -      +      +      +      -      +
    X rec       -      -      +      +      -      -      +
    S gap       +      +      +      +      +      +      -
    X gap       +      +      +      +      +      +      -
    S nxt       +      -      +      +      +      -      -
    X nxt       -      -      +      +      -      -      -
    X ins       +      +      +      +      +      +      +
";

const SUPREMUM_MATRIX: &str = "
    held      S rec  X rec  S gap  X gap  S nxt  X nxt  X ins
    S gap       +      +      +      +      +      +      -
    X gap       +      +      +      +      +      +      -
    S nxt       +      +      +      +      +      +      -
    X nxt       +      +      +      +      +      +      -
    X ins       +      +      +      +      +      +      +
";

fn observed(name: LockName<'_>, held: &[(&str, LockMode, LockKind)]) -> String {
    let mut text = String::from("\n    held      S rec  X rec  S gap  X gap  S nxt  X nxt  X ins\n");
    for (label, mode, kind) in held {
        text += &format!("    {label} ");
        for (_, wanted_mode, wanted_kind) in ROWS {
            let table = table();
            let (first, second) = (TxnLocks::new(1, 1), TxnLocks::new(2, 2));
            assert_eq!(table.try_acquire(&first, name, *mode, *kind), Grant::New);
            let granted = table.try_acquire(&second, name, wanted_mode, wanted_kind) == Grant::New;
            text += if granted { "      +" } else { "      -" };
        }
        text += "\n";
    }
    text
}

#[test]
fn rows() {
    assert_eq!(observed(row(b"k"), &ROWS), ROW_MATRIX);
}

#[test]
fn the_supremum_is_all_gap() {
    assert_eq!(observed(LockName::Supremum(INDEX), &ROWS[2..]), SUPREMUM_MATRIX);
}

#[test]
fn tables() {
    use TableLock::{AutoIncrement, Exclusive, IntentionExclusive, IntentionShared, Shared};
    let locks = [
        ("IS", IntentionShared),
        ("IX", IntentionExclusive),
        ("S", Shared),
        ("X", Exclusive),
        ("AI", AutoIncrement),
    ];
    let expected = "
    held    IS  IX   S   X  AI
      IS     +   +   +   -   +
      IX     +   +   -   -   +
       S     +   -   +   -   -
       X     -   -   -   -   -
      AI     +   +   -   -   -
";
    let mut text = String::from("\n    held    IS  IX   S   X  AI\n");
    for (label, held) in locks {
        text += &format!("    {label:>4}  ");
        for (_, wanted) in locks {
            let table = table();
            let (first, second) = (TxnLocks::new(1, 1), TxnLocks::new(2, 2));
            assert_eq!(table.try_acquire_table(&first, TableId(1), held), Grant::New);
            let granted = table.try_acquire_table(&second, TableId(1), wanted) == Grant::New;
            text += if granted { "   +" } else { "   -" };
        }
        text += "\n";
    }
    assert_eq!(text, expected);
}

#[test]
fn different_names_never_conflict() {
    let table = table();
    let (first, second) = (TxnLocks::new(1, 1), TxnLocks::new(2, 2));
    for name in [row(b""), row(b"k"), LockName::Supremum(INDEX), LockName::row(IndexId(8), b"k")] {
        assert_eq!(table.try_acquire(&first, name, X, NextKey), Grant::New);
    }
    assert_eq!(table.try_acquire(&second, row(b"kk"), X, NextKey), Grant::New);
    assert_eq!(table.try_acquire(&second, LockName::Supremum(IndexId(8)), X, InsertIntention), Grant::New);
    assert_eq!(table.try_acquire(&second, row(b""), X, Record), Grant::Conflict);
}

#[test]
fn own_locks_cover_weaker_requests() {
    let table = table();
    let txn = TxnLocks::new(1, 1);
    let ask = |mode, kind| table.try_acquire(&txn, row(b"k"), mode, kind);
    assert_eq!(ask(S, Record), Grant::New);
    assert_eq!(ask(S, Record), Grant::Held);
    assert_eq!(ask(X, Record), Grant::New, "nobody else is there");
    assert_eq!(ask(S, Record), Grant::Held);
    assert_eq!(ask(S, NextKey), Grant::New, "the gap is new");
    assert_eq!(ask(S, Gap), Grant::Held);
    assert_eq!(ask(X, NextKey), Grant::New);
    assert_eq!(ask(X, Gap), Grant::Held);
    assert_eq!(ask(X, InsertIntention), Grant::New, "its own gap does not keep it out");
    assert_eq!(txn.lock_count(), 1, "one hold, however it grew");
    table.release_all(&txn);
    assert_eq!(table.statistics().names, 0);
}

#[test]
fn own_table_locks_cover_weaker_requests() {
    use TableLock::{Exclusive, IntentionExclusive, IntentionShared, Shared};
    let table = table();
    let txn = TxnLocks::new(1, 1);
    let ask = |lock| table.try_acquire_table(&txn, TableId(3), lock);
    assert_eq!(ask(IntentionExclusive), Grant::New);
    assert_eq!(ask(IntentionShared), Grant::Held);
    assert_eq!(ask(Shared), Grant::New);
    table.release_table(&txn, TableId(3), Shared);
    assert_eq!(ask(Exclusive), Grant::New);
    assert_eq!(ask(Shared), Grant::Held);
    table.release_all(&txn);
    assert_eq!(table.statistics().names, 0);
}
