//! The syntax tree: what a statement says, before any name is looked up.
//!
//! Rules a reader may rely on:
//! - The tree owns its text and has no lifetimes; identifiers are [`Name`]s as written (case kept, quotes
//!   removed), string literals are bytes as written with escapes resolved.
//! - Syntax that means the same is one node: `!=` and `<>`, `a DIV b`, `NOT a LIKE b`'s two spellings,
//!   `DATE_ADD(d, INTERVAL 1 DAY)` and `d + INTERVAL 1 DAY`, `SUBSTRING(s FROM 2)` and `SUBSTRING(s, 2)`.
//! - A tree is never deeper than [`crate::parser::DEPTH_MAX`] levels, however long the text: chains of AND
//!   and OR are flat lists, every other chain counts towards the limit. Recursive walks over a tree are
//!   therefore safe.

mod account;
mod administration;
mod clause;
mod data_change;
mod definition;
mod expression;
mod hint;
mod literal_rows;
mod query;
mod show;
mod types;
mod view;
mod window;
mod written;

pub use account::*;
pub use administration::*;
pub use clause::*;
pub use data_change::*;
pub use definition::*;
pub use expression::*;
pub use hint::*;
pub use literal_rows::*;
pub use query::*;
pub use show::*;
pub use types::*;
pub use view::*;
pub use window::*;
pub use written::*;

/// An identifier: quotes removed, doubled quotes resolved, case as written.
pub type Name = Box<str>;

/// The bytes of a string literal: quotes removed, escapes resolved, character set unchecked.
pub type Text = Box<[u8]>;

/// `[schema.]table`
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct TableName {
    /// The database, when written.
    pub schema: Option<Name>,
    /// The table.
    pub table: Name,
}

/// `[[schema.]table.]column`
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ColumnName {
    /// The database, when written.
    pub schema: Option<Name>,
    /// The table or its alias, when written.
    pub table: Option<Name>,
    /// The column.
    pub column: Name,
}

/// One SQL statement.
#[derive(Debug, Clone, PartialEq, Hash)]
pub enum Statement {
    /// SELECT, VALUES, TABLE, and their unions.
    Select(Box<Query>),
    /// INSERT and REPLACE.
    Insert(Box<Insert>),
    /// UPDATE, of one table or several.
    Update(Box<Update>),
    /// DELETE, from one table or several.
    Delete(Box<Delete>),
    /// TRUNCATE \[TABLE\].
    Truncate(TableName),
    /// CREATE DATABASE.
    CreateDatabase(CreateDatabase),
    /// ALTER DATABASE; without a name, the current one.
    AlterDatabase {
        /// The database.
        name: Option<Name>,
        /// New defaults.
        options: DatabaseOptions,
    },
    /// DROP DATABASE.
    DropDatabase {
        /// The database.
        name: Name,
        /// IF EXISTS.
        if_exists: bool,
    },
    /// CREATE TABLE.
    CreateTable(Box<CreateTable>),
    /// DROP TABLE.
    DropTable(DropTable),
    /// ALTER TABLE.
    AlterTable(Box<AlterTable>),
    /// RENAME TABLE: pairs of old and new name, applied left to right.
    RenameTable(Vec<(TableName, TableName)>),
    /// CREATE INDEX.
    CreateIndex(Box<CreateIndex>),
    /// DROP INDEX ... ON.
    DropIndex {
        /// The index; PRIMARY for the primary key.
        name: Name,
        /// Its table.
        table: TableName,
        /// ALGORITHM, LOCK
        online: Online,
    },
    /// CREATE VIEW, ALTER VIEW.
    CreateView(Box<CreateView>),
    /// DROP VIEW.
    DropView {
        /// The views.
        names: Vec<TableName>,
        /// IF EXISTS.
        if_exists: bool,
    },
    /// DROP PROCEDURE, FUNCTION, TRIGGER, EVENT: they cannot exist, so only IF EXISTS can succeed.
    DropProgram {
        /// Which of them, upper case.
        kind: &'static str,
        /// Its name.
        name: TableName,
        /// IF EXISTS.
        if_exists: bool,
    },
    /// BEGIN and START TRANSACTION.
    Begin(Begin),
    /// COMMIT.
    Commit(Completion),
    /// ROLLBACK of the whole transaction.
    Rollback(Completion),
    /// SAVEPOINT name.
    Savepoint(Name),
    /// ROLLBACK TO SAVEPOINT name.
    RollbackTo(Name),
    /// RELEASE SAVEPOINT name.
    ReleaseSavepoint(Name),
    /// SET: the assignments take effect left to right.
    Set(Vec<SetItem>),
    /// USE database.
    Use(Name),
    /// SHOW and DESCRIBE table.
    Show(Box<Show>),
    /// EXPLAIN of a statement.
    Explain(Box<Explain>),
    /// KILL.
    Kill(Kill),
    /// FLUSH: which things are named, in order.
    Flush(Vec<FlushTarget>),
    /// LOCK TABLES.
    LockTables(Vec<LockedTable>),
    /// UNLOCK TABLES.
    UnlockTables,
    /// ANALYZE, OPTIMIZE, CHECK, CHECKSUM, REPAIR TABLE.
    TableMaintenance(TableMaintenance),
    /// CREATE USER and ALTER USER.
    User(Box<UserStatement>),
    /// DROP USER.
    DropUser {
        /// The accounts.
        users: Vec<UserName>,
        /// IF EXISTS.
        if_exists: bool,
    },
    /// RENAME USER: pairs of old and new account.
    RenameUser(Vec<(UserName, UserName)>),
    /// GRANT privileges.
    Grant(Box<Grant>),
    /// REVOKE privileges.
    Revoke(Box<Revoke>),
    /// Statements about roles.
    Role(Box<RoleStatement>),
    /// PREPARE name FROM text.
    Prepare {
        /// The statement's name.
        name: Name,
        /// Its text.
        source: PrepareSource,
    },
    /// EXECUTE name \[USING @a, ...\].
    Execute {
        /// The statement's name.
        name: Name,
        /// User variables that give the parameters their values.
        variables: Vec<Name>,
    },
    /// DEALLOCATE PREPARE and DROP PREPARE.
    Deallocate(Name),
    /// Comments alone.
    Nothing,
    /// DO: evaluates and discards.
    Do(Vec<Expr>),
    /// SHUTDOWN.
    Shutdown,
    /// RESET MASTER and the like; the words after RESET, upper case.
    Reset(Name),
    /// RESET PERSIST, of one variable or of all.
    ResetPersist {
        /// No error if it was not persisted.
        if_exists: bool,
        /// The variable.
        name: Option<Name>,
    },
}
