//! What people see: every lock and every wait, copied out shard by shard, a few hundred at a time, so that
//! looking delays a statement by microseconds. The picture is true for each shard at its moment, not for all
//! shards at one moment.

use super::mode::{CLASS_INSERT, CLASSES};
use super::mode::{
    GAP_S, GAP_X, LockKind, LockMode, RECORD_S, RECORD_X, TABLE_AI, TABLE_IS, TABLE_IX, TABLE_S, TABLE_X,
};
use super::name::OwnedName;
use super::shard::Shard;
use super::table::LockTable;
use crate::api::TableLock;
use crate::ids::TxnId;
use std::convert::Infallible;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

/// Nodes copied under one hold of a shard's mutex.
const CHUNK: usize = 256;

/// Bytes the lock table keeps for one lock, its share of the name apart.
pub const LOCK_BYTES: u64 = std::mem::size_of::<super::shard::Node>() as u64;

/// Identifies a lock while it exists (ENGINE_LOCK_ID).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LockId {
    /// Start sequence of the transaction.
    pub transaction: u64,
    /// Shard and node of the table.
    pub shard: u32,
    /// Node in the shard.
    pub node: u32,
}

/// What kind of lock, in the words of the views.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockShape {
    /// On a row or the supremum.
    Row(LockMode, LockKind),
    /// On a table.
    Table(TableLock),
}

impl LockShape {
    /// As `performance_schema.data_locks.LOCK_MODE` spells it.
    pub fn label(self) -> &'static str {
        match self {
            LockShape::Row(LockMode::S, LockKind::Record | LockKind::Successor) => "S,REC_NOT_GAP",
            LockShape::Row(LockMode::X, LockKind::Record | LockKind::Successor) => "X,REC_NOT_GAP",
            LockShape::Row(LockMode::S, LockKind::Gap) => "S,GAP",
            LockShape::Row(LockMode::X, LockKind::Gap) => "X,GAP",
            LockShape::Row(LockMode::S, LockKind::NextKey) => "S",
            LockShape::Row(LockMode::X, LockKind::NextKey) => "X",
            LockShape::Row(_, LockKind::InsertIntention) => "X,INSERT_INTENTION",
            LockShape::Table(TableLock::IntentionShared) => "IS",
            LockShape::Table(TableLock::IntentionExclusive) => "IX",
            LockShape::Table(TableLock::Shared) => "S",
            LockShape::Table(TableLock::Exclusive) => "X",
            LockShape::Table(TableLock::AutoIncrement) => "AUTO_INC",
        }
    }
}

/// A lock, held or waited for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LockInfo {
    /// Its id.
    pub id: LockId,
    /// The transaction's id, if it has written.
    pub txn_id: Option<TxnId>,
    /// The connection's number.
    pub session: u64,
    /// What is locked.
    pub name: OwnedName,
    /// How. One hold shows several shapes if it grew in steps.
    pub shapes: Vec<LockShape>,
    /// How long it has waited; `None` if it is held.
    pub waited: Option<Duration>,
}

/// Somebody waits for somebody.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LockWaitInfo {
    /// The waiting request.
    pub requesting: LockId,
    /// A lock in its way, or an earlier request in its way.
    pub blocking: LockId,
}

/// All locks and waits.
#[derive(Clone, Debug, Default)]
pub struct LockSnapshot {
    /// Locks held and requests waiting.
    pub locks: Vec<LockInfo>,
    /// Who waits for whom.
    pub waits: Vec<LockWaitInfo>,
    /// How many of both are counted as memory.
    counted: (usize, usize),
}

impl LockTable {
    /// Copies out all locks and waits.
    pub fn snapshot(&self) -> LockSnapshot {
        match self.try_snapshot(|_| Ok::<(), Infallible>(())) {
            Ok(snapshot) => snapshot,
            Err(never) => match never {},
        }
    }

    /// The same, which takes a multiple of the memory of the locks: `room` is asked for every piece of some
    /// hundred, in bytes, and ends it.
    pub fn try_snapshot<E>(&self, mut room: impl FnMut(usize) -> Result<(), E>) -> Result<LockSnapshot, E> {
        let mut snapshot = LockSnapshot::default();
        for number in self.shard_numbers() {
            let mut next = 0;
            loop {
                let shard = self.shard(number);
                let end = shard.nodes.len().min(next + CHUNK);
                for node in next..end {
                    shard.copy_out(node as u32, &mut snapshot);
                }
                let is_last = end >= shard.nodes.len();
                drop(shard);
                room(snapshot.take_uncounted())?;
                if is_last {
                    break;
                }
                next = end;
            }
        }
        Ok(snapshot)
    }
}

impl LockSnapshot {
    /// Bytes of what was copied since the last call, about: a list that grows is there twice, and whoever
    /// looks sorts it by ids.
    fn take_uncounted(&mut self) -> usize {
        let (locks, waits) = std::mem::replace(&mut self.counted, (self.locks.len(), self.waits.len()));
        let names: usize = self.locks[locks..].iter().map(|lock| lock.name.heap_bytes()).sum();
        let of_lock = 2 * size_of::<LockInfo>() + 4 * size_of::<LockShape>() + size_of::<LockId>();
        names
            + (self.locks.len() - locks) * of_lock
            + (self.waits.len() - waits) * 2 * size_of::<LockWaitInfo>()
    }
}

impl Shard {
    fn copy_out(&self, node: u32, snapshot: &mut LockSnapshot) {
        if self.node(node).txn.is_none() {
            return;
        }
        let info = self.describe(node);
        let requesting = info.id;
        snapshot.locks.push(info);
        if self.node(node).waiter.is_none() {
            return;
        }
        let entry = self.node(node).entry;
        self.each_blocker(node, |blocker| {
            let own = self.own_hold(entry, blocker);
            let waiting = || blocker.inner.lock().wait.as_ref().map(|waiter| waiter.node);
            if let Some(blocking) = own.or_else(waiting) {
                snapshot.waits.push(LockWaitInfo { requesting, blocking: self.lock_id(blocking) });
            }
            ControlFlow::Continue(())
        });
    }

    fn lock_id(&self, node: u32) -> LockId {
        LockId { transaction: self.owner(node).start_sequence(), shard: self.number, node }
    }

    /// A node in words.
    pub fn describe(&self, node: u32) -> LockInfo {
        let (txn, entry) = (self.owner(node), self.entry(self.node(node).entry));
        let (shapes, waited) = match &self.node(node).waiter {
            Some(waiter) => (
                waiting_shape(waiter.want.class, entry.is_table()).into_iter().collect(),
                Some(Instant::now().saturating_duration_since(waiter.since)),
            ),
            None => (held_shapes(self.node(node).bits, entry.is_table()), None),
        };
        LockInfo {
            id: self.lock_id(node),
            txn_id: txn.txn_id(),
            session: txn.session(),
            name: entry.name.clone(),
            shapes,
            waited,
        }
    }
}

const TABLE_SHAPES: [(u8, TableLock); CLASSES] = [
    (TABLE_IS, TableLock::IntentionShared),
    (TABLE_IX, TableLock::IntentionExclusive),
    (TABLE_S, TableLock::Shared),
    (TABLE_X, TableLock::Exclusive),
    (TABLE_AI, TableLock::AutoIncrement),
];

fn waiting_shape(class: u8, is_table: bool) -> Option<LockShape> {
    if is_table {
        return TABLE_SHAPES.get(class as usize).map(|(_, lock)| LockShape::Table(*lock));
    }
    let mode = if class & 1 == 0 { LockMode::S } else { LockMode::X };
    Some(match class {
        CLASS_INSERT => LockShape::Row(LockMode::X, LockKind::InsertIntention),
        0 | 1 => LockShape::Row(mode, LockKind::Record),
        _ => LockShape::Row(mode, LockKind::NextKey),
    })
}

fn held_shapes(bits: u8, is_table: bool) -> Vec<LockShape> {
    if is_table {
        let held = TABLE_SHAPES.iter().filter(|(bit, _)| bits & bit != 0);
        return held.map(|(_, lock)| LockShape::Table(*lock)).collect();
    }
    let of_mode = |mode, record, gap| match (bits & record != 0, bits & gap != 0) {
        (true, true) => Some(LockShape::Row(mode, LockKind::NextKey)),
        (true, false) => Some(LockShape::Row(mode, LockKind::Record)),
        (false, true) => Some(LockShape::Row(mode, LockKind::Gap)),
        (false, false) => None,
    };
    [of_mode(LockMode::X, RECORD_X, GAP_X), of_mode(LockMode::S, RECORD_S, GAP_S)]
        .into_iter()
        .flatten()
        .collect()
}
