//! Rows that are kept to be read later, in memory or in a file: those of a derived table, a query of WITH, an
//! INSERT ... SELECT.

use std::sync::Arc;

use turnstile_sys::temporary_file::TemporaryFolder;
use turnstile_values::error::SqlResult;
use turnstile_values::memory::Charge;
use turnstile_values::value::{Rows, Value};

use super::super::Exec;
use super::limits::kept_bytes_max;
use super::{BLOCK_BYTES, Run, RunReader, RunWriter, SpillFile};

/// Rows, in the order in which they came.
#[derive(Debug, Clone)]
pub(in super::super) enum List {
    /// All in memory.
    Memory(Arc<Rows>),
    /// So many, all in a file.
    File(Arc<Run>, u64),
}

impl Default for List {
    fn default() -> List {
        List::Memory(Arc::default())
    }
}

impl List {
    /// Rows there are.
    pub(in super::super) fn len(&self) -> usize {
        match self {
            List::Memory(rows) => rows.len(),
            List::File(_, rows) => usize::try_from(*rows).unwrap_or(usize::MAX),
        }
    }

    /// From the first row on.
    pub(in super::super) fn read(self) -> ListReader {
        match self {
            List::File(run, _) => ListReader::File(RunReader::new(&run)),
            // Who has them alone takes them as they are.
            List::Memory(rows) => match Arc::try_unwrap(rows) {
                Ok(rows) => ListReader::Own(rows.into_iter()),
                Err(rows) => ListReader::Shared(rows, 0),
            },
        }
    }
}

/// The rows of a list, one after the other.
#[derive(Debug)]
pub(in super::super) enum ListReader {
    Own(<Rows as IntoIterator>::IntoIter),
    Shared(Arc<Rows>, usize),
    File(RunReader),
}

impl ListReader {
    /// The next row. Error 2 where it cannot be read.
    pub(in super::super) fn next(&mut self) -> SqlResult<Option<Vec<Value>>> {
        match self {
            ListReader::Own(rows) => Ok(rows.next()),
            ListReader::Shared(rows, at) => {
                *at += 1;
                Ok(rows.get(*at - 1).cloned())
            }
            ListReader::File(reader) => reader.next_part(),
        }
    }
}

/// What a list that grows needs to go to a file.
#[derive(Debug)]
pub(in super::super) struct Growing {
    folder: Arc<TemporaryFolder>,
    /// More bytes than these go to the file.
    bytes_max: u64,
    writer: Option<RunWriter>,
    /// Rows in the file.
    rows: u64,
}

impl Growing {
    /// All in memory yet.
    pub(in super::super) fn new(exec: &Exec<'_>) -> Growing {
        Growing {
            folder: exec.db.temporary().clone(),
            bytes_max: kept_bytes_max(exec, |settings| settings.buffers.table),
            writer: None,
            rows: 0,
        }
    }

    /// What is in memory is too much.
    pub(in super::super) fn is_over(&self, charge: &Charge) -> bool {
        charge.bytes() > self.bytes_max
    }

    /// Writes rows, of which memory is rid then; errors 1 to 3.
    pub(in super::super) fn write(&mut self, rows: &mut Rows, charge: &mut Charge) -> SqlResult<()> {
        let writer = match &mut self.writer {
            Some(writer) => writer,
            None => {
                let file = SpillFile::new(&self.folder)?;
                self.writer.insert(RunWriter::new(&file, charge, BLOCK_BYTES))
            }
        };
        self.rows += rows.len() as u64;
        for row in std::mem::take(rows) {
            writer.push(&[&row])?;
            if writer.is_full() {
                writer.flush()?;
            }
        }
        charge.clear();
        Ok(())
    }

    /// The list; `rows` are its last ones.
    pub(in super::super) fn finish(
        mut self,
        mut rows: Rows,
        charge: &mut Charge,
        exec: &Exec<'_>,
    ) -> SqlResult<List> {
        if self.writer.is_some() {
            self.write(&mut rows, charge)?;
        }
        match self.writer {
            None => Ok(List::Memory(Arc::new(rows))),
            Some(writer) => {
                exec.session.entry.counts.disk_tables.add(1);
                Ok(List::File(Arc::new(writer.finish()?), self.rows))
            }
        }
    }
}
