//! Reading: point lookup, seek in both directions, the right neighbour, and the plain walk over all leaves.

use super::descend::Aim;
use super::{NO_PAGE, Position, Tree};
use crate::buffer::ReadGuard;
use crate::error::Result;
use crate::page::{PageView, Record};
use smallvec::SmallVec;
use std::ops::{Bound, ControlFlow};

/// Which way a scan goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Ascending keys.
    Forward,
    /// Descending keys.
    Reverse,
}

/// One leaf under a shared latch, and the slot where a seek has landed.
pub struct LeafRead<'t> {
    guard: ReadGuard<'t>,
    slot: usize,
    /// Leaves that the seek crossed and still holds; empty unless it was asked to hold them.
    crossed: SmallVec<[ReadGuard<'t>; 1]>,
}

impl<'t> LeafRead<'t> {
    fn new(guard: ReadGuard<'t>, slot: usize) -> LeafRead<'t> {
        LeafRead { guard, slot, crossed: SmallVec::new() }
    }

    /// The page.
    #[inline]
    pub fn view(&self) -> &PageView {
        &self.guard
    }

    /// Where the seek landed: walk upwards from here to `slot_count`, or downwards to 0.
    #[inline]
    pub fn slot(&self) -> usize {
        self.slot
    }

    /// Number of records in the leaf.
    #[inline]
    pub fn slot_count(&self) -> usize {
        self.guard.slot_count()
    }

    /// The record of any slot of the leaf.
    #[inline]
    pub fn record(&self, slot: usize) -> Record<'_> {
        self.guard.record(slot)
    }

    /// The key of the landing slot.
    #[inline]
    pub fn key(&self) -> &[u8] {
        self.guard.key(self.slot)
    }
}

/// What comes behind a record.
pub enum Successor<'t> {
    /// The record of this slot in the same leaf.
    Here(usize),
    /// The landing slot of a leaf further right, which is latched for as long as this value lives.
    Right(LeafRead<'t>),
    /// Nothing: the record is the greatest of the tree.
    Supremum,
}

/// How far a [`Tree::walk`] has come. Survives misses and pauses.
#[derive(Clone, Debug, Default)]
pub struct WalkState {
    after: Option<Vec<u8>>,
}

impl Tree {
    /// The leaf that has `key` or would have it, shared, and the place in it.
    #[inline]
    pub fn find(&self, key: &[u8]) -> Result<(LeafRead<'_>, Position)> {
        let (guard, position) = self.approach_shared(key)?;
        Ok((LeafRead::new(guard, position.slot()), position))
    }

    /// The first record at or behind `bound` in that direction, with its leaf. `None` if there is none. Empty
    /// leaves are skipped.
    pub fn seek(&self, bound: Bound<&[u8]>, direction: Direction) -> Result<Option<LeafRead<'_>>> {
        match direction {
            Direction::Forward => self.seek_forward(bound),
            Direction::Reverse => self.seek_reverse(bound),
        }
    }

    /// Like a forward `seek`, but every leaf crossed on the way stays latched as long as the answer lives.
    /// Who must claim the gap before the landing record (next-key lock) does it under this, so that nobody
    /// inserts at the end of the leaf to the left in the meantime. `Err(leaf)` inside means: nothing found,
    /// and here is the last leaf, still latched, so that the gap above the greatest key may be claimed.
    pub fn seek_holding(
        &self,
        bound: Bound<&[u8]>,
    ) -> Result<std::result::Result<LeafRead<'_>, LeafRead<'_>>> {
        let (guard, slot) = self.land(bound)?;
        let mut leaf = LeafRead::new(guard, slot);
        while leaf.slot >= leaf.guard.slot_count() {
            let Some(next) = self.right_of(&leaf.guard)? else { return Ok(Err(leaf)) };
            leaf.crossed.push(std::mem::replace(&mut leaf.guard, next));
            leaf.slot = 0;
        }
        Ok(Ok(leaf))
    }

    /// The next leaf to the right that has records, landing on its first; latches are coupled. `None` at the
    /// right end.
    pub fn next_leaf<'t>(&'t self, leaf: LeafRead<'t>) -> Result<Option<LeafRead<'t>>> {
        let mut guard = leaf.guard;
        loop {
            let Some(next) = self.right_of(&guard)? else { return Ok(None) };
            guard = next;
            if guard.slot_count() > 0 {
                return Ok(Some(LeafRead::new(guard, 0)));
            }
        }
    }

    /// What comes behind `slot` of a leaf that the caller holds latched, in either mode. `slot` may be
    /// `slot_count - 1` or, for an empty position, one less than the slot in question; to ask what comes *at*
    /// slot `s`, see [`Tree::successor_at`].
    pub fn successor<'t>(&'t self, leaf: &PageView, slot: usize) -> Result<Successor<'t>> {
        self.successor_at(leaf, slot + 1)
    }

    /// The record at `slot` of a latched leaf, or, when the leaf ends there, the first one further right:
    /// what an insertion at `slot` would come to stand before.
    pub fn successor_at<'t>(&'t self, leaf: &PageView, slot: usize) -> Result<Successor<'t>> {
        if slot < leaf.slot_count() {
            return Ok(Successor::Here(slot));
        }
        let mut next = self.right_of(leaf)?;
        while let Some(guard) = next {
            if guard.slot_count() > 0 {
                return Ok(Successor::Right(LeafRead::new(guard, 0)));
            }
            next = self.right_of(&guard)?;
        }
        Ok(Successor::Supremum)
    }

    /// Visits every record behind the state's key, ascending, a leaf at a time. The state is brought up to
    /// date when the walk stops, whether by the visitor's wish or by a missing page, so the caller goes on
    /// with the same state. `Ok(true)`: the end was reached.
    pub fn walk(
        &self,
        state: &mut WalkState,
        mut visit: impl FnMut(Record<'_>) -> ControlFlow<()>,
    ) -> Result<bool> {
        let bound = match &state.after {
            Some(key) => Bound::Excluded(key.as_slice()),
            None => Bound::Unbounded,
        };
        let (mut guard, mut slot) = self.land(bound)?;
        loop {
            for at in slot..guard.slot_count() {
                let record = guard.record(at);
                if visit(record).is_break() {
                    state.after = Some(record.key.to_vec());
                    return Ok(false);
                }
            }
            if slot < guard.slot_count() {
                let after = state.after.get_or_insert_default();
                after.clear();
                after.extend_from_slice(guard.key(guard.slot_count() - 1));
            }
            match self.right_of(&guard)? {
                Some(next) => guard = next,
                None => return Ok(true),
            }
            slot = 0;
        }
    }

    /// The leaf and slot where a forward scan begins; the slot may be one past the leaf's last.
    fn land(&self, bound: Bound<&[u8]>) -> Result<(ReadGuard<'_>, usize)> {
        match bound {
            Bound::Unbounded => Ok((self.descend_shared(Aim::First)?, 0)),
            Bound::Included(key) | Bound::Excluded(key) => {
                let (guard, position) = self.approach_shared(key)?;
                let behind = position.is_found() && matches!(bound, Bound::Excluded(_));
                Ok((guard, position.slot() + usize::from(behind)))
            }
        }
    }

    fn seek_forward(&self, bound: Bound<&[u8]>) -> Result<Option<LeafRead<'_>>> {
        let (guard, slot) = self.land(bound)?;
        let full = slot < guard.slot_count();
        let leaf = LeafRead::new(guard, slot);
        if full { Ok(Some(leaf)) } else { self.next_leaf(leaf) }
    }

    /// The right neighbour of a leaf that the caller holds, shared; `None` at the right end.
    fn right_of<'t>(&'t self, leaf: &PageView) -> Result<Option<ReadGuard<'t>>> {
        match leaf.next() {
            NO_PAGE => Ok(None),
            page => {
                let right = self.latch_shared(page)?;
                self.check_page(&right, 0)?;
                Ok(Some(right))
            }
        }
    }

    fn seek_reverse(&self, bound: Bound<&[u8]>) -> Result<Option<LeafRead<'_>>> {
        let aim = match bound {
            Bound::Unbounded => Aim::Last,
            Bound::Included(key) => Aim::Key(key),
            Bound::Excluded(key) => Aim::Below(key),
        };
        let mut guard = self.descend_shared(aim)?;
        if let Some(slot) = last_slot(&guard, aim) {
            return Ok(Some(LeafRead::new(guard, slot)));
        }
        // The boundary of a leaf: look to the left without waiting, for waiting leftwards is against the
        // latch order.
        loop {
            let page = guard.prev();
            if page == NO_PAGE {
                return Ok(None);
            }
            let Ok(left) = self.storage.pool.try_pin(page)?.try_read() else { break };
            self.check_page(&left, 0)?;
            guard = left;
            if let Some(slot) = guard.slot_count().checked_sub(1) {
                return Ok(Some(LeafRead::new(guard, slot)));
            }
        }
        drop(guard);
        self.seek_reverse_by_fence(aim)
    }

    /// Reverse seek by descents only: if the leaf has nothing low enough, descend again for what lies below
    /// its lower fence.
    fn seek_reverse_by_fence(&self, aim: Aim<'_>) -> Result<Option<LeafRead<'_>>> {
        let (guard, mut fence) = self.descend_with_fence(aim)?;
        if let Some(slot) = last_slot(&guard, aim) {
            return Ok(Some(LeafRead::new(guard, slot)));
        }
        drop(guard);
        while let Some(key) = fence {
            let aim = Aim::Below(&key);
            let (guard, lower) = self.descend_with_fence(aim)?;
            if let Some(slot) = last_slot(&guard, aim) {
                return Ok(Some(LeafRead::new(guard, slot)));
            }
            fence = lower;
        }
        Ok(None)
    }
}

/// The last slot of the leaf that `aim` admits.
fn last_slot(leaf: &PageView, aim: Aim<'_>) -> Option<usize> {
    match aim {
        Aim::First | Aim::Last => leaf.slot_count().checked_sub(1),
        Aim::Below(key) => leaf.search(key).unwrap_or_else(|slot| slot).checked_sub(1),
        Aim::Key(key) => match leaf.search(key) {
            Ok(slot) => Some(slot),
            Err(slot) => slot.checked_sub(1),
        },
    }
}
