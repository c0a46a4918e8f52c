//! Keys in memory and the numbers they have: groups, rows of DISTINCT, rows of a hash join.
//!
//! A hash table that grows moves all it has at once, which takes half a second for eight million keys, and
//! nobody else runs meanwhile on that worker. So beyond [`WHOLE_KEYS`] the keys are spread over [`PARTS`]
//! tables that grow one by one.

use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};

use turnstile_values::memory::dropping;

/// So many keys are in one table.
const WHOLE_KEYS: usize = 16 << 10;
/// Tables there are then.
const PARTS: usize = 256;

/// What a key takes besides its bytes, about: its place in a table that is half full, and the allocator's
/// part.
pub const KEY_OVERHEAD: usize = 64;

type Entry = (Box<[u8]>, u32);

/// See the head of this file.
#[derive(Default)]
pub struct KeyIndex {
    hasher: DefaultHashBuilder,
    parts: Vec<HashTable<Entry>>,
    count: usize,
}

impl Drop for KeyIndex {
    fn drop(&mut self) {
        dropping(if self.parts.is_empty() { 0 } else { self.count });
    }
}

impl KeyIndex {
    /// Keys there are.
    pub fn len(&self) -> usize {
        self.count
    }

    fn part(&self, hash: u64) -> usize {
        // The table itself uses the other end of the hash.
        if self.parts.len() == PARTS { (hash >> 32) as usize % PARTS } else { 0 }
    }

    /// The number of a key.
    pub fn get(&self, key: &[u8]) -> Option<usize> {
        let hash = self.hasher.hash_one(key);
        let found = self.parts.get(self.part(hash))?.find(hash, |entry| *entry.0 == *key);
        found.map(|entry| entry.1 as usize)
    }

    /// The number of a key that is there; None: it was not, and has the next number now.
    pub fn get_or_insert(&mut self, key: &[u8]) -> Option<usize> {
        if self.parts.is_empty() {
            self.parts.push(HashTable::new());
        }
        let hash = self.hasher.hash_one(key);
        let part = self.part(hash);
        if let Some(entry) = self.parts[part].find(hash, |entry| *entry.0 == *key) {
            return Some(entry.1 as usize);
        }
        if self.count == WHOLE_KEYS {
            self.spread();
        }
        let (part, hasher) = (self.part(hash), &self.hasher);
        let number = u32::try_from(self.count).unwrap_or(u32::MAX);
        self.parts[part].insert_unique(hash, (key.into(), number), |entry| hasher.hash_one(&*entry.0));
        self.count += 1;
        None
    }

    /// True if the key was not there.
    pub fn insert(&mut self, key: &[u8]) -> bool {
        self.get_or_insert(key).is_none()
    }

    fn spread(&mut self) {
        let whole = std::mem::take(&mut self.parts);
        self.parts.resize_with(PARTS, HashTable::new);
        for entry in whole.into_iter().flatten() {
            let hash = self.hasher.hash_one(&*entry.0);
            let (part, hasher) = (self.part(hash), &self.hasher);
            self.parts[part].insert_unique(hash, entry, |entry| hasher.hash_one(&*entry.0));
        }
    }

    /// All keys with their numbers, in no order; they are forgotten piece by piece.
    pub fn into_entries(mut self) -> impl Iterator<Item = (Box<[u8]>, usize)> {
        std::mem::take(&mut self.parts).into_iter().flatten().map(|(key, nth)| (key, nth as usize))
    }

    /// Forgets some of the keys; false when none were left. No key is looked up any more.
    pub fn shrink(&mut self) -> bool {
        self.parts.pop().is_some()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]
    use super::*;

    #[test]
    fn keys_keep_their_numbers_while_tables_are_spread() {
        let mut index = KeyIndex::default();
        let count = WHOLE_KEYS * 3;
        for number in 0..count {
            assert_eq!(index.get(&number.to_be_bytes()), None);
            assert_eq!(index.get_or_insert(&number.to_be_bytes()), None);
        }
        for number in 0..count {
            assert_eq!(index.get_or_insert(&number.to_be_bytes()), Some(number));
        }
        assert_eq!(index.len(), count);
        assert_eq!(index.parts.len(), PARTS);
        let most = index.parts.iter().map(HashTable::len).max().unwrap();
        assert!(most < count / PARTS * 3, "no table has many more than its share: {most}");
        let mut shrunk = 0;
        while index.shrink() {
            shrunk += 1;
        }
        assert_eq!(shrunk, PARTS);
    }
}
