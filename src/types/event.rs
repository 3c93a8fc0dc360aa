//! What a run tells whoever watches it.

use super::Trajectory;
use std::sync::Arc;

/// Something that happened during a run, in the order in which it was recorded.
#[derive(Debug, Clone)]
pub enum RunEvent {
    /// The episodes of a dataset begin.
    Begun {
        /// Name of the dataset.
        dataset: String,
        /// Episodes that are due.
        episodes: usize,
        /// How often each question is asked under each variant.
        repeats: u32,
    },
    /// An episode ended and is on disk.
    Recorded(Arc<Trajectory>),
    /// The run was asked to stop; episodes in flight are finished first.
    Stopping,
    /// Something a person should know, in a line.
    Note(String),
}
