//! UPDATE and DELETE of one row by its primary key: the hot path, in eight steps.
//!
//! 1. lock the key, exclusive, holding no latch
//! 2. descend to the leaf, exclusive
//! 3. show the current version to the caller's closure, once
//! 4. if it changes unique keys or needs an overflow chain: drop the latch, see to those, come back (the lock
//!    keeps the row)
//! 5. latch the lane's last page, open the mini-transaction, append undo
//! 6. write the new version in place: transaction id, roll pointer, payload
//! 7. commit the mini-transaction, and the transaction with it if this is all it does and step 8 has nothing
//!    to do
//! 8. secondary entries, if any changed

use std::sync::Arc;

use super::secondary::{EntryChange, entry_changes};
use super::value::{INLINE_BYTES_MAX, Payload, RowValue};
use super::version::check_writer;
use super::write::NewVersion;
use crate::api::{Change, LockWait, RowLock, TableDef, Updated};
use crate::btree::{Position, Tree};
use crate::error::{Error, Result};
use crate::ids::PageNo;
use crate::page::DELETE_MARK;
use crate::row::{chain, insert, scan_locked, secondary, write};
use crate::txn::Txn;
use crate::txn::lock_calls::Grant;
use crate::txn::spare::{give_buffer, take_buffer};
use crate::txn::transaction::may_end;
use crate::txn::trees::tree as tree_of;

/// The caller's decision about a row.
pub type Decide<'c> = &'c mut (dyn FnMut(&[u8], &mut Vec<u8>) -> Change + Send);

/// What an update has worked out so far; it outlives the latches, and the attempt that had to wait.
#[derive(Default)]
pub struct UpdateDraft {
    /// The row's lock is held, and whether it was before.
    grant: Option<Grant>,
    decision: Option<Change>,
    /// The new row, if the decision is to replace.
    new: Vec<u8>,
    /// The old row, if it had to be fetched from a chain.
    old: Option<Vec<u8>>,
    entries: Option<Vec<EntryChange>>,
    /// The new row's chain, if it needs one.
    chain: PageNo,
    unique_checked: bool,
    /// The transaction is to end with it.
    ends: bool,
    /// The row is done; what is left are its entries, or the lock of its absence.
    outcome: Option<Updated>,
}

/// What an attempt wants before it comes back.
enum Attempt {
    Done(Updated),
    /// The old row is in a chain: this is its leaf value.
    FetchOld(Vec<u8>),
    CheckUnique,
    WriteChain,
}

impl UpdateDraft {
    /// A draft of all that its transaction will do, and that its caller will not take back: if it can be one
    /// mini-transaction, that commits the transaction as well. The caller asks [`Txn::has_ended`], and calls
    /// [`Txn::commit`] then, whatever has happened meanwhile.
    pub fn that_ends(ends: bool) -> Self {
        let mut draft = UpdateDraft::default();
        draft.ends = ends;
        draft
    }
}

impl Drop for UpdateDraft {
    fn drop(&mut self) {
        give_buffer(std::mem::take(&mut self.new));
    }
}

impl Txn {
    /// Changes one row: takes its exclusive lock, shows `change` the current version, and does what it
    /// decides.
    pub async fn update(&mut self, table: &TableDef, key: &[u8], change: Decide<'_>) -> Result<Updated> {
        let mut draft = UpdateDraft::default();
        match self.update_now(table, key, change, &mut draft)? {
            Some(updated) => Ok(updated),
            // In a box: whoever does not wait carries no room for those who do.
            None => Box::pin(self.update_waiting(table, key, change, draft)).await,
        }
    }

    /// Like [`Txn::update`], if no step of it has to wait; `None` if one has to: [`Txn::update_waiting`] goes
    /// on from there with the draft. Nothing has changed then, but the row may be locked, and `change` may
    /// have decided: it is not asked again.
    pub fn update_now(
        &mut self,
        table: &TableDef,
        key: &[u8],
        change: Decide<'_>,
        draft: &mut UpdateDraft,
    ) -> Result<Option<Updated>> {
        turnstile_sys::trail!();
        if !self.kernel.storage.wal.try_reserve()? || self.admission_is_due() {
            return Ok(None);
        }
        self.count_locks()?;
        match try_whole_update(self, table, key, change, draft) {
            Ok(true) => {}
            Ok(false) | Err(Error::Miss(_)) => return Ok(None),
            Err(error) => return Err(error),
        }
        self.spend(1);
        Ok(draft.outcome.inspect(|updated| count_change(self, *updated)))
    }

    /// Goes on with an update that had to wait, from what its draft holds.
    pub async fn update_waiting(
        &mut self,
        table: &TableDef,
        key: &[u8],
        change: Decide<'_>,
        mut draft: UpdateDraft,
    ) -> Result<Updated> {
        self.count_locks()?;
        self.reserve_log().await?;
        admitted!(self, 1);
        self.check_may_write()?;
        let grant = match draft.grant {
            Some(grant) => grant,
            None => {
                let (lock, wait) = (RowLock::Exclusive, LockWait::Wait);
                self.lock_row(table.clustered, key, lock, self.order().lock_kind(), wait).await?
            }
        };
        self.order().note_predecessor()?;
        draft.grant = Some(grant);
        let tree = paged!(self, tree_of(self, table.clustered))?;
        let outcome = match draft.outcome {
            Some(updated) => Ok(updated),
            None => carry_out(self, table, &tree, key, change, &mut draft).await,
        };
        match outcome {
            Ok(Updated::Missing) => {
                scan_locked::lock_absence(self, table, &tree, key, (RowLock::Exclusive, grant)).await?;
                Ok(Updated::Missing)
            }
            Err(error) => {
                insert::drop_chain(self, draft.chain).await;
                Err(error)
            }
            Ok(updated) => {
                if let Some(entries) = &draft.entries {
                    secondary::change_entries(self, table, key.len(), entries).await?;
                }
                count_change(self, updated);
                Ok(updated)
            }
        }
    }

    /// Deletes one row by its primary key; returns whether there was one.
    pub async fn delete(&mut self, table: &TableDef, key: &[u8]) -> Result<bool> {
        Ok(self.update(table, key, &mut |_, _| Change::Delete).await? == Updated::Deleted)
    }
}

/// One attempt at the whole change; whether nothing is left to do.
fn try_whole_update(
    txn: &mut Txn,
    table: &TableDef,
    key: &[u8],
    change: Decide<'_>,
    draft: &mut UpdateDraft,
) -> Result<bool> {
    txn.check_may_write()?;
    match txn.try_lock_row(table.clustered, key, RowLock::Exclusive, txn.order().lock_kind()) {
        Grant::Conflict => return Ok(false),
        grant => draft.grant = Some(grant),
    }
    txn.order().note_predecessor()?;
    let tree = tree_of(txn, table.clustered)?;
    if let Attempt::Done(updated) = try_update(txn, table, &tree, key, change, draft)? {
        draft.outcome = Some(updated);
    }
    Ok(match draft.outcome {
        None | Some(Updated::Missing) => false,
        Some(_) => draft.entries.as_ref().is_none_or(Vec::is_empty),
    })
}

fn count_change(txn: &Txn, updated: Updated) {
    let counts = txn.options.status.rows();
    match updated {
        Updated::Changed => counts.updated.add(1),
        Updated::Deleted => counts.deleted.add(1),
        _ => {}
    }
}

async fn carry_out(
    txn: &mut Txn,
    table: &TableDef,
    tree: &Arc<Tree>,
    key: &[u8],
    change: Decide<'_>,
    draft: &mut UpdateDraft,
) -> Result<Updated> {
    loop {
        match paged!(txn, try_update(txn, table, tree, key, change, draft))? {
            Attempt::Done(updated) => return Ok(updated),
            Attempt::FetchOld(value) => draft.old = Some(chain::fetch_payload(txn, &value).await?),
            Attempt::CheckUnique => {
                let entries = draft.entries.take().unwrap_or_default();
                secondary::check_unique(txn, table, key, &entries).await?;
                draft.entries = Some(entries);
                draft.unique_checked = true;
            }
            Attempt::WriteChain => draft.chain = insert::write_chain(txn, table, &draft.new).await?,
        }
    }
}

fn try_update(
    txn: &mut Txn,
    table: &TableDef,
    tree: &Tree,
    key: &[u8],
    change: Decide<'_>,
    draft: &mut UpdateDraft,
) -> Result<Attempt> {
    loop {
        let leaf = tree.leaf_for_write(key)?;
        let Position::Found(slot) = leaf.position() else { return Ok(Attempt::Done(Updated::Missing)) };
        let found = leaf.record(slot);
        if found.flags & DELETE_MARK != 0 {
            return Ok(Attempt::Done(Updated::Missing));
        }
        let version = RowValue::decode(found.value)?;
        let old = match (version.payload, &draft.old) {
            (Payload::Inline(row), _) => row,
            (Payload::Chain { .. }, Some(row)) => row.as_slice(),
            (Payload::Chain { .. }, None) => return Ok(Attempt::FetchOld(found.value.to_vec())),
        };
        let decision = *draft.decision.get_or_insert_with(|| {
            draft.new = take_buffer();
            change(old, &mut draft.new)
        });
        if !matches!(decision, Change::Replace | Change::Delete) {
            check_writer(&txn.kernel, version.txn_id)?;
        }
        let (new, updated) = match decision {
            Change::Keep => return Ok(Attempt::Done(Updated::Kept)),
            Change::Refuse => {
                drop(leaf);
                // Whose answer rests on what a predecessor may take back stays in its order.
                if let Some(grant) = draft.grant.filter(|_| !txn.order().must_follow()) {
                    scan_locked::release_if_unwanted(txn, table.clustered, key, RowLock::Exclusive, grant);
                }
                return Ok(Attempt::Done(Updated::Kept));
            }
            Change::Abort => return Ok(Attempt::Done(Updated::Aborted)),
            Change::Delete => (None, Updated::Deleted),
            Change::Replace => (Some(draft.new.as_slice()), Updated::Changed),
        };
        if !table.secondaries.is_empty() && draft.entries.is_none() {
            draft.entries = Some(entry_changes(table, key, old, new));
        }
        if !draft.unique_checked && draft.entries.iter().flatten().any(|entry| entry.is_unique(table)) {
            return Ok(Attempt::CheckUnique);
        }
        let first = version.txn_id != txn.id;
        let chained = version.payload.chain().0 != 0 || draft.chain.0 != 0;
        let version = match new {
            None => NewVersion::Deleted,
            Some(row) if row.len() > INLINE_BYTES_MAX && draft.chain.0 == 0 => {
                return Ok(Attempt::WriteChain);
            }
            Some(row) => NewVersion::Row(Payload::of(row, draft.chain)),
        };
        let ends = draft.ends && may_end(txn) && draft.entries.iter().flatten().next().is_none();
        if write::try_replace_at(txn, tree, leaf, slot, key, (version, ends))? {
            if txn.order().notes_changes() {
                let whole = chained || new.is_none() || draft.entries.iter().flatten().next().is_some();
                let only = if whole { Some(false) } else { first.then_some(true) };
                txn.order().note_change(table.clustered, key, only);
            }
            return Ok(Attempt::Done(updated));
        }
    }
}
