//! JSON_TABLE: its columns in the scope, and the plan that makes rows of a document.

use std::sync::Arc;

use super::block::Block;
use super::from::{Joined, expanded};
use super::query::QueryPlan;
use super::scope::ScopeColumn;
use turnstile_catalog::definition::column::column_type;
use turnstile_expr::expr::Held;
use turnstile_syntax::ast::{self, JsonTableColumn};
use turnstile_values::collation::Collation;
use turnstile_values::error::{SqlError, SqlResult};
use turnstile_values::json::{self, Json, path::Path};
use turnstile_values::mixing::Traits;
use turnstile_values::types::ColumnType;

/// Rows that a path leads to, with their columns and those of nested paths.
#[derive(Debug)]
pub struct JsonTable {
    /// What leads to the rows.
    pub path: GivenPath,
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
    Exists(GivenPath),
    /// PATH
    Value {
        /// What leads to the value.
        path: GivenPath,
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
    /// This document, as its text.
    Default(Box<str>),
}

/// A path of the statement. A long one is kept as its text, because its steps take many times as much, and
/// read whenever it is followed.
#[derive(Debug)]
pub enum GivenPath {
    /// Its steps.
    Read(Path),
    /// Its text.
    Text(Box<str>),
}

/// The longest text of a path that is read once.
const READ_ONCE_BYTES: usize = 256;

impl GivenPath {
    fn of(text: &str, held: &mut Held<'_>) -> SqlResult<GivenPath> {
        if text.len() > READ_ONCE_BYTES {
            return Path::check(text).map(|()| GivenPath::Text(text.into()));
        }
        Path::parse(text, held).map(GivenPath::Read)
    }

    /// What it leads to.
    pub fn select<'d>(&self, document: &'d Json, held: &mut Held<'_>) -> SqlResult<Vec<&'d Json>> {
        match self {
            GivenPath::Read(path) => path.select(document, held),
            GivenPath::Text(text) => {
                let path = Path::parse(text, &mut held.another())?;
                path.select(document, held)
            }
        }
    }
}

/// Brings the columns into the scope. `query` gives the document.
pub fn read(
    block: &mut Block<'_, '_>,
    query: QueryPlan,
    table: &ast::JsonTable,
    alias: &str,
) -> SqlResult<Joined> {
    let mut columns = Vec::new();
    let plan = planned(table, &mut columns, &mut block.context.eval.held())?;
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

fn planned(
    table: &ast::JsonTable,
    columns: &mut Vec<ScopeColumn>,
    held: &mut Held<'_>,
) -> SqlResult<JsonTable> {
    let path = GivenPath::of(&text(&table.path), held)?;
    let mut plan = JsonTable { path, columns: Vec::new(), nested: Vec::new() };
    for one in &table.columns {
        let (name, kind, holds) = match one {
            JsonTableColumn::Nested(inner) => {
                plan.nested.push(planned(inner, columns, held)?);
                continue;
            }
            JsonTableColumn::Ordinality(name) => (name, ColumnType::BIGINT, Holds::Ordinality),
            JsonTableColumn::Path { name, kind, path, exists, empty, error } => {
                let kind = column_type(name, kind, Collation::DEFAULT)?;
                let path = GivenPath::of(&text(path), held)?;
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
            let text = text(default);
            json::check(&text, None).map_err(|error| error.of_argument(0, "JSON_TABLE"))?;
            OnMissing::Default(text.into())
        }
    })
}
