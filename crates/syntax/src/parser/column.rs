//! Column types and column definitions.

use super::{Parse, Parser};
use crate::ast::{CheckDef, Clause, ColumnDef, DefaultClause, Expr, Generated, Literal, Name, UnaryOp};
use crate::lexer::{Keyword, TokenKind};

impl Parser<'_> {
    /// `name type attributes`; CHECK constraints written at it go to `checks`.
    pub(super) fn column_definition(&mut self, checks: &mut Vec<CheckDef>) -> Parse<ColumnDef> {
        let name = self.name()?;
        self.column_after_name(name, checks, true)
    }

    /// Of a column that is changed `refers` is false: its foreign keys are added apart.
    pub(super) fn column_after_name(
        &mut self,
        name: Name,
        checks: &mut Vec<CheckDef>,
        refers: bool,
    ) -> Parse<ColumnDef> {
        let is_serial = self.at(Keyword::Serial);
        let column_type = self.column_type()?;
        let mut column = ColumnDef {
            name,
            column_type,
            nullable: is_serial.then_some(false),
            default: None,
            on_update: None,
            auto_increment: is_serial,
            primary_key: false,
            unique: is_serial,
            comment: None,
            generated: None,
            invisible: false,
            references: None,
            engine_attribute: false,
        };
        while (refers || !self.at(Keyword::References)) && self.column_attribute(&mut column, checks)? {}
        Ok(column)
    }

    fn column_attribute(&mut self, column: &mut ColumnDef, checks: &mut Vec<CheckDef>) -> Parse<bool> {
        let Some(keyword) = self.keyword() else { return Ok(false) };
        match keyword {
            Keyword::Not => {
                self.advance();
                self.expect(Keyword::Null)?;
                column.nullable = Some(false);
            }
            Keyword::Null => {
                self.advance();
                column.nullable = Some(true);
            }
            Keyword::Default => {
                self.advance();
                column.default = Some(self.column_default()?);
            }
            Keyword::On => {
                self.advance();
                self.expect(Keyword::Update)?;
                column.on_update = Some(self.now_precision()?);
            }
            Keyword::AutoIncrement => {
                self.advance();
                column.auto_increment = true;
            }
            Keyword::Serial => {
                self.expect_all(&[Keyword::Serial, Keyword::Default, Keyword::Value])?;
                column.nullable = Some(false);
                column.auto_increment = true;
                column.unique = true;
            }
            Keyword::Primary => {
                self.advance();
                self.expect(Keyword::Key)?;
                column.primary_key = true;
            }
            Keyword::Key => {
                self.advance();
                column.primary_key = true;
            }
            Keyword::Unique => {
                self.advance();
                self.eat(Keyword::Key);
                column.unique = true;
            }
            Keyword::Comment => {
                self.advance();
                column.comment = Some(self.text()?);
            }
            Keyword::Collate => {
                self.advance();
                column.column_type.collation = Some(self.warned_collation()?);
            }
            _ => return self.rare_column_attribute(keyword, column, checks),
        }
        Ok(true)
    }

    fn rare_column_attribute(
        &mut self,
        keyword: Keyword,
        column: &mut ColumnDef,
        checks: &mut Vec<CheckDef>,
    ) -> Parse<bool> {
        match keyword {
            Keyword::Generated | Keyword::As => self.generated(column)?,
            Keyword::Visible | Keyword::Invisible => {
                self.advance();
                column.invisible = keyword == Keyword::Invisible;
            }
            Keyword::References => {
                column.references = Some(Box::new(self.references()?));
                return Ok(false);
            }
            Keyword::Constraint | Keyword::Check => {
                let name = self.constraint_name()?;
                checks.push(self.check(name, Some(column.name.clone()))?);
            }
            Keyword::ColumnFormat | Keyword::Storage => {
                self.advance();
                if !self.eat(Keyword::Default) {
                    self.name()?;
                    let is_format = keyword == Keyword::ColumnFormat;
                    self.note(if is_format { Clause::ColumnFormat } else { Clause::ColumnStorage });
                }
            }
            Keyword::EngineAttribute => {
                self.attribute()?;
                column.engine_attribute = true;
            }
            Keyword::SecondaryEngineAttribute => {
                self.attribute()?;
                self.note(Clause::SecondaryAttribute);
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// `ENGINE_ATTRIBUTE [=] 'text'`
    pub(super) fn attribute(&mut self) -> Parse<crate::ast::Text> {
        self.advance();
        self.eat_kind(TokenKind::Equal);
        self.text()
    }

    fn generated(&mut self, column: &mut ColumnDef) -> Parse<()> {
        if self.eat(Keyword::Generated) {
            self.expect(Keyword::Always)?;
        }
        self.expect(Keyword::As)?;
        self.expect_kind(TokenKind::LeftParen)?;
        let expr = self.expression()?;
        self.expect_kind(TokenKind::RightParen)?;
        let stored = self.eat_any(&[Keyword::Stored, Keyword::Virtual]) == Some(Keyword::Stored);
        column.generated = Some(Generated { expr, stored });
        Ok(())
    }

    /// The value after DEFAULT: a literal with its sign, CURRENT_TIMESTAMP, or an expression in parentheses.
    pub(super) fn column_default(&mut self) -> Parse<DefaultClause> {
        let computed = self.eat_kind(TokenKind::LeftParen);
        if !computed {
            return Ok(DefaultClause { expr: self.default_value_expression()?, computed });
        }
        let expr = self.expression()?;
        self.expect_kind(TokenKind::RightParen)?;
        Ok(DefaultClause { expr, computed })
    }

    fn default_value_expression(&mut self) -> Parse<Expr> {
        match self.token.kind {
            TokenKind::Minus => {
                self.advance();
                let operand = Box::new(Expr::Literal(self.literal()?));
                Ok(Expr::Unary { op: UnaryOp::Negate, operand })
            }
            TokenKind::Plus => {
                self.advance();
                Ok(Expr::Literal(self.literal()?))
            }
            TokenKind::Keyword(Keyword::CurrentTimestamp | Keyword::Localtime | Keyword::Localtimestamp) => {
                self.simple()
            }
            TokenKind::Keyword(
                Keyword::Null
                | Keyword::True
                | Keyword::False
                | Keyword::Date
                | Keyword::Time
                | Keyword::Timestamp,
            ) => self.simple(),
            TokenKind::Identifier if self.span(self.token).eq_ignore_ascii_case(b"now") => self.simple(),
            TokenKind::Identifier if self.span(self.token)[0] == b'_' => self.simple(),
            _ => Ok(Expr::Literal(self.literal()?)),
        }
    }

    /// `CURRENT_TIMESTAMP[(n)]` and synonyms: its fractional digits.
    fn now_precision(&mut self) -> Parse<u8> {
        let place = self.unexpected();
        let Expr::Function(function) = self.simple()? else { return Err(place) };
        match function.arguments.as_slice() {
            [] if *function.name == *"now" => Ok(0),
            [Expr::Literal(Literal::Int(digits @ 0..=6))] if *function.name == *"now" => Ok(*digits as u8),
            _ => Err(place),
        }
    }
}
