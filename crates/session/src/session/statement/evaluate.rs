//! Expressions of statements that read no rows: SET, KILL, DO.

use super::super::Session;
use super::{Outcome, eval_settings, plan_context, row_statement};
use crate::ast::{self, Statement};
use crate::error::{SqlError, SqlResult};
use crate::expr::{EvalContext, NoRow, with_own_digits};
use crate::plan::parameters::{Parameters, actual};
use crate::plan::uses::Uses;
use crate::reads_lock::ReadsLock;
use crate::session::prepared;
use crate::types::ColumnType;
use crate::value::Value;

/// A context for expressions outside plans.
pub fn with_eval<T>(session: &Session, params: &[Value], use_it: impl FnOnce(&EvalContext<'_>) -> T) -> T {
    use_it(&session.state.eval(eval_settings(&session.settings), params))
}

/// Evaluates an expression that reads no table.
pub fn evaluate(session: &Session, expr: &ast::Expr, params: &[Value]) -> SqlResult<Value> {
    evaluate_typed(session, expr, params).map(|(value, _)| value)
}

/// The value of an expression, and the type it is bound with.
pub fn evaluate_typed(
    session: &Session,
    expr: &ast::Expr,
    params: &[Value],
) -> SqlResult<(Value, ColumnType)> {
    with_eval(session, params, |eval| {
        let schema = session.state.schema();
        // It reads no table.
        let uses = Uses::default();
        let parameters = Parameters::of_kinds(actual(params));
        let context = plan_context(session, schema.as_deref(), eval, &uses, &parameters, false);
        let mut block = crate::plan::block::Block::new(&context, None);
        let typed = with_own_digits(block.bind(expr, "field list")?);
        if !block.subqueries.is_empty() {
            return Err(SqlError::not_supported_yet("a sub-query in this place"));
        }
        Ok((typed.expr.eval(&NoRow, eval)?, typed.kind.column))
    })
}

/// DO is a SELECT whose row nobody sees.
pub(super) async fn evaluate_only(
    session: &mut Session,
    exprs: &[ast::Expr],
    params: &[Value],
) -> SqlResult<Outcome> {
    let mut unseen = crate::session::show::Collected::default();
    if params.is_empty() {
        row_statement(session, (&selecting(exprs), ReadsLock::Always), params, &mut unseen).await?;
    } else {
        prepared::execute_once(session, selecting(exprs), params, &mut unseen).await?;
    }
    Ok(Outcome::default())
}

/// SELECT of expressions that read no table.
pub fn selecting(exprs: &[ast::Expr]) -> Statement {
    let item =
        |expr: &ast::Expr| ast::SelectItem::Expr { expr: expr.clone(), name: "".into(), aliased: false };
    let select = ast::Select {
        distinct: false,
        straight_join: false,
        calc_found_rows: false,
        items: exprs.iter().map(item).collect(),
        from: Vec::new(),
        condition: None,
        group_by: Vec::new(),
        with_rollup: false,
        having: None,
        windows: Vec::new(),
        hints: Vec::new(),
    };
    let query = ast::Query {
        with: None,
        body: ast::QueryBody::Select(Box::new(select)),
        order_by: Vec::new(),
        // It gives one row; that of `sql_select_limit` is not for it.
        limit: Some(ast::Limit { count: ast::Expr::Literal(ast::Literal::Int(1)), offset: None }),
        locking: Vec::new(),
        into: Vec::new(),
    };
    Statement::Select(Box::new(query))
}
