//! What the lexer gives: a kind and where it stands.

use super::Keyword;

/// Kinds of token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the punctuation variants are named after their characters")]
pub enum TokenKind {
    /// End of the text.
    End,
    /// Not a token: a stray byte, an unterminated string or comment.
    Invalid,
    Keyword(Keyword),
    /// A bare word that is not a keyword here.
    Identifier,
    /// `` `x` ``, or `"x"` under ANSI_QUOTES.
    QuotedIdentifier,
    String,
    /// `N'...'`
    NationalString,
    /// `x'...'`
    HexString,
    /// `0x...`
    HexNumber,
    /// `b'...'`
    BitString,
    /// `0b...`
    BitNumber,
    Integer,
    /// Digits with a point.
    Decimal,
    /// Digits with an exponent.
    Float,
    /// `@name`, `@'name'`
    UserVariable,
    /// `@@`
    AtAt,
    /// A lone `@`.
    At,
    /// `?`
    Parameter,
    LeftParen,
    RightParen,
    LeftBrace,
    RightBrace,
    Comma,
    Dot,
    Semicolon,
    Plus,
    Minus,
    Star,
    Slash,
    Percent,
    Caret,
    Tilde,
    Bang,
    Ampersand,
    /// `&&`
    AndAnd,
    Pipe,
    /// `||`
    PipePipe,
    Equal,
    /// `<=>`
    NullSafeEqual,
    /// `<>`, `!=`
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    ShiftLeft,
    ShiftRight,
    /// `:=`
    Assign,
    /// `->`
    Arrow,
    /// `->>`
    ArrowText,
}

/// A token's kind and where it stands, as byte offsets into the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Token {
    /// What it is.
    pub kind: TokenKind,
    /// Its first byte.
    pub start: u32,
    /// One past its last byte.
    pub end: u32,
}
