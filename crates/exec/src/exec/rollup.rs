//! The keys of a group under WITH ROLLUP, as the select list, HAVING and ORDER BY see them.

use super::tail::TupleRow;
use turnstile_expr::expr::EvalContext;
use turnstile_plan::plan::query::RollupKey;
use turnstile_values::error::SqlResult;
use turnstile_values::value::Value;

/// Puts a group's keys in their places: those behind the first `level`, which its rows do not have in common,
/// are NULL.
pub fn fill(
    keys: &[RollupKey],
    level: usize,
    tuple: &mut [Value],
    context: &EvalContext<'_>,
) -> SqlResult<()> {
    // What computes a key may read a column that is another key: all are computed before any is forgotten.
    for key in &keys[..level.min(keys.len())] {
        tuple[key.flag] = Value::boolean(false);
        if let Some(computed) = &key.computed {
            tuple[key.place] = computed.eval(&TupleRow(tuple), context)?;
        }
    }
    let (common, summed) = keys.split_at(level.min(keys.len()));
    for key in summed {
        tuple[key.flag] = Value::boolean(true);
        // A column that is a key twice is what the first of the two says.
        if !common.iter().any(|first| first.place == key.place) {
            tuple[key.place] = Value::Null;
        }
    }
    Ok(())
}
