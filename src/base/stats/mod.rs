//! Statistics over plain numbers: intervals for shares and means, paired tests, resampling, corrections, power.
//!
//! What cannot be computed, such as the spread of one value, is `None` rather than NaN. `docs/statistics.md` has the
//! formulas and their sources.
//!
//! | file | what it holds |
//! |---|---|
//! | `interval, distributions` | means, intervals, distribution functions |
//! | `exact, resampling, rng` | tests and resampling |
//! | `bounded, sequential` | what holds for every distribution; rules that stop a run |
//! | `decision, power` | the test that decides, corrections, and what it can show |
//! | `agreement, ppi` | agreement of annotators; judges' figures corrected by labels |

pub mod agreement;
pub mod between;
pub mod bounded;
pub mod decision;
pub mod distributions;
pub mod exact;
pub mod interval;
pub mod power;
pub mod ppi;
pub mod resampling;
pub mod rng;
pub mod sequential;

pub use agreement::{Agreement, Coefficient};
pub use between::Between;
pub use bounded::Moments;
pub use decision::{Decision, Differences, Reach, Rule, benjamini_hochberg, bonferroni, holm};
pub use exact::{CochranQ, McNemar, Wilcoxon, cochran_q, fisher_exact, wilcoxon};
pub use interval::{Interval, Mean, Sums, TTest, clopper_pearson, independent_difference, pearson, wilson};
pub use power::{Design, Needed, Spread, VarianceParts, least_differing, questions_needed, smallest_difference};
pub use ppi::{Corrected, JudgedItem, LabelledPart, corrected, corrected_at_odds, corrected_difference};
pub use resampling::{Bootstrap, Permutation, arms_permutation, permutation, permutation_resampled};
pub use sequential::Betting;

#[cfg(test)]
mod decision_tests;

#[cfg(test)]
mod tests;
