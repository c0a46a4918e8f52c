//! Which account a client gets, and what it may do.
use super::*;

#[test]
fn the_most_specific_account_wins() {
    let accounts = Accounts::default();
    for (user, host) in
        [("a", "%"), ("a", "10.0.%"), ("a", "10.0.0.1"), ("", "localhost"), ("a", "localhost")]
    {
        accounts.put(Account::new(AccountName::new(user, host)));
    }
    let host = |user, host| accounts.authenticate(user, host).map(|account| account.name.text());
    assert_eq!(host("a", "10.0.0.1").as_deref(), Some("a@10.0.0.1"));
    assert_eq!(host("a", "10.0.7.1").as_deref(), Some("a@10.0.%"));
    assert_eq!(host("a", "11.0.0.1").as_deref(), Some("a@%"));
    assert_eq!(host("a", "127.0.0.1").as_deref(), Some("a@localhost"));
    assert_eq!(host("b", "localhost").as_deref(), Some("@localhost"));
    assert_eq!(host("b", "11.0.0.1"), None);
}

#[test]
fn database_patterns() {
    let mut account = Account::new(AccountName::new("a", "%"));
    account.databases.insert("shop\\_%".into(), Privileges::SELECT);
    assert!(account.may(Privileges::SELECT, Some("shop_1")));
    assert!(!account.may(Privileges::SELECT, Some("shops1")));
    assert!(!account.may(Privileges::INSERT, Some("shop_1")));
    assert!(account.may_see("shop_2") && !account.may_see("other"));
}
