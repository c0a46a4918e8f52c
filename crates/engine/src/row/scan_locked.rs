//! Locking scans: one row at a time, each locked before it is shown.
//!
//! Forward, REPEATABLE READ: next-key lock on every key met, a gap lock on the first key beyond the range (or
//! on the supremum). READ COMMITTED: record locks only, given back for rows that are not wanted. The lock is
//! *tried* under the leaf's latch; if it is refused the latch goes first, then the scan waits, then it seeks
//! the same place again.
//!
//! One value of a unique index: the row that has it is locked alone, without a gap, and ends the scan. If no
//! row has it, the gaps where it could come to be are locked as in any other range, those before
//! delete-marked entries of the value included.
//!
//! The gap before the first key of a leaf also borders on the leaf to the left. `Tree::seek_holding` keeps
//! that one latched until the lock is held, so no insertion slips in between.
//!
//! On a secondary tree the entry is locked first, then the row. Since a writer marks and adds entries after
//! it has changed its row, the row's current secondary key, read under the row's lock, decides whether the
//! entry counts.

use std::ops::Bound;
use std::sync::Arc;

use super::scan::{Scan, Wanted, as_slice};
use super::value::{split_entry, writer_of};
use super::version::check_writer;
use crate::api::{LockWait, Read, RowLock, ScanIndex};
use crate::btree::{Direction, Tree};
use crate::error::{Error, Result};
use crate::page::DELETE_MARK;
use crate::row::{chain, get};
use crate::txn::Txn;
use crate::txn::lock_calls::{GapName, Grant, LockKind};
use crate::txn::transaction::locks_gaps;
use crate::txn::trees::tree as tree_of;
use crate::txn::view::Sight;

/// Says whether a row is wanted.
pub type Accept<'a> = &'a mut (dyn FnMut(&[u8]) -> bool + Send);

/// What one step under the latch found.
enum Found {
    /// The range has ended, its last gap is claimed.
    End,
    /// This key, locked.
    Key { key: Vec<u8>, pk_len: Option<usize>, live: bool, grant: Grant },
    /// A key that does not count; the scan has moved past it.
    Skipped,
    /// This key, and its lock is taken.
    Taken { key: Vec<u8>, pk_len: Option<usize> },
}

/// How a scan claims rows.
#[derive(Clone, Copy)]
struct Claim {
    lock: RowLock,
    wait: LockWait,
    kind: LockKind,
}

impl Scan {
    /// An entry of the one value was looked at under its row's lock: its row ends the scan. If it has no such
    /// row (any more) the value may be missing: from the start again, with gaps.
    fn one_value_ends(&mut self) {
        if self.met {
            self.done = true;
        } else {
            (self.one_value, self.last) = (false, None);
        }
    }
}

impl Txn {
    /// Locking scan: locks the next row and returns its primary key and newest committed version. Under READ
    /// COMMITTED rows that `accept` refuses are unlocked again.
    pub async fn scan_locked_next(
        &mut self,
        scan: &mut Scan,
        accept: &mut (dyn FnMut(&[u8]) -> bool + Send),
    ) -> Result<Option<(Vec<u8>, Vec<u8>)>> {
        scan.locked_next_of(self, &mut |_, _| true, accept).await
    }
}

impl Scan {
    /// The same, but of a secondary tree only rows are locked whose entry `wanted` accepts. The entry itself
    /// stays locked as any other: under REPEATABLE READ no row may come to be in the range. It must not be
    /// asked where the range is one value of a unique index.
    pub async fn locked_next_of(
        &mut self,
        txn: &mut Txn,
        wanted: Wanted<'_>,
        accept: &mut (dyn FnMut(&[u8]) -> bool + Send),
    ) -> Result<Option<(Vec<u8>, Vec<u8>)>> {
        let scan = self;
        let (lock, wait) = match scan.spec.mode {
            Read::Locking { lock, wait } => (lock, wait),
            Read::Consistent => (RowLock::Shared, LockWait::Wait),
        };
        let kind = if locks_gaps(txn) { LockKind::NextKey } else { LockKind::Record };
        let claim = Claim { lock, wait, kind };
        let index = scan.index()?;
        let tree = paged!(txn, tree_of(txn, index))?;
        while !scan.done {
            txn.options.interrupt.check()?;
            txn.count_locks()?;
            admitted!(txn, 1);
            match paged!(txn, try_next(txn, &tree, scan, claim))? {
                Found::End => scan.done = true,
                Found::Skipped => {}
                // Nobody waits for an entry that is not wanted and would be given back.
                Found::Taken { key, pk_len: Some(pk) }
                    if !locks_gaps(txn) && !wanted(&key, end_of(&key, pk)) =>
                {
                    scan.set_last(&key);
                }
                Found::Taken { key, pk_len } => {
                    if pass_over_taken(txn, scan, &key, pk_len, claim, accept).await? {
                        scan.set_last(&key);
                    }
                }
                Found::Key { key, pk_len: Some(pk), grant, .. } if !wanted(&key, end_of(&key, pk)) => {
                    scan.set_last(&key);
                    release_if_unwanted(txn, index, &key, lock, grant);
                }
                Found::Key { key, pk_len, live, grant } => {
                    scan.set_last(&key);
                    scan.met = false;
                    let row = match pk_len {
                        None => claimed_row(txn, scan, &tree, &key, live, accept).await?,
                        Some(pk_len) => claimed_entry(txn, scan, &key, pk_len, claim, accept).await?,
                    };
                    if scan.one_value {
                        scan.one_value_ends();
                    }
                    if row.is_some() {
                        return Ok(row);
                    }
                    release_if_unwanted(txn, index, &key, lock, grant);
                }
            }
        }
        Ok(None)
    }
}

/// The last bytes of a key.
fn end_of(key: &[u8], bytes: usize) -> &[u8] {
    &key[key.len() - bytes..]
}

/// Finds the next key of the range and tries its lock, under the latch.
fn try_next(txn: &mut Txn, tree: &Arc<Tree>, scan: &mut Scan, claim: Claim) -> Result<Found> {
    if scan.spec.reverse && locks_gaps(txn) && !scan.start_claimed {
        claim_gap_above(txn, tree, scan, claim)?;
    }
    let bound = scan.next_bound();
    let leaf = match scan.direction() {
        Direction::Reverse => match tree.seek(as_slice(&bound), Direction::Reverse)? {
            Some(leaf) => leaf,
            None => return Ok(Found::End),
        },
        Direction::Forward => match tree.seek_holding(as_slice(&bound))? {
            Ok(leaf) => leaf,
            Err(_last_leaf) => {
                if locks_gaps(txn) {
                    txn.try_gap(tree, &GapName::Supremum, claim.lock);
                }
                return Ok(Found::End);
            }
        },
    };
    let record = leaf.record(leaf.slot());
    if scan.is_past_end(record.key) {
        if locks_gaps(txn) && !scan.spec.reverse {
            txn.try_gap(tree, &GapName::Key(record.key.to_vec()), claim.lock);
        }
        return Ok(Found::End);
    }
    let pk_len = match scan.spec.index {
        ScanIndex::Clustered => None,
        ScanIndex::Secondary(_) => Some(split_entry(record.key, record.value)?.1.len()),
    };
    let key = record.key.to_vec();
    let marked = record.flags & DELETE_MARK != 0;
    let writer = writer_of(record.value)?;
    check_writer(&txn.kernel, writer)?;
    let kind = if scan.one_value && !marked { LockKind::Record } else { claim.kind };
    let grant = txn.try_lock_row(tree.index(), &key, claim.lock, kind);
    if grant == Grant::Conflict {
        return Ok(Found::Taken { key, pk_len });
    }
    // A mark by a transaction that is still running may go again: such an entry is looked at under its
    // row's lock.
    let live = !marked || (pk_len.is_some() && txn.kernel.registry.is_active(writer));
    if !live && pk_len.is_some() {
        scan.set_last(&key);
        if grant == Grant::New && !locks_gaps(txn) {
            txn.unlock_row(tree.index(), &key, claim.lock);
        }
        return Ok(Found::Skipped);
    }
    let waited = scan.waited.take().is_some_and(|waited| waited == key);
    let grant = if waited { Grant::New } else { grant };
    Ok(Found::Key { key, pk_len, live, grant })
}

/// A reverse scan begins below its upper bound: the gap between the first row it meets and the one above
/// is part of its range.
fn claim_gap_above(txn: &mut Txn, tree: &Arc<Tree>, scan: &mut Scan, claim: Claim) -> Result<()> {
    let above = match scan.next_bound() {
        Bound::Unbounded => None,
        Bound::Included(key) => Some(Bound::Excluded(key)),
        Bound::Excluded(key) => Some(Bound::Included(key)),
    };
    match above {
        None => {
            txn.try_gap(tree, &GapName::Supremum, claim.lock);
        }
        Some(bound) => {
            let found = tree.seek_holding(as_slice(&bound))?;
            let name = match &found {
                Ok(leaf) => GapName::Key(leaf.key().to_vec()),
                Err(_) => GapName::Supremum,
            };
            txn.try_gap(tree, &name, claim.lock);
        }
    }
    scan.start_claimed = true;
    Ok(())
}

/// The lock on `key` is taken. True: leave the row out; false: the lock is ours now or the row is worth
/// another look.
async fn pass_over_taken(
    txn: &mut Txn,
    scan: &mut Scan,
    key: &[u8],
    pk_len: Option<usize>,
    claim: Claim,
    accept: Accept<'_>,
) -> Result<bool> {
    match claim.wait {
        LockWait::NoWait => return Err(Error::NoWait),
        LockWait::SkipLocked => return Ok(true),
        LockWait::Wait => {}
    }
    let index = scan.index()?;
    if scan.semi_consistent && pk_len.is_none() && !locks_gaps(txn) && claim.lock == RowLock::Exclusive {
        // Semi-consistent: a row whose last committed version is not wanted is not waited for.
        match last_committed(txn, scan, key).await? {
            Some(row) if accept(&row) => {}
            _ => return Ok(true),
        }
    }
    // What is found after the wait is asked for once more, with the gap if it needs one.
    let kind = if scan.one_value { LockKind::Record } else { claim.kind };
    if txn.lock_row(index, key, claim.lock, kind, LockWait::Wait).await? == Grant::New {
        scan.waited = Some(key.to_vec());
    }
    Ok(false)
}

async fn last_committed(txn: &mut Txn, scan: &Scan, key: &[u8]) -> Result<Option<Vec<u8>>> {
    let sight = Sight::View(txn.kernel.registry.open_view(), txn.id);
    let tree = paged!(txn, tree_of(txn, scan.table.clustered))?;
    let mut value = Vec::new();
    if !paged!(txn, get::try_fetch_visible(txn, &tree, key, &sight, &mut value))? {
        return Ok(None);
    }
    chain::fetch_payload(txn, &value).await.map(Some)
}

/// The row of a clustered key that has just been locked.
async fn claimed_row(
    txn: &mut Txn,
    _scan: &Scan,
    tree: &Arc<Tree>,
    key: &[u8],
    live: bool,
    accept: Accept<'_>,
) -> Result<Option<(Vec<u8>, Vec<u8>)>> {
    let mut value = Vec::new();
    if !live || !paged!(txn, get::try_fetch_newest(txn, tree, key, &mut value))? {
        return Ok(None);
    }
    txn.options.status.rows().read.add(1);
    let row = chain::fetch_payload(txn, &value).await?;
    Ok(accept(&row).then(|| (key.to_vec(), row)))
}

/// The row behind a secondary entry that has just been locked: lock the row too, and see whether it still
/// has the key.
async fn claimed_entry(
    txn: &mut Txn,
    scan: &mut Scan,
    key: &[u8],
    pk_len: usize,
    claim: Claim,
    accept: Accept<'_>,
) -> Result<Option<(Vec<u8>, Vec<u8>)>> {
    let (secondary, pk) = key.split_at(key.len() - pk_len);
    let table = &scan.table;
    let grant = txn.lock_row(table.clustered, pk, claim.lock, LockKind::Record, claim.wait).await?;
    if grant == Grant::Conflict {
        return Ok(None);
    }
    let tree = paged!(txn, tree_of(txn, table.clustered))?;
    let mut value = Vec::new();
    if paged!(txn, get::try_fetch_newest(txn, &tree, pk, &mut value))? {
        txn.options.status.rows().read.add(1);
        let row = chain::fetch_payload(txn, &value).await?;
        let mut current = Vec::new();
        if let ScanIndex::Secondary(nth) = scan.spec.index {
            table.keys.secondary_key(nth, &row, &mut current);
        }
        scan.met = current == secondary;
        if scan.met && accept(&row) {
            return Ok(Some((pk.to_vec(), row)));
        }
    }
    release_if_unwanted(txn, table.clustered, pk, claim.lock, grant);
    Ok(None)
}

/// READ COMMITTED gives back what it locked and does not want.
pub(super) fn release_if_unwanted(
    txn: &mut Txn,
    index: crate::ids::IndexId,
    key: &[u8],
    lock: RowLock,
    grant: Grant,
) {
    if grant == Grant::New && !locks_gaps(txn) {
        txn.unlock_row(index, key, lock);
    }
}

/// A row that was asked for by key is not there: under REPEATABLE READ the gap where it would be stays
/// locked, the key itself does not, unless a delete-marked row is still there.
pub(crate) async fn lock_absence(
    txn: &mut Txn,
    table: &crate::api::TableDef,
    tree: &Arc<Tree>,
    key: &[u8],
    (lock, grant): (RowLock, Grant),
) -> Result<()> {
    let keep = if locks_gaps(txn) { paged!(txn, try_lock_absence(txn, tree, key))? } else { false };
    if grant == Grant::New && !keep {
        txn.unlock_row(table.clustered, key, lock);
    }
    Ok(())
}

/// Claims the gap behind `key`. True: the key is there, delete-marked.
fn try_lock_absence(txn: &mut Txn, tree: &Arc<Tree>, key: &[u8]) -> Result<bool> {
    let found = tree.seek_holding(Bound::Included(key))?;
    let (name, marked) = match &found {
        Ok(leaf) if leaf.key() == key => (None, true),
        Ok(leaf) => (Some(GapName::Key(leaf.key().to_vec())), false),
        Err(_) => (Some(GapName::Supremum), false),
    };
    if let Some(name) = name {
        txn.try_gap(tree, &name, RowLock::Exclusive);
    }
    Ok(marked)
}
