#![doc = include_str!("wal/README.md")]

mod control;
pub mod fuzz;
mod group;
mod log_buffer;
mod open;
pub mod scan;
mod segments;
mod shared;
mod thread;

pub use group::GROUP_HEADER;

use crate::error::{Error, Result};
use crate::ids::Lsn;
use shared::Shared;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use turnstile_sys::disk::Disk;
use turnstile_sys::due;
use turnstile_sys::progress::Wait;
use turnstile_sys::sync::atomic::{AtomicU8, Ordering};

/// The first byte of a new log. Not 0, so that LSN 0 can mean "never".
pub const FIRST_LSN: Lsn = Lsn(4096);

/// Called when the redo is three quarters full, by whoever notices, again and again until a checkpoint helps.
/// Must be quick and must not call the log.
pub type PressureHook = Box<dyn Fn() + Send + Sync>;

/// Who syncs for the futures of [`Wal::wait_flushed`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Drive {
    /// The host: it calls [`Wal::flush_waiters`] when it has run everything that was ready.
    Inline = 0,
    /// The log's own thread, as soon as somebody waits.
    Thread = 1,
}

/// What a commit waits for: `innodb_flush_log_at_trx_commit`. The number is the option's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum FlushMode {
    /// For nothing; written and synced once a second. A crash of the process loses up to a second.
    Lazy = 0,
    /// For the sync.
    Sync = 1,
    /// For the write; synced once a second. A crash of the process loses nothing, one of the machine up to a
    /// second.
    Write = 2,
}

impl FlushMode {
    /// The mode of an option value.
    pub fn from_number(number: u8) -> Option<Self> {
        Some(match number {
            0 => FlushMode::Lazy,
            1 => FlushMode::Sync,
            2 => FlushMode::Write,
            _ => return None,
        })
    }
}

/// Positions and counters of the log at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WalStats {
    /// End of what was appended.
    pub current_lsn: Lsn,
    /// End of what was written.
    pub written_lsn: Lsn,
    /// End of what was synced.
    pub flushed_lsn: Lsn,
    /// Where recovery would begin.
    pub checkpoint_lsn: Lsn,
    /// Batches written.
    pub writes: u64,
    /// Bytes written, without filling.
    pub written_bytes: u64,
    /// Syncs.
    pub syncs: u64,
    /// Waiters woken by syncs.
    pub woken: u64,
    /// Moving average of the time of a sync.
    pub sync_us_average: u64,
    /// Longest sync.
    pub sync_us_max: u64,
    /// How often a mini-transaction found the redo too full to begin.
    pub waits_for_room: u64,
}

/// The redo log, open.
pub struct Wal {
    shared: Arc<Shared>,
    drive: AtomicU8,
    thread: thread::LogThread,
    disk: Arc<dyn Disk>,
}

impl std::fmt::Debug for Wal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Wal").field(&self.stats()).finish()
    }
}

pub(super) fn damaged_segments(cause: &io::Error) -> Error {
    Error::Corrupt { file: "redo.*".into(), offset: 0, what: cause.to_string() }
}

impl Wal {
    fn start(shared: Shared, disk: Arc<dyn Disk>) -> Arc<Wal> {
        let shared = Arc::new(shared);
        Arc::new(Wal {
            thread: thread::LogThread::new(Arc::clone(&shared)),
            shared,
            drive: AtomicU8::new(Drive::Inline as u8),
            disk,
        })
    }

    /// Appends one group, which recovery will apply whole or not at all, and returns its start and end. Never
    /// waits for the disk. Once the log has stopped, the bytes are dropped and only the positions go on: no
    /// flush to them succeeds. An empty body appends nothing.
    ///
    /// # Panics
    /// If the body is longer than [`REDO_GROUP_MAX_BYTES`](crate::limits::REDO_GROUP_MAX_BYTES).
    pub fn append(&self, body: &[u8]) -> (Lsn, Lsn) {
        self.shared.append(body)
    }

    /// End of the log: a group boundary that includes every append that has returned.
    pub fn current_lsn(&self) -> Lsn {
        self.shared.buffer.end()
    }

    /// Up to here the operating system has it.
    pub fn written_lsn(&self) -> Lsn {
        self.shared.written()
    }

    /// Up to here the disk has it.
    pub fn flushed_lsn(&self) -> Lsn {
        Lsn(self.shared.flushed.reached())
    }

    /// Returns once everything before `lsn` is synced; blocks. Many callers share one sync.
    pub fn flush_to(&self, lsn: Lsn) -> Result<()> {
        self.shared.flush_to(lsn)
    }

    /// Returns once everything before `lsn` is in the operating system's hands; blocks for no sync but a
    /// running one.
    pub fn write_to(&self, lsn: Lsn) -> Result<()> {
        self.shared.write_to(lsn)
    }

    /// Waits, as a future, until everything before `lsn` is synced. Who syncs is decided by
    /// [`Wal::set_drive`].
    pub fn wait_flushed(&self, lsn: Lsn) -> WaitFlushed<'_> {
        WaitFlushed { wal: self, wait: self.shared.flushed.wait(lsn.0), asked: false, lsn }
    }

    /// Waits for what [`FlushMode`] promises to a commit that ended at `lsn`.
    pub async fn wait_durable(&self, lsn: Lsn) -> Result<()> {
        match self.shared.flush_mode() {
            FlushMode::Sync => self.wait_flushed(lsn).await,
            FlushMode::Write => self.shared.write_to(lsn),
            FlushMode::Lazy => self.check_running(),
        }
    }

    /// Whether a future of [`Wal::wait_flushed`] is not yet covered by a sync.
    pub fn pending_waiters(&self) -> bool {
        self.shared.flushed.has_waiters()
    }

    /// Syncs for those who wait, if anybody does; then they are woken, also of a failure. If another thread
    /// is syncing, it leaves them to that one and returns at once. True: somebody has left his waiters to
    /// this call; it is to be repeated before the thread sleeps. For the host of [`Drive::Inline`]; with
    /// [`Drive::Thread`] it does nothing.
    pub fn flush_waiters(&self) -> bool {
        self.drive() == Drive::Inline && self.pending_waiters() && self.shared.sync_for_waiters()
    }

    /// What a host does at the end of a turn. If syncs are `slow` they are the thread's from now on, else the
    /// host's: [`Wal::flush_waiters`], which says what is returned.
    pub fn end_turn(&self, slow: bool) -> bool {
        let drive = if slow { Drive::Thread } else { Drive::Inline };
        if self.drive() != drive {
            self.set_drive(drive);
        }
        drive == Drive::Inline && self.flush_waiters()
    }

    /// Who syncs.
    pub fn drive(&self) -> Drive {
        if self.drive.load(Ordering::SeqCst) == Drive::Thread as u8 { Drive::Thread } else { Drive::Inline }
    }

    /// Changes who syncs; takes effect for those who wait now, too, though with [`Drive::Inline`] only at the
    /// next [`Wal::flush_waiters`].
    pub fn set_drive(&self, drive: Drive) {
        self.drive.store(drive as u8, Ordering::SeqCst);
        if drive == Drive::Thread {
            self.thread.ensure_running();
            // A waiter that came before the change has asked nobody; one that comes later sees the change.
            if let Some(lsn) = self.shared.flushed.furthest_awaited() {
                self.thread.ask(Lsn(lsn));
            }
        }
    }

    /// What commits wait for.
    pub fn flush_mode(&self) -> FlushMode {
        self.shared.flush_mode()
    }

    /// Changes what commits wait for; the modes that sync once a second start the log's thread for it.
    pub fn set_flush_mode(&self, mode: FlushMode) {
        self.shared.set_flush_mode(mode);
        if mode != FlushMode::Sync {
            self.thread.ensure_running();
            self.thread.ask(Lsn(0));
        }
    }

    /// Where recovery would begin.
    pub fn checkpoint_lsn(&self) -> Lsn {
        Lsn(self.shared.checkpoint.reached())
    }

    /// Makes `lsn` the place where recovery begins: syncs the log up to it, records it durably, and frees
    /// what lies before. The caller knows that every page change before it is on disk. An older checkpoint
    /// than the present one is ignored. Blocks.
    pub fn set_checkpoint(&self, lsn: Lsn) -> Result<()> {
        self.shared.set_checkpoint(lsn)
    }

    /// How many bytes may lie between the checkpoint and the end.
    pub fn capacity(&self) -> u64 {
        self.shared.usable_bytes()
    }

    /// How many bytes lie between the checkpoint and the end.
    pub fn age(&self) -> u64 {
        self.shared.age()
    }

    /// Called before a mini-transaction, with no latch held: waits while the redo is more than nine tenths
    /// full.
    pub async fn reserve(&self) -> Result<()> {
        while let Some(checkpoint) = self.shared.room()? {
            let waited = self.shared.checkpoint.wait(checkpoint.0).await;
            waited.map_err(|_| self.shared.stopped_error())?;
        }
        Ok(())
    }

    /// Whether a mini-transaction may begin now. Asks for a checkpoint like [`Wal::reserve`], but does not
    /// wait.
    pub fn try_reserve(&self) -> Result<bool> {
        Ok(self.shared.room()?.is_none())
    }

    /// Says whom to ask for a checkpoint. Only the first call counts.
    pub fn set_pressure_hook(&self, hook: PressureHook) {
        let _ = self.shared.pressure_hook.set(hook);
    }

    /// Stops the log for good, because something else failed that makes acknowledging wrong (a data file,
    /// say).
    pub fn stop(&self, why: &str) {
        let _ = self.shared.stop(why);
    }

    /// [`Error::Stopped`] once the log has stopped.
    pub fn check_running(&self) -> Result<()> {
        self.shared.stopped().map_or(Ok(()), Err)
    }

    /// Whether syncs take longer than this many microseconds: the moving average, or the one that is under
    /// way now.
    pub fn is_slow(&self, limit_us: u64) -> bool {
        self.shared.is_slow(limit_us)
    }

    /// Positions and counters.
    pub fn stats(&self) -> WalStats {
        self.shared.stats()
    }

    /// What recovery must apply: the groups from the checkpoint to where the log ended when it was opened.
    /// Read it before the checkpoint moves.
    pub fn reader(&self) -> Result<scan::Reader> {
        let control = self.shared.control();
        let geometry =
            segments::Geometry { segment_bytes: control.segment_bytes, segment_count: control.segment_count };
        let files = segments::Segments::open(&*self.disk, geometry).map_err(|e| damaged_segments(&e))?;
        let mut reader = scan::Reader::new(files, &control);
        reader.stop_at(self.shared.born());
        Ok(reader)
    }

    /// Visits what [`Wal::reader`] gives, from the group that begins at `from` on.
    pub fn scan(&self, from: Lsn, mut visit: impl FnMut(Lsn, Lsn, &[u8]) -> Result<()>) -> Result<()> {
        let mut reader = self.reader()?;
        while let Some(group) = reader.next_group()? {
            if group.start >= from {
                visit(group.start, group.end, group.body)?;
            }
        }
        Ok(())
    }

    /// Syncs everything appended. The checkpoint is the caller's business.
    pub fn close(&self) -> Result<()> {
        self.flush_to(self.current_lsn())
    }
}

impl Drop for Wal {
    fn drop(&mut self) {
        self.thread.end();
    }
}

/// The future of [`Wal::wait_flushed`].
#[must_use]
pub struct WaitFlushed<'a> {
    wal: &'a Wal,
    wait: Wait<'a>,
    asked: bool,
    lsn: Lsn,
}

impl Future for WaitFlushed<'_> {
    type Output = Result<()>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        match Pin::new(&mut self.wait).poll(context) {
            Poll::Ready(done) => Poll::Ready(done.map_err(|_| self.wal.shared.stopped_error())),
            Poll::Pending => {
                if self.wal.drive() == Drive::Inline {
                    due::note();
                } else if !self.asked {
                    self.asked = true;
                    self.wal.thread.ask(self.lsn);
                }
                Poll::Pending
            }
        }
    }
}

#[cfg(all(test, shuttle))]
mod races_shuttle;
#[cfg(all(test, not(shuttle)))]
mod tests;
