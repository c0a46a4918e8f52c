//! Identifiers, qualified names, text literals, plain numbers: the small parts every statement uses.

use super::error::Failure;
use super::native::is_word_before_parenthesis;
use super::{Parse, ParseErrorKind, Parser};
use crate::ast::{ColumnName, Name, TableName, Text, UserName};
use crate::lexer::{Keyword, Token, TokenKind, literal};
use turnstile_values::error::SqlError;

/// Longest name of a user variable, in characters.
const VARIABLE_NAME_MAX: usize = 64;
/// Longest name of a user or role, in characters.
const USER_NAME_MAX: usize = 32;
/// Longest host of an account, in characters.
const HOST_NAME_MAX: usize = 255;
/// Characters of a too long one that an error shows.
const SHOWN_OF_ACCOUNT: usize = 70;

impl Parser<'_> {
    /// True when the current token can be an identifier.
    pub(super) fn at_name(&self) -> bool {
        match self.token.kind {
            TokenKind::Identifier | TokenKind::QuotedIdentifier => true,
            TokenKind::Keyword(keyword) => !keyword.is_reserved(),
            _ => false,
        }
    }

    /// An identifier: a bare word that is not reserved, or a quoted one.
    pub(super) fn name(&mut self) -> Parse<Name> {
        if !self.at_name() || self.at_function_word() {
            return Err(self.unexpected());
        }
        self.any_name()
    }

    /// Whether a function stands here whose name is a word of the grammar because of the parenthesis behind
    /// it.
    fn at_function_word(&self) -> bool {
        let end = self.token.end as usize;
        let calls = match self.text.get(end) {
            Some(b'(') => true,
            Some(next) => {
                self.options.ignore_space && next.is_ascii_whitespace() && self.peek() == TokenKind::LeftParen
            }
            None => false,
        };
        calls && self.token.kind == TokenKind::Identifier && is_word_before_parenthesis(self.span(self.token))
    }

    /// An identifier after a dot: even reserved words are names there.
    pub(super) fn any_name(&mut self) -> Parse<Name> {
        match self.token.kind {
            TokenKind::Identifier | TokenKind::QuotedIdentifier | TokenKind::Keyword(_) => {
                let name = self.name_of(self.token)?;
                self.advance();
                Ok(name)
            }
            _ => Err(self.unexpected()),
        }
    }

    /// The name that a word or quoted identifier is; it must be UTF-8.
    pub(super) fn name_of(&self, token: Token) -> Parse<Name> {
        let span = self.span(token);
        let invalid = |_| self.failure(ParseErrorKind::Syntax);
        if token.kind == TokenKind::QuotedIdentifier {
            let bytes = literal::unquote(span, false);
            return Ok(String::from_utf8(bytes.into_vec()).map_err(|_| self.unexpected())?.into());
        }
        Ok(std::str::from_utf8(span).map_err(invalid)?.into())
    }

    /// `(a, b, ...)`
    pub(super) fn name_list(&mut self) -> Parse<Vec<Name>> {
        self.parenthesized_list(Self::name)
    }

    /// `[schema.]table`
    pub(super) fn table_name(&mut self) -> Parse<TableName> {
        let first = self.name()?;
        if !self.eat_kind(TokenKind::Dot) {
            return Ok(TableName { schema: None, table: first });
        }
        Ok(TableName { schema: Some(first), table: self.any_name()? })
    }

    /// `[[schema.]table.]column`
    pub(super) fn column_name(&mut self) -> Parse<ColumnName> {
        let first = self.name()?;
        self.column_name_after(first)
    }

    pub(super) fn column_name_after(&mut self, first: Name) -> Parse<ColumnName> {
        if !self.eat_kind(TokenKind::Dot) {
            return Ok(ColumnName { schema: None, table: None, column: first });
        }
        let second = self.any_name()?;
        if !self.eat_kind(TokenKind::Dot) {
            return Ok(ColumnName { schema: None, table: Some(first), column: second });
        }
        Ok(ColumnName { schema: Some(first), table: Some(second), column: self.any_name()? })
    }

    /// The name in a user variable token: without `@` and quotes.
    pub(super) fn variable_name(&mut self) -> Parse<Name> {
        let place = self.token.start;
        let name = self.name_behind_at()?;
        if name.chars().count() > VARIABLE_NAME_MAX {
            return Err(Failure { kind: ParseErrorKind::VariableName(name), offset: place });
        }
        Ok(name)
    }

    /// What follows `@`, without quotes.
    fn name_behind_at(&mut self) -> Parse<Name> {
        if !self.is(TokenKind::UserVariable) {
            return Err(self.unexpected());
        }
        let span = &self.span(self.token)[1..];
        let bytes = match span.first() {
            Some(b'`') => literal::unquote(span, false),
            Some(b'\'' | b'"') => literal::unquote(span, !self.options.no_backslash_escapes),
            _ => span.into(),
        };
        let name = String::from_utf8(bytes.into_vec()).map_err(|_| self.unexpected())?;
        self.advance();
        Ok(name.into())
    }

    /// A string literal's bytes; neighbours are concatenated.
    pub(super) fn text(&mut self) -> Parse<Text> {
        let token = self.expect_kind(TokenKind::String)?;
        let escapes = !self.options.no_backslash_escapes;
        let first = literal::unquote(self.span(token), escapes);
        self.first_part = first.len();
        if !self.is(TokenKind::String) {
            return Ok(first);
        }
        let mut bytes = first.into_vec();
        while self.is(TokenKind::String) {
            let token = self.advance();
            bytes.extend_from_slice(&literal::unquote(self.span(token), escapes));
        }
        Ok(bytes.into())
    }

    /// A string literal that must be UTF-8.
    pub(super) fn utf8_text(&mut self) -> Parse<Name> {
        let place = self.unexpected();
        let bytes = self.text()?;
        Ok(String::from_utf8(bytes.into_vec()).map_err(|_| place)?.into())
    }

    /// An identifier or a string literal.
    pub(super) fn name_or_text(&mut self) -> Parse<Name> {
        if self.is(TokenKind::String) { self.utf8_text() } else { self.name() }
    }

    /// The name of a character set or collation, in lower case; BINARY, ASCII and DEFAULT-free.
    pub(super) fn charset_name(&mut self) -> Parse<Name> {
        let name = if self.at(Keyword::Binary) { self.any_name()? } else { self.name_or_text()? };
        Ok(lower(name))
    }

    /// A whole number literal.
    pub(super) fn integer(&mut self) -> Parse<u64> {
        if !self.is(TokenKind::Integer) {
            return Err(self.unexpected());
        }
        let value = literal::integer(self.span(self.token));
        let value = value.ok_or_else(|| self.failure(ParseErrorKind::OutOfRange))?;
        self.advance();
        Ok(value)
    }

    /// An account: `user[@host]`, each a word or a string, or CURRENT_USER[()].
    pub(super) fn user_name(&mut self) -> Parse<UserName> {
        if self.eat(Keyword::CurrentUser) {
            if self.eat_kind(TokenKind::LeftParen) {
                self.expect_kind(TokenKind::RightParen)?;
            }
            return Ok(UserName { user: Name::default(), host: Name::default() });
        }
        // ALTER USER USER() means oneself too.
        if self.at(Keyword::User) && self.peek() == TokenKind::LeftParen {
            self.advance();
            self.advance();
            self.expect_kind(TokenKind::RightParen)?;
            return Ok(UserName { user: Name::default(), host: Name::default() });
        }
        let user = self.name_or_text()?;
        self.limit_account(&user, "user name", USER_NAME_MAX)?;
        let host = if self.is(TokenKind::UserVariable) {
            lower(self.name_behind_at()?)
        } else if self.eat_kind(TokenKind::At) {
            lower(self.name_or_text()?)
        } else {
            "%".into()
        };
        self.limit_account(&host, "host name", HOST_NAME_MAX)?;
        // An empty host would be read as CURRENT_USER; MySQL treats it as any host.
        let host = if host.is_empty() { "%".into() } else { host };
        Ok(UserName { user, host })
    }

    /// Error 1470 for a part of an account that has more than so many characters.
    fn limit_account(&self, text: &str, what: &str, most: usize) -> Parse<()> {
        if text.chars().count() <= most {
            return Ok(());
        }
        let shown: String = text.chars().take(SHOWN_OF_ACCOUNT).collect();
        Err(self.refused(SqlError::account_name_too_long(shown, what, most)))
    }
}

/// ASCII lower case, as character sets, collations and hosts are compared.
pub(super) fn lower(mut name: Name) -> Name {
    name.make_ascii_lowercase();
    name
}

/// ASCII upper case.
pub(super) fn upper(mut name: Name) -> Name {
    name.make_ascii_uppercase();
    name
}
