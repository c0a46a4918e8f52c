//! From ICU's syntax to that of our libraries, which is nearly the same. What is wrong with a pattern is
//! found here, so that it gets MySQL's error number.

mod escape;
mod open;

use super::escape::LINE_ENDS;
use super::{Options, folding};
use crate::error::{SqlError, SqlResult};

/// A pattern for `regex`, or for `fancy-regex`.
pub(super) struct Translated {
    pub text: String,
    /// It needs backtracking.
    pub backtracks: bool,
    /// It has a `$` that matches at the end of the text, or before an end of line there.
    pub has_end: bool,
}

/// Bytes a translated pattern may take.
const TRANSLATED_BYTES: usize = 4 << 20;

/// What belongs together as one character for a reader, nearly as Unicode's annex 29 has it.
const CLUSTER: &str = concat!(
    r"(?>\r\n|\p{RI}\p{RI}|\p{ExtPict}[\p{M}\p{EMod}]*(?:\x{200D}\p{ExtPict}[\p{M}\p{EMod}]*)*|",
    r"[\x{1100}-\x{115F}\x{A960}-\x{A97C}]*",
    r"(?:[\x{AC00}-\x{D7A3}][\x{1160}-\x{11A7}\x{D7B0}-\x{D7C6}]*|[\x{1160}-\x{11A7}\x{D7B0}-\x{D7C6}]+)",
    r"[\x{11A8}-\x{11FF}\x{D7CB}-\x{D7FB}\p{M}]*|\P{M}[\p{M}\x{200D}]*|\p{M}+)"
);

/// True if the character ends a line.
pub(super) fn ends_line(character: char, unix_lines: bool) -> bool {
    match unix_lines {
        true => character == '\n',
        false => matches!(character, '\n'..='\r' | '\u{85}' | '\u{2028}' | '\u{2029}'),
    }
}

/// A group that is open.
#[derive(Clone, Copy, PartialEq)]
enum Group {
    Other,
    LookBehind,
}

/// How letters are read at a place in the pattern.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct Reading {
    ignores_case: bool,
    /// White space does not count, and there are comments.
    pub extended: bool,
    /// The dot matches ends of lines.
    dot_all: bool,
    /// `^` and `$` match at lines.
    lines: bool,
    /// Only `\n` ends a line.
    unix_lines: bool,
}

pub(super) struct Translator {
    pattern: Vec<char>,
    pub at: usize,
    /// The text ends with an end of line.
    ended: bool,
    /// Those that are open, with how letters are read behind them.
    groups: Vec<(Group, Reading)>,
    pub reading: Reading,
    /// Letters that are to be matched without regard to case, one behind the other.
    run: Vec<char>,
    captures: usize,
    /// Greatest number of a back-reference.
    referred: usize,
    /// Those of groups.
    names: Vec<String>,
    /// Something that a quantifier may follow stands before.
    pub repeatable: bool,
    pub out: Translated,
}

/// Translates a pattern; `ended` for texts that end with an end of line.
pub(super) fn translate(source: &str, options: Options, ended: bool) -> SqlResult<Translated> {
    if source.is_empty() {
        return Err(SqlError::regexp_illegal_argument());
    }
    let mut flags = String::new();
    if options.lines {
        flags.push('m');
    }
    if options.dot_matches_all {
        flags.push('s');
    }
    let text = if flags.is_empty() { String::new() } else { format!("(?{flags})") };
    let mut translator = Translator {
        pattern: source.chars().collect(),
        at: 0,
        ended,
        groups: Vec::new(),
        reading: Reading {
            ignores_case: options.ignores_case,
            extended: false,
            dot_all: options.dot_matches_all,
            lines: options.lines,
            unix_lines: options.unix_lines,
        },
        run: Vec::new(),
        captures: 0,
        referred: 0,
        names: Vec::new(),
        repeatable: false,
        out: Translated { text, backtracks: false, has_end: false },
    };
    while let Some(character) = translator.next() {
        translator.element(character)?;
        if translator.out.text.len() > TRANSLATED_BYTES {
            return Err(SqlError::regexp_too_big());
        }
    }
    translator.end_run();
    if !translator.groups.is_empty() {
        return Err(SqlError::regexp_mismatched_parenthesis());
    }
    if translator.referred > translator.captures {
        return Err(SqlError::regexp_invalid_back_reference());
    }
    Ok(translator.out)
}

impl Translator {
    /// Takes the next character of the pattern.
    pub fn next(&mut self) -> Option<char> {
        let character = self.peek(0)?;
        self.at += 1;
        Some(character)
    }

    /// The character so many places ahead, without taking it.
    pub fn peek(&self, ahead: usize) -> Option<char> {
        self.pattern.get(self.at + ahead).copied()
    }

    /// Whether the pattern goes on with this text.
    pub fn follows(&self, text: &str) -> bool {
        text.chars().enumerate().all(|(ahead, character)| self.peek(ahead) == Some(character))
    }

    /// The error for what stands before `at`.
    fn syntax(&self) -> SqlError {
        let before = &self.pattern[..self.at.saturating_sub(1).min(self.pattern.len())];
        let line = before.iter().filter(|character| **character == '\n').count() + 1;
        let column = before.iter().rev().take_while(|character| **character != '\n').count() + 1;
        SqlError::regexp_syntax(line, column)
    }

    fn push(&mut self, text: &str) {
        self.end_run();
        self.out.text.push_str(text);
        self.repeatable = true;
    }

    /// A letter that stands for itself; `plain` is how our libraries write it.
    fn letter(&mut self, letter: char, plain: &str) {
        self.repeatable = true;
        match self.reading {
            Reading { ignores_case: true, extended: false, .. } => self.run.push(letter),
            _ => self.out.text.push_str(plain),
        }
    }

    /// Writes the letters that were read.
    fn end_run(&mut self) {
        let run = std::mem::take(&mut self.run);
        if !run.is_empty() {
            folding::append(&run, &mut self.out.text);
        }
    }

    fn element(&mut self, character: char) -> SqlResult<()> {
        if matches!(character, '[' | '(' | ')' | '|') {
            self.end_run();
        }
        match character {
            '\\' => self.escape()?,
            '[' => self.class()?,
            '(' => self.open()?,
            ')' => {
                let (_, before) = self.groups.pop().ok_or_else(SqlError::regexp_mismatched_parenthesis)?;
                self.reading = before;
                self.push(")");
            }
            '|' => {
                self.push("|");
                self.repeatable = false;
            }
            '*' | '+' | '?' => self.quantifier(&character.to_string(), character != '?')?,
            '{' => self.interval()?,
            '.' if !self.reading.dot_all && !self.reading.unix_lines => {
                self.push(&format!("[^{LINE_ENDS}]"));
            }
            '$' if !self.reading.lines => {
                self.end(false);
                self.repeatable = true;
            }
            '^' | '$' if !self.reading.unix_lines && self.reading.lines => self.line_border(character == '^'),
            '}' => self.letter('}', "\\}"),
            ']' => self.letter(']', "\\]"),
            '.' | '^' | '$' => self.push(character.encode_utf8(&mut [0; 4])),
            other => self.letter(other, other.encode_utf8(&mut [0; 4])),
        }
        Ok(())
    }

    /// `$`, or `\Z`: the end, or before an end of line there.
    fn end(&mut self, unix: bool) {
        self.out.has_end = true;
        if self.ended {
            self.out.backtracks = true;
            let ends = match unix || self.reading.unix_lines {
                true => r"(?=\n?\z)".to_owned(),
                false => format!(r"(?:\z|(?=(?:\r\n|[{LINE_ENDS}])\z)(?<!\r(?=\n)))"),
            };
            self.push(&ends);
        } else {
            self.push(r"\z");
        }
    }

    /// `^` or `$` at lines that any end of line ends.
    fn line_border(&mut self, begin: bool) {
        self.out.backtracks = true;
        let text = match begin {
            true => format!(r"(?:\A|(?<=[{LINE_ENDS}])(?<!\r(?=\n))(?!\z))"),
            false => format!(r"(?:\z|(?=[{LINE_ENDS}])(?<!\r(?=\n)))"),
        };
        self.push(&text);
    }

    fn quantifier(&mut self, text: &str, unbounded: bool) -> SqlResult<()> {
        if !self.repeatable {
            return Err(self.syntax());
        }
        if unbounded && self.groups.iter().any(|(group, _)| *group == Group::LookBehind) {
            return Err(SqlError::regexp_look_behind_limit());
        }
        // It repeats the last letter alone.
        if let Some(last) = self.run.pop() {
            self.end_run();
            folding::append(&[last], &mut self.out.text);
        }
        self.out.text.push_str(text);
        match self.peek(0) {
            Some('?') => {
                self.at += 1;
                self.out.text.push('?');
            }
            Some('+') => {
                self.at += 1;
                self.out.text.push('+');
                self.out.backtracks = true;
            }
            _ => {}
        }
        // A second quantifier would mean something else to our libraries.
        self.repeatable = false;
        Ok(())
    }

    /// `{min}`, `{min,}` or `{min,max}`.
    fn interval(&mut self) -> SqlResult<()> {
        if !self.repeatable {
            return Err(self.syntax());
        }
        let mut inside = String::new();
        loop {
            match self.next() {
                Some('}') => break,
                Some(digit) if digit.is_ascii_digit() || digit == ',' => inside.push(digit),
                _ => return Err(SqlError::regexp_bad_interval()),
            }
        }
        let (min, max) = match inside.split_once(',') {
            None => (inside.as_str(), Some(inside.as_str())),
            Some((min, "")) => (min, None),
            Some((min, max)) => (min, Some(max)),
        };
        let number = |digits: &str| -> SqlResult<u32> {
            if digits.is_empty() || digits.contains(',') {
                return Err(SqlError::regexp_bad_interval());
            }
            digits.parse().map_err(|_| SqlError::regexp_number_too_big())
        };
        let least = number(min)?;
        if let Some(max) = max
            && number(max)? < least
        {
            return Err(SqlError::regexp_max_below_min());
        }
        self.quantifier(&format!("{{{inside}}}"), max.is_none())
    }
}
