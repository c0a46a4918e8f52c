#![doc = include_str!("recovery/README.md")]

use std::sync::Arc;

use crate::api::{Config, DICTIONARY_INDEX};
use crate::btree::adaptive_hash::AdaptiveHash;
use crate::btree::{DropProgress, IndexDirectory, IndexState};
use crate::buffer::{DATA_FILE, Storage, UNDO_DIRECTORY_PAGE, with_pages_blocking};
use crate::error::{Error, Result};
use crate::ids::{IndexId, PageNo, TxnId};
use crate::lock::LockTable;
use crate::row::undo::undo_newest;
use crate::row::value::chain_in_value;
use crate::txn::counters::Counters;
use crate::txn::kernel::{Kernel, Orphan};
use crate::txn::lanes::{Lanes, Loser};
use crate::txn::registry::Registry;
use crate::txn::undo_record::{NEEDS_PURGE, TxnState};
use crate::txn::view::CommitNo;

/// Brings storage that has been through redo into a state in which transactions can begin: registry and lanes
/// restored, losers rolled back, unfinished index drops finished, the dictionary's index there. Returns the
/// number of losers.
pub(crate) fn restart(storage: Arc<Storage>, config: &Config) -> Result<(Arc<Kernel>, usize)> {
    let (lanes, found) = Lanes::load(&storage, UNDO_DIRECTORY_PAGE)?;
    let first_id = storage.id_mark()?;
    if found.max_txn_id >= first_id {
        return Err(mark_is_lost(found.max_txn_id, first_id));
    }
    let registry = Registry::new(first_id, CommitNo(found.max_commit_no.0 + 1));
    let adaptive_hash = AdaptiveHash::new(storage.pool.frame_count(), config.adaptive_hash_parts);
    let indexes = IndexDirectory::open(storage.clone(), adaptive_hash);
    let locks = Arc::new(LockTable::new(config.settings.clone()));
    let live = with_pages_blocking(&storage, || indexes.list())?;
    let is_live = |index| live.contains(&(index, IndexState::Live));
    let counters = Counters::load(&storage, is_live)?;
    let kernel = Arc::new(Kernel::new(storage, indexes, registry, (lanes, counters), locks, config));
    for loser in &found.losers {
        kernel.registry.enter_again(loser.txn_id);
    }
    let count = found.losers.len();
    roll_back_losers(&kernel, found.losers)?;
    for (index, state) in with_pages_blocking(&kernel.storage, || kernel.indexes.list())? {
        if state == IndexState::Dropping {
            finish_drop(&kernel, index)?;
        }
    }
    ensure_dictionary(&kernel)?;
    Ok((kernel, count))
}

/// Undo by an id that, as the mark says, was never handed out. Going on, a later transaction would get the id
/// of an earlier one.
fn mark_is_lost(found: TxnId, mark: TxnId) -> Error {
    Error::Corrupt {
        file: DATA_FILE.to_owned(),
        offset: 0,
        what: format!("undo of transaction {found} is there, but ids are said to end before {mark}"),
    }
}

/// Rolls back who was running. Rows that were handed on before commit have versions of several of them, the
/// last writer's on top; who finds another one's there waits for that one's turn. Predecessor and successor
/// never change places, so each pass ends at least one of them.
fn roll_back_losers(kernel: &Kernel, mut losers: Vec<Loser>) -> Result<()> {
    while !losers.is_empty() {
        let count = losers.len();
        let mut covered = Vec::new();
        for mut loser in losers {
            loser.hold.add_flags(NEEDS_PURGE);
            match roll_back(kernel, loser.txn_id, &mut loser.hold) {
                Ok(()) => {
                    kernel.end_writer(loser.txn_id, &mut Some(loser.hold), TxnState::RolledBack)?;
                }
                Err(Error::Covered(by)) => covered.push((loser, by)),
                Err(error) => return Err(error),
            }
        }
        if let Some((loser, by)) = covered.first()
            && covered.len() == count
        {
            return Err(circle(loser.txn_id, *by));
        }
        losers = covered.into_iter().map(|(loser, _)| loser).collect();
    }
    Ok(())
}

/// Each of some transactions says that another one of them came after it.
fn circle(one: TxnId, other: TxnId) -> Error {
    Error::Corrupt {
        file: DATA_FILE.to_owned(),
        offset: 0,
        what: format!("transactions {one} and {other} have each changed what the other changed before"),
    }
}

fn roll_back(kernel: &Kernel, id: TxnId, hold: &mut crate::txn::lane::LaneHold) -> Result<()> {
    loop {
        kernel.storage.reserve_blocking()?;
        if !with_pages_blocking(&kernel.storage, || undo_newest(kernel, id, hold))? {
            return Ok(());
        }
    }
}

/// Rolls back a transaction that was dropped before its end. On an error it comes back, to be tried again;
/// `Covered`: once others that have got its rows are gone.
pub(crate) fn roll_back_orphan(
    kernel: &Kernel,
    mut orphan: Box<Orphan>,
) -> std::result::Result<(), (Box<Orphan>, Error)> {
    if !orphan.reclaim(kernel) {
        let id = orphan.id;
        return Err((orphan, Error::Covered(id)));
    }
    if let Err(error) = roll_back(kernel, orphan.id, &mut orphan.hold) {
        return Err((orphan, error));
    }
    let Orphan { id, mut hold, mut locks } = *orphan;
    hold.add_flags(NEEDS_PURGE);
    let mut hold = Some(hold);
    match (kernel.end_writer(id, &mut hold, TxnState::RolledBack), hold) {
        (Err(error), Some(hold)) => Err((Box::new(Orphan { id, hold, locks }), error)),
        _ => {
            locks.release_all(kernel);
            kernel.stats.rows.rolled_back();
            Ok(())
        }
    }
}

/// Frees all pages of an index whose drop has been recorded.
pub(crate) fn finish_drop(kernel: &Kernel, index: IndexId) -> Result<()> {
    let chain_of = |value: &[u8]| -> Option<PageNo> { chain_in_value(value) };
    loop {
        kernel.storage.reserve_blocking()?;
        let step = with_pages_blocking(&kernel.storage, || kernel.indexes.drop_step(index, Some(&chain_of)));
        match step {
            Ok(DropProgress::More) => {}
            Ok(DropProgress::Done) | Err(Error::NoSuchIndex(_)) => return Ok(()),
            Err(error) => return Err(error),
        }
    }
}

fn ensure_dictionary(kernel: &Kernel) -> Result<()> {
    let storage = &kernel.storage;
    let known = with_pages_blocking(storage, || kernel.indexes.list())?;
    if known.iter().any(|(index, _)| *index == DICTIONARY_INDEX) {
        return Ok(());
    }
    let (index, lsn) = with_pages_blocking(storage, || kernel.indexes.create())?;
    if index != DICTIONARY_INDEX {
        return Err(Error::Stopped("the dictionary's index is gone and its number is taken".to_owned()));
    }
    storage.wal.flush_to(lsn)
}
