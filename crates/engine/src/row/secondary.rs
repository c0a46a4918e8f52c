//! Secondary entries: which ones a row change touches, the duplicate check of unique keys, and the changes
//! themselves.
//!
//! A unique key value is guarded by a lock on the bare secondary key, without the primary key: nobody adds or
//! marks an entry of that value without it. Under the lock the entries with that value cannot change, except
//! that purge removes marked ones, so one look decides. Entries themselves are locked by readers only:
//! whoever locks one goes on to lock its row.

use std::ops::Bound;

use super::value::split_entry;
use super::write::Added;
use crate::api::{LockWait, RowLock, TableDef};
use crate::btree::{Direction, Tree};
use crate::error::{Error, Result};
use crate::page::DELETE_MARK;
use crate::row::write;
use crate::txn::Txn;
use crate::txn::lock_calls::LockKind;
use crate::txn::spare::{give_buffer, take_buffer};
use crate::txn::trees::tree as tree_of;

/// The error for a key that is there already: the primary key, or that of secondary index number `nth`.
pub(crate) fn duplicate(table: &TableDef, nth: Option<usize>, pk: &[u8]) -> Error {
    let index = nth.map_or(table.clustered, |nth| table.secondaries[nth].id);
    Error::DuplicateKey { index, nth, pk: pk.to_vec() }
}

/// Key of an entry: secondary key and behind it the primary key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct EntryKey {
    pub(crate) bytes: Vec<u8>,
    /// Bytes of the secondary key.
    pub(crate) secondary_len: usize,
    /// No column is NULL, so the key takes part in uniqueness.
    pub(crate) whole: bool,
}

impl EntryKey {
    /// The entry of a row version.
    pub(crate) fn of(table: &TableDef, nth: usize, row: &[u8], pk: &[u8]) -> Self {
        let mut bytes = Vec::with_capacity(pk.len() + 32);
        let whole = table.keys.secondary_key(nth, row, &mut bytes);
        let secondary_len = bytes.len();
        bytes.extend_from_slice(pk);
        EntryKey { bytes, secondary_len, whole }
    }

    fn join(secondary: &[u8], pk: &[u8], whole: bool) -> Self {
        EntryKey { bytes: [secondary, pk].concat(), secondary_len: secondary.len(), whole }
    }

    /// The secondary key alone.
    pub(crate) fn secondary(&self) -> &[u8] {
        &self.bytes[..self.secondary_len]
    }
}

/// What a row change does to one secondary tree.
#[derive(Clone, Debug)]
pub(crate) struct EntryChange {
    pub(crate) nth: usize,
    pub(crate) old: Option<EntryKey>,
    pub(crate) new: Option<EntryKey>,
}

impl EntryChange {
    /// Whether the change must hold locks on key values.
    pub(crate) fn is_unique(&self, table: &TableDef) -> bool {
        table.secondaries[self.nth].unique
            && [&self.old, &self.new].into_iter().flatten().any(|key| key.whole)
    }
}

/// The entry changes of replacing `old` by `new` (`None`: of deleting it).
pub(crate) fn entry_changes(table: &TableDef, pk: &[u8], old: &[u8], new: Option<&[u8]>) -> Vec<EntryChange> {
    let mut changes = Vec::new();
    let (mut before, mut after) = (take_buffer(), take_buffer());
    for nth in 0..table.secondaries.len() {
        before.clear();
        after.clear();
        let whole = table.keys.secondary_key(nth, old, &mut before);
        let new_whole = new.map(|row| table.keys.secondary_key(nth, row, &mut after));
        if new.is_none() || before != after {
            let old = Some(EntryKey::join(&before, pk, whole));
            changes.push(EntryChange {
                nth,
                old,
                new: new_whole.map(|whole| EntryKey::join(&after, pk, whole)),
            });
        }
    }
    give_buffer(before);
    give_buffer(after);
    changes
}

/// Locks the unique key values that change, and fails if a new one belongs to another live row.
pub(crate) async fn check_unique(
    txn: &mut Txn,
    table: &TableDef,
    pk: &[u8],
    changes: &[EntryChange],
) -> Result<()> {
    for change in changes.iter().filter(|change| change.is_unique(table)) {
        let index = table.secondaries[change.nth].id;
        for key in [&change.old, &change.new].into_iter().flatten().filter(|key| key.whole) {
            txn.lock_row(index, key.secondary(), RowLock::Exclusive, LockKind::Record, LockWait::Wait)
                .await?;
        }
        let Some(new) = change.new.as_ref().filter(|key| key.whole) else { continue };
        let tree = paged!(txn, tree_of(txn, index))?;
        if let Some(other) = paged!(txn, live_entry(&tree, new.secondary(), pk))? {
            return Err(duplicate(table, Some(change.nth), &other));
        }
    }
    Ok(())
}

/// Marks old entries and adds new ones.
pub(crate) async fn change_entries(
    txn: &mut Txn,
    table: &TableDef,
    pk_len: usize,
    changes: &[EntryChange],
) -> Result<()> {
    for change in changes {
        let index = table.secondaries[change.nth].id;
        let tree = paged!(txn, tree_of(txn, index))?;
        if let Some(old) = &change.old {
            paged!(txn, write::try_mark_entry(txn, &tree, &old.bytes, pk_len))?;
        }
        let Some(new) = &change.new else { continue };
        loop {
            match paged!(txn, write::try_add_entry(txn, &tree, &new.bytes, pk_len))? {
                Added::Done | Added::Exists => break,
                Added::GapTaken(gap) => txn.wait_insert_intention(index, &gap).await?,
                Added::EntryTaken => {
                    txn.lock_row(index, &new.bytes, RowLock::Exclusive, LockKind::Record, LockWait::Wait)
                        .await?;
                }
            }
        }
    }
    Ok(())
}

/// The primary key of an unmarked entry with this secondary key that does not belong to the row `pk` itself.
pub(crate) fn live_entry(tree: &Tree, secondary: &[u8], pk: &[u8]) -> Result<Option<Vec<u8>>> {
    let mut from: Option<Vec<u8>> = None;
    loop {
        let bound = from.as_deref().map_or(Bound::Included(secondary), Bound::Excluded);
        let Some(leaf) = tree.seek(bound, Direction::Forward)? else { return Ok(None) };
        for slot in leaf.slot()..leaf.slot_count() {
            let record = leaf.record(slot);
            if !record.key.starts_with(secondary) {
                return Ok(None);
            }
            let (found, owner) = split_entry(record.key, record.value)?;
            if found == secondary && record.flags & DELETE_MARK == 0 && owner != pk {
                return Ok(Some(owner.to_vec()));
            }
        }
        from = Some(leaf.record(leaf.slot_count() - 1).key.to_vec());
    }
}
