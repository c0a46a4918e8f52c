//! The redo log, first form: one growing file, one mutex.
//!
//! ```text
//!  0: checkpoint lsn u64, crc32c u32 | 4096 + lsn: group group group
//!  group: | len u32 | crc32c over (start lsn, body) u32 | body |
//! ```

use crate::error::{Error, Result};
use crate::ids::Lsn;
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use turnstile_sys::disk::{Disk, DiskFile};

const FILE: &str = "redo.000001";
const DATA: u64 = 4096;
const GROUP_HEADER: usize = 8;

struct State {
    pending: Vec<u8>,
    pending_start: u64,
    stopped: Option<String>,
}

/// The redo log.
pub struct Wal {
    file: Arc<dyn DiskFile>,
    state: Mutex<State>,
    current: AtomicU64,
    flushed: AtomicU64,
    checkpoint: AtomicU64,
    capacity: u64,
}

fn io(error: std::io::Error) -> Error {
    Error::Stopped(format!("redo log: {error}"))
}

fn group_crc(start: u64, body: &[u8]) -> u32 {
    crc32c::crc32c_append(crc32c::crc32c(&start.to_le_bytes()), body)
}

impl Wal {
    fn new(file: Arc<dyn DiskFile>, capacity: u64, checkpoint: u64, end: u64) -> Arc<Self> {
        Arc::new(Wal {
            file,
            state: Mutex::new(State { pending: Vec::new(), pending_start: end, stopped: None }),
            current: AtomicU64::new(end),
            flushed: AtomicU64::new(end),
            checkpoint: AtomicU64::new(checkpoint),
            capacity,
        })
    }

    /// An empty log.
    pub fn create(disk: Arc<dyn Disk>, capacity: u64) -> Result<Arc<Self>> {
        let file = disk.open(FILE, true).map_err(io)?;
        file.set_len(0).map_err(io)?;
        file.set_len(DATA).map_err(io)?;
        let wal = Self::new(file, capacity, 0, 1);
        wal.set_checkpoint(Lsn(1))?;
        Ok(wal)
    }

    /// Opens a log and finds its end.
    pub fn open(disk: Arc<dyn Disk>, capacity: u64) -> Result<Arc<Self>> {
        let file = disk.open(FILE, false).map_err(io)?;
        let mut header = [0; 8];
        file.read_at(&mut header, 0).map_err(io)?;
        let checkpoint = u64::from_le_bytes(header);
        let wal = Self::new(file, capacity, checkpoint, checkpoint);
        let mut end = checkpoint;
        wal.scan(Lsn(checkpoint), |_, group_end, _| {
            end = group_end.0;
            Ok(())
        })?;
        wal.state.lock().pending_start = end;
        wal.current.store(end, Ordering::Release);
        wal.flushed.store(end, Ordering::Release);
        Ok(wal)
    }

    /// Visits the valid groups from `from` on.
    pub fn scan(&self, from: Lsn, mut visit: impl FnMut(Lsn, Lsn, &[u8]) -> Result<()>) -> Result<()> {
        let len = self.file.len().map_err(io)?;
        let mut bytes = vec![0; usize::try_from(len.saturating_sub(DATA + from.0)).unwrap_or(0)];
        self.file.read_at(&mut bytes, DATA + from.0).map_err(io)?;
        let (mut at, mut start) = (0, from.0);
        while at + GROUP_HEADER <= bytes.len() {
            let word =
                |off: usize| u32::from_le_bytes([bytes[off], bytes[off + 1], bytes[off + 2], bytes[off + 3]]);
            let (body_len, crc) = (word(at) as usize, word(at + 4));
            let Some(body) = bytes.get(at + GROUP_HEADER..at + GROUP_HEADER + body_len) else { break };
            if body_len == 0 || group_crc(start, body) != crc {
                break;
            }
            let end = start + (GROUP_HEADER + body_len) as u64;
            visit(Lsn(start), Lsn(end), body)?;
            at += GROUP_HEADER + body_len;
            start = end;
        }
        Ok(())
    }

    /// Appends one group.
    pub fn append(&self, body: &[u8]) -> (Lsn, Lsn) {
        let mut state = self.state.lock();
        let start = state.pending_start + state.pending.len() as u64;
        state.pending.extend_from_slice(&(body.len() as u32).to_le_bytes());
        state.pending.extend_from_slice(&group_crc(start, body).to_le_bytes());
        state.pending.extend_from_slice(body);
        let end = start + (GROUP_HEADER + body.len()) as u64;
        self.current.store(end, Ordering::Release);
        (Lsn(start), Lsn(end))
    }

    /// End of the log.
    pub fn current_lsn(&self) -> Lsn {
        Lsn(self.current.load(Ordering::Acquire))
    }
    /// Durable up to here.
    pub fn flushed_lsn(&self) -> Lsn {
        Lsn(self.flushed.load(Ordering::Acquire))
    }
    /// The last checkpoint.
    pub fn checkpoint_lsn(&self) -> Lsn {
        Lsn(self.checkpoint.load(Ordering::Acquire))
    }
    /// Bytes of redo between checkpoint and end that fit.
    pub fn capacity(&self) -> u64 {
        self.capacity
    }

    /// Makes the log durable up to `lsn`; blocks.
    pub fn flush_to(&self, lsn: Lsn) -> Result<()> {
        if self.flushed_lsn() >= lsn {
            return Ok(());
        }
        let mut state = self.state.lock();
        if let Some(why) = &state.stopped {
            return Err(Error::Stopped(why.clone()));
        }
        let pending = std::mem::take(&mut state.pending);
        let start = state.pending_start;
        let written = self.file.write_at(&pending, DATA + start).and_then(|()| self.file.sync());
        if let Err(error) = written {
            state.stopped = Some(error.to_string());
            return Err(io(error));
        }
        state.pending_start = start + pending.len() as u64;
        self.flushed.store(state.pending_start, Ordering::Release);
        Ok(())
    }

    /// Records that redo before `lsn` is not needed any more.
    pub fn set_checkpoint(&self, lsn: Lsn) -> Result<()> {
        self.file.write_at(&lsn.0.to_le_bytes(), 0).and_then(|()| self.file.sync()).map_err(io)?;
        self.checkpoint.store(lsn.0, Ordering::Release);
        Ok(())
    }

    /// Stops the log: nothing is acknowledged any more.
    pub fn stop(&self, why: &str) {
        self.state.lock().stopped.get_or_insert_with(|| why.to_owned());
    }

    /// Ends cleanly.
    pub fn close(&self) -> Result<()> {
        self.flush_to(self.current_lsn())
    }
}
