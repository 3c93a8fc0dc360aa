//! `export`: trajectories of one or more runs in the formats of other programs.

use super::failure::{self, Failure};
use super::output_file;
use super::say::say;
use super::score::MetricFiles;
use super::show::outcome;
use crate::analysis::export::{CsvOptions, ExportError, LogTotals, Table};
use crate::analysis::export_job::{Counts, ExportFilter, ExportFormat as Format, ExportJob, table_of};
use crate::analysis::output_file::{Force, OutputFile, Start, of_run, refuse_file_of_run};
use crate::analysis::report::console::{binary_stdout, stdout, stdout_is_terminal};
use crate::analysis::results::{JudgedRuns, named_runs, with_judges, with_recorded};
use crate::base::Outcome;
use crate::base::text::visible_line;
use clap::ValueEnum;
use clap::builder::PossibleValue;
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
    rows: Option<Table>,
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
    /// Include the exact prompt of every call: made again from the record, and held against its digest (jsonl, chat, otlp, and csv
    /// or parquet with --rows steps).
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

impl ValueEnum for Format {
    fn value_variants<'a>() -> &'a [Self] {
        &[Self::Csv, Self::Jsonl, Self::Parquet, Self::Chat, Self::Inspect, Self::Atif, Self::Hf, Self::Otlp]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let (name, help) = match self {
            Self::Csv => ("csv", "Comma-separated values (RFC 4180), UTF-8"),
            Self::Jsonl => ("jsonl", "One trajectory per line, with its score"),
            Self::Parquet => ("parquet", "Parquet with the columns of CSV, typed"),
            Self::Chat => ("chat", "Right answers as conversations for fine-tuning, one per line"),
            Self::Inspect => ("inspect", "A log of Inspect (JSON, version 2) of one variant of one run"),
            Self::Atif => ("atif", "One trajectory per line in Harbor's format ATIF"),
            Self::Otlp => ("otlp", "A trace per episode, one OTLP/JSON request per line, for OpenTelemetry"),
            Self::Hf => ("hf", "A folder for the Hugging Face Hub: questions, steps and a card"),
        };
        Some(PossibleValue::new(name).help(help))
    }
}

impl ValueEnum for Table {
    fn value_variants<'a>() -> &'a [Self] {
        &[Self::Questions, Self::Steps]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let (name, help) = match self {
            Self::Questions => ("questions", "One row per question (an episode)"),
            Self::Steps => ("steps", "One row per step"),
        };
        Some(PossibleValue::new(name).help(help))
    }
}

const ENDINGS: &[(&str, &[Format])] = &[
    (".csv", &[Format::Csv]),
    (".csv.gz", &[Format::Csv]),
    (".json", &[Format::Inspect]),
    (".jsonl", &[Format::Jsonl, Format::Chat, Format::Atif, Format::Otlp]),
    (".jsonl.gz", &[Format::Jsonl, Format::Chat, Format::Atif, Format::Otlp]),
    (".parquet", &[Format::Parquet]),
];

pub(super) fn execute(args: &Args) -> anyhow::Result<u8> {
    let runs = named_runs(&args.runs)?;
    let filter = args.filter.filter();
    filter.check(&runs)?;
    let out = output_file::file_of(args.out.as_deref());
    out.map_or(Ok(()), refuse_file_of_run)?;
    let format = output_file::format(args.format, args.out.as_deref(), ENDINGS, Format::Csv)?;
    check_format(args, format)?;
    let judged = JudgedRuns::read(runs.iter().map(|run| run.folder.path()))?;
    let folders: Vec<&Path> = runs.iter().map(|run| run.folder.path()).collect();
    let metrics = with_judges(with_recorded(args.metrics.read(&folders)?, &folders)?, judged.metrics()?)?;
    let Args { rows, raw, bom, with_exemplars, with_prompts, .. } = *args;
    let csv = CsvOptions { bom, raw };
    let job =
        ExportJob { format, rows, runs, metrics, filter, csv, with_exemplars, with_prompts, tell: &|text| say(text) };
    if format == Format::Inspect {
        job.log_header()?;
    }
    let totals = job.survey()?;
    let written = match (out, format) {
        (Some(path), Format::Hf) => job.write_hf(path).map_err(explain)?,
        (None, Format::Hf) => {
            return Err(Failure::usage("a Hugging Face dataset is a folder", "name a new one with --out"));
        }
        (Some(path), _) => write_file(args, &job, path, totals)?,
        (None, _) => write_stdout(&job, totals)?,
    };
    job.count_looks(&written);
    Ok(failure::OK)
}

fn write_file(args: &Args, job: &ExportJob<'_>, path: &Path, totals: Option<LogTotals>) -> anyhow::Result<Counts> {
    let of_runs = job.runs.iter().flat_map(|run| of_run(&run.manifest));
    let metrics = args.metrics.files().map(PathBuf::from);
    let file = OutputFile {
        path,
        what: job.what_is_earlier(),
        is_earlier: &|start: &Start| job.is_earlier(start),
        force: Force::Flag(args.force),
        inputs: of_runs.chain(metrics.map(Into::into)).collect(),
    };
    let written = output_file::write(&file, |file| job.write_file(path, file, totals).map_err(explain))?;
    let shown = visible_line(&path.display().to_string(), 300);
    say(format_args!("{} written to {shown}", written.sentence(job)));
    if job.format == Format::Inspect {
        job.log_name_note(path).iter().for_each(say);
    }
    Ok(written)
}

fn write_stdout(job: &ExportJob<'_>, totals: Option<LogTotals>) -> anyhow::Result<Counts> {
    let out: Box<dyn Write + Send> = match job.format {
        // Another program reads the cells as they are; JSON means the same where it is escaped.
        Format::Csv if !stdout_is_terminal() => Box::new(BufWriter::new(binary_stdout())),
        Format::Parquet => Box::new(BufWriter::new(binary_stdout())),
        _ => Box::new(BufWriter::new(stdout())),
    };
    let written = job.write(out, totals).map_err(explain)?;
    if written.episodes == 0 {
        say("note: no episode matches");
    }
    Ok(written)
}

/// Refuses a format that this build or this output cannot take.
fn check_format(args: &Args, format: Format) -> anyhow::Result<()> {
    let is_packed = |path: &&Path| path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("eval"));
    if let Some(path) = output_file::file_of(args.out.as_deref()).filter(is_packed)
        && format == Format::Inspect
    {
        let file = visible_line(&path.display().to_string(), 200);
        let message = format!("`{file}` ends in .eval, but --format inspect writes JSON");
        return Err(Failure::usage(message, "name a file that ends in .json; `inspect log convert` packs it"));
    }
    if args.with_exemplars && format != Format::Chat {
        return Err(Failure::usage("--with-exemplars applies to conversations only", "use it with --format chat"));
    }
    if (args.bom || args.raw) && format != Format::Csv {
        return Err(Failure::usage("--bom and --raw apply to CSV only", "remove them, or use --format csv"));
    }
    let fixed = match format {
        Format::Chat => Some("conversations"),
        Format::Inspect => Some("logs"),
        Format::Atif => Some("trajectories"),
        Format::Otlp => Some("traces"),
        Format::Hf => Some("a folder, which has both tables"),
        _ => None,
    };
    if let Some(what) = fixed.filter(|_| args.rows.is_some()) {
        let message = format!("--rows does not apply to {what}");
        return Err(Failure::usage(message, "use it with --format csv, jsonl or parquet"));
    }
    if args.with_prompts && format != Format::Hf && table_of(format, args.rows) == Some(Table::Questions) {
        let message = "--with-prompts applies to steps and to JSON: a question has several prompts";
        return Err(Failure::usage(message, "add --rows steps, or use --format jsonl without --rows, or chat"));
    }
    if format != Format::Parquet {
        return Ok(());
    }
    if cfg!(not(feature = "parquet")) {
        let message = "this program was built without the format parquet";
        return Err(Failure::usage(message, "build it with the format: cargo install --path . --features parquet"));
    }
    if output_file::file_of(args.out.as_deref()).is_none() && stdout_is_terminal() {
        return Err(Failure::usage("refusing to write Parquet to a terminal", "name a file with --out"));
    }
    Ok(())
}

fn explain(error: ExportError) -> anyhow::Error {
    match error {
        ExportError::Run(error) => error.into(),
        ExportError::Io(ref source) => match error.hint() {
            Some(hint) => Failure::unexpected(&error, hint),
            // The chain is kept, so that a closed pipe is recognised.
            None => std::io::Error::from(source.kind()).into(),
        },
    }
}

/// Flags that select episodes [default: all].
#[derive(Debug, Clone, clap::Args)]
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
    fn filter(&self) -> ExportFilter {
        let Self { variant, correct, wrong, outcome, min_f1, max_steps, clean } = self.clone();
        ExportFilter { variant, correct, wrong, outcome, min_f1, max_steps, clean }
    }
}

fn share(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number| (0.0..=1.0).contains(number));
    number.ok_or_else(|| "not a number from 0 to 1".to_owned())
}
