//! The tables of information_schema that MySQL makes as views over its dictionary. Their columns go by the
//! names of the view in a result, however a statement spells them: programs that read columns by name have
//! learned to expect `TABLE_NAME`. The tables that the server makes in memory follow the statement's
//! spelling, as all other tables do.

const VIEWS: &[&str] = &[
    "ADMINISTRABLE_ROLE_AUTHORIZATIONS",
    "CHARACTER_SETS",
    "CHECK_CONSTRAINTS",
    "COLLATION_CHARACTER_SET_APPLICABILITY",
    "COLUMNS",
    "COLUMNS_EXTENSIONS",
    "COLUMN_STATISTICS",
    "EVENTS",
    "FILES",
    "INNODB_DATAFILES",
    "INNODB_FIELDS",
    "INNODB_FOREIGN_COLS",
    "INNODB_TABLESPACES_BRIEF",
    "KEYWORDS",
    "KEY_COLUMN_USAGE",
    "PARAMETERS",
    "PARTITIONS",
    "REFERENTIAL_CONSTRAINTS",
    "RESOURCE_GROUPS",
    "ROUTINES",
    "SCHEMATA",
    "SCHEMATA_EXTENSIONS",
    "STATISTICS",
    "ST_GEOMETRY_COLUMNS",
    "ST_SPATIAL_REFERENCE_SYSTEMS",
    "ST_UNITS_OF_MEASURE",
    "TABLES",
    "TABLESPACES_EXTENSIONS",
    "TABLES_EXTENSIONS",
    "TABLE_CONSTRAINTS",
    "TABLE_CONSTRAINTS_EXTENSIONS",
    "TRIGGERS",
    "USER_ATTRIBUTES",
    "VIEWS",
    "VIEW_ROUTINE_USAGE",
    "VIEW_TABLE_USAGE",
];

/// Whether the columns of this table keep the view's spelling.
pub fn keeps_names(table: &str) -> bool {
    VIEWS.iter().any(|view| view.eq_ignore_ascii_case(table))
}
