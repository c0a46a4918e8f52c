//! Taking changes back: the newest standing undo record of a transaction, one at a time.
//!
//! | record | how it is taken back |
//! |---|---|
//! | insert, or update of a row that was delete-marked | the row gets a delete mark, by us; purge removes it
//! |
//! | any other update | the old leaf value and flags return |
//! | entry added | the entry gets a delete mark; purge removes it |
//! | entry marked | the mark goes |
//!
//! Nothing is removed here, because an older view may still need an entry that this transaction had revived;
//! and because a rollback that needs no structure change but "make room for the old value" hardly can fail.
//! Each step marks its record as undone in the same mini-transaction, so that a crash in between neither
//! repeats nor skips one.

use crate::api::Savepoint;
use crate::btree::Position;
use crate::buffer::Mtr;
use crate::error::{Error, Result};
use crate::ids::{RollPtr, TxnId};
use crate::page::DELETE_MARK;
use crate::txn::Txn;
use crate::txn::kernel::Kernel;
use crate::txn::lane::LaneHold;
use crate::txn::undo_record::{
    Item, NEEDS_PURGE, TxnState, UNDONE, UndoKind, UndoRecord, decode, item_at, place,
};
use crate::yield_now::yield_now;

use super::value::{Payload, RowValue, entry_value, split_entry, writer_of};

/// Records taken back between two chances for other sessions.
const RECORDS_AT_ONCE: u64 = 64;

/// Copies the bytes of the item at `ptr` out of its page.
pub(crate) fn copy_item(kernel: &Kernel, ptr: RollPtr) -> Result<Vec<u8>> {
    let (page_no, offset) = place(ptr);
    let page = kernel.storage.pool.try_pin(page_no)?.read();
    let (_, next) = item_at(&page, offset)?;
    Ok(page.bytes()[offset..next].to_vec())
}

/// Takes back the newest record of a transaction that still stands. False if there is none left. `Miss`
/// changes nothing.
pub(crate) fn undo_newest(kernel: &Kernel, id: TxnId, hold: &mut LaneHold) -> Result<bool> {
    let ptr = hold.newest();
    if ptr.0 == 0 {
        return Ok(false);
    }
    let bytes = copy_item(kernel, ptr)?;
    let Some(Item::Record(record)) = decode(&bytes) else {
        let (page, offset) = place(ptr);
        return Err(Error::Corrupt {
            file: crate::buffer::DATA_FILE.to_owned(),
            offset: u64::from(page.0) * crate::page::PAGE_SIZE as u64 + offset as u64,
            what: "a transaction's newest undo record is none".to_owned(),
        });
    };
    LaneHold::check_owner(record.txn_id, id, place(ptr).0)?;
    if record.flags & UNDONE == 0 {
        match take_back(kernel, id, ptr, &record) {
            // The index is being dropped: nothing of it needs to be restored.
            Err(Error::NoSuchIndex(_)) => mark_only(kernel, ptr)?,
            outcome => outcome?,
        }
    }
    hold.add_flags(NEEDS_PURGE);
    hold.set_newest(record.prev);
    Ok(true)
}

/// The leaf value of a row that was not there before: nothing but who says so and where to look for older
/// versions. A chain of the row is now referred to by the undo record alone.
fn marked_row(id: TxnId, ptr: RollPtr) -> Vec<u8> {
    let mut value = Vec::new();
    RowValue { txn_id: id, roll_ptr: ptr, payload: Payload::Inline(&[]) }.encode(&mut value);
    value
}

fn mark_only(kernel: &Kernel, ptr: RollPtr) -> Result<()> {
    let undo = kernel.storage.pool.try_pin(place(ptr).0)?.write();
    let mut mtr = Mtr::begin(&kernel.storage);
    let undo = mtr.take(undo);
    LaneHold::mark_undone(&mut mtr, undo, ptr);
    mtr.commit();
    Ok(())
}

fn take_back(kernel: &Kernel, id: TxnId, ptr: RollPtr, record: &UndoRecord<'_>) -> Result<()> {
    let tree = kernel.tree(record.index)?;
    loop {
        let leaf = tree.leaf_for_write(record.key)?;
        let Position::Found(slot) = leaf.position() else {
            drop(leaf);
            return mark_only(kernel, ptr);
        };
        let found = leaf.record(slot);
        let (flags, value): (u8, std::borrow::Cow<'_, [u8]>) = match record.kind {
            UndoKind::Insert { .. } => (found.flags | DELETE_MARK, marked_row(id, ptr).into()),
            UndoKind::Update { old_flags, .. } if old_flags & DELETE_MARK != 0 => {
                (old_flags, marked_row(id, ptr).into())
            }
            UndoKind::Update { old_flags, old_value, .. } => (old_flags, old_value.into()),
            UndoKind::EntryAdded | UndoKind::EntryMarked => {
                let pk_len = split_entry(found.key, found.value)?.1.len();
                let marked = matches!(record.kind, UndoKind::EntryAdded);
                let flags = if marked { found.flags | DELETE_MARK } else { found.flags & !DELETE_MARK };
                (flags, entry_value(id, pk_len).to_vec().into())
            }
        };
        if matches!(record.kind, UndoKind::Insert { .. } | UndoKind::Update { .. }) {
            let writer = writer_of(found.value)?;
            // The row was handed on: whoever got it is taken back first. At a restart only, where there are
            // no locks.
            if writer != id && kernel.registry.is_active(writer) {
                return Err(Error::Covered(writer));
            }
            LaneHold::check_owner(writer, id, leaf.view().page_no())?;
        }
        if !leaf.fits_replace(slot, value.len()) {
            drop(leaf);
            tree.make_room(record.key, value.len())?;
            continue;
        }
        let undo = kernel.storage.pool.try_pin(place(ptr).0)?.write();
        let mut mtr = Mtr::begin(&kernel.storage);
        let leaf = leaf.enter(&mut mtr);
        let undo = mtr.take(undo);
        leaf.replace(&mut mtr, slot, &value);
        leaf.set_flags(&mut mtr, slot, flags);
        LaneHold::mark_undone(&mut mtr, undo, ptr);
        mtr.commit();
        return Ok(());
    }
}

impl Txn {
    /// Undoes what came after `savepoint`. Locks stay.
    pub async fn rollback_to(&mut self, savepoint: Savepoint) -> Result<()> {
        if self.has_ended() {
            debug_assert!(false, "a change that ends its transaction is not taken back");
            return Ok(());
        }
        let kernel = self.kernel.clone();
        if savepoint.0 != 0 {
            self.options.status.rows().partial_rollbacks.add(1);
        }
        if self.records > savepoint.0 {
            self.order().reclaim(savepoint.0).await;
        }
        while self.records > savepoint.0 {
            if self.records.is_multiple_of(RECORDS_AT_ONCE) {
                yield_now().await;
            }
            kernel.storage.reserve().await?;
            let id = self.id;
            let undone = paged_through!(
                self,
                match &mut self.hold {
                    Some(hold) => undo_newest(&kernel, id, hold),
                    None => Ok(false),
                }
            )?;
            if !undone {
                break;
            }
            self.records -= 1;
            self.locks.set_undo_records(self.records);
            self.options.status.set_undo_records(self.records);
        }
        Ok(())
    }

    /// Rolls everything back and releases the locks.
    pub async fn rollback(&mut self) -> Result<()> {
        self.rollback_to(Savepoint(0)).await?;
        self.end(TxnState::RolledBack)?;
        Ok(())
    }
}
