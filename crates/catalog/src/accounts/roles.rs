//! The graph of roles: which an account holds, which of them a session has active, and what they come to.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use turnstile_sys::relief;

use super::{Account, AccountName, Accounts, Privileges};

type ByName = BTreeMap<AccountName, Arc<Account>>;

/// A role that is held.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edge {
    /// The account or role that holds it.
    pub holder: AccountName,
    /// The role.
    pub role: AccountName,
    /// WITH ADMIN OPTION
    pub admin: bool,
}

impl Account {
    /// Adds what a role may do.
    fn take_over(&mut self, role: &Account) {
        self.global = self.global.with(role.global);
        for (database, held) in &role.databases {
            let own = self.databases.entry(database.clone()).or_default();
            *own = own.with(*held);
        }
        for (table, held) in &role.tables {
            self.tables.entry(table.clone()).or_default().take_over(held);
        }
    }

    /// Forgets roles.
    pub fn lose_roles(&mut self, roles: &BTreeSet<AccountName>) {
        self.roles.retain(|role, _| !roles.contains(role));
        self.default_roles.retain(|role| !roles.contains(role));
    }

    /// Whether it holds one of these roles, or would have it active when it connects.
    pub fn holds_any(&self, roles: &BTreeSet<AccountName>) -> bool {
        self.roles.keys().chain(&self.default_roles).any(|role| roles.contains(role))
    }
}

/// These accounts and all roles that they hold, directly or not, each once.
fn reach<'a>(accounts: &'a ByName, from: impl IntoIterator<Item = &'a AccountName>) -> Vec<&'a Arc<Account>> {
    let mut seen = BTreeSet::new();
    let mut next: VecDeque<&AccountName> = from.into_iter().collect();
    let mut found = Vec::new();
    while let Some(name) = next.pop_front() {
        if let Some(account) = accounts.get(name)
            && seen.insert(name)
        {
            found.push(account);
            next.extend(account.roles.keys().filter(|role| !seen.contains(role)));
        }
        relief::worked();
    }
    found
}

impl Accounts {
    /// Takes `mandatory_roles` over.
    pub fn set_mandatory(&self, roles: Vec<AccountName>) {
        *self.mandatory.write() = roles.into();
        self.version.fetch_add(1, Ordering::Release);
    }

    /// `mandatory_roles`, whether there are such accounts or not.
    pub fn mandatory(&self) -> Arc<[AccountName]> {
        self.mandatory.read().clone()
    }

    /// Those of `mandatory_roles` that an account holds: they are there, and not the account itself.
    pub fn mandatory_roles(&self, name: &AccountName) -> Vec<AccountName> {
        let accounts = self.by_name.read();
        // One that has come to hold SYSTEM_USER is nobody's without being granted.
        let counts = |role: &AccountName| accounts.get(role).is_some_and(|one| !guarded(&accounts, one));
        self.mandatory().iter().filter(|role| *role != name && counts(role)).cloned().collect()
    }

    /// Roles that an account holds, mandatory ones among them; none if it is gone. True: WITH ADMIN OPTION.
    pub fn held_roles(&self, name: &AccountName) -> BTreeMap<AccountName, bool> {
        let mandatory = self.mandatory_roles(name);
        let accounts = self.by_name.read();
        let Some(account) = accounts.get(name) else { return BTreeMap::new() };
        let mut held: BTreeMap<_, _> = mandatory.into_iter().map(|role| (role, false)).collect();
        held.extend(account.roles.iter().map(|(role, admin)| (role.clone(), *admin)));
        held
    }

    /// The roles that become active when an account connects.
    pub fn roles_at_login(&self, name: &AccountName, all: bool) -> Vec<AccountName> {
        let held = self.held_roles(name);
        let mandatory = self.mandatory();
        let default_roles = self.find(name).map(|account| account.default_roles.clone()).unwrap_or_default();
        let chosen = |role: &AccountName| all || default_roles.contains(role) || mandatory.contains(role);
        held.into_keys().filter(chosen).collect()
    }

    /// An account with what its active roles may do; None if it is gone. A role that it no longer holds
    /// counts for nothing.
    pub fn with_roles(&self, name: &AccountName, active: &[AccountName]) -> Option<Arc<Account>> {
        if active.is_empty() {
            return self.find(name);
        }
        let held = self.held_roles(name);
        let accounts = self.by_name.read();
        let account = accounts.get(name)?;
        let roles = reach(&accounts, active.iter().filter(|role| held.contains_key(*role)));
        if roles.is_empty() {
            return Some(account.clone());
        }
        let mut whole = (**account).clone();
        roles.into_iter().for_each(|role| whole.take_over(role));
        Some(Arc::new(whole))
    }

    /// The roles of SHOW GRANTS: those that an account holds itself, and those that it may administer by a
    /// role that is active.
    pub fn roles_shown(&self, account: &Account, active: &[AccountName]) -> BTreeSet<(bool, AccountName)> {
        let held = self.held_roles(&account.name);
        let accounts = self.by_name.read();
        let of_roles = reach(&accounts, active.iter().filter(|role| held.contains_key(*role)));
        let own = account.roles.iter().map(|(role, admin)| (*admin, role.clone()));
        let by_role = of_roles.iter().flat_map(|role| &role.roles).filter(|(_, admin)| **admin);
        own.chain(by_role.map(|(role, admin)| (*admin, role.clone()))).collect()
    }

    /// Everything that an account holds, directly or by a role, holder by holder.
    pub fn edges_from(&self, name: &AccountName) -> Vec<Edge> {
        let own = self.held_roles(name);
        let accounts = self.by_name.read();
        let edge = |holder: &AccountName, (role, admin): (&AccountName, &bool)| Edge {
            holder: holder.clone(),
            role: role.clone(),
            admin: *admin,
        };
        let mut edges: Vec<Edge> = own.iter().map(|one| edge(name, one)).collect();
        for role in reach(&accounts, own.keys()) {
            edges.extend(role.roles.iter().map(|one| edge(&role.name, one)));
        }
        edges
    }

    /// Whether the holder of these active roles may grant all of `roles`: it, or a role that is active, holds
    /// each WITH ADMIN OPTION.
    pub fn may_administer(&self, name: &AccountName, active: &[AccountName], roles: &[AccountName]) -> bool {
        let held = self.held_roles(name);
        let accounts = self.by_name.read();
        let of_roles = reach(&accounts, active.iter().filter(|role| held.contains_key(*role)));
        let own = held.iter().filter(|(_, admin)| **admin).map(|(role, _)| role);
        let by_roles = of_roles.iter().flat_map(|one| &one.roles).filter(|(_, admin)| **admin);
        let may: BTreeSet<&AccountName> = own.chain(by_roles.map(|(role, _)| role)).collect();
        roles.iter().all(|role| may.contains(role))
    }

    /// Whether one of these accounts holds SYSTEM_USER, itself or by a role that it holds.
    pub fn is_one_guarded(&self, names: &[AccountName]) -> bool {
        let accounts = self.by_name.read();
        reach(&accounts, names).iter().any(|account| account.global.has(Privileges::SYSTEM_USER))
    }

    /// Whether an account holds SYSTEM_USER, itself or by a role that it holds, active or not.
    pub fn is_guarded(&self, account: &Account) -> bool {
        guarded(&self.by_name.read(), account)
    }
}

fn guarded(accounts: &ByName, account: &Account) -> bool {
    let of_role = |role: &&Arc<Account>| role.global.has(Privileges::SYSTEM_USER);
    account.global.has(Privileges::SYSTEM_USER) || reach(accounts, account.roles.keys()).iter().any(of_role)
}

/// The accounts that a value of `mandatory_roles` names; None if it cannot be read.
pub fn roles_named(text: &str) -> Option<Vec<AccountName>> {
    let mut rest = text.trim_start();
    let mut roles = Vec::new();
    while !rest.is_empty() {
        let (user, after) = part(rest)?;
        let after = after.trim_start();
        let (host, after) = match after.strip_prefix('@') {
            Some(after) => part(after.trim_start())?,
            None => ("%".into(), after),
        };
        if user.is_empty() {
            return None;
        }
        roles.push(AccountName::new(&user, &host));
        rest = match after.trim_start() {
            "" => "",
            more => more.strip_prefix(',')?.trim_start(),
        };
        if rest.is_empty() && after.trim_end().ends_with(',') {
            return None;
        }
    }
    Some(roles)
}

/// A name, in quotes or bare, and what follows it.
fn part(text: &str) -> Option<(String, &str)> {
    let quote = text.chars().next().filter(|first| matches!(first, '`' | '\'' | '"'));
    let Some(quote) = quote else {
        let end = text.find(['@', ',', ' ', '\t', '\n']).unwrap_or(text.len());
        return (end > 0).then(|| (text[..end].to_string(), &text[end..]));
    };
    let mut name = String::new();
    let mut letters = text.char_indices().skip(1).peekable();
    while let Some((at, letter)) = letters.next() {
        if letter != quote {
            name.push(letter);
        } else if letters.peek().is_some_and(|(_, next)| *next == quote) {
            letters.next();
            name.push(quote);
        } else {
            return Some((name, &text[at + 1..]));
        }
    }
    None
}

#[cfg(test)]
mod tests;
