//! Whole evaluations against the official scripts: every item and every aggregate, to the bit.

use super::{
    FeverEvaluation, HotpotEvaluation, HotpotPrediction, MusiqueEvaluation, MusiqueGold, MusiquePrediction, fever,
    shared,
};
use crate::types::{Evidence, SupportingFact};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};

fn lines<T: DeserializeOwned>(path: &str) -> Option<Vec<T>> {
    let text = shared::text(path)?;
    Some(text.lines().map(|line| serde_json::from_str(line).expect("a line of JSON")).collect())
}

fn json<T: DeserializeOwned>(path: &str) -> Option<T> {
    shared::text(path).map(|text| serde_json::from_str(&text).expect("JSON"))
}

fn assert_same(found: &[(&str, f64)], expected: &BTreeMap<String, f64>, at: &str) {
    assert_eq!(found.len(), expected.len(), "{at}");
    for (name, value) in found {
        assert_eq!(value.to_bits(), expected[*name].to_bits(), "{name} of {at}: {value} is not {}", expected[*name]);
    }
}

#[derive(Deserialize)]
struct HotpotGold {
    #[serde(rename = "_id")]
    id: String,
    answer: String,
    supporting_facts: Vec<SupportingFact>,
}

#[derive(Deserialize)]
struct HotpotPredictions {
    answer: HashMap<String, String>,
    sp: HashMap<String, Vec<SupportingFact>>,
}

#[derive(Deserialize)]
struct HotpotItem {
    #[serde(rename = "_id")]
    id: String,
    metrics: BTreeMap<String, f64>,
}

#[derive(Deserialize)]
struct HotpotAggregate {
    n: usize,
    metrics: BTreeMap<String, f64>,
}

#[test]
fn hotpotqa_is_evaluated_as_officially() {
    let base = "golden/scoring/hotpot_dev_distractor_v1";
    let Some(gold) = json::<Vec<HotpotGold>>(&format!("{base}.gold.json")) else { return };
    let predictions: HotpotPredictions = json(&format!("{base}.pred.json")).expect("predictions");
    let items: Vec<HotpotItem> = lines(&format!("{base}.items.jsonl")).expect("items");
    let aggregate: HotpotAggregate = json(&format!("{base}.agg.json")).expect("an aggregate");
    let mut evaluation = HotpotEvaluation::default();
    for (gold, item) in gold.iter().zip(&items) {
        assert_eq!(gold.id, item.id);
        let prediction = HotpotPrediction {
            answer: predictions.answer.get(&gold.id).map(String::as_str),
            facts: predictions.sp.get(&gold.id).map(Vec::as_slice),
        };
        let score = evaluation.add(prediction, &gold.answer, &gold.supporting_facts);
        assert_same(&score.named(), &item.metrics, &gold.id);
    }
    assert_eq!((evaluation.n(), items.len(), gold.len()), (aggregate.n, aggregate.n, aggregate.n));
    assert_same(&evaluation.mean().named(), &aggregate.metrics, "the aggregate");
}

#[derive(Deserialize)]
struct MusiqueGoldLine {
    id: String,
    answer: String,
    answer_aliases: Vec<String>,
    answerable: bool,
    paragraphs: Vec<Value>,
}

#[derive(Deserialize)]
struct MusiquePredictionLine {
    id: String,
    predicted_answer: String,
    predicted_support_idxs: Vec<i64>,
    predicted_answerable: bool,
}

#[derive(Deserialize)]
struct MusiqueAggregate {
    n: usize,
    official_rounded: BTreeMap<String, f64>,
    unrounded: BTreeMap<String, f64>,
}

#[test]
fn musique_is_evaluated_as_officially() {
    let base = "golden/scoring/musique_full";
    let Some(gold) = lines::<MusiqueGoldLine>(&format!("{base}.gold.jsonl")) else { return };
    let predictions: Vec<MusiquePredictionLine> = lines(&format!("{base}.pred.jsonl")).expect("predictions");
    let items: Vec<BTreeMap<String, Value>> = lines(&format!("{base}.items.jsonl")).expect("items");
    let aggregate: MusiqueAggregate = json(&format!("{base}.agg.json")).expect("an aggregate");
    assert_eq!((gold.len(), predictions.len(), items.len()), (aggregate.n, aggregate.n, aggregate.n));
    let mut evaluation = MusiqueEvaluation::default();
    for ((gold, prediction), item) in gold.iter().zip(&predictions).zip(&items) {
        assert_eq!((gold.id.as_str(), Some(gold.id.as_str())), (prediction.id.as_str(), item["id"].as_str()));
        let answers: Vec<String> = std::iter::once(&gold.answer).chain(&gold.answer_aliases).cloned().collect();
        let supporting = gold.paragraphs.iter().filter(|paragraph| paragraph["is_supporting"] == true);
        let support: Vec<i64> = supporting.map(|paragraph| paragraph["idx"].as_i64().expect("an index")).collect();
        let score = evaluation.add(
            MusiquePrediction {
                answer: &prediction.predicted_answer,
                support: &prediction.predicted_support_idxs,
                answerable: prediction.predicted_answerable,
            },
            &MusiqueGold { id: &gold.id, answers: &answers, support: &support, answerable: gold.answerable },
        );
        for (name, value) in [
            ("answer_em", score.answer.em),
            ("answer_f1", score.answer.f1),
            ("support_em", score.support.em),
            ("support_f1", score.support.f1),
        ] {
            assert_eq!(Some(value), item[name].as_f64(), "{name} of {}", gold.id);
        }
    }
    assert_same(&evaluation.means(), &aggregate.unrounded, "the means");
    assert_same(&evaluation.official(), &aggregate.official_rounded, "the official numbers");
}

/// Annotation, evidence number, page, sentence.
type GoldPiece = (Value, Value, Option<String>, Option<i64>);

#[derive(Deserialize)]
struct FeverGold {
    id: u64,
    label: String,
    evidence: Vec<Vec<GoldPiece>>,
}

#[derive(Deserialize)]
struct FeverItem {
    id: u64,
    predicted_label: String,
    predicted_evidence: Vec<Evidence>,
    correct: bool,
    strict5: bool,
    strict_nolimit: bool,
    macro_precision5: [f64; 2],
    macro_recall5: [f64; 2],
}

#[test]
fn fever_is_evaluated_as_officially() {
    let Some(items) = lines::<FeverItem>("golden/scoring/fever.items.jsonl") else { return };
    let gold: Vec<FeverGold> = lines("data/datasets/fever_paper_dev.jsonl").expect("gold");
    let gold: HashMap<u64, FeverGold> = gold.into_iter().map(|gold| (gold.id, gold)).collect();
    let mut evaluation = FeverEvaluation::default();
    let mut strict = 0.0;
    for item in &items {
        let gold = &gold[&item.id];
        let sets: Vec<Vec<Evidence>> = gold
            .evidence
            .iter()
            .map(|group| group.iter().map(|(_, _, page, line)| Evidence(page.clone(), *line)).collect())
            .collect();
        let score = |limit| fever(&item.predicted_label, &item.predicted_evidence, &gold.label, &sets, limit);
        let limited = score(Some(5));
        // The script gives a value and its weight; a claim without evidence to find has no weight.
        let weighted = |value: Option<f64>| value.map_or([0.0, 0.0], |value| [value, 1.0]);
        assert_eq!(limited.label, item.correct, "{}", item.id);
        assert_eq!((limited.strict, score(None).strict), (item.strict5, item.strict_nolimit), "{}", item.id);
        assert_eq!(
            weighted(limited.precision).map(f64::to_bits),
            item.macro_precision5.map(f64::to_bits),
            "{}",
            item.id
        );
        assert_eq!(weighted(limited.recall).map(f64::to_bits), item.macro_recall5.map(f64::to_bits), "{}", item.id);
        strict += f64::from(u8::from(item.strict5));
        evaluation.add(limited);
    }
    assert_eq!(items.len(), 2000);
    assert_eq!(evaluation.means()[0], ("strict_score", strict / 2000.0));
}
