//! Filling a new secondary tree from the rows of its table: CREATE INDEX.
//!
//! The caller keeps everybody else away from the table, and nobody knows the new tree yet. So there are no locks, no undo and no
//! versions: the newest rows count, and entries carry transaction id 0, which every view sees. After a crash in the middle the
//! layer above finds an index it does not know and drops it.
//!
//! Rows are gathered in portions, whose entries are sorted before they are added, so that leaves are filled in runs.

use std::ops::Bound;
use std::sync::Arc;

use crate::api::TableDef;
use crate::btree::overflow::ChainReader;
use crate::btree::{Direction, Position, Tree};
use crate::buffer::{Mtr, with_pages};
use crate::error::{Error, Result};
use crate::give_way::give_way;
use crate::ids::TxnId;
use crate::page::DELETE_MARK;
use crate::txn::kernel::Kernel;

use super::insert::duplicate;
use super::secondary::{EntryKey, live_entry};
use super::value::{ENTRY_BYTES, Payload, RowValue, entry_value};

/// Bytes of entries gathered before they are sorted and added.
const PORTION_BYTES: usize = 32 << 20;

/// One entry to be added, and the bytes of its primary key.
type Entry = (EntryKey, usize);

/// Fills `table.secondaries[nth]`, which is empty, from the table's rows.
pub(crate) async fn build_secondary(kernel: &Kernel, table: &TableDef, nth: usize) -> Result<()> {
    let storage = &kernel.storage;
    let def = table.secondaries.get(nth).ok_or(Error::NoSuchIndex(table.clustered))?;
    let rows = with_pages(storage, || kernel.tree(table.clustered)).await?;
    let tree = with_pages(storage, || kernel.tree(def.id)).await?;
    let mut last: Option<Vec<u8>> = None;
    let mut portion: Vec<Entry> = Vec::new();
    let mut bytes = 0;
    loop {
        give_way().await;
        let mut chained = Vec::new();
        let before = portion.len();
        let more = with_pages(storage, || {
            portion.truncate(before);
            chained.clear();
            gather(&rows, table, nth, &mut last, &mut portion, &mut chained)
        })
        .await?;
        for (pk, value) in chained {
            let row = read_chain(kernel, &value).await?;
            portion.push((EntryKey::of(table, nth, &row, &pk), pk.len()));
        }
        bytes += portion[before..].iter().map(|(key, _)| key.bytes.len() + 48).sum::<usize>();
        if bytes >= PORTION_BYTES || !more {
            portion.sort_unstable_by(|(a, _), (b, _)| a.bytes.cmp(&b.bytes));
            for (done, (key, pk_len)) in portion.drain(..).enumerate() {
                if done % 64 == 63 {
                    give_way().await;
                }
                storage.reserve().await?;
                let unique = def.unique && key.whole;
                if let Some(other) = with_pages(storage, || add(kernel, &tree, &key, pk_len, unique)).await? {
                    return Err(duplicate(table, Some(nth), &other));
                }
            }
            bytes = 0;
        }
        if !more {
            return Ok(());
        }
    }
}

/// Takes the rows of the next leaf: entries of those in the leaf, leaf values of those in chains. False: there was none.
fn gather(
    rows: &Arc<Tree>,
    table: &TableDef,
    nth: usize,
    last: &mut Option<Vec<u8>>,
    portion: &mut Vec<Entry>,
    chained: &mut Vec<(Vec<u8>, Vec<u8>)>,
) -> Result<bool> {
    let bound = last.as_deref().map_or(Bound::Unbounded, Bound::Excluded);
    let Some(leaf) = rows.seek(bound, Direction::Forward)? else { return Ok(false) };
    for slot in leaf.slot()..leaf.slot_count() {
        let record = leaf.record(slot);
        if record.flags & DELETE_MARK != 0 {
            continue;
        }
        match RowValue::decode(record.value)?.payload {
            Payload::Inline(row) => {
                portion.push((EntryKey::of(table, nth, row, record.key), record.key.len()))
            }
            Payload::Chain { .. } => chained.push((record.key.to_vec(), record.value.to_vec())),
        }
    }
    *last = Some(leaf.record(leaf.slot_count() - 1).key.to_vec());
    Ok(true)
}

async fn read_chain(kernel: &Kernel, value: &[u8]) -> Result<Vec<u8>> {
    match RowValue::decode(value)?.payload {
        Payload::Inline(row) => Ok(row.to_vec()),
        Payload::Chain { first, len } => {
            let mut reader = ChainReader::new(first, len as usize);
            with_pages(&kernel.storage, || reader.read(&kernel.storage)).await?;
            Ok(reader.into_value())
        }
    }
}

/// Adds one entry. The primary key of another row with the same key, if the index is unique and there is one.
fn add(kernel: &Kernel, tree: &Tree, key: &EntryKey, pk_len: usize, unique: bool) -> Result<Option<Vec<u8>>> {
    if unique && let Some(other) = live_entry(tree, key.secondary(), &key.bytes[key.secondary_len..])? {
        return Ok(Some(other));
    }
    Tree::check_record(key.bytes.len(), ENTRY_BYTES)?;
    loop {
        let leaf = tree.leaf_for_write(&key.bytes)?;
        let Position::Missing(slot) = leaf.position() else { return Ok(None) };
        if !leaf.fits_insert(key.bytes.len(), ENTRY_BYTES) {
            drop(leaf);
            tree.make_room(&key.bytes, ENTRY_BYTES)?;
            continue;
        }
        let mut mtr = Mtr::begin(&kernel.storage);
        leaf.enter(&mut mtr).insert(&mut mtr, slot, &key.bytes, &entry_value(TxnId(0), pk_len), 0);
        mtr.commit();
        return Ok(None);
    }
}
