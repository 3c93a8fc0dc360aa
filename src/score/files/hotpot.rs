//! `HotpotQA` and `2WikiMultiHopQA`: the dataset's JSON against `{"answer": {id: text}, "sp": {id: [[title, n]]}}`, and
//! `"evidence": {id: [[subject, relation, object]]}` for the latter. What is missing scores nothing and is counted.

use super::json_file::Records;
use super::report::{Items, Report, named};
use super::{FileError, Files};
use crate::score::wiki2::Triple;
use crate::score::{HotpotEvaluation, HotpotPrediction, Wiki2Aliases, Wiki2Evaluation, Wiki2Gold, Wiki2Prediction};
use crate::types::SupportingFact;
use serde::Deserialize;
use std::collections::HashMap;

/// A record of the dataset. The paper's simplified files have neither ids nor facts.
#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct Gold {
    #[serde(rename = "_id")]
    official_id: Option<String>,
    /// The name of the id on the Hugging Face hub.
    id: Option<String>,
    answer: String,
    supporting_facts: Option<Vec<SupportingFact>>,
    answer_id: Option<String>,
    evidences: Option<Vec<Triple>>,
    evidences_id: Option<Vec<Triple>>,
}

#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct Predictions {
    answer: HashMap<String, String>,
    sp: Option<HashMap<String, Vec<SupportingFact>>>,
    evidence: Option<HashMap<String, Vec<Triple>>>,
}

const GOLD: &str = "the gold is the dataset's own file: `_id`, `answer` and `supporting_facts` of each question";
const PREDICTIONS: &str = "predictions are `{\"answer\": {id: text}, \"sp\": {id: [[title, number]]}}`, for 2wiki also \
    `\"evidence\": {id: [[subject, relation, object]]}`";

impl Gold {
    /// Its id. A record without one has the id that our dataset reader makes for it.
    fn id(&self, index: usize) -> String {
        self.official_id.as_ref().or(self.id.as_ref()).cloned().unwrap_or_else(|| format!("hotpotqa-{index}"))
    }
}

impl Predictions {
    /// The predicted supporting facts of a question, and its gold ones, which must be there then.
    fn facts<'a>(
        &'a self,
        golds: &'a Records<'_, Gold>,
        index: usize,
        id: &str,
    ) -> Result<(Option<&'a [SupportingFact]>, &'a [SupportingFact]), FileError> {
        let predicted = get(self.sp.as_ref(), id);
        match &golds.list[index].supporting_facts {
            Some(facts) => Ok((predicted, facts)),
            None if predicted.is_none() => Ok((None, &[])),
            None => Err(golds.error(index, "supporting_facts", "missing, but there is a prediction of it")),
        }
    }
}

fn get<'a, T>(lists: Option<&'a HashMap<String, Vec<T>>>, id: &str) -> Option<&'a [T]> {
    lists?.get(id).map(Vec::as_slice)
}

/// Scores as `hotpot_evaluate_v1.py` does.
pub(super) fn hotpot(files: &Files<'_>) -> Result<Report, FileError> {
    let golds: Records<'_, Gold> = files.gold.records(GOLD)?;
    let predictions: Predictions = files.predictions.whole(1, PREDICTIONS)?;
    let mut evaluation = HotpotEvaluation::default();
    let (mut items, mut missing) = (Items::new(files.per_item), [("answer", 0), ("sp", 0)]);
    for (index, gold) in golds.list.iter().enumerate() {
        let id = gold.id(index);
        let (predicted_facts, facts) = predictions.facts(&golds, index, &id)?;
        let answer = predictions.answer.get(&id).map(String::as_str);
        let prediction = HotpotPrediction { answer, facts: predicted_facts };
        missing[0].1 += usize::from(prediction.answer.is_none());
        missing[1].1 += usize::from(prediction.facts.is_none());
        let score = evaluation.add(prediction, &gold.answer, facts);
        items.add(id, score.named());
    }
    Ok(Report {
        metric: "hotpot",
        n: evaluation.n(),
        aggregate: named(evaluation.mean().named()),
        official: None,
        missing: named(missing),
        items: items.0,
    })
}

/// Scores as `2wikimultihop_evaluate_v1.1.py` does; its numbers are percentages with two decimals.
pub(super) fn wiki2(files: &Files<'_>) -> Result<Report, FileError> {
    let golds: Records<'_, Gold> = files.gold.records(GOLD)?;
    let predictions: Predictions = files.predictions.whole(1, PREDICTIONS)?;
    let mut evaluation = Wiki2Evaluation::new(aliases(files)?);
    let (mut items, mut missing) = (Items::new(files.per_item), [("answer", 0), ("sp", 0), ("evidence", 0)]);
    for (index, gold) in golds.list.iter().enumerate() {
        let id = gold.id(index);
        let (predicted_facts, facts) = predictions.facts(&golds, index, &id)?;
        let prediction = Wiki2Prediction {
            answer: predictions.answer.get(&id).map(String::as_str),
            facts: predicted_facts,
            evidence: get(predictions.evidence.as_ref(), &id),
        };
        missing[0].1 += usize::from(prediction.answer.is_none());
        missing[1].1 += usize::from(prediction.facts.is_none());
        missing[2].1 += usize::from(prediction.evidence.is_none());
        let gold = Wiki2Gold {
            answer: &gold.answer,
            answer_id: gold.answer_id.as_deref(),
            facts,
            evidence: gold.evidences.as_deref().unwrap_or_default(),
            evidence_ids: gold.evidences_id.as_deref().unwrap_or_default(),
        };
        let score = evaluation.add(prediction, &gold);
        items.add(id, score.named());
    }
    Ok(Report {
        metric: "2wiki",
        n: golds.list.len(),
        aggregate: named(evaluation.official()),
        official: None,
        missing: named(missing),
        items: items.0,
    })
}

fn aliases(files: &Files<'_>) -> Result<Wiki2Aliases, FileError> {
    #[derive(Deserialize)]
    #[serde(expecting = "an object")]
    struct Line {
        #[serde(rename = "Q_id")]
        id: String,
        aliases: Vec<String>,
        demonyms: Vec<String>,
    }
    let Some(file) = files.aliases else { return Ok(Wiki2Aliases::default()) };
    let lines =
        file.records("the aliases are JSON lines with `Q_id`, `aliases` and `demonyms`, as in `id_aliases.json`")?;
    let names = |Line { id, aliases, demonyms }| (id, aliases.into_iter().chain(demonyms).collect());
    Ok(Wiki2Aliases::new(lines.list.into_iter().map(names).collect()))
}
