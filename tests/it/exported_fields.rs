//! What exports say of the questions, metrics from files, and which format a file gets.

use crate::common::{WorkDir, lines};
use serde_json::{Value, json};
use std::collections::BTreeMap;

type Row = BTreeMap<String, String>;

/// Runs of two methods over a dataset with fields of its own: `all/deep/down/r`, three folders deep.
fn with_meta() -> WorkDir {
    let dir = WorkDir::new();
    let records = [
        json!({"id": "q1", "question": "Who was Blaise Pascal?", "answers": ["a mathematician"], "type": "bridge", "level": "hard",
            "cluster": "c", "supporting_facts": [["Blaise Pascal", 0], ["Puy de Dôme", 0]], "topic": "=cmd", "n": 7}),
        json!({"id": "=q2", "question": "Is Pascal a unit?", "answers": ["yes"], "answer_kind": "yesno", "type": "comparison",
            "cluster": "c", "late": {"deep": [1]}, "topic": null}),
        json!({"id": "q3", "question": "Which volcano?", "answers": ["Puy de Dôme"], "type": "bridge"}),
    ];
    dir.write("q.jsonl", records.map(|record| format!("{record}\n")).concat());
    dir.wikitrail(&["run", "q.jsonl", "--quiet", "--method", "act,react", "--out", "all/deep/down/r"]).ok();
    dir
}

fn rows(text: &str) -> Vec<Row> {
    let mut table = csv::Reader::from_reader(text.as_bytes());
    table.deserialize().map(|row| row.expect("a row")).collect()
}

#[test]
fn questions_have_what_the_dataset_says_of_them() {
    let dir = with_meta();
    let found = rows(&dir.wikitrail(&["export", "all"]).ok().stdout);
    assert_eq!(found.len(), 6, "runs are found three folders deep");
    let columns = ["type", "level", "hops", "answer_kind", "cluster", "meta.n", "meta.topic", "meta.late"];
    let cells = |id: &str| {
        let row = found.iter().find(|row| row["id"] == id).expect("the question");
        columns.map(|column| row[column].clone())
    };
    assert_eq!(cells("q1"), ["bridge", "hard", "2", "span", "c", "7", "'=cmd", ""]);
    assert_eq!(cells("'=q2"), ["comparison", "", "", "yesno", "c", "", "", r#"{"deep":[1]}"#]);
    assert_eq!(cells("q3"), ["bridge", "", "", "span", "", "", "", ""]);
    let listed = dir.wikitrail(&["show", "all/deep/down/r", "--json"]).lines();
    let first = listed.iter().find(|line| line["id"] == "q1").expect("the question");
    assert_eq!(
        [&first["type"], &first["level"], &first["hops"], &first["answer_kind"], &first["cluster"], &first["meta"]],
        [&json!("bridge"), &json!("hard"), &json!(2), &json!("span"), &json!("c"), &json!({"topic": "=cmd", "n": 7})]
    );
}

/// `compare` of the export says what `compare` of the run says, broken down and clustered, and nothing else.
#[test]
fn compare_reads_an_export_like_its_run() {
    let dir = with_meta();
    dir.wikitrail(&["export", "all", "--out", "all.csv"]).ok();
    let flags = ["--by", "type,answer_kind,hops,n", "--cluster", "cluster", "--json"];
    let of = |args: &[&str]| dir.wikitrail(&[&["compare"], args, &flags].concat());
    let (table, run) = (of(&["--from-csv", "all.csv"]), of(&["all"]));
    assert_eq!(table.stderr, "");
    let (table, run) = (table.json(), run.json());
    for part in ["columns", "metrics", "breakdowns"] {
        assert_eq!(table[part], run[part], "{part}");
    }
    assert!(run["breakdowns"].to_string().contains("comparison"), "{}", run["breakdowns"]);
    let absent = dir.wikitrail(&["compare", "--from-csv", "all.csv", "--by", "nowhere"]);
    absent.refused(3, &["no question has the field `nowhere`"]);
}

#[test]
fn the_ending_of_a_file_decides_its_format() {
    let dir = with_meta();
    let export = |args: &[&str]| dir.wikitrail(&[&["export", "all"], args].concat());
    export(&["--out", "x.jsonl"]).ok();
    assert_eq!(lines(&dir.read("x.jsonl")).len(), 6);
    export(&["--format", "chat", "--wrong", "--out", "chat.jsonl"]).ok();
    assert!(export(&["--format", "jsonl", "--out", "x.JSONL"]).ok().stderr.contains("6 episodes written to x.JSONL"));
    let steps = export(&["--rows", "steps", "--out", "steps.csv"]).ok();
    let count = rows(&dir.read("steps.csv")).len();
    assert!(steps.stderr.contains(&format!("{count} steps of 6 episodes written")), "{}", steps.stderr);
    export(&["--out", "plain.csv"]).ok();
    export(&["--out", "packed.csv.gz"]).ok();
    let unpack = "import gzip; assert gzip.open('packed.csv.gz').read() == open('plain.csv', 'rb').read()";
    let unpacked = std::process::Command::new("python3").args(["-c", unpack]).current_dir(dir.root()).status();
    assert!(unpacked.expect("python3 runs").success());
    for (args, words) in [
        (
            &["--format", "csv", "--out", "y.parquet"][..],
            &["`y.parquet` ends in .parquet, but --format is csv", ".csv"][..],
        ),
        (&["--format", "chat", "--out", "y.csv"], &["--format is chat", "omit --format to write csv"]),
        (&["--out", "y.xlsx"], &["has no ending that says which format", "--format csv|jsonl|parquet|chat"]),
        (&["--out", "y"], &["`y` has no ending"]),
    ] {
        export(args).refused(2, words);
        assert!(!dir.path(args[args.len() - 1]).exists());
    }
    export(&["--format", "csv", "--out", "y.xlsx"]).ok();
    let compare = |args: &[&str]| dir.wikitrail(&[&["compare", "all"], args].concat());
    for (file, start) in [("c.json", "{"), ("c.csv", "table,"), ("c.md", "#"), ("c.tex", "%"), ("c.txt", "")] {
        let said = compare(&["--out", file]).ok();
        assert!(said.stderr.contains(&format!("comparison written to {file}")), "{}", said.stderr);
        assert!(dir.read(file).starts_with(start), "{file}: {}", &dir.read(file)[..80]);
    }
    compare(&["--format", "markdown", "--out", "c.tex"]).refused(2, &["ends in .tex, but --format is markdown"]);
    compare(&["--json", "--out", "c.md"]).refused(2, &["--format is json"]);
    compare(&["--out", "c.html"]).refused(2, &["has no ending that says which format"]);
}

#[test]
fn a_metric_of_a_file_is_joined_to_a_run() {
    let dir = with_meta();
    let run = "all/deep/down/r";
    dir.write("judge.csv", "id,variant,judge,why\nq1,act,1,\"fine\"\nq1,react,0.5,so\nq3,,0,no\nzz,,1,who\n");
    dir.write("j.csv", "id,variant,judge\nq1,act,1\nq1,react,0.5\nq3,,0\nzz,,1\n");
    dir.write(
        "len.jsonl",
        "{\"id\": \"q1\", \"value\": 12}\n{\"id\": \"=q2\", \"value\": 3.5}\n{\"id\": \"q3\", \"value\": 1}\n",
    );
    let notes = |text: &str| {
        for part in
            ["`judge`: no value for 2 of 6 episodes, such as act:=q2", "1 of 4 values in `judge.csv`", "zz (line 5)"]
        {
            assert!(text.contains(part), "{part}: {text}");
        }
    };
    let scored =
        dir.wikitrail(&["score", run, "--metric-file", "judge=judge.csv", "--metric-file", "len.jsonl", "--json"]).ok();
    notes(&scored.stderr);
    let metrics = scored.json()["metrics"].clone();
    let mean = |at: usize| (metrics[at]["variant"].clone(), metrics[at]["metric"].clone(), metrics[at]["mean"].clone());
    assert_eq!(mean(0), (json!("act"), json!("judge"), json!(0.5)));
    assert_eq!(mean(1), (json!("act"), json!("len"), json!(5.5)));
    assert_eq!(mean(2), (json!("react"), json!("judge"), json!(0.25)));
    assert_eq!((&metrics[0]["unit"], &metrics[1]["unit"]), (&json!("share"), &json!("amount")));
    let table = dir.wikitrail(&["score", run, "--metric-file", "j.csv"]).ok().stdout;
    assert!(table.contains("judge %") && table.contains(" 25.0 ["), "{table}");
    let compared = dir.wikitrail(&["compare", run, "--metric", "judge", "--metric-file", "j.csv", "--json"]).json();
    assert_eq!(compared["metrics"].as_array().map(Vec::len), Some(1));
    let pair = &compared["metrics"][0]["pairs"][0];
    assert_eq!((&pair["difference"], &compared["metrics"][0]["metric"]["unit"]), (&json!(-0.25), &json!("share")));
    let exported = dir.wikitrail(&["export", run, "--metric-file", "j.csv", "--metric-file", "len.jsonl"]).ok().stdout;
    let cell = |variant: &str, id: &str, column: &str| {
        let found = rows(&exported);
        found.iter().find(|row| row["variant"] == variant && row["id"] == id).expect("the row")[column].clone()
    };
    assert_eq!(cell("react", "q1", "judge"), "0.5");
    assert_eq!(cell("react", "'=q2", "judge"), "");
    assert_eq!(cell("act", "'=q2", "len"), "3.5");
    let line = dir.wikitrail(&["export", run, "--format", "jsonl", "--metric-file", "j.csv"]).lines().swap_remove(0);
    assert_eq!(line["metrics"], json!({"judge": 1.0}));
    // The export with its new column is a metric file, and a table to compare.
    dir.write("round.csv", &exported);
    let again = dir.wikitrail(&["score", run, "--metric-file", "judge=round.csv", "--json"]).json();
    assert_eq!(again["metrics"][0]["mean"], json!(0.5));
    let table = dir.wikitrail(&["compare", "--from-csv", "round.csv", "--metric", "judge", "--json"]).json();
    assert_eq!(table["metrics"][0]["pairs"][0]["difference"], Value::from(-0.25));
}
