//! Versions between views go, whoever holds an old view: chains, history and undo pages stay small under E2's
//! load, and every view goes on to see exactly what it saw.

use super::stage::*;
use crate::api::*;
use crate::engine::Engine;
use crate::txn::Txn;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Reads a row and tells how many older versions the read has looked at.
fn walked(engine: &Arc<Engine>, txn: &mut Txn, table: &TableDef, id: u32) -> (u32, u64) {
    let before = engine.stats().versions_walked.load(Ordering::Relaxed);
    let a = a_of(&get(txn, table, id).unwrap());
    (a, engine.stats().versions_walked.load(Ordering::Relaxed) - before)
}

fn pages(engine: &Arc<Engine>) -> u64 {
    let (pages, free) = engine.storage().space.sizes();
    u64::from(pages - free)
}

/// A small generator, so that a failure can be repeated.
struct Steps(u64);
impl Steps {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }
}

#[test]
fn e2_one_snapshot_over_a_hundred_thousand_updates_of_a_hot_row() {
    let (_disk, engine, table) = open(60);
    let table = bare(&table);
    fill(&engine, &table, 1);
    let mut old = begin(&engine);
    assert_eq!(walked(&engine, &mut old, &table, 0), (0, 0));
    let (mut history, mut undo, mut used) = (0, 0, 0);
    for n in 1..=100_000 {
        commit_set(&engine, &table, 0, n);
        if n % 500 == 0 {
            engine.purge_all().unwrap();
            assert_eq!(walked(&engine, &mut old, &table, 0), (0, 1), "after {n}: one version for one view");
            assert_eq!(walked(&engine, &mut begin(&engine), &table, 0), (n, 0), "after {n}");
            history = history.max(engine.history_list_length());
            undo = undo.max(engine.purge_status().undo_pages_in_use);
            used = used.max(pages(&engine));
        }
    }
    assert!(history <= 30, "history list {history}");
    assert!(undo <= 4, "undo pages {undo}");
    assert!(used <= pages(&engine) + 4);
    drop(old);
    engine.purge_all().unwrap();
    assert_eq!(engine.history_list_length(), 0);
    assert_eq!(engine.purge_status().undo_pages_in_use, engine.purge_status().lanes);
}

#[test]
fn a_thousand_lanes_keep_history_as_short_as_one() {
    let (_disk, engine, table) = open(61);
    let table = bare(&table);
    fill(&engine, &table, 2000);
    let mut old = begin(&engine);
    get(&mut old, &table, 0);
    // A thousand sessions queue at one row: each has its lane before it waits.
    for round in 0..40 {
        let mut writers: Vec<Txn> = (0..1000)
            .map(|n| {
                let mut txn = begin(&engine);
                set(&mut txn, &table, 1000 + n, &row(round, n, "private"));
                txn
            })
            .collect();
        for txn in &mut writers {
            set(txn, &table, 0, &row(round, 0, "hot"));
            txn.commit().unwrap();
        }
        engine.purge_all().unwrap();
    }
    // 1,000 private rows with a version that the old view needs.
    let pages = engine.purge_status().undo_pages_in_use;
    assert!(pages <= 4000, "undo pages {pages}");
    assert_eq!(walked(&engine, &mut old, &table, 0), (0, 1));
    drop(old);
    engine.purge_all().unwrap();
    assert_eq!(engine.history_list_length(), 0);
    assert_eq!(engine.purge_status().undo_pages_in_use, engine.purge_status().lanes);
}

#[test]
fn a_thousand_rows_and_three_views_leave_rows_times_views() {
    let (_disk, engine, table) = open(62);
    let table = bare(&table);
    const ROWS: u64 = 1000;
    fill(&engine, &table, ROWS as u32);
    let mut steps = Steps(62);
    let mut now = vec![0; ROWS as usize];
    let mut views: Vec<(Txn, Vec<u32>)> = Vec::new();
    for n in 1..=60_000u32 {
        if n % 15_000 == 1 && views.len() < 3 {
            let mut txn = begin(&engine);
            txn.open_view();
            views.push((txn, now.clone()));
        }
        let id = steps.below(ROWS) as usize;
        commit_set(&engine, &table, id as u32, n);
        now[id] = n;
        if n % 1000 == 0 {
            engine.purge_all().unwrap();
        }
    }
    let history = engine.history_list_length();
    let pages = engine.purge_status().undo_pages_in_use;
    assert!(history <= ROWS * 3 + pages, "history list {history}, {pages} undo pages");
    for (txn, seen) in &mut views {
        for (id, expected) in seen.iter().enumerate() {
            let (a, looked) = walked(&engine, txn, &table, id as u32);
            assert_eq!(a, *expected);
            assert!(looked <= 3, "row {id}: {looked} versions");
        }
    }
    drop(views);
    engine.purge_all().unwrap();
    assert_eq!(engine.history_list_length(), 0);
}

#[test]
fn views_that_come_and_go_leave_nothing_in_the_middle_of_a_chain() {
    let (_disk, engine, table) = open(63);
    let table = bare(&table);
    fill(&engine, &table, 1);
    let mut old = begin(&engine);
    get(&mut old, &table, 0);
    let mut passing: std::collections::VecDeque<(Txn, u32)> = Default::default();
    for n in 1..=5000 {
        commit_set(&engine, &table, 0, n);
        let mut txn = begin(&engine);
        txn.open_view();
        passing.push_back((txn, n));
        if passing.len() > 5 {
            let (mut txn, seen) = passing.pop_front().unwrap();
            assert_eq!(walked(&engine, &mut txn, &table, 0).0, seen);
        }
        let (a, looked) = walked(&engine, &mut old, &table, 0);
        assert_eq!(a, 0);
        // Views, the version that was replaced last, and what has come between two deep looks.
        assert!(looked <= 5 + 1 + 1 + 16, "{looked} versions after {n}");
        if n % 100 == 0 {
            engine.purge_all().unwrap();
            assert!(engine.history_list_length() <= 50, "{}", engine.history_list_length());
            assert!(engine.purge_status().undo_pages_in_use <= 8);
        }
    }
}

#[test]
fn statements_of_many_rows_give_their_pages_back_too() {
    let (_disk, engine, table) = open(64);
    let table = bare(&table);
    fill(&engine, &table, 1000);
    let mut old = begin(&engine);
    assert_eq!(contents(&mut old, &table).len(), 1000);
    let mut most = 0;
    for n in 1..=100 {
        let mut txn = begin(&engine);
        for id in 0..1000 {
            set(&mut txn, &table, id, &row(n, id, "some text to make it a row"));
        }
        txn.commit().unwrap();
        engine.purge_all().unwrap();
        most = most.max(engine.purge_status().undo_pages_in_use);
    }
    assert!(most <= 25, "undo pages {most}");
    assert!(engine.history_list_length() <= 20, "{}", engine.history_list_length());
    assert!(contents(&mut old, &table).iter().all(|(_, row)| a_of(row) == 0));
}

#[test]
fn insertions_are_no_history() {
    let (_disk, engine, table) = open(65);
    let mut old = begin(&engine);
    assert_eq!(contents(&mut old, &table).len(), 0);
    for id in 0..3000 {
        let mut txn = begin(&engine);
        insert(&mut txn, &table, id, &row(id, id, "text"));
        txn.commit().unwrap();
        if id % 100 == 0 {
            engine.purge_all().unwrap();
            assert_eq!(engine.history_list_length(), 0);
            assert_eq!(engine.purge_status().undo_pages_in_use, 1);
        }
    }
    assert_eq!(contents(&mut old, &table).len(), 0);
    assert_eq!(contents(&mut begin(&engine), &table).len(), 3000);
}

/// 200,000 updates through a pool of 4 MiB, with a snapshot open for the first half.
#[test]
fn the_data_file_does_not_grow() {
    let (_disk, engine, table) = open(66);
    let table = bare(&table);
    fill(&engine, &table, 500);
    let mut old = Some(begin(&engine));
    old.as_mut().unwrap().open_view();
    let mut steps = Steps(66);
    let mut file = 0;
    for n in 1..=200_000u32 {
        let id = if steps.below(4) == 0 { steps.below(500) as u32 } else { 0 };
        commit_set(&engine, &table, id, n);
        match n {
            40_000 => file = engine.storage().space.sizes().0,
            100_000 => assert_eq!(a_of(&get(&mut old.take().unwrap(), &table, 0).unwrap()), 0),
            _ => {}
        }
        if n % 250 == 0 {
            engine.purge_all().unwrap();
        }
    }
    let (end, _) = engine.storage().space.sizes();
    assert!(end <= file, "{file} pages after 40,000 updates, {end} at the end");
    engine.purge_all().unwrap();
    assert_eq!(engine.history_list_length(), 0);
}

/// Primary keys and rows.
type Rows = Vec<(Vec<u8>, Vec<u8>)>;

/// Whatever mixture of writes, partial rollbacks, views and purge: each view goes on to see what it saw, by
/// every tree.
#[test]
fn random_histories_keep_every_view_whole() {
    for seed in 0..12 {
        let (_disk, engine, table) = open(100 + seed);
        let table = if seed % 3 == 0 { table } else { bare(&table) };
        let mut steps = Steps(seed);
        let mut views: Vec<(Txn, Rows)> = Vec::new();
        for n in 0..1500u32 {
            match steps.below(12) {
                0 if views.len() < 6 => {
                    let mut txn = begin(&engine);
                    let seen = contents(&mut txn, &table);
                    views.push((txn, seen));
                }
                1 if !views.is_empty() => {
                    let (mut txn, seen) = views.remove(steps.below(views.len() as u64) as usize);
                    assert_eq!(contents(&mut txn, &table), seen, "seed {seed} step {n}");
                }
                2 => drop(engine.purge_all().unwrap()),
                3 if !views.is_empty() => {
                    let at = steps.below(views.len() as u64) as usize;
                    let (txn, seen) = &mut views[at];
                    assert_eq!(&contents(txn, &table), seen, "seed {seed} step {n}");
                }
                _ => {
                    let mut txn = begin(&engine);
                    for _ in 0..=steps.below(3) {
                        let id = steps.below(6) as u32;
                        let savepoint = txn.savepoint();
                        let long = if steps.below(9) == 0 { "long ".repeat(1200) } else { "short".into() };
                        let bytes = row(steps.below(5) as u32, 1000 * id + n, &long);
                        match steps.below(5) {
                            0 => drop(block_on(txn.delete(&table, &key(id))).unwrap()),
                            _ if get(&mut txn, &table, id).is_some() => _ = set(&mut txn, &table, id, &bytes),
                            _ => insert(&mut txn, &table, id, &bytes),
                        }
                        if steps.below(6) == 0 {
                            block_on(txn.rollback_to(savepoint)).unwrap();
                        }
                    }
                    match steps.below(6) {
                        0 => block_on(txn.rollback()).unwrap(),
                        _ => drop(txn.commit().unwrap()),
                    }
                }
            }
        }
        let rows = contents(&mut begin(&engine), &table).len();
        views.clear();
        engine.purge_all().unwrap();
        assert_eq!(engine.history_list_length(), 0, "seed {seed}");
        super::history::nothing_is_left_behind(&engine, &table, rows);
    }
}
