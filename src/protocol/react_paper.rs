//! `react-paper`: the numbered loop of the `ReAct` paper's notebooks, quirks included.
//!
//! Per step one call ending in `Thought {i}:` that stops at `\nObservation {i}:`. The reply must hold
//! `\nAction {i}: ` exactly once; otherwise its first line is the thought and a second call, ending in
//! `Action {i}:` and stopping at the line's end, fetches the action. The action's first letter is lowered.
//! When the steps run out the episode is closed with an empty `finish[]`, which counts as a step.

use super::numbered::{self, question_line};
use super::{Dialogue, Kind, Layout, Parsed, Protocol, Setup, Stop, Turn};
use crate::types::python::is_python_space;
use crate::types::{Outcome, Prompt, Question, Repair, Reply, Request, Tool, ToolCall};
use std::sync::Arc;

/// Id of the protocol.
pub const ID: &str = "react-paper";
/// The paper's step limit for `HotpotQA`.
pub const MAX_STEPS: usize = 7;

/// The protocol. It has no options.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Paper;

impl Protocol for Paper {
    fn id(&self) -> &'static str {
        ID
    }

    fn max_steps(&self) -> usize {
        MAX_STEPS
    }

    fn max_tokens(&self) -> u32 {
        100
    }

    fn layout(&self) -> Layout {
        Layout::Text
    }

    fn acts_without_thoughts(&self) -> bool {
        true
    }

    fn dialogue(&self, setup: &Arc<Setup>) -> Box<dyn Dialogue> {
        Box::new(ReactPaper::new(setup))
    }

    fn parse(&self, output: &str, step: usize) -> Parsed {
        let reply = output.trim_matches(is_python_space);
        let Some((thought, action)) = split_step(reply, step) else {
            let thought = reply.split('\n').next().unwrap_or_default();
            return Parsed { thought: Some(thought.to_owned()), ..Parsed::new(Kind::Invalid) };
        };
        let lowered = lower_first(action).unwrap_or_default();
        numbered::parsed(thought, Tool::parse_action(&lowered), |action| format!("Invalid action: {action}"))
    }

    fn question(&self, label: &str, question: &str) -> String {
        question_line(label, question)
    }

    fn step(&self, n: usize, thought: Option<&str>, tool: Tool, input: &str) -> String {
        numbered::action_lines(n, thought, &numbered::action(tool, input))
    }

    fn observation(&self, n: usize, text: &str) -> String {
        numbered::observation_line(n, text)
    }
}

/// The dialogue of one question.
#[derive(Debug)]
pub struct ReactPaper {
    setup: Arc<Setup>,
    /// Question and steps so far, as they follow the prefix.
    transcript: String,
    step: usize,
    waiting: Waiting,
    repairs: Vec<Repair>,
}

/// What the dialogue waits for.
#[derive(Debug)]
enum Waiting {
    /// Thought and action of the current step.
    Step,
    /// The action alone: after a reply without one, and where the method has no thoughts.
    Action { thought: Option<String> },
    /// The tool's answer.
    Observation { thought: Option<String>, action: String, answer: Option<String> },
    /// The tool's answer to the empty finish that closes an episode without an answer.
    Closing,
}

impl ReactPaper {
    /// A dialogue that continues the few-shot prefix of `setup`.
    pub fn new(setup: &Arc<Setup>) -> Self {
        Self {
            setup: Arc::clone(setup),
            transcript: String::new(),
            step: 1,
            waiting: Waiting::Step,
            repairs: Vec::new(),
        }
    }

    fn ask(&self, tail: &str, stop: String) -> Turn {
        let mut rest = String::with_capacity(self.transcript.len() + tail.len());
        rest.push_str(&self.transcript);
        rest.push_str(tail);
        Turn::Ask(Request {
            prompt: Prompt::text(self.setup.frame.prefix.clone(), rest),
            stop: vec![stop],
            decoding: self.setup.decoding.clone(),
        })
    }

    fn ask_step(&mut self) -> Turn {
        let n = self.step;
        if !self.setup.thoughts {
            self.waiting = Waiting::Action { thought: None };
            return self.ask(&format!("Action {n}:"), "\n".to_owned());
        }
        self.waiting = Waiting::Step;
        self.ask(&format!("Thought {n}:"), format!("\nObservation {n}:"))
    }

    fn ask_action(&mut self, thought: &str) -> Turn {
        let n = self.step;
        self.repairs.push(Repair { step: n, kind: Repair::MISSING_ACTION.to_owned() });
        self.waiting = Waiting::Action { thought: Some(thought.to_owned()) };
        self.ask(&format!("Thought {n}: {thought}\nAction {n}:"), "\n".to_owned())
    }

    fn act(&mut self, thought: Option<&str>, action: &str) -> Turn {
        let Some(lowered) = lower_first(action) else {
            return self.stop(
                Outcome::FormatFailure,
                None,
                Some("the reply holds no action, where the original raises `IndexError`".to_owned()),
            );
        };
        let (tool, input) = Tool::parse_action(&lowered);
        self.waiting = Waiting::Observation {
            thought: thought.map(str::to_owned),
            action: action.to_owned(),
            answer: (tool == Tool::Finish).then(|| input.to_owned()),
        };
        Turn::Use(ToolCall {
            step: self.step,
            thought: thought.map(str::to_owned),
            action_text: action.to_owned(),
            tool,
            input: input.to_owned(),
            discarded: None,
            reply: Reply::Tool,
        })
    }

    /// The original calls `finish[]` when the steps run out, and counts it as a step.
    fn close(&mut self) -> Turn {
        self.waiting = Waiting::Closing;
        Turn::Use(ToolCall {
            step: self.step,
            thought: None,
            action_text: "finish[]".to_owned(),
            tool: Tool::Finish,
            input: String::new(),
            discarded: None,
            reply: Reply::Tool,
        })
    }

    fn stop(&mut self, outcome: Outcome, answer: Option<String>, detail: Option<String>) -> Turn {
        Turn::Stop(Stop { outcome, answer, detail, repairs: std::mem::take(&mut self.repairs) })
    }
}

impl Dialogue for ReactPaper {
    fn begin(&mut self, question: &Question) -> Turn {
        self.transcript = question_line(&self.setup.question_label, &question.question);
        if self.setup.max_steps == 0 { self.close() } else { self.ask_step() }
    }

    fn completion(&mut self, text: &str) -> Turn {
        let reply = text.trim_matches(is_python_space);
        match std::mem::replace(&mut self.waiting, Waiting::Step) {
            Waiting::Action { thought } => self.act(thought.as_deref(), reply),
            _ => match split_step(reply, self.step) {
                Some((thought, action)) => self.act(Some(thought), action),
                None => self.ask_action(reply.split('\n').next().unwrap_or_default()),
            },
        }
    }

    fn observation(&mut self, text: &str) -> Turn {
        match std::mem::replace(&mut self.waiting, Waiting::Step) {
            Waiting::Observation { thought, action, answer } => {
                let lines = numbered::action_lines(self.step, thought.as_deref(), &action);
                self.transcript.push_str(&lines);
                self.transcript.push_str(&numbered::observation_line(self.step, &as_observed(text)));
                self.step += 1;
                match answer {
                    Some(answer) => self.stop(Outcome::Finished, Some(answer), None),
                    None if self.step > self.setup.max_steps => self.close(),
                    None => self.ask_step(),
                }
            }
            _ => self.stop(Outcome::StepLimit, None, Some(format!("no answer within {} steps", self.setup.max_steps))),
        }
    }
}

/// An observation as the transcript shows it: the original means to remove newlines, but removes pairs of a
/// backslash and an `n`, so newlines stay.
pub fn as_observed(observation: &str) -> String {
    observation.replace("\\n", "")
}

/// Thought and action, when the reply holds the action's label exactly once.
pub(super) fn split_step(reply: &str, n: usize) -> Option<(&str, &str)> {
    let label = format!("\nAction {n}: ");
    let (thought, action) = reply.split_once(&label)?;
    (!action.contains(&label)).then_some((thought, action))
}

/// `action[0].lower() + action[1:]`; nothing for an empty action, where the original raises.
fn lower_first(action: &str) -> Option<String> {
    let first = action.chars().next()?;
    Some(first.to_lowercase().chain(action.chars().skip(1)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::Frame;
    use crate::types::Decoding;

    fn setup() -> Arc<Setup> {
        with_thoughts(true)
    }

    fn with_thoughts(thoughts: bool) -> Arc<Setup> {
        Arc::new(Setup {
            frame: Frame::text("EXAMPLES\n"),
            question_label: "Question".to_owned(),
            max_steps: MAX_STEPS,
            thoughts,
            decoding: Decoding::default(),
            history: Vec::new(),
        })
    }

    fn asked(turn: Turn) -> (String, Vec<String>) {
        match turn {
            Turn::Ask(request) => (request.prompt.to_text(), request.stop),
            other => panic!("expected a request, got {other:?}"),
        }
    }

    fn used(turn: Turn) -> (Tool, String) {
        match turn {
            Turn::Use(call) => (call.tool, call.input),
            other => panic!("expected a tool call, got {other:?}"),
        }
    }

    #[test]
    fn a_step_asks_acts_and_writes_the_transcript_down() {
        let mut dialogue = ReactPaper::new(&setup());
        let (prompt, stop) = asked(dialogue.begin(&Question::new("q", "Why?", vec![])));
        assert_eq!(prompt, "EXAMPLES\nQuestion: Why?\nThought 1:");
        assert_eq!(stop, ["\nObservation 1:"]);
        assert_eq!(used(dialogue.completion(" look.\nAction 1: Search[X]")), (Tool::Search, "X".to_owned()));
        let (prompt, stop) = asked(dialogue.observation("a\\nb\nc"));
        assert_eq!(
            prompt,
            "EXAMPLES\nQuestion: Why?\nThought 1: look.\nAction 1: Search[X]\nObservation 1: ab\nc\nThought 2:"
        );
        assert_eq!(stop, ["\nObservation 2:"]);
        assert_eq!(used(dialogue.completion(" done.\nAction 2: Finish[yes]")), (Tool::Finish, "yes".to_owned()));
        let Turn::Stop(stop) = dialogue.observation("Episode finished, reward = 0\n") else { panic!("no stop") };
        assert_eq!((stop.outcome, stop.answer.as_deref()), (Outcome::Finished, Some("yes")));
        assert!(stop.repairs.is_empty());
    }

    #[test]
    fn a_missing_action_costs_a_second_call() {
        let mut dialogue = ReactPaper::new(&setup());
        dialogue.begin(&Question::new("q", "Why?", vec![]));
        let (prompt, stop) = asked(dialogue.completion(" I think.\nSearch[X]\n"));
        assert_eq!(prompt, "EXAMPLES\nQuestion: Why?\nThought 1: I think.\nAction 1:");
        assert_eq!(stop, ["\n"]);
        assert_eq!(used(dialogue.completion(" search x ")), (Tool::Invalid, "search x".to_owned()));
        let (prompt, _) = asked(dialogue.observation("Invalid action: search x"));
        assert!(prompt.ends_with("Action 1: search x\nObservation 1: Invalid action: search x\nThought 2:"));
        assert_eq!(dialogue.repairs, [Repair { step: 1, kind: Repair::MISSING_ACTION.to_owned() }]);
    }

    #[test]
    fn without_thoughts_the_action_alone_is_asked_for() {
        let mut dialogue = ReactPaper::new(&with_thoughts(false));
        let (prompt, stop) = asked(dialogue.begin(&Question::new("q", "Why?", vec![])));
        assert_eq!((prompt.as_str(), stop), ("EXAMPLES\nQuestion: Why?\nAction 1:", vec!["\n".to_owned()]));
        assert_eq!(used(dialogue.completion(" Search[X]")), (Tool::Search, "X".to_owned()));
        let (prompt, _) = asked(dialogue.observation("It is."));
        assert_eq!(prompt, "EXAMPLES\nQuestion: Why?\nAction 1: Search[X]\nObservation 1: It is.\nAction 2:");
        let Turn::Use(call) = dialogue.completion(" Finish[yes]") else { panic!("no call") };
        assert_eq!((call.thought, call.tool), (None, Tool::Finish));
        let Turn::Stop(stop) = dialogue.observation("Episode finished, reward = 0\n") else { panic!("no stop") };
        assert_eq!((stop.answer.as_deref(), stop.repairs.len()), (Some("yes"), 0));
    }

    #[test]
    fn an_action_twice_is_as_bad_as_none() {
        let mut dialogue = ReactPaper::new(&setup());
        dialogue.begin(&Question::new("q", "Why?", vec![]));
        let (prompt, _) = asked(dialogue.completion("t\nAction 1: Search[X]\nAction 1: Search[Y]"));
        assert!(prompt.ends_with("Thought 1: t\nAction 1:"));
    }

    #[test]
    fn an_empty_second_answer_is_a_format_failure() {
        let mut dialogue = ReactPaper::new(&setup());
        dialogue.begin(&Question::new("q", "Why?", vec![]));
        dialogue.completion("hm");
        let Turn::Stop(stop) = dialogue.completion("  \n") else { panic!("no stop") };
        assert_eq!(stop.outcome, Outcome::FormatFailure);
        assert_eq!(stop.repairs.len(), 1);
    }

    #[test]
    fn after_seven_steps_an_empty_finish_is_the_eighth() {
        let mut dialogue = ReactPaper::new(&setup());
        let mut turn = dialogue.begin(&Question::new("q", "Why?", vec![]));
        for n in 1..=7 {
            asked(turn);
            assert_eq!(used(dialogue.completion(&format!("t\nAction {n}: Lookup[k]"))).0, Tool::Lookup);
            turn = dialogue.observation("No more results.\n");
        }
        let Turn::Use(call) = turn else { panic!("no closing call") };
        assert_eq!((call.step, call.tool, call.input.as_str()), (8, Tool::Finish, ""));
        let Turn::Stop(stop) = dialogue.observation("Episode finished, reward = 0\n") else { panic!("no stop") };
        assert_eq!((stop.outcome, stop.answer), (Outcome::StepLimit, None));
    }

    #[test]
    fn only_the_first_letter_is_lowered() {
        assert_eq!(lower_first("Search[X]").as_deref(), Some("search[X]"));
        assert_eq!(lower_first("\n\nSearch[X]").as_deref(), Some("\n\nSearch[X]"));
        assert_eq!(lower_first("İ").as_deref(), Some("i\u{307}"));
        assert_eq!(lower_first(""), None);
    }
}
