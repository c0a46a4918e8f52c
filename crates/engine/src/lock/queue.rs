//! Those who wait for one name: order, grant, invitation.
//!
//! ```text
//!   entry ── holders ── T1 ── T2
//!         └─ queue ── converting:  T1 (wants more than it holds), in order of arrival
//!                  └─ plain[class 0] ── ...          each class is a FIFO of requests that are alike: if the first
//!                     plain[class 1] ── 3 ── 7 ──    of a class cannot go, none of that class can
//!                     plain[class 4] ── 5 ──         arrival numbers order them between classes
//! ```
//! So letting waiters go (`grant.rs`) costs what it lets go plus at most one look per class, never the length
//! of the queue.

use super::hot_rows::HotRows;
use super::mode::{CLASSES, Want, classes};
use super::owner::TxnLocks;
use super::precedence::STRIDE;
use super::shard::{List, NONE, Shard};
use super::wait::Waiter;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// The waiters of one name.
#[derive(Debug)]
pub(super) struct Queue {
    pub converting: List,
    pub converting_count: [u32; CLASSES],
    pub plain: [List; CLASSES],
    pub length: u32,
    /// How many of them are invited and have not come yet.
    pub invited: u32,
    arrivals: u64,
}

impl Default for Queue {
    fn default() -> Self {
        let (converting, plain) = (List::EMPTY, [List::EMPTY; CLASSES]);
        Queue { converting, converting_count: [0; CLASSES], plain, length: 0, invited: 0, arrivals: 0 }
    }
}

impl Shard {
    /// The queue of a name that is waited for.
    pub fn queue(&self, entry: u32) -> &Queue {
        self.entry(entry).queue.as_deref().expect("an entry with waiters has a queue")
    }

    /// The same, to change it.
    pub fn queue_mut(&mut self, entry: u32) -> &mut Queue {
        self.entry_mut(entry).queue.as_deref_mut().expect("an entry with waiters has a queue")
    }

    /// The wait of a node that stands in a queue.
    pub fn waiter(&self, node: u32) -> &Arc<Waiter> {
        self.node(node).waiter.as_ref().expect("a node in the queue has its waiter")
    }

    /// Adds a waiter to those of its class, at its place, or to those who convert a hold of theirs. `short`:
    /// it will not keep the lock. `skips`: see [`QueueRules`](crate::api::QueueRules).
    pub fn join_queue(
        &mut self,
        entry: u32,
        txn: &Arc<TxnLocks>,
        want: Want,
        short: bool,
        skips: u64,
    ) -> Arc<Waiter> {
        let is_table = self.entry(entry).is_table();
        let own = self.own_bits(entry, txn);
        let mut queue = self.entry_mut(entry).queue.take().unwrap_or_default();
        queue.arrivals += STRIDE;
        let converts = want.converts(own, is_table);
        let place = if converts { None } else { self.place(&queue, txn, want, skips) };
        let arrival = place.map_or(queue.arrivals, |place| place.arrival);
        let node = self.new_node(txn.clone(), None, entry, 0);
        let mut waiter = Waiter::new(self.number, node, arrival, want, is_table, short);
        waiter.first = place.is_some();
        let waiter = Arc::new(waiter);
        self.nodes[node as usize].waiter = Some(waiter.clone());
        if converts {
            waiter.converting.store(true, Ordering::Relaxed);
            self.link_last(&mut queue.converting, node);
            queue.converting_count[want.class as usize] += 1;
        } else if let Some(place) = place {
            self.link_before(&mut queue.plain[want.class as usize], place.before, node);
        } else {
            self.link_last(&mut queue.plain[want.class as usize], node);
        }
        queue.length += 1;
        self.entry_mut(entry).queue = Some(queue);
        txn.inner.lock().wait = Some(waiter.clone());
        txn.waiting.store(true, Ordering::SeqCst);
        waiter
    }

    /// Takes a waiter out of the queue and ends its transaction's wait. What the waiter is told is the
    /// caller's business.
    pub fn leave_queue(&mut self, node: u32) -> (Arc<TxnLocks>, Arc<Waiter>) {
        let entry = self.node(node).entry;
        let (txn, waiter) = (self.owner(node).clone(), self.waiter(node).clone());
        let mut queue = self.entry_mut(entry).queue.take().expect("an entry with waiters has a queue");
        HotRows::note_wait_end(self, entry, waiter.since);
        let class = waiter.want.class as usize;
        if waiter.converting.load(Ordering::Relaxed) {
            self.unlink(&mut queue.converting, node);
            queue.converting_count[class] -= 1;
        } else {
            self.unlink(&mut queue.plain[class], node);
        }
        queue.length -= 1;
        queue.invited -= u32::from(waiter.invited.load(Ordering::Relaxed));
        self.entry_mut(entry).queue = Some(queue);
        self.free_node(node);
        waiter.queued.store(false, Ordering::Relaxed);
        txn.waiting.store(false, Ordering::SeqCst);
        txn.inner.lock().wait = None;
        (txn, waiter)
    }

    /// A transaction that waits here got a hold here on its behalf: from now on its own hold must not block
    /// it.
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

    /// Whom a waiter waits for: every holder in conflict, and of the waiters before it those whose own
    /// blockers it would not meet anyway (see the README: the redundancy lemma), one per class.
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
