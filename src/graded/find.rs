//! The runs that are meant by what is typed: run folders, and folders that contain them.

use super::{GradedRun, RunRef};
use crate::run::RunError;
use crate::store::RunFolder;
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
        let mut below = Vec::new();
        runs_below(Path::new(text), DEPTH, &mut below);
        if below.is_empty() {
            let meant = RunRef::meant(text);
            // Reports the specific error: no run, or no such variant.
            RunFolder::open(&meant.path)?;
            GradedRun::open(&meant.path)?.check_variant(&meant)?;
        }
        below.sort();
        runs.extend(below.into_iter().map(|path| RunRef { path, variant: None }));
    }
    Ok(runs)
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

/// The run in a folder, then those right below it, by name.
pub(crate) fn runs_at(folder: &Path) -> impl Iterator<Item = RunFolder> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut below: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    below.sort();
    std::iter::once(folder.to_owned()).chain(below).map(RunFolder::at).filter(RunFolder::exists)
}
