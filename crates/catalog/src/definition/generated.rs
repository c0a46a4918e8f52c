//! Generated columns: `GENERATED ALWAYS AS (expression)`, VIRTUAL or STORED.
//!
//! Such an expression reads other columns of its row and nothing else, as a CHECK does, so that the same row
//! has the same value at any moment and for anybody. It reads no AUTO_INCREMENT column, whose value is found
//! last, and of generated columns only those before it: so they are computed in the order of the columns,
//! after everything else in the row.

use std::sync::Arc;

use super::allowed::{self, Refusals};
use super::functional;
use crate::dictionary::check::bind_expression;
use crate::dictionary::foreign_key::ForeignKey;
use crate::dictionary::table::Definition;
use crate::dictionary::{Action, Column, DefaultValue};
use crate::expression_text::{canonical, columns_of};
use turnstile_syntax::ast::{ColumnDef, Generated};
use turnstile_values::error::{SqlError, SqlResult};

const REFUSALS: Refusals = Refusals {
    variable: |column| SqlError::default_variable(column),
    subquery: |column| SqlError::generated_function(column),
    row_value: |column| SqlError::generated_row_value(column),
    default: |column| SqlError::generated_named_function(column, "default"),
    function: |column, function| SqlError::generated_named_function(column, function),
    settled: true,
};

/// What a generated column keeps in the place of a default; its columns are looked at when all are known, by
/// [`check`].
pub fn generation(written: &ColumnDef, generated: &Generated) -> SqlResult<DefaultValue> {
    let clauses = [
        (written.default.is_some(), "DEFAULT"),
        (written.auto_increment, "AUTO_INCREMENT"),
        (written.on_update.is_some(), "ON UPDATE"),
    ];
    if let Some((_, clause)) = clauses.into_iter().find(|(given, _)| *given) {
        return Err(SqlError::wrong_usage(clause, "generated column"));
    }
    allowed::check(&generated.expr, &written.name, &REFUSALS)?;
    Ok(DefaultValue::Generated(Arc::new(canonical(&generated.expr)?), generated.stored))
}

/// Whether generated columns read what they may.
pub fn check(definition: &Definition) -> SqlResult<()> {
    let find = |name: &str| definition.columns.iter().position(|known| known.goes_by(name));
    functional::check(definition)?;
    for (at, column) in definition.named_columns().iter().enumerate() {
        let Some((expr, _)) = column.generation() else { continue };
        for name in columns_of(expr) {
            let found =
                find(&name).ok_or_else(|| SqlError::unknown_column(&name, "generated column function"))?;
            let other = &definition.columns[found];
            if other.auto_increment {
                return Err(SqlError::generated_auto_increment(&column.name));
            }
            if found >= at && matches!(other.default, DefaultValue::Computed(_) | DefaultValue::Generated(..))
            {
                return Err(SqlError::generated_not_prior());
            }
        }
        bind_expression(expr, definition)?;
    }
    Ok(())
}

/// Whether keys, foreign ones too, use generated columns as they may be used.
pub fn check_keys(definition: &Definition) -> SqlResult<()> {
    check_primary(definition)?;
    check_foreign_keys(definition)
}

/// No VIRTUAL column is in a primary key.
pub fn check_primary(definition: &Definition) -> SqlResult<()> {
    for (at, column) in definition.columns.iter().enumerate() {
        let Some((_, stored)) = column.generation() else { continue };
        let primary = definition.keys.iter().filter(|key| key.primary).flat_map(|key| &key.parts);
        if !stored && primary.into_iter().any(|part| part.column == at) {
            return Err(SqlError::generated_unsupported(
                "Defining a virtual generated column as primary key",
            ));
        }
    }
    Ok(())
}

/// Whether foreign keys use generated columns as they may be used.
pub fn check_foreign_keys(definition: &Definition) -> SqlResult<()> {
    definition.foreign_keys.iter().try_for_each(|key| check_foreign_key(definition, key))
}

/// Error 3733 for a foreign key over a VIRTUAL column, whether or not its parent is there.
pub fn check_stored(definition: &Definition, key: &ForeignKey) -> SqlResult<()> {
    let named = |column: &&Column| key.columns.iter().any(|name| column.goes_by(name));
    let is_virtual = |column: &&Column| column.generation().is_some_and(|(_, stored)| !stored);
    match definition.columns.iter().filter(named).find(is_virtual) {
        Some(column) => Err(SqlError::foreign_key_virtual_column(&key.name, &column.name)),
        None => Ok(()),
    }
}

/// A child's generated column follows its own expression and no parent. What a parent's change writes into a
/// child is not carried on into STORED columns, as in MySQL.
fn check_foreign_key(definition: &Definition, key: &ForeignKey) -> SqlResult<()> {
    let (on_delete, on_update) = (key.on_delete, key.on_update);
    for name in &key.columns {
        let same = |column: &&Column| column.goes_by(name);
        let Some(column) = definition.columns.iter().find(same) else { continue };
        match column.generation() {
            Some((_, false)) => return Err(SqlError::foreign_key_virtual_column(&key.name, &column.name)),
            Some(_) if on_update.changes_children() => {
                let clause = format!("ON UPDATE {}", on_update.text());
                return Err(SqlError::generated_foreign_key(clause));
            }
            Some(_) if on_delete == Action::SetNull => {
                return Err(SqlError::generated_foreign_key("ON DELETE SET NULL"));
            }
            _ => {}
        }
        let reads = |column: &Column| {
            column.generation().is_some_and(|(expr, stored)| {
                stored && columns_of(expr).iter().any(|read| read.eq_ignore_ascii_case(name))
            })
        };
        if (on_delete.changes_children() || on_update.changes_children())
            && definition.columns.iter().any(reads)
        {
            return Err(SqlError::cannot_add_foreign_key());
        }
    }
    Ok(())
}

/// Whether a column that is changed stays VIRTUAL or becomes it. Such a change would take or make every row's
/// value.
pub fn check_change(old: &Column, new: &Column) -> SqlResult<()> {
    let is_virtual = |column: &Column| column.generation().is_some_and(|(_, stored)| !stored);
    if is_virtual(old) == is_virtual(new) {
        return Ok(());
    }
    Err(SqlError::generated_unsupported("Changing the STORED status"))
}
