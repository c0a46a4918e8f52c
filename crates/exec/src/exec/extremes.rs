//! MIN and MAX at the ends of keys: one row is read for each, and one tuple of them goes into the group.

use turnstile_engine::Visit;
use turnstile_plan::plan::query::{Extreme, JoinStep, SelectPlan};
use turnstile_values::error::SqlResult;
use turnstile_values::value::Value;

use super::Exec;
use super::join::passes;
use super::scan::{Fields, TableScan};
use super::select::Boxed;
use super::tail::{Tail, TupleRow};

/// Reads the ends, in a frame of its own: blocks within each other take their stack at each level.
pub(super) fn read<'a>(
    exec: &'a mut Exec<'_>,
    plan: &'a SelectPlan,
    step: &'a JoinStep,
    tuple: &'a mut [Value],
    tail: &'a mut Tail<'_, '_>,
) -> Boxed<'a, ()> {
    Box::pin(async move {
        let mut some = false;
        for extreme in &plan.extremes {
            let found = end(exec, step, extreme, tuple).await?;
            some |= found.is_some();
            tuple[extreme.place] = found.unwrap_or_default();
        }
        // Where no row has a value there might as well be no row.
        if some {
            tail.push(tuple, exec.eval)?;
        }
        Ok(())
    })
}

/// The value of the first row that has one and passes the conditions.
async fn end(
    exec: &mut Exec<'_>,
    step: &JoinStep,
    extreme: &Extreme,
    tuple: &mut [Value],
) -> SqlResult<Option<Value>> {
    let context = exec.eval;
    let columns = step.base..step.base + step.columns;
    let mut scan = TableScan::open(&extreme.source, &TupleRow(tuple), context)?.of_few(Some(1));
    let mut found = None;
    loop {
        let mut visit = |fields: Fields<'_>| {
            fields.fill(&extreme.source.needed, &mut tuple[columns.clone()]);
            let value = &tuple[step.base + extreme.column];
            if value.is_null() {
                return Ok(Visit::Continue);
            }
            if passes(&step.matching, tuple, context)? && passes(&step.filters, tuple, context)? {
                found = Some(tuple[step.base + extreme.column].clone());
                return Ok(Visit::Stop);
            }
            Ok(Visit::Continue)
        };
        let more = scan.batch(exec.txn, (exec.interrupt, context), &mut |_| true, &mut visit).await?;
        if found.is_some() || !more {
            return Ok(found);
        }
        exec.breathe().await;
    }
}
