//! Columns of a fixed width: little endian, zeros under NULL.

use std::sync::Arc;

use turnstile_values::datetime::{Date, DateTime, Time};
use turnstile_values::stored_width::{read_decimal, write_decimal};
use turnstile_values::types::ColumnType;
use turnstile_values::value::{EnumValue, Value};

pub(super) fn write_low(bits: u64, out: &mut [u8]) {
    let bytes = bits.to_le_bytes();
    let width = out.len();
    out.copy_from_slice(&bytes[..width]);
}

pub(super) fn write_fixed(kind: &ColumnType, value: &Value, out: &mut [u8]) {
    match value {
        Value::Int(number) => write_low(*number as u64, out),
        Value::UInt(number) => write_low(*number, out),
        Value::Double(number) if matches!(kind, ColumnType::Float { .. }) => {
            out.copy_from_slice(&(*number as f32).to_le_bytes());
        }
        Value::Double(number) => out.copy_from_slice(&number.to_le_bytes()),
        Value::Decimal(number) => write_decimal(number, out),
        Value::Date(date) => write_low(u64::from(date.packed()), out),
        Value::DateTime(moment) => write_low(moment.packed(), out),
        Value::Time(time) => write_low(time.us as u64, out),
        Value::Enum(chosen) => write_low(chosen.bits, out),
        Value::Null => out.fill(0),
        Value::Str(_) | Value::Bytes(_) | Value::Json(_) => {
            debug_assert!(false, "a string in a fixed column");
        }
    }
}

fn read_low(bytes: &[u8]) -> u64 {
    let mut word = [0; 8];
    word[..bytes.len()].copy_from_slice(bytes);
    u64::from_le_bytes(word)
}

pub(super) fn read_signed(bytes: &[u8]) -> i64 {
    let shift = 64 - bytes.len() as u32 * 8;
    (read_low(bytes) << shift) as i64 >> shift
}

pub(super) fn read_fixed(kind: &ColumnType, bytes: &[u8]) -> Value {
    match kind {
        ColumnType::Int { unsigned: true, .. } | ColumnType::Bit { .. } | ColumnType::Year => {
            Value::UInt(read_low(bytes))
        }
        ColumnType::Int { .. } => Value::Int(read_signed(bytes)),
        ColumnType::Decimal { scale, .. } => Value::Decimal(read_decimal(bytes, *scale)),
        ColumnType::Float { .. } => Value::Double(f64::from(f32::from_bits(read_low(bytes) as u32))),
        ColumnType::Double { .. } => Value::Double(f64::from_bits(read_low(bytes))),
        ColumnType::Date => Value::Date(Date::from_packed(read_low(bytes) as u32)),
        ColumnType::DateTime { fsp } | ColumnType::Timestamp { fsp } => {
            Value::DateTime(DateTime::from_packed(read_low(bytes), *fsp))
        }
        ColumnType::Time { fsp } => Value::Time(Time { us: read_signed(bytes), fsp: *fsp }),
        ColumnType::Enum { names, .. } | ColumnType::Set { names, .. } => {
            Value::Enum(EnumValue { names: Arc::clone(names), bits: read_low(bytes) })
        }
        _ => Value::Null,
    }
}
