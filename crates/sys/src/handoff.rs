//! Direct handoff: whoever hands a short lock to a sleeper may also run it, here and now, instead of
//! waiting for its own thread.
//!
//! ```text
//!   host's thread                        lock room, same thread              the sleeper's waker
//!   open(places) ── poll a task ──────── reserve()? then hand(wake) ──────── is_handed(): into the host's handed tasks
//!                ── poll the handed ──── (they release, and hand on)
//! ```
//! The layers between know nothing of each other: the host says how many handed tasks this thread will
//! still poll, the giver takes a place and wakes inside [`hand`], and the waker, which is the host's own,
//! asks [`is_handed`]. A waker that does not ask is woken as ever. All of it is state of one thread, so
//! there is no race in it. On a thread without a host there are no places, and nothing is ever handed.

use std::cell::Cell;

crate::sync::thread_local! {
    static PLACES: Cell<u32> = const { Cell::new(0) };
    static HANDING: Cell<bool> = const { Cell::new(false) };
}

/// This thread promises to poll, as soon as the present poll returns, up to so many tasks that are handed to
/// it. 0 ends the promise.
pub fn open(places: u32) {
    PLACES.with(|cell| cell.set(places));
}

/// Whether a place is left.
pub fn has_place() -> bool {
    PLACES.with(Cell::get) > 0
}

/// Takes a place, if one is left.
pub fn reserve() -> bool {
    let places = PLACES.with(Cell::get);
    open(places.saturating_sub(1));
    places > 0
}

/// Wakes somebody for whom a place was reserved.
pub fn hand<R>(wake: impl FnOnce() -> R) -> R {
    let before = HANDING.with(|cell| cell.replace(true));
    let result = wake();
    HANDING.with(|cell| cell.set(before));
    result
}

/// Asked by a waker: is it to run on this thread?
pub fn is_handed() -> bool {
    HANDING.with(Cell::get)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_run_out_and_only_a_handed_wake_is_one() {
        assert!(!has_place() && !reserve());
        open(2);
        assert!(reserve() && has_place() && reserve());
        assert!(!reserve() && !has_place());
        assert!(!is_handed());
        assert!(hand(is_handed));
        assert!(!is_handed());
        open(1);
        let elsewhere = std::thread::spawn(has_place).join();
        assert!(matches!(elsewhere, Ok(false)), "places belong to one thread");
        open(0);
    }
}
