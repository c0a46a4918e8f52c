//! The registry against a history that remembers everything.
#![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]

use super::*;
use std::collections::BTreeSet;

/// A registry with ids to hand out.
fn ready(first: TxnId) -> Registry {
    let registry = Registry::new(first, CommitNo(1));
    registry.extend(TxnId(1 << 20));
    registry
}

/// A small deterministic generator, so that this file needs nothing from other rooms.
struct Steps(u64);
impl Steps {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }
}

#[test]
fn a_view_sees_exactly_what_had_left() {
    for seed in 0..200 {
        let mut steps = Steps(seed);
        let registry = ready(TxnId(1));
        let mut active: Vec<(TxnId, Option<CommitNo>)> = Vec::new();
        let mut left: BTreeSet<TxnId> = BTreeSet::new();
        let mut numbers: Vec<(CommitNo, TxnId)> = Vec::new();
        let mut views = Vec::new();
        for _ in 0..120 {
            match steps.below(6) {
                0 | 1 => active.push((registry.enter().unwrap(), None)),
                2 if !active.is_empty() => {
                    let at = steps.below(active.len() as u64) as usize;
                    if active[at].1.is_none() {
                        active[at].1 = Some(registry.reserve());
                    }
                }
                3 if !active.is_empty() => {
                    let at = steps.below(active.len() as u64) as usize;
                    let (id, number) = active.remove(at);
                    let number = number.unwrap_or_else(|| registry.reserve());
                    registry.leave(id, Some(number));
                    left.insert(id);
                    numbers.push((number, id));
                }
                4 => views.push((registry.open_view(), left.clone())),
                5 if !views.is_empty() => {
                    let at = steps.below(views.len() as u64) as usize;
                    views.remove(at);
                }
                _ => {}
            }
            for (cut, seen) in &views {
                for id in 1..200 {
                    assert_eq!(cut.sees(TxnId(id)), seen.contains(&TxnId(id)), "seed {seed} id {id}");
                }
            }
            let limit = registry.purge_limit();
            for (number, id) in &numbers {
                if *number < limit {
                    assert!(views.iter().all(|(cut, _)| cut.sees(*id)), "seed {seed}: purge passes a view");
                }
            }
            for id in 1..registry.low_water() {
                assert!(left.contains(&TxnId(id)), "seed {seed}");
            }
        }
    }
}

#[test]
fn an_unchanged_registry_shares_one_cut() {
    let registry = ready(TxnId(7));
    let first = registry.open_view();
    let entered = registry.enter().unwrap();
    let second = registry.open_view();
    assert!(Arc::ptr_eq(&first, &second), "entering changes nothing that a view shows");
    registry.leave(entered, None);
    let third = registry.open_view();
    assert!(!first.sees(entered) && third.sees(entered));
    assert_eq!(registry.view_count(), 2);
}

#[test]
fn versions_between_views_are_recognised() {
    let registry = ready(TxnId(1));
    let commit = || {
        let id = registry.enter().unwrap();
        registry.leave(id, None);
        id
    };
    let skippable = |older, newer| {
        registry.oldest_hiding(newer).is_some()
            && registry.with_views(|views| !views.some_sees_between(older, newer))
    };
    let (a, b) = (commit(), commit());
    assert!(!skippable(a, b), "nobody is old");
    let old = registry.open_view();
    let (c, d) = (commit(), commit());
    assert!(skippable(c, d), "no view sees c without d");
    assert!(!skippable(b, c), "the old view needs b");
    let middle = registry.open_view();
    let e = commit();
    assert!(!skippable(d, e), "the middle view needs d");
    drop(middle);
    assert!(skippable(d, e));
    drop(old);
    assert!(!skippable(d, e));
}

#[test]
fn no_id_beyond_the_mark_is_handed_out() {
    let registry = Registry::new(TxnId(5), CommitNo(1));
    assert_eq!((registry.enter(), registry.used_up()), (None, Some(TxnId(5))));
    registry.extend(TxnId(7));
    assert_eq!(registry.used_up(), None);
    assert!(!registry.was_given(TxnId(5)), "not yet");
    assert_eq!(
        (registry.enter(), registry.enter(), registry.enter()),
        (Some(TxnId(5)), Some(TxnId(6)), None)
    );
    assert!(registry.was_given(TxnId(6)) && !registry.was_given(TxnId(7)));
    registry.extend(TxnId(6));
    assert_eq!(registry.used_up(), Some(TxnId(7)), "the mark never falls");
}
