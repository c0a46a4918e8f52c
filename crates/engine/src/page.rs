#![doc = include_str!("page/README.md")]

pub mod checksum;
pub mod edit;
pub mod fuzz;
pub mod header;
pub mod view;

pub use edit::{PageEdit, PageFull};
pub use header::{HEADER_SIZE, PAGE_SIZE, PageKind};
pub use view::{DELETE_MARK, PageView, RECORD_HEADER, Record, SLOT_SIZE, record_size};

#[cfg(test)]
mod tests;
