//! Errors of prompts.

use super::problems::Problems;
use std::io;

/// Why a prompt cannot be loaded or rendered.
#[derive(Debug, thiserror::Error)]
pub enum PromptError {
    /// The file cannot be read.
    #[error("cannot read prompt file `{file}`: {source}")]
    Read {
        /// The file as it was named.
        file: String,
        /// The system's error.
        source: io::Error,
    },
    /// The instruction file cannot be read.
    #[error("cannot read instruction file `{file}`: {source}")]
    ReadInstruction {
        /// The file as it was named.
        file: String,
        /// The system's error.
        source: io::Error,
    },
    /// The file is larger than 1 MiB.
    #[error("`{0}` is larger than 1 MiB")]
    TooLarge(String),
    /// The file is empty or has only white space.
    #[error("`{0}` is empty")]
    Empty(String),
    /// The file is not UTF-8; the line of the first invalid byte, from 1.
    #[error("`{0}` is not UTF-8 text: line {1} has an invalid byte")]
    NotUtf8(String, usize),
    /// Neither a TOML file nor a key of a JSON file.
    #[error("`{0}` names neither a .toml file nor a key of a .json file")]
    UnknownKind(String),
    /// A TOML prompt was given an instruction file.
    #[error("`{0}` has its own [instruction] and does not take the instruction file `{1}`")]
    InstructionNotTaken(String, String),
    /// All problems of a TOML file.
    #[error("{0}")]
    Invalid(Problems),
    /// The JSON file is not JSON.
    #[error("{file}:{line}: not valid JSON: {reason}")]
    NotJson {
        /// The file as it was named.
        file: String,
        /// Line of the error, from 1.
        line: usize,
        /// What the parser reports.
        reason: String,
    },
    /// The JSON file contains something other than an object.
    #[error("`{0}` must contain an object of strings, but contains {1}")]
    NotAnObject(String, &'static str),
    /// The JSON file has no such key.
    #[error("`{file}` has no key `{key}`; it has: {available}")]
    NoSuchKey {
        /// The file as it was named.
        file: String,
        /// The requested key; empty when none was named.
        key: String,
        /// The keys of the file.
        available: String,
        /// The most similar of them.
        suggestion: Option<String>,
    },
    /// The value of a key is not a string.
    #[error("key `{key}` of `{file}` must be a string, but is {found}")]
    NotText {
        /// The file as it was named.
        file: String,
        /// The key.
        key: String,
        /// The type of its value.
        found: &'static str,
    },
    /// The text of a key is empty.
    #[error("key `{1}` of `{0}` is empty")]
    EmptyKey(String, String),
    /// The method combines other methods.
    #[error("method `{0}` combines other methods, each with its own prompt")]
    Compound(&'static str),
    /// The protocol has no form without thoughts.
    #[error("protocol `{0}` has no form without thoughts, which method `act` needs")]
    NeedsThoughts(&'static str),
    /// The protocol shows the model a task, and the prompt file has none.
    #[error("`{file}` has no `task`, which protocol `{protocol}` shows the model")]
    NoTask {
        /// The prompt file.
        file: String,
        /// Id of the protocol.
        protocol: &'static str,
    },
    /// An exemplar, counted from 1, has no rationale.
    #[error("exemplar {1} of `{0}` has no `rationale`, which method `cot` shows the model")]
    NoRationale(String, usize),
    /// The protocol's template has no place for examples.
    #[error("`{key}` of `{file}` has no slot {{examples}} for {shots} shots")]
    NoPlaceForExamples {
        /// The file of protocol texts.
        file: String,
        /// The template's key.
        key: &'static str,
        /// Requested examples.
        shots: usize,
    },
    /// A file of protocol texts was named as the prompt.
    #[error("`{0}` contains protocol texts, not a prompt")]
    TextsNoPrompt(String),
    /// The protocol has no texts of its own.
    #[error("protocol `{0}` has no texts of its own to replace")]
    NoTextsTaken(String),
    /// The file of protocol texts lacks the section.
    #[error("`{file}` has no section [{section}]; it has: {available}")]
    NoSection {
        /// The file of protocol texts.
        file: String,
        /// The section.
        section: String,
        /// The sections of the file.
        available: String,
    },
    /// The section of a protocol's texts lacks a key.
    #[error("the texts of [{0}] have no `{1}`")]
    NoProtocolText(String, &'static str),
    /// The protocol has no value for a slot of its texts.
    #[error("protocol `{protocol}` gives no value for the slot `{slot}` of `{key}` in `{file}`")]
    NoSlotValue {
        /// Id of the protocol.
        protocol: &'static str,
        /// The slot's name.
        slot: String,
        /// The text's key.
        key: &'static str,
        /// The file of protocol texts.
        file: String,
    },
    /// The protocol cannot use a finished text.
    #[error("`{0}` is a finished text in the paper's form, which protocol `{1}` cannot use")]
    FinishedForm(String, &'static str),
    /// The prompt file has no instruction for the method.
    #[error("`{0}` has no instruction for method `{1}`")]
    NoInstruction(String, &'static str),
    /// More exemplars were requested than the prompt file has.
    #[error("`{file}` has {available} exemplars, fewer than the {wanted} requested")]
    TooFewExemplars {
        /// The prompt file.
        file: String,
        /// Requested exemplars.
        wanted: usize,
        /// Exemplars of the file.
        available: usize,
    },
    /// The examples of a finished text cannot change.
    #[error("`{0}` is a finished text; its examples cannot be selected or reordered")]
    FinishedText(String),
    /// A placeholder of the instruction has no value.
    #[error("cannot fill in `instruction.{method}` of `{file}`: {reason}")]
    Template {
        /// The prompt file.
        file: String,
        /// The method.
        method: &'static str,
        /// The parser's reason.
        reason: String,
    },
}

impl PromptError {
    /// How to fix it.
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Read { source, .. } if source.kind() == io::ErrorKind::NotFound => {
                "check the path; `wikitrail prompt list` shows the prompts that are built in".into()
            }
            Self::Read { .. } | Self::ReadInstruction { .. } => "check the path".into(),
            Self::TooLarge(..) => "a prompt has a few kilobytes; check that this is the right file".into(),
            Self::Empty(..) => "prompts/README.md explains the contents of a prompt file".into(),
            Self::NotUtf8(..) => "save the file as UTF-8".into(),
            Self::UnknownKind(..) => {
                "give a path ending in .toml, or FILE.json#KEY; `wikitrail prompt list` shows what is there".into()
            }
            Self::InstructionNotTaken(..) => "remove --instruction, or change the file's [instruction]".into(),
            Self::Invalid(problems) => problems.hint(),
            Self::NotJson { .. } | Self::NotAnObject(..) | Self::NotText { .. } | Self::EmptyKey(..) => {
                "the paper's prompt files are objects of strings: {\"key\": \"prompt text\", …}".into()
            }
            Self::NoSuchKey { suggestion: Some(known), .. } => did_you_mean(known),
            Self::NoSuchKey { file, .. } => format!("name one of the keys: {file}#KEY"),
            Self::Compound(..) => "name one of: standard, cot, act, react".into(),
            Self::NeedsThoughts(..) => "use method `react`, or one of the protocols with numbered steps".into(),
            Self::NoTask { .. } => "add `task`: what is to be done and how the answer looks, in words".into(),
            Self::NoRationale(..) => "add a rationale to every exemplar that is shown".into(),
            Self::NoPlaceForExamples { .. } => "remove the shots, or add the slot".into(),
            Self::TextsNoPrompt(file) => format!("pass it next to a prompt: --texts {file}"),
            Self::NoTextsTaken(..) => "remove --texts; this protocol's words are in the prompt file".into(),
            Self::NoSection { section, .. } => format!("add [{section}]; prompts/README.md lists its keys"),
            Self::NoProtocolText(..) => "load the protocol's own texts".into(),
            Self::NoSlotValue { .. } => "remove the slot from the text".into(),
            Self::FinishedForm(..) => "use a prompt file in TOML, or protocol react-paper".into(),
            Self::NoInstruction(_, method) => format!("add `{method}` to the file's [instruction]"),
            Self::TooFewExemplars { available, .. } => format!("remove the shots, or request at most {available}"),
            Self::FinishedText(..) => "remove shots and order, or use a prompt file in TOML".into(),
            Self::Template { .. } => "`wikitrail prompt check FILE` shows the line".into(),
        };
        Some(hint)
    }
}

fn did_you_mean(known: &str) -> String {
    format!("did you mean `{known}`?")
}
