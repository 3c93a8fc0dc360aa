//! FEVER: JSON lines of claims against JSON lines of `{id, predicted_label, predicted_evidence}`.
//!
//! As in `fever-scorer`, every claim has exactly one prediction. A prediction belongs to the claim with its id; without ids,
//! to the claim in its place.

use super::{FileError, Files, Records, Report, named};
use crate::base::{Evidence, Question, excerpt};
use crate::scoring::fever_label;
use crate::scoring::metric::FEVER_LABELS;
use crate::scoring::overlap::{f1, ratio, ratio_of_sum};
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::{HashMap, HashSet};

/// An id, which some files write as a number.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(untagged, expecting = "not a text or a whole number")]
enum Id {
    Number(i64),
    Text(String),
}

impl Id {
    /// The same for a number and for the text that it is written as.
    fn text(&self) -> String {
        match self {
            Self::Number(number) => number.to_string(),
            Self::Text(text) => text.clone(),
        }
    }
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

impl From<Question> for Gold {
    fn from(question: Question) -> Self {
        let piece = |Evidence(page, line)| (IgnoredAny, IgnoredAny, page, line);
        let group = |group: Vec<Evidence>| group.into_iter().map(piece).collect();
        Self {
            id: Some(Id::Text(question.id)),
            label: question.answers.into_iter().next().unwrap_or_default(),
            evidence: question.evidence_sets.into_iter().map(group).collect(),
        }
    }
}

const GOLD: &str = "the gold is FEVER's own file: `id`, `label` and `evidence` on each line";
const PREDICTIONS: &str = "write one prediction `{id, predicted_label, predicted_evidence: [[page, line]]}` a line for each \
    claim of the gold file; for a part of the claims, name a gold file with those lines alone";

/// How many predicted pieces of evidence the official score looks at.
const MAX_EVIDENCE: usize = 5;

struct Score {
    label: bool,
    /// Whether the label is right and a whole group of evidence was predicted; NOT ENOUGH INFO needs none.
    strict: bool,
    /// Share of predicted pieces that are gold, 1 where none was predicted; and whether a whole group was predicted, 1
    /// where gold has none. Absent for NOT ENOUGH INFO.
    evidence: Option<[f64; 2]>,
}

/// Scores as the `fever_score` of `fever-scorer` does, with the first five pieces of evidence.
pub(super) fn score(files: &Files<'_>) -> Result<Report, FileError> {
    let golds: Vec<Gold> = match files.own_golds()? {
        Some(questions) => questions.into_iter().map(Gold::from).collect(),
        None => files.gold.records(GOLD)?.list,
    };
    let predictions: Records<'_, Prediction> = files.predictions.records(PREDICTIONS)?;
    let by_id: HashMap<String, usize> =
        golds.iter().enumerate().rev().filter_map(|(index, gold)| Some((gold.id.as_ref()?.text(), index))).collect();
    let claims = paired(files, &golds, &predictions, &by_id)?;
    let mut report = Report::new("fever", files);
    let (mut right, mut strict, mut evidence, mut with_evidence) = (0, 0, [0.0; 2], 0);
    for (prediction, claim) in predictions.list.iter().zip(claims) {
        let score = claim_score(prediction, claim, MAX_EVIDENCE);
        right += usize::from(score.label);
        strict += usize::from(score.strict);
        if let Some(scores) = score.evidence {
            with_evidence += 1;
            evidence.iter_mut().zip(scores).for_each(|(sum, score)| *sum += score);
        }
        // A value and its weight, which is 0 where there is no evidence to find.
        let weighted = |part: usize| score.evidence.map_or(json!([0.0, 0.0]), |scores| json!([scores[part], 1.0]));
        let values: [(_, Value); 5] = [
            ("correct", score.label.into()),
            ("strict5", score.strict.into()),
            ("strict_nolimit", claim_score(prediction, claim, usize::MAX).strict.into()),
            ("macro_precision5", weighted(0)),
            ("macro_recall5", weighted(1)),
        ];
        report.add(json!(claim.id), values);
    }
    // As in the script without a claim to find evidence for; F1 is 0 where the script would divide by zero.
    let [precision, recall] =
        if with_evidence == 0 { [1.0, 0.0] } else { evidence.map(|sum| ratio_of_sum(sum, with_evidence)) };
    let aggregate = named([
        ("strict_score", ratio(strict, report.n)),
        ("label_accuracy", ratio(right, report.n)),
        ("precision", precision),
        ("recall", recall),
        ("f1", f1(precision, recall)),
    ]);
    Ok(Report { aggregate, missing: named([("prediction", 0)]), ..report })
}

/// The claim of each prediction. The script refuses predictions that are not as many as the claims; a claim predicted twice
/// would count twice.
fn paired<'g>(
    files: &Files<'_>,
    golds: &'g [Gold],
    predictions: &Records<'_, Prediction>,
    by_id: &HashMap<String, usize>,
) -> Result<Vec<&'g Gold>, FileError> {
    let mut predicted: Vec<Option<usize>> = vec![None; golds.len()];
    let mut claims = Vec::with_capacity(golds.len());
    for (index, prediction) in predictions.list.iter().enumerate() {
        let id = prediction.id.as_ref().map(Id::text).filter(|_| !by_id.is_empty());
        let in_its_place = Some(index)
            .filter(|at| golds.get(*at).is_some_and(|gold| id.is_none() || gold.id.as_ref().map(Id::text) == id));
        let Some(at) = in_its_place.or_else(|| by_id.get(id.as_ref()?).copied()) else {
            return Err(predictions.error(index, "id", format!("`{}` has no such claim", files.gold.name)));
        };
        if let Some(first) = predicted[at].replace(index) {
            let what = format!("predicted twice: record {} has the same claim", first + 1);
            return Err(predictions.error(index, "id", what));
        }
        claims.push(&golds[at]);
    }
    let Some(at) = predicted.iter().position(Option::is_none) else { return Ok(claims) };
    let quoted = |id: &Id| format!("`{}`", excerpt(&id.text()));
    let first = golds[at].id.as_ref().map_or_else(|| format!("record {}", at + 1), quoted);
    let (found, all) = (claims.len(), golds.len());
    let what =
        format!("predictions for {found} of {all} claims of `{}`; the first one missing is {first}", files.gold.name);
    Err(files.predictions.error(what, PREDICTIONS))
}

/// Scores a claim. Only the first `limit` predicted pieces count.
fn claim_score(prediction: &Prediction, gold: &Gold, limit: usize) -> Score {
    let label = fever_label(&prediction.predicted_label, &gold.label);
    if gold.label.to_uppercase() == FEVER_LABELS[2] {
        return Score { label, strict: label, evidence: None };
    }
    let evidence = &prediction.predicted_evidence[..limit.min(prediction.predicted_evidence.len())];
    let predicted: HashSet<&Evidence> = evidence.iter().collect();
    let groups: Vec<Vec<Evidence>> = gold
        .evidence
        .iter()
        .map(|group| group.iter().map(|(_, _, page, line)| Evidence(page.clone(), *line)).collect())
        .collect();
    let whole_group = groups.iter().any(|group| group.iter().all(|piece| predicted.contains(piece)));
    let pieces: HashSet<&Evidence> = groups.iter().flatten().filter(|piece| piece.1.is_some()).collect();
    let hits = evidence.iter().filter(|piece| pieces.contains(piece)).count();
    let precision = if evidence.is_empty() { 1.0 } else { ratio(hits, evidence.len()) };
    let recall = f64::from(whole_group || groups.is_empty());
    Score { label, strict: label && whole_group, evidence: Some([precision, recall]) }
}
