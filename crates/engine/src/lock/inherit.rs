//! Locks that appear without a request of their owner: gaps that split and merge when rows come and go.
//!
//! Each works on one name at a time (copy out of the first, then add to the second): the caller holds the
//! exclusive latch on the leaf where both rows are, and gap locks are only taken under a latch on that leaf,
//! so nothing slips in between. An owner that ends meanwhile is noticed by `add_hold`.

use super::mode::{GAP, GAP_S, GAP_X, RECORD_X};
use super::name::LockName;
use super::owner::TxnLocks;
use super::shard::NONE;
use super::table::LockTable;
use smallvec::SmallVec;
use std::sync::Arc;
use turnstile_sys::sync::atomic::{Ordering, fence};

type Heirs = SmallVec<[(Arc<TxnLocks>, u8); 4]>;

impl LockTable {
    /// Adds a lock for its owner, whatever that does meanwhile. Idempotent. False if the owner has released
    /// its locks.
    pub(super) fn add_on_behalf(&self, owner: &Arc<TxnLocks>, name: LockName<'_>, bits: u8) -> bool {
        if bits & GAP != 0 && !self.count_gap_heir(owner) {
            return false;
        }
        let (alive, waiters) = self.with_name(name, |shard, hash| {
            let entry = shard.find_or_create(name, hash);
            let own = shard.own_hold(entry, owner);
            let alive = shard.add_hold(entry, own, owner, bits);
            let waiters = shard.entry(entry).waiters();
            shard.drop_if_idle(entry);
            (alive, waiters)
        });
        // Those who wait here may wait for the owner from now on; if it waits itself, that may have closed a
        // cycle. An owner that begins to wait now marks itself before its fence and counts its locks after
        // it: either it counts this one, or it is seen waiting here.
        if alive && waiters > 0 {
            fence(Ordering::SeqCst);
            if owner.is_waiting() && self.detects() {
                self.search_from(owner);
            } else if owner.is_waiting() && self.settings.blind_wait().is_some() {
                // So that it looks at its clock.
                let wait = owner.inner.lock().wait.clone();
                wait.into_iter().for_each(|wait| wait.cell.nudge());
            }
        }
        alive
    }

    /// A row was inserted before `next`: who had locked the gap before `next` now has both halves.
    pub fn inherit_on_insert(&self, new: LockName<'_>, next: LockName<'_>) {
        let heirs = self.holders(next, |_, bits| bits & GAP);
        self.pass_on(heirs, new);
    }

    /// A row is being removed for good (purge, or the rollback of an insert): the gap before it and the row
    /// itself become part of the gap before `next`, and stay locked as such. Waiters for the removed row keep
    /// their place; granted, they find it missing.
    pub fn inherit_on_remove(&self, removed: LockName<'_>, next: LockName<'_>) {
        let heirs = self.holders(removed, |owner, bits| match () {
            () if owner.skips_gaps() && bits & GAP == 0 => 0,
            () if bits & (RECORD_X | GAP_X) != 0 => GAP_X,
            () => GAP_S,
        });
        self.pass_on(heirs, next);
    }

    fn holders(&self, name: LockName<'_>, inherits: impl Fn(&TxnLocks, u8) -> u8) -> Heirs {
        self.with_name(name, |shard, hash| {
            let mut heirs = Heirs::new();
            let Some(entry) = shard.find(name, hash) else { return heirs };
            let mut node = shard.entry(entry).holders.first;
            while node != NONE {
                let owner = shard.owner(node);
                let bits = inherits(owner, shard.node(node).bits);
                if bits != 0 {
                    heirs.push((owner.clone(), bits));
                }
                node = shard.node(node).next;
            }
            heirs
        })
    }

    fn pass_on(&self, heirs: Heirs, name: LockName<'_>) {
        for (owner, bits) in heirs {
            self.add_on_behalf(&owner, name, bits);
        }
    }
}
