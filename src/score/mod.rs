//! Scores of answers and of runs: normalisation, the official metrics to the last bit, and the sum over a run.
//!
//! Scores are computed from trajectories and never stored as truth. An episode that was not measured is in no
//! mean; an episode without an answer is wrong. What an episode read on its way is assessed beside its answer:
//! retrieval, grounding, and the class of a failure.

pub mod assessment;
pub mod characters;
pub mod divergence;
pub mod evidence;
pub mod failure;
pub mod fever;
pub mod figure;
pub mod files;
pub mod grounding;
pub mod hotpot;
pub mod metric;
pub mod normalize;
mod observed;
pub mod open_domain;
pub mod overlap;
pub mod paper;
pub mod retrieval;
pub mod squad;
pub mod tally;
mod wording;

pub use assessment::{Assessment, FailureCounts, RunAssessment, Share};
pub use characters::{characters, is_unspaced, normalize_characters};
pub use divergence::{Divergence, Part};
pub use evidence::{EvidenceGroup, GoldEvidence, GoldFact};
pub use failure::{Failure, FailureClass};
pub use fever::{FEVER_LABELS, fever_label};
pub use figure::{AssessedEpisode, Better, Figure, Measure, Unit};
pub use grounding::Grounding;
pub use hotpot::{hotpot, hotpot_max};
pub use metric::{Metric, score_answers, score_question};
pub use normalize::{normalize, normalize_fid, normalize_orqa, normalize_trivia};
pub use observed::search_missed;
pub use open_domain::{fid_em, orqa_em, trivia};
pub use overlap::{AnswerScore, EmF1};
pub use paper::paper_reward;
pub use retrieval::{GoldRetrieval, Retrieval};
pub use squad::{musique, squad11, squad20};
pub use tally::{QuestionMeans, RunScore, Tally};

#[cfg(test)]
mod shared {
    include!("../../tests/it/common/shared.rs");
}
#[cfg(test)]
mod assessment_tests;
#[cfg(test)]
mod fixtures;
#[cfg(test)]
mod tests;
