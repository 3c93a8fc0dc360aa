//! `McNemar`'s test: do two variants differ in accuracy?

use super::quantile::{chi_square_tail, float};
use serde::Serialize;

/// `McNemar`'s test (1947), which counts the questions that only one of two variants answered right.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct McNemar {
    /// Questions that only the first variant answered right.
    pub only_a: u64,
    /// Questions that only the second variant answered right.
    pub only_b: u64,
    /// Two-sided exact p: twice the binomial tail at one half, at most 1.
    pub exact_p: f64,
    /// Two-sided mid-p (Fagerland et al. 2013): twice the tail, with half the probability of the observed counts; 1 if they
    /// are equal.
    pub mid_p: f64,
    /// Chi-square with Edwards' continuity correction; absent if both counts are 0.
    pub corrected: Option<ChiSquare>,
    /// Chi-square without correction; absent if both counts are 0.
    pub uncorrected: Option<ChiSquare>,
}

/// A statistic compared with the chi-square distribution.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ChiSquare {
    /// The statistic, 0 or more.
    pub statistic: f64,
    pub freedom: u64,
    /// Probability of a statistic at least this large.
    pub p: f64,
}

/// Up to this many questions binomial coefficients and their sums are exact in 128 bits.
const EXACT: u64 = 120;

impl McNemar {
    /// The test of differences of right and wrong answers: negative where only the first is right.
    pub fn of(differences: &[f64]) -> Self {
        let count = |of: fn(&f64) -> bool| differences.iter().filter(|value| of(value)).map(|_| 1).sum();
        Self::new(count(|value| *value < 0.0), count(|value| *value > 0.0))
    }

    /// The test for these counts; both p are 1 if both counts are 0, and 0 if they would be below about 1e-308.
    pub fn new(only_a: u64, only_b: u64) -> Self {
        let (fewer, n) = (only_a.min(only_b), only_a + only_b);
        // Twice the tail of a fair coin at `fewer` or less, and twice its last term.
        let (tail, last) = if n <= EXACT { exact_tail(fewer, n) } else { scaled_tail(fewer, n) };
        let equal = only_a == only_b;
        let chi_square = |distance: f64| {
            let statistic = distance * distance / float(n);
            (n > 0).then(|| Some(ChiSquare { statistic, freedom: 1, p: chi_square_tail(statistic, 1)? })).flatten()
        };
        let distance = float(only_a.abs_diff(only_b));
        Self {
            only_a,
            only_b,
            exact_p: if equal { 1.0 } else { tail.min(1.0) },
            mid_p: if equal { 1.0 } else { (tail - last / 2.0).min(1.0) },
            corrected: chi_square(distance - 1.0),
            uncorrected: chi_square(distance),
        }
    }
}

/// In integers, rounded once.
fn exact_tail(k: u64, n: u64) -> (f64, f64) {
    let (mut term, mut sum) = (1_u128, 1_u128);
    for i in 0..k {
        term = term * u128::from(n - i) / u128::from(i + 1);
        sum += term;
    }
    #[expect(clippy::cast_precision_loss, reason = "this is the one rounding")]
    let scaled = |whole: u128| 2.0 * (whole as f64) / 2.0_f64.powi(i32::try_from(n).unwrap_or(i32::MAX));
    (scaled(sum), scaled(term))
}

/// Relative to the middle term, which avoids overflow and logarithms.
fn scaled_tail(k: u64, n: u64) -> (f64, f64) {
    let middle = n / 2;
    let (mut term, mut below, mut last) = (1.0, 0.0, 0.0);
    let mut all = 0.0;
    // Down from the middle: C(n, i − 1) / C(n, i) = i / (n − i + 1).
    for i in (0..=middle).rev() {
        all += term;
        if i <= k {
            below += term;
        }
        if i == k {
            last = term;
        }
        term *= float(i) / float(n - i + 1);
        if term == 0.0 {
            break;
        }
    }
    // The other half is symmetric; an even n has one middle term.
    let whole = if n.is_multiple_of(2) { 2.0 * all - 1.0 } else { 2.0 * all };
    (2.0 * below / whole, 2.0 * last / whole)
}
