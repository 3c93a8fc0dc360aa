//! Trajectory metrics of whole runs, through the binary: classes add up to the wrong answers, and a dataset that is gone
//! is said and changes nothing else.

use crate::common::{self, Ran};
use serde_json::Value;
use std::path::Path;

fn wikitrail(folder: &Path, args: &[&str]) -> Ran {
    common::wikitrail(folder, args).ok()
}

fn count(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("no count: {value}"))
}

/// Classes in all the forms in which they are given; returns how many answers were wrong.
fn assert_classes_add_up(folder: &Path, run: &str) -> u64 {
    let summary = wikitrail(folder, &["score", run, "--json", "--per-item"]).json();
    let variant = &summary["variants"][0];
    let scored = count(&variant["scored"]);
    let items = summary["items"].as_array().expect("items");
    assert_eq!(items.len() as u64, count(&variant["episodes"]));
    let wrong = items.iter().filter(|item| item["em"] == 0.0).count() as u64;
    let right = items.iter().filter(|item| item["em"] == 1.0).count() as u64;
    assert_eq!(wrong + right, scored);
    let trajectory = &variant["trajectory"];
    assert_eq!(count(&trajectory["wrong"]), wrong);
    let classes = trajectory["failures"].as_object().expect("classes");
    assert_eq!(classes.len(), 11);
    assert_eq!(classes.values().map(count).sum::<u64>(), wrong);
    for item in items {
        assert_eq!(item["failure"].is_null(), item["em"] != 0.0, "{item}");
        if !item["failure"].is_null() {
            assert!(!item["failure"]["evidence"].as_str().expect("evidence").is_empty(), "{item}");
        }
    }
    assert_the_csv_says_the_same(folder, run, classes);
    wrong
}

fn assert_the_csv_says_the_same(folder: &Path, run: &str, classes: &serde_json::Map<String, Value>) {
    let output = wikitrail(folder, &["export", run, "--format", "csv", "--rows", "questions"]);
    let mut table = csv::Reader::from_reader(output.stdout.as_bytes());
    let column = table.headers().expect("a header").iter().position(|name| name == "failure_class").expect("a column");
    let cells: Vec<String> = table.records().map(|row| row.expect("a row")[column].to_owned()).collect();
    for (class, expected) in classes {
        let found = cells.iter().filter(|cell| *cell == class).count() as u64;
        assert_eq!(found, count(expected), "{class}");
    }
}

#[test]
fn failure_classes_of_the_sample_run_add_up_to_its_wrong_answers() {
    let folder = tempfile::tempdir().expect("a folder");
    for (dataset, run) in [("datasets/sample.jsonl", "sample"), ("datasets/sample-claims.jsonl", "claims")] {
        let said = wikitrail(folder.path(), &["run", dataset, "--out", run, "--quiet", "--json"]).json();
        let wrong = assert_classes_add_up(folder.path(), run);
        assert!(wrong > 0, "the baseline is not that good");
        assert_eq!(count(&said["variants"][0]["trajectory"]["wrong"]), wrong);
        let table = wikitrail(folder.path(), &["score", run]);
        assert!(table.stderr.is_empty(), "{}", table.stderr);
        let table = table.stdout;
        assert!(table.contains("failure classes") && table.contains(" search"), "{table}");
    }
    let sample = wikitrail(folder.path(), &["score", "sample", "--json"]).json();
    let trajectory = &sample["variants"][0]["trajectory"];
    // The shipped sample names 131 pages and 159 sentences; `datasets/sample.jsonl` says so.
    assert_eq!((count(&trajectory["gold_pages"]["of"]), count(&trajectory["sentences"]["of"])), (131, 159));
    assert_eq!(sample["supporting_facts"]["questions"], 60);
    assert!(sample.get("items").is_none());
}

#[test]
fn a_dataset_that_is_gone_or_changed_is_said_and_classes_go_by_the_answer_string() {
    let folder = tempfile::tempdir().expect("a folder");
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("datasets/sample.jsonl");
    let file = folder.path().join("mine.jsonl");
    std::fs::copy(&sample, &file).expect("a copy");
    wikitrail(folder.path(), &["run", "mine.jsonl", "--out", "r", "--quiet"]);
    let whole = wikitrail(folder.path(), &["score", "r", "--json"]).json();
    assert_eq!(whole["supporting_facts"]["missing"], Value::Null);
    std::fs::write(&file, "{\"question\": \"Another?\", \"answer\": \"one\"}\n").expect("it can be written");
    // The folder's own questions make up for it, except in a run from before they were kept.
    let here = wikitrail(folder.path(), &["score", "r", "--json"]);
    assert_eq!((here.stderr.clone(), here.json()), (String::new(), whole.clone()));
    std::fs::remove_file(folder.path().join("r/questions.jsonl")).expect("it can be removed");
    for (reason, remove) in [("SHA-256 differs", false), ("is not here any more", true)] {
        if remove {
            std::fs::remove_file(&file).expect("it can be removed");
        }
        let output = wikitrail(folder.path(), &["score", "r", "--json"]);
        let note = &output.stderr;
        assert_eq!(note.lines().count(), 1, "{note}");
        assert!(note.contains("supporting facts are not available") && note.contains(reason), "{note}");
        let (known, unknown) = (&whole["variants"][0], &output.json()["variants"][0]);
        assert_eq!(unknown["em"], known["em"]);
        assert_eq!(unknown["trajectory"]["gold_pages"]["share"], Value::Null);
        assert_eq!(unknown["trajectory"]["grounded"], known["trajectory"]["grounded"]);
        assert_eq!(unknown["trajectory"]["wrong"], known["trajectory"]["wrong"]);
        assert_classes_add_up(folder.path(), "r");
    }
}
