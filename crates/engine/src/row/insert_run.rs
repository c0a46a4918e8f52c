//! INSERT of many rows behind the last one: what a load does, whose keys ascend.
//!
//! As many rows as go into the last leaf and into the lane's last page are one mini-transaction, with their
//! undo records. Each has its lock, and its undo record, as if it had been inserted alone; so whoever waits
//! for one of them, a rollback, and restart see no difference.
//!
//! Nothing here waits. Whatever is not as simple as that (secondary keys, a key in the middle, a lock of
//! somebody else, gaps that are locked, a page not in memory, a full log) is left to [`Txn::insert`], one
//! row; then the next run may go on.

use super::value::{INLINE_BYTES_MAX, ROW_HEADER_BYTES, RowValue};
use crate::api::{RowLock, TableDef};
use crate::btree::{LeafWrite, Tree};
use crate::buffer::Mtr;
use crate::error::{Error, Result};
use crate::page::{PAGE_SIZE, SLOT_SIZE, record_size};
use crate::row::write;
use crate::txn::Txn;
use crate::txn::counters::{Carried, Delivery};
use crate::txn::lock_calls::{Grant, LockKind};
use crate::txn::trees::tree as tree_of;
use crate::txn::undo_record::{UndoKind, UndoRecord, record_len};

/// Rows to be inserted, side by side in one buffer.
#[derive(Debug, Default)]
pub struct RowRun {
    bytes: Vec<u8>,
    /// Of each row: the end of its key, and of its row bytes behind it.
    ends: Vec<(usize, usize)>,
}

impl RowRun {
    /// Adds a row.
    pub fn push(&mut self, key: &[u8], row: &[u8]) {
        self.bytes.extend_from_slice(key);
        let key_end = self.bytes.len();
        self.bytes.extend_from_slice(row);
        self.ends.push((key_end, self.bytes.len()));
    }

    /// Rows in it.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Bytes of all keys and rows.
    pub fn bytes(&self) -> usize {
        self.bytes.len()
    }

    /// Key and bytes of a row.
    pub fn get(&self, nth: usize) -> (&[u8], &[u8]) {
        let start = nth.checked_sub(1).map_or(0, |before| self.ends[before].1);
        let (key_end, end) = self.ends[nth];
        (&self.bytes[start..key_end], &self.bytes[key_end..end])
    }

    /// Drops all rows, keeping the memory.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }
}

/// What stops a run of rows.
enum Stop {
    /// The leaf is full.
    Leaf,
    /// The lane's last page is full.
    Lane,
    /// The next row is not for a run, or there is none.
    Row,
}

impl Txn {
    /// Inserts rows of `run` from the one at `first` on, and says how many. None is no failure: that row must
    /// be inserted by [`Txn::insert`].
    pub fn try_insert_run(&mut self, table: &TableDef, run: &RowRun, first: usize) -> Result<usize> {
        if !table.secondaries.is_empty() || self.admission_is_due() || first >= run.len() {
            return Ok(0);
        }
        self.count_locks()?;
        let kernel = self.kernel.clone();
        if !kernel.storage.wal.try_reserve()? {
            return Ok(0);
        }
        let inserted = match try_run(self, table, run, first) {
            Err(Error::Miss(_)) => return Ok(0),
            outcome => outcome?,
        };
        self.spend(inserted as u64);
        self.options.status.rows().inserted.add(inserted as u64);
        Ok(inserted)
    }
}

fn try_run(txn: &mut Txn, table: &TableDef, run: &RowRun, first: usize) -> Result<usize> {
    txn.check_may_write()?;
    let tree = tree_of(txn, table.clustered)?;
    let (key, row) = run.get(first);
    if row.len() > INLINE_BYTES_MAX {
        return Ok(0);
    }
    loop {
        let leaf = tree.leaf_for_write(key)?;
        // Who claims a gap does it under this latch, or sees the rows.
        if !leaf.is_at_end() || txn.gaps_matter() {
            return Ok(0);
        }
        if txn.hold.is_none() {
            // An id only for who holds the lock of what it writes.
            if txn.try_lock_row(tree.index(), key, RowLock::Exclusive, LockKind::Record) == Grant::Conflict {
                return Ok(0);
            }
            if !txn.take_id() {
                drop(leaf);
                txn.become_writer()?;
                continue;
            }
        }
        match fitting(txn, &tree, &leaf, run, first) {
            (0, Stop::Row) => return Ok(0),
            (0, Stop::Lane) => {
                drop(leaf);
                write::extend_lane(txn)?;
            }
            (0, Stop::Leaf) => {
                drop(leaf);
                tree.make_room(key, ROW_HEADER_BYTES + row.len())?;
                // It may have been room between the records.
                let again = tree.leaf_for_write(key)?;
                if again.room_at_end() < entry_bytes(key, row) {
                    return Ok(0);
                }
            }
            (count, _) => return append_rows(txn, &tree, leaf, run, first..first + count),
        }
    }
}

/// How many rows from `first` on can be appended to this leaf; they are locked then.
fn fitting(txn: &mut Txn, tree: &Tree, leaf: &LeafWrite<'_>, run: &RowRun, first: usize) -> (usize, Stop) {
    let (mut leaf_room, mut lane_room) = (leaf.room_at_end(), write::writer(txn).room().min(PAGE_SIZE));
    let mut before: Option<&[u8]> = None;
    for nth in first..run.len() {
        let (key, row) = run.get(nth);
        let ascends = before.is_none_or(|before| before < key);
        if !ascends
            || row.len() > INLINE_BYTES_MAX
            || Tree::check_record(key.len(), ROW_HEADER_BYTES + row.len()).is_err()
        {
            return (nth - first, Stop::Row);
        }
        let (in_leaf, in_lane) = (entry_bytes(key, row), undo_bytes(key));
        if in_leaf > leaf_room {
            return (nth - first, Stop::Leaf);
        }
        if in_lane > lane_room {
            return (nth - first, Stop::Lane);
        }
        if txn.try_lock_row(tree.index(), key, RowLock::Exclusive, LockKind::Record) == Grant::Conflict {
            return (nth - first, Stop::Row);
        }
        (leaf_room, lane_room) = (leaf_room - in_leaf, lane_room - in_lane);
        before = Some(key);
    }
    (run.len() - first, Stop::Row)
}

/// One mini-transaction: the rows and their undo records. Nothing fails after its first change.
fn append_rows(
    txn: &mut Txn,
    tree: &Tree,
    leaf: LeafWrite<'_>,
    run: &RowRun,
    rows: std::ops::Range<usize>,
) -> Result<usize> {
    let kernel = txn.kernel.clone();
    let id = txn.id;
    let count = rows.len();
    let head = RowValue::head_of_new(id);
    let carried = txn.carried;
    let hold = write::writer(txn);
    let tail = kernel.storage.pool.try_pin(hold.tail_page())?.write();
    let delivery = Carried::latch(carried, &kernel.storage)?;
    let mut mtr = Mtr::begin(&kernel.storage);
    let edit = leaf.enter(&mut mtr);
    let tail = mtr.take(tail);
    hold.append_inserts(&mut mtr, tail, (id, tree.index()), rows.clone().map(|nth| run.get(nth).0));
    edit.append(
        &mut mtr,
        rows.map(|nth| {
            let (key, row) = run.get(nth);
            (key, [&head[..], row])
        }),
    );
    Delivery::put(delivery, &mut mtr);
    mtr.commit();
    txn.carried = None;
    write::count_records(txn, count as u64);
    Ok(count)
}

fn entry_bytes(key: &[u8], row: &[u8]) -> usize {
    record_size(key.len(), ROW_HEADER_BYTES + row.len()) + SLOT_SIZE
}

fn undo_bytes(key: &[u8]) -> usize {
    let kind = UndoKind::Insert { new_chain: crate::ids::PageNo(0) };
    let none = crate::ids::RollPtr(0);
    let index = crate::ids::IndexId(0);
    record_len(&UndoRecord { flags: 0, txn_id: crate::ids::TxnId(0), prev: none, index, key, kind })
}
