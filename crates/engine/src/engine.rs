//! The facade: opening and closing an engine, its background threads, indexes, and the wait for durability.
//!
//! Threads: `purge` drops what no view can see, with `purge-N` to help it when there is much, and `rollback`
//! takes back transactions that were dropped before their end. They end when the engine closes, and when the
//! log has stopped they idle.

use std::ops::{Bound, ControlFlow};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use parking_lot::Mutex;
use turnstile_sys::disk::Disk;
use turnstile_sys::fault_disk::FaultDisk;
use turnstile_sys::relief;

use crate::admission::Gate;
use crate::api::{Config, PurgeStatus, Settings, TableDef, TxnOptions};
use crate::btree::adaptive_hash::AdaptiveHash;
use crate::btree::{
    Direction, IndexState, Report, SAMPLED_LEAVES, Tree, TreeSample, TreeSize, WalkState, records_between,
    sample, verify,
};
use crate::buffer::{Storage, StorageConfig, with_pages_blocking};
use crate::error::{Error, Result};
use crate::ids::{IndexId, Lsn, TxnId};
use crate::page::Record;
use crate::recovery::{finish_drop, restart, roll_back_orphan};
use crate::row::build::build_secondary;
use crate::row::purge::{Round, purge_round, work_off};
use crate::row::value::writer_of;
use crate::row::value::{Payload, RowValue};
use crate::row::version::check_writer;
use crate::stats::Stats;
use crate::txn::Txn;
use crate::txn::counters::{CounterSlot, Counters};
use crate::txn::kernel::Kernel;
use crate::wal::{Drive, FlushMode};

/// Until an abandoned transaction, whose rows others have built upon, is looked at again.
const COVERED_PAUSE: Duration = Duration::from_millis(1);
/// How long purge sleeps when there was nothing to do.
const PURGE_IDLE: Duration = Duration::from_millis(50);
/// How long purge sleeps when it has caught up a moment ago.
const PURGE_PAUSE: Duration = Duration::from_millis(5);
/// How long purge sleeps after a round that `innodb_max_purge_size` has ended.
const PURGE_BREATH: Duration = Duration::from_micros(500);
/// For so many rounds a view must have been the oldest before interior purge goes behind it. A view that
/// lives shorter keeps little.
const OLD_VIEW_ROUNDS: u32 = 4;
/// How long the rollback thread sleeps when nobody calls it.
const ROLLBACK_IDLE: Duration = Duration::from_secs(1);

/// A slower sync is left to the log's thread, so that a worker's other sessions need not wait for it. Also
/// one that has just turned out to be: whoever ends a turn meanwhile does not join it.
const INLINE_SYNC_US_MAX: u64 = 1000;

/// The engine.
pub struct Engine {
    kernel: Arc<Kernel>,
    threads: Mutex<Vec<JoinHandle<()>>>,
    losers: usize,
    /// Opened without threads.
    quiet: bool,
    host_turns: AtomicBool,
}

impl Engine {
    /// Opens the database on `disk`, recovering it if it was not closed; creates it if there is none.
    pub fn open(disk: Arc<dyn Disk>, config: Config) -> Result<Arc<Engine>> {
        Self::open_with(disk, config, true)
    }

    /// An engine whose disk is memory: for tests and trials. Everything is gone when it is dropped.
    pub fn open_memory(config: Config) -> Result<Arc<Engine>> {
        Self::open(Arc::new(FaultDisk::new(0)), config)
    }

    /// As [`Engine::open`] without any thread: reads block, nothing is purged or flushed unless asked. For
    /// deterministic tests.
    pub fn open_quiet(disk: Arc<dyn Disk>, config: Config) -> Result<Arc<Engine>> {
        Self::open_with(disk, config, false)
    }

    fn open_with(disk: Arc<dyn Disk>, config: Config, threads: bool) -> Result<Arc<Engine>> {
        let storage_config = StorageConfig {
            pool_bytes: config.buffer_pool_bytes,
            redo_capacity_bytes: config.redo_capacity_bytes,
            reader_threads: if threads { config.read_threads.max(1) } else { 0 },
            batch_pages: config.doublewrite_pages,
        };
        let storage = Storage::open(disk, &storage_config)?;
        let (kernel, losers) = restart(storage, &config)?;
        let engine = Arc::new(Engine {
            kernel,
            threads: Mutex::default(),
            losers,
            quiet: !threads,
            host_turns: AtomicBool::new(false),
        });
        engine.kernel.storage.wal.set_drive(Drive::Thread);
        if threads {
            engine.start("purge", run_purge)?;
            for nth in 1..config.purge_threads {
                engine.start(&format!("purge-{nth}"), run_purge_helper)?;
            }
            engine.start("rollback", run_rollbacks)?;
        }
        Ok(engine)
    }

    fn start(&self, name: &str, run: fn(&Kernel)) -> Result<()> {
        let kernel = self.kernel.clone();
        let thread = std::thread::Builder::new()
            .name(name.to_owned())
            .spawn(move || run(&kernel))
            .map_err(|error| Error::Stopped(format!("starting a thread: {error}")))?;
        self.threads.lock().push(thread);
        Ok(())
    }

    /// Clean shutdown: abandoned transactions rolled back, threads ended, every page written, the log closed.
    /// Nobody may be using the engine any more.
    pub fn close(&self) -> Result<()> {
        self.end_threads();
        self.roll_back_abandoned()?;
        self.kernel.storage.close()
    }

    pub(crate) fn end_threads(&self) {
        self.kernel.begin_closing();
        for thread in self.threads.lock().drain(..) {
            // A panicking thread has already reported itself; the close goes on.
            drop(thread.join());
        }
    }

    /// Rolls back on this thread whatever was dropped before its end; but not what others have built upon who
    /// are still there.
    pub fn roll_back_abandoned(&self) -> Result<()> {
        // Tried and put back since one was rolled back.
        let mut in_vain = 0;
        while in_vain < self.kernel.orphan_ids().len()
            && let Some(orphan) = self.kernel.take_orphan()
        {
            let id = orphan.id;
            let outcome = roll_back_orphan(&self.kernel, orphan);
            self.kernel.orphan_done(id);
            match outcome {
                Ok(()) => in_vain = 0,
                Err((orphan, Error::Covered(_))) => {
                    self.kernel.abandon(orphan);
                    in_vain += 1;
                }
                Err((orphan, error)) => {
                    self.kernel.abandon(orphan);
                    return Err(error);
                }
            }
        }
        Ok(())
    }

    /// Purges on this thread until nothing more can go. Returns the number of transactions purged.
    pub fn purge_all(&self) -> Result<u64> {
        let mut total = 0;
        loop {
            let round = purge_round(&self.kernel, 0, 0)?;
            total += round.transactions;
            if round.transactions == 0 && round.records == 0 {
                return Ok(total);
            }
        }
    }

    /// One round of purge on this thread, through `records` undo records at most. Returns the number of
    /// transactions purged.
    pub fn purge_some(&self, records: u64) -> Result<u64> {
        Ok(purge_round(&self.kernel, records.max(1), 0)?.transactions)
    }

    /// Writes every changed page and moves the checkpoint.
    pub fn checkpoint(&self) -> Result<Lsn> {
        self.kernel.storage.checkpoint()
    }

    /// Checks every page of an index: order, links, levels. Keeps structure changes of that index out
    /// meanwhile.
    pub fn verify_index(&self, index: IndexId) -> Result<Report> {
        let storage = &self.kernel.storage;
        let tree = with_pages_blocking(storage, || self.kernel.tree(index))?;
        let report = with_pages_blocking(storage, || verify(&tree))?;
        check_writers(&self.kernel, &tree)?;
        Ok(report)
    }

    /// About how large an index is.
    pub fn measure_index(&self, index: IndexId) -> Result<TreeSize> {
        self.sample_index(index, SAMPLED_LEAVES).map(|sample| sample.size)
    }

    /// About how large an index is, and the keys of so many of its leaves. Blocks the thread while it reads.
    pub fn sample_index(&self, index: IndexId, leaves: usize) -> Result<TreeSample> {
        let storage = &self.kernel.storage;
        let tree = with_pages_blocking(storage, || self.kernel.tree(index))?;
        with_pages_blocking(storage, || sample(&tree, leaves, &mut |_| {}))
    }

    /// The same of a table's rows, each of which is shown under its page's latch, those in overflow chains
    /// aside.
    pub fn sample_rows(
        &self,
        index: IndexId,
        leaves: usize,
        mut show: impl FnMut(&[u8]),
    ) -> Result<TreeSample> {
        let storage = &self.kernel.storage;
        let tree = with_pages_blocking(storage, || self.kernel.tree(index))?;
        let mut show = |value: &[u8]| {
            if let Ok(RowValue { payload: Payload::Inline(row), .. }) = RowValue::decode(value) {
                show(row);
            }
        };
        sample(&tree, leaves, &mut show)
    }

    /// About how many entries of an index that are not delete-marked have keys from `lower` on and before
    /// `upper`; exact where all lie in one leaf. `None` where its root is not in memory. Loads nothing.
    pub fn estimate_range(&self, index: IndexId, lower: Option<&[u8]>, upper: Option<&[u8]>) -> Option<u64> {
        let tree = self.kernel.tree(index).ok()?;
        records_between(&tree, lower, upper)
    }

    /// Live settings.
    pub fn settings(&self) -> &Arc<Settings> {
        &self.kernel.settings
    }

    /// Counters of the transaction and row rooms.
    pub fn stats(&self) -> &Stats {
        &self.kernel.stats
    }

    /// The storage below, for its counters.
    pub fn storage(&self) -> &Arc<Storage> {
        &self.kernel.storage
    }

    /// The lock table, for its counters and views.
    pub fn locks(&self) -> &Arc<crate::lock::LockTable> {
        &self.kernel.locks
    }

    /// The adaptive hash index: its switch and its counters.
    pub fn adaptive_hash(&self) -> &Arc<AdaptiveHash> {
        self.kernel.indexes.adaptive_hash()
    }

    /// The gate of statements (`innodb_thread_concurrency`), for its counts; to be told when its settings
    /// were changed.
    pub fn gate(&self) -> &Arc<Gate> {
        &self.kernel.gate
    }

    /// The gate of commits (`innodb_commit_concurrency`), likewise.
    pub fn commit_gate(&self) -> &Arc<Gate> {
        &self.kernel.commit_gate
    }

    /// Transactions that were rolled back when the engine was opened.
    pub fn losers(&self) -> usize {
        self.losers
    }

    /// Ended transactions that purge has not been through: MySQL's history list length.
    pub fn history_list_length(&self) -> u64 {
        self.kernel.history_length()
    }

    /// How far purge is, and what it has done.
    pub fn purge_status(&self) -> PurgeStatus {
        let progress = &self.kernel.purge.progress;
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let (lanes, undo_pages_in_use) = self.kernel.lanes.sizes();
        PurgeStatus {
            running: progress.running.load(Ordering::Relaxed),
            stopped: progress.stopped.load(Ordering::Relaxed),
            limit: read(&progress.limit),
            rounds: read(&progress.rounds),
            undo_pages: read(&progress.pages),
            undo_records: read(&progress.records),
            marked_records: read(&progress.marked),
            other_records: read(&progress.other),
            dml_delay_us: read(&progress.dml_delay_us),
            dml_delayed_us: read(&progress.dml_delayed_us),
            stops: read(&progress.stops),
            resumes: read(&progress.resumes),
            lanes,
            undo_pages_in_use,
        }
    }

    /// Stops purge, until it is resumed. A round under way goes on.
    pub fn stop_purge(&self) {
        let progress = &self.kernel.purge.progress;
        if !progress.stopped.swap(true, Ordering::Relaxed) {
            progress.stops.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Lets purge go on.
    pub fn resume_purge(&self) {
        let progress = &self.kernel.purge.progress;
        if progress.stopped.swap(false, Ordering::Relaxed) {
            progress.resumes.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Number of transactions that have written and not ended.
    pub fn active_transactions(&self) -> usize {
        self.kernel.registry.active_count()
    }

    /// The id the next transaction that writes will get.
    pub fn next_txn_id(&self) -> TxnId {
        self.kernel.registry.next_id()
    }

    /// Transactions whose sessions are gone and that are not rolled back yet.
    pub fn abandoned_transactions(&self) -> Vec<TxnId> {
        self.kernel.orphan_ids()
    }

    /// Number of distinct open read views.
    pub fn read_views(&self) -> usize {
        self.kernel.registry.view_count()
    }

    /// A new, empty index; durable when this returns.
    pub fn create_index(&self) -> Result<IndexId> {
        let (index, lsn) = self.make_index()?;
        self.kernel.storage.wal.flush_to(lsn)?;
        Ok(index)
    }

    /// A new, empty index that nobody looks for after a restart: nothing is synced. What is logged of it
    /// stands in the log before all that is put into it, so a crash leaves it whole or not there.
    pub fn create_passing_index(&self) -> Result<IndexId> {
        self.make_index().map(|(index, _)| index)
    }

    fn make_index(&self) -> Result<(IndexId, Lsn)> {
        let storage = &self.kernel.storage;
        storage.reserve_blocking()?;
        with_pages_blocking(storage, || self.kernel.indexes.create())
    }

    /// Drops an index and frees its pages. Once this has begun the index is gone for good, even if the engine
    /// goes down.
    pub fn drop_index(&self, index: IndexId) -> Result<()> {
        self.drop_indexes(&[index])
    }

    /// The same of several, which wait for one sync together. An error leaves those behind the one that it is
    /// about as they were; what was begun before it is dropped.
    pub fn drop_indexes(&self, indexes: &[IndexId]) -> Result<()> {
        let (mut begun, mut failed) = (None, Ok(()));
        let mut count = 0;
        for index in indexes {
            match self.begin_drop(*index) {
                Ok(lsn) => begun = Some(lsn),
                Err(error) => {
                    failed = Err(error);
                    break;
                }
            }
            count += 1;
        }
        if let Some(lsn) = begun {
            self.kernel.storage.wal.flush_to(lsn)?;
        }
        indexes[..count].iter().try_for_each(|index| self.end_drop(*index))?;
        failed
    }

    /// Drops an index that nobody looks for after a restart: nothing is synced. Pages are given to others
    /// later in the log than they are freed, so a crash that takes the end of the log takes both.
    pub fn drop_passing_index(&self, index: IndexId) -> Result<()> {
        self.begin_drop(index)?;
        self.end_drop(index)
    }

    fn begin_drop(&self, index: IndexId) -> Result<Lsn> {
        let storage = &self.kernel.storage;
        storage.reserve_blocking()?;
        with_pages_blocking(storage, || self.kernel.indexes.start_drop(index))
    }

    fn end_drop(&self, index: IndexId) -> Result<()> {
        self.kernel.counters.free(&self.kernel.storage, index)?;
        finish_drop(&self.kernel, index)
    }

    /// Where the durable counter of an index is, and what it says now; `None`: it has none.
    pub fn counter(&self, index: IndexId) -> Result<Option<(CounterSlot, u64)>> {
        let Some(slot) = self.kernel.counters.slot(index) else { return Ok(None) };
        Ok(Some((slot, Counters::value(&self.kernel.storage, slot)?)))
    }

    /// A durable counter for an index, with this value unless it has one. Whatever is logged later survives a
    /// crash only together with it.
    pub fn make_counter(&self, index: IndexId, value: u64) -> Result<CounterSlot> {
        self.kernel.counters.make(&self.kernel.storage, index, value)
    }

    /// Sets the counter of an index, which may make it smaller; nobody else uses the table. Durable when this
    /// returns.
    pub fn set_counter(&self, index: IndexId, value: u64) -> Result<CounterSlot> {
        let storage = &self.kernel.storage;
        let slot = self.kernel.counters.make(storage, index, value)?;
        let lsn = Counters::set(storage, slot, value)?;
        storage.wal.flush_to(lsn)?;
        Ok(slot)
    }

    /// The greatest key of an index, whether its record is deleted or not, committed or not.
    pub fn last_key(&self, index: IndexId) -> Result<Option<Vec<u8>>> {
        with_pages_blocking(&self.kernel.storage, || {
            let leaf = self
                .kernel
                .tree(index)?
                .seek(Bound::Unbounded, Direction::Reverse)?
                .map(|leaf| leaf.key().to_vec());
            Ok(leaf)
        })
    }

    /// Fills the new, empty tree of `table.secondaries[nth]` from the table's rows: CREATE INDEX. The caller
    /// keeps everybody else away from the table; nothing of this is undone, so on an error (`DuplicateKey`
    /// for a unique index, `DiskFull`) the caller drops the tree. Durable when this returns.
    pub async fn build_secondary(&self, table: &TableDef, nth: usize) -> Result<()> {
        build_secondary(&self.kernel, table, nth).await?;
        let wal = &self.kernel.storage.wal;
        wal.flush_to(wal.current_lsn())
    }

    /// All indexes that exist.
    pub fn indexes(&self) -> Vec<IndexId> {
        let listed = with_pages_blocking(&self.kernel.storage, || self.kernel.indexes.list());
        listed
            .unwrap_or_default()
            .into_iter()
            .filter(|(_, state)| *state == IndexState::Live)
            .map(|(index, _)| index)
            .collect()
    }

    /// Begins a transaction. Costs nothing until its first write.
    pub fn begin(self: &Arc<Self>, options: TxnOptions) -> Txn {
        Txn::new(self.kernel.clone(), options)
    }

    /// [`Error::Stopped`] once a write or sync has failed. What is in memory from then on may hold commits
    /// that were refused as not durable, so the host asks before it runs a statement, and again before it
    /// tells the client that one is done.
    #[inline]
    pub fn check_running(&self) -> Result<()> {
        self.kernel.storage.wal.check_running()
    }

    /// Waits until everything that anybody can have seen by now is durable, as
    /// `innodb_flush_log_at_trx_commit` asks. A reader sees a commit as soon as its record has its place in
    /// the log.
    pub async fn wait_seen_durable(&self) -> Result<()> {
        self.wait_durable(self.kernel.storage.wal.current_lsn()).await
    }

    /// Waits until the log is durable up to `lsn` as `innodb_flush_log_at_trx_commit` asks.
    pub async fn wait_durable(&self, lsn: Lsn) -> Result<()> {
        let wal = &self.kernel.storage.wal;
        let wanted = self.kernel.settings.flush_log_at_trx_commit.load(Ordering::Relaxed);
        let mode = FlushMode::from_number(wanted).unwrap_or(FlushMode::Sync);
        if wal.flush_mode() != mode {
            wal.set_flush_mode(mode);
        }
        if self.quiet && mode == FlushMode::Sync {
            return wal.flush_to(lsn);
        }
        wal.wait_durable(lsn).await
    }

    /// The host promises to call [`Engine::turn_end`] after each turn of its workers. From then on a disk
    /// that syncs fast is synced there, which spares waking the log's thread.
    pub fn promise_turns(&self) {
        self.host_turns.store(true, Ordering::Relaxed);
    }

    /// A worker calls it at the end of its turn: if somebody waits for the log and the drive is inline, it is
    /// synced here, or by the worker that is at it just now. True: another worker has left its waiters to
    /// this one, which is to end another turn before it sleeps.
    pub fn turn_end(&self) -> bool {
        if !self.host_turns.load(Ordering::Relaxed) {
            return false;
        }
        let wal = &self.kernel.storage.wal;
        wal.end_turn(wal.is_slow(INLINE_SYNC_US_MAX))
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        self.end_threads();
    }
}

/// Records of a tree that is checked between two looks at how long that has taken.
const RECORDS_AT_ONCE: u32 = 64;

/// Whether every row or entry of a tree is by a transaction that has begun at some time.
fn check_writers(kernel: &Kernel, tree: &Tree) -> Result<()> {
    let mut walk = WalkState::default();
    let (mut found, mut looked) = (Ok(()), 0u32);
    let mut visit = |record: Record<'_>| {
        looked = looked.wrapping_add(1);
        if looked.is_multiple_of(RECORDS_AT_ONCE) {
            relief::worked();
        }
        found = writer_of(record.value).and_then(|id| check_writer(kernel, id));
        if found.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    };
    with_pages_blocking(&kernel.storage, || tree.walk(&mut walk, &mut visit))?;
    found
}

fn run_purge(kernel: &Kernel) {
    while !kernel.is_closing() {
        let cap = kernel.settings.max_purge_size.load(Ordering::Relaxed);
        let pause = match purge_round(kernel, cap, OLD_VIEW_ROUNDS) {
            Ok(round) if cap != 0 && round.records >= cap => PURGE_BREATH,
            Ok(Round { transactions: 0, records: 0 }) | Err(_) => PURGE_IDLE,
            Ok(_) => PURGE_PAUSE,
        };
        kernel.purge_sleep(pause);
    }
}

fn run_purge_helper(kernel: &Kernel) {
    kernel.purge.join();
    while kernel.purge.wait_for_call() {
        kernel.purge.leave(work_off(kernel));
    }
}

fn run_rollbacks(kernel: &Kernel) {
    while !kernel.is_closing() {
        match kernel.take_orphan() {
            None => kernel.background_sleep(ROLLBACK_IDLE),
            Some(orphan) => {
                let id = orphan.id;
                let outcome = roll_back_orphan(kernel, orphan);
                kernel.orphan_done(id);
                if let Err((orphan, error)) = outcome {
                    kernel.abandon(orphan);
                    let soon = matches!(error, Error::Covered(_));
                    kernel.purge_sleep(if soon { COVERED_PAUSE } else { PURGE_IDLE });
                }
            }
        }
    }
}
