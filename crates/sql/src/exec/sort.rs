//! Sorting many rows without keeping other sessions waiting: runs are sorted one by one, then merged pair by pair, and
//! after every few hundred rows the statement looks whether its slice is over.

use std::cmp::Ordering;

use super::tail::{Keyed, sort_rows};
use super::{Exec, order};
use crate::error::SqlResult;
use crate::plan::query::OrderKey;

/// Rows of a run: sorted in about half a slice.
const RUN_ROWS: usize = 512;

impl Exec<'_> {
    /// Sorts (keys, row) pairs; stable.
    pub async fn sorted(&mut self, mut rows: Vec<Keyed>, keys: &[OrderKey]) -> SqlResult<Vec<Keyed>> {
        if keys.is_empty() || rows.len() <= RUN_ROWS {
            sort_rows(&mut rows, keys);
            return Ok(rows);
        }
        for run in rows.chunks_mut(RUN_ROWS) {
            sort_rows(run, keys);
            self.interrupt.check()?;
            self.breathe().await;
        }
        let directions: Vec<_> = keys.iter().map(|key| (key.descending, key.collation)).collect();
        let mut width = RUN_ROWS;
        while width < rows.len() {
            rows = self.merged(rows, width, &directions).await?;
            width *= 2;
        }
        Ok(rows)
    }

    /// Merges neighbouring runs of `width` rows.
    async fn merged(
        &mut self,
        rows: Vec<Keyed>,
        width: usize,
        directions: &[order::Direction],
    ) -> SqlResult<Vec<Keyed>> {
        let mut charge = self.eval.charge();
        charge.add(rows.len().saturating_mul(size_of::<Keyed>()))?;
        let mut out = Vec::with_capacity(rows.len());
        let mut rows = rows.into_iter();
        let mut left = Vec::with_capacity(width);
        loop {
            left.clear();
            left.extend(rows.by_ref().take(width));
            if left.is_empty() {
                return Ok(out);
            }
            self.breathe().await;
            let mut first = left.drain(..).peekable();
            let mut second = rows.by_ref().take(width).peekable();
            loop {
                self.pace().await?;
                let next = match (first.peek(), second.peek()) {
                    (Some(one), Some(other)) => {
                        // Equal ones stay in their order.
                        if order::compare_keys(&one.0, &other.0, directions) == Ordering::Greater {
                            second.next()
                        } else {
                            first.next()
                        }
                    }
                    (Some(_), None) => first.next(),
                    (None, _) => second.next(),
                };
                match next {
                    Some(row) => out.push(row),
                    None => break,
                }
            }
        }
    }
}
