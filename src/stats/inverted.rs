//! Intervals that belong to the tests that decide: the differences that a test does not reject.

use super::permutation::ENUMERATED;
use super::quantile::{central_z, count, float};
use super::rng::SplitMix64;
use super::{Interval, Sums};

/// The chance of a difference that an interval of this level leaves out. 12 digits, as 1 − 0.95 is a little more than 0.05.
pub fn flip_chance(level: f64) -> f64 {
    (1e12 * (1.0 - level)).round() / 1e12
}

/// The differences of the mean that the sign-flip test of these units (sums and sizes of clusters, or of single questions)
/// does not reject at `1 − level`; infinite at both ends if so few units can reject none. `p` is the test's: at a
/// difference of 0 the interval says what it says.
///
/// A pattern that flips the units of a set counts against every difference between the mean over this set and the mean over
/// all other units (Hartigan 1969), so that the ends are quantiles of such means. All patterns of up to [`ENUMERATED`] units, or
/// `resamples` of them, drawn as [`permutation_resampled`](super::permutation_resampled) draws them. Absent without units,
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
    let end = |mut outside: f64| {
        let mut inside = found;
        for _ in 0..60 {
            let middle = f64::midpoint(inside, outside);
            if distance(middle) <= z { inside = middle } else { outside = middle }
        }
        inside
    };
    let interval = Interval { low: end(-1.0), high: end(1.0) };
    Some(agreeing(interval, found, found.signum() * f64::MIN_POSITIVE, p < flip_chance(level)))
}
