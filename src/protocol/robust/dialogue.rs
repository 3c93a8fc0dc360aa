//! The conversation: who is told what, which step comes next, how it ends.

use super::super::{Dialogue, Setup, Stop, Turn};
use super::reply::{Action, Refused, Reply};
use super::{Protocol as _, Robust as Protocol};
use crate::types::{Message, Outcome, Prompt, Question, Repair, Reply as Answerer, Request, Role, Tool, ToolCall};
use std::sync::Arc;

/// Occasion of the text that is said before the last step.
const FORCE_STOP: &str = "force_stop";
/// What is said before the last step where the frame has nothing for it.
const DEFAULT_FORCE_STOP: &str =
    "This is the last step: give your best answer now, as Finish[answer], based on what has been found.";
/// Occasion of the text that is said after a reply without an action; it may hold `{error}` and `{n}`.
const FEEDBACK: &str = "feedback";
/// What is said after a reply without an action where the frame has nothing for it.
const DEFAULT_FEEDBACK: &str = "Error: {error}. Write one line `Thought {n}: …` and one line `Action {n}: …` with Search[title], Lookup[keyword] or Finish[answer].";
/// The same for the method without thoughts.
const DEFAULT_FEEDBACK_ACT: &str =
    "Error: {error}. Write one line `Action {n}: …` with Search[title], Lookup[keyword] or Finish[answer].";

/// The dialogue of one question.
#[derive(Debug)]
pub(super) struct Robust {
    setup: Arc<Setup>,
    /// Everything said so far, without the text that is said before the last step.
    messages: Vec<Message>,
    /// The question as it was put, and its place among the messages.
    question: Option<(usize, Message)>,
    /// Number of the step that comes next, from 1.
    step: usize,
    waiting: Waiting,
    /// Whether the last reply could not be used.
    failed: bool,
    repairs: Vec<Repair>,
}

/// What the dialogue waits for.
#[derive(Debug)]
enum Waiting {
    /// A reply of the model's.
    Model,
    /// The tool's answer to this step of the model's, as it is shown again.
    Tool { step: String, answer: Option<String> },
    /// The record's taking note of a reply that cannot be used; what of it is shown again.
    Feedback { step: Option<String>, problem: String },
}

impl Robust {
    pub(super) fn new(setup: &Arc<Setup>) -> Self {
        Self {
            setup: Arc::clone(setup),
            messages: Vec::new(),
            question: None,
            step: 1,
            waiting: Waiting::Model,
            failed: false,
            repairs: Vec::new(),
        }
    }

    fn ask(&mut self) -> Turn {
        let n = self.step;
        if n > self.setup.max_steps {
            let detail = format!("no answer within {} steps", self.setup.max_steps);
            return self.stop(Outcome::StepLimit, None, Some(detail));
        }
        self.waiting = Waiting::Model;
        let mut messages = self.messages.clone();
        if n == self.setup.max_steps
            && let Some(last) = messages.last_mut()
        {
            *last = Message::user(format!("{}\n{}", last.content, self.text(FORCE_STOP, DEFAULT_FORCE_STOP)));
        }
        Turn::Ask(Request {
            prompt: Prompt::Messages(messages),
            stop: vec![
                format!("\nObservation {n}:"),
                format!("\nThought {}:", n.saturating_add(1)),
                format!("\nAction {}:", n.saturating_add(1)),
            ],
            decoding: self.setup.decoding.clone(),
        })
    }

    fn text<'a>(&'a self, occasion: &str, default: &'a str) -> &'a str {
        let text = self.setup.frame.said(occasion);
        if text.is_empty() { default } else { text }
    }

    fn act(&mut self, thought: Option<String>, action: Action, discarded: Option<String>) -> Turn {
        self.failed = false;
        self.waiting = Waiting::Tool {
            step: Protocol.step(self.step, thought.as_deref(), action.tool, &action.input),
            answer: (action.tool == Tool::Finish).then(|| action.input.clone()),
        };
        Turn::Use(ToolCall {
            step: self.step,
            thought,
            action_text: action.text,
            tool: action.tool,
            input: action.input,
            discarded,
            reply: Answerer::Tool,
        })
    }

    /// A reply that cannot be used is a step that the system answers itself.
    fn refuse(&mut self, thought: Option<String>, refused: Refused, discarded: Option<String>) -> Turn {
        let n = self.step;
        let problem = refused.fault.to_string();
        let default = if self.setup.thoughts { DEFAULT_FEEDBACK } else { DEFAULT_FEEDBACK_ACT };
        let next = n.saturating_add(1).to_string();
        // The problem comes last, as it repeats text of the model's, which may look like a slot.
        let feedback = self.text(FEEDBACK, default).replace("{n}", &next).replace("{error}", &problem);
        let shown = [("Thought", thought.as_deref().unwrap_or_default()), ("Action", &refused.attempt)];
        let shown = shown.iter().filter(|(_, text)| !text.is_empty());
        let shown: Vec<String> = shown.map(|(label, text)| format!("{label} {n}: {text}")).collect();
        self.waiting = Waiting::Feedback { step: (!shown.is_empty()).then(|| shown.join("\n")), problem };
        Turn::Use(ToolCall {
            step: n,
            thought,
            action_text: refused.attempt.clone(),
            tool: Tool::Invalid,
            input: refused.attempt,
            discarded,
            reply: Answerer::Given(feedback),
        })
    }

    /// After feedback the model is asked again, once.
    fn told(&mut self, step: Option<String>, problem: &str, feedback: &str) -> Turn {
        if self.failed {
            let detail = format!("two replies in a row could not be used; the last: {problem}");
            return self.stop(Outcome::FormatFailure, None, Some(detail));
        }
        self.failed = true;
        match step {
            Some(step) => {
                self.messages.push(Message::assistant(step));
                self.messages.push(Message::user(feedback));
            }
            // Turns alternate: where the model said nothing, the user goes on speaking.
            None => match self.messages.last_mut() {
                Some(last) => *last = Message::user(format!("{}\n{feedback}", last.content)),
                None => self.messages.push(Message::user(feedback)),
            },
        }
        self.step = self.step.saturating_add(1);
        self.ask()
    }

    fn stop(&mut self, outcome: Outcome, answer: Option<String>, detail: Option<String>) -> Turn {
        Turn::Stop(Stop { outcome, answer, detail, repairs: std::mem::take(&mut self.repairs) })
    }
}

impl Dialogue for Robust {
    fn begin(&mut self, question: &Question) -> Turn {
        let question = Message::user(Protocol.question(&self.setup.question_label, &question.question));
        let Setup { frame, history, .. } = self.setup.as_ref();
        self.messages.extend(frame.system.clone().filter(|text| !text.is_empty()).map(Message::system));
        self.messages.extend(frame.examples.iter().chain(history).cloned());
        self.question = Some((self.messages.len(), question.clone()));
        self.messages.push(question);
        self.ask()
    }

    fn completion(&mut self, text: &str) -> Turn {
        let Reply { thought, action, repairs, discarded } = Reply::read(text, self.step, self.setup.thoughts);
        match action {
            Ok(action) => {
                let step = self.step;
                self.repairs.extend(repairs.kinds().map(|kind| Repair { step, kind: kind.to_owned() }));
                self.act(thought, action, discarded)
            }
            Err(refused) => self.refuse(thought, refused, discarded),
        }
    }

    fn observation(&mut self, text: &str) -> Turn {
        match std::mem::replace(&mut self.waiting, Waiting::Model) {
            Waiting::Tool { step, answer } => {
                self.messages.push(Message::assistant(step));
                if answer.is_some() {
                    return self.stop(Outcome::Finished, answer, None);
                }
                self.messages.push(Message::user(Protocol.observation(self.step, text)));
                self.step = self.step.saturating_add(1);
                self.ask()
            }
            Waiting::Feedback { step, problem } => self.told(step, &problem, text),
            Waiting::Model => self.ask(),
        }
    }

    /// The question and the last step, which for the next question is what was answered.
    fn memory(&self) -> Vec<Message> {
        let mut memory = self.setup.history.clone();
        // Without a step there is nothing to remember: two questions in a row would not alternate.
        if let Some((at, question)) = &self.question
            && let Some(last) = self.messages[*at..].iter().rfind(|message| message.role == Role::Assistant)
        {
            memory.extend([question.clone(), last.clone()]);
        }
        memory
    }
}
