//! SHOW CREATE VIEW, and the columns of a view.

use super::super::Session;
use super::table::{Table, column_row, text};
use crate::ast::quote_name;
use crate::definition::default_text;
use crate::dictionary::{Column, View};
use crate::error::SqlResult;
use crate::expr::WarningLevel;
use crate::information_schema::{catalog, views};
use crate::mixing::Traits;
use crate::session::ddl;
use crate::sink::{ColumnMeta, KeptPacket, Origin};
use crate::types::column_flag;
use crate::value::Value;

/// The one row of SHOW CREATE VIEW, and of SHOW CREATE TABLE for a view.
pub(super) fn create_view_text(session: &Session, view: &View) -> Table {
    let definition = &view.definition;
    let current = session.state.schema();
    let here = current.as_deref() == Some(&*definition.schema);
    let name = quote_name(&definition.name);
    let name = if here { name } else { format!("{}.{name}", quote_name(&definition.schema)) };
    let names: Vec<String> = definition.columns.iter().map(|column| quote_name(&column.name)).collect();
    let names = if definition.has_names { format!(" ({})", names.join(",")) } else { String::new() };
    let statement = format!(
        "CREATE ALGORITHM={} DEFINER={}@{} SQL SECURITY {} VIEW {name}{names} AS {}{}",
        definition.algorithm.word(),
        quote_name(&definition.definer.user),
        quote_name(&definition.definer.host),
        if definition.invoker { "INVOKER" } else { "DEFINER" },
        view.shown_query(current.as_deref()),
        match definition.check {
            None => "",
            Some(crate::ast::CheckOption::Local) => " WITH LOCAL CHECK OPTION",
            Some(crate::ast::CheckOption::Cascaded) => " WITH CASCADED CHECK OPTION",
        },
    );
    if let Err(invalid) = ddl::columns_now(session, view) {
        session.state.warnings.push(WarningLevel::Warning, invalid);
    }
    let columns =
        [("View", 's'), ("Create View", 'v'), ("character_set_client", 's'), ("collation_connection", 's')];
    let mut table = Table::new(&columns);
    let collation = definition.collation.name();
    table.push(vec![text(&definition.name), text(statement), text(&definition.client), text(collation)]);
    table
}

/// The rows of SHOW COLUMNS.
pub(super) fn view_columns(session: &Session, full: bool, view: &View, table: &mut Table) -> SqlResult<()> {
    let rights = session.state.rights();
    for column in &ddl::columns_now(session, view)? {
        let Some(privileges) = views::column_privileges(&rights, view, column) else { continue };
        let line = [
            text(&column.name),
            text(column.kind.to_string()),
            text(if column.nullable { "YES" } else { "NO" }),
            text(""),
            default_text(column).map_or(Value::Null, text),
            text(catalog::extra(column)),
        ];
        table.push(column_row(full, line, &column.kind, (&privileges, &column.comment)));
    }
    Ok(())
}

/// Its columns as COM_FIELD_LIST tells them.
pub(in crate::session) fn fields_of_view(view: &View) -> Vec<ColumnMeta> {
    let definition = &view.definition;
    let column = |column: &Column| ColumnMeta {
        traits: Traits::of(&column.kind),
        schema: definition.schema.clone(),
        table: definition.name.clone(),
        org_table: definition.name.clone(),
        name: column.name.clone(),
        org_name: column.name.clone(),
        origin: Origin::Column,
        column_type: column.kind.clone(),
        flags: if column.nullable { 0 } else { column_flag::NOT_NULL },
        packet: KeptPacket::default(),
    };
    definition.columns.iter().map(column).collect()
}
