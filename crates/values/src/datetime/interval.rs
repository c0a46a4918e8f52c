//! INTERVAL arithmetic, EXTRACT and TIMESTAMPDIFF.

use super::{DAY_US, Date, DateTime, SECOND_US, Time, days_in_month};

/// Units of INTERVAL, EXTRACT and TIMESTAMPDIFF.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the variants are SQL's own words")]
pub enum IntervalUnit {
    Microsecond,
    Second,
    Minute,
    Hour,
    Day,
    Week,
    Month,
    Quarter,
    Year,
    SecondMicrosecond,
    MinuteMicrosecond,
    MinuteSecond,
    HourMicrosecond,
    HourSecond,
    HourMinute,
    DayMicrosecond,
    DaySecond,
    DayMinute,
    DayHour,
    YearMonth,
}

/// An amount of calendar months and of exact time; signs agree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Interval {
    /// Months, years counted as twelve.
    pub months: i64,
    /// Microseconds, days counted as 24 hours.
    pub us: i64,
}

impl Interval {
    /// The interval backwards.
    pub fn negated(self) -> Interval {
        // Both are far beyond all dates where this saturates.
        Interval { months: self.months.saturating_neg(), us: self.us.saturating_neg() }
    }
}

pub(crate) const MINUTE_US: i64 = 60 * SECOND_US;
pub(crate) const HOUR_US: i64 = 60 * MINUTE_US;

/// True if the unit changes only the date, never the time of day.
pub fn is_date_unit(unit: IntervalUnit) -> bool {
    use IntervalUnit as U;
    matches!(unit, U::Day | U::Week | U::Month | U::Quarter | U::Year | U::YearMonth)
}

/// A moment plus an interval; `None` when the result leaves the years 0..=9999 or the date has zero parts.
pub fn add_interval(moment: DateTime, interval: Interval) -> Option<DateTime> {
    let mut date = moment.date();
    if interval.months != 0 {
        if date.month() == 0 {
            return None;
        }
        let months = i64::from(date.year()) * 12 + i64::from(date.month()) - 1;
        let months = months.saturating_add(interval.months);
        if !(0..120_000).contains(&months) {
            return None;
        }
        let (year, month) = ((months / 12) as u32, (months % 12) as u32 + 1);
        date = Date::from_parts(year, month, date.day().min(days_in_month(year, month)));
    }
    if interval.us == 0 {
        let clock = (moment.hour(), moment.minute(), moment.second(), moment.microsecond());
        return Some(DateTime::from_parts(date, clock.0, clock.1, clock.2, clock.3, moment.fsp));
    }
    if date.has_zero_part() {
        return None;
    }
    let linear = (date.to_days() * DAY_US + moment.time_of_day_us()).checked_add(interval.us)?;
    DateTime::from_linear_us(linear, moment.fsp)
}

/// One part of a moment as EXTRACT gives it.
pub fn extract(unit: IntervalUnit, moment: DateTime) -> i64 {
    use IntervalUnit as U;
    let date = moment.date();
    match unit {
        U::Year => i64::from(date.year()),
        U::Quarter => i64::from(date.month().div_ceil(3)),
        U::Month => i64::from(date.month()),
        U::Week => i64::from(super::week_number(date, 0)),
        U::Day => i64::from(date.day()),
        U::YearMonth => i64::from(date.year()) * 100 + i64::from(date.month()),
        other => {
            let day = i64::from(date.day());
            extract_clock(other, Time { us: moment.time_of_day_us(), fsp: moment.fsp }, day)
        }
    }
}

/// One clock part of a time, with `day` in front for the DAY_ units.
pub fn extract_clock(unit: IntervalUnit, time: Time, day: i64) -> i64 {
    use IntervalUnit as U;
    let (hour, minute, second, us) = time.parts();
    let (hour, minute, second, us) = (i64::from(hour), i64::from(minute), i64::from(second), i64::from(us));
    let clock = hour * 10_000 + minute * 100 + second;
    let number = match unit {
        U::Hour => hour,
        U::Minute => minute,
        U::Second => second,
        U::Microsecond => us,
        U::SecondMicrosecond => second * SECOND_US + us,
        U::MinuteMicrosecond => (minute * 100 + second) * SECOND_US + us,
        U::MinuteSecond => minute * 100 + second,
        U::HourMicrosecond => clock * SECOND_US + us,
        U::HourSecond => clock,
        U::HourMinute => hour * 100 + minute,
        U::DayMicrosecond => (day * 1_000_000 + clock) * SECOND_US + us,
        U::DaySecond => day * 1_000_000 + clock,
        U::DayMinute => day * 10_000 + hour * 100 + minute,
        U::DayHour => day * 100 + hour,
        _ => day,
    };
    if time.us < 0 { -number } else { number }
}

/// TIMESTAMPDIFF: whole units from `from` to `to`.
pub fn timestamp_difference(unit: IntervalUnit, from: DateTime, to: DateTime) -> i64 {
    use IntervalUnit as U;
    let us = to.to_linear_us() - from.to_linear_us();
    match unit {
        U::Microsecond => us,
        U::Second => us / SECOND_US,
        U::Minute => us / MINUTE_US,
        U::Hour => us / HOUR_US,
        U::Day => us / DAY_US,
        U::Week => us / (7 * DAY_US),
        _ => {
            let (early, late, sign) = if us < 0 { (to, from, -1) } else { (from, to, 1) };
            let months =
                |moment: DateTime| i64::from(moment.date().year()) * 12 + i64::from(moment.date().month());
            let within = |moment: DateTime| (moment.date().day(), moment.time_of_day_us());
            let whole = months(late) - months(early) - i64::from(within(late) < within(early));
            let size = match unit {
                U::Month => 1,
                U::Quarter => 3,
                _ => 12,
            };
            sign * (whole / size)
        }
    }
}
