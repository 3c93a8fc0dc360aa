//! A thread that writes for many tasks: waiting items are written and synced together.

use super::TapeError;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tokio::sync::oneshot;

/// The shortest time between two writes: a sync and a wakeup for every item would take more time than the episodes.
const MIN_FLUSH_INTERVAL: Duration = Duration::from_millis(4);

/// An item, and the task that waits for it to be on disk.
type Waiting<T> = (T, oneshot::Sender<Result<(), TapeError>>);

/// Passes items to the thread. Dropping it waits until all are written.
#[derive(Debug)]
pub(crate) struct Writer<T> {
    items: Option<Sender<Waiting<T>>>,
    thread: Option<JoinHandle<()>>,
    path: PathBuf,
}

impl<T: Send + 'static> Writer<T> {
    /// What it writes.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Starts the thread; `write` gets one or more items at a time, in order.
    pub(crate) fn start(
        path: PathBuf,
        write: impl FnMut(Vec<T>) -> Result<(), TapeError> + Send + 'static,
    ) -> Result<Self, TapeError> {
        let (items, receiver) = channel();
        let thread = std::thread::Builder::new()
            .name("writer".to_owned())
            .spawn(move || work(&receiver, write))
            .map_err(TapeError::io("write", &path))?;
        Ok(Self { items: Some(items), thread: Some(thread), path })
    }

    /// Waits until the item is on disk. It is written even if the future is dropped.
    pub(crate) async fn write(&self, item: T) -> Result<(), TapeError> {
        let stopped = || TapeError::Stopped { path: self.path.clone() };
        self.send(item).ok_or_else(stopped)?.await.map_err(|_| stopped())?
    }

    /// Has the item written without waiting for it; nothing if the thread has stopped.
    pub(crate) fn send(&self, item: T) -> Option<oneshot::Receiver<Result<(), TapeError>>> {
        let (told, written) = oneshot::channel();
        self.items.as_ref()?.send((item, told)).ok().map(|()| written)
    }
}

fn work<T>(items: &Receiver<Waiting<T>>, mut write: impl FnMut(Vec<T>) -> Result<(), TapeError>) {
    let mut written: Option<Instant> = None;
    while let Ok(first) = items.recv() {
        if let Some(written) = written {
            std::thread::sleep(MIN_FLUSH_INTERVAL.saturating_sub(written.elapsed()));
        }
        let (batch, waiting): (Vec<T>, Vec<_>) = std::iter::once(first).chain(items.try_iter()).unzip();
        let result = write(batch);
        written = Some(Instant::now());
        for told in waiting {
            // The waiting task may be gone.
            let _ = told.send(result.clone());
        }
    }
}

impl<T> Drop for Writer<T> {
    fn drop(&mut self) {
        self.items = None;
        if let Some(thread) = self.thread.take() {
            // If it panicked, the waiting tasks got an error.
            let _ = thread.join();
        }
    }
}
