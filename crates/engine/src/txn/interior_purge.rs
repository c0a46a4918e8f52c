//! How far purge has looked for versions between views behind the oldest one, which keeps it from going on.
//!
//! ```text
//!   commit numbers:   ... limit of the oldest view ........ from ............. to .........
//!                         | looked at, nothing has closed  | this look       | the next one
//! ```
//!
//! One look goes over all lanes, a turn in each after the other, over as many rounds as it takes; the place
//! in a lane is `looked_at` of its state. When it is through, nothing that ended below `to` has a version
//! that no view needs, but for views that have closed since it began. So the next one begins with the oldest
//! of these, or at `to`.
//!
//! | field | meaning |
//! |---|---|
//! | `oldest`, `rounds` | limit of the oldest view, and for how many rounds it has been that |
//! | `from` | transactions with a smaller commit number need no look |
//! | `to` | transactions with a smaller one have ended, and have been looked at or will be by this look |
//! | `again` | lanes have been looked at beyond `from` before, so each is gone back in first |
//! | `lanes` | lanes with something left to look at, and whether this look has been there |
//!
//! In the hands of the round's coordinator.

use std::collections::VecDeque;
use std::sync::Arc;

use super::lane::Lane;
use super::lanes::Lanes;
use super::registry::Registry;
use super::view::CommitNo;

/// The state of the look.
#[derive(Debug, Default)]
pub struct InteriorPurge {
    oldest: CommitNo,
    rounds: u32,
    /// Where this look begins.
    pub from: CommitNo,
    /// Where it ends.
    pub to: CommitNo,
    again: bool,
    lanes: VecDeque<(Arc<Lane>, bool)>,
}

impl InteriorPurge {
    /// Whether a round is to look. `patience`: for so many rounds a view must have been the oldest.
    pub fn is_due(&mut self, registry: &Registry, patience: u32) -> bool {
        let Some(oldest) = registry.oldest_limit() else {
            *self = InteriorPurge::default();
            return false;
        };
        self.rounds = if oldest == self.oldest { self.rounds.saturating_add(1) } else { 0 };
        self.oldest = oldest;
        self.rounds >= patience
    }

    /// Begins a look, unless one is under way or nothing can have changed since the last.
    pub fn begin(&mut self, registry: &Registry, lanes: &Lanes) {
        if self.lanes.is_empty()
            && let Some((from, to)) = registry.begin_look(self.to)
        {
            self.again = from < self.to;
            (self.from, self.to) = (from, to);
            self.lanes = lanes.with_history().into_iter().map(|lane| (lane, false)).collect();
        }
    }

    /// The next lane, and whether it is to be gone back in first. [`InteriorPurge::put_back`] it if there is
    /// more in it.
    pub fn take(&mut self) -> Option<(Arc<Lane>, bool)> {
        let (lane, begun) = self.lanes.pop_front()?;
        Some((lane, self.again && !begun))
    }

    /// A lane with something left. `begun`: it has been gone back in.
    pub fn put_back(&mut self, lane: Arc<Lane>, begun: bool) {
        self.lanes.push_back((lane, begun));
    }
}
