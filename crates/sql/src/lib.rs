//! Turnstile, SQL: parse, bind, plan, execute; types and collations; the data dictionary.
#![forbid(unsafe_code)]

pub mod ast;
pub mod collation;
pub mod datetime;
pub mod decimal;
pub mod error;
pub mod expr;
pub mod parser;
pub mod types;
pub mod value;
