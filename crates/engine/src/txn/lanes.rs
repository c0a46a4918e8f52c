//! All undo lanes: the directory on disk, and which lanes are free.
//!
//! ```text
//!  undo directory page:  | header | first page of lane 0 u32 | of lane 1 u32 | ...        next -> more lanes
//! ```
//!
//! A lane is created when a transaction wants to write and no lane is free, and then lives for ever: there
//! are as many as there ever were transactions writing at the same time, and one for each thread besides.
//! Free lanes lie in a shard for each thread, and are taken last in, first out: so a thread uses few, the
//! same again and again, and the lines of a lane and of its last page stay with one processor. Who finds its
//! shard empty takes another's lane, but not its last one, or makes a new one.

use std::sync::Arc;

use parking_lot::{Mutex, RwLock};

use crate::btree::damaged;
use crate::buffer::{Mtr, Storage, with_pages_blocking};
use crate::error::{Error, Result};
use crate::ids::{IndexId, PageNo, RollPtr, TxnId};
use crate::page::{HEADER_SIZE, PAGE_SIZE, PageKind, PageView, edit};
use turnstile_sys::contention::thread_number;

use super::lane::{ITEMS_START, Lane, LaneHold, LaneState};
use super::undo_record::{INERT, Item, TxnState, item_at, roll_ptr};
use super::view::CommitNo;

/// Lanes one directory page lists.
const LANES_PER_PAGE: usize = (PAGE_SIZE - HEADER_SIZE) / 4;

/// The lanes of an engine.
#[derive(Debug)]
pub struct Lanes {
    all: RwLock<Vec<Arc<Lane>>>,
    free: FreeLanes,
    /// Directory pages, in chain order. Held while a lane is created.
    directory: Mutex<Vec<PageNo>>,
}

/// Shards of the free lanes. More threads than that share them.
const SHARDS: usize = 32;

/// The lanes that no transaction has.
#[derive(Debug, Default)]
struct FreeLanes {
    shards: [FreeShard; SHARDS],
}

/// What one thread gave back. A line of its own.
#[derive(Debug, Default)]
#[repr(align(128))]
struct FreeShard(Mutex<Vec<Arc<Lane>>>);

impl FreeLanes {
    /// The thread's own lane, or one that another has besides its last.
    #[inline]
    fn take(&self) -> Option<Arc<Lane>> {
        let own = thread_number() as usize % SHARDS;
        let mine = self.shards[own].0.lock().pop();
        mine.or_else(|| self.take_of_others(own, 1))
    }

    /// A lane of a thread that has more than `left`.
    #[cold]
    fn take_of_others(&self, own: usize, left: usize) -> Option<Arc<Lane>> {
        (1..SHARDS).find_map(|step| {
            let mut lanes = self.shards[(own + step) % SHARDS].0.lock();
            if lanes.len() > left { lanes.pop() } else { None }
        })
    }

    /// Any lane, when there can be no new one.
    fn take_last(&self) -> Option<Arc<Lane>> {
        self.take_of_others(thread_number() as usize % SHARDS, 0)
    }

    #[inline]
    fn give(&self, lane: Arc<Lane>) {
        self.shards[thread_number() as usize % SHARDS].0.lock().push(lane);
    }
}

/// A transaction that was running when the engine went down.
#[derive(Debug)]
pub struct Loser {
    /// Its id.
    pub txn_id: TxnId,
    /// Its lane, held.
    pub hold: LaneHold,
}

/// What the lanes tell at restart.
#[derive(Debug, Default)]
pub struct Found {
    /// Transactions to roll back.
    pub losers: Vec<Loser>,
    /// Greatest transaction id met, in a header or a record.
    pub max_txn_id: TxnId,
    /// Greatest commit number met.
    pub max_commit_no: CommitNo,
    /// Ended transactions that purge has still to go through.
    pub history: u64,
}

fn slot_offset(number: usize) -> usize {
    HEADER_SIZE + number % LANES_PER_PAGE * 4
}

/// A page that is something else, zeros for instance, would be taken for the end of a lane, and whoever wrote
/// behind it for somebody who has ended.
fn expect_kind(page: &PageView, kind: PageKind) -> Result<()> {
    if page.kind() == Some(kind) {
        return Ok(());
    }
    Err(damaged(page.page_no(), format!("page {} is not one of kind {kind:?}", page.page_no())))
}

impl Lanes {
    /// Reads the directory that begins at `root` and every lane in it. Blocking; at open only.
    pub fn load(storage: &Storage, root: PageNo) -> Result<(Lanes, Found)> {
        let mut firsts = Vec::new();
        let mut directory = Vec::new();
        let mut page_no = root;
        while page_no != PageNo(0) {
            directory.push(page_no);
            page_no = with_pages_blocking(storage, || {
                let page = storage.pool.try_pin(page_no)?.read();
                expect_kind(&page, PageKind::UndoDirectory)?;
                let base = (directory.len() - 1) * LANES_PER_PAGE;
                firsts.truncate(base);
                firsts.extend((0..LANES_PER_PAGE).map(|n| PageNo(page.u32_at(slot_offset(n)))));
                Ok(page.next())
            })?;
        }
        while firsts.last() == Some(&PageNo(0)) {
            firsts.pop();
        }
        let mut found = Found::default();
        let (mut all, free) = (Vec::new(), FreeLanes::default());
        for (number, first) in firsts.into_iter().enumerate() {
            let lane = load_lane(storage, number as u32, first, &mut found)?;
            if found.losers.last().is_none_or(|loser| loser.hold.lane().number != lane.number) {
                free.give(lane.clone());
            }
            all.push(lane);
        }
        let lanes = Lanes { all: RwLock::new(all), free, directory: Mutex::new(directory) };
        Ok((lanes, found))
    }

    /// A free lane for a transaction, if there is one.
    #[inline]
    pub fn take_free(&self) -> Option<LaneHold> {
        self.free.take().map(Lane::hold)
    }

    /// A lane for a transaction: a free one, or a new one. `Miss` and `DiskFull` change nothing.
    pub fn acquire(&self, storage: &Storage) -> Result<LaneHold> {
        if let Some(hold) = self.take_free() {
            return Ok(hold);
        }
        match self.create(storage) {
            Err(Error::DiskFull) => self.free.take_last().map(Lane::hold).ok_or(Error::DiskFull),
            outcome => outcome,
        }
    }

    /// Takes a lane back.
    pub fn release(&self, hold: LaneHold) {
        self.free.give(hold.release());
    }

    fn create(&self, storage: &Storage) -> Result<LaneHold> {
        let mut directory = self.directory.lock();
        let number = self.all.read().len();
        let last = *directory.last().expect("the directory has its root page");
        let place = match directory.get(number / LANES_PER_PAGE) {
            Some(&page) => page,
            None => {
                let mut mtr = Mtr::begin(storage);
                let old = mtr.take(storage.pool.try_pin(last)?.write());
                let new = storage.space.alloc(&mut mtr, PageKind::UndoDirectory)?;
                let new_no = mtr.page_no(new);
                edit::set_next(&mut mtr.edit(old), new_no);
                mtr.commit();
                directory.push(new_no);
                new_no
            }
        };
        let mut mtr = Mtr::begin(storage);
        let page = mtr.take(storage.pool.try_pin(place)?.write());
        let undo = storage.space.alloc(&mut mtr, PageKind::Undo)?;
        let first = mtr.page_no(undo);
        edit::set_index_id(&mut mtr.edit(undo), IndexId(number as u32));
        mtr.write(page, slot_offset(number), &first.0.to_le_bytes());
        mtr.commit();
        let lane = Arc::new(Lane::new(number as u32, LaneState::empty(first)));
        self.all.write().push(lane.clone());
        Ok(lane.hold())
    }

    /// The lanes in which a purge round with this limit has something to do, and how many ended transactions
    /// they hold. Looks at no page: the cost is a few instructions for each lane there is.
    pub fn with_work(&self, limit: CommitNo) -> (Vec<Arc<Lane>>, u64) {
        let (mut lanes, mut transactions) = (Vec::new(), 0);
        for lane in self.all.read().iter() {
            let state = lane.state();
            if state.has_work(limit) {
                lanes.push(lane.clone());
                transactions += state.unpurged;
            }
        }
        (lanes, transactions)
    }

    /// The lanes that have history.
    pub fn with_history(&self) -> Vec<Arc<Lane>> {
        let has = |lane: &&Arc<Lane>| lane.with_state(|state| state.unpurged > state.inert);
        self.all.read().iter().filter(has).cloned().collect()
    }

    /// Ended transactions that purge has not been through and that are not inert, over all lanes.
    pub fn history_length(&self) -> u64 {
        let waiting = |lane: &Arc<Lane>| lane.with_state(|state| state.unpurged - state.inert);
        self.all.read().iter().map(waiting).sum()
    }

    /// Number of lanes, and of the undo pages in them.
    pub fn sizes(&self) -> (u64, u64) {
        let all = self.all.read();
        (all.len() as u64, all.iter().map(|lane| lane.with_state(|state| state.pages)).sum())
    }

    /// The lane with this number.
    pub fn get(&self, number: u32) -> Option<Arc<Lane>> {
        self.all.read().get(number as usize).cloned()
    }

    /// Frees a page between two others of a lane, whose records nobody can reach.
    pub fn drop_middle_page(
        &self,
        storage: &Storage,
        page_no: PageNo,
        prev: PageNo,
        next: PageNo,
    ) -> Result<()> {
        let mut mtr = Mtr::begin(storage);
        let before = mtr.take(storage.pool.try_pin(prev)?.write());
        let after = mtr.take(storage.pool.try_pin(next)?.write());
        storage.space.free(&mut mtr, page_no);
        edit::set_next(&mut mtr.edit(before), next);
        edit::set_prev(&mut mtr.edit(after), prev);
        mtr.commit();
        Ok(())
    }

    /// Frees the lane's first page, which purge is through with and which has a successor. The directory
    /// points to the successor in the same mini-transaction: that is all the progress purge has to record.
    pub fn drop_first_page(&self, storage: &Storage, lane: &Lane) -> Result<()> {
        let first = lane.state().first;
        let place = self.directory.lock()[lane.number as usize / LANES_PER_PAGE];
        let next = storage.pool.try_pin(first)?.read().next();
        let mut mtr = Mtr::begin(storage);
        let second = mtr.take(storage.pool.try_pin(next)?.write());
        let page = mtr.take(storage.pool.try_pin(place)?.write());
        storage.space.free(&mut mtr, first);
        edit::set_prev(&mut mtr.edit(second), PageNo(0));
        mtr.write(page, slot_offset(lane.number as usize), &next.0.to_le_bytes());
        mtr.commit();
        lane.with_state(|state| {
            state.first = next;
            state.pages -= 1;
        });
        Ok(())
    }
}

/// Walks one lane from its first page and counts what it holds.
fn load_lane(storage: &Storage, number: u32, first: PageNo, found: &mut Found) -> Result<Arc<Lane>> {
    let mut state = LaneState { pages: 0, ..LaneState::empty(first) };
    let mut open: Option<(TxnId, RollPtr, RollPtr, u8)> = None;
    let mut page_no = first;
    while page_no != PageNo(0) {
        let page = storage.pool.load_blocking(page_no)?.read();
        expect_kind(&page, PageKind::Undo)?;
        state.last = page_no;
        state.pages += 1;
        let mut offset = ITEMS_START;
        while offset < page.heap_top() {
            let (item, next) = item_at(&page, offset)?;
            match item {
                Item::Txn(header) => {
                    found.max_txn_id = found.max_txn_id.max(header.txn_id);
                    found.max_commit_no = found.max_commit_no.max(header.commit_no);
                    let active = header.state == TxnState::Active;
                    state.unpurged += u64::from(!active);
                    state.inert += u64::from(!active && header.flags & INERT != 0);
                    open = active.then_some((
                        header.txn_id,
                        roll_ptr(page_no, offset),
                        RollPtr(0),
                        header.flags,
                    ));
                }
                Item::Record(record) => {
                    found.max_txn_id = found.max_txn_id.max(record.txn_id);
                    if let Some((_, _, newest, _)) = &mut open {
                        *newest = roll_ptr(page_no, offset);
                    }
                }
            }
            offset = next;
        }
        state.used = offset;
        page_no = page.next();
    }
    found.history += state.unpurged - state.inert;
    let lane = Arc::new(Lane::new(number, state));
    if let Some((txn_id, header, newest, flags)) = open {
        found.losers.push(Loser { txn_id, hold: LaneHold::of_loser(lane.clone(), header, newest, flags) });
    }
    Ok(lane)
}
