//! The runs that are meant by what is typed: run folders, and folders that contain them.

use super::{GradedRun, RunRef};
use crate::run::RunError;
use crate::store::RunFolder;
use crate::types::text::{counted, shell_word, visible_line};
use std::path::{Path, PathBuf};

/// How far below an experiment's folder its runs are looked for.
const DEPTH: usize = 3;

/// The named runs, or all runs below a named folder.
pub(crate) fn runs(named: &[String]) -> Result<Vec<RunRef>, RunError> {
    let mut runs = Vec::new();
    for text in named {
        if let Some(run) = RunRef::parse(text) {
            runs.push(run);
            continue;
        }
        let found = runs_in(Path::new(text));
        if found.is_empty() {
            let meant = RunRef::meant(text);
            if meant.path == Path::new(text) && meant.path.is_dir() {
                return Err(RunError::input(
                    format!("`{}` contains no run", meant.path.display()),
                    "name a folder created by `wikitrail run`, such as results/<run>, or one that contains such folders",
                ));
            }
            // Reports the specific error: no run, or no such variant.
            RunFolder::open(&meant.path)?;
            GradedRun::open(&meant.path)?.check_variant(&meant)?;
        }
        runs.extend(found.into_iter().map(|path| RunRef { path, variant: None }));
    }
    Ok(runs)
}

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

/// Refuses a folder that is not a run but contains some, for a command that takes one run; `command` is what to type in
/// front of it.
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

/// The run in a folder, then those right below it, by name: how an experiment lays out its datasets. Where any runs are
/// meant, [`runs_in`] finds them.
pub(crate) fn runs_at(folder: &Path) -> impl Iterator<Item = RunFolder> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut below: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    below.sort();
    std::iter::once(folder.to_owned()).chain(below).map(RunFolder::at).filter(RunFolder::exists)
}
