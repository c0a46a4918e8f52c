//! Whether a value may keep the type that was derived for its parameter, and what it becomes then.

use ParameterKind as Kind;
use turnstile_expr::expr::{Hold, MOMENT_MIN, ParameterKind, clock_of_number, whole_number};
use turnstile_values::datetime::{self, Date, DateRules};
use turnstile_values::decimal::Decimal;
use turnstile_values::value::{Value, parse_double_prefix, parse_integer_prefix};

use super::super::computed;
use super::{Derived, is_clock_for_text, is_read_first};

/// What a value is where another kind is expected.
pub(super) enum Fit {
    /// What is expected.
    Same,
    /// Of this kind, by itself or converted; what is expected holds for the others.
    As(ParameterKind, Option<Value>),
    /// Something else: each parameter is what its value is.
    Anew(ParameterKind, Option<Value>),
}

pub(super) fn is_misfit(kind: ParameterKind) -> bool {
    matches!(
        kind,
        Kind::NoInt
            | Kind::NoUInt
            | Kind::PastInt
            | Kind::NoYear
            | Kind::NoDecimal
            | Kind::NoDouble
            | Kind::NoMicros
            | Kind::NoClock
            | Kind::Today
            | Kind::NoMoment
            | Kind::NoDate
            | Kind::NoTime
    )
}

pub(super) fn fit(derived: Derived, value: &Value) -> Fit {
    let actual = Kind::of(value);
    if is_clock_for_text(&derived, value) {
        return Fit::As(Kind::Text, Some(computed::stored_text(value)));
    }
    if is_read_first(&derived, value) {
        let text = value.as_raw_bytes().unwrap_or_default();
        return match derived.hold {
            Hold::Count => count_of(text),
            Hold::Joined => joined_as(derived.kind, text),
            _ => whole_of(derived.kind, text),
        };
    }
    let as_it_is = derived.hold.converts() || actual == derived.kind && !derived.hold.computes();
    if as_it_is || actual == Kind::Null {
        return Fit::Same;
    }
    if derived.hold.computes() {
        let whole = derived.kind == Kind::Date || derived.hold == Hold::Bits;
        return match computed::beside(derived.kind, value, whole) {
            Some((kind, value)) => Fit::As(kind, Some(value)),
            None if whole => Fit::As(Kind::NoInt, None),
            None if derived.kind == Kind::Time => Fit::As(Kind::NoClock, None),
            None => Fit::As(Kind::NoMicros, None),
        };
    }
    if derived.hold == Hold::Read {
        let said = match value {
            Value::Int(_) | Value::UInt(_) | Value::Double(_) | Value::Decimal(_)
                if derived.kind == Kind::DateTime =>
            {
                number_as(derived, value)
            }
            Value::DateTime(_) | Value::Date(_) => kept_as(derived, value),
            _ if actual == Kind::Text => moment_as(derived, value),
            _ => return Fit::As(actual, None),
        };
        return match said {
            Fit::As(kind, _) if is_misfit(kind) => Fit::As(actual, None),
            said => said,
        };
    }
    if actual == Kind::Text {
        return real_of_moment(derived.hold, value).unwrap_or_else(|| text_as(derived, value));
    }
    kept_as(derived, value)
}

/// A text that says a date or a time, as the DOUBLE that is computed with another.
fn real_of_moment(hold: Hold, value: &Value) -> Option<Fit> {
    let beside = match hold {
        Hold::RealOfDay => Kind::DateTime,
        Hold::RealOfTime => Kind::Time,
        _ => return None,
    };
    let (_, Value::Decimal(number)) = computed::beside(beside, value, false)? else { return None };
    Some(Fit::As(Kind::Double, Some(Value::Double(number.to_f64()))))
}

/// A value that is no text as what is expected.
fn kept_as(derived: Derived, value: &Value) -> Fit {
    match (derived.kind, value) {
        (Kind::Decimal, Value::Int(number)) => {
            Fit::As(Kind::Decimal, Some(Value::Decimal(Decimal::from(*number))))
        }
        (Kind::Decimal, Value::UInt(number)) => {
            Fit::As(Kind::Decimal, Some(Value::Decimal(Decimal::from(*number))))
        }
        (Kind::Double, Value::Int(number)) => Fit::As(Kind::Double, Some(Value::Double(*number as f64))),
        (Kind::Double, Value::UInt(number)) => Fit::As(Kind::Double, Some(Value::Double(*number as f64))),
        (Kind::Double, Value::Decimal(number)) => Fit::As(Kind::Double, Some(Value::Double(number.to_f64()))),
        (Kind::Bits, Value::UInt(_)) => Fit::As(Kind::UInt, None),
        (Kind::Year, Value::Int(_) | Value::UInt(_)) => Fit::As(Kind::Year, None),
        (Kind::DateTime, Value::Time(_)) if derived.hold == Hold::Argument => Fit::As(Kind::Today, None),
        (Kind::Time, Value::DateTime(moment)) => Fit::As(Kind::Time, Some(Value::Time(moment.time()))),
        // Beside times whole numbers have a sign.
        (Kind::Time, Value::UInt(number)) if *number > i64::MAX as u64 => {
            let signed = Value::Int(*number as i64);
            match number_as(derived, &signed) {
                Fit::As(kind, None) => Fit::As(kind, Some(signed)),
                said => said,
            }
        }
        (Kind::DateTime, Value::Date(date)) => {
            Fit::As(Kind::DateTime, Some(Value::DateTime(date.at_midnight())))
        }
        (
            Kind::DateTime | Kind::Date | Kind::Time,
            Value::Int(_) | Value::UInt(_) | Value::Double(_) | Value::Decimal(_),
        ) => number_as(derived, value),
        _ => Fit::Anew(Kind::of(value), None),
    }
}

/// A text as what is expected.
fn text_as(derived: Derived, value: &Value) -> Fit {
    let text = value.as_raw_bytes().unwrap_or_default();
    match derived.kind {
        Kind::Int | Kind::UInt | Kind::Bits | Kind::Year => integer_as(derived, text),
        Kind::Decimal => match spelt_number(text) {
            Some(Value::Int(number)) => Fit::As(Kind::Decimal, Some(Value::Decimal(Decimal::from(number)))),
            Some(Value::UInt(number)) => Fit::As(Kind::Decimal, Some(Value::Decimal(Decimal::from(number)))),
            Some(number) => Fit::As(Kind::Decimal, Some(number)),
            None => Fit::As(Kind::NoDecimal, None),
        },
        Kind::Double => match parse_double_prefix(text) {
            (number, true) => Fit::As(Kind::Double, Some(Value::Double(number))),
            // What says nothing is zero.
            _ if text.trim_ascii().is_empty() => Fit::As(Kind::Double, Some(Value::Double(0.0))),
            _ => Fit::As(Kind::NoDouble, None),
        },
        Kind::Date | Kind::Time | Kind::DateTime if matches!(derived.hold, Hold::Output | Hold::Argument) => {
            moment_as(derived, value)
        }
        Kind::Time => match moment_as(derived, value) {
            misfit @ Fit::As(Kind::NoTime, _) => misfit,
            _ => Fit::As(Kind::Text, None),
        },
        Kind::Date if derived.hold != Hold::Bounds => match moment_as(derived, value) {
            misfit @ Fit::As(Kind::NoDate, _) => misfit,
            _ => Fit::As(Kind::Text, None),
        },
        Kind::Bytes | Kind::FewBytes | Kind::OfNull => Fit::As(derived.kind, None),
        _ => Fit::As(Kind::Text, None),
    }
}

/// A text as the whole number that it spells. One with a sign or a fraction is a DECIMAL where it stands, but
/// beside BIT and YEAR a fraction is not read.
fn integer_as(derived: Derived, text: &[u8]) -> Fit {
    let unsigned = matches!(derived.kind, Kind::UInt | Kind::Bits);
    match spelt_number(text) {
        Some(Value::Int(number)) if number < 0 => {
            Fit::Anew(Kind::Decimal, Some(Value::Decimal(Decimal::from(number))))
        }
        Some(Value::Int(number)) if unsigned => Fit::As(Kind::UInt, Some(Value::UInt(number as u64))),
        Some(number @ Value::UInt(_)) if unsigned => Fit::As(Kind::UInt, Some(number)),
        Some(Value::UInt(number)) => Fit::Anew(Kind::Decimal, Some(Value::Decimal(Decimal::from(number)))),
        Some(number @ Value::Int(_)) => Fit::As(derived.kind, Some(number)),
        Some(number) if matches!(derived.kind, Kind::Int | Kind::UInt) => {
            Fit::Anew(Kind::Decimal, Some(number))
        }
        _ if unsigned => Fit::As(Kind::NoUInt, None),
        _ if derived.kind == Kind::Year && derived.hold == Hold::Output => Fit::As(Kind::NoYear, None),
        _ => Fit::As(Kind::NoInt, None),
    }
}

/// A text where a function or a cast takes a whole number: the number that it spells, rounded.
fn whole_of(kind: ParameterKind, text: &[u8]) -> Fit {
    match spelt_number(text) {
        Some(number @ Value::UInt(_)) if kind == Kind::UInt => Fit::As(Kind::UInt, Some(number)),
        Some(number @ Value::Int(_)) => Fit::As(Kind::Int, Some(number)),
        Some(Value::Decimal(number)) => {
            match number.round_to(0).to_scaled_i128().and_then(|whole| i64::try_from(whole).ok()) {
                Some(whole) => Fit::As(Kind::Int, Some(Value::Int(whole))),
                None => Fit::As(Kind::PastInt, None),
            }
        }
        Some(_) => Fit::As(Kind::PastInt, None),
        None => Fit::As(Kind::NoInt, None),
    }
}

/// A text that UNION gives a column of numbers: MySQL reads the number that it begins with, and tells nothing
/// of what follows it.
fn joined_as(kind: ParameterKind, text: &[u8]) -> Fit {
    if kind == Kind::Double {
        let (number, _) = parse_double_prefix(text);
        let begins = Decimal::parse_prefix(text).consumed > 0;
        return if begins { Fit::As(Kind::Double, Some(Value::Double(number))) } else { Fit::Same };
    }
    let (number, complete) = parse_integer_prefix(text);
    let is_year = matches!(number, 0..=99 | 1901..=2155);
    let number = match kind {
        Kind::Year if !(is_year || complete && number < 0) => 0,
        _ if complete || spelt_number(text).is_some() => return Fit::Same,
        Kind::UInt => number.max(0),
        _ => number,
    };
    let end = if number < 0 { i64::MIN } else { i64::MAX };
    Fit::As(Kind::Int, Some(Value::Int(i64::try_from(number).unwrap_or(end))))
}

/// A text where LIMIT counts rows: the whole number that it begins with, its sign read as bits.
fn count_of(text: &[u8]) -> Fit {
    let (number, _) = parse_integer_prefix(text);
    let count = match number < 0 {
        true => i64::try_from(number).unwrap_or(i64::MIN) as u64,
        false => u64::try_from(number).unwrap_or(u64::MAX),
    };
    Fit::As(Kind::UInt, Some(Value::UInt(count)))
}

/// A text as the date or the time that it says.
fn moment_as(derived: Derived, value: &Value) -> Fit {
    let text = value.as_raw_bytes().unwrap_or_default();
    if derived.kind == Kind::Time {
        return match datetime::parse_time(text) {
            Some((time, cut)) if !cut || derived.hold == Hold::Output => {
                Fit::As(Kind::Time, Some(Value::Time(time)))
            }
            Some(_) | None => Fit::As(Kind::NoTime, None),
        };
    }
    let rules = DateRules { invalid: true, ..DateRules::LENIENT };
    match datetime::parse_date_time(text, rules) {
        None if derived.kind == Kind::Date => Fit::As(Kind::NoDate, None),
        None => Fit::As(Kind::NoMoment, None),
        Some(parsed) if derived.kind == Kind::DateTime => {
            Fit::As(Kind::DateTime, Some(Value::DateTime(parsed.moment)))
        }
        Some(parsed) if parsed.has_time => Fit::Anew(Kind::DateTime, Some(Value::DateTime(parsed.moment))),
        Some(parsed) => Fit::As(Kind::Date, Some(Value::Date(parsed.moment.date()))),
    }
}

/// A number as the date or the time that it says. What says a time of day alone stays a number beside one.
fn number_as(derived: Derived, value: &Value) -> Fit {
    let rules = DateRules { invalid: true, ..DateRules::LENIENT };
    // What is behind the point is not read.
    let number = match value {
        Value::Decimal(number) => whole_number(&Value::Double(number.to_f64().trunc())),
        Value::Double(number) => whole_number(&Value::Double(number.trunc())),
        whole => whole_number(whole),
    };
    let said = number.and_then(|number| datetime::parse_number(number, rules));
    match (derived.kind, said, number) {
        (Kind::Time, Some(said), Some(MOMENT_MIN..)) => {
            Fit::As(Kind::Time, Some(Value::Time(said.moment.time())))
        }
        (Kind::Time, ..) => match clock_of_number(value) {
            None => Fit::As(Kind::NoTime, None),
            Some(_) if matches!(derived.hold, Hold::Output | Hold::Argument) => {
                moment_as(derived, &Value::text(turnstile_values::value::to_text(value)))
            }
            Some(_) => Fit::As(Kind::of(value), None),
        },
        (kind, Some(said), _) if said.has_time || kind == Kind::DateTime => {
            Fit::As(Kind::DateTime, Some(Value::DateTime(said.moment)))
        }
        (_, Some(said), _) => Fit::As(Kind::Date, Some(Value::Date(said.moment.date()))),
        // Of three digits or fewer a month may be 0.
        (Kind::Date, None, Some(day @ 1..=100)) if day % 100 <= 31 && derived.hold != Hold::Argument => {
            let day = day as u32;
            Fit::As(Kind::Date, Some(Value::Date(Date::from_parts(2000, day / 100, day % 100))))
        }
        (Kind::Date, ..) => Fit::As(Kind::NoDate, None),
        _ => Fit::As(Kind::NoMoment, None),
    }
}

/// The number that all of a text spells, blanks around it left out.
pub fn spelt_number(text: &[u8]) -> Option<Value> {
    let text = text.trim_ascii();
    if !matches!(text.first()?, b'0'..=b'9' | b'+' | b'-' | b'.') {
        return None;
    }
    let text = std::str::from_utf8(text).ok()?;
    if let Ok(number) = text.parse() {
        return Some(Value::Int(number));
    }
    if let Ok(number) = text.parse() {
        return Some(Value::UInt(number));
    }
    Decimal::parse(text).map(Value::Decimal)
}
