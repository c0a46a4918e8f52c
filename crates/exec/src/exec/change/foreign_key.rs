//! Foreign keys while rows change: parents are looked for, children are looked for, cascades run.
//!
//! Everything here is a current read under row locks: a parent that counts is locked shared, children that
//! are looked for are locked shared, children that change are locked exclusively. The order of a change is:
//! the row itself, its children, its parents; an insertion looks for its parents first. docs/foreign_keys.md
//! says why no order lets an orphan through.

use std::future::Future;
use std::ops::Bound;
use std::pin::Pin;
use std::sync::atomic::Ordering::Relaxed;

use turnstile_engine::ids::TableId;
use turnstile_engine::{Change, Error as EngineError, LockWait, Read, RowLock, Scan, ScanSpec, Updated};

use super::apply::{Changes, Storing, duplicated, new_key};
use crate::exec::Exec;
use crate::exec::tail::TupleRow;
use turnstile_catalog::definition::foreign_key::broken;
use turnstile_catalog::dictionary::check::verify;
use turnstile_catalog::dictionary::{Action, Table};
use turnstile_catalog::row_codec::RowView;
use turnstile_expr::expr::WarningLevel;
use turnstile_observe::status::foreign_key::Attempt;
use turnstile_plan::plan::foreign_key::{DEPTH_MAX, Downward, ForeignPlan, Node, Parent, Upward};
use turnstile_values::error::{ErrorKind, SqlError, SqlResult};
use turnstile_values::key_codec::after_prefix;
use turnstile_values::value::{Value, column_text};

/// A step of a cascade: a box, since it leads to the next step.
type CascadeFuture<'s, T> = Pin<Box<dyn Future<Output = SqlResult<T>> + Send + 's>>;

/// A row before and after a change.
pub struct Images {
    old: Vec<Value>,
    new: Vec<Value>,
}

impl Images {
    /// Of a row and what changes in it.
    pub fn of(view: &RowView<'_>, changes: &[(usize, Value)]) -> Images {
        let old = view.values();
        let mut new = old.clone();
        for (column, value) in changes {
            new[*column] = value.clone();
        }
        Images { old, new }
    }

    fn differ_in(&self, columns: &[usize]) -> bool {
        columns.iter().any(|column| self.old[*column] != self.new[*column])
    }
}

/// Whether an error says that a foreign key stands against a change: what IGNORE forgives.
pub fn is_broken(error: &SqlError) -> bool {
    error.kind() == ErrorKind::BrokenForeignKey
}

/// How a cascade came to where it is.
#[derive(Clone, Default)]
struct Trail {
    depth: usize,
    /// Tables in which it has updated rows on its way. It does not come back to update them again.
    updated: Vec<TableId>,
}

impl Trail {
    fn then(&self, updated: Option<&Table>) -> Trail {
        let mut next = Trail { depth: self.depth + 1, updated: self.updated.clone() };
        next.updated.extend(updated.map(|table| table.definition.id));
        next
    }
}

/// What becomes of the children.
#[derive(Clone, Copy)]
enum Fate<'f> {
    Delete,
    SetNull,
    /// They take these values of the parent.
    Follow(&'f [Value]),
}

/// `foreign_key_checks`
pub(super) fn checks_foreign_keys(exec: &Exec<'_>) -> bool {
    exec.session.settings().foreign_key_checks
}

/// Deletes a row that may have children, and does what they ask. False if it was not there, or if IGNORE
/// leaves it.
pub(super) async fn delete_parent(
    exec: &mut Exec<'_>,
    table: &Table,
    foreign: &ForeignPlan,
    pk: &[u8],
    ignore: bool,
) -> SqlResult<bool> {
    if !checks_foreign_keys(exec) {
        return Ok(exec.txn.delete(&table.engine, pk).await?);
    }
    let savepoint = exec.txn.savepoint();
    let mut old = None;
    let mut take = |row: &[u8]| {
        old = RowView::new(&table.layout, row).ok().map(|view| view.values());
        if old.is_some() { Change::Delete } else { Change::Abort }
    };
    let mut change = |row: &[u8], _: &mut Vec<u8>| take(row);
    let updated = exec.txn.update(&table.engine, pk, &mut change).await?;
    let old = match (updated, old) {
        (Updated::Deleted, Some(old)) => old,
        (Updated::Aborted, None) => return Err(SqlError::crashed_table(table.name())),
        _ => return Ok(false),
    };
    match row_deleted(exec, foreign, 0, &old, &Trail::default()).await {
        Ok(()) => Ok(true),
        Err(error) if ignore && is_broken(&error) => {
            exec.txn.rollback_to(savepoint).await?;
            exec.eval.warnings.push(WarningLevel::Warning, error);
            Ok(false)
        }
        Err(error) => Err(error),
    }
}

/// What a statement's own update of a row asks: of its children, then of its parents.
pub(super) async fn row_updated(exec: &mut Exec<'_>, foreign: &ForeignPlan, images: Images) -> SqlResult<()> {
    let root = &foreign.nodes[0];
    let trail = Trail { depth: 0, updated: vec![root.table.definition.id] };
    key_changed(exec, foreign, 0, &images, &trail).await?;
    check_parents(exec, root, &images.new, Some(&images), None).await
}

/// Looks for the parents of a row: of all its references, or of those that differ between the images;
/// `but` for the one that a cascade has just followed. A parent that is found is locked shared.
pub(super) async fn check_parents(
    exec: &mut Exec<'_>,
    node: &Node,
    row: &[Value],
    images: Option<&Images>,
    but: Option<&str>,
) -> SqlResult<()> {
    for link in &node.parents {
        let kept = images.is_some_and(|images| !images.differ_in(&link.columns));
        let none = link.columns.iter().any(|column| row[*column].is_null());
        if kept || none || but == Some(&*link.key.name) {
            continue;
        }
        let found = match &link.parent {
            Some(parent) => has_parent(exec, link, parent, row).await?,
            None => false,
        };
        if !found {
            return Err(orphaned(exec, &node.table, link, row));
        }
    }
    Ok(())
}

async fn has_parent(exec: &mut Exec<'_>, link: &Upward, parent: &Parent, row: &[Value]) -> SqlResult<bool> {
    let key = key_of(&parent.table, parent.index, &link.columns, row);
    // A row may be its own parent.
    if parent.itself && key_of(&parent.table, parent.index, &parent.columns, row) == key {
        return Ok(true);
    }
    let whole = parent.table.keys()[parent.index].parts.len() == link.columns.len();
    if whole && parent.table.primary() == Some(parent.index) {
        let mode = Read::Locking { lock: RowLock::Shared, wait: LockWait::Wait };
        return Ok(exec.txn.get(&parent.table.engine, &key, mode).await?.is_some());
    }
    let mut scan = rows_of_key(exec, &parent.table, parent.index, key, RowLock::Shared);
    if whole && parent.table.keys()[parent.index].unique {
        scan.seek_one_value();
    }
    Ok(exec.txn.scan_locked_next(&mut scan, &mut |_| true).await?.is_some())
}

/// A locking scan of the rows whose key begins like this.
fn rows_of_key(exec: &mut Exec<'_>, table: &Table, index: usize, key: Vec<u8>, lock: RowLock) -> Scan {
    let upper = after_prefix(&key).map_or(Bound::Unbounded, Bound::Excluded);
    let spec = ScanSpec {
        index: table.scan_index(index),
        lower: Bound::Included(key),
        upper,
        reverse: false,
        mode: Read::Locking { lock, wait: LockWait::Wait },
        fetch_row: true,
    };
    let mut scan = exec.txn.scan(&table.engine, spec);
    scan.wait_for_taken_rows();
    scan
}

/// What the children of a row that is gone ask.
fn row_deleted<'s>(
    exec: &'s mut Exec<'_>,
    foreign: &'s ForeignPlan,
    node: usize,
    old: &'s [Value],
    trail: &'s Trail,
) -> CascadeFuture<'s, ()> {
    Box::pin(async move {
        for link in &foreign.nodes[node].children {
            let fate = match link.key.on_delete {
                Action::Cascade => Some(Fate::Delete),
                Action::SetNull => Some(Fate::SetNull),
                Action::NoAction | Action::Restrict => None,
            };
            part_children(exec, foreign, (node, link), (link.deleted, fate), old, trail).await?;
        }
        Ok(())
    })
}

/// What the children of a row ask whose keys may have changed.
fn key_changed<'s>(
    exec: &'s mut Exec<'_>,
    foreign: &'s ForeignPlan,
    node: usize,
    images: &'s Images,
    trail: &'s Trail,
) -> CascadeFuture<'s, ()> {
    Box::pin(async move {
        for link in &foreign.nodes[node].children {
            if !images.differ_in(&link.referenced) {
                continue;
            }
            let fate = match link.key.on_update {
                Action::Cascade => Some(Fate::Follow(&images.new)),
                Action::SetNull => Some(Fate::SetNull),
                Action::NoAction | Action::Restrict => None,
            };
            part_children(exec, foreign, (node, link), (link.updated, fate), &images.old, trail).await?;
        }
        Ok(())
    })
}

/// Finds the children of a row that had these values, and lets them meet their fate; without one, or
/// without a node for it, there must be none.
async fn part_children(
    exec: &mut Exec<'_>,
    foreign: &ForeignPlan,
    (at, link): (usize, &Downward),
    (node, fate): (Option<usize>, Option<Fate<'_>>),
    old: &[Value],
    trail: &Trail,
) -> SqlResult<()> {
    // What has a NULL in it is nobody's parent.
    if link.referenced.iter().any(|column| old[*column].is_null()) {
        return Ok(());
    }
    let child = &link.child;
    let key = key_of(child, link.index, &link.referenced, old);
    // A row that is its own parent stays, as in InnoDB, until it refers to another or to none.
    let parent = &foreign.nodes[at].table;
    if fate.is_none()
        && parent.definition.id == child.definition.id
        && key == key_of(child, link.index, &link.columns, old)
    {
        return Err(restricted(exec, parent, link, old));
    }
    let lock = if fate.is_some() { RowLock::Exclusive } else { RowLock::Shared };
    let mut scan = rows_of_key(exec, child, link.index, key, lock);
    while let Some((pk, row)) = exec.txn.scan_locked_next(&mut scan, &mut |_| true).await? {
        exec.pace().await?;
        let (Some(node), Some(fate)) = (node, fate) else {
            return Err(restricted(exec, parent, link, old));
        };
        if trail.depth + 1 >= DEPTH_MAX {
            return Err(SqlError::cascade_too_deep(DEPTH_MAX));
        }
        let view = RowView::new(&child.layout, &row).map_err(|_| SqlError::crashed_table(child.name()))?;
        match fate {
            Fate::Delete => delete_child(exec, foreign, node, &pk, view.values(), trail).await?,
            _ => update_child(exec, foreign, (node, link), (&pk, &view), fate, trail).await?,
        }
    }
    Ok(())
}

/// Error 1452, or 1216 for those who may not know the parent, written down for monitoring.
fn orphaned(exec: &Exec<'_>, child: &Table, link: &Upward, row: &[Value]) -> SqlError {
    let constraint = broken(&link.key, &child.definition);
    let index = link.key.child_key(&child.definition).map_or("", |at| &*child.keys()[at].name);
    let values = shown(child, &link.columns, row);
    let parent = format!("`{}`.`{}`", link.key.parent_schema, link.key.parent);
    let but = match &link.parent {
        Some(end) => {
            let index = &end.table.keys()[end.index].name;
            format!("But in parent table {parent}, in index {index},\nthere is no such record.")
        }
        None => format!("But the parent table {parent}\nor its index is not there."),
    };
    let tried = format!("Trying to add in child table, in index {index} tuple: {values}");
    let attempt = Attempt { txn: exec.txn.id(), constraint: &constraint, tried, but };
    exec.db.foreign_key_errors().note(exec.db.registry(), &attempt);
    let rights = exec.session.rights();
    let own = rights.may_see_table(&child.definition.schema, child.name());
    match own && rights.may_know_table(&link.key.parent_schema, &link.key.parent) {
        true => SqlError::no_referenced_row_for(constraint),
        false => SqlError::no_referenced_row(),
    }
}

/// Error 1451, or 1217 for those who may not know the child, written down for monitoring.
fn restricted(exec: &Exec<'_>, parent: &Table, link: &Downward, old: &[Value]) -> SqlError {
    let constraint = broken(&link.key, &link.child.definition);
    let child = &link.child.definition;
    let index = link.key.parent_key(&parent.definition).map_or("", |at| &*parent.keys()[at].name);
    let values = shown(parent, &link.referenced, old);
    let tried = format!("Trying to delete or update in parent table, in index {index} tuple: {values}");
    let found = &child.keys[link.index].name;
    let but = format!(
        "But in child table `{}`.`{}`, in index {found}, there is a record.",
        child.schema, child.name
    );
    let attempt = Attempt { txn: exec.txn.id(), constraint: &constraint, tried, but };
    exec.db.foreign_key_errors().note(exec.db.registry(), &attempt);
    held_by(exec, link)
}

/// Error 1451, or 1217 for those who may not know the child.
fn held_by(exec: &Exec<'_>, link: &Downward) -> SqlError {
    let (rights, child) = (exec.session.rights(), &link.child.definition);
    let own = rights.may_see_table(&link.key.parent_schema, &link.key.parent);
    match own && rights.may_know_table(&child.schema, &child.name) {
        true => SqlError::row_is_referenced_by(broken(&link.key, child)),
        false => SqlError::row_is_referenced(),
    }
}

async fn delete_child(
    exec: &mut Exec<'_>,
    foreign: &ForeignPlan,
    node: usize,
    pk: &[u8],
    old: Vec<Value>,
    trail: &Trail,
) -> SqlResult<()> {
    let child = &foreign.nodes[node].table;
    if exec.txn.delete(&child.engine, pk).await? {
        let less = |rows: u64| Some(rows.saturating_sub(1));
        let _ = child.counters.rows.fetch_update(Relaxed, Relaxed, less);
        exec.db.statistics().rows_changed(child, 1);
        row_deleted(exec, foreign, node, &old, &trail.then(None)).await?;
    }
    Ok(())
}

async fn update_child(
    exec: &mut Exec<'_>,
    foreign: &ForeignPlan,
    (node, link): (usize, &Downward),
    (pk, view): (&[u8], &RowView<'_>),
    fate: Fate<'_>,
    trail: &Trail,
) -> SqlResult<()> {
    let child = &foreign.nodes[node].table;
    if trail.updated.contains(&child.definition.id) {
        return Err(held_by(exec, link));
    }
    let changes = new_reference(exec, link, view, fate)?;
    if changes.is_empty() {
        return Ok(());
    }
    let images = Images::of(view, &changes);
    verify(&child.checks, &TupleRow(&images.new), exec.eval)?;
    if let Some(error) = write_child(exec, child, pk, view, &changes).await? {
        let EngineError::DuplicateKey { nth, .. } = &error else { return Err(error.into()) };
        return Err(cascade_duplicate(&foreign.nodes[0].table, (child, *nth), &images, &changes));
    }
    key_changed(exec, foreign, node, &images, &trail.then(Some(child))).await?;
    check_parents(exec, &foreign.nodes[node], &images.new, Some(&images), Some(&link.key.name)).await
}

/// The child's columns as the parent's change makes them. What the child cannot hold keeps the parent
/// from changing.
fn new_reference(exec: &Exec<'_>, link: &Downward, view: &RowView<'_>, fate: Fate<'_>) -> SqlResult<Changes> {
    let storing = Storing { eval: exec.eval, strict: true, row: 1 };
    let mut changes = Changes::new();
    for (column, referenced) in link.columns.iter().zip(&link.referenced) {
        let value = match fate {
            Fate::Follow(new) => new[*referenced].clone(),
            Fate::SetNull | Fate::Delete => Value::Null,
        };
        let stored = storing.store(&link.child, *column, &value).map_err(|_| held_by(exec, link))?;
        if stored != view.get(*column) {
            changes.push((*column, stored));
        }
    }
    if !changes.is_empty() {
        storing.regenerate(&link.child, view, &mut changes)?;
    }
    Ok(changes)
}

/// Writes a child's new version; the duplicate that it would be.
async fn write_child(
    exec: &mut Exec<'_>,
    child: &Table,
    pk: &[u8],
    view: &RowView<'_>,
    changes: &Changes,
) -> SqlResult<Option<EngineError>> {
    let mut row = Vec::new();
    let encoded = child.layout.encode_changed(view.bytes(), changes, &mut row);
    encoded.map_err(|_| SqlError::crashed_table(child.name()))?;
    let moved = new_key(child, changes, &row).filter(|key| key != pk);
    let written = match &moved {
        Some(key) => match exec.txn.delete(&child.engine, pk).await {
            Ok(_) => exec.txn.insert(&child.engine, key, &row).await,
            Err(error) => Err(error),
        },
        None => {
            let mut replace = |_: &[u8], new: &mut Vec<u8>| {
                new.extend_from_slice(&row);
                Change::Replace
            };
            exec.txn.update(&child.engine, pk, &mut replace).await.map(drop)
        }
    };
    match written {
        Err(error @ EngineError::DuplicateKey { .. }) => Ok(Some(error)),
        other => Ok(other.map(|()| None)?),
    }
}

/// Key bytes: the first parts of a table's key, with values from these columns of a row.
fn key_of(table: &Table, index: usize, columns: &[usize], row: &[Value]) -> Vec<u8> {
    let mut key = Vec::new();
    for (part, column) in table.key_parts[index].iter().zip(columns) {
        part.append(&row[*column], &mut key);
    }
    key
}

/// Values as the monitor shows them.
fn shown(table: &Table, columns: &[usize], row: &[Value]) -> String {
    let text = |column: &usize| column_text(&row[*column], &table.columns()[*column].kind);
    format!("({})", columns.iter().map(text).collect::<Vec<_>>().join(", "))
}

/// Error 1761: the table that the statement changes, with the new values that its child would take.
fn cascade_duplicate(
    parent: &Table,
    (child, nth): (&Table, Option<usize>),
    images: &Images,
    changes: &Changes,
) -> SqlError {
    let Some((_, key)) = duplicated(child, nth, &images.new) else {
        return SqlError::duplicate_key_write(child.name());
    };
    let text = |(column, value): &(usize, Value)| column_text(value, &child.columns()[*column].kind);
    let record = changes.iter().map(text).collect::<Vec<_>>().join("-");
    SqlError::cascade_makes_duplicate(parent.name(), record, child.name(), &key.name)
}
