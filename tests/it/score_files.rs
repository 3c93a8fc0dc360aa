//! `score` over files of predictions: equal to what the official scripts give, and clear about bad files.

use crate::common::{self, Ran, WorkDir, lines, wikitrail};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::Path;

/// The JSON report of files in a folder; `more` begins with the metric.
#[track_caller]
fn report(folder: &Path, gold: &str, predictions: &str, more: &[&str]) -> Value {
    let args = [&["score", "--gold", gold, "--predictions", predictions, "--json", "--metric"], more].concat();
    wikitrail(folder, &args).json()
}

fn read(folder: &Path, name: &str) -> String {
    common::read(folder.join(name))
}

/// Every number of `expected` is in `found`, and to the bit: JSON numbers are read exactly.
#[track_caller]
fn assert_contains(found: &Value, expected: &Value, at: &str) {
    for (name, value) in expected.as_object().expect("an object") {
        assert_eq!(&found[name], value, "{name} of {at}");
    }
}

#[test]
#[cfg_attr(not(shared), ignore = "needs ../shared")]
fn hotpotqa_equals_the_official_figures() {
    let shared = common::shared();
    let folder = shared.join("golden/scoring");
    let base = "hotpot_dev_distractor_v1";
    let (gold, predictions) = (format!("{base}.gold.json"), format!("{base}.pred.json"));
    let found = report(&folder, &gold, &predictions, &["hotpot", "--per-item"]);
    let expected: Value = serde_json::from_str(&read(&folder, &format!("{base}.agg.json"))).expect("JSON");
    assert_eq!((&found["metric"], &found["n"]), (&json!("hotpot"), &expected["n"]));
    assert_eq!(found["aggregate"], expected["metrics"]);
    let items = lines(&read(&folder, &format!("{base}.items.jsonl")));
    let found_items = found["items"].as_array().expect("items");
    assert_eq!((items.len(), found_items.len()), (489, 489));
    for (found, expected) in found_items.iter().zip(&items) {
        assert_eq!(found["id"], expected["_id"]);
        assert_contains(found, &expected["metrics"], &found["id"].to_string());
    }
    let missing = |what: &str| items.iter().filter(|item| item["missing"].to_string().contains(what)).count();
    assert_eq!(found["missing"], json!({"answer": missing("missing answer"), "sp": missing("missing sp fact")}));
    // Without --per-item only the sums are printed.
    let brief = report(&folder, &gold, &predictions, &["hotpot"]);
    assert_eq!((&brief["aggregate"], brief.get("items")), (&found["aggregate"], None));
}

#[test]
#[cfg_attr(not(shared), ignore = "needs ../shared")]
fn musique_equals_the_official_figures() {
    let shared = common::shared();
    let folder = shared.join("golden/scoring");
    let (gold, predictions) = ("musique_full.gold.jsonl", "musique_full.pred.jsonl");
    let found = report(&folder, gold, predictions, &["musique", "--per-item"]);
    let expected: Value = serde_json::from_str(&read(&folder, "musique_full.agg.json")).expect("JSON");
    assert_eq!(found["n"], expected["n"]);
    assert_eq!(found["aggregate"], expected["unrounded"]);
    assert_eq!(found["official"], expected["official_rounded"]);
    let items = lines(&read(&folder, "musique_full.items.jsonl"));
    let found_items = found["items"].as_array().expect("items");
    assert_eq!((items.len(), found_items.len()), (600, 600));
    for (found, expected) in found_items.iter().zip(&items) {
        assert_contains(found, expected, &found["id"].to_string());
    }
    let full = report(&folder, gold, predictions, &["musique-full"]);
    assert_eq!(full["aggregate"], found["aggregate"]);
    let answerable = report(&folder, gold, predictions, &["musique-answerable"]);
    let names = ["answer_f1", "answer_em", "support_f1"];
    assert_eq!(answerable["aggregate"].as_object().map(serde_json::Map::len), Some(names.len()));
    for name in names {
        assert_eq!(answerable["aggregate"][name], expected["unrounded"][name], "{name}");
    }
    assert_eq!(answerable["n"], items.iter().filter(|item| item["answerable"] == true).count());
}

#[test]
#[cfg_attr(not(shared), ignore = "needs ../shared")]
fn fever_equals_the_official_figures() {
    let shared = common::shared();
    let folder = shared.join("golden/scoring");
    let items = lines(&read(&folder, "fever.items.jsonl"));
    let claims = read(&shared, "data/datasets/fever_paper_dev.jsonl");
    let dir = WorkDir::new();
    // The first 2,000 claims are predicted; the file of items holds the predictions too.
    dir.write("g", claims.split_inclusive('\n').take(2000).collect::<String>());
    let (gold, predictions) = (dir.path("g"), folder.join("fever.items.jsonl"));
    let [gold, predictions] = [&gold, &predictions].map(|path| path.to_str().expect("a path"));
    let found = report(&folder, gold, predictions, &["fever", "--per-item"]);
    let found_items = found["items"].as_array().expect("items");
    assert_eq!((items.len(), found_items.len()), (2000, 2000));
    for (found, expected) in found_items.iter().zip(&items) {
        for (name, value) in found.as_object().expect("an item") {
            assert_eq!(value, &expected[name], "{name} of {}", found["id"]);
        }
        assert_eq!(found.as_object().map(serde_json::Map::len), Some(6));
    }
    let share = |name: &str| items.iter().map(|item| f64::from(u8::from(item[name] == true))).sum::<f64>() / 2000.0;
    assert_eq!(found["aggregate"]["strict_score"], share("strict5"));
    assert_eq!(found["aggregate"]["label_accuracy"], share("correct"));
    assert_eq!((&found["n"], &found["missing"]["prediction"]), (&json!(2000), &json!(0)));
    // As in the official script, the whole file of claims needs as many predictions.
    dir.write("g", claims);
    let ran = wikitrail(&folder, &["score", "--metric", "fever", "--gold", gold, "--predictions", predictions]);
    ran.refused(3, &["predictions for 2000 of 9999 claims", "the first one missing is `"]);
}

#[test]
#[cfg_attr(not(shared), ignore = "needs ../shared")]
fn ninety_thousand_predictions_are_scored() {
    let shared = common::shared();
    let text = read(&shared.join("data/datasets"), "hotpot_dev_v1_simplified.json");
    let records: Vec<Value> = serde_json::from_str(&text).expect("JSON");
    let (mut gold, mut predictions) = ("[".to_owned(), "{\"answer\": {".to_owned());
    let mut right = 0;
    for n in 0..90_447 {
        let answer = &records[n % records.len()]["answer"];
        let comma = if n == 0 { "" } else { ", " };
        // Every third prediction is the answer of the question before.
        let given = if n % 3 == 0 { &records[(n + 7404) % records.len()]["answer"] } else { answer };
        right += usize::from(given == answer);
        write!(gold, "{comma}{{\"_id\": \"q{n}\", \"answer\": {answer}, \"supporting_facts\": []}}").expect("memory");
        write!(predictions, "{comma}\"q{n}\": {given}").expect("memory");
    }
    let dir = tempfile::tempdir().expect("a folder");
    std::fs::write(dir.path().join("g.json"), gold + "]").expect("written");
    std::fs::write(dir.path().join("p.json"), predictions + "}, \"sp\": {}}").expect("written");
    let found = report(dir.path(), "g.json", "p.json", &["hotpot"]);
    assert_eq!(found["n"], 90_447);
    assert_eq!(found["missing"], json!({"answer": 0, "sp": 90_447}));
    let em = found["aggregate"]["em"].as_f64().expect("a mean");
    assert!(right > 60_000 && em >= f64::from(u32::try_from(right).expect("small")) / 90_447.0, "{em} of {right}");
}

pub(crate) struct Bench(pub(crate) WorkDir);

impl Bench {
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let dir = WorkDir::new();
        for (name, text) in files {
            dir.write(name, text);
        }
        Self(dir)
    }

    #[track_caller]
    pub(crate) fn score(&self, metric: &[&str]) -> Value {
        report(self.0.root(), "g", "p", metric)
    }

    /// Without `--json`, and with further arguments.
    pub(crate) fn plain(&self, metric: &str, more: &[&str]) -> Ran {
        let args = [&["score", "--metric", metric, "--gold", "g", "--predictions", "p"], more].concat();
        self.0.wikitrail(&args)
    }

    #[track_caller]
    pub(crate) fn refused(&self, metric: &str, code: i32, words: &[&str]) {
        let ran = self.plain(metric, &[]);
        ran.refused(code, words);
        assert_eq!(ran.stdout, "");
    }
}

const SQUAD: &str = r#"{"version": "x", "data": [{"title": "T", "paragraphs": [{"context": "c", "qas": [
    {"id": "a", "question": "?", "answers": [{"text": "the Nile", "answer_start": 0}, {"text": "Nile river", "answer_start": 0}]},
    {"id": "b", "question": "?", "answers": []},
    {"id": "c", "question": "?", "answers": [{"text": "blue", "answer_start": 0}]}]}]}]}"#;

#[test]
fn squad_1_counts_all_questions_and_squad_2_those_with_a_prediction() {
    let bench = Bench::new(&[("g", SQUAD), ("p", r#"{"a": "river Nile!", "b": ""}"#)]);
    let found = bench.score(&["squad11", "--per-item"]);
    assert_eq!((&found["n"], &found["missing"]), (&json!(3), &json!({"prediction": 1})));
    assert_eq!(found["aggregate"], json!({"exact_match": 0.0, "f1": 100.0 / 3.0}));
    assert_eq!(found["items"][0], json!({"id": "a", "exact_match": 0.0, "f1": 1.0}));
    let found = bench.score(&["squad20"]);
    assert_eq!(
        found["aggregate"],
        json!({
            "exact": 50.0, "f1": 100.0, "total": 2, "HasAns_exact": 0.0, "HasAns_f1": 100.0, "HasAns_total": 1,
            "NoAns_exact": 100.0, "NoAns_f1": 100.0, "NoAns_total": 1,
        })
    );
}

#[test]
fn triviaqa_knows_both_kinds_of_keys() {
    let gold = |domain: &str| {
        format!(
            r#"{{"Domain": "{domain}", "Data": [{{"QuestionId": "q_1", "Question": "?", "Answer": {{"Value": "Tequila",
            "Aliases": ["Tequila"], "NormalizedAliases": ["tequila", "mezcal wine"]}},
            "EntityPages": [{{"Filename": "Tequila.txt"}}], "SearchResults": [{{"Filename": "9/9_1.txt"}}]}}]}}"#
        )
    };
    let bench = Bench::new(&[("g", &gold("Wikipedia")), ("p", r#"{"q_1": "Mezcal_Wine", "other": "x"}"#)]);
    assert_eq!(
        bench.score(&["trivia"])["aggregate"],
        json!({"exact_match": 100.0, "f1": 100.0, "common": 1, "denominator": 1, "predicted_len": 2, "gold_len": 1})
    );
    let bench = Bench::new(&[("g", &gold("Web")), ("p", r#"{"q_1--9/9_1.txt": "a tequila"}"#)]);
    let found = bench.score(&["trivia", "--per-item"]);
    assert_eq!((&found["n"], &found["aggregate"]["exact_match"]), (&json!(2), &json!(50.0)));
    assert_eq!(found["items"][0]["id"], "q_1--Tequila.txt");
    assert_eq!(found.get("notes"), None);
}

#[test]
fn nq_open_is_matched_by_question() {
    let gold =
        "{\"question\": \"who\", \"answer\": [\"Café\", \"bar\"]}\n{\"question\": \"when\", \"answer\": [\"1999\"]}\n";
    let bench = Bench::new(&[("g", gold), ("p", "{\"question\": \"who\", \"prediction\": \"the cafe\u{301}\"}\n")]);
    let expected = json!({"missing_predictions": 1, "num_correct": 1, "num_total": 2, "accuracy": 0.5});
    assert_eq!(bench.score(&["nq-open"])["aggregate"], expected);
    assert_eq!(bench.score(&["orqa"])["aggregate"], expected);
    // FiD does not decompose, so that the two spellings differ.
    assert_eq!(bench.score(&["fid"])["aggregate"], json!({"exact_match": 0.0}));
}

#[test]
fn two_wiki_takes_aliases_and_evidence() {
    let gold = r#"[{"_id": "a", "type": "x", "question": "?", "context": [], "answer": "Robert", "answer_id": "Q1",
        "supporting_facts": [["T", 0]], "evidences": [["Robert", "spouse", "Ann"]], "evidences_id": [["Q1", "spouse", "Q2"]]}]"#;
    let predictions =
        r#"{"answer": {"a": "bob"}, "sp": {"a": [["t", 0]]}, "evidence": {"a": [["Bob", "spouse", "Ann"]]}}"#;
    let aliases = "{\"Q_id\": \"Q1\", \"aliases\": [\"Bob\"], \"demonyms\": []}\n";
    let bench = Bench::new(&[("g", gold), ("p", predictions), ("aliases", aliases)]);
    let with = bench.score(&["2wiki", "--aliases", "aliases", "--per-item"]);
    let values: Vec<&Value> = with["aggregate"].as_object().expect("figures").values().collect();
    assert_eq!(values, vec![&json!(100.0); 16]);
    assert_eq!((&with["items"][0]["evi_recall"], &with["items"][0]["joint_f1"]), (&json!(1.0), &json!(1.0)));
    let without = bench.score(&["2wiki"]);
    assert_eq!((&without["aggregate"]["em"], &without["aggregate"]["sp_em"]), (&json!(0.0), &json!(100.0)));
    let bench = Bench::new(&[("g", gold), ("p", predictions), ("aliases", &format!("{aliases}{{\"Q_id\": \"Q2\"}}"))]);
    let ran = bench.plain("2wiki", &["--aliases", "aliases"]);
    ran.refused(3, &["`aliases`: line 2, record 2", "field `aliases`"]);
}

#[test]
fn paper_and_characters_take_any_dataset() {
    let gold = "{\"id\": \"a\", \"question\": \"?\", \"answer\": \"北京大学\"}\n{\"id\": \"b\", \"question\": \"!\", \"answer\": \"no\"}\n";
    let bench = Bench::new(&[("g", gold), ("p", "{\"id\": \"a\", \"prediction\": \"北京\"}\n")]);
    let cjk = bench.score(&["cjk", "--per-item"]);
    assert_eq!(cjk["items"][0]["f1"], 2.0 * 1.0 * 0.5 / 1.5);
    assert_eq!((&cjk["n"], &cjk["missing"]["prediction"]), (&json!(2), &json!(1)));
    let bench =
        Bench::new(&[("g", gold), ("p", "{\"answer\": {\"a\": \"《北京大学》\", \"b\": \"No.\"}, \"sp\": {}}")]);
    assert_eq!(bench.score(&["paper"])["aggregate"], json!({"reward": 0.5, "em": 0.5, "f1": 0.5}));
    let cmrc = SQUAD.replace("the Nile", "尼罗河");
    let bench = Bench::new(&[("g", &cmrc), ("p", "{\"a\": \"“尼罗河”。\"}")]);
    assert_eq!(bench.score(&["cjk"])["aggregate"], json!({"exact_match": 100.0 / 3.0, "f1": 100.0 / 3.0}));
}

#[test]
fn a_table_without_json() {
    let bench = Bench::new(&[("g", SQUAD), ("p", r#"{"a": "Nile", "b": "x"}"#)]);
    assert_eq!(
        bench.plain("squad11", &[]).stdout,
        "squad11: 3 questions\n  exact_match   33.3333\n  f1            33.3333\n  without prediction: 1\n"
    );
}

#[test]
fn predictions_of_another_split_are_noted() {
    let bench = Bench::new(&[("g", SQUAD), ("p", r#"{"z": "Nile"}"#)]);
    let stderr = bench.plain("squad11", &[]).ok().stderr;
    assert!(stderr.contains("no question of the gold file has a prediction"), "{stderr}");
}

#[test]
fn bad_files_are_named_with_line_id_and_field() {
    let gold = "[{\"_id\": \"a\", \"answer\": \"x\", \"supporting_facts\": []},\n {\"_id\": \"b\", \"answer\": 7}]";
    let fine = "[{\"_id\": \"a\", \"answer\": \"x\"}]";
    let prediction = "{\"answer\": {\"a\": \"x\"}, \"sp\": {}}";
    for (gold, predictions, words) in [
        (gold, prediction, &["`g`", "line 2", "record 2", "`b`", "field `answer`", "`7`"][..]),
        (fine, "{\"answer\": {\n\"a\": null}}", &["`p`", "line 2", "`answer`", "id `a`", "null"]),
        (fine, "{\"answer\": {\"a\": \"x\"},\n\"sp\": {\"a\": [[\"T\"]]}}", &["`p`", "line 2", "`sp`", "id `a`"]),
        (
            fine,
            "{\"answer\": {\"a\": \"x\"}, \"sp\": {\"a\": []}}",
            &["`g`", "line 1", "`a`", "field `supporting_facts`"],
        ),
        (fine, "{\"sp\": {}}", &["`p`", "`answer`"]),
        (fine, "{\"answer\": {\"a\"", &["`p`", "line 1"]),
        ("<html>", prediction, &["`g`", "HTML"]),
        ("", prediction, &["`g`", "empty"]),
    ] {
        Bench::new(&[("g", gold), ("p", predictions)]).refused("hotpot", 3, words);
    }
    Bench::new(&[("g", fine)]).refused("hotpot", 3, &["cannot read `p`"]);
    Bench::new(&[("g", fine), ("p", prediction)]).refused("rouge", 2, &["`rouge`", "hotpot, 2wiki, musique"]);
    Bench::new(&[("g", SQUAD), ("p", "{\"a\": 1}")]).refused("squad11", 3, &["`p`", "line 1", "id `a`", "`1`"]);
    Bench::new(&[("g", SQUAD), ("p", "{\"z\": \"x\"}")]).refused("squad20", 3, &["no prediction"]);
}

#[test]
fn musique_and_fever_say_which_prediction_is_wrong() {
    let gold = |id: &str, answerable: bool| {
        json!({"id": id, "answer": "x", "answer_aliases": [], "answerable": answerable,
            "paragraphs": [{"idx": 0, "is_supporting": true}]})
        .to_string()
    };
    let golds = format!("{}\n{}\n", gold("a", true), gold("a", false));
    let prediction =
        |id: &str| format!("{{\"id\": \"{id}\", \"predicted_answer\": \"x\", \"predicted_support_idxs\": [0]");
    let whole = |id: &str| prediction(id) + ", \"predicted_answerable\": true}\n";
    let refused = |p: String, words: &[&str]| Bench::new(&[("g", &golds), ("p", &p)]).refused("musique", 3, words);
    refused(whole("a"), &["predictions for 1 of 2 records", "`a`"]);
    refused(whole("a") + &whole("b"), &["line 2", "`b`", "field `id`", "`a` here"]);
    refused(whole("a") + &whole("a") + &whole("c"), &["line 3", "`c`"]);
    refused(whole("a") + &prediction("a") + "}", &["line 2", "field `predicted_answerable`"]);
    refused(
        whole("a") + "{\"id\": \"a\", \"predicted_answer\": \"x\"}",
        &["line 2", "`a`", "field `predicted_support_idxs`"],
    );
    let answerable = Bench::new(&[("g", &gold("a", true)), ("p", &(prediction("a") + "}"))]);
    assert_eq!(
        answerable.score(&["musique"])["aggregate"],
        json!({"answer_f1": 1.0, "answer_em": 1.0, "support_f1": 1.0})
    );
    answerable.refused("musique-full", 3, &["unanswerable"]);

    let claim = "{\"id\": 7, \"label\": \"SUPPORTS\", \"claim\": \"c\", \"evidence\": [[[1, 2, \"P\", 0]]]}\n";
    let refused = |p: &str, words: &[&str]| Bench::new(&[("g", claim), ("p", p)]).refused("fever", 3, words);
    refused(
        "\n{\"id\": 8, \"predicted_label\": \"x\", \"predicted_evidence\": []}",
        &["line 2", "`8`", "no such claim"],
    );
    refused("{\"id\": 7, \"predicted_label\": \"x\"}", &["line 1", "`7`", "field `predicted_evidence`"]);
    let unnamed =
        Bench::new(&[("g", claim), ("p", "{\"predicted_label\": \"Supports\", \"predicted_evidence\": [[\"P\", 0]]}")]);
    assert_eq!(unnamed.score(&["fever"])["aggregate"]["strict_score"], 1.0);
    let both = [claim, &claim.replace('7', "9")].concat();
    let refused =
        |p: &[&str], words: &[&str]| Bench::new(&[("g", &both), ("p", &p.concat())]).refused("fever", 3, words);
    let seven = "{\"id\": 7, \"predicted_label\": \"SUPPORTS\", \"predicted_evidence\": [[\"P\", 0]]}\n";
    refused(&[seven], &["`p`: predictions for 1 of 2 claims of `g`", "missing is `9`", "hint: ", "those lines alone"]);
    refused(&[seven, seven], &["line 2", "`7`", "predicted twice: record 1"]);
    refused(&[seven, &seven.replace('7', "9"), seven], &["line 3", "predicted twice: record 1"]);
}

#[test]
fn files_and_a_run_are_not_mixed() {
    let bench = Bench::new(&[("g", SQUAD), ("p", "{}")]);
    for args in [
        &["score"][..],
        &["score", "--gold", "g"],
        &["score", "--gold", "g", "--predictions", "p"],
        &["score", "run", "--metric", "squad11", "--gold", "g", "--predictions", "p"],
        &["score", "--metric", "squad11", "--gold", "g", "--predictions", "p", "--aliases", "p"],
    ] {
        assert_eq!(bench.0.wikitrail(args).code, Some(2), "{args:?}");
    }
}
