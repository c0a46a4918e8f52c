//! Tables about roles.

use super::{Shape, VirtualTable};

const APPLICABLE: &[(&str, char)] = &[
    ("USER", 'S'),
    ("HOST", 'S'),
    ("GRANTEE", 'S'),
    ("GRANTEE_HOST", 'S'),
    ("ROLE_NAME", 'S'),
    ("ROLE_HOST", 'S'),
    ("IS_GRANTABLE", 's'),
    ("IS_DEFAULT", 'S'),
    ("IS_MANDATORY", 's'),
];

/// The tables of this file.
pub(super) const SHAPES: &[(VirtualTable, Shape)] = &[
    (
        VirtualTable::MysqlRoleEdges,
        (
            "role_edges",
            &[
                ("FROM_HOST", 's'),
                ("FROM_USER", 's'),
                ("TO_HOST", 's'),
                ("TO_USER", 's'),
                ("WITH_ADMIN_OPTION", 's'),
            ],
        ),
    ),
    (
        VirtualTable::MysqlDefaultRoles,
        (
            "default_roles",
            &[("HOST", 's'), ("USER", 's'), ("DEFAULT_ROLE_HOST", 's'), ("DEFAULT_ROLE_USER", 's')],
        ),
    ),
    (VirtualTable::ApplicableRoles, ("APPLICABLE_ROLES", APPLICABLE)),
    (VirtualTable::AdministrableRoles, ("ADMINISTRABLE_ROLE_AUTHORIZATIONS", APPLICABLE)),
    (
        VirtualTable::EnabledRoles,
        (
            "ENABLED_ROLES",
            &[("ROLE_NAME", 'S'), ("ROLE_HOST", 'S'), ("IS_DEFAULT", 'S'), ("IS_MANDATORY", 's')],
        ),
    ),
    (
        VirtualTable::RoleTableGrants,
        (
            "ROLE_TABLE_GRANTS",
            &[
                ("GRANTOR", 'S'),
                ("GRANTOR_HOST", 'S'),
                ("GRANTEE", 's'),
                ("GRANTEE_HOST", 's'),
                ("TABLE_CATALOG", 's'),
                ("TABLE_SCHEMA", 's'),
                ("TABLE_NAME", 's'),
                ("PRIVILEGE_TYPE", 's'),
                ("IS_GRANTABLE", 's'),
            ],
        ),
    ),
    (
        VirtualTable::RoleColumnGrants,
        (
            "ROLE_COLUMN_GRANTS",
            &[
                ("GRANTOR", 'S'),
                ("GRANTOR_HOST", 'S'),
                ("GRANTEE", 's'),
                ("GRANTEE_HOST", 's'),
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
