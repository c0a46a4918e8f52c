//! Tables of information_schema with what engines and accounts add.

use super::Shape;

/// Of databases.
pub(super) const SCHEMATA: Shape =
    ("SCHEMATA_EXTENSIONS", &[("CATALOG_NAME", 's'), ("SCHEMA_NAME", 's'), ("OPTIONS", 'S')]);

/// Of tables.
pub(super) const TABLES: Shape = (
    "TABLES_EXTENSIONS",
    &[
        ("TABLE_CATALOG", 's'),
        ("TABLE_SCHEMA", 's'),
        ("TABLE_NAME", 's'),
        ("ENGINE_ATTRIBUTE", 'T'),
        ("SECONDARY_ENGINE_ATTRIBUTE", 'T'),
    ],
);

/// Of columns.
pub(super) const COLUMNS: Shape = (
    "COLUMNS_EXTENSIONS",
    &[
        ("TABLE_CATALOG", 's'),
        ("TABLE_SCHEMA", 's'),
        ("TABLE_NAME", 's'),
        ("COLUMN_NAME", 'S'),
        ("ENGINE_ATTRIBUTE", 'T'),
        ("SECONDARY_ENGINE_ATTRIBUTE", 'T'),
    ],
);

/// Of keys.
pub(super) const CONSTRAINTS: Shape = (
    "TABLE_CONSTRAINTS_EXTENSIONS",
    &[
        ("CONSTRAINT_CATALOG", 's'),
        ("CONSTRAINT_SCHEMA", 's'),
        ("CONSTRAINT_NAME", 's'),
        ("TABLE_NAME", 's'),
        ("ENGINE_ATTRIBUTE", 'T'),
        ("SECONDARY_ENGINE_ATTRIBUTE", 'T'),
    ],
);

/// Of partitions.
pub(super) const PARTITIONS: Shape = (
    "PARTITIONS",
    &[
        ("TABLE_CATALOG", 's'),
        ("TABLE_SCHEMA", 's'),
        ("TABLE_NAME", 's'),
        ("PARTITION_NAME", 'S'),
        ("SUBPARTITION_NAME", 'S'),
        ("PARTITION_ORDINAL_POSITION", 'N'),
        ("SUBPARTITION_ORDINAL_POSITION", 'N'),
        ("PARTITION_METHOD", 'S'),
        ("SUBPARTITION_METHOD", 'S'),
        ("PARTITION_EXPRESSION", 'T'),
        ("SUBPARTITION_EXPRESSION", 'T'),
        ("PARTITION_DESCRIPTION", 'T'),
        ("TABLE_ROWS", 'N'),
        ("AVG_ROW_LENGTH", 'N'),
        ("DATA_LENGTH", 'N'),
        ("MAX_DATA_LENGTH", 'N'),
        ("INDEX_LENGTH", 'N'),
        ("DATA_FREE", 'N'),
        ("CREATE_TIME", 'D'),
        ("UPDATE_TIME", 'D'),
        ("CHECK_TIME", 'D'),
        ("CHECKSUM", 'I'),
        ("PARTITION_COMMENT", 't'),
        ("NODEGROUP", 'S'),
        ("TABLESPACE_NAME", 'S'),
    ],
);

/// Of accounts.
pub(super) const USERS: Shape = ("USER_ATTRIBUTES", &[("USER", 's'), ("HOST", 's'), ("ATTRIBUTE", 'T')]);
