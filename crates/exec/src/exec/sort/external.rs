//! Sorting more rows than memory is for: sorted runs go to a file, and are merged.
//!
//! ```text
//!   rows in memory, a buffer full --sorted--> run 1, run 2, ... run n
//!   runs, some neighbours at a time --merged--> fewer runs, until so few are left that
//!   they are merged into the answer
//! ```
//! Of rows with equal keys those of an earlier run come first, and only neighbouring runs are merged: so the
//! order of equal rows is that in which they came, as in memory.

use std::cmp::Ordering;
use std::sync::Arc;

use turnstile_expr::expr::EvalContext;
use turnstile_values::error::SqlResult;
use turnstile_values::memory::{Blocks, Many};
use turnstile_values::value::Value;

use super::super::Exec;
use super::super::order::Direction;
use super::super::spill::limits::kept_bytes_max;
use super::super::spill::{BLOCK_BYTES, Run, RunReader, RunWriter, SpillFile};
use super::super::tail::Keyed;
use super::prefix::{Prefix, Prefixes};
use super::{compare, long_keys, sorted};

/// Fewest and most runs that are merged at a time: each has a block in memory.
const FEWEST_MERGED: usize = 4;
const MOST_MERGED: usize = 256;

/// Sorted runs in a file.
pub(in super::super) struct External {
    runs: Many<Run>,
    file: Arc<SpillFile>,
    directions: Vec<Direction>,
    prefixes: Prefixes,
    /// Bytes of the longest keys, if they are long.
    longest: usize,
    /// Rows of a run that matter.
    most: u64,
    /// Runs that are merged at a time.
    merged_max: usize,
    rows: u64,
    /// Passes are counted in `Sort_merge_passes`: it is the sort of an ORDER BY.
    counts: bool,
}

impl External {
    /// No runs yet, for rows with keys in these directions, of which the first `most` matter; a run for each
    /// `buffer_bytes` of them. Error 1 where no file can be made.
    pub(in super::super) fn new(
        exec: &Exec<'_>,
        directions: &[Direction],
        most: u64,
        buffer_bytes: u64,
    ) -> SqlResult<External> {
        let merged_max = usize::try_from(buffer_bytes).unwrap_or(usize::MAX) / BLOCK_BYTES;
        Ok(External {
            runs: Many::new(),
            file: SpillFile::new(exec.db.temporary())?,
            prefixes: Prefixes::new(directions),
            directions: directions.to_vec(),
            longest: 0,
            most,
            merged_max: merged_max.clamp(FEWEST_MERGED, MOST_MERGED),
            rows: 0,
            counts: true,
        })
    }

    /// The same for rows whose order nobody asks for: merging them is not counted.
    pub(in super::super) fn unasked(exec: &Exec<'_>, directions: &[Direction]) -> SqlResult<External> {
        let buffer_bytes = kept_bytes_max(exec, |settings| settings.buffers.sort);
        Ok(External { counts: false, ..External::new(exec, directions, u64::MAX, buffer_bytes)? })
    }

    /// Rows that were put here.
    pub(in super::super) fn rows(&self) -> u64 {
        self.rows
    }

    /// Sorts rows and writes them as another run. Error 3 where there is no space.
    pub(in super::super) async fn put(&mut self, exec: &mut Exec<'_>, rows: Blocks<Keyed>) -> SqlResult<()> {
        if rows.is_empty() {
            return Ok(());
        }
        self.rows += rows.len() as u64;
        let mut run = RunWriter::new(&self.file, &exec.eval.charge(), BLOCK_BYTES);
        for (nth, (keys, row)) in sorted(exec, rows, &self.directions).await?.enumerate() {
            exec.pace().await?;
            self.longest = self.longest.max(long_keys(std::iter::once(&keys)));
            self.prefixes.see(&keys);
            if (nth as u64) < self.most {
                run.add(exec, &[&keys, &row]).await?;
            }
        }
        self.runs.push(run.finish()?);
        Ok(())
    }

    /// Merges runs until the rest is merged as it is read.
    pub(in super::super) async fn merge(mut self, exec: &mut Exec<'_>) -> SqlResult<Merge> {
        while self.runs.len() > self.merged_max {
            // What was merged is not needed any more: the file before goes with the last of its runs.
            self.file = SpillFile::new(exec.db.temporary())?;
            let mut fewer = Many::with_capacity(self.runs.len().div_ceil(self.merged_max));
            let mut rest = std::mem::take(&mut self.runs).into_iter();
            loop {
                let some: Many<Run> = rest.by_ref().take(self.merged_max).collect();
                if some.is_empty() {
                    break;
                }
                fewer.push(self.merged(exec, some).await?);
            }
            self.runs = fewer;
        }
        let runs = std::mem::take(&mut self.runs);
        self.begin(exec, runs).await
    }

    async fn merged(&mut self, exec: &mut Exec<'_>, runs: Many<Run>) -> SqlResult<Run> {
        let mut run = RunWriter::new(&self.file, &exec.eval.charge(), BLOCK_BYTES);
        let mut merge = self.begin(exec, runs).await?;
        let mut left = self.most;
        while let Some((keys, row)) = merge.next(exec.eval)?.filter(|_| left > 0) {
            exec.pace().await?;
            left -= 1;
            run.add(exec, &[&keys, &row]).await?;
        }
        // The one that was lent comes back.
        std::mem::swap(&mut self.prefixes, &mut merge.prefixes);
        run.finish()
    }

    async fn begin(&mut self, exec: &mut Exec<'_>, runs: Many<Run>) -> SqlResult<Merge> {
        if self.counts {
            exec.session.entry.counts.sort_merges.add(1);
        }
        let has_prefixes = self.longest == 0;
        let mut merge = Merge {
            heads: Vec::with_capacity(runs.len()),
            has_prefixes,
            is_exact: has_prefixes && self.prefixes.are_exact(),
            directions: self.directions.clone(),
            prefixes: std::mem::replace(&mut self.prefixes, Prefixes::new(&self.directions)),
            longest: self.longest,
        };
        for (nth, run) in runs.into_iter().enumerate() {
            exec.pace().await?;
            let mut reader = RunReader::new(&Arc::new(run));
            if let Some(row) = reader.next_pair()? {
                let prefix = merge.prefix(&row.0);
                merge.heads.push(Head { prefix, row, nth, reader });
            }
        }
        for at in (0..merge.heads.len() / 2).rev() {
            exec.pace().await?;
            merge.sift_down(at, exec.eval)?;
        }
        Ok(merge)
    }
}

/// The next row of a run.
struct Head {
    prefix: Prefix,
    row: Keyed,
    /// The number of its run.
    nth: usize,
    reader: RunReader,
}

/// Runs that are read as one.
pub(in super::super) struct Merge {
    /// A heap: none is behind those at twice its place, counted from 1.
    heads: Vec<Head>,
    has_prefixes: bool,
    /// Rows with equal prefixes have equal keys.
    is_exact: bool,
    directions: Vec<Direction>,
    prefixes: Prefixes,
    longest: usize,
}

impl Merge {
    fn prefix(&mut self, keys: &[Value]) -> Prefix {
        if self.has_prefixes { self.prefixes.of(keys) } else { Prefix::default() }
    }

    fn is_before(&self, one: usize, other: usize, context: &EvalContext<'_>) -> SqlResult<bool> {
        let (one, other) = (&self.heads[one], &self.heads[other]);
        let order = match one.prefix.cmp(&other.prefix) {
            Ordering::Equal if !self.is_exact => {
                compare(&one.row.0, &other.row.0, &self.directions, self.longest, context)?
            }
            order => order,
        };
        Ok(order.then(one.nth.cmp(&other.nth)) == Ordering::Less)
    }

    fn sift_down(&mut self, mut at: usize, context: &EvalContext<'_>) -> SqlResult<()> {
        loop {
            let mut first = at;
            for below in [at * 2 + 1, at * 2 + 2] {
                if below < self.heads.len() && self.is_before(below, first, context)? {
                    first = below;
                }
            }
            if first == at {
                return Ok(());
            }
            self.heads.swap(at, first);
            at = first;
        }
    }

    /// The next row in order. Error 2 where it cannot be read.
    pub(in super::super) fn next(&mut self, context: &EvalContext<'_>) -> SqlResult<Option<Keyed>> {
        let Some(head) = self.heads.first_mut() else { return Ok(None) };
        let out = match head.reader.next_pair()? {
            Some(next) => {
                let out = std::mem::replace(&mut head.row, next);
                if self.has_prefixes {
                    head.prefix = self.prefixes.of(&head.row.0);
                }
                out
            }
            None => self.heads.swap_remove(0).row,
        };
        self.sift_down(0, context)?;
        Ok(Some(out))
    }
}
