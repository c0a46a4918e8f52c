//! Result sets: column definitions, text rows and binary rows, and the binary parameters of prepared
//! statements.

use std::borrow::Cow;

use smallvec::SmallVec;
use turnstile_values::charset::Charset;
use turnstile_values::collation::Collation;
use turnstile_values::datetime::{
    Date, DateRules, DateTime, SECOND_US, TIME_MAX_US, Time, parse_date_time, parse_time as parse_clock,
};
use turnstile_values::decimal::Decimal;
use turnstile_values::field::FieldRef;
use turnstile_values::sink::ColumnMeta;
use turnstile_values::types::{ColumnType, wire_type};
use turnstile_values::value::{Value, parse_double_prefix, to_text, write_text};

use super::read::{Cursor, Malformed};
use super::write::{put_lenenc, put_lenenc_bytes, put_lenenc_digits};

/// Type of a decimal as clients before MySQL 5.0 sent it.
const OLD_DECIMAL: u8 = 0;
/// Mark of NULL in a text row.
const NULL_MARK: u8 = 0xfb;
/// Most digits a date and time has on the wire: year 2, month, day, hour, minute, second 1 each, microseconds
/// 4.
const DATE_TIME_BYTES_MAX: usize = 11;

/// Appends a column definition (protocol 4.1).
pub fn put_column(out: &mut Vec<u8>, column: &ColumnMeta, results: Option<Collation>) {
    if let Some(kept) = column.packet.get(results) {
        out.extend_from_slice(kept);
        return;
    }
    let from = out.len();
    make_column(out, column, results);
    column.packet.made(results, &out[from..]);
}

fn make_column(out: &mut Vec<u8>, column: &ColumnMeta, results: Option<Collation>) {
    put_lenenc_bytes(out, b"def");
    for name in [&column.schema, &column.table, &column.org_table, &column.name, &column.org_name] {
        match converted_set(results) {
            Some(set) if !name.is_ascii() => put_lenenc_bytes(out, &set.encode(name)),
            _ => put_lenenc_bytes(out, name.as_bytes()),
        }
    }
    out.push(0x0c);
    let announced;
    let column_type = match results {
        Some(results) if column.column_type.collation().is_some_and(|own| own != results) => {
            announced = column.column_type.clone().with_collation(results);
            &announced
        }
        _ => &column.column_type,
    };
    out.extend_from_slice(&column_type.wire_collation().to_le_bytes());
    out.extend_from_slice(&column_type.announced_length().to_le_bytes());
    out.push(column_type.wire_type());
    out.extend_from_slice(&column.wire_flags().to_le_bytes());
    out.push(column.wire_decimals());
    out.extend_from_slice(&[0, 0]);
}

/// The character set that text is converted to on its way out: none for UTF-8, which it has already.
pub fn converted_set(results: Option<Collation>) -> Option<Charset> {
    results.map(Collation::set).filter(|set| !set.is_utf8())
}

/// An error's text in a client's character set: a character that the set lacks is spelled as its number, as
/// in MySQL.
pub fn message_bytes(message: &str, results: Option<Collation>) -> Cow<'_, [u8]> {
    let Some(set) = converted_set(results).filter(|_| !message.is_ascii()) else {
        return Cow::Borrowed(message.as_bytes());
    };
    let mut bytes = Vec::with_capacity(message.len());
    let mut rest = message;
    while let Some(at) = set.first_missing(rest) {
        let (whole, after) = rest.split_at(at);
        bytes.extend_from_slice(&set.encode(whole));
        let mut letters = after.chars();
        let code = letters.next().map_or(0, u32::from);
        let spelled = if code > 0xffff { format!("\\+{code:06X}") } else { format!("\\{code:04X}") };
        bytes.extend_from_slice(spelled.as_bytes());
        rest = letters.as_str();
    }
    bytes.extend_from_slice(&set.encode(rest));
    Cow::Owned(bytes)
}

/// A row with its text in a client's character set.
pub fn convert_row(row: &[Value], types: &[ColumnType], set: Charset) -> Vec<Value> {
    let one = |(value, column_type): (&Value, &ColumnType)| match value {
        Value::Str(_) | Value::Enum(_) if *column_type != ColumnType::Json => {
            Value::bytes(set.encode(&to_text(value)))
        }
        other => other.clone(),
    };
    row.iter().zip(types).map(one).collect()
}

/// String parameters of a client whose statements are not UTF-8, as text.
pub fn decode_parameters(values: &mut [Value], types: &[ParameterType], set: Charset) {
    for (value, kind) in values.iter_mut().zip(types) {
        let text = (kind.0 == 15 || (247..=248).contains(&kind.0) || kind.0 >= 253)
            .then(|| value.as_raw_bytes().map(|bytes| set.decode(bytes)));
        match text {
            Some(Some(Some(text))) => *value = Value::from(text),
            Some(Some(None)) => *value = Value::bytes(value.as_raw_bytes().unwrap_or_default().to_vec()),
            _ => {}
        }
    }
}

/// Appends a row in text form. `scratch` is reused between values.
pub fn put_text_row(out: &mut Vec<u8>, row: &[Value], types: &[ColumnType], scratch: &mut Vec<u8>) {
    for (value, column_type) in row.iter().zip(types) {
        put_text_value(out, value, column_type, scratch);
    }
}

fn put_text_value(out: &mut Vec<u8>, value: &Value, column_type: &ColumnType, scratch: &mut Vec<u8>) {
    match value {
        Value::Null => out.push(NULL_MARK),
        Value::Str(text) => put_lenenc_bytes(out, text.as_bytes()),
        Value::Bytes(bytes) => put_lenenc_bytes(out, bytes),
        other => {
            scratch.clear();
            write_text(other, column_type, scratch);
            put_lenenc_bytes(out, scratch);
        }
    }
}

/// Appends a row of borrowed fields in text form. Columns of computed tables have no display width, so a
/// number is its digits.
pub fn put_text_fields(out: &mut Vec<u8>, row: &[FieldRef<'_>], types: &[ColumnType], scratch: &mut Vec<u8>) {
    for (field, column_type) in row.iter().zip(types) {
        match field {
            FieldRef::Null => out.push(NULL_MARK),
            FieldRef::UInt(number) | FieldRef::Digits(number) => put_lenenc_digits(out, *number),
            FieldRef::Int(number @ 0..) => put_lenenc_digits(out, number.unsigned_abs()),
            FieldRef::Int(number) => put_text_value(out, &Value::Int(*number), column_type, scratch),
            FieldRef::Text(text) => put_lenenc_bytes(out, text.as_bytes()),
            FieldRef::Bytes(text) => put_lenenc_bytes(out, text),
            FieldRef::Value(value) => put_text_value(out, value, column_type, scratch),
        }
    }
}

/// Appends a row in binary form: header, null bitmap with two bits' offset, values by column type.
pub fn put_binary_row(out: &mut Vec<u8>, row: &[Value], types: &[ColumnType], scratch: &mut Vec<u8>) {
    out.push(0);
    let bitmap = out.len();
    out.resize(bitmap + (row.len() + 9) / 8, 0);
    for (nth, (value, column_type)) in row.iter().zip(types).enumerate() {
        if value.is_null() {
            out[bitmap + (nth + 2) / 8] |= 1 << ((nth + 2) % 8);
        } else {
            put_binary_value(out, value, column_type, scratch);
        }
    }
}

fn put_binary_value(out: &mut Vec<u8>, value: &Value, column_type: &ColumnType, scratch: &mut Vec<u8>) {
    let integer = match value {
        Value::Int(number) => Some(*number as u64),
        Value::UInt(number) => Some(*number),
        _ => None,
    };
    match (column_type.wire_type(), integer, value) {
        (wire_type::VAR_STRING | wire_type::STRING | wire_type::BLOB, _, Value::Str(text)) => {
            put_lenenc_bytes(out, text.as_bytes())
        }
        (wire_type::TINY, Some(number), _) => out.push(number as u8),
        (wire_type::SHORT | wire_type::YEAR, Some(number), _) => {
            out.extend_from_slice(&(number as u16).to_le_bytes())
        }
        (wire_type::LONG | wire_type::INT24, Some(number), _) => {
            out.extend_from_slice(&(number as u32).to_le_bytes())
        }
        (wire_type::LONGLONG, Some(number), _) => out.extend_from_slice(&number.to_le_bytes()),
        (wire_type::FLOAT, _, Value::Double(number)) => {
            out.extend_from_slice(&(*number as f32).to_le_bytes())
        }
        (wire_type::DOUBLE, _, Value::Double(number)) => out.extend_from_slice(&number.to_le_bytes()),
        (wire_type::DATE, _, Value::Date(date)) => put_date_time(out, date.at_midnight()),
        (wire_type::DATETIME | wire_type::TIMESTAMP, _, Value::DateTime(moment)) => {
            put_date_time(out, *moment)
        }
        (wire_type::TIME, _, Value::Time(time)) => put_time(out, *time),
        _ => put_misfit(out, value, column_type, scratch),
    }
}

/// A value of another class than its column's type. The client reads as many bytes as the type says, so they
/// are that many.
fn put_misfit(out: &mut Vec<u8>, value: &Value, column_type: &ColumnType, scratch: &mut Vec<u8>) {
    scratch.clear();
    write_text(value, column_type, scratch);
    let number = || parse_double_prefix(scratch).0;
    match (column_type.wire_type(), value) {
        (wire_type::TINY, _) => out.push(number() as i64 as u8),
        (wire_type::SHORT | wire_type::YEAR, _) => {
            out.extend_from_slice(&(number() as i64 as u16).to_le_bytes())
        }
        (wire_type::LONG | wire_type::INT24, _) => {
            out.extend_from_slice(&(number() as i64 as u32).to_le_bytes())
        }
        (wire_type::LONGLONG, Value::Decimal(exact)) => {
            let whole = exact.round_to(0);
            let bits = whole.to_i64().map(|bits| bits as u64).or(whole.to_u64()).unwrap_or(0);
            out.extend_from_slice(&bits.to_le_bytes());
        }
        (wire_type::LONGLONG, _) => out.extend_from_slice(&(number() as i64).to_le_bytes()),
        (wire_type::FLOAT, _) => out.extend_from_slice(&(number() as f32).to_le_bytes()),
        (wire_type::DOUBLE, _) => out.extend_from_slice(&number().to_le_bytes()),
        (wire_type::DATE, Value::DateTime(moment)) => put_date_time(out, moment.date().at_midnight()),
        (wire_type::DATETIME | wire_type::TIMESTAMP, Value::Date(date)) => {
            put_date_time(out, date.at_midnight())
        }
        (wire_type::TIME, Value::DateTime(moment)) => put_time(out, moment.time()),
        (wire_type::DATE | wire_type::DATETIME | wire_type::TIMESTAMP, _) => {
            let parsed = parse_date_time(scratch, DateRules::LENIENT);
            match parsed {
                Some(parsed) => put_date_time(out, parsed.moment),
                None => put_lenenc(out, 0),
            }
        }
        (wire_type::TIME, _) => put_time(out, parse_clock(scratch).map_or(Time::default(), |(time, _)| time)),
        _ => put_lenenc_bytes(out, scratch),
    }
}

fn put_date_time(out: &mut Vec<u8>, moment: DateTime) {
    let date = moment.date();
    let mut bytes = [0u8; DATE_TIME_BYTES_MAX];
    bytes[..2].copy_from_slice(&(date.year() as u16).to_le_bytes());
    bytes[2] = date.month() as u8;
    bytes[3] = date.day() as u8;
    bytes[4] = moment.hour() as u8;
    bytes[5] = moment.minute() as u8;
    bytes[6] = moment.second() as u8;
    bytes[7..].copy_from_slice(&moment.microsecond().to_le_bytes());
    let len = if moment.microsecond() != 0 {
        11
    } else if bytes[4..7] != [0, 0, 0] {
        7
    } else if bytes[..4] != [0, 0, 0, 0] {
        4
    } else {
        0
    };
    put_lenenc_bytes(out, &bytes[..len]);
}

fn put_time(out: &mut Vec<u8>, time: Time) {
    let total = time.us;
    if total == 0 {
        put_lenenc(out, 0);
        return;
    }
    let size = total.unsigned_abs();
    let (seconds, fraction) = (size / 1_000_000, (size % 1_000_000) as u32);
    out.push(if fraction == 0 { 8 } else { 12 });
    out.push(u8::from(total < 0));
    out.extend_from_slice(&((seconds / 86_400) as u32).to_le_bytes());
    out.extend_from_slice(&[(seconds / 3_600 % 24) as u8, (seconds / 60 % 60) as u8, (seconds % 60) as u8]);
    if fraction != 0 {
        out.extend_from_slice(&fraction.to_le_bytes());
    }
}

/// The longest fraction of a second, in microseconds.
const FRACTION_MAX: u32 = 999_999;

/// Digits of a second that parameters have, whether they are sent or not.
const FRACTION_DIGITS: u8 = 6;

/// Type of a date in files of old tables.
const NEWDATE: u8 = 14;

/// Why a parameter is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WrongParameter {
    /// There are not the bytes that its type has.
    Malformed,
    /// It is no moment of any calendar, or no time: the type that it would have.
    OutOfRange(&'static str),
}

impl From<Malformed> for WrongParameter {
    fn from(_: Malformed) -> WrongParameter {
        WrongParameter::Malformed
    }
}

/// Values of a statement's parameters: few need no memory of their own.
pub type Values = SmallVec<[Value; 2]>;

/// One parameter type as COM_STMT_EXECUTE sends it: wire type and sign.
pub type ParameterType = (u8, bool);

/// Decodes the parameters of COM_STMT_EXECUTE. `types` are those of the last execution; replaced when the
/// message brings new ones. `long_data` holds what COM_STMT_SEND_LONG_DATA brought.
///
/// # Errors
/// [`Malformed`].
pub fn parse_parameters(
    message: &[u8],
    count: usize,
    types: &mut Vec<ParameterType>,
    long_data: &[Option<Vec<u8>>],
) -> Result<Values, WrongParameter> {
    if count == 0 {
        return Ok(Values::new());
    }
    let mut cursor = Cursor::new(message);
    let nulls = cursor.bytes(count.div_ceil(8))?;
    if cursor.u8()? == 1 {
        types.clear();
        for _ in 0..count {
            let wire = cursor.u8()?;
            types.push((wire, cursor.u8()? & 0x80 != 0));
        }
    }
    if types.len() != count {
        return Err(WrongParameter::Malformed);
    }
    let mut values = Values::with_capacity(count);
    for (nth, &(wire, unsigned)) in types.iter().enumerate() {
        let long = long_data.get(nth).and_then(Option::as_ref);
        values.push(match long {
            Some(data) => string_value(wire, data),
            None if nulls[nth / 8] >> (nth % 8) & 1 == 1 => Value::Null,
            None => parse_parameter(&mut cursor, wire, unsigned)?,
        });
    }
    Ok(values)
}

fn parse_parameter(cursor: &mut Cursor<'_>, wire: u8, unsigned: bool) -> Result<Value, WrongParameter> {
    Ok(match wire {
        // NULL is said by its bit, and some types are not of this protocol.
        wire_type::NULL | NEWDATE | 17..=244 => return Err(WrongParameter::Malformed),
        wire_type::TINY => {
            let byte = cursor.u8()?;
            if unsigned { Value::UInt(u64::from(byte)) } else { Value::Int(i64::from(byte as i8)) }
        }
        wire_type::SHORT | wire_type::YEAR => {
            let short = cursor.u16()?;
            if unsigned { Value::UInt(u64::from(short)) } else { Value::Int(i64::from(short as i16)) }
        }
        wire_type::LONG | wire_type::INT24 => {
            let long = cursor.u32()?;
            if unsigned { Value::UInt(u64::from(long)) } else { Value::Int(i64::from(long as i32)) }
        }
        wire_type::LONGLONG => {
            let number = cursor.u64()?;
            if unsigned { Value::UInt(number) } else { Value::Int(number as i64) }
        }
        wire_type::FLOAT => Value::Double(f64::from(f32::from_bits(cursor.u32()?))),
        wire_type::DOUBLE => Value::Double(f64::from_bits(cursor.u64()?)),
        wire_type::DATE | wire_type::DATETIME | wire_type::TIMESTAMP => read_date_time(cursor, wire)?,
        wire_type::TIME => read_time(cursor)?,
        _ => string_value(wire, cursor.lenenc_bytes()?),
    })
}

/// Text parameters stay text where they are UTF-8; the four BLOB types are bytes, decimals come as text.
fn string_value(wire: u8, bytes: &[u8]) -> Value {
    let is_blob = (249..=252).contains(&wire);
    match std::str::from_utf8(bytes) {
        // What spells no number is left to whom it is compared with or stored into.
        Ok(text) if wire == wire_type::NEWDECIMAL || wire == OLD_DECIMAL => {
            Decimal::parse(text).map_or_else(|| Value::text(text), Value::Decimal)
        }
        Ok(text) if !is_blob => Value::text(text),
        _ => Value::bytes(bytes),
    }
}

fn read_date_time(cursor: &mut Cursor<'_>, wire: u8) -> Result<Value, WrongParameter> {
    let bytes = cursor.lenenc_bytes()?;
    let lengths: &[usize] = if wire == wire_type::DATE { &[0, 4] } else { &[0, 4, 7, 11] };
    if !lengths.contains(&bytes.len()) {
        return Err(WrongParameter::Malformed);
    }
    let mut inner = Cursor::new(bytes);
    let (mut parts, mut fraction) = ([0u32; 6], 0);
    if !inner.is_empty() {
        parts[0] = u32::from(inner.u16()?);
        parts[1] = u32::from(inner.u8()?);
        parts[2] = u32::from(inner.u8()?);
    }
    if !inner.is_empty() {
        for part in &mut parts[3..] {
            *part = u32::from(inner.u8()?);
        }
    }
    if !inner.is_empty() {
        fraction = inner.u32()?;
    }
    let [year, month, day, hour, minute, second] = parts;
    let is_date = year <= 9999 && month <= 12 && day <= 31;
    if !is_date || hour > 23 || minute > 59 || second > 59 || fraction > FRACTION_MAX {
        return Err(WrongParameter::OutOfRange("DATETIME"));
    }
    let date = Date::from_parts(year, month, day);
    Ok(match wire {
        wire_type::DATE => Value::Date(date),
        _ => Value::DateTime(DateTime::from_parts(date, hour, minute, second, fraction, FRACTION_DIGITS)),
    })
}

fn read_time(cursor: &mut Cursor<'_>) -> Result<Value, WrongParameter> {
    let bytes = cursor.lenenc_bytes()?;
    if ![0, 8, 12].contains(&bytes.len()) {
        return Err(WrongParameter::Malformed);
    }
    let mut inner = Cursor::new(bytes);
    if inner.is_empty() {
        return Ok(Value::Time(Time { us: 0, fsp: FRACTION_DIGITS }));
    }
    let is_negative = inner.u8()? != 0;
    // Forty days are longer than any time.
    let days = i64::from(inner.u32()?.min(40));
    let (hour, minute, second) = (i64::from(inner.u8()?), i64::from(inner.u8()?), i64::from(inner.u8()?));
    let fraction = if inner.is_empty() { 0 } else { inner.u32()? };
    let seconds = ((days * 24 + hour) * 60 + minute) * 60 + second;
    let us = seconds * SECOND_US + i64::from(fraction);
    if minute > 59 || second > 59 || fraction > FRACTION_MAX || us > TIME_MAX_US {
        return Err(WrongParameter::OutOfRange("TIME"));
    }
    Ok(Value::Time(Time { us: if is_negative { -us } else { us }, fsp: FRACTION_DIGITS }))
}
