//! Joins with a source that is too large for memory: its rows go to a file, in parts by the hashes of their
//! keys; the tuples that look for partners among them go to parts of another file by the same hashes, and
//! wait there until all have come. Then the parts are joined one by one, each as any source in memory.
//!
//! ```text
//!   rows of the source ──hash──> part 0 … part n        read once, by the first tuple that gets here
//!   tuples             ──hash──> part 0 … part n        while the steps before this one run
//!   part by part: rows in memory, its tuples go on from this step; what comes of them may wait at a later
//!   one. A part that is too large is spread again, by other bits; where that does not help (one key has
//!   most rows, or there is no key) its rows come into memory piece by piece, and its tuples run through
//!   every piece
//! ```
//! Tuples go on in another order than they came in. So it is not done where the order of the first table's
//! rows is that of the answer (`SelectPlan::in_order`).

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use turnstile_engine::Visit;
use turnstile_plan::plan::query::{JoinStep, Partners, SelectPlan};
use turnstile_values::error::{SqlError, SqlResult};
use turnstile_values::memory::{Charge, Many, row_bytes};
use turnstile_values::value::{Rows, Value};

use super::super::Exec;
use super::super::measure::name_of;
use super::super::select::Boxed;
use super::super::source::{Stored, key_of_row, key_of_tuple};
use super::super::spill::RunReader;
use super::super::spill::limits::kept_bytes_max;
use super::super::spill::parts::{Part, Parts, Spread};
use super::{End, holds, run_step};

/// Rows of a source while they are read.
pub(in super::super) struct Gathering<'s> {
    step: &'s JoinStep,
    /// Those in memory.
    pub rows: Rows,
    /// What these hold.
    pub charge: Charge,
    /// More go to parts.
    bytes_max: u64,
    parts: Option<Parts>,
    key: Vec<u8>,
}

impl<'s> Gathering<'s> {
    /// For a step's source; all rows stay in memory where the plan's order of rows is to stay.
    pub(in super::super) fn new(exec: &Exec<'_>, plan: &SelectPlan, step: &'s JoinStep) -> Gathering<'s> {
        let bytes_max = if plan.in_order { u64::MAX } else { part_bytes_max(exec) };
        let charge = exec.eval.charge();
        Gathering { step, rows: Rows::new(), charge, bytes_max, parts: None, key: Vec::new() }
    }

    /// Rows are in memory that are to go to parts.
    pub(in super::super) fn is_over(&self) -> bool {
        self.charge.bytes() > self.bytes_max || self.parts.is_some()
    }

    /// Rows that are too many for memory go to parts, where others may be let in. Errors 1 to 3.
    pub(in super::super) fn settle<'a>(&'a mut self, exec: &'a mut Exec<'_>) -> Boxed<'a, ()> {
        Box::pin(self.spread(exec))
    }

    async fn spread(&mut self, exec: &mut Exec<'_>) -> SqlResult<()> {
        let mut parts = match self.parts.take() {
            Some(parts) => parts,
            None => Parts::new(exec, spread_of(self.step, self.bytes_max))?,
        };
        for row in std::mem::take(&mut self.rows) {
            exec.pace().await?;
            if key_of_row(self.step, &row, &mut self.key) {
                parts.add(exec, &self.key, &row).await?;
            }
        }
        self.charge.clear();
        self.parts = Some(parts);
        Ok(())
    }

    /// All rows: in memory, or in parts.
    pub(in super::super) fn finish(self, exec: &Exec<'_>) -> SqlResult<Stored> {
        match self.parts {
            None => Ok(Stored::of(Arc::new(self.rows), self.charge)),
            Some(parts) => {
                exec.session.entry.counts.disk_tables.add(1);
                Ok(Stored::apart(parts.finish()?))
            }
        }
    }
}

fn part_bytes_max(exec: &Exec<'_>) -> u64 {
    kept_bytes_max(exec, |settings| settings.buffers.join)
}

fn spread_of(step: &JoinStep, bytes: u64) -> Spread {
    if step.hash.is_empty() { Spread::none() } else { Spread::within(bytes) }
}

/// Before steps run for one tuple: what an earlier run of them has left waiting that ended early is dropped.
pub(in super::super) fn begin(exec: &mut Exec<'_>, steps: &[JoinStep]) {
    if has_waiting(exec) {
        steps.iter().for_each(|step| drop(exec.keeping().waiting.remove(&name_of(step))));
    }
}

/// Behind it: runs what they have left waiting.
pub(in super::super) fn end<'a>(
    exec: &'a mut Exec<'_>,
    plan: &'a SelectPlan,
    steps: &'a [JoinStep],
    tuple: &'a mut Vec<Value>,
    end: &'a mut End<'_, '_, '_>,
    visit: Visit,
) -> Boxed<'a, ()> {
    Box::pin(drain(exec, plan, steps, tuple, end, visit))
}

/// Whether tuples wait at any step.
pub(in super::super) fn has_waiting(exec: &Exec<'_>) -> bool {
    exec.keeping.as_ref().is_some_and(|keeping| !keeping.waiting.is_empty())
}

/// Joins what waits, step by step: tuples wait at a step for rows of its own and come from those before it.
async fn drain(
    exec: &mut Exec<'_>,
    plan: &SelectPlan,
    steps: &[JoinStep],
    tuple: &mut Vec<Value>,
    end: &mut End<'_, '_, '_>,
    mut visit: Visit,
) -> SqlResult<()> {
    for (nth, step) in steps.iter().enumerate() {
        let name = name_of(step);
        let Some(waiting) = exec.keeping().waiting.remove(&name) else { continue };
        let source = exec.keeping().stored_sources.get(&name).cloned();
        let Some(source) = source.filter(|_| visit == Visit::Continue) else { continue };
        let mut joining = Joining { plan, steps, nth, bytes_max: part_bytes_max(exec) };
        let joined = joining.all(exec, &source, waiting, tuple, end).await;
        // Its parts have taken its place meanwhile.
        exec.keeping().stored_sources.insert(name, source);
        visit = joined?;
    }
    Ok(())
}

/// Lets a tuple wait at step number `nth` for the rows of its source.
pub(super) fn wait<'a>(
    exec: &'a mut Exec<'_>,
    plan: &'a SelectPlan,
    steps: &'a [JoinStep],
    nth: usize,
    tuple: &'a mut Vec<Value>,
    end: &'a mut End<'_, '_, '_>,
) -> Boxed<'a, Visit> {
    Box::pin(waiting(exec, plan, steps, nth, tuple, end))
}

async fn waiting(
    exec: &mut Exec<'_>,
    plan: &SelectPlan,
    steps: &[JoinStep],
    nth: usize,
    tuple: &mut Vec<Value>,
    end: &mut End<'_, '_, '_>,
) -> SqlResult<Visit> {
    let (step, mut key) = (&steps[nth], Vec::new());
    // What these hold is of an earlier tuple.
    steps[nth..].iter().for_each(|later| tuple[later.base..later.base + later.columns].fill(Value::Null));
    if !key_of_tuple(step, tuple, exec.eval, &mut key)? {
        if step.left_join && holds(exec, plan, &step.filters, tuple).await? {
            return run_step(exec, plan, steps, nth + 1, tuple, end).await;
        }
        return Ok(Visit::Continue);
    }
    let mut waiting = match exec.keeping().waiting.remove(&name_of(step)) {
        Some(waiting) => waiting,
        None => Parts::new(exec, spread_of(step, part_bytes_max(exec)))?,
    };
    waiting.add(exec, &key, tuple).await?;
    exec.keeping().waiting.insert(name_of(step), waiting);
    Ok(Visit::Continue)
}

/// Rows with some keys, and the tuples that look for them.
struct Pair {
    rows: Part,
    tuples: Part,
    /// How they were spread.
    spread: Spread,
}

/// A step whose source is in parts.
struct Joining<'p> {
    plan: &'p SelectPlan,
    steps: &'p [JoinStep],
    nth: usize,
    /// What a part may take in memory.
    bytes_max: u64,
}

impl<'p> Joining<'p> {
    fn step(&self) -> &'p JoinStep {
        &self.steps[self.nth]
    }

    async fn all(
        &mut self,
        exec: &mut Exec<'_>,
        source: &Stored,
        waiting: Parts,
        tuple: &mut Vec<Value>,
        end: &mut End<'_, '_, '_>,
    ) -> SqlResult<Visit> {
        let spread = waiting.spread();
        let parts = source.parts().iter().cloned().zip(waiting.finish()?);
        let mut pairs: Vec<Pair> = parts.map(|(rows, tuples)| Pair { rows, tuples, spread }).collect();
        while let Some(pair) = pairs.pop() {
            let nobody = pair.tuples.rows == 0 || pair.rows.rows == 0 && !self.step().left_join;
            if nobody {
                continue;
            }
            match pair.spread.deeper().filter(|_| pair.rows.bytes > self.bytes_max) {
                Some(deeper) => pairs.extend(self.spread_again(exec, pair, deeper, tuple.len()).await?),
                None if self.one(exec, pair, tuple, end).await? == Visit::Stop => return Ok(Visit::Stop),
                None => {}
            }
        }
        Ok(Visit::Continue)
    }

    /// Parts of a part.
    async fn spread_again(
        &self,
        exec: &mut Exec<'_>,
        pair: Pair,
        spread: Spread,
        width: usize,
    ) -> SqlResult<Vec<Pair>> {
        let (mut rows, mut key) = (Parts::new(exec, spread)?, Vec::new());
        let mut reader = RunReader::new(&pair.rows.run);
        while let Some(row) = reader.next_part()? {
            exec.pace().await?;
            if key_of_row(self.step(), &row, &mut key) {
                rows.add(exec, &key, &row).await?;
            }
        }
        let rows = rows.finish()?;
        // Where one part has got them all again, another time will not help.
        let spread = match rows.iter().any(|part| part.rows == pair.rows.rows) {
            true => return Ok(vec![Pair { spread: Spread::none(), ..pair }]),
            false => spread,
        };
        let mut tuples = Parts::new(exec, spread)?;
        let mut reader = RunReader::new(&pair.tuples.run);
        while let Some(tuple) = reader.next_part()?.map(|tuple| of_width(tuple, width)).transpose()? {
            exec.pace().await?;
            if key_of_tuple(self.step(), &tuple, exec.eval, &mut key)? {
                tuples.add(exec, &key, &tuple).await?;
            }
        }
        let pairs = rows.into_iter().zip(tuples.finish()?);
        Ok(pairs.map(|(rows, tuples)| Pair { rows, tuples, spread }).collect())
    }

    /// Joins a part, whose rows come into memory together or piece by piece.
    async fn one(
        &self,
        exec: &mut Exec<'_>,
        pair: Pair,
        tuple: &mut Vec<Value>,
        end: &mut End<'_, '_, '_>,
    ) -> SqlResult<Visit> {
        let mut rows = RunReader::new(&pair.rows.run);
        let mut matched = Matched { bits: Many::new(), charge: exec.eval.charge() };
        let mut is_first = true;
        loop {
            let piece = self.piece(exec, &mut rows).await?;
            let is_last = !rows.has_more()?;
            let is_whole = is_first && is_last;
            let piece = Arc::new(if is_whole { piece } else { piece.into_piece() });
            if self.each(exec, &pair, (&piece, &mut matched), tuple, end).await? == Visit::Stop {
                return Ok(Visit::Stop);
            }
            match (is_whole, is_last) {
                (true, _) => return Ok(Visit::Continue),
                (_, true) => break,
                (_, false) => is_first = false,
            }
        }
        if !self.step().left_join {
            return Ok(Visit::Continue);
        }
        // Tuples without a partner in any piece find nothing once more, and go on without.
        let nothing = Arc::new(Stored::of(Arc::default(), exec.eval.charge()));
        self.each(exec, &pair, (&nothing, &mut matched), tuple, end).await
    }

    /// Runs each tuple through some rows of its part.
    async fn each(
        &self,
        exec: &mut Exec<'_>,
        pair: &Pair,
        (piece, matched): (&Arc<Stored>, &mut Matched),
        tuple: &mut Vec<Value>,
        end: &mut End<'_, '_, '_>,
    ) -> SqlResult<Visit> {
        exec.keeping().stored_sources.insert(name_of(self.step()), piece.clone());
        let asks = self.step().partners != Partners::All;
        let mut tuples = RunReader::new(&pair.tuples.run);
        let mut nth = 0;
        while let Some(next) = tuples.next_part()? {
            exec.pace().await?;
            *tuple = of_width(next, tuple.len())?;
            // Whoever looks for one partner is done with it.
            let goes_on = piece.found().is_some() && !asks || !matched.has(nth);
            if goes_on && run_step(exec, self.plan, self.steps, self.nth, tuple, end).await? == Visit::Stop {
                return Ok(Visit::Stop);
            }
            if let Some(found) = piece.found().filter(|_| self.step().left_join || asks)
                && found.swap(false, Ordering::Relaxed)
            {
                matched.set(nth)?;
            }
            nth += 1;
        }
        Ok(Visit::Continue)
    }

    /// As many of a part's rows as may be in memory.
    async fn piece(&self, exec: &mut Exec<'_>, reader: &mut RunReader) -> SqlResult<Stored> {
        let (mut rows, mut charge) = (Rows::new(), exec.eval.charge());
        while charge.bytes() <= self.bytes_max
            && let Some(row) = reader.next_part()?
        {
            exec.pace().await?;
            charge.add(row_bytes(&row))?;
            if row.len() < self.step().columns {
                return Err(wrong_width());
            }
            rows.push(row);
        }
        let mut stored = Stored::of(Arc::new(rows), charge);
        stored.index(exec, self.step()).await?;
        Ok(stored)
    }
}

fn of_width(tuple: Vec<Value>, width: usize) -> SqlResult<Vec<Value>> {
    if tuple.len() == width { Ok(tuple) } else { Err(wrong_width()) }
}

fn wrong_width() -> SqlError {
    SqlError::unknown_error("a row in a temporary file has not as many values as it was written with")
}

/// Which tuples of a part have had a partner in some piece.
struct Matched {
    bits: Many<u64>,
    charge: Charge,
}

impl Matched {
    fn has(&self, nth: usize) -> bool {
        self.bits.get(nth / 64).is_some_and(|bits| bits >> (nth % 64) & 1 == 1)
    }

    fn set(&mut self, nth: usize) -> SqlResult<()> {
        let at = nth / 64;
        if at >= self.bits.len() {
            self.charge.add((at + 1 - self.bits.len()) * size_of::<u64>())?;
            self.bits.resize(at + 1, 0);
        }
        self.bits[at] |= 1 << (nth % 64);
        Ok(())
    }
}

/// Set where a tuple has found a partner among some rows of its part.
pub(in super::super) type Found = AtomicBool;
