//! How far several variants are apart on the same questions, beyond what a sample of questions makes of equal ones.

use super::distributions::{beta_kernel, central_t, count, float, halved, incomplete_beta};
use super::{Interval, Sums};
use serde::Serialize;

/// The spread of the means of several variants, as found, and corrected for the sampling of questions.
///
/// With `m_j` the means, the variance as found is `S² = Σ(m_j − m̄)²/(k − 1)`. Of it, sampling makes `v`: the trace of the covariance of the
/// `m_j − m̄`, estimated from the questions' own deviations, over `k − 1`. `S² − v` estimates the variance between the variants
/// without bias, whatever the correlations.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Between {
    /// Standard deviation of the means.
    pub sd: f64,
    /// Largest mean less the smallest.
    pub range: f64,
    /// The standard deviation that equal variants would have on average: `√v`.
    pub sampling_sd: f64,
    /// `√(S² − v)`, and 0 where that is negative.
    pub corrected_sd: f64,
    /// The range in the same proportion.
    pub corrected_range: f64,
    /// Of the standard deviation between the variants; absent where questions do not vary.
    pub sd_interval: Option<Interval>,
    /// Of their range: the same in the proportion that was found, and at least as wide as that of two means' difference.
    pub range_interval: Option<Interval>,
}

impl Between {
    /// Of the values of two variants or more, question by question, at this level; `clusters[i]` is the cluster of question `i`.
    /// Absent for fewer variants, and below two questions or clusters.
    pub fn of(variants: &[Vec<f64>], clusters: Option<&[usize]>, level: f64) -> Option<Self> {
        let (k, n) = (variants.len(), variants.first()?.len());
        if k < 2 || n == 0 || variants.iter().any(|values| values.len() != n) {
            return None;
        }
        let (variants_less_one, questions) = (float(count(k) - 1), float(count(n)));
        let means: Vec<f64> = variants.iter().map(|values| values.iter().sum::<f64>() / questions).collect();
        let mean = means.iter().sum::<f64>() / float(count(k));
        let variance = means.iter().map(|of| (of - mean) * (of - mean)).sum::<f64>() / variants_less_one;
        let (low, high) = means.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), of| (a.min(*of), b.max(*of)));
        let (sd, range) = (variance.sqrt(), high - low);
        let noise = Noise::of(variants, &means, clusters)?;
        let corrected_sd = (variance - noise.variance).max(0.0).sqrt();
        // Equal means have no proportion: two extremes and all others between them have the widest range.
        let proportion = if sd > 0.0 { range / sd } else { (2.0 * variants_less_one).sqrt() };
        let corrected_range = proportion * corrected_sd;
        let sd_interval = noise.interval(variance, level);
        let range_interval = sd_interval.and_then(|Interval { low, high }| {
            // Two means differ by an error of their own, however well the variance of many is known.
            let half = central_t(level, noise.units - 1)? * (2.0 * noise.variance).sqrt();
            let (low, high) = (proportion * low, proportion * high);
            Some(Interval { low: low.min(corrected_range - half).max(0.0), high: high.max(corrected_range + half) })
        });
        let sampling_sd = noise.variance.sqrt();
        let all_finite = [sd, range, sampling_sd].iter().all(|number| number.is_finite());
        let found = Self { sd, range, sampling_sd, corrected_sd, corrected_range, sd_interval, range_interval };
        all_finite.then_some(found)
    }
}

/// What the sampling of questions adds to the variance of the means.
struct Noise {
    variance: f64,
    /// Degrees of freedom of the variance between the means and of this one, after Greenhouse and Geisser (1959).
    freedom: [f64; 2],
    /// Questions, or clusters.
    units: u64,
}

impl Noise {
    fn of(variants: &[Vec<f64>], means: &[f64], clusters: Option<&[usize]>) -> Option<Self> {
        let (k, n) = (variants.len(), variants[0].len());
        let mean = means.iter().sum::<f64>() / float(count(k));
        let of_question = |at: usize| variants.iter().map(|values| values[at]).sum::<f64>() / float(count(k));
        let centres: Vec<f64> = (0..n).map(of_question).collect();
        let deviations = |(values, own): (&Vec<f64>, &f64)| {
            let of: Vec<f64> = values.iter().zip(&centres).map(|(value, centre)| value - centre - own + mean).collect();
            Sums::of(&of, clusters).sums().to_vec()
        };
        let sums: Vec<Vec<f64>> = variants.iter().zip(means).map(deviations).collect();
        let all = count(sums[0].len());
        if all < 2 {
            return None;
        }
        let units = float(all);
        let scale = units / (units - 1.0) / float(count(n)) / float(count(n));
        let product = |a: &Vec<f64>, b: &Vec<f64>| scale * a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let trace: f64 = sums.iter().map(|of| product(of, of)).sum();
        let squares: f64 = sums.iter().flat_map(|a| sums.iter().map(move |b| product(a, b).powi(2))).sum();
        let full = float(count(k) - 1);
        let between = if squares > 0.0 { (trace * trace / squares).clamp(1.0, full) } else { full };
        Some(Self { variance: trace / full, freedom: [between, between * (units - 1.0)], units: all })
    }

    /// The standard deviations between variants that the ratio of the two variances does not reject: it has the noncentral F
    /// distribution. The upper end is never below that of a ratio of 1, which equal variants have on average.
    fn interval(&self, variance: f64, level: f64) -> Option<Interval> {
        let ratio = variance / self.variance;
        if !ratio.is_finite() || ratio > MAX_RATIO || level <= 0.0 || level >= 1.0 {
            return None;
        }
        let tail = (1.0 - level) / 2.0;
        let sd = |noncentrality: f64| (noncentrality * self.variance / self.freedom[0]).sqrt();
        let low = noncentrality(ratio, self.freedom, 1.0 - tail);
        Some(Interval { low: sd(low), high: sd(noncentrality(ratio.max(1.0), self.freedom, tail)) })
    }
}

/// Beyond this the sampling of questions does not matter.
const MAX_RATIO: f64 = 1e6;

/// The noncentrality with which F is at most `ratio` with this probability; 0 where that is less likely without any.
fn noncentrality(ratio: f64, freedom: [f64; 2], probability: f64) -> f64 {
    let is_below = |noncentrality: f64| noncentral_f(ratio, freedom, noncentrality) < probability;
    let (mut low, mut high) = (0.0, 1.0);
    if is_below(low) {
        return 0.0;
    }
    while !is_below(high) {
        (low, high) = (high, 2.0 * high);
    }
    let (below, above) = halved(high, low, 60, is_below);
    f64::midpoint(below, above)
}

/// The probability that noncentral F is at most `ratio`: a mixture of beta distributions by Poisson's.
fn noncentral_f(ratio: f64, [between, within]: [f64; 2], noncentrality: f64) -> f64 {
    let (x, y) = (between * ratio / (between * ratio + within), within / (between * ratio + within));
    let (mean, b) = (noncentrality / 2.0, within / 2.0);
    // Ten standard deviations around the mean of Poisson's distribution.
    let first = (mean - 10.0 * mean.sqrt() - 20.0).max(0.0).floor();
    let last = mean + 10.0 * mean.sqrt() + 40.0;
    let mut a = between / 2.0 + first;
    let (mut below, mut kernel) = (incomplete_beta(a, b, x, y), beta_kernel(a, b, x, y));
    let mut weight = poisson(mean, first);
    let (mut sum, mut at) = (0.0, first);
    while at <= last {
        sum += weight * below;
        // DLMF 8.17.20, and the same for its last term.
        below = (below - kernel / a).max(0.0);
        kernel *= x * (a + b) / a;
        (a, at) = (a + 1.0, at + 1.0);
        weight *= mean / at;
    }
    sum
}

/// The probability of `at` by Poisson's distribution.
fn poisson(mean: f64, at: f64) -> f64 {
    let logarithm = statrs::function::gamma::ln_gamma(at + 1.0);
    if mean > 0.0 { (at * mean.ln() - mean - logarithm).exp() } else { f64::from(u8::from(at == 0.0)) }
}

#[cfg(test)]
mod tests {
    use super::{Between, noncentral_f};
    use crate::base::stats::Interval;

    fn close(found: f64, expected: f64) -> bool {
        (found - expected).abs() < 1e-9 * expected.abs().max(1.0)
    }

    /// scipy 1.17: `scipy.stats.ncf.cdf(f, d1, d2, nc)`.
    #[test]
    fn the_distribution_is_that_of_scipy() {
        for (ratio, freedom, noncentrality, expected) in NCF {
            let found = noncentral_f(ratio, freedom, noncentrality);
            assert!((found - expected).abs() < 1e-10, "{ratio} {freedom:?} {noncentrality}: {found}");
        }
    }

    const NCF: [(f64, [f64; 2], f64, f64); 5] = [
        (1.5, [2.0, 118.0], 0.0, 0.772_646_532_436_446),
        (3.0, [2.0, 118.0], 4.0, 0.581_844_009_029_289_6),
        (0.8, [4.6, 88.4], 2.5, 0.233_104_088_903_317_3),
        (40.0, [9.0, 531.0], 300.0, 0.890_403_641_947_365_4),
        (900.0, [1.0, 19.0], 1000.0, 0.334_180_696_001_561_1),
    ];

    /// The variance that sampling adds is the error of a two-way analysis of variance over the number of questions.
    #[test]
    fn the_correction_is_that_of_a_two_way_table() {
        let table = [vec![1.0, 0.0, 1.0, 1.0], vec![0.0; 4], vec![1.0, 0.0, 0.0, 1.0]];
        let found = Between::of(&table, None, 0.95).expect("three variants");
        // Of the sum of squares, 35/12, variants have 14/12 and questions 11/12.
        let error = (35.0 - 14.0 - 11.0) / 12.0 / 6.0;
        assert!(close(found.sd, f64::sqrt(21.0 / 144.0)) && close(found.range, 0.75), "{found:?}");
        assert!(close(found.sampling_sd, f64::sqrt(error / 4.0)), "{found:?}");
        assert!(close(found.corrected_sd, 1.0 / 3.0), "{found:?}");
        assert!(close(found.corrected_range, 0.75 / found.sd / 3.0), "{found:?}");
        let interval = found.sd_interval.expect("an interval");
        assert!(interval.contains(found.corrected_sd) && interval.low == 0.0, "{interval:?}");
        // Each question a cluster of its own changes nothing; two copies of it change the number of clusters alone.
        assert_eq!(Between::of(&table, Some(&[3, 2, 1, 0]), 0.95), Some(found));
        let twice = table.map(|values| values.repeat(2));
        let clustered = Between::of(&twice, Some(&[0, 1, 2, 3, 0, 1, 2, 3]), 0.95).expect("clusters");
        assert!(close(clustered.sampling_sd, found.sampling_sd) && close(clustered.sd, found.sd), "{clustered:?}");
    }

    #[test]
    fn what_does_not_vary_has_no_interval() {
        let constant = |value: f64| vec![value; 5];
        let found = Between::of(&[constant(0.5), constant(1.0), constant(0.75)], None, 0.95).expect("means");
        assert_eq!((found.sampling_sd, found.corrected_sd, found.sd_interval), (0.0, found.sd, None));
        assert_eq!(Between::of(&[vec![1.0], vec![0.0]], None, 0.95), None);
        assert_eq!(Between::of(&[vec![1.0, 0.0]], None, 0.95), None);
        // Equal means of values that vary: the interval begins at 0 and has a width.
        let equal = Between::of(&[vec![1.0, 0.0, 1.0], vec![0.0, 1.0, 1.0], vec![1.0, 1.0, 0.0]], None, 0.95);
        let Interval { low, high } = equal.expect("means").range_interval.expect("an interval");
        assert!(low == 0.0 && high > 0.1, "{low} {high}");
    }
}
