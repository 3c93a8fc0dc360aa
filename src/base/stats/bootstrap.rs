//! The bootstrap of a mean, of questions or of whole clusters.

use super::distributions::{count, float};
use super::rng::SplitMix64;
use super::{Interval, Mean, Sums};
use serde::Serialize;

/// A bootstrap of a mean (Efron 1979): percentile interval, standard error, p.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Bootstrap {
    /// Percentile interval (linear interpolation, type 7 of Hyndman and Fan 1996).
    pub interval: Interval,
    pub level: f64,
    /// Standard deviation of the resampled means (divided by resamples less one); absent for one resample.
    pub se: Option<f64>,
    /// Two-sided p: `(1 + far) / (1 + resamples)`, where far counts the resampled means at least as far from the observed
    /// mean as that is from 0.
    pub p: f64,
    /// Share of resampled means that are 0 or less.
    pub share_at_most_0: f64,
    pub resamples: u64,
    pub seed: u64,
}

/// Resampled means of these values: for each resample as many indices of [`SplitMix64::below`] as there are values.
pub fn resampled_means(values: &[f64], resamples: usize, seed: u64) -> Vec<f64> {
    let (n, mut rng) = (count(values.len()), SplitMix64::new(seed));
    let mut mean = || (0..n).map(|_| values[index(rng.below(n))]).sum::<f64>() / float(n);
    (0..resamples).map(|_| mean()).collect()
}

/// Resampled means over whole clusters: each resample draws as many clusters as there are and averages all their values
/// (the pairs cluster bootstrap of Cameron, Gelbach and Miller 2008).
pub fn resampled_cluster_means(clusters: &Sums, resamples: usize, seed: u64) -> Vec<f64> {
    let (c, mut rng) = (count(clusters.sums().len()), SplitMix64::new(seed));
    let clusters: Vec<(f64, f64)> = clusters.iter().collect();
    let mut mean = || {
        let drawn = (0..c).map(|_| clusters[index(rng.below(c))]);
        let (sum, n) = drawn.fold((0.0, 0.0), |(sum, n), (more, size)| (sum + more, n + size));
        sum / n
    };
    (0..resamples).map(|_| mean()).collect()
}

impl Bootstrap {
    /// The bootstrap of independent values. Absent without values or resamples, if a value is not finite, and for a level
    /// outside 0 to 1.
    pub fn of(values: &[f64], level: f64, resamples: usize, seed: u64) -> Option<Self> {
        let mean = Mean::of(values)?.mean;
        Self::from_means(mean, resampled_means(values, resamples, seed), level, seed)
    }

    /// The bootstrap of values in clusters, which are numbered as in [`Mean::clustered`]; absent as in [`Self::of`].
    pub fn clustered(values: &[f64], clusters: &[usize], level: f64, resamples: usize, seed: u64) -> Option<Self> {
        let mean = Mean::of(values)?.mean;
        let sums = Sums::of(values, clusters);
        Self::from_means(mean, resampled_cluster_means(&sums, resamples, seed), level, seed)
    }

    fn from_means(observed: f64, mut means: Vec<f64>, level: f64, seed: u64) -> Option<Self> {
        let resamples = count(means.len());
        if resamples == 0 || !(level > 0.0 && level < 1.0) {
            return None;
        }
        // Rounding must not hide a mean that is exactly as far as the observed one.
        let slack = 1e-12 * observed.abs();
        let far = count(means.iter().filter(|mean| (**mean - observed).abs() >= observed.abs() - slack).count());
        let at_most_0 = count(means.iter().filter(|mean| **mean <= 0.0).count());
        let spread = Mean::of(&means)?.se.map(|se| se * float(resamples).sqrt());
        means.sort_unstable_by(f64::total_cmp);
        let tail = (1.0 - level) / 2.0;
        Some(Self {
            interval: Interval { low: quantile(&means, tail)?, high: quantile(&means, 1.0 - tail)? },
            level,
            se: spread,
            p: float(far + 1) / float(resamples + 1),
            share_at_most_0: float(at_most_0) / float(resamples),
            resamples,
            seed,
        })
    }
}

/// A quantile of sorted values by linear interpolation: position `share · (n − 1)`, from 0.
pub fn quantile(sorted: &[f64], share: f64) -> Option<f64> {
    let position = share.clamp(0.0, 1.0) * float(count(sorted.len()).checked_sub(1)?);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a position in the slice")]
    let below = position.floor() as usize;
    let low = *sorted.get(below)?;
    let high = sorted.get(below + 1).copied().unwrap_or(low);
    Some(low + (position - position.floor()) * (high - low))
}

#[expect(clippy::cast_possible_truncation, reason = "an index below the length of a slice")]
fn index(drawn: u64) -> usize {
    drawn as usize
}
