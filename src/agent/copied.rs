//! The beginning of an episode that branches off a recorded one: its completions are copied, its tool calls are made again,
//! and their answers must be those of the record.

use super::answer::Agent;
use super::answer::Episode;
use super::drive::Log;
use super::drive::{EpisodeContext, EpisodeError};
use crate::protocol::Turn;
use crate::types::text::visible_line;
use crate::types::{Call, Fork, Request, Step, ToolCall};
use crate::wiki::Session;
use std::sync::Arc;

/// Characters of a text that a difference shows.
const SHOWN: usize = 160;

/// What is left to copy.
pub(super) struct Copied<'a> {
    fork: &'a Fork,
    /// Steps that are done.
    done: usize,
    /// Calls of the next step that were handed out.
    asked: usize,
}

/// What the record holds of a step that is being made again.
pub(super) struct Expected<'a> {
    step: &'a Step,
    /// The observation in place of the tool's.
    pub(super) given: Option<&'a str>,
}

impl<'a> Copied<'a> {
    pub(super) fn of(fork: &'a Fork) -> Self {
        Self { fork, done: 0, asked: 0 }
    }

    fn is_over(&self) -> bool {
        self.done >= self.fork.steps.len()
    }

    /// The copied answer to a request; none once everything is copied.
    pub(super) fn call(&mut self, request: &Request) -> Result<Option<Call>, EpisodeError> {
        let Some(step) = self.fork.steps.get(self.done) else { return Ok(None) };
        let Some(call) = step.calls.get(self.asked) else {
            let what =
                "the dialogue asks again where the record has an action: it does not read the reply as the record does";
            return Err(differs(step.n, what));
        };
        self.asked += 1;
        let asked = Call::of(request, crate::types::Completion::default());
        // A reply with an edit was never the answer to a prompt.
        let recorded = Some(&call.prompt_sha256).filter(|digest| self.fork.same_prompt && !digest.is_empty());
        if recorded.is_some_and(|digest| *digest != asked.prompt_sha256) {
            return Err(differs(step.n, "the prompt is another one than in the record"));
        }
        let Call { prompt_sha256, prompt_chars, stop, .. } = asked;
        Ok(Some(Call { prompt_sha256, prompt_chars, stop, copied: true, ..call.clone() }))
    }

    /// What the record holds of a tool call; none once everything is copied.
    pub(super) fn used(&mut self, call: &ToolCall) -> Result<Option<Expected<'a>>, EpisodeError> {
        let Some(step) = self.fork.steps.get(self.done) else { return Ok(None) };
        if step.tool != Some(call.tool) || step.input.as_deref().is_some_and(|input| input != call.input) {
            let was = format!(
                "{}[{}]",
                step.tool.map_or("none", crate::types::Tool::name),
                step.input.as_deref().unwrap_or_default()
            );
            return Err(not_equal(step.n, "action", &was, &format!("{}[{}]", call.tool.name(), call.input)));
        }
        self.done += 1;
        self.asked = 0;
        let given = self.fork.given.as_deref().filter(|_| self.is_over());
        Ok(Some(Expected { step, given }))
    }
}

impl Expected<'_> {
    /// Whether the tool answers as it did.
    pub(super) fn check(&self, text: &str) -> Result<(), EpisodeError> {
        match self.step.observation.as_deref() {
            Some(was) if was != text => Err(not_equal(self.step.n, "observation", was, text)),
            _ => Ok(()),
        }
    }
}

fn not_equal(step: usize, part: &str, was: &str, is: &str) -> EpisodeError {
    let [was, is] = [was, is].map(|text| visible_line(text, SHOWN));
    differs(step, &format!("{part}: recorded `{was}`, now `{is}`"))
}

fn differs(step: usize, what: &str) -> EpisodeError {
    EpisodeError::Failed(format!("step {step}: {what}"), None)
}

impl Agent {
    /// Makes the copied steps of an episode again, without the model. The error names the step and what differs from the
    /// record.
    pub async fn verify_prefix(&self, episode: &Episode) -> Result<(), String> {
        let Some(fork) = &episode.fork else { return Ok(()) };
        match self.copy(episode, fork).await {
            Ok(()) => Ok(()),
            Err(error) => Err(error.into_reason().0),
        }
    }

    async fn copy(&self, episode: &Episode, fork: &Fork) -> Result<(), EpisodeError> {
        let approach = self.approach.repeated(episode.repeat).branched(Some(&fork.branch));
        let Some(acting) = approach.acting() else { return Ok(()) };
        let session = Session::new(Arc::clone(&self.source), episode.variant.compat.unwrap_or_default(), self.session);
        let copied = Some(Copied::of(fork));
        let mut context = EpisodeContext { model: self.model.as_ref(), session, observer: None, journal: None, copied };
        let (mut dialogue, mut log) = (acting.dialogue(), Log::default());
        let mut turn = dialogue.begin(&episode.question);
        loop {
            let over = context.copied.as_ref().is_none_or(Copied::is_over);
            turn = match turn {
                _ if over => return Ok(()),
                Turn::Ask(request) => dialogue.called(&context.ask(&request).await?),
                Turn::Use(call) => dialogue.observation(&context.use_tool(call, &mut log).await?),
                Turn::Stop(_) => return Err(differs(fork.branch.at, "the dialogue ends before this step")),
            };
        }
    }
}
