//! Tables about privileges.

use super::{Shape, VirtualTable};

/// The tables of this file.
pub(super) const SHAPES: &[(VirtualTable, Shape)] = &[
    (
        VirtualTable::MysqlTablesPriv,
        (
            "tables_priv",
            &[
                ("Host", 's'),
                ("Db", 's'),
                ("User", 's'),
                ("Table_name", 's'),
                ("Grantor", 's'),
                ("Timestamp", 'd'),
                ("Table_priv", 's'),
                ("Column_priv", 's'),
            ],
        ),
    ),
    (
        VirtualTable::MysqlColumnsPriv,
        (
            "columns_priv",
            &[
                ("Host", 's'),
                ("Db", 's'),
                ("User", 's'),
                ("Table_name", 's'),
                ("Column_name", 's'),
                ("Timestamp", 'd'),
                ("Column_priv", 's'),
            ],
        ),
    ),
    (
        VirtualTable::TablePrivileges,
        (
            "TABLE_PRIVILEGES",
            &[
                ("GRANTEE", 's'),
                ("TABLE_CATALOG", 's'),
                ("TABLE_SCHEMA", 's'),
                ("TABLE_NAME", 's'),
                ("PRIVILEGE_TYPE", 's'),
                ("IS_GRANTABLE", 's'),
            ],
        ),
    ),
    (
        VirtualTable::ColumnPrivileges,
        (
            "COLUMN_PRIVILEGES",
            &[
                ("GRANTEE", 's'),
                ("TABLE_CATALOG", 's'),
                ("TABLE_SCHEMA", 's'),
                ("TABLE_NAME", 's'),
                ("COLUMN_NAME", 's'),
                ("PRIVILEGE_TYPE", 's'),
                ("IS_GRANTABLE", 's'),
            ],
        ),
    ),
];
