//! `react-paper`: the numbered loop of the `ReAct` paper's notebooks, quirks included.
//!
//! Per step one call ending in `Thought {i}:` that stops at `\nObservation {i}:`. The reply must hold
//! `\nAction {i}: ` exactly once; otherwise its first line is the thought and a second call, ending in
//! `Action {i}:` and stopping at the line's end, fetches the action. The action's first letter is lowered.
//! When the steps run out the episode is closed with an empty `finish[]`, which counts as a step.

use super::tools::signature;
use super::{Dialogue, Episode, Kind, Layout, Parsed, Profile, Protocol, Setup, Turn};
use crate::base::python::{lower_first, strip};
use crate::base::{Outcome, Question, Repair, Reply, Tool, ToolSet};
use std::sync::Arc;

pub const ID: &str = "react-paper";
pub const MAX_STEPS: usize = 7;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Paper;

impl Protocol for Paper {
    fn profile(&self) -> Profile {
        let profile = Profile::new(ID, MAX_STEPS, Layout::Text);
        Profile { max_tokens: 100, acts_without_thoughts: true, ..profile }
    }

    fn dialogue(&self, setup: &Arc<Setup>) -> Box<dyn Dialogue> {
        Box::new(ReactPaper { episode: Episode::new(setup), transcript: String::new(), waiting: Waiting::Step })
    }

    fn parse(&self, output: &str, step: usize) -> Parsed {
        let reply = strip(output);
        let Some((thought, action)) = split_step(reply, step) else {
            let thought = reply.split('\n').next().unwrap_or_default();
            return Parsed { thought: Some(thought.to_owned()), ..Parsed::new(Kind::Invalid) };
        };
        let lowered = lower_first(action);
        parsed(thought, Tool::parse_action(&lowered), |action| format!("Invalid action: {action}"))
    }

    fn question(&self, label: &str, question: &str) -> String {
        question_line(label, question)
    }

    fn step(&self, n: usize, thought: Option<&str>, tool: Tool, input: &str) -> String {
        action_lines(n, thought, &action(tool, input), " ")
    }

    fn observation(&self, n: usize, text: &str) -> String {
        observation_line(n, text)
    }
}

#[derive(Debug)]
struct ReactPaper {
    episode: Episode,
    /// Question and steps so far, as they follow the prefix.
    transcript: String,
    waiting: Waiting,
}

#[derive(Debug)]
enum Waiting {
    /// A thought and an action.
    Step,
    /// The action alone: after a reply without one, and where the method has no thoughts.
    Action { thought: Option<String> },
    /// The tool's answer to these lines.
    Observation { lines: String },
    /// The tool's answer to the empty finish that closes an episode without an answer.
    Closing,
}

impl ReactPaper {
    fn ask(&self, tail: &str, stop: String) -> Turn {
        self.episode.ask_text(format!("{}{tail}", self.transcript), vec![stop])
    }

    fn next(&mut self) -> Turn {
        let n = self.episode.step;
        if n > self.episode.setup.max_steps {
            // The original calls `finish[]` when the steps run out, and counts it as a step.
            self.waiting = Waiting::Closing;
            return self.episode.turn(None, "finish[]".to_owned(), Tool::Finish, String::new(), Reply::Tool);
        }
        if !self.episode.setup.thoughts {
            self.waiting = Waiting::Action { thought: None };
            return self.ask(&format!("Action {n}:"), "\n".to_owned());
        }
        self.waiting = Waiting::Step;
        self.ask(&format!("Thought {n}:"), format!("\nObservation {n}:"))
    }

    fn ask_action(&mut self, thought: &str) -> Turn {
        let n = self.episode.step;
        self.episode.repaired(Repair::MISSING_ACTION);
        self.waiting = Waiting::Action { thought: Some(thought.to_owned()) };
        self.ask(&format!("Thought {n}: {thought}\nAction {n}:"), "\n".to_owned())
    }

    fn act(&mut self, thought: Option<&str>, action: &str) -> Turn {
        if action.is_empty() {
            let detail = "the reply holds no action, where the original raises `IndexError`";
            return self.episode.stop(Outcome::FormatFailure, detail);
        }
        let lowered = lower_first(action);
        let (tool, input) = Tool::parse_action(&lowered);
        self.waiting = Waiting::Observation { lines: action_lines(self.episode.step, thought, action, " ") };
        if tool == Tool::Finish {
            self.episode.answers(input);
        }
        self.episode.turn(thought.map(str::to_owned), action.to_owned(), tool, input.to_owned(), Reply::Tool)
    }
}

impl Dialogue for ReactPaper {
    fn begin(&mut self, question: &Question) -> Turn {
        self.transcript = self.episode.question_text(&Paper, question);
        self.next()
    }

    fn completion(&mut self, text: &str) -> Turn {
        let reply = strip(text);
        match std::mem::replace(&mut self.waiting, Waiting::Step) {
            Waiting::Action { thought } => self.act(thought.as_deref(), reply),
            _ => match split_step(reply, self.episode.step) {
                Some((thought, action)) => self.act(Some(thought), action),
                None => self.ask_action(reply.split('\n').next().unwrap_or_default()),
            },
        }
    }

    fn observation(&mut self, text: &str) -> Turn {
        if let Waiting::Observation { lines } = &self.waiting
            && !self.episode.finished()
        {
            self.transcript.push_str(lines);
            self.transcript.push_str(&observation_line(self.episode.step - 1, &as_observed(text)));
            return self.next();
        }
        let limit = self.episode.setup.max_steps;
        self.episode.stop(Outcome::StepLimit, format!("no answer within {limit} steps"))
    }
}

/// The original means to remove newlines, but removes pairs of a backslash and an `n`, so newlines stay.
pub fn as_observed(observation: &str) -> String {
    observation.replace("\\n", "")
}

/// Thought and action, when the reply holds the action's label exactly once.
pub(super) fn split_step(reply: &str, n: usize) -> Option<(&str, &str)> {
    let label = format!("\nAction {n}: ");
    let (thought, action) = reply.split_once(&label)?;
    (!action.contains(&label)).then_some((thought, action))
}

// The numbered transcript. Prompts and dialogues share these lines: a model answers worse when its own transcript differs
// from the examples.

/// `{label}: {text}` and a newline: the line that puts a question (or a claim).
pub fn question_line(label: &str, text: &str) -> String {
    format!("{label}: {text}\n")
}

pub fn step_text(n: usize, thought: &str, action: &str, observation: &str) -> String {
    action_lines(n, Some(thought), action, " ") + &observation_line(n, observation)
}

pub fn observation_line(n: usize, observation: &str) -> String {
    format!("Observation {n}: {observation}\n")
}

/// The lines of step `n` before the tool answers: thought, if there is one, and action, with `gap` behind their labels.
pub(super) fn action_lines(n: usize, thought: Option<&str>, action: &str, gap: &str) -> String {
    let thought = thought.map(|thought| format!("Thought {n}:{gap}{thought}\n")).unwrap_or_default();
    format!("{thought}Action {n}:{gap}{action}\n")
}

/// An action as it is written: `Search[X]`. For [`Tool::Invalid`] the input is the whole action.
pub fn action(tool: Tool, input: &str) -> String {
    match tool {
        Tool::Invalid => input.to_owned(),
        tool => format!("{}[{input}]", verb(tool)),
    }
}

/// What instructions write in place of an argument, in English and in Chinese.
pub const PLACEHOLDERS: [(Tool, &str, &str); 5] = [
    (Tool::Search, "title", "标题"),
    (Tool::Lookup, "keyword", "关键词"),
    (Tool::Passages, "query", "查询"),
    (Tool::Document, "id", "编号"),
    (Tool::Finish, "answer", "答案"),
];

pub(super) fn verb(tool: Tool) -> &'static str {
    match tool {
        Tool::Finish => "Finish",
        tool => signature(tool).map_or("", |(name, _)| name),
    }
}

/// The verbs of the tools that are offered, the answer's behind `last`: `Search, Lookup and Finish`.
pub(crate) fn verbs(tools: ToolSet, between: &str, last: &str) -> String {
    let before: Vec<&str> = tools.tools().iter().map(|tool| verb(*tool)).collect();
    format!("{}{last}{}", before.join(between), verb(Tool::Finish))
}

/// A step in the common form, from the action that the environment read; `invalid` gives the environment's error.
pub fn parsed(thought: &str, (tool, input): (Tool, &str), invalid: impl Fn(&str) -> String) -> Parsed {
    let thought = Some(thought.to_owned());
    match tool {
        Tool::Finish => Parsed::finish(thought, input),
        Tool::Invalid => Parsed { thought, ..Parsed::invalid(invalid(input)) },
        tool => Parsed::act(thought, verb(tool), input),
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{begun, kinds, prompt_and_stop, setup, stopped, used};
    use super::*;
    use crate::prompting::protocol::Frame;

    fn paper(max_steps: usize, thoughts: bool) -> (Box<dyn Dialogue>, String) {
        let (dialogue, turn) = begun(&Paper, Setup { thoughts, ..setup(Frame::text("EXAMPLES\n"), max_steps) });
        (dialogue, prompt_and_stop(turn).0)
    }

    #[test]
    fn a_missing_action_costs_a_second_call_and_an_empty_one_the_episode() {
        let (mut dialogue, prompt) = paper(MAX_STEPS, true);
        assert_eq!(prompt, "EXAMPLES\nQuestion: Why?\nThought 1:");
        let (prompt, stop) = prompt_and_stop(dialogue.completion(" I think.\nSearch[X]\n"));
        assert_eq!(prompt, "EXAMPLES\nQuestion: Why?\nThought 1: I think.\nAction 1:");
        assert_eq!(stop, ["\n"]);
        assert_eq!(used(dialogue.completion(" search x ")).tool, Tool::Invalid);
        let (prompt, _) = prompt_and_stop(dialogue.observation("a\\nb\nc"));
        assert!(prompt.ends_with("Action 1: search x\nObservation 1: ab\nc\nThought 2:"), "{prompt}");
        prompt_and_stop(dialogue.completion("hm"));
        let stop = stopped(dialogue.completion("  \n"));
        assert_eq!((stop.outcome, kinds(&stop)), (Outcome::FormatFailure, vec!["missing_action"; 2]));
    }

    #[test]
    fn without_thoughts_the_action_alone_is_asked_for() {
        let (mut dialogue, prompt) = paper(MAX_STEPS, false);
        assert_eq!(prompt, "EXAMPLES\nQuestion: Why?\nAction 1:");
        assert_eq!(used(dialogue.completion(" Search[X]")).tool, Tool::Search);
        let (prompt, stop) = prompt_and_stop(dialogue.observation("It is."));
        assert_eq!(prompt, "EXAMPLES\nQuestion: Why?\nAction 1: Search[X]\nObservation 1: It is.\nAction 2:");
        assert_eq!(stop, ["\n"]);
        let call = used(dialogue.completion(" Finish[yes]"));
        assert_eq!((call.thought, call.tool), (None, Tool::Finish));
        let stop = stopped(dialogue.observation("Episode finished, reward = 0\n"));
        assert_eq!((stop.answer.as_deref(), stop.repairs.len()), (Some("yes"), 0));
    }

    #[test]
    fn an_empty_finish_after_the_last_step_counts_as_a_step() {
        let (mut dialogue, _) = paper(1, true);
        assert_eq!(used(dialogue.completion("t\nAction 1: Lookup[k]")).tool, Tool::Lookup);
        let call = used(dialogue.observation("No more results.\n"));
        assert_eq!((call.step, call.tool, call.input.as_str()), (2, Tool::Finish, ""));
        let stop = stopped(dialogue.observation("Episode finished, reward = 0\n"));
        assert_eq!((stop.outcome, stop.answer), (Outcome::StepLimit, None));
    }

    #[test]
    fn only_the_first_letter_is_lowered() {
        assert_eq!(lower_first("\nSearch[X]"), "\nSearch[X]");
        assert_eq!(lower_first("İ"), "i\u{307}");
    }
}
