//! Exemplars in the syntax of a protocol.

use super::Job;
use crate::prompt::exemplar::{self, Exemplar};
use crate::types::{Message, Method, Role};

/// The messages of one exemplar: question, steps and observations, and the finish.
pub(super) fn said(job: &Job<'_>, exemplar: &Exemplar) -> Vec<(Role, String)> {
    let question = job.settings.protocol.question(&job.file.question_label, &exemplar.question);
    let mut said = vec![(Role::User, question)];
    said.extend(steps(job, exemplar));
    said
}

/// The same without the question.
pub(super) fn steps(job: &Job<'_>, exemplar: &Exemplar) -> Vec<(Role, String)> {
    let protocol = job.settings.protocol;
    let mut said = Vec::new();
    for (n, step) in (1..).zip(&exemplar.steps) {
        let (tool, input) = exemplar::parse(&step.action);
        let thought = (job.settings.method == Method::React).then_some(step.thought.as_str());
        said.push((Role::Assistant, protocol.step(n, thought, tool, &input)));
        if let Some(observation) = &step.observation {
            said.push((protocol.observation_role(), protocol.observation(n, observation)));
        }
    }
    said
}

pub(super) fn turns(job: &Job<'_>) -> Vec<Message> {
    let said = job.exemplars.iter().flat_map(|exemplar| said(job, exemplar));
    said.map(|(role, content)| Message::new(role, content)).collect()
}
