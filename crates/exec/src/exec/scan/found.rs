//! Rows that several keys find: the primary keys that are in the entries of all keys but the last are kept in
//! memory, and of the last key's entries only those count that have one of these.

use std::collections::VecDeque;

use turnstile_catalog::dictionary::Table;
use turnstile_engine::{Read, Scan, ScanIndex, ScanSpec, Txn, Visit};
use turnstile_expr::expr::{EvalContext, Row};
use turnstile_plan::plan::key_ranges::{ByteRange, ranges};
use turnstile_plan::plan::query::TableSource;
use turnstile_values::error::{SqlError, SqlResult};
use turnstile_values::memory::Charge;

use super::super::key_index::{KEY_OVERHEAD, KeyIndex};

/// Primary keys while they are gathered, and then for as long as the scan runs.
pub(super) struct Found {
    /// Ranges of the keys that are left, and whether a key begins with it.
    left: VecDeque<(ScanIndex, ByteRange, bool)>,
    current: Option<Scan>,
    began: bool,
    /// What all keys before this one have found; None for the first.
    before: Option<KeyIndex>,
    keys: KeyIndex,
    charge: Charge,
}

impl Found {
    /// For a source that other keys narrow.
    pub(super) fn of(
        source: &TableSource,
        row: &dyn Row,
        context: &EvalContext<'_>,
    ) -> SqlResult<Option<Box<Found>>> {
        if source.within.is_empty() {
            return Ok(None);
        }
        let mut left = VecDeque::new();
        for access in &source.within {
            let index = access.key.map_or(ScanIndex::Clustered, |key| source.table.scan_index(key));
            let mut found = ranges(&source.table, access, row, context)?;
            if found.is_empty() {
                // A key that finds nothing: a range before all keys.
                found.push(ByteRange { lower: None, upper: Some(Vec::new()), point: false });
            }
            let own = found.into_iter().enumerate().map(|(nth, range)| (index, range, nth == 0));
            left.extend(own);
        }
        let (before, keys, charge) = (None, KeyIndex::default(), context.charge());
        Ok(Some(Box::new(Found { left, current: None, began: false, before, keys, charge })))
    }

    /// There are entries that have not been looked at.
    pub(super) fn is_gathering(&self) -> bool {
        self.current.is_some() || !self.left.is_empty()
    }

    /// Whether all keys have found the row of a primary key.
    pub(super) fn has(&self, pk: &[u8]) -> bool {
        self.keys.get(pk).is_some()
    }

    /// Looks at the entries of one more leaf.
    pub(super) async fn gather(&mut self, txn: &mut Txn, table: &Table) -> SqlResult<()> {
        if self.current.is_none() {
            let Some((index, range, begins)) = self.left.pop_front() else { return Ok(()) };
            if begins && std::mem::replace(&mut self.began, true) {
                self.before = Some(std::mem::take(&mut self.keys));
            }
            let (lower, upper) = range.bounds();
            let mode = Read::Consistent;
            let spec = ScanSpec { index, lower, upper, reverse: false, mode, fetch_row: false };
            self.current = Some(txn.scan(&table.engine, spec));
        }
        let Some(scan) = &mut self.current else { return Ok(()) };
        let (before, keys, charge) = (&self.before, &mut self.keys, &mut self.charge);
        let mut failed: Option<SqlError> = None;
        let mut visit = |_: &[u8], pk: &[u8], _: &[u8]| {
            let narrows = before.as_ref().is_none_or(|before| before.get(pk).is_some());
            if narrows
                && keys.get_or_insert(pk).is_none()
                && let Err(error) = charge.add(pk.len() + KEY_OVERHEAD)
            {
                failed = Some(error);
                return Visit::Stop;
            }
            Visit::Continue
        };
        let more = txn.scan_batch(scan, &mut visit).await?;
        if let Some(error) = failed {
            return Err(error);
        }
        if !more {
            self.current = None;
        }
        Ok(())
    }
}
