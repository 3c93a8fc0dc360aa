//! The runs to export: run folders, and folders that contain them.

use crate::cli::failure::Failure;
use crate::graded::{folder_name, runs_in};
use crate::store::RunFolder;
use crate::types::Manifest;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

#[derive(Debug)]
pub(super) struct Run {
    /// The folder's name, or its path if two runs share that name.
    pub(super) name: String,
    pub(super) folder: RunFolder,
    pub(super) manifest: Manifest,
}

/// The runs at `paths`, each once, in that order; runs in a folder are sorted by path.
pub(super) fn find(paths: &[PathBuf]) -> anyhow::Result<Vec<Run>> {
    let mut folders: Vec<PathBuf> = Vec::new();
    for path in paths {
        for folder in at(path)? {
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
        Ok(Run { name, folder, manifest })
    };
    folders.into_iter().map(open).collect()
}

/// The run at `path`, or the runs below that folder.
fn at(path: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let found = runs_in(path);
    if found.is_empty() {
        return Err(Failure::bad_input(
            format!("`{}` is not a run, and contains none up to three folders deep: no manifest.json", path.display()),
            "name a folder that `wikitrail run` has made, such as results/<run>, or a folder of such folders",
        ));
    }
    Ok(found)
}
