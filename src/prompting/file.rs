//! Prompt files in TOML.

use super::exemplar::{self, Exemplar};
use super::reader::{Fault, Problems, Reader, Table};
use super::texts::{self, KeyForm};
use crate::prompting::protocol::ToolTexts;
use std::collections::BTreeMap;

/// The prompting methods that a file can hold an instruction for.
pub const METHODS: [&str; 4] = ["react", "act", "cot", "standard"];

pub const QUESTION_LABELS: [&str; 2] = ["Question", "Claim"];

pub(super) const HELP: &str = "`wikitrail docs prompts` explains the file key by key";

/// A prompt file: instructions and solved examples. `prompts/README.md` explains each key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptFile {
    pub file: String,
    pub name: String,
    pub language: String,
    /// Label before a question, one of [`QUESTION_LABELS`].
    pub question_label: String,
    /// The task and the form of the answer; needed by protocols with named tools.
    pub task: Option<String>,
    /// Instructions by method, keys out of [`METHODS`]: templates with `question_label`, `max_steps` and `tools`.
    pub instructions: BTreeMap<String, String>,
    /// Descriptions of the tools; each continues a sentence that begins with the action (`Search[title] …`).
    pub tools: Option<ToolTexts>,
    pub texts: Texts,
    pub exemplars: Vec<Exemplar>,
}

/// Optional messages to the model; protocols have their own where one is missing.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Texts {
    /// Sent before the last step, so that the model answers now.
    pub force_stop: Option<String>,
    /// Sent after a reply without an action.
    pub feedback: Option<String>,
}

impl PromptFile {
    /// Reads a prompt file from its text; `file` names it in messages. All problems are found in one pass.
    pub(super) fn parse(file: &str, text: &str) -> Result<Self, Problems> {
        let (mut reader, tree) = Reader::parse(file, text, HELP)?;
        let root = Reader::root(tree.get_ref());
        let known = ["name", "language", "question_label", "task", "instruction", "tools", "texts", "exemplar"];
        reader.known_keys(&root, &known);
        let tools = read_tools(&mut reader, &root);
        let prompt = Self {
            file: file.to_owned(),
            name: reader.required_line(&root, "name").unwrap_or_default(),
            language: reader.required_line(&root, "language").unwrap_or_default(),
            question_label: read_label(&mut reader, &root).unwrap_or_default(),
            task: root.has("task").then(|| reader.required_text(&root, "task")).flatten(),
            instructions: read_instructions(&mut reader, &root, tools.as_ref()),
            tools,
            texts: read_texts(&mut reader, &root),
            exemplars: exemplar::read_exemplars(&mut reader, &root),
        };
        if reader.is_clean() { Ok(prompt) } else { Err(reader.into_problems()) }
    }
}

fn read_label(reader: &mut Reader<'_>, root: &Table<'_>) -> Option<String> {
    let label = reader.required_text(root, "question_label")?;
    let line = reader.line_in(root, "question_label");
    reader.known("question_label", line, &label, "label", &QUESTION_LABELS);
    Some(label)
}

fn read_instructions(reader: &mut Reader<'_>, root: &Table<'_>, tools: Option<&ToolTexts>) -> BTreeMap<String, String> {
    let mut instructions = BTreeMap::new();
    if !root.has("instruction") {
        reader.missing(root, "instruction");
    }
    let Some(section) = reader.section(root, "instruction") else { return instructions };
    reader.known_keys(&section, &METHODS);
    if !METHODS.into_iter().any(|method| section.has(method)) {
        reader.missing(&section, "react");
    }
    for method in METHODS.into_iter().filter(|method| section.has(method)) {
        let Some((text, slotted)) = texts::read_text(reader, &section, &KeyForm::instruction(method)) else { continue };
        if tools.is_none() && slotted.has("tools") {
            let key = section.path(method);
            let fault = Fault::from(format!("`{key}` uses the placeholder `tools`, but the file has no [tools]"));
            let line = reader.line_in_value(&section, method, |source| texts::find_slot(source, "tools"));
            reader.note(line, fault.hint("add [tools] with search, lookup and finish"));
        }
        instructions.insert(method.to_owned(), text);
    }
    instructions
}

fn read_tools(reader: &mut Reader<'_>, root: &Table<'_>) -> Option<ToolTexts> {
    let section = reader.section(root, "tools")?;
    reader.known_keys(&section, &["search", "lookup", "finish"]);
    let mut text = |key| reader.required_line(&section, key).unwrap_or_default();
    let (search, lookup, finish) = (text("search"), text("lookup"), text("finish"));
    Some(ToolTexts { search, lookup, finish, ..ToolTexts::default() })
}

fn read_texts(reader: &mut Reader<'_>, root: &Table<'_>) -> Texts {
    let Some(section) = reader.section(root, "texts") else { return Texts::default() };
    reader.known_keys(&section, &["force_stop", "feedback"]);
    Texts { force_stop: reader.string(&section, "force_stop"), feedback: reader.string(&section, "feedback") }
}
