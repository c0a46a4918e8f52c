//! Statistics as a row of the dictionary.

use turnstile_engine::ids::IndexId;

use super::{KeyStatistics, TableStatistics};
use crate::dictionary::encoding::{Damaged, Reader, Writer};

/// Format 1 had no columns.
const FORMAT: u8 = 2;

impl TableStatistics {
    /// The row.
    pub fn encode(&self) -> Vec<u8> {
        let mut row = Writer::new(FORMAT);
        row.u32(self.tree.0);
        for number in [self.rows, self.pages, self.gathered] {
            row.u64(number);
        }
        row.list(&self.keys, |row, key| {
            row.u32(key.index.0);
            for number in [key.pages, key.leaves, key.sampled] {
                row.u64(number);
            }
            row.list(&key.distinct, |row, distinct| row.u64(*distinct));
        });
        row.list(&self.columns, |row, distinct| row.u64(*distinct));
        row.0
    }

    /// What a row tells.
    pub fn decode(row: &[u8]) -> Result<TableStatistics, Damaged> {
        let mut row = Reader::new(row, FORMAT)?;
        let tree = IndexId(row.u32()?);
        let (rows, pages, gathered) = (row.u64()?, row.u64()?, row.u64()?);
        let keys = row.list(|row| {
            let index = IndexId(row.u32()?);
            let (pages, leaves, sampled) = (row.u64()?, row.u64()?, row.u64()?);
            let distinct = row.list(|row| row.u64())?;
            Ok(KeyStatistics { index, pages, leaves, distinct, sampled })
        })?;
        let columns = row.list(|row| row.u64())?;
        Ok(TableStatistics { tree, rows, pages, keys, columns, gathered })
    }

    /// Whether a row is one of an earlier version of the server, of which nothing is kept.
    pub fn is_outdated(row: &[u8]) -> bool {
        row.first().is_some_and(|format| *format < FORMAT)
    }
}
