//! The fuzz target `redo`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| turnstile_fuzz::redo(data));
