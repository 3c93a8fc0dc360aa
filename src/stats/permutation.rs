//! The sign-flip permutation test of paired differences.

use super::quantile::{count, float};
use super::rng::SplitMix64;
use serde::Serialize;

/// A sign-flip permutation test (Fisher 1935): if the variants were equal, each difference could as well have the other
/// sign.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Permutation {
    /// Two-sided p, above 0 and at most 1.
    pub p: f64,
    /// Sign patterns whose mean is at least as far from 0 as the observed mean.
    pub at_least: u64,
    /// Sign patterns tried: all of them, or the resamples.
    pub patterns: u64,
    /// Seed of the resamples; absent if all patterns were enumerated, which makes p exact.
    pub seed: Option<u64>,
}

/// Up to this many differences other than 0 all sign patterns are enumerated.
pub const ENUMERATED: usize = 20;

/// The test for these differences (or sums of whole clusters): exact for up to [`ENUMERATED`] that are not 0, else by
/// [`permutation_resampled`]. Absent without differences or resamples, and if a difference is not finite.
pub fn permutation(differences: &[f64], resamples: usize, seed: u64) -> Option<Permutation> {
    let varying = differences.iter().filter(|value| **value != 0.0).count();
    if varying <= ENUMERATED {
        permutation_exact(differences)
    } else {
        permutation_resampled(differences, resamples, seed)
    }
}

/// The test over all sign patterns; absent as in [`permutation`], and for more than [`ENUMERATED`] differences.
pub fn permutation_exact(differences: &[f64]) -> Option<Permutation> {
    let bar = bar(differences)?;
    let varying: Vec<f64> = differences.iter().copied().filter(|value| *value != 0.0).collect();
    if varying.len() > ENUMERATED {
        return None;
    }
    let (first, second) = varying.split_at(varying.len() / 2);
    let (first, second) = (signed_sums(first), signed_sums(second));
    let far = |one: &f64| second.iter().filter(|other| (one + **other).abs() >= bar).count();
    let at_least = count(first.iter().map(far).sum());
    let patterns = 1 << varying.len();
    Some(Permutation { p: float(at_least) / float(patterns), at_least, patterns, seed: None })
}

/// The test over random sign patterns: `p = (1 + at_least) / (1 + resamples)`; absent as in [`permutation`].
///
/// Draws one number of [`SplitMix64`] per difference in order, including those of 0; its top bit flips the sign.
pub fn permutation_resampled(differences: &[f64], resamples: usize, seed: u64) -> Option<Permutation> {
    let bar = bar(differences).filter(|_| resamples > 0)?;
    // A 0 has no sign, but takes up a number of the sequence.
    let varying: Vec<(u64, u64)> =
        (0..).zip(differences).filter(|(_, value)| **value != 0.0).map(|(i, value)| (i, value.to_bits())).collect();
    let mut rng = SplitMix64::new(seed);
    let mut at_least = 0;
    for _ in 0..resamples {
        let flipped = |&(place, bits): &(u64, u64)| f64::from_bits(bits ^ (rng.peek(place) & (1 << 63)));
        let sum: f64 = varying.iter().map(flipped).sum();
        at_least += u64::from(sum.abs() >= bar);
        rng.skip(count(differences.len()));
    }
    let patterns = count(resamples);
    Some(Permutation { p: float(at_least + 1) / float(patterns + 1), at_least, patterns, seed: Some(seed) })
}

/// The sum that a pattern must reach: the observed one, less a margin for rounding.
fn bar(differences: &[f64]) -> Option<f64> {
    let sum: f64 = differences.iter().sum();
    let size: f64 = differences.iter().map(|value| value.abs()).sum();
    (!differences.is_empty() && size.is_finite()).then(|| sum.abs() - 1e-12 * size)
}

/// The sums of all sign patterns.
fn signed_sums(values: &[f64]) -> Vec<f64> {
    let mut sums = vec![0.0];
    for value in values {
        let flipped: Vec<f64> = sums.iter().map(|sum| sum - value).collect();
        for sum in &mut sums {
            *sum += value;
        }
        sums.extend(flipped);
    }
    sums
}
