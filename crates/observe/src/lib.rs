#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

pub mod information_schema;
pub mod picture;
pub mod query_log;
pub mod status;
