//! The graph of roles, and the text of `mandatory_roles`.

use super::*;
use crate::accounts::Changing;

fn name(user: &str) -> AccountName {
    AccountName::new(user, "%")
}

/// Accounts of these names, each with the roles it holds.
fn accounts(list: &[(&str, &[&str])]) -> Accounts {
    let accounts = Accounts::default();
    for (user, roles) in list {
        let mut account = Account::new(name(user));
        account.roles = roles.iter().map(|role| (name(role), false)).collect();
        accounts.put(account);
    }
    accounts
}

fn grant(accounts: &Accounts, user: &str, held: Privileges) {
    let mut account = (*accounts.find(&name(user)).expect("it is there")).clone();
    account.global = held;
    accounts.put(account);
}

#[test]
fn active_roles_count_while_they_are_held() {
    let accounts = accounts(&[("u", &["a"]), ("a", &["b"]), ("b", &[]), ("c", &[])]);
    grant(&accounts, "b", Privileges::SELECT);
    grant(&accounts, "c", Privileges::PROCESS);
    let held = |active: &[&str]| {
        let active: Vec<_> = active.iter().map(|role| name(role)).collect();
        accounts.with_roles(&name("u"), &active).map(|account| account.global)
    };
    assert_eq!(held(&[]), Some(Privileges::NONE));
    assert_eq!(held(&["a"]), Some(Privileges::SELECT), "what a role holds counts with it");
    assert_eq!(held(&["b"]), Some(Privileges::NONE), "held by a role only");
    assert_eq!(held(&["c"]), Some(Privileges::NONE), "not held");
    accounts.set_mandatory(vec![name("c"), name("nobody")]);
    assert_eq!(held(&["c"]), Some(Privileges::PROCESS));
    accounts.set_mandatory(Vec::new());
    assert_eq!(held(&["c"]), Some(Privileges::NONE), "no longer mandatory");
    accounts.change(Changing::alone(), BTreeMap::from([(name("b"), None)]));
    assert_eq!(held(&["a"]), Some(Privileges::NONE), "gone");
    accounts.change(Changing::alone(), BTreeMap::from([(name("u"), None)]));
    assert_eq!(held(&["a"]), None);
}

#[test]
fn a_cycle_ends() {
    let accounts = accounts(&[("u", &["a"]), ("a", &["b"]), ("b", &["a", "u"])]);
    grant(&accounts, "b", Privileges::SELECT);
    let found = accounts.with_roles(&name("u"), &[name("a")]).expect("it is there");
    assert_eq!(found.global, Privileges::SELECT);
    assert_eq!(accounts.edges_from(&name("u")).len(), 5);
}

#[test]
fn mandatory_roles_are_read_as_names_of_accounts() {
    let read = |text| {
        roles_named(text).map(|list| list.iter().map(AccountName::quoted).collect::<Vec<_>>().join(" "))
    };
    for (text, wanted) in [
        ("", ""),
        ("  ", ""),
        ("r1", "`r1`@`%`"),
        (" r1 , r2@LocalHost", "`r1`@`%` `r2`@`localhost`"),
        ("`a``b`@'c', \"d,e@f\"", "`a``b`@`c` `d,e@f`@`%`"),
        ("'a' @ '%'", "`a`@`%`"),
    ] {
        assert_eq!(read(text).as_deref(), Some(wanted), "{text}");
    }
    for text in ["r1,", ",", "m1@@x", "r1 r2", "'r1", "@localhost", "r1@", "``"] {
        assert_eq!(read(text), None, "{text}");
    }
}
