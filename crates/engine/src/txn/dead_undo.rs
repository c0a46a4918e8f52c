//! Undo records that nobody can reach any more although purge has not come to them: those of versions between
//! views.
//!
//! Whoever leaves versions out of a row's chain (see `prune.rs` in the row room) cuts their undo records off:
//! the chain no longer leads there, and since it is done under the leaf's exclusive latch, no reader is on
//! its way either. The records are noted here. A transaction of which nothing else is left is no longer
//! history, and an undo page of nothing but such records is freed out of the middle of its lane. So a hot row
//! under an old view needs a few pages of undo, not all it ever wrote.
//!
//! | field | meaning | guarded by |
//! |---|---|---|
//! | `Notes.records` | offset and writer of each record of a page that was cut off, in that order | the
//! shard's mutex |
//! | `Notes.transactions` | how many of them were all that their transaction had written | the shard's mutex
//! |
//! | `Notes.look_at` | number of notes at which the page is worth a look | the shard's mutex |
//! | `ready` | pages worth a look, perhaps twice, perhaps freed meanwhile: who looks asks the bitmap | its
//! mutex |
//! | `transactions` | sum of `Notes.transactions` | changes under a shard's mutex |
//!
//! A note is a record's place and its writer. Ids are never used twice, so a note can outlive its page
//! without harm. After a restart there are no views, so nothing of this needs to be on disk. While no view is
//! open nothing here is touched.

use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;
use rustc_hash::FxHashMap;

use crate::ids::{PageNo, TxnId};

/// A page with fewer notes is not looked at. In tests every page is, to meet the rare cases.
const NOTES_MIN: usize = if cfg!(test) { 1 } else { 8 };
const SHARDS: usize = 16;

/// A record's offset in its page, and who wrote it.
pub type Note = (usize, TxnId);

/// A record that was cut off.
#[derive(Clone, Copy, Debug)]
pub struct CutOff {
    /// Its page.
    pub page: PageNo,
    /// Its place there, and who wrote it.
    pub note: Note,
    /// It was all that its transaction had written, and the transaction left purge nothing to do.
    pub alone: bool,
}

/// The notes, by page.
#[derive(Debug, Default)]
pub struct DeadUndo {
    shards: [Mutex<FxHashMap<PageNo, Notes>>; SHARDS],
    ready: Mutex<Vec<PageNo>>,
    transactions: AtomicU64,
    /// Pages with notes.
    pages: AtomicU64,
}

#[derive(Debug)]
struct Notes {
    records: Vec<Note>,
    transactions: u64,
    look_at: usize,
}

impl DeadUndo {
    fn shard(&self, page: PageNo) -> &Mutex<FxHashMap<PageNo, Notes>> {
        &self.shards[page.0 as usize % SHARDS]
    }

    /// Notes records that have been cut off.
    pub fn note(&self, records: &[CutOff]) {
        for record in records {
            let mut shard = self.shard(record.page).lock();
            let notes = shard.entry(record.page).or_insert_with(|| {
                self.pages.fetch_add(1, Ordering::Relaxed);
                Notes { records: Vec::new(), transactions: 0, look_at: NOTES_MIN }
            });
            notes.records.push(record.note);
            if record.alone {
                notes.transactions += 1;
                self.transactions.fetch_add(1, Ordering::Relaxed);
            }
            let ready = notes.records.len() == notes.look_at;
            drop(shard);
            if ready {
                self.look(record.page);
            }
        }
    }

    /// Asks for a look at a page: it has enough notes, or no more records will be added to it.
    pub fn look(&self, page: PageNo) {
        self.ready.lock().push(page);
    }

    /// The pages worth a look; they are no longer.
    pub fn take_ready(&self) -> Vec<PageNo> {
        std::mem::take(&mut *self.ready.lock())
    }

    /// Whether every one of these records has been cut off. If not, the page is ready again when it has as
    /// many notes.
    pub fn covers(&self, page: PageNo, records: &[Note]) -> bool {
        let mut shard = self.shard(page).lock();
        let Some(notes) = shard.get_mut(&page) else { return records.is_empty() };
        notes.records.sort_unstable();
        if records.iter().all(|record| notes.records.binary_search(record).is_ok()) {
            return true;
        }
        // Notes of what the page was before it was freed and allocated again may be among them.
        notes.look_at = records.len().max(notes.records.len() + 1);
        false
    }

    /// Whether a record has been cut off.
    pub fn has(&self, page: PageNo, note: Note) -> bool {
        self.pages.load(Ordering::Relaxed) > 0
            && self.shard(page).lock().get(&page).is_some_and(|notes| notes.records.contains(&note))
    }

    /// Transactions that have ended and of which nothing is left but what was cut off.
    pub fn transactions(&self) -> u64 {
        self.transactions.load(Ordering::Relaxed)
    }

    /// The page is gone, or purge has been there.
    pub fn forget(&self, page: PageNo) {
        if self.pages.load(Ordering::Relaxed) == 0 {
            return;
        }
        let mut shard = self.shard(page).lock();
        if let Some(notes) = shard.remove(&page) {
            self.pages.fetch_sub(1, Ordering::Relaxed);
            self.transactions.fetch_sub(notes.transactions, Ordering::Relaxed);
        }
    }

    /// No view is open: purge will come to everything by itself.
    pub fn clear(&self) {
        self.take_ready();
        if self.pages.load(Ordering::Relaxed) == 0 {
            return;
        }
        for shard in &self.shards {
            for (_, notes) in shard.lock().drain() {
                self.pages.fetch_sub(1, Ordering::Relaxed);
                self.transactions.fetch_sub(notes.transactions, Ordering::Relaxed);
            }
        }
    }
}
