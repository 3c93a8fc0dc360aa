//! Where two episodes of one question diverge: the first step that differs, and in what.

use crate::base::named;
use crate::base::{Step, Trajectory};
use serde::Serialize;

named! {
    /// What differs first within a step, in the order of a step.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
    #[serde(rename_all = "lowercase")]
    pub enum Part {
        Thought = "thought",
        /// Tool or argument; where no tool was named, the action's text.
        Action = "action",
        Observation = "observation",
        /// One episode ended, the other went on.
        End = "end",
        /// All steps are the same, the answers are not.
        Answer = "answer",
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Divergence {
    /// Position of the step among all recorded steps, from 1; for [`Part::Answer`] the last step.
    pub step: usize,
    pub part: Part,
}

impl Part {
    /// What differs first between two steps; white space at the ends of texts does not count.
    pub fn of(a: &Step, b: &Step) -> Option<Self> {
        if text(a.thought.as_ref()) != text(b.thought.as_ref()) {
            return Some(Self::Thought);
        }
        if action(a) != action(b) {
            return Some(Self::Action);
        }
        (text(a.observation.as_ref()) != text(b.observation.as_ref())).then_some(Self::Observation)
    }
}

impl Divergence {
    /// Where two episodes diverge; `None` if steps and answers are the same.
    pub fn of(a: &Trajectory, b: &Trajectory) -> Option<Self> {
        let differing = a.steps.iter().zip(&b.steps).zip(1..).find_map(|((a, b), step)| {
            let part = Part::of(a, b)?;
            Some(Self { step, part })
        });
        let shorter = a.steps.len().min(b.steps.len());
        differing
            .or_else(|| (a.steps.len() != b.steps.len()).then_some(Self { step: shorter + 1, part: Part::End }))
            .or_else(|| (a.answer != b.answer).then_some(Self { step: shorter, part: Part::Answer }))
    }
}

fn text(text: Option<&String>) -> Option<&str> {
    text.map(|text| text.trim()).filter(|text| !text.is_empty())
}

/// Protocols write one action in several ways, so tool and argument are compared where there are any.
fn action(step: &Step) -> (Option<&'static str>, Option<&str>) {
    match step.tool {
        Some(tool) => (Some(tool.name()), text(step.input.as_ref())),
        None => (None, text(step.action_text.as_ref())),
    }
}

#[cfg(test)]
mod tests {
    use super::{Divergence, Part};
    use crate::base::{Outcome, Step, Tool, Trajectory};
    use crate::scoring::fixtures;

    fn step(thought: &str, input: &str, observation: &str) -> Step {
        let (thought, action_text) = (Some(thought.into()), Some(format!("Search[{input}]")));
        Step { thought, action_text, ..fixtures::step(Tool::Search, input, observation) }
    }

    fn episode(steps: Vec<Step>, answer: &str) -> Trajectory {
        fixtures::episode(steps, Some(answer), &["x"], Outcome::Finished)
    }

    #[test]
    fn the_first_difference_is_found_and_named() {
        let common = step("t", "a", "o");
        let a = episode(vec![common.clone(), step("u", "b", "o")], "x");
        let parts = |second: Step| Divergence::of(&a, &episode(vec![common.clone(), second], "y"));
        assert_eq!(parts(step("v", "c", "p")), Some(Divergence { step: 2, part: Part::Thought }));
        assert_eq!(parts(step("u", "c", "p")), Some(Divergence { step: 2, part: Part::Action }));
        assert_eq!(parts(step("u", "b", "p")), Some(Divergence { step: 2, part: Part::Observation }));
        assert_eq!(parts(step(" u\n", "b ", "o\n")), Some(Divergence { step: 2, part: Part::Answer }));
        assert_eq!(Divergence::of(&a, &a), None);
        let short = episode(vec![common], "x");
        assert_eq!(Divergence::of(&a, &short), Some(Divergence { step: 2, part: Part::End }));
        assert_eq!(Divergence::of(&short, &episode(Vec::new(), "x")), Some(Divergence { step: 1, part: Part::End }));
    }

    #[test]
    fn an_action_is_its_tool_and_argument_whatever_the_syntax() {
        let a = step("t", "a", "o");
        let mut b = Step { action_text: Some("search(\"a\")".into()), ..a.clone() };
        assert_eq!(Part::of(&a, &b), None);
        b.tool = None;
        assert_eq!(Part::of(&a, &b), Some(Part::Action));
    }
}
