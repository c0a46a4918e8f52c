//! How many rows a way to read a table finds.
//!
//! Where the values that bound a key are known while the statement is planned, its tree is asked: two
//! descents for each range. Else the table's statistics tell how many rows have one value of the first parts
//! of the key, and where nobody has looked at the table yet, a guess does.

use std::sync::atomic::Ordering;

use turnstile_catalog::dictionary::Table;
use turnstile_catalog::dictionary::statistics::TableStatistics;
use turnstile_engine::Engine;
use turnstile_engine::ids::IndexId;
use turnstile_expr::expr::{EvalContext, NoRow};
use turnstile_values::context::Warnings;

use super::key_ranges;
use super::query::{Access, KeyRange};

/// Rows of a table that nobody has looked at, at least.
const UNKNOWN_ROWS: u64 = 1000;

/// Most rows that equality with a part of a key is guessed to find where nothing is known of it: fewer than
/// the smallest guess of a whole table, so that in a join the table with a given key comes before one that
/// would be read whole.
const EQUAL_ROWS_MAX: f64 = 200.0;

/// The values of the statement that is planned, and the trees to ask about them.
#[derive(Clone, Copy)]
pub struct Dives<'a> {
    /// The trees.
    pub engine: &'a Engine,
    /// The values.
    pub eval: &'a EvalContext<'a>,
    /// Fewer ranges than these are asked about (`eq_range_index_dive_limit`).
    pub limit: usize,
}

impl Dives<'_> {
    /// Rows that an access finds, if its bounds are known now and few.
    pub fn rows(self, table: &Table, access: &Access) -> Option<f64> {
        let key = &table.keys()[access.key?];
        if access.ranges.len() >= self.limit || !access.is_known() {
            return None;
        }
        // What is wrong with a value is told when the statement runs.
        let unheard = Warnings::new();
        let eval = EvalContext { warnings: &unheard, ..*self.eval };
        let ranges = key_ranges::ranges(table, access, &NoRow, &eval).ok()?;
        let mut rows = 0;
        for range in &ranges {
            rows += self.engine.estimate_range(key.index, range.lower.as_deref(), range.upper.as_deref())?;
        }
        Some(rows as f64)
    }
}

/// How large a table is, and what is known of its keys.
pub struct TableSize<'a> {
    /// Its rows, at least 1.
    pub rows: f64,
    known: Option<std::sync::Arc<TableStatistics>>,
    dives: Dives<'a>,
}

/// Rows of an access, and whether its tree was asked.
pub struct Found {
    /// The rows.
    pub rows: f64,
    /// The tree was asked.
    pub asked: bool,
}

impl<'a> TableSize<'a> {
    /// Of a table, now.
    pub fn of(table: &Table, dives: Dives<'a>) -> TableSize<'a> {
        let known = table.counters.statistics.known();
        let rows = table.counters.rows.load(Ordering::Relaxed);
        // A table that nobody has looked at may have any number of rows.
        let rows = rows.max(if known.is_some() { 1 } else { UNKNOWN_ROWS }) as f64;
        TableSize { rows, known, dives }
    }

    /// Somebody has looked at the table.
    pub fn is_known(&self) -> bool {
        self.known.is_some()
    }

    /// Rows that equality with the first parts of a key finds.
    pub fn equal(&self, index: IndexId, parts: usize) -> f64 {
        let known = self.known.as_ref().and_then(|known| known.rows_per_value(index, parts, self.rows));
        known.unwrap_or_else(|| (self.rows / 10f64.powi(parts as i32 * 2)).clamp(2.0, EQUAL_ROWS_MAX))
    }

    /// Rows that an access by a key finds.
    pub fn found(&self, table: &Table, access: &Access) -> Found {
        if access.unique {
            return Found { rows: access.ranges.len() as f64, asked: false };
        }
        if let Some(rows) = self.dives.rows(table, access) {
            return Found { rows, asked: true };
        }
        let index = access.key.map(|key| table.keys()[key].index);
        let rows = access.ranges.iter().map(|range| self.guessed(index, range)).sum::<f64>();
        Found { rows: rows.min(self.rows), asked: false }
    }

    fn guessed(&self, index: Option<IndexId>, range: &KeyRange) -> f64 {
        let ends = usize::from(range.lower.is_some()) + usize::from(range.upper.is_some());
        let sides = ends.max(usize::from(range.is_bounded()));
        let each = match (range.equal.len(), index) {
            (0, _) | (_, None) if sides > 0 => self.rows / 2.0,
            (0, _) | (_, None) => self.rows,
            (parts, Some(index)) => self.equal(index, parts),
        };
        each * if sides > 0 { 0.3 / sides as f64 } else { 1.0 }
    }
}
