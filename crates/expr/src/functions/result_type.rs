//! Types of results that several functions share, computed from the arguments.

use turnstile_values::collation::Collation;
use turnstile_values::types::{BlobSize, ColumnType, IntWidth};
use turnstile_values::value::Value;

use crate::expr::{EvalContext, EvalSettings, Expr, NoRow, NoSession, Typed, Warnings, unified_extreme};

// Result types.

pub(super) fn bigint(_: &[Typed]) -> ColumnType {
    ColumnType::BIGINT
}

pub(super) fn unsigned(_: &[Typed]) -> ColumnType {
    ColumnType::BIGINT_UNSIGNED
}

pub(super) fn double(_: &[Typed]) -> ColumnType {
    ColumnType::DOUBLE
}

pub(super) fn date(_: &[Typed]) -> ColumnType {
    ColumnType::Date
}

/// LEFT, RIGHT, SUBSTRING: as long as is asked for, and no longer than the first argument.
pub(super) fn part_type(arguments: &[Typed]) -> ColumnType {
    let Some(first) = arguments.first().filter(|first| first.kind.column != ColumnType::Null) else {
        return text_like_first(arguments);
    };
    let whole = first.kind.column.text_length();
    let wanted = arguments.get(1..).and_then(|rest| rest.last()).and_then(|count| known_length(&count.expr));
    let wanted = wanted.map_or(whole, |wanted| u32::try_from(wanted.max(0)).unwrap_or(u32::MAX));
    string_type(whole.min(wanted), arguments)
}

/// Text as long as the first argument.
pub(super) fn text_like_first(arguments: &[Typed]) -> ColumnType {
    if arguments.first().is_some_and(|first| first.kind.column == ColumnType::Null) {
        return ColumnType::Varbinary { length: 0 };
    }
    string_type(arguments.first().map_or(0, |first| first.kind.column.text_length()), arguments)
}

/// The same where NULL is no bytes either.
pub(super) fn text_always(arguments: &[Typed]) -> ColumnType {
    match text_like_first(arguments) {
        ColumnType::Varbinary { length: 0 } => ColumnType::varchar(0),
        kind => kind,
    }
}

/// Text as long as all arguments together.
pub(super) fn text_sum(arguments: &[Typed]) -> ColumnType {
    let length = arguments.iter().fold(0u32, |sum, part| sum.saturating_add(part.kind.column.text_length()));
    string_type(length, arguments)
}

/// An argument that is a length and known before there are rows; None where it is not known, or negative.
pub(super) fn literal_length(arguments: &[Typed], place: usize) -> Option<u32> {
    u32::try_from(known_length(&arguments.get(place)?.expr)?).ok()
}

/// The whole number that a constant gives; None if it is NULL or not known yet.
pub(super) fn known_length(expr: &Expr) -> Option<i64> {
    known(
        expr,
        |value, context| {
            if value.is_null() { None } else { turnstile_values::value::to_i64(value, context).ok() }
        },
    )
}

/// Whether a condition is known to hold for no row before there are rows.
pub fn is_never(expr: &Expr) -> bool {
    let holds = known(expr, |value, context| {
        turnstile_values::value::to_bool(value, context).ok().map(|truth| truth == Some(true))
    });
    holds == Some(false)
}

/// What is made of the value of a constant; None if it is not known yet.
pub(super) fn known<T>(expr: &Expr, of: impl Fn(&Value, &EvalContext<'_>) -> Option<T>) -> Option<T> {
    let open = |part: &Expr| matches!(part, Expr::Parameter(_) | Expr::SystemVariable { .. });
    let mut known = expr.is_constant();
    expr.walk(&mut |part| known &= !open(part));
    let (settings, warnings) = (EvalSettings::default(), Warnings::new());
    let context = EvalContext { settings, parameters: &[], session: &NoSession, warnings: &warnings };
    let value = known.then(|| expr.eval(&NoRow, &context).ok()).flatten();
    value.and_then(|value| of(&value, &context))
}

/// Bytes of a value's text: of bits, one for each of them.
pub(crate) fn bytes_of_text(kind: &ColumnType) -> u32 {
    kind.text_length().saturating_mul(kind.collation().map_or(1, Collation::max_char_bytes))
}

/// Bytes of an argument's text.
pub(super) fn text_bytes(arguments: &[Typed]) -> u32 {
    let Some(first) = arguments.first() else { return 0 };
    bytes_of_text(&first.kind.column)
}

/// HEX: two characters a byte, and always text.
pub(super) fn hex_type(arguments: &[Typed]) -> ColumnType {
    if arguments.first().is_some_and(|first| first.kind.column.is_numeric()) {
        return ColumnType::varchar(16);
    }
    string_type(text_bytes(arguments).saturating_mul(2), &[])
}

/// TO_BASE64: four characters for three bytes, and a line break after 76.
pub(super) fn base64_type(arguments: &[Typed]) -> ColumnType {
    let characters = text_bytes(arguments).div_ceil(3).saturating_mul(4);
    string_type(characters.saturating_add(characters.saturating_sub(1) / 76), &[])
}

/// QUOTE: every character may get a backslash, and there are two quotes.
pub(super) fn quoted_type(arguments: &[Typed]) -> ColumnType {
    let length = arguments.first().map_or(0, |first| first.kind.column.text_length());
    string_type(length.saturating_mul(2).saturating_add(2), &[])
}

/// JSON_QUOTE: a character may become an escape of six.
pub(super) fn json_quoted_type(arguments: &[Typed]) -> ColumnType {
    let length = arguments.first().map_or(0, |first| first.kind.column.text_length());
    string_type(length.saturating_mul(6).saturating_add(2), &[])
}

/// SHA2: as many hex digits as the wanted hash has.
pub(super) fn sha2_type(arguments: &[Typed]) -> ColumnType {
    ColumnType::varchar(match literal_length(arguments, 1) {
        Some(224) => 56,
        Some(0 | 256) => 64,
        Some(384) => 96,
        _ => 128,
    })
}

/// REPLACE: each occurrence may become longer.
pub(super) fn replaced_type(arguments: &[Typed]) -> ColumnType {
    let length = |at: usize| arguments.get(at).map_or(0, |one: &Typed| one.kind.column.text_length());
    let (text, from, to) = (length(0), length(1), length(2));
    let more = match text.checked_div(from) {
        Some(times) => times.saturating_mul(to.saturating_sub(from)),
        None => text.saturating_mul(to),
    };
    string_type(text.saturating_add(more), arguments)
}

/// REPEAT: the text so many times.
pub(super) fn repeated_type(arguments: &[Typed]) -> ColumnType {
    let length = arguments.first().map_or(0, |first| first.kind.column.text_length());
    string_type(
        literal_length(arguments, 1).map_or(u32::MAX, |times| length.saturating_mul(times)),
        arguments,
    )
}

/// LPAD, RPAD: as long as is asked for; bytes if the first is no text at all.
pub(super) fn padded_type(arguments: &[Typed]) -> ColumnType {
    let length = literal_length(arguments, 1).unwrap_or(u32::MAX);
    match arguments.first() {
        Some(first) if first.kind.column == ColumnType::Null => bytes_type(length),
        _ => string_type(length, arguments),
    }
}

/// SPACE: nothing of a constant that is negative or NULL.
pub(super) fn spaces_type(arguments: &[Typed]) -> ColumnType {
    let settled = arguments
        .first()
        .is_some_and(|count| count.expr.is_constant() && !matches!(count.expr, Expr::Parameter(_)));
    string_type(literal_length(arguments, 0).unwrap_or(if settled { 0 } else { u32::MAX }), &[])
}

/// INSERT: both texts, bytes if the first is no text at all.
pub(super) fn inserted_type(arguments: &[Typed]) -> ColumnType {
    match arguments.first() {
        Some(first) if first.kind.column == ColumnType::Null => text_like_first(arguments),
        _ => {
            let length = |at: usize| arguments.get(at).map_or(0, |one: &Typed| one.kind.column.text_length());
            string_type(length(0).saturating_add(length(3)), arguments)
        }
    }
}

/// EXPORT_SET: 64 of the longer text, and what is between them.
pub(super) fn export_set_type(arguments: &[Typed]) -> ColumnType {
    let length = |at: usize| arguments.get(at).map_or(1, |one: &Typed| one.kind.column.text_length());
    let longer = length(1).max(length(2));
    string_type(longer.saturating_mul(64).saturating_add(length(3).saturating_mul(63)), arguments)
}

/// Text of unknown length.
pub(super) fn text_long(arguments: &[Typed]) -> ColumnType {
    string_type(u32::MAX, arguments)
}

/// Whether: one digit.
pub(super) fn truth(_: &[Typed]) -> ColumnType {
    ColumnType::Int { width: IntWidth::Big, unsigned: false, display: Some(1), zerofill: false }
}

/// A length of at most 32 bits.
pub(super) fn unsigned_length(_: &[Typed]) -> ColumnType {
    ColumnType::Int { width: IntWidth::Big, unsigned: false, display: Some(10), zerofill: false }
}

/// A number of 32 bits without sign.
pub(super) fn unsigned_short(_: &[Typed]) -> ColumnType {
    ColumnType::Int { width: IntWidth::Big, unsigned: true, display: Some(10), zerofill: false }
}

/// Text of exactly so many characters.
pub(super) fn text_of<const LENGTH: u32>(_: &[Typed]) -> ColumnType {
    ColumnType::varchar(LENGTH)
}

/// So many bytes.
pub(super) fn bytes_of<const LENGTH: u32>(_: &[Typed]) -> ColumnType {
    ColumnType::Varbinary { length: LENGTH }
}

/// FROM_BASE64: three bytes of four characters.
pub(super) fn from_base64_type(arguments: &[Typed]) -> ColumnType {
    bytes_type(text_bytes(arguments) / 4 * 3)
}

/// UNHEX: a byte of two digits.
pub(super) fn unhex_type(arguments: &[Typed]) -> ColumnType {
    bytes_type(text_bytes(arguments).div_ceil(2))
}

pub(crate) fn bytes_type(length: u32) -> ColumnType {
    if length > 65_535 { ColumnType::Blob { size: BlobSize::Long } } else { ColumnType::Varbinary { length } }
}

/// Short text.
pub(super) fn text_short(_: &[Typed]) -> ColumnType {
    ColumnType::varchar(64)
}

pub(super) fn unified(arguments: &[Typed]) -> ColumnType {
    unified_extreme(arguments)
}

pub(super) fn string_type(length: u32, arguments: &[Typed]) -> ColumnType {
    if arguments.iter().any(|argument| argument.kind.column.is_binary_string()) {
        return if length > 65_535 {
            ColumnType::Blob { size: BlobSize::Long }
        } else {
            ColumnType::Varbinary { length }
        };
    }
    if length > 16_383 {
        return ColumnType::Text { size: BlobSize::Long, collation: Collation::DEFAULT };
    }
    ColumnType::varchar(length)
}
