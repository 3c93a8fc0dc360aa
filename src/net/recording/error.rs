//! Errors of recordings and caches.

use super::own_file::{NOT_OWN_HINT, is_not_own};
use super::player::{Miss, Why};
use super::recorder::FileError;
use std::path::{Path, PathBuf};

/// Why a recording or a cache cannot be used, or has no answer. Lines are numbered from 1.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TapeError {
    #[error("cannot {action} `{}`: {reason}", path.display())]
    Io { action: &'static str, path: PathBuf, reason: String, full: bool },
    #[error("cannot {action} `{}`: {reason}", path.display())]
    NotOwn { action: &'static str, path: PathBuf, reason: String },
    #[error("`{}` is not a recording: {reason}", path.display())]
    Foreign { path: PathBuf, reason: &'static str },
    #[error("`{}` has format version {found}, and this program reads up to {known}", path.display())]
    Newer { path: PathBuf, found: u64, known: u32 },
    #[error("`{}`, line {line}: {reason}", path.display())]
    BadLine { path: PathBuf, line: u64, reason: String },
    #[error("`{}` is in use by another process", path.display())]
    Locked { path: PathBuf },
    #[error("the cache in `{}` cannot be used: {reason}", path.display())]
    Cache { path: PathBuf, reason: String },
    #[error("the writer of `{}` stopped", path.display())]
    Stopped { path: PathBuf },
    #[error(transparent)]
    Miss(#[from] Box<Miss>),
}

impl TapeError {
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Io { full: true, .. } => {
                "free some space and run the command again: what was recorded before is kept"
            }
            Self::Io { .. } => "check that the path exists, and is readable and writable",
            Self::NotOwn { .. } => NOT_OWN_HINT,
            Self::Foreign { .. } => "name a file written by `--record`, or a new file to record to",
            Self::Newer { .. } => "use the version of wikitrail that wrote it, or a newer one",
            Self::BadLine { .. } => "the recording was changed: restore it, or record again",
            Self::Locked { .. } => "wait for the other process to finish, or choose another path",
            Self::Cache { .. } => "choose another folder with --cache, or delete this one: it holds only copies",
            Self::Stopped { .. } => "run the command again: what was recorded before is kept",
            Self::Miss(miss) => match miss.why {
                Why::Unknown { .. } | Why::Unsearched => {
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
        move |error| {
            let (reason, full) = (error.to_string(), error.kind() == std::io::ErrorKind::StorageFull);
            if is_not_own(&error) {
                Self::NotOwn { action, path, reason }
            } else {
                Self::Io { action, path, full, reason }
            }
        }
    }
}

impl From<FileError> for TapeError {
    fn from(FileError { action, path, source }: FileError) -> Self {
        Self::io(action, &path)(source)
    }
}
