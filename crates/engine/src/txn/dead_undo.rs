//! Undo records that nobody can reach any more although purge has not come to them: those of versions between views.
//!
//! A writer that leaves versions out (see the row room) cuts their undo records off: the row's chain no longer leads there, and
//! since it does so under the leaf's exclusive latch, no reader is on its way either. It notes them here. A page of nothing but
//! such records, of transactions that left purge nothing else to do, is freed out of the middle of its lane. So a hot row under an old
//! view needs a few pages of undo, not all it ever wrote.
//!
//! A note is a record's place and its writer. Ids are never used twice, so a note can outlive its page without harm. After a
//! restart there are no views, so nothing of this needs to be on disk.

use parking_lot::Mutex;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::ids::{PageNo, RollPtr, TxnId};

use super::undo_record::place;

/// A page with fewer notes is not looked at. In tests every page is, to meet the rare cases.
const NOTES_MIN: usize = if cfg!(test) { 1 } else { 8 };

/// A record's offset in its page, and who wrote it.
pub type Note = (usize, TxnId);

/// The notes, by page.
#[derive(Debug, Default)]
pub struct DeadUndo {
    pages: Mutex<FxHashMap<PageNo, Notes>>,
}

#[derive(Debug, Default)]
struct Notes {
    records: FxHashSet<Note>,
    /// How many there were at the last look.
    looked: usize,
}

impl DeadUndo {
    /// Notes records that have been cut off.
    pub fn note(&self, records: &[(RollPtr, TxnId)]) {
        let mut pages = self.pages.lock();
        for (ptr, writer) in records {
            let (page, offset) = place(*ptr);
            pages.entry(page).or_default().records.insert((offset, *writer));
        }
    }

    /// Pages that have new notes, enough for a look.
    pub fn candidates(&self) -> Vec<PageNo> {
        let mut pages = self.pages.lock();
        let mut found = Vec::new();
        for (page, notes) in pages.iter_mut() {
            if notes.records.len() >= NOTES_MIN && notes.records.len() > notes.looked {
                notes.looked = notes.records.len();
                found.push(*page);
            }
        }
        found
    }

    /// Whether every one of these records has been cut off.
    pub fn covers(&self, page: PageNo, records: &[Note]) -> bool {
        let pages = self.pages.lock();
        pages.get(&page).is_some_and(|notes| records.iter().all(|record| notes.records.contains(record)))
    }

    /// The page is gone.
    pub fn forget(&self, page: PageNo) {
        self.pages.lock().remove(&page);
    }

    /// No view is open: purge will come to everything by itself.
    pub fn clear(&self) {
        let mut pages = self.pages.lock();
        if !pages.is_empty() {
            *pages = FxHashMap::default();
        }
    }
}
