//! The columns that a query's columns become.

use super::super::columns_read;
use crate::ast::{ColumnName, Expr, Query, QueryBody, SelectItem};
use crate::definition::selected_type::selected_type;
use crate::dictionary::{Column, DefaultValue, TableNames};
use crate::error::{SqlError, SqlResult};
use crate::expr::EvalContext;
use crate::plan::QueryPlan;
use crate::sink::ColumnMeta;
use crate::types::{ColumnType, column_flag};
use crate::value::{StoreContext, Value, store};

/// The columns that a table made of this query has for those of its list.
pub fn selected_columns(
    source: &QueryPlan,
    query: &Query,
    (names, current, eval): (TableNames<'_>, Option<&str>, &EvalContext<'_>),
) -> SqlResult<Vec<Column>> {
    let of_set = matches!(source, QueryPlan::Set(_));
    let written = written_values(query);
    let written = written.iter().copied().chain(std::iter::repeat(None));
    let columns = source.columns().iter().zip(written);
    let column = |(meta, written): (&ColumnMeta, Option<&Expr>)| {
        let Some(read) = written
            .and_then(read_as_it_is)
            .and_then(|(name, of)| Some((columns_read::find(names, current, query, name)?, of)))
        else {
            return selected_column(meta, (written, of_set), (names, eval));
        };
        match read {
            // It is the column.
            (base, Reads::Value) if is_kept_as(&base, !is_not_null(meta)) => {
                Ok(Column { name: meta.name.trim().into(), invisible: false, ..base })
            }
            // A column that has no default gives none to the greatest of its values either.
            (base, Reads::Extreme) if base.default == DefaultValue::None => {
                let column = selected_column(meta, (written, of_set), (names, eval))?;
                Ok(Column { default: DefaultValue::None, ..column })
            }
            _ => selected_column(meta, (written, of_set), (names, eval)),
        }
    };
    columns.map(column).collect()
}

/// A column for one of a query's: a table's column keeps what its definition says of single values;
/// whatever else cannot be NULL gets its type's zero as its default.
fn selected_column(
    meta: &ColumnMeta,
    (written, of_set): (Option<&Expr>, bool),
    (names, eval): (TableNames<'_>, &EvalContext<'_>),
) -> SqlResult<Column> {
    let name: Box<str> = meta.name.trim().into();
    if name.is_empty() || name.chars().count() > 64 {
        return Err(SqlError::wrong_column_name(&meta.name));
    }
    let nullable = !is_not_null(meta);
    let base = names.find(&meta.schema, &meta.org_table);
    let base = base.as_ref().and_then(|table| {
        let at = table.column_position(&meta.org_name)?;
        // What comes through a view is of the table that a temporary one hides.
        let column = &table.columns()[at];
        (!table.temporary || column.kind == meta.column_type).then_some(column)
    });
    if let Some(base) = base
        && is_kept_as(base, nullable)
    {
        return Ok(Column { name, invisible: false, ..base.clone() });
    }
    if let Some(base) = base.filter(|base| base.nullable == nullable && base.generation().is_some()) {
        let default = if nullable { DefaultValue::Value(Value::Null) } else { DefaultValue::None };
        return Ok(Column { name, default, invisible: false, ..base.clone() });
    }
    let kind = selected_type(written, &meta.column_type, (base.is_some(), of_set));
    let comment = base.map_or("".into(), |base| base.comment.clone());
    let default = match nullable {
        true => DefaultValue::Value(Value::Null),
        // A table's column that passed through another query still has none.
        false if meta.flags & column_flag::NO_DEFAULT_VALUE != 0 => DefaultValue::None,
        false => zero_default(&name, &kind, eval)?,
    };
    Ok(Column {
        name,
        kind,
        nullable,
        default,
        on_update: None,
        auto_increment: false,
        comment,
        invisible: false,
    })
}

fn is_not_null(meta: &ColumnMeta) -> bool {
    meta.flags & column_flag::NOT_NULL != 0
}

/// Whether a column that reads this one has all that its definition says of single values.
fn is_kept_as(base: &Column, nullable: bool) -> bool {
    base.nullable == nullable
        && !base.auto_increment
        && !matches!(base.default, DefaultValue::Computed(_) | DefaultValue::Generated(..))
}

/// How a value reads a column.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reads {
    /// `(SELECT c)`, which is the column itself.
    Value,
    /// `MIN(c)` or `MAX(c)`.
    Extreme,
}

/// The column that a value reads and nothing else.
fn read_as_it_is(written: &Expr) -> Option<(&ColumnName, Reads)> {
    match written {
        Expr::Function(call) if matches!(&*call.name, "min" | "max") => match call.arguments.first() {
            Some(Expr::Column(name)) => Some((name, Reads::Extreme)),
            _ => None,
        },
        Expr::Subquery(query) if !reads_tables(query) => match written_values(query)[..] {
            [Some(Expr::Column(name))] => Some((name, Reads::Value)),
            _ => None,
        },
        _ => None,
    }
}

/// The values of a select list; None for one that is not known to be the column's at its place.
fn written_values(query: &Query) -> Vec<Option<&Expr>> {
    let QueryBody::Select(select) = &query.body else { return Vec::new() };
    let items = select.items.iter().map_while(|item| match item {
        SelectItem::Expr { expr, .. } => Some(Some(expr)),
        SelectItem::Wildcard { .. } => None,
    });
    items.collect()
}

fn reads_tables(query: &Query) -> bool {
    match &query.body {
        QueryBody::Select(select) => !select.from.is_empty(),
        _ => true,
    }
}

fn zero_default(name: &str, kind: &ColumnType, eval: &EvalContext<'_>) -> SqlResult<DefaultValue> {
    let dated = matches!(kind, ColumnType::Date | ColumnType::DateTime { .. } | ColumnType::Timestamp { .. });
    let listed = matches!(kind, ColumnType::Enum { .. } | ColumnType::Set { .. });
    if kind.is_blob() || dated || listed {
        return Ok(DefaultValue::None);
    }
    let zero = if kind.is_string() { Value::text("") } else { Value::Int(0) };
    let context = StoreContext { column: name, row: 1, nullable: false, strict: true, eval };
    Ok(DefaultValue::Value(store(&zero, kind, &context)?))
}
