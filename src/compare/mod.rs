//! The comparison of variants on the same questions: differences, intervals, tests, and a verdict on each pair.
//!
//! [`Variant`]s are made from episodes or from tables of numbers, [`compare`] compares them under [`Settings`], and the
//! [`Comparison`] is plain data. `docs/statistics.md` has the formulas.

pub(crate) mod breakdown;
pub(crate) mod comparison;
pub(crate) mod conditions;
mod effort;
pub(crate) mod flips;
mod optimism;
mod pairing;
mod pairs;
pub(crate) mod settings;
pub(crate) mod verdict;

pub(crate) use crate::score::{Better, Unit};
pub(crate) use breakdown::{Breakdown, Group, GroupMean, GroupPair};
pub use comparison::Comparison;
pub(crate) use comparison::{
    Bounds, FigureComparison, Ids, MethodInterval, Pair, VariantMean, compare, means_and_pairs,
};
pub(crate) use effort::{EXPENSES, Effort, efforts};
pub(crate) use flips::{Flips, Gold, GoldState, flips};
pub(crate) use optimism::{Optimism, optimism};
pub(crate) use pairing::{Item, Variant};
pub(crate) use pairs::{MOST_PAIRS, Possible, StoppedRun, among_all};
pub use settings::Settings;
pub(crate) use settings::{CompareError, NamedFigure, RESAMPLES, SEED};
pub(crate) use verdict::{Verdict, Word};

#[cfg(test)]
mod missing_tests;

#[cfg(test)]
mod reach_tests;

#[cfg(test)]
mod tests;
