//! FEVER: JSON lines of claims against JSON lines of `{id, predicted_label, predicted_evidence}`.
//!
//! As in `fever-scorer`, the predictions are what is counted: a claim without one is in no mean. A prediction belongs to
//! the claim with its id; without ids, to the claim in its place.

use super::json_file::Records;
use super::report::{Items, Report, named};
use super::{FileError, Files};
use crate::score::fever::FEVER_MAX_EVIDENCE;
use crate::score::{FeverEvaluation, fever};
use crate::types::Evidence;
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::HashMap;

/// An id, which some files write as a number.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Deserialize, Serialize)]
#[serde(untagged, expecting = "not a text or a whole number")]
enum Id {
    Number(i64),
    Text(String),
}

/// Annotation, evidence number, page, sentence.
type GoldPiece = (IgnoredAny, IgnoredAny, Option<String>, Option<i64>);

#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct Gold {
    id: Option<Id>,
    label: String,
    evidence: Vec<Vec<GoldPiece>>,
}

#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct Prediction {
    id: Option<Id>,
    predicted_label: String,
    predicted_evidence: Vec<Evidence>,
}

const GOLD: &str = "the gold is FEVER's own file: `id`, `label` and `evidence` on each line";
const PREDICTIONS: &str = "write one prediction `{id, predicted_label, predicted_evidence: [[page, line]]}` a line, for \
    claims of the gold file";

/// Scores as the `fever_score` of `fever-scorer` does, with the first five pieces of evidence.
pub(super) fn score(files: &Files<'_>) -> Result<Report, FileError> {
    let golds = files.gold.records::<Gold>(GOLD)?.list;
    let predictions: Records<'_, Prediction> = files.predictions.records(PREDICTIONS)?;
    let by_id: HashMap<&Id, usize> =
        golds.iter().enumerate().rev().filter_map(|(index, gold)| Some((gold.id.as_ref()?, index))).collect();
    let (mut evaluation, mut items) = (FeverEvaluation::default(), Items::new(files.per_item));
    for (index, prediction) in predictions.list.iter().enumerate() {
        let id = prediction.id.as_ref().filter(|_| !by_id.is_empty());
        let in_its_place = golds.get(index).filter(|gold| id.is_none() || gold.id.as_ref() == id);
        let Some(claim) = in_its_place.or_else(|| golds.get(*by_id.get(id?)?)) else {
            return Err(predictions.error(index, "id", format!("`{}` has no such claim", files.gold.name())));
        };
        let sets = evidence(claim);
        let with =
            |limit| fever(&prediction.predicted_label, &prediction.predicted_evidence, &claim.label, &sets, limit);
        let score = with(Some(FEVER_MAX_EVIDENCE));
        evaluation.add(score);
        // A value and its weight, which is 0 where there is no evidence to find.
        let weighted = |value: Option<f64>| value.map_or(json!([0.0, 0.0]), |value| json!([value, 1.0]));
        let values: [(_, Value); 5] = [
            ("correct", score.label.into()),
            ("strict5", score.strict.into()),
            ("strict_nolimit", with(None).strict.into()),
            ("macro_precision5", weighted(score.precision)),
            ("macro_recall5", weighted(score.recall)),
        ];
        items.add(json!(claim.id), values);
    }
    let n = predictions.list.len();
    Ok(Report {
        metric: "fever",
        n,
        aggregate: named(evaluation.means()),
        official: None,
        missing: named([("prediction", golds.len().saturating_sub(n))]),
        items: items.0,
    })
}

fn evidence(gold: &Gold) -> Vec<Vec<Evidence>> {
    let piece = |(_, _, page, line): &GoldPiece| Evidence(page.clone(), *line);
    gold.evidence.iter().map(|group| group.iter().map(piece).collect()).collect()
}
