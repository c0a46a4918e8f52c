//! Isolation levels. A file of its own, because a session's status names one and the options of a transaction
//! name the status.

/// Isolation level of a transaction, with InnoDB's meaning of each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Isolation {
    /// Consistent reads see the newest version, committed or not.
    ReadUncommitted,
    /// A fresh read view per statement; locking reads lock records, never gaps.
    ReadCommitted,
    /// One read view per transaction; locking scans lock records and gaps.
    RepeatableRead,
    /// As repeatable read, and the layer above turns plain reads into shared locking reads.
    Serializable,
}
