//! `run`: a dataset file through an agent, or an experiment, recorded, scored, with a table at the end.

use super::config::{self, ApplyDefaults, DefaultsResolver};
use super::failure::{self, Failure};
use super::flags::{OfDataset, OfVariant, Resumable, TypedSettings, resumed, trusted_inputs, usd};
use super::report;
use super::say::{say, say_wrapped};
use super::score::{self, Print};
use crate::analysis::report::console::stdout;
use crate::analysis::report::plan::{cells, costs};
use crate::analysis::report::{Progress, View, counted};
use crate::analysis::scores::{ExtraScores, together};
use crate::base::text::visible_line;
use crate::base::{RunEvent, Shard, StopRule};
use crate::runner::experiment::{
    Concurrency, DATASET_SETTINGS, DatasetSpec, Differing, Effect, Experiment, ExperimentFile, Kind, Limits, Output,
    Overrides, Pace, Recording, Setting, VARIANT_SETTINGS, shipped,
};
use crate::runner::{
    Confirm, Confirmation, End, Estimate, EstimateRow, ExplicitArgs, Finished, Interrupts, Listener, PlannedRun,
    Prepared, Summary, check_files, prepare, questions,
};
use crate::scoring::Tally;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::Write as _;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How an experiment is shown while it runs and at its end.
#[derive(Debug, Clone, Copy)]
pub(super) struct Presentation<'a> {
    pub(super) json: bool,
    pub(super) quiet: bool,
    /// Whether the figures are printed; another command may print its own.
    pub(super) figures: bool,
    /// The page to write at its end, also of an interrupted run.
    pub(super) report: Option<&'a Path>,
}

impl Resumable for Args {
    const NAME: &'static str = "run";

    fn with(self, explicit: ExplicitArgs) -> Self {
        Self { explicit, ..self }
    }
}

pub(super) async fn execute(mut args: Args) -> anyhow::Result<u8> {
    let (typed, person) = (args.explicit.clone(), config::person()?);
    // Whoever names a dataset means what they type, and nothing else.
    let out = args.out.clone().filter(|_| args.resume && !typed.has("dataset"));
    let completed = out.as_deref().map(|out| resumed(out, &typed)).transpose()?.flatten();
    let stored = out.as_deref().filter(|_| completed.is_some());
    args = completed.unwrap_or(args);
    let goes_on = args.out.clone().filter(|_| args.resume);
    let (explicit, named) = (args.explicit.clone(), args.dataset.clone());
    let confirmation = Confirmation {
        untrusted: stored,
        typed: &typed,
        stored: stored.map(|out| (out, &explicit)),
        file: Some(named.as_path()).filter(|path| ExperimentFile::is_one(path)),
        person: &person,
        // A shard that starts again goes on, too.
        trusted: trusted_inputs(&person, args.out.as_deref().filter(|_| args.resume || args.shard.is_some())),
        confirmed: args.confirm,
        tell: &|text| say(text),
    };
    confirmation.ask_of_experiment("dataset", &args.dataset)?;
    let (replays, confirmed) = (args.recording.replay.is_some(), args.confirm);
    let given = config::complete(&mut args, &person, goes_on.as_deref(), replays, confirmed)?;
    args.given = (person.results(), given);
    let experiment = args.experiment(&|experiment| confirmation.ask(experiment))?;
    let report = page(&args, &confirmation)?;
    let shown = Presentation { json: args.json, quiet: args.quiet, figures: true, report: report.as_deref() };
    carry_out(&experiment, shown).await
}

/// The page to write: the one that is typed, or that of an earlier start, where that may be written.
fn page(args: &Args, confirmation: &Confirmation<'_>) -> anyhow::Result<Option<PathBuf>> {
    let Some(page) = &args.report else { return Ok(None) };
    let Some((folder, _)) = confirmation.stored.filter(|_| !confirmation.typed.has("report")) else {
        return report::check(page).map(|()| Some(page.clone()));
    };
    let refusal = match confirmation.refuses_page(folder, page)? {
        None => report::check(page).err().map(|error| error.to_string()),
        refusal => refusal,
    };
    if let Some(reason) = &refusal {
        let shown = visible_line(&page.display().to_string(), 300);
        say(format_args!("note: --report {shown} is not written again ({reason}); to write it, type --report"));
    }
    Ok(Some(page.clone()).filter(|_| refusal.is_none()))
}

pub(super) async fn carry_out(experiment: &Experiment, shown: Presentation<'_>) -> anyhow::Result<u8> {
    let prepared = prepare(experiment)?;
    prepared.notes().iter().for_each(say_wrapped);
    if experiment.output.dry_run {
        print_plan(&prepared, shown.json)?;
        return Ok(failure::OK);
    }
    let different = prepared.verify_prefixes().await;
    if !different.is_empty() {
        for (id, reason) in &different {
            say(format_args!("error: `{}`, {reason}", visible_line(id, 80)));
        }
        say(
            "hint: copied steps must find the same pages: use the corpus or the recording of the run; nothing was written",
        );
        return Ok(failure::DIFFERENCE);
    }
    let several = experiment.datasets.len() > 1;
    let tables = shown.figures && !(several && shown.json);
    let figures = tables.then_some(shown.json);
    let mut screen = Screen { quiet: shown.quiet, figures, progress: None, result: Ok(()) };
    let Finished { summaries, end, notes, resume, budget_spent } =
        prepared.execute(&mut screen, Interrupts::signals()).await?;
    screen.result?;
    if several && shown.json && shown.figures {
        writeln!(stdout(), "{}", together(&summaries))?;
    }
    notes.iter().for_each(say_wrapped);
    // Below the table, `next:` has the same command.
    let is_next = |summary: &Summary| !summary.is_unfinished() || summary.cut_short() == 0;
    let tables = shown.figures && !shown.json && !shown.quiet;
    let has_next = tables && !budget_spent && summaries.iter().all(is_next);
    resume.iter().filter(|_| !has_next).for_each(say_wrapped);
    if let Some(page) = shown.report {
        report::of_runs(summaries.iter().map(|summary| summary.run.as_path()), page)?;
    }
    let unfinished = summaries.iter().any(Summary::is_unfinished);
    Ok(match end {
        End::Interrupted => failure::INTERRUPTED,
        _ if unfinished => failure::NOT_MEASURED,
        _ => failure::OK,
    })
}

impl Args {
    /// The experiment that the flags describe. Before a file that it names is opened, `confirm` says whether that may be.
    pub(super) fn experiment(&self, confirm: Confirm<'_>) -> anyhow::Result<Experiment> {
        let (mut experiment, file) = if ExperimentFile::is_one(&self.dataset) {
            self.refuse_flags_of_the_file()?;
            let overrides = Overrides {
                settings: self.variant.single(),
                limit: self.data.dataset()?.limit,
                repeats: self.repeats,
                stop_when: self.stop_when()?,
                ..Overrides::default()
            };
            let file = ExperimentFile::load(&self.dataset)?;
            file.check_used(&overrides)?;
            (file.experiment(&overrides)?, Some((file, overrides)))
        } else {
            let path = self.dataset.clone();
            self.say_what_models_share();
            let experiment = Experiment {
                datasets: vec![DatasetSpec { path, settings: self.data.dataset()?, ..DatasetSpec::default() }],
                variants: self.variant.flag_lists().variants()?,
                repeats: self.repeats.unwrap_or(1),
                stop_when: self.stop_when()?,
                ..Experiment::default()
            };
            (experiment, None)
        };
        experiment.limits = self.limits.limits();
        experiment.pace = self.pace.pace();
        experiment.recording = self.recording.recording();
        experiment.output = Output {
            folder: self.out.clone(),
            results: self.given.0.clone(),
            defaults: self.given.1.clone(),
            resume: self.resume,
            command_line: self.explicit.command_line(Self::NAME),
            dry_run: self.dry_run,
            shard: self.shard.as_deref().map(|text| parse_shard(text, |name| std::env::var(name).ok())).transpose()?,
        };
        confirm(&mut experiment)?;
        if let Some((file, overrides)) = file {
            check_files(&file, &overrides)?.iter().for_each(say);
        }
        Ok(experiment)
    }

    fn stop_when(&self) -> anyhow::Result<Option<StopRule>> {
        let rule = self.stop_when.as_deref().map(StopRule::parse).transpose();
        rule.map_err(|error| Failure::usage(format!("--stop-when: {error}"), error.hint))
    }

    fn say_what_models_share(&self) {
        let (models, flags) = (self.variant.models().len(), self.variant.shared_by_models());
        if models > 1 && !flags.is_empty() {
            let hold = if flags.len() == 1 { "holds" } else { "hold" };
            say(format_args!("note: {} {hold} for each of the {models} models", flags.join(", ")));
        }
    }

    /// Flags of what the file itself says would be two answers to one question. What it leaves open may be typed, but for
    /// settings of which several may be typed, and those of datasets.
    fn refuse_flags_of_the_file(&self) -> anyhow::Result<()> {
        let refuse = |setting: &Setting, table: &str| {
            Failure::usage(
                format!("{} is set by the experiment file", setting.flag()),
                format!("set `{}` in {table} of {}, or run a dataset with flags", setting.name, self.dataset.display()),
            )
        };
        let typed = |setting: &&Setting| self.explicit.has(setting.name);
        if let Some(setting) = DATASET_SETTINGS.iter().filter(|setting| setting.name != "limit").find(typed) {
            return Err(refuse(setting, "[[dataset]]"));
        }
        // A header with a secret is never the file's.
        let of_file = |setting: &&Setting| setting.effect != Effect::Nothing && setting.kind != Kind::Headers;
        let typed: Vec<&Setting> = VARIANT_SETTINGS.iter().filter(of_file).filter(typed).collect();
        if typed.is_empty() {
            return Ok(());
        }
        let in_file = "[settings] or [matrix]";
        if let Some(setting) = typed.iter().find(|setting| self.variant.is_list(setting)) {
            if setting.name == "model" {
                let hint =
                    format!("set `model` in [matrix] of {}, or run a dataset with flags", self.dataset.display());
                return Err(Failure::usage("--model names several models, and an experiment file takes one", hint));
            }
            return Err(refuse(setting, in_file));
        }
        let file = ExperimentFile::load(&self.dataset)?;
        typed.iter().find(|setting| file.sets(setting)).map_or(Ok(()), |setting| Err(refuse(setting, in_file)))
    }
}

const LONGEST_WAIT: Duration = Duration::from_hours(24 * 30);

#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
#[derive(Debug, Clone, clap::Args)]
pub(super) struct Args {
    #[expect(clippy::doc_markdown, reason = "this is help text, not documentation")]
    /// Dataset file: HotpotQA, FEVER, JSON Lines, CSV or TSV, also gzipped; `-` for standard input; or an experiment file
    /// (.toml), which names datasets and variants itself.
    #[arg(default_value = shipped::SAMPLE)]
    pub(super) dataset: PathBuf,
    #[command(flatten)]
    data: TypedSettings<OfDataset>,
    #[command(flatten)]
    variant: TypedSettings<OfVariant>,
    #[command(flatten)]
    pub(super) recording: RecordingArgs,
    /// How often each question is asked under each variant [default: 1].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000), help_heading = "Run")]
    repeats: Option<u32>,
    /// Stop as soon as it is decided which of two variants is better, such as "decided(em, react, act)": looks after every
    /// question without more false decisions than its level, 0.05, or one that is given as in decided(f1, react, act, 0.01).
    /// Questions are shuffled. Metrics are em, f1, precision and recall.
    #[arg(long, value_name = "RULE", help_heading = "Run")]
    stop_when: Option<String>,
    #[command(flatten)]
    pace: PaceArgs,
    /// The run's folder [default: a new one under results/, or below `WIKITRAIL_RESULTS`].
    #[arg(long, value_name = "DIR", help_heading = "Run")]
    out: Option<PathBuf>,
    /// Resume the run in --out under the same settings: measured episodes are kept, the rest is done.
    #[arg(long, requires = "out", help_heading = "Run")]
    resume: bool,
    /// When the run ends, also by Ctrl-C, write it as a page to this file; see `wikitrail report`.
    #[arg(long, value_name = "FILE", help_heading = "Run")]
    report: Option<PathBuf>,
    /// Run one of N parts of the questions: the I-th, counted from 1. `slurm` takes I and N from the variables of a Slurm array
    /// task, `kubernetes/N` takes I from that of an indexed job. The same command starts a shard and continues it, on any
    /// machine. All shards write the folder --out under the same settings; budgets and limits of speed are each shard's own.
    #[arg(long, value_name = "I/N", help_heading = "Run")]
    shard: Option<String>,
    /// Use the servers, keys and files that the resumed command or the experiment file names and this command does not; they
    /// are shown.
    #[arg(long, help_heading = "Run")]
    confirm: bool,
    /// Show what would be run and what it would take, and stop.
    #[arg(long, help_heading = "Run")]
    dry_run: bool,
    #[command(flatten)]
    limits: LimitArgs,
    /// Print the summary as one JSON object on stdout; with --dry-run, the plan.
    #[arg(long, help_heading = "Run")]
    json: bool,
    /// Show no progress, and print one line for each variant.
    #[arg(long, short, help_heading = "Run")]
    quiet: bool,
    /// Which of these were typed.
    #[arg(skip)]
    pub(super) explicit: ExplicitArgs,
    /// Where new folders of runs are made, and the settings that no flag gave.
    #[arg(skip)]
    pub(super) given: (Option<PathBuf>, BTreeMap<String, String>),
}

impl ApplyDefaults for Args {
    fn take(&mut self, taking: &mut DefaultsResolver<'_>) -> anyhow::Result<()> {
        let file = ExperimentFile::is_one(&self.dataset).then(|| ExperimentFile::load(&self.dataset)).transpose()?;
        taking.settings(&mut self.variant, file.as_ref(), self.limits.prices.is_some())?;
        taking.prices(&mut self.limits.prices, self.variant.has("price"))?;
        self.pace.take(taking)
    }
}

impl Args {
    /// Whether episodes wait for a model, as far as the flags say; an experiment's file may name models of its own.
    pub(super) fn waits(&self) -> bool {
        let offline = self.dry_run || self.recording.replay.is_some();
        self.variant.texts("model").iter().any(|model| model != "baseline") && !offline
    }
}

#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Recording")]
pub(super) struct RecordingArgs {
    /// Record every answer of the model and of Wikipedia in this file; appends to an existing recording.
    #[arg(long, value_name = "FILE", conflicts_with = "replay")]
    record: Option<PathBuf>,
    /// Take every answer from a recording: no network requests are made, and an episode that asks something else is not
    /// measured.
    #[arg(long, value_name = "FILE", conflicts_with = "cache")]
    pub(super) replay: Option<PathBuf>,
    /// Folder that caches answers: the same request is not sent twice.
    #[arg(long, value_name = "DIR")]
    cache: Option<PathBuf>,
}

impl RecordingArgs {
    pub(super) fn recording(&self) -> Recording {
        let Self { record, replay, cache } = self.clone();
        Recording { record, replay, cache }
    }
}

/// How many requests go to the model's server.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Run")]
pub(super) struct PaceArgs {
    /// Model requests at once: `auto` begins with one and learns from the answers how many the server can take, up to 100;
    /// `auto:N` up to N; a plain number is fixed [default: auto] [env: `WIKITRAIL_CONCURRENCY`].
    #[arg(long, value_name = "N|auto[:N]")]
    concurrency: Option<Concurrency>,
    /// Maximum requests to the model's server in any minute, retries included [default: unlimited].
    #[arg(long, value_name = "N")]
    requests_per_minute: Option<NonZeroU32>,
    /// Maximum tokens of requests that begin in any minute, prompt and answer together [default: unlimited].
    #[arg(long, value_name = "N")]
    tokens_per_minute: Option<NonZeroU32>,
    /// Longest wait that a server may ask for, such as `90`, `30m` or `2h`; a longer one ends the run, which is resumed
    /// later [default: 10m].
    #[arg(long, value_name = "SECONDS", value_parser = wait)]
    max_wait: Option<Duration>,
}

impl PaceArgs {
    pub(super) fn take(&mut self, taking: &mut DefaultsResolver<'_>) -> anyhow::Result<()> {
        if self.concurrency.is_none() {
            // It was checked where it was read; of a stored one nothing is left that cannot be read.
            self.concurrency = taking.one("concurrency")?.and_then(|text| text.parse().ok());
        }
        Ok(())
    }

    pub(super) fn pace(&self) -> Pace {
        let Self { concurrency, requests_per_minute, tokens_per_minute, max_wait } = *self;
        Pace { concurrency: concurrency.unwrap_or_default(), requests_per_minute, tokens_per_minute, max_wait }
    }
}

/// Limits of a run. Those on spending hold for all its parts together, whatever is resumed.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Budget")]
pub(super) struct LimitArgs {
    /// File of models' prices, in the form of `wikitrail docs prices` [default: the shipped prices] [env: `WIKITRAIL_PRICES`].
    #[arg(long, value_name = "FILE", conflicts_with = "price")]
    pub(super) prices: Option<PathBuf>,
    /// Stop when the run, its earlier parts included, has cost this many US dollars.
    #[arg(long, value_name = "USD", value_parser = usd)]
    budget_usd: Option<f64>,
    /// Stop when the run, its earlier parts included, has used this many tokens.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    budget_tokens: Option<u64>,
    /// Stop when the run, its earlier parts included, has made this many model calls.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    max_calls: Option<u64>,
    /// Stop when this many episodes could not be measured [default: go on].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    max_failures: Option<u64>,
    /// Stop when this many requests in a row to one server fail for a reason that lasts, such as a rejected key, an unknown
    /// model or a closed port; `off` to go on [default: 10].
    #[arg(long, value_name = "N|off", value_parser = give_up_after)]
    give_up_after: Option<u64>,
}

impl LimitArgs {
    pub(super) fn limits(&self) -> Limits {
        let Self { prices, budget_usd, budget_tokens, max_calls, max_failures, give_up_after } = self.clone();
        Limits { budget_usd, budget_tokens, max_calls, max_failures, give_up_after, prices }
    }
}

/// A number of seconds, or of another unit that is named.
fn wait(text: &str) -> Result<Duration, String> {
    let seconds = text.parse::<u64>().ok().map(Duration::from_secs);
    let with_unit = || Duration::try_from(text.parse::<jiff::SignedDuration>().ok()?).ok();
    let wait = seconds.or_else(with_unit).filter(|wait| *wait <= LONGEST_WAIT);
    wait.ok_or_else(|| "a time of at most 30 days is expected, such as `90` (seconds), `30m` or `2h`".to_owned())
}

fn give_up_after(text: &str) -> Result<u64, String> {
    let number = if text == "off" { Some(0) } else { text.parse().ok() };
    number.ok_or_else(|| "a number of requests or `off` is expected".to_owned())
}

/// The index of an indexed Kubernetes job, from 0.
const KUBERNETES_INDEX: &str = "JOB_COMPLETION_INDEX";

/// The shard that is typed, with the variables of the environment where they were asked for.
fn parse_shard(text: &str, variable: impl Fn(&str) -> Option<String>) -> anyhow::Result<Shard> {
    let refused = || {
        Failure::usage(
            format!("`{text}` is not a shard"),
            format!("give --shard I/N with I from 1 to N and N up to {}, `slurm` or `kubernetes/N`", Shard::MOST),
        )
    };
    match text.split_once('/') {
        None if text == "slurm" => slurm_shard(&variable),
        Some(("kubernetes", count)) => {
            let one = Shard::parse(&format!("1/{count}")).ok_or_else(refused)?;
            kubernetes_shard(one.count(), &variable)
        }
        _ => Shard::parse(text).ok_or_else(refused),
    }
}

fn number(name: &str, text: &str) -> anyhow::Result<u32> {
    let refused = |_| Failure::usage(format!("{name} is `{text}`, which is not a number"), "type --shard I/N instead");
    text.trim().parse::<u32>().map_err(refused)
}

/// The number in a variable that every `place` sets.
fn needed(name: &str, place: &str, variable: &dyn Fn(&str) -> Option<String>) -> anyhow::Result<u32> {
    let absent = || {
        let message = format!("{name} is not set: this is not a {place}");
        Failure::usage(message, "type --shard I/N instead, with I from 1 to N")
    };
    number(name, &variable(name).ok_or_else(absent)?)
}

fn kubernetes_shard(count: u32, variable: &dyn Fn(&str) -> Option<String>) -> anyhow::Result<Shard> {
    let index = needed(KUBERNETES_INDEX, "pod of an indexed Kubernetes job", variable)?;
    Shard::new(index.saturating_add(1), count).ok_or_else(|| {
        let message = format!("{KUBERNETES_INDEX} is {index}, and there are {count} shards, which it counts from 0");
        Failure::usage(message, "give --shard kubernetes/N the number that the job has as `completions`")
    })
}

fn slurm_shard(variable: &dyn Fn(&str) -> Option<String>) -> anyhow::Result<Shard> {
    let of_array = |name| needed(&format!("SLURM_ARRAY_TASK_{name}"), "task of a Slurm array", variable);
    let (task, least, most, count) = (of_array("ID")?, of_array("MIN")?, of_array("MAX")?, of_array("COUNT")?);
    let step = "SLURM_ARRAY_TASK_STEP";
    let step = variable(step).map_or(Ok(1), |text| number(step, &text))?;
    task_of_array(task, least, most, count, step).ok_or_else(|| {
        Failure::usage(
            format!("SLURM_ARRAY_TASK_ID {task} is not one of {count} tasks from {least} to {most} in steps of {step}"),
            "give the array as one range, such as --array=1-16, or type --shard I/N",
        )
    })
}

/// The shard of a task, if the tasks are a range.
fn task_of_array(task: u32, least: u32, most: u32, count: u32, step: u32) -> Option<Shard> {
    let place = |task: u32| {
        let distance = task.checked_sub(least)?;
        (distance.checked_rem(step)? == 0).then(|| distance / step + 1)
    };
    (place(most) == Some(count)).then(|| Shard::new(place(task)?, count))?
}

fn print_plan(prepared: &Prepared, as_json: bool) -> anyhow::Result<()> {
    let runs: Vec<PlannedRun<'_>> = prepared.runs().collect();
    let sum = Estimate::together(runs.iter().map(|run| run.estimate));
    sum.lines().iter().for_each(say);
    let mut out = stdout();
    if as_json {
        let value = match runs.as_slice() {
            [run] => to_json(run),
            runs => json!({
                "runs": runs.iter().map(to_json).collect::<Vec<_>>(),
                "most_model_calls": sum.most_calls(),
                "estimate": sum.to_json(),
            }),
        };
        writeln!(out, "{value}")?;
        return Ok(());
    }
    let Some(first) = runs.first() else { return Ok(()) };
    // One variant of one run is told in a line already.
    if runs.len() == 1 && first.manifest.variants.len() == 1 {
        return Ok(());
    }
    // A dataset's own settings make other variants.
    let mut shown = Differing::default();
    for run in &runs {
        let of_run = Differing::of(&run.manifest.variants).called(&run.manifest.short_names());
        if of_run != shown {
            write!(out, "{}", cells(&of_run, View::of_stdout().width))?;
            shown = of_run;
        }
    }
    for PlannedRun { manifest, estimate, .. } in &runs {
        let short = manifest.short_names();
        let short_named =
            |row: &EstimateRow| EstimateRow { variant: short.of_name(&row.variant).to_owned(), ..row.clone() };
        let rows: Vec<EstimateRow> = estimate.rows.iter().map(short_named).chain([estimate.all()]).collect();
        let often = if manifest.repeats == 1 { "once".to_owned() } else { format!("{} times", manifest.repeats) };
        let questions = counted(manifest.dataset.selected, "question");
        let title =
            format!("{}: {questions}, {often} each", questions::path_or_stdin(Path::new(&manifest.dataset.path)));
        write!(out, "{}", costs(&title, &rows, View::of_stdout().width))?;
    }
    Ok(())
}

fn to_json(run: &PlannedRun<'_>) -> Value {
    let cell = |row: &EstimateRow| {
        let EstimateRow { variant, due, expected, most } = row;
        json!({ "variant": variant, "episodes": due, "expected": expected.to_json(), "at_most": most.to_json() })
    };
    let mut value = json!({
        "run": run.folder.display().to_string(),
        "dataset": run.manifest.dataset,
        "variants": run.manifest.variants,
        "keep": run.keep,
        "redo": run.redo,
        "new": run.new,
        "other": run.other,
        "most_model_calls": run.estimate.most_calls(),
        "estimate": run.estimate.to_json(),
        "cells": run.estimate.rows.iter().map(cell).collect::<Vec<_>>(),
    });
    if let Some(shard) = run.shard {
        value["shard"] = json!(shard);
    }
    if let Some(rule) = &run.manifest.stop_when {
        value["stop_when"] = json!(rule);
    }
    if let Some(experiment) = &run.manifest.experiment {
        value["experiment"] = json!(experiment);
    }
    value
}

struct Screen {
    quiet: bool,
    /// Whether the figures of each run are printed when it ends, and whether as JSON.
    figures: Option<bool>,
    progress: Option<Progress>,
    result: anyhow::Result<()>,
}

impl Listener for Screen {
    fn event(&mut self, event: &RunEvent) {
        match event {
            RunEvent::Begun { dataset, episodes, repeats, variants } => {
                let tally = Tally::new(dataset.clone()).by_question(*repeats);
                self.progress = Some(Progress::new(*episodes, self.quiet).over(tally, variants));
            }
            RunEvent::Note(text) => say(text),
            RunEvent::Recorded(_) | RunEvent::Waiting(_) | RunEvent::Stopping => {
                if let Some(progress) = &mut self.progress {
                    progress.event(event);
                }
            }
        }
    }

    fn ended(&mut self, summary: &Summary) {
        // The last line of the progress comes before the table.
        if let Some(mut progress) = self.progress.take() {
            progress.finish();
        }
        if let (Some(json), Ok(())) = (self.figures, &self.result) {
            let how = if json || self.quiet { Print::of(json, self.quiet) } else { Print::End };
            self.result = score::print(summary, &ExtraScores::default(), how);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{usd, wait};
    use crate::cli::failure;
    use std::time::Duration;

    #[test]
    fn waits_have_a_unit_or_are_seconds() {
        for (text, seconds) in [("0", 0), ("90", 90), ("30m", 1800), ("1h30m", 5400)] {
            assert_eq!(wait(text), Ok(Duration::from_secs(seconds)), "{text}");
        }
        for bad in ["-1", "-5s", "1e308", "NaN", "inf", "", "soon", "99999999999999999999", "721h"] {
            assert!(wait(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn budgets_of_nothing_are_refused() {
        assert_eq!(usd("0.5"), Ok(0.5));
        for bad in ["0", "-1", "nan", "inf", "", "1 $"] {
            assert!(usd(bad).is_err(), "{bad}");
        }
    }

    /// What `--shard TEXT` means with these variables.
    fn shard(text: &str, variables: &[(&str, &str)]) -> Result<String, String> {
        let variable =
            |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
        super::parse_shard(text, variable).map(|shard| shard.to_string()).map_err(|error| {
            let (code, text) = failure::explain(&error);
            assert_eq!(code, failure::USAGE);
            assert!(text.contains("hint: "), "{text}");
            text
        })
    }

    fn array<'a>(id: &'a str, min: &'a str, max: &'a str, count: &'a str) -> [(&'a str, &'a str); 4] {
        [
            ("SLURM_ARRAY_TASK_ID", id),
            ("SLURM_ARRAY_TASK_MIN", min),
            ("SLURM_ARRAY_TASK_MAX", max),
            ("SLURM_ARRAY_TASK_COUNT", count),
        ]
    }

    #[test]
    fn a_shard_is_typed_or_taken_from_a_job() {
        let all = [&array("7", "4", "7", "4")[..], &[("JOB_COMPLETION_INDEX", "3")]].concat();
        assert_eq!(shard("2/3", &all).as_deref(), Ok("2/3"), "variables alone say nothing");
        assert_eq!(shard("slurm", &all).as_deref(), Ok("4/4"));
        assert_eq!(shard("kubernetes/5", &all).as_deref(), Ok("4/5"));
        assert_eq!(shard("slurm", &array("0", "0", "15", "16")).as_deref(), Ok("1/16"));
        let stepped = [&array("9", "1", "13", "4")[..], &[("SLURM_ARRAY_TASK_STEP", "4")]].concat();
        assert_eq!(shard("slurm", &stepped).as_deref(), Ok("3/4"));
        for bad in ["0/3", "4/3", "3", "auto", "slurm/4", "kubernetes", "kubernetes/0", "kubernetes/70000", ""] {
            assert!(shard(bad, &all).is_err(), "{bad}");
        }
    }

    #[test]
    fn variables_that_are_missing_or_contradict_each_other_are_told() {
        let told = |text: &str, variables: &[(&str, &str)], words: &str| {
            let error = shard(text, variables).expect_err(words);
            assert!(error.contains(words), "{error}");
        };
        told("slurm", &[], "SLURM_ARRAY_TASK_ID is not set");
        told("slurm", &[("SLURM_ARRAY_TASK_ID", "1")], "SLURM_ARRAY_TASK_MIN is not set");
        told("slurm", &array("x", "1", "4", "4"), "SLURM_ARRAY_TASK_ID is `x`");
        // An array such as 1,2,9 is not a range, so that it is not known which task is the third.
        told("slurm", &array("9", "1", "9", "3"), "is not one of 3 tasks");
        told("slurm", &array("5", "1", "4", "4"), "is not one of 4 tasks");
        told("slurm", &array("0", "1", "4", "4"), "is not one of 4 tasks");
        told("slurm", &[&array("2", "1", "4", "4")[..], &[("SLURM_ARRAY_TASK_STEP", "0")]].concat(), "steps of 0");
        told("5/4", &[], "`5/4` is not a shard");
        told("kubernetes/4", &[], "JOB_COMPLETION_INDEX is not set");
        told("kubernetes/4", &[("JOB_COMPLETION_INDEX", "4")], "there are 4 shards");
        told("kubernetes/4", &[("JOB_COMPLETION_INDEX", "4294967295")], "there are 4 shards");
    }
}
