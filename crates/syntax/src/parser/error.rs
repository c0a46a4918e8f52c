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
        match &self.kind {
            ParseErrorKind::Syntax | ParseErrorKind::OutOfRange | ParseErrorKind::OptionRange(_) => 1064,
            ParseErrorKind::TooComplex => 1436,
            ParseErrorKind::Empty => 1065,
            ParseErrorKind::NotSupported(_) => 1235,
            ParseErrorKind::DerivedWithoutAlias => 1248,
            ParseErrorKind::TableFunctionWithoutAlias => 3667,
            ParseErrorKind::Double(_) => 1367,
            ParseErrorKind::VariableName(_) => 3061,
            ParseErrorKind::Refused(error) => error.code,
        }
    }

    /// MySQL's SQLSTATE.
    #[must_use]
    pub fn sqlstate(&self) -> [u8; 5] {
        match &self.kind {
            ParseErrorKind::Refused(error) => error.sqlstate,
            ParseErrorKind::TooComplex => *b"HY000",
            ParseErrorKind::Double(_) => *b"22007",
            _ => *b"42000",
        }
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            ParseErrorKind::Syntax => write!(
                out,
                "You have an error in your SQL syntax; check the manual that corresponds to your MySQL server \
                 version for the right syntax to use near '{}' at line {}",
                self.near, self.line
            ),
            ParseErrorKind::Empty => write!(out, "Query was empty"),
            ParseErrorKind::TooComplex => write!(
                out,
                "Thread stack overrun: the statement is nested more than {} levels deep near '{}' at line {}",
                super::DEPTH_MAX,
                self.near,
                self.line
            ),
            ParseErrorKind::NotSupported(feature) => {
                write!(out, "This version of Turnstile doesn't yet support '{feature}'")
            }
            ParseErrorKind::DerivedWithoutAlias => {
                write!(out, "Every derived table must have its own alias")
            }
            ParseErrorKind::TableFunctionWithoutAlias => {
                write!(out, "Every table function must have an alias")
            }
            ParseErrorKind::Double(text) => {
                write!(out, "Illegal double '{text}' value found during parsing")
            }
            ParseErrorKind::Refused(error) => write!(out, "{}", error.message),
            ParseErrorKind::VariableName(name) => write!(out, "User variable name '{name}' is illegal"),
            ParseErrorKind::OptionRange(range) => {
                write!(out, "The valid range for {range}. Error near '{}' at line {}", self.near, self.line)
            }
            ParseErrorKind::OutOfRange => {
                write!(out, "Number out of range near '{}' at line {}", self.near, self.line)
            }
        }
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
        SqlError::new(error.code(), &error.sqlstate(), error.to_string())
    }
}
