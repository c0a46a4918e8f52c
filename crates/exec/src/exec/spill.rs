//! Rows that are too many for memory: a file without a name in `tmpdir`, and runs of rows in it.
//!
//! ```text
//!   RunWriter --blocks--> SpillFile --blocks--> RunReader
//!   block     checksum of the rest (4 bytes), rows (encoding.rs), whole ones: a large row makes a large block
//! ```
//! A run is a list of blocks that are anywhere in its file, so many runs may grow in one file at a time. What
//! writes adds to memory first, which may be done under a page's latch; whole blocks are written where others
//! may be let in. Before each such call, which the disk may hold up, another thread goes on with the worker's
//! other sessions (`sys::relief`).

pub(super) mod different;
pub(super) mod encoding;
pub(super) mod limits;
pub(super) mod list;
pub(super) mod parts;

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;

use turnstile_sys::checksum::crc32c;
use turnstile_sys::relief;
use turnstile_sys::temporary_file::{TemporaryFile, TemporaryFolder};
use turnstile_values::error::{SqlError, SqlResult};
use turnstile_values::memory::{Charge, Many};
use turnstile_values::value::Value;

use super::Exec;
use encoding::NameList;

/// A block of a run by itself.
pub(super) const BLOCK_BYTES: usize = 64 << 10;
/// Bytes of a block's checksum.
const CHECKSUM_BYTES: usize = 4;
/// Closing a file of more bytes takes long: the system gives their pages back.
const LARGE_FILE_BYTES: u64 = 16 << 20;
/// What the system says of bytes that are not those that were written.
const DAMAGED_ERRNO: i32 = 5;

/// A temporary file with what its rows need beside it. It is gone when nobody has it any more.
#[derive(Debug)]
pub(super) struct SpillFile {
    file: TemporaryFile,
    folder: PathBuf,
    /// Where the next block goes.
    end: AtomicU64,
    names: Mutex<NameList>,
}

impl SpillFile {
    /// An empty file. Error 1 where none can be made.
    pub(super) fn new(folder: &TemporaryFolder) -> SqlResult<Arc<SpillFile>> {
        relief::ahead();
        let file = folder.create().map_err(|error| {
            let (errno, why) = told(&error);
            SqlError::cannot_make_file(folder.path().join("MY").display(), errno, why)
        })?;
        Ok(Arc::new(SpillFile {
            file,
            folder: folder.path().into(),
            end: AtomicU64::new(0),
            names: Mutex::default(),
        }))
    }

    /// A file without a name is called by its number.
    fn name(&self) -> String {
        self.folder.join(format!("MYfd={}", self.file.number())).display().to_string()
    }

    /// Error 3 where there is no space.
    fn write(&self, block: &[u8]) -> SqlResult<Extent> {
        let extent =
            Extent { offset: self.end.fetch_add(block.len() as u64, Ordering::Relaxed), bytes: block.len() };
        relief::ahead();
        self.file.write_at(block, extent.offset).map_err(|error| {
            let (errno, why) = told(&error);
            SqlError::cannot_write_file(self.name(), errno, why)
        })?;
        Ok(extent)
    }

    /// Error 2 where the bytes cannot be had as they were written.
    fn read(&self, extent: Extent, block: &mut Vec<u8>) -> SqlResult<()> {
        block.clear();
        block.resize(extent.bytes, 0);
        relief::ahead();
        let failed = |(errno, why)| SqlError::cannot_read_file(self.name(), errno, why);
        self.file.read_at(block, extent.offset).map_err(|error| failed(told(&error)))?;
        let found = block.split_first_chunk::<CHECKSUM_BYTES>();
        match found.filter(|(sum, rows)| u32::from_le_bytes(**sum) == crc32c(rows)) {
            Some(_) => Ok(()),
            None => Err(self.damaged()),
        }
    }

    fn damaged(&self) -> SqlError {
        let (errno, why) = told(&io::Error::from_raw_os_error(DAMAGED_ERRNO));
        SqlError::cannot_read_file(self.name(), errno, why)
    }
}

impl Drop for SpillFile {
    fn drop(&mut self) {
        if *self.end.get_mut() >= LARGE_FILE_BYTES {
            relief::ahead();
        }
    }
}

/// The system's number of an error and its words for it.
fn told(error: &io::Error) -> (i32, String) {
    let errno = error.raw_os_error().unwrap_or(DAMAGED_ERRNO);
    let text = io::Error::from_raw_os_error(errno).to_string();
    (errno, text.split(" (os error").next().unwrap_or_default().to_owned())
}

/// Where a block is.
#[derive(Debug, Clone, Copy)]
struct Extent {
    offset: u64,
    bytes: usize,
}

/// Rows in a file, in the order in which they were written. Its list of blocks is charged.
#[derive(Debug)]
pub(super) struct Run {
    file: Arc<SpillFile>,
    extents: Many<Extent>,
    charge: Charge,
}

/// A run that is being written.
#[derive(Debug)]
pub(super) struct RunWriter {
    run: Run,
    /// The block that is not written yet, with room for its checksum in front.
    block: Vec<u8>,
    /// It is written when it has so many bytes.
    block_bytes: usize,
    /// What `block` holds.
    charge: Charge,
}

impl RunWriter {
    /// An empty run, whose blocks have so many bytes; charged where `charge` is.
    pub(super) fn new(file: &Arc<SpillFile>, charge: &Charge, block_bytes: usize) -> RunWriter {
        let run = Run { file: file.clone(), extents: Many::new(), charge: charge.another() };
        RunWriter { run, block: Vec::new(), block_bytes, charge: charge.another() }
    }

    /// Adds a row, in memory; its parts are read as rows of their own.
    pub(super) fn push(&mut self, parts: &[&[Value]]) -> SqlResult<()> {
        if self.block.is_empty() {
            self.charge.add(self.block_bytes)?;
            self.block.reserve(self.block_bytes);
            self.block.extend_from_slice(&[0; CHECKSUM_BYTES]);
        }
        let longer: usize = parts.iter().flat_map(|part| part.iter()).map(Value::stored_len).sum();
        if self.block.len() + longer > self.block_bytes {
            self.charge.add(longer)?;
        }
        let mut names = self.run.file.names.lock();
        parts.iter().for_each(|part| encoding::write_row(part, &mut names, &mut self.block));
        Ok(())
    }

    /// It is time to write.
    pub(super) fn is_full(&self) -> bool {
        self.block.len() >= self.block_bytes
    }

    /// Writes what is in memory; errors 1 to 3.
    pub(super) fn flush(&mut self) -> SqlResult<()> {
        let Some((sum, rows)) = self.block.split_first_chunk_mut::<CHECKSUM_BYTES>() else { return Ok(()) };
        *sum = crc32c(rows).to_le_bytes();
        self.run.charge.add(size_of::<Extent>() * 2)?;
        let extent = self.run.file.write(&self.block)?;
        self.run.extents.push(extent);
        self.block.clear();
        self.block.shrink_to(self.block_bytes * 2);
        self.charge.clear();
        if self.block.capacity() > 0 {
            self.charge.add(self.block_bytes)?;
        }
        Ok(())
    }

    /// Adds a row where others may be let in.
    pub(super) async fn add(&mut self, exec: &mut Exec<'_>, parts: &[&[Value]]) -> SqlResult<()> {
        self.push(parts)?;
        if self.is_full() {
            self.flush()?;
            exec.interrupt.check()?;
            exec.breathe().await;
        }
        Ok(())
    }

    /// The run, all of it written.
    pub(super) fn finish(mut self) -> SqlResult<Run> {
        self.flush()?;
        Ok(self.run)
    }
}

/// Reads a run from its first row to its last.
#[derive(Debug)]
pub(super) struct RunReader {
    run: Arc<Run>,
    next: usize,
    block: Vec<u8>,
    /// The next row in `block`.
    at: usize,
    /// What `block` holds.
    charge: Charge,
}

impl RunReader {
    /// At the first row.
    pub(super) fn new(run: &Arc<Run>) -> RunReader {
        let charge = run.charge.another();
        RunReader { run: run.clone(), next: 0, block: Vec::new(), at: 0, charge }
    }

    /// Whether there is another row; it is in memory then. Error 2 where it cannot be read.
    pub(super) fn has_more(&mut self) -> SqlResult<bool> {
        if self.at < self.block.len() {
            return Ok(true);
        }
        let Some(extent) = self.run.extents.get(self.next).copied() else {
            self.block = Vec::new();
            self.at = 0;
            self.charge.clear();
            return Ok(false);
        };
        if extent.bytes > self.block.capacity() {
            self.charge.add(extent.bytes - self.block.capacity())?;
        }
        self.run.file.read(extent, &mut self.block)?;
        self.next += 1;
        self.at = CHECKSUM_BYTES;
        Ok(true)
    }

    /// The next part of a row; None at the end. Error 2 where it cannot be read.
    pub(super) fn next_part(&mut self) -> SqlResult<Option<Vec<Value>>> {
        if !self.has_more()? {
            return Ok(None);
        }
        let mut rest = &self.block[self.at..];
        let row = encoding::read_row(&mut rest, &self.run.file.names.lock());
        self.at = self.block.len() - rest.len();
        row.map(Some).ok_or_else(|| self.run.file.damaged())
    }

    /// The next row of two parts.
    pub(super) fn next_pair(&mut self) -> SqlResult<Option<(Vec<Value>, Vec<Value>)>> {
        let Some(first) = self.next_part()? else { return Ok(None) };
        let second = self.next_part()?.ok_or_else(|| self.run.file.damaged())?;
        Ok(Some((first, second)))
    }
}
