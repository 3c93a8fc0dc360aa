//! Protocols with numbered steps, which use the prompt file's instruction.

use super::{Job, examples};
use crate::prompt::PromptError;
use crate::protocol::Frame;
use std::sync::Arc;

/// One text: the instruction, an empty line (if it is not part of the question), then each exemplar's question, its steps, and its last step.
pub(super) fn numbered_text(job: &Job<'_>) -> Result<(Frame, usize), PromptError> {
    let mut text = job.instruction()?;
    // Some systems begin the question that is asked with the empty line, and have none before their examples.
    let question = job.settings.protocol.question(&job.file.question_label, "");
    let begins = question.starts_with('\n');
    if !begins {
        text.push('\n');
    }
    for exemplar in &job.exemplars {
        let messages: String =
            examples::exemplar_messages(job, exemplar).iter().map(|message| &*message.content).collect();
        text += messages.strip_prefix('\n').filter(|_| begins).unwrap_or(&messages);
    }
    Ok((Frame::text(text), job.exemplars.len()))
}

/// A system message, then the exemplars as turns.
pub(super) fn numbered_conversation(job: &Job<'_>) -> Result<(Frame, usize), PromptError> {
    let instruction = job.instruction()?;
    let mut frame = Frame {
        system: Some(instruction.trim_end_matches('\n').into()),
        examples: examples::exemplar_turns(job),
        ..Frame::default()
    };
    for (key, text) in job.texts.occasions() {
        frame.texts.insert(key.to_owned(), text.fill_known(|_| None).into());
    }
    // The prompt file's texts fit its task; texts that the user names take precedence.
    if !job.texts.given {
        let own = [("feedback", &job.file.texts.feedback), ("force_stop", &job.file.texts.force_stop)];
        for (key, text) in own {
            if let Some(text) = text {
                frame.texts.insert(key.to_owned(), Arc::from(text.as_str()));
            }
        }
    }
    Ok((frame, job.exemplars.len()))
}
