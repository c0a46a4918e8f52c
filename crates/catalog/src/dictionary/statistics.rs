//! What is known of the keys of a table: how many rows and pages there are, and how many different values the
//! first parts of each key have. Plans are chosen by it.
//!
//! It is estimated from some leaves of each tree ([`gather`]), kept in memory with the table's counters, and
//! durable as a row of the dictionary. It is a guess and nothing depends on its truth but speed: it is read
//! without a lock on the table, a tree may change or go while its leaves are read, and a row of the
//! dictionary that names no table is forgotten at the next start.

mod bytes;
mod columns;
mod gather;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use parking_lot::RwLock;
use turnstile_engine::ids::IndexId;

pub(super) use columns::different;
pub use gather::gather;

/// What is known of one key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyStatistics {
    /// Its tree.
    pub index: IndexId,
    /// Pages of the tree.
    pub pages: u64,
    /// Those of them that hold entries.
    pub leaves: u64,
    /// Different values of its first part, of its first two parts, and so on: never 0 where there are rows.
    pub distinct: Vec<u64>,
    /// Leaves that were looked at.
    pub sampled: u64,
}

/// What is known of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableStatistics {
    /// The tree of its rows.
    pub tree: IndexId,
    /// Its rows.
    pub rows: u64,
    /// Pages of its rows, overflow chains aside.
    pub pages: u64,
    /// Its keys, in the order of its definition at that moment.
    pub keys: Vec<KeyStatistics>,
    /// Different values of each column, in the order of its definition at that moment; 0 where they were not
    /// looked at.
    pub columns: Vec<u64>,
    /// When: seconds since 1970.
    pub gathered: u64,
}

impl TableStatistics {
    /// What is known of a key.
    pub fn key(&self, index: IndexId) -> Option<&KeyStatistics> {
        self.keys.iter().find(|key| key.index == index)
    }

    /// Different values of a column, if they were looked at.
    pub fn distinct(&self, column: usize) -> Option<u64> {
        self.columns.get(column).copied().filter(|distinct| *distinct > 0)
    }

    /// Rows that have one value of the first `parts` parts of a key, on average; at least 1. `rows`: how many
    /// the table has now.
    pub fn rows_per_value(&self, index: IndexId, parts: usize, rows: f64) -> Option<f64> {
        let distinct = *self.key(index)?.distinct.get(parts.checked_sub(1)?)?;
        // The number of values is taken to grow as the number of rows does.
        let rows_then = (self.rows.max(1) as f64).min(rows.max(1.0));
        Some((rows_then / distinct.max(1) as f64).max(1.0))
    }
}

/// Changes of fewer rows are not worth a look at a table.
const CHANGES_MIN: u64 = 200;

/// What is known of a table, and how far it may have become untrue.
#[derive(Debug, Default)]
pub struct KeptStatistics {
    known: RwLock<Option<Arc<TableStatistics>>>,
    /// Rows that came, went or got other keys since it was estimated.
    changed: AtomicU64,
    /// Somebody has been asked to estimate it anew.
    asked: AtomicBool,
}

impl KeptStatistics {
    /// What is known.
    pub fn known(&self) -> Option<Arc<TableStatistics>> {
        self.known.read().clone()
    }

    /// From now on this is known.
    pub fn set(&self, statistics: Arc<TableStatistics>) {
        *self.known.write() = Some(statistics);
    }

    /// So many rows have changed. True once a tenth of the table has since the last estimate: whoever is told
    /// so has it estimated anew.
    #[inline]
    pub fn changed(&self, rows: u64) -> bool {
        if rows == 0 {
            return false;
        }
        let changed = self.changed.fetch_add(rows, Ordering::Relaxed) + rows;
        changed > CHANGES_MIN && self.is_due(changed)
    }

    #[cold]
    fn is_due(&self, changed: u64) -> bool {
        let then = self.known().map_or(0, |known| known.rows);
        changed > then / 10 && !self.asked.swap(true, Ordering::AcqRel)
    }

    /// It is about to be estimated: what changes from here on counts for the next time.
    pub fn begin(&self) {
        self.changed.store(0, Ordering::Release);
        self.asked.store(false, Ordering::Release);
    }
}
