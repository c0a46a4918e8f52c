//! TIME: a span or a time of day.

use std::cmp::Ordering;
use std::fmt;

use super::{SECOND_US, TIME_MAX_US, fraction_unit, round_us, write_fraction};

/// A span of time or a time of day, signed.
#[derive(Debug, Clone, Copy, Default)]
pub struct Time {
    /// Signed microseconds.
    pub us: i64,
    /// Fractional digits to show, 0..=6.
    pub fsp: u8,
}

impl Time {
    /// From signed microseconds, clamped to +-838:59:59.
    pub fn clamped(us: i64, fsp: u8) -> Time {
        Time { us: us.clamp(-TIME_MAX_US, TIME_MAX_US), fsp }
    }

    /// Rounded to `fsp` digits and clamped.
    pub fn round_to(self, fsp: u8) -> Time {
        Time::clamped(round_us(self.us, fsp), fsp)
    }

    /// Cut to `fsp` fractional digits.
    pub fn truncate_to(self, fsp: u8) -> Time {
        let unit = fraction_unit(fsp);
        Time { us: self.us / unit * unit, fsp }
    }

    /// Hours, minutes, seconds, microseconds of the magnitude.
    pub fn parts(self) -> (u32, u32, u32, u32) {
        let magnitude = self.us.unsigned_abs();
        let seconds = magnitude / SECOND_US as u64;
        (
            (seconds / 3600) as u32,
            (seconds / 60 % 60) as u32,
            (seconds % 60) as u32,
            (magnitude % SECOND_US as u64) as u32,
        )
    }

    /// The number hhmmss with the sign, without the fraction.
    pub fn to_number(self) -> i64 {
        let (hour, minute, second, _) = self.parts();
        let number = i64::from(hour) * 10_000 + i64::from(minute) * 100 + i64::from(second);
        if self.us < 0 { -number } else { number }
    }
}

impl PartialEq for Time {
    fn eq(&self, other: &Self) -> bool {
        self.us == other.us
    }
}

impl Eq for Time {}

impl PartialOrd for Time {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Time {
    fn cmp(&self, other: &Self) -> Ordering {
        self.us.cmp(&other.us)
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (hour, minute, second, microsecond) = self.parts();
        if self.us < 0 {
            write!(f, "-")?;
        }
        write!(f, "{hour:02}:{minute:02}:{second:02}")?;
        write_fraction(f, i64::from(microsecond), self.fsp)
    }
}
