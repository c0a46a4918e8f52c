//! WEIGHT_STRING: the weights by which a value is compared, as bytes.
//!
//! The parser makes a call of four arguments out of every form: the value, the characters to which text is
//! cut or filled up, the bytes of the result, and flags; 0 means that the form does not say. Text weighs by
//! its collation, a number or a moment as a sort of its column packs it into eight bytes.

use super::result_bytes::build;
use super::{Entry, entry, literal_length, text_bytes};
use crate::expr::{Call, EvalContext, Typed};
use turnstile_values::collation::{Collation, Weighing};
use turnstile_values::error::SqlResult;
use turnstile_values::types::{BlobSize, ColumnType};
use turnstile_values::value::{Value, to_bytes};

pub(super) static FUNCTIONS: &[Entry] = &[entry("weight_string", (4, 4), weight_string, weight_type, 0)];

/// The flag that fills the result up to its length.
const FILLED_UP: i64 = 0x80;
/// What a packed number takes, the least length of a result.
const PACKED_BYTES: u32 = 8;

fn weight_type(arguments: &[Typed]) -> ColumnType {
    let collation = collation_of(arguments[0].kind.column.collation());
    let length = match literal_length(arguments, 2) {
        Some(bytes @ 1..) => bytes,
        _ => {
            let characters = text_bytes(arguments).max(literal_length(arguments, 1).unwrap_or(0));
            let bytes = u64::from(characters) * u64::from(collation.max_char_bytes());
            u32::try_from(collation.shown_bytes_max(bytes)).unwrap_or(u32::MAX)
        }
    };
    match length.max(PACKED_BYTES) {
        length @ ..=65_535 => ColumnType::Varbinary { length },
        _ => ColumnType::Blob { size: BlobSize::Long },
    }
}

fn collation_of(own: Option<Collation>) -> Collation {
    own.unwrap_or(Collation::Binary)
}

fn weight_string(call: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    null_guard!(arguments);
    if let Some(packed) = packed(&arguments[0]) {
        return Ok(Value::bytes(packed.to_be_bytes().to_vec()));
    }
    if !matches!(arguments[0], Value::Str(_) | Value::Bytes(_)) {
        return Ok(Value::Null);
    }
    let number = |at: usize| match arguments[at] {
        Value::Int(number) => number,
        _ => 0,
    };
    let (characters, bytes, flags) = (number(1) as u64, number(2) as u64, number(3));
    let collation = if matches!(arguments[0], Value::Bytes(_)) { Collation::Binary } else { call.collation };
    let text = to_bytes(&arguments[0]);
    let most = match bytes {
        0 => {
            let characters = if characters > 0 { characters } else { collation.characters(&text) as u64 };
            collation.shown_bytes_max(characters * u64::from(collation.max_char_bytes()))
        }
        bytes => bytes,
    };
    let weighing = Weighing { characters, bytes: most, fills_up: flags & FILLED_UP != 0 };
    let built = build(call.name, context, |out| {
        out.fits(most)?;
        let mut weights = Vec::new();
        collation.append_weighed(&text, &weighing, &mut weights);
        out.push(&weights)
    })?;
    Ok(built.map_or(Value::Null, Value::bytes))
}

/// The sign bit, which makes signed numbers sort as bytes.
const SIGN: u64 = 1 << 63;

/// A number or moment as a column packs it; `None` for what is not packed.
fn packed(value: &Value) -> Option<u64> {
    let clock = |hour: u32, minute: u32, second: u32, us: u32| {
        u64::from(hour << 12 | minute << 6 | second) << 24 | u64::from(us)
    };
    Some(match value {
        Value::Int(number) => *number as u64 ^ SIGN,
        Value::UInt(number) => *number,
        Value::Enum(member) => member.bits ^ SIGN,
        Value::Date(date) => {
            (u64::from(date.year()) << 9 | u64::from(date.month()) << 5 | u64::from(date.day())) ^ SIGN
        }
        Value::DateTime(moment) => {
            let date = moment.date();
            let days = u64::from(date.year() * 13 + date.month()) << 5 | u64::from(date.day());
            let (hour, minute) = (moment.hour(), moment.minute());
            (days << 41 | clock(hour, minute, moment.second(), moment.microsecond())) ^ SIGN
        }
        Value::Time(time) => {
            let (hour, minute, second, us) = time.parts();
            let packed = clock(hour, minute, second, us);
            let middle = 1 << 47;
            (if time.us < 0 { middle - packed - 1 } else { middle + packed }) ^ SIGN
        }
        _ => return None,
    })
}
