//! What a statement says beside its tree: optimizer hints, and clauses that change nothing. Hints that set
//! something do so for the one statement; what is wrong with a hint is a warning.

use std::sync::Arc;

use super::Session;
use crate::ast::{Decision, Statement};
use crate::error::{SqlError, SqlResult};
use crate::expr::WarningLevel;
use crate::parser::{Aside, Deprecated, Hint};
use crate::session::statement::Outcome;
use crate::session::{finish, rights};
use crate::value::Value;
use crate::variables::{self, Kind, SessionVariables, VARIABLES};

/// Variables that SET_VAR may set.
const HINTABLE: &[&str] = &[
    "auto_increment_increment",
    "auto_increment_offset",
    "big_tables",
    "bulk_insert_buffer_size",
    "cte_max_recursion_depth",
    "default_tmp_storage_engine",
    "div_precision_increment",
    "end_markers_in_json",
    "eq_range_index_dive_limit",
    "foreign_key_checks",
    "group_concat_max_len",
    "insert_id",
    "join_buffer_size",
    "lock_wait_timeout",
    "max_error_count",
    "max_execution_time",
    "max_heap_table_size",
    "max_join_size",
    "max_length_for_sort_data",
    "max_seeks_for_key",
    "max_sort_length",
    "optimizer_prune_level",
    "optimizer_search_depth",
    "optimizer_switch",
    "range_optimizer_max_mem_size",
    "read_buffer_size",
    "read_rnd_buffer_size",
    "sort_buffer_size",
    "sql_auto_is_null",
    "sql_big_selects",
    "sql_buffer_result",
    "sql_mode",
    "sql_require_primary_key",
    "sql_safe_updates",
    "sql_select_limit",
    "time_zone",
    "timestamp",
    "tmp_table_size",
    "unique_checks",
    "updatable_views_with_limit",
    "windowing_use_high_precision",
];

/// Hints that forbid ways of running a query that are never taken here.
const OBEYED: &[&str] = &["NO_BKA", "NO_ICP", "NO_MRR", "NO_SKIP_SCAN"];

/// Heeds what a statement says beside its tree. What comes back is to be given to [`end_aside`].
pub(super) fn begin_aside(
    session: &mut Session,
    aside: &Aside,
    statement: &Statement,
) -> Option<Box<SessionVariables>> {
    warn_of(session, &aside.deprecated);
    let table = table_of(statement);
    for clause in &aside.clauses {
        if let Decision::Told(level, error) = clause.decision(table) {
            session.state.warnings.push(level, error);
        }
    }
    session.finishing.begin(session.open.as_ref().is_some_and(|open| !open.autocommit));
    let mut saved = None;
    let (mut limit_ms, mut named, mut set) = (None, false, Vec::<&str>::new());
    for hint in &aside.hints {
        let told = match hint {
            Hint::Wrong(complaint) => Err(SqlError::wrong_hint(complaint)),
            Hint::MaxExecutionTime(..) if !is_select(statement) => Err(SqlError::execution_time_not_here()),
            Hint::MaxExecutionTime(_, false) => Err(SqlError::execution_time_not_here()),
            Hint::MaxExecutionTime(ms, true) if limit_ms.is_some() => {
                Err(SqlError::conflicting_hint(format!("MAX_EXECUTION_TIME({ms})")))
            }
            Hint::MaxExecutionTime(ms, true) => {
                limit_ms = Some(*ms);
                Ok(())
            }
            Hint::SetVariable(name, value) if set.iter().any(|known| known.eq_ignore_ascii_case(name)) => {
                Err(SqlError::conflicting_hint(format!("SET_VAR({name}={value})")))
            }
            Hint::SetVariable(name, value) => {
                set.push(name);
                saved.get_or_insert_with(|| Box::new(session.state.variables.lock().clone()));
                set_by_hint(session, name, value)
            }
            Hint::Finish(what, first) => session.finishing.note(*what, *first, statement),
            Hint::ResourceGroup(name) => Err(SqlError::resource_group_missing(name)),
            Hint::BlockName(name) if named => Err(SqlError::conflicting_hint(format!("QB_NAME(`{name}`)"))),
            Hint::BlockName(_) => {
                named = true;
                Ok(())
            }
            // It forbids what is never done here.
            Hint::Heeded => Ok(()),
            Hint::Unresolved(name, hint) => Err(SqlError::unresolved_in_hint(name, hint)),
            Hint::NoBlock(name, hint) => Err(SqlError::no_block_of_hint(name, hint)),
            Hint::Conflict(hint) => Err(SqlError::conflicting_hint(hint)),
            Hint::Advice(name, _) if OBEYED.contains(&&**name) => Ok(()),
            // Advice about how to find rows, which never changes what is found.
            Hint::Advice(name, _) => Err(SqlError::hint_without_effect(name)),
        };
        if let Err(error) = told {
            session.state.warnings.push(WarningLevel::Warning, error);
        }
    }
    if saved.is_some() {
        session.settings_changed();
    }
    if let Some(ms) = limit_ms {
        saved.get_or_insert_with(|| Box::new(session.state.variables.lock().clone()));
        Arc::make_mut(&mut session.settings).max_execution_ms = ms;
    }
    saved
}

/// Warns of old names.
pub(super) fn warn_of(session: &mut Session, names: &[Deprecated]) {
    for name in names {
        let of_variable = |name: &str| VARIABLES[variables::find(name)?].deprecated_when_read();
        if let Some(warning) = name.warning(of_variable) {
            session.state.warnings.push(WarningLevel::Warning, warning);
        }
    }
}

/// Gives the session its variables back, and ends the transaction if that is what the statement says.
pub(super) async fn end_aside(
    session: &mut Session,
    saved: Option<Box<SessionVariables>>,
    outcome: SqlResult<Outcome>,
) -> SqlResult<Outcome> {
    if let Some(saved) = saved {
        session.state.restore_variables(*saved);
        session.settings_changed();
    }
    let finishing = std::mem::take(&mut session.finishing);
    match finishing.ends_something() {
        true => Box::pin(finish::end(session, finishing, outcome)).await,
        false => outcome,
    }
}

fn set_by_hint(session: &mut Session, name: &str, value: &str) -> SqlResult<()> {
    let at = variables::find(name).ok_or_else(|| SqlError::unresolved_hint_name(name))?;
    let definition = &VARIABLES[at];
    if !HINTABLE.contains(&definition.name) {
        return Err(SqlError::not_hintable_variable(definition.name));
    }
    let before = session.state.variables.lock().get(at);
    let (accepted, cut) = match definition.kind {
        Kind::Switches(_) => definition.accept_over(&before, &Value::text(value))?,
        _ => definition.parse_option(value)?,
    };
    if let Some(asked) = definition.right.of_session() {
        rights::ask_to_set(session, asked)?;
    }
    definition.check_possible(&accepted)?;
    let warning = definition.promises_nothing(Some(&before), &accepted);
    session.state.set_variable(at, accepted);
    if let Some(warning) = warning {
        session.state.warnings.push(WarningLevel::Warning, warning);
    }
    if cut { Err(SqlError::truncated_wrong_value(definition.name, value)) } else { Ok(()) }
}

fn is_select(statement: &Statement) -> bool {
    match statement {
        Statement::Select(_) => true,
        Statement::Explain(explain) => {
            matches!(&explain.target, crate::ast::ExplainTarget::Statement(statement) if is_select(statement))
        }
        _ => false,
    }
}

/// The table that a definition is about.
fn table_of(statement: &Statement) -> &str {
    match statement {
        Statement::CreateTable(create) => &create.name.table,
        Statement::AlterTable(alter) => &alter.name.table,
        Statement::CreateIndex(create) => &create.table.table,
        Statement::DropIndex { table, .. } => &table.table,
        _ => "",
    }
}
