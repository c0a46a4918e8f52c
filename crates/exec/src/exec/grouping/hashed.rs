//! Groups whose rows come in any order, found by their hashed keys.
//!
//! ```text
//!   row --key--> a group in memory            while there is memory for groups
//!       --other keys--> sorted by key in a file     once there is none: those in memory go on
//!   groups that grow to twice the limit (lists, different values) are put before the rows of their key
//!   at the end: groups in memory; then rows key by key, one group at a time
//! ```
//! So a few groups that have most rows stay in memory, and no key has too many rows. Rows of one key stay in
//! the order in which they came, so that each group is what it would have been in memory.

use turnstile_expr::expr::EvalContext;
use turnstile_plan::plan::query::GroupPlan;
use turnstile_values::error::{SqlError, SqlResult};
use turnstile_values::memory::{Charge, Many, row_bytes};
use turnstile_values::value::{Rows, Value};

use super::super::aggregate::Accumulator;
use super::super::key_index::{KEY_OVERHEAD, KeyIndex};
use super::super::sort::by_key::ByKey;
use super::super::sort::external::Merge;
use super::super::spill::limits::kept_bytes_max;
use super::super::tail::{HELD_UNASKED_BYTES, TupleRow};
use super::super::{Exec, hash_key};
use super::together::Live;
use super::{GROUPS_AT_ONCE, Group, gather};

/// A longer key is not kept beside those that are charged.
const SHORT_KEY_BYTES: usize = 256;

/// Groups may grow to so many times the limit before they are put away.
const GROWTH: u64 = 2;

/// See the head of this file.
pub(super) struct Hashed {
    index: KeyIndex,
    groups: Many<Group>,
    key: Vec<u8>,
    /// The key of the tuple before, if it is short, and its group: tuples that come in the order of a key
    /// stay in one group for a while.
    last: (Vec<u8>, usize),
    charge: Charge,
    /// What groups may hold, once that was asked.
    max: u64,
    away: Option<Box<ByKey>>,
    /// Once no more rows come: rows that were put away, as they come back.
    reading: Option<Box<Reading>>,
    /// Then, too: what is left in memory to be passed on.
    closing: Option<<Many<Group> as IntoIterator>::IntoIter>,
}

/// Rows as they come back, key by key.
struct Reading {
    merge: Merge,
    key: Vec<Value>,
    live: Live,
    /// What the group may hold before its different values go to files.
    max: u64,
}

impl Hashed {
    /// None yet.
    pub(super) fn new(context: &EvalContext<'_>) -> Hashed {
        Hashed {
            index: KeyIndex::default(),
            groups: Many::new(),
            key: Vec::new(),
            last: Default::default(),
            charge: context.charge(),
            max: HELD_UNASKED_BYTES,
            away: None,
            reading: None,
            closing: None,
        }
    }

    pub(super) fn add(
        &mut self,
        plan: &GroupPlan,
        tuple: &[Value],
        context: &EvalContext<'_>,
    ) -> SqlResult<()> {
        let first = if plan.rollup.is_empty() { plan.keys.len() } else { 0 };
        for level in first..=plan.keys.len() {
            match self.group_of(plan, tuple, level, context)? {
                Some(nth) => self.groups[nth].add(plan, tuple, context, &mut self.charge)?,
                None => self.put_away(tuple, level)?,
            }
        }
        Ok(())
    }

    /// The group of a tuple by the first `level` keys, a new one if it is the first; None if it is not in
    /// memory.
    fn group_of(
        &mut self,
        plan: &GroupPlan,
        tuple: &[Value],
        level: usize,
        context: &EvalContext<'_>,
    ) -> SqlResult<Option<usize>> {
        hash_key::clear(&mut self.key);
        if !plan.rollup.is_empty() {
            self.key.extend((level as u64).to_le_bytes());
        }
        let row = TupleRow(tuple);
        for (expr, collation) in &plan.keys[..level] {
            let value = expr.operand(&row, context)?;
            hash_key::append_held(&value, *collation, context, &mut self.key)?;
        }
        if self.last.0 == self.key && self.last.1 < self.groups.len() {
            return Ok(Some(self.last.1));
        }
        let nth = match &self.away {
            None => match self.index.get_or_insert(&self.key) {
                Some(nth) => nth,
                None => self.begin(plan, tuple, level)?,
            },
            Some(_) => match self.index.get(&self.key) {
                Some(nth) => nth,
                None => return Ok(None),
            },
        };
        if self.key.len() <= SHORT_KEY_BYTES {
            self.last.0.clone_from(&self.key);
            self.last.1 = nth;
        }
        Ok(Some(nth))
    }

    /// A group whose key is the one that was just inserted.
    fn begin(&mut self, plan: &GroupPlan, tuple: &[Value], level: usize) -> SqlResult<usize> {
        self.charge.add(self.key.len() + KEY_OVERHEAD)?;
        self.groups.push(Group::begin(plan, tuple, level, &mut self.charge)?);
        Ok(self.groups.len() - 1)
    }

    /// A row whose group is not in memory.
    fn put_away(&mut self, tuple: &[Value], level: usize) -> SqlResult<()> {
        let Some(away) = &mut self.away else { return Ok(()) };
        let mut row = Vec::with_capacity(tuple.len() + 1);
        row.extend_from_slice(tuple);
        row.push(Value::UInt(level as u64));
        away.push(&self.key, row)
    }

    /// There are no groups.
    pub(super) fn is_empty(&self) -> bool {
        self.groups.is_empty() && !self.has_more() && self.closing.is_none()
    }

    #[inline]
    pub(super) fn is_over(&self) -> bool {
        match &self.away {
            None => self.charge.bytes() > self.max,
            Some(away) => away.is_over() || self.charge.bytes() > self.max.saturating_mul(GROWTH),
        }
    }

    /// Looks what is too much, and puts it away. Errors 1 to 3.
    pub(super) async fn settle(&mut self, exec: &mut Exec<'_>) -> SqlResult<()> {
        self.max = kept_bytes_max(exec, |settings| settings.buffers.table);
        if self.away.is_none() && self.charge.bytes() <= self.max {
            return Ok(());
        }
        if self.away.is_none() {
            self.away = Some(Box::new(ByKey::new(exec)));
        }
        let Some(away) = &mut self.away else { return Ok(()) };
        if self.charge.bytes() > self.max.saturating_mul(GROWTH) {
            // In the order of their numbers, by which the keys are known.
            let mut keys: Many<Vec<u8>> = (0..self.groups.len()).map(|_| Vec::new()).collect();
            for (key, nth) in std::mem::take(&mut self.index).into_entries() {
                exec.pace().await?;
                keys[nth] = key.into();
            }
            for (group, key) in std::mem::take(&mut self.groups).into_iter().zip(keys) {
                exec.pace().await?;
                away.push(&key, saved(group))?;
                if away.is_over() {
                    away.write(exec).await?;
                }
            }
            self.charge.clear();
            self.last = Default::default();
        }
        if away.is_over() { away.write(exec).await } else { Ok(()) }
    }

    /// Some of the groups in memory, finished; None when all are.
    pub(super) fn close_some(
        &mut self,
        plan: &GroupPlan,
        context: &EvalContext<'_>,
    ) -> SqlResult<Option<Rows>> {
        let closing = self.closing.get_or_insert_with(|| std::mem::take(&mut self.groups).into_iter());
        // Forgotten piece by piece, as the groups are.
        self.index.shrink();
        let mut tuples = Rows::with_capacity(GROUPS_AT_ONCE.min(closing.len()));
        for group in closing.by_ref().take(GROUPS_AT_ONCE) {
            tuples.push(group.finish(plan, context)?);
        }
        Ok((!tuples.is_empty()).then_some(tuples))
    }

    /// There are rows of groups that are not in memory.
    pub(super) fn has_more(&self) -> bool {
        self.away.is_some() || self.reading.is_some()
    }

    /// Some of the groups that were not in memory; None when all have come.
    pub(super) async fn close_spilled(
        &mut self,
        exec: &mut Exec<'_>,
        plan: &GroupPlan,
    ) -> SqlResult<Option<Rows>> {
        self.charge.clear();
        if let Some(mut away) = self.away.take()
            && let Some(merge) = away.read(exec).await?
        {
            exec.session.entry.counts.disk_tables.add(1);
            let live = Live::new(exec.eval);
            self.reading = Some(Box::new(Reading { merge, key: Vec::new(), live, max: self.max }));
        }
        let Some(reading) = &mut self.reading else { return Ok(None) };
        let mut tuples = Rows::with_capacity(GROUPS_AT_ONCE);
        while tuples.len() < GROUPS_AT_ONCE {
            exec.pace().await?;
            let Some((key, row)) = reading.merge.next(exec.eval)? else {
                reading.end(exec, plan, &mut tuples).await?;
                if tuples.is_empty() {
                    self.reading = None;
                    return Ok(None);
                }
                break;
            };
            if key != reading.key {
                reading.end(exec, plan, &mut tuples).await?;
                reading.key = key;
            }
            reading.add(exec, plan, row).await?;
        }
        Ok(Some(tuples))
    }

    /// What is left in memory, how much that is, and its charge.
    pub(super) fn into_remains(mut self) -> (impl Send + 'static, usize, Charge) {
        let (count, charge) = (self.index.len(), std::mem::take(&mut self.charge));
        ((self.index, self.groups, self.closing), count, charge)
    }
}

impl Reading {
    /// The group is done.
    async fn end(&mut self, exec: &mut Exec<'_>, plan: &GroupPlan, out: &mut Rows) -> SqlResult<()> {
        if let Some((mut group, _)) = self.live.take() {
            if group.has_shed() {
                gather(exec, plan, &mut group).await?;
            }
            out.push(group.finish(plan, exec.eval)?);
        }
        Ok(())
    }

    async fn add(&mut self, exec: &mut Exec<'_>, plan: &GroupPlan, mut row: Vec<Value>) -> SqlResult<()> {
        match row.pop() {
            Some(Value::UInt(level)) => self.live.add(plan, &row, level as usize, exec.eval)?,
            _ => {
                let bytes = row_bytes(&row);
                let group = restored(plan, row).ok_or_else(damaged)?;
                self.live.go_on(group, bytes)?;
            }
        }
        if self.live.bytes() > self.max {
            self.live.shed(exec, plan).await?;
            self.max = self.max.max(self.live.bytes().saturating_mul(2));
        }
        Ok(())
    }
}

/// A group as a row: its tuple, what its aggregates are at, the length of the tuple, its level.
fn saved(group: Group) -> Vec<Value> {
    let mut row = group.tuple;
    let width = row.len();
    group.accumulators.into_iter().for_each(|accumulator| accumulator.save(&mut row));
    row.extend([Value::UInt(width as u64), Value::UInt(group.level as u64), Value::Null]);
    row
}

/// None if no group was saved as this.
fn restored(plan: &GroupPlan, mut row: Vec<Value>) -> Option<Group> {
    let (Value::UInt(level), Value::UInt(width)) = (row.pop()?, row.pop()?) else { return None };
    if row.len() < width as usize {
        return None;
    }
    let mut states = row.split_off(width as usize).into_iter();
    let restore = |aggregate| Accumulator::restore(aggregate, &mut states);
    let accumulators = plan.aggregates.iter().map(restore).collect::<Option<Vec<_>>>()?;
    Some(Group { tuple: row, accumulators, level: level as usize })
}

fn damaged() -> SqlError {
    SqlError::unknown_error("a group in a temporary file is not as it was written")
}
