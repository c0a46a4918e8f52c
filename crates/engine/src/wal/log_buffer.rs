//! Where appended groups wait for the writer. Appending copies under a short mutex and never waits for the
//! disk; the body's checksum is computed before, so the mutex is held for a header and a copy.
//! `turnstile_sys::swap_buffer` is the protocol.

use super::group::{GROUP_HEADER, MARK_FLAG, header};
use crate::ids::Lsn;
use crate::rank;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use turnstile_sys::checksum::crc32c;
use turnstile_sys::swap_buffer::{Active, SwapBuffer};

const BUFFER_BYTES: usize = 1 << 20;

/// The buffer between appenders and the writer.
pub(super) struct LogBuffer {
    stream: SwapBuffer,
    incarnation: u32,
    /// Synced position of which the stream has no mark yet; 0 if it has.
    mark_due: AtomicU64,
    /// Set when nothing will be written any more: appends only count.
    closed: AtomicBool,
}

impl LogBuffer {
    pub(super) fn new(start: Lsn, incarnation: u32) -> Self {
        LogBuffer {
            stream: SwapBuffer::new(rank::LOG, &rank::LOG_BUFFER, start.0, BUFFER_BYTES),
            incarnation,
            mark_due: AtomicU64::new(0),
            closed: AtomicBool::new(false),
        }
    }

    /// Appends a group and returns its start and end.
    pub(super) fn append(&self, body: &[u8]) -> (Lsn, Lsn) {
        let body_crc = crc32c(body);
        let length = body.len() as u32;
        self.stream.append(|active| {
            if self.closed.load(Ordering::Relaxed) {
                let start = Lsn(active.end());
                active.skip((GROUP_HEADER + body.len()) as u64);
                return (start, Lsn(active.end()));
            }
            // One mark at the front of a batch is enough: a batch is synced as a whole.
            if active.is_empty() && self.mark_due.load(Ordering::Relaxed) != 0 {
                self.push_mark(active);
            }
            let start = Lsn(active.end());
            active.push(&header(start, length, self.incarnation, body_crc));
            active.push(body);
            (start, Lsn(active.end()))
        })
    }

    fn push_mark(&self, active: &mut Active) {
        let synced = self.mark_due.swap(0, Ordering::Relaxed).to_le_bytes();
        let length_field = MARK_FLAG | synced.len() as u32;
        let start = Lsn(active.end());
        active.push(&header(start, length_field, self.incarnation, crc32c(&synced)));
        active.push(&synced);
    }

    /// Says that the stream is synced up to here, for the next mark.
    pub(super) fn note_synced(&self, synced: Lsn) {
        self.mark_due.store(synced.0, Ordering::Relaxed);
    }

    /// End of the stream; includes every append that has returned.
    pub(super) fn end(&self) -> Lsn {
        Lsn(self.stream.end())
    }

    /// Takes what was appended since the last call, with its start. `None` once the log was stopped and
    /// something was appended after that: groups from before are gone, too, so what the caller was about to
    /// write and publish is not there.
    pub(super) fn take(&self, spare: Vec<u8>) -> Option<(Lsn, Vec<u8>)> {
        self.stream.take(spare).map(|(start, bytes)| (Lsn(start), bytes))
    }

    /// From now on appends keep nothing.
    pub(super) fn close(&self) {
        self.closed.store(true, Ordering::Relaxed);
    }
}
