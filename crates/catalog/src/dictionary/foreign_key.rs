//! Foreign keys as the dictionary keeps them: with the child's definition, tables and columns by name.
//!
//! By name, because the parent may not be there yet (`foreign_key_checks=0`), and because a parent that is
//! dropped and made again is the same parent to its children. Which key of the parent and which of the child
//! serve is found when a statement is planned (`plan/foreign_key.rs`).

use super::encoding::{Damaged, Reader, Writer};
use super::table::{Definition, Key};

/// What becomes of the children of a row that goes, or whose key changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// The change is refused. What is meant when nothing is written; checked at once, as RESTRICT.
    NoAction,
    /// The change is refused.
    Restrict,
    /// Children go with it, or take the new key.
    Cascade,
    /// Children are parted from it.
    SetNull,
}

impl Action {
    const ALL: [Action; 4] = [Action::NoAction, Action::Restrict, Action::Cascade, Action::SetNull];

    fn decode(row: &mut Reader<'_>) -> Result<Action, Damaged> {
        let at = usize::from(row.u8()?);
        Action::ALL.get(at).copied().ok_or(Damaged)
    }

    /// In SQL.
    pub fn text(self) -> &'static str {
        match self {
            Action::NoAction => "NO ACTION",
            Action::Restrict => "RESTRICT",
            Action::Cascade => "CASCADE",
            Action::SetNull => "SET NULL",
        }
    }

    /// Whether it changes children.
    pub fn changes_children(self) -> bool {
        matches!(self, Action::Cascade | Action::SetNull)
    }
}

/// A foreign key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForeignKey {
    /// Its name, once in its database.
    pub name: Box<str>,
    /// Columns of the child.
    pub columns: Vec<Box<str>>,
    /// Database of the parent.
    pub parent_schema: Box<str>,
    /// The parent.
    pub parent: Box<str>,
    /// Columns of the parent, as many.
    pub parent_columns: Vec<Box<str>>,
    /// ON DELETE
    pub on_delete: Action,
    /// ON UPDATE
    pub on_update: Action,
}

impl ForeignKey {
    /// Whether this table is its parent.
    pub fn refers_to(&self, schema: &str, name: &str) -> bool {
        (&*self.parent_schema, &*self.parent) == (schema, name)
    }

    /// The child's key that finds the children of a row: its first columns are these, in this order and
    /// whole.
    pub fn child_key(&self, child: &Definition) -> Option<usize> {
        let columns = positions(child, &self.columns)?;
        child.keys.iter().position(|key| begins_with(key, &columns))
    }

    /// The parent's key that finds the parent of a row. One that is unique and has no other columns comes
    /// first.
    pub fn parent_key(&self, parent: &Definition) -> Option<usize> {
        let columns = positions(parent, &self.parent_columns)?;
        let fits = |key: &&Key| begins_with(key, &columns);
        let exact = |key: &Key| fits(&key) && key.unique && key.parts.len() == columns.len();
        let found = parent.keys.iter().position(exact);
        found.or_else(|| parent.keys.iter().position(|key| fits(&key)))
    }

    /// Whether the parent's key is one that a standard foreign key may refer to: unique, of these columns and
    /// no others.
    pub fn has_standard_parent_key(&self, parent: &Definition) -> bool {
        self.parent_key(parent).is_some_and(|at| {
            let key = &parent.keys[at];
            key.unique && key.parts.len() == self.parent_columns.len()
        })
    }

    /// Writes it.
    pub fn encode(&self, row: &mut Writer) {
        row.text(&self.name);
        row.list(&self.columns, |row, name| row.text(name));
        row.text(&self.parent_schema);
        row.text(&self.parent);
        row.list(&self.parent_columns, |row, name| row.text(name));
        row.u8(self.on_delete as u8);
        row.u8(self.on_update as u8);
    }

    /// Reads it.
    pub fn decode(row: &mut Reader<'_>) -> Result<ForeignKey, Damaged> {
        let read = ForeignKey {
            name: name(row)?,
            columns: row.list(name)?,
            parent_schema: name(row)?,
            parent: name(row)?,
            parent_columns: row.list(name)?,
            on_delete: Action::decode(row)?,
            on_update: Action::decode(row)?,
        };
        let sound = !read.columns.is_empty() && read.columns.len() == read.parent_columns.len();
        if sound { Ok(read) } else { Err(Damaged) }
    }
}

fn name(row: &mut Reader<'_>) -> Result<Box<str>, Damaged> {
    row.text().map(Box::from)
}

/// Where the columns of these names are; None if one is missing.
pub fn positions(table: &Definition, names: &[Box<str>]) -> Option<Vec<usize>> {
    let position = |name: &str| table.columns.iter().position(|one| one.goes_by(name));
    names.iter().map(|name| position(name)).collect()
}

fn begins_with(key: &Key, columns: &[usize]) -> bool {
    key.parts.len() >= columns.len()
        && key.parts.iter().zip(columns).all(|(part, column)| part.column == *column && part.prefix.is_none())
}

#[cfg(test)]
mod tests;
