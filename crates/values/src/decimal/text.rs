//! Exact numbers read from texts, and written.

use std::fmt;

use super::wide::Wide;
use super::{Decimal, MAX_PRECISION, MAX_SCALE};

/// What parsing a text as a decimal found.
#[derive(Debug, Clone)]
pub struct Parsed {
    /// The number; the largest one if it overflowed.
    pub value: Decimal,
    /// Bytes used, leading spaces included. 0 when there is no number.
    pub consumed: usize,
    /// The text has more than 65 integer digits.
    pub overflow: bool,
    /// Non-zero fraction digits were lost.
    pub rounded: bool,
    /// More digits than MySQL reads: nine groups of nine, which the point divides.
    pub beyond: bool,
    /// Bytes used without the exponent.
    pub mantissa: usize,
}

/// Groups of nine digits that MySQL reads.
const GROUPS_READ: i64 = 9;

impl Decimal {
    /// Parses the longest numeric prefix of `text` (leading spaces allowed, exponent allowed).
    pub fn parse_prefix(text: &[u8]) -> Parsed {
        let mut at = text.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        let negative = text.get(at) == Some(&b'-');
        if matches!(text.get(at), Some(b'-' | b'+')) {
            at += 1;
        }
        let mut digits: Vec<u8> = Vec::new();
        let mut scale: i32 = 0;
        let mut seen = false;
        let mut after_point = false;
        while let Some(&byte) = text.get(at) {
            match byte {
                b'0'..=b'9' => {
                    seen = true;
                    digits.push(byte - b'0');
                    scale += i32::from(after_point);
                }
                b'.' if !after_point => after_point = true,
                _ => break,
            }
            at += 1;
        }
        if !seen {
            return Parsed {
                value: Decimal::ZERO,
                consumed: 0,
                overflow: false,
                rounded: false,
                beyond: false,
                mantissa: 0,
            };
        }
        let mantissa = at;
        if let Some((exponent, used)) = parse_exponent(&text[at..]) {
            scale = scale.saturating_sub(exponent);
            at += used;
        }
        let (value, overflow, rounded) = Decimal::assemble(negative, &digits, scale);
        let zeros = digits.iter().take_while(|digit| **digit == 0).count();
        let whole = (digits.len() - zeros) as i64 - i64::from(scale);
        let groups = |digits: i64| (digits.max(0) + 8) / 9;
        let beyond = zeros < digits.len() && groups(whole) + groups(i64::from(scale)) > GROUPS_READ;
        Parsed { value, consumed: at, overflow, rounded, beyond, mantissa }
    }

    pub(super) fn assemble(negative: bool, digits: &[u8], scale: i32) -> (Decimal, bool, bool) {
        let significant = &digits[digits.iter().take_while(|digit| **digit == 0).count()..];
        if significant.is_empty() {
            return (Decimal::small(false, scale.clamp(0, 30) as u8, 0), false, false);
        }
        let integer_digits = significant.len() as i64 - i64::from(scale);
        if integer_digits > i64::from(MAX_PRECISION) {
            let mut largest = Decimal::max_value(MAX_PRECISION, 0);
            if negative {
                largest = largest.negate();
            }
            return (largest, true, false);
        }
        let wanted_scale = i64::from(scale)
            .clamp(0, i64::from(MAX_SCALE))
            .min(i64::from(MAX_PRECISION) - integer_digits.max(0));
        let kept = (integer_digits + wanted_scale).max(-1);
        let mut wide = Wide::ZERO;
        for position in 0..kept.max(0) {
            let digit = significant.get(position as usize).copied().unwrap_or(0);
            wide = wide.mul_small(10).add(&Wide::from_u128(u128::from(digit)));
        }
        let rounded;
        if kept >= 0 {
            let rest = significant.get(kept as usize..).unwrap_or(&[]);
            rounded = rest.iter().any(|digit| *digit != 0);
            if rest.first().is_some_and(|digit| *digit >= 5) {
                wide = wide.add(&Wide::from_u128(1));
            }
        } else {
            rounded = true;
        }
        let scale = wanted_scale as u8;
        let value = Decimal::from_wide(negative, scale, wide);
        (value, false, rounded)
    }

    /// Parses a whole text; `None` unless all of it is a number that fits.
    pub fn parse(text: &str) -> Option<Decimal> {
        let parsed = Decimal::parse_prefix(text.as_bytes());
        (parsed.consumed == text.len() && parsed.consumed > 0 && !parsed.overflow).then_some(parsed.value)
    }
}

fn parse_exponent(text: &[u8]) -> Option<(i32, usize)> {
    if !matches!(text.first(), Some(b'e' | b'E')) {
        return None;
    }
    let mut at = 1;
    let negative = text.get(at) == Some(&b'-');
    if matches!(text.get(at), Some(b'-' | b'+')) {
        at += 1;
    }
    let start = at;
    let mut exponent: i32 = 0;
    while let Some(digit @ b'0'..=b'9') = text.get(at) {
        exponent = exponent.saturating_mul(10).saturating_add(i32::from(digit - b'0')).min(100_000);
        at += 1;
    }
    (at > start).then_some((if negative { -exponent } else { exponent }, at))
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scale = usize::from(self.scale());
        let mut text = match self.small_digits() {
            Some(small) => small.to_string(),
            None => self.digits().to_decimal_text(),
        };
        if text.len() <= scale {
            text.insert_str(0, &"0".repeat(scale + 1 - text.len()));
        }
        if scale > 0 {
            text.insert(text.len() - scale, '.');
        }
        if self.is_negative() {
            text.insert(0, '-');
        }
        f.pad(&text)
    }
}
