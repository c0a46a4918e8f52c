//! JSON_STORAGE_SIZE: the bytes that MySQL's binary form of a document takes. Ours is text; what is told is
//! what MySQL tells.

use super::bytes_of_opaque;
use super::document::{Json, Kind, Object};
use crate::decimal::Decimal;
use crate::error::SqlResult;
use crate::memory::Held;

/// Offsets up to this fit the small form of arrays and objects.
const SMALL_BYTES: usize = u16::MAX as usize;

/// Bytes of a whole document, its type included.
pub fn storage_size(document: &Json, held: &mut Held<'_>) -> SqlResult<usize> {
    Ok(1 + value_size(document, held)?)
}

/// Bytes before a value that say how long it is: seven bits each.
fn length_size(length: usize) -> usize {
    let mut bytes = 1;
    let mut rest = length >> 7;
    while rest > 0 {
        bytes += 1;
        rest >>= 7;
    }
    bytes
}

/// Bytes of DECIMAL's digits: nine in four bytes.
fn decimal_size(number: &Decimal) -> usize {
    const BYTES: [usize; 10] = [0, 1, 1, 2, 2, 3, 3, 4, 4, 4];
    let scale = usize::from(number.scale());
    let whole = usize::from(number.precision()).saturating_sub(scale).max(1);
    let digits = |count: usize| count / 9 * 4 + BYTES[count % 9];
    digits(whole) + digits(scale)
}

/// Bytes of an opaque value: its type, its length and itself.
fn opaque_size(length: usize) -> usize {
    1 + length_size(length) + length
}

fn value_size(document: &Json, held: &mut Held<'_>) -> SqlResult<usize> {
    Ok(match document {
        Json::Null | Json::Bool(_) => 1,
        Json::Int(number) if i16::try_from(*number).is_ok() => 2,
        Json::Int(number) if i32::try_from(*number).is_ok() => 4,
        Json::UInt(number) if u16::try_from(*number).is_ok() => 2,
        Json::UInt(number) if u32::try_from(*number).is_ok() => 4,
        Json::Int(_) | Json::UInt(_) | Json::Double(_) => 8,
        // Precision and scale come before the digits.
        Json::Decimal(number) => opaque_size(2 + decimal_size(number)),
        Json::String(text) => length_size(text.len()) + text.len(),
        Json::Opaque(Kind::Bytes, text) => opaque_size(bytes_of_opaque(text).map_or(0, |bytes| bytes.len())),
        Json::Opaque(..) => opaque_size(8),
        Json::Array(parts) => {
            let sum = Sizes::of(parts.iter(), held)?;
            sum.of_list(parts.len(), 0, 0)
        }
        Json::Object(members) => object_size(members, held)?,
    })
}

fn object_size(members: &Object, held: &mut Held<'_>) -> SqlResult<usize> {
    let sum = Sizes::of(members.values(), held)?;
    let names = members.iter().map(|(name, _)| name.len()).sum();
    Ok(sum.of_list(members.len(), members.len(), names))
}

/// Bytes of values outside their entries, in the small form and in the large one, whose entries hold longer
/// numbers.
#[derive(Default)]
struct Sizes {
    small: usize,
    large: usize,
}

impl Sizes {
    fn of<'d>(values: impl Iterator<Item = &'d Json>, held: &mut Held<'_>) -> SqlResult<Sizes> {
        let mut sum = Sizes::default();
        for value in values {
            held.pass(size_of::<Json>())?;
            let size = value_size(value, held)?;
            let is_number = matches!(value, Json::Int(_) | Json::UInt(_));
            let is_literal = matches!(value, Json::Null | Json::Bool(_));
            sum.small += if is_literal || is_number && size == 2 { 0 } else { size };
            sum.large += if is_literal || is_number && size <= 4 { 0 } else { size };
        }
        Ok(sum)
    }

    /// Counts, entries, names and values.
    fn of_list(&self, values: usize, keys: usize, names: usize) -> usize {
        let small = 4 + keys * 4 + values * 3 + names + self.small;
        if small <= SMALL_BYTES { small } else { 8 + keys * 6 + values * 5 + names + self.large }
    }
}
