//! Why a tape or a cache cannot be used.

use super::miss::{Miss, Why};
use std::path::{Path, PathBuf};

/// Why a tape or a cache cannot be used, or has no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TapeError {
    /// The file system refused something.
    #[error("cannot {action} `{}`: {reason}", path.display())]
    Io {
        /// What was tried: `open`, `read`, `append to`, …
        action: &'static str,
        /// On which file or folder.
        path: PathBuf,
        /// The system's reason.
        reason: String,
        /// Whether the disk is full.
        full: bool,
    },
    /// The file is something else.
    #[error("`{}` is not a recording: {reason}", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// What stands there instead.
        reason: &'static str,
    },
    /// The file was written by a newer program.
    #[error("`{}` has format version {found}, and this program reads up to {known}", path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: u64,
        /// The newest version that is understood.
        known: u32,
    },
    /// A whole line cannot be understood.
    #[error("`{}`, line {line}: {reason}", path.display())]
    BadLine {
        /// The file.
        path: PathBuf,
        /// Line number, from 1.
        line: u64,
        /// What is wrong with it.
        reason: String,
    },
    /// Another process writes it.
    #[error("`{}` is in use by another process", path.display())]
    Locked {
        /// The tape, or the cache's folder.
        path: PathBuf,
    },
    /// The cache's database cannot be used.
    #[error("the cache in `{}` cannot be used: {reason}", path.display())]
    Cache {
        /// The cache's folder.
        path: PathBuf,
        /// What the database says.
        reason: String,
    },
    /// The thread that writes has gone.
    #[error("the writer of `{}` stopped", path.display())]
    Stopped {
        /// What it wrote.
        path: PathBuf,
    },
    /// The tape has no answer to the request.
    #[error(transparent)]
    Miss(#[from] Box<Miss>),
}

impl TapeError {
    /// What a person can do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Io { full: true, .. } => "free some space and start again: what was recorded before is kept",
            Self::Io { .. } => "check that the path exists, and may be read and written",
            Self::Foreign { .. } => {
                "name a file that `--record` has made, or for `--record` one that does not exist yet"
            }
            Self::Newer { .. } => "use the version of wikitrail that wrote it, or a newer one",
            Self::BadLine { .. } => "the recording was changed by something else: restore it, or record anew",
            Self::Locked { .. } => "wait for the other process to end, or name another path",
            Self::Cache { .. } => "name another folder with --cache, or delete this one: it holds only copies",
            Self::Stopped { .. } => "start again: what was recorded before is kept",
            Self::Miss(miss) => match miss.why {
                Why::Unknown { .. } => {
                    "a replay answers only what was recorded: undo the change that is named, or record anew with --record"
                }
                Why::RanOut { .. } | Why::Gap { .. } => {
                    "replay the same questions, repeats and samples that were recorded, or record anew with --record"
                }
            },
        }
    }

    pub(super) fn io(action: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_owned();
        move |error| Self::Io {
            action,
            path,
            full: error.kind() == std::io::ErrorKind::StorageFull,
            reason: error.to_string(),
        }
    }
}
