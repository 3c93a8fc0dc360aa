//! Writes a decision as the text that continues the prompt.

use super::labels::COLONS;
use super::{Action, Decision, Transcript, Wanted};
use crate::llm::baseline::BaselineSettings;
use crate::protocol::{Kind, Protocol, react_paper};
use crate::types::Tool;

/// Contains no label of any protocol.
const PLAIN_THOUGHT: &str = "I will go on with the next step.";

impl Transcript {
    pub(in crate::llm::baseline) fn write(&self, decision: &Decision, settings: &BaselineSettings) -> String {
        let protocol: &dyn Protocol = settings.protocol.as_deref().unwrap_or(&react_paper::Paper);
        let gap = if self.spaced { "" } else { " " };
        let answer = match &decision.action {
            Action::Finish(answer) => answer.as_str(),
            Action::Search(_) | Action::Lookup(_) => "",
        };
        match self.wanted {
            Wanted::Answer => format!("{gap}{answer}"),
            Wanted::Reasons => format!("{gap}{}\nAnswer: {answer}", decision.thought),
            Wanted::Action(n) => self.after_label(&write_step(protocol, n, None, &decision.action)),
            Wanted::Step { n, labelled } => {
                let written = |thought: &str| {
                    let thought = (labelled || settings.thoughts).then_some(thought);
                    let step = write_step(protocol, n, thought, &decision.action);
                    if labelled { self.after_label(&step) } else { step }
                };
                let reply = written(&decision.thought);
                // A thought quotes the question and pages, which may contain labels of the protocol.
                if reads_back(protocol, &reply, n, &decision.action) { reply } else { written(PLAIN_THOUGHT) }
            }
        }
    }

    /// A step without its first label, which ends the prompt; some protocols leave it to the prompt.
    fn after_label(&self, step: &str) -> String {
        let labelled = step.split_once(COLONS).filter(|(label, _)| {
            let word = label.trim_end_matches(|c: char| c == ' ' || c.is_ascii_digit());
            matches!(word, "Thought" | "Action")
        });
        match labelled {
            Some((_, rest)) if self.spaced => rest.trim_start().to_owned(),
            Some((_, rest)) => rest.to_owned(),
            None if self.spaced => step.to_owned(),
            None => format!(" {step}"),
        }
    }
}

fn write_step(protocol: &dyn Protocol, n: usize, thought: Option<&str>, action: &Action) -> String {
    let (tool, input) = match action {
        Action::Search(query) => (Tool::Search, query),
        Action::Lookup(keyword) => (Tool::Lookup, keyword),
        Action::Finish(answer) => (Tool::Finish, answer),
    };
    protocol.step(n, thought, tool, input).trim().to_owned()
}

fn reads_back(protocol: &dyn Protocol, reply: &str, n: usize, action: &Action) -> bool {
    let kind = if matches!(action, Action::Finish(_)) { Kind::Finish } else { Kind::Act };
    protocol.parse(reply, n).kind == kind
}
