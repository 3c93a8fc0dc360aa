//! The variants of an experiment, of a file by its matrix, inclusions and exclusions, or of lists that were typed: every
//! combination with the settings that it uses and a name.

use super::MAX_VARIANTS;
use super::model::VariantSpec;
use super::reader::{Entry, Notes, Table, empty, fault, set_twice, too_many_variants, unused};
use super::settings::{
    Applies, Assignment, Facts, Kind, Setting, VARIANT_SETTINGS, VariantSettings, prompt_name, stem, text_of,
    value_text, variant_setting,
};
use super::shipped;
use crate::base::text::{closest, is_control};
use crate::prompting::{self, PromptSource, protocol, quoted};
use crate::runner::RunError;
use serde_json::Value;
use std::collections::HashSet;
use std::path::Path;
use toml::Spanned;
use toml::de::DeValue;

/// Settings by which combinations are left out: each with the values that it may have.
struct Exclusion {
    name: String,
    line: usize,
    conditions: Vec<(&'static Setting, HashSet<String>)>,
    used: bool,
}

#[derive(Default)]
struct Parts {
    base: Vec<Assignment>,
    /// Line of `[matrix]`, where there is one.
    matrix: Option<usize>,
    dimensions: Vec<Dimension>,
    naming: Option<Naming>,
    /// Each with what its inclusion sets, and nothing else.
    included: Vec<Draft>,
    exclusions: Vec<Exclusion>,
}

pub(super) fn read_variants(notes: &mut Notes<'_>, entries: &[Entry<'_>], find: Find<'_>) -> Expansion {
    let mut parts = Parts::read(notes, entries, find);
    // Half a matrix would only make more problems of the same kind.
    if !notes.is_clean() {
        return Expansion::default();
    }
    let line = parts.matrix.unwrap_or(1);
    let size = parts.dimensions.iter().map(|dimension| dimension.choices.len()).fold(1, usize::saturating_mul);
    if size > MAX_VARIANTS {
        notes.note(line, too_many_variants(size));
        return Expansion::default();
    }
    let mut expanded = Expansion::default();
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
    let whole = |draft: &Draft| Draft { settings: used(&over(&parts.base, &draft.settings)), ..draft.clone() };
    expanded.kept.extend(parts.included.iter().map(whole));
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

fn included(notes: &mut Notes<'_>, entry: Entry<'_>) -> Vec<Draft> {
    let mut found = Vec::new();
    for table in notes.tables("include", entry.value) {
        let settings = settings(notes, &table, &["name"]);
        match notes.entries(&table).iter().find(|entry| entry.key == "name") {
            None => notes.missing(&table, "name"),
            Some(entry) => {
                let name = notes.name(&table.path("name"), entry.value, false);
                found.extend(name.map(|name| Draft::new(name, table.line(), settings.clone(), &settings)));
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
            conditions.push((setting, values.into_iter().flatten().collect()));
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
) -> Option<String> {
    match value.get_ref().as_str() {
        Some(text) => Some(text.to_owned()),
        None if setting.kind == Kind::Options => {
            notes.wrong_type(path, value, "the short name of a value");
            None
        }
        None => Some(value_text(&notes.setting(path, setting, value)?.value)),
    }
}

impl Exclusion {
    fn matches(&self, combination: &Combination<'_>) -> bool {
        self.conditions.iter().all(|(setting, texts)| {
            let is_named = |(dimension, name): &(&Dimension, &str)| {
                dimension.setting.name == setting.name && texts.contains(*name)
            };
            let is_set = |set: &Assignment| set.sets(setting) && texts.contains(&value_text(&set.value));
            combination.named.iter().any(is_named) || combination.settings.iter().any(is_set)
        })
    }
}

fn check_parts(notes: &mut Notes<'_>, line: usize, parts: &Parts, expanded: &Expansion) {
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

fn note_unused(notes: &mut Notes<'_>, parts: &Parts, expanded: &Expansion) {
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
        for assignment in included.settings.iter().filter(|assignment| !is_used(assignment)) {
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

fn dimensions(notes: &mut Notes<'_>, table: &Table<'_>, find: Find<'_>) -> Vec<Dimension> {
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

/// A variant on its way from a file or a command line to [`VariantSettings`].
#[derive(Debug, Clone)]
pub struct Draft {
    pub name: String,
    /// Line of the file where it comes from: of its inclusion, or of the matrix; 0 for one that was typed.
    pub line: usize,
    /// What it sets; only settings that it uses.
    pub settings: Vec<Assignment>,
    /// Names of the settings that the matrix or its inclusion gives it.
    own: Vec<&'static str>,
}

struct Dimension {
    setting: &'static Setting,
    line: usize,
    choices: Vec<Choice>,
}

struct Choice {
    name: String,
    settings: Vec<Assignment>,
}

#[derive(Default)]
pub(super) struct Expansion {
    pub(super) kept: Vec<Draft>,
    pub(super) merged: usize,
    pub(super) excluded: usize,
}

struct Combination<'m> {
    settings: Vec<Assignment>,
    named: Vec<(&'m Dimension, &'m str)>,
}

impl Draft {
    fn new(name: String, line: usize, settings: Vec<Assignment>, own: &[Assignment]) -> Self {
        Self { name, line, settings, own: own.iter().map(|assignment| assignment.setting.name).collect() }
    }

    pub(super) fn set(&mut self, assignment: &Assignment) {
        if assignment.setting.is_kept(&Facts::set(&self.settings)) {
            let mut assignment = assignment.clone();
            // Headers come together: a file may have plain ones, and only a person those with secrets.
            let are_headers =
                |other: &&Assignment| other.setting.kind == Kind::Headers && other.sets(assignment.setting);
            let headers = self.settings.iter().find(are_headers).and_then(|old| old.value.as_object());
            if let (Some(old), Some(new)) = (headers, assignment.value.as_object_mut()) {
                let more: Vec<_> = old.iter().filter(|(name, _)| !new.contains_key(*name)).collect();
                new.extend(more.into_iter().map(|(name, value)| (name.clone(), value.clone())));
            }
            self.settings.retain(|other| !other.sets(assignment.setting));
            self.settings.push(assignment);
        }
    }

    /// Drops what belonged to a model or a source that is another one now.
    pub(super) fn prune(&mut self) {
        let settings = self.settings.clone();
        let facts = Facts::set(&settings);
        self.settings.retain(|assignment| assignment.setting.is_kept(&facts));
    }

    /// The variant on a dataset with settings of its own. What distinguishes this variant from the others stays.
    #[must_use]
    pub(super) fn with(&self, of_dataset: &[Assignment]) -> Self {
        let mut draft = self.clone();
        let others = of_dataset.iter().filter(|assignment| !self.own.contains(&assignment.setting.name));
        others.for_each(|assignment| draft.set(assignment));
        draft.prune();
        draft
    }
}

impl Dimension {
    fn sets(&self) -> impl Iterator<Item = &'static Setting> {
        let own = std::iter::once(self.setting);
        own.chain(self.choices.iter().flat_map(|choice| &choice.settings).map(|assignment| assignment.setting))
    }
}

enum Naming {
    /// Short names joined by `/`.
    Joined,
    /// A template: each placeholder with the text before it, and the text after the last one.
    Template(Vec<(String, &'static str)>, String),
}

impl Naming {
    fn read(notes: &mut Notes<'_>, line: usize, template: &str, dimensions: &[Dimension]) -> Self {
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

    /// The name of a variant. A placeholder whose dimension does not matter is left out with the text before it.
    fn name(&self, named: &[(&'static str, &str)]) -> String {
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

impl Combination<'_> {
    /// The name of its variant: dimensions that make no difference to it are left out.
    fn name(&self, naming: &Naming) -> String {
        let facts = Facts::set(&self.settings);
        let matters = |dimension: &Dimension| dimension.sets().any(|setting| setting.applies_to(&facts));
        let mattering = self.named.iter().filter(|(dimension, _)| matters(dimension));
        let named: Vec<(&'static str, &str)> =
            mattering.map(|(dimension, name)| (dimension.setting.name, *name)).collect();
        match naming.name(&named) {
            name if !name.trim().is_empty() => name,
            _ => text_of(&self.settings, "method").unwrap_or("main").to_owned(),
        }
    }
}

/// Every combination on top of `base` that is not excluded. Those that differ in nothing used become one variant.
fn expand(
    base: &[Assignment],
    dimensions: &[Dimension],
    naming: &Naming,
    line: usize,
    mut is_excluded: impl FnMut(&Combination<'_>) -> bool,
) -> Expansion {
    let mut expanded = Expansion::default();
    let mut seen: HashSet<(String, Vec<(&str, String)>)> = HashSet::new();
    for numbers in combinations(dimensions) {
        let chosen = || dimensions.iter().zip(&numbers).map(|(dimension, at)| (dimension, &dimension.choices[*at]));
        let own: Vec<Assignment> = chosen().flat_map(|(_, choice)| choice.settings.iter().cloned()).collect();
        let named = chosen().map(|(dimension, choice)| (dimension, choice.name.as_str())).collect();
        let combination = Combination { settings: over(base, &own), named };
        if is_excluded(&combination) {
            expanded.excluded += 1;
            continue;
        }
        let name = combination.name(naming);
        let settings = used(&combination.settings);
        let facts = Facts::set(&settings);
        let mattering = settings.iter().filter(|assignment| assignment.setting.applies_to(&facts));
        let mut values: Vec<_> = mattering.map(|used| (used.setting.name, value_text(&used.value))).collect();
        values.sort();
        if seen.insert((name.clone(), values)) {
            expanded.kept.push(Draft::new(name, line, settings, &own));
        } else {
            expanded.merged += 1;
        }
    }
    expanded
}

fn over(base: &[Assignment], own: &[Assignment]) -> Vec<Assignment> {
    let kept = base.iter().filter(|assignment| own.iter().all(|other| !other.sets(assignment.setting)));
    kept.chain(own).cloned().collect()
}

/// The settings that a variant uses, with the options of its own protocol.
fn used(settings: &[Assignment]) -> Vec<Assignment> {
    let facts = Facts::set(settings);
    let protocol = text_of(settings, "protocol");
    let mut kept: Vec<Assignment> =
        settings.iter().filter(|assignment| assignment.setting.is_kept(&facts)).cloned().collect();
    for assignment in kept.iter_mut().filter(|assignment| assignment.setting.kind == Kind::Options) {
        let Some(options) = assignment.value.as_object_mut() else { continue };
        let own = |(name, value): (String, Value)| match name.split_once('.') {
            Some((id, name)) if protocol == Some(id) => Some((name.to_owned(), value)),
            // The protocol of such an option is not known; reading the settings refuses it.
            Some(_) if protocol.is_some() => None,
            _ => Some((name, value)),
        };
        *options = std::mem::take(options).into_iter().filter_map(own).collect();
    }
    kept.retain(|assignment| assignment.value.as_object().is_none_or(|options| !options.is_empty()));
    kept
}

/// Every combination, the first dimension slowest; each as the numbers of its choices.
fn combinations(dimensions: &[Dimension]) -> Vec<Vec<usize>> {
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

fn short(assignment: &Assignment) -> String {
    let value = value_text(&assignment.value);
    let last = |text: &str, marks: &[char]| text.trim_end_matches(marks).rsplit(marks).next().map(str::to_owned);
    let name = match assignment.setting.kind {
        Kind::Prompt => Some(prompt_name(&value)),
        Kind::Path => stem(&value),
        Kind::Source => last(&value, &[':', '/', '@']),
        Kind::Choice(_) | Kind::Method | Kind::Texts | Kind::Urls | Kind::Options => Some(value.clone()),
        _ if assignment.setting.name == "model" => last(&value, &[':', '/']),
        _ => Some(format!("{}={value}", assignment.setting.name)),
    };
    let name = name.filter(|name| !name.is_empty()).unwrap_or(value);
    // A slash separates dimensions.
    name.replace('/', "_")
}

/// A dataset's name without one of its own: its file's up to the first dot, as `dev` of `dev.jsonl.gz`.
pub(super) fn dataset_name(path: &str) -> String {
    let file = std::path::Path::new(path).file_name().map(|name| name.to_string_lossy().into_owned());
    let file = file.unwrap_or_default();
    let sound = |c: char| if c.is_ascii_alphanumeric() || "-_".contains(c) { c } else { '_' };
    file.split('.').next().unwrap_or_default().chars().map(sound).collect()
}

/// A dataset on its way from a file to [`DatasetSettings`](super::DatasetSettings).
#[derive(Debug, Clone)]
pub struct DatasetDraft {
    pub name: String,
    pub path: String,
    pub line: usize,
    pub path_line: usize,
    pub settings: Vec<Assignment>,
    /// Settings of variants on this dataset, in place of those that hold for all.
    pub(super) variant_settings: Vec<Assignment>,
}

/// A longer name of a prompt would be too long in a table, and on a command line.
const LONGEST: usize = 40;

/// The names of values that are listed together, in their order. Values with the same name get more of what was
/// written; two of the same value keep the same name.
///
/// `find` leads from a prompt's path to where it is found from here. Without it, no file is opened.
fn value_names(values: &[Assignment], find: Option<&dyn Fn(&str) -> String>) -> Vec<String> {
    let candidates: Vec<[String; 3]> = values.iter().map(|value| candidates(value, find)).collect();
    let mut levels = vec![0; values.len()];
    // One level for all that share a name, so that they are alike.
    for level in 1..3 {
        let names: Vec<(&str, &str)> =
            candidates.iter().zip(&levels).map(|(names, level)| (names[*level].as_str(), names[2].as_str())).collect();
        let shared = |(name, value): &(&str, &str)| names.iter().any(|other| other.0 == *name && other.1 != *value);
        let again: Vec<bool> = names.iter().map(shared).collect();
        levels.iter_mut().zip(again).filter(|(_, again)| *again).for_each(|(old, _)| *old = level);
    }
    // A slash separates dimensions.
    candidates.into_iter().zip(levels).map(|(names, level)| names[level].replace('/', "_")).collect()
}

fn candidates(value: &Assignment, find: Option<&dyn Fn(&str) -> String>) -> [String; 3] {
    let usual = short(value);
    let Some(whole) = value.value.as_str().map(str::to_owned) else { return [usual.clone(), usual.clone(), usual] };
    if value.setting.kind == Kind::Prompt {
        let own = find.and_then(|find| own(&find(&whole))).unwrap_or_else(|| usual.clone());
        let of_file = match whole.split_once(".json#") {
            Some((file, key)) => format!("{}#{key}", Path::new(file).file_name().unwrap_or_default().to_string_lossy()),
            None => prompt_name(&whole),
        };
        return [own, of_file, whole];
    }
    match value.setting.name {
        "model" => [usual, whole.split_once(':').map_or(whole.as_str(), |(_, name)| name).to_owned(), whole],
        _ => [usual.clone(), usual.clone(), usual],
    }
}

/// The name that a prompt file gives itself, if it fits.
fn own(spec: &str) -> Option<String> {
    // A pipe would be waited for.
    if Path::new(prompting::file_of(spec)).metadata().is_ok_and(|found| !found.is_file()) {
        return None;
    }
    let Ok(PromptSource::File(file)) = prompting::load(spec, None, &shipped::file) else { return None };
    let name = file.name.trim();
    let fits = name.chars().count() <= LONGEST && !name.contains(|c| is_control(c) || c == '\n');
    fits.then(|| name.to_owned())
}

/// The settings of which several values may be typed.
pub const LISTS: [&str; 4] = ["model", "prompt", "protocol", "method"];

#[derive(Debug, Clone, Default)]
pub struct FlagLists {
    pub base: Vec<Assignment>,
    /// The values of [`LISTS`].
    pub lists: [Vec<Value>; 4],
}

/// Whether one of the variants sets it.
pub(super) fn uses(drafts: &[Draft], setting: &Setting) -> bool {
    drafts.iter().flat_map(|draft| &draft.settings).any(|used| used.sets(setting))
}

fn listed_twice(name: &str) -> RunError {
    let hint = "list each model, prompt, protocol and method once; in an experiment file you choose the names";
    RunError::usage(format!("variant `{name}` is listed twice"), hint)
}

/// The refusal of a setting of our own agents, where another program is the agent.
pub(in crate::runner) fn refused_for_programs(setting: &Setting) -> RunError {
    let flag = setting.flag();
    let message = format!("{flag} has no meaning for the program of --agent, whose prompts and decoding are its own");
    RunError::usage(message, format!("leave out {flag}"))
}

fn unused_hint(setting: &Setting) -> &'static str {
    match setting.applies {
        Applies::Vote => "only cot-sc, cot-sc-react and react-cot-sc vote",
        Applies::Majority => "it applies with --method cot-sc-react",
        Applies::Direct => "direct methods are standard, cot and cot-sc; the back-offs have a direct part",
        Applies::Passages => "it applies with --tools passages",
        Applies::Program => "it applies to a program: name one with --agent",
        Applies::Server => {
            "it applies to a model server, and baseline has none; name a model such as --model openai:NAME"
        }
        _ => "add --wiki api or --wiki html",
    }
}

impl FlagLists {
    /// The variants. A direct method is the same under every protocol, and so becomes one variant.
    pub fn variants(&self) -> Result<Vec<VariantSpec>, RunError> {
        self.check_options()?;
        self.check_providers()?;
        let drafts = self.drafts()?;
        self.check_used(&drafts)?;
        self.check_program()?;
        let typed = |draft: Draft| {
            let settings = VariantSettings::try_from(draft.settings.as_slice())
                .map_err(|error| RunError::usage(error, "see `wikitrail run --help`"))?;
            Ok(VariantSpec { name: draft.name, settings, ..VariantSpec::default() })
        };
        drafts.into_iter().map(typed).collect()
    }

    fn lists(&self) -> impl Iterator<Item = (&'static str, &Vec<Value>)> {
        LISTS.into_iter().zip(&self.lists)
    }

    fn drafts(&self) -> Result<Vec<Draft>, RunError> {
        let (mut base, mut dimensions) = (self.base.clone(), Vec::new());
        for (name, values) in self.lists() {
            if let Some((_, twice)) = values.iter().enumerate().find(|(i, value)| values[..*i].contains(value)) {
                return Err(listed_twice(&value_text(twice)));
            }
            let Some(setting) = variant_setting(name) else { continue };
            let assign = |value: &Value| Assignment { setting, value: value.clone(), line: 0 };
            if values.len() > 1 {
                let values: Vec<Assignment> = values.iter().map(assign).collect();
                let names = value_names(&values, Some(&str::to_owned));
                let choices = names.into_iter().zip(values).map(|(name, value)| Choice { name, settings: vec![value] });
                dimensions.push(Dimension { setting, line: 0, choices: choices.collect() });
            } else {
                base.extend(values.iter().map(assign));
            }
        }
        let kept = expand(&base, &dimensions, &Naming::Joined, 0, |_| false).kept;
        let mut drafts = kept.iter().enumerate();
        let twice = drafts.find(|(i, draft)| kept[..*i].iter().any(|other| other.name == draft.name));
        twice.map(|(_, twice)| listed_twice(&twice.name)).map_or(Ok(kept), Err)
    }

    /// Refuses options of protocols that are not run; where several run, one is written `PROTOCOL.NAME=VALUE`.
    fn check_options(&self) -> Result<(), RunError> {
        let [_, _, protocols, _] = &self.lists;
        let ids: Vec<&str> = protocols.iter().filter_map(Value::as_str).collect();
        let Some(first) = ids.first() else { return Ok(()) };
        let options = self.base.iter().filter_map(|assignment| assignment.value.as_object());
        for option in options.flat_map(serde_json::Map::keys) {
            match option.split_once('.') {
                Some((id, _)) if ids.contains(&id) => {}
                Some((id, _)) if protocol::IDS.contains(&id) => {
                    let message = format!("--option `{option}` is for protocol `{id}`, which is not run");
                    return Err(RunError::usage(message, format!("add --protocol {id}, or remove the option")));
                }
                _ if ids.len() == 1 => {}
                _ => {
                    return Err(RunError::usage(
                        format!("--option `{option}` does not name its protocol, and several are run"),
                        format!("write --option PROTOCOL.NAME=VALUE, such as {first}.{option}"),
                    ));
                }
            }
        }
        Ok(())
    }

    /// A key or an address of one provider is not sent to another.
    fn check_providers(&self) -> Result<(), RunError> {
        let provider = |model: &&str| model.split_once(':').map_or("", |(provider, _)| provider).to_owned();
        let [models, ..] = &self.lists;
        let remote = || models.iter().filter_map(Value::as_str).filter(|model| *model != "baseline");
        let Some(one) = remote().next() else { return Ok(()) };
        let Some(other) = remote().find(|model| provider(model) != provider(&one)) else { return Ok(()) };
        let of_server = ["base_url", "server", "key_env", "key_file", "extra_header", "extra_body"];
        let shared = self.base.iter().find(|assignment| of_server.contains(&assignment.setting.name));
        shared.map_or(Ok(()), |Assignment { setting, .. }| {
            Err(RunError::usage(
                format!("{} holds for every model, and `{one}` and `{other}` have different providers", setting.flag()),
                "compare them in an experiment file, where each model has settings of its own; a key is found by its \
                 provider's usual variable",
            ))
        })
    }

    fn check_program(&self) -> Result<(), RunError> {
        if self.base.iter().all(|assignment| assignment.setting.name != "agent") {
            return Ok(());
        }
        let listed = self.lists().filter(|(name, values)| *name != "model" && !values.is_empty());
        let listed = listed.filter_map(|(name, _)| variant_setting(name));
        let mut typed = self.base.iter().map(|assignment| assignment.setting).chain(listed);
        typed.find(|setting| !setting.applies_to_programs()).map_or(Ok(()), |other| Err(refused_for_programs(other)))
    }

    /// Refuses a setting that makes no difference: who gives it expects another run.
    fn check_used(&self, drafts: &[Draft]) -> Result<(), RunError> {
        let matters = |assignment: &&Assignment| {
            use Applies::{Direct, Majority, Passages, Program, Server, Vote};
            let setting = assignment.setting;
            matches!(setting.applies, Vote | Majority | Direct | Server | Passages | Program)
                || setting.kind == Kind::Url
        };
        let unused = self.base.iter().filter(matters).find(|assignment| !uses(drafts, assignment.setting));
        unused.map_or(Ok(()), |Assignment { setting, .. }| {
            Err(RunError::usage(format!("no variant uses {}", setting.flag()), unused_hint(setting)))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Assignment, FlagLists, value_names};
    use crate::runner::experiment::variant_setting;
    use serde_json::{Value, json};

    fn named(setting: &str, values: &[&str], find: bool) -> Vec<String> {
        let setting = variant_setting(setting).expect("a setting");
        let assign = |value: &&str| Assignment { setting, value: (*value).into(), line: 0 };
        let here = |spec: &str| spec.to_owned();
        value_names(&values.iter().map(assign).collect::<Vec<_>>(), find.then_some(&here as &dyn Fn(&str) -> String))
    }

    #[test]
    fn prompts_have_their_own_names_else_those_of_their_files() {
        let dir = tempfile::tempdir().expect("a folder");
        let write = |file: &str, name: &str| {
            let path = dir.path().join(file);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
            let rest = "language='en'\nquestion_label='Question'\nexemplar=[]\n[instruction]\nreact='x'\n";
            std::fs::write(&path, format!("name = \"{name}\"\n{rest}")).expect("written");
            path.display().to_string()
        };
        let (a, b) = (write("a.toml", "A/terse"), write("p2/a.toml", "A long"));
        assert_eq!(named("prompt", &[&a, &b], true), ["A_terse", "A long"]);
        // Where no file may be opened, their paths distinguish them.
        assert_eq!(named("prompt", &[&a, &b], false), [a.replace('/', "_"), b.replace('/', "_")]);
        let (c, d) = (write("c.toml", "same"), write("d.toml", "same"));
        assert_eq!(named("prompt", &[&a, &c, &d], true), ["A_terse", "c", "d"]);
        let (long, odd) = (write("long.toml", &"x".repeat(41)), write("odd.toml", "\\u001b[2J"));
        assert_eq!(named("prompt", &[&long, &odd, "gone.toml"], true), ["long", "odd", "gone"]);
        assert_eq!(named("prompt", &["p/x.json#k", "y.json#k", "x.txt"], true), ["x#k", "y#k", "x"]);
    }

    #[test]
    fn models_are_called_by_as_much_as_tells_them_apart() {
        assert_eq!(named("model", &["baseline", "openai:org/small"], true), ["baseline", "small"]);
        assert_eq!(named("model", &["openai:a/m", "openai:b/m", "gemini:n"], true), ["a_m", "b_m", "n"]);
        assert_eq!(named("model", &["openai:m", "gemini:m"], true), ["openai:m", "gemini:m"]);
        assert_eq!(named("model", &["openai:m", "openai:m"], true), ["m", "m"]);
    }

    fn flag_lists(prompts: &[&str], protocols: &[&str], methods: &[&str], base: &[(&str, Value)]) -> FlagLists {
        let lists = [&[], prompts, protocols, methods].map(|list| list.iter().map(|text| Value::from(*text)).collect());
        let assign = |(name, value): &(&str, Value)| {
            let setting = variant_setting(name).expect("a setting");
            Assignment { setting, value: value.clone(), line: 0 }
        };
        FlagLists { base: base.iter().map(assign).collect(), lists }
    }

    fn names(listed: &FlagLists) -> Vec<String> {
        listed.variants().expect("sound").into_iter().map(|variant| variant.name).collect()
    }

    #[test]
    fn variants_are_named_after_what_distinguishes_them() {
        assert_eq!(names(&flag_lists(&[], &[], &[], &[])), ["main"]);
        assert_eq!(names(&flag_lists(&["p/a.toml"], &["robust"], &[], &[])), ["main"]);
        assert_eq!(names(&flag_lists(&[], &[], &["react", "cot"], &[])), ["react", "cot"]);
        assert_eq!(names(&flag_lists(&[], &["robust", "lagent"], &[], &[])), ["robust", "lagent"]);
        assert_eq!(
            names(&flag_lists(&["a.toml", "p.json#k"], &["robust", "lagent"], &["react", "cot"], &[])),
            ["a/robust/react", "a/cot", "a/lagent/react", "k/robust/react", "k/cot", "k/lagent/react"]
        );
    }

    #[test]
    fn models_make_variants_and_share_what_is_typed() {
        let of = |models: &[&str], base: &[(&str, Value)]| {
            let mut listed = flag_lists(&[], &[], &["react", "cot"], base);
            listed.lists[0].extend(models.iter().map(|model| Value::from(*model)));
            listed
        };
        let url = [("base_url", json!(["http://h"]))];
        let variants = of(&["baseline", "openai:org/small"], &url).variants().expect("sound");
        let names: Vec<&str> = variants.iter().map(|variant| variant.name.as_str()).collect();
        assert_eq!(names, ["baseline/react", "baseline/cot", "small/react", "small/cot"]);
        let urls: Vec<bool> = variants.iter().map(|variant| variant.settings.base_url.is_some()).collect();
        assert_eq!(urls, [false, false, true, true]);
        assert_eq!(of(&["openai:a", "gemini:b"], &[]).variants().expect("sound").len(), 4);
        let refused = of(&["baseline", "openai:a", "gemini:b"], &[("key_env", json!("KEY"))]).variants();
        let message = "--key-env holds for every model, and `openai:a` and `gemini:b` have different providers";
        assert_eq!(refused.expect_err(message).to_string(), message);
        assert_eq!(
            of(&["openai:a", "openai:a"], &[]).variants().expect_err("twice").to_string(),
            "variant `openai:a` is listed twice"
        );
    }

    #[test]
    fn what_makes_no_difference_is_refused() {
        for (listed, message) in [
            (flag_lists(&[], &[], &["react"], &[("samples", json!(3))]), "no variant uses --samples"),
            (flag_lists(&[], &[], &["cot-sc"], &[("majority", json!(0.5))]), "no variant uses --majority"),
            (flag_lists(&[], &[], &[], &[("oracle_context", json!(true))]), "no variant uses --oracle-context"),
            (flag_lists(&[], &[], &[], &[("completions", json!(true))]), "no variant uses --completions"),
            (flag_lists(&[], &[], &[], &[("wiki_url", json!("http://h"))]), "no variant uses --wiki-url"),
            (flag_lists(&["a/x.toml", "a/x.toml"], &[], &[], &[]), "variant `a/x.toml` is listed twice"),
            (flag_lists(&[], &[], &["cot", "cot"], &[]), "variant `cot` is listed twice"),
            (
                flag_lists(&[], &["robust", "lagent"], &[], &[("option", json!({"labels": "v0.1"}))]),
                "--option `labels` does not name its protocol, and several are run",
            ),
            (
                flag_lists(&[], &["tools"], &[], &[("option", json!({"robust.x": "1"}))]),
                "--option `robust.x` is for protocol `robust`, which is not run",
            ),
            (
                flag_lists(&[], &["robust", "lagent"], &[], &[("option", json!({"go-blog.x": "1"}))]),
                "--option `go-blog.x` is for protocol `go-blog`, which is not run",
            ),
        ] {
            assert_eq!(listed.variants().expect_err(message).to_string(), message);
        }
        let options = [("option", json!({"lagent.labels": "v0.1"}))];
        let variants = flag_lists(&[], &["robust", "lagent"], &[], &options).variants().expect("sound");
        assert_eq!(variants[0].settings.option, None);
        assert_eq!(variants[1].settings.option, Some([("labels".to_owned(), "v0.1".to_owned())].into()));
    }
}
