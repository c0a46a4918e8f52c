//! What an OR over several tables says of each of them: `(n1.name = 'A' AND n2.name = 'B') OR (n1.name = 'B'
//! AND n2.name = 'A')` lets through two names of n1, which is tested before n2 is joined. The OR itself is
//! still tested. Only comparisons that can warn of nothing are tested twice.

use turnstile_expr::expr::Expr;
use turnstile_values::types::ColumnType;
use turnstile_values::value::Value;

use super::super::block::Block;
use super::super::query::Filter;
use super::Condition;
use super::part::Part;

/// Most alternatives that are looked through.
const ALTERNATIVES_MAX: usize = 100;

/// Conditions on single tables that follow from others.
pub(super) fn narrowed(block: &Block<'_, '_>, parts: &[Part], conditions: &[Condition]) -> Vec<Condition> {
    let mut found = Vec::new();
    for condition in conditions.iter().filter(|one| one.filter.subqueries.is_empty()) {
        let Expr::Or(list) = &condition.filter.expr else { continue };
        if list.len() > ALTERNATIVES_MAX {
            continue;
        }
        let read = |part: &&Part| condition.reads.iter().any(|place| part.places.contains(place));
        let read: Vec<&Part> = parts.iter().filter(read).collect();
        if read.len() < 2 {
            continue;
        }
        for part in read {
            let Some(alternatives) = list.iter().map(|one| about(block, part, one)).collect() else {
                continue;
            };
            let expr = Expr::Or(alternatives);
            let reads = block.reads(&expr);
            found.push(Condition { filter: Filter { expr, subqueries: Vec::new() }, reads });
        }
    }
    found
}

/// What an alternative says of a table alone.
fn about(block: &Block<'_, '_>, part: &Part, alternative: &Expr) -> Option<Expr> {
    let all = match alternative {
        Expr::And(list) => list.as_slice(),
        one => std::slice::from_ref(one),
    };
    let mut own: Vec<Expr> = all.iter().filter(|one| is_quiet(block, part, one)).cloned().collect();
    match own.len() {
        0 => None,
        1 => own.pop(),
        _ => Some(Expr::And(own)),
    }
}

/// A comparison of a column of the table with constants of its own kind.
fn is_quiet(block: &Block<'_, '_>, part: &Part, condition: &Expr) -> bool {
    let (column, constants): (&Expr, Vec<&Expr>) = match condition {
        Expr::Compare { left, right, .. } => match (&**left, &**right) {
            (column @ Expr::Column(_), constant) => (column, vec![constant]),
            (constant, column) => (column, vec![constant]),
        },
        Expr::InList { operand, list, .. } => (operand, list.iter().collect()),
        Expr::Between { operand, low, high, .. } => (operand, vec![low, high]),
        _ => return false,
    };
    let Expr::Column(place) = column else { return false };
    let Some((_, of)) = block.scope.column_at(*place).filter(|_| part.places.contains(place)) else {
        return false;
    };
    let value = |expr: &Expr| match expr {
        Expr::Literal(value) => Some(value.clone()),
        Expr::Parameter(at) => block.context.eval.parameters.get(*at).cloned(),
        _ => None,
    };
    constants.iter().all(|one| value(one).is_some_and(|value| is_of_kind(&of.kind, &value)))
}

fn is_of_kind(kind: &ColumnType, value: &Value) -> bool {
    match kind {
        ColumnType::Char { .. } | ColumnType::Varchar { .. } => matches!(value, Value::Str(_)),
        ColumnType::Int { .. } | ColumnType::Decimal { .. } => {
            matches!(value, Value::Int(_) | Value::UInt(_) | Value::Decimal(_))
        }
        ColumnType::Date | ColumnType::DateTime { .. } => {
            matches!(value, Value::Date(_) | Value::DateTime(_))
        }
        _ => false,
    }
}
