//! A prompt file of our own form, as it stands after reading.

use super::exemplar::{self, Exemplar};
use super::problem::ProblemKind;
use super::problems::{Problems, closest, quoted};
use super::reader::{Reader, Section};
use super::template::{self, ToolTexts};
use std::collections::BTreeMap;

/// The prompting methods that a file can hold an instruction for.
pub const METHODS: [&str; 4] = ["react", "act", "cot", "standard"];

/// The labels that may stand before a question.
pub const QUESTION_LABELS: [&str; 2] = ["Question", "Claim"];

/// A prompt file: who it is for, what the model is told, and solved examples. `prompts/README.md` explains
/// each key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptFile {
    /// The file as it was named, for messages.
    pub file: String,
    /// Short name of the prompt.
    pub name: String,
    /// Language of the texts, such as `en`.
    pub language: String,
    /// Label before a question, one of [`QUESTION_LABELS`].
    pub question_label: String,
    /// What is to be done and how the answer looks, whatever the protocol; needed by those with named tools.
    pub task: Option<String>,
    /// Instructions by method, keys out of [`METHODS`].
    pub instructions: BTreeMap<String, Instruction>,
    /// What the tools do, in words for the model.
    pub tools: Option<ToolTexts>,
    /// What is said to the model on particular occasions.
    pub texts: Texts,
    /// Solved examples, in the file's order.
    pub exemplars: Vec<Exemplar>,
}

/// The instruction of one method: a template with the placeholders `question_label`, `max_steps` and `tools`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Instruction {
    /// The template's source.
    pub template: String,
}

/// Texts for particular occasions; protocols that need one that is missing use their own.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Texts {
    /// Said before the last step, so that the model answers now.
    pub force_stop: Option<String>,
    /// Said after a reply that holds no action.
    pub feedback: Option<String>,
}

impl PromptFile {
    /// Reads a prompt file from its text; `file` names it in messages. All problems are found in one pass.
    pub(super) fn parse(file: &str, text: &str) -> Result<Self, Problems<ProblemKind>> {
        let tree = Reader::parse(file, text)?;
        let mut reader = Reader::new(file, text);
        let root = reader.root(tree.get_ref());
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
            exemplars: exemplar::read_all(&mut reader, &root),
        };
        if reader.is_clean() { Ok(prompt) } else { Err(reader.into_problems()) }
    }
}

fn read_label(reader: &mut Reader<'_>, root: &Section<'_>) -> Option<String> {
    let label = reader.required_text(root, "question_label")?;
    if !QUESTION_LABELS.contains(&label.as_str()) {
        let suggestion = closest(&label, QUESTION_LABELS);
        let kind = ProblemKind::UnknownLabel { label: quoted(&label), suggestion };
        reader.note(root.line_of("question_label"), kind);
    }
    Some(label)
}

fn read_instructions(
    reader: &mut Reader<'_>,
    root: &Section<'_>,
    tools: Option<&ToolTexts>,
) -> BTreeMap<String, Instruction> {
    let mut instructions = BTreeMap::new();
    if !root.has("instruction") {
        reader.note(root.line(), ProblemKind::MissingKey("instruction".into()));
    }
    let Some(section) = reader.table(root, "instruction") else { return instructions };
    reader.known_keys(&section, &METHODS);
    if !section.keys().any(|key| METHODS.contains(&key)) {
        reader.note(section.line(), ProblemKind::MissingKey("instruction.react".into()));
    }
    for method in METHODS.into_iter().filter(|method| section.has(method)) {
        if let Some(text) = reader.required_text(&section, method) {
            template::check(reader, &section, method, &text, tools);
            instructions.insert(method.to_owned(), Instruction { template: text });
        }
    }
    instructions
}

fn read_tools(reader: &mut Reader<'_>, root: &Section<'_>) -> Option<ToolTexts> {
    let section = reader.table(root, "tools")?;
    reader.known_keys(&section, &["search", "lookup", "finish"]);
    let mut text = |key| reader.required_line(&section, key).unwrap_or_default();
    Some(ToolTexts { search: text("search"), lookup: text("lookup"), finish: text("finish") })
}

fn read_texts(reader: &mut Reader<'_>, root: &Section<'_>) -> Texts {
    let Some(section) = reader.table(root, "texts") else { return Texts::default() };
    reader.known_keys(&section, &["force_stop", "feedback"]);
    Texts { force_stop: reader.string(&section, "force_stop"), feedback: reader.string(&section, "feedback") }
}
