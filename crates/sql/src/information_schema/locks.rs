//! The lock table as rows: data_locks and data_lock_waits of MySQL 8, INNODB_LOCKS and INNODB_LOCK_WAITS of 5.7, and the
//! view of sys that people read.
//!
//! Engine keys are translated back: index numbers into names by the dictionary, key bytes into column values by the key codec.
//! Strings are kept as collation weights, which cannot be turned back, so a key is shown as bytes from its first string on.

use std::collections::HashMap;
use std::fmt::Write;
use std::sync::Arc;

use turnstile_engine::ids::IndexId;
use turnstile_engine::lock::{LockId, LockInfo, LockKind, LockMode, LockName, LockShape};

use super::activity::{Activity, age, moment, transaction_of};
use super::{row, text};
use crate::database::Database;
use crate::dictionary::Table;
use crate::session::SessionState;
use crate::status::intentions::{self, IMPLIED};
use crate::status::lock_text::LockNames;
use crate::value::{Value, to_text};

type Rows = Vec<Vec<Value>>;

/// Longest text of a statement in a view of sys.
const STATEMENT_CHARS_MAX: usize = 64;
/// Bytes of a key that are shown.
const KEY_BYTES_MAX: usize = 64;

/// A lock's id in all views: the transaction's place in the order of beginnings, and where the lock table keeps the lock, or the
/// table of an intention.
pub fn lock_id(id: LockId) -> String {
    match id.shard {
        IMPLIED => format!("{}:t{}", id.transaction, id.node),
        shard => format!("{}:{shard}:{}", id.transaction, id.node),
    }
}

fn instance(id: LockId) -> Value {
    Value::UInt(u64::from(id.shard) << 32 | u64::from(id.node))
}

/// What a lock is on.
struct Target {
    /// The table; none if it is the dictionary, or dropped.
    pub table: Option<Arc<Table>>,
    /// The index's name; none for a table lock.
    pub index: Option<String>,
    /// The row's key in words; none for a table lock.
    pub data: Option<String>,
}

/// What a lock is on, in words.
fn target(names: &LockNames, lock: &LockInfo) -> Target {
    let of_index = |index: IndexId, data: &dyn Fn(&Table, Option<usize>) -> String| {
        let found = names.key(index);
        Target {
            table: found.map(|(table, _)| table.clone()),
            index: Some(names.index(index).1),
            data: found.map(|(table, nth)| data(table, nth)),
        }
    };
    match lock.name.name() {
        name @ LockName::Table(_) => Target { table: names.table_of(name).cloned(), index: None, data: None },
        LockName::Supremum(index) => of_index(index, &|_, _| "supremum pseudo-record".into()),
        LockName::Row { index, key } => of_index(index, &|table, nth| key_text(table, nth, key)),
    }
}

/// The values of a key, the primary key behind them if it is a secondary one.
fn key_text(table: &Table, nth: Option<usize>, mut key: &[u8]) -> String {
    let own = nth.map_or(&[][..], |nth| &table.key_parts[nth]);
    let primary = table.primary().filter(|primary| nth != Some(*primary));
    let behind = primary.map_or(&[][..], |primary| &table.key_parts[primary]);
    let mut words = Vec::new();
    for part in own.iter().chain(behind) {
        match part.take(&mut key) {
            Some(Value::Null) => words.push("NULL".into()),
            Some(value @ (Value::Int(_) | Value::UInt(_) | Value::Double(_) | Value::Decimal(_))) => {
                words.push(to_text(&value).to_string());
            }
            Some(value) => words.push(format!("'{}'", to_text(&value))),
            None => break,
        }
    }
    if !key.is_empty() {
        let mut hex = String::from("0x");
        for byte in key.iter().take(KEY_BYTES_MAX) {
            let _ = write!(hex, "{byte:02X}");
        }
        words.push(hex);
    }
    words.join(", ")
}

/// LOCK_MODE as MySQL 8 spells it.
pub fn mode_text(lock: &LockInfo, shape: LockShape) -> &'static str {
    let supremum = matches!(lock.name.name(), LockName::Supremum(_));
    match shape {
        LockShape::Row(_, LockKind::InsertIntention) if !supremum => "X,GAP,INSERT_INTENTION",
        LockShape::Row(_, LockKind::InsertIntention) => "X,INSERT_INTENTION",
        // The supremum is no record, so a lock on it is on the gap, and says so by itself.
        LockShape::Row(LockMode::S, _) if supremum => "S",
        LockShape::Row(LockMode::X, _) if supremum => "X",
        other => other.label(),
    }
}

fn first_mode(lock: &LockInfo) -> &'static str {
    lock.shapes.first().map_or("", |shape| mode_text(lock, *shape))
}

fn type_text(lock: &LockInfo) -> &'static str {
    if matches!(lock.name.name(), LockName::Table(_)) { "TABLE" } else { "RECORD" }
}

fn optional(value: Option<impl AsRef<str>>) -> Value {
    value.map_or(Value::Null, text)
}

/// Rows of performance_schema.data_locks.
pub fn data_locks(db: &Database) -> Rows {
    let (snapshot, names) = (db.engine().locks().snapshot(), LockNames::of(db));
    let implied = intentions::implied(&snapshot.locks, &names);
    let mut rows = Vec::new();
    for lock in implied.iter().chain(&snapshot.locks) {
        let target = target(&names, lock);
        let definition = target.table.as_ref().map(|table| &table.definition);
        for (nth, shape) in lock.shapes.iter().enumerate() {
            let id = lock_id(lock.id);
            rows.push(row([
                text("INNODB"),
                text(if nth == 0 { id } else { format!("{id}:{nth}") }),
                Value::UInt(transaction_of(lock)),
                Value::UInt(lock.session),
                Value::UInt(0),
                optional(definition.map(|one| &one.schema)),
                optional(definition.map(|one| &one.name)),
                Value::Null,
                Value::Null,
                optional(target.index.as_ref()),
                instance(lock.id),
                text(type_text(lock)),
                text(mode_text(lock, *shape)),
                text(if lock.waited.is_some() { "WAITING" } else { "GRANTED" }),
                optional(target.data.as_ref()),
            ]));
        }
    }
    rows
}

/// Waits with both locks.
fn pairs(picture: &turnstile_engine::lock::LockSnapshot) -> impl Iterator<Item = (&LockInfo, &LockInfo)> {
    let by_id: HashMap<LockId, &LockInfo> = picture.locks.iter().map(|lock| (lock.id, lock)).collect();
    picture.waits.iter().filter_map(move |wait| {
        // A lock on which somebody waited may have gone while the rest was copied.
        Some((*by_id.get(&wait.requesting)?, *by_id.get(&wait.blocking)?))
    })
}

/// Rows of performance_schema.data_lock_waits.
pub fn data_lock_waits(db: &Database) -> Rows {
    let snapshot = db.engine().locks().snapshot();
    let half = |lock: &LockInfo| {
        row([
            text(lock_id(lock.id)),
            Value::UInt(transaction_of(lock)),
            Value::UInt(lock.session),
            Value::UInt(0),
            instance(lock.id),
        ])
    };
    let line = |(requesting, blocking)| [vec![text("INNODB")], half(requesting), half(blocking)].concat();
    pairs(&snapshot).map(line).collect()
}

/// Rows of INNODB_LOCKS: as in MySQL 5.7 only locks that are waited for or wait.
pub fn old_locks(db: &Database) -> Rows {
    let (snapshot, names) = (db.engine().locks().snapshot(), LockNames::of(db));
    let mut concerned: Vec<LockId> =
        snapshot.waits.iter().flat_map(|wait| [wait.requesting, wait.blocking]).collect();
    concerned.sort();
    let line = |lock: &LockInfo| {
        let target = target(&names, lock);
        let table = target.table.as_ref().map(|table| quoted(table));
        // 5.7 writes the mode without what kind of row lock it is, except that a gap is a gap.
        let mode = first_mode(lock).replace(",REC_NOT_GAP", "").replace(",INSERT_INTENTION", "");
        row([
            text(lock_id(lock.id)),
            text(transaction_of(lock).to_string()),
            text(mode),
            text(type_text(lock)),
            text(table.unwrap_or_default()),
            optional(target.index),
            Value::Null,
            Value::Null,
            Value::Null,
            optional(target.data),
        ])
    };
    snapshot.locks.iter().filter(|lock| concerned.binary_search(&lock.id).is_ok()).map(line).collect()
}

/// Rows of INNODB_LOCK_WAITS.
pub fn old_waits(db: &Database) -> Rows {
    let snapshot = db.engine().locks().snapshot();
    let half = |lock: &LockInfo| row([text(transaction_of(lock).to_string()), text(lock_id(lock.id))]);
    pairs(&snapshot).map(|(requesting, blocking)| [half(requesting), half(blocking)].concat()).collect()
}

/// `schema`.`table`
pub fn quoted(table: &Table) -> String {
    use crate::definition::quote_name;
    format!("{}.{}", quote_name(&table.definition.schema), quote_name(&table.definition.name))
}

/// A statement as sys shortens it: its two ends.
fn shortened(statement: String) -> String {
    let statement = statement.replace('\n', " ");
    let length = statement.chars().count();
    if length <= STATEMENT_CHARS_MAX {
        return statement;
    }
    let side = STATEMENT_CHARS_MAX / 2 - 2;
    let head: String = statement.chars().take(side).collect();
    let tail: String = statement.chars().skip(length - side).collect();
    format!("{head} ... {tail}")
}

/// Rows of sys.innodb_lock_waits, the longest wait first; `short`: statements are shortened.
pub fn lock_waits(db: &Database, session: &SessionState, short: bool) -> Rows {
    let picture = Activity::of(db, Some(session.id));
    let names = &picture.names;
    let mut found: Vec<_> = pairs(&picture.locks).collect();
    found.sort_by_key(|(waiting, _)| std::cmp::Reverse(waiting.waited));
    let statement = |query: Option<String>| match query {
        Some(query) if short => text(shortened(query)),
        other => optional(other),
    };
    let mut rows = Vec::new();
    for (waiting, blocking) in found {
        let (Some(waiter), Some(blocker)) = (picture.owner(waiting), picture.owner(blocking)) else {
            continue;
        };
        let (target, now) = (target(names, waiting), picture.now_unix_us);
        let since = picture.wait_started_unix_us(waiting).unwrap_or(now);
        let definition = target.table.as_ref().map(|table| &table.definition);
        let kill = |what: &str| text(format!("{what} {}", blocker.connection()));
        rows.push(row([
            moment(session, since),
            age(since, now),
            Value::UInt(now.saturating_sub(since) / 1_000_000),
            optional(target.table.as_ref().map(|table| quoted(table))),
            optional(definition.map(|one| &one.schema)),
            optional(definition.map(|one| &one.name)),
            Value::Null,
            Value::Null,
            optional(target.index.as_ref()),
            text(type_text(waiting)),
            Value::UInt(transaction_of(waiting)),
            moment(session, waiter.started_unix_us),
            age(waiter.started_unix_us, now),
            Value::UInt(waiter.row_locks),
            Value::UInt(waiter.card.undo_records),
            Value::UInt(waiter.connection()),
            statement(waiter.query()),
            text(lock_id(waiting.id)),
            text(first_mode(waiting)),
            Value::UInt(transaction_of(blocking)),
            Value::UInt(blocker.connection()),
            statement(blocker.query()),
            text(lock_id(blocking.id)),
            text(first_mode(blocking)),
            moment(session, blocker.started_unix_us),
            age(blocker.started_unix_us, now),
            Value::UInt(blocker.row_locks),
            Value::UInt(blocker.card.undo_records),
            kill("KILL QUERY"),
            kill("KILL"),
        ]));
    }
    rows
}
