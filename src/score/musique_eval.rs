//! `MuSiQue`'s whole evaluation: answers and support of answerable records, and the twins of the "full" files.

use super::hotpot_eval::sets;
use super::overlap::{EmF1, ratio_of_sum, round_like_python};
use super::squad::musique;
use std::collections::{BTreeSet, HashMap};

/// What was predicted for one record.
#[derive(Debug, Clone, Copy)]
pub struct MusiquePrediction<'a> {
    /// The answer.
    pub answer: &'a str,
    /// Indices of the paragraphs taken to support it.
    pub support: &'a [i64],
    /// Whether the paragraphs were taken to be sufficient.
    pub answerable: bool,
}

/// The gold of one record.
#[derive(Debug, Clone, Copy)]
pub struct MusiqueGold<'a> {
    /// Id, which twins share.
    pub id: &'a str,
    /// The answer and its aliases.
    pub answers: &'a [String],
    /// Indices of the supporting paragraphs.
    pub support: &'a [i64],
    /// Whether the paragraphs are sufficient.
    pub answerable: bool,
}

/// The scores of one record.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MusiqueScore {
    /// Of the answer.
    pub answer: EmF1,
    /// Of the support, as a set; two empty sets give EM 1 and F1 1.
    pub support: EmF1,
}

/// Scores of support. Two empty sets give EM 1 and F1 1, unlike in `HotpotQA`.
pub fn musique_support(predicted: &[i64], gold: &[i64]) -> EmF1 {
    if predicted.is_empty() && gold.is_empty() {
        return EmF1 { em: 1.0, f1: 1.0 };
    }
    sets(&predicted.iter().collect::<BTreeSet<_>>(), &gold.iter().collect()).into()
}

/// Two twins: whether each was rightly taken for answerable, and the scores of the one that is.
#[derive(Debug, Clone, Default)]
struct Group {
    sufficient: bool,
    answer_f1: f64,
    support_f1: f64,
}

/// The evaluation of a file of predictions, record by record in the order of the gold file.
#[derive(Debug, Clone, Default)]
pub struct MusiqueEvaluation {
    answer: EmF1,
    support_f1: f64,
    n: usize,
    /// In the order in which their ids were first met.
    groups: Vec<Group>,
    by_id: HashMap<String, usize>,
    unanswerable: bool,
}

impl MusiqueEvaluation {
    /// Adds one record and gives its scores, which count in the means of an answerable record only.
    pub fn add(&mut self, prediction: MusiquePrediction<'_>, gold: &MusiqueGold<'_>) -> MusiqueScore {
        let answer = musique(prediction.answer, gold.answers);
        let support = musique_support(prediction.support, gold.support);
        let groups = &mut self.groups;
        let place = *self.by_id.entry(gold.id.to_owned()).or_insert_with(|| {
            groups.push(Group { sufficient: true, ..Group::default() });
            groups.len() - 1
        });
        let group = &mut groups[place];
        group.sufficient &= prediction.answerable == gold.answerable;
        if gold.answerable {
            self.n += 1;
            self.answer.em += answer.em;
            self.answer.f1 += answer.f1;
            self.support_f1 += support.f1;
            group.answer_f1 = answer.f1;
            group.support_f1 = support.f1;
        } else {
            self.unanswerable = true;
        }
        MusiqueScore { answer, support }
    }

    /// The means under their official names; those of the groups only where a record was not answerable.
    pub fn means(&self) -> Vec<(&'static str, f64)> {
        let mut means = vec![
            ("answer_f1", ratio_of_sum(self.answer.f1, self.n)),
            ("answer_em", ratio_of_sum(self.answer.em, self.n)),
            ("support_f1", ratio_of_sum(self.support_f1, self.n)),
        ];
        if self.unanswerable {
            let mean = |f1: fn(&Group) -> f64| {
                let sum = self.groups.iter().map(|group| if group.sufficient { f1(group) } else { 0.0 }).sum();
                ratio_of_sum(sum, self.groups.len())
            };
            means.push(("group_answer_sufficiency_f1", mean(|group| group.answer_f1)));
            means.push(("group_support_sufficiency_f1", mean(|group| group.support_f1)));
        }
        means
    }

    /// What the official script prints: the means with three decimals.
    pub fn official(&self) -> Vec<(&'static str, f64)> {
        self.means().into_iter().map(|(name, mean)| (name, round_like_python(mean, 3))).collect()
    }
}
