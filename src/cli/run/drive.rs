//! Running what is due, with progress and with Ctrl-C.

use super::args::Args;
use super::folder::Open;
use super::limits::Guard;
use super::load::Job;
use crate::cli::failure::Failure;
use crate::cli::say::say;
use crate::report::Progress;
use crate::run::{Answer, Room, run};
use crate::score::Tally;
use crate::store::RunFolder;
use crate::types::RunEvent;
use futures_util::FutureExt as _;
use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;

/// How often what was learned about servers is written down, if there is anything new.
const KEPT_EVERY: Duration = Duration::from_secs(2);

/// How a run's part ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum End {
    /// Everything that was due was done.
    Done,
    /// Somebody stopped it.
    Interrupted,
    /// It stopped by itself, for this reason.
    Stopped(String),
}

/// Runs what is due.
pub(super) async fn drive(args: &Args, job: &Job, open: &mut Open) -> anyhow::Result<End> {
    let Some(appender) = open.take_appender() else {
        return Err(Failure::unexpected("the run's file is in use", "start the program again"));
    };
    let (events, receiver) = mpsc::unbounded_channel();
    let guard = Arc::new(Guard::new(Arc::clone(&job.budget), args.limits.max_failures));
    let (stop, stopped) = watch::channel(guard.reason().is_some());
    let episodes = std::mem::take(&mut open.due.episodes);
    let tally = Tally::new(job.manifest.dataset.name.clone()).by_question(args.repeats);
    let progress = Progress::new(episodes.len(), args.quiet).scored_by(tally);
    let reporter = tokio::spawn(report(progress, receiver));
    let agents = Arc::new(job.agents.clone());
    let (watching, stopping) = (Arc::clone(&guard), stop.clone());
    let answer: Answer = Arc::new(move |episode| {
        let (agents, guard, stop) = (Arc::clone(&agents), Arc::clone(&watching), stopping.clone());
        async move {
            let trajectory = match agents.get(&episode.variant.name) {
                Some(agent) => agent.answer(&episode).await,
                None => episode.not_measured("a fault in wikitrail: no agent for this variant"),
            };
            guard.saw(&trajectory);
            if guard.reason().is_some() {
                stop.send_replace(true);
            }
            trajectory
        }
        .boxed()
    });
    // Before the first call goes out: a signal in between would end the program at once.
    let signals = Signals::listen();
    let pace = Arc::clone(&job.pace);
    let room: Room = Arc::new(move || pace.room());
    // A task, so that the ends of episodes are seen where they happen; this thread is not woken for each.
    let mut running = JoinSet::new();
    running.spawn(run(episodes, answer, appender, room, events, stopped));
    let interrupted = AtomicBool::new(false);
    let result = tokio::select! {
        result = running.join_next() => result,
        () = interrupted_twice(signals, &stop, &interrupted) => None,
        never = keep_history(job, &open.folder) => match never {},
    };
    running.shutdown().await;
    // The reporter ends with the events; it draws the last line before the table comes.
    let _ = reporter.await;
    let Some(result) = result else { return Ok(End::Interrupted) };
    result??;
    Ok(match guard.reason() {
        _ if interrupted.into_inner() => End::Interrupted,
        Some(reason) => End::Stopped(reason.to_owned()),
        None => End::Done,
    })
}

/// Writes down what is learned about servers while a run goes on, so that one that is killed keeps it. What cannot be
/// written now is written at the end, which says what is wrong.
async fn keep_history(job: &Job, folder: &RunFolder) -> Infallible {
    let (mut ticks, mut known) = (tokio::time::interval(KEPT_EVERY), 0);
    loop {
        ticks.tick().await;
        let history = job.pace.history();
        let decisions = history.iter().map(|one| one.changes.len() as u64 + one.dropped).sum();
        if decisions > known {
            known = decisions;
            let mut manifest = job.manifest.clone();
            manifest.limit_history.extend(history);
            // Nobody else writes it meanwhile: the end comes when this is dropped.
            let _ = folder.write_manifest(&manifest);
        }
    }
}

async fn report(mut progress: Progress, mut events: mpsc::UnboundedReceiver<RunEvent>) {
    while let Some(event) = events.recv().await {
        progress.event(&event);
    }
    progress.finish();
}

/// Ctrl-C, and the signal by which schedulers end a job. From when it is made on, none of them ends the program by itself,
/// and none is lost: one that comes before anybody waits is found by the first who does.
struct Signals {
    #[cfg(unix)]
    interrupt: Option<tokio::signal::unix::Signal>,
    #[cfg(unix)]
    terminate: Option<tokio::signal::unix::Signal>,
}

impl Signals {
    #[cfg(unix)]
    fn listen() -> Self {
        use tokio::signal::unix::{SignalKind, signal};
        // A system that takes no handler leaves its own in place, which ends the program: nothing on disk is lost by it.
        Self { interrupt: signal(SignalKind::interrupt()).ok(), terminate: signal(SignalKind::terminate()).ok() }
    }

    #[cfg(not(unix))]
    fn listen() -> Self {
        Self {}
    }

    #[cfg(unix)]
    async fn next(&mut self) {
        let Self { interrupt, terminate } = self;
        let wait = async |signal: &mut Option<tokio::signal::unix::Signal>| {
            let Some(signal) = signal else { return std::future::pending().await };
            if signal.recv().await.is_none() {
                // Without signals there is nothing to wait for.
                std::future::pending::<()>().await;
            }
        };
        tokio::select! {
            () = wait(interrupt) => {}
            () = wait(terminate) => {}
        }
    }

    #[cfg(not(unix))]
    async fn next(&mut self) {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

/// The first signal asks the runner to finish what is in flight; this returns at the second.
async fn interrupted_twice(mut signals: Signals, stop: &watch::Sender<bool>, interrupted: &AtomicBool) {
    signals.next().await;
    interrupted.store(true, Ordering::Relaxed);
    stop.send_replace(true);
    say("stopping: finishing what is in flight; press Ctrl-C again to stop at once");
    signals.next().await;
}
