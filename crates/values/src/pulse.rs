//! Work that has neither a row nor a value to stop at: comparing two long texts, making the key of one,
//! binding and planning a statement of a million constants.
//!
//! ```text
//!   watched(interrupt, || work)          below, at any depth, same thread
//!   ─────────────────────────── … ────── beat() now and then: others are let in (sys::relief); false once KILL came
//!   an error if a beat was false ◂────── whatever the work gives then
//! ```
//! A beat says no only inside [`watched`], and then [`watched`] fails: what was cut short is seen by nobody.
//! So whoever is below need not be able to fail, and whoever is above cannot forget to ask. State of one
//! thread, and of one call: nothing waits in between.

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use turnstile_engine::interrupt::Interrupt;
use turnstile_sys::relief;

use crate::error::{SqlError, SqlResult};

/// Bytes between two beats.
const BEAT_BYTES: usize = 32 << 10;
/// Steps between two beats; so many take about as long as comparing [`BEAT_BYTES`].
const BEAT_STEPS: u32 = 256;

struct Watch {
    interrupt: Arc<Interrupt>,
    is_cut: bool,
}

thread_local! {
    static WATCH: RefCell<Option<Watch>> = const { RefCell::new(None) };
    static STEPS: Cell<u32> = const { Cell::new(0) };
}

/// Puts back who was watched before, however the work ends.
struct Restore(Option<Watch>);

impl Drop for Restore {
    fn drop(&mut self) {
        WATCH.set(self.0.take());
    }
}

/// Does work that calls [`beat`]; if the statement was ended meanwhile, the error that says why: 1317, or
/// 1213 if its transaction is to be rolled back.
pub fn watched<T>(interrupt: Arc<Interrupt>, work: impl FnOnce() -> T) -> SqlResult<T> {
    let restore = Restore(WATCH.replace(Some(Watch { interrupt, is_cut: false })));
    let done = work();
    let cut = |watch: &Watch| watch.is_cut.then(|| watch.interrupt.reason());
    let reason = WATCH.with_borrow(|watch| watch.as_ref().and_then(cut));
    drop(restore);
    reason.map_or(Ok(done), |reason| Err(reason.into()))
}

/// A piece of work is done. False: the statement is to end, and what is being worked out will not be looked
/// at.
#[must_use]
pub fn beat() -> bool {
    relief::worked();
    #[cfg(any(test, feature = "testing"))]
    BEATS.set(BEATS.get() + 1);
    WATCH.with_borrow_mut(|watch| match watch {
        Some(watch) => {
            watch.is_cut |= watch.interrupt.is_killed();
            !watch.is_cut
        }
        None => true,
    })
}

/// One small step of many: error 1317 if the statement is to end.
#[inline]
pub fn step() -> SqlResult<()> {
    let steps = STEPS.with(|cell| cell.replace(cell.get().wrapping_add(1)));
    if !steps.is_multiple_of(BEAT_STEPS) || beat() { Ok(()) } else { Err(SqlError::query_interrupted()) }
}

/// How many steps something takes, as far as they can be counted.
pub fn steps_of<T>(work: impl FnOnce() -> T) -> (u32, T) {
    let before = STEPS.get();
    let done = work();
    (STEPS.get().wrapping_sub(before), done)
}

/// Counts what a loop works through, and beats once that is much.
#[derive(Default)]
pub struct Pace(usize);

impl Pace {
    /// So many bytes more. False: as [`beat`] says.
    #[inline]
    #[must_use]
    pub fn passes(&mut self, bytes: usize) -> bool {
        self.0 += bytes;
        if self.0 < BEAT_BYTES {
            return true;
        }
        self.0 = 0;
        beat()
    }
}

#[cfg(any(test, feature = "testing"))]
thread_local! {
    static BEATS: Cell<usize> = const { Cell::new(0) };
}

/// Beats of this thread while something is done.
#[cfg(any(test, feature = "testing"))]
pub fn beats_of<T>(work: impl FnOnce() -> T) -> (usize, T) {
    let before = BEATS.get();
    let done = work();
    (BEATS.get() - before, done)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]
    use super::*;

    #[test]
    fn what_is_cut_short_is_seen_by_nobody() {
        let interrupt = Arc::new(Interrupt::new());
        assert!(watched(interrupt.clone(), beat).unwrap());
        interrupt.kill_query();
        assert!(beat(), "nobody is watched");
        assert!(watched(interrupt.clone(), || 7).is_ok(), "it was not cut");
        assert_eq!(watched(interrupt.clone(), beat).unwrap_err().code, 1317);
        let outer = watched(Arc::new(Interrupt::new()), || {
            assert!(watched(interrupt, beat).is_err());
            beat()
        });
        assert!(outer.unwrap(), "who is inside is another");
        assert!(beat());
    }

    #[test]
    fn little_work_is_not_told_of() {
        let mut pace = Pace::default();
        assert_eq!(beats_of(|| (0..BEAT_BYTES).all(|_| pace.passes(1))), (1, true));
        let steps = BEAT_STEPS as usize;
        assert_eq!(beats_of(|| (0..steps * 3).all(|_| step().is_ok())), (3, true));
    }
}
