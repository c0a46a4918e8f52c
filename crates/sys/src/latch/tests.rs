//! The latch keeps writers alone, lets readers together, starves nobody; under loom in every interleaving.
#![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]

use super::*;
use crate::sync::{Arc, thread};

/// Two halves that a writer changes together: a reader must never see them differ. Plain loads and stores of
/// atomics, so that a broken latch is a wrong value and not undefined behaviour.
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

    /// A future that a thread polls waits for a latch in the poll, and is woken meanwhile.
    #[test]
    fn to_sleep_uses_up_no_token_of_the_thread() {
        let pair = Arc::new(Pair::default());
        let held = pair.latch.write();
        let waiter = spawn(&pair, |pair| {
            std::thread::current().unpark();
            pair.write();
            let begin = std::time::Instant::now();
            std::thread::park_timeout(std::time::Duration::from_secs(20));
            assert!(begin.elapsed().as_secs() < 20, "the token is gone");
        });
        while pair.latch.queue.lock().is_empty() {
            thread::yield_now();
        }
        drop(held);
        run(vec![waiter]);
    }

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
        let total = CLASS.stats().total();
        assert!(total.parks <= total.spins, "who parks has spun before: {total:?}");
        assert!(classes().iter().any(|class| std::ptr::eq(*class, &CLASS)));
    }

    /// Waits until a bit of the state is set: another thread has got that far.
    fn until(latch: &Latch, bit: u32) {
        while latch.state.load(Ordering::Relaxed) & bit == 0 {
            std::thread::yield_now();
        }
    }

    #[test]
    fn a_claiming_writer_stops_new_readers_and_they_come_after_it() {
        static CLASS: LatchClass = LatchClass::new("test of claiming");
        let pair = Arc::new(Pair { latch: Latch::of_class(&CLASS), ..Pair::default() });
        let reading = pair.latch.read();
        let writer = spawn(&pair, Pair::write);
        until(&pair.latch, WRITER);
        assert!(pair.latch.try_read().is_none(), "a reader does not pass a writer that waits for readers");
        let reader = spawn(&pair, |pair| assert_eq!(pair.read(), 1, "the writer was first"));
        until(&pair.latch, QUEUED);
        until(&pair.latch, DRAIN_PARKED);
        drop(reading);
        run(vec![writer, reader]);
        let stats = CLASS.stats();
        assert_eq!((stats.shared.parks, stats.exclusive.parks), (1, 1));
        assert!(stats.parked_ns_max >= stats.parked_ns_min && stats.parked_ns_min > 0);
        assert!(stats.shared.parked_ns + stats.exclusive.parked_ns >= stats.parked_ns_max);
    }

    #[test]
    fn a_parked_thread_is_shown_with_its_place() {
        static CLASS: LatchClass = LatchClass::new("test of waiting");
        let pair = Arc::new(Pair { latch: Latch::of_class(&CLASS), ..Pair::default() });
        let (writing, line) = (pair.latch.write(), line!() + 1);
        let writer = spawn(&pair, |pair| drop(pair.latch.write()));
        let shown = loop {
            match waiting_now().into_iter().find(|one| one.class == CLASS.name()) {
                Some(one) => break one,
                None => std::thread::yield_now(),
            }
        };
        assert_eq!((shown.wanted, shown.place.line()), (Wanted::Exclusive, line));
        assert!(shown.place.file().ends_with("tests.rs"));
        drop(writing);
        run(vec![writer]);
        assert!(waiting_now().iter().all(|one| one.class != CLASS.name()), "its slot is free again");
        let (reserved, signalled) = wait_array();
        assert!(reserved >= signalled && signalled > 0);
    }

    #[test]
    fn the_number_of_looks_is_a_setting() {
        static CLASS: LatchClass = LatchClass::new("test of spinning");
        let pair = Arc::new(Pair { latch: Latch::of_class(&CLASS), ..Pair::default() });
        for rounds in [7, 0] {
            let before = CLASS.stats().exclusive.rounds;
            set_spin_rounds(rounds);
            let writing = pair.latch.write();
            let writer = spawn(&pair, |pair| drop(pair.latch.write()));
            until(&pair.latch, QUEUED);
            drop(writing);
            run(vec![writer]);
            let looks = CLASS.stats().exclusive.rounds - before;
            // Once before it parks; it may spin again when it is woken.
            assert!(
                looks == u64::from(rounds) || looks == u64::from(2 * rounds),
                "{looks} looks for {rounds}"
            );
        }
        set_spin_rounds(crate::contention::SPIN_ROUNDS_DEFAULT);
    }

    /// A writer that takes the latch again and again must let a queued reader in before it has finished.
    #[test]
    fn a_reader_gets_in_between_the_holds_of_a_tireless_writer() {
        let (pair, read) = (Arc::new(Pair::default()), Arc::new(AtomicU32::new(0)));
        let done = Arc::clone(&read);
        let writer = spawn(&pair, move |pair| {
            while done.load(Ordering::Relaxed) == 0 {
                pair.write();
            }
        });
        let reader = {
            let read = Arc::clone(&read);
            spawn(&pair, move |pair| {
                (0..100).for_each(|_| assert!(pair.read() < u32::MAX));
                read.store(1, Ordering::Relaxed);
            })
        };
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

    /// Three in the queue behind a writer: a batch is handed the latch in order, the rest compete.
    #[test]
    fn loom_latch_queue_of_three() {
        let mut model = loom::model::Builder::new();
        model.preemption_bound = Some(2);
        model.check(|| {
            let pair = Arc::new(Pair::default());
            let writing = pair.latch.write();
            let threads = vec![
                spawn(&pair, |pair| assert!(pair.read() <= 1)),
                spawn(&pair, Pair::write),
                spawn(&pair, |pair| assert!(pair.read() <= 1)),
            ];
            drop(writing);
            run(threads);
            assert_eq!(pair.read(), 1);
            assert_eq!(pair.latch.state.load(Ordering::Relaxed), 0);
        });
    }

    /// A writer that claims while readers are inside sleeps until the last has left, whichever that is.
    #[test]
    fn loom_latch_drain() {
        bounded(|| {
            let pair = Arc::new(Pair::default());
            let reading = pair.latch.read();
            let writer = spawn(&pair, Pair::write);
            let reader = spawn(&pair, |pair| assert!(pair.read() <= 1));
            assert!(pair.same() == 0, "the writer waits for us");
            drop(reading);
            run(vec![writer, reader]);
            assert_eq!(pair.read(), 1);
            assert_eq!(pair.latch.state.load(Ordering::Relaxed), 0);
        });
    }
}
