//! What follows a backslash.

use super::super::escape::{Escape, LINE_ENDS, plain};
use super::{CLUSTER, Translator};
use crate::error::{SqlError, SqlResult};

impl Translator {
    pub(super) fn escape(&mut self) -> SqlResult<()> {
        let letter = match self.read_escape()? {
            Escape::Letter(letter) => {
                self.letter(letter, &plain(letter));
                return Ok(());
            }
            Escape::Set(set) => {
                self.push(&format!("[{set}]"));
                return Ok(());
            }
            Escape::Other(letter) => letter,
        };
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
            'k' => self.named_reference()?,
            'Q' => self.quoted(),
            'Z' => {
                self.end(false);
                self.repeatable = false;
            }
            'R' => self.push(&format!(r"(?:\r\n|[{LINE_ENDS}])")),
            'X' => {
                self.out.backtracks = true;
                self.push(CLUSTER);
            }
            'A' | 'B' | 'b' | 'z' => {
                self.push(&format!("\\{letter}"));
                self.repeatable = false;
            }
            // A search does not know where the one before it ended.
            'G' => return Err(SqlError::regexp_bad_escape()),
            other => self.letter(other, &plain(other)),
        }
        Ok(())
    }

    /// `<name>` behind `\k`.
    pub(super) fn named_reference(&mut self) -> SqlResult<()> {
        let mut name = String::new();
        if self.next() == Some('<') {
            while let Some(letter) = self.next().filter(|letter| *letter != '>') {
                name.push(letter);
            }
        }
        if !self.names.contains(&name) {
            return Err(SqlError::regexp_invalid_group_name());
        }
        self.out.backtracks = true;
        self.push(&format!("\\k<{name}>"));
        Ok(())
    }

    /// `\Q...\E`: as it stands.
    pub(super) fn quoted(&mut self) {
        while !self.follows("\\E") {
            let Some(letter) = self.next() else { break };
            self.letter(letter, &plain(letter));
        }
        self.at = (self.at + 2).min(self.pattern.len());
    }
}
