//! Counters for SHOW STATUS, under the names MySQL users know. Only what is counted is shown.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::ast::Statement;
use crate::database::Database;

pub mod deadlock;
mod engine;
pub mod lock_text;

/// Counters of the SQL layer.
#[derive(Debug, Default)]
pub struct Status {
    questions: AtomicU64,
    connections: AtomicU64,
    bytes_received: AtomicU64,
    bytes_sent: AtomicU64,
    aborted_connects: AtomicU64,
    max_used_connections: AtomicU64,
    commands: [AtomicU64; COMMANDS.len()],
}

/// Statements that are counted one by one.
pub const COMMANDS: [&str; 8] =
    ["select", "insert", "update", "delete", "begin", "commit", "rollback", "replace"];

impl Status {
    /// A statement has come.
    pub fn questions(&self) {
        self.questions.fetch_add(1, Ordering::Relaxed);
    }

    /// A statement begins.
    pub fn command(&self, statement: &Statement) {
        let name = match statement {
            Statement::Select(_) => "select",
            Statement::Insert(insert) if insert.replace => "replace",
            Statement::Insert(_) => "insert",
            Statement::Update(_) => "update",
            Statement::Delete(_) => "delete",
            Statement::Begin(_) => "begin",
            Statement::Commit(_) => "commit",
            Statement::Rollback(_) => "rollback",
            _ => return,
        };
        if let Some(kind) = COMMANDS.iter().position(|one| *one == name) {
            self.commands[kind].fetch_add(1, Ordering::Relaxed);
        }
    }

    /// A client has connected; so many are connected now.
    pub fn connected(&self, now: u64) {
        self.connections.fetch_add(1, Ordering::Relaxed);
        self.max_used_connections.fetch_max(now, Ordering::Relaxed);
    }

    /// A client was refused.
    pub fn refused(&self) {
        self.aborted_connects.fetch_add(1, Ordering::Relaxed);
    }

    /// Bytes went over the network.
    pub fn transferred(&self, received: u64, sent: u64) {
        self.bytes_received.fetch_add(received, Ordering::Relaxed);
        self.bytes_sent.fetch_add(sent, Ordering::Relaxed);
    }
}

/// All counters by name.
pub fn list(db: &Database) -> Vec<(String, String)> {
    let status = db.status();
    let number = |counter: &AtomicU64| counter.load(Ordering::Relaxed).to_string();
    let running =
        db.registry().list().iter().filter(|one| one.command() != crate::registry::Command::Sleep).count();
    let mut all = vec![
        ("Aborted_connects".into(), number(&status.aborted_connects)),
        ("Bytes_received".into(), number(&status.bytes_received)),
        ("Bytes_sent".into(), number(&status.bytes_sent)),
        ("Connections".into(), number(&status.connections)),
        ("Max_used_connections".into(), number(&status.max_used_connections)),
        ("Queries".into(), number(&status.questions)),
        ("Questions".into(), number(&status.questions)),
        ("Threads_connected".into(), db.registry().len().to_string()),
        ("Threads_running".into(), running.to_string()),
        ("Uptime".into(), (db.registry().now_us() / 1_000_000).to_string()),
    ];
    let commands = COMMANDS.iter().zip(&status.commands);
    all.extend(commands.map(|(name, counter)| (format!("Com_{name}"), number(counter))));
    all.extend(engine::list(db.engine()));
    all.sort();
    all
}
