//! Means and differences of paired values, questions independent or in clusters.

use super::Settings;
use super::comparison::MethodInterval;
use crate::stats::{Bootstrap, Interval, Mean, Moments, Permutation, Sums, permutation_resampled, wilson};

/// One value per question: those of a variant, or the differences of two.
#[derive(Clone, Copy)]
pub(super) struct Sample<'a> {
    pub(super) values: &'a [f64],
    /// The cluster of each question, if questions share any.
    pub(super) clusters: Option<&'a [usize]>,
}

impl Sample<'_> {
    /// The mean, with a standard error that accounts for clusters.
    pub(super) fn mean(self) -> Option<Mean> {
        match self.clusters {
            None => Mean::of(self.values),
            Some(clusters) => Mean::clustered(self.values, clusters),
        }
    }

    /// Wilson's interval of right and wrong answers that are independent.
    fn wilson(self, level: f64) -> Option<MethodInterval> {
        let right = self.values.iter().filter(|value| **value > 0.0).count();
        let (right, n) = (u64::try_from(right).ok()?, u64::try_from(self.values.len()).ok()?);
        (n > 0 && self.clusters.is_none()).then(|| named("wilson", level, wilson(right, n, level)))
    }

    /// The interval of a variant's mean: Wilson's for right and wrong, the padded one for other values that have a range, else
    /// Student's.
    pub(super) fn mean_interval(self, binary: bool, range: Option<Interval>, level: f64) -> Option<MethodInterval> {
        match range {
            _ if binary && self.clusters.is_none() => self.wilson(level),
            Some(range) => self.padded_interval(range, level),
            None => self.t_interval(level),
        }
    }

    /// The same of differences without a test; of a figure without bounds, the two more questions have the largest difference.
    pub(super) fn difference_interval(self, range: Option<Interval>, level: f64) -> Option<MethodInterval> {
        let Some(range) = range else {
            let interval = Moments::of(&self.units()).uncut_interval(self.units().widest(), level)?;
            return Some(named(self.method("padded t", "cluster padded t"), level, interval));
        };
        self.padded_interval(range, level)
    }

    /// Student's interval with one more question, or cluster, at each end of the range.
    pub(super) fn padded_interval(self, range: Interval, level: f64) -> Option<MethodInterval> {
        let interval = Moments::of(&self.units()).padded_interval(range, level).filter(|_| !self.values.is_empty())?;
        Some(named(self.method("padded t", "cluster padded t"), level, interval))
    }

    /// Every interval of a variant's mean, as the formulas give them.
    pub(super) fn mean_intervals(self, binary: bool, level: f64) -> Vec<MethodInterval> {
        let wilson = if binary { self.wilson(level) } else { None };
        [wilson, self.t_interval(level), self.z_interval(level)].into_iter().flatten().collect()
    }

    pub(super) fn t_interval(self, level: f64) -> Option<MethodInterval> {
        Some(named(self.method("t", "cluster t"), level, self.mean()?.t_interval(level)?))
    }

    /// The same with the normal quantile.
    pub(super) fn z_interval(self, level: f64) -> Option<MethodInterval> {
        Some(named(self.method("z", "cluster z"), level, self.mean()?.z_interval(level)?))
    }

    /// The bootstrap of the mean, over questions or clusters.
    pub(super) fn bootstrap(self, settings: &Settings) -> Option<Bootstrap> {
        let Settings { level, resamples, seed, .. } = *settings;
        match self.clusters {
            None => Bootstrap::of(self.values, level, resamples, seed),
            Some(clusters) => Bootstrap::clustered(self.values, clusters, level, resamples, seed),
        }
    }

    pub(super) fn bootstrap_interval(self, drawn: &Bootstrap) -> MethodInterval {
        named(self.method("bootstrap", "cluster bootstrap"), drawn.level, drawn.interval)
    }

    /// The sign-flip test of questions or of whole clusters by random signs, even where there are few differences.
    pub(super) fn sampled_flips(self, settings: &Settings) -> Option<Permutation> {
        let test = |values: &[f64]| permutation_resampled(values, settings.resamples, settings.seed);
        match self.clusters {
            None => test(self.values),
            Some(clusters) => test(Sums::of(self.values, clusters).sums()),
        }
    }

    fn units(self) -> Sums {
        self.clusters.map_or_else(|| Sums::alone(self.values), |clusters| Sums::of(self.values, clusters))
    }

    fn method(self, plain: &'static str, clustered: &'static str) -> &'static str {
        if self.clusters.is_some() { clustered } else { plain }
    }
}

fn named(method: &'static str, level: f64, interval: Interval) -> MethodInterval {
    MethodInterval::new(method, level, interval)
}
