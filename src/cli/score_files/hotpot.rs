//! `HotpotQA` and `2WikiMultiHopQA`: the dataset's JSON against `{"answer": {id: text}, "sp": {id: [[title, n]]}}`, and
//! `"evidence": {id: [[subject, relation, object]]}` for the latter. What is missing scores nothing and counts.

use super::input::{self, Kind, Source, Text};
use super::report::{Report, item, named};
use crate::score::wiki2::Triple;
use crate::score::{
    AnswerScore, HotpotEvaluation, HotpotPrediction, Wiki2Aliases, Wiki2Evaluation, Wiki2Gold, Wiki2Prediction,
};
use crate::types::SupportingFact;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use std::collections::HashMap;

/// A record of the dataset. The paper's simplified files have neither ids nor facts.
#[derive(Deserialize)]
struct Gold<'a> {
    #[serde(borrow, rename = "_id")]
    official_id: Option<Text<'a>>,
    /// The hub's name for it.
    #[serde(borrow)]
    id: Option<Text<'a>>,
    #[serde(borrow)]
    answer: Text<'a>,
    supporting_facts: Option<Vec<SupportingFact>>,
    #[serde(borrow)]
    answer_id: Option<Text<'a>>,
    evidences: Option<Vec<Triple>>,
    evidences_id: Option<Vec<Triple>>,
}

const GOLD: Kind = Kind {
    ids: &["_id", "id"],
    check: |text| serde_json::from_str::<Gold<'_>>(text).map(drop),
    hint: "the gold is the dataset's own file: `_id`, `answer` and `supporting_facts` of each question",
};
const PREDICTIONS: &str = "predictions are `{\"answer\": {id: text}, \"sp\": {id: [[title, number]]}}`";
const FACTS: &str = "a prediction of supporting facts is a list of `[title, number]`";
const EVIDENCE: &str = "a prediction of evidence is a list of `[subject, relation, object]`";

#[derive(Deserialize)]
struct Sections<'a> {
    #[serde(borrow)]
    answer: Option<&'a RawValue>,
    #[serde(borrow)]
    sp: Option<&'a RawValue>,
    #[serde(borrow)]
    evidence: Option<&'a RawValue>,
}

struct Predictions<'a> {
    answer: HashMap<Text<'a>, Text<'a>>,
    facts: HashMap<Text<'a>, Vec<SupportingFact>>,
    evidence: HashMap<Text<'a>, Vec<Triple>>,
}

fn predictions<'a>(source: &Source, text: &'a str) -> anyhow::Result<Predictions<'a>> {
    let sections: Sections<'a> =
        serde_json::from_str(text).map_err(|error| input::not_json(source, text, &error, PREDICTIONS))?;
    let Some(answer) = sections.answer else {
        return Err(source.bad("no key `answer`", PREDICTIONS));
    };
    let answer = input::map(
        source,
        text,
        answer,
        "`answer`",
        (|value| serde_json::from_str::<String>(value).map(drop), PREDICTIONS),
    )?;
    let facts = sections.sp.map(|sp| {
        let check = |value: &str| serde_json::from_str::<Vec<SupportingFact>>(value).map(drop);
        input::map(source, text, sp, "`sp`", (check, FACTS))
    });
    let evidence = sections.evidence.map(|evidence| {
        let check = |value: &str| serde_json::from_str::<Vec<Triple>>(value).map(drop);
        input::map(source, text, evidence, "`evidence`", (check, EVIDENCE))
    });
    Ok(Predictions {
        answer,
        facts: facts.transpose()?.unwrap_or_default(),
        evidence: evidence.transpose()?.unwrap_or_default(),
    })
}

/// The id of a record; those without one are counted, as our dataset readers do.
fn id_of<'a>(gold: &'a Gold<'_>, index: usize, made: &'a mut String) -> &'a str {
    if let Some(id) = gold.official_id.as_ref().or(gold.id.as_ref()) {
        return id.as_str();
    }
    *made = format!("hotpotqa-{index}");
    made
}

/// The gold facts of a question whose facts were predicted.
fn facts_of<'a>(
    (source, text): (&Source, &str),
    gold: &'a Gold<'_>,
    (id, index): (&str, usize),
    predicted: bool,
) -> anyhow::Result<&'a [SupportingFact]> {
    match &gold.supporting_facts {
        Some(facts) => Ok(facts),
        None if !predicted => Ok(&[]),
        None => {
            let place = input::place(text, index, id);
            Err(source.bad_field(place, "supporting_facts", "missing, but predicted", GOLD.hint))
        }
    }
}

/// Scores as `hotpot_evaluate_v1.py` does.
pub(super) fn hotpot(gold: &Source, predicted: &Source, per_item: bool) -> anyhow::Result<Report> {
    let (gold_text, predicted_text) = (gold.text()?, predicted.text()?);
    let records: Vec<Gold<'_>> = input::records(gold, &gold_text, GOLD)?;
    let predictions = predictions(predicted, &predicted_text)?;
    let mut evaluation = HotpotEvaluation::default();
    let (mut items, mut no_answer, mut no_facts) = (Vec::new(), 0, 0);
    let mut made = String::new();
    for (index, record) in records.iter().enumerate() {
        let id = id_of(record, index, &mut made);
        let prediction = HotpotPrediction {
            answer: predictions.answer.get(id).map(Text::as_str),
            facts: predictions.facts.get(id).map(Vec::as_slice),
        };
        no_answer += usize::from(prediction.answer.is_none());
        no_facts += usize::from(prediction.facts.is_none());
        let facts = facts_of((gold, &gold_text), record, (id, index), prediction.facts.is_some())?;
        let score = evaluation.add(prediction, record.answer.as_str(), facts);
        if per_item {
            items.push(item(id.into(), score.named().map(|(name, value)| (name, value.into()))));
        }
    }
    Ok(Report {
        metric: "hotpot",
        n: evaluation.n(),
        aggregate: named(evaluation.mean().named()),
        official: None,
        missing: vec![("answer", no_answer), ("sp", no_facts)],
        items,
    })
}

/// Scores as `2wikimultihop_evaluate_v1.1.py` does; its numbers are percentages with two decimals.
pub(super) fn wiki2(
    gold: &Source,
    predicted: &Source,
    aliases: Option<&Source>,
    per_item: bool,
) -> anyhow::Result<Report> {
    let (gold_text, predicted_text) = (gold.text()?, predicted.text()?);
    let records: Vec<Gold<'_>> = input::records(gold, &gold_text, GOLD)?;
    let predictions = predictions(predicted, &predicted_text)?;
    let aliases = match aliases {
        None => Wiki2Aliases::default(),
        Some(source) => Wiki2Aliases::parse(&source.text()?)
            .map_err(|error| source.bad(&error, error.hint().unwrap_or_default()))?,
    };
    let mut evaluation = Wiki2Evaluation::new(aliases);
    let (mut items, mut missing) = (Vec::new(), [0; 3]);
    let mut made = String::new();
    for (index, record) in records.iter().enumerate() {
        let id = id_of(record, index, &mut made);
        let prediction = Wiki2Prediction {
            answer: predictions.answer.get(id).map(Text::as_str),
            facts: predictions.facts.get(id).map(Vec::as_slice),
            evidence: predictions.evidence.get(id).map(Vec::as_slice),
        };
        missing[0] += usize::from(prediction.answer.is_none());
        missing[1] += usize::from(prediction.facts.is_none());
        missing[2] += usize::from(prediction.evidence.is_none());
        let record = Wiki2Gold {
            answer: record.answer.as_str(),
            answer_id: record.answer_id.as_ref().map(Text::as_str),
            facts: facts_of((gold, &gold_text), record, (id, index), prediction.facts.is_some())?,
            evidence: record.evidences.as_deref().unwrap_or_default(),
            evidence_ids: record.evidences_id.as_deref().unwrap_or_default(),
        };
        let score = evaluation.add(prediction, &record);
        if per_item {
            let parts = [
                (["em", "f1", "prec", "recall"], score.answer),
                (["sp_em", "sp_f1", "sp_prec", "sp_recall"], score.facts),
                (["evi_em", "evi_f1", "evi_prec", "evi_recall"], score.evidence),
                (["joint_em", "joint_f1", "joint_prec", "joint_recall"], score.joint),
            ];
            items.push(item(id.into(), parts.into_iter().flat_map(|(names, score)| four(names, score))));
        }
    }
    Ok(Report {
        metric: "2wiki",
        n: records.len(),
        aggregate: evaluation.official().into_iter().map(|(name, value)| (name, value.into())).collect(),
        official: None,
        missing: vec![("answer", missing[0]), ("sp", missing[1]), ("evidence", missing[2])],
        items,
    })
}

fn four(names: [&'static str; 4], score: AnswerScore) -> impl Iterator<Item = (&'static str, Value)> {
    let values = [score.em, score.f1, score.precision, score.recall];
    names.into_iter().zip(values.map(Value::from))
}
