//! Tables of information_schema, performance_schema and sys, and some of `mysql`: their names and columns,
//! and who may read them. Their rows are made from memory, above.

mod accounts;
mod digests;
mod empty;
mod estimates;
mod extensions;
mod foreign_keys;
mod hot_rows;
mod layout;
mod privileges;
mod roles;
mod shapes;
mod thread_pool;
mod uninstrumented;
pub mod viewed;
mod views;

use turnstile_values::collation::Collation;
use turnstile_values::error::{SqlError, SqlResult};
use turnstile_values::types::{BlobSize, ColumnType, IntWidth};

use crate::accounts::{Privileges, Rights};
use layout::{SHAPES, Shape};

/// Databases whose tables are all computed. Of the database `mysql` those of `accounts.rs` are.
pub const VIRTUAL_SCHEMAS: [&str; 3] = ["information_schema", "performance_schema", "sys"];

/// A table of information_schema, performance_schema or sys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are those of the tables")]
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
    HotRows,
    SysHotRows,
    CollationApplicability,
    Keywords,
    MysqlUser,
    MysqlDb,
    MysqlTablesPriv,
    MysqlColumnsPriv,
    TablePrivileges,
    ColumnPrivileges,
    MysqlGlobalGrants,
    MysqlTableStats,
    MysqlIndexStats,
    ColumnStatistics,
    OptimizerTrace,
    MysqlRoleEdges,
    MysqlDefaultRoles,
    ApplicableRoles,
    AdministrableRoles,
    EnabledRoles,
    RoleTableGrants,
    RoleColumnGrants,
    Views,
    ViewTableUsage,
    DigestSummary,
    DigestHistogram,
    StatementHistogram,
    SysStatementAnalysis,
    SysStatementAnalysisRaw,
    /// A table of information_schema about what this server does not have, by its place in `empty::TABLES`.
    Empty(usize),
    /// The same of performance_schema, in `uninstrumented::TABLES`.
    Uninstrumented(usize),
    /// The same of `mysql`, in `accounts::EMPTY`.
    MysqlEmpty(usize),
}

impl VirtualTable {
    /// Whether a database's tables are computed.
    pub fn is_schema(name: &str) -> bool {
        VIRTUAL_SCHEMAS.iter().any(|one| one.eq_ignore_ascii_case(name))
    }

    /// Whether a table is computed.
    pub fn is_computed(schema: &str, name: &str) -> bool {
        VirtualTable::is_schema(schema) || schema == "mysql" && VirtualTable::of_mysql(name).is_some()
    }

    /// Whether TRUNCATE lets it begin anew.
    pub fn can_begin_anew(schema: &str, name: &str) -> bool {
        use VirtualTable as V;
        let found = VirtualTable::find(schema, name);
        matches!(found, Ok(Some(V::DigestSummary | V::DigestHistogram | V::StatementHistogram)))
    }

    /// The table of a name; None if it is a stored one, an error if its database is computed and has no such
    /// table.
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
            .chain(estimates::SHAPES)
            .chain(views::SHAPES)
            .chain(digests::SHAPES)
            .map(|(table, _)| *table);
        let empty = (0..empty::TABLES.len()).map(VirtualTable::Empty);
        let uninstrumented = (0..uninstrumented::TABLES.len()).map(VirtualTable::Uninstrumented);
        let of_mysql = (0..accounts::EMPTY.len()).map(VirtualTable::MysqlEmpty);
        filled.chain(empty).chain(uninstrumented).chain(of_mysql)
    }

    /// Those that whoever has these rights may know of.
    pub fn all_visible(rights: Rights) -> impl Iterator<Item = VirtualTable> {
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
            .chain(roles::SHAPES)
            .chain(estimates::SHAPES)
            .chain(views::SHAPES)
            .chain(digests::SHAPES);
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
            V::SysLockWaits
            | V::SysLockWaitsRaw
            | V::SysHotRows
            | V::SysStatementAnalysis
            | V::SysStatementAnalysisRaw => "sys",
            V::MysqlUser
            | V::MysqlDb
            | V::MysqlTablesPriv
            | V::MysqlColumnsPriv
            | V::MysqlGlobalGrants
            | V::MysqlTableStats
            | V::MysqlIndexStats
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
            | V::DigestSummary
            | V::DigestHistogram
            | V::StatementHistogram
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

    /// Whether everybody may read a table: those of information_schema show what the account may see, and
    /// these of performance_schema too.
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

    /// Fails if the account may not read the table: the engine's views ask for PROCESS. Of the others the
    /// session has asked for SELECT.
    pub fn check_access(self, rights: &Rights) -> SqlResult<()> {
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
            | V::HotRows
            | V::SysHotRows
                if !rights.may(Privileges::PROCESS, None) =>
            {
                Err(SqlError::specific_access_denied("PROCESS"))
            }
            _ => Ok(()),
        }
    }

    /// The names of its columns.
    pub fn column_names(self) -> impl Iterator<Item = &'static str> {
        self.shape().1.iter().map(|(name, _)| *name)
    }

    /// Its columns: name, type, may be NULL. As in MySQL texts of information_schema are of the character set
    /// utf8mb3, and names of databases and tables differ by case.
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
            'u' => ColumnType::Timestamp { fsp: 6 },
            'k' => ColumnType::int(IntWidth::Int, true),
            'q' => ColumnType::Double { unsigned: false, digits: Some((7, 6)), zerofill: false },
            'i' => ColumnType::BIGINT,
            'm' => ColumnType::INT,
            'y' => ColumnType::int(IntWidth::Tiny, false),
            'f' => ColumnType::Double { unsigned: false, digits: None, zerofill: false },
            'h' => ColumnType::Time { fsp: 0 },
            'j' => ColumnType::Json,
            't' => ColumnType::Text { size: BlobSize::Long, collation: collation(name) },
            _ => ColumnType::Varchar { length: 64, collation: collation(name) },
        };
        let columns = self.shape().1.iter();
        columns
            .map(|(name, code)| (*name, kind(name, code.to_ascii_lowercase()), code.is_ascii_uppercase()))
            .collect()
    }
}
