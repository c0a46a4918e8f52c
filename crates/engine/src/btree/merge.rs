//! Shrinking: merging with a neighbour, removing empty leaves, taking levels away under the root.
//!
//! The steps of `shrink`, repeated until none applies:
//!
//! 1. The leaf is empty and some page on its path has another child: cut the leaf (and the single-child pages
//!    above it) out of the tree.
//! 2. A page on the path uses less than a quarter and fits together with a neighbour under the same parent:
//!    the left one of the two takes everything, the right one is freed.
//! 3. The root has one child: it takes over that child's content.

use super::adaptive_hash::Mistake;
use super::descend::{Aim, PathPage, child_at};
use super::split::{Progress, image_of};
use super::write::UNDERFULL_BYTES;
use super::{CAPACITY, NO_PAGE, Tree};
use crate::buffer::{Mtr, PageHandle, WriteGuard};
use crate::error::Result;
use crate::ids::PageNo;
use crate::page::{PageEdit, PageKind, PageView, edit};
use std::sync::atomic::Ordering;

/// Two pages are merged if they use no more than this together: a margin, so that the next insertion does not
/// split again.
const MERGED_BYTES_MAX: usize = CAPACITY / 4 * 3;

impl Tree {
    /// Merges or frees what has become too empty on the path to `key`. The content stays the same. Always
    /// safe to call, never necessary: a missed call costs space, which the next one recovers.
    pub fn shrink(&self, key: &[u8]) -> Result<()> {
        let _structure = self.structure.lock();
        // Under the mutex: a drop marks the tree first and frees pages only under it.
        self.check_alive()?;
        while self.shrink_step(key)? == Progress::Again {}
        Ok(())
    }

    fn shrink_step(&self, key: &[u8]) -> Result<Progress> {
        let path = self.path(Aim::Key(key))?;
        if path.len() == 1 {
            return Ok(Progress::Done);
        }
        if path[0].count == 1 {
            return self.collapse_root();
        }
        let leaf = path[path.len() - 1];
        if leaf.count == 0 {
            return self.remove_empty_leaf(&path);
        }
        for at in (1..path.len()).rev() {
            if self.try_merge(path[at - 1], path[at])? == Progress::Again {
                return Ok(Progress::Again);
            }
        }
        Ok(Progress::Done)
    }

    /// Merges `page` with its right or left neighbour under `parent`, if it is worth it.
    fn try_merge(&self, parent: PathPage, page: PathPage) -> Result<Progress> {
        let used = self.latch_shared(page.page)?.used();
        if used >= UNDERFULL_BYTES || parent.count < 2 {
            return Ok(Progress::Done);
        }
        for left_slot in [Some(parent.slot), parent.slot.checked_sub(1)].into_iter().flatten() {
            if left_slot + 1 >= parent.count {
                continue;
            }
            let (left, right, separator_len) = {
                let parent = self.latch_shared(parent.page)?;
                (
                    child_at(&parent, left_slot)?,
                    child_at(&parent, left_slot + 1)?,
                    parent.key(left_slot + 1).len(),
                )
            };
            let together = self.latch_shared(left)?.used() + self.latch_shared(right)?.used() + separator_len;
            if together <= MERGED_BYTES_MAX {
                return self.merge(parent.page, left_slot, left, right);
            }
        }
        Ok(Progress::Done)
    }

    /// Moves everything from `right` to `left`, its left neighbour under the same parent, and frees `right`.
    fn merge(&self, parent: PageNo, left_slot: usize, left: PageNo, right: PageNo) -> Result<Progress> {
        let parent = self.latch_exclusive(parent)?;
        let left = self.latch_exclusive(left)?;
        let right_guard = self.latch_exclusive(right)?;
        let separator = parent.key(left_slot + 1).to_vec();
        // Writers may have filled the leaves since they were looked at.
        if left.used() + right_guard.used() + separator.len() > CAPACITY {
            return Ok(Progress::Done);
        }
        let next = match right_guard.next() {
            NO_PAGE => None,
            page => Some(self.latch_exclusive(page)?),
        };
        let image = image_of(&right_guard);
        let old = PageView::from_bytes(&image);
        let mut mtr = Mtr::begin(&self.storage);
        self.storage.space.free(&mut mtr, right);
        let parent = mtr.take(parent);
        let left = mtr.take(left);
        let right = mtr.take(right_guard);
        self.unmake_leaf(&mut mtr, right);
        let left_no = mtr.page(left).page_no();
        {
            let mut page = mtr.edit(left);
            let mut from = 0;
            if old.level() > 0 {
                // Its first entry had no separator, being first; in the merged page it needs the parent's.
                let count = page.view().slot_count();
                edit::insert(&mut page, count, 0, &separator, old.value(0)).expect("the sum was checked");
                from = 1;
            } else {
                edit::set_next(&mut page, old.next());
            }
            edit::append_records(&mut page, old, from..old.slot_count()).expect("the sum was checked");
        }
        if let Some(next) = next {
            let next = mtr.take(next);
            edit::set_prev(&mut mtr.edit(next), left_no);
        }
        edit::remove(&mut mtr.edit(parent), left_slot + 1);
        mtr.commit();
        self.counters.merges.fetch_add(1, Ordering::Relaxed);
        Ok(Progress::Again)
    }

    /// Cuts an empty leaf out of the tree, together with the pages above it that have no other child. The
    /// range of keys that it stood for goes to its neighbour under the lowest page that has one: to the left
    /// one, or, for a first child, to the right one.
    fn remove_empty_leaf(&self, path: &[PathPage]) -> Result<Progress> {
        let last = path.len() - 1;
        let fork = (0..last).rev().find(|at| path[*at].count >= 2).unwrap_or(0);
        let fork_guard = self.latch_exclusive(path[fork].page)?;
        let mut chain: Vec<WriteGuard<'_>> = Vec::with_capacity(last - fork);
        for step in &path[fork + 1..last] {
            chain.push(self.latch_exclusive(step.page)?);
        }
        let (prev, next) = {
            let leaf = self.latch_shared(path[last].page)?;
            (leaf.prev(), leaf.next())
        };
        let left = if prev == NO_PAGE { None } else { Some(self.latch_exclusive(prev)?) };
        let leaf = self.latch_exclusive(path[last].page)?;
        if leaf.slot_count() > 0 {
            return Ok(Progress::Done);
        }
        let right = if next == NO_PAGE { None } else { Some(self.latch_exclusive(next)?) };
        chain.push(leaf);

        let mut mtr = Mtr::begin(&self.storage);
        for step in &path[fork + 1..] {
            self.storage.space.free(&mut mtr, step.page);
        }
        let fork_page = mtr.take(fork_guard);
        for guard in chain {
            mtr.take(guard);
        }
        self.remove_entry(&mut mtr, fork_page, path[fork].slot);
        if let Some(left) = left {
            let left = mtr.take(left);
            edit::set_next(&mut mtr.edit(left), next);
        }
        if let Some(right) = right {
            let right = mtr.take(right);
            edit::set_prev(&mut mtr.edit(right), prev);
        }
        mtr.commit();
        self.counters.removals.fetch_add(1, Ordering::Relaxed);
        Ok(Progress::Again)
    }

    /// A page that is freed with its records still on it stops being a page of the tree: whoever comes to it
    /// by a hint sees that.
    fn unmake_leaf(&self, mtr: &mut Mtr<'_>, freed: PageHandle) {
        if !self.adaptive_hash.makes(Mistake::KeepFreedLeaf) {
            edit::set_kind(&mut mtr.edit(freed), PageKind::Empty);
        }
    }

    /// Removes an entry of an inner page that has at least two. The first entry keeps its empty separator: it
    /// takes the second's child.
    pub(super) fn remove_entry(&self, mtr: &mut Mtr<'_>, inner: PageHandle, slot: usize) {
        let mut page = mtr.edit(inner);
        if slot > 0 {
            edit::remove(&mut page, slot);
            return;
        }
        let heir = page.view().value(1).to_vec();
        edit::replace_value(&mut page, 0, &heir).expect("a child page number replaces a child page number");
        edit::remove(&mut page, 1);
    }

    /// The root takes over the content of its only child.
    fn collapse_root(&self) -> Result<Progress> {
        let root = self.latch_exclusive(self.root)?;
        let child_no = child_at(&root, 0)?;
        let child = self.latch_exclusive(child_no)?;
        let image = image_of(&child);
        let old = PageView::from_bytes(&image);
        let kind = if old.level() == 0 { PageKind::TreeLeaf } else { PageKind::TreeInner };
        let mut mtr = Mtr::begin(&self.storage);
        self.storage.space.free(&mut mtr, child_no);
        let root = mtr.take(root);
        let child = mtr.take(child);
        self.unmake_leaf(&mut mtr, child);
        mtr.init(root, kind);
        {
            let mut page = mtr.edit(root);
            edit::set_index_id(&mut page, self.index);
            edit::set_level(&mut page, old.level());
            edit::append_records(&mut page, old, 0..old.slot_count()).expect("a page fits a page");
        }
        mtr.commit();
        self.root_level.store(old.level(), Ordering::Relaxed);
        self.counters.collapses.fetch_add(1, Ordering::Relaxed);
        Ok(Progress::Again)
    }
}
