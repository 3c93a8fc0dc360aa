//! `MuSiQue`: JSON lines of golds against JSON lines of predictions, which must name the same records in the same order.

use super::json_file::Records;
use super::report::{Items, Report, named};
use super::{FileError, Files};
use crate::score::{MusiqueEvaluation, MusiqueGold, MusiquePrediction, MusiqueScore};
use crate::types::excerpt;
use serde::Deserialize;
use serde_json::Value;

/// Which records of a file count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Subset {
    /// All; with scores of twins where a record is not answerable.
    All,
    /// The answerable ones.
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
    #[serde(default = "yes")]
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

fn yes() -> bool {
    true
}

/// Scores as `evaluate_v1.0.py` does. A prediction that is missing or out of order is an error, as there.
pub(super) fn score(files: &Files<'_>, subset: Subset) -> Result<Report, FileError> {
    let golds: Records<'_, Gold> = files.gold.records(GOLD)?;
    let predictions: Records<'_, Prediction> = files.predictions.records(PREDICTIONS)?;
    let twins = golds.list.iter().any(|gold| !gold.answerable);
    if subset == Subset::Full && !twins {
        return Err(files
            .gold
            .error("no record is unanswerable", "use --metric musique for files of answerable records"));
    }
    same_order(files, &golds.list, &predictions)?;
    let needed = twins && subset != Subset::Answerable;
    let mut evaluation = MusiqueEvaluation::default();
    let (mut items, mut n) = (Items::new(files.per_item), 0);
    for (index, (gold, prediction)) in golds.list.iter().zip(&predictions.list).enumerate() {
        if subset == Subset::Answerable && !gold.answerable {
            continue;
        }
        if needed && prediction.predicted_answerable.is_none() {
            return Err(predictions.error(index, "predicted_answerable", "missing"));
        }
        let score = add(&mut evaluation, gold, prediction);
        n += 1;
        let values: [(_, Value); 5] = [
            ("answerable", gold.answerable.into()),
            ("answer_em", score.answer.em.into()),
            ("answer_f1", score.answer.f1.into()),
            ("support_em", score.support.em.into()),
            ("support_f1", score.support.f1.into()),
        ];
        items.add(gold.id.as_str(), values);
    }
    Ok(Report {
        metric: "musique",
        n,
        aggregate: named(evaluation.means()),
        official: Some(named(evaluation.official())),
        missing: serde_json::Map::new(),
        items: items.0,
    })
}

fn add(evaluation: &mut MusiqueEvaluation, gold: &Gold, prediction: &Prediction) -> MusiqueScore {
    let answers: Vec<String> = std::iter::once(&gold.answer).chain(&gold.answer_aliases).cloned().collect();
    let supporting = gold.paragraphs.iter().filter(|paragraph| paragraph.is_supporting);
    let support: Vec<i64> = supporting.map(|paragraph| paragraph.idx).collect();
    evaluation.add(
        MusiquePrediction {
            answer: &prediction.predicted_answer,
            support: &prediction.predicted_support_idxs,
            answerable: prediction.predicted_answerable.unwrap_or(true),
        },
        &MusiqueGold { id: &gold.id, answers: &answers, support: &support, answerable: gold.answerable },
    )
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
    match golds.get(found) {
        None => Ok(()),
        Some(gold) => {
            let what = format!(
                "predictions for {found} of {wanted} records; the first one missing is `{}`",
                excerpt(&gold.id)
            );
            Err(files.predictions.error(what, PREDICTIONS))
        }
    }
}
