//! A holdout that stays one: differences on it beside those on the development part.

use crate::common::{Ran, WorkDir};
use serde_json::{Value, json};
use std::collections::BTreeMap;

const LEDGER: &str = "lists/holdout.looks.jsonl";

/// A split of the sample, and a run of two variants over each part.
fn split() -> WorkDir {
    let folder = WorkDir::new();
    folder.write("data.jsonl", crate::common::repository("datasets/sample.jsonl"));
    folder.wikitrail(&["dataset", "split", "data.jsonl", "--holdout", "20", "--seed", "7", "--out", "lists"]).ok();
    run(&folder, "hold", &["--ids", "lists/holdout.ids", "--method", "standard,react"]);
    run(&folder, "dev", &["--ids", "lists/development.ids", "--method", "standard,react"]);
    folder
}

fn run(folder: &WorkDir, name: &str, flags: &[&str]) {
    folder.wikitrail(&[&["run", "data.jsonl", "--quiet", "--out", name], flags].concat()).ok();
}

fn compare(folder: &WorkDir, args: &[&str]) -> Ran {
    folder.wikitrail(&[&["compare"], args].concat())
}

fn holdout(folder: &WorkDir, args: &[&str]) -> Value {
    let compared: Value =
        serde_json::from_str(&compare(folder, &[args, &["--json"]].concat()).ok().stdout).expect("JSON");
    compared["holdout"].clone()
}

/// Mean EM of a variant, from the records.
fn mean(folder: &WorkDir, run: &str, variant: &str) -> f64 {
    let em: Vec<f64> = folder
        .records(run)
        .iter()
        .filter(|record| record["variant"] == variant)
        .map(crate::compare_support::em)
        .collect();
    em.iter().sum::<f64>() / f64::from(u32::try_from(em.len()).expect("few"))
}

#[test]
fn the_difference_on_the_holdout_comes_with_that_on_the_development_part() {
    let folder = split();
    let held = holdout(&folder, &["hold", "--dev", "dev"]);
    let pair = &held["pairs"][0];
    assert_eq!((&pair["metric"]["name"], &pair["a"], &pair["b"]), (&json!("em"), &json!("standard"), &json!("react")));
    assert_eq!((&pair["holdout"]["n"], &pair["development"]["n"]), (&json!(20), &json!(40)));
    let expected: BTreeMap<&str, f64> = [("hold", "holdout"), ("dev", "development")]
        .map(|(run, part)| (part, mean(&folder, run, "react") - mean(&folder, run, "standard")))
        .into();
    let close = |value: &Value, expected: f64| (value.as_f64().expect("a number") - expected).abs() < 1e-12;
    for (part, expected) in &expected {
        assert!(close(&pair[part]["difference"], *expected), "{part}: {pair}");
    }
    assert!(close(&pair["optimism"], expected["development"] - expected["holdout"]), "{pair}");
    let ends = ["low", "high"].map(|end| pair["optimism_interval"][end].as_f64().expect("an end"));
    assert!(pair["optimism"].as_f64().is_some_and(|found| ends[0] < found && found < ends[1]), "{pair}");
    let sentence = pair["sentence"].as_str().expect("a sentence");
    let shown = ends.map(|end| format!("{:+.1}", 100.0 * end)).join(", ");
    assert!(sentence.ends_with(&format!(" [{shown}])")), "{sentence}");
    assert!(sentence.starts_with("holdout: react − standard ") && sentence.contains(" points EM ["), "{sentence}");
    for format in ["table", "markdown", "latex"] {
        let ran = compare(&folder, &["hold", "--dev", "dev", "--format", format]).ok();
        // A table on stdout has it, and once is enough.
        assert_eq!(ran.stderr.contains(sentence), format != "table", "{}", ran.stderr);
        let text = ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        for part in ["on 20 questions; on the 40 questions of the development part it was", "(optimism "] {
            assert!(text.contains(part), "{format}, {part}: {text}");
        }
    }
}

/// The other looks are in `transcripts/results.txt`.
#[cfg(unix)]
#[test]
fn links_are_not_followed_and_pipes_are_not_read() {
    let folder = split();
    folder.write("victim", "mine\n");
    std::os::unix::fs::symlink("../victim", folder.path(LEDGER)).expect("linked");
    let ran = compare(&folder, &["hold"]).ok();
    assert!(ran.stderr.contains("it is a symbolic link"), "{}", ran.stderr);
    assert_eq!(folder.read("victim"), "mine\n");
    std::fs::remove_file(folder.path("lists/holdout.ids")).expect("removed");
    let made = std::process::Command::new("mkfifo").arg(folder.path("lists/holdout.ids")).status();
    assert!(made.expect("mkfifo").success());
    let ran = compare(&folder, &["hold"]).ok();
    let said = "`lists/holdout.ids`, the list of the run's questions, cannot be read here";
    assert!(ran.stderr.contains(said) && ran.stderr.contains("--holdout FILE"), "{}", ran.stderr);
}
