//! Reads and checks the prompt that the command line or an experiment names; finished texts among them.

use super::bytes::{BuiltIn, PromptError, ends_with, read, read_instruction, split_key, text_of};
use super::file::PromptFile;
use super::reader::{Fault, Problem, Problems, quoted};
use super::texts::{self, Slotted, Style, TextsFile, braced};
use crate::base::json_error;
use crate::base::text::{closest, is_chinese};
use crate::prompting::protocol::ToolTexts;
use serde_json::Value;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::HashMap;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PromptSource {
    File(Box<PromptFile>),
    /// A finished text: one of the paper's, or a plain one.
    Text(FinishedText),
}

/// Reads and checks the prompt that `spec` names: a path that ends in `.toml` or `.txt`, or `FILE.json#KEY` of the paper's
/// files, whose text follows the text of the file `instruction`. `builtin` provides files that are not on disk.
///
/// A byte order mark is dropped; finished texts and instruction files are otherwise used byte for byte.
pub fn load(spec: &str, instruction: Option<&str>, builtin: BuiltIn<'_>) -> Result<PromptSource, PromptError> {
    if let Some((file, key)) = split_key(spec) {
        let json = read(file, builtin)?;
        let text = finished_text(file, text_of(file, &json)?, key)?;
        let text = instruction.map(read_instruction).transpose()?.unwrap_or_default() + &text;
        return Ok(PromptSource::Text(FinishedText { spec: spec.to_owned(), text, plain: None }));
    }
    let is_plain = ends_with(spec, ".txt");
    if !is_plain && !ends_with(spec, ".toml") {
        return Err(PromptError::UnknownKind(spec.to_owned()));
    }
    let bytes = read(spec, builtin)?;
    if let Some(instruction) = instruction {
        return Err(PromptError::InstructionNotTaken(spec.to_owned(), instruction.to_owned()));
    }
    // A checkout with Windows line ends is the same prompt and must have the same digest.
    let text = text_of(spec, &bytes)?.replace("\r\n", "\n");
    if is_plain {
        let plain = Some(Plain::parse(spec, &text, builtin)?);
        return Ok(PromptSource::Text(FinishedText { spec: spec.to_owned(), text, plain }));
    }
    if texts::holds_texts(&text) {
        return Err(PromptError::TextsNoPrompt(spec.to_owned()));
    }
    let file = PromptFile::parse(spec, &text).map_err(PromptError::Invalid)?;
    Ok(PromptSource::File(Box::new(file)))
}

/// The bytes of a prompt's file, or the entry of a JSON file as an object; unchecked, so that faulty files can be looked at.
pub fn source(spec: &str, builtin: BuiltIn<'_>) -> Result<Cow<'static, [u8]>, PromptError> {
    let Some((file, key)) = split_key(spec) else {
        if !ends_with(spec, ".toml") && !ends_with(spec, ".txt") {
            return Err(PromptError::UnknownKind(spec.to_owned()));
        }
        return read(spec, builtin);
    };
    let json = read(file, builtin)?;
    Ok(Cow::Owned(finished_entry(file, text_of(file, &json)?, key)?.into_bytes()))
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Checked {
    Prompt(PromptSource),
    Texts(Box<TextsFile>),
}

/// Reads and checks a prompt or a file of protocol texts, whichever it is.
pub fn check(spec: &str, builtin: BuiltIn<'_>) -> Result<Checked, PromptError> {
    match load(spec, None, builtin) {
        Ok(source) => Ok(Checked::Prompt(source)),
        Err(PromptError::TextsNoPrompt(_)) => {
            texts::load_file(spec, builtin).map(|file| Checked::Texts(Box::new(file)))
        }
        Err(error) => Err(error),
    }
}

/// The file that a prompt's name leads to: all of it, or what stands before its key.
pub fn file_of(spec: &str) -> &str {
    split_key(spec).map_or(spec, |(file, _)| file)
}

impl PromptSource {
    /// Label before a question, `Question` or `Claim`; unknown for a finished text.
    pub fn question_label(&self) -> Option<&str> {
        match self {
            Self::File(file) => Some(&file.question_label),
            Self::Text(_) => None,
        }
    }

    /// Language of the texts; a text of the paper's counts as English.
    pub fn language(&self) -> &str {
        match self {
            Self::File(file) => &file.language,
            Self::Text(text) => text.language(),
        }
    }

    /// The prompt's short name: the file's own, or `FILE.json#KEY` or `FILE.txt` as it was named.
    pub fn name(&self) -> &str {
        match self {
            Self::File(file) => &file.name,
            Self::Text(text) => &text.spec,
        }
    }
}

// Plain texts as prompts: a `.txt` file with the placeholders `{question}` and `{tools}`; and the paper's finished texts.

pub(super) const QUESTION: &str = "question";
const TOOLS: &str = "tools";
const PLACEHOLDERS: [&str; 2] = [QUESTION, TOOLS];
const HELP: &str = "a plain text may have the placeholders {question}, once, and {tools}";

/// The prompts whose words describe the tools, in English and in Chinese.
const DESCRIBED_IN: [&str; 2] = ["prompts/hotpotqa.toml", "prompts/hotpotqa-zh.toml"];

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Plain {
    pub(super) slotted: Slotted,
    /// What the tools do, in English and in Chinese; empty where the text does not ask for it.
    pub(super) tools: Vec<ToolTexts>,
}

impl Plain {
    pub(super) fn parse(file: &str, text: &str, builtin: BuiltIn<'_>) -> Result<Self, PromptError> {
        let list = problems(file, text);
        if !list.is_empty() {
            return Err(PromptError::Invalid(Problems { list, help: HELP }));
        }
        let bad = |reason| PromptError::Plain { file: file.to_owned(), reason };
        let slotted = Slotted::parse(text, Style::Plain).map_err(|slot| bad(slot.reason))?;
        let tools = if slotted.has(TOOLS) { described(builtin)? } else { Vec::new() };
        Ok(Self { slotted, tools })
    }
}

fn described(builtin: BuiltIn<'_>) -> Result<Vec<ToolTexts>, PromptError> {
    let mut described = Vec::new();
    for file in DESCRIBED_IN {
        let text = builtin(file).map(|bytes| text_of(file, bytes)).transpose()?.unwrap_or_default();
        described.extend(PromptFile::parse(file, text).map_err(PromptError::Invalid)?.tools);
    }
    Ok(described)
}

fn problems(file: &str, text: &str) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut note = |at: usize, fault: Fault| {
        let line = 1 + text[..at].matches('\n').count();
        problems.push((at, fault.at(file, line)));
    };
    let column = |at: usize| text[..at].rsplit('\n').next().map_or(1, |before| 1 + before.chars().count());
    let slots = || braced(text).filter(|word| !word.doubled);
    // A few are enough; a text of something else may have thousands.
    for word in slots().filter(|word| !PLACEHOLDERS.contains(&word.name)).take(20) {
        let name = quoted(word.name);
        let fault = Fault::from(format!("unknown placeholder `{{{name}}}` in column {}", column(word.at)));
        note(
            word.at,
            match closest(word.name, PLACEHOLDERS) {
                Some(known) => fault.hint(format!("did you mean `{{{known}}}`?")),
                None => fault.hint(format!(
                    "write {{{{{name}}}}} for the text {{{name}}}; the placeholders are {{question}} and {{tools}}"
                )),
            },
        );
    }
    for word in slots().filter(|word| word.name == QUESTION).skip(1).take(1) {
        let fault = Fault::from(format!("`{{question}}` a second time, in column {}", column(word.at)));
        note(word.at, fault.hint("keep the one after which the model continues"));
    }
    // As other systems write them; the text would show the model a pair of braces.
    for name in PLACEHOLDERS.into_iter().filter(|name| slots().all(|word| word.name != *name)) {
        let doubled = |at: &usize| text[at + 2..].split_once("}}").is_some_and(|(inner, _)| inner.trim() == name);
        if let Some(at) = text.match_indices("{{").map(|(at, _)| at).find(doubled) {
            let fault = Fault::from(format!("doubled braces around `{name}` in column {} make it a text", column(at)));
            note(at, fault.hint(format!("write {{{name}}}")));
        }
    }
    problems.sort_by_key(|(at, _)| *at);
    problems.into_iter().map(|(_, problem)| problem).collect()
}

/// A finished prompt text: one of the paper's, used byte for byte, or a plain one, whose placeholders are filled in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FinishedText {
    /// `FILE.json#KEY` or `FILE.txt`, as it was named.
    pub spec: String,
    /// The file's text; of a key, directly after that of the instruction file.
    pub text: String,
    pub(super) plain: Option<Plain>,
}

impl FinishedText {
    /// Whether it is a plain text, which fits conversations too.
    pub fn is_plain(&self) -> bool {
        self.plain.is_some()
    }

    /// Whether it says itself where the question stands.
    pub fn has_question(&self) -> bool {
        self.plain.as_ref().is_some_and(|plain| plain.slotted.has(QUESTION))
    }

    /// A plain text in Chinese characters counts as Chinese, everything else as English.
    pub(super) fn language(&self) -> &'static str {
        if self.is_plain() && is_chinese(&self.text) { "zh" } else { "en" }
    }
}

/// Reads the text under `key` from the JSON object `json`; `file` names it in messages.
fn finished_text(file: &str, json: &str, key: &str) -> Result<String, PromptError> {
    let file_name = || file.to_owned();
    let value: Value = serde_json::from_str(json).map_err(|error| PromptError::NotJson {
        file: file_name(),
        line: error.line(),
        reason: quoted(&json_error::without_place(&error)),
    })?;
    let Value::Object(mut texts) = value else {
        return Err(PromptError::NotAnObject(file_name(), type_of(&value)));
    };
    match texts.get_mut(key).map(Value::take) {
        Some(Value::String(text)) if text.is_empty() => Err(PromptError::EmptyKey(file_name(), quoted(key))),
        Some(Value::String(text)) => Ok(text),
        Some(other) => Err(PromptError::NotText { file: file_name(), key: quoted(key), found: type_of(&other) }),
        None => Err(PromptError::NoSuchKey {
            file: file_name(),
            key: quoted(key),
            available: first_keys(texts.keys()),
            suggestion: closest(key, texts.keys().map(String::as_str)).map(quoted),
        }),
    }
}

/// The entry of `key` as an object of its own, its value written as it is in the file.
fn finished_entry(file: &str, json: &str, key: &str) -> Result<String, PromptError> {
    finished_text(file, json, key)?;
    // What was read once reads again; of a repeated key, both take the last.
    let raw: HashMap<String, Box<RawValue>> = serde_json::from_str(json).unwrap_or_default();
    let text = raw.get(key).map_or("", |value| value.get());
    Ok(format!("{{{}: {text}}}\n", Value::from(key)))
}

fn first_keys<'a>(keys: impl ExactSizeIterator<Item = &'a String>) -> String {
    let count = keys.len();
    let text = keys.take(20).map(|key| quoted(key)).collect::<Vec<_>>().join(", ");
    match count {
        0 => "none".into(),
        1..=20 => text,
        _ => format!("{text} and {} more", count - 20),
    }
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use super::Plain;

    fn refused(text: &str) -> String {
        let error = Plain::parse("p.txt", text, &|_| None).expect_err(text);
        format!("{error}\nhint: {}", error.hint())
    }

    #[test]
    fn placeholders_are_words_in_single_braces() {
        let text = "{\"a\": {}} {{word}} {0} { x } \\d{2} {question}";
        let plain = Plain::parse("p.txt", text, &|_| None).expect("sound");
        let (before, after) = plain.slotted.split_at("question").expect("a question");
        assert_eq!(before.fill(|_| None).expect("a text"), "{\"a\": {}} {word} {0} { x } \\d{2} ");
        assert_eq!(after.fill(|_| None).expect("a text"), "");
    }

    #[test]
    fn mistakes_have_line_and_column() {
        for (text, message) in [
            (
                "One\né {qestion}\n",
                "p.txt:2: unknown placeholder `{qestion}` in column 3\nhint: did you mean `{question}`?",
            ),
            (
                "{context} {question}",
                "p.txt:1: unknown placeholder `{context}` in column 1\n\
                 hint: write {{context}} for the text {context}; the placeholders are {question} and {tools}",
            ),
            (
                "{question}\nor {question}",
                "p.txt:2: `{question}` a second time, in column 4\nhint: keep the one after which the model continues",
            ),
            (
                "Q: {{ question }}",
                "p.txt:1: doubled braces around `question` in column 4 make it a text\nhint: write {question}",
            ),
            (
                "{{tools}} {question}",
                "p.txt:1: doubled braces around `tools` in column 1 make it a text\nhint: write {tools}",
            ),
        ] {
            assert_eq!(refused(text), message);
        }
        assert!(refused("{a}\n{question}{question}").starts_with("2 problems\np.txt:1: "));
        assert!(refused(&"{tools}".repeat(40)).contains("more than 32 placeholders"));
    }
}
