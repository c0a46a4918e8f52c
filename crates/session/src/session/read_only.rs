//! `read_only` and `super_read_only`: which statements they refuse, and whom.

use super::Session;
use crate::ast::{ExplainTarget, LockStrength, MaintenanceKind, Query, RoleStatement, SetItem, Statement};
use crate::catalog::Refusal;
use crate::error::{SqlError, SqlResult};
use crate::used_tables::of_statement;

/// Fails if a statement would change something and may not (1290). One relaxed load while both switches
/// are off.
pub(super) fn check_writable(session: &Session, statement: &Statement) -> SqlResult<()> {
    match session.db.refuses_writes() {
        Refusal::Nobody => Ok(()),
        refusal => check_may_write(session, statement, refusal),
    }
}

fn check_may_write(session: &Session, statement: &Statement, refusal: Refusal) -> SqlResult<()> {
    if !writes(statement) || is_exempt(session, refusal) || changes_own(session, statement) {
        return Ok(());
    }
    Err(SqlError::option_prevents_statement(refusal.option()))
}

/// Whether it is only the session's own tables that a statement changes.
fn changes_own(session: &Session, statement: &Statement) -> bool {
    if let Statement::DropTable(drop) = statement {
        return drop.temporary;
    }
    if session.temporary.is_empty() {
        return false;
    }
    let rows = matches!(statement, Statement::Insert(_) | Statement::Update(_) | Statement::Delete(_));
    let current = session.state.schema();
    rows && of_statement(statement)
        .iter()
        .all(|used| !used.written && !used.for_update || session.uses_own(used, current.as_deref()))
}

/// Whether the switches, as they are now, refuse to commit what the open transaction has written.
pub(super) fn refuses_commit(session: &Session) -> Option<SqlError> {
    let refusal = session.db.refuses_writes();
    if refusal == Refusal::Nobody
        || session.open.as_ref().is_none_or(|open| open.txn.id().is_none() || open.own.changes)
    {
        return None;
    }
    (!is_exempt(session, refusal)).then(|| SqlError::option_prevents_statement(refusal.option()))
}

fn is_exempt(session: &Session, refusal: Refusal) -> bool {
    refusal == Refusal::Unprivileged && session.may_exceed_connections()
}

/// Whether a statement changes data, definitions or accounts, or says that it is going to. Listed in full, so
/// that a new kind of statement is decided on.
fn writes(statement: &Statement) -> bool {
    match statement {
        Statement::Insert(_)
        | Statement::Update(_)
        | Statement::Delete(_)
        | Statement::Truncate(_)
        | Statement::CreateDatabase(_)
        | Statement::AlterDatabase { .. }
        | Statement::DropDatabase { .. }
        | Statement::DropTable(_)
        | Statement::AlterTable(_)
        | Statement::RenameTable(_)
        | Statement::CreateIndex(_)
        | Statement::DropIndex { .. }
        | Statement::CreateView(_)
        | Statement::DropView { .. }
        | Statement::DropProgram { .. }
        | Statement::User(_)
        | Statement::DropUser { .. }
        | Statement::RenameUser(_)
        | Statement::Grant(_)
        | Statement::Revoke(_) => true,
        Statement::Role(role) => !matches!(**role, RoleStatement::Set(_)),
        Statement::CreateTable(create) => !create.temporary,
        Statement::Select(query) => locks(query),
        Statement::Explain(explain) => match &explain.target {
            ExplainTarget::Statement(statement) => writes(statement),
            ExplainTarget::Connection(_) => false,
        },
        Statement::Begin(begin) => begin.read_only == Some(false),
        Statement::LockTables(tables) => tables.iter().any(|table| table.write),
        Statement::TableMaintenance(work) => match work.kind {
            MaintenanceKind::Analyze | MaintenanceKind::Optimize | MaintenanceKind::Repair => true,
            MaintenanceKind::Check | MaintenanceKind::Checksum => false,
        },
        Statement::Set(items) => items.iter().any(|item| match item {
            SetItem::Password { .. } => true,
            SetItem::Transaction { .. }
            | SetItem::UserVariable { .. }
            | SetItem::SystemVariable { .. }
            | SetItem::Names { .. }
            | SetItem::CharacterSet(_) => false,
        }),
        Statement::Commit(_)
        | Statement::Rollback(_)
        | Statement::Savepoint(_)
        | Statement::RollbackTo(_)
        | Statement::ReleaseSavepoint(_)
        | Statement::Use(_)
        | Statement::Show(_)
        | Statement::Kill(_)
        | Statement::Flush(_)
        | Statement::UnlockTables
        | Statement::Prepare { .. }
        | Statement::Execute { .. }
        | Statement::Deallocate(_)
        | Statement::Do(_)
        | Statement::Nothing
        | Statement::Shutdown
        | Statement::Reset(_)
        | Statement::ResetPersist { .. } => false,
    }
}

/// FOR UPDATE announces a change; FOR SHARE does not.
fn locks(query: &Query) -> bool {
    query.locking.iter().any(|clause| clause.strength == LockStrength::Update)
}
