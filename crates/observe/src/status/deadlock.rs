//! The last deadlock, with what everybody in it was doing: LATEST DETECTED DEADLOCK, and the same text for
//! the server's log when `innodb_print_all_deadlocks` is on.
//!
//! The lock room calls before it breaks a cycle, while all its members sleep. So the statements copied here
//! are the ones that met. Only pointers and short texts are copied then; the text is made when somebody reads
//! it.

use std::fmt::Write;
use std::sync::{Arc, OnceLock};
use std::time::SystemTime;

use parking_lot::Mutex;
use turnstile_engine::lock::{DeadlockMember, DeadlockRecord};

use super::Observed;
use crate::picture::lock_text::{
    LockNames, ThreadLine, TransactionHead, operation_of, shown_id, write_lock, write_transaction,
};
use crate::picture::statement_state;
use turnstile_catalog::registry::Shown;
use turnstile_values::datetime::DateTime;
use turnstile_values::value::Value;

/// Takes the text of each deadlock when `innodb_print_all_deadlocks` is on.
pub type DeadlockLog = Box<dyn Fn(&str) + Send + Sync>;

/// What is known of deadlocks.
#[derive(Default)]
pub struct Deadlocks {
    latest: Mutex<Option<Arc<Report>>>,
    log: OnceLock<DeadlockLog>,
}

/// A deadlock and the sessions in it, as they stood when it was found.
#[derive(Debug)]
pub struct Report {
    record: Arc<DeadlockRecord>,
    /// In the order of the record's members; None for one that is no session's.
    sessions: Vec<Option<Seen>>,
    now_us: u64,
}

#[derive(Debug)]
struct Seen {
    shown: Shown,
    began_us: u64,
    statement_us: u64,
}

impl Deadlocks {
    /// Begins to watch the engine of a database.
    pub fn watch(db: &Arc<Observed>) {
        let weak = Arc::downgrade(db);
        db.engine().locks().set_deadlock_hook(Box::new(move |record| {
            let seen = weak.upgrade().map(|db| (Arc::new(Report::capture(&db, record)), db));
            Box::new(move || {
                if let Some((report, db)) = seen {
                    db.deadlocks().keep(&db, report);
                }
            })
        }));
    }

    /// Where `innodb_print_all_deadlocks` writes to. Can be told once; a second is refused (false).
    pub fn set_log(&self, log: DeadlockLog) -> bool {
        self.log.set(log).is_ok()
    }

    /// The last one.
    pub fn latest(&self) -> Option<Arc<Report>> {
        self.latest.lock().clone()
    }

    fn keep(&self, db: &Observed, report: Arc<Report>) {
        *self.latest.lock() = Some(report.clone());
        if db.globals().named("innodb_print_all_deadlocks") == Value::Int(1)
            && let Some(log) = self.log.get()
        {
            log(&report.text(db));
        }
    }
}

impl Report {
    fn capture(db: &Observed, record: &Arc<DeadlockRecord>) -> Report {
        let seen = |member: &DeadlockMember| {
            let entry = db.registry().find(member.session)?;
            let (began_us, statement_us) = (entry.status.began_us(), entry.since_us());
            Some(Seen { shown: entry.shown(), began_us, statement_us })
        };
        Report {
            record: record.clone(),
            sessions: record.members.iter().map(seen).collect(),
            now_us: db.registry().now_us(),
        }
    }

    /// The record of the lock room.
    pub fn record(&self) -> &DeadlockRecord {
        &self.record
    }

    /// The body of the section: who, what each held and waited for, and who was rolled back.
    pub fn text(&self, db: &Observed) -> String {
        let names = LockNames::of(db);
        let mut out = String::new();
        let us = self.record.at.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_micros());
        let time = DateTime::from_unix_us(us as i64, 0).map(|time| time.to_string()).unwrap_or_default();
        let closer = self.record.members.first().map_or(0, |member| member.session);
        // Writing into a string cannot fail.
        let _ = writeln!(out, "{time} 0x{closer:x}");
        for (at, (member, seen)) in self.record.members.iter().zip(&self.sessions).enumerate() {
            let number = at + 1;
            let _ = writeln!(out, "*** ({number}) TRANSACTION:");
            self.write_member(&mut out, member, seen.as_ref());
            if let Some(holds) = &member.holds {
                let _ = writeln!(out, "\n*** ({number}) HOLDS THE LOCK(S):");
                write_lock(&mut out, &names, holds);
            }
            let _ = writeln!(out, "\n*** ({number}) WAITING FOR THIS LOCK TO BE GRANTED:");
            write_lock(&mut out, &names, &member.waiting_for);
        }
        let _ = writeln!(out, "*** WE ROLL BACK TRANSACTION ({})", self.record.victim + 1);
        out
    }

    fn write_member(&self, out: &mut String, member: &DeadlockMember, seen: Option<&Seen>) {
        let statement = seen.and_then(|seen| seen.shown.text.as_deref());
        let thread = seen.map(|seen| ThreadLine {
            connection: member.session,
            query_id: seen.statement_us,
            host: seen.shown.names.bare_host(),
            user: seen.shown.names.user(),
            state: statement.map_or("", statement_state),
            statement,
        });
        let began_us = seen.map_or(self.now_us, |seen| seen.began_us);
        let head = TransactionHead {
            id: shown_id(member.txn_id, member.start_sequence),
            active_s: self.now_us.saturating_sub(began_us) / 1_000_000,
            operation: operation_of(&member.waiting_for),
            tables: (1, 1),
            waits: true,
            lock_structs: member.locks.names,
            heap_bytes: member.locks.bytes,
            row_locks: member.locks.rows,
            undo_records: member.undo_records,
            thread,
            ..TransactionHead::default()
        };
        write_transaction(out, &head);
    }
}
