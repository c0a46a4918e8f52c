//! GROUP BY: rows go into groups, and groups come out.
//!
//! Where the plan says that the rows of a group come one after another there is one group at a time
//! ([`together`]); else all groups are in memory, found by their hashed keys, until they are too many
//! ([`hashed`]).

mod hashed;
mod together;

use turnstile_engine::Visit;
use turnstile_expr::expr::{EvalContext, Row};
use turnstile_plan::plan::query::GroupPlan;
use turnstile_values::error::SqlResult;
use turnstile_values::memory::{Charge, row_bytes};
use turnstile_values::value::{Rows, Value};

use super::aggregate::Accumulator;
use super::select::Boxed;
use super::tail::TupleRow;
use super::{Exec, rollup};
use hashed::Hashed;
use together::Together;

/// Groups are finished in pieces of so many, so that other sessions get in between.
const GROUPS_AT_ONCE: usize = 256;

/// A group being built.
pub(super) struct Group {
    /// The tuple of its first row.
    tuple: Vec<Value>,
    accumulators: Vec<Accumulator>,
    /// Under WITH ROLLUP: how many keys its rows have in common.
    level: usize,
}

impl Group {
    /// Without rows; charged but for its key.
    fn begin(plan: &GroupPlan, tuple: &[Value], level: usize, charge: &mut Charge) -> SqlResult<Group> {
        let own = size_of::<Group>() + plan.aggregates.len() * size_of::<Accumulator>();
        charge.add(own + row_bytes(tuple))?;
        let accumulators = plan.aggregates.iter().map(Accumulator::new).collect();
        Ok(Group { tuple: tuple.to_vec(), accumulators, level })
    }

    fn add(
        &mut self,
        plan: &GroupPlan,
        tuple: &[Value],
        context: &EvalContext<'_>,
        charge: &mut Charge,
    ) -> SqlResult<()> {
        let row: &dyn Row = &TupleRow(tuple);
        for (accumulator, aggregate) in self.accumulators.iter_mut().zip(&plan.aggregates) {
            accumulator.add(aggregate, row, context, charge)?;
        }
        Ok(())
    }

    /// The different values that an aggregate has seen are too many for memory.
    fn has_shed(&self) -> bool {
        self.accumulators.iter().any(Accumulator::has_shed)
    }

    /// The tuple with what the aggregates give.
    fn finish(self, plan: &GroupPlan, context: &EvalContext<'_>) -> SqlResult<Vec<Value>> {
        let mut tuple = self.tuple;
        for (accumulator, aggregate) in self.accumulators.into_iter().zip(&plan.aggregates) {
            tuple[aggregate.position] = accumulator.result(aggregate, context)?;
        }
        rollup::fill(&plan.rollup, self.level, &mut tuple, context)?;
        Ok(tuple)
    }
}

/// Takes back what aggregates have put into files, so that the group can be finished.
fn gather<'a>(exec: &'a mut Exec<'_>, plan: &'a GroupPlan, group: &'a mut Group) -> Boxed<'a, ()> {
    Box::pin(async move {
        for (accumulator, aggregate) in group.accumulators.iter_mut().zip(&plan.aggregates) {
            accumulator.gather(exec, aggregate).await?;
        }
        Ok(())
    })
}

/// The groups of a block.
pub(super) struct Grouping<'p> {
    plan: &'p GroupPlan,
    how: How,
    /// The tuple of the only group if it has no rows: what the block around gave and what was computed
    /// beforehand.
    blank: Option<Vec<Value>>,
    /// It was used.
    is_blank: bool,
}

enum How {
    Hashed(Box<Hashed>),
    Together(Together),
}

impl<'p> Grouping<'p> {
    /// None yet; `blank`: see [`Grouping::blank`].
    pub(super) fn new(plan: &'p GroupPlan, context: &EvalContext<'_>, blank: Option<Vec<Value>>) -> Self {
        let how = match plan.together {
            true => How::Together(Together::new(plan, context)),
            false => How::Hashed(Box::new(Hashed::new(context))),
        };
        Grouping { plan, how, blank, is_blank: false }
    }

    /// A row.
    pub(super) fn add(&mut self, tuple: &[Value], context: &EvalContext<'_>) -> SqlResult<Visit> {
        match &mut self.how {
            How::Hashed(groups) => groups.add(self.plan, tuple, context)?,
            How::Together(groups) => groups.add(self.plan, tuple, context)?,
        }
        Ok(Visit::Continue)
    }

    /// So many rows at once into the only COUNT(*).
    pub(super) fn add_counted(
        &mut self,
        tuple: &[Value],
        rows: u64,
        context: &EvalContext<'_>,
    ) -> SqlResult<()> {
        self.add(tuple, context)?;
        if let How::Together(groups) = &mut self.how {
            groups.count_more(rows - 1);
        }
        Ok(())
    }

    /// The group is that of a block without GROUP BY that has no rows.
    pub(super) fn is_blank(&self) -> bool {
        self.is_blank
    }

    /// Something is too much for memory, and [`Grouping::settle`] is to be called.
    #[inline]
    pub(super) fn is_over(&self) -> bool {
        match &self.how {
            How::Hashed(groups) => groups.is_over(),
            How::Together(groups) => groups.is_over(),
        }
    }

    /// What is too much for memory goes to files, where others may be let in.
    pub(super) fn settle<'a>(&'a mut self, exec: &'a mut Exec<'_>) -> Boxed<'a, ()> {
        match &mut self.how {
            How::Hashed(groups) => Box::pin(groups.settle(exec)),
            How::Together(groups) => Box::pin(groups.settle(exec, self.plan)),
        }
    }

    /// Groups are done before all rows have come.
    #[inline]
    pub(super) fn has_done(&self) -> bool {
        matches!(&self.how, How::Together(groups) if groups.has_done())
    }

    /// Some of these; None when there are none.
    pub(super) async fn take_done(&mut self, exec: &mut Exec<'_>) -> SqlResult<Option<Rows>> {
        match &mut self.how {
            How::Together(groups) => groups.take_done(exec, self.plan).await,
            How::Hashed(_) => Ok(None),
        }
    }

    /// Once no more rows come: some of the groups that are left; None when all have come.
    pub(super) async fn close(&mut self, exec: &mut Exec<'_>) -> SqlResult<Option<Rows>> {
        let blank = self.blank.take();
        match &mut self.how {
            How::Together(groups) => {
                groups.finish_all()?;
                if let Some(tuple) = blank.filter(|_| groups.is_empty()) {
                    self.is_blank = true;
                    return self.only_blank(tuple, exec.eval).map(Some);
                }
                groups.take_done(exec, self.plan).await
            }
            How::Hashed(groups) => {
                if let Some(tuple) = blank.filter(|_| groups.is_empty()) {
                    self.is_blank = true;
                    return self.only_blank(tuple, exec.eval).map(Some);
                }
                match groups.close_some(self.plan, exec.eval)? {
                    None if groups.has_more() => Box::pin(groups.close_spilled(exec, self.plan)).await,
                    some => Ok(some),
                }
            }
        }
    }

    fn only_blank(&self, tuple: Vec<Value>, context: &EvalContext<'_>) -> SqlResult<Rows> {
        let accumulators = self.plan.aggregates.iter().map(Accumulator::new).collect();
        let group = Group { tuple, accumulators, level: 0 };
        Ok(Rows::from(vec![group.finish(self.plan, context)?]))
    }

    /// What is left in memory, how much that is, and its charge: to be dropped elsewhere.
    pub(super) fn into_remains(self) -> (impl Send + 'static, usize, Charge) {
        match self.how {
            How::Hashed(groups) => {
                let (groups, count, charge) = groups.into_remains();
                (Some(groups), count, charge)
            }
            How::Together(_) => (None, 0, Charge::default()),
        }
    }
}
