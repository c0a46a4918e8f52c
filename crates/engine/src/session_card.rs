//! A session's card: what its transactions write about themselves while they run, for people who look. It outlives each
//! transaction, so that beginning one costs no entry in a shared list: whoever looks walks the sessions and reads
//! their cards. Everything in it is written by the session alone, relaxed; a reader sees a picture that may be a moment old.

use crate::admission::Standing;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

/// What a statement does, in InnoDB's words (`trx_operation_state`). Noted once per statement, and around lock waits.
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

/// One per session; handed to the engine with the options of each transaction.
#[derive(Debug, Default)]
pub struct SessionCard {
    connection: u64,
    standing: Arc<Standing>,
    began_us: AtomicU64,
    operation: AtomicU8,
}

impl SessionCard {
    /// The card of a connection. Number 0 is nobody's: an embedding program, or work of the server's own.
    pub fn new(connection: u64) -> Self {
        SessionCard { connection, ..SessionCard::default() }
    }

    /// The connection's number (the thread id of InnoDB's views).
    pub fn connection(&self) -> u64 {
        self.connection
    }

    /// Where the session stands with the admission gate.
    pub fn standing(&self) -> &Arc<Standing> {
        &self.standing
    }

    /// Notes when the session's transaction began, on the clock of whoever runs sessions, in microseconds.
    pub fn note_begin(&self, now_us: u64) {
        self.began_us.store(now_us, Ordering::Relaxed);
    }

    /// When its present or last transaction began.
    pub fn began_us(&self) -> u64 {
        self.began_us.load(Ordering::Relaxed)
    }

    /// Notes what it does from now on.
    #[inline]
    pub fn note(&self, operation: Operation) {
        self.operation.store(operation as u8, Ordering::Relaxed);
    }

    /// What it does.
    pub fn operation(&self) -> Operation {
        let code = self.operation.load(Ordering::Relaxed);
        Operation::ALL.get(usize::from(code)).copied().unwrap_or_default()
    }

    /// The two as a line of SHOW ENGINE INNODB STATUS has them: `fetching rows, thread declared inside InnoDB 383`. Who waits to be
    /// let in does nothing else.
    pub fn activity(&self) -> String {
        use crate::admission::Place;
        let (doing, place) = (self.operation().text(), self.standing.place());
        match place {
            Place::Outside => doing.to_owned(),
            Place::Inside(_) if doing.is_empty() => place.to_string(),
            Place::Inside(_) => format!("{doing}, {place}"),
            Place::Queued | Place::Sleeping => place.to_string(),
        }
    }
}
