//! Lives of one database: each begins by opening what the last crash left, and ends in the next crash.

use std::collections::BTreeSet;
use std::sync::Arc;

use turnstile_engine::{Config, Engine, Error, Isolation, TableDef, Txn};
use turnstile_sys::fault_disk::{FaultDisk, FaultKind};
use turnstile_sys::rng::Rng;

use super::table::{State, begin, check, create, put, read, row, run};

const LIVES: usize = 4;
const KEYS: u64 = 50;
const SESSIONS: usize = 3;

/// What is wrong with the disk besides losing power.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// Nothing that a disk may not do.
    Honest,
    /// The canary bug.
    RedoSyncsSkipped,
}

/// Things that are different from seed to seed, so that rare combinations come up.
struct Swarm {
    long_rows: f64,
    deletes: f64,
    waits_for_log: f64,
    savepoints: f64,
    purges: u64,
    checkpoints: u64,
}

impl Swarm {
    fn draw(rng: &mut Rng) -> Self {
        let mut pick = |choices: [f64; 3]| choices[rng.index(3)];
        let (long_rows, deletes) = (pick([0.0, 0.05, 0.3]), pick([0.05, 0.3, 0.5]));
        let (waits_for_log, savepoints) = (pick([0.2, 0.7, 1.0]), pick([0.0, 0.1, 0.3]));
        Swarm {
            long_rows,
            deletes,
            waits_for_log,
            savepoints,
            purges: 4 + rng.below(20),
            checkpoints: 4 + rng.below(30),
        }
    }
}

/// A session with a transaction under way: its own idea of the keys it has changed.
struct Session {
    txn: Txn,
    changes: Vec<(Vec<u8>, Option<Vec<u8>>)>,
}

struct Life<'l> {
    engine: &'l Arc<Engine>,
    table: &'l TableDef,
    rng: &'l mut Rng,
    swarm: &'l Swarm,
    sessions: Vec<Session>,
    /// The last acknowledged state, and behind it the states committed since.
    history: Vec<State>,
}

/// Runs all lives of a seed.
pub fn lives_of(seed: u64, fate: Fate) -> Result<(), String> {
    let mut rng = Rng::new(seed);
    let mut swarm = Swarm::draw(&mut rng);
    if fate == Fate::RedoSyncsSkipped {
        // Pages must not reach the disk ahead of a log that is not there: that would be damage, and the engine stops at damage.
        (swarm.checkpoints, swarm.long_rows) = (u64::MAX, 0.0);
    }
    let config = Config { buffer_pool_bytes: 1 << 20, redo_capacity_bytes: 1 << 20, ..Config::default() };
    let mut disk = FaultDisk::new(seed);
    let mut engine =
        Engine::open_quiet(Arc::new(disk.clone()), config.clone()).map_err(|error| error.to_string())?;
    let table = create(&engine).map_err(|error| error.to_string())?;
    let mut history = vec![State::new()];
    for life_no in 0..if fate == Fate::Honest { LIVES } else { 1 } {
        if fate == Fate::RedoSyncsSkipped {
            disk.skip_sync_of("redo");
        } else if rng.chance(0.5) {
            let kind = if rng.chance(0.5) { FaultKind::InputOutput } else { FaultKind::NoSpace };
            let nth = 1 + rng.below(80);
            if std::env::var_os("SIM_TRACE").is_some() {
                eprintln!("seed {seed} life {life_no}: {kind:?} from operation {nth}");
            }
            disk.fail_from(nth, kind);
        }
        let steps = 20 + rng.below(150);
        let mut life = Life {
            engine: &engine,
            table: &table,
            rng: &mut rng,
            swarm: &swarm,
            sessions: Vec::new(),
            history,
        };
        for _ in 0..steps {
            if life.step().is_err() {
                break;
            }
        }
        let ended = std::mem::take(&mut life.sessions);
        history = std::mem::take(&mut life.history);
        disk = if rng.chance(0.2) && fate == Fate::Honest { disk.kill() } else { disk.crash() };
        drop(ended);
        drop(engine);
        let again = |what: String| format!("life {life_no}: {what}");
        engine = Engine::open_quiet(Arc::new(disk.clone()), config.clone())
            .map_err(|error| again(format!("does not open: {error}")))?;
        history = vec![inspect(&engine, &table, &history).map_err(again)?];
    }
    Ok(())
}

/// Looks at what a crash has left.
fn inspect(engine: &Arc<Engine>, table: &TableDef, history: &[State]) -> Result<State, String> {
    check(engine, table, None)?;
    let found = read(engine, table)?;
    if !history.contains(&found) {
        return Err(format!(
            "{} rows found, none of the {} states allowed; differences to each: {:?}",
            found.len(),
            history.len(),
            history.iter().map(|state| differences(state, &found)).collect::<Vec<_>>()
        ));
    }
    engine.purge_all().map_err(|error| format!("purge: {error}"))?;
    if read(engine, table)? != found {
        return Err("purge has changed what readers see".to_owned());
    }
    check(engine, table, Some(found.len()))?;
    Ok(found)
}

/// Keys whose rows differ, with the first bytes of what was expected and what is there.
fn differences(expected: &State, found: &State) -> Vec<String> {
    let keys: BTreeSet<_> = expected.keys().chain(found.keys()).collect();
    let show = |row: Option<&Vec<u8>>| row.map(|row| (row.len(), row[3], row[8..].first().copied()));
    keys.into_iter()
        .filter(|key| expected.get(*key) != found.get(*key))
        .map(|key| {
            format!("{key:?}: expected {:?}, found {:?}", show(expected.get(key)), show(found.get(key)))
        })
        .collect()
}

impl Life<'_> {
    /// One step of one session. An error ends the life.
    fn step(&mut self) -> Result<(), Error> {
        if self.rng.below(self.swarm.purges) == 0 {
            self.engine.purge_all()?;
        }
        if self.rng.below(self.swarm.checkpoints) == 0 {
            self.engine.checkpoint()?;
        }
        if self.sessions.len() < SESSIONS && self.rng.chance(0.5) {
            let isolation =
                if self.rng.chance(0.5) { Isolation::ReadCommitted } else { Isolation::RepeatableRead };
            self.sessions.push(Session { txn: begin(self.engine, isolation), changes: Vec::new() });
        }
        if self.sessions.is_empty() {
            return Ok(());
        }
        let at = self.rng.index(self.sessions.len());
        match self.rng.below(8) {
            0 => self.finish(at),
            1 if self.rng.chance(0.3) => {
                let mut session = self.sessions.swap_remove(at);
                run(session.txn.rollback()).expect("a rollback waits for nobody")
            }
            _ => self.write(at),
        }
    }

    /// Writes one key; whoever would have to wait for another session does not write.
    fn write(&mut self, at: usize) -> Result<(), Error> {
        let id = self.rng.below(KEYS) as u32;
        let key = id.to_be_bytes().to_vec();
        let long = self.rng.chance(self.swarm.long_rows);
        let length = if long { 4000 + self.rng.index(60_000) } else { self.rng.index(300) };
        let bytes = row(self.rng.below(9) as u32, 1000 + id, length);
        let delete = self.rng.chance(self.swarm.deletes);
        let take_back = self.rng.chance(self.swarm.savepoints);
        let session = &mut self.sessions[at];
        let savepoint = session.txn.savepoint();
        let committed = self.history.last().expect("there is always a last state");
        let own = session.changes.iter().rev().find(|(changed, _)| *changed == key);
        let exists = own.map_or(committed.contains_key(&key), |(_, row)| row.is_some());
        let outcome = if exists && delete {
            run(session.txn.delete(self.table, &key)).map(|outcome| outcome.map(drop))
        } else {
            put(&mut session.txn, self.table, &key, &bytes, exists)
        };
        let done = match outcome {
            Some(Ok(())) => !take_back,
            None | Some(Err(Error::Deadlock | Error::LockWaitTimeout)) => false,
            // Somebody else has inserted or deleted the key since: a row of another session is not ours to predict.
            Some(Err(Error::DuplicateKey { .. })) => false,
            Some(Err(error)) => return Err(error),
        };
        if done {
            session.changes.push((key, if exists && delete { None } else { Some(bytes) }));
            return Ok(());
        }
        run(session.txn.rollback_to(savepoint)).expect("a rollback waits for nobody")
    }

    fn finish(&mut self, at: usize) -> Result<(), Error> {
        let mut session = self.sessions.swap_remove(at);
        let mut state = self.history.last().expect("there is always a last state").clone();
        for (key, row) in session.changes.drain(..) {
            match row {
                Some(row) => state.insert(key, row),
                None => state.remove(&key),
            };
        }
        let outcome = session.txn.commit();
        self.history.push(state);
        if let Some(lsn) = outcome?
            && self.rng.chance(self.swarm.waits_for_log)
        {
            run(self.engine.wait_durable(lsn)).expect("without threads the log is synced here")?;
            self.history.drain(..self.history.len() - 1);
        }
        Ok(())
    }
}
