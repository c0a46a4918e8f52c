//! The latch: a thread's short hold on a page or structure, shared by readers or exclusive to a writer. Never held across
//! a wait of a session: the guards cannot be sent to another thread.

use parking_lot::RawRwLock;
use parking_lot::lock_api::RawRwLock as _;
use std::marker::PhantomData;

/// A reader-writer latch without data: it guards what its owner says it guards.
pub struct Latch {
    raw: RawRwLock,
}

impl std::fmt::Debug for Latch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Latch").field("held", &self.raw.is_locked()).finish()
    }
}

impl Default for Latch {
    fn default() -> Self {
        Self::new()
    }
}

impl Latch {
    /// A free latch.
    pub const fn new() -> Self {
        Latch { raw: RawRwLock::INIT }
    }

    /// Waits for a shared hold.
    pub fn lock_shared(&self) {
        self.raw.lock_shared();
    }

    /// Waits for the exclusive hold.
    pub fn lock_exclusive(&self) {
        self.raw.lock_exclusive();
    }

    /// Takes a shared hold if that needs no waiting.
    #[must_use]
    pub fn try_lock_shared(&self) -> bool {
        self.raw.try_lock_shared()
    }

    /// Takes the exclusive hold if that needs no waiting.
    #[must_use]
    pub fn try_lock_exclusive(&self) -> bool {
        self.raw.try_lock_exclusive()
    }

    /// Gives a shared hold back.
    ///
    /// # Safety
    /// The caller has a shared hold and gives it up by this call.
    #[expect(unsafe_code, reason = "releasing a hold that is not held would let two writers in")]
    pub unsafe fn unlock_shared(&self) {
        // SAFETY: the caller's contract is the same.
        unsafe { self.raw.unlock_shared() }
    }

    /// Gives the exclusive hold back.
    ///
    /// # Safety
    /// The caller has the exclusive hold and gives it up by this call.
    #[expect(unsafe_code, reason = "releasing a hold that is not held would let two writers in")]
    pub unsafe fn unlock_exclusive(&self) {
        // SAFETY: the caller's contract is the same.
        unsafe { self.raw.unlock_exclusive() }
    }

    /// Waits for a shared hold and returns it as a guard.
    pub fn read(&self) -> LatchReadGuard<'_> {
        self.lock_shared();
        LatchReadGuard { latch: self, stay: PhantomData }
    }

    /// Waits for the exclusive hold and returns it as a guard.
    pub fn write(&self) -> LatchWriteGuard<'_> {
        self.lock_exclusive();
        LatchWriteGuard { latch: self, stay: PhantomData }
    }

    /// A shared hold as a guard, if that needs no waiting.
    pub fn try_read(&self) -> Option<LatchReadGuard<'_>> {
        self.try_lock_shared().then(|| LatchReadGuard { latch: self, stay: PhantomData })
    }

    /// The exclusive hold as a guard, if that needs no waiting.
    pub fn try_write(&self) -> Option<LatchWriteGuard<'_>> {
        self.try_lock_exclusive().then(|| LatchWriteGuard { latch: self, stay: PhantomData })
    }
}

/// A raw pointer is neither `Send` nor `Sync`; so is what contains this.
type StayOnThread = PhantomData<*const ()>;

/// A shared hold, given back when dropped.
#[derive(Debug)]
#[must_use]
pub struct LatchReadGuard<'a> {
    latch: &'a Latch,
    stay: StayOnThread,
}

impl Drop for LatchReadGuard<'_> {
    #[expect(unsafe_code, reason = "gives back the hold this guard stands for")]
    fn drop(&mut self) {
        // SAFETY: a guard is made only after its hold was taken, and is dropped once.
        unsafe { self.latch.unlock_shared() }
    }
}

/// The exclusive hold, given back when dropped.
#[derive(Debug)]
#[must_use]
pub struct LatchWriteGuard<'a> {
    latch: &'a Latch,
    stay: StayOnThread,
}

impl Drop for LatchWriteGuard<'_> {
    #[expect(unsafe_code, reason = "gives back the hold this guard stands for")]
    fn drop(&mut self) {
        // SAFETY: a guard is made only after its hold was taken, and is dropped once.
        unsafe { self.latch.unlock_exclusive() }
    }
}
