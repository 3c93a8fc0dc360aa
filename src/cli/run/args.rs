//! Flags of `run`, as typed.

use crate::cli::defaults::{Takes, Taking};
use crate::cli::explicit_args::ExplicitArgs;
use crate::cli::flags::{OfDataset, OfVariant, Typed};
use crate::experiment::{Concurrency, ExperimentFile, Limits, Pace, Recording, shipped};
use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Longest value of `--max-wait`.
const LONGEST_WAIT: Duration = Duration::from_hours(24 * 30);

#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
#[derive(Debug, Clone, clap::Args)]
pub(in crate::cli) struct Args {
    #[expect(clippy::doc_markdown, reason = "this is help text, not documentation")]
    /// Dataset file: HotpotQA, FEVER, JSON Lines, CSV or TSV, also gzipped; `-` for standard input; or an experiment file
    /// (.toml), which names datasets and variants itself.
    #[arg(default_value = shipped::SAMPLE)]
    pub(super) dataset: PathBuf,
    #[command(flatten)]
    pub(super) data: Typed<OfDataset>,
    #[command(flatten)]
    pub(super) variant: Typed<OfVariant>,
    #[command(flatten)]
    pub(in crate::cli) recording: RecordingArgs,
    /// How often each question is asked under each variant [default: 1].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000), help_heading = "Run")]
    pub(super) repeats: Option<u32>,
    /// Stop as soon as it is decided which of two variants is better, such as "decided(em, react, act)": looks after every
    /// question without more false decisions than its level, 0.05, or one that is given as in decided(f1, react, act, 0.01).
    /// Questions are shuffled. Metrics are em, f1, precision and recall.
    #[arg(long, value_name = "RULE", help_heading = "Run")]
    pub(super) stop_when: Option<String>,
    #[command(flatten)]
    pub(super) pace: PaceArgs,
    /// The run's folder [default: a new one under results/, or below `WIKITRAIL_RESULTS`].
    #[arg(long, value_name = "DIR", help_heading = "Run")]
    pub(super) out: Option<PathBuf>,
    /// Resume the run in --out under the same settings: measured episodes are kept, the rest is done.
    #[arg(long, requires = "out", help_heading = "Run")]
    pub(super) resume: bool,
    /// When the run ends, also by Ctrl-C, write it as a page to this file; see `wikitrail report`.
    #[arg(long, value_name = "FILE", help_heading = "Run")]
    pub(super) report: Option<PathBuf>,
    /// Run one of N parts of the questions: the I-th, counted from 1. `slurm` takes I and N from the variables of a Slurm array
    /// task, `kubernetes/N` takes I from that of an indexed job. The same command starts a shard and continues it, on any
    /// machine. All shards write the folder --out under the same settings; budgets and limits of speed are each shard's own.
    #[arg(long, value_name = "I/N", help_heading = "Run")]
    pub(super) shard: Option<String>,
    /// Use the servers, keys and files that the resumed command or the experiment file names and this command does not; they
    /// are shown.
    #[arg(long, help_heading = "Run")]
    pub(super) confirm: bool,
    /// Show what would be run and what it would take, and stop.
    #[arg(long, help_heading = "Run")]
    pub(super) dry_run: bool,
    #[command(flatten)]
    pub(super) limits: LimitArgs,
    /// Print the summary as one JSON object on stdout; with --dry-run, the plan.
    #[arg(long, help_heading = "Run")]
    pub(super) json: bool,
    /// Show no progress, and print one line for each variant.
    #[arg(long, short, help_heading = "Run")]
    pub(super) quiet: bool,
    /// Which of these were typed.
    #[arg(skip)]
    pub(in crate::cli) explicit: ExplicitArgs,
    /// Where new folders of runs are made, and the settings that no flag gave.
    #[arg(skip)]
    pub(in crate::cli) given: (Option<PathBuf>, BTreeMap<String, String>),
}

impl Takes for Args {
    fn take(&mut self, taking: &mut Taking<'_>) -> anyhow::Result<()> {
        let file = ExperimentFile::is_one(&self.dataset).then(|| ExperimentFile::load(&self.dataset)).transpose();
        let file = file.map_err(crate::run::RunError::from)?;
        taking.settings(&mut self.variant, file.as_ref(), self.limits.has_prices())?;
        self.limits.take(taking, self.variant.has("price"))?;
        self.pace.take(taking)
    }
}

impl Args {
    /// The dataset, or the experiment file.
    pub(in crate::cli) fn dataset(&self) -> &Path {
        &self.dataset
    }

    /// Whether episodes wait for a model, as far as the flags say; an experiment's file may name models of its own.
    pub(in crate::cli) fn waits(&self) -> bool {
        let offline = self.dry_run || self.recording.replay.is_some();
        self.variant.texts("model").iter().any(|model| model != "baseline") && !offline
    }
}

#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Recording")]
pub(in crate::cli) struct RecordingArgs {
    /// Record every answer of the model and of Wikipedia in this file; appends to an existing recording.
    #[arg(long, value_name = "FILE", conflicts_with = "replay")]
    record: Option<PathBuf>,
    /// Take every answer from a recording: no network requests are made, and an episode that asks something else is not
    /// measured.
    #[arg(long, value_name = "FILE", conflicts_with = "cache")]
    replay: Option<PathBuf>,
    /// Folder that caches answers: the same request is not sent twice.
    #[arg(long, value_name = "DIR")]
    cache: Option<PathBuf>,
}

impl RecordingArgs {
    pub(in crate::cli) fn is_replay(&self) -> bool {
        self.replay.is_some()
    }

    pub(in crate::cli) fn recording(&self) -> Recording {
        let Self { record, replay, cache } = self.clone();
        Recording { record, replay, cache }
    }
}

/// How many requests go to the model's server.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Run")]
pub(in crate::cli) struct PaceArgs {
    /// Model requests at once: `auto` begins with one and learns from the answers how many the server can take, up to 100;
    /// `auto:N` up to N; a plain number is fixed [default: auto] [env: `WIKITRAIL_CONCURRENCY`].
    #[arg(long, value_name = "N|auto[:N]")]
    concurrency: Option<Concurrency>,
    /// Maximum requests to the model's server in any minute, retries included [default: unlimited].
    #[arg(long, value_name = "N")]
    requests_per_minute: Option<NonZeroU32>,
    /// Maximum tokens of requests that begin in any minute, prompt and answer together [default: unlimited].
    #[arg(long, value_name = "N")]
    tokens_per_minute: Option<NonZeroU32>,
    /// Longest wait that a server may ask for, such as `90`, `30m` or `2h`; a longer one ends the run, which is resumed
    /// later [default: 10m].
    #[arg(long, value_name = "SECONDS", value_parser = wait)]
    max_wait: Option<Duration>,
}

impl PaceArgs {
    pub(in crate::cli) fn take(&mut self, taking: &mut Taking<'_>) -> anyhow::Result<()> {
        if self.concurrency.is_none() {
            // It was checked where it was read; of a stored one nothing is left that cannot be read.
            self.concurrency = taking.one("concurrency")?.and_then(|text| text.parse().ok());
        }
        Ok(())
    }

    pub(in crate::cli) fn pace(&self) -> Pace {
        let Self { concurrency, requests_per_minute, tokens_per_minute, max_wait } = *self;
        Pace { concurrency: concurrency.unwrap_or_default(), requests_per_minute, tokens_per_minute, max_wait }
    }
}

/// Limits of a run. Those on spending hold for all its parts together, whatever is resumed.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Budget")]
pub(in crate::cli) struct LimitArgs {
    /// File of models' prices, in the form of `wikitrail docs prices` [default: the shipped prices] [env: `WIKITRAIL_PRICES`].
    #[arg(long, value_name = "FILE", conflicts_with = "price")]
    prices: Option<PathBuf>,
    /// Stop when the run, its earlier parts included, has cost this many US dollars.
    #[arg(long, value_name = "USD", value_parser = usd)]
    budget_usd: Option<f64>,
    /// Stop when the run, its earlier parts included, has used this many tokens.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    budget_tokens: Option<u64>,
    /// Stop when the run, its earlier parts included, has made this many model calls.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    max_calls: Option<u64>,
    /// Stop when this many episodes could not be measured [default: go on].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    max_failures: Option<u64>,
    /// Stop when this many requests in a row to one server fail for a reason that lasts, such as a rejected key, an unknown
    /// model or a closed port; `off` to go on [default: 10].
    #[arg(long, value_name = "N|off", value_parser = give_up_after)]
    give_up_after: Option<u64>,
}

impl LimitArgs {
    pub(in crate::cli) fn has_prices(&self) -> bool {
        self.prices.is_some()
    }

    /// `price` where one is known already.
    pub(in crate::cli) fn take(&mut self, taking: &mut Taking<'_>, price: bool) -> anyhow::Result<()> {
        taking.prices(&mut self.prices, price)
    }

    pub(in crate::cli) fn limits(&self) -> Limits {
        let Self { prices, budget_usd, budget_tokens, max_calls, max_failures, give_up_after } = self.clone();
        Limits { budget_usd, budget_tokens, max_calls, max_failures, give_up_after, prices }
    }
}

/// A number of seconds, or of another unit that is named.
fn wait(text: &str) -> Result<Duration, String> {
    let seconds = text.parse::<u64>().ok().map(Duration::from_secs);
    let with_unit = || Duration::try_from(text.parse::<jiff::SignedDuration>().ok()?).ok();
    let wait = seconds.or_else(with_unit).filter(|wait| *wait <= LONGEST_WAIT);
    wait.ok_or_else(|| "a time of at most 30 days is expected, such as `90` (seconds), `30m` or `2h`".to_owned())
}

pub(in crate::cli) fn give_up_after(text: &str) -> Result<u64, String> {
    let number = if text == "off" { Some(0) } else { text.parse().ok() };
    number.ok_or_else(|| "a number of requests or `off` is expected".to_owned())
}

pub(in crate::cli) fn usd(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(usd) if usd.is_finite() && usd > 0.0 => Ok(usd),
        _ => Err("an amount of US dollars above 0 is expected".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::{usd, wait};
    use std::time::Duration;

    #[test]
    fn waits_have_a_unit_or_are_seconds() {
        for (text, seconds) in [("0", 0), ("90", 90), ("30m", 1800), ("1h30m", 5400)] {
            assert_eq!(wait(text), Ok(Duration::from_secs(seconds)), "{text}");
        }
        for bad in ["-1", "-5s", "1e308", "NaN", "inf", "", "soon", "99999999999999999999", "721h"] {
            assert!(wait(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn budgets_of_nothing_are_refused() {
        assert_eq!(usd("0.5"), Ok(0.5));
        for bad in ["0", "-1", "nan", "inf", "", "1 $"] {
            assert!(usd(bad).is_err(), "{bad}");
        }
    }
}
