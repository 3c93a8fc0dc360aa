//! Exports of hand-made trajectories, read back here and by Python.

use super::{Column, Csv, CsvOptions, Export, Jsonl, Origin, Scored, Table};
use crate::score::{AnswerScore, Assessment, Failure, FailureClass, Figure, GoldRetrieval, Grounding, Retrieval};
use crate::types::{Manifest, Trajectory};
use serde_json::{Value, json};
use std::process::{Command, Stdio};

/// Two episodes: an awkward one, and one without anything.
fn trajectories() -> Vec<Trajectory> {
    let call = |latency: u64, usage: Value| {
        json!({"prompt_sha256": format!("{latency:064}"), "prompt_chars": 9, "stop": ["\nObservation 1:"],
            "completion": " c", "finish_reason": "stop", "usage": usage, "latency_ms": latency, "attempts": 2, "cached": false})
    };
    let awkward = json!({
        "v": 1, "id": "=1", "index": 0, "variant": "main", "repeat": 0, "question": "Who, \"really\"?\r\nNow\0",
        "answers": ["Ada", "A, B", "\"C\""],
        "steps": [
            {"n": 1, "thought": "+think", "tool": "search", "input": "Ada", "action_text": "Search[Ada]",
             "observation": "Could not find Ada. Similar: ['A', 'B'].\n\u{1b}[31m",
             "provenance": {"source": "corpus", "url": "u", "title": "-T", "pageid": 7, "status": 200,
                "fetched_at": "", "sha256": "ab"},
             "note": "n", "discarded": "@d", "calls": [
                call(10, json!({"prompt_tokens": 5, "completion_tokens": 2})), call(30, Value::Null)]},
            {"n": 2, "thought": null, "tool": "lookup", "input": "x", "action_text": "Lookup[x]",
             "observation": "No more results.\n", "provenance": null, "calls": []},
            {"n": 3, "sample": 2, "thought": "t", "tool": null, "input": null, "action_text": null, "observation": null,
             "provenance": null, "calls": [call(1, Value::Null)]}],
        "answer": "-5", "outcome": "finished", "usage": {"prompt_tokens": 5, "completion_tokens": 2},
        "cost_usd": 0.25, "started_at": "2026-01-02T03:04:05Z", "wall_ms": 99, "compat": "fixed",
        "votes": [{"answer": "-5", "normalized": "5", "count": 2}, {"answer": "a, \"b\"", "normalized": "b", "count": 1}],
        "repairs": [{"step": 1, "kind": "missing_action"}, {"step": 1, "kind": "other"}], "key": "k1"});
    let bare = json!({
        "v": 1, "id": "b", "index": 1, "variant": "main", "repeat": 1, "question": "东京?", "answers": [], "steps": [],
        "answer": null, "outcome": "not_measured", "detail": "no server", "usage": {"prompt_tokens": 0, "completion_tokens": 0},
        "started_at": "2026-01-02T03:04:06Z", "wall_ms": 1, "compat": "paper", "repairs": [], "key": "k2"});
    [awkward, bare].map(|value| serde_json::from_value(value).unwrap()).into()
}

/// The run of both, whose manifest has one variant.
fn manifest() -> Manifest {
    let value = json!({
        "v": 1, "repeats": 2, "wikitrail": "0.1.0", "git_revision": null, "command_line": [], "started_at": "", "ended_at": null,
        "dataset": {"name": "sample", "path": "q.jsonl", "sha256": "", "questions": 2, "selection": {}, "selected": 2},
        "variants": [{"name": "main", "protocol": "lagent", "options": {"labels": "v0.1"}, "method": "react",
            "max_steps": 4, "prompt": "-p", "prompt_sha256": "ab", "question_label": "Question", "model": "openai:m",
            "endpoint": "chat", "wiki": "html", "compat": "fixed", "wording": "chinese",
            "decoding": {"temperature": 0.7, "top_p": 1.0, "max_tokens": 100, "seed": u64::MAX}}]});
    serde_json::from_value(value).unwrap()
}

/// What stands at the end of every row.
const ORIGIN: [&str; 18] = [
    "'=run",
    "sample",
    "lagent",
    r#"{"labels":"v0.1"}"#,
    "react",
    "openai:m",
    "chat",
    "'-p",
    "ab",
    "Question",
    "4",
    "0.7",
    "1",
    "100",
    "18446744073709551615",
    "html",
    "",
    "chinese",
];

fn with_origin(row: &[&str]) -> Vec<String> {
    row.iter().chain(&ORIGIN).map(|cell| (*cell).to_owned()).collect()
}

fn names(table: Table) -> Vec<&'static str> {
    table.columns().map(|column| column.name).collect()
}

const SCORE: AnswerScore = AnswerScore { em: 0.0, f1: 0.4, precision: 1.0, recall: 0.25 };

fn assessment() -> Assessment {
    let gold = GoldRetrieval { pages: 2, pages_opened: 1, sentences: 3, sentences_seen: 2, sentences_unknown: 0 };
    Assessment {
        retrieval: Retrieval { searches: 1, missed_searches: 1, lookups: 1, empty_lookups: 1, gold: Some(gold) },
        grounding: Some(Grounding::Ungrounded),
        failure: Some(Failure { class: FailureClass::Search, evidence: "=never opened".into() }),
    }
}

fn export(mut export: impl Export, rows: usize) {
    let (assessment, manifest) = (assessment(), manifest());
    let figures = [(Some(SCORE), Some(&assessment)), (None, None)];
    for (trajectory, (score, assessment)) in trajectories().iter().zip(figures).take(rows) {
        let origin = Origin::new("=run", &manifest, &trajectory.variant);
        export.write(&Scored { trajectory, score, assessment, origin }).unwrap();
    }
    export.finish().unwrap();
}

fn questions(options: CsvOptions) -> String {
    let mut bytes = Vec::new();
    export(Csv::new(&mut bytes, Table::Questions, options), 2);
    String::from_utf8(bytes).unwrap()
}

fn steps(options: CsvOptions) -> String {
    let mut bytes = Vec::new();
    export(Csv::new(&mut bytes, Table::Steps, options), 2);
    String::from_utf8(bytes).unwrap()
}

/// Rows with their cells, the header first.
fn parsed(csv: &str) -> Vec<Vec<String>> {
    let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(csv.as_bytes());
    reader.records().map(|record| record.unwrap().iter().map(str::to_owned).collect()).collect()
}

const QUESTION_ROWS: [[&str; 39]; 2] = [
    [
        "main",
        "0",
        "'=1",
        "Who, \"really\"?\r\nNow\u{fffd}",
        "Ada",
        r#"["A, B","\"C\""]"#,
        "'-5",
        "0",
        "0.4",
        "1",
        "0.25",
        "finished",
        "",
        "2",
        "3",
        "1",
        "1",
        "1",
        "1",
        "2",
        "2",
        r#"[["-5",2],["a, \"b\"",1]]"#,
        "1",
        "2",
        "1",
        "0",
        "2",
        "3",
        "1",
        "ungrounded",
        "search",
        "'=never opened",
        "5",
        "2",
        "0.25",
        "99",
        "2026-01-02T03:04:05Z",
        "fixed",
        "k1",
    ],
    [
        "main",
        "1",
        "b",
        "东京?",
        "",
        "[]",
        "",
        "",
        "",
        "",
        "",
        "not_measured",
        "no server",
        "0",
        "0",
        "0",
        "0",
        "0",
        "0",
        "0",
        "0",
        "",
        "",
        "",
        "",
        "",
        "",
        "",
        "",
        "",
        "",
        "",
        "0",
        "0",
        "",
        "1",
        "2026-01-02T03:04:06Z",
        "paper",
        "k2",
    ],
];

#[test]
fn questions_come_back_cell_by_cell() {
    let rows = parsed(&questions(CsvOptions::default()));
    assert_eq!(rows[0], names(Table::Questions));
    assert_eq!(rows[1..], QUESTION_ROWS.map(|row| with_origin(&row)));
}

#[test]
fn steps_come_back_cell_by_cell() {
    let rows = parsed(&steps(CsvOptions::default()));
    assert_eq!(rows[0], names(Table::Steps));
    assert_eq!(rows.len(), 4);
    let digest = format!("{:064}", 10);
    assert_eq!(
        rows[1],
        with_origin(&[
            "main",
            "0",
            "'=1",
            "1",
            "",
            "'+think",
            "search",
            "Ada",
            "Search[Ada]",
            "Could not find Ada. Similar: ['A', 'B'].\n\u{1b}[31m",
            "corpus",
            "u",
            "'-T",
            "7",
            "",
            "200",
            "",
            "ab",
            "n",
            "'@d",
            "2",
            "5",
            "2",
            "40",
            "4",
            "stop",
            &digest,
        ])
    );
    assert_eq!(rows[2][3..10], ["2", "", "", "lookup", "x", "Lookup[x]", "No more results.\n"]);
    assert_eq!(rows[2][10..27], ["", "", "", "", "", "", "", "", "", "", "0", "", "", "0", "0", "", ""]);
    assert_eq!(rows[3][3..10], ["3", "2", "t", "", "", "", ""]);
}

#[test]
fn lines_end_as_rfc_4180_says_and_the_mark_stands_once() {
    let csv = questions(CsvOptions { bom: true, ..CsvOptions::default() });
    assert!(csv.starts_with("\u{feff}variant,repeat,id,"), "{csv}");
    assert_eq!(csv.matches('\u{feff}').count(), 1);
    assert!(csv.contains(",wording\r\n") && csv.ends_with(",chinese\r\n"), "{csv}");
    assert_eq!(csv.trim_start_matches('\u{feff}'), questions(CsvOptions::default()));
}

#[test]
fn raw_leaves_formulas_and_nothing_else() {
    let raw = parsed(&questions(CsvOptions { raw: true, ..CsvOptions::default() }));
    assert_eq!((raw[1][2].as_str(), raw[1][6].as_str()), ("=1", "-5"));
    assert_eq!(raw[1][3], QUESTION_ROWS[0][3]);
}

#[test]
fn an_export_without_rows_has_a_header() {
    let mut bytes = Vec::new();
    export(Csv::new(&mut bytes, Table::Steps, CsvOptions::default()), 0);
    assert_eq!(String::from_utf8(bytes).unwrap(), names(Table::Steps).join(",") + "\r\n");
}

#[test]
fn json_lines_are_the_stored_records_with_a_score() {
    let mut bytes = Vec::new();
    export(Jsonl::new(&mut bytes), 2);
    let text = String::from_utf8(bytes).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 2);
    for (line, trajectory) in lines.iter().zip(trajectories()) {
        let stored = serde_json::to_string(&trajectory).unwrap();
        assert!(line.starts_with(stored.strip_suffix('}').unwrap()), "{line}");
        assert_eq!(serde_json::from_str::<Trajectory>(line).unwrap(), trajectory);
    }
    assert!(
        lines[0].ends_with(r#","run":"=run","score":{"em":0,"f1":0.4,"precision":1,"recall":0.25}}"#),
        "{}",
        lines[0]
    );
    assert!(lines[1].ends_with(r#","run":"=run","score":null}"#), "{}", lines[1]);
}

/// `docs/columns.md` lists the columns of both tables in their order, and says of each figure what its declaration says.
#[test]
fn the_documentation_and_the_headers_agree() {
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/columns.md")).unwrap();
    let documented = |section: &str| -> Vec<&str> {
        let section = text.split("\n## ").find(|part| part.starts_with(section)).unwrap();
        section.lines().filter(|line| line.starts_with("| `")).collect()
    };
    for (section, table) in [("Questions", Table::Questions), ("Steps", Table::Steps)] {
        let rows = [documented(section), documented("Origin")].concat();
        let columns: Vec<Column> = table.columns().collect();
        assert_eq!(rows.len(), columns.len(), "{section}");
        for (row, Column { name, kind }) in rows.iter().zip(columns) {
            let start = format!("| `{name}` | {} | ", kind.name());
            let meaning = row.strip_prefix(&start).unwrap_or_else(|| panic!("`{row}` does not begin with `{start}`"));
            if let Some(figure) = Figure::named(name).filter(|_| table == Table::Questions) {
                assert_eq!(meaning, format!("{} |", figure.about), "{name}");
            }
        }
    }
}

/// Python's reader sees the same cells; skipped where there is no Python.
#[test]
fn python_reads_the_same_cells() {
    let long = "x".repeat(super::MAX_CELL_CHARS + 1);
    let mut bytes = Vec::new();
    let mut table = Csv::new(&mut bytes, Table::Questions, CsvOptions { bom: true, ..CsvOptions::default() });
    let (mut trajectory, assessment, manifest) = (trajectories().remove(0), assessment(), manifest());
    let origin = Origin::new("=run", &manifest, "main");
    table
        .write(&Scored { trajectory: &trajectory, score: Some(SCORE), assessment: Some(&assessment), origin })
        .unwrap();
    trajectory.question = long;
    table
        .write(&Scored { trajectory: &trajectory, score: Some(SCORE), assessment: Some(&assessment), origin })
        .unwrap();
    table.finish().unwrap();
    drop(table);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("q.csv");
    std::fs::write(&path, bytes).unwrap();
    let script = "import csv, json, sys\n\
        print(json.dumps(list(csv.reader(open(sys.argv[1], newline='', encoding='utf-8-sig'), strict=True))))";
    let output = Command::new("python3").args(["-c", script]).arg(&path).stderr(Stdio::inherit()).output();
    let Ok(output) = output else { return };
    assert!(output.status.success());
    let rows: Vec<Vec<String>> = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(rows[0], names(Table::Questions));
    assert_eq!(rows[1], with_origin(&QUESTION_ROWS[0]));
    assert_eq!(rows[2][3].chars().count(), super::MAX_CELL_CHARS);
}
