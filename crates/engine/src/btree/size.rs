//! How large a tree is and what its keys are like, without reading all of it: the pages above the leaves tell
//! how many leaves there are, and some leaves which records lie in them.

use super::descend::child_at;
use super::{LEVELS_MAX, Tree, damaged};
use crate::error::Result;
use crate::ids::PageNo;
use crate::page::{DELETE_MARK, PageView};

/// Leaves that are looked at to tell a size; a tree of no more is counted exactly.
pub const SAMPLED_LEAVES: usize = 20;

/// The size of a tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TreeSize {
    /// Its pages, those of overflow chains aside.
    pub pages: u64,
    /// Those of them that hold records.
    pub leaves: u64,
    /// About how many records are in its leaves, delete-marked ones left out.
    pub records: u64,
}

/// A tree's size, and the keys of the leaves that were looked at.
#[derive(Clone, Debug, Default)]
pub struct TreeSample {
    /// The size.
    pub size: TreeSize,
    /// For each of the leaves, from left to right, the keys in it that are not delete-marked. If there are as
    /// many as the tree has, they are all of its keys.
    pub leaves: Vec<Vec<Vec<u8>>>,
}

/// Measures a tree by so many leaves, evenly spread over it, and shows the values of their records that are
/// not delete-marked. Holds the structure mutex, so splits wait; loads what is not in memory, blocking the
/// thread.
pub fn sample(tree: &Tree, leaves: usize, show: &mut dyn FnMut(&[u8])) -> Result<TreeSample> {
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
    let step = level.len().div_ceil(leaves.max(1)).max(1);
    let mut looked = Vec::with_capacity(level.len().div_ceil(step));
    for page in level.iter().step_by(step) {
        let page = with_page(*page)?;
        let view: &PageView = &page.read();
        let mut keys = Vec::with_capacity(view.slot_count());
        for record in (0..view.slot_count()).map(|slot| view.record(slot)) {
            if record.flags & DELETE_MARK == 0 {
                keys.push(record.key.to_vec());
                show(record.value);
            }
        }
        looked.push(keys);
    }
    let records = looked.iter().map(|keys| keys.len() as u64).sum::<u64>();
    let all = level.len() as u64;
    let records = records.saturating_mul(all).checked_div(looked.len() as u64).unwrap_or(0);
    Ok(TreeSample { size: TreeSize { pages, leaves: all, records }, leaves: looked })
}
