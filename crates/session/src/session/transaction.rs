//! Transactions of a session: when they begin and end, what a failed statement undoes, which metadata locks
//! are held.

mod held;
mod order;
mod savepoint;

use std::sync::Arc;

use smallvec::SmallVec;
use turnstile_engine::ids::Lsn;
use turnstile_engine::session_status::Operation;
use turnstile_engine::txn::follow::choose_hot_row;
use turnstile_engine::{Isolation, Parked, Savepoint, Txn, TxnOptions};

use super::Session;
use crate::ast::{Begin, Completion, TransactionScope};
use crate::catalog::Refusal;
use crate::error::{ErrorKind, SqlError, SqlResult};
use crate::expr::WarningLevel;
use crate::mdl::{Hold, MetadataLock, Mode};
use crate::memory::Many;
use crate::session::read_only;
use crate::value::Value;
use crate::variables;

pub(crate) use held::metadata_patience;
pub(super) use held::{metadata_locks_held, release_metadata_locks, try_metadata_locks, wait_at};
use savepoint::NamedSavepoint;
pub(super) use savepoint::{release_savepoint, rollback_to, savepoint};

/// The transaction that is open.
pub struct OpenTxn {
    /// The engine's part.
    pub txn: Box<Txn>,
    /// It ends with the statement.
    pub autocommit: bool,
    /// It refuses writes.
    pub read_only: bool,
    /// A statement has begun in it.
    begun: bool,
    /// What it has to do with temporary tables.
    pub(super) own: OwnTables,
    savepoints: Many<NamedSavepoint>,
    pub(super) holds: SmallVec<[Hold; 2]>,
}

/// What a transaction has to do with the session's temporary tables.
#[derive(Clone, Copy, Debug, Default)]
pub struct OwnTables {
    /// What it has changed so far are they alone.
    pub(super) changes: bool,
    /// It made some.
    pub(super) made: bool,
    /// It dropped some.
    pub(super) dropped: bool,
}

impl OwnTables {
    /// What does not come back is told to who rolls back.
    pub(super) fn warn(self, session: &Session) {
        let told = [
            (self.made, SqlError::temporary_stay_made()),
            (self.dropped, SqlError::temporary_stay_dropped()),
        ];
        for (_, warning) in told.into_iter().filter(|(stays, _)| *stays) {
            session.state.warnings.push(WarningLevel::Warning, warning);
        }
    }
}

/// SET TRANSACTION without a scope: holds for the next transaction only.
#[derive(Clone, Copy, Debug, Default)]
pub struct NextTxn {
    /// ISOLATION LEVEL
    pub isolation: Option<Isolation>,
    /// READ ONLY, READ WRITE
    pub read_only: Option<bool>,
}

impl Session {
    /// Whether others may have to wait for it: it has tables locked, or an open transaction that has written
    /// or may hold locks.
    pub fn holds_others_up(&self) -> bool {
        self.table_locks.is_some()
            || self.open.as_ref().is_some_and(|open| !open.autocommit && open.txn.holds_locks())
    }
}

fn options(session: &mut Session, autocommit: bool, read_only: Option<bool>) -> TxnOptions {
    let next = std::mem::take(&mut session.next_txn);
    TxnOptions {
        isolation: next.isolation.unwrap_or(session.settings.isolation),
        read_only: read_only.or(next.read_only).unwrap_or(session.settings.read_only),
        autocommit,
        lock_wait_timeout_ms: session.settings.row_lock_wait_ms,
        interrupt: session.interrupt.clone(),
        status: session.entry.status.clone(),
    }
}

/// A transaction of its own that reads as one snapshot sees it, beside the session's.
pub(super) fn snapshot(session: &Session) -> Txn {
    session.db.engine().begin(TxnOptions {
        isolation: Isolation::RepeatableRead,
        read_only: true,
        autocommit: false,
        lock_wait_timeout_ms: session.settings.row_lock_wait_ms,
        interrupt: session.interrupt.clone(),
        status: session.entry.status.clone(),
    })
}

/// Opens a transaction if none is open; or begins a statement in the open one.
pub(super) fn enter(session: &mut Session) -> &mut OpenTxn {
    let wait = session.settings.row_lock_wait_ms;
    let autocommit = session.settings.autocommit;
    if let Some(open) = &mut session.open {
        open.txn.start_statement(wait);
        if !open.begun {
            open.begun = true;
            let (isolation, read_only) = (open.txn.options().isolation, open.read_only);
            session.entry.status.begin(session.entry.since_us(), isolation, read_only, open.autocommit);
        }
    } else {
        let options = options(session, autocommit, None);
        open_with(session, options, true);
    }
    let hot_row = session.finishing.hot_row();
    let open = session.open.as_mut().expect("a transaction was opened above if none was");
    choose_hot_row(&mut open.txn, hot_row);
    open
}

/// Opens a transaction; `begun`: a statement begins in it, or it has its read view already.
#[inline]
fn open_with(session: &mut Session, options: TxnOptions, begun: bool) -> &mut OpenTxn {
    let (autocommit, read_only) = (options.autocommit, options.read_only);
    if begun {
        session.entry.status.begin(session.entry.since_us(), options.isolation, read_only, autocommit);
    }
    // A READ ONLY transaction may change temporary tables, and none is made in it.
    let options = TxnOptions { read_only: read_only && session.temporary.is_empty(), ..options };
    let txn = match session.parked.take() {
        Some(parked) => parked.begin(options),
        None => Box::new(session.db.engine().begin(options)),
    };
    let (savepoints, holds, own) = (Many::new(), SmallVec::new(), OwnTables::default());
    session.open.insert(OpenTxn { txn, autocommit, read_only, begun, own, savepoints, holds })
}

/// Ends a statement: commits or rolls back what it did alone, or undoes a failed one in its transaction.
pub(super) async fn leave<T>(
    session: &mut Session,
    savepoint: Savepoint,
    result: SqlResult<T>,
) -> SqlResult<T> {
    let Some(open) = &mut session.open else { return result };
    match result {
        Ok(value) => {
            if open.autocommit {
                commit(session).await?;
            } else {
                count_statement(session);
            }
            Ok(value)
        }
        Err(error) => {
            // Interrupted because it is to be rolled back.
            let error = if open.txn.order().is_doomed() { SqlError::group_rolled_back() } else { error };
            session.entry.status.note(Operation::RollingBack);
            if session.entry.status.uses_tables() {
                session.entry.counts.rollbacks.add(1);
            }
            let ends = open.autocommit || ends_transaction(&session.db, &error);
            let undone = if ends { open.txn.rollback().await } else { open.txn.rollback_to(savepoint).await };
            session.entry.status.note(Operation::None);
            if ends || undone.is_err() {
                close(session);
            }
            Err(error)
        }
    }
}

/// A statement has come to its end in a transaction that goes on: what it did with tables is committed
/// there.
pub(super) fn count_statement(session: &Session) {
    if session.entry.status.uses_tables() {
        session.entry.counts.commits.add(1);
    }
}

/// Commits the open transaction, if there is one, and waits until that is durable.
pub(super) async fn commit(session: &mut Session) -> SqlResult<()> {
    // Nobody refuses or delays what is in the log.
    if session.open.as_ref().is_some_and(|open| open.txn.has_ended()) {
        let lsn = commit_now(session)?;
        return await_commit(session, lsn).await;
    }
    if let Some(error) = read_only::refuses_commit(session) {
        rollback(session).await?;
        return Err(error);
    }
    if session.open.as_ref().is_some_and(|open| open.txn.order().must_follow()) {
        Box::pin(order::follow(session)).await?;
    }
    let turn = match &mut session.open {
        Some(open) if session.db.engine().commit_gate().limit() > 0 => {
            session.entry.status.note(Operation::Committing);
            Box::pin(open.txn.commit_turn()).await
        }
        Some(_) => None,
        None => return Ok(()),
    };
    let outcome = match commit_now(session) {
        Ok(lsn) => await_commit(session, lsn).await,
        Err(error) => Err(error),
    };
    drop(turn);
    outcome
}

/// Whether [`Session::commit_now`] may come without a turn of `innodb_commit_concurrency`, and without
/// waiting for anybody to commit first.
pub(super) fn commits_at_once(session: &Session) -> bool {
    session.db.engine().commit_gate().limit() == 0
        && session.db.refuses_writes() == Refusal::Nobody
        && !session.open.as_ref().is_some_and(|open| open.txn.order().must_follow())
}

/// Commits the open transaction as far as its commit record's place in the log; [`Session::await_commit`]
/// is still to come.
pub(super) fn commit_now(session: &mut Session) -> SqlResult<Option<Lsn>> {
    let Some(open) = &mut session.open else { return Ok(None) };
    session.entry.status.note(Operation::Committing);
    let committed = open.txn.commit();
    let counts = if open.autocommit { session.entry.status.uses_tables() } else { !open.holds.is_empty() };
    if counts || matches!(committed, Ok(Some(_))) {
        session.entry.counts.commits.add(1);
    }
    close(session);
    if !matches!(committed, Ok(Some(_))) {
        session.entry.status.note(Operation::None);
    }
    Ok(committed?)
}

/// No transaction is open any more, and none that is to be rolled back.
#[inline]
fn close(session: &mut Session) {
    if let Some(open) = session.open.take() {
        session.parked = Parked::of(open.txn);
    }
    session.interrupt.clear_rolled_back();
}

/// Waits until a commit is durable.
pub(super) async fn await_commit(session: &Session, lsn: Option<Lsn>) -> SqlResult<()> {
    let Some(lsn) = lsn else { return Ok(()) };
    let outcome = session.db.engine().wait_durable(lsn).await;
    session.entry.status.note(Operation::None);
    Ok(outcome?)
}

/// Rolls back the open transaction, if there is one.
pub(super) async fn rollback(session: &mut Session) -> SqlResult<()> {
    let Some(open) = &mut session.open else { return Ok(()) };
    session.entry.status.note(Operation::RollingBack);
    if !open.holds.is_empty() {
        session.entry.counts.rollbacks.add(1);
    }
    let undone = Box::pin(open.txn.rollback()).await;
    close(session);
    session.entry.status.note(Operation::None);
    Ok(undone?)
}

/// BEGIN, which commits what is open and ends LOCK TABLES (but not FLUSH TABLES WITH READ LOCK).
pub(super) async fn begin(session: &mut Session, begin: Begin) -> SqlResult<()> {
    commit(session).await?;
    session.table_locks = None;
    let options = options(session, false, begin.read_only);
    let open = open_with(session, options, begin.consistent_snapshot);
    if begin.consistent_snapshot {
        open.txn.open_view();
    }
    Ok(())
}

/// COMMIT and ROLLBACK.
pub(super) async fn complete(session: &mut Session, commit: bool, tail: Completion) -> SqlResult<()> {
    let chained = session.open.as_ref().map(|open| NextTxn {
        isolation: Some(open.txn.options().isolation),
        read_only: Some(open.read_only),
    });
    if commit {
        self::commit(session).await?;
    } else {
        let own = session.open.as_ref().map_or_else(OwnTables::default, |open| open.own);
        rollback(session).await?;
        own.warn(session);
    }
    if tail.chain.unwrap_or(session.settings.chain) {
        session.next_txn = chained.unwrap_or_default();
        begin(session, Begin::default()).await?;
    } else if tail.release.unwrap_or(session.settings.release) {
        session.interrupt.kill_connection();
    }
    Ok(())
}

/// SET TRANSACTION
pub(super) fn set_transaction(
    session: &mut Session,
    scope: TransactionScope,
    isolation: Option<crate::ast::IsolationLevel>,
    read_only: Option<bool>,
) -> SqlResult<()> {
    use crate::ast::IsolationLevel as Level;
    let name = isolation.map(|level| match level {
        Level::ReadUncommitted => "READ-UNCOMMITTED",
        Level::ReadCommitted => "READ-COMMITTED",
        Level::RepeatableRead => "REPEATABLE-READ",
        Level::Serializable => "SERIALIZABLE",
    });
    if scope == TransactionScope::Next {
        if session.open.is_some() {
            return Err(SqlError::cannot_change_in_transaction());
        }
        session.next_txn.isolation = name.map(variables::isolation).or(session.next_txn.isolation);
        session.next_txn.read_only = read_only.or(session.next_txn.read_only);
        return Ok(());
    }
    let values = [
        ("transaction_isolation", name.map(Value::text)),
        ("transaction_read_only", read_only.map(Value::boolean)),
    ];
    for (variable, value) in values {
        let (Some(at), Some(value)) = (variables::find(variable), value) else { continue };
        match scope {
            TransactionScope::Global => session.db.globals().set(at, value),
            _ => session.state.set_variable(at, value),
        }
    }
    session.settings_changed();
    Ok(())
}

/// The open transaction, without beginning a new statement in it.
pub(super) fn enter_quietly(session: &mut Session) -> &mut OpenTxn {
    if session.open.is_none() {
        enter(session);
    }
    session.open.as_mut().expect("a transaction is open")
}

impl OpenTxn {
    /// How it holds a metadata lock; the stronger mode if it holds it twice.
    pub(super) fn held(&self, mdl: &Arc<MetadataLock>) -> Option<Mode> {
        let modes = self.holds.iter().filter(|hold| Arc::ptr_eq(hold.mdl(), mdl)).map(Hold::mode);
        modes.reduce(|one, other| if one == Mode::Write { one } else { other })
    }
}

/// Whether the failure of a statement rolls back its whole transaction: a deadlock always, a lock wait
/// timeout if `innodb_rollback_on_timeout` says so. (A timeout at a metadata lock comes before the statement
/// and undoes nothing.)
fn ends_transaction(db: &crate::Database, error: &SqlError) -> bool {
    let timed_out = error.kind() == ErrorKind::LockWaitTimeout;
    error.kind() == ErrorKind::Deadlock
        || timed_out && db.globals().named("innodb_rollback_on_timeout") == Value::Int(1)
}
