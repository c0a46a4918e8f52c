//! The section HOT ROWS: where hand-on before commit stands, then the rows that are fought for, one a line.
//! InnoDB has no such section. It stands behind the list of transactions, under a heading like the others',
//! so whoever reads sections by their headings passes it by.

use std::fmt::Write;
use std::sync::atomic::Ordering;

use turnstile_engine::lock::LockStatistics;

use super::{Span, heading};
use crate::picture::hot_rows::{HotRow, hot_rows, readable_time};
use crate::picture::key_text::quoted;
use turnstile_catalog::catalog::Catalog;

/// Rows that are shown.
const ROWS_MAX: usize = 16;

/// The section.
pub fn section(out: &mut String, db: &Catalog, span: &Span) {
    heading(out, "HOT ROWS");
    let rules = &db.engine().settings().hot_row;
    let state = match (rules.is_on(), rules.hint_only.load(Ordering::Relaxed)) {
        (false, _) => "OFF",
        (true, false) => "ON",
        (true, true) => "HINT_ONLY",
    };
    let LockStatistics { handed_on, followed, following, doomed, impatience, .. } = span.now.locks;
    let rate = span.rate(|sample| sample.locks.handed_on);
    let _ = writeln!(
        out,
        "Hand-on before commit {state}, rows handed on {handed_on}, {rate:.2} handed on/s\n\
         Commits that followed {followed}, following now {following}, \
         told to roll back {doomed}, out of patience {impatience}"
    );
    hot_rows(db).iter().take(ROWS_MAX).for_each(|row| line(out, row));
}

fn line(out: &mut String, row: &HotRow) {
    let seen = &row.seen;
    let _ = write!(
        out,
        "row {} of index {} of table {}: {:.2} changes/s, {:.2} waits/s, waiting {}, queue p50 {} p99 {}",
        // In one line, whatever the key is.
        row.key.replace(['\n', '\r'], " "),
        row.index,
        quoted(&row.table),
        seen.grants_per_second,
        seen.waits_per_second,
        seen.waiting,
        seen.queue_p50,
        seen.queue_p99
    );
    if let (Some(p50), Some(p99)) = (seen.wait_us_p50, seen.wait_us_p99) {
        let [p50, p99] = [p50, p99].map(|us| readable_time(us.into()));
        let _ = write!(out, ", waited p50 {p50} p99 {p99}");
    }
    let _ = write!(out, ", handed on {}", seen.handed_on);
    if let Some(holder) = &row.holder {
        let _ = write!(out, ", held by TRX {} thread {}", holder.id, holder.connection);
    }
    out.push('\n');
}
