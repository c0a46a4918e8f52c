//! Intention locks on tables. In InnoDB a transaction locks a table IX or IS before it locks a row of it.
//! Here that lock is implied: who holds a row's lock, or waits for one, holds its table's intention, and
//! nothing is written down for it. What the intention keeps away is kept away elsewhere, before the first
//! row: a lock on a whole table is a metadata lock that is held `ReadLock` or `Exclusive`
//! ([`turnstile_catalog::mdl`]), and a statement that locks rows holds the same metadata lock `Read` or
//! `Write` until its transaction has given up its locks. So a statement pays nothing here, and who looks is
//! shown the lock that InnoDB would have.

use std::collections::{HashMap, HashSet};

use turnstile_engine::TableLock;
use turnstile_engine::ids::TableId;
use turnstile_engine::lock::{LockId, LockInfo, LockMode, LockName, LockShape};

use super::lock_text::LockNames;

/// In place of the shard of a lock that the lock table keeps.
pub const IMPLIED: u32 = u32::MAX;

/// The intentions of all transactions, in order of their first row lock. One per transaction and table: IX
/// covers IS. Those that the lock table has as locks of their own are left out.
pub fn implied(locks: &[LockInfo], names: &LockNames) -> Vec<LockInfo> {
    let mut places: HashMap<(u64, TableId), usize> = HashMap::new();
    let mut found: Vec<LockInfo> = Vec::new();
    for lock in locks.iter().filter(|lock| !matches!(lock.name.name(), LockName::Table(_))) {
        let Some(table) = names.table_of(lock.name.name()) else { continue };
        let table = table.definition.id;
        let exclusive = lock.shapes.iter().any(|shape| matches!(shape, LockShape::Row(LockMode::X, _)));
        let intention = if exclusive { TableLock::IntentionExclusive } else { TableLock::IntentionShared };
        let at = *places.entry((lock.id.transaction, table)).or_insert_with(|| {
            found.push(LockInfo {
                id: LockId { shard: IMPLIED, node: table.0, ..lock.id },
                name: LockName::Table(table).into(),
                shapes: vec![LockShape::Table(intention)],
                waited: None,
                ..lock.clone()
            });
            found.len() - 1
        });
        if exclusive {
            found[at].shapes = vec![LockShape::Table(intention)];
        }
    }
    // Few transactions lock tables of their own accord.
    let kept: HashSet<(u64, Option<TableId>, &str)> = locks
        .iter()
        .filter(|lock| lock.waited.is_none() && table_lock(lock).is_some())
        .flat_map(|lock| {
            lock.shapes.iter().map(|shape| (lock.id.transaction, table_lock(lock), shape.label()))
        })
        .collect();
    let is_kept =
        |one: &LockInfo| kept.contains(&(one.id.transaction, table_lock(one), one.shapes[0].label()));
    found.retain(|one| !is_kept(one));
    found
}

fn table_lock(lock: &LockInfo) -> Option<TableId> {
    match lock.name.name() {
        LockName::Table(table) => Some(table),
        _ => None,
    }
}
