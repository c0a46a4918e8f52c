//! The scheduler under every schedule that shuttle thinks of: the files that are shipped, over a kernel made
//! for the model (`events_shuttle.rs`). `./x shuttle`, or
//! `RUSTFLAGS="--cfg shuttle" cargo test --release -p turnstile-server --lib -- shuttle`.
//!
//! A scenario is a random script for each session: it waits for tokens, gives tokens (plainly, or as a lock
//! that is handed on, so that the other runs here), waits for its client's bytes and for the log, gives
//! way, steps aside, or holds its thread up. Every token and byte that a script waits for is in another
//! script before it, so if anybody is left waiting a wake-up was lost, and shuttle says that nobody can go
//! on. Meanwhile the watch takes every poll for a stall, which is the most that it can do.
#![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::sync::Mutex as Plain;
use std::sync::atomic::{AtomicUsize as Count, Ordering};
use std::task::{Context, Poll, Waker};

use shuttle::rand::Rng;
use shuttle::thread;
use turnstile_sys::leader::{Lead, Leader};
use turnstile_sys::progress::Progress;
use turnstile_sys::sync::{Condvar, Mutex, wait_on};
use turnstile_sys::{aside, due, handoff};

use super::events::Line;
use super::{Host, Pool, Readiness, Session, Settings};

/// What a session does next.
#[derive(Clone, Copy, Debug)]
enum Action {
    /// Waits for a token.
    Take,
    /// Gives a token to this one; as a lock that is handed on, if the thread has room for one more task.
    Give {
        to: usize,
        handed: bool,
    },
    /// Waits for a byte from its client.
    Receive,
    /// Commits, and waits for the log.
    Commit,
    GiveWay,
    StepAside,
    /// Keeps its thread for a while.
    Hold,
}

/// What a scenario is made of.
#[derive(Clone, Copy)]
struct Cast {
    groups: usize,
    sessions: usize,
    /// Steps of each kind at most.
    tokens: usize,
    bytes: usize,
    others: usize,
    /// How often the watch sees a stall.
    alarms: usize,
    oversubscribe: usize,
    has_aside: bool,
    /// The pool is ended in the middle.
    is_cut: bool,
}

/// Tokens of a session.
#[derive(Default)]
struct Purse {
    inside: Mutex<(usize, Option<Waker>)>,
}

impl Purse {
    fn give(&self, handed: bool) {
        let mut inside = self.inside.lock();
        inside.0 += 1;
        let waker = inside.1.take();
        drop(inside);
        let Some(waker) = waker else { return };
        if handed && handoff::reserve() {
            handoff::hand(|| waker.wake());
        } else {
            waker.wake();
        }
    }

    fn take(&self, context: &Context<'_>) -> Poll<()> {
        let mut inside = self.inside.lock();
        if inside.0 > 0 {
            inside.0 -= 1;
            return Poll::Ready(());
        }
        inside.1 = Some(context.waker().clone());
        Poll::Pending
    }
}

/// The host: a log that is synced at the end of a turn, as `engine::wal` does it.
struct Machine {
    cast: Cast,
    appended: turnstile_sys::sync::atomic::AtomicU64,
    synced: Progress,
    leader: Leader,
}

impl Host for Machine {
    fn turn_end(&self) -> bool {
        let Some(position) = self.synced.furthest_awaited() else { return false };
        let work = || {
            let end = self.appended.load(Ordering::SeqCst);
            self.synced.publish(end);
        };
        match self.leader.lead_or_leave(|| self.synced.reached() >= position, work) {
            Lead::Led(()) => {
                self.synced.wake_reached();
                self.leader.take_left()
            }
            Lead::Done | Lead::Left => false,
        }
    }

    fn has_aside(&self) -> bool {
        self.cast.has_aside
    }

    fn refresh(&self, settings: &Settings) {
        settings.oversubscribe.store(self.cast.oversubscribe, Ordering::Relaxed);
        // A standby thread waits for its call or does not wait at all: a model has no time.
        let idle_s = u64::from(shuttle::rand::thread_rng().gen_bool(0.7)) * 3600;
        settings.idle_timeout_s.store(idle_s, Ordering::Relaxed);
        settings
            .kickup_ms
            .store(if shuttle::rand::thread_rng().gen_bool(0.5) { 0 } else { 3_600_000 }, Ordering::Relaxed);
    }
}

/// What was seen, by no means of the model's: looking changes no schedule.
#[derive(Default)]
struct Seen {
    faults: Plain<Vec<String>>,
    dropped: Count,
    /// Names of threads that are inside a poll.
    polling: Plain<Vec<String>>,
}

/// Polls of all schedules of a test: scenarios in which these do not happen show nothing.
#[derive(Default)]
struct Tally {
    handed: Count,
    aside: Count,
    two_at_once: Count,
}

/// A session under observation.
struct Watched {
    session: Session,
    home: String,
    is_over: bool,
    cast: Cast,
    seen: Arc<Seen>,
    tally: Arc<Tally>,
}

impl Future for Watched {
    type Output = ();

    fn poll(mut self: std::pin::Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let seen = self.seen.clone();
        let here = thread::current().name().unwrap_or("?").to_string();
        let same = {
            let mut polling = seen.polling.lock().unwrap();
            polling.push(here.clone());
            polling.iter().filter(|name| **name == here).count()
        };
        let tally = &self.tally;
        tally.two_at_once.fetch_add(usize::from(same > 1), Ordering::Relaxed);
        tally.aside.fetch_add(usize::from(here == "aside"), Ordering::Relaxed);
        tally.handed.fetch_add(usize::from(here != "aside" && here != self.home), Ordering::Relaxed);
        let mut faults = seen.faults.lock().unwrap();
        faults.extend(self.is_over.then(|| "polled after its end".into()));
        let too_many = same > 1 + self.cast.oversubscribe;
        faults.extend(too_many.then(|| format!("{same} threads of {here} at once")));
        drop(faults);
        let polled = self.session.as_mut().poll(context);
        let mut polling = seen.polling.lock().unwrap();
        let at = polling.iter().position(|name| *name == here).unwrap();
        polling.swap_remove(at);
        self.is_over = polled.is_ready();
        polled
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        self.seen.dropped.fetch_add(1, Ordering::SeqCst);
    }
}

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

/// Lets others run for a while.
fn linger() {
    for _ in 0..shuttle::rand::thread_rng().gen_range(0..40) {
        thread::yield_now();
    }
}

/// Everything that the scripts share.
struct Stage {
    purses: Vec<Purse>,
    machine: Arc<Machine>,
    over: Mutex<usize>,
    came: Condvar,
}

async fn act(stage: Arc<Stage>, me: usize, script: Vec<Action>, line: Arc<Line>, readiness: Arc<Readiness>) {
    let mut unread = 0;
    for step in script {
        match step {
            Action::Take => poll_fn(|context| stage.purses[me].take(context)).await,
            Action::Give { to, handed } => stage.purses[to].give(handed),
            Action::Receive => {
                poll_fn(|_| {
                    if unread == 0 {
                        match readiness.read(2, || line.receive(2)) {
                            Ok(len) => unread = len,
                            Err(_) => return Poll::Pending,
                        }
                    }
                    unread -= 1;
                    Poll::Ready(())
                })
                .await;
            }
            Action::Commit => {
                let position = stage.machine.appended.fetch_add(1, Ordering::SeqCst) + 1;
                let mut wait = pin!(stage.machine.synced.wait(position));
                poll_fn(|context| {
                    let waited = wait.as_mut().poll(context);
                    if waited.is_pending() {
                        due::note();
                    }
                    waited
                })
                .await
                .unwrap();
            }
            Action::GiveWay => yield_now().await,
            Action::StepAside => aside::step().await,
            Action::Hold => linger(),
        }
    }
    *stage.over.lock() += 1;
    stage.came.notify_all();
}

/// Scripts for the sessions, and whom the client serves in turn.
fn write_scripts(cast: Cast) -> (Vec<Vec<Action>>, Vec<usize>) {
    let mut rng = shuttle::rand::thread_rng();
    let mut scripts = vec![Vec::new(); cast.sessions];
    let mut client = Vec::new();
    let mut kinds = Vec::new();
    kinds.extend(std::iter::repeat_n(0, rng.gen_range(0..=cast.tokens)));
    kinds.extend(std::iter::repeat_n(1, rng.gen_range(0..=cast.bytes)));
    kinds.extend(std::iter::repeat_n(2, rng.gen_range(0..=cast.others)));
    for at in (1..kinds.len()).rev() {
        kinds.swap(at, rng.gen_range(0..=at));
    }
    for kind in kinds {
        let me = rng.gen_range(0..cast.sessions);
        match kind {
            0 => {
                let to = (me + rng.gen_range(1..cast.sessions)) % cast.sessions;
                scripts[me].push(Action::Give { to, handed: rng.gen_bool(0.6) });
                scripts[to].push(Action::Take);
            }
            1 => {
                client.push(me);
                scripts[me].push(Action::Receive);
            }
            _ => scripts[me].push(match rng.gen_range(0..5) {
                0 => Action::GiveWay,
                1 | 2 if cast.has_aside => Action::StepAside,
                3 => Action::Commit,
                _ => Action::Hold,
            }),
        }
    }
    (scripts, client)
}

fn run(cast: Cast, tally: &Arc<Tally>) {
    let machine = Arc::new(Machine {
        cast,
        appended: Default::default(),
        synced: Progress::new(0),
        leader: Leader::new(),
    });
    let seen = Arc::new(Seen::default());
    let pool = Pool::start_unwatched(cast.groups, machine.clone()).unwrap();
    let (scripts, client) = write_scripts(cast);
    let stage = Arc::new(Stage {
        purses: (0..cast.sessions).map(|_| Purse::default()).collect(),
        machine,
        over: Mutex::new(0),
        came: Condvar::new(),
    });
    let mut lines = Vec::new();
    for (me, script) in scripts.into_iter().enumerate() {
        let (line, readiness) = (Arc::new(Line::default()), Arc::new(Readiness::default()));
        readiness.go_first(shuttle::rand::thread_rng().gen_bool(0.3));
        let session = Box::pin(act(stage.clone(), me, script, line.clone(), readiness.clone()));
        let group = &pool.groups()[me % cast.groups];
        let home = format!("worker-{}", group.inbox.group);
        let (seen, tally) = (seen.clone(), tally.clone());
        let watched = Watched { session, home, is_over: false, cast, seen, tally };
        group.spawn(me as u64, line.clone(), readiness, Box::pin(watched));
        lines.push(line);
    }
    let serving = thread::spawn(move || client.into_iter().for_each(|whom| lines[whom].send()));
    let watched = pool.clone();
    let watching = thread::spawn(move || {
        for alarm in 0..cast.alarms {
            linger();
            let group = &watched.groups()[alarm % cast.groups];
            let mut polls = group.counters.polls.load(Ordering::Relaxed);
            watched.look_at(group, &mut polls, 1);
            let coming = group.coming.load(Ordering::SeqCst);
            assert!(coming <= 1 + cast.oversubscribe, "{coming} threads are on their way");
        }
    });
    if !cast.is_cut {
        let mut over = stage.over.lock();
        while *over < cast.sessions {
            over = wait_on(&stage.came, over);
        }
        drop(over);
        for _ in 0..10_000 {
            if pool.session_count() == 0 {
                break;
            }
            thread::yield_now();
        }
        assert_eq!(pool.session_count(), 0, "somebody's end was not heard of");
    }
    serving.join().unwrap();
    watching.join().unwrap();
    pool.stop();
    assert!(seen.faults.lock().unwrap().is_empty(), "{:?}", seen.faults.lock().unwrap());
    for group in pool.groups() {
        assert_eq!((group.threads.load(Ordering::SeqCst), group.active.load(Ordering::SeqCst)), (0, 0));
    }
    drop(pool);
    assert_eq!(seen.dropped.load(Ordering::SeqCst), cast.sessions, "a session was kept, or dropped twice");
}

fn check(rounds: usize, cast: Cast) -> Arc<Tally> {
    let mut config = shuttle::Config::new();
    config.stack_size = 256 << 10;
    let tally: Arc<Tally> = Arc::default();
    let counted = tally.clone();
    // One half by coin at every step; the other with few changes of who goes first, so that one thread goes
    // far while another stands still.
    let random = shuttle::scheduler::RandomScheduler::new(rounds / 2);
    let counting = counted.clone();
    shuttle::Runner::new(random, config.clone()).run(move || run(cast, &counting));
    let uneven = shuttle::scheduler::PctScheduler::new(4, rounds / 2);
    shuttle::Runner::new(uneven, config).run(move || run(cast, &counted));
    tally
}

const CAST: Cast = Cast {
    groups: 1,
    sessions: 3,
    tokens: 4,
    bytes: 2,
    others: 4,
    alarms: 0,
    oversubscribe: 0,
    has_aside: false,
    is_cut: false,
};

/// One worker, and whatever wakes its sessions.
#[test]
fn shuttle_one_worker() {
    check(1000, CAST);
}

/// The leader lock goes round among up to three threads.
#[test]
fn shuttle_leader_lock() {
    let tally = check(2000, Cast { alarms: 4, oversubscribe: 2, ..CAST });
    assert!(tally.two_at_once.load(Ordering::Relaxed) > 100, "the leader lock hardly ever changed hands");
}

/// Two groups whose sessions hand each other locks.
#[test]
fn shuttle_handed() {
    let tally = check(2000, Cast { groups: 2, tokens: 6, others: 2, alarms: 2, oversubscribe: 1, ..CAST });
    assert!(tally.handed.load(Ordering::Relaxed) > 100, "hardly any handoffs");
}

/// Sessions step aside, and come home.
#[test]
fn shuttle_aside() {
    let tally = check(2000, Cast { others: 6, alarms: 1, oversubscribe: 1, has_aside: true, ..CAST });
    assert!(tally.aside.load(Ordering::Relaxed) > 100, "hardly anybody stepped aside");
}

/// Bytes come while their session is polled by another thread than the one that takes its events.
#[test]
fn shuttle_bytes() {
    check(3000, Cast { sessions: 2, tokens: 0, bytes: 5, others: 3, alarms: 4, oversubscribe: 2, ..CAST });
}

/// The watch asks for more threads than it may have.
#[test]
fn shuttle_limit() {
    check(1000, Cast { sessions: 4, tokens: 0, bytes: 0, others: 12, alarms: 12, oversubscribe: 1, ..CAST });
}

/// The pool ends while everything is under way.
#[test]
fn shuttle_end() {
    check(2000, Cast { groups: 2, alarms: 3, oversubscribe: 1, has_aside: true, is_cut: true, ..CAST });
}
