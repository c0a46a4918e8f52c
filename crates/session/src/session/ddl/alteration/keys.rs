//! The keys of a table after ALTER TABLE.

use super::Alteration;
use crate::ast::{AlterAction, KeyDef, KeyKind, Name};
use crate::definition::{self, new_keys};
use crate::dictionary::{Key, Table};
use crate::error::{SqlError, SqlResult};
use crate::expr::EvalContext;

/// The names of a key's columns.
pub(super) type KeyShape = Vec<Box<str>>;

pub(super) fn columns_of(table: &Table, key: &Key) -> KeyShape {
    key.parts.iter().map(|part| table.columns()[part.column].name.clone()).collect()
}

impl Alteration {
    /// Keys and foreign keys that are dropped.
    pub(crate) fn drop_keys(&mut self, actions: &[AlterAction]) {
        for action in actions {
            let (name, foreign) = match action {
                AlterAction::DropPrimaryKey => ("PRIMARY", false),
                AlterAction::DropKey(name) => (&**name, false),
                AlterAction::DropForeignKey(name) => (&**name, true),
                _ => continue,
            };
            let same = |other: &str| other.eq_ignore_ascii_case(name);
            let keys = self.definition.keys.iter().position(|key| !foreign && same(&key.name));
            let known = self.definition.foreign_keys.iter().position(|key| foreign && same(&key.name));
            match (keys, known) {
                (Some(at), _) => drop(self.definition.keys.remove(at)),
                (_, Some(at)) => drop(self.definition.foreign_keys.remove(at)),
                _ => drop(self.missing_key.get_or_insert(name.into())),
            }
        }
    }

    /// New names and visibilities of keys; error 1091 for what is to be dropped and is not there.
    pub(crate) fn change_keys(&mut self, actions: &[AlterAction]) -> SqlResult<()> {
        let (column, key) = (self.missing_column.take(), self.missing_key.take());
        let same = |name: &Name, missing: &Option<Box<str>>| missing.as_deref() == Some(&**name);
        // The one that the statement names first.
        let first = actions.iter().find_map(|action| match action {
            AlterAction::DropColumn(name) => column.clone().filter(|_| same(name, &column)),
            AlterAction::DropKey(name) | AlterAction::DropForeignKey(name) => {
                key.clone().filter(|_| same(name, &key))
            }
            AlterAction::DropPrimaryKey => key.clone().filter(|key| &**key == "PRIMARY"),
            _ => None,
        });
        if let Some(name) = first.or(column).or(key) {
            return Err(SqlError::cannot_drop_field_or_key(&name));
        }
        let mut left: Vec<(&Name, &Name)> = Vec::new();
        let mut shown: Vec<(&Name, bool)> = Vec::new();
        for action in actions {
            match action {
                AlterAction::RenameKey { old_name, new_name } => left.push((old_name, new_name)),
                AlterAction::SetKeyVisibility { name, visible } => shown.push((name, *visible)),
                _ => {}
            }
        }
        for key in &mut self.definition.keys {
            if let Some(nth) = left.iter().position(|(old, _)| old.eq_ignore_ascii_case(&key.name)) {
                let (old_name, new_name) = left.remove(nth);
                if key.primary {
                    return Err(SqlError::wrong_index_name(old_name));
                }
                definition::limit::index_name(new_name)?;
                key.name = new_name.clone();
                // It was asked for by this name.
                key.implicit = false;
            } else if let Some(nth) = shown.iter().position(|(name, _)| name.eq_ignore_ascii_case(&key.name))
            {
                key.visible = shown.remove(nth).1;
            }
        }
        match left.first().map(|(name, _)| *name).or(shown.first().map(|(name, _)| *name)) {
            Some(name) => Err(SqlError::key_does_not_exist(name, &self.definition.name)),
            None => Ok(()),
        }
    }

    /// New keys, those of columns and of foreign keys among them.
    pub(crate) fn add_keys(&mut self, actions: &[AlterAction], eval: &EvalContext<'_>) -> SqlResult<()> {
        let mut written = Vec::new();
        for action in actions {
            match action {
                AlterAction::AddColumn { column, .. } | AlterAction::ChangeColumn { column, .. } => {
                    written.extend(new_keys::of_column(column));
                }
                AlterAction::AddKey(key) => written.push(key.clone()),
                _ => {}
            }
        }
        let is_foreign = |key: &&KeyDef| matches!(key.kind, KeyKind::Foreign(_));
        self.foreign = written.iter().filter(is_foreign).cloned().collect();
        new_keys::add_keys(&mut self.definition, &written, &|_| Ok(()), eval)?;
        // Hidden columns have come behind the others.
        self.origins.resize(self.definition.columns.len(), None);
        let Some(primary) = self.definition.keys.iter().find(|key| key.primary).cloned() else {
            return Ok(());
        };
        if primary.parts.iter().any(|part| self.null_written.contains(&part.column)) {
            return Err(SqlError::primary_cannot_have_null());
        }
        definition::hold_no_null(&mut self.definition, &primary);
        Ok(())
    }
}
