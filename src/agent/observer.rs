//! Observing an episode while it runs.

use crate::types::Step;

/// Receives the events of an episode in order.
pub trait EpisodeObserver: Send + Sync {
    /// The next piece of the model's text.
    fn text(&self, text: &str);
    /// The reply broke off and starts again.
    fn again(&self) {}
    /// The reply is complete.
    fn call_ended(&self) {}
    /// A step is complete, including its observation.
    fn step(&self, step: &Step);
}
