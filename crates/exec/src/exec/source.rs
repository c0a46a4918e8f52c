//! What a step of a join reads: a table's scan, rows kept in memory and hashed, or rows that were made for
//! this row.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use turnstile_engine::Visit;
use turnstile_expr::expr::EvalContext;
use turnstile_plan::plan::query::{CommonRows, Filter, JoinStep, Partners, SelectPlan, Source, TableSource};
use turnstile_sys::aside;
use turnstile_values::collation::Collation;
use turnstile_values::error::SqlResult;
use turnstile_values::memory::{Charge, Many, row_bytes};
use turnstile_values::value::Rows;
use turnstile_values::value::Value;

use super::join::apart::{Found, Gathering};
use super::join::{End, apart, passes, run_step};
use super::key_index::{KEY_OVERHEAD, KeyIndex};
use super::measure::{self, Watch, name_of};
use super::scan::{Fields, TableScan};
use super::select::Boxed;
use super::spill::list::List;
use super::spill::parts::Part;
use super::spill::{BLOCK_BYTES, Run, RunReader};
use super::tail::{Kept, TupleRow};
use super::{Exec, hash_key, json_table};
use crate::exec::with;

/// A source that is kept for all rows of the steps before it.
pub struct Stored {
    /// Those in memory.
    rows: Arc<Rows>,
    index: Option<HashIndex>,
    charge: Charge,
    /// It is a recursive query's last round: there will be another.
    pub(super) passes: bool,
    /// Where its rows are that are too many for memory.
    away: Option<Away>,
    /// There are more rows than these, and whether a tuple has found a partner among these is noted here.
    found: Option<Found>,
}

/// Rows in a file.
enum Away {
    /// So many, for one tuple, which reads them one after the other.
    Run(Arc<Run>, u64),
    /// For many, by their keys.
    Parts(Vec<Part>),
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

/// Opens a step's source for one tuple. `few`: so many of its rows at the beginning may be enough.
pub(super) async fn open_source<'p>(
    exec: &mut Exec<'_>,
    plan: &'p SelectPlan,
    step: &'p JoinStep,
    tuple: &mut Vec<Value>,
    few: Option<usize>,
) -> SqlResult<Opened<'p>> {
    match &step.source {
        Source::Table(_) if step.kept => match known(exec, step) {
            Some(stored) => Ok(Opened::stored(stored)),
            None => Ok(Opened::stored(stored(exec, plan, step).await?)),
        },
        Source::Table(source) => {
            let scan = TableScan::open(source, &TupleRow(tuple), exec.eval)?;
            Ok(Opened::Scan(Box::new(scan.of_few(few)), source))
        }
        Source::Derived(_) | Source::Distinct(_) | Source::Common(_) | Source::Virtual(_) => {
            match known(exec, step) {
                Some(stored) => Ok(Opened::stored(stored)),
                None => Ok(Opened::stored(stored(exec, plan, step).await?)),
            }
        }
        Source::Lateral(query) => {
            let mut kept = Kept::new(exec.eval, None);
            exec.query(query, tuple, &mut kept).await?;
            Ok(Opened::Listed(kept))
        }
        Source::Expanded(query, table) => {
            let mut kept = Kept::new(exec.eval, None);
            exec.query(query, tuple, &mut kept).await?;
            let document = kept.rows.first().and_then(|row| row.first()).unwrap_or(&Value::Null);
            let rows = json_table::expand(table, step.columns, document, exec.eval)?;
            Ok(Opened::Listed(rows))
        }
        Source::Group(steps) => {
            let mut tuples = Kept::new(exec.eval, None);
            let end = &mut End::Keep(&mut tuples);
            apart::begin(exec, steps);
            let visit = run_step(exec, plan, steps, 0, tuple, end).await?;
            if apart::has_waiting(exec) {
                apart::end(exec, plan, steps, tuple, end, visit).await?;
            }
            let columns = step.base..step.base + step.columns;
            let rows = std::mem::take(&mut tuples.rows);
            for tuple in rows {
                exec.pace().await?;
                tuples.rows.push(tuple[columns.clone()].to_vec());
            }
            Ok(Opened::Listed(tuples))
        }
    }
}

/// The next rows of a source, and whether there are more.
pub(super) async fn next_rows(
    exec: &mut Exec<'_>,
    step: &JoinStep,
    rows: &mut Opened<'_>,
    tuple: &mut [Value],
    watch: &mut impl Watch,
) -> SqlResult<(Piece, bool)> {
    match rows {
        Opened::Listed(kept) => Ok((Piece::Own(std::mem::take(&mut kept.rows)), false)),
        Opened::Apart => Ok((Piece::Own(Rows::new()), false)),
        Opened::Run(reader) => some_of_run(reader),
        Opened::Stored(stored, place) => stored.matching(step, tuple, exec.eval, place),
        Opened::Scan(scan, source) => {
            let (context, session) = (exec.eval, exec.session);
            let columns = step.base..step.base + step.columns;
            let mut found = Rows::new();
            // The source's part of the tuple is scratch space until the rows found are gone through.
            let scratch = parking_lot::Mutex::new((tuple, watch));
            // On a locking read a row that is not accepted is not shown.
            let locks = source.locking.is_some();
            let mut accept = |view: &turnstile_catalog::row_codec::RowView<'_>| {
                let (tuple, watch) = &mut *scratch.lock();
                watch.shown();
                let part = &mut tuple[columns.clone()];
                source.needed.iter().for_each(|column| part[*column] = view.get(*column));
                // An error comes up again when the row is visited.
                let wanted = passes(&step.matching, tuple, context).unwrap_or(true);
                watch.tested();
                wanted
            };
            let mut visit = |fields: Fields<'_>| {
                let (tuple, watch) = &mut *scratch.lock();
                fields.deliver(source, &mut tuple[columns.clone()]);
                if !locks {
                    watch.shown();
                }
                // The conditions are tested again with each row: if they are heavy, or after much work,
                // that is time enough.
                let tested = step.light && !session.has_worked();
                let mut next = Visit::Continue;
                if !tested || passes(&step.matching, tuple, context)? {
                    found.push(tuple[columns.clone()].to_vec());
                    // Whoever looks for one partner has found it.
                    if tested && step.partners != Partners::All {
                        next = Visit::Stop;
                    }
                }
                watch.tested();
                Ok(next)
            };
            let more = scan.batch(exec.txn, (exec.interrupt, context), &mut accept, &mut visit).await?;
            scratch.into_inner().1.read();
            Ok((Piece::Own(found), more))
        }
    }
}

/// The next rows of a run.
fn some_of_run(reader: &mut RunReader) -> SqlResult<(Piece, bool)> {
    let (mut rows, mut bytes) = (Rows::new(), 0);
    while rows.len() < ROWS_AT_ONCE && bytes < BLOCK_BYTES {
        let Some(row) = reader.next_part()? else { return Ok((Piece::Own(rows), false)) };
        bytes += row_bytes(&row);
        rows.push(row);
    }
    Ok((Piece::Own(rows), true))
}

/// A whole source that was read already.
fn known(exec: &Exec<'_>, step: &JoinStep) -> Option<Arc<Stored>> {
    exec.keeping.as_ref()?.stored_sources.get(&name_of(step)).cloned()
}

/// A whole source, read once per statement. In a box: it is opened for each row, and read for the first.
fn stored<'a>(exec: &'a mut Exec<'_>, plan: &'a SelectPlan, step: &'a JoinStep) -> Boxed<'a, Arc<Stored>> {
    Box::pin(read_whole(exec, plan, step))
}

async fn read_whole(exec: &mut Exec<'_>, plan: &SelectPlan, step: &JoinStep) -> SqlResult<Arc<Stored>> {
    let began = exec.clock();
    let mut stored = match &step.source {
        Source::Derived(query) | Source::Distinct(query) => {
            let mut kept = Kept::growing(exec);
            exec.query(query, &[], &mut kept).await?;
            let (list, charge) = kept.into_list(exec)?;
            match list {
                List::Memory(rows) => Stored::of(rows, charge),
                List::File(run, rows) => listed(exec, plan, step, run, rows).await?,
            }
        }
        Source::Common(rows) => match with::common_rows(exec, rows).await? {
            List::Memory(rows) => Stored::of(rows, exec.eval.charge()),
            List::File(run, rows) => listed(exec, plan, step, run, rows).await?,
        },
        Source::Virtual(table) => {
            aside::step().await;
            let mut charge = exec.eval.charge();
            let rows = exec.virtual_rows(*table, step, &mut charge)?;
            Stored::of(Arc::new(rows), charge)
        }
        Source::Table(source) => whole_table(exec, source, step, plan).await?,
        Source::Group(_) | Source::Lateral(_) | Source::Expanded(..) => {
            Stored::of(Arc::default(), exec.eval.charge())
        }
    };
    exec.note_since(began, name_of(step), measure::Part::Kept, stored.len());
    stored.passes = matches!(&step.source, Source::Common(CommonRows::Previous(_)));
    stored.index(exec, step).await?;
    let stored = Arc::new(stored);
    exec.keeping().stored_sources.insert(name_of(step), stored.clone());
    Ok(stored)
}

/// A list in a file as a step's source.
fn listed<'a>(
    exec: &'a mut Exec<'_>,
    plan: &'a SelectPlan,
    step: &'a JoinStep,
    run: Arc<Run>,
    rows: u64,
) -> Boxed<'a, Stored> {
    Box::pin(read_list(exec, plan, step, run, rows))
}

async fn read_list(
    exec: &mut Exec<'_>,
    plan: &SelectPlan,
    step: &JoinStep,
    run: Arc<Run>,
    rows: u64,
) -> SqlResult<Stored> {
    if plan.steps.first().is_some_and(|first| std::ptr::eq(first, step)) {
        return Ok(Stored {
            away: Some(Away::Run(run, rows)),
            ..Stored::of(Arc::default(), exec.eval.charge())
        });
    }
    let mut gathering = Gathering::new(exec, plan, step);
    let mut reader = RunReader::new(&run);
    while let Some(row) = reader.next_part()? {
        exec.pace().await?;
        gathering.charge.add_row(&row)?;
        gathering.rows.push(row);
        if gathering.is_over() {
            gathering.settle(exec).await?;
        }
    }
    gathering.finish(exec)
}

async fn whole_table(
    exec: &mut Exec<'_>,
    source: &TableSource,
    step: &JoinStep,
    plan: &SelectPlan,
) -> SqlResult<Stored> {
    let (context, session) = (exec.eval, exec.session);
    let mut tuple = vec![Value::Null; plan.width];
    let mut scan = TableScan::open(source, &TupleRow(&tuple), context)?;
    let columns = step.base..step.base + step.columns;
    // What speaks of this table alone is tested while it is read.
    let own: Vec<&Filter> = step
        .matching
        .iter()
        .filter(|one| one.subqueries.is_empty() && one.expr.columns().iter().all(|at| columns.contains(at)))
        .collect();
    let mut gathering = Gathering::new(exec, plan, step);
    let began = exec.clock();
    let mut read = 0;
    loop {
        let Gathering { rows, charge, .. } = &mut gathering;
        let known = rows.len();
        let mut visit = |fields: Fields<'_>| {
            fields.deliver(source, &mut tuple[columns.clone()]);
            read += 1;
            // They are tested again with each row: after much work that is time enough.
            for filter in own.iter().filter(|_| step.light && !session.has_worked()) {
                if filter.expr.eval_truth(&TupleRow(&tuple), context)? != Some(true) {
                    return Ok(Visit::Continue);
                }
            }
            charge.add_row(&tuple[columns.clone()])?;
            rows.push(tuple[columns.clone()].to_vec());
            Ok(Visit::Continue)
        };
        let more = scan.batch(exec.txn, (exec.interrupt, context), &mut |_| true, &mut visit).await;
        if more.is_err() {
            exec.note_since(began, name_of(step), measure::Part::Read, read);
        }
        let more = more?;
        if !step.light {
            keep_passing(exec, rows, known, &own, (&mut tuple, columns.clone()), charge).await?;
        }
        if gathering.is_over() {
            gathering.settle(exec).await?;
        }
        if !more {
            exec.note_since(began, name_of(step), measure::Part::Read, read);
            return gathering.finish(exec);
        }
        exec.breathe().await;
    }
}

/// Drops the rows from `known` on that do not pass the filters.
async fn keep_passing(
    exec: &mut Exec<'_>,
    rows: &mut Rows,
    known: usize,
    filters: &[&Filter],
    (tuple, columns): (&mut [Value], Range<usize>),
    charge: &mut Charge,
) -> SqlResult<()> {
    for row in rows.split_off(known) {
        exec.pace().await?;
        tuple[columns.clone()].clone_from_slice(&row);
        let mut passes = true;
        for filter in filters {
            passes = passes && filter.expr.eval_truth(&TupleRow(tuple), exec.eval)? == Some(true);
        }
        if passes {
            rows.push(row);
        } else {
            charge.subtract(row_bytes(&row));
        }
    }
    Ok(())
}

/// A source while a tuple runs through it.
pub(super) enum Opened<'p> {
    Scan(Box<TableScan<'p>>, &'p TableSource),
    Stored(Arc<Stored>, Place),
    Run(RunReader),
    /// The tuple is to wait for its part.
    Apart,
    Listed(Kept),
}

impl Opened<'_> {
    fn stored(stored: Arc<Stored>) -> Self {
        match &stored.away {
            None => Opened::Stored(stored, Place::default()),
            Some(Away::Run(run, _)) => Opened::Run(RunReader::new(run)),
            Some(Away::Parts(_)) => Opened::Apart,
        }
    }

    /// Whether a tuple that was matched or not has no partner at all. If there are more rows to come, that
    /// is found out later.
    pub(super) fn is_alone(&self, matched: bool) -> bool {
        match self {
            Opened::Stored(stored, _) if let Some(found) = &stored.found => {
                found.fetch_or(matched, Ordering::Relaxed);
                false
            }
            _ => !matched,
        }
    }
}

/// How far a tuple is in the rows kept in memory.
#[derive(Default)]
pub(super) struct Place {
    /// The number of the tuple's key, once it is looked up; no row has the key if there is none.
    key: Option<Option<usize>>,
    next: usize,
}

/// Some rows of a source.
pub(super) enum Piece {
    Own(Rows),
    Stored(Arc<Stored>, Range<usize>),
    /// Those with the key of this number.
    Keyed(Arc<Stored>, usize, Range<usize>),
}

impl Piece {
    pub(super) fn len(&self) -> usize {
        match self {
            Piece::Own(rows) => rows.len(),
            Piece::Stored(_, range) | Piece::Keyed(_, _, range) => range.len(),
        }
    }

    /// Puts a row into its part of a tuple. One that is nobody else's is moved there: it is put once only.
    pub(super) fn put(&mut self, at: usize, into: &mut [Value]) {
        let row = match self {
            Piece::Own(rows) => return rows[at].swap_with_slice(into),
            Piece::Stored(stored, range) => &stored.rows[range.start + at],
            Piece::Keyed(stored, key, range) => &stored.rows[stored.rows_of(*key)[range.start + at] as usize],
        };
        into.clone_from_slice(row);
    }
}

impl Stored {
    /// Rows in memory, not hashed yet.
    pub(super) fn of(rows: Arc<Rows>, charge: Charge) -> Stored {
        Stored { rows, index: None, charge, passes: false, away: None, found: None }
    }

    /// Rows in parts.
    pub(super) fn apart(parts: Vec<Part>) -> Stored {
        Stored { away: Some(Away::Parts(parts)), ..Stored::of(Arc::default(), Charge::default()) }
    }

    /// There are more rows than these.
    pub(super) fn into_piece(self) -> Stored {
        Stored { found: Some(Found::default()), ..self }
    }

    /// Rows there are, wherever they are.
    fn len(&self) -> usize {
        let rows = match &self.away {
            None => return self.rows.len(),
            Some(Away::Run(_, rows)) => *rows,
            Some(Away::Parts(parts)) => parts.iter().map(|part| part.rows).sum(),
        };
        usize::try_from(rows).unwrap_or(usize::MAX)
    }

    /// The parts its rows are in.
    pub(super) fn parts(&self) -> &[Part] {
        match &self.away {
            Some(Away::Parts(parts)) => parts,
            _ => &[],
        }
    }

    /// Where it is noted that a tuple has found a partner, if there are more rows than these.
    pub(super) fn found(&self) -> Option<&Found> {
        self.found.as_ref()
    }

    /// Hashes rows in memory by the step's keys, if it has any.
    pub(super) async fn index(&mut self, exec: &mut Exec<'_>, step: &JoinStep) -> SqlResult<()> {
        if step.hash.is_empty() || self.away.is_some() {
            return Ok(());
        }
        let mut index = HashIndex::default();
        let mut key = Vec::new();
        for (nth, row) in self.rows.iter().enumerate() {
            exec.pace().await?;
            if key_of_row(step, row, &mut key) {
                self.charge.add(size_of::<u32>())?;
                match index.keys.get_or_insert(&key) {
                    Some(at) => index.rows[at].push(nth as u32),
                    None => {
                        self.charge.add(key.len() + KEY_OVERHEAD + size_of::<Vec<u32>>())?;
                        index.rows.push(vec![nth as u32]);
                    }
                }
            }
        }
        self.index = Some(index);
        Ok(())
    }

    /// The rows with a key, by its number.
    fn rows_of(&self, key: usize) -> &[u32] {
        self.index.as_ref().and_then(|index| index.rows.get(key)).map_or(&[], Vec::as_slice)
    }

    /// The next rows for a tuple, and whether there are more.
    fn matching(
        self: &Arc<Stored>,
        step: &JoinStep,
        tuple: &[Value],
        context: &EvalContext<'_>,
        place: &mut Place,
    ) -> SqlResult<(Piece, bool)> {
        if let (Some(index), None) = (&self.index, place.key) {
            let mut key = Vec::new();
            let known = key_of_tuple(step, tuple, context, &mut key)?;
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

/// The key of a source's row; false if a value is NULL, which equals nothing.
pub(super) fn key_of_row(step: &JoinStep, row: &[Value], key: &mut Vec<u8>) -> bool {
    key.clear();
    append_all(step.hash.iter().map(|(_, column, collation)| (&row[*column], *collation)), key)
}

/// The key that a tuple looks for; false if a value is NULL.
pub(super) fn key_of_tuple(
    step: &JoinStep,
    tuple: &[Value],
    context: &EvalContext<'_>,
    key: &mut Vec<u8>,
) -> SqlResult<bool> {
    key.clear();
    let mut values = Vec::with_capacity(step.hash.len());
    for (expr, _, collation) in &step.hash {
        values.push((expr.eval(&TupleRow(tuple), context)?, *collation));
    }
    Ok(append_all(values.iter().map(|(value, collation)| (value, *collation)), key))
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
