//! The interval of a run's mean, and its name.

use crate::score::RunScore;
use crate::stats::{Interval, mean_interval, wilson};

/// Coverage of every interval of a run.
pub const LEVEL: f64 = 0.95;

/// The interval of the mean EM: Wilson's if each question was run once, else Student's t over the means of the questions.
pub fn em_interval(score: &RunScore) -> Option<Interval> {
    match score.questions {
        None => (score.scored > 0).then(|| wilson(score.correct, score.scored, LEVEL)),
        Some(questions) => of_shares(score.em?, questions.em_variance?, questions.n),
    }
}

/// The interval of the mean F1: Student's t, over episodes if each question was run once, else over the means of the
/// questions.
pub fn f1_interval(score: &RunScore) -> Option<Interval> {
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
pub(super) fn caption<'a>(mut scores: impl Iterator<Item = &'a RunScore>) -> &'static str {
    if scores.any(|score| score.questions.is_some()) {
        "intervals: Student's t over the means of each question's repeats, 95 %"
    } else {
        "intervals: Wilson's for EM, Student's t for F1, 95 %"
    }
}

#[cfg(test)]
mod tests {
    use super::{em_interval, f1_interval};
    use crate::score::{QuestionMeans, RunScore};
    use crate::stats::{Interval, mean_interval_of};

    #[test]
    fn repeats_are_averaged_before_the_interval() {
        // Three questions, ten repeats each: counting thirty independent episodes would make the interval too narrow.
        let once = RunScore { scored: 30, correct: 15, em: Some(0.5), ..RunScore::default() };
        let questions = QuestionMeans { n: 3, em_variance: Some(0.25), f1_variance: None };
        let repeated = RunScore { questions: Some(questions), ..once.clone() };
        let narrow = em_interval(&once).expect("an interval");
        assert!(narrow.low > 0.3 && narrow.high < 0.7, "{narrow:?}");
        let wide = mean_interval_of(&[1.0, 0.0, 0.5], 0.95).expect("an interval");
        assert!(wide.low < 0.0 && wide.high > 1.0, "{wide:?}");
        assert_eq!(em_interval(&repeated), Some(Interval { low: 0.0, high: 1.0 }));
        assert_eq!(f1_interval(&repeated), None);
        assert_eq!((em_interval(&RunScore::default()), f1_interval(&RunScore::default())), (None, None));
    }
}
