//! [`Mtr`]: the mini-transaction, the only way to change a page. It owns the write guards of the pages it may
//! change, applies each change at once and gathers its redo; `commit` gives all of it to the log as one
//! group, stamps the pages with the group's end, and only then drops the latches.
//!
//! Order inside `commit`, and why:
//! 1. mark the changed frames dirty since the log's current end: a checkpoint that looks from now on keeps
//!    the redo;
//! 2. append the group: this fixes its LSN;
//! 3. stamp the page LSN: the page cannot be written before the log up to there, because its latch is ours;
//! 4. drop the latches.
//!
//! Nothing can fail between the first change and `commit`. So an `Mtr` that changed a page and is dropped
//! without `commit` is a bug that would leave memory ahead of the log, and the process aborts.

use super::guard::WriteGuard;
use super::redo;
use super::space::SpaceLatch;
use super::storage::Storage;
use crate::ids::{Lsn, PageNo};
use crate::page::{PageEdit, PageKind, PageView, edit};
use smallvec::SmallVec;
use std::cell::Cell;

/// Names a page that a mini-transaction has taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageHandle(usize);

struct Taken<'e> {
    guard: WriteGuard<'e>,
    changed: bool,
}

/// A mini-transaction under way.
pub struct Mtr<'e> {
    storage: &'e Storage,
    pages: SmallVec<[Taken<'e>; 6]>,
    redo: Vec<u8>,
    last_page: Option<PageNo>,
    pub(super) space: Option<SpaceLatch<'e>>,
}

thread_local! {
    /// The redo buffer of the last mini-transaction of this thread, kept for its capacity.
    static SPARE_REDO: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}
/// A spare buffer larger than this is not kept.
const SPARE_REDO_BYTES_MAX: usize = 64 * 1024;

impl<'e> Mtr<'e> {
    /// Begins. Costs nothing until a page is changed. Call `Storage::reserve` before latching anything.
    pub fn begin(storage: &'e Storage) -> Self {
        let mut redo = SPARE_REDO.take();
        redo.clear();
        Mtr { storage, pages: SmallVec::new(), redo, last_page: None, space: None }
    }

    /// The storage this works on.
    pub fn storage(&self) -> &'e Storage {
        self.storage
    }

    /// Takes over a write guard; its latch is held until `commit` or until the `Mtr` is dropped.
    pub fn take(&mut self, guard: WriteGuard<'e>) -> PageHandle {
        debug_assert!(self.find(guard.page_no()).is_none());
        self.pages.push(Taken { guard, changed: false });
        PageHandle(self.pages.len() - 1)
    }

    /// The handle of a page that was taken before.
    pub fn find(&self, page_no: PageNo) -> Option<PageHandle> {
        self.pages.iter().position(|taken| taken.guard.page_no() == page_no).map(PageHandle)
    }

    /// The page as it stands now.
    #[inline]
    pub fn page(&self, handle: PageHandle) -> &PageView {
        &self.pages[handle.0].guard
    }

    /// The number of the page.
    pub fn page_no(&self, handle: PageHandle) -> PageNo {
        self.pages[handle.0].guard.page_no()
    }

    /// Whether any page was changed.
    pub fn has_changes(&self) -> bool {
        !self.redo.is_empty()
    }

    /// The page as something the functions of `page::edit` work on.
    pub fn edit(&mut self, handle: PageHandle) -> MtrPage<'_, 'e> {
        MtrPage { mtr: self, handle }
    }

    /// Overwrites bytes of a page.
    pub fn write(&mut self, handle: PageHandle, off: usize, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        let taken = &mut self.pages[handle.0];
        taken.guard.bytes_mut()[off..off + bytes.len()].copy_from_slice(bytes);
        taken.changed = true;
        let page_no = taken.guard.page_no();
        redo::encode_write(&mut self.redo, self.last_page == Some(page_no), page_no, off, bytes);
        self.last_page = Some(page_no);
    }

    /// Moves bytes inside a page; the ranges may overlap.
    pub fn move_bytes(&mut self, handle: PageHandle, src: usize, dst: usize, len: usize) {
        if len == 0 || src == dst {
            return;
        }
        let taken = &mut self.pages[handle.0];
        taken.guard.bytes_mut().copy_within(src..src + len, dst);
        taken.changed = true;
        let page_no = taken.guard.page_no();
        redo::encode_move(&mut self.redo, self.last_page == Some(page_no), page_no, src, dst, len);
        self.last_page = Some(page_no);
    }

    /// Makes the page a fresh one of this kind: zeros behind a new header.
    pub fn init(&mut self, handle: PageHandle, kind: PageKind) {
        let taken = &mut self.pages[handle.0];
        let page_no = taken.guard.page_no();
        edit::init_bytes(taken.guard.bytes_mut(), page_no, kind);
        taken.guard.frame().set_kind(kind);
        taken.changed = true;
        redo::encode_init(&mut self.redo, self.last_page == Some(page_no), page_no, kind);
        self.last_page = Some(page_no);
    }

    /// Logs and publishes the changes. Returns the end of the redo group: durable once the log is synced up
    /// to there. Without changes it is the log's current end.
    pub fn commit(mut self) -> Lsn {
        turnstile_sys::trail!();
        let wal = &self.storage.wal;
        if self.redo.is_empty() {
            return wal.current_lsn();
        }
        let oldest = wal.current_lsn();
        let changed = self.pages.iter().filter(|taken| taken.changed);
        let newly_dirty = changed.filter(|taken| taken.guard.frame().mark_dirty(oldest)).count();
        if newly_dirty > 0 {
            self.storage.pool.counters.count_dirty(newly_dirty as i64);
        }
        let (_, end) = wal.append(&self.redo);
        for taken in self.pages.iter_mut().filter(|taken| taken.changed) {
            edit::set_lsn(taken.guard.bytes_mut(), end);
        }
        self.redo.clear();
        end
    }
}

impl Drop for Mtr<'_> {
    fn drop(&mut self) {
        // Once writing has stopped nothing of this memory reaches the disk or a client any more.
        if !self.redo.is_empty() && self.storage.pool.flusher.check_stopped().is_ok() {
            eprintln!("a mini-transaction that changed pages was dropped without commit; stopping");
            std::process::abort();
        }
        if self.redo.capacity() <= SPARE_REDO_BYTES_MAX {
            SPARE_REDO.set(std::mem::take(&mut self.redo));
        }
    }
}

/// One page of a mini-transaction, for the functions of `page::edit`.
pub struct MtrPage<'m, 'e> {
    mtr: &'m mut Mtr<'e>,
    handle: PageHandle,
}

impl PageEdit for MtrPage<'_, '_> {
    fn view(&self) -> &PageView {
        self.mtr.page(self.handle)
    }
    fn write(&mut self, off: usize, bytes: &[u8]) {
        self.mtr.write(self.handle, off, bytes);
    }
    fn move_bytes(&mut self, src: usize, dst: usize, len: usize) {
        self.mtr.move_bytes(self.handle, src, dst, len);
    }
}
