//! Bracket expressions: ICU's sets, with those inside them, become classes of our libraries.

use super::escape::{Escape, plain};
use super::translate::Translator;
use crate::error::{SqlError, SqlResult};

/// What stands before a place in a set.
#[derive(Clone, Copy, PartialEq)]
enum Before {
    /// The bracket, and perhaps `^`.
    Nothing,
    /// A character, with which a range may begin.
    Letter(char),
    /// A set; an operator may follow.
    Set,
    /// The end of a range, or an operator.
    Done,
}

impl Translator {
    /// A bracket expression, whose bracket was read, with those inside it.
    pub(super) fn class(&mut self) -> SqlResult<()> {
        let mut depth = 1;
        self.begin_set();
        let mut before = Before::Nothing;
        while depth > 0 {
            let character = self.set_next()?;
            before = match character {
                ']' if before != Before::Nothing => {
                    depth -= 1;
                    self.out.text.push(']');
                    Before::Set
                }
                '[' if self.follows(":") => {
                    self.named_class()?;
                    Before::Set
                }
                '[' => {
                    depth += 1;
                    self.begin_set();
                    Before::Nothing
                }
                '\\' => self.set_escape()?,
                '-' | '&' if self.peek(0) == Some(character) && before != Before::Nothing => {
                    self.at += 1;
                    self.operator(character)
                }
                '-' | '&' if before == Before::Set && self.peek(0) == Some('[') => self.operator(character),
                '-' => match before {
                    Before::Letter(first) if !matches!(self.peek(0), Some(']' | '[') | None) => {
                        self.range(first)?
                    }
                    _ => self.set_letter('-'),
                },
                _ if self.reading.extended && character.is_whitespace() => before,
                letter => self.set_letter(letter),
            };
        }
        self.repeatable = true;
        Ok(())
    }

    fn begin_set(&mut self) {
        self.out.text.push('[');
        if self.follows("^") {
            self.at += 1;
            self.out.text.push('^');
        }
    }

    fn set_next(&mut self) -> SqlResult<char> {
        self.next().ok_or_else(SqlError::regexp_missing_bracket)
    }

    fn set_letter(&mut self, letter: char) -> Before {
        self.out.text.push_str(&plain(letter));
        Before::Letter(letter)
    }

    /// Difference or intersection with the set that follows.
    fn operator(&mut self, operator: char) -> Before {
        self.out.text.extend([operator; 2]);
        Before::Done
    }

    fn set_escape(&mut self) -> SqlResult<Before> {
        if self.peek(0).is_none() {
            return Err(SqlError::regexp_missing_bracket());
        }
        Ok(match self.read_escape()? {
            Escape::Letter(letter) => self.set_letter(letter),
            Escape::Set(set) => {
                self.out.text.push_str(&set);
                Before::Set
            }
            Escape::Other('Q') => {
                while !self.follows("\\E") {
                    let letter = self.set_next()?;
                    self.set_letter(letter);
                }
                self.at += 2;
                Before::Done
            }
            Escape::Other(letter) => self.set_letter(letter),
        })
    }

    /// `first-last`, of which `first` and the hyphen were read; a hyphen before a set stands for itself.
    fn range(&mut self, first: char) -> SqlResult<Before> {
        let last = match self.set_next()? {
            '\\' => match self.read_escape()? {
                Escape::Letter(letter) | Escape::Other(letter) => letter,
                Escape::Set(set) => {
                    self.set_letter('-');
                    self.out.text.push_str(&set);
                    return Ok(Before::Set);
                }
            },
            letter => letter,
        };
        if last < first {
            return Err(SqlError::regexp_invalid_range());
        }
        self.out.text.push('-');
        self.set_letter(last);
        Ok(Before::Done)
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
