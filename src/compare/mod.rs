//! The comparison of variants on the same questions: differences, intervals, tests, and a verdict on each pair.
//!
//! [`Variant`]s are made from episodes or from tables of numbers, [`compare`] compares them under [`Settings`], and the
//! [`Comparison`] is plain data. `docs/statistics.md` has the formulas.

pub(crate) mod breakdown;
pub(crate) mod comparison;
mod effort;
pub(crate) mod error;
pub(crate) mod figure;
pub(crate) mod flips;
pub(crate) mod number;
mod optimism;
mod pairing;
mod pairs;
pub(crate) mod possible;
mod run;
mod sample;
pub(crate) mod settings;
pub(crate) mod stale;
pub(crate) mod stopped;
pub(crate) mod variant;
pub(crate) mod verdict;

pub(crate) use crate::score::{Better, Unit};
pub(crate) use breakdown::{Breakdown, Group, GroupMean, GroupPair};
pub use comparison::Comparison;
pub(crate) use comparison::{Bounds, FigureComparison, Ids, MethodInterval, Pair, VariantMean};
pub(crate) use effort::{EXPENSES, Effort, efforts};
pub(crate) use error::CompareError;
pub(crate) use figure::NamedFigure;
pub(crate) use flips::{Flips, flips};
pub(crate) use optimism::{Optimism, optimism};
pub(crate) use possible::{MOST_PAIRS, Possible, among_all};
pub(crate) use run::{compare, means_and_pairs};
pub use settings::Settings;
pub(crate) use settings::{RESAMPLES, SEED};
pub(crate) use stale::{Gold, GoldState};
pub(crate) use stopped::StoppedRun;
pub(crate) use variant::{Item, Variant};
pub(crate) use verdict::{Verdict, Word};

#[cfg(test)]
mod missing_tests;
#[cfg(test)]
mod reach_tests;
#[cfg(test)]
mod tests;
