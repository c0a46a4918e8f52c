//! What happens to a joined row: grouping, projection, DISTINCT, ORDER BY, LIMIT, and out.

use std::sync::Arc;
use std::task::{Context, Poll};

use turnstile_engine::Visit;

use super::grouping::Grouping;
use super::order::{self, Direction};
use super::sort::external::External;
use super::spill::different::{Different, Seen};
use super::spill::list::{Growing, List};
use super::{Exec, blank, hash_key};
use turnstile_expr::expr::{EvalContext, Expr, NoRow, Row, Warnings};
use turnstile_plan::plan::query::{LimitPlan, SelectPlan};
use turnstile_values::collation::Collation;
use turnstile_values::error::{SqlError, SqlResult};
use turnstile_values::field::FieldRef;
use turnstile_values::memory::{Blocks, Charge, discard, row_bytes};
use turnstile_values::sink::ResultSink;
use turnstile_values::value::Rows;
use turnstile_values::value::{Value, to_u64_bits};

/// Takes rows that are done.
pub trait RowOut: Send {
    /// One row.
    fn row(&mut self, row: &[Value]) -> SqlResult<Visit>;
    /// One row of borrowed fields.
    fn fields(&mut self, row: &[FieldRef<'_>]) -> SqlResult<Visit> {
        self.row(&row.iter().map(|field| field.to_value()).collect::<Vec<_>>())
    }
    /// It wants to be flushed before more rows.
    fn should_flush(&self) -> bool {
        false
    }
    /// See [`ResultSink::poll_flush`].
    fn poll_flush(&mut self, context: &mut Context<'_>) -> Poll<SqlResult<()>> {
        let _ = context;
        Poll::Ready(Ok(()))
    }
}

/// Rows for the client, which are counted where warnings are kept.
pub struct ClientOut<'s>(pub &'s mut dyn ResultSink, pub &'s Warnings);

impl RowOut for ClientOut<'_> {
    fn row(&mut self, row: &[Value]) -> SqlResult<Visit> {
        self.0.row(row)?;
        self.1.note_given();
        Ok(Visit::Continue)
    }
    fn fields(&mut self, row: &[FieldRef<'_>]) -> SqlResult<Visit> {
        self.0.fields(row)?;
        self.1.note_given();
        Ok(Visit::Continue)
    }
    fn should_flush(&self) -> bool {
        self.0.should_flush()
    }
    fn poll_flush(&mut self, context: &mut Context<'_>) -> Poll<SqlResult<()>> {
        self.0.poll_flush(context)
    }
}

/// Rows kept in memory; at most `most` of them.
#[derive(Default)]
pub struct Kept {
    /// The rows.
    pub rows: Rows,
    /// Stop after so many.
    pub most: Option<usize>,
    given: usize,
    /// What they hold of the session's memory.
    pub charge: Charge,
    /// Where they go when they are too many; None: nowhere.
    growing: Option<Box<Growing>>,
}

impl Kept {
    /// None yet.
    pub fn new(context: &EvalContext<'_>, most: Option<usize>) -> Kept {
        Kept { rows: Rows::new(), most, given: 0, charge: context.charge(), growing: None }
    }

    /// None yet, and those that are too many for memory go to a file: they are to be had as a list only.
    pub(super) fn growing(exec: &Exec<'_>) -> Kept {
        Kept { growing: Some(Box::new(Growing::new(exec))), ..Kept::new(exec.eval, None) }
    }

    /// They hold so much that it has to be asked how much they may, or that they go to a file.
    pub(super) fn is_over(&self) -> bool {
        match &self.growing {
            Some(growing) => growing.is_over(&self.charge),
            None => self.charge.bytes() > HELD_UNASKED_BYTES,
        }
    }

    /// Those that are too many for memory go to a file from now on. Errors 1 to 3.
    pub(super) fn settle(&mut self, exec: &Exec<'_>) -> SqlResult<()> {
        let growing = self.growing.get_or_insert_with(|| Box::new(Growing::new(exec)));
        if growing.is_over(&self.charge) { growing.write(&mut self.rows, &mut self.charge) } else { Ok(()) }
    }

    /// The same, and no more than so many.
    pub(super) fn growing_to(exec: &Exec<'_>, most: Option<usize>) -> Kept {
        Kept { most, ..Kept::growing(exec) }
    }

    /// A row, where others may be let in. Errors 1 to 3.
    pub(super) async fn add(&mut self, exec: &mut Exec<'_>, row: Vec<Value>) -> SqlResult<()> {
        self.charge.add_row(&row)?;
        self.rows.push(row);
        if let Some(growing) = self.growing.as_mut().filter(|growing| growing.is_over(&self.charge)) {
            growing.write(&mut self.rows, &mut self.charge)?;
            exec.interrupt.check()?;
            exec.breathe().await;
        }
        Ok(())
    }

    /// The rows, and what they hold in memory.
    pub(super) fn into_list(mut self, exec: &Exec<'_>) -> SqlResult<(List, Charge)> {
        let rows = std::mem::take(&mut self.rows);
        let list = match self.growing {
            Some(growing) => growing.finish(rows, &mut self.charge, exec)?,
            None => List::Memory(Arc::new(rows)),
        };
        Ok((list, self.charge))
    }
}

impl RowOut for Kept {
    fn row(&mut self, row: &[Value]) -> SqlResult<Visit> {
        self.charge.add_row(row)?;
        self.rows.push(row.to_vec());
        self.given += 1;
        Ok(if self.most.is_some_and(|most| self.given >= most) { Visit::Stop } else { Visit::Continue })
    }

    fn should_flush(&self) -> bool {
        self.growing.as_ref().is_some_and(|growing| growing.is_over(&self.charge))
    }

    fn poll_flush(&mut self, _: &mut Context<'_>) -> Poll<SqlResult<()>> {
        Poll::Ready(match &mut self.growing {
            Some(growing) => growing.write(&mut self.rows, &mut self.charge),
            None => Ok(()),
        })
    }
}

/// Count and offset of a LIMIT with its values.
pub fn limits(plan: &LimitPlan, context: &EvalContext<'_>) -> SqlResult<(u64, u64)> {
    let number = |expr: &Option<Expr>, otherwise: u64| match expr {
        None => Ok(otherwise),
        Some(expr) => match expr.eval(&NoRow, context)? {
            Value::Null => Ok(0),
            Value::Int(number) if number < 0 => Err(SqlError::wrong_arguments("LIMIT")),
            other => to_u64_bits(&other, context),
        },
    };
    Ok((number(&plan.count, u64::MAX)?, number(&plan.offset, 0)?))
}

/// A tuple as a row.
pub struct TupleRow<'f>(pub &'f [Value]);

impl Row for TupleRow<'_> {
    fn value(&self, position: usize) -> Value {
        self.0.get(position).cloned().unwrap_or_default()
    }

    fn value_in_place(&self, position: usize) -> Option<&Value> {
        self.0.get(position)
    }
}

/// The end of a SELECT block's pipeline.
pub struct Tail<'p, 'o> {
    /// The block's plan.
    pub plan: &'p SelectPlan,
    out: &'o mut dyn RowOut,
    grouping: Option<Grouping<'p>>,
    /// No more groups are wanted.
    is_done: bool,
    sorted: Blocks<Keyed>,
    /// Tuples that wait for their window functions, until these are worked out.
    windowed: Option<Kept>,
    /// Rows that DISTINCT has let through.
    seen: Option<Different>,
    /// Memory for the key of a row in `seen`.
    key: Vec<u8>,
    left: u64,
    skip: u64,
    /// Rows that came out, LIMIT aside.
    pub found: u64,
    items: Vec<Value>,
    charge: Charge,
    /// What `sorted` holds.
    held: Charge,
    /// See [`Tail::is_over`].
    held_max: u64,
    /// Sorted rows in a file, of those that were held back first.
    external: Option<Box<External>>,
}

/// Fewer bytes of rows are held back without a look at what the session allows: no buffer is smaller.
pub(super) const HELD_UNASKED_BYTES: u64 = 32 << 10;

/// A leaf hardly has more rows, so that a LIMIT of more is served by whole leaves.
const FEW_MAX: u64 = 1000;

impl<'p, 'o> Tail<'p, 'o> {
    /// For one run of a plan; `blank`: the tuple before the first row, for a block with aggregates and no
    /// GROUP BY.
    pub fn new(
        plan: &'p SelectPlan,
        out: &'o mut dyn RowOut,
        context: &EvalContext<'_>,
        blank: Option<Vec<Value>>,
    ) -> SqlResult<Tail<'p, 'o>> {
        let (left, skip) = limits(&plan.limit, context)?;
        let grouping = plan.group.as_ref().map(|group| Grouping::new(group, context, blank));
        // Groups that are made one after another come in order, too.
        let ordered = plan.in_order || plan.group.as_ref().is_some_and(|group| group.together);
        let seen = plan.distinct.then(|| Different::new(context, ordered && plan.order.is_empty()));
        let (sorted, key, items) = (Blocks::new(), Vec::new(), Vec::with_capacity(plan.items.len()));
        let (charge, held) = (context.charge(), context.charge());
        let windowed = (!plan.windows.is_empty()).then(|| Kept::new(context, None));
        let (held_max, external) = (HELD_UNASKED_BYTES, None);
        Ok(Tail {
            plan,
            out,
            grouping,
            is_done: false,
            sorted,
            windowed,
            seen,
            key,
            left,
            skip,
            found: 0,
            items,
            charge,
            held,
            held_max,
            external,
        })
    }

    /// How many rows DISTINCT has let through.
    pub fn different(&self) -> usize {
        self.seen.as_ref().map_or(0, |seen| usize::try_from(seen.passed()).unwrap_or(usize::MAX))
    }

    /// Nothing can come out any more.
    pub fn is_full(&self) -> bool {
        self.left == 0 && !self.plan.calc_found_rows
    }

    /// Rows are grouped first; what sub-queries of the select list need comes later.
    pub fn groups(&self) -> bool {
        self.grouping.is_some()
    }

    /// A joined row.
    pub fn push(&mut self, tuple: &[Value], context: &EvalContext<'_>) -> SqlResult<Visit> {
        match &mut self.grouping {
            Some(grouping) => grouping.add(tuple, context),
            None => self.project(tuple, context),
        }
    }

    /// So many rows at once into the only COUNT(*).
    pub fn push_counted(&mut self, tuple: &[Value], rows: u64, context: &EvalContext<'_>) -> SqlResult<()> {
        match &mut self.grouping {
            Some(grouping) if rows > 0 => grouping.add_counted(tuple, rows, context),
            _ => Ok(()),
        }
    }

    /// Groups are done before all rows have come.
    #[inline]
    pub(super) fn has_done(&self) -> bool {
        self.grouping.as_ref().is_some_and(Grouping::has_done)
    }

    /// Some of these, one tuple each.
    pub(super) async fn take_done(&mut self, exec: &mut Exec<'_>) -> SqlResult<Option<Rows>> {
        match &mut self.grouping {
            Some(grouping) => grouping.take_done(exec).await,
            None => Ok(None),
        }
    }

    /// Once no more rows come: some more groups, one tuple each; None when all have come, or no more are
    /// wanted.
    pub(super) async fn close_groups(&mut self, exec: &mut Exec<'_>) -> SqlResult<Option<Rows>> {
        match &mut self.grouping {
            Some(grouping) if !self.is_done => grouping.close(exec).await,
            _ => Ok(None),
        }
    }

    /// No more groups are wanted.
    pub(super) fn end_groups(&mut self) {
        self.is_done = true;
    }

    /// The groups, which may be too many for memory.
    pub(super) fn grouping(&mut self) -> Option<&mut Grouping<'p>> {
        self.grouping.as_mut()
    }

    /// The groups are none but the one of a block without GROUP BY that has no rows.
    pub fn is_blank(&self) -> bool {
        self.grouping.as_ref().is_some_and(Grouping::is_blank)
    }

    /// Computes the select list of a tuple and passes it on.
    pub fn project(&mut self, tuple: &[Value], context: &EvalContext<'_>) -> SqlResult<Visit> {
        if let Some(windowed) = &mut self.windowed {
            return windowed.row(tuple);
        }
        // A row that OFFSET leaves out is not worked out where it is known to be one.
        if self.skip > 0 && !self.sorts() && self.seen.is_none() {
            return self.deliver();
        }
        if self.seen.is_some() {
            context.warnings.note_collected();
        } else if self.sorts() {
            let before = self.external.as_ref().map_or(0, |external| external.rows() as usize);
            context.warnings.note_held(before + self.sorted.len());
        }
        let row = TupleRow(tuple);
        self.items.clear();
        let mut held = context.held();
        for item in &self.plan.items {
            let value = item.expr.eval(&row, context)?;
            held.add(&value)?;
            self.items.push(value);
        }
        if self.is_blank() {
            blank::silent_items(self.plan).into_iter().for_each(|nth| self.items[nth] = Value::Null);
        }
        if let Some(seen) = &mut self.seen {
            hash_key::clear(&mut self.key);
            for (value, item) in self.items.iter().zip(&self.plan.items) {
                hash_key::append_of(value, &item.kind.column, Collation::Binary, context, &mut self.key)?;
            }
            match seen.see(&self.key)? {
                Seen::First => {}
                Seen::Known => return Ok(Visit::Continue),
                Seen::Unknown => {
                    drop(held);
                    let keys = self.sort_keys(tuple, context)?;
                    let row = self.items.iter().cloned().chain(keys).collect();
                    context.warnings.note_held(0);
                    return match &mut self.seen {
                        Some(seen) => seen.put(&self.key, row).map(|()| Visit::Continue),
                        None => Ok(Visit::Continue),
                    };
                }
            }
        }
        if self.plan.order.is_empty() {
            context.warnings.note_held(0);
            return self.deliver();
        }
        drop(held);
        let keys = self.sort_keys(tuple, context)?;
        self.hold(keys)?;
        context.warnings.note_held(0);
        Ok(Visit::Continue)
    }

    /// What ORDER BY sorts a tuple by.
    fn sort_keys(&self, tuple: &[Value], context: &EvalContext<'_>) -> SqlResult<Vec<Value>> {
        let (row, mut held) = (TupleRow(tuple), context.held());
        let mut keys = Vec::with_capacity(self.plan.order.len());
        for key in &self.plan.order {
            let value = key.expr.eval(&row, context)?;
            held.add(&value)?;
            keys.push(value);
        }
        Ok(keys)
    }

    /// Holds the row back that was worked out.
    fn hold(&mut self, keys: Vec<Value>) -> SqlResult<()> {
        self.held.add(row_bytes(&keys) + row_bytes(&self.items))?;
        let next = Vec::with_capacity(self.plan.items.len());
        self.sorted.push((keys, std::mem::replace(&mut self.items, next)));
        Ok(())
    }

    /// What DISTINCT has seen, which may be too much for memory.
    pub(super) fn seen(&mut self) -> Option<&mut Different> {
        self.seen.as_mut()
    }

    /// DISTINCT has put rows away, and more are wanted.
    pub(super) fn has_more_different(&self) -> bool {
        !self.is_full() && self.seen.as_ref().is_some_and(Different::has_rest)
    }

    /// Passes a row on that DISTINCT had put away: its values, and the keys of ORDER BY behind them.
    pub(super) fn pass_different(&mut self, mut row: Vec<Value>) -> SqlResult<Visit> {
        let keys = row.split_off(self.plan.items.len().min(row.len()));
        self.items = row;
        if let Some(seen) = &mut self.seen {
            seen.note_passed();
        }
        if self.plan.order.is_empty() {
            return self.deliver();
        }
        self.hold(keys)?;
        Ok(Visit::Continue)
    }

    /// How many of the sorted rows matter.
    pub fn wanted(&self) -> u64 {
        if self.plan.calc_found_rows { u64::MAX } else { self.left.saturating_add(self.skip) }
    }

    /// How many tuples may be enough, if that is not for all of them to tell.
    pub fn few(&self) -> Option<usize> {
        let apart = self.plan.group.as_ref().is_none_or(|group| group.together);
        let comes = apart && self.plan.order.is_empty() && self.plan.windows.is_empty();
        (comes && self.wanted() <= FEW_MAX).then(|| usize::try_from(self.wanted()).unwrap_or(usize::MAX))
    }

    /// How many rows matter, if it is time to throw the others away: with a LIMIT about twice as many are
    /// kept.
    pub fn wants_trim(&self) -> Option<usize> {
        let wanted = self.wanted();
        let trims = wanted < 100_000 && self.sorted.len() as u64 > wanted * 2 + 1000;
        trims.then_some(wanted as usize)
    }

    /// Holds a row back again that was sorted.
    pub fn put_held(&mut self, row: Keyed) {
        self.sorted.push(row);
    }

    /// Drops a row that was held back.
    pub fn forget_held(&mut self, (keys, items): Keyed) {
        self.held.subtract(row_bytes(&keys) + row_bytes(&items));
    }

    /// So much is held back that the session has to be asked how much may be.
    #[inline]
    pub fn is_over(&self) -> bool {
        self.holds_much()
            || self.grouping.as_ref().is_some_and(Grouping::is_over)
            || self.seen.as_ref().is_some_and(Different::is_over)
            || self.windowed.as_ref().is_some_and(Kept::is_over)
    }

    /// Of rows that are sorted.
    fn holds_much(&self) -> bool {
        self.held.bytes() > self.held_max
    }

    /// So many bytes may be held back; whether there are more.
    pub fn may_hold(&mut self, bytes: u64) -> bool {
        self.held_max = bytes;
        self.holds_much()
    }

    /// Where rows went that were held back; None: all are still in memory.
    pub(super) fn external(&mut self) -> &mut Option<Box<External>> {
        &mut self.external
    }

    /// The rows that were taken ([`Tail::take_held`]) are in memory no more.
    pub fn forget_all_held(&mut self) {
        self.held.clear();
    }

    fn deliver(&mut self) -> SqlResult<Visit> {
        self.found += 1;
        if self.skip > 0 {
            self.skip -= 1;
            return Ok(Visit::Continue);
        }
        if self.left == 0 {
            return Ok(if self.plan.calc_found_rows { Visit::Continue } else { Visit::Stop });
        }
        self.left -= 1;
        let visit = self.out.row(&self.items)?;
        Ok(if self.is_full() { Visit::Stop } else { visit })
    }

    /// Rows are held back until all have come.
    pub fn sorts(&self) -> bool {
        !self.plan.order.is_empty()
    }

    /// Tuples that wait for their window functions; from now on they are passed on.
    pub(super) fn take_windowed(&mut self, exec: &Exec<'_>) -> SqlResult<(List, Charge)> {
        self.windowed.take().map_or_else(|| Ok(Default::default()), |windowed| windowed.into_list(exec))
    }

    /// The same while they come.
    pub(super) fn windowed(&mut self) -> Option<&mut Kept> {
        self.windowed.as_mut()
    }

    /// What was held back, to be sorted.
    pub fn take_held(&mut self) -> Blocks<Keyed> {
        std::mem::take(&mut self.sorted)
    }

    /// Passes on the next row in order.
    pub fn deliver_sorted(&mut self, items: Vec<Value>) -> SqlResult<Visit> {
        self.items = items;
        self.deliver()
    }

    /// The client may be behind.
    pub fn should_flush(&self) -> bool {
        self.out.should_flush()
    }

    /// Waits for the client if it is behind.
    pub async fn flush(&mut self) -> SqlResult<()> {
        flush(self.out).await
    }
}

impl Drop for Tail<'_, '_> {
    fn drop(&mut self) {
        let mut charge = std::mem::take(&mut self.charge);
        charge.absorb(std::mem::take(&mut self.held));
        let sorted = std::mem::take(&mut self.sorted);
        let seen = self.seen.take().map(|seen| {
            let (keys, more, held) = seen.into_remains();
            charge.absorb(held);
            (keys, more)
        });
        let windowed = self.windowed.take().map(|kept| {
            charge.absorb(kept.charge);
            kept.rows
        });
        let mut count = sorted.len() + seen.as_ref().map_or(0, |(_, keys)| *keys);
        count += windowed.as_ref().map_or(0, |rows| rows.len());
        let groups = self.grouping.take().map(|grouping| {
            let (groups, more, held) = grouping.into_remains();
            count += more;
            charge.absorb(held);
            groups
        });
        discard((sorted, windowed, seen, groups), count, charge);
    }
}

/// Waits for the client if it is behind.
pub async fn flush(out: &mut dyn RowOut) -> SqlResult<()> {
    if out.should_flush() { std::future::poll_fn(|context| out.poll_flush(context)).await } else { Ok(()) }
}

/// A row with the keys it is sorted by.
pub type Keyed = (Vec<Value>, Vec<Value>);

/// Sorts (keys, row) pairs; stable. For a few hundred at most: it does not yield.
pub fn sort_rows(rows: &mut [Keyed], directions: &[Direction]) {
    rows.sort_by(|a, b| order::compare_keys(&a.0, &b.0, directions));
}
