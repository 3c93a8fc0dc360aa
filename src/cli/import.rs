//! `import`: run folders of episodes that other programs recorded.

use super::config;
use super::failure;
use super::say::say;
use crate::analysis::report::console::stdout;
use crate::base::text::{counted, shell_word};
use crate::runner::{
    AnswerFrom, Import, Imported, fresh, import_answers, import_inspect, import_notebook, without_secrets,
};
use std::io::Write as _;
use std::path::PathBuf;

/// Lines that are named one by one.
const NAMED: usize = 20;

#[derive(Debug, clap::Subcommand)]
pub(super) enum Command {
    /// Episodes that the paper's notebooks recorded.
    ReactNotebook(Args),
    /// The answers in logs of Inspect: of somebody else's agent.
    Inspect(InspectArgs),
    /// Answers in a table or JSON Lines: of any program.
    Answers(AnswersArgs),
}

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Files that the notebooks wrote: `trajs/*.json` or the folder `trajs`, a JSON dump of `infos`, printed traces, the notebook
    /// with its output; or one recorded episode per line.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The new run folder.
    #[arg(long, value_name = "RUN")]
    out: PathBuf,
    /// A run over the same questions. Episodes that match by the question's text get its ids, gold answers and metric, so that both
    /// can be compared.
    #[arg(long, value_name = "RUN")]
    like: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
pub(super) struct InspectArgs {
    /// Logs, `.eval` or `.json`, and folders of logs: each log is a variant.
    #[arg(required = true, value_name = "LOG")]
    logs: Vec<PathBuf>,
    /// The new run folder.
    #[arg(long, value_name = "RUN")]
    out: PathBuf,
    /// A run over the same questions. Samples that match by id or by the question's text get its ids, gold answers and metric, so
    /// that both can be compared.
    #[arg(long, value_name = "RUN")]
    like: Option<PathBuf>,
    /// Name of the variant [default: inspect; of several logs, their tasks].
    #[arg(long, value_name = "NAME")]
    variant: Option<String>,
    /// What the answer is: the argument of the last `submit` call, or the whole output [default: submit, and the output of
    /// samples without it].
    #[arg(long, value_name = "FROM", conflicts_with = "scorer")]
    answer: Option<Answer>,
    /// Take the answer that this scorer read from the output.
    #[arg(long, value_name = "NAME")]
    scorer: Option<String>,
}

#[derive(Debug, clap::Args)]
pub(super) struct AnswersArgs {
    /// A CSV file or JSON Lines with `id` or `question`, and `answer`; where known also `repeat`, `steps`, `tokens` (or
    /// `prompt_tokens` and `completion_tokens`), `cost`, `wall_ms`, `confidence`, `error`.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The run over the same questions, of which ids, gold answers and metric are taken.
    #[arg(long, value_name = "RUN")]
    like: PathBuf,
    /// Name of the variant.
    #[arg(long, value_name = "NAME")]
    variant: String,
    /// The model that answered, as tables name it.
    #[arg(long, value_name = "MODEL")]
    model: String,
    /// The new run folder [default: one under results/, named after the variant].
    #[arg(long, value_name = "RUN")]
    out: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Answer {
    Submit,
    Output,
}

pub(super) fn execute(command: &Command) -> anyhow::Result<u8> {
    let command_line = without_secrets(std::env::args_os());
    match command {
        Command::ReactNotebook(Args { files, out, like }) => {
            let import = Import { out, like: like.as_deref(), command_line };
            report(&import, &import_notebook(files, &import)?, "record")
        }
        Command::Inspect(args) => {
            let answer = match (&args.scorer, args.answer) {
                (Some(name), _) => AnswerFrom::Scorer(name),
                (None, Some(Answer::Submit)) => AnswerFrom::Submit,
                (None, Some(Answer::Output)) => AnswerFrom::Output,
                (None, None) => AnswerFrom::Either,
            };
            let import = Import { out: &args.out, like: args.like.as_deref(), command_line };
            report(&import, &import_inspect(&args.logs, answer, args.variant.as_deref(), &import)?, "sample")
        }
        Command::Answers(AnswersArgs { file, like, variant, model, out }) => {
            let out = match out {
                Some(out) => out.clone(),
                None => fresh(config::person()?.results().as_deref(), variant),
            };
            let import = Import { out: &out, like: Some(like), command_line };
            report(&import, &import_answers(file, variant, model, &import)?, "line")
        }
    }
}

/// What was left out, what the folder has now, and the commands to try next.
fn report(import: &Import<'_>, imported: &Imported, what: &str) -> anyhow::Result<u8> {
    let Imported { lines, notes, skipped } = imported;
    for line in skipped.iter().take(NAMED) {
        say(format_args!("warning: {line}; left out"));
    }
    if skipped.len() > NAMED {
        say(format_args!("warning: {} more are left out", counted(skipped.len() - NAMED, what)));
    }
    notes.iter().for_each(say);
    let (folder, mut out) = (shell_word(&import.out.display().to_string()), stdout());
    writeln!(out, "{folder}: {}\nnext:\n  wikitrail score {folder}", lines.join("\n"))?;
    if let Some(like) = import.like {
        writeln!(out, "  wikitrail compare {} {folder}", shell_word(&like.display().to_string()))?;
    }
    Ok(failure::OK)
}
