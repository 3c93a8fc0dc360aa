//! What is rendered from a prompt file.

use super::{SOUND, load_bytes, load_toml, no_builtin, render};
use crate::base::{Method, sha256_hex};
use crate::prompting::{ExemplarOrder, PromptError, PromptSource, RenderSettings, load};

const INSTRUCTION: &str =
    "Answer within 7 steps:\n(1) Search[title] opens.\n(2) Lookup[keyword] finds.\n(3) Finish[answer] ends.\n\n";
const FIRST: &str = "Question: Who built it?\nThought 1: Search first.\nAction 1: Search[It]\n\
    Observation 1: It was built by Ada.\nThought 2: Ada did.\nAction 2: Finish[Ada]\n";
const SECOND: &str = "Question: Is it old?\nThought 1: It is.\nAction 1: Finish[yes]\n";

fn sound() -> PromptSource {
    load_toml(SOUND).unwrap()
}

#[test]
fn instruction_then_exemplars_in_the_files_order() {
    let rendered = render(&sound(), &RenderSettings::default()).unwrap();
    let text = format!("{INSTRUCTION}{FIRST}{SECOND}");
    assert_eq!(*rendered.frame.prefix, text);
    assert_eq!(rendered.sha256, sha256_hex([text.as_bytes()]));
    assert_eq!((rendered.chars, rendered.exemplars), (text.len(), Some(2)));
}

#[test]
fn shots_cut_the_list_and_cannot_exceed_it() {
    let shots = |n| render(&sound(), &RenderSettings { shots: Some(n), ..RenderSettings::default() });
    assert_eq!(*shots(0).unwrap().frame.prefix, *INSTRUCTION);
    assert_eq!(*shots(1).unwrap().frame.prefix, format!("{INSTRUCTION}{FIRST}"));
    let error = shots(3).unwrap_err();
    assert!(error.to_string().ends_with("trial.toml` has 2 exemplars, fewer than the 3 requested"), "{error}");
    assert_eq!(error.hint(), "use 2 shots or fewer");
}

#[test]
fn a_seed_orders_exemplars_by_their_content() {
    let text = |seed| {
        let settings = RenderSettings { order: ExemplarOrder::Seeded(seed), ..RenderSettings::default() };
        render(&sound(), &settings).unwrap().frame.prefix
    };
    let orders = [format!("{INSTRUCTION}{FIRST}{SECOND}"), format!("{INSTRUCTION}{SECOND}{FIRST}")];
    let places: Vec<_> = (0..8).map(|seed| orders.iter().position(|order| **order == *text(seed)).unwrap()).collect();
    let expected: Vec<_> = (0..8)
        .map(|seed| {
            let digest = |question: &str| sha256_hex([format!("{seed}\n{question}").as_bytes()]);
            usize::from(digest("Is it old?") < digest("Who built it?"))
        })
        .collect();
    assert_eq!(places, expected);
    assert!(expected.contains(&0) && expected.contains(&1), "eight seeds show both orders");
}

#[test]
fn a_finished_text_comes_back_as_it_is() {
    let source = load_bytes("p.json", "#k", br#"{"k": "\r\n  text\u0000 \n\n"}"#).unwrap();
    let rendered = render(&source, &RenderSettings::default()).unwrap();
    assert_eq!((&*rendered.frame.prefix, rendered.chars, rendered.exemplars), ("\r\n  text\0 \n\n", 12, None));
    let error = render(&source, &RenderSettings { shots: Some(1), ..RenderSettings::default() }).unwrap_err();
    assert!(error.to_string().ends_with("p.json#k` is a finished text; its examples cannot be selected or reordered"));
}

#[test]
fn an_instruction_file_stands_before_a_finished_text() {
    let folder = tempfile::tempdir().unwrap();
    let (prompt, instruction) = (folder.path().join("p.json"), folder.path().join("i.txt"));
    std::fs::write(&prompt, r#"{"a#b": "\nQuestion: "}"#).unwrap();
    std::fs::write(&instruction, "\u{feff} Do it.\r\n").unwrap();
    let spec = format!("{}#a#b", prompt.display());
    let source = load(&spec, Some(&instruction.display().to_string()), &no_builtin).unwrap();
    assert_eq!(&*render(&source, &RenderSettings::default()).unwrap().frame.prefix, " Do it.\r\n\nQuestion: ");
}

#[test]
fn methods_without_instruction_and_methods_of_methods_are_refused() {
    let error = |method| render(&sound(), &RenderSettings { method, ..RenderSettings::default() }).unwrap_err();
    assert!(matches!(error(Method::Cot), PromptError::NoInstruction(_, "cot")));
    assert!(matches!(error(Method::Act), PromptError::NoInstruction(_, "act")));
    for method in [Method::CotSc, Method::ReactThenCotSc, Method::CotScThenReact] {
        assert!(matches!(error(method), PromptError::Compound(_)), "{method:?}");
    }
}

#[test]
fn built_in_prompts_are_found_where_no_file_is() {
    let builtin = |spec: &str| (spec == "prompts/none.toml").then_some(SOUND.as_bytes());
    let source = load("prompts/none.toml", None, &builtin).unwrap();
    assert_eq!((source.name(), source.question_label()), ("trial", Some("Question")));
    let rendered = render(&source, &RenderSettings::default()).unwrap();
    assert_eq!(rendered.sha256, render(&sound(), &RenderSettings::default()).unwrap().sha256);
}

#[test]
fn a_byte_order_mark_and_windows_line_ends_change_nothing() {
    let windows = format!("\u{feff}{}", SOUND.replace('\n', "\r\n"));
    let rendered = render(&load_toml(&windows).unwrap(), &RenderSettings::default()).unwrap();
    assert_eq!(*rendered.frame.prefix, format!("{INSTRUCTION}{FIRST}{SECOND}"));
}
