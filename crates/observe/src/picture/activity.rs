//! Who is doing what in the engine right now: the sessions' statuses joined with a copy of the lock table.
//! INNODB_TRX, the lock views and SHOW ENGINE INNODB STATUS are all written from this one picture.
//!
//! A transaction and its locks are joined by the connection's number: a session has one transaction at a
//! time. The picture is put together without stopping anybody, so a transaction may end while it is taken.

use std::collections::HashMap;
use std::sync::Arc;

use turnstile_engine::Isolation;
use turnstile_engine::admission::Place;
use turnstile_engine::lock::{LockInfo, LockShape};
use turnstile_engine::session_status::{Operation, TxnPicture, WaitingFor};

use super::{Picture, lock_id};
use crate::picture::intentions;
use crate::picture::lock_text::{LockNames, shown_id};
use turnstile_catalog::catalog::Catalog;
use turnstile_catalog::registry::{Command, Listed};
use turnstile_catalog::session_state::SessionState;
use turnstile_values::datetime::{DateTime, Time, TimeZone};
use turnstile_values::error::SqlResult;
use turnstile_values::field::{FieldRef, RowWriter};
use turnstile_values::value::Value;

/// Ids that are shown for transactions that have neither written nor locked begin here; the connection's
/// number is added. Those with locks have theirs from [`shown_id`], below.
pub const UNWRITTEN_ID: u64 = (1 << 48) + (1 << 47);

/// The id by which a lock's transaction is shown.
pub fn transaction_of(lock: &LockInfo) -> u64 {
    shown_id(lock.txn_id, lock.id.transaction)
}

/// An open transaction.
pub struct Transaction {
    /// The id it is shown by.
    pub id: u64,
    /// The connection's number; 0 if its session is gone and it is being rolled back.
    pub connection: u64,
    /// The place of its session in [`Activity::sessions`].
    session: Option<usize>,
    /// Whether a statement runs.
    pub is_executing: bool,
    /// Its status.
    pub status: TxnPicture,
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
        match self.status.operation {
            Operation::RollingBack => "ROLLING BACK",
            Operation::Committing => "COMMITTING",
            _ if self.request.is_some() => "LOCK WAIT",
            _ => "RUNNING",
        }
    }

    /// What the engine does for it, in InnoDB's words; nothing between statements.
    pub fn operation(&self) -> Option<&'static str> {
        let text = match (self.place, self.status.waiting_for) {
            (Place::Queued, _) => "waiting in InnoDB queue",
            (Place::Sleeping, _) => "sleeping before joining InnoDB queue",
            (_, WaitingFor::TableLock) => "setting table lock",
            _ => self.status.operation.text(),
        };
        Some(text).filter(|text| !text.is_empty())
    }
}

/// The picture.
pub struct Activity {
    /// Open transactions that have a read view, a lock or an id, in order of their ids.
    pub transactions: Vec<Transaction>,
    /// All locks and waits.
    pub locks: Picture,
    /// What they are on.
    pub names: LockNames,
    /// All sessions, by id, with and without a transaction.
    pub sessions: Arc<[Listed]>,
    /// When the picture was taken, in microseconds since 1970.
    pub now_unix_us: u64,
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
    pub fn of(db: &Catalog, reader: Option<u64>) -> SqlResult<Activity> {
        Ok(Activity::with_locks(db, reader, Picture::take(db)?))
    }

    /// The same with locks that were copied before.
    pub fn with_locks(db: &Catalog, reader: Option<u64>, locks: Picture) -> Activity {
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
        let names = LockNames::for_locks(db, &locks.locks);
        for intention in intentions::implied(&locks.locks, &names) {
            held.entry(intention.session).or_default().tables += 1;
        }
        let registry = db.registry();
        let sessions = registry.list();
        let mut transactions: Vec<Transaction> = Vec::new();
        for (at, entry) in sessions.iter().enumerate() {
            if !entry.status.is_open() {
                continue;
            }
            let status = entry.status.picture();
            let own = if held.is_empty() { None } else { held.remove(&entry.status.connection()) };
            let place = entry.status.admission().place();
            let idle = status.txn_id == 0 && status.view.is_none() && own.is_none();
            if !status.open || idle && place == Place::Outside {
                continue;
            }
            if reader == Some(entry.id) && status.autocommit && status.txn_id == 0 && own.is_none() {
                continue;
            }
            let own = own.unwrap_or_default();
            let without = if own.id == 0 { UNWRITTEN_ID + entry.id } else { own.id };
            transactions.push(Transaction {
                id: if status.txn_id == 0 { without } else { status.txn_id },
                connection: entry.id,
                session: Some(at),
                is_executing: entry.command() != Command::Sleep,
                status,
                place,
                started_unix_us: registry.unix_us(status.started_us),
                table_locks: own.tables,
                row_locks: own.rows,
                request: own.request,
            });
        }
        let now_unix_us = registry.unix_us(registry.now_us());
        let abandoned = db.engine().abandoned_transactions().into_iter();
        transactions.extend(abandoned.map(|id| abandoned_one(id.0, now_unix_us)));
        transactions.sort_unstable_by_key(|one| one.id);
        Activity { transactions, locks, names, sessions, now_unix_us }
    }

    /// A transaction's session; none if it is gone.
    pub fn session(&self, one: &Transaction) -> Option<&Listed> {
        one.session.and_then(|at| self.sessions.get(at))
    }

    /// Looks at the text of a transaction's statement, if one runs. The statement waits meanwhile
    /// ([`Listed::with_text`]).
    pub fn with_query<T>(&self, one: &Transaction, look: impl FnOnce(Option<&str>) -> T) -> T {
        match self.session(one) {
            None => look(None),
            Some(entry) => {
                entry.with_text(|statement| look(statement.map(String::from_utf8_lossy).as_deref()))
            }
        }
    }

    /// The transactions by their connections' numbers: who holds or waits for a lock.
    pub fn owners(&self) -> HashMap<u64, &Transaction> {
        let of_sessions = self.transactions.iter().filter(|one| one.connection != 0);
        of_sessions.map(|one| (one.connection, one)).collect()
    }

    /// When a request began to wait, in microseconds since 1970.
    pub fn wait_started_unix_us(&self, lock: &LockInfo) -> Option<u64> {
        let waited = lock.waited?;
        Some(self.now_unix_us.saturating_sub(waited.as_micros() as u64))
    }
}

/// A transaction whose session is gone. When it began nobody knows any more.
fn abandoned_one(id: u64, now_unix_us: u64) -> Transaction {
    let mut status = turnstile_engine::session_status::SessionStatus::default().picture();
    (status.operation, status.txn_id) = (Operation::RollingBack, id);
    let place = Place::Outside;
    let started_unix_us = now_unix_us;
    Transaction {
        id,
        connection: 0,
        session: None,
        is_executing: false,
        status,
        place,
        started_unix_us,
        table_locks: 0,
        row_locks: 0,
        request: None,
    }
}

/// Moments in a session's time zone. Many of a view's rows tell the same one.
pub struct Moments {
    zone: TimeZone,
    last: Option<(u64, Value)>,
}

impl Moments {
    /// For the zone of a session.
    pub fn of(session: &SessionState) -> Moments {
        Moments { zone: session.settings().time_zone, last: None }
    }

    /// A moment, given in microseconds since 1970, in whole seconds.
    pub fn at(&mut self, unix_us: u64) -> Value {
        if let Some((known, value)) = &self.last
            && *known == unix_us
        {
            return value.clone();
        }
        let seconds = (unix_us / 1_000_000 * 1_000_000) as i64;
        let moment = DateTime::from_unix_us(seconds, 0);
        let value = moment.map_or(Value::Null, |moment| Value::DateTime(self.zone.from_utc(moment)));
        self.last = Some((unix_us, value.clone()));
        value
    }
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
pub fn transactions(db: &Catalog, session: &SessionState, out: &mut RowWriter<'_>) -> SqlResult<()> {
    let picture = Activity::of(db, Some(session.id))?;
    let mut moments = Moments::of(session);
    picture.transactions.iter().try_for_each(|one| line(&picture, one, &mut moments, out))
}

fn line(
    picture: &Activity,
    one: &Transaction,
    moments: &mut Moments,
    out: &mut RowWriter<'_>,
) -> SqlResult<()> {
    let flag = |on: bool| FieldRef::UInt(u64::from(on));
    let request = one.request.map(|at| &picture.locks.locks[at]);
    let requested = request.map(|lock| lock_id(lock.id));
    let started = moments.at(one.started_unix_us);
    let wait_started = request.and_then(|lock| picture.wait_started_unix_us(lock));
    let wait_started = wait_started.map_or(Value::Null, |since| moments.at(since));
    let structs = one.table_locks + one.row_locks + u64::from(request.is_some());
    let (in_use, locked) = if one.is_executing { one.status.tables } else { (0, 0) };
    picture.with_query(one, |query| {
        out(&[
            FieldRef::UInt(one.id),
            FieldRef::Text(one.state()),
            FieldRef::Value(&started),
            FieldRef::optional(requested.as_deref()),
            FieldRef::Value(&wait_started),
            FieldRef::UInt(structs + one.status.undo_records),
            FieldRef::UInt(one.connection),
            FieldRef::optional(query),
            FieldRef::optional(one.operation()),
            FieldRef::UInt(in_use.into()),
            FieldRef::UInt(locked.into()),
            FieldRef::UInt(structs),
            FieldRef::UInt(structs * turnstile_engine::lock::LOCK_BYTES),
            FieldRef::UInt(one.row_locks),
            FieldRef::UInt(one.status.undo_records),
            FieldRef::UInt(one.place.tickets()),
            FieldRef::Text(isolation_name(one.status.isolation)),
            flag(true),
            flag(true),
            FieldRef::Null,
            flag(false),
            flag(false),
            flag(one.status.read_only),
            flag(one.status.autocommit && one.status.txn_id == 0 && structs == 0),
            FieldRef::Null,
        ])
    })
}
