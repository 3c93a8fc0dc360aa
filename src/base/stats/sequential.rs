//! A rule that may be looked at after every question: an e-process, and the sequence of intervals that agrees with it.
//!
//! An e-process begins at 1 and, without a difference, exceeds `1/alpha` at *any* time with probability `alpha` at most
//! (Ville 1939). Whoever stops at that value is wrong no more often than announced.

use super::distributions::{count, float, halved};
use super::interval::Interval;

/// Nodes of the Gauss-Legendre rule over the bets. It is exact for polynomials up to degree 127: for 0/1 values, for so many
/// questions that differ. Its weights are positive and sum to 1, so that it is a mixture of bets, and valid, beyond that too.
const NODES: usize = 64;
/// Halvings of an interval of length 2: below a millionth of a point.
const HALVINGS: usize = 30;

/// Betting on the mean of paired differences in [−1, 1] (Waudby-Smith and Ramdas 2024), all bets at once.
///
/// Against a mean `m`, a share `c` of the largest bet upwards has the wealth `Π (1 + c (d − m) / (1 + m))`; downwards the same
/// holds with the signs reversed. Wealth is the mean over all `c` from 0 to 1 and both directions. For differences of −1, 0 and
/// 1 and `m = 0` that is `2ⁿ / ((n + 1) · C(n, s))`, the likelihood ratio of a uniform mixture of shares among the `n` questions
/// that differ, `s` of them for `b`.
///
/// Wealth is a convex function of `m`, so that the means that are not refuted are an interval. It excludes 0 exactly where the
/// e-value exceeds `1/alpha`. What is bet does not depend on the order of the questions.
#[derive(Debug, Clone)]
pub struct Betting {
    /// Share of the largest bet, and the logarithm of its weight.
    bets: Vec<(f64, f64)>,
    differences: Vec<f64>,
    /// Logarithms of the wealth of each bet against a mean of 0, upwards and downwards.
    against_zero: Vec<[f64; 2]>,
}

impl Default for Betting {
    fn default() -> Self {
        let bets: Vec<(f64, f64)> = gauss_legendre().into_iter().map(|(bet, weight)| (bet, weight.ln())).collect();
        let against_zero = bets.iter().map(|(_, weight)| [*weight; 2]).collect();
        Self { bets, differences: Vec::new(), against_zero }
    }
}

impl Betting {
    /// Adds a question; `difference` is `b − a`, in [−1, 1].
    pub fn add(&mut self, difference: f64) {
        let difference = difference.clamp(-1.0, 1.0);
        self.differences.push(difference);
        if difference == 0.0 {
            return;
        }
        for ((bet, _), [up, down]) in self.bets.iter().zip(&mut self.against_zero) {
            *up += (bet * difference).ln_1p();
            *down += (-bet * difference).ln_1p();
        }
    }

    /// Questions so far.
    pub fn questions(&self) -> usize {
        self.differences.len()
    }

    /// Mean of the differences; absent without questions.
    pub fn mean(&self) -> Option<f64> {
        let n = float(count(self.differences.len()));
        (n > 0.0).then(|| self.differences.iter().sum::<f64>() / n)
    }

    /// Evidence against "no difference"; 1 without questions.
    pub fn e_value(&self) -> f64 {
        (log_sum(self.against_zero.iter().flatten().copied()) - 2_f64.ln()).exp()
    }

    /// The differences that are not refuted after these questions. The intervals of all looks hold together with probability
    /// `1 − alpha`.
    pub fn interval(&self, alpha: f64) -> Interval {
        let Some(mean) = self.mean() else { return Interval { low: -1.0, high: 1.0 } };
        let values = self.values();
        let limit = -alpha.ln() + 2_f64.ln();
        let refuted = |m: f64| log_sum([1.0, -1.0].map(|sign| self.log_wealth(&values, sign, m))) >= limit;
        Interval { low: crossing(-1.0, mean, refuted), high: crossing(1.0, mean, refuted) }
    }

    /// Each value once, and how often it was seen: scores have few values.
    fn values(&self) -> Vec<(f64, f64)> {
        let mut sorted = self.differences.clone();
        sorted.sort_by(f64::total_cmp);
        let same = sorted.chunk_by(|a, b| a.total_cmp(b).is_eq());
        same.map(|same| (same[0], float(count(same.len())))).collect()
    }

    /// Logarithm of the mean wealth of all bets that the mean of the differences exceeds `m`, or with the sign −1 is below it.
    fn log_wealth(&self, values: &[(f64, f64)], sign: f64, m: f64) -> f64 {
        let values = || values.iter().map(|(value, times)| (sign * value, *times));
        let m = sign * m;
        let scale = 1.0 + m;
        // A mean of −1 allows no other value than −1.
        if scale <= 0.0 {
            return if values().any(|(value, _)| value > m) { f64::INFINITY } else { 0.0 };
        }
        log_sum(self.bets.iter().map(|(bet, weight)| {
            weight + values().map(|(value, times)| times * (bet * (value - m) / scale).ln_1p()).sum::<f64>()
        }))
    }
}

/// Where what is refuted ends, on the way from `from` to `mean`, which never is.
fn crossing(from: f64, mean: f64, refuted: impl Fn(f64) -> bool) -> f64 {
    if !refuted(from) {
        return from;
    }
    halved(from, mean, HALVINGS, refuted).0
}

/// Logarithm of the sum of these numbers, which are given by their logarithms.
fn log_sum(logs: impl IntoIterator<Item = f64>) -> f64 {
    let (mut largest, mut sum) = (f64::NEG_INFINITY, 0.0);
    for log in logs {
        if log == f64::INFINITY {
            return log;
        }
        if log > largest {
            sum = sum * (largest - log).exp() + 1.0;
            largest = log;
        } else {
            sum += (log - largest).exp();
        }
    }
    largest + sum.ln()
}

/// Nodes and weights of the Gauss-Legendre rule on [0, 1], by Newton's method from the usual first guesses.
fn gauss_legendre() -> Vec<(f64, f64)> {
    let float = |k: usize| float(count(k));
    let n = float(NODES);
    // The Legendre polynomial of degree n at x and its derivative, by the recurrence over degrees.
    let polynomial = |x: f64| {
        let (mut before, mut value) = (1.0, x);
        for k in 2..=NODES {
            (before, value) = (value, ((2.0 * float(k) - 1.0) * x * value - (float(k) - 1.0) * before) / float(k));
        }
        (value, n * (x * value - before) / (x * x - 1.0))
    };
    let node = |k: usize| {
        let mut x = (std::f64::consts::PI * (float(k) + 0.75) / (n + 0.5)).cos();
        for _ in 0..8 {
            let (value, slope) = polynomial(x);
            x -= value / slope;
        }
        let (_, slope) = polynomial(x);
        (0.5 * (1.0 - x), 1.0 / ((1.0 - x * x) * slope * slope))
    };
    (0..NODES).map(node).collect()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::cast_precision_loss, reason = "small counts")]

    use super::{Betting, gauss_legendre};
    use crate::base::stats::rng::SplitMix64;

    const ALPHA: f64 = 0.05;

    fn after(only_a: usize, only_b: usize, neither: usize) -> Betting {
        let mut betting = Betting::default();
        let each = [(only_a, -1.0), (only_b, 1.0), (neither, 0.0)];
        for (n, difference) in each {
            (0..n).for_each(|_| betting.add(difference));
        }
        betting
    }

    #[test]
    fn the_bets_are_a_mixture() {
        let rule = gauss_legendre();
        assert!(rule.iter().all(|(bet, weight)| *bet > 0.0 && *bet < 1.0 && *weight > 0.0));
        assert!((rule.iter().map(|(_, weight)| weight).sum::<f64>() - 1.0).abs() < 1e-13);
        assert!((rule.iter().map(|(bet, weight)| weight * bet.powi(9)).sum::<f64>() - 0.1).abs() < 1e-14);
    }

    /// `2ⁿ / ((n + 1) · C(n, s))`.
    fn formula(only_a: usize, only_b: usize) -> f64 {
        let n = only_a + only_b;
        let binomial: f64 = (0..only_b).map(|k| (n - k) as f64 / (k + 1) as f64).product();
        2_f64.powi(i32::try_from(n).expect("few")) / ((n + 1) as f64 * binomial)
    }

    #[test]
    fn of_right_and_wrong_answers_it_is_the_mixture_over_shares() {
        assert!((formula(1, 4) - 32.0 / 30.0).abs() < 1e-12);
        for only_a in 0..=40 {
            for only_b in 0..=40 {
                let found = after(only_a, only_b, 7).e_value();
                assert!((found / formula(only_a, only_b) - 1.0).abs() < 1e-10, "{only_a} {only_b} {found}");
            }
        }
        // Far beyond the degree for which the rule is exact.
        let (found, exact) = (after(455, 545, 0).e_value(), formula(455, 545));
        assert!((found / exact - 1.0).abs() < 1e-6, "{found} {exact}");
    }

    /// Chance that the rule stops within `looks` questions, and the median question at which it does, exactly: the chances of
    /// all counts, question by question.
    fn stops(looks: usize, only_a: f64, only_b: f64) -> (f64, Option<usize>) {
        let mut open = vec![vec![0.0; looks + 2]; looks + 2];
        open[0][0] = 1.0;
        let decided: Vec<Vec<bool>> =
            (0..=looks).map(|a| (0..=looks).map(|b| formula(a, b) >= 1.0 / ALPHA).collect()).collect();
        let (mut stopped, mut median) = (0.0, None);
        for look in 1..=looks {
            let mut next = vec![vec![0.0; looks + 2]; looks + 2];
            for a in 0..look {
                for b in 0..look - a {
                    let chance = open[a][b];
                    if chance == 0.0 {
                        continue;
                    }
                    next[a][b] += chance * (1.0 - only_a - only_b);
                    for (a, b, share) in [(a + 1, b, only_a), (a, b + 1, only_b)] {
                        if decided[a][b] { stopped += chance * share } else { next[a][b] += chance * share }
                    }
                }
            }
            open = next;
            if median.is_none() && stopped >= 0.5 {
                median = Some(look);
            }
        }
        (stopped, median)
    }

    #[test]
    fn looking_after_every_question_keeps_the_error_and_saves_questions() {
        let (error, median) = stops(250, 0.1, 0.1);
        assert!(error < ALPHA && error > 0.005 && median.is_none(), "{error}");
        // Every question differs: the most looks at evidence that a run can have.
        let (error, _) = stops(250, 0.5, 0.5);
        assert!(error < ALPHA && error > 0.02, "{error}");
        let (power, median) = stops(250, 0.05, 0.2);
        assert!(power > 0.9 && median.is_some_and(|median| median < 125), "{power} {median:?}");
    }

    #[test]
    fn the_interval_excludes_zero_exactly_where_the_e_value_decides() {
        let mut decided = 0;
        for only_a in 0..=12 {
            for only_b in 0..=30 {
                let betting = after(only_a, only_b, 10);
                let interval = betting.interval(ALPHA);
                let says = betting.e_value() >= 1.0 / ALPHA;
                assert_eq!(!interval.contains(0.0), says, "{only_a} {only_b} {interval:?}");
                assert!(interval.contains(betting.mean().expect("a mean")), "{interval:?}");
                decided += usize::from(says);
            }
        }
        assert!(decided > 100, "{decided}");
        let nothing = Betting::default();
        assert_eq!((nothing.e_value().round(), nothing.interval(ALPHA).low, nothing.mean()), (1.0, -1.0, None));
    }

    #[test]
    fn the_intervals_of_all_looks_hold_together_and_in_any_order() {
        let mut rng = SplitMix64::new(7);
        let (mut wrong, mut found) = (0, 0);
        for run in 0..120 {
            // Scores of `b` less those of `a`, in fifths, with a mean of 0 and of 0.15.
            let shift = [0.0, 0.15][run % 2];
            let (mut betting, mut missed) = (Betting::default(), false);
            for look in 1..=100 {
                betting.add((rng.below(5) as f64 - 2.0) / 5.0 + shift);
                missed |= look % 10 == 0 && !betting.interval(ALPHA).contains(shift);
            }
            let mut reversed = Betting::default();
            betting.differences.iter().rev().for_each(|difference| reversed.add(*difference));
            assert!((reversed.e_value() / betting.e_value() - 1.0).abs() < 1e-9);
            wrong += usize::from(missed);
            found += usize::from(shift > 0.0 && betting.e_value() >= 1.0 / ALPHA);
        }
        assert!(wrong <= 6 && found >= 50, "{wrong} {found}");
    }
}
