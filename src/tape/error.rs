//! Errors of recordings and caches.

use super::miss::{Miss, Why};
use std::path::{Path, PathBuf};

/// Why a recording or a cache cannot be used, or has no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TapeError {
    /// A file operation failed.
    #[error("cannot {action} `{}`: {reason}", path.display())]
    Io {
        /// `open`, `read`, `append to`, …
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The system's message.
        reason: String,
        /// Whether the disk is full.
        full: bool,
    },
    /// The file is not a recording.
    #[error("`{}` is not a recording: {reason}", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// Why not.
        reason: &'static str,
    },
    /// The file was written by a newer program.
    #[error("`{}` has format version {found}, and this program reads up to {known}", path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: u64,
        /// The newest supported version.
        known: u32,
    },
    /// A complete line cannot be parsed.
    #[error("`{}`, line {line}: {reason}", path.display())]
    BadLine {
        /// The file.
        path: PathBuf,
        /// Line number, from 1.
        line: u64,
        /// The parser's message.
        reason: String,
    },
    /// Another process is using it.
    #[error("`{}` is in use by another process", path.display())]
    Locked {
        /// The recording, or the cache's folder.
        path: PathBuf,
    },
    /// The cache's database cannot be used.
    #[error("the cache in `{}` cannot be used: {reason}", path.display())]
    Cache {
        /// The cache's folder.
        path: PathBuf,
        /// The database's message.
        reason: String,
    },
    /// The writing thread stopped.
    #[error("the writer of `{}` stopped", path.display())]
    Stopped {
        /// The file.
        path: PathBuf,
    },
    /// The recording has no answer to the request.
    #[error(transparent)]
    Miss(#[from] Box<Miss>),
}

impl TapeError {
    /// What the user can do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Io { full: true, .. } => {
                "free some space and run the command again: what was recorded before is kept"
            }
            Self::Io { .. } => "check that the path exists, and is readable and writable",
            Self::Foreign { .. } => "name a file written by `--record`, or a new file to record to",
            Self::Newer { .. } => "use the version of wikitrail that wrote it, or a newer one",
            Self::BadLine { .. } => "the recording was changed: restore it, or record again",
            Self::Locked { .. } => "wait for the other process to finish, or choose another path",
            Self::Cache { .. } => "choose another folder with --cache, or delete this one: it holds only copies",
            Self::Stopped { .. } => "run the command again: what was recorded before is kept",
            Self::Miss(miss) => match miss.why {
                Why::Unknown { .. } => {
                    "a replay answers only what was recorded: undo the change, or record again with --record"
                }
                Why::RanOut { .. } | Why::Gap { .. } => {
                    "replay the same questions, repeats and samples that were recorded, or record again with --record"
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
