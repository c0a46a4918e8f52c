//! What the server is and does, as tables.

use super::{row, text};
use turnstile_sys::latch::{ClassKind, LatchClass, classes};

use crate::picture::doing;
use crate::status::Observed;
use turnstile_catalog::accounts::Privileges;
use turnstile_catalog::accounts::privileges::PRIVILEGES_LIST;
use turnstile_catalog::catalog::Catalog;
use turnstile_catalog::registry::counts::Totals;
use turnstile_catalog::registry::{Entry, Listed, ahead};
use turnstile_catalog::session_state::SessionState;
use turnstile_catalog::variables::{Scope, VARIABLES};
use turnstile_syntax::ast::VariableScope;
use turnstile_syntax::lexer::Keyword;
use turnstile_values::charset::Charset;
use turnstile_values::collation::Collation;
use turnstile_values::error::SqlResult;
use turnstile_values::field::{FieldRef, RowWriter};
use turnstile_values::value::Value;

type Rows = Vec<Vec<Value>>;

/// Sessions: all of them with PROCESS, else one's own. Of a statement's text at most `info_chars_max`
/// characters are shown.
pub fn processlist(
    db: &Catalog,
    session: &SessionState,
    info_chars_max: usize,
    out: &mut RowWriter<'_>,
) -> SqlResult<()> {
    let sees_all = session.rights().may(Privileges::PROCESS, None);
    let own = || db.registry().find(session.id).map(|entry| entry.shown().names).unwrap_or_default();
    let only = if sees_all { None } else { Some(own()) };
    let now = db.registry().now_us();
    for entry in ahead(&db.registry().list()) {
        let names = &entry.names;
        if only.as_ref().is_some_and(|only| names.user() != only.user()) {
            continue;
        }
        entry.with_text(|statement| {
            let info = statement.map(String::from_utf8_lossy);
            out(&[
                FieldRef::UInt(entry.id),
                FieldRef::Bytes(names.user()),
                FieldRef::Bytes(names.host()),
                names.database().map_or(FieldRef::Null, FieldRef::Bytes),
                FieldRef::Text(command(entry)),
                FieldRef::UInt(now.saturating_sub(entry.since_us()) / 1_000_000),
                FieldRef::Text(doing(entry, statement)),
                FieldRef::optional(info.as_deref().map(|text| beginning(text, info_chars_max))),
            ])
        })?;
    }
    Ok(())
}

/// At most so many characters of a text.
fn beginning(text: &str, chars_max: usize) -> &str {
    if text.len() <= chars_max {
        return text;
    }
    text.char_indices().nth(chars_max).map_or(text, |(end, _)| &text[..end])
}

/// COMMAND: what the session does, or that it has been told to end.
fn command(entry: &Entry) -> &'static str {
    if entry.interrupt.is_connection_killed() { "Killed" } else { entry.command().name() }
}

/// Rows of performance_schema.events_waits_summary_global_by_event_name: what threads have slept for latches
/// and mutexes, in picoseconds. Who enters at once or after a few looks is not timed, so it is not counted
/// here either.
pub fn latch_waits() -> Rows {
    const PS_PER_NS: u64 = 1000;
    let line = |class: &'static LatchClass| {
        let (kind, stats) = (class.kind(), class.stats());
        let prefix = match kind {
            ClassKind::Mutex => "wait/synch/mutex/innodb",
            ClassKind::Latch => "wait/synch/sxlock/innodb",
        };
        let waits = stats.total();
        let time = |ns: u64| Value::UInt(ns.saturating_mul(PS_PER_NS));
        row([
            text(format!("{prefix}/{}", class.name())),
            Value::UInt(waits.parks),
            time(waits.parked_ns),
            time(stats.parked_ns_min),
            time(waits.parked_ns / waits.parks.max(1)),
            time(stats.parked_ns_max),
        ])
    };
    classes().into_iter().map(line).collect()
}

/// Rows of performance_schema.persisted_variables: what SET PERSIST has kept for the next start.
pub fn persisted_variables(db: &Catalog) -> Rows {
    let entries = db.globals().persisted().map(|persisted| persisted.entries()).unwrap_or_default();
    entries.into_iter().map(|(name, entry)| row([text(name), text(entry.value)])).collect()
}

/// Rows of performance_schema.threads: the sessions. A session's thread id is its connection id.
pub fn threads(db: &Catalog) -> Rows {
    let now = db.registry().now_us();
    let name = |name: &[u8]| text(String::from_utf8_lossy(name));
    let line = |entry: &Listed| {
        let shown = entry.shown();
        row([
            Value::UInt(entry.id),
            text("thread/sql/one_connection"),
            text("FOREGROUND"),
            Value::UInt(entry.id),
            name(shown.names.user()),
            name(shown.names.host().rsplitn(2, |byte| *byte == b':').last().unwrap_or_default()),
            shown.names.database().map_or(Value::Null, name),
            text(command(entry)),
            Value::UInt(now.saturating_sub(entry.since_us()) / 1_000_000),
            text(doing(entry, shown.text.as_deref())),
            shown.text.as_ref().map_or(Value::Null, |bytes| text(String::from_utf8_lossy(bytes))),
            Value::Null,
            Value::Null,
            text("NO"),
            text("NO"),
            Value::Null,
            Value::Null,
            Value::Null,
        ])
    };
    db.registry().list().iter().map(line).collect()
}

/// Rows of ENGINES.
pub fn engines() -> Rows {
    let comment = "Transactions, row-level locking, crash recovery";
    vec![row([text("InnoDB"), text("DEFAULT"), text(comment), text("YES"), text("NO"), text("YES")])]
}

/// Rows of CHARACTER_SETS.
pub fn character_sets() -> Rows {
    let mut sets: Vec<Charset> = Charset::all().collect();
    sets.sort_by_key(|set| set.name());
    let line = |set: Charset| {
        let most = Value::UInt(set.max_char_bytes().into());
        row([text(set.name()), text(set.default_collation().name()), text(set.description()), most])
    };
    sets.into_iter().map(line).collect()
}

/// Rows of COLLATIONS.
pub fn collations() -> Rows {
    let line = |one: Collation| {
        row([
            text(one.name()),
            text(one.charset()),
            Value::UInt(one.id().into()),
            text(if one.is_default() { "Yes" } else { "" }),
            text("Yes"),
            Value::UInt(one.sort_length().into()),
            text(if one.pads_space() { "PAD SPACE" } else { "NO PAD" }),
        ])
    };
    Collation::all().map(line).collect()
}

/// Rows of COLLATION_CHARACTER_SET_APPLICABILITY.
pub fn collation_applicability() -> Rows {
    Collation::all().map(|one| row([text(one.name()), text(one.charset())])).collect()
}

/// Rows of KEYWORDS: the words the grammar knows.
pub fn keywords() -> Rows {
    let line = |word: Keyword| row([text(word.text()), Value::Int(i64::from(word.is_reserved()))]);
    let mut rows: Rows = Keyword::all().map(line).collect();
    rows.sort_by(|one, other| {
        turnstile_values::value::to_text(&one[0]).cmp(&turnstile_values::value::to_text(&other[0]))
    });
    rows
}

/// System variables with their values as text, by name.
pub fn variables(session: &SessionState, global: bool) -> SqlResult<Rows> {
    let scope = if global { VariableScope::Global } else { VariableScope::Default };
    let mut rows = Vec::new();
    for (at, definition) in VARIABLES.iter().enumerate() {
        if global && definition.scope == Scope::Session {
            continue;
        }
        let value = session.variable(at, scope)?;
        rows.push(row([text(definition.name), text(definition.show(&value))]));
    }
    rows.sort_by(|a, b| {
        turnstile_values::value::to_text(&a[0]).cmp(&turnstile_values::value::to_text(&b[0]))
    });
    Ok(rows)
}

/// Rows of GLOBAL_STATUS; of SESSION_STATUS, where a session's counters are given. Without `commands` those
/// of `Com_...` are left out.
pub fn status(
    db: &Observed,
    session: Option<Totals>,
    commands: bool,
    out: &mut RowWriter<'_>,
) -> SqlResult<()> {
    const PUBLIC_KEY: &str = "Caching_sha2_password_rsa_public_key";
    let mut shown = false;
    for (name, value) in crate::status::list(db, session) {
        if !shown && name > PUBLIC_KEY {
            out(&[FieldRef::Text(PUBLIC_KEY), FieldRef::Text(db.status().public_key())])?;
            shown = true;
        }
        if commands || !name.starts_with("Com_") {
            out(&[FieldRef::Text(name), FieldRef::Digits(value)])?;
        }
    }
    Ok(())
}

/// Rows of PLUGINS.
pub fn plugins() -> Rows {
    let line = |name: &str, kind: &str, description: &str| {
        row([
            text(name),
            text("1.0"),
            text("ACTIVE"),
            text(kind),
            text("1.0"),
            Value::Null,
            Value::Null,
            Value::Null,
            text(description),
            text("MIT OR Apache-2.0"),
            text("FORCE"),
        ])
    };
    vec![
        line("mysql_native_password", "AUTHENTICATION", "Native MySQL authentication"),
        line("caching_sha2_password", "AUTHENTICATION", "Caching sha2 authentication"),
        line("InnoDB", "STORAGE ENGINE", "Transactions, row-level locking, crash recovery"),
    ]
}

fn privilege_rows(set: Privileges, database: bool) -> impl Iterator<Item = &'static str> {
    let known = PRIVILEGES_LIST
        .iter()
        .filter(move |(_, one, at_database)| set.has(*one) && (*at_database || !database));
    known.filter(|(_, one, _)| *one != Privileges::GRANT_OPTION).map(|(name, _, _)| *name)
}

fn yes(set: Privileges) -> Value {
    text(if set.has(Privileges::GRANT_OPTION) { "YES" } else { "NO" })
}

/// Rows of USER_PRIVILEGES.
pub fn user_privileges(db: &Catalog, session: &SessionState) -> Rows {
    let mut rows = Vec::new();
    for account in accounts_seen(db, session) {
        let grantee = format!("'{}'@'{}'", account.name.user, account.name.host);
        let mut names: Vec<&str> = privilege_rows(account.global, false).collect();
        let beside = Privileges::DYNAMIC.with(Privileges::DYNAMIC.handed_on()).with(Privileges::GRANT_OPTION);
        if beside.has(account.global) {
            names.insert(0, "USAGE");
        }
        let option = |name: &str| match Privileges::named(name) {
            Some(one) if Privileges::DYNAMIC.has(one) => account.global.has(one.handed_on()),
            _ => account.global.has(Privileges::GRANT_OPTION),
        };
        let line = |name: &str| {
            row([text(&grantee), text("def"), text(name), text(if option(name) { "YES" } else { "NO" })])
        };
        rows.extend(names.into_iter().map(line));
    }
    rows
}

/// Rows of SCHEMA_PRIVILEGES.
pub fn schema_privileges(db: &Catalog, session: &SessionState) -> Rows {
    let mut rows = Vec::new();
    for account in accounts_seen(db, session) {
        let grantee = format!("'{}'@'{}'", account.name.user, account.name.host);
        for (schema, set) in &account.databases {
            let line = |name| row([text(&grantee), text("def"), text(schema), text(name), yes(*set)]);
            rows.extend(privilege_rows(*set, true).map(line));
        }
    }
    rows
}

pub(super) fn accounts_seen(
    db: &Catalog,
    session: &SessionState,
) -> Vec<std::sync::Arc<turnstile_catalog::accounts::Account>> {
    let rights = session.rights();
    let all = rights.may(Privileges::SELECT, Some("mysql"));
    let own = session.identity.lock().account.clone();
    let accounts = db.accounts().list().into_iter();
    accounts.filter(|one| all || one.name == own).collect()
}
