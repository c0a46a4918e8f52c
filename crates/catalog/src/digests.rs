//! Statements by digest: how often each kind of statement ran and how long it took, for
//! `performance_schema.events_statements_summary_by_digest`, its histograms and the console.
//!
//! ```text
//!   a session    [`PLACES`] cells ([`Pending`]), each for one digest: numbers and up to [`WAITS_MAX`] waits
//!                since they were folded. Only its own statements write there, behind a mutex that is theirs
//!                unless somebody looks.
//!   fold         after WAITS_MAX statements, when the cell gets another digest, when the session ends, and
//!                when somebody reads: the cell is added to the row of its digest and begins anew
//!   the table    rows by database and normalised text ([`Digests`]), at most so many; what finds no
//!                place is counted in one row without a digest
//! ```
//! A statement adds to its session's memory alone; a row that others write too is touched by one statement
//! in [`WAITS_MAX`]. Who reads folds all sessions first, so what has ended is counted.
//!
//! TRUNCATE takes the rows out of the table and marks them: a cell whose row is out finds or makes another
//! when it is folded. All that was counted before is in the old rows by then.
//!
//! Waits are told apart in microseconds, as the clocks of [`crate::registry`] are.

mod histogram;
mod pending;

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use turnstile_sys::ranked::RankedMutex;

use crate::accounts::hash::sha256;
use crate::rank;
pub use histogram::{BUCKETS, Histogram, bounds_ps};
pub use pending::{Cell, Ended, PLACES, Pending, WAITS_MAX};

/// Bytes of a statement's text that are kept as a sample.
const SAMPLE_BYTES_MAX: usize = 1024;
/// A sample that is older gives way to the next statement.
const SAMPLE_AGE_US: u64 = 60_000_000;

/// What a row is about.
#[derive(Debug, PartialEq, Eq)]
pub struct Identity {
    /// The current database of the session; None if it had none.
    pub schema: Option<Arc<str>>,
    /// The normalised text.
    pub text: Box<str>,
    /// Its SHA-256, in hexadecimal.
    pub digest: Box<str>,
}

impl Identity {
    fn new(schema: Option<Arc<str>>, text: &str) -> Identity {
        let sum = sha256(&[text.as_bytes()]);
        let digest: String = sum.iter().map(|byte| format!("{byte:02x}")).collect();
        Identity { schema, text: text.into(), digest: digest.into() }
    }
}

macro_rules! counts {
    ($($(#[$why:meta])* $name:ident)*) => {
        /// What statements of one digest come to, but for how long they took.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct Counts { $($(#[$why])* pub $name: u64,)* }

        impl Counts {
            /// Adds another sum.
            pub fn add(&mut self, other: &Counts) {
                $(self.$name += other.$name;)*
            }

            /// What has come since an earlier copy.
            pub fn since(&self, before: &Counts) -> Counts {
                Counts { $($name: self.$name.wrapping_sub(before.$name),)* }
            }
        }
    };
}

counts! {
    /// Statements.
    statements
    /// Microseconds that they took.
    sum_us
    /// Those that failed.
    errors
    /// Warnings of those that did not.
    warnings
    /// Rows changed.
    affected
    /// Rows sent by SELECT.
    sent
    /// Rows that the engine read for them.
    examined
    /// Intermediate results that went to a file.
    disk_tables
    /// Tables joined by reading all of them.
    full_joins
    /// Tables joined by ranges of a key.
    range_joins
    /// Queries that read ranges of a key of their first table.
    ranges
    /// Queries that read all of their first table.
    scans
    /// Groups of sorted runs that were merged.
    sort_merges
    /// Queries that sort what ranges gave.
    range_sorts
    /// Rows that sorting gave.
    sorted_rows
    /// Queries that sort otherwise.
    scan_sorts
    /// Queries that read all of a table.
    without_index
}

/// One of the statements, as it was sent.
#[derive(Clone, Debug, Default)]
pub struct Sample {
    /// The beginning of its text.
    pub text: Box<[u8]>,
    /// When it ended, in microseconds since the server began.
    pub seen_us: u64,
    /// How long it took, in microseconds.
    pub took_us: u64,
}

/// The numbers of a row.
#[derive(Clone, Debug, Default)]
pub struct Numbers {
    /// Sums.
    pub counts: Counts,
    /// The shortest wait, in microseconds.
    pub min_us: u64,
    /// The longest.
    pub max_us: u64,
    /// When the first one ended, in microseconds since the server began.
    pub first_us: u64,
    /// When the last one did.
    pub last_us: u64,
    /// How long they took.
    pub waits: Histogram,
    /// One of them.
    pub sample: Option<Sample>,
}

/// A row of the table.
#[derive(Debug)]
pub struct Row {
    /// What it is about; None for what had no place in the table.
    pub identity: Option<Arc<Identity>>,
    /// It was truncated, and nobody will read it.
    out: AtomicBool,
    numbers: RankedMutex<Numbers>,
}

impl Row {
    fn new(identity: Option<Arc<Identity>>) -> Arc<Row> {
        let numbers = RankedMutex::new(rank::SHORT, &rank::DIGEST, Numbers::default());
        Arc::new(Row { identity, out: AtomicBool::new(false), numbers })
    }

    /// Reads its numbers; whoever folds into it waits meanwhile.
    pub fn look<T>(&self, read: impl FnOnce(&Numbers) -> T) -> T {
        read(&self.numbers.lock())
    }
}

/// Rows by their normalised texts. Clients choose these, so the hash is a keyed one.
type ByText = HashMap<Box<str>, Arc<Row>>;

#[derive(Debug)]
struct Table {
    /// By database.
    rows: HashMap<Option<Arc<str>>, ByText>,
    count: usize,
    lost: Arc<Row>,
}

/// See the module.
#[derive(Debug)]
pub struct Digests {
    table: RankedMutex<Table>,
    /// How long all statements took since the server began, or since TRUNCATE of that table.
    all: RankedMutex<(Histogram, u64)>,
    rows_max: usize,
}

impl Digests {
    /// A table of at most so many rows; with none nothing is counted.
    pub fn new(rows_max: usize) -> Digests {
        let table = Table { rows: HashMap::new(), count: 0, lost: Row::new(None) };
        Digests {
            table: RankedMutex::new(rank::SHORT, &rank::DIGESTS, table),
            all: RankedMutex::new(rank::SHORT, &rank::DIGEST, Default::default()),
            rows_max,
        }
    }

    /// Whether anything is counted.
    #[inline]
    pub fn is_on(&self) -> bool {
        self.rows_max > 0
    }

    /// What a normalised text of a database is called, and its row.
    pub fn find(&self, schema: Option<&Arc<str>>, text: &str) -> (Arc<Identity>, Arc<Row>) {
        let schema = schema.cloned();
        if let Some(row) = self.table.lock().rows.get(&schema).and_then(|rows| rows.get(text))
            && let Some(identity) = &row.identity
        {
            return (identity.clone(), row.clone());
        }
        let identity = Arc::new(Identity::new(schema, text));
        let row = self.row_of(&identity);
        // Another session may have been faster.
        (row.identity.clone().unwrap_or(identity), row)
    }

    /// The row of an identity, made if there is place for one.
    fn row_of(&self, identity: &Arc<Identity>) -> Arc<Row> {
        let mut table = self.table.lock();
        let known = table.rows.get(&identity.schema).and_then(|rows| rows.get(&identity.text));
        if let Some(row) = known {
            return row.clone();
        }
        if table.count >= self.rows_max {
            return table.lost.clone();
        }
        let row = Row::new(Some(identity.clone()));
        table.count += 1;
        let rows = table.rows.entry(identity.schema.clone()).or_default();
        rows.insert(identity.text.clone(), row.clone());
        row
    }

    /// The rows that count something; what had no place last.
    pub fn rows(&self) -> Vec<Arc<Row>> {
        let mut rows: Vec<Arc<Row>> = {
            let table = self.table.lock();
            let lost = std::iter::once(&table.lost);
            table.rows.values().flat_map(|rows| rows.values()).chain(lost).cloned().collect()
        };
        rows.retain(|row| row.look(|numbers| numbers.counts.statements > 0));
        rows
    }

    /// How long all statements took, and the sum of that in microseconds.
    pub fn all(&self) -> (Histogram, u64) {
        self.all.lock().clone()
    }

    /// Begins the table anew.
    pub fn truncate(&self) {
        let old = {
            let mut table = self.table.lock();
            std::mem::replace(&mut *table, Table { rows: HashMap::new(), count: 0, lost: Row::new(None) })
        };
        let lost = std::iter::once(&old.lost);
        for row in old.rows.values().flat_map(|rows| rows.values()).chain(lost) {
            row.out.store(true, Ordering::Release);
        }
    }

    /// Begins the histogram of all statements anew.
    pub fn truncate_all(&self) {
        *self.all.lock() = Default::default();
    }

    /// Begins the histograms of the rows anew, and nothing else of them.
    pub fn truncate_histograms(&self) {
        self.rows().iter().for_each(|row| row.numbers.lock().waits = Histogram::default());
    }
}

#[cfg(test)]
mod tests;
