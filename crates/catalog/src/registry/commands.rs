//! The counters `Com_...`: how often each kind of statement was run.

use turnstile_syntax::ast::{
    EngineReport, ExplainTarget, InsertSource, MaintenanceKind, RoleStatement, SetItem, ShowWhat, Statement,
    TableRef,
};

macro_rules! commands {
    ($($name:ident $counter:literal)*) => {
        /// What is counted.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[allow(missing_docs, reason = "the variants are the counters' own names")]
        pub enum Command { $($name),* }

        /// The counters' names, by [`Command`].
        pub const NAMES: &[&str] = &[$($counter),*];
    };
}

commands! {
    AlterDb "Com_alter_db" AlterTable "Com_alter_table" AlterUser "Com_alter_user" AlterUserDefaultRole "Com_alter_user_default_role" Analyze "Com_analyze" Begin "Com_begin"
    ChangeDb "Com_change_db" Check "Com_check" Checksum "Com_checksum" Commit "Com_commit" CreateDb "Com_create_db"
    CreateIndex "Com_create_index" CreateRole "Com_create_role" CreateTable "Com_create_table" CreateUser "Com_create_user" CreateView "Com_create_view" DeallocSql "Com_dealloc_sql"
    Delete "Com_delete" DeleteMulti "Com_delete_multi" Do "Com_do" DropDb "Com_drop_db" DropEvent "Com_drop_event"
    DropFunction "Com_drop_function" DropIndex "Com_drop_index" DropProcedure "Com_drop_procedure" DropRole "Com_drop_role" DropTable "Com_drop_table"
    DropTrigger "Com_drop_trigger" DropUser "Com_drop_user" DropView "Com_drop_view" EmptyQuery "Com_empty_query" ExecuteSql "Com_execute_sql"
    ExplainOther "Com_explain_other" Flush "Com_flush" Grant "Com_grant" GrantRoles "Com_grant_roles" Insert "Com_insert" InsertSelect "Com_insert_select"
    Kill "Com_kill" LockTables "Com_lock_tables" Optimize "Com_optimize" PrepareSql "Com_prepare_sql"
    ReleaseSavepoint "Com_release_savepoint" RenameTable "Com_rename_table" RenameUser "Com_rename_user" Repair "Com_repair"
    Replace "Com_replace" ReplaceSelect "Com_replace_select" Reset "Com_reset" Revoke "Com_revoke" RevokeRoles "Com_revoke_roles" Rollback "Com_rollback"
    RollbackTo "Com_rollback_to_savepoint" Savepoint "Com_savepoint" Select "Com_select" SetOption "Com_set_option"
    SetRole "Com_set_role" SetPassword "Com_set_password" ShowCharsets "Com_show_charsets" ShowCollations "Com_show_collations"
    ShowCreateDb "Com_show_create_db" ShowCreateTable "Com_show_create_table" ShowCreateUser "Com_show_create_user"
    ShowDatabases "Com_show_databases" ShowEngineMutex "Com_show_engine_mutex" ShowEngineStatus "Com_show_engine_status"
    ShowErrors "Com_show_errors" ShowFields "Com_show_fields" ShowGrants "Com_show_grants" ShowKeys "Com_show_keys"
    ShowBinlogEvents "Com_show_binlog_events" ShowBinaryLogs "Com_show_binlogs" ShowBinaryLogStatus "Com_show_binary_log_status" ShowCreateEvent "Com_show_create_event"
    ShowCreateFunction "Com_show_create_func" ShowCreateProcedure "Com_show_create_proc" ShowCreateTrigger "Com_show_create_trigger"
    ShowEngineLogs "Com_show_engine_logs" ShowEvents "Com_show_events" ShowFunctionStatus "Com_show_function_status"
    ShowOpenTables "Com_show_open_tables" ShowPrivileges "Com_show_privileges" ShowProcedureStatus "Com_show_procedure_status"
    ShowProfile "Com_show_profile" ShowProfiles "Com_show_profiles" ShowProgramCode "Com_show_procedure_code" ShowRelaylogEvents "Com_show_relaylog_events"
    ShowReplicaStatus "Com_show_replica_status" ShowReplicas "Com_show_replicas"
    ShowTriggers "Com_show_triggers" ShowPlugins "Com_show_plugins" ShowProcesslist "Com_show_processlist"
    ShowStatus "Com_show_status" ShowEngines "Com_show_storage_engines" ShowTableStatus "Com_show_table_status"
    ShowTables "Com_show_tables" ShowVariables "Com_show_variables" ShowWarnings "Com_show_warnings" Shutdown "Com_shutdown"
    StmtClose "Com_stmt_close" StmtExecute "Com_stmt_execute" StmtFetch "Com_stmt_fetch" StmtPrepare "Com_stmt_prepare" StmtReset "Com_stmt_reset"
    Truncate "Com_truncate" UnlockTables "Com_unlock_tables" Update "Com_update" UpdateMulti "Com_update_multi"
}

impl Command {
    /// What a statement counts as. Listed in full, so that a new kind of statement is counted too.
    pub fn of(statement: &Statement) -> Command {
        use Command as C;
        match statement {
            Statement::Select(_) => C::Select,
            Statement::Insert(insert) => of_insert(&insert.source, insert.replace),
            Statement::Update(update) if is_one(&update.tables) => C::Update,
            Statement::Update(_) => C::UpdateMulti,
            Statement::Delete(delete) if delete.targets.is_empty() => C::Delete,
            Statement::Delete(_) => C::DeleteMulti,
            Statement::Truncate(_) => C::Truncate,
            Statement::CreateDatabase(_) => C::CreateDb,
            Statement::AlterDatabase { .. } => C::AlterDb,
            Statement::DropDatabase { .. } => C::DropDb,
            Statement::CreateTable(_) => C::CreateTable,
            Statement::DropTable(_) => C::DropTable,
            Statement::AlterTable(_) => C::AlterTable,
            Statement::RenameTable(_) => C::RenameTable,
            Statement::CreateIndex(_) => C::CreateIndex,
            Statement::DropIndex { .. } => C::DropIndex,
            Statement::CreateView(_) => C::CreateView,
            Statement::DropView { .. } => C::DropView,
            Statement::DropProgram { kind: "TRIGGER", .. } => C::DropTrigger,
            Statement::DropProgram { kind: "EVENT", .. } => C::DropEvent,
            Statement::DropProgram { kind: "FUNCTION", .. } => C::DropFunction,
            Statement::DropProgram { .. } => C::DropProcedure,
            Statement::Begin(_) => C::Begin,
            Statement::Commit(_) => C::Commit,
            Statement::Rollback(_) => C::Rollback,
            Statement::Savepoint(_) => C::Savepoint,
            Statement::RollbackTo(_) => C::RollbackTo,
            Statement::ReleaseSavepoint(_) => C::ReleaseSavepoint,
            Statement::Set(items) if matches!(items.as_slice(), [SetItem::Password { .. }]) => C::SetPassword,
            Statement::Set(_) => C::SetOption,
            Statement::Use(_) => C::ChangeDb,
            Statement::Show(show) => of_show(&show.what),
            Statement::Explain(explain) => match &explain.target {
                ExplainTarget::Connection(_) => C::ExplainOther,
                ExplainTarget::Statement(statement) => Command::of(statement),
            },
            Statement::Kill(_) => C::Kill,
            Statement::Flush(_) => C::Flush,
            Statement::LockTables(_) => C::LockTables,
            Statement::UnlockTables => C::UnlockTables,
            Statement::TableMaintenance(work) => match work.kind {
                MaintenanceKind::Analyze => C::Analyze,
                MaintenanceKind::Optimize => C::Optimize,
                MaintenanceKind::Check => C::Check,
                MaintenanceKind::Checksum => C::Checksum,
                MaintenanceKind::Repair => C::Repair,
            },
            Statement::User(user) if user.alter => C::AlterUser,
            Statement::User(_) => C::CreateUser,
            Statement::DropUser { .. } => C::DropUser,
            Statement::RenameUser(_) => C::RenameUser,
            Statement::Grant(_) => C::Grant,
            Statement::Revoke(_) => C::Revoke,
            Statement::Role(role) => of_role(role),
            Statement::Prepare { .. } => C::PrepareSql,
            Statement::Execute { .. } => C::ExecuteSql,
            Statement::Deallocate(_) => C::DeallocSql,
            Statement::Do(_) => C::Do,
            Statement::Nothing => C::EmptyQuery,
            Statement::Shutdown => C::Shutdown,
            Statement::Reset(_) | Statement::ResetPersist { .. } => C::Reset,
        }
    }
}

fn is_one(tables: &[TableRef]) -> bool {
    matches!(tables, [TableRef::Table(_)])
}

fn of_role(statement: &RoleStatement) -> Command {
    use Command as C;
    match statement {
        RoleStatement::Create { .. } => C::CreateRole,
        RoleStatement::Drop { .. } => C::DropRole,
        RoleStatement::Grant { .. } => C::GrantRoles,
        RoleStatement::Revoke { .. } => C::RevokeRoles,
        RoleStatement::Set(_) => C::SetRole,
        RoleStatement::SetDefault { .. } => C::AlterUserDefaultRole,
    }
}

fn of_insert(source: &InsertSource, replaces: bool) -> Command {
    match (source, replaces) {
        (InsertSource::Query(_), true) => Command::ReplaceSelect,
        (InsertSource::Query(_), false) => Command::InsertSelect,
        (_, true) => Command::Replace,
        (_, false) => Command::Insert,
    }
}

fn of_show(what: &ShowWhat) -> Command {
    use Command as C;
    match what {
        ShowWhat::Databases => C::ShowDatabases,
        ShowWhat::Tables { .. } => C::ShowTables,
        ShowWhat::TableStatus(_) => C::ShowTableStatus,
        ShowWhat::Columns { .. } => C::ShowFields,
        ShowWhat::Index { .. } => C::ShowKeys,
        ShowWhat::CreateTable(_) => C::ShowCreateTable,
        ShowWhat::CreateDatabase { .. } => C::ShowCreateDb,
        ShowWhat::CreateUser(_) => C::ShowCreateUser,
        ShowWhat::CreateView(_) => C::ShowCreateTable,
        ShowWhat::Variables { .. } => C::ShowVariables,
        ShowWhat::Status { .. } => C::ShowStatus,
        ShowWhat::Warnings(_) | ShowWhat::WarningCount => C::ShowWarnings,
        ShowWhat::Errors(_) | ShowWhat::ErrorCount => C::ShowErrors,
        ShowWhat::ProcessList { .. } => C::ShowProcesslist,
        ShowWhat::Engines => C::ShowEngines,
        ShowWhat::Engine { report: EngineReport::Mutex, .. } => C::ShowEngineMutex,
        ShowWhat::Engine { report: EngineReport::Status, .. } => C::ShowEngineStatus,
        ShowWhat::Engine { report: EngineReport::Logs, .. } => C::ShowEngineLogs,
        ShowWhat::CharacterSets => C::ShowCharsets,
        ShowWhat::Collations => C::ShowCollations,
        ShowWhat::Grants { .. } => C::ShowGrants,
        ShowWhat::Plugins => C::ShowPlugins,
        ShowWhat::OpenTables(_) => C::ShowOpenTables,
        ShowWhat::Triggers(_) => C::ShowTriggers,
        ShowWhat::Events(_) => C::ShowEvents,
        ShowWhat::CreateOther { kind, .. } => match &**kind {
            "PROCEDURE" => C::ShowCreateProcedure,
            "FUNCTION" => C::ShowCreateFunction,
            "TRIGGER" => C::ShowCreateTrigger,
            "EVENT" => C::ShowCreateEvent,
            _ => C::ShowCreateTable,
        },
        ShowWhat::Privileges => C::ShowPrivileges,
        ShowWhat::BinaryLogStatus => C::ShowBinaryLogStatus,
        ShowWhat::BinaryLogs => C::ShowBinaryLogs,
        ShowWhat::BinlogEvents => C::ShowBinlogEvents,
        ShowWhat::ReplicaStatus | ShowWhat::ReplicaStatusOf(_) => C::ShowReplicaStatus,
        ShowWhat::RelaylogEvents(_) => C::ShowRelaylogEvents,
        ShowWhat::Profile(_) => C::ShowProfile,
        ShowWhat::ProgramCode => C::ShowProgramCode,
        ShowWhat::Replicas => C::ShowReplicas,
        ShowWhat::ProcedureStatus => C::ShowProcedureStatus,
        ShowWhat::FunctionStatus => C::ShowFunctionStatus,
        ShowWhat::Profiles => C::ShowProfiles,
    }
}
