//! Tables about the rows that are fought for. MySQL has nothing like them.

use super::Shape;

/// Columns of TURNSTILE_HOT_ROWS.
pub(super) const COUNTED: Shape = (
    "TURNSTILE_HOT_ROWS",
    &[
        ("TABLE_SCHEMA", 's'),
        ("TABLE_NAME", 's'),
        ("INDEX_NAME", 's'),
        ("LOCK_DATA", 't'),
        ("CHANGES_PER_SECOND", 'f'),
        ("WAITS_PER_SECOND", 'f'),
        ("WAITING", 'n'),
        ("QUEUE_P50", 'n'),
        ("QUEUE_P99", 'n'),
        ("WAIT_MS_P50", 'F'),
        ("WAIT_MS_P99", 'F'),
        ("HANDED_ON", 'n'),
        ("HOLDER_TRX_ID", 'N'),
        ("HOLDER_CONNECTION_ID", 'N'),
        ("HOLDER_TRX_MS", 'F'),
    ],
);

/// Columns of sys.hot_rows.
pub(super) const READABLE: Shape = (
    "hot_rows",
    &[
        ("hot_table", 't'),
        ("hot_index", 's'),
        ("hot_key", 't'),
        ("changes_per_second", 'n'),
        ("waits_per_second", 'n'),
        ("waiting", 'n'),
        ("queue_p50", 'n'),
        ("queue_p99", 'n'),
        ("wait_p50", 'S'),
        ("wait_p99", 'S'),
        ("handed_on", 'n'),
        ("holder_trx_id", 'N'),
        ("holder_trx_age", 'S'),
        ("holder_pid", 'N'),
        ("holder_query", 'T'),
        ("sql_kill_holder_connection", 'S'),
    ],
);
