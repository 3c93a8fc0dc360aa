//! Exemplars in the syntax of a protocol.

use super::Job;
use crate::prompt::exemplar::{self, Exemplar, ExemplarStep};
use crate::types::{Message, Method};

/// What the system says to a call that gives the answer: each call has to be answered.
const FINISHED: &str = "Episode finished";

/// The messages of one exemplar: question, steps and observations, and the finish.
pub(super) fn exemplar_messages(job: &Job<'_>, exemplar: &Exemplar) -> Vec<Message> {
    let question = job.settings.protocol.question(&job.file.question_label, &exemplar.question);
    let mut messages = vec![Message::user(question)];
    messages.extend(exemplar_steps(job, exemplar));
    messages
}

/// The same without the question.
pub(super) fn exemplar_steps(job: &Job<'_>, exemplar: &Exemplar) -> Vec<Message> {
    let steps = (1..).zip(&exemplar.steps).map(|(n, step)| step_messages(job, n, step));
    steps.flat_map(|(reply, result)| [Some(reply), result]).flatten().collect()
}

/// Step `n` as the model's reply, and what answers it.
fn step_messages(job: &Job<'_>, n: usize, step: &ExemplarStep) -> (Message, Option<Message>) {
    let protocol = job.settings.protocol;
    let (tool, input) = exemplar::parse_action(&step.action);
    let thought = (job.settings.method == Method::React).then_some(step.thought.as_str());
    let reply = protocol.reply(n, thought, tool, &input);
    let finished = (!reply.calls.is_empty()).then_some(FINISHED);
    let observation = step.observation.as_deref().or(finished);
    (reply, observation.map(|observation| protocol.result(n, observation)))
}

/// The exemplars as turns of one conversation, in which the ids of calls are unique.
pub(super) fn exemplar_turns(job: &Job<'_>) -> Vec<Message> {
    let protocol = job.settings.protocol;
    let mut turns = Vec::new();
    for (number, exemplar) in (1..).zip(&job.exemplars) {
        turns.push(Message::user(protocol.question(&job.file.question_label, &exemplar.question)));
        for (n, step) in (1..).zip(&exemplar.steps) {
            let (mut reply, mut result) = step_messages(job, n, step);
            let ids = reply.calls.iter_mut().map(|call| &mut call.id);
            let ids = ids.chain(result.as_mut().and_then(|result| result.answers.as_mut()));
            ids.for_each(|id| *id = protocol.of_exemplar(number, n));
            turns.extend([Some(reply), result].into_iter().flatten());
        }
    }
    turns
}
