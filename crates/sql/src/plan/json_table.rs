//! JSON_TABLE: its columns in the scope, and the plan that makes rows of a document.

use std::sync::Arc;

use super::block::Block;
use super::from::{Joined, expanded};
use super::query::QueryPlan;
use super::scope::ScopeColumn;
use crate::ast::{self, JsonTableColumn};
use crate::collation::Collation;
use crate::definition::column::column_type;
use crate::error::{SqlError, SqlResult};
use crate::json::{self, Json, path::Path};
use crate::mixing::Traits;
use crate::types::ColumnType;

/// Rows that a path leads to, with their columns and those of nested paths.
#[derive(Debug)]
pub struct JsonTable {
    /// What leads to the rows.
    pub path: Path,
    /// Columns of its own.
    pub columns: Vec<Column>,
    /// NESTED PATH: each makes rows of its own, in which the columns of the others are NULL.
    pub nested: Vec<JsonTable>,
}

/// A column.
#[derive(Debug)]
pub struct Column {
    /// Its place among all columns.
    pub at: usize,
    /// Its name, for errors.
    pub name: Box<str>,
    /// Its type.
    pub kind: ColumnType,
    /// What it holds.
    pub holds: Holds,
}

/// What a column holds.
#[derive(Debug)]
pub enum Holds {
    /// FOR ORDINALITY: the number of the row among those of its path, from 1.
    Ordinality,
    /// EXISTS PATH
    Exists(Path),
    /// PATH
    Value {
        /// What leads to the value.
        path: Path,
        /// ON EMPTY
        empty: OnMissing,
        /// ON ERROR
        error: OnMissing,
    },
}

/// What is there in place of a value.
#[derive(Debug)]
pub enum OnMissing {
    /// NULL
    Null,
    /// An error.
    Error,
    /// This document.
    Default(Json),
}

/// Brings the columns into the scope. `query` gives the document.
pub fn read(
    block: &mut Block<'_, '_>,
    query: QueryPlan,
    table: &ast::JsonTable,
    alias: &str,
) -> SqlResult<Joined> {
    let mut columns = Vec::new();
    let plan = planned(table, &mut columns)?;
    for (nth, column) in columns.iter().enumerate() {
        let twin = columns[..nth].iter().find(|other| other.name.eq_ignore_ascii_case(&column.name));
        if let Some(twin) = twin {
            return Err(SqlError::duplicate_column(&*twin.name));
        }
    }
    expanded(block, alias, columns, query, Arc::new(plan))
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn planned(table: &ast::JsonTable, columns: &mut Vec<ScopeColumn>) -> SqlResult<JsonTable> {
    let path = Path::parse(&text(&table.path))?;
    let mut plan = JsonTable { path, columns: Vec::new(), nested: Vec::new() };
    for one in &table.columns {
        let (name, kind, holds) = match one {
            JsonTableColumn::Nested(inner) => {
                plan.nested.push(planned(inner, columns)?);
                continue;
            }
            JsonTableColumn::Ordinality(name) => (name, ColumnType::BIGINT, Holds::Ordinality),
            JsonTableColumn::Path { name, kind, path, exists, empty, error } => {
                let kind = column_type(name, kind, Collation::DEFAULT)?;
                let path = Path::parse(&text(path))?;
                let holds = if *exists {
                    Holds::Exists(path)
                } else {
                    Holds::Value { path, empty: missing(empty)?, error: missing(error)? }
                };
                (name, kind, holds)
            }
        };
        let at = columns.len();
        columns.push(ScopeColumn {
            name: name.to_string().into(),
            traits: Traits::of(&kind),
            kind: kind.clone(),
            nullable: true,
            flags: 0,
            hidden: false,
        });
        plan.columns.push(Column { at, name: name.to_string().into(), kind, holds });
    }
    Ok(plan)
}

fn missing(given: &ast::OnMissing) -> SqlResult<OnMissing> {
    Ok(match given {
        ast::OnMissing::Null => OnMissing::Null,
        ast::OnMissing::Error => OnMissing::Error,
        ast::OnMissing::Default(default) => {
            let document = json::parse(&text(default)).map_err(|error| error.of_argument(0, "JSON_TABLE"))?;
            OnMissing::Default(document)
        }
    })
}
