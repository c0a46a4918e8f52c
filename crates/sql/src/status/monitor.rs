//! SHOW ENGINE INNODB STATUS. The lines are those that monitoring tools parse, in InnoDB's order and spelling, so their text is
//! a contract; the numbers are this engine's own. Where a mechanism does not exist here (a change buffer, read-ahead) the line
//! is there with zeros, because parsers expect it.
//!
//! Rates are differences to the sample before: the one of the last SHOW, or of the start. One mutex keeps that sample; it is
//! taken for a copy.

use std::fmt::Write;

use parking_lot::Mutex;
use turnstile_engine::Engine;

use super::sample::Sample;
use crate::database::Database;
use crate::datetime::DateTime;
use crate::information_schema::activity::Activity;

mod server;
mod storage;
mod transactions;

/// Longest report in bytes; a longer list of transactions is cut.
pub const REPORT_BYTES_MAX: usize = 1 << 20;
/// What marks the cut.
const TRUNCATED: &str = "... truncated...\n";

/// Keeps what rates need.
#[derive(Debug)]
pub struct Monitor {
    previous: Mutex<Sample>,
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
        Monitor { previous: Mutex::new(Sample::take(engine)) }
    }

    fn span(&self, engine: &Engine) -> Span {
        let now = Sample::take(engine);
        let before = std::mem::replace(&mut *self.previous.lock(), now);
        Span { now, before }
    }

    /// Writes the report.
    pub fn report(&self, db: &Database) -> String {
        let span = self.span(db.engine());
        let picture = Activity::of(db, None);
        let (mut head, mut list, mut tail) = (String::new(), String::new(), String::new());
        let rule = "=".repeat(37);
        let at = DateTime::from_unix_us((picture.now_unix_us / 1_000_000 * 1_000_000) as i64, 0);
        let at = at.unwrap_or(DateTime::ZERO);
        let seconds = span.seconds().round() as u64;
        let _ = write!(head, "\n{rule}\n{at} 0x0 INNODB MONITOR OUTPUT\n{rule}\n");
        let _ = writeln!(head, "Per second averages calculated from the last {seconds} seconds");
        server::background_thread(&mut head, &span);
        server::semaphores(&mut head);
        if let Some(text) = db.latest_deadlock_text() {
            heading(&mut head, "LATEST DETECTED DEADLOCK");
            head.push_str(&text);
        }
        transactions::section(&mut head, db, &span);
        transactions::list(&mut list, db, &picture);
        storage::file_io(&mut tail, db, &span);
        storage::adaptive_hash(&mut tail, db, &span);
        storage::log(&mut tail, db, &span);
        storage::buffer_pool(&mut tail, &span);
        server::row_operations(&mut tail, db, &span);
        tail.push_str(
            "----------------------------\nEND OF INNODB MONITOR OUTPUT\n============================\n",
        );
        head.push_str(cut(&mut list, REPORT_BYTES_MAX.saturating_sub(head.len() + tail.len())));
        head.push_str(&tail);
        head
    }
}

/// Shortens a list to whole lines and says so.
fn cut(list: &mut String, bytes_max: usize) -> &str {
    if list.len() > bytes_max {
        let room = &list.as_bytes()[..bytes_max.saturating_sub(TRUNCATED.len())];
        let end = room.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        list.truncate(end);
        list.push_str(TRUNCATED);
    }
    list
}

/// A section's name between two lines of its length.
fn heading(out: &mut String, name: &str) {
    let rule = "-".repeat(name.len());
    let _ = write!(out, "{rule}\n{name}\n{rule}\n");
}

#[cfg(test)]
mod tests;
