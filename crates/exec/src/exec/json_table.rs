//! The rows that JSON_TABLE makes of a document.

use turnstile_expr::expr::{EvalContext, Held};
use turnstile_plan::plan::json_table::{Column, Holds, JsonTable, OnMissing};
use turnstile_values::error::{SqlError, SqlResult};
use turnstile_values::json::{self, Json};
use turnstile_values::types::ColumnType;
use turnstile_values::value::Value;
use turnstile_values::value::scalar::{Misfit, to_column};

use super::tail::{Kept, RowOut};

/// Keeps the rows of a document; none of NULL. Errors 3141, 3144 and 3146 for what is no document.
pub fn expand(
    table: &JsonTable,
    width: usize,
    document: &Value,
    context: &EvalContext<'_>,
) -> SqlResult<Kept> {
    let mut rows = Kept::new(context, None);
    let mut held = context.held();
    let document = match document {
        Value::Null => return Ok(rows),
        Value::Str(text) => json::parse(text, &mut held),
        Value::Json(marked) => json::parse_kept(marked, &mut held),
        Value::Bytes(_) => return Err(SqlError::json_of_binary()),
        _ => return Err(SqlError::invalid_json_type(1, "json_table")),
    };
    let document = document.map_err(|error| error.of_argument(0, "json_table"))?;
    let row = vec![Value::Null; width];
    Expansion { context, row, rows: &mut rows }.each(table, &document, &mut held)?;
    Ok(rows)
}

struct Expansion<'e> {
    context: &'e EvalContext<'e>,
    row: Vec<Value>,
    rows: &'e mut Kept,
}

impl Expansion<'_> {
    /// Keeps the rows of one path below a place; false if there are none.
    fn each(&mut self, table: &JsonTable, place: &Json, held: &mut Held<'_>) -> SqlResult<bool> {
        let held = &mut held.another();
        let found = table.path.select(place, held)?;
        for (nth, one) in found.iter().enumerate() {
            // KILL is seen, and others go on, however many rows there are.
            held.pass(self.row.len() * size_of::<Value>())?;
            // The values of this row until the rows inside it are made.
            let mut own = held.another();
            for column in &table.columns {
                let value = value_of(column, one, nth, self.context, &own)?;
                own.add(&value)?;
                self.row[column.at] = value;
            }
            let mut any = false;
            for nested in &table.nested {
                any |= self.each(nested, one, held)?;
            }
            if !any {
                self.rows.row(&self.row)?;
            }
        }
        table.columns.iter().for_each(|column| self.row[column.at] = Value::Null);
        Ok(!found.is_empty())
    }
}

fn value_of(
    column: &Column,
    place: &Json,
    nth: usize,
    context: &EvalContext<'_>,
    held: &Held<'_>,
) -> SqlResult<Value> {
    let held = &mut held.another();
    let (path, empty, error) = match &column.holds {
        Holds::Ordinality => return Ok(Value::Int(nth as i64 + 1)),
        Holds::Exists(path) => {
            let exists = Json::Int(i64::from(!path.select(place, held)?.is_empty()));
            return converted(&exists, column, context);
        }
        Holds::Value { path, empty, error } => (path, empty, error),
    };
    let found = path.select(place, held)?;
    let is_document = column.kind == ColumnType::Json;
    let trouble = match found[..] {
        [] => {
            return match empty {
                OnMissing::Null => Ok(Value::Null),
                OnMissing::Error => Err(SqlError::missing_json_table_value(&*column.name)),
                OnMissing::Default(default) => default_of(default, column, context, held),
            };
        }
        [one] if is_document || one.is_scalar() => match to_column(one, &column.kind, context)? {
            Ok(value) => return Ok(value),
            Err(Misfit::Kind(kind)) => SqlError::json_is_no_number(kind, &*column.name, context.row()),
            Err(Misfit::Range) => SqlError::json_table_range(&*column.name),
        },
        _ if is_document => {
            let parts = Json::list_of(found.into_iter(), held)?;
            return converted(&parts, column, context);
        }
        _ => SqlError::json_table_scalar(&*column.name),
    };
    match error {
        OnMissing::Null => Ok(Value::Null),
        OnMissing::Error => Err(trouble),
        OnMissing::Default(default) => default_of(default, column, context, held),
    }
}

fn default_of(
    text: &str,
    column: &Column,
    context: &EvalContext<'_>,
    held: &mut Held<'_>,
) -> SqlResult<Value> {
    let document = json::parse(text, held).map_err(|error| error.of_argument(0, "JSON_TABLE"))?;
    converted(&document, column, context)
}

/// What has to fit the column; errors 3156 and 3669.
fn converted(document: &Json, column: &Column, context: &EvalContext<'_>) -> SqlResult<Value> {
    to_column(document, &column.kind, context)?.map_err(|misfit| match misfit {
        Misfit::Kind(kind) => SqlError::json_is_no_number(kind, &*column.name, context.row()),
        Misfit::Range => SqlError::json_table_range(&*column.name),
    })
}
