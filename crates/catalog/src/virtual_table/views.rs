//! Tables about views.

use super::{Shape, VirtualTable};

/// Their columns.
pub(super) const SHAPES: &[(VirtualTable, Shape)] = &[
    (
        VirtualTable::Views,
        (
            "VIEWS",
            &[
                ("TABLE_CATALOG", 's'),
                ("TABLE_SCHEMA", 's'),
                ("TABLE_NAME", 's'),
                ("VIEW_DEFINITION", 'T'),
                ("CHECK_OPTION", 'S'),
                ("IS_UPDATABLE", 'S'),
                ("DEFINER", 'S'),
                ("SECURITY_TYPE", 'S'),
                ("CHARACTER_SET_CLIENT", 's'),
                ("COLLATION_CONNECTION", 's'),
            ],
        ),
    ),
    (
        VirtualTable::ViewTableUsage,
        (
            "VIEW_TABLE_USAGE",
            &[
                ("VIEW_CATALOG", 's'),
                ("VIEW_SCHEMA", 's'),
                ("VIEW_NAME", 's'),
                ("TABLE_CATALOG", 's'),
                ("TABLE_SCHEMA", 's'),
                ("TABLE_NAME", 's'),
            ],
        ),
    ),
];
