//! INSERT of one row.
//!
//! 1. lock the key, exclusive, holding no latch; lock the values of unique secondary keys likewise
//! 2. look for duplicates: the locks make the answer stand (whoever changes a unique value holds its lock
//!    until it ends)
//! 3. write a long payload to its overflow chain
//! 4. the row: insert intention on the gap, leaf and undo in one mini-transaction
//! 5. the secondary entries, each a mini-transaction of its own

use std::sync::Arc;

use super::secondary::{EntryChange, EntryKey, duplicate};
use super::value::{INLINE_BYTES_MAX, Payload};
use super::write::Added;
use crate::api::{LockWait, RowLock, TableDef};
use crate::btree::Tree;
use crate::error::{Error, Result};
use crate::ids::PageNo;
use crate::page::DELETE_MARK;
use crate::row::{secondary, write};
use crate::txn::Txn;
use crate::txn::lock_calls::{Grant, LockKind};
use crate::txn::trees::tree as tree_of;

/// Longest row: what a LONGBLOB of the largest packet and some more columns need.
const ROW_BYTES_MAX: usize = 1 << 30;

impl Txn {
    /// Inserts a row. A duplicate is reported after its key is locked, so that the caller can go on to update
    /// it.
    pub async fn insert(&mut self, table: &TableDef, key: &[u8], row: &[u8]) -> Result<()> {
        self.count_locks()?;
        self.reserve_log().await?;
        admitted!(self, 1);
        self.check_may_write()?;
        let tree = paged!(self, tree_of(self, table.clustered))?;
        let (lock, wait) = (RowLock::Exclusive, LockWait::Wait);
        let grant = self.lock_row(table.clustered, key, lock, LockKind::Record, wait).await?;
        let mut entries = Vec::with_capacity(table.secondaries.len());
        for nth in 0..table.secondaries.len() {
            entries.push(EntryChange { nth, old: None, new: Some(EntryKey::of(table, nth, row, key)) });
        }
        if entries.iter().any(|entry| entry.is_unique(table)) {
            if paged!(self, row_is_live(&tree, key))? {
                return Err(duplicate(table, None, key));
            }
            if let Err(error) = secondary::check_unique(self, table, key, &entries).await {
                // Nothing was written under this key: nobody has to wait for it.
                if grant == Grant::New && matches!(error, Error::DuplicateKey { .. }) {
                    self.unlock_row(table.clustered, key, lock);
                }
                return Err(error);
            }
        }
        let chain = write_chain(self, table, row).await?;
        let payload = Payload::of(row, chain);
        if let Err(error) = add_row(self, table, &tree, key, payload).await {
            drop_chain(self, chain).await;
            return Err(error);
        }
        secondary::change_entries(self, table, key.len(), &entries).await?;
        self.options.status.rows().inserted.add(1);
        Ok(())
    }
}

async fn add_row(
    txn: &mut Txn,
    table: &TableDef,
    tree: &Arc<Tree>,
    key: &[u8],
    payload: Payload<'_>,
) -> Result<()> {
    loop {
        match paged!(txn, write::try_insert_row(txn, tree, key, payload))? {
            Added::Done => return Ok(()),
            Added::Exists => return Err(duplicate(table, None, key)),
            Added::GapTaken(gap) => txn.wait_insert_intention(table.clustered, &gap).await?,
            Added::EntryTaken => unreachable!("only secondary entries are locked at this point"),
        }
    }
}

/// Writes a payload that is too long for a leaf. The first page of the chain, 0 if the row stays in the
/// leaf.
pub(crate) async fn write_chain(txn: &mut Txn, table: &TableDef, row: &[u8]) -> Result<PageNo> {
    if row.len() <= INLINE_BYTES_MAX {
        return Ok(PageNo(0));
    }
    if row.len() > ROW_BYTES_MAX {
        return Err(Error::RowTooLarge { len: row.len() });
    }
    let kernel = txn.kernel.clone();
    let mut writer = crate::btree::overflow::ChainWriter::new(table.clustered, row);
    let failed = loop {
        match paged!(txn, writer.write(&kernel.storage)) {
            Ok(Some(first)) => return Ok(first),
            Ok(None) => {}
            Err(error) => break error,
        }
        txn.locks.set_waiting(true);
        let reserved = txn.reserve_log().await;
        txn.locks.set_waiting(false);
        if let Err(error) = reserved {
            break error;
        }
    };
    if let Some(first) = writer.written() {
        drop_chain(txn, first).await;
    }
    Err(failed)
}

/// Frees a chain that no row refers to. If that fails the pages stay allocated, which harms nobody.
pub(crate) async fn drop_chain(txn: &mut Txn, first: PageNo) {
    if first.0 == 0 {
        return;
    }
    let kernel = txn.kernel.clone();
    let _ = paged_through!(txn, super::chain::free_whole(&kernel.storage, first));
}

/// Whether the newest version of a row is there and not deleted.
pub(crate) fn row_is_live(tree: &Tree, key: &[u8]) -> Result<bool> {
    let (leaf, position) = tree.find(key)?;
    Ok(position.is_found() && leaf.record(position.slot()).flags & DELETE_MARK == 0)
}
