//! Operands: literals, names, variables, parentheses, CASE, and the operators written before their operand.

use super::expression::call;
use super::name::lower;
use super::{Deprecated, Parse, ParseErrorKind, Parser};
use crate::ast::{Expr, Literal, Name, StringLiteral, Text, UnaryOp, VariableScope};
use crate::lexer::{Keyword, TokenKind, literal};

impl Parser<'_> {
    /// An operand with its prefix operators and COLLATE.
    pub(super) fn simple(&mut self) -> Parse<Expr> {
        let op = match self.token.kind {
            TokenKind::Minus => UnaryOp::Negate,
            TokenKind::Tilde => UnaryOp::BitNot,
            TokenKind::Bang => UnaryOp::Not,
            TokenKind::Keyword(Keyword::Binary) => UnaryOp::Binary,
            TokenKind::Plus => {
                self.advance();
                return self.nested(Self::simple);
            }
            _ => return self.collated(),
        };
        match self.advance().kind {
            TokenKind::Bang => self.deprecated(Deprecated::Bang),
            TokenKind::Keyword(_) => self.deprecated(Deprecated::BinaryOperator),
            _ => {}
        }
        let operand = Box::new(self.nested(Self::simple)?);
        Ok(Expr::Unary { op, operand })
    }

    fn collated(&mut self) -> Parse<Expr> {
        let mut expr = self.primary()?;
        while self.eat(Keyword::Collate) {
            self.deepen()?;
            expr = Expr::Collate { operand: Box::new(expr), collation: self.charset_name()? };
        }
        Ok(expr)
    }

    fn primary(&mut self) -> Parse<Expr> {
        match self.token.kind {
            TokenKind::Identifier | TokenKind::QuotedIdentifier => self.named(),
            TokenKind::Keyword(keyword) if !keyword.is_reserved() => self.named(),
            TokenKind::Keyword(keyword) => self.reserved(keyword),
            TokenKind::LeftParen => self.parenthesized(),
            TokenKind::Parameter => self.parameter(),
            TokenKind::UserVariable => self.user_variable(),
            TokenKind::AtAt => {
                let (scope, name) = self.system_variable()?;
                self.deprecated(Deprecated::Variable(name.clone()));
                Ok(Expr::SystemVariable { scope, name })
            }
            TokenKind::LeftBrace => self.odbc_escape(),
            _ => Ok(Expr::Literal(self.literal()?)),
        }
    }

    /// A literal that is not a word.
    pub(super) fn literal(&mut self) -> Parse<Literal> {
        let span = self.span(self.token);
        let ascii = || std::str::from_utf8(span).unwrap_or_default();
        let value = match self.token.kind {
            TokenKind::Integer => match literal::integer(span) {
                Some(value) => Literal::Int(value),
                None => Literal::Decimal(ascii().into()),
            },
            TokenKind::Decimal => Literal::Decimal(ascii().into()),
            TokenKind::Float => {
                let value: f64 = ascii().parse().map_err(|_| self.unexpected())?;
                if value.is_infinite() {
                    return Err(self.failure(ParseErrorKind::Double(ascii().into())));
                }
                Literal::Double(value)
            }
            TokenKind::String => {
                return Ok(Literal::String(StringLiteral { bytes: self.text()?, introducer: None }));
            }
            TokenKind::NationalString => {
                let bytes = literal::unquote(&span[1..], !self.options.no_backslash_escapes);
                self.first_part = bytes.len();
                self.note_deprecated(Some(Deprecated::National));
                Literal::String(StringLiteral { bytes, introducer: Some("utf8mb3".into()) })
            }
            TokenKind::HexString => Literal::Hex(literal::hex_bytes(&span[2..span.len() - 1])),
            TokenKind::HexNumber => Literal::Hex(literal::hex_bytes(&span[2..])),
            TokenKind::BitString => Literal::Bit(literal::bit_bytes(&span[2..span.len() - 1])),
            TokenKind::BitNumber => Literal::Bit(literal::bit_bytes(&span[2..])),
            _ => return Err(self.unexpected()),
        };
        self.advance();
        Ok(value)
    }

    /// A word that is no reserved keyword: a column, a call, or a literal with an introducer.
    fn named(&mut self) -> Parse<Expr> {
        let span = self.span(self.token);
        if self.token.kind == TokenKind::Identifier
            && span[0] == b'_'
            && literal::is_character_set(&span[1..])
        {
            let next = self.peek();
            if let TokenKind::String | TokenKind::HexString | TokenKind::HexNumber = next {
                return self.introduced();
            }
            if let TokenKind::BitString | TokenKind::BitNumber = next {
                return self.introduced();
            }
        }
        if let TokenKind::Keyword(keyword @ (Keyword::Date | Keyword::Time | Keyword::Timestamp)) =
            self.token.kind
            && self.peek() == TokenKind::String
        {
            self.advance();
            let text = self.text()?;
            return Ok(Expr::Literal(match keyword {
                Keyword::Date => Literal::Date(text),
                Keyword::Time => Literal::Time(text),
                _ => Literal::Timestamp(text),
            }));
        }
        if !self.at_name() {
            return Err(self.unexpected());
        }
        let token = self.token;
        let name = self.any_name()?;
        if self.is(TokenKind::LeftParen) {
            return self.nested(|parser| match parser.calls_native(token) {
                true => parser.call_of(name),
                false => parser.stored_call(None, name),
            });
        }
        let column = self.column_name_after(name)?;
        if self.is(TokenKind::LeftParen)
            && let (None, Some(schema)) = (&column.schema, &column.table)
        {
            let schema = schema.clone();
            return self.nested(|parser| parser.stored_call(Some(schema), column.column));
        }
        let expr = Expr::Column(column);
        if self.is(TokenKind::Arrow) || self.is(TokenKind::ArrowText) {
            return self.json_arrow(expr);
        }
        Ok(expr)
    }

    /// `column -> 'path'`, `column ->> 'path'`
    fn json_arrow(&mut self, column: Expr) -> Parse<Expr> {
        let as_text = self.advance().kind == TokenKind::ArrowText;
        let path = StringLiteral { bytes: self.text()?, introducer: None };
        self.deepen()?;
        let extract = call("json_extract", vec![column, Expr::Literal(Literal::String(path))]);
        Ok(if as_text { call("json_unquote", vec![extract]) } else { extract })
    }

    /// `_utf8mb4'text'`, `_binary 0x4D`
    fn introduced(&mut self) -> Parse<Expr> {
        let token = self.advance();
        let introducer = lower(self.name_of(token)?[1..].into());
        self.note_deprecated(Deprecated::of_charset(&introducer));
        let bytes = match self.literal()? {
            Literal::String(string) => self.as_sent(string.bytes),
            Literal::Hex(bytes) | Literal::Bit(bytes) => bytes,
            _ => return Err(self.unexpected()),
        };
        Ok(Expr::Literal(Literal::String(StringLiteral { bytes, introducer: Some(introducer) })))
    }

    /// The bytes of a string as the client sent them.
    fn as_sent(&self, text: Text) -> Text {
        match (self.options.client_set, std::str::from_utf8(&text)) {
            (Some(set), Ok(text)) => set.sent_bytes(text).into(),
            _ => text,
        }
    }

    fn reserved(&mut self, keyword: Keyword) -> Parse<Expr> {
        let literal = match keyword {
            Keyword::Null => Literal::Null,
            Keyword::True => Literal::Bool(true),
            Keyword::False => Literal::Bool(false),
            Keyword::Case => return self.nested(Self::case),
            Keyword::Exists => {
                self.advance();
                return Ok(Expr::Exists(Box::new(self.parenthesized_query()?)));
            }
            Keyword::Row => {
                self.advance();
                let items = self.nested(|parser| parser.parenthesized_list(Self::expression))?;
                return if items.len() < 2 { Err(self.unexpected()) } else { Ok(Expr::Row(items)) };
            }
            Keyword::Default => return self.default_value(),
            Keyword::Interval => return self.nested(Self::interval_first),
            _ => return self.nested(|parser| parser.reserved_call(keyword)),
        };
        self.advance();
        Ok(Expr::Literal(literal))
    }

    fn default_value(&mut self) -> Parse<Expr> {
        self.advance();
        if !self.eat_kind(TokenKind::LeftParen) {
            return Ok(Expr::Default(None));
        }
        let column = self.column_name()?;
        self.expect_kind(TokenKind::RightParen)?;
        Ok(Expr::Default(Some(Box::new(column))))
    }

    /// `(expr)`, `(a, b)`, `(SELECT ...)`
    pub(super) fn parenthesized(&mut self) -> Parse<Expr> {
        self.advance();
        if self.at_query() {
            let query = Box::new(self.nested(Self::query)?);
            self.expect_kind(TokenKind::RightParen)?;
            return Ok(Expr::Subquery(query));
        }
        let first = self.expression()?;
        let expr = if self.is(TokenKind::Comma) {
            let mut items = vec![first];
            while self.eat_kind(TokenKind::Comma) {
                items.push(self.expression()?);
            }
            Expr::Row(items)
        } else if let Expr::Subquery(query) = first {
            // `((SELECT ...) UNION ...)`: what looked like a value is a query's first operand.
            Expr::Subquery(Box::new(self.nested(|parser| parser.query_after(*query))?))
        } else {
            first
        };
        self.expect_kind(TokenKind::RightParen)?;
        Ok(expr)
    }

    fn parameter(&mut self) -> Parse<Expr> {
        if !self.options.parameters {
            return Err(self.unexpected());
        }
        self.advance();
        let index = self.parameter_count;
        self.parameter_count += 1;
        Ok(Expr::Parameter(index))
    }

    fn user_variable(&mut self) -> Parse<Expr> {
        let name = self.variable_name()?;
        if !self.eat_kind(TokenKind::Assign) {
            return Ok(Expr::UserVariable(name));
        }
        let value = Box::new(self.expression()?);
        self.deprecated(Deprecated::Assignment);
        Ok(Expr::Assign { variable: name, value })
    }

    /// `@@[scope.]name[.part]`
    pub(super) fn system_variable(&mut self) -> Parse<(VariableScope, Name)> {
        self.expect_kind(TokenKind::AtAt)?;
        let first = self.any_name()?;
        if !self.eat_kind(TokenKind::Dot) {
            return Ok((VariableScope::Default, first));
        }
        let second = self.any_name()?;
        let scope = match &*lower(first.clone()) {
            "session" | "local" => VariableScope::Session,
            "global" => VariableScope::Global,
            "persist" => VariableScope::Persist,
            "persist_only" => VariableScope::PersistOnly,
            _ => return Ok((VariableScope::Default, format!("{first}.{second}").into())),
        };
        if self.eat_kind(TokenKind::Dot) {
            let part = self.any_name()?;
            return Ok((scope, format!("{second}.{part}").into()));
        }
        Ok((scope, second))
    }

    /// `{d '2026-01-31'}`, `{fn NOW()}`
    fn odbc_escape(&mut self) -> Parse<Expr> {
        self.advance();
        let kind = lower(self.name()?);
        let expr = match &*kind {
            "d" => Expr::Literal(Literal::Date(self.text()?)),
            "t" => Expr::Literal(Literal::Time(self.text()?)),
            "ts" => Expr::Literal(Literal::Timestamp(self.text()?)),
            _ => self.expression()?,
        };
        self.expect_kind(TokenKind::RightBrace)?;
        Ok(expr)
    }

    fn case(&mut self) -> Parse<Expr> {
        self.advance();
        let operand = if self.at(Keyword::When) { None } else { Some(Box::new(self.expression()?)) };
        let mut branches = Vec::new();
        while self.eat(Keyword::When) {
            let condition = self.expression()?;
            self.expect(Keyword::Then)?;
            branches.push((condition, self.expression()?));
        }
        if branches.is_empty() {
            return Err(self.unexpected());
        }
        let otherwise = if self.eat(Keyword::Else) { Some(Box::new(self.expression()?)) } else { None };
        self.expect(Keyword::End)?;
        Ok(Expr::Case { operand, branches, otherwise })
    }
}
