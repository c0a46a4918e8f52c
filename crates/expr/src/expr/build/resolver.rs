//! What binding asks of whoever knows the names: columns, aggregates, sub-queries, and what a statement may
//! do.

use turnstile_syntax::ast;
use turnstile_values::error::{SqlError, SqlResult};
use turnstile_values::types::{ColumnType, ExprType};

use super::super::parameter::{Hold, ParameterKind};
use super::super::{Meeting, Typed};
use crate::functions;

/// What the builder cannot know: where columns are, and how aggregates and subqueries are computed.
pub trait Resolver {
    /// Position and type of a column in the input row. Errors 1054, 1052.
    fn column(&mut self, name: &ast::ColumnName) -> SqlResult<(usize, ExprType)>;

    /// A whole expression the executor already computes (a GROUP BY expression, a select alias): asked first
    /// for every node.
    fn known(&mut self, _expr: &ast::Expr) -> Option<Typed> {
        None
    }

    /// The error of a call that cannot be bound, with the function's name as it was written.
    fn unbound(&self, error: SqlError, call: &ast::FunctionCall) -> SqlError {
        functions::as_written(error, call, None)
    }

    /// An aggregate call; normally a column behind the input row.
    fn aggregate(&mut self, _call: &ast::FunctionCall) -> SqlResult<Typed> {
        Err(SqlError::invalid_group_function_use())
    }

    /// A window function; normally a column behind the input row.
    fn window(&mut self, call: &ast::FunctionCall) -> SqlResult<Typed> {
        Err(SqlError::window_function_here(&call.name))
    }

    /// GROUPING(): which keys of GROUP BY a row sums over.
    fn grouping(&mut self, _call: &ast::FunctionCall) -> SqlResult<Typed> {
        Err(SqlError::invalid_group_function_use())
    }

    /// `(SELECT ..)`, EXISTS, IN (SELECT ..), ANY and ALL: the whole node.
    fn subquery(&mut self, _expr: &ast::Expr) -> SqlResult<Typed> {
        Err(SqlError::not_supported_yet("a subquery in this place"))
    }

    /// The values of `(SELECT a, b ..)` where a row may stand; one of them if it has one column.
    fn row_subquery(&mut self, expr: &ast::Expr) -> SqlResult<Vec<Typed>> {
        self.subquery(expr).map(|one| vec![one])
    }

    /// `VALUES(column)` in ON DUPLICATE KEY UPDATE.
    fn inserted_value(&mut self, name: &ast::ColumnName) -> SqlResult<Typed> {
        Err(SqlError::unknown_column(&name.column, "field list"))
    }

    /// Whether it is looked for what the `?` of a statement are.
    fn derives(&self) -> bool {
        false
    }

    /// What a `?` is by where it stands.
    fn derive(&self, _at: u32, _hold: Hold, _kind: ParameterKind) {}

    /// Operands are about to be compared, as they are written.
    fn compare(&self, _meeting: Meeting, _operands: &[&Typed]) {}

    /// Whether texts beside dates are read as days, where both differ from row to row.
    fn reads_days(&self) -> bool {
        false
    }

    /// `DEFAULT` or `DEFAULT(column)`.
    fn default_value(&mut self, _name: Option<&ast::ColumnName>) -> SqlResult<Typed> {
        Err(SqlError::not_supported_yet("DEFAULT in this place"))
    }

    /// Whether a place of the row is a column of a stored table, and not what something was computed into.
    fn is_stored(&self, _position: usize) -> bool {
        true
    }

    /// Whether a place of the row is a column of some table, or one of the table that groups are collected
    /// in.
    fn is_kept(&self, _position: usize) -> bool {
        true
    }

    /// Whether the parameters are those of a prepared statement, not literals.
    fn is_prepared(&self) -> bool {
        false
    }

    /// A column as messages write it: with its table and database, where they are known.
    fn named(&self, name: &ast::ColumnName) -> String {
        turnstile_syntax::ast::quote_name(&name.column)
    }

    /// The clause of a condition on rows, if one is bound.
    fn condition_clause(&self) -> Option<&'static str> {
        None
    }

    /// Tells of something that is known once the expression is bound.
    fn warn(&self, _warning: SqlError) {}

    /// Type of a user or system variable's value, if known; a long string otherwise.
    fn variable_type(&mut self, _expr: &ast::Expr) -> Option<ColumnType> {
        None
    }
}
