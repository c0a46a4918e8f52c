//! What a session knows of its socket between two system calls: whether a read could succeed.
//!
//! The sockets are registered edge-triggered once and for all, so a session that has drained its socket
//! leaves the flag cleared and simply returns `Pending`; the host sets it and polls the session at the next
//! event. A write needs no flag: whoever finds the send buffer full is polled when the kernel says that there
//! is room.
//!
//! The flag is cleared before the read, never after it: the session may run on another thread than the one
//! that takes its group's events (after a direct handoff, aside, or because it is held up), and an event
//! between the read and the clearing would be forgotten, with a client that waits for its answer for ever.
//! What comes before the read is read; what comes after it is told after the clearing. (A plain store does:
//! the kernel reads and fills a socket under the socket's lock, which orders it before the store that
//! tells.)

use std::fmt::Debug;
use std::io::{self, ErrorKind};
use std::sync::{Arc, OnceLock};

use turnstile_sys::sync::atomic::{AtomicBool, Ordering};

/// What a session waits with, as far as its socket is concerned.
pub trait Interruptible: Debug + Send + Sync {
    /// The client has gone: whatever the session waits for, it waits in vain.
    fn client_gone(&self);
}

/// Readiness of one socket. `readable` starts true: the first system call finds out.
#[derive(Debug)]
pub struct Readiness {
    readable: AtomicBool,
    interrupt: OnceLock<Arc<dyn Interruptible>>,
    /// The session goes before others; written by the session, read when it is queued.
    goes_first: AtomicBool,
    /// The client has closed its side.
    hung_up: AtomicBool,
    /// A part of a message has come, its rest has not.
    within_message: AtomicBool,
}

impl Default for Readiness {
    fn default() -> Self {
        Readiness {
            readable: AtomicBool::new(true),
            interrupt: OnceLock::new(),
            goes_first: AtomicBool::new(false),
            hung_up: AtomicBool::new(false),
            within_message: AtomicBool::new(false),
        }
    }
}

impl Readiness {
    /// An event says that a read may bring something.
    pub fn note_readable(&self) {
        self.readable.store(true, Ordering::Release);
    }
    /// Whom to interrupt when the client vanishes. The session says so once, when it begins.
    pub fn interrupt_on_hangup(&self, interrupt: Arc<dyn Interruptible>) {
        // A second call would be a second session on one socket; the first one's interrupt stays.
        let _ = self.interrupt.set(interrupt);
        // The client may have gone while it was still logging in.
        if self.hung_up.load(Ordering::SeqCst) {
            self.hang_up();
        }
    }
    /// The client has closed its side: whatever the session waits for, it waits in vain.
    pub fn hang_up(&self) {
        self.hung_up.store(true, Ordering::SeqCst);
        if let Some(interrupt) = self.interrupt.get() {
            interrupt.client_gone();
        }
    }
    /// Says whether the session goes before others from now on.
    pub fn go_first(&self, first: bool) {
        if self.goes_first.load(Ordering::Relaxed) != first {
            self.goes_first.store(first, Ordering::Relaxed);
        }
    }
    /// Whether the session goes before others.
    pub fn goes_first(&self) -> bool {
        self.goes_first.load(Ordering::Relaxed)
    }
    /// Notes whether a part of a message is there.
    pub fn within_message(&self, within: bool) {
        self.within_message.store(within, Ordering::Relaxed);
    }
    /// Whether a part of a message is there.
    pub fn is_within_message(&self) -> bool {
        self.within_message.load(Ordering::Relaxed)
    }
    /// Reads with `receive` into this much room (bytes), if that may bring something. A short read tells that
    /// there is no more.
    ///
    /// # Errors
    /// `WouldBlock` when nothing is there, else those of `receive`.
    pub fn read(&self, room: usize, receive: impl FnOnce() -> io::Result<usize>) -> io::Result<usize> {
        if !self.readable.load(Ordering::Acquire) {
            return Err(ErrorKind::WouldBlock.into());
        }
        self.readable.store(false, Ordering::Release);
        let outcome = receive();
        let drained = match &outcome {
            Ok(len) => (1..room).contains(len),
            Err(error) => error.kind() == ErrorKind::WouldBlock,
        };
        if !drained {
            self.note_readable();
        }
        outcome
    }
}
