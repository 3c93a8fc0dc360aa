//! Finished episodes that the run's folder does not take, such as on a full disk: they were paid for.

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
pub(super) fn keep(
    failed: &StoreError,
    appender: &mut Appender,
    episodes: &[Arc<Trajectory>],
    elsewhere: &Path,
) -> RunError {
    let count = counted(episodes.len(), "finished episode");
    if appender.append(episodes.iter().map(AsRef::as_ref)).is_ok() {
        return RunError::unexpected(
            format!("{failed}; after that, {count} could be written"),
            format!("{}; then continue with --resume", failed.hint()),
        );
    }
    match write_new(elsewhere, episodes) {
        Ok(path) => RunError::unexpected(
            format!("{failed}; {count} that the folder did not take: kept in `{}`", path.display()),
            format!(
                "make room, run `cat {} >> {}`, and continue with --resume",
                shell_word(&path.display().to_string()),
                shell_word(&appender.path().display().to_string())
            ),
        ),
        Err(error) => RunError::unexpected(
            format!("{failed}; {count} could not be kept anywhere ({}: {error})", elsewhere.display()),
            format!("{}; then continue with --resume, which runs these episodes again", failed.hint()),
        ),
    }
}

/// A new file in this folder, which only its owner can read.
fn write_new(folder: &Path, episodes: &[Arc<Trajectory>]) -> std::io::Result<PathBuf> {
    let path =
        folder.join(format!("wikitrail-{}-{}.jsonl", std::process::id(), jiff::Timestamp::now().as_millisecond()));
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut lines = Vec::new();
    for episode in episodes {
        serde_json::to_writer(&mut lines, episode.as_ref())?;
        lines.push(b'\n');
    }
    let mut file = options.open(&path)?;
    let written = file.write_all(&lines).and_then(|()| file.sync_all());
    if written.is_err() {
        // Half a file would look like a whole one.
        let _ = std::fs::remove_file(&path);
    }
    written.map(|()| path)
}
