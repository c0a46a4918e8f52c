//! Tables of `mysql` about accounts, and those of it that are empty.

use super::Shape;

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
