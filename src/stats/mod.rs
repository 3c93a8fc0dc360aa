//! Statistics over plain numbers: intervals for shares and means, paired tests, resampling, corrections, power.
//!
//! What cannot be computed, such as the spread of one value, is `None` rather than NaN. `docs/statistics.md` has the
//! formulas and their sources.

pub mod agreement;
pub mod arms;
mod beta;
pub mod bootstrap;
pub mod bounded;
pub mod clusters;
pub mod cochran;
pub mod decision;
pub mod fisher;
pub mod interval;
pub mod inverted;
pub mod mcnemar;
pub mod mean;
pub mod multiple;
pub mod permutation;
pub mod power;
pub mod ppi;
pub mod quantile;
pub mod reach;
pub mod rng;
pub mod sequential;
pub mod wilcoxon;

pub use agreement::{Agreement, Coefficient, Confusion};
pub use arms::arms_permutation;
pub use bootstrap::Bootstrap;
pub use bounded::Moments;
pub use clusters::Sums;
pub use cochran::{CochranQ, cochran_q};
pub use decision::{Decision, Differences, Reach, Rule};
pub use fisher::fisher_exact;
pub use interval::{Interval, clopper_pearson, independent_difference, wilson};
pub use inverted::{flip_interval, score_interval};
pub use mcnemar::{ChiSquare, McNemar};
pub use mean::{Mean, TTest, pearson};
pub use multiple::{benjamini_hochberg, bonferroni, holm};
pub use permutation::{Permutation, permutation, permutation_resampled};
pub use power::{VarianceParts, questions_needed, smallest_difference};
pub use ppi::{Corrected, JudgedItem, LabelledPart, corrected, corrected_at_odds, corrected_difference};
pub use reach::{Design, Need, Needed, Spread, least_differing};
pub use sequential::Betting;
pub use wilcoxon::{Wilcoxon, wilcoxon};
#[cfg(test)]
mod decision_tests;
#[cfg(test)]
mod tests;
