//! One verdict of a judge on one answer, or one reading of one episode.

use crate::analysis::annotations::AnnotationClass;
use crate::base::{Decoding, Usage, sha256_hex};
use crate::runner::store::RunFolder;
use crate::scoring::FailureClass;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::fmt::Debug;
use std::path::PathBuf;

/// An answer of some episode, with what a judge is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) id: String,
    pub(crate) question: String,
    pub(crate) golds: Vec<String>,
    pub(crate) text: String,
    /// Whether exact match calls it right.
    pub(crate) right: bool,
    /// The episode behind it, where that is to be read too.
    pub(crate) episode: Option<Read>,
}

/// An episode as a model reads it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Read {
    pub(crate) of: EpisodeRef,
    pub(crate) steps: String,
}

impl Answer {
    /// Whether there is anything to judge.
    pub(crate) fn is_there(answer: Option<&str>) -> bool {
        answer.is_some_and(|answer| !answer.trim().is_empty())
    }
}

/// Version of the stored lines; readers accept older ones and leave newer ones out.
pub(crate) const VERDICT_VERSION: u32 = 1;

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
    pub(crate) seed: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Chosen {
    /// Answers that exact match calls wrong, and a sample of the others.
    WrongByEm,
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

/// The words that a model may say of one kind of thing, what it is asked, and where a run keeps what was said.
pub(crate) trait JudgeTask: Copy + Debug + Eq + Serialize + DeserializeOwned + 'static {
    /// The prompt of our own.
    const PROMPT: &'static str;
    /// Placeholders that a prompt must have.
    const NEEDED: &'static [&'static str];
    /// What a prompt must have words for.
    const WORDS: &'static [Self];
    /// A reply without any of them.
    const UNREADABLE: Self;
    /// The flag that names the model.
    const FLAG: &'static str;
    /// What models are called here, in front of their names.
    const NAME: &'static str;
    /// What a model's answer is called, in messages.
    const LINE: &'static str;
    /// What is asked about, and what happens to it, in messages.
    const THING: [&'static str; 2];

    fn name(self) -> &'static str;

    fn file(folder: &RunFolder) -> PathBuf;
}

impl JudgeTask for Verdict {
    const PROMPT: &'static str = include_str!("prompt.toml");
    const NEEDED: &'static [&'static str] = &["question", "golds", "answer"];
    const WORDS: &'static [Self] = &[Self::Correct, Self::Incorrect];
    const UNREADABLE: Self = Self::Unreadable;
    const FLAG: &'static str = "--judge";
    const NAME: &'static str = "judge";
    const LINE: &'static str = "verdict";
    const THING: [&'static str; 2] = ["answer", "judged"];

    fn name(self) -> &'static str {
        self.name()
    }

    fn file(folder: &RunFolder) -> PathBuf {
        folder.verdicts()
    }
}

/// Why a model finds that an episode failed; absent where its reply names no class.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "&'static str")]
pub(crate) struct Reading(pub(crate) Option<AnnotationClass>);

const UNREADABLE: &str = "unreadable";

/// A class that a reader can find in the steps; the program knows of the others.
const fn found(class: FailureClass) -> Reading {
    Reading(Some(AnnotationClass::Failure(class)))
}

impl JudgeTask for Reading {
    const PROMPT: &'static str = include_str!("classify.toml");
    const NEEDED: &'static [&'static str] = &["question", "golds", "answer", "steps"];
    const WORDS: &'static [Self] = &[
        found(FailureClass::Search),
        found(FailureClass::Lookup),
        found(FailureClass::Reasoning),
        found(FailureClass::Label),
        found(FailureClass::Hallucination),
        found(FailureClass::Loop),
        found(FailureClass::Format),
    ];
    const UNREADABLE: Self = Self(None);
    const FLAG: &'static str = "--classify";
    const NAME: &'static str = "model";
    const LINE: &'static str = "reading";
    const THING: [&'static str; 2] = ["episode", "classified"];

    fn name(self) -> &'static str {
        self.0.map_or(UNREADABLE, AnnotationClass::name)
    }

    fn file(folder: &RunFolder) -> PathBuf {
        folder.classifications()
    }
}

impl TryFrom<String> for Reading {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        if name == UNREADABLE { Ok(Self(None)) } else { AnnotationClass::try_from(name).map(|class| Self(Some(class))) }
    }
}

impl From<Reading> for &'static str {
    fn from(reading: Reading) -> Self {
        JudgeTask::name(reading)
    }
}
