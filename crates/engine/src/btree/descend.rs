//! From the root to a leaf, with latches coupled: the child's latch is taken while the parent's is held.
//!
//! ```text
//!   readers:  S root ── S child ──(drop root)── S leaf ──(drop child)──►  a leaf, shared
//!   writers:  S root ── S child ──(drop root)── X leaf ──(drop child)──►  a leaf, exclusive
//! ```
//!
//! A page's level is known from its parent's, so a writer asks for the exclusive latch of a leaf at the first
//! try. Only the root's level must be guessed (`Tree::root_level`).

use super::{CHILD_BYTES, LEVELS_MAX, Tree, damaged};
use crate::buffer::{ReadGuard, WriteGuard};
use crate::error::{Error, Result};
use crate::ids::PageNo;
use crate::page::{PageKind, PageView};
use std::sync::atomic::Ordering;

/// Which leaf a descent is to reach.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Aim<'k> {
    /// The leaf that has the key, or would.
    Key(&'k [u8]),
    /// The last leaf that can have keys strictly below this one.
    Below(&'k [u8]),
    /// The leftmost leaf.
    First,
    /// The rightmost leaf.
    Last,
}

impl Aim<'_> {
    /// The entry to follow in an inner page. The first separator counts as lower than everything.
    #[inline]
    pub(super) fn entry(self, inner: &PageView) -> usize {
        match self {
            Aim::Key(key) => match inner.search(key) {
                Ok(slot) => slot,
                Err(slot) => slot.saturating_sub(1),
            },
            Aim::Below(key) => match inner.search(key) {
                Ok(slot) | Err(slot) => slot.saturating_sub(1),
            },
            Aim::First => 0,
            Aim::Last => inner.slot_count().saturating_sub(1),
        }
    }
}

/// The child that an entry of an inner page leads to.
#[inline]
pub(crate) fn child_at(inner: &PageView, slot: usize) -> Result<PageNo> {
    if slot >= inner.slot_count() {
        return Err(damaged(inner.page_no(), "inner page without entries"));
    }
    let bytes: [u8; CHILD_BYTES] =
        inner.value(slot).try_into().map_err(|_| damaged(inner.page_no(), "entry is not a page number"))?;
    Ok(PageNo(u32::from_le_bytes(bytes)))
}

/// One page on the way from the root to a leaf, as a structure change plans with it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PathPage {
    /// The page.
    pub page: PageNo,
    /// The entry that was followed; 0 in the leaf.
    pub slot: usize,
    /// Entries of the page; not to be relied on in the leaf.
    pub count: usize,
}

impl Tree {
    /// A shared latch on a page whose number is trusted (README, rule 3).
    #[inline]
    pub(crate) fn latch_shared(&self, page: PageNo) -> Result<ReadGuard<'_>> {
        Ok(self.storage.pool.try_pin(page)?.read())
    }

    /// An exclusive latch on a page whose number is trusted (README, rule 3).
    #[inline]
    pub(crate) fn latch_exclusive(&self, page: PageNo) -> Result<WriteGuard<'_>> {
        Ok(self.storage.pool.try_pin(page)?.write())
    }

    /// Whether this page can be the tree's page of that level.
    #[inline]
    pub(super) fn check_page(&self, view: &PageView, level: u8) -> Result<()> {
        let kind = if level == 0 { PageKind::TreeLeaf } else { PageKind::TreeInner };
        if view.kind() != Some(kind) || view.level() != level || view.index_id() != self.index {
            return Err(self.wrong_page(view));
        }
        Ok(())
    }

    #[cold]
    fn wrong_page(&self, view: &PageView) -> Error {
        match self.check_alive() {
            Err(gone) => gone,
            Ok(()) => {
                damaged(view.page_no(), format!("not the expected page of index {}: {view:?}", self.index))
            }
        }
    }

    /// The leaf for `aim`, shared.
    #[inline]
    pub(crate) fn descend_shared(&self, aim: Aim<'_>) -> Result<ReadGuard<'_>> {
        let mut guard = self.latch_shared(self.root)?;
        self.check_alive()?;
        let mut level = guard.level();
        self.check_page(&guard, level)?;
        while level > 0 {
            let child = child_at(&guard, aim.entry(&guard))?;
            let next = self.latch_shared(child)?;
            level -= 1;
            self.check_page(&next, level)?;
            guard = next;
        }
        Ok(guard)
    }

    /// The leaf for `aim`, shared, and its lower fence: the greatest separator on the way. `None` for the
    /// leftmost leaf.
    pub(crate) fn descend_with_fence(&self, aim: Aim<'_>) -> Result<(ReadGuard<'_>, Option<Vec<u8>>)> {
        let mut fence = None;
        let mut guard = self.latch_shared(self.root)?;
        self.check_alive()?;
        let mut level = guard.level();
        self.check_page(&guard, level)?;
        while level > 0 {
            let slot = aim.entry(&guard);
            let child = child_at(&guard, slot)?;
            if slot > 0 {
                fence = Some(guard.key(slot).to_vec());
            }
            let next = self.latch_shared(child)?;
            level -= 1;
            self.check_page(&next, level)?;
            guard = next;
        }
        Ok((guard, fence))
    }

    /// The leaf for `key`, exclusive.
    pub(crate) fn descend_exclusive(&self, key: &[u8]) -> Result<WriteGuard<'_>> {
        loop {
            if self.root_level.load(Ordering::Relaxed) == 0 {
                let guard = self.latch_exclusive(self.root)?;
                self.check_alive()?;
                let level = guard.level();
                self.check_page(&guard, level)?;
                if level == 0 {
                    return Ok(guard);
                }
                self.root_level.store(level, Ordering::Relaxed);
            }
            let guard = self.latch_shared(self.root)?;
            self.check_alive()?;
            let level = guard.level();
            self.check_page(&guard, level)?;
            if level > 0 {
                return self.descend_exclusive_from(guard, level, key);
            }
            self.root_level.store(0, Ordering::Relaxed);
        }
    }

    fn descend_exclusive_from<'t>(
        &'t self,
        root: ReadGuard<'t>,
        root_level: u8,
        key: &[u8],
    ) -> Result<WriteGuard<'t>> {
        let mut guard = root;
        let mut level = root_level;
        while level > 1 {
            let child = child_at(&guard, Aim::Key(key).entry(&guard))?;
            let next = self.latch_shared(child)?;
            level -= 1;
            self.check_page(&next, level)?;
            guard = next;
        }
        let child = child_at(&guard, Aim::Key(key).entry(&guard))?;
        let leaf = self.latch_exclusive(child)?;
        self.check_page(&leaf, 0)?;
        Ok(leaf)
    }

    /// The pages from the root to the leaf for `aim`. Meaningful as long as the caller holds the structure
    /// mutex.
    pub(crate) fn path(&self, aim: Aim<'_>) -> Result<Vec<PathPage>> {
        let mut path = Vec::with_capacity(4);
        let mut guard = self.latch_shared(self.root)?;
        let mut level = guard.level();
        self.check_page(&guard, level)?;
        while level > 0 {
            let slot = aim.entry(&guard);
            let child = child_at(&guard, slot)?;
            path.push(PathPage { page: guard.page_no(), slot, count: guard.slot_count() });
            let next = self.latch_shared(child)?;
            level -= 1;
            self.check_page(&next, level)?;
            guard = next;
            if path.len() > LEVELS_MAX {
                return Err(damaged(self.root, "the tree is too high"));
            }
        }
        path.push(PathPage { page: guard.page_no(), slot: 0, count: guard.slot_count() });
        Ok(path)
    }
}
