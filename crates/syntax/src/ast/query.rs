//! Queries: SELECT, VALUES, TABLE, set operations, and the tables they read.

use super::{ColumnType, Expr, Name, TableName, Text, Window};

/// WITH: queries with names, for the statement or query behind it.
#[derive(Debug, Clone, PartialEq, Hash)]
pub struct With {
    /// RECURSIVE: each may read itself.
    pub recursive: bool,
    /// In order: each may read those before it.
    pub tables: Vec<CommonTable>,
}

/// `name [(columns)] AS (query)`
#[derive(Debug, Clone, PartialEq, Hash)]
pub struct CommonTable {
    /// Its name.
    pub name: Name,
    /// New names for its columns; empty keeps them.
    pub columns: Vec<Name>,
    /// The query.
    pub query: Box<Query>,
}

/// A query with what applies to its whole result.
#[derive(Debug, Clone, PartialEq, Hash)]
pub struct Query {
    /// WITH.
    pub with: Option<Box<With>>,
    /// Where the rows come from.
    pub body: QueryBody,
    /// ORDER BY; empty when absent.
    pub order_by: Vec<OrderItem>,
    /// LIMIT.
    pub limit: Option<Limit>,
    /// FOR UPDATE, FOR SHARE, LOCK IN SHARE MODE; empty for a plain read.
    pub locking: Vec<LockingClause>,
    /// INTO @a, @b; empty when the rows go to the client.
    pub into: Vec<Name>,
}

/// What produces rows.
#[derive(Debug, Clone, PartialEq, Hash)]
pub enum QueryBody {
    /// SELECT
    Select(Box<Select>),
    /// `a UNION b EXCEPT c`, evaluated left to right; INTERSECT, which binds tighter, is nested.
    SetOperation {
        /// The first operand.
        first: Box<Query>,
        /// The others, each with its operator.
        rest: Vec<(SetOperator, Query)>,
    },
    /// `VALUES ROW(1, 2), ROW(3, 4)`
    Values(Vec<Vec<Expr>>),
    /// `TABLE t`
    Table(TableName),
}

/// How two results combine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the variants are SQL's own words")]
pub enum SetOperator {
    UnionAll,
    UnionDistinct,
    ExceptAll,
    ExceptDistinct,
    IntersectAll,
    IntersectDistinct,
}

/// One SELECT block.
#[derive(Debug, Clone, PartialEq, Hash)]
pub struct Select {
    /// DISTINCT
    pub distinct: bool,
    /// STRAIGHT_JOIN: join in the order written.
    pub straight_join: bool,
    /// SQL_CALC_FOUND_ROWS
    pub calc_found_rows: bool,
    /// The select list, at least one.
    pub items: Vec<SelectItem>,
    /// FROM; empty when absent or DUAL.
    pub from: Vec<TableRef>,
    /// WHERE
    pub condition: Option<Expr>,
    /// GROUP BY; empty when absent.
    pub group_by: Vec<OrderItem>,
    /// WITH ROLLUP
    pub with_rollup: bool,
    /// HAVING
    pub having: Option<Expr>,
    /// WINDOW; empty when absent.
    pub windows: Vec<(Name, Window)>,
    /// Hints that are heeded.
    pub hints: Vec<super::Advice>,
}

/// One entry of a select list.
#[derive(Debug, Clone, PartialEq, Hash)]
pub enum SelectItem {
    /// `*`, `t.*`, `s.t.*`
    Wildcard {
        /// The database, when written.
        schema: Option<Name>,
        /// The table or alias, when written.
        table: Option<Name>,
    },
    /// A value.
    Expr {
        /// The value.
        expr: Expr,
        /// The result column's name: the alias, else the column's own name, else the text as written.
        name: Name,
        /// True when `name` is an alias, which ORDER BY, GROUP BY and HAVING may then use.
        aliased: bool,
    },
}

/// One entry of ORDER BY or GROUP BY. An [`super::Literal::Int`] is a position in the select list.
#[derive(Debug, Clone, PartialEq, Hash)]
pub struct OrderItem {
    /// The key.
    pub expr: Expr,
    /// DESC
    pub descending: bool,
}

/// LIMIT; each an integer literal, a parameter or (in routines only) a variable.
#[derive(Debug, Clone, PartialEq, Hash)]
pub struct Limit {
    /// At most so many rows.
    pub count: Expr,
    /// After skipping so many.
    pub offset: Option<Expr>,
}

/// How strongly a locking read locks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LockStrength {
    /// FOR SHARE, LOCK IN SHARE MODE
    Share,
    /// FOR UPDATE
    Update,
}

/// What a locking read does about a locked row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LockWait {
    /// Wait (the default).
    Wait,
    /// NOWAIT
    NoWait,
    /// SKIP LOCKED
    SkipLocked,
}

/// `FOR UPDATE OF t NOWAIT`
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct LockingClause {
    /// Shared or exclusive.
    pub strength: LockStrength,
    /// OF: these tables or aliases; empty means all.
    pub tables: Vec<TableName>,
    /// NOWAIT, SKIP LOCKED
    pub wait: LockWait,
}

/// Something in FROM.
#[derive(Debug, Clone, PartialEq, Hash)]
pub enum TableRef {
    /// A table.
    Table(TableFactor),
    /// `(SELECT ...) AS alias (columns)`
    Derived {
        /// The query.
        query: Box<Query>,
        /// Its name.
        alias: Name,
        /// New names for its columns; empty keeps them.
        columns: Vec<Name>,
        /// LATERAL
        lateral: bool,
        /// JSON_TABLE: the query gives one document, and the rows are what this makes of it.
        json_table: Option<Box<JsonTable>>,
    },
    /// Two joined.
    Join(Box<Join>),
}

/// JSON_TABLE's path and columns, and those of each NESTED PATH.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct JsonTable {
    /// What leads to the rows.
    pub path: Text,
    /// COLUMNS
    pub columns: Vec<JsonTableColumn>,
}

/// One element of JSON_TABLE's COLUMNS.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum JsonTableColumn {
    /// `name FOR ORDINALITY`
    Ordinality(Name),
    /// `name type [EXISTS] PATH 'path' [... ON EMPTY] [... ON ERROR]`
    Path {
        /// Its name.
        name: Name,
        /// Its type.
        kind: ColumnType,
        /// What leads to its value.
        path: Text,
        /// EXISTS: whether there is a value.
        exists: bool,
        /// ON EMPTY
        empty: OnMissing,
        /// ON ERROR
        error: OnMissing,
    },
    /// `NESTED PATH 'path' COLUMNS (...)`
    Nested(JsonTable),
}

/// What is there in place of a value.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum OnMissing {
    /// NULL
    Null,
    /// ERROR
    Error,
    /// DEFAULT and a document.
    Default(Text),
}

/// A named table with its alias and hints.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct TableFactor {
    /// The table.
    pub name: TableName,
    /// AS alias
    pub alias: Option<Name>,
    /// USE, FORCE, IGNORE INDEX
    pub hints: Vec<IndexHint>,
}

/// A join.
#[derive(Debug, Clone, PartialEq, Hash)]
pub struct Join {
    /// Left operand.
    pub left: TableRef,
    /// Right operand.
    pub right: TableRef,
    /// Which rows without a partner stay.
    pub kind: JoinKind,
    /// Which pairs match.
    pub condition: JoinCondition,
}

/// Kinds of join. CROSS JOIN and a comma inside parentheses are `Inner` with no condition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the variants are SQL's own words")]
pub enum JoinKind {
    Inner,
    Left,
    Right,
    /// STRAIGHT_JOIN: inner, read left first.
    Straight,
}

/// When two rows match.
#[derive(Debug, Clone, PartialEq, Hash)]
pub enum JoinCondition {
    /// Always.
    None,
    /// ON
    On(Expr),
    /// USING: equal in these columns, which appear once in `*`.
    Using(Vec<Name>),
    /// NATURAL: USING all common columns.
    Natural,
}

/// What an index hint asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the variants are SQL's own words")]
pub enum IndexHintKind {
    Use,
    Force,
    Ignore,
}

/// `USE INDEX \[FOR ...\] (a, b)`
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct IndexHint {
    /// What is asked.
    pub kind: IndexHintKind,
    /// The indexes; may be empty for USE.
    pub indexes: Vec<Name>,
}

/// Where PREPARE finds its text.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum PrepareSource {
    /// A literal.
    Text(Text),
    /// A user variable.
    Variable(Name),
}
