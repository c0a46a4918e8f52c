//! EXPLAIN FOR CONNECTION: the statement that another session runs now, planned again from its text.
//!
//! The other session publishes nothing for this but what SHOW PROCESSLIST needs, its text and database, and
//! its settings whenever they change. So a plan is shown that the statement would get now, with the
//! statistics of now and this session's user variables; as a rule it is the one that runs.

use std::sync::Arc;

use super::super::Session;
use crate::ast::ExplainFormat;
use crate::error::{SqlError, SqlResult};
use crate::registry::Command;
use crate::session::prepared::is_row_statement;
use crate::session::statement::Outcome;
use crate::session::text::{ask_for_one, parse_charged};
use crate::session::{explain, rights};
use crate::sink::ResultSink;
use crate::variables::SessionSettings;

/// EXPLAIN FOR CONNECTION
pub(super) async fn explain_other(
    session: &mut Session,
    id: u64,
    format: Option<ExplainFormat>,
    out: &mut dyn ResultSink,
) -> SqlResult<Outcome> {
    let found = session.db.registry().find(id).ok_or_else(|| SqlError::no_such_thread(id))?;
    let shown = found.shown();
    let text = match found.command() {
        Command::Sleep | Command::Connect => None,
        Command::Query if id != session.entry.id => shown.text,
        Command::Query | Command::Execute | Command::Prepare => {
            return Err(SqlError::not_explained_for_connection());
        }
    };
    let (Some(text), Some(theirs)) = (text, shown.settings) else { return Ok(Outcome::default()) };
    let database = shown.names.database().and_then(|name| std::str::from_utf8(name).ok()).map(Arc::from);
    // The session reads the text as the other does, and becomes itself again whatever comes of it.
    let settings = Arc::new(reading_as(&session.settings, &theirs));
    let own_settings = std::mem::replace(&mut session.settings, settings);
    let own_database = session.state.schema();
    session.state.set_schema(database);
    let may = shown.account == session.own_account() || rights::may_everything(session);
    let result = Box::pin(explain_text(session, &text, may, format, out)).await;
    session.settings = own_settings;
    session.state.set_schema(own_database);
    result
}

async fn explain_text(
    session: &mut Session,
    text: &[u8],
    may: bool,
    format: Option<ExplainFormat>,
    out: &mut dyn ResultSink,
) -> SqlResult<Outcome> {
    let mut charge = session.charge();
    // A text that is about to be refused is no statement yet.
    let Ok(parsed) = parse_charged(session, text, 0, false, &mut charge) else {
        return Ok(Outcome::default());
    };
    if ask_for_one(session, text, parsed.next, false).is_err() {
        return Err(SqlError::not_supported_yet("EXPLAIN FOR CONNECTION of one of several statements"));
    }
    if !is_row_statement(&parsed.statement) {
        return Err(SqlError::not_explained_for_connection());
    }
    if !may {
        let account = session.own_account();
        return Err(SqlError::access_denied(&account.user, &account.host, "NO"));
    }
    let explained = explain::explain_statement(session, &parsed.statement, (format, false), &[], out).await;
    charge.announce_drop();
    explained
}

/// What of the other's settings decides what its text means and how it is planned; the transaction and the
/// patience are the session's own.
fn reading_as(own: &SessionSettings, theirs: &SessionSettings) -> SessionSettings {
    SessionSettings {
        sql_mode: theirs.sql_mode,
        time_zone: theirs.time_zone,
        collation_connection: theirs.collation_connection,
        client_set: theirs.client_set,
        default_week_format: theirs.default_week_format,
        division_digits: theirs.division_digits,
        ways: theirs.ways,
        dive_limit: theirs.dive_limit,
        sql_select_limit: theirs.sql_select_limit,
        group_concat_max_len: theirs.group_concat_max_len,
        auto_is_null: theirs.auto_is_null,
        ..own.clone()
    }
}
