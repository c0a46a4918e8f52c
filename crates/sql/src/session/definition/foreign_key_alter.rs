//! What ALTER TABLE means to foreign keys, of the table itself and of its children: which changes they forbid, and what follows.

use super::alter::Alteration;
use crate::ast::KeyDef;
use crate::definition::foreign_key::{Rules, add, check_nullable, compatible};
use crate::dictionary::foreign_key::positions;
use crate::dictionary::table::Definition;
use crate::dictionary::{Column, ForeignKey, Table};
use crate::error::{SqlError, SqlResult};
use crate::types::ColumnType;

/// Where a column of the old table is in the new one.
fn moved(old: &Definition, work: &Alteration, name: &str) -> Option<usize> {
    let at = old.columns.iter().position(|column| column.name.eq_ignore_ascii_case(name))?;
    work.origins.iter().position(|origin| *origin == Some(at))
}

/// Whether a column no longer holds the values it held: what foreign keys forbid.
fn changed(old: &Column, new: &Column) -> bool {
    use ColumnType as T;
    let kept = match (&old.kind, &new.kind) {
        (T::Char { length, collation }, T::Char { length: longer, collation: same })
        | (T::Varchar { length, collation }, T::Varchar { length: longer, collation: same }) => {
            longer >= length && collation == same
        }
        (one @ (T::Binary { .. } | T::Varbinary { .. } | T::Char { .. } | T::Varchar { .. }), other) => {
            one == other
        }
        (one, other) => compatible(one, other, true),
    };
    !kept || (old.nullable && !new.nullable)
}

/// The table's own foreign keys after the change: columns by their new names, new keys added with their indexes.
pub(super) fn settle(
    table: &Table,
    work: &mut Alteration,
    written: &[KeyDef],
    rules: Rules,
) -> SqlResult<()> {
    let old = &table.definition;
    let mut keys = std::mem::take(&mut work.definition.foreign_keys);
    for key in &mut keys {
        let before = key.clone();
        for (nth, name) in key.columns.iter_mut().enumerate() {
            let dropped = || SqlError::cannot_drop_foreign_key_column(&*name, &before.name);
            let at = moved(old, work, name).ok_or_else(dropped)?;
            let column = &work.definition.columns[at];
            let same = |one: &&Column| one.name.eq_ignore_ascii_case(name);
            if rules.checks
                && let Some(was) = old.columns.iter().find(same)
                && changed(was, column)
            {
                check_nullable(&work.definition, &before)?;
                if !compatible(&was.kind, &column.kind, true) {
                    let parent = &before.parent_columns[nth];
                    return Err(SqlError::foreign_key_incompatible(&column.name, parent, &before.name));
                }
                return Err(SqlError::cannot_change_foreign_key_column(&*name, &before.name));
            }
            *name = column.name.clone();
        }
        if key.refers_to(&old.schema, &old.name) {
            follow(key, (table, &old.name), work, rules)?;
        }
        check_nullable(&work.definition, key)?;
        if key.child_key(&work.definition).is_none() {
            let name = before.child_key(old).map_or("", |at| &*old.keys[at].name);
            return Err(SqlError::index_needed_by_foreign_key(name));
        }
    }
    work.definition.foreign_keys = keys;
    let written: Vec<&KeyDef> = written.iter().collect();
    add(&mut work.definition, &written)
}

/// The definitions of children that change with the table: those that name a column whose name is new.
pub(super) fn settle_children(
    table: &Table,
    children: &[std::sync::Arc<Table>],
    work: &Alteration,
    rules: Rules,
) -> SqlResult<Vec<Definition>> {
    let old = &table.definition;
    let mut others = Vec::new();
    for child in children.iter().filter(|child| child.definition.id != old.id) {
        let mut definition = child.definition.clone();
        for key in definition.foreign_keys.iter_mut().filter(|key| key.refers_to(&old.schema, &old.name)) {
            follow(key, (table, child.name()), work, rules)?;
            check_types(key, &child.definition, &work.definition)?;
        }
        if definition != child.definition {
            others.push(definition);
        }
    }
    Ok(others)
}

/// A foreign key that refers to the table, after the change.
fn follow(
    key: &mut ForeignKey,
    (table, child): (&Table, &str),
    work: &Alteration,
    rules: Rules,
) -> SqlResult<()> {
    let old = &table.definition;
    let before = key.clone();
    // What does not fit the table anyway is left alone: it was made so with `foreign_key_checks=0`.
    if positions(old, &key.parent_columns).is_none() {
        return Ok(());
    }
    for (nth, name) in key.parent_columns.iter_mut().enumerate() {
        let dropped = || SqlError::cannot_drop_parent_column(&*name, &before.name, child);
        let at = moved(old, work, name).ok_or_else(dropped)?;
        let column = &work.definition.columns[at];
        let same = |one: &&Column| one.name.eq_ignore_ascii_case(name);
        if rules.checks
            && let Some(was) = old.columns.iter().find(same)
            && changed(was, column)
        {
            if !compatible(&was.kind, &column.kind, true) {
                let child = &before.columns[nth];
                return Err(SqlError::foreign_key_incompatible(child, &column.name, &before.name));
            }
            return Err(SqlError::cannot_change_parent_column(&*name, &before.name, child));
        }
        *name = column.name.clone();
    }
    let lost = key.parent_key(&work.definition).is_none()
        || rules.standard
            && before.has_standard_parent_key(old)
            && !key.has_standard_parent_key(&work.definition);
    match before.parent_key(old) {
        Some(at) if lost && rules.checks => Err(SqlError::index_needed_by_foreign_key(&old.keys[at].name)),
        _ => Ok(()),
    }
}

/// Types have to fit also when rows are not looked at.
fn check_types(key: &ForeignKey, child: &Definition, parent: &Definition) -> SqlResult<()> {
    let (Some(columns), Some(referenced)) =
        (positions(child, &key.columns), positions(parent, &key.parent_columns))
    else {
        return Ok(());
    };
    for (column, referenced) in columns.into_iter().zip(referenced) {
        let (column, referenced) = (&child.columns[column], &parent.columns[referenced]);
        if !compatible(&column.kind, &referenced.kind, false) {
            return Err(SqlError::foreign_key_incompatible(&column.name, &referenced.name, &key.name));
        }
    }
    Ok(())
}
