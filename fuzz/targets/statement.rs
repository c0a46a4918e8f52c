//! The fuzz target `statement`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| turnstile_fuzz::statement(data));
