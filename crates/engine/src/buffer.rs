#![doc = include_str!("buffer/README.md")]

mod counters;
mod dblwr;
mod evict;
mod flush;
mod frame;
mod guard;
mod load;
mod meta;
mod mtr;
mod pool;
mod readers;
mod recover;
pub mod redo;
mod space;
mod storage;
mod table;

pub use counters::PoolCounts;
pub(crate) use counters::{LANES, lane};
pub use dblwr::DOUBLE_WRITE_FILE;
pub use flush::BATCH_PAGES;
pub use guard::{Pin, ReadGuard, WriteGuard};
pub use meta::COUNTER_CHAINS;
pub use mtr::{Mtr, MtrPage, PageHandle};
pub use pool::{DATA_FILE, Miss, Pool};
pub use recover::Recovered;
pub use space::{INDEX_DIRECTORY_PAGE, META_PAGE, Space, UNDO_DIRECTORY_PAGE};
pub use storage::{Storage, StorageConfig, with_pages, with_pages_blocking, with_pages_to_write};

#[cfg(test)]
mod tests;
