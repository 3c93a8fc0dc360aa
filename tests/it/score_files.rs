//! `score` over files of predictions: equal to what the official scripts give, and clear about bad files.

use crate::common::{self, WorkDir, lines, wikitrail};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::Path;

/// The JSON report of files in a folder; `more` begins with the metric.
#[track_caller]
fn report(folder: &Path, gold: &str, predictions: &str, more: &[&str]) -> Value {
    let args = [&["score", "--gold", gold, "--predictions", predictions, "--json", "--metric"], more].concat();
    wikitrail(folder, &args).json()
}

fn read(folder: &Path, name: &str) -> String {
    common::read(folder.join(name))
}

/// Every number of `expected` is in `found`, and to the bit: JSON numbers are read exactly.
#[track_caller]
fn assert_contains(found: &Value, expected: &Value, at: &str) {
    for (name, value) in expected.as_object().expect("an object") {
        assert_eq!(&found[name], value, "{name} of {at}");
    }
}

#[test]
#[cfg_attr(not(shared), ignore = "needs ../shared")]
fn hotpotqa_equals_the_official_figures() {
    let shared = common::shared();
    let folder = shared.join("golden/scoring");
    let base = "hotpot_dev_distractor_v1";
    let (gold, predictions) = (format!("{base}.gold.json"), format!("{base}.pred.json"));
    let found = report(&folder, &gold, &predictions, &["hotpot", "--per-item"]);
    let expected: Value = serde_json::from_str(&read(&folder, &format!("{base}.agg.json"))).expect("JSON");
    assert_eq!((&found["metric"], &found["n"]), (&json!("hotpot"), &expected["n"]));
    assert_eq!(found["aggregate"], expected["metrics"]);
    let items = lines(&read(&folder, &format!("{base}.items.jsonl")));
    let found_items = found["items"].as_array().expect("items");
    assert_eq!((items.len(), found_items.len()), (489, 489));
    for (found, expected) in found_items.iter().zip(&items) {
        assert_eq!(found["id"], expected["_id"]);
        assert_contains(found, &expected["metrics"], &found["id"].to_string());
    }
    let missing = |what: &str| items.iter().filter(|item| item["missing"].to_string().contains(what)).count();
    assert_eq!(found["missing"], json!({"answer": missing("missing answer"), "sp": missing("missing sp fact")}));
    // Without --per-item only the sums are printed.
    let brief = report(&folder, &gold, &predictions, &["hotpot"]);
    assert_eq!((&brief["aggregate"], brief.get("items")), (&found["aggregate"], None));
}

#[test]
#[cfg_attr(not(shared), ignore = "needs ../shared")]
fn musique_equals_the_official_figures() {
    let shared = common::shared();
    let folder = shared.join("golden/scoring");
    let (gold, predictions) = ("musique_full.gold.jsonl", "musique_full.pred.jsonl");
    let found = report(&folder, gold, predictions, &["musique", "--per-item"]);
    let expected: Value = serde_json::from_str(&read(&folder, "musique_full.agg.json")).expect("JSON");
    assert_eq!(found["n"], expected["n"]);
    assert_eq!(found["aggregate"], expected["unrounded"]);
    assert_eq!(found["official"], expected["official_rounded"]);
    let items = lines(&read(&folder, "musique_full.items.jsonl"));
    let found_items = found["items"].as_array().expect("items");
    assert_eq!((items.len(), found_items.len()), (600, 600));
    for (found, expected) in found_items.iter().zip(&items) {
        assert_contains(found, expected, &found["id"].to_string());
    }
    let full = report(&folder, gold, predictions, &["musique-full"]);
    assert_eq!(full["aggregate"], found["aggregate"]);
    let answerable = report(&folder, gold, predictions, &["musique-answerable"]);
    let names = ["answer_f1", "answer_em", "support_f1"];
    assert_eq!(answerable["aggregate"].as_object().map(serde_json::Map::len), Some(names.len()));
    for name in names {
        assert_eq!(answerable["aggregate"][name], expected["unrounded"][name], "{name}");
    }
    assert_eq!(answerable["n"], items.iter().filter(|item| item["answerable"] == true).count());
}

#[test]
#[cfg_attr(not(shared), ignore = "needs ../shared")]
fn fever_equals_the_official_figures() {
    let shared = common::shared();
    let folder = shared.join("golden/scoring");
    let items = lines(&read(&folder, "fever.items.jsonl"));
    let claims = read(&shared, "data/datasets/fever_paper_dev.jsonl");
    let dir = WorkDir::new();
    // The first 2,000 claims are predicted; the file of items holds the predictions too.
    dir.write("g", claims.split_inclusive('\n').take(2000).collect::<String>());
    let (gold, predictions) = (dir.path("g"), folder.join("fever.items.jsonl"));
    let [gold, predictions] = [&gold, &predictions].map(|path| path.to_str().expect("a path"));
    let found = report(&folder, gold, predictions, &["fever", "--per-item"]);
    let found_items = found["items"].as_array().expect("items");
    assert_eq!((items.len(), found_items.len()), (2000, 2000));
    for (found, expected) in found_items.iter().zip(&items) {
        for (name, value) in found.as_object().expect("an item") {
            assert_eq!(value, &expected[name], "{name} of {}", found["id"]);
        }
        assert_eq!(found.as_object().map(serde_json::Map::len), Some(6));
    }
    let share = |name: &str| items.iter().map(|item| f64::from(u8::from(item[name] == true))).sum::<f64>() / 2000.0;
    assert_eq!(found["aggregate"]["strict_score"], share("strict5"));
    assert_eq!(found["aggregate"]["label_accuracy"], share("correct"));
    assert_eq!((&found["n"], &found["missing"]["prediction"]), (&json!(2000), &json!(0)));
    // As in the official script, the whole file of claims needs as many predictions.
    dir.write("g", claims);
    let ran = wikitrail(&folder, &["score", "--metric", "fever", "--gold", gold, "--predictions", predictions]);
    ran.refused(3, &["predictions for 2000 of 9999 claims", "the first one missing is `"]);
}

#[test]
#[cfg_attr(not(shared), ignore = "needs ../shared")]
fn ninety_thousand_predictions_are_scored() {
    let shared = common::shared();
    let text = read(&shared.join("data/datasets"), "hotpot_dev_v1_simplified.json");
    let records: Vec<Value> = serde_json::from_str(&text).expect("JSON");
    let (mut gold, mut predictions) = ("[".to_owned(), "{\"answer\": {".to_owned());
    let mut right = 0;
    for n in 0..90_447 {
        let answer = &records[n % records.len()]["answer"];
        let comma = if n == 0 { "" } else { ", " };
        // Every third prediction is the answer of the question before.
        let given = if n % 3 == 0 { &records[(n + 7404) % records.len()]["answer"] } else { answer };
        right += usize::from(given == answer);
        write!(gold, "{comma}{{\"_id\": \"q{n}\", \"answer\": {answer}, \"supporting_facts\": []}}").expect("memory");
        write!(predictions, "{comma}\"q{n}\": {given}").expect("memory");
    }
    let dir = tempfile::tempdir().expect("a folder");
    std::fs::write(dir.path().join("g.json"), gold + "]").expect("written");
    std::fs::write(dir.path().join("p.json"), predictions + "}, \"sp\": {}}").expect("written");
    let found = report(dir.path(), "g.json", "p.json", &["hotpot"]);
    assert_eq!(found["n"], 90_447);
    assert_eq!(found["missing"], json!({"answer": 0, "sp": 90_447}));
    let em = found["aggregate"]["em"].as_f64().expect("a mean");
    assert!(right > 60_000 && em >= f64::from(u32::try_from(right).expect("small")) / 90_447.0, "{em} of {right}");
}

/// Golds in our own layout score as the official file that they were converted from.
#[test]
#[cfg_attr(not(shared), ignore = "needs ../shared")]
fn golds_in_our_own_layout_have_the_same_figures() {
    let folder = common::shared().join("golden/scoring");
    let dir = WorkDir::new();
    let path = |name: &str| folder.join(name).to_str().expect("a path").to_owned();
    let convert = |from: &str, to: &str| drop(dir.wikitrail(&["dataset", "convert", from, "--out", to]).ok());
    let predictions = path("hotpot_dev_distractor_v1.pred.json");
    // The vectors leave the questions out.
    let mut gold: Value = serde_json::from_str(&read(&folder, "hotpot_dev_distractor_v1.gold.json")).expect("JSON");
    gold.as_array_mut().expect("golds").iter_mut().for_each(|gold| gold["question"] = gold["_id"].clone());
    dir.write("gold.json", gold.to_string());
    convert("gold.json", "hotpot.jsonl");
    let own = report(dir.root(), "hotpot.jsonl", &predictions, &["hotpot", "--per-item"]);
    assert_eq!(own, report(dir.root(), "gold.json", &predictions, &["hotpot", "--per-item"]));
    // The answers alone, a line each.
    let whole: Value = serde_json::from_str(&read(&folder, "hotpot_dev_distractor_v1.pred.json")).expect("JSON");
    let line = |(id, answer): (&String, &Value)| json!({"id": id, "answer": answer}).to_string() + "\n";
    dir.write("lines.jsonl", whole["answer"].as_object().expect("answers").iter().map(line).collect::<String>());
    let lines_alone = report(dir.root(), "hotpot.jsonl", "lines.jsonl", &["hotpot"]);
    assert_eq!(lines_alone["aggregate"]["em"], own["aggregate"]["em"]);
    assert_eq!(lines_alone["missing"]["sp"], own["n"]);
    let claims = read(&common::shared(), "data/datasets/fever_paper_dev.jsonl");
    dir.write("claims.jsonl", claims.split_inclusive('\n').take(2000).collect::<String>());
    convert("claims.jsonl", "fever.jsonl");
    let predictions = path("fever.items.jsonl");
    let own = report(dir.root(), "fever.jsonl", &predictions, &["fever"]);
    assert_eq!(own["aggregate"], report(dir.root(), "claims.jsonl", &predictions, &["fever"])["aggregate"]);
}

#[test]
fn a_question_that_is_predicted_twice_is_refused() {
    let dir = WorkDir::new();
    dir.write("gold.jsonl", "{\"id\":\"1\",\"question\":\"q\",\"answers\":[\"Paris\"]}\n");
    for (name, field) in [("\"id\":1", "id"), ("\"question\":\"q\"", "question")] {
        dir.write("twice.jsonl", format!("{{{name},\"answer\":\"paris\"}}\n{{{name},\"answer\":\"x\"}}\n"));
        let ran =
            dir.wikitrail(&["score", "--metric", "aliases", "--gold", "gold.jsonl", "--predictions", "twice.jsonl"]);
        ran.refused(3, &[&format!("field `{field}`"), "predicted twice: record 1 has it too"]);
    }
}
