//! The way to a leaf: by a hint of the adaptive hash index if there is one that proves right under the leaf's
//! latch, else from the root.
//!
//! ```text
//!   on? ──no──────────────────────────────────────────────► descend, search
//!    │yes
//!   root is the leaf? ──yes───────────────────────────────► descend, search
//!    │no
//!   hint? ──► pin the frame ──► try the latch ──► a leaf of this tree? ──► key at or around the slot? ──► there
//!    │no         │gone              │busy             │no                    │no, nor elsewhere between first and last
//!    └───────────┴──────────────────┴─────────────────┴──────────────────────┴──► descend, search, remember
//! ```

use super::adaptive_hash::{Asked, Hint, Mistake, hash_of};
use super::descend::Aim;
use super::{Position, Tree};
use crate::buffer::{Pin, ReadGuard, WriteGuard};
use crate::error::Result;
use crate::page::{PageKind, PageView};
use std::cmp::Ordering as Order;
use std::ops::Deref;
use std::sync::atomic::Ordering;

/// Searches from the root before hints are made for a tree.
const WARM: u32 = 64;

/// Where the key is, by a binary search of the leaf.
#[inline]
fn search(leaf: &PageView, key: &[u8]) -> Position {
    match leaf.search(key) {
        Ok(slot) => Position::Found(slot),
        Err(slot) => Position::Missing(slot),
    }
}

/// Where the key is in a leaf of the tree, if this leaf is the one for the key for sure: it has the key, or
/// greater and smaller ones.
#[inline]
fn place(leaf: &PageView, key: &[u8], slot: usize) -> Option<Position> {
    if slot < leaf.slot_count() {
        match leaf.key(slot).cmp(key) {
            Order::Equal => return Some(Position::Found(slot)),
            Order::Greater if slot > 0 && leaf.key(slot - 1) < key => return Some(Position::Missing(slot)),
            _ => {}
        }
    }
    let position = search(leaf, key);
    teaches(leaf, position).then_some(position)
}

/// Whether a position proves its leaf to be the one for the key.
#[inline]
fn teaches(leaf: &PageView, position: Position) -> bool {
    match position {
        Position::Found(_) => true,
        Position::Missing(slot) => slot > 0 && slot < leaf.slot_count(),
    }
}

impl Tree {
    /// The leaf that has `key` or would have it, shared, and the place in it.
    #[inline]
    pub(super) fn approach_shared(&self, key: &[u8]) -> Result<(ReadGuard<'_>, Position)> {
        match self.adaptive_hash.asked() {
            None => self.descend_to_read(key),
            Some(asked) => self.approach(
                asked,
                key,
                |pin| pin.try_read().ok(),
                || self.descend_to_read(key),
                ReadGuard::frame_index,
            ),
        }
    }

    /// The leaf that has `key` or would have it, exclusive, and the place in it.
    #[inline]
    pub(super) fn approach_exclusive(&self, key: &[u8]) -> Result<(WriteGuard<'_>, Position)> {
        match self.adaptive_hash.asked() {
            None => self.descend_to_write(key),
            Some(asked) => self.approach(
                asked,
                key,
                |pin| pin.try_write().ok(),
                || self.descend_to_write(key),
                WriteGuard::frame_index,
            ),
        }
    }

    #[inline]
    fn descend_to_read(&self, key: &[u8]) -> Result<(ReadGuard<'_>, Position)> {
        let guard = self.descend_shared(Aim::Key(key))?;
        let position = search(&guard, key);
        Ok((guard, position))
    }

    #[inline]
    fn descend_to_write(&self, key: &[u8]) -> Result<(WriteGuard<'_>, Position)> {
        let guard = self.descend_exclusive(key)?;
        let position = search(&guard, key);
        Ok((guard, position))
    }

    /// The way to a leaf while the adaptive hash index is on, in either mode.
    fn approach<'t, G: Deref<Target = PageView>>(
        &'t self,
        asked: Asked<'_>,
        key: &[u8],
        latch: impl FnOnce(Pin<'t>) -> Option<G>,
        descend: impl FnOnce() -> Result<(G, Position)>,
        frame_of: impl FnOnce(&G) -> u32,
    ) -> Result<(G, Position)> {
        if self.root_level.load(Ordering::Relaxed) == 0 {
            let (guard, position) = descend()?;
            if guard.page_no() != self.root {
                // Only whether it is 0 matters to those who go by this hint.
                self.root_level.store(1, Ordering::Relaxed);
            }
            return Ok((guard, position));
        }
        let hash = hash_of(self.index, key);
        let found = asked.find(hash);
        if let Some(found) = found
            && let Some((guard, position)) = self.follow(asked, found.hint(), key, latch)
        {
            if position.slot() == found.hint().slot {
                found.note_use();
            } else {
                asked.learn(hash, Hint { slot: position.slot(), ..found.hint() });
            }
            self.storage.pool.warm_frame(found.hint().frame);
            asked.count_hit();
            return Ok((guard, position));
        }
        let (guard, position) = descend()?;
        asked.count_descent();
        if teaches(&guard, position) && self.is_warm() && guard.page_no() != self.root {
            asked.learn(hash, Hint { frame: frame_of(&guard), slot: position.slot() });
        }
        Ok((guard, position))
    }

    /// The leaf that a hint leads to, if it proves to be the one for the key. Never waits: so the order of
    /// latches does not matter to it.
    #[inline]
    fn follow<'t, G: Deref<Target = PageView>>(
        &'t self,
        asked: Asked<'_>,
        hint: Hint,
        key: &[u8],
        latch: impl FnOnce(Pin<'t>) -> Option<G>,
    ) -> Option<(G, Position)> {
        let Some(pin) = self.storage.pool.try_pin_frame(hint.frame) else {
            asked.count_stale();
            return None;
        };
        let Some(guard) = latch(pin) else {
            asked.count_busy();
            return None;
        };
        let position = self.prove(asked, &guard, key, hint.slot);
        if position.is_none() {
            asked.count_stale();
        }
        position.map(|position| (guard, position))
    }

    /// Where the key is in a latched page, if that page is the key's leaf for sure.
    #[inline]
    fn prove(&self, asked: Asked<'_>, page: &PageView, key: &[u8], slot: usize) -> Option<Position> {
        let own = page.kind() == Some(PageKind::TreeLeaf)
            && page.level() == 0
            && page.index_id() == self.index
            && !self.gone.load(Ordering::Relaxed);
        if asked.makes(Mistake::BelievePage) && page.kind().is_some_and(PageKind::is_slotted) {
            return place(page, key, slot);
        }
        if !own {
            return None;
        }
        if asked.makes(Mistake::BelieveSlot) && slot < page.slot_count() {
            return Some(Position::Found(slot));
        }
        place(page, key, slot)
    }

    /// Whether the tree has been searched often enough to be worth hints. Writes until it is, and never
    /// after.
    #[inline]
    fn is_warm(&self) -> bool {
        self.warmth.load(Ordering::Relaxed) >= WARM || self.warmth.fetch_add(1, Ordering::Relaxed) >= WARM
    }
}
