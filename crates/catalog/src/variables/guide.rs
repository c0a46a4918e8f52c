//! The topics of the reference page: which variables belong together, and how they differ from each other.
//! What one variable does stands in its own description in the table.

/// Variables that one reads about together.
#[derive(Clone, Copy, Debug)]
pub struct Topic {
    /// Heading.
    pub title: &'static str,
    /// What the topic is about and how its variables differ; paragraphs of Markdown.
    pub text: &'static str,
    /// The variables, the most important first.
    pub names: &'static [&'static str],
}

/// The topics, contention first. Variables in none of them come behind, by name.
pub const TOPICS: &[Topic] = &[
    Topic {
        title: "Deadlocks and lock waits",
        text: "A statement that needs a row somebody else has locked waits. Two things end a wait that would last for ever: detection \
finds the cycle when it closes and rolls back the transaction that has written least (error 1213), and a timeout gives up a wait after \
a time, cycle or not (error 1205).

`innodb_deadlock_detect` is the first, `innodb_lock_wait_timeout` the second, and they do not replace each other: with detection OFF a \
deadlock would cost every transaction in it the whole timeout, so waits are ordered by age then: `turnstile_blind_wait_ms`. In MySQL detection is often switched off because its cost grows with the \
queue; here a waiter that holds nothing anybody waits for is not searched at all, and the switch is there for comparison. \
A change that is a transaction of its own and is chosen as the victim is begun again within the server, `turnstile_statement_retries` \
times at most: nothing was promised to its client. 2 is the default because it changes nothing but how often a client is told 1213, and \
because who fails three times in a row does better to hear of it.

`innodb_rollback_on_timeout` decides how much a timeout undoes, `lock_wait_timeout` is another clock altogether: it is for metadata, \
that is, for statements that wait for a CREATE, ALTER, DROP or LOCK TABLES or the other way round.

`turnstile_lock_wait_timeout_ms` is the timeout for those who count in milliseconds, `turnstile_hot_row_queue_cap` refuses whoever would be one too many \
in the queue of a row, so that a shop says no at once. `turnstile_lock_queue_skips` is how unfair a queue may be to those that nobody waits for.",
        names: &[
            "innodb_deadlock_detect",
            "turnstile_blind_wait_ms",
            "innodb_lock_wait_timeout",
            "turnstile_lock_wait_timeout_ms",
            "turnstile_hot_row_queue_cap",
            "turnstile_lock_queue_skips",
            "turnstile_statement_retries",
            "innodb_rollback_on_timeout",
            "innodb_print_all_deadlocks",
            "lock_wait_timeout",
        ],
    },
    Topic {
        title: "Hot rows in transactions of several statements",
        text: "A transaction that has changed a row keeps it locked until its client has sent COMMIT, a round trip later; when everybody \
wants that row, the round trips add up. With `turnstile_hot_row` the row goes to the next one as soon as the transaction waits for its \
client. The successor builds on the change, commits after its predecessor, and is rolled back with it: error 1213, as for a deadlock, \
and the client begins again. Consistent reads see nothing of it; locking reads, ranges and INSERT wait as ever, and nobody gets past them.

HINT_ONLY does so between statements with the hint HOT_ROW (or those that end an order) alone; NO_HOT_ROW keeps one out of it.

It is for changes of one row by its key that touch no index: stock, counters, balances. Where rollbacks are frequent, or clients dawdle \
within their transactions, each takes all along who came after: `turnstile_hot_row_group_cap` says how many those may be, \
`turnstile_hot_row_patience_ms` for how long they wait for one that dawdles. `turnstile_hot_row_min_waiters` keeps rows out of it that \
are not hot.",
        names: &[
            "turnstile_hot_row",
            "turnstile_hot_row_min_waiters",
            "turnstile_hot_row_group_cap",
            "turnstile_hot_row_patience_ms",
        ],
    },
    Topic {
        title: "Connections and threads",
        text: "Three numbers sound alike and limit different things. `max_connections` says how many clients there may be; one more is \
refused (error 1040). `thread_pool_size` says how many threads run their statements, and it need not grow with the clients: a session \
that waits for a lock, a page or its client holds no thread. `innodb_thread_concurrency` (next topic) says how many statements may be \
among the rows at once, on however many threads; the others queue in order.

A group of the pool runs one statement at a time. One that neither ends nor waits nor yields for `thread_pool_stall_limit` is a \
stall, and another thread takes over the rest of its group: at most `thread_pool_oversubscribe` of them in a group, \
`thread_pool_max_threads` in all. `thread_pool_priority` says who goes first on a thread that several sessions want, and \
`thread_pool_prio_kickup_timer` how long that may go against the others. `extra_port` is the way in when all of that is full.",
        names: &[
            "thread_handling",
            "thread_pool_size",
            "thread_pool_stall_limit",
            "thread_pool_oversubscribe",
            "thread_pool_max_threads",
            "thread_pool_idle_timeout",
            "thread_pool_priority",
            "thread_pool_prio_kickup_timer",
            "max_connections",
            "max_user_connections",
            "extra_port",
            "extra_max_connections",
            "back_log",
            "thread_cache_size",
        ],
    },
    Topic {
        title: "Admission",
        text: "With `innodb_thread_concurrency` 0, the default, every statement goes straight to its rows, and nothing in this topic plays \
a role. With a limit, a statement is admitted with `innodb_concurrency_tickets` tickets, spends one for each row it fetches or writes, \
and without tickets makes way for whoever waits: a point statement needs a few tickets and never queues twice, a scan needs millions. \
Few tickets let short statements in sooner, many let long ones run on; while only long ones compete they alternate in slices that grow, \
so that few tickets do not make them slower. A statement that waits for a row lock gives its place back meanwhile.

`innodb_thread_sleep_delay` is MySQL's other way of waiting for a place, a sleep before the queue; here the queue is fair and wakes \
exactly who is next, so the sleep is 0 and only shows what it costs, with `innodb_adaptive_max_sleep_delay` as its bound. \
`innodb_commit_concurrency` limits commits, which the other limit does not count.",
        names: &[
            "innodb_thread_concurrency",
            "innodb_concurrency_tickets",
            "innodb_commit_concurrency",
            "innodb_thread_sleep_delay",
            "innodb_adaptive_max_sleep_delay",
        ],
    },
    Topic {
        title: "Adaptive hash index",
        text: "A memory of where keys were found, which saves the way down the tree. It pays where the data fits the buffer pool and \
statements look up single keys; it costs where pages come and go. It can be switched at any time; the counters \
`Innodb_adaptive_hash_hash_searches` and `Innodb_adaptive_hash_non_hash_searches` tell whether it earns its keep.",
        names: &["innodb_adaptive_hash_index", "innodb_adaptive_hash_index_parts"],
    },
    Topic {
        title: "Latches",
        text: "A latch protects a page or a structure for well under a microsecond; it is no lock of a row and no transaction holds one. A \
thread that finds one taken looks again `innodb_sync_spin_loops` times and then sleeps. Between two looks it pauses, at most \
`innodb_spin_wait_delay` times `innodb_spin_wait_pause_multiplier` processor pauses. So the first says how long a thread competes, the \
other two how loudly. Change them only with SHOW ENGINE INNODB MUTEX beside: it says which class of latch is waited for.",
        names: &["innodb_sync_spin_loops", "innodb_spin_wait_delay", "innodb_spin_wait_pause_multiplier"],
    },
    Topic {
        title: "History and purge",
        text: "An UPDATE or DELETE leaves the old version for snapshots that may still see it; purge removes versions nobody can see, also \
those between the snapshots that are open. `Innodb_history_list_length` is what it has still to do.

Three limits sound alike. `innodb_purge_batch_size` is how finely a round is cut up among threads: it limits nothing. \
`innodb_max_purge_size` is how much one round may do before purge draws breath: it holds purge back in favour of statements. \
`innodb_max_purge_lag` is the opposite: from that length of the history on, statements that write are held back in favour of purge, \
each by at most `innodb_max_purge_lag_delay`. With all of them at their defaults purge runs as it can and nobody is held back.",
        names: &[
            "innodb_purge_threads",
            "innodb_purge_batch_size",
            "innodb_max_purge_size",
            "innodb_max_purge_lag",
            "innodb_max_purge_lag_delay",
            "innodb_purge_rseg_truncate_frequency",
            "innodb_undo_log_truncate",
            "innodb_max_undo_log_size",
        ],
    },
    Topic {
        title: "Log, pages and durability",
        text: "`innodb_flush_log_at_trx_commit` is the one that trades safety for speed, and the only one that can lose a commit. Commits \
that arrive together share one sync of the log without any setting.",
        names: &[
            "innodb_flush_log_at_trx_commit",
            "innodb_redo_log_capacity",
            "innodb_buffer_pool_size",
            "innodb_doublewrite",
            "sync_binlog",
            "binlog_group_commit_sync_delay",
            "binlog_group_commit_sync_no_delay_count",
        ],
    },
    Topic {
        title: "Transactions",
        text: "What a transaction sees and when it ends.",
        names: &["transaction_isolation", "transaction_read_only", "autocommit", "completion_type"],
    },
    Topic {
        title: "Patience with clients and statements",
        text: "Several clocks run on a connection, one at a time. `connect_timeout` while it logs in; `wait_timeout` (or \
`interactive_timeout`, its beginning for interactive clients) between statements; `net_read_timeout` in the middle of a message; \
`max_execution_time` while a SELECT runs; `net_write_timeout` while the client does not take its answer.",
        names: &[
            "wait_timeout",
            "interactive_timeout",
            "connect_timeout",
            "net_read_timeout",
            "net_write_timeout",
            "max_execution_time",
            "max_allowed_packet",
        ],
    },
    Topic {
        title: "Seeing it",
        text: "Where the views are is told in [observability.md](observability.md).",
        names: &[
            "innodb_status_output",
            "innodb_status_output_locks",
            "innodb_monitor_enable",
            "innodb_monitor_disable",
            "innodb_monitor_reset",
            "innodb_monitor_reset_all",
            "performance_schema",
            "performance_schema_digests_size",
        ],
    },
    Topic {
        title: "Start",
        text: "Where things are and what is listened to. An option file has these in its group `[mysqld]`, `[server]` or `[turnstile]`.",
        names: &[
            "datadir",
            "tmpdir",
            "port",
            "bind_address",
            "socket",
            "skip_networking",
            "ssl_cert",
            "ssl_key",
            "require_secure_transport",
            "turnstile_console",
            "turnstile_console_host",
            "persisted_globals_load",
        ],
    },
];
