//! The flags themselves.

use crate::cli::failure::Failure;
use crate::llm::Price;
use crate::prompt::ExemplarOrder;
use crate::types::{Method, Voting};
use clap::builder::PossibleValuesParser;
use std::path::PathBuf;

/// What the agent is told, how it talks, and how it samples.
#[derive(Debug, Clone, clap::Args)]
pub(in crate::cli) struct VariantArgs {
    #[command(flatten)]
    pub(in crate::cli) prompt: PromptArgs,
    #[command(flatten)]
    pub(in crate::cli) method: MethodArgs,
    #[command(flatten)]
    pub(in crate::cli) decoding: DecodingArgs,
}

/// The prompt and the protocol.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Agent")]
pub(in crate::cli) struct PromptArgs {
    /// Prompt file (TOML), or a key of the paper's JSON; several make a variant each [default: prompts/hotpotqa.toml; prompts/fever.toml for claims].
    #[arg(long, value_name = "FILE[#KEY]")]
    pub(in crate::cli) prompt: Vec<String>,
    /// File with the instruction before the exemplars of a JSON prompt [default: none].
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) instruction: Option<PathBuf>,
    /// File with the protocols' texts, in the form of prompts/protocols/en.toml [default: ours, in the prompt's language].
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) texts: Option<PathBuf>,
    /// Label before the question [default: the prompt's, else `Claim` for claims, `Question` for questions].
    #[arg(long, value_name = "LABEL")]
    pub(in crate::cli) question_label: Option<String>,
    /// Use only the first N exemplars of the order [default: all].
    #[arg(long, value_name = "N")]
    pub(in crate::cli) shots: Option<usize>,
    /// Order of the exemplars [default: file].
    #[arg(long, value_name = "ORDER", value_parser = PossibleValuesParser::new(ExemplarOrder::NAMES))]
    exemplar_order: Option<String>,
    /// Seed of the order `shuffled` [default: 0].
    #[arg(long, value_name = "SEED")]
    exemplar_seed: Option<u64>,
    /// How the agent talks to the model, one of those that `wikitrail prompt protocols` lists; in `run`, several joined by
    /// commas make a variant each [default: robust with a chat model, else react-paper].
    #[arg(long, value_name = "ID", value_delimiter = ',')]
    pub(in crate::cli) protocol: Vec<String>,
    /// Option of the protocol, may be given again; with several protocols `ID.K=V`. `wikitrail prompt protocols` lists
    /// them.
    #[arg(long, value_name = "K=V")]
    pub(in crate::cli) option: Vec<String>,
    /// Steps before an episode ends without an answer [default: the protocol's].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=100))]
    pub(in crate::cli) max_steps: Option<u16>,
}

impl PromptArgs {
    /// The order of the exemplars.
    pub(in crate::cli) fn order(&self) -> anyhow::Result<ExemplarOrder> {
        let order = self.exemplar_order.as_deref().unwrap_or("file");
        match (order, self.exemplar_seed) {
            ("shuffled", seed) => Ok(ExemplarOrder::Seeded(seed.unwrap_or(0))),
            (order, Some(_)) => Err(Failure::usage(
                format!("--exemplar-seed says how exemplars are shuffled, but their order is `{order}`"),
                "add --exemplar-order shuffled",
            )),
            ("reversed", None) => Ok(ExemplarOrder::Reversed),
            _ => Ok(ExemplarOrder::File),
        }
    }
}

/// The prompting method.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Method")]
pub(in crate::cli) struct MethodArgs {
    /// Prompting method: standard, cot, cot-sc, act, react, `react->cot-sc` or `cot-sc->react`; in `run`, several joined by
    /// commas make a variant each.
    #[arg(long, value_name = "NAME", value_delimiter = ',', default_value = "react")]
    pub(in crate::cli) method: Vec<String>,
    /// Samples of a vote [default: 21].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    samples: Option<u32>,
    /// Sampling temperature of a vote, 0 to 2 [default: 0.7].
    #[arg(long, value_name = "T", value_parser = parse_temperature)]
    sample_temperature: Option<f64>,
    /// Share of the samples below which `cot-sc->react` asks the agent, 0 to 1 [default: 0.5].
    #[arg(long, value_name = "SHARE", value_parser = parse_share)]
    majority: Option<f64>,
    /// Show direct methods nothing but the question, which is usual anyway.
    #[arg(long, conflicts_with = "oracle_context")]
    pub(in crate::cli) closed_book: bool,
    /// Show direct methods (standard, cot, cot-sc) the gold paragraphs of the dataset.
    #[arg(long)]
    pub(in crate::cli) oracle_context: bool,
}

impl MethodArgs {
    /// How a vote is held.
    pub(in crate::cli) fn voting(&self) -> Voting {
        let usual = Voting::default();
        Voting {
            samples: self.samples.unwrap_or(usual.samples),
            temperature: self.sample_temperature.unwrap_or(usual.temperature),
            majority: self.majority.unwrap_or(usual.majority),
        }
    }

    /// Refuses a setting that none of the methods has a use for: whoever gives it expects another run.
    pub(in crate::cli) fn suits(&self, methods: &[Method]) -> anyhow::Result<()> {
        let votes = methods.iter().any(|method| method.votes());
        let falls_back = methods.contains(&Method::CotScThenReact);
        let settings = [
            ("--samples", self.samples.is_some(), votes),
            ("--sample-temperature", self.sample_temperature.is_some(), votes),
            ("--majority", self.majority.is_some(), falls_back),
        ];
        match settings.into_iter().find(|(_, given, of_use)| *given && !of_use) {
            None => Ok(()),
            Some((flag, ..)) => Err(Failure::usage(
                format!("{flag} says how a vote is held, which no method here asks for"),
                "--samples and --sample-temperature go with cot-sc and the back-offs, --majority with `cot-sc->react`",
            )),
        }
    }
}

/// Sampling settings.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Decoding")]
pub(in crate::cli) struct DecodingArgs {
    /// Sampling temperature, 0 to 2.
    #[arg(long, value_name = "T", default_value_t = 0.0, value_parser = parse_temperature)]
    pub(in crate::cli) temperature: f64,
    /// Nucleus sampling mass, above 0 to 1.
    #[arg(long, value_name = "P", default_value_t = 1.0, value_parser = parse_top_p)]
    pub(in crate::cli) top_p: f64,
    /// Tokens of a completion at most [default: the protocol's, such as 100 for react-paper; 256 for direct methods].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(in crate::cli) max_tokens: Option<u32>,
    /// Seed sent to servers that take one; each sample of a vote adds its number to it, each repeat 1,000 [default: none].
    #[arg(long, value_name = "SEED")]
    pub(in crate::cli) seed: Option<u64>,
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

fn parse_share(text: &str) -> Result<f64, String> {
    parse_number(text, 0.0, 1.0, "a share is a number from 0 to 1")
}

fn parse_top_p(text: &str) -> Result<f64, String> {
    parse_number(text, f64::MIN_POSITIVE, 1.0, "a nucleus mass is a number above 0 and up to 1")
}

/// A price as typed: two amounts in US dollars a million tokens.
pub(in crate::cli) fn parse_price(text: &str) -> Result<Price, String> {
    let what = "a price is two amounts such as `0.15/0.60`";
    let (prompt, completion) = text.split_once('/').ok_or(what)?;
    Ok(Price { prompt: parse_number(prompt, 0.0, 1e6, what)?, completion: parse_number(completion, 0.0, 1e6, what)? })
}
