//! Which statements can be prepared, by PREPARE and by the protocol alike: MySQL refuses with 1295 those that
//! begin a transaction or part one, that lock tables, change the database of the session, tell of the
//! statement before, or that it has simply not got to yet. Every kind of statement is named here, so that a
//! new one cannot be forgotten. Recorded in `tests/mysql/prepared_kinds.test`.

use crate::ast::{
    AlterAction, ColumnDef, ExplainTarget, Expr, MaintenanceKind, RoleStatement, Show, ShowWhat, Statement,
    ViewChange,
};
use crate::error::{ErrorKind, SqlError, SqlResult};
use crate::walk;

/// Refuses what cannot be prepared, with so many `?`.
///
/// # Errors
/// 1295 for a kind of statement that is not prepared, 6413 for one whose expressions may hold no `?`.
pub(super) fn check(statement: &Statement, parameters: usize) -> SqlResult<()> {
    if !is_preparable(statement) {
        return Err(SqlError::unsupported_in_prepared());
    }
    if parameters == 0 {
        return Ok(());
    }
    for column in columns_defined(statement) {
        check_column(column)?;
    }
    if matches!(statement, Statement::CreateView(_)) {
        return Err(SqlError::view_has_variable());
    }
    if takes_parameters(statement) { Ok(()) } else { Err(SqlError::parameters_outside_rows()) }
}

/// How statements begin that are not there, and that MySQL does not prepare.
const ABSENT: &[&str] = &[
    "ALTER FUNCTION",
    "ALTER LOGFILE",
    "ALTER PROCEDURE",
    "ALTER RESOURCE",
    "ALTER SERVER",
    "ALTER TABLESPACE",
    "ALTER UNDO",
    "ALTER VIEW",
    "CLONE",
    "CREATE AGGREGATE",
    "CREATE FUNCTION",
    "CREATE LOGFILE",
    "CREATE OR REPLACE SPATIAL",
    "CREATE PROCEDURE",
    "CREATE RESOURCE",
    "CREATE SERVER",
    "CREATE SPATIAL REFERENCE",
    "CREATE TABLESPACE",
    "CREATE TRIGGER",
    "CREATE UNDO",
    "DROP RESOURCE",
    "DROP SERVER",
    "DROP SPATIAL",
    "DROP TABLESPACE",
    "DROP UNDO",
    "GET",
    "HANDLER",
    "HELP",
    "IMPORT",
    "INSTALL COMPONENT",
    "LOAD DATA",
    "LOAD XML",
    "LOCK INSTANCE",
    "PURGE",
    "RESIGNAL",
    "SIGNAL",
    "START GROUP_REPLICATION",
    "STOP GROUP_REPLICATION",
    "UNINSTALL COMPONENT",
    "UNLOCK INSTANCE",
    "XA",
];

/// The error of a text that could not be read: that a feature is absent is told of no statement that is not
/// prepared where it is there.
pub(super) fn refused_first(text: &[u8], error: SqlError) -> SqlError {
    // What does not matter: no beginning is longer.
    const WORDS: usize = 4;
    if error.kind() != ErrorKind::Unsupported {
        return error;
    }
    let words = text.split(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_');
    let words: Vec<_> =
        words.filter(|word| !word.is_empty()).take(WORDS).map(<[u8]>::to_ascii_uppercase).collect();
    let begins = |start: &&str| {
        let mut start = start.split(' ').enumerate();
        start.all(|(at, word)| words.get(at).is_some_and(|other| other == word.as_bytes()))
    };
    if ABSENT.iter().any(begins) { SqlError::unsupported_in_prepared() } else { error }
}

/// The columns that a statement defines.
fn columns_defined<'s>(statement: &'s Statement) -> Vec<&'s ColumnDef> {
    match statement {
        Statement::CreateTable(create) => create.columns.iter().collect(),
        Statement::AlterTable(alter) => {
            let added = |action: &'s AlterAction| match action {
                AlterAction::AddColumn { column, .. } | AlterAction::ChangeColumn { column, .. } => {
                    Some(column)
                }
                _ => None,
            };
            alter.actions.iter().filter_map(added).collect()
        }
        _ => Vec::new(),
    }
}

/// What a column keeps may hold no `?`: that is known before the statement runs.
fn check_column(column: &ColumnDef) -> SqlResult<()> {
    let open = |expr: &Expr| walk::any(expr, &|part| matches!(part, Expr::Parameter(_)));
    if column.default.as_ref().is_some_and(|default| default.computed && open(&default.expr)) {
        return Err(SqlError::default_function(&column.name));
    }
    match &column.generated {
        Some(generated) if open(&generated.expr) => Err(SqlError::generated_function(&column.name)),
        _ => Ok(()),
    }
}

fn is_preparable(statement: &Statement) -> bool {
    match statement {
        Statement::Select(_)
        | Statement::Insert(_)
        | Statement::Update(_)
        | Statement::Delete(_)
        | Statement::Truncate(_)
        | Statement::CreateDatabase(_)
        | Statement::DropDatabase { .. }
        | Statement::CreateTable(_)
        | Statement::DropTable(_)
        | Statement::AlterTable(_)
        | Statement::RenameTable(_)
        | Statement::CreateIndex(_)
        | Statement::DropIndex { .. }
        | Statement::DropView { .. }
        | Statement::Commit(_)
        | Statement::Rollback(_)
        | Statement::Set(_)
        | Statement::Kill(_)
        | Statement::Flush(_)
        | Statement::User(_)
        | Statement::DropUser { .. }
        | Statement::RenameUser(_)
        | Statement::Grant(_)
        | Statement::Revoke(_)
        | Statement::Do(_)
        | Statement::Reset(_)
        | Statement::ResetPersist { .. } => true,
        Statement::CreateView(create) => create.change != ViewChange::Alter,
        Statement::DropProgram { kind, .. } => *kind == "EVENT",
        Statement::Show(show) => is_shown(show),
        Statement::Explain(explain) => match explain.target {
            ExplainTarget::Statement(_) => true,
            ExplainTarget::Connection(_) => false,
        },
        Statement::TableMaintenance(work) => match work.kind {
            MaintenanceKind::Analyze
            | MaintenanceKind::Optimize
            | MaintenanceKind::Checksum
            | MaintenanceKind::Repair => true,
            MaintenanceKind::Check => false,
        },
        Statement::Role(role) => match **role {
            RoleStatement::Create { .. } | RoleStatement::Drop { .. } => false,
            RoleStatement::Grant { .. }
            | RoleStatement::Revoke { .. }
            | RoleStatement::Set(_)
            | RoleStatement::SetDefault { .. } => true,
        },
        Statement::AlterDatabase { .. }
        | Statement::Begin(_)
        | Statement::Savepoint(_)
        | Statement::RollbackTo(_)
        | Statement::ReleaseSavepoint(_)
        | Statement::Use(_)
        | Statement::LockTables(_)
        | Statement::UnlockTables
        | Statement::Prepare { .. }
        | Statement::Execute { .. }
        | Statement::Deallocate(_)
        | Statement::Nothing
        | Statement::Shutdown => false,
    }
}

/// What tells of the statement before would tell of the one that prepared it.
fn is_shown(show: &Show) -> bool {
    !matches!(
        show.what,
        ShowWhat::Warnings(_) | ShowWhat::Errors(_) | ShowWhat::WarningCount | ShowWhat::ErrorCount
    )
}

/// Definitions keep their expressions, and no expression that is kept may hold a `?`. What CREATE TABLE may
/// not keep it says itself when it runs.
fn takes_parameters(statement: &Statement) -> bool {
    !matches!(statement, Statement::Kill(_) | Statement::AlterTable(_) | Statement::CreateIndex(_))
}
