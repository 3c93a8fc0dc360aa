//! `import`: run folders of episodes that other programs recorded.

use super::explicit_args::without_secrets;
use super::failure::{self, Failure};
use super::say::say;
use crate::report::console::stdout;
use crate::report::thousands;
use crate::run::{Recorded, import_notebook};
use crate::types::text::{counted, shell_word, visible_line};
use std::io::Write as _;
use std::path::PathBuf;

/// Lines and episodes that are named one by one.
const NAMED: usize = 20;

#[derive(Debug, clap::Subcommand)]
pub(super) enum Command {
    /// Episodes that the paper's notebooks recorded.
    ReactNotebook(Args),
}

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Files with one recorded episode per line.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The new run folder.
    #[arg(long, value_name = "RUN")]
    out: PathBuf,
}

pub(super) fn execute(command: &Command) -> anyhow::Result<u8> {
    let Command::ReactNotebook(Args { files, out }) = command;
    let stems: Vec<_> = files.iter().map(|file| file.file_stem()).collect();
    if let Some(at) = (1..stems.len()).find(|at| stems[..*at].contains(&stems[*at])) {
        let message = format!("two files are named like `{}`", files[at].display());
        return Err(Failure::usage(message, "questions are named after their files: rename one of them"));
    }
    let Recorded { folder, episodes, right, differing, skipped } =
        import_notebook(files, out, without_secrets(std::env::args_os()))?;
    for line in skipped.iter().take(NAMED) {
        say(format_args!("warning: {line}; left out"));
    }
    if skipped.len() > NAMED {
        say(format_args!("warning: {} more are left out", counted(skipped.len() - NAMED, "line")));
    }
    if !differing.is_empty() {
        let ids: Vec<String> = differing.iter().take(NAMED).map(|id| visible_line(id, 80)).collect();
        let more = if differing.len() > NAMED { ", …" } else { "" };
        let count = counted(differing.len(), "episode");
        let score = if differing.len() == 1 { "scores" } else { "score" };
        say(format_args!("warning: {count} {score} otherwise than the file says: {}{more}", ids.join(", ")));
    }
    let folder = shell_word(&folder.display().to_string());
    let mut out = stdout();
    writeln!(out, "{folder}: {}, {} of them right by the file", counted(episodes, "episode"), thousands(right))?;
    writeln!(out, "next:\n  wikitrail score {folder}")?;
    Ok(failure::OK)
}
