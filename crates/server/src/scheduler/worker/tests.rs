//! The pool: sessions run on their worker, wake-ups from anywhere arrive, a panic costs one session.
#![allow(clippy::unwrap_used)]

use std::future::poll_fn;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::task::{Poll, Waker};
use std::thread;

use parking_lot::Mutex;

use super::{Host, Pool};
use crate::scheduler::Readiness;

#[derive(Default)]
struct Turns(AtomicU64);

impl Host for Turns {
    fn turn_end(&self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

fn spawn(pool: &Pool, session: impl Future<Output = ()> + Send + 'static) -> UnixStream {
    let (ours, theirs) = UnixStream::pair().unwrap();
    pool.least_loaded().spawn(Arc::new(ours.into()), Arc::new(Readiness::default()), Box::pin(session));
    theirs
}

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
    finished.recv_timeout(std::time::Duration::from_secs(30)).expect("a wake-up was lost");
    waking.join().unwrap();
    pool.stop();
}

#[test]
fn a_panic_costs_one_session() {
    let pool = Pool::start(1, Arc::new(Turns::default())).unwrap();
    let _first = spawn(&pool, async { panic!("expected in this test") });
    let (done, finished) = mpsc::channel();
    let _second = spawn(&pool, async move { done.send(()).unwrap() });
    finished.recv_timeout(std::time::Duration::from_secs(30)).unwrap();
    while pool.session_count() > 0 {
        thread::yield_now();
    }
    pool.stop();
}

#[test]
fn a_session_that_yields_lets_others_in_every_turn() {
    let pool = Pool::start(1, Arc::new(Turns::default())).unwrap();
    let order: Arc<Mutex<Vec<u8>>> = Arc::default();
    let (done, finished) = mpsc::channel();
    let sockets: Vec<_> = (0..2u8)
        .map(|name| {
            let (order, done) = (order.clone(), done.clone());
            spawn(&pool, async move {
                for _ in 0..50 {
                    order.lock().push(name);
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
                done.send(()).unwrap();
            })
        })
        .collect();
    for _ in &sockets {
        finished.recv_timeout(std::time::Duration::from_secs(30)).unwrap();
    }
    pool.stop();
    // Once both run, neither gets two turns in a row more often than its start and end explain.
    let order = order.lock();
    let runs = order.windows(3).filter(|three| three[0] == three[1] && three[1] == three[2]).count();
    assert!(order.len() == 100 && runs <= 50, "{order:?}");
}
