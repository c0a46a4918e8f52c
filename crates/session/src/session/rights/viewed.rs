//! What the queries of views use: whose rights are asked for it, and what who reads the view is told.

use super::super::Session;
use crate::accounts::{AccountName, Accounts, Privileges as P, Rights, TableRights};
use crate::dictionary::Definer;
use crate::error::{SqlError, SqlResult};
use crate::plan::uses::{TableUse, ViewUse};
use crate::virtual_table::VirtualTable;

/// What an account may do where it has defined something: with its default roles. None if there is none of
/// this name.
fn of_definer(accounts: &Accounts, definer: &Definer) -> Option<Rights> {
    let name = &AccountName::new(&definer.user, &definer.host);
    let roles: Vec<AccountName> = accounts.find(name)?.default_roles.iter().cloned().collect();
    Some(Rights::of(accounts, name, &roles))
}

/// Who may make a view for an account that is not there is told which one it is.
fn missing(session: &Session, own: &Rights, definer: &Definer) -> SqlError {
    if own.may(P::SUPER, None) {
        return SqlError::no_such_definer(&definer.user, &definer.host);
    }
    let AccountName { user, host } = session.own_account();
    SqlError::access_denied(user, host, "YES")
}

/// Fails unless whose rights are asked may use what each of the views uses.
pub fn ask(session: &Session, own: &Rights, views: &[ViewUse]) -> SqlResult<()> {
    let accounts = session.db.accounts();
    for view in views {
        let of = |asker| of_definer(accounts, asker).ok_or_else(|| missing(session, own, asker));
        let definer = view.asker.as_ref().map(of).transpose()?;
        let rights = definer.as_ref().unwrap_or(own);
        if !view.tables.iter().all(|table| may_use(rights, table)) {
            let (schema, name) = &view.named;
            return Err(SqlError::view_invalid(schema, name));
        }
    }
    Ok(())
}

/// Error 1345 for who is told how a view is read without being allowed to see its query, and to read what
/// that reads.
pub fn ask_to_explain(own: &Rights, views: &[ViewUse]) -> SqlResult<()> {
    let seen = |view: &ViewUse| {
        let (schema, name) = &view.named;
        may_see_query(own, schema, name) && view.tables.iter().all(|table| may_use(own, table))
    };
    if views.iter().all(seen) { Ok(()) } else { Err(SqlError::view_not_explained()) }
}

/// Whether a view's query may be seen.
pub fn may_see_query(rights: &Rights, schema: &str, name: &str) -> bool {
    let own = rights.on_table(schema, name).map_or(P::NONE, |own| own.whole);
    rights.on(schema).with(own).has(P::SHOW_VIEW)
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
