//! Where an export goes.

use super::runs::Run;
use crate::cli::failure::Failure;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// Where the export goes. A file is written beside its place and moved there when it is whole, so that a failed
/// export leaves an older one as it was.
pub(super) enum Target {
    Stdout,
    File { path: PathBuf, beside: Option<PathBuf> },
}

impl Target {
    /// Refuses a place in the folder of one of the runs where it would replace, or be read as, part of it.
    pub(super) fn of(out: Option<&Path>, runs: &[Run]) -> anyhow::Result<Self> {
        let Some(path) = out else { return Ok(Self::Stdout) };
        let folder = |path: &Path| path.canonicalize().ok();
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let own = name == "manifest.json"
            || name == ".lock"
            || (name.starts_with("trajectories") && path.extension().is_some_and(|extension| extension == "jsonl"));
        let inside = |run: &Run| folder(parent).is_some() && folder(parent) == folder(run.folder.path());
        if own && runs.iter().any(inside) {
            return Err(Failure::usage(
                format!("`{}` belongs to the run itself", path.display()),
                "name another file or another folder with --out",
            ));
        }
        // A pipe or a device is written directly.
        let plain = path.metadata().map_or(true, |metadata| metadata.is_file());
        let beside = plain.then(|| path.with_file_name(format!("{name}.part")));
        Ok(Self::File { path: path.to_owned(), beside })
    }

    pub(super) fn open(&self) -> anyhow::Result<Box<dyn Write + Send>> {
        match self {
            Self::Stdout => Ok(Box::new(BufWriter::new(std::io::stdout()))),
            Self::File { path, beside } => {
                let file = File::create(beside.as_ref().unwrap_or(path)).map_err(|error| unwritable(path, &error))?;
                Ok(Box::new(BufWriter::new(file)))
            }
        }
    }

    /// Puts the finished file in its place.
    pub(super) fn close(&self) -> anyhow::Result<()> {
        match self {
            Self::File { path, beside: Some(beside) } => {
                std::fs::rename(beside, path).map_err(|error| unwritable(path, &error))
            }
            _ => Ok(()),
        }
    }

    /// Takes half a file away after an error.
    pub(super) fn give_up(&self) {
        if let Self::File { beside: Some(beside), .. } = self {
            let _ = std::fs::remove_file(beside);
        }
    }
}

fn unwritable(path: &Path, error: &std::io::Error) -> anyhow::Error {
    Failure::unexpected(
        format!("cannot write `{}`: {error}", path.display()),
        "check that the folder exists, may be written, and has space",
    )
}
