//! Taking a tree apart, a page per mini-transaction, from the left edge.
//!
//! ```text
//!         P                    P                   P (now an empty leaf)
//!       / | \      step       / \    … steps …
//!      a  b  c    ─────►     b   c   ───────►      freed in its turn as a child of its own parent
//! ```
//!
//! Nobody else is in the tree but those who began before it was marked as gone; coupling keeps them off the
//! page that is freed. What a crash leaves is a smaller tree of the same shape, except that an inner page may
//! have become a leaf; `drop_leftmost` goes by the kind of a page, not its level.

use super::descend::child_at;
use super::{Tree, overflow};
use crate::buffer::Mtr;
use crate::error::Result;
use crate::ids::PageNo;
use crate::page::{PageKind, PageView, edit};

/// Whether a drop has more to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DropProgress {
    /// Call again.
    More,
    /// Nothing is left of the index.
    Done,
}

/// Tells which overflow chain a value refers to; `None` for an index whose values refer to none.
pub type ChainOf<'c> = Option<&'c dyn Fn(&[u8]) -> Option<PageNo>>;

impl Tree {
    /// Frees the leftmost leaf. `Done` when only the root is left, as an empty leaf or one whose chains are
    /// freed.
    pub(super) fn drop_leftmost(&self, chain_of: ChainOf<'_>) -> Result<DropProgress> {
        let _structure = self.structure.lock();
        let Some((parent, leaf)) = self.left_edge()? else {
            return if self.drop_chain(self.root, chain_of)? {
                Ok(DropProgress::More)
            } else {
                Ok(DropProgress::Done)
            };
        };
        if self.drop_chain(leaf, chain_of)? {
            return Ok(DropProgress::More);
        }
        let parent_guard = self.latch_exclusive(parent)?;
        // A leaf that is not in memory is in nobody's hands.
        let leaf_guard = self.latch_exclusive(leaf).ok();
        let mut mtr = Mtr::begin(&self.storage);
        self.storage.space.free(&mut mtr, leaf);
        let parent = mtr.take(parent_guard);
        if let Some(guard) = leaf_guard {
            mtr.take(guard);
        }
        if mtr.page(parent).slot_count() >= 2 {
            self.remove_entry(&mut mtr, parent, 0);
        } else {
            mtr.init(parent, PageKind::TreeLeaf);
            edit::set_index_id(&mut mtr.edit(parent), self.index);
        }
        mtr.commit();
        Ok(DropProgress::More)
    }

    /// The leftmost leaf and its parent; `None` if the root is a leaf.
    fn left_edge(&self) -> Result<Option<(PageNo, PageNo)>> {
        let mut guard = self.latch_shared(self.root)?;
        self.check_drop_page(&guard)?;
        if guard.kind() == Some(PageKind::TreeLeaf) {
            return Ok(None);
        }
        loop {
            let child = child_at(&guard, 0)?;
            if guard.level() == 1 {
                return Ok(Some((guard.page_no(), child)));
            }
            let next = self.latch_shared(child)?;
            self.check_drop_page(&next)?;
            if next.kind() == Some(PageKind::TreeLeaf) {
                return Ok(Some((guard.page_no(), child)));
            }
            guard = next;
        }
    }

    fn check_drop_page(&self, view: &PageView) -> Result<()> {
        let tree_page = matches!(view.kind(), Some(PageKind::TreeLeaf | PageKind::TreeInner));
        if tree_page && view.index_id() == self.index {
            return Ok(());
        }
        Err(super::damaged(
            view.page_no(),
            format!("not a page of the dropped index {}: {view:?}", self.index),
        ))
    }

    /// Frees one overflow chain that the leaf refers to, and the reference with the chain's last page. False
    /// if it refers to none.
    fn drop_chain(&self, leaf: PageNo, chain_of: ChainOf<'_>) -> Result<bool> {
        let Some(chain_of) = chain_of else { return Ok(false) };
        let found = {
            let guard = self.latch_shared(leaf)?;
            self.check_drop_page(&guard)?;
            let last = (0..guard.slot_count()).rev();
            last.filter_map(|slot| chain_of(guard.value(slot)).map(|chain| (slot, chain))).next()
        };
        let Some((slot, chain)) = found else { return Ok(false) };
        while !overflow::free_tail_step(&self.storage, chain)? {}
        let guard = self.latch_exclusive(leaf)?;
        let mut mtr = Mtr::begin(&self.storage);
        self.storage.space.free(&mut mtr, chain);
        let leaf = mtr.take(guard);
        edit::remove(&mut mtr.edit(leaf), slot);
        mtr.commit();
        Ok(true)
    }
}
