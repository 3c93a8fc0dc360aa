//! The git revision of the working folder, for the manifest.

use std::process::{Command, Stdio};

/// Revision of the folder's checkout, with `-dirty` where tracked files differ; absent outside a repository.
pub(super) fn git_revision() -> Option<String> {
    let args = ["describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"];
    let output = Command::new("git").args(args).stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let text = text.trim();
    (output.status.success() && !text.is_empty()).then(|| text.to_owned())
}
