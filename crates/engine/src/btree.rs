#![doc = include_str!("btree/README.md")]

pub mod adaptive_hash;
mod descend;
mod directory;
mod drop_index;
mod estimate;
mod merge;
pub mod overflow;
mod seek;
mod separator;
mod shortcut;
mod size;
mod split;
mod verify;
mod write;

pub use directory::{IndexDirectory, IndexState};
pub use drop_index::{ChainOf, DropProgress};
pub use estimate::records_between;
pub use seek::{Direction, LeafRead, Successor, WalkState};
pub use size::{SAMPLED_LEAVES, TreeSample, TreeSize, sample};
pub use verify::{Report, verify};
pub use write::{LeafEdit, LeafWrite};

use crate::buffer::Storage;
use crate::error::{Error, Result};
use crate::ids::{IndexId, PageNo};
use crate::page::{HEADER_SIZE, PAGE_SIZE, SLOT_SIZE, record_size};
use crate::rank;
use adaptive_hash::AdaptiveHash;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, Ordering};
use turnstile_sys::ranked::RankedMutex;

/// Bytes of a page that records and their slots may fill.
pub const CAPACITY: usize = PAGE_SIZE - HEADER_SIZE;

/// Longest record, as `page::record_size` counts it, that a tree takes. Two of them, slots included, fit one
/// page: that is what makes a split at the place of insertion always succeed.
pub const RECORD_BYTES_MAX: usize = CAPACITY / 2 - SLOT_SIZE;

/// Longest key. An entry of an inner page must obey [`RECORD_BYTES_MAX`] too, with a child page number as its
/// value.
pub const KEY_BYTES_MAX: usize = RECORD_BYTES_MAX - crate::page::RECORD_HEADER - CHILD_BYTES;

/// Bytes of an inner entry's value: the child page number.
pub(crate) const CHILD_BYTES: usize = 4;

/// No tree is this high; a descent that goes deeper has met damage.
pub(crate) const LEVELS_MAX: usize = 32;

/// Page number that stands for "no sibling".
pub(crate) const NO_PAGE: PageNo = PageNo(0);

/// Where a key is, or would be, in a leaf.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Position {
    /// The record of this slot has the key.
    Found(usize),
    /// No record has the key; it would be inserted before this slot.
    Missing(usize),
}

impl Position {
    /// The slot, found or not.
    pub fn slot(self) -> usize {
        match self {
            Position::Found(slot) | Position::Missing(slot) => slot,
        }
    }

    /// Whether the key is there.
    pub fn is_found(self) -> bool {
        matches!(self, Position::Found(_))
    }
}

/// How often the structure of a tree changed since it was opened.
#[derive(Debug, Default)]
pub struct TreeCounters {
    /// Leaf and inner splits.
    pub splits: AtomicU64,
    /// Merges of two pages.
    pub merges: AtomicU64,
    /// Empty leaves removed.
    pub removals: AtomicU64,
    /// Levels added under the root.
    pub growths: AtomicU64,
    /// Levels taken away under the root.
    pub collapses: AtomicU64,
}

/// One B+tree. Shared by all sessions; see the room's README for the protocol.
pub struct Tree {
    storage: Arc<Storage>,
    index: IndexId,
    root: PageNo,
    structure: RankedMutex<()>,
    root_level: AtomicU8,
    gone: AtomicBool,
    /// Searches from the root that the adaptive hash index has seen, up to where it begins to learn.
    warmth: AtomicU32,
    adaptive_hash: Arc<AdaptiveHash>,
    counters: TreeCounters,
}

impl Tree {
    /// A handle on the tree whose root page exists. All users of one tree must share one handle, for it
    /// carries the structure mutex.
    pub fn open(
        storage: Arc<Storage>,
        index: IndexId,
        root: PageNo,
        adaptive_hash: Arc<AdaptiveHash>,
    ) -> Tree {
        Tree {
            storage,
            index,
            root,
            structure: RankedMutex::new(rank::TREE, &rank::INDEX_TREE, ()),
            root_level: AtomicU8::new(0),
            gone: AtomicBool::new(false),
            warmth: AtomicU32::new(0),
            adaptive_hash,
            counters: TreeCounters::default(),
        }
    }

    /// The index this tree is.
    pub fn index(&self) -> IndexId {
        self.index
    }

    /// Its root page.
    pub fn root(&self) -> PageNo {
        self.root
    }

    /// The storage below.
    pub fn storage(&self) -> &Arc<Storage> {
        &self.storage
    }

    /// Statistics.
    pub fn counters(&self) -> &TreeCounters {
        &self.counters
    }

    /// Whether the tree takes a record of these lengths.
    pub fn check_record(key_len: usize, value_len: usize) -> Result<()> {
        if key_len > KEY_BYTES_MAX {
            return Err(Error::KeyTooLong { len: key_len });
        }
        let len = record_size(key_len, value_len);
        if len > RECORD_BYTES_MAX {
            return Err(Error::RowTooLarge { len });
        }
        Ok(())
    }

    /// `NoSuchIndex` once the index is to be dropped.
    pub(crate) fn check_alive(&self) -> Result<()> {
        if self.gone.load(Ordering::Relaxed) {
            return Err(Error::NoSuchIndex(self.index));
        }
        Ok(())
    }

    fn mark_gone(&self) {
        self.gone.store(true, Ordering::Relaxed);
    }
}

/// The error for a page whose content cannot be what it is.
pub(crate) fn damaged(page: PageNo, what: impl Into<String>) -> Error {
    Error::Corrupt {
        file: crate::buffer::DATA_FILE.to_owned(),
        offset: u64::from(page.0) * PAGE_SIZE as u64,
        what: what.into(),
    }
}

#[cfg(test)]
mod tests;
