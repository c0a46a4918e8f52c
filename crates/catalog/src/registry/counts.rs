//! What a session counts, and whose counters SHOW STATUS shows.
//!
//! A counter that has a value for each session is counted once, by its session, into memory that only this
//! session writes: its
//! [`SessionCounts`] and, for what the engine does, the [`RowCounts`] of its status. Nothing is added to a
//! number that is shared.
//!
//! ```text
//!   SHOW SESSION STATUS   what the session has counted, less what it had counted at its last FLUSH STATUS,
//!                         COM_RESET_CONNECTION or COM_CHANGE_USER (its base)
//!   SHOW GLOBAL STATUS    the sum over the sessions there are, and over those that have ended
//! ```
//! A session's numbers only grow, and a session that leaves the registry adds them to the sum of those that
//! have ended under the mutex that guards the list. Who asks for the sum takes the list and the ended
//! together, and adds up without the mutex, so that the sum never falls: whoever left since then is still in
//! the list that was taken.
//!
//! Counters of what belongs to no session (threads, connections, pages) are the same in both scopes, as in
//! MySQL; so is `Queries`, which MySQL shows for the whole server too.
//!
//! [`RowCounts`]: turnstile_engine::tally::RowCounts

use turnstile_engine::tally::{RowTotals, Tally};

use super::commands::{self, Command};
use crate::registry::Entry;
use turnstile_syntax::ast::Statement;

const COMMANDS: usize = commands::NAMES.len();

macro_rules! numbers {
    ($($(#[$why:meta])* $name:ident)*) => {
        /// Counters of one session.
        #[derive(Debug)]
        pub struct SessionCounts {
            $($(#[$why])* pub $name: Tally,)*
            /// By [`Command`].
            commands: [Tally; COMMANDS],
        }

        impl Default for SessionCounts {
            fn default() -> Self {
                SessionCounts { $($name: Tally::default(),)* commands: std::array::from_fn(|_| Tally::default()) }
            }
        }

        /// A copy of a session's counters, or the sum of several.
        #[derive(Clone, Debug)]
        pub struct Totals {
            $($(#[$why])* pub $name: u64,)*
            /// By [`Command`].
            pub commands: [u64; COMMANDS],
            /// What the engine has done.
            pub rows: RowTotals,
        }

        impl Default for Totals {
            fn default() -> Self {
                Totals { $($name: 0,)* commands: [0; COMMANDS], rows: RowTotals::default() }
            }
        }

        impl Totals {
            /// Adds what a session has counted.
            pub fn add(&mut self, entry: &Entry) {
                let counts = &entry.counts;
                $(self.$name += counts.$name.get();)*
                self.commands.iter_mut().zip(&counts.commands).for_each(|(sum, one)| *sum += one.get());
                self.rows.add(entry.status.rows());
            }

            /// What has come since an earlier copy.
            fn since(&self, before: &Totals) -> Totals {
                Totals {
                    $($name: self.$name.saturating_sub(before.$name),)*
                    commands: std::array::from_fn(|at| self.commands[at].saturating_sub(before.commands[at])),
                    rows: self.rows.since(&before.rows),
                }
            }
        }
    };
}

numbers! {
    /// Statements that the client sent.
    questions
    /// Bytes from the client.
    bytes_received
    /// Bytes to the client.
    bytes_sent
    /// Times that a deadlock's victim was begun again within its statement.
    retries
    /// Statements that took longer than `long_query_time`.
    slow_queries
    /// Queries that read all of their first table.
    scans
    /// Tables that are joined to another by reading all of them.
    full_joins
    /// Queries that read ranges of a key of their first table.
    ranges
    /// Tables that are joined to another by ranges of a key.
    range_joins
    /// Queries that sort what they found by ranges of a key.
    range_sorts
    /// Queries that sort what they found otherwise.
    scan_sorts
    /// Intermediate results that went to a file.
    disk_tables
    /// Groups of sorted runs that were merged.
    sort_merges
    /// Rows that sorting gave.
    sorted_rows
    /// Statements with tables, and transactions with such statements, that were committed.
    commits
    /// Those that were rolled back.
    rollbacks
    /// SAVEPOINT in a transaction that has begun.
    savepoints
    /// ROLLBACK TO SAVEPOINT in one.
    savepoint_rollbacks
}

impl SessionCounts {
    /// A statement begins.
    pub fn command(&self, statement: &Statement) {
        self.count(Command::of(statement));
    }

    /// A command begins.
    #[inline]
    pub fn count(&self, command: Command) {
        if let Some(counter) = self.commands.get(command as usize) {
            counter.add(1);
        }
    }

    /// A query reads all of a table, its first or one that is joined.
    pub fn scans(&self, first: bool) {
        if first { &self.scans } else { &self.full_joins }.add(1);
    }

    /// A query reads ranges of a key, of its first table or of one that is joined.
    pub fn reads_ranges(&self, first: bool) {
        if first { &self.ranges } else { &self.range_joins }.add(1);
    }

    /// A query sorts what it found by ranges of a key, or otherwise.
    pub fn sorts(&self, ranges: bool) {
        if ranges { &self.range_sorts } else { &self.scan_sorts }.add(1);
    }

    /// So many rows were sorted, of which at most so many are wanted.
    pub fn sorted(&self, rows: usize, wanted: u64) {
        self.sorted_rows.add((rows as u64).min(wanted));
    }
}

impl Entry {
    /// All that the session has counted.
    pub fn counted(&self) -> Totals {
        let mut totals = Totals::default();
        totals.add(self);
        totals
    }

    /// What the session has counted since `base`.
    pub fn counted_since(&self, base: Option<&Totals>) -> Totals {
        let all = self.counted();
        base.map_or_else(|| all.clone(), |base| all.since(base))
    }
}
