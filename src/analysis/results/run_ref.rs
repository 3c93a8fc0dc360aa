//! Runs and episodes as they are named on the command line: `RUN`, `RUN@VARIANT`, `RUN:ID`, `RUN@VARIANT:ID`.
//!
//! Ids, variant names and paths may contain `:` and `@`, so the text is split where an existing run precedes.

use crate::base::Manifest;
use crate::base::text::{counted, shell_word, visible_line};
use crate::runner::RunError;
use crate::runner::store::RunFolder;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A run, or a file of trajectories; all its variants, or one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RunRef {
    /// The run's folder, or the file.
    pub(crate) path: PathBuf,
    pub(crate) variant: Option<String>,
}

impl RunRef {
    /// The text as a run, or as a variant of a run, if it exists.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        if is_source(text) {
            return Some(Self { path: text.into(), variant: None });
        }
        Self::splits(text).find(Self::names_a_variant)
    }

    /// The text as a run and the id of a question in it; the longest matching variant name wins.
    pub(crate) fn with_id(text: &str) -> Option<(Self, String)> {
        text.rmatch_indices(':').find_map(|(at, _)| Some((Self::parse(&text[..at])?, text[at + 1..].to_owned())))
    }

    /// What was probably meant if there is no such run or variant, for error messages.
    pub(crate) fn meant(text: &str) -> Self {
        let whole = || Self { path: text.into(), variant: None };
        Self::splits(text).next().unwrap_or_else(whole)
    }

    /// Every split where an `@` follows a run; the last one first, as it is least likely part of a path.
    fn splits(text: &str) -> impl Iterator<Item = Self> {
        let parts = text.rmatch_indices('@').map(|(at, _)| (&text[..at], &text[at + 1..]));
        parts
            .filter(|(path, variant)| is_source(path) && !variant.is_empty())
            .map(|(path, variant)| Self { path: path.into(), variant: Some(variant.to_owned()) })
    }

    fn names_a_variant(&self) -> bool {
        let manifest = RunFolder::at(&self.path).manifest();
        manifest
            .is_ok_and(|manifest| manifest.variants.iter().any(|variant| Some(&variant.name) == self.variant.as_ref()))
    }

    pub(crate) fn typed(&self) -> String {
        let path = self.path.display();
        self.variant.as_ref().map_or_else(|| path.to_string(), |variant| format!("{path}@{variant}"))
    }
}

fn is_source(path: &str) -> bool {
    RunFolder::at(path).exists() || Path::new(path).is_file()
}

/// How far below an experiment's folder its runs are looked for.
const DEPTH: usize = 3;

/// The run at a path, else the runs below it, up to three folders deep, sorted by path. Runs inside of runs do not count.
pub(crate) fn runs_in(path: &Path) -> Vec<PathBuf> {
    if RunFolder::at(path).exists() {
        return vec![path.to_owned()];
    }
    let mut found = Vec::new();
    runs_below(path, DEPTH, &mut found);
    found.sort();
    found
}

/// Refuses a folder of runs for a command that takes one run; `command` is what to type in front of it.
pub(crate) fn check_one(path: &Path, command: &str) -> Result<(), RunError> {
    let found = runs_in(path);
    let [first, others @ ..] = &found[..] else { return Ok(()) };
    if first == path {
        return Ok(());
    }
    let more =
        if others.is_empty() { String::new() } else { format!(", or another of its {}", counted(found.len(), "run")) };
    Err(RunError::input(
        format!("`{}` is not a run: it contains runs", path.display()),
        format!("name one: {command} {}{more}", shell_word(&visible_line(&first.display().to_string(), 300))),
    ))
}

fn runs_below(folder: &Path, depth: usize, found: &mut Vec<PathBuf>) {
    // An unreadable folder is skipped.
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for path in entries.filter_map(|entry| entry.ok().map(|entry| entry.path())).filter(|path| path.is_dir()) {
        if RunFolder::at(&path).exists() {
            found.push(path);
        } else if depth > 1 {
            runs_below(&path, depth - 1, found);
        }
    }
}

/// The run in a folder, then those right below it, by name, as an experiment lays out its datasets.
pub(crate) fn runs_at(folder: &Path) -> impl Iterator<Item = RunFolder> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut below: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    below.sort();
    std::iter::once(folder.to_owned()).chain(below).map(RunFolder::at).filter(RunFolder::exists)
}

#[derive(Debug)]
pub(crate) struct NamedRun {
    /// The folder's name, or its path if two runs share that name.
    pub(crate) name: String,
    pub(crate) folder: RunFolder,
    pub(crate) manifest: Manifest,
}

/// The runs at `paths`, each once, in that order; runs in a folder are sorted by path.
pub(crate) fn named_runs(paths: &[PathBuf]) -> Result<Vec<NamedRun>, RunError> {
    let mut folders: Vec<PathBuf> = Vec::new();
    for path in paths {
        for folder in runs_or_error(path)? {
            let known = folders.iter().any(|known| known.canonicalize().ok() == folder.canonicalize().ok());
            if !known {
                folders.push(folder);
            }
        }
    }
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for folder in &folders {
        *seen.entry(folder_name(folder)).or_default() += 1;
    }
    let open = |path: PathBuf| {
        let short = folder_name(&path);
        let name = if seen.get(&short).is_some_and(|count| *count > 1) { path.display().to_string() } else { short };
        let folder = RunFolder::open(path)?;
        let manifest = folder.manifest()?;
        Ok(NamedRun { name, folder, manifest })
    };
    folders.into_iter().map(open).collect()
}

/// The run at `path`, or the runs below that folder.
fn runs_or_error(path: &Path) -> Result<Vec<PathBuf>, RunError> {
    let found = runs_in(path);
    if found.is_empty() {
        return Err(RunError::input(
            format!("`{}` is not a run, and contains none up to three folders deep: no manifest.json", path.display()),
            "name a folder that `wikitrail run` has made, such as results/<run>, or a folder of such folders",
        ));
    }
    Ok(found)
}

/// The name of a run's folder, also for `.`.
pub(crate) fn folder_name(folder: &Path) -> String {
    let whole = folder.canonicalize();
    let whole = whole.as_deref().unwrap_or(folder);
    whole.file_name().map_or_else(|| folder.display().to_string(), |name| name.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::RunRef;
    use serde_json::json;

    /// A run with these variants, in a folder whose name does not say which.
    fn run(dir: &std::path::Path, variants: &[&str]) -> String {
        let run = dir.join("a:b@c");
        std::fs::create_dir(&run).expect("a folder");
        let variant = |name: &&str| {
            json!({"name": name, "protocol": "robust", "method": "react", "max_steps": 7, "prompt": "p",
                "prompt_sha256": "", "question_label": "Question", "model": "baseline", "endpoint": "none",
                "decoding": {"temperature": 0.0, "top_p": 1.0, "max_tokens": 9}, "wiki": "html", "compat": "fixed"})
        };
        let variants: Vec<_> = variants.iter().map(variant).collect();
        let manifest = json!({"v": 1, "variants": variants, "repeats": 1, "wikitrail": "0.1.0", "git_revision": null,
            "dataset": {"name": "sample", "path": "", "sha256": "", "questions": 1, "selection": {}, "selected": 1},
            "command_line": [], "started_at": "", "ended_at": null});
        std::fs::write(run.join("manifest.json"), manifest.to_string()).expect("a manifest");
        run.to_str().expect("UTF-8").to_owned()
    }

    #[test]
    fn a_run_is_parted_from_variant_and_id_where_they_exist() {
        let dir = tempfile::tempdir().expect("a folder");
        let run = run(dir.path(), &["x/y", "m", "m:1", "a@b"]);
        let named = |variant: &str| RunRef { path: run.clone().into(), variant: Some(variant.into()) };
        let whole = RunRef { path: run.clone().into(), variant: None };
        assert_eq!(RunRef::parse(&run), Some(whole.clone()));
        for variant in ["x/y", "m:1", "a@b"] {
            let typed = format!("{run}@{variant}");
            assert_eq!(RunRef::parse(&typed), Some(named(variant)));
            assert_eq!(named(variant).typed(), typed);
            assert_eq!(RunRef::with_id(&format!("{typed}:q:1@2")), Some((named(variant), "q:1@2".into())));
        }
        for text in [format!("{run}@"), format!("{run}@n"), format!("{run}/none"), format!("{run}@m:q")] {
            assert_eq!(RunRef::parse(&text), None, "{text}");
        }
        assert_eq!(RunRef::with_id(&run), None);
        assert_eq!(RunRef::with_id(&format!("{run}@n:q")), None);
        assert_eq!(RunRef::with_id(&format!("{run}@m:q:1")), Some((named("m"), "q:1".into())));
        assert_eq!(RunRef::with_id(&format!("{run}:q:1@2")), Some((whole.clone(), "q:1@2".into())));
        assert_eq!(RunRef::meant(&format!("{run}@n")), named("n"));
        assert_eq!(RunRef::meant("nothing"), RunRef { path: "nothing".into(), variant: None });
    }
}
