//! Deadlock detection: no thread, no scan of queues; a search begins where a wait begins, and goes from
//! waiter to holder.
//!
//! ```text
//!   W0 begins to wait ── holds nothing? ─────────────── no search: nobody can wait for W0
//!                     ── its blockers all run? ──────── no search: the chain ends here
//!                     └─ else: depth first from W0 along "waits for", one shard mutex at a time, under the search
//!                        mutex, until W0 is met again; every edge of the cycle is then read a second time;
//!                        who has written least loses
//! ```
//! Why every cycle is found, once, and nothing else is: README, "Deadlocks". In short: each member of a cycle
//! entered its queue before it looked, so the last to look sees all; searches take turns, and the first
//! breaks the cycle; an edge that is there at both readings was there in between, when all the others were
//! too.

use super::owner::{LockCount, TxnLocks};
use super::shard::{Shard, Woken};
use super::snapshot::LockInfo;
use super::table::{DeadlockHook, LockTable};
use super::wait::{Outcome, Waiter};
use crate::ids::TxnId;
use smallvec::SmallVec;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use turnstile_sys::sync::atomic::{Ordering, fence};

/// Guarded by the search mutex: one search at a time.
#[derive(Debug, Default)]
pub(super) struct Search {
    /// Number of the current pass; transactions marked with it have been looked at.
    pass: u64,
    /// It goes along the order of commits, too.
    through_order: bool,
}

/// A transaction in a deadlock.
#[derive(Clone, Debug)]
pub struct DeadlockMember {
    /// Its id, if it has written.
    pub txn_id: Option<TxnId>,
    /// Its connection's number.
    pub session: u64,
    /// Its place in the order of beginnings.
    pub start_sequence: u64,
    /// What rolling it back undoes: the records it has written.
    pub undo_records: u64,
    /// What it holds and asks for.
    pub locks: LockCount,
    /// How long it had waited.
    pub waited: Duration,
    /// The lock it waited for.
    pub waiting_for: LockInfo,
    /// The lock by which it blocked the member before it in the cycle; missing if it blocked by its place in
    /// a queue.
    pub holds: Option<LockInfo>,
}

/// A deadlock that was broken. Each member waits for the next, the last for the first.
#[derive(Clone, Debug)]
pub struct DeadlockRecord {
    /// When.
    pub at: SystemTime,
    /// The cycle, beginning with the transaction whose wait closed it.
    pub members: Vec<DeadlockMember>,
    /// Position of the victim.
    pub victim: usize,
}

/// A transaction on the path of a search that waits, or must end after another one.
struct Visit {
    txn: Arc<TxnLocks>,
    /// The lock wait it is in, if it is in one.
    waiter: Option<Arc<Waiter>>,
    /// Blockers that wait themselves or come after somebody (or are the start), not yet followed.
    ahead: SmallVec<[Arc<TxnLocks>; 4]>,
}

impl Visit {
    fn is_queued(&self) -> bool {
        self.waiter.as_ref().is_some_and(|waiter| waiter.queued.load(Ordering::Relaxed))
    }
}

/// What one member of a cycle waits for the next one for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Edge {
    /// A lock.
    Lock,
    /// Its end: it builds on what the next one has written.
    Order,
}

impl LockTable {
    pub(super) fn detects(&self) -> bool {
        self.settings.deadlock_detect.load(Ordering::Relaxed)
    }

    /// Whether the wait just begun can have closed a cycle. Under the shard's mutex, after the wait is
    /// entered.
    pub(super) fn needs_search(&self, shard: &Shard, txn: &TxnLocks, waiter: &Waiter) -> bool {
        // Between having entered this wait (and having added locks on behalf of others before) and looking at
        // others.
        fence(Ordering::SeqCst);
        if !self.detects() || txn.lock_count.load(Ordering::Relaxed) == 0 {
            return false;
        }
        let mut somebody_waits = false;
        shard.each_blocker(waiter.node, |blocker| {
            somebody_waits = blocker.is_waiting() || self.predecessors_wait() && blocker.follows();
            if somebody_waits { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        somebody_waits
    }

    /// Whether the order of commits may be part of a cycle with a lock in it: such a one has a member that
    /// has handed a row on and waits for a lock. While there is none, no chain is walked, however long.
    pub(super) fn predecessors_wait(&self) -> bool {
        self.counters.waiting_predecessors.load(Ordering::SeqCst) != 0
    }

    /// Breaks every cycle through this transaction.
    pub(super) fn search_from(&self, start: &Arc<TxnLocks>) {
        loop {
            let mut search = self.search.lock();
            let Some(cycle) = self.find_cycle(&mut search, start) else { return };
            let Some(edges) = self.confirm(&cycle) else { continue };
            let victim = choose_victim(&cycle, &edges);
            let Some(record) = self.describe(&cycle, victim).map(Arc::new) else { continue };
            // The members wait, or come after one that does, so what they were doing can still be seen; a
            // moment later the victim runs.
            let broken = self.on_deadlock.get().map(|hook| hook(&record));
            // Out of the queue, or marked as doomed, before the next search begins; told after this one.
            let (mut woken, mut alarm) = (None, None);
            match &cycle[victim].waiter {
                Some(waiter) => woken = self.take_out(waiter, Outcome::Victim),
                None => alarm = self.mark_doomed(&cycle[victim].txn),
            }
            drop(search);
            let ended = woken.is_some() || alarm.is_some();
            woken.into_iter().for_each(|woken| self.deliver(woken));
            alarm.into_iter().for_each(|alarm| self.sound(alarm));
            if ended {
                *self.last_deadlock.lock() = Some(record);
                if let Some(broken) = broken {
                    broken();
                }
                if Arc::ptr_eq(&cycle[victim].txn, start) {
                    return;
                }
            }
        }
    }

    /// Depth first from `start`; the path back to it, if there is one.
    fn find_cycle(&self, search: &mut Search, start: &Arc<TxnLocks>) -> Option<Vec<Visit>> {
        search.pass += 1;
        search.through_order = self.predecessors_wait();
        self.counters.searches.fetch_add(1, Ordering::Relaxed);
        start.mark.store(search.pass, Ordering::Relaxed);
        let mut path = vec![self.step(start, start, search.through_order)?];
        while let Some(top) = path.last_mut() {
            let Some(next) = top.ahead.pop() else {
                path.pop();
                continue;
            };
            if Arc::ptr_eq(&next, start) {
                return Some(path);
            }
            if next.mark.swap(search.pass, Ordering::Relaxed) != search.pass
                && let Some(step) = self.step(&next, start, search.through_order)
            {
                path.push(step);
            }
        }
        None
    }

    /// The waiting transaction with those of its blockers that can be part of a cycle.
    fn step(&self, txn: &Arc<TxnLocks>, start: &Arc<TxnLocks>, through_order: bool) -> Option<Visit> {
        let mut ahead = SmallVec::new();
        let mut edges = 0;
        let mut look = |blocker: &Arc<TxnLocks>| {
            edges += 1;
            // Who is doomed is on its way out of the cycle.
            let stays = !blocker.is_doomed();
            let leads_on = blocker.is_waiting() || through_order && blocker.follows();
            if stays && (leads_on || Arc::ptr_eq(blocker, start)) {
                ahead.push(blocker.clone());
            }
        };
        let mut waiter = {
            let inner = txn.inner.lock();
            if through_order {
                inner.hand_on.behind.iter().for_each(|behind| look(&behind.predecessor));
            }
            inner.wait.clone()
        };
        if let Some(waits) = &waiter {
            let shard = self.shard(waits.shard);
            if waits.queued.load(Ordering::Relaxed) {
                shard.each_blocker(waits.node, |blocker| {
                    look(blocker);
                    ControlFlow::Continue(())
                });
            } else {
                waiter = None;
            }
        }
        self.counters.edges.fetch_add(edges, Ordering::Relaxed);
        (!ahead.is_empty()).then(|| Visit { txn: txn.clone(), waiter, ahead })
    }

    /// The edges of the cycle, if every one is still there, by the same waits.
    fn confirm(&self, cycle: &[Visit]) -> Option<Vec<Edge>> {
        let pairs = cycle.iter().zip(cycle.iter().cycle().skip(1));
        pairs.map(|(step, next)| self.confirm_edge(step, &next.txn)).collect()
    }

    fn confirm_edge(&self, step: &Visit, next: &Arc<TxnLocks>) -> Option<Edge> {
        if step.txn.comes_after(next) {
            return Some(Edge::Order);
        }
        let waiter = step.waiter.as_ref()?;
        let shard = self.shard(waiter.shard);
        let mut blocked = false;
        if waiter.queued.load(Ordering::Relaxed) {
            shard.each_blocker(waiter.node, |blocker| {
                blocked = Arc::ptr_eq(blocker, next);
                if blocked { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            });
        }
        blocked.then_some(Edge::Lock)
    }

    /// The cycle in words; `None` if a timeout or a kill has broken it meanwhile.
    fn describe(&self, cycle: &[Visit], victim: usize) -> Option<DeadlockRecord> {
        let mut members: Vec<DeadlockMember> = Vec::with_capacity(cycle.len());
        let mut by_which: Vec<Option<LockInfo>> = Vec::with_capacity(cycle.len());
        for (step, next) in cycle.iter().zip(cycle.iter().cycle().skip(1)) {
            // What it waits for, or, if it waits for the next one's end, its own lock on the row it got from
            // that one.
            let (at, waited) = match &step.waiter {
                Some(waiter) => ((waiter.shard, waiter.node), waiter.since.elapsed()),
                None => (step.txn.order_of(&next.txn)?, Duration::ZERO),
            };
            let shard = self.shard(at.0);
            if step.waiter.is_some() && !step.is_queued() || !shard.is_of(at.1, &step.txn) {
                return None;
            }
            let entry = shard.node(at.1).entry;
            by_which.push(shard.own_hold(entry, &next.txn).map(|node| shard.describe(node)));
            members.push(DeadlockMember {
                txn_id: step.txn.txn_id(),
                session: step.txn.session(),
                start_sequence: step.txn.start_sequence(),
                undo_records: step.txn.undo_records(),
                locks: step.txn.lock_totals(),
                waited,
                waiting_for: shard.describe(at.1),
                holds: None,
            });
        }
        // What blocks a member is held by the next.
        by_which.rotate_right(1);
        for (member, holds) in members.iter_mut().zip(by_which) {
            member.holds = holds;
        }
        Some(DeadlockRecord { at: SystemTime::now(), members, victim })
    }

    /// Switches detection on or off (`innodb_deadlock_detect`). Switched on, it looks once from everybody who
    /// waits, for the cycles that closed meanwhile: whoever began to wait before the switch is in a queue
    /// now, whoever comes later sees it.
    pub fn set_detection(&self, on: bool) {
        if self.settings.deadlock_detect.swap(on, Ordering::SeqCst) != on {
            if on { self.detect_all() } else { wake_all(self) }
        }
    }

    fn detect_all(&self) {
        for number in self.shard_numbers() {
            let waiting: Vec<Arc<TxnLocks>> = {
                let shard = self.shard(number);
                let waits = (0..).zip(&shard.nodes).filter_map(|(at, node)| {
                    let (txn, waiter) = (node.txn.as_ref()?, node.waiter.as_ref()?);
                    debug_assert_eq!(waiter.node, at);
                    self.needs_search(&shard, txn, waiter).then(|| txn.clone())
                });
                waits.collect()
            };
            waiting.iter().for_each(|txn| self.search_from(txn));
        }
    }

    /// The last deadlock broken (LATEST DETECTED DEADLOCK).
    pub fn last_deadlock(&self) -> Option<Arc<DeadlockRecord>> {
        self.last_deadlock.lock().clone()
    }

    /// Has every deadlock reported from now on. Can be set once; a second is refused (false).
    pub fn set_deadlock_hook(&self, hook: DeadlockHook) -> bool {
        self.on_deadlock.set(hook).is_ok()
    }
}

/// Who has written least, which is the cheapest to roll back; of equals the youngest. Not one that the member
/// before it comes after: its rollback would take that one along, whose own would do.
fn choose_victim(cycle: &[Visit], edges: &[Edge]) -> usize {
    let order = |step: &Visit| (step.txn.undo_records(), u64::MAX - step.txn.start_sequence());
    let before = |position: usize| edges[(position + edges.len() - 1) % edges.len()];
    (0..cycle.len())
        .min_by_key(|&position| (before(position) == Edge::Order, order(&cycle[position])))
        .expect("a cycle has members")
}

/// `turnstile_blind_wait_ms`, live: whoever waits already heeds it, too.
pub fn set_blind_wait(table: &LockTable, milliseconds: u64) {
    table.settings.queues.blind_wait_ms.store(milliseconds, Ordering::SeqCst);
    if table.settings.blind_wait().is_some() {
        wake_all(table);
    }
}

/// Has everybody who waits, and is waited for, look at the clock.
fn wake_all(table: &LockTable) {
    for number in table.shard_numbers() {
        let mut woken = Woken::new();
        let shard = table.shard(number);
        let waits =
            shard.nodes.iter().filter(|node| node.txn.as_ref().is_some_and(|txn| txn.is_waited_for()));
        woken.waiters.extend(waits.filter_map(|node| node.waiter.clone()).map(|waiter| (waiter, None)));
        drop(shard);
        table.deliver(woken);
    }
}
