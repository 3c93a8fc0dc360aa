//! The variants of an experiment file: its matrix, inclusions and exclusions.

use super::MAX_VARIANTS;
use super::expand::{Choice, Combination, Dimension, Draft, Expanded, Naming, expand, over, used, value_names};
use super::reader::{Entry, Notes, Table, empty, fault, set_twice, too_many_variants, unused};
use super::settings::{Assignment, Kind, Setting, VARIANT_SETTINGS, value_text, variant_setting};
use crate::base::text::closest;
use crate::prompting::quoted;
use std::collections::HashSet;
use toml::Spanned;
use toml::de::DeValue;

/// Settings by which combinations are left out: each with the values that it may have.
struct Exclusion {
    name: String,
    line: usize,
    conditions: Vec<Vec<Assignment>>,
    used: bool,
}

#[derive(Default)]
struct Parts {
    base: Vec<Assignment>,
    /// Line of `[matrix]`, where there is one.
    matrix: Option<usize>,
    dimensions: Vec<Dimension>,
    naming: Option<Naming>,
    included: Vec<Included>,
    exclusions: Vec<Exclusion>,
}

struct Included {
    name: String,
    line: usize,
    own: Vec<Assignment>,
}

pub(super) fn read_variants(notes: &mut Notes<'_>, entries: &[Entry<'_>], find: Find<'_>) -> Expanded {
    let mut parts = Parts::read(notes, entries, find);
    // Half a matrix would only make more problems of the same kind.
    if !notes.is_clean() {
        return Expanded::default();
    }
    let line = parts.matrix.unwrap_or(1);
    let size = parts.dimensions.iter().map(|dimension| dimension.choices.len()).fold(1, usize::saturating_mul);
    if size > MAX_VARIANTS {
        notes.note(line, too_many_variants(size));
        return Expanded::default();
    }
    let mut expanded = Expanded::default();
    if parts.matrix.is_some() || parts.included.is_empty() {
        let naming = parts.naming.take().unwrap_or(Naming::Joined);
        let exclusions = &mut parts.exclusions;
        expanded = expand(&parts.base, &parts.dimensions, &naming, line, |combination| {
            let matching = exclusions.iter_mut().filter(|exclusion| exclusion.matches(combination));
            matching.map(|exclusion| exclusion.used = true).count() > 0
        });
        if expanded.kept.is_empty() {
            notes.note(line, fault("every variant is excluded".to_owned(), "exclude fewer, or add an [[include]]"));
        }
    }
    for exclusion in parts.exclusions.iter().filter(|exclusion| !exclusion.used) {
        let message = format!("`{}` matches no variant of [matrix]", exclusion.name);
        notes.note(exclusion.line, fault(message, "name values from [matrix] or [settings]"));
    }
    for Included { name, line, own } in &parts.included {
        let settings = used(&over(&parts.base, own));
        let own = own.iter().map(|assignment| assignment.setting.name).collect();
        expanded.kept.push(Draft { name: name.clone(), line: *line, settings, own });
    }
    check_parts(notes, line, &parts, &expanded);
    expanded
}

impl Parts {
    fn read(notes: &mut Notes<'_>, entries: &[Entry<'_>], found: Find<'_>) -> Self {
        let find = |key: &str| entries.iter().copied().find(|entry| entry.key == key);
        let mut table = |key: &str| find(key).and_then(|entry| notes.table(key.to_owned(), entry.value));
        let (base, matrix) = (table("settings"), table("matrix"));
        let base = base.map(|table| settings(notes, &table, &[])).unwrap_or_default();
        let dimensions = matrix.as_ref().map(|table| dimensions(notes, table, found)).unwrap_or_default();
        for dimension in &dimensions {
            if base.iter().any(|assignment| assignment.sets(dimension.setting)) {
                notes.note(dimension.line, set_twice(dimension.setting.name, "[settings]"));
            }
        }
        let naming = find("names").and_then(|entry| {
            let template = notes.name("names", entry.value, false)?;
            Some(Naming::read(notes, entry.line, &template, &dimensions))
        });
        let included = find("include").map(|entry| included(notes, entry)).unwrap_or_default();
        let exclusions = find("exclude").map(|entry| exclusions(notes, entry)).unwrap_or_default();
        Self { base, matrix: matrix.as_ref().map(Table::line), dimensions, naming, included, exclusions }
    }
}

fn included(notes: &mut Notes<'_>, entry: Entry<'_>) -> Vec<Included> {
    let mut found = Vec::new();
    for table in notes.tables("include", entry.value) {
        let own = settings(notes, &table, &["name"]);
        match notes.entries(&table).iter().find(|entry| entry.key == "name") {
            None => notes.missing(&table, "name"),
            Some(entry) => {
                let name = notes.name(&table.path("name"), entry.value, false);
                found.extend(name.map(|name| Included { name, line: table.line(), own }));
            }
        }
    }
    found
}

fn exclusions(notes: &mut Notes<'_>, entry: Entry<'_>) -> Vec<Exclusion> {
    let mut found = Vec::new();
    for table in notes.tables("exclude", entry.value) {
        let mut conditions = Vec::new();
        let entries = notes.entries(&table);
        for entry in &entries {
            let Some(setting) = variant_setting(entry.key) else {
                notes.unknown_key(&table, *entry, &setting_names());
                continue;
            };
            let path = table.path(setting.name);
            let values = match entry.value.get_ref().as_array() {
                Some(items) => items.iter().map(|item| condition(notes, &path, setting, item)).collect(),
                None => vec![condition(notes, &path, setting, entry.value)],
            };
            conditions.push(values.into_iter().flatten().collect());
        }
        if entries.is_empty() {
            let message = format!("`{}` has no conditions and would exclude every variant", table.name());
            notes.note(table.line(), fault(message, "name the settings of the variants to exclude"));
        }
        found.push(Exclusion { name: table.name().to_owned(), line: table.line(), conditions, used: false });
    }
    found
}

/// A value to be matched: one of the setting's own type, or the short name of one.
fn condition(
    notes: &mut Notes<'_>,
    path: &str,
    setting: &'static Setting,
    value: &Spanned<DeValue<'_>>,
) -> Option<Assignment> {
    match value.get_ref().as_str() {
        Some(text) => Some(Assignment { setting, value: text.into(), line: notes.line_of(value) }),
        None if setting.kind == Kind::Options => {
            notes.wrong_type(path, value, "the short name of a value");
            None
        }
        None => notes.setting(path, setting, value),
    }
}

impl Exclusion {
    fn matches(&self, combination: &Combination<'_>) -> bool {
        self.conditions.iter().all(|values| {
            values.iter().any(|wanted| {
                let text = value_text(&wanted.value);
                let is_named = |(dimension, name): &(&Dimension, &str)| wanted.sets(dimension.setting) && *name == text;
                let is_set = |set: &Assignment| set.sets(wanted.setting) && value_text(&set.value) == text;
                combination.named.iter().any(is_named) || combination.settings.iter().any(is_set)
            })
        })
    }
}

fn check_parts(notes: &mut Notes<'_>, line: usize, parts: &Parts, expanded: &Expanded) {
    let mut names = HashSet::new();
    for draft in &expanded.kept {
        if !names.insert(&draft.name) {
            let message = format!("two variants are named `{}`", quoted(&draft.name));
            let hint =
                "variants are named after [matrix], by `names` or by an [[include]]; each needs a name of its own";
            notes.note(draft.line, fault(message, hint));
        }
        for assignment in draft.settings.iter().filter(|assignment| assignment.setting.kind == Kind::Options) {
            let whose = assignment.value.as_object().and_then(|options| options.keys().find_map(|k| k.split_once('.')));
            if let Some((protocol, _)) = whose {
                let key = assignment.setting.name;
                let message = format!("`{key}` is for protocol `{protocol}`, but the variant names no protocol");
                notes.note(assignment.line, fault(message, "name the variant's protocol"));
            }
        }
    }
    if !notes.is_clean() {
        return;
    }
    note_unused(notes, parts, expanded);
    if expanded.kept.len() > MAX_VARIANTS {
        notes.note(line, too_many_variants(expanded.kept.len()));
    }
}

fn note_unused(notes: &mut Notes<'_>, parts: &Parts, expanded: &Expanded) {
    let settings = expanded.kept.iter().flat_map(|draft| &draft.settings);
    let used: HashSet<(usize, &str)> = settings.map(|set| (set.line, set.setting.name)).collect();
    let is_used = |assignment: &Assignment| used.contains(&(assignment.line, assignment.setting.name));
    for assignment in parts.base.iter().filter(|assignment| !is_used(assignment)) {
        notes.note(assignment.line, unused(&format!("settings.{}", assignment.setting.name)));
    }
    for dimension in &parts.dimensions {
        let mut own = dimension.choices.iter().flat_map(|choice| &choice.settings);
        if expanded.excluded == 0 && !own.any(|set| set.sets(dimension.setting) && is_used(set)) {
            notes.note(dimension.line, unused(&format!("matrix.{}", dimension.setting.name)));
        }
    }
    for (i, included) in parts.included.iter().enumerate() {
        for assignment in included.own.iter().filter(|assignment| !is_used(assignment)) {
            notes.note(assignment.line, unused(&format!("include[{}].{}", i + 1, assignment.setting.name)));
        }
    }
}

/// How a prompt's path is found from here, where its file may be opened for its name.
pub(super) type Find<'f> = Option<&'f dyn Fn(&str) -> String>;

fn setting_names() -> Vec<&'static str> {
    VARIANT_SETTINGS.iter().filter(|setting| !setting.only_typed).map(|setting| setting.name).collect()
}

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

pub(super) fn dimensions(notes: &mut Notes<'_>, table: &Table<'_>, find: Find<'_>) -> Vec<Dimension> {
    let mut dimensions: Vec<Dimension> = Vec::new();
    if notes.entries(table).is_empty() {
        notes.note(table.line(), empty(table.name()));
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
                notes.note(setting.line, set_twice(setting.setting.name, &format!("`matrix.{}`", other.setting.name)));
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
        notes.note(entry.line, empty(path));
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
    let mut names = value_names(&unnamed, find).into_iter();
    let mut choices: Vec<Choice> = Vec::new();
    for (item, mut choice) in read {
        if choice.name.is_empty() {
            choice.name = names.next().unwrap_or_default();
        }
        if choices.iter().any(|other| other.name == choice.name) {
            let message = format!("two values of `matrix.{}` have the short name `{}`", key.name, choice.name);
            let hint = format!("name one of them: {{ name = \"short\", {} = … }}", key.name);
            notes.note(notes.line_of(item), fault(message, &hint));
        }
        choices.push(choice);
    }
    choices
}

/// `{ name = "short", KEY = …, more settings }`.
fn named(notes: &mut Notes<'_>, path: String, key: &'static Setting, item: &Spanned<DeValue<'_>>) -> Option<Choice> {
    let table = notes.table(path, item)?;
    let settings = settings(notes, &table, &["name"]);
    let entries = notes.entries(&table);
    notes.require(&table, &entries, &["name", key.name]);
    let name = entries.iter().find(|entry| entry.key == "name")?;
    let name = notes.name(&table.path("name"), name.value, false)?;
    Some(Choice { name, settings })
}

impl Naming {
    pub(super) fn read(notes: &mut Notes<'_>, line: usize, template: &str, dimensions: &[Dimension]) -> Self {
        let mut parts = Vec::new();
        let mut rest = template;
        while let Some(at) = rest.find(['{', '}']) {
            let (before, from) = rest.split_at(at);
            let Some((name, after)) = from.strip_prefix('{').and_then(|inner| inner.split_once('}')) else {
                notes.note(line, fault("unmatched brace in `names`".to_owned(), "write placeholders as {protocol}"));
                return Self::Joined;
            };
            let keys = || dimensions.iter().map(|dimension| dimension.setting.name);
            if let Some(key) = keys().find(|key| *key == name) {
                parts.push((before.to_owned(), key));
            } else {
                let hint = closest(name, keys()).map(|known| format!("did you mean `{{{known}}}`?"));
                let otherwise = || "placeholders are the keys of [matrix] in braces".to_owned();
                let message = format!("unknown placeholder `{}` in `names`", quoted(name));
                notes.note(line, fault(message, &hint.unwrap_or_else(otherwise)));
            }
            rest = after;
        }
        Self::Template(parts, rest.to_owned())
    }
}
