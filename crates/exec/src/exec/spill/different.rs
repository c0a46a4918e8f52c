//! Rows of which each is wanted once: DISTINCT, and UNION.
//!
//! A row goes on when its key is seen first. Once the keys are too many for memory no more of them are kept:
//! rows with other keys are put away, and come at the end, each once ([`ByKey`]). Where the order of rows is
//! that of the answer they are sorted once more, by their numbers.

use turnstile_expr::expr::EvalContext;
use turnstile_values::collation::Collation;
use turnstile_values::error::SqlResult;
use turnstile_values::memory::{Blocks, Charge, row_bytes};
use turnstile_values::value::Value;

use super::super::Exec;
use super::super::key_index::{KEY_OVERHEAD, KeyIndex};
use super::super::order::Direction;
use super::super::sort::by_key::ByKey;
use super::super::sort::external::{External, Merge};
use super::super::tail::HELD_UNASKED_BYTES;
use super::limits::kept_bytes_max;

/// The order of rows by their numbers.
const BY_NUMBER: [Direction; 1] = [(false, Collation::Binary)];

/// See the head of this file.
pub(in super::super) struct Different {
    keys: KeyIndex,
    charge: Charge,
    /// What the keys may hold, once that was asked.
    max: u64,
    away: Option<Box<ByKey>>,
    /// Rows stay in the order in which they come.
    keeps_order: bool,
    /// Rows that were put away.
    put: u64,
    /// Rows that went on.
    passed: u64,
}

/// What becomes of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Seen {
    /// It goes on.
    First,
    /// There was one with its key.
    Known,
    /// It is to be put away.
    Unknown,
}

impl Different {
    /// Nothing seen yet.
    pub(in super::super) fn new(context: &EvalContext<'_>, keeps_order: bool) -> Different {
        Different {
            keys: KeyIndex::default(),
            charge: context.charge(),
            max: HELD_UNASKED_BYTES,
            away: None,
            keeps_order,
            put: 0,
            passed: 0,
        }
    }

    /// A row with a key comes.
    pub(in super::super) fn see(&mut self, key: &[u8]) -> SqlResult<Seen> {
        if self.away.is_some() {
            return Ok(if self.keys.get(key).is_some() { Seen::Known } else { Seen::Unknown });
        }
        if !self.keys.insert(key) {
            return Ok(Seen::Known);
        }
        self.passed += 1;
        self.charge.add(key.len() + KEY_OVERHEAD)?;
        Ok(Seen::First)
    }

    /// Puts a row away that is unknown.
    pub(in super::super) fn put(&mut self, key: &[u8], mut row: Vec<Value>) -> SqlResult<()> {
        self.put += 1;
        row.push(Value::UInt(self.put));
        match &mut self.away {
            Some(away) => away.push(key, row),
            None => Ok(()),
        }
    }

    /// Keys, or rows, are too much for memory.
    #[inline]
    pub(in super::super) fn is_over(&self) -> bool {
        match &self.away {
            None => self.charge.bytes() > self.max,
            Some(away) => away.is_over(),
        }
    }

    /// Puts away what is too much, where others may be let in. Errors 1 to 3.
    pub(in super::super) async fn settle(&mut self, exec: &mut Exec<'_>) -> SqlResult<()> {
        self.max = kept_bytes_max(exec, |settings| settings.buffers.table);
        match &mut self.away {
            Some(away) if away.is_over() => away.write(exec).await?,
            None if self.charge.bytes() > self.max => self.away = Some(Box::new(ByKey::new(exec))),
            _ => {}
        }
        Ok(())
    }

    /// A row that was put away goes on.
    pub(in super::super) fn note_passed(&mut self) {
        self.passed += 1;
    }

    /// Rows that went on.
    pub(in super::super) fn passed(&self) -> u64 {
        self.passed
    }

    /// Rows may have been put away.
    pub(in super::super) fn has_rest(&self) -> bool {
        self.away.is_some()
    }

    /// Once all have come: those that were put away, if there are any.
    pub(in super::super) async fn rest(&mut self, exec: &mut Exec<'_>) -> SqlResult<Option<Rest>> {
        let Some(mut away) = self.away.take() else { return Ok(None) };
        let Some(merge) = away.read(exec).await? else { return Ok(None) };
        exec.session.entry.counts.disk_tables.add(1);
        let mut rest = Rest { merge, key: Some(Vec::new()) };
        if !self.keeps_order {
            return Ok(Some(rest));
        }
        let mut sorting = External::unasked(exec, &BY_NUMBER)?;
        let (mut rows, mut charge) = (Blocks::new(), exec.eval.charge());
        let max = kept_bytes_max(exec, |settings| settings.buffers.sort);
        while let Some(mut row) = rest.next_numbered(exec).await? {
            let key = vec![row.pop().unwrap_or_default()];
            charge.add(row_bytes(&key) + row_bytes(&row))?;
            // The number stands behind each row.
            row.push(Value::Null);
            rows.push((key, row));
            if charge.bytes() > max {
                sorting.put(exec, std::mem::take(&mut rows)).await?;
                charge.clear();
            }
        }
        sorting.put(exec, rows).await?;
        Ok(Some(Rest { merge: sorting.merge(exec).await?, key: None }))
    }

    /// What is in memory, how much that is, and its charge: to be dropped elsewhere.
    pub(in super::super) fn into_remains(mut self) -> (KeyIndex, usize, Charge) {
        let (count, charge) = (self.keys.len(), std::mem::take(&mut self.charge));
        (self.keys, count, charge)
    }
}

/// Rows that were put away.
pub(in super::super) struct Rest {
    merge: Merge,
    /// The key of the row before, if there may be several with one key.
    key: Option<Vec<Value>>,
}

impl Rest {
    /// The next row. Error 2 where it cannot be read.
    pub(in super::super) async fn next(&mut self, exec: &mut Exec<'_>) -> SqlResult<Option<Vec<Value>>> {
        let row = self.next_numbered(exec).await?;
        Ok(row.map(|mut row| {
            row.pop();
            row
        }))
    }

    async fn next_numbered(&mut self, exec: &mut Exec<'_>) -> SqlResult<Option<Vec<Value>>> {
        while let Some((key, row)) = self.merge.next(exec.eval)? {
            exec.pace().await?;
            match &mut self.key {
                Some(before) if *before == key => continue,
                Some(before) => *before = key,
                None => {}
            }
            return Ok(Some(row));
        }
        Ok(None)
    }
}
