//! The amount of an INTERVAL, read from a value.

use super::{to_decimal, to_i64};
use crate::context::EvalContext;
use crate::datetime::{DAY_US, HOUR_US, Interval, IntervalUnit, MINUTE_US, SECOND_US};
use crate::datum::{Value, to_bytes};
use crate::error::SqlResult;

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

fn signed(negative: bool, number: i64) -> Option<i64> {
    Some(if negative { number.checked_neg()? } else { number })
}
