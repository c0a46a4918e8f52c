//! Freeing undo pages out of the middle of a lane: pages of nothing but records that nobody can reach.
//!
//! | item | may go before purge comes to it |
//! |---|---|
//! | header of a committed transaction that left purge nothing else to do | yes |
//! | any other header | no: purge needs it |
//! | update that stands, replaced no chain and deleted nothing | if it was cut off from its row |
//! | insert or entry added that stands, of a transaction that has ended | yes: no reader follows it |
//! | anything else | no: purge has work with it |
//!
//! A page is looked at when it has enough notes (`txn/dead_undo.rs`) or when its lane goes on to another one;
//! never twice for nothing, so the cost is a share of the writes that made it, and an open view costs nothing
//! by itself.

use std::sync::atomic::Ordering;

use crate::buffer::with_pages_blocking;
use crate::error::Result;
use crate::ids::{PageNo, TxnId};
use crate::page::{DELETE_MARK, PageKind};
use crate::txn::dead_undo::Note;
use crate::txn::kernel::Kernel;
use crate::txn::lane::{ITEMS_START, Lane};
use crate::txn::undo_record::{
    DELETED, INERT, Item, NEEDS_PURGE, TxnState, UNDONE, UndoKind, UndoRecord, item_at,
};

use super::value::RowValue;

/// Frees what can be freed among the pages that are worth a look. Returns the number of transactions that are
/// gone.
pub(super) fn free_dead_pages(kernel: &Kernel) -> Result<u64> {
    let mut gone = 0;
    for page in kernel.dead_undo.take_ready() {
        gone += look(kernel, page)?;
    }
    Ok(gone)
}

fn look(kernel: &Kernel, page_no: PageNo) -> Result<u64> {
    let lane = {
        let page = kernel.storage.pool.load_blocking(page_no)?.read();
        (page.kind() == Some(PageKind::Undo)).then(|| page.index_id().0)
    };
    let Some(lane) = lane.and_then(|number| kernel.lanes.get(number)) else { return Ok(0) };
    let _mine = lane.purging.lock();
    let state = lane.state();
    // The last page is looked at when it is no longer the last.
    if state.last == page_no || state.midst.is_some() || state.first != state.purge_at.0 {
        return Ok(0);
    }
    match survey(kernel, &lane, page_no)? {
        Some(dead) => free(kernel, &lane, page_no, &dead),
        None => Ok(0),
    }
}

/// A page of dead undo and its place in its lane.
struct DeadPage {
    prev: PageNo,
    next: PageNo,
    /// Offsets of its transaction headers, and whether the transaction was inert.
    headers: Vec<(usize, bool)>,
}

/// Looks whether a page of this lane is dead. The caller purges the lane, so the page stays what it is.
///
/// A page is asked for by its notes, by its lane and again by more notes, so it may have been freed since;
/// and a freed page keeps its bytes until it is allocated again. The bitmap is asked first: an allocation
/// holds the bitmap's latch until the page has its new content, so what is allocated and reads as this lane's
/// is this lane's. (Without this the crash simulation freed a page of nothing but insertions twice: seeds
/// 383, 403 and 529.)
fn survey(kernel: &Kernel, lane: &Lane, page_no: PageNo) -> Result<Option<DeadPage>> {
    let storage = &kernel.storage;
    if !with_pages_blocking(storage, || storage.space.is_allocated(&storage.pool, page_no))? {
        return Ok(None);
    }
    let page = kernel.storage.pool.load_blocking(page_no)?.read();
    if page.kind() != Some(PageKind::Undo) || page.index_id().0 != lane.number || page.next().0 == 0 {
        return Ok(None);
    }
    let (mut headers, mut to_be_cut_off): (Vec<_>, Vec<Note>) = Default::default();
    let mut ended = TxnId(0);
    let mut all_ended = true;
    let mut offset = ITEMS_START;
    while offset < page.heap_top() {
        let (item, next) = item_at(&page, offset)?;
        match item {
            Item::Txn(header) if header.flags & NEEDS_PURGE != 0 => return Ok(None),
            Item::Txn(header) => {
                all_ended &= header.state == TxnState::Committed && !kernel.registry.is_active(header.txn_id);
                headers.push((offset, header.flags & INERT != 0));
                ended = header.txn_id;
            }
            Item::Record(record) => {
                if record.txn_id != ended {
                    all_ended &= !kernel.registry.is_active(record.txn_id);
                    ended = record.txn_id;
                }
                match wanted_by(&record)? {
                    Wanted::Purge => return Ok(None),
                    Wanted::Readers => to_be_cut_off.push((offset, record.txn_id)),
                    Wanted::Nobody => {}
                }
            }
        }
        offset = next;
    }
    let dead = kernel.dead_undo.covers(page_no, &to_be_cut_off) && all_ended;
    Ok(dead.then(|| DeadPage { prev: page.prev(), next: page.next(), headers }))
}

/// Who may ask for a record of a transaction that has ended.
enum Wanted {
    Purge,
    /// Readers, until it is cut off.
    Readers,
    Nobody,
}

fn wanted_by(record: &UndoRecord<'_>) -> Result<Wanted> {
    if record.flags & (UNDONE | DELETED) != 0 {
        return Ok(Wanted::Purge);
    }
    Ok(match record.kind {
        UndoKind::Insert { .. } | UndoKind::EntryAdded => Wanted::Nobody,
        UndoKind::EntryMarked => Wanted::Purge,
        UndoKind::Update { old_flags, old_value, .. } => {
            let chain = RowValue::decode(old_value)?.payload.chain();
            if chain.0 != 0 && old_flags & DELETE_MARK == 0 { Wanted::Purge } else { Wanted::Readers }
        }
    })
}

fn free(kernel: &Kernel, lane: &Lane, page_no: PageNo, dead: &DeadPage) -> Result<u64> {
    let storage = &kernel.storage;
    let state = lane.state();
    storage.reserve_blocking()?;
    let gone: Vec<bool> = if state.first == page_no {
        // Those in front of the purge position have been counted off already.
        let still = dead.headers.iter().filter(|(offset, _)| *offset >= state.purge_at.1);
        lane.with_state(|state| state.leave_page(page_no, dead.next));
        with_pages_blocking(storage, || kernel.lanes.drop_first_page(storage, lane))?;
        still.map(|(_, inert)| *inert).collect()
    } else {
        with_pages_blocking(storage, || {
            kernel.lanes.drop_middle_page(storage, page_no, dead.prev, dead.next)
        })?;
        lane.with_state(|state| {
            state.leave_page(page_no, dead.next);
            state.pages -= 1;
        });
        dead.headers.iter().map(|(_, inert)| *inert).collect()
    };
    lane.with_state(|state| {
        state.unpurged -= gone.len() as u64;
        state.inert -= gone.iter().filter(|inert| **inert).count() as u64;
        state.blocked_at = Default::default();
    });
    kernel.dead_undo.forget(page_no);
    let stats = &kernel.stats;
    stats.undo_pages_freed.fetch_add(1, Ordering::Relaxed);
    stats.purged_transactions.fetch_add(gone.len() as u64, Ordering::Relaxed);
    Ok(gone.len() as u64)
}
