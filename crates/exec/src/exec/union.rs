//! UNION, EXCEPT and INTERSECT: members are run one after the other, and what is there so far is combined
//! with each.
//!
//! Members of a UNION add to what is there, so a thousand members cost what their rows cost. A UNION ALL that
//! a later UNION of the same chain makes distinct is taken for distinct at once, and the keys of what is
//! there are kept from one member to the next.

use super::key_index::{KEY_OVERHEAD, KeyIndex};
use super::measure::{Part, name_of};
use super::tail::{Kept, RowOut};
use super::{Exec, hash_key};
use crate::exec::values;
use turnstile_expr::expr::EvalContext;
use turnstile_expr::expr::coerce_value;
use turnstile_plan::plan::query::SetPlan;
use turnstile_syntax::ast::SetOperator;
use turnstile_values::collation::Collation;
use turnstile_values::error::SqlResult;
use turnstile_values::memory::{Charge, Many};
use turnstile_values::types::ColumnType;
use turnstile_values::value::Rows;
use turnstile_values::value::Value;

/// A value as its column shows it, which is of the type that the values of all rows have in common.
pub(super) fn converted(value: Value, kind: &ColumnType, context: &EvalContext<'_>) -> SqlResult<Value> {
    if let (Value::Double(number), Some(length)) = (&value, fixed_length(kind)) {
        return Ok(padded(of_text(turnstile_values::value::fitted_double(*number, length).0, kind), kind));
    }
    Ok(padded(in_single(coerce_value(value, kind, context)?, kind), kind))
}

/// How long a text may be that is no TEXT or BLOB: it has the digits of a double that it has room for.
fn fixed_length(kind: &ColumnType) -> Option<usize> {
    match kind {
        ColumnType::Char { length, .. }
        | ColumnType::Varchar { length, .. }
        | ColumnType::Binary { length }
        | ColumnType::Varbinary { length } => usize::try_from(*length).ok(),
        _ => None,
    }
}

fn of_text(text: String, kind: &ColumnType) -> Value {
    if kind.is_binary_string() { Value::bytes(text.into_bytes()) } else { Value::from(text) }
}

/// What a FLOAT keeps of a number.
fn in_single(value: Value, kind: &ColumnType) -> Value {
    match (value, kind) {
        (Value::Double(number), ColumnType::Float { .. }) => Value::Double(f64::from(number as f32)),
        (other, _) => other,
    }
}

/// A value of BINARY as long as its column.
fn padded(value: Value, kind: &ColumnType) -> Value {
    match (&value, kind) {
        (Value::Bytes(bytes), ColumnType::Binary { length }) if bytes.len() < *length as usize => {
            let mut bytes = bytes.to_vec();
            bytes.resize(*length as usize, 0);
            Value::bytes(bytes)
        }
        _ => value,
    }
}

/// What the members so far have given.
struct Combined<'p> {
    plan: &'p SetPlan,
    rows: Rows,
    /// The keys of all rows, if these are distinct.
    seen: Option<KeyIndex>,
    key: Vec<u8>,
    charge: Charge,
}

impl Combined<'_> {
    /// Works out the key of a row.
    fn key_of(&mut self, row: &[Value], context: &EvalContext<'_>) -> SqlResult<()> {
        hash_key::clear(&mut self.key);
        for (value, kind) in row.iter().zip(&self.plan.kinds) {
            hash_key::append_of(value, kind, Collation::Binary, context, &mut self.key)?;
        }
        Ok(())
    }

    /// Whether no row has had this key.
    fn is_new(&mut self, row: &[Value], context: &EvalContext<'_>) -> SqlResult<bool> {
        self.key_of(row, context)?;
        let new = self.seen.get_or_insert_default().insert(&self.key);
        if new {
            self.charge.add(self.key.len() + KEY_OVERHEAD)?;
        }
        Ok(new)
    }
}

/// Whether the rows of a member are wanted once: its operator says so, or that of a later member of the same
/// chain of UNIONs.
fn wanted_once(plan: &SetPlan) -> Vec<bool> {
    use SetOperator as S;
    let mut distinct = false;
    let mut all = vec![false; plan.members.len()];
    for (at, (operator, _)) in plan.members.iter().enumerate().rev() {
        distinct = match operator {
            S::UnionDistinct | S::ExceptDistinct | S::IntersectDistinct => true,
            S::UnionAll => distinct,
            S::ExceptAll | S::IntersectAll => false,
        };
        all[at] = distinct;
        // What an EXCEPT or INTERSECT makes distinct is its result, not each member before it.
        distinct &= matches!(operator, S::UnionAll | S::UnionDistinct);
    }
    all
}

/// Runs the members and delivers what they give together.
pub(super) async fn set_operation(
    exec: &mut Exec<'_>,
    plan: &SetPlan,
    outer: &[Value],
    out: &mut dyn RowOut,
) -> SqlResult<u64> {
    let distinct = wanted_once(plan);
    let began = exec.clock();
    let mut all =
        Combined { plan, rows: Rows::new(), seen: None, key: Vec::new(), charge: exec.eval.charge() };
    for (nth, (operator, member)) in plan.members.iter().enumerate() {
        let mut kept = Kept::new(exec.eval, None);
        exec.query(member, outer, &mut kept).await?;
        for row in &mut kept.rows {
            exec.pace().await?;
            for (value, kind) in row.iter_mut().zip(&plan.kinds) {
                *value = converted(std::mem::take(value), kind, exec.eval)?;
            }
        }
        let rows = std::mem::take(&mut kept.rows);
        all.charge.absorb(kept.charge);
        if nth == 0 {
            // The operator before the first member means nothing.
            all.rows = rows;
            continue;
        }
        match operator {
            SetOperator::UnionAll | SetOperator::UnionDistinct => {
                unite(exec, &mut all, rows, distinct[nth]).await?;
            }
            operator => sift(exec, &mut all, rows, *operator, distinct[nth]).await?,
        }
    }
    let rows = std::mem::take(&mut all.rows);
    exec.note_since(began, name_of(plan), Part::Kept, rows.len());
    all.seen = None;
    values::deliver(exec, rows, &plan.order, &plan.limit, out).await
}

/// Adds a member's rows.
async fn unite(exec: &mut Exec<'_>, all: &mut Combined<'_>, rows: Rows, distinct: bool) -> SqlResult<()> {
    if !distinct {
        all.seen = None;
        all.rows.extend(rows);
        return Ok(());
    }
    make_distinct(exec, all).await?;
    for row in rows {
        exec.pace().await?;
        if all.is_new(&row, exec.eval)? {
            all.rows.push(row);
        }
    }
    Ok(())
}

async fn make_distinct(exec: &mut Exec<'_>, all: &mut Combined<'_>) -> SqlResult<()> {
    if all.seen.is_some() {
        return Ok(());
    }
    all.seen = Some(KeyIndex::default());
    for row in std::mem::take(&mut all.rows) {
        exec.pace().await?;
        if all.is_new(&row, exec.eval)? {
            all.rows.push(row);
        }
    }
    Ok(())
}

/// EXCEPT and INTERSECT with a member's rows.
async fn sift(
    exec: &mut Exec<'_>,
    all: &mut Combined<'_>,
    rows: Rows,
    operator: SetOperator,
    distinct: bool,
) -> SqlResult<()> {
    let mut others = KeyIndex::default();
    let mut counts: Many<usize> = Many::new();
    let mut charge = exec.eval.charge();
    for row in &rows {
        exec.pace().await?;
        all.key_of(row, exec.eval)?;
        match others.get_or_insert(&all.key) {
            Some(at) => counts[at] += 1,
            None => {
                charge.add(all.key.len() + KEY_OVERHEAD + size_of::<usize>())?;
                counts.push(1);
            }
        }
    }
    let keeps_found = matches!(operator, SetOperator::IntersectAll | SetOperator::IntersectDistinct);
    all.seen = None;
    for row in std::mem::take(&mut all.rows) {
        exec.pace().await?;
        all.key_of(&row, exec.eval)?;
        let at = others.get(&all.key);
        let found = match at {
            Some(at) if !distinct => {
                let left = counts[at];
                counts[at] = left.saturating_sub(1);
                left > 0
            }
            at => at.is_some(),
        };
        if found == keeps_found {
            all.rows.push(row);
        }
    }
    if distinct { make_distinct(exec, all).await } else { Ok(()) }
}
