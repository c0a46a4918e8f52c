//! Foreign keys as CREATE TABLE and ALTER TABLE write them: their names, their indexes, and whether child and
//! parent fit together.

use std::fmt::Write;

use crate::dictionary::foreign_key::positions;
use crate::dictionary::table::Definition;
use crate::dictionary::{Action, ForeignKey};
use turnstile_syntax::ast::quote_name;
use turnstile_syntax::ast::{KeyDef, KeyKind, KeyTarget, ReferenceAction, References};
use turnstile_values::error::{SqlError, SqlResult};
use turnstile_values::stored_width::fixed_width;
use turnstile_values::types::ColumnType;

/// What the session asks of foreign keys that are defined.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// `foreign_key_checks`
    pub checks: bool,
    /// `restrict_fk_on_non_standard_key`
    pub standard: bool,
}

/// Adds foreign keys to a definition that has its columns and its keys, those that serve them too. Parents
/// have not been looked at: see [`check_fit`]. `known`: how many foreign keys are there already, whose names
/// are looked at later.
pub fn add(definition: &mut Definition, written: &[KeyDef], known: usize) -> SqlResult<()> {
    for one in written {
        let KeyKind::Foreign(references) = &one.kind else { continue };
        let key = foreign_key(definition, one, references)?;
        if definition.foreign_keys[known..].iter().any(|other| other.name.eq_ignore_ascii_case(&key.name)) {
            return Err(SqlError::duplicate_foreign_key_name(&key.name));
        }
        definition.foreign_keys.push(key);
    }
    Ok(())
}

fn foreign_key(definition: &Definition, written: &KeyDef, references: &References) -> SqlResult<ForeignKey> {
    let mut columns: Vec<Box<str>> = Vec::with_capacity(written.parts.len());
    for part in &written.parts {
        let KeyTarget::Column(name) = &part.target else { return Err(SqlError::cannot_add_foreign_key()) };
        let known = definition.columns.iter().find(|column| column.goes_by(name));
        let known = known.ok_or_else(|| SqlError::key_column_missing(name))?;
        if columns.contains(&known.name) {
            return Err(SqlError::duplicate_column(name));
        }
        columns.push(known.name.clone());
    }
    // Without a list the parent's primary key is meant.
    if !references.columns.is_empty() && columns.len() != references.columns.len() {
        let shown = references.constraint.as_deref().unwrap_or("foreign key without name");
        return Err(SqlError::wrong_foreign_key_definition(shown));
    }
    let name = match &references.constraint {
        Some(name) => name.clone(),
        None => generated_name(definition),
    };
    super::limit::name_length(&name)?;
    let parent_schema = references.table.schema.as_ref().unwrap_or(&definition.schema);
    let key = ForeignKey {
        name,
        columns,
        parent_schema: parent_schema.clone(),
        parent: references.table.table.clone(),
        parent_columns: references.columns.clone(),
        on_delete: action(references.on_delete)?,
        on_update: action(references.on_update)?,
    };
    check_nullable(definition, &key)?;
    Ok(key)
}

fn action(written: Option<ReferenceAction>) -> SqlResult<Action> {
    Ok(match written {
        None | Some(ReferenceAction::NoAction) => Action::NoAction,
        Some(ReferenceAction::Restrict) => Action::Restrict,
        Some(ReferenceAction::Cascade) => Action::Cascade,
        Some(ReferenceAction::SetNull) => Action::SetNull,
        Some(ReferenceAction::SetDefault) => return Err(SqlError::cannot_add_foreign_key()),
    })
}

/// SET NULL needs columns that may be NULL.
pub fn check_nullable(definition: &Definition, key: &ForeignKey) -> SqlResult<()> {
    if ![key.on_delete, key.on_update].contains(&Action::SetNull) {
        return Ok(());
    }
    let columns = positions(definition, &key.columns).unwrap_or_default();
    match columns.into_iter().map(|at| &definition.columns[at]).find(|column| !column.nullable) {
        Some(column) => Err(SqlError::foreign_key_column_not_null(&column.name, &key.name)),
        None => Ok(()),
    }
}

/// `table_ibfk_N`, N above all that are there.
fn generated_name(definition: &Definition) -> Box<str> {
    let numbers = definition.foreign_keys.iter().filter_map(|key| number_of(&key.name, &definition.name));
    let next = numbers.max().unwrap_or(0).saturating_add(1);
    format!("{}_ibfk_{next}", definition.name).into()
}

/// The number in a generated name of a table's.
fn number_of(name: &str, table: &str) -> Option<u32> {
    name.strip_prefix(table)?.strip_prefix("_ibfk_")?.parse().ok()
}

/// Follows a table to its new name: names that were generated, and references to itself.
pub fn rename(definition: &mut Definition, (old_schema, old_name): (&str, &str)) {
    let (schema, name) = (definition.schema.clone(), definition.name.clone());
    for key in &mut definition.foreign_keys {
        if let Some(number) = number_of(&key.name, old_name) {
            key.name = format!("{name}_ibfk_{number}").into();
        }
        if key.refers_to(old_schema, old_name) {
            (key.parent_schema, key.parent) = (schema.clone(), name.clone());
        }
    }
}

/// Whether a child and its parent fit together; what is said if not. Columns of the parent get the spelling
/// they have there.
pub fn check_fit(
    key: &mut ForeignKey,
    child: &Definition,
    parent: &Definition,
    rules: Rules,
) -> SqlResult<()> {
    if key.parent_columns.is_empty() {
        let primary = parent.keys.iter().find(|key| key.primary);
        let columns = primary.iter().flat_map(|key| &key.parts);
        key.parent_columns = columns.map(|part| parent.columns[part.column].name.clone()).collect();
        if key.parent_columns.len() != key.columns.len() {
            return Err(wrong_definition(key, child));
        }
    }
    let itself = key.refers_to(&child.schema, &child.name);
    if itself
        && key.columns.iter().all(|own| key.parent_columns.iter().any(|name| name.eq_ignore_ascii_case(own)))
    {
        return Err(SqlError::foreign_key_parent_unique(&key.name, &key.parent));
    }
    for name in &mut key.parent_columns {
        let known = parent.columns.iter().find(|column| column.goes_by(name));
        match known {
            Some(column) => *name = column.name.clone(),
            None => return Err(SqlError::foreign_key_parent_column(&*name, &key.name, &key.parent)),
        }
    }
    let child_columns = positions(child, &key.columns).unwrap_or_default();
    let parent_columns = positions(parent, &key.parent_columns).unwrap_or_default();
    for (one, other) in child_columns.into_iter().zip(parent_columns) {
        let (one, other) = (&child.columns[one], &parent.columns[other]);
        // A parent's change is carried on by what it assigns, and nobody assigns such a column.
        if other.generation().is_some_and(|(_, stored)| !stored) {
            return Err(SqlError::foreign_key_virtual_column(&key.name, &other.name));
        }
        if !compatible(&one.kind, &other.kind, rules.checks) {
            return Err(SqlError::foreign_key_incompatible(&one.name, &other.name, &key.name));
        }
    }
    if rules.checks && rules.standard && !key.has_standard_parent_key(parent) {
        return Err(SqlError::foreign_key_parent_unique(&key.name, &key.parent));
    }
    if rules.checks && key.parent_key(parent).is_none() {
        return Err(SqlError::foreign_key_parent_index(&key.name, &key.parent));
    }
    Ok(())
}

/// Error 1239, in which a key whose name was generated has none.
pub fn wrong_definition(key: &ForeignKey, child: &Definition) -> SqlError {
    let generated = number_of(&key.name, &child.name).is_some();
    SqlError::wrong_foreign_key_definition(if generated { "foreign key without name" } else { &key.name })
}

/// Whether values of the one type can be told from the other's key: numbers of one size and sign, strings of
/// one collation.
pub fn compatible(child: &ColumnType, parent: &ColumnType, collations: bool) -> bool {
    use ColumnType as T;
    let same = |one, other| !collations || one == other;
    match (child, parent) {
        (T::Int { width, unsigned, .. }, T::Int { width: other, unsigned: sign, .. }) => {
            (width, unsigned) == (other, sign)
        }
        (T::Float { .. }, T::Float { .. }) | (T::Double { .. }, T::Double { .. }) => true,
        (
            T::Char { collation, .. } | T::Varchar { collation, .. },
            T::Char { collation: other, .. } | T::Varchar { collation: other, .. },
        ) => same(collation, other),
        (T::Binary { .. } | T::Varbinary { .. }, T::Binary { .. } | T::Varbinary { .. }) => true,
        (T::Enum { .. }, T::Enum { .. }) | (T::Set { .. }, T::Set { .. }) => {
            fixed_width(child) == fixed_width(parent)
        }
        (T::Text { .. } | T::Blob { .. } | T::Json, _) => false,
        (one, other) => one == other,
    }
}

/// ``CONSTRAINT `c` FOREIGN KEY (`a`) REFERENCES `p` (`x`)``, without its actions.
fn reference(key: &ForeignKey, schema: &str) -> String {
    let list = |names: &[Box<str>]| names.iter().map(|name| quote_name(name)).collect::<Vec<_>>().join(", ");
    let parent_schema = match &*key.parent_schema {
        same if same == schema => String::new(),
        other => format!("{}.", quote_name(other)),
    };
    format!(
        "CONSTRAINT {} FOREIGN KEY ({}) REFERENCES {parent_schema}{} ({})",
        quote_name(&key.name),
        list(&key.columns),
        quote_name(&key.parent),
        list(&key.parent_columns)
    )
}

fn with_actions(mut text: String, key: &ForeignKey, shown: impl Fn(Action) -> bool) -> String {
    for (when, action) in [("DELETE", key.on_delete), ("UPDATE", key.on_update)] {
        if shown(action) {
            let _ = write!(text, " ON {when} {}", action.text());
        }
    }
    text
}

/// The line of SHOW CREATE TABLE for a child in this database.
pub fn line(key: &ForeignKey, schema: &str) -> String {
    with_actions(reference(key, schema), key, |action| action != Action::NoAction)
}

/// What errors 1451 and 1452 show in parentheses.
pub fn broken(key: &ForeignKey, child: &Definition) -> String {
    let text = with_actions(reference(key, &child.schema), key, |action| action != Action::NoAction);
    format!("{}.{}, {text}", quote_name(&child.schema), quote_name(&child.name))
}
