//! The crash simulator: the engine over a disk in memory that loses, tears and reorders what was not synced and fails at the n-th
//! operation. Random transactions run; the power goes; what is found afterwards must be a state that was allowed.
//!
//! ```text
//!   allowed after a crash:  the last acknowledged state, or any state committed behind it, never anything else
//!   and always:             every tree is sound, secondary trees agree with the table, purge leaves nothing behind
//! ```
//!
//! `SIM_SEEDS=n` seeds from `SIM_FROM=m`; a failure names its seed, which replays it.
#![allow(clippy::unwrap_used)]

mod life;
mod table;

use life::{Fate, lives_of};

fn number(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|word| word.parse().ok()).unwrap_or(otherwise)
}

#[test]
fn acknowledged_commits_survive_and_nothing_else_does() {
    let (from, seeds) = (number("SIM_FROM", 1), number("SIM_SEEDS", 20));
    let workers = std::thread::available_parallelism().map_or(1, usize::from) as u64;
    std::thread::scope(|scope| {
        for worker in 0..workers {
            scope.spawn(move || {
                for seed in (from + worker..from + seeds).step_by(workers as usize) {
                    lives_of(seed, Fate::Honest).unwrap_or_else(|what| {
                        panic!("seed {seed}: {what}\nagain: SIM_FROM={seed} SIM_SEEDS=1 ./x sim")
                    });
                }
            });
        }
    });
}

/// The canary: with syncs of the redo log left out the simulator must find a lost commit, or it is blind.
#[test]
fn a_planted_bug_is_found() {
    let found = (1..60).any(|seed| lives_of(seed, Fate::RedoSyncsSkipped).is_err());
    assert!(found, "sixty seeds without a single loss");
}
