//! SHOW. Most of it is a projection of an information_schema table; LIKE tests the name that it is about,
//! WHERE any column. What monitoring tools ask for all the time is in `show_live.rs`.

mod of_account;
mod of_table;
mod of_view;
mod table;

use std::sync::Arc;

use turnstile_sys::aside;

use super::Session;
use super::show_absent::shown_empty;
use super::show_live::{columns_of, is_live};
use super::statement::Outcome;
use crate::ast::{self, Show, ShowFilter, ShowWhat, TableName, quote_name};
use crate::collation::Collation;
use crate::definition::create_table_text;
use crate::dictionary::Named;
use crate::error::{ErrorKind, SqlError, SqlResult};
use crate::expr::WarningLevel;
use crate::information_schema::{self, catalog};
use crate::session::{rights, show_absent, show_live, statement};
use crate::sink::{ColumnMeta, ResultSink};
use crate::value::{Value, to_text};
use crate::virtual_table::VirtualTable;
use of_account::{create_user_text, grants};
use of_table::{columns, indexes, open_tables, table_status, tables};
use of_view::create_view_text;
pub(super) use of_view::fields_of_view;
pub(super) use table::write_table;
pub use table::{Collected, Table};
use table::{filter_rows, head_with_pattern, one, text};

/// Whether a SHOW is a query of information_schema in MySQL.
fn is_query(what: &ShowWhat) -> bool {
    matches!(
        what,
        ShowWhat::Databases
            | ShowWhat::Tables { .. }
            | ShowWhat::TableStatus(_)
            | ShowWhat::Columns { .. }
            | ShowWhat::Index { .. }
            | ShowWhat::Variables { .. }
            | ShowWhat::Status { .. }
            | ShowWhat::CharacterSets
            | ShowWhat::Collations
            | ShowWhat::OpenTables(_)
            | ShowWhat::Triggers(_)
            | ShowWhat::Events(_)
            | ShowWhat::ProcedureStatus
            | ShowWhat::FunctionStatus
    )
}

/// Whether `sql_select_limit` cuts a SHOW: it is a query, or a list that MySQL makes in the same way.
fn is_limited(what: &ShowWhat) -> bool {
    is_query(what) || matches!(what, ShowWhat::Engines | ShowWhat::Plugins)
}

/// SHOW
pub(super) async fn show(
    session: &mut Session,
    show: &Show,
    params: &[Value],
    out: &mut dyn ResultSink,
) -> SqlResult<Outcome> {
    if is_live(&show.what) {
        // Long for a worker, and only its own client waits for it.
        aside::step().await;
    }
    let most = if is_limited(&show.what) { session.settings.sql_select_limit } else { u64::MAX };
    if show.filter.is_none()
        && most == u64::MAX
        && let Some(outcome) = show_live::show_live(session, &show.what, out)?
    {
        return Ok(outcome);
    }
    let mut table = shown(session, &show.what, params)?;
    match &show.filter {
        None => {}
        Some(ShowFilter::Like(pattern)) => {
            let folded = String::from_utf8_lossy(pattern).to_lowercase();
            // The name that it is about; of tables of several databases the table's.
            let at = usize::from(matches!(show.what, ShowWhat::OpenTables(_)));
            let fits = |row: &Vec<Value>| crate::accounts::like(&folded, &to_text(&row[at]).to_lowercase());
            table.rows.retain(fits);
            head_with_pattern(&mut table, &show.what, pattern);
        }
        Some(ShowFilter::Where(condition)) => filter_rows(session, &mut table, condition, params)?,
    }
    table.rows.truncate(usize::try_from(most).unwrap_or(usize::MAX));
    write_table(&table, out)
}

/// The columns that preparing a SHOW tells: those of a SHOW that is a query of information_schema in
/// MySQL. Of what does not exist none are known; running it is refused.
pub(super) fn show_columns(session: &mut Session, show: &Show, params: usize) -> SqlResult<Vec<ColumnMeta>> {
    if !is_query(&show.what) {
        return Ok(Vec::new());
    }
    let mut table = match columns_of(&show.what) {
        Some(columns) => Table::new(columns),
        None => match shown(session, &show.what, &[]) {
            Ok(table) => table,
            Err(error) if error.kind() == ErrorKind::NoDatabase => return Err(error),
            Err(_) => return Ok(Vec::new()),
        },
    };
    table.rows.clear();
    match &show.filter {
        Some(ShowFilter::Like(pattern)) => head_with_pattern(&mut table, &show.what, pattern),
        Some(ShowFilter::Where(condition)) if params == 0 => {
            filter_rows(session, &mut table, condition, &[])?
        }
        _ => {}
    }
    Ok(table.columns)
}

fn shown(session: &mut Session, what: &ShowWhat, params: &[Value]) -> SqlResult<Table> {
    if let Some(table) = show_live::live_table(session, what)? {
        return Ok(table);
    }
    match what {
        ShowWhat::Databases => {
            let mut table = Table::texts(&["Database"]);
            table.rows = catalog::schema_names(&session.db, &session.state)
                .iter()
                .map(|name| vec![text(name)])
                .collect();
            Ok(table)
        }
        ShowWhat::Tables { full, schema } => tables(session, *full, schema.as_deref()),
        ShowWhat::TableStatus(schema) => table_status(session, schema.as_deref()),
        ShowWhat::OpenTables(schema) => Ok(open_tables(session, schema.as_deref())),
        ShowWhat::Columns { full, extended, table } => columns(session, (*full, *extended), table),
        ShowWhat::Index { extended, table } => indexes(session, *extended, table),
        ShowWhat::CreateTable(name) => {
            let schema = schema_or_current(session, name.schema.as_deref())?;
            if VirtualTable::find(&schema, &name.table)?.is_some() {
                return Err(SqlError::not_supported_yet("SHOW CREATE TABLE of a computed table"));
            }
            if let Some(view) = session.names().view(&schema, &name.table) {
                rights::ask_for_view_text(session, &schema, &name.table)?;
                return Ok(create_view_text(session, &view));
            }
            let found = find_table(session, name)?;
            let mut table = Table::new(&[("Table", 's'), ("Create Table", 'v')]);
            table.push(vec![text(found.name()), text(create_table_text(&found))]);
            Ok(table)
        }
        ShowWhat::CreateView(name) => {
            let schema = schema_or_current(session, name.schema.as_deref())?;
            match session.names().named(&schema, &name.table) {
                Ok(Named::View(view)) => Ok(create_view_text(session, &view)),
                Ok(Named::Table(_)) => Err(SqlError::wrong_object(&schema, &name.table, "VIEW")),
                Err(_) if VirtualTable::find(&schema, &name.table)?.is_some() => {
                    Err(SqlError::not_supported_yet("SHOW CREATE VIEW of a computed table"))
                }
                Err(error) => Err(error),
            }
        }
        ShowWhat::CreateDatabase { name, if_not_exists } => {
            create_database_text(session, name, *if_not_exists)
        }
        ShowWhat::Variables { global } => {
            let mut table = Table::texts(&["Variable_name", "Value"]);
            let which = if *global { VirtualTable::GlobalVariables } else { VirtualTable::SessionVariables };
            table.rows = information_schema::rows(which, &session.db, &session.state, &mut session.charge())?;
            Ok(table)
        }
        ShowWhat::Warnings(limit) => warnings(session, limit.as_ref(), params, false),
        ShowWhat::Errors(limit) => warnings(session, limit.as_ref(), params, true),
        ShowWhat::WarningCount => {
            Ok(one("@@session.warning_count", u64::from(session.state.warnings.count())))
        }
        ShowWhat::ErrorCount => Ok(one("@@session.error_count", session.state.warnings.errors())),
        ShowWhat::Grants { user, roles } => grants(session, user.as_ref(), roles),
        ShowWhat::CreateUser(user) => create_user_text(session, user),
        other => shown_by_server(session, other),
    }
}

/// What the server says about itself, and what it does not have.
fn shown_by_server(session: &Session, what: &ShowWhat) -> SqlResult<Table> {
    let from = |which: VirtualTable, mut table: Table, columns: &[usize]| {
        let rows = information_schema::rows(which, &session.db, &session.state, &mut session.charge())?;
        table.rows =
            rows.into_iter().map(|row| columns.iter().map(|at| row[*at].clone()).collect()).collect();
        Ok(table)
    };
    match what {
        ShowWhat::Engines => {
            let names = ["Engine", "Support", "Comment", "Transactions", "XA", "Savepoints"];
            from(VirtualTable::Engines, Table::texts(&names), &[0, 1, 2, 3, 4, 5])
        }
        ShowWhat::CharacterSets => {
            let columns =
                [("Charset", 's'), ("Description", 's'), ("Default collation", 's'), ("Maxlen", 'n')];
            from(VirtualTable::CharacterSets, Table::new(&columns), &[0, 2, 1, 3])
        }
        ShowWhat::Collations => {
            let columns = [
                ("Collation", 's'),
                ("Charset", 's'),
                ("Id", 'n'),
                ("Default", 's'),
                ("Compiled", 's'),
                ("Sortlen", 'n'),
                ("Pad_attribute", 's'),
            ];
            let mut table = from(VirtualTable::Collations, Table::new(&columns), &[0, 1, 2, 3, 4, 5, 6])?;
            // As without case, so that `_` stands behind the letters.
            table.rows.sort_by_cached_key(|row| to_text(&row[0]).to_ascii_uppercase());
            Ok(table)
        }
        ShowWhat::Plugins => {
            let names = ["Name", "Status", "Type", "Library", "License"];
            from(VirtualTable::Plugins, Table::texts(&names), &[0, 2, 3, 5, 9])
        }
        ShowWhat::CreateOther { kind, name } => show_absent::no_such_program(session, kind, name),
        ShowWhat::Triggers(Some(schema)) => {
            schema_or_current(session, Some(schema))?;
            shown_empty(what)
        }
        ShowWhat::Profiles | ShowWhat::Profile(_) => {
            let named = if matches!(what, ShowWhat::Profiles) { "SHOW PROFILES" } else { "SHOW PROFILE" };
            let error = SqlError::deprecated_syntax(named, "Performance Schema");
            session.state.warnings.push(WarningLevel::Warning, error);
            shown_empty(what)
        }
        other => shown_empty(other),
    }
}

fn schema_or_current(session: &Session, schema: Option<&str>) -> SqlResult<Box<str>> {
    let current = || session.state.schema().map(|schema| (&*schema).into());
    let schema: Box<str> =
        schema.map(Into::into).or_else(current).ok_or_else(SqlError::no_database_selected)?;
    if !VirtualTable::is_schema(&schema) && session.db.dictionary().schema_collation(&schema).is_none() {
        return Err(SqlError::unknown_database(&schema));
    }
    Ok(schema)
}

fn find_table(session: &Session, name: &TableName) -> SqlResult<Arc<crate::dictionary::Table>> {
    let schema = schema_or_current(session, name.schema.as_deref())?;
    session.names().table(&schema, &name.table)
}

fn create_database_text(session: &Session, name: &str, if_not_exists: bool) -> SqlResult<Table> {
    let schema = schema_or_current(session, Some(name))?;
    let collation = session.db.collation_of(&schema);
    let clause = if if_not_exists { "/*!32312 IF NOT EXISTS*/ " } else { "" };
    let named = match collation.is_default() && collation != Collation::DEFAULT {
        true => String::new(),
        false => format!(" COLLATE {}", collation.name()),
    };
    let statement = format!(
        "CREATE DATABASE {clause}{} /*!40100 DEFAULT CHARACTER SET {}{named} */ /*!80016 DEFAULT ENCRYPTION='N' */",
        quote_name(&schema),
        collation.charset(),
    );
    let mut table = Table::texts(&["Database", "Create Database"]);
    table.push(vec![text(&schema), text(statement)]);
    Ok(table)
}

fn warnings(
    session: &Session,
    limit: Option<&ast::Limit>,
    params: &[Value],
    errors_only: bool,
) -> SqlResult<Table> {
    let mut table = Table::new(&[("Level", 's'), ("Code", 'u'), ("Message", 'v')]);
    let number = |expr: &ast::Expr| match statement::evaluate(session, expr, params)? {
        Value::Int(number) => Ok(number.max(0) as usize),
        Value::UInt(number) => Ok(number as usize),
        _ => Err(SqlError::wrong_arguments("LIMIT")),
    };
    let most = limit.map(|limit| number(&limit.count)).transpose()?.unwrap_or(usize::MAX);
    let skipped = limit.and_then(|limit| limit.offset.as_ref()).map(number).transpose()?.unwrap_or(0);
    let list = session.state.warnings.list();
    let wanted = list.iter().filter(|one| !errors_only || one.level == WarningLevel::Error);
    for one in wanted.skip(skipped).take(most) {
        let level = match one.level {
            WarningLevel::Note => "Note",
            WarningLevel::Warning => "Warning",
            WarningLevel::Error => "Error",
        };
        table.push(vec![text(level), Value::Int(one.error.code.into()), text(&one.error.message)]);
    }
    Ok(table)
}
