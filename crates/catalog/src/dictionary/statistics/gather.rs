//! Estimates statistics from some leaves of each tree.
//!
//! *Different values.* A tree is sorted, so a table of N entries has one value more than there are neighbours
//! that differ. Each leaf that is looked at shows some neighbours; the share of them that differ, times N, is
//! the estimate. Where values repeat over whole leaves few neighbours differ, and the leaves themselves,
//! spread evenly, tell at least how many values they begin with: the larger of the two counts. A tree whose
//! leaves are all looked at is counted exactly.

use std::time::{SystemTime, UNIX_EPOCH};

use turnstile_engine::Engine;
use turnstile_values::error::SqlResult;
use turnstile_values::key_codec::KeyPart;

use super::columns::ColumnValues;
use super::{KeyStatistics, TableStatistics};
use crate::dictionary::Table;

/// Estimates what `leaves` leaves of each tree tell. Blocks the thread while it reads.
pub fn gather(engine: &Engine, table: &Table, leaves: usize) -> SqlResult<TableStatistics> {
    let mut values = ColumnValues::new(table, leaves);
    let rows = engine.sample_rows(table.definition.clustered, leaves, |row| values.note(table, row))?;
    let mut keys = Vec::with_capacity(table.keys().len());
    for (key, parts) in table.keys().iter().zip(&table.key_parts) {
        let sampled = if key.primary { None } else { Some(engine.sample_index(key.index, leaves)?) };
        let sample = sampled.as_ref().unwrap_or(&rows);
        let all = sample.leaves.len() as u64 == sample.size.leaves;
        let distinct = distinct(parts, &sample.leaves, sample.size.records, all);
        let (size, sampled) = (sample.size, sample.leaves.len() as u64);
        keys.push(KeyStatistics {
            index: key.index,
            pages: size.pages,
            leaves: size.leaves,
            distinct,
            sampled,
        });
    }
    let gathered = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let (tree, size) = (table.definition.clustered, rows.size);
    let columns = values.distinct(size.records);
    Ok(TableStatistics { tree, rows: size.records, pages: size.pages, keys, columns, gathered })
}

/// Different values of the first parts: of one part, of two, and so on.
pub(super) fn distinct(parts: &[KeyPart], leaves: &[Vec<Vec<u8>>], entries: u64, all: bool) -> Vec<u64> {
    let mut within = Neighbours::new(parts.len());
    let mut between = Neighbours::new(parts.len());
    let mut last: Option<&[u8]> = None;
    for leaf in leaves {
        for (nth, key) in leaf.iter().enumerate() {
            match last {
                Some(before) if nth == 0 => between.note(parts, before, key),
                Some(before) => within.note(parts, before, key),
                None => {}
            }
            last = Some(key);
        }
    }
    let estimate = |nth: usize| {
        let seen = 1 + within.differ[nth] + between.differ[nth];
        if all || within.pairs == 0 {
            return seen;
        }
        let share = within.differ[nth] as f64 / within.pairs as f64;
        (1 + (entries.saturating_sub(1) as f64 * share) as u64).max(seen)
    };
    (0..parts.len()).map(|nth| if last.is_none() { 0 } else { estimate(nth).min(entries.max(1)) }).collect()
}

/// Neighbours that were looked at, and how many of them differ in their first parts.
struct Neighbours {
    pairs: u64,
    differ: Vec<u64>,
}

impl Neighbours {
    fn new(parts: usize) -> Neighbours {
        Neighbours { pairs: 0, differ: vec![0; parts] }
    }

    fn note(&mut self, parts: &[KeyPart], before: &[u8], key: &[u8]) {
        self.pairs += 1;
        let same = before.iter().zip(key).take_while(|(one, other)| one == other).count();
        let (mut rest, mut first_other) = (key, 0);
        for part in parts {
            if !part.skip(&mut rest) || key.len() - rest.len() > same {
                break;
            }
            first_other += 1;
        }
        self.differ[first_other..].iter_mut().for_each(|differ| *differ += 1);
    }
}
