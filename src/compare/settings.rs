//! Settings of a comparison.

use super::{CompareError, NamedFigure, StoppedRun};
use crate::types::Pairs;
use serde::Serialize;

/// Resamples of every bootstrap and permutation.
pub(crate) const RESAMPLES: usize = 10_000;

/// Seed of every bootstrap and permutation.
pub(crate) const SEED: u64 = 12_345;

/// Settings of a comparison; its JSON has all of them.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Settings {
    /// Coverage of every interval, above 0 and below 1.
    pub level: f64,
    /// A pair counts as different only where its corrected p is below this; above 0 and below 1.
    pub alpha: f64,
    /// Power for the minimum detectable difference; above 0 and below 1.
    pub power: f64,
    /// Resamples of every bootstrap, and of every permutation that is not enumerated; 1 or more.
    pub resamples: usize,
    /// Seed of all of these.
    pub seed: u64,
    /// The pairs to compare.
    #[serde(flatten)]
    pub pairs: Pairs,
    /// The figures to compare, in the order in which they are shown. The first is the one that decides.
    #[serde(rename = "metrics")]
    pub figures: Vec<NamedFigure>,
    /// Names of the fields to break down by, as in `Variant::groupings`.
    pub breakdowns: Vec<String>,
    /// Runs among the variants that a rule could stop.
    #[serde(skip)]
    pub stopped: Vec<StoppedRun>,
}

impl Default for Settings {
    /// EM and F1 of all pairs at 95 %.
    fn default() -> Self {
        Self {
            level: 0.95,
            alpha: 0.05,
            power: 0.8,
            resamples: RESAMPLES,
            seed: SEED,
            pairs: Pairs::default(),
            figures: vec![NamedFigure::new("em"), NamedFigure::new("f1")],
            breakdowns: Vec::new(),
            stopped: Vec::new(),
        }
    }
}

impl Settings {
    /// Refuses values outside their ranges.
    pub(super) fn check(&self) -> Result<(), CompareError> {
        for (name, value) in [("level", self.level), ("alpha", self.alpha), ("power", self.power)] {
            if !(value > 0.0 && value < 1.0) {
                return Err(CompareError::NotBetween { name, value });
            }
        }
        if self.resamples == 0 {
            return Err(CompareError::NoResamples);
        }
        if self.figures.is_empty() { Err(CompareError::NoFigure) } else { Ok(()) }
    }
}
