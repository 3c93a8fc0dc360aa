//! Differences of simulated questions.

use crate::float;
use wikitrail::stats::quantile::normal_quantile;
use wikitrail::stats::rng::SplitMix64;

/// Where the differences of a simulated comparison come from. All but the skewed ones are symmetric around their mean.
#[derive(Clone, Copy)]
pub(crate) enum Source {
    /// Right and wrong answers: the share of questions that only one variant has right.
    Em { discordant: f64 },
    /// Normal.
    Normal,
    /// As F1 differs: 0 on so many questions, else one of the usual quotients.
    F1 { equal: f64 },
    /// Of amounts such as tokens, where both variants are lognormal: many small and few large.
    Lognormal,
    /// Exponential, less its mean: far from symmetric.
    Skewed,
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

pub(crate) struct Drawn {
    pub(crate) differences: Vec<f64>,
    pub(crate) clusters: Option<Vec<usize>>,
}

impl Draw {
    pub(crate) fn binary(&self) -> bool {
        matches!(self.source, Source::Em { .. })
    }

    pub(crate) fn questions(&self, seed: u64) -> Drawn {
        // Seeds that follow each other are places of one sequence, far apart.
        let mut rng = SplitMix64::new(seed.wrapping_mul(0x5851_f42d_4c95_7f2d));
        let Some((from, to)) = self.sizes else {
            let differences = (0..self.units).map(|_| self.one(&mut rng)).collect();
            return Drawn { differences, clusters: None };
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
        Drawn { differences, clusters: Some(clusters) }
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
            Source::F1 { equal } => {
                const SIZES: [f64; 6] = [1.0, 1.0, 2.0 / 3.0, 0.5, 0.4, 0.8];
                let (drawn, sign, at) = (uniform(rng), uniform(rng), rng.below(6));
                let size = SIZES[usize::try_from(at).expect("an index")];
                // The side of a question is drawn so that the mean of all is the true difference.
                let lead = self.truth / ((1.0 - equal) * SIZES.iter().sum::<f64>() / 6.0);
                if drawn < equal {
                    0.0
                } else if sign < 0.5 * (1.0 - lead) {
                    -size
                } else {
                    size
                }
            }
            Source::Lognormal => normal(rng).exp() - normal(rng).exp(),
            Source::Skewed => -uniform(rng).ln() - 1.0,
        }
    }
}

/// A number above 0 and below 1.
fn uniform(rng: &mut SplitMix64) -> f64 {
    (float(rng.next_u64() >> 12) + 0.5) / float(1 << 52)
}
