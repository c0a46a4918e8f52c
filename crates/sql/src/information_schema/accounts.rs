//! Tables of the `mysql` database that administration tools read at their start: `user` and `db`, computed from the
//! accounts, and those about what does not exist here (routines, proxies), empty. Roles are in `roles.rs`. Privileges
//! of tables and columns are in `privileges.rs`. `time_zone` and its kin are filled by `zones.rs`. They cannot be
//! written: accounts change by CREATE USER, GRANT and their like.

use super::{Shape, row, text};
use crate::accounts::privileges::PRIVILEGES_LIST;
use crate::accounts::{Account, Privileges};
use crate::database::Database;
use crate::value::Value;

/// `mysql.user`.
pub(super) const USER: Shape = (
    "user",
    &[
        ("Host", 's'),
        ("User", 's'),
        ("Select_priv", 's'),
        ("Insert_priv", 's'),
        ("Update_priv", 's'),
        ("Delete_priv", 's'),
        ("Create_priv", 's'),
        ("Drop_priv", 's'),
        ("Reload_priv", 's'),
        ("Shutdown_priv", 's'),
        ("Process_priv", 's'),
        ("File_priv", 's'),
        ("Grant_priv", 's'),
        ("References_priv", 's'),
        ("Index_priv", 's'),
        ("Alter_priv", 's'),
        ("Show_db_priv", 's'),
        ("Super_priv", 's'),
        ("Create_tmp_table_priv", 's'),
        ("Lock_tables_priv", 's'),
        ("Execute_priv", 's'),
        ("Repl_slave_priv", 's'),
        ("Repl_client_priv", 's'),
        ("Create_view_priv", 's'),
        ("Show_view_priv", 's'),
        ("Create_routine_priv", 's'),
        ("Alter_routine_priv", 's'),
        ("Create_user_priv", 's'),
        ("Event_priv", 's'),
        ("Trigger_priv", 's'),
        ("Create_tablespace_priv", 's'),
        ("ssl_type", 's'),
        ("ssl_cipher", 's'),
        ("x509_issuer", 's'),
        ("x509_subject", 's'),
        ("max_questions", 'n'),
        ("max_updates", 'n'),
        ("max_connections", 'n'),
        ("max_user_connections", 'n'),
        ("plugin", 's'),
        ("authentication_string", 'T'),
        ("password_expired", 's'),
        ("password_last_changed", 'D'),
        ("password_lifetime", 'N'),
        ("account_locked", 's'),
        ("Create_role_priv", 's'),
        ("Drop_role_priv", 's'),
        ("Password_reuse_history", 'N'),
        ("Password_reuse_time", 'N'),
        ("Password_require_current", 'S'),
        ("User_attributes", 'T'),
    ],
);

/// `mysql.db`.
pub(super) const DB: Shape = (
    "db",
    &[
        ("Host", 's'),
        ("Db", 's'),
        ("User", 's'),
        ("Select_priv", 's'),
        ("Insert_priv", 's'),
        ("Update_priv", 's'),
        ("Delete_priv", 's'),
        ("Create_priv", 's'),
        ("Drop_priv", 's'),
        ("Grant_priv", 's'),
        ("References_priv", 's'),
        ("Index_priv", 's'),
        ("Alter_priv", 's'),
        ("Create_tmp_table_priv", 's'),
        ("Lock_tables_priv", 's'),
        ("Create_view_priv", 's'),
        ("Show_view_priv", 's'),
        ("Create_routine_priv", 's'),
        ("Alter_routine_priv", 's'),
        ("Execute_priv", 's'),
        ("Event_priv", 's'),
        ("Trigger_priv", 's'),
    ],
);

/// `mysql.global_grants`: the privileges that have no column in `user`.
pub(super) const GLOBAL_GRANTS: Shape =
    ("global_grants", &[("USER", 's'), ("HOST", 's'), ("PRIV", 's'), ("WITH_GRANT_OPTION", 's')]);

/// The privilege behind a column whose name ends in `_priv`; None for one that does not exist here.
fn privilege(column: &str) -> Option<Privileges> {
    let name = column.strip_suffix("_priv")?;
    Some(match name {
        "Grant" => Privileges::GRANT_OPTION,
        "Show_db" => Privileges::SHOW_DATABASES,
        "Create_tmp_table" => Privileges::CREATE_TEMPORARY_TABLES,
        "Repl_slave" => Privileges::REPLICATION_SLAVE,
        "Repl_client" => Privileges::REPLICATION_CLIENT,
        other => return Privileges::named(&other.to_ascii_uppercase().replace('_', " ")),
    })
}

fn granted(column: &str, held: Privileges) -> Value {
    text(if privilege(column).is_some_and(|wanted| held.has(wanted)) { "Y" } else { "N" })
}

fn yes(truth: bool) -> Value {
    text(if truth { "Y" } else { "N" })
}

/// Rows of `mysql.user`.
pub(super) fn users(db: &Database) -> Vec<Vec<Value>> {
    let accounts = db.accounts().list();
    let line = |account: &Account| USER.1.iter().map(|(name, _)| user_cell(account, name)).collect();
    accounts.iter().map(|account| line(account)).collect()
}

fn user_cell(account: &Account, column: &str) -> Value {
    match column {
        "Host" => text(&account.name.host),
        "User" => text(&account.name.user),
        "ssl_type" => text(if account.require_tls { "ANY" } else { "" }),
        "ssl_cipher" | "x509_issuer" | "x509_subject" => text(""),
        "max_questions" | "max_updates" | "max_connections" => Value::UInt(0),
        "max_user_connections" => Value::UInt(account.user_connections_max.into()),
        "plugin" => text(account.plugin.name()),
        "authentication_string" => text(String::from_utf8_lossy(&account.secret)),
        "password_expired" => yes(account.expired),
        "account_locked" => yes(account.locked),
        name if name.ends_with("_priv") => granted(name, account.global),
        _ => Value::Null,
    }
}

/// Rows of `mysql.db`.
pub(super) fn databases(db: &Database) -> Vec<Vec<Value>> {
    let mut rows = Vec::new();
    for account in db.accounts().list() {
        for (schema, held) in &account.databases {
            let cell = |name: &str| match name {
                "Host" => text(&account.name.host),
                "Db" => text(schema),
                "User" => text(&account.name.user),
                name => granted(name, *held),
            };
            rows.push(DB.1.iter().map(|(name, _)| cell(name)).collect());
        }
    }
    rows
}

/// Rows of `mysql.global_grants`.
pub(super) fn global_grants(db: &Database) -> Vec<Vec<Value>> {
    let mut rows = Vec::new();
    for account in db.accounts().list() {
        let dynamic = |one: Privileges| Privileges::DYNAMIC.has(one) && account.global.has(one);
        let held = PRIVILEGES_LIST.iter().filter(|(_, one, _)| dynamic(*one));
        rows.extend(held.map(|(name, one, _)| {
            let option = yes(account.global.has(one.handed_on()));
            row([text(&account.name.user), text(&account.name.host), text(name), option])
        }));
    }
    rows
}

/// Tables of the database `mysql` that hold nothing here.
pub(super) const EMPTY: &[Shape] = &[
    (
        "procs_priv",
        &[
            ("Host", 's'),
            ("Db", 's'),
            ("User", 's'),
            ("Routine_name", 's'),
            ("Routine_type", 's'),
            ("Grantor", 's'),
            ("Proc_priv", 's'),
            ("Timestamp", 'd'),
        ],
    ),
    (
        "proxies_priv",
        &[
            ("Host", 's'),
            ("User", 's'),
            ("Proxied_host", 's'),
            ("Proxied_user", 's'),
            ("With_grant", 'i'),
            ("Grantor", 's'),
            ("Timestamp", 'd'),
        ],
    ),
    ("time_zone", &[("Time_zone_id", 'n'), ("Use_leap_seconds", 's')]),
    ("time_zone_name", &[("Name", 's'), ("Time_zone_id", 'n')]),
    ("time_zone_transition", &[("Time_zone_id", 'n'), ("Transition_time", 'i'), ("Transition_type_id", 'n')]),
    (
        "time_zone_transition_type",
        &[
            ("Time_zone_id", 'n'),
            ("Transition_type_id", 'n'),
            ("Offset", 'i'),
            ("Is_DST", 'i'),
            ("Abbreviation", 's'),
        ],
    ),
    ("time_zone_leap_second", &[("Transition_time", 'i'), ("Correction", 'i')]),
    ("func", &[("name", 's'), ("ret", 'i'), ("dl", 's'), ("type", 's')]),
    ("plugin", &[("name", 's'), ("dl", 's')]),
];
