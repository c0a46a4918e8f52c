//! What a block answers when an expression is bound.

use turnstile_catalog::accounts::Privileges;
use turnstile_catalog::dictionary::DefaultValue;
use turnstile_expr::expr::{self, Expr, Hold, Meeting, ParameterKind, Resolver, Typed};
use turnstile_expr::functions;
use turnstile_syntax::ast::{self, FunctionCall};
use turnstile_values::error::{ErrorKind, SqlError, SqlResult};
use turnstile_values::types::{ColumnType, ExprType};

use super::super::{rollup, windows};
use super::Block;

impl Resolver for Block<'_, '_> {
    fn unbound(&self, error: SqlError, call: &ast::FunctionCall) -> SqlError {
        match (error.kind(), self.context.schema, &call.schema) {
            // It could only be one of the current database.
            (ErrorKind::UnknownFunction, None, None) => SqlError::no_database_selected(),
            (_, schema, _) => functions::as_written(error, call, schema),
        }
    }

    fn column(&mut self, name: &ast::ColumnName) -> SqlResult<(usize, ExprType)> {
        let found = self.scope.resolve(name)?;
        Ok((found.position, found.kind))
    }

    fn named(&self, name: &ast::ColumnName) -> String {
        self.scope.named(name)
    }

    fn is_stored(&self, position: usize) -> bool {
        self.scope.column_at(position).is_some_and(|(table, _)| !table.name.is_empty())
    }

    fn is_kept(&self, position: usize) -> bool {
        self.scope.column_at(position).is_some() || !self.group_keys.is_empty()
    }

    fn known(&mut self, expr: &ast::Expr) -> Option<Typed> {
        if let ast::Expr::Parameter(at) = expr {
            let (at, parameters) = (*at as usize, self.context.parameters);
            return match parameters.are_literals() {
                true => expr::literal_parameter(at, self.context.eval, parameters.are_values()),
                false => Some(parameters.typed(at, self.context.eval.settings.connection_collation)),
            };
        }
        if let Some(meaning) = rollup::meaning(self, expr) {
            return Some(meaning);
        }
        if let ast::Expr::Column(name) = expr {
            let computed = self.scope.computed(name)?;
            // Who reads it is noted as of any column.
            return self.scope.resolve(name).is_ok().then_some(computed);
        }
        let ast::Expr::Function(call) = expr else { return None };
        // A wrong call is left to the builder, which has the error for it.
        let waits = matches!(&*call.name, "sleep" | "get_lock") && call.schema.is_none();
        if waits { self.place_wait(call).ok() } else { None }
    }

    fn compare(&self, meeting: Meeting, operands: &[&Typed]) {
        let parameters = self.context.parameters;
        parameters.compare(meeting, operands);
        let name = |at| self.scope.column_at(at).map(|(_, column)| column.name.as_ref().into());
        let given = !parameters.are_literals();
        parameters.note_constants(expr::compared_constants(meeting, operands, given, &name));
    }

    fn reads_days(&self) -> bool {
        !self.changes_one_table
    }

    fn derives(&self) -> bool {
        self.context.parameters.derivation().is_some()
    }

    fn derive(&self, at: u32, hold: Hold, kind: ParameterKind) {
        if let Some(derivation) = self.context.parameters.derivation() {
            derivation.note(at, hold, kind);
        }
    }

    fn aggregate(&mut self, call: &FunctionCall) -> SqlResult<Typed> {
        self.place_aggregate(call)
    }

    fn window(&mut self, call: &FunctionCall) -> SqlResult<Typed> {
        windows::place(self, call)
    }

    fn grouping(&mut self, call: &FunctionCall) -> SqlResult<Typed> {
        rollup::grouping(self, call)
    }

    fn subquery(&mut self, expr: &ast::Expr) -> SqlResult<Typed> {
        self.place_subquery(expr)
    }

    fn row_subquery(&mut self, expr: &ast::Expr) -> SqlResult<Vec<Typed>> {
        self.place_row(expr)
    }

    fn inserted_value(&mut self, name: &ast::ColumnName) -> SqlResult<Typed> {
        let missing = || SqlError::unknown_column(&name.column, self.scope.clause.get());
        let (Some(table), Some(base)) = (&self.target, self.inserted_base) else {
            // Outside ON DUPLICATE KEY UPDATE it is NULL.
            self.scope.resolve(name)?;
            return Ok(Typed {
                expr: Expr::Literal(turnstile_values::value::Value::Null),
                kind: ExprType::nullable(ColumnType::Null),
            });
        };
        let at = self.target_column(&name.column).ok_or_else(missing)?;
        self.scope.note_use(0, at, Privileges::SELECT, false);
        let kind = ExprType::nullable(table.columns()[at].kind.clone());
        let stored = matches!(kind.column, ColumnType::Timestamp { .. });
        let expr = if stored { Expr::TimestampColumn(base + at) } else { Expr::Column(base + at) };
        Ok(Typed { expr, kind })
    }

    fn default_value(&mut self, name: Option<&ast::ColumnName>) -> SqlResult<Typed> {
        let Some(name) = name else { return Err(SqlError::not_supported_yet("DEFAULT in this place")) };
        let found = self.scope.resolve(name)?;
        let place =
            self.scope.column_at(found.position).map(|(table, column)| (table.stored.clone(), &column.name));
        let filled = self.target.clone().filter(|_| self.target_column(&name.column).is_some());
        let own = place.as_ref().map(|(_, column)| (*column).clone());
        let named = place.and_then(|(table, _)| table);
        let (table, at) = match (named, filled) {
            (Some(table), _) => {
                let at = own.and_then(|own| table.column_position(&own));
                (Some(table), at)
            }
            // A view has other names for its columns.
            (None, filled) => (filled, self.target_column(&name.column)),
        };
        let default = table.as_ref().and_then(|table| Some(table.columns()[at?].default.clone()));
        match default {
            Some(DefaultValue::Value(value)) => Ok(Typed { expr: Expr::Literal(value), kind: found.kind }),
            Some(DefaultValue::Computed(_)) => Err(SqlError::default_of_computed()),
            Some(DefaultValue::Now(_)) => {
                Err(SqlError::not_supported_yet("DEFAULT of a column with CURRENT_TIMESTAMP"))
            }
            // What asks for a number.
            _ if table.is_some_and(|table| table.auto_column == at && at.is_some()) => {
                Ok(Typed { expr: Expr::Literal(turnstile_values::value::Value::Int(0)), kind: found.kind })
            }
            _ => Err(SqlError::no_default_for_field(&name.column)),
        }
    }

    fn is_prepared(&self) -> bool {
        !self.context.parameters.are_literals()
    }

    fn condition_clause(&self) -> Option<&'static str> {
        let clause = self.scope.clause.get();
        matches!(clause, "where clause" | "on clause" | "having clause").then_some(clause)
    }

    fn warn(&self, warning: SqlError) {
        self.context.eval.note(warning);
    }

    fn variable_type(&mut self, expr: &ast::Expr) -> Option<ColumnType> {
        crate::plan::variable::kind(expr, self.context.eval, self.context.parameters)
    }
}
