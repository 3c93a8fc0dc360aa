//! An episode on the screen, while it runs.

use crate::agent::EpisodeObserver;
use crate::report::{Live, View};
use crate::types::{Step, Trajectory};
use std::io::{self, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Prints what it is told, at once.
pub(super) struct Screen<'a, W>(Mutex<Inner<'a, W>>);

struct Inner<'a, W> {
    live: Live,
    out: &'a mut W,
    /// Why nothing is printed any more.
    failed: Option<io::Error>,
}

impl<'a, W: Write + Send> Screen<'a, W> {
    pub(super) fn new(question: &str, view: View, out: &'a mut W) -> Self {
        Self(Mutex::new(Inner { live: Live::new(question, view), out, failed: None }))
    }

    /// Prints how the episode ended, and gives the output back.
    pub(super) fn end(self, trajectory: &Trajectory) -> io::Result<&'a mut W> {
        self.print(|live| live.end(trajectory));
        self.close()
    }

    /// Ends a line that has begun, and gives the output back.
    pub(super) fn close(self) -> io::Result<&'a mut W> {
        self.print(Live::call_ended);
        let Inner { out, failed, .. } = self.0.into_inner().unwrap_or_else(PoisonError::into_inner);
        failed.map_or(Ok(out), Err)
    }

    fn print(&self, text: impl FnOnce(&mut Live) -> String) {
        let mut inner: MutexGuard<'_, Inner<'a, W>> = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let text = text(&mut inner.live);
        if text.is_empty() || inner.failed.is_some() {
            return;
        }
        let written = inner.out.write_all(text.as_bytes()).and_then(|()| inner.out.flush());
        inner.failed = written.err();
    }
}

impl<W: Write + Send> EpisodeObserver for Screen<'_, W> {
    fn text(&self, text: &str) {
        self.print(|live| live.text(text));
    }

    fn again(&self) {
        self.print(Live::again);
    }

    fn call_ended(&self) {
        self.print(Live::call_ended);
    }

    fn step(&self, step: &Step) {
        self.print(|live| live.step(step));
    }
}
