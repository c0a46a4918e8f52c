//! RENAME TABLE: several tables get new names at once, or none does. ALTER TABLE gives its table another name
//! in the same way, together with its other changes.
//!
//! Names are taken step by step, so that `a TO tmp, b TO a, tmp TO b` swaps two tables; only where each table
//! ends up is then made durable, in one transaction, with the children whose foreign keys name it.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use turnstile_sys::relief;

use super::super::Session;
use super::claim::{new_constraints, new_table};
use super::foreign_key::children_of;
use crate::ast::TableName;
use crate::definition;
use crate::dictionary::table::Definition;
use crate::dictionary::{Dictionary, Table, TableName as FullName};
use crate::error::{SqlError, SqlResult};
use crate::pulse;
use crate::session::ddl;
use crate::session::ddl::{alter, claim, foreign_key, view};

/// A table that gets a new name.
pub(super) struct Move {
    pub(super) was: FullName,
    pub(super) now: FullName,
}

/// A table under its new name, with the table that it replaces.
type Moved = (Arc<Table>, Definition);

/// What names become by moves.
pub(super) struct Way<'m>(HashMap<(&'m str, &'m str), &'m FullName>);

impl<'m> Way<'m> {
    pub(super) fn of(moves: &'m [Move]) -> Way<'m> {
        Way(moves.iter().map(|one| ((&*one.was.0, &*one.was.1), &one.now)).collect())
    }

    pub(super) fn follow(&self, schema: &str, name: &str) -> Option<FullName> {
        self.0.get(&(schema, name)).map(|now| (*now).clone())
    }

    fn moves(&self, table: &Table) -> bool {
        self.0.contains_key(&(&*table.definition.schema, &*table.definition.name))
    }
}

/// Names of constraints in a database, in lower case.
#[derive(Default)]
struct Given {
    checks: HashSet<String>,
    foreign_keys: HashSet<String>,
    /// Those of the tables that stay are among them.
    is_whole: bool,
}

impl Given {
    fn add(&mut self, definition: &Definition) {
        self.checks.extend(definition.checks.iter().map(|check| check.name.to_ascii_lowercase()));
        self.foreign_keys.extend(definition.foreign_keys.iter().map(|key| key.name.to_ascii_lowercase()));
    }

    fn has(names: &HashSet<String>, name: &str) -> bool {
        names.contains(&name.to_ascii_lowercase())
    }
}

/// RENAME TABLE
pub(super) async fn rename_tables(session: &mut Session, pairs: &[(TableName, TableName)]) -> SqlResult<()> {
    let mut steps: Vec<(FullName, FullName)> = Vec::with_capacity(pairs.len());
    for (old, new) in pairs {
        let (from, to) = (ddl::schema_of(session, old)?, ddl::schema_of(session, new)?);
        definition::limit::table_name(&new.table)?;
        steps.push(((from, old.table.clone()), (to, new.table.clone())));
    }
    if steps.iter().any(|(from, _)| session.db.dictionary().view(&from.0, &from.1).is_some()) {
        return view::rename_views(session, steps).await;
    }
    let named = |dictionary: &Dictionary| {
        let of = |(schema, name): &FullName| children_of(dictionary, schema, name);
        let mut all: Vec<FullName> = steps.iter().map(|(from, _)| from.clone()).collect();
        all.extend(steps.iter().flat_map(|(from, to)| [of(from), of(to)].concat()));
        all
    };
    claim::claim(session, steps.iter().flat_map(|(_, to)| new_table(&to.0, &to.1)).collect(), &[]).await?;
    let holds = foreign_key::take_all_alone(session, &named).await?;
    let interrupt = session.interrupt.clone();
    let moves = pulse::watched(interrupt.clone(), || moves(session, &steps))??;
    let (tables, _) = pulse::watched(interrupt.clone(), || renamed(session, &moves, None))??;
    let constraints = tables.iter().flat_map(|(old, new)| new_constraints(new, Some(&old.definition)));
    claim::claim(session, constraints.collect(), &holds).await?;
    // Somebody may have been faster with the names of constraints.
    let (tables, others) = pulse::watched(interrupt, || renamed(session, &moves, None))??;
    let moved = tables.iter().map(|(_, definition)| definition);
    let all: Vec<_> = moved.chain(&others).collect();
    session.db.save_tables(&all).await?;
    let mut now = alter::changed_tables(session, &others);
    now.extend(tables.into_iter().map(|(old, definition)| {
        relief::worked();
        Arc::new(Table::new(definition, old.mdl.clone(), old.counters.clone()))
    }));
    let was: Vec<FullName> = moves.iter().map(|one| one.was.clone()).collect();
    session.db.dictionary().replace_tables(&was, now);
    if let Some(locks) = &mut session.table_locks {
        let way = Way::of(&moves);
        locks.rename(|schema, name| way.follow(schema, name));
    }
    Ok(())
}

/// Where each table ends up. Errors 1146, 1049 and 1050 at the first step that cannot be taken.
fn moves(session: &Session, steps: &[(FullName, FullName)]) -> SqlResult<Vec<Move>> {
    let mut moves: Vec<Move> = Vec::new();
    // Names that tables have left, and where those are in `moves` that have got others.
    let (mut left, mut at_now) = (HashSet::new(), HashMap::new());
    for (from, to) in steps {
        pulse::step()?;
        // The new name is looked at first.
        if session.db.dictionary().schema_collation(&to.0).is_none() {
            return Err(SqlError::unknown_database(&to.0));
        }
        let taken = ddl::is_taken(session, &to.0, &to.1) && !left.contains(to);
        if taken || at_now.contains_key(to) {
            return Err(SqlError::table_exists(&to.1));
        }
        let at = at_now.get(from).copied();
        if at.is_none() {
            if left.contains(from) {
                return Err(SqlError::no_such_table(&from.0, &from.1));
            }
            session.db.dictionary().table(&from.0, &from.1)?;
        }
        let at = at.unwrap_or(moves.len());
        match moves.get_mut(at) {
            Some(known) => known.now = to.clone(),
            None => {
                left.insert(from.clone());
                moves.push(Move { was: from.clone(), now: to.clone() });
            }
        }
        at_now.remove(from);
        at_now.insert(to.clone(), at);
    }
    moves.retain(|one| one.was != one.now);
    Ok(moves)
}

/// The definitions of the moved tables, and of children that stay where they are. `altered`: a moved
/// table's, and its children's, if more than the name changes.
pub(super) fn renamed(
    session: &Session,
    moves: &[Move],
    altered: Option<(&Definition, &[Definition])>,
) -> SqlResult<(Vec<Moved>, Vec<Definition>)> {
    let known = |table: &Table| {
        let all = altered.iter().flat_map(|(one, others)| std::iter::once(*one).chain(others.iter()));
        let changed = all.into_iter().find(|one| one.id == table.definition.id);
        changed.unwrap_or(&table.definition).clone()
    };
    let dictionary = session.db.dictionary();
    let way = Way::of(moves);
    let mut given: HashMap<Box<str>, Given> = HashMap::new();
    let mut tables: Vec<Moved> = Vec::new();
    for one in moves {
        pulse::step()?;
        let table = dictionary.table(&one.was.0, &one.was.1)?;
        let definition = renamed_one(session, one, known(&table), &way, &mut given)?;
        tables.push((table, definition));
    }
    let mut others: Vec<Definition> = Vec::new();
    let mut seen = HashSet::new();
    for child in moves.iter().flat_map(|one| dictionary.children(&one.was.0, &one.was.1)) {
        pulse::step()?;
        if way.moves(&child) || !seen.insert(child.definition.id) {
            continue;
        }
        let mut child = known(&child);
        for key in &mut child.foreign_keys {
            if let Some(parent) = way.follow(&key.parent_schema, &key.parent) {
                (key.parent_schema, key.parent) = parent;
            }
        }
        others.push(child);
    }
    Ok((tables, others))
}

/// A table's definition under its new name. `given`: the names of constraints so far.
fn renamed_one(
    session: &Session,
    one: &Move,
    known: Definition,
    way: &Way<'_>,
    given: &mut HashMap<Box<str>, Given>,
) -> SqlResult<Definition> {
    let (schema, name) = one.now.clone();
    let mut definition = Definition { schema, name, ..known };
    let given = given.entry(one.now.0.clone()).or_default();
    let has_names = !definition.checks.is_empty() || !definition.foreign_keys.is_empty();
    if has_names && !std::mem::replace(&mut given.is_whole, true) {
        let tables = session.db.dictionary().tables(&one.now.0);
        tables.iter().filter(|table| !way.moves(table)).for_each(|table| given.add(&table.definition));
    }
    let taken = |name: &str| Given::has(&given.checks, name);
    definition::check::rename(&mut definition, &one.was.1, false, &taken)?;
    let parents: Vec<FullName> = definition
        .foreign_keys
        .iter()
        .map(|key| {
            let known = (key.parent_schema.clone(), key.parent.clone());
            way.follow(&known.0, &known.1).unwrap_or(known)
        })
        .collect();
    definition::foreign_key::rename(&mut definition, (&one.was.0, &one.was.1));
    for (key, parent) in definition.foreign_keys.iter_mut().zip(parents) {
        (key.parent_schema, key.parent) = parent;
        if Given::has(&given.foreign_keys, &key.name) {
            return Err(SqlError::duplicate_foreign_key_name(&key.name));
        }
    }
    if way.follow(&one.now.0, &one.now.1).is_none() {
        foreign_key::fit_children(session, &definition)?;
    }
    given.add(&definition);
    Ok(definition)
}
