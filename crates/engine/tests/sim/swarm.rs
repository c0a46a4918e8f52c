//! What a seed does more and what it does not do at all: each operation gets a weight, and some get none, so
//! that seeds differ in kind and rare combinations come up.

use turnstile_sys::rng::Rng;

/// One kind of step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    Insert,
    InsertRun,
    Update,
    Delete,
    Read,
    LockRead,
    Scan,
    ScanSecondary,
    ChangeRange,
    Savepoint,
    RollBackTo,
    Commit,
    RollBack,
    Abandon,
    Acknowledge,
    CreateTable,
    DropTable,
    Checkpoint,
    Purge,
    CheckNow,
    FillDisk,
    GiveSpace,
}

/// Every step with its usual weight, and whether a seed may do without it.
const STEPS: &[(Action, u64, bool)] = &[
    (Action::Insert, 30, false),
    (Action::InsertRun, 8, true),
    (Action::Update, 30, true),
    (Action::Delete, 20, true),
    (Action::Read, 8, true),
    (Action::LockRead, 8, true),
    (Action::Scan, 3, true),
    (Action::ScanSecondary, 3, true),
    (Action::ChangeRange, 6, true),
    (Action::Savepoint, 8, true),
    (Action::RollBackTo, 5, true),
    (Action::Commit, 20, false),
    (Action::RollBack, 4, true),
    (Action::Abandon, 2, true),
    (Action::Acknowledge, 14, false),
    (Action::CreateTable, 1, true),
    (Action::DropTable, 1, true),
    (Action::Checkpoint, 2, true),
    (Action::Purge, 2, true),
    (Action::CheckNow, 1, true),
    (Action::FillDisk, 3, true),
    (Action::GiveSpace, 2, false),
];

/// The character of one seed.
#[derive(Clone, Debug)]
pub struct Swarm {
    weights: Vec<(Action, u64)>,
    /// Concurrent sessions.
    pub sessions: usize,
    /// Distinct row numbers.
    pub keys: u32,
    /// Distinct values of `a`.
    pub groups: u32,
    /// Distinct values of `b`; fewer than rows make duplicates.
    pub uniques: u32,
    /// Bytes behind each key.
    pub pad: usize,
    /// Longest text of an ordinary row.
    pub text_max: usize,
    /// Probability of a row long enough for overflow pages.
    pub long: f64,
    /// Steps of one life.
    pub steps: u64,
    /// `innodb_redo_log_capacity`.
    pub redo_bytes: u64,
    /// `innodb_buffer_pool_size`.
    pub pool_bytes: u64,
}

impl Swarm {
    /// Draws one.
    pub fn draw(rng: &mut Rng) -> Swarm {
        let mut weights = Vec::new();
        for &(step, weight, optional) in STEPS {
            if !(optional && rng.chance(0.3)) {
                let weight = if rng.chance(0.2) { weight * 4 } else { weight };
                weights.push((step, weight));
            }
        }
        let pick = |rng: &mut Rng, choices: &[u64]| choices[rng.index(choices.len())];
        Swarm {
            weights,
            sessions: pick(rng, &[1, 2, 3, 5]) as usize,
            keys: pick(rng, &[6, 30, 120, 400]) as u32,
            groups: pick(rng, &[2, 7, 50]) as u32,
            uniques: pick(rng, &[40, 600, 5000]) as u32,
            pad: pick(rng, &[0, 0, 60, 400]) as usize,
            text_max: pick(rng, &[20, 200, 3000]) as usize,
            long: [0.0, 0.02, 0.2][rng.index(3)],
            steps: pick(rng, &[40, 150, 500, 1500]),
            redo_bytes: pick(rng, &[1, 1, 2, 8]) << 20,
            pool_bytes: pick(rng, &[1, 1, 2, 8]) << 20,
        }
    }

    /// Whether the adaptive hash index is on: in two runs of three, drawn with something that has no bearing
    /// on it.
    pub fn hints(&self) -> bool {
        self.groups != 7
    }

    /// The next step.
    pub fn step(&self, rng: &mut Rng) -> Action {
        let total = self.weights.iter().map(|(_, weight)| weight).sum();
        let mut at = rng.below(total);
        for &(step, weight) in &self.weights {
            if at < weight {
                return step;
            }
            at -= weight;
        }
        unreachable!("the weights add up")
    }
}
