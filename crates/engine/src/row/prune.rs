//! Pruning: taking versions that no open view needs out of a row's chain, wherever they are in it.
//!
//! ```text
//!   leaf T9 -> T8 -> T7 -> T5 -> T4 -> T3 -> T0        views A (sees T0), B (sees T5)
//!                                                      T9 is being replaced
//!   new  -> T9 ----------> T5 -------------> T0        undo of what restores T8, T7, T4, T3 is cut off
//! ```
//!
//! The caller has the leaf's exclusive latch, so nobody is on the chain, and it writes the row or is purge
//! and knows that the newest version's writer has left. A version is needed iff an open view sees it and not
//! the next newer one. Views that open meanwhile see the newest committed version, so they need none of
//! these. The oldest view is kept open for as long as the walk takes, so that purge frees nothing of what is
//! walked.
//!
//! Links are bytes of undo records: the first is written with the new undo record, one further back is
//! rewritten where it is. It belongs to a transaction that has ended, so no rollback has read it; and after a
//! crash, when there are no views, nobody asks.
//!
//! For a writer it is an economy, not a duty: pages that are not in memory, or latched, end the walk. Most
//! writes look at a few versions, one in sixteen at all of them, so a chain has at most that many more than
//! there are views. Purge waits for pages and finds the others.

use smallvec::SmallVec;

use crate::buffer::Mtr;
use crate::error::Result;
use crate::ids::{RollPtr, TxnId};
use crate::page::PageView;
use crate::txn::dead_undo::CutOff;
use crate::txn::kernel::Kernel;
use crate::txn::lane::ITEMS_START;
use crate::txn::undo_record::{
    Item, NEEDS_PURGE, TXN_HEADER_BYTES, TxnState, UndoKind, item_at, old_value_offset, place,
};

use super::value::RowValue;

/// Versions most writes look at.
const SHALLOW: usize = 8;
/// Versions that purge, and one write in [`DEEP_EVERY`], looks at.
const DEEP: usize = 1024;
const DEEP_EVERY: u64 = 16;
/// Offset of the roll pointer in a leaf value.
pub(super) const ROLL_PTR_OFFSET: usize = 6;

/// What was cut off.
pub(super) type CutOffs = SmallVec<[CutOff; 4]>;
/// A chain, or its beginning.
type Links = SmallVec<[Link; SHALLOW]>;

/// One version in a chain, and the undo record that restores it.
struct Link {
    record: RollPtr,
    cut_off: CutOff,
    /// Where in its page the version's roll pointer is.
    pointer_at: usize,
    /// Who wrote the version.
    writer: TxnId,
    /// The version's roll pointer.
    next: RollPtr,
}

/// The version that the undo record at `at`, in `page`, restores. None if it restores none.
fn link(page: &PageView, at: RollPtr) -> Option<Link> {
    let (page_no, offset) = place(at);
    let Ok((Item::Record(record), end)) = item_at(page, offset) else { return None };
    let UndoKind::Update { old_value, .. } = record.kind else { return None };
    let version = RowValue::decode(old_value).ok()?;
    let first = record.prev.0 == 0;
    Some(Link {
        record: at,
        cut_off: CutOff {
            page: page_no,
            note: (offset, record.txn_id),
            alone: first && is_alone(page, offset, end, record.txn_id),
        },
        pointer_at: offset + old_value_offset(record.key.len()) + ROLL_PTR_OFFSET,
        writer: version.txn_id,
        next: version.roll_ptr,
    })
}

/// Whether the record from `offset` to `end`, a transaction's first, is all there is of it, with nothing for
/// purge to do.
fn is_alone(page: &PageView, offset: usize, end: usize, id: TxnId) -> bool {
    let last = if end >= page.heap_top() {
        page.next().0 == 0
    } else {
        matches!(item_at(page, end), Ok((Item::Txn(_), _)))
    };
    let header = offset.checked_sub(TXN_HEADER_BYTES).filter(|&at| at >= ITEMS_START);
    last && header.is_some_and(|at| {
        matches!(item_at(page, at), Ok((Item::Txn(header), _))
            if header.txn_id == id && header.state == TxnState::Committed && header.flags & NEEDS_PURGE == 0)
    })
}

/// Follows a chain from `roll` on: at most `depth` versions, and none behind the first one whose writer is
/// seen, nor behind one that `read` does not bring.
fn follow(
    roll: RollPtr,
    depth: usize,
    sees: impl Fn(TxnId) -> bool,
    read: impl Fn(RollPtr) -> Result<Option<Link>>,
) -> Result<Links> {
    let mut links = Links::new();
    let mut at = roll;
    while at.0 != 0 && links.len() < depth {
        let Some(link) = read(at)? else { break };
        at = link.next;
        let last = sees(link.writer);
        links.push(link);
        if last {
            break;
        }
    }
    Ok(links)
}

/// Prunes the chain of a version by `newer` that `writer` is replacing. The roll pointer that the version is
/// to have in its undo record, if it is to be another one; what that cuts off goes to `cut_off`, to be noted
/// when it is written.
pub(super) fn prune(
    kernel: &Kernel,
    (writer, newer): (TxnId, TxnId),
    roll: RollPtr,
    cut_off: &mut CutOffs,
) -> Option<RollPtr> {
    cut_off.clear();
    if roll.0 == 0 || newer == writer || !kernel.registry.has_old_view(newer) {
        return None;
    }
    // A version that was handed on before its commit hides all behind it from every view to come.
    if kernel.registry.is_active(newer) {
        return None;
    }
    let oldest = kernel.registry.oldest_hiding(newer)?;
    let depth = if writer.0 % DEEP_EVERY == 0 { DEEP } else { SHALLOW };
    let pool = &kernel.storage.pool;
    let links = follow(
        roll,
        depth,
        |writer| oldest.sees(writer),
        |at| {
            let Ok(pin) = pool.try_pin(place(at).0) else { return Ok(None) };
            Ok(pin.try_read().ok().and_then(|page| link(&page, at)))
        },
    );
    take_out(kernel, newer, &links.ok()?, cut_off, false).ok().flatten()
}

/// Prunes the chain of the version in the leaf, by `newer`, who has left the active set. The roll pointer
/// that the version is to have, if it is to be another one; what that cuts off goes to `cut_off`, to be noted
/// when it is written. After a `Miss`, again from the leaf.
pub(super) fn prune_at_rest(
    kernel: &Kernel,
    newer: TxnId,
    roll: RollPtr,
    cut_off: &mut CutOffs,
) -> Result<Option<RollPtr>> {
    cut_off.clear();
    let Some(oldest) = kernel.registry.oldest_hiding(newer) else { return Ok(None) };
    let pool = &kernel.storage.pool;
    let read = |at: RollPtr| Ok(link(&pool.try_pin(place(at).0)?.read(), at));
    let links = follow(roll, DEEP, |writer| oldest.sees(writer), read)?;
    take_out(kernel, newer, &links, cut_off, true)
}

/// Takes out of a chain what no view needs: rewrites pointers behind its first run of needless versions, and
/// returns what is to lead past that run. `wait`: for latches and pages; else what is busy stays as it is.
fn take_out(
    kernel: &Kernel,
    newer: TxnId,
    links: &[Link],
    cut_off: &mut CutOffs,
    wait: bool,
) -> Result<Option<RollPtr>> {
    let mut needed: SmallVec<[bool; SHALLOW]> = SmallVec::new();
    kernel.registry.with_views(|views| {
        let mut newer = newer;
        for link in links {
            needed.push(views.some_sees_between(link.writer, newer));
            newer = link.writer;
        }
    });
    let run = |from: usize| from + needed[from..].iter().take_while(|needed| !**needed).count();
    let front = run(0);
    cut_off.extend(links[..front].iter().map(|link| link.cut_off));
    let mut kept = front;
    while kept < links.len() {
        let end = run(kept + 1);
        if end > kept + 1 && relink(kernel, &links[kept], links[end - 1].next, wait)? {
            let gone: SmallVec<[CutOff; SHALLOW]> =
                links[kept + 1..end].iter().map(|link| link.cut_off).collect();
            kernel.dead_undo.note(&gone);
        }
        kept = end;
    }
    Ok(front.checked_sub(1).map(|last| links[last].next))
}

/// Lets a version that stays lead to `next`. False: its page is busy, nothing has changed.
fn relink(kernel: &Kernel, link: &Link, next: RollPtr, wait: bool) -> Result<bool> {
    let page = match kernel.storage.pool.try_pin(place(link.record).0) {
        Ok(pin) if wait => pin.write(),
        Ok(pin) => match pin.try_write() {
            Ok(page) => page,
            Err(_) => return Ok(false),
        },
        Err(miss) if wait => return Err(miss.into()),
        Err(_) => return Ok(false),
    };
    let mut mtr = Mtr::begin(&kernel.storage);
    let page = mtr.take(page);
    mtr.write(page, link.pointer_at, &next.0.to_le_bytes()[..6]);
    mtr.commit();
    Ok(true)
}
