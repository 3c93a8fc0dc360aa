//! `reproduce` through the program: over our samples with the baseline, and over the paper's questions with the mocks.

use crate::common;
use crate::common::mockd;
use serde_json::Value;
use std::path::PathBuf;
use std::process::{Command, Output};
use wikitrail::score::{Metric, score_answers};

const METHODS: [&str; 7] = ["standard", "cot", "cot-sc", "act", "react", "cot-sc->react", "react->cot-sc"];

/// Table 1 of the paper in per cent, by method: `HotpotQA` EM and FEVER accuracy of PaLM-540B.
const PALM: [(f64, f64); 7] =
    [(28.7, 57.1), (29.4, 56.3), (33.4, 60.4), (25.7, 58.9), (27.4, 60.9), (34.2, 64.6), (35.1, 62.0)];

/// A working folder.
struct Bench {
    dir: tempfile::TempDir,
}

impl Bench {
    fn new() -> Self {
        Self { dir: tempfile::tempdir().expect("a folder") }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn wikitrail(&self, args: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_wikitrail"));
        command.args(args).current_dir(self.dir.path()).env_remove("OPENAI_API_KEY");
        command.output().expect("wikitrail runs")
    }

    /// What `reproduce` prints on stdout and stderr.
    fn reproduce(&self, args: &[&str]) -> (String, String) {
        let output = self.wikitrail(&[&["reproduce"], args].concat());
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(0), "{args:?}\n{said}");
        (String::from_utf8(output.stdout).expect("UTF-8"), said)
    }

    fn json(&self, args: &[&str]) -> Value {
        serde_json::from_str(&self.reproduce(&[&["--json"], args].concat()).0).expect("JSON")
    }

    fn refused(&self, args: &[&str], code: i32, message: &str) {
        let output = self.wikitrail(args);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(code), "{args:?}\n{said}");
        assert!(said.contains(message) && said.contains("hint: "), "{args:?}\n{said}");
    }

    fn records(&self, run: &str) -> Vec<Value> {
        let text = std::fs::read_to_string(self.path(run).join("trajectories.jsonl")).expect("trajectories");
        text.lines().map(|line| serde_json::from_str(line).expect("a trajectory")).collect()
    }

    fn manifest(&self, run: &str) -> Value {
        let text = std::fs::read_to_string(self.path(run).join("manifest.json")).expect("a manifest");
        serde_json::from_str(&text).expect("JSON")
    }
}

/// Wilson's interval at 95 %, from its formula.
fn wilson(correct: f64, n: f64) -> [f64; 2] {
    let z = 1.959_963_984_540_054_f64;
    let p = correct / n;
    let middle = p + z * z / (2.0 * n);
    let spread = z * (p * (1.0 - p) / n + z * z / (4.0 * n * n)).sqrt();
    let scale = 1.0 + z * z / n;
    [(middle - spread) / scale, (middle + spread) / scale]
}

/// Holds every figure of a dataset's table against its trajectories and the paper.
fn check_table(table: &Value, records: &[Value], claims: bool) {
    assert_eq!(table["metric"], if claims { "accuracy" } else { "em" });
    let rows = table["rows"].as_array().expect("rows");
    assert_eq!(rows.iter().map(|row| row["cell"].as_str().expect("a name")).collect::<Vec<_>>(), METHODS);
    for (row, (hotpotqa, fever)) in rows.iter().zip(PALM) {
        let (mut n, mut correct) = (0_u32, 0_u32);
        for record in records.iter().filter(|record| record["variant"] == row["cell"]) {
            let golds: Vec<String> = serde_json::from_value(record["answers"].clone()).expect("answers");
            let answer = record["answer"].as_str();
            n += 1;
            correct += u32::from(if claims {
                answer.is_some_and(|answer| answer.to_lowercase() == golds[0].to_lowercase())
            } else {
                score_answers(Metric::Aliases, answer, &golds).expect("a score").em > 0.5
            });
        }
        assert!(n > 0 && row["n"] == n, "{row}");
        let (n, correct) = (f64::from(n), f64::from(correct));
        let close = |value: &Value, expected: f64| (value.as_f64().expect("a number") - expected).abs() < 1e-12;
        assert!(close(&row["mean"], correct / n), "{row}: {correct} of {n}");
        let interval = wilson(correct, n);
        assert!(close(&row["interval"][0], interval[0]) && close(&row["interval"][1], interval[1]), "{row}");
        let palm = &row["published"][0];
        let expected = if claims { fever } else { hotpotqa };
        let share: f64 = format!("{expected}e-2").parse().expect("a number");
        assert_eq!((&palm["name"], palm["value"].as_f64()), (&"PaLM-540B".into(), Some(share)));
        assert_eq!(palm["inside"], share >= interval[0] && share <= interval[1], "{row}");
        let gpt = &row["published"][1];
        if row["cell"] == "react" {
            assert_eq!(
                (gpt["name"].as_str(), gpt["value"].as_f64()),
                (Some("GPT-3"), Some(if claims { 0.54 } else { 0.304 }))
            );
        } else {
            assert!(gpt.is_null(), "{row}");
        }
    }
}

#[test]
fn the_samples_make_a_table_whose_every_figure_is_that_of_the_trajectories() {
    let bench = Bench::new();
    let table = bench.json(&["--try", "--out", "o", "--quiet"]);
    assert_eq!((&table["experiment"], &table["models"]), (&"table1".into(), &"baseline".into()));
    let tables = table["tables"].as_array().expect("tables");
    assert_eq!(tables.iter().map(|table| &table["dataset"]).collect::<Vec<_>>(), ["hotpotqa", "fever"]);
    for (table, run, count) in [(&tables[0], "o/hotpotqa", 60), (&tables[1], "o/fever", 30)] {
        let records = bench.records(run);
        assert_eq!(records.len(), 7 * count);
        check_table(table, &records, run == "o/fever");
    }
    // A policy of rules over other questions must not pass for a reproduction.
    let notes = table["notes"].to_string();
    for part in
        ["no language model", "datasets/sample.jsonl is another file", "30 questions, where the experiment has 500"]
    {
        assert!(notes.contains(part), "{part}\n{notes}");
    }
    // The same again, from the folder, from one of its runs, and where it would be run.
    for args in [&["o"][..], &["--out", "o"]] {
        assert_eq!(bench.json(args), table, "{args:?}");
    }
    let below = bench.json(&["o/fever"]);
    assert_eq!(below["tables"], table["tables"]);
    let (text, _) = bench.reproduce(&["o"]);
    let lines: Vec<&str> = text.lines().collect();
    for method in METHODS {
        let rows: Vec<&&str> =
            lines.iter().filter(|line| line.trim_start().starts_with(&format!("{method} "))).collect();
        assert_eq!(rows.len(), 2, "{method}\n{text}");
    }
    let row = &tables[0]["rows"][4];
    let shown = |value: &Value| format!("{:.1}", value.as_f64().expect("a number") * 100.0);
    let react = lines.iter().find(|line| line.trim_start().starts_with("react ")).expect("a row");
    let interval = format!("{} to {}", shown(&row["interval"][0]), shown(&row["interval"][1]));
    assert!(react.contains(&shown(&row["mean"])) && react.contains(&interval), "{react}");
    assert!(react.contains("27.4") && react.contains("30.4"), "{react}");
    assert!(lines.iter().all(|line| line.chars().count() <= 80), "{text}");
    // The stored experiment is the shipped one; what was put in its place stands in the manifest.
    let shipped = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/experiments/table1.toml"));
    assert_eq!(std::fs::read_to_string(bench.path("o/fever/experiment.toml")).ok(), shipped.ok());
    for (run, prompt, steps) in [("o/hotpotqa", "prompts/hotpotqa.toml", 7), ("o/fever", "prompts/fever.toml", 5)] {
        let manifest = bench.manifest(run);
        assert_eq!(manifest["dataset"]["selection"]["shuffle_like_paper"], 233);
        let react = &manifest["variants"][4];
        assert_eq!((&react["prompt"], &react["max_steps"]), (&prompt.into(), &steps.into()), "{react}");
        assert_eq!((&react["protocol"], &react["compat"]), (&"react-paper".into(), &"paper".into()));
        assert_eq!(manifest["variants"][2]["voting"]["samples"], 21);
    }
}

#[test]
fn a_dry_run_leaves_nothing_and_a_larger_limit_keeps_what_is_there() {
    let bench = Bench::new();
    let plan = bench.json(&["--try", "--limit", "2", "--out", "o", "--dry-run"]);
    assert_eq!(plan["runs"].as_array().map(Vec::len), Some(2));
    assert_eq!(plan["runs"][1]["cells"].as_array().map(Vec::len), Some(7));
    assert!(!bench.path("o").exists());
    let (text, _) = bench.reproduce(&["--try", "--dry-run"]);
    // Both datasets' cells are shown, since their prompts differ.
    assert!(text.contains(": prompt hotpotqa,") && text.contains(": prompt fever,"), "{text}");

    let first = bench.json(&["--try", "--limit", "2", "--samples", "3", "--out", "o"]);
    assert_eq!(first["tables"][1]["rows"][0]["n"], 2);
    assert!(first["notes"].to_string().contains("samples 3 in place of 21; wiki "), "{}", first["notes"]);
    let before = bench.records("o/hotpotqa");
    let args = ["--try", "--samples", "3", "--limit", "4", "--out", "o"];
    let (_, said) = bench.reproduce(&[&args[..], &["--resume"]].concat());
    assert_eq!(said.matches("plan: keep 14, redo 0, new 14").count(), 2, "{said}");
    let after = bench.records("o/hotpotqa");
    assert_eq!((before.len(), after.len()), (14, 28));
    assert_eq!(before[..], after[..14]);
    bench.refused(&[&["reproduce"], &args[..]].concat(), 3, "holds a run already");
    // The folder knows what it was started with.
    let (_, said) = bench.reproduce(&["--resume", "--out", "o", "--limit", "5"]);
    assert_eq!(said.matches("plan: keep 28, redo 0, new 7").count(), 2, "{said}");
    assert!(said.contains("resuming: wikitrail reproduce --try --limit=5 --samples=3"), "{said}");
    bench.refused(&["reproduce", "--resume", "--out", "nowhere"], 2, "name it with --model");
    bench.refused(&["run", "--resume", "--out", "o"], 2, "not a command of `wikitrail run`");
    bench.refused(&["reproduce", "--try", "--limit", "5", "--out", "o", "--resume"], 3, "other settings");
}

/// An interrupted run prints what there is, and says how to go on.
#[test]
fn a_part_of_the_table_is_printed_with_what_is_missing() {
    let bench = Bench::new();
    bench.json(&["--try", "--limit", "3", "--samples", "3", "--out", "o"]);
    std::fs::remove_dir_all(bench.path("o/fever")).expect("it is gone");
    let path = bench.path("o/hotpotqa/trajectories.jsonl");
    let text = std::fs::read_to_string(&path).expect("trajectories");
    let kept: Vec<&str> = text.lines().take(5).collect();
    std::fs::write(&path, kept.join("\n") + "\n").expect("a file");
    let table = bench.json(&["o"]);
    assert_eq!((table["tables"].as_array().map(Vec::len), &table["tables"][0]["missing"]), (Some(1), &16.into()));
    let notes = table["notes"].to_string();
    assert!(notes.contains("16 episodes not recorded yet") && notes.contains("fever: nothing is recorded"), "{notes}");
    assert!(notes.contains(" --try --limit 3 ") && notes.contains("--resume --out o"), "{notes}");
}

#[test]
fn what_cannot_be_reproduced_is_refused_with_advice() {
    let bench = Bench::new();
    bench.refused(&["reproduce"], 2, "--model");
    bench.refused(&["reproduce", "--model", "baseline"], 3, "wikitrail dataset fetch hotpotqa");
    let claims = ["reproduce", "--try", "--dry-run", "--fever", "x/fever_paper_dev.jsonl"];
    bench.refused(&claims, 3, "wikitrail dataset fetch fever --out x");
    bench.refused(&["reproduce", "--try", "--base-url", "http://127.0.0.1:9/v1"], 2, "no variant uses --base-url");
    let bad = bench.wikitrail(&["reproduce", "--try", "--samples", "many"]);
    assert_eq!(bad.status.code(), Some(2));
    bench.refused(&["reproduce", "nowhere"], 3, "holds no run");
    let plain = bench.wikitrail(&["run", "--limit", "1", "--out", "plain", "--quiet"]);
    assert_eq!(plain.status.code(), Some(0));
    bench.refused(&["reproduce", "plain"], 3, "not an experiment run");
    let other = ["reproduce", "--try", "--experiment", "experiments/sample.toml"];
    bench.refused(&other, 2, "has no dataset `hotpotqa`");
}

/// The paper's own questions in the paper's order, asked of a server.
#[test]
fn the_paper_s_questions_are_asked_of_any_server() {
    let Some(shared) = common::shared() else { return };
    let (llm, wiki) = mockd::start(&shared);
    let bench = Bench::new();
    let file = |name: &str| shared.join("data/datasets").join(name).to_str().expect("UTF-8").to_owned();
    let (hotpotqa, fever) = (file("hotpot_dev_v1_simplified.json"), file("fever_paper_dev.jsonl"));
    let (model_url, wiki_url) = (format!("{}/v1", llm.url()), wiki.url());
    let args = [
        "--model",
        "openai:mock",
        "--completions",
        "--base-url",
        &model_url,
        "--wiki",
        "html",
        "--wiki-url",
        &wiki_url,
        "--hotpotqa",
        &hotpotqa,
        "--fever",
        &fever,
        "--limit",
        "6",
        "--samples",
        "5",
        "--out",
        "o",
    ];
    bench.json(&[&args[..], &["--dry-run"]].concat());
    assert_eq!(llm.requests(), 0, "a dry run asks nothing");
    let table = bench.json(&args);
    let golden = common::shared::text("golden/scoring/react_seed233_indices.json").expect("the golden order");
    let golden: Value = serde_json::from_str(&golden).expect("JSON");
    let first = golden["first500"].as_array().expect("indices");
    let mut order: Vec<u64> = first.iter().take(6).map(|index| index.as_u64().expect("an index")).collect();
    order.sort_unstable();
    let mut calls = 0;
    for (at, run) in ["o/hotpotqa", "o/fever"].into_iter().enumerate() {
        let records = bench.records(run);
        assert_eq!(records.len(), 7 * 6);
        let mut asked: Vec<u64> = records.iter().filter_map(|record| record["index"].as_u64()).collect();
        asked.sort_unstable();
        asked.dedup();
        assert_eq!(asked, order, "{run}");
        let steps = records.iter().flat_map(|record| record["steps"].as_array().expect("steps"));
        calls += steps.map(|step| step["calls"].as_array().expect("calls").len() as u64).sum::<u64>();
        let notes = table["notes"].to_string();
        assert!(
            !notes.contains("another file") && notes.contains("6 questions, where the experiment has 500"),
            "{notes}"
        );
        let rows = table["tables"][at]["rows"].as_array().expect("rows");
        assert!(rows.iter().all(|row| row["n"] == 6 && row["not_measured"] == 0), "{rows:?}");
        let variant = &bench.manifest(run)["variants"][4];
        assert_eq!((&variant["endpoint"], &variant["model"]), (&"completions".into(), &"openai:mock".into()));
    }
    assert_eq!(llm.requests(), calls, "every request is recorded, and none was made besides");
    llm.get("/reset");
    let (_, said) = bench.reproduce(&[&args[..], &["--resume"]].concat());
    assert!(said.contains("plan: keep 42, redo 0, new 0") && llm.requests() == 0, "{said}");
}

/// What docs/reproduce.md says that the whole table takes is what a dry run says.
#[test]
fn the_documented_cost_is_that_of_a_dry_run() {
    let Some(shared) = common::shared() else { return };
    let bench = Bench::new();
    let file = |name: &str| shared.join("data/datasets").join(name).to_str().expect("UTF-8").to_owned();
    let (hotpotqa, fever) = (file("hotpot_dev_v1_simplified.json"), file("fever_paper_dev.jsonl"));
    let sources = ["--hotpotqa", &hotpotqa, "--fever", &fever, "--wiki", "corpus:datasets/sample-wiki"];
    let model = ["--model", "openai:m", "--base-url", "http://127.0.0.1:9/v1", "--dry-run"];
    let plan = bench.json(&[&sources[..], &model].concat());
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/reproduce.md")).expect("the page");
    let thousands = |calls: u64| match calls {
        0..1000 => calls.to_string(),
        _ => format!("{},{:03}", calls / 1000, calls % 1000),
    };
    let figure = |of: &Value, name: &str| of[name].as_u64().expect("a number");
    let millions = |tokens: u64| {
        let tenths = (tokens + 50_000) / 100_000;
        format!("{}.{} M", tenths / 10, tenths % 10)
    };
    let whole = &plan["estimate"];
    for (what, name) in [("tokens in", "prompt_tokens"), ("tokens out", "completion_tokens")] {
        let [expected, most] = ["expected", "at_most"].map(|bound| millions(figure(&whole[bound], name)));
        let row = format!("| {what} | {expected} | {most} |");
        assert!(page.contains(&row), "docs/reproduce.md lacks `{row}`");
    }
    let [expected, most] = ["expected", "at_most"].map(|bound| thousands(figure(&whole[bound], "calls")));
    let row = format!("| model calls | {expected} | {most} |");
    assert!(page.contains(&row), "docs/reproduce.md lacks `{row}`");
    for (at, method) in METHODS.iter().enumerate() {
        let cells = [0, 1].map(|run| {
            let expected = &plan["runs"][run]["cells"][at]["expected"];
            format!("{} | {}", thousands(figure(expected, "calls")), millions(figure(expected, "tokens")))
        });
        let row = format!("| `{method}` | {} | {} |", cells[0], cells[1]);
        assert!(page.contains(&row), "docs/reproduce.md lacks `{row}`");
    }
}
