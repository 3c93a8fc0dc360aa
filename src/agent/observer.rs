//! Looking on while an episode runs.

use crate::types::Step;

/// Someone who is told what happens in an episode, in order.
pub trait Watch: Send + Sync {
    /// More of the model's text, as it comes.
    fn text(&self, text: &str);
    /// The reply being shown was broken off and begins anew.
    fn again(&self) {}
    /// The reply is complete.
    fn call_ended(&self) {}
    /// A step is complete, its observation included.
    fn step(&self, step: &Step);
}
