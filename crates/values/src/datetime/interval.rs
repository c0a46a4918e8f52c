//! INTERVAL arithmetic, EXTRACT and TIMESTAMPDIFF.

use super::{DAY_US, Date, DateTime, SECOND_US, Time, days_in_month};
use crate::context::EvalContext;
use crate::error::SqlResult;
use crate::value::{Value, to_bytes, to_decimal, to_i64};

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

const MINUTE_US: i64 = 60 * SECOND_US;
const HOUR_US: i64 = 60 * MINUTE_US;

/// Units of the fields of a compound interval, largest first; `None` for simple units.
fn fields(unit: IntervalUnit) -> Option<&'static [i64]> {
    use IntervalUnit as U;
    Some(match unit {
        U::SecondMicrosecond => &[SECOND_US, 1],
        U::MinuteMicrosecond => &[MINUTE_US, SECOND_US, 1],
        U::MinuteSecond => &[MINUTE_US, SECOND_US],
        U::HourMicrosecond => &[HOUR_US, MINUTE_US, SECOND_US, 1],
        U::HourSecond => &[HOUR_US, MINUTE_US, SECOND_US],
        U::HourMinute => &[HOUR_US, MINUTE_US],
        U::DayMicrosecond => &[DAY_US, HOUR_US, MINUTE_US, SECOND_US, 1],
        U::DaySecond => &[DAY_US, HOUR_US, MINUTE_US, SECOND_US],
        U::DayMinute => &[DAY_US, HOUR_US, MINUTE_US],
        U::DayHour => &[DAY_US, HOUR_US],
        _ => return None,
    })
}

/// True if the unit changes only the date, never the time of day.
pub fn is_date_unit(unit: IntervalUnit) -> bool {
    use IntervalUnit as U;
    matches!(unit, U::Day | U::Week | U::Month | U::Quarter | U::Year | U::YearMonth)
}

/// Reads the amount of an INTERVAL; `None` for NULL or an amount out of range.
pub fn interval_from_value(
    amount: &Value,
    unit: IntervalUnit,
    context: &EvalContext<'_>,
) -> SqlResult<Option<Interval>> {
    use IntervalUnit as U;
    if amount.is_null() {
        return Ok(None);
    }
    if let Some(units) = fields(unit) {
        return Ok(compound(&to_bytes(amount), units, unit).map(|us| Interval { months: 0, us }));
    }
    if unit == U::YearMonth {
        let months = compound_numbers(&to_bytes(amount), 2)
            .and_then(|(negative, parts)| signed(negative, parts[0].checked_mul(12)?.checked_add(parts[1])?));
        return Ok(months.map(|months| Interval { months, us: 0 }));
    }
    if unit == U::Second {
        let seconds = to_decimal(amount, context)?.round_to(6);
        let us = seconds.to_scaled_i128().and_then(|us| i64::try_from(us).ok());
        return Ok(us.map(|us| Interval { months: 0, us }));
    }
    let count = to_i64(amount, context)?;
    let (months, us) = match unit {
        U::Microsecond => (0, 1),
        U::Minute => (0, MINUTE_US),
        U::Hour => (0, HOUR_US),
        U::Day => (0, DAY_US),
        U::Week => (0, 7 * DAY_US),
        U::Month => (1, 0),
        U::Quarter => (3, 0),
        _ => (12, 0),
    };
    let months = count.checked_mul(months).filter(|months| months.unsigned_abs() < 1_000_000);
    Ok(months.zip(count.checked_mul(us)).map(|(months, us)| Interval { months, us }))
}

fn signed(negative: bool, number: i64) -> Option<i64> {
    Some(if negative { number.checked_neg()? } else { number })
}

fn compound(text: &[u8], units: &[i64], unit: IntervalUnit) -> Option<i64> {
    let (negative, mut parts) = compound_numbers(text, units.len())?;
    let has_microseconds = units.last() == Some(&1);
    if has_microseconds {
        // The last field is a fraction: '1.5' SECOND_MICROSECOND is half a second.
        let digits = text.iter().rev().take_while(|byte| byte.is_ascii_digit()).count() as u32;
        if digits < 6
            && let Some(last) = parts.last_mut()
        {
            *last = last.checked_mul(10i64.pow(6 - digits))?;
        }
    }
    let _ = unit;
    let mut total = 0i64;
    for (part, scale) in parts.iter().zip(units) {
        total = total.checked_add(part.checked_mul(*scale)?)?;
    }
    signed(negative, total)
}

/// Numbers of a compound amount, right aligned to `count` fields: '5' HOUR_SECOND is five seconds.
fn compound_numbers(text: &[u8], count: usize) -> Option<(bool, Vec<i64>)> {
    let negative = text.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'-');
    let mut numbers = Vec::new();
    let mut at = 0;
    while at < text.len() {
        if text[at].is_ascii_digit() {
            let mut number = 0i64;
            while at < text.len() && text[at].is_ascii_digit() {
                number = number.checked_mul(10)?.checked_add(i64::from(text[at] - b'0'))?;
                at += 1;
            }
            numbers.push(number);
        } else {
            at += 1;
        }
    }
    if numbers.len() > count {
        return None;
    }
    while numbers.len() < count {
        numbers.insert(0, 0);
    }
    Some((negative, numbers))
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
