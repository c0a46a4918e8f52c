//! The crew under every schedule that shuttle thinks of.
//! `RUSTFLAGS="--cfg shuttle" cargo test -p turnstile-engine --lib txn::purge_crew::races_shuttle`.

use std::sync::Mutex as Plain;

use shuttle::thread;

use super::super::lane::LaneState;
use super::*;
use crate::ids::PageNo;

/// What each lane still has, and who is in it.
type Lanes = Arc<Plain<Vec<(u64, bool)>>>;

fn work(crew: &PurgeCrew, lanes: &Lanes) {
    while let Some(batch) = crew.take() {
        let number = batch.lane.number as usize;
        assert!(!std::mem::replace(&mut lanes.lock().unwrap()[number].1, true), "a lane in two hands");
        thread::yield_now();
        let mut all = lanes.lock().unwrap();
        let done = all[number].0.min(batch.records);
        all[number] = (all[number].0 - done, false);
        let more = all[number].0 > 0;
        drop(all);
        crew.put_back(more.then_some(batch.lane), batch.records - done);
    }
}

fn round(cap: u64) -> u64 {
    let crew = Arc::new(PurgeCrew::default());
    let lanes: Lanes = Arc::new(Plain::new(vec![(30, false), (7, false), (12, false)]));
    let helpers: Vec<_> = (0..2)
        .map(|_| {
            crew.join();
            let (crew, lanes) = (crew.clone(), lanes.clone());
            thread::spawn(move || {
                while crew.wait_for_call() {
                    work(&crew, &lanes);
                    crew.leave(Ok(()));
                }
            })
        })
        .collect();
    {
        let _round = crew.begin_round();
        let all = (0..3).map(|n| Arc::new(Lane::new(n, LaneState::empty(PageNo(n + 1))))).collect();
        crew.lay_out(all, CommitNo(1), (49, cap, 5));
        work(&crew, &lanes);
        crew.finish().unwrap();
    }
    assert!(lanes.lock().unwrap().iter().all(|(_, held)| !held), "somebody works after the round's end");
    let left: u64 = lanes.lock().unwrap().iter().map(|(left, _)| left).sum();
    crew.close();
    for helper in helpers {
        helper.join().unwrap();
    }
    49 - left
}

#[test]
fn a_round_does_everything_once_and_ends() {
    shuttle::check_random(|| assert_eq!(round(u64::MAX), 49), 3000);
}

#[test]
fn a_cap_holds_for_all_threads_together() {
    shuttle::check_random(|| assert_eq!(round(20), 20), 3000);
}
