//! Syncs of the log beside sessions: at the end of a turn, long ones, and who steps aside for them.

use std::future::poll_fn;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::task::{Poll, Waker};
use std::thread;

use turnstile_sys::sync::Mutex;
use turnstile_sys::{aside, due, relief};

use super::super::{Host, Pool, Settings};
use super::{PATIENCE, Turns, spawn, yield_now};

/// A log: a position for each sync, and who waits for the next one.
#[derive(Default)]
struct Log {
    syncs: AtomicUsize,
    waiting: Mutex<Vec<Waker>>,
}

impl Log {
    async fn commit(&self) {
        let position = self.syncs.load(Ordering::SeqCst);
        poll_fn(|context| {
            if self.syncs.load(Ordering::SeqCst) > position {
                return Poll::Ready(());
            }
            self.waiting.lock().push(context.waker().clone());
            due::note();
            Poll::Pending
        })
        .await;
    }
}

impl Host for Log {
    fn turn_end(&self) -> bool {
        let waiting = std::mem::take(&mut *self.waiting.lock());
        self.syncs.fetch_add(usize::from(!waiting.is_empty()), Ordering::SeqCst);
        waiting.into_iter().for_each(Waker::wake);
        false
    }
}

/// A session that gets a lock from another of the same turn is polled after the turn's sync. Its commit was
/// synced only when something else woke the worker.
#[test]
fn a_commit_after_the_sync_of_its_turn_is_synced_before_the_worker_sleeps() {
    let log = Arc::new(Log::default());
    let pool = Pool::start(1, log.clone()).unwrap();
    let parked: Arc<[Mutex<Option<Waker>>; 2]> = Arc::default();
    let step = Arc::new(AtomicUsize::new(0));
    let reach = |me: usize, wanted: usize| {
        let (parked, step) = (parked.clone(), step.clone());
        async move {
            poll_fn(|context| {
                *parked[me].lock() = Some(context.waker().clone());
                if step.load(Ordering::SeqCst) >= wanted { Poll::Ready(()) } else { Poll::Pending }
            })
            .await;
        }
    };
    let (done, finished) = mpsc::channel();
    let (owner_waits, waiter_waits) = (reach(0, 1), reach(1, 2));
    let (handing, steps, committing) = (parked.clone(), step.clone(), log.clone());
    let _owner = spawn(&pool, async move {
        owner_waits.await;
        steps.store(2, Ordering::SeqCst);
        let waker = handing[1].lock().take();
        waker.into_iter().for_each(Waker::wake);
    });
    let _waiter = spawn(&pool, async move {
        waiter_waits.await;
        committing.commit().await;
        done.send(()).unwrap();
    });
    // Until the sockets' first events are over, one of them might wake the worker.
    let inbox = &pool.groups()[0].inbox;
    while parked.iter().any(|slot| slot.lock().is_none()) || !inbox.asleep.load(Ordering::SeqCst) {
        thread::yield_now();
    }
    step.store(1, Ordering::SeqCst);
    let waker = parked[0].lock().take();
    waker.into_iter().for_each(Waker::wake);
    finished.recv_timeout(PATIENCE).expect("the commit waits for a sync that nobody makes");
    pool.stop();
}

/// A sync of many megabytes: nobody else's.
struct LongSync {
    begin: Mutex<Option<mpsc::Sender<()>>>,
    release: Mutex<Option<mpsc::Receiver<()>>>,
}

impl Host for LongSync {
    fn turn_end(&self) -> bool {
        let held = self.begin.lock().take().and_then(|begin| {
            begin.send(()).unwrap();
            self.release.lock().take()
        });
        if let Some(held) = held {
            relief::ahead();
            held.recv_timeout(PATIENCE).expect("who is released by another session of the worker");
        }
        false
    }
    fn refresh(&self, settings: &Settings) {
        // Nobody else notices.
        settings.stall_limit_ms.store(3_600_000, Ordering::Relaxed);
    }
}

#[test]
fn a_long_sync_holds_nobody_up() {
    let (begin, beginning) = mpsc::channel();
    let (release, held) = mpsc::channel();
    let host = LongSync { begin: Mutex::new(Some(begin)), release: Mutex::new(Some(held)) };
    let pool = Pool::start(1, Arc::new(host)).unwrap();
    let _first = spawn(&pool, async {});
    beginning.recv_timeout(PATIENCE).unwrap();
    let (done, finished) = mpsc::channel();
    let _reader = spawn(&pool, async move {
        release.send(()).unwrap();
        done.send(()).unwrap();
    });
    finished.recv_timeout(PATIENCE).expect("the other session waits for the sync");
    pool.stop();
}

/// The name of the thread that runs this.
fn here() -> Option<String> {
    thread::current().name().map(String::from)
}

/// A busy worker leaves what is long to the thread aside, and goes on with the others meanwhile; the session
/// comes home afterwards.
#[test]
fn who_steps_aside_holds_nobody_up() {
    let pool = Pool::start(1, Arc::new(Turns::default())).unwrap();
    let (begun, beginning) = mpsc::channel();
    let (release, held) = mpsc::channel::<()>();
    let _busy = spawn(&pool, async move {
        begun.send(()).unwrap();
        held.recv().unwrap();
    });
    beginning.recv_timeout(PATIENCE).unwrap();
    // Both are queued when the worker comes back, so the first finds somebody who waits.
    let (report, reports) = mpsc::channel();
    let (others, other) = mpsc::channel();
    let (told, tell) = mpsc::channel();
    let _long = spawn(&pool, async move {
        aside::step().await;
        // It ends only when the other one has run: on the worker, that would be never.
        let met: &'static str = other.recv().unwrap();
        report.send((met, here())).unwrap();
        yield_now().await;
        told.send(here()).unwrap();
    });
    let _short = spawn(&pool, async move { others.send("short").unwrap() });
    release.send(()).unwrap();
    assert_eq!(reports.recv_timeout(PATIENCE), Ok(("short", Some("aside".into()))));
    assert_eq!(tell.recv_timeout(PATIENCE), Ok(Some("worker-1".into())));
    while pool.session_count() > 0 {
        thread::yield_now();
    }
    pool.stop();
}

/// With nobody else to serve a worker does it itself.
#[test]
fn who_is_alone_does_not_step_aside() {
    let pool = Pool::start(1, Arc::new(Turns::default())).unwrap();
    let (report, reports) = mpsc::channel();
    let _alone = spawn(&pool, async move {
        aside::step().await;
        report.send(here()).unwrap();
    });
    assert_eq!(reports.recv_timeout(PATIENCE), Ok(Some("worker-1".into())));
    pool.stop();
}

/// Many step aside again and again, some panic there, some end there, and the pool ends while others are
/// still at it.
#[test]
fn nobody_is_lost_aside() {
    const SESSIONS: usize = 40;
    let turns = Arc::new(Turns::default());
    let pool = Pool::start(2, turns.clone()).unwrap();
    let (done, finished) = mpsc::channel();
    let aside_count = Arc::new(AtomicUsize::new(0));
    let sockets: Vec<_> = (0..SESSIONS)
        .map(|me| {
            let (done, count) = (done.clone(), aside_count.clone());
            spawn(&pool, async move {
                for round in 0..200 {
                    aside::step().await;
                    count.fetch_add(usize::from(here().as_deref() == Some("aside")), Ordering::SeqCst);
                    if me % 10 == 9 && round == 150 {
                        done.send(me).unwrap();
                        panic!("expected in this test");
                    }
                    yield_now().await;
                }
                done.send(me).unwrap();
                if me % 10 == 8 {
                    loop {
                        aside::step().await;
                        yield_now().await;
                    }
                }
            })
        })
        .collect();
    for nth in 0..sockets.len() {
        finished.recv_timeout(PATIENCE).unwrap_or_else(|_| panic!("only {nth} sessions came through"));
    }
    while pool.session_count() > SESSIONS / 10 {
        thread::yield_now();
    }
    assert!(aside_count.load(Ordering::SeqCst) > 0);
    pool.stop();
}
