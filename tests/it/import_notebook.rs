//! `import react-notebook`: run folders of recorded episodes.

use crate::common::{self, WorkDir, notebook};
use serde_json::{Value, json};

/// Four episodes: right, wrong, without an answer, and one that the file scores otherwise than the metric; with three lines
/// that are none.
fn imported() -> WorkDir {
    let dir = WorkDir::new();
    let lines = [
        notebook::episode(0, "Finish[Rome]", 1),
        notebook::episode(1, "Finish[Paris]", 0),
        "no JSON\n".to_owned(),
        notebook::episode(2, "Lookup[capital]", 0),
        notebook::episode(1, "Finish[Milan]", 0),
        "{\"order\": 9}\n\n".to_owned(),
    ];
    dir.write("paper.jsonl", lines.concat());
    dir.write("other.jsonl", notebook::episode(0, "Finish[Rome]", 0));
    dir
}

#[test]
fn a_folder_of_recorded_episodes_is_a_run_like_any_other() {
    let dir = imported();
    let ran = dir.wikitrail(&["import", "react-notebook", "paper.jsonl", "other.jsonl", "--out", "r"]).ok();
    assert_eq!(ran.stdout, "r: 4 episodes, 1 of them right by the file\nnext:\n  wikitrail score r\n");
    for said in [
        "warning: paper.jsonl:3: not a recorded episode: not valid JSON at column 2; left out",
        "warning: paper.jsonl:5: another episode has the position 1; left out",
        "warning: paper.jsonl:6: not a recorded episode: field",
        "warning: 1 episode scores otherwise than the file says: other/0",
    ] {
        assert!(ran.stderr.contains(said), "{said}: {}", ran.stderr);
    }
    let records = dir.records("r");
    let ids: Vec<&Value> = records.iter().map(|record| &record["id"]).collect();
    assert_eq!(ids, ["paper/0", "paper/1", "paper/2", "other/0"]);
    assert_eq!((&records[0]["answer"], &records[2]["answer"]), (&json!("Rome"), &Value::Null));
    assert_eq!(records[2]["outcome"], "step_limit");
    assert_eq!(
        (&records[0]["steps"][0]["tool"], &records[0]["steps"][0]["input"]),
        (&json!("search"), &json!("Italy"))
    );
    assert_eq!(dir.manifest("r")["variants"][0]["model"], "made-up-1");
    let score = dir.wikitrail(&["score", "r", "--json"]).json();
    assert_eq!((&score["planned"], &score["missing"]), (&json!(4), &json!(0)));
    assert_eq!((&score["variants"][0]["em"], &score["variants"][0]["metric"]), (&json!(0.5), &json!("hotpot")));
    let shown = dir.wikitrail(&["show", "r", "paper/1"]).ok().stdout;
    assert!(shown.contains("Its capital is Rome.") && shown.contains("wrong (EM 0"), "{shown}");
    assert!(!shown.contains(" from \n"), "{shown}");
    for args in
        [&["compare", "r", "r"][..], &["export", "r"], &["export", "r", "--rows", "steps"], &["show", "r", "--wrong"]]
    {
        dir.wikitrail(args).ok();
    }
    // The same file gives the same keys, so that judgements made elsewhere fit.
    dir.wikitrail(&["import", "react-notebook", "paper.jsonl", "--out", "again"]).ok();
    assert_eq!(dir.records("again")[0]["key"], records[0]["key"]);
}

#[test]
fn what_cannot_be_imported_is_refused_and_nothing_is_written() {
    let dir = imported();
    dir.write("bad.jsonl", "7\n");
    dir.write("sub/paper.jsonl", "");
    let import = |args: &[&str]| dir.wikitrail(&[&["import", "react-notebook"], args].concat());
    import(&["bad.jsonl", "--out", "r"]).refused(3, &["bad.jsonl:1", "no recorded episode"]);
    import(&["none.jsonl", "--out", "r"]).refused(3, &["cannot read `none.jsonl`"]);
    import(&["paper.jsonl", "sub/paper.jsonl", "--out", "r"]).refused(2, &["sub/paper.jsonl", "rename"]);
    dir.write("empty/notes.md", "");
    import(&["empty", "--out", "r"]).refused(3, &["`empty` has no file that ends in .json or .jsonl"]);
    assert!(!dir.path("r").exists());
    import(&["paper.jsonl", "--out", "r"]).ok();
    import(&["paper.jsonl", "--out", "r"]).refused(3, &["`r`"]);
}

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
