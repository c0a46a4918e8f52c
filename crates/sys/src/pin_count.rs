//! [`PinCount`]: who may use a slot of memory whose content can be exchanged. Users pin without a latch; the
//! one who exchanges the content takes the slot only when nobody has it pinned. Of a pin and a take, one
//! wins.
//!
//! The word holds a RESIDENT bit and the number of pins. Laws:
//! 1. `try_take` succeeds only from exactly "resident, no pins", and clears RESIDENT; its caller then owns
//!    the slot until it calls `settle`.
//! 2. A pin that found RESIDENT keeps the slot resident until it is dropped.
//! 3. A pin that did not is dropped at once and promises nothing; such stray pins may come and go at any
//!    time, so the owner changes the word by addition only.
//! 4. What a slot holds (its name) is written by the owner before `settle`. A user reads it once more after
//!    pinning.

use crate::sync::atomic::{AtomicU32, Ordering};

const RESIDENT: u32 = 1 << 31;

/// RESIDENT bit and pins of one slot.
#[derive(Debug)]
pub struct PinCount {
    word: AtomicU32,
}

impl Default for PinCount {
    fn default() -> Self {
        Self::new()
    }
}

impl PinCount {
    /// A slot that holds nothing and is owned by whoever made it.
    pub fn new() -> Self {
        PinCount { word: AtomicU32::new(0) }
    }

    /// Pins if the slot is resident. What it holds is then for the caller to check.
    #[inline]
    pub fn try_pin(&self) -> bool {
        if self.word.fetch_add(1, Ordering::Acquire) & RESIDENT != 0 {
            return true;
        }
        self.unpin();
        false
    }

    /// Adds a pin to one that the caller has.
    #[inline]
    pub fn pin_again(&self) {
        self.word.fetch_add(1, Ordering::Relaxed);
    }

    /// Drops a pin. What its holder did is seen by whoever takes the slot.
    #[inline]
    pub fn unpin(&self) {
        let before = self.word.fetch_sub(1, Ordering::Release);
        debug_assert!(before & !RESIDENT > 0, "unpinned a slot without pins");
    }

    /// Pins there are, stray ones included.
    pub fn pins(&self) -> u32 {
        self.word.load(Ordering::Relaxed) & !RESIDENT
    }

    /// Takes the slot away from what it holds, if nobody has it pinned.
    pub fn try_take(&self) -> bool {
        self.word.compare_exchange(RESIDENT, 0, Ordering::AcqRel, Ordering::Relaxed).is_ok()
    }

    /// The owner makes the slot resident, with `pins` pins to hand out.
    pub fn settle(&self, pins: u32) {
        self.word.fetch_add(RESIDENT + pins, Ordering::Release);
    }
}

#[cfg(test)]
mod tests;
