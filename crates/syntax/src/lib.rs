#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

pub mod ast;
pub mod digest;
pub mod fuzz;
pub mod lexer;
pub mod parser;
pub mod template;
pub mod walk;
