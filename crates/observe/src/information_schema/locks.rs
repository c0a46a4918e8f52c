//! The lock table as rows: data_locks and data_lock_waits of MySQL 8, INNODB_LOCKS and INNODB_LOCK_WAITS of
//! 5.7, and the view of sys that people read.

use std::collections::HashMap;
use std::fmt::Write;
use std::sync::Arc;

use turnstile_engine::ids::IndexId;
use turnstile_engine::lock::{LockId, LockInfo, LockKind, LockMode, LockName, LockShape, LockSnapshot};

use crate::picture::activity::{Activity, Moments, Transaction, age, transaction_of};
use crate::picture::intentions;
use crate::picture::key_text::{key_text, quoted};
use crate::picture::lock_text::LockNames;
use crate::picture::{Picture, lock_id};
use turnstile_catalog::catalog::Catalog;
use turnstile_catalog::dictionary::Table;
use turnstile_catalog::session_state::SessionState;
use turnstile_values::error::SqlResult;
use turnstile_values::field::{FieldRef, RowWriter};

/// Longest text of a statement in a view of sys.
const STATEMENT_CHARS_MAX: usize = 64;
fn instance(id: LockId) -> FieldRef<'static> {
    FieldRef::UInt(u64::from(id.shard) << 32 | u64::from(id.node))
}

/// What a lock is on.
struct Target {
    /// The table; none if it is the dictionary, or dropped.
    table: Option<Arc<Table>>,
    /// The index's name; none for a table lock.
    index: Option<String>,
    /// The row's key in words; none for a table lock.
    data: Option<String>,
}

impl Target {
    fn schema(&self) -> FieldRef<'_> {
        FieldRef::optional(self.table.as_ref().map(|table| &*table.definition.schema))
    }

    fn name(&self) -> FieldRef<'_> {
        FieldRef::optional(self.table.as_ref().map(|table| &*table.definition.name))
    }
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

/// Rows of performance_schema.data_locks.
pub fn data_locks(db: &Catalog, out: &mut RowWriter<'_>) -> SqlResult<()> {
    let snapshot = Picture::take(db)?;
    let names = LockNames::for_locks(db, &snapshot.locks);
    let implied = intentions::implied(&snapshot.locks, &names);
    for lock in implied.iter().chain(&snapshot.locks) {
        let target = target(&names, lock);
        let mut id = lock_id(lock.id);
        let end = id.len();
        for (nth, shape) in lock.shapes.iter().enumerate() {
            id.truncate(end);
            if nth > 0 {
                let _ = write!(id, ":{nth}");
            }
            out(&[
                FieldRef::Text("INNODB"),
                FieldRef::Text(&id),
                FieldRef::UInt(transaction_of(lock)),
                FieldRef::UInt(lock.session),
                FieldRef::UInt(0),
                target.schema(),
                target.name(),
                FieldRef::Null,
                FieldRef::Null,
                FieldRef::optional(target.index.as_deref()),
                instance(lock.id),
                FieldRef::Text(type_text(lock)),
                FieldRef::Text(mode_text(lock, *shape)),
                FieldRef::Text(if lock.waited.is_some() { "WAITING" } else { "GRANTED" }),
                FieldRef::optional(target.data.as_deref()),
            ])?;
        }
    }
    Ok(())
}

/// Waits with both locks.
fn pairs(picture: &LockSnapshot) -> impl Iterator<Item = (&LockInfo, &LockInfo)> {
    let known = if picture.waits.is_empty() { &[][..] } else { &picture.locks };
    let by_id: HashMap<LockId, &LockInfo> = known.iter().map(|lock| (lock.id, lock)).collect();
    picture.waits.iter().filter_map(move |wait| {
        // A lock on which somebody waited may have gone while the rest was copied.
        Some((*by_id.get(&wait.requesting)?, *by_id.get(&wait.blocking)?))
    })
}

/// Rows of performance_schema.data_lock_waits.
pub fn data_lock_waits(db: &Catalog, out: &mut RowWriter<'_>) -> SqlResult<()> {
    let snapshot = Picture::take(db)?;
    pairs(&snapshot).try_for_each(|(requesting, blocking)| {
        let ids = [lock_id(requesting.id), lock_id(blocking.id)];
        out(&[
            FieldRef::Text("INNODB"),
            FieldRef::Text(&ids[0]),
            FieldRef::UInt(transaction_of(requesting)),
            FieldRef::UInt(requesting.session),
            FieldRef::UInt(0),
            instance(requesting.id),
            FieldRef::Text(&ids[1]),
            FieldRef::UInt(transaction_of(blocking)),
            FieldRef::UInt(blocking.session),
            FieldRef::UInt(0),
            instance(blocking.id),
        ])
    })
}

/// Rows of INNODB_LOCKS: as in MySQL 5.7 only locks that are waited for or wait.
pub fn old_locks(db: &Catalog, out: &mut RowWriter<'_>) -> SqlResult<()> {
    let snapshot = Picture::take(db)?;
    let mut concerned: Vec<LockId> =
        snapshot.waits.iter().flat_map(|wait| [wait.requesting, wait.blocking]).collect();
    if concerned.is_empty() {
        return Ok(());
    }
    concerned.sort_unstable();
    let names = LockNames::for_locks(db, &snapshot.locks);
    let shown = snapshot.locks.iter().filter(|lock| concerned.binary_search(&lock.id).is_ok());
    for lock in shown {
        let target = target(&names, lock);
        let table = target.table.as_ref().map(|table| quoted(table));
        // 5.7 writes the mode without what kind of row lock it is, except that a gap is a gap.
        let mode = first_mode(lock).replace(",REC_NOT_GAP", "").replace(",INSERT_INTENTION", "");
        out(&[
            FieldRef::Text(&lock_id(lock.id)),
            FieldRef::Digits(transaction_of(lock)),
            FieldRef::Text(&mode),
            FieldRef::Text(type_text(lock)),
            FieldRef::Text(table.as_deref().unwrap_or_default()),
            FieldRef::optional(target.index.as_deref()),
            FieldRef::Null,
            FieldRef::Null,
            FieldRef::Null,
            FieldRef::optional(target.data.as_deref()),
        ])?;
    }
    Ok(())
}

/// Rows of INNODB_LOCK_WAITS.
pub fn old_waits(db: &Catalog, out: &mut RowWriter<'_>) -> SqlResult<()> {
    let snapshot = Picture::take(db)?;
    pairs(&snapshot).try_for_each(|(requesting, blocking)| {
        out(&[
            FieldRef::Digits(transaction_of(requesting)),
            FieldRef::Text(&lock_id(requesting.id)),
            FieldRef::Digits(transaction_of(blocking)),
            FieldRef::Text(&lock_id(blocking.id)),
        ])
    })
}

/// A statement as sys shortens it: its two ends.
pub(super) fn shortened(statement: &str) -> String {
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
pub fn lock_waits(
    db: &Catalog,
    session: &SessionState,
    short: bool,
    out: &mut RowWriter<'_>,
) -> SqlResult<()> {
    let locks = Picture::take(db)?;
    if locks.waits.is_empty() {
        return Ok(());
    }
    let picture = Activity::with_locks(db, Some(session.id), locks);
    let mut found: Vec<_> = pairs(&picture.locks).collect();
    found.sort_by_key(|(waiting, _)| std::cmp::Reverse(waiting.waited));
    let (owners, mut moments) = (picture.owners(), Moments::of(session));
    let owner = |lock: &LockInfo| owners.get(&lock.session).filter(|_| lock.session != 0);
    found.into_iter().try_for_each(|(waiting, blocking)| match (owner(waiting), owner(blocking)) {
        (Some(waiter), Some(blocker)) => {
            let sides = [(waiting, *waiter), (blocking, *blocker)];
            lock_wait(&picture, sides, short, &mut moments, out)
        }
        _ => Ok(()),
    })
}

fn lock_wait(
    picture: &Activity,
    [(waiting, waiter), (blocking, blocker)]: [(&LockInfo, &Transaction); 2],
    short: bool,
    moments: &mut Moments,
    out: &mut RowWriter<'_>,
) -> SqlResult<()> {
    let (target, now) = (target(&picture.names, waiting), picture.now_unix_us);
    let since = picture.wait_started_unix_us(waiting).unwrap_or(now);
    // A copy of each: whoever looks at two sessions holds the text of one at a time.
    let statement = |one: &Transaction| {
        picture.with_query(one, |query| {
            query.map(|query| if short { shortened(query) } else { query.to_owned() })
        })
    };
    let statements = [statement(waiter), statement(blocker)];
    let began = [since, waiter.started_unix_us, blocker.started_unix_us];
    let (moments, ages) = (began.map(|one| moments.at(one)), began.map(|one| age(one, now)));
    let table = target.table.as_ref().map(|table| quoted(table));
    let ids = [lock_id(waiting.id), lock_id(blocking.id)];
    let kills = [format!("KILL QUERY {}", blocker.connection), format!("KILL {}", blocker.connection)];
    out(&[
        FieldRef::Value(&moments[0]),
        FieldRef::Value(&ages[0]),
        FieldRef::UInt(now.saturating_sub(since) / 1_000_000),
        FieldRef::optional(table.as_deref()),
        target.schema(),
        target.name(),
        FieldRef::Null,
        FieldRef::Null,
        FieldRef::optional(target.index.as_deref()),
        FieldRef::Text(type_text(waiting)),
        FieldRef::UInt(transaction_of(waiting)),
        FieldRef::Value(&moments[1]),
        FieldRef::Value(&ages[1]),
        FieldRef::UInt(waiter.row_locks),
        FieldRef::UInt(waiter.status.undo_records),
        FieldRef::UInt(waiter.connection),
        FieldRef::optional(statements[0].as_deref()),
        FieldRef::Text(&ids[0]),
        FieldRef::Text(first_mode(waiting)),
        FieldRef::UInt(transaction_of(blocking)),
        FieldRef::UInt(blocker.connection),
        FieldRef::optional(statements[1].as_deref()),
        FieldRef::Text(&ids[1]),
        FieldRef::Text(first_mode(blocking)),
        FieldRef::Value(&moments[2]),
        FieldRef::Value(&ages[2]),
        FieldRef::UInt(blocker.row_locks),
        FieldRef::UInt(blocker.status.undo_records),
        FieldRef::Text(&kills[0]),
        FieldRef::Text(&kills[1]),
    ])
}
