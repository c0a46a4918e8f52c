//! What every transaction works with: storage, trees, registry, lanes, locks, settings, counters; and the
//! list of abandoned transactions that a background thread rolls back.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use parking_lot::{Condvar, Mutex};

use crate::admission::{Gate, Purpose};
use crate::api::{Config, Settings};
use crate::btree::{IndexDirectory, Tree};
use crate::buffer::Storage;
use crate::error::Result;
use crate::ids::{IndexId, PageNo, TxnId};
use crate::lock::LockTable;
use crate::stats::Stats;

use super::counters::Counters;
use super::dead_undo::DeadUndo;
use super::lane::LaneHold;
use super::lanes::Lanes;
use super::lock_calls::TxnLockState;
use super::purge_crew::PurgeCrew;
use super::registry::Registry;

/// The shared heart of an engine.
pub struct Kernel {
    /// Pages, log, space.
    pub storage: Arc<Storage>,
    /// The trees.
    pub indexes: IndexDirectory,
    /// Active transactions and read views.
    pub registry: Registry,
    /// Undo lanes.
    pub lanes: Lanes,
    /// Durable counters of indexes.
    pub counters: Counters,
    /// Row and table locks.
    pub locks: Arc<LockTable>,
    /// Live settings.
    pub settings: Arc<Settings>,
    /// Admits statements.
    pub gate: Arc<Gate>,
    /// Admits commits to the log.
    pub commit_gate: Arc<Gate>,
    /// Counters.
    pub stats: Stats,
    /// Numbers transactions in the order in which they began, for deadlock victims.
    pub begin_sequence: AtomicU64,
    /// How far above the ids in use the durable mark is raised.
    pub ids_ahead: u64,
    /// Held by whoever raises the mark. Outermost: no latch is held when it is taken.
    pub raising_mark: Mutex<()>,
    /// Undo records cut off between views.
    pub dead_undo: DeadUndo,
    /// The threads that purge, and how far they are.
    pub purge: PurgeCrew,
    background: Mutex<Background>,
    wake: Condvar,
    /// The engine is closing: background threads end.
    closing: AtomicBool,
}

/// A transaction that was dropped before its end.
#[derive(Debug)]
pub struct Orphan {
    /// Its id.
    pub id: TxnId,
    /// Its lane.
    pub hold: LaneHold,
    /// Its locks.
    pub locks: TxnLockState,
}

#[derive(Default)]
struct Background {
    orphans: VecDeque<Box<Orphan>>,
    /// Orphans taken and not yet rolled back.
    in_hand: Vec<TxnId>,
}

impl Kernel {
    /// Puts the parts together.
    pub fn new(
        storage: Arc<Storage>,
        indexes: IndexDirectory,
        registry: Registry,
        (lanes, counters): (Lanes, Counters),
        locks: Arc<LockTable>,
        config: &Config,
    ) -> Self {
        let settings = config.settings.clone();
        Kernel {
            storage,
            indexes,
            registry,
            lanes,
            counters,
            locks,
            gate: Gate::new(settings.clone(), Purpose::Statements),
            commit_gate: Gate::new(settings.clone(), Purpose::Commits),
            settings,
            stats: Stats::default(),
            begin_sequence: AtomicU64::new(1),
            ids_ahead: config.txn_ids_ahead.max(1),
            raising_mark: Mutex::default(),
            dead_undo: DeadUndo::default(),
            purge: PurgeCrew::default(),
            background: Mutex::default(),
            wake: Condvar::new(),
            closing: AtomicBool::new(false),
        }
    }

    /// The tree of an index.
    #[inline]
    pub fn tree(&self, index: IndexId) -> Result<Arc<Tree>> {
        self.indexes.get(index)
    }

    /// The page-read wait.
    pub async fn load(&self, page: PageNo) -> Result<()> {
        self.storage.pool.load(page).await.map(drop)
    }

    /// Takes over a transaction that was dropped before its end.
    pub fn abandon(&self, orphan: Box<Orphan>) {
        self.background.lock().orphans.push_back(orphan);
        self.wake.notify_all();
    }

    /// The next abandoned transaction, if there is one; [`Kernel::orphan_done`] must follow.
    pub fn take_orphan(&self) -> Option<Box<Orphan>> {
        let mut background = self.background.lock();
        let orphan = background.orphans.pop_front()?;
        background.in_hand.push(orphan.id);
        Some(orphan)
    }

    /// An abandoned transaction has been dealt with.
    pub fn orphan_done(&self, id: TxnId) {
        self.background.lock().in_hand.retain(|one| *one != id);
    }

    /// Transactions whose sessions are gone and that are not rolled back yet.
    pub fn orphan_ids(&self) -> Vec<TxnId> {
        let background = self.background.lock();
        let waiting = background.orphans.iter().map(|orphan| orphan.id);
        waiting.chain(background.in_hand.iter().copied()).collect()
    }

    /// Sleeps until there is an orphan, the engine closes, or the time is up.
    pub fn background_sleep(&self, at_most: std::time::Duration) {
        let mut background = self.background.lock();
        if background.orphans.is_empty() && !self.is_closing() {
            self.wake.wait_for(&mut background, at_most);
        }
    }

    /// Sleeps, but not while the engine closes.
    pub fn purge_sleep(&self, at_most: std::time::Duration) {
        let mut background = self.background.lock();
        if !self.is_closing() {
            self.wake.wait_for(&mut background, at_most);
        }
    }

    /// Tells background threads to end.
    pub fn begin_closing(&self) {
        let _background = self.background.lock();
        self.closing.store(true, Ordering::SeqCst);
        self.wake.notify_all();
        self.purge.close();
    }

    /// Ended transactions of which purge, or a reader, may still want the undo: MySQL's history list.
    pub fn history_length(&self) -> u64 {
        self.lanes.history_length().saturating_sub(self.dead_undo.transactions())
    }

    /// Whether background threads are to end.
    pub fn is_closing(&self) -> bool {
        self.closing.load(Ordering::SeqCst)
    }
}
