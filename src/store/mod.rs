//! A run's folder: manifest, trajectories, prompts; append, read, lock, and what is left to do.
//!
//! ```text
//! <run>/manifest.json          what the run was
//! <run>/trajectories.jsonl     one episode a line, appended and synced when it ends
//! <run>/prompts/<sha256>.txt   every rendered prompt prefix
//! <run>/experiment.toml        the experiment that the run is a part of, if it is one
//! ```

mod append;
mod folder;
mod index;
mod read;

pub use append::Appender;
pub use folder::{Lock, RunFolder};
pub use read::{Paid, Records, Skipped};

use std::path::PathBuf;

/// Why a run's folder cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The file system refused something.
    #[error("cannot {action} `{}`: {source}", path.display())]
    Io {
        /// What was tried: `create`, `read`, `append to`, …
        action: &'static str,
        /// On which file or folder.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// The folder has no manifest.
    #[error("`{}` is not a run: it has no manifest.json", path.display())]
    NotARun {
        /// The folder.
        path: PathBuf,
    },
    /// The manifest cannot be understood.
    #[error("`{}`: {message}", path.display())]
    BadManifest {
        /// The manifest's path.
        path: PathBuf,
        /// What is wrong with it.
        message: String,
    },
    /// The manifest or a record was written by a newer program.
    #[error("`{}` has format version {found}, and this program reads up to {known}", path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: u64,
        /// The newest version that is understood.
        known: u32,
    },
    /// The file holds something else than trajectories.
    #[error("`{}` is not a file of trajectories: line {line} is none", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// The first line that is no trajectory, from 1.
        line: usize,
    },
    /// Another process writes this run.
    #[error("`{}` is being written by another process{}", path.display(), holder.as_deref().map(|pid| format!(" ({pid})")).unwrap_or_default())]
    Locked {
        /// The folder, or the file that stands by itself.
        path: PathBuf,
        /// Who holds it, as that process wrote it down.
        holder: Option<String>,
    },
}

impl StoreError {
    /// What the person at the keyboard can do.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Io { source, .. } if source.kind() == std::io::ErrorKind::StorageFull => {
                "free some space and run the same command with --resume: every finished episode is kept"
            }
            Self::Io { .. } => "check that the path exists and may be written",
            Self::NotARun { .. } => "name a folder that `wikitrail run` has made, such as results/<run>",
            Self::BadManifest { .. } => "restore manifest.json, or start a new run with another --out",
            Self::Newer { .. } => "use the version of wikitrail that wrote it, or a newer one",
            Self::Foreign { .. } => "name a new file; this one is left as it is",
            Self::Locked { .. } => "wait for it to end, or name another place",
        }
    }

    pub(crate) fn io(action: &'static str, path: &std::path::Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { action, path, source }
    }
}

#[cfg(test)]
mod tests;
