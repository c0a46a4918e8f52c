//! The fuzz target `log`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| turnstile_fuzz::log(data));
