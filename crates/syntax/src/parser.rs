//! SQL text to syntax tree: recursive descent for statements, precedence climbing for expressions.
//!
//! The parser looks at one token and, in a few places, at the one after it; so its time is linear in the
//! length of the text. It goes back in one place: long VALUES are first read as rows of plain literals
//! (`data_change.rs`), and again if they are none. Its recursion, and the depth of the tree it builds, are
//! bounded by [`DEPTH_MAX`].
//!
//! Cost, release build on a busy two-core virtual machine (`parse_speed` in the tests): point SELECT 0.76 us,
//! point UPDATE 0.80 us, four-column INSERT 1.0 us, range SELECT with ORDER BY 1.2 us, BEGIN 0.05 us.
//!
//! Syntax errors have MySQL's words and MySQL's idea of the place: the first token that cannot be part of a
//! statement.

mod absent;
mod account;
mod administration;
mod alter;
mod arity;
mod cast;
mod column;
mod column_type;
mod cursor;
mod data_change;
mod date_function;
mod definition;
mod deprecated;
mod ends;
mod error;
mod expression;
mod function;
mod grant;
mod hint;
mod interval;
mod json;
mod key;
mod name;
pub mod native;
mod partition;
mod predicate;
mod primary;
mod query;
mod role;
mod select;
mod set;
mod show;
mod statement;
mod table_option;
mod table_reference;
mod view;
mod window;

use crate::ast::{Clause, Statement};
use crate::lexer::{Keyword, LexOptions, Lexer, Token, TokenKind};
pub use deprecated::Deprecated;
use error::Failure;
pub use error::{ParseError, ParseErrorKind};
pub use hint::{Finishing, Hint};
use turnstile_values::charset::Charset;
use turnstile_values::error::{SqlError, SqlResult};

/// Deepest recursion, and deepest tree, that a statement may ask for.
pub const DEPTH_MAX: u32 = 200;

/// How many SELECTs may be around one, each in a clause of the next.
const SELECTS_AROUND_MAX: u32 = 63;

/// Parts of `sql_mode` that change the grammar, and whether `?` is allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ParseOptions {
    /// ANSI_QUOTES: `"x"` is an identifier.
    pub ansi_quotes: bool,
    /// PIPES_AS_CONCAT: `||` joins strings; otherwise it is OR.
    pub pipes_as_concat: bool,
    /// NO_BACKSLASH_ESCAPES: a backslash in a string is itself.
    pub no_backslash_escapes: bool,
    /// HIGH_NOT_PRECEDENCE: NOT binds as tightly as `!`.
    pub high_not_precedence: bool,
    /// REAL_AS_FLOAT: REAL is FLOAT, not DOUBLE.
    pub real_as_float: bool,
    /// IGNORE_SPACE: a function is called though there is space before its parenthesis.
    pub ignore_space: bool,
    /// Whether `?` stands for a parameter (PREPARE) or is a syntax error (a plain query).
    pub parameters: bool,
    /// The character set the text came in, if its bytes were others: a string behind an introducer is made of
    /// those.
    pub client_set: Option<Charset>,
}

impl Default for ParseOptions {
    /// The default `sql_mode`, with parameters allowed.
    fn default() -> Self {
        ParseOptions {
            ansi_quotes: false,
            pipes_as_concat: false,
            no_backslash_escapes: false,
            high_not_precedence: false,
            real_as_float: false,
            ignore_space: false,
            parameters: true,
            client_set: None,
        }
    }
}

impl ParseOptions {
    /// The lexer's share.
    #[must_use]
    pub fn lex_options(&self) -> LexOptions {
        LexOptions { ansi_quotes: self.ansi_quotes, no_backslash_escapes: self.no_backslash_escapes }
    }
}

/// One statement of a text.
#[derive(Debug, Clone, PartialEq)]
pub struct Parsed {
    /// The statement.
    pub statement: Statement,
    /// How many `?` it has.
    pub parameter_count: u32,
    /// Levels of its tree, at most [`DEPTH_MAX`].
    pub depth: u32,
    /// What it says beside the tree; None for nothing.
    pub aside: Option<Box<Aside>>,
    /// Where the statement's own text ends: before its semicolon.
    pub statement_end: usize,
    /// Where the next statement begins: after the semicolon and what is blank; the text's length when there
    /// is none. Comments are one too.
    pub next: usize,
}

impl Parsed {
    /// Of the whole `text`, of which `statements` are the beginning.
    fn within(mut self, text: &[u8], statements: &[u8]) -> Parsed {
        if self.next >= statements.len() {
            self.next = text.len();
        }
        self
    }
}

/// What a statement says that is not in its tree.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Aside {
    /// Optimizer hints, in order.
    pub hints: Vec<Hint>,
    /// Clauses that have no node, in order.
    pub clauses: Vec<Clause>,
    /// Old names, in order.
    pub deprecated: Vec<Deprecated>,
}

impl Aside {
    /// Whether a statement that says this may be kept for its text to come again: it says nothing but that
    /// syntax is deprecated, and how the transaction ends.
    pub fn may_be_kept(&self) -> bool {
        let finish = |hint: &Hint| matches!(hint, Hint::Finish(..));
        self.hints.iter().all(finish) && self.clauses.is_empty()
    }
}

/// Parses the statement at the start of `text`.
///
/// # Errors
/// [`ParseError`]; a blank text is [`ParseErrorKind::Empty`].
pub fn parse(text: &[u8], options: ParseOptions) -> Result<Parsed, ParseError> {
    parse_at(text, 0, options)
}

/// Parses the statement that begins at byte `start` of `text`; the way through a text of several statements
/// is to start again at [`Parsed::next`] until it is the text's length.
///
/// # Errors
/// [`ParseError`]; nothing but blanks from `start` on is [`ParseErrorKind::Empty`].
pub fn parse_at(text: &[u8], start: usize, options: ParseOptions) -> Result<Parsed, ParseError> {
    let (statements, start) = statements_from(text, start)?;
    let mut parser = Parser::new(statements, start, options);
    let result = parser.parse_one();
    result.map(|parsed| parsed.within(text, statements)).map_err(|failure| failure.locate(statements, start))
}

/// The text without what stands behind its last statement, and where the statement at or behind `start`
/// begins.
fn statements_from(text: &[u8], start: usize) -> Result<(&[u8], usize), ParseError> {
    if u32::try_from(text.len()).is_err() {
        return Err(Failure { kind: ParseErrorKind::TooComplex, offset: 0 }.locate(text, 0));
    }
    let statements = ends::trimmed(text);
    Ok((statements, ends::beginning(statements, start)))
}

/// As [`parse_at`], with somebody who is told now and then what the tree and its plan take, in bytes, and may
/// end it.
///
/// # Errors
/// The meter's, or the parse error's.
pub fn parse_metered(
    text: &[u8],
    start: usize,
    options: ParseOptions,
    meter: &mut Meter<'_>,
) -> SqlResult<Parsed> {
    let (statements, start) = statements_from(text, start)?;
    let mut parser = Parser::new(statements, start, options);
    parser.metering.meter = Some(meter);
    let result = parser.parse_one();
    parser.settle();
    if let Some(refusal) = parser.metering.refusal.take() {
        return Err(refusal);
    }
    result
        .map(|parsed| parsed.within(text, statements))
        .map_err(|failure| failure.locate(statements, start).into())
}

/// What is wrong with a text of which one statement may run, where behind that, from `next` on, something
/// other than comments follows.
pub fn second_statement(text: &[u8], next: usize, options: ParseOptions) -> Option<ParseError> {
    let text = ends::trimmed(text);
    let token = Lexer::new(text, next.min(text.len()), options.lex_options()).next_token();
    let failure = Failure { kind: ParseErrorKind::Syntax, offset: token.start };
    (token.kind != TokenKind::End).then(|| failure.locate(text, ends::beginning(text, 0)))
}

/// Who is told what a statement takes.
pub type Meter<'m> = dyn FnMut(usize) -> SqlResult<()> + 'm;

/// Tokens between two notes to the meter.
const TOKENS_NOTED: u32 = 1024;

/// A token of this length is noted at once.
const LONG_TOKEN_BYTES: u32 = 1 << 20;

/// What a token takes in the tree and the plan together, on average of the worst statements.
const TOKEN_BYTES: usize = 256;

/// What a token of plain VALUES takes.
const LITERAL_TOKEN_BYTES: usize = 16;

/// What a query block, or another statement on rows, takes besides.
const BLOCK_BYTES: usize = 2048;

/// What a statement has taken so far.
struct Metering<'m> {
    meter: Option<&'m mut Meter<'m>>,
    /// Tokens since the last note.
    tokens: u32,
    token_bytes: usize,
    /// Blocks at the last note.
    blocks: u32,
    refusal: Option<SqlError>,
}

type Parse<T> = Result<T, Failure>;

/// The state of parsing one statement.
struct Parser<'a> {
    text: &'a [u8],
    lexer: Lexer<'a>,
    /// The token to be parsed next.
    token: Token,
    /// Where the token before it ended.
    previous_end: u32,
    /// How long the first part of the last string literal is: what a column that is this literal is called
    /// by.
    first_part: usize,
    options: ParseOptions,
    /// Levels of recursion now.
    depth: u32,
    /// SELECTs of which a clause is being read, each within the next.
    selects: u32,
    /// Deepest level that any part of the innermost expression under construction reaches.
    deepest: u32,
    /// Deepest level that any part of the statement reaches.
    reached: u32,
    parameter_count: u32,
    /// The statement's first word, if it is one of the grammar.
    begins_with: Option<Keyword>,
    /// SELECT, INSERT, REPLACE, UPDATE and DELETE read so far: hints may follow each.
    hinted: u32,
    waiting_hints: hint::Waiting,
    /// How many of those stand in WITH, where no hint is for the statement.
    hinted_in_with: u32,
    /// Definitions of WITH that are being read, each within the next.
    withs: u32,
    /// Some FROM has more tables than a join may have: told when all has been read, behind what is wrong with
    /// the text.
    has_too_many_tables: bool,
    aside: Aside,
    metering: Metering<'a>,
}

impl<'a> Parser<'a> {
    fn new(text: &'a [u8], start: usize, options: ParseOptions) -> Self {
        let mut lexer = Lexer::new(text, start, options.lex_options());
        let token = lexer.next_token();
        Parser {
            text,
            lexer,
            token,
            previous_end: start as u32,
            first_part: 0,
            options,
            depth: 0,
            selects: 0,
            deepest: 0,
            reached: 0,
            parameter_count: 0,
            begins_with: match token.kind {
                TokenKind::Keyword(keyword) => Some(keyword),
                _ => None,
            },
            hinted: 0,
            waiting_hints: hint::Waiting::default(),
            hinted_in_with: 0,
            withs: 0,
            has_too_many_tables: false,
            aside: Aside::default(),
            metering: Metering { meter: None, tokens: 0, token_bytes: TOKEN_BYTES, blocks: 0, refusal: None },
        }
    }

    fn parse_one(&mut self) -> Parse<Parsed> {
        let comments_alone = self.is(TokenKind::End);
        // The text ends at a NUL.
        if comments_alone && matches!(self.text.get(self.previous_end as usize), None | Some(0)) {
            return Err(self.failure(ParseErrorKind::Empty));
        }
        let statement = if comments_alone { Statement::Nothing } else { self.statement()? };
        let statement_end = self.previous_end as usize;
        let next = match self.token.kind {
            TokenKind::End => self.text.len(),
            TokenKind::Semicolon => {
                let after = self.token.end as usize;
                self.advance();
                ends::beginning(self.text, after)
            }
            _ => return Err(self.unexpected()),
        };
        if self.has_too_many_tables {
            return Err(self.refused(SqlError::too_many_tables(table_reference::TABLES_MAX)));
        }
        self.waiting_hints.end(&mut self.aside.hints);
        let aside = std::mem::take(&mut self.aside);
        let aside = (aside != Aside::default()).then(|| Box::new(aside));
        let (parameter_count, depth) = (self.parameter_count, self.reached);
        Ok(Parsed { statement, parameter_count, depth, aside, statement_end, next })
    }

    /// Hands over a clause that has no node in the tree.
    fn note(&mut self, clause: Clause) {
        self.aside.clauses.push(clause);
    }

    /// Notes syntax that MySQL advises against.
    fn deprecated(&mut self, syntax: Deprecated) {
        self.note_deprecated(Some(syntax));
    }

    /// Steps over one of `keywords`, if it is there, and hands over the clause that it is.
    fn note_any(&mut self, keywords: &[Keyword], clause: Clause) -> bool {
        let found = self.eat_any(keywords).is_some();
        if found {
            self.note(clause);
        }
        found
    }

    fn failure(&self, kind: ParseErrorKind) -> Failure {
        Failure { kind, offset: self.token.start }
    }

    /// The current token cannot stand here.
    #[cold]
    fn unexpected(&self) -> Failure {
        self.failure(ParseErrorKind::Syntax)
    }

    /// An error that is told as any other, at once.
    #[cold]
    fn refused(&self, error: SqlError) -> Failure {
        self.failure(ParseErrorKind::Refused(Box::new(error)))
    }

    #[cold]
    fn not_supported(&self, feature: &'static str) -> Failure {
        self.failure(ParseErrorKind::NotSupported(feature))
    }

    /// Runs `inner` one level deeper.
    fn nested<T>(&mut self, inner: impl FnOnce(&mut Self) -> Parse<T>) -> Parse<T> {
        self.depth += 1;
        self.deepest = self.deepest.max(self.depth);
        self.reached = self.reached.max(self.depth);
        if self.depth > DEPTH_MAX {
            return Err(self.failure(ParseErrorKind::TooComplex));
        }
        let result = inner(self);
        self.depth -= 1;
        result
    }

    /// Everything parsed since `deepest` was last lowered is now one level deeper in the tree.
    fn deepen(&mut self) -> Parse<()> {
        self.deepest += 1;
        self.reached = self.reached.max(self.deepest);
        if self.deepest > DEPTH_MAX {
            return Err(self.failure(ParseErrorKind::TooComplex));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
