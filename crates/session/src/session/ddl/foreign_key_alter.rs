//! What ALTER TABLE means to foreign keys, of the table itself and of its children: which changes they
//! forbid, and what follows.

use super::alteration::Alteration;
use super::online;
use crate::ast::{KeyDef, Online};
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
    !kept
}

/// Error 1828 for a column of a foreign key that goes.
pub(super) fn keep_columns(table: &Table, work: &Alteration) -> SqlResult<()> {
    for key in &work.definition.foreign_keys {
        if let Some(name) = key.columns.iter().find(|name| moved(&table.definition, work, name).is_none()) {
            return Err(SqlError::cannot_drop_foreign_key_column(&**name, &key.name));
        }
    }
    Ok(())
}

/// The table's own foreign keys after the change: columns by their new names, new keys added.
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
        let mut unlike = None;
        for (nth, name) in key.columns.iter_mut().enumerate() {
            let dropped = || SqlError::cannot_drop_foreign_key_column(&*name, &before.name);
            let at = moved(old, work, name).ok_or_else(dropped)?;
            let column = &work.definition.columns[at];
            let was = old.columns.iter().find(|one| one.name.eq_ignore_ascii_case(name));
            if rules.checks && was.is_some_and(|was| !compatible(&was.kind, &column.kind, true)) {
                let parent = &before.parent_columns[nth];
                unlike = Some(SqlError::foreign_key_incompatible(&column.name, parent, &before.name));
            }
            *name = column.name.clone();
        }
        if key.child_key(&work.definition).is_none() {
            let name = before.child_key(old).map_or("", |at| &*old.keys[at].name);
            return Err(SqlError::index_needed_by_foreign_key(name));
        }
        unlike.map_or(Ok(()), Err)?;
        check_nullable(&work.definition, key)?;
    }
    work.definition.foreign_keys = keys;
    add(&mut work.definition, written, work.known)
}

/// What refers to the table, after the change: its own foreign keys to itself, and the definitions of
/// children, which are returned where they name a column whose name is new.
pub(super) fn settle_parents(
    table: &Table,
    children: &[std::sync::Arc<Table>],
    work: &mut Alteration,
    rules: Rules,
) -> SqlResult<Vec<Definition>> {
    let old = &table.definition;
    let mut own = std::mem::take(&mut work.definition.foreign_keys);
    for key in own[..work.known].iter_mut().filter(|key| key.refers_to(&old.schema, &old.name)) {
        follow(key, (table, &old.name), work, rules)?;
    }
    work.definition.foreign_keys = own;
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
        let was = old.columns.iter().find(|one| one.name.eq_ignore_ascii_case(name));
        if rules.checks && was.is_some_and(|was| !compatible(&was.kind, &column.kind, true)) {
            let child = &before.columns[nth];
            return Err(SqlError::foreign_key_incompatible(child, &column.name, &before.name));
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

/// What MySQL does not do to columns of foreign keys where it copies the rows: other values (1832, 1833),
/// NULL no more, other names (1846).
pub(super) fn check_copy(
    table: &Table,
    children: &[std::sync::Arc<Table>],
    work: &Alteration,
    (rules, online): (Rules, &Online),
) -> SqlResult<()> {
    let old = &table.definition;
    let instant = online::is(&online.algorithm, "INSTANT");
    if !rules.checks {
        return Ok(());
    }
    let look = |names: &[Box<str>], refused: &dyn Fn(&str) -> SqlError| {
        for name in names {
            let was = old.columns.iter().find(|one| one.name.eq_ignore_ascii_case(name));
            let (Some(was), Some(at)) = (was, moved(old, work, name)) else { continue };
            let now = &work.definition.columns[at];
            if (work.copies || instant) && !now.name.eq_ignore_ascii_case(name) {
                let asked = if work.copies { "ALGORITHM=COPY" } else { "ALGORITHM=INSTANT" };
                let why = "Columns participating in a foreign key are renamed";
                return Err(SqlError::alter_not_supported_reason(asked, why, "ALGORITHM=INPLACE"));
            }
            if changed(was, now) || work.copies && was.nullable && !now.nullable {
                return Err(refused(name));
            }
        }
        Ok(())
    };
    for child in children {
        let of = |key: &&ForeignKey| key.refers_to(&old.schema, &old.name);
        for key in child.definition.foreign_keys.iter().filter(of) {
            let child = format!("{}.{}", child.definition.schema, child.name());
            look(&key.parent_columns, &|name| {
                SqlError::cannot_change_parent_column(name, &key.name, &child)
            })?;
        }
    }
    let stays = |key: &&ForeignKey| {
        work.definition.foreign_keys[..work.known].iter().any(|kept| kept.name == key.name)
    };
    for key in old.foreign_keys.iter().filter(stays) {
        look(&key.columns, &|name| SqlError::cannot_change_foreign_key_column(name, &key.name))?;
    }
    Ok(())
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
