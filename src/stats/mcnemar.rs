//! `McNemar`'s test of two columns of right and wrong.

use super::quantile::{chi_square_tail, float};
use serde::Serialize;

/// `McNemar`'s test (1947): only the questions that one column has right and the other wrong say anything.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct McNemar {
    /// Questions right in the first column only.
    pub only_a: u64,
    /// Questions right in the second column only.
    pub only_b: u64,
    /// Two-sided exact p: twice the binomial tail at one half, at most 1.
    pub exact_p: f64,
    /// Two-sided mid-p (Fagerland et al. 2013): twice the tail, with half the probability of what was observed; 1 where
    /// both counts are equal.
    pub mid_p: f64,
    /// Chi-square with Edwards' continuity correction; absent where the columns never differ.
    pub corrected: Option<ChiSquare>,
    /// Chi-square without correction; absent where the columns never differ.
    pub uncorrected: Option<ChiSquare>,
}

/// A statistic that is held against the chi-square distribution.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ChiSquare {
    /// The statistic, 0 or more.
    pub statistic: f64,
    /// Degrees of freedom.
    pub freedom: u64,
    /// Probability of so large a statistic.
    pub p: f64,
}

/// Questions up to which binomial coefficients and their sums are exact in 128 bits.
const EXACT: u64 = 120;

impl McNemar {
    /// The test for these counts. Where the columns never differ both p are 1.
    ///
    /// Below about 1e-308, which takes more than a thousand discordant questions all on one side, p is 0.
    pub fn new(only_a: u64, only_b: u64) -> Self {
        let (fewer, n) = (only_a.min(only_b), only_a + only_b);
        // A fair coin's tail of `fewer` or less, and its last term, both doubled.
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

/// In whole numbers, rounded once.
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

/// Each term relative to the middle one, so that nothing overflows and no logarithm is taken.
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
    // The other half mirrors this one; an even n has its middle term once.
    let whole = if n.is_multiple_of(2) { 2.0 * all - 1.0 } else { 2.0 * all };
    (2.0 * below / whole, 2.0 * last / whole)
}
