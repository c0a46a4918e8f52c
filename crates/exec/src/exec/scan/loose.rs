//! A key read from group to group: one entry of each, and where they are wanted the entries with the smallest
//! and the largest value of the part behind. Each of them is found by a descent.

use std::ops::Bound;

use turnstile_catalog::row_codec::RowView;
use turnstile_engine::{Read, ScanSpec, Txn, Visit};
use turnstile_plan::plan::key_ranges::ByteRange;
use turnstile_plan::plan::query::Loose;
use turnstile_values::error::{SqlError, SqlResult};
use turnstile_values::key_codec::after_prefix;

use super::{Fields, RowVisitor, TableScan};

/// So many groups are read before others are let in.
const GROUPS_AT_ONCE: usize = 32;

impl TableScan<'_> {
    /// The next groups; false when there are no more.
    pub(super) async fn groups(
        &mut self,
        txn: &mut Txn,
        loose: Loose,
        visit: &mut RowVisitor<'_>,
    ) -> SqlResult<bool> {
        for _ in 0..GROUPS_AT_ONCE {
            let Some((index, mut range)) = self.ranges.pop_front() else { return Ok(false) };
            self.index = index;
            let reverse = self.source.access.reverse;
            let Some(entry) = self.show_one(txn, &range, reverse, visit).await? else { continue };
            if self.done {
                return Ok(false);
            }
            let Some(length) = self.length(&entry, loose.parts) else { continue };
            let group = &entry[..length];
            self.ends(txn, loose, &entry, length, visit).await?;
            if self.done {
                return Ok(false);
            }
            if reverse {
                range.upper = Some(group.to_vec());
            } else {
                // Behind the last key that there can be is nothing.
                let Some(next) = after_prefix(group) else { continue };
                range.lower = Some(next);
            }
            if range.lower.is_none() || range.upper.is_none() || range.lower < range.upper {
                self.ranges.push_front((index, range));
            }
        }
        Ok(!self.ranges.is_empty())
    }

    /// Shows the entries of a group that have the smallest and the largest value of the next part, but for
    /// one that was shown: the first of the group, or its last where the key is read backwards.
    async fn ends(
        &mut self,
        txn: &mut Txn,
        loose: Loose,
        shown: &[u8],
        length: usize,
        visit: &mut RowVisitor<'_>,
    ) -> SqlResult<()> {
        let key = self.source.access.key.unwrap_or_default();
        let Some(part) = self.table.key_parts[key].get(loose.parts) else { return Ok(()) };
        let mut present = shown[..length].to_vec();
        if part.nullable {
            present.push(if part.descending { !1 } else { 1 });
        }
        let has_value = shown.starts_with(&present);
        let (first, last) = match part.descending {
            false => (loose.smallest, loose.largest),
            true => (loose.largest, loose.smallest),
        };
        let range = ByteRange { upper: after_prefix(&present), lower: Some(present), point: false };
        let reverse = self.source.access.reverse;
        let (near, far) = if reverse { (last, first) } else { (first, last) };
        if near && !has_value {
            self.show_one(txn, &range, reverse, visit).await?;
        }
        if far && !self.done {
            self.show_one(txn, &range, !reverse, visit).await?;
        }
        Ok(())
    }

    /// Bytes of the first parts of an entry.
    fn length(&self, entry: &[u8], parts: usize) -> Option<usize> {
        let mut rest = entry;
        let key = self.source.access.key?;
        self.table.key_parts[key]
            .iter()
            .take(parts)
            .all(|part| part.skip(&mut rest))
            .then(|| entry.len() - rest.len())
    }

    /// Shows the first row of a range and gives its entry.
    async fn show_one(
        &mut self,
        txn: &mut Txn,
        range: &ByteRange,
        reverse: bool,
        visit: &mut RowVisitor<'_>,
    ) -> SqlResult<Option<Vec<u8>>> {
        let lower = range.lower.clone().map_or(Bound::Unbounded, Bound::Included);
        let upper = range.upper.clone().map_or(Bound::Unbounded, Bound::Excluded);
        let fetch_row = !self.source.covering;
        let spec = ScanSpec { index: self.index, lower, upper, reverse, mode: Read::Consistent, fetch_row };
        let mut scan = txn.scan(&self.table.engine, spec);
        scan.want_few(1);
        let covering = self.source.covering.then_some(self.source.access.key).flatten();
        let (table, mut outcome, mut entry) = (&self.table, Ok(Visit::Continue), None);
        let mut show = |key: &[u8], pk: &[u8], row: &[u8]| {
            entry = Some(key.to_vec());
            outcome = match covering {
                Some(nth) => visit(Fields::Entry { table, key: nth, bytes: key }),
                None => match RowView::new(&table.layout, row) {
                    Ok(view) => visit(Fields::Row { view, pk }),
                    Err(_) => Err(SqlError::crashed_table(table.name())),
                },
            };
            Visit::Stop
        };
        while txn.scan_batch(&mut scan, &mut show).await? {}
        self.done |= outcome? == Visit::Stop;
        Ok(entry)
    }
}
