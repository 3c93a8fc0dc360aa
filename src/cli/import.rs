//! `import`: run folders of episodes that other programs recorded.

use super::config;
use super::failure;
use super::say::say;
use crate::analysis::report::console::stdout;
use crate::analysis::report::thousands;
use crate::base::text::{counted, shell_word, visible_line};
use crate::runner::{
    AnswerFrom, AnswersImport, InspectImport, NotebookImport, NotebookImported, fresh, import_answers, import_inspect,
    import_notebook, without_secrets,
};
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// Lines and episodes that are named one by one.
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
    match command {
        Command::ReactNotebook(args) => notebook(args),
        Command::Inspect(args) => inspect(args),
        Command::Answers(args) => answers(args),
    }
}

fn answers(args: &AnswersArgs) -> anyhow::Result<u8> {
    let out = match &args.out {
        Some(out) => out.clone(),
        None => fresh(config::person()?.results().as_deref(), &args.variant),
    };
    let AnswersArgs { file, like, variant, model, .. } = args;
    let command_line = without_secrets(std::env::args_os());
    let imported = import_answers(&AnswersImport { file, out: &out, like, variant, model, command_line })?;
    left_out(&imported.skipped, "line");
    imported.notes.iter().for_each(|note| say(visible_line(note, 1000)));
    let episodes = counted(imported.episodes, "episode") + &not_measured(imported.not_measured);
    print(&out, &[episodes], Some(like))
}

fn not_measured(count: usize) -> String {
    if count == 0 { String::new() } else { format!(", {} of them not measured", thousands(count)) }
}

/// What a folder has now, in lines, and the commands to try next.
fn print(folder: &Path, lines: &[String], like: Option<&PathBuf>) -> anyhow::Result<u8> {
    let (folder, mut out) = (shell_word(&folder.display().to_string()), stdout());
    writeln!(out, "{folder}: {}\nnext:\n  wikitrail score {folder}", lines.join("\n"))?;
    if let Some(like) = like {
        writeln!(out, "  wikitrail compare {} {folder}", shell_word(&like.display().to_string()))?;
    }
    Ok(failure::OK)
}

fn inspect(args: &InspectArgs) -> anyhow::Result<u8> {
    let answer = match (&args.scorer, args.answer) {
        (Some(name), _) => AnswerFrom::Scorer(name),
        (None, Some(Answer::Submit)) => AnswerFrom::Submit,
        (None, Some(Answer::Output)) => AnswerFrom::Output,
        (None, None) => AnswerFrom::Either,
    };
    let (variant, like) = (args.variant.as_deref(), args.like.as_deref());
    let (logs, out, command_line) = (&args.logs, &args.out, without_secrets(std::env::args_os()));
    let imported = import_inspect(&InspectImport { logs, out, answer, variant, like, command_line })?;
    left_out(&imported.skipped, "sample");
    for note in imported.notes.iter().take(NAMED) {
        say(format_args!("{}", visible_line(note, 500)));
    }
    if imported.notes.len() > NAMED {
        say(format_args!("note: {} more", counted(imported.notes.len() - NAMED, "remark")));
    }
    let mut lines = vec![counted(imported.episodes, "episode") + &not_measured(imported.not_measured)];
    let several = imported.variants.len() > 1;
    if several {
        let names: Vec<String> = imported.variants.iter().take(NAMED).map(|name| visible_line(name, 80)).collect();
        let more = if imported.variants.len() > NAMED { ", …" } else { "" };
        lines.push(format!("variants: {}{more}", names.join(", ")));
    }
    for ((variant, scorer), right) in imported.claims.iter().take(NAMED) {
        let of = if several { format!("{}: ", visible_line(variant, 80)) } else { String::new() };
        lines.push(format!("{of}right by the log's `{}`: {}", visible_line(scorer, 80), thousands(*right)));
    }
    print(&args.out, &lines, args.like.as_ref())
}

fn left_out(skipped: &[String], what: &str) {
    for line in skipped.iter().take(NAMED) {
        say(format_args!("warning: {line}; left out"));
    }
    if skipped.len() > NAMED {
        say(format_args!("warning: {} more are left out", counted(skipped.len() - NAMED, what)));
    }
}

fn notebook(args: &Args) -> anyhow::Result<u8> {
    let (like, command_line) = (args.like.as_deref(), without_secrets(std::env::args_os()));
    let imported = import_notebook(&NotebookImport { files: &args.files, out: &args.out, like, command_line })?;
    left_out(&imported.skipped, "record");
    if !imported.differing.is_empty() {
        let ids: Vec<String> = imported.differing.iter().take(NAMED).map(|id| visible_line(id, 80)).collect();
        let more = if imported.differing.len() > NAMED { ", …" } else { "" };
        let count = counted(imported.differing.len(), "episode");
        let score = if imported.differing.len() == 1 { "scores" } else { "score" };
        say(format_args!("warning: {count} {score} otherwise than the file says: {}{more}", ids.join(", ")));
    }
    if imported.without_gold > 0 {
        let count = counted(imported.without_gold, "episode");
        let has = if imported.without_gold == 1 { "has" } else { "have" };
        say(format_args!(
            "note: {count} {has} no gold answer in the files; --like RUN takes those of a run over the same questions"
        ));
    }
    let episodes = counted(imported.episodes, "episode") + &by_the_file(&imported);
    print(&args.out, &[episodes], args.like.as_ref())
}

/// How many episodes the files have as right, and how many broke off.
fn by_the_file(imported: &NotebookImported) -> String {
    let NotebookImported { episodes, not_measured, scored, right, .. } = imported;
    let of = if scored == episodes { "of them".to_owned() } else { format!("of {}", thousands(*scored)) };
    let right = (*scored > 0).then(|| format!(", {} {of} right by the file", thousands(*right)));
    let broken_off = (*not_measured > 0).then(|| format!(", {} not measured", thousands(*not_measured)));
    right.into_iter().chain(broken_off).collect()
}
