//! `export`: trajectories of one or more runs in the formats of other programs.

mod chat;
mod filter;
mod runs;

use super::failure::{self, Failure};
use super::output_file;
use super::say::say;
use crate::export::{Csv, CsvOptions, Export, ExportError, Jsonl, Origin, Scored, Table};
use crate::label::Annotations;
use crate::report::console::{binary_stdout, stdout, stdout_is_terminal};
use crate::report::counted;
use crate::run::evidence::EvidenceShelf;
use crate::run::left_out;
use crate::score::{AnswerScore, Assessment, Tally};
use crate::store::RunFolder;
use crate::types::Trajectory;
use filter::Filter;
use runs::Run;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Run folders, or folders that contain them.
    #[arg(required = true, value_name = "RUN")]
    runs: Vec<PathBuf>,
    /// Format of the output.
    #[arg(long, value_enum, default_value_t = Format::Csv)]
    format: Format,
    /// What each row is (csv, parquet).
    #[arg(long, value_enum, default_value_t = Rows::Questions)]
    rows: Rows,
    /// File to write [default: stdout].
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
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Rows {
    /// One row per question (an episode).
    Questions,
    /// One row per step.
    Steps,
}

pub(super) fn execute(args: &Args) -> anyhow::Result<u8> {
    let runs = runs::find(&args.runs)?;
    args.filter.check(&runs)?;
    check_format(args)?;
    if let Some(path) = &args.out {
        check_place(path, &runs)?;
        let count = output_file::write(path, |file| write(args, &runs, Box::new(BufWriter::new(file))))?;
        say(format_args!("{} written to {}", counted(count, "episode"), path.display()));
    } else {
        let out: Box<dyn Write + Send> = match args.format {
            Format::Parquet => Box::new(BufWriter::new(binary_stdout())),
            _ => Box::new(BufWriter::new(stdout())),
        };
        if write(args, &runs, out)? == 0 {
            say("note: no episode matches");
        }
    }
    Ok(failure::OK)
}

/// Refuses a file in the folder of one of the runs that would replace part of it, or be read as part of it.
fn check_place(path: &Path, runs: &[Run]) -> anyhow::Result<()> {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let inside = |run: &Run| {
        let folder = parent.canonicalize().ok();
        folder.is_some() && folder == run.folder.path().canonicalize().ok()
    };
    if RunFolder::is_own(&name) && runs.iter().any(inside) {
        let what = format!("`{}` belongs to the run itself", path.display());
        return Err(Failure::usage(what, "name another file or another folder with --out"));
    }
    Ok(())
}

/// Refuses a format that this build or this output cannot take.
fn check_format(args: &Args) -> anyhow::Result<()> {
    if args.with_exemplars && args.format != Format::Chat {
        return Err(Failure::usage("--with-exemplars applies to conversations only", "use it with --format chat"));
    }
    if args.format != Format::Parquet {
        return Ok(());
    }
    if cfg!(not(feature = "parquet")) {
        return Err(Failure::usage(
            "this program was built without the format parquet",
            "build it with the format: cargo install --path . --features parquet",
        ));
    }
    if args.out.is_none() && stdout_is_terminal() {
        return Err(Failure::usage("refusing to write Parquet to a terminal", "name a file with --out"));
    }
    Ok(())
}

/// Writes the matching episodes and returns their number.
fn write(args: &Args, runs: &[Run], out: Box<dyn Write + Send>) -> anyhow::Result<usize> {
    let options = CsvOptions { raw: args.raw, bom: args.bom };
    let table = if args.rows == Rows::Steps { Table::Steps } else { Table::Questions };
    let mut export: Box<dyn Export> = match args.format {
        Format::Csv => Box::new(Csv::new(out, table, options)),
        Format::Jsonl => Box::new(Jsonl::new(out)),
        Format::Chat => return chat::write(args, runs, out),
        #[cfg(feature = "parquet")]
        Format::Parquet => Box::new(crate::export::Parquet::new(out, table).map_err(explain)?),
        // `check_format` has refused it.
        #[cfg(not(feature = "parquet"))]
        Format::Parquet => return Ok(0),
    };
    let mut shelf = EvidenceShelf::default();
    let mut count = 0;
    for run in runs {
        // Only the table of questions shows trajectory metrics, and reading the dataset takes time.
        let assess = args.format != Format::Jsonl && args.rows == Rows::Questions;
        let evidence = assess.then(|| {
            let (evidence, note) = shelf.of(&run.folder, &run.manifest);
            note.iter().for_each(say);
            evidence
        });
        let annotations = Annotations::read(&run.folder)?;
        annotations.notes().for_each(say);
        let said = annotations.by_key();
        each(run, |trajectory, score| {
            if !args.filter.takes(trajectory, score) {
                return Ok(());
            }
            count += 1;
            let facts = evidence.as_deref().map(|evidence| evidence.get(&trajectory.id));
            let assessment = facts.and_then(|facts| Assessment::of(trajectory, score, facts));
            let origin = Origin::new(&run.name, &run.manifest, &trajectory.variant);
            let annotations = said.get(trajectory.key.as_str()).map(Vec::as_slice).unwrap_or_default();
            let assessment = assessment.as_ref();
            export.write(&Scored { trajectory, score, assessment, origin, annotations }).map_err(explain)
        })?;
    }
    export.finish().map_err(explain)?;
    Ok(count)
}

/// Visits every episode of a run with its score; unreadable lines are reported and skipped.
fn each(
    run: &Run,
    mut visit: impl FnMut(&Trajectory, Option<AnswerScore>) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let records = run.folder.records()?;
    left_out(&records).for_each(say);
    let mut tally = Tally::new(&*run.manifest.dataset.name);
    for trajectory in records.iter() {
        let trajectory = trajectory?;
        let score = tally.add(&trajectory);
        visit(&trajectory, score)?;
    }
    Ok(())
}

fn explain(error: ExportError) -> anyhow::Error {
    match (error.hint(), error) {
        // The chain is kept, so that a closed pipe is recognised.
        (None, ExportError::Io(error)) => error.into(),
        (Some(hint), error) => Failure::unexpected(error, hint),
    }
}
