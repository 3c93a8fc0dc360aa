//! `export` of several runs, and of some of their episodes.

use crate::common::wikitrail;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Two runs of the baseline below `e/`, which share questions: one of two methods and one of another protocol.
fn experiment() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for (run, flags) in [
        ("e/one", &["--method", "react,act", "--limit", "12"][..]),
        ("e/two", &["--protocol", "lagent", "--option", "labels=v0.1", "--temperature", "0.5", "--limit", "8"]),
    ] {
        wikitrail(folder.path(), &[&["run", "--quiet", "--out", run], flags].concat()).ok();
    }
    folder
}

type Row = BTreeMap<String, String>;
type Test<'a> = Box<dyn Fn(&Row) -> bool + 'a>;

/// Rows of a table that came out, each as its cells by column.
struct Rows(Vec<Row>);

impl Rows {
    fn of(folder: &Path, args: &[&str]) -> Self {
        let output = wikitrail(folder, &[&["export"], args].concat()).ok();
        let mut table = csv::Reader::from_reader(output.stdout.as_bytes());
        Self(table.deserialize().map(|row| row.expect("a row")).collect())
    }

    fn distinct(&self, columns: &[&str]) -> BTreeSet<Vec<String>> {
        self.0.iter().map(|row| columns.iter().map(|column| row[*column].clone()).collect()).collect()
    }

    fn len(&self) -> usize {
        self.0.len()
    }
}

#[test]
fn rows_of_several_runs_say_where_they_come_from() {
    let folder = experiment();
    let origin = ["run", "variant", "dataset", "protocol", "options", "method", "model", "max_steps", "temperature"];
    for rows in ["questions", "steps"] {
        let named = Rows::of(folder.path(), &["e/one", "e/two", "--rows", rows]);
        let found = Rows::of(folder.path(), &["e", "--rows", rows]);
        assert_eq!(named.0, found.0);
        assert_eq!(named.0, Rows::of(folder.path(), &[".", "--rows", rows]).0, "runs in folders are found");
        let expected = [
            ["one", "act", "sample", "react-paper", "", "act", "baseline", "7", "0"],
            ["one", "react", "sample", "react-paper", "", "react", "baseline", "7", "0"],
            ["two", "main", "sample", "lagent", r#"{"labels":"v0.1"}"#, "react", "baseline", "2", "0.5"],
        ];
        let expected = expected.map(|row| row.map(str::to_owned).to_vec());
        assert_eq!(named.distinct(&origin), BTreeSet::from(expected), "{rows}");
    }
    let questions = Rows::of(folder.path(), &["e"]);
    assert_eq!(questions.len(), 2 * 12 + 8);
    let shared = questions.0.iter().filter(|row| row["id"] == questions.0[0]["id"]);
    assert_eq!(shared.count(), 3, "a question keeps the rows of each variant");
    // A run that is named twice is one run, and one of the same name elsewhere is called by its path.
    assert_eq!(Rows::of(folder.path(), &["e/one", "e", "./e/one"]).len(), 2 * 12 + 8);
    wikitrail(folder.path(), &["run", "--quiet", "--out", "f/one", "--limit", "1"]);
    let names = Rows::of(folder.path(), &["e/one", "f/one", "e/two"]).distinct(&["run"]);
    assert_eq!(names, BTreeSet::from(["e/one", "f/one", "two"].map(|name| vec![name.to_owned()])));
}

#[test]
fn flags_choose_among_the_episodes() {
    let folder = experiment();
    // The baseline always answers; one of its episodes is made to end otherwise.
    let records = folder.path().join("e/two/trajectories.jsonl");
    let text = std::fs::read_to_string(&records).expect("records");
    let other = text.replacen("\"outcome\":\"finished\"", "\"outcome\":\"step_limit\"", 1);
    std::fs::write(&records, other).expect("it can be written");
    let all = Rows::of(folder.path(), &["e"]);
    let where_ = |test: &dyn Fn(&Row) -> bool| all.0.iter().filter(|row| test(row)).cloned().collect::<Vec<_>>();
    let number = |cell: &str| cell.parse::<f64>().expect("a number");
    let cases: [(&[&str], Test<'_>); 9] = [
        (&["--variant", "act"], Box::new(|row| row["variant"] == "act")),
        (&["--variant", "act,main"], Box::new(|row| row["variant"] != "react")),
        (&["--correct"], Box::new(|row| row["em"] == "1")),
        (&["--wrong"], Box::new(|row| row["em"] == "0")),
        (&["--outcome", "step_limit"], Box::new(|row| row["outcome"] == "step_limit")),
        (&["--outcome", "step_limit,finished"], Box::new(|_| true)),
        (&["--min-f1", "0.5"], Box::new(|row| number(&row["f1"]) >= 0.5)),
        (&["--max-steps", "2"], Box::new(|row| number(&row["steps"]) <= 2.0)),
        (&["--correct", "--max-steps", "3"], Box::new(|row| row["em"] == "1" && number(&row["steps"]) <= 3.0)),
    ];
    for (flags, test) in &cases {
        let expected = where_(test);
        assert!(!expected.is_empty() && expected.len() <= all.len(), "{flags:?} is not tried");
        assert_eq!(Rows::of(folder.path(), &[&["e"], *flags].concat()).0, expected, "{flags:?}");
    }
    // Every format is filtered the same way; each line names its run.
    let lines = wikitrail(folder.path(), &["export", "e", "--format", "jsonl", "--correct"]).lines();
    let runs: BTreeSet<String> = lines.iter().map(|line| line["run"].as_str().expect("a name").to_owned()).collect();
    assert_eq!(lines.len(), where_(&|row| row["em"] == "1").len());
    assert_eq!(runs, BTreeSet::from(["one".to_owned(), "two".to_owned()]));
}

#[cfg(not(feature = "parquet"))]
#[test]
fn a_program_without_parquet_says_how_to_build_it() {
    let folder = tempfile::tempdir().expect("a folder");
    wikitrail(folder.path(), &["run", "--quiet", "--limit", "1", "--out", "r"]);
    let output = wikitrail(folder.path(), &["export", "r", "--format", "parquet", "--out", "t.parquet"]);
    output.refused(2, &["\nhint: build it with the format: cargo install --path . --features parquet\n"]);
    assert!(!folder.path().join("t.parquet").exists());
}

/// `-` is standard output, as for other programs, and no file of that name.
#[test]
fn rows_are_json_too_and_a_hyphen_is_standard_output() {
    let folder = experiment();
    let shown = |args: &[&str]| wikitrail(folder.path(), &[&["export", "e/one"], args].concat()).ok().stdout;
    let rows = shown(&["--format", "jsonl", "--rows", "questions"]);
    assert_eq!(rows.lines().count(), 24);
    for line in rows.lines() {
        let row: serde_json::Value = serde_json::from_str(line).expect("JSON");
        assert!(row["em"].is_f64() && row["steps"].is_u64() && row["type"].is_string(), "{line}");
    }
    assert_eq!(shown(&["--format", "jsonl", "--rows", "questions", "--out", "-"]), rows);
    assert!(shown(&["--format", "jsonl"]).starts_with("{\"v\":1,"), "trajectories unless rows are asked for");
    let table = wikitrail(folder.path(), &["compare", "e/one", "--json", "--out", "-"]).ok();
    assert!(table.stdout.starts_with('{'), "{}", table.stdout);
    assert!(!folder.path().join("-").exists());
    let chat = wikitrail(folder.path(), &["export", "e/one", "--format", "chat", "--rows", "steps"]);
    chat.refused(2, &["--rows does not apply to conversations"]);
}
