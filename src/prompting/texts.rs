//! Protocol texts: system messages, templates and error messages of each protocol.
//!
//! A file of protocol texts (TOML) has a section for each protocol and one for the named tools. The program has one file
//! per language; a file with the original texts of a system can replace them. `prompts/README.md` explains each key.

use super::bytes::{BuiltIn, PromptError, read, text_of};
use super::reader::{Fault, Problems, Reader, Table, quoted};
use crate::base::Tool;
use crate::base::text::closest;
use crate::prompting::protocol::{Options, ToolTexts, lagent, native};
use std::collections::BTreeMap;
use std::sync::Arc;

const ENGLISH: &str = "prompts/protocols/en.toml";
const CHINESE: &str = "prompts/protocols/zh.toml";

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextsFile {
    pub file: String,
    pub language: Option<String>,
    pub tools: Option<ToolTexts>,
    sections: BTreeMap<&'static str, BTreeMap<&'static str, Slotted>>,
}

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

/// Reads one section of the file `spec`, or of ours in the prompt's language. Some protocols have no texts of their own.
pub fn load(
    spec: Option<&str>,
    language: &str,
    section: &str,
    builtin: BuiltIn<'_>,
) -> Result<ProtocolTexts, PromptError> {
    let section = section.to_owned();
    let Some(form) = of(&section) else {
        return match spec {
            Some(_) => Err(PromptError::NoTextsTaken(section)),
            None => Ok(ProtocolTexts { section, ..ProtocolTexts::default() }),
        };
    };
    let ours = built_in_file(language);
    let mut file = load_file(spec.unwrap_or(ours), builtin)?;
    let Some(mut texts) = file.sections.remove(section.as_str()) else {
        let available = file.sections().collect::<Vec<_>>().join(", ");
        let available = if available.is_empty() { "none".to_owned() } else { available };
        return Err(PromptError::NoSection { file: file.file, section, available });
    };
    let mut tools = file.tools.unwrap_or_default();
    if spec.is_some() {
        add_ours(&mut texts, form, file.language.as_deref().unwrap_or(language), builtin)?;
        tools.add_missing(load_file(ours, builtin)?.tools.unwrap_or_default());
    }
    Ok(ProtocolTexts { file: file.file, given: spec.is_some(), section, tools, texts })
}

fn built_in_file(language: &str) -> &'static str {
    if language.starts_with("zh") { CHINESE } else { ENGLISH }
}

fn add_ours(
    texts: &mut BTreeMap<&'static str, Slotted>,
    form: &SectionForm,
    language: &str,
    builtin: BuiltIn<'_>,
) -> Result<(), PromptError> {
    let mut own = load_file(built_in_file(language), builtin)?.sections.remove(form.id).unwrap_or_default();
    own.retain(|name, _| form.keys.iter().any(|key| key.ours && key.name == *name));
    for (name, text) in own {
        texts.entry(name).or_insert(text);
    }
    Ok(())
}

pub fn load_file(spec: &str, builtin: BuiltIn<'_>) -> Result<TextsFile, PromptError> {
    let bytes = read(spec, builtin)?;
    let text = text_of(spec, &bytes)?.replace("\r\n", "\n");
    parse(spec, &text).map_err(PromptError::Invalid)
}

/// Whether a file contains protocol texts, not a prompt: it has a section of a protocol.
pub(super) fn holds_texts(text: &str) -> bool {
    let (table, _) = toml::de::DeTable::parse_recoverable(text);
    table.get_ref().keys().any(|key| of(key.get_ref()).is_some())
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

    pub(super) fn needed(&self, key: &'static str) -> Result<&Slotted, PromptError> {
        self.get(key).ok_or_else(|| self.lacks(key))
    }

    pub(super) fn lacks(&self, key: &'static str) -> PromptError {
        PromptError::NoProtocolText(self.section.clone(), key)
    }

    /// The file's messages for later requests, by key; slots without a value, which only the dialogue knows, stay.
    pub(super) fn occasions<'v>(&self, value: impl Fn(&str) -> Option<&'v str>) -> BTreeMap<String, Arc<str>> {
        let later = self.texts.iter().filter(|(key, _)| !FIRST.contains(key));
        later.map(|(key, text)| ((*key).to_owned(), text.fill_known(&value).into())).collect()
    }
}

/// Keys of the texts that the first request is made from; the others are for later ones.
const FIRST: [&str; 4] = ["template", "system", "context", "args_format"];

#[derive(Debug)]
struct SectionForm {
    /// Name of the section: the protocol's id, with a suffix for forms of it.
    id: &'static str,
    keys: &'static [KeyForm],
}

#[derive(Debug)]
pub(in crate::prompting) struct KeyForm {
    name: &'static str,
    needed: bool,
    style: Style,
    /// Separated by spaces.
    slots: &'static str,
    /// The slot that it must have exactly once.
    must: Option<&'static str>,
    ending: &'static str,
    /// Whether a user's file without it has ours.
    ours: bool,
}

impl KeyForm {
    const fn new(name: &'static str, slots: &'static str) -> Self {
        Self { name, needed: true, style: Style::Python, slots, must: None, ending: "", ours: false }
    }

    pub(in crate::prompting) const fn instruction(method: &'static str) -> Self {
        Self { style: Style::Instruction, ..Self::new(method, "question_label max_steps tools") }
    }

    const fn optional(self) -> Self {
        Self { needed: false, ..self }
    }

    /// A sentence for an occasion. Ours is used where a file has none, and English ones are the protocol's own.
    const fn sentence(name: &'static str, slots: &'static str) -> Self {
        Self { ours: true, ..Self::new(name, slots).optional() }
    }
}

/// The ending of a template, where the model continues.
pub(in crate::prompting) const TEMPLATE_ENDING: &str = "\nThought: ";

const TOOL_CALLS: &[KeyForm] = &[
    KeyForm::new("system", "task max_steps"),
    KeyForm::new("feedback", "error"),
    KeyForm::new("no_call", ""),
    KeyForm::new("force_stop", ""),
    KeyForm::sentence("unknown_tool", "tool tools"),
    KeyForm::sentence("not_json", ""),
    KeyForm::sentence("unknown_argument", "argument"),
    KeyForm::sentence("missing_argument", "argument"),
    KeyForm::sentence("extra_call", ""),
];

const FORMS: [SectionForm; 8] = [
    SectionForm {
        id: "qwen-agent",
        keys: &[
            KeyForm {
                must: Some("query"),
                ending: TEMPLATE_ENDING,
                ..KeyForm::new("template", "task tool_descs tool_names examples query")
            },
            KeyForm::new("system", "task").optional(),
            KeyForm::new("args_format", "").optional(),
            KeyForm::sentence("unknown_argument", "tool parameter argument"),
            KeyForm::sentence("missing_argument", "tool parameter"),
        ],
    },
    SectionForm {
        id: "llama-index",
        keys: &[
            KeyForm::new("system", "task tool_desc tool_names context_prompt"),
            KeyForm { must: Some("context"), ..KeyForm::new("context", "context") }.optional(),
            KeyForm::new("feedback", "error"),
            KeyForm::new("empty_reply", ""),
            KeyForm::new("force_stop", "max_steps max_iterations"),
            KeyForm::sentence("unknown_argument", "tool parameter argument"),
            KeyForm::sentence("missing_argument", "tool parameter"),
        ],
    },
    SectionForm {
        id: "go-blog",
        keys: &[
            KeyForm { style: Style::Go, ..KeyForm::new("system", "Background ToolDesc ToolNames") },
            KeyForm::new("feedback", "error"),
            KeyForm::sentence("unknown_tool", "tool tools"),
            KeyForm::sentence("no_action", ""),
            KeyForm::sentence("bad_call", ""),
            KeyForm::sentence("bad_answer", ""),
            KeyForm::sentence("not_json", ""),
            KeyForm::sentence("unknown_argument", "argument"),
            KeyForm::sentence("missing_argument", "argument"),
        ],
    },
    SectionForm {
        id: "lagent",
        keys: &[
            KeyForm::new("system", "task tool_description action_names thought action action_input response finish"),
            KeyForm::new("force_stop", ""),
        ],
    },
    SectionForm {
        id: "lagent-json",
        keys: &[
            KeyForm::new("system", "task tool_description action_names"),
            KeyForm::new("force_stop", "").optional(),
        ],
    },
    SectionForm { id: "tool-calls", keys: TOOL_CALLS },
    SectionForm { id: "tool-calls-text", keys: TOOL_CALLS },
    SectionForm {
        id: "robust",
        keys: &[
            KeyForm::new("feedback", "error n tools"),
            KeyForm::new("force_stop", ""),
            KeyForm::sentence("reply_empty", ""),
            KeyForm::sentence("reply_cut", ""),
            KeyForm::sentence("no_action", ""),
            KeyForm::sentence("unknown_tool", "tool tools"),
            KeyForm::sentence("no_argument", "tool"),
            KeyForm::sentence("empty_argument", "tool"),
            KeyForm::sentence("placeholder", ""),
            KeyForm::sentence("not_json", ""),
            KeyForm::sentence("several_actions", ""),
        ],
    },
];

fn of(section: &str) -> Option<&'static SectionForm> {
    FORMS.iter().find(|form| form.id == section)
}

/// Where the format is shown, for somebody who has only the program.
const HELP: &str = "`wikitrail prompt show prompts/protocols/en.toml --source` is such a file with all its keys";

/// Reads the text of the file that messages call `file`. All problems are found in one pass.
fn parse(file: &str, text: &str) -> Result<TextsFile, Problems> {
    let (mut reader, tree) = Reader::parse(file, text, HELP)?;
    let root = Reader::root(tree.get_ref());
    let known: Vec<&'static str> = ["language", "tools"].into_iter().chain(FORMS.iter().map(|form| form.id)).collect();
    reader.known_keys(&root, &known);
    let mut sections = BTreeMap::new();
    for form in &FORMS {
        if let Some(section) = reader.section(&root, form.id) {
            sections.insert(form.id, read_section(&mut reader, &section, form));
        }
    }
    let language = root.has("language").then(|| reader.required_line(&root, "language")).flatten();
    let tools = read_tools(&mut reader, &root);
    if !reader.is_clean() {
        return Err(reader.into_problems());
    }
    Ok(TextsFile { file: file.to_owned(), language, tools, sections })
}

/// The key of a tool is its name; beside it is that of its parameter.
const TOOLS: [(Tool, &str); 5] = [
    (Tool::Search, "search_parameter"),
    (Tool::Lookup, "lookup_parameter"),
    (Tool::Passages, "passages_parameter"),
    (Tool::Document, "document_parameter"),
    (Tool::Finish, "finish_parameter"),
];

fn read_tools(reader: &mut Reader<'_>, root: &Table<'_>) -> Option<ToolTexts> {
    let section = reader.section(root, "tools")?;
    let known: Vec<&'static str> = TOOLS.iter().flat_map(|(tool, parameter)| [tool.name(), *parameter]).collect();
    reader.known_keys(&section, &known);
    let mut tools = ToolTexts::default();
    for (tool, parameter) in TOOLS {
        // Most files need no others; the two texts of each are left out together.
        let usual = matches!(tool, Tool::Search | Tool::Lookup);
        if usual || section.has(tool.name()) || section.has(parameter) {
            let mut text = |key| reader.required_line(&section, key).unwrap_or_default();
            tools.0.insert(tool, (text(tool.name()), text(parameter)));
        }
    }
    Some(tools)
}

fn read_section(
    reader: &mut Reader<'_>,
    section: &Table<'_>,
    form: &'static SectionForm,
) -> BTreeMap<&'static str, Slotted> {
    let known: Vec<&'static str> = form.keys.iter().map(|key| key.name).collect();
    reader.known_keys(section, &known);
    let mut texts = BTreeMap::new();
    for key in form.keys.iter().filter(|key| key.needed || section.has(key.name)) {
        if let Some((_, slotted)) = read_text(reader, section, key) {
            texts.insert(key.name, slotted);
        }
    }
    texts
}

pub(in crate::prompting) fn read_text(
    reader: &mut Reader<'_>,
    section: &Table<'_>,
    key: &KeyForm,
) -> Option<(String, Slotted)> {
    let text = reader.required_text(section, key.name)?;
    match Slotted::parse(&text, key.style) {
        Ok(slotted) => {
            check(reader, section, key, &text, &slotted);
            Some((text, slotted))
        }
        Err(bad) => {
            // The beginning of the line finds it; the rest may have escapes in the file.
            let start: String = bad.rest.lines().next().unwrap_or_default().chars().take(20).collect();
            let line = reader.line_in_value(section, key.name, |source| source.find(&start));
            reader.note(line, format!("`{}` has {}", section.path(key.name), bad.reason));
            None
        }
    }
}

fn check(reader: &mut Reader<'_>, section: &Table<'_>, key: &KeyForm, text: &str, slotted: &Slotted) {
    let path = section.path(key.name);
    let slots: Vec<&str> = key.slots.split_whitespace().collect();
    let mut strangers: Vec<&str> = slotted.names().filter(|name| !slots.contains(name)).collect();
    strangers.sort_unstable();
    strangers.dedup();
    // A few names are enough; each takes a pass over the text.
    for name in strangers.into_iter().take(20) {
        let line = reader.line_in_value(section, key.name, |source| find_slot(source, name));
        let fault = Fault::from(format!("unknown {} `{}` in `{path}`", key.style.noun(), quoted(name)));
        let fault = match closest(name, slots.iter().copied()) {
            None if slots.is_empty() => fault.hint(format!("this text has no {}s", key.style.noun())),
            None => fault.hint(format!("use one of: {}", key.style.list(&slots))),
            known => fault.did_you_mean(known),
        };
        reader.note(line, fault);
    }
    let line = reader.line_in(section, key.name);
    if let Some(must) = key.must {
        let count = slotted.names().filter(|name| *name == must).count();
        if count != 1 {
            let fault = Fault::from(format!("`{path}` must have the slot `{must}` once, but has it {count} times"));
            reader.note(line, fault.hint(format!("write {{{must}}} where it belongs, and only there")));
        }
    }
    if !text.ends_with(key.ending) {
        let fault = Fault::from(format!("`{path}` must end with \"{}\"", quoted(key.ending)));
        reader.note(line, fault.hint("put the closing quotes right after it, without a line break"));
    }
}

/// Offset of the slot in the file's source, with the white space that Go's templates and instructions allow.
pub(in crate::prompting) fn find_slot(source: &str, name: &str) -> Option<usize> {
    source.match_indices(name).map(|(at, _)| at).find(|at| {
        let before = source[..*at].trim_end_matches(' ').trim_end_matches('.').trim_end_matches(' ');
        let after = source[at + name.len()..].trim_start_matches(' ');
        before.ends_with('{') && after.starts_with('}')
    })
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::prompting) enum Style {
    /// As Python's `str.format` reads them: `{name}`, and `{{` and `}}` for braces.
    Python,
    /// As Go's templates: `{{.Name}}`, white space inside allowed; other braces are themselves.
    Go,
    /// As the instructions of a prompt file have them: `{{ name }}`.
    Instruction,
    /// As a plain text has them: `{name}`, and `{{name}}` for the text `{name}`; other braces are themselves.
    Plain,
}

impl Style {
    fn noun(self) -> &'static str {
        match self {
            Self::Instruction | Self::Plain => "placeholder",
            Self::Python | Self::Go => "slot",
        }
    }

    fn list(self, names: &[&str]) -> String {
        let written = |name: &&str| match self {
            Self::Python | Self::Plain => format!("{{{name}}}"),
            Self::Go => format!("{{{{.{name}}}}}"),
            Self::Instruction => format!("{{{{ {name} }}}}"),
        };
        names.iter().map(written).collect::<Vec<_>>().join(", ")
    }
}

/// Slots that a text may have; a text that repeats a long value often enough would fill the memory.
const MAX_SLOTS: usize = 32;

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Slotted(Vec<Piece>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Text(String),
    Slot(String),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::prompting) struct BadSlot {
    pub(in crate::prompting) reason: String,
    /// The text from there on, as it can be looked for in the file.
    rest: String,
}

impl Slotted {
    /// Cuts a text at its slots; names are not checked.
    pub(in crate::prompting) fn parse(text: &str, style: Style) -> Result<Self, BadSlot> {
        let slotted = Self::cut(text, style)?;
        if slotted.names().count() > MAX_SLOTS {
            let reason = format!("more than {MAX_SLOTS} {}s", style.noun());
            return Err(BadSlot { reason, rest: text.to_owned() });
        }
        Ok(slotted)
    }

    fn cut(text: &str, style: Style) -> Result<Self, BadSlot> {
        match style {
            Style::Python => python(text),
            Style::Plain => Ok(plain(text)),
            Style::Go => double_braces(text, ".", "`{{` without the name of a slot after it, such as `{{.ToolDesc}}`"),
            Style::Instruction => {
                if let Some(at) = text.find("{%").or_else(|| text.find("{#")) {
                    let reason =
                        format!("`{}`, which is not a placeholder such as `{{{{ tools }}}}`", &text[at..at + 2]);
                    return Err(BadSlot { reason, rest: text[at..].to_owned() });
                }
                double_braces(text, "", "`{{` that does not begin a placeholder such as `{{ tools }}`")
            }
        }
    }

    /// Names of the slots, in order, repeated as they stand.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(|piece| match piece {
            Piece::Slot(name) => Some(name.as_str()),
            Piece::Text(_) => None,
        })
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.names().any(|slot| slot == name)
    }

    /// Fills in the slots; the error is the name of a slot without a value.
    pub(crate) fn fill<'v>(&self, value: impl Fn(&str) -> Option<&'v str>) -> Result<String, &str> {
        let mut filled = String::new();
        for piece in &self.0 {
            match piece {
                Piece::Text(text) => filled.push_str(text),
                Piece::Slot(name) => filled.push_str(value(name).ok_or(name.as_str())?),
            }
        }
        Ok(filled)
    }

    /// Fills in the slots that have a value and leaves the rest as `{name}`.
    pub(crate) fn fill_known<'v>(&self, value: impl Fn(&str) -> Option<&'v str>) -> String {
        let piece = |piece: &Piece| match piece {
            Piece::Text(text) => text.clone(),
            Piece::Slot(name) => value(name).map_or_else(|| format!("{{{name}}}"), str::to_owned),
        };
        self.0.iter().map(piece).collect()
    }

    /// The parts before and after the first slot of that name.
    pub(crate) fn split_at(&self, name: &str) -> Option<(Self, Self)> {
        let at = self.0.iter().position(|piece| matches!(piece, Piece::Slot(slot) if slot == name))?;
        Some((Self(self.0[..at].to_vec()), Self(self.0[at + 1..].to_vec())))
    }

    fn text(&mut self, text: &str) {
        match self.0.last_mut() {
            Some(Piece::Text(last)) => last.push_str(text),
            _ if text.is_empty() => {}
            _ => self.0.push(Piece::Text(text.to_owned())),
        }
    }
}

fn python(text: &str) -> Result<Slotted, BadSlot> {
    let mut slotted = Slotted::default();
    let mut rest = text;
    while let Some(at) = rest.find(['{', '}']) {
        let (before, from) = rest.split_at(at);
        slotted.text(before);
        let brace = &from[..1];
        if from[1..].starts_with(brace) {
            slotted.text(brace);
            rest = &from[2..];
            continue;
        }
        let name = from.strip_prefix('{').and_then(|inner| inner.split_once('}')).map(|(name, _)| name);
        let Some(name) = name.filter(|name| is_name(name)) else {
            let reason = format!("a single `{brace}`; write a literal brace twice");
            return Err(BadSlot { reason, rest: from.to_owned() });
        };
        slotted.0.push(Piece::Slot(name.to_owned()));
        rest = &from[name.len() + 2..];
    }
    slotted.text(rest);
    Ok(slotted)
}

/// A word in braces: `{word}`, or `{{word}}` with the braces doubled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::prompting) struct Braced<'t> {
    pub(in crate::prompting) at: usize,
    pub(in crate::prompting) name: &'t str,
    pub(in crate::prompting) doubled: bool,
}

impl Braced<'_> {
    fn braces(&self) -> usize {
        1 + usize::from(self.doubled)
    }

    fn end(&self) -> usize {
        self.at + self.name.len() + 2 * self.braces()
    }
}

/// The words in braces in the order of the text. A word begins with a letter: `{2}` is none.
pub(in crate::prompting) fn braced(text: &str) -> impl Iterator<Item = Braced<'_>> {
    let mut from = 0;
    std::iter::from_fn(move || {
        while let Some(at) = text.get(from..)?.find('{').map(|at| from + at) {
            let doubled = text[at..].starts_with("{{");
            let inner = text[at..].trim_start_matches('{');
            // Of more braces than two, the last two belong to the word.
            let opened = text.len() - inner.len();
            let at = opened - (opened - at).min(1 + usize::from(doubled));
            let name = &inner[..inner.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(inner.len())];
            let closed = |braces: &str| inner[name.len()..].starts_with(braces);
            from = opened;
            if name.starts_with(|c: char| c.is_ascii_digit()) || name.is_empty() || !closed("}") {
                continue;
            }
            // A single brace at one of the ends is itself.
            let doubled = doubled && closed("}}");
            let at = if doubled { at } else { opened - 1 };
            let word = Braced { at, name, doubled };
            from = word.end();
            return Some(word);
        }
        None
    })
}

fn plain(text: &str) -> Slotted {
    let (mut slotted, mut from) = (Slotted::default(), 0);
    for word in braced(text) {
        slotted.text(&text[from..word.at]);
        if word.doubled {
            slotted.text(&text[word.at + 1..word.end() - 1]);
        } else {
            slotted.0.push(Piece::Slot(word.name.to_owned()));
        }
        from = word.end();
    }
    slotted.text(&text[from..]);
    slotted
}

/// Slots in double braces, white space inside allowed, with `dot` before the name; other braces are text.
fn double_braces(text: &str, dot: &str, reason: &str) -> Result<Slotted, BadSlot> {
    let mut slotted = Slotted::default();
    let mut rest = text;
    while let Some(at) = rest.find("{{") {
        let (before, from) = rest.split_at(at);
        slotted.text(before);
        let action = from[2..].split_once("}}").map(|(action, _)| action);
        let name = action.and_then(|action| action.trim().strip_prefix(dot)).filter(|name| is_name(name));
        let (Some(action), Some(name)) = (action, name) else {
            return Err(BadSlot { reason: reason.to_owned(), rest: from.to_owned() });
        };
        slotted.0.push(Piece::Slot(name.to_owned()));
        rest = &from[action.len() + 4..];
    }
    slotted.text(rest);
    Ok(slotted)
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::{Slotted, Style};

    fn filled(text: &str, style: Style) -> String {
        let slotted = Slotted::parse(text, style).unwrap();
        slotted.fill(|name| ["a", "A"].contains(&name).then_some("{x}")).unwrap()
    }

    #[test]
    fn slots_are_filled_once_and_doubled_braces_are_braces() {
        assert_eq!(filled("{a} {{\"b\": {{}}}}}}{a}", Style::Python), "{x} {\"b\": {}}}{x}");
        assert_eq!(filled("{{.A}} {\"b\": {}} {{ .A }}", Style::Go), "{x} {\"b\": {}} {x}");
        assert_eq!(filled("{{ A }} {a} }} {\n{{a}}", Style::Instruction), "{x} {a} }} {\n{x}");
        assert_eq!(
            filled("{a} {{a}} {{{a}}} {{a} {a}} {{{{a} } {\"b\": {0}}", Style::Plain),
            "{x} {a} {{a}} {{x} {x}} {{{{x} } {\"b\": {0}}"
        );
        assert_eq!(filled("", Style::Python), "");
    }

    #[test]
    fn malformed_slots_are_refused_with_their_place() {
        for text in ["x {", "x }", "x {a b}", "x {}", "x {0.a}", "x {a!r}", "x } {a}"] {
            let bad = Slotted::parse(text, Style::Python).unwrap_err();
            assert_eq!(bad.rest, text[2..], "{text}");
        }
        for text in ["x {{", "x {{A}}", "x {{- .A}}", "x {{if .A}}y{{end}}"] {
            assert_eq!(Slotted::parse(text, Style::Go).unwrap_err().rest, text[2..], "{text}");
        }
        for text in ["x {{", "x {{.A}}", "x {{ a | upper }}", "x {% if a %}y{% endif %}", "x {# a #}"] {
            assert_eq!(Slotted::parse(text, Style::Instruction).unwrap_err().rest, text[2..], "{text}");
        }
    }

    #[test]
    fn a_slot_without_value_is_named_or_left() {
        let slotted = Slotted::parse("{{{a}}} {b}", Style::Python).unwrap();
        let value = |name: &str| (name == "a").then_some("1");
        assert_eq!(slotted.fill(value), Err("b"));
        assert_eq!(slotted.fill_known(value), "{1} {b}");
        assert_eq!(slotted.names().collect::<Vec<_>>(), ["a", "b"]);
        let (before, after) = slotted.split_at("b").unwrap();
        assert_eq!((before.fill(value).unwrap(), after.fill(value).unwrap()), ("{1} ".to_owned(), String::new()));
        assert!(slotted.split_at("c").is_none());
    }
}
