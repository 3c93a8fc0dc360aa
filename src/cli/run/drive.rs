//! Running what is due, with progress and with Ctrl-C.

use super::args::Args;
use super::folder::Open;
use super::load::Job;
use crate::cli::failure::Failure;
use crate::cli::say::say;
use crate::report::Progress;
use crate::run::{Answer, run};
use crate::score::Tally;
use crate::types::RunEvent;
use futures_util::FutureExt as _;
use std::sync::Arc;
use tokio::sync::{mpsc, watch};

/// Runs what is due. Returns whether it was interrupted.
pub(super) async fn drive(args: &Args, job: &Job, open: &Open) -> anyhow::Result<bool> {
    let Some(appender) = open.take_appender() else {
        return Err(Failure::unexpected("the run's file is in use", "start the program again"));
    };
    let (events, receiver) = mpsc::unbounded_channel();
    let (stop, stopped) = watch::channel(false);
    let progress =
        Progress::new(open.due.episodes.len(), args.quiet).scored_by(Tally::new(job.manifest.dataset.name.clone()));
    let reporter = tokio::spawn(report(progress, receiver));
    let agent = job.agent.clone();
    let answer: Answer = Arc::new(move |episode| {
        let agent = agent.clone();
        async move { agent.answer(&episode).await }.boxed()
    });
    let running = run(open.due.episodes.clone(), answer, appender, job.in_flight, events, stopped);
    let result = tokio::select! {
        result = running => Some(result),
        () = interrupted_twice(&stop) => None,
    };
    // The reporter ends with the events; it draws the last line before the table comes.
    let _ = reporter.await;
    match result {
        Some(result) => {
            result?;
            Ok(*stop.borrow())
        }
        None => Ok(true),
    }
}

async fn report(mut progress: Progress, mut events: mpsc::UnboundedReceiver<RunEvent>) {
    while let Some(event) = events.recv().await {
        progress.event(&event);
    }
    progress.finish();
}

/// The first signal asks the runner to finish what is in flight; this returns at the second.
async fn interrupted_twice(stop: &watch::Sender<bool>) {
    signal().await;
    stop.send_replace(true);
    say("stopping: finishing what is in flight; press Ctrl-C again to stop at once");
    signal().await;
}

/// Waits for Ctrl-C, or for the signal by which schedulers end a job.
async fn signal() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let Ok(mut terminate) = signal(SignalKind::terminate()) {
            tokio::select! {
                _ = tokio::signal::ctrl_c() => {}
                _ = terminate.recv() => {}
            }
            return;
        }
    }
    if tokio::signal::ctrl_c().await.is_err() {
        // Without signals there is nothing to wait for.
        std::future::pending::<()>().await;
    }
}
