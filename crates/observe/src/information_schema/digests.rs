//! Statements by digest ([`turnstile_catalog::digests`]): the tables of performance_schema, and
//! sys.statement_analysis.
//!
//! Columns of what is not measured are 0: SUM_LOCK_TIME, SUM_CPU_TIME, MAX_CONTROLLED_MEMORY,
//! MAX_TOTAL_MEMORY, SUM_SELECT_RANGE_CHECK, SUM_NO_GOOD_INDEX_USED, COUNT_SECONDARY.
//! SUM_CREATED_TMP_TABLES has those that went to a file, as SUM_CREATED_TMP_DISK_TABLES.

use std::cmp::Reverse;
use std::sync::Arc;

use turnstile_catalog::catalog::Catalog;
use turnstile_catalog::digests::{BUCKETS, Histogram, Numbers, Row, bounds_ps};
use turnstile_catalog::session_state::SessionState;
use turnstile_values::datetime::{DateTime, TimeZone};
use turnstile_values::error::SqlResult;
use turnstile_values::field::{FieldRef, RowWriter};
use turnstile_values::value::Value;

use super::locks::shortened;
use crate::picture::hot_rows::readable_time;

/// Picoseconds in a microsecond.
const PS: u64 = 1_000_000;

fn ps(us: u64) -> u64 {
    us.saturating_mul(PS)
}

/// Moments as a session sees them.
struct Clock<'c> {
    db: &'c Catalog,
    zone: TimeZone,
}

impl Clock<'_> {
    fn of<'c>(db: &'c Catalog, session: &SessionState) -> Clock<'c> {
        Clock { db, zone: session.settings.lock().time_zone }
    }

    fn at(&self, moment_us: u64) -> Value {
        let utc = DateTime::from_unix_us(self.db.registry().unix_us(moment_us) as i64, 6);
        utc.map_or(Value::Null, |utc| Value::DateTime(self.zone.from_utc(utc)))
    }
}

/// The rows with their numbers as they are now, the first seen first.
fn copies(db: &Catalog) -> Vec<(Arc<Row>, Numbers)> {
    let with_numbers = |row: Arc<Row>| {
        let numbers = row.look(Numbers::clone);
        (row, numbers)
    };
    let rows = db.registry().folded_digests().rows();
    let mut rows: Vec<_> = rows.into_iter().map(with_numbers).collect();
    rows.sort_by_key(|(_, numbers)| numbers.first_us);
    rows
}

/// Database, digest and text.
fn names(row: &Row) -> [FieldRef<'_>; 3] {
    let identity = row.identity.as_deref();
    [
        FieldRef::optional(identity.and_then(|one| one.schema.as_deref())),
        FieldRef::optional(identity.map(|one| &*one.digest)),
        FieldRef::optional(identity.map(|one| &*one.text)),
    ]
}

/// Rows of events_statements_summary_by_digest.
pub fn summary(db: &Catalog, session: &SessionState, out: &mut RowWriter<'_>) -> SqlResult<()> {
    let clock = Clock::of(db, session);
    copies(db).iter().try_for_each(|(row, numbers)| {
        let counts = &numbers.counts;
        let [schema, digest, text] = names(row);
        let number = FieldRef::UInt;
        let [first, last] = [numbers.first_us, numbers.last_us].map(|at| clock.at(at));
        let sample = numbers.sample.as_ref();
        let seen = clock.at(sample.map_or(numbers.last_us, |sample| sample.seen_us));
        out(&[
            schema,
            digest,
            text,
            number(counts.statements),
            number(ps(counts.sum_us)),
            number(ps(numbers.min_us)),
            number(ps(counts.sum_us) / counts.statements.max(1)),
            number(ps(numbers.max_us)),
            number(0),
            number(counts.errors),
            number(counts.warnings),
            number(counts.affected),
            number(counts.sent),
            number(counts.examined),
            number(counts.disk_tables),
            number(counts.disk_tables),
            number(counts.full_joins),
            number(counts.range_joins),
            number(counts.ranges),
            number(0),
            number(counts.scans),
            number(counts.sort_merges),
            number(counts.range_sorts),
            number(counts.sorted_rows),
            number(counts.scan_sorts),
            number(counts.without_index),
            number(0),
            number(0),
            number(0),
            number(0),
            number(0),
            FieldRef::Value(&first),
            FieldRef::Value(&last),
            number(numbers.waits.quantile_ps(950)),
            number(numbers.waits.quantile_ps(990)),
            number(numbers.waits.quantile_ps(999)),
            sample.map_or(FieldRef::Null, |sample| FieldRef::Bytes(&sample.text)),
            FieldRef::Value(&seen),
            number(sample.map_or(0, |sample| ps(sample.took_us))),
        ])
    })
}

/// All buckets: number, bounds, how many, how many up to here, and which part of all that is.
fn buckets(waits: &Histogram, mut each: impl FnMut([FieldRef<'_>; 6]) -> SqlResult<()>) -> SqlResult<()> {
    let mut below = 0;
    (0..BUCKETS).try_for_each(|bucket| {
        let (low, high) = bounds_ps(bucket);
        let count = waits.count(bucket);
        below += count;
        // Six digits, as the column has.
        let part = (below as f64 / waits.total().max(1) as f64 * 1e6).round() / 1e6;
        each([
            FieldRef::UInt(bucket as u64),
            FieldRef::UInt(low),
            FieldRef::UInt(high),
            FieldRef::UInt(count),
            FieldRef::UInt(below),
            FieldRef::Value(&Value::Double(part)),
        ])
    })
}

/// Rows of events_statements_histogram_by_digest.
pub fn histograms(db: &Catalog, out: &mut RowWriter<'_>) -> SqlResult<()> {
    copies(db).iter().try_for_each(|(row, numbers)| {
        let [schema, digest, _] = names(row);
        buckets(&numbers.waits, |[a, b, c, d, e, f]| out(&[schema, digest, a, b, c, d, e, f]))
    })
}

/// Rows of events_statements_histogram_global.
pub fn histogram(db: &Catalog, out: &mut RowWriter<'_>) -> SqlResult<()> {
    let (waits, _) = db.registry().folded_digests().all();
    buckets(&waits, |fields| out(&fields))
}

/// Rows of sys.statement_analysis, the dearest first; with times in words, or in picoseconds.
pub fn analysis(db: &Catalog, session: &SessionState, words: bool, out: &mut RowWriter<'_>) -> SqlResult<()> {
    let clock = Clock::of(db, session);
    let mut rows = copies(db);
    rows.sort_by_key(|(_, numbers)| Reverse(numbers.counts.sum_us));
    rows.iter().try_for_each(|(row, numbers)| {
        let counts = &numbers.counts;
        let [schema, digest, text] = names(row);
        let short = row.identity.as_deref().filter(|_| words).map(|one| shortened(&one.text));
        let each = counts.statements.max(1);
        let took = [counts.sum_us, numbers.max_us, counts.sum_us / each, 0, 0];
        let told = took.map(|us| if words { Value::from(readable_time(us)) } else { Value::UInt(ps(us)) });
        let nothing = if words { Value::from("0 bytes") } else { Value::UInt(0) };
        let [first, last] = [numbers.first_us, numbers.last_us].map(|at| clock.at(at));
        let number = FieldRef::UInt;
        let average = |sum: u64| number((sum + each / 2) / each);
        out(&[
            short.as_deref().map_or(text, FieldRef::Text),
            schema,
            FieldRef::Text(if counts.without_index > 0 { "*" } else { "" }),
            number(counts.statements),
            number(counts.errors),
            number(counts.warnings),
            FieldRef::Value(&told[0]),
            FieldRef::Value(&told[1]),
            FieldRef::Value(&told[2]),
            FieldRef::Value(&told[3]),
            FieldRef::Value(&told[4]),
            number(counts.sent),
            average(counts.sent),
            number(counts.examined),
            average(counts.examined),
            number(counts.affected),
            average(counts.affected),
            number(counts.disk_tables),
            number(counts.disk_tables),
            number(counts.sorted_rows),
            number(counts.sort_merges),
            FieldRef::Value(&nothing),
            FieldRef::Value(&nothing),
            digest,
            FieldRef::Value(&first),
            FieldRef::Value(&last),
        ])
    })
}
