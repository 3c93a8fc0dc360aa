//! Means and differences of paired values, questions independent or in clusters.

use super::Unit;
use super::comparison::MethodInterval;
use crate::stats::{Bootstrap, Interval, Mean, Permutation, Sums, permutation, permutation_resampled, wilson};

/// The clusters of values, where there are any.
pub(super) type Clusters<'a> = Option<&'a [usize]>;

/// The mean of values, with a standard error that minds clusters.
pub(super) fn mean(values: &[f64], clusters: Clusters<'_>) -> Option<Mean> {
    match clusters {
        None => Mean::of(values),
        Some(clusters) => Mean::clustered(values, clusters),
    }
}

/// The interval of one column's mean: Wilson's for right and wrong, else Student's, which is cut at 0 and 1 for shares.
pub(super) fn mean_interval(
    values: &[f64],
    clusters: Clusters<'_>,
    binary: bool,
    unit: Unit,
    level: f64,
) -> Option<MethodInterval> {
    if binary && clusters.is_none() {
        let right = values.iter().filter(|value| **value > 0.0).count();
        let (right, n) = (u64::try_from(right).ok()?, u64::try_from(values.len()).ok().filter(|n| *n > 0)?);
        return Some(named("wilson", level, wilson(right, n, level)));
    }
    let interval = t_interval(values, clusters, level)?;
    Some(match unit {
        Unit::Share => MethodInterval { low: interval.low.max(0.0), high: interval.high.min(1.0), ..interval },
        Unit::Amount => interval,
    })
}

/// Student's interval of a mean.
pub(super) fn t_interval(values: &[f64], clusters: Clusters<'_>, level: f64) -> Option<MethodInterval> {
    let method = if clusters.is_some() { "cluster t" } else { "t" };
    Some(named(method, level, mean(values, clusters)?.t_interval(level)?))
}

/// The same with the normal quantile.
pub(super) fn z_interval(values: &[f64], clusters: Clusters<'_>, level: f64) -> Option<MethodInterval> {
    let method = if clusters.is_some() { "cluster z" } else { "z" };
    Some(named(method, level, mean(values, clusters)?.z_interval(level)?))
}

/// The bootstrap of a mean, of questions or of clusters.
pub(super) fn bootstrap(
    values: &[f64],
    clusters: Clusters<'_>,
    level: f64,
    resamples: usize,
    seed: u64,
) -> Option<Bootstrap> {
    match clusters {
        None => Bootstrap::of(values, level, resamples, seed),
        Some(clusters) => Bootstrap::clustered(values, clusters, level, resamples, seed),
    }
}

/// The interval of a bootstrap.
pub(super) fn bootstrap_interval(bootstrap: &Bootstrap, clusters: Clusters<'_>) -> MethodInterval {
    let method = if clusters.is_some() { "cluster bootstrap" } else { "bootstrap" };
    named(method, bootstrap.level, bootstrap.interval)
}

/// The sign-flip test, of questions or of whole clusters.
pub(super) fn sign_flips(values: &[f64], clusters: Clusters<'_>, resamples: usize, seed: u64) -> Option<Permutation> {
    match clusters {
        None => permutation(values, resamples, seed),
        Some(clusters) => permutation(Sums::of(values, clusters).sums(), resamples, seed),
    }
}

/// The same by random signs, however few the differences.
pub(super) fn sampled_flips(
    values: &[f64],
    clusters: Clusters<'_>,
    resamples: usize,
    seed: u64,
) -> Option<Permutation> {
    match clusters {
        None => permutation_resampled(values, resamples, seed),
        Some(clusters) => permutation_resampled(Sums::of(values, clusters).sums(), resamples, seed),
    }
}

/// Every interval of one column's mean, as the formulas give them.
pub(super) fn mean_intervals(values: &[f64], clusters: Clusters<'_>, binary: bool, level: f64) -> Vec<MethodInterval> {
    let wilson =
        mean_interval(values, clusters, binary, Unit::Amount, level).filter(|interval| interval.method == "wilson");
    let (t, z) = (t_interval(values, clusters, level), z_interval(values, clusters, level));
    [wilson, t, z].into_iter().flatten().collect()
}

fn named(method: &'static str, level: f64, interval: Interval) -> MethodInterval {
    MethodInterval { method, level, low: interval.low, high: interval.high }
}
