//! Modes and the matrix: what a lock holds, what it must wait for.
//!
//! A lock on a name is kept as *bits*, one set per transaction and name, so that a transaction that holds a
//! gap and later the record has one hold with two bits. A request is a [`Want`]: the bits it will hold, and
//! the bits of others it must wait for. The whole compatibility matrix of InnoDB is the column `conflicts` of
//! the table below and nothing else:
//!
//! ```text
//!   request                holds        waits for others' ...
//!   S record               RS           RX                     the record: readers and one writer
//!   X record               RX           RS RX
//!   S gap, X gap           GS / GX      nothing                a gap lock only keeps inserts out
//!   S next-key             RS GS        RX                     record and the gap before it
//!   X next-key             RX GX        RS RX
//!   insert intention       nothing      GS GX                  a question, not a claim: granted, it leaves no trace
//!   on the supremum        the record part falls away: next-key and record there mean gap
//!   table IS IX S X AI     own bit      X | S X | IX X AI | all | S X AI
//! ```

use crate::api::TableLock;

/// Shared or exclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LockMode {
    /// Shared: others may share.
    S,
    /// Exclusive.
    X,
}

/// Which part of a row's name a lock covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LockKind {
    /// The record alone (`REC_NOT_GAP`).
    Record,
    /// The record alone, by a change of that one row: it may build on a version that is not committed yet, if
    /// its writer hands the row on (`hand_on.rs`).
    Successor,
    /// The open interval before the record (`GAP`).
    Gap,
    /// Both.
    NextKey,
    /// The wish to insert into the gap before the record (`INSERT_INTENTION`).
    InsertIntention,
}

/// Bits of a hold on a row name.
pub(super) const RECORD_S: u8 = 1;
pub(super) const RECORD_X: u8 = 2;
pub(super) const GAP_S: u8 = 4;
pub(super) const GAP_X: u8 = 8;
pub(super) const GAP: u8 = GAP_S | GAP_X;
/// Bits of a hold on a table name.
pub(super) const TABLE_IS: u8 = 1;
pub(super) const TABLE_IX: u8 = 2;
pub(super) const TABLE_S: u8 = 4;
pub(super) const TABLE_X: u8 = 8;
pub(super) const TABLE_AI: u8 = 16;
/// Most bits a hold has; holders are counted per bit.
pub(super) const BITS: usize = 5;

/// A request, taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Want {
    /// Held once granted.
    pub bits: u8,
    /// Bits of other transactions that it waits for.
    pub conflicts: u8,
    /// What it is called among waiters: position in `ROW_CLASSES` or `TABLE_CLASSES`.
    pub class: u8,
    /// It takes a row that is handed on before commit.
    pub follows: bool,
}

/// Number of classes of requests that can wait on one name.
pub(super) const CLASSES: usize = 5;
/// Class of requests that never wait.
const NEVER_WAITS: u8 = u8::MAX;

const fn want(bits: u8, conflicts: u8, class: u8) -> Want {
    Want { bits, conflicts, class, follows: false }
}

/// Requests on rows that can wait, by class.
pub(super) const ROW_CLASSES: [Want; CLASSES] = [
    want(RECORD_S, RECORD_X, 0),
    want(RECORD_X, RECORD_S | RECORD_X, 1),
    want(RECORD_S | GAP_S, RECORD_X, 2),
    want(RECORD_X | GAP_X, RECORD_S | RECORD_X, 3),
    want(0, GAP, 4),
];
/// Requests on tables, by class.
pub(super) const TABLE_CLASSES: [Want; CLASSES] = [
    want(TABLE_IS, TABLE_X, 0),
    want(TABLE_IX, TABLE_S | TABLE_X, 1),
    want(TABLE_S, TABLE_IX | TABLE_X | TABLE_AI, 2),
    want(TABLE_X, TABLE_IS | TABLE_IX | TABLE_S | TABLE_X | TABLE_AI, 3),
    want(TABLE_AI, TABLE_S | TABLE_X | TABLE_AI, 4),
];
/// Class of the insert intention.
pub(super) const CLASS_INSERT: u8 = 4;

impl Want {
    /// A request on a row's name.
    pub(super) fn row(mode: LockMode, kind: LockKind, supremum: bool) -> Want {
        let exclusive = mode == LockMode::X;
        match kind {
            LockKind::InsertIntention => ROW_CLASSES[CLASS_INSERT as usize],
            LockKind::Gap => want(if exclusive { GAP_X } else { GAP_S }, 0, NEVER_WAITS),
            _ if supremum => want(if exclusive { GAP_X } else { GAP_S }, 0, NEVER_WAITS),
            LockKind::Record => ROW_CLASSES[usize::from(exclusive)],
            LockKind::Successor => Want { follows: exclusive, ..ROW_CLASSES[usize::from(exclusive)] },
            LockKind::NextKey => ROW_CLASSES[2 + usize::from(exclusive)],
        }
    }

    /// A request on a table.
    pub(super) fn table(lock: TableLock) -> Want {
        TABLE_CLASSES[match lock {
            TableLock::IntentionShared => 0,
            TableLock::IntentionExclusive => 1,
            TableLock::Shared => 2,
            TableLock::Exclusive => 3,
            TableLock::AutoIncrement => 4,
        }]
    }

    /// Whether a request by one who holds `own` on this name *converts*: it waits for other holders only and
    /// goes before those who hold nothing. Either they wait for its hold anyway (waiting behind them would be
    /// a deadlock), or its own hold would seem to block it. A gap alone is no head start towards the record.
    pub(super) fn converts(self, own: u8, is_table: bool) -> bool {
        let head_start = if is_table { u8::MAX } else { self.conflicts | RECORD_S | RECORD_X };
        own & head_start != 0
    }

    /// Whether a transaction that holds `own` on this name need not ask: each part is there, or a stronger
    /// one is.
    pub(super) fn is_covered_by(self, own: u8, is_table: bool) -> bool {
        if self.bits == 0 {
            return false;
        }
        let mut covers = own;
        if is_table {
            if own & TABLE_X != 0 {
                covers |= TABLE_IS | TABLE_IX | TABLE_S | TABLE_AI;
            }
            if own & (TABLE_IX | TABLE_S) != 0 {
                covers |= TABLE_IS;
            }
        } else {
            // X covers S, of the record and of the gap: `RECORD_X >> 1` is `RECORD_S`, `GAP_X >> 1` is
            // `GAP_S`.
            covers |= (own & (RECORD_X | GAP_X)) >> 1;
        }
        self.bits & !covers == 0
    }
}

/// The classes of a name's waiters.
pub(super) fn classes(is_table: bool) -> &'static [Want; CLASSES] {
    if is_table { &TABLE_CLASSES } else { &ROW_CLASSES }
}
