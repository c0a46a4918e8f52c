//! Definitions, databases and accounts, made durable.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use turnstile_engine::ids::{TableId, TxnId};
use turnstile_sys::relief;

use super::Catalog;
use crate::accounts::Account;
use crate::dictionary::histogram::Histogram;
use crate::dictionary::table::Definition;
use crate::dictionary::{RowKind, Table, TableName, ViewDefinition, encoding, row_key, write_rows};
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
            let mut gone = vec![row_key(RowKind::Table, &id), row_key(RowKind::Statistics, &id)];
            if let Some(table) = self.dictionary.find(&definition.schema, &definition.name) {
                let known = table.counters.histograms.all();
                gone.extend(known.iter().map(|one| Histogram::row_key(definition.id, &one.column)));
            }
            gone
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
        self.save_altered(definitions, None).await
    }

    /// The same, with the end of histograms of columns of one of the tables.
    pub async fn save_altered(
        &self,
        definitions: &[&Definition],
        gone: Option<(TableId, &[Box<str>])>,
    ) -> SqlResult<TxnId> {
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
        let gone = gone.iter().flat_map(|(table, columns)| {
            columns.iter().map(|column| (Histogram::row_key(*table, column), None))
        });
        write_rows(&self.engine, &definitions.iter().map(row).chain(gone).collect::<Vec<_>>()).await
    }

    /// Makes histograms of a table durable, and then known, and has plans made anew.
    pub async fn save_histograms(&self, table: &Table, histograms: Vec<Histogram>) -> SqlResult<()> {
        let row = |one: &Histogram| {
            relief::worked();
            (Histogram::row_key(table.definition.id, &one.column), Some(one.encode()))
        };
        write_rows(&self.engine, &histograms.iter().map(row).collect::<Vec<_>>()).await?;
        histograms.into_iter().for_each(|one| table.counters.histograms.put(Arc::new(one)));
        self.dictionary.version_counter().fetch_add(1, Ordering::AcqRel);
        Ok(())
    }

    /// Makes the end of histograms durable, and has plans made anew.
    pub async fn drop_histograms(&self, table: &Table, columns: &[Box<str>]) -> SqlResult<()> {
        let rows: Vec<_> =
            columns.iter().map(|column| (Histogram::row_key(table.definition.id, column), None)).collect();
        // Who makes it anew meanwhile finds it gone, and takes its row away again.
        let known = table.counters.histograms.remove(columns);
        if let Err(error) = write_rows(&self.engine, &rows).await {
            known.into_iter().for_each(|one| table.counters.histograms.put(one));
            return Err(error);
        }
        self.dictionary.version_counter().fetch_add(1, Ordering::AcqRel);
        Ok(())
    }
}
