//! Running what is due, with events and with Ctrl-C.

use super::admission::Admission;
use super::error::RunError;
use super::folder::{OpenRun, State};
use super::guard::Guard;
use super::interrupts::Interrupts;
use super::job::Job;
use super::pace::Pacer;
use super::prepare::Listener;
use super::runner::{Answer, Gate, run_episodes};
use crate::store::Journal;
use crate::types::{RunEvent, Wait};
use futures_util::FutureExt as _;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, watch};
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::MissedTickBehavior;

/// How often what was learned about servers is written down, if there is anything new.
const HISTORY_INTERVAL: Duration = Duration::from_secs(2);
/// How often to look whether everything waits, and the shortest wait that is told.
const LOOK_INTERVAL: Duration = Duration::from_millis(500);
const SHORTEST_WAIT: Duration = Duration::from_secs(5);
/// Events that wait for the listener at most. A slow listener then slows the run instead of filling memory.
const EVENTS: usize = 256;

/// How a run's part ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    /// Everything that was due was done, or what the run was to decide is decided.
    Done,
    /// Somebody stopped it.
    Interrupted,
    /// It stopped by itself, for this reason.
    Stopped(String),
}

/// Runs what is due. The listener is called on the task that awaits this, never where episodes run.
pub(super) async fn execute(
    job: &Job,
    open: &mut OpenRun,
    max_failures: Option<u64>,
    listener: &mut impl Listener,
    interrupts: &mut Interrupts,
) -> Result<End, RunError> {
    let Some(appender) = open.take_appender() else {
        return Err(RunError::unexpected("the run's file is in use", "start the program again"));
    };
    let (events, mut received) = mpsc::channel(EVENTS);
    let guard = Arc::new(guard(job, open, max_failures));
    let (stop, stopped) = watch::channel(guard.stops());
    let episodes = std::mem::take(&mut open.due.episodes);
    let (dataset, repeats) = (job.manifest.dataset.name.clone(), job.manifest.repeats);
    listener.event(&RunEvent::Begun { dataset, episodes: episodes.len(), repeats });
    // A task, so that the ends of episodes are seen where they happen; the listener's thread is not woken for each.
    let mut running = JoinSet::new();
    let answer = answer(job, &open.journal, &guard, &stop);
    running.spawn(run_episodes(episodes, answer, appender, gate(job, &guard), events, stopped));
    let (mut history, mut waits, mut shown) = (History::of(job, open), Waits::of(job), ShownNotes::default());
    let (mut interrupted, mut batch, mut listening) = (false, Vec::new(), true);
    let result = loop {
        tokio::select! {
            result = running.join_next() => break result,
            () = interrupts.next() => {
                // What waits can wait for the next start.
                if std::mem::replace(&mut interrupted, true) || waits.waiting.is_some() {
                    break None;
                }
                stop.send_replace(true);
                let text = "stopping: finishing what is in flight; press Ctrl-C again to stop at once";
                listener.event(&RunEvent::Note(text.to_owned()));
            }
            read = received.recv_many(&mut batch, EVENTS), if listening => {
                listening = read > 0;
                batch.drain(..).for_each(|event| listener.event(&event));
            }
            () = history.tick() => shown.show(job, listener),
            () = waits.tick() => {
                if waits.look(listener) && interrupted {
                    break None;
                }
            }
        }
    };
    running.shutdown().await;
    history.end().await;
    while received.recv_many(&mut batch, EVENTS).await > 0 {
        batch.drain(..).for_each(|event| listener.event(&event));
    }
    shown.show(job, listener);
    let Some(result) = result else { return Ok(End::Interrupted) };
    result.map_err(|error| RunError::unexpected(error, "this is a fault in wikitrail; please report it"))??;
    Ok(match guard.reason() {
        _ if interrupted => End::Interrupted,
        Some(reason) => End::Stopped(reason.to_owned()),
        None => End::Done,
    })
}

fn guard(job: &Job, open: &OpenRun, max_failures: Option<u64>) -> Guard {
    let admission = Admission::new(Arc::clone(&job.budget), job.agents.clone(), Arc::clone(&open.journal));
    let (budget, breakers) = (Arc::clone(&job.budget), Arc::clone(&job.breakers));
    Guard::new(budget, admission, breakers, max_failures, open.watch.clone())
}

/// What decides whether another episode may begin.
fn gate(job: &Job, guard: &Arc<Guard>) -> Gate {
    let (pacer, admission) = (Arc::clone(&job.pacer), Arc::clone(guard));
    Gate { room: Box::new(move || pacer.room()), admits: Box::new(move |episode| admission.admits(episode)) }
}

/// How an episode becomes a trajectory: by the agent of its variant, under the eyes of the guard. One whose server has to
/// prove itself first waits for that.
fn answer(job: &Job, journal: &Arc<Journal>, guard: &Arc<Guard>, stop: &watch::Sender<bool>) -> Answer {
    let (agents, journal) = (Arc::new(job.agents.clone()), Arc::clone(journal));
    let (guard, stop) = (Arc::clone(guard), stop.clone());
    let watched = Arc::new(job.watched.clone());
    Arc::new(move |episode| {
        let (agents, journal) = (Arc::clone(&agents), Arc::clone(&journal));
        let (guard, stop) = (Arc::clone(&guard), stop.clone());
        let (breaker, mut stopped) = (watched.get(&episode.variant.name).cloned(), stop.subscribe());
        async move {
            let _begun = match &breaker {
                Some(breaker) => tokio::select! {
                    biased;
                    begun = breaker.begin() => Some(begun?),
                    _ = stopped.wait_for(|stop| *stop) => return None,
                },
                None => None,
            };
            let trajectory = match agents.get(&episode.variant.name) {
                Some(agent) => agent.answer(&episode, Some(journal.as_ref())).await,
                None => episode.not_measured("a fault in wikitrail: no agent for this variant"),
            };
            guard.saw(&trajectory);
            if guard.stops() {
                stop.send_replace(true);
            }
            Some(trajectory)
        }
        .boxed()
    })
}

/// Notices when all of a run waits for a server.
struct Waits {
    pacer: Arc<Pacer>,
    ticks: tokio::time::Interval,
    /// Requests sent until the last look.
    sent: u64,
    waiting: Option<Wait>,
}

impl Waits {
    fn of(job: &Job) -> Self {
        let mut ticks = tokio::time::interval(LOOK_INTERVAL);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Self { pacer: Arc::clone(&job.pacer), ticks, sent: 0, waiting: None }
    }

    async fn tick(&mut self) {
        self.ticks.tick().await;
    }

    /// Tells the listener what everything waits for, if that has changed; whether anything does.
    fn look(&mut self, listener: &mut impl Listener) -> bool {
        let (sent, waiting) = self.pacer.waiting();
        // Between two of its requests an episode waits for nothing.
        let is_quiet = std::mem::replace(&mut self.sent, sent) == sent;
        let waiting = waiting.filter(|wait| is_quiet && wait.whole >= SHORTEST_WAIT);
        if waiting != self.waiting {
            self.waiting = waiting;
            listener.event(&RunEvent::Waiting(self.waiting.clone()));
        }
        self.waiting.is_some()
    }
}

/// What a person was told about options that servers do not take.
#[derive(Default)]
struct ShownNotes(BTreeSet<String>);

impl ShownNotes {
    /// Tells what is new.
    fn show(&mut self, job: &Job, listener: &mut impl Listener) {
        for note in job.unsent() {
            if self.0.insert(note.clone()) {
                listener.event(&RunEvent::Note(note));
            }
        }
    }
}

/// Writes down what is learned about servers while a run goes on, so that one that is killed keeps it.
struct History<'a> {
    job: &'a Job,
    state: State,
    ticks: tokio::time::Interval,
    known: u64,
    /// What is being written; a slow disk keeps a thread of its own waiting, and no request.
    writing: Option<JoinHandle<()>>,
}

impl<'a> History<'a> {
    fn of(job: &'a Job, open: &OpenRun) -> Self {
        Self { job, state: open.state(), ticks: tokio::time::interval(HISTORY_INTERVAL), known: 0, writing: None }
    }

    async fn tick(&mut self) {
        self.ticks.tick().await;
        if self.writing.as_ref().is_some_and(|writing| !writing.is_finished()) {
            return;
        }
        let history = self.job.pacer.history();
        let decisions = history.iter().map(|one| one.changes.len() as u64 + one.dropped).sum();
        if decisions > self.known {
            self.known = decisions;
            let mut manifest = self.job.manifest.clone();
            manifest.limit_history.extend(history);
            let state = self.state.clone();
            self.writing = Some(tokio::task::spawn_blocking(move || {
                // Nobody else writes it meanwhile. What cannot be written now is written at the end, which says what is
                // wrong.
                let _ = state.write(&manifest);
            }));
        }
    }

    /// Waits for what is being written: the end of the run writes the same file.
    async fn end(&mut self) {
        if let Some(writing) = self.writing.take() {
            let _ = writing.await;
        }
    }
}
