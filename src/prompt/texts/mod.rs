//! Protocol texts: system messages, templates and error messages of each protocol.
//!
//! A file of protocol texts (TOML) has a section for each protocol and one for the named tools. The program has one file
//! per language; a file with the original texts of a system can replace them. `prompts/README.md` explains each key.

mod form;
mod read;
mod slots;

use form::SectionForm;
pub(super) use form::{KeyForm, TEMPLATE_ENDING};
pub(super) use read::{find_slot, read_text};
pub(super) use slots::{Slotted, Style, braced};

use super::error::PromptError;
use super::load::{BuiltIn, read, text_of};
use crate::protocol::{Options, ToolTexts, lagent, native};
use std::collections::BTreeMap;

const ENGLISH: &str = "prompts/protocols/en.toml";
const CHINESE: &str = "prompts/protocols/zh.toml";

/// A file of protocol texts, checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextsFile {
    pub file: String,
    /// Language of the texts, such as `en`, if stated.
    pub language: Option<String>,
    pub tools: Option<ToolTexts>,
    sections: BTreeMap<&'static str, BTreeMap<&'static str, Slotted>>,
}

/// The texts of one protocol.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ProtocolTexts {
    /// Their file; empty for protocols without texts of their own.
    pub file: String,
    /// Whether the user named that file, so that it takes precedence.
    pub given: bool,
    section: String,
    pub(super) tools: ToolTexts,
    texts: BTreeMap<&'static str, Slotted>,
}

/// The section of a protocol: its id, with the suffix `-json` for lagent's JSON form. The section `tools` describes the
/// tools for all protocols, so the protocol of that name has `tool-calls`, and `tool-calls-text` for answers in text.
pub fn section(protocol: &str, options: &Options) -> String {
    let is = |name, value| options.get(name) == Some(value);
    match protocol {
        lagent::ID if is("variant", "json") => format!("{protocol}-json"),
        native::ID if is("answer", "text") => "tool-calls-text".to_owned(),
        native::ID => "tool-calls".to_owned(),
        _ => protocol.to_owned(),
    }
}

/// Reads the texts of one section from the file `spec`, or from the built-in file in the prompt's language (Chinese or
/// English). Protocols that use the prompt file's texts only have none.
pub fn load(
    spec: Option<&str>,
    language: &str,
    section: &str,
    builtin: BuiltIn<'_>,
) -> Result<ProtocolTexts, PromptError> {
    let section = section.to_owned();
    let Some(form) = form::of(&section) else {
        return match spec {
            Some(_) => Err(PromptError::NoTextsTaken(section)),
            None => Ok(ProtocolTexts { section, ..ProtocolTexts::default() }),
        };
    };
    let ours = ours(language);
    let mut file = load_file(spec.unwrap_or(ours), builtin)?;
    let Some(mut texts) = file.sections.remove(section.as_str()) else {
        let available = file.sections().collect::<Vec<_>>().join(", ");
        let available = if available.is_empty() { "none".to_owned() } else { available };
        return Err(PromptError::NoSection { file: file.file, section, available });
    };
    if spec.is_some() {
        add_ours(&mut texts, form, file.language.as_deref().unwrap_or(language), builtin)?;
    }
    let mut tools = file.tools.unwrap_or_default();
    if spec.is_some() && (tools.search.is_empty() || tools.finish.is_empty()) {
        let own = load_file(ours, builtin)?.tools.unwrap_or_default();
        tools = if tools.search.is_empty() {
            own
        } else {
            ToolTexts { finish: own.finish, finish_parameter: own.finish_parameter, ..tools }
        };
    }
    Ok(ProtocolTexts { file: file.file, given: spec.is_some(), section, tools, texts })
}

/// Our file in a language.
fn ours(language: &str) -> &'static str {
    if language.starts_with("zh") { CHINESE } else { ENGLISH }
}

/// Adds our sentences for occasions that a user's file leaves out.
fn add_ours(
    texts: &mut BTreeMap<&'static str, Slotted>,
    form: &SectionForm,
    language: &str,
    builtin: BuiltIn<'_>,
) -> Result<(), PromptError> {
    let mut own = load_file(ours(language), builtin)?.sections.remove(form.id).unwrap_or_default();
    own.retain(|name, _| form.keys.iter().any(|key| key.ours && key.name == *name));
    for (name, text) in own {
        texts.entry(name).or_insert(text);
    }
    Ok(())
}

pub fn load_file(spec: &str, builtin: BuiltIn<'_>) -> Result<TextsFile, PromptError> {
    let bytes = read(spec, builtin)?;
    let text = text_of(spec, &bytes)?.replace("\r\n", "\n");
    read::parse(spec, &text).map_err(PromptError::Invalid)
}

/// Whether a file contains protocol texts, not a prompt: it has a section of a protocol.
pub(super) fn holds_texts(text: &str) -> bool {
    let (table, _) = toml::de::DeTable::parse_recoverable(text);
    table.get_ref().keys().any(|key| form::of(key.get_ref()).is_some())
}

impl TextsFile {
    pub fn sections(&self) -> impl Iterator<Item = &'static str> {
        self.sections.keys().copied()
    }
}

impl ProtocolTexts {
    pub(super) fn get(&self, key: &str) -> Option<&Slotted> {
        self.texts.get(key)
    }

    /// The text under a required key.
    pub(super) fn needed(&self, key: &'static str) -> Result<&Slotted, PromptError> {
        self.get(key).ok_or_else(|| self.lacks(key))
    }

    pub(super) fn lacks(&self, key: &'static str) -> PromptError {
        PromptError::NoProtocolText(self.section.clone(), key)
    }

    /// The file's messages for later requests, by key.
    pub(super) fn occasions(&self) -> impl Iterator<Item = (&'static str, &Slotted)> {
        self.texts.iter().filter(|(key, _)| !FIRST.contains(key)).map(|(key, text)| (*key, text))
    }
}

/// Keys of the texts that the first request is made from; the others are for later ones.
const FIRST: [&str; 4] = ["template", "system", "context", "args_format"];
