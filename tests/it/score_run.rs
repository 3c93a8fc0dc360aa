//! `score RUN`: repeats of a question count as one question, and `--per-item` shows every episode.

use crate::common;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use wikitrail::compare::statistics::Mean;

fn wikitrail(dir: &Path, args: &[&str]) -> String {
    common::wikitrail(dir, args).ok().stdout
}

fn variant(text: &str) -> (Value, Value) {
    let summary: Value = serde_json::from_str(text).expect("a summary");
    (summary["variants"][0].clone(), summary["items"].clone())
}

#[test]
fn with_repeats_the_interval_is_over_questions() {
    let dir = tempfile::tempdir().expect("a folder");
    let run = ["run", "--limit", "8", "--repeats", "3", "--out", "r"];
    let table = wikitrail(dir.path(), &run);
    let text = common::unwrapped(&table);
    assert!(
        text.contains("intervals: padded t over the means of each question's repeats, 95 %; the run took "),
        "{table}"
    );
    let (sum, items) = variant(&wikitrail(dir.path(), &["score", "r", "--json", "--per-item"]));
    let over = ["scored", "questions", "intervals_over"].map(|name| &sum[name]);
    assert_eq!(over, [&Value::from(24), &8.into(), &"questions".into()]);
    for (figure, interval) in [("em", "em_t"), ("f1", "f1_t")] {
        let mut questions: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
        for item in items.as_array().expect("items") {
            let scores = questions.entry(item["id"].as_str().expect("an id")).or_default();
            scores.push(item[figure].as_f64().expect("a score"));
        }
        assert!(questions.values().all(|scores| scores.len() == 3));
        let means: Vec<f64> = questions.values().map(|scores| scores.iter().sum::<f64>() / 3.0).collect();
        // Student's interval of these and one 0 and one 1 more, at the degrees of freedom of the eight.
        let error = |values: &[f64]| Mean::of(values).and_then(|mean| Some((mean.mean, mean.se?))).expect("an error");
        let (mean, se) = error(&means);
        let quantile = (Mean::of(&means).and_then(|mean| mean.t_interval(0.95)).expect("an interval").high - mean) / se;
        let (mean, se) = error(&[&means[..], &[0.0, 1.0]].concat());
        for (end, expected) in [(0, (mean - quantile * se).max(0.0)), (1, (mean + quantile * se).min(1.0))] {
            let found = sum[interval][end].as_f64().expect("an end");
            assert!((found - expected).abs() < 1e-12, "{interval}: {found} is not {expected}");
        }
    }
    assert_eq!(sum["em_wilson"], Value::Null);
}

/// Answers the repeats of each question anew: of four repeats, those of the question at `at` have `at % 5` right answers, and
/// the last repeat of the first question is not measured.
fn answer_anew(folder: &Path) {
    let path = folder.join("r/trajectories.jsonl");
    let text = std::fs::read_to_string(&path).expect("records");
    let changed = text.lines().map(|line| {
        let mut record: Value = serde_json::from_str(line).expect("JSON");
        let number = |name: &str| record[name].as_u64().expect("a number");
        let (at, repeat) = (number("index"), number("repeat"));
        let right = repeat < at % 5;
        record["answer"] = if right { record["answers"][0].clone() } else { json!("something else") };
        if (at, repeat) == (0, 3) {
            (record["outcome"], record["answer"]) = (json!("not_measured"), Value::Null);
        }
        format!("{record}\n")
    });
    std::fs::write(path, changed.collect::<String>()).expect("written");
}

#[test]
fn repeats_have_the_chance_that_one_of_them_is_right_and_that_all_are() {
    let dir = tempfile::tempdir().expect("a folder");
    wikitrail(dir.path(), &["run", "--limit", "10", "--repeats", "4", "--out", "r", "--quiet"]);
    answer_anew(dir.path());
    let (sum, _) = variant(&wikitrail(dir.path(), &["score", "r", "--json"]));
    let repeats = &sum["repeats"];
    let passes = repeats["passes"].as_array().expect("passes");
    assert_eq!((&repeats["questions"], passes.len()), (&10.into(), 4));
    // Two questions each with 0, 1, 2, 3 and 4 right answers; one without any has three repeats.
    let close = |value: &Value, expected: f64| (value.as_f64().expect("a mean") - expected).abs() < 1e-12;
    for (k, any, all, questions) in [
        (1, (0.25 + 0.5 + 0.75 + 1.0) / 5.0, (0.25 + 0.5 + 0.75 + 1.0) / 5.0, 10),
        (2, (0.5 + 5.0 / 6.0 + 1.0 + 1.0) / 5.0, (1.0 / 6.0 + 0.5 + 1.0) / 5.0, 10),
        (3, (0.75 + 1.0 + 1.0 + 1.0) / 5.0, (0.25 + 1.0) / 5.0, 10),
        (4, 8.0 / 9.0, 2.0 / 9.0, 9),
    ] {
        let row = &passes[k - 1];
        assert_eq!([&row["k"], &row["questions"], &row["left_out"]], [k, questions, 10 - questions], "{row}");
        assert!(close(&row["pass_at"]["mean"], any) && close(&row["pass_hat"]["mean"], all), "{row}");
        for pass in ["pass_at", "pass_hat"] {
            let Value::Object(interval) = &row[pass]["interval"] else { panic!("{row}") };
            assert!(interval["low"].as_f64() < row[pass]["mean"].as_f64(), "{row}");
        }
    }
    assert_eq!(passes[0]["pass_at"]["mean"], sum["em"]);
    let unstable = repeats["unstable"].as_array().expect("questions");
    let shares: Vec<u64> = unstable.iter().filter_map(|question| question["right"]["count"].as_u64()).collect();
    assert_eq!(shares, [1, 2, 3, 1, 2, 3]);
    // Wrong answers are all the same: of six pairs 3, 2 and 3 agree where one, two and three are right.
    assert!(close(&repeats["agreement"]["mean"], (4.0 * 1.0 + 4.0 * 0.5 + 2.0 / 3.0) / 10.0), "{repeats}");
    let table = wikitrail(dir.path(), &["score", "r"]);
    for found in [" main      4   88.9 [", " main             10          6   ", "  wikitrail show r --unstable\n"] {
        assert!(table.contains(found), "{found}\n{table}");
    }
    let listed = wikitrail(dir.path(), &["show", "r", "--unstable"]);
    assert_eq!(listed.lines().filter(|line| line.contains("/4 ")).count(), 24, "{listed}");
    assert!(listed.lines().next().is_some_and(|header| header.contains("  right  ")), "{listed}");
    let refused = common::wikitrail(dir.path(), &["show", "r", "sample-001", "--unstable"]);
    assert_eq!(refused.code, Some(2), "{}", refused.stderr);
}

#[test]
fn a_run_without_repeats_keeps_its_intervals_and_items_are_lines() {
    let dir = tempfile::tempdir().expect("a folder");
    wikitrail(dir.path(), &["run", "--limit", "5", "--method", "react,cot", "--out", "r", "--quiet"]);
    let (sum, items) = variant(&wikitrail(dir.path(), &["score", "r", "--json", "--per-item"]));
    assert_eq!((&sum["questions"], &sum["intervals_over"]), (&5.into(), &"episodes".into()));
    assert!(sum["em_wilson"].is_array() && sum["f1_t"].is_array() && sum["em_t"].is_null(), "{sum}");
    let table = wikitrail(dir.path(), &["score", "r"]);
    let listed = wikitrail(dir.path(), &["score", "r", "--per-item"]);
    let lines = listed.strip_prefix(&table).expect("the table comes first").strip_prefix('\n').expect("then a gap");
    assert!(table.contains("\nintervals: Wilson's, 95 %\n"), "{table}");
    for (line, item) in lines.lines().zip(items.as_array().expect("items")) {
        let text = |name: &str| item[name].as_str().expect("text");
        let figures = format!("em {:.4}  f1 {:.4}", item["em"].as_f64().expect("EM"), item["f1"].as_f64().expect("F1"));
        let start =
            format!("{}  {}  repeat {}  {figures}  {}", text("id"), text("variant"), item["repeat"], text("outcome"));
        assert!(line.starts_with(&start), "{line}\n{start}");
        assert_eq!(line.len() > start.len(), item["failure"].is_object(), "{line}");
    }
    assert_eq!((lines.lines().count(), items.as_array().map(Vec::len)), (10, Some(10)));
}
