//! Types of variables in expressions, as far as they are known when a statement is planned.

use crate::ast;
use crate::expr::EvalContext;
use crate::types::ColumnType;
use crate::value::Value;
use crate::variables::{self, Kind, VARIABLES};

/// The type of a user or system variable.
pub fn kind(expr: &ast::Expr, context: &EvalContext<'_>) -> Option<ColumnType> {
    match expr {
        ast::Expr::SystemVariable { name, .. } => Some(match VARIABLES[variables::find(name)?].kind {
            Kind::Bool | Kind::Int { .. } => ColumnType::BIGINT,
            Kind::UInt { .. } => ColumnType::BIGINT_UNSIGNED,
            Kind::Double { .. } => ColumnType::DOUBLE,
            _ => ColumnType::varchar(1024),
        }),
        ast::Expr::UserVariable(name) => value_kind(&context.session.user_variable(&name.to_lowercase())),
        _ => None,
    }
}

/// The type of a value that has no column.
pub fn value_kind(value: &Value) -> Option<ColumnType> {
    Some(match value {
        Value::Int(_) => ColumnType::BIGINT,
        Value::UInt(_) => ColumnType::BIGINT_UNSIGNED,
        Value::Double(_) => ColumnType::DOUBLE,
        Value::Decimal(number) => ColumnType::Decimal {
            precision: number.precision().max(number.scale() + 1),
            scale: number.scale(),
            unsigned: false,
        },
        _ => return None,
    })
}
