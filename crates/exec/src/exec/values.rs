//! VALUES, and rows that are all there: they are ordered, counted off by LIMIT and sent.

use turnstile_engine::Visit;
use turnstile_expr::expr::NoRow;
use turnstile_plan::plan::query::{LimitPlan, OrderKey, ValuesPlan};
use turnstile_values::error::SqlResult;
use turnstile_values::memory::{Blocks, row_bytes};
use turnstile_values::types::ColumnType;
use turnstile_values::value::Rows;
use turnstile_values::value::Value;

use super::Exec;
use super::order::directions;
use super::tail::{RowOut, TupleRow, limits};
use crate::exec::sort;

pub(super) async fn values(exec: &mut Exec<'_>, plan: &ValuesPlan, out: &mut dyn RowOut) -> SqlResult<u64> {
    let context = exec.eval;
    let mut charge = context.charge();
    let mut rows = Rows::new();
    for exprs in &plan.rows {
        exec.pace().await?;
        let row = exprs.iter().zip(&plan.kinds).map(|(expr, kind)| {
            let value = expr.eval(&NoRow, context)?;
            // Exact numbers are shown with their own digits.
            let exact = matches!(value, Value::Decimal(_) | Value::Int(_) | Value::UInt(_));
            let shown = exact && matches!(kind, ColumnType::Decimal { .. });
            if shown { Ok(value) } else { super::union::converted(value, kind, context) }
        });
        let row = row.collect::<SqlResult<Vec<Value>>>()?;
        charge.add_row(&row)?;
        rows.push(row);
    }
    deliver(exec, rows, &plan.order, &plan.limit, out).await
}

pub(super) async fn deliver(
    exec: &mut Exec<'_>,
    rows: Rows,
    order: &[OrderKey],
    limit: &LimitPlan,
    out: &mut dyn RowOut,
) -> SqlResult<u64> {
    let context = exec.eval;
    let (count, offset) = limits(limit, context)?;
    let mut charge = context.charge();
    charge.add(rows.len().saturating_mul(size_of::<super::tail::Keyed>()))?;
    let mut keyed = Blocks::new();
    for row in rows {
        exec.pace().await?;
        let keys =
            order.iter().map(|key| key.expr.eval(&TupleRow(&row), context)).collect::<SqlResult<Vec<_>>>()?;
        charge.add(row_bytes(&keys))?;
        keyed.push((keys, row));
    }
    if !order.is_empty() {
        exec.session.entry.counts.sorted(keyed.len(), count.saturating_add(offset));
    }
    let keyed = sort::sorted(exec, keyed, &directions(order)).await?;
    let found = keyed.len() as u64;
    for (nth, (_, row)) in keyed.enumerate() {
        exec.pace().await?;
        let Some(nth) = (nth as u64).checked_sub(offset) else { continue };
        if nth >= count || out.row(&row)? == Visit::Stop {
            break;
        }
        if nth % 256 == 255 {
            exec.txn.outside(super::tail::flush(out)).await?;
        }
    }
    Ok(found)
}
