//! Memory and work of an evaluation: what it keeps, and how it comes to look for KILL.

use std::cell::Cell;

use std::sync::Arc;

use turnstile_engine::interrupt::Interrupt;

use super::{Account, PIECE_OVERHEAD, Weighed};
#[cfg(any(test, feature = "testing"))]
use crate::error::SqlError;
use crate::error::SqlResult;

/// What notes the work of an evaluation, and whose memory it takes.
pub trait Metered: Sync {
    /// An evaluation has worked through so many bytes: fails if the statement is to end (KILL), and lets the
    /// executor know when it is time to yield.
    fn work(&self, _bytes: usize) -> SqlResult<()> {
        Ok(())
    }
    /// What the session's statements hold in memory.
    fn memory(&self) -> Option<&Arc<Account>> {
        None
    }
    /// Where KILL is seen by work on long values.
    fn interrupt(&self) -> Option<&Arc<Interrupt>> {
        None
    }
}

/// A meter of nobody's.
pub struct NoMeter;

impl Metered for NoMeter {
    #[cfg(any(test, feature = "testing"))]
    fn work(&self, bytes: usize) -> SqlResult<()> {
        LEFT.set(LEFT.get().saturating_sub(bytes));
        if LEFT.get() == 0 { Err(SqlError::query_interrupted()) } else { Ok(()) }
    }
}

/// Values of this length count: as work, and as memory while an evaluation goes on.
pub const LARGE_BYTES: usize = 16 << 10;

/// Steps between two looks for KILL; so many take about as long as working through [`LARGE_BYTES`].
pub const STEPS_NOTED: u32 = 256;

thread_local! {
    /// Steps of evaluations on this thread. Whose they were does not matter.
    static STEPS: Cell<u32> = const { Cell::new(0) };
}

/// A small step is done; true for one of many, which is told of as work.
#[inline]
pub fn is_step_noted() -> bool {
    STEPS.with(|cell| cell.replace(cell.get().wrapping_add(1))).is_multiple_of(STEPS_NOTED)
}

/// A large argument, and what functions make of it that do not build their result piece by piece.
const ARGUMENT_COPIES: usize = 2;

/// What an evaluation keeps while it works out more, or what a row's values hold until they are passed on. It
/// is also what a function that builds many small parts (a document, places in it) takes its memory from and
/// notes its work on.
pub struct Held<'c> {
    account: Option<&'c Account>,
    session: &'c dyn Metered,
    bytes: u64,
    /// Kept, but still too little to be charged.
    pending: usize,
    /// Worked through, but still too little to be noted.
    unnoted: usize,
}

impl<'c> Held<'c> {
    /// Nothing kept yet, for a session.
    pub fn nothing(session: &'c dyn Metered) -> Held<'c> {
        Held { account: None, session, bytes: 0, pending: 0, unnoted: 0 }
    }

    /// Keeps a value.
    #[inline]
    pub fn add(&mut self, value: &impl Weighed) -> SqlResult<()> {
        let bytes = value.stored_len();
        if bytes < LARGE_BYTES { Ok(()) } else { self.add_bytes(bytes) }
    }

    /// Keeps an argument of a call, and what the call makes of it while it works.
    #[inline]
    pub fn add_argument(&mut self, value: &impl Weighed) -> SqlResult<()> {
        let bytes = value.stored_len();
        if bytes < LARGE_BYTES { Ok(()) } else { self.add_bytes(bytes.saturating_mul(ARGUMENT_COPIES)) }
    }

    /// Keeps so many bytes more, one small part after another: they are charged, and count as worked through,
    /// once they are many.
    #[inline]
    pub fn grow(&mut self, bytes: usize) -> SqlResult<()> {
        self.pending = self.pending.saturating_add(bytes);
        if self.pending < LARGE_BYTES {
            return Ok(());
        }
        let bytes = std::mem::take(&mut self.pending);
        self.add_bytes(bytes)
    }

    /// Keeps a piece of memory of its own.
    #[inline]
    pub fn grow_piece(&mut self, bytes: usize) -> SqlResult<()> {
        self.grow(bytes + PIECE_OVERHEAD)
    }

    /// Makes room for so many bytes more, and charges it.
    pub fn reserve(&mut self, bytes: &mut Vec<u8>, more: usize) -> SqlResult<()> {
        let length = bytes.len().saturating_add(more);
        if length > bytes.capacity() {
            let room = length.max(bytes.capacity().saturating_mul(2)) - bytes.len();
            self.grow_piece(room)?;
            bytes.reserve_exact(room);
        }
        Ok(())
    }

    /// Appends to a list, whose room is charged before it grows.
    #[inline]
    pub fn push<T>(&mut self, list: &mut Vec<T>, one: T) -> SqlResult<()> {
        if list.len() == list.capacity() {
            let more = list.len().max(4);
            self.grow_piece(more.saturating_mul(size_of::<T>()))?;
            list.reserve_exact(more);
        }
        list.push(one);
        Ok(())
    }

    /// A part of the same evaluation that gives back earlier what it keeps.
    pub fn another(&self) -> Held<'c> {
        Held { account: self.account, session: self.session, bytes: 0, pending: 0, unnoted: 0 }
    }

    /// So many bytes were worked through, without keeping anything: fails if the statement is to end.
    #[inline]
    pub fn pass(&mut self, bytes: usize) -> SqlResult<()> {
        self.unnoted = self.unnoted.saturating_add(bytes);
        if self.unnoted < LARGE_BYTES {
            return Ok(());
        }
        self.session.work(std::mem::take(&mut self.unnoted))
    }

    /// Keeps so many bytes, and counts them as worked through.
    pub fn add_bytes(&mut self, bytes: usize) -> SqlResult<()> {
        self.session.work(bytes)?;
        if self.account.is_none() {
            self.account = self.session.memory().map(|account| &**account);
        }
        if let Some(account) = self.account {
            account.charge(bytes as u64)?;
            self.bytes += bytes as u64;
        }
        Ok(())
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        if let Some(account) = self.account.filter(|_| self.bytes > 0) {
            account.release(self.bytes);
        }
    }
}

#[cfg(any(test, feature = "testing"))]
thread_local! {
    /// Work that is done before sessions of tests are killed.
    static LEFT: Cell<usize> = const { Cell::new(usize::MAX) };
}

/// Counts steps from the beginning: whether one looks for KILL does not hang on what was evaluated before.
#[cfg(any(test, feature = "testing"))]
pub fn begin_steps() {
    STEPS.with(|cell| cell.set(1));
}

#[cfg(any(test, feature = "testing"))]
impl Held<'static> {
    /// Without an account.
    pub fn free() -> Held<'static> {
        Held::free_for(usize::MAX)
    }

    /// Killed after so much work of this thread.
    pub fn free_for(work: usize) -> Held<'static> {
        LEFT.set(work);
        Held::nothing(&NoMeter)
    }

    /// With an account that holds so much.
    pub fn within(account: &'static Account) -> Held<'static> {
        Held { account: Some(account), ..Held::free() }
    }
}
