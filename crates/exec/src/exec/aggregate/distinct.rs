//! The different values of DISTINCT in one aggregate of one group: keys in memory, and once these are too
//! many runs of them in a file, sorted by their hashes. From then on values are not added as they come, but
//! when all have come and each is met beside its equals.

use turnstile_values::error::SqlResult;
use turnstile_values::memory::{Blocks, Charge, row_bytes};
use turnstile_values::value::Value;

use super::super::Exec;
use super::super::key_index::{KEY_OVERHEAD, KeyIndex};
use super::super::sort::by_key::{runs, sorted_by};
use super::super::sort::external::{External, Merge};
use super::super::tail::Keyed;

/// Values that were seen.
#[derive(Default)]
pub(super) struct Distinct {
    /// Keys of those in memory.
    index: KeyIndex,
    /// What these hold.
    bytes: usize,
    away: Option<Box<Away>>,
}

/// Values that are too many.
struct Away {
    /// A key with its value, or with nothing if its value was added when it came.
    external: External,
    /// Those that came since the last run; `index` has their keys.
    rows: Blocks<Keyed>,
}

impl Distinct {
    /// These keys, whose values were added.
    pub(super) fn of(keys: impl Iterator<Item = Vec<u8>>) -> Distinct {
        let mut seen = Distinct::default();
        for key in keys {
            seen.bytes += key.len() + KEY_OVERHEAD;
            seen.index.insert(&key);
        }
        seen
    }

    /// The keys, where all are in memory.
    pub(super) fn into_keys(self) -> impl Iterator<Item = Box<[u8]>> {
        self.index.into_entries().map(|(key, _)| key)
    }

    /// Keys in memory.
    pub(super) fn len(&self) -> usize {
        self.index.len()
    }

    /// A value comes: whether it is to be added now. `values`: what adds it later.
    pub(super) fn takes(&mut self, key: &[u8], values: &[Value], charge: &mut Charge) -> SqlResult<bool> {
        if !self.index.insert(key) {
            return Ok(false);
        }
        let mut bytes = key.len() + KEY_OVERHEAD;
        let Some(away) = &mut self.away else {
            charge.add(bytes)?;
            self.bytes += bytes;
            return Ok(true);
        };
        let row = (sorted_by(key), values.to_vec());
        bytes += row_bytes(&row.0) + row_bytes(&row.1);
        charge.add(bytes)?;
        self.bytes += bytes;
        away.rows.push(row);
        Ok(false)
    }

    /// Some values are in a file.
    pub(super) fn is_away(&self) -> bool {
        self.away.is_some()
    }

    /// Puts what is in memory into a file. Errors 1 to 3.
    pub(super) async fn shed(&mut self, exec: &mut Exec<'_>, charge: &mut Charge) -> SqlResult<()> {
        let rows = match &mut self.away {
            Some(away) => std::mem::take(&mut away.rows),
            None => {
                let mut rows = Blocks::new();
                for (key, _) in std::mem::take(&mut self.index).into_entries() {
                    exec.pace().await?;
                    rows.push((sorted_by(&key), Vec::new()));
                }
                exec.session.entry.counts.disk_tables.add(1);
                self.away = Some(Box::new(Away { external: runs(exec)?, rows: Blocks::new() }));
                rows
            }
        };
        if let Some(away) = &mut self.away {
            away.external.put(exec, rows).await?;
        }
        self.index = KeyIndex::default();
        charge.subtract(std::mem::take(&mut self.bytes));
        Ok(())
    }

    /// Once all have come: those in files, with their equals next to each other.
    pub(super) async fn read(self, exec: &mut Exec<'_>) -> SqlResult<Option<Reading>> {
        let Some(mut away) = self.away else { return Ok(None) };
        away.external.put(exec, away.rows).await?;
        Ok(Some(Reading { merge: away.external.merge(exec).await?, key: Vec::new() }))
    }
}

/// Values from files.
pub(super) struct Reading {
    merge: Merge,
    key: Vec<Value>,
}

impl Reading {
    /// The next value that was not added yet.
    pub(super) async fn next(&mut self, exec: &mut Exec<'_>) -> SqlResult<Option<Vec<Value>>> {
        while let Some((key, values)) = self.merge.next(exec.eval)? {
            exec.pace().await?;
            if key != self.key {
                self.key = key;
                // Of equal ones the first tells: it was added if any of them was.
                if !values.is_empty() {
                    return Ok(Some(values));
                }
            }
        }
        Ok(None)
    }
}
