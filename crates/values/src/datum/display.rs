//! The text form of values as the text protocol sends them.

use std::io::Write;

use super::{Value, to_bytes};
use crate::collation::Collation;
use crate::datetime::DateTime;
use crate::digits::Digits;
use crate::number_text::{format_double, format_float};
use crate::types::ColumnType;

/// Appends the text protocol form of a value of a result column. NULL appends nothing: the protocol marks it.
pub fn write_text(value: &Value, kind: &ColumnType, out: &mut Vec<u8>) {
    let start = out.len();
    match (value, kind) {
        (Value::Null, _) => {}
        (Value::UInt(bits), ColumnType::Bit { bits: width }) => {
            let bytes = usize::from(width.div_ceil(8));
            out.extend_from_slice(&bits.to_be_bytes()[8 - bytes..]);
        }
        (Value::UInt(year), ColumnType::Year) => push(out, format_args!("{year:04}")),
        (Value::UInt(number), ColumnType::Int { zerofill: true, display, width, .. }) => {
            let digits = usize::from(display.unwrap_or(ColumnType::int(*width, true).wire_length() as u8));
            push(out, format_args!("{number:0digits$}"));
        }
        (Value::Double(number), ColumnType::Float { digits: Some((_, scale)), .. })
        | (Value::Double(number), ColumnType::Double { digits: Some((_, scale)), .. }) => {
            push_fixed(out, *number, *scale);
            fill(out, start, kind);
        }
        (Value::Double(number), ColumnType::Float { .. }) => {
            out.extend_from_slice(format_float(*number as f32).as_bytes());
            fill(out, start, kind);
        }
        (Value::Double(number), ColumnType::Double { zerofill: true, .. }) => {
            push_double(out, *number);
            fill(out, start, kind);
        }
        (Value::Decimal(number), ColumnType::Decimal { scale, zerofill, .. })
            if *zerofill || number.scale() > *scale =>
        {
            push(out, format_args!("{}", number.round_to(*scale)));
            fill(out, start, kind);
        }
        (Value::Int(number @ 0..), _) => out.extend_from_slice(Digits::of(number.unsigned_abs()).as_bytes()),
        (Value::Int(number), _) => push(out, format_args!("{number}")),
        (Value::UInt(number), _) => out.extend_from_slice(Digits::of(*number).as_bytes()),
        (Value::Double(number), _) => push_double(out, *number),
        (Value::Decimal(number), _) => push(out, format_args!("{number}")),
        (Value::Date(date), ColumnType::DateTime { .. } | ColumnType::Timestamp { .. }) => {
            push(out, format_args!("{}", date.at_midnight()));
        }
        (Value::Date(date), _) => push(out, format_args!("{date}")),
        (Value::DateTime(moment), ColumnType::DateTime { fsp } | ColumnType::Timestamp { fsp }) => {
            let mut moment = *moment;
            moment.fsp = *fsp;
            push_moment(out, moment);
        }
        (Value::DateTime(moment), _) => push(out, format_args!("{moment}")),
        (Value::Time(time), ColumnType::Time { fsp }) => {
            let mut time = *time;
            time.fsp = *fsp;
            push(out, format_args!("{time}"));
        }
        (other, _) => out.extend_from_slice(&to_bytes(other)),
    }
}

/// Puts zeros before a number that was appended from `start` on, as many as its column is wide, if it is
/// filled.
fn fill(out: &mut Vec<u8>, start: usize, kind: &ColumnType) {
    if kind.is_zerofill() {
        let missing = (kind.wire_length() as usize).saturating_sub(out.len() - start);
        out.splice(start..start, std::iter::repeat_n(b'0', missing));
    }
}

/// Appends a double; whole numbers, the most frequent, by their digits.
fn push_double(out: &mut Vec<u8>, number: f64) {
    if number.fract() == 0.0 && number.is_sign_positive() && number < WHOLE_BELOW {
        out.extend_from_slice(Digits::of(number as u64).as_bytes());
    } else {
        out.extend_from_slice(format_double(number).as_bytes());
    }
}

/// Appends a double with so many digits behind the point; what is rounded to zero has no sign. Digits behind
/// those that tell the number from every other are zeros.
fn push_fixed(out: &mut Vec<u8>, number: f64, scale: u8) {
    let start = out.len();
    let plain = if is_told_by_fixed(number, scale) { None } else { told_digits(number, scale) };
    match plain {
        Some(plain) => out.extend_from_slice(plain.as_bytes()),
        None => push(out, format_args!("{number:.*}", usize::from(scale))),
    }
    if number <= 0.0
        && out[start..].iter().all(|byte| matches!(byte, b'-' | b'0' | b'.'))
        && out[start] == b'-'
    {
        out.remove(start);
    }
}

/// Whether a number has, with so many digits behind the point, no more than any double tells.
fn is_told_by_fixed(number: f64, scale: u8) -> bool {
    number.abs() * 10f64.powi(i32::from(scale)) < WHOLE_BELOW
}

/// The digits that tell a number, filled up with zeros to so many behind the point. None if it has more of
/// them.
fn told_digits(number: f64, scale: u8) -> Option<String> {
    let mut plain = format!("{number}");
    let own = plain.split_once('.').map_or(0, |(_, behind)| behind.len());
    let missing = usize::from(scale).checked_sub(own).filter(|_| number.is_finite())?;
    if own == 0 && scale > 0 {
        plain.push('.');
    }
    plain.extend(std::iter::repeat_n('0', missing));
    Some(plain)
}

/// Doubles from here on are written with an exponent.
const WHOLE_BELOW: f64 = 1e15;

/// Appends a moment; one without a fraction digit by digit, because results are full of them.
fn push_moment(out: &mut Vec<u8>, moment: DateTime) {
    if moment.fsp > 0 {
        return push(out, format_args!("{moment}"));
    }
    let digit = |number: u32| b'0' + (number % 10) as u8;
    let (date, mut text) = (moment.date(), *b"0000-00-00 00:00:00");
    let year = date.year();
    (text[0], text[1]) = (digit(year / 1000), digit(year / 100));
    let pairs = [year, date.month(), date.day(), moment.hour(), moment.minute(), moment.second()];
    for (nth, number) in pairs.into_iter().enumerate() {
        let at = 2 + 3 * nth;
        (text[at], text[at + 1]) = (digit(number / 10), digit(number));
    }
    out.extend_from_slice(&text);
}

/// Whether values of a type do not know their own text: FLOAT, YEAR, ZEROFILL, BIT.
pub fn is_shown_by_column(kind: &ColumnType) -> bool {
    match kind {
        ColumnType::Float { .. } | ColumnType::Year | ColumnType::Bit { .. } => true,
        ColumnType::Int { zerofill, .. } | ColumnType::Decimal { zerofill, .. } => *zerofill,
        ColumnType::Double { digits, zerofill, .. } => digits.is_some() || *zerofill,
        _ => false,
    }
}

/// A value of one column whose definition is changed: text where it becomes text and only the column knew how
/// it was written. Bits become the number that they are.
pub fn between_columns(value: Value, from: &ColumnType, to: &ColumnType) -> Value {
    match value {
        Value::Double(_) | Value::UInt(_) | Value::Decimal(_)
            if to.is_string() && is_shown_by_column(from) && !matches!(from, ColumnType::Bit { .. }) =>
        {
            Value::from(column_text(&value, from))
        }
        other => in_own_bytes(other, from, to),
    }
}

/// A text that goes where bytes are kept as the bytes of its character set.
pub fn in_own_bytes(value: Value, from: &ColumnType, to: &ColumnType) -> Value {
    let set = from.collation().map(Collation::set).filter(|set| to.is_binary_string() && !set.is_utf8());
    match (&value, set) {
        (Value::Str(text), Some(set)) => Value::bytes(set.encode(text)),
        _ => value,
    }
}

/// Whether a value is stored in a column of this type as the text that its own column shows: in TEXT and
/// BLOB, as in MySQL, where shorter texts take the number without zeros and with all its digits.
pub fn takes_shown(to: &ColumnType) -> bool {
    to.is_blob() && *to != ColumnType::Json
}

/// A column's value that a query stores in another column.
pub fn into_column(value: Value, from: &ColumnType, to: &ColumnType) -> Value {
    match value {
        Value::Double(_) | Value::UInt(_) | Value::Decimal(_)
            if takes_shown(to) && is_shown_by_column(from) =>
        {
            Value::from(column_text(&value, from))
        }
        other => in_own_bytes(other, from, to),
    }
}

/// The text of a column's value where only the column knows it: see [`is_shown_by_column`].
pub fn column_text(value: &Value, kind: &ColumnType) -> String {
    let mut text = Vec::new();
    write_text(value, kind, &mut text);
    String::from_utf8_lossy(&text).into_owned()
}

fn push(out: &mut Vec<u8>, text: std::fmt::Arguments<'_>) {
    // Writing to a Vec cannot fail.
    let _ = out.write_fmt(text);
}
