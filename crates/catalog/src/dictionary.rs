//! The data dictionary: databases, tables and accounts. It is held in memory and kept as rows of the engine's
//! dictionary index, where a change is an ordinary durable transaction.
//!
//! | row key | row |
//! |---|---|
//! | `1` name | a database: its default collation |
//! | `2` table id (big endian) | a table: [`table::Definition`] |
//! | `3` user, `0`, host | an account |
//! | `4` table id (big endian) | a table's [`statistics`] |
//! | `5` database, `0`, name | a view: [`view::ViewDefinition`] |
//! | `6` table id (big endian), column | a [`histogram`] |
//!
//! DDL order, so that a crash leaves at worst a tree that nobody knows (dropped at the next start) and never
//! a table without its tree: trees are made before the row that names them is committed, and dropped after
//! the row is gone.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use turnstile_engine::ids::{TableId, TxnId};
use turnstile_engine::interrupt::Interrupt;
use turnstile_engine::{
    Change, DICTIONARY_INDEX, Engine, Isolation, RowKeys, ScanIndex, ScanSpec, TableDef, Txn, TxnOptions,
    Updated, Visit,
};
use turnstile_sys::ranked::RankedRwLock;

use crate::mdl::MetadataLock;
use crate::rank;
use turnstile_engine::yield_now::Slice;
use turnstile_values::collation::Collation;
use turnstile_values::error::{ErrorKind, SqlError, SqlResult};

pub mod check;
pub mod encoding;
pub mod foreign_key;
pub mod histogram;
pub mod statistics;
pub mod table;
pub mod temporary;
pub mod view;

pub use check::Check;
pub use foreign_key::{Action, ForeignKey};
pub use table::{Column, DefaultValue, Key, Part, Table};
pub use temporary::{TableNames, TemporaryTables};
pub use view::{Definer, View, ViewDefinition};

/// Row keys begin with one of these.
#[derive(Clone, Copy)]
#[repr(u8)]
pub enum RowKind {
    /// A database.
    Schema = 1,
    /// A table.
    Table = 2,
    /// An account.
    Account = 3,
    /// What is known of a table's keys, by the table's id.
    Statistics = 4,
    /// A view.
    View = 5,
    /// What is known of a column's values, by the table's id and the column's name.
    Histogram = 6,
}

impl RowKind {
    /// [`RowKind::Statistics`], as a row key begins with it.
    pub const STATISTICS: u8 = RowKind::Statistics as u8;
    /// [`RowKind::Histogram`], likewise.
    pub const HISTOGRAM: u8 = RowKind::Histogram as u8;
}

/// A row key.
pub fn row_key(kind: RowKind, name: &[u8]) -> Vec<u8> {
    [&[kind as u8], name].concat()
}

/// A database.
#[derive(Clone, Default)]
pub struct Schema {
    /// Default of its tables.
    pub collation: Option<Collation>,
    /// Its tables by name.
    pub tables: BTreeMap<Box<str>, Arc<Table>>,
    /// Its views by name.
    pub views: BTreeMap<Box<str>, Arc<View>>,
}

/// A table's database and name.
pub type TableName = (Box<str>, Box<str>);

/// What the name of a table can mean.
#[derive(Clone)]
pub enum Named {
    /// A table.
    Table(Arc<Table>),
    /// A view.
    View(Arc<View>),
}

impl Named {
    /// Its metadata lock.
    pub fn mdl(&self) -> &Arc<MetadataLock> {
        match self {
            Named::Table(table) => &table.mdl,
            Named::View(view) => &view.mdl,
        }
    }

    /// Its columns.
    pub fn columns(&self) -> &[Column] {
        match self {
            Named::Table(table) => table.named_columns(),
            Named::View(view) => &view.definition.columns,
        }
    }

    /// Its database and name.
    pub fn name(&self) -> (&str, &str) {
        match self {
            Named::Table(table) => (&table.definition.schema, &table.definition.name),
            Named::View(view) => (&view.definition.schema, &view.definition.name),
        }
    }
}

/// What is known, under one latch.
#[derive(Default)]
struct Contents {
    schemas: BTreeMap<Box<str>, Schema>,
    /// For every table that is named as a parent, whether it is there or not: the tables with such a foreign
    /// key.
    children: BTreeMap<TableName, BTreeSet<TableName>>,
}

impl Contents {
    /// Forgets what a definition says of parents.
    fn unlink(&mut self, child: &table::Definition) {
        for key in &child.foreign_keys {
            let parent = (key.parent_schema.clone(), key.parent.clone());
            if let Some(children) = self.children.get_mut(&parent) {
                children.remove(&(child.schema.clone(), child.name.clone()));
                if children.is_empty() {
                    self.children.remove(&parent);
                }
            }
        }
    }

    fn link(&mut self, child: &table::Definition) {
        for key in &child.foreign_keys {
            let parent = (key.parent_schema.clone(), key.parent.clone());
            self.children.entry(parent).or_default().insert((child.schema.clone(), child.name.clone()));
        }
    }
}

/// Databases and tables in memory.
pub struct Dictionary {
    contents: RankedRwLock<Contents>,
    version: Arc<AtomicU64>,
    next_table: AtomicU64,
}

impl Default for Dictionary {
    fn default() -> Self {
        Dictionary {
            contents: RankedRwLock::new(rank::SHORT, &rank::DICTIONARY, Contents::default()),
            version: Arc::default(),
            next_table: AtomicU64::new(0),
        }
    }
}

impl Dictionary {
    /// Grows with every change; a plan made under another version is not to be used.
    pub fn version(&self) -> u64 {
        self.version.load(Ordering::Acquire)
    }

    /// What [`Dictionary::version`] tells: who adds to it has every plan made anew.
    pub(crate) fn version_counter(&self) -> Arc<AtomicU64> {
        self.version.clone()
    }

    /// A table id that was never given.
    pub fn next_table_id(&self) -> TableId {
        TableId(self.next_table.fetch_add(1, Ordering::Relaxed) as u32 + 2)
    }

    /// Names of the databases.
    pub fn schema_names(&self) -> Vec<Box<str>> {
        self.contents.read().schemas.keys().cloned().collect()
    }

    /// Default collation of a database; None if there is no such database.
    pub fn schema_collation(&self, name: &str) -> Option<Collation> {
        self.contents.read().schemas.get(name).map(|schema| schema.collation.unwrap_or(Collation::DEFAULT))
    }

    /// All tables of a database by name.
    pub fn tables(&self, schema: &str) -> Vec<Arc<Table>> {
        self.contents
            .read()
            .schemas
            .get(schema)
            .map(|schema| schema.tables.values().cloned().collect())
            .unwrap_or_default()
    }

    /// One table.
    pub fn find(&self, schema: &str, name: &str) -> Option<Arc<Table>> {
        self.contents.read().schemas.get(schema)?.tables.get(name).cloned()
    }

    /// One table, or the error MySQL gives.
    pub fn table(&self, schema: &str, name: &str) -> SqlResult<Arc<Table>> {
        self.find(schema, name).ok_or_else(|| self.missing(schema, name))
    }

    /// One table, for who changes or looks at the table itself: error 1347 for a view.
    pub fn base_table(&self, schema: &str, name: &str) -> SqlResult<Arc<Table>> {
        match self.named(schema, name)? {
            Named::Table(table) => Ok(table),
            Named::View(_) => Err(SqlError::wrong_object(schema, name, "BASE TABLE")),
        }
    }

    /// The error for a name that neither a table nor a view has.
    #[cold]
    pub fn missing(&self, schema: &str, name: &str) -> SqlError {
        match self.contents.read().schemas.contains_key(schema) {
            true => SqlError::no_such_table(schema, name),
            false => SqlError::unknown_database(schema),
        }
    }

    /// What a name means, or the error MySQL gives.
    pub fn named(&self, schema: &str, name: &str) -> SqlResult<Named> {
        if let Some(table) = self.find(schema, name) {
            return Ok(Named::Table(table));
        }
        self.view(schema, name).map(Named::View).ok_or_else(|| self.missing(schema, name))
    }

    /// One view.
    pub fn view(&self, schema: &str, name: &str) -> Option<Arc<View>> {
        self.contents.read().schemas.get(schema)?.views.get(name).cloned()
    }

    /// All views of all databases that read one of these tables or views by its name.
    pub fn views_over(&self, names: &[TableName]) -> Vec<Arc<View>> {
        let contents = self.contents.read();
        let views = contents.schemas.values().flat_map(|schema| schema.views.values());
        let reads = |view: &&Arc<View>| view.definition.reads.iter().any(|one| names.contains(one));
        views.filter(reads).cloned().collect()
    }

    /// The accounts that views are read for, each once.
    pub fn definers(&self) -> Vec<Definer> {
        let mut found: BTreeSet<(Box<str>, Box<str>)> = BTreeSet::new();
        for view in self.contents.read().schemas.values().flat_map(|schema| schema.views.values()) {
            let Definer { user, host } = &view.definition.definer;
            found.insert((user.clone(), host.clone()));
        }
        found.into_iter().map(|(user, host)| Definer { user, host }).collect()
    }

    /// All views of a database by name.
    pub fn views(&self, schema: &str) -> Vec<Arc<View>> {
        let contents = self.contents.read();
        contents
            .schemas
            .get(schema)
            .map(|schema| schema.views.values().cloned().collect())
            .unwrap_or_default()
    }

    /// Forgets views, and adds or replaces others: nobody sees some of it without the rest.
    pub fn replace_views(&self, gone: &[TableName], now: Vec<Arc<View>>) {
        let mut contents = self.contents.write();
        for (schema, name) in gone {
            contents.schemas.get_mut(schema).and_then(|schema| schema.views.remove(name));
        }
        for view in now {
            let definition = &view.definition;
            let schema = contents.schemas.entry(definition.schema.clone()).or_default();
            schema.views.insert(definition.name.clone(), view);
        }
        drop(contents);
        self.changed();
    }

    /// Whether a table or a view has this name.
    pub fn has(&self, schema: &str, name: &str) -> bool {
        let contents = self.contents.read();
        let taken = |schema: &Schema| schema.tables.contains_key(name) || schema.views.contains_key(name);
        contents.schemas.get(schema).is_some_and(taken)
    }

    /// The tables with a foreign key to a table of this name, whether there is such a table or not; itself
    /// perhaps among them.
    pub fn children(&self, schema: &str, name: &str) -> Vec<Arc<Table>> {
        let contents = self.contents.read();
        let Some(names) = contents.children.get(&(Box::from(schema), Box::from(name))) else {
            return Vec::new();
        };
        let find = |(schema, name): &TableName| contents.schemas.get(schema)?.tables.get(name).cloned();
        names.iter().filter_map(find).collect()
    }

    /// Adds or changes a database.
    pub fn put_schema(&self, name: &str, collation: Collation) {
        self.contents.write().schemas.entry(name.into()).or_default().collation = Some(collation);
        self.changed();
    }

    /// Forgets a database.
    pub fn remove_schema(&self, name: &str) {
        self.contents.write().schemas.remove(name);
        self.changed();
    }

    /// Adds or replaces a table under the name in its definition.
    pub fn put_table(&self, table: Arc<Table>) {
        self.replace_tables(&[], vec![table]);
    }

    /// Forgets a table.
    pub fn remove_table(&self, schema: &str, name: &str) {
        self.replace_tables(&[(schema.into(), name.into())], Vec::new());
    }

    /// Forgets tables, and adds or replaces others: nobody sees some of it without the rest.
    pub fn replace_tables(&self, gone: &[TableName], now: Vec<Arc<Table>>) {
        let mut replaced = Vec::with_capacity(gone.len());
        let mut contents = self.contents.write();
        for (schema, name) in gone {
            replaced.extend(contents.schemas.get_mut(schema).and_then(|schema| schema.tables.remove(name)));
        }
        replaced.iter().for_each(|old: &Arc<Table>| contents.unlink(&old.definition));
        for table in now {
            let schema = contents.schemas.entry(table.definition.schema.clone()).or_default();
            if let Some(old) = schema.tables.insert(table.definition.name.clone(), table.clone()) {
                contents.unlink(&old.definition);
                replaced.push(old);
            }
            contents.link(&table.definition);
        }
        drop(contents);
        self.changed();
    }

    fn changed(&self) {
        self.version.fetch_add(1, Ordering::AcqRel);
    }

    /// Later ids are above this one.
    pub fn reserve_table_id(&self, id: TableId) {
        self.next_table.fetch_max(u64::from(id.0), Ordering::Relaxed);
    }
}

struct NoKeys;

impl RowKeys for NoKeys {
    fn secondary_key(&self, _: usize, _: &[u8], _: &mut Vec<u8>) -> bool {
        false
    }
}

fn rows() -> TableDef {
    TableDef { id: TableId(1), clustered: DICTIONARY_INDEX, secondaries: Vec::new(), keys: Arc::new(NoKeys) }
}

fn begin(engine: &Arc<Engine>) -> Txn {
    engine.begin(TxnOptions {
        isolation: Isolation::RepeatableRead,
        read_only: false,
        autocommit: false,
        lock_wait_timeout_ms: 50_000,
        interrupt: Arc::new(Interrupt::new()),
        status: Default::default(),
    })
}

/// All rows of the dictionary: kind, name, row.
pub async fn read_rows(engine: &Arc<Engine>) -> SqlResult<Vec<(u8, Vec<u8>, Vec<u8>)>> {
    let mut found = Vec::new();
    let mut txn = begin(engine);
    let mut scan = txn.scan(&rows(), ScanSpec::all(ScanIndex::Clustered));
    let mut visit = |key: &[u8], _: &[u8], row: &[u8]| {
        if let Some((kind, name)) = key.split_first() {
            found.push((*kind, name.to_vec(), row.to_vec()));
        }
        Visit::Continue
    };
    while txn.scan_batch(&mut scan, &mut visit).await? {}
    txn.rollback().await?;
    Ok(found)
}

/// Times that rows are written anew after a deadlock, in which whoever else writes went on.
const ATTEMPTS_MAX: usize = 100;

/// Writes rows (None deletes one), all or nothing; durable when it returns. Two writers that find no row of
/// theirs hold the gap that both insert into (a definition, and the statistics of another table): the victim
/// begins again.
pub async fn write_rows(engine: &Arc<Engine>, changes: &[(Vec<u8>, Option<Vec<u8>>)]) -> SqlResult<TxnId> {
    for _ in 1..ATTEMPTS_MAX {
        match try_write_rows(engine, changes).await {
            Err(error) if error.kind() == ErrorKind::Deadlock => {}
            done => return done,
        }
    }
    try_write_rows(engine, changes).await
}

async fn try_write_rows(engine: &Arc<Engine>, changes: &[(Vec<u8>, Option<Vec<u8>>)]) -> SqlResult<TxnId> {
    let mut txn = begin(engine);
    let (table, mut slice) = (rows(), Slice::default());
    for (key, row) in changes {
        slice.breathe().await;
        let Some(row) = row else {
            txn.delete(&table, key).await?;
            continue;
        };
        let mut replace = |_: &[u8], new: &mut Vec<u8>| {
            new.extend_from_slice(row);
            Change::Replace
        };
        if txn.update(&table, key, &mut replace).await? == Updated::Missing {
            txn.insert(&table, key, row).await?;
        }
    }
    let id = txn.id().unwrap_or_default();
    if let Some(lsn) = txn.commit()? {
        engine.wait_durable(lsn).await?;
    }
    Ok(id)
}
