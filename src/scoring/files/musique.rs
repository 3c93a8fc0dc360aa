//! `MuSiQue`: JSON lines of golds against JSON lines of predictions, which must name the same records in the same order.

use super::hotpot::sets;
use super::{FileError, Files, Records, Report, named};
use crate::base::excerpt;
use crate::scoring::musique;
use crate::scoring::overlap::{AnswerScore, ratio_of_sum, round_like_python};
use serde::Deserialize;
use serde_json::Value;
use std::collections::{BTreeSet, HashMap};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Subset {
    /// All; with scores of twins where a record is not answerable.
    All,
    Answerable,
    /// All, and some must be unanswerable.
    Full,
}

#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct Gold {
    id: String,
    answer: String,
    #[serde(default)]
    answer_aliases: Vec<String>,
    #[serde(default = "crate::base::yes")]
    answerable: bool,
    paragraphs: Vec<Paragraph>,
}

#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct Paragraph {
    idx: i64,
    is_supporting: bool,
}

#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct Prediction {
    id: String,
    predicted_answer: String,
    predicted_support_idxs: Vec<i64>,
    predicted_answerable: Option<bool>,
}

const GOLD: &str =
    "the gold is MuSiQue's own file: `id`, `answer`, `answer_aliases`, `answerable` and `paragraphs` on each line";
const PREDICTIONS: &str = "write one line `{id, predicted_answer, predicted_support_idxs, predicted_answerable}` for each \
    record of the gold file, in its order";

/// The means of answerable records, and of the twins where a record is not answerable.
#[derive(Default)]
struct Sums<'a> {
    answer: AnswerScore,
    support_f1: f64,
    n: usize,
    /// Twins, in the order in which their ids were first met.
    groups: Vec<Group>,
    by_id: HashMap<&'a str, usize>,
}

/// Two twins: whether each was rightly judged answerable, and the scores of the one that is.
struct Group {
    sufficient: bool,
    answer_f1: f64,
    support_f1: f64,
}

impl<'a> Sums<'a> {
    fn add(&mut self, gold: &'a Gold, answerable: bool, answer: AnswerScore, support: AnswerScore) {
        let groups = &mut self.groups;
        let place = *self.by_id.entry(&gold.id).or_insert_with(|| {
            groups.push(Group { sufficient: true, answer_f1: 0.0, support_f1: 0.0 });
            groups.len() - 1
        });
        let group = &mut groups[place];
        group.sufficient &= answerable == gold.answerable;
        if gold.answerable {
            self.n += 1;
            self.answer.add(answer);
            self.support_f1 += support.f1;
            (group.answer_f1, group.support_f1) = (answer.f1, support.f1);
        }
    }

    fn means(&self, of_groups: bool) -> Vec<(&'static str, f64)> {
        let mut means = vec![
            ("answer_f1", ratio_of_sum(self.answer.f1, self.n)),
            ("answer_em", ratio_of_sum(self.answer.em, self.n)),
            ("support_f1", ratio_of_sum(self.support_f1, self.n)),
        ];
        if of_groups {
            let mean = |f1: fn(&Group) -> f64| {
                let sum = self.groups.iter().map(|group| if group.sufficient { f1(group) } else { 0.0 }).sum();
                ratio_of_sum(sum, self.groups.len())
            };
            means.push(("group_answer_sufficiency_f1", mean(|group| group.answer_f1)));
            means.push(("group_support_sufficiency_f1", mean(|group| group.support_f1)));
        }
        means
    }
}

/// Scores as `evaluate_v1.0.py` does. A prediction that is missing or out of order is an error, as there.
pub(super) fn score(files: &Files<'_>, subset: Subset) -> Result<Report, FileError> {
    let golds: Records<'_, Gold> = files.gold.records(GOLD)?;
    let predictions: Records<'_, Prediction> = files.predictions.records(PREDICTIONS)?;
    let twins = golds.list.iter().any(|gold| !gold.answerable);
    if subset == Subset::Full && !twins {
        let hint = "use --metric musique for files of answerable records";
        return Err(files.gold.error("no record is unanswerable", hint));
    }
    same_order(files, &golds.list, &predictions)?;
    let with_twins = twins && subset != Subset::Answerable;
    let (mut sums, mut report) = (Sums::default(), Report::new("musique", files));
    for (index, (gold, prediction)) in golds.list.iter().zip(&predictions.list).enumerate() {
        if subset == Subset::Answerable && !gold.answerable {
            continue;
        }
        if with_twins && prediction.predicted_answerable.is_none() {
            return Err(predictions.error(index, "predicted_answerable", "missing"));
        }
        let answers: Vec<&String> = std::iter::once(&gold.answer).chain(&gold.answer_aliases).collect();
        let answer = musique(&prediction.predicted_answer, &answers);
        let support = support(&prediction.predicted_support_idxs, &gold.paragraphs);
        sums.add(gold, prediction.predicted_answerable.unwrap_or(true), answer, support);
        let values: [(_, Value); 5] = [
            ("answerable", gold.answerable.into()),
            ("answer_em", answer.em.into()),
            ("answer_f1", answer.f1.into()),
            ("support_em", support.em.into()),
            ("support_f1", support.f1.into()),
        ];
        report.add(gold.id.as_str(), values);
    }
    let means = sums.means(with_twins);
    // The script prints three decimals.
    let official = means.iter().map(|(name, mean)| (*name, round_like_python(*mean, 3)));
    Ok(Report { official: Some(named(official)), aggregate: named(means), ..report })
}

/// Scores of support. Two empty sets give EM 1 and F1 1, unlike in `HotpotQA`.
fn support(predicted: &[i64], paragraphs: &[Paragraph]) -> AnswerScore {
    let gold: BTreeSet<&i64> =
        paragraphs.iter().filter(|paragraph| paragraph.is_supporting).map(|paragraph| &paragraph.idx).collect();
    if predicted.is_empty() && gold.is_empty() {
        return AnswerScore::right(true);
    }
    sets(&predicted.iter().collect(), &gold)
}

fn same_order(files: &Files<'_>, golds: &[Gold], predictions: &Records<'_, Prediction>) -> Result<(), FileError> {
    for (index, prediction) in predictions.list.iter().enumerate() {
        let what = match golds.get(index) {
            Some(gold) if gold.id == prediction.id => continue,
            Some(gold) => format!("the gold file has `{}` here", excerpt(&gold.id)),
            None => format!("the gold file ends after {} records", golds.len()),
        };
        return Err(predictions.error(index, "id", what));
    }
    let (found, wanted) = (predictions.list.len(), golds.len());
    let Some(gold) = golds.get(found) else { return Ok(()) };
    let what = format!("predictions for {found} of {wanted} records; the first one missing is `{}`", excerpt(&gold.id));
    Err(files.predictions.error(what, PREDICTIONS))
}
