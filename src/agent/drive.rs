//! The loop of every dialogue: it knows the dialogue's trait and nothing of any protocol.

use super::log::Log;
use super::watch::Watch;
use crate::llm::{Model, ModelError, StreamEvent};
use crate::protocol::{Dialogue, Stop, Turn};
use crate::types::{Completion, Question, Reply, Request, ToolCall};
use crate::wiki::Session;

/// What a dialogue talks to.
pub(super) struct Partners<'a> {
    pub(super) model: &'a dyn Model,
    pub(super) session: Session,
    pub(super) watch: Option<&'a dyn Watch>,
}

/// Why a dialogue did not come to its stop.
#[derive(Debug)]
pub(super) enum Broken {
    /// Model or Wikipedia failed for good.
    Failed(String),
    /// The run may not spend more.
    Budget(String),
}

impl From<ModelError> for Broken {
    fn from(error: ModelError) -> Self {
        match error {
            ModelError::Budget { .. } => Self::Budget(error.to_string()),
            error => Self::Failed(format!("model: {error}")),
        }
    }
}

/// Carries a dialogue from its first turn to its stop; an error is the reason why the episode cannot be measured.
pub(super) async fn drive(
    dialogue: &mut dyn Dialogue,
    question: &Question,
    partners: &mut Partners<'_>,
    log: &mut Log,
) -> Result<Stop, Broken> {
    let mut turn = dialogue.begin(question);
    loop {
        turn = match turn {
            Turn::Ask(request) => {
                let completion = partners.ask(&request).await?;
                let next = dialogue.completion(&completion.text);
                log.call(request, completion);
                next
            }
            Turn::Use(call) => {
                let failed = |error| Broken::Failed(format!("wikipedia: {error}"));
                let text = partners.use_tool(call, log).await.map_err(failed)?;
                dialogue.observation(&text)
            }
            Turn::Stop(stop) => return Ok(stop),
        };
    }
}

impl Partners<'_> {
    async fn ask(&self, request: &Request) -> Result<Completion, ModelError> {
        let Some(watch) = self.watch else { return self.model.complete(request).await };
        let on_event = |shown: StreamEvent<'_>| match shown {
            StreamEvent::Text(text) => watch.text(text),
            StreamEvent::Restarted => watch.again(),
        };
        let completion = self.model.stream(request, &on_event).await?;
        watch.call_ended();
        Ok(completion)
    }

    /// Records the step and gives what the dialogue is to hear.
    async fn use_tool(&mut self, call: ToolCall, log: &mut Log) -> Result<String, String> {
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
                    return Err(error.to_string());
                }
            },
        };
        if let Some(watch) = self.watch {
            watch.step(step);
        }
        Ok(text)
    }
}
