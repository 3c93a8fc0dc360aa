//! Re-executing a recorded episode: the dialogue runs again on the recorded completions and observations, and
//! everything that it computes is held against the record.

use crate::protocol::{Dialogue, Stop, Turn};
use crate::types::{Call, Outcome, Question, Repair, Request, Step, ToolCall, Trajectory};
use serde::Serialize;

/// What running a dialogue on a record gave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replayed {
    /// SHA-256 of the prompt of every call, in order.
    pub prompt_sha256: Vec<String>,
    /// Calls made.
    pub calls: usize,
    /// Steps taken, a closing empty finish included.
    pub steps: usize,
    /// Calls that had to be made because an action was missing.
    pub bad_calls: usize,
    /// The answer given.
    pub answer: Option<String>,
    /// Where the record says something else, in the order of the episode.
    pub differences: Vec<Difference>,
}

/// One thing that a record has otherwise.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// The step at which they part, from 1; the last one for what belongs to the whole episode.
    pub step: usize,
    /// What differs, such as `prompt_sha256`.
    pub field: &'static str,
    /// What the record has.
    pub expected: String,
    /// What the dialogue computes.
    pub got: String,
}

/// Runs `dialogue` on the completions and observations of `recorded`.
///
/// The first call or step that the record does not have ends the replay: from there on there is nothing to
/// compare with. An episode that was not measured is compared as far as it went.
pub fn replay(recorded: &Trajectory, mut dialogue: Box<dyn Dialogue>) -> Replayed {
    let question =
        Question { index: recorded.index, ..Question::new(&recorded.id, &recorded.question, recorded.answers.clone()) };
    let mut run = Run::new(recorded);
    let mut turn = dialogue.begin(&question);
    loop {
        let next = match turn {
            Turn::Ask(request) => run.ask(&request).map(|text| dialogue.completion(text)),
            Turn::Use(call) => run.step(&call).map(|text| dialogue.observation(text)),
            Turn::Stop(stop) => {
                run.stop(stop);
                None
            }
        };
        match next {
            Some(next) => turn = next,
            None => return run.replayed,
        }
    }
}

/// The record being held against the replay, and how far it has come.
struct Run<'a> {
    recorded: &'a Trajectory,
    calls: std::vec::IntoIter<&'a Call>,
    steps: std::vec::IntoIter<&'a Step>,
    step: usize,
    replayed: Replayed,
}

impl<'a> Run<'a> {
    fn new(recorded: &'a Trajectory) -> Self {
        let calls: Vec<_> = recorded.steps.iter().flat_map(|step| &step.calls).collect();
        let steps: Vec<_> = recorded.steps.iter().filter(|step| step.action_text.is_some()).collect();
        let replayed = Replayed {
            prompt_sha256: Vec::new(),
            calls: 0,
            steps: 0,
            bad_calls: 0,
            answer: None,
            differences: Vec::new(),
        };
        Self { recorded, calls: calls.into_iter(), steps: steps.into_iter(), step: 1, replayed }
    }

    /// The recorded completion, if the record goes that far.
    fn ask(&mut self, request: &Request) -> Option<&'a str> {
        let digest = request.prompt.sha256();
        self.replayed.prompt_sha256.push(digest.clone());
        self.replayed.calls += 1;
        let Some(call) = self.calls.next() else {
            if self.recorded.measured() {
                self.differ("calls", "none", &format!("a prompt with SHA-256 {digest}"));
            }
            return None;
        };
        self.compare("prompt_sha256", &call.prompt_sha256, &digest);
        self.compare("prompt_chars", call.prompt_chars, request.prompt.chars());
        self.compare("stop", &call.stop, &request.stop);
        Some(&call.completion)
    }

    /// The recorded observation, if the record goes that far.
    fn step(&mut self, call: &ToolCall) -> Option<&'a str> {
        self.step = call.step;
        self.replayed.steps += 1;
        let Some(step) = self.steps.next() else {
            if self.recorded.measured() {
                self.differ("steps", "none", &call.action_text);
            }
            return None;
        };
        self.compare("n", step.n, call.step);
        self.compare("thought", &step.thought, &call.thought);
        self.compare("action_text", &step.action_text, &call.action_text);
        // An imported record does not say what the tool made of the action.
        if step.tool.is_some() {
            self.compare("tool", step.tool, call.tool);
            self.compare("input", &step.input, &call.input);
        }
        // A step without an observation is where the tool failed for good.
        step.observation.as_deref()
    }

    fn stop(&mut self, stop: Stop) {
        let left = self.calls.len();
        if left > 0 {
            self.differ("calls", &format!("{left} more"), "none");
        }
        if self.recorded.outcome != Outcome::NotMeasured {
            self.compare("outcome", self.recorded.outcome, stop.outcome);
            self.compare("answer", &self.recorded.answer, &stop.answer);
            self.compare("repairs", &self.recorded.repairs, &stop.repairs);
        }
        let left = self.steps.len();
        if left > 0 {
            self.differ("steps", &format!("{left} more"), "none");
        }
        self.replayed.bad_calls = stop.repairs.iter().filter(|repair| repair.kind == Repair::MISSING_ACTION).count();
        self.replayed.answer = stop.answer;
    }
}

impl Run<'_> {
    fn compare(&mut self, field: &'static str, was: impl Serialize, is: impl Serialize) {
        // Plain data always serialises, and as JSON it reads like the record.
        let was = serde_json::to_string(&was).unwrap_or_default();
        let is = serde_json::to_string(&is).unwrap_or_default();
        if was != is {
            self.differ(field, &was, &is);
        }
    }

    fn differ(&mut self, field: &'static str, expected: &str, got: &str) {
        self.replayed.differences.push(Difference {
            step: self.step,
            field,
            expected: expected.to_owned(),
            got: got.to_owned(),
        });
    }
}
