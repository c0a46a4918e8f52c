//! Purge: dropping what no view can see any more.
//!
//! Purge walks each lane from the front, through ended transactions whose commit number is below the registry's limit: every
//! view, open or to come, sees them. So nobody reads their undo again, and what they delete-marked may go:
//!
//! | record | standing | undone |
//! |---|---|---|
//! | insert | nothing | the row, if still marked by this transaction; its new chain |
//! | update | the old version's chain; the row, if this change deleted it and it is still marked by this transaction | the new version's chain; the row, if it was marked before |
//! | entry added | nothing | the entry, if still marked by this transaction |
//! | entry marked | the entry, if still marked by this transaction | nothing |
//!
//! Every step may be repeated after a crash: "still marked by this transaction" is false once it was done, for ids are never used
//! twice, and a chain's reference in the undo record is zeroed in the mini-transaction that frees its last page. So progress
//! is recorded only page by page, when a lane's first page is freed.

use std::sync::atomic::Ordering;

use crate::btree::{Position, Successor, Tree, overflow};
use crate::buffer::Mtr;
use crate::buffer::with_pages_blocking;
use crate::error::{Error, Result};
use crate::ids::{PageNo, RollPtr, TxnId};
use crate::page::{DELETE_MARK, PageKind};
use crate::txn::kernel::Kernel;
use crate::txn::lane::{ITEMS_START, Lane};
use crate::txn::lock_calls::{GapName, inherit_all};
use crate::txn::undo_record::{
    DELETED, Item, NEEDS_PURGE, TxnState, UNDONE, UndoKind, UndoRecord, decode, item_at, new_chain_offset,
    old_value_offset, place, roll_ptr,
};
use crate::txn::view::CommitNo;

use super::undo::copy_item;
use super::value::{ROW_HEADER_BYTES, RowValue, writer_of};

/// A place in a lane.
type Place = (PageNo, usize);

/// One round over all lanes. Returns the number of transactions purged; no more than `budget`, roughly.
pub(crate) fn purge_round(kernel: &Kernel, budget: u64) -> Result<u64> {
    let _purging = kernel.purging.lock();
    let limit = kernel.registry.purge_limit();
    if kernel.registry.view_count() == 0 {
        kernel.dead_undo.clear();
    }
    let mut purged = 0;
    let mut lanes = kernel.lanes.all();
    // A round may end before the last lane: each begins at another one.
    let start = kernel.purge_rounds.fetch_add(1, Ordering::Relaxed) as usize % lanes.len().max(1);
    lanes.rotate_left(start);
    for lane in lanes {
        if purged >= budget {
            break;
        }
        purged += purge_lane(kernel, &lane, limit, budget - purged)?;
    }
    for page in kernel.dead_undo.candidates() {
        drop_if_dead(kernel, page)?;
    }
    Ok(purged)
}

/// Frees a lane page all of whose records were cut off from their rows between views.
fn drop_if_dead(kernel: &Kernel, page_no: PageNo) -> Result<()> {
    let Some(dead) = survey(kernel, page_no)? else { return Ok(()) };
    let Some(lane) = kernel.lanes.get(dead.lane) else { return Ok(()) };
    let state = lane.state();
    if state.first != state.purge_at.0 || state.last == page_no || dead.next.0 == 0 {
        return Ok(());
    }
    kernel.storage.reserve_blocking()?;
    let gone = if state.first == page_no {
        // Those in front of the purge position have been counted off already.
        let gone = dead.headers.iter().filter(|&&offset| offset >= state.purge_at.1).count();
        lane.with_state(|state| state.purge_at = (dead.next, ITEMS_START));
        with_pages_blocking(&kernel.storage, || kernel.lanes.drop_first_page(&kernel.storage, &lane))?;
        gone
    } else {
        with_pages_blocking(&kernel.storage, || {
            kernel.lanes.drop_middle_page(&kernel.storage, page_no, dead.prev, dead.next)
        })?;
        dead.headers.len()
    };
    lane.with_state(|state| state.unpurged -= gone as u64);
    kernel.dead_undo.forget(page_no);
    kernel.stats.undo_pages_freed.fetch_add(1, Ordering::Relaxed);
    kernel.stats.purged_transactions.fetch_add(gone as u64, Ordering::Relaxed);
    Ok(())
}

/// A page of dead undo and its place in its lane.
struct DeadPage {
    lane: u32,
    prev: PageNo,
    next: PageNo,
    /// Offsets of its transaction headers.
    headers: Vec<usize>,
}

/// Looks whether every item of an undo page is dead: records cut off, of committed transactions that need no other purge.
fn survey(kernel: &Kernel, page_no: PageNo) -> Result<Option<DeadPage>> {
    let page = kernel.storage.pool.load_blocking(page_no)?.read();
    if page.kind() != Some(PageKind::Undo) {
        return Ok(None);
    }
    let (mut headers, mut records) = (Vec::new(), Vec::new());
    let mut offset = ITEMS_START;
    while offset < page.heap_top() {
        let (item, next) = item_at(&page, offset)?;
        match item {
            Item::Txn(header) if header.state == TxnState::Committed && header.flags & NEEDS_PURGE == 0 => {
                headers.push(offset);
            }
            Item::Txn(_) => return Ok(None),
            // The header that says whether its transaction left purge something to do is on another page.
            Item::Record(_) if headers.is_empty() => return Ok(None),
            Item::Record(record) => records.push((offset, record.txn_id)),
        }
        offset = next;
    }
    let dead = kernel.dead_undo.covers(page_no, &records);
    Ok(dead.then(|| DeadPage { lane: page.index_id().0, prev: page.prev(), next: page.next(), headers }))
}

/// Purges one lane as far as the limit allows.
fn purge_lane(kernel: &Kernel, lane: &Lane, limit: CommitNo, budget: u64) -> Result<u64> {
    let mut purged = 0;
    loop {
        let state = lane.state();
        if state.first != state.purge_at.0 {
            kernel.storage.reserve_blocking()?;
            with_pages_blocking(&kernel.storage, || kernel.lanes.drop_first_page(&kernel.storage, lane))?;
            kernel.stats.undo_pages_freed.fetch_add(1, Ordering::Relaxed);
            continue;
        }
        if purged >= budget || (state.unpurged == 0 && state.first == state.last) {
            return Ok(purged);
        }
        match peek(kernel, state.purge_at)? {
            Peek::End => return Ok(purged),
            Peek::Move(to) => lane.with_state(|state| state.purge_at = to),
            Peek::Txn { id, state: TxnState::Committed | TxnState::RolledBack, number, flags, records }
                if number < limit && state.unpurged > 0 =>
            {
                let end = walk_records(kernel, id, records, flags & NEEDS_PURGE != 0)?;
                lane.with_state(|state| {
                    state.purge_at = end;
                    state.unpurged -= 1;
                });
                kernel.stats.purged_transactions.fetch_add(1, Ordering::Relaxed);
                purged += 1;
            }
            Peek::Txn { .. } => return Ok(purged),
        }
    }
}

/// What lies at the purge position.
enum Peek {
    /// Nothing more in this lane.
    End,
    /// Go there: the next page, or behind a record whose transaction was purged before a crash.
    Move(Place),
    /// A transaction.
    Txn { id: TxnId, state: TxnState, number: CommitNo, flags: u8, records: Place },
}

fn peek(kernel: &Kernel, (page_no, offset): Place) -> Result<Peek> {
    let page = kernel.storage.pool.load_blocking(page_no)?.read();
    if offset >= page.heap_top() {
        let next = page.next();
        return Ok(if next.0 == 0 { Peek::End } else { Peek::Move((next, ITEMS_START)) });
    }
    let (item, next) = item_at(&page, offset)?;
    Ok(match item {
        Item::Record(_) => Peek::Move((page_no, next)),
        Item::Txn(header) => Peek::Txn {
            id: header.txn_id,
            state: header.state,
            number: header.commit_no,
            flags: header.flags,
            records: (page_no, next),
        },
    })
}

/// Goes through a transaction's records, purging each if `work`; returns the place behind the last.
fn walk_records(kernel: &Kernel, id: TxnId, from: Place, work: bool) -> Result<Place> {
    let mut at = from;
    let mut end = from;
    loop {
        let mut todo = None;
        {
            let page = kernel.storage.pool.load_blocking(at.0)?.read();
            while at.1 < page.heap_top() {
                let (item, next) = item_at(&page, at.1)?;
                if matches!(item, Item::Txn(_)) {
                    return Ok(end);
                }
                if work {
                    todo = Some(roll_ptr(at.0, at.1));
                }
                at.1 = next;
                end = at;
                if work {
                    break;
                }
            }
            if todo.is_none() {
                if page.next().0 == 0 {
                    return Ok(end);
                }
                at = (page.next(), ITEMS_START);
            }
        }
        if let Some(ptr) = todo {
            kernel.storage.reserve_blocking()?;
            purge_record(kernel, id, ptr)?;
        }
    }
}

fn purge_record(kernel: &Kernel, id: TxnId, ptr: RollPtr) -> Result<()> {
    let bytes = with_pages_blocking(&kernel.storage, || copy_item(kernel, ptr))?;
    let Some(Item::Record(record)) = decode(&bytes) else { return Ok(()) };
    let undone = record.flags & UNDONE != 0;
    let deleted = record.flags & DELETED != 0;
    match record.kind {
        UndoKind::Insert { new_chain } if undone => {
            remove_marked(kernel, id, &record)?;
            free_chain(kernel, ptr, new_chain, new_chain_offset(record.key.len()))
        }
        UndoKind::Update { new_chain, old_flags, .. } if undone => {
            if old_flags & DELETE_MARK != 0 {
                remove_marked(kernel, id, &record)?;
            }
            free_chain(kernel, ptr, new_chain, new_chain_offset(record.key.len()))
        }
        UndoKind::Update { old_flags, old_value, .. } => {
            if deleted {
                remove_marked(kernel, id, &record)?;
            }
            let chain = RowValue::decode(old_value)?.payload.chain();
            if old_flags & DELETE_MARK != 0 {
                return Ok(());
            }
            free_chain(kernel, ptr, chain, old_value_offset(record.key.len()) + ROW_HEADER_BYTES)
        }
        UndoKind::EntryAdded if undone => remove_marked(kernel, id, &record),
        UndoKind::EntryMarked if !undone => remove_marked(kernel, id, &record),
        UndoKind::Insert { .. } | UndoKind::EntryAdded | UndoKind::EntryMarked => Ok(()),
    }
}

/// Removes the row or entry of a record if it is still delete-marked by this transaction.
fn remove_marked(kernel: &Kernel, id: TxnId, record: &UndoRecord<'_>) -> Result<()> {
    let removed = with_pages_blocking(&kernel.storage, || {
        let tree = kernel.tree(record.index)?;
        try_remove_marked(kernel, &tree, id, record.key)
    });
    match removed {
        Ok(true) => {
            kernel.stats.purged_records.fetch_add(1, Ordering::Relaxed);
            Ok(())
        }
        Ok(false) | Err(Error::NoSuchIndex(_)) => Ok(()),
        Err(error) => Err(error),
    }
}

fn try_remove_marked(kernel: &Kernel, tree: &Tree, id: TxnId, key: &[u8]) -> Result<bool> {
    let leaf = tree.leaf_for_write(key)?;
    let Position::Found(slot) = leaf.position() else { return Ok(false) };
    let found = leaf.record(slot);
    if found.flags & DELETE_MARK == 0 || writer_of(found.value)? != id {
        return Ok(false);
    }
    let successor = match tree.successor(leaf.view(), slot)? {
        Successor::Here(slot) => GapName::Key(leaf.view().key(slot).to_vec()),
        Successor::Right(right) => GapName::Key(right.key().to_vec()),
        Successor::Supremum => GapName::Supremum,
    };
    inherit_all(kernel, tree.index(), key, &successor);
    let mut mtr = Mtr::begin(&kernel.storage);
    let edit = leaf.enter(&mut mtr);
    edit.remove(&mut mtr, slot);
    let sparse = edit.wants_shrink(&mtr);
    mtr.commit();
    if sparse {
        // A sparse leaf is harmless: the next removal near it asks again.
        let _ = with_pages_blocking(&kernel.storage, || tree.shrink(key));
    }
    Ok(true)
}

/// Frees a chain and zeroes its reference, which lies `offset` bytes into the undo record.
fn free_chain(kernel: &Kernel, ptr: RollPtr, first: PageNo, offset: usize) -> Result<()> {
    if first.0 == 0 {
        return Ok(());
    }
    let storage = &kernel.storage;
    while !with_pages_blocking(storage, || overflow::free_tail_step(storage, first))? {
        storage.reserve_blocking()?;
    }
    with_pages_blocking(storage, || {
        let (page_no, at) = place(ptr);
        let undo = storage.pool.try_pin(page_no)?.write();
        let mut mtr = Mtr::begin(storage);
        let undo = mtr.take(undo);
        overflow::free_first(&mut mtr, first);
        mtr.write(undo, at + offset, &0u32.to_le_bytes());
        mtr.commit();
        Ok(())
    })
}
