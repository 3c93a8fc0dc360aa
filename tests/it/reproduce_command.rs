//! `reproduce` through the program: over our samples with the baseline, and over the paper's questions with the mocks.

use crate::common::{self, Ran, WorkDir, calls, mockd, repository};
use crate::compare_support::{close, float, wilson};
use serde_json::Value;
use std::path::Path;
use wikitrail::score::{Metric, score_answers};

const METHODS: [&str; 7] = ["standard", "cot", "cot-sc", "act", "react", "cot-sc->react", "react->cot-sc"];

/// Table 1 of the paper in per cent, by method: `HotpotQA` EM and FEVER accuracy of PaLM-540B. On the 500 questions of the authors'
/// code `react` has 29.4 and 62.2.
const PALM: [(f64, f64); 7] =
    [(28.7, 57.1), (29.4, 56.3), (33.4, 60.4), (25.7, 58.9), (27.4, 60.9), (34.2, 64.6), (35.1, 62.0)];

fn reproduce(bench: &WorkDir, args: &[&str]) -> Ran {
    bench.wikitrail(&[&["reproduce"], args].concat()).ok()
}

fn json(bench: &WorkDir, args: &[&str]) -> Value {
    reproduce(bench, &[&["--json"], args].concat()).json()
}

/// Holds every figure of a dataset's table against its trajectories and the paper.
fn check_table(table: &Value, records: &[Value], claims: bool) {
    assert_eq!(table["metric"], if claims { "accuracy" } else { "em" });
    let rows = table["rows"].as_array().expect("rows");
    assert_eq!(rows.iter().map(|row| row["cell"].as_str().expect("a name")).collect::<Vec<_>>(), METHODS);
    for (row, (hotpotqa, fever)) in rows.iter().zip(PALM) {
        let (mut n, mut correct) = (0, 0);
        for record in records.iter().filter(|record| record["variant"] == row["cell"]) {
            let golds: Vec<String> = serde_json::from_value(record["answers"].clone()).expect("answers");
            let answer = record["answer"].as_str();
            n += 1;
            correct += usize::from(if claims {
                answer.is_some_and(|answer| answer.to_lowercase() == golds[0].to_lowercase())
            } else {
                score_answers(Metric::Aliases, answer, &golds).expect("a score").em > 0.5
            });
        }
        assert!(n > 0 && row["n"] == n, "{row}");
        close(&row["mean"], float(correct) / float(n));
        let (low, high) = wilson(correct, n);
        close(&row["interval"][0], low);
        close(&row["interval"][1], high);
        let palm = &row["published"][0];
        let expected = if claims { fever } else { hotpotqa };
        let share: f64 = format!("{expected}e-2").parse().expect("a number");
        assert_eq!((&palm["name"], palm["value"].as_f64()), (&"PaLM-540B, Table 1".into(), Some(share)));
        assert_eq!(palm["inside"], share >= low && share <= high, "{row}");
        let others: Vec<(&str, f64)> = row["published"].as_array().expect("a list")[1..]
            .iter()
            .filter_map(|other| other["name"].as_str().zip(other["value"].as_f64()))
            .collect();
        let expected: &[(&str, f64)] = match (row["cell"] == "react", claims) {
            (false, _) => &[],
            (true, false) => &[("PaLM-540B, these 500", 0.294), ("GPT-3, these 500", 0.304)],
            (true, true) => &[("PaLM-540B, these 500", 0.622), ("GPT-3, these 500, 7 steps", 0.54)],
        };
        assert_eq!(others, expected, "{row}");
    }
}

#[test]
fn the_samples_make_a_table_whose_every_figure_is_that_of_the_trajectories() {
    let bench = WorkDir::new();
    let table = json(&bench, &["--try", "--out", "o", "--quiet"]);
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
        assert_eq!(json(&bench, args), table, "{args:?}");
    }
    let below = json(&bench, &["o/fever"]);
    assert_eq!(below["tables"], table["tables"]);
    let text = reproduce(&bench, &["o"]).stdout;
    let lines: Vec<&str> = text.lines().collect();
    for method in METHODS {
        let rows = lines.iter().filter(|line| line.trim_start().starts_with(&format!("{method} ")));
        assert_eq!(rows.count(), 2, "{method}\n{text}");
    }
    let row = &tables[0]["rows"][4];
    let shown = |value: &Value| format!("{:.1}", value.as_f64().expect("a number") * 100.0);
    let react = lines.iter().find(|line| line.trim_start().starts_with("react ")).expect("a row");
    let interval = format!("{} to {}", shown(&row["interval"][0]), shown(&row["interval"][1]));
    assert!(react.contains(&shown(&row["mean"])) && react.contains(&interval), "{react}");
    assert!(["27.4", "29.4", "30.4"].iter().all(|figure| react.contains(figure)), "{react}");
    // The notes say which questions and steps a column is of.
    for part in [
        "Table 1, which does not say of which questions",
        "500 questions and claims of this file",
        "7 steps of the authors'",
    ] {
        assert!(notes.contains(part), "{part}\n{notes}");
    }
    assert!(lines.iter().all(|line| line.chars().count() <= 80), "{text}");
    // The stored experiment is the shipped one; the manifest has what was put in its place.
    assert_eq!(bench.read("o/fever/experiment.toml"), repository("experiments/table1.toml"));
    for (run, prompt, steps) in [("o/hotpotqa", "prompts/hotpotqa.toml", 7), ("o/fever", "prompts/fever.toml", 5)] {
        let manifest = bench.manifest(run);
        assert_eq!(manifest["dataset"]["selection"]["shuffle_like_paper"], 233);
        let react = &manifest["variants"][4];
        assert_eq!((&react["prompt"], &react["max_steps"]), (&prompt.into(), &steps.into()), "{react}");
        assert_eq!((&react["protocol"], &react["compat"]), (&"react-paper".into(), &"paper".into()));
        assert_eq!(manifest["variants"][2]["voting"]["samples"], 21);
    }
    // Under another name, a run is still that of its dataset, and no command goes on with it elsewhere.
    std::fs::rename(bench.path("o/hotpotqa"), bench.path("o/renamed")).expect("renamed");
    assert_eq!(json(&bench, &["o"])["tables"], table["tables"]);
    assert_eq!(json(&bench, &["o/renamed"])["tables"], Value::from(vec![tables[0].clone()]));
    let next = bench.wikitrail(&["score", "o/renamed"]).ok().stdout;
    assert!(!next.contains("--resume"), "{next}");
}

/// The paper's questions and claims.
fn datasets(shared: &Path) -> [String; 2] {
    ["hotpot_dev_v1_simplified.json", "fever_paper_dev.jsonl"]
        .map(|name| shared.join("data/datasets").join(name).display().to_string())
}

/// The paper's own questions in the paper's order, asked of a server.
#[test]
#[cfg_attr(not(shared), ignore = "needs ../shared")]
fn the_paper_s_questions_are_asked_of_any_server() {
    let shared = common::shared();
    let (llm, wiki) = mockd::start(&shared);
    let bench = WorkDir::new();
    let [hotpotqa, fever] = datasets(&shared);
    let (model_url, wiki_url) = (format!("{}/v1", llm.url()), wiki.url());
    let model = ["--model", "openai:mock", "--completions", "--base-url", &model_url];
    let data = ["--wiki", "html", "--wiki-url", &wiki_url, "--hotpotqa", &hotpotqa, "--fever", &fever];
    let args = [&model[..], &data, &["--limit", "6", "--samples", "5", "--out", "o"]].concat();
    json(&bench, &[&args[..], &["--dry-run"]].concat());
    assert_eq!(llm.requests(), 0, "a dry run asks nothing");
    let table = json(&bench, &args);
    let golden = common::shared::text("golden/scoring/react_seed233_indices.json");
    let golden: Value = serde_json::from_str(&golden).expect("JSON");
    let first = golden["first500"].as_array().expect("indices");
    let mut order: Vec<u64> = first.iter().take(6).map(|index| index.as_u64().expect("an index")).collect();
    order.sort_unstable();
    let mut made = 0;
    for (at, run) in ["o/hotpotqa", "o/fever"].into_iter().enumerate() {
        let records = bench.records(run);
        assert_eq!(records.len(), 7 * 6);
        let mut asked: Vec<u64> = records.iter().filter_map(|record| record["index"].as_u64()).collect();
        asked.sort_unstable();
        asked.dedup();
        assert_eq!(asked, order, "{run}");
        made += calls(&records) as u64;
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
    assert_eq!(llm.requests(), made, "every request is recorded, and none was made besides");
    llm.get("/reset");
    let said = reproduce(&bench, &[&args[..], &["--resume"]].concat()).stderr;
    assert!(said.contains("plan: keep 42, redo 0, new 0") && llm.requests() == 0, "{said}");
}

/// What docs/reproduce.md says that the whole table takes is what a dry run says.
#[test]
#[cfg_attr(not(shared), ignore = "needs ../shared")]
fn the_documented_cost_is_that_of_a_dry_run() {
    let shared = common::shared();
    let bench = WorkDir::new();
    let [hotpotqa, fever] = datasets(&shared);
    let sources = ["--hotpotqa", &hotpotqa, "--fever", &fever, "--wiki", "corpus:datasets/sample-wiki"];
    let model = ["--model", "openai:m", "--base-url", "http://127.0.0.1:9/v1", "--dry-run"];
    let plan = json(&bench, &[&sources[..], &model].concat());
    let page = repository("docs/reproduce.md");
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
    let shown = |row: String| assert!(page.contains(&row), "docs/reproduce.md lacks `{row}`");
    for (what, name) in [("tokens in", "prompt_tokens"), ("tokens out", "completion_tokens"), ("model calls", "calls")]
    {
        let written = |number| if name == "calls" { thousands(number) } else { millions(number) };
        let [expected, most] = ["expected", "at_most"].map(|bound| written(figure(&whole[bound], name)));
        shown(format!("| {what} | {expected} | {most} |"));
    }
    for (at, method) in METHODS.iter().enumerate() {
        let cells = [0, 1].map(|run| {
            let expected = &plan["runs"][run]["cells"][at]["expected"];
            format!("{} | {}", thousands(figure(expected, "calls")), millions(figure(expected, "tokens")))
        });
        // The page names the method as one types it.
        let typed = method.replace("->", "-");
        shown(format!("| `{typed}` | {} | {} |", cells[0], cells[1]));
    }
}
