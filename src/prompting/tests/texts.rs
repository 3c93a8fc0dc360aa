//! Files of protocol texts: errors, and where the parts of a prompt go.

use super::frames::{HOTPOTQA, builtin, protocols};
use super::{load_toml, no_builtin, refusals, with_file};
use crate::prompting::protocol::Protocol;
use crate::prompting::{Checked, PromptError, PromptSource, RenderSettings, Rendered, check, load, texts};
use std::sync::Arc;

const ENGLISH: &str = "prompts/protocols/en.toml";

pub(super) fn english() -> String {
    String::from_utf8(builtin(ENGLISH).unwrap().to_vec()).unwrap()
}

pub(super) fn protocol(section: &str) -> Arc<dyn Protocol> {
    protocols().into_iter().find(|(_, its)| its == section).unwrap().0
}

/// The sample prompt with texts of the user's.
pub(super) fn shown(texts: &str, section: &str, settings: &RenderSettings<'_>) -> Result<Rendered, PromptError> {
    let protocol = protocol(section);
    let source = load_toml(HOTPOTQA).unwrap();
    with_file("own.toml", texts.as_bytes(), |path| {
        let texts = texts::load(Some(path), "en", section, &builtin)?;
        crate::prompting::render(&source, &texts, &RenderSettings { protocol: protocol.as_ref(), ..*settings })
    })
}

fn task() -> String {
    let PromptSource::File(file) = load_toml(HOTPOTQA).unwrap() else { panic!("a prompt file was loaded") };
    file.task.unwrap()
}

#[test]
fn sections_keys_slots_and_braces_are_checked() {
    let changes = [
        ("[robust]", "[robsut]"),
        (
            "force_stop = \"No tool can be called any more. Give your conclusion",
            "force_stpo = \"No tool can be called any more. Give your conclusion",
        ),
        ("empty_reply", "empty_replay"),
        ("{tool_desc}", "{tool_descs}"),
        ("{tool_desc}", "{colour}"),
        ("{{.ToolDesc}}", "{{ .Tools }}"),
        ("{{\"query\": \"Lake Bled\"}}\n", "{\"query\": \"Lake Bled\"}\n"),
        ("{query}", "{query} {query}"),
        ("Thought: \"\"\"", "Thought: \n\"\"\""),
        ("feedback = \"{error}. Correct", "feedback = \"{erorr}. Correct"),
    ];
    insta::assert_snapshot!(refusals("own.toml", &english(), &changes, |path| texts::load_file(path, &no_builtin)));
}

#[test]
fn a_file_of_texts_is_no_prompt_and_is_checked_as_what_it_is() {
    let error = load(ENGLISH, None, &builtin).unwrap_err();
    assert_eq!(error.to_string(), "`prompts/protocols/en.toml` contains protocol texts, not a prompt");
    assert_eq!(error.hint(), "pass it next to a prompt: --texts prompts/protocols/en.toml");
    for path in [ENGLISH, "prompts/protocols/zh.toml"] {
        let Checked::Texts(file) = check(path, &builtin).unwrap() else { panic!("{path} holds texts") };
        let all = [
            "go-blog",
            "lagent",
            "lagent-json",
            "llama-index",
            "qwen-agent",
            "robust",
            "tool-calls",
            "tool-calls-text",
        ];
        assert_eq!(file.sections().collect::<Vec<_>>(), all);
        assert_eq!(Some(&path[18..20]), file.language.as_deref());
        assert!(file.tools.is_some());
    }
}

#[test]
fn sections_that_are_not_there_are_asked_for() {
    let settings = RenderSettings::default();
    let error = shown("[robust]\nfeedback = \"no\"\nforce_stop = \"now\"\n", "lagent", &settings).unwrap_err();
    assert!(error.to_string().ends_with("has no section [lagent]; it has: robust"), "{error}");
    let error = shown(&english(), "react-paper", &settings).unwrap_err();
    assert_eq!(error.to_string(), "protocol `react-paper` has no texts of its own to replace");
}

#[test]
fn a_template_without_task_and_examples_is_shown_without_them() {
    let template = "[qwen-agent]\ntemplate = \"\"\"Tools: {tool_names} {{}}\nQuestion: {query}\nThought: \"\"\"\n";
    let rendered = shown(template, "qwen-agent", &RenderSettings::default()).unwrap();
    assert!(rendered.frame.prefix.starts_with("Tools: ") && rendered.frame.prefix.ends_with(" {}\nQuestion: "));
    assert_eq!((&*rendered.frame.suffix, rendered.frame.system.clone()), ("\nThought: ", None));
    assert_eq!(rendered.exemplars, Some(0));
    let tools: Vec<_> = rendered.frame.tools.iter().map(|tool| tool.description.as_str()).collect();
    assert!(tools[0].starts_with("Opens the Wikipedia page"), "ours are used: {tools:?}");

    let with_system = format!("{template}system = \"\"\"Your task: {{task}}\"\"\"\n");
    let rendered = shown(&with_system, "qwen-agent", &RenderSettings::default()).unwrap();
    assert_eq!(rendered.frame.system.as_deref(), Some(&*format!("Your task: {}", task())));

    let error = shown(template, "qwen-agent", &RenderSettings { shots: Some(2), ..RenderSettings::default() });
    let error = error.unwrap_err();
    assert!(
        error.to_string().contains("`template` of `") && error.to_string().ends_with("no slot {examples} for 2 shots")
    );
    let none = RenderSettings { shots: Some(0), ..RenderSettings::default() };
    assert!(shown(template, "qwen-agent", &none).is_ok());
}

#[test]
fn the_task_goes_where_the_systems_words_have_a_place_for_it() {
    let none = RenderSettings { shots: Some(0), ..RenderSettings::default() };
    let occasions = "feedback = \"{error}\"\nempty_reply = \"!\"\nforce_stop = \"after {max_iterations}\"\n";
    let plain = format!("[llama-index]\nsystem = \"{{tool_names}}|{{context_prompt}}|\"\n{occasions}");
    let system = |text: &str, section: &str| shown(text, section, &none).unwrap().frame.system.unwrap().to_string();
    assert!(system(&plain, "llama-index").ends_with("||"));
    let with_context = format!("{plain}context = \"Context: {{context}}\"\n");
    assert!(system(&with_context, "llama-index").ends_with(&format!("|Context: {}|", task())));
    let both = with_context.replace("|\"\n", "|{task}\"\n");
    assert!(system(&both, "llama-index").ends_with(&format!("||{}", task())));

    let frame = shown(&plain, "llama-index", &RenderSettings { max_steps: 9, ..none }).unwrap().frame;
    assert_eq!((frame.text_for("feedback"), frame.text_for("force_stop")), ("{error}", "after 9"));
    assert!(frame.examples.is_empty());

    let go = "[go-blog]\nsystem = \"## {{ .Background }} {not a slot}\"\nfeedback = \"Error: {error}\"\n";
    assert_eq!(system(go, "go-blog"), format!("## {} {{not a slot}}", task()));
    let lagent = "[lagent]\nsystem = \"Begin!\"\nforce_stop = \"now\"\n";
    assert_eq!(system(lagent, "lagent"), "Begin!");
}

#[test]
fn what_is_said_on_occasions_comes_from_the_user_then_the_prompt_then_us() {
    let own = "[robust]\nfeedback = \"{{error}} is {error}\"\nforce_stop = \"Stop!\"\n";
    let frame = shown(own, "robust", &RenderSettings::default()).unwrap().frame;
    assert_eq!((frame.text_for("feedback"), frame.text_for("force_stop")), ("{error} is {error}", "Stop!"));

    let protocol = protocol("robust");
    let said = |prompt: &str| {
        let texts = texts::load(None, "en", "robust", &builtin).unwrap();
        let settings = RenderSettings { protocol: protocol.as_ref(), ..RenderSettings::default() };
        let frame = crate::prompting::render(&load_toml(prompt).unwrap(), &texts, &settings).unwrap().frame;
        (frame.text_for("feedback").to_owned(), frame.text_for("force_stop").to_owned())
    };
    let (feedback, force_stop) = said(super::SOUND);
    assert_eq!(force_stop, "Answer now.");
    assert!(feedback.starts_with("Error: {error}. ") && feedback.contains("Action {n}"), "{feedback}");
}
