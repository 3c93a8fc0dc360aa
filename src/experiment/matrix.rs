//! The matrix: its dimensions, every combination of their values, and the names of the cells.

use super::problem::ProblemKind;
use super::reader::{Entry, Notes, Table};
use super::setting::{CELL_KEYS, Key, Setting, Value};
use crate::prompt::{closest, quoted};
use std::path::Path;

/// A key of `[matrix]`.
pub(super) struct Dimension {
    pub(super) key: &'static Key,
    pub(super) line: usize,
    pub(super) choices: Vec<Choice>,
}

/// One value of a dimension: its short name and what it sets.
pub(super) struct Choice {
    pub(super) name: String,
    pub(super) settings: Vec<Setting>,
}

/// The cell key of that name.
pub(super) fn cell_key(name: &str) -> Option<&'static Key> {
    CELL_KEYS.iter().find(|key| key.name == name)
}

pub(super) fn cell_key_names() -> Vec<&'static str> {
    CELL_KEYS.iter().map(|key| key.name).collect()
}

/// Reads the settings of a table whose other keys are `besides`.
pub(super) fn settings(notes: &mut Notes<'_>, table: &Table<'_>, besides: &[&'static str]) -> Vec<Setting> {
    let mut settings = Vec::new();
    for entry in notes.entries(table) {
        match cell_key(entry.key) {
            Some(key) => settings.extend(notes.setting(&table.path(key.name), key, entry.value)),
            None if besides.contains(&entry.key) => {}
            None => {
                let mut known = cell_key_names();
                known.extend(besides);
                notes.unknown_key(table, entry, &known);
            }
        }
    }
    settings
}

/// Reads `[matrix]`.
pub(super) fn dimensions(notes: &mut Notes<'_>, table: &Table<'_>) -> Vec<Dimension> {
    let mut dimensions: Vec<Dimension> = Vec::new();
    for entry in notes.entries(table) {
        let Some(key) = cell_key(entry.key) else {
            notes.unknown_key(table, entry, &cell_key_names());
            continue;
        };
        let choices = choices(notes, &table.path(key.name), key, entry);
        dimensions.push(Dimension { key, line: entry.line, choices });
    }
    for (i, dimension) in dimensions.iter().enumerate() {
        for setting in dimension.choices.iter().flat_map(|choice| &choice.settings) {
            let sets = |other: &&Dimension| other.sets().any(|key| key.name == setting.key.name);
            if let Some(other) = dimensions[..i].iter().find(sets) {
                let other = format!("`matrix.{}`", other.key.name);
                notes.note(setting.line, ProblemKind::SetTwice { key: setting.key.name, other });
            }
        }
    }
    dimensions
}

fn choices(notes: &mut Notes<'_>, path: &str, key: &'static Key, entry: Entry<'_>) -> Vec<Choice> {
    let Some(items) = entry.value.get_ref().as_array() else {
        notes.wrong_type(path, entry.value, "a list of values");
        return Vec::new();
    };
    if items.is_empty() {
        notes.note(entry.line, ProblemKind::Empty(path.to_owned()));
    }
    let mut choices: Vec<Choice> = Vec::new();
    for (i, item) in items.iter().enumerate() {
        let path = format!("{path}[{}]", i + 1);
        let choice = if item.get_ref().is_table() {
            named(notes, path, key, item)
        } else {
            notes.setting(&path, key, item).map(|setting| Choice { name: short(&setting), settings: vec![setting] })
        };
        let Some(choice) = choice else { continue };
        if choices.iter().any(|other| other.name == choice.name) {
            let kind = ProblemKind::ValueTwice { dimension: key.name, name: choice.name.clone() };
            notes.note(notes.line_of(item), kind);
        }
        choices.push(choice);
    }
    choices
}

/// `{ name = "short", KEY = …, more settings }`.
fn named(
    notes: &mut Notes<'_>,
    path: String,
    key: &'static Key,
    item: &toml::Spanned<toml::de::DeValue<'_>>,
) -> Option<Choice> {
    let table = notes.table(path, item)?;
    let settings = settings(notes, &table, &["name"]);
    let entries = notes.entries(&table);
    for needed in ["name", key.name] {
        if !entries.iter().any(|entry| entry.key == needed) {
            notes.note(table.line(), ProblemKind::MissingKey(table.path(needed)));
        }
    }
    let name = entries.iter().find(|entry| entry.key == "name")?;
    let name = notes.name(&table.path("name"), name.value, false)?;
    Some(Choice { name, settings })
}

fn stem(path: &str) -> Option<String> {
    Path::new(path).file_stem().map(|stem| stem.to_string_lossy().into_owned())
}

/// What a prompt is called in the name of a cell: its key in the paper's JSON, else its file's name.
pub fn prompt_name(spec: &str) -> String {
    match spec.split_once(".json#") {
        Some((_, key)) => key.to_owned(),
        None => stem(spec).unwrap_or_else(|| spec.to_owned()),
    }
}

/// What a value is called in the name of a cell.
fn short(setting: &Setting) -> String {
    let Value::One(value) = &setting.value else { return setting.shown() };
    let last = |text: &str, marks: &[char]| text.trim_end_matches(marks).rsplit(marks).next().map(str::to_owned);
    let name = match setting.key.name {
        "prompt" => Some(prompt_name(value)),
        "instruction" | "texts" | "key_file" => stem(value),
        "model" | "wiki" => last(value, &[':', '/']),
        "protocol" | "method" | "exemplar_order" | "compat" | "wording" => Some(value.clone()),
        key => Some(format!("{key}={value}")),
    };
    let name = name.filter(|name| !name.is_empty()).unwrap_or_else(|| value.clone());
    // The slash stands between dimensions.
    name.replace('/', "_")
}

impl Dimension {
    /// Keys that some value of the dimension sets.
    pub(super) fn sets(&self) -> impl Iterator<Item = &'static Key> {
        let own = std::iter::once(self.key);
        own.chain(self.choices.iter().flat_map(|choice| &choice.settings).map(|setting| setting.key))
    }
}

/// Every combination, the first dimension slowest; each as the numbers of its choices.
pub(super) fn combinations(dimensions: &[Dimension]) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new()];
    for dimension in dimensions {
        let longer = |begun: &Vec<usize>| {
            let begun = begun.clone();
            (0..dimension.choices.len()).map(move |choice| [begun.as_slice(), &[choice]].concat())
        };
        all = all.iter().flat_map(longer).collect();
    }
    all
}

/// How cells are named.
pub(super) enum Naming {
    /// Short names joined by `/`.
    Joined,
    /// A template: each placeholder with the text before it, and the text after the last one.
    Template(Vec<(String, &'static str)>, String),
}

impl Naming {
    /// Reads `names`.
    pub(super) fn read(notes: &mut Notes<'_>, line: usize, template: &str, dimensions: &[Dimension]) -> Self {
        let mut parts = Vec::new();
        let mut rest = template;
        while let Some(at) = rest.find(['{', '}']) {
            let (before, from) = rest.split_at(at);
            let Some((name, after)) = from.strip_prefix('{').and_then(|inner| inner.split_once('}')) else {
                notes.note(line, ProblemKind::Brace);
                return Self::Joined;
            };
            let keys = || dimensions.iter().map(|dimension| dimension.key.name);
            if let Some(key) = keys().find(|key| *key == name) {
                parts.push((before.to_owned(), key));
            } else {
                let (name, suggestion) = (quoted(name), closest(name, keys()));
                notes.note(line, ProblemKind::UnknownPlaceholder { name, suggestion });
            }
            rest = after;
        }
        Self::Template(parts, rest.to_owned())
    }

    /// The name of a cell, from the dimensions that matter to it and its short names in them. Where a placeholder's
    /// dimension does not matter, the text before it goes as well.
    pub(super) fn name(&self, named: &[(&'static str, &str)]) -> String {
        match self {
            Self::Joined => named.iter().map(|(_, name)| *name).collect::<Vec<_>>().join("/"),
            Self::Template(parts, end) => {
                let mut text = String::new();
                for (i, (before, placeholder)) in parts.iter().enumerate() {
                    if let Some((_, name)) = named.iter().find(|(dimension, _)| dimension == placeholder) {
                        if i == 0 || !text.is_empty() {
                            text.push_str(before);
                        }
                        text.push_str(name);
                    }
                }
                text + end
            }
        }
    }
}
