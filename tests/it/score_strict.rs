//! `score` over files where official scripts have rules of their own: what counts twice, what counts at all, what is read how.

use crate::common::WorkDir;
use crate::score_files::Bench;
use serde_json::{Value, json};

const STRATEGY: &str = r#"[{"qid": "a", "term": "T", "question": "A?", "answer": true},
    {"qid": "b", "term": "T", "question": "B?", "answer": false}, {"qid": "c", "term": "T", "question": "C?", "answer": true}]"#;

/// A run over `StrategyQA` takes `True` for yes, too.
#[test]
fn a_run_over_strategyqa_is_scored_by_its_metric() {
    let dir = WorkDir::new();
    dir.write("s.json", STRATEGY);
    dir.run_json(&["s.json", "--format", "strategyqa", "--out", "r"]);
    let file = "r/trajectories.jsonl";
    let given = |line: &str| {
        let mut record: Value = serde_json::from_str(line).expect("a record");
        record["answer"] = if record["id"] == "b" { "False".into() } else { "TRUE".into() };
        record["outcome"] = "finished".into();
        format!("{record}\n")
    };
    let changed: String = dir.read(file).lines().map(given).collect();
    dir.write(file, changed);
    let score = dir.wikitrail(&["score", "r", "--json"]).ok().json();
    assert_eq!(
        (&score["variants"][0]["metric"], &score["variants"][0]["em"]),
        (&json!("strategyqa"), &json!(1.0)),
        "{score}"
    );
    let strict = dir.wikitrail(&["score", "r", "--json", "--metric", "aliases"]).ok().json();
    assert_eq!(strict["variants"][0]["em"], 0.0);
}

/// Long answers of any dataset file; a run over KILT's `ELI5` is scored so by itself, and has KILT's figures of its pages.
#[test]
fn long_answers_are_scored_by_rouge_and_pages_by_kilt() {
    let gold = r#"{"id": "a", "question": "?", "answer": ["a dog", "the cat"]}"#;
    let bench = Bench::new(&[("g", gold), ("p", r#"{"a": "the cat sat"}"#)]);
    let figures = json!({"rougel": 0.799_999_995_200_000_1, "precision": 2.0 / 3.0, "recall": 1.0, "em": 0.0});
    assert_eq!(bench.score(&["rougel"])["aggregate"], figures);

    let dir = WorkDir::new();
    let record = |id: &str, page: &str| {
        let input = json!("In which year was the Opera House of Tandil opened?");
        json!({"id": id, "input": input, "output": [{"answer": "It was opened long ago", "provenance": [{"wikipedia_id": "1", "title": page}]}]})
    };
    dir.write("eli5-dev-kilt.jsonl", format!("{}\n{}\n", record("a", "Tandil"), record("b", "No Such Page")));
    dir.run_json(&["eli5-dev-kilt.jsonl", "--out", "r"]);
    let mut records = dir.records("r");
    for record in &mut records {
        let step = json!({"n": 1, "thought": null, "tool": "search", "input": "Tandil", "action_text": "Search[Tandil]",
            "observation": "Tandil is a city.", "calls": []});
        record["steps"] = json!([step]);
        record["answer"] = "It was opened in 1971".into();
        record["outcome"] = "finished".into();
    }
    let lines: Vec<String> = records.iter().map(Value::to_string).collect();
    dir.write("r/trajectories.jsonl", lines.join("\n") + "\n");
    let score = dir.wikitrail(&["score", "r", "--json", "--per-item"]).ok().json();
    assert_eq!(score["variants"][0]["metric"], "rougel", "{score}");
    let rouge = 2.0 * (0.6 * 0.6 / (0.6 + 0.6 + 1e-8));
    assert_eq!(score["items"][0]["f1"], rouge);
    let table = dir.wikitrail(&["export", "r", "--format", "csv", "--rows", "questions"]).ok().stdout;
    let mut lines = table.lines();
    let header: Vec<&str> = lines.next().expect("a header").split(',').collect();
    let cells: Vec<Vec<&str>> = lines.map(|line| line.split(',').collect()).collect();
    let column = |name: &str| {
        let at = header.iter().position(|column| *column == name).expect(name);
        cells.iter().map(|row| row[at].parse::<f64>().expect(name)).collect::<Vec<_>>()
    };
    assert_eq!((column("r_precision"), column("recall_at_5")), (vec![1.0, 0.0], vec![1.0, 0.0]));
    assert_eq!((column("kilt_em"), column("kilt_f1")), (vec![0.0, 0.0], vec![rouge, 0.0]));
}
