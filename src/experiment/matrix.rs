//! The matrix of an experiment file: its dimensions, and the template of the variants' names.

use super::expand::{Choice, Dimension, Naming};
use super::naming;
use super::problem::ProblemKind;
use super::reader::{Entry, Notes, Table};
use super::setting::{Assignment, Setting};
use super::settings::{VARIANT_SETTINGS, variant_setting};
use crate::prompt::quoted;
use crate::types::text::closest;

/// How a prompt's path is found from here, where its file may be opened for its name.
pub(super) type Find<'f> = Option<&'f dyn Fn(&str) -> String>;

pub(super) fn setting_names() -> Vec<&'static str> {
    VARIANT_SETTINGS.iter().filter(|setting| !setting.only_typed).map(|setting| setting.name).collect()
}

/// Reads the settings of a table whose other keys are `besides`.
pub(super) fn settings(notes: &mut Notes<'_>, table: &Table<'_>, besides: &[&'static str]) -> Vec<Assignment> {
    let mut settings = Vec::new();
    for entry in notes.entries(table) {
        match variant_setting(entry.key) {
            Some(key) => settings.extend(notes.setting(&table.path(key.name), key, entry.value)),
            None if besides.contains(&entry.key) => {}
            None => {
                let mut known = setting_names();
                known.extend(besides);
                notes.unknown_key(table, entry, &known);
            }
        }
    }
    settings
}

/// Reads `[matrix]`.
pub(super) fn dimensions(notes: &mut Notes<'_>, table: &Table<'_>, find: Find<'_>) -> Vec<Dimension> {
    let mut dimensions: Vec<Dimension> = Vec::new();
    if notes.entries(table).is_empty() {
        notes.note(table.line(), ProblemKind::Empty(table.name().to_owned()));
    }
    for entry in notes.entries(table) {
        let Some(key) = variant_setting(entry.key) else {
            notes.unknown_key(table, entry, &setting_names());
            continue;
        };
        let choices = choices(notes, &table.path(key.name), key, entry, find);
        dimensions.push(Dimension { setting: key, line: entry.line, choices });
    }
    for (i, dimension) in dimensions.iter().enumerate() {
        for setting in dimension.choices.iter().flat_map(|choice| &choice.settings) {
            let sets = |other: &&Dimension| other.sets().any(|key| key.name == setting.setting.name);
            if let Some(other) = dimensions[..i].iter().find(sets) {
                let other = format!("`matrix.{}`", other.setting.name);
                notes.note(setting.line, ProblemKind::SetTwice { key: setting.setting.name, other });
            }
        }
    }
    dimensions
}

fn choices(notes: &mut Notes<'_>, path: &str, key: &'static Setting, entry: Entry<'_>, find: Find<'_>) -> Vec<Choice> {
    let Some(items) = entry.value.get_ref().as_array() else {
        notes.wrong_type(path, entry.value, "a list of values");
        return Vec::new();
    };
    if items.is_empty() {
        notes.note(entry.line, ProblemKind::Empty(path.to_owned()));
    }
    let (mut read, mut unnamed) = (Vec::new(), Vec::new());
    for (i, item) in items.iter().enumerate() {
        let path = format!("{path}[{}]", i + 1);
        let choice = if item.get_ref().is_table() {
            named(notes, path, key, item)
        } else {
            notes.setting(&path, key, item).map(|setting| {
                unnamed.push(setting.clone());
                Choice { name: String::new(), settings: vec![setting] }
            })
        };
        read.extend(choice.map(|choice| (item, choice)));
    }
    let mut names = naming::value_names(&unnamed, find).into_iter();
    let mut choices: Vec<Choice> = Vec::new();
    for (item, mut choice) in read {
        if choice.name.is_empty() {
            choice.name = names.next().unwrap_or_default();
        }
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
    key: &'static Setting,
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
            let keys = || dimensions.iter().map(|dimension| dimension.setting.name);
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
}
