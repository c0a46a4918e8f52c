//! What a change of a table's rows asks of tables at the other end of foreign keys, found when the change is
//! planned: parents that must be there, children that must not, and how far a cascade can reach.
//!
//! A table without foreign keys, and a change that touches no column of one, has no [`ForeignPlan`] and pays
//! nothing for rows.

use std::sync::Arc;

use turnstile_engine::ids::TableId;

use turnstile_catalog::dictionary::foreign_key::positions;
use turnstile_catalog::dictionary::{Action, Dictionary, ForeignKey, Table};
use turnstile_catalog::mdl::Mode;

/// Most levels of a cascade, the statement's own table among them; what is further away is not reached before
/// error 3008.
pub const DEPTH_MAX: usize = 15;

/// What a change asks of other tables.
pub struct ForeignPlan {
    /// The table that is changed, then those that cascades change.
    pub nodes: Vec<Node>,
    /// Tables whose metadata locks are held besides, and how.
    pub metadata_locks: Vec<(Arc<Table>, Mode)>,
    /// The dictionary's, when it was made.
    pub version: u64,
}

/// A table that is changed in one way.
pub struct Node {
    /// The table.
    pub table: Arc<Table>,
    /// Parents of rows that are new, or have a new reference.
    pub parents: Vec<Upward>,
    /// Children of rows that go, or have a new key.
    pub children: Vec<Downward>,
}

/// A foreign key seen from its child.
pub struct Upward {
    /// What it says.
    pub key: ForeignKey,
    /// Its columns.
    pub columns: Vec<usize>,
    /// The other end; None if there is no such table, or it has no such key: then nothing has a parent.
    pub parent: Option<Parent>,
}

/// The other end of a foreign key.
pub struct Parent {
    /// The parent.
    pub table: Arc<Table>,
    /// Its columns.
    pub columns: Vec<usize>,
    /// Its key that finds them.
    pub index: usize,
    /// It is the child itself.
    pub itself: bool,
}

/// A foreign key seen from its parent.
pub struct Downward {
    /// What it says.
    pub key: ForeignKey,
    /// Columns of the parent.
    pub referenced: Vec<usize>,
    /// The child.
    pub child: Arc<Table>,
    /// Its columns.
    pub columns: Vec<usize>,
    /// Its key that finds them.
    pub index: usize,
    /// The node that a deletion changes.
    pub deleted: Option<usize>,
    /// The node that a new key changes.
    pub updated: Option<usize>,
}

/// What happens to a table's rows.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Event {
    Delete,
    Update,
}

struct Builder<'d> {
    dictionary: &'d Dictionary,
    nodes: Vec<Node>,
    /// Of every node but the first: its table, what happens to it, how deep it is.
    made: Vec<(TableId, Event, usize)>,
    metadata_locks: Vec<(Arc<Table>, Mode)>,
    version: u64,
}

/// What INSERT asks: `replaces` rows that are in its way, or assigns these columns of theirs.
pub fn of_insert(
    dictionary: &Dictionary,
    table: &Arc<Table>,
    replaces: bool,
    assigned: &[usize],
) -> Option<Box<ForeignPlan>> {
    let mut builder = Builder::of(dictionary, table)?;
    builder.look_up(0, |_| true);
    if replaces {
        builder.look_down(0, 0, &[Event::Delete], |_| true);
    }
    if !assigned.is_empty() {
        let assigned = with_automatic(table, assigned);
        builder.look_down(0, 0, &[Event::Update], |columns| meet(columns, &assigned));
    }
    builder.finish()
}

/// What UPDATE of these columns asks.
pub fn of_update(
    dictionary: &Dictionary,
    table: &Arc<Table>,
    assigned: &[usize],
) -> Option<Box<ForeignPlan>> {
    let assigned = with_automatic(table, assigned);
    let mut builder = Builder::of(dictionary, table)?;
    builder.look_up(0, |columns| meet(columns, &assigned));
    builder.look_down(0, 0, &[Event::Update], |columns| meet(columns, &assigned));
    builder.finish()
}

/// What DELETE asks.
pub fn of_delete(dictionary: &Dictionary, table: &Arc<Table>) -> Option<Box<ForeignPlan>> {
    let mut builder = Builder::of(dictionary, table)?;
    builder.look_down(0, 0, &[Event::Delete], |_| true);
    builder.finish()
}

fn meet(columns: &[usize], assigned: &[usize]) -> bool {
    columns.iter().any(|column| assigned.contains(column))
}

/// Columns that are assigned, and those that get the time of the change.
fn with_automatic(table: &Table, assigned: &[usize]) -> Vec<usize> {
    let automatic = table.columns().iter().enumerate().filter(|(_, column)| column.on_update.is_some());
    assigned.iter().copied().chain(automatic.map(|(at, _)| at)).collect()
}

impl Builder<'_> {
    /// Nothing for a temporary table: it has no foreign keys, and those that name a table of its name mean
    /// another.
    fn of<'d>(dictionary: &'d Dictionary, table: &Arc<Table>) -> Option<Builder<'d>> {
        if table.temporary {
            return None;
        }
        let root = Node { table: table.clone(), parents: Vec::new(), children: Vec::new() };
        let version = dictionary.version();
        let (made, metadata_locks) = (Vec::new(), Vec::new());
        Some(Builder { dictionary, nodes: vec![root], made, metadata_locks, version })
    }

    /// The nodes that are reached, nearest first, as far as a cascade goes.
    fn finish(mut self) -> Option<Box<ForeignPlan>> {
        if self.nodes[0].parents.is_empty() && self.nodes[0].children.is_empty() {
            return None;
        }
        let mut at = 0;
        while let Some((_, event, depth)) = self.made.get(at).copied() {
            at += 1;
            if depth > DEPTH_MAX {
                continue;
            }
            if event == Event::Update {
                self.look_up(at, |_| true);
            }
            self.look_down(at, depth, &[event], |_| true);
        }
        Some(Box::new(ForeignPlan {
            nodes: self.nodes,
            metadata_locks: self.metadata_locks,
            version: self.version,
        }))
    }

    fn look_up(&mut self, node: usize, concerns: impl Fn(&[usize]) -> bool) {
        let table = self.nodes[node].table.clone();
        for key in &table.definition.foreign_keys {
            let Some(columns) = positions(&table.definition, &key.columns) else { continue };
            if !concerns(&columns) {
                continue;
            }
            let itself = key.refers_to(&table.definition.schema, table.name());
            let found = self.dictionary.find(&key.parent_schema, &key.parent);
            let found = if itself { Some(table.clone()) } else { found };
            let parent = found.and_then(|parent| {
                let columns = positions(&parent.definition, &key.parent_columns)?;
                let index = key.parent_key(&parent.definition)?;
                Some(Parent { table: parent, columns, index, itself })
            });
            if let Some(parent) = &parent {
                self.mdl(&parent.table, Mode::Read);
            }
            self.nodes[node].parents.push(Upward { key: key.clone(), columns, parent });
        }
    }

    fn look_down(
        &mut self,
        node: usize,
        depth: usize,
        events: &[Event],
        concerns: impl Fn(&[usize]) -> bool,
    ) {
        let table = self.nodes[node].table.clone();
        let (schema, name) = (&*table.definition.schema, table.name());
        for child in self.dictionary.children(schema, name) {
            for key in child.definition.foreign_keys.iter().filter(|key| key.refers_to(schema, name)) {
                let referenced = positions(&table.definition, &key.parent_columns);
                let columns = positions(&child.definition, &key.columns);
                let (Some(referenced), Some(columns), Some(index)) =
                    (referenced, columns, key.child_key(&child.definition))
                else {
                    continue;
                };
                if !concerns(&referenced) {
                    continue;
                }
                let mut reach = |event: Event, action: Action| {
                    let happens = match action {
                        _ if !events.contains(&event) => return None,
                        Action::NoAction | Action::Restrict => return None,
                        Action::Cascade => event,
                        Action::SetNull => Event::Update,
                    };
                    Some(self.node(&child, happens, depth + 1))
                };
                let deleted = reach(Event::Delete, key.on_delete);
                let updated = reach(Event::Update, key.on_update);
                let changed = deleted.is_some() || updated.is_some();
                self.mdl(&child, if changed { Mode::Write } else { Mode::Read });
                let (key, child) = (key.clone(), child.clone());
                self.nodes[node].children.push(Downward {
                    key,
                    referenced,
                    child,
                    columns,
                    index,
                    deleted,
                    updated,
                });
            }
        }
    }

    fn node(&mut self, table: &Arc<Table>, event: Event, depth: usize) -> usize {
        let id = table.definition.id;
        if let Some(at) = self.made.iter().position(|(known, happens, _)| (*known, *happens) == (id, event)) {
            return at + 1;
        }
        self.made.push((id, event, depth));
        self.nodes.push(Node { table: table.clone(), parents: Vec::new(), children: Vec::new() });
        self.made.len()
    }

    fn mdl(&mut self, table: &Arc<Table>, mode: Mode) {
        match self.metadata_locks.iter_mut().find(|(known, _)| Arc::ptr_eq(&known.mdl, &table.mdl)) {
            Some((_, known)) if mode == Mode::Write => *known = mode,
            Some(_) => {}
            None => self.metadata_locks.push((table.clone(), mode)),
        }
    }
}
