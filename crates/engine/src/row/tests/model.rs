//! Random schedules of several transactions over few keys, against an oracle that remembers the whole
//! history, and who has locked what: consistent reads see their state, NOWAIT and SKIP LOCKED get what nobody
//! else has locked.

use super::stage::*;
use crate::api::*;
use crate::engine::Engine;
use crate::error::Error;
use crate::txn::Txn;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use turnstile_sys::rng::Rng;

type State = BTreeMap<u32, Vec<u8>>;
/// Rows a transaction has changed; `None`: deleted.
type Changes = BTreeMap<u32, Option<Vec<u8>>>;

/// A transaction and what it must see: the state at its view with its own changes on top.
struct Actor {
    txn: Txn,
    isolation: Isolation,
    view: Option<State>,
    own: Changes,
    savepoint: Option<(Savepoint, Changes)>,
    /// Rows that it has locked; true: exclusively.
    locks: BTreeMap<u32, bool>,
    /// Rows that it may have locked, one way or the other: in a statement that failed, or in one that was
    /// taken back.
    perhaps: BTreeSet<u32>,
}

/// Whether a row can be locked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lockable {
    Yes,
    No,
    Perhaps,
}

struct World {
    engine: Arc<Engine>,
    table: TableDef,
    committed: State,
    actors: Vec<Actor>,
    rng: Rng,
    /// Few keys, many short transactions: long chains and much to leave out.
    hot: bool,
}

fn overlay(base: &State, own: &Changes) -> State {
    let mut state = base.clone();
    for (id, row) in own {
        match row {
            Some(row) => _ = state.insert(*id, row.clone()),
            None => _ = state.remove(id),
        }
    }
    state
}

impl World {
    fn new(seed: u64) -> Self {
        let (_disk, engine, table) = open(seed);
        World {
            engine,
            table,
            committed: State::new(),
            actors: Vec::new(),
            rng: Rng::new(seed),
            hot: seed % 2 == 1,
        }
    }

    fn random_row(&mut self, id: u32) -> Vec<u8> {
        let length = if self.rng.chance(0.03) { 5000 } else { self.rng.index(60) };
        row(self.rng.below(5) as u32, 1000 + id, &"t".repeat(length))
    }

    fn step(&mut self) {
        if self.actors.len() < 4 {
            let isolation =
                if self.rng.chance(0.5) { Isolation::RepeatableRead } else { Isolation::ReadCommitted };
            let txn = self.engine.begin(options(isolation));
            self.actors.push(Actor {
                txn,
                isolation,
                view: None,
                own: BTreeMap::new(),
                savepoint: None,
                locks: BTreeMap::new(),
                perhaps: BTreeSet::new(),
            });
        }
        let at = self.rng.index(self.actors.len());
        let id = if self.hot { self.rng.below(2) } else { self.rng.below(12) } as u32;
        let table = self.table.clone();
        match self.rng.below(if self.hot { 22 } else { 20 }) {
            0..=1 => self.look(at),
            2 => self.lock_at(at, id),
            3..=4 => self.lock_what_is_free(at),
            5..=7 => self.look_at(at, id),
            8..=15 => self.write(at, &table, id),
            16 => {
                let actor = &mut self.actors[at];
                actor.savepoint = Some((actor.txn.savepoint(), actor.own.clone()));
            }
            17 => {
                let actor = &mut self.actors[at];
                if let Some((savepoint, own)) = actor.savepoint.take() {
                    block_on(actor.txn.rollback_to(savepoint)).unwrap();
                    actor.own = own;
                    let kept = std::mem::take(&mut actor.locks);
                    for (id, exclusive) in kept {
                        if actor.own.contains_key(&id) {
                            actor.locks.insert(id, exclusive);
                        } else {
                            actor.perhaps.insert(id);
                        }
                    }
                }
            }
            18 | 20 | 21 => {
                let mut actor = self.actors.remove(at);
                match self.rng.below(3) {
                    0 => block_on(actor.txn.rollback()).unwrap(),
                    1 => {
                        drop(actor.txn);
                        self.engine.roll_back_abandoned().unwrap();
                    }
                    _ => {
                        actor.txn.commit().unwrap();
                        self.committed = overlay(&self.committed, &actor.own);
                    }
                }
            }
            _ => _ = self.engine.purge_all().unwrap(),
        }
    }

    fn expected(&mut self, at: usize) -> State {
        let committed = self.committed.clone();
        let actor = &mut self.actors[at];
        if actor.isolation == Isolation::ReadCommitted {
            actor.txn.start_statement(1000);
            actor.view = None;
        }
        let view = actor.view.get_or_insert(committed);
        overlay(view, &actor.own)
    }

    fn look(&mut self, at: usize) {
        let expected = self.expected(at);
        let found = contents(&mut self.actors[at].txn, &self.table);
        let found: State =
            found.into_iter().map(|(pk, row)| (u32::from_be_bytes(pk.try_into().unwrap()), row)).collect();
        assert_eq!(found, expected);
    }

    fn look_at(&mut self, at: usize, id: u32) {
        let expected = self.expected(at);
        assert_eq!(get(&mut self.actors[at].txn, &self.table, id).as_ref(), expected.get(&id));
    }

    /// Whether `at` can lock the row, as far as the others' locks are known.
    fn lockable(&self, at: usize, id: u32, exclusive: bool) -> Lockable {
        let others =
            || self.actors.iter().enumerate().filter(|(other, _)| *other != at).map(|(_, actor)| actor);
        if others().any(|other| other.locks.get(&id).is_some_and(|held| *held || exclusive)) {
            Lockable::No
        } else if others().any(|other| other.perhaps.contains(&id)) {
            Lockable::Perhaps
        } else {
            Lockable::Yes
        }
    }

    /// The rows as a locking read of `at` finds them, if it can lock them.
    fn newest(&self, at: usize) -> State {
        overlay(&self.committed, &self.actors[at].own)
    }

    fn locking(&mut self, at: usize, wait: LockWait) -> (Read, bool) {
        let exclusive = self.rng.chance(0.6);
        let lock = if exclusive { RowLock::Exclusive } else { RowLock::Shared };
        if self.actors[at].isolation == Isolation::ReadCommitted {
            self.actors[at].txn.start_statement(1000);
        }
        (Read::Locking { lock, wait }, exclusive)
    }

    /// NOWAIT or SKIP LOCKED on one row.
    fn lock_at(&mut self, at: usize, id: u32) {
        let wait = if self.rng.chance(0.5) { LockWait::NoWait } else { LockWait::SkipLocked };
        let (mode, exclusive) = self.locking(at, wait);
        let lockable = self.lockable(at, id, exclusive);
        let newest = self.newest(at).remove(&id);
        let actor = &mut self.actors[at];
        let read = poll_once(Box::pin(actor.txn.get(&self.table, &key(id), mode)).as_mut());
        match read.expect("it never waits") {
            Ok(row) if row == newest => {
                let is_skipped = wait == LockWait::SkipLocked && row.is_none();
                assert!(is_skipped || lockable != Lockable::No, "{id}: locked by another, and here");
                match row {
                    Some(_) => *actor.locks.entry(id).or_default() |= exclusive,
                    // A row that is marked as deleted may be locked.
                    None => _ = actor.perhaps.insert(id),
                }
            }
            Ok(None) if wait == LockWait::SkipLocked => {
                assert_ne!(lockable, Lockable::Yes, "{id}: free, and left out")
            }
            Err(Error::NoWait) if wait == LockWait::NoWait => {
                assert_ne!(lockable, Lockable::Yes, "{id} is free")
            }
            other => panic!("{id}: {other:?} for {newest:?}"),
        }
    }

    /// SELECT ... SKIP LOCKED of everything: what nobody else has locked, and nothing else.
    fn lock_what_is_free(&mut self, at: usize) {
        let (mode, exclusive) = self.locking(at, LockWait::SkipLocked);
        let index = if self.rng.chance(0.5) { ScanIndex::Clustered } else { ScanIndex::Secondary(0) };
        let newest = self.newest(at);
        let lockable: BTreeMap<u32, Lockable> =
            (0..12).map(|id| (id, self.lockable(at, id, exclusive))).collect();
        let actor = &mut self.actors[at];
        let mut found = State::new();
        let mut all = Box::pin(async {
            let mut scan = actor.txn.scan(&self.table, spec(index, mode));
            while let Some((pk, row)) = actor.txn.scan_locked_next(&mut scan, &mut |_| true).await.unwrap() {
                assert_eq!(found.insert(u32::from_be_bytes(pk.try_into().unwrap()), row), None, "twice");
            }
        });
        poll_once(all.as_mut()).expect("it never waits");
        drop(all);
        for (id, lockable) in lockable {
            match (found.get(&id), newest.get(&id)) {
                (Some(row), Some(newest)) => {
                    assert!(row == newest && lockable != Lockable::No, "{id}: locked by another, and here");
                    *actor.locks.entry(id).or_default() |= exclusive;
                }
                (Some(_), None) => panic!("{id} is not there"),
                (None, Some(_)) => {
                    assert_ne!(lockable, Lockable::Yes, "{id} is free, and was left out");
                    // One of its entries may be locked: the one in the secondary index, before the row itself
                    // was found taken.
                    actor.perhaps.insert(id);
                }
                (None, None) => _ = actor.perhaps.insert(id),
            }
        }
    }

    /// A write that never waits: whoever would have to is left alone.
    fn write(&mut self, at: usize, table: &TableDef, id: u32) {
        let bytes = self.random_row(id);
        let delete = self.rng.chance(0.3);
        let actor = &mut self.actors[at];
        let savepoint = actor.txn.savepoint();
        let key = key(id);
        let outcome = {
            let mut write = Box::pin(async {
                match actor.txn.insert(table, &key, &bytes).await {
                    Err(Error::DuplicateKey { nth: None, .. }) => {}
                    other => return other.map(|()| Some(bytes.clone())),
                }
                if delete {
                    assert!(actor.txn.delete(table, &key).await?);
                    return Ok(None);
                }
                assert_eq!(update(&mut actor.txn, table, id, &bytes).await?, Updated::Changed);
                Ok(Some(bytes.clone()))
            });
            poll_once(write.as_mut())
        };
        match outcome {
            Some(Ok(row)) => {
                actor.own.insert(id, row);
                actor.locks.insert(id, true);
            }
            Some(Err(error)) => panic!("{error}"),
            None => {
                block_on(actor.txn.rollback_to(savepoint)).unwrap();
                actor.perhaps.insert(id);
            }
        }
    }
}

#[test]
fn every_reader_sees_its_state() {
    let seeds = std::env::var("MODEL_SEEDS").ok().and_then(|seeds| seeds.parse().ok()).unwrap_or(6);
    for seed in 0..seeds {
        let mut world = World::new(seed);
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            for _ in 0..250 {
                world.step();
            }
        }));
        assert!(outcome.is_ok(), "seed {seed}");
        world.actors.clear();
        world.engine.roll_back_abandoned().unwrap();
        world.engine.purge_all().unwrap();
        assert_eq!(world.engine.history_list_length(), 0, "seed {seed}");
        let found = contents(&mut begin(&world.engine), &world.table);
        assert_eq!(found.len(), world.committed.len(), "seed {seed}");
        super::history::nothing_is_left_behind(&world.engine, &world.table, found.len());
    }
}
