//! SHOW ENGINE INNODB STATUS. The lines are those that monitoring tools parse, in InnoDB's order and
//! spelling, so their text is a contract; the numbers are this engine's own. Where a mechanism does not exist
//! here (a change buffer, read-ahead) the line is there with zeros, because parsers expect it.
//!
//! Rates are differences to the sample before: the one of the last SHOW, or of the start. One mutex keeps
//! that sample; it is taken for a copy.

use std::fmt::Write;

use parking_lot::Mutex;
use turnstile_engine::Engine;

use super::Observed;
use super::sample::Sample;
use crate::picture::activity::Activity;
use turnstile_values::datetime::DateTime;
use turnstile_values::error::SqlResult;

mod hot_rows;
mod server;
mod storage;
mod transactions;

/// Longest report in bytes; a longer list of transactions is cut.
pub const REPORT_BYTES_MAX: usize = 1 << 20;
/// What marks the cut.
const TRUNCATED: &str = "... truncated...\n";

/// Room for what comes before the list, and for what comes behind it.
const SECTIONS_BYTES_EXPECTED: usize = 4096;

/// Keeps what rates need.
#[derive(Debug)]
pub struct Monitor {
    previous: Mutex<Sample>,
    /// Memory of the last report.
    spare: Mutex<Vec<u8>>,
}

/// Two samples and what is between them.
pub struct Span {
    /// Now.
    pub now: Sample,
    /// Before.
    pub before: Sample,
}

impl Span {
    /// Seconds between the samples, never 0.
    pub fn seconds(&self) -> f64 {
        (self.now.at - self.before.at).as_secs_f64().max(0.001)
    }

    /// How much a number has grown.
    pub fn growth(&self, number: impl Fn(&Sample) -> u64) -> u64 {
        number(&self.now).saturating_sub(number(&self.before))
    }

    /// How fast a number grows, per second.
    pub fn rate(&self, number: impl Fn(&Sample) -> u64) -> f64 {
        self.growth(number) as f64 / self.seconds()
    }
}

impl Monitor {
    /// Rates count from now.
    pub fn new(engine: &Engine) -> Monitor {
        Monitor {
            previous: Mutex::new(Sample::take(engine, engine.stats().rows.totals())),
            spare: Mutex::default(),
        }
    }

    fn span(&self, db: &Observed) -> Span {
        let now = Sample::take(db.engine(), db.rows());
        let before = std::mem::replace(&mut *self.previous.lock(), now);
        Span { now, before }
    }

    /// The report.
    pub fn report(&self, db: &Observed) -> SqlResult<String> {
        self.with_report(db, |text| String::from_utf8_lossy(text).into_owned())
    }

    /// Makes the report and hands it on, in memory that is kept from one to the next.
    pub fn with_report<T>(&self, db: &Observed, read: impl FnOnce(&[u8]) -> T) -> SqlResult<T> {
        let mut report = std::mem::take(&mut *self.spare.lock());
        report.clear();
        self.write(db, &mut report)?;
        let result = read(&report);
        if report.capacity() <= 2 * REPORT_BYTES_MAX {
            *self.spare.lock() = report;
        }
        Ok(result)
    }

    fn write(&self, db: &Observed, out: &mut Vec<u8>) -> SqlResult<()> {
        let picture = Activity::of(db, None)?;
        let span = self.span(db);
        let log_waits = picture.sessions.iter().any(|one| one.status.waits_for_log());
        out.extend_from_slice(head(db, &span, &picture).as_bytes());
        let list_at = out.len();
        transactions::list(out, &picture);
        let tail = tail(db, &span, log_waits);
        cut(out, list_at, REPORT_BYTES_MAX.saturating_sub(list_at + tail.len()));
        out.extend_from_slice(tail.as_bytes());
        Ok(())
    }
}

/// What comes before the list of transactions.
fn head(db: &Observed, span: &Span, picture: &Activity) -> String {
    let mut out = String::with_capacity(SECTIONS_BYTES_EXPECTED);
    let rule = "=".repeat(37);
    let at = DateTime::from_unix_us((picture.now_unix_us / 1_000_000 * 1_000_000) as i64, 0);
    let at = at.unwrap_or(DateTime::ZERO);
    let seconds = span.seconds().round() as u64;
    let _ = write!(out, "\n{rule}\n{at} 0x0 INNODB MONITOR OUTPUT\n{rule}\n");
    let _ = writeln!(out, "Per second averages calculated from the last {seconds} seconds");
    server::background_thread(&mut out, span);
    server::semaphores(&mut out);
    if let Some(text) = db.foreign_key_errors().latest() {
        heading(&mut out, "LATEST FOREIGN KEY ERROR");
        out.push_str(&text);
    }
    if let Some(text) = db.latest_deadlock_text() {
        heading(&mut out, "LATEST DETECTED DEADLOCK");
        out.push_str(&text);
    }
    transactions::section(&mut out, db, span);
    out
}

/// What comes behind it; whether a session waits for the log now.
fn tail(db: &Observed, span: &Span, log_waits: bool) -> String {
    let mut out = String::with_capacity(SECTIONS_BYTES_EXPECTED);
    hot_rows::section(&mut out, db, span);
    storage::file_io(&mut out, log_waits, span);
    storage::adaptive_hash(&mut out, db, span);
    storage::log(&mut out, log_waits, span);
    storage::buffer_pool(&mut out, span);
    server::row_operations(&mut out, db, span);
    out.push_str(
        "----------------------------\nEND OF INNODB MONITOR OUTPUT\n============================\n",
    );
    out
}

/// Shortens the list that ends a text, from `start` on, to whole lines and says so.
fn cut(text: &mut Vec<u8>, start: usize, bytes_max: usize) {
    if text.len() - start > bytes_max {
        let room = &text[start..start + bytes_max.saturating_sub(TRUNCATED.len())];
        let end = room.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        text.truncate(start + end);
        text.extend_from_slice(TRUNCATED.as_bytes());
    }
}

/// A section's name between two lines of its length.
fn heading(out: &mut String, name: &str) {
    let rule = "-".repeat(name.len());
    let _ = write!(out, "{rule}\n{name}\n{rule}\n");
}

#[cfg(test)]
mod tests;
