//! An experiment file, from its text to an [`Experiment`].

use super::model::{DatasetSpec, Experiment, FileText, VariantSpec};
use super::reader::{Entry, Notes, TOP_KEYS, Table, empty, fault, unused};
use super::settings::{Assignment, DATASET_SETTINGS, DatasetSettings, Kind, Setting, VariantSettings};
use super::shipped;
use super::variants::{self, DatasetDraft, Draft, Expansion, Find, dataset_name, settings, uses};
use crate::base::{Pairs, StopRule, named};
use crate::prompting::{Fault, Problems, file_of};
use crate::runner::RunError;
use serde_json::Value;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// Largest experiment file, in bytes.
const MAX_FILE: u64 = 1 << 20;
const HELP: &str = "`wikitrail docs experiments` explains the file key by key";
/// How often a question may be asked under one variant.
const MAX_REPEATS: u64 = 1000;

/// An experiment file, checked as far as that goes without opening another file but those of prompts, for their names.
#[derive(Debug, Clone)]
pub struct ExperimentFile {
    pub path: String,
    pub text: String,
    pub name: String,
    pub datasets: Vec<DatasetDraft>,
    /// How often each question is asked under each variant, 1 to 1,000.
    pub repeats: u32,
    pub pairs: Pairs,
    pub stop_when: Option<StopRule>,
    /// The variants, at least one, in the order of the file; each has a name of its own.
    pub variants: Vec<Draft>,
    /// Combinations of the matrix that are the same as an earlier one.
    pub merged: usize,
    pub excluded: usize,
    /// Figures that others have published, in the order of the file.
    pub published: Vec<Published>,
}

/// Values that take the place of what a file says.
#[derive(Debug, Clone, Default)]
pub struct Overrides {
    /// Settings of all variants that use them.
    pub settings: Vec<Assignment>,
    /// Files of datasets, by the datasets' names.
    pub datasets: BTreeMap<String, PathBuf>,
    /// Maximum number of questions of each dataset.
    pub limit: Option<usize>,
    /// How often each question is asked.
    pub repeats: Option<u32>,
    /// When it stops by itself.
    pub stop_when: Option<StopRule>,
}

impl ExperimentFile {
    pub fn is_one(path: &Path) -> bool {
        path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("toml"))
    }

    /// Reads the file, or the shipped one of that name.
    pub fn load(path: &Path) -> Result<Self, RunError> {
        let shown = path.display().to_string();
        let bad = |what: String| {
            RunError::input(what, "an experiment is a TOML file in UTF-8; `wikitrail docs experiments` explains it")
        };
        let bytes: Cow<'static, [u8]> = if let Some(bytes) = shipped::file(&shown).filter(|_| !path.exists()) {
            bytes.into()
        } else {
            let mut bytes = Vec::new();
            let read = File::open(path).and_then(|file| file.take(MAX_FILE + 1).read_to_end(&mut bytes));
            read.map_err(|error| bad(format!("cannot read `{shown}`: {error}")))?;
            bytes.into()
        };
        if bytes.len() as u64 > MAX_FILE {
            return Err(bad(format!("`{shown}` is larger than 1 MiB")));
        }
        let text = std::str::from_utf8(&bytes).map_err(|_| bad(format!("`{shown}` is not UTF-8 text")))?;
        let find = |spec: &str| {
            let (path, key) = spec.split_at(file_of(spec).len());
            format!("{}{key}", resolved(&shown, path))
        };
        Ok(Self::read(&shown, text.trim_start_matches('\u{feff}'), Some(&find), &[])?)
    }

    /// Reads the experiment that a run's folder holds, whose variants are called as they were when it ran. Nothing that it
    /// names is opened. `path` is its name for messages, and an error lists everything that is wrong.
    pub fn recorded(path: &str, text: &str, names: &[&str]) -> Result<Self, Problems> {
        Self::read(path, text, None, names)
    }

    /// Variants are called by their prompts' own names, whose files are opened where `prompt` finds them, or by the files'
    /// names; by `recorded` where these are as many.
    fn read(path: &str, text: &str, prompt: Find<'_>, recorded: &[&str]) -> Result<Self, Problems> {
        let (mut notes, tree) = Notes::parse(path, text, HELP)?;
        let root = Notes::root(tree.get_ref());
        let entries = notes.entries(&root);
        let find = |key: &str| entries.iter().copied().find(|entry| entry.key == key);
        if let Some(instruction) = find("instruction").filter(|_| find("dataset").is_none()) {
            let what = "this is a prompt, not an experiment".to_owned();
            notes.note(instruction.line, Fault::from(what).hint("use it with `run --prompt FILE`"));
            return Err(notes.into_problems());
        }
        for entry in entries.iter().filter(|entry| !TOP_KEYS.contains(&entry.key)) {
            notes.unknown_key(&root, *entry, &TOP_KEYS);
        }
        let name = find("name").and_then(|entry| notes.name("name", entry.value, true));
        if let Some(entry) = find("description") {
            notes.text("description", entry.value);
        }
        let repeats = find("repeats")
            .and_then(|entry| notes.scalar("repeats", entry.value, Kind::Whole(1, MAX_REPEATS)))
            .and_then(|repeats| u32::try_from(repeats.as_u64()?).ok());
        let datasets = find("dataset").map(|entry| read_datasets(&mut notes, entry)).unwrap_or_default();
        notes.require(&root, &entries, &["name", "dataset"]);
        let mut variants = variants::read_variants(&mut notes, &entries, prompt);
        if recorded.len() == variants.kept.len() {
            variants.kept.iter_mut().zip(recorded).for_each(|(variant, name)| (*name).clone_into(&mut variant.name));
        }
        let names: Vec<&str> = variants.kept.iter().map(|variant| variant.name.as_str()).collect();
        let pairs = read_pairs(&mut notes, find("baseline"), find("contrasts"), &names);
        let stop_when = find("stop_when").and_then(|entry| read_stop_when(&mut notes, entry, &names));
        check_use(&mut notes, &datasets, &variants.kept);
        let published = find("published").map(|entry| read_published(&mut notes, entry, &datasets, &variants.kept));
        let Some(name) = name.filter(|_| notes.is_clean()) else { return Err(notes.into_problems()) };
        let [path, text] = [path, text].map(str::to_owned);
        let (repeats, published) = (repeats.unwrap_or(1), published.unwrap_or_default());
        let Expansion { kept: variants, merged, excluded } = variants;
        Ok(Self { path, text, name, datasets, repeats, pairs, stop_when, variants, merged, excluded, published })
    }

    /// The experiment that the file describes, with some values replaced. Nothing says yet where it is written.
    pub fn experiment(&self, overrides: &Overrides) -> Result<Experiment, RunError> {
        let datasets = self.datasets.iter().map(|dataset| self.dataset(dataset, overrides));
        Ok(Experiment {
            name: Some(self.name.clone()),
            datasets: datasets.collect::<Result<_, _>>()?,
            variants: Vec::new(),
            repeats: overrides.repeats.unwrap_or(self.repeats),
            pairs: self.pairs.clone(),
            stop_when: overrides.stop_when.clone().or_else(|| self.stop_when.clone()),
            file: Some(FileText { path: self.path.clone(), text: self.text.clone() }),
            ..Experiment::default()
        })
    }

    pub fn sets(&self, setting: &Setting) -> bool {
        let variants = self.variants.iter().flat_map(|draft| &draft.settings);
        let datasets = self.datasets.iter().flat_map(|dataset| &dataset.variant_settings);
        variants.chain(datasets).any(|assignment| assignment.sets(setting))
    }

    /// Refuses a value that was given for all variants and that none of them uses.
    pub fn check_used(&self, overrides: &Overrides) -> Result<(), RunError> {
        let drafts: Vec<Draft> = self.variants.iter().map(|draft| overridden(draft.clone(), overrides)).collect();
        let unused = overrides.settings.iter().find(|assignment| !uses(&drafts, assignment.setting));
        unused.map_or(Ok(()), |assignment| {
            let message = format!("no variant uses {}", assignment.setting.flag());
            Err(RunError::usage(message, "remove it, or name the --model or the --wiki that takes it"))
        })
    }

    /// The variants on a dataset, with some values replaced and every path as it is found from here.
    pub fn variants_on(&self, dataset: &DatasetDraft, overrides: &Overrides) -> Vec<Draft> {
        let found = |draft: &Draft| {
            let mut draft = overridden(draft.with(&dataset.variant_settings), overrides);
            draft.settings.iter_mut().for_each(|assignment| self.find(assignment));
            draft
        };
        self.variants.iter().map(found).collect()
    }

    /// A path as it is found from the working folder, else from the file's own; else as it is: it may be shipped.
    pub fn resolved(&self, path: &str) -> String {
        resolved(&self.path, path)
    }

    pub fn settings_of(&self, dataset: &DatasetDraft) -> Vec<Assignment> {
        let mut settings = dataset.settings.clone();
        for assignment in &mut settings {
            self.find(assignment);
        }
        settings
    }

    fn find(&self, assignment: &mut Assignment) {
        let path = assignment.value.as_str().and_then(|value| assignment.setting.kind.path_in(value));
        if let Some((before, path, after)) = path {
            assignment.value = Value::from(format!("{before}{}{after}", self.resolved(path)));
        }
    }

    fn dataset(&self, dataset: &DatasetDraft, overrides: &Overrides) -> Result<DatasetSpec, RunError> {
        let place = self.place(dataset.line);
        let settings = self.settings_of(dataset);
        conflict_free(&place, &settings)?;
        let mut settings = DatasetSettings::try_from(settings.as_slice()).map_err(|error| bad_value(&place, &error))?;
        settings.limit = overrides.limit.or(settings.limit);
        let path = overrides.datasets.get(&dataset.name).cloned();
        let variants = self.variants_on(dataset, overrides).into_iter().map(|draft| self.variant(draft));
        Ok(DatasetSpec {
            name: Some(dataset.name.clone()),
            path: path.unwrap_or_else(|| self.resolved(&dataset.path).into()),
            settings,
            variants: variants.collect::<Result<_, _>>()?,
        })
    }

    fn variant(&self, draft: Draft) -> Result<VariantSpec, RunError> {
        let place = self.place(draft.line);
        conflict_free(&place, &draft.settings)?;
        let settings =
            VariantSettings::try_from(draft.settings.as_slice()).map_err(|error| bad_value(&place, &error))?;
        Ok(VariantSpec { name: draft.name, settings, place: Some(place), ..VariantSpec::default() })
    }

    fn place(&self, line: usize) -> String {
        format!("{}:{line}", self.path)
    }
}

/// A path in the file `file`, as it is found from here.
fn resolved(file: &str, path: &str) -> String {
    let beside = Path::new(file).parent().map(|folder| folder.join(path)).unwrap_or_default();
    if Path::new(path).exists() || !beside.exists() { path.to_owned() } else { beside.display().to_string() }
}

fn overridden(mut draft: Draft, overrides: &Overrides) -> Draft {
    overrides.settings.iter().for_each(|assignment| draft.set(assignment));
    draft.prune();
    draft
}

fn bad_value(place: &str, error: &serde_json::Error) -> RunError {
    RunError::input(format!("{place}: {error}"), "`wikitrail docs experiments` lists the settings")
}

fn conflict_free(place: &str, settings: &[Assignment]) -> Result<(), RunError> {
    let is_set = |name: &str| settings.iter().any(|set| set.setting.name == name && set.value != Value::Bool(false));
    for Assignment { setting, .. } in settings.iter().filter(|set| is_set(set.setting.name)) {
        if let Some(other) = setting.conflicts.iter().find(|other| is_set(other)) {
            let message = format!("{place}: `{}` and `{other}` cannot be set together", setting.name);
            return Err(RunError::input(message, "remove one of them"));
        }
    }
    Ok(())
}

/// Settings by which variants are named, and which are therefore the same on all datasets.
const OF_THE_VARIANT: [&str; 4] = ["method", "protocol", "option", "model"];

fn read_datasets(notes: &mut Notes<'_>, entry: Entry<'_>) -> Vec<DatasetDraft> {
    let mut found: Vec<DatasetDraft> = Vec::new();
    let items = match entry.value.get_ref().as_array() {
        Some(items) => items.iter().enumerate().map(|(i, item)| (format!("dataset[{}]", i + 1), item)).collect(),
        None => vec![("dataset".to_owned(), entry.value)],
    };
    if items.is_empty() {
        notes.note(entry.line, empty("dataset"));
    }
    for (path, item) in items {
        let line = notes.line_of(item);
        let dataset = if item.get_ref().is_str() {
            notes.text(&path, item).and_then(|file| {
                let (name, settings) = (file_name(notes, &path, &file, line)?, Vec::new());
                Some(DatasetDraft { name, path: file, line, path_line: line, settings, variant_settings: Vec::new() })
            })
        } else {
            notes.table(path, item).and_then(|table| dataset(notes, &table))
        };
        let Some(dataset) = dataset else { continue };
        if let Some(other) = found.iter().find(|other| other.name == dataset.name) {
            let message = format!("two datasets are named `{}`; the first is on line {}", dataset.name, other.line);
            let hint = "give one of them another `name`: the folder of its run is named after it";
            notes.note(line, fault(message, hint));
        }
        found.push(dataset);
    }
    found
}

fn dataset(notes: &mut Notes<'_>, table: &Table<'_>) -> Option<DatasetDraft> {
    let (mut file, mut name, mut settings, mut variant_settings) = (None, None, Vec::new(), Vec::new());
    for entry in notes.entries(table) {
        let path = table.path(entry.key);
        match DATASET_SETTINGS.iter().find(|key| key.name == entry.key) {
            Some(key) => settings.extend(notes.setting(&path, key, entry.value)),
            None if entry.key == "path" => {
                file = Some((notes.text(&path, entry.value)?, notes.line_of(entry.value)));
            }
            None if entry.key == "settings" => variant_settings = of_variants(notes, path, entry)?,
            None if entry.key == "name" => name = Some(notes.name(&path, entry.value, true)?),
            None => {
                let known: Vec<&'static str> =
                    DATASET_SETTINGS.iter().map(|key| key.name).chain(["path", "name", "settings"]).collect();
                notes.unknown_key(table, entry, &known);
            }
        }
    }
    let Some((file, path_line)) = file else {
        notes.missing(table, "path");
        return None;
    };
    let name = name.or_else(|| file_name(notes, table.name(), &file, table.line()))?;
    Some(DatasetDraft { name, path: file, line: table.line(), path_line, settings, variant_settings })
}

fn file_name(notes: &mut Notes<'_>, key: &str, path: &str, line: usize) -> Option<String> {
    let name = dataset_name(path);
    if name.is_empty() {
        notes.note(line, format!("missing key `{key}.name`"));
        return None;
    }
    Some(name)
}

fn of_variants(notes: &mut Notes<'_>, path: String, entry: Entry<'_>) -> Option<Vec<Assignment>> {
    let table = notes.table(path, entry.value)?;
    let found = settings(notes, &table, &[]);
    for setting in found.iter().filter(|setting| OF_THE_VARIANT.contains(&setting.setting.name)) {
        let key = table.path(setting.setting.name);
        let message = format!("`{key}` cannot differ between datasets: variants are named by it");
        notes.note(setting.line, fault(message, "set it in [settings], in [matrix] or in an [[include]]"));
    }
    Some(found)
}

fn check_use(notes: &mut Notes<'_>, datasets: &[DatasetDraft], variants: &[Draft]) {
    // Variants with a problem are not among the variants.
    if !notes.is_clean() {
        return;
    }
    for (i, dataset) in datasets.iter().enumerate() {
        let on: Vec<Draft> = variants.iter().map(|variant| variant.with(&dataset.variant_settings)).collect();
        for setting in &dataset.variant_settings {
            let is = |other: &Assignment| other.line == setting.line && other.setting.name == setting.setting.name;
            if !on.iter().flat_map(|variant| &variant.settings).any(is) {
                let name = format!("dataset[{}].settings.{}", i + 1, setting.setting.name);
                notes.note(setting.line, unused(&name));
            }
        }
    }
}

/// Reads both keys. `names` are those of the variants.
fn read_pairs(
    notes: &mut Notes<'_>,
    baseline: Option<Entry<'_>>,
    contrasts: Option<Entry<'_>>,
    names: &[&str],
) -> Pairs {
    // A variant with a mistake is missing, which is not the fault of what names it.
    let sound = notes.is_clean();
    let known = |notes: &mut Notes<'_>, key: &str, line: usize, name: &str| {
        if sound {
            notes.known(key, line, name, "variant", names);
        }
    };
    let baseline = baseline.and_then(|entry| {
        let name = notes.text("baseline", entry.value)?;
        known(notes, "baseline", entry.line, &name);
        Some(name)
    });
    let mut pairs = Pairs { baseline, contrasts: Vec::new() };
    let Some(entry) = contrasts else { return pairs };
    let Some(items) = entry.value.get_ref().as_array() else {
        notes.wrong_type("contrasts", entry.value, EXPECTED);
        return pairs;
    };
    if items.is_empty() {
        notes.note(entry.line, empty("contrasts"));
    }
    for (at, item) in items.iter().enumerate() {
        let key = format!("contrasts[{}]", at + 1);
        let Some([a, b]) = item.get_ref().as_array().map(|pair| &pair[..]) else {
            notes.wrong_type(&key, item, "two names of variants");
            continue;
        };
        let line = notes.line_of(item);
        let (Some(a), Some(b)) = (notes.text(&key, a), notes.text(&key, b)) else { continue };
        for name in [&a, &b] {
            known(notes, &key, line, name);
        }
        if a == b || !pairs.add([a, b]) {
            let message = format!("`{key}` compares a variant with itself, or repeats a pair");
            notes.note(line, fault(message, "name each pair once"));
        }
    }
    pairs
}

fn read_stop_when(notes: &mut Notes<'_>, entry: Entry<'_>, names: &[&str]) -> Option<StopRule> {
    let sound = notes.is_clean();
    let text = notes.text("stop_when", entry.value)?;
    let rule = StopRule::parse(&text)
        .map_err(|error| notes.note(entry.line, Fault::from(format!("`stop_when`: {error}")).hint(error.hint)))
        .ok()?;
    for name in [&rule.a, &rule.b] {
        if sound {
            notes.known("stop_when", entry.line, name, "variant", names);
        }
    }
    Some(rule)
}

const EXPECTED: &str = "a list of pairs of variants, such as [[\"a\", \"b\"]] for b - a";

#[derive(Debug, Clone, PartialEq)]
pub struct Published {
    pub name: String,
    pub source: String,
    pub figures: Vec<PublishedFigure>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct PublishedFigure {
    pub dataset: String,
    pub metric: PublishedMetric,
    pub variant: String,
    /// The figure in percent, 0 to 100, as it was published.
    pub percent: f64,
}

named! {
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum PublishedMetric {
        /// Exact match; of labels, their accuracy.
        Em = "em",
        F1 = "f1",
    }
}

fn read_published(
    notes: &mut Notes<'_>,
    entry: Entry<'_>,
    datasets: &[DatasetDraft],
    variants: &[Draft],
) -> Vec<Published> {
    // Variants with a problem are missing here, which must not count as a mistake of the figures.
    let sound = notes.is_clean();
    let mut found = Vec::new();
    for table in notes.tables("published", entry.value) {
        let (mut name, mut source, mut figures) = (None, None, Vec::new());
        let entries = notes.entries(&table);
        notes.require(&table, &entries, &["name", "source", "figures"]);
        for entry in entries {
            let path = table.path(entry.key);
            match entry.key {
                "name" => name = notes.name(&path, entry.value, false),
                "source" => source = notes.text(&path, entry.value),
                "figures" if sound => {
                    if let Some(table) = notes.table(path, entry.value) {
                        figures = by_dataset(notes, &table, datasets, variants);
                    }
                }
                "figures" => {}
                _ => notes.unknown_key(&table, entry, &["name", "source", "figures"]),
            }
        }
        if let (Some(name), Some(source)) = (name, source) {
            found.push(Published { name, source, figures });
        }
    }
    found
}

/// `figures.DATASET.METRIC.VARIANT = percent`.
fn by_dataset(
    notes: &mut Notes<'_>,
    table: &Table<'_>,
    datasets: &[DatasetDraft],
    variants: &[Draft],
) -> Vec<PublishedFigure> {
    let dataset_names: Vec<&str> = datasets.iter().map(|dataset| dataset.name.as_str()).collect();
    let cell_names: Vec<&str> = variants.iter().map(|variant| variant.name.as_str()).collect();
    let metric_names = PublishedMetric::ALL.map(PublishedMetric::name);
    let mut figures = Vec::new();
    for (dataset, metrics) in tables_of(notes, table, "dataset", &dataset_names) {
        for (metric, values) in tables_of(notes, &metrics, "metric", &metric_names) {
            let metric = if metric == "f1" { PublishedMetric::F1 } else { PublishedMetric::Em };
            for entry in notes.entries(&values) {
                if notes.known(values.name(), entry.line, entry.key, "variant", &cell_names).is_none() {
                    continue;
                }
                let percent = notes.scalar(&values.path(entry.key), entry.value, Kind::Number(0.0, 100.0));
                let percent = percent.and_then(|percent| percent.as_f64());
                let (dataset, variant) = (dataset.to_owned(), entry.key.to_owned());
                figures.extend(percent.map(|percent| PublishedFigure { dataset, metric, variant, percent }));
            }
        }
    }
    figures
}

/// The tables of a table, each under a known name.
fn tables_of<'t>(
    notes: &mut Notes<'_>,
    table: &Table<'t>,
    what: &'static str,
    known: &[&str],
) -> Vec<(&'t str, Table<'t>)> {
    let mut found = Vec::new();
    for entry in notes.entries(table) {
        if notes.known(table.name(), entry.line, entry.key, what, known).is_some() {
            found.extend(notes.table(table.path(entry.key), entry.value).map(|table| (entry.key, table)));
        }
    }
    found
}
