//! Definition of databases, tables and indexes.

use super::{ColumnType, Expr, Name, Query, TableName, Text};

/// CREATE DATABASE.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct CreateDatabase {
    /// Its name.
    pub name: Name,
    /// IF NOT EXISTS
    pub if_not_exists: bool,
    /// Defaults for its tables.
    pub options: DatabaseOptions,
}

/// Defaults of a database.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct DatabaseOptions {
    /// CHARACTER SET, lower case.
    pub charset: Option<Name>,
    /// COLLATE, lower case.
    pub collation: Option<Name>,
    /// ENCRYPTION, as written.
    pub encryption: Option<Name>,
}

/// CREATE TABLE.
#[derive(Debug, Clone, PartialEq, Hash)]
pub struct CreateTable {
    /// Its name.
    pub name: TableName,
    /// IF NOT EXISTS
    pub if_not_exists: bool,
    /// TEMPORARY
    pub temporary: bool,
    /// LIKE other: then nothing else is set.
    pub like: Option<TableName>,
    /// Columns in order.
    pub columns: Vec<ColumnDef>,
    /// Keys in order, those written as column attributes not included.
    pub keys: Vec<KeyDef>,
    /// CHECK constraints, those written as column attributes included.
    pub checks: Vec<CheckDef>,
    /// Table options in order.
    pub options: Vec<TableOption>,
    /// PARTITION BY was written (its text is not kept).
    pub partitioned: bool,
    /// AS SELECT.
    pub query: Option<Box<Query>>,
    /// What becomes of the query's rows that are there already.
    pub on_duplicate: OnDuplicate,
}

/// IGNORE and REPLACE before a query whose rows fill a table.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum OnDuplicate {
    /// Neither: an error.
    #[default]
    Refuse,
    /// IGNORE: the row that was there first stays.
    Ignore,
    /// REPLACE: the row that comes later stays.
    Replace,
}

/// One column.
#[derive(Debug, Clone, PartialEq, Hash)]
pub struct ColumnDef {
    /// Its name.
    pub name: Name,
    /// Its type.
    pub column_type: ColumnType,
    /// NULL or NOT NULL; None when neither was written.
    pub nullable: Option<bool>,
    /// DEFAULT.
    pub default: Option<DefaultClause>,
    /// ON UPDATE CURRENT_TIMESTAMP, with its fractional digits.
    pub on_update: Option<u8>,
    /// AUTO_INCREMENT
    pub auto_increment: bool,
    /// PRIMARY KEY
    pub primary_key: bool,
    /// UNIQUE \[KEY\]
    pub unique: bool,
    /// COMMENT
    pub comment: Option<Text>,
    /// GENERATED ALWAYS AS (expr)
    pub generated: Option<Generated>,
    /// INVISIBLE
    pub invisible: bool,
    /// REFERENCES written at the column, the last of its attributes.
    pub references: Option<Box<References>>,
    /// ENGINE_ATTRIBUTE is given.
    pub engine_attribute: bool,
}

/// What stands behind DEFAULT.
#[derive(Debug, Clone, PartialEq, Hash)]
pub struct DefaultClause {
    /// The value.
    pub expr: Expr,
    /// In parentheses: an expression that is computed for each row, else a literal or CURRENT_TIMESTAMP.
    pub computed: bool,
}

/// A generated column.
#[derive(Debug, Clone, PartialEq, Hash)]
pub struct Generated {
    /// Its value.
    pub expr: Expr,
    /// STORED; VIRTUAL otherwise.
    pub stored: bool,
}

/// Kinds of key.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the variants are SQL's own words")]
pub enum KeyKind {
    Primary,
    Unique,
    Index,
    FullText,
    Spatial,
    Foreign(Box<References>),
}

/// One column or expression of a key.
#[derive(Debug, Clone, PartialEq, Hash)]
pub struct KeyPart {
    /// What is indexed.
    pub target: KeyTarget,
    /// Prefix length in characters (bytes for binary types).
    pub length: Option<u64>,
    /// DESC
    pub descending: bool,
}

/// What a key part indexes.
#[derive(Debug, Clone, PartialEq, Hash)]
pub enum KeyTarget {
    /// A column.
    Column(Name),
    /// A functional key part.
    Expr(Box<Expr>),
}

/// A key of a table.
#[derive(Debug, Clone, PartialEq, Hash)]
pub struct KeyDef {
    /// Its kind.
    pub kind: KeyKind,
    /// The index's name, else the constraint's, when written; of a foreign key the other way round.
    pub name: Option<Name>,
    /// Its columns, at least one.
    pub parts: Vec<KeyPart>,
    /// Options.
    pub options: KeyOptions,
}

/// Options of a key.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct KeyOptions {
    /// USING BTREE or HASH, upper case.
    pub using: Option<Name>,
    /// COMMENT
    pub comment: Option<Text>,
    /// KEY_BLOCK_SIZE
    pub key_block_size: Option<u64>,
    /// INVISIBLE
    pub invisible: bool,
    /// ENGINE_ATTRIBUTE is not empty.
    pub engine_attribute: bool,
    /// WITH PARSER
    pub parser: Option<Name>,
}

/// What a foreign key does on a change of its parent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the variants are SQL's own words")]
pub enum ReferenceAction {
    Restrict,
    Cascade,
    SetNull,
    NoAction,
    SetDefault,
}

/// REFERENCES of a foreign key.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct References {
    /// CONSTRAINT name; None when it is to be generated.
    pub constraint: Option<Name>,
    /// The parent.
    pub table: TableName,
    /// Its columns.
    pub columns: Vec<Name>,
    /// ON DELETE
    pub on_delete: Option<ReferenceAction>,
    /// ON UPDATE
    pub on_update: Option<ReferenceAction>,
}

/// CHECK (expr)
#[derive(Debug, Clone, PartialEq, Hash)]
pub struct CheckDef {
    /// CONSTRAINT name
    pub name: Option<Name>,
    /// The condition.
    pub expr: Expr,
    /// False for NOT ENFORCED.
    pub enforced: bool,
    /// The column it was written at, and may speak of alone.
    pub column: Option<Name>,
}

/// A table option. Numbers and words are kept as written.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum TableOption {
    /// ENGINE
    Engine(Name),
    /// AUTO_INCREMENT
    AutoIncrement(u64),
    /// \[DEFAULT\] CHARACTER SET, lower case.
    Charset(Name),
    /// \[DEFAULT\] COLLATE, lower case.
    Collation(Name),
    /// ROW_FORMAT, upper case.
    RowFormat(Name),
    /// COMMENT
    Comment(Text),
    /// Any other: the option in upper case (MAX_ROWS, STATS_PERSISTENT, ...) and its value as written.
    Other(Name, Name),
}

/// DROP TABLE.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct DropTable {
    /// The tables.
    pub names: Vec<TableName>,
    /// IF EXISTS
    pub if_exists: bool,
    /// TEMPORARY
    pub temporary: bool,
}

/// ALTER TABLE.
#[derive(Debug, Clone, PartialEq, Hash)]
pub struct AlterTable {
    /// The table.
    pub name: TableName,
    /// What to do, in order.
    pub actions: Vec<AlterAction>,
    /// ALGORITHM, LOCK
    pub online: Online,
}

/// How a change of a table is to be made, at most.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Online {
    /// ALGORITHM, upper case; None for DEFAULT.
    pub algorithm: Option<Name>,
    /// LOCK, upper case; None for DEFAULT.
    pub lock: Option<Name>,
}

/// Where a column goes.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum ColumnPosition {
    /// FIRST
    First,
    /// AFTER column
    After(Name),
}

/// One action of ALTER TABLE.
#[derive(Debug, Clone, PartialEq, Hash)]
pub enum AlterAction {
    /// ADD \[COLUMN\]
    AddColumn {
        /// The column.
        column: ColumnDef,
        /// Where; None means last.
        position: Option<ColumnPosition>,
    },
    /// DROP \[COLUMN\]
    DropColumn(Name),
    /// MODIFY and CHANGE.
    ChangeColumn {
        /// Its present name.
        old_name: Name,
        /// Its definition; the name in it is new for CHANGE, the same for MODIFY.
        column: ColumnDef,
        /// Where; None means unchanged.
        position: Option<ColumnPosition>,
    },
    /// RENAME COLUMN
    RenameColumn {
        /// Its present name.
        old_name: Name,
        /// Its new name.
        new_name: Name,
    },
    /// ALTER COLUMN SET DEFAULT; None drops the default.
    SetDefault {
        /// The column.
        column: Name,
        /// The new default.
        default: Option<DefaultClause>,
    },
    /// ADD INDEX, KEY, PRIMARY KEY, UNIQUE, FOREIGN KEY.
    AddKey(KeyDef),
    /// ADD CHECK.
    AddCheck(CheckDef),
    /// DROP INDEX, KEY.
    DropKey(Name),
    /// DROP PRIMARY KEY
    DropPrimaryKey,
    /// DROP FOREIGN KEY
    DropForeignKey(Name),
    /// DROP CHECK
    DropCheck(Name),
    /// DROP CONSTRAINT
    DropConstraint(Name),
    /// ALTER CHECK, ALTER CONSTRAINT
    EnforceConstraint {
        /// The constraint.
        name: Name,
        /// False for NOT ENFORCED.
        enforced: bool,
        /// CHECK was written: other constraints are not meant.
        check: bool,
    },
    /// RENAME INDEX
    RenameKey {
        /// Its present name.
        old_name: Name,
        /// Its new name.
        new_name: Name,
    },
    /// ALTER INDEX i VISIBLE, INVISIBLE
    SetKeyVisibility {
        /// The index.
        name: Name,
        /// The new state.
        visible: bool,
    },
    /// RENAME \[TO\]
    Rename(TableName),
    /// A table option.
    Option(TableOption),
    /// ORDER BY
    Order,
    /// CONVERT TO CHARACTER SET
    ConvertCharset {
        /// The character set, lower case; None for DEFAULT.
        charset: Option<Name>,
        /// COLLATE, lower case.
        collation: Option<Name>,
    },
    /// ENABLE KEYS (true), DISABLE KEYS (false)
    EnableKeys(bool),
    /// FORCE: rebuild.
    Force,
    /// WITH VALIDATION (true), WITHOUT VALIDATION (false)
    Validation(bool),
}

/// CREATE INDEX.
#[derive(Debug, Clone, PartialEq, Hash)]
pub struct CreateIndex {
    /// The table.
    pub table: TableName,
    /// The index; its name is always set.
    pub key: KeyDef,
    /// ALGORITHM, LOCK
    pub online: Online,
}
