//! RENAME TABLE: several tables get new names at once, or none does. ALTER TABLE gives its table another name in the
//! same way, together with its other changes.
//!
//! Names are taken step by step, so that `a TO tmp, b TO a, tmp TO b` swaps two tables; only where each table ends up
//! is then made durable, in one transaction, with the children whose foreign keys name it.

use std::sync::Arc;

use super::super::Session;
use super::claim::{new_constraints, new_table};
use super::foreign_key::children_of;
use crate::definition;
use crate::dictionary::table::Definition;
use crate::dictionary::{Dictionary, Table, TableName as FullName};
use crate::error::{SqlError, SqlResult};

use crate::ast::TableName;

/// A table that gets a new name.
pub(super) struct Move {
    pub(super) was: FullName,
    pub(super) now: FullName,
}

/// A table under its new name, with the table that it replaces.
type Moved = (Arc<Table>, Definition);

/// What a name becomes by these moves.
fn follow(moves: &[Move], schema: &str, name: &str) -> Option<FullName> {
    let moved = moves.iter().find(|one| (&*one.was.0, &*one.was.1) == (schema, name));
    moved.map(|one| one.now.clone())
}

impl Session {
    /// RENAME TABLE
    pub(super) async fn rename_tables(&mut self, pairs: &[(TableName, TableName)]) -> SqlResult<()> {
        let mut steps: Vec<(FullName, FullName)> = Vec::with_capacity(pairs.len());
        for (old, new) in pairs {
            let (from, to) = (self.schema_of(old)?, self.schema_of(new)?);
            definition::limit::table_name(&new.table)?;
            steps.push(((from, old.table.clone()), (to, new.table.clone())));
        }
        let named = |dictionary: &Dictionary| {
            let of = |(schema, name): &FullName| children_of(dictionary, schema, name);
            let mut all: Vec<FullName> = steps.iter().map(|(from, _)| from.clone()).collect();
            all.extend(steps.iter().flat_map(|(from, to)| [of(from), of(to)].concat()));
            all
        };
        self.claim(steps.iter().flat_map(|(_, to)| new_table(&to.0, &to.1)).collect(), &[]).await?;
        let holds = self.take_all_alone(&named).await?;
        let moves = self.moves(&steps)?;
        let (tables, _) = self.renamed(&moves, None)?;
        let constraints = tables.iter().flat_map(|(old, new)| new_constraints(new, Some(&old.definition)));
        self.claim(constraints.collect(), &holds).await?;
        // Somebody may have been faster with the names of constraints.
        let (tables, others) = self.renamed(&moves, None)?;
        let moved = tables.iter().map(|(_, definition)| definition);
        let all: Vec<_> = moved.chain(&others).collect();
        self.db.save_tables(&all).await?;
        for one in &moves {
            self.db.dictionary().remove_table(&one.was.0, &one.was.1);
        }
        for (old, definition) in tables {
            let new = Table::new(definition, old.gate.clone(), old.counters.clone());
            self.db.dictionary().put_table(Arc::new(new));
        }
        self.put_others(&others);
        if let Some(locks) = &mut self.table_locks {
            for (from, to) in &steps {
                locks.rename((&from.0, &from.1), (&to.0, &to.1));
            }
        }
        Ok(())
    }

    /// Where each table ends up. Errors 1146, 1049 and 1050 at the first step that cannot be taken.
    fn moves(&self, steps: &[(FullName, FullName)]) -> SqlResult<Vec<Move>> {
        let mut moves: Vec<Move> = Vec::new();
        for (from, to) in steps {
            let left = |name: &FullName| moves.iter().any(|one| one.was == *name);
            let at = moves.iter().position(|one| one.now == *from);
            if at.is_none() && left(from) {
                return Err(SqlError::no_such_table(&from.0, &from.1));
            }
            if at.is_none() {
                self.db.dictionary().table(&from.0, &from.1)?;
            }
            if self.db.dictionary().schema_collation(&to.0).is_none() {
                return Err(SqlError::unknown_database(&to.0));
            }
            let taken = self.is_taken(&to.0, &to.1) && !left(to);
            if taken || moves.iter().any(|one| one.now == *to) {
                return Err(SqlError::table_exists(&to.1));
            }
            match at {
                Some(at) => moves[at].now = to.clone(),
                None => moves.push(Move { was: from.clone(), now: to.clone() }),
            }
        }
        moves.retain(|one| one.was != one.now);
        Ok(moves)
    }

    /// The definitions of the moved tables, and of children that stay where they are. `altered`: a moved table's, and
    /// its children's, if more than the name changes.
    pub(super) fn renamed(
        &self,
        moves: &[Move],
        altered: Option<(&Definition, &[Definition])>,
    ) -> SqlResult<(Vec<Moved>, Vec<Definition>)> {
        let known = |table: &Table| {
            let all = altered.iter().flat_map(|(one, others)| std::iter::once(*one).chain(others.iter()));
            let changed = all.into_iter().find(|one| one.id == table.definition.id);
            changed.unwrap_or(&table.definition).clone()
        };
        let dictionary = self.db.dictionary();
        let moved = |table: &Table| follow(moves, &table.definition.schema, &table.definition.name).is_some();
        let mut tables: Vec<Moved> = Vec::new();
        for one in moves {
            let table = dictionary.table(&one.was.0, &one.was.1)?;
            let (schema, name) = one.now.clone();
            let mut definition = Definition { schema, name, ..known(&table) };
            let stay = dictionary.tables(&one.now.0);
            let others = || {
                let stay = stay.iter().filter(|table| !moved(table)).map(|table| &table.definition);
                stay.chain(tables.iter().map(|(_, new)| new).filter(|new| new.schema == one.now.0))
            };
            let taken = |name: &str| others().any(|one| definition::check::position(one, name).is_some());
            definition::check::rename(&mut definition, &one.was.1, false, &taken)?;
            let parents: Vec<FullName> = definition
                .foreign_keys
                .iter()
                .map(|key| {
                    let known = (key.parent_schema.clone(), key.parent.clone());
                    follow(moves, &known.0, &known.1).unwrap_or(known)
                })
                .collect();
            definition::foreign_key::rename(&mut definition, (&one.was.0, &one.was.1));
            for (key, parent) in definition.foreign_keys.iter_mut().zip(parents) {
                (key.parent_schema, key.parent) = parent;
                let same = |other: &&Definition| {
                    other.foreign_keys.iter().any(|known| known.name.eq_ignore_ascii_case(&key.name))
                };
                if others().any(|other| same(&other)) {
                    return Err(SqlError::duplicate_foreign_key_name(&key.name));
                }
            }
            if follow(moves, &one.now.0, &one.now.1).is_none() {
                self.fit_children(&definition)?;
            }
            tables.push((table, definition));
        }
        let mut others: Vec<Definition> = Vec::new();
        for child in moves.iter().flat_map(|one| dictionary.children(&one.was.0, &one.was.1)) {
            if moved(&child) || others.iter().any(|known| known.id == child.definition.id) {
                continue;
            }
            let mut child = known(&child);
            for key in &mut child.foreign_keys {
                if let Some(parent) = follow(moves, &key.parent_schema, &key.parent) {
                    (key.parent_schema, key.parent) = parent;
                }
            }
            others.push(child);
        }
        Ok((tables, others))
    }
}
