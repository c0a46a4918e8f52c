//! Tables of information_schema: computed from memory whenever they are read.

use std::sync::Arc;

use crate::accounts::Privileges;
use crate::collation::Collation;
use crate::database::Database;
use crate::error::{SqlError, SqlResult};
use crate::session::SessionState;
use crate::types::{BlobSize, ColumnType};
use crate::value::Value;

pub mod catalog;
mod server;
mod thread_pool;

/// A table of information_schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum VirtualTable {
    Schemata,
    Tables,
    Columns,
    Statistics,
    KeyColumnUsage,
    TableConstraints,
    ReferentialConstraints,
    Processlist,
    Engines,
    CharacterSets,
    Collations,
    GlobalVariables,
    SessionVariables,
    GlobalStatus,
    Views,
    Routines,
    Triggers,
    Events,
    Partitions,
    Files,
    Plugins,
    UserPrivileges,
    SchemaPrivileges,
    ThreadPoolGroups,
    ThreadPoolQueues,
    ThreadPoolStats,
    ThreadPoolWaits,
}

/// Name and columns: `s` short text, `t` long text, `n` BIGINT UNSIGNED, `d` DATETIME; upper case may be NULL.
type Shape = (&'static str, &'static [(&'static str, char)]);

const SHAPES: &[(VirtualTable, Shape)] = &[
    (VirtualTable::ThreadPoolGroups, thread_pool::GROUPS),
    (VirtualTable::ThreadPoolQueues, thread_pool::QUEUES),
    (VirtualTable::ThreadPoolStats, thread_pool::STATS),
    (VirtualTable::ThreadPoolWaits, thread_pool::WAITS),
    (
        VirtualTable::Schemata,
        (
            "SCHEMATA",
            &[
                ("CATALOG_NAME", 's'),
                ("SCHEMA_NAME", 's'),
                ("DEFAULT_CHARACTER_SET_NAME", 's'),
                ("DEFAULT_COLLATION_NAME", 's'),
                ("SQL_PATH", 'S'),
                ("DEFAULT_ENCRYPTION", 's'),
            ],
        ),
    ),
    (
        VirtualTable::Tables,
        (
            "TABLES",
            &[
                ("TABLE_CATALOG", 's'),
                ("TABLE_SCHEMA", 's'),
                ("TABLE_NAME", 's'),
                ("TABLE_TYPE", 's'),
                ("ENGINE", 'S'),
                ("VERSION", 'N'),
                ("ROW_FORMAT", 'S'),
                ("TABLE_ROWS", 'N'),
                ("AVG_ROW_LENGTH", 'N'),
                ("DATA_LENGTH", 'N'),
                ("MAX_DATA_LENGTH", 'N'),
                ("INDEX_LENGTH", 'N'),
                ("DATA_FREE", 'N'),
                ("AUTO_INCREMENT", 'N'),
                ("CREATE_TIME", 'D'),
                ("UPDATE_TIME", 'D'),
                ("CHECK_TIME", 'D'),
                ("TABLE_COLLATION", 'S'),
                ("CHECKSUM", 'N'),
                ("CREATE_OPTIONS", 'S'),
                ("TABLE_COMMENT", 's'),
            ],
        ),
    ),
    (
        VirtualTable::Columns,
        (
            "COLUMNS",
            &[
                ("TABLE_CATALOG", 's'),
                ("TABLE_SCHEMA", 's'),
                ("TABLE_NAME", 's'),
                ("COLUMN_NAME", 's'),
                ("ORDINAL_POSITION", 'n'),
                ("COLUMN_DEFAULT", 'T'),
                ("IS_NULLABLE", 's'),
                ("DATA_TYPE", 's'),
                ("CHARACTER_MAXIMUM_LENGTH", 'N'),
                ("CHARACTER_OCTET_LENGTH", 'N'),
                ("NUMERIC_PRECISION", 'N'),
                ("NUMERIC_SCALE", 'N'),
                ("DATETIME_PRECISION", 'N'),
                ("CHARACTER_SET_NAME", 'S'),
                ("COLLATION_NAME", 'S'),
                ("COLUMN_TYPE", 't'),
                ("COLUMN_KEY", 's'),
                ("EXTRA", 's'),
                ("PRIVILEGES", 's'),
                ("COLUMN_COMMENT", 't'),
                ("GENERATION_EXPRESSION", 't'),
                ("SRS_ID", 'N'),
            ],
        ),
    ),
    (
        VirtualTable::Statistics,
        (
            "STATISTICS",
            &[
                ("TABLE_CATALOG", 's'),
                ("TABLE_SCHEMA", 's'),
                ("TABLE_NAME", 's'),
                ("NON_UNIQUE", 'n'),
                ("INDEX_SCHEMA", 's'),
                ("INDEX_NAME", 's'),
                ("SEQ_IN_INDEX", 'n'),
                ("COLUMN_NAME", 'S'),
                ("COLLATION", 'S'),
                ("CARDINALITY", 'N'),
                ("SUB_PART", 'N'),
                ("PACKED", 'S'),
                ("NULLABLE", 's'),
                ("INDEX_TYPE", 's'),
                ("COMMENT", 's'),
                ("INDEX_COMMENT", 's'),
                ("IS_VISIBLE", 's'),
                ("EXPRESSION", 'T'),
            ],
        ),
    ),
    (
        VirtualTable::KeyColumnUsage,
        (
            "KEY_COLUMN_USAGE",
            &[
                ("CONSTRAINT_CATALOG", 's'),
                ("CONSTRAINT_SCHEMA", 's'),
                ("CONSTRAINT_NAME", 's'),
                ("TABLE_CATALOG", 's'),
                ("TABLE_SCHEMA", 's'),
                ("TABLE_NAME", 's'),
                ("COLUMN_NAME", 's'),
                ("ORDINAL_POSITION", 'n'),
                ("POSITION_IN_UNIQUE_CONSTRAINT", 'N'),
                ("REFERENCED_TABLE_SCHEMA", 'S'),
                ("REFERENCED_TABLE_NAME", 'S'),
                ("REFERENCED_COLUMN_NAME", 'S'),
            ],
        ),
    ),
    (
        VirtualTable::TableConstraints,
        (
            "TABLE_CONSTRAINTS",
            &[
                ("CONSTRAINT_CATALOG", 's'),
                ("CONSTRAINT_SCHEMA", 's'),
                ("CONSTRAINT_NAME", 's'),
                ("TABLE_SCHEMA", 's'),
                ("TABLE_NAME", 's'),
                ("CONSTRAINT_TYPE", 's'),
                ("ENFORCED", 's'),
            ],
        ),
    ),
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
        VirtualTable::Processlist,
        (
            "PROCESSLIST",
            &[
                ("ID", 'n'),
                ("USER", 's'),
                ("HOST", 's'),
                ("DB", 'S'),
                ("COMMAND", 's'),
                ("TIME", 'n'),
                ("STATE", 'S'),
                ("INFO", 'T'),
            ],
        ),
    ),
    (
        VirtualTable::Engines,
        (
            "ENGINES",
            &[
                ("ENGINE", 's'),
                ("SUPPORT", 's'),
                ("COMMENT", 's'),
                ("TRANSACTIONS", 'S'),
                ("XA", 'S'),
                ("SAVEPOINTS", 'S'),
            ],
        ),
    ),
    (
        VirtualTable::CharacterSets,
        (
            "CHARACTER_SETS",
            &[
                ("CHARACTER_SET_NAME", 's'),
                ("DEFAULT_COLLATE_NAME", 's'),
                ("DESCRIPTION", 's'),
                ("MAXLEN", 'n'),
            ],
        ),
    ),
    (
        VirtualTable::Collations,
        (
            "COLLATIONS",
            &[
                ("COLLATION_NAME", 's'),
                ("CHARACTER_SET_NAME", 's'),
                ("ID", 'n'),
                ("IS_DEFAULT", 's'),
                ("IS_COMPILED", 's'),
                ("SORTLEN", 'n'),
                ("PAD_ATTRIBUTE", 's'),
            ],
        ),
    ),
    (VirtualTable::GlobalVariables, ("GLOBAL_VARIABLES", &[("VARIABLE_NAME", 's'), ("VARIABLE_VALUE", 'S')])),
    (
        VirtualTable::SessionVariables,
        ("SESSION_VARIABLES", &[("VARIABLE_NAME", 's'), ("VARIABLE_VALUE", 'S')]),
    ),
    (VirtualTable::GlobalStatus, ("GLOBAL_STATUS", &[("VARIABLE_NAME", 's'), ("VARIABLE_VALUE", 'S')])),
    (
        VirtualTable::Views,
        (
            "VIEWS",
            &[
                ("TABLE_CATALOG", 's'),
                ("TABLE_SCHEMA", 's'),
                ("TABLE_NAME", 's'),
                ("VIEW_DEFINITION", 'T'),
                ("CHECK_OPTION", 's'),
                ("IS_UPDATABLE", 's'),
                ("DEFINER", 's'),
                ("SECURITY_TYPE", 's'),
                ("CHARACTER_SET_CLIENT", 's'),
                ("COLLATION_CONNECTION", 's'),
            ],
        ),
    ),
    (
        VirtualTable::Routines,
        (
            "ROUTINES",
            &[
                ("SPECIFIC_NAME", 's'),
                ("ROUTINE_CATALOG", 's'),
                ("ROUTINE_SCHEMA", 's'),
                ("ROUTINE_NAME", 's'),
                ("ROUTINE_TYPE", 's'),
                ("DATA_TYPE", 't'),
                ("ROUTINE_DEFINITION", 'T'),
            ],
        ),
    ),
    (
        VirtualTable::Triggers,
        (
            "TRIGGERS",
            &[
                ("TRIGGER_CATALOG", 's'),
                ("TRIGGER_SCHEMA", 's'),
                ("TRIGGER_NAME", 's'),
                ("EVENT_MANIPULATION", 's'),
                ("EVENT_OBJECT_SCHEMA", 's'),
                ("EVENT_OBJECT_TABLE", 's'),
                ("ACTION_STATEMENT", 't'),
                ("ACTION_TIMING", 's'),
            ],
        ),
    ),
    (
        VirtualTable::Events,
        ("EVENTS", &[("EVENT_CATALOG", 's'), ("EVENT_SCHEMA", 's'), ("EVENT_NAME", 's'), ("STATUS", 's')]),
    ),
    (
        VirtualTable::Partitions,
        (
            "PARTITIONS",
            &[
                ("TABLE_CATALOG", 's'),
                ("TABLE_SCHEMA", 's'),
                ("TABLE_NAME", 's'),
                ("PARTITION_NAME", 'S'),
                ("TABLESPACE_NAME", 'S'),
            ],
        ),
    ),
    (
        VirtualTable::Files,
        (
            "FILES",
            &[
                ("FILE_ID", 'n'),
                ("FILE_NAME", 'T'),
                ("FILE_TYPE", 's'),
                ("TABLESPACE_NAME", 's'),
                ("LOGFILE_GROUP_NAME", 'S'),
                ("TOTAL_EXTENTS", 'n'),
                ("INITIAL_SIZE", 'n'),
                ("EXTENT_SIZE", 'n'),
                ("ENGINE", 's'),
                ("EXTRA", 'S'),
            ],
        ),
    ),
    (
        VirtualTable::Plugins,
        (
            "PLUGINS",
            &[("PLUGIN_NAME", 's'), ("PLUGIN_VERSION", 's'), ("PLUGIN_STATUS", 's'), ("PLUGIN_TYPE", 's')],
        ),
    ),
    (
        VirtualTable::UserPrivileges,
        (
            "USER_PRIVILEGES",
            &[("GRANTEE", 's'), ("TABLE_CATALOG", 's'), ("PRIVILEGE_TYPE", 's'), ("IS_GRANTABLE", 's')],
        ),
    ),
    (
        VirtualTable::SchemaPrivileges,
        (
            "SCHEMA_PRIVILEGES",
            &[
                ("GRANTEE", 's'),
                ("TABLE_CATALOG", 's'),
                ("TABLE_SCHEMA", 's'),
                ("PRIVILEGE_TYPE", 's'),
                ("IS_GRANTABLE", 's'),
            ],
        ),
    ),
];

impl VirtualTable {
    /// Whether a database is information_schema.
    pub fn is_schema(name: &str) -> bool {
        name.eq_ignore_ascii_case("information_schema")
    }

    /// The table of a name; None if the database is another one, an error if it has no such table.
    pub fn find(schema: &str, name: &str) -> SqlResult<Option<VirtualTable>> {
        if !VirtualTable::is_schema(schema) {
            return Ok(None);
        }
        let found = SHAPES.iter().find(|(_, (known, _))| known.eq_ignore_ascii_case(name));
        let missing = || SqlError::unknown_table(name.to_ascii_uppercase(), "information_schema");
        found.map(|(table, _)| Some(*table)).ok_or_else(missing)
    }

    /// All of them.
    pub fn all() -> impl Iterator<Item = VirtualTable> {
        SHAPES.iter().map(|(table, _)| *table)
    }

    fn shape(self) -> Shape {
        SHAPES.iter().find(|(table, _)| *table == self).map_or(("", &[]), |(_, shape)| *shape)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        self.shape().0
    }

    /// Its database.
    pub fn schema(self) -> &'static str {
        "information_schema"
    }

    /// Its columns: name, type, may be NULL.
    pub fn columns(self) -> Vec<(&'static str, ColumnType, bool)> {
        let kind = |code: char| match code {
            'n' => ColumnType::BIGINT_UNSIGNED,
            'd' => ColumnType::DateTime { fsp: 0 },
            't' => ColumnType::Text { size: BlobSize::Long, collation: Collation::DEFAULT },
            _ => ColumnType::varchar(64),
        };
        let columns = self.shape().1.iter();
        columns
            .map(|(name, code)| (*name, kind(code.to_ascii_lowercase()), code.is_ascii_uppercase()))
            .collect()
    }
}

/// A row under construction.
pub(crate) fn row<const N: usize>(values: [Value; N]) -> Vec<Value> {
    values.into()
}

/// A text.
pub(crate) fn text(text: impl AsRef<str>) -> Value {
    Value::text(text.as_ref())
}

/// A number.
pub(crate) fn count(number: usize) -> Value {
    Value::UInt(number as u64)
}

/// All rows of a table, as the session may see them.
pub fn rows(table: VirtualTable, db: &Arc<Database>, session: &SessionState) -> SqlResult<Vec<Vec<Value>>> {
    use VirtualTable as V;
    Ok(match table {
        V::Schemata => catalog::schemata(db, session),
        V::Tables => catalog::tables(db, session),
        V::Columns => catalog::columns(db, session),
        V::Statistics => catalog::statistics(db, session),
        V::KeyColumnUsage => catalog::key_column_usage(db, session),
        V::TableConstraints => catalog::table_constraints(db, session),
        V::Processlist => server::processlist(db, session),
        V::Engines => server::engines(),
        V::CharacterSets => server::character_sets(),
        V::Collations => server::collations(),
        V::GlobalVariables => server::variables(session, true)?,
        V::SessionVariables => server::variables(session, false)?,
        V::GlobalStatus => server::status(db),
        V::UserPrivileges => server::user_privileges(db, session),
        V::SchemaPrivileges => server::schema_privileges(db, session),
        V::Plugins => server::plugins(),
        V::ThreadPoolGroups => thread_pool::groups(db),
        V::ThreadPoolQueues => thread_pool::queues(db),
        V::ThreadPoolStats => thread_pool::stats(db),
        V::ThreadPoolWaits => thread_pool::waits(db),
        V::Views
        | V::Routines
        | V::Triggers
        | V::Events
        | V::Partitions
        | V::Files
        | V::ReferentialConstraints => Vec::new(),
    })
}

/// Whether the session's account may see a database.
pub(crate) fn visible(session: &SessionState, schema: &str) -> bool {
    session
        .account()
        .is_none_or(|account| account.may_see(schema) || account.may(Privileges::SHOW_DATABASES, None))
}
