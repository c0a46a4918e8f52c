//! Which rows are fought for: a sampler of heavy hitters in every shard, read by whoever asks.
//!
//! Every sixteenth exclusive lock granted on a row and every fourth wait, on average, is looked at, under the
//! mutex of the shard that is held anyway; the others cost a decrement. What is looked at goes into eight
//! places a shard by the rule of *space saving* (Metwally, Agrawal, El Abbadi: Efficient Computation of
//! Frequent and Top-k Elements in Data Streams, 2005): a row without a place takes that of the lightest, and
//! inherits its weight as an error. So a row with more than an eighth of its shard's events has a place, and
//! weight less error never says too much.
//!
//! All weights are halved every [`HALF_LIFE`], so a row that nobody asks for any more is forgotten. A place
//! carries the time that its events are spread over, halved with them, so weight by time is a rate from the
//! first second on.
//!
//! ```text
//!   countdowns ── zero? ──> place of the row, or the lightest ── weight, error, samples of each kind
//!                           second sample of the row ─────────── its name, histograms of queue and waits
//! ```

use super::mode::RECORD_X;
use super::name::{LockName, OwnedName};
use super::owner::TxnLocks;
use super::shard::{NONE, Shard};
use super::table::LockTable;
use crate::ids::TxnId;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Places for rows in a shard.
const PLACES: usize = 8;
/// After this time an event counts half.
pub(super) const HALF_LIFE: Duration = Duration::from_secs(4);
/// After so many half lives nothing is left of any weight.
const LIVES_MAX: u32 = 32;
/// Events that a sampled grant stands for, on average.
const GRANTS_EACH: u32 = 16;
/// Events that a sampled wait stands for, on average.
const WAITS_EACH: u32 = 4;
/// Bytes of a key that are kept.
const KEY_BYTES_MAX: usize = 256;
/// Rates are not taken over less: a row's first second would promise too much.
const LEAST_WINDOW: Duration = Duration::from_secs(1);

/// A row is hot if so many waits a second begin for it,
const HOT_WAITS_PER_SECOND: f64 = 10.0;
/// or so many wait for it now,
const HOT_WAITERS: u32 = 8;
/// or it is locked so often a second,
const HOT_GRANTS_PER_SECOND: f64 = 20.0;
/// and that is this part of all rows' locks.
const HOT_SHARE: f64 = 0.02;

/// A row that is fought for, as the views show it.
#[derive(Clone, Debug)]
pub struct HotRowReport {
    /// The row. Of a very long key the beginning only.
    pub name: OwnedName,
    /// Exclusive locks granted, a second.
    pub grants_per_second: f64,
    /// Waits begun, a second.
    pub waits_per_second: f64,
    /// Who waits now.
    pub waiting: u32,
    /// Who was left waiting when the lock was granted: half of the grants had no more.
    pub queue_p50: u32,
    /// Of a hundred grants 99 had no more.
    pub queue_p99: u32,
    /// Microseconds that half of the waits were not longer than; None if none has ended.
    pub wait_us_p50: Option<u32>,
    /// Microseconds that 99 of a hundred waits were not longer than.
    pub wait_us_p99: Option<u32>,
    /// Transactions that have handed the row on and not ended.
    pub handed_on: u32,
    /// Who holds it exclusively now.
    pub holder: Option<RowHolder>,
}

/// The transaction that holds a hot row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowHolder {
    /// Its id, once it has written.
    pub txn_id: Option<TxnId>,
    /// Its place in the order of beginnings.
    pub start_sequence: u64,
    /// The connection's number.
    pub session: u64,
}

/// Counts of small numbers exactly, of large ones by quarters of a power of two.
#[derive(Clone, Debug)]
struct Histogram {
    counts: [u16; Histogram::CELLS],
}

impl Histogram {
    const CELLS: usize = 124;
    const EMPTY: Histogram = Histogram { counts: [0; Histogram::CELLS] };

    fn cell(value: u32) -> usize {
        if value < 4 {
            return value as usize;
        }
        let octave = value.ilog2();
        (octave as usize - 1) * 4 + (value >> (octave - 2) & 3) as usize
    }

    /// The greatest value of a cell.
    fn top(cell: usize) -> u32 {
        if cell < 4 {
            return cell as u32;
        }
        let (octave, quarter) = (cell as u32 / 4 + 1, cell as u64 % 4);
        let top = ((quarter + 5) << (octave - 2)) - 1;
        u32::try_from(top).unwrap_or(u32::MAX)
    }

    fn add(&mut self, value: u32) {
        let count = &mut self.counts[Histogram::cell(value)];
        *count = count.saturating_add(1);
    }

    fn fade(&mut self, lives: u32) {
        self.counts.iter_mut().for_each(|count| *count = count.checked_shr(lives).unwrap_or(0));
    }

    /// The value that `percent` of all are not above; None of none.
    fn percentile(&self, percent: u64) -> Option<u32> {
        let all: u64 = self.counts.iter().map(|count| u64::from(*count)).sum();
        let (wanted, mut seen) = ((all * percent).div_ceil(100).max(1), 0);
        self.counts.iter().enumerate().find_map(|(cell, count)| {
            seen += u64::from(*count);
            (all > 0 && seen >= wanted).then(|| Histogram::top(cell))
        })
    }
}

/// What is kept of a row that was sampled twice.
#[derive(Debug)]
struct Detail {
    name: OwnedName,
    queue: Histogram,
    waits_us: Histogram,
}

/// A place of a shard's sampler.
#[derive(Debug)]
struct Place {
    /// The name's.
    hash: u64,
    /// Events that its samples stand for, and those of the row whose place it took.
    weight: u64,
    /// The latter.
    error: u64,
    /// Grants that its own samples stand for.
    grants: u64,
    /// Waits that its own samples stand for.
    waits: u64,
    /// Time that the events before `since` are spread over, halved as they are.
    window: Duration,
    /// When the row took the place, or all faded last.
    since: Instant,
    /// Whether `detail` is of this row.
    is_named: bool,
    /// Kept for the next row.
    detail: Option<Box<Detail>>,
}

impl Place {
    fn fade(&mut self, lives: u32, at: Instant) {
        for count in [&mut self.weight, &mut self.error, &mut self.grants, &mut self.waits] {
            *count = count.checked_shr(lives).unwrap_or(0);
        }
        // The first life began when the row came, if that was within it.
        let others = HALF_LIFE * (lives - 1);
        let first = at.saturating_duration_since(self.since).saturating_sub(others);
        self.window = (self.window + first) / 2;
        for _ in 1..lives {
            self.window = (self.window + HALF_LIFE) / 2;
        }
        self.since = at;
        if self.is_named
            && let Some(detail) = &mut self.detail
        {
            detail.queue.fade(lives);
            detail.waits_us.fade(lives);
        }
    }

    fn per_second(&self, events: u64, now: Instant) -> f64 {
        let window = self.window + now.saturating_duration_since(self.since);
        events as f64 / window.max(LEAST_WINDOW).as_secs_f64()
    }
}

/// The sampler of one shard.
#[derive(Debug)]
pub(super) struct HotRows {
    /// Grants until the next sample.
    grants_left: u32,
    /// Waits that begin until the next sample.
    waits_left: u32,
    /// Waits that end until the next sample.
    ends_left: u32,
    dice: u64,
    /// When everything was halved last.
    faded: Option<Instant>,
    /// Made for the first sample.
    places: Vec<Place>,
}

impl Default for HotRows {
    fn default() -> Self {
        HotRows {
            grants_left: GRANTS_EACH,
            waits_left: 1,
            ends_left: 1,
            dice: 1,
            faded: None,
            places: Vec::new(),
        }
    }
}

impl HotRows {
    /// A distance between samples of this mean (a power of two, at least 4): drawn, so that rows that are
    /// locked in turn are all met.
    fn draw(&mut self, mean: u32) -> u32 {
        self.dice = self.dice.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        let drawn = (self.dice >> 33) as u32;
        // The mean of 0..mean is half a step short of a whole number.
        mean / 2 + (drawn & (mean - 1)) + (drawn >> 16 & 1)
    }

    /// Halves what is older than a half life, once for each.
    fn fade(&mut self, now: Instant) {
        let faded = *self.faded.get_or_insert(now);
        let lives = now.saturating_duration_since(faded).as_nanos() / HALF_LIFE.as_nanos();
        if lives == 0 {
            return;
        }
        let lives = u32::try_from(lives).unwrap_or(LIVES_MAX).min(LIVES_MAX);
        // What has faded altogether begins anew.
        let at = if lives == LIVES_MAX { now } else { faded + HALF_LIFE * lives };
        self.places.iter_mut().for_each(|place| place.fade(lives, at));
        self.faded = Some(at);
    }

    /// The place of a row, which takes one if it has none; with its name if it was there before.
    fn place(&mut self, hash: u64, name: LockName<'_>, now: Instant) -> &mut Place {
        let fresh = |error: u64, detail| Place {
            hash,
            weight: error,
            error,
            grants: 0,
            waits: 0,
            window: Duration::ZERO,
            since: now,
            is_named: false,
            detail,
        };
        let found = self.places.iter().position(|place| place.hash == hash);
        let at = match found {
            Some(at) => {
                let place = &mut self.places[at];
                if !place.is_named {
                    place.is_named = true;
                    place.detail = Some(Detail::named(place.detail.take(), name));
                }
                at
            }
            None if self.places.len() < PLACES => {
                self.places.reserve_exact(PLACES - self.places.len());
                self.places.push(fresh(0, None));
                self.places.len() - 1
            }
            None => {
                let lightest = (0..PLACES).min_by_key(|&at| self.places[at].weight).unwrap_or(0);
                let place = &mut self.places[lightest];
                *place = fresh(place.weight, place.detail.take());
                lightest
            }
        };
        &mut self.places[at]
    }

    fn sample_grant(&mut self, hash: u64, name: LockName<'_>, waiting: u32, now: Instant) {
        self.grants_left = self.draw(GRANTS_EACH);
        self.fade(now);
        let place = self.place(hash, name, now);
        place.weight += u64::from(GRANTS_EACH);
        place.grants += u64::from(GRANTS_EACH);
        if place.is_named
            && let Some(detail) = &mut place.detail
        {
            detail.queue.add(waiting);
        }
    }

    fn sample_wait(&mut self, hash: u64, name: LockName<'_>, now: Instant) {
        self.waits_left = self.draw(WAITS_EACH);
        self.fade(now);
        let place = self.place(hash, name, now);
        place.weight += u64::from(WAITS_EACH);
        place.waits += u64::from(WAITS_EACH);
    }

    fn sample_end(&mut self, hash: u64, waited: Duration) {
        self.ends_left = self.draw(WAITS_EACH);
        let found = self.places.iter_mut().find(|place| place.hash == hash && place.is_named);
        if let Some(detail) = found.and_then(|place| place.detail.as_mut()) {
            detail.waits_us.add(u32::try_from(waited.as_micros()).unwrap_or(u32::MAX));
        }
    }
}

impl Detail {
    /// In the memory of another row's, if there is one.
    fn named(spare: Option<Box<Detail>>, name: LockName<'_>) -> Box<Detail> {
        let name = match name {
            LockName::Row { index, key } => LockName::row(index, &key[..key.len().min(KEY_BYTES_MAX)]),
            other => other,
        };
        match spare {
            Some(mut detail) => {
                detail.name.assign(name);
                (detail.queue, detail.waits_us) = (Histogram::EMPTY, Histogram::EMPTY);
                detail
            }
            None => {
                Box::new(Detail { name: name.into(), queue: Histogram::EMPTY, waits_us: Histogram::EMPTY })
            }
        }
    }
}

/// What the shard tells its sampler.
impl HotRows {
    /// Somebody holds these bits of a row now, and did not before.
    #[inline]
    pub fn note_grant(shard: &mut Shard, entry: u32, bits: u8) {
        if bits & RECORD_X == 0 {
            return;
        }
        shard.hot_rows.grants_left -= 1;
        if shard.hot_rows.grants_left == 0 {
            HotRows::note_sampled_grant(shard, entry);
        }
    }

    #[cold]
    fn note_sampled_grant(shard: &mut Shard, entry: u32) {
        let (rows, row) = (&mut shard.hot_rows, &shard.entries[entry as usize]);
        rows.sample_grant(row.hash, row.name.name(), row.waiters(), Instant::now());
    }

    /// Somebody waits for the name now.
    pub fn note_wait(shard: &mut Shard, entry: u32) {
        let (rows, row) = (&mut shard.hot_rows, &shard.entries[entry as usize]);
        if row.is_table() {
            return;
        }
        rows.waits_left -= 1;
        if rows.waits_left == 0 {
            rows.sample_wait(row.hash, row.name.name(), Instant::now());
        }
    }

    /// A wait for the name has ended, in whichever way.
    pub fn note_wait_end(shard: &mut Shard, entry: u32, since: Instant) {
        let (rows, row) = (&mut shard.hot_rows, &shard.entries[entry as usize]);
        if row.is_table() {
            return;
        }
        rows.ends_left -= 1;
        if rows.ends_left == 0 {
            rows.sample_end(row.hash, since.elapsed());
        }
    }
}

impl HotRowReport {
    /// The rows that are fought for now, those first that most wait for, then those with the most grants and
    /// waits. True for each shard at its moment.
    pub fn of(table: &LockTable) -> Vec<HotRowReport> {
        HotRowReport::of_at(table, Instant::now())
    }

    pub(super) fn of_at(table: &LockTable, now: Instant) -> Vec<HotRowReport> {
        let (mut found, mut all) = (Vec::new(), 0.0);
        for number in table.shard_numbers() {
            all += HotRowReport::of_shard(&mut table.shard(number), now, &mut found);
        }
        found.retain(|row| {
            row.waits_per_second >= HOT_WAITS_PER_SECOND
                || row.waiting >= HOT_WAITERS
                || row.grants_per_second >= HOT_GRANTS_PER_SECOND && row.grants_per_second >= all * HOT_SHARE
        });
        let heat = |row: &HotRowReport| row.grants_per_second + row.waits_per_second;
        found.sort_by(|one, other| {
            other.waiting.cmp(&one.waiting).then_with(|| heat(other).total_cmp(&heat(one)))
        });
        found
    }

    /// Adds the rows that have a name, and returns the grants a second of all places.
    fn of_shard(shard: &mut Shard, now: Instant, found: &mut Vec<HotRowReport>) -> f64 {
        shard.hot_rows.fade(now);
        let mut all = 0.0;
        for place in &shard.hot_rows.places {
            let grants_per_second = place.per_second(place.grants, now);
            all += grants_per_second;
            let named = place.detail.as_ref().filter(|_| place.is_named && place.weight > place.error);
            let Some(detail) = named else { continue };
            let entry = shard.with_hash(place.hash);
            let holder = entry.and_then(|entry| exclusive_holder(shard, entry));
            found.push(HotRowReport {
                name: detail.name.clone(),
                grants_per_second,
                waits_per_second: place.per_second(place.waits, now),
                waiting: entry.map_or(0, |entry| shard.entry(entry).waiters()),
                queue_p50: detail.queue.percentile(50).unwrap_or(0),
                queue_p99: detail.queue.percentile(99).unwrap_or(0),
                wait_us_p50: detail.waits_us.percentile(50),
                wait_us_p99: detail.waits_us.percentile(99),
                handed_on: entry.map_or(0, |entry| shard.entry(entry).handed_len),
                holder: holder.map(|holder| RowHolder {
                    txn_id: holder.txn_id(),
                    start_sequence: holder.start_sequence(),
                    session: holder.session(),
                }),
            });
        }
        all
    }
}

fn exclusive_holder(shard: &Shard, entry: u32) -> Option<&Arc<TxnLocks>> {
    let mut node = shard.entry(entry).holders.first;
    while node != NONE {
        if shard.node(node).bits & RECORD_X != 0 {
            return Some(shard.owner(node));
        }
        node = shard.node(node).next;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::Histogram;

    #[test]
    fn cells_hold_what_they_say() {
        for value in (0..70_000).chain([1 << 20, (1 << 31) - 1, 1 << 31, u32::MAX]) {
            let cell = Histogram::cell(value);
            assert!(cell < Histogram::CELLS && value <= Histogram::top(cell), "{value}");
            assert!(cell == 0 || value > Histogram::top(cell - 1), "{value}");
            assert!(value >= 8 || Histogram::top(cell) == value, "{value}");
        }
    }

    #[test]
    fn percentiles_fade() {
        let mut some = Histogram::EMPTY;
        assert_eq!(some.percentile(50), None);
        (0..100).for_each(|_| some.add(3));
        some.add(1_000);
        assert_eq!(
            (some.percentile(50), some.percentile(99), some.percentile(100)),
            (Some(3), Some(3), Some(1_023))
        );
        some.fade(1);
        assert_eq!(some.percentile(100), Some(3), "what was seen once is gone first");
        some.fade(40);
        assert_eq!(some.percentile(50), None);
    }
}
