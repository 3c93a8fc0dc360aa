//! One person's judgement on one episode.

use crate::base::text::is_control;
use crate::scoring::FailureClass;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// Version of the stored judgement; readers accept older ones and leave newer ones out.
pub(crate) const ANNOTATION_VERSION: u32 = 1;

/// Longest name of a person, in characters.
const LONGEST_NAME: usize = 100;
/// Longest note, in characters.
const LONGEST_NOTE: usize = 10_000;

/// One line of `annotations.jsonl`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Annotation {
    /// Format version, 1 today; always the first field.
    pub v: u32,
    /// Key of the episode, as in its trajectory.
    pub key: String,
    pub id: String,
    pub variant: String,
    /// Which repeat, from 0.
    pub repeat: u32,
    pub by: String,
    /// When, RFC 3339 in UTC.
    pub at: String,
    /// Whether the answer is right; absent where that was not judged.
    pub correct: Option<bool>,
    /// Why the answer is wrong, or what is wrong with the question.
    pub class: Option<AnnotationClass>,
    /// The step at which it went wrong, from 1.
    pub step: Option<u32>,
    pub note: Option<String>,
    /// Whether it was judged without sight of the rules' verdict and class.
    #[serde(default)]
    pub blind: bool,
    /// Digest of the page on which it was judged.
    pub page_sha256: Option<String>,
    /// When the episode began, as in its trajectory. Runs with the same settings have episodes with the same key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<String>,
}

/// What a person may choose: the failure classes of the rules, and two that no rule can find.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "&'static str")]
pub enum AnnotationClass {
    Failure(FailureClass),
    /// The gold answer is wrong or outdated.
    GoldWrong,
    /// The question has several right answers, or none that can be decided.
    Ambiguous,
}

impl AnnotationClass {
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        FailureClass::ALL.into_iter().map(Self::Failure).chain([Self::GoldWrong, Self::Ambiguous])
    }

    pub(crate) fn parse(name: &str) -> Option<Self> {
        Self::all().find(|class| class.name() == name)
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Failure(class) => class.name(),
            Self::GoldWrong => "gold-wrong",
            Self::Ambiguous => "ambiguous",
        }
    }

    pub(crate) fn names() -> String {
        Self::all().map(Self::name).collect::<Vec<_>>().join(", ")
    }
}

impl TryFrom<String> for AnnotationClass {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        Self::parse(&name).ok_or_else(|| format!("unknown class `{}`; classes are {}", excerpt(&name), Self::names()))
    }
}

impl From<AnnotationClass> for &'static str {
    fn from(class: AnnotationClass) -> Self {
        class.name()
    }
}

fn excerpt(text: &str) -> String {
    crate::base::text::printable(text, 40)
}

/// Whether a name is that of a model among people.
pub(crate) fn is_model(by: &str) -> bool {
    by.starts_with("model:")
}

/// Why a text cannot be a person's name. Tables join names with `|`.
pub(crate) fn bad_name(name: &str) -> Option<&'static str> {
    match name {
        _ if name.trim().is_empty() => Some("it is empty"),
        _ if name.trim() != name => Some("it begins or ends with a space"),
        _ if name.chars().count() > LONGEST_NAME => Some("it is longer than 100 characters"),
        _ if name.contains(|c| is_control(c) || c == '|' || c == '\n') => Some("it holds `|` or a control character"),
        _ => None,
    }
}

impl Annotation {
    /// What is wrong with it, if anything is.
    pub(crate) fn fault(&self) -> Option<String> {
        if self.v > ANNOTATION_VERSION {
            return Some(format!("format version {}, and this program reads up to {ANNOTATION_VERSION}", self.v));
        }
        if let Some(why) = bad_name(&self.by) {
            return Some(format!("`by` is not a name: {why}"));
        }
        if self.at.parse::<Timestamp>().is_err() {
            return Some(format!("`at` is not a time: `{}`", excerpt(&self.at)));
        }
        if self.step == Some(0) {
            return Some("steps are counted from 1".to_owned());
        }
        let note = self.note.as_deref().unwrap_or_default();
        (note.chars().nth(LONGEST_NOTE).is_some()).then(|| format!("the note is longer than {LONGEST_NOTE} characters"))
    }

    /// Whether it says nothing, which withdraws what the person said before.
    pub(crate) fn is_empty(&self) -> bool {
        self.correct.is_none() && self.class.is_none() && self.note.is_none()
    }

    /// Whether it says the same, whenever and wherever it was said.
    pub(crate) fn says(&self, other: &Self) -> bool {
        (self.correct, self.class, self.step, &self.note, self.blind)
            == (other.correct, other.class, other.step, &other.note, other.blind)
    }

    /// When it was judged; judgements are in the order of their times.
    pub(super) fn time(&self) -> Option<Timestamp> {
        self.at.parse().ok()
    }
}
