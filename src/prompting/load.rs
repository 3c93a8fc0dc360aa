//! Reads and checks the prompt that the command line or an experiment names.

use super::bytes::{BuiltIn, PromptError, ends_with, read, read_instruction, split_key, text_of};
use super::file::PromptFile;
use super::plain::{self, FinishedText, Plain};
use super::texts::{self, TextsFile};
use std::borrow::Cow;

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
        let text = plain::finished_text(file, text_of(file, &json)?, key)?;
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
    Ok(Cow::Owned(plain::finished_entry(file, text_of(file, &json)?, key)?.into_bytes()))
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
