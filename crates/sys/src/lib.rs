//! Turnstile, the outside world: disk, clock, latches, parking and randomness, each replaceable in tests.

pub mod park;
pub mod sync;
pub mod timer;
