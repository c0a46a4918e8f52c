//! Dates and times with MySQL's ranges: years 0000..=9999, zero dates, TIME to +-838:59:59, microseconds.
//!
//! ```text
//! Date      u32   (year * 13 + month) << 5 | day                   0 is '0000-00-00'
//! DateTime  u64   date << 37 | hour << 32 | minute << 26 | second << 20 | microsecond
//! Time      i64   signed microseconds
//! ```
//! All three compare as integers. Calendar arithmetic counts days as TO_DAYS does (0000-01-01 is day 1), by
//! the proleptic Gregorian rules of Howard Hinnant's `days_from_civil`. Fractional digits (`fsp`) ride along
//! for display only and do not take part in comparisons.

mod format;
mod interval;
mod parse;
mod time;
mod week;
mod zone;

pub use format::{PatternParts, format_by_pattern, parse_by_pattern};
pub use format::{day_name, month_name};
pub(crate) use interval::{HOUR_US, MINUTE_US};
pub use interval::{Interval, IntervalUnit, add_interval, extract, timestamp_difference};
pub use interval::{extract_clock, is_date_unit};
pub use parse::{
    DateRules, Delimiter, Temporal, is_shaped_as_moment, parse_date_time, parse_number, parse_time,
    says_moment,
};
use std::cmp::Ordering;
use std::fmt;
pub use week::{day_of_week, day_of_year, week_number, year_week};
pub use zone::{TimeZone, ZoneChange, adopt_system_zone, zone_changes, zone_names};

pub use time::Time;

/// Microseconds in a second.
pub const SECOND_US: i64 = 1_000_000;

/// Microseconds in a day.
pub const DAY_US: i64 = 86_400 * SECOND_US;

/// Largest magnitude of TIME: 838:59:59.
pub const TIME_MAX_US: i64 = (838 * 3600 + 59 * 60 + 59) * SECOND_US;

/// TO_DAYS('1970-01-01').
const EPOCH_DAY: i64 = 719_528;

/// A calendar date, possibly with zero parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Date(u32);

impl Date {
    /// '0000-00-00'.
    pub const ZERO: Date = Date(0);

    /// Packs the parts without checking them.
    pub fn from_parts(year: u32, month: u32, day: u32) -> Date {
        Date((year * 13 + month) << 5 | day)
    }

    /// The packed form, order preserving.
    pub fn packed(self) -> u32 {
        self.0
    }

    /// The inverse of [`Self::packed`].
    pub fn from_packed(packed: u32) -> Date {
        Date(packed)
    }

    /// Year, 0..=9999.
    pub fn year(self) -> u32 {
        (self.0 >> 5) / 13
    }

    /// Month, 0..=12.
    pub fn month(self) -> u32 {
        (self.0 >> 5) % 13
    }

    /// Day of month, 0..=31.
    pub fn day(self) -> u32 {
        self.0 & 31
    }

    /// True if month or day is zero: such a date is no day of the calendar.
    pub fn has_zero_part(self) -> bool {
        self.month() == 0 || self.day() == 0
    }

    /// True for a real day of the calendar.
    pub fn is_valid(self) -> bool {
        !self.has_zero_part() && self.month() <= 12 && self.day() <= days_in_month(self.year(), self.month())
    }

    /// Day number as TO_DAYS gives it.
    pub fn to_days(self) -> i64 {
        days_from_parts(self.year(), self.month(), self.day())
    }

    /// The inverse of [`Self::to_days`]; `None` outside 0000-01-01 ..= 9999-12-31.
    pub fn from_days(days: i64) -> Option<Date> {
        if !(1..=3_652_424).contains(&days) {
            return None;
        }
        // Year 0 is no leap year here, so its January and February sit one day later than the calendar's.
        let shifted = days - EPOCH_DAY + 719_468 - i64::from(days < 60);
        let era = shifted.div_euclid(146_097);
        let day_of_era = shifted.rem_euclid(146_097);
        let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let shifted_month = (5 * day_of_year + 2) / 153;
        let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
        let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
        let year = year_of_era + era * 400 + i64::from(month <= 2);
        Some(Date::from_parts(year as u32, month as u32, day as u32))
    }

    /// Midnight of the day.
    pub fn at_midnight(self) -> DateTime {
        DateTime { packed: u64::from(self.0) << 37, fsp: 0 }
    }

    /// The number YYYYMMDD.
    pub fn to_number(self) -> i64 {
        i64::from(self.year()) * 10_000 + i64::from(self.month()) * 100 + i64::from(self.day())
    }
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}-{:02}", self.year(), self.month(), self.day())
    }
}

/// Days in a month of a year; 31 for month 0.
pub fn days_in_month(year: u32, month: u32) -> u32 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if is_leap_year(year) => 29,
        2 => 28,
        _ => 31,
    }
}

/// Gregorian leap years; year 0 is one for MySQL's arithmetic only from 1 on.
pub fn is_leap_year(year: u32) -> bool {
    year.is_multiple_of(4) && (!year.is_multiple_of(100) || (year.is_multiple_of(400) && year != 0))
}

fn days_from_parts(year: u32, month: u32, day: u32) -> i64 {
    if year == 0 && month == 0 && day == 0 {
        return 0;
    }
    let early_year_zero = i64::from(year == 0 && month <= 2);
    let year = i64::from(year) - i64::from(month <= 2);
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let month = i64::from(month);
    let shifted_month = if month > 2 { month - 3 } else { month + 9 };
    let day_of_year = (153 * shifted_month + 2) / 5 + i64::from(day) - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468 + EPOCH_DAY + early_year_zero
}

/// A date with a time of day.
#[derive(Debug, Clone, Copy, Default)]
pub struct DateTime {
    packed: u64,
    /// Fractional digits to show, 0..=6.
    pub fsp: u8,
}

impl DateTime {
    /// '0000-00-00 00:00:00'.
    pub const ZERO: DateTime = DateTime { packed: 0, fsp: 0 };

    /// Packs the parts without checking them.
    pub fn from_parts(
        date: Date,
        hour: u32,
        minute: u32,
        second: u32,
        microsecond: u32,
        fsp: u8,
    ) -> DateTime {
        let clock = u64::from(hour) << 32
            | u64::from(minute) << 26
            | u64::from(second) << 20
            | u64::from(microsecond);
        DateTime { packed: u64::from(date.0) << 37 | clock, fsp }
    }

    /// The packed form, order preserving.
    pub fn packed(self) -> u64 {
        self.packed
    }

    /// The inverse of [`Self::packed`].
    pub fn from_packed(packed: u64, fsp: u8) -> DateTime {
        DateTime { packed, fsp }
    }

    /// The date part.
    pub fn date(self) -> Date {
        Date((self.packed >> 37) as u32)
    }

    /// Hour, 0..=23.
    pub fn hour(self) -> u32 {
        (self.packed >> 32 & 31) as u32
    }

    /// Minute.
    pub fn minute(self) -> u32 {
        (self.packed >> 26 & 63) as u32
    }

    /// Second.
    pub fn second(self) -> u32 {
        (self.packed >> 20 & 63) as u32
    }

    /// Microsecond.
    pub fn microsecond(self) -> u32 {
        (self.packed & 0xF_FFFF) as u32
    }

    /// Microseconds since midnight.
    pub fn time_of_day_us(self) -> i64 {
        (i64::from(self.hour()) * 3600 + i64::from(self.minute()) * 60 + i64::from(self.second())) * SECOND_US
            + i64::from(self.microsecond())
    }

    /// The time of day.
    pub fn time(self) -> Time {
        Time { us: self.time_of_day_us(), fsp: self.fsp }
    }

    /// Microseconds on a continuous scale whose day 0 is TO_DAYS 0.
    pub fn to_linear_us(self) -> i64 {
        self.date().to_days() * DAY_US + self.time_of_day_us()
    }

    /// The inverse of [`Self::to_linear_us`]; `None` outside the years 0..=9999.
    pub fn from_linear_us(us: i64, fsp: u8) -> Option<DateTime> {
        let date = Date::from_days(us.div_euclid(DAY_US))?;
        let rest = us.rem_euclid(DAY_US);
        let seconds = rest / SECOND_US;
        Some(DateTime::from_parts(
            date,
            (seconds / 3600) as u32,
            (seconds / 60 % 60) as u32,
            (seconds % 60) as u32,
            (rest % SECOND_US) as u32,
            fsp,
        ))
    }

    /// From microseconds since 1970-01-01 00:00:00.
    pub fn from_unix_us(us: i64, fsp: u8) -> Option<DateTime> {
        DateTime::from_linear_us(us.checked_add(EPOCH_DAY * DAY_US)?, fsp)
    }

    /// Microseconds since 1970-01-01 00:00:00.
    pub fn to_unix_us(self) -> i64 {
        self.to_linear_us() - EPOCH_DAY * DAY_US
    }

    /// Rounded to `fsp` fractional digits; `None` when rounding passes the end of year 9999.
    pub fn round_to(self, fsp: u8) -> Option<DateTime> {
        let microsecond = i64::from(self.microsecond());
        let rounded = round_us(microsecond, fsp);
        if rounded == microsecond {
            return Some(DateTime { packed: self.packed, fsp });
        }
        if rounded < SECOND_US {
            return Some(DateTime { packed: self.packed & !0xF_FFFF | rounded as u64, fsp });
        }
        if self.date().has_zero_part() {
            return None;
        }
        DateTime::from_linear_us(self.to_linear_us() - microsecond + rounded, fsp)
    }

    /// Cut to `fsp` fractional digits.
    pub fn truncate_to(self, fsp: u8) -> DateTime {
        let microsecond = u64::from(self.microsecond());
        let unit = fraction_unit(fsp) as u64;
        DateTime { packed: self.packed & !0xF_FFFF | (microsecond / unit * unit), fsp }
    }

    /// The number YYYYMMDDhhmmss, without the fraction.
    pub fn to_number(self) -> i64 {
        self.date().to_number() * 1_000_000
            + i64::from(self.hour()) * 10_000
            + i64::from(self.minute()) * 100
            + i64::from(self.second())
    }
}

/// Microseconds that one unit of the last of `fsp` digits stands for.
pub fn fraction_unit(fsp: u8) -> i64 {
    10i64.pow(6 - u32::from(fsp.min(6)))
}

fn round_us(us: i64, fsp: u8) -> i64 {
    let unit = fraction_unit(fsp);
    let magnitude = (us.abs() + unit / 2) / unit * unit;
    if us < 0 { -magnitude } else { magnitude }
}

impl PartialEq for DateTime {
    fn eq(&self, other: &Self) -> bool {
        self.packed == other.packed
    }
}

impl Eq for DateTime {}

impl PartialOrd for DateTime {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for DateTime {
    fn cmp(&self, other: &Self) -> Ordering {
        self.packed.cmp(&other.packed)
    }
}

fn write_fraction(f: &mut fmt::Formatter<'_>, microsecond: i64, fsp: u8) -> fmt::Result {
    if fsp == 0 {
        return Ok(());
    }
    let fsp = fsp.min(6);
    write!(f, ".{:0width$}", microsecond / fraction_unit(fsp), width = usize::from(fsp))
}

impl fmt::Display for DateTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {:02}:{:02}:{:02}", self.date(), self.hour(), self.minute(), self.second())?;
        write_fraction(f, i64::from(self.microsecond()), self.fsp)
    }
}
