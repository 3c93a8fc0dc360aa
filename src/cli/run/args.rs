//! Flags of `run`, as typed.

use crate::cli::model_args::ModelArgs;
use crate::cli::wiki_args::WikiArgs;
use std::path::PathBuf;

/// Flags of `run`.
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Args {
    #[expect(clippy::doc_markdown, reason = "this is help text, not documentation")]
    /// Dataset file: HotpotQA, FEVER, JSON Lines, CSV or TSV, also gzipped.
    #[arg(default_value = crate::cli::builtin::SAMPLE)]
    pub(super) dataset: PathBuf,
    #[command(flatten)]
    pub(super) data: DataArgs,
    #[command(flatten)]
    pub(super) prompt: PromptArgs,
    #[command(flatten)]
    pub(super) model: ModelArgs,
    #[command(flatten)]
    pub(super) decoding: DecodingArgs,
    #[command(flatten)]
    pub(super) wiki: WikiArgs,
    /// How often each question is run.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000), help_heading = "Run")]
    pub(super) repeats: u32,
    /// Model requests in flight at most.
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = clap::value_parser!(u16).range(1..), help_heading = "Run")]
    pub(super) concurrency: u16,
    /// The run's folder [default: a new one under results/].
    #[arg(long, value_name = "DIR", help_heading = "Run")]
    pub(super) out: Option<PathBuf>,
    /// Go on with the run in --out: finished episodes are kept, the rest is done.
    #[arg(long, requires = "out", help_heading = "Run")]
    pub(super) resume: bool,
    /// Say what would be run, and stop.
    #[arg(long, help_heading = "Run")]
    pub(super) dry_run: bool,
    /// Price of a million prompt tokens and a million completion tokens in US dollars, as `IN/OUT`.
    #[arg(long, value_name = "IN/OUT", value_parser = parse_price, help_heading = "Run")]
    pub(super) price: Option<crate::agent::Price>,
    /// Print the summary as JSON on stdout.
    #[arg(long, help_heading = "Run")]
    pub(super) json: bool,
    /// Show no progress.
    #[arg(long, short, help_heading = "Run")]
    pub(super) quiet: bool,
}

/// Which questions, and how the file is read.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Dataset")]
pub(super) struct DataArgs {
    /// Format of the file [default: seen from its first record].
    #[arg(long, value_name = "NAME")]
    pub(super) format: Option<String>,
    /// Leave bad records out, and say how many, instead of refusing the file.
    #[arg(long)]
    pub(super) skip_bad: bool,
    /// At most this many questions, after filters and shuffle.
    #[arg(long, value_name = "N")]
    pub(super) limit: Option<usize>,
    /// Only the questions whose ids stand in this file, one a line, in its order.
    #[arg(long, value_name = "FILE")]
    pub(super) ids: Option<PathBuf>,
    /// Only questions of these types, such as `bridge,comparison`.
    #[arg(long, value_name = "TYPE", value_delimiter = ',')]
    pub(super) types: Vec<String>,
    /// Shuffle the questions with this seed.
    #[arg(long, value_name = "SEED", conflicts_with = "shuffle_like_paper")]
    pub(super) shuffle: Option<u64>,
    /// Shuffle as Python's `random.Random(SEED).shuffle` does; the paper's seed is 233.
    #[arg(long, value_name = "SEED")]
    pub(super) shuffle_like_paper: Option<u64>,
    /// Column or key that holds the question (csv, tsv, jsonl).
    #[arg(long, value_name = "NAME")]
    pub(super) question_column: Option<String>,
    /// Column or key that holds the answer (csv, tsv, jsonl).
    #[arg(long, value_name = "NAME")]
    pub(super) answer_column: Option<String>,
    /// Column or key that holds the id (csv, tsv, jsonl).
    #[arg(long, value_name = "NAME")]
    pub(super) id_column: Option<String>,
}

/// What the agent is told, and how it talks.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Agent")]
pub(super) struct PromptArgs {
    /// Prompt file (TOML), or a key of the paper's JSON [default: prompts/hotpotqa.toml, or prompts/fever.toml for claims].
    #[arg(long, value_name = "FILE[#KEY]")]
    pub(super) prompt: Option<String>,
    /// Instruction put before the exemplars of a JSON prompt.
    #[arg(long, value_name = "FILE")]
    pub(super) instruction: Option<PathBuf>,
    /// Label before the question [default: the prompt's, else `Claim` for claims, `Question` for questions].
    #[arg(long, value_name = "LABEL")]
    pub(super) question_label: Option<String>,
    /// Use only the first N exemplars.
    #[arg(long, value_name = "N")]
    pub(super) shots: Option<usize>,
    /// How the agent talks to the model.
    #[arg(long, value_name = "ID", default_value = crate::protocol::react_paper::ID)]
    pub(super) protocol: String,
    /// Option of the protocol; react-paper has none.
    #[arg(long, value_name = "K=V")]
    pub(super) option: Vec<String>,
    /// Prompting method.
    #[arg(long, value_name = "NAME", default_value = "react")]
    pub(super) method: String,
    /// Steps before an episode ends without an answer [default: the protocol's, 7 for react-paper].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=100))]
    pub(super) max_steps: Option<u16>,
}

/// Sampling settings.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Decoding")]
pub(super) struct DecodingArgs {
    /// Sampling temperature, 0 to 2.
    #[arg(long, value_name = "T", default_value_t = 0.0, value_parser = parse_temperature)]
    pub(super) temperature: f64,
    /// Nucleus sampling mass, above 0 to 1.
    #[arg(long, value_name = "P", default_value_t = 1.0, value_parser = parse_top_p)]
    pub(super) top_p: f64,
    /// Tokens of a completion at most.
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) max_tokens: u32,
    /// Seed sent to servers that take one.
    #[arg(long, value_name = "SEED")]
    pub(super) seed: Option<u64>,
}

fn parse_number(text: &str, low: f64, high: f64, what: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if number.is_finite() && (low..=high).contains(&number) => Ok(number),
        _ => Err(what.to_owned()),
    }
}

fn parse_temperature(text: &str) -> Result<f64, String> {
    parse_number(text, 0.0, 2.0, "a temperature is a number from 0 to 2")
}

fn parse_top_p(text: &str) -> Result<f64, String> {
    parse_number(text, f64::MIN_POSITIVE, 1.0, "a nucleus mass is a number above 0 and up to 1")
}

fn parse_price(text: &str) -> Result<crate::agent::Price, String> {
    let what = "a price is two amounts such as `0.15/0.60`";
    let (prompt, completion) = text.split_once('/').ok_or(what)?;
    Ok(crate::agent::Price {
        prompt: parse_number(prompt, 0.0, 1e6, what)?,
        completion: parse_number(completion, 0.0, 1e6, what)?,
    })
}
