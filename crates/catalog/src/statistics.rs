//! Keeps the statistics of tables true: a thread of its own estimates them anew where a tenth of a table has
//! changed, and makes them durable.
//!
//! It holds no lock on the tables: a table that goes meanwhile costs an estimate that is thrown away. Plans
//! are made anew after an estimate that tells something else than the one before. The thread begins with the
//! first table that is asked for and ends with the catalog, before the engine does.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Weak};
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use parking_lot::{Condvar, Mutex};
use turnstile_engine::Engine;
use turnstile_engine::ids::TableId;
use turnstile_sys::block_on::block_on;
use turnstile_values::error::SqlResult;
use turnstile_values::memory::Charge;

use crate::dictionary::histogram::{Collector, Histogram, Wanted};
use crate::dictionary::statistics::{TableStatistics, gather};
use crate::dictionary::{RowKind, Table, row_key, write_rows};

/// A table is not looked at more often.
const PERIOD: Duration = Duration::from_secs(1);
/// Leaves of a tree that are looked at: the default of `innodb_stats_persistent_sample_pages`.
const SAMPLE_PAGES: usize = 20;
/// Memory for making histograms: the default of `histogram_generation_max_mem_size`.
const HISTOGRAM_BYTES: u64 = 20_000_000;
/// Leaves of a table that are looked at for histograms that are made anew by themselves: splits of its tree
/// wait meanwhile.
const HISTOGRAM_LEAVES: u64 = 200;

/// Tables that wait to be looked at.
#[derive(Default)]
struct Queue {
    tables: VecDeque<Weak<Table>>,
    stops: bool,
}

struct Shared {
    queue: Mutex<Queue>,
    /// Rung when the queue has changed.
    rung: Condvar,
    engine: Arc<Engine>,
    version: Arc<AtomicU64>,
    /// `innodb_stats_auto_recalc`
    automatic: AtomicBool,
    /// `innodb_stats_persistent_sample_pages`
    sample_pages: AtomicUsize,
    /// `histogram_generation_max_mem_size`
    histogram_bytes: AtomicU64,
}

/// See the file.
pub struct StatisticsKeeper {
    shared: Arc<Shared>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl StatisticsKeeper {
    /// Keeps those of an engine's tables. `version` grows when plans are to be made anew.
    pub(crate) fn new(engine: Arc<Engine>, version: Arc<AtomicU64>) -> StatisticsKeeper {
        let shared = Shared {
            queue: Mutex::default(),
            rung: Condvar::new(),
            engine,
            version,
            automatic: AtomicBool::new(true),
            sample_pages: AtomicUsize::new(SAMPLE_PAGES),
            histogram_bytes: AtomicU64::new(HISTOGRAM_BYTES),
        };
        StatisticsKeeper { shared: Arc::new(shared), thread: Mutex::new(None) }
    }

    /// `innodb_stats_auto_recalc`
    pub(crate) fn set_automatic(&self, automatic: bool) {
        self.shared.automatic.store(automatic, Ordering::Relaxed);
    }

    /// `innodb_stats_persistent_sample_pages`
    pub(crate) fn set_sample_pages(&self, pages: u64) {
        self.shared.sample_pages.store(pages as usize, Ordering::Relaxed);
    }

    /// `histogram_generation_max_mem_size`
    pub(crate) fn set_histogram_bytes(&self, bytes: u64) {
        self.shared.histogram_bytes.store(bytes, Ordering::Relaxed);
    }

    /// So many rows of a table came, went or got other keys.
    #[inline]
    pub fn rows_changed(&self, table: &Arc<Table>, rows: u64) {
        if self.shared.automatic.load(Ordering::Relaxed) && table.counters.statistics.changed(rows) {
            self.ask(table);
        }
    }

    /// Has a table looked at, soon.
    #[cold]
    pub fn ask(&self, table: &Arc<Table>) {
        let mut queue = self.shared.queue.lock();
        queue.tables.push_back(Arc::downgrade(table));
        self.shared.rung.notify_one();
        drop(queue);
        let mut thread = self.thread.lock();
        if thread.is_none() {
            let shared = self.shared.clone();
            let began = std::thread::Builder::new().name("statistics".into()).spawn(move || shared.work());
            // Without a thread plans are chosen by older statistics; the next table tries again.
            *thread = began.ok();
        }
    }

    /// Looks at a table now, and returns when what was found is durable: ANALYZE.
    ///
    /// # Errors
    /// Those of the engine.
    pub async fn analyze(&self, table: &Table) -> SqlResult<()> {
        let (key, row) = self.shared.estimate(table)?;
        if table.temporary {
            return Ok(());
        }
        write_rows(&self.shared.engine, &[(key, Some(row))]).await.map(drop)
    }
}

impl Drop for StatisticsKeeper {
    fn drop(&mut self) {
        self.shared.queue.lock().stops = true;
        self.shared.rung.notify_one();
        if let Some(thread) = self.thread.get_mut().take() {
            // A panic of its own was printed where it happened.
            let _ = thread.join();
        }
    }
}

impl Shared {
    /// Estimates and keeps a table's statistics; its row of the dictionary.
    fn estimate(&self, table: &Table) -> SqlResult<(Vec<u8>, Vec<u8>)> {
        let kept = &table.counters.statistics;
        kept.begin();
        let found = gather(&self.engine, table, self.sample_pages.load(Ordering::Relaxed))?;
        let row = (row_key(RowKind::Statistics, &table.definition.id.0.to_be_bytes()), found.encode());
        table.counters.rows.store(found.rows, Ordering::Relaxed);
        let news = kept.known().is_none_or(|known| is_other(&known, &found));
        kept.set(Arc::new(found));
        if news && !table.temporary {
            self.version.fetch_add(1, Ordering::AcqRel);
        }
        Ok(row)
    }

    fn work(&self) {
        let mut looked = HashMap::<TableId, Instant>::new();
        while let Some(table) = self.next(&mut looked) {
            // A table whose trees are gone, and an engine that has stopped: nothing is to be kept.
            let Ok((key, row)) = self.estimate(&table) else { continue };
            if table.temporary {
                continue;
            }
            let _ = block_on(write_rows(&self.engine, &[(key, Some(row))]));
            let _ = self.refresh_histograms(&table);
        }
    }

    /// Makes the histograms of a table anew that say so, from some of its leaves. What is dropped meanwhile
    /// stays dropped: who drops one forgets it before its row goes, and a row that comes later than that
    /// goes here.
    fn refresh_histograms(&self, table: &Table) -> SqlResult<()> {
        let kept = &table.counters.histograms;
        let wanted = Wanted::automatic(table);
        let Some(known) = table.counters.statistics.known().filter(|_| !wanted.is_empty()) else {
            return Ok(());
        };
        let leaves = known.keys.iter().find(|key| key.index == table.definition.clustered);
        let leaves = leaves.map_or(known.pages, |key| key.leaves).max(1);
        let each = (known.rows / leaves).max(1) * Collector::row_bytes(table, &wanted);
        let fit = self.histogram_bytes.load(Ordering::Relaxed) / each;
        let looked = fit.clamp(1, HISTOGRAM_LEAVES) as usize;
        let mut collector = Collector::new(table, &wanted, Charge::on(None));
        let mut failed = Ok(());
        let sample = self.engine.sample_rows(table.definition.clustered, looked, |row| {
            if failed.is_ok() {
                failed = collector.note(table, row);
            }
        })?;
        failed?;
        // Long rows lie elsewhere and are not shown: where most do, what is known is better.
        let shown = sample.leaves.iter().map(|leaf| leaf.len() as u64).sum::<u64>();
        if collector.looked() * 2 < shown {
            return Ok(());
        }
        let updated = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_micros());
        for made in collector.finish(table, known.rows, updated as u64) {
            let key = Histogram::row_key(table.definition.id, &made.column);
            let row = made.encode();
            block_on(write_rows(&self.engine, &[(key.clone(), Some(row))]))?;
            if !kept.replace(Arc::new(made)) {
                block_on(write_rows(&self.engine, &[(key, None)]))?;
            }
        }
        self.version.fetch_add(1, Ordering::AcqRel);
        Ok(())
    }

    /// The next table, when it is due; None at the end.
    fn next(&self, looked: &mut HashMap<TableId, Instant>) -> Option<Arc<Table>> {
        let mut queue = self.queue.lock();
        loop {
            if queue.stops {
                return None;
            }
            let Some(table) = queue.tables.front() else {
                looked.retain(|_, when| when.elapsed() < PERIOD);
                self.rung.wait(&mut queue);
                continue;
            };
            let Some(table) = table.upgrade() else {
                queue.tables.pop_front();
                continue;
            };
            let due = looked.get(&table.definition.id).map(|when| *when + PERIOD);
            match due.filter(|due| *due > Instant::now()) {
                Some(due) => {
                    drop(table);
                    // Others that wait behind it are looked at a second later at most.
                    self.rung.wait_until(&mut queue, due);
                }
                None => {
                    queue.tables.pop_front();
                    looked.insert(table.definition.id, Instant::now());
                    return Some(table);
                }
            }
        }
    }
}

/// Whether plans may be others: a number has changed by more than a tenth. The values of columns, which fewer
/// rows tell, must be twice as many.
fn is_other(one: &TableStatistics, other: &TableStatistics) -> bool {
    let far = |a: u64, b: u64| a.abs_diff(b) > a.min(b) / 10;
    let keys = || one.keys.iter().zip(&other.keys);
    let twice = |a: u64, b: u64| a.max(b) > a.min(b).saturating_mul(2);
    far(one.rows, other.rows)
        || one.columns.iter().zip(&other.columns).any(|(a, b)| twice(*a, *b))
        || one.keys.len() != other.keys.len()
        || keys()
            .any(|(a, b)| a.index != b.index || a.distinct.iter().zip(&b.distinct).any(|(a, b)| far(*a, *b)))
}
