//! `dataset`: describe, convert, split and fetch dataset files.

mod convert;
mod fetch;
mod info;
mod split;

use super::flags::{OfDatasetFile, Typed};
use super::say::say;
use crate::dataset::{Dataset, ReadOptions};
use crate::runner::questions;
use std::path::PathBuf;

#[derive(Debug, clap::Subcommand)]
pub(super) enum Command {
    /// Describe a file, and list duplicates and leaked exemplars.
    Info(info::InfoArgs),
    /// Convert a file to the canonical form, one JSON object per line.
    Convert(convert::ConvertArgs),
    /// Draw a holdout: two lists of ids, for `run --ids`.
    Split(split::SplitArgs),
    /// Fetch a file from a public source, or list the sources.
    Fetch(fetch::FetchArgs),
}

#[derive(Debug, clap::Args)]
struct FileArgs {
    /// Dataset file, plain or gzipped, or a shipped sample such as datasets/sample.jsonl; `-` for standard input.
    file: PathBuf,
    #[command(flatten)]
    how: Typed<OfDatasetFile>,
}

pub(super) async fn execute(command: Command) -> anyhow::Result<u8> {
    match command {
        Command::Info(args) => info::info(&args),
        Command::Convert(args) => convert::convert(&args),
        Command::Split(args) => split::split_dataset(&args),
        Command::Fetch(args) => fetch::fetch_source(&args).await,
    }
}

impl FileArgs {
    fn load(&self) -> anyhow::Result<Dataset> {
        self.load_with(false)
    }

    /// Reads the file; records with the id of an earlier one may be left out even if bad records are not.
    fn load_with(&self, skip_repeated: bool) -> anyhow::Result<Dataset> {
        let options = ReadOptions { skip_repeated, ..questions::options(&self.how.dataset()?)? };
        let dataset = questions::load_with(&self.file, &options)?;
        let path = questions::shown(&self.file);
        dataset.notes.iter().for_each(|note| say(format_args!("note: {path}: {note}")));
        dataset.skipped.iter().for_each(|skipped| say(format_args!("skipped: {skipped}")));
        Ok(dataset)
    }
}
