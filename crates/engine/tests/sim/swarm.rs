//! What a seed does more and what it does not do at all: each operation gets a weight, and some get none, so
//! that seeds differ in kind and rare combinations come up.

use turnstile_sys::rng::Rng;

/// One kind of step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
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
const STEPS: &[(Step, u64, bool)] = &[
    (Step::Insert, 30, false),
    (Step::InsertRun, 8, true),
    (Step::Update, 30, true),
    (Step::Delete, 20, true),
    (Step::Read, 8, true),
    (Step::LockRead, 8, true),
    (Step::Scan, 3, true),
    (Step::ScanSecondary, 3, true),
    (Step::ChangeRange, 6, true),
    (Step::Savepoint, 8, true),
    (Step::RollBackTo, 5, true),
    (Step::Commit, 20, false),
    (Step::RollBack, 4, true),
    (Step::Abandon, 2, true),
    (Step::Acknowledge, 14, false),
    (Step::CreateTable, 1, true),
    (Step::DropTable, 1, true),
    (Step::Checkpoint, 2, true),
    (Step::Purge, 2, true),
    (Step::CheckNow, 1, true),
    (Step::FillDisk, 3, true),
    (Step::GiveSpace, 2, false),
];

/// The character of one seed.
#[derive(Clone, Debug)]
pub struct Swarm {
    weights: Vec<(Step, u64)>,
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
    pub fn step(&self, rng: &mut Rng) -> Step {
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
