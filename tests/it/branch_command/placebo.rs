//! Placebos: edits of the same kind that say nothing, where the control only replays the record.

use super::{of, run};
use crate::common::server::{self, Server};
use crate::common::sha256_hex;
use crate::common::{self, WorkDir};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

const MARKER: &str = "The marker is here.";

/// What of its prompt decides what a model says.
#[derive(Clone, Copy)]
enum Says {
    /// All of it: a greedy model.
    ByPrompt,
    /// The same, but white space.
    ByWords,
    /// Nothing: each request draws anew.
    AtRandom,
}

/// A model that searches twice and then says `yes` with a chance of 40 %, and of 90 % where the marker is in its prompt.
fn model(says: Says) -> Server {
    Server::start(move |number, request, stream| {
        let body: Value = serde_json::from_str(request.split_once("\r\n\r\n").expect("a body").1).expect("JSON");
        let messages = body["messages"].as_array().expect("messages").iter();
        let text: String = messages.filter_map(|message| message["content"].as_str()).collect();
        let key = match says {
            Says::ByPrompt => text.clone(),
            Says::ByWords => text.split_whitespace().collect::<Vec<_>>().join(" "),
            Says::AtRandom => number.to_string(),
        };
        let digest = sha256_hex(key.as_bytes());
        let chance = u32::from_str_radix(&digest[..4], 16).expect("a number") * 100 / 0x1_0000;
        let answer = if chance < if text.contains(MARKER) { 90 } else { 40 } { "yes" } else { "no" };
        let asked = &text[text.rfind("Item ").expect("the question")..];
        let (action, step) = match asked.matches("Observation ").count() {
            0 => ("Search[Marie Curie]".to_owned(), 1),
            1 => ("Search[Pierre Curie]".to_owned(), 2),
            _ => (format!("Finish[{answer}]"), 3),
        };
        let content = format!("Thought {step}: I go on {}.\nAction {step}: {action}", &digest[..6]);
        let usage = json!({"prompt_tokens": 10, "completion_tokens": 5});
        let message = json!({"content": content});
        server::json(stream, &json!({"choices": [{"message": message, "finish_reason": "stop"}], "usage": usage}));
    })
}

/// A run of made-up questions by this model.
fn run_questions(dir: &WorkDir, server: &Server, name: &str, questions: usize) {
    run_at(dir, &format!("{}/v1", server.url), name, questions);
}

fn run_at(dir: &WorkDir, base: &str, name: &str, questions: usize) {
    let row = |at| json!({"id": format!("q{at}"), "question": format!("Item {at} of {name}?"), "answer": "yes"});
    let rows: Vec<String> = (0..questions).map(|at| row(at).to_string() + "\n").collect();
    let file = format!("{name}.jsonl");
    dir.write(&file, rows.concat());
    let model = ["--model", "openai:m", "--base-url", base, "--method", "react", "--max-steps", "5"];
    dir.wikitrail(&[&["run", &file, "--quiet", "--out", name][..], &model].concat()).ok();
}

/// The figures of a branch off the wrong answers at step 2.
fn branched(dir: &WorkDir, run: &str, out: &str, edit: &[&str]) -> Value {
    let set = ["branch", run, "--wrong", "--at", "2", "--quiet", "--confirm", "--json", "--out", out];
    dir.wikitrail(&[&set[..], edit].concat()).json()
}

fn all(printed: &Value) -> Value {
    let rows = printed["repair"].as_array().expect("rows");
    rows.iter().find(|row| row["class"] == "all").expect("a row").clone()
}

/// What a page needs, by the question.
fn gold(dir: &WorkDir) -> BTreeMap<String, BTreeSet<String>> {
    let lines = std::fs::read_to_string(dir.path("r/questions.jsonl")).expect("the questions");
    let of = |line: &str| {
        let question: Value = serde_json::from_str(line).expect("JSON");
        let facts = question["supporting_facts"].as_array().expect("facts").iter();
        let title = |fact: &Value| fact[0].as_str().or(fact["title"].as_str()).expect("a title").to_owned();
        (question["id"].as_str().expect("an id").to_owned(), facts.map(title).collect())
    };
    lines.lines().map(of).collect()
}

#[test]
fn the_edit_is_held_against_searches_for_other_pages() {
    let dir = run();
    let set = ["branch", "r", "--class", "search", "--at", "2", "--with", "gold-page", "--quiet", "--repeats", "2"];
    let ran = dir.wikitrail(&[&set[..], &["--placebo", "2", "--json", "--out", "b"]].concat());
    assert!(ran.stderr.contains("44 of 44 controls equal the record: 88 placebo episodes follow"), "{}", ran.stderr);
    let printed = ran.json();
    let row = all(&printed);
    let records = common::records(dir.path("b"));
    assert_eq!(["control", "edited", "placebo"].map(|arm| of(&records, arm).len()), [44, 44, 88]);
    let gold = gold(&dir);
    let mut texts: BTreeMap<(&str, u64), &str> = BTreeMap::new();
    for record in of(&records, "placebo") {
        let (id, repeat) = (record["id"].as_str().expect("an id"), record["repeat"].as_u64().expect("a number"));
        let (branch, step) = (&record["branch"], &record["steps"][1]);
        assert_eq!((&branch["by"], &branch["edit"]["part"]), (&json!("placebo"), &json!("action")));
        let title = step["input"].as_str().expect("a title");
        assert_eq!(branch["edit"]["text"], format!("search[{title}]"));
        assert!(!gold[id].contains(title), "{id}: {title}");
        assert!(!step["observation"].as_str().expect("a text").starts_with("Could not find"), "{title}");
        // Both repeats of a placebo have its text, and the placebos have different ones.
        let first = texts.entry((id, repeat / 2)).or_insert(title);
        assert_eq!(*first, title);
    }
    for (id, number) in texts.keys().filter(|(_, number)| *number == 1) {
        assert_ne!(texts[&(*id, 0)], texts[&(*id, *number)]);
    }
    // The same as `compare` of the folder, and of the records.
    let flags = ["compare", "b", "--contrast", "placebo", "edited", "--metric", "em", "--json"];
    let compared = dir.wikitrail(&flags).json();
    let pair = &compared["metrics"][0]["pairs"][0];
    assert_eq!((&row["difference"], &row["interval"]), (&pair["difference"], &pair["interval"]));
    assert!(row["p"].as_f64() < Some(0.001) && row["edited"].as_f64() > Some(0.3), "{row}");
    assert_eq!((&row["placebo"], &row["control_difference"]), (&pair["a_mean"], &row["edited"]));
    let shown = dir.wikitrail(&["show", &format!("b@placebo:{}", records[0]["id"].as_str().expect("an id"))]).ok();
    let words = shown.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("placebo, action edited: search["), "{words}");
    dir.wikitrail(&["replay", "b"]).ok();
}

#[test]
fn a_greedy_model_repairs_by_any_words_and_only_the_marker_is_found() {
    for says in [Says::ByPrompt, Says::ByWords] {
        let (dir, server) = (WorkDir::new(), model(says));
        let (mut false_repairs, mut against_control) = (0, 0);
        for run in 0..4 {
            let name = format!("r{run}");
            run_questions(&dir, &server, &name, 30);
            let row = all(&branched(&dir, &name, &format!("b{run}"), &["--thought", "I look further."]));
            assert_eq!(row["placebos_left"], 1.0, "{row}");
            false_repairs += usize::from(row["p"].as_f64() < Some(0.05));
            against_control += usize::from(row["control_p"].as_f64() < Some(0.05));
        }
        assert!(false_repairs <= 1 && against_control >= 2, "{false_repairs}, {against_control}");
        let row = all(&branched(&dir, "r0", "marked", &["--thought", MARKER]));
        assert!(row["p"].as_f64() < Some(0.05) && row["difference"].as_f64() > Some(0.2), "{row}");
    }
}

#[test]
fn another_formatting_is_the_placebo_of_a_prompt_and_may_be_too_weak() {
    for (says, left) in [(Says::ByPrompt, 1.0), (Says::ByWords, 0.0)] {
        let (dir, server) = (WorkDir::new(), model(says));
        run_questions(&dir, &server, "r", 12);
        let edit = ["--prompt", "prompts/fever.toml"];
        let row = all(&branched(&dir, "r", "b", &edit));
        assert_eq!((&row["placebos_left"], row["p"].is_null()), (&json!(left), left < 0.5), "{row}");
        let records = common::records(dir.path("b"));
        let texts: BTreeSet<&str> = of(&records, "placebo")
            .into_iter()
            .map(|record| record["branch"]["edit"]["text"].as_str().expect("a text"))
            .collect();
        assert_eq!(texts.len(), 3, "{texts:?}");
        // The prompts can be built again from the record.
        dir.wikitrail(&["replay", "b"]).ok();
        let set = ["branch", "r", "--wrong", "--at", "2", "--quiet", "--confirm", "--out", "b", "--resume"];
        let ran = dir.wikitrail(&[&set[..], &edit].concat()).ok();
        let withheld = "the placebo was too weak to compare with";
        assert_eq!(ran.stdout.contains(withheld), left < 0.5, "{}", ran.stdout);
    }
}

#[test]
fn a_model_that_draws_anew_has_its_control() {
    let (dir, server) = (WorkDir::new(), model(Says::AtRandom));
    run_questions(&dir, &server, "r", 24);
    let set = ["branch", "r", "--wrong", "--at", "2", "--thought", MARKER, "--quiet", "--confirm", "--out", "b"];
    let ran = dir.wikitrail(&[&set[..], &["--json"]].concat());
    assert!(ran.stderr.contains("no placebo is run: 0 of "), "{}", ran.stderr);
    let printed = ran.json();
    let row = all(&printed);
    assert_eq!((&printed["placebos"], &printed["controls"]["replay"]), (&Value::Null, &json!(false)));
    let flags = ["compare", "b", "--contrast", "control", "edited", "--metric", "em", "--json"];
    let pair = dir.wikitrail(&flags).json()["metrics"][0]["pairs"][0].clone();
    assert_eq!(
        (&row["difference"], &row["interval"], &row["p"]),
        (&pair["difference"], &pair["interval"], &pair["p"]["value"])
    );
}

#[test]
fn the_query_of_an_address_is_given_again() {
    let (dir, server) = (WorkDir::new(), model(Says::AtRandom));
    let base = format!("{}/v1?version=2", server.url);
    run_at(&dir, &base, "r", 3);
    let set = ["branch", "r", "--at", "2", "--thought", "I look further.", "--quiet", "--confirm", "--out", "b"];
    dir.wikitrail(&set).refused(2, &["is not recorded, as it may hold a key", "--base-url"]);
    let before = server.requests().len();
    dir.wikitrail(&[&set[..], &["--base-url", &base]].concat()).ok();
    let requests = server.requests();
    assert!(requests.len() > before && requests.iter().all(|request| request.contains("?version=2 HTTP")));
}
