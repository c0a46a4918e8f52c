//! Trees by their printed form, statements by the hundred, errors by their words.
#![allow(clippy::unwrap_used)]

mod corpus;
mod errors;
mod hostile;
mod precedence;
mod statements;

use super::*;

fn parse_text(text: &str) -> Statement {
    match parse(text.as_bytes(), ParseOptions::default()) {
        Ok(parsed) => parsed.statement,
        Err(error) => panic!("{text}\n{error}"),
    }
}

fn error_of(text: &str) -> ParseError {
    match parse(text.as_bytes(), ParseOptions::default()) {
        Ok(parsed) => panic!("accepted: {text}\n{:?}", parsed.statement),
        Err(error) => error,
    }
}
