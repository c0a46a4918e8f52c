//! SQL by scripts. A script is a text file of blocks: statements behind `> ` (or `name> ` for another
//! session, `user%> ` or `user%name> ` for one of an account), then what they gave: rows with ` | ` between
//! values, `ok` with counts, or `error`. `BLESS=1` writes what was given in place of what was expected; read
//! the difference before you commit it.
#![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]

use std::collections::BTreeMap;
use std::fmt::Write;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

use turnstile_engine::{Config, Engine};
use turnstile_session::accounts::AccountName;
use turnstile_session::{ColumnMeta, Database, ResultSink, Session, SessionInit, SqlError, Value};

use rights::as_user;

mod account_changes;
mod admission;
mod auto_increment;
mod bulk;
mod constraints;
mod deadlock_text;
mod definitions_crash;
mod depth;
mod digests;
mod dropped;
mod explain;
mod finishing;
mod foreign_keys;
mod full_disk;
mod histograms;
mod hostile;
mod integer_changes;
mod large_documents;
mod large_values;
mod letting_go;
mod lock_memory;
mod monitor;
mod monitoring;
mod persist;
mod prepared;
mod retries;
mod rights;
mod rights_withheld;
mod roles;
mod scripts;
mod seeing;
mod shop_bounds;
mod shop_plans;
mod sought;
mod spill;
mod statistics;
mod stopped;
mod switches;
mod table_rights;
mod templates;
mod temporary;
mod views;
mod with;
mod wrong_values;
mod yields;

/// Wakes the thread that blocks.
struct Unpark(std::thread::Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Runs a future on this thread.
pub fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
    let mut context = Context::from_waker(&waker);
    loop {
        match future.as_mut().poll(&mut context) {
            Poll::Ready(output) => return output,
            Poll::Pending => std::thread::park_timeout(std::time::Duration::from_millis(50)),
        }
    }
}

/// Writes results as text.
#[derive(Default)]
pub struct Text {
    /// What was given so far.
    pub text: String,
}

fn shown(value: &Value) -> String {
    match value {
        Value::Null => "NULL".into(),
        Value::Bytes(bytes) => {
            format!("x'{}'", bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>())
        }
        other => turnstile_session::value::to_text(other).to_string(),
    }
}

impl ResultSink for Text {
    fn columns(&mut self, _: &[ColumnMeta]) -> Result<(), SqlError> {
        Ok(())
    }
    fn row(&mut self, row: &[Value]) -> Result<(), SqlError> {
        let values: Vec<String> = row.iter().map(shown).collect();
        writeln!(self.text, "{}", values.join(" | ").replace('\n', "\\n")).unwrap();
        Ok(())
    }
    fn end(&mut self, warnings: u16, _: u16) {
        if warnings > 0 {
            writeln!(self.text, "({warnings} warnings)").unwrap();
        }
    }
    fn ok(&mut self, affected: u64, id: u64, warnings: u16, info: &str, _: u16) {
        write!(self.text, "ok").unwrap();
        if affected > 0 {
            write!(self.text, " {affected}").unwrap();
        }
        if id > 0 {
            write!(self.text, " id={id}").unwrap();
        }
        if !info.is_empty() {
            write!(self.text, " ({info})").unwrap();
        } else if warnings > 0 {
            write!(self.text, " ({warnings} warnings)").unwrap();
        }
        self.text.push('\n');
    }
}

/// A fresh database.
pub fn database() -> Arc<Database> {
    let engine = Engine::open_memory(Config::default()).unwrap();
    block_on(Database::open(engine)).unwrap()
}

/// A session of root in database `test`.
pub fn session(db: &Arc<Database>) -> Session {
    Session::new(db.clone(), root(db)).unwrap()
}

/// How one begins.
pub fn root(db: &Arc<Database>) -> SessionInit {
    SessionInit {
        connection_id: db.registry().next_id(),
        user: "root".into(),
        host: "localhost".into(),
        account: AccountName::new("root", "localhost"),
        database: Some("test".into()),
        collation: 255,
        found_rows: false,
        multi_statements: true,
    }
}

/// Runs one text and gives its result as text.
pub fn run(session: &mut Session, statement: &str) -> String {
    let mut out = Text::default();
    if let Err(error) = block_on(session.query(statement.as_bytes(), &mut out)) {
        writeln!(out.text, "error {} {}", error.code, error.message).unwrap();
    }
    out.text
}

/// Runs a script and gives it back with what really came out.
pub fn run_script(script: &str) -> String {
    let db = database();
    let mut sessions: BTreeMap<String, Session> = BTreeMap::new();
    let mut played = String::new();
    let mut statement: Option<(String, String)> = None;
    let mut finish = |statement: &mut Option<(String, String)>, played: &mut String| {
        if let Some((name, text)) = statement.take() {
            let begin = || name.split_once('%').map_or_else(|| session(&db), |(user, _)| as_user(&db, user));
            let session = sessions.entry(name.clone()).or_insert_with(begin);
            played.push_str(&run(session, &text));
        }
    };
    for line in script.lines() {
        let split = line.split_once("> ").filter(|(name, _)| {
            name.len() < 8 && name.chars().all(|one| one.is_alphanumeric() || one == '%')
        });
        match split {
            Some((name, text)) => {
                finish(&mut statement, &mut played);
                writeln!(played, "{line}").unwrap();
                statement = Some((name.into(), text.into()));
            }
            None if line.is_empty() || line.starts_with('#') => {
                finish(&mut statement, &mut played);
                writeln!(played, "{line}").unwrap();
            }
            None => {}
        }
    }
    finish(&mut statement, &mut played);
    played
}
