//! Transactions, SET, KILL, FLUSH, LOCK TABLES, EXPLAIN, table maintenance.

use super::{Expr, Name, Statement, TableName, Text, UserName, VariableScope};

/// Isolation levels as SET TRANSACTION names them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the variants are SQL's own words")]
pub enum IsolationLevel {
    ReadUncommitted,
    ReadCommitted,
    RepeatableRead,
    Serializable,
}

/// BEGIN, START TRANSACTION.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Begin {
    /// WITH CONSISTENT SNAPSHOT
    pub consistent_snapshot: bool,
    /// READ ONLY (true), READ WRITE (false)
    pub read_only: Option<bool>,
}

/// The tail of COMMIT and ROLLBACK. None: as `completion_type` says.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Completion {
    /// AND \[NO\] CHAIN
    pub chain: Option<bool>,
    /// \[NO\] RELEASE
    pub release: Option<bool>,
}

/// What SET TRANSACTION changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TransactionScope {
    /// SET TRANSACTION: the next transaction only.
    Next,
    /// SET SESSION TRANSACTION
    Session,
    /// SET GLOBAL TRANSACTION
    Global,
}

/// One assignment of SET.
#[derive(Debug, Clone, PartialEq, Hash)]
pub enum SetItem {
    /// `@name = value`
    UserVariable {
        /// The variable.
        name: Name,
        /// Its value.
        value: Expr,
    },
    /// `[GLOBAL|SESSION|...] name = value`, `@@scope.name = value`
    SystemVariable {
        /// Where.
        scope: VariableScope,
        /// The variable, as written.
        name: Name,
        /// The value; None for DEFAULT. A bare word (ON, ANSI, utf8mb4) is a string literal.
        value: Option<Expr>,
    },
    /// SET NAMES; None for DEFAULT.
    Names {
        /// The character set, lower case.
        charset: Option<Name>,
        /// COLLATE, lower case.
        collation: Option<Name>,
    },
    /// SET CHARACTER SET, lower case; None for DEFAULT.
    CharacterSet(Option<Name>),
    /// SET \[SESSION|GLOBAL\] TRANSACTION
    Transaction {
        /// For how long.
        scope: TransactionScope,
        /// ISOLATION LEVEL
        isolation: Option<IsolationLevel>,
        /// READ ONLY (true), READ WRITE (false)
        read_only: Option<bool>,
    },
    /// SET PASSWORD [FOR user] = 'text'
    Password {
        /// The account; None for one's own.
        user: Option<UserName>,
        /// The new password in clear.
        password: Text,
        /// REPLACE: the one before.
        replaces: Option<Text>,
    },
}

/// KILL.
#[derive(Debug, Clone, PartialEq, Hash)]
pub struct Kill {
    /// KILL QUERY; else the connection.
    pub query_only: bool,
    /// The connection's id.
    pub id: Expr,
}

/// What FLUSH flushes.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum FlushTarget {
    /// FLUSH TABLES [t, ...] \[WITH READ LOCK | FOR EXPORT\]
    Tables {
        /// The tables; empty means all.
        names: Vec<TableName>,
        /// WITH READ LOCK
        read_lock: bool,
        /// FOR EXPORT
        export: bool,
    },
    /// PRIVILEGES
    Privileges,
    /// STATUS
    Status,
    /// LOGS and BINARY, ENGINE, ERROR, GENERAL, SLOW, RELAY LOGS
    Logs,
    /// Any other (HOSTS, USER_RESOURCES, OPTIMIZER_COSTS), upper case.
    Other(Name),
}

/// One entry of LOCK TABLES.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct LockedTable {
    /// The table.
    pub name: TableName,
    /// AS alias
    pub alias: Option<Name>,
    /// WRITE; READ \[LOCAL\] otherwise.
    pub write: bool,
}

/// Verbs of table maintenance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the variants are SQL's own words")]
pub enum MaintenanceKind {
    Analyze,
    Optimize,
    Check,
    Checksum,
    Repair,
}

/// ANALYZE TABLE and the like.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct TableMaintenance {
    /// The verb.
    pub kind: MaintenanceKind,
    /// The tables.
    pub tables: Vec<TableName>,
    /// CHECKSUM TABLE ... QUICK: what is known without reading rows.
    pub quick: bool,
    /// ANALYZE TABLE ... UPDATE HISTOGRAM, DROP HISTOGRAM.
    pub histogram: Option<HistogramChange>,
}

/// What ANALYZE TABLE does with histograms.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum HistogramChange {
    /// UPDATE HISTOGRAM ON
    Update {
        /// The columns.
        columns: Vec<Name>,
        /// WITH n BUCKETS
        buckets: Option<u64>,
        /// AUTO UPDATE
        automatic: bool,
    },
    /// DROP HISTOGRAM ON
    Drop(Vec<Name>),
}

impl HistogramChange {
    /// The columns.
    pub fn columns(&self) -> &[Name] {
        match self {
            HistogramChange::Update { columns, .. } | HistogramChange::Drop(columns) => columns,
        }
    }
}

/// How EXPLAIN answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the variants are SQL's own words")]
pub enum ExplainFormat {
    Traditional,
    Tree,
    Json,
}

/// EXPLAIN of a statement.
#[derive(Debug, Clone, PartialEq, Hash)]
pub struct Explain {
    /// FORMAT=; None when not written.
    pub format: Option<ExplainFormat>,
    /// ANALYZE
    pub analyze: bool,
    /// What to explain.
    pub target: ExplainTarget,
}

/// What EXPLAIN explains.
#[derive(Debug, Clone, PartialEq, Hash)]
pub enum ExplainTarget {
    /// A SELECT, INSERT, REPLACE, UPDATE or DELETE.
    Statement(Statement),
    /// FOR CONNECTION id
    Connection(u64),
}
