//! Quantiles and tails of distributions.

use super::beta::{beta_kernel, incomplete_beta};
use statrs::distribution::{ContinuousCDF, Normal, StudentsT};
use statrs::function::gamma::checked_gamma_ur;

/// The standard normal quantile of `share`; absent outside 0 to 1.
pub fn normal_quantile(share: f64) -> Option<f64> {
    (share > 0.0 && share < 1.0).then(|| Normal::standard().inverse_cdf(share))
}

/// The upper end of the central interval of Student's t; absent for a level outside 0 to 1 and for 0 degrees of freedom.
pub(super) fn central_t(level: f64, freedom: u64) -> Option<f64> {
    let nu = float(freedom);
    let share = upper_tail(level)?;
    let mut t = StudentsT::new(0.0, 1.0, nu).ok()?.inverse_cdf(share);
    // The library's inverse has few digits; Newton's method gives the rest.
    for _ in 0..3 {
        let (x, y) = (nu / (nu + t * t), t * t / (nu + t * t));
        let slope = -2.0 / t * beta_kernel(nu / 2.0, 0.5, x, y);
        let step = (two_sided_t(t, freedom) - (1.0 - level)) / slope;
        if !step.is_finite() {
            break;
        }
        t -= step;
    }
    Some(t)
}

/// The upper end of the central interval of the standard normal; absent for a level outside 0 to 1.
pub(super) fn central_z(level: f64) -> Option<f64> {
    normal_quantile(upper_tail(level)?)
}

/// Probability that Student's t is at least as far from 0.
pub(super) fn two_sided_t(t: f64, freedom: u64) -> f64 {
    let nu = float(freedom);
    let square = t * t;
    incomplete_beta(nu / 2.0, 0.5, nu / (nu + square), square / (nu + square))
}

/// Probability that a standard normal is at least as far from 0, as the chi-square tail of the square: the library's error
/// function has only ten digits.
pub(super) fn two_sided_z(z: f64) -> Option<f64> {
    chi_square_tail(z * z, 1)
}

/// Probability of a chi-square at least this large; absent if not finite and for 0 degrees of freedom.
pub(super) fn chi_square_tail(statistic: f64, freedom: u64) -> Option<f64> {
    if statistic == 0.0 && freedom > 0 {
        return Some(1.0);
    }
    checked_gamma_ur(float(freedom) / 2.0, statistic / 2.0).ok().filter(|p| p.is_finite())
}

/// The probability below the upper end of a central interval.
fn upper_tail(level: f64) -> Option<f64> {
    (level > 0.0 && level < 1.0).then_some(1.0 - (1.0 - level) / 2.0)
}

#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
pub(super) fn float(n: u64) -> f64 {
    n as f64
}

pub(super) fn count(n: usize) -> u64 {
    u64::try_from(n).unwrap_or(u64::MAX)
}
