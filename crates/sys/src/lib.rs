//! Turnstile, the outside world: disk, clock, latches, parking and randomness, each replaceable in tests.

pub mod clock;
pub mod disk;
pub mod latch;
pub mod park;
pub mod rng;
pub mod sync;
pub mod timer;
