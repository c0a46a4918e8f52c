//! Transactions that change nothing, in great number, and the work that every life begins with.
//!
//! What restarts from a guess (ids, numbers, counters) is found out only if much was used up that left no
//! trace in the log, and if the next life then does something that meets what the lives before have left.
//! Both have a generator of their own, so that what the seeds draw besides goes on to mean what it meant.

use std::sync::Arc;

use turnstile_engine::ids::Lsn;
use turnstile_engine::{Change, Error, Isolation, TxnOptions, Updated};
use turnstile_sys::rng::Rng;

use crate::session::at_once;
use crate::swarm::Swarm;
use crate::table::{Overlay, Row, Table};
use crate::world::{Verdict, World};

/// A number that no row has.
const NOBODY: u32 = 1 << 30;
/// What a seed's idle transactions come to at most: one costs some microseconds.
const IDLE_MAX: u64 = 250_000;
/// Undo records of the transaction that a life may end with: more than a page of them, so that purge leaves
/// no header.
const LAST_RECORDS: usize = 500;

/// What a seed does without changing anything.
pub struct Quiet {
    rng: Rng,
    /// Probability that idle transactions come before a step.
    chance: f64,
    /// How many of them come at a time, at most.
    burst: u64,
    left: u64,
    /// Probability that a life ends with a crowd, a long transaction and purge.
    last_words: f64,
    /// Lives besides the usual two to four.
    pub more_lives: u64,
    /// Ids that one raise of the mark covers.
    pub ids_ahead: u64,
    /// Whether a life begins with work.
    works: bool,
    /// Crowds larger than the log has bytes: the seed does little else.
    heavy: bool,
}

impl Quiet {
    /// Draws one.
    pub fn draw(seed: u64) -> Quiet {
        let mut rng = Rng::new(seed ^ 0x1d1e_1d1e_1d1e);
        let heavy = rng.chance(0.03);
        Quiet {
            works: true,
            heavy,
            last_words: if heavy { 0.9 } else { 0.2 },
            chance: if heavy { 0.01 } else { [0.0, 0.01, 0.1][rng.index(3)] },
            burst: if heavy { 120_000 } else { [1, 5, 200][rng.index(3)] },
            left: IDLE_MAX,
            more_lives: if rng.chance(0.3) { 1 + rng.below(4) } else { 0 },
            ids_ahead: [1, 3, 60, 1 << 16][rng.index(4)],
            rng,
        }
    }

    /// Lets the other steps of a heavy seed write little, so that its crowds outrun the log.
    pub fn calm(&self, swarm: &mut Swarm) {
        if self.heavy {
            (swarm.steps, swarm.text_max, swarm.long, swarm.pad) = (40, 20, 0.0, 0);
            swarm.keys = swarm.keys.min(30);
        }
    }

    /// Nothing of all this: for seeds whose story is older.
    pub fn none() -> Quiet {
        let quiet = Quiet::draw(0);
        Quiet {
            works: false,
            heavy: false,
            last_words: 0.0,
            chance: 0.0,
            more_lives: 0,
            ids_ahead: 1 << 16,
            ..quiet
        }
    }
}

fn options(autocommit: bool) -> TxnOptions {
    TxnOptions {
        isolation: Isolation::ReadCommitted,
        read_only: false,
        autocommit,
        lock_wait_timeout_ms: 0,
        interrupt: Default::default(),
        status: Default::default(),
    }
}

impl World {
    /// Sometimes a crowd that looks for rows that are not there, or finds nothing to do.
    pub fn idle(&mut self) -> Verdict {
        let quiet = &mut self.quiet;
        if self.faulty || quiet.chance == 0.0 || !quiet.rng.chance(quiet.chance) {
            return Ok(());
        }
        self.crowd()
    }

    fn crowd(&mut self) -> Verdict {
        let quiet = &mut self.quiet;
        let count = (1 + quiet.rng.below(quiet.burst)).min(quiet.left);
        quiet.left -= count;
        let Some(table) = self.tables.first().cloned() else { return Ok(()) };
        if count > 1 {
            self.note(format!("{count} transactions that change nothing"));
        }
        for nth in 0..count {
            let mut txn = self.engine().begin(options(nth % 2 == 0));
            let key = table.key(NOBODY + nth as u32);
            let updated = at_once(txn.update(&table.def, &key, &mut |_, _| Change::Keep));
            match updated {
                Ok(Updated::Missing) => {}
                Ok(other) => return Err(format!("a row that nobody inserted: {other:?}")),
                Err(error) => return self.tolerate("a transaction that changes nothing", &error),
            }
            let ended = match nth % 3 {
                0 => at_once(txn.rollback()).map(|()| None),
                1 => txn.commit(),
                _ => Ok(None),
            };
            match ended {
                Ok(None) => self.totals.idle += 1,
                Ok(Some(lsn)) => return Err(format!("nothing was changed, yet {lsn:?} is to be waited for")),
                Err(error) => return self.tolerate("the end of one that changes nothing", &error),
            }
        }
        Ok(())
    }

    /// What a life may end with: a crowd that changes nothing, one long transaction, and purge, which takes
    /// all undo. Then nothing but what is made durable on purpose tells how far the ids had come.
    pub fn last_words(&mut self) -> Verdict {
        if self.faulty || self.stopped || !self.quiet.rng.chance(self.quiet.last_words) {
            return Ok(());
        }
        self.settle()?;
        if self.stopped || self.sessions.iter().any(|session| session.work.is_some()) {
            return Ok(());
        }
        self.crowd()?;
        let Some(table) = self.tables.last().cloned() else { return Ok(()) };
        let rows = self.versions[self.versions.len() - 1].rows(table.number);
        let mut short: Vec<_> = rows.iter().map(|(id, row)| (*id, row.clone())).collect();
        short.retain(|(_, row)| row.len() < 4000);
        let engine = Arc::clone(self.engine());
        let mut txn = engine.begin(options(false));
        for at in (0..short.len()).cycle().take(LAST_RECORDS.max(short.len())) {
            let (id, row) = &mut short[at];
            let new = altered(row);
            if let Err(what) = rewrite(&mut txn, &table, *id, row, &new) {
                // Only a full disk is no finding.
                drop(txn);
                return if self.is_full() { Ok(()) } else { Err(format!("the last transaction: {what}")) };
            }
            *row = new;
        }
        self.note(format!("{:?} has the last word", txn.id()));
        let overlay = short.into_iter().map(|(id, row)| ((table.number, id), Some(row))).collect();
        let committed = txn.commit();
        self.keep_version(committed, &overlay)?;
        let purged = engine.purge_all().map(drop);
        purged.or_else(|error| self.tolerate("the last purge", &error))
    }

    /// A commit of `overlay` is a new version of the database, and is acknowledged.
    fn keep_version(&mut self, committed: Result<Option<Lsn>, Error>, overlay: &Overlay) -> Verdict {
        if overlay.is_empty() {
            return committed.map(drop).or_else(|error| self.tolerate("a commit of nothing", &error));
        }
        let newest = &self.versions[self.versions.len() - 1];
        let after = newest.with(overlay);
        self.versions.push(after);
        let durable = committed.and_then(|lsn| match lsn {
            Some(lsn) => at_once(self.engine().wait_durable(lsn)),
            None => Err(Error::Stopped("a commit of changes says that it wrote nothing".into())),
        });
        match durable {
            Ok(()) => {
                self.acknowledged = self.versions.len() - 1;
                Ok(())
            }
            Err(error) => self.tolerate("a commit", &error),
        }
    }

    /// A life begins with work: every row is changed by a transaction that an older view must not see; then
    /// everybody must see the new rows by every index, and after purge still.
    pub fn work_after_restart(&mut self) -> Verdict {
        if !self.quiet.works {
            return Ok(());
        }
        let tables = self.tables.clone();
        for table in &tables {
            let rows = self.versions[self.versions.len() - 1].rows(table.number);
            let engine = Arc::clone(self.engine());
            let mut old = engine.begin(TxnOptions { isolation: Isolation::RepeatableRead, ..options(false) });
            old.open_view();
            let mut txn = engine.begin(options(false));
            let new: Overlay =
                rows.iter().map(|(id, row)| ((table.number, *id), Some(altered(row)))).collect();
            let outcome = rows.iter().zip(new.values()).try_for_each(|((id, row), new)| {
                rewrite(&mut txn, table, *id, row, new.as_ref().unwrap_or(row))
            });
            outcome.map_err(|what| format!("work after a restart, table {}: {what}", table.number))?;
            let committed = txn.commit();
            self.keep_version(committed, &new)?;
            self.totals.reworked += 1;
            for (id, row) in rows.iter() {
                let read = turnstile_engine::Read::Consistent;
                let seen = at_once(old.get(&table.def, &table.key(*id), read));
                let seen = seen.map_err(|error| format!("an old view after a restart: {error}"))?;
                if seen.as_deref() != Some(&row[..]) {
                    return Err(format!("table {}: an old view does not see row {id}", table.number));
                }
            }
        }
        self.check_now()?;
        self.engine().purge_all().map_err(|error| format!("purge after work: {error}"))?;
        self.check_now()
    }
}

fn fail(error: Error) -> String {
    error.to_string()
}

/// The row with another text under the same keys.
fn altered(row: &Row) -> Row {
    let mut bytes = row.to_vec();
    match bytes.get_mut(8) {
        Some(byte) => *byte ^= 0x55,
        None => bytes.push(1),
    }
    bytes.into()
}

fn rewrite(txn: &mut turnstile_engine::Txn, table: &Table, id: u32, row: &Row, after: &Row) -> Verdict {
    let mut found = None;
    let mut change = |old: &[u8], new: &mut Vec<u8>| {
        found = Some(old == &row[..]);
        new.clear();
        new.extend_from_slice(after);
        Change::Replace
    };
    let updated = at_once(txn.update(&table.def, &table.key(id), &mut change)).map_err(fail)?;
    match (updated, found) {
        (Updated::Changed, Some(true)) => Ok(()),
        other => Err(format!("row {id}: {other:?}")),
    }
}
