//! `score --classify`: why episodes failed, as a model reads them, beside the rules and people. One server answers questions and
//! reads episodes.

use crate::common::server::{self, Server};
use crate::common::{WorkDir, lines};
use crate::report_command::unpacked;
use serde_json::{Value, json};

/// A server that answers every question wrongly and reads episodes by this rule, from the number of the question.
fn server(read: impl Fn(usize, &str) -> String + Send + 'static) -> Server {
    Server::start(move |_, request, stream| {
        let body: Value = serde_json::from_str(request.split("\r\n\r\n").nth(1).expect("a body")).expect("JSON");
        let text =
            body["messages"].as_array().expect("messages").last().expect("one")["content"].as_str().expect("text");
        let number = text.rsplit("Is it ").next().and_then(|rest| rest.split('?').next()).expect("a question");
        let number = number.parse().expect("a number");
        let said = if text.contains("=== steps of the agent") {
            read(number, text)
        } else if number == 0 {
            "Thought: easy\nAnswer: gold 0".to_owned()
        } else {
            format!("Thought: I see. CLASS: label\nAnswer: it is blue {number}")
        };
        let usage = json!({"prompt_tokens": 100, "completion_tokens": 10});
        let choice = json!({"message": {"content": said}, "finish_reason": "stop"});
        server::json(stream, &json!({"choices": [choice], "usage": usage}));
    })
}

/// A run over so many questions, the first of which is answered right.
fn run(dir: &WorkDir, server: &Server, questions: usize, methods: &str) {
    let rows = (0..questions).map(|n| format!("Is it {n}?,gold {n}\n")).collect::<Vec<_>>().concat();
    dir.write("d.csv", format!("question,answer\n{rows}"));
    let base = format!("{}/v1", server.url);
    let flags = ["--model", "openai:m", "--base-url", &base, "--method", methods, "--out", "r", "--quiet", "d.csv"];
    dir.run(&flags).ok();
}

/// Whether every line fits into 80 columns.
fn narrow(text: &str) -> bool {
    text.lines().all(|line| line.chars().count() <= 80)
}

/// The words of lines that are wrapped.
fn joined(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The command that asks `openai:c`, and more of it.
fn classify<'a>(base: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&["score", "r", "--classify", "openai:c", "--judge-base-url", base], more].concat()
}

fn base(server: &Server) -> String {
    format!("{}/v1", server.url)
}

fn readings(dir: &WorkDir) -> Vec<Value> {
    let all = lines(&dir.read("r/classifications.jsonl"));
    all.into_iter().filter(|line| line.get("verdict").is_some()).collect()
}

fn classify_requests(server: &Server) -> Vec<String> {
    server.requests().into_iter().filter(|request| request.contains("=== steps of the agent")).collect()
}

/// Every third one is a search, the others hallucinate; each repeats a line of the episode before it says so.
fn thirds(n: usize, _: &str) -> String {
    let class = if n.is_multiple_of(3) { "search" } else { "Hallucination." };
    format!("The agent wrote CLASS: label\nCLASS: label\nNothing shown says it is blue.\n**CLASS: {class}**")
}

#[test]
fn failed_episodes_are_read_once_and_stand_beside_the_rules() {
    let (server, dir) = (server(thirds), WorkDir::new());
    run(&dir, &server, 10, "cot");
    let before = dir.wikitrail(&["score", "r", "--json"]).json();
    let base = base(&server);
    let planned = dir.wikitrail(&classify(&base, &["--judge-price", "1/2", "--dry-run"])).ok();
    assert!(planned.stdout.starts_with("openai:c: 9 calls, 0 classified before; about "), "{}", planned.stdout);
    assert!(narrow(&planned.stdout) && planned.stdout.contains(" USD"), "{}", planned.stdout);
    let planned = dir.wikitrail(&classify(&base, &["--judge-price", "0.000001/0.000001", "--dry-run"])).ok();
    assert!(planned.stdout.contains("less than 0.0001 USD"), "{}", planned.stdout);
    assert!(classify_requests(&server).is_empty() && !dir.path("r/classifications.jsonl").exists());
    let scored = dir.wikitrail(&classify(&base, &["--judge-price", "1/2"])).ok();
    assert!(scored.stderr.contains("9 episodes classified"), "{}", scored.stderr);
    let text = joined(&scored.stdout);
    for words in [
        "model:openai:c read 9 failed episodes; 0.0011 USD",
        "judged by model:openai:c: 9 episodes, without sight of the rules' verdict",
        "no person has classified these episodes: how often this model is right is not known",
        "failure classes, rules against model:openai:c:",
    ] {
        assert!(text.contains(words), "{words}: {}", scored.stdout);
    }
    assert!(!scored.stdout.contains("precision %"), "a model is not the measure of the rules: {}", scored.stdout);
    let all = readings(&dir);
    let count = |class: &str| all.iter().filter(|one| one["verdict"] == class).count();
    assert_eq!((all.len(), count("search"), count("hallucination")), (9, 3, 6));
    assert_eq!((&all[0]["cost_usd"], &all[0]["episode"]["variant"]), (&json!(0.00012), &json!("cot")));
    // It knows neither the variant, nor what the rules say, nor a reward.
    let requests = classify_requests(&server);
    assert_eq!(requests.len(), 9);
    for request in &requests {
        assert!(request.contains("it is blue") && request.contains("gold "), "{request}");
        assert!(!request.contains("cot") && !request.contains("reward"), "{request}");
    }
    // What was read is not read again, and no figure of the episodes has changed.
    dir.wikitrail(&classify(&base, &[])).ok();
    assert_eq!((classify_requests(&server).len(), readings(&dir).len()), (9, 9));
    let planned = dir.wikitrail(&classify(&base, &["--judge-price", "1/2", "--dry-run"])).ok();
    assert_eq!(planned.stdout, "openai:c: 0 calls, 9 classified before\n");
    let after = dir.wikitrail(&["score", "r", "--json"]).json();
    assert_eq!(before["variants"], after["variants"]);
    assert_eq!(after["annotations"]["people"][0]["model"], json!(true));
}

#[test]
fn the_agreement_with_people_is_beside_it() {
    let (server, dir) = (server(thirds), WorkDir::new());
    run(&dir, &server, 10, "cot");
    dir.wikitrail(&classify(&base(&server), &[])).ok();
    let row = |n: usize| format!("d-{n},{}\n", if n < 7 { "hallucination" } else { "search" });
    let rows = (1..10).map(row).collect::<Vec<_>>().concat();
    dir.write("said.csv", format!("id,class\n{rows}"));
    dir.wikitrail(&["annotate", "r", "--import", "said.csv", "--by", "anna"]).ok();
    let scored = dir.wikitrail(&["score", "r"]).ok();
    // Of 9, the person and the model say the same of 1, 2, 4, 5 and 9.
    assert!(
        joined(&scored.stdout).contains("against anna, a person: agree on 5 of 9 (55.6 %), κ "),
        "{}",
        scored.stdout
    );
    assert!(scored.stdout.contains("failure classes, anna against model:openai:c:"), "{}", scored.stdout);
    assert!(!joined(&scored.stdout).contains("how often this model is right is not known"), "{}", scored.stdout);
    let pair = &dir.wikitrail(&["score", "r", "--json"]).json()["annotations"]["pairs"][0];
    assert_eq!((&pair["people"], &pair["classes"]["agreeing"]), (&json!(["anna", "model:openai:c"]), &json!(5)));
}

#[test]
fn readings_are_shown_exported_and_merged_like_those_of_people() {
    let (server, dir) = (server(thirds), WorkDir::new());
    run(&dir, &server, 4, "cot,standard");
    let base = base(&server);
    dir.wikitrail(&classify(&base, &["--classify", "openai:d"])).ok();
    let failed = dir.records("r").iter().filter(|record| record["answer"] != "gold 0").count();
    assert!(failed >= 6, "at least three, by each of two methods");
    assert_eq!(readings(&dir).len(), 2 * failed, "by each of two models");
    let scored = dir.wikitrail(&["score", "r"]).ok();
    assert!(scored.stdout.contains("failure classes, model:openai:c against model:openai:d:"), "{}", scored.stdout);
    assert!(joined(&scored.stdout).contains("how often this model is right is not known"), "two models are no person");
    let shown = dir.wikitrail(&["show", "r@cot", "d-3"]).ok();
    assert!(shown.stdout.contains("model:openai:c says search: The agent wrote CLASS: label"), "{}", shown.stdout);
    assert!(narrow(&shown.stdout), "{}", shown.stdout);
    dir.wikitrail(&["report", "r", "--out", "page.html"]).ok();
    let page = dir.read("page.html");
    let packed = page.split_once("data-chunk=\"0\">").and_then(|(_, rest)| rest.split_once("</script>"));
    let episodes = unpacked(packed.expect("a chunk").0).to_string();
    assert!(episodes.contains("model:openai:d says search: The agent wrote"), "{episodes}");
    let exported = dir.wikitrail(&["export", "r"]).ok();
    assert!(exported.stdout.contains("model:openai:c|model:openai:d"), "{}", exported.stdout);
    assert!(exported.stdout.contains("search|search"), "{}", exported.stdout);
    dir.wikitrail(&["merge", "r", "--out", "m"]).ok();
    assert_eq!(lines(&dir.read("m/classifications.jsonl")), lines(&dir.read("r/classifications.jsonl")));
}

#[test]
fn unreadable_is_not_measured_and_a_budget_and_a_recording_hold() {
    let said = |n: usize, text: &str| if n == 1 { "CLASS: several of them".to_owned() } else { thirds(n, text) };
    let (server, dir) = (server(said), WorkDir::new());
    run(&dir, &server, 7, "cot");
    let base = base(&server);
    let ran = dir.wikitrail(&classify(&base, &["--judge-max-calls", "2", "--judge-concurrency", "1"]));
    assert_eq!(ran.code, Some(4), "{}", ran.stderr);
    assert!(ran.stderr.contains("4 episodes not classified yet"), "{}", ran.stderr);
    assert!(ran.stderr.contains("stopped: the budget of 2 model calls is spent"), "{}", ran.stderr);
    assert!(ran.stderr.contains("--judge-max-calls LARGER"), "{}", ran.stderr);
    let ran = dir.wikitrail(&classify(&base, &["--judge-record", "tape.jsonl", "--judge-cache", "cache"])).ok();
    assert!(ran.stdout.contains("model:openai:c read 6 failed episodes, 1 of them unreadable"), "{}", ran.stdout);
    assert!(ran.stdout.contains("judged by model:openai:c: 5 episodes"), "{}", ran.stdout);
    assert_eq!(classify_requests(&server).len(), 6);
    // The recording has the last four.
    std::fs::remove_file(dir.path("r/classifications.jsonl")).expect("a file");
    let ran = dir.wikitrail(&classify(&base, &["--judge-replay", "tape.jsonl"]));
    assert_eq!((ran.code, readings(&dir).len(), classify_requests(&server).len()), (Some(4), 4, 6), "{}", ran.stderr);
    assert!(ran.stderr.contains("not classified: "), "{}", ran.stderr);
}

#[test]
fn a_model_that_never_replied_has_read_nothing_and_costs_nothing() {
    let (served, dir) = (server(thirds), WorkDir::new());
    run(&dir, &served, 3, "cot");
    let refusing = Server::start(|_, _, stream| server::refuse(stream, &json!({"error": {"message": "no"}})));
    let ran = dir.wikitrail(&classify(&base(&refusing), &[]));
    assert_eq!(ran.code, Some(4), "{}", ran.stderr);
    assert!(ran.stdout.contains("model:openai:c has read no failed episode yet\n"), "{}", ran.stdout);
}

#[test]
fn what_cannot_classify_is_refused_and_damaged_lines_are_left_out() {
    let (server, dir) = (server(thirds), WorkDir::new());
    run(&dir, &server, 3, "cot");
    let (base, sent) = (base(&server), server.requests().len());
    let score = |more: &[&str]| dir.wikitrail(&[&["score", "r"], more].concat());
    score(&["--classify", "baseline"]).refused(2, &["cannot judge", "--classify openai:NAME"]);
    score(&["--classify", "openai:m"]).refused(2, &["no key", "--judge-base-url"]);
    for (flags, word) in [
        (&["--classify", "openai:m", "--judge", "openai:m"][..], "cannot be used with"),
        (&["--classify", "openai:m", "--judge-all"], "cannot be used with"),
        (&["--judge-base-url", &base], "--classify"),
    ] {
        let ran = score(flags);
        assert!(ran.code == Some(2) && ran.stderr.contains(word), "{flags:?}: {}", ran.stderr);
    }
    assert_eq!(server.requests().len(), sent);
    assert!(!dir.path("r/classifications.jsonl").exists());
    dir.wikitrail(&classify(&base, &[])).ok();
    let text = dir.read("r/classifications.jsonl");
    let strange = text.lines().last().expect("a line").replace("\"verdict\":\"", "\"verdict\":\"very ");
    let unnamed = text.lines().last().expect("a line").replace("\"question_sha256\"", "\"question\"");
    dir.write("r/classifications.jsonl", format!("{strange}\n{unnamed}\nnonsense\n{{\"v\": 9}}\n[]\n{text}"));
    let ran = score(&[]).ok();
    for (line, words) in [
        (1, "not a reading: unknown class `very "),
        (2, "not a reading: field `question_sha256` is missing"),
        (3, "not a reading: not valid JSON at column 2; left out"),
        (4, "format version 9"),
        (5, "not a reading: a list"),
    ] {
        assert!(ran.stderr.contains(&format!("classifications.jsonl:{line}: {words}")), "{words}: {}", ran.stderr);
    }
    assert!(!ran.stderr.contains("untagged") && !ran.stderr.contains("line 1 column"), "{}", ran.stderr);
    assert!(ran.stdout.contains("model:openai:c read 2 failed episodes;"), "{}", ran.stdout);
}
