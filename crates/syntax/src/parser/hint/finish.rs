//! Hints that finish the transaction with its last statement: COMMIT_ON_SUCCESS, ROLLBACK_ON_FAIL and
//! TARGET_AFFECT_ROW, as AliSQL has them; in a comment as other hints are, or as plain words, which is how
//! its older versions have them:
//!
//! ```text
//! UPDATE /*+ COMMIT_ON_SUCCESS ROLLBACK_ON_FAIL TARGET_AFFECT_ROW(1) */ t SET c = c - 1 WHERE id = 1
//! UPDATE COMMIT_ON_SUCCESS ROLLBACK_ON_FAIL TARGET_AFFECT_ROW 1 t SET c = c - 1 WHERE id = 1
//! ```
//!
//! A plain word is a hint only behind the first word of a statement, and only where a table or a column of
//! that name would make no sense. Two meanings are possible for `UPDATE commit_on_success t SET ..` and
//! `SELECT commit_on_success c FROM t`, where `t` and `c` may be aliases: the word is a hint, and a name only
//! in quotes or before AS.

use super::super::Parser;
use super::{Hint, Reader, SYNTAX, Wrong, wrong};
use crate::lexer::{Keyword, Lexer, Token, TokenKind};

/// What a statement does with its transaction when it ends, or asks of itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Finishing {
    /// COMMIT_ON_SUCCESS
    Commit,
    /// ROLLBACK_ON_FAIL
    RollBack,
    /// TARGET_AFFECT_ROW(n): it fails if it changes another number of rows.
    Rows(u64),
    /// HOT_ROW, NO_HOT_ROW: whether rows are handed on to it, and by it, before commit.
    HotRow(bool),
}

impl Finishing {
    /// The hint's name.
    pub fn name(self) -> &'static str {
        match self {
            Finishing::Commit => COMMIT,
            Finishing::RollBack => ROLL_BACK,
            Finishing::Rows(_) => ROWS,
            Finishing::HotRow(true) => HOT_ROW,
            Finishing::HotRow(false) => NO_HOT_ROW,
        }
    }

    /// The hint as it is told of.
    pub fn shown(self) -> String {
        match self {
            Finishing::Rows(rows) => format!("{ROWS}({rows})"),
            other => other.name().into(),
        }
    }
}

const COMMIT: &str = "COMMIT_ON_SUCCESS";
const ROLL_BACK: &str = "ROLLBACK_ON_FAIL";
const ROWS: &str = "TARGET_AFFECT_ROW";
const HOT_ROW: &str = "HOT_ROW";
const NO_HOT_ROW: &str = "NO_HOT_ROW";
/// Names the queue to wait in. All who want a row wait in that row's queue here.
const QUEUE: &str = "QUEUE_ON_PK";
const ALL: [&str; 4] = [COMMIT, ROLL_BACK, ROWS, QUEUE];

/// The place of one of these words in [`ALL`].
fn known(word: &[u8]) -> Option<usize> {
    ALL.iter().position(|one| one.as_bytes().eq_ignore_ascii_case(word))
}

/// The hint of this name, which is upper case; those of numbers have one.
fn hint_of(name: &str, number: Option<u64>, first: bool) -> Option<Hint> {
    Some(match (name, number) {
        (COMMIT, None) => Hint::Finish(Finishing::Commit, first),
        (ROLL_BACK, None) => Hint::Finish(Finishing::RollBack, first),
        (ROWS, Some(rows)) => Hint::Finish(Finishing::Rows(rows), first),
        (QUEUE, Some(number)) => Hint::Advice(QUEUE.into(), number.to_string().into()),
        _ => return None,
    })
}

impl Reader<'_, '_> {
    /// The rest of such a hint in a comment; nothing for another. Its number may stand without parentheses.
    pub(super) fn finishing(&mut self, name: &str, first: bool) -> Option<Result<Hint, Wrong>> {
        if name == HOT_ROW || name == NO_HOT_ROW {
            return Some(Ok(Hint::Finish(Finishing::HotRow(name == HOT_ROW), first)));
        }
        known(name.as_bytes())?;
        if let Some(hint) = hint_of(name, None, first) {
            return Some(Ok(hint));
        }
        Some(self.number().and_then(|number| hint_of(name, Some(number), first).ok_or((SYNTAX, self.at))))
    }

    fn number(&mut self) -> Result<u64, Wrong> {
        let enclosed = self.expect(b'(').is_ok();
        let (digits, at) = self.word()?;
        if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return wrong(at);
        }
        let number = digits.parse().map_err(|_| (SYNTAX, at))?;
        if enclosed {
            self.expect(b')')?;
        }
        Ok(number)
    }
}

/// The tokens behind the current one.
struct Ahead<'a>(Lexer<'a>);

impl Ahead<'_> {
    fn next(&mut self) -> Token {
        self.0.next_token()
    }

    /// A number, in parentheses or not.
    fn number(&mut self) -> Option<Token> {
        match self.next() {
            token if token.kind == TokenKind::Integer => Some(token),
            token if token.kind == TokenKind::LeftParen => {
                let number = self.next();
                let closed = self.next().kind == TokenKind::RightParen;
                (closed && number.kind == TokenKind::Integer).then_some(number)
            }
            _ => None,
        }
    }
}

/// Steps over such words where they are hints, behind the `keyword` of a statement or its modifiers.
pub(in crate::parser) fn finishing_words(parser: &mut Parser<'_>, keyword: Keyword) {
    let stands_first = matches!(
        parser.begins_with,
        Some(
            Keyword::Select
                | Keyword::Insert
                | Keyword::Replace
                | Keyword::Update
                | Keyword::Delete
                | Keyword::Explain
                | Keyword::Desc
                | Keyword::Describe
        )
    );
    if !stands_first || parser.hinted != 1 {
        return;
    }
    let mut seen = 0u8;
    while parser.is(TokenKind::Identifier)
        && let Some(word) = known(parser.span(parser.token))
        && seen & 1 << word == 0
        && let Some(hint) = finishing_word(parser, ALL[word], keyword)
    {
        seen |= 1 << word;
        parser.aside.hints.push(hint);
    }
}

/// Steps over one of them if it is a hint.
fn finishing_word(parser: &mut Parser<'_>, name: &str, keyword: Keyword) -> Option<Hint> {
    if let Some(hint) = hint_of(name, None, true) {
        if !means_a_hint(parser, keyword) {
            return None;
        }
        parser.advance();
        return Some(hint);
    }
    let number = Ahead(parser.lexer).number()?;
    let digits = std::str::from_utf8(parser.span(number)).ok()?;
    let hint = hint_of(name, Some(digits.parse().ok()?), true)?;
    parser.advance();
    let enclosed = parser.is(TokenKind::LeftParen);
    for _ in 0..if enclosed { 3 } else { 1 } {
        parser.advance();
    }
    Some(hint)
}

/// Whether a table or a column of the current word's name would make no sense here.
fn means_a_hint(parser: &Parser<'_>, keyword: Keyword) -> bool {
    use Keyword as K;
    let mut ahead = Ahead(parser.lexer);
    let next = ahead.next();
    let is_name = match next.kind {
        TokenKind::Identifier | TokenKind::QuotedIdentifier => true,
        TokenKind::Keyword(word) => !word.is_reserved(),
        _ => false,
    };
    match (keyword, next.kind) {
        (K::Select, TokenKind::Keyword(K::Member | K::Sounds | K::Escape | K::Offset)) => false,
        (K::Insert | K::Replace, TokenKind::Keyword(K::Value)) => false,
        _ if is_name => true,
        (K::Select, TokenKind::Integer | TokenKind::UserVariable | TokenKind::AtAt) => true,
        (K::Select, TokenKind::Star) => {
            let behind = ahead.next().kind;
            matches!(behind, TokenKind::Comma | TokenKind::End | TokenKind::Keyword(K::From))
        }
        (K::Select, TokenKind::Keyword(word)) => matches!(
            word,
            K::All
                | K::Distinct
                | K::Distinctrow
                | K::StraightJoin
                | K::HighPriority
                | K::SqlSmallResult
                | K::SqlBigResult
                | K::SqlCalcFoundRows
        ),
        (K::Select, _) => false,
        (K::Update, TokenKind::LeftParen) => true,
        (_, TokenKind::Keyword(K::LowPriority)) => true,
        // The hint of an index stands behind a table.
        (K::Update, TokenKind::Keyword(K::Ignore)) => {
            !matches!(ahead.next().kind, TokenKind::Keyword(K::Index | K::Key))
        }
        (K::Delete, TokenKind::Keyword(K::Ignore | K::Quick)) => true,
        (K::Delete, TokenKind::Keyword(K::From)) => !is_named_again(parser, ahead),
        (K::Insert | K::Replace, TokenKind::Keyword(word)) => {
            matches!(word, K::Into | K::Ignore | K::Delayed | K::HighPriority)
        }
        _ => false,
    }
}

/// Whether the current word comes again before WHERE: DELETE names a table that it deletes from among
/// those that it reads.
fn is_named_again(parser: &Parser<'_>, mut ahead: Ahead<'_>) -> bool {
    let word = parser.span(parser.token);
    loop {
        let token = ahead.next();
        let name = match token.kind {
            TokenKind::End | TokenKind::Invalid | TokenKind::Semicolon => return false,
            TokenKind::Keyword(Keyword::Where) => return false,
            TokenKind::Identifier => parser.span(token),
            TokenKind::QuotedIdentifier => parser.span(Token {
                start: token.start + 1,
                end: (token.end - 1).max(token.start + 1),
                ..token
            }),
            _ => continue,
        };
        if name.eq_ignore_ascii_case(word) {
            return true;
        }
    }
}
