//! Placebos: edits of the same kind and about the same length that have nothing to do with the question.

use super::{Edit, PLACEBO, Parent};
use crate::protocol::{Frame, Spacing};
use crate::score::{GoldEvidence, is_same_page, page_title};
use crate::stats::rng::SplitMix64;
use crate::types::text::is_chinese;
use crate::types::{Step, Tool, Trajectory, sha256_hex};
use std::collections::BTreeSet;

/// What is put in the place of a thought or an observation, sentence by sentence.
const SENTENCES: [&str; 12] = [
    "This is one step of several.",
    "There is more to read.",
    "The next step follows.",
    "The question stays the same.",
    "Some details are still open.",
    "It goes on from here.",
    "This was the step before.",
    "One thing at a time.",
    "Not all of it is known yet.",
    "The rest comes later.",
    "Here the text goes on.",
    "So far, so good.",
];

/// The same in Chinese.
const CHINESE: [&str; 12] = [
    "这是其中一步。",
    "后面还有内容。",
    "接下来是下一步。",
    "问题没有改变。",
    "有些细节还不清楚。",
    "从这里继续。",
    "前面是上一步。",
    "一步一步来。",
    "现在还不完全知道。",
    "其余的以后再说。",
    "文字在这里继续。",
    "到目前为止还好。",
];

/// What is looked up in the place of another word.
const WORDS: [&str; 12] =
    ["also", "part", "name", "other", "known", "first", "later", "place", "made", "several", "called", "between"];

/// The most placebos of a question: their texts begin with different sentences.
pub(crate) const MAX_PLACEBOS: u32 = 12;

/// Longest text that is added where an edit leaves a text out, in characters.
const MAX_ADDED: usize = 200;

/// Pages that placebos are chosen from: those whose titles are about as long as the edit's.
const PAGES: usize = 16;

/// The titles of the pages that a run knows: those that were opened, and the gold pages of its questions.
#[derive(Debug, Default)]
pub(crate) struct Titles(BTreeSet<String>);

impl Titles {
    pub(crate) fn add_gold(&mut self, evidence: &GoldEvidence) {
        self.0.extend(gold(evidence).map(page_title));
    }

    /// Adds the pages that an episode opened.
    pub(crate) fn add_opened(&mut self, trajectory: &Trajectory) {
        let found = |step: &&Step| !step.observation.as_deref().unwrap_or_default().starts_with("Could not find");
        let provenances = trajectory.steps.iter().filter(found).filter_map(|step| step.provenance.as_ref());
        self.0.extend(provenances.map(|provenance| provenance.title.clone()));
    }
}

fn gold(evidence: &GoldEvidence) -> impl Iterator<Item = &str> {
    evidence.groups().iter().flat_map(|group| &group.pages).map(String::as_str)
}

/// What the placebos of a question are made from.
pub(crate) struct Placebos<'a> {
    pub(crate) titles: &'a Titles,
    /// The pages that the question needs, which no placebo opens.
    pub(crate) evidence: Option<&'a GoldEvidence>,
    /// How many there are to be.
    pub(crate) n: u32,
}

impl Edit {
    /// Why no edit is of its kind without doing what it does.
    pub(crate) fn has_no_placebo(&self) -> Option<&'static str> {
        if self.model.is_some() {
            return Some("no placebo exists for another model");
        }
        let answers = self.action.as_ref().is_some_and(|(tool, _)| *tool == Tool::Finish);
        answers.then_some("no placebo exists for an edit that gives the answer")
    }
}

impl Placebos<'_> {
    /// The placebos of an edit: as many as there are to be, or fewer where too few other pages are known.
    pub(crate) fn of(&self, parent: &Parent<'_>, at: usize, edit: &Edit) -> Vec<Edit> {
        let Some(step) = parent.trajectory.steps.get(at.wrapping_sub(1)) else { return Vec::new() };
        let neutral = Neutral::about(parent.trajectory);
        let mut placebos: Vec<Edit> = (0..self.n as usize).map(|number| neutral.texts_of(edit, step, number)).collect();
        if let Some((tool, input)) = &edit.action {
            let others = match tool {
                Tool::Lookup => neutral.ordered(WORDS.iter().filter(|word| *word != input).map(ToString::to_string)),
                _ => self.pages(&neutral, parent.trajectory, step, input),
            };
            placebos.truncate(others.len());
            for (placebo, other) in placebos.iter_mut().zip(others) {
                placebo.action = Some((*tool, other));
            }
        }
        if edit.prompt.is_some() || edit.protocol.is_some() {
            let spacings = spacings(&parent.acting.setup.frame);
            placebos.truncate(spacings.len());
            for (placebo, spacing) in placebos.iter_mut().zip(spacings) {
                placebo.spacing = Some(spacing);
            }
        }
        placebos
    }

    /// Pages that neither the question needs nor its episode knows, about as long in their titles as the edit's.
    fn pages(&self, neutral: &Neutral, trajectory: &Trajectory, step: &Step, input: &str) -> Vec<String> {
        let provenances = trajectory.steps.iter().filter_map(|step| step.provenance.as_ref());
        let opened = provenances.map(|provenance| provenance.title.as_str());
        let edited = [Some(input), step.input.as_deref()].into_iter().flatten();
        let known: Vec<&str> = self.evidence.into_iter().flat_map(gold).chain(opened).chain(edited).collect();
        let is_other = |title: &&String| !known.iter().any(|known| is_same_page(known, title));
        let mut pages: Vec<&String> = self.titles.0.iter().filter(is_other).collect();
        pages.sort_by_key(|title| title.chars().count().abs_diff(input.chars().count()));
        pages.truncate(PAGES);
        neutral.ordered(pages.into_iter().cloned())
    }
}

/// Texts for the placebos of one question, in an order of its own.
struct Neutral {
    seed: u64,
    sentences: Vec<&'static str>,
    between: &'static str,
}

impl Neutral {
    fn about(trajectory: &Trajectory) -> Self {
        let digest = sha256_hex([trajectory.id.as_bytes()]);
        let seed = u64::from_str_radix(&digest[..16], 16).unwrap_or_default();
        let (sentences, between) = if is_chinese(&trajectory.question) { (CHINESE, "") } else { (SENTENCES, " ") };
        let mut neutral = Self { seed, sentences: Vec::new(), between };
        neutral.sentences = neutral.ordered(sentences.into_iter());
        neutral
    }

    /// In the order of the question.
    fn ordered<T>(&self, items: impl Iterator<Item = T>) -> Vec<T> {
        let mut rng = SplitMix64::new(self.seed);
        let mut items: Vec<(u64, T)> = items.map(|item| (rng.next_u64(), item)).collect();
        items.sort_by_key(|(place, _)| *place);
        items.into_iter().map(|(_, item)| item).collect()
    }

    /// The edit with other texts.
    fn texts_of(&self, edit: &Edit, step: &Step, number: usize) -> Edit {
        let text = |edited: &Option<String>, was: &Option<String>| {
            edited.as_ref().map(|edited| self.in_place_of(edited, was.as_deref().unwrap_or_default(), number))
        };
        Edit {
            thought: text(&edit.thought, &step.thought),
            observation: text(&edit.observation, &step.observation),
            by: PLACEBO.to_owned(),
            ..Edit::default()
        }
    }

    /// A text as long as the edit's. Where the edit leaves a text out, that text stays, and the other one is added to it: a
    /// placebo that leaves it out too would do what the edit does.
    fn in_place_of(&self, edited: &str, was: &str, number: usize) -> String {
        let was = was.trim_end();
        if !edited.trim().is_empty() || was.is_empty() {
            return self.text(edited.chars().count(), number);
        }
        format!("{was} {}", self.text(was.chars().count().min(MAX_ADDED), number))
    }

    /// Sentences from the one of this number on, together about as many characters as these.
    fn text(&self, chars: usize, number: usize) -> String {
        let mut text = String::new();
        let mut length = 0;
        for sentence in self.sentences.iter().cycle().skip(number) {
            let more = sentence.chars().count() + if length == 0 { 0 } else { self.between.len() };
            if length > 0 && (length + more).abs_diff(chars) >= length.abs_diff(chars) {
                break;
            }
            if length > 0 {
                text += self.between;
            }
            text += sentence;
            length += more;
        }
        text
    }
}

/// Ways to write the white space of a prompt otherwise, each with another text.
fn spacings(frame: &Frame) -> Vec<Spacing> {
    let mut seen = vec![frame.clone()];
    let mut is_new = |spacing: &Spacing| {
        let spaced = frame.spaced(*spacing);
        let is_new = !seen.contains(&spaced);
        seen.extend(is_new.then_some(spaced));
        is_new
    };
    Spacing::all().filter(|spacing| is_new(spacing)).collect()
}
