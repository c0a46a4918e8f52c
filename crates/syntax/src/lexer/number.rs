//! Numbers in all their spellings, and quoted hexadecimal and binary digits.

use super::token::TokenKind;
use super::{Lexer, is_digit, is_word};

impl<'a> Lexer<'a> {
    /// `x'..'` and `b'..'`: the number of digits must be a multiple of `group`.
    pub(super) fn quoted_digits(
        &mut self,
        kind: TokenKind,
        is_valid: fn(&u8) -> bool,
        group: usize,
    ) -> TokenKind {
        self.position += 2;
        let length = self.text[self.position..].iter().take_while(|b| is_valid(b)).count();
        self.position += length;
        if self.byte(0) != b'\'' || !length.is_multiple_of(group) {
            return TokenKind::Invalid;
        }
        self.position += 1;
        kind
    }

    pub(super) fn number(&mut self) -> TokenKind {
        let start = self.position;
        if self.byte(0) == b'0' {
            if self.byte(1) == b'x' && self.prefixed_digits(u8::is_ascii_hexdigit) {
                return TokenKind::HexNumber;
            }
            if self.byte(1) == b'b' && self.prefixed_digits(|b| matches!(b, b'0' | b'1')) {
                return TokenKind::BitNumber;
            }
        }
        self.skip_digits();
        if self.byte(0) == b'.' {
            self.position += 1;
            return self.fraction();
        }
        if !is_word(self.byte(0)) {
            return TokenKind::Integer;
        }
        if self.exponent() {
            if !is_word(self.byte(0)) {
                return TokenKind::Float;
            }
            self.position = start;
        }
        // A word may begin with digits.
        self.skip_word();
        TokenKind::Identifier
    }

    /// `0x` or `0b` and at least one digit, and no other word character: consumed and true.
    pub(super) fn prefixed_digits(&mut self, is_valid: fn(&u8) -> bool) -> bool {
        let digits = &self.text[self.position + 2..];
        let length = digits.iter().take_while(|b| is_valid(b)).count();
        if length == 0 || digits.get(length).is_some_and(|&b| is_word(b)) {
            return false;
        }
        self.position += 2 + length;
        true
    }

    /// After the point of a number.
    pub(super) fn fraction(&mut self) -> TokenKind {
        self.skip_digits();
        if self.exponent() { TokenKind::Float } else { TokenKind::Decimal }
    }

    /// `e10`, `E-3`: consumed and true.
    pub(super) fn exponent(&mut self) -> bool {
        if !matches!(self.byte(0), b'e' | b'E') {
            return false;
        }
        let sign = usize::from(matches!(self.byte(1), b'+' | b'-'));
        if !is_digit(self.byte(1 + sign)) {
            return false;
        }
        self.position += 1 + sign;
        self.skip_digits();
        true
    }
}
