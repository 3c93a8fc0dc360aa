//! `dataset`: what is in a file, the same file in our canonical form, and files from public sources.

mod atomic;
mod convert;
mod fetch;
mod info;
mod leakage;
mod part_file;

use super::builtin;
use super::failure::Failure;
use super::say::say;
use crate::dataset::{self, Columns, Dataset, Format, ReadOptions};
use std::path::{Path, PathBuf};

/// Flags of `dataset`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Count what a file holds, and name duplicates and exemplars that leaked into it.
    Info(info::InfoArgs),
    /// Write a file in our canonical form, one JSON object a line.
    Convert(convert::ConvertArgs),
    /// Fetch a file from a public source, or list the sources.
    Fetch(fetch::FetchArgs),
}

/// A dataset file and how it is read.
#[derive(Debug, clap::Args)]
struct FileArgs {
    /// Dataset file, also gzipped, or a shipped sample such as datasets/sample.jsonl.
    file: PathBuf,
    /// Format of the file: hotpotqa, fever, 2wiki, musique, strategyqa, bamboogle, nq-open, triviaqa, popqa, webquestions,
    /// simpleqa, frames, jsonl, csv or tsv [default: seen from its first record].
    #[arg(long, value_name = "NAME")]
    format: Option<String>,
    /// Leave bad records out, and say how many, instead of refusing the file.
    #[arg(long)]
    skip_bad: bool,
    /// Column or key that holds the question (csv, tsv, jsonl).
    #[arg(long, value_name = "NAME")]
    question_column: Option<String>,
    /// Column or key that holds the answer (csv, tsv, jsonl).
    #[arg(long, value_name = "NAME")]
    answer_column: Option<String>,
    /// Column or key that holds the id (csv, tsv, jsonl).
    #[arg(long, value_name = "NAME")]
    id_column: Option<String>,
}

/// Carries the command out and returns its exit code.
pub(super) async fn execute(args: Args) -> anyhow::Result<u8> {
    match args.command {
        Command::Info(args) => info::execute(&args),
        Command::Convert(args) => convert::execute(&args),
        Command::Fetch(args) => fetch::execute(&args).await,
    }
}

impl FileArgs {
    /// Reads the file, or the shipped one of that name. Records that are left out are said.
    fn load(&self) -> anyhow::Result<Dataset> {
        let format = self.format.as_deref().map(format_of).transpose()?;
        let columns = Columns {
            question: self.question_column.clone(),
            answer: self.answer_column.clone(),
            id: self.id_column.clone(),
            ..Columns::default()
        };
        let options = ReadOptions { format, skip_bad: self.skip_bad, columns };
        let shown = self.file.display().to_string();
        let dataset = match builtin::file(&shown).filter(|_| !self.file.exists()) {
            Some(bytes) => dataset::load(&shown, bytes, &options)?,
            None => dataset::load_file(&self.file, &options)?,
        };
        for skipped in &dataset.skipped {
            say(format_args!("skipped: {skipped}"));
        }
        Ok(dataset)
    }
}

/// The format of that name.
pub(super) fn format_of(name: &str) -> anyhow::Result<Format> {
    Format::parse(name).ok_or_else(|| {
        let known: Vec<&str> = Format::ALL.iter().map(|format| format.name()).collect();
        Failure::usage(format!("unknown dataset format `{name}`"), format!("known formats: {}", known.join(", ")))
    })
}

/// An error of the system about a path.
fn cannot(what: &str, path: &Path, error: &std::io::Error) -> anyhow::Error {
    Failure::unexpected(
        format!("cannot {what} `{}`: {error}", path.display()),
        "check that the folder exists and may be written, and that the disk has room",
    )
}
