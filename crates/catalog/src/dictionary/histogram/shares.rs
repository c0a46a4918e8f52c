//! Which share of a table's rows a histogram gives a condition.

use turnstile_values::key_codec::SearchValue;
use turnstile_values::value::Value;

use super::{Bucket, Edge, Histogram, part_of};

/// Where a value falls among those of a column.
enum Place {
    /// At the value.
    At(Edge),
    /// Behind the value, and before the next one that the column can hold.
    Behind(Edge),
    /// Before all values.
    First,
    /// Behind all values.
    Last,
}

impl Histogram {
    /// The share of rows that have a value.
    pub fn not_null(&self) -> f64 {
        1.0 - self.nulls
    }

    /// The share of rows that are equal to a value; None where the column's order does not tell.
    pub fn equal(&self, value: &SearchValue) -> Option<f64> {
        Some(match self.place(value)? {
            Place::At(edge) => self.at(&edge),
            _ => 0.0,
        })
    }

    /// The share of rows below a value, or at it if `inclusive`.
    pub fn below(&self, value: &SearchValue, inclusive: bool) -> Option<f64> {
        Some(match self.place(value)? {
            Place::At(edge) if !inclusive => self.under(&edge),
            Place::At(edge) | Place::Behind(edge) => self.all() - self.over(&edge),
            Place::First => 0.0,
            Place::Last => self.all(),
        })
    }

    /// The share of rows above a value, or at it if `inclusive`.
    pub fn above(&self, value: &SearchValue, inclusive: bool) -> Option<f64> {
        Some(match self.place(value)? {
            Place::At(edge) if inclusive => self.all() - self.under(&edge),
            Place::At(edge) | Place::Behind(edge) => self.over(&edge),
            Place::First => self.all(),
            Place::Last => 0.0,
        })
    }

    fn place(&self, value: &SearchValue) -> Option<Place> {
        Some(match value {
            SearchValue::Exact(value) => Place::At(Edge::of(value, &part_of(&self.kind))),
            SearchValue::After(value) => Place::Behind(Edge::of(value, &part_of(&self.kind))),
            SearchValue::BelowAll => Place::First,
            SearchValue::AboveAll => Place::Last,
            SearchValue::Unusable => return None,
        })
    }

    /// The share that the buckets hold.
    fn all(&self) -> f64 {
        self.buckets.last().map_or(0.0, |last| last.cumulative)
    }

    /// The first bucket that ends at a value or behind it, with the share of those before it.
    fn bucket(&self, edge: &Edge) -> (Option<&Bucket>, f64) {
        let at = self.buckets.partition_point(|bucket| bucket.upper.key < edge.key);
        let before = at.checked_sub(1).map_or(0.0, |last| self.buckets[last].cumulative);
        (self.buckets.get(at), before)
    }

    fn at(&self, edge: &Edge) -> f64 {
        match self.bucket(edge) {
            (Some(bucket), before) if bucket.lower.key <= edge.key => {
                (bucket.cumulative - before) / bucket.distinct.max(1) as f64
            }
            _ => 0.0,
        }
    }

    fn under(&self, edge: &Edge) -> f64 {
        match self.bucket(edge) {
            (Some(bucket), before) if bucket.lower.key < edge.key => {
                before + (bucket.cumulative - before) * bucket.distance(&bucket.lower, edge)
            }
            (_, before) => before,
        }
    }

    fn over(&self, edge: &Edge) -> f64 {
        match self.bucket(edge) {
            (Some(bucket), before) if bucket.lower.key <= edge.key => {
                let within = (bucket.cumulative - before) * bucket.distance(edge, &bucket.upper);
                self.all() - bucket.cumulative + within
            }
            (_, before) => self.all() - before,
        }
    }
}

impl Bucket {
    /// How much of the bucket lies between two values of it, the second one aside.
    fn distance(&self, from: &Edge, to: &Edge) -> f64 {
        let numbers = [&self.lower, &self.upper, from, to].map(|edge| number(&edge.value));
        let [Some(lower), Some(upper), Some(from_at), Some(to_at)] = numbers else {
            return self.distance_of_texts(from, to);
        };
        // Whole numbers and days fill their places.
        let whole =
            matches!(&self.lower.value, Value::Int(_) | Value::UInt(_) | Value::Date(_) | Value::Enum(_));
        let width = upper - lower + if whole { 1.0 } else { 0.0 };
        if width > 0.0 { ((to_at - from_at) / width).clamp(0.0, 1.0) } else { 0.0 }
    }

    /// The same by what comes behind the bytes that all its values begin with.
    fn distance_of_texts(&self, from: &Edge, to: &Edge) -> f64 {
        let (lower, upper) = (&self.lower.key, &self.upper.key);
        let same = lower.iter().zip(upper).take_while(|(one, other)| one == other).count();
        let at = |key: &[u8]| {
            let rest = key.get(same..).unwrap_or(&[]);
            (0..8).fold(0u64, |number, nth| number << 8 | u64::from(rest.get(nth).copied().unwrap_or(0)))
        };
        let width = at(upper).saturating_sub(at(lower)) as f64;
        if width > 0.0 { (at(&to.key).saturating_sub(at(&from.key)) as f64 / width).min(1.0) } else { 0.0 }
    }
}

/// A value on a line; None for texts.
fn number(value: &Value) -> Option<f64> {
    Some(match value {
        Value::Int(number) => *number as f64,
        Value::UInt(number) => *number as f64,
        Value::Double(number) => *number,
        Value::Decimal(number) => number.to_f64(),
        Value::Date(date) => date.to_days() as f64,
        Value::Time(time) => time.us as f64,
        Value::DateTime(moment) => moment.to_unix_us() as f64,
        Value::Enum(chosen) => chosen.bits as f64,
        Value::Null | Value::Str(_) | Value::Bytes(_) | Value::Json(_) => return None,
    })
}
