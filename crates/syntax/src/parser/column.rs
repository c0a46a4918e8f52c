//! Column types and column definitions.

use super::name::lower;
use super::{Deprecated, Parse, Parser, deprecated};
use crate::ast::{
    CheckDef, Clause, ColumnDef, ColumnType, DefaultClause, Expr, Generated, Literal, Name, StringLiteral,
    TypeKind, UnaryOp,
};
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

    /// A column's type with the attributes that belong to it.
    pub(super) fn column_type(&mut self) -> Parse<ColumnType> {
        let Some(keyword) = self.keyword() else { return Err(self.unexpected()) };
        let mut column_type = ColumnType::plain(TypeKind::Int);
        match keyword {
            Keyword::Char
            | Keyword::Character
            | Keyword::Nchar
            | Keyword::National
            | Keyword::Varchar
            | Keyword::Varcharacter
            | Keyword::Nvarchar
            | Keyword::Long => self.character_type(keyword, &mut column_type)?,
            Keyword::Enum | Keyword::Set => {
                self.advance();
                column_type.kind = if keyword == Keyword::Enum { TypeKind::Enum } else { TypeKind::Set };
                column_type.values = self.parenthesized_list(Self::type_value)?;
            }
            Keyword::Geometry | Keyword::Point => return Err(self.not_supported("spatial types")),
            _ => self.simple_type(keyword, &mut column_type)?,
        }
        self.type_attributes(&mut column_type)?;
        self.deprecated_in_type(keyword, &column_type);
        Ok(column_type)
    }

    /// What MySQL advises against in a type that has been read.
    fn deprecated_in_type(&mut self, keyword: Keyword, column_type: &ColumnType) {
        use TypeKind as T;
        let boolean = matches!(keyword, Keyword::Bool | Keyword::Boolean);
        let has_length = column_type.length.is_some() && !boolean;
        let real = matches!(column_type.kind, T::Decimal | T::Float | T::Double);
        if column_type.zerofill {
            self.deprecated(Deprecated::Zerofill);
        }
        match column_type.kind {
            T::TinyInt | T::SmallInt | T::MediumInt | T::Int | T::BigInt if has_length => {
                self.deprecated(Deprecated::IntegerWidth);
            }
            T::Float | T::Double if column_type.decimals.is_some() => {
                self.deprecated(Deprecated::FloatDigits);
            }
            T::Year if has_length => self.deprecated(Deprecated::YearWidth),
            _ => {}
        }
        if real && column_type.unsigned {
            self.deprecated(Deprecated::UnsignedReal);
        }
    }

    fn type_value(&mut self) -> Parse<crate::ast::Text> {
        match self.literal()? {
            Literal::String(StringLiteral { bytes, .. }) | Literal::Hex(bytes) | Literal::Bit(bytes) => {
                Ok(bytes)
            }
            _ => Err(self.unexpected()),
        }
    }

    /// CHAR, VARCHAR and their many spellings; LONG.
    fn character_type(&mut self, first: Keyword, column_type: &mut ColumnType) -> Parse<()> {
        self.advance();
        let mut kind = TypeKind::Char;
        match first {
            Keyword::Long => {
                kind = if self.eat(Keyword::Varbinary) {
                    TypeKind::MediumBlob
                } else {
                    let words = [Keyword::Varchar, Keyword::Varcharacter, Keyword::Char, Keyword::Character];
                    if matches!(self.eat_any(&words), Some(Keyword::Char | Keyword::Character)) {
                        self.expect(Keyword::Varying)?;
                    }
                    TypeKind::MediumText
                };
                column_type.kind = kind;
                return Ok(());
            }
            Keyword::National => {
                let words = [Keyword::Char, Keyword::Character, Keyword::Varchar, Keyword::Varcharacter];
                match self.eat_any(&words) {
                    Some(Keyword::Varchar | Keyword::Varcharacter) => kind = TypeKind::VarChar,
                    Some(_) => {}
                    None => return Err(self.unexpected()),
                }
            }
            Keyword::Varchar | Keyword::Varcharacter | Keyword::Nvarchar => kind = TypeKind::VarChar,
            Keyword::Nchar if self.eat(Keyword::Varchar) => kind = TypeKind::VarChar,
            _ => {}
        }
        if kind == TypeKind::Char && self.eat(Keyword::Varying) {
            kind = TypeKind::VarChar;
        }
        if matches!(first, Keyword::National | Keyword::Nchar | Keyword::Nvarchar) {
            column_type.charset = Some("utf8mb3".into());
            self.note_deprecated(Some(Deprecated::National));
        }
        column_type.kind = kind;
        column_type.length = self.optional_length()?;
        if kind == TypeKind::VarChar && column_type.length.is_none() {
            return Err(self.unexpected());
        }
        Ok(())
    }

    fn simple_type(&mut self, keyword: Keyword, column_type: &mut ColumnType) -> Parse<()> {
        let Some((kind, numbers)) = self.type_kind(keyword) else { return Err(self.unexpected()) };
        self.advance();
        column_type.kind = kind;
        if keyword == Keyword::Double {
            self.eat(Keyword::Precision);
        }
        if numbers == 2 {
            (column_type.length, column_type.decimals) = self.optional_precision()?;
        } else if numbers == 1 {
            column_type.length = self.optional_length()?;
        }
        match keyword {
            Keyword::Bool | Keyword::Boolean => column_type.length = Some(1),
            Keyword::Serial => column_type.unsigned = true,
            Keyword::Varbinary if column_type.length.is_none() => return Err(self.unexpected()),
            _ => {}
        }
        Ok(())
    }

    /// The family a word names, and how many numbers may follow in parentheses.
    fn type_kind(&self, keyword: Keyword) -> Option<(TypeKind, u8)> {
        Some(match keyword {
            Keyword::Bit => (TypeKind::Bit, 1),
            Keyword::Tinyint | Keyword::Int1 => (TypeKind::TinyInt, 1),
            Keyword::Bool | Keyword::Boolean => (TypeKind::TinyInt, 0),
            Keyword::Smallint | Keyword::Int2 => (TypeKind::SmallInt, 1),
            Keyword::Mediumint | Keyword::Int3 | Keyword::Middleint => (TypeKind::MediumInt, 1),
            Keyword::Int | Keyword::Integer | Keyword::Int4 => (TypeKind::Int, 1),
            Keyword::Bigint | Keyword::Int8 => (TypeKind::BigInt, 1),
            Keyword::Serial => (TypeKind::BigInt, 0),
            Keyword::Decimal | Keyword::Dec | Keyword::Numeric | Keyword::Fixed => (TypeKind::Decimal, 2),
            Keyword::Float | Keyword::Float4 => (TypeKind::Float, 2),
            Keyword::Real if self.options.real_as_float => (TypeKind::Float, 2),
            Keyword::Double | Keyword::Float8 | Keyword::Real => (TypeKind::Double, 2),
            Keyword::Date => (TypeKind::Date, 0),
            Keyword::Time => (TypeKind::Time, 1),
            Keyword::Datetime => (TypeKind::DateTime, 1),
            Keyword::Timestamp => (TypeKind::Timestamp, 1),
            Keyword::Year => (TypeKind::Year, 1),
            Keyword::Binary => (TypeKind::Binary, 1),
            Keyword::Varbinary => (TypeKind::VarBinary, 1),
            Keyword::Tinytext => (TypeKind::TinyText, 0),
            Keyword::Text => (TypeKind::Text, 1),
            Keyword::Mediumtext => (TypeKind::MediumText, 0),
            Keyword::Longtext => (TypeKind::LongText, 0),
            Keyword::Tinyblob => (TypeKind::TinyBlob, 0),
            Keyword::Blob => (TypeKind::Blob, 1),
            Keyword::Mediumblob => (TypeKind::MediumBlob, 0),
            Keyword::Longblob => (TypeKind::LongBlob, 0),
            Keyword::Json => (TypeKind::Json, 0),
            _ => return None,
        })
    }

    fn type_attributes(&mut self, column_type: &mut ColumnType) -> Parse<()> {
        use TypeKind as T;
        let is_number = matches!(
            column_type.kind,
            T::TinyInt | T::SmallInt | T::MediumInt | T::Int | T::BigInt | T::Decimal | T::Float | T::Double
        );
        let is_text = matches!(
            column_type.kind,
            T::Char | T::VarChar | T::TinyText | T::Text | T::MediumText | T::LongText | T::Enum | T::Set
        );
        while let Some(keyword) = self.keyword() {
            match keyword {
                Keyword::Unsigned if is_number => column_type.unsigned = true,
                Keyword::Signed if is_number => {}
                Keyword::Zerofill if is_number => column_type.zerofill = true,
                Keyword::Binary if is_text => {
                    column_type.binary_collation = true;
                    self.note_deprecated(Some(deprecated::BINARY));
                }
                Keyword::Ascii if is_text => {
                    column_type.charset = Some("latin1".into());
                    self.note_deprecated(Some(deprecated::ASCII));
                }
                Keyword::Unicode if is_text => {
                    column_type.charset = Some("ucs2".into());
                    self.note_deprecated(Some(deprecated::UNICODE));
                }
                Keyword::Byte if is_text => column_type.charset = Some("binary".into()),
                Keyword::Charset | Keyword::Character | Keyword::Char if is_text => {
                    if !self.eat_charset()? {
                        return Err(self.unexpected());
                    }
                    column_type.charset = Some(self.warned_charset()?);
                    continue;
                }
                Keyword::Collate if is_text => {
                    self.advance();
                    column_type.collation = Some(lower(self.warned_collation()?));
                    continue;
                }
                _ => break,
            }
            self.advance();
        }
        Ok(())
    }

    /// CHARACTER SET, CHAR SET, CHARSET: consumed and true.
    pub(super) fn eat_charset(&mut self) -> Parse<bool> {
        match self.eat_any(&[Keyword::Charset, Keyword::Character, Keyword::Char]) {
            Some(Keyword::Charset) => Ok(true),
            Some(_) => self.expect(Keyword::Set).map(|()| true),
            None => Ok(false),
        }
    }

    /// `[(precision[, scale])]`
    pub(super) fn optional_precision(&mut self) -> Parse<(Option<u64>, Option<u64>)> {
        if !self.eat_kind(TokenKind::LeftParen) {
            return Ok((None, None));
        }
        let precision = self.integer()?;
        let scale = if self.eat_kind(TokenKind::Comma) { Some(self.integer()?) } else { None };
        self.expect_kind(TokenKind::RightParen)?;
        Ok((Some(precision), scale))
    }
}
