#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

pub mod accounts;
pub mod catalog;
pub mod definition;
pub mod dictionary;
pub mod digests;
pub mod expression_text;
pub mod fuzz;
pub mod mdl;
pub mod rank;
pub mod registry;
pub mod row_codec;
pub mod session_state;
pub mod statistics;
pub mod thread_pool;
pub mod timeout;
pub mod user_locks;
pub mod variables;
pub mod version;
pub mod virtual_table;
