//! Exemplars: solved questions shown to the model, and what must hold of them.

use super::problem::ProblemKind;
use super::problems::quoted;
use super::reader::{Reader, Section};
use crate::types::Tool;
use std::collections::HashMap;

/// A solved question, from which every method and protocol renders its own example.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exemplar {
    /// What the exemplar is there to show, such as `bridge` or `missed search`; for readers only.
    pub covers: Option<String>,
    /// The question or claim, one line.
    pub question: String,
    /// The reasoning in one go, for methods without tools.
    pub rationale: Option<String>,
    /// The answer, equal to the argument of the last step's `Finish[…]`.
    pub answer: String,
    /// The steps, numbered by position; the last one finishes and is the only one without observation.
    pub steps: Vec<ExemplarStep>,
}

/// One step of an exemplar.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExemplarStep {
    /// The thought, one line.
    pub thought: String,
    /// The action, such as `Search[Lake Bled]`, one line.
    pub action: String,
    /// What the tool answers; absent in the last step.
    pub observation: Option<String>,
}

/// Reads `[[exemplar]]` and notes what is wrong with each.
pub(super) fn read_all(reader: &mut Reader<'_>, file: &Section<'_>) -> Vec<Exemplar> {
    let Some(sections) = reader.required_tables(file, "exemplar") else { return Vec::new() };
    let mut first_lines = HashMap::new();
    let mut exemplars = Vec::with_capacity(sections.len());
    for section in sections {
        reader.known_keys(&section, &["covers", "question", "rationale", "answer", "step"]);
        let question = reader.required_line(&section, "question");
        if let Some(question) = &question {
            let line = section.line_of("question");
            let first_line = *first_lines.entry(question.clone()).or_insert(line);
            if first_line != line {
                let key = section.path("question");
                reader.note(line, ProblemKind::DuplicateQuestion { key, first_line });
            }
        }
        let answer = reader.required_line(&section, "answer");
        exemplars.push(Exemplar {
            covers: reader.string(&section, "covers"),
            rationale: reader.string(&section, "rationale"),
            steps: read_steps(reader, &section, answer.as_deref()),
            question: question.unwrap_or_default(),
            answer: answer.unwrap_or_default(),
        });
    }
    exemplars
}

fn read_steps(reader: &mut Reader<'_>, exemplar: &Section<'_>, answer: Option<&str>) -> Vec<ExemplarStep> {
    let sections = reader.tables(exemplar, "step");
    if sections.is_empty() {
        reader.note(exemplar.line(), ProblemKind::NoSteps(exemplar.name().to_owned()));
    }
    let last = sections.len().saturating_sub(1);
    sections
        .iter()
        .enumerate()
        .map(|(i, section)| {
            reader.known_keys(section, &["thought", "action", "observation"]);
            let step = ExemplarStep {
                thought: reader.required_line(section, "thought").unwrap_or_default(),
                action: read_action(reader, section, i == last, answer).unwrap_or_default(),
                observation: reader.string(section, "observation"),
            };
            if i < last && !section.has("observation") {
                reader.note(section.line(), ProblemKind::MissingKey(section.path("observation")));
            }
            if i == last && section.has("observation") {
                let kind = ProblemKind::ObservationAfterFinish(section.path("observation"));
                reader.note(section.line_of("observation"), kind);
            }
            step
        })
        .collect()
}

fn read_action(reader: &mut Reader<'_>, section: &Section<'_>, last: bool, answer: Option<&str>) -> Option<String> {
    let action = reader.required_line(section, "action")?;
    let key = section.path("action");
    let line = section.line_of("action");
    let (tool, input) = parse(&action);
    match tool {
        Tool::Invalid | Tool::Think => reader.note(line, ProblemKind::BadAction { key, action: quoted(&action) }),
        Tool::Finish if !last => reader.note(line, ProblemKind::EarlyFinish(key)),
        Tool::Search | Tool::Lookup if last => {
            reader.note(line, ProblemKind::NoFinish { key, action: quoted(&action) });
        }
        Tool::Finish => {
            if let Some(answer) = answer.filter(|answer| *answer != input) {
                let (finished, answer) = (quoted(&input), quoted(answer));
                reader.note(line, ProblemKind::AnswerDiffers { key, finished, answer });
            }
        }
        Tool::Search | Tool::Lookup => {}
    }
    Some(action)
}

/// The paper's loop lowers the first letter and hands the rest to the environment; an exemplar is held to that.
pub(super) fn parse(action: &str) -> (Tool, String) {
    let mut chars = action.chars();
    let Some(first) = chars.next() else { return (Tool::Invalid, String::new()) };
    let lowered: String = first.to_lowercase().chain(chars).collect();
    // White space around an action would be shown to the model as the form to follow.
    if lowered.trim() != lowered {
        return (Tool::Invalid, lowered);
    }
    let (tool, input) = Tool::parse_action(&lowered);
    (tool, input.to_owned())
}
