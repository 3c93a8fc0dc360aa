//! The comparison of columns on the same questions: differences, intervals, tests, and a verdict on each pair.
//!
//! Pure: columns in, figures out. [`Column`]s are made from episodes or from tables of numbers, [`compare`] holds them
//! against each other under [`Settings`], and [`Comparison`] is the answer as plain data. `docs/statistics.md` has the
//! formulas.

pub mod breakdown;
pub mod column;
pub mod comparison;
pub mod error;
pub mod figure;
pub mod flips;
pub mod number;
mod pairing;
mod pairs;
mod run;
mod sample;
pub mod settings;
pub mod verdict;

pub use crate::score::{Better, Unit};
pub use breakdown::{Breakdown, Group, GroupMean, GroupPair};
pub use column::{Column, Item};
pub use comparison::{
    Bounds, ColumnMean, ColumnSummary, Comparison, DecisiveP, FigureComparison, Ids, MethodInterval, Pair, Tests,
};
pub use error::CompareError;
pub use figure::NamedFigure;
pub use flips::{Flips, flips};
pub use run::compare;
pub use settings::{RESAMPLES, SEED, Settings};
pub use verdict::Verdict;

#[cfg(test)]
mod tests;
