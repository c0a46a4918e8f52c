//! The shape of a statement about one row, by its whole primary key: the flash sale's UPDATE, a point SELECT.
//! It is found once, when the statement is planned, so that running it asks one question instead of going
//! through the plan.

use super::change::ChangeTarget;
use super::query::{Filter, JoinStep, Operand, SelectPlan, Source, TableSource};
use turnstile_catalog::dictionary::Table;
use turnstile_expr::expr::{CompareOp, EvalContext, Expr, NoRow};
use turnstile_values::key_codec::{KeyPart, ShortKey};
use turnstile_values::types::ColumnType;
use turnstile_values::value::Value;

/// What is known of a statement about one row before it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PointShape {
    /// Its primary key is one integer column, compared with a parameter or a literal.
    integer_key: bool,
    /// Which of the step's conditions (`matching`, then `filters`) says no more than the key does, if the key
    /// is an integer that the column can hold: `id = ?`.
    implied: Option<usize>,
}

impl PointShape {
    /// The shape of a change; `None` if it is no point change: one range, equal in every part of the primary
    /// key, nothing but plain, light conditions, light assignments, and neither the primary key nor a unique
    /// key nor AUTO_INCREMENT among what is assigned.
    pub fn of(select: &SelectPlan, targets: &[ChangeTarget]) -> Option<PointShape> {
        let ([step], [target]) = (select.steps.as_slice(), targets) else { return None };
        let Source::Table(source) = &step.source else { return None };
        let table = &target.table;
        let assigned = |column: &usize| target.assignments.iter().flatten().any(|(at, _)| at == column);
        let unique = table.keys().iter().filter(|key| key.unique);
        let is_point = finds_one(select, step, source)
            && step.light
            && target.light
            && is_independent(source, target)
            && !table.auto_column.is_some_and(|column| assigned(&column))
            && !unique.flat_map(|key| &key.parts).any(|part| assigned(&part.column));
        is_point.then(|| PointShape::of_key(step, source, table))
    }

    /// The shape of a SELECT; `None` if it needs more than one look at one row, if what it does with the row
    /// takes long, or if its key is something that may not be worked out twice (`@n := @n + 1`).
    pub fn of_select(select: &SelectPlan) -> Option<PointShape> {
        let [step] = select.steps.as_slice() else { return None };
        let Source::Table(source) = &step.source else { return None };
        let is_fixed = |operand: &Operand| matches!(operand.expr, Expr::Parameter(_) | Expr::Literal(_));
        let is_point = finds_one(select, step, source)
            && source.locking.is_none()
            && select.light
            && source.access.ranges[0].equal.iter().all(is_fixed)
            && select.group.is_none()
            && select.windows.is_empty()
            && select.having.is_empty()
            && select.order.is_empty()
            && select.outer.is_empty()
            && select.limit.offset.is_none()
            && !select.distinct
            && !select.calc_found_rows;
        is_point.then(|| PointShape::of_key(step, source, &source.table))
    }

    fn of_key(step: &JoinStep, source: &TableSource, table: &Table) -> PointShape {
        let plain = PointShape { integer_key: false, implied: None };
        let Some(key) = source.access.key else { return plain };
        let ([part], [column]) = (table.key_parts[key].as_slice(), table.keys()[key].parts.as_slice()) else {
            return plain;
        };
        let [operand] = source.access.ranges[0].equal.as_slice() else { return plain };
        if part.prefix.is_some() || !matches!(part.kind, ColumnType::Int { .. }) {
            return plain;
        }
        if !matches!(operand.expr, Expr::Parameter(_) | Expr::Literal(Value::Int(_) | Value::UInt(_))) {
            return plain;
        }
        let position = step.base + column.column;
        let is_column = |side: &Expr| matches!(side, Expr::Column(at) if *at == position);
        let is_operand = |side: &Expr| match (side, &operand.expr) {
            (Expr::Parameter(one), Expr::Parameter(other)) => one == other,
            (Expr::Literal(one), Expr::Literal(other)) => one == other,
            _ => false,
        };
        let same = |expr: &Expr| {
            let Expr::Compare { op: CompareOp::Equal, left, right, .. } = expr else { return false };
            is_column(left) && is_operand(right) || is_operand(left) && is_column(right)
        };
        PointShape { integer_key: true, implied: conditions(step).position(|one| same(&one.expr)) }
    }

    /// The row's key, if it is one integer and the value it is compared with is one that the column can hold.
    pub fn integer_key(&self, source: &TableSource, context: &EvalContext<'_>) -> Option<ShortKey> {
        if !self.integer_key {
            return None;
        }
        let part = source.table.key_parts[source.access.key?].first()?;
        let value = source.access.ranges.first()?.equal.first()?.expr.eval(&NoRow, context).ok()?;
        part.of_integer(&held(part, value)?)
    }

    /// The conditions that the row is still to be asked for, when the key is that of
    /// [`PointShape::integer_key`].
    pub fn implied(&self) -> Option<usize> {
        self.implied
    }
}

/// One range, equal in every part of the primary key, and nothing but plain conditions.
fn finds_one(select: &SelectPlan, step: &JoinStep, source: &TableSource) -> bool {
    let access = &source.access;
    select.preconditions.is_empty()
        && access.unique
        && access.ranges.len() == 1
        && access.key.is_some()
        && access.key == source.table.primary()
        && select.subqueries.is_empty()
        && select.item_subqueries.is_empty()
        && conditions(step).all(|filter| filter.subqueries.is_empty())
}

/// The conditions of a step, in the order they are tested.
pub fn conditions(step: &JoinStep) -> impl Iterator<Item = &Filter> {
    step.matching.iter().chain(&step.filters)
}

/// An integer as the column holds it; `None` if it is none, or not one of the column's.
fn held(part: &KeyPart, value: Value) -> Option<Value> {
    let ColumnType::Int { width, unsigned, .. } = part.kind else { return None };
    match value {
        Value::Int(number) if unsigned => {
            let number = u64::try_from(number).ok()?;
            (number <= width.unsigned_max()).then_some(Value::UInt(number))
        }
        Value::UInt(number) if unsigned => (number <= width.unsigned_max()).then_some(value),
        Value::Int(number) => {
            let (low, high) = width.signed_range();
            (low..=high).contains(&number).then_some(value)
        }
        _ => None,
    }
}

/// Nothing that is assigned belongs to the key rows are found by, nor to the primary key.
pub fn is_independent(source: &TableSource, target: &ChangeTarget) -> bool {
    let Some(assignments) = &target.assignments else { return true };
    let table = &target.table;
    let keys = source.also.iter().filter_map(|access| access.key);
    let used = source.access.key.into_iter().chain(keys).chain(table.primary());
    let columns: Vec<usize> =
        used.flat_map(|key| table.keys()[key].parts.iter().map(|part| part.column)).collect();
    let updates = table
        .columns()
        .iter()
        .enumerate()
        .filter(|(_, column)| column.on_update.is_some() || column.generation().is_some())
        .map(|(at, _)| at);
    assignments.iter().map(|(column, _)| *column).chain(updates).all(|column| !columns.contains(&column))
}
