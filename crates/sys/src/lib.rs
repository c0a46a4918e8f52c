#![doc = include_str!("../README.md")]

pub mod aside;
pub mod contention;
pub mod disk;
pub mod fault_disk;
pub mod latch;
pub mod leader;
pub mod park;
pub mod pin_count;
pub mod progress;
pub mod ranked;
pub mod relay;
pub mod rng;
pub mod standing_disk;
pub mod swap_buffer;
pub mod sync;
pub mod timer;
