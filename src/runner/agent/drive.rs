//! An episode, who observes it, and the loop of every dialogue with the log that it fills and the journal that it goes on from.

use crate::base::text::visible_line;
use crate::base::trajectory::TRAJECTORY_VERSION;
use crate::base::{
    Call, Cause, Completion, EpisodeState, Event, Failure, Fork, Outcome, Question, Reply, Request, Step, Tool,
    ToolAnswer, ToolCall, Trajectory, Usage, Variant,
};
use crate::models::{Model, ModelError, StreamEvent};
use crate::prompting::protocol::{Dialogue, Stop, Turn};
use crate::runner::store::Journal;
use crate::wikipedia::{self, Session, SessionError};
use jiff::{SignedDuration, Timestamp};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;

#[derive(Debug, Clone)]
pub struct Episode {
    pub question: Arc<Question>,
    pub variant: Arc<Variant>,
    /// Which repeat this is, from 0.
    pub repeat: u32,
    pub key: String,
    pub fork: Option<Arc<Fork>>,
}

impl Episode {
    /// The record of an episode that could not be measured; `detail` says why.
    pub fn not_measured(&self, detail: impl Into<String>) -> Trajectory {
        Trajectory {
            v: TRAJECTORY_VERSION,
            id: self.question.id.clone(),
            index: self.question.index,
            variant: self.variant.name.clone(),
            repeat: self.repeat,
            question: self.question.question.clone(),
            answers: self.question.answers.clone(),
            steps_recorded: true,
            outcome: Outcome::NotMeasured,
            detail: Some(detail.into()),
            started_at: Timestamp::now().to_string(),
            compat: self.variant.compat,
            branch: self.fork.as_ref().map(|fork| fork.branch.clone()),
            key: self.key.clone(),
            ..Trajectory::default()
        }
    }
}

/// What an observer sees of an episode.
#[derive(Debug, Clone, Copy)]
pub enum EpisodeEvent<'a> {
    Streamed(StreamEvent<'a>),
    CallEnded,
    Step(&'a Step),
}

pub type EpisodeObserver<'a> = &'a (dyn Fn(EpisodeEvent<'_>) + Send + Sync);

pub(super) struct EpisodeContext<'a> {
    pub(super) model: &'a dyn Model,
    pub(super) session: Session,
    pub(super) observer: Option<EpisodeObserver<'a>>,
    pub(super) journal: Option<DialogueJournal<'a>>,
    pub(super) copied: Option<CopiedSteps<'a>>,
}

#[derive(Debug)]
pub(super) enum EpisodeError {
    Failed(String, Option<Failure>),
    Budget(String),
    Model(ModelError),
}

impl EpisodeError {
    pub(super) fn into_reason(self) -> (String, Option<Failure>) {
        match self {
            Self::Failed(reason, failure) => (reason, failure),
            Self::Budget(reason) => (reason, None),
            Self::Model(error) => (format!("model: {error}"), Some(error.failure())),
        }
    }

    /// Why the model could not take the conversation, if it was too long.
    fn overflow(&self) -> Option<String> {
        match self {
            Self::Model(error) if error.failure().cause == Cause::ContextOverflow => Some(format!("model: {error}")),
            _ => None,
        }
    }
}

impl From<ModelError> for EpisodeError {
    fn from(error: ModelError) -> Self {
        match error {
            ModelError::Budget { .. } => Self::Budget(error.to_string()),
            error => Self::Model(error),
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
    let mut state = Arc::new(EpisodeState { question: question.question.clone(), steps: Vec::new() });
    loop {
        turn = match turn {
            Turn::Ask(mut request) => {
                request.state = Some(Arc::clone(&state));
                let call = match context.ask(&request).await {
                    Err(error) if asked && error.overflow().is_some() => {
                        log.call(Call::context_overflow(&request));
                        return Ok(overflown(error.overflow()));
                    }
                    Err(error) => {
                        if let EpisodeError::Model(error) = &error
                            && let Some(call) = error.charged_call(&request)
                        {
                            if let Some(journal) = &context.journal {
                                journal.keep(Event::Call(call.clone())).await;
                            }
                            // The reason for its end is counted; what failed otherwise is only paid for.
                            if call.cause == Some(Cause::UnknownReason) {
                                log.call(call);
                            }
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
                let text = context.use_tool(call.clone(), log).await?;
                let next = dialogue.observation(&text);
                Arc::make_mut(&mut state).steps.push((call, text));
                next
            }
            Turn::Stop(stop) => return Ok(stop),
        };
    }
}

/// When a call began that has just ended: it may have waited for its turn since it was asked for. One that is stored took its time
/// before that.
fn began(asked: Timestamp, latency_ms: u64) -> Timestamp {
    let latency = SignedDuration::from_millis(i64::try_from(latency_ms).unwrap_or(i64::MAX));
    Timestamp::now().checked_sub(latency).map_or(asked, |began| began.max(asked))
}

pub(super) fn overflown(detail: Option<String>) -> Stop {
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
        let asked = Timestamp::now();
        let completion = self.complete(request).await?;
        let started_at = Some(began(asked, completion.latency_ms).to_string());
        let call = Call { started_at, ..Call::of(request, completion) };
        if let Some(journal) = &self.journal {
            journal.keep(Event::Call(call.clone())).await;
        }
        Ok(call)
    }

    async fn complete(&self, request: &Request) -> Result<Completion, ModelError> {
        let Some(observer) = self.observer else { return self.model.complete(request, None).await };
        let on_event = |event: StreamEvent<'_>| observer(EpisodeEvent::Streamed(event));
        let completion = self.model.complete(request, Some(&on_event)).await?;
        observer(EpisodeEvent::CallEnded);
        Ok(completion)
    }

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
                Ok(ToolAnswer { observation, provenance, note, started_at, latency_ms, .. }) => {
                    step.observation = Some(observation.clone());
                    step.provenance = provenance;
                    step.note = note;
                    (step.tool_started_at, step.tool_ms) = (started_at, latency_ms);
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
            observer(EpisodeEvent::Step(step));
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
        let started_at = Some(Timestamp::now().to_string());
        let clock = Instant::now();
        let observation = self.session.call(tool, &input).await?;
        let latency_ms = u64::try_from(clock.elapsed().as_millis()).ok();
        let wikipedia::Observation { text, provenance, note, .. } = observation;
        let answer = ToolAnswer { tool, input, observation: text, provenance, note, started_at, latency_ms };
        if let Some(journal) = &self.journal {
            journal.keep(Event::Tool(answer.clone())).await;
        }
        Ok(answer)
    }
}

#[derive(Debug, Default)]
pub(super) struct Log {
    pub(super) steps: Vec<Step>,
    pub(super) usage: Usage,
    pub(super) counted: bool,
    calls: Vec<Call>,
}

impl Log {
    pub(super) fn call(&mut self, call: Call) {
        if let Some(usage) = call.usage.filter(|_| !call.copied) {
            self.usage += usage;
            self.counted = true;
        }
        self.calls.push(call);
    }

    /// What the model said beside the functions that it called, in the last call since the step before.
    #[cfg(feature = "serve")]
    pub(super) fn text_beside_calls(&self) -> Option<String> {
        let call = self.calls.last().filter(|call| !call.calls.is_empty())?;
        Some(call.completion.clone()).filter(|text| !text.trim().is_empty())
    }

    /// Begins a step with the calls that led to it; the caller fills in the observation.
    pub(super) fn step(&mut self, call: ToolCall) -> &mut Step {
        let ToolCall { step: n, thought, discarded, .. } = call;
        let (tool, input, action_text) = (Some(call.tool), Some(call.input), Some(call.action_text));
        let calls = std::mem::take(&mut self.calls);
        let step = Step { n, thought, tool, input, action_text, discarded, calls, ..Step::default() };
        let at = self.steps.len();
        self.steps.push(step);
        &mut self.steps[at]
    }

    pub(super) fn close(&mut self) {
        if !self.calls.is_empty() {
            let n = self.steps.last().map_or(1, |step| step.n + 1);
            self.steps.push(Step { n, calls: std::mem::take(&mut self.calls), ..Step::default() });
        }
    }

    /// Appends the log of sample `number` (from 1) of a vote.
    pub(super) fn absorb(&mut self, mut part: Self, number: u32) {
        self.close();
        part.close();
        self.usage += part.usage;
        self.counted |= part.counted;
        self.steps.extend(part.steps.into_iter().map(|step| Step { sample: Some(number), ..step }));
    }
}

/// The journal of one dialogue: that of an agent, or of one sample of a vote.
pub(super) struct DialogueJournal<'a> {
    journal: &'a Journal,
    episode: &'a Episode,
    sample: Option<u32>,
    /// What was kept and has not been used yet.
    kept: VecDeque<Event>,
    /// Uses of the tool whose kept answers were given, which the session has not seen.
    unseen: Vec<(Tool, String)>,
}

impl<'a> DialogueJournal<'a> {
    pub(super) fn new(journal: &'a Journal, episode: &'a Episode, sample: Option<u32>) -> Self {
        Self { journal, episode, sample, kept: journal.take(&episode.key, sample), unseen: Vec::new() }
    }

    /// The kept answer to a request, if the next thing that was kept is this request's.
    pub(super) fn call(&mut self, request: &Request) -> Option<Call> {
        // What a server failed at was paid for, and is asked for again.
        let failed = |event: &mut Event| matches!(event, Event::Call(call) if call.is_failure() || call.has_failed());
        while self.kept.pop_front_if(failed).is_some() {}
        let same = |call: &Call| call.prompt_sha256 == request.prompt.sha256() && call.stop == request.stop;
        self.take_next(|event| if let Event::Call(call) = event { Some(call).filter(same) } else { None })
    }

    /// The kept answer to a use of the tool, if the next thing that was kept is its.
    pub(super) fn answer(&mut self, tool: Tool, input: &str) -> Option<ToolAnswer> {
        let answer = self.take_next(|event| match event {
            Event::Tool(answer) if answer.tool == tool && answer.input == input => Some(answer),
            _ => None,
        })?;
        if is_about_pages(tool) {
            self.unseen.push((tool, input.to_owned()));
        }
        Some(answer)
    }

    /// The next thing that was kept, if it fits. From a difference on, nothing that was kept does.
    fn take_next<T>(&mut self, fits: impl FnOnce(Event) -> Option<T>) -> Option<T> {
        let found = self.kept.pop_front().and_then(fits);
        if found.is_none() {
            self.kept.clear();
        }
        found
    }

    /// Brings the session to where the kept answers end: the page is open again, and a lookup goes on where it was.
    pub(super) async fn restore(&mut self, session: &mut Session) -> Result<(), SessionError> {
        for (tool, input) in self.unseen.drain(..) {
            session.call(tool, &input).await?;
        }
        Ok(())
    }

    /// Returns when it is on disk. Where it cannot be written the episode goes on: its record is what counts, and writing the
    /// record reports what is wrong with the disk.
    pub(super) async fn keep(&self, event: Event) {
        let Episode { key, variant, .. } = self.episode;
        let _ = self.journal.keep(key, &variant.name, self.sample, event).await;
    }
}

/// Whether the answer of a tool depends on the page that is open, or changes it.
fn is_about_pages(tool: Tool) -> bool {
    matches!(tool, Tool::Search | Tool::Lookup)
}

/// Characters of a text that a difference shows.
const SHOWN: usize = 160;

pub(super) struct CopiedSteps<'a> {
    fork: &'a Fork,
    done: usize,
    asked: usize,
}

pub(super) struct ExpectedStep<'a> {
    step: &'a Step,
    /// The observation in place of the tool's.
    pub(super) given: Option<&'a str>,
}

impl<'a> CopiedSteps<'a> {
    pub(super) fn of(fork: &'a Fork) -> Self {
        Self { fork, done: 0, asked: 0 }
    }

    pub(super) fn is_over(&self) -> bool {
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
        let asked = Call::of(request, crate::base::Completion::default());
        // A reply with an edit was never the answer to a prompt.
        let recorded = Some(&call.prompt_sha256).filter(|digest| self.fork.same_prompt && !digest.is_empty());
        if recorded.is_some_and(|digest| *digest != asked.prompt_sha256) {
            return Err(differs(step.n, "the prompt is another one than in the record"));
        }
        let Call { prompt_sha256, prompt_chars, stop, .. } = asked;
        Ok(Some(Call { prompt_sha256, prompt_chars, stop, copied: true, ..call.clone() }))
    }

    /// What the record holds of a tool call; none once everything is copied.
    pub(super) fn used(&mut self, call: &ToolCall) -> Result<Option<ExpectedStep<'a>>, EpisodeError> {
        let Some(step) = self.fork.steps.get(self.done) else { return Ok(None) };
        if step.tool != Some(call.tool) || step.input.as_deref().is_some_and(|input| input != call.input) {
            let tool = step.tool.map_or("none", crate::base::Tool::name);
            let was = format!("{tool}[{}]", step.input.as_deref().unwrap_or_default());
            return Err(not_equal(step.n, "action", &was, &format!("{}[{}]", call.tool.name(), call.input)));
        }
        self.done += 1;
        self.asked = 0;
        let given = self.fork.given.as_deref().filter(|_| self.is_over());
        Ok(Some(ExpectedStep { step, given }))
    }
}

impl ExpectedStep<'_> {
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

pub(super) fn differs(step: usize, what: &str) -> EpisodeError {
    EpisodeError::Failed(format!("step {step}: {what}"), None)
}
