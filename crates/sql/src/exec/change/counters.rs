//! AUTO_INCREMENT values and hidden row numbers.
//!
//! Both are counters in memory. Values are given without waiting for other transactions (`innodb_autoinc_lock_mode` 2), so a rolled back one
//! leaves a gap; those below AUTO_INCREMENT= of the definition are never given.
//!
//! AUTO_INCREMENT is durable as in MySQL 8: each row that is inserted, and each change of the column to a larger value, carries the counter into
//! its own mini-transaction (`Txn::carry_counter`). After a restart, clean or not, the counter stands where the last change that the log kept has put
//! it, whether its row is still there or not. The first INSERT into a table makes the durable counter, from the largest key in the tree. Numbers of rows
//! that were never inserted may be given again by the next life, as MySQL does.
//!
//! Hidden row numbers begin behind the last key of the tree, deleted rows and uncommitted ones included: a row that is deleted and comes back with a
//! rollback must not meet another one with its number.

use std::ops::Bound;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use turnstile_engine::{Engine, Isolation, Read, ScanSpec, TxnOptions, Visit};

use crate::dictionary::Table;
use crate::error::{SqlError, SqlResult};
use crate::exec::Exec;
use crate::row_codec::RowView;
use crate::types::{ColumnType, IntWidth};
use crate::value::Value;

/// The largest AUTO_INCREMENT value a column holds.
fn largest(kind: &ColumnType) -> u64 {
    match kind {
        ColumnType::Int { width, unsigned: true, .. } => width.unsigned_max(),
        ColumnType::Int { width, .. } => width.signed_range().1 as u64,
        ColumnType::Float { .. } => 1 << 24,
        _ => 1 << 53,
    }
}

/// A value as an AUTO_INCREMENT number.
pub fn as_number(value: &Value) -> Option<u64> {
    match value {
        Value::Int(number) => u64::try_from(*number).ok(),
        Value::UInt(number) => Some(*number),
        Value::Double(number) if *number >= 0.0 => Some(*number as u64),
        _ => None,
    }
}

/// The largest AUTO_INCREMENT value of a table's rows, committed or not; 0 if there is none. The column is the first of some key.
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
    let spec = ScanSpec {
        index: table.scan_index(key),
        lower: Bound::Unbounded,
        upper: Bound::Unbounded,
        reverse: !table.keys()[key].parts[0].descending,
        mode: Read::Consistent,
        fetch_row: true,
    };
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

impl Exec<'_> {
    /// Makes sure that a table's counters stand where they should.
    pub(super) async fn prepare_counters(&mut self, table: &Table) -> SqlResult<()> {
        let counters = &table.counters;
        if table.primary().is_none() && counters.row_id.load(Ordering::Acquire) == 0 {
            let last = self.db.engine().last_key(table.definition.clustered)?;
            let last = last.and_then(|key| Some(u64::from_be_bytes(key.try_into().ok()?))).unwrap_or(0);
            counters.row_id.fetch_max(last + 1, Ordering::AcqRel);
        }
        let Some(column) = table.auto_column else { return Ok(()) };
        if counters.slot.get().is_none() {
            let last = largest_there(self.db.engine(), table, column, self.txn.options().clone()).await?;
            let next = last.saturating_add(1).max(table.definition.auto_increment).max(1);
            counters.auto_increment.fetch_max(next, Ordering::AcqRel);
            let slot = self.db.engine().make_counter(table.definition.clustered, next)?;
            counters.slot.get_or_init(|| slot);
        }
        Ok(())
    }

    /// The rows about to be inserted or changed make it durable how far the counter has come: above `number`.
    pub(super) fn carry_auto_increment(&mut self, table: &Table, number: u64) {
        if let Some(slot) = table.counters.slot.get()
            && number >= table.counters.logged.load(Ordering::Acquire)
        {
            self.txn.carry_counter(*slot, number.saturating_add(1));
        }
    }

    /// A row with this number was inserted: if nothing is carried any more, the log has the number.
    pub(super) fn auto_increment_is_logged(&self, table: &Table, number: u64) {
        if !self.txn.carries_counter() {
            table.counters.logged.fetch_max(number.saturating_add(1), Ordering::AcqRel);
        }
    }

    /// A row gets a value in the AUTO_INCREMENT column by UPDATE, if it does: a larger one than any before moves the counter.
    pub(super) async fn raise_auto_increment(
        &mut self,
        table: &Table,
        change: Option<(usize, Value)>,
    ) -> SqlResult<()> {
        let Some((_, value)) = change else { return Ok(()) };
        let Some(number) = as_number(&value) else { return Ok(()) };
        self.prepare_counters(table).await?;
        if number >= table.counters.auto_increment.load(Ordering::Acquire) {
            self.note_auto_increment(table, &value);
            self.carry_auto_increment(table, number);
        }
        Ok(())
    }

    /// The next hidden row number, as key bytes.
    pub(super) fn next_row_id(&self, table: &Table) -> [u8; 8] {
        table.counters.row_id.fetch_add(1, Ordering::AcqRel).to_be_bytes()
    }

    /// The next AUTO_INCREMENT value.
    pub(super) fn next_auto_increment(&self, table: &Table, column: usize) -> SqlResult<u64> {
        let (step, offset) = self.session.auto_increment();
        let most = largest(&table.columns()[column].kind);
        let counter = &table.counters.auto_increment;
        // The smallest offset + n * step that is not below the counter.
        let fitting = |next: u64| {
            let first = if offset > step { 1 } else { offset };
            if next <= first { first } else { first + (next - first).div_ceil(step) * step }
        };
        let given =
            counter.fetch_update(Ordering::AcqRel, Ordering::Acquire, |next| fitting(next).checked_add(1));
        let value = given.map(fitting).unwrap_or(u64::MAX);
        if value <= most {
            return Ok(value);
        }
        // A column that is full gets its largest value again, which its key refuses. Only BIGINT's end is told as such.
        if most >= IntWidth::Big.signed_range().1 as u64 {
            return Err(SqlError::new(
                1467,
                b"HY000",
                "Failed to read auto-increment value from storage engine",
            ));
        }
        Ok(most)
    }

    /// A value that was given by the user: later ones are above it.
    pub(super) fn note_auto_increment(&self, table: &Table, value: &Value) {
        if let Some(number) = as_number(value) {
            table.counters.auto_increment.fetch_max(number.saturating_add(1), Ordering::AcqRel);
        }
    }
}
