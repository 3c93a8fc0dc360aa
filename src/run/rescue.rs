//! Finished episodes and verdicts that the run's folder does not take, such as on a full disk: they were paid for.

use super::error::RunError;
use crate::store::{Appender, StoreError};
use crate::types::Trajectory;
use crate::types::text::{counted, shell_word};
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Tries the folder once more, now that nothing is in flight any more, and then another place. Says why the run ended and
/// where its last episodes are.
pub(super) fn rescue_episodes(
    failed: &StoreError,
    appender: &mut Appender,
    episodes: &[Arc<Trajectory>],
    elsewhere: &Path,
) -> RunError {
    let mut lines = Vec::new();
    if appender.append(episodes.iter().map(AsRef::as_ref)).is_err() {
        for episode in episodes {
            // Nothing in an episode cannot be written as JSON; a line without its end is dropped when it is read.
            let _ = serde_json::to_writer(&mut lines, episode.as_ref());
            lines.push(b'\n');
        }
    }
    let unwritten = Unwritten {
        failed: failed.to_string(),
        hint: failed.hint(),
        what: counted(episodes.len(), "finished episode"),
        file: appender.path(),
        next: "continue with --resume",
        lost: "which runs these episodes again",
    };
    unwritten.keep(&lines, elsewhere)
}

/// What was paid for and a file did not take.
pub(super) struct Unwritten<'a> {
    /// The first error, and what to do about it.
    pub(super) failed: String,
    pub(super) hint: &'a str,
    /// How many of what.
    pub(super) what: String,
    pub(super) file: &'a Path,
    /// How to go on, and what that does with what is lost.
    pub(super) next: &'a str,
    pub(super) lost: &'a str,
}

impl Unwritten<'_> {
    /// Writes the lines that the file did not take in the end to a new file in this folder. Says why the run ended and
    /// where they are.
    pub(super) fn keep(&self, lines: &[u8], elsewhere: &Path) -> RunError {
        let Self { failed, hint, what, file, next, lost } = self;
        if lines.is_empty() {
            return RunError::unexpected(
                format!("{failed}; after that, {what} could be written"),
                format!("{hint}; then {next}"),
            );
        }
        match write_new(elsewhere, lines) {
            Ok(path) => RunError::unexpected(
                format!("{failed}; {what} that the folder did not take: kept in `{}`", path.display()),
                format!(
                    "make room, run `cat {} >> {}`, and {next}",
                    shell_word(&path.display().to_string()),
                    shell_word(&file.display().to_string())
                ),
            ),
            Err(error) => RunError::unexpected(
                format!("{failed}; {what} could not be kept anywhere ({}: {error})", elsewhere.display()),
                format!("{hint}; then {next}, {lost}"),
            ),
        }
    }
}

/// A new file in this folder, which only its owner can read.
fn write_new(folder: &Path, lines: &[u8]) -> std::io::Result<PathBuf> {
    let path =
        folder.join(format!("wikitrail-{}-{}.jsonl", std::process::id(), jiff::Timestamp::now().as_millisecond()));
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(&path)?;
    let written = file.write_all(lines).and_then(|()| file.sync_all());
    if written.is_err() {
        // Half a file would look like a whole one.
        let _ = std::fs::remove_file(&path);
    }
    written.map(|()| path)
}
