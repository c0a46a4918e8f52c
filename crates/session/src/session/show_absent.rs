//! SHOW of what this server does not have: empty lists with the columns that clients expect, and the errors
//! for objects that cannot be there.

use super::Session;
use super::show::Table;
use crate::accounts::Privileges;
use crate::accounts::privileges::PRIVILEGES_LIST;
use crate::ast::{ShowWhat, TableName};
use crate::error::{SqlError, SqlResult};
use crate::value::Value;

const TRIGGERS: &str =
    "Trigger Event Table Statement Timing Created sql_mode Definer character_set_client collation_connection";

const EVENTS: &[&str] = &[
    "Db",
    "Name",
    "Definer",
    "Time zone",
    "Type",
    "Execute at",
    "Interval value",
    "Interval field",
    "Starts",
    "Ends",
    "Status",
    "Originator",
    "character_set_client",
    "collation_connection",
    "Database Collation",
];

const ROUTINES: &str =
    "Db Name Type Definer Modified Created Security_type Comment character_set_client collation_connection";

const REPLICA: &str = "Replica_IO_State Source_Host Source_User Source_Port Connect_Retry Source_Log_File Read_Source_Log_Pos Relay_Log_File \
    Relay_Log_Pos Relay_Source_Log_File Replica_IO_Running Replica_SQL_Running Replicate_Do_DB Replicate_Ignore_DB Replicate_Do_Table \
    Replicate_Ignore_Table Replicate_Wild_Do_Table Replicate_Wild_Ignore_Table Last_Errno Last_Error Skip_Counter Exec_Source_Log_Pos \
    Relay_Log_Space Until_Condition Until_Log_File Until_Log_Pos Source_SSL_Allowed Source_SSL_CA_File Source_SSL_CA_Path Source_SSL_Cert \
    Source_SSL_Cipher Source_SSL_Key Seconds_Behind_Source Source_SSL_Verify_Server_Cert Last_IO_Errno Last_IO_Error Last_SQL_Errno \
    Last_SQL_Error Replicate_Ignore_Server_Ids Source_Server_Id Source_UUID Source_Info_File SQL_Delay SQL_Remaining_Delay \
    Replica_SQL_Running_State Source_Retry_Count Source_Bind Last_IO_Error_Timestamp Last_SQL_Error_Timestamp Source_SSL_Crl \
    Source_SSL_Crlpath Retrieved_Gtid_Set Executed_Gtid_Set Auto_Position Replicate_Rewrite_DB Channel_Name Source_TLS_Version \
    Source_public_key_path Get_Source_public_key Network_Namespace";

/// An empty list: its columns' names without spaces, then those with.
fn empty(names: &str, more: &[&str]) -> Table {
    let names: Vec<&str> = names.split_ascii_whitespace().chain(more.iter().copied()).collect();
    Table::texts(&names)
}

/// What SHOW PRIVILEGES says a privilege is for.
fn context_of(one: Privileges) -> &'static str {
    use Privileges as P;
    match one {
        P::CREATE => "Databases,Tables,Indexes",
        P::DROP | P::REFERENCES => "Databases,Tables",
        P::GRANT_OPTION => "Databases,Tables,Functions,Procedures",
        P::EXECUTE | P::ALTER_ROUTINE => "Functions,Procedures",
        P::CREATE_ROUTINE | P::CREATE_TEMPORARY_TABLES | P::LOCK_TABLES => "Databases",
        P::FILE => "File access on server",
        one if P::all_of_tables().has(one) => "Tables",
        _ => "Server Admin",
    }
}

/// SHOW PRIVILEGES: what can be granted here, by name, and for what. It has no comments.
fn privileges() -> Table {
    let mut table = empty("Privilege Context Comment", &[]);
    let usage = [("USAGE", Privileges::NONE, false)];
    let mut all: Vec<_> = PRIVILEGES_LIST.iter().chain(&usage).collect();
    all.sort_by_key(|(name, ..)| (name.contains('_'), *name));
    for (name, one, _) in all {
        let mut shown = (*name).to_owned();
        if !name.contains('_') {
            shown[1..].make_ascii_lowercase();
        }
        let line = [shown.as_str(), context_of(*one), ""];
        table.push(line.map(Value::text).into());
    }
    table
}

/// Lists of what does not exist here.
pub(super) fn shown_empty(what: &ShowWhat) -> SqlResult<Table> {
    Ok(match what {
        ShowWhat::Triggers(_) => empty(TRIGGERS, &["Database Collation"]),
        ShowWhat::Events(_) => Table::texts(EVENTS),
        ShowWhat::ProcedureStatus | ShowWhat::FunctionStatus => empty(ROUTINES, &["Database Collation"]),
        ShowWhat::Replicas => Table::new(&[
            ("Server_Id", 'u'),
            ("Host", 's'),
            ("Port", 'u'),
            ("Source_Id", 'u'),
            ("Replica_UUID", 's'),
        ]),
        ShowWhat::ReplicaStatus => empty(REPLICA, &[]),
        ShowWhat::RelaylogEvents(Some(channel)) | ShowWhat::ReplicaStatusOf(channel) => {
            return Err(SqlError::no_replica_channel(channel));
        }
        ShowWhat::BinlogEvents | ShowWhat::RelaylogEvents(None) => Table::new(&[
            ("Log_name", 's'),
            ("Pos", 'p'),
            ("Event_type", 's'),
            ("Server_id", 'u'),
            ("End_log_pos", 'p'),
            ("Info", 's'),
        ]),
        ShowWhat::BinaryLogStatus => Table::new(&[
            ("File", 's'),
            ("Position", 'p'),
            ("Binlog_Do_DB", 's'),
            ("Binlog_Ignore_DB", 's'),
            ("Executed_Gtid_Set", 's'),
        ]),
        ShowWhat::BinaryLogs => {
            return Err(SqlError::no_binary_log());
        }
        ShowWhat::Privileges => privileges(),
        ShowWhat::ProgramCode => {
            return Err(SqlError::feature_disabled("SHOW PROCEDURE|FUNCTION CODE", "--with-debug"));
        }
        ShowWhat::Profile(columns) => empty("Status Duration", columns),
        ShowWhat::Profiles => empty("Query_ID Duration Query", &[]),
        _ => return Err(SqlError::not_supported_yet("this SHOW")),
    })
}

/// SHOW CREATE of a routine, trigger or event: there is none.
pub(super) fn no_such_program(session: &Session, kind: &str, name: &TableName) -> SqlResult<Table> {
    if name.schema.is_none() && session.state.schema().is_none() {
        return Err(SqlError::no_database_selected());
    }
    Err(match kind {
        "TRIGGER" => SqlError::no_such_trigger(),
        "EVENT" => SqlError::unknown_event(&name.table),
        kind => SqlError::does_not_exist(kind, &name.table),
    })
}
