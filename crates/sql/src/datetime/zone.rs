//! Session time zones: UTC (which SYSTEM means here) and fixed offsets. Named zones need zone tables and are refused.

use super::{DateTime, SECOND_US};
use crate::error::{SqlError, SqlResult};

/// A fixed offset from UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TimeZone {
    /// Seconds east of UTC.
    pub offset_seconds: i32,
}

impl TimeZone {
    /// UTC.
    pub const UTC: TimeZone = TimeZone { offset_seconds: 0 };

    /// Parses the value of `time_zone`: SYSTEM, UTC, or `[+-]hh:mm` between -13:59 and +14:00.
    pub fn parse(text: &str) -> SqlResult<TimeZone> {
        if text.eq_ignore_ascii_case("system") || text.eq_ignore_ascii_case("utc") {
            return Ok(TimeZone::UTC);
        }
        parse_offset(text)
            .map(|offset_seconds| TimeZone { offset_seconds })
            .ok_or_else(|| SqlError::unknown_time_zone(text))
    }

    /// A UTC moment as this zone's wall clock shows it. The zero date stays zero.
    pub fn from_utc(self, utc: DateTime) -> DateTime {
        self.shift(utc, i64::from(self.offset_seconds))
    }

    /// The UTC moment of a wall clock reading in this zone.
    pub fn to_utc(self, local: DateTime) -> DateTime {
        self.shift(local, -i64::from(self.offset_seconds))
    }

    fn shift(self, moment: DateTime, seconds: i64) -> DateTime {
        if seconds == 0 || moment.date().has_zero_part() {
            return moment;
        }
        DateTime::from_linear_us(moment.to_linear_us() + seconds * SECOND_US, moment.fsp).unwrap_or(moment)
    }
}

/// Seconds of `[+-]h[h]:mm`.
pub(super) fn parse_offset(text: &str) -> Option<i32> {
    let (negative, rest) = match text.as_bytes().first()? {
        b'+' => (false, &text[1..]),
        b'-' => (true, &text[1..]),
        _ => return None,
    };
    let (hours, minutes) = rest.split_once(':')?;
    let digits =
        |part: &str| !part.is_empty() && part.len() <= 2 && part.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(hours) || !digits(minutes) || minutes.len() != 2 {
        return None;
    }
    let (hours, minutes): (i32, i32) = (hours.parse().ok()?, minutes.parse().ok()?);
    let total = hours * 60 + minutes;
    if minutes > 59 || total > if negative { 13 * 60 + 59 } else { 14 * 60 } {
        return None;
    }
    Some(if negative { -total * 60 } else { total * 60 })
}
