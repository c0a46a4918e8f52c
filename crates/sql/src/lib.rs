#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

pub mod accounts;
pub mod catalog;
pub mod database;
mod definition;
pub mod dictionary;
mod exec;
mod expression_text;
pub mod fuzz;
pub mod information_schema;
pub mod mdl;
pub mod observed;
mod plan;
pub mod query_log;
mod rank;
pub mod registry;
pub mod row_codec;
pub mod session;
mod session_state;
pub mod statement_cache;
pub mod status;
pub mod thread_pool;
mod timeout;
pub mod user_locks;
pub mod variables;
pub mod version;
pub mod virtual_table;

pub use turnstile_expr::{expr, functions};
use turnstile_syntax::walk;
pub use turnstile_syntax::{ast, digest, lexer, parser, template};
pub use turnstile_values::{
    cell, charset, collation, context, datetime, decimal, error, json, memory, mixing, sink, types, value,
};
use turnstile_values::{key_codec, pulse, stored_width};

pub use database::Database;
pub use error::{SqlError, SqlResult};
pub use session::{Prepared, Session, SessionInit};
pub use sink::{ColumnMeta, ResultSink};
pub use value::Value;
