//! `reproduce`: the paper's table with a model of one's own, the paper's figures beside ours.

mod deviations;
mod figures;
mod json;

use super::builtin;
use super::failure::{self, Failure};
use super::model_args::ModelArgs;
use super::pace::PaceArgs;
use super::run::{self, Given, LimitArgs, Replaced};
use super::say::say;
use super::tape_args::TapeArgs;
use super::wiki_args::WikiArgs;
use crate::experiment::Experiment;
use crate::protocol;
use crate::report::View;
use crate::report::escape::visible_line;
use crate::report::sheet::terminal;
use clap::builder::PossibleValuesParser;
use clap::{Args as _, Command, FromArgMatches as _};
use figures::Reproduction;
use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// The experiment that is run when none is named.
const TABLE_1: &str = "experiments/table1.toml";
/// Characters of a command line that are shown.
const LONGEST_COMMAND: usize = 1000;
/// Flags that have a default elsewhere, while here the experiment file says what holds.
const OF_THE_FILE: [&str; 2] = ["wiki", "compat"];

/// What `--try` takes in place of the paper's data.
const SAMPLES: [(&str, &str); 2] = [("hotpotqa", builtin::SAMPLE), ("fever", "datasets/sample-claims.jsonl")];
/// Flags of `run` that `--try` stands for, unless they are typed.
const A_TRY: [(&str, &str); 2] = [("model", "baseline"), ("wiki", "corpus:datasets/sample-wiki")];

/// Flags of `reproduce`. Those of `run` are handed on as they were typed.
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Folder of a reproduction: print its table again, and run nothing.
    #[arg(value_name = "DIR", conflicts_with_all = ["out", "resume", "dry_run", "limit", "hotpotqa", "fever", "model", "a_try"])]
    folder: Option<PathBuf>,
    /// Experiment file with published figures.
    #[arg(long, value_name = "FILE", default_value = TABLE_1)]
    experiment: PathBuf,
    #[expect(clippy::doc_markdown, reason = "this is help text, not documentation")]
    /// File in place of the dataset `hotpotqa` [default: datasets/hotpot_dev_v1_simplified.json, which `wikitrail dataset
    /// fetch hotpotqa` writes].
    #[arg(long, value_name = "FILE")]
    hotpotqa: Option<PathBuf>,
    #[expect(clippy::doc_markdown, reason = "this is help text, not documentation")]
    /// File in place of the dataset `fever` [default: datasets/fever_paper_dev.jsonl, which `wikitrail dataset fetch fever`
    /// writes].
    #[arg(long, value_name = "FILE")]
    fever: Option<PathBuf>,
    /// A try without key and network: our own questions, claims and encyclopedia in place of the paper's, and the baseline
    /// unless --model names another.
    #[arg(long = "try")]
    a_try: bool,
    /// At most this many questions of each dataset [default: 500, as the file says].
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
    /// Protocol of all cells that speak one [default: react-paper, as the file says].
    #[arg(long, value_name = "ID", value_parser = PossibleValuesParser::new(protocol::IDS), hide_possible_values = true)]
    protocol: Option<String>,
    /// Samples of a vote [default: 21, as the file says].
    #[arg(long, value_name = "N")]
    samples: Option<String>,
    /// Sampling temperature outside votes [default: 0].
    #[arg(long, value_name = "T")]
    temperature: Option<String>,
    /// Tokens of a completion at most [default: the protocol's; 256 for direct methods].
    #[arg(long, value_name = "N")]
    max_tokens: Option<String>,
    /// Seed sent to servers that take one [default: none].
    #[arg(long, value_name = "SEED")]
    seed: Option<String>,
    #[command(flatten)]
    model: ModelArgs,
    #[command(flatten)]
    wiki: WikiArgs,
    #[command(flatten)]
    tape: TapeArgs,
    #[command(flatten)]
    pace: PaceArgs,
    /// Folder of the runs, one a dataset; where they are already, print the table again [default: a new one under results/].
    #[arg(long, value_name = "DIR", help_heading = "Run")]
    out: Option<PathBuf>,
    /// Go on with what is in --out, under the same settings.
    #[arg(long, requires = "out", help_heading = "Run")]
    resume: bool,
    /// Say what would be run and what it would take, and stop.
    #[arg(long, help_heading = "Run")]
    dry_run: bool,
    #[command(flatten)]
    limits: LimitArgs,
    /// Print the table as one JSON object in full precision; with --dry-run, the plan.
    #[arg(long, help_heading = "Run")]
    json: bool,
    /// Show no progress.
    #[arg(long, short, help_heading = "Run")]
    quiet: bool,
    /// What was typed of the flags of `run`.
    #[arg(skip)]
    pub(super) given: Given,
}

/// Shared flags without the defaults that they have elsewhere.
pub(super) fn command(command: Command) -> Command {
    let own = |argument: clap::Arg, default: &str| {
        let help = argument.get_help().map(ToString::to_string).unwrap_or_default();
        argument.hide_default_value(true).help(format!("{help} [default: {default}]"))
    };
    let command = command.mut_arg("model", |argument| own(argument, "none, it has to be named"));
    OF_THE_FILE.iter().fold(command, |command, name| command.mut_arg(name, |argument| own(argument, "the file's")))
}

/// Carries the command out and returns its exit code.
pub(super) async fn execute(mut args: Args) -> anyhow::Result<u8> {
    if let Some(folder) = &args.folder {
        show(folder, args.json)?;
        return Ok(failure::OK);
    }
    args = args.completed()?;
    if args.a_try {
        args.given = A_TRY.iter().fold(args.given, |given, (name, value)| given.or(name, value));
    }
    if !args.given.has("model") {
        match args.out.as_deref().filter(|_| !args.resume && !args.dry_run) {
            Some(out) if Reproduction::is_there(out)? => show(out, args.json)?,
            _ => return Err(no_model()),
        }
        return Ok(failure::OK);
    }
    let experiment = run::read_experiment(&args.experiment)?;
    let replaced = Replaced { datasets: args.datasets(&experiment)? };
    let out = args.out.clone().unwrap_or_else(|| run::fresh(&experiment.name));
    let code = run::replaced(&args.experiment, &args.given, &out, replaced).await?;
    if !args.dry_run {
        show(&out, args.json)?;
    }
    Ok(code)
}

/// A table of rules instead of a model is nothing that anybody wants by mistake.
fn no_model() -> anyhow::Error {
    Failure::usage(
        "reproduce needs a model: name it with --model",
        "such as --model openai:NAME --base-url http://127.0.0.1:8000/v1; --try needs neither key nor network",
    )
}

impl Args {
    /// What is not typed of runs that are to go on, the command line says that started them.
    fn completed(mut self) -> anyhow::Result<Self> {
        let line = match self.out.as_deref().filter(|_| self.resume && !self.a_try && !self.given.has("model")) {
            Some(out) => Reproduction::command_line(out)?,
            None => None,
        };
        let Some(line) = line else { return Ok(self) };
        let failure = |reason: &str, hint: &str| {
            let command = visible_line(&line.join(" "), LONGEST_COMMAND);
            let message = format!("the command that started it cannot be gone on with: {}", visible_line(reason, 200));
            Failure::usage(message, format!("{hint}; it was: {command}"))
        };
        let refused = |error: clap::Error| {
            let text = error.to_string();
            failure(text.lines().next().unwrap_or_default().trim_start_matches("error: "), "name the settings again")
        };
        let words = line.iter().skip_while(|word| *word != "reproduce").skip(1);
        let flags = command(Self::augment_args(Command::new("wikitrail reproduce").no_binary_name(true)));
        let matches = flags.try_get_matches_from(words).map_err(refused)?;
        let started = Self::from_arg_matches(&matches).map_err(refused)?;
        self.given = Given::of(&matches).gone_on_with(&self.given).map_err(|address| {
            let hint = "a key may be sent there, so name it yourself with --base-url";
            failure(&format!("it names the server `{address}`"), hint)
        })?;
        self.hotpotqa = self.hotpotqa.or(started.hotpotqa);
        self.fever = self.fever.or(started.fever);
        self.a_try = started.a_try;
        if self.experiment == Path::new(TABLE_1) {
            self.experiment = started.experiment;
        }
        say(format_args!("going on with: {}", visible_line(&line.join(" "), LONGEST_COMMAND)));
        Ok(self)
    }

    /// The files that were typed, by the dataset that they stand for.
    fn datasets(&self, experiment: &Experiment) -> anyhow::Result<BTreeMap<String, PathBuf>> {
        let typed = [("hotpotqa", &self.hotpotqa), ("fever", &self.fever)];
        let mut files = BTreeMap::new();
        for (name, file) in typed {
            let sample = SAMPLES.iter().find(|(of, _)| self.a_try && *of == name).map(|(_, path)| PathBuf::from(path));
            let Some(file) = file.clone().or(sample) else { continue };
            if !experiment.datasets.iter().any(|dataset| dataset.name == name) {
                let names: Vec<&str> = experiment.datasets.iter().map(|dataset| dataset.name.as_str()).collect();
                return Err(Failure::usage(
                    format!("`{}` has no dataset `{name}`", self.experiment.display()),
                    format!("leave --{name} out; its datasets are {}", names.join(", ")),
                ));
            }
            files.insert(name.to_owned(), file);
        }
        Ok(files)
    }
}

/// Prints the table of what is recorded.
fn show(folder: &Path, as_json: bool) -> anyhow::Result<()> {
    let reproduction = Reproduction::open(folder)?;
    let text = if as_json {
        format!("{}\n", json::of(&reproduction))
    } else {
        terminal::render(&reproduction.sheet(), View::of_stdout().width)
    };
    std::io::stdout().lock().write_all(text.as_bytes())?;
    Ok(())
}
