//! `score`: a run's figures, computed from its trajectories, or those of files of predictions.

use super::config::{self, DefaultsResolver};
use super::failure::{self, Failure};
use super::flags::{ASKED, OfJudge, Suggested, TypedSettings, usd};
use super::output_file::json_line;
use super::say::say;
use crate::analysis::judges::{
    Answer, Choice, JudgeEnd, JudgePlan, JudgePrompt, JudgeSettings, JudgeTask, Judging, Reading, Rule, Verdict,
};
use crate::analysis::report::console::stdout;
use crate::analysis::report::{View, wrapped};
use crate::analysis::results::{
    GradedRun, JoinedMetric, JudgedRun, add_metric, answers, check_one, explain_metric, failed_episodes, program_output,
};
use crate::analysis::scores::{
    ExtraScores, annotations, item_json, item_line, joined_rows, judged_by_rules, judgements, run_summary, to_json,
    verdict,
};
use crate::base::bounded::text_at_most;
use crate::base::text::{counted, thousands, visible_line};
use crate::dataset::{self, Problem, ReadOptions, bytes_of};
use crate::runner::experiment::defaults::DefaultSource;
use crate::runner::experiment::{Concurrency, Experiment, Limits, Pace, Recording, VariantSettings};
use crate::runner::store::RunFolder;
use crate::runner::{End, Interrupts, RunError, Summary, UserConfig, set_prices, without_secrets, words_again};
use crate::scoring::Metric;
use crate::scoring::files::{self, FileError, FileMetric, JsonFile, Report};
use clap::builder::StringValueParser;
use serde_json::{Value, json};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::sync::Arc;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The run folder.
    #[arg(required_unless_present = "gold", conflicts_with = "gold")]
    run: Option<PathBuf>,
    /// Metric of a run: hotpot, aliases, fever, paper, cjk, strategyqa or rougel [default: the dataset's]; metrics of files are listed below.
    #[arg(long, value_name = "NAME", value_parser = metrics(), hide_possible_values = true)]
    metric: Option<String>,
    #[command(flatten)]
    metrics: MetricFiles,
    /// Print the figures as one JSON object.
    #[arg(long)]
    json: bool,
    /// Print one line for each variant, and nothing else.
    #[arg(long, short, conflicts_with_all = ["json", "gold", "per_item"])]
    quiet: bool,
    #[command(flatten)]
    files: PredictionFiles,
    #[command(flatten)]
    judge: JudgeArgs,
}

pub(super) async fn execute(args: &Args) -> anyhow::Result<u8> {
    if let (Some(gold), Some(predictions)) = (&args.files.gold, &args.files.predictions) {
        let metric = parse_file_metric(args.metric.as_deref().unwrap_or_default())?;
        print_report(&score_files(&args.files, (gold, predictions), metric)?, args.json)?;
        return Ok(failure::OK);
    }
    let run = args.run.as_deref().unwrap_or(Path::new("."));
    let metric = args.metric.as_deref().map(parse_metric).transpose()?;
    check_one(run, "wikitrail score")?;
    let (mut code, tell) = (failure::OK, |text| say(text));
    if args.judge.is_any() {
        match judge_run(&args.judge, run, args.json).await? {
            Some(judged) => code = judged,
            None => return Ok(failure::OK),
        }
    }
    let (annotations, readers) = annotations(run, &tell)?;
    let mut items = (args.files.per_item && args.json).then(Vec::new);
    let mut lines = (args.files.per_item && !args.json).then(Vec::new);
    let mut episodes = Vec::new();
    let summary = Summary::of_each(run, metric, |episode| {
        if let Some(items) = &mut items {
            items.push(item_json(episode));
        }
        if let Some(lines) = &mut lines {
            lines.push(item_line(episode));
        }
        if annotations.is_some() {
            episodes.push(judged_by_rules(episode));
        }
    })?;
    summary.notes.iter().for_each(say);
    summary.evidence.note().iter().for_each(say);
    let metrics = args.metrics.read(&[run])?;
    let judged = JudgedRun::read(run)?;
    let is_kilt = summary.manifest.dataset.format == "kilt";
    let joined = joined_rows(run, is_kilt, metrics, judged.as_ref(), &tell)?;
    let judgements = annotations.map(|annotations| judgements(&annotations, &episodes, &tell));
    let extra = ExtraScores { lines, items, joined, judgements, judged, readers };
    print(&summary, &extra, Print::of(args.json, args.quiet))?;
    Ok(code)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Print {
    /// Tables, with commands to try next.
    Tables,
    /// One table and a verdict, at the end of a run.
    End,
    /// One line for each variant; what else a reader should know goes to stderr.
    Lines,
    Json,
}

impl Print {
    pub(super) fn of(json: bool, quiet: bool) -> Self {
        match (json, quiet) {
            (true, _) => Self::Json,
            (false, true) => Self::Lines,
            (false, false) => Self::Tables,
        }
    }
}

pub(super) fn print(summary: &Summary, extra: &ExtraScores, how: Print) -> anyhow::Result<()> {
    let mut out = BufWriter::new(stdout());
    if how == Print::Json {
        json_line(&mut out, &to_json(summary, extra))?;
        return Ok(out.flush()?);
    }
    let width = View::of_stdout().width;
    let report = run_summary(summary, extra, how == Print::End, width);
    let text = match how {
        Print::Lines => report.lines(),
        Print::End => report.brief(&verdict(summary), width),
        Print::Tables | Print::Json => report.render(width),
    };
    out.write_all(text.as_bytes())?;
    if let Some(lines) = &extra.lines {
        writeln!(out)?;
        lines.iter().try_for_each(|line| writeln!(out, "{line}"))?;
    }
    out.flush()?;
    report.remarks().filter(|_| how == Print::Lines).for_each(say);
    Ok(())
}

fn metrics() -> Suggested<StringValueParser> {
    let words = || Metric::ALL.iter().map(|metric| metric.name()).collect();
    Suggested { parser: StringValueParser::new(), words }
}

fn parse_metric(name: &str) -> anyhow::Result<Metric> {
    Metric::parse(name).ok_or_else(|| {
        let known: Vec<&str> = Metric::ALL.iter().map(|metric| metric.name()).collect();
        Failure::usage(format!("unknown metric `{name}`"), format!("metrics of a run are {}", known.join(", ")))
    })
}

/// Largest prompt of a judge, in bytes.
const MOST_BYTES: u64 = 1 << 20;
/// The least amount in US dollars that has digits of its own.
const LEAST_USD: f64 = 0.0001;

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Judge")]
pub(super) struct JudgeArgs {
    /// Ask this model which answers are right, and store its verdicts in the run's folder; may be repeated for several judges.
    #[arg(long, value_name = "PROVIDER:NAME", conflicts_with = "gold", group = ASKED)]
    judge: Vec<String>,
    /// Ask this model why each wrong episode failed, and store its classes in the run's folder; the --judge-… flags below apply to it, too. May be repeated.
    #[arg(long, value_name = "PROVIDER:NAME", conflicts_with_all = ["gold", "judge"], group = ASKED)]
    classify: Vec<String>,
    /// Prompt of the judge (TOML) with {question}, {golds}, {answer} and the words of its verdicts [default: our own].
    #[arg(long, value_name = "FILE", requires = "judge", conflicts_with = "classify")]
    judge_prompt: Option<PathBuf>,
    /// Judge every answer [default: those that exact match calls wrong, and an audit of the others].
    #[arg(long, requires = "judge", conflicts_with = "classify")]
    judge_all: bool,
    /// How many of the answers that exact match calls right are judged.
    #[arg(long, value_name = "N", default_value_t = 50, requires = "judge", conflicts_with_all = ["judge_all", "classify"])]
    judge_audit: u32,
    /// Seed that chooses these.
    #[arg(long, value_name = "SEED", default_value_t = 0, requires = "judge", conflicts_with_all = ["judge_all", "classify"])]
    judge_audit_seed: u64,
    /// Stop when the judges, earlier starts included, have cost this many US dollars.
    #[arg(long, value_name = "USD", value_parser = usd, requires = ASKED)]
    judge_budget_usd: Option<f64>,
    /// Stop when the judges, earlier starts included, have used this many tokens.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..), requires = ASKED)]
    judge_budget_tokens: Option<u64>,
    /// Stop when the judges, earlier starts included, have been asked this often.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..), requires = ASKED)]
    judge_max_calls: Option<u64>,
    /// File of models' prices, in the form of `wikitrail docs prices` [default: the shipped prices] [env: `WIKITRAIL_PRICES`].
    #[arg(long, value_name = "FILE", conflicts_with = "judge_price", requires = ASKED)]
    judge_prices: Option<PathBuf>,
    /// Requests at once, as with `run --concurrency`.
    #[arg(long, value_name = "N|auto[:N]", default_value = "auto", requires = ASKED)]
    judge_concurrency: Concurrency,
    /// Maximum requests to a judge's server in any minute, retries included [default: unlimited].
    #[arg(long, value_name = "N", requires = ASKED)]
    judge_requests_per_minute: Option<NonZeroU32>,
    /// Maximum tokens of requests that begin in any minute [default: unlimited].
    #[arg(long, value_name = "N", requires = ASKED)]
    judge_tokens_per_minute: Option<NonZeroU32>,
    /// Record every reply of the judges in this file; appends to an existing recording.
    #[arg(long, value_name = "FILE", requires = ASKED, conflicts_with = "judge_replay")]
    judge_record: Option<PathBuf>,
    /// Take every reply from a recording: nothing is sent.
    #[arg(long, value_name = "FILE", requires = ASKED, conflicts_with = "judge_cache")]
    judge_replay: Option<PathBuf>,
    /// Folder that caches replies: the same request is not sent twice, for other runs too.
    #[arg(long, value_name = "DIR", requires = ASKED)]
    judge_cache: Option<PathBuf>,
    /// Show how many answers or episodes the model would be asked about and what that costs, and stop.
    #[arg(long, requires = ASKED)]
    dry_run: bool,
    #[command(flatten)]
    settings: TypedSettings<OfJudge>,
}

impl JudgeArgs {
    pub(super) fn is_any(&self) -> bool {
        !self.judge.is_empty() || !self.classify.is_empty()
    }

    fn rule(&self) -> Rule {
        let judged = if self.judge_all { Choice::All } else { Choice::WrongByEm };
        let audit = if self.judge_all { 0 } else { self.judge_audit };
        Rule { judged, audit, seed: self.judge_audit_seed }
    }

    fn settings<V: JudgeTask>(&self, models: &[String], rule: Rule) -> anyhow::Result<JudgeSettings<V>> {
        let (person, mut prices) = (config::person()?, self.judge_prices.clone());
        let mut taking = DefaultsResolver::of(&person);
        taking.prices(&mut prices, self.settings.has("price"))?;
        taking.tell();
        if self.judge_budget_usd.is_some() && self.judge_prices.is_none() {
            self.refuse_low(&person, models, prices.as_deref())?;
        }
        let (budget_usd, budget_tokens, max_calls) =
            (self.judge_budget_usd, self.judge_budget_tokens, self.judge_max_calls);
        let (concurrency, max_wait) = (self.judge_concurrency, None);
        let (requests_per_minute, tokens_per_minute) = (self.judge_requests_per_minute, self.judge_tokens_per_minute);
        let (record, replay, cache) = (self.judge_record.clone(), self.judge_replay.clone(), self.judge_cache.clone());
        Ok(JudgeSettings {
            models: models.to_vec(),
            settings: self.settings.variant()?,
            prompt: judge_prompt(self.judge_prompt.as_deref())?,
            rule,
            limits: Limits { budget_usd, budget_tokens, max_calls, prices, ..Limits::default() },
            pace: Pace { concurrency, requests_per_minute, tokens_per_minute, max_wait },
            recording: Recording { record, replay, cache },
            dry_run: self.dry_run,
        })
    }

    /// Prices of the folder's own file are no base for a limit where they are below the known ones.
    fn refuse_low(&self, person: &UserConfig, models: &[String], prices: Option<&Path>) -> anyhow::Result<()> {
        let folder = person.defaults.get("prices").map(|given| &given.by);
        let (Some(path), Some(by @ DefaultSource::Folder(..))) = (prices, folder) else { return Ok(()) };
        let settings = self.settings.variant()?;
        let asked = models.iter().fold(Experiment::over(""), |asked, model| {
            asked.variant(model, VariantSettings { model: Some(model.clone()), ..settings.clone() })
        });
        let limits = Limits { prices: Some(path.to_owned()), ..Limits::default() };
        let of_file =
            set_prices(&Experiment { limits, ..asked })?.into_iter().filter(|price| price.setting == "prices");
        let low = of_file.into_iter().find_map(|price| Some((price.low?, price.model, price.shown)));
        low.map_or(Ok(()), |(reason, model, price)| {
            let message = format!("{by} gives the price {price} for {}: {reason}", visible_line(&model, 80));
            let hint = "the budget would not hold: name the file with --judge-prices, or give --judge-price";
            Err(Failure::usage(message, hint))
        })
    }
}

fn judge_prompt<V: JudgeTask>(path: Option<&Path>) -> anyhow::Result<JudgePrompt<V>> {
    let Some(path) = path else {
        return JudgePrompt::own().map_err(|fault| Failure::unexpected(&fault, fault.hint()));
    };
    let shown = visible_line(&path.display().to_string(), 200);
    let text = File::open(path).and_then(|file| text_at_most(file, MOST_BYTES)).map_err(|error| {
        Failure::bad_input(format!("cannot read --judge-prompt `{shown}`: {error}"), "it is a TOML file in UTF-8")
    })?;
    let refused = |fault: RunError| Failure::bad_input(format!("--judge-prompt `{shown}`: {fault}"), fault.hint());
    JudgePrompt::parse(&text).map_err(refused)
}

const FAILED: Rule = Rule { judged: Choice::WrongByEm, audit: 0, seed: 0 };

/// Asks the models. The exit code so far; nothing after a dry run.
pub(super) async fn judge_run(args: &JudgeArgs, run: &Path, json: bool) -> anyhow::Result<Option<u8>> {
    let graded = GradedRun::open(run)?;
    if args.classify.is_empty() {
        let settings = args.settings::<Verdict>(&args.judge, args.rule())?;
        ask(settings, run, &answers(&graded)?, json).await
    } else {
        let settings = args.settings::<Reading>(&args.classify, FAILED)?;
        ask(settings, run, &failed_episodes(&graded)?, json).await
    }
}

async fn ask<V: JudgeTask>(
    settings: JudgeSettings<V>,
    run: &Path,
    answers: &[Answer],
    json: bool,
) -> anyhow::Result<Option<u8>> {
    let [thing, done] = V::THING;
    let judging = Judging::prepare(RunFolder::open(run)?, answers, &settings)?;
    judging.notes().for_each(say);
    let plans: Vec<JudgePlan> = judging.plans().collect();
    if settings.dry_run {
        dry_run(&plans, done, json)?;
        return Ok(None);
    }
    for plan in &plans {
        let known = if plan.known > 0 { format!(", {} {done} before", thousands(plan.known)) } else { String::new() };
        let due = counted(plan.calls, thing);
        say(format_args!("{}: {due} to be {done}{known}", visible_line(&plan.model, 80)));
    }
    let ended = judging.execute(&mut |text| say(text), &mut Interrupts::signals()).await?;
    Ok(Some(report_end(&ended, V::THING)))
}

fn report_end(ended: &JudgeEnd, [thing, done]: [&str; 2]) -> u8 {
    ended.notes.iter().for_each(say);
    let unreadable = Some(ended.unreadable).filter(|unreadable| *unreadable > 0);
    let unreadable = unreadable.map(|n| format!(", {} of them unreadable", thousands(n))).unwrap_or_default();
    say(format_args!("{} {done}{unreadable}", counted(ended.judged, thing)));
    if let End::Stopped(reason) = &ended.end {
        say(format_args!("stopped: {}", visible_line(reason, 500)));
    }
    if ended.left > 0 {
        let how = if ended.budget_spent { "go on with a larger limit" } else { "go on" };
        let left = counted(ended.left, thing);
        say(format_args!("{left} not {done} yet; {how}: {}", again(ended.budget_spent)));
    }
    match ended.end {
        End::Interrupted => failure::INTERRUPTED,
        _ if ended.left > 0 => failure::NOT_MEASURED,
        _ => failure::OK,
    }
}

/// The command that goes on: this one, with the word `LARGER` for a budget that is spent.
fn again(spent: bool) -> String {
    const BUDGETS: [&str; 3] = ["--judge-budget-usd", "--judge-budget-tokens", "--judge-max-calls"];
    let typed = without_secrets(std::env::args_os().skip(1));
    let words = words_again(&typed, if spent { &BUDGETS } else { &[] }, &[], &[]);
    format!("wikitrail {}", words.join(" "))
}

fn dry_run(plans: &[JudgePlan], done: &str, json: bool) -> anyhow::Result<()> {
    let mut out = stdout();
    if json {
        let plan = |plan: &JudgePlan| {
            json!({
                "model": plan.model, "judged_before": plan.known, "calls": plan.calls,
                "prompt_tokens": plan.usage.prompt_tokens, "most_completion_tokens": plan.usage.completion_tokens,
                "usd": plan.usd,
            })
        };
        json_line(&mut out, &json!({ "judges": plans.iter().map(plan).collect::<Vec<_>>() }))?;
        return Ok(());
    }
    for plan in plans {
        out.write_all(wrapped(&plan_line(plan, done), View::of_stdout().width, "").as_bytes())?;
    }
    Ok(())
}

fn plan_line(plan: &JudgePlan, done: &str) -> String {
    let model = visible_line(&plan.model, 80);
    let asked = format!("{model}: {}, {} {done} before", counted(plan.calls, "call"), thousands(plan.known));
    if plan.calls == 0 {
        return asked;
    }
    let usd = match plan.usd {
        None => "price unknown".to_owned(),
        Some([_, most]) if most < LEAST_USD => format!("less than {LEAST_USD} USD"),
        Some([least, most]) => format!("between {least:.4} and {most:.4} USD"),
    };
    let [prompt, replies] = [plan.usage.prompt_tokens, plan.usage.completion_tokens].map(thousands);
    format!("{asked}; about {prompt} prompt tokens, at most {replies} of replies; {usd}")
}

/// Flags of `score` for files of predictions.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Files of predictions")]
pub(super) struct PredictionFiles {
    #[arg(long, value_name = "FILE", requires_all = ["predictions", "metric"], help = format!(
        "Score --predictions against this gold file, in the dataset's own format or in ours, instead of a run. Metrics: {}", FileMetric::names()
    ))]
    gold: Option<PathBuf>,
    /// Predictions in the format of the metric's official script, or lines of `id` and `answer`.
    #[arg(long, value_name = "FILE", requires = "gold")]
    predictions: Option<PathBuf>,
    /// Aliases of entities, such as 2WikiMultiHopQA's file `id_aliases.json` (2wiki).
    #[arg(long, value_name = "FILE", requires = "gold")]
    aliases: Option<PathBuf>,
    /// Also print the scores of each question (of a run, of each episode).
    #[arg(long, help_heading = None)]
    pub(super) per_item: bool,
}

fn parse_file_metric(metric: &str) -> anyhow::Result<&'static FileMetric> {
    FileMetric::parse(metric).ok_or_else(|| {
        let what = format!("unknown metric `{}` for files of predictions", visible_line(metric, 80));
        Failure::usage(what, format!("use {}", FileMetric::names()))
    })
}

fn score_files(
    files: &PredictionFiles,
    (gold, predictions): (&Path, &Path),
    metric: &FileMetric,
) -> anyhow::Result<Report> {
    if files.aliases.is_some() && metric.name != "2wiki" {
        let what = format!("metric `{}` does not use --aliases", metric.name);
        return Err(Failure::usage(what, "omit --aliases, or use --metric 2wiki"));
    }
    let aliases = files.aliases.as_deref().map(Source::read).transpose()?;
    let (gold, predictions) = (Source::read(gold)?, Source::read(predictions)?);
    let aliases_text = aliases.as_ref().map(Source::text).transpose()?;
    let (gold_text, predictions_text) = (gold.text()?, predictions.text()?);
    let questions = || match dataset::load(&gold.name, &gold.raw, &ReadOptions::default()) {
        Ok(dataset) => Ok(dataset.questions.into_iter().map(Arc::unwrap_or_clone).collect()),
        Err(error) => Err(FileError::new(&error, error.hint())),
    };
    let aliases = aliases.as_ref().zip(aliases_text.as_ref());
    let aliases_file = aliases.map(|(file, text)| JsonFile::new(&file.name, text)).transpose()?;
    Ok(metric.score(&files::Files {
        gold: JsonFile::new(&gold.name, &gold_text)?,
        predictions: JsonFile::new(&predictions.name, &predictions_text)?,
        aliases: aliases_file,
        questions: &questions,
        per_item: files.per_item,
    })?)
}

struct Source {
    name: String,
    raw: Vec<u8>,
}

impl Source {
    fn read(path: &Path) -> anyhow::Result<Self> {
        let name = path.display().to_string();
        let raw = dataset::bytes_of(path).map_err(|error| match error.problem {
            Problem::Io(error) => Failure::bad_input(format!("cannot read `{name}`: {error}"), "check the path"),
            _ => error.into(),
        })?;
        Ok(Self { name, raw })
    }

    fn text(&self) -> anyhow::Result<std::borrow::Cow<'_, str>> {
        Ok(dataset::text_of(&self.name, &self.raw)?)
    }
}

fn print_report(report: &Report, json: bool) -> anyhow::Result<()> {
    report.notes.iter().for_each(|note| say(format!("note: {note}")));
    let none = |what: &str| report.missing.get(what).is_some_and(|count| *count == report.n);
    if none("answer") || none("prediction") {
        say("note: no question of the gold file has a prediction; do both files belong to the same split?");
    }
    let mut out = BufWriter::new(stdout());
    if json {
        json_line(&mut out, report)?;
    } else {
        write_text(report, &mut out)?;
    }
    Ok(out.flush()?)
}

fn write_text(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let noun = if report.n == 1 { "question" } else { "questions" };
    writeln!(out, "{}: {} {noun}", report.metric, report.n)?;
    let width = report.aggregate.keys().map(String::len).max().unwrap_or(0);
    for (name, value) in &report.aggregate {
        writeln!(out, "  {name:width$}  {:>8}", value_text(value))?;
    }
    for (what, count) in report.missing.iter().filter(|(_, count)| **count != 0) {
        writeln!(out, "  without {what}: {count}")?;
    }
    let Some(items) = &report.items else { return Ok(()) };
    writeln!(out)?;
    for fields in items.iter().filter_map(Value::as_object) {
        let parts: Vec<String> = fields.iter().map(|(name, value)| part(name, value)).collect();
        writeln!(out, "{}", parts.join("  "))?;
    }
    Ok(())
}

fn part(name: &str, value: &Value) -> String {
    match value {
        Value::String(text) if name == "id" => visible_line(text, 80),
        Value::Number(_) if name == "id" => value.to_string(),
        _ => format!("{name} {}", value_text(value)),
    }
}

/// Shares with four decimals, counts and the rest as they are.
fn value_text(value: &Value) -> String {
    match value {
        Value::Number(number) if number.is_f64() => format!("{:.4}", number.as_f64().unwrap_or_default()),
        other => other.to_string(),
    }
}

#[derive(Debug, clap::Args)]
pub(super) struct MetricFiles {
    /// Metric of a judge or a person to join: a CSV or JSON Lines file with `id`, `value`, and where needed `variant`, `repeat`
    /// and `run`; may be repeated [default name: that of the column].
    #[arg(long, value_name = "[NAME=]FILE")]
    metric_file: Vec<String>,
    /// Metric of your own: a program that reads episodes as JSON lines and writes {"id", "variant", "repeat", "value"}, a line
    /// each; started without a shell, may be repeated [default name: that of the program].
    #[arg(long, value_name = "[NAME=]PROGRAM")]
    metric_command: Vec<String>,
}

impl MetricFiles {
    /// The files, and the programs as far as they are files.
    pub(super) fn files(&self) -> impl Iterator<Item = &str> {
        self.metric_file.iter().chain(&self.metric_command).map(|typed| split_name(typed).1)
    }

    pub(super) fn read(&self, runs: &[&Path]) -> anyhow::Result<Vec<JoinedMetric>> {
        let mut read: Vec<JoinedMetric> = Vec::new();
        for typed in &self.metric_file {
            let (name, file) = split_name(typed);
            let bytes = bytes_of(Path::new(file)).map_err(|error| explain_metric(error, file))?;
            add_metric(&mut read, file, &bytes, name, "--metric-file")?;
        }
        for typed in &self.metric_command {
            let (name, program) = split_name(typed);
            let stem = Path::new(program).file_stem().map(|stem| stem.to_string_lossy().into_owned());
            let bytes = program_output(program, runs, &say)?;
            add_metric(&mut read, program, &bytes, name.or(stem.as_deref()), "--metric-command")?;
        }
        Ok(read)
    }
}

/// The name before a `=`, and the file or program behind it.
fn split_name(typed: &str) -> (Option<&str>, &str) {
    match typed.split_once('=').filter(|(name, _)| !name.contains('/')) {
        Some((name, file)) if !Path::new(typed).is_file() => (Some(name), file),
        _ => (None, typed),
    }
}

#[cfg(test)]
mod tests {
    use super::{Report, write_text};
    use serde_json::json;

    #[test]
    fn the_shipped_prompts_are_sound() {
        assert!(
            super::judge_prompt::<super::Verdict>(None).is_ok() && super::judge_prompt::<super::Reading>(None).is_ok()
        );
    }

    #[test]
    fn the_table_is_aligned_and_harmless() {
        let object = |value| serde_json::from_value(value).expect("an object");
        let report = Report {
            metric: "hotpot",
            n: 2,
            aggregate: object(json!({"em": 0.5, "sp_recall": 1.0})),
            official: None,
            missing: object(json!({"answer": 1, "sp": 0})),
            notes: Vec::new(),
            items: Some(vec![json!({"id": "a\u{1b}", "em": 1.0, "ok": true})]),
        };
        let mut out = Vec::new();
        write_text(&report, &mut out).expect("memory");
        assert_eq!(
            String::from_utf8(out).expect("text"),
            "hotpot: 2 questions\n  em           0.5000\n  sp_recall    1.0000\n  without answer: 1\n\n\
             a\\u{1b}  em 1.0000  ok true\n"
        );
    }
}
