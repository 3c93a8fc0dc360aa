//! `export`: a run's trajectories in the formats of other programs.

use super::evidence::Evidence;
use super::failure::{self, Failure};
use super::say::say;
use crate::export::{CsvOptions, Export, ExportError, Jsonl, QuestionsCsv, Scored, StepsCsv};
use crate::score::{Assessment, Tally};
use crate::store::RunFolder;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// Flags of `export`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The run's folder.
    run: PathBuf,
    /// Format of the output.
    #[arg(long, value_enum, default_value_t = Format::Csv)]
    format: Format,
    /// What a row of the table is.
    #[arg(long, value_enum, default_value_t = Rows::Questions)]
    rows: Rows,
    /// File to write [default: stdout].
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Leave cells as they are, also those that a spreadsheet would take for a formula (csv).
    #[arg(long)]
    raw: bool,
    /// Begin with a byte order mark, for Excel (csv).
    #[arg(long)]
    bom: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// Comma-separated values after RFC 4180, UTF-8.
    Csv,
    /// One trajectory a line, with its score.
    Jsonl,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Rows {
    /// One row a question (an episode).
    Questions,
    /// One row a step.
    Steps,
}

/// Carries the command out and returns its exit code.
pub(super) fn execute(args: &Args) -> anyhow::Result<u8> {
    let folder = RunFolder::open(&args.run)?;
    let target = Target::of(args)?;
    match write(args, &folder, &target) {
        Ok(count) => {
            target.close()?;
            if let Some(path) = &args.out {
                say(format_args!("{count} episodes written to {}", path.display()));
            }
            Ok(failure::OK)
        }
        Err(error) => {
            target.give_up();
            Err(error)
        }
    }
}

/// Writes all episodes and returns their number.
fn write(args: &Args, folder: &RunFolder, target: &Target) -> anyhow::Result<usize> {
    let (manifest, records) = (folder.manifest()?, folder.records()?);
    for line in records.skipped() {
        say(format_args!("warning: {}:{}: {}; left out", line.path.display(), line.line, line.reason));
    }
    let options = CsvOptions { raw: args.raw, bom: args.bom };
    let out = target.open()?;
    let mut export: Box<dyn Export> = match (args.format, args.rows) {
        (Format::Csv, Rows::Questions) => Box::new(QuestionsCsv::new(out, options)),
        (Format::Csv, Rows::Steps) => Box::new(StepsCsv::new(out, options)),
        (Format::Jsonl, _) => Box::new(Jsonl::new(out)),
    };
    // Only the table of questions shows trajectory metrics, and reading the dataset takes time.
    let assess = (args.format, args.rows) == (Format::Csv, Rows::Questions);
    let evidence = if assess { Evidence::of(&manifest) } else { Evidence::default() };
    if let Some(note) = evidence.note() {
        say(note);
    }
    let mut tally = Tally::new(manifest.dataset.name);
    for trajectory in records.iter() {
        let trajectory = trajectory?;
        let score = tally.add(&trajectory);
        let assessment = assess.then(|| Assessment::of(&trajectory, score, evidence.get(&trajectory.id))).flatten();
        let scored = Scored { trajectory: &trajectory, score, assessment: assessment.as_ref() };
        export.write(&scored).map_err(explain)?;
    }
    export.finish().map_err(explain)?;
    Ok(records.len())
}

/// Where the export goes. A file is written beside its place and moved there when it is whole, so that a failed
/// export leaves an older one as it was.
enum Target {
    Stdout,
    File { path: PathBuf, beside: Option<PathBuf> },
}

impl Target {
    /// Refuses a place in the run's own folder where it would replace, or be read as, part of the run.
    fn of(args: &Args) -> anyhow::Result<Self> {
        let Some(path) = &args.out else { return Ok(Self::Stdout) };
        let folder = |path: &Path| path.canonicalize().ok();
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let own = name == "manifest.json"
            || name == ".lock"
            || (name.starts_with("trajectories") && path.extension().is_some_and(|extension| extension == "jsonl"));
        if own && folder(parent).is_some() && folder(parent) == folder(&args.run) {
            return Err(Failure::usage(
                format!("`{}` belongs to the run itself", path.display()),
                "name another file or another folder with --out",
            ));
        }
        // A pipe or a device is written directly.
        let plain = path.metadata().map_or(true, |metadata| metadata.is_file());
        let beside = plain.then(|| path.with_file_name(format!("{name}.part")));
        Ok(Self::File { path: path.clone(), beside })
    }

    fn open(&self) -> anyhow::Result<Box<dyn Write>> {
        match self {
            Self::Stdout => Ok(Box::new(BufWriter::new(std::io::stdout().lock()))),
            Self::File { path, beside } => {
                let file = File::create(beside.as_ref().unwrap_or(path)).map_err(|error| unwritable(path, &error))?;
                Ok(Box::new(BufWriter::new(file)))
            }
        }
    }

    /// Puts the finished file in its place.
    fn close(&self) -> anyhow::Result<()> {
        match self {
            Self::File { path, beside: Some(beside) } => {
                std::fs::rename(beside, path).map_err(|error| unwritable(path, &error))
            }
            _ => Ok(()),
        }
    }

    /// Takes half a file away after an error.
    fn give_up(&self) {
        if let Self::File { beside: Some(beside), .. } = self {
            let _ = std::fs::remove_file(beside);
        }
    }
}

fn unwritable(path: &Path, error: &std::io::Error) -> anyhow::Error {
    Failure::unexpected(
        format!("cannot write `{}`: {error}", path.display()),
        "check that the folder exists, may be written, and has space",
    )
}

fn explain(error: ExportError) -> anyhow::Error {
    match (error.hint(), error) {
        // The reader has gone; the chain is kept so that this is recognised.
        (None, ExportError::Io(error)) => error.into(),
        (Some(hint), error) => Failure::unexpected(error, hint),
    }
}
