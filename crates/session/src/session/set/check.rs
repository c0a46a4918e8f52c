//! Whether a variable may be set: its name, its scope, the right to it, and the value.

use std::fs::OpenOptions;

use super::super::Session;
use super::{Choice, is_file_of_ours};
use crate::accounts::{AccountName, roles_named};
use crate::ast::{self, SetItem, VariableScope};
use crate::collation::Collation;
use crate::error::{SqlError, SqlResult};
use crate::expr::{SqlMode, WarningLevel};
use crate::query_log::place_of;
use crate::session::{aside, persist, rights};
use crate::session_state::check_read;
use crate::status::metrics;
use crate::value::{Value, to_text};
use crate::variables::{self, Definition, Kind, Right, Scope, VARIABLES, right};
use crate::walk;

/// Fails unless a system variable can be set in this scope, and a global one by this account.
pub(super) fn may_be_set(session: &mut Session, item: &SetItem) -> SqlResult<()> {
    let SetItem::SystemVariable { scope, name, .. } = item else { return Ok(()) };
    persist::check_scope(definition_of(name)?, *scope, name)?;
    match scope {
        VariableScope::Default | VariableScope::Session => Ok(()),
        VariableScope::Global | VariableScope::Persist => rights::ask_to_set(session, right::GLOBAL),
        VariableScope::PersistOnly => rights::ask_for_next_start(session),
    }
}

/// Fails unless the account has what a variable asks for in this scope beside what all global values
/// take.
fn ask_for_variable(
    session: &mut Session,
    right: Right,
    scope: VariableScope,
    is_default: bool,
    first: bool,
) -> SqlResult<()> {
    let asked = match scope {
        VariableScope::Default | VariableScope::Session => right.of_session(),
        VariableScope::Global | VariableScope::Persist => right.beside_global(),
        VariableScope::PersistOnly => None,
    };
    let now = right.is_asked_first() == first && (right.guards_default() || !is_default);
    asked.filter(|_| now).map_or(Ok(()), |asked| rights::ask_to_set(session, asked))
}

/// Whether a system variable may be set so, and to what; nothing is set.
pub(super) fn check_system(
    session: &mut Session,
    scope: VariableScope,
    name: &str,
    value: Option<Value>,
) -> SqlResult<Choice> {
    let at = variables::find(name).ok_or_else(|| SqlError::unknown_system_variable(name))?;
    let definition = &VARIABLES[at];
    let global = !matches!(scope, VariableScope::Default | VariableScope::Session);
    let is_default = value.is_none();
    ask_for_variable(session, definition.right, scope, is_default, true)?;
    if let (Some(value), true) = (&value, definition.is_fixed_in_sessions()) {
        definition.accept(value)?;
    }
    if !global && definition.is_fixed_in_sessions() {
        return Err(SqlError::session_variable_read_only(definition.name));
    }
    let before = if global { session.db.globals().get(at) } else { session.state.variables.lock().get(at) };
    let refused_before = value.as_ref().is_some_and(|value| definition.accept_over(&before, value).is_err());
    if let Some(warning) = definition.deprecation().filter(|_| !refused_before) {
        session.state.warnings.push(WarningLevel::Warning, warning);
    }
    let value = match value {
        Some(value) => {
            let (accepted, cut) = definition.accept_over(&before, &value)?;
            warn_of_modes(session, definition.name, &accepted);
            aside::warn_of(session, definition.deprecated_name(&value, &accepted).as_slice());
            if let Some(warning) = definition.warning_of(&accepted) {
                session.state.warnings.push(WarningLevel::Warning, warning);
            }
            if cut && session.settings.sql_mode.has(SqlMode::STRICT_ALL_TABLES) {
                return Err(SqlError::wrong_value_for_variable(definition.name, to_text(&value)));
            }
            if cut {
                let error = SqlError::truncated_wrong_value(definition.name, to_text(&value));
                session.state.warnings.push(WarningLevel::Warning, error);
            }
            accepted
        }
        None if definition.has_no_default() => {
            return Err(SqlError::no_default_for_variable(name.to_ascii_lowercase()));
        }
        None if !global && definition.scope == Scope::Both => session.db.globals().get(at),
        None => definition.parse(definition.default)?,
    };
    ask_for_variable(session, definition.right, scope, is_default, false)?;
    check_log_file(session, definition.name, &value)?;
    if matches!(definition.name, "read_only" | "super_read_only") && scope != VariableScope::PersistOnly {
        check_nothing_open(session)?;
    }
    definition.check_possible(&value)?;
    if let Some(warning) = definition.promises_nothing(Some(&before), &value) {
        session.state.warnings.push(WarningLevel::Warning, warning);
    }
    if definition.name == "innodb_commit_concurrency" && scope != VariableScope::PersistOnly {
        stays_limited_or_not(&session.db.globals().get(at), &value)?;
    }
    if let (Some(action), Value::Str(pattern)) = (metrics::Action::of(definition.name), &value) {
        action.check(pattern)?;
    }
    if definition.kind == Kind::Roles {
        check_mandatory_roles(session, &value)?;
    }
    Ok(Choice { at, scope, value })
}

/// Who holds SYSTEM_USER is no role of everybody.
fn check_mandatory_roles(session: &Session, value: &Value) -> SqlResult<()> {
    let accounts = session.db.accounts();
    let named = roles_named(&to_text(value)).unwrap_or_default();
    let guarded = |name: &&AccountName| accounts.find(name).is_some_and(|one| accounts.is_guarded(&one));
    match named.iter().find(guarded) {
        Some(role) => Err(SqlError::mandatory_role_of_system(role.quoted())),
        None => Ok(()),
    }
}

/// What MySQL says of an `sql_mode`: strictness and the modes about zero dates and division belong
/// together, and one is to go.
fn warn_of_modes(session: &Session, name: &str, value: &Value) {
    const TOGETHER: [&str; 3] = ["NO_ZERO_IN_DATE", "NO_ZERO_DATE", "ERROR_FOR_DIVISION_BY_ZERO"];
    if name != "sql_mode" {
        return;
    }
    let text = to_text(value);
    let has = |mode: &str| text.split(',').any(|one| one == mode);
    let warn = |error| session.state.warnings.push(WarningLevel::Warning, error);
    let strict = has("STRICT_TRANS_TABLES") || has("STRICT_ALL_TABLES");
    let together = TOGETHER.into_iter().filter(|mode| has(mode)).count();
    if together != if strict { TOGETHER.len() } else { 0 } {
        warn(SqlError::modes_belong_together());
    }
    if has("PAD_CHAR_TO_FULL_LENGTH") {
        warn(SqlError::deprecated_mode("PAD_CHAR_TO_FULL_LENGTH"));
    }
}

/// Fails unless the file of a log can be written, if this is about one that would be.
fn check_log_file(session: &Session, name: &str, value: &Value) -> SqlResult<()> {
    let file = match name {
        "general_log" | "general_log_file" => "general_log_file",
        "slow_query_log" | "slow_query_log_file" => "slow_query_log_file",
        _ => return Ok(()),
    };
    let globals = session.db.globals();
    let named = if name == file { value.clone() } else { globals.named(file) };
    let (datadir, named) = (to_text(&globals.named("datadir")), to_text(&named));
    let refused = || SqlError::wrong_value_for_variable(file, &named);
    // Files that a server reads its options from are none for a log.
    if named.is_empty() || named.ends_with(".cnf") || named.ends_with(".ini") {
        return Err(refused());
    }
    if name != file && *value == Value::Int(0) {
        return Ok(());
    }
    let place = place_of(&datadir, &named);
    if datadir.is_empty() && place.is_relative() || is_file_of_ours(&datadir, &place) {
        return Err(refused());
    }
    OpenOptions::new().create(true).append(true).open(place).map(drop).map_err(|_| refused())
}

/// The writes of one's own open transaction or locked tables would be cut off.
fn check_nothing_open(session: &Session) -> SqlResult<()> {
    let written = session.open.as_ref().is_some_and(|open| open.txn.id().is_some());
    if written || session.table_locks.is_some() {
        return Err(SqlError::lock_or_active_transaction());
    }
    Ok(())
}

fn definition_of(name: &str) -> SqlResult<&'static Definition> {
    let at = variables::find(name).ok_or_else(|| SqlError::unknown_system_variable(name))?;
    Ok(&VARIABLES[at])
}

/// Fails if an item names a variable that there is not, or its value reads one that there is not so: that is
/// told before anything else.
pub(super) fn is_known(item: &SetItem) -> SqlResult<()> {
    match item {
        SetItem::SystemVariable { name, value, .. } => {
            definition_of(name)?;
            value.as_ref().map_or(Ok(()), reads_known)
        }
        SetItem::UserVariable { value, .. } => reads_known(value),
        SetItem::Names { .. } | SetItem::CharacterSet(_) | SetItem::Transaction { .. } => Ok(()),
        SetItem::Password { .. } => Ok(()),
    }
}

fn reads_known(expr: &ast::Expr) -> SqlResult<()> {
    if let ast::Expr::SystemVariable { scope, name } = expr {
        return check_read(definition_of(name)?, *scope);
    }
    let mut told = Ok(());
    walk::children(expr, &mut |child| {
        if told.is_ok() {
            told = reads_known(child);
        }
    });
    told
}

/// Statements come in a set whose ASCII characters are their own bytes.
pub(super) fn must_serve_clients(collation: Collation) -> SqlResult<()> {
    match collation.set().serves_clients() {
        true => Ok(()),
        false => Err(SqlError::wrong_value_for_variable("character_set_client", collation.charset())),
    }
}

/// Commits under way are either counted or not: the limit of them cannot be switched between none and some.
fn stays_limited_or_not(old: &Value, new: &Value) -> SqlResult<()> {
    let unlimited = |value: &Value| matches!(value, Value::UInt(0) | Value::Int(0));
    if unlimited(old) == unlimited(new) {
        return Ok(());
    }
    let number = if let Value::UInt(number) = new { *number } else { 0 };
    Err(SqlError::wrong_value_for_variable("innodb_commit_concurrency", number.to_string()))
}
