//! Who is doing what in the engine right now: the sessions' cards joined with a copy of the lock table. INNODB_TRX, the lock
//! views and SHOW ENGINE INNODB STATUS are all written from this one picture.
//!
//! A transaction and its locks are joined by the connection's number: a session has one transaction at a time. The picture
//! is put together without stopping anybody, so a transaction may end while it is taken.

use std::collections::HashMap;
use std::sync::Arc;

use turnstile_engine::Isolation;
use turnstile_engine::admission::Place;
use turnstile_engine::lock::{LockInfo, LockShape, LockSnapshot};
use turnstile_engine::session_card::{Operation, TxnPicture, WaitingFor};

use super::locks::lock_id;
use super::{row, text};
use crate::database::Database;
use crate::datetime::{DateTime, Time};
use crate::registry::{Command, Entry, Shown};
use crate::session::SessionState;
use crate::status::intentions;
use crate::status::lock_text::{LockNames, shown_id};
use crate::value::Value;

/// Ids that are shown for transactions that have neither written nor locked begin here; the connection's number is added.
/// Those with locks have theirs from [`shown_id`], below.
pub const UNWRITTEN_ID: u64 = (1 << 48) + (1 << 47);

/// The id by which a lock's transaction is shown.
pub fn transaction_of(lock: &LockInfo) -> u64 {
    shown_id(lock.txn_id, lock.id.transaction)
}

/// An open transaction.
pub struct Transaction {
    /// The id it is shown by.
    pub id: u64,
    /// Its session; none if it is gone and the transaction is being rolled back.
    pub session: Option<(Arc<Entry>, Shown)>,
    /// Its card.
    pub card: TxnPicture,
    /// Where it stands with the admission gate.
    pub place: Place,
    /// When it began, in microseconds since 1970.
    pub started_unix_us: u64,
    /// Locks on tables, intentions among them.
    pub table_locks: u64,
    /// Locks on rows.
    pub row_locks: u64,
    /// The position of the request that waits, in the locks of the snapshot.
    pub request: Option<usize>,
}

impl Transaction {
    /// RUNNING, LOCK WAIT, ROLLING BACK or COMMITTING.
    pub fn state(&self) -> &'static str {
        match self.card.operation {
            Operation::RollingBack => "ROLLING BACK",
            Operation::Committing => "COMMITTING",
            _ if self.request.is_some() => "LOCK WAIT",
            _ => "RUNNING",
        }
    }

    /// The connection's number.
    pub fn connection(&self) -> u64 {
        self.session.as_ref().map_or(0, |(entry, _)| entry.id)
    }

    /// The text of the statement that runs.
    pub fn query(&self) -> Option<String> {
        let (_, shown) = self.session.as_ref()?;
        shown.text.as_ref().map(|text| String::from_utf8_lossy(text).into_owned())
    }

    /// Whether a statement runs.
    pub fn is_executing(&self) -> bool {
        self.session.as_ref().is_some_and(|(entry, _)| entry.command() != Command::Sleep)
    }

    /// What the engine does for it, in InnoDB's words; nothing between statements.
    pub fn operation(&self) -> Option<&'static str> {
        let text = match (self.place, self.card.waiting_for) {
            (Place::Queued, _) => "waiting in InnoDB queue",
            (Place::Sleeping, _) => "sleeping before joining InnoDB queue",
            (_, WaitingFor::TableLock) => "setting table lock",
            _ => self.card.operation.text(),
        };
        Some(text).filter(|text| !text.is_empty())
    }
}

/// The picture.
pub struct Activity {
    /// Open transactions that have a read view, a lock or an id, in order of their ids.
    pub transactions: Vec<Transaction>,
    /// All locks and waits.
    pub locks: LockSnapshot,
    /// What they are on.
    pub names: LockNames,
    /// When the picture was taken, in microseconds since 1970.
    pub now_unix_us: u64,
    by_connection: HashMap<u64, usize>,
}

#[derive(Default)]
struct Held {
    tables: u64,
    rows: u64,
    request: Option<usize>,
    /// The id the locks' transaction is shown by.
    id: u64,
}

impl Activity {
    /// Takes the picture. A session that only looks (`reader`) and holds nothing is not in it.
    pub fn of(db: &Database, reader: Option<u64>) -> Activity {
        let locks = db.engine().locks().snapshot();
        let mut held: HashMap<u64, Held> = HashMap::new();
        for (at, lock) in locks.locks.iter().enumerate() {
            let of_session = held.entry(lock.session).or_default();
            of_session.id = transaction_of(lock);
            match lock.shapes.first() {
                _ if lock.waited.is_some() => of_session.request = Some(at),
                Some(LockShape::Table(_)) => of_session.tables += 1,
                _ => of_session.rows += 1,
            }
        }
        let names = LockNames::of(db);
        for intention in intentions::implied(&locks.locks, &names) {
            held.entry(intention.session).or_default().tables += 1;
        }
        let registry = db.registry();
        let mut transactions: Vec<Transaction> = Vec::new();
        for entry in registry.list().iter() {
            if !entry.card.is_open() {
                continue;
            }
            let card = entry.card.picture();
            let own = if held.is_empty() { None } else { held.remove(&entry.id) };
            let place = entry.card.standing().place();
            let idle = card.txn_id == 0 && card.view.is_none() && own.is_none();
            if !card.open || idle && place == Place::Outside {
                continue;
            }
            if reader == Some(entry.id) && card.autocommit && card.txn_id == 0 && own.is_none() {
                continue;
            }
            let own = own.unwrap_or_default();
            let without = if own.id == 0 { UNWRITTEN_ID + entry.id } else { own.id };
            let shown = entry.shown();
            transactions.push(Transaction {
                id: if card.txn_id == 0 { without } else { card.txn_id },
                card,
                place,
                started_unix_us: registry.unix_us(card.started_us),
                table_locks: own.tables,
                row_locks: own.rows,
                request: own.request,
                session: Some((entry.clone(), shown)),
            });
        }
        let now_unix_us = registry.unix_us(registry.now_us());
        let abandoned = db.engine().abandoned_transactions().into_iter();
        transactions.extend(abandoned.map(|id| abandoned_one(id.0, now_unix_us)));
        transactions.sort_by_key(|one| one.id);
        let numbered = transactions.iter().enumerate();
        let by_connection = numbered.map(|(at, one)| (one.connection(), at)).collect();
        Activity { transactions, locks, names, now_unix_us, by_connection }
    }

    /// The transaction of a lock.
    pub fn owner(&self, lock: &LockInfo) -> Option<&Transaction> {
        let at = self.by_connection.get(&lock.session).filter(|_| lock.session != 0)?;
        self.transactions.get(*at)
    }

    /// When a request began to wait, in microseconds since 1970.
    pub fn wait_started_unix_us(&self, lock: &LockInfo) -> Option<u64> {
        let waited = lock.waited?;
        Some(self.now_unix_us.saturating_sub(waited.as_micros() as u64))
    }
}

/// A transaction whose session is gone. When it began nobody knows any more.
fn abandoned_one(id: u64, now_unix_us: u64) -> Transaction {
    let mut card = turnstile_engine::session_card::SessionCard::default().picture();
    (card.operation, card.txn_id) = (Operation::RollingBack, id);
    let place = Place::Outside;
    let started_unix_us = now_unix_us;
    Transaction {
        id,
        session: None,
        card,
        place,
        started_unix_us,
        table_locks: 0,
        row_locks: 0,
        request: None,
    }
}

/// A moment in the session's time zone.
pub fn moment(session: &SessionState, unix_us: u64) -> Value {
    let zone = session.settings().time_zone;
    let seconds = (unix_us / 1_000_000 * 1_000_000) as i64;
    DateTime::from_unix_us(seconds, 0).map_or(Value::Null, |moment| Value::DateTime(zone.from_utc(moment)))
}

/// Whole seconds between two moments, as TIME.
pub fn age(since_unix_us: u64, now_unix_us: u64) -> Value {
    let seconds = now_unix_us.saturating_sub(since_unix_us) / 1_000_000;
    Value::Time(Time::clamped(seconds as i64 * 1_000_000, 0))
}

/// An isolation level as INNODB_TRX writes it.
pub fn isolation_name(isolation: Isolation) -> &'static str {
    match isolation {
        Isolation::ReadUncommitted => "READ UNCOMMITTED",
        Isolation::ReadCommitted => "READ COMMITTED",
        Isolation::RepeatableRead => "REPEATABLE READ",
        Isolation::Serializable => "SERIALIZABLE",
    }
}

/// Rows of INNODB_TRX.
pub fn transactions(db: &Database, session: &SessionState) -> Vec<Vec<Value>> {
    let picture = Activity::of(db, Some(session.id));
    let flag = |on: bool| Value::UInt(u64::from(on));
    let line = |one: &Transaction| {
        let request = one.request.map(|at| &picture.locks.locks[at]);
        let wait_started = request.and_then(|lock| picture.wait_started_unix_us(lock));
        let structs = one.table_locks + one.row_locks + u64::from(request.is_some());
        let (in_use, locked) = if one.is_executing() { one.card.tables } else { (0, 0) };
        let tickets = if let Place::Inside(left) = one.place { left } else { 0 };
        row([
            Value::UInt(one.id),
            text(one.state()),
            moment(session, one.started_unix_us),
            request.map_or(Value::Null, |lock| text(lock_id(lock.id))),
            wait_started.map_or(Value::Null, |since| moment(session, since)),
            Value::UInt(structs + one.card.undo_records),
            Value::UInt(one.connection()),
            one.query().map_or(Value::Null, text),
            one.operation().map_or(Value::Null, text),
            Value::UInt(in_use.into()),
            Value::UInt(locked.into()),
            Value::UInt(structs),
            Value::UInt(structs * turnstile_engine::lock::LOCK_BYTES),
            Value::UInt(one.row_locks),
            Value::UInt(one.card.undo_records),
            Value::UInt(tickets),
            text(isolation_name(one.card.isolation)),
            flag(true),
            flag(true),
            Value::Null,
            flag(false),
            flag(false),
            flag(one.card.read_only),
            flag(one.card.autocommit && one.card.txn_id == 0 && structs == 0),
            Value::Null,
        ])
    };
    picture.transactions.iter().map(line).collect()
}
