//! The decision about a pair: one test, the interval that agrees with it, and what it can show.

use super::bounded::{betting_interval, betting_refutes};
use super::distributions::{count, float};
use super::power::{Design, Need, Needed, Spread, least_differing};
use super::resampling::{ENUMERATED, flip_chance, flip_interval, permutation, score_interval};
use super::{Interval, McNemar, Permutation, Sums};
use serde::Serialize;

/// Paired differences, one per question.
#[derive(Debug, Clone)]
pub struct Differences {
    /// The differences, in any order.
    pub values: Vec<f64>,
    /// The cluster of each question; absent where questions are independent.
    pub clusters: Option<Vec<usize>>,
    /// Positions of the questions in an order that does not depend on their values, such as that of their ids.
    pub order: Vec<usize>,
    /// Whether both values of each question are 0 or 1.
    pub binary: bool,
    /// Smallest and largest difference that the metric allows; absent where it has no bound.
    pub range: Option<Interval>,
}

/// How a pair is decided.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rule {
    /// Coverage of the interval.
    pub level: f64,
    /// A pair is distinguishable where p, corrected, is below this.
    pub alpha: f64,
    /// Power for what can be shown.
    pub power: f64,
    /// Pairs that are corrected together. What can be shown is at `alpha / pairs`, which the smallest of their p must be below.
    pub pairs: usize,
    /// Resamples of the sign-flip test.
    pub resamples: usize,
    /// Seed of the resamples.
    pub seed: u64,
}

/// The figures that decide about a pair.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Decision {
    /// `McNemar`'s test, for values of 0 and 1. It decides where there are no clusters.
    pub mcnemar: Option<McNemar>,
    /// The sign-flip test of questions, or of whole clusters.
    pub permutation: Option<Permutation>,
    /// The test that decides, and its p before correction.
    pub decisive: Option<(&'static str, f64)>,
    /// Name and ends of the interval, infinite where no difference can be ruled out. It excludes 0 exactly where p is below
    /// `1 − level`.
    pub interval: Option<(&'static str, Interval)>,
}

impl Differences {
    /// What is flipped, and bet on, as a whole: clusters, or single questions.
    fn units(&self) -> Sums {
        Sums::of(&self.values, self.clusters.as_deref())
    }

    /// The same in the order of the ids.
    fn by_id(&self) -> Sums {
        let values: Vec<f64> = self.order.iter().map(|at| self.values[*at]).collect();
        let in_order = |clusters: &Vec<usize>| self.order.iter().map(|at| clusters[*at]).collect();
        let clusters: Option<Vec<usize>> = self.clusters.as_ref().map(in_order);
        Sums::of(&values, clusters.as_deref())
    }

    /// Whether `McNemar`'s test decides, which holds for every distribution.
    pub fn exact(&self) -> bool {
        self.binary && self.clusters.is_none() && !self.values.is_empty()
    }

    /// The interval of the mean that holds for every distribution in the range; absent without one.
    pub fn betting_interval(&self, level: f64, seed: u64) -> Option<Interval> {
        let range = self.range.filter(|_| !self.values.is_empty())?;
        betting_interval(&self.by_id(), range, level, seed)
    }

    /// Whether betting refutes a mean of 0 at `chance`, whatever the distribution; absent without a range.
    pub fn betting_refutes_zero(&self, chance: f64, seed: u64) -> Option<bool> {
        let range = self.range.filter(|_| !self.values.is_empty())?;
        Some(betting_refutes(&self.by_id(), range, 0.0, chance, seed))
    }

    /// The p that decides about these differences, as in [`Decision::of`], without an interval.
    pub fn deciding_p(&self, resamples: usize, seed: u64) -> Option<f64> {
        if self.exact() {
            return Some(McNemar::of(&self.values).exact_p);
        }
        permutation(self.units().sums(), resamples, seed).map(|test| test.p)
    }

    /// The interval that goes with the sign-flip test, whose p is given.
    ///
    /// Sign flips see only units that differ. Where they can reject nothing, the interval is that of betting, or without bounds
    /// wherever the metric has none. Elsewhere it is the sign flips' own and the padded one together: the former alone is too
    /// narrow where many units are equal, and has no width where all differ by the same.
    fn graded_interval(&self, rule: &Rule, p: f64) -> Option<(&'static str, Interval)> {
        let units = self.units();
        let name = |plain, clustered| if self.clusters.is_some() { clustered } else { plain };
        let flips = flip_interval(&units, rule.level, rule.resamples, rule.seed, p)?;
        let differing = units.sums().iter().filter(|sum| **sum != 0.0).count();
        let too_few = count(differing) < least_differing(flip_chance(rule.level));
        if too_few || !(flips.low.is_finite() && flips.high.is_finite()) {
            let unbounded = Interval { low: f64::NEG_INFINITY, high: f64::INFINITY };
            let Interval { low, high } = self.betting_interval(rule.level, rule.seed).unwrap_or(unbounded);
            // Betting may refute 0 where so few resamples cannot.
            let interval = Interval { low: low.min(0.0), high: high.max(0.0) };
            return Some((name("betting", "cluster betting"), interval));
        }
        let padded = units.padded_interval(self.range, rule.level)?;
        let (sum, size) = units.iter().fold((0.0, 0.0), |all, unit| (all.0 + unit.0, all.1 + unit.1));
        Some((name("sign flips and t", "cluster sign flips and t"), hull(flips, padded, sum / size)))
    }
}

/// Both intervals together. Where the test rejects 0 and the second holds it, the end beside 0 is that of the first, which is what
/// the test does not reject; 0 itself where that has no room before the mean, as all units differ by the same.
fn hull(flips: Interval, padded: Interval, mean: f64) -> Interval {
    let beside_zero =
        |end: f64| if end.abs() < (1.0 - 1e-9) * mean.abs() { end } else { end.signum() * f64::MIN_POSITIVE };
    let low = if flips.low > 0.0 && padded.low <= 0.0 { beside_zero(flips.low) } else { flips.low.min(padded.low) };
    let high =
        if flips.high < 0.0 && padded.high >= 0.0 { beside_zero(flips.high) } else { flips.high.max(padded.high) };
    Interval { low, high }
}

/// What the test can show with so many questions.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Reach {
    /// What the test that decides takes as one: questions, or clusters.
    pub units: usize,
    /// Units that differ; all others say nothing to the test.
    pub differing: usize,
    /// If fewer units differ, no difference can be shown.
    pub least_differing: u64,
    /// Whether there are so few resamples that no difference can be shown either.
    #[serde(skip)]
    pub too_few_resamples: bool,
    /// Minimum difference that the test shows with the power of the rule, where as many units differ and vary as much; absent
    /// where none is.
    pub mde: Option<f64>,
    /// The fewest questions with which the difference found would be shown with that power; absent where it is 0.
    pub questions_needed: Option<u64>,
    /// The same for the ends of the difference's interval, from the farther one to the nearer one.
    pub questions_needed_interval: Option<Needed>,
}

impl Decision {
    /// Tests the differences by the rule.
    pub fn of(differences: &Differences, rule: &Rule) -> Self {
        let values = &differences.values;
        let mcnemar = (differences.binary && !values.is_empty()).then(|| McNemar::of(values));
        let permutation = permutation(differences.units().sums(), rule.resamples, rule.seed);
        let (decisive, interval) = match (mcnemar.filter(|_| differences.exact()), permutation) {
            (Some(test), _) => {
                let n = count(values.len());
                let interval = score_interval(test.only_a, test.only_b, n, rule.level, test.exact_p);
                (Some(("mcnemar exact", test.exact_p)), interval.map(|interval| ("score", interval)))
            }
            (None, Some(test)) => (Some(("permutation", test.p)), differences.graded_interval(rule, test.p)),
            (None, None) => (None, None),
        };
        Self { mcnemar, permutation, decisive, interval }
    }
}

impl Reach {
    /// The reach of the test that decides about these differences, as in [`Decision::of`], which found this interval.
    pub fn of(differences: &Differences, rule: &Rule, interval: Option<Interval>) -> Self {
        let (units, mcnemar) = (differences.units(), differences.exact());
        let differing: Vec<(f64, f64)> = units.iter().filter(|(sum, _)| *sum != 0.0).collect();
        let (n, k) = (units.sums().len(), differing.len());
        let alpha = rule.alpha / float(count(rule.pairs.max(1)));
        let mut reach = Self {
            units: n,
            differing: k,
            least_differing: least_differing(alpha),
            too_few_resamples: !mcnemar && k > ENUMERATED && 1.0 / float(count(rule.resamples) + 1) >= alpha,
            ..Self::default()
        };
        let questions: f64 = units.iter().map(|(_, size)| size).sum();
        // The difference of the means of all questions, per effect on the units that differ.
        let (spread, effect, scale) = if mcnemar {
            let mean = differing.iter().map(|(sum, _)| sum).sum::<f64>() / float(count(k));
            (Spread::Signs, mean, float(count(k)) / questions)
        } else {
            let Some((mean, deviation)) = spread(&differing) else { return reach };
            (Spread::Normal, mean / deviation, deviation * float(count(k)) / questions)
        };
        if k == 0 || reach.too_few_resamples {
            return reach;
        }
        let design = Design { spread, differing: float(count(k)) / float(count(n)), alpha };
        let smallest =
            (count(k) >= reach.least_differing).then(|| design.smallest_effect(count(n), rule.power)).flatten();
        reach.mde = smallest.map(|smallest| smallest * scale);
        let need = Need { design, power: rule.power, scale, questions_per_unit: questions / float(count(n)) };
        reach.questions_needed = need.of(effect * scale);
        reach.questions_needed_interval = interval.map(|ends| need.between(ends));
        reach
    }
}

/// Mean of the sums of the units that differ, and their standard deviation around the common mean of a question; absent where
/// they do not vary.
fn spread(differing: &[(f64, f64)]) -> Option<(f64, f64)> {
    let k = float(count(differing.len()));
    let (sum, size) = differing.iter().fold((0.0, 0.0), |all, unit| (all.0 + unit.0, all.1 + unit.1));
    let squares: f64 = differing.iter().map(|(of, n)| (of - n * sum / size) * (of - n * sum / size)).sum();
    let largest = differing.iter().map(|(sum, _)| sum.abs()).fold(0.0, f64::max);
    let deviation = (squares / (k - 1.0)).sqrt();
    // Equal differences have no spread, only rounding errors.
    (deviation.is_finite() && deviation > 1e-12 * largest).then_some((sum / k, deviation))
}

/// Bonferroni's: each p times their number, at most 1. Controls the probability of any false finding.
pub fn bonferroni(p: &[f64]) -> Vec<f64> {
    let m = float(count(p.len()));
    p.iter().map(|p| (p * m).min(1.0)).collect()
}

/// Holm's (1979): the smallest p times m, the next times m − 1, and so on, none smaller than the one before it.
/// Controls the same probability as Bonferroni's, and is never less powerful.
pub fn holm(p: &[f64]) -> Vec<f64> {
    let mut corrected = vec![1.0; p.len()];
    let mut least: f64 = 0.0;
    for (at, left) in ascending(p).into_iter().zip((1..=count(p.len())).rev()) {
        least = least.max((p[at] * float(left)).min(1.0));
        corrected[at] = least;
    }
    corrected
}

/// Benjamini and Hochberg's (1995): controls the expected share of false findings among all.
pub fn benjamini_hochberg(p: &[f64]) -> Vec<f64> {
    let m = count(p.len());
    let mut corrected = vec![1.0; p.len()];
    let mut most: f64 = 1.0;
    for (at, rank) in ascending(p).into_iter().rev().zip((1..=m).rev()) {
        most = most.min(p[at] * float(m) / float(rank));
        corrected[at] = most;
    }
    corrected
}

fn ascending(p: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|a, b| p[*a].total_cmp(&p[*b]));
    order
}
