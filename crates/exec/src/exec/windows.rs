//! Window functions: rows are kept until all have come; then they are sorted as each window asks, and each
//! function gives every row its value, partition by partition. Rows that are too many for memory go to files;
//! a partition is in memory as a whole.
//!
//! What an aggregate gives is counted on from row to row where one end of its frame stays (rows come in
//! only, from the front or from the back), or where what leaves can be taken back exactly; else anew for each
//! frame.

mod frame;

use std::cmp::Ordering;
use std::ops::Range;

use turnstile_engine::Visit;
use turnstile_expr::expr::{EvalContext, Expr, NoRow};
use turnstile_plan::plan::query::{Aggregate, SelectPlan};
use turnstile_plan::plan::windows::{Bound, WindowFunction, WindowKind, WindowPlan};
use turnstile_values::error::{SqlError, SqlResult};
use turnstile_values::memory::{Blocks, Charge, Many, row_bytes};
use turnstile_values::value::{Value, to_i64};

use super::Exec;
use super::aggregate::Accumulator;
use super::join::flush;
use super::measure::Part;
use super::order::{self, Direction};
use super::select::trim;
use super::sort;
use super::sort::external::{External, Merge};
use super::spill::limits::kept_bytes_max;
use super::spill::list::List;
use super::tail::{Kept, Keyed, Tail, TupleRow};
use frame::Frame;

/// Works out the window functions of all rows and passes these on.
pub(super) async fn run(exec: &mut Exec<'_>, plan: &SelectPlan, tail: &mut Tail<'_, '_>) -> SqlResult<()> {
    let mut rows = tail.take_windowed(exec)?;
    let mut seen = 0;
    for (nth, window) in plan.windows.iter().enumerate() {
        let mut sorted = sort_for(exec, window, rows).await?;
        let mut next = Kept::growing(exec);
        let is_last = nth + 1 == plan.windows.len();
        while let Some(tuples) = next_partition(exec, window, &mut sorted).await? {
            seen += if is_last { tuples.len() } else { 0 };
            for (_, tuple) in tuples {
                exec.pace().await?;
                if !is_last {
                    next.add(exec, tuple).await?;
                } else if pass(exec, tail, &tuple).await? == Visit::Stop {
                    exec.note_rows(plan, Part::Windows, seen);
                    return Ok(());
                }
            }
        }
        drop(sorted);
        rows = next.into_list(exec)?;
    }
    exec.note_rows(plan, Part::Windows, seen);
    Ok(())
}

/// Passes a row on whose functions have their values.
async fn pass(exec: &mut Exec<'_>, tail: &mut Tail<'_, '_>, tuple: &[Value]) -> SqlResult<Visit> {
    if tail.project(tuple, exec.eval)? == Visit::Stop {
        return Ok(Visit::Stop);
    }
    flush(exec, tail).await?;
    trim(exec, tail).await?;
    Ok(Visit::Continue)
}

/// Rows in the order of a window, in memory or in a file.
struct Stream {
    directions: Vec<Direction>,
    memory: Blocks<Keyed>,
    /// What those in memory hold.
    charge: Charge,
    merge: Option<Merge>,
    /// The first row of the next partition.
    ahead: Option<Keyed>,
}

impl Stream {
    fn next(&mut self, context: &EvalContext<'_>) -> SqlResult<Option<Keyed>> {
        match &mut self.merge {
            Some(merge) => merge.next(context),
            None => Ok(self.memory.next()),
        }
    }
}

/// Sorts rows as a window asks.
async fn sort_for(exec: &mut Exec<'_>, plan: &WindowPlan, (rows, held): (List, Charge)) -> SqlResult<Stream> {
    let directions = order::directions(&plan.keys);
    let max = kept_bytes_max(exec, |settings| settings.buffers.sort);
    let (mut keyed, mut charge, mut external) = (Blocks::new(), exec.eval.charge(), None);
    let mut rows = rows.read();
    while let Some(tuple) = rows.next()? {
        exec.pace().await?;
        let keys = plan.keys.iter().map(|key| key.expr.eval(&TupleRow(&tuple), exec.eval));
        let keys = keys.collect::<SqlResult<Vec<_>>>()?;
        charge.add(row_bytes(&keys) + row_bytes(&tuple))?;
        keyed.push((keys, tuple));
        if charge.bytes() > max {
            let external = match &mut external {
                Some(external) => external,
                none => none.insert(External::new(exec, &directions, u64::MAX, max)?),
            };
            external.put(exec, std::mem::take(&mut keyed)).await?;
            charge.clear();
        }
    }
    drop((rows, held));
    let Some(mut external) = external else {
        let memory = sort::sorted(exec, keyed, &directions).await?;
        return Ok(Stream { directions, memory, charge, merge: None, ahead: None });
    };
    external.put(exec, keyed).await?;
    charge.clear();
    let merge = Some(external.merge(exec).await?);
    Ok(Stream { directions, memory: Blocks::new(), charge, merge, ahead: None })
}

/// The rows of the next partition with what the functions give them.
async fn next_partition(
    exec: &mut Exec<'_>,
    plan: &WindowPlan,
    from: &mut Stream,
) -> SqlResult<Option<Many<Keyed>>> {
    let first = match from.ahead.take() {
        Some(first) => first,
        None => match from.next(exec.eval)? {
            Some(first) => first,
            None => return Ok(None),
        },
    };
    let partition = &from.directions[..plan.partition];
    let (directions, mut rows) = (from.directions.clone(), Many::from(vec![first]));
    let mut given = from.charge.another();
    while let Some(row) = match &mut from.merge {
        Some(merge) => merge.next(exec.eval)?,
        None => from.memory.next(),
    } {
        exec.pace().await?;
        if order::compare_keys(&rows[0].0, &row.0, partition) != Ordering::Equal {
            from.ahead = Some(row);
            break;
        }
        // What is in memory is charged already.
        if from.merge.is_some() {
            given.add(row_bytes(&row.0) + row_bytes(&row.1))?;
        }
        rows.push(row);
    }
    let part = 0..rows.len();
    let mut sorted = Sorted { rows, directions, part, given };
    for function in &plan.functions {
        give(exec, function, plan, &mut sorted).await?;
    }
    Ok(Some(sorted.rows))
}

/// A partition in the order of its window.
struct Sorted {
    rows: Many<Keyed>,
    directions: Vec<Direction>,
    part: Range<usize>,
    /// What the functions' values hold, and rows from a file.
    given: Charge,
}

impl Sorted {
    /// Whether two rows have the same values of the first `count` keys.
    fn same(&self, one: usize, other: usize, count: usize) -> bool {
        let (one, other) = (&self.rows[one].0, &self.rows[other].0);
        order::compare_keys(one, other, &self.directions[..count]) == Ordering::Equal
    }

    fn value(&self, expr: &Expr, row: usize, context: &EvalContext<'_>) -> SqlResult<Value> {
        expr.eval(&TupleRow(&self.rows[row].1), context)
    }

    fn set(&mut self, row: usize, function: &WindowFunction, value: Value) -> SqlResult<()> {
        self.given.add(turnstile_values::memory::heap_bytes(&value))?;
        self.rows[row].1[function.position] = value;
        Ok(())
    }

    /// The rows with the same keys as one; `known`: those of its neighbour, which may be the same.
    async fn peers(&self, exec: &mut Exec<'_>, row: usize, known: &Range<usize>) -> SqlResult<Range<usize>> {
        if known.contains(&row) {
            return Ok(known.clone());
        }
        let all = self.directions.len();
        let (mut start, mut end) = (row, row + 1);
        while start > self.part.start && self.same(start - 1, row, all) {
            exec.pace().await?;
            start -= 1;
        }
        while end < self.part.end && self.same(end, row, all) {
            exec.pace().await?;
            end += 1;
        }
        Ok(start..end)
    }
}

/// Gives each row of the partition what a function gives it.
async fn give(
    exec: &mut Exec<'_>,
    function: &WindowFunction,
    plan: &WindowPlan,
    rows: &mut Sorted,
) -> SqlResult<()> {
    if let WindowKind::Aggregate(aggregate) = &function.kind {
        return aggregates(exec, (function, aggregate), plan, rows).await;
    }
    let frame = Frame::of(function, plan.partition, exec.eval)?;
    let count = constant(&function.kind, exec.eval)?;
    let part = rows.part.clone();
    let (mut peers, mut groups) = (part.start..part.start, 0);
    for row in part.clone() {
        exec.pace().await?;
        let next = rows.peers(exec, row, &peers).await?;
        groups += u64::from(next != peers);
        peers = next;
        let place = Place { row, peers: &peers, group: groups };
        let value = match &function.kind {
            WindowKind::First(value) | WindowKind::Last(value) | WindowKind::Nth(value, _) => {
                let seen = frame.rows(rows, row, &peers, exec.eval)?;
                let wanted = match &function.kind {
                    WindowKind::First(_) => Some(seen.start),
                    WindowKind::Last(_) => seen.end.checked_sub(1),
                    _ => count.and_then(|nth| seen.start.checked_add(nth as usize - 1)),
                };
                match wanted.filter(|wanted| seen.contains(wanted)) {
                    Some(wanted) => rows.value(value, wanted, exec.eval)?,
                    None => Value::Null,
                }
            }
            WindowKind::Shifted { value, otherwise, back, .. } => {
                let by = count.map_or(1, |by| by as usize);
                let wanted = if *back { row.checked_sub(by) } else { row.checked_add(by) };
                match (wanted.filter(|wanted| part.contains(wanted)), otherwise) {
                    (Some(wanted), _) => rows.value(value, wanted, exec.eval)?,
                    (None, Some(otherwise)) => rows.value(otherwise, row, exec.eval)?,
                    (None, None) => Value::Null,
                }
            }
            kind => ranked(kind, &place, &part, count),
        };
        rows.set(row, function, value)?;
    }
    Ok(())
}

/// Where a row stands in its partition.
struct Place<'p> {
    row: usize,
    /// Rows with its keys.
    peers: &'p Range<usize>,
    /// The number of these among the groups of such rows, from 1.
    group: u64,
}

fn ranked(kind: &WindowKind, place: &Place<'_>, part: &Range<usize>, count: Option<u64>) -> Value {
    let nth = (place.row - part.start) as u64;
    let rank = (place.peers.start - part.start) as u64;
    match kind {
        WindowKind::RowNumber => Value::UInt(nth + 1),
        WindowKind::Rank => Value::UInt(rank + 1),
        WindowKind::DenseRank => Value::UInt(place.group),
        WindowKind::PercentRank if part.len() <= 1 => Value::Double(0.0),
        WindowKind::PercentRank => Value::Double(rank as f64 / (part.len() - 1) as f64),
        WindowKind::CumeDist => Value::Double((place.peers.end - part.start) as f64 / part.len() as f64),
        WindowKind::Ntile(_) => count.map_or(Value::Null, |count| {
            let (small, larger) = (part.len() as u64 / count, part.len() as u64 % count);
            let in_larger = larger * (small + 1);
            Value::UInt(match nth < in_larger {
                true => nth / (small + 1) + 1,
                false => larger + (nth - in_larger) / small.max(1) + 1,
            })
        }),
        _ => Value::Null,
    }
}

/// The number that a function is given for all rows. Error 1210 if it is none that it can do with.
fn constant(kind: &WindowKind, context: &EvalContext<'_>) -> SqlResult<Option<u64>> {
    let (expr, least, name) = match kind {
        WindowKind::Ntile(count) => (count, 1, "ntile"),
        WindowKind::Nth(_, nth) => (nth, 1, "nth_value"),
        WindowKind::Shifted { by: Some(by), back, .. } => (by, 0, if *back { "lag" } else { "lead" }),
        _ => return Ok(None),
    };
    let value = expr.eval(&NoRow, context)?;
    if value.is_null() && matches!(kind, WindowKind::Ntile(_)) {
        return Ok(None);
    }
    let wrong = || SqlError::wrong_arguments(name);
    let number = if value.is_null() { -1 } else { to_i64(&value, context)? };
    let number = u64::try_from(number).map_err(|_| wrong())?;
    if number < least { Err(wrong()) } else { Ok(Some(number)) }
}

/// An aggregate over the frame of each row.
async fn aggregates(
    exec: &mut Exec<'_>,
    (function, aggregate): (&WindowFunction, &Aggregate),
    plan: &WindowPlan,
    rows: &mut Sorted,
) -> SqlResult<()> {
    let frame = Frame::of(function, plan.partition, exec.eval)?;
    let part = rows.part.clone();
    let mut running = Running::new(aggregate);
    // Where the end of the frame stays, rows come in at its front: from the last one on.
    let backwards = !matches!(function.frame.0, Bound::Edge)
        && matches!(function.frame.1, Bound::Edge)
        && running.sum.has_copy();
    let mut peers = part.start..part.start;
    let mut last: Option<(Range<usize>, Value)> = None;
    for nth in 0..part.len() {
        exec.pace().await?;
        let row = if backwards { part.end - 1 - nth } else { part.start + nth };
        peers = rows.peers(exec, row, &peers).await?;
        let seen = frame.rows(rows, row, &peers, exec.eval)?;
        let value = match &last {
            Some((range, value)) if *range == seen => value.clone(),
            _ => running.over(exec, aggregate, rows, &seen).await?,
        };
        last = Some((seen, value.clone()));
        rows.set(row, function, value)?;
    }
    Ok(())
}

/// An aggregate over a range of rows, which moves.
struct Running {
    sum: Accumulator,
    over: Range<usize>,
    charge: Charge,
}

impl Running {
    fn new(aggregate: &Aggregate) -> Running {
        Running { sum: Accumulator::new(aggregate), over: 0..0, charge: Charge::default() }
    }

    async fn over(
        &mut self,
        exec: &mut Exec<'_>,
        aggregate: &Aggregate,
        rows: &Sorted,
        wanted: &Range<usize>,
    ) -> SqlResult<Value> {
        let grows = wanted.start <= self.over.start && wanted.end >= self.over.end;
        let moves =
            wanted.start >= self.over.start && wanted.end >= self.over.end && wanted.start < self.over.end;
        let goes_on =
            !self.over.is_empty() && self.sum.has_copy() && (grows || moves && self.sum.takes_back());
        if !goes_on {
            self.charge = exec.eval.charge();
            self.sum = Accumulator::new(aggregate);
            self.over = wanted.start..wanted.start;
        }
        while self.over.start < wanted.start {
            exec.pace().await?;
            let row = TupleRow(&rows.rows[self.over.start].1);
            self.sum.take_back(aggregate, &row, exec.eval)?;
            self.over.start += 1;
        }
        while self.over.start > wanted.start {
            exec.pace().await?;
            self.over.start -= 1;
            let row = TupleRow(&rows.rows[self.over.start].1);
            self.sum.add(aggregate, &row, exec.eval, &mut self.charge)?;
        }
        while self.over.end < wanted.end {
            exec.pace().await?;
            let row = TupleRow(&rows.rows[self.over.end].1);
            self.sum.add(aggregate, &row, exec.eval, &mut self.charge)?;
            self.over.end += 1;
        }
        let sum = match self.sum.copy() {
            Some(copy) => copy,
            None => {
                self.over = 0..0;
                std::mem::replace(&mut self.sum, Accumulator::new(aggregate))
            }
        };
        sum.result(aggregate, exec.eval)
    }
}
