//! UPDATE and DELETE of one row by its primary key: the hot path, in eight steps.
//!
//! 1. lock the key, exclusive, holding no latch
//! 2. descend to the leaf, exclusive
//! 3. show the current version to the caller's closure, once
//! 4. if it changes unique keys or needs an overflow chain: drop the latch, see to those, come back (the lock keeps the row)
//! 5. latch the lane's last page, open the mini-transaction, append undo
//! 6. write the new version in place: transaction id, roll pointer, payload
//! 7. commit the mini-transaction
//! 8. secondary entries, if any changed

use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::api::{Change, LockWait, RowLock, TableDef, Updated};
use crate::btree::{Position, Tree};
use crate::error::Result;
use crate::ids::PageNo;
use crate::page::DELETE_MARK;
use crate::txn::Txn;
use crate::txn::lock_calls::LockKind;
use crate::txn::spare::{give_buffer, take_buffer};

use super::insert::payload_of;
use super::secondary::{EntryChange, entry_changes};
use super::value::{INLINE_BYTES_MAX, Payload, RowValue};
use super::write::NewVersion;

/// The caller's decision about a row.
pub type Decide<'c> = &'c mut (dyn FnMut(&[u8], &mut Vec<u8>) -> Change + Send);

/// What an update has worked out so far; it outlives the latches.
#[derive(Default)]
struct Draft {
    decision: Option<Change>,
    /// The new row, if the decision is to replace.
    new: Vec<u8>,
    /// The old row, if it had to be fetched from a chain.
    old: Option<Vec<u8>>,
    entries: Option<Vec<EntryChange>>,
    /// The new row's chain, if it needs one.
    chain: PageNo,
    unique_checked: bool,
}

/// What an attempt wants before it comes back.
enum Step {
    Done(Updated),
    /// The old row is in a chain: this is its leaf value.
    FetchOld(Vec<u8>),
    CheckUnique,
    WriteChain,
}

impl Txn {
    /// Changes one row: takes its exclusive lock, shows `change` the current version, and does what it decides.
    pub async fn update(
        &mut self,
        table: &TableDef,
        key: &[u8],
        change: &mut (dyn FnMut(&[u8], &mut Vec<u8>) -> Change + Send),
    ) -> Result<Updated> {
        self.reserve_log().await?;
        admitted!(self, 1);
        paged!(self, self.become_writer())?;
        let grant =
            self.lock_row(table.clustered, key, RowLock::Exclusive, LockKind::Record, LockWait::Wait).await?;
        let tree = paged!(self, self.kernel.tree(table.clustered))?;
        let mut draft = Draft { new: take_buffer(), ..Draft::default() };
        let outcome = self.carry_out(table, &tree, key, change, &mut draft).await;
        give_buffer(std::mem::take(&mut draft.new));
        match outcome {
            Ok(Updated::Missing) => {
                self.lock_absence(table, &tree, key, (RowLock::Exclusive, grant)).await?;
                Ok(Updated::Missing)
            }
            Err(error) => {
                self.drop_chain(draft.chain).await;
                Err(error)
            }
            Ok(updated) => {
                if let Some(entries) = &draft.entries {
                    self.change_entries(table, key.len(), entries).await?;
                }
                let stats = &self.kernel.stats;
                match updated {
                    Updated::Changed => _ = stats.rows_updated.fetch_add(1, Ordering::Relaxed),
                    Updated::Deleted => _ = stats.rows_deleted.fetch_add(1, Ordering::Relaxed),
                    _ => {}
                }
                Ok(updated)
            }
        }
    }

    /// Deletes one row by its primary key; returns whether there was one.
    pub async fn delete(&mut self, table: &TableDef, key: &[u8]) -> Result<bool> {
        Ok(self.update(table, key, &mut |_, _| Change::Delete).await? == Updated::Deleted)
    }

    async fn carry_out(
        &mut self,
        table: &TableDef,
        tree: &Arc<Tree>,
        key: &[u8],
        change: Decide<'_>,
        draft: &mut Draft,
    ) -> Result<Updated> {
        loop {
            match paged!(self, self.try_update(table, tree, key, change, draft))? {
                Step::Done(updated) => return Ok(updated),
                Step::FetchOld(value) => draft.old = Some(self.fetch_payload(&value).await?),
                Step::CheckUnique => {
                    let entries = draft.entries.take().unwrap_or_default();
                    self.check_unique(table, key, &entries).await?;
                    draft.entries = Some(entries);
                    draft.unique_checked = true;
                }
                Step::WriteChain => draft.chain = self.write_chain(table, &draft.new).await?,
            }
        }
    }

    fn try_update(
        &mut self,
        table: &TableDef,
        tree: &Tree,
        key: &[u8],
        change: Decide<'_>,
        draft: &mut Draft,
    ) -> Result<Step> {
        loop {
            let leaf = tree.leaf_for_write(key)?;
            let Position::Found(slot) = leaf.position() else { return Ok(Step::Done(Updated::Missing)) };
            let found = leaf.record(slot);
            if found.flags & DELETE_MARK != 0 {
                return Ok(Step::Done(Updated::Missing));
            }
            let old = match (RowValue::decode(found.value)?.payload, &draft.old) {
                (Payload::Inline(row), _) => row,
                (Payload::Chain { .. }, Some(row)) => row.as_slice(),
                (Payload::Chain { .. }, None) => return Ok(Step::FetchOld(found.value.to_vec())),
            };
            let decision = *draft.decision.get_or_insert_with(|| change(old, &mut draft.new));
            let (new, updated) = match decision {
                Change::Keep => return Ok(Step::Done(Updated::Kept)),
                Change::Abort => return Ok(Step::Done(Updated::Aborted)),
                Change::Delete => (None, Updated::Deleted),
                Change::Replace => (Some(draft.new.as_slice()), Updated::Changed),
            };
            if !table.secondaries.is_empty() && draft.entries.is_none() {
                draft.entries = Some(entry_changes(table, key, old, new));
            }
            if !draft.unique_checked && draft.entries.iter().flatten().any(|entry| entry.is_unique(table)) {
                return Ok(Step::CheckUnique);
            }
            let version = match new {
                None => NewVersion::Deleted,
                Some(row) if row.len() > INLINE_BYTES_MAX && draft.chain.0 == 0 => {
                    return Ok(Step::WriteChain);
                }
                Some(row) => NewVersion::Row(payload_of(row, draft.chain)),
            };
            if self.try_replace_at(tree, leaf, slot, key, version)? {
                return Ok(Step::Done(updated));
            }
        }
    }
}
