//! A kill is seen before, during and after the moment a wait begins.
#![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]

use super::Interrupt;
use crate::error::Error;
use std::future::{Future, pending};
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

struct Unpark(std::thread::Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

#[test]
fn states() {
    let interrupt = Interrupt::new();
    assert_eq!(interrupt.check(), Ok(()));
    interrupt.kill_query();
    assert!(interrupt.is_killed() && !interrupt.is_connection_killed());
    assert_eq!(interrupt.check(), Err(Error::Killed));
    interrupt.clear_query();
    assert!(!interrupt.is_killed());
    interrupt.note_kill();
    assert!(interrupt.is_killed() && !interrupt.is_query_killed());
    assert_eq!(interrupt.check(), Err(Error::GroupRolledBack));
    interrupt.kill_query();
    assert!(interrupt.is_query_killed());
    assert_eq!(interrupt.check(), Err(Error::Killed));
    interrupt.clear_rolled_back();
    assert_eq!(interrupt.check(), Err(Error::Killed));
    interrupt.clear_query();
    assert!(!interrupt.is_killed());
    interrupt.kill_connection();
    interrupt.clear_query();
    assert!(interrupt.is_killed() && interrupt.is_connection_killed());
}

#[test]
fn a_kill_is_never_lost() {
    for _ in 0..500 {
        let interrupt = Arc::new(Interrupt::new());
        let killer = {
            let interrupt = interrupt.clone();
            std::thread::spawn(move || interrupt.kill_query())
        };
        let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
        let mut context = Context::from_waker(&waker);
        let mut wait = pin!(interrupt.interruptible(pending::<()>()));
        while wait.as_mut().poll(&mut context) == Poll::Pending {
            std::thread::park();
        }
        killer.join().unwrap();
    }
}
