//! Wilcoxon's signed-rank test of paired differences.

use super::quantile::{count, float, two_sided_z};
use serde::Serialize;

/// Wilcoxon's signed-rank test (1945) by the normal approximation, with midranks for ties.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Wilcoxon {
    /// The smaller sum of ranks.
    pub w: f64,
    /// The number of differences other than 0.
    pub n: u64,
    /// Two-sided p, without continuity correction.
    pub p: f64,
}

/// The test without differences of 0. Absent if none are left, and if a difference is not finite.
///
/// `z = (w − n(n + 1)/4) / √((n(n + 1)(2n + 1) − Σ(t³ − t)/2) / 24)` with t the sizes of the ties.
pub fn wilcoxon(differences: &[f64]) -> Option<Wilcoxon> {
    if differences.iter().any(|value| !value.is_finite()) {
        return None;
    }
    let mut ranked: Vec<f64> = differences.iter().copied().filter(|value| *value != 0.0).collect();
    ranked.sort_unstable_by(|a, b| a.abs().total_cmp(&b.abs()));
    let (mut positive, mut negative, mut ties, mut before) = (0.0, 0.0, 0.0, 0_usize);
    #[expect(clippy::float_cmp, reason = "a tie is an equal number")]
    for tied in ranked.chunk_by(|a, b| a.abs() == b.abs()) {
        let t = float(count(tied.len()));
        let rank = float(count(before)) + f64::midpoint(t, 1.0);
        let above = float(count(tied.iter().filter(|value| **value > 0.0).count()));
        positive += above * rank;
        negative += (t - above) * rank;
        ties += t * t * t - t;
        before += tied.len();
    }
    let n = float(count(ranked.len()));
    let w = f64::min(positive, negative);
    let variance = (n * (n + 1.0) * (2.0 * n + 1.0) - ties / 2.0) / 24.0;
    let z = (w - n * (n + 1.0) / 4.0) / variance.sqrt();
    Some(Wilcoxon { w, n: count(ranked.len()), p: two_sided_z(z).filter(|_| variance > 0.0)? })
}
