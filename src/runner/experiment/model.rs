//! What to run, as plain data: flags and experiment files are two ways to write it.

use super::settings::{DatasetSettings, VariantSettings};
use crate::base::{Fork, Pairs, Shard, StopRule};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

/// What to run: datasets, variants, repeats, limits, output.
///
/// ```
/// use wikitrail::run::{Experiment, VariantSettings};
///
/// let react = VariantSettings { method: Some("react".to_owned()), ..Default::default() };
/// let cot = VariantSettings { method: Some("cot".to_owned()), ..Default::default() };
/// let experiment = Experiment::over("datasets/sample.jsonl").variant("react", react).variant("cot", cot);
/// assert_eq!(experiment.variants.len(), 2);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Experiment {
    /// Its name, fit for a folder.
    pub name: Option<String>,
    /// The datasets, at least one. Of several, each has a run of its own in a folder of its name.
    pub datasets: Vec<DatasetSpec>,
    /// The variants, at least one, each with a name of its own.
    pub variants: Vec<VariantSpec>,
    /// How often each question is asked under each variant; 0 means once.
    pub repeats: u32,
    /// The pairs of variants that are compared.
    pub pairs: Pairs,
    /// When it stops by itself, because it is decided which of two variants is better; each dataset's run by itself.
    pub stop_when: Option<StopRule>,
    /// What it may spend.
    pub limits: Limits,
    /// How fast requests are sent to models.
    pub pace: Pace,
    /// What is recorded, replayed or cached.
    pub recording: Recording,
    /// Where it is written.
    pub output: Output,
    /// The file that it was read from.
    pub file: Option<FileText>,
    /// Whether nobody confirmed the servers of models, as where a file names them: then no key is sent to a server that is
    /// not its provider's own.
    pub unconfirmed_servers: bool,
    /// Episodes that branch off recorded ones: only their questions are asked, each from where it branches off.
    #[serde(skip)]
    pub forks: Vec<Fork>,
}

/// A dataset: its file, how the file is read, and which questions are asked.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DatasetSpec {
    /// Its name, fit for a folder; without one, the name of its file.
    pub name: Option<String>,
    /// The file, or a shipped one such as `datasets/sample.jsonl`.
    pub path: PathBuf,
    /// How it is read, and which questions are asked.
    pub settings: DatasetSettings,
    /// The variants on this dataset, where they differ from those of the experiment; empty otherwise.
    pub variants: Vec<VariantSpec>,
}

/// One way of answering.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct VariantSpec {
    /// Its name, unique within the experiment.
    pub name: String,
    /// What it sets.
    pub settings: VariantSettings,
    /// Where it was written, as `FILE:LINE`, for messages.
    #[serde(skip)]
    pub place: Option<String>,
    /// The protocol and its version that a recorded run began with, where this goes on from one; today's version if absent.
    #[serde(skip)]
    pub began: Option<(String, u32)>,
}

/// What a run may spend and how much may fail before it stops by itself. Amounts include what earlier starts of the same
/// run have spent.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// US dollars, above 0.
    pub budget_usd: Option<f64>,
    /// Tokens, 1 or more.
    pub budget_tokens: Option<u64>,
    /// Model calls, 1 or more.
    pub max_calls: Option<u64>,
    /// Episodes that could not be measured, 1 or more.
    pub max_failures: Option<u64>,
    /// Requests in a row to one server that fail for the same lasting reason, such as a rejected key, after which a run is
    /// given up: 10 if absent, never at 0.
    pub give_up_after: Option<u64>,
    /// File of models' prices in place of the shipped one.
    pub prices: Option<PathBuf>,
}

/// How fast requests are sent to the servers of models.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Pace {
    /// Requests at once.
    pub concurrency: Concurrency,
    /// Requests in any minute, retries included.
    pub requests_per_minute: Option<NonZeroU32>,
    /// Tokens of requests that begin in any minute, prompt and answer together.
    pub tokens_per_minute: Option<NonZeroU32>,
    /// Longest wait that a server may ask for; a longer one ends the run: 10 minutes if absent.
    pub max_wait: Option<Duration>,
}

/// How many requests are sent at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Concurrency {
    /// Always as many as this, 1 to 65,535.
    Fixed(usize),
    /// As many as the server turns out to bear, up to this, 1 to 65,535.
    UpTo(usize),
}

impl FromStr for Concurrency {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        const LARGEST: usize = 65_535;
        let number = |text: &str| match text.parse() {
            Ok(n @ 1..=LARGEST) => Ok(n),
            _ => Err(format!("`auto`, `auto:N` or N is expected, with N from 1 to {LARGEST}")),
        };
        match text.split_once(':') {
            Some(("auto", most)) => number(most).map(Self::UpTo),
            None if text == "auto" => Ok(Self::default()),
            _ => number(text).map(Self::Fixed),
        }
    }
}

impl Default for Concurrency {
    /// Up to 100.
    fn default() -> Self {
        Self::UpTo(100)
    }
}

/// What is recorded, replayed or cached. `replay` excludes the other two.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Recording {
    /// Append every answer of models and Wikipedia to this file.
    pub record: Option<PathBuf>,
    /// Take every answer from this recording, and send nothing.
    pub replay: Option<PathBuf>,
    /// Keep answers in this folder and do not ask twice.
    pub cache: Option<PathBuf>,
}

/// Where a run is written.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Output {
    /// The run's folder; without one, a new folder below `results`.
    pub folder: Option<PathBuf>,
    /// Where new folders of runs are made; without it, in `results`.
    pub results: Option<PathBuf>,
    /// Continue the run in the folder.
    pub resume: bool,
    /// Run only this shard of the questions, into a folder that the others write too. It joins a run that is there, and goes on
    /// where it was.
    pub shard: Option<Shard>,
    /// The command that started it, for the manifest; free of secrets.
    pub command_line: Vec<String>,
    /// Settings that no flag gave, by name, for the manifest.
    pub defaults: BTreeMap<String, String>,
    /// Nothing is going to run: no key is looked for, and no recording is opened.
    pub dry_run: bool,
}

/// The text of an experiment file, which is stored with its runs.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FileText {
    /// The file as it was named.
    pub path: String,
    /// What it held.
    pub text: String,
}

impl Experiment {
    /// An experiment over one dataset, without variants yet.
    pub fn over(dataset: impl Into<PathBuf>) -> Self {
        Self { datasets: vec![DatasetSpec { path: dataset.into(), ..DatasetSpec::default() }], ..Self::default() }
    }

    /// The same with one more variant.
    #[must_use]
    pub fn variant(mut self, name: &str, settings: VariantSettings) -> Self {
        self.variants.push(VariantSpec { name: name.to_owned(), settings, ..VariantSpec::default() });
        self
    }

    /// The same with only the first `limit` questions of each dataset.
    #[must_use]
    pub fn limit(mut self, limit: usize) -> Self {
        for dataset in &mut self.datasets {
            dataset.settings.limit = Some(limit);
        }
        self
    }

    /// The same, written to this folder.
    #[must_use]
    pub fn output(mut self, folder: impl Into<PathBuf>) -> Self {
        self.output.folder = Some(folder.into());
        self
    }

    /// The variants as they are on a dataset.
    pub fn variants_on<'a>(&'a self, dataset: &'a DatasetSpec) -> &'a [VariantSpec] {
        if dataset.variants.is_empty() { &self.variants } else { &dataset.variants }
    }

    /// Whether no server will be asked, so that no key is needed.
    pub fn is_offline(&self) -> bool {
        self.output.dry_run || self.recording.is_offline()
    }
}

impl Recording {
    /// Whether every answer comes from a recording.
    pub fn is_offline(&self) -> bool {
        self.replay.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::Concurrency;

    #[test]
    fn a_number_is_fixed_and_auto_is_learned() {
        assert_eq!("7".parse(), Ok(Concurrency::Fixed(7)));
        assert_eq!("auto".parse(), Ok(Concurrency::UpTo(100)));
        assert_eq!("auto:500".parse(), Ok(Concurrency::UpTo(500)));
        for bad in ["0", "auto:0", "auto:", "many", "-1", "65536", "fixed:3", ""] {
            assert!(bad.parse::<Concurrency>().is_err(), "{bad}");
        }
    }
}
