//! The one type that alternatives have in common.

use turnstile_values::collation::Collation;
use turnstile_values::types::{ColumnType, IntWidth};

use super::super::Typed;
use super::{announced, counted, decimal, decimal_shape, is_decimal_class, is_double_class, text_of_members};

fn unified_integers(left: &ColumnType, right: &ColumnType) -> ColumnType {
    let width = |kind: &ColumnType| match kind {
        ColumnType::Int { width, .. } => *width,
        ColumnType::Year => IntWidth::Small,
        _ => IntWidth::Big,
    };
    let (one, other) = (width(left), width(right));
    let whole = ColumnType::int;
    let exact = || decimal(decimal_shape(left).0.max(decimal_shape(right).0), 0, false);
    match (left.is_unsigned(), right.is_unsigned()) {
        (one_unsigned, other_unsigned) if one_unsigned == other_unsigned => {
            whole(one.max(other), one_unsigned)
        }
        (true, false) if *left == ColumnType::Year => whole(one.max(other), false),
        (false, true) if *right == ColumnType::Year => whole(one.max(other), false),
        (true, false) if one < other => whole(other, false),
        (false, true) if other < one => whole(one, false),
        (true, false) if one == IntWidth::Big => exact(),
        (false, true) if other == IntWidth::Big => exact(),
        _ => whole(one.max(other).wider(), false),
    }
}

/// What CHAR and BINARY hold at most.
const MAX_FIXED_LENGTH: u32 = 255;

/// CHAR, BINARY, members of ENUM and SET, and what is no string: together they are CHAR or BINARY.
fn is_of_fixed_length(kind: &ColumnType) -> bool {
    use ColumnType as T;
    matches!(kind, T::Char { .. } | T::Binary { .. } | T::Enum { .. } | T::Set { .. }) || !kind.is_string()
}

fn is_float(kind: &ColumnType) -> bool {
    matches!(kind, ColumnType::Float { .. })
}

/// Whether a FLOAT stays one behind (`is_first`) or before a whole number: a BIGINT before it makes it a
/// DOUBLE, INT and BIT at either side.
fn is_held_by_float(whole: &ColumnType, is_first: bool) -> bool {
    match whole {
        ColumnType::Int { width: IntWidth::Big, .. } => !is_first,
        ColumnType::Int { width: IntWidth::Int, .. } | ColumnType::Bit { .. } => false,
        other => other.is_integer(),
    }
}

/// All digits and those behind the point that show both of two numbers, if both have a fixed number of these.
fn unified_digits(left: &ColumnType, right: &ColumnType) -> Option<(u8, u8)> {
    let shape = |kind: &ColumnType| match kind {
        ColumnType::Float { digits, .. } | ColumnType::Double { digits, .. } => *digits,
        ColumnType::Decimal { scale, .. } => {
            Some((u8::try_from(kind.wire_length()).unwrap_or(u8::MAX), *scale))
        }
        whole => Some((u8::try_from(whole.text_length()).unwrap_or(u8::MAX), 0)),
    };
    let ((one, one_scale), (other, other_scale)) = shape(left).zip(shape(right))?;
    let scale = one_scale.max(other_scale);
    // A computed double can have more digits behind the point than it is announced with.
    let whole = one.saturating_sub(one_scale).max(other.saturating_sub(other_scale));
    Some((whole.saturating_add(scale), scale))
}

/// Digits that a computed DOUBLE is announced with.
const DOUBLE_DIGITS: u8 = 22;

/// A computed DOUBLE with so many digits behind the point.
pub(crate) fn double_of_scale(scale: u8) -> ColumnType {
    ColumnType::Double { unsigned: false, digits: Some((DOUBLE_DIGITS, scale)), zerofill: false }
}

/// The type that can show values of both.
pub fn unified_type(left: &ColumnType, right: &ColumnType) -> ColumnType {
    use ColumnType as T;
    match (left, right) {
        (T::Null, other) | (other, T::Null) => return other.clone().unfilled(),
        (T::Bit { bits: one }, T::Bit { bits: other }) => return T::Bit { bits: (*one).max(*other) },
        _ if left == right => return text_of_members(left),
        (T::Float { .. }, T::Float { .. }) => {
            return T::Float { unsigned: false, digits: unified_digits(left, right), zerofill: false };
        }
        _ => {}
    }
    if left.is_numeric() && right.is_numeric() {
        let digits = unified_digits(left, right);
        if is_float(left) && is_held_by_float(right, false) || is_float(right) && is_held_by_float(left, true)
        {
            return T::Float { unsigned: false, digits, zerofill: false };
        }
        if is_double_class(left) || is_double_class(right) {
            return T::Double { unsigned: false, digits, zerofill: false };
        }
        if is_decimal_class(left) || is_decimal_class(right) {
            let ((one, one_scale), (other, other_scale)) = (decimal_shape(left), decimal_shape(right));
            return decimal(
                one.saturating_sub(one_scale).max(other.saturating_sub(other_scale)),
                one_scale.max(other_scale),
                left.is_unsigned() && right.is_unsigned(),
            );
        }
        return unified_integers(left, right);
    }
    if left.is_temporal() && right.is_temporal() {
        let fsp = left.wire_decimals().max(right.wire_decimals());
        return match (left, right) {
            (T::Time { .. }, T::Time { .. }) => T::Time { fsp },
            (T::Timestamp { .. }, T::Timestamp { .. }) => T::Timestamp { fsp },
            _ => T::DateTime { fsp },
        };
    }
    let fixed = is_of_fixed_length(left) && is_of_fixed_length(right);
    let bits = |kind: &ColumnType| matches!(kind, T::Bit { .. });
    if bits(left) && right.is_temporal() || bits(right) && left.is_temporal() {
        return T::Varbinary { length: left.wire_length().max(right.wire_length()) };
    }
    if left.is_binary_string() || right.is_binary_string() {
        let length = left.wire_length().max(right.wire_length());
        if fixed && length <= MAX_FIXED_LENGTH {
            return T::Binary { length };
        }
        if left.is_blob() || right.is_blob() || length > 65_535 {
            return T::Blob { size: turnstile_values::types::BlobSize::Long };
        }
        return T::Varbinary { length };
    }
    let collation = match (left.collation(), right.collation()) {
        // Numbers and dates together are text.
        (None, None) => Collation::DEFAULT,
        _ => common_collation(left, right),
    };
    let length = left.text_length().max(right.text_length());
    let padded = |kind: &ColumnType| matches!(kind, T::Char { .. });
    if fixed && (padded(left) || padded(right)) && length <= MAX_FIXED_LENGTH {
        return T::Char { length, collation };
    }
    if left.is_blob() || right.is_blob() || length > 16_383 {
        return T::Text { size: turnstile_values::types::BlobSize::Long, collation };
    }
    T::Varchar { length, collation }
}

/// Collation of two types together: the character one; of two different ones the `_bin`, else the first.
pub fn common_collation(left: &ColumnType, right: &ColumnType) -> Collation {
    match (left.collation(), right.collation()) {
        (Some(one), Some(other)) if one == other => one,
        (Some(one), Some(other)) => {
            if other.is_binary_order() && !one.is_binary_order() {
                other
            } else {
                one
            }
        }
        (Some(one), None) | (None, Some(one)) => {
            if left.is_binary_string() || right.is_binary_string() {
                Collation::Binary
            } else {
                one
            }
        }
        (None, None) => Collation::Binary,
    }
}

/// The common type of several expressions.
pub fn unified_all(parts: &[Typed]) -> ColumnType {
    let all = parts.iter().fold(ColumnType::Null, |sum, part| unified_type(&sum, &counted(part)));
    widened(announced(signed(text_of_members(&all)), parts.iter()), parts)
}

/// One of several doubles is as wide as any computed one.
fn widened(kind: ColumnType, parts: &[Typed]) -> ColumnType {
    match (kind, parts) {
        (ColumnType::Double { digits: Some((_, scale)), .. }, [_, _, ..]) => double_of_scale(scale),
        (kind, _) => kind,
    }
}

/// The type of GREATEST and LEAST.
pub(crate) fn unified_extreme(parts: &[Typed]) -> ColumnType {
    let all = parts.iter().fold(ColumnType::Null, |sum, part| unified_type(&sum, &counted(part)));
    widened(announced(signed(all), parts.iter()), parts)
}

/// One of several decimals or doubles is one with a sign.
pub fn signed(mut kind: ColumnType) -> ColumnType {
    use ColumnType as T;
    if let T::Decimal { unsigned, .. } | T::Float { unsigned, .. } | T::Double { unsigned, .. } = &mut kind {
        *unsigned = false;
    }
    kind
}
