//! Statements: how long they took, and those that took longest by digest, under the names that
//! mysqld_exporter gives the rows of `events_statements_summary_by_digest`.

use std::cmp::Reverse;

use turnstile_catalog::digests::{BUCKETS, Counts, bounds_ps};
use turnstile_observe::status::Observed;

use super::open_metrics::{Exposition, Kind};

/// Digests that are told of: those that took longest in all.
pub const DIGESTS_MAX: usize = 50;
/// Characters of a normalised text that are told, as the exporter does.
const TEXT_CHARS_MAX: usize = 120;
/// Ten of the server's buckets make one here: five to a power of ten, from 10 microseconds on.
const STEP: usize = 10;
/// The first bucket from 100 seconds on.
const LAST: usize = 351;

const PS_PER_S: f64 = 1e12;
const US_PER_S: f64 = 1e6;

/// How long statements took, as a histogram.
pub fn latencies(db: &Observed, out: &mut Exposition) {
    let (waits, sum_us) = db.registry().folded_digests().all();
    out.family("turnstile_statement_seconds", Kind::Histogram, "How long statements took.");
    let mut below = 0;
    for bucket in 0..BUCKETS {
        below += waits.count(bucket);
        if bucket < LAST && bucket % STEP == 0 {
            let end = bounds_ps(bucket).1 as f64 / PS_PER_S;
            out.part("_bucket", &[("le", &end.to_string())], below);
        }
    }
    out.part("_bucket", &[("le", "+Inf")], below);
    out.part("_count", &[], below).part("_sum", &[], sum_us as f64 / US_PER_S);
}

/// The digests that took longest.
pub fn digests(db: &Observed, out: &mut Exposition) {
    let rows = db.registry().folded_digests().rows();
    let mut rows: Vec<_> =
        rows.into_iter().map(|row| (row.look(|numbers| numbers.counts), row.identity.clone())).collect();
    rows.sort_by_key(|(counts, _)| Reverse(counts.sum_us));
    rows.truncate(DIGESTS_MAX);
    type Read = fn(&Counts) -> f64;
    let families: [(&str, &str, Read); 11] = [
        ("", "Statements.", |of| of.statements as f64),
        ("_seconds", "How long they took.", |of| of.sum_us as f64 / US_PER_S),
        ("_errors", "Those that failed.", |of| of.errors as f64),
        ("_warnings", "Warnings.", |of| of.warnings as f64),
        ("_rows_affected", "Rows changed.", |of| of.affected as f64),
        ("_rows_sent", "Rows sent.", |of| of.sent as f64),
        ("_rows_examined", "Rows read.", |of| of.examined as f64),
        ("_tmp_disk_tables", "Intermediate results that went to a file.", |of| of.disk_tables as f64),
        ("_sort_merge_passes", "Groups of sorted runs that were merged.", |of| of.sort_merges as f64),
        ("_sort_rows", "Rows that sorting gave.", |of| of.sorted_rows as f64),
        ("_no_index_used", "Queries that read all of a table.", |of| of.without_index as f64),
    ];
    for (name, help, read) in families {
        out.family(&format!("mysql_perf_schema_events_statements{name}"), Kind::Counter, help);
        for (counts, identity) in &rows {
            let (mut schema, mut digest, mut text) = ("NONE", "", String::new());
            if let Some(one) = identity.as_deref() {
                schema = one.schema.as_deref().unwrap_or(schema);
                digest = &one.digest;
                text = one.text.chars().take(TEXT_CHARS_MAX).collect();
            }
            let labels = [("schema", schema), ("digest", digest), ("digest_text", &*text)];
            out.sample(&labels, read(counts));
        }
    }
}
