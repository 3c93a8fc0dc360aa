//! The comparison of variants on the same questions: differences, intervals, tests, and a verdict on each pair.
//!
//! [`Variant`]s are made from episodes or from tables of numbers, [`compare`] compares them under [`Settings`], and the
//! [`Comparison`] is plain data. `docs/statistics.md` has the formulas.
//!
//! | file | what it holds |
//! |---|---|
//! | `settings` | what to compare: settings, figures, errors |
//! | `pairing` | variants, their rows, one value per question and variant |
//! | `comparison` | the result as plain data, and `compare`, which computes it |
//! | `pairs` | one pair: tests, intervals, the rule that stops a run, all possible pairs |
//! | `verdict` | the sentence about a pair, and how figures are written |
//! | `breakdown` | parts of the questions |
//! | `flips` | flipped answers, stale gold |
//! | `effort` | what it takes to see small differences |
//! | `optimism` | the holdout beside the development part |
//! | `conditions` | the conditions of `--fail-if` |

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

pub(crate) use crate::scoring::{Better, Unit};
pub(crate) use breakdown::{Breakdown, Group, GroupMean, GroupPair};
pub use comparison::Comparison;
pub(crate) use comparison::{
    Bounds, FigureComparison, Ids, MethodInterval, Pair, VariantMean, compare, means_and_pairs,
};
pub(crate) use effort::{EXPENSES, Effort, efforts};
pub(crate) use flips::{Gold, GoldState, flips};
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
