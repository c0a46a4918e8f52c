//! Read views: which transactions a reader sees.
//!
//! A view is cut from the registry's active set at one moment. It shows a transaction iff that one had left
//! the active set by then (or is the reader itself):
//!
//! ```text
//!   ids:   1 2 3 4 5 6 7 8 9          active = {4, 6}, low_water = 4, high_water = 8
//!   seen:  y y y . y . y . .          8 and 9 began after the cut
//! ```
//!
//! The definition is InnoDB's read view (MySQL reference manual, "Consistent Nonlocking Reads"); here one cut
//! is shared by all readers that open a view while no transaction leaves.

use std::sync::Arc;

use crate::ids::TxnId;

/// Position in the order in which transactions left the active set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct CommitNo(pub u64);

/// One cut of the active set. Immutable; open as long as somebody besides the registry holds it.
#[derive(Debug)]
pub struct ReadView {
    /// Every id below is seen.
    pub low_water: u64,
    /// No id from here on is seen.
    pub high_water: u64,
    /// Ids in between that are not seen, ascending.
    pub active: Box<[u64]>,
    /// Every transaction with a smaller commit number is seen; purge goes no further than this.
    pub commit_limit: CommitNo,
}

impl ReadView {
    /// Whether the changes of transaction `id` belong to this view.
    #[inline]
    pub fn sees(&self, id: TxnId) -> bool {
        id.0 < self.low_water || (id.0 < self.high_water && self.active.binary_search(&id.0).is_err())
    }
}

/// What one read may see: a cut and the reader's own writes, or simply the newest version.
#[derive(Clone, Debug)]
pub enum Sight {
    /// The newest version, committed or not (READ UNCOMMITTED, and readers that hold the row's lock).
    Newest,
    /// Through a view. The second field is the reader's own id, 0 if it has none.
    View(Arc<ReadView>, TxnId),
}

impl Sight {
    /// Whether changes of `id` are visible.
    #[inline]
    pub fn sees(&self, id: TxnId) -> bool {
        match self {
            Sight::Newest => true,
            Sight::View(cut, own) => id == *own || cut.sees(id),
        }
    }

    /// Whether what `id` says about a secondary entry is all that this reader need know. Not so for the
    /// reader's own words: a partial rollback leaves its id on entries that are again what somebody else made
    /// them.
    #[inline]
    pub fn settles(&self, id: TxnId) -> bool {
        match self {
            Sight::Newest => true,
            Sight::View(cut, _) => cut.sees(id),
        }
    }

    /// Whether `id` is the reader itself.
    #[inline]
    pub fn is_own(&self, id: TxnId) -> bool {
        matches!(self, Sight::View(_, own) if *own == id)
    }
}
