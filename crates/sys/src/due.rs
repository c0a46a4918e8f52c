//! What a thread owes: a task that waits for work which its host does at the end of a turn says so here, on
//! the thread that polls it.
//!
//! ```text
//!   host's thread                                  somewhere below, same thread
//!   poll tasks ─────────────────────────────────── wait for the log's sync: note()
//!   end of the turn: settle() ── sync, for all
//!   poll whom the sync woke ────────────────────── one of them commits again: note()
//!   settle(): true ── another sync, before the thread sleeps
//! ```
//! Whether anybody at all waits is not the question: those of other threads have hosts of their own. It is
//! state of one thread, so there is no race in it.

use std::cell::Cell;

crate::sync::thread_local! {
    static OWES: Cell<bool> = const { Cell::new(false) };
}

/// The task that is being polled waits for the end of the turn.
pub fn note() {
    OWES.with(|cell| cell.set(true));
}

/// Whether anybody has noted anything on this thread since the last call; who asks sees to it.
pub fn settle() -> bool {
    OWES.with(|cell| cell.replace(false))
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    #[test]
    fn it_is_owed_once_and_by_one_thread() {
        assert!(!settle());
        note();
        note();
        assert!(matches!(std::thread::spawn(settle).join(), Ok(false)));
        assert!(settle() && !settle());
    }
}
