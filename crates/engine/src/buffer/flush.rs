//! Writing dirty pages back: batches through the double-write file, the flusher thread that keeps clean
//! frames ahead of need and the checkpoint close behind, and the checkpoint itself.
//!
//! One batch: pin, latch shared without waiting, copy, unlatch; redo synced up to the newest page LSN in the
//! batch (the WAL rule); double write; sync; in place; sync. The flusher never waits for a latch, so whoever
//! holds a latch may wait for the flusher.

use super::dblwr::DoubleWrite;
use super::guard::Pin;
use super::pool::Pool;
use crate::error::{Error, Result};
use crate::ids::Lsn;
use parking_lot::{Condvar, Mutex};
use std::time::{Duration, Instant};

/// Most pages in one double-write batch (2 MiB).
pub const BATCH_PAGES: usize = 128;
/// Frames in front of the evictor that the flusher keeps clean, per queue.
const VICTIMS_AHEAD: usize = 256;
/// The flusher looks around this often when nobody asks it to.
const LOOK_INTERVAL: Duration = Duration::from_millis(100);
/// With little redo to hold back, it writes one batch this often.
const IDLE_INTERVAL: Duration = Duration::from_secs(1);

#[derive(Default)]
struct Requests {
    frames: Vec<u32>,
    woken: bool,
    closing: bool,
}

/// State of flushing: the double-write file, requests, whether it has stopped.
pub(crate) struct Flusher {
    /// Most pages it writes at a time, at most [`BATCH_PAGES`].
    batch_pages: usize,
    area: Mutex<DoubleWrite>,
    requests: Mutex<Requests>,
    asked: Condvar,
    stopped: Mutex<Option<String>>,
    checkpoint_turn: Mutex<()>,
}

impl Flusher {
    pub(crate) fn new(area: DoubleWrite, batch_pages: usize) -> Self {
        Flusher {
            batch_pages: batch_pages.clamp(1, BATCH_PAGES),
            area: Mutex::new(area),
            requests: Mutex::default(),
            asked: Condvar::new(),
            stopped: Mutex::new(None),
            checkpoint_turn: Mutex::new(()),
        }
    }

    /// Asks the flusher thread to clean these frames.
    pub(crate) fn request(&self, frames: &[u32]) {
        let mut requests = self.requests.lock();
        if requests.frames.len() < BATCH_PAGES {
            requests.frames.extend_from_slice(frames);
        }
        requests.woken = true;
        drop(requests);
        self.asked.notify_one();
    }

    /// Ends the flusher thread.
    pub(crate) fn close(&self) {
        self.requests.lock().closing = true;
        self.asked.notify_one();
    }

    /// Waits for a request or the interval; `None` when closing.
    fn next_request(&self) -> Option<Vec<u32>> {
        let mut requests = self.requests.lock();
        if !requests.woken && !requests.closing {
            self.asked.wait_for(&mut requests, LOOK_INTERVAL);
        }
        requests.woken = false;
        (!requests.closing).then(|| std::mem::take(&mut requests.frames))
    }

    /// An error once writing pages has failed.
    pub(crate) fn check_stopped(&self) -> Result<()> {
        match &*self.stopped.lock() {
            Some(why) => Err(Error::Stopped(why.clone())),
            None => Ok(()),
        }
    }

    fn stop(&self, why: String) {
        self.stopped.lock().get_or_insert(why);
    }
}

impl Pool {
    /// Writes those of the frames that are dirty and not latched by a writer, at most one batch of them.
    /// Returns how many were written.
    pub(crate) fn flush_frames(&self, candidates: &[u32]) -> Result<usize> {
        let mut area = self.flusher.area.lock();
        self.flusher.check_stopped()?;
        let mut pins: Vec<Pin<'_>> = Vec::with_capacity(candidates.len());
        for &index in candidates {
            let frame = self.frames.get(index);
            if frame.is_dirty() && frame.pin_if_resident() {
                pins.push(Pin::adopt(&self.frames, index));
            }
        }
        pins.sort_unstable_by_key(Pin::page_no);
        pins.dedup_by_key(|pin| pin.page_no());
        // What is latched does not count: a batch of one page would look at the same latched one for ever.
        let (mut newest, mut room) = (Lsn(0), self.flusher.batch_pages);
        pins.retain(|pin| {
            if room == 0 {
                return false;
            }
            let Ok(guard) = pin.clone().try_read() else { return false };
            if !pin.frame().flush_begin() {
                return false;
            }
            room -= 1;
            newest = newest.max(guard.lsn());
            area.stage(guard.page_no(), guard.bytes());
            true
        });
        if pins.is_empty() {
            return Ok(0);
        }
        let written =
            self.wal.flush_to(newest).and_then(|()| area.write(&*self.file).map_err(|e| stopped_by(&e)));
        if let Err(error) = written {
            self.stop(error.to_string());
            return Err(error);
        }
        // Before the frames are clean, so that whoever finds all of them clean finds that in the count, too.
        self.counters.count_dirty(-(pins.len() as i64));
        for pin in &pins {
            pin.frame().flush_end();
        }
        self.counters.count_batch(pins.len());
        Ok(pins.len())
    }

    /// After a failed write nothing may be acknowledged any more: redo stops with the data file.
    pub(crate) fn stop(&self, why: String) {
        self.wal.stop(&why);
        self.flusher.stop(why);
        self.announce_room();
    }

    /// Dirty frames that hold back the checkpoint below `limit`, oldest first, at most `count`.
    fn oldest_dirty(&self, limit: Lsn, count: usize) -> Vec<u32> {
        let mut dirty: Vec<(Lsn, u32)> = self
            .frames
            .iter()
            .filter(|(_, frame)| !frame.is_flushing())
            .filter_map(|(index, frame)| Some((frame.oldest_lsn()?, index)))
            .filter(|&(lsn, _)| lsn < limit)
            .collect();
        if dirty.len() > count {
            dirty.select_nth_unstable(count);
            dirty.truncate(count);
        }
        dirty.sort_unstable();
        dirty.into_iter().map(|(_, index)| index).collect()
    }

    /// Writes every page whose changes began before `limit`.
    pub(crate) fn flush_older_than(&self, limit: Lsn) -> Result<()> {
        loop {
            let dirty = self.oldest_dirty(limit, usize::MAX);
            if dirty.is_empty() {
                // A batch of another thread may still be on its way: it holds the area.
                drop(self.flusher.area.lock());
                return self.flusher.check_stopped();
            }
            let mut written = 0;
            for batch in dirty.chunks(self.flusher.batch_pages) {
                written += self.flush_frames(batch)?;
            }
            if written == 0 {
                std::thread::yield_now();
            }
        }
    }

    /// Moves the checkpoint to the oldest change that is only in memory. The candidate is read before the
    /// frames are looked at: a change logged after it needs no redo from before it, and a change logged
    /// before it has marked its frame before it was logged, so the scan sees it.
    pub(crate) fn advance_checkpoint(&self) -> Result<Lsn> {
        let _turn = self.flusher.checkpoint_turn.lock();
        let mut checkpoint = self.wal.current_lsn();
        for (_, frame) in self.frames.iter() {
            if let Some(oldest) = frame.oldest_lsn() {
                checkpoint = checkpoint.min(oldest);
            }
        }
        if checkpoint > self.wal.checkpoint_lsn() {
            if let Err(error) = self.wal.set_checkpoint(checkpoint) {
                self.stop(error.to_string());
                return Err(error);
            }
            self.counters.count_checkpoint();
        }
        Ok(checkpoint)
    }

    /// How much of the redo capacity is in use, in thousandths.
    pub(crate) fn redo_use_permille(&self) -> u64 {
        self.wal.age().saturating_mul(1000) / self.wal.capacity().max(1)
    }

    /// Body of the flusher thread; ends when the pool closes or writing fails.
    pub(crate) fn run_flusher(&self) {
        let mut pace = Pace { looked: Instant::now(), idled: Instant::now() };
        while let Some(wanted) = self.flusher.next_request() {
            if self.flush_turn(&wanted, &mut pace).is_err() {
                return;
            }
        }
    }

    fn flush_turn(&self, wanted: &[u32], pace: &mut Pace) -> Result<()> {
        if self.flush_frames(wanted)? > 0 {
            self.announce_room();
        }
        self.clean_victims()?;
        // Requests for room come far more often than the redo log ages; a look costs a walk over all frames.
        let redo_use = self.redo_use_permille();
        if pace.looked.elapsed() < LOOK_INTERVAL && redo_use < 500 {
            return Ok(());
        }
        pace.looked = Instant::now();
        let batches = match redo_use {
            0..250 if pace.idled.elapsed() < IDLE_INTERVAL => return Ok(()),
            0..500 => 1,
            500..750 => 4,
            _ => 16,
        };
        pace.idled = Instant::now();
        let dirty = self.oldest_dirty(self.wal.current_lsn(), batches * self.flusher.batch_pages);
        for batch in dirty.chunks(self.flusher.batch_pages) {
            self.flush_frames(batch)?;
            self.announce_room();
            if self.redo_use_permille() > 500 {
                self.advance_checkpoint()?;
            }
        }
        self.advance_checkpoint()?;
        Ok(())
    }

    /// Keeps the pages next in line for eviction clean, when free frames are few.
    fn clean_victims(&self) -> Result<()> {
        let (victims, free) = self.next_victims(VICTIMS_AHEAD.min(self.frame_count() / 4));
        if free >= VICTIMS_AHEAD.min(self.frame_count() / 8) {
            return Ok(());
        }
        let dirty: Vec<u32> =
            victims.into_iter().filter(|&index| self.frames.get(index).is_dirty()).collect();
        for batch in dirty.chunks(self.flusher.batch_pages) {
            self.flush_frames(batch)?;
            self.announce_room();
        }
        Ok(())
    }
}

/// When the flusher last did what.
struct Pace {
    looked: Instant,
    idled: Instant,
}

/// The error of a failed write or sync of pages.
pub(crate) fn stopped_by(error: &std::io::Error) -> Error {
    Error::Stopped(format!("writing pages: {error}"))
}
