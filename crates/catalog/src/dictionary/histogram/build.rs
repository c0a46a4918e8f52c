//! Makes histograms from rows.
//!
//! Each value that is met is counted, by its bytes in the column's order. If there are no more values than
//! buckets, each value has one; else buckets are filled in order up to the smallest number of rows with which
//! they suffice, so that none holds more than it must. A value that is frequent has a bucket of its own.
//!
//! If not all rows are looked at, a bucket has more values than were met in it, as many as
//! [`different`](super::super::statistics::different) says.

use rustc_hash::FxHashMap;
use turnstile_values::error::SqlResult;
use turnstile_values::key_codec::KeyPart;
use turnstile_values::memory::Charge;
use turnstile_values::pulse;
use turnstile_values::types::ColumnType;
use turnstile_values::value::Value;

use super::super::statistics::different;
use super::{Bucket, CHARACTERS_MAX, Edge, Histogram, cut, part_of};
use crate::dictionary::Table;
use crate::row_codec::RowView;

/// What a counted value takes besides its bytes, about.
const VALUE_BYTES: usize = 96;

/// A histogram to be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted {
    /// Position of the column.
    pub column: usize,
    /// Buckets at most.
    pub buckets: u32,
    /// It is to be made anew by itself.
    pub automatic: bool,
}

impl Wanted {
    /// Those of a table's histograms that are to be made anew by themselves.
    pub fn automatic(table: &Table) -> Vec<Wanted> {
        let columns = table.columns().iter().enumerate();
        let known = columns.filter_map(|(at, column)| Some((at, table.counters.histograms.of(column)?)));
        let wanted = known.filter(|(_, known)| known.automatic);
        wanted.map(|(column, known)| Wanted { column, buckets: known.specified, automatic: true }).collect()
    }
}

/// The values of one column.
struct Values {
    wanted: Wanted,
    part: KeyPart,
    nulls: u64,
    met: FxHashMap<Vec<u8>, (Value, u64)>,
}

/// Counts the values of columns of a table.
pub struct Collector {
    columns: Vec<Values>,
    looked: u64,
    key: Vec<u8>,
    charge: Charge,
}

impl Collector {
    /// Of these columns. What it keeps is charged.
    pub fn new(table: &Table, wanted: &[Wanted], charge: Charge) -> Collector {
        let values = |wanted: &Wanted| Values {
            wanted: wanted.clone(),
            part: part_of(&table.columns()[wanted.column].kind),
            nulls: 0,
            met: FxHashMap::default(),
        };
        Collector { columns: wanted.iter().map(values).collect(), looked: 0, key: Vec::new(), charge }
    }

    /// Bytes that a row with other values than all before it takes at most, about.
    pub fn row_bytes(table: &Table, wanted: &[Wanted]) -> u64 {
        let characters = |length: &u32, each: u32| (*length as usize).min(CHARACTERS_MAX) * each as usize;
        let of = |kind: &ColumnType| match kind {
            ColumnType::Char { length, collation } | ColumnType::Varchar { length, collation } => {
                characters(length, collation.max_char_bytes()) * 2
            }
            ColumnType::Text { collation, .. } => CHARACTERS_MAX * collation.max_char_bytes() as usize * 2,
            ColumnType::Binary { length } | ColumnType::Varbinary { length } => characters(length, 1) * 2,
            ColumnType::Blob { .. } => CHARACTERS_MAX * 2,
            _ => 8,
        };
        wanted.iter().map(|one| (of(&table.columns()[one.column].kind) + VALUE_BYTES) as u64).sum()
    }

    /// Looks at a row. Rows that cannot be read are not counted.
    pub fn note(&mut self, table: &Table, row: &[u8]) -> SqlResult<()> {
        let Ok(view) = RowView::new(&table.layout, row) else { return Ok(()) };
        self.looked += 1;
        for column in &mut self.columns {
            let value = view.get(column.wanted.column);
            if value.is_null() {
                column.nulls += 1;
                continue;
            }
            let value = cut(&value);
            self.key.clear();
            column.part.append(&value, &mut self.key);
            if let Some((_, met)) = column.met.get_mut(&self.key) {
                *met += 1;
                continue;
            }
            let bytes = value.as_raw_bytes().map_or(0, <[u8]>::len) + self.key.len() + VALUE_BYTES;
            self.charge.add(bytes)?;
            column.met.insert(self.key.clone(), (value, 1));
        }
        Ok(())
    }

    /// Rows that were looked at.
    pub fn looked(&self) -> u64 {
        self.looked
    }

    /// The histograms, of a table of so many rows, at this moment (microseconds since 1970).
    pub fn finish(self, table: &Table, rows: u64, updated: u64) -> Vec<Histogram> {
        let looked = self.looked;
        let rows = rows.max(looked);
        let sampled = if looked == 0 { 1.0 } else { looked as f64 / rows as f64 };
        let finished = self.columns.into_iter().map(|column| {
            let nulls = if looked == 0 { 0.0 } else { column.nulls as f64 / looked as f64 };
            let Wanted { column: at, buckets: specified, automatic } = column.wanted;
            let mut met: Vec<(Vec<u8>, (Value, u64))> = column.met.into_iter().collect();
            met.sort_unstable_by(|(one, _), (other, _)| {
                // Others go on; who looks for KILL does so between batches of rows.
                let _ = pulse::step();
                one.cmp(other)
            });
            let met: Vec<(Edge, u64)> =
                met.into_iter().map(|(key, (value, met))| (Edge { value, key }, met)).collect();
            let singleton = met.len() <= specified as usize;
            let height = if singleton { 0 } else { height(&met, specified as usize) };
            let buckets = filled(&met, (height, specified as usize), (looked, rows));
            let column = &table.columns()[at];
            let (kind, column) = (column.kind.clone(), column.name.clone());
            Histogram { column, kind, singleton, buckets, nulls, sampled, updated, specified, automatic }
        });
        finished.collect()
    }
}

/// The fewest rows a bucket must be able to hold if so many buckets are to hold all.
fn height(met: &[(Edge, u64)], buckets: usize) -> u64 {
    let all = met.iter().map(|(_, met)| met).sum::<u64>();
    let (mut too_low, mut enough) = (0, all);
    while too_low + 1 < enough {
        let between = too_low + (enough - too_low) / 2;
        if suffices(met, between, buckets) { enough = between } else { too_low = between }
    }
    enough
}

fn suffices(met: &[(Edge, u64)], height: u64, buckets: usize) -> bool {
    let (mut used, mut held) = (1, 0);
    for (_, met) in met {
        let _ = pulse::step();
        if held > 0 && held + met > height {
            (used, held) = (used + 1, 0);
            if used > buckets {
                return false;
            }
        }
        held += met;
    }
    true
}

/// Buckets of so many rows, or of one value if that has more; where there are as many buckets left as values,
/// each has its own.
fn filled(
    met: &[(Edge, u64)],
    (height, buckets_max): (u64, usize),
    (looked, rows): (u64, u64),
) -> Vec<Bucket> {
    let mut buckets = Vec::new();
    let (mut first, mut before) = (0, 0);
    while first < met.len() {
        let (mut next, mut held) = (first + 1, met[first].1);
        let left = buckets_max.saturating_sub(buckets.len() + 1);
        while met.len() - next > left && held + met[next].1 <= height {
            held += met[next].1;
            next += 1;
        }
        let values = &met[first..next];
        before += held;
        let once = values.iter().filter(|(_, met)| *met == 1).count() as u64;
        // The bucket's part of the table has as many rows for each that was looked at as the table has.
        let all = (held as f64 * rows as f64 / looked.max(1) as f64) as u64;
        let distinct = if height == 0 { 1 } else { different(values.len() as u64, once, held, all) };
        buckets.push(Bucket {
            lower: values[0].0.clone(),
            upper: values[values.len() - 1].0.clone(),
            cumulative: before as f64 / looked.max(1) as f64,
            distinct,
        });
        first = next;
    }
    buckets
}
