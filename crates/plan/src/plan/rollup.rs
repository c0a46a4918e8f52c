//! GROUP BY ... WITH ROLLUP: besides the groups there is a row for all groups that agree in the first keys,
//! one for each number of keys, in which the other keys are NULL. GROUPING() tells these rows apart.
//!
//! A key that is a column has its place in the tuple already; any other gets one, and what is written as the
//! key is written means that place behind GROUP BY. Each key has a second place, which is 1 in rows where the
//! key is NULL for being summed over.

use turnstile_expr::expr::{ArithmeticOp, Expr, Typed};
use turnstile_syntax::ast::{self, FunctionCall};
use turnstile_values::collation::Collation;
use turnstile_values::error::{SqlError, SqlResult};
use turnstile_values::types::{ColumnType, ExprType};
use turnstile_values::value::Value;

use super::block::{Block, settled};
use super::query::{OrderKey, RollupKey};
use super::same::same;
use super::scope::AggregateUse;

/// A key as it is written, and what it means behind GROUP BY.
pub struct Key {
    expr: ast::Expr,
    meaning: Typed,
    plan: RollupKey,
}

/// GROUPING() has a bit for each argument.
const GROUPING_ARGUMENTS_MAX: usize = 64;

/// Gives the keys their places. `keys`: as written with aliases and positions replaced, bound.
pub fn place(block: &mut Block<'_, '_>, keys: Vec<(ast::Expr, Typed)>) -> Vec<Key> {
    let mut placed = Vec::with_capacity(keys.len());
    for (expr, typed) in keys {
        let kind = ExprType::nullable(typed.kind.column.clone());
        let own = match &typed.expr {
            Expr::Column(at) | Expr::TimestampColumn(at) => {
                block.scope.column_at(*at).is_some().then_some(*at)
            }
            _ => None,
        };
        let flag = block.scope.reserve(1);
        let (meaning, plan) = match own {
            Some(place) => (Typed { expr: typed.expr, kind }, RollupKey { place, flag, computed: None }),
            None => {
                let place = block.scope.reserve(1);
                let kind = ExprType::nullable(settled(&kind.column));
                let plan = RollupKey { place, flag, computed: Some(typed.expr) };
                (Typed { expr: Expr::Column(place), kind }, plan)
            }
        };
        placed.push(Key { expr, meaning, plan });
    }
    placed
}

fn is_key(block: &Block<'_, '_>, key: &Key, expr: &ast::Expr) -> bool {
    if let (ast::Expr::Column(one), ast::Expr::Column(_)) = (expr, &key.expr) {
        let found = block.scope.find_here(one).ok().flatten();
        return found.is_some_and(|found| found.position == key.plan.place);
    }
    same(block, &key.expr, expr)
}

/// What an expression behind GROUP BY means if it is a key. Inside aggregates keys have the values of their
/// rows.
pub fn meaning(block: &Block<'_, '_>, expr: &ast::Expr) -> Option<Typed> {
    if block.rollup.is_empty() || block.scope.arguments.get().is_some() {
        return None;
    }
    block.rollup.iter().find(|key| is_key(block, key, expr)).map(|key| key.meaning.clone())
}

/// A key as it is given and sorted by: an ENUM or a SET is a text. Where it is computed with it has its
/// number.
pub fn shown(key: Typed) -> Typed {
    let length = key.kind.column.text_length();
    let to = match key.kind.column {
        ColumnType::Enum { collation, .. } | ColumnType::Set { collation, .. } => {
            ColumnType::Char { length, collation }
        }
        // It is no column of its table any more.
        ColumnType::Char { .. } | ColumnType::Binary { .. } => key.kind.column.clone(),
        _ => return key,
    };
    let kind = ExprType { column: to.clone(), ..key.kind };
    Typed { expr: Expr::Coerce { operand: Box::new(key.expr), to }, kind }
}

/// GROUPING(key, ...): a bit for each key, the first the highest.
pub fn grouping(block: &Block<'_, '_>, call: &FunctionCall) -> SqlResult<Typed> {
    if block.group_keys.is_empty() || block.scope.aggregates.get() == AggregateUse::Refused {
        return Err(SqlError::invalid_group_function_use());
    }
    if call.arguments.is_empty() || call.arguments.len() > GROUPING_ARGUMENTS_MAX {
        return Err(SqlError::wrong_parameter_count("GROUPING"));
    }
    let kind = ExprType::not_null(ColumnType::BIGINT);
    let mut bits = Expr::Literal(Value::Int(0));
    for (nth, argument) in call.arguments.iter().enumerate() {
        let bit = if block.rollup.is_empty() || block.scope.arguments.get().is_some() {
            block
                .group_keys
                .iter()
                .any(|key| same(block, key, argument))
                .then_some(Expr::Literal(Value::Int(0)))
        } else {
            let key = block.rollup.iter().find(|key| is_key(block, key, argument));
            key.map(|key| Expr::Column(key.plan.flag))
        };
        let bit = bit.ok_or_else(|| SqlError::grouping_of_no_key(nth + 1))?;
        if nth > 0 {
            let shifted = arithmetic(ArithmeticOp::Multiply, bits, Expr::Literal(Value::Int(2)));
            bits = arithmetic(ArithmeticOp::Add, shifted, bit);
        } else {
            bits = bit;
        }
    }
    Ok(Typed { expr: bits, kind })
}

fn arithmetic(op: ArithmeticOp, left: Expr, right: Expr) -> Expr {
    let (left, right) = (Box::new(left), Box::new(right));
    Expr::Arithmetic { op, left, right, source: None }
}

/// The order in which rows come without another: each sum behind what it sums.
pub fn order(keys: &[Key], grouped: &[(Expr, Collation)]) -> Vec<OrderKey> {
    let pair = |(key, (_, collation)): (&Key, &(Expr, Collation))| {
        let flag =
            OrderKey { expr: Expr::Column(key.plan.flag), descending: false, collation: Collation::Binary };
        [flag, OrderKey { expr: Expr::Column(key.plan.place), descending: false, collation: *collation }]
    };
    keys.iter().zip(grouped).flat_map(pair).collect()
}

/// What the plan keeps of the keys.
pub fn plan(keys: Vec<Key>) -> Vec<RollupKey> {
    keys.into_iter().map(|key| key.plan).collect()
}
