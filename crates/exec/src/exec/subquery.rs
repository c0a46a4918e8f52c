//! Sub-queries outside FROM: run when the tuple they read is filled, their result goes into the tuple.

pub(super) mod repeated;

use std::cmp::Ordering;
use std::sync::Arc;
use std::time::Duration;

use turnstile_catalog::mdl::Patience;
use turnstile_catalog::timeout::Deadline;
use turnstile_catalog::user_locks::{LOCK_BYTES, UserLocks};
use turnstile_engine::session_status::WaitingFor;
use turnstile_expr::expr::{CompareOp, EvalContext, Expr, LOOKED_UP_MIN, Lookup, compare_checked};
use turnstile_plan::plan::query::{QueryPlan, Subquery, SubqueryKind};
use turnstile_values::collation::Collation;
use turnstile_values::error::{ErrorKind, SqlError, SqlResult};
use turnstile_values::value::{Rows, Value, to_double};

use super::tail::{Kept, TupleRow};
use super::{Exec, Keeping};

/// A wait of GET_LOCK that is to last for ever, or longer, lasts so long, as in MySQL.
const FOR_EVER_S: f64 = i32::MAX as f64;

/// Runs a sub-query for one tuple.
pub(super) async fn run_subquery(
    exec: &mut Exec<'_>,
    subquery: &Subquery,
    tuple: &mut [Value],
) -> SqlResult<()> {
    for guard in &subquery.guards {
        if !guard.holds(&TupleRow(tuple), exec.eval)? {
            tuple[subquery.places()].fill(Value::Null);
            return Ok(());
        }
    }
    if let SubqueryKind::Sleep(seconds) = &subquery.kind {
        let seconds = seconds.eval(&TupleRow(tuple), exec.eval)?;
        let number = to_double(&seconds, exec.eval)?;
        if seconds.is_null() || number < 0.0 {
            let wrong = SqlError::wrong_arguments("sleep.");
            if exec.eval.settings.sql_mode.is_strict() {
                return Err(wrong);
            }
            exec.eval.warn(wrong)?;
            tuple[subquery.position] = Value::Int(0);
            return Ok(());
        }
        let duration = std::time::Duration::from_secs_f64(number.clamp(0.0, 1e9));
        exec.db.status().sleep();
        exec.session.note_effect();
        let slept =
            exec.txn.outside(turnstile_catalog::timeout::sleep(duration, exec.interrupt.clone())).await;
        tuple[subquery.position] = Value::boolean(!slept);
        return if slept { Ok(()) } else { Err(exec.interrupt.reason().into()) };
    }
    if let SubqueryKind::GetLock { name, seconds } = &subquery.kind {
        let name = name.eval(&TupleRow(tuple), exec.eval)?;
        let seconds = to_double(&seconds.eval(&TupleRow(tuple), exec.eval)?, exec.eval)?;
        // In a box: its future is large, and few statements have one.
        tuple[subquery.position] = Value::boolean(Box::pin(get_lock(exec, &name, seconds)).await?);
        return Ok(());
    }
    if let SubqueryKind::Value(value) = &subquery.kind {
        tuple[subquery.position] = value.eval(&TupleRow(tuple), exec.eval)?;
        return Ok(());
    }
    let rows = subquery_rows(exec, subquery, tuple).await?;
    let context = exec.eval;
    tuple[subquery.position] = match &subquery.kind {
        SubqueryKind::Scalar => {
            match only_row(&rows)? {
                Some(row) => tuple[subquery.places()].clone_from_slice(row),
                None => tuple[subquery.places()].fill(Value::Null),
            }
            return Ok(());
        }
        SubqueryKind::Exists => Value::boolean(!rows.is_empty()),
        SubqueryKind::In { operand, negated } => {
            let values = operands(operand, tuple, context)?;
            let found = is_in(exec, subquery, &values, &rows)?;
            Value::truth(found.map(|found| found != *negated))
        }
        SubqueryKind::Among { operand } => {
            let values = operands(operand, tuple, context)?;
            let known = values.iter().all(|(value, _)| !value.is_null());
            Value::boolean(known && is_in(exec, subquery, &values, &rows)? == Some(true))
        }
        SubqueryKind::Quantified { operand, op, collation, all } => {
            let value = operand.eval(&TupleRow(tuple), context)?;
            Value::truth(quantified(&value, *op, *collation, *all, &rows, context)?)
        }
        SubqueryKind::Value(_) | SubqueryKind::Sleep(_) | SubqueryKind::GetLock { .. } => Value::Int(0),
    };
    Ok(())
}

/// The values that are sought among a sub-query's rows.
fn operands(
    operand: &[(Expr, Collation)],
    tuple: &[Value],
    context: &EvalContext<'_>,
) -> SqlResult<Vec<(Value, Collation)>> {
    let value =
        |(expr, collation): &(Expr, Collation)| Ok((expr.eval(&TupleRow(tuple), context)?, *collation));
    operand.iter().map(value).collect()
}

/// Runs a sub-query that may turn out not to be asked for, as in `IF(a, b, (SELECT ..))`: that it has
/// several rows is then no error.
pub(super) async fn try_subquery(
    exec: &mut Exec<'_>,
    subquery: &Subquery,
    tuple: &mut [Value],
) -> SqlResult<()> {
    let name = std::ptr::from_ref(subquery) as usize;
    if let Some(keeping) = &mut exec.keeping {
        keeping.failed_subqueries.remove(&name);
    }
    match run_subquery(exec, subquery, tuple).await {
        Err(error) if error.kind() == ErrorKind::SubqueryRows => {
            tuple[subquery.places()].fill(Value::Null);
            exec.keeping().failed_subqueries.insert(name, error);
            Ok(())
        }
        other => other,
    }
}

/// GET_LOCK: false if the time was over first.
async fn get_lock(exec: &mut Exec<'_>, name: &Value, seconds: f64) -> SqlResult<bool> {
    exec.pace().await?;
    let name = UserLocks::name_of(name)?;
    exec.session.note_effect();
    if exec.session.user_locks().lock().take_again(&name) {
        return Ok(true);
    }
    let mut charge = exec.eval.charge();
    charge.add(LOCK_BYTES + 3 * name.len())?;
    charge.settle()?;
    if let Some(lock) = exec.db.user_locks().acquire_now(&name, exec.session.id) {
        exec.session.user_locks().lock().keep(lock, charge);
        return Ok(true);
    }
    let seconds = seconds.round();
    let seconds = if (0.0..FOR_EVER_S).contains(&seconds) { seconds } else { FOR_EVER_S };
    let deadline = Deadline::after(Duration::from_secs_f64(seconds), exec.interrupt.clone());
    let mut patience = {
        let named = exec.session.user_locks().lock();
        let holds =
            exec.metadata_locks.iter().flat_map(|metadata_locks| metadata_locks.iter()).chain(named.holds());
        Patience::new(exec.db.metadata_waits(), holds, deadline)
    };
    let status = exec.txn.options().status.clone();
    let note = status.waits(WaitingFor::UserLock);
    let acquiring = exec.db.user_locks().acquire(&name, exec.session.id, &mut patience);
    let acquired = exec.txn.outside(acquiring).await;
    drop(note);
    let Some(lock) = acquired? else { return Ok(false) };
    exec.session.user_locks().lock().keep(lock, charge);
    Ok(true)
}

async fn subquery_rows(exec: &mut Exec<'_>, subquery: &Subquery, tuple: &[Value]) -> SqlResult<Arc<Rows>> {
    let name = std::ptr::from_ref(subquery) as usize;
    let reusable = subquery.is_same_for_all();
    let kept = exec.keeping.as_ref().filter(|_| reusable);
    if let Some(rows) = kept.and_then(|keeping| keeping.subquery_results.get(&name)) {
        return Ok(rows.clone());
    }
    let mut key = None;
    if let QueryPlan::Select(plan) = &subquery.plan
        && subquery.repeats
        && !exec.changes
    {
        match exec.keeping().repeated.entry(name).or_default().find(&plan.outer, tuple) {
            Ok(rows) => return Ok(rows),
            Err(wanted) => key = wanted,
        }
    }
    let most = match subquery.kind {
        SubqueryKind::Exists => Some(1),
        SubqueryKind::Scalar => Some(2),
        _ => None,
    };
    let warned = exec.eval.warnings.count();
    let mut kept = Kept::new(exec.eval, most);
    exec.query(&subquery.plan, tuple, &mut kept).await?;
    let rows = Arc::new(kept.rows);
    if reusable {
        let keeping = exec.keeping();
        keeping.charge.absorb(kept.charge);
        keeping.subquery_results.insert(name, rows.clone());
    } else if let Some(key) = key.filter(|_| exec.eval.warnings.count() == warned) {
        // Rows that were warned of are found, and warned of, each time.
        let Keeping { repeated, charge, .. } = exec.keeping();
        repeated.entry(name).or_default().keep(key, &rows, charge)?;
    }
    Ok(rows)
}

/// Three-valued IN. Rows that stay the same for all tuples are looked up.
fn is_in(
    exec: &mut Exec<'_>,
    subquery: &Subquery,
    values: &[(Value, Collation)],
    rows: &[Vec<Value>],
) -> SqlResult<Option<bool>> {
    let context = exec.eval;
    let name = std::ptr::from_ref(subquery) as usize;
    let known = values.iter().all(|(value, _)| !value.is_null());
    let keeping = exec.keeping.as_mut().filter(|keeping| keeping.subquery_results.contains_key(&name));
    if let [(Value::Null, _)] = values {
        return Ok(if rows.is_empty() { Some(false) } else { None });
    }
    let Some(keeping) = keeping.filter(|_| rows.len() >= LOOKED_UP_MIN && known) else {
        return walk(values, rows, context);
    };
    let (operands, collations): (Vec<&Value>, Vec<Collation>) =
        values.iter().map(|(value, collation)| (value, *collation)).unzip();
    let lookup = match keeping.subquery_lookups.get(&name) {
        Some(lookup) => lookup.clone(),
        None => {
            let row = |nth: usize| Some(rows[nth].iter().collect());
            let lookup = Arc::new(Lookup::build(&operands, &collations, rows.len(), row, context)?);
            keeping.subquery_lookups.insert(name, lookup.clone());
            lookup
        }
    };
    if !lookup.fits(&operands) {
        return walk(values, rows, context);
    }
    lookup.contains(&operands, &collations, context, |nth| equals(values, &rows[nth], context))
}

/// Three-valued equality of rows.
fn equals(
    values: &[(Value, Collation)],
    row: &[Value],
    context: &EvalContext<'_>,
) -> SqlResult<Option<bool>> {
    let mut equal = Some(true);
    for ((value, collation), other) in values.iter().zip(row) {
        match compare_checked(value, other, *collation, context)? {
            Some(Ordering::Equal) => {}
            Some(_) => return Ok(Some(false)),
            None => equal = None,
        }
    }
    Ok(equal)
}

fn walk(
    values: &[(Value, Collation)],
    rows: &[Vec<Value>],
    context: &EvalContext<'_>,
) -> SqlResult<Option<bool>> {
    let mut unknown = false;
    for row in rows {
        match equals(values, row, context)? {
            Some(true) => return Ok(Some(true)),
            Some(false) => {}
            None => unknown = true,
        }
    }
    Ok(if unknown { None } else { Some(false) })
}

fn quantified(
    value: &Value,
    op: CompareOp,
    collation: Collation,
    all: bool,
    rows: &[Vec<Value>],
    context: &EvalContext<'_>,
) -> SqlResult<Option<bool>> {
    let mut unknown = false;
    for other in rows.iter().filter_map(|row| row.first()) {
        let Some(order) = compare_checked(value, other, collation, context)? else {
            unknown = true;
            continue;
        };
        let holds = match op {
            CompareOp::Equal | CompareOp::NullSafeEqual => order == Ordering::Equal,
            CompareOp::NotEqual => order != Ordering::Equal,
            CompareOp::Less => order == Ordering::Less,
            CompareOp::LessOrEqual => order != Ordering::Greater,
            CompareOp::Greater => order == Ordering::Greater,
            CompareOp::GreaterOrEqual => order != Ordering::Less,
        };
        if holds != all {
            return Ok(Some(holds));
        }
    }
    Ok(if unknown { None } else { Some(all) })
}

/// A result that must have one row at most.
fn only_row(rows: &[Vec<Value>]) -> SqlResult<Option<&Vec<Value>>> {
    if rows.len() > 1 { Err(SqlError::subquery_returns_many_rows()) } else { Ok(rows.first()) }
}
