//! `export`: trajectories of one or more runs in the formats of other programs.

mod chat;
mod filter;
mod runs;
mod target;

use super::failure::{self, Failure};
use super::say::say;
use crate::export::{Csv, CsvOptions, Export, ExportError, Jsonl, Origin, Scored, Table};
use crate::report::counted;
use crate::run::evidence::{Evidence, EvidenceShelf};
use crate::score::{AnswerScore, Assessment, Tally};
use crate::types::Trajectory;
use filter::Filter;
use runs::Run;
use std::io::IsTerminal as _;
use std::path::PathBuf;
use target::Target;

/// Flags of `export`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Folders of runs, or folders that have such folders in them.
    #[arg(required = true, value_name = "RUN")]
    runs: Vec<PathBuf>,
    /// Format of the output.
    #[arg(long, value_enum, default_value_t = Format::Csv)]
    format: Format,
    /// What a row of a table is (csv, parquet).
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
    /// Put the exemplars into each conversation, and before the question what a prompt of one text begins with (chat).
    #[arg(long)]
    with_exemplars: bool,
    #[command(flatten)]
    filter: Filter,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// Comma-separated values after RFC 4180, UTF-8.
    Csv,
    /// One trajectory a line, with its score.
    Jsonl,
    /// Parquet with typed columns, the same as in CSV.
    Parquet,
    /// Right answers as conversations for fine-tuning, one a line.
    Chat,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Rows {
    /// One row a question (an episode).
    Questions,
    /// One row a step.
    Steps,
}

impl Rows {
    fn table(self) -> Table {
        match self {
            Self::Questions => Table::Questions,
            Self::Steps => Table::Steps,
        }
    }
}

/// Carries the command out and returns its exit code.
pub(super) fn execute(args: &Args) -> anyhow::Result<u8> {
    let runs = runs::find(&args.runs)?;
    args.filter.check(&runs)?;
    check_format(args)?;
    let target = Target::of(args.out.as_deref(), &runs)?;
    match write(args, &runs, &target) {
        Ok(count) => {
            target.close()?;
            if let Some(path) = &args.out {
                say(format_args!("{} written to {}", counted(count, "episode"), path.display()));
            } else if count == 0 {
                say("note: there is no such episode");
            }
            Ok(failure::OK)
        }
        Err(error) => {
            target.give_up();
            Err(error)
        }
    }
}

/// Refuses a format that cannot be written here.
fn check_format(args: &Args) -> anyhow::Result<()> {
    if args.with_exemplars && args.format != Format::Chat {
        return Err(Failure::usage("--with-exemplars is about conversations", "use it with --format chat"));
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
    if args.out.is_none() && std::io::stdout().is_terminal() {
        return Err(Failure::usage("Parquet is no text for a terminal", "name a file with --out"));
    }
    Ok(())
}

/// Writes the episodes that are wanted and returns their number.
fn write(args: &Args, runs: &[Run], target: &Target) -> anyhow::Result<usize> {
    let options = CsvOptions { raw: args.raw, bom: args.bom };
    let out = target.open()?;
    let table = args.rows.table();
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
            let (evidence, note) = shelf.of(&run.manifest);
            note.iter().for_each(say);
            evidence
        });
        count += write_run(run, &args.filter, evidence.as_deref(), export.as_mut())?;
    }
    export.finish().map_err(explain)?;
    Ok(count)
}

/// Writes what is wanted of one run.
fn write_run(
    run: &Run,
    filter: &Filter,
    evidence: Option<&Evidence>,
    export: &mut dyn Export,
) -> anyhow::Result<usize> {
    let mut count = 0;
    each(run, |trajectory, score| {
        if !filter.takes(trajectory, score) {
            return Ok(());
        }
        count += 1;
        let assessment = evidence.and_then(|evidence| Assessment::of(trajectory, score, evidence.get(&trajectory.id)));
        let origin = Origin::new(&run.name, &run.manifest, &trajectory.variant);
        let scored = Scored { trajectory, score, assessment: assessment.as_ref(), origin };
        export.write(&scored).map_err(explain)
    })?;
    Ok(count)
}

/// Every episode of a run with its score; lines that cannot be read are said and left out.
fn each(
    run: &Run,
    mut visit: impl FnMut(&Trajectory, Option<AnswerScore>) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let records = run.folder.records()?;
    for line in records.skipped() {
        say(format_args!("warning: {}:{}: {}; left out", line.path.display(), line.line, line.reason));
    }
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
        // The reader has gone; the chain is kept so that this is recognised.
        (None, ExportError::Io(error)) => error.into(),
        (Some(hint), error) => Failure::unexpected(error, hint),
    }
}
