//! `import react-notebook`: run folders of recorded episodes.

use crate::common::{self, WorkDir};
use serde_json::{Value, json};

/// The paper's own recorded runs score as they did.
#[test]
#[cfg_attr(not(shared), ignore = "needs ../shared")]
fn recorded_runs_score_as_they_did_and_the_readings_of_their_failures_agree() {
    let shared = common::shared();
    let (dir, data) = (WorkDir::new(), shared.join("data"));
    let path = |name: &str| std::fs::canonicalize(data.join(name)).expect("the file").display().to_string();
    let files = [path("trajectories/dev_fever_000-199.jsonl"), path("trajectories/dev_hotpot_00-39.jsonl")];
    let ran = dir.wikitrail(&["import", "react-notebook", &files[0], &files[1], "--out", "r"]).ok();
    assert!(ran.stdout.starts_with("r: 240 episodes, 120 of them right by the file\n"), "{}", ran.stdout);
    assert_eq!(ran.stderr, "");
    let items = dir.wikitrail(&["score", "r", "--json", "--per-item"]).json()["items"].take();
    let mut recorded: Vec<Value> = Vec::new();
    for file in &files {
        recorded.extend(common::lines(&common::read(file)).iter().map(|line| json!(line["em"].as_f64())));
    }
    let scored: Vec<Value> = items.as_array().expect("items").iter().map(|item| item["em"].clone()).collect();
    assert_eq!(scored, recorded);
    // Two readers of all 120 failures, without sight of the rules' class.
    let mut labels: Vec<String> = Vec::new();
    for row in common::lines(&common::read(path("labels/failure_classes.jsonl"))) {
        let file = row["file"].as_str().and_then(|file| file.strip_suffix(".jsonl")).expect("a file");
        for reader in ["a", "b"] {
            let (id, by) = (format!("{file}/{}", row["order"]), reader.to_uppercase());
            labels.push(json!({"id": id, "by": by, "class": row[reader], "blind": true}).to_string());
        }
    }
    dir.write("labels.jsonl", labels.join("\n"));
    let taken = dir.wikitrail(&["annotate", "r", "--import", "labels.jsonl", "--json"]).json();
    assert_eq!(taken, json!({"taken": 240, "known": 0, "refused": [], "unused": []}));
    let said = dir.wikitrail(&["score", "r", "--json"]).json()["annotations"].take();
    let readers = &said["pairs"][0]["classes"];
    assert_eq!((&readers["n"], &readers["agreeing"]), (&json!(120), &json!(108)));
    // As scikit-learn computes it from the same file.
    let kappa = readers["kappa"]["value"].as_f64().expect("a value");
    assert!((kappa - 0.868_240_461_158_385_9).abs() < 1e-12, "{kappa}");
    rules_agree_with_readings(&items, &common::lines(&common::read(path("labels/failure_classes.jsonl"))));
}

/// The table of docs/metrics.md. The rules were written with every other one of the first sixty episodes in view; of the others
/// only counts are shown, so that nobody writes rules for them.
fn rules_agree_with_readings(items: &Value, rows: &[Value]) {
    let class = |row: &Value| {
        let file = row["file"].as_str().and_then(|file| file.strip_suffix(".jsonl")).expect("a file");
        let id = format!("{file}/{}", row["order"]);
        let item = items.as_array().expect("items").iter().find(|item| item["id"] == id.as_str()).expect("an episode");
        item["failure"]["class"].clone()
    };
    assert_eq!(rows.len(), 120);
    let (seen, unseen): (Vec<_>, Vec<_>) = rows[..60].iter().enumerate().partition(|(at, _)| at % 2 == 0);
    let of_pairs = |pairs: Vec<(usize, &Value)>| pairs.into_iter().map(|(_, row)| row.clone()).collect::<Vec<_>>();
    // With a reading, with the first one, with the second one.
    let parts = [
        ("written with", of_pairs(seen), [29, 27, 27]),
        ("the others of the first sixty", of_pairs(unseen), [23, 22, 20]),
        ("the last sixty", rows[60..].to_vec(), [48, 47, 47]),
    ];
    for (name, part, least) in parts {
        let agreeing = |readers: &[&str]| {
            part.iter().filter(|row| readers.iter().any(|reader| row[*reader] == class(row))).count()
        };
        let found = [agreeing(&["a", "b"]), agreeing(&["a"]), agreeing(&["b"])];
        assert!(found.iter().zip(least).all(|(found, least)| *found >= least), "{name}: {found:?}, not {least:?}");
    }
}
