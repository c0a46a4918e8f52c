//! Names of locks: a row by (index, key bytes), the end of an index, a table. The room knows no pages, so a
//! lock stays where it is when its row moves.

use crate::ids::{IndexId, TableId};
use rustc_hash::FxHasher;
use smallvec::SmallVec;
use std::hash::Hasher;

/// What is locked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockName<'k> {
    /// A row of an index, and the gap before it.
    Row {
        /// The index.
        index: IndexId,
        /// Key bytes in the index's order.
        key: &'k [u8],
    },
    /// The gap after the last row of an index.
    Supremum(IndexId),
    /// A table.
    Table(TableId),
}

impl<'k> LockName<'k> {
    /// A row's name.
    pub fn row(index: IndexId, key: &'k [u8]) -> Self {
        LockName::Row { index, key }
    }
    pub(super) fn is_table(self) -> bool {
        matches!(self, LockName::Table(_))
    }
    pub(super) fn is_supremum(self) -> bool {
        matches!(self, LockName::Supremum(_))
    }
    fn parts(self) -> (u8, u32, &'k [u8]) {
        match self {
            LockName::Row { index, key } => (0, index.0, key),
            LockName::Supremum(index) => (1, index.0, &[]),
            LockName::Table(table) => (2, table.0, &[]),
        }
    }
    pub(super) fn hash(self) -> u64 {
        let (tag, space, key) = self.parts();
        let mut hasher = FxHasher::default();
        hasher.write_u64(u64::from(space) << 8 | u64::from(tag));
        hasher.write(key);
        hasher.finish()
    }
}

/// Longest key whose memory a free name keeps.
const KEEP_KEY_BYTES: usize = 64;
/// What the allocator needs for one piece of memory, about.
const ALLOCATION_BYTES: usize = 16;

/// A name the table keeps. Keys of up to 16 bytes need no allocation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnedName {
    key: SmallVec<[u8; 16]>,
    space: u32,
    tag: u8,
}

impl OwnedName {
    /// The name.
    pub fn name(&self) -> LockName<'_> {
        match self.tag {
            0 => LockName::Row { index: IndexId(self.space), key: &self.key },
            1 => LockName::Supremum(IndexId(self.space)),
            _ => LockName::Table(TableId(self.space)),
        }
    }
    pub(super) fn matches(&self, name: LockName<'_>) -> bool {
        let (tag, space, key) = name.parts();
        self.tag == tag && self.space == space && self.key.as_slice() == key
    }
    pub(super) fn is_table(&self) -> bool {
        self.tag == 2
    }
    /// Takes another name, keeping the memory of a key that is not very long.
    pub(super) fn assign(&mut self, name: LockName<'_>) {
        let (tag, space, key) = name.parts();
        (self.tag, self.space) = (tag, space);
        self.key.clear();
        self.key.extend_from_slice(key);
    }
    /// Nothing has this name any more. The memory of a very long key is given back: names that are free stay
    /// for as long as any other of their shard is locked.
    pub(super) fn forget(&mut self) {
        if self.key.capacity() > KEEP_KEY_BYTES {
            self.key = SmallVec::new();
        }
    }
    /// Memory of the key besides the name itself, about.
    pub(super) fn heap_bytes(&self) -> usize {
        // A vector that takes another key grows to a power of two.
        if self.key.spilled() { self.key.capacity().next_power_of_two() + ALLOCATION_BYTES } else { 0 }
    }
}

impl From<LockName<'_>> for OwnedName {
    fn from(name: LockName<'_>) -> Self {
        let (tag, space, key) = name.parts();
        OwnedName { key: SmallVec::from_slice(key), space, tag }
    }
}
