//! What SHOW GRANTS shows.

use std::collections::BTreeSet;

use super::{Account, AccountName, Privileges};
use turnstile_syntax::ast::quote_name;

/// The statements that would make an account's privileges, and its roles, each with whether it is held WITH
/// ADMIN OPTION.
pub fn grants(
    account: &Account,
    roles: &BTreeSet<(bool, AccountName)>,
    mandatory: &[AccountName],
) -> Vec<String> {
    let name = account.name.quoted();
    let option = |set: Privileges| if set.has(Privileges::GRANT_OPTION) { " WITH GRANT OPTION" } else { "" };
    let global = account.global;
    let mut lines = vec![format!("GRANT {} ON *.* TO {name}{}", global.list(false), option(global))];
    for (handed_on, option) in [(false, ""), (true, " WITH GRANT OPTION")] {
        let listed = global.list_dynamic(handed_on);
        if !listed.is_empty() {
            lines.push(format!("GRANT {listed} ON *.* TO {name}{option}"));
        }
    }
    let mut databases: Vec<_> = account.databases.iter().collect();
    databases.sort_by_key(|(pattern, _)| std::cmp::Reverse(super::specificity(pattern)));
    for (database, set) in databases {
        let place = quote_name(database);
        lines.push(format!("GRANT {} ON {place}.* TO {name}{}", set.list(true), option(*set)));
    }
    for ((schema, table), rights) in &account.tables {
        let place = format!("{}.{}", quote_name(schema), quote_name(table));
        lines.push(format!("GRANT {} ON {place} TO {name}{}", rights.list(), option(rights.whole)));
    }
    for (admin, words) in [(false, ""), (true, " WITH ADMIN OPTION")] {
        let of_kind = roles.iter().filter(|(held, _)| *held == admin).map(|(_, role)| role);
        let listed: BTreeSet<_> = of_kind.chain(mandatory.iter().filter(|_| !admin)).collect();
        let named: Vec<String> = listed.into_iter().map(AccountName::quoted).collect();
        if !named.is_empty() {
            lines.push(format!("GRANT {} TO {name}{words}", named.join(",")));
        }
    }
    lines
}
