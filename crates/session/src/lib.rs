#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

pub mod database;
mod kept_statement;
mod reads_lock;
mod row_plan;
pub mod session;
pub mod statement_cache;
mod used_tables;

pub use turnstile_catalog::{
    accounts, catalog, definition, dictionary, digests, expression_text, fuzz, mdl, rank, registry,
    row_codec, session_state, thread_pool, timeout, user_locks, variables, version, virtual_table,
};
pub use turnstile_exec::exec;
pub use turnstile_expr::{expr, functions};
pub use turnstile_observe::{information_schema, query_log, status};
pub use turnstile_plan::plan;
use turnstile_syntax::walk;
pub use turnstile_syntax::{ast, digest, lexer, parser, template};
pub use turnstile_values::{
    charset, collation, context, datetime, decimal, error, field, json, memory, mixing, sink, types, value,
};
use turnstile_values::{key_codec, pulse, stored_width};

pub use database::Database;
pub use error::{SqlError, SqlResult};
pub use session::{Prepared, Session, SessionInit};
pub use sink::{ColumnMeta, ResultSink};
pub use value::Value;
