//! Where the columns of an altered table stand.

use super::super::alteration::Alteration;
use super::{Change, ColumnPlan, Written, is_computed, reads, set_default};
use crate::ast::ColumnPosition;
use crate::definition;
use crate::dictionary::Column;
use crate::dictionary::table::Definition;
use crate::error::{SqlError, SqlResult};
use crate::expr::EvalContext;

/// A column of the new table.
pub struct Placed {
    pub(super) column: Column,
    /// The old column that it was.
    pub(super) origin: Option<usize>,
    pub(super) null: bool,
}

/// Whether the key is still there that a hidden column was made for.
fn has_key(definition: &Definition, hidden: usize) -> bool {
    definition.keys.iter().any(|key| key.parts.iter().any(|part| part.column == hidden))
}

impl<'a> ColumnPlan<'a> {
    /// The new table's columns.
    pub fn place(mut self, work: &mut Alteration, eval: &EvalContext<'_>) -> SqlResult<Vec<Placed>> {
        let old = work.definition.columns.clone();
        let mut placed: Vec<Placed> = Vec::with_capacity(old.len() + self.written.len());
        for (at, before) in old.iter().enumerate() {
            let same = |name: &str| name.eq_ignore_ascii_case(&before.name);
            if before.is_hidden() {
                if has_key(&work.definition, at) {
                    self.refuse_drop_of_hidden(&before.name)?;
                    placed.push(Placed { column: before.clone(), origin: Some(at), null: false });
                }
                continue;
            }
            if let Some(drop) = self.drops.iter_mut().find(|(name, found)| !found && same(name)) {
                drop.1 = true;
                self.keep_readers(&work.definition, at)?;
                continue;
            }
            let named = |one: &Written<'_>| one.taken.is_none() && one.old_name.is_some_and(same);
            if let Some(nth) = self.written.iter().position(named) {
                self.written[nth].taken = Some(at);
                let new = &self.written[nth];
                definition::generated::check_change(before, &new.column)?;
                if !same(&new.column.name) {
                    self.keep_readers(&work.definition, at)?;
                }
                if new.position.is_none() {
                    placed.push(Placed { column: new.column.clone(), origin: Some(at), null: new.null });
                    self.written[nth].placed = true;
                }
                continue;
            }
            let mut column = before.clone();
            if let Some(nth) = self.changes.iter().position(|(name, _, found)| !found && same(name)) {
                self.changes[nth].2 = true;
                if let Change::Name(name) = self.changes[nth].1 {
                    if !same(name) {
                        self.keep_readers(&work.definition, at)?;
                    }
                    column.name = name.into();
                }
                if let Change::Default(clause) = self.changes[nth].1 {
                    set_default(&mut column, clause, &mut work.late, eval)?;
                }
            }
            placed.push(Placed { column, origin: Some(at), null: false });
        }
        self.place_written(&work.definition, &mut placed)?;
        let unknown = |name: &str| SqlError::unknown_column(name, &work.definition.name);
        if let Some((name, ..)) = self.changes.iter().find(|(_, _, found)| !found) {
            return Err(unknown(name));
        }
        if placed.iter().all(|new| new.column.is_hidden()) {
            return Err(SqlError::cannot_remove_all_fields());
        }
        let missing = self.drops.iter().find(|(_, found)| !found).map(|(name, _)| Box::from(*name));
        work.missing_column = missing;
        Ok(placed)
    }

    pub(super) fn place_written(&self, old: &Definition, placed: &mut Vec<Placed>) -> SqlResult<()> {
        let unknown = |name: &str| SqlError::unknown_column(name, &old.name);
        for one in self.written.iter().filter(|one| !one.placed) {
            if let (Some(name), None) = (one.old_name, one.taken) {
                return Err(unknown(name));
            }
            let at = match one.position {
                None => placed.iter().take_while(|new| !new.column.is_hidden()).count(),
                Some(ColumnPosition::First) => 0,
                Some(ColumnPosition::After(name)) => {
                    let found = placed.iter().position(|new| new.column.goes_by(name));
                    found.ok_or_else(|| unknown(name))? + 1
                }
            };
            placed.insert(at, Placed { column: one.column.clone(), origin: one.taken, null: one.null });
        }
        Ok(())
    }

    /// Error 3755 for a hidden column that is to be dropped without its key.
    fn refuse_drop_of_hidden(&self, name: &str) -> SqlResult<()> {
        match self.drops.iter().any(|(dropped, _)| dropped.eq_ignore_ascii_case(name)) {
            true => Err(SqlError::functional_column(name)),
            false => Ok(()),
        }
    }

    /// Errors 3108, 3766 and 3837 for a column that goes or gets another name while a column that stays as
    /// it is, or a key over an expression, reads it.
    pub(super) fn keep_readers(&self, old: &Definition, at: usize) -> SqlResult<()> {
        let name = &old.columns[at].name;
        for (nth, reader) in old.columns.iter().enumerate().filter(|(nth, _)| *nth != at) {
            if reader.is_hidden() {
                if has_key(old, nth) && reads(reader, name) {
                    return Err(SqlError::functional_dependency(&**name));
                }
                continue;
            }
            let same = |other: &str| other.eq_ignore_ascii_case(&reader.name);
            if !is_computed(reader)
                || self.drops.iter().any(|(name, _)| same(name))
                || self
                    .changes
                    .iter()
                    .any(|(other, change, _)| matches!(change, Change::Default(_)) && same(other))
            {
                continue;
            }
            let generated = reader.generation().is_some();
            let anew = self
                .written
                .iter()
                .find(|one| one.old_name.is_some_and(same) && (!generated || same(&one.column.name)));
            if !reads(reader, name) || anew.is_some_and(|one| !reads(&one.column, name)) {
                continue;
            }
            return Err(match reader.generation() {
                Some(_) => SqlError::generated_dependency(&**name),
                None => SqlError::default_dependency(&**name, &old.name),
            });
        }
        Ok(())
    }
}
