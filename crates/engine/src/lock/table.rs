//! The lock table: what the rows above call.
//!
//! Order of mutexes: search (deadlock.rs), then one shard, then one transaction's `inner`, then one wait
//! cell. Never two shards at a time. Wakers run when no mutex of this room is held.

use super::deadlock::{DeadlockRecord, Search};
use super::grant::Manner;
use super::hot_rows::HotRows;
use super::mode::{LockKind, LockMode, Want};
use super::name::LockName;
use super::owner::{HeldRef, TxnLocks};
use super::precedence::is_full;
use super::shard::{Shard, Woken};
use super::statistics::{Counters, LockStatistics};
use super::wait::{Outcome, Patience, Wait, Waiter};
use crate::api::{Settings, TableLock};
use crate::error::Result;
use crate::ids::TableId;
use crate::rank;
use std::sync::{Arc, OnceLock};
use std::task::Waker;
use std::time::{Duration, Instant};
use turnstile_sys::ranked::{RankedGuard, RankedMutex};
use turnstile_sys::sync::Mutex;
use turnstile_sys::sync::atomic::{AtomicU64, Ordering};
use turnstile_sys::{handoff, relief};

/// Shards; a power of two.
const SHARDS: usize = 64;
/// Locks released under one hold of a shard's mutex, at most.
const RELEASE_BATCH: usize = 64;
/// Locks whose release takes milliseconds.
const MANY: usize = 16 << 10;
/// How long a running autocommit statement spins for the short lock of another before it queues.
const SPIN_BUDGET: Duration = Duration::from_micros(10);

/// Outcome of a lock request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grant {
    /// Held now, and was not before.
    New,
    /// This or a stronger lock was held already: nothing to release if the statement does not want it.
    Held,
    /// Somebody else's.
    Conflict,
}

/// Called with every deadlock that is about to be broken, while all its members still wait, under the search
/// mutex: it may look at what they are doing, briefly. What it answers is called, outside all mutexes, once
/// the deadlock is broken; a timeout or a kill that comes first drops it.
pub type DeadlockHook = Box<dyn Fn(&Arc<DeadlockRecord>) -> DeadlockBroken + Send + Sync>;
/// See [`DeadlockHook`].
pub type DeadlockBroken = Box<dyn FnOnce()>;

#[repr(align(128))]
#[derive(Debug)]
struct WatchedShard {
    shard: RankedMutex<Shard>,
    /// Releases so far: what a spinning request watches without touching the mutex.
    released: AtomicU64,
}

impl WatchedShard {
    /// Lets spinning requests look again. The guard is the witness that nobody else counts now.
    fn note_release(&self, _shard: &RankedGuard<'_, Shard>) {
        self.released.store(self.released.load(Ordering::Relaxed) + 1, Ordering::Release);
    }
}

/// All locks of the engine.
pub struct LockTable {
    slots: Box<[WatchedShard]>,
    pub(super) settings: Arc<Settings>,
    /// Owners of gap locks: those who asked for one, and those who inherited one. While there are none,
    /// insertions need not look to the right.
    gap_owners: AtomicU64,
    pub(super) counters: Counters,
    pub(super) search: RankedMutex<Search>,
    pub(super) last_deadlock: Mutex<Option<Arc<DeadlockRecord>>>,
    pub(super) on_deadlock: OnceLock<DeadlockHook>,
}

impl std::fmt::Debug for LockTable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LockTable").field("statistics", &self.statistics()).finish_non_exhaustive()
    }
}

impl LockTable {
    /// An empty table. `settings.deadlock_detect` is read at every wait.
    pub fn new(settings: Arc<Settings>) -> Self {
        let slots = (0..SHARDS as u32).map(|number| {
            let mut shard = Shard::default();
            shard.number = number;
            shard.hot_row = Some(settings.hot_row.clone());
            let shard = RankedMutex::new(rank::LOCK_SHARD, &rank::LOCK_SHARDS, shard);
            WatchedShard { shard, released: AtomicU64::new(0) }
        });
        LockTable {
            slots: slots.collect(),
            settings,
            gap_owners: AtomicU64::new(0),
            counters: Counters::default(),
            search: RankedMutex::new(rank::LOCK_SEARCH, &rank::LOCK_SEARCHES, Search::default()),
            last_deadlock: Mutex::default(),
            on_deadlock: OnceLock::new(),
        }
    }

    /// Whether anybody may hold gap locks. Under a leaf's latch, where its gaps are claimed and inherited,
    /// the answer stands.
    pub fn has_gap_owners(&self) -> bool {
        self.gap_owners.load(Ordering::SeqCst) != 0
    }
    /// A transaction is about to claim its first gap.
    pub fn count_gap_owner(&self) {
        self.gap_owners.fetch_add(1, Ordering::SeqCst);
    }
    /// It has ended.
    pub fn uncount_gap_owner(&self) {
        self.gap_owners.fetch_sub(1, Ordering::SeqCst);
    }
    /// A transaction is about to inherit a gap. False: it has released everything already.
    pub(super) fn count_gap_heir(&self, owner: &TxnLocks) -> bool {
        let mut inner = owner.inner.lock();
        if !inner.ended && !std::mem::replace(&mut inner.gap_heir, true) {
            self.count_gap_owner();
        }
        !inner.ended
    }

    fn slot(&self, hash: u64) -> &WatchedShard {
        &self.slots[(hash >> 40) as usize % SHARDS]
    }
    pub(super) fn shard(&self, number: u32) -> RankedGuard<'_, Shard> {
        self.slots[number as usize].shard.lock()
    }
    pub(super) fn shard_numbers(&self) -> impl Iterator<Item = u32> + use<> {
        0..SHARDS as u32
    }

    /// Locks a row, the end of an index, or the gap before either, if that needs no wait.
    pub fn try_acquire(
        &self,
        txn: &Arc<TxnLocks>,
        name: LockName<'_>,
        mode: LockMode,
        kind: LockKind,
    ) -> Grant {
        turnstile_sys::trail!();
        self.request(txn, name, Want::row(mode, kind, name.is_supremum()))
    }

    /// Locks a table, if that needs no wait.
    pub fn try_acquire_table(&self, txn: &Arc<TxnLocks>, table: TableId, lock: TableLock) -> Grant {
        let want = Want::table(lock);
        let held =
            txn.inner.lock().tables.iter().find(|(held, _)| *held == table).map_or(0, |(_, bits)| *bits);
        if want.is_covered_by(held, true) {
            return Grant::Held;
        }
        self.request(txn, LockName::Table(table), want)
    }

    fn request(&self, txn: &Arc<TxnLocks>, name: LockName<'_>, want: Want) -> Grant {
        let hash = name.hash();
        let mut woken = Woken::new();
        let grant = self.slot(hash).shard.lock().attempt(txn, name, hash, want, &mut woken);
        self.deliver(woken);
        grant
    }

    /// Tries for up to `budget` as long as everybody in the way holds the lock only for a moment (see
    /// [`TxnLocks::is_transient`]): cheaper than a wait when the holder is running on another thread.
    fn spin(&self, txn: &Arc<TxnLocks>, name: LockName<'_>, want: Want, budget: Duration) -> Grant {
        let hash = name.hash();
        let slot = self.slot(hash);
        let deadline = Instant::now() + budget;
        loop {
            let seen = slot.released.load(Ordering::Acquire);
            let mut woken = Woken::new();
            let (grant, hopeful) = {
                let mut shard = slot.shard.lock();
                let grant = shard.attempt(txn, name, hash, want, &mut woken);
                let hopeful = grant == Grant::Conflict && shard.is_held_for_a_moment(txn, name, hash, want);
                (grant, hopeful)
            };
            self.deliver(woken);
            if !hopeful {
                return grant;
            }
            while slot.released.load(Ordering::Acquire) == seen {
                for _ in 0..16 {
                    std::hint::spin_loop();
                }
                if Instant::now() >= deadline {
                    return Grant::Conflict;
                }
            }
        }
    }

    /// Joins the queue for a row lock (or takes it, if it has become free).
    pub fn enqueue<'a>(
        &'a self,
        txn: &'a Arc<TxnLocks>,
        name: LockName<'_>,
        mode: LockMode,
        kind: LockKind,
        patience: Patience<'a>,
    ) -> Wait<'a> {
        self.join(txn, name, Want::row(mode, kind, name.is_supremum()), patience)
    }

    /// Joins the queue for a table lock (or takes it, if it has become free).
    pub fn enqueue_table<'a>(
        &'a self,
        txn: &'a Arc<TxnLocks>,
        table: TableId,
        lock: TableLock,
        patience: Patience<'a>,
    ) -> Wait<'a> {
        self.join(txn, LockName::Table(table), Want::table(lock), patience)
    }

    fn join<'a>(
        &'a self,
        txn: &'a Arc<TxnLocks>,
        name: LockName<'_>,
        want: Want,
        patience: Patience<'a>,
    ) -> Wait<'a> {
        let hash = name.hash();
        let was_transient = txn.is_transient();
        let mut woken = Woken::new();
        let (mut search, mut own_row, mut outcome) = (false, false, Outcome::Granted);
        let queues = &self.settings.queues;
        let (skips, cap) = (queues.skips.load(Ordering::Relaxed), queues.cap.load(Ordering::Relaxed));
        let waiter = {
            let mut shard = self.slot(hash).shard.lock();
            match shard.attempt(txn, name, hash, want, &mut woken) {
                Grant::New | Grant::Held => None,
                Grant::Conflict if is_full(&shard, txn, name, hash, cap) => {
                    self.counters.refused.fetch_add(1, Ordering::Relaxed);
                    outcome = Outcome::Refused;
                    None
                }
                Grant::Conflict => {
                    // Asleep, it will not release anything soon.
                    txn.set_transient(false);
                    let entry = shard.find(name, hash).expect("only a locked name conflicts");
                    let waiter = shard.join_queue(entry, txn, want, was_transient, skips);
                    let has_handed_on = txn.has_handed_on();
                    if has_handed_on {
                        waiter.has_successors.store(true, Ordering::Relaxed);
                        self.counters.waiting_predecessors.fetch_add(1, Ordering::SeqCst);
                    }
                    self.counters.began(&waiter);
                    HotRows::note_wait(&mut shard, entry);
                    if want.follows {
                        shard.wish_for(entry, &mut woken);
                    }
                    if waiter.queued.load(Ordering::Relaxed) {
                        shard.note_blockers(&waiter, self.settings.blind_wait().is_some(), &mut woken);
                    }
                    if waiter.first {
                        // The lock may be free, and offered to those behind it.
                        shard.settle(entry, Manner::HAND_OVER, &mut woken);
                    }
                    // It may have been granted what the holder hands on.
                    search = waiter.queued.load(Ordering::Relaxed) && self.needs_search(&shard, txn, &waiter);
                    own_row = has_handed_on && shard.is_handed_by(entry, txn);
                    Some(waiter)
                }
            }
        };
        self.deliver(woken);
        if own_row {
            // Its own successors are in its way, who must end after it.
            self.reclaim(txn, 0);
        }
        if search {
            self.search_from(txn);
        }
        let (timer, looked) = (None, None);
        Wait { table: self, txn, waiter, outcome, patience, was_transient, timer, looked }
    }

    /// Locks a row, waiting if need be: tries, spins if both sides are short, queues.
    pub async fn acquire(
        &self,
        txn: &Arc<TxnLocks>,
        name: LockName<'_>,
        mode: LockMode,
        kind: LockKind,
        patience: Patience<'_>,
    ) -> Result<Grant> {
        self.acquire_wanted(txn, name, Want::row(mode, kind, name.is_supremum()), patience).await
    }

    /// Locks a table, waiting if need be.
    pub async fn acquire_table(
        &self,
        txn: &Arc<TxnLocks>,
        table: TableId,
        lock: TableLock,
        patience: Patience<'_>,
    ) -> Result<Grant> {
        match self.try_acquire_table(txn, table, lock) {
            Grant::Conflict => {}
            done => return Ok(done),
        }
        self.enqueue_table(txn, table, lock, patience).await.into_result()?;
        Ok(Grant::New)
    }

    async fn acquire_wanted(
        &self,
        txn: &Arc<TxnLocks>,
        name: LockName<'_>,
        want: Want,
        patience: Patience<'_>,
    ) -> Result<Grant> {
        let mut grant = self.request(txn, name, want);
        if grant == Grant::Conflict && txn.is_transient() {
            grant = self.spin(txn, name, want, SPIN_BUDGET);
        }
        if grant == Grant::Conflict {
            self.join(txn, name, want, patience).await.into_result()?;
            grant = Grant::New;
        }
        Ok(grant)
    }

    /// Releases everything, for good: the end of the transaction. Waiters of a transient owner are invited,
    /// those of others are handed their locks.
    pub fn release_all(&self, txn: &TxnLocks) {
        let mut held = {
            let mut inner = txn.inner.lock();
            inner.ended = true;
            if std::mem::take(&mut inner.gap_heir) {
                self.uncount_gap_owner();
            }
            inner.tables.clear();
            txn.lock_count.store(0, Ordering::Relaxed);
            txn.held_bytes.store(0, Ordering::Relaxed);
            std::mem::take(&mut inner.held)
        };
        let manner = Manner::at_end(txn.is_transient());
        if held.len() >= MANY {
            relief::ahead();
        }
        if held.len() > 8 {
            held.sort_unstable_by_key(|held| held.shard);
        }
        let mut rest: &[HeldRef] = &held;
        while let Some(first) = rest.first() {
            // Nothing yields at the end of a transaction.
            if held.len() > RELEASE_BATCH {
                relief::worked();
            }
            let same = rest.iter().take(RELEASE_BATCH).take_while(|held| held.shard == first.shard).count();
            let mut woken = Woken::new();
            let slot = &self.slots[first.shard as usize];
            {
                let mut shard = slot.shard.lock();
                for held in &rest[..same] {
                    shard.release(held.node, u8::MAX, manner, &mut woken);
                }
                slot.note_release(&shard);
            }
            self.deliver(woken);
            rest = &rest[same..];
        }
    }

    /// Releases one row lock that was `Granted` to a statement which turned out not to want the row (READ
    /// COMMITTED). Meant for `Record`; a lock the transaction had before, in another mode, stays.
    pub fn release_one(&self, txn: &TxnLocks, name: LockName<'_>, mode: LockMode, kind: LockKind) {
        self.release_bits(txn, name, Want::row(mode, kind, name.is_supremum()).bits);
    }

    /// Releases one table lock before the end of the transaction.
    pub fn release_table(&self, txn: &TxnLocks, table: TableId, lock: TableLock) {
        self.release_bits(txn, LockName::Table(table), Want::table(lock).bits);
    }

    fn release_bits(&self, txn: &TxnLocks, name: LockName<'_>, bits: u8) {
        let hash = name.hash();
        let slot = self.slot(hash);
        let mut woken = Woken::new();
        {
            let mut shard = slot.shard.lock();
            let Some(entry) = shard.find(name, hash) else { return };
            let Some(node) = shard.own_hold(entry, txn) else { return };
            let held = HeldRef { shard: shard.number, node };
            let bytes = shard.entry(entry).hold_bytes();
            let manner = if txn.is_transient() { Manner::OFFER } else { Manner::HAND_OVER };
            let gone = shard.release(node, bits, manner, &mut woken);
            slot.note_release(&shard);
            let mut inner = txn.inner.lock();
            if gone && let Some(position) = inner.held.iter().rposition(|other| *other == held) {
                inner.held.swap_remove(position);
                txn.lock_count.store(inner.held.len() as u32, Ordering::Relaxed);
                let left = txn.held_bytes().saturating_sub(bytes);
                txn.held_bytes.store(left, Ordering::Relaxed);
            }
            if let LockName::Table(table) = name {
                inner
                    .tables
                    .iter_mut()
                    .filter(|(held, _)| *held == table)
                    .for_each(|(_, held)| *held &= !bits);
            }
        }
        self.deliver(woken);
    }

    /// Tells waiters, outside all mutexes.
    pub(super) fn deliver(&self, woken: Woken) {
        let Woken { waiters, tasks, firsts, suspects, handed_on } = woken;
        for (waiter, outcome) in waiters {
            match outcome {
                Some(outcome) => {
                    self.counters.ended(&waiter, outcome);
                    let complete = || waiter.cell.complete(outcome);
                    let handed = waiter.handed.load(Ordering::Relaxed);
                    let first = if handed { handoff::hand(complete) } else { complete() };
                    debug_assert!(first, "who takes a waiter out of the queue is alone");
                }
                None => waiter.cell.nudge(),
            }
        }
        tasks.into_iter().for_each(Waker::wake);
        for first in firsts {
            self.grant_wanted(&first);
        }
        if handed_on > 0 {
            self.counters.handed_on.fetch_add(handed_on, Ordering::Relaxed);
        }
        for suspect in suspects {
            if self.detects() && self.predecessors_wait() {
                self.search_from(&suspect);
            }
        }
    }

    pub(super) fn accept_invitation(&self, waiter: &Waiter) {
        let mut woken = Woken::new();
        {
            let mut shard = self.shard(waiter.shard);
            if waiter.queued.load(Ordering::Relaxed) {
                shard.accept_invitation(waiter.node, &mut woken);
            }
        }
        self.deliver(woken);
    }

    /// Ends a wait from outside. False if it had ended already.
    pub(super) fn cancel(&self, waiter: &Waiter, outcome: Outcome) -> bool {
        let woken = self.take_out(waiter, outcome);
        let ended = woken.is_some();
        woken.into_iter().for_each(|woken| self.deliver(woken));
        ended
    }

    /// The same; who is to be told is the caller's to [`LockTable::deliver`].
    pub(super) fn take_out(&self, waiter: &Waiter, outcome: Outcome) -> Option<Woken> {
        let mut woken = Woken::new();
        let mut shard = self.shard(waiter.shard);
        if !waiter.queued.load(Ordering::Relaxed) {
            return None;
        }
        let entry = shard.node(waiter.node).entry;
        let (_txn, waiter) = shard.leave_queue(waiter.node);
        woken.push((waiter, Some(outcome)));
        shard.settle(entry, Manner::HAND_OVER, &mut woken);
        shard.drop_if_idle(entry);
        Some(woken)
    }

    /// Waits for row locks, ever; one of [`LockTable::statistics`] that needs no mutex.
    pub fn waits_for_rows(&self) -> u64 {
        self.counters.row_waits.load(Ordering::Relaxed)
    }

    /// The counters now.
    pub fn statistics(&self) -> LockStatistics {
        let load = |counter: &std::sync::atomic::AtomicU64| counter.load(Ordering::Relaxed);
        let counters = &self.counters;
        let mut statistics = LockStatistics {
            row_waits: load(&counters.row_waits),
            table_waits: load(&counters.table_waits),
            current_waits: load(&counters.current_waits),
            wait_us_total: load(&counters.wait_us_total),
            wait_us_max: load(&counters.wait_us_max),
            deadlocks: load(&counters.deadlocks),
            timeouts: load(&counters.timeouts),
            kills: load(&counters.kills),
            refused: load(&counters.refused),
            gave_way: load(&counters.gave_way),
            searches: load(&counters.searches),
            edges: load(&counters.edges),
            handed_on: load(&counters.handed_on),
            followed: load(&counters.followed),
            following: load(&counters.following),
            doomed: load(&counters.doomed),
            impatience: load(&counters.impatience),
            ..LockStatistics::default()
        };
        for number in self.shard_numbers() {
            let shard = self.shard(number);
            statistics.created += shard.row_holds.created;
            statistics.removed += shard.row_holds.removed;
            statistics.tables_created += shard.table_holds.created;
            statistics.tables_removed += shard.table_holds.removed;
            statistics.names += shard.names() as u64;
        }
        statistics
    }

    /// Bytes the table occupies, free slots included, without keys longer than 16 bytes and the transactions'
    /// own lists.
    pub fn memory_bytes(&self) -> usize {
        self.shard_numbers().map(|number| self.shard(number).memory_bytes()).sum()
    }

    pub(super) fn with_name<T>(&self, name: LockName<'_>, look: impl FnOnce(&mut Shard, u64) -> T) -> T {
        let hash = name.hash();
        look(&mut self.slot(hash).shard.lock(), hash)
    }
}

impl Shard {
    /// A request that does not wait, under the shard's mutex.
    fn attempt(
        &mut self,
        txn: &Arc<TxnLocks>,
        name: LockName<'_>,
        hash: u64,
        want: Want,
        woken: &mut Woken,
    ) -> Grant {
        let Some(entry) = self.find(name, hash) else {
            if want.bits != 0 {
                let entry = self.create(name, hash);
                let alive = self.add_hold(entry, None, txn, want.bits);
                debug_assert!(alive, "a transaction that asks has not ended");
            }
            return Grant::New;
        };
        let own = self.own_hold(entry, txn);
        let own_bits = own.map_or(0, |hold| self.node(hold).bits);
        if want.is_covered_by(own_bits, name.is_table()) {
            return Grant::Held;
        }
        let mut predecessor = None;
        if self.entry(entry).held_by_others(want.conflicts, own_bits) {
            // Who waits already comes first.
            if want.follows && own.is_none() && self.entry(entry).waiters() == 0 {
                predecessor = self.take_over(entry, txn, 1);
            }
            if predecessor.is_none() {
                return Grant::Conflict;
            }
        }
        if !want.converts(own_bits, name.is_table())
            && let Some(first) = self.first_conflicting_waiter(entry, want, u64::MAX)
            && !(txn.is_transient() && self.may_pass(entry, first, woken))
        {
            return Grant::Conflict;
        }
        if want.bits != 0 {
            let alive = self.add_hold(entry, own, txn, want.bits);
            debug_assert!(alive, "a transaction that asks has not ended");
        }
        if let Some(predecessor) = predecessor {
            self.put_behind(entry, txn, predecessor, woken);
        }
        Grant::New
    }

    fn release(&mut self, node: u32, bits: u8, manner: Manner, woken: &mut Woken) -> bool {
        let entry = self.node(node).entry;
        if self.entry(entry).handed_len > 0 {
            self.leave_chain(node, bits, woken);
        }
        let gone = self.remove_bits(node, bits);
        self.settle(entry, manner, woken);
        self.drop_if_idle(entry);
        gone
    }

    fn is_held_for_a_moment(&self, txn: &TxnLocks, name: LockName<'_>, hash: u64, want: Want) -> bool {
        self.find(name, hash).is_some_and(|entry| {
            let own = self.own_bits(entry, txn);
            // Where the holder works off the queue, a place in it is better than a look at it.
            let handed = handoff::has_place() && self.entry(entry).waiters() > 0;
            !handed
                && self.entry(entry).held_by_others(want.conflicts, own)
                && self.blockers_are_transient(entry, txn, want)
        })
    }
}
