//! Reading a table by a plan's access path, one leaf (or one locked row) at a time; in `loose.rs` from group
//! to group.

mod found;
mod loose;

use std::collections::VecDeque;
use std::sync::Arc;

use turnstile_engine::interrupt::Interrupt;
use turnstile_engine::{Read, Scan, ScanIndex, ScanSpec, Txn, Visit};

use found::Found;

use super::key_index::{KEY_OVERHEAD, KeyIndex};
use super::tail::TupleRow;
use turnstile_catalog::dictionary::Table;
use turnstile_catalog::row_codec::RowView;
use turnstile_expr::expr::{EvalContext, Expr, Row, Warnings};
use turnstile_plan::plan::key_ranges::{ByteRange, ranges as key_ranges};
use turnstile_plan::plan::query::{Pushed, TableSource};
use turnstile_values::error::{SqlError, SqlResult};
use turnstile_values::memory::Charge;
use turnstile_values::value::Value;

/// A row where the engine shows it.
pub enum Fields<'r> {
    /// A row, and its primary key.
    Row {
        /// The row.
        view: RowView<'r>,
        /// Its primary key bytes.
        pk: &'r [u8],
    },
    /// An index entry that holds all that is wanted.
    Entry {
        /// The table.
        table: &'r Table,
        /// The key.
        key: usize,
        /// The entry's bytes: the key's, then the primary key's.
        bytes: &'r [u8],
    },
}

impl Fields<'_> {
    /// Puts the wanted columns into a table's part of a tuple.
    pub fn fill(&self, needed: &[usize], into: &mut [Value]) {
        match self {
            Fields::Row { view, .. } => needed.iter().for_each(|column| into[*column] = view.get(*column)),
            Fields::Entry { table, key, bytes } => fill_from_entry(table, *key, bytes, needed, into),
        }
    }

    /// Puts what a step delivers into its part of a tuple.
    pub fn deliver(&self, source: &TableSource, into: &mut [Value]) {
        self.fill(&source.needed, into);
        if source.numbers
            && let Some(place) = into.last_mut()
        {
            *place = Value::Bytes(self.primary_key().into());
        }
    }

    /// Primary key bytes, where a row is shown.
    pub fn primary_key(&self) -> &[u8] {
        match self {
            Fields::Row { pk, .. } => pk,
            Fields::Entry { .. } => &[],
        }
    }
}

fn fill_from_entry(table: &Table, key: usize, bytes: &[u8], needed: &[usize], into: &mut [Value]) {
    let mut rest = bytes;
    let primary = table.primary().filter(|primary| *primary != key);
    for nth in std::iter::once(key).chain(primary) {
        for (part, codec) in table.keys()[nth].parts.iter().zip(&table.key_parts[nth]) {
            let Some(value) = codec.take(&mut rest) else { return };
            if needed.binary_search(&part.column).is_ok() {
                into[part.column] = value;
            }
        }
    }
}

/// A tuple with what conditions on entries read besides the entry.
fn beside(pushed: &Pushed, row: &dyn Row) -> Vec<Value> {
    let mut tuple = vec![Value::Null; pushed.width];
    pushed.others.iter().for_each(|at| tuple[*at] = row.value(*at));
    tuple
}

/// Whether the row of an entry is to be fetched. What a condition fails on, or warns of, is told when the row
/// is tested, if it comes to that.
fn is_wanted(
    source: &TableSource,
    table: &Table,
    entry: &[u8],
    tuple: &mut [Value],
    context: &EvalContext<'_>,
) -> bool {
    let (Some(pushed), Some(key)) = (&source.pushed, source.access.key) else { return true };
    fill_from_entry(table, key, entry, &pushed.columns, &mut tuple[pushed.base..]);
    let holds = |one: &Expr| !matches!(one.eval_truth(&TupleRow(tuple), context), Ok(Some(false) | None));
    pushed.conditions.iter().all(holds)
}

/// Primary keys of rows that were met.
struct Met {
    keys: KeyIndex,
    charge: Charge,
}

impl Met {
    fn is_new(&mut self, key: &[u8]) -> SqlResult<bool> {
        if self.keys.get_or_insert(key).is_some() {
            return Ok(false);
        }
        self.charge.add(key.len() + KEY_OVERHEAD)?;
        Ok(true)
    }
}

/// A table being read.
pub struct TableScan<'p> {
    source: &'p TableSource,
    table: Arc<Table>,
    index: ScanIndex,
    ranges: VecDeque<(ScanIndex, ByteRange)>,
    /// Rows that were met, where several keys find some each.
    met: Option<Met>,
    current: Option<Scan>,
    read: Read,
    done: bool,
    semi_consistent: bool,
    few: Option<usize>,
    /// The tuple that conditions on entries see.
    asked: Vec<Value>,
    /// Rows that other keys find, too.
    found: Option<Box<Found>>,
}

/// What a visitor of rows is.
pub type RowVisitor<'v> = dyn FnMut(Fields<'_>) -> SqlResult<Visit> + Send + 'v;

impl<'p> TableScan<'p> {
    /// Prepares reading `source` for one tuple.
    pub fn open(
        source: &'p TableSource,
        row: &dyn Row,
        context: &EvalContext<'_>,
    ) -> SqlResult<TableScan<'p>> {
        let table = source.table.clone();
        let mut ranges = VecDeque::new();
        for access in [&source.access].into_iter().chain(&source.also) {
            let index = access.key.map_or(ScanIndex::Clustered, |key| table.scan_index(key));
            let mut found = key_ranges(&table, access, row, context)?;
            if access.reverse {
                found.reverse();
            }
            ranges.extend(found.into_iter().map(|range| (index, range)));
        }
        let index = source.access.key.map_or(ScanIndex::Clustered, |key| table.scan_index(key));
        let met =
            (!source.also.is_empty()).then(|| Met { keys: KeyIndex::default(), charge: context.charge() });
        let read = match source.locking {
            Some((lock, wait)) => Read::Locking { lock, wait },
            None => Read::Consistent,
        };
        Ok(TableScan {
            source,
            table,
            index,
            ranges,
            met,
            current: None,
            read,
            done: false,
            semi_consistent: false,
            few: None,
            found: Found::of(source, row, context)?,
            asked: source.pushed.as_deref().map_or_else(Vec::new, |pushed| beside(pushed, row)),
        })
    }

    /// Rows are read for UPDATE: under READ COMMITTED a taken row is judged by its last committed version
    /// first.
    pub fn for_update_statement(mut self, yes: bool) -> Self {
        self.semi_consistent = yes;
        self
    }

    /// So many rows at the beginning are wanted.
    pub fn of_few(mut self, rows: Option<usize>) -> Self {
        self.few = rows;
        self
    }

    /// No more rows are wanted.
    pub fn stop(&mut self) {
        self.done = true;
    }

    /// See [`TableScan::stop`].
    pub fn is_stopped(&self) -> bool {
        self.done
    }

    /// Shows the next rows to `visit`; false when there are no more. `accept` decides early, on a locking
    /// read, whether a row is wanted (READ COMMITTED gives the lock back if not).
    pub async fn batch(
        &mut self,
        txn: &mut Txn,
        (interrupt, context): (&Interrupt, &EvalContext<'_>),
        accept: &mut (dyn FnMut(&RowView<'_>) -> bool + Send),
        visit: &mut RowVisitor<'_>,
    ) -> SqlResult<bool> {
        interrupt.check()?;
        if self.done {
            return Ok(false);
        }
        if let Some(found) = self.found.as_mut().filter(|found| found.is_gathering()) {
            found.gather(txn, &self.table).await?;
            return Ok(true);
        }
        if let Some(loose) = self.source.loose {
            return self.groups(txn, loose, visit).await;
        }
        if self.current.is_none() {
            let Some((index, range)) = self.ranges.pop_front() else { return Ok(false) };
            self.index = index;
            if range.point && self.index == ScanIndex::Clustered {
                self.point(txn, &range, accept, visit).await?;
                return Ok(!self.done && !self.ranges.is_empty());
            }
            let (lower, upper) = range.bounds();
            let spec = ScanSpec {
                index: self.index,
                lower,
                upper,
                reverse: self.source.access.reverse,
                mode: self.read,
                fetch_row: !self.source.covering,
            };
            let mut scan = txn.scan(&self.table.engine, spec);
            if range.point {
                scan.seek_one_value();
            }
            if let Some(few) = self.few {
                scan.want_few(few);
            }
            if !self.semi_consistent {
                scan.wait_for_taken_rows();
            }
            self.current = Some(scan);
        }
        let more = match self.read {
            Read::Consistent => self.leaf(txn, context, visit).await?,
            Read::Locking { .. } => self.locked(txn, context, accept, visit).await?,
        };
        if !more {
            self.current = None;
        }
        Ok(!self.done && (more || !self.ranges.is_empty()))
    }

    async fn leaf(
        &mut self,
        txn: &mut Txn,
        context: &EvalContext<'_>,
        visit: &mut RowVisitor<'_>,
    ) -> SqlResult<bool> {
        let Some(scan) = &mut self.current else { return Ok(false) };
        let mut failed = None;
        let mut stopped = false;
        let table = &self.table;
        let covering = self.source.covering.then_some(self.source.access.key).flatten();
        let met = &mut self.met;
        let mut show = |key: &[u8], pk: &[u8], row: &[u8]| {
            match met.as_mut().map(|met| met.is_new(pk)) {
                None | Some(Ok(true)) => {}
                Some(Ok(false)) => return Visit::Continue,
                Some(Err(error)) => {
                    failed = Some(error);
                    return Visit::Stop;
                }
            }
            let outcome = match covering {
                Some(nth) => visit(Fields::Entry { table, key: nth, bytes: key }),
                None => match RowView::new(&table.layout, row) {
                    Ok(view) => visit(Fields::Row { view, pk }),
                    Err(_) => Err(SqlError::crashed_table(table.name())),
                },
            };
            outcome.unwrap_or_else(|error| {
                failed = Some(error);
                Visit::Stop
            })
        };
        let mut watch = |key: &[u8], pk: &[u8], row: &[u8]| {
            let next = show(key, pk, row);
            stopped |= next == Visit::Stop;
            next
        };
        let unheard = Warnings::new();
        let context = &EvalContext { warnings: &unheard, ..*context };
        let (source, asked, found) = (self.source, &mut self.asked, self.found.as_deref());
        let mut wanted = |entry: &[u8], pk: &[u8]| {
            found.is_none_or(|found| found.has(pk)) && is_wanted(source, table, entry, asked, context)
        };
        let more = scan.batch_of(txn, &mut wanted, &mut watch).await?;
        if let Some(error) = failed {
            return Err(error);
        }
        self.done |= stopped;
        Ok(more)
    }

    async fn locked(
        &mut self,
        txn: &mut Txn,
        context: &EvalContext<'_>,
        accept: &mut (dyn FnMut(&RowView<'_>) -> bool + Send),
        visit: &mut RowVisitor<'_>,
    ) -> SqlResult<bool> {
        let Some(scan) = &mut self.current else { return Ok(false) };
        let layout = self.table.layout.clone();
        let unheard = Warnings::new();
        let context = &EvalContext { warnings: &unheard, ..*context };
        let (source, table, asked) = (self.source, &self.table, &mut self.asked);
        let mut entry = |entry: &[u8], _: &[u8]| is_wanted(source, table, entry, asked, context);
        let mut wanted = |row: &[u8]| RowView::new(&layout, row).is_ok_and(|view| accept(&view));
        let next = scan.locked_next_of(txn, &mut entry, &mut wanted).await?;
        let Some((pk, row)) = next else { return Ok(false) };
        if let Some(met) = &mut self.met
            && !met.is_new(&pk)?
        {
            return Ok(true);
        }
        let view =
            RowView::new(&self.table.layout, &row).map_err(|_| SqlError::crashed_table(self.table.name()))?;
        self.done |= visit(Fields::Row { view, pk: &pk })? == Visit::Stop;
        Ok(true)
    }

    /// One whole primary key.
    async fn point(
        &mut self,
        txn: &mut Txn,
        range: &ByteRange,
        accept: &mut (dyn FnMut(&RowView<'_>) -> bool + Send),
        visit: &mut RowVisitor<'_>,
    ) -> SqlResult<()> {
        let key = range.lower.as_deref().unwrap_or_default();
        if let Some(met) = &mut self.met
            && !met.is_new(key)?
        {
            return Ok(());
        }
        let table = self.table.clone();
        let damaged = || SqlError::crashed_table(table.name());
        let Read::Locking { lock, wait } = self.read else {
            let mut outcome = Ok(Visit::Continue);
            let mut show = |row: &[u8]| {
                outcome = match RowView::new(&table.layout, row) {
                    Ok(view) => visit(Fields::Row { view, pk: key }),
                    Err(_) => Err(damaged()),
                };
            };
            txn.get_with(&self.table.engine, key, &mut show).await?;
            self.done |= outcome? == Visit::Stop;
            return Ok(());
        };
        // A damaged row is wanted: it is complained of below.
        let mut wanted = |row: &[u8]| RowView::new(&table.layout, row).map_or(true, |view| accept(&view));
        if let Some(row) = txn.get_wanted(&self.table.engine, key, (lock, wait), &mut wanted).await? {
            let view = RowView::new(&table.layout, &row).map_err(|_| damaged())?;
            self.done |= visit(Fields::Row { view, pk: key })? == Visit::Stop;
        }
        Ok(())
    }
}
