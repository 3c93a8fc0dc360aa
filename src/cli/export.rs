//! `export`: trajectories of one or more runs in the formats of other programs.

use super::failure::{self, Failure};
use super::metric_files::MetricFiles;
use super::output_file;
use super::say::say;
use super::show::outcome;
use crate::analysis::export::{
    Atif, Chat, Csv, CsvOptions, Export, ExportError, Gzip, Hf, HfSource, Inspect, JsonRows, Jsonl, Layout, LogHeader,
    LogTotals, Origin, Scored, Table, header,
};
use crate::analysis::output_file::{Force, OutputFile, Start, of_run, refuse_file_of_run};
use crate::analysis::report::console::{binary_stdout, stdout, stdout_is_terminal};
use crate::analysis::report::counted;
use crate::analysis::results::{
    EpisodeName, ExportedRun, GradedRun, Holdout, JoinedMetric, JudgedRuns, Looks, NamedRun, QuestionCache,
    folder_name, judgements_of, named_runs,
};
use crate::analysis::results::{EpisodeNames, with_judges};
use crate::base::text::{shell_word, visible_line};
use crate::base::{Outcome, RebuiltPrompt, Tool, Trajectory, sha256_hex};
use crate::dataset::PUBLIC_SOURCES;
use crate::net::recording::{FolderBeside, sync_folder};
use crate::runner::agent::conversation::{Conversation, NoConversation, conversation};
use crate::runner::experiment::shipped;
use crate::runner::stored::Stored;
use crate::scoring::{AnswerScore, ScoredEpisode};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, HashSet};
use std::fs::{self, File};
use std::io::{BufWriter, Read as _, Seek as _, SeekFrom, Write};
use std::path::{Path, PathBuf};

#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(super) struct Args {
    /// Run folders, or folders that contain them.
    #[arg(required = true, value_name = "RUN")]
    runs: Vec<PathBuf>,
    /// Format of the output [default: what the ending of --out says, csv on stdout].
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// What each row is [default: questions for csv and parquet, none for jsonl, which then writes trajectories].
    #[arg(long, value_enum)]
    rows: Option<Rows>,
    /// File to write, such as x.csv, x.jsonl, x.parquet, x.csv.gz, x.jsonl.gz or x.json; a new folder for hf [default: stdout].
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Keep cells unchanged, even if a spreadsheet would run them as formulas (csv).
    #[arg(long)]
    raw: bool,
    /// Begin with a byte order mark, for Excel (csv).
    #[arg(long)]
    bom: bool,
    /// Include the exemplars in each conversation, and the text before the question of a one-text prompt (chat).
    #[arg(long)]
    with_exemplars: bool,
    /// Include the exact prompt of every call: made again from the record, and held against its digest (jsonl, chat, and csv or
    /// parquet with --rows steps).
    #[arg(long)]
    with_prompts: bool,
    /// Replace an existing file, whatever it holds [default: only an earlier export of the same kind]; never an input.
    #[arg(long, requires = "out")]
    force: bool,
    #[command(flatten)]
    metrics: MetricFiles,
    #[command(flatten)]
    filter: Filter,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// Comma-separated values (RFC 4180), UTF-8.
    Csv,
    /// One trajectory per line, with its score.
    Jsonl,
    /// Parquet with the columns of CSV, typed.
    Parquet,
    /// Right answers as conversations for fine-tuning, one per line.
    Chat,
    /// A log of Inspect (JSON, version 2) of one variant of one run.
    Inspect,
    /// One trajectory per line in Harbor's format ATIF.
    Atif,
    /// A folder for the Hugging Face Hub: questions, steps and a card.
    Hf,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Rows {
    /// One row per question (an episode).
    Questions,
    /// One row per step.
    Steps,
}

/// Endings of files, and the formats that they may have.
const ENDINGS: &[(&str, &[Format])] = &[
    (".csv", &[Format::Csv]),
    (".csv.gz", &[Format::Csv]),
    (".json", &[Format::Inspect]),
    (".jsonl", &[Format::Jsonl, Format::Chat, Format::Atif]),
    (".jsonl.gz", &[Format::Jsonl, Format::Chat, Format::Atif]),
    (".parquet", &[Format::Parquet]),
];

pub(super) fn execute(args: &Args) -> anyhow::Result<u8> {
    let runs = named_runs(&args.runs)?;
    args.filter.check(&runs)?;
    output_file::named(args.out.as_deref()).map_or(Ok(()), refuse_file_of_run)?;
    let format = output_file::format(args.format, args.out.as_deref(), ENDINGS, Format::Csv)?;
    check_format(args, format)?;
    let judged = JudgedRuns::read(runs.iter().map(|run| run.folder.path()))?;
    let folders: Vec<&Path> = runs.iter().map(|run| run.folder.path()).collect();
    let metrics = with_judges(args.metrics.read(&folders)?, judged.metrics()?)?;
    let job = Job { args, format, runs, metrics };
    if format == Format::Inspect {
        log_header(&job)?;
    }
    let totals = job.survey()?;
    let written = job.write_out(totals)?;
    count_looks(&job, written.looks);
    Ok(failure::OK)
}

/// What is exported, and how.
struct Job<'a> {
    args: &'a Args,
    format: Format,
    runs: Vec<NamedRun>,
    metrics: Vec<JoinedMetric>,
}

/// What was written.
#[derive(Debug, Default)]
struct Written {
    episodes: usize,
    steps: usize,
    /// What of each run was written whose questions may be those of a holdout, by its place among the runs.
    looks: BTreeMap<usize, Look>,
}

/// Names of the variants and ids of the questions.
#[derive(Debug, Default)]
struct Look {
    variants: HashSet<String>,
    ids: HashSet<String>,
}

impl Written {
    /// Notes an episode of a run that matches.
    fn see(&mut self, at: usize, run: &NamedRun, trajectory: &Trajectory) {
        if run.manifest.dataset.ids_file.is_none() {
            return;
        }
        let look = self.looks.entry(at).or_default();
        if !look.variants.contains(&trajectory.variant) {
            look.variants.insert(trajectory.variant.clone());
        }
        look.ids.insert(trajectory.id.clone());
    }

    fn said(&self, job: &Job<'_>) -> String {
        let episodes = counted(self.episodes, "episode");
        match job.format {
            Format::Chat => counted(self.episodes, "conversation"),
            _ if job.table() == Some(Table::Steps) => format!("{} of {episodes}", counted(self.steps, "step")),
            _ => episodes,
        }
    }
}

/// Refuses a format that this build or this output cannot take.
fn check_format(args: &Args, format: Format) -> anyhow::Result<()> {
    if args.with_exemplars && format != Format::Chat {
        return Err(Failure::usage("--with-exemplars applies to conversations only", "use it with --format chat"));
    }
    let fixed = match format {
        Format::Chat => Some("conversations"),
        Format::Inspect => Some("logs"),
        Format::Atif => Some("trajectories"),
        Format::Hf => Some("a folder, which has both tables"),
        _ => None,
    };
    if let Some(what) = fixed.filter(|_| args.rows.is_some()) {
        let message = format!("--rows does not apply to {what}");
        return Err(Failure::usage(message, "use it with --format csv, jsonl or parquet"));
    }
    if args.with_prompts && format != Format::Hf && table(args, format) == Some(Table::Questions) {
        return Err(Failure::usage(
            "--with-prompts applies to steps and to JSON: a question has several prompts",
            "add --rows steps, or use --format jsonl without --rows, or chat",
        ));
    }
    if format != Format::Parquet {
        return Ok(());
    }
    if cfg!(not(feature = "parquet")) {
        return Err(Failure::usage(
            "this program was built without the format parquet",
            "build it with the format: cargo install --path . --features parquet",
        ));
    }
    if output_file::named(args.out.as_deref()).is_none() && stdout_is_terminal() {
        return Err(Failure::usage("refusing to write Parquet to a terminal", "name a file with --out"));
    }
    Ok(())
}

/// The table that is exported, of two the one with more in it; none where trajectories or conversations are.
fn table(args: &Args, format: Format) -> Option<Table> {
    match (format, args.rows) {
        (Format::Chat | Format::Inspect | Format::Atif, _) | (Format::Jsonl, None) => None,
        (_, Some(Rows::Steps)) => Some(Table::Steps),
        _ => Some(Table::Questions),
    }
}

impl Job<'_> {
    fn table(&self) -> Option<Table> {
        table(self.args, self.format)
    }

    /// Whether rows show what the datasets say; reading them takes time.
    fn shows_questions(&self) -> bool {
        self.table() == Some(Table::Questions) || self.format == Format::Inspect
    }

    /// Reads all episodes before any is written, where that is needed: says for which the metrics from files have no value,
    /// and counts what a log of Inspect says before its samples.
    fn survey(&self) -> anyhow::Result<Option<LogTotals>> {
        let mut totals = (self.format == Format::Inspect).then(|| LogTotals::new(self.metric_names()));
        if totals.is_none() && self.metrics.is_empty() {
            return Ok(None);
        }
        let mut names = EpisodeNames::default();
        for run in &self.runs {
            let folder = folder_name(run.folder.path());
            for episode in GradedRun::without_questions(&run.folder, &run.manifest)?.scores() {
                let episode = episode?;
                names.add(&folder, &episode.trajectory);
                if let Some(totals) = totals.as_mut().filter(|_| self.args.filter.takes(&episode)) {
                    totals.add(&episode, &self.metric_values(&folder, &episode.trajectory));
                }
            }
        }
        names.coverage(&self.metrics)?.iter().for_each(say);
        Ok(totals)
    }

    /// Writes everything to its place.
    fn write_out(&self, totals: Option<LogTotals>) -> anyhow::Result<Written> {
        if self.format == Format::Hf {
            return write_hf(self);
        }
        if let Some(path) = output_file::named(self.args.out.as_deref()) {
            let is_earlier = |start: &Start| is_earlier_export(self, start);
            let written =
                output_file::write(&output_of(self, path, &is_earlier), |file| self.write_file(path, file, totals))?;
            let shown = visible_line(&path.display().to_string(), 300);
            say(format_args!("{} written to {shown}", written.said(self)));
            if self.format == Format::Inspect {
                note_log_name(self, path);
            }
            Ok(written)
        } else {
            let out: Box<dyn Write + Send> = match self.format {
                Format::Parquet => Box::new(BufWriter::new(binary_stdout())),
                _ => Box::new(BufWriter::new(stdout())),
            };
            let written = self.write(out, totals)?;
            if written.episodes == 0 {
                say("note: no episode matches");
            }
            Ok(written)
        }
    }

    /// Writes a file, packed if its name says so.
    fn write_file(&self, path: &Path, file: File, totals: Option<LogTotals>) -> anyhow::Result<Written> {
        if !path.to_string_lossy().to_lowercase().ends_with(".gz") {
            return self.write(Box::new(BufWriter::new(file)), totals);
        }
        let mut packed = Gzip::new(file);
        let written = self.write(Box::new(&mut packed), totals)?;
        packed.finish().map_err(explain)?;
        Ok(written)
    }

    /// Writes the matching episodes.
    fn write<'o>(&'o self, out: Box<dyn Write + Send + 'o>, totals: Option<LogTotals>) -> anyhow::Result<Written> {
        if self.format == Format::Chat {
            return write_chat(self, out);
        }
        self.fill(|meta| self.export(out, meta, totals))
    }

    /// Gives the matching episodes to what `open` makes of the fields of `meta`.
    fn fill<'o>(
        &self,
        open: impl FnOnce(Vec<String>) -> anyhow::Result<Box<dyn Export + 'o>>,
    ) -> anyhow::Result<Written> {
        let mut datasets = QuestionCache::default();
        let mut questions = Vec::new();
        for run in self.runs.iter().filter(|_| self.shows_questions()) {
            let (of_run, note) = datasets.of(&run.folder, &run.manifest);
            note.iter().for_each(say);
            questions.push(of_run);
        }
        datasets.left_out().iter().for_each(say);
        let mut export = open(datasets.meta().to_vec())?;
        let mut written = Written::default();
        for (at, run) in self.runs.iter().enumerate() {
            let questions = questions.get(at);
            let folder = folder_name(run.folder.path());
            let mut prompts = Prompts::of(self, run)?;
            let (annotations, readings) = judgements_of(&run.folder)?;
            annotations.notes().chain(readings.notes()).for_each(say);
            let said = annotations.by_key();
            each(run, |episode| {
                if !self.args.filter.takes(&episode) {
                    return Ok(());
                }
                written.see(at, run, &episode.trajectory);
                let episode = match questions {
                    Some(questions) => {
                        let gold = questions.evidence.get(&episode.trajectory.id);
                        &episode.assessed(gold)
                    }
                    None => &episode,
                };
                let trajectory = &episode.trajectory;
                written.episodes += 1;
                written.steps += trajectory.steps.len();
                let metrics = self.metric_values(&folder, trajectory);
                let scored = Scored {
                    episode,
                    fields: questions.map_or(&[], |questions| questions.fields(&trajectory.id)),
                    metrics: &metrics,
                    prompts: &prompts.of_episode(trajectory)?,
                    origin: Origin::new(&run.name, &run.manifest, &trajectory.variant),
                    annotations: said.get(trajectory.key.as_str()).map(Vec::as_slice).unwrap_or_default(),
                };
                export.write(&scored).map_err(explain)
            })?;
            prompts.note();
        }
        export.finish().map_err(explain)?;
        Ok(written)
    }

    /// The table that is exported, where one is, of questions with these further fields.
    fn layout(&self, meta: Vec<String>) -> Option<Layout> {
        let (metrics, prompts) = (self.metric_names(), self.args.with_prompts);
        self.table().map(|table| Layout { table, meta, metrics, prompts })
    }

    /// The names of the metrics from files.
    fn metric_names(&self) -> Vec<String> {
        self.metrics.iter().map(|metric| metric.name.clone()).collect()
    }

    /// What these say of an episode, in the same order.
    fn metric_values(&self, folder: &str, trajectory: &Trajectory) -> Vec<Option<f64>> {
        let name = EpisodeName::of(folder, trajectory);
        self.metrics.iter().map(|metric| metric.value(name)).collect()
    }

    fn export<'o>(
        &'o self,
        out: Box<dyn Write + Send + 'o>,
        meta: Vec<String>,
        totals: Option<LogTotals>,
    ) -> anyhow::Result<Box<dyn Export + 'o>> {
        let metrics = self.metric_names();
        let Some(layout) = self.layout(meta) else {
            return Ok(match self.format {
                Format::Inspect => {
                    let totals = totals.unwrap_or_else(|| LogTotals::new(Vec::new()));
                    Box::new(Inspect::new(out, log_header(self)?, totals).map_err(explain)?)
                }
                Format::Atif => Box::new(Atif::new(out, metrics)),
                _ => Box::new(Jsonl::new(out, metrics)),
            });
        };
        Ok(match self.format {
            #[cfg(feature = "parquet")]
            Format::Parquet => Box::new(crate::analysis::export::Parquet::new(out, layout).map_err(explain)?),
            Format::Jsonl => Box::new(JsonRows::new(out, layout)),
            // `check_format` has refused Parquet without its feature, and conversations are written elsewhere.
            _ => Box::new(Csv::new(out, layout, CsvOptions { raw: self.args.raw, bom: self.args.bom })),
        })
    }
}

/// Visits every episode of a run with its score; unreadable lines are reported and skipped.
fn each(run: &NamedRun, mut visit: impl FnMut(ScoredEpisode) -> anyhow::Result<()>) -> anyhow::Result<()> {
    let records = GradedRun::without_questions(&run.folder, &run.manifest)?;
    records.notes.iter().for_each(say);
    records.scores().try_for_each(|episode| visit(episode?))
}

fn explain(error: ExportError) -> anyhow::Error {
    match (error.hint(), error) {
        // The chain is kept, so that a closed pipe is recognised.
        (None, ExportError::Io(error)) => error.into(),
        (Some(hint), error) => Failure::unexpected(error, hint),
    }
}

/// Flags that select episodes [default: all].
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Which episodes")]
struct Filter {
    /// Only episodes of these variants, separated by commas.
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    variant: Vec<String>,
    /// Only episodes with a right answer (EM 1).
    #[arg(long, conflicts_with = "wrong")]
    correct: bool,
    /// Only scored episodes with a wrong answer.
    #[arg(long)]
    wrong: bool,
    /// Only episodes with these outcomes, separated by commas.
    #[arg(long, value_name = "NAME", value_delimiter = ',', value_parser = outcome())]
    outcome: Vec<Outcome>,
    /// Only scored episodes with at least this F1, 0 to 1.
    #[arg(long, value_name = "X", value_parser = share)]
    min_f1: Option<f64>,
    /// Only episodes whose agent took at most N steps.
    #[arg(long, value_name = "N")]
    max_steps: Option<usize>,
    /// Only episodes without repairs and without replies that name no tool.
    #[arg(long)]
    clean: bool,
}

impl Filter {
    /// Refuses a variant that no run has.
    fn check(&self, runs: &[NamedRun]) -> anyhow::Result<()> {
        let mut known: Vec<&str> =
            runs.iter().flat_map(|run| &run.manifest.variants).map(|variant| variant.name.as_str()).collect();
        known.sort_unstable();
        known.dedup();
        match self.variant.iter().find(|name| !known.contains(&name.as_str())) {
            None => Ok(()),
            Some(name) => Err(Failure::usage(
                format!("--variant: there is no variant `{name}`"),
                format!("the variants are {}", known.join(", ")),
            )),
        }
    }

    /// The variants that are named; all if none is.
    fn variants(&self) -> &[String] {
        &self.variant
    }

    /// Whether the flags select among the episodes of a variant.
    fn is_partial(&self) -> bool {
        self.names_a_score() || !self.outcome.is_empty() || self.max_steps.is_some() || self.clean
    }

    /// Whether the flags select by score; otherwise a format may.
    fn names_a_score(&self) -> bool {
        self.correct || self.wrong || self.min_f1.is_some()
    }

    fn takes(&self, ScoredEpisode { trajectory, score, .. }: &ScoredEpisode) -> bool {
        (self.variant.is_empty() || self.variant.contains(&trajectory.variant))
            && (self.outcome.is_empty() || self.outcome.contains(&trajectory.outcome))
            && (!self.correct || score.is_some_and(is_right))
            && (!self.wrong || score.is_some_and(|score| !is_right(score)))
            && self.min_f1.is_none_or(|least| score.is_some_and(|score| score.f1 >= least))
            && self.max_steps.is_none_or(|most| trajectory.has_steps() && trajectory.agent_steps().count() <= most)
            && (!self.clean || is_clean(trajectory))
    }
}

#[expect(clippy::float_cmp, reason = "EM is exactly 0 or 1")]
fn is_right(score: AnswerScore) -> bool {
    score.em == 1.0
}

fn is_clean(trajectory: &Trajectory) -> bool {
    trajectory.has_steps()
        && trajectory.repairs.is_empty()
        && trajectory.steps.iter().all(|step| step.tool != Some(Tool::Invalid))
}

fn share(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number| (0.0..=1.0).contains(number));
    number.ok_or_else(|| "not a number from 0 to 1".to_owned())
}

/// The prompts of one run, if they are exported. Without `--with-prompts` they are left out where they cannot be made again.
struct Prompts<'a> {
    run: &'a NamedRun,
    needed: bool,
    stored: Option<Stored>,
    calls: usize,
    /// Calls whose prompt cannot be made again as it was sent.
    missing: usize,
}

impl<'a> Prompts<'a> {
    fn of(job: &Job<'_>, run: &'a NamedRun) -> anyhow::Result<Self> {
        let (needed, has_place) = (job.args.with_prompts, matches!(job.format, Format::Inspect | Format::Atif));
        let mut stored = (needed || has_place).then(|| Stored::of(&run.folder, &run.manifest)).transpose();
        if let Err(error) = &stored
            && !needed
        {
            let why = visible_line(&error.to_string(), 300);
            say(format_args!("note: {}: prompts are left out, as they cannot be made again: {why}", run.name));
            stored = Ok(None);
        }
        Ok(Self { run, needed, stored: stored?, calls: 0, missing: 0 })
    }

    fn of_episode(&mut self, trajectory: &Trajectory) -> anyhow::Result<Vec<RebuiltPrompt>> {
        let Some(stored) = &self.stored else { return Ok(Vec::new()) };
        let prompts = match stored.prompts(trajectory) {
            Err(error) if self.needed => return Err(error.into()),
            prompts => prompts.unwrap_or_default(),
        };
        self.calls += prompts.len();
        self.missing += prompts.iter().filter(|prompt| !prompt.same).count();
        Ok(prompts)
    }

    /// Says how many prompts are missing.
    fn note(&self) {
        if self.missing > 0 {
            say(format_args!(
                "note: {}: {} of {} cannot be made again as they were sent; `wikitrail replay` says what differs",
                self.run.name,
                self.missing,
                counted(self.calls, "prompt")
            ));
        }
    }
}

/// Writes the matching conversations. Episodes that give none are counted and reported.
fn write_chat(job: &Job<'_>, out: impl Write) -> anyhow::Result<Written> {
    let args = job.args;
    let mut chat = Chat::new(out);
    let (mut read, mut not_right) = (0_usize, 0_usize);
    let mut left_out: BTreeMap<NoConversation, usize> = BTreeMap::new();
    let mut written = Written::default();
    for (at, run) in job.runs.iter().enumerate() {
        let stored = Stored::of(&run.folder, &run.manifest)?;
        let mut prompts = Prompts::of(job, run)?;
        each(run, |episode| {
            let trajectory = &episode.trajectory;
            // Wrong answers are exported only on request.
            let right = args.filter.names_a_score() || episode.score.is_some_and(is_right);
            let taken = args.filter.takes(&episode);
            read += 1;
            if taken {
                written.see(at, run, trajectory);
                not_right += usize::from(!right);
            }
            if !right || !taken {
                return Ok(());
            }
            let (approach, question) = (stored.approach(trajectory)?, stored.question(trajectory));
            match conversation(trajectory, &question, &approach, args.with_exemplars) {
                Ok(Conversation { turns, functions }) => {
                    written.episodes += 1;
                    let turns = turns.iter().map(|said| (&said.message, said.learn));
                    let more = if args.with_prompts {
                        prompt_fields(trajectory, &prompts.of_episode(trajectory)?)
                    } else {
                        Map::new()
                    };
                    chat.write(turns, functions.as_deref(), more).map_err(explain)
                }
                Err(reason) => {
                    *left_out.entry(reason).or_default() += 1;
                    Ok(())
                }
            }
        })?;
        prompts.note();
    }
    chat.finish().map_err(explain)?;
    if not_right > 0 {
        let episodes = counted(not_right, "episode");
        let what = if not_right == read {
            format!("no right answer among {episodes}")
        } else {
            format!("{episodes} without a right answer are not written")
        };
        say(format_args!("note: {what}; add --wrong, or --min-f1 0 for all with a score"));
    }
    for (reason, count) in left_out {
        say(format_args!("note: {count} left out: {reason}"));
    }
    Ok(written)
}

/// Which episode it is, and the prompts of its calls.
fn prompt_fields(trajectory: &Trajectory, prompts: &[RebuiltPrompt]) -> Map<String, Value> {
    let prompts = prompts.iter().map(RebuiltPrompt::to_json).collect();
    let fields = [
        ("id", json!(trajectory.id)),
        ("variant", json!(trajectory.variant)),
        ("repeat", json!(trajectory.repeat)),
        ("prompts", Value::Array(prompts)),
    ];
    fields.map(|(name, value)| (name.to_owned(), value)).into_iter().collect()
}

/// What the log says of its episodes together. Several runs or variants are refused.
fn log_header<'a>(job: &'a Job<'_>) -> anyhow::Result<LogHeader<'a>> {
    let [run] = &job.runs[..] else {
        let folder = job.runs.first().map(|run| run.folder.path().display().to_string()).unwrap_or_default();
        return Err(Failure::usage(
            "a log of Inspect is of one run, and here are several",
            format!("name one of them, such as {}", shell_word(&visible_line(&folder, 300))),
        ));
    };
    let filter = &job.args.filter;
    let known: Vec<&str> = run.manifest.variants.iter().map(|variant| variant.name.as_str()).collect();
    let wanted: Vec<&str> = filter.variants().iter().map(String::as_str).collect();
    let (([name], _) | ([], [name])) = (&wanted[..], &known[..]) else {
        let names: Vec<String> = known.iter().map(|name| shell_word(&visible_line(name, 80))).collect();
        return Err(Failure::usage(
            "a log of Inspect is of one variant, and here are several",
            format!("name one with --variant: {}", names.join(", ")),
        ));
    };
    let variant = run.manifest.variants.iter().find(|variant| variant.name == *name);
    let planned = variant.filter(|_| !filter.is_partial()).map(|variant| run.manifest.planned(variant));
    Ok(LogHeader { origin: Origin::new(&run.name, &run.manifest, name), planned })
}

/// `inspect view DIR` lists a JSON log only if its name begins with a time; says which one would do.
fn note_log_name(job: &Job<'_>, path: &Path) {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let shape = |at: usize, c: char| match at {
        4 | 7 => c == '-',
        10 => c == 'T',
        13 | 16 => matches!(c, '-' | ':'),
        _ => c.is_ascii_digit(),
    };
    let is_timed = name.chars().count() > 19 && name.chars().take(19).enumerate().all(|(at, c)| shape(at, c));
    let Some(run) = job.runs.first().filter(|_| !is_timed) else { return };
    let time: String = run.manifest.started_at.chars().take(19).map(|c| if c == ':' { '-' } else { c }).collect();
    let better = visible_line(&format!("{time}_{name}"), 200);
    say(format_args!(
        "note: a folder's list in `inspect view` has JSON logs whose names begin with a time, such as {better}"
    ));
}

/// Writes a new folder beside its place and gives it its name when it is whole.
fn write_hf(job: &Job<'_>) -> anyhow::Result<Written> {
    let Some(path) = output_file::named(job.args.out.as_deref()) else {
        return Err(Failure::usage("a Hugging Face dataset is a folder", "name a new one with --out"));
    };
    let shown = shell_word(&visible_line(&path.display().to_string(), 300));
    if path.exists() && !is_empty_folder(path) {
        return Err(Failure::usage(format!("{shown} is there already"), "name a new folder with --out"));
    }
    let cannot = |error: std::io::Error| {
        let hint = "check that the folder above it is writable and has space";
        Failure::unexpected(format!("cannot write {shown}: {error}"), hint)
    };
    let beside = FolderBeside::create(path).map_err(cannot)?;
    let written = fill_hf(job, beside.path())?;
    for left in &beside.doubtful {
        let left = shell_word(&visible_line(&left.display().to_string(), 300));
        say(format_args!("note: {left} may be left by a process that was killed; remove it if none is running"));
    }
    beside.rename(path).map_err(cannot)?;
    sync_folder(path);
    say(format_args!("{} written to {shown}", written.said(job)));
    say(format_args!("next:\n  hf upload USER/NAME {shown} . --repo-type dataset"));
    Ok(written)
}

fn is_empty_folder(path: &Path) -> bool {
    fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none())
}

fn fill_hf(job: &Job<'_>, folder: &Path) -> anyhow::Result<Written> {
    let sources: Vec<HfSource<'_>> = job.runs.iter().map(hf_source).collect();
    job.fill(|meta| {
        let hf = Hf::new(folder, sources, meta, job.metric_names(), job.args.with_prompts).map_err(explain)?;
        Ok(Box::new(hf))
    })
}

/// The terms of a run's questions: those of a public file with these bytes, or with this name where a publisher gives no such
/// digest, or our own of a shipped sample.
fn hf_source(run: &NamedRun) -> HfSource<'_> {
    let dataset = &run.manifest.dataset;
    let file = Path::new(&dataset.path).file_name().unwrap_or_default();
    let is_public = |digest: Option<&str>, name: &str| match digest {
        Some(digest) => digest == dataset.sha256,
        None => file == name,
    };
    let public = PUBLIC_SOURCES.iter().find(|source| is_public(source.sha256, source.file));
    let is_ours = || shipped::file(&dataset.path).is_some_and(|bytes| sha256_hex([bytes]) == dataset.sha256);
    let licence = match public {
        Some(source) => Some((source.licence, source.url)),
        None => is_ours().then_some(("MIT OR Apache-2.0", "wikitrail, which ships them as a sample")),
    };
    HfSource { run: &run.name, manifest: &run.manifest, licence }
}

/// Counts the export of a holdout run as a look at the holdout, as the file holds its scores, and says the number of looks.
fn count_looks(job: &Job<'_>, looks: BTreeMap<usize, Look>) {
    let exported = looks.into_iter().filter_map(|(at, Look { variants, ids })| {
        let manifest = &job.runs[at].manifest;
        let variants: Vec<_> = manifest.variants.iter().filter(|variant| variants.contains(&variant.name)).collect();
        (!variants.is_empty()).then_some(ExportedRun { manifest, variants, ids })
    });
    let runs: Vec<ExportedRun<'_>> = exported.collect();
    let (looks, mut warnings) = Holdout::exported(&runs);
    for mut look in looks {
        let list = visible_line(&look.list, 200);
        say(format_args!("note: this export is a look at the holdout `{list}`"));
        say(visible_line(&Looks::sentence(&look), 500));
        warnings.append(&mut look.warnings);
        warnings.extend(look.note());
    }
    for warning in &warnings {
        say(format_args!("warning: {}", visible_line(warning, 500)));
    }
}

/// What `write` is given.
fn output_of<'a>(job: &'a Job<'_>, path: &'a Path, is_earlier: &'a dyn Fn(&Start) -> bool) -> OutputFile<'a> {
    let of_runs = job.runs.iter().flat_map(|run| of_run(&run.manifest));
    let metrics = job.args.metrics.files().map(PathBuf::from);
    let force = Force::Flag(job.args.force);
    OutputFile {
        path,
        what: what_is_earlier(job),
        is_earlier,
        force,
        inputs: of_runs.chain(metrics.map(Into::into)).collect(),
    }
}

fn what_is_earlier(job: &Job<'_>) -> &'static str {
    match (job.format, job.table().is_some()) {
        (Format::Chat, _) => "an earlier export of these runs as conversations",
        (Format::Inspect, _) => "a log that wikitrail export wrote",
        (Format::Atif, _) => "an earlier export of trajectories in ATIF",
        (_, true) => "an earlier export of the same table",
        (_, false) => "an earlier export of trajectories",
    }
}

/// Whether a file that begins like this is an earlier export in the same format.
fn is_earlier_export(job: &Job<'_>, start: &Start) -> bool {
    let layout = || job.layout(Vec::new());
    match (job.format, layout()) {
        (Format::Parquet, _) => is_own_parquet(start.path()).unwrap_or(false),
        (Format::Chat, _) => is_conversation_of(job, start).unwrap_or(false),
        (Format::Atif, _) => {
            start.line().starts_with(r#"{"schema_version":"ATIF-"#)
                && Value::Object(start.object())["agent"]["name"] == "wikitrail"
        }
        (Format::Inspect, _) => {
            start.line().starts_with(r#"{"version":2,"status":"#) && start.line().contains(r#""task":"wikitrail/"#)
        }
        (Format::Jsonl, Some(layout)) => layout.is_header(&start.object().keys().cloned().collect::<Vec<_>>()),
        (Format::Jsonl, None) => {
            let object = start.object();
            ["v", "id", "variant", "steps", "key", "run", "score"].iter().all(|name| object.contains_key(*name))
        }
        (_, Some(layout)) => layout.is_header(&header(start.line())),
        (_, None) => false,
    }
}

/// Our name is in the footer, as the program that wrote the file.
fn is_own_parquet(path: &Path) -> std::io::Result<bool> {
    const LAST: u64 = 512;
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(LAST)))?;
    let mut end = Vec::new();
    file.take(LAST).read_to_end(&mut end)?;
    Ok(end.ends_with(b"PAR1") && end.windows(10).any(|bytes| bytes == b"wikitrail "))
}

/// Other programs write conversations in the same form, so it is the question that counts.
fn is_conversation_of(job: &Job<'_>, start: &Start) -> anyhow::Result<bool> {
    let object = start.object();
    let Some(Value::Array(messages)) = object.get("messages") else { return Ok(false) };
    let said: Vec<&str> = messages.iter().filter_map(|message| message["content"].as_str()).collect();
    for run in &job.runs {
        for trajectory in run.folder.records()?.iter() {
            let question = trajectory?.question;
            if !question.is_empty() && said.iter().any(|said| said.contains(&question)) {
                return Ok(true);
            }
        }
    }
    Ok(false)
}
