//! Scores of answers and of runs: normalisation, the official metrics to the last bit, and the sum over a run.
//!
//! Scores are computed from trajectories and never stored as truth. An episode that was not measured is in no
//! mean; an episode without an answer is wrong. What an episode read is assessed too: retrieval, grounding, and the
//! failure class. In reading order:
//!
//! | file | what it holds |
//! |---|---|
//! | `normalize`, `overlap` | normalised answers; overlap of words and of sets |
//! | `metric` | the official answer scores; which of them a question is scored by |
//! | `observed`, `evidence`, `marks` | what an episode saw, what its answer needs, and where the two meet |
//! | `retrieval`, `failure`, `assessment` | gold pages opened; why an answer is wrong; both of an episode, and over a run |
//! | `figure` | the table of the figures of an episode |
//! | `tally`, `shortfall` | the score of a run; calls that returned less than the whole answer |
//! | `repeats`, `closed_book` | what the repeats of a question say together; what tools add to what a model knows |
//! | `divergence` | the first step in which two episodes differ |
//! | `files` | gold files and predictions of the official scripts |
//!
//! Other layers score an answer with `score_answers`, a run with a tally, and read figures from the table in `figure`.

pub mod assessment;
mod closed_book;
pub mod divergence;
pub mod evidence;
pub mod failure;
pub mod figure;
pub mod files;
mod marks;
pub mod metric;
pub mod normalize;
mod observed;
pub mod overlap;
mod repeats;
pub mod retrieval;
mod shortfall;
pub mod tally;

pub use assessment::{Assessment, RunAssessment};
pub use closed_book::{
    ClosedBook, RightAnswers, closed_book_sentences, closed_books, closed_books_within, has_counterpart,
};
pub use divergence::{Divergence, Part};
pub use evidence::{GoldEvidence, GoldFact, has_words, is_same_page, page_title};
pub use failure::{Failure, FailureClass};
pub use figure::{Better, Figure, Measure, ScoredEpisode, Unit};
pub use marks::marks;
pub use metric::{
    Metric, characters, fever_label, fid_em, hotpot, hotpot_max, musique, orqa_em, paper_reward, rouge_l_max,
    score_answers, squad11, squad20, strategy_qa, trivia,
};
pub use normalize::{is_unspaced, normalize, normalize_characters, normalize_fid, normalize_orqa, normalize_trivia};
pub use observed::search_missed;
pub use overlap::AnswerScore;
pub(crate) use overlap::float;
pub use repeats::{Pass, Repeats};
pub use retrieval::{GoldRetrieval, Grounding, Share};
pub use shortfall::{PromptGrowth, Shortfall, Shortfalls};
pub use tally::{RunScore, Tally};

#[cfg(test)]
mod assessment_tests;
#[cfg(test)]
pub(crate) mod fixtures;
#[cfg(test)]
mod tests;
