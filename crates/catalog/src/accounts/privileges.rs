//! Privileges as a set of bits, with the names GRANT knows.

/// A set of privileges.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Privileges(pub u64);

macro_rules! privileges {
    ($($constant:ident $bit:literal $name:literal $database:literal;)*) => {
        impl Privileges {
            $(
                #[doc = concat!("`", $name, "`")]
                pub const $constant: Privileges = Privileges(1 << $bit);
            )*
        }
        /// Name, privilege, and whether it can be granted for a database, in the order of SHOW GRANTS.
        pub const PRIVILEGES_LIST: &[(&str, Privileges, bool)] = &[$(($name, Privileges::$constant, $database)),*];
    };
}

privileges! {
    SELECT 0 "SELECT" true;
    INSERT 1 "INSERT" true;
    UPDATE 2 "UPDATE" true;
    DELETE 3 "DELETE" true;
    CREATE 4 "CREATE" true;
    DROP 5 "DROP" true;
    RELOAD 6 "RELOAD" false;
    SHUTDOWN 7 "SHUTDOWN" false;
    PROCESS 8 "PROCESS" false;
    FILE 9 "FILE" false;
    REFERENCES 10 "REFERENCES" true;
    INDEX 11 "INDEX" true;
    ALTER 12 "ALTER" true;
    SHOW_DATABASES 13 "SHOW DATABASES" false;
    SUPER 14 "SUPER" false;
    CREATE_TEMPORARY_TABLES 15 "CREATE TEMPORARY TABLES" true;
    LOCK_TABLES 16 "LOCK TABLES" true;
    EXECUTE 17 "EXECUTE" true;
    REPLICATION_SLAVE 18 "REPLICATION SLAVE" false;
    REPLICATION_CLIENT 19 "REPLICATION CLIENT" false;
    CREATE_VIEW 20 "CREATE VIEW" true;
    SHOW_VIEW 21 "SHOW VIEW" true;
    CREATE_ROUTINE 22 "CREATE ROUTINE" true;
    ALTER_ROUTINE 23 "ALTER ROUTINE" true;
    CREATE_USER 24 "CREATE USER" false;
    EVENT 25 "EVENT" true;
    TRIGGER 26 "TRIGGER" true;
    CREATE_TABLESPACE 27 "CREATE TABLESPACE" false;
    CREATE_ROLE 32 "CREATE ROLE" false;
    DROP_ROLE 33 "DROP ROLE" false;
    CONNECTION_ADMIN 28 "CONNECTION_ADMIN" false;
    PERSIST_RO_VARIABLES_ADMIN 30 "PERSIST_RO_VARIABLES_ADMIN" false;
    ROLE_ADMIN 34 "ROLE_ADMIN" false;
    SESSION_VARIABLES_ADMIN 35 "SESSION_VARIABLES_ADMIN" false;
    SYSTEM_USER 31 "SYSTEM_USER" false;
    SYSTEM_VARIABLES_ADMIN 29 "SYSTEM_VARIABLES_ADMIN" false;
    GRANT_OPTION 40 "GRANT OPTION" true;
}

/// Those that an error lists before GRANT.
const BEFORE_GRANT: Privileges = Privileges(Privileges::REFERENCES.0 - 1);

/// Privileges of MySQL that stand for what there is not here, or what another privilege stands for.
pub const UNKNOWN_HERE: &[&str] = &[
    "ALLOW_NONEXISTENT_DEFINER",
    "APPLICATION_PASSWORD_ADMIN",
    "AUDIT_ABORT_EXEMPT",
    "AUDIT_ADMIN",
    "AUTHENTICATION_POLICY_ADMIN",
    "BACKUP_ADMIN",
    "BINLOG_ADMIN",
    "BINLOG_ENCRYPTION_ADMIN",
    "CLONE_ADMIN",
    "CREATE_SPATIAL_REFERENCE_SYSTEM",
    "ENCRYPTION_KEY_ADMIN",
    "FIREWALL_EXEMPT",
    "FLUSH_OPTIMIZER_COSTS",
    "FLUSH_PRIVILEGES",
    "FLUSH_STATUS",
    "FLUSH_TABLES",
    "FLUSH_USER_RESOURCES",
    "GROUP_REPLICATION_ADMIN",
    "GROUP_REPLICATION_STREAM",
    "INNODB_REDO_LOG_ARCHIVE",
    "INNODB_REDO_LOG_ENABLE",
    "MANAGE_DATA_MASKING_POLICY",
    "OPTIMIZE_LOCAL_TABLE",
    "PASSWORDLESS_USER_ADMIN",
    "REPLICATION_APPLIER",
    "REPLICATION_SLAVE_ADMIN",
    "RESOURCE_GROUP_ADMIN",
    "RESOURCE_GROUP_USER",
    "SENSITIVE_VARIABLES_OBSERVER",
    "SERVICE_CONNECTION_ADMIN",
    "SET_ANY_DEFINER",
    "SET_USER_ID",
    "SHOW_ROUTINE",
    "TABLE_ENCRYPTION_ADMIN",
    "TELEMETRY_LOG_ADMIN",
    "TRANSACTION_GTID_TAG",
    "XA_RECOVER_ADMIN",
];

impl Privileges {
    /// Those that MySQL calls dynamic: they are granted on everything only, and listed apart from the others.
    pub const DYNAMIC: Privileges = Privileges(
        Privileges::CONNECTION_ADMIN.0
            | Privileges::PERSIST_RO_VARIABLES_ADMIN.0
            | Privileges::ROLE_ADMIN.0
            | Privileges::SESSION_VARIABLES_ADMIN.0
            | Privileges::SYSTEM_USER.0
            | Privileges::SYSTEM_VARIABLES_ADMIN.0,
    );

    /// Which privileges a row of the dictionary can hold: the number of the last entry of
    /// [`Privileges::later`].
    pub const EDITION: u8 = 4;

    /// Those that a row of an edition could not hold.
    pub fn later(edition: u8) -> Privileges {
        let sessions = Privileges::SESSION_VARIABLES_ADMIN;
        let roles = Privileges::CREATE_ROLE.with(Privileges::DROP_ROLE).with(Privileges::ROLE_ADMIN);
        let roles = roles.with(sessions);
        match edition {
            0 => roles.with(Privileges::PERSIST_RO_VARIABLES_ADMIN).with(Privileges::SYSTEM_USER),
            1 => roles,
            2 | 3 => sessions,
            _ => Privileges::NONE,
        }
    }

    /// Edition from which on the right to hand a dynamic privilege on is its own; before, GRANT OPTION was
    /// that too.
    pub const EDITION_OF_HANDING_ON: u8 = 3;

    /// The right to hand on those of these that are dynamic. Each has its own, which lies in the bit that is
    /// so many above it; GRANT OPTION is for the others.
    pub fn handed_on(self) -> Privileges {
        const BITS_ABOVE: u32 = 16;
        Privileges((self.0 & Privileges::DYNAMIC.0) << BITS_ABOVE)
    }

    /// What WITH GRANT OPTION gives beside these.
    pub fn option(self) -> Privileges {
        let dynamic_alone = self != Privileges::NONE && Privileges::DYNAMIC.has(self);
        self.handed_on().with(if dynamic_alone { Privileges::NONE } else { Privileges::GRANT_OPTION })
    }

    /// What it takes to grant or revoke these.
    pub fn to_pass(self) -> Privileges {
        let named = self.without(Privileges::DYNAMIC.handed_on());
        self.with(named.option())
    }

    /// Everything that can be granted, and the right to hand it on.
    pub fn everything() -> Privileges {
        let all = Privileges::all(false);
        all.with(all.option())
    }

    /// None.
    pub const NONE: Privileges = Privileges(0);

    /// Everything that can be granted globally, or for a database, GRANT OPTION aside.
    pub fn all(database: bool) -> Privileges {
        PRIVILEGES_LIST
            .iter()
            .filter(|(_, one, _)| *one != Privileges::GRANT_OPTION)
            .filter(|(_, _, at_database)| *at_database || !database)
            .fold(Privileges::NONE, |all, (_, one, _)| all.with(*one))
    }

    /// Everything that can be granted for a table, GRANT OPTION aside.
    pub fn all_of_tables() -> Privileges {
        let parts = [
            Privileges::SELECT,
            Privileges::INSERT,
            Privileges::UPDATE,
            Privileges::DELETE,
            Privileges::CREATE,
            Privileges::DROP,
            Privileges::REFERENCES,
            Privileges::INDEX,
            Privileges::ALTER,
            Privileges::CREATE_VIEW,
            Privileges::SHOW_VIEW,
            Privileges::TRIGGER,
        ];
        parts.into_iter().fold(Privileges::NONE, Privileges::with)
    }

    /// Everything that can be granted for a column.
    pub fn all_of_columns() -> Privileges {
        Privileges::SELECT.with(Privileges::INSERT).with(Privileges::UPDATE).with(Privileges::REFERENCES)
    }

    /// By its name in upper case.
    pub fn named(name: &str) -> Option<Privileges> {
        PRIVILEGES_LIST.iter().find(|(known, _, _)| *known == name).map(|(_, one, _)| *one)
    }

    /// Their names as an error lists them.
    pub fn in_words(self) -> String {
        let front = names(Privileges(self.0 & BEFORE_GRANT.0));
        let grant = if self.has(Privileges::GRANT_OPTION) { "GRANT" } else { "" };
        let behind = names(self.without(BEFORE_GRANT));
        let listed: Vec<&str> =
            [&*front, grant, &*behind].into_iter().filter(|one| !one.is_empty()).collect();
        listed.join(", ")
    }

    /// Both.
    pub fn with(self, other: Privileges) -> Privileges {
        Privileges(self.0 | other.0)
    }

    /// These without those.
    pub fn without(self, other: Privileges) -> Privileges {
        Privileges(self.0 & !other.0)
    }

    /// All of `other` are in these.
    pub fn has(self, other: Privileges) -> bool {
        self.0 & other.0 == other.0
    }

    /// The list GRANT would take, `USAGE` for none. On everything, those that are dynamic are left out.
    pub fn list(self, database: bool) -> String {
        if database && self.has(Privileges::all(true)) {
            return "ALL PRIVILEGES".into();
        }
        let text = names(self.without(Privileges::DYNAMIC));
        if text.is_empty() { "USAGE".into() } else { text }
    }

    /// The dynamic ones among them that can be handed on, or those that cannot, as GRANT would take them;
    /// empty if there are none.
    pub fn list_dynamic(self, handed_on: bool) -> String {
        let known = PRIVILEGES_LIST.iter().map(|(name, one, _)| (*name, *one));
        let listed = known.filter(|(_, one)| Privileges::DYNAMIC.has(*one) && self.has(*one));
        let listed = listed.filter(|(_, one)| self.has(one.handed_on()) == handed_on);
        listed.map(|(name, _)| name).collect::<Vec<_>>().join(",")
    }
}

fn names(set: Privileges) -> String {
    let known =
        PRIVILEGES_LIST.iter().filter(|(_, one, _)| *one != Privileges::GRANT_OPTION && set.has(*one));
    known.map(|(name, _, _)| *name).collect::<Vec<_>>().join(", ")
}
