//! SET: system variables, user variables, character sets, transaction characteristics, passwords. Also KILL.
//!
//! Whether all items may be set at all, as far as their names, scopes and the rights to global values say, is
//! known before the first value is worked out; then the values are worked out and checked in their order, and
//! set when none is wrong.

use std::fs::OpenOptions;
use std::path::Path;

use super::Session;
use super::statement::{Outcome, selecting};
use crate::accounts::{AccountName, roles_named};
use crate::ast::{self, SetItem, VariableScope};
use crate::collation::Collation;
use crate::error::{SqlError, SqlResult};
use crate::expr::{SessionView, SqlMode, VariableKind, WarningLevel};
use crate::query_log::place_of;
use crate::reads_lock::ReadsLock;
use crate::session::{accounts, aside, persist, rights, statement, transaction};
use crate::session_state::check_read;
use crate::status::metrics;
use crate::types::ColumnType;
use crate::value::{Value, to_i64, to_text};
use crate::variables::{self, Definition, Kind, Right, Scope, VARIABLES, right};
use crate::walk;
use turnstile_engine::yield_now::Slice;

/// Items of SET between two looks at the clock.
const ITEMS_AT_ONCE: usize = 32;

/// Whether a function that waits is in an expression.
fn waits(expr: &ast::Expr) -> bool {
    let mut found = matches!(expr, ast::Expr::Function(call) if matches!(&*call.name, "sleep" | "get_lock"));
    walk::children(expr, &mut |child| found |= waits(child));
    found
}

/// SET. All values are worked out and checked before the first is set, so that a wrong one changes
/// nothing.
pub(super) async fn set(session: &mut Session, items: &[SetItem], params: &[Value]) -> SqlResult<()> {
    items.iter().try_for_each(is_known)?;
    items.iter().try_for_each(|item| may_be_set(session, item))?;
    let mut checked = Vec::with_capacity(items.len());
    let mut slice = Slice::default();
    for (nth, item) in items.iter().enumerate() {
        pace_items(session, &mut slice, nth).await?;
        checked.push(match item {
            SetItem::UserVariable { value, .. } => {
                let (value, column) = set_value(session, value, params).await?;
                Checked::Value(value, VariableKind::assigned(&column, session.settings.collation_connection))
            }
            SetItem::SystemVariable { scope, name, value } => {
                let value = match value {
                    Some(expr) => Some(set_value(session, expr, params).await?.0),
                    None => None,
                };
                Checked::System(check_system(session, *scope, name, value)?)
            }
            _ => Checked::Later,
        });
    }
    persist::keep(
        session,
        checked.iter().filter_map(|checked| match checked {
            Checked::System(choice) if persist::is_kept(choice.scope) => Some((choice.at, &choice.value)),
            _ => None,
        }),
    )?;
    for (nth, (item, checked)) in items.iter().zip(checked).enumerate() {
        pace_items(session, &mut slice, nth).await?;
        match (item, checked) {
            (SetItem::UserVariable { name, .. }, Checked::Value(value, kind)) => {
                session.state.set_user_variable(&name.to_lowercase(), value, kind)?;
            }
            (_, Checked::System(choice)) => set_system(session, choice).await?,
            (other, _) => set_other(session, other).await?,
        }
    }
    Ok(())
}

/// Between the items of SET, of which there may be hundreds of thousands.
async fn pace_items(session: &Session, slice: &mut Slice, nth: usize) -> SqlResult<()> {
    if nth.is_multiple_of(ITEMS_AT_ONCE) {
        session.interrupt.check()?;
        slice.breathe().await;
    }
    Ok(())
}

/// The items of SET that are neither user variables nor system variables.
async fn set_other(session: &mut Session, item: &SetItem) -> SqlResult<()> {
    match item {
        SetItem::UserVariable { .. } | SetItem::SystemVariable { .. } => Ok(()),
        SetItem::Names { charset, collation } => set_names(session, charset.as_deref(), collation.as_deref()),
        SetItem::CharacterSet(charset) => {
            let found = charset_collation(charset.as_deref())?;
            must_serve_clients(found)?;
            set_charsets(session, found, &["character_set_client", "character_set_results"]);
            session.settings = session.state.settings();
            Ok(())
        }
        SetItem::Transaction { scope, isolation, read_only } => {
            transaction::set_transaction(session, *scope, *isolation, *read_only)
        }
        SetItem::Password { user, password, replaces } => {
            accounts::set_password(session, user.as_ref(), password, replaces.as_deref()).await
        }
    }
}

/// A value of SET, which may be a sub-query, or wait, and its type.
async fn set_value(
    session: &mut Session,
    expr: &ast::Expr,
    params: &[Value],
) -> SqlResult<(Value, ColumnType)> {
    let statement = match expr {
        expr if waits(expr) || walk::any(expr, &|one| one.is_query()) => {
            selecting(std::slice::from_ref(expr))
        }
        expr => return statement::evaluate_typed(session, expr, params),
    };
    let mut rows = super::show::Collected::default();
    statement::row_statement(session, (&statement, ReadsLock::Always), params, &mut rows).await?;
    let value = rows.rows.into_iter().next().and_then(|row| row.into_iter().next()).unwrap_or_default();
    Ok((value, rows.types.into_iter().next().unwrap_or(ColumnType::Null)))
}

/// Fails unless a system variable can be set in this scope, and a global one by this account.
fn may_be_set(session: &mut Session, item: &SetItem) -> SqlResult<()> {
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
fn check_system(
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

/// Sets a system variable to what was checked.
async fn set_system(session: &mut Session, choice: Choice) -> SqlResult<()> {
    let Choice { at, scope, value } = choice;
    let definition = &VARIABLES[at];
    if scope == VariableScope::PersistOnly {
        return Ok(());
    }
    if !matches!(scope, VariableScope::Default | VariableScope::Session) {
        if let (Some(action), Value::Str(pattern)) = (metrics::Action::of(definition.name), &value) {
            session.db.meters().apply(&session.db, action, pattern);
        }
        session.db.apply_global(definition.name, &value);
        let on = value == Value::Int(1);
        session.db.globals().set(at, value);
        let logs = ["general_log", "general_log_file", "slow_query_log", "slow_query_log_file", "log_output"];
        if logs.contains(&definition.name) {
            let followed = session.db.query_log().follow(session.db.globals());
            return followed.map_err(|error| SqlError::unknown_error(error.to_string()));
        }
        match (definition.name, on) {
            ("super_read_only", true) => follow_global(session, "read_only", true),
            ("read_only", false) => follow_global(session, "super_read_only", false),
            ("read_only" | "super_read_only", _) => {}
            _ => return Ok(()),
        }
        session.db.read_only_changed();
        return Ok(());
    }
    if definition.name == "autocommit" && value == Value::Int(1) && !session.settings.autocommit {
        transaction::commit(session).await?;
    }
    follow(session, definition.name, &value);
    session.state.set_variable(at, value);
    session.settings_changed();
    Ok(())
}

/// Sets a global switch that goes with another.
fn follow_global(session: &Session, name: &str, on: bool) {
    if let Some(at) = variables::find(name) {
        session.db.globals().set(at, Value::boolean(on));
    }
}

/// Character set and collation variables that go together.
fn follow(session: &mut Session, name: &str, value: &Value) {
    let Value::Str(text) = value else { return };
    let set = |name: &str, value: &str| {
        if let Some(at) = variables::find(name) {
            session.state.set_variable(at, Value::text(value));
        }
    };
    match (name, Collation::default_of_charset(text), Collation::by_name(text)) {
        ("character_set_connection", Some(found), _) => set("collation_connection", found.name()),
        ("collation_connection", _, Some(found)) => set("character_set_connection", found.charset()),
        ("character_set_server", Some(found), _) => set("collation_server", found.name()),
        ("collation_server", _, Some(found)) => set("character_set_server", found.charset()),
        _ => {}
    }
}

fn set_names(session: &mut Session, charset: Option<&str>, collation: Option<&str>) -> SqlResult<()> {
    let mut found = charset_collation(charset)?;
    if let Some(name) = collation {
        let chosen = Collation::by_name(name).ok_or_else(|| SqlError::unknown_collation(name))?;
        if chosen.charset() != found.charset() {
            let text = format!("COLLATION '{name}' is not valid for CHARACTER SET '{}'", found.charset());
            return Err(SqlError::new(1253, b"42000", text));
        }
        found = chosen;
    }
    must_serve_clients(found)?;
    set_collation(session, found.id());
    Ok(())
}

/// What the client speaks, by the id of a collation; unknown ids mean the default.
pub(super) fn set_collation(session: &mut Session, id: u16) {
    let collation = Collation::by_id(id).filter(|found| found.set().serves_clients());
    let collation = collation.unwrap_or(Collation::DEFAULT);
    set_charsets(
        session,
        collation,
        &["character_set_client", "character_set_connection", "character_set_results"],
    );
    if let Some(at) = variables::find("collation_connection") {
        session.state.set_variable(at, Value::text(collation.name()));
    }
    session.settings = session.state.settings();
}

fn set_charsets(session: &Session, collation: Collation, names: &[&str]) {
    for at in names.iter().filter_map(|name| variables::find(name)) {
        session.state.set_variable(at, Value::text(collation.charset()));
    }
}

/// KILL
pub(super) fn kill(session: &mut Session, kill: &ast::Kill, params: &[Value]) -> SqlResult<Outcome> {
    let value = statement::evaluate(session, &kill.id, params)?;
    let id = statement::with_eval(session, params, |eval| to_i64(&value, eval))? as u64;
    let found = session.db.registry().find(id).ok_or_else(|| SqlError::no_such_thread(id))?;
    let own_user = found.shown().names.user() == session.entry.shown().names.user();
    if !own_user {
        rights::may_kill(session, id)?;
    }
    rights::may_end(session, &found)?;
    if kill.query_only {
        found.interrupt.kill_query();
    } else {
        found.interrupt.kill_connection();
    }
    if found.id == session.entry.id {
        return Err(SqlError::query_interrupted());
    }
    Ok(Outcome::default())
}

fn definition_of(name: &str) -> SqlResult<&'static Definition> {
    let at = variables::find(name).ok_or_else(|| SqlError::unknown_system_variable(name))?;
    Ok(&VARIABLES[at])
}

/// Fails if an item names a variable that there is not, or its value reads one that there is not so: that is
/// told before anything else.
fn is_known(item: &SetItem) -> SqlResult<()> {
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
fn must_serve_clients(collation: Collation) -> SqlResult<()> {
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

/// A system variable and the value it is to have, in normal form.
struct Choice {
    at: usize,
    scope: VariableScope,
    value: Value,
}

/// An item of SET before anything is set.
enum Checked {
    Value(Value, Option<VariableKind>),
    System(Choice),
    /// Checked when its turn comes.
    Later,
}

fn charset_collation(charset: Option<&str>) -> SqlResult<Collation> {
    match charset {
        None => Ok(Collation::DEFAULT),
        Some(name) => {
            Collation::default_of_charset(name).ok_or_else(|| SqlError::unknown_character_set(name))
        }
    }
}

/// Whether a path leads to a file of the data directory that is no log: a log's lines at the end of a data
/// file would damage it.
fn is_file_of_ours(datadir: &str, place: &Path) -> bool {
    let place = std::fs::canonicalize(place).unwrap_or_else(|_| place.into());
    let folder = place.parent().and_then(|folder| std::fs::canonicalize(folder).ok());
    let Ok(ours) = std::fs::canonicalize(datadir) else { return false };
    folder.is_none_or(|folder| folder.starts_with(ours)) && place.extension().is_none_or(|kind| kind != "log")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_files_are_no_logs() {
        let folder = std::env::temp_dir().join(format!("turnstile-set-{}", std::process::id()));
        std::fs::create_dir_all(folder.join("data")).expect("a folder of ours");
        std::fs::write(folder.join("data/data.ts"), "pages").expect("a folder of ours");
        std::os::unix::fs::symlink(folder.join("data/data.ts"), folder.join("alias.log"))
            .expect("a folder of ours");
        let data = folder.join("data");
        let ours = |name: &str| {
            is_file_of_ours(&data.display().to_string(), &place_of(&data.display().to_string(), name))
        };
        for name in ["data.ts", "redo", "../data/data.ts", "../alias.log"] {
            assert!(ours(name), "{name}");
        }
        for name in ["slow.log", "../slow", "../slow.txt"] {
            assert!(!ours(name), "{name}");
        }
        std::fs::remove_dir_all(folder).expect("a folder of ours");
    }
}
