//! Every error the SQL layer can report: number, SQLSTATE and text as a MySQL 8 client expects them.
//! One constructor per error, all in the table below, so that a number is written in exactly one place.
//! Texts follow the wording drivers and ORMs match on; arguments fill the holes.

mod kind;
mod of_engine;

use std::fmt;

pub use kind::ErrorKind;

/// An error (or the body of a warning) as it goes over the wire.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SqlError {
    /// MySQL error number, for example 1062.
    pub code: u16,
    /// Five ASCII characters.
    pub sqlstate: [u8; 5],
    /// Text for the user, without number and SQLSTATE.
    pub message: String,
}

impl SqlError {
    /// The same, of a statement that changes this table: a disk without room is told of as a table that is
    /// full.
    #[must_use]
    pub fn of_table(self, table: &str) -> SqlError {
        if self.kind() == ErrorKind::DiskFull { SqlError::table_full(table) } else { self }
    }

    /// SQLSTATE as text.
    pub fn sqlstate_text(&self) -> &str {
        std::str::from_utf8(&self.sqlstate).unwrap_or("HY000")
    }
}

impl fmt::Display for SqlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ERROR {} ({}): {}", self.code, self.sqlstate_text(), self.message)
    }
}

impl std::error::Error for SqlError {}

/// Result of everything in this crate that can fail in front of a user.
pub type SqlResult<T> = Result<T, SqlError>;

macro_rules! errors {
    ($( $name:ident ( $($arg:ident),* ) = $code:literal $state:literal $text:literal ; )*) => {
        impl SqlError {
            $(
                #[doc = concat!("Error ", $code, ": `", $text, "`.")]
                #[allow(clippy::too_many_arguments, reason = "a message has as many as it has")]
                pub fn $name($($arg: impl fmt::Display),*) -> SqlError {
                    SqlError { code: $code, sqlstate: *$state, message: format!($text) }
                }
            )*
        }
    };
}

errors! {
    cannot_make_file(file, errno, why) = 1 b"HY000" "Can't create/write to file '{file}' (OS errno {errno} - {why})";
    cannot_read_file(file, errno, why) = 2 b"HY000" "Error reading file '{file}' (OS errno {errno} - {why})";
    cannot_write_file(file, errno, why) = 3 b"HY000" "Error writing file '{file}' (OS errno {errno} - {why})";
    cannot_create_table(table, why) = 1005 b"HY000" "Can't create table '{table}' ({why})";
    database_exists(database) = 1007 b"HY000" "Can't create database '{database}'; database exists";
    cannot_drop_missing_database(database) = 1008 b"HY000" "Can't drop database '{database}'; database doesn't exist";
    wrong_index_name(name) = 1280 b"42000" "Incorrect index name '{name}'";
    illegal_value(kind, value) = 1367 b"22007" "Illegal {kind} '{value}' value found during parsing";
    key_part_without_length(column) = 1391 b"HY000" "Key part '{column}' length cannot be 0";
    table_comment_too_long(table, max) = 1628 b"HY000" "Comment for table '{table}' is too long (max = {max})";
    column_comment_too_long(column, max) = 1629 b"HY000" "The maximum supported character limit for the field, '{column}', has been exceeded (max = {max})";
    index_comment_too_long(index, max) = 1688 b"HY000" "Comment for index '{index}' is too long (max = {max})";
    invalid_year_width() = 1818 b"HY000" "Invalid display width. Use YEAR instead.";
    invalid_field_size(column) = 3013 b"HY000" "Invalid size for column '{column}'.";
    wrong_user_variable_name(name) = 3061 b"42000" "User variable name '{name}' is illegal";
    too_long_member(column) = 3505 b"HY000" "Too long enumeration/set value for column {column}.";
    primary_key_invisible() = 3522 b"HY000" "A primary key index cannot be invisible";
    system_schema_rejected(schema) = 3552 b"HY000" "Access to system schema '{schema}' is rejected.";
    no_such_database(database) = 3503 b"42Y07" "Database '{database}' doesn't exist";
    wrong_object(database, object, kind) = 1347 b"HY000" "'{database}.{object}' is not {kind}";
    disk_full(table) = 1021 b"HY000" "Disk full ({table}); waiting for someone to free some space...";
    duplicate_key_write(table) = 1022 b"23000" "Can't write; duplicate key in table '{table}'";
    record_changed(table) = 1020 b"HY000" "Record has changed since last read in table '{table}'";
    engine_error(code, engine) = 1030 b"HY000" "Got error {code} from storage engine '{engine}'";
    out_of_memory() = 1037 b"HY001" "Out of memory; restart server and try again";
    too_many_connections() = 1040 b"08004" "Too many connections";
    bad_host() = 1042 b"08S01" "Can't get hostname for your address";
    handshake_error() = 1043 b"08S01" "Bad handshake";
    database_access_denied(user, host, database) = 1044 b"42000" "Access denied for user '{user}'@'{host}' to database '{database}'";
    access_denied(user, host, using_password) = 1045 b"28000" "Access denied for user '{user}'@'{host}' (using password: {using_password})";
    no_database_selected() = 1046 b"3D000" "No database selected";
    unknown_command() = 1047 b"08S01" "Unknown command";
    column_cannot_be_null(column) = 1048 b"23000" "Column '{column}' cannot be null";
    unknown_database(database) = 1049 b"42000" "Unknown database '{database}'";
    table_exists(table) = 1050 b"42S01" "Table '{table}' already exists";
    bad_table(table) = 1051 b"42S02" "Unknown table '{table}'";
    ambiguous_column(column, place) = 1052 b"23000" "Column '{column}' in {place} is ambiguous";
    server_shutdown() = 1053 b"08S01" "Server shutdown in progress";
    unknown_column(column, place) = 1054 b"42S22" "Unknown column '{column}' in '{place}'";
    wrong_field_with_group(column) = 1055 b"42000" "'{column}' isn't in GROUP BY";
    wrong_group_field(column) = 1056 b"42000" "Can't group on '{column}'";
    column_count_mismatch() = 1058 b"21S01" "Column count doesn't match value count";
    too_long_identifier(identifier) = 1059 b"42000" "Identifier name '{identifier}' is too long";
    duplicate_column(column) = 1060 b"42S21" "Duplicate column name '{column}'";
    duplicate_key_name(key) = 1061 b"42000" "Duplicate key name '{key}'";
    duplicate_entry(value, key) = 1062 b"23000" "Duplicate entry '{value}' for key '{key}'";
    wrong_column_spec(column) = 1063 b"42000" "Incorrect column specifier for column '{column}'";
    parse_error(near, line) = 1064 b"42000" "You have an error in your SQL syntax; check the manual that corresponds to your MySQL server version for the right syntax to use near '{near}' at line {line}";
    empty_query() = 1065 b"42000" "Query was empty";
    non_unique_table(table) = 1066 b"42000" "Not unique table/alias: '{table}'";
    invalid_default(column) = 1067 b"42000" "Invalid default value for '{column}'";
    multiple_primary_key() = 1068 b"42000" "Multiple primary key defined";
    too_many_keys(max) = 1069 b"42000" "Too many keys specified; max {max} keys allowed";
    too_many_key_parts(max) = 1070 b"42000" "Too many key parts specified; max {max} parts allowed";
    key_too_long(max) = 1071 b"42000" "Specified key was too long; max key length is {max} bytes";
    key_column_missing(column) = 1072 b"42000" "Key column '{column}' doesn't exist in table";
    blob_used_as_key(column) = 1073 b"42000" "BLOB column '{column}' can't be used in key specification with the used table type";
    column_too_big(column, max) = 1074 b"42000" "Column length too big for column '{column}' (max = {max}); use BLOB or TEXT instead";
    wrong_auto_key() = 1075 b"42000" "Incorrect table definition; there can be only one auto column and it must be defined as a key";
    wrong_sub_key() = 1089 b"HY000" "Incorrect prefix key; the used key part isn't a string, the used length is longer than the key part, or the storage engine doesn't support unique prefix keys";
    cannot_remove_all_fields() = 1090 b"42000" "You can't delete all columns with ALTER TABLE; use DROP TABLE instead";
    cannot_drop_field_or_key(name) = 1091 b"42000" "Can't DROP '{name}'; check that column/key exists";
    update_table_used(table) = 1093 b"HY000" "You can't specify target table '{table}' for update in FROM clause";
    no_such_thread(id) = 1094 b"HY000" "Unknown thread id: {id}";
    kill_denied(id) = 1095 b"HY000" "You are not owner of thread {id}";
    no_tables_used() = 1096 b"HY000" "No tables used";
    too_big_set(column) = 1097 b"HY000" "Too many strings for column {column} and SET";
    table_not_locked_for_write(table) = 1099 b"HY000" "Table '{table}' was locked with a READ lock and can't be updated";
    table_not_locked(table) = 1100 b"HY000" "Table '{table}' was not locked with LOCK TABLES";
    blob_cannot_have_default(column) = 1101 b"42000" "BLOB, TEXT, GEOMETRY or JSON column '{column}' can't have a default value";
    wrong_database_name(database) = 1102 b"42000" "Incorrect database name '{database}'";
    wrong_table_name(table) = 1103 b"42000" "Incorrect table name '{table}'";
    too_big_select() = 1104 b"42000" "The SELECT would examine more than MAX_JOIN_SIZE rows; check your WHERE and use SET SQL_BIG_SELECTS=1 or SET MAX_JOIN_SIZE=# if the SELECT is okay";
    unknown_error(text) = 1105 b"HY000" "{text}";
    unknown_procedure(name) = 1106 b"42000" "Unknown procedure '{name}'";
    undeclared_variable(name) = 1327 b"42000" "Undeclared variable: {name}";
    unknown_table(table, place) = 1109 b"42S02" "Unknown table '{table}' in {place}";
    field_specified_twice(column) = 1110 b"42000" "Column '{column}' specified twice";
    invalid_group_function_use() = 1111 b"HY000" "Invalid use of group function";
    table_in_global_order(table) = 1250 b"42000" "Table '{table}' from one of the SELECTs cannot be used in global ORDER clause";
    aggregate_order_of_union(nth) = 3028 b"HY000" "Expression #{nth} of ORDER BY contains aggregate function and applies to a UNION, EXCEPT or INTERSECT";
    aggregate_order_of_rows(nth) = 3029 b"HY000" "Expression #{nth} of ORDER BY contains aggregate function and applies to the result of a non-aggregated query";
    grouping_of_no_key(nth) = 3602 b"HY000" "Argument #{nth} of GROUPING function is not in GROUP BY";
    table_full(table) = 1114 b"HY000" "The table '{table}' is full";
    unknown_character_set(name) = 1115 b"42000" "Unknown character set: '{name}'";
    too_many_tables(max) = 1116 b"HY000" "Too many tables; MySQL can only use {max} tables in a join";
    too_many_columns() = 1117 b"HY000" "Too many columns";
    row_too_large(max) = 1118 b"42000" "Row size too large. The maximum row size for the used table type, not counting BLOBs, is {max}. This includes storage overhead, check the manual. You have to change some columns to TEXT or BLOBs";
    wrong_value_count_on_row(row) = 1136 b"21S01" "Column count doesn't match value count at row {row}";
    no_partitions_to_manage() = 1505 b"HY000" "Partition management on a not partitioned table is not possible";
    no_partitions_to_select() = 1747 b"HY000" "PARTITION () clause on non partitioned table";
    function_name_is_a_word(name) = 1630 b"42000" "FUNCTION {name} does not exist. Check the 'Function Name Parsing and Resolution' section in the Reference Manual";
    account_name_too_long(text, what, most) = 1470 b"HY000" "String '{text}' is too long for {what} (should be no longer than {most})";
    all_and_distinct() = 1221 b"HY000" "Incorrect usage of ALL and DISTINCT";
    row_without_values() = 3942 b"HY000" "Each row of a VALUES clause must have at least one column, unless when used as source in an INSERT statement.";
    default_in_values() = 3943 b"HY000" "A VALUES clause cannot use DEFAULT values, unless used as a source in an INSERT statement.";
    mix_of_group_functions() = 1140 b"42000" "In aggregated query without GROUP BY, expression #1 of SELECT list contains nonaggregated column; this is incompatible with sql_mode=only_full_group_by";
    mixed_group_column(position, column) = 1140 b"42000" "In aggregated query without GROUP BY, expression #{position} of SELECT list contains nonaggregated column '{column}'; this is incompatible with sql_mode=only_full_group_by";
    invalid_use_of_null() = 1138 b"22004" "Invalid use of NULL value";
    nonexisting_grant(user, host) = 1141 b"42000" "There is no such grant defined for user '{user}' on host '{host}'";
    illegal_grant_for_table() = 1144 b"42000" "Illegal GRANT/REVOKE command; please consult the manual to see which privileges can be used";
    nonexisting_table_grant(user, host, table) = 1147 b"42000" "There is no such grant defined for user '{user}' on host '{host}' on table '{table}'";
    unknown_dynamic_privilege(name) = 3929 b"HY000" "Dynamic privilege '{name}' is not registered with the server.";
    operation_failed(command, names) = 1396 b"HY000" "Operation {command} failed for {names}";
    cannot_create_user_with_grant() = 1410 b"42000" "You are not allowed to create a user with GRANT";
    authorization_id_exists(name) = 3163 b"HY000" "Authorization ID {name} already exists.";
    no_such_authorization_id(name) = 3523 b"HY000" "Unknown authorization ID {name}";
    role_not_granted(role, user) = 3530 b"HY000" "{role} is not granted to {user}";
    rename_role() = 3532 b"HY000" "Renaming of a role identifier is forbidden";
    mandatory_role(role) = 3628 b"HY000" "The role {role} is a mandatory role and can't be revoked or dropped. The restriction can be lifted by excluding the role identifier from the global variable mandatory_roles.";
    password_replaced_is_wrong() = 3891 b"HY000" "Incorrect current password. Specify the correct password which has to be replaced.";
    password_replaces_unasked() = 3893 b"HY000" "Do not specify the current password while changing it for other users.";
    mandatory_role_of_system(role) = 3880 b"HY000" "Cannot set mandatory_roles: AuthId {role} has 'SYSTEM_USER' privilege.";
    system_user_for_mandatory_role(role) = 3897 b"HY000" "AuthId {role} is set as mandatory_roles. Cannot grant the 'SYSTEM_USER' privilege.";
    role_loop(user, role) = 4027 b"HY000" "User account {user} is directly or indirectly granted to the role {role}. The GRANT would create a loop";
    unknown_authorization_id(user) = 3162 b"HY000" "Authorization ID {user} does not exist.";
    illegal_privilege_level(level) = 3619 b"HY000" "Illegal privilege level specified for {level}";
    column_access_denied(command, user, host, column, table) = 1143 b"42000" "{command} command denied to user '{user}'@'{host}' for column '{column}' in table '{table}'";
    routine_access_denied(command, user, host, routine) = 1370 b"42000" "{command} command denied to user '{user}'@'{host}' for routine '{routine}'";
    table_access_denied(command, user, host, table) = 1142 b"42000" "{command} command denied to user '{user}'@'{host}' for table '{table}'";
    no_such_table(database, table) = 1146 b"42S02" "Table '{database}.{table}' doesn't exist";
    syntax_error() = 1149 b"42000" "You have an error in your SQL syntax; check the manual that corresponds to your MySQL server version for the right syntax to use";
    packet_too_large() = 1153 b"08S01" "Got a packet bigger than 'max_allowed_packet' bytes";
    packets_out_of_order() = 1156 b"08S01" "Got packets out of order";
    net_read_error() = 1158 b"08S01" "Got an error reading communication packets";
    net_read_interrupted() = 1159 b"08S01" "Got timeout reading communication packets";
    net_write_error() = 1160 b"08S01" "Got an error writing communication packets";
    net_write_interrupted() = 1161 b"08S01" "Got timeout writing communication packets";
    string_too_long() = 1162 b"42000" "Result string is longer than 'max_allowed_packet' bytes";
    wrong_column_name(column) = 1166 b"42000" "Incorrect column name '{column}'";
    key_column_not_indexable(column) = 1167 b"42000" "The used storage engine can't index column '{column}'";
    blob_key_without_length(column) = 1170 b"42000" "BLOB/TEXT column '{column}' used in key specification without a key length";
    primary_cannot_have_null() = 1171 b"42000" "All parts of a PRIMARY KEY must be NOT NULL; if you need NULL in a key, use UNIQUE instead";
    too_many_rows() = 1172 b"42000" "Result consisted of more than one row";
    requires_primary_key() = 1173 b"42000" "This table type requires a primary key";
    safe_update_mode() = 1175 b"HY000" "You are using safe update mode and you tried to update a table without a WHERE that uses a KEY column. ";
    key_does_not_exist(key, table) = 1176 b"42000" "Key '{key}' doesn't exist in table '{table}'";
    cannot_do_during_transaction() = 1179 b"25000" "You are not allowed to execute this command in a transaction";
    unknown_system_variable(name) = 1193 b"HY000" "Unknown system variable '{name}'";
    crashed_table(table) = 1194 b"HY000" "Table '{table}' is marked as crashed and should be repaired";
    user_limit_reached(user, resource, limit) = 1226 b"42000" "User '{user}' has exceeded the '{resource}' resource (current value: {limit})";
    insecure_transport() = 3159 b"HY000" "Connections using insecure transport are prohibited while --require_secure_transport=ON.";
    too_many_user_connections(user) = 1203 b"42000" "User {user} already has more than 'max_user_connections' active connections";
    set_constants_only(variable) = 1204 b"HY000" "You may only use constant expressions with SET ({variable})";
    lock_wait_timeout() = 1205 b"HY000" "Lock wait timeout exceeded; try restarting transaction";
    wrong_arguments(function) = 1210 b"HY000" "Incorrect arguments to {function}";
    deadlock() = 1213 b"40001" "Deadlock found when trying to get lock; try restarting transaction";
    lock_queue_full() = 1205 b"HY000" "Lock wait queue of the row is full (turnstile_hot_row_queue_cap); try restarting transaction";
    group_rolled_back() = 1213 b"40001" "Deadlock found when trying to get lock; try restarting transaction (its group at a hot row was rolled back)";
    cannot_add_foreign_key() = 1215 b"HY000" "Cannot add foreign key constraint";
    row_is_referenced() = 1217 b"23000" "Cannot delete or update a parent row: a foreign key constraint fails";
    no_referenced_row() = 1216 b"23000" "Cannot add or update a child row: a foreign key constraint fails";
    wrong_usage(first, second) = 1221 b"HY000" "Incorrect usage of {first} and {second}";
    wrong_number_of_columns_in_select() = 1222 b"21000" "The used SELECT statements have a different number of columns";
    persist_only_access_denied(privileges) = 3630 b"42000" "Access denied; you need {privileges} privileges for this operation";
    specific_access_denied(privilege) = 1227 b"42000" "Access denied; you need (at least one of) the {privilege} privilege(s) for this operation";
    local_variable(name) = 1228 b"HY000" "Variable '{name}' is a SESSION variable and can't be used with SET GLOBAL";
    global_variable(name) = 1229 b"HY000" "Variable '{name}' is a GLOBAL variable and should be set with SET GLOBAL";
    session_variable_read_only(name) = 1621 b"HY000" "SESSION variable '{name}' is read-only. Use SET GLOBAL to assign the value";
    no_default_for_variable(name) = 1230 b"42000" "Variable '{name}' doesn't have a default value";
    wrong_value_for_variable(name, value) = 1231 b"42000" "Variable '{name}' can't be set to the value of '{value}'";
    wrong_type_for_variable(name) = 1232 b"42000" "Incorrect argument type to variable '{name}'";
    variable_cannot_be_read(name) = 1233 b"HY000" "Variable '{name}' can only be set, not read";
    not_supported_by_mysql(what) = 1235 b"42000" "This version of MySQL doesn't yet support '{what}'";
    not_supported_yet(what) = 1235 b"42000" "This version of Turnstile doesn't yet support '{what}'";
    hint_without_effect(name) = 1235 b"42000" "The optimizer hint {name} has no effect in this server";
    variable_without_effect(name) = 1235 b"42000" "The system variable '{name}' is kept and has no effect in this server";
    incorrect_global_local_variable(name, scope) = 1238 b"HY000" "Variable '{name}' is a {scope} variable";
    wrong_foreign_key_definition(name) = 1239 b"42000" "Incorrect foreign key definition for '{name}': Key reference and table reference don't match";
    operand_columns(count) = 1241 b"21000" "Operand should contain {count} column(s)";
    subquery_returns_many_rows() = 1242 b"21000" "Subquery returns more than 1 row";
    unknown_statement_handler(id, function) = 1243 b"HY000" "Unknown prepared statement handler ({id}) given to {function}";
    reference_not_supported(name, why) = 1247 b"42S22" "Reference '{name}' not supported ({why})";
    derived_must_have_alias() = 1248 b"42000" "Every derived table must have its own alias";
    table_name_not_allowed_here(table, place) = 1250 b"42000" "Table '{table}' from one of the SELECTs cannot be used in {place}";
    client_authentication_unsupported() = 1251 b"08004" "Client does not support authentication protocol requested by server; consider upgrading MySQL client";
    collation_charset_mismatch(collation, charset) = 1253 b"42000" "COLLATION '{collation}' is not valid for CHARACTER SET '{charset}'";
    wrong_value_count(row) = 1261 b"01000" "Row {row} doesn't contain data for all columns";
    null_to_not_null(column, row) = 1263 b"22004" "Column set to default value; NULL supplied to NOT NULL column '{column}' at row {row}";
    out_of_range_column(column, row) = 1264 b"22003" "Out of range value for column '{column}' at row {row}";
    data_truncated(column, row) = 1265 b"01000" "Data truncated for column '{column}' at row {row}";
    mix_of_two_collations(both, operation) = 1267 b"HY000" "Illegal mix of collations {both} for operation '{operation}'";
    mix_of_three_collations(all, operation) = 1270 b"HY000" "Illegal mix of collations {all} for operation '{operation}'";
    mix_of_collations(operation) = 1271 b"HY000" "Illegal mix of collations for operation '{operation}'";
    regexp_sets(one, other, function) = 3995 b"HY000" "Character set '{one}' cannot be used in conjunction with '{other}' in call to {function}.";
    cannot_convert_string(text, from, to) = 3854 b"HY000" "Cannot convert string '{text}' from {from} to {to}";
    unknown_collation(name) = 1273 b"HY000" "Unknown collation: '{name}'";
    deprecated_syntax(old, new) = 1287 b"HY000" "'{old}' is deprecated and will be removed in a future release. Please use {new} instead";
    deprecated_count_all_rows() = 1287 b"HY000" "SQL_CALC_FOUND_ROWS is deprecated and will be removed in a future release. Consider using two separate queries instead.";
    deprecated_found_rows() = 1287 b"HY000" "FOUND_ROWS() is deprecated and will be removed in a future release. Consider using COUNT(*) instead.";
    deprecated_json_merge() = 1287 b"HY000" "'JSON_MERGE' is deprecated and will be removed in a future release. Please use JSON_MERGE_PRESERVE/JSON_MERGE_PATCH instead";
    deprecated_empty_behind_error() = 1287 b"HY000" "Specifying an ON EMPTY clause after the ON ERROR clause in a JSON_TABLE column definition is deprecated syntax and will be removed in a future release. Specify ON EMPTY before ON ERROR instead.";
    deprecated_assignment() = 1287 b"HY000" "Setting user variables within expressions is deprecated and will be removed in a future release. Consider alternatives: 'SET variable=expression, ...', or 'SELECT expression(s) INTO variables(s)'.";
    deprecated_inserted_value() = 1287 b"HY000" "'VALUES function' is deprecated and will be removed in a future release. Please use an alias (INSERT INTO ... VALUES (...) AS alias) and replace VALUES(col) in the ON DUPLICATE KEY UPDATE clause with alias.col instead";
    deprecated_into_inside() = 3962 b"HY000" "The INTO clause is deprecated inside query blocks of query expressions and will be removed in a future release. Please move the INTO clause to the end of statement instead.";
    deprecated_alone(what) = 1681 b"HY000" "'{what}' is deprecated and will be removed in a future release.";
    unsafe_default() = 1674 b"HY000" "Statement is unsafe because it uses a system function that may return a different value on the replica.";
    non_standard_foreign_keys() = 4166 b"HY000" "'restrict_fk_on_non_standard_key' is deprecated and will be removed in a future release. Foreign key referring to non-unique or partial keys is unsafe and may break replication.";
    deprecated_variable(name) = 1287 b"HY000" "'@@{name}' is deprecated and will be removed in a future release.";
    deprecated_update(name) = 1681 b"HY000" "Updating '{name}' is deprecated. It will be made read-only in a future release.";
    unknown_locale(name) = 1649 b"HY000" "Unknown locale: '{name}'";
    deprecated_integer_width() = 1681 b"HY000" "Integer display width is deprecated and will be removed in a future release.";
    deprecated_float_digits() = 1681 b"HY000" "Specifying number of digits for floating point data types is deprecated and will be removed in a future release.";
    deprecated_unsigned_real() = 1681 b"HY000" "UNSIGNED for decimal and floating point data types is deprecated and support for it will be removed in a future release.";
    deprecated_zerofill() = 1681 b"HY000" "The ZEROFILL attribute is deprecated and will be removed in a future release. Use the LPAD function to zero-pad numbers, or store the formatted numbers in a CHAR column.";
    non_updatable_table(table, statement) = 1288 b"HY000" "The target table {table} of the {statement} is not updatable";
    feature_disabled(feature, needed) = 1289 b"HY000" "The '{feature}' feature is disabled; you need MySQL built with '{needed}' to have it working";
    charset_alias() = 3719 b"HY000" "'utf8' is currently an alias for the character set UTF8MB3, but will be an alias for UTF8MB4 in a future release. Please consider using UTF8MB4 in order to be unambiguous.";
    national_charset() = 3720 b"HY000" "NATIONAL/NCHAR/NVARCHAR implies the character set UTF8MB3, which will be replaced by UTF8MB4 in a future release. Please consider using CHAR(x) CHARACTER SET UTF8MB4 in order to be unambiguous.";
    deprecated_utf8mb3_collation(collation) = 3778 b"HY000" "'{collation}' is a collation of the deprecated character set UTF8MB3. Please consider using UTF8MB4 with an appropriate collation instead.";
    deprecated_charset_collation(collation, charset) = 4079 b"HY000" "'{collation}' is a collation of the deprecated character set {charset}. Please consider using utf8mb4 with an appropriate collation instead.";
    comment_invalid(what, name, bytes) = 4088 b"HY000" "Comment for {what} '{name}' contains an invalid utf8mb3 character string: '{bytes}'.";
    comment_not_converted(text, set) = 1300 b"HY000" "Cannot convert string '{text}' from {set} to utf8mb3";
    modes_belong_together() = 3135 b"HY000" "'NO_ZERO_DATE', 'NO_ZERO_IN_DATE' and 'ERROR_FOR_DIVISION_BY_ZERO' sql modes should be used with strict mode. They will be merged with strict mode in a future release.";
    deprecated_mode(mode) = 3090 b"HY000" "Changing sql mode '{mode}' is deprecated. It will be removed in a future release.";
    duplicate_index(index, table) = 1831 b"HY000" "Duplicate index '{index}' defined on the table '{table}'. This is deprecated and will be disallowed in a future release.";
    table_without_primary_key() = 3750 b"HY000" "Unable to create or change a table without a primary key, when the system variable 'sql_require_primary_key' is set. Add a primary key to the table or unset this variable to avoid this message. Note that tables without a primary key can cause performance problems in row-based replication, so please consult your DBA before changing this setting.";
    using_other_engine(engine, table) = 1266 b"HY000" "Using storage engine {engine} for table '{table}'";
    illegal_engine_option(table) = 1031 b"HY000" "Table storage engine for '{table}' doesn't have this option";
    unsupported_extension(what) = 1112 b"42000" "InnoDB: {what}";
    create_option_without_effect(option) = 1478 b"HY000" "Table storage engine 'InnoDB' does not support the create option '{option}'";
    option_ignored(option) = 1618 b"HY000" "<{option}> option ignored";
    invalid_encryption_option() = 3184 b"HY000" "Invalid encryption option.";
    no_master_key() = 3185 b"HY000" "Can't find master key from keyring, please check in the server log if a keyring is loaded and initialized successfully.";
    tablespace_missing(name) = 3510 b"HY000" "Tablespace {name} doesn't exist.";
    engine_attribute_not_supported() = 3981 b"HY000" "Storage engine 'InnoDB' does not support ENGINE_ATTRIBUTE.";
    new_aborting_connection(id, user, host, why) = 1184 b"08S01" "Aborted connection {id} to db: 'unconnected' user: '{user}' host: '{host}' ({why})";
    unknown_alter_algorithm(word) = 1800 b"HY000" "Unknown ALGORITHM '{word}'";
    unknown_alter_lock(word) = 1801 b"HY000" "Unknown LOCK type '{word}'";
    alter_not_possible(what, instead) = 1845 b"0A000" "{what} is not supported for this operation. Try {instead}.";
    legacy_delayed(word) = 3005 b"HY000" "{word} DELAYED is no longer supported. The statement was converted to {word}.";
    table_order_ignored(table) = 1105 b"HY000" "ORDER BY ignored as there is a user-defined clustered index in the table '{table}'";
    hash_index_replaced() = 3502 b"HY000" "This storage engine does not support the HASH index algorithm, storage engine default was used instead.";
    execution_time_not_here() = 3125 b"HY000" "MAX_EXECUTION_TIME hint is supported by top-level standalone SELECT statements only";
    finishing_not_here(name) = 3125 b"HY000" "{name} hint is supported by top-level standalone SELECT, INSERT, REPLACE, UPDATE and DELETE statements only";
    change_hint_not_here(name) = 3125 b"HY000" "{name} hint is supported by top-level standalone INSERT, REPLACE, UPDATE and DELETE statements only";
    other_rows_than_target(changed, asked) = 7532 b"HY000" "The statement changed {changed} rows, where its hint TARGET_AFFECT_ROW asks for {asked}";
    conflicting_hint(hint) = 3126 b"HY000" "Hint {hint} is ignored as conflicting/duplicated";
    no_block_of_hint(name, hint) = 3127 b"HY000" "Query block name {name} is not found for {hint} hint";
    unresolved_in_hint(name, hint) = 3128 b"HY000" "Unresolved name {name} for {hint} hint";
    unresolved_hint_name(name) = 3128 b"HY000" "Unresolved name '{name}' for SET_VAR hint";
    not_hintable_variable(name) = 3637 b"HY000" "Variable '{name}' cannot be set using SET_VAR hint.";
    resource_group_missing(name) = 3651 b"HY000" "Resource Group '{name}' does not exist.";
    option_prevents_statement(option) = 1290 b"HY000" "The MySQL server is running with the {option} option so it cannot execute this statement";
    duplicated_value_in_type(column, value, kind) = 1291 b"HY000" "Column '{column}' has duplicated value '{value}' in {kind}";
    truncated_wrong_value(kind, value) = 1292 b"22007" "Truncated incorrect {kind} value: '{value}'";
    incorrect_value(kind, value) = 1292 b"22007" "Incorrect {kind} value: '{value}'";
    incorrect_value_for_column(kind, value, column, row) = 1292 b"22007" "Incorrect {kind} value: '{value}' for column '{column}' at row {row}";
    invalid_on_update(column) = 1294 b"HY000" "Invalid ON UPDATE clause for '{column}' column";
    unsupported_in_prepared() = 1295 b"HY000" "This command is not supported in the prepared statement protocol yet";
    parameters_outside_rows() = 6413 b"HY000" "Dynamic parameters can only be used in DML statements.";
    invalid_timestamp(column, row) = 1299 b"HY000" "Invalid TIMESTAMP value in column '{column}' at row {row}";
    unknown_time_zone(name) = 1298 b"HY000" "Unknown or incorrect time zone: '{name}'";
    invalid_character_string(charset, bytes) = 1300 b"HY000" "Invalid {charset} character string: '{bytes}'";
    warn_allowed_packet(function, max) = 1301 b"HY000" "Result of {function}() was larger than max_allowed_packet ({max}) - truncated";
    does_not_exist(kind, name) = 1305 b"42000" "{kind} {name} does not exist";
    query_interrupted() = 1317 b"70100" "Query execution was interrupted";
    no_data() = 1329 b"02000" "No data - zero rows fetched, selected, or processed";
    view_not_explained() = 1345 b"HY000" "EXPLAIN/SHOW can not be issued; lacking privileges for underlying table";
    view_into() = 1350 b"HY000" "View's SELECT contains a 'INTO' clause";
    view_reads_temporary(table) = 1352 b"HY000" "View's SELECT refers to a temporary table '{table}'";
    view_has_variable() = 1351 b"HY000" "View's SELECT contains a variable or parameter";
    view_invalid(database, view) = 1356 b"HY000" "View '{database}.{view}' references invalid table(s) or column(s) or function(s) or definer/invoker of view lack rights to use them";
    view_not_merged() = 1354 b"HY000" "View merge algorithm can't be used here for now (assumed undefined algorithm)";
    column_not_updatable(column) = 1348 b"HY000" "Column '{column}' is not updatable";
    check_option_on_fixed_view(database, view) = 1368 b"HY000" "CHECK OPTION on non-updatable view '{database}.{view}'";
    check_option_failed(database, view) = 1369 b"HY000" "CHECK OPTION failed '{database}.{view}'";
    view_of_several_tables(database, view) = 1393 b"HY000" "Can not modify more than one base table through a join view '{database}.{view}'";
    view_join_without_columns(database, view) = 1394 b"HY000" "Can not insert into join view '{database}.{view}' without fields list";
    view_join_not_deletable(database, view) = 1395 b"HY000" "Can not delete from join view '{database}.{view}'";
    replaced_row_not_in_view() = 3059 b"HY000" "REPLACE cannot be executed as it requires deleting rows that are not in the view";
    view_changes_schema(from, to) = 1450 b"HY000" "Changing schema from '{from}' to '{to}' is not allowed.";
    account_was_definer(account) = 4005 b"HY000" "User {account} is referenced as a definer account in a view.";
    account_is_definer(operation, account) = 4006 b"HY000" "Operation {operation} failed for {account} as it is referenced as a definer account in a view.";
    no_such_definer(user, host) = 1449 b"HY000" "The user specified as a definer ('{user}'@'{host}') does not exist";
    view_recursion(database, view) = 1462 b"HY000" "`{database}`.`{view}` contains view recursion";
    not_insertable_table(table) = 1471 b"HY000" "The target table {table} of the INSERT is not insertable-into";
    views_nested_too_deeply(max) = 1436 b"HY000" "Thread stack overrun: views are nested more than {max} levels deep";
    view_columns_mismatch() = 1353 b"HY000" "In definition of view, derived table or common table expression, SELECT list and column names list have different column counts";
    no_default_for_field(column) = 1364 b"HY000" "Field '{column}' doesn't have a default value";
    document_as_condition() = 3986 b"HY000" "Evaluating a JSON value in SQL boolean context does an implicit comparison against JSON integer 0; if this is not what you want, consider converting JSON to a SQL numeric type with JSON_VALUE RETURNING";
    limit_in_subquery() = 1235 b"42000" "This version of MySQL doesn't yet support 'LIMIT & IN/ALL/ANY/SOME subquery'";
    extreme_documents() = 1235 b"42000" "This version of MySQL doesn't yet support 'comparison of JSON in the LEAST and GREATEST operators'";
    documents_between() = 1235 b"42000" "This version of MySQL doesn't yet support 'comparison of JSON in the BETWEEN operator'";
    cast_to_complement(to, from, sign) = 1105 b"HY000" "Cast to {to} converted {from} to its {sign} complement";
    division_by_zero() = 1365 b"22012" "Division by 0";
    incorrect_value_for_field(kind, value, column, row) = 1366 b"HY000" "Incorrect {kind} value: '{value}' for column '{column}' at row {row}";
    prepared_too_many_parameters() = 1390 b"HY000" "Prepared statement contains too many placeholders";
    cannot_user(operation, user) = 1396 b"HY000" "Operation {operation} failed for {user}";
    xa_not_supported() = 1399 b"XAE07" "XAER_RMFAIL: The command cannot be executed when global transaction is in the  NON-EXISTING state";
    no_such_routine_grant(user, host, routine) = 1403 b"42000" "There is no such grant defined for user '{user}' on host '{host}' on routine '{routine}'";
    data_too_long(column, row) = 1406 b"22001" "Data too long for column '{column}' at row {row}";
    uncompressed_too_large(most) = 1256 b"HY000" "Uncompressed data size too large; the maximum size is {most} (probably, length of uncompressed data was corrupted)";
    no_room_to_uncompress() = 1258 b"HY000" "ZLIB: Not enough room in the output buffer (probably, length of uncompressed data was corrupted)";
    compressed_data_damaged() = 1259 b"HY000" "ZLIB: Input data corrupted";
    vector_too_short(function, bytes) = 1882 b"HY000" "The initialization vector supplied to {function} is too short. Must be at least {bytes} bytes long";
    key_derivation_method() = 3235 b"HY000" "KDF method name is not valid. Please use hkdf or pbkdf2_hmac method name";
    key_derivation_iterations() = 3236 b"HY000" "For KDF method pbkdf2_hmac iterations value less than 1000 or more than 65535 is not allowed due to security reasons. Please provide iterations >= 1000 and iterations < 65535";
    secret_too_long(bytes) = 3237 b"HY000" "AES key size should be {bytes} bytes length or secure KDF methods hkdf or pbkdf2_hmac should be used, please provide exact AES key size or use KDF methods for better security.";
    key_derivation_option_size(most) = 3238 b"HY000" "KDF option size is invalid, please provide valid size < {most} bytes and not NULL";
    name_const_reserved() = 1382 b"HY000" "The 'NAME_CONST' syntax is reserved for purposes internal to the MySQL server";
    digest_not_parsed(why) = 3676 b"HY000" "Could not parse argument to digest function: \"{why}\".";
    bits_of_unequal_length() = 3513 b"HY000" "Binary operands of bitwise operators must be of equal length";
    wrong_native_parameters(function) = 1583 b"42000" "Incorrect parameters in the call to native function '{function}'";
    wrong_value_for_type(kind, value, function) = 1411 b"HY000" "Incorrect {kind} value: '{value}' for function {function}";
    table_definition_changed() = 1412 b"HY000" "Table definition has changed, please retry transaction";
    not_allowed_in_trigger(what) = 1422 b"HY000" "Explicit or implicit commit is not allowed in stored function or trigger. ({what})";
    bit_operands_of_unequal_length() = 3513 b"HY000" "Binary operands of bitwise operators must be of equal length";
    bit_aggregate_too_long() = 3514 b"HY000" "Aggregate bitwise functions cannot accept arguments longer than 511 bytes; consider using the SUBSTRING() function";
    too_big_scale(scale, column, max) = 1425 b"42000" "Too big scale {scale} specified for column '{column}'. Maximum is {max}.";
    too_big_precision(precision, column, max) = 1426 b"42000" "Too-big precision {precision} specified for '{column}'. Maximum is {max}.";
    scale_over_precision(column) = 1427 b"42000" "For float(M,D), double(M,D) or decimal(M,D), M must be >= D (column '{column}').";
    too_big_display_width(column, max) = 1439 b"42000" "Display width out of range for column '{column}' (max = {max})";
    datetime_overflow(function) = 1441 b"22008" "Datetime function: {function} field overflow";
    row_is_referenced_by(constraint) = 1451 b"23000" "Cannot delete or update a parent row: a foreign key constraint fails ({constraint})";
    no_referenced_row_for(constraint) = 1452 b"23000" "Cannot add or update a child row: a foreign key constraint fails ({constraint})";
    index_needed_by_foreign_key(index) = 1553 b"HY000" "Cannot drop index '{index}': needed in a foreign key constraint";
    truncate_referenced(constraint) = 1701 b"42000" "Cannot truncate a table referenced in a foreign key constraint ({constraint})";
    temporary_stay_made() = 1751 b"HY000" "The creation of some temporary tables could not be rolled back.";
    temporary_stay_dropped() = 1752 b"HY000" "Some temporary tables were dropped, but these operations could not be rolled back.";
    cascade_makes_duplicate(table, record, child, key) = 1761 b"23000" "Foreign key constraint for table '{table}', record '{record}' would lead to a duplicate entry in table '{child}', key '{key}'";
    foreign_key_parent_index(constraint, parent) = 1822 b"HY000" "Failed to add the foreign key constraint. Missing index for constraint '{constraint}' in the referenced table '{parent}'";
    cannot_open_parent(parent) = 1824 b"HY000" "Failed to open the referenced table '{parent}'";
    duplicate_foreign_key_name(name) = 1826 b"HY000" "Duplicate foreign key constraint name '{name}'";
    cannot_drop_foreign_key_column(column, constraint) = 1828 b"HY000" "Cannot drop column '{column}': needed in a foreign key constraint '{constraint}'";
    cannot_drop_parent_column(column, constraint, child) = 1829 b"HY000" "Cannot drop column '{column}': needed in a foreign key constraint '{constraint}' of table '{child}'";
    foreign_key_column_not_null(column, constraint) = 1830 b"HY000" "Column '{column}' cannot be NOT NULL: needed in a foreign key constraint '{constraint}' SET NULL";
    cannot_change_foreign_key_column(column, constraint) = 1832 b"HY000" "Cannot change column '{column}': used in a foreign key constraint '{constraint}'";
    cannot_change_parent_column(column, constraint, child) = 1833 b"HY000" "Cannot change column '{column}': used in a foreign key constraint '{constraint}' of table '{child}'";
    cascade_too_deep(depth) = 3008 b"HY000" "Foreign key cascade delete/update exceeds max depth of {depth}.";
    cannot_drop_parent(table, constraint, child) = 3730 b"HY000" "Cannot drop table '{table}' referenced by a foreign key constraint '{constraint}' on table '{child}'.";
    foreign_key_parent_column(column, constraint, parent) = 3734 b"HY000" "Failed to add the foreign key constraint. Missing column '{column}' for constraint '{constraint}' in the referenced table '{parent}'";
    foreign_key_incompatible(child, parent, constraint) = 3780 b"HY000" "Referencing column '{child}' and referenced column '{parent}' in foreign key constraint '{constraint}' are incompatible.";
    foreign_key_parent_unique(constraint, parent) = 6125 b"HY000" "Failed to add the foreign key constraint. Missing unique key for constraint '{constraint}' in the referenced table '{parent}'";
    too_many_prepared_statements(max) = 1461 b"42000" "Can't create more than max_prepared_stmt_count statements (current value: {max})";
    selects_nested_too_deeply() = 1473 b"HY000" "Too high level of nesting for select";
    non_grouping_field(column, clause) = 1463 b"42000" "Non-grouping field '{column}' is used in {clause} clause";
    unknown_storage_engine(engine) = 1286 b"42000" "Unknown storage engine '{engine}'";
    partition_unsupported() = 1505 b"HY000" "Partition management on a not partitioned table is not possible";
    wrong_value(kind, value) = 1525 b"HY000" "Incorrect {kind} value: '{value}'";
    no_partition_for_value(value) = 1526 b"HY000" "Table has no partition for value {value}";
    cannot_change_in_transaction() = 1568 b"25001" "Transaction characteristics can't be changed while a transaction is in progress";
    wrong_parameter_count(function) = 1582 b"42000" "Incorrect parameter count in the call to native function '{function}'";
    wrong_parameters(function) = 1583 b"42000" "Incorrect parameters in the call to native function '{function}'";
    duplicate_entry_with_key_name(value, key) = 1586 b"23000" "Duplicate entry '{value}' for key '{key}'";
    multi_update_key_conflict(first, second) = 1706 b"HY000" "Primary key/partition key update is not allowed since the table is updated both as '{first}' and '{second}'.";
    temporal_out_of_range(kind, expression) = 6527 b"22008" "{kind} value is out of range in '{expression}'";
    deprecated_delimiter(sign, at, value, row, standard) = 4095 b"HY000" "Delimiter '{sign}' in position {at} in datetime value '{value}' at row {row} is deprecated. Prefer the standard '{standard}'.";
    superfluous_delimiter(sign, at, value, row) = 4096 b"HY000" "Delimiter '{sign}' in position {at} in datetime value '{value}' at row {row} is superfluous and is deprecated. Please remove.";
    value_out_of_range(kind, expression) = 1690 b"22003" "{kind} value is out of range in '{expression}'";
    index_column_too_long(max) = 1709 b"HY000" "Index column size too large. The maximum column size is {max} bytes.";
    not_explained_for_connection() = 3012 b"HY000" "EXPLAIN FOR CONNECTION command is supported only for SELECT/UPDATE/INSERT/DELETE/REPLACE";
    not_analyzed_as_json() = 6412 b"0A000" "EXPLAIN ANALYZE does not support FORMAT=JSON with explain_json_format_version=1.";
    unknown_explain_format(name) = 1791 b"HY000" "Unknown EXPLAIN format name: '{name}'";
    read_only_transaction() = 1792 b"25006" "Cannot execute statement in a READ ONLY transaction.";
    read_only_mode() = 1836 b"HY000" "Running in read-only mode";
    password_expired_must_change() = 1820 b"HY000" "You must reset your password using ALTER USER statement before executing this statement.";
    alter_not_supported(operation) = 1845 b"0A000" "{operation} is not supported for this operation. Try ALGORITHM=COPY.";
    alter_not_supported_reason(operation, why, remedy) = 1846 b"0A000" "{operation} is not supported. Reason: {why}. Try {remedy}.";
    inplace_required_default(column) = 1861 b"22004" "Column '{column}' cannot be added: it is NOT NULL without a default";
    password_expired() = 1862 b"HY000" "Your password has expired. To log in you must change it using a client that supports expired passwords.";
    query_timeout() = 3024 b"HY000" "Query execution was interrupted, maximum statement execution time exceeded";
    order_by_distinct(position, column) = 3065 b"HY000" "Expression #{position} of ORDER BY clause is not in SELECT list, references column '{column}' which is not in SELECT list; this is incompatible with DISTINCT";
    long_user_lock_name(name, most) = 4163 b"42000" "User-level lock name '{name}' should not exceed {most} characters.";
    wrong_user_lock_name(name) = 3057 b"42000" "Incorrect user-level lock name '{name}'. The name is empty, NULL, or can not be expressed in the current character-set.";
    user_lock_deadlock() = 3058 b"HY000" "Deadlock found when trying to get user-level lock; try rolling back transaction/releasing locks and restarting lock acquisition.";
    invalid_json_text(why, position, column) = 3140 b"22032" "Invalid JSON text: \"{why}\" at position {position} in value for column '{column}'.";
    invalid_json_argument(nth, function, why, position) = 3141 b"22032" "Invalid JSON text in argument {nth} to function {function}: \"{why}\" at position {position}.";
    invalid_json_path(position) = 3143 b"42000" "Invalid JSON path expression. The error is around character position {position}.";
    json_argument_type(position, function) = 3064 b"HY000" "Incorrect type for argument {position} in function {function}.";
    json_of_binary() = 3144 b"22032" "Cannot create a JSON value from a string with CHARACTER SET 'binary'.";
    invalid_json_type(nth, function) = 3146 b"22032" "Invalid data type for JSON data in argument {nth} to function {function}; a JSON string or JSON type is required.";
    json_path_with_wildcard() = 3149 b"42000" "In this situation, path expressions may not contain the * and ** tokens or an array range.";
    json_name_too_long() = 3151 b"22032" "The JSON object contains a key name that is too long.";
    json_key(column) = 3152 b"42000" "JSON column '{column}' supports indexing only via generated columns on a specified JSON path.";
    json_path_not_allowed() = 3153 b"42000" "The path expression '$' is not allowed in this context.";
    json_one_or_all(function) = 3154 b"42000" "The oneOrAll argument to {function} may take these values: 'one' or 'all'.";
    json_is_no_number(kind, source, row) = 3156 b"22018" "Invalid JSON value for CAST to {kind} from column {source} at row {row}";
    json_path_no_cell() = 3165 b"42000" "A path expression is not a path to a cell in an array.";
    missing_json_table_value(column) = 3665 b"22035" "Missing value for JSON_TABLE column '{column}'";
    json_table_scalar(column) = 3666 b"2203F" "Can't store an array or an object in the scalar JSON_TABLE column '{column}'";
    json_table_range(column) = 3669 b"22003" "Value is out of range for JSON_TABLE's column '{column}'";
    missing_json_value(function) = 3966 b"22035" "No value was found by '{function}' on the specified path.";
    multiple_json_values(function) = 3967 b"22034" "More than one value was found by '{function}' on the specified path.";
    json_too_deep() = 3157 b"22032" "The JSON document exceeds the maximum depth.";
    json_member_name_null() = 3158 b"22032" "JSON documents may not contain NULL member names.";
    variable_not_persisted() = 3549 b"HY000" "Variables cannot be persisted. Please retry.";
    not_in_persisted_file(name) = 3615 b"HY000" "Variable {name} does not exist in persisted config file";
    recursion_without_union(name) = 3573 b"HY000" "Recursive Common Table Expression '{name}' should contain a UNION";
    recursion_without_seed(name) = 3574 b"HY000" "Recursive Common Table Expression '{name}' should have one or more non-recursive query blocks followed by one or more recursive ones";
    recursion_with_aggregate(name) = 3575 b"HY000" "Recursive Common Table Expression '{name}' can contain neither aggregation nor window functions in recursive query block";
    recursion_join_order(name) = 3576 b"HY000" "In recursive query block of Recursive Common Table Expression '{name}', the recursive table must neither be in the right argument of a LEFT JOIN, nor be forced to be non-first with join order hints";
    recursion_not_single(name) = 3577 b"HY000" "In recursive query block of Recursive Common Table Expression '{name}', the recursive table must be referenced only once, and not in any subquery";
    no_such_window(name) = 3579 b"HY000" "Window name '{name}' is not defined.";
    window_circularity() = 3580 b"HY000" "There is a circularity in the window dependency graph.";
    window_child_partitions() = 3581 b"HY000" "A window which depends on another cannot define partitioning.";
    window_base_has_frame(name) = 3582 b"HY000" "Window '{name}' has a frame definition, so cannot be referenced by another window.";
    window_orders_twice(name, base) = 3583 b"HY000" "Window '{name}' cannot inherit '{base}' since both contain an ORDER BY clause.";
    window_frame_start(name) = 3584 b"HY000" "Window '{name}': frame start cannot be UNBOUNDED FOLLOWING.";
    window_frame_end(name) = 3585 b"HY000" "Window '{name}': frame end cannot be UNBOUNDED PRECEDING.";
    window_frame_illegal(name) = 3586 b"HY000" "Window '{name}': frame start or end is negative, NULL or of non-integral type";
    window_range_key(name) = 3587 b"HY000" "Window '{name}' with RANGE N PRECEDING/FOLLOWING frame requires exactly one deterministic ORDER BY expression, of numeric or temporal type";
    window_range_of_moments(name) = 3588 b"HY000" "Window '{name}' with RANGE frame has ORDER BY expression of datetime type. Only INTERVAL bound value allowed.";
    window_range_of_numbers(name) = 3589 b"HY000" "Window '{name}' with RANGE frame has ORDER BY expression of numeric type, INTERVAL bound value not allowed.";
    duplicate_window(name) = 3591 b"HY000" "Window '{name}' is defined twice.";
    window_by_position(name) = 3592 b"HY000" "Window '{name}': ORDER BY or PARTITION BY uses legacy position indication which is not supported, use expression.";
    window_function_here(name) = 3593 b"HY000" "You cannot use the window function '{name}' in this context.'";
    window_alias_here(name) = 3594 b"HY000" "You cannot use the alias '{name}' of an expression containing a window function in this context.'";
    window_nested_in_window(name) = 3595 b"HY000" "You cannot nest a window function in the specification of window '{name}'.";
    window_rows_by_interval(name) = 3596 b"HY000" "Window '{name}': INTERVAL can only be used with RANGE frames.";
    recursion_too_deep(rounds) = 3636 b"HY000" "Recursive query aborted after {rounds} iterations. Try increasing @@cte_max_recursion_depth to a larger value.";
    skip_or_nowait_conflict() = 3572 b"HY000" "Statement aborted because lock(s) could not be acquired immediately and NOWAIT is set.";
    undo_schema(schema) = 3680 b"HY000" "Failed to create schema directory '{schema}'";
    generated_function(column) = 3102 b"HY000" "Expression of generated column '{column}' contains a disallowed function.";
    generated_foreign_key(clause) = 3104 b"HY000" "Cannot define foreign key with {clause} clause on a generated column.";
    generated_value_given(column, table) = 3105 b"HY000" "The value specified for generated column '{column}' in table '{table}' is not allowed.";
    generated_unsupported(what) = 3106 b"HY000" "'{what}' is not supported for generated columns.";
    generated_not_prior() = 3107 b"HY000" "Generated column can refer only to generated columns defined prior to it.";
    functional_value_truncated(key, row) = 3751 b"01000" "Data truncated for functional index '{key}' at row {row}";
    functional_value_out_of_range(key, row) = 3752 b"22003" "Value is out of range for functional index '{key}' at row {row}";
    functional_json() = 3753 b"42000" "Cannot create a functional index on a function that returns a JSON or GEOMETRY value.";
    functional_auto_increment(key) = 3754 b"HY000" "Functional index '{key}' cannot refer to an auto-increment column.";
    functional_column(column) = 3755 b"HY000" "Cannot drop column '{column}' because it is used by a functional index. In order to drop the column, you must remove the functional index.";
    functional_primary() = 3756 b"HY000" "The primary key cannot be a functional index";
    functional_lob() = 3757 b"HY000" "Cannot create a functional index on an expression that returns a BLOB or TEXT. Please consider using CAST.";
    functional_function(key) = 3758 b"HY000" "Expression of functional index '{key}' contains a disallowed function.";
    functional_fulltext() = 3759 b"HY000" "Fulltext functional index is not supported.";
    functional_spatial() = 3760 b"HY000" "Spatial functional index is not supported.";
    functional_not_indexable(expression) = 3761 b"HY000" "The used storage engine cannot index the expression '{expression}'.";
    functional_plain_column() = 3762 b"HY000" "Functional index on a column is not supported. Consider using a regular index instead.";
    functional_row_value(key) = 3800 b"HY000" "Expression of functional index '{key}' cannot refer to a row value.";
    functional_dependency(column) = 3837 b"HY000" "Column '{column}' has a functional index dependency and cannot be dropped or renamed.";
    functional_json_is_no_number(key) = 3903 b"22018" "Invalid JSON value for CAST for functional index '{key}'.";
    functional_value_too_long(key) = 3907 b"22001" "Data too long for functional index '{key}'.";
    default_dependency(column, table) = 3766 b"HY000" "Column '{column}' of table '{table}' has a default value expression dependency and cannot be dropped or renamed.";
    generated_dependency(column) = 3108 b"HY000" "Column '{column}' has a generated column dependency.";
    generated_auto_increment(column) = 3109 b"HY000" "Generated column '{column}' cannot refer to auto-increment column.";
    foreign_key_virtual_column(name, column) = 3733 b"HY000" "Foreign key '{name}' uses virtual column '{column}' which is not supported.";
    generated_named_function(column, function) = 3763 b"HY000" "Expression of generated column '{column}' contains a disallowed function: {function}.";
    generated_row_value(column) = 3764 b"HY000" "Expression of generated column '{column}' cannot refer to a row value.";
    check_not_boolean(name) = 3812 b"HY000" "An expression of non-boolean type specified to a check constraint '{name}'.";
    column_check_other_column(name) = 3813 b"HY000" "Column check constraint '{name}' references other column.";
    check_named_function(name, function) = 3814 b"HY000" "An expression of a check constraint '{name}' contains disallowed function: {function}.";
    check_function(name) = 3815 b"HY000" "An expression of a check constraint '{name}' contains disallowed function.";
    check_variable(name) = 3816 b"HY000" "An expression of a check constraint '{name}' cannot refer to a user or system variable.";
    check_row_value(name) = 3817 b"HY000" "Check constraint '{name}' cannot refer to a row value.";
    check_auto_increment(name) = 3818 b"HY000" "Check constraint '{name}' cannot refer to an auto-increment column.";
    check_unknown_column(name, column) = 3820 b"HY000" "Check constraint '{name}' refers to non-existing column '{column}'.";
    check_not_found(name) = 3821 b"HY000" "Check constraint '{name}' is not found in the table.";
    duplicate_check_name(name) = 3822 b"HY000" "Duplicate check constraint name '{name}'.";
    check_on_action_column(column, name, foreign_key) = 3823 b"HY000" "Column '{column}' cannot be used in a check constraint '{name}': needed in a foreign key constraint '{foreign_key}' referential action.";
    constraint_name_not_unique(name) = 3939 b"HY000" "Table has multiple constraints with the name '{name}'. Please use constraint specific 'DROP' clause.";
    constraint_not_found(name) = 3940 b"HY000" "Constraint '{name}' does not exist.";
    constraint_always_enforced(name) = 3941 b"HY000" "Altering constraint enforcement is not supported for the constraint '{name}'. Enforcement state alter is not supported for the PRIMARY, UNIQUE and FOREIGN KEY type constraints.";
    column_used_by_check(name, column) = 3959 b"HY000" "Check constraint '{name}' uses column '{column}', hence column cannot be dropped or renamed.";
    check_constraint_violated(name) = 3819 b"HY000" "Check constraint '{name}' is violated.";
    default_not_prior(column) = 3767 b"HY000" "Default value expression of column '{column}' cannot refer to a column defined after it if that column is a generated column or has an expression as default value.";
    default_auto_increment(column) = 3768 b"HY000" "Default value expression of column '{column}' cannot refer to an auto-increment column.";
    default_function(column) = 3769 b"HY000" "Default value expression of column '{column}' contains a disallowed function.";
    default_named_function(column, function) = 3770 b"HY000" "Default value expression of column '{column}' contains a disallowed function: {function}.";
    default_row_value(column) = 3771 b"HY000" "Default value expression of column '{column}' cannot refer to a row value.";
    default_variable(column) = 3772 b"HY000" "Default value expression of column '{column}' cannot refer user or system variables.";
    default_of_computed() = 3773 b"HY000" "DEFAULT function cannot be used with default value expressions";
    invisible_only() = 4028 b"HY000" "A table must have at least one visible column.";
    client_interaction_timeout() = 4031 b"HY000" "The client was disconnected by the server because of inactivity. See wait_timeout and interactive_timeout for configuring this behavior.";
    server_memory_limit(limit, used) = 4081 b"HY000" "Global connection memory limit {limit} bytes exceeded. Consumed {used} bytes.";
    connection_memory_limit(limit, used) = 4082 b"HY000" "Connection memory limit {limit} bytes exceeded. Consumed {used} bytes.";
    function_does_not_exist(name) = 1305 b"42000" "FUNCTION {name} does not exist";
    regexp_index_out_of_bounds() = 3686 b"HY000" "Index out of bounds in regular expression search.";
    regexp_illegal_argument() = 3685 b"HY000" "Illegal argument to a regular expression.";
    regexp_syntax(line, character) = 3688 b"HY000" "Syntax error in regular expression on line {line}, character {character}.";
    regexp_bad_escape() = 3689 b"HY000" "Unrecognized escape sequence in regular expression.";
    regexp_mismatched_parenthesis() = 3691 b"HY000" "Mismatched parenthesis in regular expression.";
    regexp_bad_interval() = 3692 b"HY000" "Incorrect description of a {{min,max}} interval.";
    regexp_max_below_min() = 3693 b"HY000" "The maximum is less than the minumum in a {{min,max}} interval.";
    regexp_invalid_back_reference() = 3694 b"HY000" "Invalid back-reference in regular expression.";
    regexp_look_behind_limit() = 3695 b"HY000" "The look-behind assertion exceeds the limit in regular expression.";
    regexp_missing_bracket() = 3696 b"HY000" "The regular expression contains an unclosed bracket expression.";
    regexp_invalid_range() = 3697 b"HY000" "The regular expression contains an [x-y] character range where x comes after y.";
    regexp_stack_overflow() = 3698 b"HY000" "Overflow in the regular expression backtrack stack.";
    regexp_timeout() = 3699 b"HY000" "Timeout exceeded in regular expression match.";
    regexp_too_big() = 3700 b"HY000" "The regular expression pattern exceeds limits on size or complexity.";
    regexp_invalid_group_name() = 3887 b"HY000" "A capture group has an invalid name.";
    regexp_number_too_big() = 4007 b"HY000" "Decimal number in regular expression is too large.";
    group_concat_cut(row) = 1260 b"HY000" "Row {row} was cut by GROUP_CONCAT()";
    password_no_match() = 1133 b"42000" "Can't find any matching row in the user table";
    password_not_allowed() = 1131 b"42000" "You are using MySQL as an anonymous user and anonymous users are not allowed to change passwords";
    host_blocked(host) = 1130 b"HY000" "Host '{host}' is not allowed to connect to this MySQL server";
    aborted_connection(id, database, user, host, why) = 1184 b"08S01" "Aborted connection {id} to db: '{database}' user: '{user}' host: '{host}' ({why})";
    conflicting_read_lock() = 1223 b"HY000" "Can't execute the query because you have a conflicting read lock";
    lock_or_active_transaction() = 1192 b"HY000" "Can't execute the given command because you have active locked tables or an active transaction";
    unknown_key_cache(name) = 1284 b"HY000" "Unknown key cache '{name}'";
    no_alias_of_table_function() = 3667 b"42000" "Every table function must have an alias";
    nested_too_deeply(max, near, line) = 1436 b"HY000" "Thread stack overrun: the statement is nested more than {max} levels deep near '{near}' at line {line}";
    valid_range(range, near, line) = 1064 b"42000" "The valid range for {range}. Error near '{near}' at line {line}";
    number_out_of_range(near, line) = 1064 b"42000" "Number out of range near '{near}' at line {line}";
    wrong_hint(complaint) = 1064 b"42000" "{complaint}";
    change_not_updatable() = 1288 b"HY000" "The target table of the change is not updatable";
    counter_unreadable() = 1467 b"HY000" "Failed to read auto-increment value from storage engine";
    invalid_logarithm() = 3020 b"2201E" "Invalid argument for logarithm";
    mixed_with_group(position, place, column) = 1055 b"42000" "Expression #{position} of {place} is not in GROUP BY clause and contains nonaggregated column '{column}' which is not functionally dependent on columns in GROUP BY clause; this is incompatible with sql_mode=only_full_group_by";
    account_locked(user, host) = 3118 b"HY000" "Access denied for user '{user}'@'{host}'. Account is locked.";
    malformed_packet() = 1835 b"HY000" "Malformed communication packet.";
    no_open_cursor(id) = 1421 b"HY000" "The statement ({id}) has no open cursor.";
    long_data_too_long() = 1105 b"HY000" "Parameter of prepared statement which is set through mysql_send_long_data() is longer than 'max_allowed_packet' bytes";
    plugin_not_loaded(plugin) = 1524 b"HY000" "Plugin '{plugin}' is not loaded";
    cannot_revoke_all() = 1269 b"HY000" "Can't revoke all privileges for one or more of the requested users";
    no_such_trigger() = 1360 b"HY000" "Trigger does not exist";
    unknown_event(event) = 1539 b"HY000" "Unknown event '{event}'";
    no_binary_log() = 1381 b"HY000" "You are not using binary logging";
    no_replica_channel(channel) = 3074 b"HY000" "Replica channel '{channel}' does not exist.";
    wrong_size_number() = 1531 b"HY000" "A size parameter was incorrectly specified, either number or on the form 10M";
    size_number_too_large() = 1532 b"HY000" "The size number was correct but we don't allow the digit part to be more than 2 billion";
    autoextend_size_extent() = 4023 b"HY000" "AUTOEXTEND_SIZE should be a multiple of 4M";
    autoextend_size_range() = 4025 b"HY000" "AUTOEXTEND_SIZE value should be between 4M and 4096M";
    option_out_of_range(option, value, most) = 4074 b"HY000" "{option}={value} is outside the valid range [0,{most}]. {most} will be used.";
    too_many_windows(count, most) = 4086 b"HY000" "Too many windows in SELECT: {count}. Maximum allowed is {most}. Use named windows to share windows between window functions.";
    unresolved_in_locking_clause(table) = 3568 b"HY000" "Unresolved table name `{table}` in locking clause.";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_have_their_arguments() {
        let error = SqlError::duplicate_entry("7", "t.PRIMARY");
        assert_eq!(error.to_string(), "ERROR 1062 (23000): Duplicate entry '7' for key 't.PRIMARY'");
        assert_eq!(SqlError::deadlock().sqlstate_text(), "40001");
    }
}
