//! Optimizer hints: the comments `/*+ ... */` behind SELECT, INSERT, REPLACE, UPDATE and DELETE.
//!
//! A hint that is wrong is a warning and no error, and ends the reading of its comment; those before it
//! count.

use super::error::Failure;
use super::{ParseErrorKind, Parser};
use crate::lexer::is_word;

/// One hint, as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Hint {
    /// MAX_EXECUTION_TIME(n): milliseconds; true behind the first SELECT of a statement.
    MaxExecutionTime(u64, bool),
    /// SET_VAR(name = value); the value without its quotes.
    SetVariable(Box<str>, Box<str>),
    /// RESOURCE_GROUP(name)
    ResourceGroup(Box<str>),
    /// QB_NAME(name)
    BlockName(Box<str>),
    /// One that advises the optimizer and cannot change a result: its name and arguments.
    Advice(Box<str>, Box<str>),
    /// It cannot be read: the complaint.
    Wrong(Box<str>),
}

/// Hints that advise the optimizer. None of them changes what a statement returns or does, so they are
/// accepted with a warning.
const ADVICE: &[&str] = &[
    "BKA",
    "BNL",
    "DERIVED_CONDITION_PUSHDOWN",
    "GROUP_INDEX",
    "HASH_JOIN",
    "INDEX",
    "INDEX_MERGE",
    "JOIN_FIXED_ORDER",
    "JOIN_INDEX",
    "JOIN_ORDER",
    "JOIN_PREFIX",
    "JOIN_SUFFIX",
    "MERGE",
    "MRR",
    "NO_BKA",
    "NO_BNL",
    "NO_DERIVED_CONDITION_PUSHDOWN",
    "NO_GROUP_INDEX",
    "NO_HASH_JOIN",
    "NO_ICP",
    "NO_INDEX",
    "NO_INDEX_MERGE",
    "NO_JOIN_INDEX",
    "NO_MERGE",
    "NO_MRR",
    "NO_ORDER_INDEX",
    "NO_RANGE_OPTIMIZATION",
    "NO_SEMIJOIN",
    "NO_SKIP_SCAN",
    "ORDER_INDEX",
    "SEMIJOIN",
    "SKIP_SCAN",
    "SUBQUERY",
];

const SYNTAX: &str = "Optimizer hint syntax error";
const TOO_LONG: &str = "Unsupported MAX_EXECUTION_TIME";

impl Parser<'_> {
    /// Reads the hints between the word just stepped over and the next token, if there are any.
    pub(super) fn hints(&mut self) {
        let first = self.withs == 0 && self.hinted == self.hinted_in_with;
        self.hinted += 1;
        let gap = self.previous_end as usize..self.token.start as usize;
        if gap.len() < 5 {
            return;
        }
        let between = &self.text[gap.clone()];
        let blank = between.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        if between[blank..].starts_with(b"/*+") {
            let mut reader = Reader { text: self.text, at: gap.start + blank + 3, end: gap.end };
            if let Err((what, at)) = reader.all(first, &mut self.aside.hints) {
                let failure = Failure { kind: ParseErrorKind::Syntax, offset: at as u32 };
                let place = failure.locate(self.text, 0);
                let complaint = format!("{what} near '{}' at line {}", place.near, place.line);
                self.aside.hints.push(Hint::Wrong(complaint.into()));
            }
        }
    }
}

/// A hint's comment being read.
struct Reader<'t> {
    text: &'t [u8],
    at: usize,
    end: usize,
}

/// What is wrong, and where.
type Wrong = (&'static str, usize);

fn wrong<T>(at: usize) -> Result<T, Wrong> {
    Err((SYNTAX, at))
}

impl Reader<'_> {
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
            _ => wrong(start),
        }
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
