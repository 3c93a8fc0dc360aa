//! The power of a paired comparison: the number of questions it needs, and the smallest difference it detects.
//!
//! The usual normal approximation: `n = (z(1 − α/2) + z(power))² · ω² / δ²`, with ω² the variance of the differences
//! within a question and δ the difference of the means (Miller, "Adding error bars to evals", 2024).

use super::quantile::normal_quantile;

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
