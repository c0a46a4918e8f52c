//! The pool: sessions run on their worker, wake-ups from anywhere arrive, a panic costs one session.

#![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]

mod syncs;

use std::future::poll_fn;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::task::{Poll, Waker};
use std::thread;

use turnstile_sys::handoff;
use turnstile_sys::sync::Mutex;

use super::{Host, Pool, Readiness, Settings, Solo};

#[derive(Default)]
struct Turns(AtomicU64);

impl Host for Turns {
    fn turn_end(&self) -> bool {
        self.0.fetch_add(1, Ordering::SeqCst);
        false
    }
}

fn spawn(pool: &Pool, session: impl Future<Output = ()> + Send + 'static) -> UnixStream {
    spawn_with(pool, Arc::new(Readiness::default()), session)
}

fn spawn_with(
    pool: &Pool,
    readiness: Arc<Readiness>,
    session: impl Future<Output = ()> + Send + 'static,
) -> UnixStream {
    let (ours, theirs) = UnixStream::pair().unwrap();
    pool.spawn(0, Arc::new(ours.into()), readiness, Box::pin(session));
    theirs
}

/// Gives way once.
async fn yield_now() {
    let mut yielded = false;
    poll_fn(|context| {
        if std::mem::replace(&mut yielded, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

/// Stalls are noticed within milliseconds.
struct Hasty {
    oversubscribe: usize,
}

impl Host for Hasty {
    fn turn_end(&self) -> bool {
        false
    }
    fn refresh(&self, settings: &Settings) {
        settings.stall_limit_ms.store(2, Ordering::Relaxed);
        settings.oversubscribe.store(self.oversubscribe, Ordering::Relaxed);
        settings.kickup_ms.store(20, Ordering::Relaxed);
    }
}

const PATIENCE: std::time::Duration = std::time::Duration::from_secs(30);

#[test]
fn a_wake_up_from_another_thread_is_never_slept_through() {
    let pool = Pool::start(2, Arc::new(Turns::default())).unwrap();
    let (done, finished) = mpsc::channel();
    let parked: Arc<Mutex<Option<Waker>>> = Arc::default();
    let count = Arc::new(AtomicUsize::new(0));
    let (slot, counted) = (parked.clone(), count.clone());
    let _socket = spawn(&pool, async move {
        for turn in 0..2000 {
            poll_fn(|context| {
                if counted.load(Ordering::SeqCst) > turn {
                    return Poll::Ready(());
                }
                *slot.lock() = Some(context.waker().clone());
                if counted.load(Ordering::SeqCst) > turn { Poll::Ready(()) } else { Poll::Pending }
            })
            .await;
            *slot.lock() = None;
        }
        done.send(()).unwrap();
    });
    let waking = thread::spawn(move || {
        while count.load(Ordering::SeqCst) < 2000 {
            if let Some(waker) = parked.lock().take() {
                count.fetch_add(1, Ordering::SeqCst);
                waker.wake();
            }
            thread::yield_now();
        }
    });
    finished.recv_timeout(PATIENCE).expect("a wake-up was lost");
    waking.join().unwrap();
    pool.stop();
}

#[test]
fn a_panic_costs_one_session() {
    let pool = Pool::start(1, Arc::new(Turns::default())).unwrap();
    let _first = spawn(&pool, async { panic!("expected in this test") });
    let (done, finished) = mpsc::channel();
    let _second = spawn(&pool, async move { done.send(()).unwrap() });
    finished.recv_timeout(PATIENCE).unwrap();
    while pool.session_count() > 0 {
        thread::yield_now();
    }
    pool.stop();
}

#[test]
fn a_session_that_yields_lets_others_in_every_turn() {
    let pool = Pool::start(1, Arc::new(Turns::default())).unwrap();
    let order: Arc<Mutex<Vec<u8>>> = Arc::default();
    let here = Arc::new(AtomicUsize::new(0));
    let (done, finished) = mpsc::channel();
    let sockets: Vec<_> = (0..2u8)
        .map(|name| {
            let (order, done, here) = (order.clone(), done.clone(), here.clone());
            spawn(&pool, async move {
                here.fetch_add(1, Ordering::SeqCst);
                while here.load(Ordering::SeqCst) < 2 {
                    yield_now().await;
                }
                for _ in 0..50 {
                    order.lock().push(name);
                    yield_now().await;
                }
                done.send(()).unwrap();
            })
        })
        .collect();
    for _ in &sockets {
        finished.recv_timeout(PATIENCE).unwrap();
    }
    pool.stop();
    // Once both run, neither gets two turns in a row more often than its start and end explain.
    let order = order.lock();
    let runs = order.windows(3).filter(|three| three[0] == three[1] && three[1] == three[2]).count();
    assert!(order.len() == 100 && runs <= 50, "{order:?}");
}

#[test]
fn a_statement_that_blocks_its_thread_holds_nobody_else_up() {
    let pool = Pool::start(1, Arc::new(Hasty { oversubscribe: 3 })).unwrap();
    let (release, held) = mpsc::channel::<()>();
    let (begun, beginning) = mpsc::channel();
    // It blocks its thread until the other session has run: without another thread, for ever.
    let (done, finished) = mpsc::channel();
    let first_done = done.clone();
    let _first = spawn(&pool, async move {
        begun.send(()).unwrap();
        held.recv().unwrap();
        yield_now().await;
        first_done.send("first").unwrap();
    });
    beginning.recv_timeout(PATIENCE).unwrap();
    let _second = spawn(&pool, async move {
        yield_now().await;
        done.send("second").unwrap();
    });
    assert_eq!(finished.recv_timeout(PATIENCE), Ok("second"), "the group stood still behind one statement");
    release.send(()).unwrap();
    assert_eq!(finished.recv_timeout(PATIENCE), Ok("first"), "the session did not come back after its stall");
    let group = &pool.groups()[0];
    assert!(group.counters.stalls.load(Ordering::Relaxed) >= 1);
    // One on a machine with nothing else to do; the watch may have looked again before the first had begun.
    assert!(group.counters.stall_creations.load(Ordering::Relaxed) >= 1);
    pool.stop();
}

#[test]
fn no_more_threads_than_allowed_are_held_up() {
    let pool = Pool::start(1, Arc::new(Hasty { oversubscribe: 1 })).unwrap();
    let gates: Vec<_> = (0..2).map(|_| mpsc::channel::<()>()).collect();
    let (begun, beginning) = mpsc::channel();
    let mut releases = Vec::new();
    let mut sockets = Vec::new();
    for (release, held) in gates {
        let begun = begun.clone();
        releases.push(release);
        sockets.push(spawn(&pool, async move {
            begun.send(()).unwrap();
            held.recv().unwrap();
        }));
        beginning.recv_timeout(PATIENCE).unwrap();
    }
    let group = &pool.groups()[0];
    while group.counters.throttles.load(Ordering::Relaxed) == 0 {
        thread::yield_now();
    }
    assert_eq!(group.active.load(Ordering::Relaxed), 2, "one besides the first");
    for release in releases {
        release.send(()).unwrap();
    }
    while pool.session_count() > 0 {
        thread::yield_now();
    }
    pool.stop();
}

/// Everybody wakes everybody, from inside and from outside, while some block their thread again and again:
/// each session gets all its turns, whichever thread it lands on.
#[test]
fn no_wake_up_is_lost_while_the_leader_lock_changes_hands() {
    const SESSIONS: usize = 24;
    const ROUNDS: usize = 200;
    let pool = Pool::start(2, Arc::new(Hasty { oversubscribe: 4 })).unwrap();
    let (done, finished) = mpsc::channel();
    let parked: Arc<Vec<Mutex<Option<Waker>>>> = Arc::new((0..SESSIONS).map(|_| Mutex::default()).collect());
    let polled_by: Arc<Vec<AtomicUsize>> = Arc::new((0..SESSIONS).map(|_| AtomicUsize::new(0)).collect());
    let mut sockets = Vec::new();
    for me in 0..SESSIONS {
        let (parked, polled_by, done) = (parked.clone(), polled_by.clone(), done.clone());
        sockets.push(spawn(&pool, async move {
            for round in 0..ROUNDS {
                let mut waited = false;
                poll_fn(|context| {
                    assert_eq!(
                        polled_by[me].fetch_add(1, Ordering::SeqCst),
                        0,
                        "polled by two threads at once"
                    );
                    if me % 8 == 0 && round % 50 == 7 && !waited {
                        // Blocks its thread for longer than the limit, so that another takes over.
                        let begin = std::time::Instant::now();
                        while begin.elapsed().as_millis() < 8 {
                            std::hint::spin_loop();
                        }
                    }
                    let next = if std::mem::replace(&mut waited, true) {
                        Poll::Ready(())
                    } else {
                        *parked[me].lock() = Some(context.waker().clone());
                        let other = parked[(me + round + 1) % SESSIONS].lock().take();
                        // Some are to run on this thread, whatever group they are of.
                        match other {
                            Some(other) if round % 3 == 0 && handoff::reserve() => {
                                handoff::hand(|| other.wake())
                            }
                            Some(other) => other.wake(),
                            None => {}
                        }
                        Poll::Pending
                    };
                    polled_by[me].fetch_sub(1, Ordering::SeqCst);
                    next
                })
                .await;
            }
            done.send(me).unwrap();
        }));
    }
    let ending = Arc::new(AtomicUsize::new(0));
    let (ends, bells) = (ending.clone(), parked.clone());
    let outside = thread::spawn(move || {
        while ends.load(Ordering::SeqCst) == 0 {
            for slot in bells.iter() {
                let waker = slot.lock().take();
                waker.into_iter().for_each(Waker::wake);
            }
            thread::yield_now();
        }
    });
    for nth in 0..SESSIONS {
        finished.recv_timeout(PATIENCE).unwrap_or_else(|_| panic!("only {nth} sessions came through"));
    }
    ending.store(1, Ordering::SeqCst);
    outside.join().unwrap();
    pool.stop();
}

/// A session of the other group is handed something: it runs on the thread that handed it, and at home
/// afterwards.
#[test]
fn what_is_handed_runs_where_it_was_woken() {
    let pool = Pool::start(2, Arc::new(Turns::default())).unwrap();
    let parked: Arc<Mutex<Option<Waker>>> = Arc::default();
    let step = Arc::new(AtomicUsize::new(1));
    let (ran, runs) = mpsc::channel();
    let (slot, steps) = (parked.clone(), step.clone());
    let mut seen = 0;
    let _handed = spawn(&pool, async move {
        poll_fn(|context| {
            *slot.lock() = Some(context.waker().clone());
            // Polls for other reasons, such as its socket's first event, tell nothing.
            if steps.load(Ordering::SeqCst) > seen {
                seen += 1;
                ran.send(thread::current().name().map(String::from)).unwrap();
            }
            if seen == 3 { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
    });
    let home = runs.recv_timeout(PATIENCE).unwrap();
    let (host, hosts) = mpsc::channel();
    let (handing, steps) = (parked.clone(), step.clone());
    let handed_group = pool.groups()[0].inbox.clone();
    let _host = spawn(&pool, async move {
        host.send(thread::current().name().map(String::from)).unwrap();
        // Until its own poll has returned it cannot run elsewhere.
        while !handed_group.asleep.load(Ordering::SeqCst) {
            thread::yield_now();
        }
        let waker = handing.lock().take().unwrap();
        steps.fetch_add(1, Ordering::SeqCst);
        assert!(handoff::reserve());
        handoff::hand(|| waker.wake());
    });
    let host = hosts.recv_timeout(PATIENCE).unwrap();
    assert_ne!(host, home, "the pool gives a session to the group with the fewest");
    assert_eq!(runs.recv_timeout(PATIENCE).unwrap(), host);
    step.fetch_add(1, Ordering::SeqCst);
    let waker = parked.lock().take().unwrap();
    waker.wake();
    assert_eq!(runs.recv_timeout(PATIENCE).unwrap(), home);
    while pool.session_count() > 0 {
        thread::yield_now();
    }
    pool.stop();
}

/// A worker notes an event of a session that another thread polls just then. The session cleared the flag
/// after it had found nothing, and with it the event: its client waited for ever.
#[test]
fn a_byte_that_comes_during_a_read_is_not_forgotten() {
    let readiness = Readiness::default();
    let nothing = || Err(std::io::ErrorKind::WouldBlock.into());
    let during = readiness.read(8, || {
        readiness.note_readable();
        nothing()
    });
    assert!(during.is_err());
    assert_eq!(readiness.read(8, || Ok(3)).unwrap(), 3, "the event came after the read, perhaps");
    let unheard = readiness.read(8, || panic!("a short read has drained it"));
    assert_eq!(unheard.unwrap_err().kind(), std::io::ErrorKind::WouldBlock);
    readiness.note_readable();
    assert_eq!(readiness.read(8, || Ok(8)).unwrap(), 8);
    assert_eq!(readiness.read(8, || Ok(0)).unwrap(), 0, "a full read may have left something");
}

/// Runs on one worker whose first session keeps it busy until the others are queued.
fn order_of(first: bool) -> Vec<&'static str> {
    let pool = Pool::start(1, Arc::new(Turns::default())).unwrap();
    let order: Arc<Mutex<Vec<&'static str>>> = Arc::default();
    let (begun, beginning) = mpsc::channel();
    let (release, held) = mpsc::channel::<()>();
    let _busy = spawn(&pool, async move {
        begun.send(()).unwrap();
        held.recv().unwrap();
    });
    beginning.recv_timeout(PATIENCE).unwrap();
    let (done, finished) = mpsc::channel();
    let mut sockets = Vec::new();
    for name in ["plain", "holder"] {
        let readiness = Arc::new(Readiness::default());
        readiness.go_first(first && name == "holder");
        let (order, done) = (order.clone(), done.clone());
        sockets.push(spawn_with(&pool, readiness, async move {
            order.lock().push(name);
            done.send(()).unwrap();
        }));
    }
    release.send(()).unwrap();
    for _ in &sockets {
        finished.recv_timeout(PATIENCE).unwrap();
    }
    pool.stop();
    let order = order.lock();
    order.clone()
}

#[test]
fn a_session_that_holds_locks_goes_before_one_that_does_not() {
    assert_eq!(order_of(false), ["plain", "holder"], "first come, first served");
    assert_eq!(order_of(true), ["holder", "plain"]);
}

/// Two sessions with priority wake each other for ever; one without must still get its turn.
#[test]
fn a_session_without_priority_waits_no_longer_than_the_kickup_timer() {
    let pool = Pool::start(1, Arc::new(Hasty { oversubscribe: 1 })).unwrap();
    let over = Arc::new(AtomicUsize::new(0));
    let parked: Arc<[Mutex<Option<Waker>>; 2]> = Arc::default();
    let mut sockets = Vec::new();
    for me in 0..2 {
        let readiness = Arc::new(Readiness::default());
        readiness.go_first(true);
        let (over, parked) = (over.clone(), parked.clone());
        sockets.push(spawn_with(&pool, readiness, async move {
            poll_fn(|context| {
                if over.load(Ordering::SeqCst) == 1 {
                    let other = parked[1 - me].lock().take();
                    other.into_iter().for_each(Waker::wake);
                    return Poll::Ready(());
                }
                *parked[me].lock() = Some(context.waker().clone());
                let other = parked[1 - me].lock().take();
                other.into_iter().for_each(Waker::wake);
                Poll::Pending
            })
            .await;
        }));
    }
    let (done, finished) = mpsc::channel();
    sockets.push(spawn(&pool, async move {
        yield_now().await;
        done.send(()).unwrap();
    }));
    finished.recv_timeout(PATIENCE).expect("it starved");
    over.store(1, Ordering::SeqCst);
    while pool.session_count() > 0 {
        for slot in parked.iter() {
            let waker = slot.lock().take();
            waker.into_iter().for_each(Waker::wake);
        }
        thread::yield_now();
    }
    pool.stop();
}

#[test]
fn a_connection_with_a_thread_of_its_own_takes_the_thread_along() {
    let solo = Solo::new(Arc::new(Turns::default()));
    let (done, finished) = mpsc::channel();
    let parked: Arc<Mutex<Option<Waker>>> = Arc::default();
    let go = Arc::new(AtomicUsize::new(0));
    let (slot, may, ended) = (parked.clone(), go.clone(), done);
    let (ours, _theirs) = UnixStream::pair().unwrap();
    let session = async move {
        yield_now().await;
        poll_fn(|context| {
            *slot.lock() = Some(context.waker().clone());
            if may.load(Ordering::SeqCst) == 1 { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
        ended.send(thread::current().name().map(String::from)).unwrap();
    };
    solo.spawn(7, Arc::new(ours.into()), Arc::default(), Box::pin(session)).unwrap();
    assert_eq!(solo.session_count(), 1);
    go.store(1, Ordering::SeqCst);
    let name = loop {
        let waker = parked.lock().take();
        waker.into_iter().for_each(Waker::wake);
        if let Ok(name) = finished.try_recv() {
            break name;
        }
        thread::yield_now();
    };
    assert_eq!(name.as_deref(), Some("connection-7"));
    while solo.session_count() > 0 {
        thread::yield_now();
    }
    assert_eq!(solo.created(), 1);
    solo.stop();
}
