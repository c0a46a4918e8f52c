//! Values of table options that are kept as they are written: what may stand there is told by the option.

use super::{Failure, Parse, ParseErrorKind, Parser};
use crate::ast::{Name, TableOption};
use crate::lexer::{Keyword, TokenKind};

/// What may be an option's value.
enum Kind {
    /// A number.
    Number,
    /// A number from one to another, and how the error names the two.
    Range(u64, u64, &'static str),
    /// The same, or DEFAULT.
    RangeOrDefault(u64, u64, &'static str),
    /// 0, 1 or DEFAULT.
    Switch,
    /// A string.
    Text,
    /// A number of bytes, which may end with a letter.
    Size,
    /// A word, or NULL or a string.
    Word,
    /// One of these words.
    OneOf(&'static [Keyword]),
}

fn kind(option: Keyword) -> Option<Kind> {
    Some(match option {
        Keyword::MaxRows | Keyword::MinRows | Keyword::Checksum | Keyword::DelayKeyWrite => Kind::Number,
        Keyword::AvgRowLength => Kind::Range(0, 4_294_967_295, "avg_row_length is [0,4294967295]"),
        Keyword::KeyBlockSize => Kind::Range(0, 65_535, "key_block_size is [0,65535]"),
        Keyword::StatsSamplePages => Kind::RangeOrDefault(1, 65_535, "stats_sample_pages is [1, 65535]"),
        Keyword::PackKeys | Keyword::StatsPersistent | Keyword::StatsAutoRecalc => Kind::Switch,
        Keyword::Compression
        | Keyword::Connection
        | Keyword::Password
        | Keyword::Encryption
        | Keyword::EngineAttribute
        | Keyword::SecondaryEngineAttribute => Kind::Text,
        Keyword::AutoextendSize => Kind::Size,
        Keyword::InsertMethod => Kind::OneOf(&[Keyword::No, Keyword::First, Keyword::Last]),
        Keyword::Tablespace => Kind::OneOf(&[]),
        Keyword::SecondaryEngine => Kind::Word,
        _ => return None,
    })
}

impl Parser<'_> {
    /// `OPTION [=] value`, if the option is one whose value is kept as it is written.
    pub(super) fn written_option(&mut self, option: Keyword) -> Parse<Option<TableOption>> {
        let Some(kind) = kind(option) else { return Ok(None) };
        self.advance();
        self.eat_kind(TokenKind::Equal);
        let value = match kind {
            Kind::Number => self.written_number(None)?,
            Kind::RangeOrDefault(..) | Kind::Switch if self.at(Keyword::Default) => self.any_name()?,
            Kind::Range(least, most, said) | Kind::RangeOrDefault(least, most, said) => {
                self.written_number(Some((least, most, said)))?
            }
            Kind::Switch => {
                let place = self.unexpected();
                let value = self.written_number(None)?;
                if matches!(&*value, "0" | "1") { value } else { return Err(place) }
            }
            Kind::Text => self.utf8_text()?,
            Kind::Size => match self.token.kind {
                TokenKind::Integer => self.written_number(None)?,
                TokenKind::Keyword(Keyword::Null) => return Err(self.unexpected()),
                _ => self.name()?,
            },
            Kind::Word => self.word_value()?,
            Kind::OneOf([]) => self.name()?,
            Kind::OneOf(words) => {
                let word = self.eat_any(words).ok_or_else(|| self.unexpected())?;
                word.text().into()
            }
        };
        Ok(Some(TableOption::Other(option.text().into(), value)))
    }

    fn word_value(&mut self) -> Parse<Name> {
        match self.token.kind {
            TokenKind::String => self.utf8_text(),
            TokenKind::Integer | TokenKind::Keyword(Keyword::Null) => {
                let token = self.advance();
                self.name_of(token)
            }
            _ => self.name(),
        }
    }

    /// The digits of a whole number, which is in a range if one is given.
    fn written_number(&mut self, range: Option<(u64, u64, &'static str)>) -> Parse<Name> {
        let place = self.token.start;
        let number = self.option_number()?;
        match range {
            Some((least, most, said)) if !(least..=most).contains(&number) => {
                Err(Failure { kind: ParseErrorKind::OptionRange(said), offset: place })
            }
            _ => Ok(number.to_string().into()),
        }
    }
}
