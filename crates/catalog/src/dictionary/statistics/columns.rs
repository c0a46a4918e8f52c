//! Different values of columns, counted in rows of some leaves.
//!
//! Of n rows that are looked at, among N, d values are different and f of them were seen once. Where all
//! rows were seen there are d; else `n d / (n - f + f n / N)` (Haas and Stokes, 1998): values that come again
//! and again have all been met, those met once stand for more.

use rustc_hash::FxHashMap;
use turnstile_values::key_codec::KeyPart;
use turnstile_values::types::ColumnType;

use crate::dictionary::Table;
use crate::row_codec::RowView;

/// Leaves whose rows are all looked at; of more, every second row is, and so on.
const WHOLE_LEAVES: usize = 100;

/// Longest text whose values are counted, in characters.
const LENGTH_MAX: u32 = 255;

/// How often each value was met, by its hash, of one column.
struct Values {
    column: usize,
    part: KeyPart,
    met: FxHashMap<u64, u32>,
}

/// Values of the columns of a table.
pub(super) struct ColumnValues {
    columns: Vec<Values>,
    count: usize,
    /// Every so many rows one is looked at.
    stride: usize,
    shown: usize,
    looked: u64,
}

impl ColumnValues {
    /// Of a table, by so many of its leaves.
    pub fn new(table: &Table, leaves: usize) -> ColumnValues {
        let counted = |kind: &ColumnType| match kind {
            ColumnType::Char { length, .. } | ColumnType::Varchar { length, .. } => *length <= LENGTH_MAX,
            ColumnType::Binary { length } | ColumnType::Varbinary { length } => *length <= LENGTH_MAX,
            ColumnType::Text { .. } | ColumnType::Blob { .. } | ColumnType::Json => false,
            _ => true,
        };
        let columns = table.columns().iter().enumerate().filter(|(_, column)| counted(&column.kind));
        let columns = columns.map(|(at, column)| Values {
            column: at,
            part: KeyPart::whole(column.kind.clone(), true),
            met: FxHashMap::default(),
        });
        let stride = leaves.div_ceil(WHOLE_LEAVES).max(1);
        ColumnValues { columns: columns.collect(), count: table.columns().len(), stride, shown: 0, looked: 0 }
    }

    /// Looks at a row.
    pub fn note(&mut self, table: &Table, row: &[u8]) {
        self.shown += 1;
        if !self.shown.is_multiple_of(self.stride) {
            return;
        }
        let Ok(view) = RowView::new(&table.layout, row) else { return };
        self.looked += 1;
        let mut key = Vec::new();
        for values in &mut self.columns {
            key.clear();
            values.part.append(&view.get(values.column), &mut key);
            *values.met.entry(hash(&key)).or_default() += 1;
        }
    }

    /// How many values each column of a table of so many rows has.
    pub fn distinct(&self, rows: u64) -> Vec<u64> {
        let mut all = vec![0; self.count];
        for values in &self.columns {
            let once = values.met.values().filter(|met| **met == 1).count() as u64;
            all[values.column] = different(values.met.len() as u64, once, self.looked, rows);
        }
        all
    }
}

fn hash(key: &[u8]) -> u64 {
    use std::hash::BuildHasher;
    rustc_hash::FxBuildHasher.hash_one(key)
}

/// Different values among `rows`, if `looked` of them have `met` different ones, `once` of them met once.
pub fn different(met: u64, once: u64, looked: u64, rows: u64) -> u64 {
    if looked == 0 || looked >= rows {
        return met;
    }
    let (met_f, once_f, looked_f) = (met as f64, once as f64, looked as f64);
    let all = looked_f * met_f / (looked_f - once_f + once_f * looked_f / rows as f64);
    (all as u64).clamp(met, rows)
}

#[cfg(test)]
mod tests {
    use super::different;

    #[test]
    fn few_values_are_all_met_and_many_stand_for_more() {
        assert_eq!(different(5, 0, 1000, 1_000_000), 5);
        assert_eq!(different(1000, 1000, 1000, 1_000_000), 1_000_000);
        assert_eq!(different(7, 3, 10, 10), 7);
        assert_eq!(different(0, 0, 0, 0), 0);
        let half = different(900, 800, 1000, 100_000);
        assert!((2000..20_000).contains(&half), "{half}");
    }
}
