//! Intervals for the mean of values that lie in a known range, whatever their distribution.

use super::distributions::{central_t, count, float, halved};
use super::rng::SplitMix64;
use super::{Interval, Sums};

/// Largest share of the wealth that is bet. All of it would be lost at one value.
const MAX_SHARE: f64 = 0.99;
/// Means that are tried on each side of the sample's mean, from the end of the range inwards.
const STEPS: u32 = 64;
/// Halvings of the step in which the end of the interval lies.
const HALVINGS: usize = 30;

/// What a padded interval needs to know of its units: single values, or clusters with their sums and sizes.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Moments {
    units: f64,
    sum: f64,
    size: f64,
    squares: f64,
    products: f64,
    squared_sizes: f64,
}

impl Moments {
    /// Of the sums and sizes of units.
    pub fn of(units: &Sums) -> Self {
        let mut moments = Self::default();
        units.iter().for_each(|(sum, size)| moments.add(sum, size));
        moments
    }

    /// Of `n` single values with this mean and sample variance, which was divided by `n − 1`.
    pub fn of_mean(mean: f64, variance: f64, n: u64) -> Self {
        let size = float(n);
        let squares = (size - 1.0).max(0.0) * variance + size * mean * mean;
        Self { units: size, sum: size * mean, size, squares, products: size * mean, squared_sizes: size }
    }

    /// Adds a unit.
    pub fn add(&mut self, sum: f64, size: f64) {
        self.units += 1.0;
        self.sum += sum;
        self.size += size;
        self.squares += sum * sum;
        self.products += sum * size;
        self.squared_sizes += size * size;
    }

    /// Sum over size; absent without any.
    pub fn mean(self) -> Option<f64> {
        (self.size > 0.0).then(|| self.sum / self.size)
    }

    /// Student's interval of the mean with one more unit of the usual size at each end of the range, cut at these ends. It holds the
    /// mean at any level.
    ///
    /// The two added units are to a mean what Agresti and Coull's (1998) are to a share: the interval always has a width, and
    /// covers the mean where a t interval of few and skewed values does not. The range without units, and where one unit is all
    /// there is; absent for a level outside 0 to 1 and for sums that are not finite.
    pub fn padded_interval(self, range: Interval, level: f64) -> Option<Interval> {
        let Interval { low, high } = self.uncut_interval(range, level)?;
        Some(Interval { low: low.max(range.low), high: high.min(range.high) })
    }

    /// The same where the range is none that the values must have.
    pub fn uncut_interval(mut self, range: Interval, level: f64) -> Option<Interval> {
        let (Interval { low, high }, found) = (range, self.sum / self.size);
        let valid = level > 0.0 && level < 1.0 && low < high && (self.sum + self.squares).is_finite();
        if !valid || self.units < 2.0 {
            return valid.then_some(range);
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count")]
        let freedom = self.units as u64 - 1;
        let usual = self.size / self.units;
        self.add(low * usual, usual);
        self.add(high * usual, usual);
        let mean = self.sum / self.size;
        let squares = (self.squares - 2.0 * mean * self.products + mean * mean * self.squared_sizes).max(0.0);
        let error = (self.units / (self.units - 1.0) * squares).sqrt() / self.size;
        let half = central_t(level, freedom)? * error;
        Some(Interval { low: (mean - half).min(found), high: (mean + half).max(found) })
    }
}

impl Sums {
    /// The padded interval of the mean of these units. Where their values have no range, it is not cut, and the two more units are
    /// as far from 0 as the largest of them.
    pub fn padded_interval(&self, range: Option<Interval>, level: f64) -> Option<Interval> {
        let moments = Moments::of(self);
        let largest = || self.iter().map(|(sum, size)| (sum / size).abs()).fold(0.0, f64::max);
        match range {
            Some(range) => moments.padded_interval(range, level),
            None => moments.uncut_interval(Interval { low: -largest(), high: largest() }, level),
        }
    }
}

/// The means that betting on the units, one after the other, does not refute at `1 − level`: a confidence interval that holds
/// for every distribution in the range, however skewed, with any number of units.
///
/// Against a mean of at most `m`, the share that is bet on each unit is the one that would reach `2 / (1 − level)` at the last of
/// them if the values went on to vary as they did so far (Waudby-Smith and Ramdas 2024; the target recalculated before every bet
/// as by Voráček and Orabona 2025). It depends on earlier units only, so that wealth exceeds that number with a probability of at
/// most half of `1 − level`. Downwards the same holds of the mirrored values.
///
/// Clusters are single units, whose values are weighted by their sizes over the largest. Units are shuffled by the seed: give
/// them in an order that does not depend on their values. The range without units; absent for a level outside 0 to 1.
pub fn betting_interval(units: &Sums, range: Interval, level: f64, seed: u64) -> Option<Interval> {
    let bets = Bets::new(units, range, seed).filter(|_| level > 0.0 && level < 1.0)?;
    Some(bets.interval((1.0 - level) / 2.0))
}

/// Whether betting on the units refutes this mean at `chance`: with one half of it that the mean is at most this, with the other
/// that it is at least this. Units, range and seed are those of [`betting_interval`].
pub fn betting_refutes(units: &Sums, range: Interval, mean: f64, chance: f64, seed: u64) -> bool {
    let at = (mean - range.low) / (range.high - range.low);
    Bets::new(units, range, seed).is_some_and(|bets| {
        bets.refute_at_most(at, chance / 2.0) || bets.mirrored().refute_at_most(1.0 - at, chance / 2.0)
    })
}

/// Units with values from 0 to 1, in the order in which they are bet on.
struct Bets {
    range: Interval,
    /// Sums and sizes, both over the largest size.
    units: Vec<(f64, f64)>,
}

impl Bets {
    fn new(units: &Sums, range: Interval, seed: u64) -> Option<Self> {
        let width = range.high - range.low;
        let largest = units.iter().map(|(_, size)| size).fold(0.0, f64::max);
        if !(width > 0.0 && width.is_finite()) {
            return None;
        }
        let scaled = |(sum, size): (f64, f64)| ((sum - range.low * size) / width / largest, size / largest);
        // Rounding may leave a sum a little outside of the range.
        let clamped = |(sum, size): (f64, f64)| (sum.clamp(0.0, size), size);
        let mut found: Vec<(f64, f64)> = units.iter().map(scaled).map(clamped).collect();
        SplitMix64::new(seed).shuffle(&mut found);
        Some(Self { range, units: found })
    }

    fn mirrored(&self) -> Self {
        let units = self.units.iter().map(|(sum, size)| (size - sum, *size)).collect();
        Self { range: self.range, units }
    }

    fn interval(&self, chance: f64) -> Interval {
        let (low, high) = (self.lower_end(chance), 1.0 - self.mirrored().lower_end(chance));
        let Interval { low: from, high: to } = self.range;
        let at = |share: f64| from + share * (to - from);
        Interval { low: at(low), high: at(high) }
    }

    /// The smallest mean that is not refuted as too small.
    fn lower_end(&self, chance: f64) -> f64 {
        let (sum, size) = self.units.iter().fold((0.0, 0.0), |all, unit| (all.0 + unit.0, all.1 + unit.1));
        let mean = if size > 0.0 { sum / size } else { 0.0 };
        let place = |step: u32| mean * f64::from(step) / f64::from(STEPS);
        let Some(open) = (0..=STEPS).find(|step| !self.refute_at_most(place(*step), chance)) else { return mean };
        if open == 0 {
            return 0.0;
        }
        let (_, open) = halved(place(open - 1), place(open), HALVINGS, |mean| self.refute_at_most(mean, chance));
        // What is left of the last halving.
        if open < 1e-9 { 0.0 } else { open }
    }

    /// Whether the wealth of betting against a mean of at most `mean` ever reaches `1 / chance`.
    fn refute_at_most(&self, mean: f64, chance: f64) -> bool {
        if mean <= 0.0 {
            return self.units.iter().any(|(sum, _)| *sum > 0.0);
        }
        let n = float(count(self.units.len()));
        let usual = self.units.iter().map(|(_, size)| size).sum::<f64>() / n;
        let target = -chance.ln();
        let mut wealth = 0.0;
        // As if one unit had been seen that is as far from the mean as any can be on average.
        let (mut seen, mut gains, mut squares) = (1.0, 0.0, 0.25 * usual * usual);
        for (sum, size) in &self.units {
            let needed = target - wealth;
            let left = n - seen + 1.0;
            let share = (2.0 * needed / (left * squares / seen)).sqrt().min(MAX_SHARE / mean);
            let gain = sum - mean * size;
            wealth += (share * gain).ln_1p();
            if wealth >= target {
                return true;
            }
            seen += 1.0;
            gains += gain;
            squares += (gain - gains / seen) * (gain - gains / seen);
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::{Moments, betting_interval, betting_refutes};
    use crate::base::stats::{Interval, Mean, Sums};
    use proptest::prelude::*;

    const SHARES: Interval = Interval::SHARES;

    fn padded(values: &[f64]) -> Interval {
        Moments::of(&Sums::of(values, None)).padded_interval(SHARES, 0.95).expect("an interval")
    }

    #[test]
    fn a_padded_interval_is_that_of_the_values_and_two_more() {
        let values = [0.25, 1.0, 1.0, 0.5, 0.0, 0.75, 1.0, 1.0];
        let more: Vec<f64> = values.into_iter().chain([0.0, 1.0]).collect();
        let of = Mean::of(&more).expect("a mean");
        let se = of.se.expect("an error");
        // t of 7 degrees of freedom, that of the eight values.
        let half = 2.364_624_251_592_784 * se;
        let found = padded(&values);
        assert!((found.low - (of.mean - half)).abs() < 1e-12 && (found.high - (of.mean + half).min(1.0)).abs() < 1e-12);
        let of = Mean::of(&values).expect("a mean");
        let variance = of.se.expect("an error").powi(2) * 8.0;
        let moments = Moments::of_mean(of.mean, variance, of.n).padded_interval(SHARES, 0.95).expect("an interval");
        assert!((found.low - moments.low).abs() < 1e-12 && (found.high - moments.high).abs() < 1e-12);
    }

    #[test]
    fn constant_values_have_a_width_and_too_few_have_the_range() {
        for value in [0.0, 0.5, 1.0] {
            let found = padded(&[value; 10]);
            assert!(found.contains(value) && found.high - found.low > 0.1, "{value}: {found:?}");
        }
        assert_eq!((padded(&[]), padded(&[0.5])), (SHARES, SHARES));
        assert_eq!(Moments::of(&Sums::of(&[0.5, 1.0], None)).padded_interval(SHARES, 1.0), None);
    }

    #[test]
    fn a_cluster_of_equal_values_counts_once() {
        let values = [0.25, 1.0, 0.0, 0.5, 0.75];
        let (twins, clusters): (Vec<f64>, Vec<usize>) = (0..10).map(|at| (values[at / 2], at / 2)).unzip();
        let (one, two) = (Sums::of(&values, None), Sums::of(&twins, Some(&clusters)));
        let padded = [&one, &two].map(|units| Moments::of(units).padded_interval(SHARES, 0.95).expect("an interval"));
        let bets = [&one, &two].map(|units| betting_interval(units, SHARES, 0.95, 7).expect("an interval"));
        for [a, b] in [padded, bets] {
            assert!((a.low - b.low).abs() < 1e-9 && (a.high - b.high).abs() < 1e-9, "{a:?} {b:?}");
        }
    }

    #[test]
    fn betting_depends_on_the_order_given_and_the_seed_alone() {
        let values: Vec<f64> =
            (0..40).map(|at| f64::from(at * 7 % 11) / 10.0 - 0.3).map(|of| of.clamp(0.0, 1.0)).collect();
        let of = |seed| betting_interval(&Sums::of(&values, None), SHARES, 0.95, seed).expect("an interval");
        assert_eq!(of(1), of(1));
        assert_ne!(of(1), of(2));
        assert_eq!(betting_interval(&Sums::of(&[], None), SHARES, 0.95, 1), Some(SHARES));
        assert_eq!(betting_interval(&Sums::of(&values, None), SHARES, 1.0, 1), None);
        assert_eq!(betting_interval(&Sums::of(&values, None), Interval { low: 1.0, high: 1.0 }, 0.95, 1), None);
    }

    proptest! {
        #[test]
        fn both_intervals_hold_the_mean_and_mirror(values in prop::collection::vec(0_u8..=12, 1..60), seed in 0_u64..9) {
            let values: Vec<f64> = values.iter().map(|value| f64::from(*value) / 12.0).collect();
            let mirrored: Vec<f64> = values.iter().map(|value| 1.0 - value).collect();
            let mean = Mean::of(&values).expect("a mean").mean;
            let bets = |values: &[f64]| betting_interval(&Sums::of(values, None), SHARES, 0.95, seed).expect("an interval");
            for (one, other) in [(padded(&values), padded(&mirrored)), (bets(&values), bets(&mirrored))] {
                prop_assert!(one.low <= mean + 1e-9 && mean <= one.high + 1e-9 && one.low >= 0.0 && one.high <= 1.0);
                prop_assert!((one.low - (1.0 - other.high)).abs() < 1e-6, "{:?} {:?}", one, other);
            }
            let wide = Interval { low: -1.0, high: 1.0 };
            let found = betting_interval(&Sums::of(&values, None), wide, 0.95, seed).expect("an interval");
            let refuted = betting_refutes(&Sums::of(&values, None), wide, found.low - 0.01, 0.05, seed);
            prop_assert!(found.low - 0.01 <= -1.0 || refuted);
        }
    }
}
