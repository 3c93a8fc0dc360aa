//! `reproduce`: the paper's table with a model of one's own, the paper's figures beside ours.

use super::config::{self, ApplyDefaults, DefaultsResolver};
use super::failure::{self, Failure};
use super::flags::{self, OfReproduction, Resumable, TypedSettings, resumed, trusted_inputs};
use super::output_file::json_or;
use super::run::{self, LimitArgs, PaceArgs, Presentation, RecordingArgs};
use super::say::say;
use crate::analysis::report::View;
use crate::analysis::report::console::stdout;
use crate::analysis::report::sheet::to_terminal;
use crate::analysis::report::summary::LEVEL;
use crate::analysis::reproduction::{Figures, Reproduction, ReproductionRow, Table, share};
use crate::base::Method;
use crate::runner::experiment::{Assignment, Experiment, ExperimentFile, Output, Overrides, shipped, variant_setting};
use crate::runner::{Confirm, Confirmation, ExplicitArgs, check_files};
use clap::Command;

use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

const TABLE_1: &str = "experiments/table1.toml";
/// What `--try` takes in place of the paper's data.
const SAMPLES: [(&str, &str); 2] = [("hotpotqa", shipped::SAMPLE), ("fever", "datasets/sample-claims.jsonl")];
/// Settings that `--try` sets, unless they are typed.
const A_TRY: [(&str, &str); 2] = [("model", "baseline"), ("wiki", "corpus:datasets/sample-wiki")];
/// Settings whose default is another one here, with the default.
const OTHER_DEFAULTS: [(&str, &str); 7] = [
    ("model", "none, it has to be named"),
    ("wiki", "the file's"),
    ("compat", "the file's"),
    ("protocol", "react-paper, as the file says"),
    ("samples", "21, as the file says"),
    ("max_steps", "7 for HotpotQA and 5 for FEVER, as the file says"),
    ("temperature", "0 outside votes"),
];

/// Flags of `reproduce`. Those of `run` are handed on as they were typed.
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
#[derive(Debug, Clone, clap::Args)]
pub(super) struct Args {
    /// Folder of a reproduction: print its table again, and run nothing. Of another run, also an imported one: its figures beside
    /// those that are published for its method and dataset.
    #[arg(value_name = "DIR", conflicts_with_all = ["out", "resume", "dry_run", "limit", "hotpotqa", "fever", "model", "a_try"])]
    folder: Option<PathBuf>,
    /// Method of DIR, where the run does not say it.
    #[arg(long, value_name = "METHOD", requires = "folder", value_parser = method)]
    method: Option<Method>,
    /// Dataset of DIR in the experiment file, where the run has it under another name.
    #[arg(long, value_name = "NAME", requires = "folder")]
    dataset: Option<String>,
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
    #[command(flatten)]
    settings: TypedSettings<OfReproduction>,
    #[command(flatten)]
    recording: RecordingArgs,
    #[command(flatten)]
    pace: PaceArgs,
    /// Folder of the runs, one a dataset; where they are already, print the table again [default: a new one under results/].
    #[arg(long, value_name = "DIR", help_heading = "Run")]
    out: Option<PathBuf>,
    /// Go on with what is in --out, under the same settings.
    #[arg(long, requires = "out", help_heading = "Run")]
    resume: bool,
    /// Use the servers, keys and files that the resumed command or the experiment file names and this command does not; they
    /// are shown.
    #[arg(long, help_heading = "Run")]
    confirm: bool,
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
    /// Which of these were typed.
    #[arg(skip)]
    pub(super) explicit: ExplicitArgs,
    /// Where new folders of runs are made, and the settings that no flag gave.
    #[arg(skip)]
    given: (Option<PathBuf>, BTreeMap<String, String>),
}

impl ApplyDefaults for Args {
    fn take(&mut self, taking: &mut DefaultsResolver<'_>) -> anyhow::Result<()> {
        // A try needs neither key nor network, unless a model is typed.
        if !self.a_try || self.settings.has("model") {
            let file = ExperimentFile::load(&self.experiment)?;
            taking.settings(&mut self.settings, Some(&file), self.limits.prices.is_some())?;
        }
        taking.prices(&mut self.limits.prices, self.settings.has("price"))?;
        self.pace.take(taking)
    }
}

impl Resumable for Args {
    const NAME: &'static str = "reproduce";

    fn with(self, explicit: ExplicitArgs) -> Self {
        Self { explicit, ..self }
    }
}

pub(super) fn command(command: Command) -> Command {
    OTHER_DEFAULTS.iter().fold(command, |command, (name, default)| match variant_setting(name) {
        Some(setting) => command.mut_arg(name, |argument| argument.help(flags::help(setting, default, false))),
        None => command,
    })
}

pub(super) async fn execute(mut args: Args) -> anyhow::Result<u8> {
    if let Some(folder) = &args.folder {
        show(folder, &args)?;
        return Ok(failure::OK);
    }
    let (typed, person) = (args.explicit.clone(), config::person()?);
    let short = args.out.clone().filter(|_| args.resume && !args.a_try && !typed.has("model"));
    let completed = short.as_deref().map(|out| resumed(out, &typed)).transpose()?.flatten();
    let stored = short.as_deref().filter(|_| completed.is_some());
    args = completed.unwrap_or(args);
    let (explicit, named) = (args.explicit.clone(), args.experiment.clone());
    let goes_on = args.out.clone().filter(|_| args.resume);
    let (replays, confirmed) = (args.recording.replay.is_some(), args.confirm);
    let confirmation = Confirmation {
        // A file of this name in the working folder takes the place of ours.
        untrusted: stored.or(Some(named.as_path()).filter(|_| !typed.has("experiment"))),
        typed: &typed,
        stored: stored.map(|out| (out, &explicit)),
        file: Some(&named),
        person: &person,
        trusted: trusted_inputs(&person, goes_on.as_deref()),
        confirmed: args.confirm,
        tell: &|text| say(text),
    };
    confirmation.ask_of_experiment("experiment", &args.experiment)?;
    let given = config::complete(&mut args, &person, goes_on.as_deref(), replays, confirmed)?;
    args.given = (person.results(), given);
    if !args.a_try && !args.settings.has("model") {
        match args.out.as_deref().filter(|_| !args.resume && !args.dry_run) {
            Some(out) if Reproduction::is_there(out)? => show(out, &args)?,
            _ => return Err(no_model()),
        }
        return Ok(failure::OK);
    }
    let experiment = args.experiment(&|experiment| confirmation.ask(experiment))?;
    let code =
        run::carry_out(&experiment, Presentation { json: args.json, quiet: args.quiet, figures: false, report: None })
            .await?;
    if let Some(out) = experiment.output.folder.as_deref().filter(|_| !args.dry_run) {
        show(out, &args)?;
    }
    Ok(code)
}

/// A table of rules instead of a model is nothing that anybody wants by mistake.
fn no_model() -> anyhow::Error {
    let hint = "such as --model openai:NAME --base-url http://127.0.0.1:8000/v1; --try needs neither key nor network";
    Failure::usage("reproduce needs a model: name it with --model", hint)
}

impl Args {
    /// The experiment of the file with what was typed in place of what it says.
    fn experiment(&self, confirm: Confirm<'_>) -> anyhow::Result<Experiment> {
        let file = ExperimentFile::load(&self.experiment)?;
        let (settings, datasets) = (self.overriding(), self.datasets(&file)?);
        let overrides = Overrides { settings, datasets, limit: self.limit, repeats: None, stop_when: None };
        file.check_used(&overrides)?;
        let mut experiment = file.experiment(&overrides)?;
        experiment.limits = self.limits.limits();
        experiment.pace = self.pace.pace();
        experiment.recording = self.recording.recording();
        experiment.output = Output {
            folder: Some(self.out.clone().unwrap_or_else(|| crate::runner::fresh(self.given.0.as_deref(), &file.name))),
            defaults: self.given.1.clone(),
            resume: self.resume,
            command_line: self.explicit.command_line(Self::NAME),
            dry_run: self.dry_run,
            ..Output::default()
        };
        confirm(&mut experiment)?;
        check_files(&file, &overrides)?.iter().for_each(say);
        Ok(experiment)
    }

    fn overriding(&self) -> Vec<Assignment> {
        let mut settings = self.settings.single();
        for (name, value) in A_TRY.iter().filter(|(name, _)| self.a_try && !self.explicit.has(name)) {
            let assign = |setting| Assignment { setting, value: (*value).into(), line: 0 };
            settings.extend(variant_setting(name).map(assign));
        }
        // A model comes before what belongs to it.
        settings.sort_by_key(|assignment| !["model", "wiki"].contains(&assignment.setting.name));
        settings
    }

    /// The files that were typed, by the dataset that they replace.
    fn datasets(&self, experiment: &ExperimentFile) -> anyhow::Result<BTreeMap<String, PathBuf>> {
        let typed = [("hotpotqa", &self.hotpotqa), ("fever", &self.fever)];
        let mut files = BTreeMap::new();
        for (name, file) in typed {
            let sample = SAMPLES.iter().find(|(of, _)| self.a_try && *of == name).map(|(_, path)| PathBuf::from(path));
            let Some(file) = file.clone().or(sample) else { continue };
            if !experiment.datasets.iter().any(|dataset| dataset.name == name) {
                let names: Vec<&str> = experiment.datasets.iter().map(|dataset| dataset.name.as_str()).collect();
                let hint = format!("leave --{name} out; its datasets are {}", names.join(", "));
                return Err(Failure::usage(format!("`{}` has no dataset `{name}`", self.experiment.display()), hint));
            }
            files.insert(name.to_owned(), file);
        }
        Ok(files)
    }
}

fn method(name: &str) -> Result<Method, String> {
    Method::parse(name).ok_or_else(|| format!("the methods are {}", Method::ALL.map(Method::typed).join(", ")))
}

fn show(folder: &Path, args: &Args) -> anyhow::Result<()> {
    let figures = Figures { experiment: &args.experiment, dataset: args.dataset.as_deref(), method: args.method };
    let reproduction = Reproduction::open(folder, figures)?;
    let text = || to_terminal(&reproduction.sheet(), View::of_stdout().width);
    Ok(json_or(args.json, || reproduction_json(&reproduction), text, &mut stdout())?)
}

/// The whole table: shares are 0 to 1, published figures are so too.
fn reproduction_json(reproduction: &Reproduction) -> Value {
    let experiment = &reproduction.experiment;
    let sources = experiment.published.iter().map(|from| json!({"name": from.name, "source": from.source}));
    let tables: Vec<Value> = reproduction.tables().iter().map(table).collect();
    json!({
        "run": reproduction.folder.display().to_string(),
        "experiment": experiment.name,
        "models": reproduction.models(),
        "level": LEVEL,
        "published": sources.collect::<Vec<_>>(),
        "tables": tables,
        "notes": reproduction.notes(),
    })
}

fn table(table: &Table<'_>) -> Value {
    let manifest = &table.summary.manifest;
    json!({
        "dataset": table.dataset,
        "path": manifest.dataset.path,
        "sha256": manifest.dataset.sha256,
        "selected": manifest.dataset.selected,
        "metric": table.metric,
        "missing": table.summary.missing(),
        "rows": table.rows.iter().map(|ours| row(ours, &table.sources)).collect::<Vec<_>>(),
    })
}

fn row(ours: &ReproductionRow<'_>, sources: &[&str]) -> Value {
    let published = sources.iter().zip(&ours.published).filter_map(|(name, published)| {
        let percent = (*published)?;
        let place = ours.position(percent);
        Some(json!({
            "name": name,
            "value": share(percent),
            "inside": place.map(|place| place == "inside"),
            "place": place,
        }))
    });
    json!({
        "cell": ours.variant,
        "mean": ours.mean,
        "interval": ours.interval.map(|interval| [interval.low, interval.high]),
        "n": ours.n,
        "not_measured": ours.not_measured,
        "published": published.collect::<Vec<_>>(),
    })
}
