//! Where transaction ids come from: a counter in the registry, and a mark on the meta page above all that
//! were ever handed out.
//!
//! ```text
//!   ids:   ... 70 71 72 | 73 74 ........ 99 | 100
//!              handed out   may be            mark (on the meta page, in the redo):
//!                           handed out        nothing from here on was handed out
//! ```
//!
//! A transaction takes an id from the range in memory, under the registry's mutex
//! ([`super::registry::Registry::enter`]). When the range is used up, and only then, the mark is raised by a
//! mini-transaction. The file is named by `Txn::take_id` and `Txn::become_writer`, the only callers. The
//! rules and the crash argument are in the room's README.

use super::kernel::Kernel;
use super::lane::LaneHold;
use super::transaction::Txn;
use crate::error::{Error, Result};
use crate::ids::TxnId;

/// Ids beyond have no room in a row: 48 bits, and no id is the last one.
const ID_END: u64 = (1 << 48) - 1;

impl Kernel {
    /// An id in the active set; raises the mark if the range is used up. No latch is held.
    fn enter(&self) -> Result<TxnId> {
        loop {
            if let Some(id) = self.registry.enter() {
                return Ok(id);
            }
            let _one = self.raising_mark.lock();
            let Some(end) = self.registry.used_up() else { continue };
            let mark = TxnId(end.0.saturating_add(self.ids_ahead).min(ID_END));
            if mark <= end {
                return Err(Error::Stopped("all 2^48 transaction ids were used".to_owned()));
            }
            self.storage.raise_id_mark(mark)?;
            self.registry.extend(mark);
        }
    }
}

impl Txn {
    /// A statement that may change rows begins with one: whether it is allowed to. Takes nothing.
    pub(crate) fn check_may_write(&self) -> Result<()> {
        if self.options.read_only {
            return Err(Error::ReadOnly);
        }
        if self.hold.is_none() {
            self.kernel.storage.wal.check_running()?;
        }
        Ok(())
    }

    /// Gives the transaction its id and its lane, right before its first undo record, if a lane is free and
    /// the range has ids: a few instructions, allowed under latches. False: drop the latches, call
    /// `Txn::become_writer`, and come again.
    #[inline]
    pub(crate) fn take_id(&mut self) -> bool {
        if self.hold.is_some() {
            return true;
        }
        let Some(hold) = self.kernel.lanes.take_free() else { return false };
        let Some(id) = self.kernel.registry.enter() else {
            self.kernel.lanes.release(hold);
            return false;
        };
        write_as(self, id, hold);
        true
    }

    /// As `Txn::take_id`, making what is missing: a lane, or a higher mark. The caller holds no latch, and
    /// holds the lock of what it is about to change. `Miss` and `DiskFull` change nothing.
    pub(crate) fn become_writer(&mut self) -> Result<()> {
        if self.hold.is_none() {
            let kernel = self.kernel.clone();
            let hold = kernel.lanes.acquire(&kernel.storage)?;
            match kernel.enter() {
                Ok(id) => write_as(self, id, hold),
                Err(error) => {
                    kernel.lanes.release(hold);
                    return Err(error);
                }
            }
        }
        Ok(())
    }
}

/// From now on the transaction has an id, and a lane for its undo.
fn write_as(txn: &mut Txn, id: TxnId, hold: LaneHold) {
    txn.hold = Some(hold);
    txn.id = id;
    txn.locks.set_id(id);
    txn.options.status.set_txn_id(id.0);
}
