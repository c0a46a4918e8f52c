//! UNION, EXCEPT, INTERSECT and VALUES.

mod kind;
mod values;

use std::sync::Arc;

use turnstile_expr::expr::{Expr, Typed};
use turnstile_syntax::ast::{self, OrderItem, SetOperator};
use turnstile_syntax::walk;
use turnstile_values::collation::Collation;
use turnstile_values::error::{SqlError, SqlResult};
use turnstile_values::sink::ColumnMeta;
use turnstile_values::types::{ExprType, column_flag};

use super::block::{Block, PlanContext, settled};
use super::query::{OrderKey, QueryPlan, SetPlan};
use super::scope::{Outside, is_aggregated};
use super::select::{Around, limit_plan};
use super::windows::has_window;
use super::{member_texts, times_as_texts};
use kind::{becomes_text, common_kind, convert_literals};
pub use values::plan_values;

/// Plans a set operation.
pub fn plan(
    context: &PlanContext<'_>,
    first: &ast::Query,
    rest: &[(SetOperator, ast::Query)],
    around: Around<'_>,
    parent: Option<Outside<'_>>,
) -> SqlResult<QueryPlan> {
    if around.order_by.iter().any(|item| walk::any(&item.expr, &ast::Expr::is_query)) {
        return sorted(context, first, rest, around, parent);
    }
    let sent = context.depth == 1 && around.order_by.is_empty();
    let members = planned(context, first, rest, sent, parent)?;
    let mut plan = combined(context, members, around, sent, parent)?;
    let queries: Vec<&ast::Query> = std::iter::once(first).chain(rest.iter().map(|(_, one)| one)).collect();
    times_as_texts::take(&mut plan, &queries);
    settled_set(plan)
}

/// The members of a set operation. They are `sent` if rows go out as they come, not through a table that has
/// them all.
fn planned(
    context: &PlanContext<'_>,
    first: &ast::Query,
    rest: &[(SetOperator, ast::Query)],
    sent: bool,
    parent: Option<Outside<'_>>,
) -> SqlResult<Vec<(SetOperator, QueryPlan)>> {
    let sent = sent && rest.iter().all(|(operator, _)| *operator == SetOperator::UnionAll);
    let mut members = vec![(SetOperator::UnionAll, member(context, first, sent, parent)?)];
    for (operator, query) in rest {
        members.push((*operator, member(context, query, sent, parent)?));
    }
    Ok(members)
}

/// A member. One that is a set operation itself need not agree on collations, if the whole does.
fn member(
    context: &PlanContext<'_>,
    query: &ast::Query,
    sent: bool,
    parent: Option<Outside<'_>>,
) -> SqlResult<QueryPlan> {
    match &query.body {
        ast::QueryBody::SetOperation { first, rest }
            if query.with.is_none()
                && !query.order_by.iter().any(|item| walk::any(&item.expr, &ast::Expr::is_query)) =>
        {
            let around = Around { order_by: &query.order_by, limit: query.limit.as_ref(), locking: &[] };
            let sent = sent && query.order_by.is_empty();
            let members = planned(context, first, rest, sent, parent)?;
            Ok(QueryPlan::Set(Box::new(combined(context, members, around, sent, parent)?)))
        }
        _ => super::plan_query(context, query, parent),
    }
}

/// ORDER BY with sub-queries: `SELECT * FROM (the set operation) ORDER BY ..`, whose block can run them.
fn sorted(
    context: &PlanContext<'_>,
    first: &ast::Query,
    rest: &[(SetOperator, ast::Query)],
    around: Around<'_>,
    parent: Option<Outside<'_>>,
) -> SqlResult<QueryPlan> {
    refuse_order(around.order_by)?;
    let body = ast::QueryBody::SetOperation { first: Box::new(first.clone()), rest: rest.to_vec() };
    let query = ast::Query {
        with: None,
        body,
        order_by: Vec::new(),
        limit: None,
        locking: Vec::new(),
        into: Vec::new(),
    };
    let derived = ast::TableRef::Derived {
        query: Box::new(query),
        alias: "".into(),
        columns: Vec::new(),
        lateral: false,
        json_table: None,
    };
    let select = ast::Select {
        items: vec![ast::SelectItem::Wildcard { schema: None, table: None }],
        from: vec![derived],
        ..super::select_of_nothing()
    };
    Ok(QueryPlan::Select(Box::new(super::select::plan(context, &select, around, parent)?)))
}

/// What ORDER BY of a set operation may not have: an aggregate, and columns of the tables of one of its
/// members.
fn refuse_order(order: &[OrderItem]) -> SqlResult<()> {
    for (nth, item) in order.iter().enumerate() {
        if is_aggregated(&item.expr) || has_window(&item.expr) {
            return Err(SqlError::aggregate_order_of_union(nth + 1));
        }
        let mut table = None;
        walk::each(&item.expr, &mut |one| {
            if let ast::Expr::Column(name) = one {
                table = table.take().or_else(|| name.table.clone());
            }
        });
        if let Some(table) = table {
            return Err(SqlError::table_in_global_order(table));
        }
    }
    Ok(())
}

/// A set operation over queries that are planned. Error 1271 if texts of a column do not agree on a
/// collation.
pub fn assemble(
    context: &PlanContext<'_>,
    members: Vec<(SetOperator, QueryPlan)>,
    around: Around<'_>,
    parent: Option<Outside<'_>>,
) -> SqlResult<QueryPlan> {
    settled_set(combined(context, members, around, false, parent)?)
}

fn settled_set(plan: SetPlan) -> SqlResult<QueryPlan> {
    if plan.undecided.contains(&true) {
        return Err(SqlError::mix_of_collations("UNION"));
    }
    Ok(QueryPlan::Set(Box::new(plan)))
}

fn combined(
    context: &PlanContext<'_>,
    mut members: Vec<(SetOperator, QueryPlan)>,
    around: Around<'_>,
    sent: bool,
    parent: Option<Outside<'_>>,
) -> SqlResult<SetPlan> {
    let head = members[0].1.columns().clone();
    let mut kinds: Vec<ExprType> = Vec::new();
    let mut undecided: Vec<bool> = Vec::new();
    let mut term = Term::default();
    for (at, (operator, member)) in members.iter().enumerate() {
        let (goes_on, merged) = term.take(*operator, member);
        let stays_apart = sent && !goes_on && !taken_in_later(&members[at..]);
        let is_text_later = stays_apart && at > 1 && becomes_text(&kinds, &members[at..]);
        if is_text_later || !goes_on && undecided.contains(&true) {
            if at > 1 {
                // The rows before are told apart by the collation that they are left with, and are texts of
                // the type that they have.
                let rest = members.split_off(at);
                let nothing = Around { order_by: &[], limit: None, locking: &[] };
                let before = QueryPlan::Set(Box::new(combined(context, members, nothing, sent, parent)?));
                let members = std::iter::once((SetOperator::UnionAll, before)).chain(rest).collect();
                return combined(context, members, around, sent, parent);
            }
            undecided.fill(false);
        }
        let columns = member.columns();
        if columns.len() != head.len() {
            return Err(SqlError::wrong_number_of_columns_in_select());
        }
        for (nth, column) in columns.iter().enumerate() {
            let nullable = column.flags & column_flag::NOT_NULL == 0;
            let own = ExprType::new(settled(&column.column_type), nullable).with_traits(column.traits);
            let open = merged && matches!(member, QueryPlan::Set(plan) if plan.undecided[nth]);
            match kinds.get_mut(nth) {
                Some(kind) => {
                    let nullable = match operator {
                        SetOperator::ExceptAll | SetOperator::ExceptDistinct => kind.nullable,
                        SetOperator::IntersectAll | SetOperator::IntersectDistinct => {
                            kind.nullable && own.nullable
                        }
                        _ => kind.nullable || own.nullable,
                    };
                    let (common, open) = common_kind(context, (kind, undecided[nth]), (&own, open))?;
                    (*kind, undecided[nth]) = (ExprType { nullable, ..common }, open);
                }
                None => {
                    kinds.push(own);
                    undecided.push(open);
                }
            }
        }
    }
    member_texts::size(&mut kinds, &members);
    let columns: Arc<[ColumnMeta]> = head
        .iter()
        .zip(&kinds)
        .map(|(column, kind)| {
            ColumnMeta::computed(&column.name, kind.column.clone(), kind.nullable)
                .with_traits(kind.traits)
                .kept()
        })
        .collect();
    for (_, member) in &mut members {
        convert_literals(member, &kinds)?;
    }
    let (order, limit) = tail(context, &columns, around, parent)?;
    let kinds = kinds.into_iter().map(|kind| kind.column).collect();
    Ok(SetPlan { members, columns, kinds, undecided, order, limit })
}

/// Whether an operation behind the first of these takes in all before it.
fn taken_in_later(members: &[(SetOperator, QueryPlan)]) -> bool {
    let unions = members.iter().map(|(operator, _)| *operator);
    let unions = unions.take_while(|one| takes_in(SetOperator::UnionDistinct, *one));
    unions.skip(1).any(|one| one == SetOperator::UnionDistinct)
}

/// The operations that MySQL takes for one with the last one. Texts must agree among the members of one
/// operation; those of an operation inside another may disagree, and are then of no collation in that one.
#[derive(Default)]
struct Term {
    operators: Vec<SetOperator>,
    members: usize,
}

impl Term {
    /// Adds a member. Whether the operation goes on with it, and whether the operations that the member is
    /// made of belong to it.
    fn take(&mut self, operator: SetOperator, member: &QueryPlan) -> (bool, bool) {
        let first = self.members == 0;
        self.members += 1;
        let goes_on = first || self.operators.iter().all(|before| takes_in(operator, *before));
        if !goes_on {
            self.operators.clear();
        }
        let within: Vec<SetOperator> = match member {
            QueryPlan::Set(plan) => plan.members.iter().skip(1).map(|(operator, _)| *operator).collect(),
            _ => Vec::new(),
        };
        let is_cut = matches!(member, QueryPlan::Set(plan) if plan.limit.count.is_some());
        let except = matches!(operator, SetOperator::ExceptAll | SetOperator::ExceptDistinct);
        let merged = !is_cut && (first || !except && within.iter().all(|one| takes_in(operator, *one)));
        if !first {
            self.operators.push(operator);
        }
        if merged {
            self.operators.extend(within);
        }
        (goes_on, merged)
    }
}

/// Whether an operation takes in the members of another that stands in its place.
fn takes_in(operator: SetOperator, other: SetOperator) -> bool {
    use SetOperator as S;
    match operator {
        S::UnionDistinct => matches!(other, S::UnionAll | S::UnionDistinct),
        S::UnionAll => other == S::UnionAll,
        S::ExceptAll | S::ExceptDistinct => matches!(other, S::ExceptAll | S::ExceptDistinct),
        S::IntersectAll | S::IntersectDistinct => matches!(other, S::IntersectAll | S::IntersectDistinct),
    }
}

/// ORDER BY and LIMIT over the result's own columns.
fn tail(
    context: &PlanContext<'_>,
    columns: &[ColumnMeta],
    around: Around<'_>,
    parent: Option<Outside<'_>>,
) -> SqlResult<(Vec<OrderKey>, super::query::LimitPlan)> {
    let mut block = Block::new(context, parent);
    block.scope.add_columns(columns);
    let mut order = Vec::new();
    refuse_order(around.order_by)?;
    for OrderItem { expr, descending } in around.order_by {
        let typed = match expr {
            ast::Expr::Literal(ast::Literal::Int(position)) => {
                let at = usize::try_from(*position).ok().and_then(|at| at.checked_sub(1));
                let column = at.and_then(|at| columns.get(at).map(|column| (at, column)));
                let (at, column) =
                    column.ok_or_else(|| SqlError::unknown_column(position, "order clause"))?;
                let kind = ExprType::nullable(settled(&column.column_type));
                Typed { expr: Expr::Column(at), kind }
            }
            other => block.bind(other, "order clause")?,
        };
        let typed = turnstile_expr::functions::as_sorted(typed);
        let collation = typed.kind.column.collation().unwrap_or(Collation::Binary);
        order.push(OrderKey { expr: typed.expr, descending: *descending, collation });
    }
    let limit = limit_plan(&mut block, around.limit)?;
    if !block.subqueries.is_empty() || !block.scope.outer_places().is_empty() {
        return Err(SqlError::not_supported_yet("sub-queries and outer columns in the ORDER BY of a UNION"));
    }
    Ok((order, limit))
}
