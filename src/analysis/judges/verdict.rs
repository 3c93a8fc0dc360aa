//! One verdict of a judge on one answer, or one reading of one episode.

use super::due::Answer;
use super::menu::JudgeTask;
use crate::base::{Decoding, Usage, sha256_hex};
use serde::{Deserialize, Serialize};

/// Version of the stored lines; readers accept older ones and leave newer ones out.
pub(crate) const VERDICT_VERSION: u32 = 1;

/// What a judge says of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Verdict {
    Correct,
    Incorrect,
    /// The answer says nothing that could be right or wrong.
    NotAttempted,
    /// The reply has no verdict of the prompt's.
    Unreadable,
}

impl Verdict {
    pub(crate) const ALL: [Self; 4] = [Self::Correct, Self::Incorrect, Self::NotAttempted, Self::Unreadable];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Correct => "correct",
            Self::Incorrect => "incorrect",
            Self::NotAttempted => "not_attempted",
            Self::Unreadable => "unreadable",
        }
    }

    /// Whether the answer is right; absent where that was not measured.
    pub(crate) fn right(self) -> Option<bool> {
        (self != Self::Unreadable).then_some(self == Self::Correct)
    }
}

/// Who judges: everything that decides what is said of an answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Judge {
    /// `openai:NAME`, `anthropic:NAME` or `gemini:NAME`.
    pub(crate) model: String,
    /// As in a manifest: `chat`, `responses`, `messages` or `generateContent`.
    pub(crate) endpoint: String,
    /// Digest of the prompt's file, whose text is in `prompts/`.
    pub(crate) prompt_sha256: String,
    pub(crate) decoding: Decoding,
}

/// Which answers a judge is asked about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Rule {
    pub(crate) judged: Chosen,
    /// How many of the answers that exact match calls right are judged besides.
    pub(crate) audit: u32,
    /// Seed of that choice.
    pub(crate) seed: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Chosen {
    /// Answers that exact match calls wrong, and a sample of the others.
    WrongByEm,
    /// Every answer.
    All,
}

/// The episode that was read, where not its answer alone was judged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct EpisodeRef {
    /// As in its trajectory.
    pub(crate) key: String,
    pub(crate) variant: String,
    pub(crate) repeat: u32,
}

/// A line of the file: what was said.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(bound = "V: JudgeTask")]
pub(crate) struct Judgement<V = Verdict> {
    /// Format version, [`VERDICT_VERSION`]; always the first field.
    pub(crate) v: u32,
    /// Digest of judge, question, golds and answer, and of the episode where that was read.
    pub(crate) key: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) episode: Option<EpisodeRef>,
    pub(crate) judge: Judge,
    /// Id of the first question that this was asked for.
    pub(crate) id: String,
    pub(crate) question_sha256: String,
    /// The answer as it was shown.
    pub(crate) answer: String,
    pub(crate) verdict: V,
    /// What the judge wrote before the verdict, cut.
    pub(crate) reason: Option<String>,
    /// What the judge wrote, cut.
    pub(crate) completion: String,
    pub(crate) usage: Option<Usage>,
    /// Absent where no price is known.
    pub(crate) cost_usd: Option<f64>,
    /// How often the request was sent; 0 if the answer came from a cache or a recording.
    pub(crate) attempts: u32,
    /// When, RFC 3339 in UTC.
    pub(crate) at: String,
}

/// A line of the file: how the answers were chosen from then on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct RuleRecord {
    /// As in [`Judgement`].
    pub(crate) v: u32,
    pub(crate) rule: Rule,
    pub(crate) judge: Judge,
    pub(crate) at: String,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged, bound = "V: JudgeTask")]
pub(crate) enum Line<V = Verdict> {
    Verdict(Box<Judgement<V>>),
    Rule(Box<RuleRecord>),
}

/// An answer in the form in which equal answers are one: lower case, one space between words, no quotes around it and no full
/// stop at its end. Other marks stay, as 1.5 is not 15.
pub(crate) fn normalised(answer: &str) -> String {
    let words = answer.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ");
    words.trim_matches(['"', '\'', '`', '“', '”', '‘', '’', '.', '。', ' ']).to_owned()
}

/// What distinguishes verdicts. It has no variant: a judge cannot know which one it judges.
pub(crate) fn key(judge: &Judge, answer: &Answer) -> String {
    let Answer { question, golds, text, episode, .. } = answer;
    let said = normalised(text);
    // Texts and plain structures always serialise.
    let parts = match episode {
        None => serde_json::to_string(&(judge, question, golds, said)),
        Some(read) => serde_json::to_string(&(judge, question, golds, said, &read.of.key, &read.steps)),
    };
    sha256_hex([parts.unwrap_or_default().as_bytes()])
}
