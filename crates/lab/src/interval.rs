//! How well a figure is known: the trimmed mean of many small measurements and the interval that holds it
//! with 95 %.
//!
//! The interval is the percentile bootstrap's (Efron 1979): the measurements are drawn again, as many of
//! them, with some twice and some not at all; the middle 95 % of the means of many such draws is how far
//! chance alone moves the figure. The draws depend on nothing but their number, so the same measurements give
//! the same interval.

use crate::dice::dice;

/// Draws behind an interval.
const DRAWS: u64 = 2000;
/// Share that is left out at each end: a slice in which the machine stopped says nothing about the switch.
const TRIMMED: f64 = 0.2;

/// A figure and how well it is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The figure.
    pub middle: f64,
    /// Lower end of the 95 % interval.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

impl Interval {
    /// The trimmed mean of the measurements with its interval; None of fewer than four.
    pub fn of(values: &[f64]) -> Option<Interval> {
        bootstrap(values, |draw| trimmed_mean(draw.iter().copied()))
    }

    /// The same of measurements that each come with a second one, which is 0 in truth and errs for the same
    /// reasons: what goes along with it is taken off. The slope is fitted anew in every draw.
    pub fn adjusted(pairs: &[(f64, f64)]) -> Option<Interval> {
        bootstrap(pairs, |draw| {
            let slope = slope(draw);
            trimmed_mean(draw.iter().map(|(value, beside)| value - slope * beside))
        })
    }

    /// The same on another scale; `scale` must rise.
    pub fn map(self, scale: impl Fn(f64) -> f64) -> Interval {
        Interval { middle: scale(self.middle), low: scale(self.low), high: scale(self.high) }
    }
}

fn bootstrap<T: Copy>(values: &[T], figure: impl Fn(&[T]) -> f64) -> Option<Interval> {
    if values.len() < 4 {
        return None;
    }
    let mut draw = values.to_vec();
    let mut figures: Vec<f64> = (0..DRAWS)
        .map(|number| {
            for (place, value) in draw.iter_mut().enumerate() {
                *value = values[(dice(place, number, 7) % values.len() as u64) as usize];
            }
            figure(&draw)
        })
        .collect();
    figures.sort_by(f64::total_cmp);
    let at = |share: f64| figures[((figures.len() - 1) as f64 * share) as usize];
    Some(Interval { middle: figure(values), low: at(0.025), high: at(0.975) })
}

fn trimmed_mean(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    let cut = (values.len() as f64 * TRIMMED) as usize;
    let kept = &values[cut..values.len() - cut];
    kept.iter().sum::<f64>() / kept.len() as f64
}

/// The least-squares slope of the first over the second, after those pairs are left out whose second is among
/// the outermost tenths.
fn slope(pairs: &[(f64, f64)]) -> f64 {
    let mut kept = pairs.to_vec();
    kept.sort_by(|a, b| a.1.total_cmp(&b.1));
    let cut = kept.len() / 10;
    let kept = &kept[cut..kept.len() - cut];
    let count = kept.len() as f64;
    let mean = |of: fn(&(f64, f64)) -> f64| kept.iter().map(of).sum::<f64>() / count;
    let (first, second) = (mean(|pair| pair.0), mean(|pair| pair.1));
    let along: f64 = kept.iter().map(|pair| (pair.0 - first) * (pair.1 - second)).sum();
    let spread: f64 = kept.iter().map(|pair| (pair.1 - second).powi(2)).sum();
    if spread > 0.0 { along / spread } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::Interval;
    use crate::dice::dice;

    /// Noise between -1 and 1.
    fn noise(number: u64) -> f64 {
        (dice(3, number, 1) % 2001) as f64 / 1000.0 - 1.0
    }

    #[test]
    fn too_few_say_nothing() {
        assert_eq!(Interval::of(&[1.0, 1.0, 1.0]), None);
    }

    #[test]
    fn the_interval_holds_the_truth_and_shrinks_with_more_measurements() {
        let known = |count: u64| {
            let values: Vec<f64> = (0..count).map(|number| 0.5 + 0.1 * noise(number)).collect();
            Interval::of(&values).expect("enough")
        };
        let (few, many) = (known(20), known(500));
        for one in [few, many] {
            assert!(one.low <= 0.5 && 0.5 <= one.high, "{one:?}");
            assert!(one.low <= one.middle && one.middle <= one.high, "{one:?}");
        }
        assert!(many.high - many.low < (few.high - few.low) / 2.0, "{few:?} {many:?}");
    }

    #[test]
    fn a_tenth_of_wild_measurements_does_not_move_it() {
        let calm: Vec<f64> = (0..100).map(noise).collect();
        let wild: Vec<f64> = (0..100).map(|n| if n % 10 == 0 { 1000.0 } else { noise(n) }).collect();
        let apart = Interval::of(&calm).zip(Interval::of(&wild)).map(|(a, b)| (a.middle - b.middle).abs());
        assert!(apart.is_some_and(|apart| apart < 0.3), "{apart:?}");
    }

    #[test]
    fn what_goes_along_with_another_measurement_is_taken_off_and_the_truth_stays() {
        let own = |n: u64| (dice(4, n, 2) % 2001) as f64 / 1000.0 - 1.0;
        let pairs: Vec<(f64, f64)> =
            (0..200).map(|n| (0.1 + 0.8 * noise(n) + 0.1 * own(n), noise(n))).collect();
        let plain = Interval::of(&pairs.iter().map(|pair| pair.0).collect::<Vec<_>>()).expect("enough");
        let adjusted = Interval::adjusted(&pairs).expect("enough");
        assert!(adjusted.low <= 0.1 && 0.1 <= adjusted.high, "{adjusted:?}");
        assert!(adjusted.high - adjusted.low < (plain.high - plain.low) / 4.0, "{plain:?} {adjusted:?}");
    }

    #[test]
    fn beside_nothing_that_moves_nothing_is_taken_off() {
        let pairs: Vec<(f64, f64)> = (0..50).map(|n| (noise(n), 0.0)).collect();
        let plain = Interval::of(&pairs.iter().map(|pair| pair.0).collect::<Vec<_>>());
        assert_eq!(Interval::adjusted(&pairs), plain);
    }
}
