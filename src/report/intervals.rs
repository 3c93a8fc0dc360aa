//! The interval of a run's mean, and its name.

use crate::score::RunScore;
use crate::stats::{Interval, Moments, Sums, wilson};

/// Coverage of every interval of a run.
pub(crate) const LEVEL: f64 = 0.95;

/// The interval of the mean EM: Wilson's if each question was run once, else the padded t over the means of the questions.
pub(crate) fn em_interval(score: &RunScore) -> Option<Interval> {
    match score.questions {
        None => (score.scored > 0).then(|| wilson(score.correct, score.scored, LEVEL)),
        Some(questions) => padded(score.em?, questions.em_variance?, questions.n),
    }
}

/// The interval of the mean F1: the padded t, over episodes if each question was run once, else over the means of the
/// questions. Wilson's where every F1 is 0 or 1, as `compare` has it.
pub(crate) fn f1_interval(score: &RunScore) -> Option<Interval> {
    match (score.questions, right_by_f1(score)) {
        (Some(questions), _) => padded(score.f1?, questions.f1_variance?, questions.n),
        (None, Some(right)) => Some(wilson(right, score.scored, LEVEL)),
        (None, None) => padded(score.f1?, score.f1_variance?, score.scored),
    }
}

/// How many episodes have an F1 of 1, where all have 0 or 1: only then is the sum of the squares the sum.
fn right_by_f1(score: &RunScore) -> Option<u64> {
    let (mean, variance) = (score.f1?, score.f1_variance.unwrap_or_default());
    #[expect(clippy::cast_precision_loss, reason = "a number of episodes")]
    let n = score.scored as f64;
    let (sum, squares) = (n * mean, (n - 1.0) * variance + n * mean * mean);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a number of episodes")]
    let right = sum.round() as u64;
    (score.scored > 0 && (squares - sum).abs() < 1e-9 * n).then_some(right)
}

/// The interval of the mean of these shares; Wilson's where all are 0 or 1 and each question was run once.
pub(crate) fn shares_interval(values: &[f64], once: bool) -> Option<Interval> {
    let right = values.iter().filter(|value| **value >= 1.0).count();
    if once && !values.is_empty() && values.iter().all(|value| *value <= 0.0 || *value >= 1.0) {
        return Some(wilson(u64::try_from(right).ok()?, u64::try_from(values.len()).ok()?, LEVEL));
    }
    Moments::of(&Sums::alone(values)).padded_interval(Interval::SHARES, LEVEL).filter(|_| !values.is_empty())
}

fn padded(mean: f64, variance: f64, n: u64) -> Option<Interval> {
    Moments::of_mean(mean, variance, n).padded_interval(Interval::SHARES, LEVEL)
}

/// The names of these scores' intervals, on one line.
pub(super) fn caption<'a>(mut scores: impl Iterator<Item = &'a RunScore> + Clone, accuracy: bool) -> &'static str {
    let of_right = |score: &RunScore| right_by_f1(score).is_some();
    if scores.clone().any(|score| score.questions.is_some()) {
        "intervals: padded t over the means of each question's repeats, 95 %"
    } else if accuracy || scores.clone().all(|score| score.scored == 0 || of_right(score)) {
        "intervals: Wilson's, 95 %"
    } else if scores.any(of_right) {
        "intervals: Wilson's for EM, and for F1 of 0 and 1 alone, else padded t for F1, 95 %"
    } else {
        "intervals: Wilson's for EM, padded t for F1, 95 %"
    }
}
