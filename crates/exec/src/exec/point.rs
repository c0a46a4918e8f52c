//! SELECT of one row by its whole primary key, as a plain call.
//!
//! What waits is a future, and a future costs memory and copies at every level that awaits it. Here the row
//! is looked at once, under its leaf's latch, and the select list goes from it into the answer. Where a page
//! is missing, a ticket is due or the row does not fit its leaf, nothing has been written yet, and the
//! general path ([`Exec::query`]) does all of it.

use smallvec::SmallVec;

use super::Exec;
use super::change::StoredRow;
use super::tail::{TupleRow, limits};
use turnstile_catalog::row_codec::RowView;
use turnstile_expr::expr::EvalContext;
use turnstile_plan::plan::key_ranges::ranges as key_ranges;
use turnstile_plan::plan::point::{PointShape, conditions};
use turnstile_plan::plan::query::{JoinStep, QueryPlan, SelectPlan, Source, TableSource};
use turnstile_values::error::{SqlError, SqlResult};
use turnstile_values::key_codec::ShortKey;
use turnstile_values::sink::ResultSink;
use turnstile_values::value::Value;

/// Longest select list whose values need no memory of their own.
const ITEMS_INLINE: usize = 8;

/// The key of a statement about one row.
pub(super) enum PointKey {
    /// There is no such row.
    Nowhere,
    /// It is not one whole key after all (a value that the column cannot hold): the general path.
    Many,
    /// The key, and which condition says no more than it.
    One(ShortKey, Option<usize>),
}

/// The way of the row into the client's answer.
struct Answer<'a> {
    select: &'a SelectPlan,
    step: &'a JoinStep,
    source: &'a TableSource,
    /// Which condition is met by the row's key.
    implied: Option<usize>,
    eval: &'a EvalContext<'a>,
    out: &'a mut dyn ResultSink,
    found: u64,
}

impl Answer<'_> {
    /// Passes the row on if it meets the conditions.
    fn take(&mut self, row: &[u8]) -> SqlResult<()> {
        let table = &self.source.table;
        let view = RowView::new(&table.layout, row).map_err(|_| SqlError::crashed_table(table.name()))?;
        let row = StoredRow { view: &view, base: self.step.base, rest: &[] };
        for (at, filter) in conditions(self.step).enumerate() {
            if self.implied != Some(at) && filter.expr.eval_truth(&row, self.eval)? != Some(true) {
                return Ok(());
            }
        }
        let mut items = SmallVec::<[Value; ITEMS_INLINE]>::new();
        for item in &self.select.items {
            items.push(item.expr.eval(&row, self.eval)?);
        }
        self.out.columns(&self.select.columns)?;
        self.found = 1;
        self.out.row(&items)
    }
}

impl Exec<'_> {
    /// Runs a query to its end if it is about one row and no step of it has to wait; the number of rows.
    /// `None`: the general path is to run it, and the client has not been told anything.
    pub fn query_now(&mut self, plan: &QueryPlan, out: &mut dyn ResultSink) -> SqlResult<Option<u64>> {
        let QueryPlan::Select(select) = plan else { return Ok(None) };
        let (Some(shape), Some(step)) = (select.point, select.steps.first()) else { return Ok(None) };
        let Source::Table(source) = &step.source else { return Ok(None) };
        let key = match point_key(self, shape, source)? {
            PointKey::Many => return Ok(None),
            PointKey::One(key, implied) => Some((key, implied)),
            PointKey::Nowhere => None,
        };
        let implied = key.as_ref().and_then(|(_, implied)| *implied);
        let mut answer = Answer { select, step, source, implied, eval: self.eval, out, found: 0 };
        let wanted = limits(&select.limit, self.eval)?.0 > 0;
        if let Some((key, _)) = key.filter(|_| wanted) {
            let mut taken = Ok(());
            let mut take = |row: &[u8]| taken = answer.take(row);
            if self.txn.get_now(&source.table.engine, &key, &mut take)?.is_none() {
                return Ok(None);
            }
            taken?;
        }
        if answer.found == 0 {
            answer.out.columns(&select.columns)?;
        }
        Ok(Some(answer.found))
    }
}

/// The key that a statement's shape tells.
pub(super) fn point_key(exec: &Exec<'_>, shape: PointShape, source: &TableSource) -> SqlResult<PointKey> {
    if let Some(key) = shape.integer_key(source, exec.eval) {
        return Ok(PointKey::One(key, shape.implied()));
    }
    let ranges = key_ranges(&source.table, &source.access, &TupleRow(&[]), exec.eval)?;
    Ok(match ranges.into_iter().next() {
        None => PointKey::Nowhere,
        Some(range) if !range.point => PointKey::Many,
        Some(range) => PointKey::One(ShortKey::from_vec(range.lower.unwrap_or_default()), None),
    })
}
