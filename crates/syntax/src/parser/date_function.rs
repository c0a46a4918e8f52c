//! Calls about dates and times that have a syntax of their own.

use super::{Parse, Parser};
use crate::ast::{Expr, IntervalUnit, Literal, StringLiteral};
use crate::lexer::{Keyword, TokenKind};

impl Parser<'_> {
    /// `()` or `(n)`: how many digits of its second a clock shows is written out.
    pub(super) fn digits_of_clock(&mut self) -> Parse<Vec<Expr>> {
        self.expect_kind(TokenKind::LeftParen)?;
        if self.eat_kind(TokenKind::RightParen) {
            return Ok(Vec::new());
        }
        if !self.is(TokenKind::Integer) {
            return Err(self.unexpected());
        }
        let digits = self.simple()?;
        self.close()?;
        Ok(vec![digits])
    }

    pub(super) fn extract(&mut self) -> Parse<Expr> {
        self.advance();
        let unit = self.interval_unit()?;
        self.expect(Keyword::From)?;
        let operand = Box::new(self.expression()?);
        self.close()?;
        Ok(Expr::Extract { unit, operand })
    }

    /// DATE_ADD and DATE_SUB; their synonyms ADDDATE and SUBDATE also take a plain number of days.
    pub(super) fn date_arithmetic(&mut self, subtract: bool, days_allowed: bool) -> Parse<Expr> {
        self.advance();
        let date = Box::new(self.expression()?);
        self.expect_kind(TokenKind::Comma)?;
        let (amount, unit) = if self.at(Keyword::Interval) {
            match self.interval()? {
                Ok(interval) => interval,
                Err(function) if days_allowed => (self.expression_after(function)?, IntervalUnit::Day),
                Err(_) => return Err(self.unexpected()),
            }
        } else if days_allowed {
            (self.expression()?, IntervalUnit::Day)
        } else {
            return Err(self.unexpected());
        };
        self.close()?;
        Ok(Expr::DateArithmetic { date, amount: Box::new(amount), unit, subtract })
    }

    pub(super) fn timestamp_add(&mut self) -> Parse<Expr> {
        self.advance();
        let unit = self.interval_unit()?;
        self.expect_kind(TokenKind::Comma)?;
        let amount = Box::new(self.expression()?);
        self.expect_kind(TokenKind::Comma)?;
        let date = Box::new(self.expression()?);
        self.close()?;
        Ok(Expr::DateArithmetic { date, amount, unit, subtract: false })
    }

    pub(super) fn timestamp_diff(&mut self) -> Parse<Expr> {
        self.advance();
        let unit = self.interval_unit()?;
        self.expect_kind(TokenKind::Comma)?;
        let from = Box::new(self.expression()?);
        self.expect_kind(TokenKind::Comma)?;
        let to = Box::new(self.expression()?);
        self.close()?;
        Ok(Expr::TimestampDiff { unit, from, to })
    }

    /// `GET_FORMAT(DATE, 'EUR')`: the first argument becomes a string.
    pub(super) fn get_format(&mut self) -> Parse<Expr> {
        self.advance();
        let words = [Keyword::Date, Keyword::Time, Keyword::Datetime, Keyword::Timestamp];
        let Some(kind) = self.eat_any(&words) else { return Err(self.unexpected()) };
        self.expect_kind(TokenKind::Comma)?;
        let kind = StringLiteral { bytes: kind.text().as_bytes().into(), introducer: None };
        let arguments = vec![Expr::Literal(Literal::String(kind)), self.expression()?];
        self.close()?;
        Ok(super::expression::call("get_format", arguments))
    }
}
