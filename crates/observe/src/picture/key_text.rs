//! Tables and keys in words, as the lock views show them.
//!
//! Engine keys are translated back: index numbers into names by the dictionary, key bytes into column values
//! by the key codec. Strings are kept as collation weights, which cannot be turned back, so a key is shown as
//! bytes from its first string on.

use std::fmt::Write;

use turnstile_catalog::dictionary::Table;
use turnstile_syntax::ast::quote_name;
use turnstile_values::value::{Value, to_text};

/// Bytes of a key that are shown.
const KEY_BYTES_MAX: usize = 64;

/// `schema`.`table`
pub fn quoted(table: &Table) -> String {
    format!("{}.{}", quote_name(&table.definition.schema), quote_name(&table.definition.name))
}

/// The values of a key, the primary key behind them if it is a secondary one. `nth` is the
/// position of the key in the table.
pub fn key_text(table: &Table, nth: Option<usize>, mut key: &[u8]) -> String {
    let own = nth.map_or(&[][..], |nth| &table.key_parts[nth]);
    let primary = table.primary().filter(|primary| nth != Some(*primary));
    let behind = primary.map_or(&[][..], |primary| &table.key_parts[primary]);
    let mut words = Vec::new();
    for part in own.iter().chain(behind) {
        match part.take(&mut key) {
            Some(Value::Null) => words.push("NULL".into()),
            Some(value @ (Value::Int(_) | Value::UInt(_) | Value::Double(_) | Value::Decimal(_))) => {
                words.push(to_text(&value).to_string());
            }
            Some(value) => words.push(format!("'{}'", to_text(&value))),
            None => break,
        }
    }
    if !key.is_empty() {
        let mut hex = String::from("0x");
        for byte in key.iter().take(KEY_BYTES_MAX) {
            let _ = write!(hex, "{byte:02X}");
        }
        words.push(hex);
    }
    words.join(", ")
}
