#![doc = include_str!("accounts/README.md")]

mod grants;
pub mod hash;
mod host;
mod pattern;
pub mod privileges;
mod rights;
mod roles;
mod row;
mod table_rights;

use crate::mdl::{Hold, MetadataLock, Mode, Patience};
pub use grants::grants;
use parking_lot::{Mutex, RwLock};
pub use pattern::{like, matches};
use pattern::{plain_name, specificity};
pub use privileges::Privileges;
pub use rights::{KnownRights, Rights};
pub use roles::{Edge, roles_named};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
pub use table_rights::{TableKey, TableRights};
use turnstile_syntax::ast::quote_name;
use turnstile_values::error::SqlResult;

/// `'user'@'host'` of an account.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct AccountName {
    /// The user, empty for an anonymous account.
    pub user: String,
    /// The host or pattern, in lower case.
    pub host: String,
}

impl AccountName {
    /// From its parts.
    pub fn new(user: &str, host: &str) -> AccountName {
        AccountName { user: user.into(), host: host.to_ascii_lowercase() }
    }

    /// As CURRENT_USER() shows it.
    pub fn text(&self) -> String {
        format!("{}@{}", self.user, self.host)
    }

    /// As GRANT takes it: `` `user`@`host` ``.
    pub fn quoted(&self) -> String {
        format!("{}@{}", quote_name(&self.user), quote_name(&self.host))
    }
}

/// How an account proves itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Plugin {
    /// `mysql_native_password`
    Native,
    /// `caching_sha2_password`
    CachingSha2,
}

impl Plugin {
    /// As the protocol names it.
    pub fn name(self) -> &'static str {
        match self {
            Plugin::Native => "mysql_native_password",
            Plugin::CachingSha2 => "caching_sha2_password",
        }
    }

    /// By its name.
    pub fn named(name: &str) -> Option<Plugin> {
        [Plugin::Native, Plugin::CachingSha2]
            .into_iter()
            .find(|plugin| plugin.name().eq_ignore_ascii_case(name))
    }
}

/// Tells an account from an earlier one of the same name. It is given when the account is made or read, and
/// not kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct AccountId(u64);

impl AccountId {
    /// One that no account has had since the process began; none has the default.
    fn next() -> AccountId {
        static LAST: AtomicU64 = AtomicU64::new(0);
        AccountId(LAST.fetch_add(1, Ordering::Relaxed) + 1)
    }
}

/// One account.
#[derive(Debug)]
pub struct Account {
    /// Which of those that have had its name.
    pub id: AccountId,
    /// Its name.
    pub name: AccountName,
    /// How it proves itself.
    pub plugin: Plugin,
    /// The stored hash; empty for no password.
    pub secret: Vec<u8>,
    /// ACCOUNT LOCK
    pub locked: bool,
    /// REQUIRE SSL
    pub require_tls: bool,
    /// WITH MAX_USER_CONNECTIONS; 0 for none of its own.
    pub user_connections_max: u32,
    /// PASSWORD EXPIRE: nobody gets in before it has a new password.
    pub expired: bool,
    /// Privileges on everything.
    pub global: Privileges,
    /// Privileges by database (or pattern).
    pub databases: BTreeMap<String, Privileges>,
    /// Privileges by table.
    pub tables: BTreeMap<TableKey, TableRights>,
    /// Roles it holds; true: WITH ADMIN OPTION.
    pub roles: BTreeMap<AccountName, bool>,
    /// Roles that become active when it connects.
    pub default_roles: BTreeSet<AccountName>,
    fast: Mutex<Option<[u8; 32]>>,
}

impl Clone for Account {
    fn clone(&self) -> Account {
        Account {
            id: self.id,
            name: self.name.clone(),
            plugin: self.plugin,
            secret: self.secret.clone(),
            locked: self.locked,
            require_tls: self.require_tls,
            user_connections_max: self.user_connections_max,
            expired: self.expired,
            global: self.global,
            databases: self.databases.clone(),
            tables: self.tables.clone(),
            roles: self.roles.clone(),
            default_roles: self.default_roles.clone(),
            fast: Mutex::new(None),
        }
    }
}

impl Account {
    /// An account without password and privileges.
    pub fn new(name: AccountName) -> Account {
        Account {
            id: AccountId::next(),
            name,
            plugin: Plugin::CachingSha2,
            secret: Vec::new(),
            locked: false,
            require_tls: false,
            user_connections_max: 0,
            expired: false,
            global: Privileges::NONE,
            databases: BTreeMap::new(),
            tables: BTreeMap::new(),
            roles: BTreeMap::new(),
            default_roles: BTreeSet::new(),
            fast: Mutex::new(None),
        }
    }

    /// It has no password.
    pub fn is_open(&self) -> bool {
        self.secret.is_empty()
    }

    /// Checks the answer to `nonce` (20 bytes) of `mysql_native_password`.
    pub fn check_native(&self, nonce: &[u8], response: &[u8]) -> bool {
        self.plugin == Plugin::Native && hash::check_native(&self.secret, nonce, response)
    }

    /// Checks the fast answer of `caching_sha2_password`; None when the full exchange is needed.
    pub fn check_sha2_fast(&self, nonce: &[u8], response: &[u8]) -> Option<bool> {
        if self.secret.is_empty() || response.is_empty() {
            return Some(self.secret.is_empty() && response.is_empty());
        }
        let fast = (*self.fast.lock())?;
        hash::check_sha2_fast(&fast, nonce, response).then_some(true)
    }

    /// Checks a password in clear (over TLS or a Unix socket) and remembers it for the fast exchange. Takes
    /// about a millisecond for `caching_sha2_password`: that is what makes guessing slow.
    pub fn check_clear(&self, password: &[u8]) -> bool {
        match self.plugin {
            Plugin::Native => hash::equal(&hash::native_hash(password), &self.secret),
            Plugin::CachingSha2 => {
                let right = hash::check_sha2(&self.secret, password);
                if right && !password.is_empty() {
                    *self.fast.lock() = Some(hash::sha2_fast(password));
                }
                right
            }
        }
    }

    /// Sets the password in clear.
    pub fn set_password(&mut self, password: &[u8]) {
        self.secret = match self.plugin {
            Plugin::Native => hash::native_hash(password),
            Plugin::CachingSha2 => hash::sha2_hash(password, &hash::salt()),
        };
        *self.fast.lock() = None;
        self.expired = false;
    }

    /// Whether it has all of `wanted` on `database` (on everything, for None).
    pub fn may(&self, wanted: Privileges, database: Option<&str>) -> bool {
        self.global.has(wanted) || database.is_some_and(|database| self.on(database).has(wanted))
    }

    /// What it holds on a database: besides what it holds on everything, what the most specific pattern that
    /// fits gives it. Patterns of its active roles are among them.
    pub fn on(&self, database: &str) -> Privileges {
        let fitting = self.databases.iter().filter(|(pattern, _)| matches(pattern, database));
        // Of equal ones the first: `min_by_key` keeps it.
        let closest = fitting.min_by_key(|(pattern, _)| std::cmp::Reverse(specificity(pattern)));
        closest.map_or(self.global, |(_, granted)| self.global.with(*granted))
    }

    /// What it holds on every database that a pattern of GRANT means. Of other patterns only the same one
    /// counts: whether one pattern covers another is not worked out.
    pub fn on_pattern(&self, pattern: &str) -> Privileges {
        match plain_name(pattern) {
            Some(name) => self.on(&name),
            None => self.global.with(self.databases.get(pattern).copied().unwrap_or_default()),
        }
    }

    /// What it holds on a table and its columns besides what it holds on the database.
    pub fn on_table(&self, database: &str, table: &str) -> Option<&TableRights> {
        // An account has few tables of its own or none: a key to look up would be two allocations.
        let mut own = self.tables.iter();
        own.find(|((schema, name), _)| schema == database && name == table).map(|(_, rights)| rights)
    }

    /// Whether it has any privilege on `database` or a table of it.
    pub fn may_see(&self, database: &str) -> bool {
        let of_databases = Privileges::all(true).with(Privileges::GRANT_OPTION);
        self.on(database).0 & of_databases.0 != 0 || self.tables.keys().any(|(schema, _)| schema == database)
    }
}

/// All accounts.
#[derive(Debug)]
pub struct Accounts {
    by_name: RwLock<BTreeMap<AccountName, Arc<Account>>>,
    /// Changes with every account; sessions look their rights up again by it.
    version: AtomicU64,
    /// `mandatory_roles`
    mandatory: RwLock<Arc<[AccountName]>>,
    /// Statements that change accounts take it exclusively.
    mdl: Arc<MetadataLock>,
    decoy: OnceLock<Decoy>,
}

/// Passwords that nobody knows.
#[derive(Debug)]
struct Decoy {
    seed: [u8; hash::SALT_LEN],
    native: Vec<u8>,
    sha2: Vec<u8>,
}

impl Default for Accounts {
    fn default() -> Accounts {
        Accounts {
            by_name: RwLock::default(),
            version: AtomicU64::new(1),
            mandatory: RwLock::new(Arc::new([])),
            mdl: Arc::default(),
            decoy: OnceLock::new(),
        }
    }
}

impl Accounts {
    /// The account for a client: `host` is its address, or `localhost` for a Unix socket or the loopback
    /// interface.
    pub fn authenticate(&self, user: &str, host: &str) -> Option<Arc<Account>> {
        let accounts = self.by_name.read();
        let fits =
            accounts.values().filter(|account| account.name.user.is_empty() || account.name.user == user);
        let here = fits.filter(|account| host::fits(&account.name.host, host));
        here.max_by_key(|account| (host::specificity(&account.name.host), !account.name.user.is_empty()))
            .cloned()
    }

    /// An account for who has none: its login looks and takes like that of an account with a password, by a
    /// plugin that stays the same for a name. Whoever uses it must not let its client in.
    pub fn stand_in(&self, user: &str) -> Arc<Account> {
        let decoy = self.decoy();
        let mut account = Account::new(AccountName::new(user, ""));
        let plugins = self.by_name.read();
        let native = plugins.values().filter(|one| one.plugin == Plugin::Native && !one.is_open()).count();
        let sha2 = plugins.values().filter(|one| one.plugin == Plugin::CachingSha2 && !one.is_open()).count();
        let chosen = hash::sha256(&[&decoy.seed, user.as_bytes()])[0];
        if native > 0 && (sha2 == 0 || chosen & 1 == 1) {
            account.plugin = Plugin::Native;
            account.secret.clone_from(&decoy.native);
        } else {
            account.secret.clone_from(&decoy.sha2);
        }
        Arc::new(account)
    }

    /// The work of checking a password in clear, to no end.
    pub fn waste_time_on(&self, password: &[u8]) {
        std::hint::black_box(hash::check_sha2(&self.decoy().sha2, password));
    }

    fn decoy(&self) -> &Decoy {
        self.decoy.get_or_init(|| {
            let seed = hash::salt();
            Decoy { seed, native: hash::native_hash(&seed), sha2: hash::sha2_hash(&seed, &hash::salt()) }
        })
    }

    /// One account by its exact name.
    pub fn find(&self, name: &AccountName) -> Option<Arc<Account>> {
        self.by_name.read().get(name).cloned()
    }

    /// Whether the account of this name is another than it was.
    pub fn is_another(&self, name: &AccountName, id: AccountId) -> bool {
        self.by_name.read().get(name).is_some_and(|account| account.id != id)
    }

    /// All of them by name.
    pub fn list(&self) -> Vec<Arc<Account>> {
        self.by_name.read().values().cloned().collect()
    }

    /// Adds or replaces.
    pub fn put(&self, account: Account) {
        let mut accounts = self.by_name.write();
        accounts.insert(account.name.clone(), Arc::new(account));
        self.version.fetch_add(1, Ordering::Release);
    }

    /// The right to change accounts, once nobody else has it.
    pub async fn begin_change(&self, patience: &mut Patience<'_>) -> SqlResult<Changing> {
        Ok(Changing { _gate: self.mdl.lock(Mode::Exclusive, patience).await? })
    }

    /// Takes over the changes of one statement; None: the account is gone.
    pub fn change(&self, _: Changing, changes: BTreeMap<AccountName, Option<Arc<Account>>>) {
        let mut replaced = Vec::with_capacity(changes.len());
        let mut accounts = self.by_name.write();
        for (name, change) in changes {
            replaced.extend(match change {
                Some(account) => accounts.insert(name, account),
                None => accounts.remove(&name),
            });
        }
        self.version.fetch_add(1, Ordering::Release);
        drop(accounts);
        // Those who asked meanwhile have waited long enough without this.
        drop(replaced);
    }

    /// A number that changes whenever an account does. It is never 0.
    pub fn version(&self) -> u64 {
        self.version.load(Ordering::Acquire)
    }
}

/// Held by the one statement that changes accounts; what it has read nobody else changes meanwhile.
pub struct Changing {
    _gate: Hold,
}

#[cfg(test)]
impl Changing {
    /// Of accounts that nobody else knows.
    fn alone() -> Changing {
        Changing {
            _gate: Arc::<MetadataLock>::default().try_lock_for_user().expect("a new metadata lock is free"),
        }
    }
}

#[cfg(test)]
mod tests;
