//! Durable counters: one number for each clustered index that wants one, kept for AUTO_INCREMENT.
//!
//! ```text
//!   meta page -> chain 0: | header | index u32, value u64 | index, value | (0, free) | ...        next -> more slots
//!             -> chain 1 ...                                          an index's slot is in chain (index mod 8)
//! ```
//!
//! A transaction that changes a row *carries* the number that its counter has reached (`Txn::carry_counter`);
//! the mini-transaction of its next undo record, or else of its end, raises the slot to it. So a counter
//! costs a row thirteen bytes of redo, no sync and no page of its own, and whatever of the log survives a
//! crash contains the number if it contains the row. A number only rises, whoever takes a row back, but for
//! [`Counters::set`], which DDL calls with the table to itself.
//!
//! | field | who changes it | invariant |
//! |---|---|---|
//! | `slots` | `make`, `free` | every index with a slot; a slot never moves |
//! | `making` | | held by whoever makes or frees a slot; outermost |
//!
//! Latch order: a counter page comes behind tree and undo pages, and before the meta page and the space. It
//! is one of the last latches that a row's change takes, and tables are spread over eight chains, so that two
//! of them seldom meet there.

use parking_lot::{Mutex, RwLock};
use rustc_hash::FxHashMap;

use crate::btree::damaged;
use crate::buffer::{COUNTER_CHAINS, Mtr, PageHandle, Storage, WriteGuard, with_pages_blocking};
use crate::error::Result;
use crate::ids::{IndexId, Lsn, PageNo};
use crate::page::{HEADER_SIZE, PAGE_SIZE, PageKind, PageView, edit};

use super::transaction::Txn;

const SLOT_BYTES: usize = 12;
const SLOTS_PER_PAGE: usize = (PAGE_SIZE - HEADER_SIZE) / SLOT_BYTES;

/// Where a counter is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CounterSlot {
    page: PageNo,
    offset: u16,
}

/// The counters of an engine.
#[derive(Debug)]
pub struct Counters {
    slots: RwLock<FxHashMap<IndexId, CounterSlot>>,
    making: Mutex<()>,
}

fn index_at(page: &PageView, offset: usize) -> IndexId {
    IndexId(page.u32_at(offset))
}

fn value_at(page: &PageView, offset: usize) -> u64 {
    page.u64_at(offset + 4)
}

fn offsets() -> impl Iterator<Item = usize> {
    (0..SLOTS_PER_PAGE).map(|nth| HEADER_SIZE + nth * SLOT_BYTES)
}

fn check(page: &PageView) -> Result<()> {
    if page.kind() == Some(PageKind::Counters) {
        return Ok(());
    }
    Err(damaged(page.page_no(), format!("page {} is none of counters", page.page_no())))
}

impl Counters {
    /// Finds the slots of all indexes for which `is_live` holds, and frees the others: their index went with
    /// the engine before they did.
    pub fn load(storage: &Storage, is_live: impl Fn(IndexId) -> bool) -> Result<Counters> {
        let mut slots = FxHashMap::default();
        for chain in 0..COUNTER_CHAINS {
            let mut page_no = with_pages_blocking(storage, || storage.first_counter_page(chain))?;
            while page_no != PageNo(0) {
                let page = storage.pool.load_blocking(page_no)?.read();
                check(&page)?;
                for offset in offsets().filter(|&offset| index_at(&page, offset).0 != 0) {
                    slots.insert(
                        index_at(&page, offset),
                        CounterSlot { page: page_no, offset: offset as u16 },
                    );
                }
                page_no = page.next();
            }
        }
        let counters = Counters { slots: RwLock::new(slots), making: Mutex::default() };
        let all: Vec<IndexId> = counters.slots.read().keys().copied().collect();
        for index in all.into_iter().filter(|&index| !is_live(index)) {
            counters.free(storage, index)?;
        }
        Ok(counters)
    }

    /// The slot of an index, if it has one.
    pub fn slot(&self, index: IndexId) -> Option<CounterSlot> {
        self.slots.read().get(&index).copied()
    }

    /// What a counter says.
    pub fn value(storage: &Storage, slot: CounterSlot) -> Result<u64> {
        let page = storage.pool.load_blocking(slot.page)?.read();
        check(&page)?;
        Ok(value_at(&page, usize::from(slot.offset)))
    }

    /// The slot of an index, made with this value if there is none. Blocking; survives a crash if anything
    /// does that is logged later.
    pub fn make(&self, storage: &Storage, index: IndexId, value: u64) -> Result<CounterSlot> {
        let _one = self.making.lock();
        if let Some(slot) = self.slot(index) {
            return Ok(slot);
        }
        storage.reserve_blocking()?;
        let slot = with_pages_blocking(storage, || Self::make_slot(storage, index, value))?;
        self.slots.write().insert(index, slot);
        Ok(slot)
    }

    fn make_slot(storage: &Storage, index: IndexId, value: u64) -> Result<CounterSlot> {
        let chain = index.0 as usize % COUNTER_CHAINS;
        let mut last: Option<WriteGuard<'_>> = None;
        let mut page_no = storage.first_counter_page(chain)?;
        while page_no != PageNo(0) {
            drop(last.take());
            let page = storage.pool.try_pin(page_no)?.write();
            check(&page)?;
            if let Some(offset) = offsets().find(|&offset| index_at(&page, offset).0 == 0) {
                let mut mtr = Mtr::begin(storage);
                let page = mtr.take(page);
                write_slot(&mut mtr, page, offset, (index, value));
                mtr.commit();
                return Ok(CounterSlot { page: page_no, offset: offset as u16 });
            }
            page_no = page.next();
            last = Some(page);
        }
        let mut mtr = Mtr::begin(storage);
        let last = last.map(|page| mtr.take(page));
        let meta = if last.is_none() { Some(storage.take_meta(&mut mtr)?) } else { None };
        let page = storage.space.alloc(&mut mtr, PageKind::Counters)?;
        let page_no = mtr.page_no(page);
        match (last, meta) {
            (Some(last), _) => edit::set_next(&mut mtr.edit(last), page_no),
            (None, Some(meta)) => Storage::set_first_counter_page(&mut mtr, meta, chain, page_no),
            (None, None) => {}
        }
        write_slot(&mut mtr, page, HEADER_SIZE, (index, value));
        mtr.commit();
        Ok(CounterSlot { page: page_no, offset: HEADER_SIZE as u16 })
    }

    /// Gives a counter another value, a smaller one perhaps. Nobody else uses its table. The counter has it
    /// once the log is synced up to the LSN.
    pub fn set(storage: &Storage, slot: CounterSlot, value: u64) -> Result<Lsn> {
        storage.reserve_blocking()?;
        with_pages_blocking(storage, || {
            let page = storage.pool.try_pin(slot.page)?.write();
            let mut mtr = Mtr::begin(storage);
            let page = mtr.take(page);
            mtr.write(page, usize::from(slot.offset) + 4, &value.to_le_bytes());
            Ok(mtr.commit())
        })
    }

    /// The index is being dropped: its slot is for another one.
    pub fn free(&self, storage: &Storage, index: IndexId) -> Result<()> {
        let _one = self.making.lock();
        let Some(slot) = self.slot(index) else { return Ok(()) };
        storage.reserve_blocking()?;
        with_pages_blocking(storage, || {
            let page = storage.pool.try_pin(slot.page)?.write();
            let mut mtr = Mtr::begin(storage);
            let page = mtr.take(page);
            write_slot(&mut mtr, page, usize::from(slot.offset), (IndexId(0), 0));
            mtr.commit();
            Ok(())
        })?;
        self.slots.write().remove(&index);
        Ok(())
    }
}

fn write_slot(mtr: &mut Mtr<'_>, page: PageHandle, offset: usize, (index, value): (IndexId, u64)) {
    let mut bytes = [0; SLOT_BYTES];
    bytes[..4].copy_from_slice(&index.0.to_le_bytes());
    bytes[4..].copy_from_slice(&value.to_le_bytes());
    mtr.write(page, offset, &bytes);
}

/// A counter's number on its way to the log.
#[derive(Clone, Copy, Debug)]
pub struct Carried {
    slot: CounterSlot,
    value: u64,
}

/// The same, with the page of its counter latched.
pub struct Delivery<'e> {
    carried: Carried,
    page: WriteGuard<'e>,
}

impl Carried {
    /// Latches the counter's page, before the mini-transaction begins. `Miss` changes nothing.
    #[inline]
    pub fn latch(carried: Option<Carried>, storage: &Storage) -> Result<Option<Delivery<'_>>> {
        match carried {
            None => Ok(None),
            Some(carried) => {
                Ok(Some(Delivery { carried, page: storage.pool.try_pin(carried.slot.page)?.write() }))
            }
        }
    }
}

impl<'e> Delivery<'e> {
    /// Raises the counter, if there is one to raise, in the mini-transaction of a row.
    #[inline]
    pub fn put(delivery: Option<Self>, mtr: &mut Mtr<'e>) {
        let Some(Delivery { carried: Carried { slot, value }, page }) = delivery else { return };
        let offset = usize::from(slot.offset);
        let behind = value_at(&page, offset) < value;
        let page = mtr.take(page);
        if behind {
            mtr.write(page, offset + 4, &value.to_le_bytes());
        }
    }
}

impl Txn {
    /// The next change of this transaction, or else its commit, makes it durable that the counter has reached
    /// `value`.
    pub fn carry_counter(&mut self, slot: CounterSlot, value: u64) {
        let before = self.carried.filter(|carried| carried.slot == slot).map_or(0, |carried| carried.value);
        self.carried = Some(Carried { slot, value: value.max(before) });
    }

    /// Whether a number is still to be made durable.
    pub fn carries_counter(&self) -> bool {
        self.carried.is_some()
    }

    /// Raises what is carried in a mini-transaction of its own: the transaction ends, and no change came
    /// after.
    pub(super) fn deliver_counter(&mut self) -> Result<()> {
        let carried = self.carried.take();
        let storage = &self.kernel.storage;
        with_pages_blocking(storage, || {
            let delivery = Carried::latch(carried, storage)?;
            let mut mtr = Mtr::begin(storage);
            Delivery::put(delivery, &mut mtr);
            mtr.commit();
            Ok(())
        })
    }
}
