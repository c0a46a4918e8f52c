//! How often which wait: MySQL's 450 buckets, of which the first ends at 10 µs and each other is 4.7 % wider
//! than the one before (50 to a power of ten), so that a quantile is wrong by no more than that. Memory is
//! taken for the buckets between the shortest and the longest wait.

use std::sync::LazyLock;

/// How many buckets there are.
pub const BUCKETS: usize = 450;
/// Picoseconds in a microsecond.
const PS: u64 = 1_000_000;
/// The first bucket ends here, in picoseconds.
const FIRST_PS: f64 = 10_000_000.0;
/// Each other is so many times as wide as the one before: the fiftieth root of ten, with MySQL's digits.
const FACTOR: f64 = 1.047_128_548_050_899_5;
/// Parts into which a power of two is cut to guess a bucket; finer than the buckets are.
const PARTS: usize = 16;

struct Bounds {
    /// Where each bucket begins, in picoseconds.
    low_ps: [u64; BUCKETS],
    /// The least whole number of microseconds in a bucket.
    low_us: [u64; BUCKETS],
    /// By power of two and part of it: the bucket of the least number there.
    guess: [u16; 64 * PARTS],
}

static BOUNDS: LazyLock<Bounds> = LazyLock::new(|| {
    let mut bounds = Bounds { low_ps: [0; BUCKETS], low_us: [0; BUCKETS], guess: [0; 64 * PARTS] };
    let mut low = FIRST_PS;
    for at in 1..BUCKETS {
        bounds.low_ps[at] = low as u64;
        bounds.low_us[at] = bounds.low_ps[at].div_ceil(PS);
        low *= FACTOR;
    }
    for (at, guess) in bounds.guess.iter_mut().enumerate() {
        let (power, part) = (at / PARTS, (at % PARTS) as u128);
        let least = (((1_u128 << 64) | part << 60) >> (64 - power)) as u64;
        *guess = (bounds.low_us.partition_point(|&low| low <= least) - 1) as u16;
    }
    bounds
});

/// Where a bucket begins and ends, in picoseconds; the last one never ends.
pub fn bounds_ps(bucket: usize) -> (u64, u64) {
    let low = |at: usize| BOUNDS.low_ps.get(at).copied();
    (low(bucket).unwrap_or(u64::MAX), low(bucket + 1).unwrap_or(u64::MAX))
}

/// The bucket of a wait of so many microseconds.
pub fn bucket_of(us: u64) -> usize {
    let bounds = &*BOUNDS;
    let us = us.max(1);
    let power = us.ilog2() as usize;
    let part = (us << (63 - power) >> 59) as usize & (PARTS - 1);
    let mut bucket = usize::from(bounds.guess[power * PARTS + part]);
    while bounds.low_us.get(bucket + 1).is_some_and(|&low| low <= us) {
        bucket += 1;
    }
    bucket
}

/// See the module.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Histogram {
    first: usize,
    counts: Vec<u64>,
    total: u64,
}

impl Histogram {
    /// One more wait in a bucket.
    #[inline]
    pub fn add(&mut self, bucket: usize) {
        if let Some(count) = self.counts.get_mut(bucket.wrapping_sub(self.first)) {
            *count += 1;
            self.total += 1;
        } else {
            self.widen(bucket);
            self.add(bucket);
        }
    }

    /// Takes memory up to a bucket.
    #[cold]
    fn widen(&mut self, bucket: usize) {
        if self.counts.is_empty() {
            self.first = bucket;
        } else if bucket < self.first {
            let before = self.first - bucket;
            self.counts.splice(0..0, std::iter::repeat_n(0, before));
            self.first = bucket;
        }
        let at = bucket - self.first;
        if at >= self.counts.len() {
            self.counts.resize(at + 1, 0);
        }
    }

    /// How many waits there were.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// How many there are in a bucket.
    pub fn count(&self, bucket: usize) -> u64 {
        bucket.checked_sub(self.first).and_then(|at| self.counts.get(at)).copied().unwrap_or(0)
    }

    /// What has come since an earlier copy; all of it if that is of before a TRUNCATE.
    pub fn since(&self, before: &Histogram) -> Histogram {
        if self.total < before.total {
            return self.clone();
        }
        let mut counts = self.counts.clone();
        for (at, count) in counts.iter_mut().enumerate() {
            match count.checked_sub(before.count(self.first + at)) {
                Some(more) => *count = more,
                None => return self.clone(),
            }
        }
        let total = counts.iter().sum();
        Histogram { first: self.first, counts, total }
    }

    /// The end of the bucket up to which so many thousandths of the waits lie, in picoseconds; 0 without.
    pub fn quantile_ps(&self, thousandths: u64) -> u64 {
        let wanted = (u128::from(self.total) * u128::from(thousandths)).div_ceil(1000) as u64;
        let mut below = 0;
        for (at, count) in self.counts.iter().enumerate() {
            below += count;
            if *count > 0 && below >= wanted {
                return bounds_ps(self.first + at).1;
            }
        }
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_are_those_of_mysql() {
        for (bucket, low) in [
            (0, 0),
            (1, 10_000_000),
            (2, 10_471_285),
            (50, 95_499_258),
            (100, 954_992_586),
            (200, 95_499_258_602),
            (300, 9_549_925_860_214),
            (400, 954_992_586_021_464),
            (448, 8_709_635_899_561_102),
            (449, 9_120_108_393_559_408),
        ] {
            let given = bounds_ps(bucket).0;
            assert_eq!(given, low, "{bucket}");
        }
        assert_eq!(bounds_ps(449).1, u64::MAX);
    }

    #[test]
    fn a_wait_is_in_the_bucket_of_its_bounds() {
        let powers =
            (0..63).flat_map(|power| [-1_i64, 0, 1].map(|near| (1_u64 << power).wrapping_add_signed(near)));
        for us in (0..100_000).chain(powers) {
            let (low, high) = bounds_ps(bucket_of(us));
            let ps = us.saturating_mul(PS);
            assert!(low <= ps && (ps < high || high == u64::MAX), "{us}: {low} to {high}");
        }
    }

    #[test]
    fn a_quantile_is_the_end_of_its_bucket() {
        let mut waits = Histogram::default();
        assert_eq!(waits.quantile_ps(500), 0);
        (0..99).for_each(|_| waits.add(bucket_of(100)));
        waits.add(bucket_of(5));
        let before = waits.clone();
        waits.add(bucket_of(1_000_000));
        let end = |us| bounds_ps(bucket_of(us)).1;
        assert_eq!((waits.total(), waits.count(0), waits.quantile_ps(5)), (101, 1, end(5)));
        assert_eq!((waits.quantile_ps(500), waits.quantile_ps(990)), (end(100), end(100)));
        assert_eq!(waits.quantile_ps(999), end(1_000_000));
        let since = waits.since(&before);
        assert_eq!((since.total(), since.quantile_ps(500)), (1, end(1_000_000)));
        assert_eq!(before.since(&waits), before, "truncated between");
    }
}
