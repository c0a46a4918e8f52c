//! Memory accounts: how much of it the statements of a session, and of all sessions, may hold.
//!
//! ```text
//!   buffer (rows of a sort, groups, a table in memory, a large value)
//!     --Charge--> Account of the session --chunks--> ServerMemory
//! ```
//! Whatever keeps rows or large values keeps a [`Charge`] beside them: it grows before they do, and gives
//! back what it has when it is dropped. A charge asks its account once per `PIECE_BYTES`, the account asks
//! the server once per `CHUNK_BYTES` and not at all for its first `FREE_BYTES`, so a small statement touches
//! nothing that sessions share.
//!
//! What is charged: row locks until their transaction ends (the engine has them counted, `LockMemory`), rows
//! that are kept (sorts, groups, joins, WITH, derived tables, UNION), large values while they are made,
//! documents in memory with the paths, places and keys of their functions (`expr::Held`), lists that are
//! looked up, user variables, prepared statements and their long data, savepoints, named locks, the syntax
//! tree and the plan of a long statement (by its tokens), a long message and the part of a long answer that
//! the client has not taken.
//!
//! Beyond `connection_memory_limit` a statement ends with error 4082, beyond `global_connection_memory_limit`
//! with 4081. It is undone, its memory is free again and the connection goes on; only a message that is too
//! long for the account ends the connection, as every message that is not taken in. MySQL ends the connection
//! with its next statement, which is why its text begins with `Connection closed.`; and it exempts accounts
//! with CONNECTION_ADMIN, which a limit that keeps the process alive cannot. What is counted is what values
//! and rows take by their lengths. The allocator's own needs come on top, so a limit is not the process's
//! size: a chunk is also refused, with 4081, where the address space has no room for it
//! (`turnstile_sys::memory::has_room`), because an allocation that fails ends the process.

mod blocks;
mod held;
mod many;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;

pub use blocks::Blocks;
#[cfg(any(test, feature = "testing"))]
pub use held::begin_steps;
pub use held::{Held, LARGE_BYTES, Metered, NoMeter, STEPS_NOTED, is_step_noted};
pub use many::{Many, dropping};

use turnstile_engine::Error as EngineError;
use turnstile_engine::session_status::LockMemory;

use crate::error::SqlResult;

/// A charge gathers so many bytes before it asks its account.
const PIECE_BYTES: u64 = 8 << 10;
/// An account takes so many bytes from the server at once.
const CHUNK_BYTES: u64 = 1 << 20;
/// What an account holds without asking the server.
const FREE_BYTES: u64 = 256 << 10;
/// Bytes of a charge for each thing that is dropped with it, about.
const BYTES_PER_THING: u64 = 64;
/// What the allocator needs for one piece of memory, about.
pub const PIECE_OVERHEAD: usize = 16;

/// What the statements of all sessions hold together.
#[derive(Debug)]
pub struct ServerMemory {
    used: AtomicU64,
    limit: AtomicU64,
}

impl Default for ServerMemory {
    fn default() -> ServerMemory {
        ServerMemory { used: AtomicU64::new(0), limit: AtomicU64::new(u64::MAX) }
    }
}

impl ServerMemory {
    /// Sets `global_connection_memory_limit`.
    pub fn set_limit(&self, bytes: u64) {
        self.limit.store(bytes, Ordering::Relaxed);
    }

    /// What sessions have taken, in whole chunks.
    pub fn used(&self) -> u64 {
        self.used.load(Ordering::Relaxed)
    }

    fn take(&self, bytes: u64) -> Result<(), EngineError> {
        let limit = self.limit.load(Ordering::Relaxed);
        let before = self.used.fetch_add(bytes, Ordering::Relaxed);
        let used = before.saturating_add(bytes);
        if used <= limit && turnstile_sys::memory::has_room(bytes) {
            return Ok(());
        }
        self.give_back(bytes);
        // Where there is no room, what is held already is the limit.
        let limit = if used > limit { limit } else { before };
        Err(EngineError::OverMemory { of_all: true, limit, used })
    }

    fn give_back(&self, bytes: u64) {
        self.used.fetch_sub(bytes, Ordering::Relaxed);
    }
}

/// What one session holds. Its own statement charges it; what is dropped by another thread is given back
/// there.
#[derive(Debug)]
pub struct Account {
    held: AtomicU64,
    /// What the server knows of, in whole chunks.
    taken: Mutex<u64>,
    limit: AtomicU64,
    server: Arc<ServerMemory>,
}

impl Account {
    /// An account without limit of its own.
    pub fn new(server: Arc<ServerMemory>) -> Account {
        Account { held: AtomicU64::new(0), taken: Mutex::new(0), limit: AtomicU64::new(u64::MAX), server }
    }

    /// Sets `connection_memory_limit`.
    pub fn set_limit(&self, bytes: u64) {
        self.limit.store(bytes, Ordering::Relaxed);
    }

    /// Bytes held now.
    pub fn held(&self) -> u64 {
        self.held.load(Ordering::Relaxed)
    }

    /// Takes so many bytes; errors 4081 and 4082, with nothing taken.
    pub fn charge(&self, bytes: u64) -> SqlResult<()> {
        Ok(self.admit(bytes)?)
    }

    fn admit(&self, bytes: u64) -> Result<(), EngineError> {
        let held = self.held.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes);
        let limit = self.limit.load(Ordering::Relaxed);
        let admitted = match held {
            held if held > limit => Err(EngineError::OverMemory { of_all: false, limit, used: held }),
            held if held > FREE_BYTES => self.take_of_server(held - FREE_BYTES),
            _ => Ok(()),
        };
        if admitted.is_err() {
            self.held.fetch_sub(bytes, Ordering::Relaxed);
        }
        admitted
    }

    /// Has so many bytes of the server, in whole chunks.
    fn take_of_server(&self, wanted: u64) -> Result<(), EngineError> {
        let mut taken = self.taken.lock();
        if wanted > *taken {
            let more = (wanted - *taken).div_ceil(CHUNK_BYTES).saturating_mul(CHUNK_BYTES);
            self.server.take(more)?;
            *taken += more;
        }
        Ok(())
    }

    /// Gives back so many bytes that were charged.
    pub fn release(&self, bytes: u64) {
        let before = self.held.fetch_sub(bytes, Ordering::Relaxed);
        debug_assert!(bytes <= before, "more is given back than was taken");
        if before <= FREE_BYTES {
            return;
        }
        let mut taken = self.taken.lock();
        // As it is now: others give back meanwhile.
        let held = self.held.load(Ordering::Relaxed);
        let needed = held.saturating_sub(FREE_BYTES).div_ceil(CHUNK_BYTES) * CHUNK_BYTES;
        // A chunk is kept, lest a charge that comes and goes at a border ask the server each time.
        let kept = if needed == 0 { 0 } else { needed + CHUNK_BYTES };
        if *taken > kept {
            self.server.give_back(*taken - kept);
            *taken = kept;
        }
    }
}

/// Row locks live to the end of their transaction, in the engine, which has them counted here.
impl LockMemory for Account {
    fn take(&self, bytes: u64) -> Result<(), EngineError> {
        self.admit(bytes)
    }
    fn give_back(&self, bytes: u64) {
        self.release(bytes);
    }
}

impl Drop for Account {
    fn drop(&mut self) {
        self.server.give_back(*self.taken.get_mut());
    }
}

/// What one buffer holds; given back when it is dropped.
#[derive(Debug, Default)]
pub struct Charge {
    account: Option<Arc<Account>>,
    /// Charged.
    bytes: u64,
    /// Not charged yet.
    pending: u64,
}

impl Charge {
    /// A charge on a session's account; on none, nothing is counted.
    pub fn on(account: Option<&Arc<Account>>) -> Charge {
        Charge { account: account.cloned(), bytes: 0, pending: 0 }
    }

    /// A charge on the same account, for another buffer.
    pub fn another(&self) -> Charge {
        Charge::on(self.account.as_ref())
    }

    /// Bytes that the buffer takes.
    #[inline]
    pub fn bytes(&self) -> u64 {
        self.bytes + self.pending
    }

    /// The buffer is about to grow by so many bytes.
    #[inline]
    pub fn add(&mut self, bytes: usize) -> SqlResult<()> {
        self.pending += bytes as u64;
        if self.pending < PIECE_BYTES { Ok(()) } else { self.settle() }
    }

    /// Charges what is still too little to be worth asking.
    #[cold]
    pub fn settle(&mut self) -> SqlResult<()> {
        let bytes = std::mem::take(&mut self.pending);
        if let Some(account) = &self.account {
            account.charge(bytes)?;
            self.bytes += bytes;
        }
        Ok(())
    }

    /// The buffer is about to take over a row.
    pub fn add_row<T: Weighed>(&mut self, row: &[T]) -> SqlResult<()> {
        self.add(row_bytes(row))
    }

    /// The buffer has shrunk by so many bytes.
    pub fn subtract(&mut self, bytes: usize) {
        let bytes = bytes as u64;
        let unasked = bytes.min(self.pending);
        self.pending -= unasked;
        let back = (bytes - unasked).min(self.bytes);
        self.bytes -= back;
        if let Some(account) = self.account.as_ref().filter(|_| back > 0) {
            account.release(back);
        }
    }

    /// The buffer is empty.
    pub fn clear(&mut self) {
        self.pending = 0;
        let bytes = std::mem::take(&mut self.bytes);
        if let Some(account) = self.account.as_ref().filter(|_| bytes > 0) {
            account.release(bytes);
        }
    }

    /// What it was charged for is about to be dropped.
    pub fn announce_drop(&self) {
        // A value or a node of a tree takes about so much.
        dropping((self.bytes / BYTES_PER_THING) as usize);
    }

    /// The buffer takes over what another one held.
    pub fn absorb(&mut self, mut other: Charge) {
        if self.account.is_none() {
            std::mem::swap(self, &mut other);
        }
        self.bytes += std::mem::take(&mut other.bytes);
        self.pending += std::mem::take(&mut other.pending);
    }
}

/// A charge that is the first field of something large, and is dropped before the rest of it.
#[derive(Debug, Default)]
pub struct Announced(pub Charge);

impl Drop for Announced {
    fn drop(&mut self) {
        self.0.announce_drop();
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        self.clear();
    }
}

/// Things in memory of which dropping takes long.
const MANY: usize = 64 << 10;

/// Drops what consists of so many parts. Millions take a second, which the other sessions of the worker would
/// wait: a thread of its own does it then. The charge is given back when they are gone.
pub fn discard<T: Send + 'static>(parts: T, count: usize, charge: Charge) {
    if count < MANY {
        return;
    }
    let all = (parts, charge);
    // Where there is no thread to be had it is done here.
    let _ = std::thread::Builder::new().name("discard".into()).spawn(move || drop(all));
}

/// What can say what it takes in memory.
pub trait Weighed {
    /// Bytes besides its own place.
    fn heap_bytes(&self) -> usize;
    /// Length of what a row keeps of it, if that is a string or a document; else 0.
    fn stored_len(&self) -> usize;
}

/// What a row in memory takes.
pub fn row_bytes<T: Weighed>(row: &[T]) -> usize {
    let texts: usize = row.iter().map(T::heap_bytes).sum();
    size_of::<Vec<T>>() + PIECE_OVERHEAD + size_of_val(row) + texts
}

/// What a value takes besides its own place.
pub fn heap_bytes<T: Weighed>(value: &T) -> usize {
    value.heap_bytes()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]
    use super::*;

    #[test]
    fn what_is_dropped_is_given_back() {
        let server = Arc::new(ServerMemory::default());
        let account = Arc::new(Account::new(server.clone()));
        let mut charge = Charge::on(Some(&account));
        charge.add(100).unwrap();
        assert_eq!(account.held(), 0, "a little is not worth asking");
        charge.add(200 << 10).unwrap();
        assert_eq!(
            (account.held(), server.used()),
            ((200 << 10) + 100, 0),
            "the server is not asked for the first bytes"
        );
        charge.add(5 << 20).unwrap();
        assert_eq!(server.used(), 5 << 20);
        let mut other = Charge::on(Some(&account));
        other.add(1 << 20).unwrap();
        charge.absorb(other);
        assert_eq!(server.used(), 6 << 20);
        charge.subtract(4 << 20);
        assert!(server.used() < 4 << 20);
        drop(charge);
        assert_eq!((account.held(), server.used()), (0, 0));
    }

    #[test]
    fn limits_hold_and_what_was_refused_is_not_counted() {
        let server = Arc::new(ServerMemory::default());
        let (one, two) = (Arc::new(Account::new(server.clone())), Arc::new(Account::new(server.clone())));
        one.set_limit(2 << 20);
        let mut charge = Charge::on(Some(&one));
        charge.add(1 << 20).unwrap();
        assert_eq!(charge.add(2 << 20).unwrap_err().code, 4082);
        assert_eq!(one.held(), 1 << 20);
        server.set_limit(3 << 20);
        let mut other = Charge::on(Some(&two));
        assert_eq!(other.add(4 << 20).unwrap_err().code, 4081);
        assert_eq!(two.held(), 0);
        other.add(1 << 20).unwrap();
        drop((charge, other));
        assert_eq!(server.used(), 0);
        // An account that ends while something is held takes it along.
        two.charge(2 << 20).unwrap();
        drop(two);
        assert_eq!(server.used(), 0);
    }
}
