#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

pub mod charset;
pub mod collation;
pub mod context;
pub mod datetime;
pub mod datum;
pub mod decimal;
mod digits;
pub mod error;
pub mod field;
pub mod json;
pub mod key_codec;
pub mod lookup;
pub mod memory;
pub mod mixing;
pub mod number_text;
pub mod pulse;
pub mod regexp;
pub mod sink;
pub mod stored_width;
mod traits;
pub mod types;
pub mod value;
