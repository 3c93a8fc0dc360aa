//! Methods without tools: the instruction and answered questions, in the paper's form.

use super::Job;
use crate::prompt::PromptError;
use crate::protocol::{Frame, direct};
use crate::types::Method;

/// The frame, and how many exemplars it shows.
pub(super) fn direct_frame(job: &Job<'_>) -> Result<(Frame, usize), PromptError> {
    let mut text = job.instruction()? + "\n";
    for exemplar in &job.exemplars {
        let rationale = match (job.settings.method, exemplar.rationale.as_deref()) {
            (Method::Cot, None) => return Err(no_rationale(job, &exemplar.question)),
            (Method::Cot, rationale) => rationale.map(str::trim_end),
            _ => None,
        };
        text += &direct::example(&job.file.question_label, &exemplar.question, rationale, &exemplar.answer);
    }
    Ok((Frame::text(text), job.exemplars.len()))
}

fn no_rationale(job: &Job<'_>, question: &str) -> PromptError {
    let place = job.file.exemplars.iter().position(|exemplar| exemplar.question == question);
    PromptError::NoRationale(job.file.file.clone(), place.map_or(0, |at| at + 1))
}
