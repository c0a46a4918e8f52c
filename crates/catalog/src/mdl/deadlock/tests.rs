//! Cycles against a plain search of the whole graph.
use std::collections::BTreeSet;
use std::task::Waker;

use super::*;

const MODES: [Mode; 4] = [Mode::Read, Mode::Write, Mode::ReadLock, Mode::Exclusive];

/// A step of SplitMix64.
fn draw(state: &mut u64, below: u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut x = *state;
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (x ^ (x >> 31)) % below
}

fn is_victim(place: &Place<'_>) -> bool {
    place.is_victim(Waker::noop())
}

#[test]
fn two_transactions_and_two_definitions() {
    let waits = MetadataWaits::default();
    let waker = Waker::noop();
    let ddl_a = waits.join(1, Want::Nobody, &[(1, Mode::Exclusive)], waker);
    let ddl_b = waits.join(2, Want::Nobody, &[(2, Mode::Exclusive)], waker);
    let first = waits.join(2, Want::Read, &[(1, Mode::Read)], waker);
    assert!(![&ddl_a, &ddl_b, &first].into_iter().any(is_victim), "no cycle yet");
    let second = waits.join(1, Want::Write, &[(2, Mode::Write)], waker);
    assert!(is_victim(&second), "of equals the one that closes the cycle");
    assert!(![&ddl_a, &ddl_b, &first].into_iter().any(is_victim), "one is enough");
}

#[test]
fn definitions_survive_rows() {
    let waits = MetadataWaits::default();
    let waker = Waker::noop();
    let rows = waits.join(1, Want::Write, &[(2, Mode::Write)], waker);
    let locks = [(1, Mode::ReadLock), (2, Mode::ReadLock)];
    let tables = waits.join(2, Want::NoWriters, &locks, waker);
    assert!(is_victim(&rows) && !is_victim(&tables), "it closed the cycle, but weighs more");
}

#[test]
fn a_wait_that_was_left_is_in_nobodys_way() {
    let waits = MetadataWaits::default();
    let waker = Waker::noop();
    let left = waits.join(2, Want::Nobody, &[(1, Mode::Read), (2, Mode::Exclusive)], waker);
    drop(left);
    let stays = waits.join(1, Want::Nobody, &[(1, Mode::Exclusive), (2, Mode::Read)], waker);
    assert!(!is_victim(&stays));
}

/// Whether a cycle is among waits that have not lost: whoever waits for nobody is taken away until nobody
/// can be.
fn has_cycle(waits: &MetadataWaits) -> bool {
    let notes = waits.notes.lock();
    let mut left: BTreeSet<u64> = notes.by_number.keys().copied().collect();
    loop {
        let blocked = |one: &u64| notes.blockers(*one).any(|other| left.contains(&other));
        let stay: BTreeSet<u64> = left.iter().copied().filter(blocked).collect();
        if stay.len() == left.len() {
            return !left.is_empty();
        }
        left = stay;
    }
}

fn reaches_itself(waits: &MetadataWaits, start: u64) -> bool {
    let notes = waits.notes.lock();
    let (mut seen, mut next) = (BTreeSet::new(), vec![start]);
    while let Some(at) = next.pop() {
        next.extend(notes.blockers(at).filter(|other| seen.insert(*other)));
    }
    seen.contains(&start)
}

#[test]
fn every_cycle_is_broken_and_nothing_else() {
    let (mut victims, mut rounds) = (0, 0);
    for seed in 0..400 {
        let mut random = seed;
        let waits = MetadataWaits::default();
        let mut places: Vec<Place<'_>> = Vec::new();
        for _ in 0..30 {
            rounds += 1;
            if draw(&mut random, 5) == 0 && !places.is_empty() {
                let at = draw(&mut random, places.len() as u64) as usize;
                drop(places.swap_remove(at));
            }
            let mut holds: Vec<(usize, Mode)> = Vec::new();
            for _ in 0..draw(&mut random, 3) {
                holds.push((draw(&mut random, 5) as usize, MODES[draw(&mut random, 4) as usize]));
            }
            let wants = [Want::Read, Want::Write, Want::WriteToo, Want::NoWriters, Want::Nobody];
            let want = wants[draw(&mut random, 5) as usize];
            let before: Vec<bool> = places.iter().map(is_victim).collect();
            let mdl = draw(&mut random, 5) as usize;
            // Without the new wait there was none, so who loses now was in one with it.
            places.push(waits.join(mdl, want, &holds, Waker::noop()));
            assert!(!has_cycle(&waits), "seed {seed}: a cycle is left");
            let is_new = |at: &usize| is_victim(&places[*at]) && !before.get(*at).is_some_and(|was| *was);
            let lost: Vec<usize> = (0..places.len()).filter(is_new).collect();
            for at in &lost {
                if let Some(note) = waits.notes.lock().by_number.get_mut(&places[*at].number) {
                    note.victim = false;
                }
            }
            // All put back, each is in a cycle.
            assert!(lost.iter().all(|at| reaches_itself(&waits, places[*at].number)), "seed {seed}");
            victims += lost.len();
            lost.into_iter().rev().for_each(|at| drop(places.remove(at)));
        }
    }
    assert!(victims > 100 && victims < rounds, "{victims} of {rounds}");
}
