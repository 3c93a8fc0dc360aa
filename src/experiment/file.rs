//! An experiment file, from its text to an [`Experiment`].

use super::expand::{DatasetDraft, Draft};
use super::matrix::Find;
use super::model::{DatasetSpec, Experiment, FileText, VariantSpec};
use super::problem::ProblemKind;
use super::published::{self, Published};
use super::reader::{Notes, TOP_KEYS};
use super::setting::{Assignment, Kind, Setting};
use super::settings::{DatasetSettings, VariantSettings};
use super::{datasets, planned, shipped, variants};
use crate::prompt::{Problems, file_of};
use crate::types::{Pairs, StopRule};
use serde_json::Value;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// Largest experiment file, in bytes.
const MAX_FILE: u64 = 1 << 20;
/// Where the format is explained.
const HELP: &str = "`wikitrail docs experiments` explains the file key by key";
/// How often a question may be asked under one variant.
const MAX_REPEATS: u64 = 1000;

/// An experiment file, checked as far as that goes without opening another file but those of prompts, for their names.
#[derive(Debug, Clone)]
pub struct ExperimentFile {
    /// The file as it was named.
    pub path: String,
    pub text: String,
    /// The experiment's name, fit for a folder.
    pub name: String,
    /// The datasets, at least one, each with a name of its own.
    pub datasets: Vec<DatasetDraft>,
    /// How often each question is asked under each variant, 1 to 1,000.
    pub repeats: u32,
    /// The pairs of variants that are compared.
    pub pairs: Pairs,
    /// When it stops by itself.
    pub stop_when: Option<StopRule>,
    /// The variants, at least one, in the order of the file; each has a name of its own.
    pub variants: Vec<Draft>,
    /// Combinations of the matrix that are the same as an earlier one.
    pub merged: usize,
    /// Combinations of the matrix that are excluded.
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

/// Why an experiment file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ExperimentError {
    #[error("cannot read `{path}`: {source}")]
    Io { path: String, source: std::io::Error },
    #[error("`{0}` is larger than 1 MiB")]
    TooLarge(String),
    #[error("`{0}` is not UTF-8 text")]
    NotText(String),
    #[error(transparent)]
    Invalid(#[from] Problems),
    #[error("{place}: `{one}` and `{other}` cannot be set together")]
    Conflict { place: String, one: &'static str, other: &'static str },
    #[error("no variant uses {0}")]
    Unused(String),
    /// A value that is not of its setting's kind.
    #[error("{place}: {source}")]
    Value { place: String, source: serde_json::Error },
}

impl ExperimentError {
    pub fn hint(&self) -> String {
        match self {
            Self::Io { .. } | Self::TooLarge(_) | Self::NotText(_) => {
                "an experiment is a TOML file in UTF-8; `wikitrail docs experiments` explains it".to_owned()
            }
            Self::Invalid(problems) => problems.hint(),
            Self::Conflict { .. } => "remove one of them".to_owned(),
            Self::Unused(_) => "remove it, or name the --model or the --wiki that takes it".to_owned(),
            Self::Value { .. } => "`wikitrail docs experiments` lists the settings".to_owned(),
        }
    }
}

impl ExperimentFile {
    /// Whether a path names an experiment file, by its ending.
    pub fn is_one(path: &Path) -> bool {
        path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("toml"))
    }

    /// Reads the file, or the shipped one of that name.
    pub fn load(path: &Path) -> Result<Self, ExperimentError> {
        let shown = path.display().to_string();
        let bytes: Cow<'static, [u8]> = if let Some(bytes) = shipped::file(&shown).filter(|_| !path.exists()) {
            bytes.into()
        } else {
            let mut bytes = Vec::new();
            let read = File::open(path).and_then(|file| file.take(MAX_FILE + 1).read_to_end(&mut bytes));
            read.map_err(|source| ExperimentError::Io { path: shown.clone(), source })?;
            bytes.into()
        };
        if bytes.len() as u64 > MAX_FILE {
            return Err(ExperimentError::TooLarge(shown));
        }
        let text = std::str::from_utf8(&bytes).map_err(|_| ExperimentError::NotText(shown.clone()))?;
        let find = |spec: &str| found(&shown, spec);
        Ok(Self::read(&shown, text.trim_start_matches('\u{feff}'), &Names::Own(&find))?)
    }

    /// Reads an experiment; `path` is its name for messages. An error lists everything that is wrong. No other file is
    /// opened: prompts are called by the names of their files.
    pub fn parse(path: &str, text: &str) -> Result<Self, Problems> {
        Self::read(path, text, &Names::OfFiles)
    }

    /// Reads the experiment that a run's folder holds, whose variants are called as they were when it ran. Nothing that it
    /// names is opened.
    pub fn recorded(path: &str, text: &str, names: &[&str]) -> Result<Self, Problems> {
        Self::read(path, text, &Names::Recorded(names))
    }

    fn read(path: &str, text: &str, known: &Names<'_>) -> Result<Self, Problems> {
        let (mut notes, tree) = Notes::parse(path, text, HELP)?;
        let root = Notes::root(tree.get_ref());
        let entries = notes.entries(&root);
        for entry in entries.iter().filter(|entry| !TOP_KEYS.contains(&entry.key)) {
            notes.unknown_key(&root, *entry, &TOP_KEYS);
        }
        let find = |key: &str| entries.iter().copied().find(|entry| entry.key == key);
        let name = find("name").and_then(|entry| notes.name("name", entry.value, true));
        if let Some(entry) = find("description") {
            notes.text("description", entry.value);
        }
        let repeats = find("repeats")
            .and_then(|entry| notes.scalar("repeats", entry.value, Kind::Whole(1, MAX_REPEATS)))
            .and_then(|repeats| u32::try_from(repeats.as_u64()?).ok());
        let datasets = find("dataset").map(|entry| datasets::read_datasets(&mut notes, entry)).unwrap_or_default();
        for needed in ["name", "dataset"] {
            if find(needed).is_none() {
                notes.note(1, ProblemKind::MissingKey(needed.to_owned()));
            }
        }
        let mut variants = variants::read_variants(&mut notes, &entries, known.find());
        known.give(&mut variants.kept);
        let names: Vec<&str> = variants.kept.iter().map(|variant| variant.name.as_str()).collect();
        let pairs = planned::read_pairs(&mut notes, find("baseline"), find("contrasts"), &names);
        let stop_when = find("stop_when").and_then(|entry| planned::read_stop_when(&mut notes, entry, &names));
        datasets::check_use(&mut notes, &datasets, &variants.kept);
        let published = find("published")
            .map(|entry| published::read_published(&mut notes, entry, &datasets, &variants.kept))
            .unwrap_or_default();
        let Some(name) = name.filter(|_| notes.is_clean()) else { return Err(notes.into_problems()) };
        Ok(Self {
            path: path.to_owned(),
            text: text.to_owned(),
            name,
            datasets,
            repeats: repeats.unwrap_or(1),
            pairs,
            stop_when,
            variants: variants.kept,
            merged: variants.merged,
            excluded: variants.excluded,
            published,
        })
    }

    /// The experiment that the file describes, with some values replaced. Nothing says yet where it is written.
    pub fn experiment(&self, overrides: &Overrides) -> Result<Experiment, ExperimentError> {
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

    /// Whether the file sets it for any variant.
    pub fn sets(&self, setting: &Setting) -> bool {
        let variants = self.variants.iter().flat_map(|draft| &draft.settings);
        let datasets = self.datasets.iter().flat_map(|dataset| &dataset.variant_settings);
        variants.chain(datasets).any(|assignment| assignment.sets(setting))
    }

    /// Refuses a value that was given for all variants and that none of them uses.
    pub fn check_used(&self, overrides: &Overrides) -> Result<(), ExperimentError> {
        let drafts: Vec<Draft> = self.variants.iter().map(|draft| overridden(draft.clone(), overrides)).collect();
        let is_used = |assignment: &&Assignment| {
            drafts.iter().flat_map(|draft| &draft.settings).any(|used| used.sets(assignment.setting))
        };
        match overrides.settings.iter().find(|assignment| !is_used(assignment)) {
            None => Ok(()),
            Some(assignment) => Err(ExperimentError::Unused(assignment.setting.flag())),
        }
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

    /// A path of the file: as it is found from the working folder, else from the file's own folder. A path that is found
    /// in neither stays as it is; it may be a shipped file.
    pub fn resolved(&self, path: &str) -> String {
        resolved(&self.path, path)
    }

    /// The dataset's settings with every path as it is found from here.
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

    fn dataset(&self, dataset: &DatasetDraft, overrides: &Overrides) -> Result<DatasetSpec, ExperimentError> {
        let place = self.place(dataset.line);
        let settings = self.settings_of(dataset);
        conflict_free(&place, &settings)?;
        let mut settings = DatasetSettings::try_from(settings.as_slice())
            .map_err(|source| ExperimentError::Value { place, source })?;
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

    fn variant(&self, draft: Draft) -> Result<VariantSpec, ExperimentError> {
        let place = self.place(draft.line);
        conflict_free(&place, &draft.settings)?;
        let settings = VariantSettings::try_from(draft.settings.as_slice())
            .map_err(|source| ExperimentError::Value { place: place.clone(), source })?;
        Ok(VariantSpec { name: draft.name, settings, place: Some(place), ..VariantSpec::default() })
    }

    fn place(&self, line: usize) -> String {
        format!("{}:{line}", self.path)
    }
}

/// How variants are called that the file does not name itself.
enum Names<'n> {
    /// By their prompts' own names, whose files are opened where this finds them.
    Own(&'n dyn Fn(&str) -> String),
    /// By the names of their prompts' files.
    OfFiles,
    /// As they were when the experiment ran.
    Recorded(&'n [&'n str]),
}

impl Names<'_> {
    fn find(&self) -> Find<'_> {
        match self {
            Self::Own(find) => Some(*find),
            Self::OfFiles | Self::Recorded(_) => None,
        }
    }

    fn give(&self, variants: &mut [Draft]) {
        let Self::Recorded(names) = self else { return };
        // Of another number, they are not these.
        if names.len() == variants.len() {
            variants.iter_mut().zip(*names).for_each(|(variant, name)| (*name).clone_into(&mut variant.name));
        }
    }
}

/// A path in the file `file`, as it is found from here.
fn resolved(file: &str, path: &str) -> String {
    let beside = Path::new(file).parent().map(|folder| folder.join(path)).unwrap_or_default();
    if Path::new(path).exists() || !beside.exists() { path.to_owned() } else { beside.display().to_string() }
}

/// The same for a prompt, which may be a key of its file.
fn found(file: &str, prompt: &str) -> String {
    let (path, key) = prompt.split_at(file_of(prompt).len());
    format!("{}{key}", resolved(file, path))
}

/// A variant with the values given for all variants, as far as it uses them.
fn overridden(mut draft: Draft, overrides: &Overrides) -> Draft {
    overrides.settings.iter().for_each(|assignment| draft.set(assignment));
    draft.prune();
    draft
}

/// Refuses settings that exclude each other.
fn conflict_free(place: &str, settings: &[Assignment]) -> Result<(), ExperimentError> {
    let is_set = |name: &str| settings.iter().any(|set| set.setting.name == name && set.value != Value::Bool(false));
    for Assignment { setting, .. } in settings.iter().filter(|set| is_set(set.setting.name)) {
        if let Some(other) = setting.conflicts.iter().find(|other| is_set(other)) {
            return Err(ExperimentError::Conflict { place: place.to_owned(), one: setting.name, other });
        }
    }
    Ok(())
}
