//! CHECK constraints: as the dictionary keeps them, and bound to the columns of their table.
//!
//! A [`Check`] is a name and a tree; the tree goes to disk as its canonical text
//! (`definition/expression.rs`), which means the same under every `sql_mode`. A [`BoundCheck`] is made of it
//! when a table is made ready for use, and is what is evaluated for every row that is inserted, changed or
//! copied by ALTER TABLE. Only enforced constraints are bound, so a table without them pays for looking at an
//! empty list.

use super::DefaultValue;
use super::encoding::{Damaged, Reader, Writer};
use super::table::Definition;
use crate::expression_text::{expression_text, parse_expression};
use turnstile_expr::expr::{EvalContext, EvalSettings, Expr, Resolver, Row, Typed};
use turnstile_syntax::ast;
use turnstile_values::error::{ErrorKind, SqlError, SqlResult};
use turnstile_values::types::ExprType;

/// A CHECK constraint.
#[derive(Debug, Clone, PartialEq)]
pub struct Check {
    /// Its name, once in its database.
    pub name: Box<str>,
    /// The condition, as it comes from its canonical text.
    pub expr: ast::Expr,
    /// False for NOT ENFORCED: kept and shown, but rows need not meet it.
    pub enforced: bool,
}

impl Check {
    /// Writes it.
    pub fn encode(&self, row: &mut Writer) {
        row.text(&self.name);
        row.text(&expression_text(&self.expr));
        row.bool(self.enforced);
    }

    /// Reads it.
    pub fn decode(row: &mut Reader<'_>) -> Result<Check, Damaged> {
        Ok(Check {
            name: row.text()?.into(),
            expr: parse_expression(row.text()?).ok_or(Damaged)?,
            enforced: row.bool()?,
        })
    }
}

/// The view whose rows a statement changes, of which WITH CHECK OPTION asks something.
#[derive(Debug, Clone)]
pub struct ViewCheck {
    /// Its database.
    pub schema: Box<str>,
    /// Its name.
    pub name: Box<str>,
}

/// An enforced constraint, ready to be evaluated over a row's columns.
#[derive(Clone)]
pub struct BoundCheck {
    name: Box<str>,
    /// It is a view's condition: a row for which it is unknown is none of the view.
    view: Option<ViewCheck>,
    /// An error is what every row gets: the condition means nothing to this server (a function that it
    /// lacks).
    expr: SqlResult<Expr>,
}

impl BoundCheck {
    /// The condition.
    pub fn expr(&self) -> &SqlResult<Expr> {
        &self.expr
    }
}

/// The enforced constraints of a definition.
pub fn bind(definition: &Definition) -> Vec<BoundCheck> {
    let enforced = definition.checks.iter().filter(|check| check.enforced);
    let bound = |check: &Check| BoundCheck {
        name: check.name.clone(),
        view: None,
        expr: bind_expression(&check.expr, definition).map(|typed| typed.expr),
    };
    enforced.map(bound).collect()
}

/// A view's condition as a constraint.
pub fn bind_of_view(expr: &ast::Expr, definition: &Definition, view: &ViewCheck) -> SqlResult<BoundCheck> {
    let expr = Ok(bind_expression(expr, definition)?.expr);
    Ok(BoundCheck { name: view.name.clone(), view: Some(view.clone()), expr })
}

/// Binds an expression of a definition to its columns. Settings of the session do not matter: what depends on
/// them is not in a canonical text.
pub fn bind_expression(expr: &ast::Expr, definition: &Definition) -> SqlResult<turnstile_expr::expr::Typed> {
    turnstile_expr::expr::bind(expr, &mut Columns(definition), &EvalSettings::default())
}

/// Error 3819 for the first of the constraints that is false for a row; one that is unknown is met. Error
/// 1369 for the first condition of a view that is not true.
pub fn verify(checks: &[BoundCheck], row: &dyn Row, eval: &EvalContext<'_>) -> SqlResult<()> {
    for check in checks {
        let expr = check.expr.as_ref().map_err(Clone::clone)?;
        match expr.eval_truth(row, eval) {
            // What is out of range is no value that the constraint allows.
            Ok(Some(false) | None) if let Some(view) = &check.view => {
                return Err(SqlError::check_option_failed(&view.schema, &view.name));
            }
            Ok(Some(false)) => return Err(SqlError::check_constraint_violated(&check.name)),
            Err(error) if error.kind() == ErrorKind::OutOfRange => {
                return Err(SqlError::check_constraint_violated(&check.name));
            }
            Err(error) => return Err(error),
            Ok(_) => {}
        }
    }
    Ok(())
}

/// Whether an error is one of [`verify`]'s own, which IGNORE turns into a warning.
pub fn is_broken_check(error: &SqlError) -> bool {
    error.kind() == ErrorKind::BrokenCheck
}

/// The columns of a table, by position.
struct Columns<'d>(&'d Definition);

impl Resolver for Columns<'_> {
    fn column(&mut self, name: &ast::ColumnName) -> SqlResult<(usize, ExprType)> {
        let found = self.0.columns.iter().position(|column| column.goes_by(&name.column));
        let at = found.ok_or_else(|| SqlError::unknown_column(&name.column, "check constraint"))?;
        let column = &self.0.columns[at];
        Ok((at, ExprType::new(column.kind.clone(), column.nullable)))
    }

    fn default_value(&mut self, name: Option<&ast::ColumnName>) -> SqlResult<Typed> {
        let Some(name) = name else { return Err(SqlError::not_supported_yet("DEFAULT in this place")) };
        let (at, kind) = self.column(name)?;
        let column = &self.0.columns[at];
        match &column.default {
            DefaultValue::Value(value) => Ok(Typed { expr: Expr::Literal(value.clone()), kind }),
            DefaultValue::Computed(_) => Err(SqlError::default_of_computed()),
            DefaultValue::Now(_) => {
                Err(SqlError::not_supported_yet("DEFAULT of a column with CURRENT_TIMESTAMP"))
            }
            _ => Err(SqlError::no_default_for_field(&column.name)),
        }
    }
}
