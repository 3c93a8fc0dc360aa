//! A run's folder: manifest, trajectories, prompts; appending, reading, locking.
//!
//! ```text
//! <run>/manifest.json          what the run was
//! <run>/questions.jsonl       what was asked, with gold answers and supporting facts
//! <run>/trajectories.jsonl     one episode a line, appended and synced when it ends
//! <run>/journal.jsonl          what took place in episodes that have not ended, and what all of it cost
//! <run>/prompts/<sha256>.txt   every rendered prompt prefix
//! <run>/annotations.jsonl      what people said of the episodes
//! <run>/verdicts.jsonl        what models said of the answers
//! <run>/classifications.jsonl  why models find that episodes failed
//! <run>/experiment.toml        the experiment that the run belongs to, if any
//! <run>/notes.json             what people note about it: tags and a text
//! ```
//!
//! Of a run that is split, each shard has files of its own: `trajectories.<i>-of-<n>.jsonl`, `journal.<i>-of-<n>.jsonl`, and
//! `shard.<i>-of-<n>.json` for how it went. The rest they have in common, and write once.
//!
//! | file | what it holds |
//! |---|---|
//! | `folder` | `RunFolder`: its files, their paths, reading and replacing each of them |
//! | `lock` | which process writes a run, a shard or the first manifest |
//! | `lines` | appending whole lines: episodes, judgements, annotations |
//! | `journal` | what took place in episodes that have not ended, and what all of it cost |
//! | `records` | reading trajectories back: the latest record of each episode |
//! | `union` | one folder from several of the same run |

mod folder;
mod journal;
mod lines;
mod lock;
mod records;
mod union;

pub(crate) use folder::RunFolder;
pub(crate) use journal::{Journal, PaidByVariant};
pub(crate) use lines::{Appender, LineWriter, append_lines, carry_lines, episode_line, read_lines};
pub(crate) use lock::{Lock, WATCH};
pub(crate) use records::{Records, Skipped};
pub(crate) use union::{Keep, Union};

use crate::base::Shard;
use crate::net::recording::{FileError, NOT_OWN_HINT, TapeError, is_not_own};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// Why a run folder cannot be used. Lines are numbered from 1.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("cannot {action} `{}`: {source}", path.display())]
    Io { action: &'static str, path: PathBuf, source: std::io::Error },
    #[error("`{}` is not a run: it has no manifest.json", path.display())]
    NotARun { path: PathBuf },
    #[error("`{}` does not exist", path.display())]
    Absent { path: PathBuf },
    #[error("`{}`: {message}", path.display())]
    BadManifest { path: PathBuf, message: String },
    #[error("`{}`, line {line}: {message}", path.display())]
    BadQuestion { path: PathBuf, line: usize, message: String },
    #[error("`{}` has format version {found}, and this program reads up to {known}", path.display())]
    Newer { path: PathBuf, found: u64, known: u32 },
    #[error("`{}` is not a trajectory file: line {line} is not a trajectory", path.display())]
    Foreign { path: PathBuf, line: usize },
    #[error("`{}` is packed", path.display())]
    Packed { path: PathBuf },
    #[error("`{}` is being written by another process{}", path.display(), holder.as_deref().map(|pid| format!(" ({pid})")).unwrap_or_default())]
    Locked { path: PathBuf, holder: Option<String> },
    #[error("another process{} is asking models, and writes their answers to `{}`", holder.as_deref().map(|pid| format!(" ({pid})")).unwrap_or_default(), path.display())]
    Asking { path: PathBuf, holder: Option<String> },
    #[error("shard {shard} of `{}` is being written by another process{}", path.display(), holder.as_deref().map(|pid| format!(" ({pid})")).unwrap_or_default())]
    ShardLocked { path: PathBuf, shard: Shard, holder: Option<String> },
    #[error("`{}` is being written in {} shards ({other} among them)", path.display(), other.count())]
    OtherShards { path: PathBuf, other: Shard },
}

impl StoreError {
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Io { source, .. } if source.kind() == std::io::ErrorKind::StorageFull => {
                "free some space, then run the same command again, `run` with --resume: every finished episode is kept"
            }
            Self::Io { source, .. } if is_not_own(source) => NOT_OWN_HINT,
            Self::Io { action: "write" | "append to", source, .. }
                if source.kind() == std::io::ErrorKind::FileTooLarge && source.raw_os_error().is_none() =>
            {
                "shorten the question, its answers and its passages"
            }
            Self::Io { source, .. } if source.kind() == std::io::ErrorKind::FileTooLarge => {
                "no run writes that: restore the file, or remove what was added to it"
            }
            Self::Io { action: "read" | "open", source, .. } if source.kind() == std::io::ErrorKind::NotFound => {
                "restore it, or check the path"
            }
            Self::Io { action: "read", .. } => "check that it exists and may be read",
            Self::Io { action: "open", .. } => "check that it exists and may be read and written",
            Self::Io { .. } => "check that the path exists and is writable",
            Self::NotARun { .. } | Self::Absent { .. } => {
                "name a folder created by `wikitrail run`, such as results/<run>"
            }
            Self::BadManifest { path, .. } if folder::is_shard_record(path) => {
                "restore the file, or remove it: it holds the times of one shard and nothing else"
            }
            Self::BadManifest { path, .. } if path.ends_with(lock::NOTES) => {
                "restore the file, or remove it: it holds notes and nothing else"
            }
            Self::BadManifest { .. } => "restore manifest.json, or start a new run with another --out",
            Self::BadQuestion { .. } => {
                "restore questions.jsonl; without the file, the dataset that the manifest names is read"
            }
            Self::Newer { .. } => "use the version of wikitrail that wrote it, or a newer one",
            Self::Packed { .. } => "unpack it with gunzip, and remove the packed file",
            Self::Foreign { .. } => "name a new file; this one was not changed",
            Self::Locked { .. } => "wait for it to finish, or choose another path",
            Self::Asking { .. } => "wait for it to finish; the same command then asks only what is left",
            Self::ShardLocked { .. } => {
                "each shard is for one process; wait for it to end, or give this one a shard that nobody else has"
            }
            Self::OtherShards { .. } => "split the run into as many shards, or wait for those to end",
        }
    }

    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { action, path, source }
    }
}

impl From<FileError> for StoreError {
    fn from(FileError { action, path, source }: FileError) -> Self {
        Self::Io { action, path, source }
    }
}

/// A value as a line that is to be written to the file at `path`.
fn line(action: &'static str, value: &impl Serialize, path: &Path) -> Result<Vec<u8>, StoreError> {
    let mut line = serde_json::to_vec(value).map_err(|error| StoreError::io(action, path)(error.into()))?;
    line.push(b'\n');
    Ok(line)
}

/// An error of a file of a run's folder as one of a thread that writes it.
fn tape_error(action: &'static str, path: &Path, error: StoreError) -> TapeError {
    match error {
        // It says already what failed where, and knows a full disk.
        StoreError::Io { action, path, source } => FileError { action, path, source },
        error => FileError { action, path: path.to_owned(), source: std::io::Error::other(error) },
    }
    .into()
}

#[cfg(test)]
mod tests;
