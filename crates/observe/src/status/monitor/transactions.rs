//! The section TRANSACTIONS: where the counters stand, then every session's transaction with what it waits
//! for.

use std::fmt::Write;

use turnstile_engine::admission::Place;
use turnstile_engine::lock::LockInfo;

use super::{Span, heading};
use crate::picture::activity::{Activity, Transaction, UNWRITTEN_ID};
use crate::picture::doing;
use crate::picture::lock_text::{
    ThreadLine, TransactionHead, operation_of, put_thread, write_lock, write_transaction,
};
use turnstile_catalog::catalog::Catalog;
use turnstile_catalog::registry::{Listed, ahead};
use turnstile_values::field::Digits;

/// The heading and the counters.
pub fn section(out: &mut String, db: &Catalog, span: &Span) {
    heading(out, "TRANSACTIONS");
    let (next, now) = (db.engine().next_txn_id().0, &span.now);
    let state = match (now.purge.stopped, now.purge.running) {
        (true, _) => "stopped",
        (false, true) => "running",
        (false, false) => "running but idle",
    };
    let done = now.purge.limit;
    let _ = writeln!(out, "Trx id counter {next}");
    let _ = writeln!(out, "Purge done for trx's n:o < {done} undo n:o < 0 state: {state}");
    let _ = writeln!(out, "History list length {}", now.history);
    let held = now.locks.created.saturating_sub(now.locks.removed);
    let _ = writeln!(out, "Total number of lock structs in row lock hash table {held}");
    out.push_str("LIST OF TRANSACTIONS FOR EACH SESSION:\n");
}

/// The list: sessions without a transaction first, then the transactions, the youngest first.
pub fn list(out: &mut Vec<u8>, picture: &Activity) {
    let mut busy: Vec<u64> = picture.transactions.iter().map(|one| one.connection).collect();
    busy.sort_unstable();
    for entry in ahead(&picture.sessions) {
        if !busy.is_empty() && busy.binary_search(&entry.id).is_ok() {
            continue;
        }
        out.reserve(LINES_BYTES_EXPECTED);
        out.extend_from_slice(b"---TRANSACTION ");
        out.extend_from_slice(Digits::of(UNWRITTEN_ID + entry.id).as_bytes());
        out.extend_from_slice(b", not started\n");
        entry.with_text(|statement| put_thread(out, &thread(entry, statement)));
    }
    let mut lines = String::new();
    for one in picture.transactions.iter().rev() {
        lines.clear();
        match picture.session(one) {
            None => transaction(&mut lines, picture, one, None),
            Some(entry) => {
                entry.with_text(|statement| {
                    transaction(&mut lines, picture, one, Some(thread(entry, statement)))
                });
            }
        }
        if let Some(request) = one.request {
            waiting(&mut lines, picture, &picture.locks.locks[request]);
        }
        out.extend_from_slice(lines.as_bytes());
    }
}

/// What a session without a transaction takes, but for a long statement.
const LINES_BYTES_EXPECTED: usize = 256;

fn transaction(out: &mut String, picture: &Activity, one: &Transaction, thread: Option<ThreadLine<'_>>) {
    let request = one.request.map(|at| &picture.locks.locks[at]);
    let admission = match one.place {
        Place::Inside(tickets) => format!("thread declared inside InnoDB {tickets}"),
        Place::Outside | Place::Queued | Place::Sleeping => String::new(),
    };
    let structs = one.table_locks + one.row_locks + u64::from(request.is_some());
    out.push_str("---");
    let head = TransactionHead {
        id: one.id,
        active_s: picture.now_unix_us.saturating_sub(one.started_unix_us) / 1_000_000,
        operation: request.map_or_else(|| one.operation().unwrap_or_default(), operation_of),
        admission: &admission,
        tables: if one.is_executing { one.status.tables } else { (0, 0) },
        waits: request.is_some(),
        lock_structs: structs as u32,
        heap_bytes: (structs * turnstile_engine::lock::LOCK_BYTES) as u32,
        row_locks: one.row_locks as u32,
        undo_records: one.status.undo_records,
        thread,
    };
    write_transaction(out, &head);
    if let Some((high, low)) = one.status.view {
        let _ = writeln!(out, "Trx read view will not see trx with id >= {high}, sees < {low}");
    }
}

fn waiting(out: &mut String, picture: &Activity, request: &LockInfo) {
    let seconds = request.waited.map_or(0, |waited| waited.as_secs());
    let _ = writeln!(out, "------- TRX HAS BEEN WAITING {seconds} SEC FOR THIS LOCK TO BE GRANTED:");
    write_lock(out, &picture.names, request);
    out.push_str("------------------\n");
}

fn thread<'a>(entry: &'a Listed, statement: Option<&'a [u8]>) -> ThreadLine<'a> {
    ThreadLine {
        connection: entry.id,
        query_id: entry.since_us(),
        host: entry.names.bare_host(),
        user: entry.names.user(),
        state: doing(entry, statement),
        statement,
    }
}
