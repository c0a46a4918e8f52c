//! [`Pin`], [`ReadGuard`], [`WriteGuard`]: the only ways to reach a page.
//!
//! A pin promises that the frame keeps its page, nothing else; it may be held across a wait. A guard is a pin
//! plus the latch; it is `!Send`, so a `Send` future cannot hold one across an `.await`:
//!
//! ```compile_fail
//! use turnstile_engine::{buffer::Storage, ids::PageNo};
//! fn sends<F: std::future::Future + Send>(_: F) {}
//! fn latch_over_a_wait(storage: &Storage) {
//!     sends(async move {
//!         let guard = storage.pool.try_pin(PageNo(0)).expect("in memory").read();
//!         std::future::ready(()).await;
//!         drop(guard);
//!     });
//! }
//! ```
//!
//! The same with the guard dropped before the wait compiles:
//!
//! ```
//! use turnstile_engine::{buffer::Storage, ids::PageNo};
//! fn sends<F: std::future::Future + Send>(_: F) {}
//! fn pin_over_a_wait(storage: &Storage) {
//!     sends(async move {
//!         let pin = storage.pool.try_pin(PageNo(0)).expect("in memory");
//!         drop(pin.clone().read());
//!         std::future::ready(()).await;
//!         drop(pin);
//!     });
//! }
//! ```

use super::frame::{Frame, Frames};
use crate::ids::PageNo;
use crate::page::{PAGE_SIZE, PageView};
use std::marker::PhantomData;
use std::ops::Deref;

/// The promise that a frame keeps its page until the pin is dropped.
pub struct Pin<'p> {
    frames: &'p Frames,
    index: u32,
}

impl<'p> Pin<'p> {
    /// Wraps a pin that has already been counted.
    #[inline]
    pub(crate) fn adopt(frames: &'p Frames, index: u32) -> Self {
        Pin { frames, index }
    }

    #[inline]
    pub(crate) fn frame(&self) -> &'p Frame {
        self.frames.get(self.index)
    }

    /// The page this pin holds.
    #[inline]
    pub fn page_no(&self) -> PageNo {
        self.frame().page_no()
    }

    /// Latches the page for reading. Blocks the thread while a writer holds it.
    #[inline]
    #[track_caller]
    pub fn read(self) -> ReadGuard<'p> {
        self.frame().latch.lock_shared_as(|| self.frame().class());
        ReadGuard { pin: self, not_send: PhantomData }
    }

    /// Latches the page for writing. Blocks the thread while anyone else holds it.
    #[inline]
    #[track_caller]
    pub fn write(self) -> WriteGuard<'p> {
        self.frame().latch.lock_exclusive_as(|| self.frame().class());
        WriteGuard { pin: self, not_send: PhantomData }
    }

    /// Latches for reading if that needs no waiting; the pin comes back otherwise.
    #[inline]
    pub fn try_read(self) -> Result<ReadGuard<'p>, Pin<'p>> {
        if self.frame().latch.try_lock_shared() {
            Ok(ReadGuard { pin: self, not_send: PhantomData })
        } else {
            Err(self)
        }
    }

    /// Latches for writing if that needs no waiting; the pin comes back otherwise.
    #[inline]
    pub fn try_write(self) -> Result<WriteGuard<'p>, Pin<'p>> {
        if self.frame().latch.try_lock_exclusive() {
            Ok(WriteGuard { pin: self, not_send: PhantomData })
        } else {
            Err(self)
        }
    }

    /// Leaves the pin in place for ever: the page can never be evicted.
    pub(crate) fn keep_for_ever(self) {
        std::mem::forget(self);
    }
}

impl Clone for Pin<'_> {
    fn clone(&self) -> Self {
        self.frame().pin_again();
        Pin { frames: self.frames, index: self.index }
    }
}

impl Drop for Pin<'_> {
    #[inline]
    fn drop(&mut self) {
        self.frame().unpin();
    }
}

impl std::fmt::Debug for Pin<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Pin({})", self.page_no())
    }
}

/// A page latched for reading.
pub struct ReadGuard<'p> {
    pin: Pin<'p>,
    not_send: PhantomData<*const ()>,
}

impl<'p> ReadGuard<'p> {
    /// Another pin on the same page, to come back to it after the latch is dropped.
    pub fn pin(&self) -> Pin<'p> {
        self.pin.clone()
    }

    /// The page's number.
    #[inline]
    pub fn page_no(&self) -> PageNo {
        self.pin.page_no()
    }

    /// The frame that holds the page, to be told to [`super::Pool::try_pin_frame`] later.
    #[inline]
    pub(crate) fn frame_index(&self) -> u32 {
        self.pin.index
    }
}

impl Deref for ReadGuard<'_> {
    type Target = PageView;
    #[inline]
    #[expect(unsafe_code, reason = "the shared latch makes the bytes readable")]
    fn deref(&self) -> &PageView {
        // SAFETY: the pin keeps the frame's page, and the shared latch excludes writers for the guard's life.
        PageView::from_bytes(unsafe { &*self.pin.frames.page(self.pin.index) })
    }
}

impl Drop for ReadGuard<'_> {
    #[inline]
    #[expect(unsafe_code, reason = "releases the latch this guard stands for")]
    fn drop(&mut self) {
        // SAFETY: this guard holds the latch shared, on this thread, since it was made.
        unsafe { self.pin.frame().latch.unlock_shared() }
    }
}

/// A page latched for writing. Its bytes change only through a mini-transaction that has taken the guard.
pub struct WriteGuard<'p> {
    pin: Pin<'p>,
    not_send: PhantomData<*const ()>,
}

impl<'p> WriteGuard<'p> {
    /// Another pin on the same page, to come back to it after the latch is dropped.
    pub fn pin(&self) -> Pin<'p> {
        self.pin.clone()
    }

    /// The page's number.
    #[inline]
    pub fn page_no(&self) -> PageNo {
        self.pin.page_no()
    }

    pub(crate) fn frame(&self) -> &'p Frame {
        self.pin.frame()
    }

    /// The frame that holds the page, to be told to [`super::Pool::try_pin_frame`] later.
    #[inline]
    pub(crate) fn frame_index(&self) -> u32 {
        self.pin.index
    }

    /// The bytes, to change: for mini-transactions and recovery.
    #[inline]
    #[expect(unsafe_code, reason = "the exclusive latch makes the bytes writable")]
    pub(crate) fn bytes_mut(&mut self) -> &mut [u8; PAGE_SIZE] {
        // SAFETY: the pin keeps the frame's page, and the exclusive latch excludes everyone else.
        unsafe { &mut *self.pin.frames.page(self.pin.index) }
    }
}

impl Deref for WriteGuard<'_> {
    type Target = PageView;
    #[inline]
    #[expect(unsafe_code, reason = "the exclusive latch makes the bytes readable")]
    fn deref(&self) -> &PageView {
        // SAFETY: the pin keeps the frame's page, and the exclusive latch excludes everyone else.
        PageView::from_bytes(unsafe { &*self.pin.frames.page(self.pin.index) })
    }
}

impl Drop for WriteGuard<'_> {
    #[inline]
    #[expect(unsafe_code, reason = "releases the latch this guard stands for")]
    fn drop(&mut self) {
        // SAFETY: this guard holds the latch exclusively, on this thread, since it was made.
        unsafe { self.pin.frame().latch.unlock_exclusive() }
    }
}

impl std::fmt::Debug for ReadGuard<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ReadGuard({:?})", &**self)
    }
}

impl std::fmt::Debug for WriteGuard<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "WriteGuard({:?})", &**self)
    }
}
