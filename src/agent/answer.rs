//! One question to one trajectory, by method.

use super::approach::{Acting, Answering, Approach};
use super::drive::{Broken, Partners, drive};
use super::episode::Episode;
use super::log::Log;
use super::vote::{is_majority, tally};
use super::watch::Watch;
use crate::llm::{Model, Price, in_episode, in_sample};
use crate::protocol::{Dialogue, Stop};
use crate::types::{Message, Outcome, Trajectory, Vote, Voting};
use crate::wiki::{Session, SessionOptions, Source};
use futures_util::future::join_all;
use std::sync::Arc;
use std::time::Instant;

/// Everything that the episodes of one variant share.
#[derive(Clone)]
pub struct Agent {
    /// Who answers requests.
    pub model: Arc<dyn Model>,
    /// Where pages come from.
    pub source: Arc<dyn Source>,
    /// The tool's settings.
    pub session: SessionOptions,
    /// The method, with what its parts are built from.
    pub approach: Approach,
    /// What tokens cost, where that is known.
    pub price: Option<Price>,
}

/// An episode on its way.
struct Running<'a> {
    agent: &'a Agent,
    episode: &'a Episode,
    watch: Option<&'a dyn Watch>,
    log: Log,
    votes: Vec<Vote>,
    /// The conversation as the agent's system keeps it.
    memory: Vec<Message>,
}

impl Agent {
    /// Runs one episode to its end. Never fails: what goes wrong outside the agent is `not_measured`, and what a
    /// budget cuts short is `budget`.
    pub async fn answer(&self, episode: &Episode) -> Trajectory {
        self.answer_watched(episode, None).await.0
    }

    /// The same with someone who looks on, and with the conversation that the agent's system keeps afterwards: the
    /// [`history`](crate::protocol::Setup::history) of the next question. Systems that forget, and direct methods, keep
    /// nothing.
    pub async fn answer_watched(&self, episode: &Episode, watch: Option<&dyn Watch>) -> (Trajectory, Vec<Message>) {
        let started = Instant::now();
        let mut record = Trajectory { detail: None, ..episode.not_measured("") };
        // A part without tools, which alone may answer in a back-off, leaves what was said before as it is.
        let memory = self.approach.acting().map_or_else(Vec::new, |acting| acting.setup.history.clone());
        let mut running = Running { agent: self, episode, watch, log: Log::default(), votes: Vec::new(), memory };
        let name = format!("{}/{}", episode.variant.name, episode.question.id);
        let approach = self.approach.repeated(episode.repeat);
        let end = in_episode(name, episode.repeat, running.by(&approach)).await;
        let Running { mut log, votes, memory, .. } = running;
        log.close();
        match end {
            Ok(stop) => {
                record.outcome = stop.outcome;
                record.answer = stop.answer;
                record.detail = stop.detail;
                record.repairs = stop.repairs;
            }
            Err(Broken::Failed(reason)) => record.detail = Some(reason),
            Err(Broken::Budget(reason)) => {
                record.outcome = Outcome::Budget;
                record.detail = Some(reason);
            }
        }
        record.steps = log.steps;
        record.votes = votes;
        record.usage = log.usage;
        record.wall_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
        record.cost_usd = self.price.filter(|_| log.counted).map(|price| price.of(record.usage));
        (record, memory)
    }
}

impl Running<'_> {
    async fn by(&mut self, approach: &Approach) -> Result<Stop, Broken> {
        match approach {
            Approach::Act(acting) => self.act(acting).await,
            Approach::Answer(answering) => self.go(answering.dialogue()).await,
            Approach::Vote(answering, voting) => self.vote(answering, voting).await,
            Approach::ActThenVote(acting, answering, voting) => {
                let first = self.act(acting).await?;
                if first.answers() {
                    return Ok(first);
                }
                let mut second = self.vote(answering, voting).await?;
                second.repairs.splice(0..0, first.repairs);
                Ok(second)
            }
            Approach::VoteThenAct(answering, voting, acting) => {
                let first = self.vote(answering, voting).await?;
                if is_majority(&self.votes, voting) {
                    return Ok(first);
                }
                let mut second = self.act(acting).await?;
                second.repairs.splice(0..0, first.repairs);
                Ok(second)
            }
        }
    }

    async fn act(&mut self, acting: &Acting) -> Result<Stop, Broken> {
        self.go(acting.dialogue()).await
    }

    async fn go(&mut self, mut dialogue: Box<dyn Dialogue>) -> Result<Stop, Broken> {
        let mut partners = self.partners(self.watch);
        let stop = drive(dialogue.as_mut(), &self.episode.question, &mut partners, &mut self.log).await?;
        self.memory = dialogue.memory();
        Ok(stop)
    }

    /// Draws all samples at once and lets the majority answer. One that fails for good spoils the vote: a majority of
    /// fewer samples than asked for would be another method.
    async fn vote(&mut self, answering: &Answering, voting: &Voting) -> Result<Stop, Broken> {
        let samples = (0..voting.samples).map(|number| {
            let mut dialogue = answering.sample(number, voting).dialogue();
            let mut partners = self.partners(None);
            let question = &self.episode.question;
            let sample = async move {
                let mut log = Log::default();
                let stop = drive(dialogue.as_mut(), question, &mut partners, &mut log).await;
                (stop, log)
            };
            in_sample(number, sample)
        });
        let ended = join_all(samples).await;
        let (mut stops, mut repairs) = (Vec::with_capacity(ended.len()), Vec::new());
        for (number, (stop, log)) in (1..).zip(ended) {
            let begin = self.log.steps.len();
            self.log.absorb(log, number);
            if let Some(watch) = self.watch {
                self.log.steps.iter().skip(begin).for_each(|step| watch.step(step));
            }
            stops.push(stop);
        }
        let stops = stops.into_iter().collect::<Result<Vec<_>, _>>()?;
        self.votes = tally(stops.iter().map(|stop| stop.answer.as_deref()));
        for stop in stops {
            repairs.extend(stop.repairs);
        }
        let Some(vote) = self.votes.first() else {
            let detail = Some(format!("none of {} samples gave an answer", voting.samples));
            return Ok(Stop { outcome: Outcome::FormatFailure, answer: None, detail, repairs });
        };
        Ok(Stop { outcome: Outcome::Finished, answer: Some(vote.answer.clone()), detail: None, repairs })
    }

    fn partners<'s>(&self, watch: Option<&'s dyn Watch>) -> Partners<'s>
    where
        Self: 's,
    {
        let compat = self.episode.variant.compat;
        let session = Session::new(Arc::clone(&self.agent.source), compat, self.agent.session);
        Partners { model: self.agent.model.as_ref(), session, watch }
    }
}
