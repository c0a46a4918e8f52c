//! Those who wait for one name: order, grant, invitation.
//!
//! ```text
//!   entry ── holders ── T1 ── T2
//!         └─ queue ── converting:  T1 (wants more than it holds), in order of arrival
//!                  └─ plain[class 0] ── ...          each class is a FIFO of requests that are alike: if the first
//!                     plain[class 1] ── 3 ── 7 ──    of a class cannot go, none of that class can
//!                     plain[class 4] ── 5 ──         arrival numbers order them between classes
//! ```
//! So one pass of [`Shard::settle`] costs what it grants plus at most one look per class, never the length of the queue.
//!
//! Invariant: when the shard's mutex is free, every waiter that could go has been granted or is invited.

use super::mode::{CLASSES, Want, classes};
use super::owner::TxnLocks;
use super::shard::{List, NONE, Shard, Woken};
use super::wait::{Outcome, Waiter};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

/// The waiters of one name.
#[derive(Debug)]
pub(super) struct Queue {
    pub converting: List,
    pub converting_count: [u32; CLASSES],
    pub plain: [List; CLASSES],
    pub length: u32,
    arrivals: u64,
}

impl Default for Queue {
    fn default() -> Self {
        let (converting, plain) = (List::EMPTY, [List::EMPTY; CLASSES]);
        Queue { converting, converting_count: [0; CLASSES], plain, length: 0, arrivals: 0 }
    }
}

impl Shard {
    fn queue(&self, entry: u32) -> &Queue {
        self.entry(entry).queue.as_deref().expect("an entry with waiters has a queue")
    }

    pub fn waiter(&self, node: u32) -> &Arc<Waiter> {
        self.node(node).waiter.as_ref().expect("a node in the queue has its waiter")
    }

    /// Appends a waiter to those of its class, or to those who convert a hold of theirs.
    pub fn join_queue(&mut self, entry: u32, txn: &Arc<TxnLocks>, want: Want) -> Arc<Waiter> {
        let is_table = self.entry(entry).is_table();
        let own = self.own_bits(entry, txn);
        let mut queue = self.entry_mut(entry).queue.take().unwrap_or_default();
        queue.arrivals += 1;
        let node = self.new_node(txn.clone(), None, entry, 0);
        let waiter = Arc::new(Waiter::new(self.number, node, queue.arrivals, want, is_table));
        self.nodes[node as usize].waiter = Some(waiter.clone());
        if want.converts(own, is_table) {
            waiter.converting.store(true, Ordering::Relaxed);
            self.link_last(&mut queue.converting, node);
            queue.converting_count[want.class as usize] += 1;
        } else {
            self.link_last(&mut queue.plain[want.class as usize], node);
        }
        queue.length += 1;
        self.entry_mut(entry).queue = Some(queue);
        txn.inner.lock().wait = Some(waiter.clone());
        txn.waiting.store(true, Ordering::SeqCst);
        waiter
    }

    /// Takes a waiter out of the queue and ends its transaction's wait. What the waiter is told is the caller's business.
    pub fn leave_queue(&mut self, node: u32) -> (Arc<TxnLocks>, Arc<Waiter>) {
        let entry = self.node(node).entry;
        let (txn, waiter) = (self.owner(node).clone(), self.waiter(node).clone());
        let mut queue = self.entry_mut(entry).queue.take().expect("an entry with waiters has a queue");
        let class = waiter.want.class as usize;
        if waiter.converting.load(Ordering::Relaxed) {
            self.unlink(&mut queue.converting, node);
            queue.converting_count[class] -= 1;
        } else {
            self.unlink(&mut queue.plain[class], node);
        }
        queue.length -= 1;
        self.entry_mut(entry).queue = Some(queue);
        self.free_node(node);
        waiter.queued.store(false, Ordering::Relaxed);
        txn.waiting.store(false, Ordering::SeqCst);
        txn.inner.lock().wait = None;
        (txn, waiter)
    }

    /// A transaction that waits here got a hold here on its behalf: from now on its own hold must not block it.
    pub fn mark_converting(&mut self, entry: u32, txn: &TxnLocks) {
        let Some(waiter) = txn.inner.lock().wait.clone() else { return };
        let here = waiter.shard == self.number
            && waiter.queued.load(Ordering::Relaxed)
            && self.node(waiter.node).entry == entry;
        let converts = here && waiter.want.converts(self.own_bits(entry, txn), waiter.is_table);
        if !converts || waiter.converting.swap(true, Ordering::Relaxed) {
            return;
        }
        let mut queue = self.entry_mut(entry).queue.take().expect("an entry with waiters has a queue");
        let class = waiter.want.class as usize;
        self.unlink(&mut queue.plain[class], waiter.node);
        self.link_last(&mut queue.converting, waiter.node);
        queue.converting_count[class] += 1;
        self.entry_mut(entry).queue = Some(queue);
    }

    /// The first waiter that a new request must let pass: it came earlier and they conflict.
    pub fn first_conflicting_waiter(&self, entry: u32, want: Want, before: u64) -> Option<u32> {
        let queue = self.entry(entry).queue.as_deref()?;
        if queue.length == 0 {
            return None;
        }
        let classes = classes(self.entry(entry).is_table());
        let mut node = queue.converting.first;
        while node != NONE {
            if want.conflicts & self.waiter(node).want.bits != 0 {
                return Some(node);
            }
            node = self.node(node).next;
        }
        (0..CLASSES)
            .filter(|&class| want.conflicts & classes[class].bits != 0)
            .map(|class| queue.plain[class].first)
            .filter(|&first| first != NONE && self.waiter(first).arrival < before)
            .min_by_key(|&first| self.waiter(first).arrival)
    }

    /// Lets go all who can: each is granted the lock, or, with `invite`, woken to take it itself unless it has been passed
    /// over for long enough. To be called after anything that takes a hold or a waiter away.
    pub fn settle(&mut self, entry: u32, invite: bool, woken: &mut Woken) {
        if self.entry(entry).waiters() == 0 {
            return;
        }
        let now = if invite { Some(Instant::now()) } else { None };
        self.settle_converting(entry, now, woken);
        let classes = classes(self.entry(entry).is_table());
        let mut cursors = self.queue(entry).plain.map(|list| list.first);
        let mut ahead = self.converting_bits(entry);
        loop {
            let earliest = (0..CLASSES)
                .filter(|&class| cursors[class] != NONE)
                .min_by_key(|&class| self.waiter(cursors[class]).arrival);
            let Some(class) = earliest else { break };
            let (node, want) = (cursors[class], classes[class]);
            let blocked = want.conflicts & ahead != 0 || self.entry(entry).held_by_others(want.conflicts, 0);
            if blocked {
                ahead |= want.bits;
                cursors[class] = NONE;
                continue;
            }
            cursors[class] = self.node(node).next;
            if !self.let_go(node, now, woken) {
                ahead |= want.bits;
            }
        }
    }

    fn settle_converting(&mut self, entry: u32, now: Option<Instant>, woken: &mut Woken) {
        let mut node = self.queue(entry).converting.first;
        while node != NONE {
            let next = self.node(node).next;
            let conflicts = self.waiter(node).want.conflicts;
            let txn = self.owner(node).clone();
            let own = self.own_bits(entry, &txn);
            if !self.entry(entry).held_by_others(conflicts, own) {
                self.let_go(node, now, woken);
            } else if (0..super::mode::BITS)
                .any(|bit| conflicts & 1 << bit != 0 && self.entry(entry).held[bit] > 1)
                && self.is_one_class(entry)
            {
                // Two transactions hold what all of these wait for: each of them is blocked by at least one of the two.
                break;
            }
            node = next;
        }
    }

    fn is_one_class(&self, entry: u32) -> bool {
        self.queue(entry).converting_count.iter().filter(|count| **count > 0).count() == 1
    }

    fn converting_bits(&self, entry: u32) -> u8 {
        let classes = classes(self.entry(entry).is_table());
        let counts = &self.queue(entry).converting_count;
        (0..CLASSES).filter(|&class| counts[class] > 0).fold(0, |bits, class| bits | classes[class].bits)
    }

    /// Grants (true) or invites (false).
    fn let_go(&mut self, node: u32, now: Option<Instant>, woken: &mut Woken) -> bool {
        if let Some(now) = now
            && !self.waiter(node).is_overdue(now)
        {
            let waiter = self.waiter(node);
            if !waiter.invited.swap(true, Ordering::SeqCst) {
                woken.push((waiter.clone(), None));
            }
            return false;
        }
        self.grant(node, woken);
        true
    }

    fn grant(&mut self, node: u32, woken: &mut Woken) {
        let entry = self.node(node).entry;
        let (txn, waiter) = self.leave_queue(node);
        if waiter.want.bits != 0 {
            let own = self.own_hold(entry, &txn);
            let alive = self.add_hold(entry, own, &txn, waiter.want.bits);
            debug_assert!(alive, "a transaction that waits has not ended");
        }
        woken.push((waiter, Some(Outcome::Granted)));
    }

    /// An invited waiter tries for itself: granted unless somebody came between.
    pub fn accept_invitation(&mut self, node: u32, woken: &mut Woken) {
        let entry = self.node(node).entry;
        let waiter = self.waiter(node).clone();
        let own = self.own_bits(entry, self.owner(node));
        let blocked = self.entry(entry).held_by_others(waiter.want.conflicts, own)
            || !waiter.converting.load(Ordering::Relaxed)
                && self.first_conflicting_waiter(entry, waiter.want, waiter.arrival).is_some();
        if !blocked {
            self.grant(node, woken);
            self.drop_if_idle(entry);
        }
    }

    /// Whom a waiter waits for: every holder in conflict, and of the waiters before it those whose own blockers it would
    /// not meet anyway (see the README: the redundancy lemma), one per class.
    pub fn each_blocker(&self, node: u32, mut visit: impl FnMut(&Arc<TxnLocks>) -> ControlFlow<()>) {
        let entry = self.node(node).entry;
        let (me, waiter) = (self.owner(node), self.waiter(node));
        let mut holder = self.entry(entry).holders.first;
        while holder != NONE {
            let hold = self.node(holder);
            let owner = self.owner(holder);
            if hold.bits & waiter.want.conflicts != 0 && !Arc::ptr_eq(owner, me) && visit(owner).is_break() {
                return;
            }
            holder = hold.next;
        }
        if waiter.converting.load(Ordering::Relaxed) {
            return;
        }
        let queue = self.queue(entry);
        for (class, other) in classes(self.entry(entry).is_table()).iter().enumerate() {
            let conflict = waiter.want.conflicts & other.bits != 0;
            if !conflict || other.conflicts & !waiter.want.conflicts == 0 {
                continue;
            }
            for first in [self.first_converting(entry, class), queue.plain[class].first] {
                let ahead = first != NONE
                    && (self.waiter(first).converting.load(Ordering::Relaxed)
                        || self.waiter(first).arrival < waiter.arrival);
                if ahead && visit(self.owner(first)).is_break() {
                    return;
                }
            }
        }
    }

    fn first_converting(&self, entry: u32, class: usize) -> u32 {
        let mut node = self.queue(entry).converting.first;
        while node != NONE && self.waiter(node).want.class as usize != class {
            node = self.node(node).next;
        }
        node
    }
}
