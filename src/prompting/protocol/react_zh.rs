//! `react-zh`: the simplified Chinese script, a chat model's version of the paper's loop.
//!
//! Labels are numbered, with no space after the colon. There is no second call: what cannot be read is an invalid
//! action and costs a step. Labels may have a full-width colon, but the verbs are taken exactly as they are shown.

use super::react_paper::action_lines;
use super::{Dialogue, Episode, Layout, Parsed, Profile, Protocol, Setup, Turn, react_paper};
use crate::base::python::{is_python_space, strip};
use crate::base::{Question, Reply, Tool};
use std::sync::Arc;

pub const ID: &str = "react-zh";
/// What the script answers to `Finish[…]`.
const DONE: &str = "任务完成。";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Script;

impl Protocol for Script {
    fn profile(&self) -> Profile {
        let profile = Profile::new(ID, 8, Layout::Text);
        Profile { max_tokens: 200, acts_without_thoughts: true, ..profile }
    }

    fn dialogue(&self, setup: &Arc<Setup>) -> Box<dyn Dialogue> {
        Box::new(ReactZh { episode: Episode::new(setup), transcript: String::new() })
    }

    fn parse(&self, output: &str, step: usize) -> Parsed {
        let (thought, action) = split_step(output, step);
        react_paper::parsed(thought, dispatch(action), invalid)
    }

    fn question(&self, label: &str, question: &str) -> String {
        format!("\n{label}:{question}\n")
    }

    fn step(&self, n: usize, thought: Option<&str>, tool: Tool, input: &str) -> String {
        action_lines(n, thought, &react_paper::action(tool, input), "")
    }

    fn observation(&self, n: usize, text: &str) -> String {
        format!("Observation {n}:{text}\n")
    }
}

#[derive(Debug)]
struct ReactZh {
    episode: Episode,
    /// Question and steps so far, as they follow the prefix.
    transcript: String,
}

impl ReactZh {
    fn ask(&mut self) -> Turn {
        // The script gives a sentence for an answer when no step is left, which says that there is none.
        if let Some(end) = self.episode.over("steps") {
            return end;
        }
        let (Setup { question_label, thoughts, .. }, n) = (self.episode.setup.as_ref(), self.episode.step);
        let label = if *thoughts { "Thought" } else { "Action" };
        let stop = vec![format!("\nObservation {n}:"), format!("\n{question_label}:"), format!("\n{label} {}:", n + 1)];
        self.episode.ask_text(format!("{}{label} {n}:", self.transcript), stop)
    }
}

impl Dialogue for ReactZh {
    fn begin(&mut self, question: &Question) -> Turn {
        self.transcript = self.episode.question_text(&Script, question);
        self.ask()
    }

    fn completion(&mut self, text: &str) -> Turn {
        let n = self.episode.step;
        let (thought, action) = if self.episode.setup.thoughts {
            let (thought, action) = split_step(text, n);
            (Some(thought), action)
        } else {
            (None, without_labels(strip(text), "action", n))
        };
        self.transcript.push_str(&action_lines(n, thought, action, ""));
        let (tool, input) = dispatch(action);
        let reply = match tool {
            Tool::Search | Tool::Lookup => Reply::Tool,
            Tool::Finish => {
                // `Finish[]` is answered like any other, but ends nothing.
                if !input.is_empty() {
                    self.episode.answers(input);
                }
                Reply::Given(DONE.to_owned())
            }
            _ => Reply::Given(invalid(input)),
        };
        self.episode.turn(thought.map(str::to_owned), action.to_owned(), tool, input.to_owned(), reply)
    }

    fn observation(&mut self, text: &str) -> Turn {
        self.transcript.push_str(&Script.observation(self.episode.step - 1, text));
        self.ask()
    }
}

/// An action of the script: three verbs, in exactly this case.
fn dispatch(action: &str) -> (Tool, &str) {
    let verbs = [("Search[", Tool::Search), ("Lookup[", Tool::Lookup), ("Finish[", Tool::Finish)];
    Tool::in_brackets(action, &verbs).unwrap_or((Tool::Invalid, action))
}

fn invalid(action: &str) -> String {
    format!("无效动作:{action}")
}

/// Thought and action of a reply. The action's label as it is shown counts before any other form of it, and at a
/// line's beginning before elsewhere; only another form ends with its line. Without a label all is thought.
fn split_step(reply: &str, n: usize) -> (&str, &str) {
    let mut text = strip(reply);
    let (thought_label, action_label) = (format!("Thought {n}:"), format!("\nAction {n}:"));
    // Twice at most: the label may be repeated once. What is left of more goes below, in any form.
    for _ in 0..2 {
        text = text.strip_prefix(&thought_label).map_or(text, strip);
    }
    let (thought, action) = text
        .split_once(&action_label)
        .or_else(|| text.split_once(&action_label[1..]))
        .or_else(|| other_form(text, n))
        .unwrap_or((text, ""));
    (strip(without_labels(strip(thought), "thought", n)), strip(action))
}

/// The text before the action's label in any form, and the rest of its line behind white space, newlines too.
fn other_form(text: &str, n: usize) -> Option<(&str, &str)> {
    text.match_indices(['a', 'A']).find_map(|(at, _)| {
        let action = after_label(&text[at..], "action", n)?;
        let line = action.split('\n').next().unwrap_or_default();
        (!line.is_empty()).then_some((&text[..at], line))
    })
}

/// The text behind all labels of step `n` at its beginning, in any form.
fn without_labels<'a>(mut text: &'a str, label: &str, n: usize) -> &'a str {
    while let Some(rest) = after_label(text, label, n) {
        text = rest;
    }
    text
}

/// The text behind a label (given in lower case) in any case, with white space around the number, with either colon.
fn after_label<'a>(text: &'a str, label: &str, n: usize) -> Option<&'a str> {
    let space = |text: &'a str| text.trim_start_matches(is_python_space);
    let mut rest = text;
    for expected in label.chars() {
        let c = rest.chars().next().filter(|c| is_in_any_case(*c, expected))?;
        rest = &rest[c.len_utf8()..];
    }
    let rest = space(rest).strip_prefix(n.to_string().as_str())?;
    space(rest).strip_prefix([':', '：']).map(space)
}

/// Python's comparison without case, for the letters of the labels: an `i` has two more forms, of Turkish.
fn is_in_any_case(c: char, lower: char) -> bool {
    c.eq_ignore_ascii_case(&lower) || lower == 'i' && matches!(c, 'İ' | 'ı')
}

#[cfg(test)]
mod tests;
