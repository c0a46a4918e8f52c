//! Filling a new secondary tree from the rows of its table: CREATE INDEX.
//!
//! The caller keeps everybody else away from the table, and nobody knows the new tree yet. So there are no
//! locks, no undo and no versions: the newest rows count, and entries carry transaction id 0, which every
//! view sees. After a crash in the middle the layer above finds an index it does not know and drops it.
//!
//! Rows are gathered in portions, whose entries are sorted before they are added. As many neighbours as go
//! into one leaf are one mini-transaction: a tree that nobody knows may have any number of them after a
//! crash.

use std::ops::Bound;
use std::sync::Arc;

use crate::api::TableDef;
use crate::btree::overflow::ChainReader;
use crate::btree::{Direction, LeafWrite, Tree};
use crate::buffer::{Mtr, with_pages};
use crate::error::{Error, Result};
use crate::ids::TxnId;
use crate::page::{DELETE_MARK, SLOT_SIZE, record_size};
use crate::txn::kernel::Kernel;
use crate::yield_now::yield_now;

use super::secondary::{duplicate, live_entry};
use super::value::{ENTRY_BYTES, Payload, RowValue, entry_value};
use super::version::check_writer;

/// Bytes of memory for entries gathered before they are sorted and added; few in tests, which so have several
/// portions.
const PORTION_BYTES: usize = if cfg!(test) { 64 << 10 } else { 64 << 20 };

/// Most entries of one mini-transaction that does not just append.
const RUN_ENTRIES_MAX: usize = 256;

/// One entry of a portion; its key is in the portion's buffer.
#[derive(Clone, Copy)]
struct Entry {
    /// The first bytes of the key as a number, zeros behind a shorter one: decides nearly every comparison.
    prefix: u64,
    start: u32,
    secondary_len: u16,
    pk_len: u16,
    /// No column is NULL.
    whole: bool,
}

/// Entries gathered, and the buffer that has their keys.
#[derive(Default)]
struct Portion {
    keys: Vec<u8>,
    entries: Vec<Entry>,
}

impl Portion {
    /// Adds the entry of a row.
    fn push(&mut self, table: &TableDef, nth: usize, row: &[u8], pk: &[u8]) -> Result<()> {
        let start = self.keys.len();
        let whole = table.keys.secondary_key(nth, row, &mut self.keys);
        let secondary_len = self.keys.len() - start;
        self.keys.extend_from_slice(pk);
        let key = &self.keys[start..];
        Tree::check_record(key.len(), ENTRY_BYTES)?;
        let mut prefix = [0; 8];
        let known = key.len().min(8);
        prefix[..known].copy_from_slice(&key[..known]);
        self.entries.push(Entry {
            prefix: u64::from_be_bytes(prefix),
            start: start as u32,
            secondary_len: secondary_len as u16,
            pk_len: pk.len() as u16,
            whole,
        });
        Ok(())
    }

    fn key(&self, entry: &Entry) -> &[u8] {
        let start = entry.start as usize;
        &self.keys[start..start + usize::from(entry.secondary_len) + usize::from(entry.pk_len)]
    }

    fn is_full(&self) -> bool {
        self.keys.len() + self.entries.len() * size_of::<Entry>() >= PORTION_BYTES
    }

    fn sort(&mut self) {
        let mut entries = std::mem::take(&mut self.entries);
        entries.sort_unstable_by(|a, b| a.prefix.cmp(&b.prefix).then_with(|| self.key(a).cmp(self.key(b))));
        self.entries = entries;
    }

    /// Where it stood when it had so many entries: to be given to [`Portion::go_back`].
    fn mark(&self) -> (usize, usize) {
        (self.keys.len(), self.entries.len())
    }

    fn go_back(&mut self, (keys, entries): (usize, usize)) {
        self.keys.truncate(keys);
        self.entries.truncate(entries);
    }
}

/// Fills `table.secondaries[nth]`, which is empty, from the table's rows.
pub(crate) async fn build_secondary(kernel: &Kernel, table: &TableDef, nth: usize) -> Result<()> {
    let storage = &kernel.storage;
    let def = table.secondaries.get(nth).ok_or(Error::NoSuchIndex(table.clustered))?;
    let rows = with_pages(storage, || kernel.tree(table.clustered)).await?;
    let tree = with_pages(storage, || kernel.tree(def.id)).await?;
    let mut last: Option<Vec<u8>> = None;
    let mut portion = Portion::default();
    loop {
        yield_now().await;
        let mut chained = Vec::new();
        let before = portion.mark();
        let more = with_pages(storage, || {
            portion.go_back(before);
            chained.clear();
            gather(kernel, (&rows, table, nth), &mut last, &mut portion, &mut chained)
        })
        .await?;
        for (pk, value) in chained {
            let row = read_chain(kernel, &value).await?;
            portion.push(table, nth, &row, &pk)?;
        }
        if portion.is_full() || !more {
            portion.sort();
            let mut at = 0;
            while at < portion.entries.len() {
                yield_now().await;
                storage.reserve().await?;
                let added = with_pages(storage, || add_run(kernel, &tree, &portion, at, def.unique)).await?;
                at += added.map_err(|other| duplicate(table, Some(nth), &other))?;
            }
            portion.go_back((0, 0));
        }
        if !more {
            return Ok(());
        }
    }
}

/// Takes the rows of the next leaf: entries of those in the leaf, leaf values of those in chains. False:
/// there was none.
fn gather(
    kernel: &Kernel,
    (rows, table, nth): (&Arc<Tree>, &TableDef, usize),
    last: &mut Option<Vec<u8>>,
    portion: &mut Portion,
    chained: &mut Vec<(Vec<u8>, Vec<u8>)>,
) -> Result<bool> {
    let bound = last.as_deref().map_or(Bound::Unbounded, Bound::Excluded);
    let Some(leaf) = rows.seek(bound, Direction::Forward)? else { return Ok(false) };
    for slot in leaf.slot()..leaf.slot_count() {
        let record = leaf.record(slot);
        if record.flags & DELETE_MARK != 0 {
            continue;
        }
        let value = RowValue::decode(record.value)?;
        check_writer(kernel, value.txn_id)?;
        match value.payload {
            Payload::Inline(row) => portion.push(table, nth, row, record.key)?,
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

/// Adds entries from `first` on to the leaf of that one, at least one, and says how many. `Err`: the index is
/// unique, and this is the primary key of another row with the same key.
fn add_run(
    kernel: &Kernel,
    tree: &Tree,
    portion: &Portion,
    first: usize,
    unique: bool,
) -> Result<std::result::Result<usize, Vec<u8>>> {
    let entry = &portion.entries[first];
    let key = portion.key(entry);
    let alone = unique && entry.whole;
    if alone {
        let (secondary, pk) = key.split_at(usize::from(entry.secondary_len));
        if let Some(other) = live_entry(tree, secondary, pk)? {
            return Ok(Err(other));
        }
    }
    loop {
        let leaf = tree.leaf_for_write(key)?;
        if leaf.position().is_found() {
            return Ok(Ok(1));
        }
        if !leaf.fits_insert(key.len(), ENTRY_BYTES) {
            drop(leaf);
            tree.make_room(key, ENTRY_BYTES)?;
            continue;
        }
        // The next one of a unique index is looked for first, so it comes alone.
        let most = if unique { 1 } else { portion.entries.len() - first };
        let run = &portion.entries[first..first + most];
        let appended = if leaf.is_at_end() { fitting(&leaf, portion, run) } else { 0 };
        let mut mtr = Mtr::begin(&kernel.storage);
        let count = if appended > 0 {
            append(leaf, &mut mtr, portion, &run[..appended]);
            appended
        } else {
            insert(leaf, &mut mtr, portion, &run[..most.min(RUN_ENTRIES_MAX)])
        };
        mtr.commit();
        return Ok(Ok(count));
    }
}

/// How many of `run` go behind the last record of a leaf.
fn fitting(leaf: &LeafWrite<'_>, portion: &Portion, run: &[Entry]) -> usize {
    let mut room = leaf.room_at_end();
    let fits = |entry: &&Entry| {
        let bytes = record_size(portion.key(entry).len(), ENTRY_BYTES) + SLOT_SIZE;
        let fits = bytes <= room;
        room = room.saturating_sub(bytes);
        fits
    };
    run.iter().take_while(fits).count()
}

fn append<'t>(leaf: LeafWrite<'t>, mtr: &mut Mtr<'t>, portion: &Portion, run: &[Entry]) {
    let values: Vec<_> = run.iter().map(|entry| entry_value(TxnId(0), usize::from(entry.pk_len))).collect();
    let records = run.iter().zip(&values);
    leaf.enter(mtr).append(mtr, records.map(|(entry, value)| (portion.key(entry), [&value[..], &[][..]])));
}

/// Inserts the entries of `run` that belong between the records of a leaf; the first one does, and fits.
fn insert<'t>(leaf: LeafWrite<'t>, mtr: &mut Mtr<'t>, portion: &Portion, run: &[Entry]) -> usize {
    let last = leaf.view().slot_count().checked_sub(1).map(|slot| leaf.record(slot).key.to_vec());
    let mut slot = leaf.position().slot();
    let leaf = leaf.enter(mtr);
    for (nth, entry) in run.iter().enumerate() {
        let key = portion.key(entry);
        if nth > 0 {
            // Behind the leaf's last record the next leaf begins somewhere.
            let here = last.as_deref().is_some_and(|last| key < last);
            match leaf.view(mtr).search(key) {
                Err(place) if here && leaf.view(mtr).fits(key.len(), ENTRY_BYTES) => slot = place,
                _ => return nth,
            }
        }
        leaf.insert(mtr, slot, key, &entry_value(TxnId(0), usize::from(entry.pk_len)), 0);
    }
    run.len()
}
