//! The rows that a SHOW answers with, and LIKE and WHERE over them.

use super::super::Session;
use super::super::statement::Outcome;
use crate::ast::{self, ShowWhat};
use crate::collation::Collation;
use crate::error::{SqlError, SqlResult};
use crate::session::statement;
use crate::sink::{ColumnMeta, ResultSink};
use crate::types::{BlobSize, ColumnType, IntWidth};
use crate::value::Value;

/// Keeps a result in memory.
#[derive(Default)]
pub struct Collected {
    /// The rows.
    pub rows: Vec<Vec<Value>>,
    /// The types of their columns.
    pub types: Vec<ColumnType>,
}

impl ResultSink for Collected {
    fn columns(&mut self, columns: &[ColumnMeta]) -> SqlResult<()> {
        self.types = columns.iter().map(|column| column.column_type.clone()).collect();
        Ok(())
    }
    fn row(&mut self, row: &[Value]) -> SqlResult<()> {
        self.rows.push(row.to_vec());
        Ok(())
    }
    fn end(&mut self, _: u16, _: u16) {}
    fn ok(&mut self, _: u64, _: u64, _: u16, _: &str, _: u16) {}
}

/// Columns and rows of a SHOW.
pub struct Table {
    pub(super) columns: Vec<ColumnMeta>,
    pub(super) rows: Vec<Vec<Value>>,
}

/// The type of SHOW COLUMNS' Key.
fn kind_of_key() -> ColumnType {
    let names = ["", "PRI", "UNI", "MUL"].map(String::from).to_vec();
    let names = std::sync::Arc::new(crate::value::EnumNames { multiple: false, names });
    ColumnType::Enum { names, collation: Collation::DEFAULT }
}

impl Table {
    /// Columns by name: `n` a number, `u` one without a sign, `t` a long text, `v` one that is no TEXT, `k`
    /// how a column is indexed, anything else a short text.
    pub fn new(columns: &[(&str, char)]) -> Table {
        let column = |(name, kind): &(&str, char)| {
            let kind = match kind {
                'n' => ColumnType::BIGINT,
                'u' => ColumnType::int(IntWidth::Int, true),
                'p' => ColumnType::int(IntWidth::Big, true),
                'v' => ColumnType::varchar(1024),
                'd' => ColumnType::DateTime { fsp: 0 },
                't' => ColumnType::Text { size: BlobSize::Normal, collation: Collation::DEFAULT },
                'k' => kind_of_key(),
                _ => ColumnType::varchar(64),
            };
            ColumnMeta::computed(name, kind, true).kept()
        };
        Table { columns: columns.iter().map(column).collect(), rows: Vec::new() }
    }

    pub(crate) fn texts(columns: &[&str]) -> Table {
        Table::new(&columns.iter().map(|name| (*name, 's')).collect::<Vec<_>>())
    }

    /// Its columns.
    pub fn columns(&self) -> &[ColumnMeta] {
        &self.columns
    }

    /// Its rows.
    pub fn rows(&self) -> &[Vec<Value>] {
        &self.rows
    }

    /// Adds a row.
    pub fn push(&mut self, row: Vec<Value>) {
        self.rows.push(row);
    }
}

/// SHOW TABLES and SHOW DATABASES have the pattern of their LIKE in the heading.
pub(super) fn head_with_pattern(table: &mut Table, what: &ShowWhat, pattern: &[u8]) {
    if !matches!(what, ShowWhat::Tables { .. } | ShowWhat::Databases) {
        return;
    }
    let shown = String::from_utf8_lossy(pattern);
    let own = table.columns[0].name.ends_with("_information_schema");
    let shown = if own { shown.to_uppercase() } else { shown.into_owned() };
    let heading = format!("{} ({shown})", table.columns[0].name);
    table.columns[0].name = heading.into();
}

/// A text.
pub(super) fn text(text: impl AsRef<str>) -> Value {
    Value::text(text.as_ref())
}

/// Writes a whole result.
pub fn write_table(table: &Table, out: &mut dyn ResultSink) -> SqlResult<Outcome> {
    out.columns(&table.columns)?;
    for row in &table.rows {
        out.row(row)?;
    }
    Ok(Outcome { rows: true, ..Outcome::default() })
}

pub(super) fn filter_rows(
    session: &Session,
    table: &mut Table,
    condition: &ast::Expr,
    params: &[Value],
) -> SqlResult<()> {
    let columns = table.columns.clone();
    statement::with_eval(session, params, |eval| {
        // It reads the rows that are shown, and no table.
        let uses = crate::plan::uses::Uses::default();
        let parameters = crate::plan::parameters::Parameters::literals();
        let context = statement::plan_context(session, None, eval, &uses, &parameters, false);
        let mut block = crate::plan::block::Block::new(&context, None);
        block.scope.add_columns(&columns);
        let filter = block.filter(condition, "where clause")?;
        if !block.subqueries.is_empty() {
            return Err(SqlError::not_supported_yet("a sub-query in this place"));
        }
        let mut kept = Vec::new();
        for row in std::mem::take(&mut table.rows) {
            if filter.expr.eval_truth(&row, eval)? == Some(true) {
                kept.push(row);
            }
        }
        table.rows = kept;
        Ok(())
    })
}

pub(super) fn one(name: &str, number: u64) -> Table {
    let mut table = Table::new(&[(name, 'p')]);
    table.push(vec![Value::UInt(number)]);
    table
}

pub(super) fn column_row(
    full: bool,
    line: [Value; 6],
    kind: &ColumnType,
    (privileges, comment): (&str, &str),
) -> Vec<Value> {
    let [field, written, null, key, default, extra] = line;
    if !full {
        return vec![field, written, null, key, default, extra];
    }
    let collation = kind.shown_collation().map_or(Value::Null, |one| text(one.name()));
    vec![field, written, collation, null, key, default, extra, text(privileges), text(comment)]
}
