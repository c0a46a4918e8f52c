//! `SELECT * FROM information_schema.x` and its like: a computed table with nothing to test, group or sort.
//! Its rows go from where they are made straight into the answer; no tuple, no value for each field, no list
//! of rows.

use turnstile_engine::Visit;
use turnstile_sys::aside;

use super::Exec;
use super::tail::{RowOut, TupleRow};
use turnstile_catalog::virtual_table::VirtualTable;
use turnstile_expr::expr::{CompareOp, Expr};
use turnstile_observe::information_schema::{self, Sought};
use turnstile_plan::plan::query::{Filter, JoinStep, SelectPlan, Source};
use turnstile_values::error::SqlResult;
use turnstile_values::field::FieldRef;
use turnstile_values::value::Value;

/// More columns than any computed table has.
const COLUMNS_MAX: usize = 64;

/// The computed table that a block shows as it is, and which of its columns.
fn virtual_shown(plan: &SelectPlan) -> Option<(VirtualTable, Vec<usize>)> {
    let [step] = plan.steps.as_slice() else { return None };
    let Source::Virtual(table) = step.source else { return None };
    let conditions = [&plan.preconditions, &plan.having, &step.matching, &step.filters];
    let plain = conditions.iter().all(|filters| filters.is_empty())
        && plan.subqueries.is_empty()
        && plan.group.is_none()
        && plan.order.is_empty()
        && !plan.distinct
        && plan.limit.count.is_none()
        && plan.limit.offset.is_none();
    let column = |item: &Expr| match item {
        Expr::Column(at) if (step.base..step.base + step.columns).contains(at) => Some(*at - step.base),
        _ => None,
    };
    let columns = plan.items.iter().map(|item| column(&item.expr)).collect::<Option<Vec<_>>>()?;
    (plain && columns.len() <= COLUMNS_MAX).then_some((table, columns))
}

/// The database and table that the conditions of a step compare its rows with, by constants.
pub(super) fn sought(exec: &Exec<'_>, table: VirtualTable, step: &JoinStep) -> Sought {
    let Some((schema, name)) = Sought::columns_of(table) else { return Sought::ALL };
    // Behind an outer join, rows that are not there would be filled with NULL.
    let filters: &[Filter] = if step.left_join { &[] } else { &step.filters };
    let mut sought = Sought::ALL;
    for condition in step.matching.iter().chain(filters) {
        let Some((at, value)) = compared(&condition.expr) else { continue };
        let place = match at.checked_sub(step.base) {
            Some(at) if at == schema => &mut sought.schema,
            Some(at) if at == name => &mut sought.table,
            _ => continue,
        };
        if let Ok(Value::Str(text)) = value.eval(&TupleRow(&[]), exec.eval) {
            *place = Some((*text).into());
        }
    }
    sought
}

/// A column that is to equal a constant.
fn compared(condition: &Expr) -> Option<(usize, &Expr)> {
    let Expr::Compare { op: CompareOp::Equal, left, right, .. } = condition else { return None };
    match (&**left, &**right) {
        (Expr::Column(at), value) | (value, Expr::Column(at)) if value.is_constant() && value.is_light() => {
            Some((*at, value))
        }
        _ => None,
    }
}

/// Runs such a block; the number of its rows. None: it is another. The rows wait in the answer until the
/// statement has ended.
pub(super) async fn virtual_scan(
    exec: &Exec<'_>,
    plan: &SelectPlan,
    out: &mut dyn RowOut,
) -> SqlResult<Option<u64>> {
    let Some((table, columns)) = virtual_shown(plan) else { return Ok(None) };
    aside::step().await;
    let found = write_virtual(exec, table, &columns, out)?;
    exec.interrupt.check()?;
    Ok(Some(found))
}

fn write_virtual(
    exec: &Exec<'_>,
    table: VirtualTable,
    columns: &[usize],
    out: &mut dyn RowOut,
) -> SqlResult<u64> {
    let (mut found, mut wanted) = (0, true);
    let in_order = columns.iter().copied().eq(0..columns.len());
    information_schema::write(table, exec.db, exec.session, &mut |line| {
        if !wanted {
            return Ok(());
        }
        found += 1;
        let visit = if in_order && line.len() == columns.len() {
            out.fields(line)?
        } else {
            let mut chosen = [FieldRef::Null; COLUMNS_MAX];
            columns.iter().zip(&mut chosen).for_each(|(at, field)| *field = line[*at]);
            out.fields(&chosen[..columns.len()])?
        };
        wanted = visit == Visit::Continue;
        Ok(())
    })?;
    Ok(found)
}
