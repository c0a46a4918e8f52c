//! What a session tells the general log and the slow query log.

use super::Session;
use crate::expr::SessionView;
use crate::query_log::{Slow, Which};

impl Session {
    /// A command that begins, for the general log.
    pub(super) fn log_command(&self, command: &str, argument: &[u8]) {
        if self.db.query_log().is_on(Which::General) && !self.settings.log_off {
            let now_us = self.db.registry().unix_us(self.db.registry().now_us());
            self.db.query_log().general(self.entry.id, command, argument, now_us);
        }
    }

    /// The beginning of the session, for the general log.
    pub(super) fn log_connect(&self) {
        if self.db.query_log().is_on(Which::General) {
            let user = self.state.identity.lock().user.clone();
            let schema = self.state.schema();
            let line = format!("{user} on {}", schema.as_deref().unwrap_or_default());
            self.log_command("Connect", line.trim_end().as_bytes());
        }
    }

    /// A statement that took longer than `long_query_time` and ends now.
    #[cold]
    pub(super) fn note_slow(&self, now_us: u64, done: bool) {
        self.entry.counts.slow_queries.add(1);
        if !self.db.query_log().is_on(Which::Slow) {
            return;
        }
        let shown = self.entry.shown();
        let Some(text) = &shown.text else { return };
        let words = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let rows = done && self.state.row_count() == -1;
        self.db.query_log().slow(&Slow {
            user: &words(shown.names.user()),
            host: &words(shown.names.bare_host()),
            id: self.entry.id,
            schema: self.state.schema().as_deref(),
            text,
            took_us: now_us.saturating_sub(self.entry.since_us()),
            rows_sent: if rows { self.state.found_rows() } else { 0 },
            ended_us: self.db.registry().unix_us(now_us),
        });
    }
}
