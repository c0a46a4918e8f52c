//! The latch keeps writers alone, lets readers together, starves nobody; under loom in every interleaving.
#![allow(clippy::unwrap_used)]

use super::*;
use crate::sync::{Arc, thread};

/// Two halves that a writer changes together: a reader must never see them differ. Plain loads and stores of atomics, so
/// that a broken latch is a wrong value and not undefined behaviour.
#[derive(Default)]
struct Pair {
    latch: Latch,
    halves: [AtomicU32; 2],
}

impl Pair {
    fn write(&self) {
        let _guard = self.latch.write();
        self.bump();
    }

    fn bump(&self) {
        for half in &self.halves {
            let before = half.load(Ordering::Relaxed);
            half.store(before + 1, Ordering::Relaxed);
        }
    }

    fn read(&self) -> u32 {
        let _guard = self.latch.read();
        self.same()
    }

    fn same(&self) -> u32 {
        let [first, second] = self.halves.each_ref().map(|half| half.load(Ordering::Relaxed));
        assert_eq!(first, second);
        first
    }
}

fn run(threads: Vec<thread::JoinHandle<()>>) {
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

fn spawn(pair: &Arc<Pair>, work: impl Fn(&Pair) + Send + 'static) -> thread::JoinHandle<()> {
    let pair = Arc::clone(pair);
    thread::spawn(move || work(&pair))
}

#[cfg(not(any(loom, shuttle)))]
mod real {
    use super::*;

    #[test]
    fn readers_together_writers_alone() {
        let latch = Latch::new();
        let first = latch.read();
        let second = latch.try_read().unwrap();
        assert!(latch.try_write().is_none());
        drop((first, second));
        let alone = latch.try_write().unwrap();
        assert!(latch.try_read().is_none() && latch.try_write().is_none());
        drop(alone);
        assert_eq!(latch.state.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn many_threads_lose_no_update() {
        static CLASS: LatchClass = LatchClass::new("test");
        let pair = Arc::new(Pair { latch: Latch::of_class(&CLASS), ..Pair::default() });
        let writers = (0..3).map(|_| spawn(&pair, |pair| (0..5_000).for_each(|_| pair.write())));
        let readers =
            (0..3).map(|_| spawn(&pair, |pair| (0..5_000).for_each(|_| assert!(pair.read() <= 15_000))));
        run(writers.chain(readers).collect());
        assert_eq!(pair.read(), 15_000);
        assert_eq!(pair.latch.state.load(Ordering::Relaxed), 0);
        let stats = CLASS.stats();
        assert!(stats.parks <= stats.shared_waits + stats.exclusive_waits);
    }

    #[test]
    fn a_parked_writer_stops_new_readers_and_parked_readers_come_next() {
        let pair = Arc::new(Pair::default());
        let reading = pair.latch.read();
        let parked = |bit| {
            while pair.latch.state.load(Ordering::Relaxed) & bit == 0 {
                std::thread::yield_now();
            }
        };
        let writer = spawn(&pair, Pair::write);
        parked(WRITERS_PARKED);
        assert!(pair.latch.try_read().is_none(), "a reader does not pass a parked writer");
        let reader = spawn(&pair, |pair| assert!(pair.read() >= 1, "the writer was first"));
        parked(READERS_PARKED);
        drop(reading);
        run(vec![writer, reader]);
    }
}

#[cfg(loom)]
mod model {
    use super::*;

    fn bounded(check: impl Fn() + Send + Sync + 'static) {
        let mut model = loom::model::Builder::new();
        model.preemption_bound = Some(3);
        model.check(check);
    }

    #[test]
    fn loom_latch_two_writers() {
        bounded(|| {
            let pair = Arc::new(Pair::default());
            let other = spawn(&pair, Pair::write);
            pair.write();
            run(vec![other]);
            assert_eq!(pair.read(), 2);
        });
    }

    #[test]
    fn loom_latch_writer_and_reader() {
        bounded(|| {
            let pair = Arc::new(Pair::default());
            let writer = spawn(&pair, |pair| {
                pair.write();
                pair.write();
            });
            assert!(pair.read() <= 2);
            assert!(pair.read() <= 2);
            run(vec![writer]);
            assert_eq!(pair.latch.state.load(Ordering::Relaxed), 0);
        });
    }

    #[test]
    fn loom_latch_two_writers_and_a_reader() {
        bounded(|| {
            let pair = Arc::new(Pair::default());
            let threads = vec![spawn(&pair, Pair::write), spawn(&pair, |pair| assert!(pair.read() <= 2))];
            pair.write();
            run(threads);
            assert_eq!(pair.read(), 2);
        });
    }

    #[test]
    fn loom_latch_writer_and_two_readers() {
        bounded(|| {
            let pair = Arc::new(Pair::default());
            let readers = (0..2).map(|_| spawn(&pair, |pair| assert!(pair.read() <= 1))).collect();
            pair.write();
            run(readers);
            assert_eq!(pair.latch.state.load(Ordering::Relaxed), 0);
        });
    }

    #[test]
    fn loom_latch_try_never_blocks() {
        bounded(|| {
            let pair = Arc::new(Pair::default());
            let other = spawn(&pair, Pair::write);
            if let Some(_guard) = pair.latch.try_write() {
                pair.bump();
            }
            if let Some(_guard) = pair.latch.try_read() {
                assert!(pair.same() <= 2);
            }
            run(vec![other]);
        });
    }
}
