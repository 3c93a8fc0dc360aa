//! Exemplars in the syntax of a protocol.

use super::Job;
use crate::prompt::exemplar::{self, Exemplar};
use crate::types::{Message, Method};

/// What the system says to a call that gives the answer: each call has to be answered.
const FINISHED: &str = "Episode finished";

/// The messages of one exemplar: question, steps and observations, and the finish.
pub(super) fn said(job: &Job<'_>, exemplar: &Exemplar) -> Vec<Message> {
    let question = job.settings.protocol.question(&job.file.question_label, &exemplar.question);
    let mut said = vec![Message::user(question)];
    said.extend(steps(job, exemplar));
    said
}

/// The same without the question.
pub(super) fn steps(job: &Job<'_>, exemplar: &Exemplar) -> Vec<Message> {
    let protocol = job.settings.protocol;
    let mut said = Vec::new();
    for (n, step) in (1..).zip(&exemplar.steps) {
        let (tool, input) = exemplar::parse(&step.action);
        let thought = (job.settings.method == Method::React).then_some(step.thought.as_str());
        let reply = protocol.reply(n, thought, tool, &input);
        let finished = (!reply.calls.is_empty()).then_some(FINISHED);
        said.push(reply);
        let observation = step.observation.as_deref().or(finished);
        said.extend(observation.map(|observation| protocol.result(n, observation)));
    }
    said
}

/// The exemplars as turns of one conversation, in which the ids of calls are unique.
pub(super) fn turns(job: &Job<'_>) -> Vec<Message> {
    let mut turns = Vec::new();
    for (number, exemplar) in (1..).zip(&job.exemplars) {
        let mut said = said(job, exemplar);
        for turn in &mut said {
            let ids = turn.calls.iter_mut().map(|call| &mut call.id).chain(&mut turn.answers);
            ids.for_each(|id| *id = format!("example_{number}_{id}"));
        }
        turns.extend(said);
    }
    turns
}
