//! Keys as CREATE TABLE, CREATE INDEX and ALTER TABLE write them.

use turnstile_engine::ids::IndexId;

use super::functional;
use crate::dictionary::table::{Definition, Part};
use crate::dictionary::{Column, Key};
use turnstile_expr::expr::{EvalContext, WarningLevel};
use turnstile_syntax::ast::{KeyDef, KeyKind, KeyTarget};
use turnstile_values::collation::Collation;
use turnstile_values::error::{SqlError, SqlResult};
use turnstile_values::types::ColumnType;

/// Longest key in bytes of its columns.
const KEY_BYTES_MAX: u32 = 3072;
const PARTS_MAX: usize = 16;

/// A key from its definition, without its tree, and the hidden columns of its expressions, which come behind
/// the columns that are there; None for a foreign key, which is no key of the table's.
pub fn key(
    written: &KeyDef,
    definition: &Definition,
    eval: &EvalContext<'_>,
) -> SqlResult<Option<(Key, Vec<Column>)>> {
    let Definition { columns, keys: taken, .. } = definition;
    if written.options.engine_attribute {
        return Err(SqlError::engine_attribute_not_supported());
    }
    let (primary, unique) = match &written.kind {
        KeyKind::Primary => (true, true),
        KeyKind::Unique => (false, true),
        KeyKind::Index => (false, false),
        KeyKind::Foreign(_) => return Ok(None),
        // Which is told when its name is looked at.
        KeyKind::FullText | KeyKind::Spatial if functional::is_functional(written) => (false, false),
        KeyKind::FullText => return Err(SqlError::not_supported_yet("FULLTEXT keys")),
        KeyKind::Spatial => return Err(SqlError::not_supported_yet("SPATIAL keys")),
    };
    if let (Some(name), false) = (&written.name, primary) {
        super::limit::index_name(name)?;
        if taken.iter().any(|key| key.name.eq_ignore_ascii_case(name)) {
            return Err(SqlError::duplicate_key_name(name));
        }
    }
    if primary && taken.iter().any(|key| key.primary) {
        return Err(SqlError::multiple_primary_key());
    }
    functional::check_kind(written)?;
    if written.parts.len() > PARTS_MAX {
        return Err(SqlError::too_many_key_parts(PARTS_MAX));
    }
    let name = if primary { "PRIMARY".into() } else { name(written, columns, taken) };
    let (mut parts, mut hidden) = (Vec::with_capacity(written.parts.len()), Vec::new());
    let mut bytes = 0u32;
    for (nth, part) in written.parts.iter().enumerate() {
        let column = match &part.target {
            KeyTarget::Column(name) => {
                let at = columns.iter().position(|column| column.goes_by(name));
                at.ok_or_else(|| SqlError::key_column_missing(name))?
            }
            KeyTarget::Expr(expr) => {
                hidden.push(functional::column((&name, nth), expr, definition, eval)?);
                columns.len() + hidden.len() - 1
            }
        };
        let kept = columns.get(column).unwrap_or_else(|| &hidden[column - columns.len()]);
        let (prefix, width) = limited(kept, part.length, unique, eval)?;
        bytes = bytes.saturating_add(width);
        if parts.iter().any(|known: &Part| known.column == column) {
            return Err(SqlError::duplicate_column(&kept.name));
        }
        parts.push(Part { column, prefix, descending: part.descending });
    }
    if bytes > KEY_BYTES_MAX {
        return Err(SqlError::key_too_long(KEY_BYTES_MAX));
    }
    let comment =
        written.options.comment.as_deref().map_or("".into(), |text| String::from_utf8_lossy(text).into());
    let key = Key {
        name,
        primary,
        unique,
        parts,
        index: IndexId(0),
        comment,
        visible: !written.options.invisible,
        implicit: false,
    };
    Ok(Some((key, hidden)))
}

/// What a key takes of a column, and how many bytes that may be. Outside a strict `sql_mode` a key that is
/// not unique takes as much as fits, with a warning, of a column that is too long for it.
fn limited(
    column: &Column,
    length: Option<u64>,
    unique: bool,
    eval: &EvalContext<'_>,
) -> SqlResult<(Option<u32>, u32)> {
    let (prefix, width) = part_width(column, length)?;
    if width <= KEY_BYTES_MAX {
        return Ok((prefix, width));
    }
    let error = SqlError::key_too_long(KEY_BYTES_MAX);
    if unique || eval.settings.sql_mode.is_strict() {
        return Err(error);
    }
    eval.warnings.push(WarningLevel::Warning, error);
    let per_character = column.kind.collation().map_or(1, Collation::max_char_bytes).max(1);
    let fits = KEY_BYTES_MAX / per_character;
    Ok((Some(fits), fits * per_character))
}

fn part_width(column: &Column, length: Option<u64>) -> SqlResult<(Option<u32>, u32)> {
    let (whole, per_unit) = match &column.kind {
        ColumnType::Char { length, collation } | ColumnType::Varchar { length, collation } => {
            (*length, collation.max_char_bytes())
        }
        ColumnType::Text { size, collation } => {
            (u32::try_from(size.max_bytes()).unwrap_or(u32::MAX), collation.max_char_bytes())
        }
        ColumnType::Binary { length } | ColumnType::Varbinary { length } => (*length, 1),
        ColumnType::Blob { size } => (u32::try_from(size.max_bytes()).unwrap_or(u32::MAX), 1),
        ColumnType::Json => return Err(SqlError::json_key(&column.name)),
        _ if length == Some(0) => return Err(SqlError::key_part_without_length(&column.name)),
        _ if length.is_some() => return Err(SqlError::wrong_sub_key()),
        _ => return Ok((None, 8)),
    };
    match length {
        Some(0) => Err(SqlError::key_part_without_length(&column.name)),
        None if column.kind.is_blob() => Err(SqlError::blob_key_without_length(&column.name)),
        None => Ok((None, whole.saturating_mul(per_unit))),
        Some(length) if length > u64::from(whole) => Err(SqlError::wrong_sub_key()),
        Some(length) if length == u64::from(whole) && !column.kind.is_blob() => {
            Ok((None, whole.saturating_mul(per_unit)))
        }
        Some(length) => Ok((Some(length as u32), (length as u32).saturating_mul(per_unit))),
    }
}

fn name(written: &KeyDef, columns: &[Column], taken: &[Key]) -> Box<str> {
    let used = |name: &str| taken.iter().any(|key| key.name.eq_ignore_ascii_case(name));
    if let Some(name) = &written.name {
        return name.clone();
    }
    // A key over an expression has got its name already.
    let first = match written.parts.first().map(|part| &part.target) {
        Some(KeyTarget::Column(name)) => {
            columns.iter().find(|column| column.goes_by(name)).map_or(&**name, |column| &column.name)
        }
        _ => functional::NAME,
    };
    if !used(first) {
        return first.into();
    }
    let numbered = (2..).map(|nth| format!("{first}_{nth}")).find(|name| !used(name));
    numbered.unwrap_or_default().into()
}

/// The order of keys in a table: the primary key, unique ones over columns that are NOT NULL, unique ones of
/// whole columns, other unique ones, the others; in each of these those that read VIRTUAL columns last.
pub fn sort(keys: &mut [Key], columns: &[Column]) {
    keys.sort_by_cached_key(|key| {
        let holds_null = key.parts.iter().any(|part| columns[part.column].nullable);
        let in_part = key.parts.iter().any(|part| part.prefix.is_some());
        let is_virtual = |column: &Column| column.generation().is_some_and(|(_, stored)| !stored);
        let computed = key.parts.iter().any(|part| is_virtual(&columns[part.column]));
        (!key.primary, !key.unique, key.unique && holds_null, key.unique && in_part, computed)
    });
}

/// A column has changed its type: keys that take part of its values take them whole if they are no longer of
/// that length. Errors of a type that cannot be in a key like this.
pub fn fit_parts(keys: &mut [Key], columns: &[Column], at: usize, eval: &EvalContext<'_>) -> SqlResult<()> {
    let column = &columns[at];
    let parts = keys.iter_mut().flat_map(|key| {
        let unique = key.unique;
        key.parts.iter_mut().map(move |part| (unique, part))
    });
    for (unique, part) in parts.filter(|(_, part)| part.column == at) {
        let fits = |prefix: &u32| match &column.kind {
            ColumnType::Char { length, .. }
            | ColumnType::Varchar { length, .. }
            | ColumnType::Binary { length }
            | ColumnType::Varbinary { length } => prefix < length,
            kind => kind.is_blob() && *kind != ColumnType::Json,
        };
        part.prefix = part.prefix.filter(fits);
        (part.prefix, _) = limited(column, part.prefix.map(u64::from), unique, eval)?;
    }
    let of_part =
        |part: &Part| part_width(&columns[part.column], part.prefix.map(u64::from)).map(|(_, width)| width);
    for key in keys.iter().filter(|key| key.parts.iter().any(|part| part.column == at)) {
        let widths: Vec<u32> = key.parts.iter().map(of_part).collect::<SqlResult<_>>()?;
        if widths.iter().fold(0u32, |sum, width| sum.saturating_add(*width)) > KEY_BYTES_MAX {
            return Err(SqlError::key_too_long(KEY_BYTES_MAX));
        }
    }
    Ok(())
}
