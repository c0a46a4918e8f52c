//! Tables about views, and what tables about tables say of them.

use std::sync::Arc;

use super::catalog::{data_type, extra, lengths, moment};
use super::sought::Sought;
use super::{count, row, text};
use turnstile_catalog::accounts::{Privileges, Rights};
use turnstile_catalog::catalog::Catalog;
use turnstile_catalog::definition::default_text;
use turnstile_catalog::dictionary::{Column, View};
use turnstile_catalog::session_state::SessionState;
use turnstile_syntax::ast::CheckOption;
use turnstile_values::value::Value;

type Rows = Vec<Vec<Value>>;

/// The views that a session may see.
pub fn all_views(db: &Catalog, session: &SessionState, sought: &Sought) -> Vec<Arc<View>> {
    let rights = session.rights();
    let names = db
        .dictionary()
        .schema_names()
        .into_iter()
        .filter(|name| sought.takes_schema(name) && rights.may_see(name));
    let views = names.flat_map(|name| db.dictionary().views(&name));
    let views = views.filter(|view| sought.takes_table(&view.definition.name));
    views.filter(|view| rights.may_see_table(&view.definition.schema, &view.definition.name)).collect()
}

/// Rows of TABLES.
pub(super) fn as_tables(db: &Catalog, session: &SessionState, sought: &Sought) -> Rows {
    let line = |view: &Arc<View>| {
        let definition = &view.definition;
        let mut line = vec![text("def"), text(&definition.schema), text(&definition.name), text("VIEW")];
        line.resize(14, Value::Null);
        line.push(moment(definition.created));
        line.resize(20, Value::Null);
        line.push(text("VIEW"));
        line
    };
    all_views(db, session, sought).iter().map(line).collect()
}

/// Rows of COLUMNS.
pub(super) fn as_columns(db: &Catalog, session: &SessionState, sought: &Sought) -> Rows {
    let (mut rows, rights) = (Rows::new(), session.rights());
    for view in all_views(db, session, sought) {
        for (at, column) in view.definition.columns.iter().enumerate() {
            if let Some(privileges) = column_privileges(&rights, &view, column) {
                rows.push(column_row(&view, at, column, &privileges));
            }
        }
    }
    rows
}

/// What an account holds of what can be held on a column; None if nothing.
pub fn column_privileges(rights: &Rights, view: &View, column: &Column) -> Option<String> {
    let held = rights.on_column(&view.definition.schema, &view.definition.name, &column.name);
    let held = Privileges(held.0 & Privileges::all_of_columns().0);
    (held != Privileges::NONE).then(|| held.in_words().to_ascii_lowercase().replace(", ", ","))
}

fn column_row(view: &View, at: usize, column: &Column, privileges: &str) -> Vec<Value> {
    let mut line = vec![
        text("def"),
        text(&view.definition.schema),
        text(&view.definition.name),
        text(&column.name),
        count(at + 1),
        default_text(column).map_or(Value::Null, text),
        text(if column.nullable { "YES" } else { "NO" }),
        text(data_type(&column.kind)),
    ];
    line.extend(lengths(&column.kind));
    let collation = column.kind.shown_collation();
    line.push(collation.map_or(Value::Null, |one| text(one.charset())));
    line.push(collation.map_or(Value::Null, |one| text(one.name())));
    line.extend([
        text(column.kind.to_string()),
        text(""),
        text(extra(column)),
        text(privileges),
        text(&column.comment),
        text(""),
        Value::Null,
    ]);
    line
}

/// Rows of VIEWS. The query is for who may see it.
pub(super) fn views(db: &Catalog, session: &SessionState, sought: &Sought) -> Rows {
    let rights = session.rights();
    let line = |view: &Arc<View>| {
        let definition = &view.definition;
        let own = rights.on_table(&definition.schema, &definition.name);
        let held = rights.on(&definition.schema);
        let held = held.with(own.map_or(Privileges::NONE, |own| own.whole));
        let shown = if held.has(Privileges::SHOW_VIEW) { view.shown_query(None) } else { String::new() };
        let check = match definition.check {
            None => "NONE",
            Some(CheckOption::Local) => "LOCAL",
            Some(CheckOption::Cascaded) => "CASCADED",
        };
        row([
            text("def"),
            text(&definition.schema),
            text(&definition.name),
            text(shown),
            text(check),
            text(if definition.updatable { "YES" } else { "NO" }),
            text(format!("{}@{}", definition.definer.user, definition.definer.host)),
            text(if definition.invoker { "INVOKER" } else { "DEFINER" }),
            text(&definition.client),
            text(definition.collation.name()),
        ])
    };
    all_views(db, session, sought).iter().map(line).collect()
}

/// Rows of VIEW_TABLE_USAGE.
pub(super) fn table_usage(db: &Catalog, session: &SessionState) -> Rows {
    let rights = session.rights();
    let mut rows = Rows::new();
    for view in all_views(db, session, &Sought::ALL) {
        let definition = &view.definition;
        for (schema, table) in &definition.reads {
            if rights.may_see_table(schema, table) {
                rows.push(row([
                    text("def"),
                    text(&definition.schema),
                    text(&definition.name),
                    text("def"),
                    text(schema),
                    text(table),
                ]));
            }
        }
    }
    rows
}
