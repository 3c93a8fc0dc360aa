//! The systems' original texts from recordings are rendered byte for byte.

use super::shared;
use super::texts::{english, protocol, shown};
use crate::prompting::RenderSettings;
use crate::prompting::protocol::Frame;
use serde_json::Value;

fn golden(file: &str, line: usize) -> Value {
    let text = shared::text(&format!("golden/protocols/{file}"));
    serde_json::from_str(text.lines().nth(line).unwrap()).unwrap()
}

/// The text between two pieces.
fn between<'a>(text: &'a str, from: &str, to: &str) -> &'a str {
    text.split_once(from).unwrap().1.split_once(to).unwrap().0
}

/// A recorded text as a TOML string, with slots in the places of `cuts` as `str.format` would have them; and the same
/// text with values there.
fn recorded(text: &str, cuts: &[(&str, &str, &str)]) -> (String, String) {
    let doubled = |text: &str| text.replace('{', "{{").replace('}', "}}");
    let (mut template, mut expected) = (doubled(text), text.to_owned());
    for (from, slot, value) in cuts {
        assert!(expected.contains(from), "{from}");
        template = template.replacen(&doubled(from), slot, 1);
        expected = expected.replacen(from, value, 1);
    }
    (toml::Value::String(template).to_string(), expected)
}

/// What a protocol fills a slot with, for our two tools.
fn value(section: &str, name: &str) -> String {
    let tools = frame(&english(), "lagent").tools;
    let slots = protocol(section).slots(&tools);
    slots.into_iter().find(|(slot, _)| *slot == name).unwrap().1
}

fn frame(texts: &str, section: &str) -> Frame {
    shown(texts, section, &RenderSettings { shots: Some(0), ..RenderSettings::default() }).unwrap().frame
}

#[test]
#[cfg_attr(not(shared), ignore = "needs ../shared")]
fn llama_index() {
    let line = golden("llama_index.format.jsonl", 1);
    let text = line["result"][0]["content"].as_str().unwrap();
    let desc = between(text, "following tools:\n", "\n\n\n## Output Format");
    let ours = value("llama-index", "tool_desc");
    let (system, expected) =
        recorded(text, &[(desc, "{tool_desc}", &ours), ("add, search", "{tool_names}", "Search, Lookup")]);
    let rest = "feedback = \"{error}\"\nempty_reply = \"!\"\nforce_stop = \"!\"\n";
    let frame = frame(&format!("[llama-index]\nsystem = {system}\n{rest}"), "llama-index");
    assert_eq!(frame.system.as_deref(), Some(expected.as_str()));
}

#[test]
#[cfg_attr(not(shared), ignore = "needs ../shared")]
fn lagent() {
    let line = golden("lagent.format.jsonl", 0);
    let text = line["result"][0]["content"].as_str().unwrap();
    let (described, names) = (value("lagent", "tool_description"), value("lagent", "action_names"));
    let (system, expected) = recorded(
        text,
        &[
            (line["actions_info"].as_str().unwrap(), "{tool_description}", &described),
            ("['WikiSearch']", "{action_names}", &names),
            ("Final Answer:", "{finish}", "Final Answer:"),
        ],
    );
    let frame = frame(&format!("[lagent]\nsystem = {system}\nforce_stop = \"!\"\n"), "lagent");
    assert_eq!(frame.system.as_deref(), Some(expected.as_str()));
}

#[test]
#[cfg_attr(not(shared), ignore = "needs ../shared")]
fn qwen_agent() {
    let line = golden("qwen_agent.traces.jsonl", 0);
    let text = line["llm_inputs"][0][0]["content"].as_str().unwrap();
    let descs = between(text, "following tools:\n\n", "\n\nUse the following format");
    let names = between(text, "should be one of [", "]\n");
    let ours = value("qwen-agent", "tool_descs");
    let cuts = [
        (descs, "{tool_descs}", ours.as_str()),
        (names, "{tool_names}", "Search,Lookup"),
        (line["query"].as_str().unwrap(), "{query}", "Who?"),
    ];
    let (template, expected) = recorded(text, &cuts);
    let frame = frame(&format!("[qwen-agent]\ntemplate = {template}\n"), "qwen-agent");
    assert_eq!(format!("{}Who?{}", &*frame.prefix, frame.suffix), expected);
}
