//! Tables of information_schema, performance_schema and sys, and some of `mysql`: computed from memory whenever they
//! are read. No table takes a latch that a statement needs for longer than it takes to copy a few hundred entries.
//!
//! What monitoring tools ask for again and again (sessions, transactions, locks, counters, the thread pool) is written
//! line by line from where it lies ([`write()`], [`crate::cell`]); catalogs and the like are lists of values.

use std::sync::Arc;

use crate::accounts::Privileges;
use crate::cell::{Cell, Lines};
use crate::collation::Collation;
use crate::database::Database;
use crate::error::{SqlError, SqlResult};
use crate::expr::SessionView;
use crate::memory::Charge;
use crate::session::SessionState;
use crate::types::{BlobSize, ColumnType};
use crate::value::Value;

mod accounts;
pub mod activity;
pub mod catalog;
mod empty;
mod extensions;
mod foreign_keys;
mod locks;
mod privileges;
mod roles;
mod server;
mod shapes;
mod thread_pool;
mod uninstrumented;
pub mod viewed;
mod zones;

pub use server::{doing, processlist, statement_state};

/// Databases whose tables are all computed. Of the database `mysql` those of `accounts.rs` are.
pub const VIRTUAL_SCHEMAS: [&str; 3] = ["information_schema", "performance_schema", "sys"];

/// A table of information_schema, performance_schema or sys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum VirtualTable {
    Schemata,
    Tables,
    Columns,
    Statistics,
    KeyColumnUsage,
    TableConstraints,
    CheckConstraints,
    ReferentialConstraints,
    SchemataExtensions,
    TablesExtensions,
    ColumnsExtensions,
    ConstraintsExtensions,
    Partitions,
    UserAttributes,
    InnodbForeign,
    InnodbForeignCols,
    Processlist,
    Engines,
    CharacterSets,
    Collations,
    GlobalVariables,
    SessionVariables,
    GlobalStatus,
    Plugins,
    UserPrivileges,
    SchemaPrivileges,
    ThreadPoolGroups,
    ThreadPoolQueues,
    ThreadPoolStats,
    ThreadPoolWaits,
    SessionStatus,
    InnodbTrx,
    InnodbLocks,
    InnodbLockWaits,
    InnodbMetrics,
    InnodbCmp,
    InnodbCmpmem,
    DataLocks,
    DataLockWaits,
    EventsWaitsByName,
    Threads,
    PerformanceProcesslist,
    PerformanceGlobalStatus,
    PerformanceSessionStatus,
    PerformanceGlobalVariables,
    PerformanceSessionVariables,
    PersistedVariables,
    SysLockWaits,
    SysLockWaitsRaw,
    CollationApplicability,
    Keywords,
    MysqlUser,
    MysqlDb,
    MysqlTablesPriv,
    MysqlColumnsPriv,
    TablePrivileges,
    ColumnPrivileges,
    MysqlGlobalGrants,
    MysqlRoleEdges,
    MysqlDefaultRoles,
    ApplicableRoles,
    AdministrableRoles,
    EnabledRoles,
    RoleTableGrants,
    RoleColumnGrants,
    /// A table of information_schema about what this server does not have, by its place in `empty::TABLES`.
    Empty(usize),
    /// The same of performance_schema, in `uninstrumented::TABLES`.
    Uninstrumented(usize),
    /// The same of `mysql`, in `accounts::EMPTY`.
    MysqlEmpty(usize),
}

/// Name and columns: `s` short text, `t` long text, `n` BIGINT UNSIGNED, `i` BIGINT, `f` DOUBLE, `d` DATETIME, `h`
/// TIME; upper case may be NULL.
type Shape = (&'static str, &'static [(&'static str, char)]);

const SHAPES: &[(VirtualTable, Shape)] = &[
    (VirtualTable::SchemataExtensions, extensions::SCHEMATA),
    (VirtualTable::TablesExtensions, extensions::TABLES),
    (VirtualTable::ColumnsExtensions, extensions::COLUMNS),
    (VirtualTable::ConstraintsExtensions, extensions::CONSTRAINTS),
    (VirtualTable::Partitions, extensions::PARTITIONS),
    (VirtualTable::UserAttributes, extensions::USERS),
    (VirtualTable::MysqlUser, accounts::USER),
    (VirtualTable::MysqlDb, accounts::DB),
    (VirtualTable::MysqlGlobalGrants, accounts::GLOBAL_GRANTS),
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
        VirtualTable::CheckConstraints,
        (
            "CHECK_CONSTRAINTS",
            &[
                ("CONSTRAINT_CATALOG", 's'),
                ("CONSTRAINT_SCHEMA", 's'),
                ("CONSTRAINT_NAME", 's'),
                ("CHECK_CLAUSE", 't'),
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
        VirtualTable::Plugins,
        (
            "PLUGINS",
            &[
                ("PLUGIN_NAME", 's'),
                ("PLUGIN_VERSION", 's'),
                ("PLUGIN_STATUS", 's'),
                ("PLUGIN_TYPE", 's'),
                ("PLUGIN_TYPE_VERSION", 's'),
                ("PLUGIN_LIBRARY", 'S'),
                ("PLUGIN_LIBRARY_VERSION", 'S'),
                ("PLUGIN_AUTHOR", 'S'),
                ("PLUGIN_DESCRIPTION", 'T'),
                ("PLUGIN_LICENSE", 'S'),
                ("LOAD_OPTION", 's'),
            ],
        ),
    ),
    (
        VirtualTable::CollationApplicability,
        ("COLLATION_CHARACTER_SET_APPLICABILITY", &[("COLLATION_NAME", 's'), ("CHARACTER_SET_NAME", 's')]),
    ),
    (VirtualTable::Keywords, ("KEYWORDS", &[("WORD", 'S'), ("RESERVED", 'I')])),
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
    /// Whether a database's tables are computed.
    pub fn is_schema(name: &str) -> bool {
        VIRTUAL_SCHEMAS.iter().any(|one| one.eq_ignore_ascii_case(name))
    }

    /// Whether a table is computed.
    pub fn is_computed(schema: &str, name: &str) -> bool {
        VirtualTable::is_schema(schema) || schema == "mysql" && VirtualTable::of_mysql(name).is_some()
    }

    /// The table of a name; None if it is a stored one, an error if its database is computed and has no such table.
    pub fn find(schema: &str, name: &str) -> SqlResult<Option<VirtualTable>> {
        if !VirtualTable::is_schema(schema) {
            return Ok(if schema == "mysql" { VirtualTable::of_mysql(name) } else { None });
        }
        let known = |one: &VirtualTable| {
            one.schema().eq_ignore_ascii_case(schema) && one.name().eq_ignore_ascii_case(name)
        };
        let missing = || match schema.eq_ignore_ascii_case("information_schema") {
            true => SqlError::unknown_table(name.to_ascii_uppercase(), "information_schema"),
            false => SqlError::no_such_table(schema, name),
        };
        VirtualTable::all().find(known).map(Some).ok_or_else(missing)
    }

    fn of_mysql(name: &str) -> Option<VirtualTable> {
        VirtualTable::all().find(|one| one.schema() == "mysql" && one.name() == name)
    }

    /// All of them.
    pub fn all() -> impl Iterator<Item = VirtualTable> {
        let filled = SHAPES
            .iter()
            .chain(shapes::SHAPES)
            .chain(foreign_keys::SHAPES)
            .chain(privileges::SHAPES)
            .chain(roles::SHAPES)
            .map(|(table, _)| *table);
        let empty = (0..empty::TABLES.len()).map(VirtualTable::Empty);
        let uninstrumented = (0..uninstrumented::TABLES.len()).map(VirtualTable::Uninstrumented);
        let of_mysql = (0..accounts::EMPTY.len()).map(VirtualTable::MysqlEmpty);
        filled.chain(empty).chain(uninstrumented).chain(of_mysql)
    }

    /// Those that a session may know of.
    pub fn all_visible(session: &SessionState) -> impl Iterator<Item = VirtualTable> {
        let rights = session.rights();
        VirtualTable::all()
            .filter(move |one| one.schema() != "mysql" || rights.may_see_table("mysql", one.name()))
    }

    fn shape(self) -> Shape {
        match self {
            VirtualTable::Empty(nth) => return empty::TABLES[nth],
            VirtualTable::Uninstrumented(nth) => return uninstrumented::TABLES[nth],
            VirtualTable::MysqlEmpty(nth) => return accounts::EMPTY[nth],
            _ => {}
        }
        let mut all = SHAPES
            .iter()
            .chain(shapes::SHAPES)
            .chain(foreign_keys::SHAPES)
            .chain(privileges::SHAPES)
            .chain(roles::SHAPES);
        all.find(|(table, _)| *table == self).map_or(("", &[]), |(_, shape)| *shape)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        self.shape().0
    }

    /// Its database.
    pub fn schema(self) -> &'static str {
        use VirtualTable as V;
        match self {
            V::SysLockWaits | V::SysLockWaitsRaw => "sys",
            V::MysqlUser
            | V::MysqlDb
            | V::MysqlTablesPriv
            | V::MysqlColumnsPriv
            | V::MysqlGlobalGrants
            | V::MysqlRoleEdges
            | V::MysqlDefaultRoles
            | V::MysqlEmpty(_) => "mysql",
            V::DataLocks
            | V::DataLockWaits
            | V::EventsWaitsByName
            | V::Threads
            | V::PerformanceProcesslist
            | V::PerformanceGlobalStatus
            | V::PerformanceSessionStatus
            | V::PerformanceGlobalVariables
            | V::PerformanceSessionVariables
            | V::PersistedVariables
            | V::Uninstrumented(_) => "performance_schema",
            _ => "information_schema",
        }
    }

    /// VIEW for what is a view in MySQL too, in the words of TABLES.TABLE_TYPE.
    pub fn table_type(self) -> &'static str {
        match self.schema() {
            "information_schema" => "SYSTEM VIEW",
            "performance_schema" | "mysql" => "BASE TABLE",
            _ => "VIEW",
        }
    }

    /// Whether everybody may read a table: those of information_schema show what the account may see, and these of
    /// performance_schema too.
    pub fn is_for_everybody(schema: &str, name: &str) -> bool {
        const OF_PERFORMANCE_SCHEMA: &[&str] = &[
            "global_status",
            "session_status",
            "global_variables",
            "session_variables",
            "processlist",
            "variables_info",
            "persisted_variables",
            "session_account_connect_attrs",
            "session_connect_attrs",
            "log_status",
        ];
        schema.eq_ignore_ascii_case("information_schema")
            || schema.eq_ignore_ascii_case("performance_schema")
                && OF_PERFORMANCE_SCHEMA.iter().any(|one| one.eq_ignore_ascii_case(name))
    }

    /// Fails if the account may not read the table: the engine's views ask for PROCESS. Of the others [`Session`] has
    /// asked for SELECT.
    ///
    /// [`Session`]: crate::Session
    pub fn check_access(self, session: &SessionState) -> SqlResult<()> {
        use VirtualTable as V;
        match self {
            V::InnodbTrx
            | V::InnodbLocks
            | V::InnodbLockWaits
            | V::InnodbMetrics
            | V::InnodbCmp
            | V::InnodbCmpmem
            | V::InnodbForeign
            | V::InnodbForeignCols
                if !session.rights().may(Privileges::PROCESS, None) =>
            {
                Err(SqlError::specific_access_denied("PROCESS"))
            }
            _ => Ok(()),
        }
    }

    /// Its columns: name, type, may be NULL. As in MySQL texts of information_schema are of the character set utf8mb3,
    /// and names of databases and tables differ by case.
    pub fn columns(self) -> Vec<(&'static str, ColumnType, bool)> {
        let of_names = self.schema() == "information_schema";
        let of_server = self.schema() == "mysql";
        let bare = |name: &str| {
            let name = name.to_ascii_lowercase();
            let ends = ["host", "priv", "_option", "_type", "_locked", "_expired", "_current"];
            ends.iter().any(|end| name.ends_with(end))
        };
        let collation = |name: &str| match of_names {
            // As in MySQL the names of accounts and objects in `mysql` differ by case, those of hosts do not.
            false if of_server && bare(name) => Collation::Utf8mb3GeneralCi,
            false if of_server => Collation::Utf8mb3Bin,
            false => Collation::DEFAULT,
            true if name.ends_with("_SCHEMA") => Collation::Utf8mb3Bin,
            true if matches!(
                name,
                "SCHEMA_NAME" | "TABLE_NAME" | "REFERENCED_TABLE_NAME" | "EVENT_OBJECT_TABLE"
            ) =>
            {
                Collation::Utf8mb3Bin
            }
            true => Collation::Utf8mb3GeneralCi,
        };
        let kind = |name: &str, code: char| match code {
            'n' => ColumnType::BIGINT_UNSIGNED,
            'd' => ColumnType::DateTime { fsp: 0 },
            'i' => ColumnType::BIGINT,
            'f' => ColumnType::Double { unsigned: false, digits: None, zerofill: false },
            'h' => ColumnType::Time { fsp: 0 },
            't' => ColumnType::Text { size: BlobSize::Long, collation: collation(name) },
            _ => ColumnType::Varchar { length: 64, collation: collation(name) },
        };
        let columns = self.shape().1.iter();
        columns
            .map(|(name, code)| (*name, kind(name, code.to_ascii_lowercase()), code.is_ascii_uppercase()))
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
pub fn rows(
    table: VirtualTable,
    db: &Arc<Database>,
    session: &SessionState,
    charge: &mut Charge,
) -> SqlResult<Vec<Vec<Value>>> {
    let mut rows = Vec::new();
    write(table, db, session, &mut |line| {
        let row: Vec<Value> = line.iter().map(|cell| cell.to_value()).collect();
        charge.add_row(&row)?;
        session.work(ROW_BYTES)?;
        rows.push(row);
        Ok(())
    })?;
    Ok(rows)
}

/// Making a row is as much work as going through so many bytes.
const ROW_BYTES: usize = 2 << 10;

/// Hands on all rows of a table, one at a time, as the session may see them.
pub fn write(
    table: VirtualTable,
    db: &Arc<Database>,
    session: &SessionState,
    out: &mut Lines<'_>,
) -> SqlResult<()> {
    use VirtualTable as V;
    table.check_access(session)?;
    match table {
        V::Processlist | V::PerformanceProcesslist => server::processlist(db, session, usize::MAX, out),
        V::GlobalStatus => server::status(db, None, true, out),
        V::SessionStatus => server::status(db, Some(session.counted()), true, out),
        // In MySQL they do not have the statements' counters.
        V::PerformanceGlobalStatus => server::status(db, None, false, out),
        V::PerformanceSessionStatus => server::status(db, Some(session.counted()), false, out),
        V::InnodbTrx => activity::transactions(db, session, out),
        V::InnodbLocks => locks::old_locks(db, out),
        V::InnodbLockWaits => locks::old_waits(db, out),
        V::InnodbMetrics => crate::status::metrics::write(db, session, out),
        V::DataLocks => locks::data_locks(db, out),
        V::DataLockWaits => locks::data_lock_waits(db, out),
        V::SysLockWaits => locks::lock_waits(db, session, true, out),
        V::SysLockWaitsRaw => locks::lock_waits(db, session, false, out),
        V::ThreadPoolGroups => thread_pool::groups(db, out),
        V::ThreadPoolQueues => thread_pool::queues(db, out),
        V::ThreadPoolStats => thread_pool::stats(db, out),
        V::ThreadPoolWaits => thread_pool::waits(db, out),
        other => {
            for row in listed(other, db, session)? {
                out(&row.iter().map(Cell::Value).collect::<Vec<_>>())?;
            }
            Ok(())
        }
    }
}

/// Rows of the tables that are made as lists of values.
fn listed(table: VirtualTable, db: &Arc<Database>, session: &SessionState) -> SqlResult<Vec<Vec<Value>>> {
    use VirtualTable as V;
    Ok(match table {
        V::Schemata => catalog::schemata(db, session),
        V::Tables => catalog::tables(db, session),
        V::Columns => catalog::columns(db, session),
        V::Statistics => catalog::statistics(db, session),
        V::SchemataExtensions => extensions::schemata(db, session),
        V::TablesExtensions => extensions::tables(db, session),
        V::ColumnsExtensions => extensions::columns(db, session),
        V::ConstraintsExtensions => extensions::constraints(db, session),
        V::Partitions => catalog::partitions(db, session),
        V::UserAttributes => extensions::users(db, session),
        V::KeyColumnUsage => catalog::key_column_usage(db, session),
        V::TableConstraints => catalog::table_constraints(db, session),
        V::CheckConstraints => catalog::check_constraints(db, session),
        V::ReferentialConstraints => {
            foreign_keys::referential_constraints(db, &catalog::all_tables(db, session))
        }
        V::InnodbForeign => foreign_keys::innodb_foreign(&catalog::all_tables(db, session)),
        V::InnodbForeignCols => foreign_keys::innodb_foreign_columns(&catalog::all_tables(db, session)),
        V::Engines => server::engines(),
        V::CharacterSets => server::character_sets(),
        V::Collations => server::collations(),
        V::PersistedVariables => server::persisted_variables(db),
        V::GlobalVariables | V::PerformanceGlobalVariables => server::variables(session, true)?,
        V::SessionVariables | V::PerformanceSessionVariables => server::variables(session, false)?,
        V::Threads => server::threads(db),
        V::EventsWaitsByName => server::latch_waits(),
        V::UserPrivileges => server::user_privileges(db, session),
        V::SchemaPrivileges => server::schema_privileges(db, session),
        V::Plugins => server::plugins(),
        V::CollationApplicability => server::collation_applicability(),
        V::Keywords => server::keywords(),
        V::MysqlUser => accounts::users(db),
        V::MysqlDb => accounts::databases(db),
        V::MysqlTablesPriv => privileges::of_tables(db),
        V::MysqlColumnsPriv => privileges::of_columns(db),
        V::TablePrivileges => privileges::table_privileges(db, session),
        V::ColumnPrivileges => privileges::column_privileges(db, session),
        V::MysqlGlobalGrants => accounts::global_grants(db),
        V::MysqlRoleEdges => roles::edges(db),
        V::MysqlDefaultRoles => roles::defaults(db),
        V::ApplicableRoles => roles::applicable(db, session),
        V::AdministrableRoles => roles::administrable(db, session),
        V::EnabledRoles => roles::enabled(db, session),
        V::RoleTableGrants => roles::table_grants(db, session),
        V::RoleColumnGrants => roles::column_grants(db, session),
        V::MysqlEmpty(nth) => zones::rows(accounts::EMPTY[nth].0),
        _ => Vec::new(),
    })
}

/// Whether the session's account may see what a database holds.
pub(crate) fn visible(session: &SessionState, schema: &str) -> bool {
    session.rights().may_see(schema)
}

/// Whether the session's account may know that a database exists.
pub(crate) fn known(session: &SessionState, schema: &str) -> bool {
    visible(session, schema) || session.rights().may(Privileges::SHOW_DATABASES, None)
}
