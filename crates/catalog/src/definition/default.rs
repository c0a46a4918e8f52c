//! Defaults in parentheses: expressions that are computed for every row that does not say otherwise.
//!
//! Such an expression may call what changes from row to row (UUID, RAND, NOW), and may read other columns of
//! its row, but for AUTO_INCREMENT ones, and for later ones that are computed themselves: they are computed
//! in the order of the columns, when all that the statement gives is in the row.

use std::sync::Arc;

use super::allowed::{self, Refusals};
use crate::dictionary::DefaultValue;
use crate::dictionary::check::bind_expression;
use crate::dictionary::table::Definition;
use crate::expression_text::{canonical, columns_of};
use turnstile_syntax::ast::Expr;
use turnstile_values::error::{ErrorKind, SqlError, SqlResult};

const REFUSALS: Refusals = Refusals {
    variable: |column| SqlError::default_variable(column),
    subquery: |column| SqlError::default_function(column),
    row_value: |column| SqlError::default_row_value(column),
    default: |_| SqlError::default_of_computed(),
    function: |column, function| SqlError::default_named_function(column, function),
    settled: false,
};

/// The default that an expression in parentheses gives a column; its columns are looked at when all are
/// known, by [`check`].
pub fn computed(column: &str, expr: &Expr) -> SqlResult<DefaultValue> {
    allowed::check(expr, column, &REFUSALS)?;
    Ok(DefaultValue::Computed(Arc::new(canonical(expr)?)))
}

/// Functions of which a replica of the table would have other values than the table itself.
const UNSAFE: &[&str] = &[
    "current_user",
    "rand",
    "random_bytes",
    "session_user",
    "sysdate",
    "system_user",
    "user",
    "uuid",
    "uuid_short",
];

/// Error 1674 for a default of a new column that MySQL does not compute for rows that are there.
pub fn check_added(column: &crate::dictionary::Column) -> SqlResult<()> {
    let DefaultValue::Computed(expr) = &column.default else { return Ok(()) };
    let mut found = false;
    turnstile_syntax::walk::each(expr, &mut |part| {
        found |= matches!(part, Expr::Function(call) if UNSAFE.contains(&&*call.name));
    });
    if found { Err(SqlError::unsafe_default()) } else { Ok(()) }
}

/// Whether the columns that computed defaults read may be read there.
pub fn check(definition: &Definition) -> SqlResult<()> {
    for (at, column) in definition.columns.iter().enumerate() {
        let DefaultValue::Computed(expr) = &column.default else { continue };
        for name in columns_of(expr) {
            let found = definition.columns.iter().position(|known| known.goes_by(&name));
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
        bind_expression(expr, definition).map_err(|error| match error.kind() {
            ErrorKind::UnknownFunction => {
                SqlError::default_named_function(&column.name, super::check::unknown(&error))
            }
            _ => error,
        })?;
    }
    Ok(())
}
