//! INNODB_METRICS: counters by name, each with a switch and two zero points.
//!
//! The numbers are counted anyway, so a switched-off counter only stops being shown as moving: it keeps the
//! value it had, and goes on from there when it is switched on again. `innodb_monitor_reset` sets the second
//! zero point (COUNT_RESET); `innodb_monitor_reset_all` sets all of a counter that is off to 0. The highest
//! and lowest of a value that goes up and down are the highest and lowest that anybody saw: they are noted
//! when the table is read.

use parking_lot::Mutex;

use super::Observed;
use super::sample::Sample;
use crate::picture::activity::Moments;
use turnstile_catalog::session_state::SessionState;
use turnstile_values::error::{SqlError, SqlResult};
use turnstile_values::field::{FieldRef, RowWriter};
use turnstile_values::value::Value;

/// What a counter is, in the words of the column TYPE.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Only grows.
    Counter,
    /// Only grows, and is a status variable too.
    Status,
    /// Goes up and down.
    Value,
}

struct Metric {
    name: &'static str,
    subsystem: &'static str,
    kind: Kind,
    comment: &'static str,
    read: fn(&Sample) -> u64,
}

macro_rules! metrics {
    ($($subsystem:literal { $($name:literal $kind:ident $comment:literal $read:expr;)* })*) => {
        &[$($(Metric { name: $name, subsystem: $subsystem, kind: Kind::$kind, comment: $comment, read: $read }),*),*]
    };
}

#[rustfmt::skip]
const METRICS: &[Metric] = metrics! {
    "lock" {
        "lock_deadlocks" Counter "Number of deadlocks" |s| s.locks.deadlocks;
        "lock_deadlock_false_positives" Counter "Number of deadlocks reported that were none" |_| 0;
        "lock_deadlock_rounds" Counter "Number of deadlock searches that followed an edge" |s| s.locks.searches;
        "lock_threads_waiting" Value "Number of sessions waiting for a lock" |s| s.locks.current_waits;
        "lock_timeouts" Counter "Number of lock timeouts" |s| s.locks.timeouts;
        "lock_rec_lock_waits" Counter "Number of times a record lock was waited for" |s| s.locks.row_waits;
        "lock_table_lock_waits" Counter "Number of times a table lock was waited for" |s| s.locks.table_waits;
        "lock_rec_lock_requests" Counter "Number of record locks made and of waits for one" |s| s.locks.created + s.locks.row_waits;
        "lock_rec_release_attempts" Counter "Number of record locks released" |s| s.locks.removed;
        "lock_rec_grant_attempts" Counter "Number of waits for any lock that have ended" |s| (s.locks.row_waits + s.locks.table_waits).saturating_sub(s.locks.current_waits);
        "lock_rec_lock_created" Counter "Number of record locks made" |s| s.locks.created;
        "lock_rec_lock_removed" Counter "Number of record locks dropped" |s| s.locks.removed;
        "lock_rec_locks" Value "Number of record locks now" |s| s.locks.created.saturating_sub(s.locks.removed);
        "lock_table_lock_created" Counter "Number of table locks made" |s| s.locks.tables_created;
        "lock_table_lock_removed" Counter "Number of table locks dropped" |s| s.locks.tables_removed;
        "lock_table_locks" Value "Number of table locks now" |s| s.locks.tables_created.saturating_sub(s.locks.tables_removed);
        "lock_row_lock_current_waits" Status "Number of row locks currently being waited for (innodb_row_lock_current_waits)" |s| s.locks.current_waits;
        "lock_row_lock_time" Status "Time spent in acquiring row locks, in milliseconds (innodb_row_lock_time)" |s| s.lock_wait_ms();
        "lock_row_lock_time_max" Value "The maximum time to acquire a row lock, in milliseconds (innodb_row_lock_time_max)" |s| s.locks.wait_us_max / 1000;
        "lock_row_lock_waits" Status "Number of times a row lock had to be waited for (innodb_row_lock_waits)" |s| s.locks.row_waits;
        "lock_row_lock_time_avg" Value "The average time to acquire a row lock, in milliseconds (innodb_row_lock_time_avg)" |s| s.lock_wait_ms_average();
        "lock_schedule_refreshes" Counter "Weights of waiters are not computed here" |_| 0;
    }
    "transaction" {
        "trx_rw_commits" Counter "Number of transactions that wrote and committed" |s| s.rows.commits;
        "trx_ro_commits" Counter "Number of transactions that committed without a write" |s| s.rows.read_only_commits;
        "trx_nl_ro_commits" Counter "Counted with trx_ro_commits" |_| 0;
        "trx_commits_insert_update" Counter "Number of transactions committed with inserts and updates" |s| s.rows.commits;
        "trx_rollbacks" Counter "Number of transactions rolled back" |s| s.rows.rollbacks;
        "trx_rollbacks_savepoint" Counter "Number of transactions rolled back to a savepoint" |s| s.rows.partial_rollbacks;
        "trx_active_transactions" Value "Number of transactions that have written and not ended" |s| s.active;
        "trx_rseg_history_len" Value "Length of the history list" |s| s.history;
        "trx_undo_slots_used" Value "Number of transactions that have written and not ended" |s| s.active;
        "trx_undo_slots_cached" Value "Undo slots are not cached here" |_| 0;
        "trx_rseg_current_size" Value "Number of undo pages in use" |s| s.purge.undo_pages_in_use;
    }
    "purge" {
        "purge_del_mark_records" Counter "Number of delete-marked rows and entries purged" |s| s.purge.marked_records;
        "purge_upd_exist_or_extern_records" Counter "Number of other undo records with something to purge" |s| s.purge.other_records;
        "purge_invoked" Counter "Number of times purge was invoked" |s| s.purge.rounds;
        "purge_undo_log_pages" Counter "Number of undo log pages handled by purge" |s| s.purge.undo_pages;
        "purge_dml_delay_usec" Value "Microseconds by which changes are delayed because of purge lag" |s| s.purge.dml_delay_us;
        "purge_stop_count" Value "Number of times purge was stopped" |s| s.purge.stops;
        "purge_resume_count" Value "Number of times purge was resumed" |s| s.purge.resumes;
    }
    "adaptive_hash_index" {
        "adaptive_hash_searches" Status "Number of searches answered by the adaptive hash index" |s| s.hash.searches;
        "adaptive_hash_searches_btree" Status "Number of searches that descended the tree" |s| s.hash.tree_searches;
        "adaptive_hash_pages_added" Counter "Pages are not indexed as a whole here" |_| 0;
        "adaptive_hash_pages_removed" Counter "Pages are not indexed as a whole here" |_| 0;
        "adaptive_hash_rows_added" Counter "Number of hints added" |s| s.hash.rows_added;
        "adaptive_hash_rows_removed" Counter "Number of hints removed" |s| s.hash.rows_removed;
        "adaptive_hash_rows_deleted_no_hash_entry" Counter "Deleting a row does not look for its hint here" |_| 0;
        "adaptive_hash_rows_updated" Counter "Number of hints given another place" |s| s.hash.rows_updated;
    }
    "buffer" {
        "buffer_pool_reads" Status "Number of reads directly from disk (innodb_buffer_pool_reads)" |s| s.pool.reads;
        "buffer_pool_read_requests" Status "Number of logical read requests (innodb_buffer_pool_read_requests)" |s| s.pool.lookups;
        "buffer_pool_wait_free" Status "Number of times somebody waited for a free frame (innodb_buffer_pool_wait_free)" |s| s.pool.clean_waits;
        "buffer_pool_pages_total" Value "Total buffer pool size in pages (innodb_buffer_pool_pages_total)" |s| s.pool.frames;
        "buffer_pool_pages_data" Value "Buffer pages containing data (innodb_buffer_pool_pages_data)" |s| s.pool.frames - s.pool.free_frames;
        "buffer_pool_pages_dirty" Value "Buffer pages currently dirty (innodb_buffer_pool_pages_dirty)" |s| s.pool.dirty_frames;
        "buffer_pool_pages_free" Value "Buffer pages currently free (innodb_buffer_pool_pages_free)" |s| s.pool.free_frames;
        "buffer_pages_read" Status "Number of pages read (innodb_pages_read)" |s| s.pool.reads;
        "buffer_pages_written" Status "Number of pages written (innodb_pages_written)" |s| s.pool.writes;
    }
    "os" {
        "os_data_reads" Status "Number of reads initiated (innodb_data_reads)" |s| s.pool.reads;
        "os_data_writes" Status "Number of writes initiated (innodb_data_writes)" |s| s.pool.writes + s.log.writes;
        "os_log_bytes_written" Status "Bytes of log written (innodb_os_log_written)" |s| s.log.written_bytes;
        "os_log_fsyncs" Status "Number of fsync log writes (innodb_os_log_fsyncs)" |s| s.log.syncs;
    }
    "log" {
        "log_lsn_current" Value "Current LSN value" |s| s.log.current_lsn.0;
        "log_lsn_last_flush" Value "LSN of last flush" |s| s.log.flushed_lsn.0;
        "log_lsn_last_checkpoint" Value "LSN at last checkpoint" |s| s.log.checkpoint_lsn.0;
        "log_lsn_checkpoint_age" Value "Current LSN value minus LSN at last checkpoint" |s| s.log.current_lsn.0 - s.log.checkpoint_lsn.0;
        "log_waits" Status "Number of waits because the log was too full (innodb_log_waits)" |s| s.log.waits_for_room;
        "log_writes" Status "Number of log writes (innodb_log_writes)" |s| s.log.writes;
    }
    "dml" {
        "dml_reads" Status "Number of rows read" |s| s.rows.read;
        "dml_inserts" Status "Number of rows inserted" |s| s.rows.inserted;
        "dml_deletes" Status "Number of rows deleted" |s| s.rows.deleted;
        "dml_updates" Status "Number of rows updated" |s| s.rows.updated;
    }
};

/// What `SET GLOBAL innodb_monitor_...` does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// innodb_monitor_enable
    Enable,
    /// innodb_monitor_disable
    Disable,
    /// innodb_monitor_reset
    Reset,
    /// innodb_monitor_reset_all
    ResetAll,
}

impl Action {
    /// The action of a system variable.
    pub fn of(variable: &str) -> Option<Action> {
        Some(match variable {
            "innodb_monitor_enable" => Action::Enable,
            "innodb_monitor_disable" => Action::Disable,
            "innodb_monitor_reset" => Action::Reset,
            "innodb_monitor_reset_all" => Action::ResetAll,
            _ => return None,
        })
    }

    /// Whether each part of a pattern names a counter.
    pub fn check(self, pattern: &str) -> SqlResult<()> {
        let variable = match self {
            Action::Enable => "innodb_monitor_enable",
            Action::Disable => "innodb_monitor_disable",
            Action::Reset => "innodb_monitor_reset",
            Action::ResetAll => "innodb_monitor_reset_all",
        };
        match parts(pattern).find(|part| !METRICS.iter().any(|metric| fits(part, metric))) {
            None => Ok(()),
            Some(part) => Err(SqlError::wrong_value_for_variable(variable, part)),
        }
    }
}

/// A counter's switch and zero points. Moments are microseconds since 1970.
#[derive(Clone, Copy, Debug)]
struct Meter {
    on: bool,
    /// What is subtracted from a counter.
    base: u64,
    /// The value while it is off.
    kept: u64,
    /// The value at the last reset.
    reset: u64,
    most: u64,
    least: u64,
    most_since_reset: u64,
    least_since_reset: u64,
    enabled_at: u64,
    disabled_at: Option<u64>,
    reset_at: Option<u64>,
}

impl Meter {
    fn new(now: u64) -> Meter {
        Meter {
            on: true,
            base: 0,
            kept: 0,
            reset: 0,
            most: 0,
            least: u64::MAX,
            most_since_reset: 0,
            least_since_reset: u64::MAX,
            enabled_at: now,
            disabled_at: None,
            reset_at: None,
        }
    }

    fn count(&self, raw: u64) -> u64 {
        if self.on { raw.saturating_sub(self.base) } else { self.kept }
    }

    fn look(&mut self, raw: u64) -> u64 {
        let count = self.count(raw);
        self.most = self.most.max(count);
        self.least = self.least.min(count);
        self.most_since_reset = self.most_since_reset.max(count);
        self.least_since_reset = self.least_since_reset.min(count);
        count
    }

    fn apply(&mut self, action: Action, kind: Kind, raw: u64, now: u64) {
        match action {
            Action::Enable if !self.on => {
                // A value is what it is; a counter goes on from where it was.
                self.base = if kind == Kind::Value { 0 } else { raw.saturating_sub(self.kept) };
                (self.on, self.enabled_at, self.disabled_at) = (true, now, None);
            }
            Action::Disable if self.on => {
                self.kept = self.count(raw);
                (self.on, self.disabled_at) = (false, Some(now));
            }
            Action::Reset => {
                self.reset = if kind == Kind::Value { 0 } else { self.count(raw) };
                (self.most_since_reset, self.least_since_reset) = (0, u64::MAX);
                self.reset_at = Some(now);
            }
            Action::ResetAll if !self.on => {
                let (enabled_at, disabled_at) = (self.enabled_at, self.disabled_at);
                *self = Meter { on: false, enabled_at, disabled_at, ..Meter::new(now) };
            }
            _ => {}
        }
    }
}

/// The switches of all counters.
#[derive(Debug)]
pub struct Meters {
    meters: Mutex<Vec<Meter>>,
}

impl Meters {
    /// All on since `now_unix_us`.
    pub fn new(now_unix_us: u64) -> Meters {
        Meters { meters: Mutex::new(vec![Meter::new(now_unix_us); METRICS.len()]) }
    }

    /// Notes that somebody sees these values; what each counter shows, with its switch and zero points.
    fn look(&self, sample: &Sample) -> Vec<(u64, Meter)> {
        let mut meters = self.meters.lock();
        let look = |(metric, meter): (&Metric, &mut Meter)| (meter.look((metric.read)(sample)), *meter);
        METRICS.iter().zip(meters.iter_mut()).map(look).collect()
    }

    /// Does it to all counters that a checked pattern names.
    pub fn apply(&self, db: &Observed, action: Action, pattern: &str) {
        let (sample, now) = (Sample::take(db.engine(), db.rows()), now_unix_us(db));
        let mut meters = self.meters.lock();
        for part in parts(pattern) {
            for (metric, meter) in
                METRICS.iter().zip(meters.iter_mut()).filter(|(metric, _)| fits(&part, metric))
            {
                meter.apply(action, metric.kind, (metric.read)(&sample), now);
            }
        }
    }
}

/// A pattern is a list of names, names with `%`, `module_` and a subsystem, or `all`.
fn parts(pattern: &str) -> impl Iterator<Item = String> {
    pattern.split(',').map(|part| part.trim().to_ascii_lowercase()).filter(|part| !part.is_empty())
}

fn fits(part: &str, metric: &Metric) -> bool {
    part == "all"
        || part.strip_prefix("module_").is_some_and(|module| module == metric.subsystem)
        || turnstile_catalog::accounts::like(part, metric.name)
}

fn now_unix_us(db: &Observed) -> u64 {
    db.registry().unix_us(db.registry().now_us())
}

/// Rows of INNODB_METRICS.
pub fn write(db: &Observed, session: &SessionState, out: &mut RowWriter<'_>) -> SqlResult<()> {
    let (sample, now) = (Sample::take(db.engine(), db.rows()), now_unix_us(db));
    let mut moments = Moments::of(session);
    let seen = db.meters().look(&sample);
    METRICS
        .iter()
        .zip(&seen)
        .try_for_each(|(metric, (count, meter))| line(metric, meter, *count, now, &mut moments, out))
}

fn line(
    metric: &Metric,
    meter: &Meter,
    count: u64,
    now: u64,
    moments: &mut Moments,
    out: &mut RowWriter<'_>,
) -> SqlResult<()> {
    let number = |count: u64| FieldRef::Int(count as i64);
    let lowest = |least: u64| if least == u64::MAX { FieldRef::Null } else { number(least) };
    let seconds = |from: u64, to: u64| (to.saturating_sub(from) / 1_000_000).max(1);
    let ended = meter.disabled_at.unwrap_or(now);
    let average = |count: u64, from: u64| match metric.kind {
        Kind::Value => Value::Null,
        _ => Value::Double(count as f64 / seconds(from, ended) as f64),
    };
    let since_reset = count.saturating_sub(meter.reset);
    let mut at = |moment_us: Option<u64>| moment_us.map_or(Value::Null, |one| moments.at(one));
    let (enabled, disabled, reset) = (at(Some(meter.enabled_at)), at(meter.disabled_at), at(meter.reset_at));
    let averages =
        [average(count, meter.enabled_at), average(since_reset, meter.reset_at.unwrap_or(meter.enabled_at))];
    out(&[
        FieldRef::Text(metric.name),
        FieldRef::Text(metric.subsystem),
        number(count),
        number(meter.most),
        lowest(meter.least),
        FieldRef::Value(&averages[0]),
        number(since_reset),
        number(meter.most_since_reset.saturating_sub(meter.reset)),
        lowest(meter.least_since_reset.saturating_sub(meter.reset)),
        FieldRef::Value(&averages[1]),
        FieldRef::Value(&enabled),
        FieldRef::Value(&disabled),
        number(ended.saturating_sub(meter.enabled_at) / 1_000_000),
        FieldRef::Value(&reset),
        FieldRef::Text(if meter.on { "enabled" } else { "disabled" }),
        FieldRef::Text(match metric.kind {
            Kind::Counter => "counter",
            Kind::Status => "status_counter",
            Kind::Value => "value",
        }),
        FieldRef::Text(metric.comment),
    ])
}
