//! Types of columns.

use super::name::lower;
use super::{Deprecated, Parse, Parser, deprecated};
use crate::ast::{ColumnType, Literal, StringLiteral, TypeKind};
use crate::lexer::{Keyword, TokenKind};

impl Parser<'_> {
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
    pub(super) fn deprecated_in_type(&mut self, keyword: Keyword, column_type: &ColumnType) {
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

    pub(super) fn type_value(&mut self) -> Parse<crate::ast::Text> {
        match self.literal()? {
            Literal::String(StringLiteral { bytes, .. }) | Literal::Hex(bytes) | Literal::Bit(bytes) => {
                Ok(bytes)
            }
            _ => Err(self.unexpected()),
        }
    }

    /// CHAR, VARCHAR and their many spellings; LONG.
    pub(super) fn character_type(&mut self, first: Keyword, column_type: &mut ColumnType) -> Parse<()> {
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

    pub(super) fn simple_type(&mut self, keyword: Keyword, column_type: &mut ColumnType) -> Parse<()> {
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
    pub(super) fn type_kind(&self, keyword: Keyword) -> Option<(TypeKind, u8)> {
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

    pub(super) fn type_attributes(&mut self, column_type: &mut ColumnType) -> Parse<()> {
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
