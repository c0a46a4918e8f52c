//! Rows that nobody writes again while an old view is open: purge takes out of their chains what no view
//! needs, all of it and nothing else, and looks at nothing twice without need. The judge is an oracle that
//! remembers every version and asks each view by itself.

use super::super::value::RowValue;
use super::stage::*;
use crate::api::*;
use crate::engine::Engine;
use crate::txn::Txn;
use crate::txn::undo_record::{Item, UndoKind, item_at, place};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use turnstile_sys::rng::Rng;

fn view_of(engine: &Arc<Engine>) -> Txn {
    let mut txn = begin(engine);
    txn.open_view();
    txn
}

/// Records that purge has looked at behind the oldest view.
fn looked(engine: &Arc<Engine>) -> u64 {
    begin(engine).kernel.purge.progress.behind.load(Ordering::Relaxed)
}

/// History of so many transactions of one record, but for the last one of each page that stays: whether it
/// goes on behind the page is not asked.
fn history_is(engine: &Arc<Engine>, wanted: u32) {
    let (history, wanted) = (engine.history_list_length(), u64::from(wanted));
    let pages = engine.purge_status().undo_pages_in_use;
    assert!((wanted..=wanted + pages).contains(&history), "{history} for {wanted}, in {pages} pages");
}

/// Older versions that a row's chain has, as far as some view may follow it. None: somebody is writing the
/// row, or it is not there.
fn older_versions(engine: &Arc<Engine>, table: &TableDef, id: u32) -> Option<usize> {
    let kernel = &begin(engine).kernel;
    let tree = kernel.tree(table.clustered).unwrap();
    let (leaf, position) = tree.find(&key(id)).unwrap();
    let crate::btree::Position::Found(slot) = position else { return None };
    let newest = RowValue::decode(leaf.record(slot).value).unwrap();
    if kernel.registry.is_active(newest.txn_id) {
        return None;
    }
    let Some(oldest) = kernel.registry.oldest_hiding(newest.txn_id) else { return Some(0) };
    let (mut at, mut length) = (newest.roll_ptr, 0);
    while at.0 != 0 {
        let page = kernel.storage.pool.load_blocking(place(at).0).unwrap().read();
        let (Item::Record(record), _) = item_at(&page, place(at).1).unwrap() else { panic!("not a record") };
        let UndoKind::Update { old_value, .. } = record.kind else { break };
        let version = RowValue::decode(old_value).unwrap();
        length += 1;
        if oldest.sees(version.txn_id) {
            break;
        }
        at = version.roll_ptr;
    }
    Some(length)
}

#[test]
fn rows_changed_three_times_and_left_alone_keep_one_version_for_each_view() {
    const ROWS: u32 = 5000;
    let (_disk, engine, table) = open(300);
    let table = bare(&table);
    fill(&engine, &table, ROWS);
    let mut old = view_of(&engine);
    for n in 1..=3 {
        for id in 0..ROWS {
            commit_set(&engine, &table, id, n);
        }
    }
    let full = engine.purge_status().undo_pages_in_use;
    engine.purge_all().unwrap();
    history_is(&engine, ROWS);
    let pages = engine.purge_status().undo_pages_in_use;
    assert!(pages * 2 < full, "{pages} of {full} undo pages are left");
    for id in 0..ROWS {
        assert_eq!(older_versions(&engine, &table, id), Some(1), "row {id}");
    }
    assert!(contents(&mut old, &table).iter().all(|(_, row)| a_of(row) == 0));
    drop(old);
    engine.purge_all().unwrap();
    assert_eq!(engine.history_list_length(), 0);
    assert_eq!(engine.purge_status().undo_pages_in_use, engine.purge_status().lanes);
}

#[test]
fn what_only_a_closed_view_needed_goes_although_an_older_one_is_open() {
    const ROWS: u32 = 1000;
    let (_disk, engine, table) = open(301);
    let table = bare(&table);
    fill(&engine, &table, ROWS);
    let mut old = view_of(&engine);
    let mut middle = Vec::new();
    for n in 1..=4 {
        (0..ROWS).for_each(|id| commit_set(&engine, &table, id, n));
        middle.push(view_of(&engine));
    }
    engine.purge_all().unwrap();
    // The last view sees what is in the leaves.
    history_is(&engine, 4 * ROWS);
    middle.remove(1);
    engine.purge_all().unwrap();
    history_is(&engine, 3 * ROWS);
    assert_eq!(a_of(&get(&mut middle[0], &table, 7).unwrap()), 1);
    assert_eq!(a_of(&get(&mut middle[1], &table, 7).unwrap()), 3);
    middle.clear();
    engine.purge_all().unwrap();
    history_is(&engine, ROWS);
    assert!(contents(&mut old, &table).iter().all(|(_, row)| a_of(row) == 0));
}

#[test]
fn nothing_is_looked_at_twice_without_need() {
    const ROWS: u32 = 1000;
    let (_disk, engine, table) = open(302);
    let table = bare(&table);
    fill(&engine, &table, ROWS);
    let _old = view_of(&engine);
    for n in 1..=3 {
        (0..ROWS).for_each(|id| commit_set(&engine, &table, id, n));
    }
    engine.purge_all().unwrap();
    let first = looked(&engine);
    assert!((1..=3 * u64::from(ROWS)).contains(&first), "{first}");
    for _ in 0..10 {
        engine.purge_all().unwrap();
        drop(view_of(&engine));
    }
    assert_eq!(
        looked(&engine),
        first,
        "views that open, and close before anything has ended, change nothing"
    );
    for n in 0..100 {
        let short = view_of(&engine);
        (0..10).for_each(|id| commit_set(&engine, &table, id, n));
        engine.purge_all().unwrap();
        drop(short);
        engine.purge_all().unwrap();
    }
    // Ten new records twice each, and what lies before them in their page.
    let later = looked(&engine) - first;
    assert!(later <= 100 * (20 + 250), "{later} looks at 1,000 records");
    history_is(&engine, ROWS);
}

#[test]
fn a_round_does_its_share_and_the_next_goes_on() {
    const ROWS: u32 = 600;
    let (_disk, engine, table) = open(303);
    let table = bare(&table);
    fill(&engine, &table, ROWS);
    let _old = view_of(&engine);
    for n in 1..=3 {
        (0..ROWS).for_each(|id| commit_set(&engine, &table, id, n));
    }
    let kernel = begin(&engine).kernel.clone();
    kernel.settings.purge_batch_size.store(3, Ordering::Relaxed);
    let mut rounds = 0;
    loop {
        let before = looked(&engine);
        engine.purge_some(if rounds % 3 == 0 { 7 } else { 1000 }).unwrap();
        let share = looked(&engine) - before;
        assert!(share <= if rounds % 3 == 0 { 7 } else { 48 }, "{share} records in round {rounds}");
        if share == 0 {
            break;
        }
        rounds += 1;
    }
    assert!(rounds > 20, "{rounds} rounds");
    history_is(&engine, ROWS);
}

/// A version: when it was committed, and what it says; `None`: the row was deleted.
type Version = (u64, Option<Vec<u8>>);

/// What a writer has changed.
type Changes = BTreeMap<u32, Option<Vec<u8>>>;

/// Everything that was ever committed, a counter for a clock, and who is doing what.
struct World {
    engine: Arc<Engine>,
    table: TableDef,
    rng: Rng,
    now: u64,
    history: BTreeMap<u32, Vec<Version>>,
    /// A view, and the time it shows.
    views: Vec<(Txn, u64)>,
    writers: Vec<(Txn, Changes)>,
    /// No row is added or deleted: then the oracle knows chains to the last version.
    updates_only: bool,
}

const KEYS: u32 = 12;

/// What a view of time `at` sees, by its place in a row's history.
fn seen(versions: &[Version], at: u64) -> Option<usize> {
    versions.iter().rposition(|(time, _)| *time <= at)
}

impl World {
    fn new(seed: u64) -> World {
        let (_disk, engine, table) = open(seed);
        let table = if seed % 3 == 2 { table } else { bare(&table) };
        let updates_only = seed.is_multiple_of(2);
        let mut world = World {
            engine,
            table,
            rng: Rng::new(seed),
            now: 1,
            history: (0..KEYS).map(|id| (id, Vec::new())).collect(),
            views: Vec::new(),
            writers: Vec::new(),
            updates_only,
        };
        if updates_only {
            let mut txn = begin(&world.engine);
            for id in 0..KEYS {
                let bytes = row(0, 1000 * id, "");
                insert(&mut txn, &world.table, id, &bytes);
                world.history.insert(id, vec![(1, Some(bytes))]);
            }
            txn.commit().unwrap();
        }
        world
    }

    fn step(&mut self, n: u32) {
        match self.rng.below(20) {
            0 | 1 if self.views.len() < 6 => self.views.push((view_of(&self.engine), self.now)),
            2 if !self.views.is_empty() => _ = self.views.swap_remove(self.rng.index(self.views.len())),
            3 => _ = self.engine.purge_some(self.rng.below(9) + 1).unwrap(),
            4 => {
                self.engine.purge_all().unwrap();
                self.judge_chains();
            }
            5..=8 if !self.writers.is_empty() => self.end_one(),
            _ => self.write(n),
        }
        self.judge_views();
    }

    fn write(&mut self, n: u32) {
        if self.writers.len() < 3 && (self.writers.is_empty() || self.rng.chance(0.3)) {
            self.writers.push((begin(&self.engine), BTreeMap::new()));
        }
        let (at, id) = (self.rng.index(self.writers.len()), self.rng.below(u64::from(KEYS)) as u32);
        let (mine, delete) = (self.rng.below(4) as u32, !self.updates_only && self.rng.chance(0.3));
        if self.writers.iter().enumerate().any(|(other, (_, own))| other != at && own.contains_key(&id)) {
            return;
        }
        let committed = self.history[&id].last().and_then(|(_, row)| row.clone());
        let (txn, own) = &mut self.writers[at];
        let is_there = own.get(&id).cloned().unwrap_or(committed).is_some();
        let bytes = row(mine, 1000 * id + n % 1000, "text");
        let savepoint = txn.savepoint();
        let before = own.get(&id).cloned();
        match (is_there, delete) {
            (true, true) => assert!(block_on(txn.delete(&self.table, &key(id))).unwrap()),
            (true, false) => _ = set(txn, &self.table, id, &bytes),
            (false, _) => insert(txn, &self.table, id, &bytes),
        }
        own.insert(id, (!(is_there && delete)).then_some(bytes));
        if self.rng.chance(0.15) {
            block_on(txn.rollback_to(savepoint)).unwrap();
            // The lock stays, so the key is still the writer's.
            let committed = self.history[&id].last().and_then(|(_, row)| row.clone());
            own.insert(id, before.unwrap_or(committed));
        }
    }

    fn end_one(&mut self) {
        let (mut txn, own) = self.writers.swap_remove(self.rng.index(self.writers.len()));
        match self.rng.below(4) {
            0 => block_on(txn.rollback()).unwrap(),
            1 if self.rng.chance(0.3) => {
                drop(txn);
                self.engine.roll_back_abandoned().unwrap();
            }
            _ => {
                txn.commit().unwrap();
                self.now += 1;
                for (id, row) in own {
                    let versions = self.history.get_mut(&id).unwrap();
                    if versions.last().and_then(|(_, row)| row.as_ref()) != row.as_ref() {
                        versions.push((self.now, row));
                    }
                }
            }
        }
    }

    /// Every view shows, by every tree, what was committed before it.
    fn judge_views(&mut self) {
        for (txn, at) in &mut self.views {
            let wanted: Vec<_> = self
                .history
                .iter()
                .filter_map(|(id, versions)| {
                    Some((key(*id).to_vec(), versions[seen(versions, *at)?].1.clone()?))
                })
                .collect();
            assert_eq!(contents(txn, &self.table), wanted, "the view of {at}");
        }
    }

    /// Every chain has a version for each view that sees an older one, and no more.
    fn judge_chains(&self) {
        for (id, versions) in &self.history {
            let Some(found) = older_versions(&self.engine, &self.table, *id) else { continue };
            let mut needed: Vec<usize> =
                self.views.iter().filter_map(|(_, at)| seen(versions, *at)).collect();
            needed.retain(|nth| nth + 1 < versions.len());
            needed.sort_unstable();
            needed.dedup();
            if self.updates_only {
                assert_eq!(found, needed.len(), "row {id}: {versions:?}");
            } else {
                let rows = needed.iter().filter(|nth| versions[**nth].1.is_some()).count();
                // Deleted versions stay while a view stops at them, and so does one that a rollback has left.
                assert!(
                    (rows..=rows + self.views.len() + 1).contains(&found),
                    "row {id}: {found} for {rows}"
                );
            }
        }
    }
}

#[test]
fn every_chain_has_what_views_need_and_no_more() {
    let seeds = std::env::var("MODEL_SEEDS").ok().and_then(|seeds| seeds.parse().ok()).unwrap_or(12);
    for seed in 0..seeds {
        let mut world = World::new(seed);
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            for n in 0..500 {
                world.step(n);
            }
        }));
        assert!(outcome.is_ok(), "seed {seed}");
        world.writers.clear();
        world.engine.roll_back_abandoned().unwrap();
        world.engine.purge_all().unwrap();
        world.judge_views();
        world.judge_chains();
        world.views.clear();
        world.engine.purge_all().unwrap();
        assert_eq!(world.engine.history_list_length(), 0, "seed {seed}");
        let rows = contents(&mut begin(&world.engine), &world.table).len();
        super::history::nothing_is_left_behind(&world.engine, &world.table, rows);
    }
}
