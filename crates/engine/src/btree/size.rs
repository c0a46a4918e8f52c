//! How large a tree is, without reading all of it: the pages above the leaves tell how many leaves there are,
//! and some leaves how many records lie in them.

use super::descend::child_at;
use super::{LEVELS_MAX, Tree, damaged};
use crate::error::Result;
use crate::ids::PageNo;
use crate::page::{DELETE_MARK, PageView};

/// Leaves that are looked at; a tree of no more is counted exactly.
const SAMPLED_LEAVES: usize = 20;

/// The size of a tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TreeSize {
    /// Its pages, those of overflow chains aside.
    pub pages: u64,
    /// About how many records are in its leaves, delete-marked ones left out.
    pub records: u64,
}

/// Measures a tree. Holds the structure mutex, so splits wait; loads what is not in memory, blocking the
/// thread.
pub fn measure(tree: &Tree) -> Result<TreeSize> {
    let _structure = tree.structure.lock();
    let with_page = |page: PageNo| tree.storage.pool.load_blocking(page);
    let root_level = with_page(tree.root)?.read().level();
    if usize::from(root_level) >= LEVELS_MAX {
        return Err(damaged(tree.root, "the tree is too high"));
    }
    let (mut pages, mut level) = (1, vec![tree.root]);
    for _ in 0..root_level {
        let mut below = Vec::new();
        for page in level {
            let page = with_page(page)?;
            let view: &PageView = &page.read();
            for slot in 0..view.slot_count() {
                below.push(child_at(view, slot)?);
            }
        }
        pages += below.len() as u64;
        level = below;
    }
    let step = level.len().div_ceil(SAMPLED_LEAVES).max(1);
    let (mut records, mut looked) = (0u64, 0u64);
    for page in level.iter().step_by(step) {
        let page = with_page(*page)?;
        let view: &PageView = &page.read();
        let lives = |slot: &usize| view.record(*slot).flags & DELETE_MARK == 0;
        records += (0..view.slot_count()).filter(lives).count() as u64;
        looked += 1;
    }
    let records = records.saturating_mul(level.len() as u64).checked_div(looked).unwrap_or(0);
    Ok(TreeSize { pages, records })
}
