//! Letting waiters go: hand-off, invitation, passing.
//!
//! A lock that was held for long is *handed over*: the releaser makes the waiter a holder, first come first
//! served. A lock that was held for a moment is *offered*: the first waiters are woken to take it themselves,
//! and until they come, other short requests may have it in between. Handing a microsecond's lock to a
//! session whose worker sleeps would make everybody wait for that worker. How long a waiter can be passed
//! over is bounded, and then it is handed the lock.
//!
//! Best of all is a *direct handoff*: if the thread that lets go will run the next owner itself
//! ([`turnstile_sys::handoff`]), then a short waiter is handed the lock at once, in its order, and nobody
//! waits for a worker. So the holder works off the queue, each statement as the transaction it is.
//!
//! Invariant, whenever the shard's mutex is free: if some waiter could go, then some waiter is invited and
//! has not come. Whoever is invited comes (or its future is dropped), and each way that ends leads to another
//! `settle`, here or at the release.

use super::mode::{BITS, CLASSES, classes};
use super::owner::TxnLocks;
use super::shard::{NONE, Shard, Woken};
use super::wait::Outcome;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;
use turnstile_sys::handoff;

/// Most waiters with an open invitation; a batch is enough for one turn of a worker.
const INVITED_MAX: u32 = 32;
/// While so many have not come, no more are invited.
const INVITED_ENOUGH: u32 = 8;

/// How a free lock goes to those who wait.
#[derive(Clone, Copy, Debug)]
pub(super) struct Manner {
    /// Waiters are woken to take it themselves; if not, it is handed over.
    offer: bool,
    /// Short waiters are handed it and run on this thread, while it has places for them. Only for a thread
    /// that will be free in a moment: at the end of a transaction, or before it goes to sleep itself.
    hands_off: bool,
}

impl Manner {
    /// The waiter is made a holder and woken.
    pub const HAND_OVER: Manner = Manner { offer: false, hands_off: false };
    /// By somebody in the middle of a short statement.
    pub const OFFER: Manner = Manner { offer: true, hands_off: false };

    /// By somebody who finds the first waiter overdue and is about to wait behind it.
    pub const BEFORE_WAITING: Manner = Manner { offer: false, hands_off: true };

    /// At the end of a transaction.
    pub fn at_end(transient: bool) -> Manner {
        Manner { offer: transient, hands_off: true }
    }
}

impl Shard {
    /// Lets go all who can: each is handed the lock or offered it. To be called after anything that takes a
    /// hold or a waiter away.
    pub fn settle(&mut self, entry: u32, manner: Manner, woken: &mut Woken) {
        if self.entry(entry).waiters() == 0 {
            return;
        }
        let hands_off = manner.hands_off && handoff::has_place();
        let now = manner.offer.then(Instant::now);
        if !hands_off && now.is_some_and(|now| self.enough_are_invited(entry, now)) {
            return;
        }
        self.settle_converting(entry, now, woken);
        let classes = classes(self.entry(entry).is_table());
        let mut cursors = self.queue(entry).plain.map(|list| list.first);
        // Bits of those passed on the way: who stays queued, and who is invited.
        let (mut queued, mut invited) = (self.converting_bits(entry), 0);
        loop {
            let earliest = (0..CLASSES)
                .filter(|&class| cursors[class] != NONE)
                .min_by_key(|&class| self.waiter(cursors[class]).arrival);
            let Some(class) = earliest else { break };
            let (node, want) = (cursors[class], classes[class]);
            let behind = want.conflicts & invited != 0;
            let room = self.waiter(node).short && self.queue(entry).invited < INVITED_MAX;
            let held = self.entry(entry).held_by_others(want.conflicts, 0);
            if held
                && want.conflicts & queued == 0
                && let Some(predecessor) = self.hand_on(entry, node)
            {
                cursors[class] = self.node(node).next;
                let handed = hands_off && handoff::reserve();
                self.waiter(node).handed.store(handed, Ordering::Relaxed);
                self.grant_behind(node, predecessor, woken);
                continue;
            }
            if want.conflicts & queued != 0 || held || behind && !room {
                queued |= want.bits;
                cursors[class] = NONE;
                continue;
            }
            cursors[class] = self.node(node).next;
            let handed = hands_off && !behind && self.waiter(node).short && handoff::reserve();
            match now {
                Some(now) if !handed && (behind || !self.waiter(node).is_overdue(now)) => {
                    self.invite(node, now, woken);
                    invited |= want.bits;
                }
                _ => {
                    self.waiter(node).handed.store(handed, Ordering::Relaxed);
                    self.grant(node, woken);
                }
            }
        }
    }

    fn enough_are_invited(&self, entry: u32, now: Instant) -> bool {
        let queue = self.queue(entry);
        let overdue = |first: u32| first != NONE && self.waiter(first).is_overdue(now);
        queue.invited >= INVITED_ENOUGH
            && !overdue(queue.converting.first)
            && !queue.plain.iter().any(|list| overdue(list.first))
    }

    fn settle_converting(&mut self, entry: u32, now: Option<Instant>, woken: &mut Woken) {
        let mut node = self.queue(entry).converting.first;
        while node != NONE {
            let next = self.node(node).next;
            let conflicts = self.waiter(node).want.conflicts;
            let own = self.own_bits(entry, self.owner(node));
            if !self.entry(entry).held_by_others(conflicts, own) {
                match now {
                    Some(now) if !self.waiter(node).is_overdue(now) => self.invite(node, now, woken),
                    _ => self.grant(node, woken),
                }
            } else if self.is_one_class(entry)
                && (0..BITS).any(|bit| conflicts & 1 << bit != 0 && self.entry(entry).held[bit] > 1)
            {
                // Two transactions hold what all of these wait for: each of them is blocked by at least one
                // of the two.
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

    fn invite(&mut self, node: u32, now: Instant, woken: &mut Woken) {
        let entry = self.node(node).entry;
        let waiter = self.waiter(node).clone();
        waiter.note_invitation(now);
        if !waiter.invited.swap(true, Ordering::SeqCst) {
            self.queue_mut(entry).invited += 1;
            woken.push((waiter, None));
        }
    }

    /// Grants a lock that its holder has handed on.
    fn grant_behind(&mut self, node: u32, predecessor: Arc<TxnLocks>, woken: &mut Woken) {
        let entry = self.node(node).entry;
        let heir = self.owner(node).clone();
        self.grant(node, woken);
        self.put_behind(entry, &heir, predecessor, woken);
    }

    fn grant(&mut self, node: u32, woken: &mut Woken) {
        let entry = self.node(node).entry;
        let (txn, waiter) = self.leave_queue(node);
        if waiter.want.bits != 0 {
            let own = self.own_hold(entry, &txn);
            let alive = self.add_hold(entry, own, &txn, waiter.want.bits);
            debug_assert!(alive, "a transaction that waits has not ended");
        }
        let hot = self.hot_row.as_ref().is_some_and(|rules| rules.is_on());
        if hot && !waiter.short && self.entry(entry).waiters() > 0 {
            // Those behind it get the row when it rests.
            txn.inner.lock().hand_on.wish((self.number, entry));
        }
        // Who waited behind it in the queue waits for it now, and may be one that it comes after.
        if txn.follows() && self.entry(entry).waiters() > 0 {
            woken.suspects.push(txn);
        }
        woken.push((waiter, Some(Outcome::Granted)));
    }

    /// An invited waiter has come: it takes the lock, unless somebody holds it or is before it and must not
    /// be passed.
    pub fn accept_invitation(&mut self, node: u32, woken: &mut Woken) {
        let entry = self.node(node).entry;
        let waiter = self.waiter(node).clone();
        if !waiter.invited.swap(false, Ordering::SeqCst) {
            return;
        }
        self.queue_mut(entry).invited -= 1;
        let own = self.own_bits(entry, self.owner(node));
        if self.entry(entry).held_by_others(waiter.want.conflicts, own) {
            return;
        }
        if !waiter.converting.load(Ordering::Relaxed)
            && let Some(first) = self.first_conflicting_waiter(entry, waiter.want, waiter.arrival)
            && !(waiter.short && self.may_pass(entry, first, woken))
        {
            return;
        }
        self.grant(node, woken);
        if waiter.want.bits == 0 {
            // It leaves no hold, so no release will look after the others.
            self.settle(entry, Manner::OFFER, woken);
        }
        self.drop_if_idle(entry);
    }

    /// Whether a short request may have the lock before a waiter: only while the lock is free for the waiter
    /// and offered to it, and until it has been passed over for long enough; then it is handed the lock, here
    /// and now.
    pub fn may_pass(&mut self, entry: u32, first: u32, woken: &mut Woken) -> bool {
        let waiter = self.waiter(first).clone();
        let its_own = self.own_bits(entry, self.owner(first));
        if self.entry(entry).held_by_others(waiter.want.conflicts, its_own) {
            return false;
        }
        if waiter.is_overdue(Instant::now()) {
            self.settle(entry, Manner::BEFORE_WAITING, woken);
            return false;
        }
        waiter.passed.fetch_add(1, Ordering::Relaxed);
        true
    }
}
