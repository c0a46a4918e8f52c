//! Relief: work that cannot stop in the middle of a poll has its thread's other tasks looked after by another
//! thread.
//!
//! ```text
//!   host's thread                        somewhere below, same thread               another thread of the host's
//!   serve(relieve), once
//!   begin() ── poll a task ───────────── worked() … worked(): PATIENCE is over
//!                                        relieve() ─────────────────────────────── takes over all other tasks
//!   end(): whether that happened
//! ```
//! A future yields at its waits. What computes one value (a function on a long text, a row with thousands
//! of calls) has none: it calls [`worked`] now and then instead, as it looks for KILL, and no clock is read
//! before it does. The host hires; who is below knows that it takes long; neither knows the other. All of it
//! is state of one thread, so there is no race in it, and on a thread without a host nothing happens.

use std::cell::{Cell, RefCell};
use std::time::{Duration, Instant};

/// A poll may work for so long before its thread's other tasks are given to another thread.
pub const PATIENCE: Duration = Duration::from_millis(2);

/// Has another thread take over; false if none can be had.
pub type Relieve = Box<dyn Fn() -> bool>;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Watch {
    /// No poll is under way.
    Off,
    /// Nothing has been worked through yet.
    Fresh,
    Since(Instant),
    Relieved,
}

crate::sync::thread_local! {
    static WATCH: Cell<Watch> = const { Cell::new(Watch::Off) };
}

crate::sync::thread_local! {
    static RELIEVE: RefCell<Option<Relieve>> = const { RefCell::new(None) };
}

/// How this thread is relieved from now on.
pub fn serve(relieve: Option<Relieve>) {
    RELIEVE.with(|cell| *cell.borrow_mut() = relieve);
}

/// Before a poll.
pub fn begin() {
    WATCH.with(|cell| cell.set(Watch::Fresh));
}

/// After it: whether another thread was hired meanwhile.
pub fn end() -> bool {
    WATCH.with(|cell| cell.replace(Watch::Off)) == Watch::Relieved
}

/// What comes next takes long, and looks nowhere in between.
#[cold]
pub fn ahead() {
    if !matches!(WATCH.with(Cell::get), Watch::Off | Watch::Relieved) {
        ask();
    }
}

/// A piece of work is done, of some ten microseconds or more, and more may follow before the task can give
/// way.
pub fn worked() {
    WATCH.with(|cell| match cell.get() {
        Watch::Off | Watch::Relieved => {}
        Watch::Fresh => cell.set(Watch::Since(Instant::now())),
        Watch::Since(began) if began.elapsed() >= PATIENCE => ask(),
        Watch::Since(_) => {}
    });
}

fn ask() {
    let relieved = RELIEVE.with(|relieve| relieve.borrow().as_ref().is_some_and(|relieve| relieve()));
    // Where nobody can be had just now, somebody may be after another while.
    WATCH.with(|cell| cell.set(if relieved { Watch::Relieved } else { Watch::Since(Instant::now()) }));
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use std::rc::Rc;

    use super::*;

    fn work_long() {
        worked();
        let began = Instant::now();
        while began.elapsed() < PATIENCE {
            std::hint::spin_loop();
        }
        worked();
    }

    #[test]
    fn who_works_long_is_relieved_once_a_poll() {
        work_long();
        assert!(!end(), "no host");
        let asked = Rc::new(Cell::new(0));
        let (count, has_room) = (asked.clone(), Rc::new(Cell::new(true)));
        let room = has_room.clone();
        serve(Some(Box::new(move || {
            count.set(count.get() + 1);
            room.get()
        })));
        work_long();
        assert_eq!(asked.get(), 0, "no poll is under way");
        begin();
        worked();
        assert!(!end() && asked.get() == 0, "a short poll");
        begin();
        work_long();
        work_long();
        assert_eq!(asked.get(), 1);
        assert!(end() && !end());
        begin();
        ahead();
        ahead();
        assert_eq!(asked.get(), 2);
        assert!(end());
        has_room.set(false);
        begin();
        work_long();
        work_long();
        assert!(asked.get() >= 4, "who was refused asks again");
        assert!(!end());
        serve(None);
    }
}
