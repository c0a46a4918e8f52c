//! What a backslash in a pattern begins, in brackets and outside.

use super::translate::Translator;
use crate::error::{SqlError, SqlResult};

/// White space within a line, as a class without its brackets.
const HORIZONTAL: &str = r"\t\x{20}\x{A0}\x{1680}\x{2000}-\x{200A}\x{202F}\x{205F}\x{3000}";

/// What ends a line, as a class without its brackets.
pub(super) const LINE_ENDS: &str = r"\n\x0B\x0C\r\x{85}\x{2028}\x{2029}";

/// The greatest number that octal digits may say.
const OCTAL_MAX: u32 = 0o377;

/// What an escape stands for.
pub(super) enum Escape {
    /// One character.
    Letter(char),
    /// Several, as a part of a class of our libraries.
    Set(String),
    /// What depends on where it stands: the letter behind the backslash.
    Other(char),
}

impl Translator {
    /// Reads what follows a backslash.
    pub(super) fn read_escape(&mut self) -> SqlResult<Escape> {
        let letter = self.next().ok_or_else(SqlError::regexp_bad_escape)?;
        Ok(match letter {
            'a' => Escape::Letter('\x07'),
            'e' => Escape::Letter('\x1B'),
            'f' => Escape::Letter('\x0C'),
            'n' => Escape::Letter('\n'),
            'r' => Escape::Letter('\r'),
            't' => Escape::Letter('\t'),
            'c' => match self.next() {
                Some(control) => Escape::Letter(char::from(control as u8 & 0x1F)),
                None => Escape::Letter('c'),
            },
            '0' => self.octal()?,
            'x' if self.peek(0) == Some('{') => {
                self.next();
                let digits = self.hex(6);
                let closed = self.next() == Some('}');
                self.code(&digits, closed && !digits.is_empty())?
            }
            'x' => {
                let digits = self.hex(2);
                self.code(&digits, !digits.is_empty())?
            }
            'u' | 'U' => {
                let wanted = if letter == 'u' { 4 } else { 8 };
                let digits = self.hex(wanted);
                self.code(&digits, digits.len() == wanted)?
            }
            // The names of characters are not at hand.
            'N' => return Err(SqlError::regexp_bad_escape()),
            'd' | 'D' | 's' | 'S' | 'w' | 'W' => Escape::Set(format!("\\{letter}")),
            'h' => Escape::Set(HORIZONTAL.to_owned()),
            'H' => Escape::Set(format!("[^{HORIZONTAL}]")),
            'v' => Escape::Set(LINE_ENDS.to_owned()),
            'V' => Escape::Set(format!("[^{LINE_ENDS}]")),
            'p' | 'P' => Escape::Set(self.property(letter)?),
            other => Escape::Other(other),
        })
    }

    fn octal(&mut self) -> SqlResult<Escape> {
        let mut number = None;
        for _ in 0..3 {
            let Some(digit) = self.peek(0).and_then(|digit| digit.to_digit(8)) else { break };
            let longer = number.unwrap_or(0) * 8 + digit;
            if longer > OCTAL_MAX {
                break;
            }
            number = Some(longer);
            self.at += 1;
        }
        let letter = number.and_then(char::from_u32).ok_or_else(SqlError::regexp_bad_escape)?;
        Ok(Escape::Letter(letter))
    }

    /// So many hexadecimal digits at most.
    fn hex(&mut self, most: usize) -> String {
        let mut digits = String::new();
        while digits.len() < most
            && let Some(digit) = self.peek(0).filter(char::is_ascii_hexdigit)
        {
            digits.push(digit);
            self.at += 1;
        }
        digits
    }

    fn code(&self, digits: &str, is_whole: bool) -> SqlResult<Escape> {
        let code = u32::from_str_radix(digits, 16).ok().filter(|_| is_whole);
        let letter = code.and_then(char::from_u32).ok_or_else(SqlError::regexp_bad_escape)?;
        Ok(Escape::Letter(letter))
    }

    /// `{name}` of a property of Unicode.
    fn property(&mut self, letter: char) -> SqlResult<String> {
        let mut text = format!("\\{letter}");
        if self.peek(0) != Some('{') {
            return Err(SqlError::regexp_illegal_argument());
        }
        while let Some(character) = self.next() {
            text.push(character);
            if character == '}' {
                return Ok(text);
            }
        }
        Err(SqlError::regexp_illegal_argument())
    }
}

/// A character as our libraries write it wherever it stands for itself.
pub(super) fn plain(letter: char) -> String {
    match letter {
        _ if letter.is_whitespace() || letter.is_control() => format!("\\x{{{:X}}}", u32::from(letter)),
        _ if letter.is_ascii_punctuation() && !matches!(letter, '<' | '>' | '"' | '\'' | '_' | '`' | '/') => {
            format!("\\{letter}")
        }
        _ => letter.to_string(),
    }
}
