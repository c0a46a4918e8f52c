//! A stream of bytes with many appenders and one drainer that may be slow. Appenders copy into the active
//! buffer under a short mutex; the drainer swaps it for an empty one and works on it outside the mutex, so
//! nobody ever waits for it.
//!
//! ```text
//!   appenders ──copy──> [ active buffer ]  <──swap──>  [ spare ] ──> drainer writes it out, hands it back empty
//!                        start        end
//! ```

use crate::latch::LatchClass;
use crate::ranked::{Rank, RankedMutex};
use crate::sync::atomic::{AtomicU64, Ordering};

/// The buffer. Positions count bytes of the whole stream.
#[derive(Debug)]
pub struct SwapBuffer {
    active: RankedMutex<Active>,
    /// End of the stream, for those who only ask. Stored under the mutex, so it never lags behind a returned
    /// append.
    end: AtomicU64,
}

/// What an appender sees under the mutex.
#[derive(Debug)]
pub struct Active {
    bytes: Vec<u8>,
    start: u64,
    /// Bytes were counted and not kept: what is still here is no whole piece of the stream.
    skipped: bool,
}

impl Active {
    /// Position of the next byte.
    pub fn end(&self) -> u64 {
        self.start + self.bytes.len() as u64
    }

    /// Whether nothing was appended since the last swap.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Copies the bytes to the end.
    pub fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Counts bytes as appended without keeping any, and drops those that were kept. Nobody drains the stream
    /// from here on: [`SwapBuffer::take`] gives nothing more.
    pub fn skip(&mut self, count: u64) {
        self.skipped = true;
        self.start = self.end() + count;
        self.bytes.clear();
    }
}

impl SwapBuffer {
    /// An empty buffer whose first byte will have this position; its mutex has this rank and class.
    pub fn new(rank: Rank, class: &'static LatchClass, start: u64, capacity: usize) -> Self {
        let active = Active { bytes: Vec::with_capacity(capacity), start, skipped: false };
        SwapBuffer { active: RankedMutex::new(rank, class, active), end: AtomicU64::new(start) }
    }

    /// Runs the appender's copying; keep it short.
    pub fn append<R>(&self, copy: impl FnOnce(&mut Active) -> R) -> R {
        let mut active = self.active.lock();
        let result = copy(&mut active);
        self.end.store(active.end(), Ordering::Release);
        result
    }

    /// Position behind the last byte; includes every append that has returned.
    pub fn end(&self) -> u64 {
        self.end.load(Ordering::Acquire)
    }

    /// Takes what was appended since the last call and its position, and leaves `spare` (emptied) in its
    /// place. `None` once anything was skipped: then the stream has a gap, and nothing behind it may count as
    /// drained.
    pub fn take(&self, mut spare: Vec<u8>) -> Option<(u64, Vec<u8>)> {
        spare.clear();
        let mut active = self.active.lock();
        if active.skipped {
            return None;
        }
        let start = active.start;
        active.start = active.end();
        Some((start, std::mem::replace(&mut active.bytes, spare)))
    }
}

#[cfg(test)]
mod tests;
