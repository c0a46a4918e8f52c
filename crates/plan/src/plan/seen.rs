//! What a block has placed already, found by how it was written: a statement of many thousand sub-queries or
//! aggregates asks for each of them, so none is compared with all the others.

use std::hash::{BuildHasher, Hash};

use rustc_hash::{FxBuildHasher, FxHashMap};

/// Things in the order in which they came, each under a key. Several may have equal keys.
#[derive(Debug)]
pub struct Seen<K, V> {
    entries: Vec<(K, V)>,
    /// Numbers of entries, ascending, by the hash of their keys.
    by_hash: FxHashMap<u64, Vec<usize>>,
}

impl<K, V> Default for Seen<K, V> {
    fn default() -> Self {
        Seen { entries: Vec::new(), by_hash: FxHashMap::default() }
    }
}

impl<K: Hash + PartialEq, V> Seen<K, V> {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Adds one behind the others.
    pub fn push(&mut self, key: K, value: V) {
        self.by_hash.entry(FxBuildHasher.hash_one(&key)).or_default().push(self.entries.len());
        self.entries.push((key, value));
    }

    /// Those with this key, in the order in which they came.
    pub fn alike<'s>(&'s self, key: &K) -> impl DoubleEndedIterator<Item = &'s V> {
        // Nothing is hashed where nothing can be found.
        let hash = if self.entries.is_empty() { 0 } else { FxBuildHasher.hash_one(key) };
        let numbers = self.by_hash.get(&hash).map_or(&[][..], Vec::as_slice);
        numbers
            .iter()
            .map(|nth| &self.entries[*nth])
            .filter(move |(seen, _)| seen == key)
            .map(|(_, value)| value)
    }

    /// Forgets all but the first `kept`.
    pub fn truncate(&mut self, kept: usize) {
        for (key, _) in self.entries.drain(kept.min(self.entries.len())..) {
            if let Some(numbers) = self.by_hash.get_mut(&FxBuildHasher.hash_one(&key)) {
                numbers.retain(|nth| *nth < kept);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Seen;

    #[test]
    fn equal_keys_are_found_in_order_and_forgotten() {
        let mut seen = Seen::default();
        for (key, value) in [("a", 1), ("b", 2), ("a", 3), ("a", 4)] {
            seen.push(key, value);
        }
        assert_eq!(seen.alike(&"a").collect::<Vec<_>>(), [&1, &3, &4]);
        seen.truncate(3);
        assert_eq!((seen.len(), seen.alike(&"a").next_back()), (3, Some(&3)));
        seen.truncate(1);
        assert_eq!((seen.alike(&"a").count(), seen.alike(&"b").count(), seen.len()), (1, 0, 1));
        seen.push("b", 5);
        assert_eq!(seen.alike(&"b").next(), Some(&5));
        seen.truncate(9);
        assert_eq!(seen.len(), 2);
    }
}
