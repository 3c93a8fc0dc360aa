//! One episode of a program: what it asks is answered and recorded, until it has ended.

use super::definition::{Addresses, PostedQuestion, Program, ProgramModel, Start};
use super::host::Registration;
use super::process::Process;
use super::request::{AgentAnswer, AgentRequest, ModelReply, ModelRequest, ToolReply, ToolUse};
use crate::base::text::visible_line;
use crate::base::{
    Call, Cause, Event, Failure, Forwarded, Outcome, Prompt, Reply, Request, SentBody, Service, Tool, ToolCall,
};
use crate::models::ModelError;
use crate::prompting::protocol::Stop;
use crate::runner::agent::drive::{Episode, EpisodeError, EpisodeEvent, EpisodeObserver, Log};
use crate::runner::store::Journal;
use crate::wikipedia::handlers::tools::{ToolAnswer, ToolError};
use crate::wikipedia::{FoundPassage, Observation, Session, SessionError};
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt as _, StreamExt as _};
use jiff::Timestamp;
use serde_json::{Map, Value, json};
use std::collections::{HashMap, VecDeque};
use std::fmt::Write as _;
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::oneshot;

/// The time a program has to end once it has submitted its answer.
const AFTER_ANSWER: Duration = Duration::from_secs(10);
/// The most calls of models and tools in one episode.
const MAX_CALLS: usize = 10_000;
/// Characters of standard error and of a refusal that a record has.
const MAX_DETAIL: usize = 600;

pub(in crate::runner::agent) struct ProgramResult {
    pub(in crate::runner::agent) stop: Result<Stop, EpisodeError>,
    pub(in crate::runner::agent) confidence: Option<f64>,
    /// In US dollars, where the price of every model that was asked is known.
    pub(in crate::runner::agent) cost_usd: Option<f64>,
}

enum RunningAgent {
    Process(Box<Process>),
    Server(PostedQuestion),
}

enum AgentEnd {
    /// By itself, with this status.
    Exited(ExitStatus),
    /// The answer of a server, or what it said instead.
    Answered(Result<String, String>),
    /// It was ended, for this reason.
    Stopped(String),
}

impl RunningAgent {
    /// Waits for its end. The error says that it could not be asked.
    async fn ended(&mut self) -> Result<AgentEnd, EpisodeError> {
        match self {
            Self::Process(process) => Ok(process.exited().await.map_or_else(AgentEnd::Stopped, AgentEnd::Exited)),
            Self::Server(posted) => posted.await.map(AgentEnd::Answered).map_err(connection_error),
        }
    }
}

struct CallEnded {
    asked: ModelRequest,
    body: Map<String, Value>,
    request: Request,
    reply: oneshot::Sender<ModelReply>,
    result: Result<Call, ModelError>,
    model: Arc<ProgramModel>,
}

struct ToolEnded {
    session: Session,
    used: ToolUse,
    reply: ToolReply,
    result: Result<(Observation, Arc<[FoundPassage]>), SessionError>,
    started_at: String,
    took: Duration,
}

/// What makes two calls the same: the body's digest, the API, and what the address of a call says of it.
#[derive(PartialEq, Eq, Hash)]
struct CallId {
    body_sha256: String,
    endpoint: String,
    model: Option<String>,
    stream: bool,
}

impl CallId {
    fn of(sent: &SentBody, body_sha256: &str) -> Self {
        let SentBody { endpoint, model, stream, .. } = sent.clone();
        Self { body_sha256: body_sha256.to_owned(), endpoint, model, stream }
    }
}

struct Run<'a> {
    program: &'a Program,
    episode: &'a Episode,
    journal: Option<&'a Journal>,
    observer: Option<EpisodeObserver<'a>>,
    log: &'a mut Log,
    paid_for: HashMap<CallId, VecDeque<Call>>,
    /// The body before, of which the next one is recorded without what both have.
    body_before: Option<Map<String, Value>>,
    calls: FuturesUnordered<BoxFuture<'a, CallEnded>>,
    tool: Option<BoxFuture<'a, ToolEnded>>,
    waiting: VecDeque<(ToolUse, ToolReply)>,
    session: Option<Session>,
    answer: Option<AgentAnswer>,
    /// The last refusal of a model's server that was passed on.
    refusal: Option<String>,
    cost_usd: Option<f64>,
    asked: usize,
    steps: usize,
}

/// Runs a program on the episode's question. `log` gets its calls and steps.
pub(in crate::runner::agent) async fn run(
    program: &Program,
    episode: &Episode,
    session: Session,
    journal: Option<&Journal>,
    observer: Option<EpisodeObserver<'_>>,
    log: &mut Log,
) -> ProgramResult {
    let mut paid_for: HashMap<CallId, VecDeque<Call>> = HashMap::new();
    for event in journal.map(|journal| journal.take(&episode.key, None)).unwrap_or_default() {
        if let Event::Call(call) = event
            && let Some(sent) = &call.sent
        {
            paid_for.entry(CallId::of(sent, &call.prompt_sha256)).or_default().push_back(call);
        }
    }
    let mut run = Run {
        program,
        episode,
        journal,
        observer,
        log,
        paid_for,
        body_before: None,
        calls: FuturesUnordered::new(),
        tool: None,
        waiting: VecDeque::new(),
        session: Some(session),
        answer: None,
        refusal: None,
        cost_usd: Some(0.0),
        asked: 0,
        steps: 0,
    };
    let stop = run.answer_question().await;
    let (confidence, cost_usd) = (run.answer.as_ref().and_then(|given| given.confidence), run.cost_usd);
    let cost_usd = cost_usd.filter(|_| run.log.counted);
    ProgramResult { stop, confidence, cost_usd }
}

/// A failure that is neither the program's nor a server's, such as a process that cannot be started.
fn start_error(error: impl std::fmt::Display) -> EpisodeError {
    EpisodeError::Failed(format!("the agent could not be started: {error}"), None)
}

fn connection_error(error: impl std::fmt::Display) -> EpisodeError {
    EpisodeError::Failed(format!("the agent's server could not be asked: {error}"), None)
}

impl Run<'_> {
    async fn answer_question(&mut self) -> Result<Stop, EpisodeError> {
        let host = self.program.host().await.map_err(start_error)?;
        let mut registration = host.register(&self.program.tools).map_err(start_error)?;
        let (server, key) = (host.address().to_owned(), registration.key.clone());
        let addresses = Addresses { server, key, model: self.program.model.clone() };
        let question = &self.episode.question;
        let mut running = match &self.program.start {
            Start::Command(words, folder) => {
                let line = addresses.line(question, false).to_string();
                let process = Process::start(words, folder, &addresses.key, &line, &addresses).map_err(start_error)?;
                RunningAgent::Process(Box::new(process))
            }
            Start::Server(url) => {
                let line = addresses.line(question, true).to_string();
                RunningAgent::Server(self.program.post(url, line).await.map_err(connection_error)?)
            }
        };
        let end = self.until_it_ends(&mut running, &mut registration).await;
        let (mut printed, mut errors) = (Ok(None), String::new());
        if let RunningAgent::Process(process) = &mut running {
            if matches!(end, Ok(AgentEnd::Exited(_))) {
                printed = process.answer().await;
            }
            errors = process.errors();
        }
        drop((registration, running));
        // Calls that are under way are paid for, even where the program has ended.
        while let Some(ended) = self.calls.next().await {
            // How the episode ended is known already.
            let _ = self.call_ended(ended);
        }
        Ok(self.stop(end?, printed, &errors, &addresses.key))
    }

    /// Answers what is asked until the program has ended, or has to be.
    async fn until_it_ends(
        &mut self,
        running: &mut RunningAgent,
        registration: &mut Registration,
    ) -> Result<AgentEnd, EpisodeError> {
        let mut clock = Clock::new(self.program.timeout);
        loop {
            clock.set_running(self.calls.is_empty() && self.tool.is_none());
            tokio::select! {
                biased;
                Some(ended) = self.calls.next(), if !self.calls.is_empty() => self.call_ended(ended)?,
                ended = tool_end(&mut self.tool) => self.tool_ended(ended)?,
                Some(request) = registration.requests.recv() => self.handle(request, &mut clock)?,
                ended = running.ended() => return ended,
                () = clock.over() => {
                    if self.answer.is_some() {
                        let why = format!("did not end within {} s", AFTER_ANSWER.as_secs());
                        return Ok(AgentEnd::Stopped(why));
                    }
                    let limit = self.program.timeout.as_secs_f64();
                    let why = format!("it took longer than {limit} s (--agent-timeout), the time of models and tools left out");
                    return Ok(AgentEnd::Stopped(why));
                }
            }
        }
    }

    fn handle(&mut self, request: AgentRequest, clock: &mut Clock) -> Result<(), EpisodeError> {
        self.asked += 1;
        if self.asked > MAX_CALLS {
            // What it asks is not answered, so that it can only end or run out of time.
            clock.limit(Duration::ZERO);
            return Ok(());
        }
        match request {
            AgentRequest::Model { asked, reply } => self.call(asked, reply)?,
            AgentRequest::Tool { used, reply } => {
                self.waiting.push_back((used, reply));
                self.next_use();
            }
            AgentRequest::Submit { given, reply } => {
                let answered = if self.answer.is_some() {
                    Err(ToolError("an answer was submitted already, and counts".to_owned()))
                } else {
                    Ok(ToolAnswer(json!({ "observation": "The answer is recorded." })))
                };
                self.answer.get_or_insert(given);
                clock.limit(AFTER_ANSWER);
                // A client that is gone needs no answer; so below.
                let _ = reply.send(answered);
            }
        }
        Ok(())
    }

    // Calls of models.

    fn call(&mut self, asked: ModelRequest, reply: oneshot::Sender<ModelReply>) -> Result<(), EpisodeError> {
        // Without a model no such call is ever answered: a person has to do something.
        let model = (self.program.find_model)(asked.api, &asked.name)?;
        let mut body = asked.body.clone();
        if body.contains_key("model") {
            body.insert("model".to_owned(), json!(model.name));
        }
        let mut request =
            Request::new(Prompt::text("".into(), Value::Object(body.clone()).to_string()), Vec::new(), <_>::default());
        request.decoding.extra_body.clone_from(&model.extra_body);
        request.forwarded = Some(Forwarded { stream: asked.stream, headers: asked.headers.clone() });
        let sent = address_fields(&asked, &model, &body);
        let paid = self.paid_for.get_mut(&CallId::of(&sent, &request.prompt.sha256())).and_then(VecDeque::pop_front);
        let (journal, episode) = (self.journal, self.episode);
        let calling = async move {
            let result = match paid {
                Some(call) => Ok(call),
                None => complete(&model, &request, sent, journal, episode).await,
            };
            CallEnded { asked, body, request, reply, result, model }
        };
        self.calls.push(calling.boxed());
        Ok(())
    }

    /// Whether the program caused the refusal. It then gets the server's error, and the episode goes on.
    fn is_program_fault(&self, cause: Cause) -> bool {
        match cause {
            Cause::ContextOverflow | Cause::BadRequest => true,
            // It chose the model itself.
            Cause::UnknownModel | Cause::NotFound => self.program.model.is_none(),
            _ => false,
        }
    }

    fn call_ended(&mut self, ended: CallEnded) -> Result<(), EpisodeError> {
        let CallEnded { asked: ModelRequest { api, .. }, body, request, reply, result, model } = ended;
        let mut call = match result {
            Ok(call) => call,
            Err(ModelError::Refused { status, message, cause, body: written }) if self.is_program_fault(cause) => {
                if cause == Cause::ContextOverflow {
                    self.log(Call::context_overflow(&request), api.name(), body);
                }
                let refused = ModelReply::refused(api, status, &message);
                let written = written.filter(|written| written.starts_with('{')).map(String::from);
                let _ = reply.send(written.map_or(refused, |body| ModelReply { status, body }));
                self.refusal = Some(message);
                return Ok(());
            }
            // What fails after the answer changes nothing.
            Err(_) if self.answer.is_some() => return Ok(()),
            Err(error) => {
                if let Some(call) = error.charged_call(&request) {
                    self.log(call, api.name(), body);
                }
                return Err(error.into());
            }
        };
        let written = call.verbatim.take().and_then(|reply| reply.content.as_str().map(str::to_owned));
        let price = model.price;
        if let Some(usage) = call.usage {
            self.cost_usd = self.cost_usd.zip(price).map(|(cost, price)| cost + price.of(usage));
        }
        self.log(call, api.name(), body);
        let Some(written) = written else {
            let reason = "model: a recorded answer lacks what its server wrote".to_owned();
            let failure = Failure { service: Service::Model, cause: Cause::Recording };
            return Err(EpisodeError::Failed(reason, Some(failure)));
        };
        let _ = reply.send(ModelReply { status: 200, body: written });
        Ok(())
    }

    fn log(&mut self, mut call: Call, endpoint: &str, body: Map<String, Value>) {
        let (model, stream) = call.sent.map_or((None, false), |sent| (sent.model, sent.stream));
        call.sent =
            Some(SentBody { model, stream, ..SentBody::new(endpoint, body.clone(), self.body_before.as_ref()) });
        self.body_before = Some(body);
        self.log.call(call);
        if let Some(observer) = self.observer {
            observer(EpisodeEvent::CallEnded);
        }
    }

    // Tools.

    /// Begins the next use of a tool, where none is under way: one after the other changes the open page.
    fn next_use(&mut self) {
        let Some(mut session) = self.session.take() else { return };
        let Some((used, reply)) = self.waiting.pop_front() else {
            self.session = Some(session);
            return;
        };
        let usual = self.program.passages;
        let using = async move {
            let (started_at, clock) = (Timestamp::now().to_string(), Instant::now());
            let result = match used.tool {
                Tool::Passages => session.passages(&used.input, used.count.unwrap_or(usual)).await,
                tool => session.call(tool, &used.input).await.map(|observation| (observation, Arc::default())),
            };
            ToolEnded { session, used, reply, result, started_at, took: clock.elapsed() }
        };
        self.tool = Some(using.boxed());
    }

    fn tool_ended(&mut self, ended: ToolEnded) -> Result<(), EpisodeError> {
        let ToolEnded { session, used, reply, result, started_at, took } = ended;
        (self.session, self.tool) = (Some(session), None);
        let (observation, passages) = result?;
        let ToolUse { tool, input, .. } = used;
        let step = self.step(tool, input);
        step.observation = Some(observation.text.clone());
        step.provenance.clone_from(&observation.provenance);
        step.note.clone_from(&observation.note);
        (step.tool_started_at, step.tool_ms) = (Some(started_at), u64::try_from(took.as_millis()).ok());
        let step = step.clone();
        if let Some(observer) = self.observer {
            observer(EpisodeEvent::Step(&step));
        }
        match reply {
            ToolReply::Tool(reply) => drop(reply.send(tool_answer(tool, observation))),
            ToolReply::Documents(reply) => drop(reply.send(Ok(passages.to_vec()))),
        }
        self.next_use();
        Ok(())
    }

    /// Begins a step with the calls before it. What the model said beside its call is its thought.
    fn step(&mut self, tool: Tool, input: String) -> &mut crate::base::Step {
        self.steps += 1;
        let action_text = format!("{}[{input}]", tool.name());
        let (step, thought) = (self.steps, self.log.text_beside_calls());
        self.log.step(ToolCall { step, thought, action_text, tool, input, discarded: None, reply: Reply::Tool })
    }

    // The end.

    fn stop(&mut self, end: AgentEnd, printed: Result<Option<String>, String>, errors: &str, key: &str) -> Stop {
        let (printed, failed) = match end {
            AgentEnd::Exited(status) if status.success() => match printed {
                Ok(printed) => (printed, None),
                Err(why) => (None, Some(why)),
            },
            AgentEnd::Exited(status) => (None, Some(format!("it ended with {status}"))),
            AgentEnd::Answered(Ok(body)) => (Some(body), None),
            AgentEnd::Answered(Err(why)) | AgentEnd::Stopped(why) => (None, Some(why.replace(key, "KEY"))),
        };
        if self.answer.is_none() {
            self.answer = printed.as_deref().and_then(AgentAnswer::read);
        }
        let Some(AgentAnswer { answer, .. }) = self.answer.clone() else {
            return self.failed(failed, errors);
        };
        self.step(Tool::Finish, answer.clone());
        let detail = failed.map(|why| format!("the agent submitted its answer, and then {why}"));
        Stop { outcome: Outcome::Finished, answer: Some(answer), detail, repairs: Vec::new() }
    }

    /// The end of a program without an answer: what it did, what its model's server refused, the end of its standard error.
    fn failed(&self, why: Option<String>, errors: &str) -> Stop {
        let why = match why {
            _ if self.asked > MAX_CALLS => format!("it made more than {MAX_CALLS} calls"),
            why => visible_line(&why.unwrap_or_else(|| "it ended without an answer".to_owned()), MAX_DETAIL),
        };
        let mut detail = format!("the agent failed: {why}");
        if let Some(words) = &self.refusal {
            let words = visible_line(words, MAX_DETAIL);
            let _ = write!(detail, ", after the model's server refused a request: {words}");
        }
        if !errors.is_empty() {
            // The last words are those that say what happened.
            let skipped = errors.chars().count().saturating_sub(MAX_DETAIL);
            let end: String = errors.chars().skip(skipped).collect();
            let _ = write!(detail, "; its standard error ends with: {}", visible_line(&end, MAX_DETAIL));
        }
        Stop { outcome: Outcome::AgentFailure, answer: None, detail: Some(detail), repairs: Vec::new() }
    }
}

/// Waits for the tool that is used; for ever where none is.
async fn tool_end(tool: &mut Option<BoxFuture<'_, ToolEnded>>) -> ToolEnded {
    match tool {
        Some(using) => using.await,
        None => std::future::pending().await,
    }
}

/// The record of a call without its body: only the model and the stream, where the address has them.
fn address_fields(asked: &ModelRequest, model: &ProgramModel, body: &Map<String, Value>) -> SentBody {
    let in_address = !body.contains_key("model");
    let model = in_address.then(|| model.name.clone());
    SentBody { model, stream: in_address && asked.stream, ..SentBody::new(asked.api.name(), Map::new(), None) }
}

/// Asks a model, and keeps the answer before the program gets it.
async fn complete(
    model: &ProgramModel,
    request: &Request,
    sent: SentBody,
    journal: Option<&Journal>,
    episode: &Episode,
) -> Result<Call, ModelError> {
    let asked = Timestamp::now();
    let completion = model.model.complete(request, None).await?;
    let call = Call { started_at: Some(asked.to_string()), sent: Some(sent), ..Call::of(request, completion) };
    if let Some(journal) = journal {
        let _ = journal.keep(&episode.key, &episode.variant.name, None, Event::Call(call.clone())).await;
    }
    Ok(call)
}

fn tool_answer(tool: Tool, observation: Observation) -> Result<ToolAnswer, ToolError> {
    let Observation { text, provenance, missed, .. } = observation;
    if tool == Tool::Document && missed {
        return Err(ToolError(text));
    }
    let provenance = provenance.as_ref();
    Ok(match tool {
        Tool::Passages => ToolAnswer::of_passages(&text, provenance.map_or(&[], |provenance| &provenance.hits)),
        _ => ToolAnswer::of_page(&text, provenance.filter(|_| !missed)),
    })
}

/// The time that is left to a program of its own: it stands still while a model or a tool answers.
#[derive(Debug)]
struct Clock {
    left: Duration,
    running_since: Option<tokio::time::Instant>,
}

impl Clock {
    fn new(limit: Duration) -> Self {
        Self { left: limit, running_since: Some(tokio::time::Instant::now()) }
    }

    /// Lets it run where nothing is asked, and stand still otherwise.
    fn set_running(&mut self, running: bool) {
        match (self.running_since, running) {
            (Some(since), false) => {
                self.left = self.left.saturating_sub(since.elapsed());
                self.running_since = None;
            }
            (None, true) => self.running_since = Some(tokio::time::Instant::now()),
            _ => {}
        }
    }

    /// Leaves it at most this much time.
    fn limit(&mut self, most: Duration) {
        self.set_running(false);
        self.left = self.left.min(most);
        self.set_running(true);
    }

    /// Waits until the time is over; for ever while it stands still.
    async fn over(&self) {
        match self.running_since {
            Some(since) => tokio::time::sleep_until(since + self.left).await,
            None => std::future::pending().await,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Clock;
    use std::time::Duration;
    use tokio::time::{Instant, sleep};

    #[tokio::test(start_paused = true)]
    async fn it_counts_only_what_the_program_takes() {
        let began = Instant::now();
        let mut clock = Clock::new(Duration::from_secs(10));
        sleep(Duration::from_secs(4)).await;
        clock.set_running(false);
        sleep(Duration::from_secs(100)).await;
        clock.set_running(true);
        clock.over().await;
        assert_eq!(began.elapsed().as_secs(), 110);
    }
}
