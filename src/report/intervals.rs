//! The interval of a run's mean, and its name.

use crate::score::RunScore;
use crate::stats::{Interval, mean_interval, wilson};

/// Coverage of every interval of a run.
pub(crate) const LEVEL: f64 = 0.95;

/// The interval of the mean EM: Wilson's if each question was run once, else Student's t over the means of the questions.
pub(crate) fn em_interval(score: &RunScore) -> Option<Interval> {
    match score.questions {
        None => (score.scored > 0).then(|| wilson(score.correct, score.scored, LEVEL)),
        Some(questions) => of_shares(score.em?, questions.em_variance?, questions.n),
    }
}

/// The interval of the mean F1: Student's t, over episodes if each question was run once, else over the means of the
/// questions.
pub(crate) fn f1_interval(score: &RunScore) -> Option<Interval> {
    match score.questions {
        None => of_shares(score.f1?, score.f1_variance?, score.scored),
        Some(questions) => of_shares(score.f1?, questions.f1_variance?, questions.n),
    }
}

/// A mean of shares lies between 0 and 1; an interval from the t distribution may exceed that.
fn of_shares(mean: f64, variance: f64, n: u64) -> Option<Interval> {
    let interval = mean_interval(mean, variance, n, LEVEL)?;
    Some(Interval { low: interval.low.max(0.0), high: interval.high.min(1.0) })
}

/// The names of these scores' intervals, on one line.
pub(super) fn caption<'a>(mut scores: impl Iterator<Item = &'a RunScore>, accuracy: bool) -> &'static str {
    if scores.any(|score| score.questions.is_some()) {
        "intervals: Student's t over the means of each question's repeats, 95 %"
    } else if accuracy {
        "intervals: Wilson's, 95 %"
    } else {
        "intervals: Wilson's for EM, Student's t for F1, 95 %"
    }
}
