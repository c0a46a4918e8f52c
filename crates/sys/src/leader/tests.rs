//! One works for all; under loom with the log's own protocol: two threads append, each needs its bytes
//! drained.
#![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]

use super::{Lead, Leader};
use crate::latch::LatchClass;
use crate::ranked::Rank;
use crate::swap_buffer::SwapBuffer;
use crate::sync::atomic::{AtomicU64, Ordering};
use crate::sync::{Arc, Mutex, thread};

static CLASS: LatchClass = LatchClass::mutexes("test of the leader");

/// A miniature log: append to the swap buffer, one drains for all, the drained position is published.
struct Log {
    buffer: SwapBuffer,
    leader: Leader,
    drained: AtomicU64,
    disk: Mutex<Vec<u8>>,
}

impl Log {
    fn new() -> Self {
        Log {
            buffer: SwapBuffer::new(Rank::new(1, "buffer"), &CLASS, 0, 16),
            leader: Leader::new(),
            drained: AtomicU64::new(0),
            disk: Mutex::new(Vec::new()),
        }
    }

    fn commit(&self, bytes: &[u8]) {
        let end = self.buffer.append(|active| {
            active.push(bytes);
            active.end()
        });
        let done = || self.drained.load(Ordering::Acquire) >= end;
        self.leader.run_unless(done, || {
            let (start, batch) = self.buffer.take(Vec::new()).unwrap();
            let mut disk = self.disk.lock();
            assert_eq!(start, disk.len() as u64);
            disk.extend_from_slice(&batch);
            self.drained.store(disk.len() as u64, Ordering::Release);
        });
        assert!(done(), "whoever returns is covered");
    }
}

impl Log {
    /// Like a worker at the end of its turn: it drains, or leaves that to the one who does.
    fn commit_or_leave(&self, bytes: &[u8]) {
        let mut end = self.buffer.append(|active| {
            active.push(bytes);
            active.end()
        });
        loop {
            let done = || self.drained.load(Ordering::Acquire) >= end;
            let lead = self.leader.lead_or_leave(done, || {
                let (_, batch) = self.buffer.take(Vec::new()).unwrap();
                let mut disk = self.disk.lock();
                disk.extend_from_slice(&batch);
                self.drained.store(disk.len() as u64, Ordering::Release);
            });
            match lead {
                // The duty is for all that was appended, not for what this thread began with.
                Lead::Led(()) if self.leader.take_left() => end = self.buffer.append(|active| active.end()),
                _ => return,
            }
        }
    }
}

fn committers_who_leave(count: usize) {
    let log = Arc::new(Log::new());
    let others: Vec<_> = (1..count)
        .map(|_| {
            let log = Arc::clone(&log);
            thread::spawn(move || log.commit_or_leave(b"x"))
        })
        .collect();
    log.commit_or_leave(b"y");
    others.into_iter().for_each(|other| other.join().unwrap());
    assert_eq!(log.disk.lock().len(), count, "whoever left found somebody who drained for it");
}

#[test]
#[cfg(not(any(loom, shuttle)))]
fn what_is_left_is_done() {
    (0..200).for_each(|_| committers_who_leave(3));
}

#[test]
#[cfg(loom)]
fn loom_log_two_who_leave() {
    loom::model(|| committers_who_leave(2));
}

#[test]
#[cfg(loom)]
fn loom_log_three_who_leave() {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(2);
    model.check(|| committers_who_leave(3));
}

fn two_committers() {
    let log = Arc::new(Log::new());
    let other = Arc::clone(&log);
    let committer = thread::spawn(move || other.commit(b"bb"));
    log.commit(b"a");
    committer.join().unwrap();
    let disk = log.disk.lock();
    assert!(*disk == *b"abb" || *disk == *b"bba", "{disk:?}");
}

#[test]
#[cfg(not(any(loom, shuttle)))]
fn two_committers_are_both_covered() {
    for _ in 0..200 {
        two_committers();
    }
}

#[test]
#[cfg(loom)]
fn loom_log_two_committers() {
    loom::model(two_committers);
}

#[test]
#[cfg(loom)]
fn loom_log_three_committers() {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(2);
    model.check(|| {
        let log = Arc::new(Log::new());
        let others: Vec<_> = (0..2)
            .map(|_| {
                let log = Arc::clone(&log);
                thread::spawn(move || log.commit(b"x"))
            })
            .collect();
        log.commit(b"y");
        for other in others {
            other.join().unwrap();
        }
        assert_eq!(log.disk.lock().len(), 3);
    });
}
