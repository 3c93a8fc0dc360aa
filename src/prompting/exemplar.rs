//! Exemplars: solved questions shown to the model, and their rules.

use super::reader::{Fault, Reader, Table, quoted};
use crate::base::Tool;
use std::collections::HashMap;

/// A solved question, from which every method and protocol renders its own example.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exemplar {
    /// What the exemplar demonstrates, such as `bridge` or `missed search`; for readers only.
    pub covers: Option<String>,
    pub question: String,
    /// The reasoning in one paragraph, for methods without tools.
    pub rationale: Option<String>,
    /// The answer, equal to the argument of the last step's `Finish[…]`.
    pub answer: String,
    /// The steps, numbered by position; the last one finishes and is the only one without observation.
    pub steps: Vec<ExemplarStep>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExemplarStep {
    pub thought: String,
    /// The action, such as `Search[Lake Bled]`, one line.
    pub action: String,
    /// The observation; absent in the last step.
    pub observation: Option<String>,
}

pub(super) fn read_exemplars(reader: &mut Reader<'_>, file: &Table<'_>) -> Vec<Exemplar> {
    if !file.has("exemplar") {
        let hint = "add [[exemplar]] blocks, or write `exemplar = []` for a prompt without examples";
        reader.note(file.line(), Fault::from("missing key `exemplar`".to_owned()).hint(hint));
    }
    let sections = reader.sections(file, "exemplar");
    let mut first_lines = HashMap::new();
    let mut exemplars = Vec::with_capacity(sections.len());
    for section in sections {
        reader.known_keys(&section, &["covers", "question", "rationale", "answer", "step"]);
        let question = reader.required_line(&section, "question");
        if let Some(question) = &question {
            let line = reader.line_in(&section, "question");
            let first_line = *first_lines.entry(question.clone()).or_insert(line);
            if first_line != line {
                let key = section.path("question");
                reader.note(line, format!("`{key}` repeats the question of line {first_line}"));
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

fn read_steps(reader: &mut Reader<'_>, exemplar: &Table<'_>, answer: Option<&str>) -> Vec<ExemplarStep> {
    let sections = reader.sections(exemplar, "step");
    if sections.is_empty() {
        reader.note(exemplar.line(), format!("`{}` has no steps", exemplar.name()));
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
                reader.missing(section, "observation");
            }
            if i == last && section.has("observation") {
                let key = section.path("observation");
                let fault = Fault::from(format!("`{key}` is never shown: the step finishes the exemplar"));
                let hint = "leave the observation of the last step out";
                reader.note(reader.line_in(section, "observation"), fault.hint(hint));
            }
            step
        })
        .collect()
}

fn read_action(reader: &mut Reader<'_>, section: &Table<'_>, last: bool, answer: Option<&str>) -> Option<String> {
    let action = reader.required_line(section, "action")?;
    let key = section.path("action");
    let shown = quoted(&action);
    let (tool, input) = parse_action(&action);
    let fault = match tool {
        Tool::Invalid | Tool::Think => Fault::from(format!("`{key}` is not an action: `{shown}`"))
            .hint("write Search[…], Lookup[…] or Finish[…], and nothing after it"),
        Tool::Finish if !last => format!("`{key}` finishes, but steps follow").into(),
        Tool::Search | Tool::Lookup if last => {
            Fault::from(format!("the last step's action `{shown}` is not `Finish[…]` (`{key}`)"))
                .hint("end every exemplar with Finish[answer]")
        }
        Tool::Finish if answer.is_some_and(|answer| answer != input) => {
            let (finished, answer) = (quoted(&input), quoted(answer.unwrap_or_default()));
            Fault::from(format!("`{key}` finishes with `{finished}`, but the exemplar's answer is `{answer}`"))
                .hint("both must be the same text")
        }
        Tool::Search | Tool::Lookup | Tool::Finish => return Some(action),
    };
    reader.note(reader.line_in(section, "action"), fault);
    Some(action)
}

/// Parses an action as the paper's loop does: the first letter may be upper case.
pub(super) fn parse_action(action: &str) -> (Tool, String) {
    let mut chars = action.chars();
    let Some(first) = chars.next() else { return (Tool::Invalid, String::new()) };
    let lowered: String = first.to_lowercase().chain(chars).collect();
    // The model would imitate white space around an action.
    if lowered.trim() != lowered {
        return (Tool::Invalid, lowered);
    }
    let (tool, input) = Tool::parse_action(&lowered);
    (tool, input.to_owned())
}
