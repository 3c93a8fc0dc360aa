//! The comparison of variants on the same questions: differences, intervals, tests, and a verdict on each pair.
//!
//! [`Variant`]s are made from episodes or from tables of numbers, [`compare`] compares them under [`Settings`], and the
//! [`Comparison`] is plain data. `docs/statistics.md` has the formulas.
//!
//! | file | what it holds |
//! |---|---|
//! | `settings` | what to compare: settings, figures, errors, the rule of a run |
//! | `comparison` | the result as plain data |
//! | `pairing` | variants, their rows, one value per question and variant |
//! | `pairs` | one pair: tests, intervals, the rule that stops a run, all possible pairs |
//! | `verdict` | the sentence about a pair, and how figures are written |
//! | `within` | variants that differ in one setting alone, merged by its values |
//! | `compute` | `compare`, which computes a comparison, and parts of the questions |
//! | `flips` | flipped answers, stale gold |
//! | `effort` | what it takes to see small differences |
//! | `optimism` | the holdout beside the development part |
//! | `conditions` | the conditions of `--fail-if` |

pub(crate) mod comparison;
mod compute;
pub(crate) mod conditions;
mod effort;
pub(crate) mod flips;
mod optimism;
mod pairing;
mod pairs;
pub(crate) mod settings;
pub(crate) mod verdict;
mod within;

pub(crate) use crate::scoring::{Better, Unit};
pub use comparison::Comparison;
pub(crate) use comparison::{
    Bounds, Breakdown, FigureComparison, Group, GroupMean, GroupPair, Ids, MethodInterval, Pair, ValueSpread,
    VariantMean, Within, Word,
};
pub(crate) use compute::{PAIRED_BY_ID, compare, means_and_pairs};
pub(crate) use effort::{EXPENSES, Effort, efforts};
pub(crate) use flips::{Gold, GoldState, flips};
pub(crate) use optimism::{Optimism, optimism};
pub(crate) use pairing::{Item, Variant};
pub(crate) use pairs::{DecidedPair, MOST_PAIRS, among_all, decided_pairs, pairs_of};
pub use settings::Settings;
pub(crate) use settings::{NamedFigure, RESAMPLES, SEED, StoppedRun};
pub(crate) use within::{Matching, SettingValues};

#[cfg(test)]
mod missing_tests;

#[cfg(test)]
mod reach_tests;

#[cfg(test)]
mod tests;

#[cfg(test)]
mod within_tests;
