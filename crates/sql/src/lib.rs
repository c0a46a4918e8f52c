#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

pub mod accounts;
pub mod ast;
pub mod cell;
pub mod charset;
pub mod collation;
pub mod database;
pub mod datetime;
pub mod decimal;
mod definition;
pub mod dictionary;
pub mod digest;
pub mod error;
mod exec;
pub mod expr;
pub mod functions;
pub mod fuzz;
pub mod information_schema;
pub mod json;
mod key_codec;
pub mod lexer;
pub mod mdl;
pub mod memory;
pub mod parser;
mod plan;
pub mod query_log;
mod rank;
mod regexp;
pub mod registry;
pub mod row_codec;
pub mod session;
pub mod sink;
pub mod statement_cache;
pub mod status;
pub mod template;
pub mod thread_pool;
mod timeout;
pub mod types;
pub mod user_locks;
pub mod value;
pub mod variables;

pub use database::Database;
pub use error::{SqlError, SqlResult};
pub use session::{Prepared, Session, SessionInit};
pub use sink::{ColumnMeta, ResultSink};
pub use value::Value;
