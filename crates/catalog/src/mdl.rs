#![doc = include_str!("mdl/README.md")]
//! Who turns away whom:
//! | mode | who holds it | until | turns away |
//! |---|---|---|---|
//! | `Read` | statements that read the table | end of the transaction | `Exclusive` |
//! | `Write` | statements that change or lock rows | end of the transaction | `ReadLock`, `Exclusive` |
//! | `ReadLock` | LOCK TABLES ... READ, FLUSH TABLES WITH READ LOCK | UNLOCK TABLES | `Write`, `Exclusive` |
//! | `Exclusive` | DDL; LOCK TABLES ... WRITE | end of the statement; UNLOCK TABLES | all |
//!
//! One atomic word counts the holders of the first three modes; its highest bit says that somebody holds the
//! metadata lock, or wants it, exclusively. Taking it `Read` or `Write` is one `fetch_add` when nobody has
//! announced what conflicts. The other two are taken in two steps: *announce*, which turns newcomers away,
//! then wait until those who are in the way have left. Whoever waits has registered its waker before it looks
//! at the word for the last time, so no wake-up is lost.
//!
//! A transaction keeps its holds until it ends. It never takes the same mode of a metadata lock twice (the
//! session remembers). One that reads and now wants to write takes `Write` beside its `Read`, past an
//! `Exclusive` that is only announced: that one cannot be granted before this transaction ends, so to wait
//! for it would be a deadlock made by the queue.
//!
//! Names that no table has yet have metadata locks of their own ([`names`]).
//!
//! Locks that users name ([`crate::user_locks`]) are metadata locks as well, held `Exclusive` only.
//!
//! Sessions that wait for metadata locks for each other in a cycle are found at once: [`deadlock`].

use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, Waker};

use turnstile_sys::known::Known;
use turnstile_sys::ranked::RankedMutex;

use crate::rank;
use crate::timeout::Deadline;
use turnstile_values::error::SqlError;

pub mod deadlock;
pub mod names;

use deadlock::{MetadataWaits, Place, Want};

const EXCLUSIVE: u64 = 1 << 63;
/// One holder each. 2^24 sessions fit; more than [`READ_LOCKS_MAX`] read locks of one table wait, so that bit
/// 62 stays clear.
const READER: u64 = 1;
const WRITER: u64 = 1 << 24;
const READ_LOCK: u64 = 1 << 48;
const WRITERS: u64 = READ_LOCK - WRITER;
const READ_LOCKS: u64 = (1 << 62) - READ_LOCK;
const READ_LOCKS_MAX: u64 = 10_000;

/// How a metadata lock is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Its rows are read.
    Read,
    /// Its rows are changed, or locked to be changed.
    Write,
    /// Nobody changes its rows.
    ReadLock,
    /// Nobody else uses it.
    Exclusive,
}

impl Mode {
    fn unit(self) -> u64 {
        match self {
            Mode::Read => READER,
            Mode::Write => WRITER,
            Mode::ReadLock => READ_LOCK,
            Mode::Exclusive => EXCLUSIVE,
        }
    }

    /// What turns a newcomer away; what a holder's leaving may let go on is the same set seen from the other
    /// side.
    fn barred_by(self) -> u64 {
        match self {
            Mode::Read | Mode::ReadLock | Mode::Exclusive => EXCLUSIVE,
            Mode::Write => EXCLUSIVE | READ_LOCKS,
        }
    }
}

/// A table's metadata lock.
#[derive(Debug)]
pub struct MetadataLock {
    word: AtomicU64,
    waiters: RankedMutex<Vec<Waker>>,
}

/// A hold; ends when dropped.
#[derive(Debug)]
pub struct Hold {
    mdl: Known<MetadataLock>,
    mode: Mode,
}

impl Hold {
    /// What is held.
    pub fn mdl(&self) -> &Arc<MetadataLock> {
        &self.mdl
    }

    /// How.
    pub fn mode(&self) -> Mode {
        self.mode
    }
}

/// What a session brings to a wait for a metadata lock: how long it waits, and what it holds meanwhile.
pub struct Patience<'w> {
    waits: &'w MetadataWaits,
    holds: Vec<(usize, Mode)>,
    deadline: Deadline,
}

impl<'w> Patience<'w> {
    /// Of a session with these holds.
    pub fn new<'h>(
        waits: &'w MetadataWaits,
        holds: impl Iterator<Item = &'h Hold>,
        deadline: Deadline,
    ) -> Patience<'w> {
        let holds = holds.map(|hold| (hold.mdl.address(), hold.mode)).collect();
        Patience { waits, holds, deadline }
    }

    /// It holds one more.
    pub fn also_holds(&mut self, hold: &Hold) {
        self.holds.push((hold.mdl.address(), hold.mode));
    }
}

impl Default for MetadataLock {
    fn default() -> Self {
        let waiters = RankedMutex::new(rank::SHORT, &rank::METADATA, Vec::new());
        MetadataLock { word: AtomicU64::new(0), waiters }
    }
}

impl MetadataLock {
    /// What tells it from other metadata locks while somebody holds it or waits at it.
    fn address(self: &Arc<MetadataLock>) -> usize {
        Arc::as_ptr(self) as usize
    }

    /// How many use the table, or have it locked; whoever waits to have it alone counts too.
    pub fn users(&self) -> u64 {
        let word = self.word.load(Ordering::Relaxed);
        (word % WRITER) + (word & WRITERS) / WRITER + (word & READ_LOCKS) / READ_LOCK + word / EXCLUSIVE
    }

    /// Takes the metadata lock `Read` or `Write` without waiting. `reads`: the session holds it `Read`.
    pub fn try_enter(self: &Arc<MetadataLock>, mode: Mode, reads: bool) -> Option<Hold> {
        MetadataLock::try_enter_known(&Arc::new(self.clone()), mode, reads)
    }

    /// The same for a session that keeps the lock: nothing is written to but the word.
    pub fn try_enter_known(known: &Known<MetadataLock>, mode: Mode, reads: bool) -> Option<Hold> {
        let bar = if reads { mode.barred_by() & !EXCLUSIVE } else { mode.barred_by() };
        // Whoever waits looks without touching: backing out of the count wakes all who wait, and so would
        // wake itself for ever.
        if known.word.load(Ordering::Acquire) & bar != 0 {
            return None;
        }
        let before = known.word.fetch_add(mode.unit(), Ordering::Acquire);
        let hold = Hold { mdl: known.clone(), mode };
        (before & bar == 0).then_some(hold)
    }

    /// Takes the metadata lock `Read` or `Write`. `reads`: the session holds it `Read`.
    pub async fn enter(
        self: &Arc<MetadataLock>,
        mode: Mode,
        reads: bool,
        patience: &mut Patience<'_>,
    ) -> Result<Hold, SqlError> {
        let want = match (mode, reads) {
            (Mode::Read, _) => Want::Read,
            (_, false) => Want::Write,
            (_, true) => Want::WriteToo,
        };
        self.wait(want, patience, |mdl| mdl.try_enter(mode, reads)).await
    }

    /// Takes the metadata lock `ReadLock` or `Exclusive`: announces, then waits until nobody is in the way.
    pub async fn lock(
        self: &Arc<MetadataLock>,
        mode: Mode,
        patience: &mut Patience<'_>,
    ) -> Result<Hold, SqlError> {
        let (announce, then, in_the_way) = match mode {
            Mode::ReadLock => (Want::AnnounceReadLock, Want::NoWriters, WRITERS),
            _ => (Want::AnnounceExclusive, Want::Nobody, !EXCLUSIVE),
        };
        let hold = self.wait(announce, patience, |mdl| mdl.try_announce(mode)).await?;
        patience.also_holds(&hold);
        let free =
            |mdl: &Arc<MetadataLock>| (mdl.word.load(Ordering::Acquire) & in_the_way == 0).then_some(());
        self.wait(then, patience, free).await?;
        Ok(hold)
    }

    /// Takes the metadata lock `Exclusive` without waiting: only if nobody else has it in any way.
    pub fn try_lock(self: &Arc<MetadataLock>) -> Option<Hold> {
        let hold = self.try_announce(Mode::Exclusive)?;
        (self.word.load(Ordering::Acquire) == EXCLUSIVE).then_some(hold)
    }

    /// Takes the metadata lock of a lock that users have named, which nobody enters. Whether it `may` is
    /// asked at each attempt; [`MetadataLock::wake`] makes all who wait try again.
    pub async fn lock_for_user(
        self: &Arc<MetadataLock>,
        patience: &mut Patience<'_>,
        may: impl Fn() -> bool,
    ) -> Result<Hold, SqlError> {
        let attempt = |mdl: &Arc<MetadataLock>| if may() { mdl.try_announce(Mode::Exclusive) } else { None };
        self.wait(Want::UserLock, patience, attempt).await
    }

    /// The same without waiting, for whoever may.
    pub fn try_lock_for_user(self: &Arc<MetadataLock>) -> Option<Hold> {
        self.try_announce(Mode::Exclusive)
    }

    fn try_announce(self: &Arc<MetadataLock>, mode: Mode) -> Option<Hold> {
        let before = self.word.load(Ordering::Acquire);
        let full = mode == Mode::ReadLock && (before & READ_LOCKS) / READ_LOCK >= READ_LOCKS_MAX;
        if before & EXCLUSIVE != 0 || full {
            return None;
        }
        let before = match mode {
            Mode::Exclusive => self.word.fetch_or(EXCLUSIVE, Ordering::AcqRel),
            _ => self.word.fetch_add(READ_LOCK, Ordering::AcqRel),
        };
        match (before & EXCLUSIVE == 0, mode) {
            (true, _) => Some(Hold { mdl: Arc::new(self.clone()), mode }),
            // The bit is another's.
            (false, Mode::Exclusive) => None,
            (false, _) => {
                self.release(mode);
                None
            }
        }
    }

    /// Waits until `attempt` gives something: for `patience`, and unless that closes a cycle whose victim it
    /// is.
    async fn wait<T>(
        self: &Arc<MetadataLock>,
        want: Want,
        patience: &mut Patience<'_>,
        attempt: impl Fn(&Arc<MetadataLock>) -> Option<T>,
    ) -> Result<T, SqlError> {
        let Patience { waits, holds, deadline } = patience;
        let mut place: Option<Place<'_>> = None;
        poll_fn(|context: &mut Context<'_>| {
            if let Some(done) = attempt(self) {
                return Poll::Ready(Ok(done));
            }
            self.waiters.lock().push(context.waker().clone());
            if let Some(done) = attempt(self) {
                return Poll::Ready(Ok(done));
            }
            let waker = context.waker();
            let place = place.get_or_insert_with(|| waits.join(self.address(), want, holds, waker));
            if place.is_victim(waker) {
                return Poll::Ready(Err(SqlError::deadlock()));
            }
            deadline.poll(context).map(Err)
        })
        .await
    }

    fn release(&self, mode: Mode) {
        let before = self.word.fetch_sub(mode.unit(), Ordering::AcqRel);
        let awaited = match mode {
            Mode::Read => EXCLUSIVE,
            Mode::Write => EXCLUSIVE | READ_LOCKS,
            // What they kept away has left no trace in the word.
            Mode::ReadLock | Mode::Exclusive => u64::MAX,
        };
        if before & awaited != 0 {
            self.wake();
        }
    }

    /// Wakes all who wait.
    pub fn wake(&self) {
        let woken = std::mem::take(&mut *self.waiters.lock());
        woken.into_iter().for_each(Waker::wake);
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        self.mdl.release(self.mode);
    }
}

#[cfg(test)]
mod tests;
