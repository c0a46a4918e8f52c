//! Sorting many rows without keeping other sessions waiting: runs are sorted one by one, then merged pair by
//! pair, and after every few hundred rows the statement looks whether its slice is over. Long keys are merged
//! from the first row on: comparing two of them may take as long as a run of short ones, and KILL ends it in
//! the middle.
//!
//! Each of many rows has the first bytes of its keys beside it as numbers ([`prefix`]).

pub(super) mod by_key;
pub(super) mod external;
mod prefix;

use std::cmp::Ordering;
use std::collections::VecDeque;

use super::order::Direction;
use super::tail::{Keyed, sort_rows};
use super::{Exec, order};
use prefix::{Prefix, Prefixes};
use turnstile_expr::expr::EvalContext;
use turnstile_values::error::SqlResult;
use turnstile_values::memory::{Blocks, dropping};
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

/// Sorts entries by their keys where nothing can be waited for; stable. Others are let in meanwhile, and KILL
/// ends it.
pub fn sort_in_one_go<T>(
    entries: &mut Vec<T>,
    keys: impl Fn(&T) -> &Vec<Value>,
    directions: &[Direction],
    context: &EvalContext<'_>,
) -> SqlResult<()> {
    let mut longest = 0;
    for some in entries.chunks(RUN_ROWS) {
        longest = longest.max(long_keys(some.iter().map(&keys)));
        context.work(RUN_WORK_BYTES)?;
    }
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

/// A row that is sorted among many.
struct Entry {
    prefix: Prefix,
    row: Keyed,
}

/// How entries are compared.
struct Rule {
    directions: Vec<Direction>,
    /// Bytes of the longest keys, if they are long.
    longest: usize,
    /// Entries with equal prefixes have equal keys.
    exact: bool,
}

impl Rule {
    fn compare(&self, one: &Entry, other: &Entry, context: &EvalContext<'_>) -> SqlResult<Ordering> {
        match one.prefix.cmp(&other.prefix) {
            Ordering::Equal if !self.exact => {
                compare(&one.row.0, &other.row.0, &self.directions, self.longest, context)
            }
            order => Ok(order),
        }
    }

    /// Sorts a run of short keys.
    fn sort(&self, run: &mut [Entry]) {
        run.sort_by(|one, other| match one.prefix.cmp(&other.prefix) {
            Ordering::Equal if !self.exact => order::compare_keys(&one.row.0, &other.row.0, &self.directions),
            order => order,
        });
    }
}

/// Runs that are being merged, until one is left.
#[derive(Default)]
struct Merging {
    runs: VecDeque<Blocks<Entry>>,
    first: Blocks<Entry>,
    second: Blocks<Entry>,
    merged: Blocks<Entry>,
    rows: usize,
}

/// Each of the runs may be short; all of them are not.
impl Drop for Merging {
    fn drop(&mut self) {
        dropping(self.rows);
    }
}

/// Sorts (keys, row) pairs; stable.
pub(super) async fn sorted(
    exec: &mut Exec<'_>,
    mut rows: Blocks<Keyed>,
    directions: &[Direction],
) -> SqlResult<Blocks<Keyed>> {
    if directions.is_empty() || rows.len() <= 1 {
        return Ok(rows);
    }
    let is_short = rows.len() <= RUN_ROWS;
    let mut prefixes = Prefixes::new(directions);
    let mut longest = 0;
    for block in rows.blocks_mut() {
        longest = longest.max(long_keys(block.iter().map(|row| &row.0)));
        if !is_short {
            block.iter().for_each(|row| prefixes.see(&row.0));
            exec.interrupt.check()?;
            exec.breathe().await;
        }
    }
    if is_short && longest == 0 {
        for block in rows.blocks_mut() {
            sort_rows(block, directions);
        }
        return Ok(rows);
    }
    let has_prefixes = longest == 0 && !is_short;
    let rule = Rule { directions: directions.to_vec(), longest, exact: has_prefixes && prefixes.are_exact() };
    let mut entries = Blocks::new();
    for row in rows {
        exec.pace().await?;
        let prefix = if has_prefixes { prefixes.of(&row.0) } else { Prefix::default() };
        entries.push(Entry { prefix, row });
    }
    let mut sorted = Blocks::new();
    for Entry { row, .. } in merged(exec, entries, &rule).await? {
        exec.pace().await?;
        sorted.push(row);
    }
    Ok(sorted)
}

/// Sorts runs and merges them.
async fn merged(exec: &mut Exec<'_>, mut entries: Blocks<Entry>, rule: &Rule) -> SqlResult<Blocks<Entry>> {
    let mut merging = Merging::default();
    merging.rows = entries.len();
    if rule.longest == 0 {
        for block in entries.blocks_mut() {
            rule.sort(block);
            exec.interrupt.check()?;
            exec.breathe().await;
        }
        merging.runs.extend(std::iter::from_fn(|| entries.pop_block()));
    } else {
        for entry in entries {
            exec.pace().await?;
            let mut run = Blocks::new();
            run.push(entry);
            merging.runs.push_back(run);
        }
    }
    while merging.runs.len() > 1 {
        let runs = merging.runs.len();
        for _ in 0..runs / 2 {
            merging.first = merging.runs.pop_front().unwrap_or_default();
            merging.second = merging.runs.pop_front().unwrap_or_default();
            merge(exec, &mut merging, rule).await?;
            let merged = std::mem::take(&mut merging.merged);
            merging.runs.push_back(merged);
        }
        // The last of an odd number stays the last.
        merging.runs.rotate_left(runs % 2);
    }
    merging.rows = 0;
    Ok(merging.runs.pop_front().unwrap_or_default())
}

/// Merges two neighbouring runs; equal rows stay in their order.
async fn merge(exec: &mut Exec<'_>, merging: &mut Merging, rule: &Rule) -> SqlResult<()> {
    let Merging { first, second, merged, .. } = merging;
    while let (Some(one), Some(other)) = (first.first(), second.first()) {
        let takes_second = rule.compare(one, other, exec.eval)? == Ordering::Greater;
        if let Some(entry) = if takes_second { second.next() } else { first.next() } {
            merged.push(entry);
        }
        exec.pace().await?;
    }
    merged.append(first);
    merged.append(second);
    Ok(())
}
