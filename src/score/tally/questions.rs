//! Sums of each question of a run with repeats, and the means over questions that they make.
//!
//! Repeats of one question share what makes it hard, so they are averaged first, and the question is the unit: the mean
//! is over the questions' own means, and so is its variance.

use super::{RunScore, float};
use crate::score::overlap::AnswerScore;
use serde::Serialize;
use std::collections::BTreeMap;

/// How the questions' own means vary.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct QuestionMeans {
    /// Questions with a scored episode; the `n` of the means.
    pub n: u64,
    /// Sample variance of the questions' EM (divided by `n - 1`); absent below two.
    pub em_variance: Option<f64>,
    /// The same of F1.
    pub f1_variance: Option<f64>,
}

/// The sums by question, in the order of their ids, so that equal input in any order gives equal bits.
#[derive(Debug, Clone, Default)]
pub(super) struct Questions(BTreeMap<String, Sums>);

#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    scored: u64,
    /// Episodes that were not measured.
    missing: u64,
    em: f64,
    f1: f64,
}

impl Questions {
    /// Adds an episode that was not measured and whose gold is known.
    pub(super) fn miss(&mut self, id: &str) {
        self.sums(id).missing += 1;
    }

    pub(super) fn add(&mut self, id: &str, score: AnswerScore) {
        let sums = self.sums(id);
        sums.scored += 1;
        sums.em += score.em;
        sums.f1 += score.f1;
    }

    fn sums(&mut self, id: &str) -> &mut Sums {
        self.0.entry(id.to_owned()).or_default()
    }

    /// Puts the means over questions into the score.
    pub(super) fn means(&self, score: &mut RunScore) {
        let scored = || self.0.values().filter(|sums| sums.scored > 0);
        let (em, em_variance) = mean(scored().map(|sums| sums.em / float(sums.scored)));
        let (f1, f1_variance) = mean(scored().map(|sums| sums.f1 / float(sums.scored)));
        let n = scored().map(|_| 1).sum();
        (score.em, score.f1) = (em, f1);
        score.questions = Some(QuestionMeans { n, em_variance, f1_variance });
        let all = |sums: &Sums| float(sums.scored + sums.missing);
        let (low, _) = mean(self.0.values().map(|sums| sums.em / all(sums)));
        let (high, _) = mean(self.0.values().map(|sums| (sums.em + float(sums.missing)) / all(sums)));
        score.em_bounds = low.zip(high).map(|(low, high)| [low, high]);
    }
}

/// Mean and sample variance of the values.
fn mean(values: impl Iterator<Item = f64> + Clone) -> (Option<f64>, Option<f64>) {
    let (mut n, mut sum) = (0_u64, 0.0);
    for value in values.clone() {
        n += 1;
        sum += value;
    }
    if n == 0 {
        return (None, None);
    }
    let mean = sum / float(n);
    let squares: f64 = values.map(|value| (value - mean) * (value - mean)).sum();
    (Some(mean), (n > 1).then(|| squares / float(n - 1)))
}
