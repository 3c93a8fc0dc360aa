//! Requests and their answers on disk: recordings that are replayed, and a cache.
//!
//! A recording is a file of JSON lines: a header, and one request with its answer per line.
//!
//! ```text
//! {"v":1,"tape":"wikitrail"}
//! {"v":1,"kind":"model","key":"<sha256>","request":{…},"n":0,"scope":"main/q1 repeat 0","answer":{…}}
//! ```
//!
//! `key` is the digest of kind and request. A request may have several answers, such as the samples of a vote: `scope`
//! names the episode that made it (absent outside episodes), and `n` counts its earlier occurrences in that scope, from
//! 0 in every process. A later line replaces an earlier one with the same key, scope and `n`, so an episode that is
//! repeated after a crash replaces its first attempt. Since scopes count separately, a replay does not depend on the
//! order in which episodes run.
//!
//! | file | what it holds |
//! |---|---|
//! | `line` | a request in canonical form with its key, the episode that makes it, and the lines of a recording |
//! | `recorder` | appending to a recording, locked and synced in batches; the wrapper of models and sources |
//! | `player` | reading: an index in memory, answers on demand, and for a miss the nearest recorded request |
//! | `cache` | answers in a database, for reuse by later runs |
//! | `own_file` | opening files that this program writes, without following links, and members of folders |
//!
//! The errors say why a recording or a cache cannot be used, with hints.
//!
//! `models` and `wikipedia` wrap their models and sources; `runner::store` opens and appends a run's files by the same means.

mod cache;
mod line;
mod own_file;
mod player;
mod recorder;

pub use cache::{Cache, CacheCounts};
pub use line::{CanonicalRequest, in_episode, in_sample};
#[cfg(feature = "serve")]
pub(crate) use own_file::create_private_beside;
pub(crate) use own_file::{
    FolderBeside, Inside, NOT_OWN_HINT, TEMPORARY, check_own, create_beside, create_own_folder, is_hidden, is_not_own,
    machine, open_own, read_own, signature,
};
pub use player::Player;
pub use recorder::{LeftOut, Recorder, Replayed, Wrapped};
pub(crate) use recorder::{LineFile, Writer, sync_folder};

use crate::base::named;
use serde::{Deserialize, Serialize};
use std::io;
use std::path::{Path, PathBuf};

/// Why a recording or a cache cannot be used, or has no answer. Lines are numbered from 1.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TapeError {
    #[error("cannot {action} `{}`: {reason}", path.display())]
    Io { action: &'static str, path: PathBuf, reason: String, hint: &'static str },
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
    #[error("the recording `{}` {}", path.display(), why.words(*kind))]
    Miss { path: PathBuf, kind: Kind, why: Why },
}

impl TapeError {
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Io { hint, .. } => hint,
            Self::Foreign { .. } => "name a file written by `--record`, or a new file to record to",
            Self::Newer { .. } => "use the version of wikitrail that wrote it, or a newer one",
            Self::BadLine { .. } => "the recording was changed: restore it, or record again",
            Self::Locked { .. } => "wait for the other process to finish, or choose another path",
            Self::Cache { .. } => "choose another folder with --cache, or delete this one: it holds only copies",
            Self::Stopped { .. } => "run the command again: what was recorded before is kept",
            Self::Miss { why, .. } => match why {
                Why::Unknown { .. } | Why::Unsearched => {
                    "a replay answers what was recorded, and no request that failed: undo the change, or record again with --record"
                }
                Why::RanOut { .. } | Why::Gap { .. } => {
                    "replay the same questions, repeats and samples that were recorded, or record again with --record"
                }
            },
        }
    }

    fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |error| {
            let hint = match error.kind() {
                _ if is_not_own(&error) => NOT_OWN_HINT,
                io::ErrorKind::StorageFull => {
                    "free some space and run the command again: what was recorded before is kept"
                }
                _ => "check that the path exists, and is readable and writable",
            };
            Self::Io { action, path, reason: error.to_string(), hint }
        }
    }
}

impl From<FileError> for TapeError {
    fn from(FileError { action, path, source }: FileError) -> Self {
        Self::io(action, &path)(source)
    }
}

named! {
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum Kind {
        Model = "model",
        Wiki = "wiki",
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Why {
    /// The request was never recorded; `nearest` is of the same kind, if the recording has any.
    Unknown { nearest: Option<Nearest> },
    /// The same, after so many others that the nearest was not looked for.
    Unsearched,
    /// The request was made more often than it was recorded.
    RanOut { recorded: usize },
    /// The request failed when it was recorded: answer `number`, from 1, is missing.
    Gap { number: u32 },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Nearest {
    /// Its line in the recording, from 1.
    pub line: u64,
    /// The first difference, such as `prompt, character 12: recorded "…abc", asked "…abd"`; on one line.
    pub difference: String,
}

impl Why {
    /// What the recording lacks, behind its name.
    fn words(&self, kind: Kind) -> String {
        let kind = kind.name();
        match self {
            Self::Unsearched => format!("has no such {kind} request, like others before"),
            Self::Unknown { nearest: None } => format!("has no {kind} requests"),
            Self::Unknown { nearest: Some(Nearest { line, difference }) } => {
                format!("has no such {kind} request; the nearest, in line {line}, differs in {difference}")
            }
            Self::RanOut { recorded } => {
                let times = if *recorded == 1 { "once" } else { &format!("{recorded} times") };
                format!("answers this {kind} request {times}, and it was made once more")
            }
            Self::Gap { number } => format!("has no answer {number} to this {kind} request: it failed when recorded"),
        }
    }
}

pub(crate) struct FileError {
    pub(crate) action: &'static str,
    pub(crate) path: PathBuf,
    pub(crate) source: io::Error,
}

#[cfg(test)]
mod tests;
