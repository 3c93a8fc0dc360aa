//! What a run tells whoever watches it.

use super::Trajectory;
use std::sync::Arc;

/// Something that happened during a run, in the order in which it was recorded.
#[derive(Debug, Clone)]
pub enum RunEvent {
    /// An episode ended and is on disk.
    Recorded(Arc<Trajectory>),
    /// The run was asked to stop; episodes in flight are finished first.
    Stopping,
}
