//! SHOW and DESCRIBE.

use super::{Expr, Limit, Name, TableName, Text, UserName};

/// SHOW what \[LIKE | WHERE\].
#[derive(Debug, Clone, PartialEq, Hash)]
pub struct Show {
    /// What is shown.
    pub what: ShowWhat,
    /// LIKE or WHERE.
    pub filter: Option<ShowFilter>,
}

/// Restricts the rows of SHOW.
#[derive(Debug, Clone, PartialEq, Hash)]
pub enum ShowFilter {
    /// LIKE 'pattern', on the first column.
    Like(Text),
    /// WHERE, on the columns of the result.
    Where(Expr),
}

/// What SHOW shows.
#[derive(Debug, Clone, PartialEq, Hash)]
pub enum ShowWhat {
    /// DATABASES, SCHEMAS
    Databases,
    /// \[EXTENDED\] \[FULL\] TABLES [FROM schema]
    Tables {
        /// FULL
        full: bool,
        /// FROM; None means the current database.
        schema: Option<Name>,
    },
    /// TABLE STATUS [FROM schema]
    TableStatus(Option<Name>),
    /// OPEN TABLES [FROM schema]
    OpenTables(Option<Name>),
    /// TRIGGERS [FROM schema]
    Triggers(Option<Name>),
    /// EVENTS [FROM schema]
    Events(Option<Name>),
    /// \[EXTENDED\] \[FULL\] COLUMNS | FIELDS FROM table; also DESCRIBE table [column pattern as LIKE].
    Columns {
        /// FULL
        full: bool,
        /// EXTENDED: hidden columns too.
        extended: bool,
        /// The table.
        table: TableName,
    },
    /// \[EXTENDED\] INDEX, INDEXES, KEYS FROM table
    Index {
        /// EXTENDED: what the engine adds to keys too.
        extended: bool,
        /// The table.
        table: TableName,
    },
    /// CREATE TABLE
    CreateTable(TableName),
    /// CREATE DATABASE
    CreateDatabase {
        /// The database.
        name: Name,
        /// IF NOT EXISTS
        if_not_exists: bool,
    },
    /// CREATE USER
    CreateUser(UserName),
    /// CREATE VIEW
    CreateView(TableName),
    /// CREATE PROCEDURE, FUNCTION, TRIGGER, EVENT: the kind in upper case and the object.
    CreateOther {
        /// The kind.
        kind: Name,
        /// The object.
        name: TableName,
    },
    /// \[GLOBAL|SESSION\] VARIABLES
    Variables {
        /// GLOBAL
        global: bool,
    },
    /// \[GLOBAL|SESSION\] STATUS
    Status {
        /// GLOBAL
        global: bool,
    },
    /// WARNINGS \[LIMIT\]
    Warnings(Option<Limit>),
    /// ERRORS \[LIMIT\]
    Errors(Option<Limit>),
    /// COUNT(*) WARNINGS
    WarningCount,
    /// COUNT(*) ERRORS
    ErrorCount,
    /// \[FULL\] PROCESSLIST
    ProcessList {
        /// FULL
        full: bool,
    },
    /// \[STORAGE\] ENGINES
    Engines,
    /// ENGINE name STATUS | MUTEX | LOGS
    Engine {
        /// The engine, as written.
        name: Name,
        /// What of it.
        report: EngineReport,
    },
    /// CHARACTER SET, CHARSET
    CharacterSets,
    /// COLLATION
    Collations,
    /// GRANTS [FOR user [USING roles]]
    Grants {
        /// Whose; None for one's own, with the roles that are active.
        user: Option<UserName>,
        /// With these roles.
        roles: Vec<UserName>,
    },
    /// PLUGINS
    Plugins,
    /// PRIVILEGES
    Privileges,
    /// BINLOG EVENTS, of no log: there is none.
    BinlogEvents,
    /// BINARY LOG STATUS
    BinaryLogStatus,
    /// BINARY LOGS
    BinaryLogs,
    /// REPLICA STATUS
    ReplicaStatus,
    /// REPLICA STATUS FOR CHANNEL
    ReplicaStatusOf(Name),
    /// RELAYLOG EVENTS [FOR CHANNEL], of no log: there is none.
    RelaylogEvents(Option<Name>),
    /// PROCEDURE CODE, FUNCTION CODE
    ProgramCode,
    /// PROFILE: the columns that were asked for.
    Profile(Vec<&'static str>),
    /// REPLICAS
    Replicas,
    /// PROCEDURE STATUS
    ProcedureStatus,
    /// FUNCTION STATUS
    FunctionStatus,
    /// PROFILES
    Profiles,
}

/// How a list of SHOW can be narrowed.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Narrowed {
    /// By LIKE and by WHERE.
    Both,
    /// By WHERE alone.
    Where,
    /// It cannot.
    Not,
}

impl ShowWhat {
    fn narrowed(&self) -> Narrowed {
        match self {
            ShowWhat::Databases
            | ShowWhat::Tables { .. }
            | ShowWhat::TableStatus(_)
            | ShowWhat::OpenTables(_)
            | ShowWhat::Triggers(_)
            | ShowWhat::Events(_)
            | ShowWhat::Columns { .. }
            | ShowWhat::Variables { .. }
            | ShowWhat::Status { .. }
            | ShowWhat::CharacterSets
            | ShowWhat::Collations
            | ShowWhat::ProcedureStatus
            | ShowWhat::FunctionStatus => Narrowed::Both,
            ShowWhat::Index { .. } => Narrowed::Where,
            ShowWhat::CreateTable(_)
            | ShowWhat::CreateDatabase { .. }
            | ShowWhat::CreateUser(_)
            | ShowWhat::CreateView(_)
            | ShowWhat::CreateOther { .. }
            | ShowWhat::Warnings(_)
            | ShowWhat::Errors(_)
            | ShowWhat::WarningCount
            | ShowWhat::ErrorCount
            | ShowWhat::ProcessList { .. }
            | ShowWhat::Engines
            | ShowWhat::Engine { .. }
            | ShowWhat::Grants { .. }
            | ShowWhat::Plugins
            | ShowWhat::Privileges
            | ShowWhat::BinlogEvents
            | ShowWhat::BinaryLogStatus
            | ShowWhat::BinaryLogs
            | ShowWhat::ReplicaStatus
            | ShowWhat::ReplicaStatusOf(_)
            | ShowWhat::RelaylogEvents(_)
            | ShowWhat::ProgramCode
            | ShowWhat::Profile(_)
            | ShowWhat::Replicas
            | ShowWhat::Profiles => Narrowed::Not,
        }
    }

    /// Whether LIKE can follow.
    pub fn takes_like(&self) -> bool {
        self.narrowed() == Narrowed::Both
    }

    /// Whether WHERE can follow.
    pub fn takes_where(&self) -> bool {
        self.narrowed() != Narrowed::Not
    }
}

/// What SHOW ENGINE reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the variants are SQL's own words")]
pub enum EngineReport {
    Status,
    Mutex,
    Logs,
}
