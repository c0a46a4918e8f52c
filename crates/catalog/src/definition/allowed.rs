//! Which expressions a definition may hold: one walk over what CHECK constraints, generated columns and
//! defaults in parentheses say, with a table for each of what it refuses and with which error.

use turnstile_expr::expr::AggregateKind;
use turnstile_syntax::ast::Expr;
use turnstile_syntax::walk;
use turnstile_values::error::{SqlError, SqlResult};

/// An error about the constraint or column of this name.
type About = fn(&str) -> SqlError;

/// What one kind of definition refuses. Columns and other functions than those named pass.
pub(super) struct Refusals {
    /// Parameters, variables and assignments.
    pub variable: About,
    /// Sub-queries, and the `?` of a statement that is prepared.
    pub subquery: About,
    /// A row of several values where one value is to be; those that are compared pass.
    pub row_value: About,
    /// DEFAULT that names no column.
    pub default: About,
    /// A function that is refused: by its name, after the definition's.
    pub function: fn(&str, &str) -> SqlError,
    /// The same row has the same value at any moment: [`UNSETTLED`] functions are refused besides [`BUSY`]
    /// ones, and UNIX_TIMESTAMP() of now. Nor are there aggregate functions (1111).
    pub settled: bool,
}

/// Error for the first part of an expression that a definition called `name` may not hold.
pub(super) fn check(expr: &Expr, name: &str, refusals: &Refusals) -> SqlResult<()> {
    if matches!(expr, Expr::Row(_)) {
        return Err((refusals.row_value)(name));
    }
    check_part(expr, name, refusals)
}

fn check_part(expr: &Expr, name: &str, refusals: &Refusals) -> SqlResult<()> {
    let named = |function: &str| Err((refusals.function)(name, function));
    match expr {
        Expr::UserVariable(_) | Expr::SystemVariable { .. } | Expr::Assign { .. } => {
            return Err((refusals.variable)(name));
        }
        Expr::Parameter(_)
        | Expr::Subquery(_)
        | Expr::Exists(_)
        | Expr::InSubquery { .. }
        | Expr::Quantified { .. } => {
            return Err((refusals.subquery)(name));
        }
        Expr::InsertedValue(_) => return named("values"),
        Expr::Default(None) => return Err((refusals.default)(name)),
        Expr::Function(call) if call.over.is_some() => {
            return Err(SqlError::window_function_here(&call.name));
        }
        Expr::Function(call) if refusals.settled && AggregateKind::of(call).is_some() => {
            return Err(SqlError::invalid_group_function_use());
        }
        Expr::Function(call) => {
            let name = &*call.name;
            let now = name == "unix_timestamp" && call.arguments.is_empty();
            let unsettled = refusals.settled && (now || UNSETTLED.contains(&name));
            if unsettled || call.schema.is_some() || BUSY.contains(&name) {
                return named(&call.name);
            }
        }
        _ => {}
    }
    let mut result = Ok(());
    walk::children(expr, &mut |child| {
        if result.is_ok() {
            result = check_part(child, name, refusals);
        }
    });
    result
}

/// Functions that do something besides, or tell of the session's last statement.
const BUSY: &[&str] = &[
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

/// Other functions whose result their arguments do not settle.
const UNSETTLED: &[&str] = &[
    "connection_id",
    "curdate",
    "current_role",
    "current_user",
    "curtime",
    "database",
    "now",
    "rand",
    "random_bytes",
    "session_user",
    "sysdate",
    "system_user",
    "user",
    "utc_date",
    "utc_time",
    "utc_timestamp",
    "uuid",
    "uuid_short",
    "version",
];
