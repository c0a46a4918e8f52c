//! CREATE VIEW, ALTER VIEW, DROP VIEW.

use super::{Parse, Parser};
use crate::ast::{CheckOption, Clause, CreateView, Statement, ViewAlgorithm, ViewChange};
use crate::lexer::{Keyword, TokenKind};

/// Behind CREATE and ALTER, at one of OR, ALGORITHM, DEFINER, SQL and VIEW.
pub(super) fn view_statement(parser: &mut Parser<'_>, alters: bool) -> Parse<Statement> {
    let mut change = if alters { ViewChange::Alter } else { ViewChange::Create };
    if !alters && parser.eat_all(Keyword::Or, &[Keyword::Replace])? {
        change = ViewChange::Replace;
        if parser.at_word(b"spatial") {
            return Err(parser.unsupported_object(false));
        }
    }
    let mut algorithm = None;
    if parser.eat(Keyword::Algorithm) {
        parser.expect_kind(TokenKind::Equal)?;
        algorithm = Some(algorithm_word(parser)?);
    }
    let mut definer = None;
    if eat_word(parser, b"definer") {
        parser.expect_kind(TokenKind::Equal)?;
        definer = Some(parser.user_name()?);
    }
    let may_be_program = change == ViewChange::Create && algorithm.is_none() && definer.is_some();
    if may_be_program && let Some(feature) = program(parser) {
        return Err(parser.not_supported(feature));
    }
    let mut invoker = None;
    if parser.eat_all(Keyword::Sql, &[Keyword::Security])? {
        invoker = Some(eat_word(parser, b"invoker"));
        if invoker == Some(false) && !eat_word(parser, b"definer") {
            return Err(parser.unexpected());
        }
    }
    parser.expect(Keyword::View)?;
    if change == ViewChange::Create && parser.if_not_exists()? {
        change = ViewChange::Keep;
    }
    let name = parser.table_name()?;
    let columns = if parser.is(TokenKind::LeftParen) { parser.name_list()? } else { Vec::new() };
    parser.expect(Keyword::As)?;
    let query = Box::new(parser.nested(Parser::query)?);
    let check = check_option(parser)?;
    let view = CreateView { change, algorithm, definer, invoker, name, columns, query, check };
    Ok(Statement::CreateView(Box::new(view)))
}

/// What else may have a definer.
fn program(parser: &Parser<'_>) -> Option<&'static str> {
    match parser.keyword() {
        Some(Keyword::Procedure | Keyword::Function) => Some("stored routines"),
        Some(Keyword::Trigger) => Some("triggers"),
        Some(Keyword::Event) => Some("events"),
        _ => None,
    }
}

fn algorithm_word(parser: &mut Parser<'_>) -> Parse<ViewAlgorithm> {
    let words = [(&b"undefined"[..], ViewAlgorithm::Undefined), (b"merge", ViewAlgorithm::Merge)];
    for (word, algorithm) in words {
        if eat_word(parser, word) {
            return Ok(algorithm);
        }
    }
    parser.expect(Keyword::Temptable).map(|()| ViewAlgorithm::Temptable)
}

/// `WITH [CASCADED | LOCAL] CHECK OPTION`
fn check_option(parser: &mut Parser<'_>) -> Parse<Option<CheckOption>> {
    if !parser.eat(Keyword::With) {
        return Ok(None);
    }
    let local = parser.eat(Keyword::Local);
    if !local {
        eat_word(parser, b"cascaded");
    }
    parser.expect_all(&[Keyword::Check, Keyword::Option])?;
    Ok(Some(if local { CheckOption::Local } else { CheckOption::Cascaded }))
}

/// `VIEW [IF EXISTS] name, ... [RESTRICT | CASCADE]`, behind DROP.
pub(super) fn drop_view(parser: &mut Parser<'_>) -> Parse<Statement> {
    parser.advance();
    let if_exists = parser.if_exists()?;
    let names = parser.comma_list(Parser::table_name)?;
    parser.note_any(&[Keyword::Restrict, Keyword::Cascade], Clause::RestrictOrCascade);
    Ok(Statement::DropView { names, if_exists })
}

fn eat_word(parser: &mut Parser<'_>, word: &[u8]) -> bool {
    let found = parser.at_word(word);
    if found {
        parser.advance();
    }
    found
}
