//! Why a text is not a statement, with the number and the words MySQL uses.

use std::fmt;
use turnstile_values::error::SqlError;

/// A parse error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParseError {
    /// What is wrong.
    pub kind: ParseErrorKind,
    /// Byte offset into the whole text of the token that is wrong.
    pub offset: usize,
    /// Its line, from 1, counted from the start of the statement.
    pub line: usize,
    /// The text from there on, 80 characters at most.
    pub near: String,
}

/// Kinds of parse error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ParseErrorKind {
    /// The text does not follow the grammar.
    Syntax,
    /// Nothing but white space and comments.
    Empty,
    /// Nested more deeply than [`super::DEPTH_MAX`].
    TooComplex,
    /// Good MySQL, but not supported here: the feature's name.
    NotSupported(&'static str),
    /// Table and derived table names must be unique etc.: a derived table without an alias.
    DerivedWithoutAlias,
    /// JSON_TABLE without an alias.
    TableFunctionWithoutAlias,
    /// A number outside what its place allows.
    OutOfRange,
    /// A number outside what a table option allows: the option's name and its range.
    OptionRange(&'static str),
    /// A literal that is beyond every double.
    Double(Box<str>),
    /// The name of a user variable that is too long.
    VariableName(Box<str>),
    /// Found while reading, and told as any other error.
    Refused(Box<SqlError>),
}

impl ParseError {
    /// MySQL's error number.
    #[must_use]
    pub fn code(&self) -> u16 {
        self.told().code
    }

    /// MySQL's SQLSTATE.
    #[must_use]
    pub fn sqlstate(&self) -> [u8; 5] {
        self.told().sqlstate
    }

    fn told(&self) -> SqlError {
        let (near, line) = (&self.near, self.line);
        match &self.kind {
            ParseErrorKind::Syntax => SqlError::parse_error(near, line),
            ParseErrorKind::Empty => SqlError::empty_query(),
            ParseErrorKind::TooComplex => SqlError::nested_too_deeply(super::DEPTH_MAX, near, line),
            ParseErrorKind::NotSupported(feature) => SqlError::not_supported_yet(feature),
            ParseErrorKind::DerivedWithoutAlias => SqlError::derived_must_have_alias(),
            ParseErrorKind::TableFunctionWithoutAlias => SqlError::no_alias_of_table_function(),
            ParseErrorKind::OutOfRange => SqlError::number_out_of_range(near, line),
            ParseErrorKind::OptionRange(range) => SqlError::valid_range(range, near, line),
            ParseErrorKind::Double(text) => SqlError::illegal_value("double", text),
            ParseErrorKind::VariableName(name) => SqlError::wrong_user_variable_name(name),
            ParseErrorKind::Refused(error) => (**error).clone(),
        }
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.told().message)
    }
}

impl std::error::Error for ParseError {}

/// A [`ParseError`] before its place is described; small, because it travels through every level of the
/// descent.
#[derive(Debug, Clone)]
pub(super) struct Failure {
    pub kind: ParseErrorKind,
    pub offset: u32,
}

impl Failure {
    /// Describes the place in `text`, whose statement begins at `statement_start`.
    pub fn locate(self, text: &[u8], statement_start: usize) -> ParseError {
        let offset = (self.offset as usize).min(text.len());
        let newlines =
            text[statement_start.min(offset)..offset].iter().filter(|&&byte| byte == b'\n').count();
        // 80 characters of UTF-8 are at most 320 bytes.
        let rest = &text[offset..text.len().min(offset + 320)];
        let near = String::from_utf8_lossy(rest).chars().take(80).collect();
        ParseError { kind: self.kind, offset, line: newlines + 1, near }
    }
}

impl From<ParseError> for SqlError {
    fn from(error: ParseError) -> Self {
        error.told()
    }
}
