//! Confidence intervals for one run.

use serde::Serialize;
use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

/// An interval, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Interval {
    /// Lower end.
    pub low: f64,
    /// Upper end, never below `low`.
    pub high: f64,
}

impl Interval {
    /// Half its width: the `±` beside an estimate.
    pub fn half_width(&self) -> f64 {
        (self.high - self.low) / 2.0
    }

    /// Whether the value lies in it.
    pub fn contains(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }
}

/// Wilson's score interval for the share `successes / n` (Wilson 1927), without continuity correction.
///
/// `level` is the coverage, such as 0.95. Without a trial nothing is known, and the interval is all of
/// `0.0..=1.0`; so it is for a level that is no share between 0 and 1. More successes than trials count as `n`.
pub fn wilson(successes: u64, n: u64, level: f64) -> Interval {
    let Some(z) = normal_quantile(level).filter(|_| n > 0) else { return Interval { low: 0.0, high: 1.0 } };
    let successes = successes.min(n);
    let trials = float(n);
    let share = float(successes) / trials;
    let z2 = z * z;
    let scale = 1.0 + z2 / trials;
    let centre = (share + z2 / (2.0 * trials)) / scale;
    let half = z * (share * (1.0 - share) / trials + z2 / (4.0 * trials * trials)).sqrt() / scale;
    // At the ends the formula gives 0 and 1 but for rounding.
    Interval {
        low: if successes == 0 { 0.0 } else { (centre - half).max(0.0) },
        high: if successes == n { 1.0 } else { (centre + half).min(1.0) },
    }
}

/// Student's t interval for a mean: `mean ± t(level, n - 1) · √(variance / n)`.
///
/// `variance` is the sample variance (divided by `n - 1`). Absent below two values, for a level that is no share
/// between 0 and 1, and for numbers that are not finite.
pub fn mean_interval(mean: f64, variance: f64, n: u64, level: f64) -> Option<Interval> {
    let upper = upper_tail(level)?;
    let t = StudentsT::new(0.0, 1.0, float(n.checked_sub(1).filter(|&freedom| freedom > 0)?)).ok()?;
    around(mean, t.inverse_cdf(upper), variance, n)
}

/// [`mean_interval`] with the normal quantile in place of Student's, as large samples have it.
pub fn normal_mean_interval(mean: f64, variance: f64, n: u64, level: f64) -> Option<Interval> {
    if n < 2 {
        return None;
    }
    around(mean, normal_quantile(level)?, variance, n)
}

/// [`mean_interval`] of these values.
pub fn mean_interval_of(values: &[f64], level: f64) -> Option<Interval> {
    let n = u64::try_from(values.len()).ok().filter(|&n| n > 1)?;
    let mean = values.iter().sum::<f64>() / float(n);
    let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
    mean_interval(mean, squares / float(n - 1), n, level)
}

fn around(mean: f64, quantile: f64, variance: f64, n: u64) -> Option<Interval> {
    let half = quantile * (variance / float(n)).sqrt();
    (mean.is_finite() && half.is_finite()).then_some(Interval { low: mean - half, high: mean + half })
}

/// The probability below the upper end of a central interval of that coverage.
fn upper_tail(level: f64) -> Option<f64> {
    (level > 0.0 && level < 1.0).then_some(1.0 - (1.0 - level) / 2.0)
}

fn normal_quantile(level: f64) -> Option<f64> {
    Some(Normal::standard().inverse_cdf(upper_tail(level)?))
}

#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
fn float(n: u64) -> f64 {
    n as f64
}

#[cfg(test)]
mod tests {
    use super::{Interval, mean_interval, mean_interval_of, normal_mean_interval, wilson};
    use crate::stats::shared;
    use proptest::prelude::*;
    use serde::Deserialize;
    use std::collections::BTreeMap;

    #[derive(Deserialize)]
    struct Vectors {
        wilson_table: Vec<Row>,
        cases: BTreeMap<String, Case>,
    }

    #[derive(Deserialize)]
    struct Row {
        k: u64,
        n: u64,
        lo: f64,
        hi: f64,
    }

    #[derive(Deserialize)]
    struct Case {
        f1_a: Vec<f64>,
        em_a: Vec<f64>,
        em_a_n_correct: u64,
        em_a_ci95_wilson: [f64; 2],
        em_a_ci95_t: [f64; 2],
        f1_a_ci95_t: [f64; 2],
        f1_a_ci95_z: [f64; 2],
        f1_a_mean: f64,
        f1_a_se_ddof1: f64,
    }

    #[track_caller]
    fn close(got: Interval, expected: [f64; 2]) {
        for (got, expected) in [(got.low, expected[0]), (got.high, expected[1])] {
            assert!((got - expected).abs() <= 1e-12 * expected.abs(), "{got:e} is not {expected:e}");
        }
    }

    fn vectors() -> Option<Vectors> {
        shared::text("golden/scoring/stats_vectors.json").map(|text| serde_json::from_str(&text).expect("vectors"))
    }

    #[test]
    fn wilson_is_that_of_statsmodels() {
        let Some(vectors) = vectors() else { return };
        assert!(!vectors.wilson_table.is_empty());
        for row in &vectors.wilson_table {
            close(wilson(row.k, row.n, 0.95), [row.lo, row.hi]);
        }
        for case in vectors.cases.values() {
            close(wilson(case.em_a_n_correct, case.em_a.len() as u64, 0.95), case.em_a_ci95_wilson);
        }
    }

    #[test]
    fn mean_intervals_are_those_of_scipy() {
        let Some(vectors) = vectors() else { return };
        assert_eq!(vectors.cases.len(), 2);
        for case in vectors.cases.values() {
            close(mean_interval_of(&case.em_a, 0.95).expect("an interval"), case.em_a_ci95_t);
            close(mean_interval_of(&case.f1_a, 0.95).expect("an interval"), case.f1_a_ci95_t);
            let n = case.f1_a.len() as u64;
            #[allow(clippy::cast_precision_loss, reason = "small counts")]
            let variance = case.f1_a_se_ddof1.powi(2) * n as f64;
            close(normal_mean_interval(case.f1_a_mean, variance, n, 0.95).expect("an interval"), case.f1_a_ci95_z);
        }
    }

    #[test]
    fn too_little_gives_no_interval() {
        assert_eq!(wilson(0, 0, 0.95), Interval { low: 0.0, high: 1.0 });
        assert_eq!(wilson(3, 5, 1.0), Interval { low: 0.0, high: 1.0 });
        assert_eq!(wilson(9, 5, 0.95), wilson(5, 5, 0.95));
        assert_eq!(mean_interval_of(&[0.5], 0.95), None);
        assert_eq!(mean_interval_of(&[], 0.95), None);
        assert_eq!(mean_interval(0.5, f64::NAN, 9, 0.95), None);
        assert_eq!(mean_interval(0.5, 0.1, 9, 0.0), None);
        assert_eq!(normal_mean_interval(0.5, 0.1, 1, 0.95), None);
        assert_eq!(mean_interval_of(&[0.25, 0.25], 0.95), Some(Interval { low: 0.25, high: 0.25 }));
    }

    proptest! {
        #[test]
        fn wilson_holds_the_share_and_mirrors(n in 1_u64..5000, k in 0_u64..5000) {
            let k = k.min(n);
            let interval = wilson(k, n, 0.95);
            #[allow(clippy::cast_precision_loss, reason = "small counts")]
            let share = k as f64 / n as f64;
            prop_assert!(interval.contains(share) && interval.low >= 0.0 && interval.high <= 1.0);
            let mirrored = wilson(n - k, n, 0.95);
            prop_assert!((interval.low - (1.0 - mirrored.high)).abs() < 1e-12);
            prop_assert!(wilson(k, n, 0.99).half_width() >= interval.half_width());
        }
    }
}
