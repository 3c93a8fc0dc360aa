//! A protocol's labels, learned from what it writes.

use super::Wanted;
use super::observation::is_error;
use crate::llm::baseline::BaselineSettings;
use crate::protocol::{Layout, Protocol, react_paper};
use crate::types::{Role, Tool};

/// Placeholder that no protocol escapes.
const MARK: &str = "⁂";
/// A step number that no label contains otherwise.
const NUMBER: usize = 7;
/// Both colons: Chinese text may use either.
pub(super) const COLONS: [char; 2] = [':', '：'];
/// Shortest part that identifies a force-stop text, in bytes.
const MIN_FORCE_STOP: usize = 8;

/// How conversations of this protocol look.
#[expect(clippy::struct_excessive_bools, reason = "each is a trait of its own")]
#[derive(Debug)]
pub(super) struct Labels<'a> {
    /// Writes the steps.
    pub(super) protocol: &'a dyn Protocol,
    /// Labels before a question, with their colon, and whether they announce a claim.
    questions: Vec<(String, bool)>,
    /// Whether questions are messages without a label.
    pub(super) raw: bool,
    pub(super) claims: bool,
    /// Whether tools are called natively.
    pub(super) calls: bool,
    pub(super) numbered: bool,
    /// The label of an observation, split at the step's number if it has one.
    observation: (String, Option<String>),
    /// A part of the force-stop text.
    force_stop: Option<&'a str>,
}

impl<'a> Labels<'a> {
    pub(super) fn of(settings: &'a BaselineSettings) -> Self {
        let protocol: &dyn Protocol = settings.protocol.as_deref().unwrap_or(&react_paper::Paper);
        let number = NUMBER.to_string();
        let shown = protocol.observation(NUMBER, MARK);
        let observation = before_mark(&shown).to_owned();
        let observation = match observation.split_once(&number) {
            Some((left, right)) => (left.to_owned(), Some(right.to_owned())),
            None => (observation, None),
        };
        let label = before_mark(&protocol.question(&settings.question_label, MARK)).to_owned();
        let raw = label.is_empty() && matches!(protocol.layout(), Layout::System | Layout::Instruction);
        Self {
            protocol,
            questions: question_labels(protocol, settings),
            raw,
            claims: settings.claims,
            calls: protocol.observation_role() == Role::Tool,
            numbered: protocol.step(NUMBER, Some(MARK), Tool::Search, MARK).contains(&number),
            observation,
            force_stop: piece(&settings.force_stop),
        }
    }

    /// Whether question and steps are in one message.
    pub(super) fn template(&self) -> bool {
        self.protocol.layout() == Layout::Template
    }

    /// Whether observations are messages without a label.
    pub(super) fn bare(&self) -> bool {
        self.observation.0.is_empty()
    }

    /// The last question of a text: its words, whether it is a claim, and what follows its line.
    pub(super) fn labelled<'t>(&self, text: &'t str) -> Option<(&'t str, bool, &'t str)> {
        let last = |label: &str| {
            // Observations are single lines, so a label at the start of a line comes from the protocol.
            let at = text.rmatch_indices(label).find(|(at, _)| *at == 0 || text[..*at].ends_with('\n'));
            at.map(|(at, _)| at + label.len())
        };
        let found: Vec<(usize, bool)> =
            self.questions.iter().filter_map(|(label, claim)| Some((last(label)?, *claim))).collect();
        let start = found.iter().map(|(start, _)| *start).max()?;
        // If questions and claims share a label, it does not decide.
        let claim = found.iter().filter(|(at, _)| *at == start).all(|(_, claim)| *claim);
        let line = text[start..].split('\n').next().unwrap_or_default();
        Some((line, claim, &text[start + line.len()..]))
    }

    /// The last question with a label inside a message, where a plain text stands around it, and whether it is a claim.
    pub(super) fn inside<'t>(&self, message: &'t str) -> Option<(&'t str, bool)> {
        let (question, claim, _) = self.labelled(message).filter(|_| !self.raw)?;
        Some((question, claim)).filter(|_| !question.trim().is_empty())
    }

    /// What follows the label of a question at the start of a message, and whether it is a claim.
    pub(super) fn question<'t>(&self, message: &'t str) -> Option<(&'t str, bool)> {
        let message = message.trim_start();
        let found: Vec<(&str, bool)> = self
            .questions
            .iter()
            .filter_map(|(label, claim)| Some((message.strip_prefix(&**label)?, *claim)))
            .collect();
        let claim = found.iter().all(|(_, claim)| *claim);
        found.first().map(|(rest, _)| (*rest, claim))
    }

    /// What follows the label of an observation at the start of a message, and its number if it has one.
    pub(super) fn observation<'t>(&self, message: &'t str) -> Option<(&'t str, Option<usize>)> {
        let (left, right) = &self.observation;
        if self.bare() {
            return None;
        }
        let rest = message.trim_start().strip_prefix(&**left)?;
        let Some(right) = right else { return Some((rest, None)) };
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let number = rest[..digits].parse().ok()?;
        Some((rest[digits..].strip_prefix(&**right)?, Some(number)))
    }

    /// A message without a force-stop text at its end, and whether there was one.
    pub(super) fn force_stop<'t>(&self, message: &'t str) -> (&'t str, bool) {
        if let Some((before, _)) = self.force_stop.and_then(|part| message.rsplit_once(part)) {
            return (before, true);
        }
        // Without a known text: a last line that names the finish action is not from a tool. But error messages name
        // all actions.
        match message.trim_end().rsplit_once('\n') {
            Some((before, last)) if self.numbered && last.contains("Finish[") && !message.lines().any(is_error) => {
                (before, true)
            }
            _ => (message, false),
        }
    }

    /// What to write after a prompt that ends in this line; `None` if the line is not a label.
    pub(super) fn wanted(&self, line: &str, next: usize) -> Option<Wanted> {
        let label = line.trim().strip_suffix(COLONS)?.trim_end();
        let number = |word: &str| -> Option<usize> { label.strip_prefix(word)?.trim().parse().ok() };
        if let Some(n) = number("Action") {
            return Some(Wanted::Action(n));
        }
        if let Some(n) = number("Thought") {
            return Some(Wanted::Step { n, labelled: true });
        }
        match label {
            "Answer" | "答案" | "回答" => Some(Wanted::Answer),
            "Thought" if self.numbered => Some(Wanted::Reasons),
            "Thought" => Some(Wanted::Step { n: next, labelled: true }),
            _ => None,
        }
    }
}

/// The text before the placeholder on its line, trimmed.
fn before_mark(shown: &str) -> &str {
    let before = shown.split(MARK).next().unwrap_or_default();
    before.rsplit('\n').next().unwrap_or_default().trim()
}

/// Labels as the protocol writes them, as they are set, and the one of templates that only have one.
fn question_labels(protocol: &dyn Protocol, settings: &BaselineSettings) -> Vec<(String, bool)> {
    let mut labels: Vec<(String, bool)> = Vec::new();
    let mut add = |label: String, claim: bool| {
        if !label.is_empty() && !labels.contains(&(label.clone(), claim)) {
            labels.push((label, claim));
        }
    };
    for (label, claim) in [(&settings.question_label, false), (&settings.claim_label, true)] {
        add(before_mark(&protocol.question(label, MARK)).to_owned(), claim);
        for colon in COLONS {
            add(format!("{label}{colon}"), claim);
        }
    }
    add("Question:".to_owned(), false);
    labels
}

/// The longest part of a text between slots (`{…}`).
fn piece(text: &str) -> Option<&str> {
    let pieces = text.split('{').map(|part| part.split_once('}').map_or(part, |(_, after)| after));
    let longest = pieces.map(str::trim).max_by_key(|piece| piece.len())?;
    (longest.len() >= MIN_FORCE_STOP).then_some(longest)
}
