//! Stand-in engine over maps in memory, one writer's view for everybody: no isolation, no durability. It exists while
//! the real one is built, behind the same signatures.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use turnstile_sys as _;

use crate::api::*;
use crate::error::{Error, Result};
use crate::ids::{IndexId, Lsn, TxnId};

type Maps = BTreeMap<IndexId, BTreeMap<Vec<u8>, Vec<u8>>>;

/// The engine.
pub struct Engine {
    maps: Mutex<Maps>,
    settings: Arc<Settings>,
}

/// A transaction.
pub struct Txn {
    engine: Arc<Engine>,
    options: TxnOptions,
    undo: Vec<(IndexId, Vec<u8>, Option<Vec<u8>>)>,
}

/// A scan's position.
pub struct Scan {
    table: TableDef,
    spec: ScanSpec,
    done: bool,
}

impl Engine {
    /// Opens an empty engine in memory.
    pub fn open_memory(config: Config) -> Result<Arc<Engine>> {
        let mut maps = Maps::new();
        maps.insert(DICTIONARY_INDEX, BTreeMap::new());
        Ok(Arc::new(Engine { maps: Mutex::new(maps), settings: config.settings }))
    }
    /// Opens an empty engine in memory, whatever the disk holds.
    pub fn open(_disk: Arc<dyn turnstile_sys::disk::Disk>, config: Config) -> Result<Arc<Engine>> {
        Self::open_memory(config)
    }
    /// Clean shutdown.
    pub fn close(&self) -> Result<()> {
        Ok(())
    }
    /// Live settings.
    pub fn settings(&self) -> &Arc<Settings> {
        &self.settings
    }
    fn maps(&self) -> MutexGuard<'_, Maps> {
        self.maps.lock().unwrap_or_else(PoisonError::into_inner)
    }
    /// A new, empty index; durable when this returns.
    pub fn create_index(&self) -> Result<IndexId> {
        let mut maps = self.maps();
        let id = IndexId(maps.keys().last().map_or(2, |k| k.0 + 1).max(2));
        maps.insert(id, BTreeMap::new());
        Ok(id)
    }
    /// Drops an index and frees its pages in the background.
    pub fn drop_index(&self, id: IndexId) -> Result<()> {
        self.maps().remove(&id).map(|_| ()).ok_or(Error::NoSuchIndex(id))
    }
    /// All indexes that exist.
    pub fn indexes(&self) -> Vec<IndexId> {
        self.maps().keys().copied().collect()
    }
    /// Begins a transaction. Costs nothing until its first write.
    pub fn begin(self: &Arc<Self>, options: TxnOptions) -> Txn {
        Txn { engine: self.clone(), options, undo: Vec::new() }
    }
    /// Waits until the log is durable up to `lsn` as `innodb_flush_log_at_trx_commit` asks.
    pub async fn wait_durable(&self, _lsn: Lsn) -> Result<()> {
        Ok(())
    }
    /// A worker calls it at the end of its turn.
    pub fn turn_end(&self) {}
}

impl Txn {
    /// Its id, once it has written.
    pub fn id(&self) -> Option<TxnId> {
        (!self.undo.is_empty()).then_some(TxnId(1))
    }
    /// Its options.
    pub fn options(&self) -> &TxnOptions {
        &self.options
    }
    /// Begins a statement: READ COMMITTED gets a fresh read view. Not needed for the first one.
    pub fn start_statement(&mut self, lock_wait_timeout_ms: u64) {
        self.options.lock_wait_timeout_ms = lock_wait_timeout_ms;
    }
    /// Takes the read view now (START TRANSACTION WITH CONSISTENT SNAPSHOT).
    pub fn open_view(&mut self) {}
    /// Where the transaction stands.
    pub fn savepoint(&self) -> Savepoint {
        Savepoint(self.undo.len() as u64)
    }
    /// Undoes what came after `savepoint`. Locks stay.
    pub async fn rollback_to(&mut self, savepoint: Savepoint) -> Result<()> {
        while self.undo.len() as u64 > savepoint.0 {
            if let Some((index, key, old)) = self.undo.pop() {
                let mut maps = self.engine.maps();
                if let Some(map) = maps.get_mut(&index) {
                    match old {
                        Some(v) => map.insert(key, v),
                        None => map.remove(&key),
                    };
                }
            }
        }
        Ok(())
    }
    /// Commits: the commit record gets its LSN and locks are released. The client is answered after
    /// [`Engine::wait_durable`]. None if nothing was written.
    pub fn commit(&mut self) -> Result<Option<Lsn>> {
        let wrote = !self.undo.is_empty();
        self.undo.clear();
        Ok(wrote.then_some(Lsn(1)))
    }
    /// Rolls everything back and releases the locks.
    pub async fn rollback(&mut self) -> Result<()> {
        self.rollback_to(Savepoint(0)).await
    }
    fn put(&mut self, index: IndexId, key: Vec<u8>, value: Option<Vec<u8>>) -> Result<()> {
        let mut maps = self.engine.maps();
        let map = maps.get_mut(&index).ok_or(Error::NoSuchIndex(index))?;
        let old = match value {
            Some(v) => map.insert(key.clone(), v),
            None => map.remove(&key),
        };
        drop(maps);
        self.undo.push((index, key, old));
        Ok(())
    }
    fn peek(&self, index: IndexId, key: &[u8]) -> Result<Option<Vec<u8>>> {
        let maps = self.engine.maps();
        Ok(maps.get(&index).ok_or(Error::NoSuchIndex(index))?.get(key).cloned())
    }
    /// Reads one row by its primary key.
    pub async fn get(&mut self, table: &TableDef, key: &[u8], _mode: Read) -> Result<Option<Vec<u8>>> {
        self.peek(table.clustered, key)
    }
    /// Reads one row without copying it: `visit` sees the visible version, under the page's latch. Returns whether
    /// there is one.
    pub async fn get_with(
        &mut self,
        table: &TableDef,
        key: &[u8],
        visit: &mut (dyn FnMut(&[u8]) + Send),
    ) -> Result<bool> {
        let row = self.peek(table.clustered, key)?;
        if let Some(row) = &row {
            visit(row);
        }
        Ok(row.is_some())
    }
    fn secondary(table: &TableDef, nth: usize, pk: &[u8], row: &[u8]) -> (Vec<u8>, usize, bool) {
        let mut key = Vec::new();
        let full = table.keys.secondary_key(nth, row, &mut key);
        let len = key.len();
        key.extend_from_slice(pk);
        (key, len, full)
    }
    fn check_unique(&self, table: &TableDef, pk: &[u8], row: &[u8]) -> Result<()> {
        for (nth, def) in table.secondaries.iter().enumerate() {
            let (key, len, full) = Self::secondary(table, nth, pk, row);
            if !def.unique || !full {
                continue;
            }
            let maps = self.engine.maps();
            let map = maps.get(&def.id).ok_or(Error::NoSuchIndex(def.id))?;
            for (k, _) in map.range(key[..len].to_vec()..).take_while(|(k, _)| k.starts_with(&key[..len])) {
                if &k[len..] != pk {
                    return Err(Error::DuplicateKey { index: def.id, nth: Some(nth), pk: k[len..].to_vec() });
                }
            }
        }
        Ok(())
    }
    /// Inserts a row.
    pub async fn insert(&mut self, table: &TableDef, key: &[u8], row: &[u8]) -> Result<()> {
        if self.options.read_only {
            return Err(Error::ReadOnly);
        }
        if self.peek(table.clustered, key)?.is_some() {
            return Err(Error::DuplicateKey { index: table.clustered, nth: None, pk: key.to_vec() });
        }
        self.check_unique(table, key, row)?;
        self.put(table.clustered, key.to_vec(), Some(row.to_vec()))?;
        for (nth, def) in table.secondaries.iter().enumerate() {
            self.put(def.id, Self::secondary(table, nth, key, row).0, Some(key.to_vec()))?;
        }
        Ok(())
    }
    /// Changes one row: takes its exclusive lock, shows `change` the current version, and does what it decides.
    pub async fn update(
        &mut self,
        table: &TableDef,
        key: &[u8],
        change: &mut (dyn FnMut(&[u8], &mut Vec<u8>) -> Change + Send),
    ) -> Result<Updated> {
        if self.options.read_only {
            return Err(Error::ReadOnly);
        }
        let Some(old) = self.peek(table.clustered, key)? else { return Ok(Updated::Missing) };
        let mut new = Vec::new();
        match change(&old, &mut new) {
            Change::Keep => return Ok(Updated::Kept),
            Change::Abort => return Ok(Updated::Aborted),
            Change::Delete => {
                for (nth, def) in table.secondaries.iter().enumerate() {
                    self.put(def.id, Self::secondary(table, nth, key, &old).0, None)?;
                }
                self.put(table.clustered, key.to_vec(), None)?;
                return Ok(Updated::Deleted);
            }
            Change::Replace => {}
        }
        self.check_unique(table, key, &new)?;
        for (nth, def) in table.secondaries.iter().enumerate() {
            let before = Self::secondary(table, nth, key, &old).0;
            let after = Self::secondary(table, nth, key, &new).0;
            if before != after {
                self.put(def.id, before, None)?;
                self.put(def.id, after, Some(key.to_vec()))?;
            }
        }
        self.put(table.clustered, key.to_vec(), Some(new))?;
        Ok(Updated::Changed)
    }
    /// Deletes one row by its primary key; returns whether there was one.
    pub async fn delete(&mut self, table: &TableDef, key: &[u8]) -> Result<bool> {
        Ok(self.update(table, key, &mut |_, _| Change::Delete).await? == Updated::Deleted)
    }
    /// Prepares a scan.
    pub fn scan(&mut self, table: &TableDef, spec: ScanSpec) -> Scan {
        Scan { table: table.clone(), spec, done: false }
    }
    fn step(&mut self, scan: &mut Scan) -> Result<Option<(Vec<u8>, Vec<u8>, Vec<u8>)>> {
        let index = match scan.spec.index {
            ScanIndex::Clustered => scan.table.clustered,
            ScanIndex::Secondary(nth) => scan.table.secondaries[nth].id,
        };
        let maps = self.engine.maps();
        let map = maps.get(&index).ok_or(Error::NoSuchIndex(index))?;
        let above = |k: &Vec<u8>| match &scan.spec.lower {
            Bound::Unbounded => true,
            Bound::Included(b) => k >= b,
            Bound::Excluded(b) => k > b && !(scan.spec.index != ScanIndex::Clustered && k.starts_with(b)),
        };
        let below = |k: &Vec<u8>| match &scan.spec.upper {
            Bound::Unbounded => true,
            Bound::Included(b) => k <= b || (scan.spec.index != ScanIndex::Clustered && k.starts_with(b)),
            Bound::Excluded(b) => k < b,
        };
        let mut hits = map.iter().filter(|(k, _)| above(k) && below(k));
        let Some((k, v)) = (if scan.spec.reverse { hits.next_back() } else { hits.next() }) else {
            return Ok(None);
        };
        let (key, value) = (k.clone(), v.clone());
        drop(maps);
        let exact = Bound::Excluded(key.clone());
        if scan.spec.reverse {
            scan.spec.upper = exact
        } else {
            scan.spec.lower = exact
        }
        Ok(Some(match scan.spec.index {
            ScanIndex::Clustered => (key.clone(), key, value),
            ScanIndex::Secondary(_) => {
                let row = if scan.spec.fetch_row {
                    self.peek(scan.table.clustered, &value)?.unwrap_or_default()
                } else {
                    Vec::new()
                };
                (key, value, row)
            }
        }))
    }
    /// Consistent scan: visits the visible rows of one leaf, `visit(index key, primary key, row)`, under the leaf's
    /// latch; false when there are no more.
    pub async fn scan_batch(
        &mut self,
        scan: &mut Scan,
        visit: &mut (dyn FnMut(&[u8], &[u8], &[u8]) -> Visit + Send),
    ) -> Result<bool> {
        if scan.done {
            return Ok(false);
        }
        while let Some((key, pk, row)) = self.step(scan)? {
            if visit(&key, &pk, &row) == Visit::Stop {
                break;
            }
        }
        scan.done = true;
        Ok(false)
    }
    /// Locking scan: locks the next row and returns its primary key and newest committed version. Under READ
    /// COMMITTED rows that `accept` refuses are unlocked again.
    pub async fn scan_locked_next(
        &mut self,
        scan: &mut Scan,
        accept: &mut (dyn FnMut(&[u8]) -> bool + Send),
    ) -> Result<Option<(Vec<u8>, Vec<u8>)>> {
        while let Some((_, pk, _)) = self.step(scan)? {
            if let Some(row) = self.peek(scan.table.clustered, &pk)?
                && accept(&row)
            {
                return Ok(Some((pk, row)));
            }
        }
        Ok(None)
    }
    /// Locks a whole table until the end of the transaction.
    pub async fn lock_table(&mut self, _table: &TableDef, _lock: TableLock) -> Result<()> {
        Ok(())
    }
}
