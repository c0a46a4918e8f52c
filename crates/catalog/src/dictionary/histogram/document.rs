//! A histogram as the document that information_schema.COLUMN_STATISTICS shows.

use turnstile_values::datetime::DateTime;
use turnstile_values::json::{Json, Kind, Object, append_marked};
use turnstile_values::types::ColumnType;
use turnstile_values::value::Value;

use super::Histogram;

/// What MySQL calls the collation of numbers and moments.
const COLLATION_OF_NUMBERS: u64 = 8;
/// And that of bytes.
const COLLATION_OF_BYTES: u64 = 63;

/// Digits of a fraction of a second that are shown.
const FRACTION_DIGITS: u8 = 6;

impl Histogram {
    /// The document, as a value of a column of documents.
    pub fn document(&self) -> Value {
        let buckets = self.buckets.iter().map(|bucket| {
            let mut shown = vec![scalar(&bucket.lower.value)];
            if !self.singleton {
                shown.push(scalar(&bucket.upper.value));
            }
            shown.push(Json::Double(bucket.cumulative));
            if !self.singleton {
                shown.push(Json::of_digits(bucket.distinct));
            }
            Json::Array(shown)
        });
        let updated = DateTime::from_unix_us(self.updated as i64, FRACTION_DIGITS);
        let updated = updated.map_or(Json::Null, |moment| Json::Opaque(Kind::DateTime, moment.to_string()));
        let shape = if self.singleton { "singleton" } else { "equi-height" };
        let members = [
            ("buckets", Json::Array(buckets.collect())),
            ("data-type", Json::String(data_type(&self.kind).into())),
            ("auto-update", Json::Bool(self.automatic)),
            ("null-values", Json::Double(self.nulls)),
            ("collation-id", Json::of_digits(collation_id(&self.kind))),
            ("last-updated", updated),
            ("sampling-rate", Json::Double(self.sampled)),
            ("histogram-type", Json::String(shape.into())),
            ("number-of-buckets-specified", Json::of_digits(u64::from(self.specified))),
        ];
        let members = members.into_iter().map(|(name, value)| (name.into(), value)).collect();
        let mut marked = String::from('\u{1}');
        let written = append_marked(&Json::Object(Object::new(members)), &mut marked);
        debug_assert!(written.is_ok(), "a text takes everything");
        Value::Json(marked.into())
    }
}

fn data_type(kind: &ColumnType) -> &'static str {
    match kind {
        ColumnType::Int { unsigned: true, .. } => "uint",
        ColumnType::Int { .. } | ColumnType::Year | ColumnType::Bit { .. } | ColumnType::Null => "int",
        ColumnType::Decimal { .. } => "decimal",
        ColumnType::Float { .. } | ColumnType::Double { .. } => "double",
        ColumnType::Date => "date",
        ColumnType::Time { .. } => "time",
        ColumnType::DateTime { .. } | ColumnType::Timestamp { .. } => "datetime",
        ColumnType::Enum { .. } => "enum",
        ColumnType::Set { .. } => "set",
        ColumnType::Json => "json",
        ColumnType::Char { .. }
        | ColumnType::Varchar { .. }
        | ColumnType::Text { .. }
        | ColumnType::Binary { .. }
        | ColumnType::Varbinary { .. }
        | ColumnType::Blob { .. } => "string",
    }
}

fn collation_id(kind: &ColumnType) -> u64 {
    match kind {
        ColumnType::Bit { .. }
        | ColumnType::Binary { .. }
        | ColumnType::Varbinary { .. }
        | ColumnType::Blob { .. } => COLLATION_OF_BYTES,
        _ => kind.collation().map_or(COLLATION_OF_NUMBERS, |collation| u64::from(collation.id())),
    }
}

fn scalar(value: &Value) -> Json {
    match value {
        Value::Int(number) => Json::Int(*number),
        Value::UInt(number) => Json::of_digits(*number),
        Value::Double(number) => Json::Double(*number),
        Value::Decimal(number) => Json::Decimal(number.clone()),
        Value::Str(text) => opaque(text.as_bytes()),
        Value::Bytes(bytes) => opaque(bytes),
        Value::Date(date) => Json::Opaque(Kind::Date, date.to_string()),
        Value::Time(time) => {
            let mut time = *time;
            time.fsp = FRACTION_DIGITS;
            Json::Opaque(Kind::Time, time.to_string())
        }
        Value::DateTime(moment) => {
            let mut moment = *moment;
            moment.fsp = FRACTION_DIGITS;
            Json::Opaque(Kind::DateTime, moment.to_string())
        }
        Value::Enum(chosen) => Json::of_digits(chosen.bits),
        Value::Null | Value::Json(_) => Json::Null,
    }
}

/// Texts are shown as bytes: they may be no UTF-8, and they may be cut off.
fn opaque(bytes: &[u8]) -> Json {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::from("base64:type254:");
    for group in bytes.chunks(3) {
        let bits = (0..3).fold(0u32, |bits, nth| bits << 8 | u32::from(group.get(nth).copied().unwrap_or(0)));
        for nth in 0..4 {
            let digit = DIGITS[(bits >> (18 - 6 * nth) & 63) as usize];
            text.push(if nth <= group.len() { char::from(digit) } else { '=' });
        }
    }
    Json::Opaque(Kind::Bytes, text)
}
