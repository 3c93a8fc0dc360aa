//! `HotpotQA`'s whole evaluation: answers, supporting facts, and both jointly.

use super::hotpot::hotpot;
use super::overlap::{AnswerScore, f1, ratio};
use crate::types::SupportingFact;
use std::collections::BTreeSet;

/// What was predicted for one question; what is absent scores nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct HotpotPrediction<'a> {
    /// The answer.
    pub answer: Option<&'a str>,
    /// The supporting facts.
    pub facts: Option<&'a [SupportingFact]>,
}

/// The scores of one question, or their means.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct HotpotScore {
    /// Of the answer.
    pub answer: AnswerScore,
    /// Of the supporting facts, as a set.
    pub facts: AnswerScore,
    /// Of both: precisions and recalls multiplied. Zero unless both were predicted.
    pub joint: AnswerScore,
}

impl HotpotScore {
    /// The numbers under their official names, in the official order.
    pub fn named(&self) -> [(&'static str, f64); 12] {
        let Self { answer, facts, joint } = self;
        [
            ("em", answer.em),
            ("f1", answer.f1),
            ("prec", answer.precision),
            ("recall", answer.recall),
            ("sp_em", facts.em),
            ("sp_f1", facts.f1),
            ("sp_prec", facts.precision),
            ("sp_recall", facts.recall),
            ("joint_em", joint.em),
            ("joint_f1", joint.f1),
            ("joint_prec", joint.precision),
            ("joint_recall", joint.recall),
        ]
    }
}

/// Scores supporting facts as sets of (title, sentence). Two empty sets give EM 1 and F1 0.
pub fn supporting_facts(predicted: &[SupportingFact], gold: &[SupportingFact]) -> AnswerScore {
    sets(&predicted.iter().collect(), &gold.iter().collect())
}

/// Precision, recall, F1 and equality of two sets.
pub(crate) fn sets<T: Ord>(predicted: &BTreeSet<T>, gold: &BTreeSet<T>) -> AnswerScore {
    let same = predicted.intersection(gold).count();
    counted(same, same, predicted.len(), gold.len())
}

/// The score of `hits` right ones among the predicted, and of `found` of the gold ones.
pub(crate) fn counted(hits: usize, found: usize, predicted: usize, gold: usize) -> AnswerScore {
    let (precision, recall) = (ratio(hits, predicted), ratio(found, gold));
    let em = f64::from(u8::from(hits == predicted && found == gold));
    AnswerScore { em, f1: f1(precision, recall), precision, recall }
}

/// The joint score of two: their precisions, recalls and EMs multiplied, and F1 from the products.
pub(crate) fn joint(a: AnswerScore, b: AnswerScore) -> AnswerScore {
    let (precision, recall) = (a.precision * b.precision, a.recall * b.recall);
    AnswerScore { em: a.em * b.em, f1: f1(precision, recall), precision, recall }
}

/// The evaluation of a file of predictions, question by question in the order of the gold file.
#[derive(Debug, Clone, Default)]
pub struct HotpotEvaluation {
    sum: HotpotScore,
    n: usize,
}

impl HotpotEvaluation {
    /// Adds one question and gives its scores. A question without prediction counts in the means.
    pub fn add(&mut self, prediction: HotpotPrediction<'_>, gold: &str, facts: &[SupportingFact]) -> HotpotScore {
        let answer = prediction.answer.map(|answer| hotpot(answer, gold));
        let facts = prediction.facts.map(|predicted| supporting_facts(predicted, facts));
        let joint = answer.zip(facts).map(|(answer, facts)| joint(answer, facts));
        let score = HotpotScore {
            answer: answer.unwrap_or_default(),
            facts: facts.unwrap_or_default(),
            joint: joint.unwrap_or_default(),
        };
        self.n += 1;
        self.sum.answer.add(score.answer);
        self.sum.facts.add(score.facts);
        self.sum.joint.add(score.joint);
        score
    }

    /// The means over all questions added; zeros without any.
    pub fn mean(&self) -> HotpotScore {
        let mean = |sum: AnswerScore| sum.over(self.n);
        HotpotScore { answer: mean(self.sum.answer), facts: mean(self.sum.facts), joint: mean(self.sum.joint) }
    }

    /// Questions added.
    pub fn n(&self) -> usize {
        self.n
    }
}
