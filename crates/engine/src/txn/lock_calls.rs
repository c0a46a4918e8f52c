//! How a transaction asks the lock table: its own part of the lock room's state, and the calls with this
//! room's options (timeout, interrupt, short locks of autocommit statements) filled in.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::api::{LockWait, RowLock, TableDef, TableLock, TxnOptions};
use crate::btree::Tree;
use crate::error::{Error, Result};
use crate::ids::{IndexId, TableId, TxnId};
use crate::interrupt::Interrupt;
use crate::lock::{LockMode, LockName, Patience, TxnLocks};
use crate::session_status::{LockMemory, Operation, SessionStatus, WaitingFor};

pub use crate::lock::{Grant, LockKind};

use super::admitted::outside;
use super::kernel::Kernel;
use super::transaction::{Txn, locks_gaps};

/// The lock name of a gap: what is behind it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GapName {
    /// This key.
    Key(Vec<u8>),
    /// The end of the index.
    Supremum,
    /// Nobody locks gaps at the moment, so the name was not looked up.
    Nobody,
}

impl GapName {
    fn name(&self, index: IndexId) -> Option<LockName<'_>> {
        match self {
            GapName::Key(key) => Some(LockName::row(index, key)),
            GapName::Supremum => Some(LockName::Supremum(index)),
            GapName::Nobody => None,
        }
    }
}

/// A lock that is waited for.
enum Request<'n> {
    Record(LockName<'n>, LockMode, LockKind),
    Table(TableId, TableLock),
}

fn patience(options: &TxnOptions) -> Patience<'_> {
    Patience {
        timeout: Duration::from_millis(options.lock_wait_timeout_ms),
        interrupt: Some(&options.interrupt),
    }
}

fn mode(lock: RowLock) -> LockMode {
    match lock {
        RowLock::Shared => LockMode::S,
        RowLock::Exclusive => LockMode::X,
    }
}

thread_local! {
    /// Locks of finished transactions of this thread, to be used again.
    static SPARE: RefCell<Vec<Arc<TxnLocks>>> = const { RefCell::new(Vec::new()) };
}
const SPARE_MAX: usize = 8;

/// Locks are counted in pieces of so many bytes: a transaction with few of them touches nobody's count.
const PIECE_BYTES: u64 = 16 << 10;
/// One verb on rows takes locks of so many bytes at most before the next one has them counted.
const VERB_BYTES: u64 = 4 << 20;

/// Memory of locks that was counted; given back when it is dropped, after the locks.
#[derive(Debug, Default)]
struct Counted {
    memory: Option<Arc<dyn LockMemory>>,
    bytes: u64,
}

impl Drop for Counted {
    fn drop(&mut self) {
        if let Some(memory) = self.memory.as_ref().filter(|_| self.bytes > 0) {
            memory.give_back(self.bytes);
        }
    }
}

/// What one owner of locks passes to the next: the locks, whether they count among those with gaps, and their
/// memory.
#[derive(Debug)]
pub struct Legacy {
    locks: Option<Arc<TxnLocks>>,
    has_gaps: bool,
    memory: Counted,
}

/// A transaction's locks.
#[derive(Debug)]
pub struct TxnLockState {
    locks: Option<Arc<TxnLocks>>,
    memory: Counted,
    /// It counts among those that hold gaps.
    counted: bool,
    transient: bool,
    /// It has changed a row that may be handed on, or got one: its session is to be reached.
    in_chain: AtomicBool,
    /// The connection, for monitoring.
    session: u64,
}

impl TxnLockState {
    /// No locks yet; nothing is made before the first request.
    pub fn new(options: &TxnOptions) -> Self {
        let session = options.status.connection();
        let memory = Counted::default();
        let transient = options.autocommit;
        TxnLockState {
            locks: None,
            memory,
            counted: false,
            transient,
            in_chain: AtomicBool::new(false),
            session,
        }
    }

    /// The state that the lock room shares, made at the first request.
    fn shared(&mut self, kernel: &Kernel, skip_gaps: bool, id: TxnId, records: u64) -> &Arc<TxnLocks> {
        let (transient, session) = (self.transient, self.session);
        self.locks.get_or_insert_with(|| {
            let sequence = kernel.begin_sequence.fetch_add(1, Ordering::Relaxed);
            let mut spare = SPARE.with_borrow_mut(Vec::pop);
            let locks = match spare.as_mut().and_then(|spare| spare.recycle(sequence, session)) {
                Some(()) => spare.expect("it was recycled a moment ago"),
                None => TxnLocks::new(sequence, session),
            };
            locks.set_transient(transient);
            locks.set_skip_gaps(skip_gaps);
            if id.0 != 0 {
                locks.set_txn_id(id);
                locks.set_undo_records(records);
            }
            locks
        })
    }

    /// Whether the transaction holds, or waits for, a lock.
    pub fn holds_any(&self) -> bool {
        self.locks.as_ref().is_some_and(|locks| locks.lock_count() > 0)
    }

    /// Tells the transaction's id, at its first write.
    pub fn set_id(&self, id: TxnId) {
        if let Some(locks) = &self.locks {
            locks.set_txn_id(id);
        }
    }

    /// Whether it has asked for a lock.
    pub fn has_any(&self) -> bool {
        self.locks.is_some()
    }

    /// Tells how much a rollback would undo.
    #[inline]
    pub fn set_undo_records(&self, count: u64) {
        if let Some(locks) = &self.locks {
            locks.set_undo_records(count);
        }
    }

    /// Around a wait that is not for a lock: locks are not short meanwhile.
    pub fn set_waiting(&self, waiting: bool) {
        if self.transient
            && let Some(locks) = &self.locks
        {
            locks.set_transient(!waiting);
        }
    }

    /// Bytes of locks that nobody has counted yet.
    #[inline]
    fn uncounted_bytes(&self) -> u64 {
        self.locks.as_ref().map_or(0, |locks| locks.held_bytes().saturating_sub(self.memory.bytes))
    }

    /// Has the locks counted by whoever limits their memory, if they have become more by a piece.
    #[inline]
    fn count_memory(&mut self, status: &SessionStatus) -> Result<()> {
        let more = self.uncounted_bytes();
        if more < PIECE_BYTES { Ok(()) } else { self.count_more(more, status) }
    }

    #[cold]
    fn count_more(&mut self, more: u64, status: &SessionStatus) -> Result<()> {
        if let Some(memory) = status.lock_memory() {
            memory.take(more)?;
            self.memory.memory.get_or_insert_with(|| memory.clone());
        }
        self.memory.bytes += more;
        Ok(())
    }

    /// Releases everything; the transaction has ended.
    pub fn release_all(&mut self, kernel: &Kernel) {
        if let Some(locks) = self.locks.take() {
            self.uncount(kernel);
            *self.in_chain.get_mut() = false;
            release(kernel, locks);
            self.memory = Counted::default();
        }
    }

    /// Hands the locks over to whoever ends the transaction. Its session goes on: what becomes of the
    /// transaction is no business of whatever that does next.
    pub fn take(&mut self) -> Legacy {
        if let Some(locks) = &self.locks {
            locks.forget_interrupt();
        }
        Legacy {
            locks: self.locks.take(),
            has_gaps: std::mem::take(&mut self.counted),
            memory: std::mem::take(&mut self.memory),
        }
    }

    /// The state of locks that were taken over.
    pub fn taken_over(legacy: Legacy) -> Self {
        let Legacy { locks, has_gaps, memory } = legacy;
        TxnLockState {
            locks,
            memory,
            counted: has_gaps,
            transient: false,
            in_chain: AtomicBool::new(false),
            session: 0,
        }
    }

    /// What the lock room shares, if anything was asked for.
    pub fn known(&self) -> Option<&Arc<TxnLocks>> {
        self.locks.as_ref()
    }

    /// Whether rows of it may be handed on, or were handed to it.
    #[inline]
    pub fn in_chain(&self) -> bool {
        self.in_chain.load(Ordering::Relaxed)
    }

    /// From now on its session must be reached. False: it is doomed already.
    pub fn enter_chain(&self, interrupt: &Arc<Interrupt>) -> bool {
        self.in_chain.store(true, Ordering::Relaxed);
        let Some(locks) = &self.locks else { return true };
        locks.set_interrupt(interrupt);
        !locks.is_doomed()
    }

    fn count(&mut self, kernel: &Kernel) {
        if !self.counted {
            self.counted = true;
            kernel.locks.count_gap_owner();
        }
    }

    fn uncount(&mut self, kernel: &Kernel) {
        if std::mem::take(&mut self.counted) {
            kernel.locks.uncount_gap_owner();
        }
    }
}

/// Releases a transaction's locks for good.
pub fn release(kernel: &Kernel, locks: Arc<TxnLocks>) {
    kernel.locks.release_all(&locks);
    SPARE.with_borrow_mut(|spare| {
        if spare.len() < SPARE_MAX {
            spare.push(locks);
        }
    });
}

impl Txn {
    fn locks(&mut self) -> &Arc<TxnLocks> {
        self.asking().1
    }

    /// The kernel and the transaction's locks. The kernel is lent, not cloned: its count of owners is one
    /// cache line for all workers.
    fn asking(&mut self) -> (&Kernel, &Arc<TxnLocks>) {
        let skip_gaps = !locks_gaps(self);
        (&self.kernel, self.locks.shared(&self.kernel, skip_gaps, self.id, self.records))
    }

    /// Requests a lock and waits for it: outside the gate, and in again before the next row. To those who
    /// look, a change that waits for a record's lock still looks for its row.
    async fn await_lock(&mut self, request: Request<'_>) -> Result<Grant> {
        let locks = self.locks().clone();
        let Txn { kernel, options, ticket, .. } = self;
        let doing = options.status.operation();
        if doing == Operation::UpdatingOrDeleting {
            options.status.note(Operation::StartingIndexRead);
        }
        let patience = patience(options);
        let note = options.status.waits(match request {
            Request::Record(..) => WaitingFor::RowLock,
            Request::Table(..) => WaitingFor::TableLock,
        });
        let acquired = match request {
            Request::Record(name, mode, kind) => {
                outside(ticket, kernel.locks.acquire(&locks, name, mode, kind, patience)).await
            }
            Request::Table(id, lock) => {
                outside(ticket, kernel.locks.acquire_table(&locks, id, lock, patience)).await
            }
        };
        drop(note);
        options.status.note(doing);
        let acquired = match acquired {
            Err(Error::Killed | Error::Deadlock) if self.order().is_doomed() => Err(Error::GroupRolledBack),
            acquired => acquired,
        };
        if self.admission_is_due() && acquired.is_ok() {
            Box::pin(self.come_in()).await?;
        }
        acquired
    }

    /// Every verb that locks rows begins with it: what it and those before it have locked is counted, or it
    /// does not begin.
    #[inline]
    pub(crate) fn count_locks(&mut self) -> Result<()> {
        self.locks.count_memory(&self.options.status)
    }

    fn note_gaps(&mut self, kind: LockKind) {
        debug_assert!(self.locks.uncounted_bytes() < VERB_BYTES, "a verb locks rows and counts them nowhere");
        if matches!(kind, LockKind::Gap | LockKind::NextKey) {
            self.locks.count(&self.kernel);
        }
    }

    /// Locks a row, waiting as `wait` says. `Conflict` only if rows that are locked are to be skipped.
    pub(crate) async fn lock_row(
        &mut self,
        index: IndexId,
        key: &[u8],
        lock: RowLock,
        kind: LockKind,
        wait: LockWait,
    ) -> Result<Grant> {
        match (self.try_lock_row(index, key, lock, kind), wait) {
            (Grant::Conflict, LockWait::Wait) => {}
            // Its own row, which it has handed on: that is asked back.
            (Grant::Conflict, _) if self.order().has_handed_on(index, key) => {}
            (Grant::Conflict, LockWait::NoWait) => return Err(Error::NoWait),
            (grant, _) => return Ok(grant),
        }
        let request = Request::Record(LockName::row(index, key), mode(lock), kind);
        // In a box, so that a statement that need not wait carries no room for it.
        Box::pin(self.await_lock(request)).await
    }

    /// Locks a row if that needs no wait. Allowed under latches.
    pub(crate) fn try_lock_row(
        &mut self,
        index: IndexId,
        key: &[u8],
        lock: RowLock,
        kind: LockKind,
    ) -> Grant {
        self.note_gaps(kind);
        let (kernel, locks) = self.asking();
        kernel.locks.try_acquire(locks, LockName::row(index, key), mode(lock), kind)
    }

    /// Gives back a record lock that turned out not to be wanted.
    pub(crate) fn unlock_row(&mut self, index: IndexId, key: &[u8], lock: RowLock) {
        let (kernel, locks) = self.asking();
        kernel.locks.release_one(locks, LockName::row(index, key), mode(lock), LockKind::Record);
    }

    /// Locks the X record of a secondary entry that is to lose its delete mark, if that needs no wait.
    pub(crate) fn try_entry_lock(&mut self, tree: &Tree, key: &[u8]) -> Grant {
        self.try_lock_row(tree.index(), key, RowLock::Exclusive, LockKind::Record)
    }

    /// Claims a gap; gap locks never wait.
    pub(crate) fn try_gap(&mut self, tree: &Tree, gap: &GapName, lock: RowLock) {
        self.note_gaps(LockKind::Gap);
        if let Some(name) = gap.name(tree.index()) {
            let (kernel, locks) = self.asking();
            kernel.locks.try_acquire(locks, name, mode(lock), LockKind::Gap);
        }
    }

    /// Asks whether the gap is free for an insertion.
    pub(crate) fn try_insert_intention(&mut self, tree: &Tree, gap: &GapName) -> Grant {
        match gap.name(tree.index()) {
            None => Grant::Held,
            Some(name) => {
                let (kernel, locks) = self.asking();
                kernel.locks.try_acquire(locks, name, LockMode::X, LockKind::InsertIntention)
            }
        }
    }

    /// Waits until the gap is free for an insertion.
    pub(crate) async fn wait_insert_intention(&mut self, index: IndexId, gap: &GapName) -> Result<()> {
        if let Some(name) = gap.name(index) {
            Box::pin(self.await_lock(Request::Record(name, LockMode::X, LockKind::InsertIntention))).await?;
        }
        Ok(())
    }

    /// Locks a whole table until the end of the transaction.
    pub async fn lock_table(&mut self, table: &TableDef, lock: TableLock) -> Result<()> {
        self.count_locks()?;
        self.await_lock(Request::Table(table.id, lock)).await?;
        Ok(())
    }

    /// Releases a table lock before the end of the transaction.
    pub fn unlock_table(&mut self, table: &TableDef, lock: TableLock) {
        let (kernel, locks) = self.asking();
        kernel.locks.release_table(locks, table.id, lock);
    }

    /// Whether anybody may hold gap locks, so that insertions must ask. The caller has the leaf latched,
    /// under which gaps are claimed.
    pub(crate) fn gaps_matter(&self) -> bool {
        self.kernel.locks.has_gap_owners()
    }
}

/// A row is being inserted before `gap`'s name: who locked the gap has now both halves.
pub(crate) fn inherit_gap(kernel: &Kernel, index: IndexId, gap: &GapName, key: &[u8]) {
    if let Some(next) = gap.name(index) {
        kernel.locks.inherit_on_insert(LockName::row(index, key), next);
    }
}

/// A row is being removed: its locks become locks on the gap before its successor, whose owners count among
/// those of gaps from then on.
pub(crate) fn inherit_all(kernel: &Kernel, index: IndexId, key: &[u8], successor: &GapName) {
    if let Some(next) = successor.name(index) {
        kernel.locks.inherit_on_remove(LockName::row(index, key), next);
    }
}
