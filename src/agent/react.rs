//! The loop of every agent that uses tools. It knows the dialogue's trait and nothing of any protocol.

use super::episode::{Episode, Price, Recorder};
use crate::llm::Model;
use crate::protocol::{Protocol, Setup, Turn};
use crate::types::{Outcome, Trajectory};
use crate::wiki::{Session, SessionOptions, Source};
use std::sync::Arc;

/// Everything that the episodes of one variant share.
#[derive(Clone)]
pub struct Agent {
    /// Who answers requests.
    pub model: Arc<dyn Model>,
    /// Where pages come from.
    pub source: Arc<dyn Source>,
    /// The tool's settings.
    pub session: SessionOptions,
    /// The protocol spoken.
    pub protocol: Protocol,
    /// What its dialogues are built from.
    pub setup: Setup,
    /// What tokens cost, where that is known.
    pub price: Option<Price>,
}

impl Agent {
    /// Runs one episode to its end. Never fails: what goes wrong outside the agent is `not_measured`.
    pub async fn answer(&self, episode: &Episode) -> Trajectory {
        let mut record = Recorder::new(episode, self.price);
        let mut session = Session::new(Arc::clone(&self.source), episode.variant.compat, self.session);
        let mut dialogue = self.protocol.dialogue(&self.setup);
        let mut turn = dialogue.begin(&episode.question);
        loop {
            turn = match turn {
                Turn::Ask(request) => match self.model.complete(&request).await {
                    Ok(completion) => {
                        let next = dialogue.completion(&completion.text);
                        record.call(request, completion);
                        next
                    }
                    Err(error) => return record.end(Outcome::NotMeasured, Some(format!("model: {error}"))),
                },
                Turn::Use(call) => {
                    let (tool, input) = (call.tool, call.input.clone());
                    let step = record.step(call);
                    match session.call(tool, &input).await {
                        Ok(observation) => {
                            let next = dialogue.observation(&observation.text);
                            step.observation = Some(observation.text);
                            step.provenance = observation.provenance;
                            step.note = observation.note;
                            next
                        }
                        Err(error) => {
                            step.note = Some(error.to_string());
                            return record.end(Outcome::NotMeasured, Some(format!("wikipedia: {error}")));
                        }
                    }
                }
                Turn::Stop(stop) => {
                    let mut trajectory = record.end(stop.outcome, stop.detail);
                    trajectory.answer = stop.answer;
                    trajectory.repairs = stop.repairs;
                    return trajectory;
                }
            };
        }
    }
}
