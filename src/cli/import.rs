//! `import`: run folders of episodes that other programs recorded.

use super::explicit_args::without_secrets;
use super::failure::{self, Failure};
use super::say::say;
use crate::report::console::stdout;
use crate::report::thousands;
use crate::run::{InspectImport, Recorded, import_inspect, import_notebook};
use crate::types::text::{counted, shell_word, visible_line};
use std::io::Write as _;
use std::path::PathBuf;

/// Lines and episodes that are named one by one.
const NAMED: usize = 20;

#[derive(Debug, clap::Subcommand)]
pub(super) enum Command {
    /// Episodes that the paper's notebooks recorded.
    ReactNotebook(Args),
    /// The answers in a log of Inspect: of somebody else's agent.
    Inspect(InspectArgs),
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

#[derive(Debug, clap::Args)]
pub(super) struct InspectArgs {
    /// The log, in the JSON form: `inspect log convert LOG --to json --output-dir DIR` writes it.
    #[arg(value_name = "LOG")]
    log: PathBuf,
    /// The new run folder.
    #[arg(long, value_name = "RUN")]
    out: PathBuf,
    /// A run over the same questions: those with the same text get its ids, gold answers and metric, so that both can be compared.
    #[arg(long, value_name = "RUN")]
    like: Option<PathBuf>,
    /// Take the answer that this scorer read from the output [default: the whole output].
    #[arg(long, value_name = "NAME")]
    scorer: Option<String>,
}

pub(super) fn execute(command: &Command) -> anyhow::Result<u8> {
    match command {
        Command::ReactNotebook(args) => notebook(args),
        Command::Inspect(args) => inspect(args),
    }
}

fn inspect(InspectArgs { log, out: target, like, scorer }: &InspectArgs) -> anyhow::Result<u8> {
    let command_line = without_secrets(std::env::args_os());
    let (like, scorer) = (like.as_deref(), scorer.as_deref());
    let imported = import_inspect(&InspectImport { log, out: target, scorer, like, command_line })?;
    left_out(&imported.skipped, "sample");
    let folder = shell_word(&target.display().to_string());
    let mut out = stdout();
    let measured = match imported.not_measured {
        0 => String::new(),
        count => format!(", {} of them not measured", thousands(count)),
    };
    writeln!(out, "{folder}: {}{measured}", counted(imported.episodes, "episode"))?;
    for (name, right) in imported.claims.iter().take(NAMED) {
        writeln!(out, "right by the log's `{}`: {}", visible_line(name, 80), thousands(*right))?;
    }
    writeln!(out, "next:\n  wikitrail score {folder}")?;
    if let Some(like) = like {
        writeln!(out, "  wikitrail compare {} {folder}", shell_word(&like.display().to_string()))?;
    }
    Ok(failure::OK)
}

/// Names what could not be imported.
fn left_out(skipped: &[String], what: &str) {
    for line in skipped.iter().take(NAMED) {
        say(format_args!("warning: {line}; left out"));
    }
    if skipped.len() > NAMED {
        say(format_args!("warning: {} more are left out", counted(skipped.len() - NAMED, what)));
    }
}

fn notebook(Args { files, out }: &Args) -> anyhow::Result<u8> {
    let stems: Vec<_> = files.iter().map(|file| file.file_stem()).collect();
    if let Some(at) = (1..stems.len()).find(|at| stems[..*at].contains(&stems[*at])) {
        let message = format!("two files are named like `{}`", files[at].display());
        return Err(Failure::usage(message, "questions are named after their files: rename one of them"));
    }
    let Recorded { folder, episodes, right, differing, skipped } =
        import_notebook(files, out, without_secrets(std::env::args_os()))?;
    left_out(&skipped, "line");
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
