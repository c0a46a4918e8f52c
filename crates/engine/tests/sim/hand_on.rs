//! Hot rows that are handed on before commit, on the faulty disk: transactions that take places in a few
//! rows' chains, roll back, in part or whole, vanish, are told to go, wait for each other; a power cut or a
//! killed process at any of the disk's operations; a restart, a look at everything, and on from there.
//!
//! Every transaction that commits has put a row of its own into the orders, so a state says which
//! transactions it is made of: the counters must be the sum of what just these have added, and these must
//! be a beginning of the order in which commits returned, at least up to the last that was acknowledged. A
//! successor without its predecessor, a value that was taken back, a row handed on twice: each breaks one
//! of the two.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use turnstile_engine::ids::Lsn;
use turnstile_engine::interrupt::Interrupt;
use turnstile_engine::{Change, Config, Engine, Error, Isolation, Read, Result, Savepoint, Txn, TxnOptions};
use turnstile_sys::fault_disk::FaultDisk;
use turnstile_sys::rng::Rng;

use crate::session::{Waking, at_once};
use crate::table::{Table, row};
use crate::world::Verdict;

const HOT_ROWS: u32 = 3;
const LOCK_WAIT_MS: u64 = 100_000_000;

/// What a transaction has added to each hot row so far.
type Added = [u32; HOT_ROWS as usize];

/// What was done, to see that it was not nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Done {
    pub commits: u64,
    pub handed_on: u64,
    pub followed: u64,
    pub doomed: u64,
    pub deadlocks: u64,
    pub lives: u64,
}

impl Done {
    pub fn add(&mut self, other: &Done) {
        self.commits += other.commits;
        self.handed_on += other.handed_on;
        self.followed += other.followed;
        self.doomed += other.doomed;
        self.deadlocks += other.deadlocks;
        self.lives += other.lives;
    }
}

/// What a step of a transaction came to.
enum Step {
    /// It goes on; `Some`: it added that to a row.
    Goes(Option<(u32, u32)>),
    Ended(Option<Lsn>),
    Gone,
}

type Running = Pin<Box<dyn Future<Output = (Txn, Result<Step>)>>>;

struct Buyer {
    order: u32,
    added: Added,
    savepoints: Vec<(Savepoint, Added)>,
    txn: Option<Txn>,
    running: Option<(Running, Arc<Waking>)>,
}

/// A transaction that committed: its order, and what it added.
#[derive(Clone, Copy, PartialEq)]
struct Commit {
    order: u32,
    added: Added,
}

struct Shop {
    rng: Rng,
    disk: FaultDisk,
    engine: Arc<Engine>,
    hot: Table,
    orders: Table,
    buyers: Vec<Option<Buyer>>,
    /// Open snapshots, and how many had committed when they were taken.
    readers: Vec<(Txn, usize)>,
    next_order: u32,
    commits: Vec<Commit>,
    acknowledged: usize,
    unacknowledged: Vec<(Lsn, usize)>,
    /// Somebody's order was refused: the disk has failed.
    stopped: bool,
    done: Done,
    trace: Vec<String>,
}

fn config() -> Config {
    let config = Config { buffer_pool_bytes: 2 << 20, redo_capacity_bytes: 2 << 20, ..Config::default() };
    let hot_row = &config.settings.hot_row;
    hot_row.on.store(true, Ordering::Relaxed);
    hot_row.patience_ms.store(LOCK_WAIT_MS, Ordering::Relaxed);
    config
}

fn counter_of(row: &[u8]) -> u32 {
    u32::from_be_bytes(row[8..12].try_into().unwrap())
}

async fn add(txn: &mut Txn, hot: &Table, id: u32, more: u32, moves: bool) -> Result<Step> {
    let mut change = |old: &[u8], new: &mut Vec<u8>| {
        new.clear();
        new.extend_from_slice(old);
        new[8..12].copy_from_slice(&(counter_of(old) + more).to_be_bytes());
        if moves {
            // A new secondary key: from here on the row is not handed on.
            new[0] ^= 1;
        }
        Change::Replace
    };
    txn.update(&hot.def, &hot.key(id), &mut change).await?;
    Ok(Step::Goes(Some((id, more))))
}

async fn commit(txn: &mut Txn) -> Result<Step> {
    match txn.order().follow().await {
        Ok(()) => txn.commit().map(Step::Ended),
        Err(Error::GroupRolledBack) => {
            txn.rollback().await?;
            Ok(Step::Gone)
        }
        Err(error) => Err(error),
    }
}

impl Shop {
    fn open(seed: u64) -> Verdict<Shop> {
        let mut rng = Rng::new(seed);
        let disk = FaultDisk::new(rng.next_u64());
        let engine =
            Engine::open_quiet(Arc::new(disk.clone()), config()).map_err(|error| error.to_string())?;
        let index = || engine.create_index().map_err(|error| error.to_string());
        let hot = Table::new(1, &[index()?, index()?], 0);
        let orders = Table::new(2, &[index()?], 0);
        let mut txn = engine.begin(options(Isolation::RepeatableRead));
        for id in 0..HOT_ROWS {
            let bytes = [&row(7, id, 0, 0)[..], &0_u32.to_be_bytes()].concat();
            at_once(txn.insert(&hot.def, &hot.key(id), &bytes)).map_err(|error| error.to_string())?;
        }
        let lsn = txn.commit().map_err(|error| error.to_string())?;
        at_once(engine.wait_durable(lsn.expect("it wrote"))).map_err(|error| error.to_string())?;
        let buyers = (0..2 + rng.index(7)).map(|_| None).collect();
        Ok(Shop {
            rng,
            disk,
            engine,
            hot,
            orders,
            buyers,
            readers: Vec::new(),
            next_order: 1,
            commits: Vec::new(),
            acknowledged: 0,
            unacknowledged: Vec::new(),
            stopped: false,
            done: Done::default(),
            trace: Vec::new(),
        })
    }

    /// A life of so many steps, and its end.
    fn live(&mut self, steps: u64) -> Verdict {
        if self.rng.chance(0.6) {
            let nth = 1 + self.rng.below(40);
            self.disk.die_in("", nth);
        }
        let mut dead = false;
        for _ in 0..steps {
            dead = self.step()?;
            if dead {
                break;
            }
        }
        if !dead && self.rng.chance(0.3) {
            dead = self.finish()?;
        }
        self.note(if dead { "the disk has failed" } else { "the end of a life" }.into());
        self.end(dead)
    }

    fn note(&mut self, what: String) {
        self.trace.push(what);
    }

    /// One step of somebody. True: the engine has stopped.
    fn step(&mut self) -> Verdict<bool> {
        if self.roll_back_abandoned()? {
            return Ok(true);
        }
        for at in 0..self.buyers.len() {
            if self.poll(at)? {
                return Ok(true);
            }
        }
        if self.rng.chance(0.1) {
            // Without threads somebody must.
            let _ = self.engine.purge_some(20);
            self.acknowledge();
        }
        if self.rng.chance(0.15) && self.read()? {
            return Ok(true);
        }
        let idle: Vec<usize> = (0..self.buyers.len())
            .filter(|&at| self.buyers[at].as_ref().is_none_or(|buyer| buyer.running.is_none()))
            .collect();
        let woken = |buyer: &Option<Buyer>| {
            buyer
                .as_ref()
                .and_then(|buyer| buyer.running.as_ref())
                .is_some_and(|(_, waking)| waking.is_raised())
        };
        if idle.is_empty() && self.buyers.iter().any(woken) {
            return Ok(false);
        }
        if idle.is_empty() {
            return Err(format!("everybody waits, and nobody was woken: {}", self.who_waits()));
        }
        let at = idle[self.rng.index(idle.len())];
        if let Some(buyer) = &self.buyers[at]
            && buyer.txn.as_ref().is_some_and(|txn| txn.order().is_doomed())
        {
            return self.begin(at, "is told to go", |mut txn, _, _| {
                Box::pin(async move {
                    let gone = txn.rollback().await.map(|()| Step::Gone);
                    (txn, gone)
                })
            });
        }
        self.act(at)
    }

    /// Those whose rows others have built upon stay until these are gone.
    fn roll_back_abandoned(&mut self) -> Verdict<bool> {
        match self.engine.roll_back_abandoned() {
            Ok(()) => Ok(false),
            Err(Error::Stopped(_)) => Ok(true),
            Err(error) => Err(format!("rollback of the abandoned: {error}")),
        }
    }

    /// A snapshot is taken, looked at again, or dropped: it shows what had committed when it was taken.
    fn read(&mut self) -> Verdict<bool> {
        let at = self.rng.index(4);
        if at >= self.readers.len() {
            let txn = self.engine.begin(options(Isolation::RepeatableRead));
            self.readers.push((txn, self.commits.len()));
        } else if self.rng.chance(0.2) {
            self.readers.remove(at);
            return Ok(false);
        }
        let at = at.min(self.readers.len() - 1);
        let sums = self.sums(self.readers[at].1);
        let (txn, count) = &mut self.readers[at];
        for (id, sum) in (0..).zip(sums) {
            let row = match at_once(txn.get(&self.hot.def, &self.hot.key(id), Read::Consistent)) {
                Err(Error::Stopped(_)) => return Ok(true),
                row => row.map_err(|error| error.to_string())?.ok_or("a hot row is gone")?,
            };
            if counter_of(&row) != sum {
                let found = counter_of(&row);
                return Err(format!("a snapshot after {count} commits shows {found} in row {id}, not {sum}"));
            }
        }
        Ok(false)
    }

    /// What the first `count` commits have added.
    fn sums(&self, count: usize) -> Added {
        let mut sums = [0; HOT_ROWS as usize];
        for commit in &self.commits[..count] {
            sums.iter_mut().zip(commit.added).for_each(|(sum, added)| *sum += added);
        }
        sums
    }

    fn act(&mut self, at: usize) -> Verdict<bool> {
        let (id, more) = (self.rng.below(u64::from(HOT_ROWS)) as u32, 1 + self.rng.below(9) as u32);
        match self.rng.below(20) {
            0..=9 => {
                let moves = self.rng.chance(0.1);
                self.begin(at, &format!("adds {more} to {id}"), move |mut txn, hot, _| {
                    Box::pin(async move {
                        let added = add(&mut txn, &hot, id, more, moves).await;
                        (txn, added)
                    })
                })
            }
            10 => {
                let savepoint = self.buyer(at);
                let mark = (savepoint.txn.as_ref().expect("it is idle").savepoint(), savepoint.added);
                savepoint.savepoints.push(mark);
                Ok(false)
            }
            11 => {
                let Some((savepoint, added)) = self.buyer(at).savepoints.pop() else { return Ok(false) };
                self.buyer(at).added = added;
                self.begin(at, "rolls back to a savepoint", move |mut txn, _, _| {
                    Box::pin(async move {
                        let back = txn.rollback_to(savepoint).await.map(|()| Step::Goes(None));
                        (txn, back)
                    })
                })
            }
            12 => self.begin(at, "rolls back", |mut txn, _, _| {
                Box::pin(async move {
                    let gone = txn.rollback().await.map(|()| Step::Gone);
                    (txn, gone)
                })
            }),
            13 if self.rng.chance(0.4) => {
                let victim = self.rng.index(self.buyers.len());
                self.note(format!("b{victim} vanishes"));
                self.buyers[victim] = None;
                Ok(false)
            }
            14 => {
                let lock_read = move |mut txn: Txn, hot: Table, _| -> Running {
                    Box::pin(async move {
                        let mode = Read::Locking {
                            lock: turnstile_engine::RowLock::Exclusive,
                            wait: turnstile_engine::LockWait::Wait,
                        };
                        let read = txn.get(&hot.def, &hot.key(id), mode).await.map(|_| Step::Goes(None));
                        (txn, read)
                    })
                };
                self.begin(at, &format!("locks {id}"), lock_read)
            }
            _ => self.begin(at, "commits", |mut txn, _, orders| {
                Box::pin(async move {
                    let _ = orders;
                    let ended = commit(&mut txn).await;
                    (txn, ended)
                })
            }),
        }
    }

    /// The buyer, who begins a transaction with an order of its own if there is none.
    fn buyer(&mut self, at: usize) -> &mut Buyer {
        if self.buyers[at].is_none() {
            let isolation =
                if self.rng.chance(0.5) { Isolation::RepeatableRead } else { Isolation::ReadCommitted };
            let mut txn = self.engine.begin(options(isolation));
            let order = self.next_order;
            self.next_order += 1;
            let key = self.orders.key(order);
            self.stopped |= at_once(txn.insert(&self.orders.def, &key, &row(order, 0, 20, 3))).is_err();
            txn.order().rest();
            let added = [0; HOT_ROWS as usize];
            let buyer = Buyer { order, added, savepoints: Vec::new(), txn: Some(txn), running: None };
            self.buyers[at] = Some(buyer);
        }
        self.buyers[at].as_mut().expect("made above")
    }

    fn begin(
        &mut self,
        at: usize,
        what: &str,
        make: impl FnOnce(Txn, Table, Table) -> Running,
    ) -> Verdict<bool> {
        let (hot, orders) = (self.hot.clone(), self.orders.clone());
        self.note(format!("b{at} {what}"));
        self.buyer(at);
        if self.stopped {
            return Ok(true);
        }
        let buyer = self.buyer(at);
        let mut txn = buyer.txn.take().expect("it is idle");
        txn.start_statement(LOCK_WAIT_MS);
        buyer.running = Some((make(txn, hot, orders), Waking::raised()));
        self.poll(at)
    }

    fn poll(&mut self, at: usize) -> Verdict<bool> {
        let Some(buyer) = &mut self.buyers[at] else { return Ok(false) };
        let Some((running, waking)) = &mut buyer.running else { return Ok(false) };
        let Some((txn, step)) = waking.poll(running.as_mut()) else { return Ok(false) };
        buyer.running = None;
        match step {
            Ok(Step::Goes(added)) => {
                if let Some((id, more)) = added {
                    buyer.added[id as usize] += more;
                }
                txn.order().rest();
                buyer.txn = Some(txn);
            }
            Ok(Step::Ended(lsn)) => {
                let commit = Commit { order: buyer.order, added: buyer.added };
                let lsn = lsn.ok_or("a commit of an order says that it wrote nothing")?;
                self.buyers[at] = None;
                self.commits.push(commit);
                self.unacknowledged.push((lsn, self.commits.len()));
                self.done.commits += 1;
                self.note(format!("b{at} has committed order {}", commit.order));
            }
            Ok(Step::Gone) => {
                self.buyers[at] = None;
                self.note(format!("b{at} is gone"));
            }
            Err(Error::Deadlock | Error::GroupRolledBack) => {
                buyer.txn = Some(txn);
                self.note(format!("b{at} has lost"));
                return self.begin(at, "goes", |mut txn, _, _| {
                    Box::pin(async move {
                        let gone = txn.rollback().await.map(|()| Step::Gone);
                        (txn, gone)
                    })
                });
            }
            Err(Error::Stopped(_)) => {
                // Its commit may have reached the disk.
                let commit = Commit { order: buyer.order, added: buyer.added };
                self.commits.push(commit);
                self.buyers[at] = None;
                return Ok(true);
            }
            Err(error) => return Err(format!("b{at}: {error}")),
        }
        Ok(false)
    }

    /// Everybody comes to an end.
    fn finish(&mut self) -> Verdict<bool> {
        for _ in 0..10_000 {
            if self.roll_back_abandoned()? {
                return Ok(true);
            }
            let mut busy = false;
            for at in 0..self.buyers.len() {
                if self.poll(at)? {
                    return Ok(true);
                }
                let Some(buyer) = &self.buyers[at] else { continue };
                busy = true;
                if buyer.running.is_some() {
                    continue;
                }
                let dead = self.begin(at, "commits at last", |mut txn, _, _| {
                    Box::pin(async move {
                        let ended = commit(&mut txn).await;
                        (txn, ended)
                    })
                })?;
                if dead {
                    return Ok(true);
                }
            }
            if !busy {
                if self.roll_back_abandoned()? {
                    return Ok(true);
                }
                return self.check("at the end", self.commits.len()).map(|()| false);
            }
        }
        Err(format!("somebody waits for ever: {}", self.who_waits()))
    }

    /// Locks and waits, one a line.
    fn who_waits(&self) -> String {
        let snapshot = self.engine.locks().snapshot();
        let mut text = format!("{:?}\n", self.engine.locks().statistics());
        for lock in &snapshot.locks {
            let (txn, shapes, waited) = (lock.id.transaction, &lock.shapes, lock.waited.is_some());
            let blockers: Vec<u64> = snapshot
                .waits
                .iter()
                .filter(|wait| wait.requesting == lock.id)
                .map(|wait| wait.blocking.transaction)
                .collect();
            text += &format!("  T{txn} {:?} {shapes:?} {waited} {blockers:?}\n", lock.name);
        }
        text
    }

    fn acknowledge(&mut self) {
        for (lsn, commits) in std::mem::take(&mut self.unacknowledged) {
            if at_once(self.engine.wait_durable(lsn)).is_ok() {
                self.acknowledged = self.acknowledged.max(commits);
            }
        }
    }

    /// The end of a process, and the next one.
    fn end(&mut self, dead: bool) -> Verdict {
        let statistics = self.engine.locks().statistics();
        self.done.handed_on += statistics.handed_on;
        self.done.followed += statistics.followed;
        self.done.doomed += statistics.doomed;
        self.done.deadlocks += statistics.deadlocks;
        self.done.lives += 1;
        if !dead {
            self.acknowledge();
        }
        self.unacknowledged.clear();
        self.stopped = false;
        self.readers.clear();
        self.buyers.iter_mut().for_each(|buyer| *buyer = None);
        self.disk = if self.rng.chance(0.3) { self.disk.kill() } else { self.disk.crash() };
        self.engine = Engine::open_quiet(Arc::new(self.disk.clone()), config())
            .map_err(|error| format!("after a restart: {error}"))?;
        let found = self.state()?.1;
        let kept = self.commits.iter().position(|commit| !found.contains_key(&commit.order));
        let kept = kept.unwrap_or(self.commits.len());
        if kept < self.acknowledged {
            let lost = self.commits[kept].order;
            return Err(format!("order {lost} was acknowledged, and is not there"));
        }
        self.commits.truncate(kept);
        self.acknowledged = kept;
        self.check("after a restart", kept)
    }

    /// The counters, and the orders.
    fn state(&self) -> Verdict<(Added, BTreeMap<u32, ()>)> {
        let mut txn = self.engine.begin(options(Isolation::RepeatableRead));
        let mut counters = [0; HOT_ROWS as usize];
        for (id, counter) in (0..).zip(&mut counters) {
            let row = at_once(txn.get(&self.hot.def, &self.hot.key(id), Read::Consistent));
            let row = row.map_err(|error| error.to_string())?.ok_or("a hot row is gone")?;
            *counter = counter_of(&row);
        }
        let mut orders = BTreeMap::new();
        for order in 1..self.next_order {
            let row = at_once(txn.get(&self.orders.def, &self.orders.key(order), Read::Consistent));
            if row.map_err(|error| error.to_string())?.is_some() {
                orders.insert(order, ());
            }
        }
        Ok((counters, orders))
    }

    /// The state is that of the first `count` commits.
    fn check(&self, when: &str, count: usize) -> Verdict {
        let (counters, orders) = self.state()?;
        let sums = self.sums(count);
        for commit in &self.commits[..count] {
            if !orders.contains_key(&commit.order) {
                return Err(format!("{when}: order {} is missing", commit.order));
            }
        }
        if orders.len() != count || counters != sums {
            return Err(format!(
                "{when}: {} orders instead of {count}, counters {counters:?} instead of {sums:?}",
                orders.len()
            ));
        }
        for at in [0, 1] {
            let index = self.hot.indexes()[at];
            self.engine.verify_index(index).map_err(|error| format!("{when}: {error}"))?;
        }
        Ok(())
    }
}

fn options(isolation: Isolation) -> TxnOptions {
    TxnOptions {
        isolation,
        read_only: false,
        autocommit: false,
        lock_wait_timeout_ms: LOCK_WAIT_MS,
        interrupt: Arc::new(Interrupt::new()),
        status: Default::default(),
    }
}

/// One seed.
pub fn simulate(seed: u64) -> Verdict<Done> {
    let mut shop = Shop::open(seed)?;
    for _ in 0..2 + shop.rng.below(4) {
        let steps = 20 + shop.rng.below(200);
        if let Err(what) = shop.live(steps) {
            let from = shop.trace.len().saturating_sub(60);
            return Err(format!("seed {seed}: {what}\n  {}", shop.trace[from..].join("\n  ")));
        }
    }
    Ok(shop.done)
}
