//! Every protocol and method from the prompts that come with the program.

use super::{load_bytes, load_toml};
use crate::base::{Method, Tool};
use crate::prompting::protocol::{self, Layout, Options, Protocol, react_paper};
use crate::prompting::{PromptError, PromptSource, RenderSettings, Rendered, texts};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

pub(super) const HOTPOTQA: &str = include_str!("../../../prompts/hotpotqa.toml");
pub(super) const FEVER: &str = include_str!("../../../prompts/fever.toml");
pub(super) const CHINESE: &str = include_str!("../../../prompts/hotpotqa-zh.toml");

const TEXTS: [(&str, &str); 2] = [
    ("prompts/protocols/en.toml", include_str!("../../../prompts/protocols/en.toml")),
    ("prompts/protocols/zh.toml", include_str!("../../../prompts/protocols/zh.toml")),
];

pub(super) fn builtin(path: &str) -> Option<&'static [u8]> {
    TEXTS.iter().find(|(name, _)| *name == path).map(|(_, text)| text.as_bytes())
}

/// Every protocol, with the variants that have texts of their own; and the sections of their texts.
pub(super) fn protocols() -> Vec<(Arc<dyn Protocol>, String)> {
    let option = |name: &str, value: &str| Options(BTreeMap::from([(name.to_owned(), value.to_owned())]));
    let mut all: Vec<(&str, Options)> = protocol::IDS.map(|id| (id, Options::default())).to_vec();
    all.push(("lagent", option("variant", "json")));
    all.push(("tools", option("answer", "text")));
    let found =
        |(id, options): (&str, Options)| (protocol::find(id, &options).unwrap().unwrap(), texts::section(id, &options));
    all.into_iter().map(found).collect()
}

fn shown(
    source: &PromptSource,
    (protocol, section): (&dyn Protocol, &str),
    method: Method,
) -> Result<Rendered, PromptError> {
    let texts = texts::load(None, source.language(), section, &builtin)?;
    crate::prompting::render(source, &texts, &RenderSettings { protocol, method, ..RenderSettings::default() })
}

const PAPER: (&dyn Protocol, &str) = (&react_paper::Paper, "react-paper");

#[test]
fn react_gives_every_protocol_a_complete_frame() {
    for text in [HOTPOTQA, FEVER, CHINESE] {
        let source = load_toml(text).unwrap();
        let PromptSource::File(file) = &source else { panic!("a prompt file was loaded") };
        for (protocol, section) in protocols() {
            let rendered = shown(&source, (protocol.as_ref(), &section), Method::React).unwrap();
            let frame = &rendered.frame;
            let what = format!("{} {}", file.name, section);
            assert_eq!(rendered.layout, protocol.layout(), "{what}");
            assert_eq!(rendered.exemplars, Some(file.exemplars.len()), "{what}");
            let everything = &rendered.stored;
            let task = file.task.as_deref().unwrap().trim_end();
            let question = &file.exemplars[0].question;
            match protocol.layout() {
                Layout::Text => assert!(frame.prefix.contains(question) && frame.system.is_none(), "{what}"),
                Layout::Template => {
                    assert!(frame.prefix.contains(task) && frame.prefix.contains(question), "{what}");
                    assert!(frame.prefix.ends_with("\n\nQuestion: ") && &*frame.suffix == "\nThought: ", "{what}");
                }
                Layout::System => assert!(frame.system.as_deref().unwrap().contains(task), "{what}"),
                Layout::Instruction => {
                    assert!(frame.system.as_deref().unwrap().contains("(1) Search["), "{what}");
                    assert_eq!(frame.text_for("force_stop"), file.texts["force_stop"], "{what}");
                }
            }
            let named = matches!(protocol.layout(), Layout::Template | Layout::System);
            let finishes = frame.tools.iter().any(|tool| tool.tool == Tool::Finish);
            assert_eq!(finishes, section == "tool-calls", "{what}");
            assert_eq!(frame.tools.len(), if named { 2 + usize::from(finishes) } else { 0 }, "{what}");
            let turns = matches!(protocol.layout(), Layout::System | Layout::Instruction);
            let steps: usize = file.exemplars.iter().map(|exemplar| 2 * exemplar.steps.len()).sum();
            // A call that gives the answer is answered, too.
            let steps = steps + if finishes { file.exemplars.len() } else { 0 };
            assert_eq!(frame.examples.len(), if turns { steps } else { 0 }, "{what}");
            let ids: Vec<&str> = frame.examples.iter().flat_map(|m| &m.calls).map(|call| &*call.id).collect();
            let answered: Vec<&str> = frame.examples.iter().filter_map(|m| m.answers.as_deref()).collect();
            assert_eq!(ids, answered, "{what}");
            assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), ids.len(), "{what}");
            for slot in ["{task}", "{examples}", "{query}", "{tool_desc", "{{.", "{max_steps}"] {
                assert!(!everything.contains(slot), "{what} shows {slot}");
            }
        }
    }
}

#[test]
fn digests_of_the_papers_form_do_not_change() {
    for (text, sha256) in [
        (HOTPOTQA, "1d8dc38a6b90ba41d6bec40c3706d4ea79887136a18d961ea4792f68c0970d1c"),
        (FEVER, "0bc6a538daa960cc55a7930402cec36c93ec2119ae321ff985610009d86255dd"),
    ] {
        let source = load_toml(text).unwrap();
        assert_eq!(shown(&source, PAPER, Method::React).unwrap().sha256, sha256);
    }
}

#[test]
fn act_leaves_the_thoughts_out_where_the_system_can_do_without() {
    for text in [HOTPOTQA, FEVER, CHINESE] {
        let source = load_toml(text).unwrap();
        for (protocol, section) in protocols() {
            let rendered = shown(&source, (protocol.as_ref(), &section), Method::Act);
            if !protocol.profile().acts_without_thoughts {
                let Err(error) = rendered else { panic!("{} has no form without thoughts", protocol.id()) };
                assert!(matches!(error, PromptError::NeedsThoughts(_)), "{error}");
                continue;
            }
            let stored = rendered.unwrap().stored;
            assert!(!stored.contains("Thought 1"), "{}", protocol.id());
            assert!(stored.contains("Action 1") && stored.contains("Observation 1"), "{}", protocol.id());
        }
    }
    let paper = shown(&load_toml(HOTPOTQA).unwrap(), PAPER, Method::Act).unwrap();
    let first = "\n\nQuestion: Which captain gave its name to the island where most quokkas live?\nAction 1: Search[Quokka]\n\
         Observation 1: The quokka is ";
    assert!(paper.frame.prefix.contains(first));
    assert!(paper.frame.prefix.ends_with("\nAction 3: Finish[Alpha Phoenicis]\n"));
}

#[test]
fn direct_methods_are_the_same_under_every_protocol() {
    for text in [HOTPOTQA, FEVER, CHINESE] {
        let source = load_toml(text).unwrap();
        let PromptSource::File(file) = &source else { panic!("a prompt file was loaded") };
        let (label, first) = (&file.question_label, &file.exemplars[0]);
        let (question, rationale) = (&first.question, first.rationale.as_deref().unwrap());
        for (method, example) in [
            (Method::Standard, format!("\n\n{label}: {question}\nAnswer: {}\n", first.answer)),
            (Method::Cot, format!("\n\n{label}: {question}\nThought: {rationale}\nAnswer: {}\n", first.answer)),
        ] {
            let digests: BTreeSet<String> = protocols()
                .iter()
                .map(|(protocol, section)| {
                    let rendered = shown(&source, (protocol.as_ref(), section), method).unwrap();
                    assert_eq!(rendered.layout, Layout::Text);
                    assert!(rendered.frame.prefix.contains(&example), "{method:?}: {}", &*rendered.frame.prefix);
                    assert!(!rendered.stored.contains("Search["), "{method:?}");
                    rendered.sha256
                })
                .collect();
            assert_eq!(digests.len(), 1, "{method:?}");
        }
    }
}

#[test]
fn what_cannot_be_rendered_is_named() {
    let first = "rationale = \"Most quokkas";
    assert!(HOTPOTQA.contains(first));
    let text: String = HOTPOTQA.split_inclusive('\n').filter(|line| !line.starts_with(first)).collect();
    let error = shown(&load_toml(&text).unwrap(), PAPER, Method::Cot).unwrap_err();
    assert!(error.to_string().starts_with("exemplar 1 of `"), "{error}");
    assert!(error.to_string().ends_with("has no `rationale`, which method `cot` shows the model"), "{error}");

    let (head, tail) = HOTPOTQA.split_once("task = \"\"\"").unwrap();
    let source = load_toml(&(head.to_owned() + tail.split_once("\"\"\"\n").unwrap().1)).unwrap();
    for (protocol, section) in protocols() {
        let rendered = shown(&source, (protocol.as_ref(), &section), Method::React);
        match protocol.layout() {
            Layout::Text | Layout::Instruction => assert!(rendered.is_ok(), "{}", protocol.id()),
            Layout::Template | Layout::System => {
                let Err(error) = rendered else { panic!("{} shows the task", protocol.id()) };
                assert!(matches!(error, PromptError::NoTask { .. }), "{error}");
            }
        }
    }
}

#[test]
fn a_finished_text_fits_loops_of_one_text_and_direct_methods_only() {
    let source = load_bytes("p.json", "#k", br#"{"k": "text"}"#).unwrap();
    for (protocol, section) in protocols() {
        for method in [Method::Standard, Method::Cot] {
            assert_eq!(
                shown(&source, (protocol.as_ref(), &section), method).unwrap().stored,
                "text",
                "{}",
                protocol.id()
            );
        }
        let rendered = shown(&source, (protocol.as_ref(), &section), Method::React);
        if protocol.layout() == Layout::Text {
            assert_eq!(&*rendered.unwrap().frame.prefix, "text");
        } else {
            let Err(error) = rendered else { panic!("{} has another form", protocol.id()) };
            assert!(matches!(error, PromptError::FinishedForm(..)), "{error}");
        }
    }
}
