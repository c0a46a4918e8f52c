//! Groups whose rows come one after another: a group is done when a row with another key comes. Under ROLLUP
//! there is one for each number of keys, and with a group those are done that sum over the keys which differ
//! in the next row: each sum comes behind what it sums.

use turnstile_expr::expr::EvalContext;
use turnstile_plan::plan::query::GroupPlan;
use turnstile_values::error::SqlResult;
use turnstile_values::memory::{Charge, Many};
use turnstile_values::value::{Rows, Value};

use super::super::spill::limits::kept_bytes_max;
use super::super::tail::{HELD_UNASKED_BYTES, TupleRow};
use super::super::{Exec, hash_key};
use super::{GROUPS_AT_ONCE, Group, gather};

/// A group to which rows still come, if there is one, and what it holds.
#[derive(Default)]
pub(super) struct Live {
    group: Option<Group>,
    charge: Charge,
}

impl Live {
    /// None yet.
    pub(super) fn new(context: &EvalContext<'_>) -> Live {
        Live { group: None, charge: context.charge() }
    }

    /// A row of the group, which begins with it if there is none.
    pub(super) fn add(
        &mut self,
        plan: &GroupPlan,
        tuple: &[Value],
        level: usize,
        context: &EvalContext<'_>,
    ) -> SqlResult<()> {
        let group = match &mut self.group {
            Some(group) => group,
            none => none.insert(Group::begin(plan, tuple, level, &mut self.charge)?),
        };
        group.add(plan, tuple, context, &mut self.charge)
    }

    /// A group that has had rows before.
    pub(super) fn go_on(&mut self, group: Group, bytes: usize) -> SqlResult<()> {
        self.charge.add(bytes)?;
        self.group = Some(group);
        Ok(())
    }

    /// What it holds.
    pub(super) fn bytes(&self) -> u64 {
        self.charge.bytes()
    }

    /// The group, to which no more rows come, and what it holds.
    pub(super) fn take(&mut self) -> Option<(Group, u64)> {
        let bytes = self.charge.bytes();
        self.charge.clear();
        Some((self.group.take()?, bytes))
    }

    /// Different values that aggregates have seen go to files.
    pub(super) async fn shed(&mut self, exec: &mut Exec<'_>, plan: &GroupPlan) -> SqlResult<()> {
        let Some(group) = &mut self.group else { return Ok(()) };
        for (accumulator, _) in group.accumulators.iter_mut().zip(&plan.aggregates) {
            accumulator.shed(exec, &mut self.charge).await?;
        }
        Ok(())
    }
}

/// See the head of this file.
pub(super) struct Together {
    /// By how many keys they have in common; only one without ROLLUP.
    live: Vec<Live>,
    /// The key of the row before, and where the part of each of its columns ends.
    key: Vec<u8>,
    ends: Vec<usize>,
    /// The same of the row at hand.
    next: (Vec<u8>, Vec<usize>),
    /// Groups that are done and not taken yet, and what they hold.
    done: Many<Group>,
    charge: Charge,
    /// From so many bytes on a group may hold too much.
    max: u64,
    is_over: bool,
    is_empty: bool,
}

impl Together {
    /// None yet.
    pub(super) fn new(plan: &GroupPlan, context: &EvalContext<'_>) -> Together {
        let levels = if plan.rollup.is_empty() { 1 } else { plan.keys.len() + 1 };
        Together {
            live: (0..levels).map(|_| Live::new(context)).collect(),
            key: Vec::new(),
            ends: Vec::new(),
            next: Default::default(),
            done: Many::new(),
            charge: context.charge(),
            max: HELD_UNASKED_BYTES,
            is_over: false,
            is_empty: true,
        }
    }

    pub(super) fn add(
        &mut self,
        plan: &GroupPlan,
        tuple: &[Value],
        context: &EvalContext<'_>,
    ) -> SqlResult<()> {
        if !plan.keys.is_empty() {
            self.look_at_key(plan, tuple, context)?;
        }
        self.is_empty = false;
        let first = plan.keys.len() + 1 - self.live.len();
        for (nth, live) in self.live.iter_mut().enumerate() {
            live.add(plan, tuple, first + nth, context)?;
            self.is_over |= live.bytes() > self.max;
        }
        Ok(())
    }

    /// Ends the groups that a row does not belong to.
    fn look_at_key(&mut self, plan: &GroupPlan, tuple: &[Value], context: &EvalContext<'_>) -> SqlResult<()> {
        let (key, ends) = &mut self.next;
        hash_key::clear(key);
        ends.clear();
        let row = TupleRow(tuple);
        for (expr, collation) in &plan.keys {
            let value = expr.operand(&row, context)?;
            hash_key::append_held(&value, *collation, context, key)?;
            ends.push(key.len());
        }
        if *key == self.key && !self.is_empty {
            return Ok(());
        }
        let is_common = |nth: &usize| {
            self.ends.get(*nth) == ends.get(*nth) && self.key[..ends[*nth]] == key[..ends[*nth]]
        };
        let common = (0..ends.len()).take_while(is_common).count();
        std::mem::swap(&mut self.next.0, &mut self.key);
        std::mem::swap(&mut self.next.1, &mut self.ends);
        // Without ROLLUP there is only the level of all keys.
        let first = plan.keys.len() + 1 - self.live.len();
        self.end_from((common + 1).saturating_sub(first))
    }

    /// Groups from a level on are done, the deepest first.
    fn end_from(&mut self, level: usize) -> SqlResult<()> {
        for live in self.live[level..].iter_mut().rev() {
            if let Some((group, bytes)) = live.take() {
                self.charge.add(usize::try_from(bytes).unwrap_or(usize::MAX))?;
                self.done.push(group);
            }
        }
        Ok(())
    }

    /// So many rows more for COUNT(*), the only aggregate.
    pub(super) fn count_more(&mut self, rows: u64) {
        let group = self.live.first_mut().and_then(|live| live.group.as_mut());
        if let Some(counted) = group.and_then(|group| group.accumulators.first_mut()) {
            counted.count_more(rows);
        }
    }

    /// No row has come.
    pub(super) fn is_empty(&self) -> bool {
        self.is_empty
    }

    #[inline]
    pub(super) fn is_over(&self) -> bool {
        self.is_over
    }

    /// Puts different values into files that are too many for memory.
    pub(super) async fn settle(&mut self, exec: &mut Exec<'_>, plan: &GroupPlan) -> SqlResult<()> {
        self.max = kept_bytes_max(exec, |settings| settings.buffers.table) / self.live.len() as u64;
        for live in &mut self.live {
            if live.bytes() > self.max {
                live.shed(exec, plan).await?;
            }
        }
        // What cannot be put away is not asked for again with each row.
        let held = self.live.iter().map(Live::bytes).max().unwrap_or(0);
        self.max = self.max.max(held.saturating_mul(2));
        self.is_over = false;
        Ok(())
    }

    #[inline]
    pub(super) fn has_done(&self) -> bool {
        !self.done.is_empty()
    }

    /// No more rows come.
    pub(super) fn finish_all(&mut self) -> SqlResult<()> {
        self.end_from(0)
    }

    /// Some of the groups that are done.
    pub(super) async fn take_done(
        &mut self,
        exec: &mut Exec<'_>,
        plan: &GroupPlan,
    ) -> SqlResult<Option<Rows>> {
        if self.done.is_empty() {
            return Ok(None);
        }
        let done = if self.done.len() <= GROUPS_AT_ONCE {
            std::mem::take(&mut self.done)
        } else {
            self.done.drain(..GROUPS_AT_ONCE).collect()
        };
        let mut tuples = Rows::with_capacity(done.len());
        for mut group in done {
            if group.has_shed() {
                gather(exec, plan, &mut group).await?;
            }
            tuples.push(group.finish(plan, exec.eval)?);
        }
        if self.done.is_empty() {
            self.charge.clear();
        }
        Ok(Some(tuples))
    }
}
