//! The pass of purge behind the oldest view: versions between views, of rows that nobody writes again.
//!
//! ```text
//!   lane:  | T3 r r | T4 r | T7 r r r | T9 r ->        the oldest view does not see T4: purge stops in front of it
//!                     ^ purge_at        ^ to
//!                            ^ looked_at: what T4 and T7 have replaced has been looked at
//! ```
//!
//! Every update record in front of `to` that is not known to be cut off names a row, and that row's chain is
//! pruned under its leaf's exclusive latch (`prune.rs`). Records that are needed stay; so do those that purge
//! must visit (see `dead_pages.rs`), but no reader walks past them any more.
//!
//! Every record in front of `to` is by a transaction that has left the active set. If the row's newest
//! version is by one that has not, the row is left alone: that transaction's own record is behind `to` now
//! and will be looked at by a later look, even if it is taken back, and then the row's whole chain is. See
//! `txn/interior_purge.rs` for what a look begins with, and the race argument in this room's README.

use std::sync::atomic::Ordering;

use crate::btree::Position;
use crate::buffer::{Mtr, with_pages_blocking};
use crate::error::{Error, Result};
use crate::ids::{IndexId, RollPtr};
use crate::txn::interior_purge::InteriorPurge;
use crate::txn::kernel::Kernel;
use crate::txn::lane::{ITEMS_START, Lane, LaneState};
use crate::txn::undo_record::{Item, Place, TxnState, UndoKind, item_at};
use crate::txn::view::CommitNo;

use super::prune::{CutOffs, ROLL_PTR_OFFSET, prune_at_rest};
use super::value::RowValue;

/// Turns of `innodb_purge_batch_size` records in one round.
const TURNS: u64 = 16;

/// The clustered tree and the key of a row.
type RowName = (IndexId, Vec<u8>);

/// Looks on where the last round stopped, and when that look is through begins the next, at `left` records at
/// most.
pub(super) fn purge_interior(kernel: &Kernel, look: &mut InteriorPurge, left: u64) -> Result<()> {
    let batch = kernel.settings.purge_batch_size.load(Ordering::Relaxed).max(1);
    let mut left = left.min(batch.saturating_mul(TURNS));
    look_on(kernel, look, batch, &mut left)?;
    if left > 0 {
        look.begin(&kernel.registry, &kernel.lanes);
        look_on(kernel, look, batch, &mut left)?;
    }
    Ok(())
}

/// Works on one look, until it is through or `left` is 0.
fn look_on(kernel: &Kernel, look: &mut InteriorPurge, batch: u64, left: &mut u64) -> Result<()> {
    while *left > 0 {
        let Some((lane, again)) = look.take() else { break };
        let turn = batch.min(*left);
        let mut unused = turn;
        let outcome = look_at_lane(kernel, &lane, (look.from, look.to), again, &mut unused);
        if !matches!(outcome, Ok(false)) {
            look.put_back(lane, outcome.is_ok());
        }
        *left -= turn - unused;
        kernel.purge.progress.behind.fetch_add(turn - unused, Ordering::Relaxed);
        outcome?;
    }
    Ok(())
}

/// A turn with a lane: `left` records at most, which it counts down. True: there may be more.
fn look_at_lane(
    kernel: &Kernel,
    lane: &Lane,
    (from, to): (CommitNo, CommitNo),
    again: bool,
    left: &mut u64,
) -> Result<bool> {
    let _mine = lane.purging.lock();
    let state = lane.state();
    // While this is so and we purge the lane, nobody begins at its front again: what is behind `looked_at`
    // stays what it is.
    if state.unpurged <= state.inert {
        return Ok(false);
    }
    if again {
        let at = back_to(kernel, &state, from)?;
        lane.with_state(|state| state.looked_at = at);
    }
    let mut rows = Vec::new();
    loop {
        let (next, more) = gather(kernel, lane.state().looked_at, (from, to), left, &mut rows)?;
        // The record that names a row is often followed by others of it.
        rows.sort_unstable();
        rows.dedup();
        for (index, key) in rows.drain(..) {
            prune_row(kernel, index, &key)?;
        }
        lane.with_state(|state| state.looked_at = next);
        if !more {
            return Ok(false);
        }
        if *left == 0 {
            return Ok(true);
        }
    }
}

/// A place between `purge_at` and `looked_at` with nothing in front of it that was replaced by a transaction
/// from `from` on.
fn back_to(kernel: &Kernel, state: &LaneState, from: CommitNo) -> Result<Place> {
    let mut page_no = state.looked_at.0;
    while page_no != state.purge_at.0 {
        let page = kernel.storage.pool.load_blocking(page_no)?.read();
        let mut offset = ITEMS_START;
        while offset < page.heap_top() {
            let (item, next) = item_at(&page, offset)?;
            if let Item::Txn(header) = item {
                if header.state != TxnState::Active && header.commit_no < from {
                    return Ok((page_no, offset));
                }
                break;
            }
            offset = next;
        }
        page_no = page.prev();
        if page_no.0 == 0 {
            break;
        }
    }
    Ok(state.purge_at)
}

/// Names of the rows that transactions in front of `to` and not in front of `from` have changed, from a place
/// to the end of its page; where to go on, and whether there may be more.
fn gather(
    kernel: &Kernel,
    (page_no, from_offset): Place,
    (from, to): (CommitNo, CommitNo),
    left: &mut u64,
    rows: &mut Vec<RowName>,
) -> Result<(Place, bool)> {
    let page = kernel.storage.pool.load_blocking(page_no)?.read();
    let (mut offset, mut skip) = (from_offset, false);
    while offset < page.heap_top() {
        let (item, next) = item_at(&page, offset)?;
        match item {
            Item::Txn(header) => {
                if header.state == TxnState::Active || header.commit_no >= to {
                    return Ok(((page_no, offset), false));
                }
                skip = header.commit_no < from;
            }
            Item::Record(record) => {
                if *left == 0 {
                    return Ok(((page_no, offset), true));
                }
                *left -= 1;
                if !skip
                    && matches!(record.kind, UndoKind::Update { .. })
                    && !kernel.dead_undo.has(page_no, (offset, record.txn_id))
                {
                    rows.push((record.index, record.key.to_vec()));
                }
            }
        }
        offset = next;
    }
    match page.next() {
        next if next.0 != 0 => Ok(((next, ITEMS_START), true)),
        _ => Ok(((page_no, offset), false)),
    }
}

fn prune_row(kernel: &Kernel, index: IndexId, key: &[u8]) -> Result<()> {
    kernel.storage.reserve_blocking()?;
    match with_pages_blocking(&kernel.storage, || try_prune_row(kernel, index, key)) {
        Err(Error::NoSuchIndex(_)) => Ok(()),
        outcome => outcome,
    }
}

fn try_prune_row(kernel: &Kernel, index: IndexId, key: &[u8]) -> Result<()> {
    let tree = kernel.tree(index)?;
    let leaf = tree.leaf_for_write(key)?;
    let Position::Found(slot) = leaf.position() else { return Ok(()) };
    let found = leaf.record(slot);
    let newest = RowValue::decode(found.value)?;
    if newest.roll_ptr == RollPtr(0) || kernel.registry.is_active(newest.txn_id) {
        return Ok(());
    }
    let mut cut_off = CutOffs::new();
    let Some(further) = prune_at_rest(kernel, newest.txn_id, newest.roll_ptr, &mut cut_off)? else {
        return Ok(());
    };
    let mut value = found.value.to_vec();
    value[ROLL_PTR_OFFSET..ROLL_PTR_OFFSET + 6].copy_from_slice(&further.0.to_le_bytes()[..6]);
    let mut mtr = Mtr::begin(&kernel.storage);
    leaf.enter(&mut mtr).replace(&mut mtr, slot, &value);
    mtr.commit();
    kernel.dead_undo.note(&cut_off);
    Ok(())
}
