//! SHOW of tables, their columns and their keys.

use std::sync::Arc;

use super::super::Session;
use super::of_view::view_columns;
use super::table::{Table, column_row, text};
use super::{find_table, schema_or_current};
use crate::ast::TableName;
use crate::definition::default_text;
use crate::error::SqlResult;
use crate::information_schema::{self, Sought, catalog};
use crate::types::ColumnType;
use crate::value::Value;
use crate::virtual_table::VirtualTable;

pub(super) fn tables(session: &Session, full: bool, schema: Option<&str>) -> SqlResult<Table> {
    let schema = schema_or_current(session, schema)?;
    // MySQL looks information_schema up by the name that it has in lower case.
    let schema: Box<str> = match VirtualTable::is_schema(&schema) {
        true => schema.to_ascii_lowercase().into(),
        false => schema,
    };
    let name = format!("Tables_in_{schema}");
    let mut table = Table::texts(&[&*name, "Table_type"][..1 + usize::from(full)]);
    let mut push = |name: &str, kind: &str| {
        table.rows.push(if full { vec![text(name), text(kind)] } else { vec![text(name)] });
    };
    let own = |one: &VirtualTable| one.schema().eq_ignore_ascii_case(&schema);
    let mut computed: Vec<VirtualTable> =
        VirtualTable::all_visible(session.state.rights()).filter(own).collect();
    computed.sort_by_cached_key(|one| one.name().to_ascii_lowercase());
    computed.into_iter().for_each(|one| push(one.name(), one.table_type()));
    let rights = session.state.rights();
    let (tables, views) = (session.db.dictionary().tables(&schema), session.db.dictionary().views(&schema));
    let mut names: Vec<(&str, &str)> = tables.iter().map(|one| (one.name(), "BASE TABLE")).collect();
    names.extend(views.iter().map(|one| (&*one.definition.name, "VIEW")));
    names.retain(|(name, _)| rights.may_see_table(&schema, name));
    names.sort_unstable();
    names.into_iter().for_each(|(name, kind)| push(name, kind));
    Ok(table)
}

/// SHOW OPEN TABLES: the dictionary keeps all tables open. `In_use`: the transactions and sessions that
/// hold a table.
pub(super) fn open_tables(session: &Session, schema: Option<&str>) -> Table {
    let mut table = Table::new(&[("Database", 's'), ("Table", 's'), ("In_use", 'n'), ("Name_locked", 'n')]);
    let here =
        |one: &Arc<crate::dictionary::Table>| schema.is_none_or(|schema| *schema == *one.definition.schema);
    for one in catalog::all_tables(&session.db, &session.state, &Sought::ALL).iter().filter(|one| here(one)) {
        let in_use = i64::try_from(one.mdl.users()).unwrap_or(i64::MAX);
        let names = [text(&one.definition.schema), text(one.name())];
        table.rows.push(names.into_iter().chain([Value::Int(in_use), Value::Int(0)]).collect());
    }
    table
}

pub(super) fn table_status(session: &Session, schema: Option<&str>) -> SqlResult<Table> {
    let schema = schema_or_current(session, schema)?;
    let columns = [
        ("Name", 's'),
        ("Engine", 's'),
        ("Version", 'n'),
        ("Row_format", 's'),
        ("Rows", 'n'),
        ("Avg_row_length", 'n'),
        ("Data_length", 'n'),
        ("Max_data_length", 'n'),
        ("Index_length", 'n'),
        ("Data_free", 'n'),
        ("Auto_increment", 'n'),
        ("Create_time", 'd'),
        ("Update_time", 'd'),
        ("Check_time", 'd'),
        ("Collation", 's'),
        ("Checksum", 'n'),
        ("Create_options", 's'),
        ("Comment", 's'),
    ];
    let mut table = Table::new(&columns);
    let wanted = text(&schema);
    let rows =
        information_schema::rows(VirtualTable::Tables, &session.db, &session.state, &mut session.charge())?;
    let shown = [2, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20];
    let own = rows.into_iter().filter(|row| row[1] == wanted);
    table.rows = own.map(|row| shown.iter().map(|at| row[*at].clone()).collect()).collect();
    Ok(table)
}

/// SHOW COLUMNS, FULL or EXTENDED: with the columns of keys over expressions and those of the engine.
pub(super) fn columns(
    session: &Session,
    (full, extended): (bool, bool),
    name: &TableName,
) -> SqlResult<Table> {
    let columns: &[(&str, char)] = if full {
        &[
            ("Field", 's'),
            ("Type", 't'),
            ("Collation", 's'),
            ("Null", 's'),
            ("Key", 'k'),
            ("Default", 't'),
            ("Extra", 's'),
            ("Privileges", 's'),
            ("Comment", 't'),
        ]
    } else {
        &[("Field", 's'), ("Type", 't'), ("Null", 's'), ("Key", 'k'), ("Default", 't'), ("Extra", 's')]
    };
    let mut table = Table::new(columns);
    let schema = schema_or_current(session, name.schema.as_deref())?;
    if let Some(found) = VirtualTable::find(&schema, &name.table)? {
        for (name, kind, nullable) in found.columns() {
            let null = text(if nullable { "YES" } else { "NO" });
            table.push(column_row(
                full,
                [text(name), text(kind.to_string()), null, text(""), Value::Null, text("")],
                &kind,
                ("select", ""),
            ));
        }
        return Ok(table);
    }
    if let Some(view) = session.names().view(&schema, &name.table) {
        view_columns(session, full, &view, &mut table)?;
        return Ok(table);
    }
    let found = find_table(session, name)?;
    let rights = session.state.rights();
    let shown = if extended { found.columns() } else { found.named_columns() };
    for (at, column) in shown.iter().enumerate() {
        let Some(privileges) = catalog::column_privileges(&rights, &found, column) else { continue };
        let line = [
            text(&column.name),
            text(column.kind.to_string()),
            text(if column.nullable { "YES" } else { "NO" }),
            text(catalog::key_mark(&found, at)),
            default_text(column).map_or(Value::Null, text),
            text(catalog::extra(column)),
        ];
        table.push(column_row(full, line, &column.kind, (&privileges, &column.comment)));
    }
    for name in catalog::engine_columns(&found).iter().filter(|_| extended) {
        let line = [text(name), text(""), text("NO"), text(""), Value::Null, text("")];
        table.push(column_row(full, line, &ColumnType::Null, ("select,insert,update,references", "")));
    }
    Ok(table)
}

/// SHOW INDEX; EXTENDED with what the engine adds to keys. What is computed has none, nor has a view.
pub(super) fn indexes(session: &Session, extended: bool, name: &TableName) -> SqlResult<Table> {
    let schema = schema_or_current(session, name.schema.as_deref())?;
    let is_view = session.names().view(&schema, &name.table).is_some();
    let found = match VirtualTable::find(&schema, &name.table)? {
        _ if is_view => None,
        Some(_) => None,
        None => Some(find_table(session, name)?),
    };
    let columns = [
        ("Table", 's'),
        ("Non_unique", 'n'),
        ("Key_name", 's'),
        ("Seq_in_index", 'n'),
        ("Column_name", 's'),
        ("Collation", 's'),
        ("Cardinality", 'n'),
        ("Sub_part", 'n'),
        ("Packed", 's'),
        ("Null", 's'),
        ("Index_type", 's'),
        ("Comment", 's'),
        ("Index_comment", 's'),
        ("Visible", 's'),
        ("Expression", 's'),
    ];
    let mut table = Table::new(&columns);
    let Some(found) = found else { return Ok(table) };
    let rows = match extended {
        true => catalog::extended_statistics_of(&session.db, &found),
        false => catalog::statistics_of(&session.db, &[found]),
    };
    let shown = [2, 3, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17];
    table.rows = rows.into_iter().map(|row| shown.iter().map(|at| row[*at].clone()).collect()).collect();
    Ok(table)
}
