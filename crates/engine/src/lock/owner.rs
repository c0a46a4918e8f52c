//! `TxnLocks`: what the lock table knows of one transaction. Shared by reference between the transaction, the
//! table's nodes and whoever waits; it carries no pointer back to the transaction.
//!
//! ```text
//!   field            written by                              read by
//!   inner            owner; granter; who passes a gap on     owner; deadlock search (its wait): innermost mutex
//!   lock_count       with `inner` locked                     deadlock pre-check (after a fence)
//!   held_bytes       with `inner` locked                     owner, who has it counted
//!   filter           with `inner` and the name's shard       requests of the owner, under the name's shard mutex
//!   waiting          under the shard mutex of the wait       deadlock pre-check and search (SeqCst)
//!   undo_records     owner                                   victim choice
//!   transient        owner                                   requests that met it; its own release
//!   mark             deadlock search, under its mutex        the same
//!   order            under a shard mutex, with `inner`       owner, before its commit; deadlock pre-check
//!   doomed           whoever needs it rolled back            owner, wherever it may stop
//!   waited_for       who begins to wait for it               owner, when it begins to wait
//! ```

use super::hand_on::HandOn;
use super::wait::Waiter;
use crate::ids::{TableId, TxnId};
use smallvec::SmallVec;
use std::sync::Arc;
use turnstile_sys::sync::Mutex;
use turnstile_sys::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

/// One hold, found again without its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct HeldRef {
    pub shard: u32,
    pub node: u32,
}

#[derive(Debug, Default)]
pub(super) struct Inner {
    pub held: SmallVec<[HeldRef; 6]>,
    /// Table locks once more, so that the intention lock of every statement after the first costs no shared
    /// access.
    pub tables: SmallVec<[(TableId, u8); 2]>,
    pub wait: Option<Arc<Waiter>>,
    /// It has inherited a gap, and counts among the owners of gaps for that until its end.
    pub gap_heir: bool,
    /// Set by `release_all`: nobody may add a lock on this transaction's behalf any more.
    pub ended: bool,
    /// Rows handed on before commit, by it and to it.
    pub hand_on: HandOn,
}

/// Memory of one lock: entry, node, map slot and place in the held list, with a key of up to 16 bytes.
const NAME_BYTES: u32 = 136;

/// How much a transaction has locked (`lock struct(s)`, `heap size` and `row lock(s)` of SHOW ENGINE INNODB
/// STATUS).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LockCount {
    /// Names held, and one asked for if it waits.
    pub names: u32,
    /// Those held that are of rows.
    pub rows: u32,
    /// Memory, about.
    pub bytes: u32,
}

/// The locks of one transaction.
#[derive(Debug)]
pub struct TxnLocks {
    pub(super) inner: Mutex<Inner>,
    pub(super) lock_count: AtomicU32,
    /// Memory of what it holds, at most.
    pub(super) held_bytes: AtomicU64,
    /// A bit per hash of every name it ever held: a clear bit spares the walk through a name's holders.
    pub(super) filter: AtomicU64,
    pub(super) waiting: AtomicBool,
    pub(super) mark: AtomicU64,
    /// Rows on which it comes after a transaction that has not ended.
    pub(super) order: AtomicU32,
    pub(super) doomed: AtomicBool,
    /// Somebody has waited for it.
    waited_for: AtomicBool,
    transient: AtomicBool,
    skip_gaps: AtomicBool,
    undo_records: AtomicU64,
    txn_id: AtomicU64,
    session: u64,
    start_sequence: u64,
}

impl TxnLocks {
    /// Locks of a transaction that begins. `start_sequence` grows with every transaction (the younger of two
    /// has the greater); `session` is the connection's number, for monitoring.
    pub fn new(start_sequence: u64, session: u64) -> Arc<Self> {
        Arc::new(TxnLocks {
            inner: Mutex::new(Inner::default()),
            lock_count: AtomicU32::new(0),
            held_bytes: AtomicU64::new(0),
            filter: AtomicU64::new(0),
            waiting: AtomicBool::new(false),
            mark: AtomicU64::new(0),
            order: AtomicU32::new(0),
            doomed: AtomicBool::new(false),
            waited_for: AtomicBool::new(false),
            transient: AtomicBool::new(false),
            skip_gaps: AtomicBool::new(false),
            undo_records: AtomicU64::new(0),
            txn_id: AtomicU64::new(0),
            session,
            start_sequence,
        })
    }

    /// Makes the locks of a finished transaction those of a new one. `None` if somebody still looks at the
    /// old one (a snapshot, a search): then make a new one.
    pub fn recycle(self: &mut Arc<Self>, start_sequence: u64, session: u64) -> Option<()> {
        let locks = Arc::get_mut(self)?;
        let inner = locks.inner.get_mut();
        debug_assert!(
            inner.held.is_empty() && inner.wait.is_none(),
            "only a finished transaction is recycled"
        );
        inner.ended = false;
        inner.tables.clear();
        inner.hand_on.clear();
        *locks.order.get_mut() = 0;
        *locks.doomed.get_mut() = false;
        *locks.waited_for.get_mut() = false;
        *locks.lock_count.get_mut() = 0;
        *locks.held_bytes.get_mut() = 0;
        *locks.filter.get_mut() = 0;
        *locks.transient.get_mut() = false;
        *locks.skip_gaps.get_mut() = false;
        *locks.undo_records.get_mut() = 0;
        *locks.txn_id.get_mut() = 0;
        // It may come from another engine's table, where searches have other numbers.
        *locks.mark.get_mut() = 0;
        locks.start_sequence = start_sequence;
        locks.session = session;
        Some(())
    }

    /// Position in the order in which transactions began.
    pub fn start_sequence(&self) -> u64 {
        self.start_sequence
    }
    /// The connection's number.
    pub fn session(&self) -> u64 {
        self.session
    }
    /// The transaction's id, once it has written.
    pub fn txn_id(&self) -> Option<TxnId> {
        Some(self.txn_id.load(Ordering::Relaxed)).filter(|id| *id != 0).map(TxnId)
    }
    /// Tells the id, at the first write.
    pub fn set_txn_id(&self, id: TxnId) {
        self.txn_id.store(id.0, Ordering::Relaxed);
    }
    /// Undo records written so far, by which the victim of a deadlock is chosen. Set by the owner whenever it
    /// has written one.
    pub fn set_undo_records(&self, count: u64) {
        self.undo_records.store(count, Ordering::Relaxed);
    }
    /// Undo records that stand: what rolling this transaction back would undo.
    pub fn undo_records(&self) -> u64 {
        self.undo_records.load(Ordering::Relaxed)
    }
    /// What it holds and asks for now.
    pub fn lock_totals(&self) -> LockCount {
        let inner = self.inner.lock();
        let asks = u32::from(inner.wait.is_some());
        let tables = inner.tables.iter().filter(|(_, bits)| *bits != 0).count() as u32;
        let names = inner.held.len() as u32;
        LockCount {
            names: names + asks,
            rows: names.saturating_sub(tables),
            bytes: (names + asks) * NAME_BYTES,
        }
    }
    /// Names on which it holds locks.
    pub fn lock_count(&self) -> u32 {
        self.lock_count.load(Ordering::Relaxed)
    }
    /// Memory that its holds take at most.
    #[inline]
    pub fn held_bytes(&self) -> u64 {
        self.held_bytes.load(Ordering::Relaxed)
    }
    /// Whether its locks are short: it is an autocommit statement that runs right now and will release them
    /// before it waits for anything. The owner sets it when such a statement starts and must clear it before
    /// any other wait than a lock wait (which does so itself).
    pub fn is_transient(&self) -> bool {
        self.transient.load(Ordering::Relaxed)
    }
    /// See [`TxnLocks::is_transient`].
    pub fn set_transient(&self, transient: bool) {
        self.transient.store(transient, Ordering::Relaxed);
    }
    /// Whether gap inheritance passes this transaction's record locks by (READ COMMITTED and below).
    pub fn set_skip_gaps(&self, skip: bool) {
        self.skip_gaps.store(skip, Ordering::Relaxed);
    }
    pub(super) fn skips_gaps(&self) -> bool {
        self.skip_gaps.load(Ordering::Relaxed)
    }
    /// Whether it waits for a lock at this moment.
    pub fn is_waiting(&self) -> bool {
        self.waiting.load(Ordering::SeqCst)
    }

    /// Whether it must come after another transaction that has not ended: it builds on what that one has
    /// written.
    #[inline]
    pub fn follows(&self) -> bool {
        self.order.load(Ordering::SeqCst) != 0
    }
    /// Whether it must be rolled back as a whole, because a transaction that it comes after is.
    #[inline]
    pub fn is_doomed(&self) -> bool {
        self.doomed.load(Ordering::SeqCst)
    }

    /// Whether others have waited for it since it began.
    #[inline]
    pub fn is_waited_for(&self) -> bool {
        self.waited_for.load(Ordering::SeqCst)
    }
    /// Somebody waits for it. True: it is the first.
    pub(super) fn note_waited_for(&self) -> bool {
        !self.is_waited_for() && !self.waited_for.swap(true, Ordering::SeqCst)
    }

    pub(super) fn may_hold(&self, hash: u64) -> bool {
        self.filter.load(Ordering::Relaxed) & filter_bit(hash) != 0
    }
    /// Notes a new hold. With `inner` locked, so that plain stores do: this is on the path of every row.
    pub(super) fn note_hold(&self, inner: &mut Inner, held: HeldRef, hash: u64, bytes: u64) {
        inner.held.push(held);
        self.lock_count.store(inner.held.len() as u32, Ordering::Relaxed);
        self.held_bytes.store(self.held_bytes.load(Ordering::Relaxed) + bytes, Ordering::Relaxed);
        self.filter.store(self.filter.load(Ordering::Relaxed) | filter_bit(hash), Ordering::Relaxed);
    }
}

fn filter_bit(hash: u64) -> u64 {
    1 << (hash >> 20 & 63)
}
