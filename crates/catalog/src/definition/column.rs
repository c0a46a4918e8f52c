//! Column types and columns as CREATE TABLE writes them.

mod default;

use std::sync::Arc;

use turnstile_expr::expr::EvalContext;
use turnstile_syntax::ast::{self, TypeKind};
use turnstile_values::collation::Collation;
use turnstile_values::error::{SqlError, SqlResult};
use turnstile_values::types::{BlobSize, ColumnType, IntWidth};
use turnstile_values::value::{EnumNames, Value};

use crate::dictionary::{Column, DefaultValue};
use default::default;
pub use default::{default_error, default_value, is_late};

const CHAR_MAX: u64 = 255;

const VARCHAR_BYTES_MAX: u64 = 65_535;

/// Longest name of an ENUM's or SET's member, in characters.
const MEMBER_MAX: usize = 255;

/// The type of a column.
pub fn column_type(name: &str, written: &ast::ColumnType, default: Collation) -> SqlResult<ColumnType> {
    check_numbers(name, written)?;
    let collation = || collation(written, default);
    let length = |otherwise: u64, most: u64| {
        let length = written.length.unwrap_or(otherwise);
        if length > most { Err(SqlError::column_too_big(name, most)) } else { Ok(length as u32) }
    };
    // What is filled with zeros is unsigned.
    let (unsigned, zerofill) = (written.unsigned || written.zerofill, written.zerofill);
    let int = |width| {
        let plain = ColumnType::int(width, true).wire_length();
        // Zeros fill a width, which is then shown.
        let digits = written.length.or(written.zerofill.then_some(u64::from(plain)));
        Ok(ColumnType::Int {
            width,
            unsigned,
            display: digits.map(|digits| digits.min(255) as u8),
            zerofill: written.zerofill,
        })
    };
    let text = || {
        let collation = collation()?;
        Ok(text_type(blob_size(written, collation.max_char_bytes()), collation))
    };
    let fsp = || match written.length.unwrap_or(0) {
        digits @ 0..=6 => Ok(digits as u8),
        more => Err(SqlError::too_big_precision(more, name, 6)),
    };
    match written.kind {
        TypeKind::TinyInt => int(IntWidth::Tiny),
        TypeKind::SmallInt => int(IntWidth::Small),
        TypeKind::MediumInt => int(IntWidth::Medium),
        TypeKind::Int => int(IntWidth::Int),
        TypeKind::BigInt => int(IntWidth::Big),
        TypeKind::Bit => Ok(ColumnType::Bit { bits: length(1, 64)? as u8 }),
        TypeKind::Decimal => decimal(name, written),
        TypeKind::Float if written.decimals.is_none() && written.length.is_some_and(|bits| bits > 24) => {
            Ok(ColumnType::Double { unsigned, digits: None, zerofill })
        }
        TypeKind::Float => Ok(ColumnType::Float { unsigned, digits: digits(written), zerofill }),
        TypeKind::Double => Ok(ColumnType::Double { unsigned, digits: digits(written), zerofill }),
        TypeKind::Date => Ok(ColumnType::Date),
        TypeKind::Time => Ok(ColumnType::Time { fsp: fsp()? }),
        TypeKind::DateTime => Ok(ColumnType::DateTime { fsp: fsp()? }),
        TypeKind::Timestamp => Ok(ColumnType::Timestamp { fsp: fsp()? }),
        TypeKind::Year => Ok(ColumnType::Year),
        TypeKind::Char => {
            let (length, collation) = (length(1, CHAR_MAX)?, collation()?);
            let binary = collation == Collation::Binary;
            Ok(if binary { ColumnType::Binary { length } } else { ColumnType::Char { length, collation } })
        }
        TypeKind::VarChar => {
            let collation = collation()?;
            let length = length(1, VARCHAR_BYTES_MAX / u64::from(collation.max_char_bytes()))?;
            let binary = collation == Collation::Binary;
            Ok(if binary {
                ColumnType::Varbinary { length }
            } else {
                ColumnType::Varchar { length, collation }
            })
        }
        TypeKind::Binary => Ok(ColumnType::Binary { length: length(1, CHAR_MAX)? }),
        TypeKind::VarBinary => Ok(ColumnType::Varbinary { length: length(1, VARCHAR_BYTES_MAX)? }),
        TypeKind::TinyText | TypeKind::Text | TypeKind::MediumText | TypeKind::LongText => text(),
        TypeKind::TinyBlob | TypeKind::Blob | TypeKind::MediumBlob | TypeKind::LongBlob => {
            Ok(ColumnType::Blob { size: blob_size(written, 1) })
        }
        TypeKind::Enum | TypeKind::Set => enumeration(name, written, collation()?),
        TypeKind::Json => Ok(ColumnType::Json),
    }
}

/// Error 1074 for a CHAR or BINARY that is too long: unlike that of a VARCHAR, this depends on no character
/// set.
pub fn fixed_length(written: &ast::ColumnDef) -> SqlResult<()> {
    let kind = &written.column_type;
    let fixed = matches!(kind.kind, TypeKind::Char | TypeKind::Binary);
    // What no type has is told as that.
    let long = kind.length.is_some_and(|length| length > CHAR_MAX && length <= u64::from(u32::MAX));
    if fixed && long { Err(SqlError::column_too_big(&written.name, CHAR_MAX)) } else { Ok(()) }
}

/// Numbers in a type's parentheses that no type has.
fn check_numbers(name: &str, written: &ast::ColumnType) -> SqlResult<()> {
    use TypeKind as T;
    let Some(length) = written.length else { return Ok(()) };
    let most = match written.kind {
        T::TinyInt | T::SmallInt | T::MediumInt | T::Int | T::BigInt => 255,
        T::Float | T::Double if written.decimals.is_some() => 255,
        T::Bit => 64,
        _ => u64::from(u32::MAX),
    };
    match written.kind {
        T::Bit if length == 0 => Err(SqlError::invalid_field_size(name)),
        T::Year if length != 4 => Err(SqlError::invalid_year_width()),
        T::Float if written.decimals.is_none() && length > 53 => Err(SqlError::wrong_column_spec(name)),
        T::Float | T::Double if written.decimals.is_some_and(|scale| scale > 30) => {
            Err(SqlError::too_big_scale(written.decimals.unwrap_or(0), name, 30))
        }
        T::Float | T::Double if written.decimals.is_some_and(|scale| scale > length) => {
            Err(SqlError::scale_over_precision(name))
        }
        _ if length > most => Err(SqlError::too_big_display_width(name, most)),
        _ => Ok(()),
    }
}

fn text_type(size: BlobSize, collation: Collation) -> ColumnType {
    if collation == Collation::Binary {
        ColumnType::Blob { size }
    } else {
        ColumnType::Text { size, collation }
    }
}

/// The smallest that holds as many characters as `TEXT(n)` and `BLOB(n)` say.
fn blob_size(written: &ast::ColumnType, char_bytes: u32) -> BlobSize {
    match written.kind {
        TypeKind::TinyText | TypeKind::TinyBlob => BlobSize::Tiny,
        TypeKind::MediumText | TypeKind::MediumBlob => BlobSize::Medium,
        TypeKind::LongText | TypeKind::LongBlob => BlobSize::Long,
        _ => {
            let Some(length) = written.length else { return BlobSize::Normal };
            let bytes = length.saturating_mul(u64::from(char_bytes));
            let sizes = [BlobSize::Tiny, BlobSize::Normal, BlobSize::Medium];
            sizes.into_iter().find(|size| bytes <= size.max_bytes()).unwrap_or(BlobSize::Long)
        }
    }
}

fn collation(written: &ast::ColumnType, default: Collation) -> SqlResult<Collation> {
    let by_name = |name: &str| Collation::by_name(name).ok_or_else(|| SqlError::unknown_collation(name));
    let by_charset =
        |name: &str| Collation::default_of_charset(name).ok_or_else(|| SqlError::unknown_character_set(name));
    let found = match (&written.collation, &written.charset) {
        (Some(name), _) => by_name(name)?,
        (None, Some(name)) => by_charset(name)?,
        (None, None) => default,
    };
    if let (Some(_), Some(charset)) = (&written.collation, &written.charset) {
        same_charset(found, by_charset(charset)?)?;
    }
    Ok(if written.binary_collation { found.binary_of_charset() } else { found })
}

/// Error 1253 for a collation that is not one of a character set's, which any of its collations stands for.
pub fn same_charset(collation: Collation, charset: Collation) -> SqlResult<()> {
    if collation.charset() == charset.charset() {
        return Ok(());
    }
    Err(SqlError::collation_charset_mismatch(collation.name(), charset.charset()))
}

/// What MySQL advises against in the type of a column that is made like another one.
pub fn deprecated_in(kind: &ColumnType) -> Vec<SqlError> {
    let real =
        matches!(kind, ColumnType::Decimal { .. } | ColumnType::Float { .. } | ColumnType::Double { .. });
    let digits = matches!(
        kind,
        ColumnType::Float { digits: Some(_), .. } | ColumnType::Double { digits: Some(_), .. }
    );
    let mut said = Vec::new();
    if digits {
        said.push(SqlError::deprecated_float_digits());
    }
    if real && kind.is_unsigned() {
        said.push(SqlError::deprecated_unsigned_real());
    }
    if kind.is_zerofill() && *kind != ColumnType::Year {
        said.push(SqlError::deprecated_zerofill());
    }
    said
}

fn decimal(name: &str, written: &ast::ColumnType) -> SqlResult<ColumnType> {
    let precision = written.length.filter(|digits| *digits > 0).unwrap_or(10);
    let scale = written.decimals.unwrap_or(0);
    if precision > u64::from(turnstile_values::decimal::MAX_PRECISION) {
        return Err(SqlError::too_big_precision(precision, name, turnstile_values::decimal::MAX_PRECISION));
    }
    if scale > u64::from(turnstile_values::decimal::MAX_SCALE) {
        return Err(SqlError::too_big_scale(scale, name, turnstile_values::decimal::MAX_SCALE));
    }
    if scale > precision {
        return Err(SqlError::scale_over_precision(name));
    }
    let (unsigned, zerofill) = (written.unsigned || written.zerofill, written.zerofill);
    Ok(ColumnType::Decimal { precision: precision as u8, scale: scale as u8, unsigned, zerofill })
}

fn digits(written: &ast::ColumnType) -> Option<(u8, u8)> {
    let scale = written.decimals?;
    Some((written.length.unwrap_or(10).min(255) as u8, scale.min(30) as u8))
}

fn enumeration(name: &str, written: &ast::ColumnType, collation: Collation) -> SqlResult<ColumnType> {
    let multiple = written.kind == TypeKind::Set;
    let names = members(name, written, multiple, collation)?;
    Ok(if multiple { ColumnType::Set { names, collation } } else { ColumnType::Enum { names, collation } })
}

fn members(
    column: &str,
    written: &ast::ColumnType,
    multiple: bool,
    collation: Collation,
) -> SqlResult<Arc<EnumNames>> {
    let most = if multiple { 64 } else { 65_535 };
    if written.values.len() > most {
        return Err(SqlError::too_big_set(column));
    }
    let name = |bytes: &ast::Text| String::from_utf8_lossy(bytes).trim_end_matches(' ').to_string();
    let names: Vec<_> = written.values.iter().map(name).collect();
    if names.iter().any(|name| name.chars().count() > MEMBER_MAX) {
        return Err(SqlError::too_long_member(column));
    }
    if multiple && let Some(name) = names.iter().find(|name| name.contains(',')) {
        return Err(SqlError::illegal_value("set", name));
    }
    let mut seen = std::collections::HashMap::with_capacity(names.len());
    for name in &names {
        let mut weights = Vec::new();
        collation.append_weights(name.as_bytes(), &mut weights);
        if let Some(first) = seen.insert(weights, name) {
            let kind = if multiple { "SET" } else { "ENUM" };
            return Err(SqlError::duplicated_value_in_type(column, first, kind));
        }
    }
    Ok(Arc::new(EnumNames { multiple, names }))
}

/// Fails if a type names a character set or a collation that there is not.
pub fn known_names(written: &ast::ColumnType) -> SqlResult<()> {
    names_known(written.charset.as_deref(), written.collation.as_deref())
}

/// Fails if there is no such character set or collation.
pub fn names_known(charset: Option<&str>, collation: Option<&str>) -> SqlResult<()> {
    if let Some(name) = charset {
        Collation::default_of_charset(name).ok_or_else(|| SqlError::unknown_character_set(name))?;
    }
    if let Some(name) = collation {
        Collation::by_name(name).ok_or_else(|| SqlError::unknown_collation(name))?;
    }
    Ok(())
}

/// A column that nothing depends on, in the place of one with a fault.
pub fn stand_in(written: &ast::ColumnDef) -> Column {
    Column {
        name: written.name.clone(),
        nullable: true,
        default: DefaultValue::Value(Value::Null),
        on_update: None,
        auto_increment: false,
        comment: "".into(),
        invisible: false,
        kind: ColumnType::BIGINT,
    }
}

/// That defaults do not fit the types of their columns: said when nothing else is wrong, and in the order of
/// the columns.
#[derive(Debug, Default)]
pub struct LateFaults(Vec<(Box<str>, SqlError)>);

impl LateFaults {
    /// Notes what is wrong with a column's default.
    pub fn note(&mut self, column: &str, error: SqlError) {
        self.0.push((column.into(), error));
    }

    /// The fault of the first column that has one, in a table with these columns.
    #[must_use]
    pub fn first(self, columns: &[Column]) -> Option<SqlError> {
        let place = |name: &str| columns.iter().position(|column| column.name.eq_ignore_ascii_case(name));
        let first = self.0.into_iter().min_by_key(|(name, _)| place(name).unwrap_or(columns.len()));
        first.map(|(_, error)| error)
    }
}

/// A column from its definition. `in_primary`: it belongs to the primary key, and so is NOT NULL. `late`:
/// that a default does not fit its type is said when nothing else is wrong with the columns and keys of the
/// statement.
pub fn column(
    written: &ast::ColumnDef,
    collation: Collation,
    in_primary: bool,
    late: &mut LateFaults,
    eval: &EvalContext<'_>,
) -> SqlResult<Column> {
    if written.engine_attribute {
        return Err(SqlError::engine_attribute_not_supported());
    }
    super::limit::column_name(&written.name)?;
    let kind = column_type(&written.name, &written.column_type, collation)?;
    let moment = match &kind {
        ColumnType::DateTime { fsp } | ColumnType::Timestamp { fsp } => Some(*fsp),
        _ => None,
    };
    if written.on_update.is_some() && written.on_update != moment {
        return Err(SqlError::invalid_on_update(&written.name));
    }
    let nullable = written.nullable.unwrap_or(true) && !in_primary && !written.auto_increment;
    let default = match &written.generated {
        Some(generated) => super::generated::generation(written, generated)?,
        None => default(written, &kind, nullable, late, eval)?,
    };
    let comment = written.comment.as_deref().map_or("".into(), |text| String::from_utf8_lossy(text).into());
    Ok(Column {
        name: written.name.clone(),
        nullable,
        default,
        on_update: written.on_update,
        auto_increment: written.auto_increment,
        comment,
        invisible: written.invisible,
        kind,
    })
}
