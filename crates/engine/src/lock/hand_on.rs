//! Hand-on before commit: a hot row goes to its next writer while the transaction that has changed it waits
//! for its client. The successor builds on the uncommitted version, ends after its predecessor, and is rolled
//! back with it. Rules and proof: README, "Hand-on".
//!
//! ```text
//!   entry ── handed ──  T1 ── T2      have changed the row, in this order; both only wait now
//!         └─ holders ── T3            changes it now; ends after T2, which ends after T1
//!         └─ queue ──── T4 ── T5
//!
//!   T1 commits:   leaves `handed` at its front; T2 may commit
//!   T3 rolls back: T2 leaves `handed` at its end and is the holder again
//!   T1 wants to roll back: T3 and T2 are told to; when both are gone, T1 is the holder and does
//! ```

use super::grant::Manner;
use super::mode::RECORD_X;
use super::name::LockName;
use super::owner::{HeldRef, TxnLocks};
use super::shard::{NONE, Shard, Woken};
use super::table::LockTable;
use super::wait::{Outcome, Patience, Waiter};
use crate::error::{Error, Result};
use crate::interrupt::Interrupt;
use smallvec::SmallVec;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};
use turnstile_sys::sync::atomic::Ordering;
use turnstile_sys::timer::{Timer, TimerGuard};

/// Longest chain of predecessors that is followed to find who holds everybody up.
const CHAIN_MAX: usize = 1 << 16;

/// Rows of one transaction that are handed on: those it changed last.
const PLAIN_MAX: usize = 16;
/// Rows of one transaction whose waiters are looked at when it rests.
const WISHES_MAX: usize = 64;
/// A row is handed on by so many at least, however often they roll back.
const REACH_LEAST: u32 = 2;
/// Between two looks for whom to roll back.
const LEAST_PATIENCE: Duration = Duration::from_millis(10);

/// A hold that was handed on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Handed {
    pub held: HeldRef,
    /// Undo records that its transaction had written by then: among them that of the row.
    pub records: u64,
}

/// Somebody who must end first.
#[derive(Debug)]
pub(super) struct Behind {
    /// The own hold, on the row that was handed on.
    pub held: HeldRef,
    pub predecessor: Arc<TxnLocks>,
}

/// Whom to tell that a transaction is doomed.
#[derive(Debug)]
pub(super) struct Alarm {
    waiter: Option<Arc<Waiter>>,
    watcher: Option<Waker>,
    interrupt: Option<Arc<Interrupt>>,
}

/// A transaction's part, under the mutex of its `inner`.
#[derive(Debug, Default)]
pub(super) struct HandOn {
    /// It waits for its client, or for its turn to commit: it touches no row, and takes nothing back.
    pub resting: bool,
    /// Names (hashes) of rows of which it has changed nothing but the row itself, in place.
    pub plain: SmallVec<[u64; 2]>,
    /// Shard and entry of rows that others would take when it rests.
    pub wanted: SmallVec<[(u32, u32); 2]>,
    pub handed: SmallVec<[Handed; 1]>,
    pub behind: SmallVec<[Behind; 1]>,
    /// Of its session, to be told of its doom wherever it is.
    pub interrupt: Option<Arc<Interrupt>>,
    /// Its task, while it waits for `behind` or `handed` to become empty.
    pub watcher: Option<Waker>,
}

impl HandOn {
    /// Somebody waits for this row, of which it has the lock.
    pub fn wish(&mut self, row: (u32, u32)) {
        if self.wanted.len() < WISHES_MAX && !self.wanted.contains(&row) {
            self.wanted.push(row);
        }
    }

    /// For the next transaction.
    pub fn clear(&mut self) {
        self.resting = false;
        self.plain.clear();
        self.wanted.clear();
        self.handed.clear();
        self.behind.clear();
        // Of another session, whom this transaction's doom is no business of.
        self.interrupt = None;
        self.watcher = None;
    }
}

impl TxnLocks {
    /// Says by which interrupt its session is reached.
    pub fn set_interrupt(&self, interrupt: &Arc<Interrupt>) {
        let mut inner = self.inner.lock();
        let known = &mut inner.hand_on.interrupt;
        if !known.as_ref().is_some_and(|known| Arc::ptr_eq(known, interrupt)) {
            *known = Some(interrupt.clone());
        }
    }

    /// Nobody is to be told of its doom any more.
    pub fn forget_interrupt(&self) {
        self.inner.lock().hand_on.interrupt = None;
    }

    /// It has changed the row `name` in place. `only`: no other entry, chain or mark changed with it, and the
    /// version before was somebody else's; so the row may be handed on. Once more by the same transaction,
    /// it stays what it was if `only` is None.
    pub fn note_change(&self, name: LockName<'_>, only: Option<bool>) {
        let hash = name.hash();
        let mut inner = self.inner.lock();
        let plain = &mut inner.hand_on.plain;
        match (plain.iter().position(|other| *other == hash), only) {
            (None, Some(true)) => {
                if plain.len() == PLAIN_MAX {
                    plain.remove(0);
                }
                plain.push(hash);
            }
            (Some(at), Some(false)) => drop(plain.swap_remove(at)),
            _ => {}
        }
    }

    /// Whether a row that it has handed on is still with its successors.
    pub fn has_handed_on(&self) -> bool {
        !self.inner.lock().hand_on.handed.is_empty()
    }

    /// Whether it must end after this transaction, directly.
    pub(super) fn comes_after(&self, other: &Arc<TxnLocks>) -> bool {
        self.order_of(other).is_some()
    }

    /// Shard and node of its hold on the row that it got from `other`.
    pub(super) fn order_of(&self, other: &Arc<TxnLocks>) -> Option<(u32, u32)> {
        let inner = self.inner.lock();
        let behind = inner.hand_on.behind.iter().find(|behind| Arc::ptr_eq(&behind.predecessor, other));
        behind.map(|behind| (behind.held.shard, behind.held.node))
    }

    /// It goes on: its rows are not handed on meanwhile.
    pub fn stop_resting(&self) {
        self.inner.lock().hand_on.resting = false;
    }

    fn forget_order(self: &Arc<Self>, held: HeldRef, woken: &mut Woken) {
        let mut inner = self.inner.lock();
        let behind = &mut inner.hand_on.behind;
        behind.retain(|behind| behind.held != held);
        let left = behind.len() as u32;
        self.order.store(left, Ordering::SeqCst);
        if left == 0 {
            woken.tasks.extend(inner.hand_on.watcher.take());
            if inner.hand_on.resting && !inner.hand_on.wanted.is_empty() {
                woken.firsts.push(self.clone());
            }
        }
    }
}

impl Shard {
    /// Takes the row from its holder, if that one hands it on to this waiter. The waiter must be granted the
    /// lock now, behind the transaction that is returned.
    pub fn hand_on(&mut self, entry: u32, waiter: u32) -> Option<Arc<TxnLocks>> {
        let waits = self.waiter(waiter);
        if !waits.want.follows || waits.converting.load(Ordering::Relaxed) {
            return None;
        }
        let heir = self.owner(waiter).clone();
        let waiting = self.entry(entry).waiters();
        self.take_over(entry, &heir, waiting)
    }

    /// The same for a request of `heir` that has not queued, while `waiting` wait, itself included.
    pub fn take_over(&mut self, entry: u32, heir: &Arc<TxnLocks>, waiting: u32) -> Option<Arc<TxnLocks>> {
        let rules = self.hot_row.as_ref()?;
        let row = self.entry(entry);
        if !rules.on.load(Ordering::Relaxed)
            || u64::from(row.handed_len) >= rules.group_cap.load(Ordering::Relaxed)
            || row.handed_len >= row.reach
            || row.handed_len == 0 && u64::from(waiting) < rules.min_waiters.load(Ordering::Relaxed)
        {
            return None;
        }
        let node = self.only_writer(entry)?;
        let owner = self.owner(node).clone();
        // The walk along the chain is for those who may be in it.
        let leads = heir.has_handed_on();
        let is_own = leads && self.is_handed_by(entry, heir) || self.own_hold(entry, heir).is_some();
        if is_own || owner.is_doomed() {
            return None;
        }
        let held = HeldRef { shard: self.number, node };
        // No circle: nobody comes after the heir, or the owner comes after nobody. Both stay so while the one
        // runs and the other rests.
        {
            let mut inner = owner.inner.lock();
            if leads && !inner.hand_on.behind.is_empty() {
                return None;
            }
            let hash = self.entry(entry).hash;
            if inner.ended || !inner.hand_on.resting || !inner.hand_on.plain.contains(&hash) {
                return None;
            }
            inner.hand_on.handed.push(Handed { held, records: owner.undo_records() });
        }
        let mut holders = self.entry(entry).holders;
        self.unlink(&mut holders, node);
        let mut handed = self.entry(entry).handed;
        self.link_last(&mut handed, node);
        let row = self.entry_mut(entry);
        (row.holders, row.handed) = (holders, handed);
        row.handed_len += 1;
        row.count(RECORD_X, -1);
        self.nodes[node as usize].handed = true;
        Some(owner)
    }

    /// The hold of the record's writer, if it holds nothing but the record and nobody else holds that.
    fn only_writer(&self, entry: u32) -> Option<u32> {
        let mut found = None;
        let mut node = self.entry(entry).holders.first;
        while node != NONE {
            let hold = self.node(node);
            if hold.bits & (RECORD_X | super::mode::RECORD_S) != 0 {
                if found.is_some() || hold.bits != RECORD_X {
                    return None;
                }
                found = Some(node);
            }
            node = hold.next;
        }
        found
    }

    /// Whether the transaction has handed this row on and not got it back.
    pub fn is_handed_by(&self, entry: u32, txn: &TxnLocks) -> bool {
        self.handed_hold(entry, txn).is_some()
    }

    fn handed_hold(&self, entry: u32, txn: &TxnLocks) -> Option<u32> {
        let mut node = self.entry(entry).handed.first;
        while node != NONE {
            if std::ptr::eq(&raw const **self.owner(node), txn) {
                return Some(node);
            }
            node = self.node(node).next;
        }
        None
    }

    /// The heir holds the row now: it comes after `predecessor`.
    pub fn put_behind(
        &mut self,
        entry: u32,
        heir: &Arc<TxnLocks>,
        predecessor: Arc<TxnLocks>,
        woken: &mut Woken,
    ) {
        let Some(node) = self.own_hold(entry, heir) else { return };
        predecessor.note_waited_for();
        let held = HeldRef { shard: self.number, node };
        let mut inner = heir.inner.lock();
        if self.entry(entry).waiters() > 0 {
            inner.hand_on.wish((self.number, entry));
        }
        inner.hand_on.behind.push(Behind { held, predecessor });
        heir.order.store(inner.hand_on.behind.len() as u32, Ordering::SeqCst);
        drop(inner);
        woken.handed_on += 1;
        woken.suspects.push(heir.clone());
    }

    /// A hold goes: whoever comes after it, or got the row from it, is told. Before the node is freed.
    /// `node` is the writer's, or one that was handed on, whose transaction has committed.
    pub fn leave_chain(&mut self, node: u32, bits: u8, woken: &mut Woken) {
        let entry = self.node(node).entry;
        if !self.node(node).handed {
            if self.node(node).bits & bits & RECORD_X != 0 && self.entry(entry).handed_len > 0 {
                self.give_back(entry, node, woken);
            }
            return;
        }
        debug_assert_eq!(
            self.entry(entry).handed.first,
            node,
            "who ends is the first of those who handed on"
        );
        let next = match self.node(node).next {
            NONE => self.only_writer(entry),
            next => Some(next),
        };
        let mut handed = self.entry(entry).handed;
        self.unlink(&mut handed, node);
        let row = self.entry_mut(entry);
        row.handed = handed;
        row.handed_len -= 1;
        row.reach = row.reach.saturating_add(1);
        // So that the node, which does not count, is taken for a hold without bits.
        (self.nodes[node as usize].handed, self.nodes[node as usize].bits) = (false, 0);
        let mut holders = self.entry(entry).holders;
        self.link_last(&mut holders, node);
        self.entry_mut(entry).holders = holders;
        if let Some(next) = next {
            let held = HeldRef { shard: self.number, node: next };
            self.owner(next).clone().forget_order(held, woken);
        }
    }

    /// The row's writer, at `node`, takes its change back and lets go: the row returns to who handed it on.
    fn give_back(&mut self, entry: u32, node: u32, woken: &mut Woken) {
        let held = HeldRef { shard: self.number, node };
        self.owner(node).clone().forget_order(held, woken);
        let before = self.entry(entry).handed.last;
        let mut handed = self.entry(entry).handed;
        self.unlink(&mut handed, before);
        let mut holders = self.entry(entry).holders;
        self.link_last(&mut holders, before);
        let row = self.entry_mut(entry);
        (row.holders, row.handed) = (holders, handed);
        row.handed_len -= 1;
        row.count(RECORD_X, 1);
        self.nodes[before as usize].handed = false;
        let owner = self.owner(before).clone();
        let mut inner = owner.inner.lock();
        let returned = HeldRef { shard: self.number, node: before };
        inner.hand_on.handed.retain(|handed| handed.held != returned);
        if inner.hand_on.handed.is_empty() {
            woken.tasks.extend(inner.hand_on.watcher.take());
        }
        drop(inner);
        if owner.is_waiting() {
            self.mark_converting(entry, &owner);
        }
        // Who waits for the row waits for the owner now, who may itself wait, or come after one of them.
        if (owner.is_waiting() || owner.follows()) && self.entry(entry).waiters() > 0 {
            woken.suspects.push(owner);
        }
    }

    /// Lets the rows of a queue's holder go on to those who wait, now or when it rests.
    pub fn wish_for(&mut self, entry: u32, woken: &mut Woken) {
        if !self.hot_row.as_ref().is_some_and(|rules| rules.is_on()) {
            return;
        }
        let Some(node) = self.only_writer(entry) else { return };
        // A statement alone rests only if it has to follow.
        if self.owner(node).is_transient() && !self.owner(node).follows() {
            return;
        }
        let owner = self.owner(node).clone();
        let resting = {
            let mut inner = owner.inner.lock();
            inner.hand_on.wish((self.number, entry));
            inner.hand_on.resting
        };
        if resting {
            self.settle(entry, Manner::HAND_OVER, woken);
        }
    }

    /// Everybody who has got the row at `node` from its transaction, directly or not.
    fn successors(&self, node: u32) -> SmallVec<[Arc<TxnLocks>; 8]> {
        let entry = self.node(node).entry;
        let mut found = SmallVec::new();
        let mut next = self.node(node).next;
        while next != NONE {
            found.push(self.owner(next).clone());
            next = self.node(next).next;
        }
        found.extend(self.only_writer(entry).map(|writer| self.owner(writer).clone()));
        found
    }
}

impl LockTable {
    /// The transaction waits for its client now, or for its turn to commit: it touches no row until
    /// [`TxnLocks::stop_resting`]. What others want of its rows goes on to them.
    pub fn rest(&self, txn: &Arc<TxnLocks>) {
        let wanted = {
            let mut inner = txn.inner.lock();
            if inner.hand_on.plain.is_empty() {
                return;
            }
            inner.hand_on.resting = true;
            !inner.hand_on.wanted.is_empty()
        };
        if wanted {
            self.grant_wanted(txn);
        }
    }

    /// Lets go on what others want of a transaction that rests.
    pub(super) fn grant_wanted(&self, txn: &Arc<TxnLocks>) {
        let wanted = txn.inner.lock().hand_on.wanted.clone();
        for (number, entry) in wanted {
            let mut woken = Woken::new();
            {
                let mut shard = self.shard(number);
                if (entry as usize) < shard.entries.len() && shard.own_hold(entry, txn).is_some() {
                    shard.settle(entry, Manner::at_end(false), &mut woken);
                }
            }
            self.deliver(woken);
        }
    }

    /// Before a transaction takes back what it has written since it had `records` undo records: the rows
    /// among it must be its own again. True: they are. False: who has them has been told to roll back; see
    /// [`LockTable::reclaimed`].
    pub fn reclaim(&self, txn: &Arc<TxnLocks>, records: u64) -> bool {
        let handed: SmallVec<[Handed; 4]> = {
            let mut inner = txn.inner.lock();
            inner.hand_on.resting = false;
            if inner.hand_on.handed.iter().all(|handed| handed.records <= records) {
                return true;
            }
            // What has been taken back once is not handed on again.
            inner.hand_on.plain.clear();
            inner.hand_on.handed.iter().copied().collect()
        };
        for Handed { held, .. } in handed {
            let successors = {
                let mut shard = self.shard(held.shard);
                let node = shard.node(held.node);
                let is_ours = node.handed && node.txn.as_ref().is_some_and(|owner| Arc::ptr_eq(owner, txn));
                if is_ours {
                    let entry = node.entry;
                    let row = shard.entry_mut(entry);
                    row.reach = (row.reach.min(row.handed_len) / 2).max(REACH_LEAST);
                    shard.successors(held.node)
                } else {
                    SmallVec::new()
                }
            };
            for successor in successors.iter().rev() {
                self.doom(successor);
            }
        }
        !txn.has_handed_on()
    }

    /// Whether the transaction has handed on this row, and not got it back.
    pub fn is_handed_by(&self, txn: &TxnLocks, name: LockName<'_>) -> bool {
        self.with_name(name, |shard, hash| {
            shard.find(name, hash).is_some_and(|entry| shard.is_handed_by(entry, txn))
        })
    }

    /// Waits until no row that the transaction has handed on is with somebody else.
    pub fn reclaimed<'a>(&'a self, txn: &'a Arc<TxnLocks>) -> impl Future<Output = ()> + 'a {
        std::future::poll_fn(move |context| {
            let mut inner = txn.inner.lock();
            if inner.hand_on.handed.is_empty() {
                inner.hand_on.watcher = None;
                return Poll::Ready(());
            }
            inner.hand_on.watcher = Some(context.waker().clone());
            Poll::Pending
        })
    }

    /// The transaction must be rolled back as a whole: ends what it waits for and interrupts its session.
    /// False, and nothing happens, if it has ended, or knows already.
    pub(super) fn doom(&self, txn: &Arc<TxnLocks>) -> bool {
        let alarm = self.mark_doomed(txn);
        let first = alarm.is_some();
        alarm.into_iter().for_each(|alarm| self.sound(alarm));
        first
    }

    /// The first half of it: [`LockTable::sound`] must follow.
    pub(super) fn mark_doomed(&self, txn: &Arc<TxnLocks>) -> Option<Alarm> {
        let mut inner = txn.inner.lock();
        if inner.ended || txn.doomed.swap(true, Ordering::SeqCst) {
            return None;
        }
        let interrupt = inner.hand_on.interrupt.clone();
        // Under the mutex, so that it strikes this transaction and not the next one of its session.
        if let Some(interrupt) = &interrupt {
            interrupt.note_kill();
        }
        self.counters.doomed.fetch_add(1, Ordering::Relaxed);
        Some(Alarm { waiter: inner.wait.clone(), watcher: inner.hand_on.watcher.take(), interrupt })
    }

    pub(super) fn sound(&self, alarm: Alarm) {
        if let Some(waiter) = alarm.waiter {
            self.cancel(&waiter, Outcome::Victim);
        }
        if let Some(watcher) = alarm.watcher {
            watcher.wake();
        }
        if let Some(interrupt) = alarm.interrupt {
            interrupt.wake();
        }
    }

    /// Dooms the transaction at the beginning of the chain behind which `txn` waits.
    fn doom_first(&self, txn: &Arc<TxnLocks>) {
        let mut first = txn.clone();
        for _ in 0..CHAIN_MAX {
            let before = first.inner.lock().hand_on.behind.first().map(|behind| behind.predecessor.clone());
            match before {
                Some(before) => first = before,
                None => break,
            }
        }
        if !Arc::ptr_eq(&first, txn) {
            self.counters.impatience.fetch_add(u64::from(self.doom(&first)), Ordering::Relaxed);
        }
    }

    /// Waits until every transaction has ended that this one comes after. Meanwhile its own rows are handed
    /// on. `GroupRolledBack` if one of them was rolled back, so that this one must be, too.
    pub fn follow<'a>(&'a self, txn: &'a Arc<TxnLocks>, interrupt: &'a Interrupt) -> Follow<'a> {
        self.counters.followed.fetch_add(1, Ordering::Relaxed);
        self.counters.following.fetch_add(1, Ordering::Relaxed);
        let patience_ms = self.settings.hot_row.patience_ms.load(Ordering::Relaxed);
        let patience = Patience { timeout: Duration::from_millis(patience_ms), interrupt: Some(interrupt) };
        Follow { table: self, txn, patience, since: Instant::now(), timer: None }
    }
}

/// See [`LockTable::follow`].
#[derive(Debug)]
#[must_use = "a wait does nothing until it is awaited"]
pub struct Follow<'a> {
    table: &'a LockTable,
    txn: &'a Arc<TxnLocks>,
    patience: Patience<'a>,
    since: Instant,
    timer: Option<(TimerGuard, Waker)>,
}

impl Follow<'_> {
    /// If patience has ended, the first of those before it is rolled back, and with it this one.
    fn look_at_clock(&mut self, context: &mut Context<'_>) {
        let now = Instant::now();
        let mut deadline = self.since.checked_add(self.patience.timeout);
        if deadline.is_some_and(|deadline| now >= deadline) {
            self.table.doom_first(self.txn);
            self.since = now;
            self.timer = None;
            deadline = now.checked_add(self.patience.timeout.max(LEAST_PATIENCE));
        }
        let Some(deadline) = deadline else { return };
        if !self.timer.as_ref().is_some_and(|(_, waker)| waker.will_wake(context.waker())) {
            let waker = context.waker().clone();
            self.timer = Some((Timer::global().wake_at(deadline, waker.clone()), waker));
        }
    }
}

impl Drop for Follow<'_> {
    fn drop(&mut self) {
        self.table.counters.following.fetch_sub(1, Ordering::Relaxed);
        self.txn.inner.lock().hand_on.watcher = None;
    }
}

impl Future for Follow<'_> {
    type Output = Result<()>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        // The waker is left first; whatever is looked at afterwards cannot change unseen.
        self.txn.inner.lock().hand_on.watcher = Some(context.waker().clone());
        let killed =
            self.patience.interrupt.is_some_and(|interrupt| interrupt.poll_killed(context).is_ready());
        if self.txn.is_doomed() {
            return Poll::Ready(Err(Error::GroupRolledBack));
        }
        if !self.txn.follows() {
            return Poll::Ready(Ok(()));
        }
        if killed {
            return Poll::Ready(Err(Error::Killed));
        }
        self.look_at_clock(context);
        Poll::Pending
    }
}
