//! What a run was: everything needed to understand it, to resume it, and to do it again; the pairs of variants that it
//! compares, the names that it records, and what people note about it.

use super::short_names::ShortNames;
use super::text::shell_word;
use super::{Compat, Decoding, Paid, Reasoning, RequestOptions, StopRule, ToolSet, Voting, Wording, is_default};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

/// Version of the stored manifest; readers accept older ones and refuse newer ones.
pub const MANIFEST_VERSION: u32 = 1;

/// What a text says in a record that another program's run does not tell.
pub const UNKNOWN: &str = "unknown";

/// Protocol, method and endpoint of a variant whose agent is another program.
pub const PROGRAM: &str = "agent";

/// `manifest.json` of a run's folder. Holds no secret.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Manifest {
    /// Format version, [`MANIFEST_VERSION`]; always the first field.
    pub v: u32,
    pub variants: Vec<Variant>,
    /// Variants that were removed from the experiment after some of their episodes were run; these stay in the record.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub retired: Vec<Variant>,
    /// How often each question is run under each variant, 1 or more.
    pub repeats: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop_when: Option<StopRule>,
    /// How many questions, from the first on, `stop_when` had looked at when the run was last started, without stopping there.
    #[serde(default, skip_serializing_if = "is_default")]
    pub stop_looked: usize,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub experiment: Option<ExperimentRecord>,
    pub dataset: DatasetRecord,
    /// Version of the program that started the run.
    pub wikitrail: String,
    /// Git commit of the working folder; absent outside a repository.
    pub git_revision: Option<String>,
    /// The command line, from the program's name on.
    pub command_line: Vec<String>,
    /// Settings that no flag gave when the run was started, by name: from settings files and environment variables.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub defaults: BTreeMap<String, String>,
    /// SHA-256 of the files that settings named when the run was last started, by path as named: prompts, instructions,
    /// protocol texts, ids. Absent in runs from before they were recorded.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub files: BTreeMap<String, String>,
    /// Start of the run, RFC 3339 in UTC; `null` in the file, and empty here, where another program did not say it.
    #[serde(deserialize_with = "null_as_empty", serialize_with = "empty_as_null")]
    pub started_at: String,
    /// End of its last part, RFC 3339 in UTC; absent while it runs or when it was killed.
    pub ended_at: Option<String>,
    /// The logs of another program that the episodes were imported from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub logs: Vec<LogRecord>,
    /// Time over all parts that ended by themselves, in milliseconds; pauses between them are left out.
    #[serde(default)]
    pub active_ms: u64,
    /// How the number of requests at once was adapted, only where it changed; of a part that was killed, up to a few
    /// seconds before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub limit_history: Vec<LimitHistory>,
    /// What each variant has cost by the end of the last part that ended by itself, episodes that were cut short or run
    /// again included.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub paid: BTreeMap<String, Paid>,
}

/// Writes an empty text as `null`.
pub fn empty_as_null<S: Serializer>(text: &str, serializer: S) -> Result<S::Ok, S::Error> {
    Some(text).filter(|text| !text.is_empty()).serialize(serializer)
}

fn null_as_empty<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

/// How the number of requests at once to one server was adapted in one part of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LimitHistory {
    /// `model` or `wikipedia`.
    pub service: String,
    /// Address without user part and query; of several servers, joined by `,`.
    pub server: String,
    /// Start of the program in this part, RFC 3339 in UTC. The runs of an experiment that one start of the program works on
    /// share their requests: each holds the changes so far.
    pub started_at: String,
    /// The first 1,000 changes, in order.
    pub changes: Vec<LimitChange>,
    /// How many more there were.
    #[serde(default, skip_serializing_if = "is_default")]
    pub dropped: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LimitChange {
    /// Time since the start of the part, in milliseconds.
    pub at_ms: u64,
    /// Requests at once before.
    pub from: usize,
    /// Requests at once from here on.
    pub to: usize,
    /// `growth`, `no_gain`, `smaller_trial`, `rate_limit`, `overload` or `timeout`; in older runs also `slow_start`,
    /// `steady_growth` and `cooldown_end`, where the number could stay the same.
    pub reason: String,
}

impl Manifest {
    pub fn repeats_of(&self, variant: &Variant) -> u32 {
        variant.repeats.unwrap_or(self.repeats)
    }

    pub fn planned(&self, variant: &Variant) -> usize {
        self.dataset.selected.saturating_mul(self.repeats_of(variant) as usize)
    }

    pub fn planned_in_all(&self) -> usize {
        self.variants.iter().fold(0, |sum, variant| sum.saturating_add(self.planned(variant)))
    }

    /// Whether another program recorded the episodes: nothing here can go on with them.
    pub fn is_imported(&self) -> bool {
        !self.logs.is_empty() || self.is_of("import")
    }

    fn is_of(&self, command: &str) -> bool {
        self.command_line.get(1).is_some_and(|word| word == command)
    }

    /// The command that goes on with the run in this folder; absent where that of its start is neither `wikitrail run` nor
    /// `wikitrail reproduce`. Its settings are not repeated: in the folder of a stranger they may name a program or a server,
    /// which is asked about unless it is typed.
    pub fn resume_command(&self, folder: &Path) -> Option<String> {
        let command = ["run", "reproduce"].into_iter().find(|command| self.is_of(command))?;
        let folder = self.folder_of_experiment(folder)?;
        Some(format!("wikitrail {command} --out {} --resume", shell_word(&folder.display().to_string())))
    }

    /// The folder that `--out` named for the run in this one: of several datasets, the one around theirs. Absent where the run
    /// does not lie in the folder of its dataset, because it was renamed or merged into another.
    pub fn folder_of_experiment(&self, run: &Path) -> Option<PathBuf> {
        let Some(experiment) = self.experiment.as_ref().filter(|experiment| !experiment.datasets.is_empty()) else {
            return Some(run.to_owned());
        };
        let run = if run.file_name().is_some() { run.to_owned() } else { std::path::absolute(run).ok()? };
        let dataset = experiment.dataset_in(&run)?;
        let around = run.parent().filter(|_| run.ends_with(dataset))?;
        Some(if around.as_os_str().is_empty() { PathBuf::from(".") } else { around.to_owned() })
    }

    pub(crate) fn short_names(&self) -> ShortNames {
        ShortNames::of(self.variants.iter().map(|variant| variant.name.as_str()))
    }

    pub fn is_branch(&self) -> bool {
        self.is_of("branch")
    }

    /// Whether the run went to its end, as far as that is known.
    pub fn has_ended(&self) -> bool {
        self.ended_at.is_some() || self.is_imported()
    }

    /// All variants that there are episodes of, in full.
    pub fn known_variants(&self) -> impl Iterator<Item = &Variant> {
        self.variants.iter().chain(&self.retired)
    }
}

/// The experiment of a run, as its file was when the run was last started.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExperimentRecord {
    pub name: String,
    /// The file as it was named on the command line; its text is stored beside the manifest.
    pub path: String,
    pub sha256: String,
    #[serde(flatten)]
    pub pairs: Pairs,
    /// Names of the datasets where there are several: each has a run in a folder of that name, side by side.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub datasets: Vec<String>,
    /// Which of them this run is over; absent in runs from before it was recorded, whose folder has its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dataset: Option<String>,
}

impl ExperimentRecord {
    /// Which of several datasets the run in this folder is over.
    pub fn dataset_in(&self, folder: &Path) -> Option<&str> {
        let known = || self.datasets.iter().find(|name| folder.ends_with(name)).map(String::as_str);
        self.dataset.as_deref().or_else(known)
    }
}

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct DatasetRecord {
    pub name: String,
    /// The file as it was named on the command line.
    pub path: String,
    /// Format that was read, such as `hotpotqa`.
    #[serde(default)]
    pub format: String,
    /// Columns or keys that were named instead of ours: `question`, `answer`, `id`; and `answer_separator`, which stands between
    /// the answers in a cell.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub columns: BTreeMap<String, String>,
    /// SHA-256 of the file's bytes as read.
    pub sha256: String,
    /// Questions in the file.
    pub questions: usize,
    pub selection: Selection,
    /// The file of ids as it was named; absent in runs from before it was recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ids_file: Option<String>,
    pub selected: usize,
}

/// Which questions of a file are used, and in which order. The default selects all, in file order.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Selection {
    /// Only questions with these ids; all when empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ids: Vec<String>,
    /// Only questions of these types; all when empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub types: Vec<String>,
    /// Seed of our own shuffle.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shuffle: Option<u64>,
    /// Seed of the paper's shuffle, Python's `random.Random(seed).shuffle`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shuffle_like_paper: Option<u64>,
    /// At most this many, after filtering and shuffling.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<usize>,
}

/// One way of answering: prompt, method, protocol, model and tool settings.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Variant {
    /// Short name, unique within the run.
    pub name: String,
    /// How often each question is run under this variant, where that is not the run's number: the placebos of a branch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeats: Option<u32>,
    /// Protocol id, such as `react-paper`.
    pub protocol: String,
    /// Version of the protocol, where it has had several.
    #[serde(default = "first_version", skip_serializing_if = "is_first_version")]
    pub protocol_version: u32,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub options: BTreeMap<String, String>,
    pub method: String,
    /// How a vote is held; absent for methods that do not vote.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub voting: Option<Voting>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub oracle_context: bool,
    /// `null` where another program did not say it.
    pub max_steps: Option<usize>,
    /// The prompt as it was named on the command line.
    pub prompt: String,
    /// SHA-256 of the rendered prompt, stored under `prompts/`.
    pub prompt_sha256: String,
    /// SHA-256 of the rendered prompt of the direct part of a back-off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub direct_prompt_sha256: Option<String>,
    /// File of protocol texts that was used instead of ours.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub texts: Option<String>,
    /// File with the instruction before a finished text, as it was named. This and the next three are absent in runs from
    /// before they were recorded, whose prompt's digest tells them apart all the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instruction: Option<String>,
    /// How many exemplars were asked for, the first ones of the order; absent where all are shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shots: Option<usize>,
    /// Order of the exemplars, `reversed` or `shuffled`; absent where it is the file's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exemplar_order: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exemplar_seed: Option<u64>,
    /// Label before the question, `Question` or `Claim`.
    pub question_label: String,
    /// The model as it was named, such as `openai:NAME`, or `baseline`.
    pub model: String,
    /// `chat`, `chat+prefill`, `completions`, `responses`, `messages`, `messages+prefill`, `generateContent` or `none`.
    pub endpoint: String,
    /// Base URL of the model's server, without user part and query; of several, joined by `,`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_url: Option<String>,
    /// What the model's tokens cost, where that was known; of a resumed run, when its last part began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price: Option<PriceRecord>,
    pub decoding: DecodingRecord,
    /// Options that the server of the model refuses, or that the provider does not know, so that requests were sent
    /// without them: `temperature`, `top_p`, `seed`, `stop`. What was found by the end of the run's last part.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_sent: Vec<String>,
    /// Tokens of a reply at most in the direct part of a back-off, where that is another number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub direct_max_tokens: Option<u32>,
    /// Source of Wikipedia as it was named, `html`, `api`, `corpus:DIR` or `retriever:URL?topk=N`.
    pub wiki: String,
    /// Base URL of the site, or the digest of the frozen corpus.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wiki_origin: Option<String>,
    /// Semantics of the tool; `null` for the tools of other programs.
    pub compat: Option<Compat>,
    /// Language in which the tool answers.
    #[serde(default, skip_serializing_if = "Wording::is_english")]
    pub wording: Wording,
    /// Settings without a field of their own, by name, where they were set.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub settings: BTreeMap<String, serde_json::Value>,
}

/// How a variant's replies were decoded: [`Decoding`], whose numbers are `null` where another program did not say them.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DecodingRecord {
    pub temperature: Option<f64>,
    pub top_p: Option<f64>,
    pub max_tokens: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<Reasoning>,
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub extra_body: Map<String, Value>,
    /// As in [`Decoding`].
    #[serde(skip)]
    pub typed: RequestOptions,
}

impl From<Decoding> for DecodingRecord {
    fn from(decoding: Decoding) -> Self {
        let Decoding { temperature, top_p, max_tokens, seed, reasoning, extra_body, typed } = decoding;
        let (temperature, top_p, max_tokens) = (Some(temperature), Some(top_p), Some(max_tokens));
        Self { temperature, top_p, max_tokens, seed, reasoning, extra_body, typed }
    }
}

impl DecodingRecord {
    /// The settings, if all of them are known.
    pub fn known(&self) -> Option<Decoding> {
        Some(Decoding {
            temperature: self.temperature?,
            top_p: self.top_p?,
            max_tokens: self.max_tokens?,
            seed: self.seed,
            reasoning: self.reasoning,
            extra_body: self.extra_body.clone(),
            typed: self.typed,
        })
    }
}

/// What a log of another program says of how its episodes came about.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct LogRecord {
    /// The file as it was named on the command line.
    pub path: String,
    pub sha256: String,
    /// Name of the variant that its answers are.
    pub variant: String,
    /// How its run ended, such as `success`, `error` or `cancelled`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    /// Episodes that it planned, where it says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub planned: Option<usize>,
    pub samples: usize,
    /// What it says of the task, the solver and the settings, as it has them.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub said: Map<String, Value>,
}

impl Variant {
    /// The tools that its agent is offered beside the answer.
    pub fn tools(&self) -> ToolSet {
        let named = self.options.get("tools");
        ToolSet::ALL.into_iter().find(|tools| named.is_some_and(|name| name == tools.name())).unwrap_or_default()
    }

    /// Whether its agent is another program, with prompts and steps of its own.
    pub fn is_program(&self) -> bool {
        self.protocol == PROGRAM
    }

    /// The semantics of the tool, for reading.
    pub fn compat_name(&self) -> &'static str {
        self.compat.map_or(UNKNOWN, Compat::name)
    }

    /// What imports of older versions made up where another program had said nothing becomes unknown.
    pub(crate) fn forget_made_up(&mut self) {
        if self.protocol == UNKNOWN && self.max_steps == Some(0) {
            (self.max_steps, self.compat) = (None, None);
            self.decoding = DecodingRecord::default();
            for made_up in [&mut self.question_label, &mut self.endpoint] {
                UNKNOWN.clone_into(made_up);
            }
        }
    }
}

fn first_version() -> u32 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_first_version(version: &u32) -> bool {
    *version == 1
}

/// What a model's tokens cost, in US dollars a million, and where that is said.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PriceRecord {
    /// A million tokens of prompt.
    pub prompt: f64,
    /// A million tokens of completion, reasoning included.
    pub completion: f64,
    /// A million tokens of prompt that the provider had kept from earlier requests; absent where no price of their own is
    /// known, so that they cost what other tokens cost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached: Option<f64>,
    /// A million tokens of prompt that the provider keeps for later requests; absent where no price of their own is
    /// known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_write: Option<f64>,
    /// The day for which it is said, `YYYY-MM-DD`; absent for a price that was typed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub as_of: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
}

/// The pairs of variants that are compared: those of `contrasts`, else each variant with the `baseline`, else all.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pairs {
    /// Name of the variant that all others are compared with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub baseline: Option<String>,
    /// Pairs by the names of their variants, each read as the second minus the first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub contrasts: Vec<[String; 2]>,
}

impl Pairs {
    /// Each variant with this one.
    pub fn with(baseline: impl Into<String>) -> Self {
        Self { baseline: Some(baseline.into()), ..Self::default() }
    }

    /// Adds a contrast, unless it is one already, in either direction; whether it was added.
    pub fn add(&mut self, [a, b]: [String; 2]) -> bool {
        let new = !self.has_contrast(&a, &b);
        if new {
            self.contrasts.push([a, b]);
        }
        new
    }

    /// The same pairs under other names.
    pub(crate) fn with_names(mut self, other: impl Fn(&str) -> String) -> Self {
        for name in self.baseline.iter_mut().chain(self.contrasts.iter_mut().flatten()) {
            *name = other(name);
        }
        self
    }

    /// Whether contrasts are named, all of them between these variants: no other is compared then.
    pub fn all_among(&self, names: &[String]) -> bool {
        !self.contrasts.is_empty() && self.contrasts.iter().flatten().all(|name| names.contains(name))
    }

    /// Whether this pair is one of those that are named, in either direction.
    pub fn names(&self, a: &str, b: &str) -> bool {
        if self.contrasts.is_empty() {
            return self.baseline.as_ref().is_some_and(|baseline| baseline == a || baseline == b);
        }
        self.has_contrast(a, b)
    }

    /// Whether there is this contrast, in either direction.
    fn has_contrast(&self, a: &str, b: &str) -> bool {
        self.contrasts.iter().any(|[x, y]| (x == a && y == b) || (x == b && y == a))
    }

    /// Whether nothing is named, so that all pairs are compared.
    pub fn is_all(&self) -> bool {
        *self == Self::default()
    }

    /// The pairs as positions in a list of names, in the order in which they are named. Names that are not in it are left
    /// out.
    pub fn positions(&self, names: &[&str]) -> Vec<(usize, usize)> {
        let at = |wanted: &String| names.iter().position(|name| name == wanted);
        if !self.contrasts.is_empty() {
            return self.contrasts.iter().filter_map(|[a, b]| Some((at(a)?, at(b)?))).collect();
        }
        let n = names.len();
        match self.baseline.as_ref().and_then(at) {
            Some(base) => (0..n).filter(|b| *b != base).map(|b| (base, b)).collect(),
            None => (0..n).flat_map(|a| (a + 1..n).map(move |b| (a, b))).collect(),
        }
    }
}

/// What a source of pages that keeps footnote marks is recorded with.
const FOOTNOTES: &str = "+footnotes";
/// What an endpoint is recorded with whose model continues the label that a prompt ends in.
const PREFILL: &str = "+prefill";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WikiKind {
    /// A folder: `corpus:DIR`.
    Corpus,
    Api,
    Html,
    /// A server of passages: `retriever:URL`.
    Retriever,
    /// Something else, which is refused as a setting.
    Unknown,
}

/// A source of pages as a setting or a record names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WikiName<'a> {
    /// The source as a setting names it.
    pub name: &'a str,
    pub kind: WikiKind,
    /// Whether it keeps footnote marks. Only sites do.
    pub footnotes: bool,
}

impl<'a> WikiName<'a> {
    pub fn of(text: &'a str) -> Self {
        let plain = |name| match name {
            "api" => Some(WikiKind::Api),
            "html" => Some(WikiKind::Html),
            _ => None,
        };
        let (name, footnotes) = match text.strip_suffix(FOOTNOTES) {
            Some(name) if plain(name).is_some() => (name, true),
            _ => (text, false),
        };
        let kind = plain(name).unwrap_or_else(|| match name.split_once(':').map_or(name, |(kind, _)| kind) {
            "corpus" => WikiKind::Corpus,
            "retriever" => WikiKind::Retriever,
            _ => WikiKind::Unknown,
        });
        Self { name, kind, footnotes }
    }

    pub fn is_site(self) -> bool {
        matches!(self.kind, WikiKind::Api | WikiKind::Html)
    }
}

impl fmt::Display for WikiName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.name, if self.footnotes { FOOTNOTES } else { "" })
    }
}

/// Whether an endpoint, as a record names it, has the model continue the label that a prompt ends in.
pub fn has_prefill(endpoint: &str) -> bool {
    endpoint.ends_with(PREFILL)
}

/// Version of the stored notes; readers accept older ones and refuse newer ones.
pub const NOTES_VERSION: u32 = 1;

/// `notes.json` of a run's folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Notes {
    /// Format version, [`NOTES_VERSION`]; always the first field.
    pub v: u32,
    /// Words by which runs are found, each once, in the order in which they were added.
    #[serde(default)]
    pub tags: Vec<String>,
    /// What a person wrote; may be empty.
    #[serde(default)]
    pub note: String,
}

impl Default for Notes {
    fn default() -> Self {
        Self { v: NOTES_VERSION, tags: Vec::new(), note: String::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::{WikiKind, WikiName};

    #[test]
    fn only_a_site_keeps_footnote_marks() {
        let parts = |text| {
            let name = WikiName::of(text);
            assert_eq!(name.to_string(), text);
            (name.name, name.kind, name.footnotes, name.is_site())
        };
        assert_eq!(parts("api+footnotes"), ("api", WikiKind::Api, true, true));
        assert_eq!(parts("html"), ("html", WikiKind::Html, false, true));
        let folder = "corpus:my+footnotes";
        assert_eq!(parts(folder), (folder, WikiKind::Corpus, false, false), "a folder may have any name");
        let server = "retriever:http://127.0.0.1:9/api+footnotes";
        assert_eq!(parts(server), (server, WikiKind::Retriever, false, false));
        assert_eq!(parts("corpora:x"), ("corpora:x", WikiKind::Unknown, false, false));
    }
}
