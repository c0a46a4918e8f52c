//! The engine's errors, grouped by what the caller must do about them.

use crate::ids::{IndexId, Lsn, PageNo, TxnId};
use turnstile_sys::disk::AllocateError;

/// Result of the engine.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of the engine. `Clone`, because a stopped log tells every waiter the same thing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    // -- roll back the transaction and run it again
    /// The transaction was chosen as the victim of a deadlock.
    #[error("deadlock found when trying to get lock; try restarting transaction")]
    Deadlock,
    /// The transaction was one of a hot row's group, and another one that it came after was rolled back, or
    /// it held the group up for too long.
    #[error("the transaction's group at a hot row was rolled back; try restarting transaction")]
    GroupRolledBack,

    // -- roll back the statement; it may be run again
    /// A lock was not granted in time.
    #[error("lock wait timeout exceeded; try restarting transaction")]
    LockWaitTimeout,
    /// As many wait for the row as may.
    #[error("the row's lock wait queue is full; try restarting transaction")]
    LockQueueFull,
    /// A lock is taken and the request was not to wait.
    #[error("lock could not be acquired immediately and NOWAIT is set")]
    NoWait,
    /// The session's statement was killed.
    #[error("query execution was interrupted")]
    Killed,
    /// What is wanted takes more memory than is allowed.
    #[error("{used} bytes of memory are more than the limit of {limit}")]
    OverMemory {
        /// The limit is that of all sessions together.
        of_all: bool,
        /// The limit in bytes.
        limit: u64,
        /// Bytes that would be in use.
        used: u64,
    },

    // -- tell the user
    /// A unique key exists already. `nth` is the secondary index's position, `None` the clustered index.
    #[error("duplicate entry in index {index}")]
    DuplicateKey {
        /// The index.
        index: IndexId,
        /// Position among the table's secondary indexes.
        nth: Option<usize>,
        /// Primary key of the row that has it.
        pk: Vec<u8>,
    },
    /// A key is longer than the tree can hold.
    #[error("key of {len} bytes is too long")]
    KeyTooLong {
        /// Its length in bytes.
        len: usize,
    },
    /// A row is longer than the engine can hold.
    #[error("row of {len} bytes is too large")]
    RowTooLarge {
        /// Its length in bytes.
        len: usize,
    },
    /// A write in a read-only transaction.
    #[error("cannot execute statement in a READ ONLY transaction")]
    ReadOnly,
    /// No such index.
    #[error("index {0} does not exist")]
    NoSuchIndex(IndexId),

    // -- make room; reads go on
    /// The data file could not grow.
    #[error("no space left on the device")]
    DiskFull,

    // -- the engine has stopped
    /// A write or sync failed: nothing is acknowledged any more.
    #[error("the engine has stopped: {0}")]
    Stopped(String),

    /// A page was changed by redo that the log does not have: log files are missing, or are those of another
    /// time.
    #[error(
        "a page of the data file has changes up to LSN {lsn}, but the redo log ends at {end}: log files are lost or do not belong to the data file"
    )]
    BeyondLog {
        /// The page's LSN.
        lsn: Lsn,
        /// Where the log ends.
        end: Lsn,
    },

    // -- this page cannot be used
    /// Damage was found.
    #[error("damaged {file} at byte {offset}: {what}")]
    Corrupt {
        /// File name in the data directory.
        file: String,
        /// Byte offset of the damage.
        offset: u64,
        /// What is wrong.
        what: String,
    },

    // -- never reaches the engine's user
    /// A row that is to be taken back has been changed again by this transaction, which must be taken back
    /// first.
    #[error("a row was changed again by transaction {0}")]
    Covered(TxnId),
    /// A page is not in memory: load it and run the operation again.
    #[error("page {0} is not in memory")]
    Miss(PageNo),
}

impl From<AllocateError> for Error {
    fn from(error: AllocateError) -> Self {
        match error {
            AllocateError::Full(_) => Error::DiskFull,
            AllocateError::Failed(cause) => Error::Stopped(format!("a file cannot grow: {cause}")),
        }
    }
}
