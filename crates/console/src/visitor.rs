//! A session of an account, for the console's own statements: whether the account may know something is
//! asked where it is asked for everybody, by the statement that reads it.

use std::sync::Arc;

use serde_json::{Map, Value as Json};
use turnstile_engine::interrupt::Interrupt;
use turnstile_values::error::{SqlError, SqlResult};
use turnstile_values::sink::{ColumnMeta, ResultSink};
use turnstile_values::value::{Value, to_text};

use crate::account::Owner;
use crate::host::{Host, Visit};

/// Rows of an answer that are taken; a statement that makes more fails.
const ROWS_MAX: usize = 1000;
/// Run first in each session: no statement of the console lasts longer.
const PATIENCE: &str = "SET SESSION max_execution_time = 2000";
/// The session.
pub struct Visitor(Box<dyn Visit>);

impl Visitor {
    /// Begins it.
    ///
    /// # Errors
    /// 1226 and 1203 where the account has as many sessions as it may.
    pub fn enter(host: &dyn Host, owner: &Owner) -> SqlResult<Visitor> {
        let mut visitor = Visitor(host.enter(owner)?);
        visitor.rows(PATIENCE)?;
        Ok(visitor)
    }

    /// Runs a statement: a list of objects, one a row.
    ///
    /// # Errors
    /// The statement's.
    pub fn rows(&mut self, text: &str) -> SqlResult<Vec<Json>> {
        let mut kept = Kept::default();
        self.0.run(text, &mut kept)?;
        Ok(kept.rows)
    }

    /// Ends what the session runs, from another thread.
    pub fn interrupt(&self) -> Arc<Interrupt> {
        self.0.interrupt()
    }

    /// Somebody has ended the session.
    pub fn is_killed(&self) -> bool {
        self.0.is_killed()
    }
}

/// An error as the mysql client shows it.
pub fn in_words(error: &SqlError) -> String {
    let SqlError { code, sqlstate, message, .. } = error;
    format!("ERROR {code} ({}): {message}", String::from_utf8_lossy(sqlstate))
}

/// Keeps what a statement answers.
#[derive(Default)]
struct Kept {
    names: Vec<String>,
    rows: Vec<Json>,
}

fn json(value: &Value) -> Json {
    match value {
        Value::Null => Json::Null,
        Value::Int(number) => (*number).into(),
        Value::UInt(number) => (*number).into(),
        Value::Double(number) => (*number).into(),
        other => to_text(other).to_string().into(),
    }
}

impl ResultSink for Kept {
    fn columns(&mut self, columns: &[ColumnMeta]) -> Result<(), SqlError> {
        self.names = columns.iter().map(|column| column.name.to_string()).collect();
        Ok(())
    }

    fn row(&mut self, row: &[Value]) -> Result<(), SqlError> {
        if self.rows.len() >= ROWS_MAX {
            return Err(SqlError::unknown_error("more rows than the console shows"));
        }
        let fields: Map<String, Json> = self.names.iter().cloned().zip(row.iter().map(json)).collect();
        self.rows.push(fields.into());
        Ok(())
    }

    fn end(&mut self, _: u16, _: u16) {}

    fn ok(&mut self, _: u64, _: u64, _: u16, _: &str, _: u16) {}
}
