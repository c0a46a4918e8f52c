//! AUTO_INCREMENT values and hidden row numbers.
//!
//! Both are counters in memory. The first INSERT after a start finds out where they stand from the largest key in the
//! tree; values below AUTO_INCREMENT= of the definition are never given. Values are given without waiting for other
//! transactions (`innodb_autoinc_lock_mode` 2), so a rolled back one leaves a gap.

use std::ops::Bound;
use std::sync::atomic::Ordering;

use turnstile_engine::{Read, ScanIndex, ScanSpec, Visit};

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

impl Exec<'_> {
    /// Makes sure that a table's counters stand where they should.
    pub(super) async fn prepare_counters(&mut self, table: &Table) -> SqlResult<()> {
        let counters = &table.counters;
        if table.primary().is_none() && counters.row_id.load(Ordering::Acquire) == 0 {
            let last = self.last_entry(table, ScanIndex::Clustered).await?;
            let last = last.and_then(|(key, _)| Some(u64::from_be_bytes(key.try_into().ok()?))).unwrap_or(0);
            counters.row_id.fetch_max(last + 1, Ordering::AcqRel);
        }
        let Some(column) = table.auto_column else { return Ok(()) };
        if counters.auto_increment.load(Ordering::Acquire) == 0 {
            let by = (0..table.keys().len()).find(|nth| table.keys()[*nth].parts[0].column == column);
            let mut last = None;
            if let Some(key) = by {
                let entry = self.last_entry(table, table.scan_index(key)).await?;
                last = entry
                    .and_then(|(_, row)| RowView::new(&table.layout, &row).ok().map(|view| view.get(column)));
            }
            let last = last.as_ref().and_then(as_number).unwrap_or(0);
            let next = last.saturating_add(1).max(table.definition.auto_increment).max(1);
            counters.auto_increment.fetch_max(next, Ordering::AcqRel);
        }
        Ok(())
    }

    /// The last row in the order of a tree, whether committed or not.
    async fn last_entry(&mut self, table: &Table, index: ScanIndex) -> SqlResult<Option<(Vec<u8>, Vec<u8>)>> {
        let options = turnstile_engine::TxnOptions {
            isolation: turnstile_engine::Isolation::ReadUncommitted,
            read_only: true,
            ..self.txn.options().clone()
        };
        let mut txn = self.db.engine().begin(options);
        let spec = ScanSpec {
            index,
            lower: Bound::Unbounded,
            upper: Bound::Unbounded,
            reverse: true,
            mode: Read::Consistent,
            fetch_row: true,
        };
        let mut scan = txn.scan(&table.engine, spec);
        let mut found = None;
        let mut visit = |_: &[u8], pk: &[u8], row: &[u8]| {
            found = Some((pk.to_vec(), row.to_vec()));
            Visit::Stop
        };
        while txn.scan_batch(&mut scan, &mut visit).await? {}
        txn.rollback().await?;
        Ok(found)
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
