//! The state of an open log that all its users and its thread share, and the one path by which bytes reach
//! the disk.
//!
//! ```text
//!   append ──> log buffer ──turn──> segments ──sync──> flushed: waiters woken
//!                             one thread at a time (Leader); the others find themselves covered
//! ```
//! Any failed write or sync ends it for good: `stop`. A failed sync is never repeated, because the operating
//! system may have dropped the very pages it could not write and report success the next time.

use super::control::{Control, ControlFile};
use super::log_buffer::LogBuffer;
use super::segments::{BLOCK, Segments};
use super::{FlushMode, PressureHook, WalStats};
use crate::error::{Error, Result};
use crate::ids::Lsn;
use crate::limits::{REDO_CHECKPOINT_PERMILLE, REDO_GROUP_MAX_BYTES, REDO_WAIT_PERMILLE};
use parking_lot::Mutex;
use std::io;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::time::Instant;
use turnstile_sys::leader::{Lead, Leader};
use turnstile_sys::progress::Progress;
use turnstile_sys::relief;
use turnstile_sys::sync::atomic::AtomicU64 as Position;

/// Spare buffers larger than this are given back to the allocator.
const SPARE_BYTES_MAX: usize = 4 << 20;

/// So much takes milliseconds to write.
const LONG_BATCH_BYTES: usize = 1 << 20;

pub(super) struct Shared {
    pub(super) buffer: LogBuffer,
    leader: Leader,
    writer: Mutex<Writer>,
    written: Position,
    pub(super) flushed: Progress,
    /// The checkpoint, which those wait for who found the log too full.
    pub(super) checkpoint: Progress,
    control: Mutex<ControlFile>,
    why_stopped: OnceLock<String>,
    flush_mode: AtomicU8,
    pub(super) pressure_hook: OnceLock<PressureHook>,
    /// This incarnation began here, and its number.
    born: (Lsn, u32),
    usable_bytes: u64,
    total_bytes: u64,
    opened: Instant,
    counters: Counters,
}

/// What only the leader touches.
struct Writer {
    segments: Segments,
    spare: Vec<u8>,
}

#[derive(Default)]
struct Counters {
    writes: AtomicU64,
    written_bytes: AtomicU64,
    syncs: AtomicU64,
    woken: AtomicU64,
    sync_us_average: AtomicU64,
    sync_us_max: AtomicU64,
    /// Since when a sync is under way, in microseconds after `Shared::opened`; 0: none is.
    syncing_since_us: AtomicU64,
    waits_for_room: AtomicU64,
}

impl Shared {
    pub(super) fn new(segments: Segments, control: ControlFile, end: Lsn) -> Self {
        let geometry = segments.geometry();
        let current = control.current();
        Shared {
            buffer: LogBuffer::new(end, current.incarnation),
            leader: Leader::new(),
            writer: Mutex::new(Writer { segments, spare: Vec::new() }),
            written: Position::new(end.0),
            flushed: Progress::new(end.0),
            checkpoint: Progress::new(current.checkpoint.0),
            control: Mutex::new(control),
            why_stopped: OnceLock::new(),
            flush_mode: AtomicU8::new(FlushMode::Sync as u8),
            pressure_hook: OnceLock::new(),
            born: (end, current.incarnation),
            usable_bytes: geometry.usable_bytes(),
            total_bytes: geometry.total_bytes(),
            opened: Instant::now(),
            counters: Counters::default(),
        }
    }

    pub(super) fn append(&self, body: &[u8]) -> (Lsn, Lsn) {
        assert!(body.len() <= REDO_GROUP_MAX_BYTES, "a mini-transaction of {} bytes", body.len());
        if body.is_empty() {
            let here = self.buffer.end();
            return (here, here);
        }
        self.buffer.append(body)
    }

    pub(super) fn written(&self) -> Lsn {
        Lsn(self.written.load(Ordering::Acquire))
    }

    pub(super) fn flush_mode(&self) -> FlushMode {
        FlushMode::from_number(self.flush_mode.load(Ordering::Relaxed)).unwrap_or(FlushMode::Sync)
    }

    pub(super) fn set_flush_mode(&self, mode: FlushMode) {
        self.flush_mode.store(mode as u8, Ordering::Relaxed);
    }

    // -- stopping

    pub(super) fn stopped(&self) -> Option<Error> {
        self.why_stopped.get().map(|why| Error::Stopped(why.clone()))
    }

    /// Nothing is written or acknowledged from here on. The first reason is kept.
    pub(super) fn stop(&self, why: &str) -> Error {
        let error = self.mark_stopped(why);
        self.wake_stopped();
        error
    }

    /// The part of stopping that must be done before the leader's turn ends; the sleepers are woken after it.
    fn mark_stopped(&self, why: &str) -> Error {
        let _ = self.why_stopped.set(why.to_string());
        self.buffer.close();
        self.flushed.mark_failed();
        self.checkpoint.mark_failed();
        self.stopped_error()
    }

    fn wake_stopped(&self) {
        self.flushed.wake_reached();
        self.checkpoint.wake_reached();
    }

    pub(super) fn stopped_error(&self) -> Error {
        self.stopped().unwrap_or_else(|| Error::Stopped("the log has failed".into()))
    }

    fn mark_stopped_by(&self, what: &str, cause: &io::Error) -> Error {
        self.mark_stopped(&format!("redo {what} failed: {cause}"))
    }

    // -- writing

    /// Returns once everything before `lsn` is synced.
    pub(super) fn flush_to(&self, lsn: Lsn) -> Result<()> {
        self.bring_to(lsn, true)
    }

    /// Returns once everything before `lsn` is in the operating system's hands.
    pub(super) fn write_to(&self, lsn: Lsn) -> Result<()> {
        self.bring_to(lsn, false)
    }

    fn bring_to(&self, lsn: Lsn, sync: bool) -> Result<()> {
        let lsn = lsn.min(self.buffer.end());
        let covered = || {
            let reached = if sync { self.flushed.reached() } else { self.written().0 };
            reached >= lsn.0
        };
        if covered() {
            return Ok(());
        }
        let over = || covered() || self.why_stopped.get().is_some();
        match self.leader.run_unless(over, || self.turn(sync)) {
            // Woken after the turn: the next leader may already be at work.
            Some(Ok(())) => {
                self.wake_synced();
                // Those who left their wait to this thread: it has no turn of its own in which to come back
                // to them.
                let mut owes = self.leader.take_left();
                while owes {
                    owes = self.sync_for_waiters();
                }
                Ok(())
            }
            Some(Err(stopped)) => {
                self.wake_stopped();
                Err(stopped)
            }
            None if covered() => Ok(()),
            None => Err(self.stopped_error()),
        }
    }

    fn wake_synced(&self) {
        let woken = self.flushed.wake_reached();
        self.counters.woken.fetch_add(woken as u64, Ordering::Relaxed);
    }

    /// Syncs for those who wait, or leaves them to the thread that syncs just now. True: somebody has left
    /// his to this thread meanwhile, which is to call it again before it sleeps. A failure is told to those
    /// who wait.
    pub(super) fn sync_for_waiters(&self) -> bool {
        let Some(lsn) = self.flushed.furthest_awaited() else { return false };
        let over = || self.flushed.reached() >= lsn || self.why_stopped.get().is_some();
        match self.leader.lead_or_leave(over, || self.turn(true)) {
            Lead::Led(Ok(())) => {
                self.wake_synced();
                self.leader.take_left()
            }
            Lead::Led(Err(_)) => {
                self.wake_stopped();
                false
            }
            Lead::Done | Lead::Left => false,
        }
    }

    /// Writes everything appended so far, and syncs if asked. Only the leader runs this.
    fn turn(&self, sync: bool) -> Result<()> {
        turnstile_sys::trail!();
        let mut writer = self.writer.lock();
        let spare = std::mem::take(&mut writer.spare);
        // Somebody else may have stopped the log after this thread looked.
        let Some((start, mut bytes)) = self.buffer.take(spare) else { return Err(self.stopped_error()) };
        let end = start.0 + bytes.len() as u64;
        if bytes.len() >= LONG_BATCH_BYTES {
            // Who only reads need not wait for it.
            relief::ahead();
        }
        if !bytes.is_empty() {
            self.write_batch(&mut writer, start, &mut bytes)?;
        }
        if bytes.capacity() <= SPARE_BYTES_MAX {
            writer.spare = bytes;
        }
        self.written.store(end, Ordering::Release);
        if !sync {
            return Ok(());
        }
        let began = Instant::now();
        let since_us = began.duration_since(self.opened).as_micros() as u64;
        self.counters.syncing_since_us.store(since_us.max(1), Ordering::Relaxed);
        let synced = writer.segments.sync();
        self.counters.syncing_since_us.store(0, Ordering::Relaxed);
        synced.map_err(|cause| self.mark_stopped_by("sync", &cause))?;
        drop(writer);
        self.count_sync(began);
        self.buffer.note_synced(Lsn(end));
        self.flushed.publish(end);
        Ok(())
    }

    fn write_batch(&self, writer: &mut Writer, start: Lsn, bytes: &mut Vec<u8>) -> Result<()> {
        let end = start.0 + bytes.len() as u64;
        let padded_end = end.next_multiple_of(BLOCK);
        let oldest_kept = self.checkpoint.reached() / BLOCK * BLOCK;
        if padded_end - oldest_kept > self.total_bytes {
            return Err(
                self.mark_stopped("the redo is full: writers went on without waiting for a checkpoint")
            );
        }
        bytes.resize((padded_end - start.0) as usize, 0);
        writer.segments.write(start.0, bytes).map_err(|cause| self.mark_stopped_by("write", &cause))?;
        self.counters.writes.fetch_add(1, Ordering::Relaxed);
        self.counters.written_bytes.fetch_add(end - start.0, Ordering::Relaxed);
        Ok(())
    }

    fn count_sync(&self, began: Instant) {
        let us = u64::try_from(began.elapsed().as_micros()).unwrap_or(u64::MAX);
        let counters = &self.counters;
        // Only the leader writes these, so load and store suffice. Each sync counts an eighth.
        let average = counters.sync_us_average.load(Ordering::Relaxed);
        let next = if average == 0 { us } else { (average * 7 + us).div_ceil(8) };
        counters.sync_us_average.store(next, Ordering::Relaxed);
        counters.sync_us_max.fetch_max(us, Ordering::Relaxed);
        counters.syncs.fetch_add(1, Ordering::Relaxed);
    }

    /// Whether syncs take longer than this on the average, or the one under way does.
    pub(super) fn is_slow(&self, limit_us: u64) -> bool {
        if self.counters.sync_us_average.load(Ordering::Relaxed) > limit_us {
            return true;
        }
        match self.counters.syncing_since_us.load(Ordering::Relaxed) {
            0 => false,
            since_us => self.opened.elapsed().as_micros() as u64 > since_us + limit_us,
        }
    }

    // -- room

    pub(super) fn usable_bytes(&self) -> u64 {
        self.usable_bytes
    }

    pub(super) fn age(&self) -> u64 {
        self.buffer.end().0.saturating_sub(self.checkpoint.reached())
    }

    /// `Ok(None)`: go on. `Ok(Some(lsn))`: wait until the checkpoint is there. Asks for a checkpoint when it
    /// is time.
    pub(super) fn room(&self) -> Result<Option<Lsn>> {
        if let Some(stopped) = self.stopped() {
            return Err(stopped);
        }
        let age = self.age();
        if age * 1000 > self.usable_bytes * REDO_CHECKPOINT_PERMILLE
            && let Some(hook) = self.pressure_hook.get()
        {
            hook();
        }
        let allowed = self.usable_bytes * REDO_WAIT_PERMILLE / 1000;
        if age <= allowed {
            return Ok(None);
        }
        self.counters.waits_for_room.fetch_add(1, Ordering::Relaxed);
        Ok(Some(Lsn(self.buffer.end().0 - allowed)))
    }

    /// Moves the checkpoint; everything before it may be overwritten afterwards.
    pub(super) fn set_checkpoint(&self, checkpoint: Lsn) -> Result<()> {
        if checkpoint > self.buffer.end() {
            return Err(self.stop(&format!("checkpoint {checkpoint} behind the end of the log")));
        }
        self.flush_to(checkpoint)?;
        let mut file = self.control.lock();
        if let Some(stopped) = self.stopped() {
            return Err(stopped);
        }
        let before = file.current();
        if checkpoint <= before.checkpoint {
            return Ok(());
        }
        let (born, incarnation) = self.born;
        let incarnation_min = if checkpoint >= born { incarnation } else { before.incarnation_min };
        let synced = Lsn(self.flushed.reached());
        let after = Control { checkpoint, synced, incarnation_min, ..before };
        file.write(after).map_err(|cause| {
            let error = self.mark_stopped_by("checkpoint write", &cause);
            self.wake_stopped();
            error
        })?;
        self.checkpoint.advance_to(checkpoint.0);
        Ok(())
    }

    pub(super) fn control(&self) -> Control {
        self.control.lock().current()
    }

    /// Where this life of the engine began to append.
    pub(super) fn born(&self) -> Lsn {
        self.born.0
    }

    pub(super) fn stats(&self) -> WalStats {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let counters = &self.counters;
        WalStats {
            current_lsn: self.buffer.end(),
            written_lsn: self.written(),
            flushed_lsn: Lsn(self.flushed.reached()),
            checkpoint_lsn: Lsn(self.checkpoint.reached()),
            writes: read(&counters.writes),
            written_bytes: read(&counters.written_bytes),
            syncs: read(&counters.syncs),
            woken: read(&counters.woken),
            sync_us_average: read(&counters.sync_us_average),
            sync_us_max: read(&counters.sync_us_max),
            waits_for_room: read(&counters.waits_for_room),
        }
    }
}
