//! The one table of system variables. SET, SHOW VARIABLES, `@@name` and the command line are driven by it.
//!
//! Only variables that do something, or that drivers and tools read to learn a fact about the server, are
//! here. Each says by its [`Right`] who may set it, and in its [`Effect`] what setting it does; the tests
//! hold it to that.

use super::switches::{OPTIMIZER, OPTIMIZER_TRACE, OPTIMIZER_TRACE_FEATURES};
use super::{Definition, Effect, Kind, Right, Scope};

const U32: u64 = u32::MAX as u64;

const fn int(min: i64, max: i64) -> Kind {
    Kind::Int { min, max }
}

const fn uint(min: u64, max: u64) -> Kind {
    Kind::UInt { min, max }
}

/// The names of SQL modes, by bit.
pub const SQL_MODES: &[&str] = &[
    "REAL_AS_FLOAT",
    "PIPES_AS_CONCAT",
    "ANSI_QUOTES",
    "IGNORE_SPACE",
    "ONLY_FULL_GROUP_BY",
    "NO_UNSIGNED_SUBTRACTION",
    "NO_DIR_IN_CREATE",
    "ANSI",
    "NO_AUTO_VALUE_ON_ZERO",
    "NO_BACKSLASH_ESCAPES",
    "STRICT_TRANS_TABLES",
    "STRICT_ALL_TABLES",
    "NO_ZERO_IN_DATE",
    "NO_ZERO_DATE",
    "ALLOW_INVALID_DATES",
    "ERROR_FOR_DIVISION_BY_ZERO",
    "TRADITIONAL",
    "HIGH_NOT_PRECEDENCE",
    "NO_ENGINE_SUBSTITUTION",
    "PAD_CHAR_TO_FULL_LENGTH",
    "TIME_TRUNCATE_FRACTIONAL",
];

/// What `block_encryption_mode` may be.
const BLOCK_ENCRYPTION_MODES: &[&str] = &[
    "aes-128-ecb",
    "aes-192-ecb",
    "aes-256-ecb",
    "aes-128-cbc",
    "aes-192-cbc",
    "aes-256-cbc",
    "aes-128-cfb1",
    "aes-192-cfb1",
    "aes-256-cfb1",
    "aes-128-cfb8",
    "aes-192-cfb8",
    "aes-256-cfb8",
    "aes-128-cfb128",
    "aes-192-cfb128",
    "aes-256-cfb128",
    "aes-128-ofb",
    "aes-192-ofb",
    "aes-256-ofb",
];

/// The names of isolation levels.
pub const ISOLATION_LEVELS: &[&str] =
    &["READ-UNCOMMITTED", "READ-COMMITTED", "REPEATABLE-READ", "SERIALIZABLE"];

const MODE_DEFAULT: &str = "ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION";

macro_rules! variables {
    ($($name:literal $scope:ident $right:ident $kind:expr, $default:expr, $effect:ident $(($about:literal))?, $doc:literal;)*) => {
        &[$(Definition {
            name: $name,
            scope: Scope::$scope,
            right: variables!(% $right),
            kind: $kind,
            default: $default,
            effect: variables!(@ $effect $($about)?),
            doc: $doc,
        }),*]
    };
    (% admin) => { Right::Admin };
    (% roles) => { Right::Roles };
    (% own) => { Right::Own };
    (% guarded) => { Right::Guarded };
    (% guarded_first) => { Right::GuardedFirst };
    (% not_super) => { Right::NotSuper };
    (% strict) => { Right::Strict };
    (% encryption) => { Right::Encryption };
    (@ live $reader:literal) => { Effect::Live($reader) };
    (@ start $reader:literal) => { Effect::Start($reader) };
    (@ fixed) => { Effect::Fixed };
    (@ one) => { Effect::One };
    (@ only) => { Effect::Only };
    (@ inert) => { Effect::Inert("") };
    (@ inert $quiet:literal) => { Effect::Inert($quiet) };
}

/// All of them, by name.
#[rustfmt::skip]
pub const VARIABLES: &[Definition] = variables! {
    "activate_all_roles_on_login" Global admin Kind::Bool, "OFF", live("session/src/session/accounts/role_statements/active.rs"), "All roles that an account holds become active when it connects, not its default roles alone.";
    "auto_generate_certs" Global admin Kind::Bool, "ON", start("server/src/serve.rs"), "Make a TLS certificate at first start.";
    "auto_increment_increment" Both own uint(1, 65535), "1", live("catalog/src/variables/settings.rs"), "Step between AUTO_INCREMENT values.";
    "auto_increment_offset" Both own uint(1, 65535), "1", live("catalog/src/variables/settings.rs"), "First AUTO_INCREMENT value of the series.";
    "autocommit" Both own Kind::Bool, "ON", live("catalog/src/variables/settings.rs"), "Every statement outside BEGIN is a transaction.";
    "automatic_sp_privileges" Global admin Kind::Bool, "ON", fixed, "Stored routines do not exist here.";
    "back_log" Global admin int(1, 65535), "4096", start("server/src/listener.rs"), "Connections the kernel keeps waiting until they are accepted. Raise it when thousands of clients arrive within a moment.";
    "basedir" Global admin Kind::Text, "/usr/", fixed, "Reported only.";
    "big_tables" Both own Kind::Bool, "OFF", inert, "No effect.";
    "bind_address" Global admin Kind::Text, "127.0.0.1", start("server/src/serve.rs"), "Address to listen on.";
    "binlog_format" Both guarded Kind::Enum(&["MIXED", "STATEMENT", "ROW"]), "ROW", one, "There is no binary log.";
    "binlog_group_commit_sync_delay" Global admin uint(0, 1000000), "0", inert, "There is no binary log. Commits share a sync of the redo log by themselves, without waiting for each other.";
    "binlog_group_commit_sync_no_delay_count" Global admin uint(0, 100000), "0", inert, "There is no binary log; see binlog_group_commit_sync_delay.";
    "block_encryption_mode" Both own Kind::Enum(BLOCK_ENCRYPTION_MODES), "aes-128-ecb", live("expr/src/functions/cipher.rs"), "Key length and mode of AES_ENCRYPT and AES_DECRYPT.";
    "bulk_insert_buffer_size" Both guarded uint(0, u64::MAX), "8388608", inert, "No effect.";
    "caching_sha2_password_auto_generate_rsa_keys" Global admin Kind::Bool, "ON", start("server/src/serve.rs"), "Make the RSA keys for passwords without TLS at first start.";
    "caching_sha2_password_private_key_path" Global admin Kind::Text, "private_key.pem", start("server/src/serve.rs"), "File of the private key for passwords without TLS.";
    "caching_sha2_password_public_key_path" Global admin Kind::Text, "public_key.pem", start("server/src/serve.rs"), "File of its public key, for clients that are given it; made with the private one.";
    "character_set_client" Both own Kind::Charset, "utf8mb4", live("session/src/session/set.rs"), "Character set of statements.";
    "character_set_connection" Both own Kind::Charset, "utf8mb4", live("session/src/session/set.rs"), "Character set of literals.";
    "character_set_database" Both guarded_first Kind::Charset, "utf8mb4", inert, "Character set of the current database.";
    "character_set_filesystem" Both guarded_first Kind::Charset, "binary", inert, "No effect.";
    "character_set_results" Both own Kind::CharsetOrNull, "utf8mb4", live("session/src/session/set.rs"), "Character set of results.";
    "character_set_server" Both own Kind::Charset, "utf8mb4", live("session/src/session/set.rs"), "Character set of new databases that name none.";
    "character_set_system" Global admin Kind::Text, "utf8mb3", fixed, "Reported only.";
    "character_sets_dir" Global admin Kind::Text, "", fixed, "Reported only.";
    "check_proxy_users" Global admin Kind::Bool, "OFF", fixed, "Proxy users do not exist here.";
    "collation_connection" Both own Kind::Collation, "utf8mb4_0900_ai_ci", live("catalog/src/variables/settings.rs"), "Collation of literals.";
    "collation_database" Both own Kind::Collation, "utf8mb4_0900_ai_ci", inert, "Collation of the current database.";
    "collation_server" Both own Kind::Collation, "utf8mb4_0900_ai_ci", live("session/src/session/ddl/database.rs"), "Collation of new databases that name none.";
    "completion_type" Both own Kind::Enum(&["NO_CHAIN", "CHAIN", "RELEASE"]), "NO_CHAIN", live("catalog/src/variables/settings.rs"), "What COMMIT does besides.";
    "connection_memory_limit" Both guarded uint(2 << 20, u64::MAX), "18446744073709551615", live("catalog/src/variables/settings.rs"), "Bytes that the statements of a session may hold for sorts, groups, joins, buffered rows and large values, its user variables and its row locks included. A statement that needs more ends with error 4082 and is undone. With the default the server sets half of global_connection_memory_limit when it starts.";
    "connect_timeout" Global admin uint(2, 31536000), "10", live("server/src/connection/login.rs"), "Seconds a client may take to log in before it is sent away. For clients that are in, see wait_timeout.";
    "cte_max_recursion_depth" Both own uint(0, U32), "1000", live("catalog/src/variables/settings.rs"), "Most rounds of a query that WITH RECURSIVE lets read itself; one that would need more ends with error 3636. Raise it for deep trees and long series. For time instead of rounds, see max_execution_time.";
    "datadir" Global admin Kind::Text, "", start("server/src/serve.rs"), "Where the data is.";
    "default_authentication_plugin" Global admin Kind::Text, "caching_sha2_password", fixed, "Plugin of new accounts.";
    "authentication_policy" Global admin Kind::Text, "caching_sha2_password,,", fixed, "Plugin of new accounts.";
    "default_collation_for_utf8mb4" Both own Kind::Collation, "utf8mb4_0900_ai_ci", one, "No effect.";
    "default_password_lifetime" Global admin uint(0, 65535), "0", fixed, "Passwords do not expire here.";
    "default_storage_engine" Both own Kind::Engine, "InnoDB", one, "Every table is of the one engine; another name is error 1286.";
    "default_table_encryption" Both encryption Kind::Bool, "OFF", one, "Encryption does not exist here.";
    "default_tmp_storage_engine" Both own Kind::Engine, "InnoDB", one, "Likewise.";
    "default_week_format" Both own uint(0, 7), "0", live("catalog/src/variables/settings.rs"), "Default mode of WEEK().";
    "delay_key_write" Global admin Kind::Text, "ON", fixed, "Reported only.";
    "div_precision_increment" Both own uint(0, 30), "4", live("catalog/src/variables/settings.rs"), "Digits that a division, or AVG, adds to those of what is divided.";
    "end_markers_in_json" Both own Kind::Bool, "OFF", inert, "No effect.";
    "eq_range_index_dive_limit" Both own uint(0, U32), "200", live("catalog/src/variables/settings.rs"), "Ranges of a key are counted in its tree if they are fewer; else the statistics tell, as for all with 1. 0: any number is counted.";
    "error_count" Session own uint(0, 65535), "0", fixed, "Errors of the last statement.";
    "enforce_gtid_consistency" Global admin Kind::Enum(&["OFF", "ON", "WARN"]), "OFF", one, "Replication does not exist here.";
    "event_scheduler" Global admin Kind::Enum(&["OFF", "ON", "DISABLED"]), "OFF", one, "Events do not exist here.";
    "explain_json_format_version" Both own int(1, 2), "1", one, "EXPLAIN FORMAT=JSON has the first version's form.";
    "explicit_defaults_for_timestamp" Both own Kind::Bool, "ON", one, "TIMESTAMP columns have no hidden defaults.";
    "extra_max_connections" Global admin uint(1, 100000), "1", live("server/src/shared.rs"), "Connections at once through extra_port; one more for an account with CONNECTION_ADMIN or SUPER.";
    "extra_port" Global admin uint(0, 65535), "0", start("server/src/serve.rs"), "A second TCP port, 0 for none, for an administrator who must get in when max_connections is reached or the pool is held up: each of its connections has a thread of its own.";
    "external_user" Session own Kind::Text, "", fixed, "Reported only.";
    "flush" Global admin Kind::Bool, "OFF", fixed, "Reported only.";
    "foreign_key_checks" Both own Kind::Bool, "ON", live("catalog/src/variables/settings.rs"), "OFF: rows are changed without a look at foreign keys, tables may name parents that do not exist yet, and parents may be dropped. For loading dumps; what was let in meanwhile is not checked later.";
    "general_log" Global admin Kind::Bool, "OFF", live("observe/src/query_log.rs"), "Write every command of every client to general_log_file, as it comes and with passwords left out. For looking on for a while: it costs a write per statement.";
    "general_log_file" Global admin Kind::Text, "turnstile.log", live("observe/src/query_log.rs"), "File of the general log, relative to datadir, where its name must end in .log. FLUSH LOGS opens it anew after it was moved away.";
    "global_connection_memory_limit" Global admin uint(16 << 20, u64::MAX), "18446744073709551615", live("catalog/src/catalog/applied.rs"), "Bytes that the statements of all sessions may hold together; see connection_memory_limit. A statement that needs more ends with error 4081 and is undone, as does one for which the address space has no room. With the default the server sets three fifths of the memory that the machine, its control group and the address space limit leave beside the buffer pool when it starts.";
    "group_concat_max_len" Both own uint(4, u64::MAX), "1024", live("catalog/src/variables/settings.rs"), "Longest result of GROUP_CONCAT in bytes.";
    "gtid_mode" Global admin Kind::Enum(&["OFF", "OFF_PERMISSIVE", "ON_PERMISSIVE", "ON"]), "OFF", one, "Replication does not exist here.";
    "have_ssl" Global admin Kind::Text, "YES", fixed, "TLS is available.";
    "have_openssl" Global admin Kind::Text, "YES", fixed, "TLS is available.";
    "have_profiling" Global admin Kind::Text, "NO", fixed, "Reported only.";
    "have_query_cache" Global admin Kind::Text, "NO", fixed, "Reported only.";
    "histogram_generation_max_mem_size" Both guarded uint(1_000_000, u64::MAX), "20000000", live("session/src/session/histogram.rs"), "Bytes of memory for making the histograms of one statement: of a table with more rows than fit, some are looked at.";
    "hostname" Global admin Kind::Text, "", fixed, "Name of the machine.";
    "information_schema_stats_expiry" Both own uint(0, 31536000), "86400", inert("0"), "No effect.";
    "init_connect" Global admin Kind::Text, "", live("server/src/connection.rs"), "Statements that are run for each new connection, separated by semicolons, except for accounts with CONNECTION_ADMIN or SUPER. If one fails the connection ends with error 1184.";
    "init_file" Global admin Kind::Text, "", start("server/src/serve.rs"), "File of statements that are run at start, one a line or ended by semicolons, with all rights. If one fails the server does not start.";
    "innodb_adaptive_hash_index" Global admin Kind::Bool, "OFF", live("catalog/src/catalog/applied.rs"), "Remember in which leaf, and where in it, a key was found, so that the next search for it need not begin at the root. Worth trying when the working set fits the buffer pool and most statements look up single keys of large tables; switch it off, which empties it and stalls nobody, when Innodb_adaptive_hash_hash_searches grows no faster than Innodb_adaptive_hash_non_hash_searches, when the data is much larger than the buffer pool, or to save its memory, a sixteenth of innodb_buffer_pool_size. It has no latch, so unlike in MySQL it is not a point of contention, and innodb_adaptive_hash_index_parts does not matter to it.";
    "innodb_adaptive_hash_index_parts" Global admin uint(1, 512), "8", start("server/src/serve.rs"), "Number of parts in which the adaptive hash index counts and reports itself, when innodb_adaptive_hash_index is ON. In MySQL each part has a latch, and more parts mean less waiting; here nothing is latched, so leave it alone.";
    "innodb_adaptive_max_sleep_delay" Global admin uint(0, 1000000), "150000", live("catalog/src/catalog/applied.rs"), "Bound in microseconds within which innodb_thread_sleep_delay follows the load: it halves while nobody queues and grows by a quarter while several do. 0 keeps the delay as it is set; without innodb_thread_sleep_delay there is nothing to bound.";
    "innodb_autoinc_lock_mode" Global admin int(0, 2), "2", fixed, "Interleaved AUTO_INCREMENT values.";
    "innodb_buffer_pool_instances" Global admin uint(0, 64), "1", fixed, "Reported only: the page table of the one pool has no latch that several pools would share out.";
    "innodb_buffer_pool_size" Global admin uint(5 << 20, 1 << 46), "134217728", start("server/src/serve.rs"), "Bytes of the page cache, the most important size there is: what does not fit is read from disk again. Give it most of the memory of a machine that has nothing else to do.";
    "innodb_change_buffering" Global admin Kind::Enum(&["none", "inserts", "deletes", "changes", "purges", "all"]), "none", inert, "Accepted without effect: there is no change buffer, secondary indexes are changed at once.";
    "innodb_commit_concurrency" Global admin uint(0, 1000), "0", live("catalog/src/catalog/applied.rs"), "Transactions that may be between the start of their commit and the log being as durable as innodb_flush_log_at_trx_commit asks, 0 for no limit. One sync then serves at most so many commits, so leave it at 0 unless a device must be spared; it cannot be switched between 0 and another value while the server runs. innodb_thread_concurrency does not count commits.";
    "innodb_concurrency_tickets" Global admin uint(1, U32), "5000", live("catalog/src/catalog/applied.rs"), "Rows a statement may fetch or write per admission while innodb_thread_concurrency is not 0. Then it makes way if a short statement waits, and now and then if only long ones do. Lower it to let short statements in sooner; without a limit it plays no role.";
    "innodb_deadlock_detect" Global admin Kind::Bool, "ON", live("catalog/src/catalog/applied.rs"), "Look for a cycle whenever a transaction that holds locks has to wait for one that waits too, and roll back the one that has written least. OFF leaves deadlocks to innodb_lock_wait_timeout; switched on again it breaks the cycles that closed meanwhile. It costs nothing where there can be no cycle, so leave it on.";
    "innodb_default_row_format" Global admin Kind::Text, "dynamic", fixed, "Reported only.";
    "innodb_doublewrite" Global admin Kind::Text, "ON", fixed, "Pages are protected against torn writes.";
    "innodb_file_per_table" Global admin Kind::Bool, "OFF", fixed, "All tables are in one file.";
    "innodb_flush_log_at_timeout" Global admin uint(0, 2700), "1", inert, "No effect: with innodb_flush_log_at_trx_commit 0 or 2 the log is synced about once a second.";
    "innodb_flush_log_at_trx_commit" Global admin int(0, 2), "1", live("catalog/src/catalog/applied.rs"), "1: a commit is answered when the log is on disk, and survives anything. 2: when the log is handed to the kernel, and survives the end of the process but not of the machine. 0: at once; the last second may be lost. 2 or 0 only for data that can be made again: commits at the same moment share one sync anyway.";
    "innodb_flush_neighbors" Global admin int(0, 2), "0", inert, "No effect.";
    "innodb_flush_method" Global admin Kind::Text, "fsync", fixed, "Reported only.";
    "innodb_io_capacity" Global admin uint(100, U32), "10000", inert, "No effect: pages are written back at the pace the redo log asks for.";
    "innodb_io_capacity_max" Global admin uint(100, U32), "20000", inert, "No effect.";
    "innodb_lock_wait_timeout" Both own uint(1, 1073741824), "50", live("catalog/src/variables/settings.rs"), "Seconds to wait for a lock of a row or of the engine's table before error 1205 undoes the statement. A session keeps what the global value was when it began. Waits for DDL are under lock_wait_timeout.";
    "innodb_log_buffer_size" Global admin uint(1 << 18, U32), "67108864", inert, "No effect: the log's buffer has a fixed size.";
    "innodb_lru_scan_depth" Global admin uint(100, U32), "1024", inert, "No effect.";
    "innodb_max_purge_lag" Global admin uint(0, U32), "0", live("catalog/src/catalog/applied.rs"), "History list length from which statements that change rows wait a moment before they begin, longer the more purge is behind; 0 for never. To be set where long snapshots or bulk changes make history grow without end: it slows writers down, while innodb_max_purge_size and innodb_purge_batch_size only shape purge's own work.";
    "innodb_max_purge_lag_delay" Global admin uint(0, 10_000_000), "0", live("catalog/src/catalog/applied.rs"), "Longest delay, in microseconds, that innodb_max_purge_lag may impose on one statement; 0 for no limit but the engine's, which is 10 seconds.";
    "innodb_max_purge_size" Global admin uint(0, U32), "0", live("catalog/src/catalog/applied.rs"), "Most undo records that all purge threads together go through in one round before purge draws breath; 0 for no cap. A hard cap on the work between two pauses, to be lowered (500, say) if purge takes CPU or disk from statements in bursts; innodb_purge_batch_size only says how finely a round is cut and limits nothing.";
    "innodb_max_undo_log_size" Global admin uint(10 << 20, u64::MAX), "1073741824", inert, "Accepted without effect: undo pages lie among all others and are used again one by one, so there is no undo file that could grow beyond a size.";
    "innodb_monitor_disable" Global admin Kind::Text, "", live("observe/src/status/metrics.rs"), "Stop counters of INNODB_METRICS where they are: a name, a pattern with %, module_NAME or all. They are counted anyway; only what is shown stops.";
    "innodb_monitor_enable" Global admin Kind::Text, "", live("observe/src/status/metrics.rs"), "Let stopped counters of INNODB_METRICS go on. All are on at start.";
    "innodb_monitor_reset" Global admin Kind::Text, "", live("observe/src/status/metrics.rs"), "Begin COUNT_RESET of counters of INNODB_METRICS at 0; COUNT goes on.";
    "innodb_monitor_reset_all" Global admin Kind::Text, "", live("observe/src/status/metrics.rs"), "Set everything of stopped counters of INNODB_METRICS to 0; running ones are left alone, see innodb_monitor_reset.";
    "innodb_open_files" Global admin uint(10, 2147483647), "4000", fixed, "No effect: all tables are in one file.";
    "innodb_page_size" Global admin int(16384, 16384), "16384", only, "Bytes of a page.";
    "innodb_parallel_read_threads" Both own uint(1, 256), "4", inert, "No effect: one thread reads a table.";
    "innodb_print_all_deadlocks" Global admin Kind::Bool, "OFF", live("catalog/src/catalog/applied.rs"), "Write every deadlock into the server's log as SHOW ENGINE INNODB STATUS shows the last one. For finding out which statements meet; each costs a page of log.";
    "innodb_purge_batch_size" Global admin uint(1, 5000), "300", live("catalog/src/catalog/applied.rs"), "Undo records that a purge thread goes through in one undo lane before it turns to the next. Smaller spreads a round more evenly over threads and lanes, larger costs less; it does not limit a round, which innodb_max_purge_size does, except that what lies behind an old snapshot is looked at in sixteen such turns a round.";
    "innodb_purge_rseg_truncate_frequency" Global admin uint(1, 128), "128", inert, "Accepted without effect: undo pages are freed as soon as purge has passed them, so there is nothing to put off.";
    "innodb_purge_threads" Global admin uint(1, 32), "1", start("server/src/serve.rs"), "Threads that drop old versions. One does the ordinary work and calls the others when several undo lanes are far behind. 1 is enough up to some sixteen processors (MySQL 8.4 begins with 4 above that).";
    "innodb_read_io_threads" Global admin uint(1, 64), "4", start("server/src/serve.rs"), "Threads that read pages for sessions. While reads take longer than 40 us on the average, up to sixteen times as many are started, so that the disk has as many reads at once as sessions wait for; they end after ten seconds without work.";
    "innodb_read_only" Global admin Kind::Bool, "OFF", only, "Reported only.";
    "innodb_redo_log_capacity" Global admin uint(8 << 20, 1 << 39), "104857600", start("server/src/serve.rs"), "Bytes of redo kept at most.";
    "innodb_rollback_on_timeout" Global admin Kind::Bool, "OFF", start("session/src/session/transaction.rs"), "ON: a lock wait that times out (1205) rolls back the whole transaction, as a deadlock does; OFF: only the statement. Set it for applications that do not expect half a transaction after 1205. Timeouts of metadata locks undo nothing either way.";
    "innodb_spin_wait_delay" Global admin uint(0, 1000), "6", live("catalog/src/catalog/applied.rs"), "Longest pause between two looks at a latch that is held, in units of innodb_spin_wait_pause_multiplier. Raise it on machines with many cores whose threads disturb each other by looking; 0 looks without a pause. How often a thread looks is innodb_sync_spin_loops.";
    "innodb_spin_wait_pause_multiplier" Global admin uint(0, 100), "50", live("catalog/src/catalog/applied.rs"), "Processor pauses per unit of innodb_spin_wait_delay. Lower it where the processor's pause instruction is long.";
    "innodb_stats_auto_recalc" Global admin Kind::Bool, "ON", live("catalog/src/catalog/applied.rs"), "Statistics of a table are estimated anew when a tenth of it has changed.";
    "innodb_stats_on_metadata" Global admin Kind::Bool, "OFF", inert, "No effect.";
    "innodb_stats_persistent" Global admin Kind::Bool, "ON", fixed, "Reported only: statistics of tables are durable.";
    "innodb_stats_persistent_sample_pages" Global admin uint(1, 4096), "20", live("catalog/src/catalog/applied.rs"), "Leaves of a tree that are looked at to estimate statistics.";
    "innodb_status_output" Global admin Kind::Bool, "OFF", live("server/src/janitor.rs"), "Write the report of SHOW ENGINE INNODB STATUS into the log every 15 seconds. For watching a server nobody can connect to; it is some pages each time, and its averages since the last report are then of those seconds for SHOW ENGINE INNODB STATUS too.";
    "innodb_status_output_locks" Global admin Kind::Bool, "OFF", inert, "Accepted without effect: the report names the lock a transaction waits for; all locks are in performance_schema.data_locks.";
    "innodb_strict_mode" Both strict Kind::Bool, "ON", inert, "No effect.";
    "innodb_sync_spin_loops" Global admin uint(0, U32), "30", live("catalog/src/catalog/applied.rs"), "Looks at a latch that is held before the thread goes to sleep. Raise it when SHOW ENGINE INNODB MUTEX counts many waits beside idle processors; 0 sleeps at once. Row locks are not meant: innodb_lock_wait_timeout is theirs.";
    "innodb_table_locks" Both own Kind::Bool, "ON", inert, "No effect.";
    "innodb_thread_concurrency" Global admin uint(0, 1000), "0", live("catalog/src/catalog/applied.rs"), "Statements on rows that may be inside the engine at once, 0 for no limit; the others wait in order, holding no thread. Set it to keep long statements from sharing the processors with everything else. thread_pool_size is how many threads run statements, max_connections how many clients there may be; innodb_concurrency_tickets says when a long statement makes way.";
    "innodb_thread_sleep_delay" Global admin uint(0, 1000000), "0", live("catalog/src/catalog/applied.rs"), "Microseconds that a statement sleeps which finds innodb_thread_concurrency used up, before it joins the queue. 0 here (MySQL: 10000): the queue is in order and wakes whoever is next, so the sleep only leaves slots empty. It is there to show what it costs.";
    "innodb_undo_log_truncate" Global admin Kind::Bool, "ON", inert, "Accepted without effect: what purge frees of undo is used again at once, there are no undo files to truncate.";
    "innodb_use_native_aio" Global admin Kind::Bool, "OFF", fixed, "Reported only.";
    "innodb_write_io_threads" Global admin uint(1, 64), "4", fixed, "Reported only.";
    "innodb_version" Global admin Kind::Text, "8.4.0", fixed, "Reported only.";
    "insert_id" Session own uint(0, u64::MAX), "0", live("catalog/src/session_state.rs"), "Next AUTO_INCREMENT value of this session.";
    "interactive_timeout" Both own uint(1, 31536000), "28800", live("session/src/session.rs"), "What wait_timeout begins as for clients that say they are a person at a terminal.";
    "internal_tmp_mem_storage_engine" Both not_super Kind::Enum(&["MEMORY", "TempTable"]), "TempTable", inert, "No effect: intermediate results are kept in the statement's memory.";
    "join_buffer_size" Both own uint(128, u64::MAX), "262144", live("catalog/src/variables/settings.rs"), "Bytes of memory that the rows of a table may take which a join reads once and keeps; of what is more, both sides go to a file in tmpdir, in parts that are joined one by one. Counts from 4 MiB on, as sort_buffer_size does. A join whose rows come in the order that ORDER BY wants, because they are read by a key, keeps all in memory.";
    "key_buffer_size" Global admin uint(0, u64::MAX), "8388608", inert, "No effect.";
    "large_pages" Global admin Kind::Bool, "OFF", fixed, "Reported only.";
    "last_insert_id" Session own uint(0, u64::MAX), "0", live("catalog/src/session_state.rs"), "What LAST_INSERT_ID() returns.";
    "lc_messages" Both own Kind::Locale, "en_US", one, "No effect.";
    "lc_time_names" Both own Kind::Locale, "en_US", one, "No effect.";
    "license" Global admin Kind::Text, "MIT OR Apache-2.0", fixed, "Licence of the server.";
    "local_infile" Global admin Kind::Bool, "OFF", one, "LOAD DATA LOCAL does not exist here.";
    "lock_wait_timeout" Both own uint(1, 31536000), "31536000", live("catalog/src/variables/settings.rs"), "Seconds to wait for a metadata lock.";
    "log_bin" Global admin Kind::Bool, "OFF", only, "There is no binary log.";
    "log_bin_trust_function_creators" Global admin Kind::Bool, "OFF", inert("*"), "No effect: there are neither stored functions nor a binary log.";
    "log_error" Global admin Kind::Text, "stderr", start("server/src/serve.rs"), "File that the log is added to, relative to datadir; stderr for standard error.";
    "log_output" Global admin Kind::Enum(&["FILE", "NONE"]), "FILE", live("observe/src/query_log.rs"), "Where the general log and the slow query log go. There are no tables for them, so TABLE is refused.";
    "log_queries_not_using_indexes" Global admin Kind::Bool, "OFF", one, "Reported only.";
    "log_timestamps" Global admin Kind::Enum(&["UTC", "SYSTEM"]), "UTC", one, "Reported only.";
    "long_query_time" Both own Kind::Double { min: 0.0, max: 31536000.0 }, "10.000000", live("catalog/src/variables/settings.rs"), "Seconds from which a statement counts in Slow_queries and goes into the slow query log.";
    "low_priority_updates" Both not_super Kind::Bool, "OFF", inert, "No effect.";
    "lower_case_file_system" Global admin Kind::Bool, "OFF", fixed, "Table names are compared as they are.";
    "lower_case_table_names" Global admin int(0, 2), "0", only, "Table names are compared as they are.";
    "mandatory_roles" Global roles Kind::Roles, "", live("catalog/src/catalog/applied.rs"), "Roles that every account holds: names as GRANT takes them, separated by commas. Accounts with SYSTEM_USER are none. They are active from login on.";
    "max_allowed_packet" Both own uint(1024, 1 << 30), "67108864", live("catalog/src/variables/settings.rs"), "Longest message in bytes, however many packets it comes in; a longer one gets error 1153 and ends the connection. Connections to come follow a change.";
    "max_connect_errors" Global admin uint(1, u64::MAX), "100", inert, "No effect.";
    "max_connections" Global admin uint(1, 100000), "10000", live("server/src/shared.rs"), "Connections at once; one more for an account with CONNECTION_ADMIN or SUPER. Others get error 1040. Connections of extra_port are not counted.";
    "max_error_count" Both not_super uint(0, 65535), "1024", live("catalog/src/variables/settings.rs"), "Errors, warnings and notes kept for SHOW WARNINGS; all are counted.";
    "max_execution_time" Both own uint(0, U32), "0", live("catalog/src/variables/settings.rs"), "Milliseconds a SELECT may take, waiting included, before it ends with error 3024; 0 for no limit. Statements that change something are never ended by it. A wait for a row lock has innodb_lock_wait_timeout, a silent client wait_timeout.";
    "max_heap_table_size" Both own uint(16384, u64::MAX), "16777216", inert, "No effect.";
    "max_join_size" Both own uint(1, u64::MAX), "18446744073709551615", inert, "No effect.";
    "max_length_for_sort_data" Both own uint(4, 8388608), "4096", inert, "No effect.";
    "max_prepared_stmt_count" Global admin uint(0, 4194304), "16382", live("catalog/src/catalog.rs"), "Prepared statements of all sessions.";
    "max_seeks_for_key" Both own uint(1, u64::MAX), "18446744073709551615", inert, "No effect.";
    "max_sort_length" Both own uint(4, 8388608), "1024", inert, "No effect.";
    "max_sp_recursion_depth" Both own uint(0, 255), "0", inert, "No effect.";
    "max_user_connections" Both own uint(0, U32), "0", live("server/src/connection/login.rs"), "Connections at once of one account, 0 for no limit; one more gets error 1203. The global value counts, for clients to come.";
    "min_examined_row_limit" Both not_super uint(0, u64::MAX), "0", inert, "No effect.";
    "net_buffer_length" Both own uint(1024, 1048576), "16384", inert, "Reported only.";
    "net_read_timeout" Both own uint(1, 31536000), "30", live("catalog/src/variables/settings.rs"), "Seconds a client may pause in the middle of a message before the connection is closed with error 1159. Between messages wait_timeout counts.";
    "net_retry_count" Both own uint(1, u64::MAX), "10", inert, "No effect.";
    "net_write_timeout" Both own uint(1, 31536000), "60", live("catalog/src/variables/settings.rs"), "Seconds a client may refuse to take more of its answer before the connection is closed.";
    "new" Both own Kind::Bool, "OFF", inert, "No effect.";
    "old_alter_table" Both own Kind::Bool, "OFF", inert, "No effect.";
    "open_files_limit" Global admin uint(0, U32), "1048576", fixed, "Reported only.";
    "optimizer_prune_level" Both own int(0, 1), "1", inert, "No effect.";
    "optimizer_search_depth" Both own int(0, 62), "62", inert, "No effect.";
    "optimizer_switch" Both own Kind::Switches(OPTIMIZER), "", live("catalog/src/variables/settings.rs"), "Which ways to run a query are allowed: block_nested_loop (hashing), semijoin, prefer_ordering_index, index_merge with index_merge_union and index_merge_sort_union, condition_fanout_filter, derived_merge, derived_condition_pushdown. One that is never taken here is forbidden as well as allowed; a flag that forbids what is done all the same (materialization, use_index_extensions, hash_set_operations), or orders what is not there (use_invisible_indexes, hypergraph_optimizer), is kept with a warning.";
    "optimizer_trace" Both own Kind::Switches(OPTIMIZER_TRACE), "", live("catalog/src/variables/settings.rs"), "enabled: each statement that reads or changes rows is planned anew and leaves a trace of that in information_schema.OPTIMIZER_TRACE. one_line: without line breaks and blanks.";
    "optimizer_trace_features" Both own Kind::Switches(OPTIMIZER_TRACE_FEATURES), "", live("catalog/src/variables/settings.rs"), "What traces have: greedy_search (orders of tables that were considered), range_optimizer (ways to read each table). dynamic_range and repeated_subselect leave nothing out: nothing is planned while a statement runs.";
    "optimizer_trace_limit" Both own int(0, i32::MAX as i64), "1", live("catalog/src/variables/settings.rs"), "So many traces are kept, from the one that optimizer_trace_offset says on.";
    "optimizer_trace_max_mem_size" Both own uint(0, U32), "1048576", live("catalog/src/variables/settings.rs"), "Bytes that all kept traces may have. What is cut off is counted in MISSING_BYTES_BEYOND_MAX_MEM_SIZE.";
    "optimizer_trace_offset" Both own int(i32::MIN as i64, i32::MAX as i64), "-1", live("catalog/src/variables/settings.rs"), "The first trace that is kept, counted from when this or optimizer_trace_limit was set; below 0: counted back from the last one.";
    "parser_max_mem_size" Both own uint(0, u64::MAX), "18446744073709551615", inert, "No effect.";
    "performance_schema" Global admin Kind::Bool, "ON", fixed, "Locks, waits, sessions, status and variables are there; statements are counted by digest; files, tables and memory are not instrumented.";
    "performance_schema_digests_size" Global admin uint(0, 1048576), "10000", start("catalog/src/catalog.rs"), "Kinds of statements that are counted one by one in performance_schema.events_statements_summary_by_digest; those beyond share a row without a digest. 0: statements are not counted by digest, and no latencies are measured.";
    "persisted_globals_load" Global admin Kind::Bool, "ON", start("catalog/src/variables/values.rs"), "Take over at start what SET PERSIST has kept in mysqld-auto.cnf. OFF for one start when a kept value keeps the server from starting; RESET PERSIST then removes it.";
    "pid_file" Global admin Kind::Text, "", start("server/src/serve.rs"), "Where the process id is written; empty for nowhere. Relative to datadir.";
    "port" Global admin uint(0, 65535), "3306", start("server/src/serve.rs"), "TCP port.";
    "preload_buffer_size" Both not_super uint(1024, 1 << 30), "32768", inert, "No effect.";
    "print_identified_with_as_hex" Both own Kind::Bool, "OFF", live("session/src/session/show/of_account.rs"), "SHOW CREATE USER writes hashes with unprintable bytes in hexadecimal.";
    "profiling" Both own Kind::Bool, "OFF", inert, "No effect.";
    "protocol_version" Global admin int(10, 10), "10", fixed, "Version of the protocol.";
    "pseudo_thread_id" Session guarded uint(0, u64::MAX), "0", inert, "Connection id.";
    "query_cache_size" Global admin uint(0, u64::MAX), "0", fixed, "There is no query cache.";
    "query_cache_type" Both own Kind::Text, "OFF", fixed, "There is no query cache.";
    "query_alloc_block_size" Both own uint(1024, U32), "8192", inert, "No effect.";
    "query_prealloc_size" Both own uint(8192, u64::MAX), "8192", inert, "No effect.";
    "rand_seed1" Session own uint(0, u64::MAX), "0", inert, "No effect.";
    "rand_seed2" Session own uint(0, u64::MAX), "0", inert, "No effect.";
    "range_optimizer_max_mem_size" Both own uint(0, u64::MAX), "8388608", inert, "No effect.";
    "read_buffer_size" Both own uint(8192, 1 << 31), "131072", inert, "No effect.";
    "read_only" Global admin Kind::Bool, "OFF", live("catalog/src/catalog/applied.rs"), "Only accounts with CONNECTION_ADMIN or SUPER may write (error 1290), and COMMIT of what others wrote before is refused. OFF switches super_read_only off too. Statements that run when it is set come to their end.";
    "read_rnd_buffer_size" Both own uint(1, 1 << 31), "262144", inert, "No effect.";
    "restrict_fk_on_non_standard_key" Both own Kind::Bool, "ON", live("catalog/src/variables/settings.rs"), "A foreign key must refer to a unique key of just its columns (error 6125). OFF: any key of the parent that begins with them will do, as before MySQL 8.4.";
    "require_secure_transport" Global admin Kind::Bool, "OFF", live("server/src/connection/login.rs"), "Refuse clients that come neither by TLS nor by the Unix socket (3159).";
    "secure_file_priv" Global admin Kind::Text, "NULL", fixed, "Files cannot be read or written by statements.";
    "server_id" Global admin uint(0, U32), "1", inert("*"), "Reported only.";
    "server_uuid" Global admin Kind::Text, "", fixed, "Names this data directory: kept in its file auto.cnf.";
    "session_track_gtids" Both own Kind::Enum(&["OFF", "OWN_GTID", "ALL_GTIDS"]), "OFF", inert, "No effect.";
    "session_track_schema" Both own Kind::Bool, "ON", inert, "No effect.";
    "session_track_state_change" Both own Kind::Bool, "OFF", inert, "No effect.";
    "session_track_system_variables" Both own Kind::Text, "time_zone,autocommit,character_set_client,character_set_results,character_set_connection", inert, "No effect.";
    "session_track_transaction_info" Both own Kind::Enum(&["OFF", "STATE", "CHARACTERISTICS"]), "OFF", inert, "No effect.";
    "skip_external_locking" Global admin Kind::Bool, "ON", fixed, "Reported only.";
    "skip_name_resolve" Global admin Kind::Bool, "ON", fixed, "Hosts of accounts are addresses.";
    "skip_networking" Global admin Kind::Bool, "OFF", start("server/src/serve.rs"), "Unix socket only.";
    "skip_show_database" Global admin Kind::Bool, "OFF", only, "Reported only.";
    "slow_query_log" Global admin Kind::Bool, "OFF", live("observe/src/query_log.rs"), "Write statements that took longer than long_query_time to slow_query_log_file, when they end, waits included. Lock_time is not measured and 0, rows examined are not told.";
    "slow_query_log_file" Global admin Kind::Text, "turnstile-slow.log", live("observe/src/query_log.rs"), "File of the slow query log, relative to datadir, where its name must end in .log.";
    "socket" Global admin Kind::Text, "", start("server/src/serve.rs"), "Path of the Unix socket.";
    "sort_buffer_size" Both own uint(32768, u64::MAX), "262144", live("catalog/src/variables/settings.rs"), "Bytes of memory that the rows of a sort may take; what is more goes to a file in tmpdir, in sorted runs that are merged. Rows in memory take several times what MySQL's packed ones do, so fewer than 4 MiB of them are never worth a file here: values below that mean 4 MiB. Nor may it be more than an eighth of connection_memory_limit.";
    "sql_auto_is_null" Both own Kind::Bool, "OFF", live("catalog/src/variables/settings.rs"), "WHERE column IS NULL finds the row last inserted, if the column is AUTO_INCREMENT and the table the only one of the query.";
    "sql_big_selects" Both own Kind::Bool, "ON", inert, "No effect.";
    "sql_buffer_result" Both own Kind::Bool, "OFF", inert, "No effect.";
    "sql_generate_invisible_primary_key" Both guarded Kind::Bool, "OFF", one, "No effect.";
    "sql_log_bin" Session guarded Kind::Bool, "ON", inert("*"), "There is no binary log.";
    "sql_log_off" Both guarded Kind::Bool, "OFF", live("catalog/src/variables/settings.rs"), "Leave this session's statements out of the general log.";
    "sql_mode" Both own Kind::Set(SQL_MODES), MODE_DEFAULT, live("catalog/src/variables/settings.rs"), "How statements are read and values checked.";
    "sql_notes" Both own Kind::Bool, "ON", live("catalog/src/variables/settings.rs"), "OFF: notes are neither kept nor counted.";
    "sql_quote_show_create" Both own Kind::Bool, "ON", one, "No effect.";
    "sql_require_primary_key" Both guarded Kind::Bool, "OFF", live("catalog/src/variables/settings.rs"), "Refuse to make a table without a primary key, or to take it away (error 3750).";
    "sql_safe_updates" Both own Kind::Bool, "OFF", live("catalog/src/variables/settings.rs"), "Refuse an UPDATE or DELETE that neither finds its rows by a key nor has a LIMIT (error 1175).";
    "sql_select_limit" Both own uint(0, u64::MAX), "18446744073709551615", live("catalog/src/variables/settings.rs"), "LIMIT of SELECT statements that have none, and most rows of the SHOW statements that are lists.";
    "sql_warnings" Both own Kind::Bool, "OFF", inert, "No effect.";
    "ssl_ca" Global admin Kind::Text, "", fixed, "File of the certificate authority.";
    "ssl_capath" Global admin Kind::Text, "", fixed, "Reported only.";
    "ssl_cert" Global admin Kind::Text, "", start("server/src/serve.rs"), "File of the server's certificate.";
    "ssl_cipher" Global admin Kind::Text, "", fixed, "Reported only; the ciphers are those of the TLS library.";
    "ssl_key" Global admin Kind::Text, "", start("server/src/serve.rs"), "File of the server's key.";
    "stored_program_cache" Global admin uint(16, 524288), "256", inert, "No effect.";
    "super_read_only" Global admin Kind::Bool, "OFF", live("catalog/src/catalog/applied.rs"), "Nobody may write (error 1290). ON switches read_only on too.";
    "sync_binlog" Global admin uint(0, U32), "1", inert, "There is no binary log; what a commit waits for is under innodb_flush_log_at_trx_commit.";
    "system_time_zone" Global admin Kind::Text, "UTC", fixed, "Zone of the machine.";
    "table_definition_cache" Global admin uint(400, 524288), "2000", inert, "No effect.";
    "table_open_cache" Global admin uint(1, 524288), "4000", inert, "No effect.";
    "thread_cache_size" Global admin uint(0, 16384), "0", inert, "No effect: the pool keeps its threads, and one-thread-per-connection starts a new one each time.";
    "thread_handling" Global admin Kind::Enum(&["pool-of-threads", "one-thread-per-connection", "no-threads"]), "pool-of-threads", start("server/src/serve.rs"), "What runs the sessions; the same session code in each. pool-of-threads: thread_pool_size workers for all. one-thread-per-connection: a thread each, as MySQL without a pool, for comparison. no-threads: one connection after another, for debugging.";
    "thread_pool_idle_timeout" Global admin uint(1, U32), "60", live("server/src/hosts.rs"), "Seconds a standby thread waits for a stall before it ends.";
    "thread_pool_max_threads" Global admin uint(1, 65536), "65536", live("server/src/hosts.rs"), "Most threads of all groups together, thread_pool_size not being reduced by it. Limits what stalls may add; thread_pool_oversubscribe limits it for one group.";
    "thread_pool_oversubscribe" Global admin uint(1, 1000), "3", live("server/src/hosts.rs"), "Threads of a group that may be at work besides the first, each inside a statement that has outlasted thread_pool_stall_limit.";
    "thread_pool_prio_kickup_timer" Global admin uint(0, U32), "1000", live("server/src/hosts.rs"), "Milliseconds that sessions without priority are made to wait at most while sessions with priority keep coming (see thread_pool_priority). 0 gives priority no effect beyond one turn of the worker.";
    "thread_pool_priority" Both own Kind::Enum(&["auto", "high", "low"]), "auto", live("catalog/src/variables/settings.rs"), "Who goes first on a worker that has more to do than it can: auto, sessions whose transaction holds locks or has written; high or low, this session always or never. A statement that has used up its slice goes behind all of them.";
    "thread_pool_size" Global admin uint(0, 100000), "0", start("server/src/serve.rs"), "Groups of the pool, each with one thread at work and the sessions that were given to it, 0 for the number of processors less one, which is left to the log writer, purge and the network. More groups than processors help only where statements block in the kernel.";
    "thread_pool_stall_limit" Global admin uint(1, U32), "500", live("server/src/hosts.rs"), "Milliseconds after which a statement that neither ends, waits nor yields counts as a stall; another thread then takes over the rest of its group. Long scans, joins and sorts yield by themselves every half millisecond and are no stalls. Noticed within twice the time.";
    "thread_stack" Global admin uint(131072, 1 << 30), "1048576", fixed, "Reported only.";
    "time_zone" Both own Kind::TimeZone, "SYSTEM", live("catalog/src/variables/settings.rs"), "Zone of NOW() and of TIMESTAMP columns.";
    "timestamp" Session own Kind::Double { min: 0.0, max: 4102444800.0 }, "0", live("catalog/src/variables/settings.rs"), "What NOW() starts from; 0 for the clock.";
    "tls_version" Global admin Kind::Text, "TLSv1.2,TLSv1.3", start("server/src/serve.rs"), "TLS versions that are spoken: TLSv1.2, TLSv1.3 or both; empty for no TLS.";
    "tmp_table_size" Both own uint(1024, u64::MAX), "16777216", live("catalog/src/variables/settings.rs"), "Bytes of memory that groups, different rows, or the rows of a derived table, a set operation, a query of WITH or an INSERT ... SELECT, may take; what is more goes to a file in tmpdir. Counts from 4 MiB on, as sort_buffer_size does.";
    "tmpdir" Global admin Kind::Text, "/tmp", start("catalog/src/catalog.rs"), "Folder where statements put rows that are too many for their memory, an absolute path. The server does not start where it cannot make files there. They have no names and are gone with their statement, or with the server, however it ends; one that finds no space there ends with error 3.";
    "transaction_alloc_block_size" Both own uint(1024, 131072), "8192", inert, "No effect.";
    "transaction_isolation" Both own Kind::Enum(ISOLATION_LEVELS), "REPEATABLE-READ", live("catalog/src/variables/settings.rs"), "Isolation of new transactions.";
    "transaction_prealloc_size" Both own uint(1024, 131072), "4096", inert, "No effect.";
    "transaction_read_only" Both own Kind::Bool, "OFF", live("catalog/src/variables/settings.rs"), "New transactions refuse writes.";
    "turnstile_blind_wait_ms" Global admin uint(0, 1 << 32), "10", live("catalog/src/catalog/applied.rs"), "How long, in milliseconds, while innodb_deadlock_detect is OFF, a transaction that others wait for waits for an older one that waits, too. Then it is rolled back with error 1213, cycle or not: in every cycle there is one like that. 0: deadlocks last until innodb_lock_wait_timeout. Not in MySQL.";
    "turnstile_console" Global admin Kind::Text, "", start("server/src/serve.rs"), "Where the console listens, [ADDRESS:]PORT; empty for nowhere. Metrics, health and a page about the running server over HTTP; on loopback unless an address is given. The option --console=[ADDRESS:]PORT means the same. Not in MySQL.";
    "turnstile_console_host" Global admin Kind::Text, "", start("server/src/serve.rs"), "Names, with commas between them, by which browsers may ask for the console, besides localhost, its address and addresses in digits; a reverse proxy's name is one. Whoever comes by such a name needs an account for everything but /healthz and /readyz. The option --console-host=NAME means the same. Not in MySQL.";
    "turnstile_hot_row" Global admin Kind::Enum(&["OFF", "ON", "HINT_ONLY"]), "OFF", live("catalog/src/catalog/applied.rs"), "Hand a row that others wait for on to the next of them as soon as the transaction that has changed it waits for its client. Who gets it builds on a change that is not committed yet: it commits after its predecessor and is rolled back with it (error 1213). For rows that everybody changes in transactions of several statements; consistent reads see none of it. HINT_ONLY: only between statements with the hint HOT_ROW, or with COMMIT_ON_SUCCESS, ROLLBACK_ON_FAIL or TARGET_AFFECT_ROW. Not in MySQL.";
    "turnstile_hot_row_group_cap" Global admin uint(1, 1 << 20), "1024", live("catalog/src/catalog/applied.rs"), "Most transactions that hand one row on, with turnstile_hot_row, before the first of them has ended: the rollback of one takes all behind it along. Not in MySQL.";
    "turnstile_hot_row_min_waiters" Global admin uint(1, 1 << 20), "1", live("catalog/src/catalog/applied.rs"), "How many must wait for a row for turnstile_hot_row to begin handing it on. Not in MySQL.";
    "turnstile_hot_row_patience_ms" Global admin uint(1, 1 << 32), "5000", live("catalog/src/catalog/applied.rs"), "How long, in milliseconds, a transaction that is to commit waits for those before it at a row that turnstile_hot_row has handed on. Then the first of them, whose client dawdles, is rolled back, and with it all behind it. Not in MySQL.";
    "turnstile_hot_row_queue_cap" Global admin uint(0, 1 << 32), "0", live("catalog/src/catalog/applied.rs"), "Most transactions that wait for one row, or for the gap before it: one more gets error 1205 at once, and its statement is taken back. 0 for no limit. Not in MySQL.";
    "turnstile_lock_queue_skips" Global admin uint(0, 1024), "16", live("catalog/src/catalog/applied.rs"), "Among those who wait for one lock, a transaction that others wait for goes first, until it has been put before the one that waits longest for so many times. It makes fewer deadlocks. 0 for first come, first served. Not in MySQL.";
    "turnstile_lock_wait_timeout_ms" Both own uint(0, 1 << 40), "0", live("catalog/src/variables/settings.rs"), "Milliseconds to wait for a lock of a row, in the place of innodb_lock_wait_timeout, which knows seconds only. 0 for that one. Not in MySQL.";
    "turnstile_read_durable" Both own Kind::Bool, "OFF", live("catalog/src/variables/settings.rs"), "No statement ends before everything it can have seen is as durable as innodb_flush_log_at_trx_commit makes a commit. When OFF, a statement that reads can see, and answer with, a commit whose log is not synced yet and which a power cut in that moment takes back. Not in MySQL.";
    "turnstile_statement_retries" Both own uint(0, 1000), "2", live("catalog/src/variables/settings.rs"), "How often an autocommitted INSERT, REPLACE, UPDATE or DELETE that is a deadlock's victim (error 1213), or that is rolled back with its group at a hot row, is begun again within the server before its client is told. Nothing was promised to the client then, and nothing is left of the first try but gaps in AUTO_INCREMENT; a statement that has set a user variable, called LAST_INSERT_ID(value), slept, or taken or released a lock of GET_LOCK is not begun again. KILL ends it. Never in a transaction of several statements. Not in MySQL.";
    "unique_checks" Both own Kind::Bool, "ON", inert("*"), "No effect.";
    "updatable_views_with_limit" Both own Kind::Enum(&["NO", "YES"]), "YES", inert, "No effect.";
    "version" Global admin Kind::Text, crate::version::VERSION, fixed, "Version of the server.";
    "version_comment" Global admin Kind::Text, crate::version::VERSION_COMMENT, fixed, "Name of the server.";
    "version_compile_machine" Global admin Kind::Text, "x86_64", fixed, "Reported only.";
    "version_compile_os" Global admin Kind::Text, "Linux", fixed, "Reported only.";
    "wait_timeout" Both own uint(1, 31536000), "28800", live("catalog/src/variables/settings.rs"), "Seconds a connection may be silent between statements before it is closed with error 4031 and its transaction rolled back. Looked at once a second. Pauses within a message or an answer have net_read_timeout and net_write_timeout.";
    "warning_count" Session own uint(0, 65535), "0", fixed, "Warnings of the last statement.";
    "windowing_use_high_precision" Both own Kind::Bool, "ON", inert, "No effect.";
};
