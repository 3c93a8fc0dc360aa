//! Runs the episodes of a plan: a bounded number of episodes in flight, one writer, clean stops.

use super::error::RunError;
use super::rescue;
use crate::agent::Episode;
use crate::store::Appender;
use crate::types::{RunEvent, Trajectory};
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::{mpsc, watch};
use tokio::task::{JoinError, JoinSet};
use tokio::time::MissedTickBehavior;

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
    let mut told = false;
    let mut poll = tokio::time::interval(POLL_INTERVAL);
    poll.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
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
            Ok(()) = stop.changed(), if !told => {
                told = true;
                // It does not stop if nobody listens any more.
                let _ = events.send(RunEvent::Stopping).await;
            }
        }
    }
    drop(sender);
    writer.await.unwrap_or_else(|error| Err(writer_died(&error)))
}

/// An episode that panics is recorded as not measured; it must not end the run.
async fn guarded(answer: Answer, episode: Episode) -> Option<Trajectory> {
    match AssertUnwindSafe(answer(episode.clone())).catch_unwind().await {
        Ok(trajectory) => trajectory,
        Err(payload) => {
            let reason = payload
                .downcast_ref::<String>()
                .map(String::as_str)
                .or_else(|| payload.downcast_ref::<&str>().copied())
                .unwrap_or("no reason given");
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
        if let Err(error) = appender.append(batch.iter().map(AsRef::as_ref)) {
            full.send_replace(true);
            let _ = events.blocking_send(RunEvent::Note(format!("{error}; finishing what is in flight")));
            batch.extend(std::iter::from_fn(|| ended.blocking_recv()));
            return Err(rescue::rescue_episodes(&error, &mut appender, &batch, &std::env::temp_dir()));
        }
        written = Some(Instant::now());
        for trajectory in batch {
            // The reporter may be gone; the record is what counts.
            let _ = events.blocking_send(RunEvent::Recorded(trajectory));
        }
    }
    Ok(())
}

fn writer_died(error: &JoinError) -> RunError {
    RunError::unexpected(
        format!("the writer of episodes died: {error}"),
        "this is a fault in wikitrail; please report it",
    )
}
