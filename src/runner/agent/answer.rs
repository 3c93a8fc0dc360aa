//! An agent, and how it runs an episode by its method.

use super::approach::{Answering, Approach, Stage, backed_off, voted};
use super::drive::{
    CopiedSteps, DialogueJournal, Episode, EpisodeContext, EpisodeError, EpisodeEvent, EpisodeObserver, Log, differs,
    drive,
};
#[cfg(feature = "serve")]
use super::program::{self, Program, ProgramResult};
#[cfg(feature = "serve")]
use crate::base::trajectory::CONFIDENCE;
use crate::base::{Fork, Message, Outcome, Trajectory, Voting};
use crate::models::{LearnedOptions, Model, Price, in_episode, in_sample};
use crate::prompting::protocol::{Dialogue, Stop, Turn};
use crate::runner::breaker::Breaker;
use crate::runner::store::Journal;
use crate::wikipedia::{Session, SessionOptions, Source};
use futures_util::future::join_all;
use std::sync::Arc;
use std::time::Instant;

/// Everything that the episodes of one variant share.
#[derive(Clone)]
pub struct Agent {
    pub model: Arc<dyn Model>,
    pub source: Arc<dyn Source>,
    pub session: SessionOptions,
    pub approach: Approach,
    pub price: Option<Price>,
    /// Whether its episodes are worth a journal: a server answers, which takes time and may take money.
    pub journaled: bool,
    /// What watches the server of its model.
    pub(crate) breaker: Option<Arc<Breaker>>,
    /// What the server of its model has refused.
    pub(crate) learned: Option<LearnedOptions>,
}

struct Running<'a> {
    agent: &'a Agent,
    episode: &'a Episode,
    observer: Option<EpisodeObserver<'a>>,
    journal: Option<&'a Journal>,
    log: Log,
    memory: Vec<Message>,
    record: Trajectory,
}

impl Agent {
    /// Runs one episode, or goes on with it where the journal holds its beginning. Never fails: an error outside the agent
    /// has the outcome `not_measured`, a spent budget `budget`.
    pub async fn answer(&self, episode: &Episode, journal: Option<&Journal>) -> Trajectory {
        self.answer_observed(episode, None, journal).await.0
    }

    /// The same with an observer. Also returns the conversation that the protocol keeps as the
    /// [`history`](crate::prompting::protocol::Setup::history) of the next question; some protocols and direct methods keep none.
    pub async fn answer_observed(
        &self,
        episode: &Episode,
        observer: Option<EpisodeObserver<'_>>,
        journal: Option<&Journal>,
    ) -> (Trajectory, Vec<Message>) {
        let started = Instant::now();
        let record = Trajectory { detail: None, ..episode.not_measured("") };
        // If only the part without tools answers, the earlier conversation stays unchanged.
        let memory = self.approach.acting().map_or_else(Vec::new, |acting| acting.setup.history.clone());
        let journal = journal.filter(|_| self.journaled && episode.fork.is_none());
        let mut running = Running { agent: self, episode, observer, journal, log: Log::default(), memory, record };
        let name = format!("{}/{}", episode.variant.name, episode.question.id);
        // A branch has other seeds than what it branches off, or a server would repeat itself.
        let branch = episode.fork.as_ref().map(|fork| &fork.branch);
        let shift = branch.map_or(0, |branch| branch.repeat + 1);
        let approach = self.approach.repeated(episode.repeat + shift).branched(branch);
        let end = in_episode(name, episode.repeat, running.answer(&approach)).await;
        let Running { mut log, mut record, memory, .. } = running;
        log.close();
        match end {
            Ok(stop) => {
                record.outcome = stop.outcome;
                record.answer = stop.answer;
                record.detail = stop.detail;
                record.repairs = stop.repairs;
            }
            Err(error) => {
                if matches!(error, EpisodeError::Budget(_)) {
                    record.outcome = Outcome::Budget;
                }
                let (reason, failure) = error.into_reason();
                record.detail = Some(reason);
                record.failure = failure;
            }
        }
        record.steps = log.steps;
        record.usage = log.usage;
        record.wall_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
        // Nothing is paid where everything was copied, and that is known.
        let counted = log.counted || (episode.fork.is_some() && record.call_count() == 0);
        let of_one_price = self.price.filter(|_| counted && !self.approach.is_program());
        record.cost_usd = of_one_price.map(|price| price.of(record.usage)).or(record.cost_usd);
        (record, memory)
    }

    /// Makes the copied steps of an episode again, without the model. The error names the step and the difference.
    pub async fn verify_prefix(&self, episode: &Episode) -> Result<(), String> {
        let Some(fork) = &episode.fork else { return Ok(()) };
        self.copy(episode, fork).await.map_err(|error| error.into_reason().0)
    }

    async fn copy(&self, episode: &Episode, fork: &Fork) -> Result<(), EpisodeError> {
        let approach = self.approach.repeated(episode.repeat).branched(Some(&fork.branch));
        let Some(acting) = approach.acting() else { return Ok(()) };
        let session = Session::new(Arc::clone(&self.source), episode.variant.compat.unwrap_or_default(), self.session);
        let copied = Some(CopiedSteps::of(fork));
        let mut context = EpisodeContext { model: self.model.as_ref(), session, observer: None, journal: None, copied };
        let (mut dialogue, mut log) = (acting.dialogue(), Log::default());
        let mut turn = dialogue.begin(&episode.question);
        loop {
            let over = context.copied.as_ref().is_none_or(CopiedSteps::is_over);
            turn = match turn {
                _ if over => return Ok(()),
                Turn::Ask(request) => dialogue.called(&context.ask(&request).await?),
                Turn::Use(call) => dialogue.observation(&context.use_tool(call, &mut log).await?),
                Turn::Stop(_) => return Err(differs(fork.branch.at, "the dialogue ends before this step")),
            };
        }
    }
}

impl<'a> Running<'a> {
    async fn answer(&mut self, approach: &Approach) -> Result<Stop, EpisodeError> {
        let mut stop = Stop::default();
        for stage in &approach.0 {
            stop = backed_off(stop, self.stage(stage).await?);
            if stage.settles(&stop, &self.record.votes) {
                break;
            }
        }
        Ok(stop)
    }

    async fn stage(&mut self, stage: &Stage) -> Result<Stop, EpisodeError> {
        match stage {
            Stage::Act(acting) => self.converse(acting.dialogue()).await,
            Stage::Answer(answering) => self.converse(answering.dialogue()).await,
            Stage::Vote(answering, voting) => self.vote(answering, voting).await,
            #[cfg(feature = "serve")]
            Stage::Program(program) => self.program(program).await,
        }
    }

    async fn converse(&mut self, mut dialogue: Box<dyn Dialogue>) -> Result<Stop, EpisodeError> {
        let mut context = self.context(self.observer, None);
        let stop = drive(dialogue.as_mut(), &self.episode.question, &mut context, &mut self.log).await?;
        self.memory = dialogue.memory();
        Ok(stop)
    }

    #[cfg(feature = "serve")]
    async fn program(&mut self, program: &Program) -> Result<Stop, EpisodeError> {
        let session = self.session();
        let ProgramResult { stop, confidence, cost_usd } =
            program::run(program, self.episode, session, self.journal, self.observer, &mut self.log).await;
        self.record.scores.extend(confidence.map(|value| (CONFIDENCE.to_owned(), value)));
        self.record.cost_usd = cost_usd;
        stop
    }

    /// Draws all samples at once and returns the majority's answer. If one fails for good, so does the vote: a majority
    /// of fewer samples would be another method.
    async fn vote(&mut self, answering: &Answering, voting: &Voting) -> Result<Stop, EpisodeError> {
        let samples = (0..voting.samples).map(|number| {
            let mut dialogue = answering.sample(number, voting).dialogue();
            let mut context = self.context(None, Some(number));
            let question = &self.episode.question;
            let sample = async move {
                let mut log = Log::default();
                let stop = drive(dialogue.as_mut(), question, &mut context, &mut log).await;
                (stop, log)
            };
            in_sample(number, sample)
        });
        let ended = join_all(samples).await;
        let mut stops = Vec::with_capacity(ended.len());
        for (number, (stop, log)) in (1..).zip(ended) {
            let begin = self.log.steps.len();
            self.log.absorb(log, number);
            if let Some(observer) = self.observer {
                self.log.steps.iter().skip(begin).for_each(|step| observer(EpisodeEvent::Step(step)));
            }
            stops.push(stop);
        }
        let (stop, votes) = voted(stops.into_iter().collect::<Result<_, _>>()?);
        self.record.votes = votes;
        Ok(stop)
    }

    fn session(&self) -> Session {
        let compat = self.episode.variant.compat.unwrap_or_default();
        Session::new(Arc::clone(&self.agent.source), compat, self.agent.session)
    }

    /// The surroundings of the agent's dialogue, or of that of sample `sample` (from 0) of a vote.
    fn context(&self, observer: Option<EpisodeObserver<'a>>, sample: Option<u32>) -> EpisodeContext<'a> {
        let session = self.session();
        let journal = self.journal.map(|journal| DialogueJournal::new(journal, self.episode, sample));
        let copied = self.episode.fork.as_deref().map(CopiedSteps::of);
        EpisodeContext { model: self.agent.model.as_ref(), session, observer, journal, copied }
    }
}
