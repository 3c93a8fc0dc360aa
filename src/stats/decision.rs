//! The decision about a pair: one test, the interval that agrees with it, and what it can show.

use super::inverted::{flip_interval, score_interval};
use super::permutation::ENUMERATED;
use super::quantile::{count, float};
use super::reach::{Design, Spread, least_differing};
use super::{Interval, McNemar, Permutation, Sums, permutation};

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
    pub resamples: usize,
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

/// What the test can show with so many questions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reach {
    /// Units (questions, or clusters), and those of them that differ.
    pub units: usize,
    pub differing: usize,
    /// With fewer units that differ, no difference can be shown.
    pub least: u64,
    /// Whether so few resamples can show none either.
    pub too_few_resamples: bool,
    /// The smallest difference that is shown with the power of the rule, where as many units differ and vary as much; absent
    /// where none is.
    pub smallest: Option<f64>,
    /// The fewest questions that show the difference found with that power; absent where it is 0.
    pub needed: Option<u64>,
}

impl Decision {
    /// The decision about these differences, one per question; `clusters[i]` is the cluster of question i. `binary`: both
    /// values of each question are 0 or 1.
    pub fn of(differences: &[f64], clusters: Option<&[usize]>, binary: bool, rule: &Rule) -> Self {
        let units = units(differences, clusters);
        let mcnemar = (binary && !differences.is_empty()).then(|| McNemar::of(differences));
        let permutation = permutation(units.sums(), rule.resamples, rule.seed);
        let exact = mcnemar.filter(|_| clusters.is_none());
        let (decisive, interval) = match (exact, permutation) {
            (Some(test), _) => {
                let n = count(differences.len());
                let interval = score_interval(test.only_a, test.only_b, n, rule.level, test.exact_p);
                (Some(("mcnemar exact", test.exact_p)), interval.map(|interval| ("score", interval)))
            }
            (None, Some(test)) => {
                let interval = flip_interval(&units, rule.level, rule.resamples, rule.seed, test.p);
                let name = if clusters.is_some() { "cluster sign flips" } else { "sign flips" };
                (Some(("permutation", test.p)), interval.map(|interval| (name, interval)))
            }
            (None, None) => (None, None),
        };
        Self { mcnemar, permutation, decisive, interval }
    }
}

/// What is flipped as a whole: clusters, or single questions.
fn units(differences: &[f64], clusters: Option<&[usize]>) -> Sums {
    match clusters {
        Some(clusters) => Sums::of(differences, clusters),
        None => Sums::of(differences, &(0..differences.len()).collect::<Vec<_>>()),
    }
}

impl Reach {
    /// The reach of the test that decides about these differences, as in [`Decision::of`].
    pub fn of(differences: &[f64], clusters: Option<&[usize]>, binary: bool, rule: &Rule) -> Self {
        let (units, mcnemar) = (units(differences, clusters), binary && clusters.is_none());
        let differing: Vec<(f64, f64)> = units.iter().filter(|(sum, _)| *sum != 0.0).collect();
        let (n, k) = (units.sums().len(), differing.len());
        let alpha = rule.alpha / float(count(rule.pairs.max(1)));
        let mut reach = Self {
            units: n,
            differing: k,
            least: least_differing(alpha),
            too_few_resamples: !mcnemar && k > ENUMERATED && 1.0 / float(count(rule.resamples) + 1) >= alpha,
            smallest: None,
            needed: None,
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
        let smallest = (count(k) >= reach.least).then(|| design.smallest_effect(count(n), rule.power)).flatten();
        reach.smallest = smallest.map(|smallest| smallest * scale);
        let per_unit = questions / float(count(n));
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a number of questions")]
        let in_questions = |units: u64| (float(units) * per_unit - 1e-9).ceil() as u64;
        reach.needed = design.units_needed(effect.abs(), rule.power).map(in_questions);
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
