//! OVER and WINDOW.

use crate::ast::{Expr, Frame, FrameBound, FunctionCall, Literal, Name, Over, Window};
use crate::lexer::{Keyword, TokenKind};
use turnstile_values::error::SqlError;

use super::{Parse, Parser};

/// At the name of a function that is nothing without a window.
pub(super) fn window_call(parser: &mut Parser<'_>, name: &str) -> Parse<Expr> {
    parser.advance();
    parser.expect_kind(TokenKind::LeftParen)?;
    let mut arguments = Vec::new();
    match name {
        "ntile" => arguments.push(count_of_rows(parser)?),
        "first_value" | "last_value" => arguments.push(parser.expression()?),
        "nth_value" => {
            arguments.push(parser.expression()?);
            parser.expect_kind(TokenKind::Comma)?;
            arguments.push(count_of_rows(parser)?);
        }
        "lag" | "lead" => {
            arguments.push(parser.expression()?);
            if parser.eat_kind(TokenKind::Comma) {
                arguments.push(count_of_rows(parser)?);
            }
            if arguments.len() == 2 && parser.eat_kind(TokenKind::Comma) {
                arguments.push(parser.expression()?);
            }
        }
        _ => {}
    }
    parser.close()?;
    if name == "nth_value" && parser.eat(Keyword::From) && parser.eat_any(&[Keyword::First]).is_none() {
        parser.expect(Keyword::Last)?;
        return Err(parser.not_supported("FROM LAST"));
    }
    if matches!(name, "nth_value" | "first_value" | "last_value" | "lag" | "lead") {
        let treatment = parser.eat_any(&[Keyword::Respect, Keyword::Ignore]);
        if treatment.is_some() {
            parser.expect(Keyword::Nulls)?;
        }
        if treatment == Some(Keyword::Ignore) {
            return Err(parser.not_supported("IGNORE NULLS"));
        }
    }
    let over = over(parser)?.ok_or_else(|| parser.unexpected())?;
    let call = FunctionCall { arguments, over: Some(Box::new(over)), ..FunctionCall::named(name) };
    Ok(Expr::Function(Box::new(call)))
}

/// A whole number that is known before any row.
fn count_of_rows(parser: &mut Parser<'_>) -> Parse<Expr> {
    match parser.token.kind {
        TokenKind::Integer => parser.literal().map(Expr::Literal),
        TokenKind::Parameter | TokenKind::UserVariable => parser.expression(),
        TokenKind::Identifier | TokenKind::QuotedIdentifier => {
            let name = parser.name()?;
            Err(parser.refused(SqlError::undeclared_variable(&name)))
        }
        _ => Err(parser.unexpected()),
    }
}

/// `[OVER name | OVER (...)]`
pub(super) fn over(parser: &mut Parser<'_>) -> Parse<Option<Over>> {
    if !parser.eat(Keyword::Over) {
        return Ok(None);
    }
    match parser.is(TokenKind::LeftParen) {
        true => window(parser).map(|window| Some(Over::Window(window))),
        false => parser.name().map(|name| Some(Over::Named(name))),
    }
}

/// `[WINDOW name AS (...), ...]`
pub(super) fn windows(parser: &mut Parser<'_>) -> Parse<Vec<(Name, Window)>> {
    if !parser.eat(Keyword::Window) {
        return Ok(Vec::new());
    }
    parser.comma_list(|parser| {
        let name = parser.name()?;
        parser.expect(Keyword::As)?;
        Ok((name, window(parser)?))
    })
}

/// `([base] [PARTITION BY ...] [ORDER BY ...] [frame])`
fn window(parser: &mut Parser<'_>) -> Parse<Window> {
    parser.expect_kind(TokenKind::LeftParen)?;
    let mut window = Window::default();
    if parser.at_name() {
        window.base = Some(parser.name()?);
    }
    if parser.eat_all(Keyword::Partition, &[Keyword::By])? {
        window.partition = parser.comma_list(|parser| parser.group_item().map(|item| item.expr))?;
    }
    window.order = parser.order_by()?;
    if let Some(unit) = parser.eat_any(&[Keyword::Rows, Keyword::Range, Keyword::Groups]) {
        window.frame = Some(frame(parser, unit == Keyword::Range)?);
        if unit == Keyword::Groups {
            return Err(parser.not_supported("GROUPS"));
        }
        if parser.at(Keyword::Exclude) {
            return Err(parser.not_supported("EXCLUDE"));
        }
    }
    parser.close()?;
    Ok(window)
}

fn frame(parser: &mut Parser<'_>, by_value: bool) -> Parse<Frame> {
    if parser.eat(Keyword::Between) {
        let start = frame_bound(parser, true)?;
        parser.expect(Keyword::And)?;
        return Ok(Frame { by_value, start, end: frame_bound(parser, true)? });
    }
    Ok(Frame { by_value, start: frame_bound(parser, false)?, end: FrameBound::Current })
}

/// An end of a frame; `follows`: one that lies behind the row can be written.
fn frame_bound(parser: &mut Parser<'_>, follows: bool) -> Parse<FrameBound> {
    let sides = [Keyword::Preceding, Keyword::Following];
    let sides = if follows { &sides[..] } else { &sides[..1] };
    if parser.eat_all(Keyword::Current, &[Keyword::Row])? {
        return Ok(FrameBound::Current);
    }
    if parser.eat(Keyword::Unbounded) {
        let side = parser.eat_any(sides).ok_or_else(|| parser.unexpected())?;
        return Ok(if side == Keyword::Preceding { FrameBound::First } else { FrameBound::Last });
    }
    let (amount, unit) = match parser.at(Keyword::Interval) {
        true => match parser.interval()? {
            Ok((amount, unit)) => (amount, Some(unit)),
            Err(_) => return Err(parser.unexpected()),
        },
        false if parser.is(TokenKind::Parameter) => (parser.expression()?, None),
        false => match parser.literal()? {
            number @ (Literal::Int(_) | Literal::Decimal(_) | Literal::Double(_)) => {
                (Expr::Literal(number), None)
            }
            _ => return Err(parser.unexpected()),
        },
    };
    let side = parser.eat_any(sides).ok_or_else(|| parser.unexpected())?;
    Ok(match side {
        Keyword::Preceding => FrameBound::Before(amount, unit),
        _ => FrameBound::After(amount, unit),
    })
}
