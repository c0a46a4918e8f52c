//! What a parameter is that is computed with a date, a time or a moment: the number that the value spells
//! where it is one, with six digits behind the point beside what has a time of day, and without any beside a
//! date. A text that says a date or a time in full counts as the number of that. Recorded in
//! `tests/mysql/parameters_beside_moments.test`.

use turnstile_expr::expr::{MICROS_SCALE, ParameterKind as Kind};
use turnstile_values::datetime::{self, DateRules};
use turnstile_values::decimal::Decimal;
use turnstile_values::value::{Value, temporal_decimal, to_text};

/// A value beside what is of this kind, with what it is there; `None` for a text that spells no number, or
/// none without a point where `whole` ones are wanted.
pub fn beside(kind: Kind, value: &Value, whole: bool) -> Option<(Kind, Value)> {
    let number = match value {
        Value::Int(number) => Decimal::from(*number),
        // Beside dates and times whole numbers have a sign.
        Value::UInt(number) if kind != Kind::DateTime => Decimal::from(*number as i64),
        Value::UInt(number) => Decimal::from(*number),
        Value::Double(number) => Decimal::nearest(*number),
        Value::Decimal(number) => number.clone(),
        Value::Date(date) => Decimal::from(date.to_number()),
        Value::Time(_) => temporal_decimal(value),
        Value::DateTime(_) => return Some(with_digits(temporal_decimal(value))),
        _ => return of_text(kind, value.as_raw_bytes()?, whole),
    };
    match kind {
        Kind::Date => {}
        Kind::Time => return Some((Kind::Clock, with_digits(number).1)),
        _ => return Some(with_digits(number)),
    }
    let rounded = rounded(&number);
    // What spells a date and a time of day is that.
    let rules = DateRules { invalid: true, ..DateRules::LENIENT };
    match datetime::parse_number(rounded, rules) {
        Some(said) if said.has_time => Some(with_digits(number)),
        _ => Some((Kind::Int, Value::Int(rounded))),
    }
}

/// The text of a moment or a time that a column is given: a moment's without what is behind its seconds, a
/// time's without zeros at its end.
pub fn stored_text(value: &Value) -> Value {
    let text = match value {
        Value::DateTime(moment) => to_text(&Value::DateTime(moment.truncate_to(0))),
        _ => to_text(value),
    };
    match (value, text.split_once('.')) {
        (Value::Time(_), Some((whole, fraction))) => {
            let fraction = fraction.trim_end_matches('0');
            let point = if fraction.is_empty() { "" } else { "." };
            Value::text(format!("{whole}{point}{fraction}"))
        }
        _ => Value::text(text),
    }
}

fn with_digits(number: Decimal) -> (Kind, Value) {
    (Kind::Micros, Value::Decimal(number.round_to(MICROS_SCALE)))
}

fn rounded(number: &Decimal) -> i64 {
    let end = if number.is_negative() { i64::MIN } else { i64::MAX };
    number.round_to(0).to_scaled_i128().and_then(|whole| i64::try_from(whole).ok()).unwrap_or(end)
}

fn of_text(kind: Kind, text: &[u8], whole: bool) -> Option<(Kind, Value)> {
    let rules = DateRules { invalid: true, ..DateRules::LENIENT };
    let moment = datetime::parse_date_time(text, rules).filter(|parsed| !parsed.truncated);
    let clock = || match datetime::parse_time(text) {
        Some((time, false)) if text.contains(&b':') || text.contains(&b'.') => Some(Value::Time(time)),
        _ => None,
    };
    let said = match moment {
        Some(parsed) if parsed.has_time => Some(Value::DateTime(parsed.moment)),
        Some(_) | None if kind == Kind::Time => clock(),
        Some(parsed) => Some(Value::Date(parsed.moment.date())),
        None => None,
    };
    match said {
        Some(said) => beside(kind, &said, whole),
        None => {
            let spelt = super::derived::spelt_number(text)?;
            if whole && matches!(spelt, Value::Decimal(_)) { None } else { beside(kind, &spelt, whole) }
        }
    }
}
