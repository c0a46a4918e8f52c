//! VALUES, and rows that are all there: they are ordered, counted off by LIMIT and sent.

use std::sync::Arc;

use turnstile_engine::Visit;
use turnstile_expr::expr::NoRow;
use turnstile_plan::plan::query::{LimitPlan, OrderKey, ValuesPlan};
use turnstile_values::error::SqlResult;
use turnstile_values::memory::{Blocks, Charge, row_bytes};
use turnstile_values::types::ColumnType;
use turnstile_values::value::Rows;
use turnstile_values::value::Value;

use super::Exec;
use super::order::directions;
use super::sort::external::External;
use super::spill::limits::kept_bytes_max;
use super::spill::list::List;
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
    deliver(exec, (List::Memory(Arc::new(rows)), charge), &plan.order, &plan.limit, out).await
}

/// Rows that are delivered, and what those in memory hold.
pub(super) async fn deliver(
    exec: &mut Exec<'_>,
    (rows, held): (List, Charge),
    order: &[OrderKey],
    limit: &LimitPlan,
    out: &mut dyn RowOut,
) -> SqlResult<u64> {
    let (count, offset) = limits(limit, exec.eval)?;
    let found = rows.len() as u64;
    if !order.is_empty() {
        exec.session.entry.counts.sorted(rows.len(), count.saturating_add(offset));
        return Box::pin(deliver_sorted(exec, (rows, held), order, (count, offset), out)).await;
    }
    let (mut rows, mut sending) = (rows.read(), Sending { nth: 0, count, offset });
    while let Some(row) = rows.next()? {
        exec.pace().await?;
        if sending.send(exec, &row, out).await? == Visit::Stop {
            break;
        }
    }
    Ok(found)
}

async fn deliver_sorted(
    exec: &mut Exec<'_>,
    (rows, held): (List, Charge),
    order: &[OrderKey],
    (count, offset): (u64, u64),
    out: &mut dyn RowOut,
) -> SqlResult<u64> {
    let (found, context) = (rows.len() as u64, exec.eval);
    let (mut rows, by) = (rows.read(), directions(order));
    let mut sending = Sending { nth: 0, count, offset };
    let max = kept_bytes_max(exec, |settings| settings.buffers.sort);
    let (mut keyed, mut charge, mut external) = (Blocks::new(), context.charge(), None);
    while let Some(row) = rows.next()? {
        exec.pace().await?;
        let keys =
            order.iter().map(|key| key.expr.eval(&TupleRow(&row), context)).collect::<SqlResult<Vec<_>>>()?;
        charge.add(row_bytes(&keys) + row_bytes(&row))?;
        keyed.push((keys, row));
        if charge.bytes() > max {
            let external = match &mut external {
                Some(external) => external,
                none => none.insert(External::new(exec, &by, count.saturating_add(offset), max)?),
            };
            external.put(exec, std::mem::take(&mut keyed)).await?;
            charge.clear();
        }
    }
    drop((rows, held));
    let Some(mut external) = external else {
        for (_, row) in sort::sorted(exec, keyed, &by).await? {
            exec.pace().await?;
            if sending.send(exec, &row, out).await? == Visit::Stop {
                break;
            }
        }
        return Ok(found);
    };
    external.put(exec, keyed).await?;
    charge.clear();
    let mut merge = external.merge(exec).await?;
    while let Some((_, row)) = merge.next(context)? {
        exec.pace().await?;
        if sending.send(exec, &row, out).await? == Visit::Stop {
            break;
        }
    }
    Ok(found)
}

/// Rows of which a part is wanted.
struct Sending {
    nth: u64,
    count: u64,
    offset: u64,
}

impl Sending {
    async fn send(&mut self, exec: &mut Exec<'_>, row: &[Value], out: &mut dyn RowOut) -> SqlResult<Visit> {
        self.nth += 1;
        let Some(nth) = self.nth.checked_sub(self.offset + 1) else { return Ok(Visit::Continue) };
        if nth >= self.count || out.row(row)? == Visit::Stop {
            return Ok(Visit::Stop);
        }
        if out.should_flush() {
            exec.txn.outside(super::tail::flush(out)).await?;
        }
        Ok(Visit::Continue)
    }
}
