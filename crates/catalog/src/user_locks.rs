//! Locks that users name: GET_LOCK and its kin. Tools that migrate schemas, and jobs that must not run twice,
//! hold one over many statements and transactions; it has nothing to do with rows.
//!
//! **What they promise**, as in MySQL 5.7 and 8: a session holds as many as it likes, each as often as it
//! took it; a lock ends with RELEASE_LOCK as often as it was taken, RELEASE_ALL_LOCKS, a reset of the
//! connection, or its end (KILL, or a client that vanishes), and never with a transaction. Names are up to 64
//! characters, the case of letters does not count; errors 3057 for none and 4163 for a longer one. A wait
//! lasts as many seconds as GET_LOCK says, for ever if that is negative, and ends with the statement when it
//! is killed.
//!
//! **Data.** A lock is a metadata lock ([`crate::mdl`]) that is held `Exclusive`, and the connection id of
//! who holds it. [`UserLocks`] finds it by name as long as somebody holds it or waits for it. What a session
//! holds, with counts, is its own list ([`HeldLocks`]).
//!
//! **Waiting** is waiting for a metadata lock: no thread is held, and a cycle of sessions that wait for each
//! other's locks, also through tables' metadata locks, is found when it closes. Who gives up gets 3058 if it
//! waits for a user's lock; it keeps what it holds, as in MySQL. Statements on rows lose before locks of
//! users, and those before DDL and LOCK TABLES. Who came first gets the lock first.
//!
//! **Order.** Who wants a lock draws a ticket and stands in line. A release wakes all of them, and only the
//! first in line tries the metadata lock; who leaves the line, with the lock or without, wakes the rest after
//! the ticket is gone. Each has left its waker at the metadata lock before it looks whether it is the first,
//! so whoever has become the first meanwhile either sees that or is woken.
//!
//! **Race argument.** A lock is taken out of the map, under the map's mutex, by whoever leaves it last:
//! nobody else has a reference then, and who looks it up does so under the same mutex. So all who know a name
//! at one moment know the same metadata lock.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use turnstile_sys::ranked::RankedMutex;

use crate::mdl::{Hold, MetadataLock, Patience};
use crate::rank;
use turnstile_values::error::{ErrorKind, SqlError, SqlResult};
use turnstile_values::memory::{Charge, dropping};
use turnstile_values::value::{Value, to_text};

/// Longest name, characters.
const NAME_CHARACTERS_MAX: usize = 64;

/// Bytes of a longer one that its error shows.
const NAME_SHOWN_MAX: usize = 192;

/// A lock that somebody holds or waits for.
#[derive(Debug)]
struct UserLock {
    mdl: Arc<MetadataLock>,
    /// Connection id of the holder; 0: nobody.
    owner: AtomicU64,
    line: RankedMutex<Line>,
}

impl Default for UserLock {
    fn default() -> Self {
        let line = RankedMutex::new(rank::SHORT, &rank::USER_LOCKS, Line::default());
        UserLock { mdl: Arc::default(), owner: AtomicU64::new(0), line }
    }
}

/// Those who want a lock and do not have it, first come first.
#[derive(Debug, Default)]
struct Line {
    tickets: VecDeque<u64>,
    next: u64,
}

/// A place in a line; left when dropped.
struct PlaceInLine<'l> {
    lock: &'l UserLock,
    ticket: u64,
}

impl<'l> PlaceInLine<'l> {
    fn at_the_end(lock: &'l UserLock) -> Self {
        let mut line = lock.line.lock();
        let ticket = line.next;
        line.next += 1;
        line.tickets.push_back(ticket);
        PlaceInLine { lock, ticket }
    }

    fn is_first(&self) -> bool {
        self.lock.line.lock().tickets.front() == Some(&self.ticket)
    }
}

impl Drop for PlaceInLine<'_> {
    fn drop(&mut self) {
        let others = {
            let mut line = self.lock.line.lock();
            line.tickets.retain(|ticket| *ticket != self.ticket);
            !line.tickets.is_empty()
        };
        if others {
            self.lock.mdl.wake();
        }
    }
}

/// All locks of a database that users have named.
#[derive(Debug)]
pub struct UserLocks {
    by_name: RankedMutex<HashMap<Box<str>, Arc<UserLock>>>,
}

impl Default for UserLocks {
    fn default() -> Self {
        UserLocks { by_name: RankedMutex::new(rank::SHORT, &rank::USER_LOCKS, HashMap::new()) }
    }
}

/// A reference to a lock; the last one takes the lock out of the map.
#[derive(Debug)]
struct Known {
    locks: Arc<UserLocks>,
    name: Box<str>,
    lock: Option<Arc<UserLock>>,
}

impl Drop for Known {
    fn drop(&mut self) {
        let gone = {
            let mut by_name = self.locks.by_name.lock();
            self.lock = None;
            let unused = by_name.get(&self.name).is_some_and(|lock| Arc::strong_count(lock) == 1);
            if unused { by_name.remove(&self.name) } else { None }
        };
        drop(gone);
    }
}

/// A lock that a session holds.
#[derive(Debug)]
pub struct HeldLock {
    hold: Option<Hold>,
    known: Known,
    times: u64,
    /// What it holds of its session's memory.
    charge: Charge,
}

impl Drop for HeldLock {
    fn drop(&mut self) {
        if let Some(lock) = &self.known.lock {
            lock.owner.store(0, Ordering::Release);
        }
        // Before the reference goes: whoever waits has one.
        self.hold = None;
    }
}

impl UserLocks {
    /// Checks a name and folds its case. Errors 3057 and 4163.
    pub fn name_of(value: &Value) -> SqlResult<Box<str>> {
        if value.is_null() {
            return Err(SqlError::wrong_user_lock_name("NULL"));
        }
        let text = to_text(value);
        if text.is_empty() {
            return Err(SqlError::wrong_user_lock_name(text));
        }
        if text.chars().nth(NAME_CHARACTERS_MAX).is_some() {
            let shown = &text[..text.floor_char_boundary(NAME_SHOWN_MAX)];
            return Err(SqlError::long_user_lock_name(shown, NAME_CHARACTERS_MAX));
        }
        Ok(text.to_lowercase().into())
    }

    /// Connection id of who holds a lock.
    pub fn owner(&self, name: &str) -> Option<u64> {
        let owner = self.by_name.lock().get(name).map_or(0, |lock| lock.owner.load(Ordering::Acquire));
        (owner != 0).then_some(owner)
    }

    fn know(self: &Arc<Self>, name: &str) -> Known {
        let mut by_name = self.by_name.lock();
        let lock = by_name.entry(name.into()).or_default().clone();
        Known { locks: self.clone(), name: name.into(), lock: Some(lock) }
    }

    /// Takes a lock that nobody holds or waits for: then nothing has to be known of what else the connection
    /// holds.
    pub fn acquire_now(self: &Arc<Self>, name: &str, connection: u64) -> Option<HeldLock> {
        let known = self.know(name);
        let lock = known.lock.as_deref().expect("a reference has its lock until it is dropped");
        let place = PlaceInLine::at_the_end(lock);
        let hold = if place.is_first() { lock.mdl.try_lock_for_user() } else { None };
        drop(place);
        let hold = Some(hold?);
        lock.owner.store(connection, Ordering::Release);
        Some(HeldLock { hold, known, times: 1, charge: Charge::default() })
    }

    /// Takes a lock for a connection that does not hold it; `None` if the time was over first.
    pub async fn acquire(
        self: &Arc<Self>,
        name: &str,
        connection: u64,
        patience: &mut Patience<'_>,
    ) -> SqlResult<Option<HeldLock>> {
        let known = self.know(name);
        let lock = known.lock.as_deref().expect("a reference has its lock until it is dropped");
        let place = PlaceInLine::at_the_end(lock);
        let outcome = lock.mdl.lock_for_user(patience, || place.is_first()).await;
        drop(place);
        match outcome {
            Ok(hold) => {
                lock.owner.store(connection, Ordering::Release);
                Ok(Some(HeldLock { hold: Some(hold), known, times: 1, charge: Charge::default() }))
            }
            Err(error) if error.kind() == ErrorKind::LockWaitTimeout => Ok(None),
            Err(error) if error.kind() == ErrorKind::Deadlock => Err(SqlError::user_lock_deadlock()),
            Err(error) => Err(error),
        }
    }
}

/// What a lock takes besides its names, about.
pub const LOCK_BYTES: usize = 768;
/// Letting go of a lock takes as long as dropping so many things.
const PARTS: usize = 8;

/// What a session holds.
#[derive(Debug, Default)]
pub struct HeldLocks {
    held: HashMap<Box<str>, HeldLock>,
}

impl HeldLocks {
    /// Counts a lock once more if the session holds it.
    pub fn take_again(&mut self, name: &str) -> bool {
        self.held.get_mut(name).map(|lock| lock.times += 1).is_some()
    }

    /// Keeps a lock that was acquired.
    pub fn keep(&mut self, lock: HeldLock, charge: Charge) {
        let mut lock = lock;
        lock.charge = charge;
        self.held.insert(lock.known.name.clone(), lock);
    }

    /// Lets go of a lock once; false if the session does not hold it.
    pub fn release(&mut self, name: &str) -> bool {
        let Some(lock) = self.held.get_mut(name) else { return false };
        lock.times -= 1;
        if lock.times == 0 {
            drop(self.held.remove(name));
        }
        true
    }

    /// Lets go of everything; how often it was taken.
    pub fn release_all(&mut self) -> u64 {
        // Each is taken out of what all sessions share, and nothing yields meanwhile.
        dropping(self.held.len().saturating_mul(PARTS));
        std::mem::take(&mut self.held).into_values().map(|lock| lock.times).sum()
    }

    /// The metadata locks that it holds.
    pub fn holds(&self) -> impl Iterator<Item = &Hold> {
        self.held.values().filter_map(|lock| lock.hold.as_ref())
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.held.is_empty()
    }
}

#[cfg(test)]
mod tests;
