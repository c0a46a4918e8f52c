//! From ICU's syntax to that of our libraries, which is nearly the same. What is wrong with a pattern is found here, so
//! that it gets MySQL's error number.

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

/// What ends a line, as a class without its brackets.
const LINE_ENDS: &str = r"\n\x0B\x0C\r\x{85}\x{2028}\x{2029}";

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
struct Reading {
    ignores_case: bool,
    /// White space does not count, and there are comments.
    extended: bool,
}

struct Translator {
    pattern: Vec<char>,
    at: usize,
    options: Options,
    /// The text ends with an end of line.
    ended: bool,
    /// Those that are open, with how letters are read behind them.
    groups: Vec<(Group, Reading)>,
    reading: Reading,
    /// Letters that are to be matched without regard to case, one behind the other.
    run: Vec<char>,
    captures: usize,
    /// Greatest number of a back-reference.
    referred: usize,
    /// Something that a quantifier may follow stands before.
    repeatable: bool,
    out: Translated,
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
        options,
        ended,
        groups: Vec::new(),
        reading: Reading { ignores_case: options.ignores_case, extended: false },
        run: Vec::new(),
        captures: 0,
        referred: 0,
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
    fn next(&mut self) -> Option<char> {
        let character = self.peek(0)?;
        self.at += 1;
        Some(character)
    }

    fn peek(&self, ahead: usize) -> Option<char> {
        self.pattern.get(self.at + ahead).copied()
    }

    fn follows(&self, text: &str) -> bool {
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
            Reading { ignores_case: true, extended: false } => self.run.push(letter),
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
            '.' if !self.options.dot_matches_all && !self.options.unix_lines => {
                self.push(&format!("[^{LINE_ENDS}]"));
            }
            '$' if !self.options.lines => {
                self.end(false);
                self.repeatable = true;
            }
            '^' | '$' if !self.options.unix_lines && self.options.lines => self.line_border(character == '^'),
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
            let ends = match unix || self.options.unix_lines {
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

    fn open(&mut self) -> SqlResult<()> {
        let mut kind = Group::Other;
        let before = self.reading;
        self.repeatable = false;
        if !self.follows("?") {
            self.captures += 1;
            self.out.text.push('(');
        } else if self.follows("?#") {
            while self.next().ok_or_else(SqlError::regexp_mismatched_parenthesis)? != ')' {}
            return Ok(());
        } else if let Some(start) =
            ["?:", "?=", "?!", "?>", "?<=", "?<!"].iter().find(|start| self.follows(start))
        {
            self.at += start.len();
            self.out.text.push('(');
            self.out.text.push_str(start);
            self.out.backtracks |= *start != "?:";
            if start.len() == 3 {
                kind = Group::LookBehind;
            }
        } else if self.follows("?<") {
            self.captures += 1;
            self.out.text.push('(');
            while let Some(letter) = self.next() {
                self.out.text.push(letter);
                if letter == '>' {
                    break;
                }
                if !letter.is_ascii_alphanumeric() && !matches!(letter, '?' | '<') {
                    return Err(SqlError::regexp_invalid_group_name());
                }
            }
        } else {
            self.out.text.push('(');
            self.flags()?;
            if self.peek(0) == Some(')') {
                self.at += 1;
                self.out.text.push(')');
                return Ok(());
            }
        }
        self.groups.push((kind, before));
        Ok(())
    }

    /// `?ismx-ismx` behind a parenthesis, up to `:` or before `)`.
    fn flags(&mut self) -> SqlResult<()> {
        self.out.text.push('?');
        self.at += 1;
        let mut on = true;
        loop {
            match self.next() {
                Some(letter @ ('i' | 's' | 'm' | 'x' | '-')) => {
                    self.out.text.push(letter);
                    match letter {
                        '-' => on = false,
                        'i' => self.reading.ignores_case = on,
                        'x' => self.reading.extended = on,
                        _ => {}
                    }
                }
                // Word boundaries by Unicode's rules, and Unix lines: nearly what we have.
                Some('w' | 'd') => {}
                Some(':') => {
                    self.out.text.push(':');
                    return Ok(());
                }
                Some(')') => {
                    self.at -= 1;
                    return Ok(());
                }
                Some(_) => return Err(self.syntax()),
                None => return Err(SqlError::regexp_mismatched_parenthesis()),
            }
        }
    }

    fn escape(&mut self) -> SqlResult<()> {
        let letter = self.next().ok_or_else(SqlError::regexp_bad_escape)?;
        match letter {
            '1'..='9' => {
                let mut number = letter.to_digit(10).unwrap_or(0) as usize;
                // A longer number counts if there are so many groups before it.
                while let Some(digit) = self.peek(0).and_then(|digit| digit.to_digit(10))
                    && number * 10 + digit as usize <= self.captures
                {
                    number = number * 10 + digit as usize;
                    self.at += 1;
                }
                self.referred = self.referred.max(number);
                self.out.backtracks = true;
                self.push(&format!("(?:\\{number})"));
            }
            'k' => {
                self.out.backtracks = true;
                self.push("\\k");
            }
            'Q' => self.quoted(),
            'Z' => self.end(false),
            'h' => self.push(r"[\t\x{20}\x{A0}\x{1680}\x{2000}-\x{200A}\x{202F}\x{205F}\x{3000}]"),
            'R' => self.push(&format!(r"(?:\r\n|[{LINE_ENDS}])")),
            'X' => self.push(r"(?:\P{M}\p{M}*)"),
            'u' if self.peek(0).is_some_and(|digit| digit.is_ascii_hexdigit()) => self.push("\\u"),
            'A' | 'B' | 'b' | 'D' | 'd' | 'S' | 's' | 'W' | 'w' | 'z' | 'x' | 'p' | 'P' | 'n' | 'r' | 't'
            | 'f' | 'v' | 'U' => {
                self.end_run();
                self.out.text.push('\\');
                self.out.text.push(letter);
                self.repeatable = true;
                // What stands in braces belongs to the escape.
                if matches!(letter, 'x' | 'p' | 'P' | 'u') && self.peek(0) == Some('{') {
                    while let Some(character) = self.next() {
                        self.out.text.push(character);
                        if character == '}' {
                            break;
                        }
                    }
                }
            }
            'a' => self.push(r"\x07"),
            'e' => self.push(r"\x1B"),
            other => {
                let text = regex::escape(other.encode_utf8(&mut [0; 4]));
                self.letter(other, &text);
            }
        }
        Ok(())
    }

    /// `\Q...\E`: as it stands.
    fn quoted(&mut self) {
        while !self.follows("\\E") {
            let Some(letter) = self.next() else { break };
            let text = regex::escape(letter.encode_utf8(&mut [0; 4]));
            self.letter(letter, &text);
        }
        self.at = (self.at + 2).min(self.pattern.len());
    }

    /// A bracket expression, with those inside it.
    fn class(&mut self) -> SqlResult<()> {
        let mut depth = 1;
        let mut previous: Option<char> = None;
        self.out.text.push('[');
        while depth > 0 {
            let character = self.next().ok_or_else(SqlError::regexp_missing_bracket)?;
            if character == '[' && self.follows(":") {
                self.named_class()?;
                previous = None;
                continue;
            }
            self.out.text.push(character);
            match character {
                '\\' => {
                    let letter = self.next().ok_or_else(SqlError::regexp_missing_bracket)?;
                    self.out.text.push(letter);
                    previous = None;
                }
                '[' => {
                    depth += 1;
                    previous = None;
                }
                ']' => {
                    depth -= 1;
                    previous = None;
                }
                '-' if previous.is_some() && !matches!(self.peek(0), Some(']' | '\\' | '[' | '-') | None) => {
                    let last = self.next();
                    if last < previous {
                        return Err(SqlError::regexp_invalid_range());
                    }
                    self.out.text.extend(last);
                    previous = None;
                }
                other => previous = Some(other),
            }
        }
        self.repeatable = true;
        Ok(())
    }

    /// `[:name:]` within a class: Unicode's characters of the kind.
    fn named_class(&mut self) -> SqlResult<()> {
        self.at += 1;
        let mut name = String::new();
        while !self.follows(":]") {
            name.push(self.next().ok_or_else(SqlError::regexp_missing_bracket)?);
        }
        self.at += 2;
        let (negated, name) = match name.strip_prefix('^') {
            Some(rest) => (true, rest.to_ascii_lowercase()),
            None => (false, name.to_ascii_lowercase()),
        };
        let inside = match &*name {
            "alpha" => r"\p{L}\p{M}\p{Nl}",
            "alnum" => r"\p{L}\p{M}\p{Nl}\p{Nd}",
            "digit" => r"\p{Nd}",
            "upper" => r"\p{Lu}",
            "lower" => r"\p{Ll}",
            "space" => r"\s",
            "blank" => r"\t\p{Zs}",
            "punct" => r"\p{P}",
            "cntrl" => r"\p{Cc}",
            "word" => r"\w",
            "xdigit" => r"\p{Nd}A-Fa-f",
            "graph" => r"\p{L}\p{M}\p{N}\p{P}\p{S}\p{Cf}\p{Co}",
            "print" => r"\p{L}\p{M}\p{N}\p{P}\p{S}\p{Cf}\p{Co}\p{Zs}",
            "ascii" => r"\x00-\x7F",
            other => {
                self.out.text.push_str(&format!(r"\{}{{{other}}}", if negated { 'P' } else { 'p' }));
                return Ok(());
            }
        };
        self.out.text.push_str(&format!("[{}{inside}]", if negated { "^" } else { "" }));
        Ok(())
    }
}
