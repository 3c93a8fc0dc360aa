//! The files that settings name, which of them need a confirmation, and where else an experiment reaches out of its folder.
//!
//! An experiment file, a settings file of a folder and the command line that a run's folder stores may come from somebody
//! else. What they name is read and sent to servers, so it has to lie where they lie, or the person says so.

use super::error::RunError;
use super::experiment::extra::{unsafe_fields, unsafe_headers};
use super::experiment::{
    Assignment, DATASET_SETTINGS, Experiment, ExperimentFile, Overrides, Setting, VARIANT_SETTINGS, VariantSettings,
    shipped,
};
use super::model::ModelSettings;
use super::provider::is_at;
use super::questions::{absent, ids};
use super::wiki::WIKIPEDIA;
use crate::base::{sha256_of_files, unique};
use crate::net::recording::{Inside, is_hidden};
use crate::net::redact;
use crate::prompting::{self, Problem, Problems, PromptError, texts};
use crate::wikipedia::RetrieverAddress;
use serde::Serialize;
use std::collections::{BTreeMap, HashSet};
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

/// What makes a folder a project's.
const MARKS: [&str; 2] = [".git", crate::runner::experiment::defaults::FOLDER_FILE];
const DATASET: [&str; 2] = ["dataset", "path"];
/// Files up to this size are compared with the digests of a run, in bytes: the largest that is read.
const MAX_COMPARED: u64 = 1 << 30;
const CORPUS: &str = "corpus:";

/// A file, or the folder of a corpus, that a setting names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NamedFile {
    /// A setting of a variant or a dataset; `dataset` for the file of a run's command, `path` for a `[[dataset]]`'s.
    pub(crate) setting: &'static str,
    pub(crate) value: String,
    pub(crate) path: PathBuf,
}

/// Every file that the settings of an experiment name, each once.
pub(crate) fn named_files(experiment: &Experiment) -> Vec<NamedFile> {
    let mut files: Vec<NamedFile> = Vec::new();
    for dataset in &experiment.datasets {
        let (path, setting) = (dataset.path.clone(), DATASET[usize::from(experiment.file.is_some())]);
        if !super::questions::is_stdin(&path) {
            files.push(NamedFile { setting, value: path.display().to_string(), path });
        }
        files.extend(in_settings(&dataset.settings, DATASET_SETTINGS));
        let variants = experiment.variants_on(dataset).iter();
        files.extend(variants.flat_map(|variant| in_settings(&variant.settings, VARIANT_SETTINGS)));
    }
    unique(files)
}

/// The files among the values of declared settings. Where a key is no file may say; it is a place of its own.
fn in_settings(settings: &impl Serialize, declared: &'static [Setting]) -> Vec<NamedFile> {
    let values = serde_json::to_value(settings).unwrap_or_default();
    let file = |setting: &'static Setting| {
        let value = values.get(setting.name)?.as_str()?;
        let (_, path, _) = setting.kind.path_in(value)?;
        Some(NamedFile { setting: setting.name, value: value.to_owned(), path: path.into() })
    };
    declared.iter().filter(|setting| !setting.only_typed).filter_map(file).collect()
}

/// SHA-256 of the files that settings name, by path, for the manifest: a run that goes on may use them again.
pub(super) fn digests(settings: &[&VariantSettings], ids: Option<&str>) -> BTreeMap<String, String> {
    let files = settings.iter().flat_map(|settings| in_settings(settings, VARIANT_SETTINGS));
    let paths = files.filter(|file| !file.value.starts_with(CORPUS)).map(|file| file.path.display().to_string());
    let digest = |path: String| Some((digest_of(Path::new(&path))?, path));
    paths.chain(ids.map(str::to_owned)).filter_map(digest).map(|(digest, path)| (path, digest)).collect()
}

fn digest_of(path: &Path) -> Option<String> {
    let found = path.metadata().ok()?;
    (found.is_file() && found.len() <= MAX_COMPARED).then(|| sha256_of_files(&[path]).ok()).flatten()
}

#[derive(Debug, Default)]
pub(crate) struct TrustedInputs {
    pub(crate) folders: Vec<PathBuf>,
    /// Digests that the manifest of a resumed run holds.
    pub(crate) digests: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refusal {
    /// In words, such as `outside of /projects/theirs`.
    pub(crate) reason: String,
    /// Whether `--confirm` and settings change nothing.
    pub(crate) is_final: bool,
}

impl Refusal {
    fn new(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), is_final: false }
    }

    /// The same, with the file to which a link leads.
    fn of(self, path: &Path, real: &Path) -> Self {
        if !path.is_symlink() {
            return self;
        }
        Self { reason: format!("a link to `{}`, {}", real.display(), self.reason), ..self }
    }
}

/// A file that names others, and where these have to lie.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ReadScope {
    /// Canonical.
    root: PathBuf,
    /// `requests go to URL`, where a file sends them to a server that is neither the provider's nor the person's.
    receiver: Option<String>,
}

impl ReadScope {
    /// What a file may name. `receiver` says `requests go to URL`, where that is neither the provider's nor the person's server.
    pub(crate) fn file(file: &Path, receiver: Option<String>) -> io::Result<Self> {
        let file = file.canonicalize()?;
        Self::folder(file.parent().unwrap_or(&file), receiver)
    }

    pub(crate) fn folder(folder: &Path, receiver: Option<String>) -> io::Result<Self> {
        let own = folder.canonicalize()?;
        let root = if receiver.is_some() { own } else { root(own) };
        Ok(Self { root, receiver })
    }

    /// Why a file may not be read that this one names; nothing where it may. What is not there is left to whoever opens it.
    pub(crate) fn refuses(&self, file: &NamedFile, trusted: &TrustedInputs) -> Option<Refusal> {
        match file.path.metadata() {
            Ok(found) if found.is_file() || found.is_dir() => {}
            Ok(_) => return Some(Refusal { is_final: true, ..Refusal::new("not a regular file") }),
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                return None;
            }
            Err(error) => return Some(Refusal::new(error.to_string())),
        }
        // What is open without a name, such as a deleted file behind `/dev/stdin`, is nowhere.
        let Ok(real) = file.path.canonicalize() else {
            return Some(Refusal { is_final: true, ..Refusal::new("not a file in a folder") });
        };
        let refusal = self.outside(&real, trusted)?;
        (!is_shipped(file) && !is_known(file, &real, trusted)).then(|| refusal.of(&file.path, &real))
    }

    /// Why nothing may be written there that this file names; nothing where it may.
    pub(crate) fn refuses_output(&self, path: &Path, trusted: &TrustedInputs) -> Option<Refusal> {
        match path.symlink_metadata() {
            Ok(found) if found.is_symlink() => Some(Refusal::new("a symbolic link")),
            Ok(found) if !found.is_file() => Some(Refusal::new("not a regular file")),
            _ => self.refuses_path(path, trusted),
        }
    }

    /// Why a path, be it there or not, is not below the root once links are resolved; nothing where it is.
    pub(crate) fn refuses_path(&self, path: &Path, trusted: &TrustedInputs) -> Option<Refusal> {
        match real(path) {
            Ok(real) => self.outside(&real, trusted),
            Err(error) => Some(Refusal::new(error.to_string())),
        }
    }

    fn outside(&self, real: &Path, trusted: &TrustedInputs) -> Option<Refusal> {
        let below = |root: &Path| Some(real.strip_prefix(root).ok()?.components().all(|part| !is_hidden(part)));
        let listed = |folder: &PathBuf| folder.canonicalize().is_ok_and(|folder| below(&folder) == Some(true));
        match below(&self.root) {
            Some(true) => return None,
            _ if trusted.folders.iter().any(listed) => return None,
            Some(false) => return Some(Refusal::new("a hidden file, or in a hidden folder")),
            None => {}
        }
        let outside = format!("outside of `{}`", self.root.display());
        Some(Refusal::new(match &self.receiver {
            Some(receiver) => format!("{outside}, and {receiver}"),
            None => outside,
        }))
    }
}

/// Where files have to lie that one in this folder names: the working or the project's folder, but no person's home.
fn root(own: PathBuf) -> PathBuf {
    let home = std::env::home_dir().map(|home| home.canonicalize().unwrap_or(home));
    let holds_a_home =
        |folder: &Path| folder.parent().is_none() || home.as_ref().is_some_and(|home| home.starts_with(folder));
    let working = std::env::current_dir().and_then(|folder| folder.canonicalize());
    if let Ok(working) = working
        && own.starts_with(&working)
        && !holds_a_home(&working)
    {
        return working;
    }
    let is_marked = |folder: &&Path| MARKS.iter().any(|mark| folder.join(mark).symlink_metadata().is_ok());
    let project = own.ancestors().find(is_marked).filter(|folder| !holds_a_home(folder)).map(Path::to_owned);
    project.unwrap_or(own)
}

/// Where a path leads once links are resolved; of one that is not there, where it would be made.
fn real(path: &Path) -> io::Result<PathBuf> {
    let (mut there, mut rest): (&Path, Vec<OsString>) = (path, Vec::new());
    loop {
        let here = if there.as_os_str().is_empty() { Path::new(".") } else { there };
        match here.canonicalize() {
            Ok(real) => return Ok(rest.iter().rev().fold(real, |real, name| real.join(name))),
            Err(error) if error.kind() == io::ErrorKind::NotFound && fs::symlink_metadata(here).is_err() => {}
            Err(error) => return Err(error),
        }
        let (Some(name), Some(parent)) = (there.file_name(), there.parent()) else {
            return Err(io::ErrorKind::NotFound.into());
        };
        rest.push(name.to_owned());
        there = parent;
    }
}

/// Whether it is a file of the program as it is shipped, of which everybody has a copy.
fn is_shipped(file: &NamedFile) -> bool {
    let path = match file.value.strip_prefix(CORPUS) {
        Some(folder) => format!("{}/articles.jsonl", folder.trim_end_matches('/')),
        None => file.path.display().to_string(),
    };
    let Some(bytes) = shipped::file(&path) else { return false };
    let opened = match file.value.strip_prefix(CORPUS) {
        Some(folder) => Inside::of(Path::new(folder)).and_then(|inside| inside.open(Path::new(&path))),
        None => File::open(&path),
    };
    let mut found = Vec::new();
    opened.and_then(|file| file.take(bytes.len() as u64 + 1).read_to_end(&mut found)).is_ok() && found == bytes
}

fn is_known(file: &NamedFile, real: &Path, trusted: &TrustedInputs) -> bool {
    if trusted.digests.is_empty() {
        return false;
    }
    let digest = file.value.strip_prefix(CORPUS).map_or_else(|| digest_of(real), identity);
    digest.is_some_and(|digest| trusted.digests.contains(&digest))
}

#[cfg(feature = "index")]
fn identity(folder: &str) -> Option<String> {
    Some(super::wiki::open_corpus(folder).ok()?.identity())
}

#[cfg(not(feature = "index"))]
fn identity(_folder: &str) -> Option<String> {
    None
}

/// What an experiment contacts, reads a key from or writes to. What is a provider's own, or Wikipedia's, is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ExternalResource {
    /// The setting that names it, such as `base_url`.
    pub(crate) setting: &'static str,
    pub(crate) value: String,
}

impl ExternalResource {
    pub(crate) fn flag(&self) -> String {
        format!("--{}", self.setting.replace('_', "-"))
    }
}

type OfExperiment = fn(&Experiment) -> Option<&Path>;

/// Flags of which each names a file that is used only where it is typed or confirmed, wherever it lies.
pub(crate) const FLAGS_OF_FILES: [(&str, OfExperiment); 4] = [
    ("record", |experiment| experiment.recording.record.as_deref()),
    ("replay", |experiment| experiment.recording.replay.as_deref()),
    ("cache", |experiment| experiment.recording.cache.as_deref()),
    ("prices", |experiment| experiment.limits.prices.as_deref()),
];

/// Every place of an experiment, each once. A replay contacts nobody.
pub(crate) fn places(experiment: &Experiment) -> Vec<ExternalResource> {
    let on_datasets = experiment.datasets.iter().flat_map(|dataset| &dataset.variants);
    let variants = experiment.variants.iter().chain(on_datasets);
    let mut all: Vec<ExternalResource> = Vec::new();
    // A program runs in a replay as well.
    let agents = variants.clone().filter_map(|variant| variant.settings.agent.clone());
    all.extend(agents.map(|value| ExternalResource { setting: "agent", value }));
    if !experiment.recording.is_offline() {
        all.extend(variants.flat_map(|variant| places_of_variant(&variant.settings)));
    }
    let file = |(setting, path): (&'static str, OfExperiment)| {
        Some(ExternalResource { setting, value: path(experiment)?.display().to_string() })
    };
    all.extend(FLAGS_OF_FILES.into_iter().filter_map(file));
    unique(all)
}

fn places_of_variant(settings: &VariantSettings) -> impl Iterator<Item = ExternalResource> {
    let servers = ModelSettings(settings).custom_base_urls().into_iter().map(redact::url);
    let fields = settings.extra_body.iter().flat_map(unsafe_fields);
    let headers = settings.extra_header.iter().flat_map(unsafe_headers);
    let site =
        settings.wiki_url.iter().filter(|address| !is_at(address, WIKIPEDIA)).map(|address| redact::url(address));
    let retriever = settings.wiki.iter().filter(|wiki| wiki.starts_with("retriever:"));
    let places = servers
        .map(|server| ("base_url", server))
        .chain(settings.key_env.iter().map(|name| ("key_env", name.clone())))
        .chain(settings.key_file.iter().map(|file| ("key_file", file.clone())))
        .chain(fields.map(|field| ("extra_body", field)))
        .chain(headers.map(|header| ("extra_header", header)))
        .chain(site.map(|site| ("wiki_url", site)))
        .chain(retriever.map(|wiki| ("wiki", RetrieverAddress::public_label(wiki))));
    places.map(|(setting, value)| ExternalResource { setting, value })
}

const MAX_PROBLEMS: usize = 100;
const HELP: &str =
    "a path is tried from the working folder, from the experiment file's own, and among the shipped files";

/// Looks at every file that an experiment file names. All that is wrong is one error.
pub(super) fn check(file: &ExperimentFile, overrides: &Overrides) -> Result<(), RunError> {
    let mut inputs = Inputs { file, problems: Vec::new(), seen: HashSet::new() };
    for dataset in &file.datasets {
        if !overrides.datasets.contains_key(&dataset.name) {
            inputs.dataset(dataset.path_line, Path::new(&file.resolved(&dataset.path)));
        }
        inputs.settings(&file.settings_of(dataset));
        for variant in file.variants_on(dataset, overrides) {
            inputs.settings(&variant.settings);
        }
    }
    inputs.checked()
}

struct Inputs<'f> {
    file: &'f ExperimentFile,
    problems: Vec<Problem>,
    /// What was looked at: variants share most of it.
    seen: HashSet<(usize, String, Option<String>)>,
}

impl Inputs<'_> {
    fn dataset(&mut self, line: usize, path: &Path) {
        if !path.exists() && shipped::file(&path.display().to_string()).is_none() {
            self.note(line, &absent(path));
        }
    }

    fn settings(&mut self, settings: &[Assignment]) {
        let named = |name: &str| {
            // What was typed is not in the file.
            let assignment = settings.iter().find(|set| set.setting.name == name && set.line > 0)?;
            Some((assignment.line, assignment.value.as_str()?))
        };
        let instruction = named("instruction");
        if let Some((line, spec)) = named("prompt") {
            self.prompt(line, spec, instruction);
        }
        if let Some((line, path)) = named("texts")
            && self.is_new(line, path, None)
            && let Err(error) = texts::load_file(path, &shipped::file)
        {
            self.refused(line, error);
        }
        if let Some((line, path)) = named("ids")
            && let Err(wrong) = ids(Path::new(path))
        {
            self.note(line, &wrong);
        }
        for assignment in settings.iter().filter(|set| set.setting.only_typed && set.line > 0) {
            let message = format!("`{}` says where a key is, which no file may say", assignment.setting.name);
            let hint = format!("remove it, and give {} on the command line", assignment.setting.flag());
            self.note(assignment.line, &RunError::input(message, hint));
        }
        if let Some((line, wiki)) = named("wiki") {
            self.corpus(line, wiki);
        }
    }

    fn checked(mut self) -> Result<(), RunError> {
        if self.problems.is_empty() {
            return Ok(());
        }
        let receiver = |problem: &Problem| problem.file != self.file.path;
        self.problems.sort_by_key(|problem| (receiver(problem), problem.file.clone(), problem.line));
        self.problems.truncate(MAX_PROBLEMS);
        let problems = Problems { list: self.problems, help: HELP };
        Err(RunError::input(&problems, problems.hint()))
    }

    fn prompt(&mut self, line: usize, spec: &str, instruction: Option<(usize, &str)>) {
        if self.is_new(line, spec, None)
            && let Err(error) = prompting::load(spec, None, &shipped::file)
        {
            self.refused(line, error);
        }
        let Some((line, path)) = instruction.filter(|(line, path)| self.is_new(*line, spec, Some(path))) else {
            return;
        };
        match File::open(path) {
            Err(source) => self.refused(line, PromptError::ReadInstruction { file: path.to_owned(), source }),
            Ok(_) if prompting::load(spec, None, &shipped::file).is_err() => {}
            Ok(_) => {
                if let Err(error) = prompting::load(spec, Some(path), &shipped::file) {
                    self.refused(line, error);
                }
            }
        }
    }

    /// Whether the folder of a corpus is there; it may be large, and is read when it is needed.
    fn corpus(&mut self, line: usize, wiki: &str) {
        let Some(folder) = wiki.strip_prefix("corpus:").filter(|folder| !folder.is_empty()) else { return };
        let articles = format!("{}/articles.jsonl", folder.trim_end_matches('/'));
        if !Path::new(folder).exists() && shipped::file(&articles).is_none() {
            self.note(line, &RunError::input(format!("`{folder}` does not exist"), "check the path"));
        }
    }

    fn is_new(&mut self, line: usize, file: &str, with: Option<&str>) -> bool {
        self.seen.insert((line, file.to_owned(), with.map(str::to_owned)))
    }

    /// Problems inside a file have their own lines.
    fn refused(&mut self, line: usize, error: PromptError) {
        let PromptError::Invalid(problems) = error else {
            let hint = error.hint();
            return self.note(line, &RunError::input(error, hint));
        };
        for problem in problems.list {
            self.add(Problem { hint: problem.hint.or_else(|| Some(problems.help.to_owned())), ..problem });
        }
    }

    fn note(&mut self, line: usize, error: &RunError) {
        let (message, hint) = (error.to_string(), Some(error.hint().to_owned()));
        self.add(Problem { file: self.file.path.clone(), line, message, hint });
    }

    /// One file may be named for many variants.
    fn add(&mut self, problem: Problem) {
        if !self.problems.contains(&problem) {
            self.problems.push(problem);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::places;
    use crate::runner::experiment::{DatasetSpec, Experiment, Limits, Recording, VariantSettings, VariantSpec};
    use serde_json::json;

    #[test]
    fn every_place_that_is_not_a_providers_own_is_listed_once() {
        let of = |settings: VariantSettings| VariantSpec { name: "v".to_owned(), settings, ..VariantSpec::default() };
        let text = |text: &str| Some(text.to_owned());
        let (home, stranger) = ("https://api.openai.com/v1", "http://me:secret@host.example/v1?key=secret");
        let one = VariantSettings {
            model: text("openai:m"),
            base_url: Some(vec![home.to_owned(), stranger.to_owned()]),
            key_env: text("NAME"),
            extra_header: Some(
                [("a", "b"), ("api-key", "env:X"), ("x-title", "t")].map(|(k, v)| (k.to_owned(), v.to_owned())).into(),
            ),
            extra_body: json!({"plugins": [{"id": "web"}], "top_k": 20}).as_object().cloned(),
            wiki_url: text("https://en.wikipedia.org/"),
            ..VariantSettings::default()
        };
        let other = VariantSettings {
            key_file: text("k"),
            wiki_url: text("http://127.0.0.1:9"),
            wiki: text("retriever:http://me:secret@h"),
            ..one.clone()
        };
        let mut experiment = Experiment {
            variants: vec![of(one)],
            datasets: vec![DatasetSpec { variants: vec![of(other)], ..DatasetSpec::default() }],
            recording: Recording { record: Some("r".into()), cache: Some("c".into()), replay: None },
            limits: Limits { prices: Some("p".into()), ..Limits::default() },
            ..Experiment::default()
        };
        let listed = |experiment: &Experiment| {
            let all = places(experiment);
            all.iter().map(|place| format!("{} {}", place.flag(), place.value)).collect::<Vec<_>>()
        };
        assert_eq!(
            listed(&experiment),
            [
                "--base-url http://host.example/v1",
                "--key-env NAME",
                "--extra-body plugins=[{\"id\":\"web\"}]",
                "--extra-header a=b",
                "--extra-header api-key=env:X",
                "--key-file k",
                "--wiki-url http://127.0.0.1:9/",
                "--wiki retriever:http://h/retrieve?topk=3",
                "--record r",
                "--cache c",
                "--prices p"
            ]
        );
        experiment.recording = Recording { replay: Some("t".into()), ..Recording::default() };
        assert_eq!(listed(&experiment), ["--replay t", "--prices p"]);
    }
}
