//! What a run was: everything needed to understand it, to resume it, and to do it again.

use super::{Compat, Decoding, Voting, Wording};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Version of the stored manifest; readers accept older ones and refuse newer ones.
pub const MANIFEST_VERSION: u32 = 1;

/// `manifest.json` of a run's folder. Holds no secret.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// Format version, [`MANIFEST_VERSION`]; always the first field.
    pub v: u32,
    /// The variants, in full.
    pub variants: Vec<Variant>,
    /// How often each question is run under each variant, 1 or more.
    pub repeats: u32,
    /// The dataset and what was selected from it.
    pub dataset: DatasetRecord,
    /// Version of the program that started the run.
    pub wikitrail: String,
    /// Git revision of the working folder, with `-dirty` where files differ; absent outside a repository.
    pub git_revision: Option<String>,
    /// The command line, from the program's name on.
    pub command_line: Vec<String>,
    /// Start of the run, RFC 3339 in UTC.
    pub started_at: String,
    /// End of its last part, RFC 3339 in UTC; absent while it runs or when it was killed.
    pub ended_at: Option<String>,
    /// Time over all parts that ended by themselves, in milliseconds; pauses between them are left out.
    #[serde(default)]
    pub active_ms: u64,
}

/// The dataset of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DatasetRecord {
    /// Name of the dataset.
    pub name: String,
    /// The file as it was named on the command line.
    pub path: String,
    /// Format that was read, such as `hotpotqa`.
    #[serde(default)]
    pub format: String,
    /// Columns or keys that were named instead of ours: `question`, `answer`, `id`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub columns: BTreeMap<String, String>,
    /// SHA-256 of the file's bytes as read.
    pub sha256: String,
    /// Questions in the file.
    pub questions: usize,
    /// What was selected.
    pub selection: Selection,
    /// Questions selected.
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
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Variant {
    /// Short name, unique within the run.
    pub name: String,
    /// Protocol id, such as `react-paper`.
    pub protocol: String,
    /// Options of the protocol.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub options: BTreeMap<String, String>,
    /// Prompting method, such as `react`.
    pub method: String,
    /// How a vote is held; absent for methods that do not vote.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub voting: Option<Voting>,
    /// Whether a direct method is shown the gold paragraphs.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub oracle_context: bool,
    /// Step limit.
    pub max_steps: usize,
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
    /// Label before the question, `Question` or `Claim`.
    pub question_label: String,
    /// The model as it was named, such as `openai:NAME`, or `baseline`.
    pub model: String,
    /// `chat`, `chat+prefill`, `completions`, `messages`, `messages+prefill`, `generateContent` or `none`.
    pub endpoint: String,
    /// Base URL of the model's server, without user part and query; of several, joined by `,`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_url: Option<String>,
    /// Sampling settings.
    pub decoding: Decoding,
    /// Tokens of a reply at most in the direct part of a back-off, where that is another number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub direct_max_tokens: Option<u32>,
    /// Source of Wikipedia as it was named, `html`, `api` or `corpus:DIR`.
    pub wiki: String,
    /// Base URL of the site, or the digest of the frozen corpus.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wiki_origin: Option<String>,
    /// Semantics of the tool.
    pub compat: Compat,
    /// Language in which the tool answers.
    #[serde(default, skip_serializing_if = "Wording::is_english")]
    pub wording: Wording,
}
