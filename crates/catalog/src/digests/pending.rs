//! What a session has counted and not folded yet: see [`super`].

use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::histogram::bucket_of;
use super::{Counts, Digests, Identity, Row, SAMPLE_AGE_US, SAMPLE_BYTES_MAX, Sample};

/// Cells of a session: more than most applications have statements prepared on one connection.
pub const PLACES: usize = 64;
/// Statements after which a cell is folded.
pub const WAITS_MAX: usize = 32;

/// A statement that has ended.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ended {
    /// When, in microseconds since the server began.
    pub at_us: u64,
    /// How long it took, in microseconds.
    pub took_us: u64,
    /// Whether it failed.
    pub failed: bool,
    /// Its warnings.
    pub warnings: u64,
    /// Rows that it changed.
    pub affected: u64,
    /// Rows that it sent.
    pub sent: u64,
    /// Rows that the engine read for it.
    pub examined: u64,
}

/// What statements of one digest have come to in one session, since they were folded.
#[derive(Debug)]
pub struct Cell {
    identity: Arc<Identity>,
    row: Arc<Row>,
    counts: Counts,
    first_us: u64,
    last_us: u64,
    /// As many as `counts.statements`, which is less than [`WAITS_MAX`] between two calls.
    waits_us: [u32; WAITS_MAX],
    /// The row's sample is of a statement that took so long, and is too old at this time.
    sample_took_us: u64,
    sample_until_us: u64,
}

impl Cell {
    fn new(identity: Arc<Identity>, row: Arc<Row>) -> Cell {
        Cell {
            identity,
            row,
            counts: Counts::default(),
            first_us: 0,
            last_us: 0,
            waits_us: [0; WAITS_MAX],
            sample_took_us: 0,
            sample_until_us: 0,
        }
    }

    /// Counts a statement. Whether it is to be the sample, and whether the cell is to be folded.
    #[inline]
    pub fn count(&mut self, ended: &Ended) -> (bool, bool) {
        let counts = &mut self.counts;
        let at = counts.statements as usize;
        if at == 0 {
            self.first_us = ended.at_us;
        }
        self.last_us = ended.at_us;
        if let Some(wait) = self.waits_us.get_mut(at) {
            *wait = ended.took_us.min(u64::from(u32::MAX)) as u32;
        }
        counts.statements += 1;
        counts.sum_us += ended.took_us;
        counts.errors += u64::from(ended.failed);
        counts.warnings += ended.warnings;
        counts.affected += ended.affected;
        counts.sent += ended.sent;
        counts.examined += ended.examined;
        let sample = ended.took_us > self.sample_took_us || ended.at_us >= self.sample_until_us;
        (sample, at + 1 >= WAITS_MAX)
    }

    /// Adds what seldom happens.
    pub fn add(&mut self, counts: &Counts) {
        self.counts.add(counts);
    }

    /// Has the row show this statement, unless it has a better one.
    pub fn offer_sample(&mut self, digests: &Digests, text: &[u8], ended: &Ended) {
        self.settle(digests);
        let mut numbers = self.row.numbers.lock();
        let better = numbers.sample.as_ref().is_none_or(|old| {
            ended.took_us > old.took_us || ended.at_us >= old.seen_us.saturating_add(SAMPLE_AGE_US)
        });
        if better {
            let text = text[..text.len().min(SAMPLE_BYTES_MAX)].into();
            numbers.sample = Some(Sample { text, seen_us: ended.at_us, took_us: ended.took_us });
        }
        if let Some(sample) = &numbers.sample {
            self.sample_took_us = sample.took_us;
            self.sample_until_us = sample.seen_us.saturating_add(SAMPLE_AGE_US);
        }
    }

    /// Finds another row where its own is out of the table.
    fn settle(&mut self, digests: &Digests) {
        if self.row.out.load(Ordering::Acquire) {
            self.row = digests.row_of(&self.identity);
        }
    }

    /// Adds all to the row and to the histogram of all statements, and begins anew.
    pub fn fold(&mut self, digests: &Digests) {
        if self.counts.statements == 0 {
            return;
        }
        self.settle(digests);
        let waits = &self.waits_us[..(self.counts.statements as usize).min(WAITS_MAX)];
        let mut buckets = [0_u16; WAITS_MAX];
        let (mut min, mut max) = (u32::MAX, 0);
        for (bucket, &wait) in buckets.iter_mut().zip(waits) {
            *bucket = bucket_of(wait.into()) as u16;
            (min, max) = (min.min(wait), max.max(wait));
        }
        let buckets = &buckets[..waits.len()];
        let mut numbers = self.row.numbers.lock();
        if numbers.counts.statements == 0 {
            (numbers.min_us, numbers.first_us) = (u64::MAX, self.first_us);
        }
        numbers.counts.add(&self.counts);
        numbers.first_us = numbers.first_us.min(self.first_us);
        numbers.last_us = numbers.last_us.max(self.last_us);
        numbers.min_us = numbers.min_us.min(min.into());
        numbers.max_us = numbers.max_us.max(max.into());
        buckets.iter().for_each(|&bucket| numbers.waits.add(bucket.into()));
        drop(numbers);
        let mut all = digests.all.lock();
        buckets.iter().for_each(|&bucket| all.0.add(bucket.into()));
        all.1 += self.counts.sum_us;
        drop(all);
        self.counts = Counts::default();
    }
}

/// The cells of a session.
#[derive(Debug)]
pub struct Pending {
    cells: [Option<Box<Cell>>; PLACES],
}

impl Default for Pending {
    fn default() -> Self {
        Pending { cells: [const { None }; PLACES] }
    }
}

impl Pending {
    /// The cell of a place.
    #[inline]
    pub fn cell(&mut self, place: usize) -> Option<&mut Cell> {
        self.cells.get_mut(place)?.as_deref_mut()
    }

    /// Gives a place to a normalised text of a database. False if it has it already.
    pub fn assign(&mut self, digests: &Digests, place: usize, schema: Option<&Arc<str>>, text: &str) -> bool {
        let Some(slot) = self.cells.get_mut(place) else { return false };
        if let Some(cell) = slot {
            if *cell.identity.text == *text && cell.identity.schema.as_ref() == schema {
                return false;
            }
            cell.fold(digests);
        }
        let (identity, row) = digests.find(schema, text);
        *slot = Some(Box::new(Cell::new(identity, row)));
        true
    }

    /// Has the next statement of each cell offer itself as a sample: the table has begun anew.
    pub fn renew(&mut self) {
        for cell in self.cells.iter_mut().flatten() {
            (cell.sample_took_us, cell.sample_until_us) = (0, 0);
        }
    }

    /// Folds all cells.
    pub fn fold(&mut self, digests: &Digests) {
        self.cells.iter_mut().flatten().for_each(|cell| cell.fold(digests));
    }
}
