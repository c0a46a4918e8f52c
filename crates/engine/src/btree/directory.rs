//! The index directory: which indexes exist, and where their roots are. It is a tree itself, index 0.
//!
//! ```text
//!   key: index id, 4 bytes big endian      value: | root page u32 | state u8 |
//!
//!   (none) ──create──► live ──start_drop──► dropping ──drop_step … ──► (none), or "dropped" if it was the greatest id
//! ```
//!
//! Ids are never used twice, because undo records and locks of a dropped index may outlive it: a new id is
//! one above the greatest in the directory, and a dropped index with the greatest id leaves its entry behind
//! ("dropped") until a greater one exists.

use super::adaptive_hash::AdaptiveHash;
use super::{Tree, damaged, drop_index};
use crate::buffer::{INDEX_DIRECTORY_PAGE, Mtr, Storage};
use crate::error::{Error, Result};
use crate::ids::{IndexId, Lsn, PageNo};
use crate::page::{self, PageKind, PageView, Record};
use crate::rank;
use parking_lot::Mutex;
use rustc_hash::FxHashMap;
use std::ops::{Bound, ControlFlow};
use std::sync::Arc;
use turnstile_sys::ranked::RankedRwLock;

/// The directory's own index id.
pub const DIRECTORY_INDEX: IndexId = IndexId(0);

/// What the directory says about an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexState {
    /// In use.
    Live,
    /// Being dropped: `drop_step` has to be called until it is done.
    Dropping,
}

const STATE_LIVE: u8 = 1;
const STATE_DROPPING: u8 = 2;
const STATE_DROPPED: u8 = 3;
const ENTRY_BYTES: usize = 5;

#[derive(Clone, Copy)]
struct Entry {
    root: PageNo,
    state: u8,
}

impl Entry {
    fn decode(page: PageNo, value: &[u8]) -> Result<Entry> {
        let [a, b, c, d, state] = *value else {
            return Err(damaged(page, "directory entry of a wrong length"));
        };
        Ok(Entry { root: PageNo(u32::from_le_bytes([a, b, c, d])), state })
    }

    fn encode(self) -> [u8; ENTRY_BYTES] {
        let [a, b, c, d] = self.root.0.to_le_bytes();
        [a, b, c, d, self.state]
    }
}

fn key_of(index: IndexId) -> [u8; 4] {
    index.0.to_be_bytes()
}

fn index_of(page: PageNo, key: &[u8]) -> Result<IndexId> {
    let bytes = key.try_into().map_err(|_| damaged(page, "directory key of a wrong length"))?;
    Ok(IndexId(u32::from_be_bytes(bytes)))
}

/// All indexes of the data file, with the open ones as shared handles.
pub struct IndexDirectory {
    storage: Arc<Storage>,
    /// Shared by all trees.
    adaptive_hash: Arc<AdaptiveHash>,
    tree: Tree,
    /// Held by whoever changes the set of indexes; taken before everything else of this room.
    change: Mutex<()>,
    /// Handles handed out so far. One per index, for it carries the structure mutex.
    open: RankedRwLock<FxHashMap<IndexId, Arc<Tree>>>,
}

impl IndexDirectory {
    /// The directory of a data file. Reads nothing yet.
    pub fn open(storage: Arc<Storage>, adaptive_hash: Arc<AdaptiveHash>) -> IndexDirectory {
        let tree = Tree::open(
            Arc::clone(&storage),
            DIRECTORY_INDEX,
            INDEX_DIRECTORY_PAGE,
            Arc::clone(&adaptive_hash),
        );
        let open = RankedRwLock::new(rank::INDEXES, &rank::INDEX_DIRECTORY, FxHashMap::default());
        IndexDirectory { storage, adaptive_hash, tree, change: Mutex::new(()), open }
    }

    /// The adaptive hash index of all its trees.
    pub fn adaptive_hash(&self) -> &Arc<AdaptiveHash> {
        &self.adaptive_hash
    }

    /// The directory as a tree, to be verified.
    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    /// Creates an empty index, in one mini-transaction. It survives a crash once the log is synced up to the
    /// LSN.
    pub fn create(&self) -> Result<(IndexId, Lsn)> {
        let _change = self.change.lock();
        loop {
            let last = self.greatest()?;
            let index = IndexId(last.map_or(0, |(index, _)| index.0) + 1);
            let key = key_of(index);
            let leaf = self.tree.leaf_for_write(&key)?;
            if !leaf.fits_insert(key.len(), ENTRY_BYTES) {
                drop(leaf);
                self.tree.make_room(&key, ENTRY_BYTES)?;
                continue;
            }
            let mut mtr = Mtr::begin(&self.storage);
            let slot = leaf.position().slot();
            let edit = leaf.enter(&mut mtr);
            let handle = self.storage.space.alloc(&mut mtr, PageKind::TreeLeaf)?;
            let root = mtr.page_no(handle);
            page::edit::set_index_id(&mut mtr.edit(handle), index);
            let entry = Entry { root, state: STATE_LIVE };
            edit.insert(&mut mtr, slot, &key, &entry.encode(), 0);
            let lsn = mtr.commit();
            if let Some((dropped, Entry { state: STATE_DROPPED, .. })) = last {
                // Only tidiness: if its page is missing, the entry stays, which does no harm.
                let _ = self.remove_entry(dropped);
            }
            return Ok((index, lsn));
        }
    }

    /// The shared handle of a live index.
    pub fn get(&self, index: IndexId) -> Result<Arc<Tree>> {
        if let Some(tree) = self.open.read().get(&index) {
            tree.check_alive()?;
            return Ok(Arc::clone(tree));
        }
        let entry = self.entry(index)?;
        if entry.state != STATE_LIVE {
            return Err(Error::NoSuchIndex(index));
        }
        let tree = self.handle(index, entry.root);
        tree.check_alive()?;
        Ok(tree)
    }

    /// All indexes, ascending, those being dropped included.
    pub fn list(&self) -> Result<Vec<(IndexId, IndexState)>> {
        let mut found = Vec::new();
        let mut bad = None;
        let mut visit = |record: Record<'_>| {
            let entry = index_of(self.tree.root(), record.key)
                .and_then(|index| Ok((index, Entry::decode(self.tree.root(), record.value)?)));
            match entry {
                Ok((index, Entry { state: STATE_LIVE, .. })) => found.push((index, IndexState::Live)),
                Ok((index, Entry { state: STATE_DROPPING, .. })) => found.push((index, IndexState::Dropping)),
                Ok(_) => {}
                Err(error) => {
                    bad = Some(error);
                    return ControlFlow::Break(());
                }
            }
            ControlFlow::Continue(())
        };
        self.tree.walk(&mut super::seek::WalkState::default(), &mut visit)?;
        bad.map_or(Ok(found), Err)
    }

    /// Records that an index is to be dropped; from then on nobody gets or uses its tree. Repeating it does
    /// nothing.
    pub fn start_drop(&self, index: IndexId) -> Result<Lsn> {
        let _change = self.change.lock();
        let leaf = self.tree.leaf_for_write(&key_of(index))?;
        let Some(record) = leaf.found() else { return Err(Error::NoSuchIndex(index)) };
        let entry = Entry::decode(leaf.view().page_no(), record.value)?;
        if entry.state == STATE_DROPPED {
            return Err(Error::NoSuchIndex(index));
        }
        let slot = leaf.position().slot();
        let mut mtr = Mtr::begin(&self.storage);
        let edit = leaf.enter(&mut mtr);
        edit.replace(&mut mtr, slot, &Entry { state: STATE_DROPPING, ..entry }.encode());
        let lsn = mtr.commit();
        self.handle(index, entry.root).mark_gone();
        Ok(lsn)
    }

    /// Frees one more page of an index that is being dropped. `chain_of` tells which overflow chain a value
    /// refers to, if the index has such values; `None` spares the reading of its leaves. Call until `Done`;
    /// after a miss or a crash, call again.
    pub fn drop_step(
        &self,
        index: IndexId,
        chain_of: drop_index::ChainOf<'_>,
    ) -> Result<drop_index::DropProgress> {
        let entry = self.entry(index)?;
        if entry.state != STATE_DROPPING {
            return Err(Error::NoSuchIndex(index));
        }
        let tree = self.handle(index, entry.root);
        tree.mark_gone();
        let progress = tree.drop_leftmost(chain_of)?;
        if progress == drop_index::DropProgress::More {
            return Ok(progress);
        }
        self.finish_drop(index, entry)?;
        self.open.write().remove(&index);
        Ok(drop_index::DropProgress::Done)
    }

    /// Frees the root, the last page left, together with the entry.
    fn finish_drop(&self, index: IndexId, entry: Entry) -> Result<()> {
        let _change = self.change.lock();
        let greatest = self.greatest()?.is_none_or(|(greatest, _)| greatest == index);
        let leaf = self.tree.leaf_for_write(&key_of(index))?;
        if !leaf.position().is_found() {
            return Err(Error::NoSuchIndex(index));
        }
        let root = self.storage.pool.try_pin(entry.root)?.write();
        let slot = leaf.position().slot();
        let mut mtr = Mtr::begin(&self.storage);
        self.storage.space.free(&mut mtr, entry.root);
        mtr.take(root);
        let edit = leaf.enter(&mut mtr);
        if greatest {
            edit.replace(&mut mtr, slot, &Entry { root: PageNo(0), state: STATE_DROPPED }.encode());
            mtr.commit();
            return Ok(());
        }
        edit.remove(&mut mtr, slot);
        self.commit_and_shrink(mtr, edit, index);
        Ok(())
    }

    fn remove_entry(&self, index: IndexId) -> Result<()> {
        let leaf = self.tree.leaf_for_write(&key_of(index))?;
        if !leaf.position().is_found() {
            return Ok(());
        }
        let slot = leaf.position().slot();
        let mut mtr = Mtr::begin(&self.storage);
        let edit = leaf.enter(&mut mtr);
        edit.remove(&mut mtr, slot);
        self.commit_and_shrink(mtr, edit, index);
        Ok(())
    }

    fn commit_and_shrink(&self, mtr: Mtr<'_>, edit: super::LeafEdit, index: IndexId) {
        let sparse = edit.wants_shrink(&mtr);
        mtr.commit();
        if sparse {
            // Only tidiness: a missing page or a full disk leaves a sparse leaf, which does no harm.
            let _ = self.tree.shrink(&key_of(index));
        }
    }

    fn greatest(&self) -> Result<Option<(IndexId, Entry)>> {
        let Some(leaf) = self.tree.seek(Bound::Unbounded, super::Direction::Reverse)? else {
            return Ok(None);
        };
        let page = leaf.view().page_no();
        let record = leaf.record(leaf.slot());
        Ok(Some((index_of(page, record.key)?, Entry::decode(page, record.value)?)))
    }

    fn entry(&self, index: IndexId) -> Result<Entry> {
        let (leaf, position) = self.tree.find(&key_of(index))?;
        if !position.is_found() {
            return Err(Error::NoSuchIndex(index));
        }
        let view: &PageView = leaf.view();
        Entry::decode(view.page_no(), view.value(position.slot()))
    }

    fn handle(&self, index: IndexId, root: PageNo) -> Arc<Tree> {
        let mut open = self.open.write();
        let tree = open.entry(index).or_insert_with(|| {
            let (storage, adaptive_hash) = (Arc::clone(&self.storage), Arc::clone(&self.adaptive_hash));
            Arc::new(Tree::open(storage, index, root, adaptive_hash))
        });
        Arc::clone(tree)
    }
}
