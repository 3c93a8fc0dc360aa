//! What a paired comparison can show: questions and the smallest difference, before or after the money is spent.
//!
//! The usual normal approximation: `n = (z(1 − α/2) + z(power))² · ω² / δ²`, with ω² the variance of the differences
//! within a question and δ the difference of the means (Miller, "Adding error bars to evals", 2024).

use super::quantile::normal_quantile;

/// Questions, in general not whole, at which a difference of that size is found with that power by a two-sided test at
/// alpha.
///
/// Absent for a difference of 0, a negative variance, and shares outside 0 to 1.
pub fn questions_needed(variance: f64, difference: f64, alpha: f64, power: f64) -> Option<f64> {
    let n = reach(alpha, power)?.powi(2) * variance / (difference * difference);
    (n.is_finite() && variance >= 0.0).then_some(n)
}

/// The smallest difference that n questions show with that power; the inverse of [`questions_needed`].
///
/// Absent without a question, for a negative variance, and for shares outside 0 to 1.
pub fn smallest_difference(variance: f64, n: f64, alpha: f64, power: f64) -> Option<f64> {
    let difference = reach(alpha, power)? * (variance / n).sqrt();
    (difference.is_finite() && n > 0.0).then_some(difference)
}

/// Variance of the differences of two columns of right and wrong: `d − δ²`, where d is the share of questions that only
/// one of them has right.
///
/// Absent where no two columns have these: the difference is never larger than the share.
pub fn discordant_variance(share: f64, difference: f64) -> Option<f64> {
    let possible = (0.0..=1.0).contains(&share) && difference.abs() <= share;
    possible.then_some(share - difference * difference)
}

/// Standard errors between nothing and a difference that is found; a power so small that chance has it is none.
fn reach(alpha: f64, power: f64) -> Option<f64> {
    let reach = normal_quantile(1.0 - alpha / 2.0)? + normal_quantile(power)?;
    (alpha > 0.0 && alpha < 1.0 && reach > 0.0).then_some(reach)
}
