//! KILT: records `{id, input, output: [{answer, provenance: [{wikipedia_id, …}]}]}`, one a line, and predictions in the same form
//! with one output each.

use super::{FileError, Files, Records, Report, named};
use crate::base::python::is_python_space;
use crate::base::{excerpt, unique};
use crate::scoring::overlap::{ratio, ratio_of_sum};
use crate::scoring::retrieval::{r_precision, whole_sets};
use crate::scoring::{rouge_l_max, squad11};
use serde::Deserialize;
use serde_json::Value;
use std::collections::{HashMap, HashSet};

#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct Record {
    id: Value,
    #[serde(default)]
    output: Vec<Output>,
}

#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct Output {
    answer: Option<String>,
    provenance: Option<Vec<Provenance>>,
}

#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct Provenance {
    wikipedia_id: Option<Value>,
}

const GOLD: &str = "the gold is KILT's own file with answers: `id` and `output` on each line";
const PREDICTIONS: &str = "write one record a line for each record of the gold file: its `id`, and `output` with one object, which \
    has `answer` and `provenance`, a list of `{\"wikipedia_id\": …}`, best first";

/// How many places of a ranking count, for each recall.
const RECALLS: [usize; 3] = [5, 10, 20];

/// The figures of one record, in the order in which they are reported.
const NAMES: [&str; 12] = [
    "KILT-accuracy",
    "KILT-em",
    "KILT-f1",
    "KILT-rougel",
    "accuracy",
    "em",
    "f1",
    "rougel",
    "Rprec",
    "recall@5",
    "recall@10",
    "recall@20",
];

/// A text, or a number as one.
fn text(value: &Value) -> String {
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    text.trim_matches(is_python_space).to_owned()
}

/// Scores as `eval_downstream.py` does. KILT's own figures count an answer only where R-precision is 1.
pub(super) fn score(files: &Files<'_>) -> Result<Report, FileError> {
    let golds = files.gold.records::<Record>(GOLD)?;
    let predictions = files.predictions.records::<Record>(PREDICTIONS)?;
    let by_id = by_id(&predictions)?;
    let mut report = Report::new("kilt", files);
    let mut sums = [0.0; NAMES.len()];
    let mut known = HashSet::new();
    for (index, gold) in golds.list.iter().enumerate() {
        let key = text(&gold.id);
        let Some(at) = by_id.get(&key) else {
            let (found, all) = (by_id.len(), golds.list.len());
            let what = format!("{found} predictions for {all} records; `{}` has none", excerpt(&key));
            return Err(files.predictions.error(what, PREDICTIONS));
        };
        let given = answer_of(&predictions, *at)?;
        let answers = answers(gold);
        if answers.is_empty() && !given.is_empty() {
            return Err(golds.error(index, "output", "no answer to score by"));
        }
        let figures = figures(given, &answers, &predictions.list[*at], gold);
        sums.iter_mut().zip(figures).for_each(|(sum, figure)| *sum += figure);
        report.add(key.as_str(), NAMES.into_iter().zip(figures));
        if !known.insert(key) {
            return Err(golds.error(index, "id", "used twice"));
        }
    }
    let more = by_id.len() - report.n;
    if more > 0 {
        report.notes.push(format!("{more} predictions are of no record of the gold file, and do not count"));
    }
    report.aggregate = named(NAMES.into_iter().zip(sums.map(|sum| ratio_of_sum(sum, report.n))));
    Ok(report)
}

fn by_id(predictions: &Records<'_, Record>) -> Result<HashMap<String, usize>, FileError> {
    let mut places = HashMap::with_capacity(predictions.list.len());
    for (index, prediction) in predictions.list.iter().enumerate() {
        if let Some(first) = places.insert(text(&prediction.id), index) {
            return Err(predictions.error(index, "id", format!("predicted twice: record {} has it too", first + 1)));
        }
    }
    Ok(places)
}

fn answer_of<'p>(predictions: &'p Records<'_, Record>, at: usize) -> Result<&'p str, FileError> {
    match &predictions.list[at].output[..] {
        [Output { answer: Some(answer), .. }] => Ok(answer.trim_matches(is_python_space)),
        [_] => Err(predictions.error(at, "output", "it has no `answer`")),
        other => Err(predictions.error(at, "output", format!("{} outputs, expected one", other.len()))),
    }
}

fn answers(gold: &Record) -> Vec<&str> {
    let answers = gold.output.iter().filter_map(|output| output.answer.as_deref());
    unique(answers.map(|answer| answer.trim_matches(is_python_space)).filter(|answer| !answer.is_empty()))
}

fn figures(given: &str, answers: &[&str], prediction: &Record, gold: &Record) -> [f64; NAMES.len()] {
    let mut known = HashSet::new();
    let pages = prediction.output.iter().filter_map(|output| output.provenance.as_ref()).flatten().filter_map(page);
    let found: Vec<String> = pages.filter(|page| known.insert(page.clone())).collect();
    let ids = |pages: &[Provenance]| pages.iter().filter_map(page).collect();
    let sets: Vec<HashSet<String>> =
        gold.output.iter().map(|output| ids(output.provenance.as_deref().unwrap_or_default())).collect();
    let (hits, of) = r_precision(&found, &sets);
    // The ranking leaves out an output without provenance, and has a page without an id as one that is never found.
    let ids = |pages: &[Provenance]| pages.iter().map(|entry| page(entry).unwrap_or_default()).collect();
    let sets: Vec<HashSet<String>> =
        gold.output.iter().filter_map(|output| Some(ids(output.provenance.as_deref()?))).collect();
    let (whole, all) = whole_sets(&found, &sets, RECALLS);
    let [at5, at10, at20] = whole.map(|whole| ratio(whole, all));
    let r_precision = ratio(hits, of);
    if given.is_empty() {
        return [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, r_precision, at5, at10, at20];
    }
    let (accuracy, score) = (f64::from(answers.contains(&given)), squad11(given, answers));
    let answer = [accuracy, score.em, score.f1, rouge_l_max(given, answers).f1];
    let [accuracy, em, f1, rouge] = answer;
    let [kilt_accuracy, kilt_em, kilt_f1, kilt_rouge] =
        answer.map(|figure| if hits > 0 && hits == of { figure } else { 0.0 });
    [kilt_accuracy, kilt_em, kilt_f1, kilt_rouge, accuracy, em, f1, rouge, r_precision, at5, at10, at20]
}

fn page(entry: &Provenance) -> Option<String> {
    entry.wikipedia_id.as_ref().map(text)
}
