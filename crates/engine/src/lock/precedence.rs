//! Who goes first among those who wait for one lock, and who gives way while nobody looks for deadlocks.
//!
//! ```text
//!   queue of "k", as it came:   3   7   8   9            each holds nothing that anybody waits for
//!   T holds "m", for which others wait, and comes:
//!                           T   3   7   8   9            3 was skipped once
//! ```
//! A transaction that others wait for is put before those of its class that nobody waits for: the sooner it
//! ends, the sooner do they. Whoever is the oldest has been skipped at most `turnstile_lock_queue_skips`
//! times, and then newcomers go behind it. (First come, first served lets those who hold nothing take locks
//! that the others need to end, which is what makes deadlocks.)
//!
//! Arrival numbers keep the order, between classes too: they are far enough apart for as many to be put in
//! between as may be skipped.

use super::mode::Want;
use super::name::LockName;
use super::owner::TxnLocks;
use super::queue::Queue;
use super::shard::{NONE, Shard, Woken};
use super::wait::Waiter;
use std::ops::ControlFlow;
use std::sync::atomic::Ordering;

/// Distance of arrival numbers.
pub(super) const STRIDE: u64 = 1 << 20;
/// Most skips: fewer than numbers between two arrivals, and whoever joins walks along so many at most.
pub(super) const SKIPS_MAX: u64 = 1024;

/// A place before somebody who waits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    /// The node behind it.
    pub before: u32,
    pub arrival: u64,
}

/// Whether as many wait for a row as may; whoever has a part of it already may always wait.
pub(super) fn is_full(shard: &Shard, txn: &TxnLocks, name: LockName<'_>, hash: u64, cap: u64) -> bool {
    let Some(entry) = shard.find(name, hash).filter(|_| cap > 0 && !name.is_table()) else { return false };
    u64::from(shard.entry(entry).waiters()) >= cap
        && shard.own_hold(entry, txn).is_none()
        && !shard.is_handed_by(entry, txn)
}

impl Shard {
    /// The place of one that others wait for, if it is not the last. Counts it as a skip.
    pub fn place(&self, queue: &Queue, txn: &TxnLocks, want: Want, skips: u64) -> Option<Place> {
        if skips == 0 || !txn.is_waited_for() {
            return None;
        }
        let mut node = queue.plain[want.class as usize].first;
        // Few: each of them is a skip of the one behind them.
        while node != NONE && self.waiter(node).first {
            node = self.node(node).next;
        }
        if node == NONE {
            return None;
        }
        let oldest = self.waiter(node);
        let skipped = oldest.skipped.load(Ordering::Relaxed);
        if skipped >= skips.min(SKIPS_MAX) {
            return None;
        }
        oldest.skipped.store(skipped + 1, Ordering::Relaxed);
        Some(Place { before: node, arrival: oldest.arrival - STRIDE + 1 + skipped })
    }

    /// Notes for whom a waiter waits. `blind`: those that wait themselves, and did not know, look at their
    /// clocks.
    pub fn note_blockers(&self, waiter: &Waiter, blind: bool, woken: &mut Woken) {
        self.each_blocker(waiter.node, |blocker| {
            if blocker.note_waited_for() && blind && blocker.is_waiting() {
                let wait = blocker.inner.lock().wait.clone();
                woken.waiters.extend(wait.map(|wait| (wait, None)));
            }
            ControlFlow::Continue(())
        });
    }
}

impl Waiter {
    /// Whether it is to give way: it waits for an older transaction that waits itself. In every cycle
    /// somebody does.
    pub(super) fn gives_way(&self, shard: &Shard) -> bool {
        if !self.queued.load(Ordering::Relaxed) {
            return false;
        }
        let me = shard.owner(self.node).start_sequence();
        let mut found = false;
        shard.each_blocker(self.node, |blocker| {
            found = blocker.is_waiting() && blocker.start_sequence() < me;
            if found { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        found
    }
}
