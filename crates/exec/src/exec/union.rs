//! UNION, EXCEPT and INTERSECT: members are run one after the other, and what is there so far is combined
//! with each.
//!
//! Members of a UNION add to what is there, so a thousand members cost what their rows cost. A UNION ALL that
//! a later UNION of the same chain makes distinct is taken for distinct at once, and the keys of what is
//! there are kept from one member to the next.

use super::key_index::{KEY_OVERHEAD, KeyIndex};
use super::measure::{Part, name_of};
use super::sort::by_key::ByKey;
use super::spill::different::{Different, Seen};
use super::spill::limits::kept_bytes_max;
use super::spill::list::List;
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
    rows: Kept,
    /// What they are told apart by, if they are distinct; some may be there.
    seen: Option<Different>,
    key: Vec<u8>,
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

    /// The rows so far, of which none are left.
    fn take(&mut self, exec: &Exec<'_>) -> SqlResult<(List, Charge)> {
        std::mem::replace(&mut self.rows, Kept::growing(exec)).into_list(exec)
    }

    /// Adds a row unless one with its key is there.
    async fn add_different(&mut self, exec: &mut Exec<'_>, row: Vec<Value>) -> SqlResult<()> {
        self.key_of(&row, exec.eval)?;
        let seen = self.seen.get_or_insert_with(|| Different::new(exec.eval, false));
        match seen.see(&self.key)? {
            Seen::First => self.rows.add(exec, row).await?,
            Seen::Known => {}
            Seen::Unknown => seen.put(&self.key, row)?,
        }
        match &mut self.seen {
            Some(seen) if seen.is_over() => seen.settle(exec).await,
            _ => Ok(()),
        }
    }

    /// All rows are there, and told apart no more.
    async fn settle(&mut self, exec: &mut Exec<'_>) -> SqlResult<()> {
        if let Some(mut seen) = self.seen.take()
            && let Some(mut rest) = seen.rest(exec).await?
        {
            while let Some(row) = rest.next(exec).await? {
                self.rows.add(exec, row).await?;
            }
        }
        Ok(())
    }

    async fn make_distinct(&mut self, exec: &mut Exec<'_>) -> SqlResult<()> {
        if self.seen.is_some() {
            return Ok(());
        }
        let (rows, _held) = self.take(exec)?;
        self.seen = Some(Different::new(exec.eval, false));
        let mut rows = rows.read();
        while let Some(row) = rows.next()? {
            exec.pace().await?;
            self.add_different(exec, row).await?;
        }
        Ok(())
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
    let mut all = Combined { plan, rows: Kept::growing(exec), seen: None, key: Vec::new() };
    for (nth, (operator, member)) in plan.members.iter().enumerate() {
        let mut kept = Kept::growing(exec);
        exec.query(member, outer, &mut kept).await?;
        let member = Member { plan, rows: kept.into_list(exec)? };
        // The operator before the first member means nothing.
        match operator {
            _ if nth == 0 => member.unite(exec, &mut all, false).await?,
            SetOperator::UnionAll | SetOperator::UnionDistinct => {
                member.unite(exec, &mut all, distinct[nth]).await?;
            }
            operator => Box::pin(member.sift(exec, &mut all, *operator, distinct[nth])).await?,
        }
    }
    all.settle(exec).await?;
    let rows = all.take(exec)?;
    exec.note_since(began, name_of(plan), Part::Kept, rows.0.len());
    values::deliver(exec, rows, &plan.order, &plan.limit, out).await
}

/// What a member has given.
struct Member<'p> {
    plan: &'p SetPlan,
    rows: (List, Charge),
}

impl Member<'_> {
    /// A row as the columns of the result show it.
    fn shown(&self, mut row: Vec<Value>, context: &EvalContext<'_>) -> SqlResult<Vec<Value>> {
        for (value, kind) in row.iter_mut().zip(&self.plan.kinds) {
            *value = converted(std::mem::take(value), kind, context)?;
        }
        Ok(row)
    }

    /// Adds the rows.
    async fn unite(mut self, exec: &mut Exec<'_>, all: &mut Combined<'_>, distinct: bool) -> SqlResult<()> {
        match distinct {
            true => all.make_distinct(exec).await?,
            false => all.settle(exec).await?,
        }
        let mut rows = std::mem::take(&mut self.rows.0).read();
        while let Some(row) = rows.next()? {
            exec.pace().await?;
            let row = self.shown(row, exec.eval)?;
            match distinct {
                true => all.add_different(exec, row).await?,
                false => all.rows.add(exec, row).await?,
            }
        }
        Ok(())
    }

    /// EXCEPT and INTERSECT with the rows.
    async fn sift(
        self,
        exec: &mut Exec<'_>,
        all: &mut Combined<'_>,
        operator: SetOperator,
        distinct: bool,
    ) -> SqlResult<()> {
        all.settle(exec).await?;
        let keeps_found = matches!(operator, SetOperator::IntersectAll | SetOperator::IntersectDistinct);
        let max = kept_bytes_max(exec, |settings| settings.buffers.table);
        let mut others = KeyIndex::default();
        let mut counts: Many<usize> = Many::new();
        let mut charge = exec.eval.charge();
        let mut rows = self.rows.0.clone().read();
        while let Some(row) = rows.next()? {
            exec.pace().await?;
            let row = self.shown(row, exec.eval)?;
            all.key_of(&row, exec.eval)?;
            match others.get_or_insert(&all.key) {
                Some(at) => counts[at] += 1,
                None => {
                    charge.add(all.key.len() + KEY_OVERHEAD + size_of::<usize>())?;
                    counts.push(1);
                }
            }
            if charge.bytes() > max {
                drop((others, counts, charge, rows));
                return self.sift_by_key(exec, all, keeps_found, distinct).await;
            }
        }
        drop(rows);
        let (rows, _held) = all.take(exec)?;
        let mut rows = rows.read();
        while let Some(row) = rows.next()? {
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
                all.rows.add(exec, row).await?;
            }
        }
        if distinct { all.make_distinct(exec).await } else { Ok(()) }
    }

    /// The same where the keys are too many for memory: of each key the member's rows come first, and then
    /// those that are there.
    async fn sift_by_key(
        mut self,
        exec: &mut Exec<'_>,
        all: &mut Combined<'_>,
        keeps_found: bool,
        distinct: bool,
    ) -> SqlResult<()> {
        let mut sorting = ByKey::new(exec);
        let mut rows = std::mem::take(&mut self.rows.0).read();
        while let Some(row) = rows.next()? {
            exec.pace().await?;
            let row = self.shown(row, exec.eval)?;
            all.key_of(&row, exec.eval)?;
            sorting.add(exec, &all.key, vec![Value::Null]).await?;
        }
        drop(rows);
        let (rows, held) = all.take(exec)?;
        let mut rows = rows.read();
        while let Some(mut row) = rows.next()? {
            exec.pace().await?;
            all.key_of(&row, exec.eval)?;
            row.push(Value::UInt(1));
            sorting.add(exec, &all.key, row).await?;
        }
        drop((rows, held));
        exec.session.entry.counts.disk_tables.add(1);
        let Some(mut merge) = sorting.read(exec).await? else { return Ok(()) };
        let mut before = Vec::new();
        // Of the key at hand: rows of the member that have no partner yet, and whether a row has come.
        let (mut others, mut came) = (0u64, false);
        while let Some((key, mut row)) = merge.next(exec.eval)? {
            exec.pace().await?;
            if key != before {
                (before, others, came) = (key, 0, false);
            }
            if row.pop().is_none_or(|mark| mark.is_null()) {
                others += 1;
                continue;
            }
            let found = others > 0;
            if !distinct {
                others = others.saturating_sub(1);
            }
            if found == keeps_found && !(distinct && came) {
                all.rows.add(exec, row).await?;
            }
            came = true;
        }
        Ok(())
    }
}
