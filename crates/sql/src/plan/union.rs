//! UNION, EXCEPT, INTERSECT and VALUES.

use std::sync::Arc;

use crate::ast::{self, ColumnName, OrderItem, SetOperator};
use crate::collation::Collation;
use crate::error::{SqlError, SqlResult};
use crate::expr::{Expr, unified_type};
use crate::sink::ColumnMeta;
use crate::types::{ColumnType, column_flag};

use super::block::{Block, PlanContext, settled};
use super::query::{OrderKey, QueryPlan, SetPlan, ValuesPlan};
use super::scope::Scope;
use super::select::{Around, limit_plan};

/// Plans a set operation.
pub fn plan(
    context: &PlanContext<'_>,
    first: &ast::Query,
    rest: &[(SetOperator, ast::Query)],
    around: Around<'_>,
    parent: Option<&Scope<'_>>,
) -> SqlResult<QueryPlan> {
    let mut members = vec![(SetOperator::UnionAll, super::plan_query(context, first, parent)?)];
    for (operator, query) in rest {
        members.push((*operator, super::plan_query(context, query, parent)?));
    }
    assemble(context, members, around, parent)
}

/// A set operation over queries that are planned.
pub fn assemble(
    context: &PlanContext<'_>,
    members: Vec<(SetOperator, QueryPlan)>,
    around: Around<'_>,
    parent: Option<&Scope<'_>>,
) -> SqlResult<QueryPlan> {
    let head = members[0].1.columns().clone();
    let mut kinds: Vec<(ColumnType, bool)> = Vec::new();
    for (_, member) in &members {
        let columns = member.columns();
        if columns.len() != head.len() {
            return Err(SqlError::wrong_number_of_columns_in_select());
        }
        for (nth, column) in columns.iter().enumerate() {
            let nullable = column.flags & column_flag::NOT_NULL == 0;
            match kinds.get_mut(nth) {
                Some((kind, any)) => {
                    *kind = unified_type(kind, &settled(&column.column_type));
                    *any |= nullable;
                }
                None => kinds.push((settled(&column.column_type), nullable)),
            }
        }
    }
    let columns: Arc<[ColumnMeta]> = head
        .iter()
        .zip(&kinds)
        .map(|(column, (kind, nullable))| ColumnMeta::computed(&column.name, kind.clone(), *nullable))
        .collect();
    let (order, limit) = tail(context, &columns, around, parent)?;
    let kinds = kinds.into_iter().map(|(kind, _)| kind).collect();
    Ok(QueryPlan::Set(Box::new(SetPlan { members, columns, kinds, order, limit })))
}

/// Plans VALUES.
pub fn plan_values(
    context: &PlanContext<'_>,
    rows: &[Vec<ast::Expr>],
    around: Around<'_>,
    parent: Option<&Scope<'_>>,
) -> SqlResult<QueryPlan> {
    let mut block = Block::new(context, parent);
    let mut bound: Vec<Vec<Expr>> = Vec::new();
    let mut kinds: Vec<ColumnType> = Vec::new();
    for row in rows {
        if !bound.is_empty() && row.len() != kinds.len() {
            return Err(SqlError::wrong_number_of_columns_in_select());
        }
        let mut exprs = Vec::new();
        for (nth, expr) in row.iter().enumerate() {
            let typed = block.bind(expr, "field list")?;
            match kinds.get_mut(nth) {
                Some(kind) => *kind = unified_type(kind, &typed.kind.column),
                None => kinds.push(typed.kind.column),
            }
            exprs.push(typed.expr);
        }
        bound.push(exprs);
    }
    if !block.subqueries.is_empty() {
        return Err(SqlError::not_supported_yet("sub-queries in VALUES"));
    }
    let named = kinds.iter().enumerate();
    let columns: Arc<[ColumnMeta]> =
        named.map(|(nth, kind)| ColumnMeta::computed(&format!("column_{nth}"), kind.clone(), true)).collect();
    let (order, limit) = tail(context, &columns, around, parent)?;
    Ok(QueryPlan::Values(Box::new(ValuesPlan { rows: bound, columns, order, limit })))
}

/// ORDER BY and LIMIT over the result's own columns.
fn tail(
    context: &PlanContext<'_>,
    columns: &[ColumnMeta],
    around: Around<'_>,
    parent: Option<&Scope<'_>>,
) -> SqlResult<(Vec<OrderKey>, super::query::LimitPlan)> {
    let mut block = Block::new(context, parent);
    block.scope.add_columns(columns);
    let mut order = Vec::new();
    for OrderItem { expr, descending } in around.order_by {
        let expr = match expr {
            ast::Expr::Literal(ast::Literal::Int(position)) => {
                let column = usize::try_from(*position).ok().and_then(|at| columns.get(at.checked_sub(1)?));
                let column = column.ok_or_else(|| SqlError::unknown_column(position, "order clause"))?;
                ast::Expr::Column(ColumnName { schema: None, table: None, column: column.name.clone() })
            }
            other => other.clone(),
        };
        let typed = crate::functions::in_order(block.bind(&expr, "order clause")?);
        let collation = typed.kind.column.collation().unwrap_or(Collation::Binary);
        order.push(OrderKey { expr: typed.expr, descending: *descending, collation });
    }
    Ok((order, limit_plan(&mut block, around.limit)?))
}
