//! Exports of hand-made trajectories, read back here and by Python.

use super::table::Column;
use super::table::Kind;
use super::{Csv, CsvOptions, Export, JsonLines, JsonRows, Layout, Origin, Scored, Table};
use crate::base::{Manifest, Trajectory};
use crate::scoring::retrieval::Retrieval;
use crate::scoring::{
    AnswerScore, Assessment, Failure, FailureClass, Figure, GoldRetrieval, Grounding, Metric, ScoredEpisode, Share,
};
use serde_json::{Value, json};
use std::process::{Command, Stdio};

/// Two episodes: an awkward one, and one without anything.
fn trajectories() -> Vec<Trajectory> {
    let call = |latency: u64, usage: Value| {
        let attempts = if usage.is_null() { 0 } else { 2 };
        json!({"prompt_sha256": format!("{latency:064}"), "prompt_chars": 9, "stop": ["\nObservation 1:"],
            "completion": " c", "finish_reason": "stop", "usage": usage, "latency_ms": latency, "attempts": attempts, "cached": false})
    };
    let awkward = json!({
        "v": 1, "id": "=1", "index": 0, "variant": "main", "repeat": 0, "question": "Who, \"really\"?\r\nNow\0",
        "answers": ["Ada", "A, B", "\"C\""],
        "steps": [
            {"n": 1, "thought": "+think", "tool": "search", "input": "Ada", "action_text": "Search[Ada]",
             "observation": "Could not find Ada. Similar: ['A', 'B'].\n\u{1b}[31m",
             "provenance": {"source": "corpus", "url": "u", "title": "-T", "pageid": 7, "status": 200,
                "fetched_at": "", "sha256": "ab", "sentences": [[0, 1, 3]]},
             "note": "n", "discarded": "@d", "calls": [
                call(10, json!({"prompt_tokens": 5, "completion_tokens": 2, "cached_tokens": 4, "reasoning_tokens": 1})), call(30, Value::Null)]},
            {"n": 2, "thought": null, "tool": "lookup", "input": "x", "action_text": "Lookup[x]",
             "observation": "No more results.\n", "provenance": null, "calls": []},
            {"n": 3, "sample": 2, "thought": "t", "tool": null, "input": null, "action_text": null, "observation": null,
             "provenance": null, "calls": [call(1, Value::Null)]}],
        "answer": "-5", "outcome": "finished", "usage": {"prompt_tokens": 5, "completion_tokens": 2, "cached_tokens": 4, "reasoning_tokens": 1},
        "cost_usd": 0.25, "started_at": "2026-01-02T03:04:05Z", "wall_ms": 99, "compat": "fixed",
        "votes": [{"answer": "-5", "normalized": "5", "count": 2}, {"answer": "a, \"b\"", "normalized": "b", "count": 1}],
        "repairs": [{"step": 1, "kind": "missing_action"}, {"step": 1, "kind": "other"}], "key": "@k1"});
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
            "max_steps": 4, "prompt": "-p", "prompt_sha256": "=ab", "question_label": "Question", "model": "openai:m",
            "endpoint": "chat", "wiki": "html", "compat": "fixed", "wording": "chinese",
            "decoding": {"temperature": 0.7, "top_p": 1.0, "max_tokens": 100, "seed": u64::MAX}}]});
    serde_json::from_value(value).unwrap()
}

fn names(layout: impl Into<Layout>) -> Vec<String> {
    layout.into().columns().map(|column| column.name.into_owned()).collect()
}

const SCORE: AnswerScore = AnswerScore { em: 0.0, f1: 0.4, precision: 1.0, recall: 0.25 };

fn assessment() -> Assessment {
    let (r_precision, recall_at_5) = (Share { count: 1, of: 2 }, Share { count: 0, of: 1 });
    let (pages, pages_opened, sentences, sentences_seen) = (2, 1, 3, 2);
    let gold = GoldRetrieval {
        pages,
        pages_opened,
        sentences,
        sentences_seen,
        sentences_unknown: 0,
        r_precision,
        recall_at_5,
    };
    Assessment {
        retrieval: Retrieval { searches: 1, missed_searches: 1, lookups: 1, empty_lookups: 1, gold: Some(gold) },
        grounding: Some(Grounding::Ungrounded),
        failure: Some(Failure { class: FailureClass::Search, evidence: "=never opened".into(), step_limit: false }),
        leak: None,
    }
}

/// Type, level, hops, answer kind, cluster, and two of `meta`.
const FIELDS: [&str; 7] = ["bridge", "", "2", "span", "c1", "=m", "7"];

fn export(mut export: impl Export, rows: usize) {
    let (assessment, manifest) = (assessment(), manifest());
    let figures = [(Some(SCORE), Some(assessment)), (None, None)];
    for (trajectory, (score, assessment)) in trajectories().into_iter().zip(figures).take(rows) {
        let known = score.is_some();
        let fields = if known { &FIELDS.map(|field| (!field.is_empty()).then(|| field.to_owned()))[..] } else { &[] };
        let metrics = if known { &[Some(0.5), None][..] } else { &[] };
        let episode = &ScoredEpisode { trajectory, metric: Metric::Hotpot, score, assessment };
        let origin = Origin::new("=run", &manifest, &episode.trajectory.variant);
        export.write(&Scored { episode, fields, metrics, prompts: &[], origin, annotations: &[] }).unwrap();
    }
    export.finish().unwrap();
}

fn csv(table: impl Into<Layout>, options: CsvOptions) -> String {
    let mut bytes = Vec::new();
    export(Csv::new(&mut bytes, table, options), 2);
    String::from_utf8(bytes).unwrap()
}

/// The settings at the end of every row.
const ORIGIN: &str = r#"'=run,sample,lagent,"{""labels"":""v0.1""}",react,openai:m,chat,'-p,'=ab,Question,4,0.7,1,100,18446744073709551615,html,,chinese"#;

const QUESTIONS: [&str; 2] = [
    "main,0,'=1,\"Who, \"\"really\"\"?\r\nNow\u{fffd}\",Ada,\"[\"\"A, B\"\",\"\"\\\"\"C\\\"\"\"\"]\",-5,0,0.4,1,0.25,finished,,\
     2,3,1,0,0,1,1,1,2,2,\"[[\"\"-5\"\",2],[\"\"a, \\\"\"b\\\"\"\"\",1]]\",1,2,1,0,2,3,1,ungrounded,search,'=never opened,\
     5,2,0.25,99,2026-01-02T03:04:05Z,fixed,'@k1,4,,1,,,,,0.5,0,0,0,1,bridge,,2,span,c1",
    "main,1,b,东京?,,[],,,,,,not_measured,no server,0,0,0,0,0,0,0,0,0,0,,,,,,,,,,,,0,0,,1,2026-01-02T03:04:06Z,paper,k2,,,,,,,,,,,,,,,,,",
];

#[test]
fn questions_are_written_cell_by_cell() {
    let [first, second] = QUESTIONS;
    let header = names(Table::Questions).join(",");
    let expected = format!("{header}\r\n{first},{ORIGIN}\r\n{second},{ORIGIN}\r\n");
    assert_eq!(csv(Table::Questions, CsvOptions::default()), expected);
    let marked = csv(Table::Questions, CsvOptions { bom: true, ..CsvOptions::default() });
    assert_eq!(marked, format!("\u{feff}{expected}"));
    let raw = csv(Table::Questions, CsvOptions { raw: true, ..CsvOptions::default() });
    let formulas = [",'=1,", ",'=never", ",'@k1,", ",'=run,", ",'-p,", ",'=ab,"];
    assert_eq!(raw, formulas.iter().fold(expected, |text, cell| text.replace(cell, &cell.replace('\'', ""))));
}

/// What a dataset and a file of metrics add: columns before those of the run, and a member of each line.
#[test]
fn fields_of_the_dataset_and_metrics_of_files_are_columns() {
    let layout = Layout {
        table: Table::Questions,
        meta: vec!["m".into(), "n".into()],
        metrics: vec!["judge".into(), "=x".into()],
        prompts: false,
    };
    let text = csv(layout, CsvOptions::default());
    let header = text.lines().next().unwrap();
    assert!(header.contains(",type,level,hops,answer_kind,cluster,meta.m,meta.n,judge,'=x,run,"), "{header}");
    assert!(text.contains(",bridge,,2,span,c1,'=m,7,0.5,,'=run,"), "{text}");
    assert!(text.contains(&format!(",k2,{}'=run,", ",".repeat(21))), "{text}");
    let mut bytes = Vec::new();
    export(JsonLines::new(&mut bytes, vec!["judge".into()], None), 1);
    assert!(String::from_utf8(bytes).unwrap().ends_with("\"metrics\":{\"judge\":0.5}}\n"));
}

#[test]
fn steps_are_written_cell_by_cell() {
    let expected = format!(
        "{}\r\n\
         main,0,'=1,1,,'+think,search,Ada,Search[Ada],\"Could not find Ada. Similar: ['A', 'B'].\n\u{1b}[31m\",\
         corpus,u,'-T,7,,200,,ab,n,'@d,2,5,2,40,2,stop,,{:064},4,,1,\"[[0,1,3]]\",,{ORIGIN}\r\n\
         main,0,'=1,2,,,lookup,x,Lookup[x],\"No more results.\n\",,,,,,,,,,,0,,,0,0,,,,,,,,,{ORIGIN}\r\n\
         main,0,'=1,3,2,t,,,,,,,,,,,,,,,1,,,1,0,stop,,{:064},,,,,,{ORIGIN}\r\n",
        names(Table::Steps).join(","),
        10,
        1,
    );
    assert_eq!(csv(Table::Steps, CsvOptions::default()), expected);
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
    export(JsonLines::new(&mut bytes, Vec::new(), None), 2);
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
    // An episode without calls has no prompts, where they are asked for.
    let mut bytes = Vec::new();
    export(JsonLines::new(&mut bytes, Vec::new(), None).with_prompts(true), 2);
    assert!(String::from_utf8(bytes).unwrap().ends_with("\"score\":null,\"prompts\":[]}\n"));
}

#[test]
fn rows_as_json_have_every_column_with_its_type() {
    let rows = |table: Table| -> Vec<Value> {
        let mut bytes = Vec::new();
        export(JsonRows::new(&mut bytes, table), 2);
        String::from_utf8(bytes).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    for (table, count) in [(Table::Questions, 2), (Table::Steps, 3)] {
        let rows = rows(table);
        assert_eq!(rows.len(), count);
        for row in rows {
            let keys: Vec<&str> = row.as_object().unwrap().keys().map(String::as_str).collect();
            assert_eq!(keys, names(table));
        }
    }
    let questions = rows(Table::Questions);
    let first = json!({"id": "=1", "prediction": "-5", "question": "Who, \"really\"?\r\nNow\0", "em": 0.0, "f1": 0.4,
        "steps": 2, "first_hop": true, "hops": 2, "level": null, "cost_usd": 0.25});
    for (name, value) in first.as_object().unwrap() {
        assert_eq!(&questions[0][name], value, "{name}");
    }
    assert_eq!((&questions[1]["em"], &questions[1]["prediction"]), (&Value::Null, &Value::Null));
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
        let columns: Vec<Column> = Layout::from(table).columns().collect();
        assert_eq!(rows.len(), columns.len(), "{section}");
        for (row, Column { name, kind }) in rows.iter().zip(columns) {
            let start = format!("| `{name}` | {} | ", kind_name(kind));
            let meaning = row.strip_prefix(&start).unwrap_or_else(|| panic!("`{row}` does not begin with `{start}`"));
            if let Some(figure) = Figure::named(&name).filter(|_| table == Table::Questions) {
                assert_eq!(meaning, format!("{} |", figure.about), "{name}");
            }
        }
    }
}

/// Python's reader sees the same cells; skipped where there is no Python.
#[test]
fn python_reads_the_same_cells() {
    let text = csv(Table::Questions, CsvOptions { bom: true, ..CsvOptions::default() });
    let long = text.replace("东京?", &"x".repeat(super::csv_file::MAX_CELL_CHARS));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("q.csv");
    std::fs::write(&path, &long).unwrap();
    let script = "import csv, json, sys\n\
        print(json.dumps(list(csv.reader(open(sys.argv[1], newline='', encoding='utf-8-sig'), strict=True))))";
    let output = Command::new("python3").args(["-c", script]).arg(&path).stderr(Stdio::inherit()).output();
    let Ok(output) = output else { return };
    assert!(output.status.success());
    let rows: Vec<Vec<String>> = serde_json::from_slice(&output.stdout).unwrap();
    let mut reader =
        csv::ReaderBuilder::new().has_headers(false).from_reader(long.trim_start_matches('\u{feff}').as_bytes());
    let expected = reader.records().map(|record| record.unwrap().iter().map(str::to_owned).collect());
    assert_eq!(rows, expected.collect::<Vec<Vec<String>>>());
}

/// The name of a kind in `docs/columns.md`.
fn kind_name(kind: Kind) -> &'static str {
    match kind {
        Kind::Text => "text",
        Kind::Integer => "int",
        Kind::Real => "real",
        Kind::Flag => "bool",
    }
}
