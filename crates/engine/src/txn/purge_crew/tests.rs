//! The crew without a race: what is called, what is capped, who hears of a failure.
#![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]

use super::super::lane::LaneState;
use super::*;
use crate::ids::PageNo;

fn lanes(count: u32) -> Vec<Arc<Lane>> {
    (0..count).map(|n| Arc::new(Lane::new(n, LaneState::empty(PageNo(n + 1))))).collect()
}

#[test]
fn helpers_are_called_for_much_work_only() {
    let crew = PurgeCrew::default();
    for _ in 0..3 {
        crew.join();
    }
    for (lanes_count, transactions, wanted) in
        [(8, 300, 0), (8, 1200, 1), (8, 2400, 2), (8, 100_000, 3), (1, 100_000, 0), (2, 100_000, 1)]
    {
        crew.lay_out(lanes(lanes_count), CommitNo(1), (transactions, u64::MAX, 300));
        assert_eq!(crew.job.lock().calls, wanted, "{lanes_count} lanes, {transactions} transactions");
        crew.finish().unwrap();
        assert_eq!(crew.job.lock().calls, 0);
    }
}

#[test]
fn a_round_ends_at_its_cap_and_unused_work_is_given_back() {
    let crew = PurgeCrew::default();
    crew.lay_out(lanes(2), CommitNo(1), (1000, 500, 300));
    let first = crew.take().unwrap();
    let second = crew.take().unwrap();
    assert_eq!((first.records, second.records), (300, 200));
    assert!(crew.take().is_none());
    crew.put_back(Some(first.lane), 100);
    assert_eq!(crew.take().unwrap().records, 100);
    crew.put_back(Some(second.lane), 0);
    assert!(crew.take().is_none(), "the cap is used up, the lane stays for the next round");
    crew.finish().unwrap();
}

#[test]
fn a_helpers_failure_is_the_rounds() {
    let crew = Arc::new(PurgeCrew::default());
    crew.join();
    crew.lay_out(lanes(8), CommitNo(1), (100_000, u64::MAX, 300));
    assert!(crew.wait_for_call());
    crew.leave(Err(Error::Killed));
    assert!(crew.finish().is_err());
    assert!(crew.finish().is_ok());
}
