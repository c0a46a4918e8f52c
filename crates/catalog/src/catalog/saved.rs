//! Definitions, databases and accounts, made durable.

use std::collections::HashSet;

use turnstile_engine::ids::{TableId, TxnId};
use turnstile_sys::relief;

use super::Catalog;
use crate::accounts::Account;
use crate::dictionary::table::Definition;
use crate::dictionary::{RowKind, TableName, ViewDefinition, encoding, row_key, write_rows};
use turnstile_values::collation::Collation;
use turnstile_values::error::{SqlError, SqlResult};

fn view_key(schema: &str, name: &str) -> Vec<u8> {
    row_key(RowKind::View, &ViewDefinition::row_name(schema, name))
}

impl Catalog {
    /// Makes a database durable.
    pub async fn save_schema(&self, name: &str, collation: Collation) -> SqlResult<()> {
        let mut row = encoding::Writer::new(1);
        row.collation(collation);
        write_rows(&self.engine, &[(row_key(RowKind::Schema, name.as_bytes()), Some(row.0))]).await.map(drop)
    }

    /// Makes an account durable.
    pub(crate) async fn save_account(&self, account: &Account) -> SqlResult<()> {
        let key = row_key(RowKind::Account, &Account::row_name(&account.name));
        write_rows(&self.engine, &[(key, Some(account.encode()))]).await.map(drop)
    }

    /// Makes the end of tables and views durable, and of their database, in one transaction.
    pub async fn save_dropped(
        &self,
        tables: impl Iterator<Item = &Definition>,
        views: &[TableName],
        schema: Option<&str>,
    ) -> SqlResult<()> {
        let tables = tables.flat_map(|definition| {
            let id = definition.id.0.to_be_bytes();
            [row_key(RowKind::Table, &id), row_key(RowKind::Statistics, &id)]
        });
        let schema = schema.map(|name| row_key(RowKind::Schema, name.as_bytes()));
        let views = views.iter().map(|(schema, name)| view_key(schema, name));
        let rows: Vec<_> = tables.chain(views).chain(schema).map(|key| (key, None)).collect();
        write_rows(&self.engine, &rows).await.map(drop)
    }

    /// Makes the end of views durable, and definitions of others, in one transaction.
    pub async fn save_views(&self, gone: &[TableName], now: &[&ViewDefinition]) -> SqlResult<TxnId> {
        let gone = gone.iter().map(|(schema, name)| (view_key(schema, name), None));
        let now = now.iter().map(|one| (view_key(&one.schema, &one.name), Some(one.encode())));
        write_rows(&self.engine, &gone.chain(now).collect::<Vec<_>>()).await
    }

    /// Makes definitions of tables durable, in one transaction. Error 1050 if a table that stays as it is has
    /// the name of one of them: whoever gives a name holds it ([`crate::mdl::names`]), so that this is never
    /// so.
    pub async fn save_tables(&self, definitions: &[&Definition]) -> SqlResult<TxnId> {
        let changed: HashSet<TableId> = definitions.iter().map(|one| one.id).collect();
        for one in definitions {
            relief::worked();
            let there = self.dictionary.find(&one.schema, &one.name);
            if there.is_some_and(|there| !changed.contains(&there.definition.id)) {
                return Err(SqlError::table_exists(&one.name));
            }
        }
        let row = |definition: &&Definition| {
            relief::worked();
            (row_key(RowKind::Table, &definition.id.0.to_be_bytes()), Some(definition.encode()))
        };
        write_rows(&self.engine, &definitions.iter().map(row).collect::<Vec<_>>()).await
    }
}
