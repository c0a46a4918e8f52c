//! Optimizer hints: the comments `/*+ ... */` behind SELECT, INSERT, REPLACE, UPDATE and DELETE.
//!
//! A hint that is wrong is a warning and no error, and ends the reading of its comment; those before it
//! count.

mod advice;
mod finish;

use super::error::Failure;
use super::{ParseErrorKind, Parser};
use crate::ast::Name;
use crate::lexer::is_word;
pub(super) use advice::Waiting;
use advice::Written;
use advice::{Block, HEEDED};
pub use finish::Finishing;
pub(super) use finish::finishing_words;

/// One hint, as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Hint {
    /// MAX_EXECUTION_TIME(n): milliseconds; true behind the first SELECT of a statement.
    MaxExecutionTime(u64, bool),
    /// SET_VAR(name = value); the value without its quotes.
    SetVariable(Box<str>, Box<str>),
    /// COMMIT_ON_SUCCESS and its kin; true behind the first word of a statement.
    Finish(Finishing, bool),
    /// RESOURCE_GROUP(name)
    ResourceGroup(Box<str>),
    /// QB_NAME(name)
    BlockName(Box<str>),
    /// One that advises the optimizer and cannot change a result, and has no effect: its name and arguments.
    Advice(Box<str>, Box<str>),
    /// One that is heeded: it lies in the tree.
    Heeded,
    /// A table that the block of a hint does not have: the name as it is told of, and the hint's.
    Unresolved(Box<str>, Box<str>),
    /// A block that is not there: its name, and the hint's.
    NoBlock(Box<str>, Box<str>),
    /// A hint that another one has said something else of.
    Conflict(Box<str>),
    /// It cannot be read: the complaint.
    Wrong(Box<str>),
}

/// Hints that advise the optimizer, and are not heeded. None of them changes what a statement returns or
/// does, so they are accepted with a warning.
const ADVICE: &[&str] =
    &["BKA", "MRR", "NO_BKA", "NO_MRR", "NO_RANGE_OPTIMIZATION", "NO_SKIP_SCAN", "SKIP_SCAN", "SUBQUERY"];

/// A longer comment is not read.
const COMMENT_BYTES_MAX: usize = 1 << 20;

const SYNTAX: &str = "Optimizer hint syntax error";
const TOO_LONG: &str = "Unsupported MAX_EXECUTION_TIME";

impl Parser<'_> {
    /// Reads the hints between the word just stepped over and the next token, if there are any: those that
    /// are heeded, until the tables of the block are known.
    pub(super) fn hints(&mut self) -> Block {
        let first = self.withs == 0 && self.hinted == self.hinted_in_with;
        self.hinted += 1;
        let gap = self.previous_end as usize..self.token.start as usize;
        let known = self.aside.hints.len();
        let mut written = Vec::new();
        let between = &self.text[gap.clone()];
        let blank = between.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        if between[blank..].starts_with(b"/*+") {
            let at = gap.start + blank + 3;
            let mut reader = Reader { text: self.text, at, end: gap.end, written: &mut written };
            let read = match between.len() > COMMENT_BYTES_MAX {
                true => wrong(at),
                false => reader.all(first, &mut self.aside.hints),
            };
            if let Err((what, at)) = read {
                let failure = Failure { kind: ParseErrorKind::Syntax, offset: at as u32 };
                let place = failure.locate(self.text, 0);
                let complaint = format!("{what} near '{}' at line {}", place.near, place.line);
                self.aside.hints.push(Hint::Wrong(complaint.into()));
            }
        }
        let own = self.aside.hints[known..].iter().find_map(|hint| match hint {
            Hint::BlockName(name) => Some(name.clone()),
            _ => None,
        });
        let words = written.iter().map(|one| one.words.len()).sum::<usize>();
        let read = words + self.aside.hints.len() - known;
        self.metering.tokens += read as u32;
        if read as u32 >= super::TOKENS_NOTED {
            self.settle();
        }
        let place = (own.as_deref(), self.hinted);
        self.waiting_hints.begin(written, place, &mut self.aside.hints)
    }
}

/// A hint's comment being read.
struct Reader<'t, 'w> {
    text: &'t [u8],
    at: usize,
    end: usize,
    /// Those that are heeded.
    written: &'w mut Vec<Written>,
}

/// What is wrong, and where.
type Wrong = (&'static str, usize);

fn wrong<T>(at: usize) -> Result<T, Wrong> {
    Err((SYNTAX, at))
}

impl Reader<'_, '_> {
    fn all(&mut self, first: bool, into: &mut Vec<Hint>) -> Result<(), Wrong> {
        let mut any = false;
        loop {
            self.blank();
            if self.text[self.at..self.end].starts_with(b"*/") {
                return if any { Ok(()) } else { wrong(self.at) };
            }
            any = true;
            into.push(self.one(first)?);
        }
    }

    fn blank(&mut self) {
        while self.at < self.end && self.text[self.at].is_ascii_whitespace() {
            self.at += 1;
        }
    }

    /// A word, quoted or not; where it began.
    fn word(&mut self) -> Result<(String, usize), Wrong> {
        self.blank();
        let start = self.at;
        let quote = self.text.get(start).copied().filter(|byte| matches!(byte, b'`' | b'\'' | b'"'));
        if let Some(quote) = quote {
            let length = self.text[start + 1..self.end].iter().position(|byte| *byte == quote);
            let Some(length) = length else { return wrong(start) };
            self.at = start + length + 2;
            return Ok((String::from_utf8_lossy(&self.text[start + 1..=start + length]).into_owned(), start));
        }
        while self.at < self.end && is_word(self.text[self.at]) {
            self.at += 1;
        }
        if self.at == start { wrong(start) } else { Ok((self.taken(start), start)) }
    }

    fn taken(&self, start: usize) -> String {
        String::from_utf8_lossy(&self.text[start..self.at]).into_owned()
    }

    fn expect(&mut self, byte: u8) -> Result<(), Wrong> {
        self.blank();
        if self.text.get(self.at) != Some(&byte) || self.at >= self.end {
            return wrong(self.at);
        }
        self.at += 1;
        Ok(())
    }

    fn one(&mut self, first: bool) -> Result<Hint, Wrong> {
        let (name, start) = self.word()?;
        let name = name.to_ascii_uppercase();
        match name.as_str() {
            "MAX_EXECUTION_TIME" => {
                self.expect(b'(')?;
                let (digits, at) = self.word()?;
                if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
                    return wrong(at);
                }
                let milliseconds = digits.parse::<u32>().map_err(|_| (TOO_LONG, self.at))?;
                self.expect(b')')?;
                Ok(Hint::MaxExecutionTime(u64::from(milliseconds), first))
            }
            "SET_VAR" => {
                self.expect(b'(')?;
                let (variable, _) = self.word()?;
                self.expect(b'=')?;
                let (value, at) = self.value()?;
                if value.is_empty() {
                    return wrong(at);
                }
                self.expect(b')')?;
                Ok(Hint::SetVariable(variable.into(), value.into()))
            }
            "RESOURCE_GROUP" | "QB_NAME" => {
                self.expect(b'(')?;
                let (word, _) = self.word()?;
                self.expect(b')')?;
                Ok(if name == "QB_NAME" {
                    Hint::BlockName(word.into())
                } else {
                    Hint::ResourceGroup(word.into())
                })
            }
            known if let Some(heeded) = HEEDED.iter().find(|one| **one == known) => {
                let words = self.words(heeded)?;
                self.written.push(words);
                Ok(Hint::Heeded)
            }
            known if ADVICE.contains(&known) => {
                self.expect(b'(').map_err(|_| (SYNTAX, start))?;
                let arguments = self.at;
                while self.at < self.end && self.text[self.at] != b')' {
                    self.argument()?;
                }
                let arguments = self.taken(arguments);
                self.expect(b')')?;
                Ok(Hint::Advice(name.into(), arguments.trim().into()))
            }
            _ => self.finishing(&name, first).unwrap_or_else(|| wrong(start)),
        }
    }

    /// What stands in the parentheses of a hint that is heeded.
    fn words(&mut self, name: &'static str) -> Result<Written, Wrong> {
        self.expect(b'(')?;
        let block = self.block()?;
        let mut words = Vec::new();
        loop {
            self.blank();
            if self.text.get(self.at) == Some(&b')') && self.at < self.end {
                break;
            }
            if name == "JOIN_FIXED_ORDER" {
                return wrong(self.at);
            }
            let (word, _) = self.word()?;
            words.push((word.into(), self.block()?));
            self.blank();
            if self.text.get(self.at) == Some(&b',') {
                self.at += 1;
            }
        }
        if words.is_empty() && advice::is_of_keys(name) {
            return wrong(self.at);
        }
        self.expect(b')')?;
        Ok(Written { name, block, words })
    }

    /// `@name`
    fn block(&mut self) -> Result<Option<Name>, Wrong> {
        self.blank();
        if self.text.get(self.at) != Some(&b'@') {
            return Ok(None);
        }
        self.at += 1;
        Ok(Some(self.word()?.0.into()))
    }

    /// A value of SET_VAR: a word, a number or a string.
    fn value(&mut self) -> Result<(String, usize), Wrong> {
        self.blank();
        let start = self.at;
        let sign = self.text.get(start) == Some(&b'-');
        self.at += usize::from(sign);
        let (mut word, at) = self.word()?;
        // The fraction of a number.
        if self.text.get(self.at) == Some(&b'.') && word.bytes().all(|byte| byte.is_ascii_digit()) {
            self.at += 1;
            word = format!("{word}.{}", self.word()?.0);
        }
        Ok((if sign { format!("-{word}") } else { word }, at.min(start)))
    }

    /// A name, a query block or a comma among the arguments of advice.
    fn argument(&mut self) -> Result<(), Wrong> {
        self.blank();
        match self.text.get(self.at) {
            Some(b',' | b'@' | b'.') => {
                self.at += 1;
                Ok(())
            }
            Some(b')') => Ok(()),
            _ => self.word().map(drop),
        }
    }
}
