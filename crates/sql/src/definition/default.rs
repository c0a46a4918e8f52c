//! Defaults in parentheses: expressions that are computed for every row that does not say otherwise.
//!
//! Such an expression may call what changes from row to row (UUID, RAND, NOW), and may read other columns of its row, but for
//! AUTO_INCREMENT ones, and for later ones that are computed themselves: they are computed in the order of the columns, when all that
//! the statement gives is in the row.

use std::sync::Arc;

use super::expression::{canonical, columns_of};
use crate::ast::Expr;
use crate::dictionary::DefaultValue;
use crate::dictionary::check::bind_expression;
use crate::dictionary::table::Definition;
use crate::error::{SqlError, SqlResult};

/// Functions that do something besides, or tell of the session's last statement.
const DISALLOWED: &[&str] = &[
    "benchmark",
    "found_rows",
    "get_lock",
    "is_free_lock",
    "is_used_lock",
    "last_insert_id",
    "load_file",
    "release_all_locks",
    "release_lock",
    "row_count",
    "sleep",
];

/// The default that an expression in parentheses gives a column; its columns are looked at when all are known, by [`check`].
pub fn computed(column: &str, expr: &Expr) -> SqlResult<DefaultValue> {
    allowed(expr, column)?;
    Ok(DefaultValue::Computed(Arc::new(canonical(expr)?)))
}

fn allowed(expr: &Expr, column: &str) -> SqlResult<()> {
    match expr {
        Expr::Parameter(_) | Expr::UserVariable(_) | Expr::SystemVariable { .. } | Expr::Assign { .. } => {
            return Err(SqlError::default_variable(column));
        }
        Expr::Subquery(_) | Expr::Exists(_) | Expr::InSubquery { .. } | Expr::Quantified { .. } => {
            return Err(SqlError::default_function(column));
        }
        Expr::InsertedValue(_) => return Err(SqlError::default_named_function(column, "values")),
        Expr::Default(_) => return Err(SqlError::default_of_computed()),
        Expr::Row(_) => return Err(SqlError::default_row_value(column)),
        Expr::Function(call) if call.schema.is_some() || DISALLOWED.contains(&&*call.name) => {
            return Err(SqlError::default_named_function(column, &call.name));
        }
        _ => {}
    }
    let mut result = Ok(());
    crate::plan::walk::children(expr, &mut |child| {
        if result.is_ok() {
            result = allowed(child, column);
        }
    });
    result
}

/// Whether the columns that computed defaults read may be read there.
pub fn check(definition: &Definition) -> SqlResult<()> {
    for (at, column) in definition.columns.iter().enumerate() {
        let DefaultValue::Computed(expr) = &column.default else { continue };
        for name in columns_of(expr) {
            let found = definition.columns.iter().position(|known| known.name.eq_ignore_ascii_case(&name));
            let found = found.ok_or_else(|| SqlError::unknown_column(&name, "default value expression"))?;
            let other = &definition.columns[found];
            if other.auto_increment {
                return Err(SqlError::default_auto_increment(&column.name));
            }
            if found >= at && matches!(other.default, DefaultValue::Computed(_) | DefaultValue::Generated(..))
            {
                return Err(SqlError::default_not_prior(&column.name));
            }
        }
        bind_expression(expr, definition).map_err(|error| match error.code {
            1305 => SqlError::default_named_function(&column.name, super::check::unknown(&error)),
            _ => error,
        })?;
    }
    Ok(())
}
