//! Statements by digest: the tables of performance_schema, whose columns are MySQL's, and the view of sys.

use super::{Shape, VirtualTable};

/// The tables of this file.
pub(super) const SHAPES: &[(VirtualTable, Shape)] = &[
    (
        VirtualTable::DigestSummary,
        (
            "events_statements_summary_by_digest",
            &[
                ("SCHEMA_NAME", 'S'),
                ("DIGEST", 'S'),
                ("DIGEST_TEXT", 'T'),
                ("COUNT_STAR", 'n'),
                ("SUM_TIMER_WAIT", 'n'),
                ("MIN_TIMER_WAIT", 'n'),
                ("AVG_TIMER_WAIT", 'n'),
                ("MAX_TIMER_WAIT", 'n'),
                ("SUM_LOCK_TIME", 'n'),
                ("SUM_ERRORS", 'n'),
                ("SUM_WARNINGS", 'n'),
                ("SUM_ROWS_AFFECTED", 'n'),
                ("SUM_ROWS_SENT", 'n'),
                ("SUM_ROWS_EXAMINED", 'n'),
                ("SUM_CREATED_TMP_DISK_TABLES", 'n'),
                ("SUM_CREATED_TMP_TABLES", 'n'),
                ("SUM_SELECT_FULL_JOIN", 'n'),
                ("SUM_SELECT_FULL_RANGE_JOIN", 'n'),
                ("SUM_SELECT_RANGE", 'n'),
                ("SUM_SELECT_RANGE_CHECK", 'n'),
                ("SUM_SELECT_SCAN", 'n'),
                ("SUM_SORT_MERGE_PASSES", 'n'),
                ("SUM_SORT_RANGE", 'n'),
                ("SUM_SORT_ROWS", 'n'),
                ("SUM_SORT_SCAN", 'n'),
                ("SUM_NO_INDEX_USED", 'n'),
                ("SUM_NO_GOOD_INDEX_USED", 'n'),
                ("SUM_CPU_TIME", 'n'),
                ("MAX_CONTROLLED_MEMORY", 'n'),
                ("MAX_TOTAL_MEMORY", 'n'),
                ("COUNT_SECONDARY", 'n'),
                ("FIRST_SEEN", 'u'),
                ("LAST_SEEN", 'u'),
                ("QUANTILE_95", 'n'),
                ("QUANTILE_99", 'n'),
                ("QUANTILE_999", 'n'),
                ("QUERY_SAMPLE_TEXT", 'T'),
                ("QUERY_SAMPLE_SEEN", 'u'),
                ("QUERY_SAMPLE_TIMER_WAIT", 'n'),
            ],
        ),
    ),
    (
        VirtualTable::DigestHistogram,
        (
            "events_statements_histogram_by_digest",
            &[
                ("SCHEMA_NAME", 'S'),
                ("DIGEST", 'S'),
                ("BUCKET_NUMBER", 'k'),
                ("BUCKET_TIMER_LOW", 'n'),
                ("BUCKET_TIMER_HIGH", 'n'),
                ("COUNT_BUCKET", 'n'),
                ("COUNT_BUCKET_AND_LOWER", 'n'),
                ("BUCKET_QUANTILE", 'q'),
            ],
        ),
    ),
    (
        VirtualTable::StatementHistogram,
        (
            "events_statements_histogram_global",
            &[
                ("BUCKET_NUMBER", 'k'),
                ("BUCKET_TIMER_LOW", 'n'),
                ("BUCKET_TIMER_HIGH", 'n'),
                ("COUNT_BUCKET", 'n'),
                ("COUNT_BUCKET_AND_LOWER", 'n'),
                ("BUCKET_QUANTILE", 'q'),
            ],
        ),
    ),
    (VirtualTable::SysStatementAnalysis, ("statement_analysis", &READABLE)),
    (VirtualTable::SysStatementAnalysisRaw, ("x$statement_analysis", &RAW)),
];

const READABLE: [(&str, char); 26] = analysis('S', 'S');
const RAW: [(&str, char); 26] = analysis('n', 'n');

/// Columns of sys.statement_analysis with times, and amounts of memory, of this kind.
const fn analysis(time: char, memory: char) -> [(&'static str, char); 26] {
    [
        ("query", 'T'),
        ("db", 'S'),
        ("full_scan", 's'),
        ("exec_count", 'n'),
        ("err_count", 'n'),
        ("warn_count", 'n'),
        ("total_latency", time),
        ("max_latency", time),
        ("avg_latency", time),
        ("lock_latency", time),
        ("cpu_latency", time),
        ("rows_sent", 'n'),
        ("rows_sent_avg", 'n'),
        ("rows_examined", 'n'),
        ("rows_examined_avg", 'n'),
        ("rows_affected", 'n'),
        ("rows_affected_avg", 'n'),
        ("tmp_tables", 'n'),
        ("tmp_disk_tables", 'n'),
        ("rows_sorted", 'n'),
        ("sort_merge_passes", 'n'),
        ("max_controlled_memory", memory),
        ("max_total_memory", memory),
        ("digest", 'S'),
        ("first_seen", 'u'),
        ("last_seen", 'u'),
    ]
}
