//! Marks on the way of a statement, for the test that holds "Life of an UPDATE" in ARCHITECTURE to the truth.
//! A build with debug assertions notes them while somebody follows; any other build has none.

/// Marks this place: it is one of the nine files.
#[macro_export]
macro_rules! trail {
    () => {
        if cfg!(debug_assertions) {
            $crate::trail::mark(file!());
        }
    };
}

use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{ThreadId, current};

static FOLLOWED: AtomicBool = AtomicBool::new(false);
static SEEN: Mutex<Vec<(ThreadId, &'static str)>> = Mutex::new(Vec::new());

/// Notes that this thread passes through a file, if somebody follows.
pub fn mark(file: &'static str) {
    if FOLLOWED.load(Ordering::Relaxed) {
        SEEN.lock().unwrap_or_else(PoisonError::into_inner).push((current().id(), file));
    }
}

/// The marks of all threads while `run` runs, in order. One at a time may follow.
pub fn follow(run: impl FnOnce()) -> Vec<(ThreadId, &'static str)> {
    let take = || std::mem::take(&mut *SEEN.lock().unwrap_or_else(PoisonError::into_inner));
    drop(take());
    FOLLOWED.store(true, Ordering::SeqCst);
    run();
    FOLLOWED.store(false, Ordering::SeqCst);
    take()
}
