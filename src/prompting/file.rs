//! Prompt files in TOML, with their exemplars: solved questions shown to the model.

use super::reader::{Fault, Problems, Reader, Table, quoted};
use super::texts::{self, KeyForm};
use crate::base::Tool;
use crate::base::python::lower_first;
use crate::prompting::protocol::ToolTexts;
use std::collections::{BTreeMap, HashMap};

/// The prompting methods that a file can hold an instruction for.
pub const METHODS: [&str; 4] = ["react", "act", "cot", "standard"];

/// What is sent before the last step, so that the model answers now, and after a reply without an action.
const TEXTS: [&str; 2] = ["force_stop", "feedback"];

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
    /// Messages to the model, keys out of [`TEXTS`]; protocols have their own where one is missing.
    pub texts: BTreeMap<&'static str, String>,
    pub exemplars: Vec<Exemplar>,
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
            exemplars: read_exemplars(&mut reader, &root),
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
    let described = [Tool::Search, Tool::Lookup, Tool::Passages, Tool::Document, Tool::Finish];
    reader.known_keys(&section, &described.map(Tool::name));
    // A prompt for passages need not describe the usual tools.
    let usual = !section.has(Tool::Passages.name());
    let mut tools = ToolTexts::default();
    for tool in described {
        let needed = usual && matches!(tool, Tool::Search | Tool::Lookup) || tool == Tool::Finish;
        if needed || section.has(tool.name()) {
            let text = reader.required_line(&section, tool.name()).unwrap_or_default();
            tools.0.insert(tool, (text, String::new()));
        }
    }
    Some(tools)
}

fn read_texts(reader: &mut Reader<'_>, root: &Table<'_>) -> BTreeMap<&'static str, String> {
    let Some(section) = reader.section(root, "texts") else { return BTreeMap::new() };
    reader.known_keys(&section, &TEXTS);
    TEXTS.into_iter().filter_map(|key| Some((key, reader.string(&section, key)?))).collect()
}

// Exemplars and their rules.

/// A solved question, from which every method and protocol renders its own example.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exemplar {
    /// What the exemplar demonstrates, such as `bridge` or `missed search`; for readers only.
    pub covers: Option<String>,
    pub question: String,
    /// The reasoning in one paragraph, for methods without tools.
    pub rationale: Option<String>,
    /// The answer, equal to the argument of the last step's `Finish[…]`.
    pub answer: String,
    /// The steps, numbered by position; the last one finishes and is the only one without observation.
    pub steps: Vec<ExemplarStep>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExemplarStep {
    pub thought: String,
    /// The action, such as `Search[Lake Bled]`, one line.
    pub action: String,
    /// The observation; absent in the last step.
    pub observation: Option<String>,
}

impl Exemplar {
    pub fn tools(&self) -> impl Iterator<Item = Tool> {
        self.steps.iter().map(|step| parse_action(&step.action).0)
    }
}

fn read_exemplars(reader: &mut Reader<'_>, file: &Table<'_>) -> Vec<Exemplar> {
    if !file.has("exemplar") {
        let hint = "add [[exemplar]] blocks, or write `exemplar = []` for a prompt without examples";
        reader.note(file.line(), Fault::from("missing key `exemplar`".to_owned()).hint(hint));
    }
    let sections = reader.sections(file, "exemplar");
    let mut first_lines = HashMap::new();
    let mut exemplars = Vec::with_capacity(sections.len());
    for section in sections {
        reader.known_keys(&section, &["covers", "question", "rationale", "answer", "step"]);
        let question = reader.required_line(&section, "question");
        if let Some(question) = &question {
            let line = reader.line_in(&section, "question");
            let first_line = *first_lines.entry(question.clone()).or_insert(line);
            if first_line != line {
                let key = section.path("question");
                reader.note(line, format!("`{key}` repeats the question of line {first_line}"));
            }
        }
        let answer = reader.required_line(&section, "answer");
        exemplars.push(Exemplar {
            covers: reader.string(&section, "covers"),
            rationale: reader.string(&section, "rationale"),
            steps: read_steps(reader, &section, answer.as_deref()),
            question: question.unwrap_or_default(),
            answer: answer.unwrap_or_default(),
        });
    }
    exemplars
}

fn read_steps(reader: &mut Reader<'_>, exemplar: &Table<'_>, answer: Option<&str>) -> Vec<ExemplarStep> {
    let sections = reader.sections(exemplar, "step");
    if sections.is_empty() {
        reader.note(exemplar.line(), format!("`{}` has no steps", exemplar.name()));
    }
    let last = sections.len().saturating_sub(1);
    sections
        .iter()
        .enumerate()
        .map(|(i, section)| {
            reader.known_keys(section, &["thought", "action", "observation"]);
            let step = ExemplarStep {
                thought: reader.required_line(section, "thought").unwrap_or_default(),
                action: read_action(reader, section, i == last, answer).unwrap_or_default(),
                observation: reader.string(section, "observation"),
            };
            if i < last && !section.has("observation") {
                reader.missing(section, "observation");
            }
            if i == last && section.has("observation") {
                let key = section.path("observation");
                let fault = Fault::from(format!("`{key}` is never shown: the step finishes the exemplar"));
                let hint = "leave the observation of the last step out";
                reader.note(reader.line_in(section, "observation"), fault.hint(hint));
            }
            step
        })
        .collect()
}

fn read_action(reader: &mut Reader<'_>, section: &Table<'_>, last: bool, answer: Option<&str>) -> Option<String> {
    let action = reader.required_line(section, "action")?;
    let key = section.path("action");
    let shown = quoted(&action);
    let (tool, input) = parse_action(&action);
    let fault = match tool {
        Tool::Invalid | Tool::Other | Tool::Think => Fault::from(format!("`{key}` is not an action: `{shown}`"))
            .hint("write Search[…], Lookup[…] or Finish[…], and nothing after it; Passages[…] and Document[…] with `--tools passages,document`"),
        Tool::Finish if !last => format!("`{key}` finishes, but steps follow").into(),
        Tool::Search | Tool::Lookup | Tool::Passages | Tool::Document if last => {
            Fault::from(format!("the last step's action `{shown}` is not `Finish[…]` (`{key}`)"))
                .hint("end every exemplar with Finish[answer]")
        }
        Tool::Finish if answer.is_some_and(|answer| answer != input) => {
            let (finished, answer) = (quoted(&input), quoted(answer.unwrap_or_default()));
            Fault::from(format!("`{key}` finishes with `{finished}`, but the exemplar's answer is `{answer}`"))
                .hint("both must be the same text")
        }
        Tool::Search | Tool::Lookup | Tool::Passages | Tool::Document | Tool::Finish => return Some(action),
    };
    reader.note(reader.line_in(section, "action"), fault);
    Some(action)
}

/// Parses an action as the paper's loop does: the first letter may be upper case.
pub fn parse_action(action: &str) -> (Tool, String) {
    let lowered = lower_first(action);
    // The model would imitate white space around an action.
    if lowered.trim() != lowered {
        return (Tool::Invalid, lowered);
    }
    let (tool, input) = Tool::parse_action(&lowered);
    // The paper's environment does not know these.
    let others = [("passages[", Tool::Passages), ("document[", Tool::Document)];
    let (tool, input) = Tool::in_brackets(&lowered, &others).unwrap_or((tool, input));
    (tool, input.to_owned())
}
