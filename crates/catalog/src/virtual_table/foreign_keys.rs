//! Tables about foreign keys.

use super::{Shape, VirtualTable};

/// Their columns.
pub(super) const SHAPES: &[(VirtualTable, Shape)] = &[
    (
        VirtualTable::ReferentialConstraints,
        (
            "REFERENTIAL_CONSTRAINTS",
            &[
                ("CONSTRAINT_CATALOG", 's'),
                ("CONSTRAINT_SCHEMA", 's'),
                ("CONSTRAINT_NAME", 's'),
                ("UNIQUE_CONSTRAINT_CATALOG", 's'),
                ("UNIQUE_CONSTRAINT_SCHEMA", 's'),
                ("UNIQUE_CONSTRAINT_NAME", 'S'),
                ("MATCH_OPTION", 's'),
                ("UPDATE_RULE", 's'),
                ("DELETE_RULE", 's'),
                ("TABLE_NAME", 's'),
                ("REFERENCED_TABLE_NAME", 's'),
            ],
        ),
    ),
    (
        VirtualTable::InnodbForeign,
        (
            "INNODB_FOREIGN",
            &[("ID", 'S'), ("FOR_NAME", 'S'), ("REF_NAME", 'S'), ("N_COLS", 'i'), ("TYPE", 'n')],
        ),
    ),
    (
        VirtualTable::InnodbForeignCols,
        ("INNODB_FOREIGN_COLS", &[("ID", 'S'), ("FOR_COL_NAME", 's'), ("REF_COL_NAME", 's'), ("POS", 'n')]),
    ),
];
