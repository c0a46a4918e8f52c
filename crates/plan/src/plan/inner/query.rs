//! Sub-queries before they are planned: what is left out of them, and what they are made into.

use std::sync::Arc;

use turnstile_expr::expr::{AggregateKind, CompareOp, Expr, Typed, shown_as_type, shown_average};
use turnstile_syntax::{ast, walk};
use turnstile_values::collation::Collation;
use turnstile_values::error::{SqlError, SqlResult};
use turnstile_values::sink::ColumnMeta;
use turnstile_values::types::{ColumnType, ExprType};

use super::super::block::settled;
use super::super::query::{LimitPlan, QueryPlan, SubqueryKind, ValuesPlan};
use super::super::{aggregate, varying};

/// `SELECT * FROM t` as `SELECT 1 FROM t`: EXISTS reads no column for it, and asks for no privilege on one.
pub(super) fn without_star(query: &ast::Query) -> Option<ast::Query> {
    let ast::QueryBody::Select(select) = &query.body else { return None };
    let star = |item: &ast::SelectItem| matches!(item, ast::SelectItem::Wildcard { table: None, .. });
    let plain = select.group_by.is_empty() && select.having.is_none() && !select.distinct;
    if !plain || select.from.is_empty() || !query.order_by.is_empty() || !select.items.iter().all(star) {
        return None;
    }
    let one = ast::Expr::Literal(ast::Literal::Int(1));
    let items = vec![ast::SelectItem::Expr { expr: one, name: "1".into(), aliased: false }];
    let select = ast::Select { items, ..(**select).clone() };
    Some(ast::Query { body: ast::QueryBody::Select(Box::new(select)), ..query.clone() })
}

/// A query without the values of its list, and the order of its rows, that give another value each time or
/// wait: EXISTS works neither out.
pub(super) fn without_varying(query: &ast::Query) -> Option<ast::Query> {
    let ast::QueryBody::Select(select) = &query.body else { return None };
    let aggregates = |expr: &ast::Expr| {
        walk::any(expr, &|one| matches!(one, ast::Expr::Function(call) if aggregate::is_aggregate(call)))
    };
    let unread = |expr: &ast::Expr| varying::varies(expr) && !aggregates(expr);
    let mut left = (**select).clone();
    for item in &mut left.items {
        if let ast::SelectItem::Expr { expr, .. } = item
            && unread(expr)
        {
            *expr = ast::Expr::Literal(ast::Literal::Int(1));
        }
    }
    let mut order_by = query.order_by.clone();
    order_by.retain(|key| !unread(&key.expr));
    let same = left.items == select.items && order_by.len() == query.order_by.len();
    if same || select.having.is_some() {
        return None;
    }
    Some(ast::Query { body: ast::QueryBody::Select(Box::new(left)), order_by, ..query.clone() })
}

/// Whether a query is nothing but values: it has one row, whatever the tables hold.
pub(super) fn is_value(query: &ast::Query) -> bool {
    let ast::QueryBody::Select(select) = &query.body else { return false };
    let grouped = !select.group_by.is_empty() || select.having.is_some();
    query.limit.is_none() && select.from.is_empty() && select.condition.is_none() && !grouped
}

/// `a IN (SELECT b)` and `a > ANY (SELECT b)`, where nothing is read and there is one row, as what they are:
/// comparisons of two values. What a `?` is does not follow from a comparison outside its query.
pub(super) fn with_value(expr: &ast::Expr) -> Option<ast::Expr> {
    let (operand, op, query) = match expr {
        ast::Expr::InSubquery { operand, query, negated: false } => (operand, ast::BinaryOp::Equal, query),
        ast::Expr::InSubquery { operand, query, .. } => (operand, ast::BinaryOp::NotEqual, query),
        ast::Expr::Quantified { operand, op, query, .. } => (operand, *op, query),
        _ => return None,
    };
    let ast::QueryBody::Select(select) = &query.body else { return None };
    let [ast::SelectItem::Expr { expr: value, .. }] = &select.items[..] else { return None };
    let row = |one: &ast::Expr| matches!(one, ast::Expr::Row(_) | ast::Expr::Subquery(_));
    let more = walk::any(value, &|one| match one {
        ast::Expr::Function(call) => crate::plan::is_aggregate(call) || call.over.is_some(),
        one => one.is_query() || matches!(one, ast::Expr::Row(_) | ast::Expr::Parameter(_)),
    });
    let plain = is_value(query) && query.with.is_none() && query.order_by.is_empty() && !more;
    let plain = plain && !row(operand) && !varying::varies(value);
    plain.then(|| ast::Expr::Binary { op, left: operand.clone(), right: Box::new(value.clone()) })
}

/// The type of a value that a sub-query gives.
pub(super) fn value_type(column: &ColumnMeta) -> ExprType {
    ExprType::nullable(settled(&column.column_type)).with_traits(column.traits)
}

/// A document and what it is compared with, each as what documents are ordered by.
pub(super) fn compare_documents(kind: &mut SubqueryKind, operands: &[ExprType], plan: &mut QueryPlan) {
    let columns = plan.columns().clone();
    let documents =
        |at: usize| operands[at].column == ColumnType::Json || columns[at].column_type == ColumnType::Json;
    let mut order = |operand: &mut Expr, collation: &mut Collation, at: usize| {
        if documents(at) && plan.order_as_document(at) {
            let typed = Typed { expr: operand.clone(), kind: operands[at].clone() };
            (*operand, *collation) = (turnstile_expr::functions::as_order(typed).expr, Collation::Binary);
        }
    };
    match kind {
        SubqueryKind::Quantified { operand, collation, .. } => order(operand, collation, 0),
        SubqueryKind::In { operand, .. } => {
            let parts = operand.iter_mut().enumerate();
            parts.for_each(|(at, (operand, collation))| order(operand, collation, at));
        }
        _ => {}
    }
}

/// The value of an aggregate that may have other digits than its type.
pub(in crate::plan) fn as_shown(place: Typed, kind: Option<AggregateKind>) -> Typed {
    if kind == Some(AggregateKind::Average) { shown_average(place) } else { shown_as_type(place) }
}

/// In the place of a query, where there is none.
pub(in crate::plan) fn no_query() -> QueryPlan {
    let limit = LimitPlan { count: None, offset: None };
    QueryPlan::Values(Box::new(ValuesPlan {
        rows: Vec::new(),
        kinds: Vec::new(),
        columns: Arc::from([]),
        order: Vec::new(),
        limit,
    }))
}

pub(super) fn compare_op(op: ast::BinaryOp) -> SqlResult<CompareOp> {
    Ok(match op {
        ast::BinaryOp::Equal => CompareOp::Equal,
        ast::BinaryOp::NullSafeEqual => CompareOp::NullSafeEqual,
        ast::BinaryOp::NotEqual => CompareOp::NotEqual,
        ast::BinaryOp::Less => CompareOp::Less,
        ast::BinaryOp::LessOrEqual => CompareOp::LessOrEqual,
        ast::BinaryOp::Greater => CompareOp::Greater,
        ast::BinaryOp::GreaterOrEqual => CompareOp::GreaterOrEqual,
        _ => return Err(SqlError::not_supported_yet("this quantified comparison")),
    })
}
