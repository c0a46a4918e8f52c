//! What a session does, in MySQL's words.

use turnstile_catalog::registry::{Command, Entry};
use turnstile_engine::admission::Place;
use turnstile_engine::session_status::WaitingFor;

/// STATE: what a session waits for, or what its statement does; nothing between statements.
pub fn doing(entry: &Entry, statement: Option<&[u8]>) -> &'static str {
    if entry.command() == Command::Sleep {
        return "";
    }
    match (entry.status.waiting_for(), entry.status.admission().place()) {
        (_, Place::Queued) => "waiting in InnoDB queue",
        (_, Place::Sleeping) => "sleeping before joining InnoDB queue",
        (WaitingFor::RowLock, _) => "Waiting for row lock",
        (WaitingFor::TableLock, _) => "Waiting for table lock",
        (WaitingFor::Definition, _) => "Waiting for table metadata lock",
        (WaitingFor::UserLock, _) => "User lock",
        (WaitingFor::Predecessors, _) => "Waiting for a predecessor's commit",
        (WaitingFor::Successors, _) => "Waiting for successors to roll back",
        (WaitingFor::Nothing, _) if entry.status.waits_for_log() => "waiting for handler commit",
        (WaitingFor::Nothing, _) => statement.map_or("", statement_state),
    }
}

/// The stage of a running statement by its first word, in MySQL's words.
pub fn statement_state(text: &[u8]) -> &'static str {
    let mut rest = text.trim_ascii_start();
    while let Some(inside) = rest.strip_prefix(b"/*") {
        let Some(end) = inside.windows(2).position(|two| two == b"*/") else { break };
        rest = inside[end + 2..].trim_ascii_start();
    }
    while let Some(inside) = rest.strip_prefix(b"(") {
        rest = inside;
    }
    let end = rest.iter().position(|letter| !letter.is_ascii_alphabetic()).unwrap_or(rest.len());
    let stages = [
        ("update", "updating"),
        ("delete", "updating"),
        ("insert", "update"),
        ("replace", "update"),
        ("alter", "altering table"),
        ("create", "creating table"),
        ("rollback", "Rolling back"),
    ];
    let found = stages.iter().find(|(word, _)| rest[..end].eq_ignore_ascii_case(word.as_bytes()));
    found.map_or("executing", |(_, stage)| stage)
}
