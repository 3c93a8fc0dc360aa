//! The comparison of variants on the same questions: differences, intervals, tests, and a verdict on each pair.
//!
//! [`Variant`]s are made from episodes or from tables of numbers, [`compare`] compares them under [`Settings`], and the
//! [`Comparison`] is plain data. `docs/statistics.md` has the formulas.

pub mod breakdown;
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
pub mod variant;
pub mod verdict;

pub use crate::score::{Better, Unit};
pub use breakdown::{Breakdown, Group, GroupMean, GroupPair};
pub use comparison::{
    Bounds, Comparison, DecisiveP, FigureComparison, Ids, MethodInterval, Pair, Tests, VariantMean, VariantSummary,
};
pub use error::CompareError;
pub use figure::NamedFigure;
pub use flips::{Flips, flips};
pub use run::compare;
pub use settings::{RESAMPLES, SEED, Settings};
pub use variant::{Item, Variant};
pub use verdict::Verdict;

#[cfg(test)]
mod tests;
