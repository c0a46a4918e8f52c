//! Overflow chains: values too long for a leaf, as a singly linked chain of pages.
//!
//! ```text
//!   0        40       42                     (len bytes)
//!   | header | len u16 | bytes of the value ... |          header.next = the following page, 0 at the end
//! ```
//!
//! A chain is written from its end to its beginning, a page per mini-transaction, so that every page points
//! to one that exists; the row refers to it in a later mini-transaction. A crash between the two leaks the
//! pages (README, "Overflow chains"). A chain never changes once it is written, and is freed by the room that
//! knows that no version refers to it.

use super::{NO_PAGE, damaged};
use crate::buffer::{Mtr, ReadGuard, Storage};
use crate::error::{Error, Result};
use crate::ids::{IndexId, PageNo};
use crate::page::{HEADER_SIZE, PAGE_SIZE, PageKind, PageView, edit};

const LEN_AT: usize = HEADER_SIZE;
const BYTES_AT: usize = LEN_AT + 2;

/// Bytes of a value that one overflow page holds.
pub const CHUNK_BYTES: usize = PAGE_SIZE - BYTES_AT;

/// Pages freed per mini-transaction.
const FREES_PER_MTR: usize = 16;

fn chunk(page: &PageView) -> Result<&[u8]> {
    let bytes = page.bytes();
    let len = usize::from(u16::from_le_bytes([bytes[LEN_AT], bytes[LEN_AT + 1]]));
    if page.kind() != Some(PageKind::Overflow) || len > CHUNK_BYTES {
        return Err(damaged(page.page_no(), "not an overflow page where a chain leads"));
    }
    Ok(&bytes[BYTES_AT..BYTES_AT + len])
}

fn latch(storage: &Storage, page: PageNo) -> Result<ReadGuard<'_>> {
    Ok(storage.pool.try_pin(page)?.read())
}

/// A chain in the making. Keeps its place over misses, so that the caller loads the page and calls `write`
/// again.
pub struct ChainWriter<'v> {
    index: IndexId,
    rest: &'v [u8],
    first: PageNo,
}

impl<'v> ChainWriter<'v> {
    /// Will write `value` for `index`. An empty value takes one page.
    pub fn new(index: IndexId, value: &'v [u8]) -> Self {
        ChainWriter { index, rest: value, first: NO_PAGE }
    }

    /// Writes on, a page per mini-transaction, and answers the first page of the chain when all is written.
    /// `None`: the redo has become too full to go on; reserve, then call again. The caller has reserved
    /// before the first call, too. `DiskFull` and other lasting errors: call [`ChainWriter::written`] and
    /// free that.
    pub fn write(&mut self, storage: &Storage) -> Result<Option<PageNo>> {
        let mut room = true;
        while !self.rest.is_empty() || self.first == NO_PAGE {
            if !room {
                return Ok(None);
            }
            let whole = self.rest.len() / CHUNK_BYTES * CHUNK_BYTES;
            let from = if whole == self.rest.len() { whole.saturating_sub(CHUNK_BYTES) } else { whole };
            let (rest, part) = self.rest.split_at(from);
            let mut mtr = Mtr::begin(storage);
            let handle = storage.space.alloc(&mut mtr, PageKind::Overflow)?;
            let page_no = mtr.page_no(handle);
            {
                let mut page = mtr.edit(handle);
                edit::set_index_id(&mut page, self.index);
                if self.first != NO_PAGE {
                    edit::set_next(&mut page, self.first);
                }
            }
            let len = u16::try_from(part.len()).expect("a chunk is shorter than a page");
            mtr.write(handle, LEN_AT, &len.to_le_bytes());
            mtr.write(handle, BYTES_AT, part);
            mtr.commit();
            self.first = page_no;
            self.rest = rest;
            room = storage.wal.try_reserve()?;
        }
        Ok(Some(self.first))
    }

    /// The first page of what has been written so far, to be freed if the value will not be finished.
    pub fn written(&self) -> Option<PageNo> {
        (self.first != NO_PAGE).then_some(self.first)
    }
}

/// A chain being read. Keeps its place over misses.
pub struct ChainReader {
    next: PageNo,
    len: usize,
    value: Vec<u8>,
}

impl ChainReader {
    /// Will read the chain that begins at `first`; `len` is the value's length as the row states it.
    pub fn new(first: PageNo, len: usize) -> Self {
        ChainReader { next: first, len, value: Vec::with_capacity(len.min(4 * PAGE_SIZE)) }
    }

    /// Reads on. When it answers `Ok`, [`ChainReader::into_value`] has the whole value.
    pub fn read(&mut self, storage: &Storage) -> Result<()> {
        while self.next != NO_PAGE {
            let page = latch(storage, self.next)?;
            let bytes = chunk(&page)?;
            if bytes.len() > self.len - self.value.len() {
                return Err(damaged(self.next, "an overflow chain is longer than its value"));
            }
            self.value.extend_from_slice(bytes);
            self.next = page.next();
            if self.next == NO_PAGE && self.value.len() != self.len {
                return Err(damaged(page.page_no(), "an overflow chain is shorter than its value"));
            }
        }
        Ok(())
    }

    /// The value.
    pub fn into_value(self) -> Vec<u8> {
        self.value
    }
}

/// Cuts one bounded piece out of the chain, right behind its first page. `Ok(true)`: only the first page is
/// left. Each call is a mini-transaction that leaves a valid chain, so it may be repeated after a miss or a
/// crash. For chains that nobody reads any more.
///
/// The piece ends before a page that is not in memory, so that two pages in memory are enough to go on: were
/// the whole piece wanted at once, a pool that keeps new pages for a short time only (`buffer/evict.rs`)
/// could evict its beginning while its end is read, again and again.
pub fn free_tail_step(storage: &Storage, first: PageNo) -> Result<bool> {
    let mut victims = Vec::with_capacity(FREES_PER_MTR);
    let mut after = {
        let page = latch(storage, first)?;
        chunk(&page)?;
        page.next()
    };
    while after != NO_PAGE && victims.len() < FREES_PER_MTR {
        let page = match latch(storage, after) {
            Err(Error::Miss(_)) if !victims.is_empty() => break,
            page => page?,
        };
        chunk(&page)?;
        victims.push(after);
        after = page.next();
    }
    if victims.is_empty() {
        return Ok(true);
    }
    let guard = storage.pool.try_pin(first)?.write();
    let mut mtr = Mtr::begin(storage);
    for page in victims {
        storage.space.free(&mut mtr, page);
    }
    let handle = mtr.take(guard);
    edit::set_next(&mut mtr.edit(handle), after);
    mtr.commit();
    Ok(after == NO_PAGE)
}

/// Frees the first page of a chain whose tail is gone, in the mini-transaction that drops the last reference.
/// Takes the space latch: latch all other pages first.
pub fn free_first<'e>(mtr: &mut Mtr<'e>, first: PageNo) {
    mtr.storage().space.free(mtr, first);
}
