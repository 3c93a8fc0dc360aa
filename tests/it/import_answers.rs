//! `import answers`: answers of any program as a run like any other.

use crate::common::{Ran, WorkDir};
use serde_json::{Value, json};

/// A run over three questions.
fn asked() -> WorkDir {
    let dir = WorkDir::new();
    let line = |id: &str, question: &str, answer: &str, level: &str| {
        json!({"id": id, "question": question, "answers": [answer], "type": "bridge", "level": level,
            "supporting_facts": [["Italy", 0]], "context": [{"title": "Italy", "sentences": ["Its capital is Rome."]}]})
        .to_string()
            + "\n"
    };
    let questions = [
        line("x", "What is the capital of Italy?", "Rome", "easy"),
        line("y", "Which city is the seat of the pope?", "Rome", "hard"),
        line("z", "Who wrote it?", "Dante", "hard"),
        line("7", "Who wrote it?", "Homer", "hard"),
    ];
    dir.write("q.jsonl", questions.concat());
    dir.wikitrail(&["run", "--quiet", "q.jsonl", "--out", "mine"]).ok();
    dir
}

fn import(dir: &WorkDir, file: &str, more: &[&str]) -> Ran {
    let args = ["import", "answers", file, "--like", "mine", "--variant", "lang-graph", "--model", "gpt-x"];
    dir.wikitrail(&[&args[..], more].concat())
}

#[test]
fn answers_are_a_run_that_scores_and_compares() {
    let dir = asked();
    let steps = json!([{"tool": "web_search", "input": {"q": "Italy"}, "observation": "Its capital is Rome."},
        {"tool": "submit", "input": "Rome"}]);
    let lines = [
        json!({"id": "x", "answer": "Rome", "steps": steps, "tokens": 120, "cost": 0.25, "confidence": 0.75, "wall_ms": 1500}),
        json!({"question": " Which city is the seat of the pope? ", "answer": "Paris", "confidence": 0.5}),
        json!({"id": 7, "answer": null, "steps": 4}),
    ];
    dir.write("a.jsonl", lines.map(|line| format!("{line}\n")).concat());
    let ran = import(&dir, "a.jsonl", &["--out", "theirs"]).ok();
    assert_eq!(ran.stdout, "theirs: 3 episodes\nnext:\n  wikitrail score theirs\n  wikitrail compare mine theirs\n");
    assert_eq!(
        ran.stderr,
        "note: a.jsonl: 1 line without an answer (3): counted as wrong\n\
         note: a.jsonl has no answer to 1 of 4 questions (z): missing, and not wrong\n"
    );
    assert_eq!(dir.read("theirs/questions.jsonl"), dir.read("mine/questions.jsonl"));
    let manifest = dir.manifest("theirs");
    let variant = &manifest["variants"][0];
    assert_eq!(
        (&variant["name"], &variant["model"], &variant["compat"]),
        (&json!("lang-graph"), &json!("gpt-x"), &Value::Null)
    );
    assert_eq!((&manifest["logs"][0]["path"], &manifest["logs"][0]["samples"]), (&json!("a.jsonl"), &json!(3)));
    let score = dir.wikitrail(&["score", "theirs", "--json"]).json();
    assert_eq!((&score["planned"], &score["missing"]), (&json!(4), &json!(1)));
    let row = &score["variants"][0];
    assert_eq!((&row["measured"], &row["em"]), (&json!(3), &json!(1.0 / 3.0)));
    let named: Vec<&Value> = score["metrics"].as_array().expect("metrics").iter().map(|one| &one["metric"]).collect();
    assert_eq!(named, ["confidence", "step_count"]);
    assert_eq!(score["metrics"][0]["mean"], json!(0.625));
    let shown = dir.wikitrail(&["show", "theirs", "x"]).ok().stdout;
    for said in ["confidence 0.75", "120 tokens", "web_search[Italy]"] {
        assert!(shown.contains(said), "{said}: {shown}");
    }
    let compared = dir.wikitrail(&["compare", "mine", "theirs", "--json"]).json();
    assert_eq!(compared["metrics"][0]["pairs"][0]["n"], 3, "{compared}");
    let csv = dir.wikitrail(&["export", "theirs"]).ok().stdout;
    let mut rows = csv.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let header = rows.next().expect("a header");
    let at = |name: &str| header.iter().position(|column| *column == name).expect(name);
    let rows: Vec<Vec<&str>> = rows.collect();
    let x = rows.iter().find(|row| row[at("id")] == "x").expect("x");
    assert_eq!(
        [x[at("confidence")], x[at("prompt_tokens")], x[at("cost_usd")], x[at("level")]],
        ["0.75", "", "0.25", "easy"]
    );
    // Text that another program's tool showed was read.
    assert_eq!([x[at("grounding")], x[at("steps")], x[at("calls")]], ["grounded", "2", ""]);
    let bare = rows.iter().find(|row| row[at("id")] == "y").expect("y");
    assert_eq!(
        [bare[at("grounding")], bare[at("steps")], bare[at("failure_class")], bare[at("wall_ms")]],
        ["", "", "", ""]
    );
    for args in [&["show", "theirs"][..], &["list", "."], &["report", "theirs", "--out", "r.html"]] {
        dir.wikitrail(args).ok();
    }
    // What was exported comes in again.
    dir.write("again.csv", &csv);
    import(&dir, "again.csv", &["--out", "again"]).ok();
    let answers =
        |run: &str| dir.records(run).iter().map(|one| (one["id"].clone(), one["answer"].clone())).collect::<Vec<_>>();
    assert_eq!(answers("again"), answers("theirs"));
}

#[test]
fn metrics_of_the_records_are_compared_where_they_are_named() {
    let dir = asked();
    dir.write("a.csv", "id,answer,confidence\nx,Rome,0.9\ny,Rome,0.5\n");
    dir.write("b.csv", "id,answer,confidence\nx,Rome,0.7\ny,Bonn,0.5\n");
    for name in ["a", "b"] {
        let args = ["import", "answers", &format!("{name}.csv"), "--like", "mine", "--variant", name, "--model", "m"];
        dir.wikitrail(&[&args[..], &["--out", name]].concat()).ok();
    }
    let compared = dir.wikitrail(&["compare", "a", "b", "--metric", "em,confidence", "--json"]).json();
    let pair = &compared["metrics"][1]["pairs"][0];
    assert_eq!(
        (&compared["metrics"][1]["metric"]["name"], &pair["n"]),
        (&json!("confidence"), &json!(2)),
        "{compared}"
    );
    let plain = dir.wikitrail(&["compare", "a", "b", "--json"]).json();
    assert!(!plain.to_string().contains("confidence\""), "{plain}");
    dir.wikitrail(&["report", "a", "b", "mine", "--out", "r.html"]).ok();
}

/// What cannot be placed is left out with its line; what is no answer file is refused, and nothing is written.
#[test]
fn lines_are_told_by_their_numbers() {
    let dir = asked();
    let lines = [
        r#"{"id": "x", "answer": "Rome"}"#,
        r#"{"id": "x", "answer": "Paris"}"#,
        r#"{"id": "x", "answer": "Rome", "repeat": 1}"#,
        r#"{"id": "\u001b[2Jnone", "answer": "a"}"#,
        r#"{"question": "Who wrote it?", "answer": "Dante"}"#,
        r#"{"id": "z", "question": "Who wrote it?", "answer": "  "}"#,
        r#"{"id": "y", "question": "Where does the pope live?", "answer": "Rome\u001b[2J"}"#,
        r#"{"id": "7", "answer": "half", "error": "timeout"}"#,
    ];
    dir.write("a.jsonl", lines.join("\n"));
    let ran = import(&dir, "a.jsonl", &["--out", "r"]).ok();
    assert_eq!(ran.stdout.lines().next(), Some("r: 5 episodes, 1 of them not measured"));
    assert_eq!(
        ran.stderr,
        "warning: a.jsonl:2: line 1 has an answer to `x` already; left out\n\
         warning: a.jsonl:4: the run of --like has no such question: `\\u{1b}[2Jnone`; left out\n\
         warning: a.jsonl:5: its text has 2 questions of the run of --like: `Who wrote it?`; left out\n\
         note: a.jsonl: 1 line without an answer (6): counted as wrong\n\
         note: a.jsonl: 1 line matched by the id alone (7): the run of --like has another text\n"
    );
    let records = dir.records("r");
    let failed = records.iter().find(|one| one["id"] == "7").expect("7");
    assert_eq!(
        [&failed["outcome"], &failed["detail"], &failed["answer"]],
        [&json!("not_measured"), &json!("timeout"), &Value::Null]
    );
    assert_eq!(dir.manifest("r")["repeats"], 2);
    assert!(!dir.wikitrail(&["show", "r", "y"]).ok().stdout.contains('\u{1b}'));
    import(&dir, "a.jsonl", &["--out", "r"]).refused(3, &["`r` holds a run already"]);
    for (name, text, parts) in [
        (
            "none.csv",
            "id,answer\nq1,x\n",
            &["no line answers a question of the run of --like: none.csv:2: ", "hint: a line has the `id`"][..],
        ),
        ("key.csv", "id,text\nx,Rome\n", &["`key.csv`, line 1: no column `answer`", "hint: each line has the `id`"]),
        (
            "field.csv",
            "id,answer,confidence\nx,a,0.5\ny,b,sure\n",
            &["`field.csv`, line 3, record 2, field `confidence`", "\"sure\"", "hint: correct the line"],
        ),
        (
            "cells.csv",
            "id,answer\nx,Rome, really\n",
            &["`cells.csv`, line 2: the row has 3 cells where the header has 2"],
        ),
        ("text.txt", "Rome\n", &["`text.txt`, line 1: not JSON", "hint: give a CSV file, or JSON Lines"]),
        ("empty.csv", "", &["`empty.csv`"]),
    ] {
        dir.write(name, text);
        import(&dir, name, &["--out", "n"]).refused(3, parts);
    }
    import(&dir, "absent.csv", &["--out", "n"]).refused(3, &["cannot read `absent.csv`", "hint: check the path"]);
    dir.write("zeros.csv", "\0".repeat(1000));
    import(&dir, "zeros.csv", &["--out", "n"]).refused(3, &["NUL bytes"]);
    let unnamed = ["import", "answers", "a.jsonl", "--like", "mine", "--variant", " ", "--model", "m", "--out", "n"];
    dir.wikitrail(&unnamed).refused(2, &["--variant names nothing"]);
    assert!(!dir.path("n").exists());
}

#[test]
fn without_a_folder_the_run_is_named_after_the_variant() {
    let dir = asked();
    dir.write("a.csv", "id;answer\nx;Rome\n");
    let ran = import(&dir, "a.csv", &[]).ok();
    assert!(ran.stdout.starts_with("results/lang-graph-"), "{}", ran.stdout);
    assert!(ran.stderr.contains("note: a.csv: the cells are separated by `;`"), "{}", ran.stderr);
}
