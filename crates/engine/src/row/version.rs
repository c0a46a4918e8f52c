//! Which version of a row a reader sees: the newest one, or one found by walking back through undo.
//!
//! ```text
//!   leaf:  T9 "c" -> undo of T9: T4 "b" -> undo of T4: T2 "a" -> undo of T2: insert, nothing before
//! ```
//!
//! Walking is safe only with an open view: the view keeps purge away from every record it may need. Who has
//! no view must be content with a newest version that is committed (see `Registry::low_water`).

use crate::buffer::Storage;
use crate::error::{Error, Result};
use crate::ids::{RollPtr, TxnId};
use crate::page::{DELETE_MARK, Record};
use crate::txn::kernel::Kernel;
use crate::txn::undo_record::{Item, UNDONE, UndoKind, item_at, place};
use crate::txn::view::Sight;

use super::value::RowValue;
use std::sync::atomic::Ordering;

/// The version a reader sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seen {
    /// The one in the leaf.
    Newest,
    /// An older one; its leaf value is in the caller's buffer.
    Older,
    /// None: not yet inserted, or deleted.
    Nothing,
}

/// Refuses a version or an entry by an id that was never handed out: taken for one by a transaction to come,
/// it would be hidden from every reader without a word.
#[inline]
pub(crate) fn check_writer(kernel: &Kernel, id: TxnId) -> Result<()> {
    if kernel.registry.was_given(id) { Ok(()) } else { Err(never_given(kernel, id)) }
}

#[cold]
fn never_given(kernel: &Kernel, id: TxnId) -> Error {
    let next = kernel.registry.next_id();
    Error::Corrupt {
        file: crate::buffer::DATA_FILE.to_owned(),
        offset: 0,
        what: format!("a row of transaction {id}, though none from {next} on has begun"),
    }
}

/// Finds the version of the row in `record` that `sight` sees. An older one is put into `older`.
pub(crate) fn visible(
    kernel: &Kernel,
    record: &Record<'_>,
    sight: &Sight,
    older: &mut Vec<u8>,
) -> Result<Seen> {
    let storage = &kernel.storage;
    let newest = RowValue::decode(record.value)?;
    let sees = sight.sees(newest.txn_id);
    if !sees || matches!(sight, Sight::Newest) {
        check_writer(kernel, newest.txn_id)?;
    }
    if sees {
        if record.flags & DELETE_MARK == 0 {
            return Ok(Seen::Newest);
        }
        // A mark of our own may come from a change that we have taken back: then it is not ours to see.
        if !sight.is_own(newest.txn_id) || !is_undone(storage, newest.roll_ptr)? {
            return Ok(Seen::Nothing);
        }
    }
    let mut at = newest.roll_ptr;
    while at.0 != 0 {
        let (page_no, offset) = place(at);
        kernel.stats.versions_walked.fetch_add(1, Ordering::Relaxed);
        let page = storage.pool.try_pin(page_no)?.read();
        let (item, _) = item_at(&page, offset)?;
        let Item::Record(undo) = item else {
            return Err(Error::Corrupt {
                file: crate::buffer::DATA_FILE.to_owned(),
                offset: u64::from(page_no.0) * crate::page::PAGE_SIZE as u64 + offset as u64,
                what: "a roll pointer leads to something else than an undo record".to_owned(),
            });
        };
        let UndoKind::Update { old_flags, old_value, .. } = undo.kind else { return Ok(Seen::Nothing) };
        let version = RowValue::decode(old_value)?;
        let seen = sight.sees(version.txn_id);
        if !seen {
            check_writer(kernel, version.txn_id)?;
        }
        if seen && old_flags & DELETE_MARK == 0 {
            older.clear();
            older.extend_from_slice(old_value);
            return Ok(Seen::Older);
        }
        at = version.roll_ptr;
        let own = sight.is_own(version.txn_id);
        // One undo page at a time: the next look may be at the same one.
        drop(page);
        if seen && !(own && is_undone(storage, at)?) {
            return Ok(Seen::Nothing);
        }
    }
    Ok(Seen::Nothing)
}

/// Whether the undo record at `at` belongs to a change that was taken back.
fn is_undone(storage: &Storage, at: RollPtr) -> Result<bool> {
    if at.0 == 0 {
        return Ok(false);
    }
    let (page_no, offset) = place(at);
    let page = storage.pool.try_pin(page_no)?.read();
    match item_at(&page, offset)?.0 {
        Item::Record(undo) => Ok(undo.flags & UNDONE != 0),
        Item::Txn(_) => Ok(false),
    }
}
