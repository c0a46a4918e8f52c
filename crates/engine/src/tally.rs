//! Numbers that a session counts for itself. One thread at a time adds to them, so that adding is a plain
//! addition without a locked bus; others read them, relaxed, and see a picture that may be a moment old. They
//! only grow: what is to be counted anew is counted from a copy of them. The server's numbers are those of
//! all sessions there are, and of those that have ended.

use std::sync::atomic::{AtomicU64, Ordering};

/// A number that its owner adds to.
#[derive(Debug, Default)]
pub struct Tally(AtomicU64);

impl Tally {
    /// So many more. Only the owner may: what two add at once is counted once.
    #[inline]
    pub fn add(&self, more: u64) {
        self.0.store(self.0.load(Ordering::Relaxed).wrapping_add(more), Ordering::Relaxed);
    }

    /// How many.
    #[inline]
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

macro_rules! row_counts {
    ($($(#[$why:meta])* $name:ident)*) => {
        /// What the transactions of a session have done.
        #[derive(Debug, Default)]
        pub struct RowCounts { $($(#[$why])* pub $name: Tally,)* }

        /// A copy of [`RowCounts`], or the sum of several.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct RowTotals { $($(#[$why])* pub $name: u64,)* }

        /// [`RowCounts`] of whoever has no session: any thread adds to them.
        #[derive(Debug, Default)]
        pub struct SharedRowCounts { $($name: AtomicU64,)* }

        impl RowTotals {
            /// Adds what a session has counted.
            pub fn add(&mut self, counts: &RowCounts) {
                $(self.$name += counts.$name.get();)*
            }

            /// Adds another sum.
            pub fn add_totals(&mut self, other: &RowTotals) {
                $(self.$name += other.$name;)*
            }

            /// What has come since an earlier copy.
            pub fn since(&self, before: &RowTotals) -> RowTotals {
                RowTotals { $($name: self.$name.saturating_sub(before.$name),)* }
            }
        }

        impl SharedRowCounts {
            /// A transaction that its session has left behind is rolled back.
            pub fn rolled_back(&self) {
                self.rollbacks.fetch_add(1, Ordering::Relaxed);
            }

            /// What is counted so far.
            pub fn totals(&self) -> RowTotals {
                RowTotals { $($name: self.$name.load(Ordering::Relaxed),)* }
            }

            /// Takes over what was counted for nobody.
            pub fn take_over(&self, counts: &RowCounts) {
                $(self.$name.fetch_add(counts.$name.0.swap(0, Ordering::Relaxed), Ordering::Relaxed);)*
            }
        }
    };
}

row_counts! {
    /// Rows seen by reads.
    read
    /// Rows inserted.
    inserted
    /// Rows updated.
    updated
    /// Rows deleted.
    deleted
    /// Transactions committed that had written.
    commits
    /// Transactions committed that had not.
    read_only_commits
    /// Transactions rolled back.
    rollbacks
    /// Rollbacks to a savepoint or of a statement, in a transaction that keeps earlier changes.
    partial_rollbacks
}
