//! FEVER: JSON lines of claims against JSON lines of `{id, predicted_label, predicted_evidence}`.
//!
//! As in `fever-scorer`, the predictions are what is counted: a claim without one is in no mean. A prediction belongs to
//! the claim with its id; without ids, to the claim in its place.

use super::input::{self, Id, Kind, Source};
use super::report::{Report, item, named};
use crate::score::fever::FEVER_MAX_EVIDENCE;
use crate::score::{FeverEvaluation, FeverScore, fever};
use crate::types::Evidence;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Value, json};
use std::collections::HashMap;

/// Annotation, evidence number, page, sentence.
type GoldPiece = (IgnoredAny, IgnoredAny, Option<String>, Option<i64>);

#[derive(Deserialize)]
struct Gold<'a> {
    #[serde(borrow)]
    id: Option<Id<'a>>,
    label: String,
    evidence: Vec<Vec<GoldPiece>>,
}

#[derive(Deserialize)]
struct Prediction<'a> {
    #[serde(borrow)]
    id: Option<Id<'a>>,
    predicted_label: String,
    predicted_evidence: Vec<Evidence>,
}

const GOLD: Kind = Kind {
    ids: &["id"],
    check: |text| serde_json::from_str::<Gold<'_>>(text).map(drop),
    hint: "the gold is FEVER's own file: `id`, `label` and `evidence` a line",
};
const PREDICTIONS: Kind = Kind {
    ids: &["id"],
    check: |text| serde_json::from_str::<Prediction<'_>>(text).map(drop),
    hint: "a prediction is `{id, predicted_label, predicted_evidence: [[page, line]]}`, one a line",
};

/// Scores as the `fever_score` of `fever-scorer` does, with the first five pieces of evidence.
pub(super) fn score(gold: &Source, predicted: &Source, per_item: bool) -> anyhow::Result<Report> {
    let (gold_text, predicted_text) = (gold.text()?, predicted.text()?);
    let golds: Vec<Gold<'_>> = input::records(gold, &gold_text, GOLD)?;
    let predictions: Vec<Prediction<'_>> = input::records(predicted, &predicted_text, PREDICTIONS)?;
    let by_id: HashMap<&Id<'_>, usize> =
        golds.iter().enumerate().rev().filter_map(|(index, gold)| Some((gold.id.as_ref()?, index))).collect();
    let mut evaluation = FeverEvaluation::default();
    let mut items = Vec::new();
    for (index, prediction) in predictions.iter().enumerate() {
        let id = prediction.id.as_ref().filter(|_| !by_id.is_empty());
        let in_its_place = golds.get(index).filter(|gold| id.is_none() || gold.id.as_ref() == id);
        let claim = in_its_place.or_else(|| golds.get(*by_id.get(id?)?));
        let Some(claim) = claim else {
            let id = prediction.id.as_ref().map(ToString::to_string).unwrap_or_default();
            let place = input::place(&predicted_text, index, &id);
            let what = format!("`{}` has no such claim", gold.file);
            return Err(predicted.bad_field(place, "id", what, "predictions and gold must be of one split"));
        };
        let sets = evidence(claim);
        let with =
            |limit| fever(&prediction.predicted_label, &prediction.predicted_evidence, &claim.label, &sets, limit);
        let limited = with(Some(FEVER_MAX_EVIDENCE));
        evaluation.add(limited);
        if per_item {
            let id = claim.id.as_ref().map_or(Value::Null, Id::to_json);
            items.push(item(id, values(limited, with(None).strict)));
        }
    }
    Ok(Report {
        metric: "fever",
        n: predictions.len(),
        aggregate: named(evaluation.means()),
        official: None,
        missing: vec![("prediction", golds.len().saturating_sub(predictions.len()))],
        items,
    })
}

fn evidence(gold: &Gold<'_>) -> Vec<Vec<Evidence>> {
    let piece = |(_, _, page, line): &GoldPiece| Evidence(page.clone(), *line);
    gold.evidence.iter().map(|group| group.iter().map(piece).collect()).collect()
}

/// Values under the names of the script's functions; a share and its weight, which is 0 where nothing is to be found.
fn values(score: FeverScore, unlimited: bool) -> [(&'static str, Value); 5] {
    let weighted = |value: Option<f64>| value.map_or(json!([0.0, 0.0]), |value| json!([value, 1.0]));
    [
        ("correct", score.label.into()),
        ("strict5", score.strict.into()),
        ("strict_nolimit", unlimited.into()),
        ("macro_precision5", weighted(score.precision)),
        ("macro_recall5", weighted(score.recall)),
    ]
}
