//! Cycles of sessions that wait for metadata locks for each other, found the moment they close.
//!
//! A metadata lock counts its holders and does not know them, so that holding it costs one addition. But who
//! is in a cycle waits, and who waits has time: it writes down here which metadata lock it waits for, for
//! what, and what it holds. While the note is here the session sleeps, so it takes and gives up nothing, and
//! the note stays true; it goes before the session goes on.
//!
//! **An edge** leads from a wait to every other wait whose session holds the metadata lock in a mode that is
//! in the way. An announced `Exclusive` or `ReadLock` counts as held: it turns newcomers away as one that is
//! granted.
//!
//! **Every cycle is found.** Each wait of it was written down, under the mutex here, before its session
//! looked for a cycle; the one that was written down last finds the others. **Nothing else is found:** notes
//! that are here together under the mutex are waits of that moment, and their holds are held at that moment.
//!
//! **The victim** is who loses least, as in MySQL: statements on rows before GET_LOCK, and that before DDL
//! and LOCK TABLES; of equals the one that closed the cycle, or is next to it. It gets error 1213; a
//! transaction is rolled back by that, unless the statement is its first and can give back what it holds and
//! begin again (the session does that).
//!
//! **Cost.** Nothing for who does not wait. A wait looks only if its session holds something, and a look
//! takes time with the number of waits times the length of what it follows.
//!
//! Cycles of which a part is a wait for a row or a table lock of the engine are not seen here, nor by MySQL;
//! `innodb_lock_wait_timeout` ends them.

use std::collections::{BTreeMap, VecDeque};
use std::task::Waker;

use turnstile_sys::ranked::RankedMutex;

use super::Mode;
use crate::rank;

/// What a session waits for at a metadata lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Want {
    /// To read.
    Read,
    /// To write.
    Write,
    /// To write as well; it reads already.
    WriteToo,
    /// To announce a read lock.
    AnnounceReadLock,
    /// Its announced read lock waits for the writers to leave.
    NoWriters,
    /// To announce itself as the only one.
    AnnounceExclusive,
    /// Announced, it waits for everybody to leave.
    Nobody,
    /// To have a lock that users have named.
    UserLock,
}

impl Want {
    fn waits_for(self, mode: Mode) -> bool {
        match self {
            Want::Read | Want::AnnounceReadLock | Want::AnnounceExclusive | Want::UserLock => {
                mode == Mode::Exclusive
            }
            Want::Write => matches!(mode, Mode::ReadLock | Mode::Exclusive),
            Want::WriteToo => mode == Mode::ReadLock,
            Want::NoWriters => mode == Mode::Write,
            Want::Nobody => mode != Mode::Exclusive,
        }
    }

    /// What it costs to give up: nothing but rows, what a lock of a user guards, or somebody's work on a
    /// definition.
    fn weight(self) -> u8 {
        match self {
            Want::Read | Want::Write | Want::WriteToo => 0,
            Want::UserLock => 1,
            Want::AnnounceReadLock | Want::NoWriters | Want::AnnounceExclusive | Want::Nobody => 2,
        }
    }
}

#[derive(Debug)]
struct Note {
    mdl: usize,
    want: Want,
    holds: Vec<(usize, Mode)>,
    victim: bool,
    waker: Waker,
}

#[derive(Debug, Default)]
struct Notes {
    by_number: BTreeMap<u64, Note>,
    last: u64,
}

/// All waits for metadata locks of a database.
#[derive(Debug)]
pub struct MetadataWaits {
    notes: RankedMutex<Notes>,
}

impl Default for MetadataWaits {
    fn default() -> Self {
        MetadataWaits { notes: RankedMutex::new(rank::SHORT, &rank::METADATA_DEADLOCKS, Notes::default()) }
    }
}

/// A wait that is written down until this is dropped.
#[derive(Debug)]
pub struct Place<'w> {
    waits: &'w MetadataWaits,
    number: u64,
}

impl MetadataWaits {
    /// Writes a wait down, and breaks the cycles that it closes.
    pub fn join(&self, mdl: usize, want: Want, holds: &[(usize, Mode)], waker: &Waker) -> Place<'_> {
        let note = Note { mdl, want, holds: holds.to_vec(), victim: false, waker: waker.clone() };
        let mut woken = Vec::new();
        let number = {
            let mut notes = self.notes.lock();
            notes.last += 1;
            let number = notes.last;
            notes.by_number.insert(number, note);
            while !holds.is_empty()
                && let Some(victim) = notes.victim_of_cycle(number)
                && let Some(note) = notes.by_number.get_mut(&victim)
            {
                note.victim = true;
                woken.push(note.waker.clone());
            }
            number
        };
        woken.into_iter().for_each(Waker::wake);
        Place { waits: self, number }
    }

    /// Waits that are written down.
    pub fn count(&self) -> usize {
        self.notes.lock().by_number.len()
    }
}

impl Place<'_> {
    /// Whether it is to give up; else `waker` is called when that changes.
    pub fn is_victim(&self, waker: &Waker) -> bool {
        let mut notes = self.waits.notes.lock();
        let Some(note) = notes.by_number.get_mut(&self.number) else { return false };
        note.waker.clone_from(waker);
        note.victim
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        let gone = self.waits.notes.lock().by_number.remove(&self.number);
        drop(gone);
    }
}

impl Notes {
    /// Waits in the way of one. A victim is on its way out and in nobody's way.
    fn blockers(&self, number: u64) -> impl Iterator<Item = u64> + '_ {
        let waiter = self.by_number.get(&number);
        let in_the_way = move |note: &Note| {
            let waiter = waiter.filter(|waiter| !waiter.victim && !note.victim);
            waiter.is_some_and(|waiter| {
                note.holds.iter().any(|(mdl, mode)| *mdl == waiter.mdl && waiter.want.waits_for(*mode))
            })
        };
        let others = self.by_number.iter().filter(move |(other, _)| **other != number);
        others.filter(move |(_, note)| in_the_way(note)).map(|(other, _)| *other)
    }

    /// The victim of the shortest cycle through `start`, if there is one.
    fn victim_of_cycle(&self, start: u64) -> Option<u64> {
        let mut reached_from: BTreeMap<u64, u64> = BTreeMap::new();
        let mut next = VecDeque::from([start]);
        while let Some(at) = next.pop_front() {
            for blocker in self.blockers(at) {
                if blocker == start {
                    return Some(self.lightest(start, at, &reached_from));
                }
                reached_from.entry(blocker).or_insert_with(|| {
                    next.push_back(blocker);
                    at
                });
            }
        }
        None
    }

    /// The lightest of a cycle, of equals the one nearest to `start`, against which `last` closes it.
    fn lightest(&self, start: u64, last: u64, reached_from: &BTreeMap<u64, u64>) -> u64 {
        let weight = |number: u64| self.by_number.get(&number).map_or(0, |note| note.want.weight());
        let (mut at, mut best) = (last, last);
        while at != start {
            at = reached_from.get(&at).copied().unwrap_or(start);
            if weight(at) <= weight(best) {
                best = at;
            }
        }
        best
    }
}

#[cfg(test)]
mod tests;
