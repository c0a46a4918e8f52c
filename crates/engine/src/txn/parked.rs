//! What a session keeps of a transaction that has ended: what that knew of the engine, so that the next one
//! begins without writing where other sessions write.

use crate::api::TxnOptions;
use crate::ids::TxnId;

use super::lock_calls::TxnLockState;
use super::transaction::{Txn, tell_end};

/// A transaction that has ended. Nothing of it is open, and it holds nothing. It stays where it is in memory.
pub struct Parked(Box<Txn>);

impl Parked {
    /// Keeps what a transaction has known. None, and it is dropped, if it has not ended.
    pub fn of(mut txn: Box<Txn>) -> Option<Parked> {
        let ended = txn.hold.is_none() && !txn.locks.has_any() && txn.ticket.is_none();
        ended.then(|| {
            tell_end(&txn);
            txn.view = None;
            Parked(txn)
        })
    }

    /// The session's next transaction.
    #[inline]
    pub fn begin(self, options: TxnOptions) -> Box<Txn> {
        let Parked(mut txn) = self;
        txn.locks = TxnLockState::new(&options);
        txn.options = options;
        (txn.id, txn.records) = (TxnId(0), 0);
        txn.cut_off.clear();
        (txn.carried, txn.one_moment, txn.hot_row) = (None, false, None);
        txn
    }
}
