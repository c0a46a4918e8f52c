//! Sorting many rows without keeping other sessions waiting: runs are sorted one by one, then merged pair by pair, and
//! after every few hundred rows the statement looks whether its slice is over. Long keys are merged from the first row
//! on: comparing two of them may take as long as a run of short ones, and KILL ends it in the middle.

use std::cmp::Ordering;

use super::order::Direction;
use super::tail::{Keyed, sort_rows};
use super::{Exec, order};
use turnstile_expr::expr::EvalContext;
use turnstile_plan::plan::query::OrderKey;
use turnstile_values::error::SqlResult;
use turnstile_values::memory::Many;
use turnstile_values::value::Value;

/// Rows of a run: sorted in about half a slice.
const RUN_ROWS: usize = 512;
/// Keys with as many bytes are merged from the first row on.
const LONG_KEY_BYTES: usize = 4 << 10;

/// Bytes of the longest keys, if they are long; otherwise 0.
fn long_keys<'k>(keys: impl Iterator<Item = &'k Vec<Value>>) -> usize {
    let longest = keys.map(|keys| keys.iter().map(Value::stored_len).sum()).max().unwrap_or(0);
    if longest < LONG_KEY_BYTES { 0 } else { longest }
}

/// Compares keys of which the longest has so many bytes.
fn compare(
    one: &[Value],
    other: &[Value],
    directions: &[Direction],
    longest: usize,
    context: &EvalContext<'_>,
) -> SqlResult<Ordering> {
    context.watched(longest, || order::compare_keys(one, other, directions))
}

/// Merges two sorted runs; equal ones stay in their order.
fn merge_pair<T>(
    first: Vec<T>,
    second: Vec<T>,
    mut compare: impl FnMut(&T, &T) -> SqlResult<Ordering>,
) -> SqlResult<Vec<T>> {
    let mut out = Vec::with_capacity(first.len() + second.len());
    let (mut first, mut second) = (first.into_iter().peekable(), second.into_iter().peekable());
    while let (Some(one), Some(other)) = (first.peek(), second.peek()) {
        let takes_second = compare(one, other)? == Ordering::Greater;
        out.extend(if takes_second { second.next() } else { first.next() });
    }
    out.extend(first);
    out.extend(second);
    Ok(out)
}

/// Sorts entries by their keys where nothing can be waited for; stable. Others are let in meanwhile, and KILL ends it.
pub fn sort_in_one_go<T>(
    entries: &mut Vec<T>,
    keys: impl Fn(&T) -> &Vec<Value>,
    directions: &[Direction],
    context: &EvalContext<'_>,
) -> SqlResult<()> {
    let longest = long_keys(entries.iter().map(&keys));
    let run = if longest > 0 { 1 } else { RUN_ROWS };
    let mut runs: Vec<Vec<T>> = Vec::new();
    let mut rest = std::mem::take(entries).into_iter();
    loop {
        let mut one: Vec<T> = rest.by_ref().take(run).collect();
        if one.is_empty() {
            break;
        }
        one.sort_by(|a, b| order::compare_keys(keys(a), keys(b), directions));
        context.work(RUN_WORK_BYTES)?;
        runs.push(one);
    }
    while runs.len() > 1 {
        let mut merged = Vec::with_capacity(runs.len().div_ceil(2));
        let mut pairs = runs.into_iter();
        while let Some(first) = pairs.next() {
            let second = pairs.next().unwrap_or_default();
            merged.push(merge_pair(first, second, |a, b| {
                context.step()?;
                compare(keys(a), keys(b), directions, longest, context)
            })?);
        }
        runs = merged;
    }
    *entries = runs.pop().unwrap_or_default();
    Ok(())
}

/// What sorting a run counts for as work.
const RUN_WORK_BYTES: usize = 32 << 10;

impl Exec<'_> {
    /// Sorts (keys, row) pairs; stable.
    pub async fn sorted(&mut self, mut rows: Many<Keyed>, keys: &[OrderKey]) -> SqlResult<Many<Keyed>> {
        let longest = if keys.is_empty() { 0 } else { long_keys(rows.iter().map(|row| &row.0)) };
        if keys.is_empty() || rows.len() <= RUN_ROWS && longest == 0 {
            sort_rows(&mut rows, keys);
            return Ok(rows);
        }
        let mut width = 1;
        if longest == 0 {
            width = RUN_ROWS;
            for run in rows.chunks_mut(RUN_ROWS) {
                sort_rows(run, keys);
                self.interrupt.check()?;
                self.breathe().await;
            }
        }
        let directions: Vec<_> = keys.iter().map(|key| (key.descending, key.collation)).collect();
        while width < rows.len() {
            rows = self.merged(rows, width, &directions, longest).await?;
            width *= 2;
        }
        Ok(rows)
    }

    /// Merges neighbouring runs of `width` rows.
    async fn merged(
        &mut self,
        rows: Many<Keyed>,
        width: usize,
        directions: &[Direction],
        longest: usize,
    ) -> SqlResult<Many<Keyed>> {
        let mut charge = self.eval.charge();
        charge.add(rows.len().saturating_mul(size_of::<Keyed>()))?;
        let mut out = Many::with_capacity(rows.len());
        let mut rows = rows.into_iter();
        loop {
            let left: Many<Keyed> = rows.by_ref().take(width).collect();
            if left.is_empty() {
                return Ok(out);
            }
            self.breathe().await;
            let mut first = left.into_iter().peekable();
            let mut second = rows.by_ref().take(width).peekable();
            loop {
                self.pace().await?;
                let next = match (first.peek(), second.peek()) {
                    (Some(one), Some(other)) => {
                        // Equal ones stay in their order.
                        if compare(&one.0, &other.0, directions, longest, self.eval)? == Ordering::Greater {
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
