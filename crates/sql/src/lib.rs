//! Turnstile, SQL: parse, bind, plan, execute; types and collations; the data dictionary.
#![forbid(unsafe_code)]

pub mod ast;
pub mod parser;
