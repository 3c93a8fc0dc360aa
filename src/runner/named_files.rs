//! The files that settings name, and which of them need a confirmation.
//!
//! An experiment file, a settings file of a folder and the command line that a run's folder stores may come from somebody
//! else. What they name is read and sent to servers, so it has to lie where they lie, or the person says so.

use crate::dataset::sha256_of_file;
use crate::net::recording::{Inside, is_hidden};
use crate::runner::experiment::{DATASET_SETTINGS, Experiment, Setting, VARIANT_SETTINGS, VariantSettings, shipped};
use serde::Serialize;
use std::collections::BTreeMap;
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
    let mut add = |found: Vec<NamedFile>| {
        for file in found {
            if !files.contains(&file) {
                files.push(file);
            }
        }
    };
    for dataset in &experiment.datasets {
        let (path, setting) = (dataset.path.clone(), DATASET[usize::from(experiment.file.is_some())]);
        if !super::questions::is_stdin(&path) {
            add(vec![NamedFile { setting, value: path.display().to_string(), path }]);
        }
        add(in_settings(&dataset.settings, DATASET_SETTINGS));
        for variant in experiment.variants_on(dataset) {
            add(of_variant(&variant.settings));
        }
    }
    files
}

fn of_variant(settings: &VariantSettings) -> Vec<NamedFile> {
    in_settings(settings, VARIANT_SETTINGS)
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
    let files = settings.iter().flat_map(|settings| of_variant(settings));
    let paths = files.filter(|file| !file.value.starts_with(CORPUS)).map(|file| file.path.display().to_string());
    let digest = |path: String| Some((digest_of(Path::new(&path))?, path));
    paths.chain(ids.map(str::to_owned)).filter_map(digest).map(|(digest, path)| (path, digest)).collect()
}

fn digest_of(path: &Path) -> Option<String> {
    let found = path.metadata().ok()?;
    (found.is_file() && found.len() <= MAX_COMPARED).then(|| sha256_of_file(path).ok()).flatten()
}

#[derive(Debug, Default)]
pub(crate) struct Known {
    pub(crate) folders: Vec<PathBuf>,
    /// Digests that the manifest of a resumed run holds.
    pub(crate) digests: Vec<String>,
}

/// Why a file that was not typed is refused.
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

    fn last(reason: &str) -> Self {
        Self { reason: reason.to_owned(), is_final: true }
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
pub(crate) struct Namer {
    /// Canonical.
    root: PathBuf,
    /// The server that it chooses, where that is neither the provider's own nor the person's.
    server: Option<String>,
}

impl Namer {
    /// What a file may name. `server` is one that it chooses and that is neither the provider's own nor the person's.
    pub(crate) fn file(file: &Path, server: Option<String>) -> io::Result<Self> {
        let file = file.canonicalize()?;
        Self::folder(file.parent().unwrap_or(&file), server)
    }

    pub(crate) fn folder(folder: &Path, server: Option<String>) -> io::Result<Self> {
        let own = folder.canonicalize()?;
        let root = if server.is_some() { own } else { root(own) };
        Ok(Self { root, server })
    }

    /// Why a file may not be read that this one names; nothing where it may. What is not there is left to whoever opens it.
    pub(crate) fn refuses(&self, file: &NamedFile, known: &Known) -> Option<Refusal> {
        match file.path.metadata() {
            Ok(found) if found.is_file() || found.is_dir() => {}
            Ok(_) => return Some(Refusal::last("not a regular file")),
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                return None;
            }
            Err(error) => return Some(Refusal::new(error.to_string())),
        }
        // What is open without a name, such as a deleted file behind `/dev/stdin`, is nowhere.
        let Ok(real) = file.path.canonicalize() else { return Some(Refusal::last("not a file in a folder")) };
        let refusal = self.outside(&real, known)?;
        (!is_shipped(file) && !is_known(file, &real, known)).then(|| refusal.of(&file.path, &real))
    }

    /// Why nothing may be written there that this file names; nothing where it may.
    pub(crate) fn refuses_output(&self, path: &Path, known: &Known) -> Option<Refusal> {
        match path.symlink_metadata() {
            Ok(found) if found.is_symlink() => Some(Refusal::new("a symbolic link")),
            Ok(found) if !found.is_file() => Some(Refusal::new("not a regular file")),
            _ => self.refuses_path(path, known),
        }
    }

    /// Why a path, be it there or not, is not below the root once links are resolved; nothing where it is.
    pub(crate) fn refuses_path(&self, path: &Path, known: &Known) -> Option<Refusal> {
        match real(path) {
            Ok(real) => self.outside(&real, known),
            Err(error) => Some(Refusal::new(error.to_string())),
        }
    }

    fn outside(&self, real: &Path, known: &Known) -> Option<Refusal> {
        let below = |root: &Path| Some(real.strip_prefix(root).ok()?.components().all(|part| !is_hidden(part)));
        let listed = |folder: &PathBuf| folder.canonicalize().is_ok_and(|folder| below(&folder) == Some(true));
        match below(&self.root) {
            Some(true) => return None,
            _ if known.folders.iter().any(listed) => return None,
            Some(false) => return Some(Refusal::new("a hidden file, or in a hidden folder")),
            None => {}
        }
        let outside = format!("outside of `{}`", self.root.display());
        Some(Refusal::new(match &self.server {
            Some(server) => format!("{outside}, and requests go to {server}"),
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

fn is_known(file: &NamedFile, real: &Path, known: &Known) -> bool {
    if known.digests.is_empty() {
        return false;
    }
    let digest = match file.value.strip_prefix(CORPUS) {
        Some(folder) => identity(folder),
        None => digest_of(real),
    };
    digest.is_some_and(|digest| known.digests.contains(&digest))
}

#[cfg(feature = "index")]
fn identity(folder: &str) -> Option<String> {
    Some(super::wiki::open_corpus(folder).ok()?.identity())
}

#[cfg(not(feature = "index"))]
fn identity(_folder: &str) -> Option<String> {
    None
}
