//! The protocol by hand, and under loom: a user never sees a slot's content change under its pin.
#![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]

use super::*;

#[cfg(not(loom))]
#[test]
fn a_pinned_slot_is_not_taken_and_a_taken_one_not_pinned() {
    let slot = PinCount::new();
    assert!(!slot.try_pin());
    slot.settle(1);
    assert!(slot.try_pin());
    slot.unpin();
    assert!(!slot.try_take());
    slot.unpin();
    assert!(slot.try_take());
    assert!(!slot.try_pin());
    assert_eq!(slot.pins(), 0);
}

#[cfg(loom)]
mod loom_models {
    use super::*;
    use crate::sync::{Arc, thread};
    use loom::cell::UnsafeCell;

    /// A slot as the buffer pool has them: a name, readable at any time, and content that only a pin makes
    /// readable.
    struct Pinned {
        pins: PinCount,
        name: AtomicU32,
        content: UnsafeCell<u32>,
    }

    #[expect(unsafe_code, reason = "the model shares the cell under the protocol it checks")]
    // SAFETY: the content is reached with a valid pin or by the owner only; loom checks exactly that.
    unsafe impl Sync for Pinned {}

    impl Pinned {
        fn holding(name: u32) -> Self {
            let slot =
                Pinned { pins: PinCount::new(), name: AtomicU32::new(name), content: UnsafeCell::new(name) };
            slot.pins.settle(0);
            slot
        }

        /// What the pool's lookup does: hint, pin, check, use.
        fn look_up(&self, name: u32) -> Option<u32> {
            if self.name.load(Ordering::Relaxed) != name || !self.pins.try_pin() {
                return None;
            }
            let found = (self.name.load(Ordering::Relaxed) == name).then(|| {
                #[expect(unsafe_code, reason = "the read the pin allows")]
                // SAFETY: pinned, and the name was right after pinning; loom reports it if that is not
                // enough.
                self.content.with(|content| unsafe { *content })
            });
            self.pins.unpin();
            found
        }

        /// What eviction and the next read do.
        fn exchange(&self, name: u32) -> bool {
            if !self.pins.try_take() {
                return false;
            }
            #[expect(unsafe_code, reason = "the write ownership allows")]
            // SAFETY: taken, so no valid pin exists; loom reports it if one does.
            self.content.with_mut(|content| unsafe { *content = name });
            self.name.store(name, Ordering::Relaxed);
            self.pins.settle(0);
            true
        }
    }

    #[test]
    fn loom_a_pin_and_an_exchange() {
        loom::model(|| {
            let slot = Arc::new(Pinned::holding(1));
            let evictor = {
                let slot = Arc::clone(&slot);
                thread::spawn(move || slot.exchange(2))
            };
            let other = {
                let slot = Arc::clone(&slot);
                thread::spawn(move || slot.look_up(2))
            };
            if let Some(content) = slot.look_up(1) {
                assert_eq!(content, 1);
            }
            if let Some(content) = other.join().unwrap() {
                assert_eq!(content, 2);
            }
            let exchanged = evictor.join().unwrap();
            assert_eq!(slot.pins.pins(), 0);
            assert_eq!(slot.look_up(if exchanged { 2 } else { 1 }), Some(if exchanged { 2 } else { 1 }));
        });
    }

    #[test]
    fn loom_two_evictors_take_a_slot_once_each() {
        loom::model(|| {
            let slot = Arc::new(Pinned::holding(1));
            let threads: Vec<_> = [2, 3]
                .into_iter()
                .map(|name| {
                    let slot = Arc::clone(&slot);
                    thread::spawn(move || slot.exchange(name))
                })
                .collect();
            let seen = slot.look_up(1);
            assert!(seen.is_none() || seen == Some(1));
            for thread in threads {
                thread.join().unwrap();
            }
            assert_eq!(slot.pins.pins(), 0);
        });
    }
}
