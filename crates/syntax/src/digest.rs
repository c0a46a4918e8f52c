//! The normalised text of a statement and its 64-bit digest, for statement statistics.
//!
//! Every literal becomes `?`, comments and extra blanks go, keywords are upper case, identifiers are in
//! backticks; a list of literals in parentheses becomes `(...)`, and rows after the first in VALUES become
//! `/* , ... */`:
//!
//! ```text
//! select c from sbtest1 where id in (1, 2, 3)   ->   SELECT `c` FROM `sbtest1` WHERE `id` IN (...)
//! insert into t values (1,'a'),(2,'b')          ->   INSERT INTO `t` VALUES (...) /* , ... */
//! ```
//!
//! The layout is that of `performance_schema.events_statements_summary_by_digest`. The hash (FNV-1a, 64 bits)
//! chooses places; the digest that is shown is the SHA-256 of the text, where MySQL's is of its tokens.

use crate::lexer::{Keyword, LexOptions, Lexer, Token, TokenKind, literal};

/// Longest normalised text, in bytes; what is longer ends with `...` (MySQL's max_digest_length).
pub const TEXT_MAX: usize = 1024;

/// A statement without its values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Digest {
    /// The normalised text.
    pub text: String,
    /// Its hash.
    pub hash: u64,
}

/// One piece of normalised text; literals are folded as they arrive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Piece {
    Token(Token),
    Open,
    Comma,
    /// `?`
    Value,
    /// `?, ...`
    Values,
    /// `(?)`
    Row,
    /// `(...)`
    WideRow,
    /// `(?) /* , ... */`
    Rows,
    /// `(...) /* , ... */`
    WideRows,
}

/// The digest of the first statement in `text`.
#[must_use]
pub fn digest(text: &[u8], options: LexOptions) -> Digest {
    let mut pieces: Vec<Piece> = Vec::with_capacity(32);
    let mut lexer = Lexer::new(text, 0, options);
    let mut truncated = false;
    loop {
        let token = lexer.next_token();
        match token.kind {
            TokenKind::End | TokenKind::Semicolon => break,
            TokenKind::Invalid => {
                truncated = true;
                break;
            }
            // Every piece writes at least two bytes, so more pieces could not be shown.
            _ if pieces.len() > TEXT_MAX / 2 => {
                truncated = true;
                break;
            }
            _ => fold(&mut pieces, token),
        }
    }
    let mut out = String::with_capacity(text.len().min(TEXT_MAX) + 16);
    for &piece in &pieces {
        write(&mut out, piece, text);
        if out.len() > TEXT_MAX {
            truncated = true;
            break;
        }
    }
    if truncated {
        let mut cut = TEXT_MAX.min(out.len());
        while !out.is_char_boundary(cut) {
            cut -= 1;
        }
        out.truncate(cut);
        out.push_str("...");
    }
    let hash = fnv1a(out.as_bytes());
    Digest { text: out, hash }
}

fn fold(pieces: &mut Vec<Piece>, token: Token) {
    match token.kind {
        TokenKind::String
        | TokenKind::NationalString
        | TokenKind::HexString
        | TokenKind::HexNumber
        | TokenKind::BitString
        | TokenKind::BitNumber
        | TokenKind::Integer
        | TokenKind::Decimal
        | TokenKind::Float
        | TokenKind::Parameter => fold_value(pieces),
        TokenKind::Keyword(Keyword::Null) if !follows_predicate(pieces) => fold_value(pieces),
        TokenKind::LeftParen => pieces.push(Piece::Open),
        TokenKind::Comma => pieces.push(Piece::Comma),
        TokenKind::RightParen => fold_close(pieces, token),
        _ => pieces.push(Piece::Token(token)),
    }
}

/// NULL after IS or NOT is a word, not a value.
fn follows_predicate(pieces: &[Piece]) -> bool {
    matches!(
        pieces.last(),
        Some(Piece::Token(Token { kind: TokenKind::Keyword(Keyword::Is | Keyword::Not), .. }))
    )
}

/// A literal: its sign goes when it can only be a sign, and a list of literals becomes one piece.
fn fold_value(pieces: &mut Vec<Piece>) {
    while let [before @ .., Piece::Token(Token { kind: TokenKind::Minus | TokenKind::Plus, .. })] =
        pieces.as_slice()
    {
        let is_sign = match before.last() {
            None | Some(Piece::Open | Piece::Comma) => true,
            Some(Piece::Token(token)) => !matches!(
                token.kind,
                TokenKind::Identifier
                    | TokenKind::QuotedIdentifier
                    | TokenKind::UserVariable
                    | TokenKind::RightParen
                    | TokenKind::Keyword(_)
            ),
            Some(_) => false,
        };
        if !is_sign {
            break;
        }
        pieces.pop();
    }
    if let [.., Piece::Value | Piece::Values, Piece::Comma] = pieces.as_slice() {
        pieces.truncate(pieces.len() - 2);
        pieces.push(Piece::Values);
    } else {
        pieces.push(Piece::Value);
    }
}

/// A closing parenthesis: a row of literals becomes one piece, and so do rows after rows.
fn fold_close(pieces: &mut Vec<Piece>, token: Token) {
    let row = match pieces.as_slice() {
        [
            ..,
            Piece::Token(Token { kind: TokenKind::Keyword(Keyword::In), .. }),
            Piece::Open,
            Piece::Value,
        ] => Piece::WideRow,
        [.., Piece::Open, Piece::Value] => Piece::Row,
        [.., Piece::Open, Piece::Values] => Piece::WideRow,
        _ => {
            pieces.push(Piece::Token(token));
            return;
        }
    };
    pieces.truncate(pieces.len() - 2);
    let folded = match (pieces.as_slice(), row) {
        ([.., Piece::Row | Piece::Rows, Piece::Comma], Piece::Row) => Piece::Rows,
        ([.., Piece::WideRow | Piece::WideRows, Piece::Comma], Piece::WideRow) => Piece::WideRows,
        _ => {
            pieces.push(row);
            return;
        }
    };
    pieces.truncate(pieces.len() - 2);
    pieces.push(folded);
}

fn write(out: &mut String, piece: Piece, text: &[u8]) {
    if !out.is_empty() && !out.ends_with("@@") {
        out.push(' ');
    }
    let token = match piece {
        Piece::Open => return out.push('('),
        Piece::Comma => return out.push(','),
        Piece::Value => return out.push('?'),
        Piece::Values => return out.push_str("?, ..."),
        Piece::Row => return out.push_str("(?)"),
        Piece::WideRow => return out.push_str("(...)"),
        Piece::Rows => return out.push_str("(?) /* , ... */"),
        Piece::WideRows => return out.push_str("(...) /* , ... */"),
        Piece::Token(token) => token,
    };
    let span = &text[token.start as usize..token.end as usize];
    match token.kind {
        TokenKind::Keyword(keyword) => out.push_str(keyword.text()),
        TokenKind::Identifier => write_name(out, span),
        TokenKind::QuotedIdentifier => write_name(out, &literal::unquote(span, false)),
        _ => out.push_str(&String::from_utf8_lossy(span)),
    }
}

fn write_name(out: &mut String, name: &[u8]) {
    out.push('`');
    out.push_str(&String::from_utf8_lossy(name));
    out.push('`');
}

fn fnv1a(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests;
