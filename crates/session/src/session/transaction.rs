//! Transactions of a session: when they begin and end, what a failed statement undoes, which metadata gates
//! are held.

use std::sync::Arc;
use std::time::Duration;

use smallvec::SmallVec;
use turnstile_engine::ids::Lsn;
use turnstile_engine::session_card::{Operation, WaitingFor};
use turnstile_engine::{Isolation, Savepoint, Txn, TxnOptions};

use super::Session;
use crate::ast::{Begin, Completion, TransactionScope};
use crate::catalog::Refusal;
use crate::dictionary::Table;
use crate::error::{SqlError, SqlResult};
use crate::mdl::{Gate, Hold, Mode, Patience};
use crate::memory::{Charge, Many};
use crate::timeout::Deadline;
use crate::used_tables::Used;
use crate::value::Value;
use crate::variables;

/// A savepoint that the client has named.
struct NamedSavepoint {
    name: Box<str>,
    at: Savepoint,
    _charge: Charge,
}

/// The transaction that is open.
pub struct OpenTxn {
    /// The engine's part.
    pub txn: Txn,
    /// It ends with the statement.
    pub autocommit: bool,
    /// It refuses writes.
    pub read_only: bool,
    /// A statement has begun in it.
    begun: bool,
    savepoints: Many<NamedSavepoint>,
    pub(super) holds: SmallVec<[Hold; 2]>,
}

/// A gate at which a statement must wait.
pub struct ClosedGate {
    table: Arc<Table>,
    mode: Mode,
    /// The transaction holds it to read.
    reads: bool,
    /// The table will be read through the transaction's view.
    views: bool,
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
    fn options(&mut self, autocommit: bool, read_only: Option<bool>) -> TxnOptions {
        let next = std::mem::take(&mut self.next_txn);
        TxnOptions {
            isolation: next.isolation.unwrap_or(self.settings.isolation),
            read_only: read_only.or(next.read_only).unwrap_or(self.settings.read_only),
            autocommit,
            lock_wait_timeout_ms: self.settings.row_lock_wait_ms,
            interrupt: self.interrupt.clone(),
            card: self.entry.card.clone(),
        }
    }

    /// Opens a transaction if none is open; or begins a statement in the open one.
    pub(super) fn enter(&mut self) -> &mut OpenTxn {
        let wait = self.settings.row_lock_wait_ms;
        let autocommit = self.settings.autocommit;
        if let Some(open) = &mut self.open {
            open.txn.start_statement(wait);
            if !open.begun {
                open.begun = true;
                let (isolation, read_only) = (open.txn.options().isolation, open.read_only);
                self.entry.card.begin(self.entry.since_us(), isolation, read_only, open.autocommit);
            }
        } else {
            let options = self.options(autocommit, None);
            self.open_with(options, true);
        }
        self.open.as_mut().expect("a transaction was opened above if none was")
    }

    /// Opens a transaction; `begun`: a statement begins in it, or it has its read view already.
    #[inline]
    fn open_with(&mut self, options: TxnOptions, begun: bool) -> &mut OpenTxn {
        let (autocommit, read_only) = (options.autocommit, options.read_only);
        if begun {
            self.entry.card.begin(self.entry.since_us(), options.isolation, read_only, autocommit);
        }
        let txn = self.db.engine().begin(options);
        let (savepoints, holds) = (Many::new(), SmallVec::new());
        self.open.insert(OpenTxn { txn, autocommit, read_only, begun, savepoints, holds })
    }

    /// Ends a statement: commits or rolls back what it did alone, or undoes a failed one in its transaction.
    pub(super) async fn leave<T>(&mut self, savepoint: Savepoint, result: SqlResult<T>) -> SqlResult<T> {
        let Some(open) = &mut self.open else { return result };
        match result {
            Ok(value) => {
                if open.autocommit {
                    self.commit().await?;
                } else {
                    self.count_statement();
                }
                Ok(value)
            }
            Err(error) => {
                self.entry.card.note(Operation::RollingBack);
                if self.entry.card.uses_tables() {
                    self.entry.counts.rollbacks.add(1);
                }
                let ends = open.autocommit || ends_transaction(&self.db, &error);
                let undone =
                    if ends { open.txn.rollback().await } else { open.txn.rollback_to(savepoint).await };
                self.entry.card.note(Operation::None);
                if ends || undone.is_err() {
                    self.open = None;
                }
                Err(error)
            }
        }
    }

    /// A statement has come to its end in a transaction that goes on: what it did with tables is committed
    /// there.
    pub(super) fn count_statement(&self) {
        if self.entry.card.uses_tables() {
            self.entry.counts.commits.add(1);
        }
    }

    /// Commits the open transaction, if there is one, and waits until that is durable.
    pub(super) async fn commit(&mut self) -> SqlResult<()> {
        if let Some(error) = self.refuses_commit() {
            self.rollback().await?;
            return Err(error);
        }
        let turn = match &mut self.open {
            Some(open) if self.db.engine().commit_gate().limit() > 0 => {
                self.entry.card.note(Operation::Committing);
                Box::pin(open.txn.commit_turn()).await
            }
            Some(_) => None,
            None => return Ok(()),
        };
        let outcome = match self.commit_now() {
            Ok(lsn) => self.await_commit(lsn).await,
            Err(error) => Err(error),
        };
        drop(turn);
        outcome
    }

    /// Whether [`Session::commit_now`] may come without a turn of `innodb_commit_concurrency`.
    pub(super) fn commits_at_once(&self) -> bool {
        self.db.engine().commit_gate().limit() == 0 && self.db.refuses_writes() == Refusal::Nobody
    }

    /// Commits the open transaction as far as its commit record's place in the log; [`Session::await_commit`]
    /// is still to come.
    pub(super) fn commit_now(&mut self) -> SqlResult<Option<Lsn>> {
        let Some(open) = &mut self.open else { return Ok(None) };
        self.entry.card.note(Operation::Committing);
        let committed = open.txn.commit();
        let counts = if open.autocommit { self.entry.card.uses_tables() } else { !open.holds.is_empty() };
        if counts || matches!(committed, Ok(Some(_))) {
            self.entry.counts.commits.add(1);
        }
        self.open = None;
        if !matches!(committed, Ok(Some(_))) {
            self.entry.card.note(Operation::None);
        }
        Ok(committed?)
    }

    /// Waits until a commit is durable.
    pub(super) async fn await_commit(&self, lsn: Option<Lsn>) -> SqlResult<()> {
        let Some(lsn) = lsn else { return Ok(()) };
        let outcome = self.db.engine().wait_durable(lsn).await;
        self.entry.card.note(Operation::None);
        Ok(outcome?)
    }

    /// Rolls back the open transaction, if there is one.
    pub(super) async fn rollback(&mut self) -> SqlResult<()> {
        let Some(open) = &mut self.open else { return Ok(()) };
        self.entry.card.note(Operation::RollingBack);
        if !open.holds.is_empty() {
            self.entry.counts.rollbacks.add(1);
        }
        let undone = Box::pin(open.txn.rollback()).await;
        self.open = None;
        self.entry.card.note(Operation::None);
        Ok(undone?)
    }

    /// Whether others may have to wait for it: it has tables locked, or an open transaction that has written
    /// or may hold locks.
    pub fn holds_others_up(&self) -> bool {
        self.table_locks.is_some()
            || self.open.as_ref().is_some_and(|open| !open.autocommit && open.txn.holds_locks())
    }

    /// BEGIN, which commits what is open and ends LOCK TABLES (but not FLUSH TABLES WITH READ LOCK).
    pub(super) async fn begin(&mut self, begin: Begin) -> SqlResult<()> {
        self.commit().await?;
        self.table_locks = None;
        let options = self.options(false, begin.read_only);
        let open = self.open_with(options, begin.consistent_snapshot);
        if begin.consistent_snapshot {
            open.txn.open_view();
        }
        Ok(())
    }

    /// COMMIT and ROLLBACK.
    pub(super) async fn complete(&mut self, commit: bool, tail: Completion) -> SqlResult<()> {
        let chained = self.open.as_ref().map(|open| NextTxn {
            isolation: Some(open.txn.options().isolation),
            read_only: Some(open.read_only),
        });
        if commit {
            self.commit().await?;
        } else {
            self.rollback().await?;
        }
        if tail.chain.unwrap_or(self.settings.chain) {
            self.next_txn = chained.unwrap_or_default();
            self.begin(Begin::default()).await?;
        } else if tail.release.unwrap_or(self.settings.release) {
            self.interrupt.kill_connection();
        }
        Ok(())
    }

    /// SAVEPOINT
    pub(super) fn savepoint(&mut self, name: &str) -> SqlResult<()> {
        let mut charge = self.charge();
        charge.add(size_of::<NamedSavepoint>() + name.len())?;
        charge.settle()?;
        // Outside a transaction a savepoint is gone with its statement.
        let Some(open) = self.open.as_mut() else {
            if !self.settings.autocommit {
                self.enter();
                return self.savepoint(name);
            }
            return Ok(());
        };
        if !open.holds.is_empty() {
            self.entry.counts.savepoints.add(1);
        }
        open.savepoints.retain(|known| !known.name.eq_ignore_ascii_case(name));
        open.savepoints.push(NamedSavepoint { name: name.into(), at: open.txn.savepoint(), _charge: charge });
        Ok(())
    }

    fn find_savepoint(&self, name: &str) -> SqlResult<usize> {
        let found = self
            .open
            .as_ref()
            .and_then(|open| open.savepoints.iter().position(|known| known.name.eq_ignore_ascii_case(name)));
        found.ok_or_else(|| SqlError::savepoint_does_not_exist("SAVEPOINT", name))
    }

    /// ROLLBACK TO SAVEPOINT
    pub(super) async fn rollback_to(&mut self, name: &str) -> SqlResult<()> {
        let at = self.find_savepoint(name)?;
        if let Some(open) = &mut self.open {
            open.savepoints.truncate(at + 1);
            open.txn.rollback_to(open.savepoints[at].at).await?;
            if !open.holds.is_empty() {
                self.entry.counts.savepoint_rollbacks.add(1);
            }
        }
        Ok(())
    }

    /// RELEASE SAVEPOINT
    pub(super) fn release_savepoint(&mut self, name: &str) -> SqlResult<()> {
        let at = self.find_savepoint(name)?;
        if let Some(open) = &mut self.open {
            open.savepoints.truncate(at);
        }
        Ok(())
    }

    /// SET TRANSACTION
    pub(super) fn set_transaction(
        &mut self,
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
            if self.open.is_some() {
                let text = "Transaction characteristics can't be changed while a transaction is in progress";
                return Err(SqlError::new(1568, b"25001", text));
            }
            self.next_txn.isolation = name.map(variables::isolation).or(self.next_txn.isolation);
            self.next_txn.read_only = read_only.or(self.next_txn.read_only);
            return Ok(());
        }
        let values = [
            ("transaction_isolation", name.map(Value::text)),
            ("transaction_read_only", read_only.map(Value::boolean)),
        ];
        for (variable, value) in values {
            let (Some(at), Some(value)) = (variables::find(variable), value) else { continue };
            match scope {
                TransactionScope::Global => self.db.globals().set(at, value),
                _ => self.state.set_variable(at, value),
            }
        }
        self.settings = self.state.settings();
        Ok(())
    }

    /// Takes the gates of tables, to be held until the transaction ends, as far as that needs no wait: the
    /// first that does.
    pub(super) fn try_gates(&mut self, tables: &[Used]) -> SqlResult<Option<ClosedGate>> {
        if self.table_locks.is_some() {
            // LOCK TABLES holds them.
            return Ok(None);
        }
        for used in tables {
            let current = if used.schema.is_none() { self.state.schema() } else { None };
            let schema = used.schema_in(current.as_deref()).ok_or_else(SqlError::no_database_selected)?;
            if !crate::virtual_table::VirtualTable::is_computed(schema, &used.name)
                && let Some(closed) = self.try_hold(schema, used)?
            {
                return Ok(Some(closed));
            }
        }
        Ok(None)
    }

    fn try_hold(&mut self, schema: &str, used: &Used) -> SqlResult<Option<ClosedGate>> {
        let mode = used.mode();
        loop {
            let version = self.db.dictionary().version();
            let table = self.db.dictionary().table(schema, &used.name)?;
            let held = self.open.as_ref().and_then(|open| open.held(&table.gate));
            if held.is_some_and(|held| held == Mode::Write || mode == Mode::Read) {
                return Ok(None);
            }
            let (reads, views) = (held.is_some(), !used.written);
            let Some(hold) = table.gate.try_enter(mode, reads) else {
                return Ok(Some(ClosedGate { table, mode, reads, views }));
            };
            // Who replaced the table noted that before it opened the gate.
            let known = self.db.dictionary().version() == version;
            if self.keep_hold(&table, hold, views, known)? {
                return Ok(None);
            }
        }
    }

    /// Waits at a gate and takes it.
    pub(super) async fn wait_at(&mut self, closed: &ClosedGate) -> SqlResult<()> {
        if closed.mode == Mode::Write && self.global_read_lock.is_some() {
            return Err(SqlError::conflicting_read_lock());
        }
        self.db.status().gate_wait();
        let note = self.entry.card.waits(WaitingFor::Definition);
        let gate = &closed.table.gate;
        let hold = gate.enter(closed.mode, closed.reads, &mut self.gate_patience()).await?;
        drop(note);
        self.keep_hold(&closed.table, hold, closed.views, false).map(|_| ())
    }

    /// Keeps a hold, if what was found by the table's name is still what is behind its gate; else it has to
    /// be looked up again. Who reads it through a view older than its trees gets error 1412, as in MySQL:
    /// those trees hold nothing for that view. `known`: no definition has changed since it was found.
    fn keep_hold(&mut self, table: &Table, hold: Hold, views: bool, known: bool) -> SqlResult<bool> {
        let found;
        let now = if known {
            table
        } else {
            found = self.db.dictionary().table(&table.definition.schema, table.name())?;
            &found
        };
        if !Arc::ptr_eq(&now.gate, hold.gate()) {
            return Ok(false);
        }
        let open = self.enter_quietly();
        if views && !open.txn.sees_changes_of(now.made_by) {
            return Err(SqlError::table_definition_changed());
        }
        open.holds.push(hold);
        Ok(true)
    }

    /// How many gates the open transaction holds.
    pub(super) fn gates_held(&self) -> usize {
        self.open.as_ref().map_or(0, |open| open.holds.len())
    }

    /// Gives the gates back that the open transaction holds. Only if it has done nothing behind them.
    pub(super) fn give_gates_back(&mut self) {
        if let Some(open) = &mut self.open {
            open.holds.clear();
        }
    }

    /// The open transaction, without beginning a new statement in it.
    pub(super) fn enter_quietly(&mut self) -> &mut OpenTxn {
        if self.open.is_none() {
            self.enter();
        }
        self.open.as_mut().expect("a transaction is open")
    }

    /// How long to wait for a gate, and what the session holds meanwhile.
    pub(crate) fn gate_patience(&self) -> Patience<'_> {
        let of_txn = self.open.iter().flat_map(|open| &open.holds);
        let locked = self.table_locks.iter().flat_map(|locks| locks.holds());
        let global = self.global_read_lock.iter().flatten().chain(&self.defining);
        let user_locks = self.state.user_locks().lock();
        let after = Duration::from_secs(self.settings.gate_wait_s);
        let deadline = Deadline::after(after, self.interrupt.clone());
        let holds = of_txn.chain(locked).chain(global).chain(user_locks.holds());
        Patience::new(self.db.gate_waits(), holds, deadline)
    }
}

impl OpenTxn {
    /// How it holds a gate; the stronger mode if it holds it twice.
    pub(super) fn held(&self, gate: &Arc<Gate>) -> Option<Mode> {
        let modes = self.holds.iter().filter(|hold| Arc::ptr_eq(hold.gate(), gate)).map(Hold::mode);
        modes.reduce(|one, other| if one == Mode::Write { one } else { other })
    }
}

/// Whether the failure of a statement rolls back its whole transaction: a deadlock always, a lock wait
/// timeout if `innodb_rollback_on_timeout` says so. (A timeout at a metadata gate comes before the statement
/// and undoes nothing.)
fn ends_transaction(db: &crate::Database, error: &SqlError) -> bool {
    let timed_out = error.code == SqlError::lock_wait_timeout().code;
    error.code == SqlError::deadlock().code
        || timed_out && db.globals().named("innodb_rollback_on_timeout") == Value::Int(1)
}
