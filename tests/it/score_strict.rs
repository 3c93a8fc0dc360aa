//! `score` over files where official scripts have rules of their own: what counts twice, what counts at all, what is read how.

use crate::common::WorkDir;
use crate::score_files::Bench;
use serde_json::{Value, json};

/// As upstream's `read_triviaqa_data`: of a file with `VerifiedEval` only verified questions count, and of those of the Web
/// only verified pages.
#[test]
fn triviaqa_s_verified_files_count_what_was_verified() {
    let question = |id: &str, verified: bool, pages: &str| {
        format!(
            r#"{{"QuestionId": "{id}", "Question": "?", "QuestionPartOfVerifiedEval": {verified}, "SearchResults": [],
            "Answer": {{"Value": "Tequila", "Aliases": [], "NormalizedAliases": ["tequila"]}}, "EntityPages": [{pages}]}}"#
        )
    };
    let file = |domain: &str, eval: bool, questions: &[String]| {
        format!(r#"{{"Domain": "{domain}", "VerifiedEval": {eval}, "Data": [{}]}}"#, questions.join(","))
    };
    let two = [question("a", true, ""), question("b", false, "")];
    for (eval, n, em) in [(true, 1, 100.0), (false, 2, 50.0)] {
        let bench = Bench::new(&[("g", &file("Wikipedia", eval, &two)), ("p", r#"{"a": "Tequila", "b": "x"}"#)]);
        let found = bench.score(&["trivia"]);
        assert_eq!((&found["n"], &found["aggregate"]["exact_match"]), (&json!(n), &json!(em)));
        let said = bench.plain("trivia", &[]).ok().stderr;
        assert_eq!(said.contains("verified evaluation: 1 of its 2 questions"), eval, "{said}");
        // So does a run over the file.
        let info = bench.0.wikitrail(&["dataset", "info", "g", "--json"]).ok().json();
        assert_eq!(info["questions"], n, "{info}");
    }
    let pages =
        r#"{"Filename": "a", "DocPartOfVerifiedEval": true}, {"Filename": "b", "DocPartOfVerifiedEval": false}"#;
    let web = file("Web", true, &[question("q", true, pages)]);
    let found = Bench::new(&[("g", &web), ("p", r#"{"q--a": "tequila"}"#)]).score(&["trivia"]);
    assert_eq!((&found["n"], &found["aggregate"]["exact_match"]), (&json!(1), &json!(100.0)));
    let none = Bench::new(&[("g", &file("Web", true, &two[1..])), ("p", "{}")]);
    none.refused("trivia", 3, &["`g`: no question counts", "QuestionPartOfVerifiedEval"]);
}

/// ORQA's script keeps golds in a `dict` by question, and `FiD`'s in a list.
#[test]
fn a_question_twice_in_nq_open_counts_once_by_its_last_answers() {
    let gold = |question: &str, answer: &str| format!("{{\"question\": \"{question}\", \"answer\": [\"{answer}\"]}}\n");
    let golds = [gold("q", "a1"), gold("r", "c3"), gold("q", "b2")].concat();
    let bench = Bench::new(&[("g", &golds), ("p", "{\"q\": \"b2\", \"r\": \"c3\"}")]);
    let expected = json!({"missing_predictions": 0, "num_correct": 2, "num_total": 2, "accuracy": 1.0});
    let found = bench.score(&["nq-open", "--per-item"]);
    assert_eq!(found["aggregate"], expected);
    assert_eq!([0, 1].map(|at| found["items"][at]["id"].clone()), ["q", "r"]);
    let said = bench.plain("nq-open", &[]).ok().stderr;
    assert!(said.contains("note: the gold file has `q` more than once, with other answers"), "{said}");
    assert_eq!(bench.score(&["fid"])["aggregate"]["exact_match"], 2.0 / 3.0);
}

const STRATEGY: &str = r#"[{"qid": "a", "term": "T", "question": "A?", "answer": true},
    {"qid": "b", "term": "T", "question": "B?", "answer": false}, {"qid": "c", "term": "T", "question": "C?", "answer": true}]"#;

#[test]
fn strategyqa_s_answers_are_booleans() {
    for predictions in [
        r#"{"a": true, "b": false, "c": false}"#,
        r#"{"a": "True", "b": "False.", "c": "unknown"}"#,
        r#"{"a": "yes", "b": "No", "c": "maybe"}"#,
        r#"{"a": {"answer": true, "decomposition": ["x"]}, "b": {"answer": false}, "c": {"answer": "no"}}"#,
    ] {
        let bench = Bench::new(&[("g", STRATEGY), ("p", predictions)]);
        assert_eq!(bench.score(&["strategyqa"])["aggregate"], json!({"accuracy": 2.0 / 3.0}), "{predictions}");
    }
    let bench = Bench::new(&[("g", STRATEGY), ("p", r#"{"a": true, "b": 7}"#)]);
    bench.refused("strategyqa", 3, &["`p`", "id `b`", "`7`"]);
    // The reward of the paper's harness has no booleans, and says so.
    let bench = Bench::new(&[("g", STRATEGY), ("p", r#"{"a": "True", "b": "no"}"#)]);
    let said = bench.plain("paper", &[]).ok().stderr;
    assert!(said.contains("1 predictions are true or false") && said.contains("--metric strategyqa"), "{said}");
}

/// A run over `StrategyQA` takes `True` for yes, too.
#[test]
fn a_run_over_strategyqa_is_scored_by_its_metric() {
    let dir = WorkDir::new();
    dir.write("s.json", STRATEGY);
    dir.run_json(&["s.json", "--format", "strategyqa", "--out", "r"]);
    let file = "r/trajectories.jsonl";
    let given = |line: &str| {
        let mut record: Value = serde_json::from_str(line).expect("a record");
        record["answer"] = if record["id"] == "b" { "False".into() } else { "TRUE".into() };
        record["outcome"] = "finished".into();
        format!("{record}\n")
    };
    let changed: String = dir.read(file).lines().map(given).collect();
    dir.write(file, changed);
    let score = dir.wikitrail(&["score", "r", "--json"]).ok().json();
    assert_eq!(
        (&score["variants"][0]["metric"], &score["variants"][0]["em"]),
        (&json!("strategyqa"), &json!(1.0)),
        "{score}"
    );
    let strict = dir.wikitrail(&["score", "r", "--json", "--metric", "aliases"]).ok().json();
    assert_eq!(strict["variants"][0]["em"], 0.0);
}

/// Three records: the first is right from its own page, the second from a page of none, the third has two sets of pages and a wrong
/// answer. The figures are those of KILT's script with `rouge` 1.0.1.
const KILT: &str = r#"{"id": "a", "input": "Who?", "output": [{"answer": "Ada Byron", "provenance": [{"wikipedia_id": "1", "title": "P"}]}, {"answer": "Lovelace"}]}
{"id": 2, "input": "What?", "output": [{"answer": "The sea is salt. Rivers bring it.", "provenance": [{"wikipedia_id": 3}, {"wikipedia_id": "4"}]}]}
{"id": "c", "input": "When?", "output": [{"answer": "1994", "provenance": [{"wikipedia_id": "5"}]}, {"provenance": [{"wikipedia_id": "6"}, {"wikipedia_id": "7"}]}]}
"#;
const FOUND: &str = r#"{"id": "2", "output": [{"answer": "Rivers bring salt to the sea", "provenance": [{"wikipedia_id": "3"}, {"wikipedia_id": "9"}, {"wikipedia_id": "4"}]}]}
{"id": "a", "output": [{"answer": "ada  byron!", "provenance": [{"wikipedia_id": " 1 "}, {"wikipedia_id": "8"}]}]}
{"id": "c", "output": [{"answer": "", "provenance": [{"title": "Z"}, {"wikipedia_id": "6"}, {"wikipedia_id": "6"}, {"wikipedia_id": "7"}]}]}
"#;

#[test]
fn kilt_counts_an_answer_only_with_its_pages() {
    let bench = Bench::new(&[("g", KILT), ("p", FOUND)]);
    let found = bench.score(&["kilt", "--per-item"]);
    let expected = json!({"KILT-accuracy": 0.0, "KILT-em": 0.333_333_333_333_333_3, "KILT-f1": 0.333_333_333_333_333_3, "KILT-rougel": 0.0, "accuracy": 0.0, "em": 0.333_333_333_333_333_3, "f1": 0.575_757_575_757_575_7, "rougel": 0.153_846_152_189_349_1, "Rprec": 0.833_333_333_333_333_4, "recall@5": 0.833_333_333_333_333_4, "recall@10": 0.833_333_333_333_333_4, "recall@20": 0.833_333_333_333_333_4});
    assert_eq!(found["aggregate"], expected);
    let second = &found["items"][1];
    assert_eq!(
        (&second["id"], &second["Rprec"], &second["recall@5"], &second["KILT-f1"]),
        (&json!("2"), &json!(0.5), &json!(1.0), &json!(0.0))
    );
}

#[test]
fn kilt_s_predictions_are_as_many_as_the_records() {
    let lines: Vec<&str> = FOUND.split_inclusive('\n').collect();
    let refused = |p: &[&str], words: &[&str]| Bench::new(&[("g", KILT), ("p", &p.concat())]).refused("kilt", 3, words);
    refused(&lines[..2], &["`p`: 2 predictions for 3 records; `c` has none", "hint: ", "wikipedia_id"]);
    refused(&[FOUND, lines[1]], &["line 4", "`a`", "predicted twice: record 2"]);
    refused(&[&FOUND.replace("\"answer\": \"\", ", "")], &["line 3", "field `output`", "no `answer`"]);
    refused(&[&lines[0].replace("]}]}", "]}, {}]}"), lines[1], lines[2]], &["line 1", "2 outputs, expected one"]);
    let other = r#"{"id": "z", "output": [{"answer": "x"}]}"#;
    let said = Bench::new(&[("g", KILT), ("p", &(FOUND.to_owned() + other))]).plain("kilt", &[]).ok().stderr;
    assert!(said.contains("1 predictions are of no record"), "{said}");
    let hidden = KILT.replace("\"answer\": \"1994\", ", "");
    let given = FOUND.replace("\"answer\": \"\"", "\"answer\": \"x\"");
    Bench::new(&[("g", &hidden), ("p", &given)]).refused("kilt", 3, &["`g`", "line 3", "no answer to score by"]);
}

/// Long answers of any dataset file; a run over KILT's `ELI5` is scored so by itself, and has KILT's figures of its pages.
#[test]
fn long_answers_are_scored_by_rouge_and_pages_by_kilt() {
    let gold = r#"{"id": "a", "question": "?", "answer": ["a dog", "the cat"]}"#;
    let bench = Bench::new(&[("g", gold), ("p", r#"{"a": "the cat sat"}"#)]);
    let figures = json!({"rougel": 0.799_999_995_200_000_1, "precision": 2.0 / 3.0, "recall": 1.0, "em": 0.0});
    assert_eq!(bench.score(&["rougel"])["aggregate"], figures);

    let dir = WorkDir::new();
    let record = |id: &str, page: &str| {
        let input = json!("In which year was the Opera House of Tandil opened?");
        json!({"id": id, "input": input, "output": [{"answer": "It was opened long ago", "provenance": [{"wikipedia_id": "1", "title": page}]}]})
    };
    dir.write("eli5-dev-kilt.jsonl", format!("{}\n{}\n", record("a", "Tandil"), record("b", "No Such Page")));
    dir.run_json(&["eli5-dev-kilt.jsonl", "--out", "r"]);
    let mut records = dir.records("r");
    for record in &mut records {
        let step = json!({"n": 1, "thought": null, "tool": "search", "input": "Tandil", "action_text": "Search[Tandil]",
            "observation": "Tandil is a city.", "calls": []});
        record["steps"] = json!([step]);
        record["answer"] = "It was opened in 1971".into();
        record["outcome"] = "finished".into();
    }
    let lines: Vec<String> = records.iter().map(Value::to_string).collect();
    dir.write("r/trajectories.jsonl", lines.join("\n") + "\n");
    let score = dir.wikitrail(&["score", "r", "--json", "--per-item"]).ok().json();
    assert_eq!(score["variants"][0]["metric"], "rougel", "{score}");
    let rouge = 2.0 * (0.6 * 0.6 / (0.6 + 0.6 + 1e-8));
    assert_eq!(score["items"][0]["f1"], rouge);
    let table = dir.wikitrail(&["export", "r", "--format", "csv", "--rows", "questions"]).ok().stdout;
    let mut lines = table.lines();
    let header: Vec<&str> = lines.next().expect("a header").split(',').collect();
    let cells: Vec<Vec<&str>> = lines.map(|line| line.split(',').collect()).collect();
    let column = |name: &str| {
        let at = header.iter().position(|column| *column == name).expect(name);
        cells.iter().map(|row| row[at].parse::<f64>().expect(name)).collect::<Vec<_>>()
    };
    assert_eq!((column("r_precision"), column("recall_at_5")), (vec![1.0, 0.0], vec![1.0, 0.0]));
    assert_eq!((column("kilt_em"), column("kilt_f1")), (vec![0.0, 0.0], vec![rouge, 0.0]));
}
