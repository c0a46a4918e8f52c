//! How well a figure is known: the trimmed mean of many small measurements and the interval that holds it with 95 %.
//!
//! The interval is the percentile bootstrap's (Efron 1979): the measurements are drawn again, as many of them, with some twice and
//! some not at all; the middle 95 % of the means of many such draws is how far chance alone moves the figure. The draws depend on
//! nothing but their number, so the same measurements give the same interval.

use crate::experiment::dice;

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
        if values.len() < 4 {
            return None;
        }
        let mut draw = vec![0.0; values.len()];
        let mut means: Vec<f64> = (0..DRAWS)
            .map(|number| {
                for (place, value) in draw.iter_mut().enumerate() {
                    *value = values[(dice(place, number, 7) % values.len() as u64) as usize];
                }
                trimmed_mean(&mut draw)
            })
            .collect();
        means.sort_by(f64::total_cmp);
        let at = |share: f64| means[((means.len() - 1) as f64 * share) as usize];
        Some(Interval { middle: trimmed_mean(&mut values.to_vec()), low: at(0.025), high: at(0.975) })
    }

    /// The same on another scale; `scale` must rise.
    pub fn map(self, scale: impl Fn(f64) -> f64) -> Interval {
        Interval { middle: scale(self.middle), low: scale(self.low), high: scale(self.high) }
    }
}

fn trimmed_mean(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    let cut = (values.len() as f64 * TRIMMED) as usize;
    let kept = &values[cut..values.len() - cut];
    kept.iter().sum::<f64>() / kept.len() as f64
}

#[cfg(test)]
mod tests {
    use super::Interval;
    use crate::experiment::dice;

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
}
