//! The loop of every dialogue, whatever the protocol.

use super::copied::Copied;
use super::journal::{DialogueJournal, is_about_pages};
use super::log::Log;
use super::observer::EpisodeObserver;
use crate::llm::{Model, ModelError, StreamEvent};
use crate::protocol::{Dialogue, Stop, Turn};
use crate::types::{
    Call, Cause, Completion, Event, Failure, Outcome, Question, Reply, Request, Service, Tool, ToolAnswer, ToolCall,
};
use crate::wiki::{self, Session, SessionError};

/// The model and the tool of a dialogue, and who observes it.
pub(super) struct EpisodeContext<'a> {
    pub(super) model: &'a dyn Model,
    pub(super) session: Session,
    pub(super) observer: Option<&'a dyn EpisodeObserver>,
    pub(super) journal: Option<DialogueJournal<'a>>,
    /// What is copied of the episode that this one branches off.
    pub(super) copied: Option<Copied<'a>>,
}

/// Why a dialogue did not reach its end.
#[derive(Debug)]
pub(super) enum EpisodeError {
    /// The model or Wikipedia failed after all retries.
    Failed(String, Option<Failure>),
    Budget(String),
    /// The model's answers were empty, for a reason that is not known.
    Unexplained {
        attempts: u32,
        reason: String,
    },
}

impl EpisodeError {
    /// In words, with who failed and why, if that is known.
    pub(super) fn into_reason(self) -> (String, Option<Failure>) {
        match self {
            Self::Failed(reason, failure) => (reason, failure),
            Self::Budget(reason) => (reason, None),
            Self::Unexplained { attempts, reason } => {
                let error = ModelError::Unexplained { attempts, reason };
                (format!("model: {error}"), Some(error.failure()))
            }
        }
    }

    /// Why the model could not take the conversation, if it was too long.
    fn overflow(&self) -> Option<&str> {
        const TOO_LONG: Failure = Failure { service: Service::Model, cause: Cause::ContextOverflow };
        match self {
            Self::Failed(reason, Some(failure)) if *failure == TOO_LONG => Some(reason),
            _ => None,
        }
    }
}

impl From<ModelError> for EpisodeError {
    fn from(error: ModelError) -> Self {
        match error {
            ModelError::Budget { .. } => Self::Budget(error.to_string()),
            ModelError::Unexplained { attempts, reason } => Self::Unexplained { attempts, reason },
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
///
/// A conversation that outgrows the model's context is a stop: what is in it is the agent's doing. Where the first prompt
/// does not fit, nothing of the agent was measured.
pub(super) async fn drive(
    dialogue: &mut dyn Dialogue,
    question: &Question,
    context: &mut EpisodeContext<'_>,
    log: &mut Log,
) -> Result<Stop, EpisodeError> {
    let mut turn = dialogue.begin(question);
    let mut asked = false;
    loop {
        turn = match turn {
            Turn::Ask(request) => {
                let call = match context.ask(&request).await {
                    Err(error) if asked && error.overflow().is_some() => {
                        log.call(Call::that_did_not_fit(&request));
                        return Ok(overflown(error.overflow()));
                    }
                    Err(error) => {
                        if let EpisodeError::Unexplained { attempts, reason, .. } = &error {
                            log.call(Call::unexplained(&request, *attempts, reason));
                        }
                        return Err(error);
                    }
                    Ok(call) => call,
                };
                asked = true;
                let next = dialogue.called(&call);
                log.call(call);
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

/// The end of a conversation that outgrew the model's context.
pub(super) fn overflown(reason: Option<&str>) -> Stop {
    let detail = reason.map(str::to_owned);
    Stop { outcome: Outcome::ContextOverflow, answer: None, detail, repairs: Vec::new() }
}

impl EpisodeContext<'_> {
    /// The answer to a request: the one that was kept, or a new one, which is kept before the episode goes on.
    pub(super) async fn ask(&mut self, request: &Request) -> Result<Call, EpisodeError> {
        if let Some(copied) = &mut self.copied
            && let Some(call) = copied.call(request)?
        {
            return Ok(call);
        }
        if let Some(kept) = self.journal.as_mut().and_then(|journal| journal.call(request)) {
            return Ok(kept);
        }
        let call = Call::of(request, self.complete(request).await?);
        if let Some(journal) = &self.journal {
            journal.keep(Event::Call(call.clone())).await;
        }
        Ok(call)
    }

    async fn complete(&self, request: &Request) -> Result<Completion, ModelError> {
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
    pub(super) async fn use_tool(&mut self, call: ToolCall, log: &mut Log) -> Result<String, EpisodeError> {
        let expected = self.copied.as_mut().map_or(Ok(None), |copied| copied.used(&call))?;
        let (tool, input, reply) = (call.tool, call.input.clone(), call.reply.clone());
        let step = log.step(call);
        let given = expected.as_ref().and_then(|expected| expected.given);
        let text = match reply {
            _ if given.is_some() => {
                step.observation = given.map(str::to_owned);
                step.note = Some("this observation was put there".to_owned());
                given.unwrap_or_default().to_owned()
            }
            Reply::None => String::new(),
            Reply::Given(text) => {
                step.observation = Some(text.clone());
                text
            }
            Reply::Tool => match self.answer(tool, input).await {
                Ok(ToolAnswer { observation, provenance, note, .. }) => {
                    step.observation = Some(observation.clone());
                    step.provenance = provenance;
                    step.note = note;
                    observation
                }
                Err(error) => {
                    step.note = Some(error.to_string());
                    return Err(error.into());
                }
            },
        };
        if let Some(expected) = expected.filter(|_| given.is_none() && step.observation.is_some()) {
            expected.check(&text)?;
        }
        if let Some(observer) = self.observer {
            observer.step(step);
        }
        Ok(text)
    }

    /// The tool's answer: the one that was kept, or a new one, which is kept before the episode goes on.
    async fn answer(&mut self, tool: Tool, input: String) -> Result<ToolAnswer, SessionError> {
        if let Some(journal) = &mut self.journal {
            if let Some(kept) = journal.answer(tool, &input) {
                return Ok(kept);
            }
            if is_about_pages(tool) {
                journal.restore(&mut self.session).await?;
            }
        }
        let observation = self.session.call(tool, &input).await?;
        let wiki::Observation { text, provenance, note, .. } = observation;
        let answer = ToolAnswer { tool, input, observation: text, provenance, note };
        if let Some(journal) = &self.journal {
            journal.keep(Event::Tool(answer.clone())).await;
        }
        Ok(answer)
    }
}
