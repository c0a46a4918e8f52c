//! Values as dates, moments and times, where functions and casts read them. Which impossible dates pass
//! depends on what is done with them, and a text is judged more strictly than a number; what does not pass is
//! NULL with warning 1292. A column's own dates do not warn.

use super::convert::apply_offset;
use super::{Value, to_bytes, to_date_time, to_decimal, to_text};
use crate::context::{EvalContext, SqlMode};
use crate::datetime::{self, Date, DateRules, DateTime, Temporal, Time};
use crate::datum::{shown, shown_value};
use crate::decimal::Decimal;
use crate::error::{SqlError, SqlResult};

/// What a date is read for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadFor {
    /// To be kept, as CAST does: `sql_mode` says what passes.
    Keeping,
    /// To show its parts, which may be zero.
    Parts,
    /// To count days: no part is zero, and days may pass the end of their month.
    Days,
    /// To find its place in the calendar: it is a real day.
    Calendar,
}

impl ReadFor {
    fn rules(self, is_text: bool, mode: SqlMode) -> DateRules {
        let invalid = mode.has(SqlMode::ALLOW_INVALID_DATES) || !is_text;
        match self {
            ReadFor::Keeping => DateRules {
                zero_in_date: !mode.has(SqlMode::NO_ZERO_IN_DATE),
                zero_date: !mode.has(SqlMode::NO_ZERO_DATE),
                invalid: mode.has(SqlMode::ALLOW_INVALID_DATES),
            },
            ReadFor::Parts => DateRules {
                zero_in_date: true,
                zero_date: !(is_text && mode.has(SqlMode::NO_ZERO_DATE)),
                invalid,
            },
            ReadFor::Days => DateRules { zero_in_date: false, zero_date: false, invalid },
            ReadFor::Calendar => DateRules { zero_in_date: false, zero_date: false, invalid: false },
        }
    }
}

/// The word for it in warnings.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Date,
    Moment,
}

/// The day of a value.
pub fn read_date(value: &Value, purpose: ReadFor, context: &EvalContext<'_>) -> SqlResult<Option<Date>> {
    Ok(read(value, Kind::Date, purpose, context)?.map(DateTime::date))
}

/// The moment of a value.
pub fn read_moment(
    value: &Value,
    purpose: ReadFor,
    context: &EvalContext<'_>,
) -> SqlResult<Option<DateTime>> {
    read(value, Kind::Moment, purpose, context)
}

fn read(
    value: &Value,
    kind: Kind,
    purpose: ReadFor,
    context: &EvalContext<'_>,
) -> SqlResult<Option<DateTime>> {
    let mode = context.settings.sql_mode;
    let own = |moment: DateTime| {
        let rules = DateRules { invalid: purpose != ReadFor::Calendar, ..purpose.rules(false, mode) };
        rules.allow(moment.date()).then_some(moment)
    };
    match value {
        Value::Null => Ok(None),
        Value::DateTime(moment) => Ok(own(*moment)),
        Value::Date(date) => Ok(own(date.at_midnight())),
        // No time of day: the day is that of the moment which is so far from now.
        Value::Time(time) if kind == Kind::Date && !(0..datetime::DAY_US).contains(&time.us) => {
            let moment = context.now().to_linear_us().saturating_add(time.us);
            Ok(DateTime::from_linear_us(moment, time.fsp))
        }
        Value::Time(_) => to_date_time(value, context),
        Value::Str(_) | Value::Bytes(_) | Value::Enum(_) | Value::Json(_) => {
            let text = to_bytes(value);
            let parsed = datetime::parse_date_time(&text, purpose.rules(true, mode));
            match parsed {
                None => context.warn(misread_text(kind, shown_value(value)))?,
                Some(found) => {
                    if found.truncated {
                        let is_day = kind == Kind::Date || !found.has_time;
                        let word = if is_day { "date" } else { "datetime" };
                        context.warn(SqlError::truncated_wrong_value(word, shown_value(value)))?;
                    }
                    tell_delimiter(&found, &text, 1, context);
                }
            }
            Ok(parsed.map(|found| apply_offset(found.moment, found.offset_seconds, context)))
        }
        number => {
            let moment = number_as_moment(number, kind, purpose.rules(false, mode), context)?;
            if moment.is_none() {
                context.warn(misread_number(kind, number))?;
            }
            Ok(moment)
        }
    }
}

fn misread_text(kind: Kind, text: String) -> SqlError {
    match kind {
        Kind::Date => SqlError::truncated_wrong_value("date", text),
        Kind::Moment => SqlError::incorrect_value("datetime", text),
    }
}

/// Whole numbers are called moments even where a day is wanted.
fn misread_number(kind: Kind, number: &Value) -> SqlError {
    match number {
        Value::UInt(whole) => SqlError::incorrect_value("datetime", *whole as i64),
        Value::Int(whole) => SqlError::incorrect_value("datetime", whole),
        Value::Double(double) if double.abs() < i64::MAX as f64 => {
            SqlError::incorrect_value("datetime", to_text(number))
        }
        other => misread_text(kind, shown_value(other)),
    }
}

/// Warns of a delimiter that is deprecated.
pub fn tell_delimiter(found: &Temporal, text: &[u8], row: u64, context: &EvalContext<'_>) {
    if let Some(warning) = delimiter_warning(found, text, row) {
        context.note(warning);
    }
}

/// What there is to tell of a delimiter that is deprecated.
pub fn delimiter_warning(found: &Temporal, text: &[u8], row: u64) -> Option<SqlError> {
    let delimiter = found.delimiter?;
    let sign = match delimiter.found {
        b'\n' => "\\n".to_owned(),
        b'\t' => "\\t".to_owned(),
        b'\r' => "\\r".to_owned(),
        byte => char::from(byte).to_string(),
    };
    let (at, text) = (delimiter.at, shown(text));
    Some(match delimiter.standard {
        Some(standard) => SqlError::deprecated_delimiter(sign, at, text, row, standard),
        None => SqlError::superfluous_delimiter(sign, at, text, row),
    })
}

/// The whole part of a number that may be a date; one beyond 64 bits is none.
fn whole_of(number: &Value, context: &EvalContext<'_>) -> SqlResult<Option<i64>> {
    Ok(match number {
        Value::Int(whole) => Some(*whole),
        // As MySQL reads it.
        Value::UInt(whole) => Some(*whole as i64),
        other => to_decimal(other, context)?.truncate_places(0).to_i64(),
    })
}

/// Microseconds behind the point, and how many digits they are written with.
fn fraction_of(number: &Value, context: &EvalContext<'_>) -> SqlResult<(i64, u8)> {
    let exact = match number {
        Value::Int(_) | Value::UInt(_) => return Ok((0, 0)),
        other => to_decimal(other, context)?,
    };
    let fraction = exact.sub(&exact.truncate_places(0)).unwrap_or(Decimal::ZERO).round_to(6);
    Ok((fraction.to_scaled_i128().unwrap_or(0) as i64, exact.scale().min(6)))
}

fn number_as_moment(
    number: &Value,
    kind: Kind,
    rules: DateRules,
    context: &EvalContext<'_>,
) -> SqlResult<Option<DateTime>> {
    let Some(whole) = whole_of(number, context)? else { return Ok(None) };
    // Up to two digits are a day of no month, where a day is wanted, and 100 is no day of the first.
    if kind == Kind::Date && matches!(whole, 0..=31 | 100) {
        let day = Date::from_parts(2000, whole as u32 / 100, whole as u32 % 100);
        return Ok(rules.allow(day).then(|| day.at_midnight()));
    }
    let Some(parsed) = datetime::parse_number(whole, rules) else { return Ok(None) };
    // A day has no fraction.
    let (us, fsp) =
        if parsed.has_time { fraction_of(number, context)? } else { (0, fraction_of(number, context)?.1) };
    let mut moment = parsed.moment;
    moment.fsp = fsp;
    Ok(if us == 0 { Some(moment) } else { DateTime::from_linear_us(moment.to_linear_us() + us, fsp) })
}

/// The number hhmmss as a time, or YYYYMMDDhhmmss as the time of that day. None for what is neither.
pub(super) fn number_as_time(number: &Value, context: &EvalContext<'_>) -> SqlResult<Option<Time>> {
    const CLOCK_MAX: i64 = 8_385_959;
    const MOMENT_MIN: i64 = 10_000_000_000;
    let Some(whole) = whole_of(number, context)? else { return Ok(None) };
    if whole >= MOMENT_MIN {
        let moment = number_as_moment(number, Kind::Moment, DateRules::LENIENT, context)?;
        return Ok(moment.map(DateTime::time));
    }
    let Ok(clock) = i64::try_from(whole.unsigned_abs()) else { return Ok(None) };
    let (hour, minute, second) = (clock / 10_000, clock / 100 % 100, clock % 100);
    if clock > CLOCK_MAX || minute > 59 || second > 59 {
        return Ok(None);
    }
    let (us, fsp) = fraction_of(number, context)?;
    let magnitude = (hour * 3600 + minute * 60 + second) * datetime::SECOND_US + us.abs();
    let negative = whole < 0 || us < 0;
    Ok(Some(Time::clamped(if negative { -magnitude } else { magnitude }, fsp)))
}

/// A value as a moment if it is one, else as a time.
pub enum MomentOrTime {
    /// It has a day.
    Moment(DateTime),
    /// It has none.
    Time(Time),
}

/// Reads what ADDTIME and its kin take: a text is a time if the whole of it is one, else a moment, else as
/// much of a time as it begins with.
pub fn read_moment_or_time(value: &Value, context: &EvalContext<'_>) -> SqlResult<Option<MomentOrTime>> {
    let rules = DateRules { invalid: true, ..DateRules::LENIENT };
    match value {
        Value::Null => Ok(None),
        Value::DateTime(moment) => Ok(Some(MomentOrTime::Moment(*moment))),
        Value::Date(date) => Ok(Some(MomentOrTime::Moment(date.at_midnight()))),
        Value::Time(time) => Ok(Some(MomentOrTime::Time(*time))),
        Value::Str(_) | Value::Bytes(_) | Value::Enum(_) | Value::Json(_) => {
            let text = to_bytes(value);
            let time = datetime::parse_time(&text);
            let has_day = datetime::is_shaped_as_moment(&text);
            if let Some((time, false)) = time
                && !has_day
            {
                return Ok(Some(MomentOrTime::Time(time)));
            }
            if let Some(found) = datetime::parse_date_time(&text, rules) {
                tell_delimiter(&found, &text, 1, context);
                let moment = apply_offset(found.moment, found.offset_seconds, context);
                return Ok(Some(MomentOrTime::Moment(moment)));
            }
            context.warn(match time {
                Some(_) => SqlError::truncated_wrong_value("time", shown_value(value)),
                None => SqlError::incorrect_value("datetime", shown_value(value)),
            })?;
            Ok(time.map(|(time, _)| MomentOrTime::Time(time)))
        }
        number => {
            if whole_of(number, context)?.is_none_or(|whole| whole < 10_000_000_000)
                && let Some(time) = number_as_time(number, context)?
            {
                return Ok(Some(MomentOrTime::Time(time)));
            }
            let moment = number_as_moment(number, Kind::Moment, rules, context)?;
            if moment.is_none() {
                context.warn(SqlError::truncated_wrong_value("time", to_text(number)))?;
            }
            Ok(moment.map(MomentOrTime::Moment))
        }
    }
}

/// Reads what EXTRACT takes the parts of a clock of: a moment if the whole of the text is one written as it
/// should be, else a time.
pub fn read_clock(value: &Value, context: &EvalContext<'_>) -> SqlResult<Option<MomentOrTime>> {
    let mode = context.settings.sql_mode;
    match value {
        Value::Str(_) | Value::Bytes(_) | Value::Enum(_) | Value::Json(_) => {
            let text = to_bytes(value);
            let rules = DateRules { invalid: true, ..DateRules::LENIENT };
            let found = datetime::parse_date_time(&text, rules);
            match found.filter(|found| !found.truncated && found.delimiter.is_none()) {
                Some(found) if ReadFor::Parts.rules(true, mode).allow(found.moment.date()) => {
                    let moment = apply_offset(found.moment, found.offset_seconds, context);
                    Ok(Some(MomentOrTime::Moment(moment)))
                }
                Some(_) => {
                    context.warn(SqlError::incorrect_value("datetime", shown_value(value)))?;
                    Ok(None)
                }
                None => Ok(super::to_time(value, context)?.map(MomentOrTime::Time)),
            }
        }
        Value::Int(_) | Value::UInt(_) | Value::Decimal(_) | Value::Double(_) => {
            let rules = ReadFor::Parts.rules(false, mode);
            match number_as_moment(value, Kind::Moment, rules, context)? {
                Some(moment) => Ok(Some(MomentOrTime::Moment(moment))),
                None => Ok(super::to_time(value, context)?.map(MomentOrTime::Time)),
            }
        }
        own => read_moment_or_time(own, context),
    }
}
