//! Limits of definitions: lengths of names and comments, the width of a row, numbers in a type's parentheses.
//!
//! A row's width is counted as MySQL's record buffer counts it, not as our rows are stored: a definition that
//! MySQL takes is taken, and one that it refuses is refused, whatever a row needs on a page.

use crate::dictionary::table::Definition;
use crate::dictionary::{Column, Key};
use turnstile_expr::expr::{EvalContext, WarningLevel};
use turnstile_values::error::{SqlError, SqlResult};
use turnstile_values::types::ColumnType;

/// Longest name of anything, in characters.
pub const NAME_MAX: usize = 64;
/// Longest comment of a column or an index, in characters.
const COMMENT_MAX: usize = 1024;
/// Longest comment of a table, in characters.
const TABLE_COMMENT_MAX: usize = 2048;
/// Bytes of a comment that a warning shows.
const SHOWN_BYTES: usize = 6;
/// Widest row in bytes, TEXT and BLOB counted as their pointers.
const ROW_BYTES_MAX: u64 = 65_535;

/// Error 1059 for a name that is too long.
pub fn name_length(name: &str) -> SqlResult<()> {
    if name.chars().count() > NAME_MAX { Err(SqlError::too_long_identifier(name)) } else { Ok(()) }
}

fn is_odd(name: &str) -> bool {
    name.is_empty() || name.ends_with(' ') || name.contains('\0')
}

/// A name that a table may have: errors 1059 and 1103.
pub fn table_name(name: &str) -> SqlResult<()> {
    name_length(name)?;
    if is_odd(name) { Err(SqlError::wrong_table_name(name)) } else { Ok(()) }
}

/// A name that a database may have: errors 1059 and 1102.
pub fn database_name(name: &str) -> SqlResult<()> {
    name_length(name)?;
    let odd = is_odd(name) || name.contains(['/', '\\']);
    if odd { Err(SqlError::wrong_database_name(name)) } else { Ok(()) }
}

/// A name that a column may have: errors 1059 and 1166.
pub fn column_name(name: &str) -> SqlResult<()> {
    name_length(name)?;
    if is_odd(name) { Err(SqlError::wrong_column_name(name)) } else { Ok(()) }
}

/// A new name for a column that is there: MySQL does not say of it that it is too long.
pub fn new_column_name(name: &str) -> SqlResult<()> {
    column_name(name).map_err(|_| SqlError::wrong_column_name(name))
}

const ROW_ID_KEY: &str = "GEN_CLUST_INDEX";

/// A name that an index may have: errors 1059 and 1280. Only the primary key is called PRIMARY.
pub fn index_name(name: &str) -> SqlResult<()> {
    name_length(name)?;
    // InnoDB's name of the key of a table without one; MySQL tells it in capitals.
    if name.eq_ignore_ascii_case(ROW_ID_KEY) {
        return Err(SqlError::wrong_index_name(ROW_ID_KEY));
    }
    let odd = is_odd(name) || name.eq_ignore_ascii_case("PRIMARY");
    if odd { Err(SqlError::wrong_index_name(name)) } else { Ok(()) }
}

/// A comment as MySQL's dictionary can keep it: of utf8mb3. What else a client of another set says becomes
/// question marks, with a warning; a client of that set has no right to say it.
fn in_utf8mb3(text: &mut Box<str>, of: (&str, String), eval: &EvalContext<'_>) -> SqlResult<()> {
    let Some((at, _)) = text.char_indices().find(|(_, character)| character.len_utf8() > 3) else {
        return Ok(());
    };
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("\\x{byte:02X}")).collect::<String>();
    let set = eval.settings.connection_collation.charset();
    if set == "utf8mb3" {
        let bytes = hex(&text.as_bytes()[at..at + 3]);
        return Err(SqlError::comment_invalid(of.0, of.1, bytes));
    }
    let printable = |byte: &u8| match byte {
        0x20..0x7f => char::from(*byte).to_string(),
        byte => hex(std::slice::from_ref(byte)),
    };
    let mut shown: String = text.as_bytes().iter().take(SHOWN_BYTES).map(printable).collect();
    if text.len() > SHOWN_BYTES {
        shown.push_str("...");
    }
    let warning = SqlError::comment_not_converted(shown, set);
    eval.warnings.push(WarningLevel::Warning, warning);
    let kept = |character: char| if character.len_utf8() > 3 { '?' } else { character };
    *text = text.chars().map(kept).collect::<String>().into();
    Ok(())
}

/// A comment that fits: where it does not, the error under a strict `sql_mode`, else what fits of it with a
/// warning.
fn comment(text: &mut Box<str>, most: usize, error: SqlError, eval: &EvalContext<'_>) -> SqlResult<()> {
    let Some((end, _)) = text.char_indices().nth(most) else { return Ok(()) };
    if eval.settings.sql_mode.is_strict() {
        return Err(error);
    }
    eval.warnings.push(WarningLevel::Warning, error);
    *text = text[..end].into();
    Ok(())
}

/// Error 1628 for a table's comment that is too long, under a strict `sql_mode`.
pub fn table_comment(definition: &Definition, eval: &EvalContext<'_>) -> SqlResult<()> {
    let error = || SqlError::table_comment_too_long(&definition.name, TABLE_COMMENT_MAX);
    strict_length(&definition.comment, TABLE_COMMENT_MAX, error, eval)
}

/// Error 1629 for a column's, likewise.
pub fn column_comment(column: &Column, eval: &EvalContext<'_>) -> SqlResult<()> {
    let error = || SqlError::column_comment_too_long(&column.name, COMMENT_MAX);
    strict_length(&column.comment, COMMENT_MAX, error, eval)
}

/// Error 1688 for a key's, likewise.
pub fn key_comment(key: &Key, eval: &EvalContext<'_>) -> SqlResult<()> {
    strict_length(
        &key.comment,
        COMMENT_MAX,
        || SqlError::index_comment_too_long(&key.name, COMMENT_MAX),
        eval,
    )
}

fn strict_length(
    text: &str,
    most: usize,
    error: impl Fn() -> SqlError,
    eval: &EvalContext<'_>,
) -> SqlResult<()> {
    let fits = text.len() <= most || text.chars().nth(most).is_none();
    if fits || !eval.settings.sql_mode.is_strict() { Ok(()) } else { Err(error()) }
}

/// Limits the comments of a definition.
pub fn comments(definition: &mut Definition, eval: &EvalContext<'_>) -> SqlResult<()> {
    let table = format!("{}.{}", definition.schema, definition.name);
    in_utf8mb3(&mut definition.comment, ("table", table.clone()), eval)?;
    let too_long = SqlError::table_comment_too_long(&definition.name, TABLE_COMMENT_MAX);
    comment(&mut definition.comment, TABLE_COMMENT_MAX, too_long, eval)?;
    for column in &mut definition.columns {
        in_utf8mb3(&mut column.comment, ("field", format!("{table}.{}", column.name)), eval)?;
        let too_long = SqlError::column_comment_too_long(&column.name, COMMENT_MAX);
        comment(&mut column.comment, COMMENT_MAX, too_long, eval)?;
    }
    for key in &mut definition.keys {
        in_utf8mb3(&mut key.comment, ("index", format!("{table}.{}", key.name)), eval)?;
        let too_long = SqlError::index_comment_too_long(&key.name, COMMENT_MAX);
        comment(&mut key.comment, COMMENT_MAX, too_long, eval)?;
    }
    Ok(())
}

/// Bytes of a column in MySQL's record.
fn column_bytes(kind: &ColumnType) -> u64 {
    let fraction = |fsp: u8| u64::from(fsp.div_ceil(2));
    let counted = |bytes: u64| bytes + if bytes < 256 { 1 } else { 2 };
    match kind {
        ColumnType::Null => 0,
        ColumnType::Int { width, .. } => width.bytes() as u64,
        ColumnType::Decimal { precision, scale, .. } => {
            let digits = |count: u8| u64::from(count / 9) * 4 + u64::from((count % 9).div_ceil(2));
            digits(precision.saturating_sub(*scale)) + digits(*scale)
        }
        ColumnType::Float { .. } => 4,
        ColumnType::Double { .. } => 8,
        ColumnType::Bit { bits } => u64::from(bits.div_ceil(8)),
        ColumnType::Char { length, collation } => u64::from(*length) * u64::from(collation.max_char_bytes()),
        ColumnType::Binary { length } => u64::from(*length),
        ColumnType::Varchar { length, collation } => {
            counted(u64::from(*length) * u64::from(collation.max_char_bytes()))
        }
        ColumnType::Varbinary { length } => counted(u64::from(*length)),
        ColumnType::Text { size, .. } | ColumnType::Blob { size } => match size.max_bytes() {
            0..=0xff => 9,
            0x100..=0xffff => 10,
            0x1_0000..=0xff_ffff => 11,
            _ => 12,
        },
        ColumnType::Json => 12,
        ColumnType::Date => 3,
        ColumnType::Time { fsp } => 3 + fraction(*fsp),
        ColumnType::DateTime { fsp } => 5 + fraction(*fsp),
        ColumnType::Timestamp { fsp } => 4 + fraction(*fsp),
        ColumnType::Year => 1,
        ColumnType::Enum { names, .. } => 1 + u64::from(names.names.len() > 255),
        ColumnType::Set { names, .. } => match names.names.len().div_ceil(8) {
            bytes @ 0..=4 => bytes as u64,
            _ => 8,
        },
    }
}

/// Error 1118 for columns that make too wide a row.
pub fn row_width(columns: &[Column]) -> SqlResult<()> {
    let bytes: u64 = columns.iter().map(|column| column_bytes(&column.kind)).sum();
    let nullable = columns.iter().filter(|column| column.nullable).count().div_ceil(8) as u64;
    if bytes + nullable > ROW_BYTES_MAX { Err(SqlError::row_too_large(ROW_BYTES_MAX)) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_limited() {
        assert!(table_name(&"é".repeat(64)).is_ok());
        assert_eq!(table_name(&"é".repeat(65)).map_err(|error| error.code), Err(1059));
        assert_eq!(index_name("primary").map_err(|error| error.code), Err(1280));
        assert_eq!(column_name("a ").map_err(|error| error.code), Err(1166));
        assert_eq!(database_name("").map_err(|error| error.code), Err(1102));
    }

    #[test]
    fn columns_have_the_width_of_mysqls_records() {
        let decimal = ColumnType::Decimal { precision: 10, scale: 2, unsigned: false, zerofill: false };
        assert_eq!(column_bytes(&decimal), 5);
        assert_eq!(column_bytes(&ColumnType::Varbinary { length: 255 }), 256);
        assert_eq!(column_bytes(&ColumnType::Varbinary { length: 256 }), 258);
        assert_eq!(column_bytes(&ColumnType::DateTime { fsp: 5 }), 8);
    }
}
