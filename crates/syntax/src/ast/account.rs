//! Accounts and privileges.

use super::{Name, Text};

/// `'user'@'host'`
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct UserName {
    /// The user.
    pub user: Name,
    /// The host, lower case; `%` when not written. For CURRENT_USER both are empty, see
    /// [`UserName::is_current`].
    pub host: Name,
}

impl UserName {
    /// CURRENT_USER: the account that runs the statement (an anonymous account always has a host).
    #[must_use]
    pub fn is_current(&self) -> bool {
        self.user.is_empty() && self.host.is_empty()
    }
}

/// How an account proves itself.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Authentication {
    /// BY 'password': in clear.
    Password(Text),
    /// BY RANDOM PASSWORD
    Random,
    /// AS 'hash', or `IDENTIFIED BY PASSWORD 'hash'`
    Hash(Text),
}

/// An account in CREATE USER and ALTER USER.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct UserSpec {
    /// The account.
    pub name: UserName,
    /// WITH plugin
    pub plugin: Option<Name>,
    /// BY or AS
    pub authentication: Option<Authentication>,
    /// REPLACE 'the present password'
    pub replaces: Option<Text>,
}

/// CREATE USER and ALTER USER.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct UserStatement {
    /// ALTER instead of CREATE.
    pub alter: bool,
    /// IF NOT EXISTS (create), IF EXISTS (alter)
    pub if_exists_clause: bool,
    /// The accounts.
    pub users: Vec<UserSpec>,
    /// ACCOUNT LOCK (true), UNLOCK (false)
    pub lock: Option<bool>,
    /// REQUIRE SSL (true), NONE (false)
    pub require_tls: Option<bool>,
    /// WITH MAX_USER_CONNECTIONS
    pub user_connections_max: Option<u64>,
    /// PASSWORD EXPIRE without an interval.
    pub password_expired: bool,
    /// CREATE USER ... DEFAULT ROLE: granted, too.
    pub default_roles: Vec<UserName>,
    /// Something is written behind the accounts, whether it changes anything or not.
    pub has_options: bool,
}

impl UserStatement {
    /// Whether anything is said of the accounts but their passwords in clear.
    #[must_use]
    pub fn changes_more_than_password(&self) -> bool {
        let by_plugin = |user: &UserSpec| {
            user.plugin.is_some() || matches!(user.authentication, Some(Authentication::Hash(_)))
        };
        self.has_options || self.users.iter().any(by_plugin)
    }
}

/// A privilege, upper case words with single spaces (`SELECT`, `CREATE TEMPORARY TABLES`, `ALL PRIVILEGES`,
/// `CONNECTION_ADMIN`), or a role's name as written when it is not known as a privilege.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Privilege {
    /// The privilege.
    pub name: Name,
    /// Only these columns; empty means all.
    pub columns: Vec<Name>,
    /// The account that it names, if it can be a role.
    pub role: Option<UserName>,
}

/// Where a privilege holds.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum PrivilegeLevel {
    /// `*.*`
    Global,
    /// `*`: the current database.
    CurrentSchema,
    /// `schema.*` (may contain `_` and `%` wildcards)
    Schema(Name),
    /// `[schema.]table`
    Table {
        /// The database, when written.
        schema: Option<Name>,
        /// The table.
        table: Name,
    },
    /// `ON PROCEDURE ...` and `ON FUNCTION ...`
    Routine {
        /// The database, when written.
        schema: Option<Name>,
        /// The routine.
        name: Name,
    },
}

/// GRANT privileges ON level TO users.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Grant {
    /// What.
    pub privileges: Vec<Privilege>,
    /// Where.
    pub level: PrivilegeLevel,
    /// To whom.
    pub users: Vec<UserName>,
    /// WITH GRANT OPTION
    pub grant_option: bool,
}

/// REVOKE privileges ON level FROM users.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Revoke {
    /// What; `ALL PRIVILEGES` and `GRANT OPTION` together, without a level, means everything everywhere.
    pub privileges: Vec<Privilege>,
    /// Where; None when everything is revoked.
    pub level: Option<PrivilegeLevel>,
    /// From whom.
    pub users: Vec<UserName>,
    /// IF EXISTS
    pub if_exists: bool,
    /// IGNORE UNKNOWN USER
    pub ignore_unknown_user: bool,
}

impl Revoke {
    /// Whether it takes away all that is held everywhere, or on `*.*`: who may change accounts may do so, and
    /// nobody else, whatever they hold themselves.
    pub fn is_of_all(&self) -> bool {
        let all = |one: &Privilege| matches!(&*one.name, "ALL" | "ALL PRIVILEGES");
        match self.level {
            None => true,
            Some(PrivilegeLevel::Global) => self.privileges.iter().any(all),
            Some(_) => false,
        }
    }
}

/// Which roles.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum RoleChoice {
    /// NONE
    None,
    /// DEFAULT: those that become active at login.
    Default,
    /// ALL that are held.
    All,
    /// ALL EXCEPT these.
    AllExcept(Vec<UserName>),
    /// These.
    These(Vec<UserName>),
}

/// A statement about roles.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum RoleStatement {
    /// CREATE ROLE
    Create {
        /// The roles.
        roles: Vec<UserName>,
        /// IF NOT EXISTS
        if_not_exists: bool,
    },
    /// DROP ROLE
    Drop {
        /// The roles.
        roles: Vec<UserName>,
        /// IF EXISTS
        if_exists: bool,
    },
    /// GRANT roles TO users
    Grant {
        /// What.
        roles: Vec<UserName>,
        /// To whom.
        users: Vec<UserName>,
        /// WITH ADMIN OPTION
        admin: bool,
    },
    /// REVOKE roles FROM users
    Revoke {
        /// What.
        roles: Vec<UserName>,
        /// From whom.
        users: Vec<UserName>,
        /// IF EXISTS
        if_exists: bool,
        /// IGNORE UNKNOWN USER
        ignore_unknown_user: bool,
    },
    /// SET ROLE
    Set(RoleChoice),
    /// SET DEFAULT ROLE, ALTER USER ... DEFAULT ROLE
    SetDefault {
        /// Which; never [`RoleChoice::Default`] nor [`RoleChoice::AllExcept`].
        choice: RoleChoice,
        /// Whose.
        users: Vec<UserName>,
    },
}
