//! UNION, EXCEPT, INTERSECT and VALUES.

use std::sync::Arc;

use turnstile_expr::expr::{
    Expr, Typed, signed, unified_agreed, unified_type, with_all_of_average, with_own_digits,
};
use turnstile_expr::expr::{Use, converted};
use turnstile_syntax::ast::{self, OrderItem, SetOperator};
use turnstile_syntax::walk;
use turnstile_values::collation::Collation;
use turnstile_values::error::{SqlError, SqlResult};
use turnstile_values::mixing::{Derivation, Meeting, Party, Purpose, Traits};
use turnstile_values::sink::ColumnMeta;
use turnstile_values::types::{ColumnType, ExprType, column_flag};

use super::block::{Block, PlanContext, settled};
use super::query::{OrderKey, QueryPlan, SetPlan, ValuesPlan};
use super::scope::{Outside, is_aggregated};
use super::select::{Around, limit_plan};
use super::{member_texts, times_as_texts};

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
        if is_aggregated(&item.expr) {
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

/// Whether values that are no texts are texts among those of more members.
fn becomes_text(kinds: &[ExprType], more: &[(SetOperator, QueryPlan)]) -> bool {
    kinds.iter().enumerate().any(|(nth, kind)| {
        let others = more.iter().filter_map(|(_, member)| Some(&member.columns().get(nth)?.column_type));
        let all = others.fold(kind.column.clone(), |all, other| unified_type(&all, &settled(other)));
        !kind.column.is_string() && all.is_string()
    })
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

/// Literals and bytes of a member that become text of the character set of their column, and decimals that
/// become text.
fn convert_literals(member: &mut QueryPlan, kinds: &[ExprType]) -> SqlResult<()> {
    let QueryPlan::Select(plan) = member else { return Ok(()) };
    let passes_on = !plan.distinct && plan.group.is_none();
    for (item, kind) in plan.items.iter_mut().zip(kinds) {
        if kind.column.is_string() && kind.column != ColumnType::Json && passes_on {
            *item = with_own_digits(item.clone());
        } else if !plan.distinct {
            *item = with_all_of_average(item.clone());
        }
        if passes_on && plan.point.is_none() {
            *item = member_texts::shown(item.clone(), &kind.column);
        }
        *item = member_texts::of_parameter(item.clone(), &kind.column);
        let literal = matches!(item.expr, Expr::Literal(_));
        let bytes = item.kind.column.is_binary_string() && plan.point.is_none();
        if let Some(collation) = kind.column.collation().filter(|_| literal || bytes) {
            *item = converted(item.clone(), collation, Use::Result)?;
        }
    }
    Ok(())
}

/// The type of a column of which one query's values are of one type, another's of another, each with whether
/// its texts do not agree on a collation; and whether they do not now.
fn common_kind(
    context: &PlanContext<'_>,
    (one, one_open): (&ExprType, bool),
    (other, other_open): (&ExprType, bool),
) -> SqlResult<(ExprType, bool)> {
    let nullable = one.nullable || other.nullable;
    let kind = signed(unified_type(&one.column, &other.column));
    if !kind.is_string() {
        return Ok((ExprType::new(kind, nullable), false));
    }
    let connection = context.eval.settings.connection_collation;
    let meeting = Meeting { operation: "UNION", purpose: Purpose::Result, connection };
    let parties = [party(one), party(other)];
    // Texts that do not agree are refused, unless a column behind them says in which collation all are
    // compared.
    let (agreed, open) = match (one_open, other_open) {
        (false, false) => {
            let agreed = meeting.agree(&parties)?;
            (agreed, agreed.traits.derivation == Derivation::None)
        }
        (true, false) if settles(parties[1]) => (parties[1], false),
        (false, true) if settles(parties[0]) => (parties[0], false),
        (false, true) => (parties[1], true),
        _ => (parties[0], true),
    };
    let mut kind = unified_agreed(&one.column, &other.column, agreed);
    if agreed.traits.derivation == Derivation::Ignorable {
        // Beside NULL, texts without a collation are bytes.
        kind.column = ColumnType::Varbinary { length: kind.column.wire_length() };
    }
    Ok((ExprType { nullable, ..kind }, open))
}

/// What a column brings to a common type: bits are bytes beside text.
fn party(kind: &ExprType) -> Party {
    let of = Party::of(kind);
    if !matches!(kind.column, ColumnType::Bit { .. }) {
        return of;
    }
    let traits = Traits { derivation: Derivation::Implicit, ..of.traits };
    Party { collation: Collation::Binary, traits }
}

/// Whether a text has a collation of its own that ends a disagreement: that of a column or an explicit one,
/// but not the one that a disagreement is left with.
fn settles(party: Party) -> bool {
    matches!(party.traits.derivation, Derivation::Explicit | Derivation::Implicit)
        && party.collation != Collation::Utf8mb4Bin
}

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
        return Ok(QueryPlan::Select(Box::new(super::select::plan(context, &select, around, parent)?)));
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
    ast::Select { items: row.iter().enumerate().map(item).collect(), ..super::select_of_nothing() }
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
        let plan = super::select::plan(context, &select, bare, parent)?;
        members.push((SetOperator::UnionAll, QueryPlan::Select(Box::new(plan))));
    }
    assemble(context, members, around, parent)
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
