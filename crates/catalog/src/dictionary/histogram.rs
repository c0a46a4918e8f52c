//! Histograms: which share of a table's rows have a column below, at and above a value. ANALYZE TABLE ...
//! UPDATE HISTOGRAM makes them, plans are chosen by them where no key tells.
//!
//! A *singleton* histogram has a bucket for each value; an *equi-height* one has buckets of neighbouring
//! values that hold about as many rows each. Values of a bucket other than its ends are taken to be spread
//! evenly. Texts count by their first [`CHARACTERS_MAX`] characters.
//!
//! A histogram is a row of the dictionary of its own (`6`, table id, column), is kept in memory beside the
//! table's counters, and outlives new trees and new names of the table. It goes with its column, and with
//! whatever else makes the column another ([`KeptHistograms::of`] looks at the type besides). Like statistics
//! it is a guess on which nothing depends but speed.

mod build;
mod bytes;
mod document;
mod shares;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::RwLock;
use turnstile_engine::ids::TableId;
use turnstile_values::key_codec::KeyPart;
use turnstile_values::types::ColumnType;
use turnstile_values::value::Value;

use super::table::Column;
use super::{RowKind, Table, row_key};

pub use build::{Collector, Wanted};

/// Buckets of a histogram for which nobody has said how many.
pub const BUCKETS_DEFAULT: u32 = 100;
/// Buckets that can be asked for.
pub const BUCKETS_MAX: u64 = 1024;
/// Characters of a text (bytes of a binary string) that count.
pub const CHARACTERS_MAX: usize = 42;

/// An end of a bucket.
#[derive(Debug, Clone, PartialEq)]
pub struct Edge {
    /// The value.
    pub value: Value,
    /// Its bytes in the order of the column's values.
    key: Vec<u8>,
}

/// Rows with neighbouring values.
#[derive(Debug, Clone, PartialEq)]
pub struct Bucket {
    /// The smallest value.
    pub lower: Edge,
    /// The largest value; that of `lower` in a singleton histogram.
    pub upper: Edge,
    /// The share of all rows, NULLs among them, that have this bucket's values or smaller ones.
    pub cumulative: f64,
    /// Different values, about.
    pub distinct: u64,
}

/// What is known of the values of a column.
#[derive(Debug, Clone, PartialEq)]
pub struct Histogram {
    /// The column's name.
    pub column: Box<str>,
    /// The column's type when its values were looked at.
    pub kind: ColumnType,
    /// Each bucket has one value.
    pub singleton: bool,
    /// In the order of their values.
    pub buckets: Vec<Bucket>,
    /// The share of rows that have NULL.
    pub nulls: f64,
    /// The share of rows that was looked at.
    pub sampled: f64,
    /// When: microseconds since 1970.
    pub updated: u64,
    /// Buckets that were asked for.
    pub specified: u32,
    /// ANALYZE TABLE and the server's own estimates make it anew.
    pub automatic: bool,
}

/// Orders the values of a column of this type.
fn part_of(kind: &ColumnType) -> KeyPart {
    KeyPart::whole(kind.clone(), false)
}

/// A value as a histogram knows it: a text is cut off.
fn cut(value: &Value) -> Value {
    match value {
        Value::Str(text) => match text.char_indices().nth(CHARACTERS_MAX) {
            Some((end, _)) => Value::text(&text[..end]),
            None => value.clone(),
        },
        Value::Bytes(bytes) if bytes.len() > CHARACTERS_MAX => Value::bytes(&bytes[..CHARACTERS_MAX]),
        _ => value.clone(),
    }
}

impl Edge {
    /// A value of a column whose values are ordered by `part`.
    fn of(value: &Value, part: &KeyPart) -> Edge {
        let value = cut(value);
        let mut key = Vec::new();
        part.append(&value, &mut key);
        Edge { value, key }
    }
}

impl Histogram {
    /// Whether columns of a type can have one: documents have no order that a condition asks for.
    pub fn is_supported(kind: &ColumnType) -> bool {
        !matches!(kind, ColumnType::Json | ColumnType::Null)
    }

    /// The key of its row in the dictionary.
    pub fn row_key(table: TableId, column: &str) -> Vec<u8> {
        row_key(RowKind::Histogram, &[&table.0.to_be_bytes(), column.as_bytes()].concat())
    }
}

/// The histograms of a table, by column.
#[derive(Debug, Default)]
pub struct KeptHistograms(RwLock<BTreeMap<Box<str>, Arc<Histogram>>>);

impl KeptHistograms {
    /// That of a column; None if there is none, or one of values of another type.
    pub fn of(&self, column: &Column) -> Option<Arc<Histogram>> {
        let found = self.0.read().get(&column.name).cloned();
        found.filter(|one| one.kind == column.kind)
    }

    /// No column has one.
    pub fn is_empty(&self) -> bool {
        self.0.read().is_empty()
    }

    /// All, by the names of their columns.
    pub fn all(&self) -> Vec<Arc<Histogram>> {
        self.0.read().values().cloned().collect()
    }

    /// From now on this is its column's.
    pub fn put(&self, histogram: Arc<Histogram>) {
        self.0.write().insert(histogram.column.clone(), histogram);
    }

    /// The same if its column still has one that is made anew by itself; false if not.
    pub fn replace(&self, histogram: Arc<Histogram>) -> bool {
        let mut kept = self.0.write();
        match kept.get_mut(&histogram.column) {
            Some(known) if known.automatic => {
                *known = histogram;
                true
            }
            _ => false,
        }
    }

    /// These columns have none any more.
    /// Returns what they had.
    pub fn remove(&self, columns: &[Box<str>]) -> Vec<Arc<Histogram>> {
        let mut kept = self.0.write();
        columns.iter().filter_map(|column| kept.remove(column)).collect()
    }
}

impl Table {
    /// What is known of the values of a column.
    pub fn histogram(&self, column: usize) -> Option<Arc<Histogram>> {
        self.counters.histograms.of(self.columns().get(column)?)
    }

    /// A key of this column alone tells each of its values apart.
    pub fn is_unique_alone(&self, column: usize) -> bool {
        self.keys().iter().any(|key| key.unique && key.parts.len() == 1 && key.parts[0].column == column)
    }
}
