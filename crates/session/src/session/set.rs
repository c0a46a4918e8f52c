//! SET: system variables, user variables, character sets, transaction characteristics, passwords. Also KILL.
//!
//! Whether all items may be set at all, as far as their names, scopes and the rights to global values say, is
//! known before the first value is worked out; then the values are worked out and checked in their order, and
//! set when none is wrong.

mod check;

use std::path::Path;

use turnstile_engine::yield_now::Slice;

use super::Session;
use super::statement::{Outcome, selecting};
use crate::ast::{self, SetItem, VariableScope};
use crate::collation::Collation;
use crate::error::{SqlError, SqlResult};
use crate::expr::{SessionView, VariableKind};
use crate::reads_lock::ReadsLock;
use crate::session::{accounts, persist, rights, statement, transaction};
use crate::status::metrics;
use crate::types::ColumnType;
use crate::value::{Value, to_i64};
use crate::variables::{self, VARIABLES};
use crate::walk;
use check::{check_system, is_known, may_be_set, must_serve_clients};

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
            session.settings_changed();
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
            return Err(SqlError::collation_charset_mismatch(name, found.charset()));
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
    session.settings_changed();
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
    use crate::query_log::place_of;

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
