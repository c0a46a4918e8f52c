//! AUTO_INCREMENT values and hidden row numbers.
//!
//! Both are counters in memory. Values are given without waiting for other transactions
//! (`innodb_autoinc_lock_mode` 2), to a statement that lists its rows all at once (`Numbers`), so a rolled
//! back one leaves a gap; those below AUTO_INCREMENT= of the definition are never given.
//!
//! AUTO_INCREMENT is durable as in MySQL 8: each row that is inserted, and each change of the column to a
//! larger value, carries the counter into its own mini-transaction (`Txn::carry_counter`). After a restart,
//! clean or not, the counter stands where the last change that the log kept has put it, whether its row is
//! still there or not. The first INSERT into a table makes the durable counter, from the largest key in the
//! tree. Numbers of rows that were never inserted may be given again by the next life, as MySQL does.
//!
//! The counter of a column that is full stands at the column's largest value, which is given again and which
//! its key refuses; that of BIGINT UNSIGNED is kept for "there is none". A counter that AUTO_INCREMENT= put
//! beyond the largest value gives none.
//!
//! Hidden row numbers begin behind the last key of the tree, deleted rows and uncommitted ones included: a
//! row that is deleted and comes back with a rollback must not meet another one with its number.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use turnstile_engine::{Engine, Isolation, ScanSpec, TxnOptions, Visit};

use super::apply::Storing;
use crate::exec::Exec;
use crate::exec::change::apply;
use turnstile_catalog::dictionary::Table;
use turnstile_catalog::row_codec::RowView;
use turnstile_expr::expr::SqlMode;
use turnstile_plan::plan::change::{InsertPlan, InsertSource};
use turnstile_values::error::{SqlError, SqlResult};
use turnstile_values::value::Value;

/// A value as an AUTO_INCREMENT number.
pub fn as_number(value: &Value) -> Option<u64> {
    match value {
        Value::Int(number) => u64::try_from(*number).ok(),
        Value::UInt(number) => Some(*number),
        Value::Double(number) if *number >= 0.0 => Some(*number as u64),
        _ => None,
    }
}

/// What a client is told of an AUTO_INCREMENT column's value: its bits.
pub(super) fn told(value: &Value) -> u64 {
    match value {
        Value::Int(number) => *number as u64,
        Value::Double(number) => *number as i64 as u64,
        other => as_number(other).unwrap_or(0),
    }
}

/// The largest AUTO_INCREMENT value of a table's rows, committed or not; 0 if there is none. The column is
/// the first of some key.
pub async fn largest_there(
    engine: &Arc<Engine>,
    table: &Table,
    column: usize,
    options: TxnOptions,
) -> SqlResult<u64> {
    let by = (0..table.keys().len()).find(|nth| table.keys()[*nth].parts[0].column == column);
    let Some(key) = by else { return Ok(0) };
    let options = TxnOptions { isolation: Isolation::ReadUncommitted, read_only: true, ..options };
    let mut txn = engine.begin(options);
    let reverse = !table.keys()[key].parts[0].descending;
    let spec = ScanSpec { reverse, ..ScanSpec::all(table.scan_index(key)) };
    let mut scan = txn.scan(&table.engine, spec);
    let mut last = None;
    let mut visit = |_: &[u8], _: &[u8], row: &[u8]| {
        last = RowView::new(&table.layout, row).ok().map(|view| view.get(column));
        Visit::Stop
    };
    while txn.scan_batch(&mut scan, &mut visit).await? {}
    txn.rollback().await?;
    Ok(last.as_ref().and_then(as_number).unwrap_or(0))
}

/// The most values that an INSERT of unknown length takes at once.
const MOST_AT_ONCE: u64 = 65_535;

/// The AUTO_INCREMENT values of one INSERT. A statement that lists its rows takes one for each of them when
/// it needs the first, so that they follow each other whatever other statements do meanwhile; those it does
/// not use are lost. Any other takes 1, 2, 4, ... as it goes.
#[derive(Default)]
pub(super) struct Numbers {
    /// How many rows the statement lists, if it does.
    rows: Option<u64>,
    /// The next value; 0 before the first.
    next: u64,
    /// Behind the last value that was taken.
    end: u64,
    /// `next` before this row.
    before: u64,
    /// Rows for which values were taken, and which have not come.
    left: u64,
    /// How often values were taken.
    times: u32,
    step: u64,
    offset: u64,
    /// The values are those of `insert_id`, not of the counter.
    forced: bool,
    /// Above the values that rows were given otherwise, while the counter does not know of them; 0 if there
    /// are none.
    unnoted: u64,
    /// What the column of the last row holds, or was to hold, as it is told the client.
    pub(super) last: u64,
}

impl Numbers {
    pub(super) fn of(plan: &InsertPlan) -> Numbers {
        let rows = match &plan.source {
            InsertSource::Rows(rows) => Some(rows.len() as u64),
            InsertSource::Literals(rows) => Some(rows.len() as u64),
            InsertSource::Query(_) => None,
        };
        Numbers { rows, ..Numbers::default() }
    }

    /// The smallest offset + n * step that is not below `least`; u64::MAX if there is none. The offset counts
    /// only for steps larger than one. One beyond the step begins where MySQL's arithmetic of 64 bits, which
    /// passes its end there, has it begin.
    fn fitting(&self, least: u64) -> u64 {
        let below = least.max(1) - 1;
        if self.step <= 1 {
            return below.saturating_add(1);
        }
        let steps = below.wrapping_add(self.step).wrapping_sub(self.offset) / self.step;
        let next = steps.wrapping_mul(self.step).wrapping_add(self.offset);
        if next > below { next } else { u64::MAX }
    }

    /// Where the counter goes on behind `count` values of which `first` is the first.
    fn behind(&self, first: u64, count: u64) -> u64 {
        let block = count.saturating_mul(self.step.max(1));
        if self.step <= 1 {
            return first.saturating_add(block);
        }
        let whole = first.abs_diff(self.offset) / self.step * self.step;
        whole.saturating_add(block).saturating_add(self.offset)
    }

    /// The largest offset + n * step that is not above `most`.
    fn fitting_below(&self, most: u64) -> u64 {
        if self.step <= 1 || most < self.offset {
            return most;
        }
        (most - self.offset) / self.step * self.step + self.offset
    }

    /// A row brings its own value: those after it get greater ones.
    fn pass(&mut self, given: u64) {
        self.unnoted = self.unnoted.max(given.saturating_add(1));
        if self.next != 0 && given >= self.next {
            self.next = self.fitting(given.saturating_add(1));
        }
    }

    /// The row was not inserted: the next one gets its value.
    pub(super) fn give_back(&mut self, generated: Option<u64>) {
        self.next = generated.unwrap_or(self.before);
        self.unnoted = 0;
    }
}

/// Makes sure that a table's counters stand where they should.
pub(super) async fn prepare_counters(exec: &mut Exec<'_>, table: &Table) -> SqlResult<()> {
    let counters = &table.counters;
    if table.primary().is_none() && counters.row_id.load(Ordering::Acquire) == 0 {
        let last = exec.db.engine().last_key(table.definition.clustered)?;
        let last = last.and_then(|key| Some(u64::from_be_bytes(key.try_into().ok()?))).unwrap_or(0);
        counters.row_id.fetch_max(last + 1, Ordering::AcqRel);
    }
    let Some(column) = table.auto_column else { return Ok(()) };
    if counters.slot.get().is_none() {
        let last = largest_there(exec.db.engine(), table, column, exec.txn.options().clone()).await?;
        let most = table.columns()[column].kind.largest_counted();
        let next = last.saturating_add(1).min(most).max(table.definition.auto_increment).max(1);
        counters.auto_increment.fetch_max(next, Ordering::AcqRel);
        let slot = exec.db.engine().make_counter(table.definition.clustered, next)?;
        counters.slot.get_or_init(|| slot);
    }
    Ok(())
}

/// The rows about to be inserted or changed make it durable how far the counter has come: above `number`.
pub(super) fn carry_auto_increment(exec: &mut Exec<'_>, table: &Table, number: u64) {
    if let Some(slot) = table.counters.slot.get()
        && number >= table.counters.logged.load(Ordering::Acquire)
    {
        exec.txn.carry_counter(*slot, number.saturating_add(1));
    }
}

/// A row with this number was inserted: if nothing is carried any more, the log has the number.
pub(super) fn auto_increment_is_logged(exec: &Exec<'_>, table: &Table, number: u64) {
    if !exec.txn.carries_counter() {
        table.counters.logged.fetch_max(number.saturating_add(1), Ordering::AcqRel);
    }
}

/// A row gets a value in the AUTO_INCREMENT column by UPDATE, if it does: one that is larger than any
/// before becomes durable, whether or not the change succeeds. The counter itself is moved behind a
/// change that has succeeded.
pub(super) async fn raise_auto_increment(
    exec: &mut Exec<'_>,
    table: &Table,
    change: Option<&(usize, Value)>,
) -> SqlResult<()> {
    let Some(number) = change.and_then(|(_, value)| as_number(value)) else { return Ok(()) };
    prepare_counters(exec, table).await?;
    if number >= table.counters.auto_increment.load(Ordering::Acquire) {
        carry_auto_increment(exec, table, number);
    }
    Ok(())
}

/// The next hidden row number, as key bytes.
pub(super) fn next_row_id(table: &Table) -> [u8; 8] {
    table.counters.row_id.fetch_add(1, Ordering::AcqRel).to_be_bytes()
}

/// Puts an AUTO_INCREMENT value into a row that has none; returns it if it was generated.
pub(super) fn number_row(
    exec: &Exec<'_>,
    table: &Table,
    column: usize,
    row: &mut [Value],
    numbers: &mut Numbers,
) -> SqlResult<Option<u64>> {
    let keeps_zero = exec.eval.settings.sql_mode.has(SqlMode::NO_AUTO_VALUE_ON_ZERO);
    let zero = matches!(row[column], Value::Int(0) | Value::UInt(0));
    numbers.before = numbers.next;
    let most = table.columns()[column].kind.largest_counted();
    let generated = if !row[column].is_null() && (keeps_zero || !zero) {
        let given = as_number(&row[column]);
        numbers.last = told(&row[column]);
        if let Some(given) = given {
            numbers.pass(given);
        }
        None
    } else {
        let value = next_number(exec, table, numbers, most)?;
        let storing = Storing { eval: exec.eval, strict: true, row: 1 };
        row[column] = storing.store(table, column, &Value::UInt(value))?;
        numbers.last = value;
        Some(value)
    };
    numbers.left = numbers.left.saturating_sub(1);
    Ok(generated)
}

/// The next AUTO_INCREMENT value of a statement, out of those it has taken if there are any left.
fn next_number(exec: &Exec<'_>, table: &Table, numbers: &mut Numbers, most: u64) -> SqlResult<u64> {
    match exec.session.take_insert_id() {
        0 => {}
        fixed => {
            (numbers.step, numbers.offset) = exec.session.auto_increment();
            (numbers.next, numbers.end, numbers.forced) = (fixed, u64::MAX, true);
        }
    }
    let first = numbers.before == 0;
    if numbers.next >= numbers.end {
        take_numbers(exec, table, numbers, most);
    }
    let mut value = numbers.next;
    if value == u64::MAX {
        return Err(SqlError::counter_unreadable());
    }
    if value > most {
        // What steps or `insert_id` have put beyond the end, the first row tells as any value that does
        // not fit. Later rows, and a counter that is itself beyond, have nothing to read.
        let counter = table.counters.auto_increment.load(Ordering::Acquire);
        if !first || (counter > most && !numbers.forced) {
            return Err(SqlError::counter_unreadable());
        }
        let name = table.auto_column.map_or("", |column| &table.columns()[column].name);
        let beyond = SqlError::out_of_range_column(name, 1);
        if apply::is_strict(exec) {
            return Err(beyond);
        }
        exec.eval.warn(beyond)?;
        value = numbers.fitting_below(most);
    }
    numbers.next = numbers.fitting(value.saturating_add(1));
    if numbers.forced {
        numbers.unnoted = numbers.unnoted.max(value.saturating_add(1));
    }
    Ok(value)
}

/// Takes values for the rows of a statement that are still to come, all at once.
fn take_numbers(exec: &Exec<'_>, table: &Table, numbers: &mut Numbers, most: u64) {
    (numbers.step, numbers.offset) = exec.session.auto_increment();
    if numbers.left == 0 {
        numbers.left = match numbers.rows {
            Some(rows) if numbers.times == 0 => rows.max(1),
            _ => (1 << numbers.times.min(16)).min(MOST_AT_ONCE),
        };
    }
    numbers.times += 1;
    let least = numbers.next.max(numbers.unnoted);
    let behind = |first: u64| (first < u64::MAX).then(|| numbers.behind(first, numbers.left).min(most));
    let counter = &table.counters.auto_increment;
    let given = counter.fetch_update(Ordering::AcqRel, Ordering::Acquire, |next| {
        behind(numbers.fitting(next.max(least))).map(|end| end.max(next))
    });
    let first = given.map_or(u64::MAX, |next| numbers.fitting(next.max(least)));
    numbers.next = first;
    numbers.end = first.saturating_add(numbers.left.saturating_mul(numbers.step));
}

/// What rows were given instead of a generated value is in the table now: later values are above it.
#[inline]
pub(super) fn note_numbers(table: &Table, numbers: &mut Numbers) {
    if numbers.unnoted != 0 {
        table.count_up_to(numbers.unnoted);
        numbers.unnoted = 0;
    }
}

/// A value that was given by the user: later ones are above it.
pub(super) fn note_auto_increment(table: &Table, value: &Value) {
    if let Some(number) = as_number(value) {
        table.count_up_to(number.saturating_add(1));
    }
}
