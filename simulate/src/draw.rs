//! Differences of simulated questions.

use crate::float;
use wikitrail::compare::statistics::SplitMix64;
use wikitrail::compare::statistics::normal_quantile;
use wikitrail::compare::statistics::{Differences, Interval};

/// F1 of answers that are neither wrong nor right, and its mean.
const BETWEEN: [f64; 4] = [0.25, 0.4, 0.5, 0.8];
pub(crate) const BETWEEN_MEAN: f64 = 0.4875;

/// Where the differences of a simulated comparison come from.
#[derive(Clone, Copy)]
pub(crate) enum Source {
    /// Right and wrong answers: the share of questions that only one variant has right.
    Em { discordant: f64 },
    /// Normal.
    Normal,
    /// F1 of two variants that answer the same way on so many questions, and each by itself on the others: 40 % score 0, 35 %
    /// score 1. What leads scores 1 where the other scores 0.
    Answers { equal: f64 },
    /// Longer answers: a little F1 is lost on a share of the questions, all of it is gained on few.
    Longer { lost: f64, on: f64 },
    /// Of amounts such as tokens, where both variants are lognormal: many small and few large.
    Lognormal,
    /// Exponential, less its mean: far from symmetric.
    Exponential,
    /// Lognormal with this deviation of the logarithm, less its mean.
    Cost { deviation: f64 },
    /// Tokens where one episode in twenty runs to the step limit, less those of a variant with the same mean.
    StepLimit,
}

impl Source {
    /// Where differences lie; absent for amounts.
    fn range(self) -> Option<Interval> {
        match self {
            Self::Em { .. } | Self::Answers { .. } | Self::Longer { .. } => Some(Interval { low: -1.0, high: 1.0 }),
            _ => None,
        }
    }
}

/// Questions that are drawn together.
#[derive(Clone, Copy)]
pub(crate) struct Draw {
    pub(crate) source: Source,
    /// The mean of the differences.
    pub(crate) truth: f64,
    /// Questions, or clusters.
    pub(crate) units: usize,
    /// Questions of each cluster, from the first number to the second in turn; those of one cluster have half of their
    /// variance in common.
    pub(crate) sizes: Option<(usize, usize)>,
}

impl Draw {
    /// Whether `McNemar`'s test decides.
    pub(crate) fn is_exact(&self) -> bool {
        matches!(self.source, Source::Em { .. }) && self.sizes.is_none()
    }

    pub(crate) fn questions(&self, seed: u64) -> Differences {
        let mut rng = generator(seed);
        let Some((from, to)) = self.sizes else {
            let differences = (0..self.units).map(|_| self.one(&mut rng)).collect();
            return self.of(differences, None);
        };
        let (mut differences, mut clusters) = (Vec::new(), Vec::new());
        for cluster in 0..self.units {
            let common = self.one(&mut rng);
            for _ in 0..from + cluster % (to - from + 1) {
                let own = self.one(&mut rng);
                differences.push(match self.source {
                    // Half of the questions answer as the cluster does.
                    Source::Em { .. } => {
                        if uniform(&mut rng) < 0.5 {
                            common
                        } else {
                            own
                        }
                    }
                    _ => self.truth + (common + own - 2.0 * self.truth) / 2_f64.sqrt(),
                });
                clusters.push(cluster);
            }
        }
        self.of(differences, Some(clusters))
    }

    fn of(&self, values: Vec<f64>, clusters: Option<Vec<usize>>) -> Differences {
        let (order, source) = ((0..values.len()).collect(), self.source);
        let binary = matches!(source, Source::Em { .. });
        Differences { values, clusters, order, binary, range: source.range() }
    }

    fn one(&self, rng: &mut SplitMix64) -> f64 {
        let normal = |rng: &mut SplitMix64| normal_quantile(uniform(rng)).expect("a share");
        match self.source {
            Source::Em { discordant } => {
                let drawn = uniform(rng);
                let won = f64::midpoint(discordant, self.truth);
                if drawn < won {
                    1.0
                } else if drawn < discordant {
                    -1.0
                } else {
                    0.0
                }
            }
            Source::Normal => self.truth + normal(rng),
            Source::Lognormal => normal(rng).exp() - normal(rng).exp(),
            Source::Answers { equal } => {
                let lead = self.truth / (1.0 - equal);
                let (same, a, b) = (uniform(rng), answer(rng, 0.0), answer(rng, lead));
                if same < equal { 0.0 } else { b - a }
            }
            Source::Longer { lost, on } => {
                let drawn = uniform(rng);
                // As much is gained as is lost, but for the true difference.
                let gained = lost * on + self.truth;
                if drawn < on {
                    -lost
                } else if drawn < on + gained {
                    1.0
                } else {
                    0.0
                }
            }
            Source::Exponential => -uniform(rng).ln() - 1.0,
            Source::Cost { deviation } => (deviation * normal(rng)).exp() - (deviation * deviation / 2.0).exp(),
            Source::StepLimit => {
                let long = if uniform(rng) < 0.05 { 10.0 } else { 1.0 };
                let mean = (0.05 * 10.0 + 0.95) * 0.045_f64.exp();
                long * (0.3 * normal(rng)).exp() - mean * (0.1 * normal(rng) - 0.005).exp()
            }
        }
    }
}

/// The F1 of an answer; `lead` is the share of answers that score 1 rather than 0.
fn answer(rng: &mut SplitMix64, lead: f64) -> f64 {
    f1(rng, 0.4 - lead, 0.35 + lead)
}

/// An F1 that is 0 and 1 with these chances.
fn f1(rng: &mut SplitMix64, zeros: f64, ones: f64) -> f64 {
    let (drawn, at) = (uniform(rng), rng.below(4));
    if drawn < zeros {
        0.0
    } else if drawn < zeros + ones {
        1.0
    } else {
        BETWEEN[usize::try_from(at).expect("an index")]
    }
}

/// F1 of `n` answers.
pub(crate) fn f1_values(seed: u64, zeros: f64, ones: f64, n: usize) -> Vec<f64> {
    let mut rng = generator(seed);
    (0..n).map(|_| f1(&mut rng, zeros, ones)).collect()
}

/// Seeds that follow each other are places of one sequence, far apart.
fn generator(seed: u64) -> SplitMix64 {
    SplitMix64::new(seed.wrapping_mul(0x5851_f42d_4c95_7f2d))
}

/// A number above 0 and below 1.
pub(crate) fn uniform(rng: &mut SplitMix64) -> f64 {
    (float(rng.next_u64() >> 12) + 0.5) / float(1 << 52)
}
