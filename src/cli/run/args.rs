//! Flags of `run`, as typed.

use super::given::Given;
use super::limits::LimitArgs;
use crate::cli::dataset_args::DatasetArgs;
use crate::cli::model_args::ModelArgs;
use crate::cli::pace::PaceArgs;
use crate::cli::tape_args::TapeArgs;
use crate::cli::variant::VariantArgs;
use crate::cli::wiki_args::WikiArgs;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Flags of `run`.
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Args {
    #[command(flatten)]
    pub(super) questions: QuestionArgs,
    #[command(flatten)]
    pub(super) variant: VariantArgs,
    #[command(flatten)]
    pub(super) model: ModelArgs,
    #[command(flatten)]
    pub(super) wiki: WikiArgs,
    #[command(flatten)]
    pub(super) tape: TapeArgs,
    /// How often each question is run.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000), help_heading = "Run")]
    pub(super) repeats: u32,
    #[command(flatten)]
    pub(super) pace: PaceArgs,
    /// The run's folder [default: a new one under results/].
    #[arg(long, value_name = "DIR", help_heading = "Run")]
    pub(super) out: Option<PathBuf>,
    /// Go on with the run in --out under the same settings: measured episodes are kept, the rest is done.
    #[arg(long, requires = "out", help_heading = "Run")]
    pub(super) resume: bool,
    /// Say what would be run and what it would take, and stop.
    #[arg(long, help_heading = "Run")]
    pub(super) dry_run: bool,
    #[command(flatten)]
    pub(super) limits: LimitArgs,
    /// Print the summary as one JSON object on stdout; with --dry-run, the plan.
    #[arg(long, help_heading = "Run")]
    pub(super) json: bool,
    /// Show no progress.
    #[arg(long, short, help_heading = "Run")]
    pub(super) quiet: bool,
    /// Which of these were typed.
    #[arg(skip)]
    pub(in crate::cli) given: Given,
    /// What another command puts in the place of what the experiment file says.
    #[arg(skip)]
    pub(super) replaced: Option<Replaced>,
}

impl Args {
    /// Whether no server will be asked, so that no key is needed.
    pub(super) fn offline(&self) -> bool {
        self.dry_run || self.tape.replay.is_some()
    }

    /// Whether episodes wait for a model, as far as the flags say; an experiment's file may name models of its own.
    pub(in crate::cli) fn waits(&self) -> bool {
        self.model.model != "baseline" && !self.offline()
    }
}

/// An experiment that another command runs: what was typed there stands in place of any setting of the file.
#[derive(Debug, Clone, Default)]
pub(in crate::cli) struct Replaced {
    /// Files of datasets by the datasets' names.
    pub(in crate::cli) datasets: BTreeMap<String, PathBuf>,
}

/// The file that is run, and how it is read.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct QuestionArgs {
    #[expect(clippy::doc_markdown, reason = "this is help text, not documentation")]
    /// Dataset file: HotpotQA, FEVER, JSON Lines, CSV or TSV, also gzipped; or an experiment file (.toml), which names
    /// datasets and variants itself.
    #[arg(default_value = crate::cli::builtin::SAMPLE)]
    pub(super) dataset: PathBuf,
    #[command(flatten)]
    pub(super) data: DataArgs,
}

/// Which questions, and how the file is read.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Dataset")]
pub(super) struct DataArgs {
    #[command(flatten)]
    pub(super) how: DatasetArgs,
    /// At most this many questions, after filters and shuffle [default: all].
    #[arg(long, value_name = "N")]
    pub(super) limit: Option<usize>,
    /// Only the questions whose ids stand in this file, one a line, in its order.
    #[arg(long, value_name = "FILE")]
    pub(super) ids: Option<PathBuf>,
    /// Only questions of these types, such as `bridge,comparison`.
    #[arg(long, value_name = "TYPE", value_delimiter = ',')]
    pub(super) types: Vec<String>,
    /// Shuffle the questions with this seed [default: the file's order].
    #[arg(long, value_name = "SEED", conflicts_with = "shuffle_like_paper")]
    pub(super) shuffle: Option<u64>,
    /// Shuffle as Python's `random.Random(SEED).shuffle` does; the paper's seed is 233.
    #[arg(long, value_name = "SEED")]
    pub(super) shuffle_like_paper: Option<u64>,
}
