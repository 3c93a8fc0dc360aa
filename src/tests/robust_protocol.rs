//! `docs/protocols.md` held to the program: every kind of repair has an example that produces it, and every refusal is one.

use crate::base::{Question, Tool};
use crate::prompting::protocol::{Frame, Kind, Options, Protocol, Turn, find, robust};
use std::sync::Arc;

/// The rows of the table whose header begins with these cells.
fn table(header: &[&str]) -> Vec<Vec<String>> {
    crate::tests::table_rows(&crate::tests::repository("docs/protocols.md"), header)
        .into_iter()
        .map(|(_, row)| row)
        .collect()
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
    let mut setup = Arc::unwrap_or_clone(crate::tests::setup(Frame::default(), 1));
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
    assert_eq!(rows.len(), 9);
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
        let prompt = crate::tests::repository(&format!("prompts/{file}.toml"));
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
