//! Open-domain answers: `TriviaQA`, and the exact match of `ORQA` and of `FiD` for NQ-open.

use super::normalize::{normalize_fid, normalize_orqa, normalize_trivia};
use super::overlap::{EmF1, overlap};
use super::squad::best;

/// `TriviaQA`: the maxima of EM and F1 over all spellings of the answer.
pub fn trivia<S: AsRef<str>>(prediction: &str, golds: &[S]) -> EmF1 {
    let prediction = normalize_trivia(prediction);
    best(golds.iter().map(|gold| EmF1::from(overlap(&prediction, &normalize_trivia(gold.as_ref())))))
}

/// `ORQA`'s exact match, which NQ-open took over: whether the prediction equals a gold after normalisation.
pub fn orqa_em<S: AsRef<str>>(prediction: &str, golds: &[S]) -> bool {
    let prediction = normalize_orqa(prediction);
    golds.iter().any(|gold| normalize_orqa(gold.as_ref()) == prediction)
}

/// `FiD`'s exact match; see [`normalize_fid`] for where it differs.
pub fn fid_em<S: AsRef<str>>(prediction: &str, golds: &[S]) -> bool {
    let prediction = normalize_fid(prediction);
    golds.iter().any(|gold| normalize_fid(gold.as_ref()) == prediction)
}
