//! Running what is due: a bounded number of episodes in flight, one writer, events, and clean stops by Ctrl-C and by the
//! signals of schedulers. What was paid for and a full disk does not take is kept elsewhere.

use super::admission::Guard;
use super::error::RunError;
use super::folder::OpenRun;
use super::job::Job;
use super::pace::Pacer;
use super::summary::Summary;
use crate::base::bounded::{MAX_LINE_BYTES, size};
use crate::base::text::{counted, shell_word};
use crate::base::{Manifest, RunEvent, Trajectory, Wait};
use crate::runner::agent::Episode;
#[cfg(feature = "serve")]
use crate::runner::agent::program;
use crate::runner::store::{Appender, StoreError, episode_line};
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use std::collections::BTreeSet;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};
use std::sync::Arc;
#[cfg(unix)]
use std::task::Poll;
use std::time::{Duration, Instant};
use tokio::sync::{mpsc, watch};
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::MissedTickBehavior;

/// Receives what happens during a run.
pub trait Listener {
    /// Something happened.
    fn event(&mut self, event: &RunEvent);

    /// The run over one dataset has ended; of several, the others follow.
    fn ended(&mut self, _summary: &Summary) {}
}

impl<F: FnMut(&RunEvent)> Listener for F {
    fn event(&mut self, event: &RunEvent) {
        self(event);
    }
}

/// How often what was learned about servers is written down, if there is anything new.
const HISTORY_INTERVAL: Duration = Duration::from_secs(2);
/// How often to look whether everything waits, and the shortest wait that the listener hears of.
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
    open: &OpenRun,
    appender: Appender,
    episodes: Vec<Episode>,
    max_failures: Option<u64>,
    listener: &mut impl Listener,
    interrupts: &mut Interrupts,
) -> Result<End, RunError> {
    let (events, mut received) = mpsc::channel(EVENTS);
    let guard = Arc::new(guard(job, open, max_failures));
    let (stop, stopped) = watch::channel(guard.stops());
    listener.event(&begun(job, episodes.len()));
    // A task, so that the ends of episodes are seen where they happen; the listener's thread is not woken for each.
    let mut running = JoinSet::new();
    let answer = answer(&guard, &stop);
    running.spawn(run_episodes(episodes, answer, appender, gate(job, &guard), events, stopped));
    let (mut history, mut waits, mut shown) = (History::of(job, open), Waits::of(job), BTreeSet::new());
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
            () = history.tick() => show_unsent(job, &mut shown, listener),
            _ = waits.ticks.tick() => {
                if waits.look(listener) && interrupted {
                    break None;
                }
            }
        }
    };
    end_episodes(&mut running).await;
    history.end().await;
    while received.recv_many(&mut batch, EVENTS).await > 0 {
        batch.drain(..).for_each(|event| listener.event(&event));
    }
    show_unsent(job, &mut shown, listener);
    let Some(result) = result else { return Ok(End::Interrupted) };
    result.map_err(|error| RunError::unexpected(error, "this is a fault in wikitrail; please report it"))??;
    Ok(match guard.reason() {
        _ if interrupted => End::Interrupted,
        Some(reason) => End::Stopped(reason.to_owned()),
        None => End::Done,
    })
}

/// Ends the episodes in flight, with the programs that some of them run.
async fn end_episodes<T: 'static>(running: &mut JoinSet<T>) {
    running.shutdown().await;
    #[cfg(feature = "serve")]
    program::clean_up_all();
}

fn begun(job: &Job, episodes: usize) -> RunEvent {
    let Manifest { dataset, repeats, variants, .. } = &job.manifest;
    RunEvent::Begun { dataset: dataset.name.clone(), episodes, repeats: *repeats, variants: variants.clone() }
}

fn guard(job: &Job, open: &OpenRun, max_failures: Option<u64>) -> Guard {
    let (budget, breakers) = (Arc::clone(&job.budget), Arc::clone(&job.breakers));
    let (agents, journal, watch) = (job.agents.clone(), Arc::clone(&open.journal), open.watch.clone());
    Guard::new(budget, agents, journal, breakers, max_failures, watch)
}

fn gate(job: &Job, guard: &Arc<Guard>) -> Gate {
    let (pacer, admission) = (Arc::clone(&job.pacer), Arc::clone(guard));
    Gate { room: Box::new(move || pacer.room()), admits: Box::new(move |episode| admission.admits(episode)) }
}

/// Answers by the variant's agent. An episode whose server has to prove itself first waits for that.
fn answer(guard: &Arc<Guard>, stop: &watch::Sender<bool>) -> Answer {
    let (guard, stop) = (Arc::clone(guard), stop.clone());
    Arc::new(move |episode| {
        let (guard, stop) = (Arc::clone(&guard), stop.clone());
        let mut stopped = stop.subscribe();
        async move {
            let agent = guard.agents.get(&episode.variant.name);
            let _begun = match agent.and_then(|agent| agent.breaker.as_ref()) {
                Some(breaker) => tokio::select! {
                    biased;
                    begun = breaker.begin() => Some(begun?),
                    _ = stopped.wait_for(|stop| *stop) => return None,
                },
                None => None,
            };
            let trajectory = match agent {
                Some(agent) => agent.answer(&episode, Some(&guard.journal)).await,
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

struct Waits {
    pacer: Arc<Pacer>,
    ticks: tokio::time::Interval,
    sent: u64,
    waiting: Option<Wait>,
}

impl Waits {
    fn of(job: &Job) -> Self {
        let mut ticks = tokio::time::interval(LOOK_INTERVAL);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Self { pacer: Arc::clone(&job.pacer), ticks, sent: 0, waiting: None }
    }

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

fn show_unsent(job: &Job, shown: &mut BTreeSet<String>, listener: &mut impl Listener) {
    for note in job.unsent() {
        if shown.insert(note.clone()) {
            listener.event(&RunEvent::Note(note));
        }
    }
}

/// Writes down what is learned about servers while a run goes on, so that one that is killed keeps it.
struct History<'a> {
    job: &'a Job,
    open: &'a OpenRun,
    ticks: tokio::time::Interval,
    known: u64,
    /// What is being written; a slow disk keeps a thread of its own waiting, and no request.
    writing: Option<JoinHandle<()>>,
}

impl<'a> History<'a> {
    fn of(job: &'a Job, open: &'a OpenRun) -> Self {
        Self { job, open, ticks: tokio::time::interval(HISTORY_INTERVAL), known: 0, writing: None }
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
            let (folder, shard) = (self.open.folder.clone(), self.open.lock.shard);
            self.writing = Some(tokio::task::spawn_blocking(move || {
                // Nobody else writes it meanwhile. What cannot be written now is written at the end, which says what is
                // wrong.
                let _ = folder.write_state(shard, &manifest);
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

/// How an episode becomes a trajectory; nothing if it was not begun after all, so that it stays due.
pub(crate) type Answer = Arc<dyn Fn(Episode) -> BoxFuture<'static, Option<Trajectory>> + Send + Sync>;

/// What decides whether another episode may begin. Asked repeatedly, since limits adapt and budgets shrink.
pub(crate) struct Gate {
    /// How many episodes may be in flight now; 0 is read as 1.
    pub(crate) room: Box<dyn Fn() -> usize + Send + Sync>,
    /// Whether this episode may begin now. One that may not is held back until another ends.
    pub(crate) admits: Box<dyn Fn(&Episode) -> bool + Send + Sync>,
}

/// How often the gate is asked while no episode ends.
const POLL_INTERVAL: Duration = Duration::from_millis(50);
/// The shortest time between two writes: syncing the disk after every episode would dominate a fast run.
const MIN_FLUSH_INTERVAL: Duration = Duration::from_millis(10);
/// Trajectories that may wait for the writer; a slow disk then slows the run instead of filling memory.
const WAITING: usize = 256;

/// Runs `episodes`, as many at a time as the gate lets in, and appends each as it ends. The run ends when all have ended,
/// or when the gate holds back the next one and none is in flight.
///
/// Every [`RunEvent::Recorded`] is sent after its trajectory is on disk. Once `stop` is true no further episode starts,
/// and those in flight are finished; nor does one start once the folder cannot be written, and those in flight are then
/// kept elsewhere. Dropping the future stops at once; what the writer already has is still written.
///
/// Whoever listens to `events` slowly slows the run: the writer waits for a place, and episodes wait for the writer. Whoever
/// listens no more does not.
pub(crate) async fn run_episodes(
    episodes: Vec<Episode>,
    answer: Answer,
    appender: Appender,
    gate: Gate,
    events: mpsc::Sender<RunEvent>,
    mut stop: watch::Receiver<bool>,
) -> Result<(), RunError> {
    let (sender, receiver) = mpsc::channel(WAITING);
    let writer_events = events.clone();
    let (full, is_full) = watch::channel(false);
    let writer = tokio::task::spawn_blocking(move || write_episodes(appender, receiver, &writer_events, &full));
    let mut due = episodes.into_iter().peekable();
    let mut tasks = JoinSet::new();
    let mut stopping = false;
    let mut poll = tokio::time::interval(POLL_INTERVAL);
    poll.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        // Checked here, because below an episode that ends at the same moment may be taken first.
        if !stopping && *stop.borrow_and_update() {
            stopping = true;
            // The run stops even if the listener is gone.
            let _ = events.send(RunEvent::Stopping).await;
        }
        let room = (gate.room)().max(1);
        while tasks.len() < room && !*stop.borrow() && !*is_full.borrow() {
            let Some(episode) = due.next_if(|episode| (gate.admits)(episode)) else { break };
            tasks.spawn(guarded(Arc::clone(&answer), episode));
        }
        tokio::select! {
            ended = tasks.join_next() => match ended {
                // The writer died, which it returns itself.
                Some(Ok(None)) => {}
                Some(Ok(Some(trajectory))) => if sender.send(Arc::new(trajectory)).await.is_err() { break },
                Some(Err(error)) => {
                    let lost = format!("an episode was lost ({error}); it is not recorded, and `--resume` runs it again");
                    let _ = events.send(RunEvent::Note(lost)).await;
                }
                None => break,
            },
            // The limit may have grown while no episode ended.
            _ = poll.tick(), if due.len() > 0 => {}
            Ok(()) = stop.changed(), if !stopping => {}
        }
    }
    drop(sender);
    writer.await.unwrap_or_else(|error| {
        let message = format!("the writer of episodes died: {error}");
        Err(RunError::unexpected(message, "this is a fault in wikitrail; please report it"))
    })
}

/// An episode that panics is recorded as not measured; it must not end the run.
async fn guarded(answer: Answer, episode: Episode) -> Option<Trajectory> {
    match AssertUnwindSafe(answer(episode.clone())).catch_unwind().await {
        Ok(trajectory) => trajectory,
        Err(payload) => {
            let text = payload.downcast_ref::<String>().map(String::as_str);
            let reason = text.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or("no reason given");
            Some(episode.not_measured(format!("a fault in wikitrail: {reason}")))
        }
    }
}

/// The only place that appends: writes all waiting trajectories at once, and reports them once they are on disk.
fn write_episodes(
    mut appender: Appender,
    mut ended: mpsc::Receiver<Arc<Trajectory>>,
    events: &mpsc::Sender<RunEvent>,
    full: &watch::Sender<bool>,
) -> Result<(), RunError> {
    let mut written: Option<Instant> = None;
    while let Some(first) = ended.blocking_recv() {
        if let Some(written) = written {
            std::thread::sleep(MIN_FLUSH_INTERVAL.saturating_sub(written.elapsed()));
        }
        let mut batch = vec![first];
        while batch.len() < WAITING
            && let Ok(next) = ended.try_recv()
        {
            batch.push(next);
        }
        match appender.append(batch.iter().map(AsRef::as_ref)) {
            Ok(0) => {}
            Ok(shortened) => {
                let (what, most) = (counted(shortened, "record"), size(MAX_LINE_BYTES));
                let note = format!("warning: shortened {what} of more than {most}; `show` says by how much");
                let _ = events.blocking_send(RunEvent::Note(note));
            }
            Err(error) => {
                full.send_replace(true);
                let _ = events.blocking_send(RunEvent::Note(format!("{error}; finishing what is in flight")));
                batch.extend(std::iter::from_fn(|| ended.blocking_recv()));
                return Err(rescue_episodes(&error, &mut appender, &batch, &std::env::temp_dir()));
            }
        }
        written = Some(Instant::now());
        for trajectory in batch {
            // The reporter may be gone; the record is what counts.
            let _ = events.blocking_send(RunEvent::Recorded(trajectory));
        }
    }
    Ok(())
}

/// Requests to stop. From when it is made on, none of the signals ends the program by itself, and none is lost: one that
/// comes before anybody waits is found by the first who does.
#[derive(Debug, Default)]
pub struct Interrupts {
    #[cfg(unix)]
    signals: Vec<tokio::signal::unix::Signal>,
    /// Asks to stop once: shell and system both send it when a terminal goes away, and neither is in a hurry.
    #[cfg(unix)]
    hangup: Option<tokio::signal::unix::Signal>,
    #[cfg(not(unix))]
    listens: bool,
}

impl Interrupts {
    /// No request ever comes: signals do what they do without us.
    pub fn none() -> Self {
        Self::default()
    }

    /// Ctrl-C, and on Unix also SIGTERM, and SIGHUP unless it is ignored (`nohup`). Must be called inside a Tokio runtime.
    #[cfg(unix)]
    pub fn signals() -> Self {
        use tokio::signal::unix::{SignalKind, signal};
        // A system that takes no handler leaves its own in place, which ends the program: nothing on disk is lost by it.
        let kinds = [SignalKind::interrupt(), SignalKind::terminate()];
        let hangup = if hangup_is_ignored() { None } else { signal(SignalKind::hangup()).ok() };
        Self { signals: kinds.into_iter().filter_map(|kind| signal(kind).ok()).collect(), hangup }
    }

    /// Ctrl-C. Must be called inside a Tokio runtime.
    #[cfg(not(unix))]
    pub fn signals() -> Self {
        Self { listens: true }
    }

    #[cfg(unix)]
    pub(crate) async fn next(&mut self) {
        std::future::poll_fn(|context| {
            // A signal that ended (`Ready(None)`) never comes.
            let all = self.signals.iter_mut().chain(&mut self.hangup);
            let came = all.map(|signal| signal.poll_recv(context)).any(|came| matches!(came, Poll::Ready(Some(()))));
            if came { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
        self.hangup = None;
    }

    #[cfg(not(unix))]
    pub(crate) async fn next(&mut self) {
        if !self.listens || tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

/// Whether the program was started to outlive its terminal (`nohup`). Only Linux says so without a system call of our own.
#[cfg(unix)]
fn hangup_is_ignored() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    // A bit for each signal, from the lowest on; the hangup is signal 1.
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask & 1 == 1)
}

/// Tries the folder once more, now that nothing is in flight, and then another place. The error says where they are.
fn rescue_episodes(
    failed: &StoreError,
    appender: &mut Appender,
    episodes: &[Arc<Trajectory>],
    elsewhere: &Path,
) -> RunError {
    let mut lines = Vec::new();
    if appender.append(episodes.iter().map(AsRef::as_ref)).is_err() {
        for episode in episodes {
            // Only an episode that is too long even without its steps has no line.
            lines.extend(episode_line(episode, MAX_LINE_BYTES, appender.path()).unwrap_or_default().0);
        }
    }
    let unwritten = Unwritten {
        failed: failed.to_string(),
        hint: failed.hint(),
        what: counted(episodes.len(), "finished episode"),
        file: appender.path(),
        next: "continue with --resume",
        lost: "which runs these episodes again",
    };
    unwritten.keep(&lines, elsewhere)
}

pub(crate) struct Unwritten<'a> {
    pub(crate) failed: String,
    pub(crate) hint: &'a str,
    pub(crate) what: String,
    pub(crate) file: &'a Path,
    /// How to go on, and what that does with what is lost.
    pub(crate) next: &'a str,
    pub(crate) lost: &'a str,
}

impl Unwritten<'_> {
    /// Writes the lines to a new file in this folder. The error says why the run ended and where they are.
    pub(crate) fn keep(&self, lines: &[u8], elsewhere: &Path) -> RunError {
        let Self { failed, hint, what, file, next, lost } = self;
        if lines.is_empty() {
            let message = format!("{failed}; after that, {what} could be written");
            return RunError::unexpected(message, format!("{hint}; then {next}"));
        }
        match write_new(elsewhere, lines) {
            Ok(path) => {
                let message = format!("{failed}; {what} that the folder did not take: kept in `{}`", path.display());
                let [from, to] = [path.as_path(), file].map(|path| shell_word(&path.display().to_string()));
                RunError::unexpected(message, format!("make room, run `cat {from} >> {to}`, and {next}"))
            }
            Err(error) => RunError::unexpected(
                format!("{failed}; {what} could not be kept anywhere ({}: {error})", elsewhere.display()),
                format!("{hint}; then {next}, {lost}"),
            ),
        }
    }
}

/// A new file in this folder, which only its owner can read.
fn write_new(folder: &Path, lines: &[u8]) -> std::io::Result<PathBuf> {
    let path =
        folder.join(format!("wikitrail-{}-{}.jsonl", std::process::id(), jiff::Timestamp::now().as_millisecond()));
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(&path)?;
    let written = file.write_all(lines).and_then(|()| file.sync_all());
    if written.is_err() {
        // Half a file would look like a whole one.
        let _ = std::fs::remove_file(&path);
    }
    written.map(|()| path)
}
