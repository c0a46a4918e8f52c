//! Values as texts, and what of them is shown in messages.

use std::borrow::Cow;
use std::sync::Arc;

use super::Value;
use crate::decimal::Decimal;
use crate::number_text::{format_double, parse_integer_prefix};

/// Text for an error message: at most 128 characters, and none from a NUL byte on.
pub fn shown(text: &[u8]) -> String {
    String::from_utf8_lossy(text).chars().take(128).take_while(|one| *one != '\0').collect()
}

/// A value for an error message: bytes that are no characters by their codes.
pub fn shown_value(value: &Value) -> String {
    match value {
        Value::Bytes(bytes) => shown_bytes(bytes),
        other => shown(&to_bytes(other)),
    }
}

/// Bytes in a message: those that are no printable ASCII by their codes.
pub fn shown_bytes(bytes: &[u8]) -> String {
    let one = |byte: &u8| match byte {
        0x20..0x7F => char::from(*byte).to_string(),
        _ => format!("\\x{byte:02X}"),
    };
    bytes.iter().take(128).map(one).collect()
}

/// TIME and DATETIME as the decimal their digits spell, with `fsp` fraction digits.
pub fn temporal_decimal(value: &Value) -> Decimal {
    let (whole, us, negative, fsp) = match value {
        Value::Time(time) => (time.to_number().unsigned_abs(), time.parts().3, time.us < 0, time.fsp),
        Value::DateTime(moment) => (moment.to_number() as u64, moment.microsecond(), false, moment.fsp),
        _ => return Decimal::ZERO,
    };
    let scaled = i128::from(whole) * 1_000_000 + i128::from(us);
    Decimal::from_scaled_i128(if negative { -scaled } else { scaled }, 6).round_to(fsp)
}

/// The bytes of a value's text form; borrowed for strings.
pub fn to_bytes(value: &Value) -> Cow<'_, [u8]> {
    match value {
        Value::Str(text) => Cow::Borrowed(text.as_bytes()),
        Value::Bytes(bytes) => Cow::Borrowed(bytes),
        other => Cow::Owned(to_text(other).as_bytes().to_vec()),
    }
}

/// The text form of a value; shared for strings. Bytes that are not UTF-8 are replaced.
pub fn to_text(value: &Value) -> Arc<str> {
    match value {
        Value::Null => "".into(),
        Value::Int(number) => number.to_string().into(),
        Value::UInt(number) => number.to_string().into(),
        Value::Double(number) => format_double(*number).into(),
        Value::Decimal(number) => number.to_string().into(),
        Value::Str(text) => Arc::clone(text),
        Value::Bytes(bytes) => String::from_utf8_lossy(bytes).into(),
        Value::Date(date) => date.to_string().into(),
        Value::Time(time) => time.to_string().into(),
        Value::DateTime(moment) => moment.to_string().into(),
        Value::Enum(chosen) => chosen.text().into(),
        Value::Json(marked) => crate::json::without_marks(marked).into(),
    }
}

/// The whole number that all of a text spells.
pub fn spelt_whole(value: &Value) -> Option<Value> {
    let (number, true) = parse_integer_prefix(value.as_raw_bytes()?) else { return None };
    i64::try_from(number).map(Value::Int).or_else(|_| u64::try_from(number).map(Value::UInt)).ok()
}
