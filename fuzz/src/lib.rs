//! The fuzz targets: names for the entry functions of the crates. Each must return, whatever the bytes are.

pub use turnstile_catalog::fuzz::{fuzz_key as key, fuzz_row as row};
pub use turnstile_engine::buffer::redo::fuzz_redo as redo;
pub use turnstile_engine::page::fuzz::fuzz_page as page;
pub use turnstile_engine::wal::fuzz::fuzz_log as log;
pub use turnstile_syntax::fuzz::fuzz_parse as statement;
pub use turnstile_wire::fuzz::fuzz_packet as packet;

/// An entry function.
pub type Entry = fn(&[u8]);

/// Every target, for the loop that needs no fuzzer.
pub const TARGETS: [(&str, Entry); 7] = [
    ("packet", packet),
    ("statement", statement),
    ("page", page),
    ("redo", redo),
    ("log", log),
    ("row", row),
    ("key", key),
];
