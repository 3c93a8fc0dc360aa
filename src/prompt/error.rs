//! Why a prompt cannot be used.

use super::problems::Problems;
use std::io;

/// Why there is no prompt, or none of the kind that was asked for.
#[derive(Debug, thiserror::Error)]
pub enum PromptError {
    /// The file cannot be read.
    #[error("cannot read prompt file `{file}`: {source}")]
    Read {
        /// The file as it was named.
        file: String,
        /// What the system says.
        source: io::Error,
    },
    /// The instruction file cannot be read.
    #[error("cannot read instruction file `{file}`: {source}")]
    ReadInstruction {
        /// The file as it was named.
        file: String,
        /// What the system says.
        source: io::Error,
    },
    /// The file is larger than 1 MiB.
    #[error("`{file}` is larger than 1 MiB")]
    TooLarge {
        /// The file as it was named.
        file: String,
    },
    /// The file holds nothing, or only white space.
    #[error("`{file}` is empty")]
    Empty {
        /// The file as it was named.
        file: String,
    },
    /// The file is not UTF-8.
    #[error("`{file}` is not UTF-8 text: line {line} has an invalid byte")]
    NotUtf8 {
        /// The file as it was named.
        file: String,
        /// Line of the first bad byte, from 1.
        line: usize,
    },
    /// Neither a TOML file nor a key of a JSON file.
    #[error("`{spec}` names neither a .toml file nor a key of a .json file")]
    UnknownKind {
        /// What was named.
        spec: String,
    },
    /// A TOML prompt was given an instruction file.
    #[error("`{spec}` has its own [instruction] and does not take the instruction file `{instruction}`")]
    InstructionNotTaken {
        /// What was named.
        spec: String,
        /// The instruction file.
        instruction: String,
    },
    /// A file of our own form with problems, all of them.
    #[error("{0}")]
    Invalid(Problems),
    /// The JSON file is not JSON.
    #[error("{file}:{line}: not valid JSON: {reason}")]
    NotJson {
        /// The file as it was named.
        file: String,
        /// Line of the fault, from 1.
        line: usize,
        /// What the parser says.
        reason: String,
    },
    /// The JSON file holds no object.
    #[error("`{file}` must contain an object of strings, but contains {found}")]
    NotAnObject {
        /// The file as it was named.
        file: String,
        /// What it holds.
        found: &'static str,
    },
    /// The JSON file has no such key.
    #[error("`{file}` has no key `{key}`; it has: {available}")]
    NoSuchKey {
        /// The file as it was named.
        file: String,
        /// The key that was asked for; empty when none was.
        key: String,
        /// The keys that are there.
        available: String,
        /// The one that looks most like it.
        suggestion: Option<String>,
    },
    /// The key's value is no text.
    #[error("key `{key}` of `{file}` must be a string, but is {found}")]
    NotText {
        /// The file as it was named.
        file: String,
        /// The key.
        key: String,
        /// What it is.
        found: &'static str,
    },
    /// The key's text is empty.
    #[error("key `{key}` of `{file}` is empty")]
    EmptyKey {
        /// The file as it was named.
        file: String,
        /// The key.
        key: String,
    },
    /// A method that is made of others.
    #[error("method `{method}` combines other methods, each with its own prompt")]
    Compound {
        /// The method.
        method: &'static str,
    },
    /// The protocol has no form without thoughts.
    #[error("protocol `{protocol}` has no form without thoughts, which method `act` needs")]
    NeedsThoughts {
        /// Id of the protocol.
        protocol: &'static str,
    },
    /// The task is needed in words, and the prompt file does not say it.
    #[error("`{file}` has no `task`, which protocol `{protocol}` shows the model")]
    NoTask {
        /// The prompt file.
        file: String,
        /// Id of the protocol.
        protocol: &'static str,
    },
    /// An exemplar has no rationale.
    #[error("exemplar {exemplar} of `{file}` has no `rationale`, which method `cot` shows the model")]
    NoRationale {
        /// The prompt file.
        file: String,
        /// Number of the exemplar in the file, from 1.
        exemplar: usize,
    },
    /// Examples are asked for that the protocol's template has no place for.
    #[error("`{key}` of `{file}` has no slot {{examples}} for {shots} shots")]
    NoPlaceForExamples {
        /// The file of protocol texts.
        file: String,
        /// The template's key.
        key: &'static str,
        /// How many were asked for.
        shots: usize,
    },
    /// A file of protocol texts where a prompt is expected.
    #[error("`{file}` contains protocol texts, not a prompt")]
    TextsNoPrompt {
        /// The file as it was named.
        file: String,
    },
    /// The protocol has no texts of its own.
    #[error("protocol `{protocol}` has no texts of its own to replace")]
    NoTextsTaken {
        /// Id of the protocol.
        protocol: String,
    },
    /// The file of protocol texts lacks the section.
    #[error("`{file}` has no section [{section}]; it has: {available}")]
    NoSection {
        /// The file of protocol texts.
        file: String,
        /// The section.
        section: String,
        /// The sections that are there.
        available: String,
    },
    /// The protocol needs a text and was given those of another one.
    #[error("the texts of [{section}] have no `{key}`")]
    NoProtocolText {
        /// Name of the section; empty where no texts were loaded.
        section: String,
        /// The text's key.
        key: &'static str,
    },
    /// The protocol does not fill a slot of its texts.
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
    /// A finished text is asked of a protocol with another form.
    #[error("`{spec}` is a finished text in the paper's form, which protocol `{protocol}` cannot use")]
    FinishedForm {
        /// `FILE.json#KEY`.
        spec: String,
        /// Id of the protocol.
        protocol: &'static str,
    },
    /// The file has no instruction for the method.
    #[error("`{file}` has no instruction for method `{method}`")]
    NoInstruction {
        /// The prompt file.
        file: String,
        /// The method.
        method: String,
    },
    /// More exemplars are asked for than there are.
    #[error("`{file}` has {available} exemplars, fewer than the {wanted} requested")]
    TooFewExemplars {
        /// The prompt file.
        file: String,
        /// How many were asked for.
        wanted: usize,
        /// How many there are.
        available: usize,
    },
    /// A finished text is asked to show other exemplars.
    #[error("`{spec}` is a finished text; its examples cannot be selected or reordered")]
    FinishedText {
        /// `FILE.json#KEY`.
        spec: String,
    },
    /// The instruction cannot be filled in.
    #[error("cannot fill in `instruction.{method}` of `{file}`: {reason}")]
    Template {
        /// The prompt file.
        file: String,
        /// The method.
        method: String,
        /// Why.
        reason: String,
    },
}

impl PromptError {
    /// What the user can do about it.
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Read { source, .. } if source.kind() == io::ErrorKind::NotFound => {
                "check the path; `wikitrail prompt list` shows the prompts that are built in".into()
            }
            Self::Read { .. } | Self::ReadInstruction { .. } => "check the path".into(),
            Self::TooLarge { .. } => "a prompt has a few kilobytes; check that this is the right file".into(),
            Self::Empty { .. } => "prompts/README.md explains the contents of a prompt file".into(),
            Self::NotUtf8 { .. } => "save the file as UTF-8".into(),
            Self::UnknownKind { .. } => {
                "give a path ending in .toml, or FILE.json#KEY; `wikitrail prompt list` shows what is there".into()
            }
            Self::InstructionNotTaken { .. } => "remove --instruction, or change the file's [instruction]".into(),
            Self::Invalid(problems) => problems.hint(),
            Self::NotJson { .. } | Self::NotAnObject { .. } | Self::NotText { .. } | Self::EmptyKey { .. } => {
                "the paper's prompt files are objects of strings: {\"key\": \"prompt text\", …}".into()
            }
            Self::NoSuchKey { suggestion: Some(known), .. } => did_you_mean(known),
            Self::NoSuchKey { file, .. } => format!("name one of the keys: {file}#KEY"),
            Self::Compound { .. } => "name one of: standard, cot, act, react".into(),
            Self::NeedsThoughts { .. } => "use method `react`, or one of the protocols with numbered steps".into(),
            Self::NoTask { .. } => "add `task`: what is to be done and how the answer looks, in words".into(),
            Self::NoRationale { .. } => "add a rationale to every exemplar that is shown".into(),
            Self::NoPlaceForExamples { .. } => "remove the shots, or add the slot".into(),
            Self::TextsNoPrompt { file } => format!("pass it next to a prompt: --texts {file}"),
            Self::NoTextsTaken { .. } => "remove --texts; this protocol's words are in the prompt file".into(),
            Self::NoSection { section, .. } => format!("add [{section}]; prompts/README.md lists its keys"),
            Self::NoProtocolText { .. } => "load the protocol's own texts".into(),
            Self::NoSlotValue { .. } => "remove the slot from the text".into(),
            Self::FinishedForm { .. } => "use a prompt file in TOML, or protocol react-paper".into(),
            Self::NoInstruction { method, .. } => format!("add `{method}` to the file's [instruction]"),
            Self::TooFewExemplars { available, .. } => format!("remove the shots, or request at most {available}"),
            Self::FinishedText { .. } => "remove shots and order, or use a prompt file in TOML".into(),
            Self::Template { .. } => "`wikitrail prompt check FILE` shows the line".into(),
        };
        Some(hint)
    }
}

fn did_you_mean(known: &str) -> String {
    format!("did you mean `{known}`?")
}
