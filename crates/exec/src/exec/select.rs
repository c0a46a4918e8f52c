//! Running queries.
//!
//! A SELECT block reads its first table batch by batch; each row becomes a frame, runs through the other
//! steps (a nested loop, with index look-ups, or with a table kept in memory and hashed), and ends in the
//! [`Tail`]. When nothing on the way has to wait, rows go into the tail straight from under the page latch,
//! without a copy.

use std::future::Future;
use std::ops::Range;
use std::pin::Pin;
use std::sync::Arc;

use turnstile_engine::Visit;
use turnstile_sys::aside;

use super::key_index::{KEY_OVERHEAD, KeyIndex};
use super::scan::{Fields, TableScan};
use super::tail::{FrameRow, Kept, RowOut, Tail, limits};
use super::{Exec, blank, hash_key, json_table};
use turnstile_expr::expr::{EvalContext, NoRow};
use turnstile_plan::plan::query::{
    CommonRows, Filter, GroupPlan, LimitPlan, OrderKey, QueryPlan, SelectPlan, Source, Step, TableSource,
    ValuesPlan,
};
use turnstile_values::collation::Collation;
use turnstile_values::error::{SqlError, SqlResult};
use turnstile_values::memory::{Blocks, Charge, Many, row_bytes};
use turnstile_values::types::ColumnType;
use turnstile_values::value::Rows;
use turnstile_values::value::Value;

/// A boxed future, for recursion.
pub type Boxed<'a, T> = Pin<Box<dyn Future<Output = SqlResult<T>> + Send + 'a>>;

/// A source kept in memory.
pub struct Stored {
    rows: Arc<Rows>,
    index: Option<HashIndex>,
    charge: Charge,
    /// It is a recursive query's last round: there will be another.
    pub(super) passes: bool,
}

/// Rows of a source by their keys.
#[derive(Default)]
struct HashIndex {
    keys: KeyIndex,
    /// By the number of the key.
    rows: Many<Vec<u32>>,
}

/// Rows kept in memory are gone through in pieces of so many; between two the client gets what it can take.
const ROWS_AT_ONCE: usize = 1024;

/// Where joined frames go.
enum End<'t, 'p, 'o> {
    Tail(&'t mut Tail<'p, 'o>),
    Keep(&'t mut Kept),
}

/// Whether the conditions that need no sub-query hold.
fn passes(filters: &[Filter], frame: &[Value], context: &EvalContext<'_>) -> SqlResult<bool> {
    for filter in filters.iter().filter(|one| one.subqueries.is_empty()) {
        if filter.expr.eval_truth(&FrameRow(frame), context)? != Some(true) {
            return Ok(false);
        }
    }
    Ok(true)
}

impl Exec<'_> {
    /// Runs a query. `outer` is the frame around it, for a sub-query.
    pub fn query<'a>(
        &'a mut self,
        plan: &'a QueryPlan,
        outer: &'a [Value],
        out: &'a mut dyn RowOut,
    ) -> Boxed<'a, u64> {
        match plan {
            QueryPlan::Select(plan) => Box::pin(self.select(plan, outer, out)),
            QueryPlan::Set(plan) => Box::pin(self.set_operation(plan, outer, out)),
            QueryPlan::Values(plan) => Box::pin(self.values(plan, out)),
        }
    }

    /// Everything the statement reads is of one moment. One look at one row needs no view for that.
    pub fn pin_snapshot(&mut self, plan: &QueryPlan) {
        let single = |plan: &SelectPlan| {
            let [Step { source: Source::Table(source), .. }] = plan.steps.as_slice() else {
                return plan.steps.is_empty() && plan.subqueries.is_empty();
            };
            source.access.unique && source.access.ranges.len() == 1 && plan.subqueries.is_empty()
        };
        if !matches!(plan, QueryPlan::Select(plan) if single(plan)) {
            self.txn.pin_snapshot();
        }
    }

    /// Runs a SELECT block; returns the rows found, LIMIT aside when the plan asks for that.
    async fn select(&mut self, plan: &SelectPlan, outer: &[Value], out: &mut dyn RowOut) -> SqlResult<u64> {
        if let Some(found) = self.virtual_scan(plan, out).await? {
            return Ok(found);
        }
        let mut frame = vec![Value::Null; plan.width];
        for (there, here) in &plan.outer {
            frame[*here] = outer.get(*there).cloned().unwrap_or_default();
        }
        for nth in 0..plan.subqueries.len() {
            if !plan.subqueries[nth].correlated {
                self.try_subquery(&plan.subqueries[nth], &mut frame).await?;
            }
        }
        self.refuse_failed_conditions(plan)?;
        let context = self.eval;
        let sums_nothing = |group: &&GroupPlan| group.implicit || !group.rollup.is_empty();
        let blank = plan.group.as_ref().filter(sums_nothing).map(|_| frame.clone());
        let mut tail = Tail::new(plan, out, context, blank)?;
        if tail.is_full() {
            return Ok(0);
        }
        if self.holds(plan, &plan.preconditions, &mut frame).await? {
            match plan.steps.first() {
                None => {
                    self.emit(plan, &mut frame, &mut End::Tail(&mut tail)).await?;
                }
                Some(first) if self.can_stream(plan, first) => {
                    self.stream(plan, first, &mut frame, &mut tail).await?
                }
                Some(_) => {
                    self.step(plan, &plan.steps, 0, &mut frame, &mut End::Tail(&mut tail)).await?;
                }
            }
        }
        if tail.groups() {
            while let Some(frames) = tail.close_groups(context)? {
                self.pace().await?;
                if !self.deliver_groups(plan, frames, &mut tail).await? {
                    break;
                }
            }
        }
        self.finish(&mut tail).await?;
        Ok(tail.found)
    }

    /// Passes some groups on; false when no more are wanted.
    async fn deliver_groups(
        &mut self,
        plan: &SelectPlan,
        frames: Rows,
        tail: &mut Tail<'_, '_>,
    ) -> SqlResult<bool> {
        for mut frame in frames {
            self.pace().await?;
            match tail.is_blank() {
                true => self.run_subqueries(plan, &blank::still_read(plan), &mut frame).await?,
                false => self.run_subqueries(plan, &plan.item_subqueries, &mut frame).await?,
            }
            if self.holds(plan, &plan.having, &mut frame).await?
                && self.project(&mut frame, tail)? == Visit::Stop
            {
                return Ok(false);
            }
        }
        self.trim(tail).await?;
        Ok(true)
    }

    /// With ORDER BY and LIMIT only the first rows matter.
    async fn trim(&mut self, tail: &mut Tail<'_, '_>) -> SqlResult<()> {
        if let Some(wanted) = tail.wants_trim() {
            let held = tail.take_held();
            for (nth, row) in self.sorted(held, &tail.plan.order).await?.enumerate() {
                self.pace().await?;
                if nth < wanted { tail.put_held(row) } else { tail.forget_held(row) }
            }
        }
        Ok(())
    }

    /// Delivers what was held back for sorting.
    async fn finish(&mut self, tail: &mut Tail<'_, '_>) -> SqlResult<()> {
        if tail.sorts() {
            let (held, wanted) = (tail.take_held(), tail.wanted());
            self.session.entry.counts.sorted(held.len(), wanted);
            for (_, items) in self.sorted(held, &tail.plan.order).await? {
                self.pace().await?;
                if tail.deliver_sorted(items)? == Visit::Stop {
                    break;
                }
                self.flush(tail).await?;
            }
        }
        self.flush(tail).await
    }

    /// Runs a block's steps and keeps whole frames.
    pub async fn select_frames(&mut self, plan: &SelectPlan, kept: &mut Kept) -> SqlResult<()> {
        let mut frame = vec![Value::Null; plan.width];
        for subquery in plan.subqueries.iter().filter(|one| !one.correlated) {
            self.subquery(subquery, &mut frame).await?;
        }
        self.step(plan, &plan.steps, 0, &mut frame, &mut End::Keep(kept)).await?;
        Ok(())
    }

    /// Nothing on the way of a row has to wait.
    fn can_stream(&self, plan: &SelectPlan, first: &Step) -> bool {
        let plain = |filters: &[Filter]| filters.iter().all(|one| one.subqueries.is_empty());
        plan.steps.len() == 1
            && !self.has_failures()
            && matches!(&first.source, Source::Table(source) if source.locking.is_none())
            && plain(&first.matching)
            && plain(&first.filters)
            && (plan.item_subqueries.is_empty() || plan.group.is_some())
            && plan.group.as_ref().is_none_or(|group| group.subqueries.is_empty())
            && (plan.having.is_empty() || plan.group.is_some())
    }

    async fn stream(
        &mut self,
        plan: &SelectPlan,
        first: &Step,
        frame: &mut [Value],
        tail: &mut Tail<'_, '_>,
    ) -> SqlResult<()> {
        let Source::Table(source) = &first.source else { return Ok(()) };
        let context = self.eval;
        let mut scan = TableScan::open(source, &FrameRow(frame), context)?;
        let columns = first.base..first.base + first.columns;
        let counts_only = counts_only(plan, first);
        let session = self.session;
        loop {
            let mut counted = 0u64;
            // Work that takes long is not done under the page's latch: such rows, and once there was much the
            // rest of the batch, wait for its end.
            let mut aside = Vec::new();
            let mut visit = |fields: Fields<'_>| {
                if counts_only {
                    counted += 1;
                    return Ok(Visit::Continue);
                }
                fields.fill(&source.needed, &mut frame[columns.clone()]);
                if !plan.light || session.has_worked() {
                    aside.push(frame[columns.clone()].to_vec());
                    return Ok(Visit::Continue);
                }
                if passes(&first.matching, frame, context)? && passes(&first.filters, frame, context)? {
                    return tail.push(frame, context);
                }
                Ok(Visit::Continue)
            };
            let more = scan.batch(self.txn, self.interrupt, &mut |_| true, &mut visit).await?;
            if counts_only {
                tail.push_counted(frame, counted, context)?;
            }
            for row in aside {
                self.pace().await?;
                frame[columns.clone()].clone_from_slice(&row);
                if passes(&first.matching, frame, context)?
                    && passes(&first.filters, frame, context)?
                    && tail.push(frame, context)? == Visit::Stop
                {
                    return Ok(());
                }
            }
            if !more {
                return Ok(());
            }
            self.flush(tail).await?;
            self.trim(tail).await?;
            self.breathe().await;
        }
    }

    /// Runs step number `nth` and those behind it for one frame.
    fn step<'a>(
        &'a mut self,
        plan: &'a SelectPlan,
        steps: &'a [Step],
        nth: usize,
        frame: &'a mut Vec<Value>,
        end: &'a mut End<'_, '_, '_>,
    ) -> Boxed<'a, Visit> {
        Box::pin(async move {
            let Some(step) = steps.get(nth) else { return self.emit(plan, frame, end).await };
            let columns = step.base..step.base + step.columns;
            let mut matched = false;
            let mut source = self.open(plan, step, frame, nth == 0).await?;
            loop {
                let (rows, more) = self.next_rows(step, &mut source, frame).await?;
                for at in 0..rows.len() {
                    self.pace().await?;
                    frame[columns.clone()].clone_from_slice(rows.row(at));
                    if !self.holds(plan, &step.matching, frame).await? {
                        continue;
                    }
                    matched = true;
                    if !self.holds(plan, &step.filters, frame).await? {
                        continue;
                    }
                    if self.step(plan, steps, nth + 1, frame, end).await? == Visit::Stop {
                        return Ok(Visit::Stop);
                    }
                }
                if !more {
                    break;
                }
                if let End::Tail(tail) = end {
                    self.flush(tail).await?;
                    self.trim(tail).await?;
                }
            }
            if step.left_join && !matched {
                frame[columns.clone()].fill(Value::Null);
                if self.holds(plan, &step.filters, frame).await? {
                    return self.step(plan, steps, nth + 1, frame, end).await;
                }
            }
            Ok(Visit::Continue)
        })
    }

    async fn emit(
        &mut self,
        plan: &SelectPlan,
        frame: &mut [Value],
        end: &mut End<'_, '_, '_>,
    ) -> SqlResult<Visit> {
        match end {
            End::Keep(kept) => kept.row(frame),
            End::Tail(tail) if tail.groups() => {
                if let Some(group) = &plan.group {
                    self.run_subqueries(plan, &group.subqueries, frame).await?;
                }
                self.refuse_failed_groups(plan, frame)?;
                tail.push(frame, self.eval)
            }
            End::Tail(tail) => {
                self.flush(tail).await?;
                self.run_subqueries(plan, &plan.item_subqueries, frame).await?;
                if !self.holds(plan, &plan.having, frame).await? {
                    return Ok(Visit::Continue);
                }
                self.project(frame, tail)
            }
        }
    }

    /// Waits for a client that is behind, outside the engine.
    async fn flush(&mut self, tail: &mut Tail<'_, '_>) -> SqlResult<()> {
        if tail.should_flush() { self.txn.outside(tail.flush()).await } else { Ok(()) }
    }

    fn project(&mut self, frame: &mut [Value], tail: &mut Tail<'_, '_>) -> SqlResult<Visit> {
        self.refuse_failed_items(tail.plan, frame)?;
        tail.project(frame, self.eval)
    }

    /// Whether conditions hold, those with sub-queries included.
    async fn holds(&mut self, plan: &SelectPlan, filters: &[Filter], frame: &mut [Value]) -> SqlResult<bool> {
        if !passes(filters, frame, self.eval)? {
            return Ok(false);
        }
        for filter in filters.iter().filter(|one| !one.subqueries.is_empty()) {
            self.run_subqueries(plan, &filter.subqueries, frame).await?;
            self.refuse_failed(&plan.subqueries, std::iter::once(&filter.expr), frame)?;
            if filter.expr.eval_truth(&FrameRow(frame), self.eval)? != Some(true) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    async fn run_subqueries(
        &mut self,
        plan: &SelectPlan,
        which: &[usize],
        frame: &mut [Value],
    ) -> SqlResult<()> {
        for nth in which {
            let operands = plan.subqueries[*nth].kind.operands();
            self.refuse_failed(&plan.subqueries, operands.into_iter(), frame)?;
            self.try_subquery(&plan.subqueries[*nth], frame).await?;
        }
        Ok(())
    }

    /// Error 1242 if a condition reads a sub-query that ran before the first row and gave several.
    fn refuse_failed_conditions(&self, plan: &SelectPlan) -> SqlResult<()> {
        if !self.has_failures() {
            return Ok(());
        }
        let tested = turnstile_plan::plan::tested_columns(plan);
        for subquery in plan.subqueries.iter().filter(|one| !one.correlated) {
            if let Some(error) = self.failure(subquery)
                && tested.range(subquery.places()).next().is_some()
            {
                return Err(error.clone());
            }
        }
        Ok(())
    }

    /// Error 1242 if the select list or the order asks for a sub-query that gave several rows.
    fn refuse_failed_items(&self, plan: &SelectPlan, frame: &[Value]) -> SqlResult<()> {
        let exprs = plan.items.iter().map(|item| &item.expr).chain(plan.order.iter().map(|key| &key.expr));
        self.refuse_failed(&plan.subqueries, exprs, frame)
    }

    /// The same for what rows are grouped by and aggregates are fed.
    fn refuse_failed_groups(&self, plan: &SelectPlan, frame: &[Value]) -> SqlResult<()> {
        let Some(group) = &plan.group else { return Ok(()) };
        let fed = group.aggregates.iter().flat_map(|one| {
            one.arguments.iter().map(|typed| &typed.expr).chain(one.order.iter().map(|key| &key.expr))
        });
        let exprs = group.keys.iter().map(|(key, _)| key).chain(fed);
        self.refuse_failed(&plan.subqueries, exprs, frame)
    }

    /// Opens a step's source for one frame.
    async fn open<'p>(
        &mut self,
        plan: &'p SelectPlan,
        step: &'p Step,
        frame: &mut Vec<Value>,
        first: bool,
    ) -> SqlResult<Opened<'p>> {
        let keep = !first && !step.hash.is_empty();
        match &step.source {
            Source::Table(source)
                if keep || !first && source.access.is_full() && source.locking.is_none() =>
            {
                Ok(Opened::Stored(self.stored(plan, step).await?, Place::default()))
            }
            Source::Table(source) => {
                Ok(Opened::Scan(Box::new(TableScan::open(source, &FrameRow(frame), self.eval)?), source))
            }
            Source::Derived(_) | Source::Common(_) | Source::Virtual(_) => {
                Ok(Opened::Stored(self.stored(plan, step).await?, Place::default()))
            }
            Source::Lateral(query) => {
                let mut kept = Kept::new(self.eval, None);
                self.query(query, frame, &mut kept).await?;
                Ok(Opened::Listed(kept))
            }
            Source::Expanded(query, table) => {
                let mut kept = Kept::new(self.eval, None);
                self.query(query, frame, &mut kept).await?;
                let document = kept.rows.first().and_then(|row| row.first()).unwrap_or(&Value::Null);
                let rows = json_table::expand(table, step.columns, document, self.eval)?;
                Ok(Opened::Listed(rows))
            }
            Source::Group(steps) => {
                let mut frames = Kept::new(self.eval, None);
                self.step(plan, steps, 0, frame, &mut End::Keep(&mut frames)).await?;
                let columns = step.base..step.base + step.columns;
                let rows = std::mem::take(&mut frames.rows);
                for frame in rows {
                    self.pace().await?;
                    frames.rows.push(frame[columns.clone()].to_vec());
                }
                Ok(Opened::Listed(frames))
            }
        }
    }

    /// The next rows of a source, and whether there are more.
    async fn next_rows(
        &mut self,
        step: &Step,
        rows: &mut Opened<'_>,
        frame: &mut [Value],
    ) -> SqlResult<(Piece, bool)> {
        match rows {
            Opened::Listed(kept) => Ok((Piece::Own(std::mem::take(&mut kept.rows)), false)),
            Opened::Stored(stored, place) => stored.matching(step, frame, self.eval, place),
            Opened::Scan(scan, source) => {
                let (context, session) = (self.eval, self.session);
                let columns = step.base..step.base + step.columns;
                let mut found = Rows::new();
                // The source's part of the frame is scratch space until the rows found are gone through.
                let scratch = parking_lot::Mutex::new(frame);
                let mut accept = |view: &turnstile_catalog::row_codec::RowView<'_>| {
                    let mut frame = scratch.lock();
                    let part = &mut frame[columns.clone()];
                    source.needed.iter().for_each(|column| part[*column] = view.get(*column));
                    // An error comes up again when the row is visited.
                    passes(&step.matching, &frame, context).unwrap_or(true)
                };
                let mut visit = |fields: Fields<'_>| {
                    let mut frame = scratch.lock();
                    fields.deliver(source, &mut frame[columns.clone()]);
                    // The conditions are tested again with each row: if they are heavy, or after much work,
                    // that is time enough.
                    if !step.light || session.has_worked() || passes(&step.matching, &frame, context)? {
                        found.push(frame[columns.clone()].to_vec());
                    }
                    Ok(Visit::Continue)
                };
                let more = scan.batch(self.txn, self.interrupt, &mut accept, &mut visit).await?;
                Ok((Piece::Own(found), more))
            }
        }
    }

    /// A whole source in memory, read once per statement.
    async fn stored(&mut self, plan: &SelectPlan, step: &Step) -> SqlResult<Arc<Stored>> {
        let name = std::ptr::from_ref(step) as usize;
        if let Some(stored) = self.keeping.as_ref().and_then(|keeping| keeping.stored_sources.get(&name)) {
            return Ok(stored.clone());
        }
        let mut charge = self.eval.charge();
        let rows = match &step.source {
            Source::Derived(query) => {
                let mut kept = Kept::new(self.eval, None);
                self.query(query, &[], &mut kept).await?;
                charge = kept.charge;
                Arc::new(kept.rows)
            }
            Source::Common(rows) => self.common_rows(rows).await?,
            Source::Virtual(table) => {
                aside::step().await;
                Arc::new(self.virtual_rows(*table, &mut charge)?)
            }
            Source::Table(source) => Arc::new(self.whole_table(source, step, plan.width, &mut charge).await?),
            Source::Group(_) | Source::Lateral(_) | Source::Expanded(..) => Arc::default(),
        };
        let passes = matches!(&step.source, Source::Common(CommonRows::Previous(_)));
        let mut stored = Stored { rows, index: None, charge, passes };
        if !step.hash.is_empty() {
            self.build_index(&mut stored, step).await?;
        }
        let stored = Arc::new(stored);
        self.keeping().stored_sources.insert(name, stored.clone());
        Ok(stored)
    }

    async fn build_index(&mut self, stored: &mut Stored, step: &Step) -> SqlResult<()> {
        let mut index = HashIndex::default();
        let mut key = Vec::new();
        for (nth, row) in stored.rows.iter().enumerate() {
            self.pace().await?;
            key.clear();
            let values = step.hash.iter().map(|(_, column, collation)| (&row[*column], *collation));
            if append_all(values, &mut key) {
                stored.charge.add(size_of::<u32>())?;
                match index.keys.get_or_insert(&key) {
                    Some(at) => index.rows[at].push(nth as u32),
                    None => {
                        stored.charge.add(key.len() + KEY_OVERHEAD + size_of::<Vec<u32>>())?;
                        index.rows.push(vec![nth as u32]);
                    }
                }
            }
        }
        stored.index = Some(index);
        Ok(())
    }

    async fn whole_table(
        &mut self,
        source: &TableSource,
        step: &Step,
        width: usize,
        charge: &mut Charge,
    ) -> SqlResult<Rows> {
        let (context, session) = (self.eval, self.session);
        let mut frame = vec![Value::Null; width];
        let mut scan = TableScan::open(source, &FrameRow(&frame), context)?;
        let columns = step.base..step.base + step.columns;
        // What speaks of this table alone is tested while it is read.
        let own: Vec<&Filter> = step
            .matching
            .iter()
            .filter(|one| {
                one.subqueries.is_empty() && one.expr.columns().iter().all(|at| columns.contains(at))
            })
            .collect();
        let mut rows = Rows::new();
        loop {
            let known = rows.len();
            let mut visit = |fields: Fields<'_>| {
                fields.deliver(source, &mut frame[columns.clone()]);
                // They are tested again with each row: after much work that is time enough.
                for filter in own.iter().filter(|_| step.light && !session.has_worked()) {
                    if filter.expr.eval_truth(&FrameRow(&frame), context)? != Some(true) {
                        return Ok(Visit::Continue);
                    }
                }
                charge.add_row(&frame[columns.clone()])?;
                rows.push(frame[columns.clone()].to_vec());
                Ok(Visit::Continue)
            };
            let more = scan.batch(self.txn, self.interrupt, &mut |_| true, &mut visit).await?;
            if !step.light {
                self.keep_passing(&mut rows, known, &own, (&mut frame, columns.clone()), charge).await?;
            }
            if !more {
                return Ok(rows);
            }
            self.breathe().await;
        }
    }

    /// Drops the rows from `known` on that do not pass the filters.
    async fn keep_passing(
        &mut self,
        rows: &mut Rows,
        known: usize,
        filters: &[&Filter],
        (frame, columns): (&mut [Value], Range<usize>),
        charge: &mut Charge,
    ) -> SqlResult<()> {
        for row in rows.split_off(known) {
            self.pace().await?;
            frame[columns.clone()].clone_from_slice(&row);
            let mut passes = true;
            for filter in filters {
                passes = passes && filter.expr.eval_truth(&FrameRow(frame), self.eval)? == Some(true);
            }
            if passes {
                rows.push(row);
            } else {
                charge.subtract(row_bytes(&row));
            }
        }
        Ok(())
    }

    async fn values(&mut self, plan: &ValuesPlan, out: &mut dyn RowOut) -> SqlResult<u64> {
        let context = self.eval;
        let mut charge = context.charge();
        let mut rows = Rows::new();
        for exprs in &plan.rows {
            self.pace().await?;
            let row = exprs.iter().zip(&plan.kinds).map(|(expr, kind)| {
                let value = expr.eval(&NoRow, context)?;
                // Exact numbers are shown with their own digits.
                let exact = matches!(value, Value::Decimal(_) | Value::Int(_) | Value::UInt(_));
                let shown = exact && matches!(kind, ColumnType::Decimal { .. });
                if shown { Ok(value) } else { super::union::converted(value, kind, context) }
            });
            let row = row.collect::<SqlResult<Vec<Value>>>()?;
            charge.add_row(&row)?;
            rows.push(row);
        }
        self.deliver(rows, &plan.order, &plan.limit, out).await
    }

    pub(super) async fn deliver(
        &mut self,
        rows: Rows,
        order: &[OrderKey],
        limit: &LimitPlan,
        out: &mut dyn RowOut,
    ) -> SqlResult<u64> {
        let context = self.eval;
        let (count, offset) = limits(limit, context)?;
        let mut charge = context.charge();
        charge.add(rows.len().saturating_mul(size_of::<super::tail::Keyed>()))?;
        let mut keyed = Blocks::new();
        for row in rows {
            self.pace().await?;
            let keys = order
                .iter()
                .map(|key| key.expr.eval(&FrameRow(&row), context))
                .collect::<SqlResult<Vec<_>>>()?;
            charge.add(row_bytes(&keys))?;
            keyed.push((keys, row));
        }
        if !order.is_empty() {
            self.session.entry.counts.sorted(keyed.len(), count.saturating_add(offset));
        }
        let keyed = self.sorted(keyed, order).await?;
        let found = keyed.len() as u64;
        for (nth, (_, row)) in keyed.enumerate() {
            self.pace().await?;
            let Some(nth) = (nth as u64).checked_sub(offset) else { continue };
            if nth >= count || out.row(&row)? == Visit::Stop {
                break;
            }
            if nth % 256 == 255 {
                self.txn.outside(super::tail::flush(out)).await?;
            }
        }
        Ok(found)
    }
}

/// `SELECT COUNT(*) FROM t`: rows need not even be looked at.
fn counts_only(plan: &SelectPlan, first: &Step) -> bool {
    let counts = |group: &GroupPlan| {
        group.keys.is_empty()
            && group.aggregates.len() == 1
            && group.aggregates[0].kind == turnstile_plan::plan::query::AggregateKind::CountRows
    };
    plan.group.as_ref().is_some_and(counts) && first.matching.is_empty() && first.filters.is_empty()
}

/// A source while a frame runs through it.
enum Opened<'p> {
    Scan(Box<TableScan<'p>>, &'p TableSource),
    Stored(Arc<Stored>, Place),
    Listed(Kept),
}

/// How far a frame is in the rows kept in memory.
#[derive(Default)]
struct Place {
    /// The number of the frame's key, once it is looked up; no row has the key if there is none.
    key: Option<Option<usize>>,
    next: usize,
}

/// Some rows of a source.
enum Piece {
    Own(Rows),
    Stored(Arc<Stored>, Range<usize>),
    /// Those with the key of this number.
    Keyed(Arc<Stored>, usize, Range<usize>),
}

impl Piece {
    fn len(&self) -> usize {
        match self {
            Piece::Own(rows) => rows.len(),
            Piece::Stored(_, range) | Piece::Keyed(_, _, range) => range.len(),
        }
    }

    fn row(&self, at: usize) -> &[Value] {
        match self {
            Piece::Own(rows) => &rows[at],
            Piece::Stored(stored, range) => &stored.rows[range.start + at],
            Piece::Keyed(stored, key, range) => &stored.rows[stored.rows_of(*key)[range.start + at] as usize],
        }
    }
}

impl Stored {
    /// The rows with a key, by its number.
    fn rows_of(&self, key: usize) -> &[u32] {
        self.index.as_ref().and_then(|index| index.rows.get(key)).map_or(&[], Vec::as_slice)
    }

    /// The next rows for a frame, and whether there are more.
    fn matching(
        self: &Arc<Stored>,
        step: &Step,
        frame: &[Value],
        context: &EvalContext<'_>,
        place: &mut Place,
    ) -> SqlResult<(Piece, bool)> {
        if let (Some(index), None) = (&self.index, place.key) {
            let mut values = Vec::new();
            for (expr, _, collation) in &step.hash {
                values.push((expr.eval(&FrameRow(frame), context)?, *collation));
            }
            let mut key = Vec::new();
            let known = append_all(values.iter().map(|(value, collation)| (value, *collation)), &mut key);
            place.key = Some(if known { index.keys.get(&key) } else { None });
        }
        let end = match place.key {
            None => self.rows.len(),
            Some(key) => key.map_or(0, |key| self.rows_of(key).len()),
        };
        let range = place.next..(place.next + ROWS_AT_ONCE).min(end);
        let more = range.end < end;
        place.next = range.end;
        let piece = match place.key.flatten() {
            Some(key) => Piece::Keyed(self.clone(), key, range),
            None => Piece::Stored(self.clone(), range),
        };
        Ok((piece, more))
    }
}

/// False if a value is NULL, which equals nothing.
fn append_all<'v>(values: impl Iterator<Item = (&'v Value, Collation)>, key: &mut Vec<u8>) -> bool {
    for (value, collation) in values {
        if value.is_null() {
            return false;
        }
        hash_key::append(value, collation, key);
    }
    true
}

/// A result that must have one row at most.
pub fn only_row(rows: &[Vec<Value>]) -> SqlResult<Option<&Vec<Value>>> {
    if rows.len() > 1 { Err(SqlError::subquery_returns_many_rows()) } else { Ok(rows.first()) }
}
