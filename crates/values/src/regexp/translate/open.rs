//! What follows an opening parenthesis: groups, looks around, comments and flags.

use super::{Group, Translator};
use crate::error::{SqlError, SqlResult};

impl Translator {
    pub(super) fn open(&mut self) -> SqlResult<()> {
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
            let mut name = String::new();
            while let Some(letter) = self.next() {
                self.out.text.push(letter);
                match letter {
                    '>' => break,
                    '?' | '<' => {}
                    letter => name.push(letter),
                }
                if !letter.is_ascii_alphanumeric() && !matches!(letter, '?' | '<') {
                    return Err(SqlError::regexp_invalid_group_name());
                }
            }
            self.names.push(name);
        } else if self.flags()? {
            return Ok(());
        }
        self.groups.push((kind, before));
        Ok(())
    }

    /// `?ismxdw-ismxdw` behind a parenthesis, with the `:` or `)` that ends it; true for `)`, which is no
    /// group.
    pub(super) fn flags(&mut self) -> SqlResult<bool> {
        self.at += 1;
        let (mut flags, mut on) = (String::new(), true);
        let alone = loop {
            let letter = self.next().ok_or_else(SqlError::regexp_mismatched_parenthesis)?;
            match letter {
                '-' => on = false,
                'i' => self.reading.ignores_case = on,
                'x' => self.reading.extended = on,
                's' => self.reading.dot_all = on,
                'm' => self.reading.lines = on,
                'd' => self.reading.unix_lines = on,
                // Word boundaries by Unicode's rules: nearly what we have.
                'w' => {}
                ':' | ')' => break letter == ')',
                _ => return Err(self.syntax()),
            }
            if matches!(letter, 'i' | 's' | 'm' | 'x') {
                flags.push_str(if on { "" } else { "-" });
                flags.push(letter);
            }
        };
        // Ours take one hyphen: what is on goes first.
        let (mut set, mut unset) = (String::new(), String::new());
        let mut letters = flags.chars();
        while let Some(letter) = letters.next() {
            match letter {
                '-' => unset.extend(letters.next()),
                letter => set.push(letter),
            }
        }
        set.retain(|letter| !unset.contains(letter));
        let hyphen = if unset.is_empty() { "" } else { "-" };
        match alone {
            true if set.is_empty() && unset.is_empty() => {}
            true => self.out.text.push_str(&format!("(?{set}{hyphen}{unset})")),
            false => self.out.text.push_str(&format!("(?{set}{hyphen}{unset}:")),
        }
        Ok(alone)
    }
}
