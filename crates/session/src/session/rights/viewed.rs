//! What the queries of views use: whose rights are asked for it, and what who reads the view is told.

use crate::accounts::{AccountName, Accounts, Privileges as P, Rights, TableRights};
use crate::dictionary::Definer;
use crate::error::{SqlError, SqlResult};
use crate::plan::uses::{TableUse, ViewUse};
use crate::virtual_table::VirtualTable;

/// What the account of this name may do where it has defined something: with its default roles. Error 1449 if
/// there is none.
pub fn of_definer(accounts: &Accounts, definer: &Definer) -> SqlResult<Rights> {
    let name = &AccountName::new(&definer.user, &definer.host);
    let account = accounts.find(name).ok_or_else(|| SqlError::no_such_definer(&name.user, &name.host))?;
    let roles: Vec<AccountName> = account.default_roles.iter().cloned().collect();
    Ok(Rights::of(accounts, name, &roles))
}

/// Fails unless whose rights are asked may use what each of the views uses.
pub fn ask(accounts: &Accounts, own: &Rights, views: &[ViewUse]) -> SqlResult<()> {
    for view in views {
        let definer = view.asker.as_ref().map(|asker| of_definer(accounts, asker)).transpose()?;
        let rights = definer.as_ref().unwrap_or(own);
        if !view.tables.iter().all(|table| may_use(rights, table)) {
            let (schema, name) = &view.named;
            return Err(SqlError::view_invalid(schema, name));
        }
    }
    Ok(())
}

fn may_use(rights: &Rights, table: &TableUse) -> bool {
    let (schema, name) = (&*table.schema, &*table.table);
    let world = table.wanted == P::SELECT && VirtualTable::is_for_everybody(schema, name);
    if world || schema.eq_ignore_ascii_case("information_schema") {
        return true;
    }
    let held = rights.on(schema);
    let own = rights.on_table(schema, name);
    let somewhere = own.map_or(P::NONE, TableRights::somewhere);
    held.with(somewhere).has(table.wanted)
        && table.columns.iter().all(|column| rights.on_column(schema, name, &column.name).has(column.wanted))
}
