//! `mysql.innodb_table_stats` and `mysql.innodb_index_stats`: what is known of the keys of tables; what is
//! known of values, in `information_schema.COLUMN_STATISTICS`; what was made of both, in its OPTIMIZER_TRACE.

use super::{Shape, VirtualTable};

/// The tables of this file.
pub(super) const SHAPES: &[(VirtualTable, Shape)] = &[
    (
        VirtualTable::MysqlTableStats,
        (
            "innodb_table_stats",
            &[
                ("database_name", 's'),
                ("table_name", 's'),
                ("last_update", 'd'),
                ("n_rows", 'n'),
                ("clustered_index_size", 'n'),
                ("sum_of_other_index_sizes", 'n'),
            ],
        ),
    ),
    (
        VirtualTable::ColumnStatistics,
        (
            "COLUMN_STATISTICS",
            &[("SCHEMA_NAME", 's'), ("TABLE_NAME", 's'), ("COLUMN_NAME", 's'), ("HISTOGRAM", 'j')],
        ),
    ),
    (
        VirtualTable::OptimizerTrace,
        (
            "OPTIMIZER_TRACE",
            &[
                ("QUERY", 't'),
                ("TRACE", 't'),
                ("MISSING_BYTES_BEYOND_MAX_MEM_SIZE", 'm'),
                ("INSUFFICIENT_PRIVILEGES", 'y'),
            ],
        ),
    ),
    (
        VirtualTable::MysqlIndexStats,
        (
            "innodb_index_stats",
            &[
                ("database_name", 's'),
                ("table_name", 's'),
                ("index_name", 's'),
                ("last_update", 'd'),
                ("stat_name", 's'),
                ("stat_value", 'n'),
                ("sample_size", 'N'),
                ("stat_description", 's'),
            ],
        ),
    ),
];
