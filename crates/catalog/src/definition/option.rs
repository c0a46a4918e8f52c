//! What table options say, and what becomes of those that ask for something else than this engine does: each
//! of them works, warns or is refused.

use super::phase::Faults;
use turnstile_expr::expr::{EvalContext, SqlMode, WarningLevel};
use turnstile_syntax::ast::TableOption;
use turnstile_values::collation::Collation;
use turnstile_values::error::{SqlError, SqlResult};

/// What table options say.
pub struct Options {
    /// Default collation of columns.
    pub collation: Collation,
    /// AUTO_INCREMENT=
    pub auto_increment: u64,
    /// COMMENT
    pub comment: Box<str>,
}

/// Whether a name is one of those of the engine there is.
pub fn is_own_engine(name: &str) -> bool {
    ["innodb", "turnstile"].iter().any(|one| one.eq_ignore_ascii_case(name))
}

/// Reads the options of a table, in the light of what was before. `new`: the table is being created.
pub fn options(
    written: &[TableOption],
    mut options: Options,
    (table, new): (&str, bool),
    faults: &mut Faults,
    eval: &EvalContext<'_>,
) -> Options {
    for (at, option) in written.iter().enumerate() {
        if matches!(option, TableOption::Charset(_) | TableOption::Collation(_)) {
            faults.take_option(check_charset(written[..=at].iter()));
        }
        let read = option_into(&mut options, option, (table, new), eval);
        faults.take_option(read);
    }
    faults.take_option(check_block_size(written, (table, new)));
    options
}

fn option_into(
    options: &mut Options,
    option: &TableOption,
    (table, new): (&str, bool),
    eval: &EvalContext<'_>,
) -> SqlResult<()> {
    match option {
        TableOption::Engine(name) => check_engine(name, (table, new), eval)?,
        TableOption::AutoIncrement(value) => options.auto_increment = *value,
        TableOption::Charset(name) => {
            let found = Collation::default_of_charset(name);
            options.collation = found.ok_or_else(|| SqlError::unknown_character_set(name))?;
        }
        TableOption::Collation(name) => {
            options.collation = Collation::by_name(name).ok_or_else(|| SqlError::unknown_collation(name))?;
        }
        TableOption::Comment(text) => options.comment = String::from_utf8_lossy(text).into(),
        TableOption::RowFormat(format) => check_row_format(format, (table, new), eval)?,
        TableOption::Other(name, value) => check_other(name, value, table, eval)?,
    }
    Ok(())
}

/// Error 1253 for a default collation that is not one of the character set given with it.
pub fn check_charset<'o>(written: impl Iterator<Item = &'o TableOption>) -> SqlResult<()> {
    let (mut charset, mut collation) = (None, None);
    for option in written {
        match option {
            TableOption::Charset(name) => charset = Collation::default_of_charset(name),
            TableOption::Collation(name) => collation = Collation::by_name(name),
            _ => {}
        }
    }
    match (collation, charset) {
        (Some(collation), Some(charset)) => super::column::same_charset(collation, charset),
        _ => Ok(()),
    }
}

/// An engine that does not exist here is an error under NO_ENGINE_SUBSTITUTION, and else replaced with a
/// warning.
fn check_engine(name: &str, (table, new): (&str, bool), eval: &EvalContext<'_>) -> SqlResult<()> {
    if is_own_engine(name) {
        return Ok(());
    }
    let unknown = SqlError::unknown_storage_engine(name);
    if eval.settings.sql_mode.has(SqlMode::NO_ENGINE_SUBSTITUTION) {
        return Err(unknown);
    }
    eval.note(unknown);
    if new {
        eval.note(SqlError::using_other_engine("InnoDB", table));
    }
    Ok(())
}

/// All rows have one format; it can do what DYNAMIC and COMPACT promise.
fn check_row_format(format: &str, (table, new): (&str, bool), eval: &EvalContext<'_>) -> SqlResult<()> {
    match format {
        "DEFAULT" | "DYNAMIC" => Ok(()),
        "COMPACT" | "REDUNDANT" | "COMPRESSED" => {
            without_effect("ROW_FORMAT", eval);
            Ok(())
        }
        _ if new => Err(SqlError::illegal_engine_option(table)),
        _ => Err(SqlError::create_option_without_effect("ROW_TYPE")),
    }
}

/// Sizes of KEY_BLOCK_SIZE, 0 for what the format has.
const BLOCK_SIZES: [&str; 6] = ["0", "1", "2", "4", "8", "16"];

/// KEY_BLOCK_SIZE is one of few sizes, and of COMPRESSED rows alone.
fn check_block_size(written: &[TableOption], (table, new): (&str, bool)) -> SqlResult<()> {
    let size = written.iter().rev().find_map(|option| match option {
        TableOption::Other(name, value) if &**name == "KEY_BLOCK_SIZE" => Some(&**value),
        _ => None,
    });
    let format = written.iter().rev().find_map(|option| match option {
        TableOption::RowFormat(format) => Some(&**format),
        _ => None,
    });
    let Some(size) = size else { return Ok(()) };
    let other = matches!(format, Some("DYNAMIC" | "COMPACT" | "REDUNDANT"));
    if BLOCK_SIZES.contains(&size) && (size == "0" || !other) {
        return Ok(());
    }
    Err(match new {
        true => SqlError::illegal_engine_option(table),
        false => SqlError::create_option_without_effect("KEY_BLOCK_SIZE"),
    })
}

fn check_other(name: &str, value: &str, table: &str, eval: &EvalContext<'_>) -> SqlResult<()> {
    let is = |words: &[&str]| words.iter().any(|word| word.eq_ignore_ascii_case(value));
    match name {
        "ENCRYPTION" => return check_encryption(value),
        "COMPRESSION" if is(&["", "none"]) => {}
        "COMPRESSION" if !is(&["zlib", "lz4"]) => {
            eval.note(SqlError::unsupported_extension(format!(
                "Unsupported compression algorithm '{value}'"
            )));
        }
        "TABLESPACE" if is(&["innodb_system", "innodb_file_per_table"]) => {}
        "TABLESPACE" => return Err(SqlError::tablespace_missing(value)),
        "DATA DIRECTORY" | "INDEX DIRECTORY" if eval.settings.sql_mode.has(SqlMode::NO_DIR_IN_CREATE) => {
            eval.note(SqlError::option_ignored(name));
        }
        "DATA DIRECTORY" | "INDEX DIRECTORY" => return Err(SqlError::illegal_engine_option(table)),
        "ENGINE_ATTRIBUTE" => return Err(SqlError::engine_attribute_not_supported()),
        "AUTOEXTEND_SIZE" => check_autoextend_size(value, eval)?,
        "MAX_ROWS" | "MIN_ROWS" if value.parse::<u64>().is_ok_and(|rows| rows > ROWS_MAX) => {
            let option = name.to_ascii_lowercase();
            eval.note(SqlError::option_out_of_range(option, value, ROWS_MAX));
        }
        // What says that nothing is asked for.
        _ if is(&["default", "null", "0", ""]) => {}
        _ => without_effect(name, eval),
    }
    Ok(())
}

/// Largest MAX_ROWS and MIN_ROWS.
const ROWS_MAX: u64 = 0xFFFF_FFFF;

/// AUTOEXTEND_SIZE: a whole number of extents, here without effect.
///
/// # Errors
/// 1531 or 1532 for what is no size, 4023 or 4025 for one that MySQL does not have.
fn check_autoextend_size(value: &str, eval: &EvalContext<'_>) -> SqlResult<()> {
    const PAGE: u64 = 16 << 10;
    const EXTENT: u64 = 4 << 20;
    let bytes = number_of_bytes(value)?;
    if bytes == 0 {
        return Ok(());
    }
    if !(EXTENT..=EXTENT << 10).contains(&bytes) {
        return Err(SqlError::autoextend_size_range());
    }
    if !(bytes / PAGE).is_multiple_of(EXTENT / PAGE) {
        return Err(SqlError::autoextend_size_extent());
    }
    without_effect("AUTOEXTEND_SIZE", eval);
    Ok(())
}

/// A number of bytes, which may end with K, M or G.
fn number_of_bytes(value: &str) -> SqlResult<u64> {
    if let Ok(bytes) = value.parse() {
        return Ok(bytes);
    }
    let digits = value.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let shift = match value[digits.len()..].to_ascii_uppercase().as_str() {
        "K" => 10,
        "M" => 20,
        "G" => 30,
        _ => return Err(SqlError::wrong_size_number()),
    };
    let number: u64 = digits.parse().map_err(|_| SqlError::wrong_size_number())?;
    // The largest whole number of 31 bits.
    if number > 0x7FFF_FFFF { Err(SqlError::size_number_too_large()) } else { Ok(number << shift) }
}

/// ENCRYPTION of a table or a database: there is no keyring.
///
/// # Errors
/// 3185 for Y, 3184 for what is neither Y nor N.
pub fn check_encryption(value: &str) -> SqlResult<()> {
    match value {
        "n" | "N" => Ok(()),
        "y" | "Y" => Err(SqlError::no_master_key()),
        _ => Err(SqlError::invalid_encryption_option()),
    }
}

/// Warns of an option that is accepted and changes nothing.
fn without_effect(name: &str, eval: &EvalContext<'_>) {
    eval.warnings.push(WarningLevel::Warning, SqlError::create_option_without_effect(name));
}
