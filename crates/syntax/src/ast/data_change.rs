//! INSERT, REPLACE, UPDATE, DELETE.

use super::{ColumnName, Expr, Limit, LiteralRows, Name, OrderItem, Query, TableName, TableRef, With};
use std::sync::Arc;

/// `column = value`
#[derive(Debug, Clone, PartialEq, Hash)]
pub struct Assignment {
    /// The column.
    pub column: ColumnName,
    /// The value; [`Expr::Default`] for DEFAULT.
    pub value: Expr,
}

/// INSERT or REPLACE.
#[derive(Debug, Clone, PartialEq, Hash)]
pub struct Insert {
    /// REPLACE instead of INSERT.
    pub replace: bool,
    /// IGNORE
    pub ignore: bool,
    /// The table.
    pub table: TableName,
    /// The columns named; empty means all in order, unless `source` is [`InsertSource::Rows`] of empty rows,
    /// which means all defaults. SET's columns are moved here.
    pub columns: Vec<Name>,
    /// The rows.
    pub source: InsertSource,
    /// `AS new [(a, b)]`: the row alias.
    pub row_alias: Option<RowAlias>,
    /// ON DUPLICATE KEY UPDATE; empty when absent.
    pub on_duplicate: Vec<Assignment>,
}

/// Where inserted rows come from.
#[derive(Debug, Clone, PartialEq, Hash)]
pub enum InsertSource {
    /// VALUES and SET.
    Rows(Vec<Vec<Expr>>),
    /// VALUES of many rows of nothing but plain literals.
    Literals(Arc<LiteralRows>),
    /// SELECT, TABLE.
    Query(Box<Query>),
}

/// The name under which ON DUPLICATE KEY UPDATE sees the new row.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct RowAlias {
    /// The row's name.
    pub table: Name,
    /// Its columns' names; empty keeps them.
    pub columns: Vec<Name>,
}

/// UPDATE.
#[derive(Debug, Clone, PartialEq, Hash)]
pub struct Update {
    /// WITH.
    pub with: Option<Box<With>>,
    /// IGNORE
    pub ignore: bool,
    /// The tables; more than one, or a join, is a multi-table update.
    pub tables: Vec<TableRef>,
    /// SET, left to right.
    pub assignments: Vec<Assignment>,
    /// WHERE
    pub condition: Option<Expr>,
    /// ORDER BY, one table only.
    pub order_by: Vec<OrderItem>,
    /// LIMIT, one table only; never has an offset.
    pub limit: Option<Limit>,
    /// Hints that are heeded.
    pub hints: Vec<super::Advice>,
}

/// DELETE.
#[derive(Debug, Clone, PartialEq, Hash)]
pub struct Delete {
    /// WITH.
    pub with: Option<Box<With>>,
    /// IGNORE
    pub ignore: bool,
    /// Multi-table: delete from these; empty for a delete from the one table in `from`.
    pub targets: Vec<TableName>,
    /// The tables read; exactly one plain table when `targets` is empty.
    pub from: Vec<TableRef>,
    /// WHERE
    pub condition: Option<Expr>,
    /// ORDER BY, one table only.
    pub order_by: Vec<OrderItem>,
    /// LIMIT, one table only; never has an offset.
    pub limit: Option<Limit>,
    /// Hints that are heeded.
    pub hints: Vec<super::Advice>,
}
