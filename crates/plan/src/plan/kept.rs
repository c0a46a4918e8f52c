//! What columns are announced as whose values are kept before they are sent. MySQL collects the rows of
//! DISTINCT, of most groups and of joins that are sorted in a temporary table; an expression has the type of
//! that table's column then. Whether there is such a table depends on MySQL's plan; what is asked here is
//! what it does where no index gives the order.

use std::sync::Arc;

use turnstile_expr::expr::AggregateKind;
use turnstile_expr::expr::{Expr, Typed};
use turnstile_expr::functions;
use turnstile_values::mixing::Traits;
use turnstile_values::sink::{ColumnMeta, Origin};
use turnstile_values::types::{BlobSize, ColumnType, IntWidth};
use turnstile_values::value::Value;

use super::query::{Aggregate, GroupPlan, JoinStep, QueryPlan, SelectPlan, Source, TableSource};

/// Digits and sign of which INT holds every number; longer ones are kept in a BIGINT.
const INT_DIGITS_MAX: u32 = 9;

/// Longest text that is kept as a VARCHAR; a longer one is kept as a TEXT.
const VARCHAR_LENGTH_MAX: u32 = 512;

/// What of a block is kept.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kept {
    /// What is read of the rows, before they are grouped.
    Rows,
    /// The groups: what is computed over them is computed later.
    Groups,
    /// Everything, columns of tables as they are.
    All,
    /// Everything, columns of tables among it: rows that sum over others.
    Sums,
    /// Everything, constants among it: the rows are a table of the query around.
    Table,
}

/// Gives the columns of a statement's query the types that they are kept with; `ordered`: it has an ORDER BY.
pub fn announce(plan: &mut QueryPlan, ordered: bool) {
    let plan = match plan {
        QueryPlan::Select(plan) => plan,
        QueryPlan::Set(plan) => {
            let kept = |meta: &ColumnMeta| ColumnMeta { column_type: united_type(meta), ..meta.clone() };
            plan.columns = plan.columns.iter().map(kept).collect();
            return;
        }
        QueryPlan::Values(_) => return,
    };
    let Some(kept) = kept_of(plan, ordered) else { return };
    let columns: Arc<[ColumnMeta]> = plan
        .columns
        .iter()
        .zip(&plan.items)
        .map(|(meta, item)| column(plan, kept, meta, &item.expr))
        .collect();
    plan.columns = columns;
}

/// Groups that are collected in a table have sums, and the least and the greatest, with the digits of their
/// types, whatever their values have.
pub fn keep_groups(plan: &mut SelectPlan) {
    let Some(group) = &plan.group else { return };
    let streamed = group.implicit || !group.rollup.is_empty() || comes_grouped(plan, group);
    if streamed || group.aggregates.iter().any(wants_sorted_rows) || plan.steps.iter().all(is_one_row) {
        return;
    }
    for aggregate in plan.group.iter_mut().flat_map(|group| &mut group.aggregates) {
        let kept = match aggregate.kind {
            AggregateKind::Average => aggregate.arguments.first().map(|one| &one.kind.column),
            AggregateKind::Sum | AggregateKind::Min | AggregateKind::Max => Some(&aggregate.result),
            _ => None,
        };
        aggregate.kept_scale = match kept {
            Some(ColumnType::Decimal { scale, .. }) => Some(*scale),
            _ => None,
        };
    }
}

/// The types of a query's columns where its rows are a table of the query around; `united`: with those of
/// others.
pub fn types_in_table(plan: &QueryPlan, united: bool) -> Vec<ColumnType> {
    match plan {
        QueryPlan::Select(plan) if !united => {
            let kept = |(meta, item): (&ColumnMeta, &Typed)| match item.expr {
                // NULL takes no part in the types of what is made of the column.
                Expr::Literal(Value::Null) => meta.column_type.clone(),
                _ => column(plan, Kept::Table, meta, &item.expr).column_type,
            };
            plan.columns.iter().zip(&plan.items).map(kept).collect()
        }
        // The numbers of a set operation are what they are.
        QueryPlan::Select(_) | QueryPlan::Set(_) | QueryPlan::Values(_) => {
            plan.columns().iter().map(united_type).collect()
        }
    }
}

/// How strongly columns hold on to their collations where the rows are a table of the query around: what an
/// aggregate makes of texts is a column of that table.
pub fn traits_in_table(plan: &QueryPlan) -> Vec<Traits> {
    let columns = plan.columns().iter();
    let QueryPlan::Select(plan) = plan else { return columns.map(|meta| meta.traits).collect() };
    let aggregates = plan.group.as_ref().map_or(&[][..], |group| &group.aggregates);
    let own = |(meta, item): (&ColumnMeta, &Typed)| match item.expr {
        Expr::Column(at)
            if aggregates.iter().any(|one| one.position == at) && !meta.column_type.is_numeric() =>
        {
            Traits::of(&kept_type(&meta.column_type))
        }
        _ => meta.traits,
    };
    columns.zip(&plan.items).map(own).collect()
}

fn united_type(meta: &ColumnMeta) -> ColumnType {
    match &meta.column_type {
        kind @ (ColumnType::Int { .. }
        | ColumnType::Year
        | ColumnType::Char { .. }
        | ColumnType::Binary { .. }) => kind.clone(),
        kind => kept_type(kind),
    }
}

fn column(plan: &SelectPlan, kept: Kept, meta: &ColumnMeta, expr: &Expr) -> ColumnMeta {
    if meta.origin == Origin::Column {
        let whole = matches!(meta.column_type, ColumnType::Int { .. } | ColumnType::Year);
        let computed = match kept {
            Kept::Sums => matches!(meta.column_type, ColumnType::Int { .. }),
            Kept::All | Kept::Table => whole && is_rollup_key(plan, expr),
            Kept::Rows | Kept::Groups => false,
        };
        return match computed {
            true => ColumnMeta { column_type: kept_type(&meta.column_type), ..meta.clone() },
            false => meta.clone(),
        };
    }
    let aggregates = plan.group.as_ref().map_or(&[][..], |group| &group.aggregates);
    if let Expr::Column(at) = expr
        && let Some(aggregate) = aggregates.iter().find(|one| one.position == *at)
    {
        return match kept {
            Kept::Rows => meta.clone(),
            _ => ColumnMeta { column_type: aggregated_type(aggregate, meta), ..meta.clone() }.kept(),
        };
    }
    let read = expr.columns();
    let of_groups = read.iter().any(|at| aggregates.iter().any(|one| one.position == *at));
    let fixed = |at: &usize| plan.subqueries.iter().any(|sub| !sub.correlated && sub.places().contains(at));
    let early = of_groups && matches!(kept, Kept::Rows | Kept::Groups);
    if early || kept != Kept::Table && read.iter().all(fixed) {
        return meta.clone();
    }
    ColumnMeta { column_type: kept_type(&meta.column_type), ..meta.clone() }.kept()
}

/// MIN and MAX of a column are kept as that column, of anything else as their own type.
fn aggregated_type(aggregate: &Aggregate, meta: &ColumnMeta) -> ColumnType {
    let extreme = matches!(aggregate.kind, AggregateKind::Min | AggregateKind::Max);
    let argument = aggregate.arguments.first().map(|argument| &argument.expr);
    match &meta.column_type {
        kind if extreme && matches!(argument, Some(Expr::Column(_) | Expr::TimestampColumn(_))) => {
            kind.clone()
        }
        ColumnType::Int { unsigned, .. } => whole(IntWidth::Big, *unsigned, &meta.column_type),
        ColumnType::Year => whole(IntWidth::Big, true, &meta.column_type),
        // What is no column is kept with all its digits.
        ColumnType::Float { digits, .. } if extreme => {
            ColumnType::Double { unsigned: false, digits: *digits, zerofill: false }
        }
        kind => kept_type(kind),
    }
}

fn whole(width: IntWidth, unsigned: bool, shown: &ColumnType) -> ColumnType {
    ColumnType::Int { width, unsigned, display: u8::try_from(shown.wire_length()).ok(), zerofill: false }
}

/// The type of the column that keeps an expression's values.
pub fn kept_type(kind: &ColumnType) -> ColumnType {
    match kind {
        ColumnType::Null => ColumnType::Varbinary { length: 0 },
        ColumnType::Int { zerofill: false, .. } | ColumnType::Year => {
            let width = if kind.wire_length() > INT_DIGITS_MAX { IntWidth::Big } else { IntWidth::Int };
            whole(width, kind.is_unsigned(), kind)
        }
        ColumnType::Varchar { length, collation } | ColumnType::Char { length, collation } => {
            if *length > VARCHAR_LENGTH_MAX {
                let bytes = u64::from(*length) * u64::from(collation.max_char_bytes());
                ColumnType::Text { size: size_for(bytes), collation: *collation }
            } else {
                ColumnType::Varchar { length: *length, collation: *collation }
            }
        }
        ColumnType::Varbinary { length } | ColumnType::Binary { length } => {
            if *length > VARCHAR_LENGTH_MAX {
                ColumnType::Blob { size: size_for(u64::from(*length)) }
            } else {
                ColumnType::Varbinary { length: *length }
            }
        }
        other => other.clone(),
    }
}

fn size_for(bytes: u64) -> BlobSize {
    let sizes = [BlobSize::Normal, BlobSize::Medium];
    sizes.into_iter().find(|size| bytes <= size.max_bytes()).unwrap_or(BlobSize::Long)
}

fn kept_of(plan: &SelectPlan, ordered: bool) -> Option<Kept> {
    if plan.steps.iter().all(is_one_row)
        || plan.preconditions.iter().any(|one| functions::is_never(&one.expr))
    {
        return None;
    }
    let joined = plan.steps.len() > 1 || matches!(plan.steps[0].source, Source::Group(_));
    let groups = plan.group.as_ref();
    if groups.is_some_and(|group| group.implicit) {
        return None;
    }
    if !plan.windows.is_empty() {
        return Some(Kept::All);
    }
    if plan.distinct && !is_distinct_anyway(plan, groups, joined) {
        return Some(Kept::All);
    }
    let Some(group) = groups else {
        let sorts = ordered && joined && !comes_sorted(plan);
        return sorts.then_some(Kept::All);
    };
    if !group.rollup.is_empty() {
        return (ordered || joined).then_some(Kept::Sums);
    }
    let sorts_rows = group.aggregates.iter().any(wants_sorted_rows);
    if sorts_rows {
        return joined.then_some(Kept::Rows);
    }
    if comes_grouped(plan, group) {
        return (ordered && !sorts_by_keys(plan, group)).then_some(Kept::Groups);
    }
    Some(Kept::Groups)
}

/// A key of WITH ROLLUP is NULL in some rows, and so no column of its table any more.
fn is_rollup_key(plan: &SelectPlan, expr: &Expr) -> bool {
    let keys = plan.group.as_ref().map_or(&[][..], |group| &group.rollup);
    matches!(expr, Expr::Column(at) if keys.iter().any(|key| key.place == *at))
}

/// At most one row, found by a unique key before the query is run.
fn is_one_row(step: &JoinStep) -> bool {
    let Source::Table(source) = &step.source else { return false };
    let constant = |range: &super::query::KeyRange| range.equal.iter().all(|one| one.expr.is_constant());
    !step.left_join
        && source.access.unique
        && source.access.ranges.len() == 1
        && source.access.ranges.iter().all(constant)
}

/// DISTINCT changes nothing: the groups are told apart by what is selected, or a key of the only table is.
fn is_distinct_anyway(plan: &SelectPlan, groups: Option<&GroupPlan>, joined: bool) -> bool {
    let selected = |place: usize| plan.items.iter().any(|item| place_of(&item.expr) == Some(place));
    if let Some(group) = groups {
        return group.keys.iter().all(|(key, _)| place_of(key).is_some_and(selected));
    }
    let Some((JoinStep { base, .. }, source)) = only_table(plan).filter(|_| !joined) else { return false };
    source.table.keys().iter().any(|key| {
        let told = |column: usize| selected(base + column) && !source.table.columns()[column].nullable;
        key.unique && key.parts.iter().all(|part| part.prefix.is_none() && told(part.column))
    })
}

/// The column that an expression is.
fn place_of(expr: &Expr) -> Option<usize> {
    match expr {
        Expr::Column(place) | Expr::TimestampColumn(place) => Some(*place),
        _ => None,
    }
}

/// The table that is read first, by what a block of values alone adds to each row.
fn only_table(plan: &SelectPlan) -> Option<(&JoinStep, &TableSource)> {
    let first = plan.steps.iter().find(|step| !is_value(step))?;
    match &first.source {
        Source::Table(source) => Some((first, source)),
        _ => None,
    }
}

/// A derived table of one row that reads nothing.
fn is_value(step: &JoinStep) -> bool {
    let Source::Derived(query) = &step.source else { return false };
    matches!(&**query, QueryPlan::Select(plan) if plan.steps.is_empty() && plan.group.is_none())
}

/// The first table has a key that gives the rows of each group one after another.
fn comes_grouped(plan: &SelectPlan, group: &GroupPlan) -> bool {
    let Some((JoinStep { base, .. }, source)) = only_table(plan) else { return false };
    let grouped = |column: usize| group.keys.iter().any(|(key, _)| place_of(key) == Some(base + column));
    source.table.keys().iter().any(|key| {
        let first = key.parts.iter().take(group.keys.len());
        let whole = key.parts.len() >= group.keys.len();
        whole && key.visible && first.into_iter().all(|part| part.prefix.is_none() && grouped(part.column))
    })
}

/// The first table has a key that gives the rows in order.
fn comes_sorted(plan: &SelectPlan) -> bool {
    let Some((JoinStep { base, .. }, source)) = only_table(plan) else { return plan.order.is_empty() };
    let sorted = |parts: &[turnstile_catalog::dictionary::table::Part]| {
        let by = plan.order.iter().zip(parts);
        parts.len() >= plan.order.len()
            && by
                .into_iter()
                .all(|(by, part)| part.prefix.is_none() && place_of(&by.expr) == Some(base + part.column))
    };
    source.table.keys().iter().any(|key| key.visible && sorted(&key.parts))
}

fn sorts_by_keys(plan: &SelectPlan, group: &GroupPlan) -> bool {
    let grouped = |by: &Expr| {
        place_of(by).is_some_and(|place| group.keys.iter().any(|(key, _)| place_of(key) == Some(place)))
    };
    plan.order.iter().all(|by| grouped(&by.expr))
}

/// Aggregates that no table of groups can hold: their rows are sorted by group.
fn wants_sorted_rows(aggregate: &Aggregate) -> bool {
    use AggregateKind as A;
    aggregate.distinct || matches!(aggregate.kind, A::GroupConcat | A::JsonArray | A::JsonObject)
}
