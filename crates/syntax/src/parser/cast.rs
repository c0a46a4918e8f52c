//! CAST, CONVERT, WEIGHT_STRING and CHAR: calls that name a type or a character set.

use super::{Deprecated, Parse, Parser, deprecated};
use crate::ast::{CastType, Expr, Literal};
use crate::lexer::{Keyword, TokenKind};

impl Parser<'_> {
    /// `CHAR(65, 66 [USING charset])`
    pub(super) fn char_function(&mut self) -> Parse<Expr> {
        self.advance();
        self.expect_kind(TokenKind::LeftParen)?;
        let arguments = self.comma_list(Self::expression)?;
        let charset = if self.eat(Keyword::Using) { Some(self.warned_charset()?) } else { None };
        self.close()?;
        // Character sets whose bytes are not those of UTF-8: such a call gives the text itself.
        let decoded = match charset.as_deref() {
            Some("utf16" | "ucs2") => Some("char using utf16"),
            Some("utf32") => Some("char using utf32"),
            Some("latin1") => Some("char using latin1"),
            _ => None,
        };
        if let Some(name) = decoded {
            return Ok(super::expression::call(name, arguments));
        }
        let function = super::expression::call("char", arguments);
        Ok(match charset {
            Some(charset) => Expr::ConvertUsing { operand: Box::new(function), charset },
            None => function,
        })
    }

    pub(super) fn cast(&mut self) -> Parse<Expr> {
        self.advance();
        let operand = Box::new(self.expression()?);
        self.expect(Keyword::As)?;
        let target = self.cast_type()?;
        if self.token.kind == TokenKind::Identifier && self.span(self.token).eq_ignore_ascii_case(b"array") {
            return Err(self.not_supported("keys over all values of a JSON array (CAST ... AS ... ARRAY)"));
        }
        self.close()?;
        Ok(Expr::Cast { operand, target })
    }

    /// `WEIGHT_STRING(a)`, `(a AS CHAR(n))`, `(a AS BINARY(n))`, `(a, length, characters, flags)`
    pub(super) fn weight_string(&mut self) -> Parse<Expr> {
        self.advance();
        let mut operand = self.expression()?;
        let mut numbers = [0; 3];
        if self.eat(Keyword::As) {
            let bytes = self.eat(Keyword::Binary);
            if !bytes {
                self.expect(Keyword::Char)?;
            }
            self.expect_kind(TokenKind::LeftParen)?;
            let place = self.unexpected();
            let characters = self.number()?;
            if characters == 0 {
                return Err(place);
            }
            numbers[0] = characters & 0xFFFF_FFFF;
            self.close()?;
            if bytes {
                let target = CastType::Binary(Some(std::mem::take(&mut numbers[0])));
                operand = Expr::Cast { operand: Box::new(operand), target };
            }
        } else if self.eat_kind(TokenKind::Comma) {
            let length = self.number()?;
            self.expect_kind(TokenKind::Comma)?;
            let characters = self.number()?;
            self.expect_kind(TokenKind::Comma)?;
            numbers = [characters, length, self.number()?].map(|number| number & 0xFFFF_FFFF);
        }
        self.close()?;
        let numbers = numbers.map(|number| Expr::Literal(Literal::Int(number)));
        Ok(super::expression::call("weight_string", std::iter::once(operand).chain(numbers).collect()))
    }

    /// `CONVERT(a, type)`, `CONVERT(a USING charset)`
    pub(super) fn convert(&mut self) -> Parse<Expr> {
        self.advance();
        self.expect_kind(TokenKind::LeftParen)?;
        let operand = Box::new(self.expression()?);
        let expr = if self.eat(Keyword::Using) {
            Expr::ConvertUsing { operand, charset: self.warned_charset()? }
        } else {
            self.expect_kind(TokenKind::Comma)?;
            Expr::Cast { operand, target: self.cast_type()? }
        };
        self.close()?;
        Ok(expr)
    }

    pub(super) fn cast_type(&mut self) -> Parse<CastType> {
        let place = self.unexpected();
        let Some(keyword) = self.keyword() else { return Err(place) };
        self.advance();
        Ok(match keyword {
            Keyword::Binary => CastType::Binary(self.optional_length()?),
            Keyword::Char | Keyword::Character => self.cast_char()?,
            Keyword::Nchar => {
                self.note_deprecated(Some(Deprecated::National));
                CastType::Char { length: self.optional_length()?, charset: Some("utf8mb3".into()) }
            }
            Keyword::Signed | Keyword::Unsigned => {
                let _ = self.eat_any(&[Keyword::Int, Keyword::Integer]);
                if keyword == Keyword::Signed { CastType::Signed } else { CastType::Unsigned }
            }
            Keyword::Date => CastType::Date,
            Keyword::Time => CastType::Time(self.optional_length()?),
            Keyword::Datetime => CastType::DateTime(self.optional_length()?),
            Keyword::Year => CastType::Year,
            Keyword::Decimal | Keyword::Dec => {
                let (precision, scale) = self.optional_precision()?;
                CastType::Decimal { precision, scale }
            }
            Keyword::Float => CastType::Float(self.optional_length()?),
            Keyword::Double => {
                self.eat(Keyword::Precision);
                CastType::Double
            }
            Keyword::Real => CastType::Double,
            Keyword::Json => CastType::Json,
            _ => return Err(place),
        })
    }

    pub(super) fn cast_char(&mut self) -> Parse<CastType> {
        let length = self.optional_length()?;
        let charset = match self.eat_any(&[Keyword::Ascii, Keyword::Unicode, Keyword::Binary]) {
            Some(Keyword::Ascii) => {
                self.note_deprecated(Some(deprecated::ASCII));
                Some("latin1".into())
            }
            Some(Keyword::Unicode) => {
                self.note_deprecated(Some(deprecated::UNICODE));
                Some("ucs2".into())
            }
            Some(_) => Some("binary".into()),
            None if self.eat_charset()? => Some(self.warned_charset()?),
            None => None,
        };
        Ok(CastType::Char { length, charset })
    }
}
