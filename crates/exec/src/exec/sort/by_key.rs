//! Rows that come in any order and are read with those of the same key next to each other, in the order in
//! which they came: groups and different rows that are too many for memory.
//!
//! They are sorted by the hash of the key's bytes, and by these where hashes are equal, so what the key is of
//! does not matter.

use turnstile_values::collation::Collation;
use turnstile_values::error::SqlResult;
use turnstile_values::memory::{Blocks, Charge, row_bytes};
use turnstile_values::value::Value;

use super::super::Exec;
use super::super::order::Direction;
use super::super::spill::limits::kept_bytes_max;
use super::super::spill::parts::hash_of;
use super::super::tail::Keyed;
use super::external::{External, Merge};

/// The directions of the two keys that rows are sorted by.
const DIRECTIONS: [Direction; 2] = [(false, Collation::Binary); 2];

/// See the head of this file.
pub(in super::super) struct ByKey {
    /// Those in memory, and what they hold.
    rows: Blocks<Keyed>,
    charge: Charge,
    /// What these may hold: the buffer of a sort.
    max: u64,
    external: Option<External>,
}

/// What a row with a key is sorted by.
pub(in super::super) fn sorted_by(key: &[u8]) -> Vec<Value> {
    vec![Value::UInt(hash_of(key)), Value::Bytes(key.into())]
}

/// Runs of rows that are sorted so. Error 1 where no file can be made.
pub(in super::super) fn runs(exec: &Exec<'_>) -> SqlResult<External> {
    External::unasked(exec, &DIRECTIONS)
}

impl ByKey {
    /// No rows yet.
    pub(in super::super) fn new(exec: &Exec<'_>) -> ByKey {
        let max = kept_bytes_max(exec, |settings| settings.buffers.sort);
        ByKey { rows: Blocks::new(), charge: exec.eval.charge(), max, external: None }
    }

    /// A row.
    pub(in super::super) fn push(&mut self, key: &[u8], row: Vec<Value>) -> SqlResult<()> {
        let key = sorted_by(key);
        self.charge.add(row_bytes(&key) + row_bytes(&row))?;
        self.rows.push((key, row));
        Ok(())
    }

    /// A row, where others may be let in. Errors 1 to 3.
    pub(in super::super) async fn add(
        &mut self,
        exec: &mut Exec<'_>,
        key: &[u8],
        row: Vec<Value>,
    ) -> SqlResult<()> {
        self.push(key, row)?;
        if self.is_over() { self.write(exec).await } else { Ok(()) }
    }

    /// It is time to write.
    pub(in super::super) fn is_over(&self) -> bool {
        self.charge.bytes() > self.max
    }

    /// Writes what is in memory, where others may be let in. Errors 1 to 3.
    pub(in super::super) async fn write(&mut self, exec: &mut Exec<'_>) -> SqlResult<()> {
        if self.rows.is_empty() {
            return Ok(());
        }
        let external = match &mut self.external {
            Some(external) => external,
            none => none.insert(runs(exec)?),
        };
        external.put(exec, std::mem::take(&mut self.rows)).await?;
        self.charge.clear();
        Ok(())
    }

    /// Once all have come: rows by their keys; None if there are none.
    pub(in super::super) async fn read(&mut self, exec: &mut Exec<'_>) -> SqlResult<Option<Merge>> {
        self.write(exec).await?;
        match self.external.take() {
            Some(external) => Ok(Some(external.merge(exec).await?)),
            None => Ok(None),
        }
    }
}
