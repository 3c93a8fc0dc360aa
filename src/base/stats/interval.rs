//! Confidence intervals for a share.

use super::distributions::{beta_quantile, central_z, float};
use serde::Serialize;

/// A closed interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Interval {
    /// Lower end.
    pub low: f64,
    /// Upper end, never below `low`.
    pub high: f64,
}

impl Interval {
    /// Where shares lie.
    pub const SHARES: Self = Self { low: 0.0, high: 1.0 };

    /// Whether a value lies in it, ends included.
    pub fn contains(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }
}

/// Wilson's score interval for the share `successes / n` (Wilson 1927), without continuity correction.
///
/// `level` is the coverage, such as 0.95. The interval is 0 to 1 without trials, and for a level outside 0 to 1. More
/// successes than trials count as `n`.
pub fn wilson(successes: u64, n: u64, level: f64) -> Interval {
    let Some(z) = central_z(level).filter(|_| n > 0) else { return Interval { low: 0.0, high: 1.0 } };
    let successes = successes.min(n);
    let trials = float(n);
    let share = float(successes) / trials;
    let z2 = z * z;
    let scale = 1.0 + z2 / trials;
    let centre = (share + z2 / (2.0 * trials)) / scale;
    let half = z * (share * (1.0 - share) / trials + z2 / (4.0 * trials * trials)).sqrt() / scale;
    // Exact where the formula would round.
    Interval {
        low: if successes == 0 { 0.0 } else { (centre - half).max(0.0) },
        high: if successes == n { 1.0 } else { (centre + half).min(1.0) },
    }
}

/// Clopper and Pearson's exact interval (1934) for the share `successes / n`.
///
/// Its coverage is never below the level, so it is wider than [`wilson`]. The edge cases are those of [`wilson`].
pub fn clopper_pearson(successes: u64, n: u64, level: f64) -> Interval {
    if n == 0 || !(level > 0.0 && level < 1.0) {
        return Interval { low: 0.0, high: 1.0 };
    }
    let successes = successes.min(n);
    let tail = (1.0 - level) / 2.0;
    // The share at which this many successes or more have the probability of a tail.
    let bound = |successes: u64| match successes {
        0 => 0.0,
        _ => beta_quantile(float(successes), float(n - successes) + 1.0, tail),
    };
    // Failures mirror successes.
    Interval { low: bound(successes), high: 1.0 - bound(n - successes) }
}

/// The interval with this half width; absent for numbers that are not finite.
pub(super) fn around(mean: f64, half: f64) -> Option<Interval> {
    (mean.is_finite() && half.is_finite()).then_some(Interval { low: mean - half, high: mean + half })
}

/// The interval of the difference of two independent estimates, the first less the second, from their own intervals of one
/// level: the distances of the ends are added as squares (Zou, Donner 2008). Its level is about theirs.
pub fn independent_difference((a, of_a): (f64, Interval), (b, of_b): (f64, Interval)) -> Interval {
    let difference = a - b;
    Interval {
        low: difference - (a - of_a.low).hypot(of_b.high - b),
        high: difference + (of_a.high - a).hypot(b - of_b.low),
    }
}

#[cfg(test)]
mod tests {
    use super::{Interval, clopper_pearson, wilson};
    use proptest::prelude::*;

    #[test]
    fn edge_cases() {
        for interval in [wilson, clopper_pearson] {
            assert_eq!(interval(0, 0, 0.95), Interval { low: 0.0, high: 1.0 });
            assert_eq!(interval(3, 5, 1.0), Interval { low: 0.0, high: 1.0 });
            assert_eq!(interval(9, 5, 0.95), interval(5, 5, 0.95));
        }
    }

    proptest! {
        #[test]
        fn intervals_contain_the_share_and_are_symmetric(n in 1_u64..5000, k in 0_u64..5000) {
            let k = k.min(n);
            #[allow(clippy::cast_precision_loss, reason = "small counts")]
            let share = k as f64 / n as f64;
            for of in [wilson, clopper_pearson] {
                let interval = of(k, n, 0.95);
                prop_assert!(interval.contains(share) && interval.low >= 0.0 && interval.high <= 1.0);
                let mirrored = of(n - k, n, 0.95);
                prop_assert!((interval.low - (1.0 - mirrored.high)).abs() < 1e-12);
                let wider = of(k, n, 0.99);
                prop_assert!(wider.low <= interval.low && wider.high >= interval.high);
            }
        }
    }
}
