//! Reading one row by its primary key.
//!
//! A consistent read first tries without a read view: if the newest version is by a transaction below the
//! registry's low water it is committed for everybody, and a view opened now would show it. Only transactions
//! that need one view for several reads, and rows that are being changed, pay for a view.

use super::value::{Payload, RowValue, writer_of};
use super::version::{Seen, check_writer, visible};
use crate::api::{Isolation, LockWait, Read, RowLock, TableDef};
use crate::btree::{Position, Tree};
use crate::error::{Error, Result};
use crate::page::DELETE_MARK;
use crate::row::{chain, scan_locked};
use crate::txn::Txn;
use crate::txn::lock_calls::{Grant, LockKind};
use crate::txn::spare::{give_buffer, take_buffer};
use crate::txn::trees::tree as tree_of;
use crate::txn::view::Sight;

/// Outcome of one look.
enum Look {
    Nothing,
    /// The closure has seen the row.
    Shown,
    /// The row is in a chain: this is its leaf value.
    Chained(Vec<u8>),
    /// Not decided without a view.
    NeedsView,
}

impl Txn {
    /// Reads one row by its primary key.
    pub async fn get(&mut self, table: &TableDef, key: &[u8], mode: Read) -> Result<Option<Vec<u8>>> {
        let mut row = None;
        let mut keep = |bytes: &[u8]| row = Some(bytes.to_vec());
        match mode {
            Read::Consistent => self.get_with(table, key, &mut keep).await?,
            Read::Locking { lock, wait } => {
                let mut accept = |bytes: &[u8]| {
                    keep(bytes);
                    true
                };
                get_locked(self, table, key, (lock, wait), &mut accept).await?
            }
        };
        Ok(row)
    }

    /// Locks one row by its primary key and shows it to `accept`, which says whether it is wanted; it then is
    /// returned. READ COMMITTED gives the lock of one that is not wanted back.
    pub async fn get_wanted(
        &mut self,
        table: &TableDef,
        key: &[u8],
        (lock, wait): (RowLock, LockWait),
        accept: &mut (dyn FnMut(&[u8]) -> bool + Send),
    ) -> Result<Option<Vec<u8>>> {
        let mut row = None;
        let mut keep = |bytes: &[u8]| {
            row = accept(bytes).then(|| bytes.to_vec());
            row.is_some()
        };
        get_locked(self, table, key, (lock, wait), &mut keep).await?;
        Ok(row)
    }

    /// Reads one row without copying it: `visit` sees the visible version, under the page's latch. Returns
    /// whether there is one. A statement of an autocommit or READ COMMITTED transaction that reads more than
    /// one row calls [`Txn::pin_snapshot`] first; otherwise each of its reads sees its own moment.
    pub async fn get_with(
        &mut self,
        table: &TableDef,
        key: &[u8],
        visit: &mut (dyn FnMut(&[u8]) + Send),
    ) -> Result<bool> {
        admitted!(self, 1);
        match paged!(self, try_get(self, table, key, visit))? {
            Look::Chained(value) => {
                visit(&chain::fetch_payload(self, &value).await?);
                Ok(true)
            }
            look => Ok(matches!(look, Look::Shown)),
        }
    }

    /// As [`Txn::get_with`], as a plain call. `None`: something has to be waited for (a page, a ticket, a
    /// long row), and `visit` has seen nothing.
    pub fn get_now(
        &mut self,
        table: &TableDef,
        key: &[u8],
        visit: &mut (dyn FnMut(&[u8]) + Send),
    ) -> Result<Option<bool>> {
        if self.admission_is_due() {
            return Ok(None);
        }
        let found = match try_get(self, table, key, visit) {
            Ok(Look::Chained(_)) | Err(Error::Miss(_)) => return Ok(None),
            look => matches!(look?, Look::Shown),
        };
        self.spend(1);
        Ok(Some(found))
    }
}

/// One attempt at the whole read; `visit` sees a row in its leaf and nothing else.
fn try_get(
    txn: &mut Txn,
    table: &TableDef,
    key: &[u8],
    visit: &mut (dyn FnMut(&[u8]) + Send),
) -> Result<Look> {
    let tree = tree_of(txn, table.clustered)?;
    let one_shot = txn.view.is_none()
        && !txn.one_moment
        && (txn.options.autocommit || txn.options.isolation == Isolation::ReadCommitted);
    if one_shot {
        match look_without_view(txn, &tree, key, visit)? {
            Look::Chained(_) | Look::NeedsView => {}
            decided => return Ok(decided),
        }
    }
    let sight = txn.sight();
    look(txn, &tree, key, &sight, visit)
}

fn look_without_view(
    txn: &Txn,
    tree: &Tree,
    key: &[u8],
    visit: &mut (dyn FnMut(&[u8]) + Send),
) -> Result<Look> {
    let low_water = txn.kernel.registry.low_water();
    let (leaf, position) = tree.find(key)?;
    let Position::Found(slot) = position else { return Ok(Look::Nothing) };
    let record = leaf.record(slot);
    let row = RowValue::decode(record.value)?;
    if row.txn_id.0 >= low_water && row.txn_id != txn.id {
        return Ok(Look::NeedsView);
    }
    if record.flags & DELETE_MARK != 0 {
        return Ok(Look::Nothing);
    }
    let Payload::Inline(bytes) = row.payload else { return Ok(Look::NeedsView) };
    txn.options.status.rows().read.add(1);
    visit(bytes);
    Ok(Look::Shown)
}

fn look(
    txn: &Txn,
    tree: &Tree,
    key: &[u8],
    sight: &Sight,
    visit: &mut (dyn FnMut(&[u8]) + Send),
) -> Result<Look> {
    let (leaf, position) = tree.find(key)?;
    let Position::Found(slot) = position else { return Ok(Look::Nothing) };
    let record = leaf.record(slot);
    let mut older = take_buffer();
    let value = match visible(&txn.kernel, &record, sight, &mut older)? {
        Seen::Nothing => {
            give_buffer(older);
            return Ok(Look::Nothing);
        }
        Seen::Newest => record.value,
        Seen::Older => older.as_slice(),
    };
    txn.options.status.rows().read.add(1);
    let look = match RowValue::decode(value)?.payload {
        Payload::Inline(bytes) => {
            visit(bytes);
            Look::Shown
        }
        Payload::Chain { .. } => Look::Chained(value.to_vec()),
    };
    give_buffer(older);
    Ok(look)
}

/// The version that a view shows of a row, copied: for secondary scans. `value` gets the leaf value.
pub(crate) fn try_fetch_visible(
    txn: &Txn,
    tree: &Tree,
    key: &[u8],
    sight: &Sight,
    value: &mut Vec<u8>,
) -> Result<bool> {
    let (leaf, position) = tree.find(key)?;
    let Position::Found(slot) = position else { return Ok(false) };
    let record = leaf.record(slot);
    match visible(&txn.kernel, &record, sight, value)? {
        Seen::Nothing => return Ok(false),
        Seen::Newest => {
            value.clear();
            value.extend_from_slice(record.value);
        }
        Seen::Older => {}
    }
    Ok(true)
}

/// The newest version of a row that this transaction has locked, copied. False if it is missing or
/// deleted.
pub(crate) fn try_fetch_newest(txn: &Txn, tree: &Tree, key: &[u8], value: &mut Vec<u8>) -> Result<bool> {
    let (leaf, position) = tree.find(key)?;
    let Position::Found(slot) = position else { return Ok(false) };
    let record = leaf.record(slot);
    check_writer(&txn.kernel, writer_of(record.value)?)?;
    if record.flags & DELETE_MARK != 0 {
        return Ok(false);
    }
    value.clear();
    value.extend_from_slice(record.value);
    Ok(true)
}

async fn get_locked(
    txn: &mut Txn,
    table: &TableDef,
    key: &[u8],
    (lock, wait): (RowLock, LockWait),
    accept: &mut (dyn FnMut(&[u8]) -> bool + Send),
) -> Result<bool> {
    txn.count_locks()?;
    admitted!(txn, 1);
    let grant = txn.lock_row(table.clustered, key, lock, LockKind::Record, wait).await?;
    if grant == Grant::Conflict {
        return Ok(false);
    }
    let tree = paged!(txn, tree_of(txn, table.clustered))?;
    let mut value = take_buffer();
    if !paged!(txn, try_fetch_newest(txn, &tree, key, &mut value))? {
        give_buffer(value);
        scan_locked::lock_absence(txn, table, &tree, key, (lock, grant)).await?;
        return Ok(false);
    }
    txn.options.status.rows().read.add(1);
    let wanted = match RowValue::decode(&value)?.payload {
        Payload::Inline(row) => accept(row),
        Payload::Chain { .. } => accept(&chain::fetch_payload(txn, &value).await?),
    };
    give_buffer(value);
    if !wanted {
        scan_locked::release_if_unwanted(txn, table.clustered, key, lock, grant);
    }
    Ok(true)
}
