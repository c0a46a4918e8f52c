//! What a session tells the general log and the slow query log.

use super::Session;
use crate::expr::SessionView;
use crate::query_log::{Slow, Which};

/// A command that begins, for the general log.
pub(super) fn log_command(session: &Session, command: &str, argument: &[u8]) {
    if session.db.query_log().is_on(Which::General) && !session.settings.log_off {
        let now_us = session.db.registry().unix_us(session.db.registry().now_us());
        session.db.query_log().general(session.entry.id, command, argument, now_us);
    }
}

/// The beginning of the session, for the general log.
pub(super) fn log_connect(session: &Session) {
    if session.db.query_log().is_on(Which::General) {
        let user = session.state.identity.lock().user.clone();
        let schema = session.state.schema();
        let line = format!("{user} on {}", schema.as_deref().unwrap_or_default());
        log_command(session, "Connect", line.trim_end().as_bytes());
    }
}

/// A statement that took longer than `long_query_time` and ends now.
#[cold]
pub(super) fn note_slow(session: &Session, now_us: u64, done: bool) {
    session.entry.counts.slow_queries.add(1);
    if !session.db.query_log().is_on(Which::Slow) {
        return;
    }
    let shown = session.entry.shown();
    let Some(text) = &shown.text else { return };
    let words = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let rows = done && session.state.row_count() == -1;
    session.db.query_log().slow(&Slow {
        user: &words(shown.names.user()),
        host: &words(shown.names.bare_host()),
        id: session.entry.id,
        schema: session.state.schema().as_deref(),
        text,
        took_us: now_us.saturating_sub(session.entry.since_us()),
        rows_sent: if rows { session.state.found_rows() } else { 0 },
        ended_us: session.db.registry().unix_us(now_us),
    });
}
