//! Making room: leaf and inner splits, and the growth of the root. One mini-transaction per step, each
//! leaving a valid tree.
//!
//! The steps of `make_room`, repeated until the leaf has room:
//!
//! 1. Find the path from the root to the leaf.
//! 2. The root itself is full: move its content into a new child (the root gains a level).
//! 3. The parent has no room for the separator: split the parent (by the same rules, so possibly its parent
//!    first).
//! 4. Otherwise split the page under its parent.

use super::descend::{Aim, PathPage};
use super::separator::{Division, Newcomer, choose_split, shortest_separator};
use super::{CAPACITY, CHILD_BYTES, NO_PAGE, Tree};
use crate::buffer::{Mtr, WriteGuard};
use crate::error::Result;
use crate::page::{PAGE_SIZE, PageKind, PageView, SLOT_SIZE, edit, record_size};
use std::sync::atomic::Ordering;

/// Whether there is more to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    Again,
    Done,
}

/// Where a leaf is to be divided, and the separator for its right part.
struct LeafPlan {
    slot: usize,
    separator: Vec<u8>,
}

/// A copy of a page, so that its records can be moved while the page is being changed.
pub(super) fn image_of(view: &PageView) -> Box<[u8; PAGE_SIZE]> {
    Box::new(*view.bytes())
}

impl Tree {
    /// Changes the structure until the leaf for `key` has room for `key` with a value of `value_len` bytes,
    /// inserted or in place of the value that it has. The content stays the same. Another writer may take the
    /// room before the caller comes back: loop.
    pub fn make_room(&self, key: &[u8], value_len: usize) -> Result<()> {
        Tree::check_record(key.len(), value_len)?;
        let _structure = self.structure.lock();
        // Under the mutex: a drop marks the tree first and frees pages only under it.
        self.check_alive()?;
        while self.make_room_step(key, value_len)? == Progress::Again {}
        Ok(())
    }

    fn make_room_step(&self, key: &[u8], value_len: usize) -> Result<Progress> {
        let path = self.path(Aim::Key(key))?;
        let Some((leaf_step, above)) = path.split_last() else { return Ok(Progress::Done) };
        let Some(parent_step) = above.last() else {
            let root = self.latch_exclusive(self.root)?;
            if has_room(&root, key, value_len) {
                return Ok(Progress::Done);
            }
            return self.grow_root(root);
        };
        let parent = self.latch_exclusive(parent_step.page)?;
        let leaf = self.latch_exclusive(leaf_step.page)?;
        if has_room(&leaf, key, value_len) {
            return Ok(Progress::Done);
        }
        let plan = plan_leaf_split(&leaf, key, value_len);
        if !parent.fits(plan.separator.len(), CHILD_BYTES) {
            drop((leaf, parent));
            return self.split_inner(&path, above.len() - 1);
        }
        let right = match leaf.next() {
            NO_PAGE => None,
            page => Some(self.latch_exclusive(page)?),
        };
        self.split_leaf(parent, parent_step.slot, leaf, right, &plan)
    }

    fn split_leaf<'t>(
        &'t self,
        parent: WriteGuard<'t>,
        parent_slot: usize,
        leaf: WriteGuard<'t>,
        right: Option<WriteGuard<'t>>,
        plan: &LeafPlan,
    ) -> Result<Progress> {
        let image = image_of(&leaf);
        let old = PageView::from_bytes(&image);
        let mut mtr = Mtr::begin(&self.storage);
        let new = self.storage.space.alloc(&mut mtr, PageKind::TreeLeaf)?;
        let new_page = mtr.page_no(new);
        let parent = mtr.take(parent);
        let leaf = mtr.take(leaf);
        {
            let mut page = mtr.edit(new);
            edit::set_index_id(&mut page, self.index);
            edit::set_prev(&mut page, old.page_no());
            edit::set_next(&mut page, old.next());
            edit::append_records(&mut page, old, plan.slot..old.slot_count())
                .expect("part of a page fits an empty page");
        }
        {
            let mut page = mtr.edit(leaf);
            edit::truncate(&mut page, plan.slot);
            edit::set_next(&mut page, new_page);
        }
        if let Some(right) = right {
            let right = mtr.take(right);
            edit::set_prev(&mut mtr.edit(right), new_page);
        }
        edit::insert(&mut mtr.edit(parent), parent_slot + 1, 0, &plan.separator, &new_page.0.to_le_bytes())
            .expect("room for the separator was checked under the same latch");
        mtr.commit();
        self.counters.splits.fetch_add(1, Ordering::Relaxed);
        Ok(Progress::Again)
    }

    /// Splits the inner page at `path[at]`, or whatever must be split before that can be.
    fn split_inner(&self, path: &[PathPage], at: usize) -> Result<Progress> {
        let step = path[at];
        let Some(parent_step) = at.checked_sub(1).map(|above| path[above]) else {
            return self.grow_root(self.latch_exclusive(self.root)?);
        };
        let parent = self.latch_exclusive(parent_step.page)?;
        let inner = self.latch_exclusive(step.page)?;
        let count = inner.slot_count();
        debug_assert!(count >= 2, "a page with one entry has room for another");
        let sizes = record_sizes(&inner);
        let newcomer = Newcomer { slot: step.slot + 1, bytes: 0, ascending: step.slot + 1 == count };
        let Division { slot, .. } = choose_split(&sizes, newcomer, CAPACITY);
        let slot = slot.clamp(1, count - 1);
        if !parent.fits(inner.key(slot).len(), CHILD_BYTES) {
            drop((inner, parent));
            return self.split_inner(path, at - 1);
        }
        let image = image_of(&inner);
        let old = PageView::from_bytes(&image);
        let mut mtr = Mtr::begin(&self.storage);
        let new = self.storage.space.alloc(&mut mtr, PageKind::TreeInner)?;
        let new_page = mtr.page_no(new);
        let parent = mtr.take(parent);
        let inner = mtr.take(inner);
        {
            let mut page = mtr.edit(new);
            edit::set_index_id(&mut page, self.index);
            edit::set_level(&mut page, old.level());
            // The separator moves up; the first entry of a page needs none.
            edit::insert(&mut page, 0, 0, b"", old.value(slot)).expect("an empty page has room for an entry");
            edit::append_records(&mut page, old, slot + 1..count).expect("part of a page fits an empty page");
        }
        edit::truncate(&mut mtr.edit(inner), slot);
        edit::insert(
            &mut mtr.edit(parent),
            parent_step.slot + 1,
            0,
            old.key(slot),
            &new_page.0.to_le_bytes(),
        )
        .expect("room for the separator was checked under the same latch");
        mtr.commit();
        self.counters.splits.fetch_add(1, Ordering::Relaxed);
        Ok(Progress::Again)
    }

    /// Moves the root's content into a new page, its only child from then on.
    fn grow_root<'t>(&'t self, root: WriteGuard<'t>) -> Result<Progress> {
        let image = image_of(&root);
        let old = PageView::from_bytes(&image);
        let kind = if old.level() == 0 { PageKind::TreeLeaf } else { PageKind::TreeInner };
        let mut mtr = Mtr::begin(&self.storage);
        let new = self.storage.space.alloc(&mut mtr, kind)?;
        let new_page = mtr.page_no(new);
        let root = mtr.take(root);
        {
            let mut page = mtr.edit(new);
            edit::set_index_id(&mut page, self.index);
            edit::set_level(&mut page, old.level());
            edit::append_records(&mut page, old, 0..old.slot_count()).expect("a page fits a page");
        }
        mtr.init(root, PageKind::TreeInner);
        {
            let mut page = mtr.edit(root);
            edit::set_index_id(&mut page, self.index);
            edit::set_level(&mut page, old.level() + 1);
            edit::insert(&mut page, 0, 0, b"", &new_page.0.to_le_bytes())
                .expect("an empty page has room for an entry");
        }
        mtr.commit();
        self.counters.growths.fetch_add(1, Ordering::Relaxed);
        Ok(Progress::Again)
    }
}

/// Whether the leaf can take `key` with such a value, be it by insertion or by replacement.
fn has_room(leaf: &PageView, key: &[u8], value_len: usize) -> bool {
    match leaf.search(key) {
        Ok(slot) => leaf.fits_value(slot, value_len),
        Err(_) => leaf.fits(key.len(), value_len),
    }
}

fn record_sizes(page: &PageView) -> Vec<usize> {
    (0..page.slot_count()).map(|slot| page.record_len(slot) + SLOT_SIZE).collect()
}

/// Whether an insertion before `slot` continues an ascending run. The heap is in order of arrival, so the run
/// shows in it: the record before the place came last of all, and the one before that immediately before it.
fn continues_run(leaf: &PageView, slot: usize) -> bool {
    if slot < 2 {
        return slot == leaf.slot_count() && leaf.next() == NO_PAGE;
    }
    let (last, before) = (leaf.record_offset(slot - 1), leaf.record_offset(slot - 2));
    let run =
        last + leaf.record_len(slot - 1) == leaf.heap_top() && before + leaf.record_len(slot - 2) == last;
    run || (slot == leaf.slot_count() && leaf.next() == NO_PAGE)
}

fn plan_leaf_split(leaf: &PageView, key: &[u8], value_len: usize) -> LeafPlan {
    let mut sizes = record_sizes(leaf);
    let (newcomer, inserts) = match leaf.search(key) {
        Ok(slot) => {
            sizes[slot] = record_size(key.len(), value_len) + SLOT_SIZE;
            (Newcomer { slot, bytes: 0, ascending: false }, false)
        }
        Err(slot) => {
            let bytes = record_size(key.len(), value_len) + SLOT_SIZE;
            (Newcomer { slot, bytes, ascending: continues_run(leaf, slot) }, true)
        }
    };
    let division = choose_split(&sizes, newcomer, CAPACITY);
    let slot = division.slot;
    let at_boundary = inserts && newcomer.slot == slot;
    let separator = match (at_boundary, division.newcomer_left) {
        (true, true) => shortest_separator(key, leaf.key(slot)),
        (true, false) => shortest_separator(leaf.key(slot - 1), key),
        (false, _) => shortest_separator(leaf.key(slot - 1), leaf.key(slot)),
    };
    LeafPlan { slot, separator: separator.to_vec() }
}
