//! The loop of every dialogue, whatever the protocol.

use super::log::Log;
use super::observer::EpisodeObserver;
use crate::llm::{Model, ModelError, StreamEvent};
use crate::protocol::{Dialogue, Stop, Turn};
use crate::types::{Completion, Failure, Question, Reply, Request, ToolCall};
use crate::wiki::{Session, SessionError};

/// The model and the tool of a dialogue, and who observes it.
pub(super) struct EpisodeContext<'a> {
    pub(super) model: &'a dyn Model,
    pub(super) session: Session,
    pub(super) observer: Option<&'a dyn EpisodeObserver>,
}

/// Why a dialogue did not reach its end.
#[derive(Debug)]
pub(super) enum EpisodeError {
    /// The model or Wikipedia failed after all retries.
    Failed(String, Option<Failure>),
    /// The run's budget is spent.
    Budget(String),
}

impl From<ModelError> for EpisodeError {
    fn from(error: ModelError) -> Self {
        match error {
            ModelError::Budget { .. } => Self::Budget(error.to_string()),
            error => Self::Failed(format!("model: {error}"), Some(error.failure())),
        }
    }
}

impl From<SessionError> for EpisodeError {
    fn from(error: SessionError) -> Self {
        Self::Failed(format!("wikipedia: {error}"), error.failure())
    }
}

/// Runs a dialogue from its first turn to its stop; the error says why the episode cannot be measured.
pub(super) async fn drive(
    dialogue: &mut dyn Dialogue,
    question: &Question,
    context: &mut EpisodeContext<'_>,
    log: &mut Log,
) -> Result<Stop, EpisodeError> {
    let mut turn = dialogue.begin(question);
    loop {
        turn = match turn {
            Turn::Ask(request) => {
                let completion = context.ask(&request).await?;
                let next = dialogue.completion(&completion.text);
                log.call(request, completion);
                next
            }
            Turn::Use(call) => {
                let text = context.use_tool(call, log).await?;
                dialogue.observation(&text)
            }
            Turn::Stop(stop) => return Ok(stop),
        };
    }
}

impl EpisodeContext<'_> {
    async fn ask(&self, request: &Request) -> Result<Completion, ModelError> {
        let Some(observer) = self.observer else { return self.model.complete(request).await };
        let on_event = |event: StreamEvent<'_>| match event {
            StreamEvent::Text(text) => observer.text(text),
            StreamEvent::Restarted => observer.again(),
        };
        let completion = self.model.stream(request, &on_event).await?;
        observer.call_ended();
        Ok(completion)
    }

    /// Records the step and returns the observation for the dialogue.
    async fn use_tool(&mut self, call: ToolCall, log: &mut Log) -> Result<String, SessionError> {
        let (tool, input, reply) = (call.tool, call.input.clone(), call.reply.clone());
        let step = log.step(call);
        let text = match reply {
            Reply::None => String::new(),
            Reply::Given(text) => {
                step.observation = Some(text.clone());
                text
            }
            Reply::Tool => match self.session.call(tool, &input).await {
                Ok(observation) => {
                    step.observation = Some(observation.text.clone());
                    step.provenance = observation.provenance;
                    step.note = observation.note;
                    observation.text
                }
                Err(error) => {
                    step.note = Some(error.to_string());
                    return Err(error);
                }
            },
        };
        if let Some(observer) = self.observer {
            observer.step(step);
        }
        Ok(text)
    }
}
