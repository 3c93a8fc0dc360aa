//! `docs/robust.md` held to the program: every kind of repair has an example that produces it, every refusal is
//! one, and the figures are those of the command.

use crate::common;
use serde_json::Value;
use std::sync::Arc;
use wikitrail::base::{Question, Tool};
use wikitrail::prompting::protocol::{Frame, Kind, Options, Protocol, Turn, find, robust};

fn replay(args: &[&str]) -> common::Ran {
    common::wikitrail(std::path::Path::new("."), &[&["replay"], args].concat())
}

/// The rows of the table whose header begins with these cells.
fn table(header: &[&str]) -> Vec<Vec<String>> {
    common::table_rows(&common::repository("docs/robust.md"), header).into_iter().map(|(_, row)| row).collect()
}

/// The text of a cell in backticks, its line breaks undone.
fn code(cell: &str) -> String {
    let ticks = cell.len() - cell.trim_start_matches('`').len();
    let inner = cell.trim_start_matches('`').strip_suffix(&"`".repeat(ticks)).expect("a cell in backticks");
    // Several backticks around a text that has some itself go with a space inside.
    if ticks > 1 { inner.trim() } else { inner }.replace("\\n", "\n")
}

fn protocol() -> Arc<dyn Protocol> {
    find("robust", &Options::default()).expect("it exists").expect("it needs no options")
}

/// The tool used for a reply to step 1, and the kinds of repairs.
fn read(reply: &str, thoughts: bool) -> (Tool, Vec<String>) {
    let mut setup = Arc::unwrap_or_clone(common::setup(Frame::default(), 1));
    setup.thoughts = thoughts;
    let mut dialogue = protocol().dialogue(&Arc::new(setup));
    dialogue.begin(&Question::new("q", "Why?", vec![]));
    let Turn::Use(call) = dialogue.completion(reply) else { panic!("no call for {reply:?}") };
    let Turn::Stop(stop) = dialogue.observation("o") else { panic!("no stop for {reply:?}") };
    (call.tool, stop.repairs.into_iter().map(|repair| repair.kind).collect())
}

#[test]
fn every_kind_of_repair_has_an_example_that_produces_it() {
    let rows = table(&["kind", "example"]);
    let kinds: Vec<String> = rows.iter().map(|row| code(&row[0])).collect();
    assert_eq!(kinds, robust::repair::ALL, "the table lists the kinds, in their order");
    for (kind, row) in kinds.iter().zip(&rows) {
        let (tool, repairs) = read(&code(&row[1]), kind != "unasked_thought");
        assert_ne!(tool, Tool::Invalid, "{kind}");
        assert!(repairs.contains(kind), "{kind}: {repairs:?}");
    }
}

#[test]
fn every_example_of_a_refusal_is_refused() {
    let rows = table(&["reply", "why it is not guessed"]);
    assert_eq!(rows.len(), 11);
    for row in rows {
        let (tool, repairs) = read(&code(&row[0]), true);
        let others: Vec<_> = repairs.iter().filter(|kind| *kind != robust::repair::ECHOED_PLACEHOLDER).collect();
        assert_eq!((tool, others.len()), (Tool::Invalid, 0), "{}: {repairs:?}", row[0]);
    }
}

/// Whatever of the shipped texts a weak model repeats, as its whole reply or as its action, nothing is executed.
#[test]
fn nothing_that_the_shipped_texts_say_is_an_action() {
    let files = ["hotpotqa", "fever", "hotpotqa-zh", "protocols/en", "protocols/zh"];
    let mut checked = 0;
    for file in files {
        let prompt = common::repository(&format!("prompts/{file}.toml"));
        let prompt: toml::Table = prompt.parse().expect("TOML");
        let texts = prompt.get("texts").or_else(|| prompt.get("robust")).expect("texts of robust");
        for text in ["feedback", "force_stop"].map(|name| texts[name].as_str().expect("a text")) {
            let text = text.replace("{n}", "2").replace("{error}", "the reply has no action");
            for (at, _) in text.char_indices() {
                for echo in [text[at..].to_owned(), format!("Thought 2: t\nAction 2: {}", &text[at..])] {
                    assert_eq!(protocol().parse(&echo, 2).kind, Kind::Invalid, "{file}: {echo}");
                }
            }
            checked += 1;
        }
    }
    assert_eq!(checked, 2 * files.len());
}

#[test]
#[cfg_attr(not(shared), ignore = "needs ../shared")]
fn the_figures_are_those_of_the_command() {
    let shared = common::shared();
    let recordings = [
        ("dev_fever_000-199.jsonl", "text-davinci-002, FEVER, 200 episodes"),
        ("dev_hotpot_00-39.jsonl", "gpt-3.5-turbo, HotpotQA, 40 episodes"),
    ];
    let mut expected = Vec::new();
    for (file, name) in recordings {
        let path = shared.join("data/trajectories").join(file);
        let path = path.to_str().expect("UTF-8");
        let rows = replay(&["--import", "react-notebook", path, "--as", "robust", "--json"]).lines();
        for (kind, title) in [("bad_call", "bad calls"), ("invalid_action", "invalid actions")] {
            let of_kind: Vec<_> = rows.iter().filter(|row| row["kind"] == kind).collect();
            let mut row = vec![name.to_owned(), title.to_owned(), of_kind.len().to_string()];
            for verdict in ["as_meant", "otherwise", "executed", "refused"] {
                row.push(of_kind.iter().filter(|row| row["verdict"] == verdict).count().to_string());
            }
            expected.push(row);
        }
        check_verdicts(&rows);
    }
    assert_eq!(table(&["recording", "replies"]), expected);
}

/// The verdicts follow from what else the rows say.
fn check_verdicts(rows: &[Value]) {
    for row in rows {
        let parsed = &row["parsed"];
        let done = match parsed["kind"].as_str() {
            Some("act") => Some((parsed["tool"].clone(), parsed["input"].clone())),
            Some("finish") => Some(("Finish".into(), parsed["answer"].clone())),
            _ => None,
        };
        let meant = row["meant"].as_object().map(|meant| (meant["tool"].clone(), meant["input"].clone()));
        let same = |(a, b): (&(Value, Value), &(Value, Value))| {
            let folded = |value: &Value| value.as_str().expect("a text").trim().to_lowercase();
            folded(&a.0) == folded(&b.0) && folded(&a.1) == folded(&b.1)
        };
        let expected = match (&done, &meant) {
            (None, _) => "refused",
            (Some(_), None) => "executed",
            (Some(done), Some(meant)) if same((done, meant)) => "as_meant",
            _ => "otherwise",
        };
        assert_eq!(row["verdict"], expected, "{row}");
    }
}

#[test]
fn the_command_says_what_it_needs() {
    for args in [
        &["x.jsonl", "--as", "robust"][..],
        &["x.jsonl", "--import", "react-notebook"],
        &["x.jsonl", "--import", "react-notebook", "--as", "nothing"],
        &["x.jsonl", "--import", "react-notebook", "--as", "robust", "--prompt", "p"],
    ] {
        assert_eq!(replay(args).code, Some(2), "{args:?}");
    }
    let missing = replay(&["no-such-file.jsonl", "--import", "react-notebook", "--as", "robust"]);
    assert_eq!(missing.code, Some(3), "{}", missing.stderr);
}
