//! One verdict of a judge on one answer.

use crate::types::{Decoding, Usage, sha256_hex};
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

/// A line of `verdicts.jsonl`: a verdict.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Judgement {
    /// Format version, [`VERDICT_VERSION`]; always the first field.
    pub(crate) v: u32,
    /// Digest of judge, question, golds and answer.
    pub(crate) key: String,
    pub(crate) judge: Judge,
    /// Id of the first question that this was asked for.
    pub(crate) id: String,
    pub(crate) question_sha256: String,
    /// The answer as it was shown.
    pub(crate) answer: String,
    pub(crate) verdict: Verdict,
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

/// A line of `verdicts.jsonl`: how the answers were chosen from then on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct RuleRecord {
    /// As in [`Judgement`].
    pub(crate) v: u32,
    pub(crate) rule: Rule,
    pub(crate) judge: Judge,
    pub(crate) at: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum Line {
    Verdict(Box<Judgement>),
    Rule(Box<RuleRecord>),
}

/// An answer in the form in which equal answers are one: lower case, one space between words, no quotes around it and no full
/// stop at its end. Other marks stay, as 1.5 is not 15.
pub(crate) fn normalised(answer: &str) -> String {
    let words = answer.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ");
    words.trim_matches(['"', '\'', '`', '“', '”', '‘', '’', '.', '。', ' ']).to_owned()
}

/// What distinguishes verdicts. It has no variant: a judge cannot know which one it judges.
pub(crate) fn key(judge: &Judge, question: &str, golds: &[String], answer: &str) -> String {
    // Texts and plain structures always serialise.
    let parts = serde_json::to_string(&(judge, question, golds, normalised(answer))).unwrap_or_default();
    sha256_hex([parts.as_bytes()])
}
