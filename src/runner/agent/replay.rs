//! Replay of a recorded episode: the dialogue runs again on the recorded completions and observations, and everything
//! that it computes is compared with the record.

use super::approach::{Answering, Approach, Stage, backed_off, voted};
use super::drive::overflown;
use crate::base::{Call, Question, RebuiltPrompt, Repair, Reply, Request, Step, ToolCall, Trajectory, Vote, Voting};
use crate::prompting::protocol::{Dialogue, Stop, Turn};
use serde::Serialize;
use std::collections::{HashMap, VecDeque};

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Replayed {
    /// SHA-256 of the prompt of every call, in order.
    pub prompt_sha256: Vec<String>,
    pub calls: usize,
    /// Steps taken, a closing empty finish included.
    pub steps: usize,
    /// Calls that had to be made because an action was missing.
    pub bad_calls: usize,
    pub answer: Option<String>,
    pub differences: Vec<Difference>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// The step, from 1; the last one for what belongs to the whole episode.
    pub step: usize,
    pub field: &'static str,
    pub expected: String,
    pub got: String,
}

/// Runs the method's dialogues on the completions and observations of `recorded`, a record of `question`.
///
/// The replay ends at the first call or step that the record lacks. An episode that was not measured is compared as far
/// as it went.
pub fn replay(recorded: &Trajectory, question: &Question, approach: &Approach) -> Replayed {
    replay_observed(recorded, question, approach, &mut |_, _| {})
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Event<'a> {
    Asked(&'a Request, &'a Call),
    /// A request that did not fit into the model's context, or whose answers were empty for an unknown reason.
    Overflown(&'a Request),
    Used(&'a ToolCall, &'a str),
}

/// The same with a listener, which gets each event with its sample of a vote (from 1).
pub(super) fn replay_observed(
    recorded: &Trajectory,
    question: &Question,
    approach: &Approach,
    listener: &mut dyn FnMut(Option<u32>, Event<'_>),
) -> Replayed {
    let replayed = Replayed::default();
    let mut run = Run { recorded, question, listener, step: 1, votes: Vec::new(), replayed };
    if let Some(stop) = run.by(approach) {
        run.stop(stop);
    }
    run.replayed
}

/// The prompt of every recorded call, in the order of the record, as far as the dialogue can be run again.
pub fn prompts(recorded: &Trajectory, question: &Question, approach: &Approach) -> Vec<RebuiltPrompt> {
    let mut asked: HashMap<Option<u32>, VecDeque<Request>> = HashMap::new();
    replay_observed(recorded, question, approach, &mut |sample, event| match event {
        Event::Asked(request, _) | Event::Overflown(request) => {
            asked.entry(sample).or_default().push_back(request.clone());
        }
        Event::Used(..) => {}
    });
    let mut prompts = Vec::new();
    for step in &recorded.steps {
        for (at, call) in step.calls.iter().enumerate() {
            let request = asked.get_mut(&step.sample).and_then(VecDeque::pop_front);
            prompts.push(RebuiltPrompt::new(step.n, step.sample, at + 1, call, request));
        }
    }
    prompts
}

struct Run<'a> {
    recorded: &'a Trajectory,
    question: &'a Question,
    listener: &'a mut dyn FnMut(Option<u32>, Event<'_>),
    step: usize,
    votes: Vec<Vote>,
    replayed: Replayed,
}

struct Part<'a> {
    calls: std::vec::IntoIter<&'a Call>,
    steps: std::vec::IntoIter<&'a Step>,
}

impl<'a> Part<'a> {
    /// The steps of an agent, or those of sample `number` of a vote.
    fn of(recorded: &'a Trajectory, number: Option<u32>) -> Self {
        let steps = || recorded.steps.iter().filter(move |step| step.sample == number);
        let calls: Vec<_> = steps().flat_map(|step| &step.calls).collect();
        let steps: Vec<_> = steps().filter(|step| step.action_text.is_some()).collect();
        Self { calls: calls.into_iter(), steps: steps.into_iter() }
    }
}

impl Run<'_> {
    fn by(&mut self, approach: &Approach) -> Option<Stop> {
        let mut stop = Stop::default();
        for stage in &approach.0 {
            stop = backed_off(stop, self.stage(stage)?);
            if stage.settles(&stop, &self.votes) {
                break;
            }
        }
        Some(stop)
    }

    fn stage(&mut self, stage: &Stage) -> Option<Stop> {
        match stage {
            Stage::Act(acting) => self.part(acting.dialogue(), None),
            Stage::Answer(answering) => self.part(answering.dialogue(), None),
            Stage::Vote(answering, voting) => self.vote(answering, voting),
            // Nothing of it is computed here.
            #[cfg(feature = "serve")]
            Stage::Program(_) => None,
        }
    }

    fn vote(&mut self, answering: &Answering, voting: &Voting) -> Option<Stop> {
        let dialogues = (0..voting.samples).map(|number| (number, answering.sample(number, voting).dialogue()));
        let stops = dialogues.map(|(number, dialogue)| self.part(dialogue, Some(number + 1)));
        let (stop, votes) = voted(stops.collect::<Option<_>>()?);
        self.votes = votes;
        Some(stop)
    }

    fn part(&mut self, mut dialogue: Box<dyn Dialogue>, number: Option<u32>) -> Option<Stop> {
        let mut part = Part::of(self.recorded, number);
        let mut turn = dialogue.begin(self.question);
        loop {
            turn = match turn {
                Turn::Ask(request) => {
                    let call = self.ask(&mut part, &request)?;
                    if call.did_not_fit() {
                        (self.listener)(number, Event::Overflown(&request));
                        self.differ_if_left("steps", part.steps.len());
                        return Some(overflown(None));
                    }
                    if call.has_failed() {
                        (self.listener)(number, Event::Overflown(&request));
                        return None;
                    }
                    (self.listener)(number, Event::Asked(&request, call));
                    dialogue.called(call)
                }
                Turn::Use(call) => {
                    let text = self.used(&mut part, &call)?;
                    (self.listener)(number, Event::Used(&call, text));
                    dialogue.observation(text)
                }
                Turn::Stop(stop) => {
                    self.differ_if_left("calls", part.calls.len());
                    self.differ_if_left("steps", part.steps.len());
                    return Some(stop);
                }
            };
        }
    }

    /// The recorded call, if the record goes that far.
    fn ask<'p>(&mut self, part: &mut Part<'p>, request: &Request) -> Option<&'p Call> {
        let digest = request.prompt.sha256();
        self.replayed.prompt_sha256.push(digest.clone());
        self.replayed.calls += 1;
        let Some(call) = part.calls.next() else {
            if self.recorded.measured() {
                self.differ("calls", "none", &format!("a prompt with SHA-256 {digest}"));
            }
            return None;
        };
        self.compare("prompt_sha256", &call.prompt_sha256, &digest);
        self.compare("prompt_chars", call.prompt_chars, request.prompt.chars());
        self.compare("stop", &call.stop, &request.stop);
        Some(call)
    }

    /// The recorded observation, if the record goes that far.
    fn used<'p>(&mut self, part: &mut Part<'p>, call: &ToolCall) -> Option<&'p str> {
        self.step = call.step;
        self.replayed.steps += 1;
        let Some(step) = part.steps.next() else {
            if self.recorded.measured() {
                self.differ("steps", "none", &call.action_text);
            }
            return None;
        };
        self.compare("n", step.n, call.step);
        self.compare("thought", &step.thought, &call.thought);
        self.compare("action_text", &step.action_text, &call.action_text);
        self.compare("discarded", &step.discarded, &call.discarded);
        // An imported record lacks tool and input.
        if step.tool.is_some() {
            self.compare("tool", step.tool, call.tool);
            self.compare("input", &step.input, &call.input);
        }
        match &call.reply {
            Reply::None => Some(""),
            Reply::Given(text) => {
                if step.tool.is_some() {
                    self.compare("observation", step.observation.as_deref(), Some(text));
                }
                step.observation.as_deref()
            }
            // A step without an observation is where the tool failed for good.
            Reply::Tool => step.observation.as_deref(),
        }
    }

    fn stop(&mut self, stop: Stop) {
        if self.recorded.measured() {
            self.compare("outcome", self.recorded.outcome, stop.outcome);
            self.compare("answer", &self.recorded.answer, &stop.answer);
            self.compare("repairs", &self.recorded.repairs, &stop.repairs);
            let votes = std::mem::take(&mut self.votes);
            self.compare("votes", &self.recorded.votes, &votes);
        }
        self.replayed.bad_calls = stop.repairs.iter().filter(|repair| repair.kind == Repair::MISSING_ACTION).count();
        self.replayed.answer = stop.answer;
    }

    fn differ_if_left(&mut self, field: &'static str, left: usize) {
        if left > 0 {
            self.differ(field, &format!("{left} more"), "none");
        }
    }

    fn compare(&mut self, field: &'static str, was: impl Serialize, is: impl Serialize) {
        // JSON reads like the record. What cannot be written is a difference, and never equal to another fault.
        let text = |written: serde_json::Result<String>, which: &str| {
            written.unwrap_or_else(|error| format!("{which}: not JSON: {error}"))
        };
        let was = text(serde_json::to_string(&was), "recorded");
        let is = text(serde_json::to_string(&is), "replayed");
        if was != is {
            self.differ(field, &was, &is);
        }
    }

    fn differ(&mut self, field: &'static str, expected: &str, got: &str) {
        let (step, expected, got) = (self.step, expected.to_owned(), got.to_owned());
        self.replayed.differences.push(Difference { step, field, expected, got });
    }
}
