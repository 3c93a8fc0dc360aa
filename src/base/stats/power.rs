//! What a number of questions can show: power, detectable differences, and the number that a difference needs.
//!
//! The usual normal approximation: `n = (z(1 − α/2) + z(power))² · ω² / δ²`, with ω² the variance of the differences
//! within a question and δ the difference of the means (Miller, "Adding error bars to evals", 2024).
//!
//! `McNemar`'s and the sign-flip test see only units (questions, or clusters) that differ. How many of them differ varies from
//! one sample to the next, so the power is the mean of the power at each number, weighted by the binomial distribution.

use super::Interval;
use super::distributions::{beta_kernel, central_t, central_z, float, halved, incomplete_beta, normal_quantile};
use serde::Serialize;
use statrs::distribution::{ContinuousCDF, Normal};

/// The number of questions, not rounded, at which a two-sided test at alpha detects the difference with this power.
///
/// Absent for a difference of 0, a negative variance, and alpha or power outside 0 to 1.
pub fn questions_needed(variance: f64, difference: f64, alpha: f64, power: f64) -> Option<f64> {
    let n = reach(alpha, power)?.powi(2) * variance / (difference * difference);
    (n.is_finite() && variance >= 0.0).then_some(n)
}

/// The smallest difference that n questions detect with this power; the inverse of [`questions_needed`].
///
/// Absent for n of 0, a negative variance, and alpha or power outside 0 to 1.
pub fn smallest_difference(variance: f64, n: f64, alpha: f64, power: f64) -> Option<f64> {
    let difference = reach(alpha, power)? * (variance / n).sqrt();
    (difference.is_finite() && n > 0.0).then_some(difference)
}

/// The detectable difference in standard errors; absent for a power that chance alone has.
fn reach(alpha: f64, power: f64) -> Option<f64> {
    let reach = normal_quantile(1.0 - alpha / 2.0)? + normal_quantile(power)?;
    (alpha > 0.0 && alpha < 1.0 && reach > 0.0).then_some(reach)
}

/// The variance of a question's difference between two variants, in two parts: how far questions differ, and how far repeats of
/// one question do.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct VarianceParts {
    /// Where every question is asked once.
    once: f64,
    /// What no number of repeats takes away; absent where nothing was repeated.
    between: Option<f64>,
}

impl VarianceParts {
    /// From the variance that was found, and, where questions were repeated, the variance of repeats (the sum of both variants')
    /// and how much it added to what was found.
    pub fn of(found: f64, repeats: Option<(f64, f64)>) -> Self {
        match repeats {
            None => Self { once: found, between: None },
            Some((within, added)) => {
                let between = (found - added).max(0.0);
                Self { once: between + within, between: Some(between) }
            }
        }
    }

    /// With so many repeats of each question; absent where the parts are not known.
    pub fn with_repeats(self, repeats: u64) -> Option<f64> {
        if repeats == 1 {
            return Some(self.once);
        }
        #[expect(clippy::cast_precision_loss, reason = "a number of repeats")]
        self.between.map(|between| between + (self.once - between) / repeats as f64)
    }

    /// The fewest questions that show a difference, each asked so often.
    pub fn questions_needed(self, repeats: u64, difference: f64, alpha: f64, power: f64) -> Option<u64> {
        let needed = questions_needed(self.with_repeats(repeats)?, difference, alpha, power)?;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "not negative, and cut at the most"
        )]
        let needed = (needed - 1e-9).ceil() as u64;
        Some(needed.max(super::least_differing(alpha)))
    }

    /// The fewest repeats with which so many questions show a difference; absent where no number is enough.
    pub fn repeats_needed(self, questions: u64, difference: f64, alpha: f64, power: f64) -> Option<u64> {
        const MOST: u64 = 1000;
        let enough = |repeats: &u64| {
            self.questions_needed(*repeats, difference, alpha, power).is_some_and(|needed| needed <= questions)
        };
        (1..=MOST).find(enough)
    }
}

/// How differences are distributed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Spread {
    /// Differences of −1 and 1, decided by `McNemar`'s exact test. The effect is their mean, at most 1.
    Signs,
    /// Normal differences, decided by the sign-flip test. The effect is their mean in standard deviations.
    Normal,
}

/// A paired comparison that is planned.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Design {
    /// How the differences are distributed.
    pub spread: Spread,
    /// The share of units that differ, above 0 and at most 1.
    pub differing: f64,
    /// The p below which a difference is shown.
    pub alpha: f64,
}

/// How many questions a pair needs, by the difference that they are to show.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Need {
    pub(super) design: Design,
    pub(super) power: f64,
    /// The difference of the means of all questions, per effect on the units that differ.
    pub(super) scale: f64,
    pub(super) questions_per_unit: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Needed {
    /// For the end of the difference's interval that is farther from 0; absent where both are 0.
    pub low: Option<u64>,
    /// For the nearer end; absent where the interval holds 0, which no number of questions shows.
    pub high: Option<u64>,
}

impl Need {
    /// The fewest questions that show this difference with the power; absent for 0.
    pub fn of(&self, difference: f64) -> Option<u64> {
        let Self { mut design, power, scale, questions_per_unit } = *self;
        let mut effect = difference.abs() / scale;
        if design.spread == Spread::Signs && effect > 1.0 {
            // At least as many questions differ as make the difference.
            (design.differing, effect) = (difference.abs().min(1.0), 1.0);
        }
        let units = design.units_needed(effect, power)?;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a number of questions")]
        Some((float(units) * questions_per_unit - 1e-9).ceil() as u64)
    }

    /// The same for the ends of the difference's interval.
    pub fn between(&self, difference: Interval) -> Needed {
        let Interval { low, high } = difference;
        let nearer = if difference.contains(0.0) { 0.0 } else { low.abs().min(high.abs()) };
        Needed { low: self.of(low.abs().max(high.abs())), high: self.of(nearer) }
    }
}

/// Power at a given number of differing units, as a function of the effect.
#[derive(Debug, Clone, Copy)]
enum Conditional {
    /// Too few of them.
    Never,
    /// The test rejects if at least `wins` of `k` differences are positive.
    Wins { wins: u64, k: u64 },
    /// The normal approximation of the same, with `k` and the critical value.
    Normal(f64, f64),
    /// The sign-flip test rejects if at most this many patterns (1 to 3) are as far on one side, of `k` units.
    Patterns(u32, u64),
    /// Close to Student's t with the level that the patterns attain: `k` and the critical value.
    Student(f64, f64),
}

/// Up to this many differing questions `McNemar`'s power is summed exactly.
const EXACT: u64 = 128;

/// With more units than this the steps between the p of sign flips do not matter.
const ENOUGH: u64 = 50;

/// The fewest units that must differ for p to be below alpha: p is 2 · ½ᵏ at least.
pub fn least_differing(alpha: f64) -> u64 {
    let mut p = 2.0;
    (1..1100)
        .find(|_| {
            p /= 2.0;
            p < alpha
        })
        .map_or(u64::MAX, |k: u64| k)
}

impl Design {
    /// The chance that the test shows an effect in n units.
    pub fn power(&self, n: u64, effect: f64) -> f64 {
        self.mixture(n).iter().map(|(weight, power)| weight * power.at(effect)).sum()
    }

    /// The smallest effect that n units show with this power; absent if they show none.
    pub fn smallest_effect(&self, n: u64, power: f64) -> Option<f64> {
        let mixture = self.mixture(n);
        let shown = |effect: f64| mixture.iter().map(|(weight, at)| weight * at.at(effect)).sum::<f64>() >= power;
        let most = match self.spread {
            Spread::Signs => 1.0,
            Spread::Normal => (0..20).map(|doubled| f64::from(1 << doubled)).find(|effect| shown(*effect))?,
        };
        Some(halved(Some(most).filter(|most| shown(*most))?, 0.0, 50, shown).0)
    }

    /// The fewest units that show the effect with this power; absent for an effect of 0, and beyond 10^12.
    pub fn units_needed(&self, effect: f64, power: f64) -> Option<u64> {
        const MOST: u64 = 1_000_000_000_000;
        let shown = |n: u64| self.power(n, effect) >= power;
        let mut high = 1;
        while !(effect > 0.0 && shown(high)) {
            high *= 2;
            if high > MOST || effect <= 0.0 {
                return None;
            }
        }
        let mut low = high / 2;
        while high - low > 1 {
            let middle = low.midpoint(high);
            if shown(middle) { high = middle } else { low = middle }
        }
        Some(high)
    }

    /// Numbers of differing units among n with their weights: all that matter, or evenly spaced ones where they are many.
    fn mixture(&self, n: u64) -> Vec<(f64, Conditional)> {
        let share = self.differing;
        if share >= 1.0 {
            return vec![(1.0, self.conditional(n))];
        }
        let expected = float(n) * share;
        let reach = 8.0 * (expected * (1.0 - share)).sqrt() + 8.0;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "counts of units")]
        let (from, to) = ((expected - reach).max(0.0) as u64, ((expected + reach) as u64).min(n));
        // Steps only where McNemar's power is smooth.
        let step = match self.spread {
            Spread::Signs => (to - from) / 256 + 1,
            Spread::Normal => (to - from) / 64 + 1,
        };
        let weight = |k: u64| {
            let (a, b) = (float(k) + 1.0, float(n - k) + 1.0);
            beta_kernel(a, b, share, 1.0 - share) / (share * (1.0 - share) * (float(n) + 1.0))
        };
        let steps: Vec<(u64, f64)> =
            (0..=(to - from) / step).map(|at| from + at * step).map(|k| (k, weight(k))).collect();
        let all: f64 = steps.iter().map(|(_, weight)| weight).sum();
        let matter = steps.into_iter().filter(|(_, weight)| *weight > 1e-9 * all);
        matter.map(|(k, weight)| (weight / all, self.conditional(k))).collect()
    }

    fn conditional(&self, k: u64) -> Conditional {
        if k < least_differing(self.alpha) {
            return Conditional::Never;
        }
        let z = || central_z(1.0 - self.alpha).unwrap_or(f64::INFINITY);
        match self.spread {
            Spread::Signs if k <= EXACT => Conditional::Wins { wins: k - losses_allowed(k, self.alpha), k },
            Spread::Signs => Conditional::Normal(float(k), z()),
            Spread::Normal if k > ENOUGH => {
                // All of alpha is attained; t from z by the expansion of Cornish and Fisher.
                let (z, freedom) = (z(), float(k) - 1.0);
                let second = 5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z;
                let t = z + (z.powi(3) + z) / (4.0 * freedom) + second / (96.0 * freedom * freedom);
                Conditional::Student(float(k), t)
            }
            Spread::Normal => {
                // Of 2^(k − 1) patterns and their mirror images.
                let patterns = 2_f64.powi(i32::try_from(k).unwrap_or(i32::MAX) - 1);
                let as_far = (self.alpha * patterns - 1e-9).ceil() - 1.0;
                if as_far <= 3.0 {
                    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "1, 2 or 3")]
                    return Conditional::Patterns(as_far as u32, k);
                }
                let t = central_t(1.0 - as_far / patterns, k - 1).unwrap_or(f64::INFINITY);
                Conditional::Student(float(k), t)
            }
        }
    }
}

/// The most losses among k differing questions with which `McNemar`'s exact p is below alpha.
fn losses_allowed(k: u64, alpha: f64) -> u64 {
    let (mut term, mut sum, mut losses) = (0.5_f64.powi(i32::try_from(k).unwrap_or(i32::MAX)), 0.0, 0);
    for i in 0..k / 2 {
        sum += term;
        if 2.0 * sum >= alpha {
            break;
        }
        losses = i;
        term *= float(k - i) / float(i + 1);
    }
    losses
}

impl Conditional {
    fn at(self, effect: f64) -> f64 {
        let cdf = |z: f64| Normal::standard().cdf(z);
        match self {
            Self::Never => 0.0,
            Self::Wins { wins, k } => {
                let share = f64::midpoint(1.0, effect);
                incomplete_beta(float(wins), float(k - wins) + 1.0, share, f64::midpoint(1.0, -effect))
            }
            // With the correction for continuity of a sum of signs.
            Self::Normal(k, z) => {
                let (over, spread) = (k * effect - z * k.sqrt() - 1.0, (k * (1.0 - effect * effect)).sqrt());
                if spread > 0.0 { cdf(over / spread) } else { f64::from(u8::from(over > 0.0)) }
            }
            Self::Patterns(as_far, k) => extreme(as_far, k, effect),
            // The noncentral t distribution (Abramowitz and Stegun 26.7.10).
            Self::Student(k, t) => {
                let freedom = k - 1.0;
                let over = effect * k.sqrt() - t * (1.0 - 0.25 / freedom);
                cdf(over / (1.0 + t * t / (2.0 * freedom)).sqrt())
            }
        }
    }
}

/// The chance that at most 1, 2 or 3 patterns of k normal units, the observed one included, have a sum at least as large: none is
/// negative; or one is, `−u`, and none of the others, or one of them for 3, is smaller than u.
fn extreme(as_far: u32, k: u64, effect: f64) -> f64 {
    const STEPS: u32 = 200;
    let cdf = |z: f64| Normal::standard().cdf(z);
    let others = i32::try_from(k).unwrap_or(i32::MAX) - 1;
    let none = cdf(effect).powi(others + 1);
    if as_far < 2 {
        return none;
    }
    let one = |u: f64| {
        let density = (-(u + effect) * (u + effect) / 2.0).exp() / std::f64::consts::TAU.sqrt();
        let (larger, smaller) = (cdf(effect - u), cdf(effect) - cdf(effect - u));
        let one_smaller = if as_far > 2 { f64::from(others) * smaller * larger.powi(others - 1) } else { 0.0 };
        density * (larger.powi(others) + one_smaller)
    };
    // Simpson's rule; beyond 8 standard deviations nothing is left.
    let width = 8.0 / f64::from(STEPS);
    let inner = |i: u32| if i % 2 == 1 { 4.0 } else { 2.0 };
    let sum: f64 = (1..STEPS).map(|i| inner(i) * one(f64::from(i) * width)).sum::<f64>() + one(0.0) + one(8.0);
    none + f64::from(others + 1) * sum * width / 3.0
}

#[cfg(test)]
mod tests {
    use super::{VarianceParts, questions_needed};

    #[test]
    fn repeats_take_away_what_is_within_questions_and_never_save_episodes() {
        // Between 0.10, within 0.20, found with two repeats: 0.10 + 0.20 / 2.
        let parts = VarianceParts::of(0.20, Some((0.20, 0.10)));
        for (repeats, variance) in [(1, 0.30), (2, 0.20), (4, 0.15)] {
            let found = parts.with_repeats(repeats).expect("known");
            assert!((found - variance).abs() < 1e-12, "{repeats}: {found}");
            let needed = questions_needed(variance, 0.05, 0.05, 0.8).expect("a number").ceil();
            assert_eq!(
                parts.questions_needed(repeats, 0.05, 0.05, 0.8).map(|n| n.to_string()),
                Some(needed.to_string())
            );
        }
        let episodes: Vec<u64> =
            (1..9).map(|k| k * parts.questions_needed(k, 0.05, 0.05, 0.8).expect("a number")).collect();
        assert!(episodes.is_sorted(), "{episodes:?}");
        // 0.3 needs 942, 0.2 needs 628, and without any noise of repeats 314 remain.
        let repeats = [1000, 942, 941, 628, 627, 315, 300].map(|n| parts.repeats_needed(n, 0.05, 0.05, 0.8));
        assert_eq!(repeats[..4], [Some(1), Some(1), Some(2), Some(2)]);
        assert!(repeats[4] == Some(3) && repeats[5].is_none_or(|n| n > 100) && repeats[6].is_none(), "{repeats:?}");
    }

    #[test]
    fn what_was_asked_once_does_not_say_what_repeats_save() {
        let parts = VarianceParts::of(0.3, None);
        assert_eq!((parts.with_repeats(1), parts.with_repeats(2)), (Some(0.3), None));
        assert_eq!(
            (parts.repeats_needed(100, 0.05, 0.05, 0.8), parts.repeats_needed(950, 0.05, 0.05, 0.8)),
            (None, Some(1))
        );
        // Noise alone can be larger than what was found.
        assert_eq!(VarianceParts::of(0.1, Some((0.4, 0.2))).with_repeats(4), Some(0.1));
        // Fewer than 6 questions show nothing, whatever a formula says.
        assert_eq!(parts.questions_needed(1, 1.0, 0.05, 0.8), Some(6));
    }
}
