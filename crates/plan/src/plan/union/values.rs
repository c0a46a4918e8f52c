//! VALUES, planned as the union of its rows.

use std::sync::Arc;

use turnstile_expr::expr::Expr;
use turnstile_syntax::ast::{self, SetOperator};
use turnstile_values::error::{SqlError, SqlResult};
use turnstile_values::sink::ColumnMeta;
use turnstile_values::types::{ColumnType, ExprType};

use super::super::block::{Block, PlanContext, settled};
use super::super::query::{QueryPlan, ValuesPlan};
use super::super::scope::Outside;
use super::super::select::Around;
use super::kind::common_kind;
use super::{assemble, tail};

/// Plans VALUES. Of a single row the columns are those of a SELECT.
pub fn plan_values(
    context: &PlanContext<'_>,
    rows: &[Vec<ast::Expr>],
    around: Around<'_>,
    parent: Option<Outside<'_>>,
) -> SqlResult<QueryPlan> {
    let width = shape_of(rows)?;
    let mut block = Block::new(context, parent);
    let mut bound: Vec<Vec<Expr>> = Vec::with_capacity(rows.len());
    let mut kinds: Vec<(ExprType, bool)> = Vec::with_capacity(width);
    for row in rows {
        let mut exprs = Vec::with_capacity(width);
        for (nth, expr) in row.iter().enumerate() {
            let typed = block.bind(expr, "field list")?;
            let own = ExprType { column: settled(&typed.kind.column), ..typed.kind };
            match kinds.get_mut(nth) {
                Some((kind, open)) => {
                    (*kind, *open) = common_kind(context, (kind, *open), (&own, false))?;
                }
                None => kinds.push((own, false)),
            }
            exprs.push(typed.expr);
        }
        bound.push(exprs);
    }
    let needs_more = !block.subqueries.is_empty() || !block.scope.outer_places().is_empty();
    if let ([row], [], false) = (rows, around.order_by, needs_more) {
        let select = select_of(row);
        return Ok(QueryPlan::Select(Box::new(crate::plan::select::plan(context, &select, around, parent)?)));
    }
    if needs_more {
        return plan_selects(context, rows, around, parent);
    }
    if kinds.iter().any(|(_, open)| *open) {
        return Err(SqlError::mix_of_collations("UNION"));
    }
    let kinds: Vec<ExprType> = kinds.into_iter().map(|(kind, _)| whole_as_bigint(kind)).collect();
    let named = kinds.iter().enumerate();
    let columns: Arc<[ColumnMeta]> = named
        .map(|(nth, kind)| {
            ColumnMeta::computed(&format!("column_{nth}"), kind.column.clone(), kind.nullable)
                .with_traits(kind.traits)
                .kept()
        })
        .collect();
    let (order, limit) = tail(context, &columns, around, parent)?;
    let kinds = kinds.into_iter().map(|kind| kind.column).collect();
    Ok(QueryPlan::Values(Box::new(ValuesPlan { rows: bound, kinds, columns, order, limit })))
}

/// How many columns the rows of VALUES have. Errors 3942, 1136 and 3943 for rows that have none, not as many,
/// or DEFAULT among them.
fn shape_of(rows: &[Vec<ast::Expr>]) -> SqlResult<usize> {
    let width = rows.first().map_or(0, Vec::len);
    if width == 0 {
        return Err(SqlError::row_without_values());
    }
    if let Some(at) = rows.iter().position(|row| row.len() != width) {
        return Err(SqlError::wrong_value_count_on_row(at + 1));
    }
    if rows.iter().flatten().any(|expr| matches!(expr, ast::Expr::Default(None))) {
        return Err(SqlError::default_in_values());
    }
    Ok(width)
}

/// Whole numbers of several rows meet in a BIGINT.
fn whole_as_bigint(kind: ExprType) -> ExprType {
    let column = match kind.column {
        ColumnType::Int { unsigned: true, .. } => ColumnType::BIGINT_UNSIGNED,
        ColumnType::Int { .. } => ColumnType::BIGINT,
        other => other,
    };
    ExprType { column, ..kind }
}

/// A row of VALUES as a SELECT.
fn select_of(row: &[ast::Expr]) -> ast::Select {
    let item = |(nth, expr): (usize, &ast::Expr)| ast::SelectItem::Expr {
        expr: expr.clone(),
        name: format!("column_{nth}").into(),
        aliased: true,
    };
    ast::Select { items: row.iter().enumerate().map(item).collect(), ..crate::plan::select_of_nothing() }
}

/// VALUES whose rows need more than constants: `SELECT .. UNION ALL SELECT ..`.
fn plan_selects(
    context: &PlanContext<'_>,
    rows: &[Vec<ast::Expr>],
    around: Around<'_>,
    parent: Option<Outside<'_>>,
) -> SqlResult<QueryPlan> {
    let mut members = Vec::with_capacity(rows.len());
    for row in rows {
        let select = select_of(row);
        let bare = Around { order_by: &[], limit: None, locking: &[] };
        let plan = crate::plan::select::plan(context, &select, bare, parent)?;
        members.push((SetOperator::UnionAll, QueryPlan::Select(Box::new(plan))));
    }
    assemble(context, members, around, parent)
}
