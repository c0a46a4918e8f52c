//! Random schedules of several transactions over few keys, against an oracle that remembers the whole history.

use super::stage::*;
use crate::api::*;
use crate::engine::Engine;
use crate::error::Error;
use crate::txn::Txn;
use std::collections::BTreeMap;
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
            self.actors.push(Actor { txn, isolation, view: None, own: BTreeMap::new(), savepoint: None });
        }
        let at = self.rng.index(self.actors.len());
        let id = if self.hot { self.rng.below(2) } else { self.rng.below(12) } as u32;
        let table = self.table.clone();
        match self.rng.below(if self.hot { 22 } else { 20 }) {
            0..=4 => self.look(at),
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
            Some(Ok(row)) => _ = actor.own.insert(id, row),
            Some(Err(error)) => panic!("{error}"),
            None => block_on(actor.txn.rollback_to(savepoint)).unwrap(),
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
