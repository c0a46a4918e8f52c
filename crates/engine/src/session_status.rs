//! A session's status: what its transactions write about themselves while they run, for monitoring. It
//! outlives each transaction, so that beginning one costs no entry in a shared list: whoever looks walks the
//! sessions and reads their cards. Everything in it is written by the session alone, relaxed; a reader sees a
//! picture that may be a moment old, and may see the fields of one transaction beside those of the next.
//!
//! ```text
//!   field          written when                                     by
//!   started_us     a transaction's first statement begins           the host (SQL), from a clock it has read anyway
//!   options        the same; 0 at the end                           the host; the transaction
//!   tables         a statement begins, and when it has ended        the host
//!   txn_id         first write; end                                 the transaction
//!   undo_records   every undo record, written or taken back         the transaction
//!   view_*         the read view is opened; end                     the transaction
//!   operation      a statement begins and ends, commit, rollback,   both
//!                  around a wait for a row lock
//!   wait           a wait begins, a wait ends                       whoever waits ([`SessionStatus::waits`])
//!   rows           rows are read and changed, a transaction ends    the transaction; they only grow ([`crate::tally`])
//!   lock_memory    the session begins                               the host; it never changes
//! ```
//! Locks are not here: the lock table knows them, by the connection's number.

use crate::admission::AdmissionState;
use crate::error::Result;
use crate::isolation::Isolation;
use crate::tally::RowCounts;
use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

/// What a statement does, in InnoDB's words (`trx_operation_state`). Noted once per statement, and around
/// lock waits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum Operation {
    /// Nothing in the engine.
    #[default]
    None = 0,
    /// A change looks for its row, and waits for the row's lock.
    StartingIndexRead = 1,
    /// A SELECT.
    FetchingRows = 2,
    /// INSERT, REPLACE.
    Inserting = 3,
    /// UPDATE, DELETE.
    UpdatingOrDeleting = 4,
    /// The transaction commits: until the log is as durable as is asked.
    Committing = 5,
    /// The transaction or its statement is rolled back.
    RollingBack = 6,
}

impl Operation {
    const ALL: [Operation; 7] = [
        Operation::None,
        Operation::StartingIndexRead,
        Operation::FetchingRows,
        Operation::Inserting,
        Operation::UpdatingOrDeleting,
        Operation::Committing,
        Operation::RollingBack,
    ];

    /// The words; empty for nothing.
    pub fn text(self) -> &'static str {
        match self {
            Operation::None => "",
            Operation::StartingIndexRead => "starting index read",
            Operation::FetchingRows => "fetching rows",
            Operation::Inserting => "inserting",
            Operation::UpdatingOrDeleting => "updating or deleting",
            Operation::Committing => "committing",
            Operation::RollingBack => "rollback",
        }
    }
}

/// What a session waits for, if it waits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum WaitingFor {
    /// For nothing.
    #[default]
    Nothing = 0,
    /// A row lock, or the right to insert into a gap.
    RowLock = 1,
    /// A table lock of the engine.
    TableLock = 2,
    /// A table's definition.
    Definition = 3,
    /// A lock that users have named.
    UserLock = 4,
    /// The commit of transactions on whose changes its own builds.
    Predecessors = 5,
    /// The rollback of transactions that have built on what it takes back.
    Successors = 6,
}

/// One per session; handed to the engine with the options of each transaction.
#[derive(Debug, Default)]
pub struct SessionStatus {
    connection: u64,
    admission: Arc<AdmissionState>,
    started_us: AtomicU64,
    txn_id: AtomicU64,
    undo_records: AtomicU64,
    view_low: AtomicU64,
    view_high: AtomicU64,
    tables: AtomicU32,
    /// Isolation level and flags; 0 when no transaction is open.
    options: AtomicU8,
    operation: AtomicU8,
    wait: AtomicU8,
    rows: RowCounts,
    lock_memory: OnceLock<Arc<dyn LockMemory>>,
}

/// Counts the memory that the locks of a session's transactions take, for whoever limits it: locks live to
/// the end of their transaction, however many statements it has.
pub trait LockMemory: std::fmt::Debug + Send + Sync {
    /// The locks take so many bytes more; `Error::OverMemory` if they may not, with nothing counted.
    fn take(&self, bytes: u64) -> Result<()>;
    /// So many bytes that were taken are free again.
    fn give_back(&self, bytes: u64);
}

/// A transaction as its status tells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TxnPicture {
    /// A statement has begun in it, and it has not ended.
    pub open: bool,
    /// What it does.
    pub operation: Operation,
    /// What it waits for.
    pub waiting_for: WaitingFor,
    /// Its id; 0 until it has written.
    pub txn_id: u64,
    /// When its first statement began, on the host's clock.
    pub started_us: u64,
    /// Undo records that stand: changes a rollback would take back.
    pub undo_records: u64,
    /// Its read view: no id from the first on is seen, every id below the second is.
    pub view: Option<(u64, u64)>,
    /// Its isolation level.
    pub isolation: Isolation,
    /// It refuses writes.
    pub read_only: bool,
    /// It ends with its statement.
    pub autocommit: bool,
    /// Tables of the statement that runs, and how many of them it locks.
    pub tables: (u32, u32),
}

const READ_ONLY: u8 = 4;
const AUTOCOMMIT: u8 = 8;
const OPEN: u8 = 16;

impl SessionStatus {
    /// The status of a connection. Number 0 is nobody's: an embedding program, or work of the server's own.
    pub fn new(connection: u64) -> Self {
        SessionStatus { connection, ..Self::default() }
    }

    /// The connection's number (the thread id of InnoDB's views).
    #[inline]
    pub fn connection(&self) -> u64 {
        self.connection
    }

    /// Where the session stands with the admission gate.
    #[inline]
    pub fn admission(&self) -> &Arc<AdmissionState> {
        &self.admission
    }

    /// Has the memory of its transactions' locks counted, from its beginning to its end by the same;
    /// otherwise nobody limits it.
    pub fn count_locks_by(&self, memory: Arc<dyn LockMemory>) {
        self.lock_memory.get_or_init(|| memory);
    }

    /// Who counts that.
    pub(crate) fn lock_memory(&self) -> Option<&Arc<dyn LockMemory>> {
        self.lock_memory.get()
    }

    /// What the session's transactions have done since it began.
    #[inline]
    pub fn rows(&self) -> &RowCounts {
        &self.rows
    }

    /// Whether the statement that runs uses a table.
    #[inline]
    pub fn uses_tables(&self) -> bool {
        self.tables.load(Ordering::Relaxed) & 0xFFFF != 0
    }

    /// A transaction's first statement begins; `now_us` on the host's clock.
    pub fn begin(&self, now_us: u64, isolation: Isolation, read_only: bool, autocommit: bool) {
        let flags = if read_only { READ_ONLY } else { 0 } | if autocommit { AUTOCOMMIT } else { 0 };
        self.started_us.store(now_us, Ordering::Relaxed);
        self.options.store(isolation as u8 | flags | OPEN, Ordering::Relaxed);
    }

    /// A statement uses so many tables and locks so many of them.
    pub fn set_tables(&self, in_use: usize, locked: usize) {
        let half = |count: usize| count.min(usize::from(u16::MAX)) as u32;
        self.tables.store(half(in_use) | half(locked) << 16, Ordering::Relaxed);
    }

    pub(crate) fn set_txn_id(&self, id: u64) {
        self.txn_id.store(id, Ordering::Relaxed);
    }

    #[inline]
    pub(crate) fn set_undo_records(&self, count: u64) {
        self.undo_records.store(count, Ordering::Relaxed);
    }

    pub(crate) fn set_view(&self, low: u64, high: u64) {
        self.view_low.store(low, Ordering::Relaxed);
        self.view_high.store(high, Ordering::Relaxed);
    }

    /// Whether a transaction is open.
    #[inline]
    pub fn is_open(&self) -> bool {
        self.options.load(Ordering::Relaxed) & OPEN != 0
    }

    /// The count of undo records may stay: without an id there are none.
    pub(crate) fn end(&self) {
        self.txn_id.store(0, Ordering::Relaxed);
        if self.view_high.load(Ordering::Relaxed) != 0 {
            self.view_high.store(0, Ordering::Relaxed);
        }
        self.options.store(0, Ordering::Relaxed);
    }

    pub(crate) fn end_if_open(&self) {
        if self.is_open() {
            self.end();
        }
    }

    /// Notes what it does from now on.
    #[inline]
    pub fn note(&self, operation: Operation) {
        self.operation.store(operation as u8, Ordering::Relaxed);
    }

    /// What it does.
    #[inline]
    pub fn operation(&self) -> Operation {
        let code = self.operation.load(Ordering::Relaxed);
        Operation::ALL.get(usize::from(code)).copied().unwrap_or_default()
    }

    /// The two as a line of SHOW ENGINE INNODB STATUS has them:
    /// `fetching rows, thread declared inside InnoDB 383`. Who waits to be let in does nothing else.
    pub fn activity(&self) -> String {
        use crate::admission::Place;
        let (doing, place) = (self.operation().text(), self.admission.place());
        match place {
            Place::Outside => doing.to_owned(),
            Place::Inside(_) if doing.is_empty() => place.to_string(),
            Place::Inside(_) => format!("{doing}, {place}"),
            Place::Queued | Place::Sleeping => place.to_string(),
        }
    }

    /// Whether its transaction has ended and waits only for the log.
    #[inline]
    pub fn waits_for_log(&self) -> bool {
        self.operation() == Operation::Committing && !self.is_open()
    }

    /// Notes a wait until the value returned is dropped.
    pub fn waits(&self, what: WaitingFor) -> WaitNote<'_> {
        self.wait.store(what as u8, Ordering::Relaxed);
        WaitNote { status: self }
    }

    /// What the session waits for.
    #[inline]
    pub fn waiting_for(&self) -> WaitingFor {
        match self.wait.load(Ordering::Relaxed) {
            1 => WaitingFor::RowLock,
            2 => WaitingFor::TableLock,
            3 => WaitingFor::Definition,
            4 => WaitingFor::UserLock,
            5 => WaitingFor::Predecessors,
            6 => WaitingFor::Successors,
            _ => WaitingFor::Nothing,
        }
    }

    /// When the first statement of its present or last transaction began, on the host's clock.
    pub fn began_us(&self) -> u64 {
        self.started_us.load(Ordering::Relaxed)
    }

    /// The status as it is now.
    pub fn picture(&self) -> TxnPicture {
        let load = |field: &AtomicU64| field.load(Ordering::Relaxed);
        let options = self.options.load(Ordering::Relaxed);
        let tables = self.tables.load(Ordering::Relaxed);
        let (txn_id, high) = (load(&self.txn_id), load(&self.view_high));
        TxnPicture {
            open: options & OPEN != 0,
            operation: self.operation(),
            waiting_for: self.waiting_for(),
            txn_id,
            started_us: load(&self.started_us),
            undo_records: if txn_id == 0 { 0 } else { load(&self.undo_records) },
            view: (high != 0).then(|| (high, load(&self.view_low))),
            isolation: match options & 3 {
                0 => Isolation::ReadUncommitted,
                1 => Isolation::ReadCommitted,
                2 => Isolation::RepeatableRead,
                _ => Isolation::Serializable,
            },
            read_only: options & READ_ONLY != 0,
            autocommit: options & AUTOCOMMIT != 0,
            tables: (tables & 0xFFFF, tables >> 16),
        }
    }
}

/// A wait that is noted on a status; it ends when this is dropped.
#[derive(Debug)]
#[must_use = "the note goes when it is dropped"]
pub struct WaitNote<'c> {
    status: &'c SessionStatus,
}

impl Drop for WaitNote<'_> {
    fn drop(&mut self) {
        self.status.wait.store(WaitingFor::Nothing as u8, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_a_transaction_is_left_for_the_next() {
        let status = SessionStatus::new(7);
        assert!(!status.picture().open);
        status.begin(5, Isolation::ReadCommitted, true, true);
        status.set_view(3, 9);
        status.set_txn_id(11);
        status.set_undo_records(4);
        let seen = status.picture();
        assert_eq!((seen.open, seen.read_only, seen.autocommit), (true, true, true));
        assert_eq!((seen.txn_id, seen.undo_records, seen.view), (11, 4, Some((9, 3))));
        assert_eq!((seen.started_us, seen.isolation), (5, Isolation::ReadCommitted));
        status.note(Operation::Committing);
        assert!(!status.waits_for_log(), "it has not ended");
        status.end();
        assert!(status.waits_for_log() && !status.picture().open);
        status.note(Operation::None);
        status.begin(6, Isolation::RepeatableRead, false, false);
        let seen = status.picture();
        assert_eq!((seen.open, seen.read_only, seen.autocommit), (true, false, false));
        assert_eq!((seen.txn_id, seen.undo_records, seen.view), (0, 0, None));
        assert_eq!(seen.isolation, Isolation::RepeatableRead);
    }

    #[test]
    fn a_wait_is_noted_until_it_ends() {
        let status = SessionStatus::new(7);
        let note = status.waits(WaitingFor::TableLock);
        assert_eq!(status.waiting_for(), WaitingFor::TableLock);
        drop(note);
        assert_eq!(status.waiting_for(), WaitingFor::Nothing);
    }
}
