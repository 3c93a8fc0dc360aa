//! `MuSiQue`: JSON lines of golds against JSON lines of predictions, which must name the same records in the same order.

use super::input::{self, Kind, Source, Text, shown};
use super::report::{Report, item, named};
use crate::report::counted;
use crate::score::{MusiqueEvaluation, MusiqueGold, MusiquePrediction, MusiqueScore};
use serde::Deserialize;

/// Which records of a file count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Subset {
    /// All; the scores of groups where a record is not answerable.
    Seen,
    /// The answerable ones.
    Answerable,
    /// All, and there must be some that are not answerable.
    Full,
}

#[derive(Deserialize)]
struct Gold<'a> {
    #[serde(borrow)]
    id: Text<'a>,
    answer: String,
    #[serde(default)]
    answer_aliases: Vec<String>,
    #[serde(default = "yes")]
    answerable: bool,
    paragraphs: Vec<Paragraph>,
}

#[derive(Deserialize)]
struct Paragraph {
    idx: i64,
    is_supporting: bool,
}

#[derive(Deserialize)]
struct Prediction<'a> {
    #[serde(borrow)]
    id: Text<'a>,
    #[serde(borrow)]
    predicted_answer: Text<'a>,
    predicted_support_idxs: Vec<i64>,
    predicted_answerable: Option<bool>,
}

const GOLD: Kind = Kind {
    ids: &["id"],
    check: |text| serde_json::from_str::<Gold<'_>>(text).map(drop),
    hint: "the gold is MuSiQue's own file: `id`, `answer`, `answer_aliases`, `answerable` and `paragraphs` a line",
};
const PREDICTIONS: Kind = Kind {
    ids: &["id"],
    check: |text| serde_json::from_str::<Prediction<'_>>(text).map(drop),
    hint: "a prediction is `{id, predicted_answer, predicted_support_idxs, predicted_answerable}`, one a line",
};
const ORDER: &str = "predictions stand in the order of the gold file, one for each of its records";

fn yes() -> bool {
    true
}

/// Scores as `evaluate_v1.0.py` does. A prediction that is missing or out of order is an error, as there.
pub(super) fn musique(gold: &Source, predicted: &Source, subset: Subset, per_item: bool) -> anyhow::Result<Report> {
    let (gold_text, predicted_text) = (gold.text()?, predicted.text()?);
    let golds: Vec<Gold<'_>> = input::records(gold, &gold_text, GOLD)?;
    let predictions: Vec<Prediction<'_>> = input::records(predicted, &predicted_text, PREDICTIONS)?;
    let twins = golds.iter().any(|gold| !gold.answerable);
    if subset == Subset::Full && !twins {
        return Err(gold.bad("no record is unanswerable", "take --metric musique for files of answerable records"));
    }
    same_order((predicted, &predicted_text), &golds, &predictions)?;
    let needed = twins && subset != Subset::Answerable;
    let mut evaluation = MusiqueEvaluation::default();
    let (mut items, mut n) = (Vec::new(), 0);
    for (index, (gold, prediction)) in golds.iter().zip(&predictions).enumerate() {
        if subset == Subset::Answerable && !gold.answerable {
            continue;
        }
        if needed && prediction.predicted_answerable.is_none() {
            let place = input::place(&predicted_text, index, prediction.id.as_str());
            return Err(predicted.bad_field(place, "predicted_answerable", "missing", PREDICTIONS.hint));
        }
        let score = add(&mut evaluation, gold, prediction);
        n += 1;
        if per_item {
            let values = [
                ("answerable", gold.answerable.into()),
                ("answer_em", score.answer.em.into()),
                ("answer_f1", score.answer.f1.into()),
                ("support_em", score.support.em.into()),
                ("support_f1", score.support.f1.into()),
            ];
            items.push(item(gold.id.as_str().into(), values));
        }
    }
    Ok(Report {
        metric: "musique",
        n,
        aggregate: named(evaluation.means()),
        official: Some(named(evaluation.official())),
        missing: Vec::new(),
        items,
    })
}

fn add(evaluation: &mut MusiqueEvaluation, gold: &Gold<'_>, prediction: &Prediction<'_>) -> MusiqueScore {
    let answers: Vec<String> = std::iter::once(&gold.answer).chain(&gold.answer_aliases).cloned().collect();
    let supporting = gold.paragraphs.iter().filter(|paragraph| paragraph.is_supporting);
    let support: Vec<i64> = supporting.map(|paragraph| paragraph.idx).collect();
    evaluation.add(
        MusiquePrediction {
            answer: prediction.predicted_answer.as_str(),
            support: &prediction.predicted_support_idxs,
            answerable: prediction.predicted_answerable.unwrap_or(true),
        },
        &MusiqueGold { id: gold.id.as_str(), answers: &answers, support: &support, answerable: gold.answerable },
    )
}

fn same_order(
    (source, text): (&Source, &str),
    golds: &[Gold<'_>],
    predictions: &[Prediction<'_>],
) -> anyhow::Result<()> {
    for (index, (gold, prediction)) in golds.iter().zip(predictions).enumerate() {
        if gold.id != prediction.id {
            let what = format!("the gold file has `{}` here", shown(gold.id.as_str()));
            return Err(source.bad_field(input::place(text, index, prediction.id.as_str()), "id", what, ORDER));
        }
    }
    if let Some(gold) = golds.get(predictions.len()) {
        let (found, wanted) = (counted(predictions.len(), "prediction"), counted(golds.len(), "record"));
        let what = format!("{found} for {wanted}; the first one without is `{}`", shown(gold.id.as_str()));
        return Err(source.bad(what, ORDER));
    }
    if let Some(prediction) = predictions.get(golds.len()) {
        let place = input::place(text, golds.len(), prediction.id.as_str());
        return Err(source.bad_field(
            place,
            "id",
            format!("the gold file has {} only", counted(golds.len(), "record")),
            ORDER,
        ));
    }
    Ok(())
}
