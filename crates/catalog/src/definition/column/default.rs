//! DEFAULT of a column: the value, or why it is none that the column takes.

use turnstile_expr::expr::{EvalContext, NoRow, WarningLevel};
use turnstile_syntax::ast;
use turnstile_values::error::{ErrorKind, SqlError, SqlResult};
use turnstile_values::types::ColumnType;
use turnstile_values::value::{StoreContext, Value, in_own_bytes, store};

use super::LateFaults;
use crate::dictionary::DefaultValue;

pub(super) fn default(
    written: &ast::ColumnDef,
    kind: &ColumnType,
    nullable: bool,
    late: &mut LateFaults,
    eval: &EvalContext<'_>,
) -> SqlResult<DefaultValue> {
    let none = || if nullable { DefaultValue::Value(Value::Null) } else { DefaultValue::None };
    let Some(clause) = &written.default else { return Ok(none()) };
    let is_empty =
        matches!(&clause.expr, ast::Expr::Literal(ast::Literal::String(text)) if text.bytes.is_empty());
    if is_empty
        && !clause.computed
        && kind.is_blob()
        && *kind != ColumnType::Json
        && !eval.settings.sql_mode.is_strict()
    {
        eval.warnings.push(WarningLevel::Warning, SqlError::blob_cannot_have_default(&written.name));
        return Ok(none());
    }
    match default_value(&written.name, clause, kind, nullable, written.auto_increment, eval) {
        Err(error) if is_late(&error, clause) && !written.auto_increment => {
            late.note(&written.name, default_error(&written.name, error));
            Ok(none())
        }
        given => given.map_err(|error| default_error(&written.name, error)),
    }
}

/// Whether an error is that of a literal, not NULL, that does not fit.
pub fn is_late(error: &SqlError, clause: &ast::DefaultClause) -> bool {
    let null = matches!(&clause.expr, ast::Expr::Literal(ast::Literal::Null));
    let function = matches!(&clause.expr, ast::Expr::Function(_));
    !clause.computed
        && !null
        && !function
        && default_error("", error.clone()).kind() == ErrorKind::InvalidDefault
}

/// Why a default is refused: that the value does not fit is not said more closely.
pub fn default_error(name: &str, error: SqlError) -> SqlError {
    match error.kind() {
        ErrorKind::Unknown | ErrorKind::Unsupported | ErrorKind::RefusedDefault => error,
        _ if error.ends_statement() => error,
        _ => SqlError::invalid_default(name),
    }
}

/// The default that an expression gives a column.
pub fn default_value(
    name: &str,
    clause: &ast::DefaultClause,
    kind: &ColumnType,
    nullable: bool,
    auto_increment: bool,
    eval: &EvalContext<'_>,
) -> SqlResult<DefaultValue> {
    let invalid = || SqlError::invalid_default(name);
    let expr = &clause.expr;
    if clause.computed {
        return if auto_increment {
            Err(invalid())
        } else {
            crate::definition::default::computed(name, expr)
        };
    }
    if let ast::Expr::Function(call) = expr
        && &*call.name == "now"
    {
        let digits = match call.arguments.first() {
            Some(ast::Expr::Literal(ast::Literal::Int(digits))) => *digits as u8,
            _ => 0,
        };
        let fits = match kind {
            ColumnType::DateTime { fsp } | ColumnType::Timestamp { fsp } => *fsp == digits,
            _ => false,
        };
        return if fits { Ok(DefaultValue::Now(digits)) } else { Err(invalid()) };
    }
    let negated = |expr: &ast::Expr| matches!(expr, ast::Expr::Unary { operand, .. } if matches!(**operand, ast::Expr::Literal(_)));
    if !matches!(expr, ast::Expr::Literal(_)) && !negated(expr) {
        return Err(invalid());
    }
    if matches!(
        expr,
        ast::Expr::Literal(ast::Literal::Date(_) | ast::Literal::Time(_) | ast::Literal::Timestamp(_))
    ) {
        return Err(invalid());
    }
    let is_number = matches!(expr, ast::Expr::Literal(literal) if !matches!(literal, ast::Literal::String(_) | ast::Literal::Null))
        || negated(expr);
    if is_number && matches!(kind, ColumnType::Enum { .. } | ColumnType::Set { .. }) {
        return Err(invalid());
    }
    let typed = turnstile_expr::expr::bind(expr, &mut NoNames, &eval.settings)?;
    let value = in_own_bytes(typed.expr.eval(&NoRow, eval)?, &typed.kind.column, kind);
    if value.is_null() {
        return if nullable { Ok(DefaultValue::Value(Value::Null)) } else { Err(invalid()) };
    }
    if kind.is_blob() {
        return Err(SqlError::blob_cannot_have_default(name));
    }
    if auto_increment {
        return Err(invalid());
    }
    let context = StoreContext { column: name, row: 1, nullable, strict: true, eval };
    Ok(DefaultValue::Value(store(&value, kind, &context)?))
}

/// Literals have no names in them.
struct NoNames;

impl turnstile_expr::expr::Resolver for NoNames {
    fn column(&mut self, name: &ast::ColumnName) -> SqlResult<(usize, turnstile_values::types::ExprType)> {
        Err(SqlError::unknown_column(&name.column, "default"))
    }
}
