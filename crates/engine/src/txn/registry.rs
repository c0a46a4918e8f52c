//! The registry: transactions that have written and not ended, and the read views that are open.
//!
//! One mutex (rank registry), held for a few dozen instructions. Reading needs it only when the newest
//! version of a row is by a transaction at or above [`Registry::low_water`]; below, the version is committed
//! and that is that.
//!
//! | field | who changes it | invariant |
//! |---|---|---|
//! | `next_id` | `enter` | above every id ever handed out; `next` repeats it for those who read without the
//! mutex |
//! | `id_end` | `extend` | ids from here on are not covered by the durable mark yet; never below `next_id` |
//! | `active` | `enter`, `leave` | ascending; ids handed out and not left |
//! | `committing` | `reserve`, `leave` | commit numbers handed out whose owner is still in `active` |
//! | `cuts` | `open_view`, `purge_limit` | by age; a cut that only the registry holds is dead |
//! | `closed_from` | `sweep`, `begin_look` | no view that has closed since the last look is older than this
//! limit |
//! | `low_water` | `leave` | every id below has left; never falls |

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::ids::TxnId;
use crate::rank;
use turnstile_sys::ranked::RankedMutex;

use super::view::{CommitNo, ReadView};

/// The active set and the open views.
#[derive(Debug)]
pub struct Registry {
    inner: RankedMutex<Inner>,
    low_water: AtomicU64,
    /// A copy of `next_id`, stored under the mutex before the id below it is handed out.
    next: AtomicU64,
    /// Low water of the oldest cut; `u64::MAX` if there is none.
    oldest_low_water: AtomicU64,
}

/// The open views, held still. All ids asked about have left the active set; sees-sets grow with the age
/// order of the cuts, so the cuts that see one transaction but not a later one are a contiguous run.
#[derive(Debug)]
pub struct Views<'r> {
    cuts: &'r VecDeque<Arc<ReadView>>,
}

fn is_open(cut: &Arc<ReadView>) -> bool {
    Arc::strong_count(cut) > 1
}

impl Views<'_> {
    /// Whether some open view sees `older` but not `newer`.
    pub fn some_sees_between(&self, older: TxnId, newer: TxnId) -> bool {
        let end = self.cuts.partition_point(|cut| !cut.sees(newer));
        let start = self.cuts.partition_point(|cut| !cut.sees(older)).min(end);
        self.cuts.range(start..end).any(is_open)
    }
}

#[derive(Debug)]
struct Inner {
    next_id: u64,
    id_end: u64,
    next_commit_no: u64,
    active: Vec<u64>,
    committing: Vec<u64>,
    /// Open cuts, oldest first. The last one is handed out again while `fresh`.
    cuts: VecDeque<Arc<ReadView>>,
    /// No transaction has left since the last cut.
    fresh: bool,
    /// Length at which dead cuts are swept out.
    sweep_at: usize,
    /// Least commit limit of the cuts swept out since somebody asked; `u64::MAX`: none.
    closed_from: u64,
}

impl Inner {
    fn commit_limit(&self) -> CommitNo {
        CommitNo(self.committing.iter().copied().min().unwrap_or(self.next_commit_no))
    }
    fn sweep(&mut self) {
        let closed_from = &mut self.closed_from;
        self.cuts.retain(|cut| {
            let stays = is_open(cut);
            if !stays {
                *closed_from = (*closed_from).min(cut.commit_limit.0);
            }
            stays
        });
        self.sweep_at = self.cuts.len() * 2 + 16;
        self.fresh = false;
    }
    fn reserve(&mut self) -> CommitNo {
        let number = self.next_commit_no;
        self.next_commit_no += 1;
        self.committing.push(number);
        CommitNo(number)
    }
}

impl Registry {
    /// A registry that will hand out ids from `first_id`, once [`Registry::extend`] has said how far, and
    /// commit numbers from `first_commit_no`.
    pub fn new(first_id: TxnId, first_commit_no: CommitNo) -> Self {
        Registry {
            inner: RankedMutex::new(
                rank::REGISTRY,
                &rank::TRX_SYS,
                Inner {
                    next_id: first_id.0.max(1),
                    id_end: first_id.0.max(1),
                    next_commit_no: first_commit_no.0.max(1),
                    active: Vec::new(),
                    committing: Vec::new(),
                    cuts: VecDeque::new(),
                    fresh: false,
                    sweep_at: 16,
                    closed_from: u64::MAX,
                },
            ),
            low_water: AtomicU64::new(first_id.0.max(1)),
            next: AtomicU64::new(first_id.0.max(1)),
            oldest_low_water: AtomicU64::new(u64::MAX),
        }
    }

    fn publish_oldest(&self, inner: &Inner) {
        let oldest = inner.cuts.front().map_or(u64::MAX, |cut| cut.low_water);
        self.oldest_low_water.store(oldest, Ordering::Release);
    }

    /// A new id, put into the active set. None: the durable mark must be raised first, and then
    /// [`Registry::extend`] called.
    pub fn enter(&self) -> Option<TxnId> {
        let mut inner = self.inner.lock();
        let id = inner.next_id;
        if id == inner.id_end {
            return None;
        }
        inner.next_id += 1;
        inner.active.push(id);
        self.next.store(id + 1, Ordering::Release);
        Some(TxnId(id))
    }

    /// Where the ids end that may be handed out, if all of them are.
    pub fn used_up(&self) -> Option<TxnId> {
        let inner = self.inner.lock();
        (inner.next_id == inner.id_end).then_some(TxnId(inner.id_end))
    }

    /// The durable mark is at `end` now: ids below it may be handed out.
    pub fn extend(&self, end: TxnId) {
        let mut inner = self.inner.lock();
        inner.id_end = inner.id_end.max(end.0);
    }

    /// Puts a transaction found at restart, whose id is below the next one, back into the active set. Only
    /// before anybody else enters.
    pub fn enter_again(&self, id: TxnId) {
        let mut inner = self.inner.lock();
        debug_assert!(id.0 < inner.next_id);
        if let Err(at) = inner.active.binary_search(&id.0) {
            inner.active.insert(at, id.0);
        }
        let low = inner.active.first().copied().unwrap_or(inner.next_id);
        self.low_water.store(low, Ordering::Release);
    }

    /// Whether the id was handed out, in this life or one before. Who has found it on a page, under the
    /// page's latch, is told the truth: its owner entered before it latched the page.
    #[inline]
    pub fn was_given(&self, id: TxnId) -> bool {
        id.0 < self.next.load(Ordering::Acquire)
    }

    /// A commit number for a transaction that is about to end. Until it leaves, no view's limit passes the
    /// number.
    pub fn reserve(&self) -> CommitNo {
        self.inner.lock().reserve()
    }

    /// Takes a transaction out of the active set: from now on new views see it.
    pub fn leave(&self, id: TxnId, number: Option<CommitNo>) {
        let mut inner = self.inner.lock();
        let Ok(at) = inner.active.binary_search(&id.0) else { return };
        inner.active.remove(at);
        if let Some(CommitNo(number)) = number {
            inner.committing.retain(|&n| n != number);
        }
        inner.fresh = false;
        if at == 0 {
            let low = inner.active.first().copied().unwrap_or(inner.next_id);
            self.low_water.store(low, Ordering::Release);
        }
    }

    /// Gives a reserved number back: its owner could not end after all.
    pub fn cancel(&self, CommitNo(number): CommitNo) {
        self.inner.lock().committing.retain(|&n| n != number);
    }

    /// Every id below has left the active set; a row version by one of them is committed for every reader.
    #[inline]
    pub fn low_water(&self) -> u64 {
        self.low_water.load(Ordering::Acquire)
    }

    /// Whether the transaction is in the active set.
    pub fn is_active(&self, id: TxnId) -> bool {
        id.0 >= self.low_water() && self.inner.lock().active.binary_search(&id.0).is_ok()
    }

    /// Opens a read view. It is closed by dropping it.
    pub fn open_view(&self) -> Arc<ReadView> {
        let mut inner = self.inner.lock();
        if inner.fresh
            && let Some(cut) = inner.cuts.back()
        {
            return cut.clone();
        }
        if inner.cuts.len() >= inner.sweep_at {
            inner.sweep();
        }
        let cut = Arc::new(ReadView {
            low_water: inner.active.first().copied().unwrap_or(inner.next_id),
            high_water: inner.next_id,
            active: inner.active.as_slice().into(),
            commit_limit: inner.commit_limit(),
        });
        inner.cuts.push_back(cut.clone());
        inner.fresh = true;
        self.publish_oldest(&inner);
        cut
    }

    /// Transactions with a smaller commit number are seen by every open view and every view to come.
    pub fn purge_limit(&self) -> CommitNo {
        let mut inner = self.inner.lock();
        if !inner.cuts.is_empty() {
            inner.sweep();
            self.publish_oldest(&inner);
        }
        inner.cuts.front().map_or_else(|| inner.commit_limit(), |cut| cut.commit_limit)
    }

    /// Commit limit of the oldest open view, if there is one. As of the last [`Registry::purge_limit`].
    pub fn oldest_limit(&self) -> Option<CommitNo> {
        self.inner.lock().cuts.front().map(|cut| cut.commit_limit)
    }

    /// For whoever has looked for versions between views at all that transactions below `looked` have
    /// replaced: from which commit number to which there may be more. All below the second have left.
    pub fn begin_look(&self, CommitNo(looked): CommitNo) -> Option<(CommitNo, CommitNo)> {
        let mut inner = self.inner.lock();
        let (from, to) = (looked.min(inner.closed_from), inner.commit_limit());
        inner.closed_from = u64::MAX;
        (from < to.0).then_some((CommitNo(from), to))
    }

    /// Transactions with a smaller id have ended and are seen by every open view. As of the last
    /// [`Registry::purge_limit`].
    pub fn seen_by_all(&self) -> TxnId {
        let inner = self.inner.lock();
        let active = inner.active.first().copied().unwrap_or(inner.next_id);
        TxnId(inner.cuts.front().map_or(active, |cut| cut.low_water))
    }

    /// Whether there may be a view that does not see `id`, which has left or is the caller. Cheap and
    /// pessimistic.
    #[inline]
    pub fn has_old_view(&self, id: TxnId) -> bool {
        self.oldest_low_water.load(Ordering::Acquire) <= id.0
    }

    /// The oldest open view, if it does not see `id`. While the caller keeps it, purge passes nothing that it
    /// does not see.
    pub fn oldest_hiding(&self, id: TxnId) -> Option<Arc<ReadView>> {
        let inner = self.inner.lock();
        inner.cuts.iter().find(|cut| is_open(cut)).filter(|cut| !cut.sees(id)).cloned()
    }

    /// Whether there may be an open view. Cheap and pessimistic.
    #[inline]
    pub fn may_have_views(&self) -> bool {
        self.oldest_low_water.load(Ordering::Acquire) != u64::MAX
    }

    /// Runs `look` while no view can be opened and no purge limit taken.
    pub fn with_views<R>(&self, look: impl FnOnce(&Views<'_>) -> R) -> R {
        let inner = self.inner.lock();
        look(&Views { cuts: &inner.cuts })
    }

    /// Number of transactions that have written and not ended.
    pub fn active_count(&self) -> usize {
        self.inner.lock().active.len()
    }

    /// Number of distinct open read views.
    pub fn view_count(&self) -> usize {
        let inner = self.inner.lock();
        inner.cuts.iter().filter(|cut| is_open(cut)).count()
    }

    /// The id that comes next.
    pub fn next_id(&self) -> TxnId {
        TxnId(self.next.load(Ordering::Acquire))
    }
}

#[cfg(all(test, shuttle))]
mod races_shuttle;
#[cfg(all(test, not(shuttle)))]
mod tests;
