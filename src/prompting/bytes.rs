//! Reads the files of prompts and protocol texts, and what can be wrong with them.

use super::reader::Problems;
use crate::base::bounded::read_at_most;
use std::borrow::Cow;
use std::fs::File;
use std::io;

/// Largest prompt or instruction file that is read, in bytes: 1 MiB. Real ones have a few kilobytes.
pub const MAX_FILE_BYTES: u64 = 1024 * 1024;

pub type BuiltIn<'a> = &'a dyn Fn(&str) -> Option<&'static [u8]>;

/// `FILE.json` and `KEY`; the key is empty where none is named.
pub(super) fn split_key(spec: &str) -> Option<(&str, &str)> {
    if ends_with(spec, ".json") {
        return Some((spec, ""));
    }
    spec.match_indices('#').map(|(at, _)| (&spec[..at], &spec[at + 1..])).find(|(file, _)| ends_with(file, ".json"))
}

pub(super) fn ends_with(name: &str, ending: &str) -> bool {
    name.len() > ending.len()
        && name.get(name.len() - ending.len()..).is_some_and(|tail| tail.eq_ignore_ascii_case(ending))
}

pub(super) fn read(file: &str, builtin: BuiltIn<'_>) -> Result<Cow<'static, [u8]>, PromptError> {
    match read_capped(file) {
        Ok(bytes) => Ok(Cow::Owned(bytes)),
        Err(source) if source.kind() == io::ErrorKind::FileTooLarge => Err(PromptError::TooLarge(file.to_owned())),
        Err(source) => match builtin(file).filter(|_| source.kind() == io::ErrorKind::NotFound) {
            Some(bytes) => Ok(Cow::Borrowed(bytes)),
            None => Err(PromptError::Read { file: file.to_owned(), source }),
        },
    }
}

pub(super) fn read_instruction(file: &str) -> Result<String, PromptError> {
    let bytes = read_capped(file).map_err(|source| match source.kind() {
        io::ErrorKind::FileTooLarge => PromptError::TooLarge(file.to_owned()),
        _ => PromptError::ReadInstruction { file: file.to_owned(), source },
    })?;
    text_of(file, &bytes).map(str::to_owned)
}

fn read_capped(file: &str) -> io::Result<Vec<u8>> {
    read_at_most(File::open(file)?, MAX_FILE_BYTES)
}

pub(super) fn text_of<'b>(file: &str, bytes: &'b [u8]) -> Result<&'b str, PromptError> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let line = bytes[..error.valid_up_to()].split(|byte| *byte == b'\n').count();
        PromptError::NotUtf8(file.to_owned(), line)
    })?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.trim().is_empty() {
        return Err(PromptError::Empty(file.to_owned()));
    }
    Ok(text)
}

/// Why a prompt cannot be loaded or rendered.
#[derive(Debug, thiserror::Error)]
pub enum PromptError {
    #[error("cannot read prompt file `{file}`: {source}")]
    Read { file: String, source: io::Error },
    #[error("cannot read instruction file `{file}`: {source}")]
    ReadInstruction { file: String, source: io::Error },
    #[error("`{0}` is larger than 1 MiB")]
    TooLarge(String),
    #[error("`{0}` is empty")]
    Empty(String),
    /// The file is not UTF-8; the line of the first invalid byte, from 1.
    #[error("`{0}` is not UTF-8 text: line {1} has an invalid byte")]
    NotUtf8(String, usize),
    #[error("`{0}` is not a .toml file, a .txt file or a key of a .json file")]
    UnknownKind(String),
    #[error("`{0}` has its own [instruction] and does not take the instruction file `{1}`")]
    InstructionNotTaken(String, String),
    #[error("{0}")]
    Invalid(Problems),
    #[error("{file}:{line}: not valid JSON: {reason}")]
    NotJson { file: String, line: usize, reason: String },
    #[error("`{0}` must contain an object of strings, but contains {1}")]
    NotAnObject(String, &'static str),
    #[error("{}", no_such_key(file, key, available))]
    NoSuchKey {
        file: String,
        /// The requested key; empty when none was named.
        key: String,
        available: String,
        suggestion: Option<String>,
    },
    #[error("key `{key}` of `{file}` must be a string, but is {found}")]
    NotText { file: String, key: String, found: &'static str },
    #[error("key `{1}` of `{0}` is empty")]
    EmptyKey(String, String),
    #[error("method `{0}` combines other methods, each with its own prompt")]
    Compound(&'static str),
    #[error("protocol `{0}` has no form without thoughts, which method `act` needs")]
    NeedsThoughts(&'static str),
    #[error("`{file}` has no `task`, which protocol `{protocol}` shows the model")]
    NoTask { file: String, protocol: &'static str },
    #[error("exemplar {1} of `{0}` has no `rationale`, which method `cot` shows the model")]
    NoRationale(String, usize),
    #[error("`{key}` of `{file}` has no slot {{examples}} for {shots} shots")]
    NoPlaceForExamples { file: String, key: &'static str, shots: usize },
    #[error("`{0}` contains protocol texts, not a prompt")]
    TextsNoPrompt(String),
    #[error("protocol `{0}` has no texts of its own to replace")]
    NoTextsTaken(String),
    #[error("`{file}` has no section [{section}]; it has: {available}")]
    NoSection { file: String, section: String, available: String },
    #[error("the texts of [{0}] have no `{1}`")]
    NoProtocolText(String, &'static str),
    #[error("protocol `{protocol}` gives no value for the slot `{slot}` of `{key}` in `{file}`")]
    NoSlotValue { protocol: &'static str, slot: String, key: &'static str, file: String },
    #[error("`{0}` is a finished text, and protocol `{1}` needs the parts of a prompt")]
    FinishedForm(String, &'static str),
    #[error("`{0}` is a plain text, and protocol `{1}` says in words of its own how a step is written")]
    PlainForm(String, &'static str),
    #[error("`{0}` has the placeholder {{tools}}, and method `{1}` uses no tools")]
    NoTools(String, &'static str),
    #[error("`{0}` ends in `{1}`, which is written after it anyway")]
    EndsInLabel(String, String),
    #[error("`{file}` has {reason}")]
    Plain { file: String, reason: String },
    #[error("[tools] of `{file}` does not describe the tool `{tool}`")]
    NoToolText { file: String, tool: &'static str },
    #[error("the exemplars of `{file}` use the tool `{tool}`, and the agent is offered `{offered}`")]
    ExemplarTool { file: String, tool: &'static str, offered: &'static str },
    #[error("`{0}` has no instruction for method `{1}`")]
    NoInstruction(String, &'static str),
    #[error("`{file}` has {available} exemplars, fewer than the {wanted} requested")]
    TooFewExemplars { file: String, wanted: usize, available: usize },
    #[error("`{file}` has {available} exemplars, fewer than the {wanted} requested")]
    TooFewToKeep { file: String, wanted: usize, available: usize },
    #[error("cannot make a prompt file from `{0}`: {1}")]
    NotEditable(String, String),
    #[error("`{0}` is a finished text; its examples cannot be selected or reordered")]
    FinishedText(String),
    #[error("cannot fill in `instruction.{method}` of `{file}`: {reason}")]
    Template { file: String, method: &'static str, reason: String },
}

impl PromptError {
    pub fn hint(&self) -> String {
        match self {
            Self::Read { source, .. } if source.kind() == io::ErrorKind::NotFound => {
                "check the path; `wikitrail prompt list` shows the prompts that are built in".into()
            }
            Self::Read { .. } | Self::ReadInstruction { .. } => "check the path".into(),
            Self::TooLarge(..) => "a prompt has a few kilobytes; check that this is the right file".into(),
            Self::Empty(..) => "`wikitrail prompt new FILE` writes a prompt file to edit".into(),
            Self::NotUtf8(..) => "save the file as UTF-8".into(),
            Self::UnknownKind(..) => {
                "give a path ending in .toml or .txt, or FILE.json#KEY; `wikitrail prompt list` shows what is there"
                    .into()
            }
            Self::InstructionNotTaken(..) => "remove --instruction, or change the file's [instruction]".into(),
            Self::Invalid(problems) => problems.hint(),
            Self::NotJson { .. } | Self::NotAnObject(..) | Self::NotText { .. } | Self::EmptyKey(..) => {
                "the paper's prompt files are objects of strings: {\"key\": \"prompt text\", …}".into()
            }
            Self::NoSuchKey { suggestion: Some(known), .. } => format!("did you mean `{known}`?"),
            Self::NoSuchKey { file, .. } => format!("name one of the keys: {file}#KEY"),
            Self::Compound(..) => "name one of: standard, cot, act, react".into(),
            Self::NeedsThoughts(..) => "use method `react`, or one of the protocols with numbered steps".into(),
            Self::NoTask { .. } => "add `task`: what is to be done and how the answer looks, in words".into(),
            Self::NoRationale(..) => "add a rationale to every exemplar that is shown".into(),
            Self::NoPlaceForExamples { .. } => "remove the shots, or add the slot".into(),
            Self::TextsNoPrompt(file) => format!("pass it next to a prompt: --texts {file}"),
            Self::NoToolText { tool, .. } => {
                format!("add `{tool} = \"…\"` to [tools], or use `--prompt prompts/hotpotqa-passages.toml`")
            }
            Self::ExemplarTool { tool: "passages" | "document", .. } => {
                "add `--tools passages` or `passages,document`, or use `--shots 0`".into()
            }
            Self::ExemplarTool { .. } => {
                "use `--shots 0`, or a prompt whose exemplars use these tools, such as prompts/hotpotqa-passages.toml"
                    .into()
            }
            Self::NoTextsTaken(..) => "remove --texts; this protocol's words are in the prompt file".into(),
            Self::NoSection { section, .. } => format!("add [{section}]; `wikitrail docs prompts` lists its keys"),
            Self::NoProtocolText(..) => "load the protocol's own texts".into(),
            Self::NoSlotValue { .. } => "remove the slot from the text".into(),
            Self::FinishedForm(..) => "use a prompt file in TOML, or protocol react-paper or react-zh".into(),
            Self::PlainForm(_, protocol) => format!(
                "use --protocol robust, react-paper, react-zh or tools; or write its words in the form of prompts/protocols/en.toml, for --protocol {protocol} --texts FILE"
            ),
            Self::NoTools(..) => "remove {tools}, or use method react or act".into(),
            Self::EndsInLabel(..) => "end the text before it".into(),
            Self::Plain { .. } => "a plain text may have the placeholders {question}, once, and {tools}".into(),
            Self::NoInstruction(_, method) => format!("add `{method}` to the file's [instruction]"),
            Self::TooFewExemplars { available, .. } => format!("use {available} shots or fewer"),
            Self::TooFewToKeep { available, .. } => format!("request at most {available}"),
            Self::NotEditable(..) => "`wikitrail prompt check FILE` lists what is wrong with it".into(),
            Self::FinishedText(..) => "remove shots and order, or use a prompt file in TOML".into(),
            Self::Template { .. } => "`wikitrail prompt check FILE` shows the line".into(),
        }
    }
}

fn no_such_key(file: &str, key: &str, available: &str) -> String {
    match key {
        "" => format!("`{file}` is named without a key; name a key: {available}"),
        key => format!("`{file}` has no key `{key}`; it has: {available}"),
    }
}
