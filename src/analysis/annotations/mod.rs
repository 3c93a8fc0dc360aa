//! Judgements of people on episodes: their file, where they come from, and how they agree with the rules and each other.
//!
//! ```text
//! <run>/annotations.jsonl      one judgement a line, appended; the latest of each person on each episode counts
//! ```

mod agreement;
mod import;

pub(crate) use agreement::{Clusters, Disagreement, Judgements, Person, PersonPair, Table};
pub(crate) use import::{EpisodeIndex, Imported, import};

use crate::base::text::{is_control, printable};
use crate::base::{Trajectory, json_error};
use crate::runner::store::{RunFolder, Skipped, StoreError, append_lines, carry_lines, read_lines};
use crate::scoring::FailureClass;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap, HashSet};

#[cfg(test)]
mod tests;

/// Version of the stored judgement; readers accept older ones and leave newer ones out.
pub(crate) const ANNOTATION_VERSION: u32 = 1;

/// Longest name of a person, in characters.
const LONGEST_NAME: usize = 100;
/// Longest note, in characters.
const LONGEST_NOTE: usize = 10_000;

/// One line of `annotations.jsonl`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
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
        Self::parse(&name)
            .ok_or_else(|| format!("unknown class `{}`; classes are {}", printable(&name, 40), Self::names()))
    }
}

impl From<AnnotationClass> for &'static str {
    fn from(class: AnnotationClass) -> Self {
        class.name()
    }
}

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
    /// One of this episode that says nothing yet.
    pub(crate) fn of(trajectory: &Trajectory) -> Self {
        Self {
            v: ANNOTATION_VERSION,
            key: trajectory.key.clone(),
            id: trajectory.id.clone(),
            variant: trajectory.variant.clone(),
            repeat: trajectory.repeat,
            started_at: Some(trajectory.started_at.clone()).filter(|at| !at.is_empty()),
            ..Self::default()
        }
    }

    /// What is wrong with it, if anything is.
    pub(crate) fn fault(&self) -> Option<String> {
        if self.v > ANNOTATION_VERSION {
            return Some(format!("format version {}, and this program reads up to {ANNOTATION_VERSION}", self.v));
        }
        if let Some(why) = bad_name(&self.by) {
            return Some(format!("`by` is not a name: {why}"));
        }
        if self.at.parse::<Timestamp>().is_err() {
            return Some(format!("`at` is not a time: `{}`", printable(&self.at, 40)));
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
    fn time(&self) -> Option<Timestamp> {
        self.at.parse().ok()
    }
}

#[derive(Debug, Default)]
pub(crate) struct Annotations {
    /// In the order of the file, also those that later ones replace.
    all: Vec<Annotation>,
    pub(crate) skipped: Vec<Skipped>,
}

impl Annotations {
    /// Reads those of a run, if there are any. Lines that cannot be read are left out and listed.
    pub(crate) fn read(folder: &RunFolder) -> Result<Self, StoreError> {
        let (all, skipped) = read_lines(&folder.annotations(), parse)?;
        Ok(Self { all, skipped })
    }

    /// These with the readings of models behind them.
    pub(crate) fn with(mut self, readings: Vec<Annotation>) -> Self {
        self.all.extend(readings);
        self
    }

    /// The latest judgement of each person on each episode that was not withdrawn, by person, then in file order.
    pub(crate) fn latest(&self) -> Vec<&Annotation> {
        let mut latest: HashMap<(&str, &str), (usize, &Annotation)> = HashMap::new();
        for (at, annotation) in self.all.iter().enumerate() {
            let known = latest.entry((&annotation.key, &annotation.by)).or_insert((at, annotation));
            if annotation.time() >= known.1.time() {
                *known = (at, annotation);
            }
        }
        let mut latest: Vec<_> = latest.into_values().filter(|(_, annotation)| !annotation.is_empty()).collect();
        latest.sort_by(|a, b| (&a.1.by, a.0).cmp(&(&b.1.by, b.0)));
        latest.into_iter().map(|(_, annotation)| annotation).collect()
    }

    /// The latest of each person, by the episode's key.
    pub(crate) fn by_key(&self) -> BTreeMap<&str, Vec<&Annotation>> {
        let mut by_key: BTreeMap<&str, Vec<&Annotation>> = BTreeMap::new();
        for annotation in self.latest() {
            by_key.entry(&annotation.key).or_default().push(annotation);
        }
        by_key
    }

    pub(crate) fn notes(&self) -> impl Iterator<Item = String> {
        notes(&self.skipped)
    }
}

/// A warning for each line that cannot be read.
pub(crate) fn notes(skipped: &[Skipped]) -> impl Iterator<Item = String> {
    let note = |Skipped { path, line, reason }: &_| format!("warning: {}:{line}: {reason}; left out", path.display());
    skipped.iter().map(note)
}

fn parse(line: &[u8]) -> Result<Annotation, String> {
    let annotation: Annotation =
        serde_json::from_slice(line).map_err(|error| format!("not a judgement: {}", json_error::in_line(&error)))?;
    annotation.fault().map_or(Ok(annotation), Err)
}

/// Appends judgements to those of a run and waits until they are on disk, so that several people can judge at once.
pub(crate) fn append(folder: &RunFolder, annotations: &[Annotation]) -> Result<(), StoreError> {
    append_lines(&folder.annotations(), annotations)
}

/// Writes the judgements of several folders of one run into a new one, each line once, but for those on records that are
/// `dropped`, which have these keys and starts.
pub(crate) fn carry(
    folders: &[&RunFolder],
    new: &RunFolder,
    dropped: &HashSet<(String, String)>,
) -> Result<Vec<String>, StoreError> {
    let kept = |line: &[u8]| {
        let Annotation { key, started_at, .. } = parse(line)?;
        let is_dropped = started_at.is_some_and(|at| dropped.contains(&(key, at)));
        if is_dropped { Err("it judges a record that is not kept".to_owned()) } else { Ok(()) }
    };
    carry_lines(folders.iter().map(|folder| folder.annotations()), &new.annotations(), kept)
}

/// What a person types after reading an episode.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Answer {
    Judged(Judgement),
    Skip,
    Back,
    Quit,
    Help,
    Nothing,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Judgement {
    pub(crate) correct: Option<bool>,
    pub(crate) class: Option<AnnotationClass>,
    pub(crate) step: Option<u32>,
    pub(crate) note: Option<String>,
}

/// What can be typed, by key and word. A line that begins with a key and a class makes it the key of that class.
pub(crate) const HELP: &str = "\
y right          n wrong, without saying why
s search         the page that was needed was never reached
k lookup         the page was open, but the sentence that decides was never shown
r reasoning      what was needed was shown, and the agent concluded wrongly
l label          the answer is as good as the gold (counts as right)
h hallucination  it asserts what nothing shown supports
o loop           it repeated itself until the steps ran out
f format         the reply was no usable action or answer
c cut            the reply or the conversation was cut
d declined       the model declined to answer
m limit          the steps ran out for another reason
p agent          the agent's program crashed, took too long or gave no answer
g gold-wrong     the gold answer is wrong or outdated
a ambiguous      several answers are right, or none can be decided
- skip           b back    q quit    ? this list
after a key: the number of the step where it went wrong, and a note: k 3 one page too early
";

/// The keys that name a class: each with what it says, and in words.
pub(crate) fn class_keys() -> impl Iterator<Item = (&'static str, Judgement, &'static str)> {
    HELP.lines().filter_map(|line| {
        let (key, rest) = line.split_once(' ')?;
        let (name, about) = rest.split_once(' ')?;
        match parse_answer(key) {
            Ok(Answer::Judged(judgement)) if judgement.class?.name() == name => Some((key, judgement, about.trim())),
            _ => None,
        }
    })
}

pub(crate) fn key_line() -> String {
    let class = |(key, judgement, _): (&str, Judgement, _)| {
        let name = judgement.class.map_or("", AnnotationClass::name);
        format!("{key} {}, ", name.strip_suffix("-wrong").unwrap_or(name))
    };
    let classes: String = class_keys().map(class).collect();
    format!("y right, n wrong, {classes}- skip, b back, q quit, ? help")
}

pub(crate) fn parse_answer(line: &str) -> Result<Answer, String> {
    let line = line.trim();
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let plain = match word {
        "" => Some(Answer::Nothing),
        "-" | "skip" => Some(Answer::Skip),
        "b" | "back" => Some(Answer::Back),
        "q" | "quit" => Some(Answer::Quit),
        "?" | "help" => Some(Answer::Help),
        _ => None,
    };
    match (plain, rest.trim()) {
        (Some(answer), "") => Ok(answer),
        (Some(_), _) => Err(format!("`{word}` takes nothing after it")),
        (None, rest) => judged(word, rest).map(Answer::Judged),
    }
}

fn judged(word: &str, rest: &str) -> Result<Judgement, String> {
    let class = match word {
        "y" | "right" | "n" | "wrong" => None,
        _ => {
            let of_key = |line: &str| {
                let mut words = line.split_whitespace();
                let is_it = words.next() == Some(word);
                AnnotationClass::parse(words.next()?).filter(|_| is_it)
            };
            let class = HELP.lines().find_map(of_key).or_else(|| AnnotationClass::parse(word));
            Some(class.ok_or_else(|| format!("`{}` is neither a key nor a class; ? lists them", printable(word, 40)))?)
        }
    };
    let correct = match class {
        None => Some(matches!(word, "y" | "right")),
        // Nobody can be right or wrong by such a gold answer.
        Some(AnnotationClass::GoldWrong | AnnotationClass::Ambiguous) => None,
        Some(AnnotationClass::Failure(class)) => Some(class == FailureClass::Label),
    };
    let (number, after) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let (step, note) = match number.parse::<u32>() {
        Ok(0) => return Err("steps are counted from 1".to_owned()),
        Ok(step) => (Some(step), after.trim()),
        Err(_) => (None, rest),
    };
    Ok(Judgement { correct, class, step, note: Some(note.to_owned()).filter(|note| !note.is_empty()) })
}
