//! Accounts as dictionary rows.

use super::{Account, AccountName, Plugin, Privileges, TableRights};
use crate::dictionary::encoding::{Damaged, Reader, Writer};

const FORMAT: u8 = 1;

impl Account {
    /// The name in its row key.
    pub fn row_name(name: &AccountName) -> Vec<u8> {
        [name.user.as_bytes(), &[0], name.host.as_bytes()].concat()
    }

    /// Bytes of its dictionary row.
    pub fn encode(&self) -> Vec<u8> {
        let mut row = Writer::new(FORMAT);
        row.text(&self.name.user);
        row.text(&self.name.host);
        row.u8(if self.plugin == Plugin::Native { 1 } else { 2 });
        row.bytes(&self.secret);
        row.bool(self.locked);
        row.bool(self.require_tls);
        row.u64(self.global.0);
        let databases: Vec<_> = self.databases.iter().collect();
        row.list(&databases, |row, (name, privileges)| {
            row.text(name);
            row.u64(privileges.0);
        });
        row.u32(self.user_connections_max);
        row.bool(self.expired);
        let tables: Vec<_> = self.tables.iter().collect();
        row.list(&tables, |row, ((schema, table), rights)| {
            row.text(schema);
            row.text(table);
            rights.encode(row);
        });
        row.u8(Privileges::EDITION);
        let name_of = |row: &mut Writer, name: &AccountName| {
            row.text(&name.user);
            row.text(&name.host);
        };
        let roles: Vec<_> = self.roles.iter().collect();
        row.list(&roles, |row, (role, admin)| {
            name_of(row, role);
            row.bool(**admin);
        });
        let default_roles: Vec<_> = self.default_roles.iter().collect();
        row.list(&default_roles, |row, role| name_of(row, role));
        row.0
    }

    /// From the bytes of its dictionary row.
    pub fn decode(bytes: &[u8]) -> Result<Account, Damaged> {
        let row = &mut Reader::new(bytes, FORMAT)?;
        let mut account = Account::new(AccountName { user: row.text()?.into(), host: row.text()?.into() });
        account.plugin = if row.u8()? == 1 { Plugin::Native } else { Plugin::CachingSha2 };
        account.secret = row.bytes()?.to_vec();
        account.locked = row.bool()?;
        account.require_tls = row.bool()?;
        account.global = Privileges(row.u64()?);
        let databases = row.list(|row| Ok((row.text()?.to_string(), Privileges(row.u64()?))))?;
        account.databases = databases.into_iter().collect();
        // Older rows end here.
        if !row.is_empty() {
            account.user_connections_max = row.u32()?;
            account.expired = row.bool()?;
        }
        if !row.is_empty() {
            let tables = row.list(|row| {
                let key = (row.text()?.to_string(), row.text()?.to_string());
                Ok((key, TableRights::decode(row)?))
            })?;
            account.tables = tables.into_iter().collect();
        }
        // A row that knew of fewer privileges and held them all holds the later ones.
        let edition = if row.is_empty() { 0 } else { row.u8()? };
        let later = Privileges::later(edition);
        if later != Privileges::NONE && account.global.with(later).has(Privileges::all(false)) {
            let others = Privileges::DYNAMIC.without(later);
            if account.global.has(others.handed_on()) {
                account.global = account.global.with(later.handed_on());
            }
            account.global = account.global.with(later);
        }
        if edition < Privileges::EDITION_OF_HANDING_ON && account.global.has(Privileges::GRANT_OPTION) {
            account.global = account.global.with(account.global.handed_on());
        }
        if !row.is_empty() {
            let name_of = |row: &mut Reader<'_>| {
                Ok(AccountName { user: row.text()?.to_string(), host: row.text()?.to_string() })
            };
            account.roles = row.list(|row| Ok((name_of(row)?, row.bool()?)))?.into_iter().collect();
            account.default_roles = row.list(name_of)?.into_iter().collect();
        }
        Ok(account)
    }
}
