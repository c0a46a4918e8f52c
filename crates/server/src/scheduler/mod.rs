#![doc = include_str!("README.md")]

mod readiness;
mod task;
mod worker;

pub use readiness::Readiness;
pub use worker::{Host, Pool, WorkerHandle};
