//! Keys over expressions: `KEY ((a + b))`.
//!
//! Each such part of a key is a hidden column whose value is the expression's, VIRTUAL as MySQL calls it. It
//! is made with its key, stands behind all columns that have names, belongs to that one part, and goes with
//! it. So rows and keys are written, locked and read as those of generated columns are; what differs is that
//! no name reaches it, and what is told of it names its key.

use std::collections::HashSet;
use std::convert::Infallible;
use std::sync::Arc;

use super::allowed::{self, Refusals};
use super::selected_type::selected_type;
use crate::dictionary::check::bind_expression;
use crate::dictionary::table::Definition;
use crate::dictionary::{Column, DefaultValue, Key};
use crate::expression_text::{canonical, columns_of, expression_text};
use turnstile_expr::expr::{EvalContext, Typed};
use turnstile_syntax::ast::{CastType, Expr, KeyDef, KeyKind, KeyTarget};
use turnstile_syntax::walk;
use turnstile_values::error::{ErrorKind, SqlError, SqlResult};
use turnstile_values::types::ColumnType;

/// What a key over an expression is called that was given no name; further ones get numbers.
pub const NAME: &str = "functional_index";

const REFUSALS: Refusals = Refusals {
    variable: |key| SqlError::default_variable(key),
    subquery: |key| SqlError::functional_function(key),
    row_value: |key| SqlError::functional_row_value(key),
    default: |key| SqlError::functional_function(key),
    function: |key, _| SqlError::functional_function(key),
    settled: true,
};

/// Whether a key that is written has an expression among its parts.
pub fn is_functional(key: &KeyDef) -> bool {
    key.parts.iter().any(|part| matches!(part.target, KeyTarget::Expr(_)))
}

/// Keys that are written, those over expressions with the names that they get: the first that is free, among
/// those that are given to other keys of the statement too.
pub(super) fn named(written: &[KeyDef], known: &[Key]) -> Vec<KeyDef> {
    let mut taken: HashSet<String> = known.iter().map(|key| key.name.to_lowercase()).collect();
    taken.extend(written.iter().filter_map(|key| Some(key.name.as_ref()?.to_lowercase())));
    let mut keys = written.to_vec();
    for key in keys.iter_mut().filter(|key| key.name.is_none() && is_functional(key)) {
        let numbered = (2..).map(|nth| format!("{NAME}_{nth}"));
        let free = std::iter::once(NAME.to_string()).chain(numbered).find(|name| !taken.contains(name));
        let name = free.unwrap_or_default();
        key.name = Some(name.as_str().into());
        taken.insert(name);
    }
    keys
}

/// Fails if a key of this kind is over no expression.
pub(super) fn check_kind(key: &KeyDef) -> SqlResult<()> {
    match key.kind {
        _ if !is_functional(key) => Ok(()),
        KeyKind::Primary => Err(SqlError::functional_primary()),
        KeyKind::FullText => Err(SqlError::functional_fulltext()),
        KeyKind::Spatial => Err(SqlError::functional_spatial()),
        KeyKind::Unique | KeyKind::Index | KeyKind::Foreign(_) => Ok(()),
    }
}

/// The hidden column of the part number `nth`, from 0, of a key.
pub(super) fn column(
    (key, nth): (&str, usize),
    expr: &Expr,
    definition: &Definition,
    eval: &EvalContext<'_>,
) -> SqlResult<Column> {
    if matches!(expr, Expr::Column(_)) {
        return Err(SqlError::functional_plain_column());
    }
    allowed::check(expr, key, &REFUSALS)?;
    if walk::any(expr, &|part| matches!(part, Expr::Default(_))) {
        return Err(SqlError::functional_function(key));
    }
    let mut expr = expr.clone();
    let Ok(()) = name_charsets(&mut expr, eval.settings.connection_collation.charset());
    let expr = canonical(&expr)?;
    let Typed { kind, .. } = bind(key, &expr, definition)?;
    let nullable = kind.nullable;
    let kind = selected_type(Some(&expr), &kind.column, (false, false));
    match kind {
        ColumnType::Json => return Err(SqlError::functional_json()),
        _ if kind.is_blob() => return Err(SqlError::functional_lob()),
        _ if kind.is_string() && kind.text_length() == 0 => {
            return Err(SqlError::functional_not_indexable(expression_text(&expr)));
        }
        _ => {}
    }
    Ok(Column {
        name: hidden_name(key, nth),
        kind,
        nullable,
        default: DefaultValue::KeyPart(Arc::new(expr)),
        on_update: None,
        auto_increment: false,
        comment: "".into(),
        invisible: true,
    })
}

/// CAST to CHAR makes a text of the client's character set, which the definition has to name.
fn name_charsets(expr: &mut Expr, client: &str) -> Result<(), Infallible> {
    if let Expr::Cast { target: CastType::Char { charset: charset @ None, .. }, .. } = expr {
        *charset = Some(client.into());
    }
    walk::children_mut(expr, &mut |child| name_charsets(child, client))
}

/// What MySQL calls a hidden column.
fn hidden_name(key: &str, nth: usize) -> Box<str> {
    format!("!hidden!{key}!{nth}!0").into()
}

fn bind(key: &str, expr: &Expr, definition: &Definition) -> SqlResult<Typed> {
    for name in columns_of(expr) {
        let found = definition.columns.iter().find(|column| column.goes_by(&name));
        if found.ok_or_else(|| SqlError::unknown_column(&name, "functional index"))?.auto_increment {
            return Err(SqlError::functional_auto_increment(key));
        }
    }
    bind_expression(expr, definition).map_err(|error| match error.kind() {
        ErrorKind::UnknownFunction => SqlError::functional_function(key),
        _ => error,
    })
}

/// The name of the key that a hidden column is there for.
pub fn key_of(definition: &Definition, column: usize) -> &str {
    let part_of = |key: &&Key| key.parts.iter().any(|part| part.column == column);
    definition.keys.iter().find(part_of).map_or(NAME, |key| &key.name)
}

/// Whether the expressions that keys are over read what they may.
pub(super) fn check(definition: &Definition) -> SqlResult<()> {
    for (at, column) in definition.columns.iter().enumerate() {
        if let Some(expr) = column.key_part() {
            bind(key_of(definition, at), expr, definition)?;
        }
    }
    Ok(())
}

/// After a change of a definition: hidden columns are called by the names that their keys have now, and hold
/// NULL where what they read does. Their types stay what they were made with, as in MySQL.
pub fn settle(definition: &mut Definition) -> SqlResult<()> {
    for key in 0..definition.keys.len() {
        for nth in 0..definition.keys[key].parts.len() {
            let at = definition.keys[key].parts[nth].column;
            let Some(expr) = definition.columns[at].key_part() else { continue };
            let nullable = bind(&definition.keys[key].name, expr, definition)?.kind.nullable;
            let name = hidden_name(&definition.keys[key].name, nth);
            let column = &mut definition.columns[at];
            column.name = name;
            column.nullable |= nullable;
        }
    }
    Ok(())
}
