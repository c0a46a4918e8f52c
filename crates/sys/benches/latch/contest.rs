//! One contest: threads that look things up in, or change, a small sorted page under one lock, until a fixed
//! amount of work is done. The same for every kind of lock.

use std::hint::black_box;
use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Operations of one contest, all threads together.
pub const OPERATIONS: u64 = 1 << 20;

/// Entries of the page: a lookup in it takes 50 to 100 nanoseconds.
const ENTRIES: u64 = 256;

/// Keys in order, each with a value. Values are changed by a load and a store, so a lock that lets two
/// writers in loses writes, which the contest notices.
struct Page {
    keys: Vec<u64>,
    values: Vec<AtomicU64>,
}

impl Page {
    fn new() -> Self {
        Page {
            keys: (0..ENTRIES).map(|entry| entry * 3).collect(),
            values: (0..ENTRIES).map(|_| AtomicU64::new(0)).collect(),
        }
    }

    fn find(&self, key: u64) -> &AtomicU64 {
        let (Ok(slot) | Err(slot)) = self.keys.binary_search(&key);
        &self.values[slot.min(ENTRIES as usize - 1)]
    }

    fn read(&self, key: u64) -> u64 {
        self.find(key).load(Ordering::Relaxed)
    }

    fn write(&self, key: u64) {
        let value = self.find(key);
        value.store(value.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    }

    fn writes(&self) -> u64 {
        self.values.iter().map(|value| value.load(Ordering::Relaxed)).sum()
    }
}

/// A reader-writer lock.
pub trait Contestant: Sync {
    /// A free lock.
    fn make() -> Self;
    /// Works under a shared hold.
    fn shared<R>(&self, work: impl FnOnce() -> R) -> R;
    /// Works under the exclusive hold.
    fn alone<R>(&self, work: impl FnOnce() -> R) -> R;
}

/// Runs one contest. `writes` of a hundred operations are writes. Time from the first thread's start to the
/// last one's end.
pub fn contest<C: Contestant>(threads: u64, writes: u64) -> Duration {
    let (lock, page) = (C::make(), Page::new());
    let ready = Barrier::new(threads as usize);
    let times: Vec<(Instant, Instant, u64)> = std::thread::scope(|scope| {
        let running: Vec<_> = (0..threads)
            .map(|thread| {
                let (lock, page, ready) = (&lock, &page, &ready);
                scope.spawn(move || {
                    ready.wait();
                    let start = Instant::now();
                    let written = work(lock, page, thread, OPERATIONS / threads, writes);
                    (start, Instant::now(), written)
                })
            })
            .collect();
        running.into_iter().map(|thread| thread.join().expect("a contest does not panic")).collect()
    });
    let written: u64 = times.iter().map(|time| time.2).sum();
    assert_eq!(page.writes(), written, "no write is lost");
    let start = times.iter().map(|time| time.0).min().expect("there are threads");
    let end = times.iter().map(|time| time.1).max().expect("there are threads");
    end - start
}

fn work<C: Contestant>(lock: &C, page: &Page, thread: u64, operations: u64, writes: u64) -> u64 {
    let mut random = 0x9E37_79B9_7F4A_7C15u64.wrapping_mul(thread + 1) | 1;
    let mut written = 0;
    for _ in 0..operations {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        let key = (random >> 32) % (ENTRIES * 3);
        if (random & 0xFFFF) * 100 < writes << 16 {
            lock.alone(|| page.write(key));
            written += 1;
        } else {
            black_box(lock.shared(|| page.read(key)));
        }
    }
    written
}
