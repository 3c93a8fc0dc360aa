//! `corpus`: build, freeze, describe, check, compare and publish frozen encyclopedias.

mod build;
mod diff;
mod freeze;
mod info;
mod pack;
mod verify;

use super::failure::Failure;
use super::say::say;
use crate::types::text::shell_word;
use crate::wiki::CorpusError;
use crate::wiki::corpus::Manifest;
use std::path::Path;

#[derive(Debug, clap::Subcommand)]
pub(super) enum Command {
    /// Build a corpus of any size from files in a public format, in a folder of its own.
    Build(build::BuildArgs),
    /// Add articles or redirects to a corpus: makes a new one.
    Add(build::AddArgs),
    /// Freeze the pages that a dataset, a run or a list of titles needs, from a live site.
    Freeze(freeze::FreezeArgs),
    /// Describe a corpus: what it is, where it came from, what was left out.
    Info(info::InfoArgs),
    /// Check that a corpus is what was built.
    Verify(verify::VerifyArgs),
    /// Write a corpus as one file of JSON lines, to be read, compared and published; `build` makes the same corpus of it.
    Pack(pack::PackArgs),
    /// Compare two corpora by title: articles that were added, are gone, have changed, and redirects.
    Diff(diff::DiffArgs),
}

pub(super) async fn execute(command: Command) -> anyhow::Result<u8> {
    match command {
        Command::Build(args) => build::execute(&args),
        Command::Freeze(args) => freeze::execute(args).await,
        Command::Info(args) => info::execute_info(&args),
        Command::Verify(args) => verify::execute_verify(&args),
        Command::Add(args) => build::add(&args),
        Command::Pack(args) => pack::execute_pack(&args),
        Command::Diff(args) => diff::execute_diff(&args),
    }
}

/// The manifest of a folder, which has to be there.
fn manifest(dir: &Path) -> anyhow::Result<Manifest> {
    if dir.join("corpus.toml").is_file() {
        return Manifest::read(dir).map_err(unusable);
    }
    let shown = dir.display();
    let from = shell_word(&shown.to_string());
    let (message, hint) = if !dir.exists() {
        (format!("`{shown}` does not exist"), "check the path".to_owned())
    } else if dir.is_dir() {
        let message = format!("`{shown}` is not a built corpus: it has no corpus.toml");
        (message, format!("build one with `wikitrail corpus build NEW --from {from}`"))
    } else {
        let message = format!("`{shown}` is a file, not a corpus folder");
        (message, format!("`wikitrail corpus build NEW --from {from}` makes a corpus from it"))
    };
    Err(Failure::bad_input(message, hint))
}

/// Warns those who are about to publish texts whose license nobody gave.
fn warn_of_license(manifest: &Manifest) {
    if !manifest.license.is_known() {
        say("warning: the license is unknown; build again with --license and --attribution before publishing");
    }
}

fn unusable(error: CorpusError) -> anyhow::Error {
    let hint = error.hint().unwrap_or("is there enough memory?");
    Failure::bad_input(error, hint)
}

fn megabytes(bytes: u64) -> String {
    format!("{}.{} MB", crate::report::thousands(bytes / 1_000_000), bytes % 1_000_000 / 100_000)
}
