//! What EXPLAIN ANALYZE measures: for each part of a plan how often it ran, how many rows it gave, and how
//! long that took.
//!
//! A statement that nobody measures keeps no [`Measure`]: that is looked at once a block, a step's loop or a
//! batch, and what is done for each row is compiled twice (`Watch`), with clocks and without. A plan is
//! immutable and stays in its place while it runs, so its parts are named by where they lie.

use std::time::Instant;

use rustc_hash::FxHashMap;
use turnstile_engine::Visit;
use turnstile_plan::plan::query::{JoinStep, QueryPlan, SelectPlan};
use turnstile_values::error::SqlResult;
use turnstile_values::field::FieldRef;
use turnstile_values::value::Value;

use super::Exec;
use super::select::select_tuples;
use super::tail::{Kept, RowOut, Tail};

/// What a part of a plan has done. Times are sums over all loops, and hold those of the parts below.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Done {
    /// How often it began.
    pub loops: u64,
    /// Rows it gave.
    pub rows: u64,
    /// Nanoseconds until the first row of each loop; of a loop without rows, until its end.
    pub first_ns: u64,
    /// Nanoseconds until the end of each loop.
    pub total_ns: u64,
}

/// What of a block, a step or a query of WITH was measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Part {
    /// A query: the rows that it gave.
    Query,
    /// A block: its groups.
    Groups,
    /// A block: the groups that HAVING let through.
    Having,
    /// A block: the rows that its window functions saw.
    Windows,
    /// A block: its different rows.
    Distinct,
    /// A block: its rows before LIMIT.
    Found,
    /// A step: the rows of its source.
    Source,
    /// A step: those of them that its conditions let through.
    Matched,
    /// A step: these, and the rows that found no partner.
    Joined,
    /// A step: those that conditions let through which are asked behind an outer join.
    Passed,
    /// A step: the rows of a table that was read into memory.
    Read,
    /// A step, a query of WITH or a set operation: the rows that were kept in memory.
    Kept,
}

/// What was measured of one statement.
#[derive(Debug, Default)]
pub struct Measure {
    parts: FxHashMap<(usize, Part), Done>,
    /// When the loop began that a list of steps or a block is in.
    began: FxHashMap<usize, Instant>,
}

/// What names a part of a plan.
pub fn name_of<T>(part: &T) -> usize {
    std::ptr::from_ref(part) as usize
}

fn ns(began: Instant, ended: Instant) -> u64 {
    u64::try_from(ended.saturating_duration_since(began).as_nanos()).unwrap_or(u64::MAX)
}

impl Measure {
    /// What a part has done; nothing if it never ran.
    pub fn of(&self, name: usize, part: Part) -> Done {
        self.parts.get(&(name, part)).copied().unwrap_or_default()
    }

    /// What a step has done, for all rows of the steps before it in one run of its block: as many loops as
    /// the first of them.
    pub fn joined(&self, steps: &[JoinStep], nth: usize, part: Part) -> Done {
        let own = self.of(name_of(&steps[nth]), part);
        let total_ns = steps[..=nth].iter().map(|step| self.of(name_of(step), Part::Passed).total_ns).sum();
        let loops = self.of(name_of(&steps[0]), Part::Source).loops;
        let first_ns = if own.rows == 0 { total_ns } else { own.first_ns };
        Done { loops, rows: own.rows, first_ns, total_ns }
    }

    fn add(&mut self, name: usize, part: Part, done: Done) {
        let all = self.parts.entry((name, part)).or_default();
        all.loops += done.loops;
        all.rows += done.rows;
        all.first_ns += done.first_ns;
        all.total_ns += done.total_ns;
    }

    /// A loop of a step is over.
    fn add_step(&mut self, step: &JoinStep, steps: &[JoinStep], watch: &Timed) {
        let name = name_of(step);
        let whole_ns = watch.source_ns + watch.tests_ns;
        let first_ns = |first: Option<Instant>, otherwise| first.map_or(otherwise, |at| ns(watch.began, at));
        let done =
            |rows, first, total_ns| Done { loops: 1, rows, first_ns: first_ns(first, total_ns), total_ns };
        self.add(name, Part::Source, done(watch.shown.rows, watch.shown.first, watch.source_ns));
        self.add(name, Part::Matched, done(watch.matched.rows, watch.matched.first, whole_ns));
        // Until the first row of a join it is as long as since the first of its steps began; only the first
        // row that comes in a run of the block is that.
        let block = self.began.get(&(steps.as_ptr() as usize)).copied().unwrap_or(watch.began);
        for (part, seen, total_ns) in
            [(Part::Joined, watch.joined, whole_ns), (Part::Passed, watch.passed, whole_ns)]
        {
            let runs = self.of(name_of(&steps[0]), Part::Query).loops;
            let known = self.of(name, part).loops;
            let first_ns = seen.first.filter(|_| known < runs).map_or(0, |at| ns(block, at));
            let loops = if seen.rows > 0 { runs - known.min(runs) } else { 0 };
            self.add(name, part, Done { loops, rows: seen.rows, first_ns, total_ns });
        }
    }
}

impl Exec<'_> {
    /// Measures what is run from now on.
    pub fn measure(&mut self) {
        self.keeping().measure = Some(Box::default());
    }

    /// What was measured.
    pub fn take_measured(&mut self) -> Measure {
        self.keeping().measure.take().map(|measure| *measure).unwrap_or_default()
    }

    /// Finds the rows that a change is about, and locks them as it would.
    pub async fn find_rows(&mut self, plan: &SelectPlan) -> SqlResult<()> {
        let mut kept = Kept::new(self.eval, None);
        select_tuples(self, plan, &mut kept).await
    }

    pub(super) fn measures(&self) -> bool {
        self.keeping.as_ref().is_some_and(|keeping| keeping.measure.is_some())
    }

    fn measured(&mut self) -> Option<&mut Measure> {
        self.keeping.as_mut()?.measure.as_deref_mut()
    }

    /// Now, if somebody wants to know.
    pub(super) fn clock(&self) -> Option<Instant> {
        self.measures().then(Instant::now)
    }

    /// A loop of a part is over that began then.
    pub(super) fn note_since(&mut self, began: Option<Instant>, name: usize, part: Part, rows: usize) {
        if let (Some(began), Some(measure)) = (began, self.measured()) {
            let total_ns = ns(began, Instant::now());
            measure.add(name, part, Done { loops: 1, rows: rows as u64, first_ns: total_ns, total_ns });
        }
    }

    /// Rows of a part of the block that runs; it is over when the last of them have come.
    pub(super) fn note_rows(&mut self, plan: &SelectPlan, part: Part, rows: usize) {
        let name = name_of(plan);
        if let Some(measure) = self.measured() {
            let runs = measure.of(name, Part::Query).loops;
            let known = measure.of(name, part).loops;
            let began = measure.began.get(&name).copied();
            let since_ns = began.filter(|_| known < runs).map_or(0, |began| ns(began, Instant::now()));
            let loops = runs - known.min(runs);
            let done = Done { loops, rows: rows as u64, first_ns: since_ns, total_ns: since_ns };
            measure.add(name, part, done);
        }
    }

    /// A run of a block is over. One that fails is not noted: a call around it would take stack from queries
    /// that lie deep in others.
    pub(super) fn note_tail(&mut self, plan: &SelectPlan, tail: &Tail<'_, '_>) {
        if self.measures() {
            self.note_rows(plan, Part::Distinct, tail.different());
            self.note_rows(plan, Part::Found, usize::try_from(tail.found).unwrap_or(usize::MAX));
        }
    }

    /// A list of steps begins.
    pub(super) fn note_steps(&mut self, steps: &[JoinStep], nth: usize) {
        if let (0, Some(first), Some(measure)) = (nth, steps.first(), self.measured()) {
            measure.began.insert(steps.as_ptr() as usize, Instant::now());
            measure.add(name_of(first), Part::Query, Done { loops: 1, ..Done::default() });
        }
    }

    pub(super) fn note_step(&mut self, steps: &[JoinStep], nth: usize, watch: &Timed) {
        if let Some(measure) = self.measured().filter(|_| !watch.waits) {
            measure.add_step(&steps[nth], steps, watch);
        }
    }
}

/// What names a query.
pub fn name_of_query(plan: &QueryPlan) -> usize {
    match plan {
        QueryPlan::Select(plan) => name_of(&**plan),
        QueryPlan::Set(plan) => name_of(&**plan),
        QueryPlan::Values(plan) => name_of(&**plan),
    }
}

/// Runs a query and measures it.
pub(super) async fn query(
    exec: &mut Exec<'_>,
    plan: &QueryPlan,
    outer: &[Value],
    out: &mut dyn RowOut,
) -> SqlResult<u64> {
    let name = name_of_query(plan);
    let began = Instant::now();
    if let Some(measure) = exec.measured() {
        measure.began.insert(name, began);
        measure.add(name, Part::Query, Done { loops: 1, ..Done::default() });
    }
    let mut counted = Counted { out, seen: Seen::default() };
    let result = exec.run(plan, outer, &mut counted).await;
    let seen = counted.seen;
    if let Some(measure) = exec.measured() {
        let total_ns = ns(began, Instant::now());
        let first_ns = seen.first.map_or(total_ns, |at| ns(began, at));
        measure.add(name, Part::Query, Done { loops: 0, rows: seen.rows, first_ns, total_ns });
    }
    result
}

/// Rows, and when the first of them came.
#[derive(Clone, Copy, Default)]
struct Seen {
    rows: u64,
    first: Option<Instant>,
}

impl Seen {
    fn note(&mut self, now: Instant) {
        self.rows += 1;
        self.first.get_or_insert(now);
    }
}

/// Counts the rows that a query gives.
struct Counted<'o> {
    out: &'o mut dyn RowOut,
    seen: Seen,
}

impl RowOut for Counted<'_> {
    fn row(&mut self, row: &[Value]) -> SqlResult<Visit> {
        self.seen.note(Instant::now());
        self.out.row(row)
    }
    fn fields(&mut self, row: &[FieldRef<'_>]) -> SqlResult<Visit> {
        self.seen.note(Instant::now());
        self.out.fields(row)
    }
    fn should_flush(&self) -> bool {
        self.out.should_flush()
    }
    fn poll_flush(&mut self, context: &mut std::task::Context<'_>) -> std::task::Poll<SqlResult<()>> {
        self.out.poll_flush(context)
    }
}

/// Looks on while a step runs: what happens to a row, and so whose the time since the last call was.
pub(super) trait Watch: Send {
    /// Whether it looks at all.
    const MEASURES: bool = true;
    /// The source has shown a row.
    fn shown(&mut self) {}
    /// So many, to which nothing else happens.
    fn counted(&mut self, _rows: u64) {}
    /// The source has worked.
    fn read(&mut self) {}
    /// Conditions were tested.
    fn tested(&mut self) {}
    /// What makes a partner holds.
    fn matched(&mut self) {}
    /// It is joined with what was before it.
    fn joined(&mut self) {}
    /// So it goes on to the next step.
    fn passed(&mut self) {}
    /// What comes behind this step has worked.
    fn returned(&mut self) {}
    /// The tuple waits, and its loop begins later.
    fn waits(&mut self) {}
}

/// Nobody looks.
pub(super) struct Untimed;

impl Watch for Untimed {
    const MEASURES: bool = false;
}

/// A loop of a step with a clock.
pub(super) struct Timed {
    began: Instant,
    lap: Instant,
    source_ns: u64,
    tests_ns: u64,
    shown: Seen,
    matched: Seen,
    joined: Seen,
    passed: Seen,
    waits: bool,
}

impl Timed {
    pub(super) fn begin() -> Timed {
        let began = Instant::now();
        let (shown, matched, joined, passed) = Default::default();
        Timed { began, lap: began, source_ns: 0, tests_ns: 0, shown, matched, joined, passed, waits: false }
    }

    fn lap_ns(&mut self) -> u64 {
        let before = std::mem::replace(&mut self.lap, Instant::now());
        ns(before, self.lap)
    }
}

impl Watch for &mut Timed {
    fn waits(&mut self) {
        self.waits = true;
    }
    fn shown(&mut self) {
        self.read();
        self.shown.note(self.lap);
    }
    fn counted(&mut self, rows: u64) {
        self.read();
        for seen in [&mut self.shown, &mut self.matched, &mut self.joined, &mut self.passed] {
            seen.rows += rows;
            if rows > 0 {
                seen.first.get_or_insert(self.lap);
            }
        }
    }
    fn read(&mut self) {
        self.source_ns += self.lap_ns();
    }
    fn tested(&mut self) {
        self.tests_ns += self.lap_ns();
    }
    fn matched(&mut self) {
        self.tested();
        self.matched.note(self.lap);
    }
    fn joined(&mut self) {
        self.joined.note(self.lap);
    }
    fn passed(&mut self) {
        self.tested();
        self.passed.note(self.lap);
    }
    fn returned(&mut self) {
        self.lap_ns();
    }
}
