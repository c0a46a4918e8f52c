//! What a step of a join reads: a table's scan, rows kept in memory and hashed, or rows that were made for
//! this row.

use std::ops::Range;
use std::sync::Arc;

use turnstile_engine::Visit;
use turnstile_expr::expr::EvalContext;
use turnstile_plan::plan::query::{CommonRows, Filter, JoinStep, SelectPlan, Source, TableSource};
use turnstile_sys::aside;
use turnstile_values::collation::Collation;
use turnstile_values::error::SqlResult;
use turnstile_values::memory::{Charge, Many, row_bytes};
use turnstile_values::value::Rows;
use turnstile_values::value::Value;

use super::join::{End, passes, run_step};
use super::key_index::{KEY_OVERHEAD, KeyIndex};
use super::measure::{Part, Watch, name_of};
use super::scan::{Fields, TableScan};
use super::tail::{Kept, TupleRow};
use super::{Exec, hash_key, json_table};
use crate::exec::with;

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

/// Opens a step's source for one tuple.
pub(super) async fn open_source<'p>(
    exec: &mut Exec<'_>,
    plan: &'p SelectPlan,
    step: &'p JoinStep,
    tuple: &mut Vec<Value>,
) -> SqlResult<Opened<'p>> {
    match &step.source {
        Source::Table(_) if step.kept => {
            Ok(Opened::Stored(stored(exec, plan, step).await?, Place::default()))
        }
        Source::Table(source) => {
            Ok(Opened::Scan(Box::new(TableScan::open(source, &TupleRow(tuple), exec.eval)?), source))
        }
        Source::Derived(_) | Source::Distinct(_) | Source::Common(_) | Source::Virtual(_) => {
            Ok(Opened::Stored(stored(exec, plan, step).await?, Place::default()))
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
            run_step(exec, plan, steps, 0, tuple, &mut End::Keep(&mut tuples)).await?;
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
                if !step.light || session.has_worked() || passes(&step.matching, tuple, context)? {
                    found.push(tuple[columns.clone()].to_vec());
                }
                watch.tested();
                Ok(Visit::Continue)
            };
            let more = scan.batch(exec.txn, exec.interrupt, &mut accept, &mut visit).await?;
            scratch.into_inner().1.read();
            Ok((Piece::Own(found), more))
        }
    }
}

/// A whole source in memory, read once per statement.
async fn stored(exec: &mut Exec<'_>, plan: &SelectPlan, step: &JoinStep) -> SqlResult<Arc<Stored>> {
    let name = std::ptr::from_ref(step) as usize;
    if let Some(stored) = exec.keeping.as_ref().and_then(|keeping| keeping.stored_sources.get(&name)) {
        return Ok(stored.clone());
    }
    let began = exec.clock();
    let mut charge = exec.eval.charge();
    let rows = match &step.source {
        Source::Derived(query) | Source::Distinct(query) => {
            let mut kept = Kept::new(exec.eval, None);
            exec.query(query, &[], &mut kept).await?;
            charge = kept.charge;
            Arc::new(kept.rows)
        }
        Source::Common(rows) => with::common_rows(exec, rows).await?,
        Source::Virtual(table) => {
            aside::step().await;
            Arc::new(exec.virtual_rows(*table, step, &mut charge)?)
        }
        Source::Table(source) => Arc::new(whole_table(exec, source, step, plan.width, &mut charge).await?),
        Source::Group(_) | Source::Lateral(_) | Source::Expanded(..) => Arc::default(),
    };
    exec.note_since(began, name, Part::Kept, rows.len());
    let passes = matches!(&step.source, Source::Common(CommonRows::Previous(_)));
    let mut stored = Stored { rows, index: None, charge, passes };
    if !step.hash.is_empty() {
        build_index(exec, &mut stored, step).await?;
    }
    let stored = Arc::new(stored);
    exec.keeping().stored_sources.insert(name, stored.clone());
    Ok(stored)
}

async fn build_index(exec: &mut Exec<'_>, stored: &mut Stored, step: &JoinStep) -> SqlResult<()> {
    let mut index = HashIndex::default();
    let mut key = Vec::new();
    for (nth, row) in stored.rows.iter().enumerate() {
        exec.pace().await?;
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
    exec: &mut Exec<'_>,
    source: &TableSource,
    step: &JoinStep,
    width: usize,
    charge: &mut Charge,
) -> SqlResult<Rows> {
    let (context, session) = (exec.eval, exec.session);
    let mut tuple = vec![Value::Null; width];
    let mut scan = TableScan::open(source, &TupleRow(&tuple), context)?;
    let columns = step.base..step.base + step.columns;
    // What speaks of this table alone is tested while it is read.
    let own: Vec<&Filter> = step
        .matching
        .iter()
        .filter(|one| one.subqueries.is_empty() && one.expr.columns().iter().all(|at| columns.contains(at)))
        .collect();
    let mut rows = Rows::new();
    let began = exec.clock();
    let mut read = 0;
    loop {
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
        let more = scan.batch(exec.txn, exec.interrupt, &mut |_| true, &mut visit).await;
        if more.is_err() {
            exec.note_since(began, name_of(step), Part::Read, read);
        }
        let more = more?;
        if !step.light {
            keep_passing(exec, &mut rows, known, &own, (&mut tuple, columns.clone()), charge).await?;
        }
        if !more {
            exec.note_since(began, name_of(step), Part::Read, read);
            return Ok(rows);
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
    Listed(Kept),
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

    pub(super) fn row(&self, at: usize) -> &[Value] {
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

    /// The next rows for a tuple, and whether there are more.
    fn matching(
        self: &Arc<Stored>,
        step: &JoinStep,
        tuple: &[Value],
        context: &EvalContext<'_>,
        place: &mut Place,
    ) -> SqlResult<(Piece, bool)> {
        if let (Some(index), None) = (&self.index, place.key) {
            let mut values = Vec::new();
            for (expr, _, collation) in &step.hash {
                values.push((expr.eval(&TupleRow(tuple), context)?, *collation));
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
