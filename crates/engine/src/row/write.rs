//! The one place where rows and entries change: a leaf and the undo page, one mini-transaction.
//!
//! Every function here is one attempt that may be run again from the top: `Error::Miss` means that nothing
//! has changed. The caller holds the row's exclusive lock, so what it has read under an earlier latch still
//! stands.
//!
//! Latch order: leaf, then undo page. Everything that can fail (room in the leaf, room in the lane, pages in
//! memory) is settled before the first byte changes.

use super::prune::prune;
use super::value::{Payload, RowValue, entry_value, writer_of};
use super::version::check_writer;
use crate::btree::{LeafWrite, Position, Successor, Tree};
use crate::buffer::Mtr;
use crate::error::Result;
use crate::ids::{PageNo, RollPtr, TxnId};
use crate::page::{DELETE_MARK, Record};
use crate::txn::Txn;
use crate::txn::counters::{Carried, Delivery};
use crate::txn::lane::LaneHold;
use crate::txn::lock_calls::{GapName, Grant, inherit_gap};
use crate::txn::spare::{give_buffer, take_buffer};
use crate::txn::undo_record::{DELETED, NEEDS_PURGE, UndoKind, UndoRecord};

/// Outcome of an attempt that adds a key to a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Added {
    /// It is there.
    Done,
    /// A live record with the key is there already.
    Exists,
    /// Somebody has locked the gap: wait for the insert intention on this name, then come again.
    GapTaken(GapName),
    /// Somebody has locked the delete-marked entry with this key: lock it, then come again.
    EntryTaken,
}

/// What a row version is replaced by.
#[derive(Clone, Copy, Debug)]
pub(crate) enum NewVersion<'r> {
    /// This payload.
    Row(Payload<'r>),
    /// Nothing: the row is delete-marked and keeps its payload.
    Deleted,
}

pub(super) fn writer(txn: &mut Txn) -> &mut LaneHold {
    txn.hold.as_mut().expect("take_id or become_writer came first")
}

/// The lane's last page has no room for the next record: puts a new one behind it.
pub(super) fn extend_lane(txn: &mut Txn) -> Result<()> {
    let kernel = txn.kernel.clone();
    let hold = writer(txn);
    let full = hold.tail_page();
    hold.extend(&kernel.storage)?;
    if kernel.registry.may_have_views() {
        kernel.dead_undo.look(full);
    }
    Ok(())
}

/// Undo records of this transaction have been written.
pub(super) fn count_records(txn: &mut Txn, count: u64) {
    txn.records += count;
    txn.locks.set_undo_records(txn.records);
    txn.options.status.set_undo_records(txn.records);
}

/// Runs an attempt's change: latches the lane's last page, opens the mini-transaction, appends the undo
/// record and lets `change` do the leaf with the record's roll pointer; `ends` commits the transaction with
/// it. False: the lane had no room and has it now; come again.
fn apply(
    txn: &mut Txn,
    leaf: LeafWrite<'_>,
    (kind, flags, ends): (UndoKind<'_>, u8, bool),
    tree: &Tree,
    key: &[u8],
    change: impl FnOnce(&mut Mtr<'_>, crate::btree::LeafEdit, RollPtr),
) -> Result<bool> {
    let id = txn.id;
    let (kernel, hold) = (&txn.kernel, txn.hold.as_mut().expect("take_id came first"));
    let record = UndoRecord { flags, txn_id: id, prev: hold.newest(), index: tree.index(), key, kind };
    if !hold.fits(&record) {
        drop(leaf);
        extend_lane(txn)?;
        return Ok(false);
    }
    let tail = kernel.storage.pool.try_pin(hold.tail_page())?.write();
    let delivery = Carried::latch(txn.carried, &kernel.storage)?;
    let mut mtr = Mtr::begin(&kernel.storage);
    let edit = leaf.enter(&mut mtr);
    let tail = mtr.take(tail);
    let end = ends.then(|| kernel.registry.reserve());
    let ptr = hold.append(&mut mtr, tail, &record, end);
    change(&mut mtr, edit, ptr);
    Delivery::put(delivery, &mut mtr);
    let lsn = mtr.commit();
    if let Some(number) = end {
        hold.note_end(number, lsn);
    }
    txn.carried = None;
    count_records(txn, 1);
    Ok(true)
}

/// Inserts a row, or revives a delete-marked one with the same key.
pub(crate) fn try_insert_row(txn: &mut Txn, tree: &Tree, key: &[u8], payload: Payload<'_>) -> Result<Added> {
    let mut value = Vec::new();
    loop {
        let leaf = tree.leaf_for_write(key)?;
        if let Position::Found(slot) = leaf.position() {
            let found = leaf.record(slot);
            if found.flags & DELETE_MARK == 0 {
                check_writer(&txn.kernel, writer_of(found.value)?)?;
                return Ok(Added::Exists);
            }
            if try_replace_at(txn, tree, leaf, slot, key, (NewVersion::Row(payload), false))? {
                return Ok(Added::Done);
            }
            continue;
        }
        let slot = leaf.position().slot();
        let gap = successor_name(txn, tree, &leaf, slot)?;
        if txn.try_insert_intention(tree, &gap) == Grant::Conflict {
            return Ok(Added::GapTaken(gap));
        }
        let row = RowValue { txn_id: TxnId(0), roll_ptr: RollPtr(0), payload };
        if !leaf.fits_insert(key.len(), row.encoded_len()) {
            drop(leaf);
            tree.make_room(key, row.encoded_len())?;
            continue;
        }
        if !txn.take_id() {
            drop(leaf);
            txn.become_writer()?;
            continue;
        }
        let row = RowValue { txn_id: txn.id, ..row };
        let kind = UndoKind::Insert { new_chain: payload.chain() };
        let kernel = txn.kernel.clone();
        // No version is before it, so its roll pointer is 0 and no reader follows its undo.
        if apply(txn, leaf, (kind, 0, false), tree, key, |mtr, edit, _| {
            row.encode(&mut value);
            inherit_gap(&kernel, tree.index(), &gap, key);
            edit.insert(mtr, slot, key, &value, 0);
        })? {
            return Ok(Added::Done);
        }
    }
}

/// Gives the row at `slot` a new version, and commits with it if it `ends` the transaction; the row is locked
/// by us. False: something had no room and has it now; come again.
pub(crate) fn try_replace_at(
    txn: &mut Txn,
    tree: &Tree,
    leaf: LeafWrite<'_>,
    slot: usize,
    key: &[u8],
    (new, ends): (NewVersion<'_>, bool),
) -> Result<bool> {
    let found = leaf.record(slot);
    let old = RowValue::decode(found.value)?;
    // A deleted row keeps its bytes, so that taking the deletion back needs no room; but not a chain,
    // which from now on belongs to the undo record.
    let (payload, flags) = match (new, old.payload) {
        (NewVersion::Row(payload), _) => (payload, found.flags & !DELETE_MARK),
        (NewVersion::Deleted, Payload::Inline(_)) => (old.payload, found.flags | DELETE_MARK),
        (NewVersion::Deleted, Payload::Chain { .. }) => (Payload::Inline(&[][..]), found.flags | DELETE_MARK),
    };
    let len = RowValue { txn_id: TxnId(0), roll_ptr: RollPtr(0), payload }.encoded_len();
    if !leaf.fits_replace(slot, len) {
        drop(leaf);
        tree.make_room(key, len)?;
        return Ok(false);
    }
    if !txn.take_id() {
        drop(leaf);
        txn.become_writer()?;
        return Ok(false);
    }
    // What our own id, a moment old, is above of was handed out.
    if old.txn_id > txn.id {
        check_writer(&txn.kernel, old.txn_id)?;
    }
    let new_chain = match new {
        NewVersion::Row(payload) => payload.chain(),
        NewVersion::Deleted => PageNo(0),
    };
    let mut old_value = take_buffer();
    encode_old(txn, &found, &old, &mut old_value);
    let mut value = take_buffer();
    let id = txn.id;
    RowValue { txn_id: id, roll_ptr: RollPtr(0), payload }.encode(&mut value);
    let record_flags = if matches!(new, NewVersion::Deleted) { DELETED } else { 0 };
    if old.payload.chain().0 != 0 || new_chain.0 != 0 || matches!(new, NewVersion::Deleted) {
        writer(txn).add_flags(NEEDS_PURGE);
    }
    let old_flags = found.flags;
    let kind = UndoKind::Update { new_chain, old_flags, old_value: &old_value };
    let done = apply(txn, leaf, (kind, record_flags, ends), tree, key, |mtr, edit, ptr| {
        value[..6].copy_from_slice(&id.0.to_le_bytes()[..6]);
        value[6..12].copy_from_slice(&ptr.0.to_le_bytes()[..6]);
        edit.replace(mtr, slot, &value);
        if old_flags != flags {
            edit.set_flags(mtr, slot, flags);
        }
    });
    give_buffer(value);
    give_buffer(old_value);
    if matches!(done, Ok(true)) && !txn.cut_off.is_empty() {
        txn.kernel.dead_undo.note(&txn.cut_off);
    }
    done
}

/// The old leaf value as the undo record keeps it: without a payload if it was deleted (nobody can want
/// it), and with a roll pointer that leaves out versions which no open view needs.
fn encode_old(txn: &mut Txn, found: &Record<'_>, old: &RowValue<'_>, out: &mut Vec<u8>) {
    if found.flags & DELETE_MARK != 0 {
        RowValue { payload: Payload::Inline(&[]), ..*old }.encode(out);
    } else {
        out.clear();
        out.extend_from_slice(found.value);
    }
    let writers = (txn.id, old.txn_id);
    if let Some(further) = prune(&txn.kernel, writers, old.roll_ptr, &mut txn.cut_off) {
        out[6..12].copy_from_slice(&further.0.to_le_bytes()[..6]);
    }
}

/// Adds an entry to a secondary tree, or takes the delete mark off one. `pk_len` bytes of `key` are the
/// primary key.
pub(crate) fn try_add_entry(txn: &mut Txn, tree: &Tree, key: &[u8], pk_len: usize) -> Result<Added> {
    loop {
        let leaf = tree.leaf_for_write(key)?;
        let value = entry_value(txn.id, pk_len);
        if let Position::Found(slot) = leaf.position() {
            let flags = leaf.record(slot).flags;
            if flags & DELETE_MARK == 0 {
                return Ok(Added::Exists);
            }
            if txn.try_entry_lock(tree, key) == Grant::Conflict {
                return Ok(Added::EntryTaken);
            }
            if apply(txn, leaf, (UndoKind::EntryAdded, 0, false), tree, key, |mtr, edit, _| {
                edit.replace(mtr, slot, &value);
                edit.set_flags(mtr, slot, flags & !DELETE_MARK);
            })? {
                return Ok(Added::Done);
            }
            continue;
        }
        let slot = leaf.position().slot();
        let gap = successor_name(txn, tree, &leaf, slot)?;
        if txn.try_insert_intention(tree, &gap) == Grant::Conflict {
            return Ok(Added::GapTaken(gap));
        }
        if !leaf.fits_insert(key.len(), value.len()) {
            drop(leaf);
            tree.make_room(key, value.len())?;
            continue;
        }
        let kernel = txn.kernel.clone();
        if apply(txn, leaf, (UndoKind::EntryAdded, 0, false), tree, key, |mtr, edit, _| {
            inherit_gap(&kernel, tree.index(), &gap, key);
            edit.insert(mtr, slot, key, &value, 0);
        })? {
            return Ok(Added::Done);
        }
    }
}

/// Puts a delete mark on a secondary entry.
pub(crate) fn try_mark_entry(txn: &mut Txn, tree: &Tree, key: &[u8], pk_len: usize) -> Result<()> {
    loop {
        let leaf = tree.leaf_for_write(key)?;
        let Position::Found(slot) = leaf.position() else { return Ok(()) };
        let flags = leaf.record(slot).flags;
        if flags & DELETE_MARK != 0 {
            return Ok(());
        }
        let value = entry_value(txn.id, pk_len);
        writer(txn).add_flags(NEEDS_PURGE);
        if apply(txn, leaf, (UndoKind::EntryMarked, 0, false), tree, key, |mtr, edit, _| {
            edit.replace(mtr, slot, &value);
            edit.set_flags(mtr, slot, flags | DELETE_MARK);
        })? {
            return Ok(());
        }
    }
}

/// The lock name of the gap that an insertion at `slot` goes into: its right neighbour. The neighbour's
/// leaf is latched while its key is read; it cannot get a smaller first key without our leaf's latch.
fn successor_name(txn: &Txn, tree: &Tree, leaf: &LeafWrite<'_>, slot: usize) -> Result<GapName> {
    if !txn.gaps_matter() {
        return Ok(GapName::Nobody);
    }
    Ok(match tree.successor_at(leaf.view(), slot)? {
        Successor::Here(slot) => GapName::Key(leaf.view().key(slot).to_vec()),
        Successor::Right(right) => GapName::Key(right.key().to_vec()),
        Successor::Supremum => GapName::Supremum,
    })
}
