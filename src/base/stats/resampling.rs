//! Resampling: the bootstrap of a mean, of questions or of whole clusters; permutation tests, which flip the signs of paired
//! differences or exchange arms within questions, and the intervals that such tests give.

use super::distributions::{central_z, count, float, halved};
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
    /// The bootstrap of values in clusters, as in [`Sums::of`], or of independent ones. Absent without values or resamples, if a
    /// value is not finite, and for a level outside 0 to 1.
    pub fn of(values: &[f64], clusters: Option<&[usize]>, level: f64, resamples: usize, seed: u64) -> Option<Self> {
        let observed = Mean::of(values)?.mean;
        let mut means = match clusters {
            None => resampled_means(values, resamples, seed),
            Some(_) => resampled_cluster_means(&Sums::of(values, clusters), resamples, seed),
        };
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

/// The test for these differences (or sums of whole clusters): exact for up to `ENUMERATED` that are not 0, else by
/// `permutation_resampled`. Absent without differences or resamples, and if a difference is not finite.
pub fn permutation(differences: &[f64], resamples: usize, seed: u64) -> Option<Permutation> {
    let varying = differences.iter().filter(|value| **value != 0.0).count();
    if varying <= ENUMERATED {
        permutation_exact(differences)
    } else {
        permutation_resampled(differences, resamples, seed)
    }
}

/// The test over all sign patterns; absent as in [`permutation`], and for more than `ENUMERATED` differences.
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

/// Whether the first value of each question, that of the edit, differs from the mean of the others, those of its placebos. If
/// the edit did no more than a placebo, any of the values could as well be the edit's: all choices are enumerated, up to
/// 2^`ENUMERATED` of them, else drawn. With one placebo these are the sign flips of the differences.
///
/// Draws one number of [`SplitMix64`] per question with two or more values, in order. Absent without such a question, and if a
/// value is not finite.
pub fn arms_permutation(questions: &[Vec<f64>], resamples: usize, seed: u64) -> Option<Permutation> {
    let effects: Vec<Vec<f64>> = questions.iter().filter(|values| values.len() > 1).map(|of| effects(of)).collect();
    let observed: f64 = effects.iter().map(|of| of[0]).sum();
    let size: f64 = effects.iter().flatten().map(|effect| effect.abs()).sum();
    if effects.is_empty() || !size.is_finite() {
        return None;
    }
    let bar = observed.abs() - 1e-12 * size;
    let varying = || effects.iter().filter(|of| of.iter().any(|effect| *effect != 0.0));
    let patterns = varying().try_fold(1_u64, |product, of| product.checked_mul(count(of.len())));
    if let Some(patterns) = patterns.filter(|patterns| *patterns <= 1 << ENUMERATED) {
        let at_least = count(sums(varying()).iter().filter(|sum| sum.abs() >= bar).count());
        return Some(Permutation { p: float(at_least) / float(patterns), at_least, patterns, seed: None });
    }
    let (mut rng, patterns, mut at_least) = (SplitMix64::new(seed), count(resamples), 0);
    for _ in 0..resamples {
        let sum: f64 = effects.iter().map(|of| of[index(rng.below(count(of.len())))]).sum();
        at_least += u64::from(sum.abs() >= bar);
    }
    (resamples > 0).then(|| Permutation {
        p: float(at_least + 1) / float(patterns + 1),
        at_least,
        patterns,
        seed: Some(seed),
    })
}

/// What the edit's difference would be if each of the values were the edit's.
fn effects(values: &[f64]) -> Vec<f64> {
    let (sum, others) = (values.iter().sum::<f64>(), float(count(values.len() - 1)));
    values.iter().map(|value| value - (sum - value) / others).collect()
}

/// The sums of all choices of one effect per question.
fn sums<'a>(effects: impl Iterator<Item = &'a Vec<f64>>) -> Vec<f64> {
    effects.fold(vec![0.0], |sums, of| sums.iter().flat_map(|sum| of.iter().map(move |effect| sum + effect)).collect())
}

/// The chance of a difference that an interval of this level leaves out. 12 digits, as 1 − 0.95 is a little more than 0.05.
pub fn flip_chance(level: f64) -> f64 {
    (1e12 * (1.0 - level)).round() / 1e12
}

/// The differences of the mean that the sign-flip test of these units (sums and sizes of clusters, or of single questions)
/// does not reject at `1 − level`; infinite at both ends if so few units can reject none. `p` is the test's: at a
/// difference of 0 the interval says what it says.
///
/// A pattern that flips the units of a set counts against every difference between the mean over this set and the mean over
/// all other units (Hartigan 1969), so that the ends are quantiles of such means. All patterns of up to `ENUMERATED` units, or
/// `resamples` of them, drawn as `permutation_resampled` draws them. Absent without units,
/// and for a level outside 0 to 1.
pub fn flip_interval(units: &Sums, level: f64, resamples: usize, seed: u64, p: f64) -> Option<Interval> {
    let all: (f64, f64) = units.iter().fold((0.0, 0.0), |all, unit| (all.0 + unit.0, all.1 + unit.1));
    if !(level > 0.0 && level < 1.0 && all.1 > 0.0 && all.0.is_finite()) {
        return None;
    }
    let n = units.sums().len();
    let enumerated = n <= ENUMERATED;
    let flipped = if enumerated { all_sets(units) } else { drawn_sets(units, resamples, seed) };
    // Of each set and of the rest: the means.
    let means = |set: &(f64, f64)| (set.0 / set.1, (all.0 - set.0) / (all.1 - set.1));
    let ends = |set: &(f64, f64)| match means(set) {
        _ if set.1 <= 0.0 || set.1 >= all.1 => (f64::NEG_INFINITY, f64::INFINITY),
        (one, other) => (one.min(other), one.max(other)),
    };
    let (mut lows, mut highs): (Vec<f64>, Vec<f64>) = flipped.iter().map(ends).unzip();
    // Each set is enumerated in place of two patterns, itself and the rest; of those drawn, the observed pattern is one more.
    let least = if enumerated {
        flip_chance(level) * float(count(flipped.len()))
    } else {
        flip_chance(level) * float(count(resamples) + 1) - 1.0
    };
    let least = (least - 1e-9).ceil();
    let (low, high) = if least < 1.0 {
        (f64::NEG_INFINITY, f64::INFINITY)
    } else {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a position in the list")]
        let at = least as usize - 1;
        let low = *lows.select_nth_unstable_by(at, f64::total_cmp).1;
        (low, *highs.select_nth_unstable_by(at, |a, b| b.total_cmp(a)).1)
    };
    let mean = all.0 / all.1;
    let next =
        |ends: &[f64]| ends.iter().map(|end| end * mean.signum()).filter(|end| *end > 0.0).fold(mean.abs(), f64::min);
    let beyond = if mean > 0.0 { next(&lows) } else { -next(&highs) };
    Some(agreeing(Interval { low, high }, mean, beyond, p < flip_chance(level)))
}

/// The interval with 0 in it if and only if the test does not reject 0; `beyond` is the next end on the mean's side of 0. They
/// differ only by rounding, or where one of the two is enumerated and the other drawn.
fn agreeing(interval: Interval, mean: f64, beyond: f64, rejected: bool) -> Interval {
    let Interval { low, high } = interval;
    match rejected {
        true if interval.contains(0.0) && mean > 0.0 => Interval { low: beyond, high },
        true if interval.contains(0.0) => Interval { low, high: beyond },
        true => interval,
        false => Interval { low: low.min(0.0), high: high.max(0.0) },
    }
}

/// Sums and sizes of all sets of units that leave out the last one; each has a rest that leaves out none.
fn all_sets(units: &Sums) -> Vec<(f64, f64)> {
    let mut sets = vec![(0.0, 0.0)];
    for (sum, size) in units.iter().take(units.sums().len().saturating_sub(1)) {
        let with: Vec<(f64, f64)> = sets.iter().map(|set| (set.0 + sum, set.1 + size)).collect();
        sets.extend(with);
    }
    sets
}

fn drawn_sets(units: &Sums, resamples: usize, seed: u64) -> Vec<(f64, f64)> {
    let units: Vec<(f64, f64)> = units.iter().collect();
    let mut rng = SplitMix64::new(seed);
    let mut set = || {
        units.iter().fold((0.0, 0.0), |set, unit| {
            // Without a branch, which would be mispredicted every other time.
            let flipped = float(rng.next_u64() >> 63);
            (set.0 + flipped * unit.0, set.1 + flipped * unit.1)
        })
    };
    (0..resamples).map(|_| set()).collect()
}

/// Tango's score interval (1998) of the difference of two shares over the same n questions, `only_b / n − only_a / n`, with 0
/// in it where `McNemar`'s exact test, whose p is given, does not reject equality. Absent without questions, and for a level
/// outside 0 to 1.
#[expect(clippy::many_single_char_names, reason = "the names of the formula")]
pub fn score_interval(only_a: u64, only_b: u64, n: u64, level: f64, p: f64) -> Option<Interval> {
    let z = central_z(level).filter(|_| n > 0)?;
    let (a, b, n) = (float(only_a), float(only_b), float(n));
    let found = (b - a) / n;
    // The distance of what was found from a true difference, in standard errors at that difference.
    let distance = |true_: f64| {
        let linear = -a - b + (2.0 * n - b + a) * true_;
        let root = (linear * linear + 8.0 * n * a * true_ * (1.0 - true_)).max(0.0).sqrt();
        let share_a = ((root - linear) / (4.0 * n)).clamp(0.0, 1.0);
        let variance = (n * (2.0 * share_a + true_ * (1.0 - true_))).max(0.0);
        (b - a - n * true_).abs() / variance.sqrt()
    };
    let end = |outside: f64| halved(found, outside, 60, |middle| distance(middle) <= z).0;
    let interval = Interval { low: end(-1.0), high: end(1.0) };
    Some(agreeing(interval, found, found.signum() * f64::MIN_POSITIVE, p < flip_chance(level)))
}

#[cfg(test)]
mod tests {
    use super::arms_permutation;
    use crate::base::stats::permutation;

    fn p(questions: &[Vec<f64>]) -> f64 {
        arms_permutation(questions, 10_000, 1).expect("a test").p
    }

    #[test]
    fn one_placebo_is_the_sign_flip_test() {
        let pairs: Vec<Vec<f64>> =
            [(1.0, 0.0), (1.0, 0.0), (0.5, 0.0), (0.0, 1.0), (1.0, 1.0)].iter().map(|(e, p)| vec![*e, *p]).collect();
        let differences: Vec<f64> = pairs.iter().map(|of| of[0] - of[1]).collect();
        let flips = permutation(&differences, 10_000, 1).expect("a test");
        assert!((p(&pairs) - flips.p).abs() < 1e-12);
    }

    #[test]
    fn all_choices_are_enumerated_while_they_are_few() {
        // Only the edit repairs: one choice in 4^3 is as far, as the others have a smaller sum on the other side.
        let three = vec![vec![1.0, 0.0, 0.0, 0.0]; 3];
        let found = arms_permutation(&three, 10, 1).expect("a test");
        assert_eq!((found.at_least, found.patterns, found.seed), (1, 64, None));
        // Questions without any difference change nothing; neither do those without a placebo.
        let more = [three.clone(), vec![vec![1.0; 4], vec![0.0; 4], vec![1.0]]].concat();
        assert!((p(&more) - p(&three)).abs() < 1e-12);
        let many = vec![vec![1.0, 0.0, 0.0, 0.0]; 11];
        let found = arms_permutation(&many, 999, 1).expect("a test");
        assert_eq!((found.at_least, found.patterns, found.seed), (0, 999, Some(1)));
        assert!((found.p - 0.001).abs() < 1e-12);
    }

    #[test]
    fn nothing_is_tested_without_placebos_or_with_broken_values() {
        assert_eq!(arms_permutation(&[], 10, 1), None);
        assert_eq!(arms_permutation(&[vec![1.0]], 10, 1), None);
        assert_eq!(arms_permutation(&[vec![f64::NAN, 0.0]], 10, 1), None);
        assert!((p(&[vec![1.0, 1.0], vec![0.0, 0.0, 0.0]]) - 1.0).abs() < 1e-12);
    }
}
