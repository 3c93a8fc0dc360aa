//! Means with their standard errors, of independent values and of clusters; confidence intervals for a mean and for a share.

use super::distributions::{beta_quantile, central_t, central_z, count, float, two_sided_t};
use serde::Serialize;

/// A closed interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Interval {
    /// Lower end.
    pub low: f64,
    /// Upper end, never below `low`.
    pub high: f64,
}

impl Interval {
    /// Where shares lie.
    pub const SHARES: Self = Self { low: 0.0, high: 1.0 };
    /// Where differences of shares lie.
    pub const DIFFERENCES: Self = Self { low: -1.0, high: 1.0 };

    /// Whether a value lies in it, ends included.
    pub fn contains(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }

    /// Its part in `range`, in which it begins or ends.
    #[must_use]
    pub(crate) fn within(self, range: Self) -> Self {
        Self { low: self.low.clamp(range.low, range.high), high: self.high.clamp(range.low, range.high) }
    }
}

/// Wilson's score interval for the share `successes / n` (Wilson 1927), without continuity correction.
///
/// `level` is the coverage, such as 0.95. The interval is 0 to 1 without trials, and for a level outside 0 to 1. More
/// successes than trials count as `n`.
pub fn wilson(successes: u64, n: u64, level: f64) -> Interval {
    let Some(z) = central_z(level).filter(|_| n > 0) else { return Interval { low: 0.0, high: 1.0 } };
    let successes = successes.min(n);
    let trials = float(n);
    let share = float(successes) / trials;
    let z2 = z * z;
    let scale = 1.0 + z2 / trials;
    let centre = (share + z2 / (2.0 * trials)) / scale;
    let half = z * (share * (1.0 - share) / trials + z2 / (4.0 * trials * trials)).sqrt() / scale;
    // Exact where the formula would round.
    Interval {
        low: if successes == 0 { 0.0 } else { (centre - half).max(0.0) },
        high: if successes == n { 1.0 } else { (centre + half).min(1.0) },
    }
}

/// Clopper and Pearson's exact interval (1934) for the share `successes / n`.
///
/// Its coverage is never below the level, so it is wider than [`wilson`]. The edge cases are those of [`wilson`].
pub fn clopper_pearson(successes: u64, n: u64, level: f64) -> Interval {
    if n == 0 || !(level > 0.0 && level < 1.0) {
        return Interval { low: 0.0, high: 1.0 };
    }
    let successes = successes.min(n);
    let tail = (1.0 - level) / 2.0;
    // The share at which this many successes or more have the probability of a tail.
    let bound = |successes: u64| match successes {
        0 => 0.0,
        _ => beta_quantile(float(successes), float(n - successes) + 1.0, tail),
    };
    // Failures mirror successes.
    Interval { low: bound(successes), high: 1.0 - bound(n - successes) }
}

/// The interval with this half width; absent for numbers that are not finite.
fn around(mean: f64, half: f64) -> Option<Interval> {
    (mean.is_finite() && half.is_finite()).then_some(Interval { low: mean - half, high: mean + half })
}

/// The interval of the difference of two independent estimates, the first less the second, from their own intervals of one
/// level: the distances of the ends are added as squares (Zou, Donner 2008). Its level is about theirs.
pub fn independent_difference((a, of_a): (f64, Interval), (b, of_b): (f64, Interval)) -> Interval {
    let difference = a - b;
    Interval {
        low: difference - (a - of_a.low).hypot(of_b.high - b),
        high: difference + (of_a.high - a).hypot(b - of_b.low),
    }
}

/// A mean with its standard error.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Mean {
    /// The number of values, 1 or more.
    pub n: u64,
    /// Sum over number.
    pub mean: f64,
    /// Its standard error; absent for one value or one cluster.
    pub se: Option<f64>,
    /// Degrees of freedom: values, or clusters, less one.
    pub freedom: u64,
}

/// A t test of whether the mean is 0.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct TTest {
    pub t: f64,
    pub freedom: u64,
    /// Two-sided p.
    pub p: f64,
}

impl Mean {
    /// The mean of independent values: `se = √(Σ(x − x̄)² / (n − 1) / n)`. Absent without values, and if one is not finite.
    pub fn of(values: &[f64]) -> Option<Self> {
        let (n, mean) = mean_of(values)?;
        let se = (n > 1).then(|| {
            let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
            exactly_equal(values).map_or_else(|| (squares / float(n - 1) / float(n)).sqrt(), |_| 0.0)
        });
        Some(Self { n, mean, se, freedom: n.saturating_sub(1) }).filter(Self::is_finite)
    }

    /// The mean of values in clusters, as in [`Sums::of`]; without clusters that of independent values.
    ///
    /// `se = √(C / (C − 1) · Σ_c (Σ_{i in c} (x_i − x̄))²) / n`: Miller, "Adding error bars to evals" (2024), with the
    /// correction for few clusters. Absent as in [`Self::of`].
    pub fn clustered(values: &[f64], clusters: Option<&[usize]>) -> Option<Self> {
        if clusters.is_none() {
            return Self::of(values);
        }
        let (n, mean) = mean_of(values)?;
        let centred: Vec<f64> = values.iter().map(|value| value - mean).collect();
        let sums = Sums::of(&centred, clusters);
        let c = count(sums.sums().len());
        let se = (c > 1).then(|| {
            let squares: f64 = sums.iter().map(|(sum, _)| sum * sum).sum();
            exactly_equal(values).map_or_else(|| (float(c) / float(c - 1) * squares).sqrt() / float(n), |_| 0.0)
        });
        Some(Self { n, mean, se, freedom: c.saturating_sub(1) }).filter(Self::is_finite)
    }

    /// Student's t interval; absent without a standard error and for a level outside 0 to 1.
    pub fn t_interval(&self, level: f64) -> Option<Interval> {
        around(self.mean, central_t(level, self.freedom)? * self.se?)
    }

    /// The normal approximation of [`Self::t_interval`].
    pub fn z_interval(&self, level: f64) -> Option<Interval> {
        around(self.mean, central_z(level)? * self.se?)
    }

    /// The t test of whether the mean is 0; absent without a standard error, and if that is 0.
    pub fn t_test(&self) -> Option<TTest> {
        let t = self.mean / self.se.filter(|&se| se > 0.0)?;
        let p = two_sided_t(t, self.freedom);
        (t.is_finite() && p.is_finite()).then_some(TTest { t, freedom: self.freedom, p })
    }

    fn is_finite(&self) -> bool {
        self.mean.is_finite() && self.se.is_none_or(f64::is_finite)
    }
}

fn mean_of(values: &[f64]) -> Option<(u64, f64)> {
    let n = count(values.len());
    (n > 0).then(|| (n, values.iter().sum::<f64>() / float(n)))
}

/// The value that all are equal to: their spread is 0, even if rounding makes their mean another number.
fn exactly_equal(values: &[f64]) -> Option<f64> {
    let first = *values.first()?;
    #[expect(clippy::float_cmp, reason = "equal means equal")]
    values.iter().all(|&value| value == first).then_some(first)
}

/// Pearson's correlation of two columns of equal length; absent if one of them does not vary.
pub fn pearson(a: &[f64], b: &[f64]) -> Option<f64> {
    if a.len() != b.len() || exactly_equal(a).is_some() || exactly_equal(b).is_some() {
        return None;
    }
    let ((_, a_mean), (_, b_mean)) = (mean_of(a)?, mean_of(b)?);
    let (mut both, mut a_squares, mut b_squares) = (0.0, 0.0, 0.0);
    for (a, b) in a.iter().zip(b) {
        let (a, b) = (a - a_mean, b - b_mean);
        both += a * b;
        a_squares += a * a;
        b_squares += b * b;
    }
    let r: f64 = both / (a_squares.sqrt() * b_squares.sqrt());
    r.is_finite().then(|| r.clamp(-1.0, 1.0))
}

/// Sums of values by cluster, in the order in which the clusters first appear.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Sums {
    sums: Vec<f64>,
    sizes: Vec<f64>,
}

impl Sums {
    /// Sums values by cluster; `clusters[i]` is the cluster of `values[i]`, any number. Without clusters each value is one.
    pub fn of(values: &[f64], clusters: Option<&[usize]>) -> Self {
        let Some(clusters) = clusters else { return Self { sums: values.to_vec(), sizes: vec![1.0; values.len()] } };
        let mut found = Self::default();
        let mut rows = std::collections::HashMap::new();
        for (value, cluster) in values.iter().zip(clusters) {
            let row = *rows.entry(cluster).or_insert(found.sums.len());
            if row == found.sums.len() {
                found.sums.push(0.0);
                found.sizes.push(0.0);
            }
            found.sums[row] += value;
            found.sizes[row] += 1.0;
        }
        found
    }

    /// The sum of each cluster.
    pub fn sums(&self) -> &[f64] {
        &self.sums
    }

    /// Sum and size of each cluster.
    pub fn iter(&self) -> impl Iterator<Item = (f64, f64)> {
        self.sums.iter().copied().zip(self.sizes.iter().copied())
    }
}

#[cfg(test)]
mod tests {
    use super::{Interval, clopper_pearson, wilson};
    use proptest::prelude::*;

    #[test]
    fn edge_cases() {
        for interval in [wilson, clopper_pearson] {
            assert_eq!(interval(0, 0, 0.95), Interval { low: 0.0, high: 1.0 });
            assert_eq!(interval(3, 5, 1.0), Interval { low: 0.0, high: 1.0 });
            assert_eq!(interval(9, 5, 0.95), interval(5, 5, 0.95));
        }
    }

    proptest! {
        #[test]
        fn intervals_contain_the_share_and_are_symmetric(n in 1_u64..5000, k in 0_u64..5000) {
            let k = k.min(n);
            #[allow(clippy::cast_precision_loss, reason = "small counts")]
            let share = k as f64 / n as f64;
            for of in [wilson, clopper_pearson] {
                let interval = of(k, n, 0.95);
                prop_assert!(interval.contains(share) && interval.low >= 0.0 && interval.high <= 1.0);
                let mirrored = of(n - k, n, 0.95);
                prop_assert!((interval.low - (1.0 - mirrored.high)).abs() < 1e-12);
                let wider = of(k, n, 0.99);
                prop_assert!(wider.low <= interval.low && wider.high >= interval.high);
            }
        }
    }
}
