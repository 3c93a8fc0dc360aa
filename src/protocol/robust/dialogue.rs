//! The conversation: what the model reads, which step comes next, how it ends.

use super::super::episode::{Episode, shared};
use super::super::{Dialogue, Setup, Turn};
use super::placeholder::Placeholders;
use super::reply::{Action, Refused, Reply};
use super::{Protocol as _, Robust};
use crate::types::{Message, Outcome, Prompt, Question, Reply as Answerer, Role, Tool};
use std::sync::Arc;

/// Occasion of the text that is said before the last step.
const FORCE_STOP: &str = "force_stop";
/// What is said before the last step where the frame has nothing for it. Like the texts below it has no action in it:
/// weak models echo what they are told, and an echo must not be one.
const DEFAULT_FORCE_STOP: &str =
    "This is the last step: use Finish now, with your best answer in its brackets, based on what has been found.";
/// Occasion of the text that is said after a reply without an action; it may hold `{error}` and `{n}`.
const FEEDBACK: &str = "feedback";
/// What is said after a reply without an action where the frame has nothing for it.
const DEFAULT_FEEDBACK: &str = "Error: {error}. Write a line that begins with Thought {n} and a colon, then a line that begins with Action {n}, a colon and the name of one tool (Search, Lookup, Finish), directly followed by its argument in square brackets.";
/// The same for the method without thoughts.
const DEFAULT_FEEDBACK_ACT: &str = "Error: {error}. Write one line that begins with Action {n}, a colon and the name of one tool (Search, Lookup, Finish), directly followed by its argument in square brackets.";

#[derive(Debug)]
pub(super) struct RobustDialogue {
    episode: Episode,
    /// The conversation so far, without the text added before the last step.
    messages: Vec<Message>,
    /// The question as it was put, and its place among the messages.
    question: Option<(usize, Message)>,
    waiting: Waiting,
    /// Whether the last reply was unusable.
    failed: bool,
    placeholders: Placeholders,
    version: u32,
}

#[derive(Debug)]
enum Waiting {
    Model,
    /// The tool's answer to this step, written as the model is shown it.
    Tool {
        step: String,
    },
    /// The feedback on an unusable reply; `step` is what the model is shown of it.
    Feedback {
        step: Option<String>,
        problem: String,
    },
}

impl RobustDialogue {
    pub(super) fn new(setup: &Arc<Setup>, version: u32) -> Self {
        let frame = &setup.frame;
        let texts = frame.system.iter().chain(frame.texts.values()).map(AsRef::as_ref);
        let placeholders = Placeholders::of_texts(texts.chain([&*frame.prefix, &*frame.suffix]));
        Self {
            episode: Episode::new(setup),
            messages: Vec::new(),
            question: None,
            waiting: Waiting::Model,
            failed: false,
            placeholders,
            version,
        }
    }

    fn ask(&mut self) -> Turn {
        let (n, limit) = (self.episode.step, self.episode.setup.max_steps);
        if n > limit {
            return self.episode.stop(Outcome::StepLimit, format!("no answer within {limit} steps"));
        }
        self.waiting = Waiting::Model;
        let mut messages = self.messages.clone();
        if n == limit
            && let Some(last) = messages.last_mut()
        {
            *last = Message::user(format!("{}\n{}", last.content, self.text(FORCE_STOP, DEFAULT_FORCE_STOP)));
        }
        let stop = self.stops();
        self.episode.ask(Prompt::Messages(messages), stop)
    }

    /// An observation ends a reply, whatever its number. A later step does not: the whole reply may have the numbers of
    /// other steps.
    fn stops(&self) -> Vec<String> {
        let n = self.episode.step;
        if self.version < 2 {
            return vec![
                format!("\nObservation {n}:"),
                format!("\nThought {}:", n + 1),
                format!("\nAction {}:", n + 1),
            ];
        }
        vec!["\nObservation".to_owned()]
    }

    fn text<'a>(&'a self, occasion: &str, default: &'a str) -> &'a str {
        let text = self.episode.setup.frame.text_for(occasion);
        if text.is_empty() { default } else { text }
    }

    fn act(&mut self, thought: Option<String>, action: Action) -> Turn {
        self.failed = false;
        let step = Robust::default().step(self.episode.step, thought.as_deref(), action.tool, &action.input);
        self.waiting = Waiting::Tool { step };
        if action.tool == Tool::Finish {
            self.episode.answers(&action.input);
        }
        self.episode.turn(thought, action.text, action.tool, action.input, Answerer::Tool)
    }

    /// An unusable reply is a step that the system answers itself.
    fn refuse(&mut self, thought: Option<String>, Refused { fault, attempt }: Refused) -> Turn {
        let n = self.episode.step;
        let problem = fault.to_string();
        let default = if self.episode.setup.thoughts { DEFAULT_FEEDBACK } else { DEFAULT_FEEDBACK_ACT };
        let next = (n + 1).to_string();
        // The problem comes last: it repeats text of the model, which may look like a slot.
        let sentence = fault.sentence(&self.episode.setup.frame);
        let feedback = self.text(FEEDBACK, default).replace("{n}", &next).replace("{error}", &sentence);
        let shown = [("Thought", thought.as_deref().unwrap_or_default()), ("Action", &attempt)];
        let shown = shown.iter().filter(|(_, text)| !text.is_empty());
        let shown: Vec<String> = shown.map(|(label, text)| format!("{label} {n}: {text}")).collect();
        self.waiting = Waiting::Feedback { step: (!shown.is_empty()).then(|| shown.join("\n")), problem };
        self.episode.answer_itself(thought, attempt, feedback)
    }

    /// After feedback the model is asked again, once.
    fn after_feedback(&mut self, step: Option<String>, problem: &str, feedback: &str) -> Turn {
        if self.failed {
            let detail = format!("two replies in a row could not be used; the last: {problem}");
            return self.episode.stop(Outcome::FormatFailure, detail);
        }
        self.failed = true;
        match (step, self.messages.last_mut()) {
            // Turns alternate: after an empty reply the user's message continues.
            (None, Some(last)) => *last = Message::user(format!("{}\n{feedback}", last.content)),
            (step, _) => {
                self.messages.extend(step.map(Message::assistant));
                self.messages.push(Message::user(feedback));
            }
        }
        self.ask()
    }
}

impl Dialogue for RobustDialogue {
    fn begin(&mut self, question: &Question) -> Turn {
        let Setup { frame, history, question_label, .. } = self.episode.setup.as_ref();
        let question = &question.question;
        let question =
            Message::user(frame.question_message(question, || Robust::default().question(question_label, question)));
        let system = frame.system.clone().filter(|text| !text.is_empty()).map(Message::system);
        self.messages = shared(system.into_iter().chain(frame.examples.iter().chain(history).cloned()).collect());
        self.question = Some((self.messages.len(), question.clone()));
        self.messages.push(question);
        self.ask()
    }

    fn completion(&mut self, text: &str) -> Turn {
        let reply = Reply::read(text, self.episode.step, self.episode.setup.thoughts, &self.placeholders);
        self.episode.set_aside(reply.discarded);
        for kind in reply.repairs.kinds() {
            self.episode.repaired(kind);
        }
        match reply.action {
            Ok(action) => self.act(reply.thought, action),
            Err(refused) => self.refuse(reply.thought, refused),
        }
    }

    fn observation(&mut self, text: &str) -> Turn {
        match std::mem::replace(&mut self.waiting, Waiting::Model) {
            Waiting::Tool { step } => {
                self.messages.push(Message::assistant(step));
                if self.episode.finished() {
                    return self.episode.stop(Outcome::Finished, "");
                }
                self.messages.push(Message::user(Robust::default().observation(self.episode.step - 1, text)));
                self.ask()
            }
            Waiting::Feedback { step, problem } => self.after_feedback(step, &problem, text),
            Waiting::Model => self.ask(),
        }
    }

    /// The question and the last step, which for the next question is the answer.
    fn memory(&self) -> Vec<Message> {
        let mut memory = self.episode.setup.history.clone();
        // Without a step nothing is kept: two questions in a row would not alternate.
        if let Some((at, question)) = &self.question
            && let Some(last) = self.messages[*at..].iter().rfind(|message| message.role == Role::Assistant)
        {
            memory.extend([question.clone(), last.clone()]);
        }
        memory
    }
}
