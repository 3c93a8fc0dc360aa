//! Corrections for multiple tests. Each takes p values and returns the corrected ones in the same order.

use super::quantile::{count, float};

/// Bonferroni's: each p times their number, at most 1. Controls the probability of any false finding.
pub fn bonferroni(p: &[f64]) -> Vec<f64> {
    let m = float(count(p.len()));
    p.iter().map(|p| (p * m).min(1.0)).collect()
}

/// Holm's (1979): the smallest p times m, the next times m − 1, and so on, none smaller than the one before it.
/// Controls the same probability as Bonferroni's, and is never less powerful.
pub fn holm(p: &[f64]) -> Vec<f64> {
    let mut corrected = vec![1.0; p.len()];
    let mut least: f64 = 0.0;
    for (at, left) in ascending(p).into_iter().zip((1..=count(p.len())).rev()) {
        least = least.max((p[at] * float(left)).min(1.0));
        corrected[at] = least;
    }
    corrected
}

/// Benjamini and Hochberg's (1995): controls the expected share of false findings among all.
pub fn benjamini_hochberg(p: &[f64]) -> Vec<f64> {
    let m = count(p.len());
    let mut corrected = vec![1.0; p.len()];
    let mut most: f64 = 1.0;
    for (at, rank) in ascending(p).into_iter().rev().zip((1..=m).rev()) {
        most = most.min(p[at] * float(m) / float(rank));
        corrected[at] = most;
    }
    corrected
}

fn ascending(p: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|a, b| p[*a].total_cmp(&p[*b]));
    order
}
