//! What a session's account may do at one moment. An account that has been dropped or renamed away may do
//! nothing: absent means no.

use std::sync::Arc;

use super::{Account, AccountName, Accounts, Privileges, TableRights};

/// What an account may do, as of one moment.
#[derive(Clone, Debug, Default)]
pub struct Rights {
    /// Private, so that nobody can take the absent account for one that needs no check.
    account: Option<Arc<Account>>,
}

impl Rights {
    /// Those of the account of this name with these roles active; none if there is no such account.
    pub fn of(accounts: &Accounts, name: &AccountName, active: &[AccountName]) -> Rights {
        Rights { account: accounts.with_roles(name, active) }
    }

    /// All there are.
    pub fn everything() -> Rights {
        let mut account = Account::new(AccountName::new("root", "localhost"));
        account.global = Privileges::everything();
        Rights { account: Some(Arc::new(account)) }
    }

    /// Whether the account has all of `wanted` on `database` (on everything, for None).
    pub fn may(&self, wanted: Privileges, database: Option<&str>) -> bool {
        self.account.as_ref().is_some_and(|account| account.may(wanted, database))
    }

    /// Whether it has one of these on everything.
    pub fn may_any(&self, wanted: &[Privileges]) -> bool {
        wanted.iter().any(|one| self.may(*one, None))
    }

    /// Whether it has any privilege on `database`.
    pub fn may_see(&self, database: &str) -> bool {
        self.account.as_ref().is_some_and(|account| account.may_see(database))
    }

    /// What it holds on a database.
    pub fn on(&self, database: &str) -> Privileges {
        self.account.as_ref().map_or(Privileges::NONE, |account| account.on(database))
    }

    /// Whether it has any privilege on all of a table that can be held on tables: then it may know what
    /// refers to it.
    pub fn may_know_table(&self, database: &str, table: &str) -> bool {
        let own = self.on_table(database, table).map_or(Privileges::NONE, |rights| rights.whole);
        self.on(database).with(own).0 & Privileges::all_of_tables().0 != 0
    }

    /// Whether it has any privilege that can be held on tables, on a table or a column of it: then lists name
    /// the table.
    pub fn may_see_table(&self, database: &str, table: &str) -> bool {
        self.may_know_table(database, table) || self.on_table(database, table).is_some()
    }

    /// Whether it may ask how a table is built: by SELECT on its database, or by anything that it holds on
    /// the table itself.
    pub fn may_look_into_table(&self, database: &str, table: &str) -> bool {
        self.on(database).has(Privileges::SELECT) || self.on_table(database, table).is_some()
    }

    /// What it holds on a table and its columns besides what it holds on the database.
    pub fn on_table(&self, database: &str, table: &str) -> Option<&TableRights> {
        self.account.as_ref().and_then(|account| account.on_table(database, table))
    }

    /// What it holds on one column of a table, by the database, the table or the column.
    pub fn on_column(&self, database: &str, table: &str, column: &str) -> Privileges {
        let own = self.on_table(database, table);
        let own = own.map_or(Privileges::NONE, |rights| rights.whole.with(rights.on_column(column)));
        self.on(database).with(own)
    }

    /// What it holds on all databases whose names fit a pattern of GRANT; None for everything.
    pub fn on_pattern(&self, pattern: Option<&str>) -> Privileges {
        let Some(account) = &self.account else { return Privileges::NONE };
        pattern.map_or(account.global, |pattern| account.on_pattern(pattern))
    }
}

/// A session's rights, looked up again when an account has changed, and what they come to for the database
/// asked about last.
#[derive(Debug, Default)]
pub struct KnownRights {
    /// [`Accounts::version`] of the look; 0 for none yet.
    version: u64,
    rights: Rights,
    /// Database asked about last, and what is held there.
    last: Option<(Box<str>, Privileges)>,
    /// Number of the [`UseList`](turnstile_plan::plan::uses::UseList) that these rights have last been found
    /// to allow; 0 for none.
    passed: u64,
}

impl KnownRights {
    /// Whether these rights are those of now and have been found to allow what the list of this number uses.
    #[inline]
    pub fn has_passed(&self, accounts: &Accounts, number: u64) -> bool {
        self.passed == number && self.version == accounts.version()
    }

    /// Which look these rights are of.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// Remembers that the rights of this look do. Nothing if there was another look meanwhile: part of the
    /// list may have been asked about before.
    pub fn note_passed(&mut self, version: u64, number: u64) {
        if version == self.version {
            self.passed = number;
        }
    }

    /// The rights as they are now.
    pub fn now(&mut self, accounts: &Accounts, look: impl FnOnce() -> Rights) -> &Rights {
        // Read before the look, so that a change in between is seen the next time.
        let version = accounts.version();
        if version != self.version {
            *self = KnownRights { version, rights: look(), last: None, passed: 0 };
        }
        &self.rights
    }

    /// What is held on a database now.
    pub fn on(&mut self, accounts: &Accounts, look: impl FnOnce() -> Rights, database: &str) -> Privileges {
        self.now(accounts, look);
        if let Some((known, held)) = &self.last
            && **known == *database
        {
            return *held;
        }
        let held = self.rights.on(database);
        self.last = Some((database.into(), held));
        held
    }
}
