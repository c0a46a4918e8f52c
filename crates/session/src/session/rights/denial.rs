//! The errors of who lacks a right.

use super::super::Session;
use super::viewed;
use crate::accounts::{AccountName, Privileges as P, Rights};
use crate::error::SqlError;
use crate::plan::uses::{TableUse, UseList, Uses};
use crate::virtual_table::VirtualTable;

/// 1044: the account may not use the schema.
pub fn denied_database(session: &Session, schema: &str) -> SqlError {
    let AccountName { user, host } = session.own_account();
    SqlError::database_access_denied(user, host, schema)
}

/// User of the account, and the host that the client has come from.
pub(super) fn who_and_whence(session: &Session) -> (String, String) {
    let identity = session.state.identity.lock();
    let host = identity.user.rsplit_once('@').map_or("", |(_, host)| host);
    (identity.account.user.clone(), host.to_string())
}

pub(super) fn denied_table(session: &Session, command: &str, table: &str) -> SqlError {
    let (user, host) = who_and_whence(session);
    SqlError::table_access_denied(command, user, host, table)
}

/// The error for the first column that the account may not use so, or the first view that is not to be read.
pub fn denied_of(session: &Session, uses: &UseList) -> Option<SqlError> {
    let rights = session.state.rights();
    let denied = denial(session, &rights, uses);
    denied.or_else(|| viewed::ask(session, &rights, &uses.views).err())
}

/// The same for a statement that could not be planned: who may not read a column is not told more than
/// that.
pub fn denied_before(session: &Session, uses: &Uses) -> Option<SqlError> {
    denial(session, &session.state.rights(), &uses.list_sought())
}

pub(super) fn denial(session: &Session, rights: &Rights, uses: &[TableUse]) -> Option<SqlError> {
    for one in uses {
        let (schema, table) = (&*one.schema, &*one.table);
        let world = one.wanted == P::SELECT && VirtualTable::is_for_everybody(schema, table);
        let held = rights.on(schema);
        let own = session.temporary.has(schema, table);
        if own || world || schema.eq_ignore_ascii_case("information_schema") || held.has(one.wanted) {
            continue;
        }
        let own = rights.on_table(schema, table);
        let whole = held.with(own.map_or(P::NONE, |own| own.whole));
        let mut some = false;
        for column in one.columns.iter().filter(|column| !whole.has(column.wanted)) {
            let granted = own.map_or(P::NONE, |own| own.on_column(&column.name));
            if whole.with(granted).has(column.wanted) {
                some |= column.unnamed;
                continue;
            }
            let command = column.wanted.in_words();
            // Who may use the columns before it is not told its name.
            if column.unnamed && some {
                return Some(denied_table(session, &command, table));
            }
            let (user, host) = who_and_whence(session);
            return Some(SqlError::column_access_denied(command, user, host, &column.name, table));
        }
    }
    None
}
