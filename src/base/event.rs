//! Events of a run, for its listeners.

use super::{Trajectory, Variant};
use std::sync::Arc;
use std::time::Duration;

/// Something that happened during a run, in the order in which it was recorded.
#[derive(Debug, Clone)]
pub enum RunEvent {
    /// The episodes of a dataset begin.
    Begun {
        /// Its name.
        dataset: String,
        /// Episodes that are due.
        episodes: usize,
        /// How often each question is asked under each variant.
        repeats: u32,
        /// The variants, in full.
        variants: Vec<Variant>,
    },
    /// An episode ended and is on disk.
    Recorded(Arc<Trajectory>),
    /// No request is under way, and the next one has to wait; nothing if the run goes on.
    Waiting(Option<Wait>),
    /// The run was asked to stop; episodes in flight are finished first.
    Stopping,
    /// Something a person should know, in a line.
    Note(String),
}

/// What a whole run waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wait {
    /// The server to be asked next, as a record names it.
    pub server: String,
    /// How long the wait is in all, and how much of it is left.
    pub whole: Duration,
    /// What is left of it.
    pub left: Duration,
    /// Why nothing can be sent.
    pub reason: WaitReason,
}

/// Why nothing can be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WaitReason {
    /// The server asked for it.
    Asked,
    /// The server failed or refused, and named no time.
    Retry,
    /// Our own limits of requests per minute or at once.
    Pace,
}
