//! `export`: trajectories of one or more runs in the formats of other programs.

mod chat;
mod earlier;
mod filter;
mod hf;
mod holdout;
mod log;
mod prompts;

use super::failure::{self, Failure};
use super::metric_files::{MetricFiles, Names, with_judges};
use super::output_file::{self, Start};
use super::say::say;
use crate::export::{
    Atif, Csv, CsvOptions, Export, ExportError, Gzip, Inspect, JsonRows, Jsonl, Layout, LogTotals, Origin, Scored,
    Table,
};
use crate::graded::{
    EpisodeName, GradedRun, JoinedMetric, JudgedRuns, NamedRun, Shelf, folder_name, judgements_of, named_runs,
};
use crate::report::console::{binary_stdout, stdout, stdout_is_terminal};
use crate::report::counted;
use crate::score::ScoredEpisode;
use crate::types::Trajectory;
use crate::types::text::visible_line;
use filter::Filter;
use prompts::Prompts;
use std::collections::{BTreeMap, HashSet};
use std::fs::File;
use std::io::{BufWriter, Write};
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
    output_file::named(args.out.as_deref()).map_or(Ok(()), output_file::refuse_file_of_run)?;
    let format = output_file::format(args.format, args.out.as_deref(), ENDINGS, Format::Csv)?;
    check_format(args, format)?;
    let judged = JudgedRuns::read(runs.iter().map(|run| run.folder.path()))?;
    let folders: Vec<&Path> = runs.iter().map(|run| run.folder.path()).collect();
    let metrics = with_judges(args.metrics.read(&folders)?, judged.metrics()?)?;
    let job = Job { args, format, runs, metrics };
    if format == Format::Inspect {
        log::header(&job)?;
    }
    let totals = job.survey()?;
    let written = job.write_out(totals)?;
    holdout::look(&job, written.looks);
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
        let mut names = Names::default();
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
        names.note_coverage(&self.metrics)?;
        Ok(totals)
    }

    /// Writes everything to its place.
    fn write_out(&self, totals: Option<LogTotals>) -> anyhow::Result<Written> {
        if self.format == Format::Hf {
            return hf::write(self);
        }
        if let Some(path) = output_file::named(self.args.out.as_deref()) {
            let is_earlier = |start: &Start| earlier::is_earlier(self, start);
            let written = earlier::output(self, path, &is_earlier).write(|file| self.write_file(path, file, totals))?;
            let shown = visible_line(&path.display().to_string(), 300);
            say(format_args!("{} written to {shown}", written.said(self)));
            if self.format == Format::Inspect {
                log::note_name(self, path);
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
            return chat::write(self, out);
        }
        self.fill(|meta| self.export(out, meta, totals))
    }

    /// Gives the matching episodes to what `open` makes of the fields of `meta`.
    fn fill<'o>(
        &self,
        open: impl FnOnce(Vec<String>) -> anyhow::Result<Box<dyn Export + 'o>>,
    ) -> anyhow::Result<Written> {
        let mut datasets = Shelf::default();
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
                    Box::new(Inspect::new(out, log::header(self)?, totals).map_err(explain)?)
                }
                Format::Atif => Box::new(Atif::new(out, metrics)),
                _ => Box::new(Jsonl::new(out, metrics)),
            });
        };
        Ok(match self.format {
            #[cfg(feature = "parquet")]
            Format::Parquet => Box::new(crate::export::Parquet::new(out, layout).map_err(explain)?),
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
