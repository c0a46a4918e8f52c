//! Purge: dropping what no view can see any more.
//!
//! Purge walks each lane from the front, through ended transactions whose commit number is below the
//! registry's limit: every view, open or to come, sees them. So nobody reads their undo again, and what they
//! delete-marked may go:
//!
//! | record | standing | undone |
//! |---|---|---|
//! | insert | nothing | the row, if still marked; its new chain |
//! | update | the old version's chain; a row that it deleted, if still marked | the new chain; a row marked
//! before |
//! | entry added | nothing | the entry, if still marked |
//! | entry marked | the entry, if still marked | nothing |
//!
//! Marked means by this transaction, but for "marked before". Every step may be repeated after a crash:
//! "still marked by this transaction" is false once it was done, for ids are never used twice, and a chain's
//! reference in the undo record is zeroed in the mini-transaction that frees its last page. So progress is
//! recorded only page by page, when a lane's first page is freed.
//!
//! A round takes the limit once and asks each lane, without looking at a page, whether there may be anything
//! to do. So with an old view open a round costs a few instructions for each lane. Its work is shared by
//! threads (`txn/purge_crew.rs`), lane by lane, a batch at a time. `innodb_purge_batch_size` is what a thread
//! does in a lane before it turns to the next; `innodb_max_purge_size` is what all of them do in a round
//! before purge draws breath. Inert transactions, which have only added, go whatever the limit is. What lies
//! behind a view that has been the oldest for a while is looked at next (`interior_purge.rs`).

use std::sync::atomic::Ordering;

use crate::btree::{Position, Successor, Tree, overflow};
use crate::buffer::Mtr;
use crate::buffer::with_pages_blocking;
use crate::error::{Error, Result};
use crate::ids::{PageNo, RollPtr, TxnId};
use crate::page::DELETE_MARK;
use crate::txn::kernel::Kernel;
use crate::txn::lane::{ITEMS_START, Lane, LaneState};
use crate::txn::lock_calls::{GapName, inherit_all};
use crate::txn::purge_lag::dml_delay_us;
use crate::txn::undo_record::{
    DELETED, INERT, Item, NEEDS_PURGE, Place, TxnState, UNDONE, UndoKind, UndoRecord, decode, item_at,
    new_chain_offset, old_value_offset, place, roll_ptr,
};
use crate::txn::view::CommitNo;

use super::dead_pages::free_dead_pages;
use super::interior_purge::purge_interior;
use super::undo::copy_item;
use super::value::{ROW_HEADER_BYTES, RowValue, writer_of};

/// What a round has done.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Round {
    /// Undo records it went through or looked at.
    pub(crate) records: u64,
    /// Transactions whose undo is gone.
    pub(crate) transactions: u64,
}

/// One round over all lanes, together with the helpers if there are any: `cap` undo records at most, 0 for no
/// cap. `patience`: its interior pass goes behind a view that has been the oldest for so many rounds.
pub(crate) fn purge_round(kernel: &Kernel, cap: u64, patience: u32) -> Result<Round> {
    let crew = &kernel.purge;
    let mut look = crew.begin_round();
    let progress = &crew.progress;
    let (records, behind) = (read(&progress.records), read(&progress.behind));
    let transactions = read(&kernel.stats.purged_transactions);
    if !progress.stopped.load(Ordering::Relaxed) {
        progress.running.store(true, Ordering::Relaxed);
        let cap = if cap == 0 { u64::MAX } else { cap };
        let outcome = run_round(kernel, cap).and_then(|()| {
            let left = cap.saturating_sub(read(&progress.records) - records);
            if look.is_due(&kernel.registry, patience) {
                purge_interior(kernel, &mut look, left)?;
            }
            free_dead_pages(kernel).map(drop)
        });
        progress.running.store(false, Ordering::Relaxed);
        outcome?;
    }
    let delay = dml_delay_us(&kernel.settings, kernel.history_length());
    progress.dml_delay_us.store(delay, Ordering::Relaxed);
    Ok(Round {
        records: read(&progress.records) - records + read(&progress.behind) - behind,
        transactions: read(&kernel.stats.purged_transactions) - transactions,
    })
}

fn read(counter: &std::sync::atomic::AtomicU64) -> u64 {
    counter.load(Ordering::Relaxed)
}

fn run_round(kernel: &Kernel, cap: u64) -> Result<()> {
    let limit = kernel.registry.purge_limit();
    let offered = kernel.registry.seen_by_all();
    if !kernel.registry.may_have_views() {
        kernel.dead_undo.clear();
    }
    let (lanes, transactions) = kernel.lanes.with_work(limit);
    if !lanes.is_empty() {
        let batch = kernel.settings.purge_batch_size.load(Ordering::Relaxed).max(1);
        kernel.purge.lay_out(lanes, limit, (transactions, cap, batch));
        let own = work_off(kernel);
        kernel.purge.finish()?;
        own?;
    }
    kernel.purge.progress.limit.store(offered.0, Ordering::Relaxed);
    Ok(())
}

/// Takes batches of the round and purges them until there are no more.
pub(crate) fn work_off(kernel: &Kernel) -> Result<()> {
    let crew = &kernel.purge;
    while let Some(batch) = crew.take() {
        let mut left = batch.records;
        let outcome = purge_lane(kernel, &batch.lane, batch.limit, &mut left);
        crew.progress.records.fetch_add(batch.records - left, Ordering::Relaxed);
        let more = matches!(outcome, Ok(true));
        crew.put_back(more.then_some(batch.lane), left);
        outcome?;
    }
    Ok(())
}

/// Purges a lane as far as the limit allows, through `left` records at most, which it counts down. True:
/// there may be more.
fn purge_lane(kernel: &Kernel, lane: &Lane, limit: CommitNo, left: &mut u64) -> Result<bool> {
    let _mine = lane.purging.lock();
    loop {
        let state = lane.state();
        if state.first != state.purge_at.0 && state.midst.is_none() {
            kernel.storage.reserve_blocking()?;
            with_pages_blocking(&kernel.storage, || kernel.lanes.drop_first_page(&kernel.storage, lane))?;
            kernel.dead_undo.forget(state.first);
            kernel.stats.undo_pages_freed.fetch_add(1, Ordering::Relaxed);
            continue;
        }
        if state.unpurged == 0 && state.first == state.last {
            return Ok(false);
        }
        if *left == 0 {
            return Ok(true);
        }
        let step = match state.midst {
            Some(id) => LaneWork::Work { id, records: state.purge_at },
            None => step(kernel, &state, limit, left)?,
        };
        match step {
            LaneWork::Passed { to, transactions, inert } => {
                kernel.purge.progress.pages.fetch_add(u64::from(to.0 != state.purge_at.0), Ordering::Relaxed);
                if transactions > inert {
                    kernel.dead_undo.forget(state.purge_at.0);
                }
                lane.with_state(|state| {
                    state.pass_to(to);
                    state.unpurged -= transactions;
                    state.inert -= inert;
                });
                kernel.stats.purged_transactions.fetch_add(transactions, Ordering::Relaxed);
            }
            LaneWork::Work { id, records } => {
                let (to, finished) = walk_records(kernel, id, records, left)?;
                lane.with_state(|state| {
                    state.pass_to(to);
                    state.midst = (!finished).then_some(id);
                    state.unpurged -= u64::from(finished);
                });
                kernel.stats.purged_transactions.fetch_add(u64::from(finished), Ordering::Relaxed);
            }
            LaneWork::Blocked(number) => {
                lane.with_state(|state| state.blocked_at = number);
                return Ok(false);
            }
            LaneWork::End => return Ok(false),
        }
    }
}

/// What comes next in a lane.
enum LaneWork {
    /// So many transactions with nothing to purge, and perhaps the rest of one, lie in front of `to`.
    Passed { to: Place, transactions: u64, inert: u64 },
    /// A transaction whose records are to be purged one by one.
    Work { id: TxnId, records: Place },
    /// A transaction that some view does not see.
    Blocked(CommitNo),
    /// Nothing more, or a transaction that is running.
    End,
}

/// Goes from the purge position through the rest of its page, as far as there is nothing to do but to pass
/// on.
fn step(kernel: &Kernel, state: &LaneState, limit: CommitNo, left: &mut u64) -> Result<LaneWork> {
    let (page_no, from) = state.purge_at;
    let page = kernel.storage.pool.load_blocking(page_no)?.read();
    let (mut offset, mut transactions, mut inert) = (from, 0, 0);
    let stop = loop {
        if offset >= page.heap_top() {
            if page.next().0 != 0 {
                return Ok(LaneWork::Passed { to: (page.next(), ITEMS_START), transactions, inert });
            }
            break LaneWork::End;
        }
        if *left == 0 {
            break LaneWork::End;
        }
        let (item, next) = item_at(&page, offset)?;
        if let Item::Txn(header) = item {
            let is_inert = header.flags & INERT != 0;
            if header.state == TxnState::Active || transactions == state.unpurged {
                break LaneWork::End;
            }
            if header.commit_no >= limit && !is_inert {
                break LaneWork::Blocked(header.commit_no);
            }
            if header.flags & NEEDS_PURGE != 0 {
                break LaneWork::Work { id: header.txn_id, records: (page_no, next) };
            }
            transactions += 1;
            inert += u64::from(is_inert);
        } else {
            *left -= 1;
        }
        offset = next;
    };
    if offset == from {
        return Ok(stop);
    }
    Ok(LaneWork::Passed { to: (page_no, offset), transactions, inert })
}

/// Purges records of a transaction one by one. Returns the place behind the last, and whether the transaction
/// has no more.
fn walk_records(kernel: &Kernel, id: TxnId, from: Place, left: &mut u64) -> Result<(Place, bool)> {
    let mut at = from;
    loop {
        let record = {
            let page = kernel.storage.pool.load_blocking(at.0)?.read();
            if at.1 < page.heap_top() {
                let (item, next) = item_at(&page, at.1)?;
                matches!(item, Item::Record(_)).then(|| (roll_ptr(at.0, at.1), (at.0, next)))
            } else if page.next().0 != 0 {
                kernel.purge.progress.pages.fetch_add(1, Ordering::Relaxed);
                at = (page.next(), ITEMS_START);
                continue;
            } else {
                None
            }
        };
        let Some((ptr, next)) = record else { return Ok((at, true)) };
        if *left == 0 {
            return Ok((at, false));
        }
        kernel.storage.reserve_blocking()?;
        purge_record(kernel, id, ptr)?;
        *left -= 1;
        at = next;
    }
}

fn purge_record(kernel: &Kernel, id: TxnId, ptr: RollPtr) -> Result<()> {
    let bytes = with_pages_blocking(&kernel.storage, || copy_item(kernel, ptr))?;
    let Some(Item::Record(record)) = decode(&bytes) else { return Ok(()) };
    let undone = record.flags & UNDONE != 0;
    if undone || matches!(record.kind, UndoKind::Update { .. }) {
        kernel.purge.progress.other.fetch_add(1, Ordering::Relaxed);
    }
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
            kernel.purge.progress.marked.fetch_add(1, Ordering::Relaxed);
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
