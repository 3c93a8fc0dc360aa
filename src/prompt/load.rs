//! Reads and checks the prompt that the command line or an experiment names.

use super::error::PromptError;
use super::file::PromptFile;
use super::finished::{self, FinishedText};
use super::plain::Plain;
use super::texts::{self, TextsFile};
use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Read as _};

/// Largest prompt or instruction file that is read, in bytes: 1 MiB. Real ones have a few kilobytes.
pub const MAX_FILE_BYTES: u64 = 1024 * 1024;

/// Finds a file that is shipped with the program.
pub type BuiltIn<'a> = &'a dyn Fn(&str) -> Option<&'static [u8]>;

/// A prompt, checked and ready to be rendered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PromptSource {
    /// A prompt file of our own form.
    File(Box<PromptFile>),
    /// A finished text: one of the paper's, or a plain one.
    Text(FinishedText),
}

/// Reads and checks the prompt that `spec` names: a path that ends in `.toml`; one that ends in `.txt`, of a plain text; or
/// `FILE.json#KEY` of the paper's files, whose text is used verbatim after the text of the file `instruction`.
///
/// `builtin` provides files that are not on disk. A byte order mark is dropped; finished texts and instruction files
/// are otherwise used byte for byte.
pub fn load(spec: &str, instruction: Option<&str>, builtin: BuiltIn<'_>) -> Result<PromptSource, PromptError> {
    if let Some((file, key)) = split_key(spec) {
        let json = read(file, builtin)?;
        let text = finished::finished_text(file, text_of(file, &json)?, key)?;
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

/// The source of a prompt, or of a file of protocol texts, as it stands: the bytes of its file, or the entry of a JSON file
/// as an object with that key alone. Nothing but the entry is checked, so that a file with problems can be looked at.
pub fn source(spec: &str, builtin: BuiltIn<'_>) -> Result<Cow<'static, [u8]>, PromptError> {
    let Some((file, key)) = split_key(spec) else {
        if !ends_with(spec, ".toml") && !ends_with(spec, ".txt") {
            return Err(PromptError::UnknownKind(spec.to_owned()));
        }
        return read(spec, builtin);
    };
    let json = read(file, builtin)?;
    Ok(Cow::Owned(finished::finished_entry(file, text_of(file, &json)?, key)?.into_bytes()))
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Checked {
    Prompt(PromptSource),
    Texts(TextsFile),
}

/// Reads and checks a prompt or a file of protocol texts, whichever it is.
pub fn check(spec: &str, builtin: BuiltIn<'_>) -> Result<Checked, PromptError> {
    match load(spec, None, builtin) {
        Ok(source) => Ok(Checked::Prompt(source)),
        Err(PromptError::TextsNoPrompt(_)) => texts::load_file(spec, builtin).map(Checked::Texts),
        Err(error) => Err(error),
    }
}

/// The file that a prompt's name leads to: all of it, or what stands before its key.
pub fn file_of(spec: &str) -> &str {
    split_key(spec).map_or(spec, |(file, _)| file)
}

/// `FILE.json` and `KEY`; the key is empty where none is named.
fn split_key(spec: &str) -> Option<(&str, &str)> {
    if ends_with(spec, ".json") {
        return Some((spec, ""));
    }
    spec.match_indices('#').map(|(at, _)| (&spec[..at], &spec[at + 1..])).find(|(file, _)| ends_with(file, ".json"))
}

fn ends_with(name: &str, ending: &str) -> bool {
    name.len() > ending.len()
        && name.get(name.len() - ending.len()..).is_some_and(|tail| tail.eq_ignore_ascii_case(ending))
}

pub(super) fn read(file: &str, builtin: BuiltIn<'_>) -> Result<Cow<'static, [u8]>, PromptError> {
    match read_capped(file) {
        Ok(bytes) => checked_size(file, bytes).map(Cow::Owned),
        Err(source) => match builtin(file).filter(|_| source.kind() == io::ErrorKind::NotFound) {
            Some(bytes) => Ok(Cow::Borrowed(bytes)),
            None => Err(PromptError::Read { file: file.to_owned(), source }),
        },
    }
}

fn read_instruction(file: &str) -> Result<String, PromptError> {
    let bytes = read_capped(file).map_err(|source| PromptError::ReadInstruction { file: file.to_owned(), source })?;
    let bytes = checked_size(file, bytes)?;
    text_of(file, &bytes).map(str::to_owned)
}

/// One byte more than allowed is read, so that a file over the limit is recognised without reading all of it.
fn read_capped(file: &str) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(file)?.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn checked_size(file: &str, bytes: Vec<u8>) -> Result<Vec<u8>, PromptError> {
    if bytes.len() as u64 > MAX_FILE_BYTES {
        return Err(PromptError::TooLarge(file.to_owned()));
    }
    Ok(bytes)
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
